"""Everything that is known about the reports in use. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pages._ui.your_reports.said import Said
from rr_core.comparison import Target
from rr_core.figures.view import Order, rank_order
from rr_core.io import Collected, Reports
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.analysis import Analysis
from rr_core.reports.epsilon_fit import FitTest, PlausibleEpsilon

LEAST = 100  # simulated collections, below which a test that was stopped says nothing


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
    """The test of epsilon; and the search for one that fits, None when it was not needed or not begun."""

    fit: FitTest
    plausible: PlausibleEpsilon | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing was cut short."""
        return self.fit.done == self.fit.requested and (self.plausible is None or self.plausible.finished)


@dataclass(frozen=True, eq=False)
class Results:
    """What the page says about the reports in use, for one level of confidence and one target.

    Attributes:
        level: of the intervals, for example 0.95.
        target: whose shares: "users", these very people, or "population", whom they were drawn from.
        simulated: about the reports alone: neither level nor target has anything to do with it.
    """

    used: Used
    level: float
    target: Target
    analysis: Analysis
    simulated: Simulated | None
