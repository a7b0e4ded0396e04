"""Collected reports: the check of the counts, and their levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, profile, table_size

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


def counts_profile(counts: Counts) -> tuple[Profile, NDArray[np.intp]]:
    """The profile of one (k,) histogram, and the (k,) level of each category: what depends on the count alone is computed
    once for each level."""
    rows = counts[None]
    levels = profile(rows, table_size(rows))
    return levels, levels.level_of(rows)[0]
