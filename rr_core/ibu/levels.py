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
        counts, start: (rows, levels) reports of one category, and the probability that it starts with.
        rows: (rows, k) what tells the levels apart: the counts, or numbers of (count, start) pairs.
        profile: of these rows, with equal values merged.
    """

    counts: Array
    start: Array
    rows: Rows
    profile: Profile

    @property
    def multiplicities(self) -> Array:
        """(rows, levels) number of categories of each level."""
        return self.profile.multiplicities

    @property
    def phi(self) -> Array:
        """(rows, levels) share of the reports that one category of each level received."""
        return frequencies(Profile(self.counts, self.multiplicities))

    @cached_property
    def level_of(self) -> NDArray[np.intp]:
        """(rows, k) the level of each category."""
        return self.profile.level_of(self.rows)

    def row(self, index: int) -> BatchLevels:
        """The levels of one row, without padding."""
        real = self.multiplicities[index] > 0
        return BatchLevels(
            self.counts[index, real][None],
            self.start[index, real][None],
            self.rows[index][None],
            Profile(self.profile.values[index, real][None], self.multiplicities[index, real][None]),
        )


def batch_levels(histogram: NDArray[Any], start: ArrayLike | None) -> BatchLevels:
    """Levels of a validated histogram (..., k) from a start (k,) or (..., k), uniform when None.

    Raises:
        ValueError: naming ``start``.
    """
    rows, k = as_rows(histogram), histogram.shape[-1]
    if start is None:
        of_counts = profile(rows, table_size(rows)).merged()
        return BatchLevels(of_counts.values, np.full(of_counts.values.shape, 1 / k), rows, of_counts)
    given = checked_distribution("start", start, k)
    if given.shape not in (histogram.shape, (k,)):
        raise ValueError(
            f"start must have shape (k,) or that of the histogram, {histogram.shape}, got {given.shape}"
        )
    counts, count_of = np.unique(rows, return_inverse=True)
    starts, start_of = np.unique(given.reshape(-1, k), return_inverse=True)
    pairs = count_of.reshape(rows.shape) * starts.size + start_of.reshape(-1, k)
    of_pairs = profile(pairs, table_size(pairs)).merged()
    count_at, start_at = np.divmod(of_pairs.values.astype(np.intp), starts.size)
    return BatchLevels(counts[count_at].astype(np.float64), starts[start_at], pairs, of_pairs)


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
