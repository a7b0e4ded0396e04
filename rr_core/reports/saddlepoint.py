"""Tests against zero under tables of chances: how likely is an Inv so large of a category that nobody has?

Inv is the mean over people of what the report of each adds to it. Were nobody of a category, and the others as they are
estimated, it is a mean of independent numbers with expectation 0.

- Where a report adds one of two numbers, as under k-RR, Warner's questions or a forced response: the exact binomial tail.
- Else the saddlepoint approximation of R. Lugannani and S. Rice (Advances in Applied Probability 12, 1980), as given for
  sums on a lattice by H. E. Daniels (International Statistical Review 55, 1987), with the largest difference of two
  numbers for the span: where few reports are expected, what was seen is itself counted in, as by an exact test. Given
  users are taken for drawn ones, for whom such sums vary no less.

The normal law called some category above zero that nobody had in up to a quarter of simulated collections, where few
reports were expected, at a familywise error of 5%.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core._validate import Array
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_channel
from rr_core.reports.intervals import Test, upper_tail

# Standard deviations of Inv, up to which it is far from significant, and the normal law serves.
_NEAR = 0.1
_DOUBLINGS, _HALVINGS = 14, 26  # the chance hardly depends on how closely the saddlepoint is found
# People who are spread evenly over the others: some whom the estimate has none of may be there.
_SPREAD = 1.0
_ROUNDING = 1e-9


def chances_if_nobody(
    counts: Sequence[NDArray[Any]], channels: Sequence[Channel], thetas: Sequence[Array]
) -> tuple[Array, Test]:
    """(k,) chances of an Inv so large, were nobody of the category, of groups of people taken together; and by
    what.

    Args:
        counts, channels, thetas: of each group (m,) reports, the table that made them, and (k,) estimated shares.

    >>> chances, test = chances_if_nobody([np.array([360, 640])], [Channel.warner(0.4)], [np.array([1.0, 0.0])])
    >>> chances.round(3).tolist(), test
    ([0.0, 0.996], 'exact')
    """
    added = [inv_channel(np.eye(one.m), one).T for one in channels]
    if len(channels) == 1:
        possible = channels[0].possible
        if (exact := _binomial(added[0][:, possible], counts[0][possible])) is not None:
            return exact, "exact"
    groups = [
        (values, _without(theta, channel, int(row.sum())), int(row.sum()))
        for values, theta, channel, row in zip(added, thetas, channels, counts, strict=True)
    ]
    totals = np.sum([values @ row for values, row in zip(added, counts, strict=True)], axis=0)
    return _tails(groups, totals), "saddlepoint"


def _binomial(added: Array, counts: NDArray[Any]) -> Array | None:
    """The exact chances where reports (m,) add one of two numbers to each category, (k, m); else None."""
    low, high = added.min(axis=1, keepdims=True), added.max(axis=1, keepdims=True)
    upper = added > (low + high) / 2
    if (np.abs(added - np.where(upper, high, low)) > _ROUNDING * (high - low)).any():
        return None
    chance = np.clip(-low / (high - low), 0.0, 1.0)[:, 0]
    return upper_tail((upper @ counts).astype(np.float64), int(counts.sum()), chance)


def _without(theta: Array, channel: Channel, n: int) -> Array:
    """(k, m) chances of the reports, for each category were nobody of it and the others as they are estimated."""
    shares = (n * theta + _SPREAD / (channel.k - 1)) * (1 - np.eye(channel.k))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True) @ channel.matrix)


def _tails(groups: Sequence[tuple[Array, Array, int]], totals: Array) -> Array:
    """(k,) chances of sums of at least ``totals``, of groups that have each (k, m) numbers that reports add, their
    chances, with mean 0, and how many people."""
    variance = np.sum([n * (law * values**2).sum(axis=1) for values, law, n in groups], axis=0)
    spread = np.sqrt(np.where(variance > 0, variance, 1.0))
    chances = np.where(variance > 0, special.ndtr(-totals / spread), np.where(totals > _ROUNDING, 0.0, 1.0))
    far = np.flatnonzero((variance > 0) & (totals > _NEAR * spread))
    if not far.size:
        return chances
    cut, sought = [(values[far], law[far], n) for values, law, n in groups], totals[far]
    span = np.max([np.ptp(values, axis=1) for values, _, _ in cut], axis=0)
    beyond = 1 / span
    for _ in range(_DOUBLINGS):
        short = _cumulants(cut, beyond)[1] < sought
        if not short.any():
            break
        beyond = np.where(short, 2 * beyond, beyond)
    least = np.zeros_like(beyond)
    for _ in range(_HALVINGS):
        middle = (least + beyond) / 2
        below = _cumulants(cut, middle)[1] < sought
        least, beyond = np.where(below, middle, least), np.where(below, beyond, middle)
    logarithm, _, curvature = _cumulants(cut, beyond)
    smallest = np.finfo(float).tiny
    root = np.sqrt(np.maximum(2 * (beyond * sought - logarithm), smallest))
    scale = -np.expm1(-beyond * span) / span * np.sqrt(np.maximum(curvature, smallest))
    bound = np.exp(-(root**2) / 2)  # Chernoff's, and the chance itself where no sum is larger
    chances[far] = np.clip(
        special.ndtr(-root) + bound / np.sqrt(2 * np.pi) * (1 / scale - 1 / root), 0.0, bound
    )
    return chances


def _cumulants(groups: Sequence[tuple[Array, Array, int]], tilt: Array) -> tuple[Array, Array, Array]:
    """(k,) logarithms of the moment-generating functions of the sums at ``tilt`` (k,), and their two derivatives."""
    logarithm, mean, variance = np.zeros((3, tilt.size))
    for values, law, n in groups:
        largest = values.max(axis=1)
        tilted = law * np.exp(tilt[:, None] * (values - largest[:, None]))
        mass = tilted.sum(axis=1)
        first, second = ((tilted * values**power).sum(axis=1) / mass for power in (1, 2))
        logarithm += n * (np.log(mass) + tilt * largest)
        mean += n * first
        variance += n * (second - first**2)
    return logarithm, mean, variance
