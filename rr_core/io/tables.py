"""A table: opened from the bytes of a file, its columns read piece by piece, and the values of one column counted.

Distributions and collected reports are both read from here. Counting holds only the distinct values in memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.columns import WORDS, Columns, Table, heads_rows
from rr_core.io.decoding import (
    Decoded,
    Tell,
    UnreadableFile,
    decode,
    encoding_note,
    quote,
    quoted,
    unpack,
)
from rr_core.io.labels import Codes, factorize
from rr_core.io.parquet import ParquetTable, open_parquet, to_text
from rr_core.io.spreadsheets import read_sheet
from rr_core.io.statistics_files import read_statistics
from rr_core.io.text import open_text
from rr_core.limits import HELD_ROWS_MAX, K_MAX, K_MIN
from rr_core.plain_text import plain
from rr_core.rounding import counted as in_numbers

Counts = npt.NDArray[np.int64]

MIN_CATEGORIES, MAX_CATEGORIES = K_MIN, K_MAX

_FEWEST_SUMMED, _ROUNDED = 3, 1e-9  # rows, of which one is the sum of the others
TOTALS = WORDS["total"]
_OF_TOTALS = rf"^((base|valid)\b[: ]*)+|( (of|valid|{'|'.join(sorted(WORDS['of_total']))}))+$"
# Of a table with groups: bytes that are looked at, and groups.
_WITH_GROUPS, _MOST_GROUPS, _MOST_GROUPINGS = 1 << 22, 1000, 5
_PENDING = 1 << 20  # values that are held before they are united
# Cleaning may unite a few names, not every two of them: with more, do not wait for the end.
_DISTINCT = 2


@dataclass(frozen=True)
class Dropped:
    """Rows left out for one reason, of one of several files. `first_line` counts lines of a text or rows from 1."""

    reason: Literal["blank line", "no category name"]
    rows: int
    first_line: int
    file: str | None = None


def rows_left_out(dropped: Iterable[Dropped], merged: int) -> list[str]:
    """A sentence on the rows left out for each reason, and one on those that were added to others.

    >>> rows_left_out([Dropped("no category name", 1, 7)], 0)
    ['Left out: 1 row (no category name), the first in line 7.']
    """
    sentences = [
        f"Left out: {in_numbers(drop.rows, 'row')} ({drop.reason}), the first in line {drop.first_line:,}"
        + (f" of {plain(drop.file, 80)}." if drop.file else ".")
        for drop in dropped
    ]
    if merged:
        sentences.append(
            f"{in_numbers(merged, 'row')} of a category that came before: added to its first row."
        )
    return sentences


@dataclass(frozen=True)
class Counted:
    """Distinct names, in order of first appearance or of the file's own list, with the number of rows and of people of
    each; and the rows that were left out, by position where they hold totals. Of a file the names are those that are not
    blank, not yet cleaned."""

    names: Any
    rows: Counts
    people: Counts
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    totals: tuple[int, ...] = ()


def decoded(data: bytes, name: str, sheet: str | None = None, tell: Tell = lambda _: None) -> Decoded:
    """An upload as text or Parquet, for every reader. `sheet` as `wanted` of `read_sheet`; `tell` as of `unzipped`."""
    packed = unpack(data, name, tell)
    if packed.kind == "parquet":
        return packed
    if packed.kind == "statistics":
        found = read_statistics(packed.data)
    elif packed.kind == "spreadsheet":
        found = read_sheet(packed.data, sheet)
    else:
        text, encoding = decode(packed.data)
        found = Decoded(text, "text", encoding=encoding, notes=encoding_note(text, encoding))
    return replace(found, compression=packed.compression, notes=packed.notes + found.notes)


def open_table(
    data: bytes, name: str, has_header: bool | None, sheet: str | None = None, tell: Tell = lambda _: None
) -> Table:
    """The table in an upload. `sheet` is that of a workbook, None for the first that seems to be a table."""
    return table_in(decoded(data, name, sheet, tell), has_header)


def table_in(found: Decoded, has_header: bool | None) -> Table:
    """The table with its columns."""
    if found.kind == "parquet":
        return replace(open_parquet(found.data), notes=found.notes, missing=found.missing)
    table = open_text(found.data, has_header, found.separator, found.above)
    unit: Literal["row", "line"] = "row" if found.program else "line"
    return replace(table, notes=found.notes + table.notes, unit=unit, sheets=found.sheets)


def number_columns(
    table: Table, indices: Sequence[int], tell: Tell = lambda _: None
) -> tuple[list[tuple[Any, Codes]], Columns]:
    """The columns at `indices`, each as its distinct values and the place of each row's; and the blank lines."""
    numbered = [Numbered(table.columns[index]) for index in indices]
    blank, rows = Columns(()), 0
    for piece in table.pieces(indices):
        for column, values in zip(numbered, piece.arrays, strict=False):
            column.add(values)
        rows += len(piece.arrays[0]) if piece.arrays else 0
        if rows > HELD_ROWS_MAX:
            raise UnreadableFile(
                f"The table of counts has more than {HELD_ROWS_MAX:,} rows. Add up the counts of each category first"
                " and upload one row per category."
            )
        blank = piece
        tell(piece.done)
    return [column.result() for column in numbered], blank


def count_values(
    table: Table, category: int, tell: Tell = lambda _: None, *, declared: bool = False
) -> Counted:
    """How many rows hold each value of a column; with `declared` in the order that the file declares."""
    tally, blank = Numbered(table.columns[category], count=True), Columns(())
    declares = declared and isinstance(table, ParquetTable) and table.declares[category]
    listed: Any = None
    for piece in table.pieces([category]):
        if piece.arrays:
            tally.add(piece.arrays[0])
            if declares and listed is None and pa.types.is_dictionary(piece.arrays[0].type):
                listed = to_text(piece.arrays[0].chunk(0).dictionary)
        blank = piece
        tell(piece.done)
    names, rows = tally.result()
    named = has_name(names)
    first = 0 if named.all() else _first_of(table, category, pc.filter(names, pa.array(~named)))
    notes: tuple[str, ...] = ()
    if isinstance(table, ParquetTable) and table.missing and (missing := table.missing[category]):
        notes = (
            f"Of the rows left out, {missing:,} {'has a value' if missing == 1 else 'have values'} in the column "
            f"{quote(table.columns[category])} that the file declares as missing.",
        )
    tallied = Counted(names, rows, rows, notes=notes)
    counted = with_names(table, tallied, named, blank, first)
    return counted if listed is None else _with_declared(counted, listed)


def _with_declared(counted: Counted, listed: Any) -> Counted:
    """In the order of the listed categories, of which those without rows have 0; then the others."""
    listed = pc.unique(pc.filter(listed, pa.array(has_name(listed))))
    unused = pc.filter(listed, pc.invert(pc.is_in(listed, counted.names)))
    others = pc.filter(counted.names, pc.invert(pc.is_in(counted.names, listed)))
    names = pa.concat_arrays([listed, others])
    places = pc.fill_null(pc.index_in(names, counted.names), -1).to_numpy(zero_copy_only=False)
    rows, people = (np.append(part, 0)[places] for part in (counted.rows, counted.people))
    notes = counted.notes
    if len(unused):
        notes += (
            f"The file declares {len(names):,} categories, of which {quoted(unused.to_pylist())} "
            f"{'has' if len(unused) == 1 else 'have'} no report: a category that people could choose counts all the "
            "same.",
        )
    return Counted(names, rows, people, counted.dropped, notes)


class Numbered:
    """The distinct values of a column that arrives in pieces, in order of first appearance, united now and then."""

    def __init__(self, column: str, *, count: bool = False) -> None:
        self._column, self._count = column, count
        self._parts: list[Any] = []
        # Of each part the places of its rows, or how many have each value.
        self._held: list[npt.NDArray[Any]] = []
        self._waiting, self._most = 0, _PENDING

    def add(self, values: Any) -> None:
        """Number, or count, the values of one more Arrow array."""
        for chunk in values.chunks:
            if self._count:
                found = chunk.value_counts()
                distinct, held = to_text(found.field("values")), found.field("counts").to_numpy()
            else:
                distinct, held = factorize(pa.chunked_array([chunk]))
            self._parts.append(distinct)
            self._held.append(held)
            self._waiting += len(distinct)
            if self._waiting > self._most:
                self._unite()

    def result(self) -> tuple[Any, npt.NDArray[Any]]:
        """The distinct values, and the position of each row's among them, or how many rows have each."""
        self._unite()
        if not self._parts:
            return pa.array([], pa.large_string()), np.zeros(0, np.int64 if self._count else np.int32)
        return self._parts[0], self._held[0]

    def _unite(self) -> None:
        """Unite the distinct values of all pieces; refuses far more than categories can be used."""
        if not self._parts:
            return
        sizes, whole = list(map(len, self._parts)), pa.chunked_array(self._parts)
        self._parts = []  # so that the pieces are gone once they are one
        whole = pa.chunked_array([whole.combine_chunks()])
        values, codes = factorize(whole)
        if self._count:
            self._held = [add_up(codes, np.concatenate(self._held), len(values))]
        else:
            parts = np.split(codes, np.cumsum(sizes)[:-1])
            self._held = [np.concatenate([part[own] for part, own in zip(parts, self._held, strict=True)])]
        self._parts = [values]
        self._waiting, self._most = len(values), 2 * len(values) + _PENDING
        most = _DISTINCT * MAX_CATEGORIES
        if self._waiting > most:
            raise UnreadableFile(
                f"The column {quote(self._column)} holds more than {most:,} different values, and at most"
                f" {MAX_CATEGORIES:,} categories can be used. Pick another column, or put rare categories together."
            )


def add_up(codes: npt.NDArray[Any], weights: Counts, k: int) -> Counts:
    """The sum of the weights of each code; exact, for sums below 2^53."""
    return np.bincount(codes, weights=weights, minlength=k).astype(np.int64)


def sum_of_others(amounts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """(m,) whether each amount is the sum of all others, of which two or more are not zero; shares but for rounding."""
    if np.count_nonzero(amounts) < _FEWEST_SUMMED:
        return np.zeros(len(amounts), dtype=bool)
    whole = amounts.sum()
    near = 0 if amounts.dtype.kind in "iu" else _ROUNDED * whole
    return np.asarray(np.abs(2 * amounts - whole) <= near)


def likely_total(amounts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """(m,) whether an amount that is the sum of all others is likely their total: first or last, of three others."""
    ends = np.zeros(len(amounts), dtype=bool)
    ends[[0, -1]] = np.count_nonzero(amounts) > _FEWEST_SUMMED
    return ends


def one_of(text: Any, words: Collection[str]) -> npt.NDArray[np.bool_]:
    """Whether each Arrow text is one of the words."""
    found = pc.is_in(text, pa.array(sorted(words), pa.large_string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def total_form(names: Any) -> Any:
    """Arrow text in small letters without marks at its end, and words of whom it is the total: "Total %", "Total (n)",
    "Valid total" and "Total respondents" are "total"."""
    bare = pc.replace_substring_regex(pc.utf8_lower(names), r"(\s*\([n%]\)|\s+n|\s*[%:])?\s*$", "")
    return pc.replace_substring_regex(bare, _OF_TOTALS, "")


def totals_of_groups(
    table: Table, category: int, count: int, codes: Codes, amounts: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
    """Which rows of a table of counts hold totals of the others: those with a word for a total in another column
    ("all" beside "m" and "f") that have, in every category, the sum of the rows with other words; and those that SPSS
    calls missing, in the column without a name that heads them. And a sentence on each such word, also where the sums
    differ, and on the first or last of three or more groups that has the sums without the word.

    Args:
        codes, amounts: (n,) the category of each row, -1 for none, and its number.
    """
    left_out, notes = codes < 0, list[str]()
    nameless = left_out.copy()
    if heads := [i for i in range(min(category, count)) if heads_rows(table, i)]:
        ((names, groups),), _ = number_columns(table, heads[:1])
        words = [(one or "").strip().casefold() for one in to_text(names).to_pylist()]
        filled = np.array([bool(word) for word in words])[groups]
        block = groups[np.maximum.accumulate(np.where(filled, np.arange(len(groups)), 0))]
        left_out |= np.array([word in WORDS["block_of_missing"] for word in words])[block]
        if (left_out & ~nameless).any():
            about = quote(to_text(names)[int(block[left_out & ~nameless][0])].as_py())
            notes.append(f"The rows of {about} hold no answers, and were left out.")
    columns = [
        i
        for i, hint in enumerate(table.hints)
        if i not in (category, count) and hint.again and not (table.numeric[i] or hint.bits)
    ][:_MOST_GROUPINGS]
    if not columns or len(table.data) > _WITH_GROUPS:
        return left_out & ~nameless, tuple(notes)
    for column in columns:
        try:
            ((names, groups),), _ = number_columns(table, [column])
        except UnreadableFile:  # a column that nobody chose is no reason to refuse the table
            continue
        if not 2 <= len(names) <= _MOST_GROUPS:
            continue
        text = to_text(names)
        called = one_of(total_form(pc.utf8_trim_whitespace(text)), TOTALS)
        # "All regions"
        begins = np.array(
            [re.split(r"\W", (one or "").strip().lower())[0] in TOTALS for one in text.to_pylist()]
        )
        ends = {0, len(names) - 1} if len(names) >= _FEWEST_SUMMED else set()
        for group in sorted({*np.flatnonzero(called | begins).tolist(), *ends}):
            rows = (groups == group) & ~left_out
            own, whole = (np.bincount(codes[some], amounts[some]) for some in (rows, ~left_out))
            own = np.pad(own, (0, len(whole) - len(own)))
            are_sums = np.count_nonzero(own) > 1 and np.allclose(2 * own, whole, rtol=_ROUNDED, atol=0)
            about = f"with {quote(text[group].as_py() or '')} in the column {quote(table.columns[column])}"
            if (called | begins)[group] and are_sums:
                left_out |= rows
                notes.append(f"The rows {about} have the sums of the others, and were left out.")
            elif called[group] and rows.any():
                notes.append(f"The rows {about} are not the sums of the others, and were counted.")
            elif are_sums:
                notes.append(
                    f"The rows {about} have the sums of the others: take them out if they are totals."
                )
    return left_out & ~nameless, tuple(notes)


def check_size(k: int, column: str, fewest: int | None = None) -> None:
    """Raise UnreadableFile for fewer than ``fewest`` (default MIN_CATEGORIES) or too many categories."""
    if k == 0:
        raise UnreadableFile(f"The column {quote(column)} is empty. Pick another column for the category.")
    if k < (MIN_CATEGORIES if fewest is None else fewest):
        raise UnreadableFile(
            f"The column {quote(column)} holds one category only, and a distribution needs at least"
            f" {MIN_CATEGORIES}. Pick another column, or add the missing categories with count 0."
        )
    if k > MAX_CATEGORIES:
        raise UnreadableFile(
            f"The column {quote(column)} holds {k:,} different categories; at most {MAX_CATEGORIES:,} can be"
            " used. Pick another column, or put rare categories together."
        )


def has_name(names: Any) -> npt.NDArray[np.bool_]:
    """Whether each name contains more than blanks and control characters."""
    return np.asarray(pc.match_substring_regex(names, r"[^\p{Z}\p{Cc}]").to_numpy(zero_copy_only=False))


def with_names(
    table: Table, counted: Counted, named: npt.NDArray[np.bool_], blank: Columns, first: int
) -> Counted:
    """The counted values with a name; the others, of which row `first` is the first, are listed as dropped."""
    dropped = left_out(table, blank, int(counted.rows[~named].sum()), first)
    names = pc.filter(counted.names, pa.array(named))
    rows, people = counted.rows[named], counted.people[named]
    return replace(counted, names=names, rows=rows, people=people, dropped=dropped)


def left_out(table: Table, columns: Columns, nameless: int, first_nameless: int) -> tuple[Dropped, ...]:
    """The blank lines of a file, and its rows without a name, which in a single column are blank lines, too."""
    blank, first_blank = columns.blank_lines, columns.first_blank
    first = table.place(first_nameless) if nameless else 0
    if len(table.columns) == 1 and table.unit == "line":
        firsts = [line for line in (first_blank, first) if line]
        return (Dropped("blank line", blank + nameless, min(firsts)),) if firsts else ()
    dropped = []
    if blank:
        dropped.append(Dropped("blank line", blank, first_blank))
    if nameless:
        dropped.append(Dropped("no category name", nameless, first))
    return tuple(dropped)


def _first_of(table: Table, category: int, wanted: Any) -> int:
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
