"""The same estimates for every protocol: one call each, whatever the protocol is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate, estimators, optimality
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import MaximumLikelihood, inv_channel, mle_channel
from rr_core.protocols.hadamard import HadamardResponse, inv_hadamard, mle_hadamard
from rr_core.protocols.subset import SubsetSelection, inv_subset
from rr_core.protocols.unary import UnaryEncoding, inv_unary
from rr_core.protocols.unary_estimation import mle_unary

Protocol = Channel | RandomizedResponse | UnaryEncoding | SubsetSelection | HadamardResponse


def inv(observed: ArrayLike, protocol: Protocol, n: int | None = None) -> Array:
    """The unbiased linear estimate (Inv) of the distribution of the truth.

    Args:
        observed: (..., m) histogram of the reports, normalised inside; for a `UnaryEncoding` or a `SubsetSelection` their
            ``support`` (..., k): how many of the n reports hold each category.
        protocol: how the reports were made.
        n: number of users, needed with a support only. A histogram of reports has it, so it is not used.

    Returns:
        (..., k) estimates, which may be negative. They sum to one; for unary encoding and Hadamard response only in
        expectation.

    Raises:
        ValueError: when the protocol does not identify the truth, or naming the argument.

    >>> inv([70, 30], Channel.warner(1 / 6)).round(6).tolist()
    [0.2, 0.8]
    """
    if isinstance(protocol, Channel):
        return inv_channel(observed, protocol)
    if isinstance(protocol, UnaryEncoding):
        return inv_unary(observed, protocol, n)
    if isinstance(protocol, SubsetSelection):
        return inv_subset(observed, protocol, n)
    if isinstance(protocol, HadamardResponse):
        return inv_hadamard(observed, protocol)
    return estimators.inv(observed, _mechanism(protocol))


def mle(observed: ArrayLike, protocol: Protocol, tolerance: float = 1e-9) -> MaximumLikelihood:
    """A distribution of maximum likelihood, with its certificate.

    Args:
        observed: (m,) histogram of the reports, normalised inside; for a `UnaryEncoding` or a `SubsetSelection` the
            reports, (n, k) of 0 and 1.
        protocol: a `Channel` (see `mle_channel`), a `RandomizedResponse`, whose MLE* is in closed form, a
            `HadamardResponse`, a `UnaryEncoding` or a `SubsetSelection` (see `mle_unary`).
        tolerance: gap to reach, in nats per report, a number > 0. Where rounding does not allow it, the best that was
            found is returned, with its gap.

    Raises:
        ValueError: when the protocol cannot produce the reports, or naming the argument.

    >>> mle([6, 3, 2, 1], RandomizedResponse.from_p(4, 0.5)).theta.round(6).tolist()
    [0.833333, 0.166667, 0.0, 0.0]
    """
    if isinstance(protocol, Channel):
        return mle_channel(observed, protocol, tolerance)
    if isinstance(protocol, UnaryEncoding | SubsetSelection):
        return mle_unary(observed, protocol, tolerance)
    if isinstance(protocol, HadamardResponse):
        return mle_hadamard(observed, protocol, tolerance)
    mechanism = _mechanism(protocol)
    _validate.positive("tolerance", tolerance)
    counts = _validate.one_row("histogram", _validate.histogram(observed, mechanism.k))
    theta = estimators.mle_star(counts, mechanism)
    gap = np.maximum(optimality.optimality_gap(counts, theta, mechanism), 0.0)
    return MaximumLikelihood(theta, float(gap), 0)


def _mechanism(protocol: object) -> RandomizedResponse:
    """``protocol`` as k-RR, or ValueError."""
    if not isinstance(protocol, RandomizedResponse):
        raise ValueError(
            "protocol must be a Channel, UnaryEncoding, SubsetSelection, HadamardResponse or RandomizedResponse, "
            f"got {_validate.short(protocol)}"
        )
    return protocol
