"""The profile of a histogram: its distinct values and how many categories have each.

By permutation symmetry (Theorem 5) and monotonicity (Theorem 6) two categories with the same count get
the same estimate, under every estimator here and under IBU from the uniform start. So everything after
the profile costs O(distinct values): about 40 of them at k = 1,423,000 and N = 1,664,500.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array

Rows = NDArray[Any]

# A row of at least this many categories is reduced to its distinct values; shorter rows of a batch are
# sorted together instead, which is quicker than one Python call per row.
_LONG_ROW = 2048
# Counts below this, or twice k, are tallied in a table; columns that reach higher are levels of their own.
_TABLE = 1024


@dataclass(frozen=True, eq=False)
class Profile:
    """Distinct values in decreasing order with their multiplicities; (rows, levels) each. Running sums are
    computed once.

    Values may repeat, and a level may have multiplicity 0, so that rows of a batch can be worked on together: no
    estimator minds, for at such a level its affine piece takes the value that it would have there.

    >>> levels = profile(np.array([[5, 2, 2, 0]]), size=None)
    >>> levels.values.tolist(), levels.multiplicities.tolist()
    ([[5.0, 2.0, 0.0]], [[1.0, 2.0, 1.0]])
    """

    values: Array
    multiplicities: Array

    @cached_property
    def sizes(self) -> Array:
        """Number of categories at or above each level."""
        sizes: Array = np.cumsum(self.multiplicities, axis=-1)
        return sizes

    @cached_property
    def excess(self) -> Array:
        """(rows, levels) sum of c - v over the categories with a count c of at least the level's value v.
        This is S - m v, with m the number of these categories and S their total; computed as a sum of
        non-negative terms, hence without cancellation, and exactly for integer counts."""
        steps = self.sizes[:, :-1] * -np.diff(self.values, axis=-1)
        return np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=-1)], axis=-1)

    @cached_property
    def totals(self) -> Array:
        """(rows,) total of each histogram."""
        totals: Array = self.excess[:, -1] + self.sizes[:, -1] * self.values[:, -1]
        return totals

    def merged(self) -> Profile:
        """The profile with equal values of a row merged."""
        level = np.zeros(self.values.shape, dtype=np.intp)
        np.cumsum(self.values[:, 1:] != self.values[:, :-1], axis=-1, out=level[:, 1:])
        shape = (len(level), int(level.max(initial=0)) + 1)
        values = np.repeat(self.values[:, -1:], shape[1], axis=-1)
        np.put_along_axis(values, level, self.values, axis=-1)
        place = level + shape[1] * np.arange(len(level))[:, None]
        sizes = np.bincount(place.ravel(), weights=self.multiplicities.ravel(), minlength=shape[0] * shape[1])
        return Profile(values, sizes.reshape(shape).astype(np.float64))

    def level_of(self, rows: Rows) -> NDArray[np.intp]:
        """(rows, k) index of the level of each category. ``rows`` must be those of the profile, and equal
        values merged."""
        size = table_size(rows)
        levels = np.empty(rows.shape, dtype=np.intp)
        for level, row, all_values, sizes in zip(levels, rows, self.values, self.multiplicities, strict=True):
            values = all_values[sizes > 0]
            if size is None:
                level[:] = values.size - 1 - np.searchsorted(values[::-1], row)
            else:
                table = np.zeros(size, dtype=np.intp)
                table[values.astype(np.intp)] = np.arange(values.size)
                level[:] = table[row]
        return levels


def as_rows(histogram: NDArray[Any]) -> Rows:
    """The histogram as (rows, k); float rows whose largest entry is below 1/2 or very large are rescaled by an exact
    power of two, which changes no estimate: no total is below 1/2."""
    rows = histogram.reshape(-1, histogram.shape[-1])
    if rows.dtype.kind == "f" and rows.size:
        largest = rows.max(axis=-1, keepdims=True)
        if largest.min() < 0.5 or largest.max() > 1e100:
            rows = np.ldexp(rows, -np.frexp(largest)[1])
    return rows


def profile(rows: Rows, size: int | None) -> Profile:
    """Profile of every row of a validated (rows, k) array, whose `table_size` is ``size``. Rows with fewer levels than
    others are padded with their smallest value at multiplicity 0."""
    if len(rows) != 1 and rows.shape[-1] < _LONG_ROW:
        values = np.sort(rows, axis=-1)[:, ::-1].astype(np.float64)
        return Profile(values, np.ones_like(values))
    levels = [_distinct(row, size) for row in rows]
    width = max((len(values) for values, _ in levels), default=1)
    shape = (len(rows), width)
    values, multiplicities = np.zeros(shape), np.zeros(shape)
    for i, (row_values, row_multiplicities) in enumerate(levels):
        values[i] = row_values[0]
        values[i, : len(row_values)] = row_values[::-1]
        multiplicities[i, : len(row_values)] = row_multiplicities[::-1]
    return Profile(values, multiplicities)


def shared_profile(rows: NDArray[np.int64]) -> Profile:
    """Profile of every row of (rows, k) counts, quicker than `profile` for many rows of much the same counts.

    The rows share their levels: a level that a row does not have stands there with multiplicity 0.

    >>> levels = shared_profile(np.array([[3, 3, 0], [2, 2, 2]]))
    >>> levels.values.tolist()
    [[3.0, 2.0, 0.0], [3.0, 2.0, 0.0]]
    >>> levels.multiplicities.tolist()
    [[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]
    """
    k = rows.shape[-1]
    high = rows.max(axis=0) >= max(_TABLE, 2 * k)
    if not high.any():
        return Profile(*_tallied(rows))
    values: Array = rows[:, high].astype(np.float64)
    multiplicities = np.ones_like(values)
    if not high.all():
        low_values, low_multiplicities = _tallied(rows[:, ~high])
        values = np.concatenate([values, low_values], axis=-1)
        multiplicities = np.concatenate([multiplicities, low_multiplicities], axis=-1)
    order = np.argsort(-values, axis=-1)
    return Profile(
        np.take_along_axis(values, order, axis=-1), np.take_along_axis(multiplicities, order, axis=-1)
    )


def table_size(rows: Rows) -> int | None:
    """Length of a table indexed by count, when the rows are integers small enough for one; else None.

    >>> table_size(np.array([[5, 0, 2]])), table_size(np.array([[0.5, 0.5]]))
    (6, None)
    """
    if rows.dtype.kind not in "iu" or not rows.size:
        return None
    largest = int(rows.max())
    return largest + 1 if largest <= 4 * rows.shape[-1] + 4096 else None


def _distinct(row: Rows, size: int | None) -> tuple[Array, Array]:
    """Distinct values of one row, increasing, and their multiplicities."""
    if size is not None:
        occurrences = np.bincount(row.astype(np.intp, copy=False))
        values = np.flatnonzero(occurrences)
        return values.astype(np.float64), occurrences[values].astype(np.float64)
    values, multiplicities = np.unique(row, return_counts=True)
    return values.astype(np.float64), multiplicities.astype(np.float64)


def _tallied(rows: NDArray[np.int64]) -> tuple[Array, Array]:
    """(rows, levels) each: the values that occur in any row, decreasing, and how often in this one."""
    least = int(rows.min())
    width = int(rows.max()) - least + 1
    start: NDArray[np.int64] = np.arange(len(rows), dtype=np.int64)[:, None] * width - least
    tally = np.bincount((rows + start).ravel(), minlength=len(rows) * width).reshape(len(rows), width)
    present = np.flatnonzero(tally.any(axis=0))[::-1]
    values = np.broadcast_to((present + least).astype(np.float64), (len(rows), present.size))
    return values, tally[:, present].astype(np.float64)
