"""The certificate of optimality: a computable bound on how far a distribution is from the MLE."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse


def update_factors(histogram: ArrayLike, theta: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """The factors m_i by which IBU multiplies theta_i (eq. (5)-(6)), shape (..., k).

    m_i = q sum_j phi_j/(q + (p-q) theta_j) + (p-q) phi_i/(q + (p-q) theta_i); infinite where a category
    that was reported has probability zero.
    """
    counts = _validate.histogram(histogram, mechanism.k)
    estimate = _validate.vector("theta", theta, mechanism.k)
    phi = counts / counts.sum(axis=-1, keepdims=True)
    blur = max(mechanism.blur, 1e-300)  # an underflowed blur would make 0/0 of an unreported zero
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
