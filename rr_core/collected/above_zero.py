"""Which categories somebody surely has: exact tests of a share of zero, corrected for their number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core._validate import Array
from rr_core.collected.reports import Levels, collected, level_between
from rr_core.mechanism import RandomizedResponse


@dataclass(frozen=True, eq=False)
class AboveZero:
    """The test of each category against a share of zero.

    Attributes:
        p_values: (k,) chance of at least as many reports if nobody had the category.
        adjusted: (k,) Holm-adjusted p-values, at most 1.
        above: (k,) whether the adjusted p-value is at most ``level``.
        level: the chance, at most, that any category that nobody has is called above zero.
    """

    p_values: Array
    adjusted: Array
    above: NDArray[np.bool_]
    level: float


def above_zero(counts: ArrayLike, mechanism: RandomizedResponse, level: float = 0.05) -> AboveZero:
    """Test every category against a share of zero, with familywise error at most ``level``.

    A category that nobody has gets Binomial(N, q) reports, whatever the others do: the p-value is its exact
    upper tail, one for each distinct count. Holm's step-down over all k categories needs nothing about how
    the counts depend on each other.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response that produced them.
        level: familywise error, between 0 and 1.

    Raises:
        ValueError: naming the argument.
    """
    checked = collected(counts, mechanism)
    level = level_between(level)
    levels = Levels.of(checked)
    p_values = upper_tail(levels.values, int(checked.sum()), mechanism.q)
    adjusted = _holm(p_values, levels.multiplicities, mechanism.k)
    where = levels.where
    return AboveZero(p_values[where], adjusted[where], (adjusted <= level)[where], level)


def upper_tail(counts: Array, n: int, chance: float) -> Array:
    """Pr(Binomial(n, chance) >= count), as an incomplete beta function."""
    tail = special.betainc(np.maximum(counts, 1.0), n - counts + 1.0, chance)
    return np.where(counts == 0, 1.0, tail)


def lower_tail(count: int, n: int, chance: float) -> float:
    """Pr(Binomial(n, chance) <= count), as an incomplete beta function."""
    return float(special.betaincc(count + 1.0, n - count, chance)) if count < n else 1.0


def _holm(p_values: Array, multiplicities: NDArray[np.int64], k: int) -> Array:
    """Holm's adjusted p-values per level, from levels in order of decreasing p-value.

    Of the categories that share a level the first has the largest factor, which the others inherit.
    """
    below = multiplicities[::-1].cumsum() - multiplicities[::-1]
    stepped = np.minimum(p_values[::-1] * (k - below), 1.0)
    adjusted: Array = np.maximum.accumulate(stepped)[::-1]
    return adjusted
