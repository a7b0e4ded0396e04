"""The results for one set of collected reports: what was read, the settings, the analysis, the table."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rr_core.comparison import Target
from rr_core.io.domain import AS_WRITTEN, Collected, Names
from rr_core.io.odd_names import summary_rows
from rr_core.io.people import People
from rr_core.io.reports import Reports, read_again
from rr_core.io.unary_reports import UnaryReports
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.plain_text import plain, some
from rr_core.reports.analysis import Analysis, ByGroup, Collecting
from rr_core.reports.by_group import Varied
from rr_core.reports.designs import Counted
from rr_core.reports.epsilon_fit import FitTest, Simulations
from rr_core.reports.intervals import Interval
from rr_core.reports.survey import Survey, Tallies, analyse_people, report_of_each

DomainKind = Literal["seen", "size", "listed"]
PrivacyKind = Literal["epsilon", "p", "redraw"]
K_RR = "k_rr"  # the key of the usual design
_LONGEST_STEM, _MOST_NAMED = 40, 12


@dataclass(frozen=True)
class ReportSettings:
    """How the reports were made and over which categories, as the user entered it.

    Attributes:
        privacy: the text that was typed.
        privacy_kind: its meaning: epsilon, p, or the probability of a uniform redraw.
        domain: how the categories are known: all "seen" in the files, by their number ("size"), or "listed".
        size: K, for "size".
        listed: the list as pasted, for "listed".
        names: which names are left out, and which are counted as others.
        design: key of `rr_core.reports.designs`; of others than k-RR ``names`` and ``stated`` are all there is.
        stated: name and value, in words, of each thing that another design was told.
        varied: the numbers that differ by group; None where none does.
    """

    privacy: str = ""
    privacy_kind: PrivacyKind = "epsilon"
    domain: DomainKind | None = None
    size: int | None = None
    listed: str = ""
    names: Names = AS_WRITTEN
    design: str = K_RR
    stated: tuple[tuple[str, str], ...] = ()
    varied: Varied | None = None


@dataclass(frozen=True, eq=False)
class ReportsInUse:
    """Reports with all that was said of them, ready to be analysed.

    Attributes:
        reports: as they were read.
        collected: names of the reports, in the order of the protocol, and how many there are of each; of unary
            encoding the categories and their ones.
        protocol: that made them, by the settings.
        settings: as entered.
        name: of the files, or another display name.
        key: unique among the reports used in the session.
        truths: names of the k categories; None: those of the reports.
        about: the category that is asked for; None for the most frequent one.
        unary: the reports of unary encoding; None for others.
        stated_n: number of reports, where the person had to say it.
        people: the reports by group, with weights; None where neither was asked for.
        by, weights: the columns of groups and of weights.
        inverse: whether the latter holds inclusion probabilities.
        of_groups: name and values, in words, of each number that differs by group.
    """

    reports: Reports
    collected: Collected
    protocol: Collecting | ByGroup
    settings: ReportSettings
    name: str = ""
    key: int = 0
    truths: tuple[str, ...] | None = None
    about: int | None = None
    unary: UnaryReports | None = None
    stated_n: int | None = None
    people: People | None = None
    by: tuple[str, ...] = ()
    weights: str | None = None
    inverse: bool = False
    of_groups: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_counted(
        cls, reports: Reports, left: Collected, counted: Counted, settings: ReportSettings
    ) -> ReportsInUse:
        """The answers that are ``left`` of the reports, as they are ``counted`` under a table of chances."""
        collected = replace(
            left,
            labels=np.array(counted.reports, dtype=object),
            counts=counted.counts,
            notes=(*left.notes, *counted.notes),
        )
        truths = None if counted.truths == counted.reports else counted.truths
        return cls(reports, collected, counted.channel, settings, truths=truths, about=counted.about)

    def with_people(
        self, people: People, by: tuple[str, ...], weights: str | None, inverse: bool
    ) -> ReportsInUse:
        """The same with the groups and weights of all people, and without those who have none."""
        counts = people.tallies.counts.sum(axis=0)[: len(self.collected.labels)]
        noted = read_again(self.reports.notes, weighted=weights is not None)
        return replace(
            self,
            reports=replace(self.reports, notes=noted),
            collected=replace(self.collected, counts=counts, notes=(*self.collected.notes, *people.notes)),
            people=people,
            by=by,
            weights=weights,
            inverse=inverse,
        )

    @property
    def stated(self) -> tuple[tuple[str, str], ...]:
        """Name and value, in words, of each thing that the design was told."""
        return (*self.settings.stated, *self.of_groups)

    @property
    def k(self) -> int:
        """Number of categories."""
        return self.protocol.k

    @property
    def n(self) -> int:
        """Reports inside the domain."""
        if self.unary is None:
            return self.collected.total
        if self.people is not None:  # some may have no group, or no weight
            return int(self.people.tallies.counts[:, -1].sum())
        return self.unary.n or self.stated_n or 0

    @property
    def tallies(self) -> Tallies:
        """The sums of people by group and report, as they are analysed."""
        if self.people is not None:
            return self.people.tallies
        return Tallies(self.collected.counts[None]) if self.unary is None else self.unary.tallies(self.n)

    @property
    def k_rr(self) -> RandomizedResponse | None:
        """The protocol where it is k-RR, else None."""
        return self.protocol if isinstance(self.protocol, RandomizedResponse) else None

    @property
    def weighted_by(self) -> str:
        """By which column the reports are weighted, in words that follow their number; "" without weights."""
        inverse = "1 divided by " if self.inverse else ""
        return f" weighted by {inverse}“{plain(self.weights, 40)}”" if self.weights else ""

    @property
    def by_reports(self) -> bool:
        """Whether a category with more reports has a larger share: k-RR without weights."""
        return self.k_rr is not None and not self.weights

    @property
    def asks_yes_or_no(self) -> bool:
        """Whether one share is asked for, of those who have it: the other one is what is left."""
        return self.about is not None and self.k == 2

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The k category names."""
        return self.truths or tuple(self.collected.labels)

    @cached_property
    def summaries(self) -> dict[str, str]:
        """Names of the rows among what is left out that are no reports, and what they hold, as `summary_rows`."""
        outside = self.collected.outside
        found = summary_rows(self.reports) if outside else {}
        return {name: found[name] for name, _ in outside if name in found}

    @cached_property
    def counts_by_category(self) -> NDArray[np.int64] | None:
        """(k,) reports, or ones, of each category; None where reports and categories are different things."""
        if self.truths is None:
            return self.collected.counts
        held = dict(zip(self.collected.labels.tolist(), self.collected.counts.tolist(), strict=True))
        same = held.keys() == {*self.truths}
        return np.array([held[name] for name in self.truths], dtype=np.int64) if same else None

    @property
    def report_of_category(self) -> tuple[int, ...] | None:
        """(k,) for each category the report of the same name; None where there are no such."""
        return report_of_each(self.labels, [str(name) for name in self.collected.labels])

    @property
    def counted(self) -> str:
        """What `counts_by_category` counts, in words: "reports" or "ones"."""
        return "reports" if self.unary is None else "ones"

    @property
    def source(self) -> str:
        """Where the reports come from, in words: the beginning of a sentence, or the name alone."""
        read = self.reports
        if read.columns:
            named = some([f"“{plain(one)}”" for one in read.columns], _MOST_NAMED)
            return f"The columns {named} of {self.name}"
        if not read.has_header or plain(read.files[0].name) not in self.name:
            return self.name
        counted = "" if read.count_name is None else f", counted by its column “{plain(read.count_name, 80)}”"
        return f"The column “{plain(read.category_name, 80)}” of {self.name}{counted}"

    @property
    def stem(self) -> str:
        """The beginning of the names of its files."""
        name = re.sub(r"\.[^.]*$|\.[^.]*\.gz$", "", self.reports.files[0].name) if self.reports.files else ""
        return re.sub(r"[^\w-]+", "_", name, flags=re.ASCII).strip("_")[:_LONGEST_STEM] or "reports"


@dataclass(frozen=True, eq=False)
class Results:
    """The analysis of the reports in use, for one level of confidence and one target.

    Attributes:
        used: the reports.
        level: of the intervals, for example 0.95.
        target: whose shares: "users", these very people, or "population", whom they were drawn from.
        analysis: estimates, intervals, tests.
        simulated: the test of epsilon, which depends on neither level nor target; None when it was not run.
        survey: the analyses of all groups; None without groups.
    """

    used: ReportsInUse
    level: float
    target: Target
    analysis: Analysis
    simulated: Simulations | None = None
    survey: Survey | None = None

    @classmethod
    def of(cls, used: ReportsInUse, level: float, users: Users, tallies: Tallies | None = None) -> Results:
        """The analysis of these reports, without simulations; of other ``tallies`` where they are given."""
        together, survey = analyse_people(
            used.tallies if tallies is None else tallies,
            used.protocol,
            used.labels,
            ("",) if used.people is None else used.people.groups,
            level,
            users,
            used.report_of_category,
            by_group=bool(used.by),
        )
        (found,) = together.analyses
        return cls(used, level, "users" if found.users == "fixed" else "population", found, None, survey)

    @property
    def people(self) -> float | None:
        """How many people the shares are of; None where weights sum to less than the reports: proportions only."""
        people = self.analysis.people
        return people if people >= self.analysis.n * (1 - 1e-9) else None

    @property
    def epsilon_test(self) -> FitTest | None:
        """The simulated test of k-RR's epsilon; None when it was not run, or stopped so early that it decides nothing."""
        test = self.simulated.fit if self.simulated is not None else None
        return test if test is not None and test.is_decisive else None

    @property
    def rejects_epsilon(self) -> bool:
        """Whether a test of fit was made and rejects what was stated."""
        if self.analysis.fit is not None:
            return self.analysis.fit.rejected
        test = self.epsilon_test
        return test is not None and test.rejects()

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """(k,) categories from the largest share down, ties in the order of the domain; a truth asked for first."""
        about = self.used.about
        if about is not None:
            return np.array([about, *(i for i in range(self.used.k) if i != about)], dtype=np.intp)
        name = (
            "inv" if self.used.k_rr else self.analysis.leading
        )  # the repairs keep the order of Inv, but for zeros
        by = self.used.collected.counts if self.used.by_reports else self.analysis.estimates[name]
        return np.argsort(-by, kind="stable")

    def interval(self, *, simultaneous: bool) -> Interval | None:
        """The (k,) interval of Inv: of each category, or of all at once; None where there is none."""
        return self.analysis.simultaneous if simultaneous else self.analysis.interval

    def columns(self) -> dict[str, Any]:
        """The table of results at full precision, of all people."""
        return Survey(self.used.labels, ("",), (self.analysis,), order=self.used.report_of_category).table()
