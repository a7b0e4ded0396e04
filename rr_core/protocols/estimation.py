"""The same estimates for every protocol: one call each, whatever the protocol is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate, estimators, optimality
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import (
    MaximumLikelihood,
    checked_tolerance,
    inv_channel,
    mle_channel,
)
from rr_core.protocols.hadamard import HadamardResponse, inv_hadamard, mle_hadamard
from rr_core.protocols.subset import SubsetSelection, inv_subset

Protocol = Channel | RandomizedResponse | SubsetSelection | HadamardResponse


def inv(observed: ArrayLike, protocol: Protocol, n: float | None = None) -> Array:
    """The unbiased linear estimate (Inv) of the distribution of the truth.

    Args:
        observed: (..., m) histogram of the reports, normalised inside; for a `SubsetSelection` its ``support`` (..., k):
            how many of the n reports hold each category.
        protocol: a `Channel`, a `RandomizedResponse`, a `SubsetSelection`, or a `HadamardResponse`.
        n: number of users, needed with a support only. A histogram of reports has it, so it is not used.

    Returns:
        (..., k) estimates that may be negative, and sum to one (but for a `HadamardResponse`).

    Raises:
        ValueError: when the protocol does not identify the truth, or naming the argument.

    >>> inv([70, 30], Channel.warner(1 / 6)).round(6).tolist()
    [0.2, 0.8]
    """
    if isinstance(protocol, Channel):
        return inv_channel(observed, protocol)
    if isinstance(protocol, SubsetSelection):
        return inv_subset(observed, protocol, n)
    if isinstance(protocol, HadamardResponse):
        return inv_hadamard(observed, protocol)
    return estimators.inv(observed, _mechanism(protocol, Channel, SubsetSelection, HadamardResponse))


def mle(observed: ArrayLike, protocol: Protocol, tolerance: float = 1e-9) -> MaximumLikelihood:
    """A distribution of maximum likelihood, with its certificate.

    Args:
        observed: (m,) histogram of the reports, normalised inside.
        protocol: a `Channel` (see `mle_channel`), a `HadamardResponse`, or a `RandomizedResponse`, whose MLE* is in
            closed form.
        tolerance: gap to reach, in nats per report, a number > 0. Where rounding does not allow it, the best that was
            found is returned, with its gap.

    Raises:
        ValueError: when the protocol cannot produce the reports, or naming the argument.

    >>> mle([6, 3, 2, 1], RandomizedResponse.from_p(4, 0.5)).theta.round(6).tolist()
    [0.833333, 0.166667, 0.0, 0.0]
    """
    if isinstance(protocol, Channel):
        return mle_channel(observed, protocol, tolerance)
    if isinstance(protocol, HadamardResponse):
        return mle_hadamard(observed, protocol, tolerance)
    mechanism = _mechanism(protocol, Channel, HadamardResponse)
    checked_tolerance(tolerance)
    counts = _validate.histogram(observed, mechanism.k)
    if counts.ndim != 1:
        raise ValueError(f"histogram must have shape (k,) = ({mechanism.k},), got {counts.shape}")
    theta = estimators.mle_star(counts, mechanism)
    gap = np.maximum(optimality.optimality_gap(counts, theta, mechanism), 0.0)
    return MaximumLikelihood(theta, float(gap), 0)


def _mechanism(protocol: object, *others: type) -> RandomizedResponse:
    """``protocol`` as k-RR, or ValueError, which names the ``others`` that are allowed."""
    if not isinstance(protocol, RandomizedResponse):
        names = ", ".join(f"a {other.__name__}" for other in others)
        raise ValueError(f"protocol must be {names} or a RandomizedResponse, got {_validate.short(protocol)}")
    return protocol
