"""Intervals that hold at all times at once, for whoever watches reports come in and stops when she likes.

A *confidence sequence* misses at any time at all with probability at most alpha = 1 - level; a usual interval that is
looked at again and again ever misses far more often. Reports arrive one by one. After N of them, c are of a category, and
m of the N people have it. These people are fixed, not sampled, and who comes next may depend on the reports so far.

Let psi_x(l) = log(1 - x + x e^l), that is log E exp(l B) for an indicator B of mean x. Each person's noise is new, so
for every l

    exp(l c - m psi_p(l) - (N - m) psi_q(l))

is a supermartingale that starts at 1, and so is its mean over any fixed law of l; by Ville's inequality that ever
reaches 1/alpha with probability at most alpha. The interval is all shares m/N at which it is below 1/alpha, where l is
about normal with mean 0 and variance 1/rho: Robbins' method of mixtures, as in S. R. Howard, A. Ramdas, J. McAuliffe,
J. Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49 (2021). Such
sequences, of Hoeffding's kind, are used for randomized response by I. Waudby-Smith, Z. S. Wu, A. Ramdas, "Nonparametric
extensions of randomized response for private confidence sets", ICML 2023.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.estimators import inv
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import variance_at
from rr_core.sampling import whole_counts

_MOST_USERS = 10**15
TIGHTEST_AT = 100  # reports: about a class
# |l| in standard deviations: near enough to each other for a mean over the normal law, and as small as those
# that tell most after 10^18 reports. As the law of l is on just these points, the bound holds exactly.
_SIZES = np.geomspace(1e-9, 8, 64)
_LEAST_THRESHOLD = 1e-3  # of log(1/alpha): below, Newton's method is slow, and a larger one is as valid
_NEWTON_STEPS = 8  # to full precision from a level of 1% on
_PAIRS_AT_ONCE = 4096


def anytime_intervals(
    counts: ArrayLike,
    mechanism: RandomizedResponse,
    *,
    level: float = 0.95,
    tightest_at: int = TIGHTEST_AT,
) -> tuple[Array, Array]:
    """A confidence sequence for the share of each category among those who have reported so far.

    With probability at least ``level`` the share of a category is in its interval after every number of reports, and so
    whenever one stops. All k are at once with probability at least 1 - k (1 - level).

    Args:
        counts: (..., k) reports per category so far, whole numbers, each row with a total of at least 1.
        mechanism: the randomized response that produced them.
        level: probability, between 0 and 1; fixed before the first report, as is the next.
        tightest_at: number of reports, from 1 to 10^15, near which the intervals are to be narrow.

    Returns:
        (lower, upper), (..., k) each: on either side of Inv, and not cut to [0, 1], as Inv is not.

    Raises:
        ValueError: naming the argument.

    >>> lower, upper = anytime_intervals([52, 31, 17], RandomizedResponse(3, 1.0))
    >>> lower.round(2).tolist(), upper.round(2).tolist()
    ([0.47, -0.09, -0.46], [1.28, 0.65, 0.22])
    """
    reports = whole_counts("counts", counts, mechanism.k)
    if not reports.any(axis=-1).all():
        raise ValueError("counts must have a total >= 1, got all zeros")
    level = _validate.fraction("level", level)
    users = _validate.integer("tightest_at", tightest_at, 1, _MOST_USERS)
    n = reports.sum(axis=-1, keepdims=True)
    threshold = max(-math.log1p(-level), _LEAST_THRESHOLD)
    # rho/V of the least width is 1/(-W(-alpha^2/e) - 1) with Lambert's W_{-1} (Howard et al.). This is its usual
    # approximation: from a level of 80% on it costs less than 0.1% of the width.
    ratio = 1 / (2 * threshold + math.log1p(2 * threshold))
    variance = float(variance_at(np.array(1 / mechanism.k), 1.0, mechanism)) * mechanism.keep**2
    # V is that of equal shares, and 1 more, as a count is a whole number even where chance hardly moves it.
    scale = 1 / math.sqrt((users * variance + 1) * ratio)
    pairs, where = np.unique(reports + 1j * n, return_inverse=True)  # each count with its total
    ends = np.empty((2, pairs.size))
    for first in range(0, pairs.size, _PAIRS_AT_ONCE):
        some = slice(first, first + _PAIRS_AT_ONCE)
        ends[:, some] = _ends(pairs.real[some], pairs.imag[some], mechanism, scale, threshold)
    below, above = ends[:, where.reshape(reports.shape)]
    estimate = inv(reports, mechanism)
    return estimate + below / mechanism.keep, estimate + above / mechanism.keep


def _ends(
    counts: Array, n: Array, mechanism: RandomizedResponse, scale: float, threshold: float
) -> tuple[Array, Array]:
    """Both ends minus Inv, times p - q, for (m,) counts with their totals ``n``; l has standard deviation ``scale``.

    At the share Inv + u/(p - q), the log of the mean over l is log sum_j exp(start_j + slope_j u). It is convex in u, and
    at most 0 at u = 0 since psi_x(l) is concave in x: there is one end on either side.
    """
    p, q, keep = mechanism.p, mechanism.q, mechanism.keep
    log_weights = np.log(_SIZES) - _SIZES**2 / 2  # the normal density, on steps in proportion to |l|
    log_weights = np.tile(log_weights - special.logsumexp(log_weights) - math.log(2), 2)
    l = scale * np.concatenate([_SIZES, -_SIZES])  # noqa: E741  The letter of the formulas.
    up, down = np.expm1(l.clip(min=0)), -np.expm1(l.clip(max=0))
    psi_q = np.log1p(q * (up - down))
    # (psi_p - psi_q)/(p - q): for either sign of l the logarithm of what is above 1, so that nothing cancels.
    gain = np.log1p(keep * up / (1 + q * up))
    gain -= np.log1p(keep * down / ((mechanism.k - 1) * q + p * np.exp(l.clip(max=0))))
    gain /= keep
    share = (counts / n)[:, None]
    # Never above 0 but by rounding.
    start = log_weights + n[:, None] * np.minimum(share * l - psi_q - (share - q) * gain, 0.0)
    slope = -n[:, None] * gain

    def end(side: int) -> Array:
        """By Newton's method from where one term alone reaches the threshold. All its steps stay outside of the end, and
        there the interval is valid as well."""
        helps = side * slope[0] > 0
        u: Array = side * ((threshold - start[:, helps]) / np.abs(slope[:, helps])).min(axis=1)
        for _ in range(_NEWTON_STEPS):
            log_terms = start + slope * u[:, None]
            largest = log_terms.max(axis=1)
            terms = np.exp(log_terms - largest[:, None])
            total = terms.sum(axis=1)
            u -= (largest + np.log(total) - threshold) * total / (terms * slope).sum(axis=1)
        return u

    return end(-1), end(1)
