"""How far the likelihood of a distribution is from its maximum: a bound that needs no maximum (the certificate), and
the distance from MLE* itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, as_rows


def update_factors(histogram: ArrayLike, theta: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """The factors m_i by which IBU multiplies theta_i (eq. (5)), shape (..., k).

    m_i = q sum_j phi_j/(q + (p-q) theta_j) + (p-q) phi_i/(q + (p-q) theta_i); infinite where a category
    that was reported has probability zero.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> update_factors([6, 3, 2, 1], [5 / 6, 1 / 6, 0, 0], mechanism).round(6).tolist()
    [1.0, 1.0, 0.958333, 0.791667]
    """
    counts = _validate.histogram(histogram, mechanism.k)
    estimate = _validate.vector("theta", theta, mechanism.k)
    _validate.check_broadcast(histogram=counts, theta=estimate)
    phi = _validate.shares(as_rows(counts).reshape(counts.shape))
    blur = mechanism.blur
    seen = blur + mechanism.truth * estimate
    with np.errstate(divide="ignore", over="ignore"):
        redraw = (phi * (blur / seen)).sum(axis=-1, keepdims=True)
        factors: Array = redraw + phi * (mechanism.truth / seen)
    return factors


def optimality_gap(histogram: ArrayLike, theta: ArrayLike, mechanism: RandomizedResponse) -> Array | float:
    """max_i m_i - 1: an upper bound, per report, on how far the log-likelihood of ``theta`` is below its
    maximum.

    The log-likelihood is concave with gradient proportional to m, so its distance from the maximum is at
    most max_i m_i - 1. Zero (to rounding) exactly at the MLE, where m_i = 1 wherever theta_i > 0.

    Args:
        histogram: (..., k) counts or frequencies of the reports.
        theta: (..., k) distribution to certify; broadcasts against the histogram.
        mechanism: the randomized response that produced the reports.

    Returns:
        One number per histogram, in nats per report; a float when there is one.

    Raises:
        ValueError: naming the argument.

    >>> from rr_core.estimators import inv_n, mle_star
    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> round(optimality_gap([6, 3, 2, 1], inv_n([6, 3, 2, 1], mechanism), mechanism), 6)
    0.005495
    >>> abs(optimality_gap([6, 3, 2, 1], mle_star([6, 3, 2, 1], mechanism), mechanism)) < 1e-12
    True
    """
    gap: Array = update_factors(histogram, theta, mechanism).max(axis=-1) - 1
    return float(gap) if gap.ndim == 0 else gap


def level_gap(levels: Profile, theta: Array, mechanism: RandomizedResponse) -> Array:
    """`optimality_gap` of each row of a profile, where ``theta`` (rows, levels) is constant on levels."""
    blur = mechanism.blur
    phi, seen = frequencies(levels), blur + mechanism.truth * theta
    with np.errstate(divide="ignore", over="ignore"):
        redraw = (levels.multiplicities * phi * (blur / seen)).sum(axis=-1, keepdims=True)
        factors = redraw + phi * (mechanism.truth / seen)
    gap: Array = np.where(levels.multiplicities > 0, factors, -np.inf).max(axis=-1) - 1
    return gap


def loss_above(
    counts: NDArray[Any],
    theta: Array,
    best: Array,
    mechanism: RandomizedResponse,
    multiplicities: Array | float = 1.0,
) -> Array:
    """Negative log-likelihood per report of ``theta`` less that of MLE*, in nats, without cancellation.

    With x = (p - q)(theta - best)/(q + (p - q) best) it is sum phi (x - log(1 + x)) - sum phi x. On the support of MLE*
    phi/(q + (p - q) best) is the same r everywhere, and both sum to one; so the last sum is only over the categories
    that MLE* sets to zero, -sum (r - phi/q)(p - q) theta: no term is negative where ``theta`` is a distribution.

    Args:
        counts: (..., m) whole numbers of reports.
        theta: (..., m) an estimate whose entries sum to one; Inv may be negative, and then fits better than MLE*.
        best: (..., m) MLE* of the same counts.
        mechanism: the randomized response that produced the reports.
        multiplicities: (..., m) number of categories with each of these counts, where they are levels.

    Returns:
        (...) zero for MLE* itself; infinite where a category that was reported has probability zero.
    """
    truth, blur = mechanism.truth, mechanism.blur
    n = (multiplicities * counts).sum(axis=-1, keepdims=True)
    size = (multiplicities * (best > 0)).sum(axis=-1, keepdims=True)
    total = (multiplicities * np.where(best > 0, counts, 0)).sum(axis=-1, keepdims=True)
    change = truth * (theta - best) / (blur + truth * best)
    bent = counts * np.where(counts > 0, _above_log(change), 0.0)
    # N (r - phi/q)(p - q), in whole numbers until the last step.
    slope = truth * (blur * (total - size * counts) - truth * counts) / (blur * (truth + size * blur))
    dropped = np.where(best > 0, 0.0, slope * theta)
    above: Array = (multiplicities * (bent + dropped)).sum(axis=-1) / n[..., 0]
    return above


def _above_log(x: Array) -> Array:
    """x - log(1 + x), accurate near zero: with r = x/(2 + x) it is r (x - 2 r^2 (1/3 + r^2/5 + r^4/7 ...))."""
    with np.errstate(divide="ignore"):
        plain = x - np.log1p(np.maximum(x, -1.0))
    ratio = np.where(np.abs(x) < 0.25, x / (2 + x), 0.0)
    square = ratio * ratio
    series = np.zeros_like(ratio)
    for odd in range(19, 1, -2):
        series = series * square + 1 / odd
    near: Array = ratio * (x - 2 * square * series)
    return np.where(np.abs(x) < 0.25, near, plain)


def frequencies(levels: Profile) -> Array:
    """(rows, levels) share of the reports that one category of each level received."""
    total = (levels.values * levels.multiplicities).sum(axis=-1, keepdims=True)
    phi: Array = levels.values / total
    return phi
