"""Collected reports: the check of the counts, and their distinct values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import table_size

Counts = sampling.Counts


def checked_counts(counts: ArrayLike, mechanism: RandomizedResponse) -> Counts:
    """One (k,) histogram of at least one report, or ValueError naming ``counts``."""
    array = sampling.whole_counts("counts", counts, mechanism.k)
    if array.ndim != 1:
        raise ValueError(f"counts must have shape (k,), got {array.shape}")
    if not array.any():
        raise ValueError("counts must have a total >= 1, got all zeros")
    return array


def checked_level(level: float) -> float:
    """``level`` as a float between 0 and 1, or ValueError."""
    number = _validate.real("level", level, "a number between 0 and 1")
    if not 0 < number < 1:
        raise ValueError(f"level must be a number between 0 and 1, got {level!r}")
    return number


@dataclass(frozen=True, eq=False)
class DistinctCounts:
    """The distinct counts of one histogram: what depends on the count alone is computed once for each of them.

    Attributes:
        values: (m,) distinct counts, increasing.
        multiplicities: (m,) number of categories with each of them.
        index: (k,) position in ``values`` of the count of each category.
    """

    values: Array
    multiplicities: NDArray[np.int64]
    index: NDArray[np.intp]

    @classmethod
    def of(cls, counts: Counts) -> DistinctCounts:
        """O(k) where the counts are small enough for a table, else a sort."""
        if table_size(counts[None]) is None:
            values, index, multiplicities = np.unique(counts, return_inverse=True, return_counts=True)
            return cls(values.astype(np.float64), multiplicities, index)
        occurrences = np.bincount(counts)
        values = np.flatnonzero(occurrences)
        place = np.zeros(occurrences.size, dtype=np.intp)
        place[values] = np.arange(values.size)
        return cls(values.astype(np.float64), occurrences[values], place[counts])
