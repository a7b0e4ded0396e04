"""The distribution of one category's number of reports, and what follows from it: bands and negatives.

With t of the N users in a category its reports are Binomial(t, p) + Binomial(N - t, q).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse

# Beyond this variance the normal law, moved by the skewness, gives the exact quantiles to within one report.
_NORMAL_VARIANCE = 100.0
_MOST_USERS = 10**15  # beyond, the incomplete beta function has no value at places
_WIDTH = 12.0  # standard deviations kept on either side; what is cut off is below 1e-30
_TOGETHER = 512  # laws worked out at once: without Python in between, and within a few megabytes
_ROUNDING = 8 * np.finfo(np.float64).eps  # Inv is zero where its two terms differ by no more, relatively


@dataclass(frozen=True)
class Band:
    """For each category the expected reports and a central prediction interval for the observed ones.

    Attributes:
        expected: (m,) q N + (p - q) t.
        low, high: (m,) the central range of probability at least ``level``, in reports.
    """

    expected: Array
    low: Array
    high: Array


def report_distribution(t: int, n: int, mechanism: RandomizedResponse) -> tuple[int, Array]:
    """Exact law of the reports of a category that ``t`` of ``n`` users have.

    Returns:
        (first, pmf): pmf[i] = Pr(reports = first + i), over all values that matter (what is left out has
        probability below 1e-30).

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> first, pmf = report_distribution(1, 2, mechanism)
    >>> first, pmf.round(6).tolist()
    (0, [0.416667, 0.5, 0.083333])
    """
    n = _validate.integer("n", n, 1, _MOST_USERS)
    t = _validate.integer("t", t, 0, n)
    first_true, true_pmf = _binomial(t, mechanism.p)
    first_false, false_pmf = _binomial(n - t, mechanism.q)
    if min(true_pmf.size, false_pmf.size) < 64:
        pmf = np.convolve(true_pmf, false_pmf)
    else:
        pmf = np.maximum(scipy.signal.fftconvolve(true_pmf, false_pmf), 0.0)
    return first_true + first_false, pmf


def report_band(true_counts: ArrayLike, n: int, mechanism: RandomizedResponse, level: float = 0.95) -> Band:
    """Prediction interval, of probability ``level``, for the reports of categories with these true counts.

    Quantiles of the exact law while it is narrow, then of the normal law with the same mean and variance,
    corrected for skewness and whole numbers (Cornish-Fisher), once the two agree to a report. Each distinct
    true count is worked out once.

    Args:
        true_counts: (m,) users in each category, whole numbers from 0 to n.
        n: all users.
        mechanism: the randomized response.
        level: probability of the central range, between 0 and 1.

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> band = report_band([0, 600], 1000, mechanism)
    >>> band.expected.round(2).tolist(), band.low.tolist(), band.high.tolist()
    ([166.67, 366.67], [144.0, 339.0], [190.0, 395.0])
    """
    n = _validate.integer("n", n, 1, _MOST_USERS)
    counts = _whole("true_counts", true_counts, 0, n)
    level = _validate.fraction("level", level)
    distinct, where = np.unique(counts, return_inverse=True)
    expected = mechanism.q * n + mechanism.keep * distinct
    variance, third = report_variance(distinct, n, mechanism), _third_moment(distinct, n, mechanism)
    z = -special.ndtri((1 - level) / 2)
    spread = z * np.sqrt(variance)
    centre = expected + (z**2 - 1) / 6 * third / np.maximum(variance, 1.0)
    low, high = np.ceil(centre - spread - 0.5), np.ceil(centre + spread - 0.5)
    for some in _portions(np.flatnonzero(variance < _NORMAL_VARIANCE)):
        # As `report_distribution`, of several true counts at once: a row of chances for each.
        first_true, last_true, true = _binomials(distinct[some], mechanism.p)
        first_false, last_false, false = _binomials(n - distinct[some], mechanism.q)
        first, last = first_true + first_false, last_true + last_false
        pmf = np.maximum(scipy.signal.fftconvolve(true, false, axes=1), 0.0)
        cumulative = np.cumsum(pmf, axis=1)
        low[some] = first + (cumulative < (1 - level) / 2).sum(axis=1)
        high[some] = np.minimum(first + (cumulative < (1 + level) / 2).sum(axis=1), last)
    return Band(expected[where], np.maximum(low, 0)[where], high[where])


def report_variance(true_counts: ArrayLike, n: int, mechanism: RandomizedResponse) -> Array:
    """Variance of the reports of categories with these true counts: t p (1-p) + (n-t) q (1-q).

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> report_variance([0, 600], 1000, mechanism).round(3).tolist()
    [138.889, 205.556]
    """
    n = _validate.integer("n", n, 1, _MOST_USERS)
    t = _whole("true_counts", true_counts, 0, n)
    p, q, others = mechanism.p, mechanism.q, mechanism.k - 1
    variance: Array = t * p * (others * q) + (n - t) * q * (1 - q)
    return variance


def negative_chance(n: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """Probability that Inv is negative for an empty category, for each number of users ``n``; same shape as
    ``n``.

    Inv < 0 means fewer than N q reports, and the reports are Binomial(N, q): exact, from its
    distribution function. It tends to 1/2 as N grows (section 5.1).

    Args:
        n: numbers of users, whole numbers from 1 to 10^15, any shape.
        mechanism: the randomized response.

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> negative_chance([1, 100, 10**6], mechanism).round(4).tolist()
    [0.8333, 0.4942, 0.4999]
    """
    users, most = _whole("n", n, 1, _MOST_USERS), most_negative(n, mechanism)
    # The distribution function of the binomial, as the incomplete beta function.
    chance: Array = special.betaincc(np.maximum(most, 0) + 1, users - most, mechanism.q)
    return np.where(most < 0, 0.0, chance)


def most_negative(n: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """The largest number of reports at which Inv is negative, for each number of users ``n``: the last whole
    number below N q, and -1 where there is none. At N q itself Inv is zero, up to rounding of either sign.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> most_negative([5, 6, 7], mechanism).tolist()
    [0.0, 0.0, 1.0]
    """
    users = _whole("n", n, 1, _MOST_USERS)
    nearest = np.rint(users * mechanism.q)
    # Inv is proportional to the sum of these two terms, which are of opposite sign near the edge.
    upper, lower = mechanism.truth * nearest, mechanism.blur * (mechanism.k * nearest - users)
    most: Array = np.where(upper + lower < -_ROUNDING * upper, nearest, nearest - 1)
    return most


def negative_chances(true_counts: ArrayLike, n: int, mechanism: RandomizedResponse) -> Array:
    """Probability that Inv is negative, for categories that ``true_counts`` of the ``n`` users have; (m,).

    Pr(Binomial(t, p) + Binomial(n - t, q) < n q). With t a fixed share of n above zero it tends to 0 as n
    grows; for t = 0 it is `negative_chance` and tends to 1/2. Exact while the law is narrow and for t = 0,
    then its Edgeworth expansion to the fourth cumulant (off by less than 1% of the chance up to four standard
    deviations). Each distinct true count is worked out once.

    Args:
        true_counts: (m,) users in each category, whole numbers from 0 to n.
        n: all users.
        mechanism: the randomized response.

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> negative_chances([0, 5, 50], 1000, mechanism).round(4).tolist()
    [0.4981, 0.4419, 0.0795]
    """
    n = _validate.integer("n", n, 1, _MOST_USERS)
    counts = _whole("true_counts", true_counts, 0, n)
    t, where = np.unique(counts, return_inverse=True)
    most = float(most_negative(n, mechanism))
    mean, variance = mechanism.q * n + mechanism.keep * t, report_variance(t, n, mechanism)
    chance = _edgeworth(
        most, mean, variance, _third_moment(t, n, mechanism), _fourth_cumulant(t, n, mechanism)
    )
    # Chernoff: Pr(X <= mean - d) <= exp(-d^2 / 2 mean) for a sum of independent yes-or-no.
    far = (mean - most) ** 2 > 100 * mean
    chance[far] = 0.0
    for some in _portions(np.flatnonzero((variance < _NORMAL_VARIANCE) & ~far)):
        # So many from those who have it, and no more than the rest from all others. What is summed is positive, so that
        # small chances keep their digits; and n q is below 400 where the variance is small.
        users, own = t[some, None], np.arange(int(most) + 1.0)
        chance[some] = (
            scipy.stats.binom.pmf(own, users, mechanism.p)
            * scipy.stats.binom.cdf(most - own, n - users, mechanism.q)
        ).sum(axis=1)
    chance[t == 0] = negative_chance(n, mechanism)
    found: Array = chance[where]
    return found


def below_zero(inv_estimate: Array, mechanism: RandomizedResponse) -> NDArray[np.bool_]:
    """Which entries of an Inv estimate are negative by more than rounding: those of categories with at most
    `most_negative` reports. (Exactly N q reports give zero, which rounding may turn negative.) Any shape,
    elementwise."""
    negative: NDArray[np.bool_] = inv_estimate < -_ROUNDING * mechanism.q
    return negative


@dataclass(frozen=True)
class Negatives:
    """The negative entries of one Inv estimate.

    Attributes:
        count: how many categories are below zero.
        total: their sum, <= 0.
        lowest: the smallest entry.
        share: count / k.
        empty: categories that no user has.
        empty_negative: how many of those are below zero.
    """

    count: int
    total: float
    lowest: float
    share: float
    empty: int
    empty_negative: int


def negatives(estimate: ArrayLike, true_counts: ArrayLike, mechanism: RandomizedResponse) -> Negatives:
    """Count and sum of the negative entries of an Inv estimate (k,), beside the users' true counts.

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> found = negatives([1.0, 0.25, 0.0, -0.25], [8, 4, 0, 0], mechanism)
    >>> found.count, found.total, found.empty_negative
    (1, -0.25, 1)
    """
    truth = _whole("true_counts", true_counts, 0)
    if truth.ndim != 1 or not truth.size:
        raise ValueError(f"true_counts must have shape (k,), got {truth.shape}")
    values = _validate.vector("estimate", estimate, truth.size)
    if values.shape != truth.shape:
        raise ValueError(f"estimate must have shape {truth.shape} like true_counts, got {values.shape}")
    below = below_zero(values, mechanism)
    return Negatives(
        count=int(below.sum()),
        total=float(values[below].sum()),
        lowest=float(values.min()),
        share=float(below.mean()),
        empty=int((truth == 0).sum()),
        empty_negative=int((below & (truth == 0)).sum()),
    )


def _third_moment(t: Array, n: int, mechanism: RandomizedResponse) -> Array:
    """Third central moment of the reports: that of Binomial(n, p) is n p (1-p) (1-2p)."""
    p, q, others = mechanism.p, mechanism.q, mechanism.k - 1
    third: Array = t * p * (others * q) * (1 - 2 * p) + (n - t) * q * (1 - q) * (1 - 2 * q)
    return third


def _fourth_cumulant(t: Array, n: int, mechanism: RandomizedResponse) -> Array:
    """Fourth cumulant of the reports: that of Binomial(n, p) is v (1 - 6 p (1-p)) with v = n p (1-p)."""
    p, q, others = mechanism.p, mechanism.q, mechanism.k - 1
    true, false = p * (others * q), q * (1 - q)
    fourth: Array = t * true * (1 - 6 * true) + (n - t) * false * (1 - 6 * false)
    return fourth


def _edgeworth(most: float, mean: Array, variance: Array, third: Array, fourth: Array) -> Array:
    """Pr(X <= most) of whole numbers X with these cumulants. Spreading each over an interval of length one
    leaves it as it is at most + 1/2, adds 1/12 to the variance and takes 1/120 from the fourth cumulant."""
    deviation = np.sqrt(variance + 1 / 12)
    z = (most + 0.5 - mean) / deviation
    skewness, excess = third / deviation**3, (fourth - 1 / 120) / deviation**4
    correction = (
        skewness / 6 * (z**2 - 1)
        + excess / 24 * (z**3 - 3 * z)
        + skewness**2 / 72 * (z**5 - 10 * z**3 + 15 * z)
    )
    chance: Array = np.clip(special.ndtr(z) - scipy.stats.norm.pdf(z) * correction, 0.0, 1.0)
    return chance


def _whole(name: str, values: ArrayLike, low: int, high: float = np.inf) -> Array:
    """``values`` as float64, or ValueError unless they are whole numbers from ``low`` to ``high``."""
    allowed = f">= {low}" if high == np.inf else f"from {low} to {_validate.short(high)}"
    try:
        array = _validate.numbers(name, values)
        if isinstance(values, (bool, np.bool_)):
            raise ValueError
    except ValueError as error:
        raise ValueError(f"{name} must be whole numbers {allowed}, got {_validate.short(values)}") from error
    fine = (array >= low) & (array <= high) & (array == np.floor(array))
    if not fine.all():
        raise ValueError(f"{name} must be whole numbers {allowed}, got {array[~fine][0]}")
    return array.astype(np.float64)


def _binomial(n: int, p: float) -> tuple[int, Array]:
    first, last = (int(end) for end in _window(n, p))
    return first, _binomial_chances(np.arange(first, last + 1), n, p)


def _window(n: ArrayLike, p: float) -> tuple[Array, Array]:
    """First and last value of Binomial(n, p) that matter."""
    n = np.asarray(n, dtype=np.float64)
    centre, reach = n * p, _WIDTH * np.sqrt(n * p * (1 - p)) + 60
    return np.maximum(np.floor(centre - reach), 0.0), np.minimum(np.ceil(centre + reach), n)


def _binomials(n: Array, p: float) -> tuple[Array, Array, Array]:
    """First and last value that matters of each Binomial(n, p), and a row of their chances."""
    first, last = _window(n, p)
    values = first[:, None] + np.arange((last - first).max() + 1)
    return first, last, _binomial_chances(values, n[:, None], p)


def _binomial_chances(values: NDArray[Any], n: ArrayLike, p: float) -> Array:
    """Pr(Binomial(n, p) = value). SciPy's overflows at a p below 1e-300, at which any other value than 0 is as rare."""
    chances: Array = scipy.stats.binom.pmf(values, n, max(p, 1e-290))
    return chances


def _portions(positions: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Parts of a list of laws, few enough to be worked out together."""
    return [positions[start : start + _TOGETHER] for start in range(0, len(positions), _TOGETHER)]
