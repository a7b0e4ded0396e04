"""Everything in closed form about one set of collected reports."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rr_core._validate import Array
from rr_core.errors import Users
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import profile, table_size
from rr_core.registry import RULES
from rr_core.reports.intervals import AboveZero, Counts, Interval, above_zero, checked_counts, inv_interval
from rr_core.reports.nearest_estimate import Nearest, nearest


@dataclass(frozen=True, eq=False)
class Analysis:
    """One set of reports, analysed.

    Attributes:
        counts: (k,) reports per category.
        mechanism: the randomized response that produced them.
        level: probability of the intervals; the tests have familywise error 1 - level.
        users: whether the truth is that of these users ("fixed") or of their population ("sampled").
        estimates: (k,) by estimator.
        interval, simultaneous: for Inv, of each category and of all at once.
        above: the tests of each category against zero.
        nearest: which estimate is nearest to that truth.
    """

    counts: Counts
    mechanism: RandomizedResponse
    level: float
    users: Users
    estimates: dict[str, Array]
    interval: Interval
    simultaneous: Interval
    above: AboveZero
    nearest: Nearest

    @property
    def n(self) -> int:
        """Number of reports."""
        return int(self.counts.sum())


def analyse(
    counts: ArrayLike, mechanism: RandomizedResponse, level: float = 0.95, users: Users = "fixed"
) -> Analysis:
    """The four estimates, the intervals for Inv, the tests against zero, and which estimate is nearest to the truth.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response that produced them.
        level: probability of the intervals, between 0 and 1.
        users: "fixed" or "sampled", as in `errors.inv_variance`.

    Raises:
        ValueError: naming the argument.
    """
    checked = checked_counts(counts, mechanism)
    rows = checked[None]
    size = table_size(rows)
    levels = profile(rows, size)
    estimates = {name: make(levels, mechanism).apply(rows, size)[0] for name, make in RULES.items()}
    interval = inv_interval(checked, mechanism, level, users=users)
    together = inv_interval(checked, mechanism, level, users=users, simultaneous=True)
    above = above_zero(checked, mechanism, 1 - level)
    compared = nearest(checked, mechanism, users)
    return Analysis(checked, mechanism, level, users, estimates, interval, together, above, compared)
