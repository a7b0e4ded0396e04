"""Reports of unary encoding from a file: a column of 0 and 1 for each category, bit strings like 0110, or a table with
the number of ones of each category."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.columns import ONES, ZEROS, Layout, is_count_name
from rr_core.io.decoding import UnreadableFile, quote
from rr_core.io.reports import Reports, Source, read_reports
from rr_core.io.tables import AnyTable, open_table

# Bits that are held, one byte each.
MOST_BITS_HELD = 50_000_000
_BITS = re.compile(r"[01]{2,}")
_NAMES_OF_ONES = ("one", "ones", "support")
_MISSING = {"", "na", "n/a", "nan", "null", "none"}  # among bits: to be told, with their place
_FEWEST = 2  # categories
_MOST_PATTERNS = 20  # bits whose patterns are looked through


class OneBit(UnreadableFile):
    """The file has one bit for each person: reports of Warner's design."""


@dataclass(frozen=True, eq=False)
class UnaryReports:
    """What a file holds.

    Attributes:
        labels: k names of the categories.
        support: (k,) int64, number of reports with a one for each category.
        n: number of reports; None where the file has only their ones.
        bits: (r, k) uint8, the different reports or all of them; None where the file has only their ones.
        times: (r,) int64, how often each of ``bits`` occurred.
        notes: a plain sentence for each thing that was understood.
        columns: names of the columns of bits, or of those of bit strings, or of the categories and of their ones.
    """

    labels: tuple[str, ...]
    support: npt.NDArray[np.int64]
    n: int | None
    bits: npt.NDArray[np.uint8] | None
    times: npt.NDArray[np.int64] | None
    notes: tuple[str, ...]
    columns: tuple[str, ...]


def read_unary(
    source: Source,
    layout: Layout | None = None,
    category: str | None = None,
    count: str | None = None,
    has_header: bool | None = None,
) -> UnaryReports:
    """Read reports of unary encoding, or the number of ones of each category.

    Args:
        source: the file.
        layout, category, count, has_header: as in `read_reports`, where it has no columns of 0 and 1.

    Raises:
        UnreadableFile: one plain sentence for the person whose file it is.

    >>> read_unary(Source("phones.csv", b"bus,car\\n1,0\\n1,1\\n0,0\\n")).support.tolist()
    [2, 1]
    >>> read_unary(Source("bits.txt", b"010\\n110\\n010\\n")).support.tolist()
    [1, 3, 0]
    """
    return read_bit_columns(source) or unary_of(
        read_reports(
            [source],
            layout=layout,
            category=category,
            count=count,
            has_header=has_header,
            all_zero=True,
        )
    )


def read_bit_columns(source: Source) -> UnaryReports | None:
    """The columns of 0 and 1 of a file; None where it has fewer than two.

    Raises:
        UnreadableFile: one plain sentence.
    """
    table = open_table(bytes(source.data), source.name, None).table
    columns = [index for index in range(len(table.columns)) if _seems_bits(table, index)]
    return _from_columns(table, columns) if len(columns) >= _FEWEST else None


def unary_of(reports: Reports) -> UnaryReports:
    """The bits in a column of bit strings, or the number of ones in a table of counts.

    Raises:
        UnreadableFile: one plain sentence; `OneBit` for a column of 0 and 1.
    """
    labels = reports.labels.tolist()
    if reports.layout == "values" and {label.casefold() for label in labels} <= ONES | ZEROS:
        raise OneBit(
            f"The column {quote(reports.category_name)} holds one bit for each person, and one bit is Warner's design: a "
            "yes or no, which was exchanged with some chance. Choose “Warner's two questions” above."
        )
    are_ones = reports.layout == "counts" and not {*f"{reports.count_name}".casefold().split()}.isdisjoint(
        _NAMES_OF_ONES
    )
    if all(map(_BITS.fullmatch, labels)) and not are_ones:
        return _from_strings(labels, reports)
    if reports.layout != "counts":
        raise UnreadableFile(
            "The file has neither columns of 0 and 1, nor bit strings like 0110, nor a category and its number of ones "
            "in each row: save the reports in one of these forms."
        )
    if len(labels) < _FEWEST:
        raise UnreadableFile("There is one category only: unary encoding has a bit for each of two or more.")
    columns = (reports.category_name, f"{reports.count_name}")
    return UnaryReports(tuple(labels), reports.counts, None, None, None, reports.notes, columns)


def _seems_bits(table: AnyTable, index: int) -> bool:
    """Whether a column starts with 0 and 1: what else it holds further down is a mistake to be told."""
    cells = [row[index].strip().casefold() for row in table.sample if index < len(row)]
    bits = [cell for cell in cells if cell not in _MISSING]
    return table.hints[index].bits or (2 * len(bits) > len(cells) and {*bits} <= ONES | ZEROS)


def _from_columns(table: AnyTable, columns: Sequence[int]) -> UnaryReports:
    names = [table.columns[index] for index in columns]
    counted = [i for i, name in enumerate(table.columns) if i not in columns and is_count_name(name)][:1]
    pieces: list[npt.NDArray[np.uint8]] = []
    times: list[npt.NDArray[np.int64] | None] = []
    rows = 0
    for piece in table.pieces([*columns, *counted]):
        if not piece.arrays:
            continue
        block = np.empty((len(piece.arrays[0]), len(columns)), dtype=np.uint8)
        for column, array in enumerate(piece.arrays[: len(columns)]):
            block[:, column] = _bits(array, names[column], table, rows)
        pieces.append(block)
        times.append(_counts(piece.arrays[-1]) if counted else None)
        rows += len(block)
        _check_bits(rows * len(columns))
    if not rows:
        raise UnreadableFile(
            "The file has names of columns, but no reports below them: add one row per report."
        )
    bits, each = np.concatenate(pieces), np.ones(rows, dtype=np.int64)
    numbers = [one for one in times if one is not None]
    # Rows that all differ, and whole numbers of each, are patterns and how often each occurred.
    if rows and len(numbers) == len(pieces) and rows <= 2 ** min(bits.shape[1], _MOST_PATTERNS):
        patterns = len(np.unique(bits, axis=0)) == rows
        each = np.concatenate(numbers) if patterns else each
        counted = counted if patterns else []
    else:
        counted = []
    others = [name for index, name in enumerate(table.columns) if index not in (*columns, *counted)]
    notes = table.notes
    if counted:
        notes += (f"Each row counts as often as its column {quote(table.columns[counted[0]])} says.",)
    if others:
        notes += (f"Not read, for they hold more than 0 and 1: {', '.join(map(quote, others[:5]))}.",)
    ones = each @ bits
    return UnaryReports(tuple(names), ones, int(each.sum()), bits, each, notes, tuple(names))


def _counts(array: Any) -> npt.NDArray[np.int64] | None:
    """A piece of a column as whole numbers above 0 that can be added up; None where it holds anything else."""
    combined = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    try:
        numbers = pc.cast(pc.utf8_trim_whitespace(pc.cast(combined, pa.string())), pa.int64())
    except pa.ArrowInvalid:
        return None
    if numbers.null_count or not len(numbers):
        return None
    found: npt.NDArray[np.int64] = numbers.to_numpy(zero_copy_only=False)
    return found if found.min() > 0 and found.max() <= MOST_BITS_HELD * 2**20 else None


def _bits(array: Any, name: str, table: AnyTable, before: int) -> npt.NDArray[np.uint8]:
    """The bits of a piece of a column; ``before`` rows came before it."""
    combined = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    text = pc.cast(combined, pa.string())
    text = pc.utf8_lower(pc.utf8_trim_whitespace(text))
    ones = pc.fill_null(pc.is_in(text, pa.array(sorted(ONES))), False)
    known = pc.fill_null(pc.or_(ones, pc.is_in(text, pa.array(sorted(ZEROS)))), False)
    if not pc.all(known).as_py():
        row = pc.index(known, False).as_py()
        cell = text[row].as_py()
        found = quote(pc.cast(combined, pa.string())[row].as_py()) if cell else "nothing"
        raise UnreadableFile(
            f"{table.unit.capitalize()} {table.place(before + row):,} has {found} in the column {quote(name)}, where the "
            "others have 0 or 1: mend that report, or leave it out."
        )
    return np.asarray(ones.to_numpy(zero_copy_only=False), dtype=np.uint8)


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS_HELD:
        raise UnreadableFile(
            f"The file has more than {MOST_BITS_HELD:,} bits. Count the ones of each category first, and upload one row "
            "per category with its number of ones."
        )


def _from_strings(labels: Sequence[str], reports: Reports) -> UnaryReports:
    counts = reports.counts
    lengths = sorted({len(label) for label in labels})
    if len(lengths) > 1:
        odd = next(label for label in labels if len(label) != len(labels[0]))
        raise UnreadableFile(
            f"The report {quote(odd)} has {len(odd)} bits, the first one {len(labels[0])}: every report has one bit for "
            "each category."
        )
    k = lengths[0]
    _check_bits(len(labels) * k)
    bits = (np.frombuffer("".join(labels).encode(), dtype=np.uint8) - ord("0")).reshape(len(labels), k)
    ones = counts @ bits.astype(np.int64)
    names = tuple(str(i + 1) for i in range(k))
    notes = (
        ("Each name is a bit string, with how many reports were so.",) if reports.layout == "counts" else ()
    )
    return UnaryReports(names, ones, int(counts.sum()), bits, counts, notes, (reports.category_name,))
