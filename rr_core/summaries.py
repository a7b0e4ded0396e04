"""Numbers that sum up one scenario in a line."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rr_core._validate import Array
from rr_core.comparison import ULPS
from rr_core.law import most_negative, negative_chances, report_band
from rr_core.metrics import total_variation
from rr_core.scenario import Draw
from rr_core.simulate import Collector
from rr_core.streams import Stream

# Empty categories looked at, and time spent, when the share of negatives is observed over draws.
_CELLS = 300_000
_DRAWS = 1000


@dataclass(frozen=True)
class NoiseSummary:
    """What the noise did to one histogram.

    Attributes:
        truthful: p, the chance that a report is the truth.
        moved: half the sum of |reports - true counts|, over N: total variation between the two.
        largest_change: reports minus true count where that is largest in size.
        inside_band: share of categories whose reports lie in their 95% band.
    """

    truthful: float
    moved: float
    largest_change: int
    inside_band: float


def noise_summary(draw: Draw) -> NoiseSummary:
    """Compare a draw's reports with its true counts."""
    change = draw.counts - draw.true_counts
    # The band depends on the true count alone: one quantile per distinct true count.
    distinct, where = np.unique(draw.true_counts, return_inverse=True)
    band = report_band(distinct, draw.scenario.n, draw.mechanism)
    inside = (draw.counts >= band.low[where]) & (draw.counts <= band.high[where])
    return NoiseSummary(
        draw.mechanism.p,
        _moved(draw),
        int(change[np.argmax(np.abs(change))]),
        float(inside.mean()),
    )


@dataclass(frozen=True)
class EmptyShare:
    """How often an empty category went negative in repeated draws: ``negative`` of ``looks``.

    ``emptied`` is True when no category was empty and the rarest one was emptied to look at.
    """

    negative: int
    looks: int
    emptied: bool

    @property
    def share(self) -> float:
        return self.negative / self.looks

    def standard_error(self, chance: float) -> float:
        """Standard error of the share, at most: that of as many independent looks, when the exact ``chance`` is known.
        Counts of one collection sum to N, so its looks are negatively associated and their mean varies less. (The share
        would not do in place of the chance: after a single look it says 0 or 1, without any error.)"""
        return math.sqrt(chance * (1 - chance) / self.looks)


def empty_negative_share(draw: Draw) -> EmptyShare:
    """Watch categories that nobody has over repeated draws of the same users (up to 1,000 draws, fewer at
    large k). Where everybody's category is in use, the users of the rarest one are given to the commonest."""
    draws = max(1, min(_DRAWS, _CELLS // draw.scenario.k))
    truth = draw.true_counts
    emptied = not (truth == 0).any()
    if emptied:
        truth = truth.copy()
        rarest = int(truth.argmin())
        moved, truth[rarest] = truth[rarest], 0
        truth[truth.argmax()] += moved
    collector = Collector.fixed(
        truth, draw.mechanism, lambda _: draw.scenario.stream(Stream.EMPTY), rows=draws
    )
    below = collector.draw(0, draws).reports[:, truth == 0] <= most_negative(draw.scenario.n, draw.mechanism)
    return EmptyShare(int(below.sum()), int(below.size), emptied)


@dataclass(frozen=True)
class ExpectedNegatives:
    """How many categories Inv makes negative on average over collections, by the law of the reports.

    Attributes:
        n: number of users.
        of_held, of_empty: how many categories somebody has, and nobody has.
        held, empty: how many of each are expected below zero.
    """

    n: int
    of_held: int
    of_empty: int
    held: float
    empty: float


def expected_negatives(draw: Draw, times: int = 1) -> ExpectedNegatives:
    """For a draw's users, or for ``times`` as many with the same shares."""
    n, (users, categories) = draw.scenario.n * times, np.unique(draw.true_counts, return_counts=True)
    expected, has = categories * negative_chances(users * times, n, draw.mechanism), users > 0
    return ExpectedNegatives(
        n,
        int(categories[has].sum()),
        int(categories[~has].sum()),
        float(expected[has].sum()),
        float(expected[~has].sum()),
    )


@dataclass(frozen=True)
class Closeness:
    """Share of the mass that is in the wrong place (total variation from the users' shares): in the raw
    ``reports``, and in the ``estimate``."""

    reports: float
    estimate: float


def closeness(draw: Draw, estimate: Array) -> Closeness:
    """Total variation of reports and estimate from the truth; a distance of 0 or 1 but for rounding is made so."""
    distance = float(total_variation(estimate, draw.theta))
    whole = float(round(distance))
    return Closeness(_moved(draw), whole if abs(distance - whole) <= ULPS else distance)


def _moved(draw: Draw) -> float:
    """Total variation between reports and true counts, as shares: whole numbers are subtracted before the division."""
    return float(np.abs(draw.counts - draw.true_counts).sum() / 2 / draw.scenario.n)
