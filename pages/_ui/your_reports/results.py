"""Everything that is known about the reports in use. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pages._ui.tables import Collected, Reports
from pages._ui.your_reports.said import Said
from rr_core.collected.advice import Advice, advise
from rr_core.collected.analysis import Analysis
from rr_core.collected.bootstrap import Bootstrap
from rr_core.collected.fit import FitTest, PlausibleEpsilon
from rr_core.collected.held_out import HeldOut
from rr_core.collected.intervals import Interval
from rr_core.comparison import Target
from rr_core.figures.view import Order, rank_order
from rr_core.mechanism import RandomizedResponse

LEAST = 100  # simulated collections, below which a run that was stopped is of no use


@dataclass(frozen=True, eq=False)
class Used:
    """Reports in use.

    Attributes:
        reports: as they were read.
        collected: counts over the whole domain.
        mechanism: with the epsilon or p that the person gave.
        said: what the person said.
        name: of the files, or what else the reports are.
        key: tells this use from every other one in the session.
    """

    reports: Reports
    collected: Collected
    mechanism: RandomizedResponse
    said: Said
    name: str
    key: int

    @property
    def n(self) -> int:
        """Reports inside the domain."""
        return self.collected.total

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The k category names."""
        return tuple(self.collected.labels)

    @cached_property
    def by_reports(self) -> Order:
        """Categories from the most to the least reported."""
        return rank_order(self.collected.counts)


@dataclass(frozen=True, eq=False)
class Simulated:
    """What came of the simulations; a part is None when they were stopped before it, or had no need of it."""

    bootstrap: Bootstrap
    fit: FitTest | None = None
    plausible: PlausibleEpsilon | None = None
    held_out: HeldOut | None = None
    _intervals: dict[tuple[str, float, bool], Interval] = field(default_factory=dict)

    def interval(self, name: str, level: float, simultaneous: bool) -> Interval:
        """The interval of an estimator, worked out when it is first asked for."""
        about = (name, level, simultaneous)
        if about not in self._intervals:
            self._intervals[about] = self.bootstrap.interval(*about)
        return self._intervals[about]

    @cached_property
    def advice(self) -> Advice | HeldOut:
        """Which estimators have the smallest squared error, on reports held out where there were enough of them."""
        return self.held_out or self.advised("mse")

    def advised(self, metric: str) -> Advice:
        """Which estimators have the smallest mean error in the simulations, whose truth is MLE*."""
        return advise(self.bootstrap, metric)

    @property
    def finished(self) -> bool:
        """Whether no simulation was cut short."""
        parts = (self.bootstrap, self.fit)
        return all(part is not None and part.done == part.asked for part in parts)


@dataclass(frozen=True, eq=False)
class Results:
    """What the page says about the reports in use, for one level of confidence and one target.

    Attributes:
        level: of the intervals, for example 0.95.
        target: whose shares: "users", these very people, or "population", whom they were drawn from.
    """

    used: Used
    level: float
    target: Target
    analysis: Analysis
    simulated: Simulated | None

    @property
    def sampled(self) -> Simulated | None:
        """The simulations, when there are enough of them for intervals and advice."""
        enough = self.simulated is not None and self.simulated.bootstrap.done >= LEAST
        return self.simulated if enough else None
