"""From an uploaded file to a `Preview` (what was understood) and a `Distribution` (what is used).

The way of a byte: past `Gate` of `server/middleware.py` it comes to Streamlit, which keeps it in the server's memory
for the uploader of `pages/_ui/upload.py`. When that draws the file, `read_once` of `pages/_ui/session_files.py` has a
worker (`server/jobs.py`) call `inspect` and `read_distribution` here with the file's bytes. `tables.decoded` checks its
file's size, decompresses it, and makes UTF-8 text or Parquet of what it holds, also of a spreadsheet or a file of SPSS,
Stata or SAS, within what one upload may cost; `text.open_text` or `parquet.open_parquet` finds separator, header and
columns; `columns.choose` says which of them are names and counts, unless the person did; `tables` reads these piece by
piece and counts values; `labels.clean` makes names of cells and `numbers.parse` numbers; and here they become labels
with weights. Pressing "Use this distribution" (`_use` in `pages/_ui/upload.py`) makes them a `Population`, held by this
session, which every page draws from (`pages/_ui/draw_results.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rr_core.io import numbers
from rr_core.io.columns import (
    Described,
    Layout,
    Table,
    choose,
    is_share_name,
    refuse_sideways,
    suggest,
    unused_numbers,
)
from rr_core.io.decoding import Compression, UnreadableFile, quote
from rr_core.io.labels import Codes, Labels, as_objects, clean, name_order
from rr_core.io.tables import (
    Dropped,
    add_up,
    check_size,
    count_values,
    decoded,
    left_out,
    likely_total,
    number_columns,
    open_table,
    sum_of_others,
    table_in,
    totals_of_groups,
)
from rr_core.io.text import TextTable
from rr_core.plain_text import plain

Order = Literal["file", "count", "name"]
Kind = Literal["counts", "shares", "values"]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Preview(Described):
    """The detected format of a file; `layout`, `category` and `count` are suggestions (column positions from 0).

    `encoding`, `separator` and `has_header` are None for Parquet, `separator` also for a single column. `program` says
    what wrote a spreadsheet or a file of a statistics package. `sample` is shortened for display.
    """

    name: str
    sha256: str
    format: Literal["text", "parquet"]
    compression: Compression | None
    encoding: str | None
    separator: str | None
    has_header: bool | None
    layout: Layout
    category: int
    count: int | None
    program: str = ""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Categories and their weights, read from a file.

    Attributes:
        labels: (k,) distinct str, dtype object, read-only.
        weights: (k,) read-only: int64 counts, or float64 shares with sum 1 when `kind` is "shares".
        kind: "counts" and "shares" come from a column of numbers, "values" were counted here.
        rows: rows with a category that were used; the others are in `dropped`.
        total: sum of the numbers in the file: people, or of shares their sum before rescaling.
        merged: rows added to an earlier row of the same category (0 for values).
        notes: sentences about everything that was assumed or changed.
        has_header: whether the first line names the columns; None for Parquet.
        sum_of_others, is_total: a category whose number is the sum of all others; and whether its place at an end of
            the file makes it their total rather than a category.
        left_out: categories that `without` took out.
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
    has_header: bool | None
    sha256: str
    sum_of_others: str | None = None
    is_total: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def k(self) -> int:
        """Number of categories, empty ones included."""
        return len(self.labels)


def inspect(data: bytes, name: str, *, has_header: bool | None = None, sheet: str | None = None) -> Preview:
    """Look at the first lines of an uploaded file.

    Args:
        data, name: the bytes and the file name of the upload.
        has_header: overrides what is detected; ignored for Parquet.
        sheet: of a workbook; None for the first that seems to be a table.

    Raises:
        UnreadableFile: when the file is no table at all. Bad lines further down are found by `read_distribution`.

    >>> found = inspect(b"town;people\\nRome;1.200\\nOslo;800\\n", "towns.csv")
    >>> found.columns, found.layout, found.separator
    (('town', 'people'), 'counts', ';')
    """
    found = decoded(data, name, sheet)
    table = table_in(found, has_header)
    refuse_sideways(table)
    suggested = suggest(table)
    return Preview(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        format="parquet" if found.kind == "parquet" else "text",
        compression=found.compression,
        encoding=found.encoding,
        separator=table.separator if isinstance(table, TextTable) else None,
        has_header=table.has_header if isinstance(table, TextTable) else None,
        columns=table.columns,
        numeric=table.numeric,
        hints=table.hints,
        sample=tuple(tuple(plain(cell, 80) for cell in row) for row in table.sample),
        layout=suggested.layout,
        category=suggested.category,
        count=suggested.count,
        program=found.program,
        sheets=table.sheets,
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
    leave_out: Collection[str] = (),
    sheet: str | None = None,
) -> Distribution:
    """Read an uploaded file as a distribution over its categories. O(rows).

    Args:
        data, name: the bytes and the file name of the upload.
        layout: "counts": one row per category, with a number. "values": one row per person; the values of one column
            are counted. None follows the suggestion of `inspect`.
        category, count: columns, by name or position from 0; None follows the suggestion.
        has_header: overrides what is detected; ignored for Parquet.
        order: "file": of first appearance. "count": largest first, ties as in the file. "name": see `name_order`.
        leave_out: names that are no categories, such as a total.
        sheet: of a workbook; None for the first that seems to be a table.

    Raises:
        UnreadableFile: with one sentence for the person who uploaded the file.
        ValueError: unknown `layout` or `order`.

    >>> read = read_distribution(b"town;people\\nRome;1.200\\nOslo;800\\n", "towns.csv")
    >>> read.labels.tolist(), read.weights.tolist()
    (['Rome', 'Oslo'], [1200, 800])
    >>> read.notes
    ('Points in the counts were read as thousands separators: 1.200 is 1200.',)
    """
    if layout not in (None, "counts", "values"):
        raise ValueError(f"layout must be 'counts', 'values' or None, got {layout!r}")
    if order not in ("file", "count", "name"):
        raise ValueError(f"order must be 'file', 'count' or 'name', got {order!r}")
    table = open_table(data, name, has_header, sheet=sheet)
    if layout is None:
        refuse_sideways(table)
    choice = choose(table, layout, category, count)
    about = {
        "category_name": table.columns[choice.category],
        "count_name": None if choice.count is None else table.columns[choice.count],
        "has_header": table.has_header if isinstance(table, TextTable) else None,
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    if choice.count is None:
        read = _from_values(table, choice.category, about)
    else:
        read = _from_numbers(table, choice.category, choice.count, about)
    added = np.flatnonzero(sum_of_others(read.weights)) if read.kind != "values" else np.zeros(0, np.int64)
    total = read.labels[added[0]] if added.size else None
    is_total = bool(added.size and likely_total(read.weights)[added[0]])
    names, weights = read.labels, read.weights
    if order != "file":
        positions = name_order(names) if order == "name" else np.argsort(-weights, kind="stable")
        names, weights = names[positions], weights[positions]
    names.setflags(write=False)
    weights.setflags(write=False)
    notes = (*table.notes, *read.notes, *unused_numbers(table, choice))
    whole = replace(read, labels=names, weights=weights, notes=notes, sum_of_others=total, is_total=is_total)
    return without(whole, leave_out)


def without(read: Distribution, names: Collection[str]) -> Distribution:
    """A distribution without some of its categories, such as a total; refuses to leave fewer than two."""
    kept = np.array([label not in names for label in read.labels]) if names else np.ones(read.k, dtype=bool)
    if kept.all():
        return read
    check_size(int(kept.sum()), read.category_name)
    labels, weights, notes = read.labels[kept], read.weights[kept], read.notes
    total: int | float = int(weights.sum())
    if read.kind == "shares":
        total = read.total * float(weights.sum() / read.weights.sum())
        weights = weights / weights.sum()
        notes = (*(note for note in notes if note not in _rescaled(read.total)), *_rescaled(total))
    labels.setflags(write=False)
    weights.setflags(write=False)
    left_out = tuple(read.labels[~kept].tolist())
    return replace(
        read, labels=labels, weights=weights, total=total, notes=notes, sum_of_others=None, left_out=left_out
    )


def _from_values(table: Table, category: int, about: Mapping[str, Any]) -> Distribution:
    counted = count_values(table, category)
    codes = np.arange(len(counted.names), dtype=np.int32)
    labels = _labels(counted.names, codes, table.columns[category])
    tallies = add_up(labels.codes, counted.rows, len(labels.names))
    rows, notes = int(tallies.sum()), (*labels.notes, *counted.notes)
    if tallies.max() == 1:
        notes += (
            "Every value occurs exactly once. If another column holds counts, choose “category and count”.",
        )
    names = as_objects(labels.names)
    return Distribution(names, tallies, "values", rows, rows, counted.dropped, 0, notes, **about)


def _from_numbers(table: Table, category: int, count: int, about: Mapping[str, Any]) -> Distribution:
    (column, (distinct, number_codes)), blank = number_columns(table, [category, count])
    labels = _labels(*column, table.columns[category])
    named = labels.codes >= 0
    is_share = is_share_name(table.columns[count])
    parsed = numbers.parse(distinct, shares=is_share)
    numbers.check(table, distinct, parsed.values, number_codes, named)
    totals, found = totals_of_groups(table, category, count, labels.codes, parsed.values[number_codes])
    kept = named & ~totals
    # Usually nothing is dropped, and then nothing is copied.
    used = slice(None) if kept.all() else kept
    values = numbers.as_integers(parsed.values[number_codes[used]])
    if not values.any():
        raise UnreadableFile(
            f"All numbers in the column {quote(table.columns[count])} are zero. At least one category"
            " needs a count above 0."
        )
    nameless = np.flatnonzero(~named)
    dropped = left_out(table, blank, nameless.size, int(nameless[0]) if nameless.size else 0)
    sums = np.asarray(np.bincount(labels.codes[used], values, len(labels.names)), dtype=np.float64)
    # Each number is at most 2^53: the sum does not overflow, and of whole numbers it is exact as far as it is allowed.
    rows, total, notes = (
        int(np.count_nonzero(kept)),
        float(sums.sum()),
        (*labels.notes, *parsed.notes, *found),
    )
    names, merged = as_objects(labels.names), rows - len(labels.names)
    if values.dtype.kind == "i" and not (parsed.percent or is_share):
        if total > numbers.MAX_COUNT:
            raise UnreadableFile(
                f"The counts add up to more than {numbers.MAX_COUNT:,}. Divide all of them by the same number."
            )
        people = sums.astype(np.int64)
        return Distribution(names, people, "counts", rows, int(total), dropped, merged, notes, **about)
    shares = sums / sums.max()  # first, which keeps denormal numbers from losing their digits
    shares /= shares.sum()
    notes = (*notes, *_rescaled(total))
    return Distribution(names, shares, "shares", rows, total, dropped, merged, notes, **about)


def _labels(distinct: Any, codes: Codes, column: str) -> Labels:
    """Clean labels of a column that has as many categories as can be used."""
    labels = clean(distinct, codes)
    check_size(len(labels.names), column)
    return labels


def _rescaled(total: float) -> tuple[str, ...]:
    if abs(total - 1) <= 1e-6:
        return ()
    return (f"The numbers add up to {total:,.6g}; they were taken as shares and rescaled to add up to 1.",)
