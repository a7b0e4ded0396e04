"""From an uploaded file to a `Preview` (what was understood) and a `Distribution` (what is used)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rr_core.io import numbers
from rr_core.io.content import Tick, decode, ignore, unpack
from rr_core.io.errors import UnreadableFile, quote
from rr_core.io.hints import Hint
from rr_core.io.labels import Labels, clean, factorize, name_order
from rr_core.io.parquet import ParquetTable, open_parquet
from rr_core.io.schema import Choice, Columns, Layout, choose, names_share, suggest
from rr_core.io.text import TextTable, open_text
from rr_core.limits import K_MAX, K_MIN
from rr_core.plain_text import plain

MIN_CATEGORIES, MAX_CATEGORIES = K_MIN, K_MAX

_TALLY_ROWS = 1 << 24

Order = Literal["file", "count", "name"]
Kind = Literal["counts", "shares", "values"]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]


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
class Preview:
    """What a file seems to be; `layout`, `category` and `count` are suggestions (column positions).

    `encoding`, `separator` and `has_header` are None for Parquet, `separator` also for a single column.
    `sample` is shortened for showing. `numeric` and `hints` tell what the columns look like.
    """

    name: str
    sha256: str
    format: Literal["text", "parquet"]
    compression: Literal["gzip"] | None
    encoding: str | None
    separator: str | None
    has_header: bool | None
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    hints: tuple[Hint, ...]
    sample: tuple[tuple[str, ...], ...]
    layout: Layout
    category: int
    count: int | None


@dataclass(frozen=True, eq=False)
class Distribution:
    """Categories and their weights, read from a file.

    Attributes
    ----------
    labels
        (k,) distinct str, dtype object, read-only.
    weights
        (k,) read-only: int64 counts, or float64 shares with sum 1 when `kind` is "shares".
    kind
        "counts" and "shares" come from a column of numbers, "values" were counted here.
    rows
        Rows with a category that were used; the others are in `dropped`.
    total
        Sum of the numbers in the file: the number of people for counts and values, and for shares their sum
        before rescaling.
    merged
        Rows added to an earlier row of the same category (0 for values).
    notes
        Sentences about everything that was assumed or changed.
    """

    labels: npt.NDArray[np.object_]
    weights: Weights
    kind: Kind
    rows: int
    total: int | float
    dropped: tuple[Dropped, ...]
    merged: int
    notes: tuple[str, ...]
    category_name: str
    count_name: str | None
    sha256: str

    @property
    def k(self) -> int:
        """Number of categories, empty ones included."""
        return len(self.labels)


@dataclass(frozen=True)
class _Opened:
    table: TextTable | ParquetTable
    compression: Literal["gzip"] | None
    encoding: str | None


def inspect(data: bytes, name: str, *, has_header: bool | None = None) -> Preview:
    """Look at the first lines of an uploaded file.

    Parameters
    ----------
    data, name
        The bytes and the file name of the upload.
    has_header
        Overrides what is detected; ignored for Parquet.

    Raises
    ------
    UnreadableFile
        When the file is no table at all. Bad lines further down are found by `read_distribution`.
    """
    opened = open_table(data, name, has_header)
    table = opened.table
    suggested = suggest(table)
    is_text = isinstance(table, TextTable)
    return Preview(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        format="text" if is_text else "parquet",
        compression=opened.compression,
        encoding=opened.encoding,
        separator=table.separator if isinstance(table, TextTable) else None,
        has_header=table.has_header if isinstance(table, TextTable) else None,
        columns=table.columns,
        numeric=table.numeric,
        hints=table.hints,
        sample=tuple(tuple(plain(cell, 80) for cell in row) for row in table.sample),
        layout=suggested.layout,
        category=suggested.category,
        count=suggested.count,
    )


def read_distribution(
    data: bytes,
    name: str,
    *,
    layout: Layout | None = None,
    category: str | int | None = None,
    count: str | int | None = None,
    has_header: bool | None = None,
    order: Order = "file",
) -> Distribution:
    """Read an uploaded file as a distribution over its categories.

    Parameters
    ----------
    data, name
        The bytes and the file name of the upload.
    layout
        "counts": one row per category, with a number. "values": one row per person; the values of one column
        are counted. None follows the suggestion of `inspect`.
    category, count
        Columns, by name or position from 0; None follows the suggestion. `count` is not used for values.
    has_header
        Overrides what is detected; ignored for Parquet.
    order
        "file": of first appearance. "count": largest first, ties as in the file. "name": see `name_order`.

    Raises
    ------
    UnreadableFile
        With one sentence for the person who uploaded the file.
    ValueError
        Unknown `layout` or `order`.

    Notes
    -----
    Time and memory are O(rows); 1.5 million categories take about two seconds.
    """
    if layout not in (None, "counts", "values"):
        raise ValueError(f"layout must be 'counts', 'values' or None, got {layout!r}")
    if order not in ("file", "count", "name"):
        raise ValueError(f"order must be 'file', 'count' or 'name', got {order!r}")
    table = open_table(data, name, has_header).table
    choice = choose(table, layout, category, count)
    columns = table.read([choice.category] if choice.count is None else [choice.category, choice.count])
    distinct, codes = factorize(columns.arrays[0])
    # Cleaning may unite a few names, not three in four: do not clean ten million of them first.
    if len(distinct) > 4 * MAX_CATEGORIES:
        check_size(len(distinct), table.columns[choice.category])
    labels = clean(distinct, codes)
    kept = labels.codes >= 0
    check_size(len(labels.names), table.columns[choice.category])
    weights, kind, total, notes = _weights(table, choice, columns, labels, kept)
    names = np.asarray(labels.names.to_numpy(zero_copy_only=False), dtype=object)
    names, weights = _sorted(names, weights, order)
    rows = int(np.count_nonzero(kept))
    names.setflags(write=False)
    weights.setflags(write=False)
    return Distribution(
        labels=names,
        weights=weights,
        kind=kind,
        rows=rows,
        total=total,
        dropped=_dropped(table, columns, labels.codes),
        merged=0 if kind == "values" else rows - len(names),
        notes=(*labels.notes, *notes),
        category_name=table.columns[choice.category],
        count_name=None if choice.count is None else table.columns[choice.count],
        sha256=hashlib.sha256(data).hexdigest(),
    )


def open_table(data: bytes, name: str, has_header: bool | None, tick: Tick = ignore) -> _Opened:
    """Unpack and decode an upload and find its columns. `tick` hears of the unpacking.

    Raises
    ------
    UnreadableFile
        When the file is no table at all.
    """
    content = unpack(data, name, lambda done: tick(done / 2))
    if content.kind == "parquet":
        return _Opened(open_parquet(content.data), content.compression, None)
    text, encoding = decode(content.data, lambda done: tick((1 + done) / 2))
    return _Opened(open_text(text, has_header), content.compression, encoding)


def check_size(k: int, column: str, fewest: int | None = None) -> None:
    """Refuse a column with too few or too many categories; at least MIN_CATEGORIES unless told otherwise."""
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


def _weights(
    table: TextTable | ParquetTable,
    choice: Choice,
    columns: Columns,
    labels: Labels,
    kept: npt.NDArray[np.bool_],
) -> tuple[Weights, Kind, int | float, tuple[str, ...]]:
    """Weights in order of first appearance, what they are, their total in the file, and notes."""
    k = len(labels.names)
    # Usually nothing is dropped, and then nothing is copied.
    used = slice(None) if kept.all() else kept
    codes = labels.codes[used]
    if choice.count is None:
        tallies = _tally(codes, k)
        return tallies, "values", len(codes), _note_unrepeated(tallies)
    distinct, number_codes = factorize(columns.arrays[1])
    is_share = names_share(table.columns[choice.count])
    parsed = numbers.parse(distinct, shares=is_share)
    numbers.check(table, distinct, parsed.values, number_codes, kept)
    values = numbers.whole(parsed.values[number_codes[used]])
    if not values.any():
        raise UnreadableFile(
            f"All numbers in the column {quote(table.columns[choice.count])} are zero. At least one category"
            " needs a count above 0."
        )
    sums = np.asarray(np.bincount(codes, weights=values, minlength=k), dtype=np.float64)
    if values.dtype.kind == "i" and not (parsed.percent or is_share):
        return *_counts(sums), parsed.notes
    shares, total, notes = _shares(sums)
    return shares, "shares", total, (*parsed.notes, *notes)


def _tally(codes: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """How often each code occurs; in pieces, because bincount copies its input to 8 bytes a row."""
    tallies = np.zeros(k, dtype=np.int64)
    for start in range(0, len(codes), _TALLY_ROWS):
        tallies += np.bincount(codes[start : start + _TALLY_ROWS], minlength=k)
    return tallies


def _counts(sums: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], Kind, int]:
    # Sums of doubles are exact as long as the total is at most 2^53.
    if sums.sum() > numbers.MAX_COUNT:
        raise UnreadableFile(
            f"The counts add up to more than {numbers.MAX_COUNT:,}. Divide all of them by the same number."
        )
    counts = sums.astype(np.int64)
    return counts, "counts", int(counts.sum())


def _shares(sums: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], float, tuple[str, ...]]:
    # Each number is at most 2^53, so neither sum overflows; dividing by the largest first keeps
    # denormal numbers from losing their digits.
    total = float(sums.sum())
    shares = sums / sums.max()
    shares /= shares.sum()
    if abs(total - 1) <= 1e-6:
        return shares, total, ()
    note = f"The numbers add up to {total:,.6g}; they were taken as shares and rescaled to add up to 1."
    return shares, total, (note,)


def _note_unrepeated(tallies: npt.NDArray[np.int64]) -> tuple[str, ...]:
    if tallies.max() > 1:
        return ()
    return ("Every value occurs exactly once. If another column holds counts, choose “category and count”.",)


def _sorted(
    names: npt.NDArray[np.object_], weights: Weights, order: Order
) -> tuple[npt.NDArray[np.object_], Weights]:
    if order == "count":
        positions = np.argsort(-weights, kind="stable")
    elif order == "name":
        positions = name_order(names)
    else:
        return names.copy(), weights.copy()
    return names[positions], weights[positions]


def _dropped(
    table: TextTable | ParquetTable, columns: Columns, codes: npt.NDArray[Any]
) -> tuple[Dropped, ...]:
    nameless = np.flatnonzero(codes < 0)
    return left_out(table, columns, int(nameless.size), int(nameless[0]) if nameless.size else 0)


def left_out(
    table: TextTable | ParquetTable, columns: Columns, nameless: int, first_nameless: int
) -> tuple[Dropped, ...]:
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
