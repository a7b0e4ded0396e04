"""A table: opened from the bytes of a file, its columns read piece by piece, and the values of one column counted.

Distributions and collected reports are both read from here. Counting holds only the distinct values in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.budget import Budget
from rr_core.io.columns import Columns
from rr_core.io.decoding import Tick, UnreadableFile, decode, ignore, megabytes, quote, unpack
from rr_core.io.labels import factorize
from rr_core.io.parquet import ParquetTable, open_parquet, to_text
from rr_core.io.text import TextTable, open_text
from rr_core.limits import HELD_BYTES_MAX, HELD_ROWS_MAX, K_MAX, K_MIN

AnyTable = TextTable | ParquetTable
Counts = npt.NDArray[np.int64]

MIN_CATEGORIES, MAX_CATEGORIES = K_MIN, K_MAX

_PENDING, _PENDING_BYTES = 1 << 20, 1 << 26


@dataclass(frozen=True)
class Opened:
    """An opened table, and how its bytes were decoded (no encoding for Parquet)."""

    table: AnyTable
    compression: Literal["gzip"] | None
    encoding: str | None


@dataclass(frozen=True)
class Dropped:
    """Rows left out for one reason. `first_line` counts lines of a text or rows of a Parquet file from 1.

    `file` names the file when several were read.
    """

    reason: Literal["blank line", "no category name"]
    rows: int
    first_line: int
    file: str | None = None


@dataclass(frozen=True)
class Tallied:
    """Distinct names as written, in order of first appearance, with the number of rows and of people of each."""

    names: Any
    rows: Counts
    people: Counts


@dataclass(frozen=True)
class Counted:
    """A file after counting: names that are not blank but not yet cleaned, and the rows that were left out."""

    tallied: Tallied
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...] = ()


def open_table(
    data: bytes, name: str, has_header: bool | None, tick: Tick = ignore, budget: Budget | None = None
) -> Opened:
    """Unpack and decode an upload and find its columns. `tick` hears of the unpacking; what is read spends `budget`
    (None: one of its own).

    Raises
    ------
    UnreadableFile
        When the file is no table at all.
    """
    budget = budget or Budget()
    content = unpack(data, name, lambda done: tick(done / 2))
    if content.kind == "parquet":
        return Opened(open_parquet(content.data, budget), content.compression, None)
    text, encoding = decode(content.data, lambda done: tick((1 + done) / 2))
    return Opened(open_text(text, has_header, budget), content.compression, encoding)


def read_columns(table: AnyTable, indices: Sequence[int], tick: Tick = ignore) -> Columns:
    """The columns at `indices`, whole. Errors as in `TextTable.pieces` and `ParquetTable.pieces`.

    Raises
    ------
    UnreadableFile
        Also for more than HELD_ROWS_MAX rows or HELD_BYTES_MAX bytes.
    """
    chunks: list[list[Any]] = [[] for _ in indices]
    blank = Columns(())
    rows = size = 0
    for piece in table.pieces(indices):
        for column, array in zip(chunks, piece.arrays, strict=False):
            column += array.chunks
            size += array.nbytes
        rows += len(piece.arrays[0]) if piece.arrays else 0
        if rows > HELD_ROWS_MAX or size > HELD_BYTES_MAX + 16 * rows:
            limit = f"{HELD_ROWS_MAX:,} rows" if rows > HELD_ROWS_MAX else megabytes(HELD_BYTES_MAX)
            raise UnreadableFile(
                f"The table of counts has more than {limit}. Add up the counts of each category first and upload"
                " one row per category."
            )
        blank = piece
        tick(piece.done)
    return Columns(tuple(map(pa.chunked_array, chunks)), blank.blank_lines, blank.first_blank)


def count_values(table: AnyTable, category: int, tick: Tick = ignore) -> Counted:
    """How many rows hold each value of a column.

    Raises
    ------
    UnreadableFile
        A broken line, or far more values than categories can be used.
    """
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
    named = has_name(tallied.names)
    first = 0 if named.all() else _first_of(table, category, pc.filter(tallied.names, pa.array(~named)))
    return with_names(table, tallied, named, blank, first)


class Tally:
    """Counts values that arrive in pieces.

    Each piece is reduced to its distinct values at once. These are merged whenever enough have accumulated, so that
    the work is proportional to the rows even when nearly all values differ.
    """

    def __init__(self) -> None:
        self._names: list[Any] = []
        self._rows: list[Counts] = []
        self._waiting = 0
        self._limit = _PENDING
        self._bytes = 0
        self._most_bytes = _PENDING_BYTES
        self.distinct = 0
        """Distinct values when they were last united."""

    def add(self, values: Any) -> None:
        """Count the values of one more Arrow array."""
        found = values.value_counts()
        self._names.append(to_text(found.field("values")))
        self._rows.append(found.field("counts").to_numpy())
        self._waiting += len(found)
        self._bytes += self._names[-1].nbytes
        if self._waiting > self._limit or self._bytes > self._most_bytes:
            self.distinct = len(self.result().names)
            self._limit = 2 * self.distinct + _PENDING
            self._most_bytes = 2 * self._bytes + _PENDING_BYTES

    def result(self) -> Tallied:
        """The counts so far."""
        names, codes = factorize(pa.chunked_array(self._names, pa.large_string()))
        rows = add_up(codes, np.concatenate([np.zeros(0, np.int64), *self._rows]), len(names))
        self._names, self._rows, self._waiting = [names], [rows], len(names)
        self._bytes = names.nbytes
        return Tallied(names, rows, rows)


def add_up(codes: npt.NDArray[Any], weights: Counts, k: int) -> Counts:
    """The sum of the weights of each code; exact, for sums below 2^53."""
    return np.bincount(codes, weights=weights, minlength=k).astype(np.int64)


def check_size(k: int, column: str, fewest: int | None = None) -> None:
    """Raise UnreadableFile for fewer than ``fewest`` (default MIN_CATEGORIES) or more than MAX_CATEGORIES
    categories."""
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
    table: AnyTable,
    tallied: Tallied,
    named: npt.NDArray[np.bool_],
    blank: Columns,
    first: int,
    notes: tuple[str, ...] = (),
) -> Counted:
    """The tallied values with a name; the rows without one, of which row `first` is the first, are listed as
    dropped."""
    dropped = left_out(table, blank, int(tallied.rows[~named].sum()), first)
    names = pc.filter(tallied.names, pa.array(named))
    return Counted(Tallied(names, tallied.rows[named], tallied.people[named]), dropped, notes)


def left_out(table: AnyTable, columns: Columns, nameless: int, first_nameless: int) -> tuple[Dropped, ...]:
    """What was left out of a file: its blank lines, and its rows without a name.

    `first_nameless` is the position of the first of those. In a single column they are blank lines.
    """
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
