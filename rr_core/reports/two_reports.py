"""Reports of two kinds, exactly: a test of fit and intervals for any way of asking with two reports (Warner's questions,
a forced yes or no, k-RR with K = 2).

A person reports "1" with probability c_0 or c_1, by the own truth. So whatever the truths, and whether users are given or
drawn from a population, the ones are a sum of independent Bernoulli variables whose chances lie between low = min c and
high = max c, and stochastically between Binomial(N, low) and Binomial(N, high).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from rr_core import _validate
from rr_core.metrics import Users, check_users
from rr_core.reports.intervals import clopper_pearson, lower_tail, upper_tail

# Up to so many users the limits for given ones are found by bisection, beyond from those for sampled ones.
MOST_EXACT = 100_000
_WINDOW = 12  # standard deviations of a binomial, beyond which it has no chance that a double can add
_ROUNDING = 1e-12


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
    ones, n, chances = _checked(ones, n, chances)
    low, high = min(chances), max(chances)
    seen = _ratio(ones, n, low, high)
    if seen == 0:
        return 1.0
    enough = seen * (1 - _ROUNDING)
    below = -1 if low == 0 else _last(lambda y: _ratio(y, n, low, high) >= enough, int(n * low))
    above = n + 1 if high == 1 else n + 1 - _first_ones(n, enough, low, high)
    return min(1.0, max(_outside(below, above, n, chance) for chance in (low, high)))


def _checked(ones: int, n: int, chances: tuple[float, float]) -> tuple[int, int, tuple[float, float]]:
    n = _validate.integer("n", n, 1)
    pair = _validate.vector("chances", chances, 2)
    if pair.ndim != 1 or ((pair < 0) | (pair > 1)).any():
        raise ValueError(f"chances must be two numbers from 0 to 1, got {_validate.short(chances)}")
    return _validate.integer("ones", ones, 0, n), n, (float(pair[0]), float(pair[1]))


def _first_ones(n: int, enough: float, low: float, high: float) -> int:
    """How many numbers of ones, from n downwards to N high, have a ratio of at least ``enough``."""
    return 1 + _last(lambda zeros: _ratio(n - zeros, n, low, high) >= enough, int(n * (1 - high)))


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
    ones, n, chances = _checked(ones, n, chances)
    if chances[0] == chances[1]:
        raise ValueError(f"chances must be two different numbers, got {_validate.short(chances)}")
    alpha = _validate.real("alpha", alpha, "a number between 0 and 1")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be a number between 0 and 1, got {alpha}")
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
        stats.binom.pmf(own, people, chances[1]) @ stats.binom.sf(ones - own - 1, n - people, chances[0])
    )
