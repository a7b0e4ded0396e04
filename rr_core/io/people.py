"""Reports person by person, with the group and the weight of each, from a table of one row for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io import numbers
from rr_core.io.columns import find
from rr_core.io.decoding import UnreadableFile, quote
from rr_core.io.domain import Names
from rr_core.io.labels import as_objects, clean
from rr_core.io.parquet import is_number
from rr_core.io.reports import Reports, Source
from rr_core.io.tables import AnyTable, Numbered, open_table
from rr_core.reports.survey import Tallies

MOST_ROWS = 20_000_000


@dataclass(frozen=True, eq=False)
class People:
    """Who reported what, summed up by group.

    Attributes:
        groups: g names, in order of first appearance; ("",) where no column was asked for.
        tallies: people, and sums of their weights, by group and report, in the order that was asked for.
        notes: a sentence for each thing that was left out.
    """

    groups: tuple[str, ...]
    tallies: Tallies
    notes: tuple[str, ...]


def read_people(
    source: Source,
    read: Reports,
    labels: Sequence[str],
    names: Names,
    by: Sequence[str] = (),
    weights: str | None = None,
    *,
    inverse: bool = False,
) -> People:
    """Read the same reports again, row by row, with their groups and weights.

    Args:
        source: the file.
        read: what was read of it, which says in which columns.
        labels: m names of the reports that are counted, in the order wanted; others are left out.
        names: which names are counted as others.
        by: columns of groups; several are crossed.
        weights: column of weights.
        inverse: whether that column holds inclusion probabilities, whose inverses are the weights.

    Raises:
        UnreadableFile: one plain sentence.

    >>> from rr_core.io import read_reports
    >>> source = Source("a.csv", b"answer,town\\nyes,Oslo\\nno,Rome\\nyes,Rome\\n")
    >>> people = read_people(source, read_reports([source]), ["no", "yes"], Names(), ["town"])
    >>> people.groups, people.tallies.counts.tolist()
    (('Oslo', 'Rome'), [[0, 1], [1, 1]])
    """
    table = open_table(bytes(source.data), source.name, read.has_header).table
    columns = [read.category_name, *by, *([] if read.count_name is None else [read.count_name])]
    of_weights = [] if weights is None else [find(table, weights)]
    indices = [*(find(table, column) for column in columns), *of_weights]
    twice = next((index for index in indices if indices.count(index) > 1), None)
    if twice is not None:
        raise UnreadableFile(
            f"The column {quote(table.columns[twice])} cannot be two things: choose another one for groups or weights."
        )
    kept = [Numbered(table.columns[index]) for index in indices[: len(columns)]]
    weighed: list[npt.NDArray[np.float64]] = []
    rows = 0
    for piece in table.pieces(indices):
        if not piece.arrays:
            continue
        for one, array in zip(kept, piece.arrays, strict=False):
            one.add(array)
        if of_weights:
            weighed.append(_weights(piece.arrays[-1], table, of_weights[0], rows))
        rows += len(piece.arrays[0])
        if rows > MOST_ROWS:
            raise UnreadableFile(f"The file has more than {MOST_ROWS:,} rows: count its reports first.")
    distinct, codes = kept[0].result()
    own = clean(distinct, codes)
    places = _places(as_objects(own.names), labels, names)
    reports = np.where(own.codes >= 0, places[own.codes], -1)
    left, notes = reports >= 0, list[str]()
    groups, group_names = _groups(kept[1 : 1 + len(by)])
    if groups is not None:
        _note(notes, left & (groups < 0), f"no value in the column {quote(', '.join(by))}")
        left &= groups >= 0
    weight = np.concatenate(weighed) if of_weights else None
    if weight is not None:
        _note(
            notes, left & np.isnan(weight), f"no weight in the column {quote(table.columns[of_weights[0]])}"
        )
        left &= ~np.isnan(weight)
        _check(weight[left], table.columns[of_weights[0]], inverse)
    times = None
    if read.count_name is not None:  # numbers that were read before
        distinct, codes = kept[-1].result()
        times = np.nan_to_num(numbers.parse(distinct).values[codes]).astype(np.int64)
    kept_groups = np.zeros(int(left.sum()), dtype=np.int64)
    if groups is not None:
        kept_groups, group_names = _seen(groups[left], group_names)
    g, m = len(group_names), len(labels)
    cells = kept_groups * m + reports[left]

    def summed(of: npt.NDArray[Any] | None) -> npt.NDArray[np.float64]:
        return np.bincount(cells, of, g * m).reshape(g, m).astype(np.float64)

    counts = summed(None if times is None else times[left]).astype(np.int64)
    if weight is None:
        return People(group_names, Tallies(counts), tuple(notes))
    if times is not None:
        raise UnreadableFile("A table of counts has no weights: weights need one report per row.")
    own_weight = 1 / weight[left] if inverse else weight[left]
    return People(group_names, Tallies(counts, summed(own_weight), summed(own_weight**2)), tuple(notes))


def _check(weights: npt.NDArray[np.float64], column: str, inverse: bool) -> None:
    if weights.size and weights.min() < 0:
        raise UnreadableFile(f"The column {quote(column)} has weights below zero: choose another column.")
    if inverse and not ((weights > 0) & (weights <= 1)).all():
        raise UnreadableFile(
            f"The column {quote(column)} has no inclusion probabilities, which lie above 0, up to 1: choose another one."
        )


def _note(notes: list[str], left_out: npt.NDArray[np.bool_], why: str) -> None:
    rows = int(left_out.sum())
    if rows:
        notes.append(f"{rows:,} {'row' if rows == 1 else 'rows'} left out: {why}.")


def _places(written: npt.NDArray[np.object_], labels: Sequence[str], names: Names) -> npt.NDArray[np.int64]:
    """The position of each name that is written among those that are counted; -1 where it is none of them."""
    others, place = dict(names.counted_as), {str(name): i for i, name in enumerate(labels)}
    places = np.full(len(written), -1, dtype=np.int64)
    for i, label in enumerate(written.tolist()):
        passed = {label}
        while (other := others.get(label)) is not None and other not in passed:
            label = other
            passed.add(other)
        places[i] = place.get(label, -1)
    return places


def _groups(
    columns: Sequence[Numbered],
) -> tuple[npt.NDArray[np.int64] | None, tuple[str, ...]]:
    """Of each row the group, -1 where a column has no value, and their names: those of crossed columns joined."""
    groups: npt.NDArray[np.int64] | None = None
    names: tuple[str, ...] = ("",)
    for column in columns:
        labels = clean(*column.result())
        own = labels.codes.astype(np.int64)
        mine = tuple(map(str, as_objects(labels.names).tolist()))
        if groups is None:
            groups, names = own, mine
            continue
        crossed = np.where((groups >= 0) & (own >= 0), groups * len(mine) + own, -1)
        groups, names = _seen(crossed, tuple(f"{one}, {other}" for one in names for other in mine))
    return groups, names


def _seen(
    groups: npt.NDArray[np.int64], names: tuple[str, ...]
) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """The same without groups that nobody is in."""
    found = np.bincount(groups[groups >= 0], minlength=len(names)) > 0
    place = np.append(np.cumsum(found) - 1, -1)
    return place[groups], tuple(name for name, is_there in zip(names, found, strict=True) if is_there)


def _weights(array: Any, table: AnyTable, index: int, before: int) -> npt.NDArray[np.float64]:
    """The numbers of a piece of the column of weights, nan where there is none; ``before`` rows came before it."""
    combined = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if isinstance(combined, pa.ChunkedArray):
        combined = pa.concat_arrays(combined.chunks)
    try:
        if not is_number(combined.type):
            text = pc.utf8_trim_whitespace(pc.cast(combined, pa.large_string()))
            combined = pc.cast(pc.if_else(pc.equal(text, ""), None, text), pa.float64())
        values = np.asarray(pc.cast(combined, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:
        distinct, codes = (
            pc.unique(combined),
            pc.index_in(combined, pc.unique(combined)).to_numpy(zero_copy_only=False),
        )
        values = numbers.parse(distinct).values.astype(np.float64)[codes]
        wrong = np.isnan(values) & ~np.asarray(pc.is_null(combined).to_numpy(zero_copy_only=False))
        text = pc.cast(combined, pa.large_string())
        for row in np.flatnonzero(wrong)[:1].tolist():
            raise UnreadableFile(
                f"{table.unit.capitalize()} {table.place(before + row):,} has {quote(text[row].as_py())} in the column "
                f"{quote(table.columns[index])}, where the others have weights: mend it, or leave it empty."
            ) from None
    return np.where(np.isinf(values), np.nan, values)
