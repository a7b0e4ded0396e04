"""The certificate of optimality: a computable bound on how far the likelihood of a distribution is from its maximum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, as_rows


def update_factors(histogram: ArrayLike, theta: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """The factors m_i by which IBU multiplies theta_i (eq. (5)), shape (..., k).

    m_i = q sum_j phi_j/(q + (p-q) theta_j) + (p-q) phi_i/(q + (p-q) theta_i); infinite where a category
    that was reported has probability zero.
    """
    counts = _validate.histogram(histogram, mechanism.k)
    estimate = _validate.vector("theta", theta, mechanism.k)
    scaled = as_rows(counts).reshape(counts.shape)
    phi = scaled / scaled.sum(axis=-1, keepdims=True)
    blur = mechanism.positive_blur
    seen = blur + mechanism.truth * estimate
    with np.errstate(divide="ignore", over="ignore"):
        redraw = (phi * (blur / seen)).sum(axis=-1, keepdims=True)
        factors: Array = redraw + phi * (mechanism.truth / seen)
    return factors


def optimality_gap(histogram: ArrayLike, theta: ArrayLike, mechanism: RandomizedResponse) -> Array | float:
    """max_i m_i - 1: an upper bound on the log-likelihood per report that ``theta`` leaves on the table.

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
    """
    gap: Array = update_factors(histogram, theta, mechanism).max(axis=-1) - 1
    return float(gap) if gap.ndim == 0 else gap


def level_gap(levels: Profile, theta: Array, mechanism: RandomizedResponse) -> Array:
    """`optimality_gap` of each row of a profile, where ``theta`` (rows, levels) is constant on levels."""
    blur = mechanism.positive_blur
    phi, seen = frequencies(levels), blur + mechanism.truth * theta
    with np.errstate(divide="ignore", over="ignore"):
        redraw = (levels.multiplicities * phi * (blur / seen)).sum(axis=-1, keepdims=True)
        factors = redraw + phi * (mechanism.truth / seen)
    gap: Array = np.where(levels.multiplicities > 0, factors, -np.inf).max(axis=-1) - 1
    return gap


def frequencies(levels: Profile) -> Array:
    """(rows, levels) share of the reports that one category of each level received."""
    total = (levels.values * levels.multiplicities).sum(axis=-1, keepdims=True)
    phi: Array = levels.values / total
    return phi
