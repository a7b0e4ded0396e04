"""Exact binomial tests of the counts, which need no simulation.

Each of N reports names a given category with probability p if that is its user's, else q. So whatever the population,
and for fixed users as for sampled ones, the count of a category is stochastically at most Binomial(N, p) and at least
Binomial(N, q); of a category that nobody has it is Binomial(N, q). `above_zero` tests every category against a share of
zero; `extremes` bounds the chance of the largest and of the smallest count under a stated epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.counts import checked_counts, checked_level, counts_profile

# Chance, at most, that a right epsilon is called wrong because of its largest or smallest count.
EXTREME_CHANCE = 0.001


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
    checked = checked_counts(counts, mechanism)
    level = checked_level(level)
    levels, level_of = counts_profile(checked)
    p_values = upper_tail(levels.values[0], int(checked.sum()), mechanism.q)
    adjusted = _holm(p_values, levels.multiplicities[0], mechanism.k)
    return AboveZero(p_values[level_of], adjusted[level_of], (adjusted <= level)[level_of], level)


def upper_tail(counts: Array, n: int, chance: float) -> Array:
    """Pr(Binomial(n, chance) >= count), as an incomplete beta function."""
    tail = special.betainc(np.maximum(counts, 1.0), n - counts + 1.0, chance)
    return np.where(counts == 0, 1.0, tail)


def lower_tail(count: int, n: int, chance: float) -> float:
    """Pr(Binomial(n, chance) <= count), as an incomplete beta function."""
    return float(special.betaincc(count + 1.0, n - count, chance)) if count < n else 1.0


@dataclass(frozen=True)
class Extremes:
    """Bounds, at most 1, on the chance of the largest and of the smallest count.

    Attributes:
        most: at most so likely does any category get as many reports as the most reported one.
        fewest: at most so likely does any category get as few as the least reported one.
    """

    most: float
    fewest: float

    @property
    def too_many(self) -> bool:
        """Whether ``most`` is at most half of EXTREME_CHANCE."""
        return self.most <= EXTREME_CHANCE / 2

    @property
    def too_few(self) -> bool:
        """Whether ``fewest`` is at most half of EXTREME_CHANCE; so a right epsilon fails here or in `too_many` with
        probability EXTREME_CHANCE at most."""
        return self.fewest <= EXTREME_CHANCE / 2


def extremes(counts: ArrayLike, mechanism: RandomizedResponse) -> Extremes:
    """Bound the chances by Bonferroni over all k categories.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response to be tested.

    Raises:
        ValueError: naming the argument.

    >>> extremes([9, 0, 1], RandomizedResponse(3, 0.5)).too_many
    False
    """
    checked = checked_counts(counts, mechanism)
    n = int(checked.sum())
    many = float(upper_tail(checked.max(), n, mechanism.p))
    few = lower_tail(int(checked.min()), n, mechanism.q)
    return Extremes(min(1.0, mechanism.k * many), min(1.0, mechanism.k * few))


def _holm(p_values: Array, multiplicities: Array, k: int) -> Array:
    """(m,) Holm's adjusted p-values of m distinct p-values in increasing order, each shared by so many of k categories.

    Of categories with one p-value the first has the largest factor, and the others get the same.
    """
    below = multiplicities.cumsum() - multiplicities
    stepped = np.minimum(p_values * (k - below), 1.0)
    adjusted: Array = np.maximum.accumulate(stepped)
    return adjusted
