"""The levels IBU runs on: sets of categories that it cannot tell apart, having the same count and start.

From the uniform start a level is a distinct count. Thousands of iterations follow, so that even short rows
are worth reducing: a histogram of 500 categories and 10,000 users has about 50 levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.optimality import frequencies
from rr_core.profile import Profile, Rows, as_rows, profile, table_size

# How far from one the sum of a start may be.
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class BatchLevels:
    """Levels of each row of a batch, counts in decreasing order; rows are padded with copies of their last
    level at multiplicity 0, which follow that level through every iteration and weigh nothing.

    Attributes:
        counts, multiplicities, start: (rows, levels) reports of one category, how many categories, and
            the probability that one of them starts with.
        keys: (rows, k) what tells the levels apart: the counts, or numbers of (count, start) pairs.
        ordered_keys: (rows, levels) the key of each level, in decreasing order.
    """

    counts: Array
    multiplicities: Array
    start: Array
    keys: Rows
    ordered_keys: Array

    @property
    def phi(self) -> Array:
        """(rows, levels) share of the reports that one category of each level received."""
        return frequencies(Profile(self.counts, self.multiplicities))

    @cached_property
    def level_of(self) -> NDArray[np.intp]:
        """(rows, k) the level of each category."""
        size = table_size(self.keys)
        level = np.empty(self.keys.shape, dtype=np.intp)
        for row, (keys, ordered, sizes) in enumerate(
            zip(self.keys, self.ordered_keys, self.multiplicities, strict=True)
        ):
            real = ordered[sizes > 0]
            if size is None:
                level[row] = real.size - 1 - np.searchsorted(real[::-1], keys)
            else:
                table = np.zeros(size, dtype=np.intp)
                table[real.astype(np.intp)] = np.arange(real.size)
                level[row] = table[keys]
        return level

    def row(self, index: int) -> BatchLevels:
        """The levels of one row, without padding."""
        real = self.multiplicities[index] > 0
        return BatchLevels(
            self.counts[index, real][None],
            self.multiplicities[index, real][None],
            self.start[index, real][None],
            self.keys[index][None],
            self.ordered_keys[index, real][None],
        )


def batch_levels(histogram: NDArray[Any], start: ArrayLike | None) -> BatchLevels:
    """Levels of a validated histogram (..., k) from a start (k,) or (..., k), uniform when None.

    Raises:
        ValueError: naming ``start``.
    """
    rows, k = as_rows(histogram), histogram.shape[-1]
    if start is None:
        merged = _merged_profile(rows)
        return BatchLevels(
            merged.values, merged.multiplicities, np.full(merged.values.shape, 1 / k), rows, merged.values
        )
    given = checked_distribution("start", start, k)
    if given.shape not in (histogram.shape, (k,)):
        raise ValueError(
            f"start must have shape (k,) or that of the histogram, {histogram.shape}, got {given.shape}"
        )
    counts, count_of = np.unique(rows, return_inverse=True)
    starts, start_of = np.unique(given.reshape(-1, k), return_inverse=True)
    pairs = count_of.reshape(rows.shape) * starts.size + start_of.reshape(-1, k)
    merged = _merged_profile(pairs)
    count_at, start_at = np.divmod(merged.values.astype(np.intp), starts.size)
    return BatchLevels(
        counts[count_at].astype(np.float64), merged.multiplicities, starts[start_at], pairs, merged.values
    )


def checked_distribution(name: str, values: ArrayLike, k: int) -> Array:
    """``values`` (..., k) as distributions over ``k`` categories, or ValueError naming ``name``."""
    array = _validate.vector(name, values, k).astype(np.float64)
    sums = array.sum(axis=-1)
    if (array < 0).any() or (np.abs(sums - 1) > _SUM_TOLERANCE).any():
        raise ValueError(
            f"{name} must be a distribution (entries >= 0 with sum 1), got entries from {array.min():.6g} "
            f"with sum {np.ravel(sums)[np.argmax(np.abs(sums - 1))]:.12g}"
        )
    return array


def _merged_profile(rows: Rows) -> Profile:
    """The profile of each row with equal values merged, which `profile` leaves apart in short rows."""
    unmerged = profile(rows, table_size(rows))
    values, multiplicities = unmerged.values, unmerged.multiplicities
    level = np.zeros(values.shape, dtype=np.intp)
    np.cumsum(values[:, 1:] != values[:, :-1], axis=-1, out=level[:, 1:])
    shape = (len(rows), int(level.max(initial=0)) + 1)
    merged = np.repeat(values[:, -1:], shape[1], axis=-1)
    np.put_along_axis(merged, level, values, axis=-1)
    place = level + shape[1] * np.arange(len(rows))[:, None]
    sizes = np.bincount(place.ravel(), weights=multiplicities.ravel(), minlength=shape[0] * shape[1])
    return Profile(merged, sizes.reshape(shape).astype(np.float64))
