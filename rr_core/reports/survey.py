"""Reports of a survey: by group, and with weights, of any design but weighted unary encoding.

Without weights each group is one set of reports, and is analysed as such. With weights w_i the shares of the reports are
s_j = sum of the weights of those who reported j, divided by the sum of all, and Inv, InvN, InvP and the maximum of the
(pseudo-)likelihood are taken at s. Inv is linear: the part of person i in it is z_i = w_i (a(j_i) - Inv)/W, with a(j)
what a report j adds to Inv and W the sum of the weights. By linearisation the variance is that of the sum of the z_i
under sampling with replacement of primary units from strata,

    V = sum over strata h of n_h/(n_h - 1) sum over units c of (z_hc - mean of stratum h)^2,

with z_hc the sum over unit c, those outside the group counted as 0 (S. L. Lohr, Sampling: Design and Analysis, 2nd
edition 2010, sections 9.1, 9.3 and 14.2). The noise of the design is in it: a report is drawn anew for each person, as
the person is. The truth meant is that of the population. For k-RR, where a share of the reports alone determines an
estimate, its interval is Wilson's with the effective number of reports, n_eff = s (1 - s)/Var(s). Quantiles are those of
Student's t with (units - strata) degrees of freedom.

The test that all groups are alike compares the reports: under a design that tells the truths apart they have one law in
all groups exactly when the truths have. It is Pearson's, by chi-squared or, where few reports are expected, against
tables with the same margins; with weights divided by its mean under the design (J. N. K. Rao and A. J. Scott, JASA 76,
1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from rr_core import _validate
from rr_core._validate import Array
from rr_core.estimators import inv, inv_n, inv_p, mle_star
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, variance_at
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_channel, inv_covariance_channel, mle_channel
from rr_core.protocols.unary import UnaryEncoding
from rr_core.reports.analysis import ALL_ROWS, Analysis, Collecting, Rows, analyse
from rr_core.reports.intervals import AboveZero, Interval, checked_level, holm
from rr_core.reports.protocol_fit import LEAST_EXPECTED
from rr_core.streams import Stream, generator

MOST_GROUPS = 200
_MOST_OF_UNITS = 50_000_000  # numbers that are held: primary units times reports
_LARGEST = 1e100  # sum of weights
_DRAWN = 2000
# Entries of tables: of one above which only chi-squared is asked, and of those that are drawn at once.
_MOST_CELLS, _CELLS_AT_ONCE = 20_000, 2_000_000


@dataclass(frozen=True, eq=False)
class WeightedAnalysis(Analysis):
    """Weighted reports, analysed. ``counts`` are numbers of people, ``estimates`` those of the weights.

    Attributes:
        design_effects: (k,) variance of Inv as a multiple of that of a simple random sample of as many people; None where
            there is no Inv.
        variance: (k,) variance of Inv; None where there is none.
        degrees_of_freedom: primary units less strata.
    """

    design_effects: Array | None = None
    variance: Array | None = None
    degrees_of_freedom: int = 0

    def columns(self, rows: Rows = ALL_ROWS) -> dict[str, NDArray[Any]]:
        """`Analysis.columns`, and "design_effect"."""
        effects = {} if self.design_effects is None else {"design_effect": self.design_effects[rows]}
        return {**super().columns(rows), **effects}


@dataclass(frozen=True, eq=False)
class Sample:
    """Who reported what, person by person.

    Attributes:
        reports: (n,) from 0 to m - 1.
        groups: (n,) from 0 to g - 1; None for one group.
        weights: (n,) numbers >= 0; None where all count once.
        strata: (n,) from 0; None for one stratum.
        units: (n,) primary sampling units, from 0, each in one stratum; None where each person is one.
    """

    reports: NDArray[np.integer]
    groups: NDArray[np.integer] | None = None
    weights: Array | None = None
    strata: NDArray[np.integer] | None = None
    units: NDArray[np.integer] | None = None

    def tallies(self, m: int) -> Tallies:
        """The sums of these people over m reports."""
        counts = self._sums(m, None).astype(np.int64)
        if self.weights is None:
            return Tallies(counts)
        with np.errstate(over="ignore"):  # of what is refused later
            return Tallies(counts, self._sums(m, self.weights), self._sums(m, self.weights**2))

    def _sums(self, m: int, of: Array | None) -> Array:
        groups = 1 if self.groups is None else int(self.groups.max(initial=0)) + 1
        cells = self.reports if self.groups is None else self.groups.astype(np.int64) * m + self.reports
        return np.bincount(cells, of, groups * m).reshape(groups, m).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Tallies:
    """Sums over people by group and report, which is all that an analysis needs where each person is a unit.

    Attributes:
        counts: (g, m) people.
        weights, squares: (g, m) sums of their weights, and of the squares; None where all count once.
    """

    counts: NDArray[np.int64]
    weights: Array | None = None
    squares: Array | None = None

    def in_order(self, order: Sequence[int]) -> Tallies:
        """The same with the reports in another order."""
        parts = (self.counts, self.weights, self.squares)
        return Tallies(*(None if part is None else part[:, list(order)] for part in parts))  # type: ignore[arg-type]

    def together(self) -> Tallies:
        """The same of all groups as one."""
        parts = (self.counts, self.weights, self.squares)
        return Tallies(*(None if part is None else part.sum(axis=0, keepdims=True) for part in parts))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Survey:
    """The analyses of all groups.

    Attributes:
        categories: k names.
        groups: g names; one of "" where there are no groups.
        analyses: of each group.
        reports: (g, m) people by what they reported.
        alike: p-value of the test that all groups are alike; None for one group, or where the design does not tell the
            truths apart.
        alike_by_chance: of how many simulated tables ``alike`` is the share; 0 where it is none.
        order: (k,) for each category the report of the same name, -1 where there is none; None where there are no such.
    """

    categories: tuple[str, ...]
    groups: tuple[str, ...]
    analyses: tuple[Analysis, ...]
    reports: NDArray[np.int64]
    alike: float | None
    alike_by_chance: int = 0
    order: tuple[int, ...] | None = None

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
        return columns | {f"difference_{name}": gaps.ravel() for name, gaps in self.differences().items()}

    def table(self) -> dict[str, Any]:
        """`columns` for a file, None in place of a number of reports that there is not."""
        columns = self.columns()
        counts = np.asarray(columns["reports"]).tolist()
        return {**columns, "reports": [None if number < 0 else number for number in counts]}

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

    def differences(self, first: int = 0) -> dict[str, Array]:
        """(g, k) by name, of each group as in `difference`: "from_first" (the share by Inv less that of the ``first``
        one, whose own row is nan), "low" and "high" at the level of the analyses, "p_value", and "p_holm", corrected in
        each category for all groups. Nothing where there is no Inv, or one group."""
        if len(self.groups) < 2 or any(one.interval is None for one in self.analyses):
            return {}
        gaps = [self.difference(group, first, self.analyses[0].level) for group in range(len(self.groups))]
        found = {name: np.stack([gap[name] for gap in gaps]) for name in gaps[0]}
        others = np.arange(len(gaps)) != first
        found["p_holm"][others] = holm(found["p_value"][others])
        for values in found.values():
            values[first] = np.nan
        return {"from_first": found.pop("difference"), **found}

    def difference(self, one: int, other: int, level: float = 0.95) -> dict[str, Array]:
        """(k,) difference of the shares of two groups by Inv, "difference", with its interval, "low" and "high", and the
        p-value that there is none, "p_value", by the normal law, corrected for all categories by Holm, "p_holm".

        Args:
            one, other: positions of the groups, whose people are others; the first less the second.
            level: probability of the intervals, between 0 and 1.

        Raises:
            ValueError: naming the argument, or where there is no Inv.
        """
        level = checked_level(level)
        last = len(self.groups) - 1
        first, second = (
            self.analyses[_validate.integer(name, index, 0, last)]
            for name, index in (("one", one), ("other", other))
        )
        if first.interval is None or second.interval is None:
            raise ValueError("the design must tell the truths apart, and this one does not")
        gap = first.estimates["inv"] - second.estimates["inv"]
        spread = np.sqrt(_variance(first) + _variance(second))
        half = -special.ndtri((1 - level) / 2) * spread
        tails = 2 * special.ndtr(-np.abs(gap) / np.where(spread > 0, spread, 1.0))
        p_values = np.where(spread > 0, tails, np.where(gap == 0, 1.0, 0.0))
        return {
            "difference": gap,
            "low": gap - half,
            "high": gap + half,
            "p_value": p_values,
            "p_holm": holm(p_values),
        }


def _variance(found: Analysis) -> Array:
    """(k,) variance of Inv of an analysis."""
    if isinstance(found, WeightedAnalysis) and found.variance is not None:
        return found.variance
    if isinstance(found.protocol, Channel):
        covariance = inv_covariance_channel(
            found.estimates["mle"], found.n, found.protocol, users=found.users
        )
        return np.maximum(np.diag(covariance), 0.0)
    if isinstance(found.protocol, UnaryEncoding):
        return found.protocol.inv_variance(found.estimates["inv_p"], found.n, users=found.users)
    return variance_at(found.estimates["inv_p"], found.n, found.protocol, found.users)


def analyse_groups(
    people: Sample | Tallies | ArrayLike,
    protocol: Collecting,
    categories: Sequence[str],
    groups: Sequence[str] = ("",),
    level: float = 0.95,
    users: Users = "fixed",
    order: Sequence[int] | None = None,
) -> Survey:
    """Analyse people's reports, in all groups.

    Args:
        people: who reported what, the sums of that, or (g, m) counted reports.
        protocol: the design; unary encoding has no weights.
        categories: k names of the truths.
        groups: g names.
        level: probability of the intervals, between 0 and 1.
        users: whether the truth is that of these people ("fixed") or of their population ("sampled"), which it is with
            weights.
        order: (k,) for each category the report of the same name, -1 for none.

    Raises:
        ValueError: naming the argument; also for more than `MOST_GROUPS` groups, or one without reports.

    >>> people = Sample(np.repeat([0, 1, 0, 1], [360, 640, 500, 500]), np.repeat([0, 1], 1000))
    >>> found = analyse_groups(people, Channel.warner(0.2), ("no", "yes"), ("north", "south"))
    >>> [one.estimates["inv"].round(3).tolist() for one in found.analyses], found.alike < 1e-8
    ([[0.733, 0.267], [0.5, 0.5]], True)
    """
    if isinstance(people, Sample):
        tallies = people.tallies(protocol.m if isinstance(protocol, Channel) else protocol.k)
    else:
        tallies = people if isinstance(people, Tallies) else Tallies(_validate.numbers("counts", people))
    counts: NDArray[Any] = tallies.counts
    if counts.ndim != 2:
        raise ValueError(f"counts must have shape (g, m), got {counts.shape}")
    _check_groups(counts, groups)
    analyses, weighted = list[Analysis](), None
    if tallies.weights is None:
        analyses += [analyse(row, protocol, level, users) for row in counts]
    else:
        assert not isinstance(protocol, UnaryEncoding)
        if isinstance(people, Sample) and not (people.strata is None and people.units is None):
            weighed = _Weighed.of(people, tallies)
        else:
            weighed = _Weighed.of_people(tallies)
        found = [_weighted(weighed, group, protocol, row, level) for group, row in enumerate(counts)]
        analyses += [one for one, _ in found]
        weighted = weighed.shares(), np.array([variance for _, variance in found])
    counts, alike, simulated = counts.astype(np.int64), None, 0
    if len(groups) > 1 and getattr(protocol, "identified", True):
        alike, simulated = _alike(counts, weighted)
    names = None if order is None else tuple(order)
    return Survey(tuple(categories), tuple(groups), tuple(analyses), counts, alike, simulated, names)


def _check_groups(counts: NDArray[Any], groups: Sequence[str]) -> None:
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"groups must be at most {MOST_GROUPS}, got {len(groups):,}")
    with np.errstate(over="ignore"):  # of what is refused later
        reports = counts.sum(axis=1)
    if len(counts) != len(groups) or not reports.all():
        raise ValueError(
            f"groups must have a report each, got {len(groups)} names and {_validate.short(reports)}"
        )


def table_of_all(
    categories: NDArray[Any], reports: NDArray[np.int64] | None, found: Analysis, rows: Rows = ALL_ROWS
) -> dict[str, NDArray[Any]]:
    """The table of people together, as `Survey.table`, of these (k,) categories and their reports (None where no report
    has their names): the file of the page, of the command and of the script."""
    counted = np.full(found.k, None) if reports is None else reports
    return {"category": categories[rows], "reports": counted[rows], **found.columns(rows)}


def report_of_each(categories: Sequence[str], reports: Sequence[str]) -> tuple[int, ...] | None:
    """(k,) for each category the report of the same name; None where the two are other names.

    >>> report_of_each(("no", "yes"), ("yes", "no")), report_of_each(("no", "yes"), ("same", "different"))
    ((1, 0), None)
    """
    places = {name: place for place, name in enumerate(reports)}
    return tuple(places[name] for name in categories) if places.keys() == {*categories} else None


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Sums of weights that variances are made of.

    Attributes:
        groups: (g, m) sums of the weights of each group, and of their squares, the next one.
        units: (u,) people, or primary units, in each stratum.
        stratum_of: (p,) the stratum of each primary unit; None where people are the units.
        of_units: (g, p or h, m) sums of weights of primary units, or of strata where people are the units.
        squares_of: (g, h, m) sums of squares of weights in strata, where people are the units.
    """

    groups: Array
    squares: Array
    units: NDArray[np.int64]
    stratum_of: NDArray[np.int64] | None
    of_units: Array
    squares_of: Array

    @classmethod
    def of_people(cls, tallies: Tallies) -> _Weighed:
        """Where each person is a unit, and all are in one stratum."""
        sums, squares = tallies.weights, tallies.squares
        assert sums is not None
        assert squares is not None
        _check_weights(sums)
        n = np.array([tallies.counts.sum()])
        return cls(sums, squares, n, None, sums[:, None], squares[:, None])

    @classmethod
    def of(cls, sample: Sample, tallies: Tallies) -> _Weighed:
        sums, squares, weights = tallies.weights, tallies.squares, sample.weights
        assert sums is not None
        assert squares is not None
        assert weights is not None
        _check_weights(sums)
        (g, m), n = sums.shape, sample.reports.size
        strata = np.zeros(n, dtype=np.int64) if sample.strata is None else sample.strata.astype(np.int64)
        group = 0 if sample.groups is None else sample.groups.astype(np.int64)
        h = int(strata.max()) + 1
        if sample.units is None:
            cells = (group * h + strata) * m + sample.reports
            first = np.bincount(cells, weights, g * h * m).astype(np.float64).reshape(g, h, m)
            second = np.bincount(cells, weights**2, g * h * m).astype(np.float64).reshape(g, h, m)
            return cls(sums, squares, np.bincount(strata, minlength=h), None, first, second)
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
        cells = (group * p + units) * m + sample.reports
        first = np.bincount(cells, weights, g * p * m).astype(np.float64).reshape(g, p, m)
        return cls(sums, squares, np.bincount(stratum_of, minlength=h), stratum_of, first, first[:, :0])

    def shares(self) -> Array:
        """(g, m) weighted shares of the reports."""
        shares: Array = self.groups / self.groups.sum(axis=1, keepdims=True)
        return shares

    @property
    def degrees_of_freedom(self) -> int:
        return int(np.maximum(self.units - 1, 0).sum())

    def variance(self, group: int, added: Array | None = None) -> Array:
        """Variance of the shares of the reports of a group, (m,), or of ``added`` (m, k) summed over them, (k,)."""
        total = self.groups[group].sum()
        shares = self.groups[group] / total
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(self.units > 1, self.units / (self.units - 1), 1.0)
        sums = _residuals(self.of_units[group], shares, added)
        if self.stratum_of is None:
            squared = _squared(self.squares_of[group], shares, added)
        else:
            units, (squared, sums) = sums, np.zeros((2, self.units.size, sums.shape[1]))
            np.add.at(squared, self.stratum_of, units**2)
            np.add.at(sums, self.stratum_of, units)
        shared = np.where(self.units > 1, 1 / np.maximum(self.units, 1), 0.0)
        centred = squared - shared[:, None] * sums**2
        variance: Array = np.maximum(factor @ centred, 0.0) / total**2
        return variance


def _check_weights(sums: Array) -> None:
    totals = sums.sum(axis=1)
    if not totals.all():
        raise ValueError("weights must have a positive sum in each group, got all zeros in one")
    if not ((totals >= 1 / _LARGEST) & (totals <= _LARGEST)).all():  # their squares are divided by
        raise ValueError(
            f"weights must have a sum from {1 / _LARGEST:g} to {_LARGEST:g} in each group, got another"
        )


def _residuals(sums: Array, shares: Array, added: Array | None) -> Array:
    """Sums over rows of weights (r, m) of what each report adds less its mean: (r, m), or (r, k) for ``added`` (m, k)."""
    if added is None:
        return np.asarray(sums - sums.sum(axis=1, keepdims=True) * shares)
    return np.asarray(sums @ (added - shares @ added))


def _squared(squares: Array, shares: Array, added: Array | None) -> Array:
    """The same of the squares of each person's."""
    if added is None:
        return np.asarray(squares * (1 - 2 * shares) + squares.sum(axis=1, keepdims=True) * shares**2)
    return np.asarray(squares @ (added - shares @ added) ** 2)


def _weighted(
    weighed: _Weighed,
    group: int,
    protocol: RandomizedResponse | Channel,
    counts: NDArray[np.int64],
    level: float,
) -> tuple[WeightedAnalysis, Array]:
    """The analysis of a weighted group, and the (m,) variance of its shares of reports."""
    level = checked_level(level)
    weights, n = weighed.groups[group], int(counts.sum())
    shares, of_reports = weights / weights.sum(), weighed.variance(group)
    kish = weights.sum() ** 2 / weighed.squares[group].sum()
    df = max(weighed.degrees_of_freedom, 1)
    quantiles = [stats.t.isf((1 - level) / 2 / of, df) for of in (1, protocol.k)]
    ends, certificate, variance, p_values = list[tuple[Array, Array]](), None, None, None
    if isinstance(protocol, RandomizedResponse):
        estimates = {
            name: rule(weights, protocol)
            for name, rule in (("inv", inv), ("inv_n", inv_n), ("inv_p", inv_p), ("mle_star", mle_star))
        }
        q, keep = protocol.q, protocol.keep
        least = kish * q
        variance = of_reports / keep**2
        some = of_reports > 0
        effective = np.where(some, shares * (1 - shares) / np.where(some, of_reports, 1.0), kish)
        for low, high in (_wilson(shares, effective, quantile) for quantile in quantiles):
            ends.append(((low - q) / keep, (high - q) / keep))
        p_values = stats.t.sf((shares - q) / np.sqrt(q * (1 - q) / effective), df)
    else:
        best = mle_channel(weights, protocol)
        estimates, certificate = {"mle": best.theta}, max(best.gap, 0.0)
        least = float(kish * protocol.expected(best.theta)[protocol.possible].min())
        if protocol.identified:
            by_inv = inv_channel(weights, protocol)
            estimates = {"inv": by_inv, "mle": best.theta}
            variance = weighed.variance(group, inv_channel(np.eye(protocol.m), protocol))
            even = np.full(protocol.k, 1 / protocol.k)
            more = np.diag(
                inv_covariance_channel((n * best.theta + 2 * even) / (n + 2), kish, protocol, users="sampled")
            )
            variance = np.where(variance > 0, variance, more)
            spread = np.sqrt(variance)
            ends += [(by_inv - quantile * spread, by_inv + quantile * spread) for quantile in quantiles]
            p_values = stats.t.sf(by_inv / np.where(spread > 0, spread, 1.0), df)
    above = effects = None
    if variance is not None and p_values is not None:
        above = AboveZero.of(p_values, 1 - level)
        plain = _plain_variance(shares, n, protocol)
        effects = np.where(plain > 0, variance / np.where(plain > 0, plain, 1.0), 1.0)
    alone, together = [Interval(*limits, level, many > 0) for many, limits in enumerate(ends)] or (None, None)
    found = WeightedAnalysis(
        counts,
        protocol,
        n,
        level,
        "sampled",
        estimates,
        alone,
        together,
        above,
        least < LEAST_EXPECTED,
        certificate=certificate,
        design_effects=effects,
        variance=variance,
        degrees_of_freedom=df,
    )
    return found, of_reports


def _plain_variance(shares: Array, n: int, protocol: RandomizedResponse | Channel) -> Array:
    """(k,) variance of Inv if these were the shares in a simple random sample of n."""
    if isinstance(protocol, RandomizedResponse):
        return shares * (1 - shares) / n / protocol.keep**2
    added = inv_channel(np.eye(protocol.m), protocol)
    return np.maximum(shares @ added**2 - (shares @ added) ** 2, 0.0) / n


def _wilson(shares: Array, effective: Array, quantile: float) -> tuple[Array, Array]:
    """Ends of Wilson's intervals for shares of so many reports each."""
    weight = quantile**2 / effective
    centre = (shares + weight / 2) / (1 + weight)
    half = np.sqrt(weight * (shares * (1 - shares) + weight / 4)) / (1 + weight)
    return centre - half, centre + half


def _alike(counts: NDArray[np.int64], weighted: tuple[Array, Array] | None) -> tuple[float, int]:
    """The p-value that all groups have one law of reports, and of how many simulated tables it is the share.

    Args:
        counts: (g, m) people by report.
        weighted: (g, m) weighted shares of the reports and their variances; None without weights.
    """
    seen = counts[:, counts.sum(axis=0) > 0]
    g, m = seen.shape
    if m < 2:
        return 1.0, 0
    n, df = seen.sum(axis=1), (g - 1) * (m - 1)
    if weighted is not None:
        shares, variances = (part[:, counts.sum(axis=0) > 0] for part in weighted)
        overall = n @ shares / n.sum()
        statistic = float((n[:, None] * (shares - overall) ** 2 / overall).sum())
        mean = float(((1 - n / n.sum())[:, None] * n[:, None] * variances / overall).sum()) / df
        return float(special.chdtrc(df, statistic / mean)) if mean > 0 else 1.0, 0
    expected = np.outer(n, seen.sum(axis=0)) / n.sum()
    statistic = float(((seen - expected) ** 2 / expected).sum())
    if expected.min() >= LEAST_EXPECTED or seen.size > _MOST_CELLS:
        return float(special.chdtrc(df, statistic)), 0
    tables, as_far = stats.random_table(n, seen.sum(axis=0), seed=generator(0, Stream.FIT, 1)), 0
    at_once = max(1, _CELLS_AT_ONCE // seen.size)
    for start in range(0, _DRAWN, at_once):
        drawn = tables.rvs(min(at_once, _DRAWN - start))
        far = ((drawn - expected) ** 2 / expected).sum(axis=(-1, -2))
        as_far += int((far >= statistic * (1 - 1e-9)).sum())
    return (1 + as_far) / (1 + _DRAWN), _DRAWN
