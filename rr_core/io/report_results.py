"""The results for one set of collected reports: what was read, the settings, the analysis, the table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rr_core.comparison import Target
from rr_core.io.domain import AS_WRITTEN, Collected, Names
from rr_core.io.reports import Reports
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.analysis import ALL_ROWS, Analysis, Rows
from rr_core.reports.epsilon_fit import FitTest, Simulations
from rr_core.reports.intervals import Interval

DomainKind = Literal["seen", "size", "listed"]
PrivacyKind = Literal["epsilon", "p", "redraw"]


@dataclass(frozen=True)
class ReportSettings:
    """Privacy and domain of the reports, as the user entered them.

    Attributes:
        privacy: the text that was typed.
        privacy_kind: its meaning: epsilon, p, or the probability of a uniform redraw.
        domain: how the categories are known: all "seen" in the files, by their number ("size"), or "listed".
        size: K, for "size".
        listed: the list as pasted, for "listed".
        names: which names are left out, and which are counted as others.
        swapped: whether the two answers are exchanged (K = 2, p below one half).
    """

    privacy: str = ""
    privacy_kind: PrivacyKind = "epsilon"
    domain: DomainKind | None = None
    size: int | None = None
    listed: str = ""
    names: Names = AS_WRITTEN
    swapped: bool = False

    @property
    def privacy_is_p(self) -> bool:
        """Whether the mechanism is constructed from p rather than from epsilon."""
        return self.privacy_kind == "p"


@dataclass(frozen=True, eq=False)
class ReportsInUse:
    """The reports that are analysed.

    Attributes:
        reports: as they were read.
        collected: counts over the whole domain.
        mechanism: with the epsilon or p of the settings.
        settings: as entered.
        name: of the files, or another display name.
        key: unique among the reports used in the session.
    """

    reports: Reports
    collected: Collected
    mechanism: RandomizedResponse
    settings: ReportSettings
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
    def by_reports(self) -> NDArray[np.intp]:
        """(k,) categories from the most to the least reported, ties in the order of the domain."""
        return np.argsort(-self.collected.counts, kind="stable")


@dataclass(frozen=True, eq=False)
class Results:
    """The analysis of the reports in use, for one level of confidence and one target.

    Attributes:
        used: the reports.
        level: of the intervals, for example 0.95.
        target: whose shares: "users", these very people, or "population", whom they were drawn from.
        analysis: estimates, intervals, tests.
        simulated: the test of epsilon, which depends on neither level nor target; None when it was not run.
    """

    used: ReportsInUse
    level: float
    target: Target
    analysis: Analysis
    simulated: Simulations | None

    @property
    def none_above_zero(self) -> bool:
        """Whether no category's share is significantly above zero."""
        return not self.analysis.above.above.any()

    @property
    def epsilon_test(self) -> FitTest | None:
        """The test of epsilon; None when it was not run, or stopped so early that it decides nothing."""
        test = self.simulated.fit if self.simulated is not None else None
        return test if test is not None and test.is_decisive else None

    @property
    def rejects_epsilon(self) -> bool:
        """Whether the test of epsilon was made and rejects the stated one."""
        test = self.epsilon_test
        return test is not None and test.rejects()

    @property
    def leading_estimator(self) -> str:
        """The estimator shown first: the one estimated to be nearest to the truth, but Inv where no share is
        significantly above zero, because the other three can then be far more even than the truth."""
        return "inv" if self.none_above_zero else self.analysis.nearest.preferred

    @property
    def recommended_estimator(self) -> str | None:
        """The estimator to report; None where epsilon is to be settled first."""
        return None if self.rejects_epsilon else self.leading_estimator

    def interval(self, *, simultaneous: bool) -> Interval:
        """The (k,) interval of Inv: of each category, or of all at once."""
        return self.analysis.simultaneous if simultaneous else self.analysis.interval

    def cut_interval(self, *, simultaneous: bool) -> Interval:
        """The same cut to [0, 1], shown beside every estimate."""
        return self.interval(simultaneous=simultaneous).cut()

    def columns(self, rows: Rows = ALL_ROWS) -> dict[str, NDArray[Any]]:
        """The table of results at full precision: names of categories, then `Analysis.columns`."""
        return {"category": self.used.collected.labels[rows], **self.analysis.columns(rows)}
