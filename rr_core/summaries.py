"""Numbers that sum up one scenario in a line."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rr_core import _validate
from rr_core.law import most_negative, negative_chances, report_band
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
        moved: total variation between reports and true counts: half the sum of |reports - true counts|, over N.
        largest_change: reports minus true count in the category where its absolute value is largest.
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
        float(np.abs(change).sum() / 2 / draw.scenario.n),  # whole numbers are subtracted before the division
        int(change[np.argmax(np.abs(change))]),
        float(inside.mean()),
    )


@dataclass(frozen=True)
class EmptyShare:
    """How often Inv was negative for empty categories in repeated draws: in ``negative`` of ``looks``
    observations, one per empty category and draw.

    ``emptied`` is True when no category was empty, so that the rarest one was emptied for the simulation.
    """

    negative: int
    looks: int
    emptied: bool

    @property
    def share(self) -> float:
        return self.negative / self.looks

    def standard_error(self, chance: float) -> float:
        """Upper bound on the standard error of the share, sqrt(chance (1 - chance) / looks), for the exact
        ``chance``. The counts of one collection sum to N, so its observations are negatively associated and
        their mean varies less than that of independent ones. (With the observed share in place of ``chance``
        the error of one observation would be 0.)"""
        if not 0 <= (chance := _validate.real("chance", chance, "a number from 0 to 1")) <= 1:
            raise ValueError(f"chance must be a number from 0 to 1, got {chance!r}")
        return math.sqrt(chance * (1 - chance) / self.looks)


def empty_negative_share(draw: Draw) -> EmptyShare:
    """Share of empty categories that are negative in repeated draws of the same users (up to 1,000 draws,
    fewer at large k). Where no category is empty, the users of the rarest one are moved to the most frequent
    one."""
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
        of_held, of_empty: number of categories with users, and without.
        held, empty: expected number of negative entries among each.
    """

    n: int
    of_held: int
    of_empty: int
    held: float
    empty: float


def expected_negatives(draw: Draw, times: int = 1) -> ExpectedNegatives:
    """Expected number of negatives for the users of a draw, or for ``times`` as many with the same shares."""
    times = _validate.integer("times", times, 1)
    n, (users, categories) = draw.scenario.n * times, np.unique(draw.true_counts, return_counts=True)
    expected, has = categories * negative_chances(users * times, n, draw.mechanism), users > 0
    return ExpectedNegatives(
        n,
        int(categories[has].sum()),
        int(categories[~has].sum()),
        float(expected[has].sum()),
        float(expected[~has].sum()),
    )
