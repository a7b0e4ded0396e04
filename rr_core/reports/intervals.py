"""Intervals for Inv and exact tests of the counts, from the law of one category's reports; nothing is simulated.

Each of N reports names a given category with probability p if that is its user's, else q. So whatever the population,
and for fixed users as for sampled ones, the count of a category is stochastically at most Binomial(N, p) and at least
Binomial(N, q); of a category that nobody has it is Binomial(N, q). `above_zero` tests every category against a share of
zero; `extremes` bounds the chance of the largest and of the smallest count under a stated epsilon. Where there are two
reports, `interval_of_two` and `fit_of_two` are exact for any way of asking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, check_users
from rr_core.profile import Profile, profile, table_size

Counts = sampling.Counts
Test = Literal["exact", "binomial", "saddlepoint"]

MOST_REPORTS = 2**53  # from there on a double does not tell two numbers of reports apart
# SciPy 1.17's inverse of the incomplete beta function fails at a = 1000 from 10^8 reports on, and for more than 10^11 its
# limits are off by more than a thousandth of the interval (at 10^15 by a third), or nan.
_MANY, _MOST_INVERTED = 1e8, 1e11
_FEW, _RARE = 1e7, 1e-4  # numbers and shares up to which reports are Poisson, to a thousandth of the interval


def checked_counts(counts: ArrayLike, kinds: int) -> Counts:
    """One histogram of so many kinds of reports, of one at least, or ValueError naming ``counts``."""
    reports = sampling.one_collection("counts", counts, kinds)
    if (total := int(reports.sum())) > MOST_REPORTS:
        raise ValueError(f"counts must add up to at most 2^53 = {MOST_REPORTS} reports, got {total}")
    return reports


def counts_profile(counts: Counts) -> tuple[Profile, NDArray[np.intp]]:
    """The profile of one (k,) histogram, and the (k,) level of each category."""
    rows = counts[None]
    levels = profile(rows, table_size(rows))
    return levels, levels.level_of(rows)[0]


# Fewest expected reports of a category that nobody has, N q, from which the intervals keep their level: from a level
# of 95% on, and below.
LEAST_NOISE, LEAST_NOISE_BELOW_95 = 10.0, 20.0


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval for the share of each category.

    Attributes:
        low, high: (k,) its ends.
        level: nominal probability.
        simultaneous: whether ``level`` is that of all categories at once, rather than of each.
    """

    low: Array
    high: Array
    level: float
    simultaneous: bool

    def wholly(self, category: int) -> str:
        """On which side of [0, 1] the interval of a category, 0..k-1, lies, in words; "" where it holds a share."""
        category = _validate.integer("category", category, 0, self.low.size - 1)
        low, high = float(self.low[category]), float(self.high[category])
        return ", wholly above 100%" if low > 1 else ", wholly below 0%" if high < 0 else ""

    def is_cut(self, category: int) -> bool:
        """Whether `cut_unless_outside` changes the interval of a category, 0..k-1."""
        category = _validate.integer("category", category, 0, self.low.size - 1)
        low, high = float(self.low[category]), float(self.high[category])
        return low < 1 and high > 0 and (low < 0 or high > 1)

    def cut(self) -> Interval:
        """The interval cut to [0, 1], where all shares lie. One wholly outside becomes a point."""
        low, high = (np.clip(end, 0.0, 1.0) for end in (self.low, self.high))
        return Interval(low, high, self.level, self.simultaneous)

    def cut_unless_outside(self) -> Interval:
        """The interval cut to [0, 1], but where that would leave a point: there it stays as it is."""
        cut, inside = self.cut(), (self.low < 1) & (self.high > 0)
        low, high = np.where(inside, cut.low, self.low), np.where(inside, cut.high, self.high)
        return Interval(low, high, self.level, self.simultaneous)


def too_few_reports(n: int, mechanism: RandomizedResponse, level: float = 0.95) -> bool:
    """Whether N q, the expected reports of a category that nobody has, is so small that whole numbers of reports
    can keep the intervals more than 2 points away from their level: below 10, or below 20 for levels under 95%.

    Exact coverage of 95% over 6,600 settings (k from 2 to 1,000, N from 10 to 10,000, both kinds of users): from
    N q = 10 on between 93.4% and 96.7%; from 5 to 10 between 92.5% and 97.3%; below 5 down to 88%, and down
    to 80% below N q = 0.2. Of 90% between N q = 10 and 20: 87.1% to 92.9%.

    Args:
        n: number of reports.
        mechanism: the randomized response.
        level: of the intervals, between 0 and 1.

    Raises:
        ValueError: naming the argument.

    >>> too_few_reports(30, RandomizedResponse(3, 1.0)), too_few_reports(3000, RandomizedResponse(3, 1.0))
    (True, False)
    """
    n, level = _validate.integer("n", n, 0), _validate.fraction("level", level)
    return n * mechanism.q < (LEAST_NOISE if level >= 0.95 else LEAST_NOISE_BELOW_95)


def inv_interval(
    counts: ArrayLike,
    mechanism: RandomizedResponse,
    level: float = 0.95,
    *,
    users: Users = "fixed",
    simultaneous: bool = False,
) -> Interval:
    """Interval for the share of each category, or for all of them at once, around Inv.

    Of each: all shares theta with |Inv - theta| <= z sd(theta), by the corrected variance at theta itself (the
    score interval; Wilson's when users are sampled). A Wald interval, with the variance at the estimate, has
    no width where no reports came in. Of all: with level 1 - (1 - level)/k for each (Bonferroni), so far out
    that the normal law fails (at k = 1,000 and N q = 10 the chance of an error came out as 29%, not 5%);
    there it is the exact binomial limits of Clopper and Pearson, which fixed users, who vary less, take
    narrower in proportion to their standard deviation, but never within the interval of each.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response that produced them.
        level: probability, between 0 and 1.
        users: "fixed" when the truth is the shares of these users, "sampled" when it is those of the
            population they were drawn from.
        simultaneous: whether ``level`` is for all categories at once.

    Returns:
        (k,) ends; not cut to [0, 1], like Inv. `too_few_reports` says when they cannot keep their level.

    Raises:
        ValueError: naming the argument.

    >>> interval = inv_interval([520, 310, 170], RandomizedResponse(3, 1.0))
    >>> interval.low.round(3).tolist(), interval.high.round(3).tolist()
    ([0.765, 0.197, -0.182], [0.929, 0.344, -0.046])
    """
    checked = checked_counts(counts, mechanism.k)
    level = _validate.fraction("level", level)
    levels, level_of = counts_profile(checked)
    n = float(checked.sum())
    low, high = _score(levels.values[0], n, 1 - level, mechanism, users)
    if simultaneous:
        of_all = _exact(levels.values[0], n, (1 - level) / mechanism.k, mechanism, users)
        low, high = np.minimum(low, of_all[0]), np.maximum(high, of_all[1])
    low, high = ((end - mechanism.q) / mechanism.keep for end in (low, high))
    return Interval(low[level_of], high[level_of], level, simultaneous)


def _variance(mechanism: RandomizedResponse, users: Users) -> tuple[float, float, float]:
    """N times the variance of a report frequency with mean m, as coefficients of 1, m and m^2."""
    check_users(users)
    if users == "fixed":
        return mechanism.q * mechanism.p, mechanism.q * (mechanism.k - 2), 0.0
    return 0.0, 1.0, -1.0


def _score(
    counts: Array, n: float, alpha: float, mechanism: RandomizedResponse, users: Users
) -> tuple[Array, Array]:
    """The means m with (frequency - m)^2 <= z^2 Var(m): a quadratic in m."""
    constant, linear, square = _variance(mechanism, users)
    seen, weight = counts / n, float(special.ndtri(alpha / 2)) ** 2 / n
    spread = constant + linear * seen + square * seen**2 + weight * (linear**2 / 4 - constant * square)
    half = np.sqrt(weight * np.maximum(spread, 0.0))
    scale, centre = 1 - weight * square, seen + weight * linear / 2
    return (centre - half) / scale, (centre + half) / scale


def _exact(
    counts: Array, n: float, alpha: float, mechanism: RandomizedResponse, users: Users
) -> tuple[Array, Array]:
    """Clopper and Pearson's means; for fixed users nearer to the frequency."""
    seen, (low, high) = counts / n, clopper_pearson(counts, n, alpha)
    return (
        seen - _narrower(low, mechanism, users) * (seen - low),
        seen + _narrower(high, mechanism, users) * (high - seen),
    )


def wilson(shares: Array, n: Array | float, quantile: float) -> tuple[Array, Array]:
    """Ends of Wilson's intervals for shares of so many reports each."""
    weight = quantile**2 / n
    centre = (shares + weight / 2) / (1 + weight)
    half = np.sqrt(weight * (shares * (1 - shares) + weight / 4)) / (1 + weight)
    return centre - half, centre + half


def clopper_pearson(counts: Array, n: Array | float, alpha: float) -> tuple[Array, Array]:
    """The means m with neither binomial tail below alpha/2. Of `_MANY` reports those of the Poisson law where few are of
    one kind; of more than `_MOST_INVERTED` otherwise Wilson's, which are then the same."""
    others, some = n - counts, np.where(counts > 0, counts, 1.0)
    low = special.betaincinv(some, others + 1, alpha / 2)
    high = special.betainccinv(counts + 1, np.where(others > 0, others, 1.0), alpha / 2)
    if np.max(n) >= _MANY:
        ends = wilson(counts / n, n, float(special.ndtri(alpha / 2)))
        low, high = (
            np.where(np.less_equal(n, _MOST_INVERTED), one, other)
            for one, other in zip((low, high), ends, strict=True)
        )
        few = np.where(np.greater_equal(n, _MANY), np.minimum(_FEW, _RARE * np.asarray(n)), -1.0)
        (first, last), (rest_first, rest_last) = (_poisson(part, alpha, few) for part in (counts, others))
        low = np.where(counts <= few, first / n, np.where(others <= few, 1 - rest_last / n, low))
        high = np.where(counts <= few, last / n, np.where(others <= few, 1 - rest_first / n, high))
    return np.where(counts == 0, 0.0, low), np.where(counts == n, 1.0, high)


def _poisson(counts: Array, alpha: float, most: Array) -> tuple[Array, Array]:
    """The expected numbers with neither Poisson tail below alpha/2, of counts up to ``most``."""
    held = np.clip(counts, 0.0, np.maximum(most, 0.0))
    low = special.gammaincinv(np.where(held > 0, held, 1.0), alpha / 2)
    return np.where(held == 0, 0.0, low), special.gammainccinv(held + 1, alpha / 2)


def _narrower(mean: Array, mechanism: RandomizedResponse, users: Users) -> Array:
    """Standard deviation of a report frequency with this mean, as a share of that of the binomial."""
    inside = np.clip(mean, mechanism.q, mechanism.p)
    constant, linear, square = _variance(mechanism, users)
    binomial = inside * (1 - inside)
    # Both are zero where q underflows, or p is rounded to one.
    variance = np.maximum(constant + linear * inside + square * inside**2, 0.0)
    ratio: Array = np.sqrt(np.divide(variance, binomial, out=np.ones_like(inside), where=binomial > 0))
    return ratio


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
        test: what gives the p-values: the exact law of a count, a binomial law that bounds it, or an approximation.
    """

    p_values: Array
    adjusted: Array
    above: NDArray[np.bool_]
    level: float
    test: Test = "exact"

    @classmethod
    def of(cls, p_values: Array, test: Test = "exact", *, level: float) -> AboveZero:
        """The tests with these (k,) p-values and this familywise error."""
        adjusted = holm(p_values)
        return cls(p_values, adjusted, adjusted <= level, level, test)


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

    >>> above_zero([520, 310, 170], RandomizedResponse(3, 1.0)).above.tolist()
    [True, True, False]
    """
    checked = checked_counts(counts, mechanism.k)
    level = _validate.fraction("level", level)
    levels, level_of = counts_profile(checked)
    p_values = upper_tail(levels.values[0], int(checked.sum()), mechanism.q)
    adjusted = _holm(p_values, levels.multiplicities[0], mechanism.k)
    return AboveZero(p_values[level_of], adjusted[level_of], (adjusted <= level)[level_of], level)


def upper_tail(counts: Array, n: int, chance: float | Array) -> Array:
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
    checked = checked_counts(counts, mechanism.k)
    n = int(checked.sum())
    many = float(upper_tail(checked.max(), n, mechanism.p))
    few = lower_tail(int(checked.min()), n, mechanism.q)
    return Extremes(min(1.0, mechanism.k * many), min(1.0, mechanism.k * few))


def holm(p_values: Array) -> Array:
    """(k,) Holm's adjusted p-values, at most 1, of k p-values in any order; or (k, m), of each column.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order, adjusted = np.argsort(p_values, axis=0), np.empty_like(p_values)
    rising = np.take_along_axis(p_values, order, axis=0)
    np.put_along_axis(adjusted, order, _holm(rising.T, np.ones(len(rising)), len(rising)).T, axis=0)
    return adjusted


def _holm(p_values: Array, multiplicities: Array, k: int) -> Array:
    """(..., m) Holm's adjusted p-values of m that do not fall, each shared by so many of k categories."""
    below = multiplicities.cumsum() - multiplicities
    stepped = np.minimum(p_values * (k - below), 1.0)
    adjusted: Array = np.maximum.accumulate(stepped, axis=-1)
    return adjusted


# Reports of two kinds, for any way of asking (Warner's questions, a forced yes or no, k-RR with K = 2). A person reports
# "1" with probability c_0 or c_1, by the own truth. So whatever the truths, and whether users are given or drawn from a
# population, the ones are a sum of independent Bernoulli variables with chances between low = min c and high = max c,
# and stochastically between Binomial(N, low) and Binomial(N, high).

# Up to so many users the limits for given ones are found by bisection, beyond from those for sampled ones.
MOST_EXACT = 100_000
_WINDOW = 12  # standard deviations of a binomial, beyond which it has no chance that a double can add
_EQUAL_RATIO = 1e-12


def fit_of_two(ones: int, n: int, chances: tuple[float, float]) -> float:
    """The exact p-value of the likelihood-ratio test that reports come from this way of asking, whatever the truth.

    The ratio is 0 between N low and N high, and grows away from them. So "fits no better" means Y >= a or Y <= b, of
    which one is the number that was seen. Take one user from the lower chance to the higher: Pr(Y >= a) + Pr(Y <= b)
    changes by (high - low) [Pr(S = a - 1) - Pr(S = b)], where S are the ones of the others. S grows in likelihood ratio
    with each such step, so the bracket changes sign at most once, from below zero: the sum is largest where all users
    have the lower chance or all have the higher one.

    Args:
        ones: number of reports "1", from 0 to n.
        n: number of reports, at least 1.
        chances: Pr(report = 1 | truth) of both truths.

    Raises:
        ValueError: naming the argument.

    >>> round(fit_of_two(783, 1000, (0.25, 0.75)), 5)
    0.00811
    """
    ones, n, chances = _checked_ones(ones, n, chances)
    low, high = min(chances), max(chances)
    seen = _ratio(ones, n, low, high)
    if seen == 0:
        return 1.0
    enough = seen * (1 - _EQUAL_RATIO)
    below = -1 if low == 0 else _last(lambda y: _ratio(y, n, low, high) >= enough, int(n * low))
    # From n downwards to N high, so many have a ratio that is large enough.
    zeros = _last(lambda zeros: _ratio(n - zeros, n, low, high) >= enough, int(n * (1 - high)))
    above = n + 1 if high == 1 else n - zeros
    return min(1.0, max(_outside(below, above, n, chance) for chance in (low, high)))


def _checked_ones(ones: int, n: int, chances: tuple[float, float]) -> tuple[int, int, tuple[float, float]]:
    n = _validate.integer("n", n, 1)
    pair = _validate.vector("chances", chances, 2)
    if pair.ndim != 1 or ((pair < 0) | (pair > 1)).any():
        raise ValueError(f"chances must be two numbers from 0 to 1, got {_validate.short(chances)}")
    return _validate.integer("ones", ones, 0, n), n, (float(pair[0]), float(pair[1]))


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The largest number from 0 to ``most`` for which a condition holds that holds up to some number; -1 if none."""
    least, beyond = -1, most + 1
    while beyond - least > 1:
        middle = (least + beyond) // 2
        least, beyond = (middle, beyond) if holds(middle) else (least, middle)
    return least


def _ratio(ones: int, n: int, low: float, high: float) -> float:
    """Half the log-likelihood ratio of these reports against the best fit; infinite for impossible ones."""
    best = min(max(ones / n, low), high)
    if best == ones / n:
        return 0.0
    return float(special.rel_entr(ones, n * best) + special.rel_entr(n - ones, n * (1 - best)))


def _outside(below: int, above: int, n: int, chance: float) -> float:
    """Pr(Y <= below) + Pr(Y >= above) for Y ~ Binomial(n, chance)."""
    few = lower_tail(below, n, chance) if below >= 0 else 0.0
    many = float(upper_tail(np.array(float(above)), n, chance)) if above <= n else 0.0
    return few + many


def interval_of_two(
    ones: int, n: int, chances: tuple[float, float], alpha: float, users: Users
) -> tuple[float, float]:
    """Limits for the share of the truth that reports "1" with ``chances[1]``; they hold it with probability 1 - alpha or
    more, and are not cut to [0, 1].

    Sampled users: Clopper and Pearson's limits of the probability m of a "1", mapped by (m - c_0)/(c_1 - c_0). Given
    users: all numbers t of people for which neither tail of Binomial(N - t, c_0) + Binomial(t, c_1) beyond what was seen
    is below alpha/2 (both are monotone in t). Where all people are of one truth the two laws agree, and so do the
    limits beyond. Above `MOST_EXACT` users the first limits are narrowed in proportion to the standard deviation.

    Args:
        ones, n: as in `fit_of_two`.
        chances: of both truths; different.
        alpha: chance, at most, of not holding the share.
        users: "fixed" when the share is that of these users, "sampled" when it is that of their population.

    Raises:
        ValueError: naming the argument.

    >>> low, high = interval_of_two(783, 1000, (0.25, 0.75), 0.05, "sampled")
    >>> round(low, 3), round(high, 3)
    (1.012, 1.116)
    """
    check_users(users)
    ones, n, chances = _checked_ones(ones, n, chances)
    if chances[0] == chances[1]:
        raise ValueError(f"chances must be two different numbers, got {_validate.short(chances)}")
    alpha = _validate.fraction("alpha", alpha)
    if chances[1] < chances[0]:
        return interval_of_two(n - ones, n, (1 - chances[0], 1 - chances[1]), alpha, users)
    none, every = chances
    means = clopper_pearson(np.array([float(ones)]), float(n), alpha)
    limits = [(float(mean[0]) - none) / (every - none) for mean in means]
    if users == "fixed":
        inside = [0 < limit < 1 for limit in limits]
        if n > MOST_EXACT:
            limits = [_narrowed(limit, ones / n, chances) for limit in limits]
        else:
            # Too few people for so many ones, and, counted from the other end, too many for so few.
            if inside[0]:
                limits[0] = (1 + _last(lambda t: _tail(ones, n, t, chances) <= alpha / 2, n)) / n
            if inside[1]:
                swapped = 1 - every, 1 - none
                limits[1] = 1 - (1 + _last(lambda t: _tail(n - ones, n, t, swapped) <= alpha / 2, n)) / n
    return min(limits), max(limits)


def _narrowed(limit: float, seen: float, chances: tuple[float, float]) -> float:
    none, every = chances
    share = min(max(limit, 0.0), 1.0)
    mean = none + share * (every - none)
    given = share * every * (1 - every) + (1 - share) * none * (1 - none)
    ratio = (given / (mean * (1 - mean))) ** 0.5 if 0 < mean < 1 else 1.0
    inv = (seen - none) / (every - none)
    return inv + ratio * (limit - inv)


def _tail(ones: int, n: int, people: int, chances: tuple[float, float]) -> float:
    """Pr(at least so many ones), when so many people have the second truth."""
    centre, spread = people * chances[1], (people * chances[1] * (1 - chances[1])) ** 0.5
    first = max(int(centre - _WINDOW * spread) - _WINDOW, 0)
    last = min(int(centre + _WINDOW * spread) + _WINDOW, people)
    own: NDArray[np.int64] = np.arange(first, last + 1)
    return float(
        scipy.stats.binom.pmf(own, people, chances[1])
        @ scipy.stats.binom.sf(ones - own - 1, n - people, chances[0])
    )
