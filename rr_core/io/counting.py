"""One file of collected reports: which of its columns count, and how many reports each name has.

Columns are counted piece by piece, with only the distinct values in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io import numbers
from rr_core.io.content import Tick
from rr_core.io.distribution import MAX_CATEGORIES, Dropped, check_size, left_out
from rr_core.io.errors import UnreadableFile, quote
from rr_core.io.hints import WEIGHT_WORDS
from rr_core.io.labels import factorize
from rr_core.io.parquet import ParquetTable, to_text
from rr_core.io.schema import (
    CATEGORY_WORDS,
    Choice,
    Columns,
    Described,
    Layout,
    choose,
    names_count,
    names_share,
    numbers_people,
    suggest,
)
from rr_core.io.text import TextTable

Counts = npt.NDArray[np.int64]

_PENDING = 1 << 20


@dataclass(frozen=True)
class Tallied:
    """Distinct names as they are written, in order of first appearance; for each its rows and its people."""

    names: Any
    rows: Counts
    people: Counts


class Tally:
    """Counts values that come in pieces.

    Each piece is reduced to its distinct values at once. These are united when enough of them wait: the work
    stays proportional to the rows, also when nearly all values differ.
    """

    def __init__(self) -> None:
        self._names: list[Any] = []
        self._rows: list[Counts] = []
        self._waiting = 0
        self._limit = _PENDING
        self.distinct = 0
        """Distinct values when they were last united."""

    def add(self, values: Any) -> None:
        """Count the values of one more Arrow array."""
        found = values.value_counts()
        self._names.append(to_text(found.field("values")))
        self._rows.append(found.field("counts").to_numpy())
        self._waiting += len(found)
        if self._waiting > self._limit:
            self.distinct = len(self.result().names)
            self._limit = 2 * self.distinct + _PENDING

    def result(self) -> Tallied:
        """What was counted so far."""
        names, codes = factorize(pa.chunked_array(self._names, pa.large_string()))
        rows = add_up(codes, np.concatenate([np.zeros(0, np.int64), *self._rows]), len(names))
        self._names, self._rows, self._waiting = [names], [rows], len(names)
        return Tallied(names, rows, rows)


def add_up(codes: npt.NDArray[Any], weights: Counts, k: int) -> Counts:
    """The sum of the weights of each code; exact, for sums below 2^53."""
    return np.bincount(codes, weights=weights, minlength=k).astype(np.int64)


REPORT_WORDS = frozenset({"report", "reported", "answer", "response", "output", "randomized", "randomised"})
"""Names of a column of reports, not of counts, even when all its values are numbers."""

AnyTable = TextTable | ParquetTable


@dataclass(frozen=True)
class Counted:
    """A file read: names that are not cleaned yet but are not blank, and the rows that were left out."""

    tallied: Tallied
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...] = ()


def propose(table: Described) -> Choice:
    """As `schema.suggest`, but a column called "report" beside user numbers holds no counts of these, and weights
    are counts only in a table of different categories and nothing else."""
    width = range(len(table.columns))
    reports = [i for i in width if REPORT_WORDS & _words(table.columns[i])]
    weights = [i for i in width if names_weight(table.columns[i])]
    others = [table.columns[i].strip().casefold() for i in width if i not in (*reports[:1], *weights)]
    if reports and not any(names_count(name) or name in CATEGORY_WORDS for name in others):
        return Choice("values", reports[0], None)
    choice = suggest(table)
    if choice.count not in weights or (len(width) == 2 and not table.hints[choice.category].repeats):
        return choice
    answers = [i for i in width if i not in weights and not numbers_people(table, i)]
    counts = [i for i in answers if table.numeric[i] and names_count(table.columns[i])]
    if counts:
        return Choice("counts", next(i for i in (*answers, *width) if i != counts[0]), counts[0])
    return Choice("values", next(iter((*answers, choice.category))), None)


def names_weight(name: str) -> bool:
    """Whether a column's name says that it holds weights."""
    return bool(WEIGHT_WORDS & _words(name))


def is_headed(table: Described) -> bool:
    """Whether the first row of a table that was taken to have no header says "report"."""
    return any(REPORT_WORDS & _words(cell) for cell in (table.sample or [()])[0])


def pick(
    table: AnyTable, layout: Layout | None, category: str | int | None, count: str | int | None
) -> Choice:
    """The person's choice, completed by what `propose` says. Errors as in `schema.choose`."""
    proposal = propose(table)
    if category is None and count is None and layout in (None, proposal.layout):
        return proposal
    return choose(table, layout, category, count)


def count_reports(table: AnyTable, choice: Choice, tick: Tick) -> Counted:
    """Read the chosen columns.

    Raises
    ------
    UnreadableFile
        A broken line, too many categories, a count that is missing or no whole number of people.
    """
    if choice.count is None:
        return _count_values(table, choice.category, tick)
    return _sum_counts(table, choice.category, choice.count, tick)


def _count_values(table: AnyTable, category: int, tick: Tick) -> Counted:
    tally, blank = Tally(), Columns(())
    for piece in table.pieces([category]):
        if piece.arrays:
            tally.add(piece.arrays[0])
        # Cleaning may unite a few names, not three in four: do not wait for the end.
        if tally.distinct > 4 * MAX_CATEGORIES:
            check_size(tally.distinct, table.columns[category])
        blank = piece
        tick(piece.done)
    tallied = tally.result()
    named = _named(tallied.names)
    first = 0 if named.all() else _first_of(table, category, pc.filter(tallied.names, pa.array(~named)))
    return _without_nameless(table, tallied, named, blank, first)


def _first_of(table: AnyTable, category: int, wanted: Any) -> int:
    """The first row that holds one of the wanted names. Reads again, up to there."""
    rows = 0
    for piece in table.pieces([category]):
        for column in piece.arrays:
            distinct, codes = factorize(column)
            found = np.asarray(pc.is_in(to_text(distinct), wanted).to_numpy(zero_copy_only=False))
            if found.any():
                return rows + int(np.argmax(found[codes]))
            rows += len(column)
    raise AssertionError("the name was seen in the first reading")


def _sum_counts(table: AnyTable, category: int, count: int, tick: Tick) -> Counted:
    names, amounts, blank = [], [], Columns(())
    for piece in table.pieces([category, count]):
        if piece.arrays:
            names += piece.arrays[0].chunks
            amounts += piece.arrays[1].chunks
        blank = piece
        tick(piece.done)
    distinct, codes = factorize(pa.chunked_array(names))
    named = _named(to_text(distinct))
    kept = named[codes]
    distinct_amounts, amount_codes = factorize(pa.chunked_array(amounts))
    parsed = numbers.parse(distinct_amounts)
    if names_weight(table.columns[count]) and np.any(parsed.values % 1 > 0):
        raise UnreadableFile(
            f"The column {quote(table.columns[count])} holds weights, and weights are not supported: how noisy the"
            " reports are is known for whole people only. Choose one report per row, or upload counts of people."
        )
    if parsed.percent or names_share(table.columns[count]):
        raise UnreadableFile(
            f"The column {quote(table.columns[count])} holds shares by its name or its signs. Reports are"
            " counted people: upload counts, or rename the column if it holds them."
        )
    numbers.check(table, distinct_amounts, parsed.values, amount_codes, kept, people=True)
    people = np.where(kept, parsed.values[amount_codes], 0).astype(np.int64)
    check_total(people)
    k = len(distinct)
    tallied = Tallied(to_text(distinct), np.bincount(codes, minlength=k), add_up(codes, people, k))
    return _without_nameless(table, tallied, named, blank, int(np.argmin(kept)), parsed.notes)


def check_total(people: Counts) -> None:
    """Refuse counts, each of at most MAX_COUNT, whose sum is more than that."""
    # The sum of doubles cannot overflow, the sum of integers is exact where it does not.
    if people.sum(dtype=np.float64) > 2.0 * numbers.MAX_COUNT or people.sum() > numbers.MAX_COUNT:
        raise UnreadableFile(
            f"The counts add up to more than {numbers.MAX_COUNT:,}. Check the column of counts."
        )


def _without_nameless(
    table: AnyTable,
    tallied: Tallied,
    named: npt.NDArray[np.bool_],
    blank: Columns,
    first: int,
    notes: tuple[str, ...] = (),
) -> Counted:
    dropped = left_out(table, blank, int(tallied.rows[~named].sum()), first)
    names = pc.filter(tallied.names, pa.array(named))
    return Counted(Tallied(names, tallied.rows[named], tallied.people[named]), dropped, notes)


def _words(name: str) -> set[str]:
    return set(name.casefold().replace("_", " ").replace("-", " ").split())


def _named(names: Any) -> npt.NDArray[np.bool_]:
    """Which names are still one after cleaning: those with more than blanks and control characters."""
    return np.asarray(pc.match_substring_regex(names, r"[^\p{Z}\p{Cc}]").to_numpy(zero_copy_only=False))
