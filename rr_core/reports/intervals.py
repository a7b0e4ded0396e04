"""Intervals for Inv, from the law of one category's reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rr_core._validate import Array
from rr_core.errors import Users, check_users
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.counts import checked_counts, checked_level, counts_profile

# Fewest expected reports of a category that nobody has, N q, from which the intervals keep their level: from a level
# of 95% on, and below.
LEAST_NOISE, LEAST_NOISE_BELOW_95 = 10.0, 20.0


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval for the share of each category.

    Attributes:
        low, high: (k,) its ends.
        level: the probability asked for.
        simultaneous: whether ``level`` is that of all categories at once, rather than of each.
    """

    low: Array
    high: Array
    level: float
    simultaneous: bool

    def cut(self) -> Interval:
        """The interval cut to [0, 1]. No share that it held is lost, since all lie there. One wholly below 0
        becomes the point 0, one above 1 the point 1: so shares of 0 and 1 are held more often."""
        low, high = (np.clip(end, 0.0, 1.0) for end in (self.low, self.high))
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
        level: of the intervals.
    """
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
    narrower in proportion to their standard deviation.

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
    """
    checked = checked_counts(counts, mechanism)
    level = checked_level(level)
    levels, level_of = counts_profile(checked)
    n = float(checked.sum())
    make = _exact if simultaneous else _score
    alpha = (1 - level) / mechanism.k if simultaneous else 1 - level
    seen = make(levels.values[0], n, alpha, mechanism, users)
    low, high = ((end - mechanism.q) / mechanism.keep for end in seen)
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
    """The means m with neither binomial tail below alpha/2 (Clopper and Pearson)."""
    low = special.betaincinv(np.maximum(counts, 1), n - counts + 1, alpha / 2)
    high = special.betainccinv(counts + 1, np.maximum(n - counts, 1), alpha / 2)
    seen = counts / n
    low, high = np.where(counts == 0, 0.0, low), np.where(counts == n, 1.0, high)
    return (
        seen - _narrower(low, mechanism, users) * (seen - low),
        seen + _narrower(high, mechanism, users) * (high - seen),
    )


def _narrower(mean: Array, mechanism: RandomizedResponse, users: Users) -> Array:
    """Standard deviation of a report frequency with this mean, as a share of that of the binomial."""
    inside = np.clip(mean, mechanism.q, mechanism.p)
    constant, linear, square = _variance(mechanism, users)
    binomial = inside * (1 - inside)
    # Both are zero where q underflows, or p is rounded to one.
    variance = np.maximum(constant + linear * inside + square * inside**2, 0.0)
    ratio: Array = np.sqrt(np.divide(variance, binomial, out=np.ones_like(inside), where=binomial > 0))
    return ratio
