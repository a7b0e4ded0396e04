"""Reports of a survey: by group, and with weights, of any design.

Without weights each group is one set of reports, and is analysed as such. With weights w_i the shares of the reports are
s_j = sum of the weights of those who reported j, divided by the sum of all, and Inv, InvN, InvP and the maximum of the
(pseudo-)likelihood are taken at s. Inv is linear: the part of person i in it is z_i = w_i (a(j_i) - Inv)/W, with a(j)
what a report j adds to Inv and W the sum of the weights. By linearisation the variance is that of the sum of the z_i
under sampling with replacement of primary units from strata,

    V = sum over strata h of n_h/(n_h - 1) sum over units c of (z_hc - mean of stratum h)^2,

with z_hc the sum over unit c, those outside the group counted as 0 (S. L. Lohr, Sampling: Design and Analysis, 2nd
edition 2010, sections 9.1, 9.3 and 14.2). The noise of the design is in it: a report is drawn anew for each person, as
the person is. The truth meant is that of the population. For k-RR, where a share of the reports alone determines an
estimate, its interval is Wilson's with the effective number of reports, n_eff = s (1 - s)/Var(s); those of all at once
are Clopper and Pearson's (E. L. Korn and B. I. Graubard, Survey Methodology 24, 1998), with Kish's number at most.
Quantiles are Student's t's with (units - strata) degrees of freedom, of those that have people of the group; those of
differences are Welch's. Groups in the same primary units vary together: the variance of their difference is that of the
difference of their z_hc. A stratum of one unit has no variance of its own: its sum is set against 0, the mean of all.
Where few reports of some kind are expected, the variance is at least that of the design with Kish's number of people:
who reports rarely may not have been seen. (Without this, intervals of tables of chances for all categories at once held
in 0 to 35% of simulated collections, and in up to two thirds of them two groups that are alike were said to differ.)
The tests against zero and of fit are those without weights: a category that nobody has is reported by chance alone,
whomever the people stand for. (By a normal law of the weighted shares at k = 5,000, 1.4 expected reports each and weights
from 0.5 to 3, 197 of 200 simulated collections called a category above zero that nobody had; the exact test may in 5%.)

Of unary encoding s_c is the share of the weights of those who reported a one for category c: it alone determines Inv, as
for k-RR, and what is said above holds of each category. A person may report several ones, so sums over ones come with
the sum over all people.

Whether all groups are alike is tested in `rr_core.reports.alike`. Groups whose reports were made differently:
`rr_core.reports.by_group`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.metrics import Users
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_channel, mle_channel
from rr_core.protocols.unary import (
    Bits,
    UnaryEncoding,
    as_support,
    checked_bits,
    row_blocks,
)
from rr_core.registry import ESTIMATORS
from rr_core.reports.alike import Weighted, alike, alike_bits
from rr_core.reports.analysis import (
    Analysis,
    ByGroup,
    Collecting,
    analyse,
    intervals_of_inv,
    of_ones,
    variance_of_inv,
)
from rr_core.reports.by_group import added_up, alike_designs, by_chance, repaired, squared, total
from rr_core.reports.intervals import AboveZero, Interval, clopper_pearson, holm, wilson
from rr_core.reports.protocol_fit import LEAST_EXPECTED, fit_of_unary
from rr_core.rounding import p_of_file

MOST_GROUPS = 200
_MOST_OF_UNITS = 50_000_000  # numbers that are held: primary units times reports
_LARGEST = 1e100  # sum of weights
_USERS: Users = "sampled"  # with weights the truth is that of their population
_ENOUGH = 50.0  # expected reports, from which on the variance by linearisation is off by a seventh or less


@dataclass(frozen=True, eq=False)
class WeightedAnalysis(Analysis):
    """Weighted reports, analysed. ``counts`` are numbers of people, ``estimates`` those of the weights.

    Attributes:
        design_effects: (k,) variance of Inv as a multiple of that of a simple random sample of as many people.
        variance: (k,) variance of Inv, by linearisation; None, as the former, where there is no Inv.
        by_design: (k,) that of as many unweighted reports as Kish's number, where fewer than `_ENOUGH` of some kind
            are expected; else None.
        degrees_of_freedom: primary units less strata, of those that have these people.
        sum_of_weights: of these people: how many of the population they stand for.
        kish: Kish's number of people, (sum of weights)^2 over the sum of their squares.
    """

    design_effects: Array | None = None
    variance: Array | None = None
    by_design: Array | None = None
    degrees_of_freedom: int = 0
    sum_of_weights: float = math.nan
    kish: float = math.nan

    @property
    def people(self) -> float:
        """The sum of the weights."""
        return self.sum_of_weights

    @property
    def least_variance(self) -> Array:
        """(k,) what the variance of Inv is at least: `by_design`, or 0."""
        return np.zeros(self.k) if self.by_design is None else self.by_design

    def columns(self) -> dict[str, NDArray[Any]]:
        """`Analysis.columns`, and "design_effect"."""
        effects = {} if self.design_effects is None else {"design_effect": self.design_effects}
        return {**super().columns(), **effects}

    def variance_of_inv(self) -> Array:
        """(k,) by linearisation; where few reports of some kind are expected, at least `least_variance`."""
        assert self.variance is not None
        return np.maximum(self.variance, self.least_variance)


@dataclass(frozen=True, eq=False)
class Sample:
    """Who reported what, person by person, or a row for several who reported alike.

    Attributes:
        reports: (n,) from 0 to m - 1; of unary encoding (n, k) of 0 and 1.
        groups: (n,) from 0 to g - 1; None for one group.
        weights: (n,) numbers >= 0, of several people their sum; None where all count once.
        strata, units: (n,) strata, and primary sampling units, each in one stratum; from 0. None for one stratum, and
            where each person is a unit.
        people, squares: (n,) how many people a row stands for, and sums of the squares of their weights; None for one
            each.
    """

    reports: NDArray[np.integer]
    groups: NDArray[np.integer] | None = None
    weights: Array | None = None
    strata: NDArray[np.integer] | None = None
    units: NDArray[np.integer] | None = None
    people: NDArray[np.integer] | None = None
    squares: Array | None = None

    def tallies(self, m: int) -> Tallies:
        """The sums of these people over m reports, or of unary encoding over m bits."""
        groups = np.zeros(len(self.reports), dtype=np.int64) if self.groups is None else self.groups
        g, rows = int(groups.max(initial=0)) + 1, self if self.reports.ndim == 2 else None
        counts = _sums(self.reports, groups, g, self.people, m).astype(np.int64)
        if self.weights is None:
            return Tallies(counts, rows=rows)
        with np.errstate(over="ignore"):  # of what is refused later
            squares = self.weights**2 if self.squares is None else self.squares
            first, second = (_sums(self.reports, groups, g, of, m) for of in (self.weights, squares))
        return Tallies(counts, first, second, rows)


def _sums(
    reports: NDArray[np.integer], cells: NDArray[np.integer], n_cells: int, of: NDArray[Any] | None, m: int
) -> Array:
    """(c, m) sums by cell and report of what each row has, by default 1; of bits (c, m + 1), with those of all rows."""
    if reports.ndim == 1:
        at = cells.astype(np.int64) * m + reports
        return np.bincount(at, of, n_cells * m).reshape(n_cells, m).astype(np.float64)
    each = np.ones(len(reports)) if of is None else of
    sums = np.zeros((n_cells, m + 1))
    sums[:, m] = np.bincount(cells, each, n_cells)
    for rows in row_blocks(*reports.shape):
        block = reports[rows].astype(np.float64)
        of_rows = each[rows], (cells[rows], np.arange(len(block)))
        sums[:, :m] += scipy.sparse.csr_array(of_rows, (n_cells, len(block))) @ block
    return sums


@dataclass(frozen=True, eq=False)
class Tallies:
    """Sums over people by group and report, which is all that an analysis needs where each person is a unit. Of unary
    encoding the sums are over those with a one, and have one more column: of all people.

    Attributes:
        counts: (g, m) people.
        weights, squares: (g, m) sums of their weights, and of the squares; None where all count once.
        rows: the reports of unary encoding, for the maximum of the likelihood; None where only their ones are known.
        whole: the same of all groups as one, where it was added up from the rows; None: it is the sum of the groups.
    """

    counts: NDArray[np.int64]
    weights: Array | None = None
    squares: Array | None = None
    rows: Sample | None = None
    whole: Tallies | None = None

    def together(self) -> Tallies:
        """The same of all groups as one."""
        if self.whole is not None:
            return self.whole
        rows, counts = None if self.rows is None else replace(self.rows, groups=None), self.counts
        weights, squares = (
            None if part is None else part.sum(axis=0, keepdims=True) for part in (self.weights, self.squares)
        )
        return Tallies(counts.sum(axis=0, keepdims=True), weights, squares, rows)

    def bits_of(self, group: int | None, *, weighted: bool = True) -> tuple[Bits, NDArray[Any]] | None:
        """The bits of a group, or of all (None), (r, k), and how often each occurred, or their weights."""
        rows = self.rows
        if rows is None:
            return None
        mine = slice(None) if rows.groups is None or group is None else rows.groups == group
        each: NDArray[Any] | None = rows.weights if weighted and rows.weights is not None else rows.people
        if each is None:
            each = np.ones(len(rows.reports), dtype=np.int64)
        bits: Any = rows.reports[mine].astype(np.uint8, copy=False)
        return bits, each[mine]


@dataclass(frozen=True, eq=False)
class Survey:
    """The analyses of all groups.

    Attributes:
        categories: k names.
        groups: g names; one of "" where there are no groups.
        analyses: of each group.
        alike: p-value of the test that all groups are alike; None for one group, or where the design does not tell the
            truths apart.
        alike_by_chance: of how many simulated tables ``alike`` is the share; 0 where it is none.
        order: (k,) for each category the report of the same name, -1 where there is none; None where there are no such.
        together: the analysis of all people, where groups have designs of their own; None where one made all reports.
        variance_of_difference: (k,) that of the difference of the Inv of two groups, by their positions, where strata or
            primary units have people of both; None where groups are independent.
    """

    categories: tuple[str, ...]
    groups: tuple[str, ...]
    analyses: tuple[Analysis, ...]
    alike: float | None = None
    alike_by_chance: int = 0
    order: tuple[int, ...] | None = None
    together: Analysis | None = None
    variance_of_difference: Callable[[int, int], Array] | None = None

    @property
    def reports(self) -> NDArray[np.int64]:
        """(g, m) people by what they reported; of unary encoding (g, k) by the ones of their reports."""
        return np.array([one.counts for one in self.analyses], dtype=np.int64)

    def columns(self) -> dict[str, NDArray[np.generic] | list[str]]:
        """One row for each group and category: "group" (where there are groups), "category", "reports" (people who
        reported it; -1 where no report has its name), then `Analysis.columns`, and `differences` from the first group."""
        k, several = len(self.categories), self.groups != ("",)
        columns: dict[str, NDArray[np.generic] | list[str]] = {}
        if several:
            columns["group"] = [name for name in self.groups for _ in range(k)]
        columns["category"] = list(self.categories) * len(self.groups)
        order = np.full(k, -1) if self.order is None else np.array(self.order)
        columns["reports"] = np.concatenate([np.where(order < 0, -1, row[order]) for row in self.reports])
        each = [one.columns() for one in self.analyses]
        columns |= {name: np.concatenate([one[name] for one in each]) for name in each[0]}
        gaps = self.differences()
        gaps |= {name: p_of_file(gaps[name]) for name in gaps if name.startswith("p_")}
        return columns | {f"difference_{name}": values.ravel() for name, values in gaps.items()}

    def of_all(self) -> Survey:
        """Of all people alone, where groups have designs of their own."""
        if self.together is None:
            raise ValueError("groups must have designs of their own, and one made all of these reports")
        return Survey(self.categories, ("",), (self.together,), order=self.order)

    def table(self) -> dict[str, Any]:
        """`columns` for a file, None in place of numbers that there are not."""
        columns: dict[str, Any] = dict(self.columns())
        columns["reports"] = [None if number < 0 else number for number in columns["reports"].tolist()]
        for name in filter(lambda name: name.startswith("difference_"), columns):
            columns[name] = [None if math.isnan(gap) else gap for gap in columns[name].tolist()]
        return columns

    def frame(self) -> Any:
        """`columns` as a pandas data frame.

        Raises:
            ImportError: pandas is not there.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("a data frame needs pandas: pip install 'rr_core[io]'") from None
        return pd.DataFrame(self.columns())

    @property
    def estimates(self) -> dict[str, Array]:
        """(k,) by name, of all people together.

        Raises:
            ValueError: there are several groups, with an analysis each in ``analyses``.
        """
        if len(self.analyses) != 1:
            raise ValueError(f"estimates must be of one group, got {len(self.analyses)}: see analyses")
        return self.analyses[0].estimates

    def intervals(self, *, simultaneous: bool = False) -> list[Interval]:
        """Those of Inv in all groups, cut to [0, 1] but where one lies wholly outside; none where there is no Inv."""
        each = [one.simultaneous if simultaneous else one.interval for one in self.analyses]
        return [] if None in each else [one.cut_unless_outside() for one in each if one is not None]

    def differences(self, first: int = 0) -> dict[str, Array]:
        """(g, k) by name, of each group as in `difference`: "from_first" (the share by Inv less that of the ``first``
        one, whose own row is nan), "low" and "high" at the level of the analyses, "p_value", and "p_holm", corrected in
        each category for all groups. Nothing where there is no Inv, or one group."""
        if len(self.groups) < 2 or any(one.interval is None for one in self.analyses):
            return {}
        first = _validate.integer("first", first, 0, len(self.groups) - 1)
        gaps = [self.difference(group, first, self.analyses[0].level) for group in range(len(self.groups))]
        found = {name: np.stack([gap[name] for gap in gaps]) for name in gaps[0]}
        others = np.arange(len(gaps)) != first
        found["p_holm"][others] = holm(found["p_value"][others])
        for values in found.values():
            values[first] = np.nan
        return {"from_first": found.pop("difference"), **found}

    def difference(self, one: int, other: int, level: float = 0.95) -> dict[str, Array]:
        """(k,) difference of the shares of two groups by Inv, "difference", with its interval, "low" and "high", and
        the p-value that there is none, "p_value", by the normal law, with weights Student's; by Holm's method for all
        categories "p_holm".

        Args:
            one, other: positions of the groups, whose people are others; the first less the second.
            level: probability of the intervals, between 0 and 1.

        Raises:
            ValueError: naming the argument, or where there is no Inv.
        """
        level = _validate.fraction("level", level)
        last = len(self.groups) - 1
        first, second = (
            self.analyses[_validate.integer(name, index, 0, last)]
            for name, index in (("one", one), ("other", other))
        )
        if first.interval is None or second.interval is None:
            raise ValueError("the design must tell the truths apart, and this one does not")
        gap = first.estimates["inv"] - second.estimates["inv"]
        variances = np.array([first.variance_of_inv(), second.variance_of_inv()])
        variance, numbers = variances.sum(axis=0), np.array([[first.n], [second.n]], dtype=float)
        # Quantile and distribution function: SciPy's distribution objects take most of the time for a few categories.
        quantile, below = special.ndtri, special.ndtr
        if isinstance(first, WeightedAnalysis) and isinstance(second, WeightedAnalysis):
            numbers = np.array([[first.kish], [second.kish]])
            of_each = np.array([[first.degrees_of_freedom], [second.degrees_of_freedom]])
            shared = variance**2 / np.where(variance > 0, (variances**2 / of_each).sum(axis=0), 1.0)
            df = np.where(variance > 0, shared, of_each.min())
            quantile, below = partial(special.stdtrit, df), partial(special.stdtr, df)
            if self.variance_of_difference is not None:
                together = self.variance_of_difference(one, other)
                least = first.least_variance + second.least_variance
                variance = np.where(together > 0, np.maximum(together, least), variance)
        spread = np.sqrt(variance)
        half = -quantile((1 - level) / 2) * spread
        if first.protocol is second.protocol and (first.few or second.few):
            # A small group without a report of a category has a small variance; if there is no difference, both have one
            # variance for each person.
            pooled = (numbers**2 * variances).sum(axis=0) / numbers.sum() * (1 / numbers).sum()
            spread = np.sqrt(np.maximum(variance, pooled))
        tails = 2 * below(-np.abs(gap) / np.where(spread > 0, spread, 1.0))
        p_values = np.where(spread > 0, tails, np.where(gap == 0, 1.0, 0.0))
        return {
            "difference": gap,
            "low": gap - half,
            "high": gap + half,
            "p_value": p_values,
            "p_holm": holm(p_values),
        }


def analyse_groups(
    people: Sample | Tallies | ArrayLike,
    protocol: Collecting | ByGroup,
    categories: Sequence[str],
    groups: Sequence[str] = ("",),
    level: float = 0.95,
    users: Users = "fixed",
    order: Sequence[int] | None = None,
) -> Survey:
    """Analyse people's reports, in all groups.

    Args:
        people: who reported what, the sums of that, or (g, m) counted reports.
        protocol: the design, or those of the groups.
        categories: k names of the truths.
        groups: g names, `MOST_GROUPS` at most.
        level: probability of the intervals, between 0 and 1.
        users: whether the truth is that of these people ("fixed") or of their population ("sampled"), which it is with
            weights.
        order: (k,) for each category the report of the same name, -1 for none.

    Raises:
        ValueError: naming the argument.

    >>> people = Sample(np.repeat([0, 1, 0, 1], [360, 640, 500, 500]), np.repeat([0, 1], 1000))
    >>> found = analyse_groups(people, Channel.warner(0.2), ("no", "yes"), ("north", "south"))
    >>> [one.estimates["inv"].round(3).tolist() for one in found.analyses], found.alike < 1e-8
    ([[0.733, 0.267], [0.5, 0.5]], True)
    """
    designs = protocol.designs if isinstance(protocol, ByGroup) else (protocol,) * len(groups)
    if len(designs) != len(groups):
        raise ValueError(
            f"protocol must have one design for each of {len(groups)} groups, got {len(designs)}"
        )
    kind = protocol.designs[0] if isinstance(protocol, ByGroup) else protocol
    unary = isinstance(kind, UnaryEncoding)
    if isinstance(people, Sample):
        if unary:
            people = replace(people, reports=checked_bits("reports", people.reports, protocol.k))
        tallies = people.tallies(kind.m if isinstance(kind, Channel) else kind.k)
    else:
        tallies = people if isinstance(people, Tallies) else Tallies(_validate.numbers("counts", people))
    counts: NDArray[Any] = tallies.counts
    if counts.ndim != 2:
        raise ValueError(f"counts must have shape (g, m), got {counts.shape}")
    with np.errstate(over="ignore"):  # of what is refused later
        sizes = counts[:, -1] if unary else counts.sum(axis=1)
    _check_groups(sizes, groups)
    if unary:
        counts = counts[:, :-1]
    bits = [tallies.bits_of(group) if tallies.weights is None else None for group in range(len(groups))]
    # With weights, too: what nobody has is reported by chance, and reports fit what made them or not, whomever the people
    # stand for.
    unweighted = [
        analyse(row, designs[group], level, users, n=int(n), bits=bits[group])
        if unary
        else analyse(row, designs[group], level, users)
        for group, (row, n) in enumerate(zip(counts, sizes, strict=True))
    ]
    analyses: Sequence[Analysis] = unweighted
    weighed, by_weight = None, list[WeightedAnalysis]()
    layered = people if isinstance(people, Sample) and not (people.strata is people.units is None) else None
    if tallies.weights is not None:
        weighed = _Weighed.of(tallies, layered, unary=unary)
        by_weight = [_weighted(weighed, group, one, tallies) for group, one in enumerate(unweighted)]
        analyses = by_weight
    counts, sizes = counts.astype(np.int64), sizes.astype(np.int64)
    p_value, simulated, together, difference = None, 0, None, None
    if isinstance(protocol, ByGroup):
        of_weights: Any = ()
        if weighed is None:
            together = total(analyses, protocol)
        else:
            together = _weighted_total(weighed, by_weight, unweighted, protocol)
            of_sum = partial(weighed.variance_of_sum, made=designs)
            of_weights = (
                np.array([one.variance_of_inv() for one in analyses]),
                of_sum,
                weighed.degrees_of_freedom(),
            )
        if len(groups) > 1:
            inv_of = np.array([one.estimates["inv"] for one in analyses])
            p_value, simulated = alike_designs(inv_of, sizes, protocol, *of_weights)
    elif len(groups) > 1:
        weighted = None if weighed is None else _compared(weighed, by_weight, sizes)
        if isinstance(protocol, UnaryEncoding):
            p_value, simulated = alike_bits(counts, sizes, protocol, weighted)
        elif getattr(protocol, "identified", True):
            p_value, simulated = alike(counts, weighted)
    if weighed is not None and layered:
        difference = partial(_variance_of_difference, weighed, designs)
    places = None if order is None else tuple(order)
    names = tuple(categories), tuple(groups)
    return Survey(*names, tuple(analyses), p_value, simulated, places, together, difference)


def analyse_people(
    tallies: Tallies,
    protocol: Collecting | ByGroup,
    categories: Sequence[str],
    groups: Sequence[str] = ("",),
    level: float = 0.95,
    users: Users = "fixed",
    order: Sequence[int] | None = None,
    *,
    by_group: bool,
) -> tuple[Survey, Survey | None]:
    """All people together, and each of their groups where that is wanted; arguments as in `analyse_groups`."""
    survey = None
    if by_group or isinstance(protocol, ByGroup):
        survey = analyse_groups(tallies, protocol, categories, groups, level, users, order)
    if survey is not None and survey.together is not None:
        together = survey.of_all()
    else:
        together = analyse_groups(tallies.together(), protocol, categories, ("",), level, users, order)
    return together, survey if by_group else None


def _compared(weighed: _Weighed, analyses: Sequence[WeightedAnalysis], sizes: NDArray[np.int64]) -> Weighted:
    """What the test of alike groups takes of weights; with few reports, variances are at least the design's."""
    part = sizes[:, None] / sizes.sum()
    of_shares = np.array([weighed.variance(group) for group in range(len(analyses))])
    overall = (part * weighed.shares()).sum(axis=0)
    few = np.array([one.by_design is not None for one in analyses])[:, None]
    of_people = overall * (1 - overall) / np.array([[one.kish] for one in analyses])
    more = np.where(few, np.maximum(of_people - of_shares, 0.0), 0.0)
    of_sum = weighed.variance_of_sum(part) + (part**2 * more).sum(axis=0)
    return weighed.shares(), of_shares + more, of_sum, weighed.degrees_of_freedom()


def _variance_of_difference(weighed: _Weighed, designs: Sequence[Collecting], one: int, other: int) -> Array:
    parts = np.zeros((len(designs), 1))
    parts[one], parts[other] = 1.0, -1.0
    return weighed.variance_of_sum(parts, designs)


def _check_groups(sizes: NDArray[Any], groups: Sequence[str]) -> None:
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"groups must be at most {MOST_GROUPS}, got {len(groups):,}")
    if len(sizes) != len(groups) or not sizes.all():
        raise ValueError(
            f"groups must have a report each, got {len(groups)} names and {_validate.short(sizes)}"
        )


def report_of_each(categories: Sequence[str], reports: Sequence[str]) -> tuple[int, ...] | None:
    """(k,) for each category the report of the same name; None where the two are other names.

    >>> report_of_each(("no", "yes"), ("yes", "no")), report_of_each(("no", "yes"), ("same", "different"))
    ((1, 0), None)
    """
    places = {name: place for place, name in enumerate(reports)}
    return tuple(places[name] for name in categories) if places.keys() == {*categories} else None


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Sums of weights that variances are made of: of each report or one, and in a last column of all people.

    Attributes:
        groups: (g, m + 1) sums of the weights of each group, and of their squares, the next one.
        units: (u,) people, or primary units, in each stratum.
        units_of: (g, u) of these the ones that have people of a group.
        stratum_of: (p,) the stratum of each primary unit; None where people are the units.
        of_units: (g, p or h, m + 1) sums of weights of primary units, or of strata where people are the units.
        squares_of: (g, h, m + 1) sums of squares of weights in strata, where people are the units.
    """

    groups: Array
    squares: Array
    units: NDArray[np.int64]
    units_of: NDArray[np.int64]
    stratum_of: NDArray[np.int64] | None
    of_units: Array
    squares_of: Array

    @classmethod
    def of(cls, tallies: Tallies, sample: Sample | None, *, unary: bool) -> _Weighed:
        """Of all people in one stratum, each of them a unit; or as the sample says."""

        def whole(sums: NDArray[Any]) -> NDArray[Any]:
            return sums if unary else np.concatenate([sums, sums.sum(axis=-1, keepdims=True)], axis=-1)

        assert tallies.weights is not None
        assert tallies.squares is not None
        with np.errstate(over="ignore"):  # of what is refused here
            sums, squares, counts = map(whole, (tallies.weights, tallies.squares, tallies.counts))
        _check_weights(sums[:, -1])
        if sample is None:
            people = counts[:, -1:].astype(np.int64)
            return cls(sums, squares, people.sum(axis=0), people, None, sums[:, None], squares[:, None])
        weights, (g, m), n = sample.weights, tallies.weights.shape, len(sample.reports)
        assert weights is not None
        strata = np.zeros(n, dtype=np.int64) if sample.strata is None else sample.strata.astype(np.int64)
        group = np.zeros(n, dtype=np.int64) if sample.groups is None else sample.groups.astype(np.int64)

        def by(cells: NDArray[np.int64], many: int, of: Array) -> Array:
            sums = _sums(sample.reports, group * many + cells, g * many, of, m - unary)
            return np.asarray(whole(sums.reshape(g, many, m)))

        h = int(strata.max()) + 1
        if sample.units is None:
            first, second = by(strata, h, weights), by(strata, h, weights**2)
            people = np.bincount(group * h + strata, minlength=g * h).reshape(g, h)
            return cls(sums, squares, people.sum(axis=0), people, None, first, second)
        units = sample.units.astype(np.int64)
        p = int(units.max()) + 1
        if g * p * m > _MOST_OF_UNITS:
            raise ValueError(
                f"units times reports must be at most {_MOST_OF_UNITS:,}, got {g * p * m:,}: put categories together"
            )
        stratum_of = np.zeros(p, dtype=np.int64)
        stratum_of[units] = strata
        if (stratum_of[units] != strata).any():
            raise ValueError("units must lie in one stratum each, got one in two strata")
        first = by(units, p, weights)
        own = np.zeros((g, h), dtype=np.int64)
        in_group, unit = np.divmod(np.unique(group * p + units), p)
        np.add.at(own, (in_group, stratum_of[unit]), 1)
        return cls(sums, squares, np.bincount(stratum_of, minlength=h), own, stratum_of, first, first[:, :0])

    def shares(self) -> Array:
        """(g, m) weighted shares of the reports."""
        shares: Array = self.groups[:, :-1] / self.groups[:, -1:]
        return shares

    def degrees_of_freedom(self, group: int | None = None) -> int:
        """Units less strata, of those that have people of a group, or of all (None); 1 at least."""
        units = self.units if group is None else self.units_of[group]
        return max(int(np.maximum(units - 1, 0).sum()), 1)

    def variance_of_sum(self, parts: Array, made: Sequence[Collecting] | None = None) -> Array:
        """(m,) variance of the sum over groups of their shares of the reports times ``parts`` (g, m), or (g, 1); or (k,)
        of their Inv, by what ``made`` their reports."""
        sums, squares = 0.0, None if self.stratum_of is not None else 0.0
        for group, (part, shares) in enumerate(zip(parts, self.shares(), strict=True)):
            if not part.any():
                continue
            share, total = part / self.groups[group, -1], self.groups[group]
            if made is None:
                of_units, each = self.of_units[group], self.squares_of[group]
                sums = sums + share * (of_units[:, :-1] - of_units[:, -1:] * shares)
                more = each[:, :-1] * (1 - 2 * shares) + each[:, -1:] * shares**2
            else:
                inv = added_up(total, made[group], np.zeros(1)) / total[-1]
                sums = sums + share * added_up(self.of_units[group], made[group], inv)
                more = squared(self.squares_of[group], made[group], inv)
            squares = None if squares is None else squares + share**2 * more
        return self._between_units(np.asarray(sums), None if squares is None else np.asarray(squares))

    def variance(self, group: int, made: Collecting | None = None) -> Array:
        """(m,) variance of the shares of the reports of a group, or (k,) of its Inv, by what ``made`` them."""
        g = len(self.groups)
        return self.variance_of_sum(np.eye(g)[:, [group]], None if made is None else [made] * g)

    def variance_of_all(self, made: ByGroup, inv: Array) -> Array:
        """(k,) variance of ``inv``, that of all people whose groups have these designs."""
        pairs = list(enumerate(made.designs))
        sums = sum((added_up(self.of_units[i], one, inv) for i, one in pairs), np.zeros(1))
        squares = None
        if self.stratum_of is None:
            squares = sum((squared(self.squares_of[i], one, inv) for i, one in pairs), np.zeros(1))
        return np.asarray(self._between_units(sums, squares) / self.groups[:, -1].sum() ** 2)

    def _between_units(self, sums: Array, squares: Array | None) -> Array:
        """(k,) variance of a total, from its sums (p or h, k) over units, or over people with sums of squares."""
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(self.units > 1, self.units / (self.units - 1), 1.0)
        if squares is None:
            assert self.stratum_of is not None
            units, (squares, sums) = sums, np.zeros((2, self.units.size, sums.shape[1]))
            np.add.at(squares, self.stratum_of, units**2)
            np.add.at(sums, self.stratum_of, units)
        shared = np.where(self.units > 1, 1 / np.maximum(self.units, 1), 0.0)
        return np.asarray(np.maximum(factor @ (squares - shared[:, None] * sums**2), 0.0))


def _check_weights(totals: Array) -> None:
    if not totals.all():
        raise ValueError("weights must have a positive sum in each group, got all zeros in one")
    if not ((totals >= 1 / _LARGEST) & (totals <= _LARGEST)).all():  # their squares are divided by
        raise ValueError(
            f"weights must have a sum from {1 / _LARGEST:g} to {_LARGEST:g} in each group, got another"
        )


def _weighted(weighed: _Weighed, group: int, unweighted: Analysis, tallies: Tallies) -> WeightedAnalysis:
    """The analysis of a weighted group, from that of its people without their weights."""
    counts, n, level, protocol = unweighted.counts, unweighted.n, unweighted.level, unweighted.protocol
    assert not isinstance(protocol, ByGroup)
    weights, shares, of_reports = (
        weighed.groups[group, :-1],
        weighed.shares()[group],
        weighed.variance(group),
    )
    kish = weighed.groups[group, -1] ** 2 / weighed.squares[group, -1]
    df = weighed.degrees_of_freedom(group)
    quantile = partial(special.stdtrit, df)
    intervals: tuple[Interval | None, Interval | None] = (None, None)
    certificate = variance = by_design = None
    if isinstance(protocol, Channel):
        best = mle_channel(weights, protocol)
        estimates, certificate = {"mle": best.theta}, max(best.gap, 0.0)
        least = float(kish * protocol.expected(best.theta)[protocol.possible].min())
        if protocol.identified:
            by_inv = inv_channel(weights, protocol)
            estimates = {"inv": by_inv, "mle": best.theta}
            variance = weighed.variance(group, protocol)
            by_design = variance_of_inv(by_inv, kish, protocol, "sampled")
            variance = np.where(variance > 0, variance, by_design)
            spread = np.maximum(variance, by_design) if least < _ENOUGH else variance
            intervals = intervals_of_inv(by_inv, spread, level, quantile)
    else:
        if isinstance(protocol, UnaryEncoding):
            estimates, certificate = of_ones(*as_support(shares), protocol, tallies.bits_of(group))
        else:
            estimates = {name: estimate(weights, protocol) for name, estimate in ESTIMATORS.items()}
        q, keep = protocol.q, protocol.keep
        least = kish * q
        variance = of_reports / keep**2
        by_design = variance_of_inv(estimates["inv"], kish, protocol, "sampled")
        some = of_reports > 0
        effective = np.where(some, shares * (1 - shares) / np.where(some, of_reports, 1.0), kish)
        tail = (1 - level) / 2 / protocol.k
        many = np.minimum(effective, kish) * (float(special.ndtri(tail)) / quantile(tail)) ** 2
        low, high = wilson(shares, effective, quantile((1 - level) / 2))
        lows, highs = clopper_pearson(shares * many, many, 2 * tail)
        alone = Interval((low - q) / keep, (high - q) / keep, level, False)
        intervals = alone, Interval((lows - q) / keep, (highs - q) / keep, level, True)
    effects = None
    if variance is not None:
        plain = _plain_variance(shares, n, protocol)
        effects = np.where(plain > 0, variance / np.where(plain > 0, plain, 1.0), 1.0)
    fit = unweighted.fit
    if isinstance(protocol, UnaryEncoding):
        fit = fit_of_unary(counts.astype(float), protocol, n, tallies.bits_of(group, weighted=False))
    above, few = unweighted.above, least < LEAST_EXPECTED
    told = (counts, protocol, n, level, _USERS, estimates, *intervals, above, few)
    return WeightedAnalysis(
        *told,
        certificate=certificate,
        fit=fit,
        design_effects=effects,
        sum_of_weights=float(weighed.groups[group, -1]),
        kish=float(kish),
        variance=variance,
        by_design=by_design if least < _ENOUGH else None,
        degrees_of_freedom=df,
    )


def _weighted_total(
    weighed: _Weighed, analyses: Sequence[WeightedAnalysis], unweighted: Sequence[Analysis], made: ByGroup
) -> WeightedAnalysis:
    """The analysis of all people, whose groups have designs of their own."""
    of_groups = weighed.groups[:, -1]
    part, n, level = of_groups / of_groups.sum(), sum(one.n for one in analyses), analyses[0].level
    inv = part @ [one.estimates["inv"] for one in analyses]
    variance = weighed.variance_of_all(made, inv)
    least = part**2 @ [one.least_variance for one in analyses]
    alone = part**2 @ [one.variance_of_inv() for one in analyses]
    variance = np.where(variance > 0, np.maximum(variance, least), alone)
    df = weighed.degrees_of_freedom()
    intervals = intervals_of_inv(inv, variance, level, partial(special.stdtrit, df))
    above = AboveZero.of(*by_chance(unweighted, made), level=1 - level)
    counts = np.sum([one.counts for one in unweighted], axis=0)
    pairs = zip(weighed.groups, made.designs, strict=True)
    plain = sum((squared(row, one, inv) for row, one in pairs), np.zeros(1)) / of_groups.sum() / n
    few = any(one.few for one in analyses)
    told = (counts, made, n, level, _USERS, repaired(inv), *intervals, above, few)
    return WeightedAnalysis(
        *told,
        design_effects=np.where(plain > 0, variance / np.where(plain > 0, plain, 1.0), 1.0),
        variance=variance,
        degrees_of_freedom=df,
        sum_of_weights=float(of_groups.sum()),
        kish=float(of_groups.sum() ** 2 / weighed.squares[:, -1].sum()),
    )


def _plain_variance(shares: Array, n: int, protocol: Collecting) -> Array:
    """(k,) variance of Inv if these were the shares in a simple random sample of n."""
    if not isinstance(protocol, Channel):
        return shares * (1 - shares) / n / protocol.keep**2
    added = inv_channel(np.eye(protocol.m), protocol)
    return np.maximum(shares @ added**2 - (shares @ added) ** 2, 0.0) / n
