"""Numbers that sum up one scenario in a line."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rr_core._validate import Array
from rr_core.errors import total_variation
from rr_core.estimators import inv
from rr_core.law import report_band
from rr_core.scenario import Draw

# Empty categories looked at, and time spent, when the share of negatives is observed over draws.
_CELLS = 300_000
_DRAWS = 200


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
        float(np.abs(change).sum() / 2 / draw.scenario.n),
        int(change[np.argmax(np.abs(change))]),
        float(inside.mean()),
    )


@dataclass(frozen=True)
class EmptyShare:
    """How often an empty category went negative in repeated draws: ``negative`` of ``looks``."""

    negative: int
    looks: int

    @property
    def share(self) -> float | None:
        return self.negative / self.looks if self.looks else None

    @property
    def in_words(self) -> str:
        if not self.looks:
            return "no category is empty"
        error = math.sqrt(self.negative * (self.looks - self.negative) / self.looks) / self.looks
        return f"{self.negative / self.looks:.2%} ± {error:.2%}"


def empty_negative_share(draw: Draw) -> EmptyShare:
    """Watch the categories that nobody has over repeated draws of the same users (up to 200, fewer at large k)."""
    empty = draw.true_counts == 0
    if not empty.any():
        return EmptyShare(0, 0)
    draws = max(1, min(_DRAWS, _CELLS // draw.scenario.k))
    _, reports = draw.repeat(0, draws)
    below = inv(reports, draw.mechanism)[:, empty] < 0
    return EmptyShare(int(below.sum()), int(below.size))


@dataclass(frozen=True)
class Closeness:
    """Share of the mass that is in the wrong place (total variation from the users' shares): in the raw
    ``reports``, and in the ``estimate``."""

    reports: float
    estimate: float


def closeness(draw: Draw, estimate: Array) -> Closeness:
    """How far the reports and an estimate are from the truth."""
    return Closeness(
        total_variation(draw.counts / draw.scenario.n, draw.theta), total_variation(estimate, draw.theta)
    )
