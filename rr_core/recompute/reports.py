"""What the page about collected reports shows: one function for each way of making them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.recompute.result import TOP, Recomputed, same_file
from rr_core.registry import LABELS
from rr_core.reports import fit_test, plausible_epsilon
from rr_core.reports.analysis import ByGroup, Collecting
from rr_core.reports.designs import DESIGNS
from rr_core.reports.epsilon_fit import Simulations
from rr_core.reports.survey import Survey, Tallies, analyse_people, report_of_each
from rr_core.rounding import p_of_file

if TYPE_CHECKING:
    from rr_core.io import Source
    from rr_core.io.people import People

Files = Sequence[str | Path]


def of_reports(query: Mapping[str, str], files: Files, **settings: Any) -> Recomputed:
    """The numbers of the page about the reports in these files; arguments as in `rr_core.recompute`."""
    compute = _WAYS.get(query.get("made", "k_rr"))
    if compute is None:
        raise ValueError(f"made={query['made']} is no way of making reports: {', '.join(_WAYS)}.")
    return compute(files, **settings)


def _sources(files: Files, reading: Mapping[str, Any] | None) -> tuple[list[Source], dict[str, Any]]:
    """The files, of workbooks the sheet that was read, and the other arguments of their reader."""
    from rr_core.io import Source

    how = dict(reading or {})
    sheet = how.pop("sheet", None)
    return [Source.of(file, sheet) for file in files], how


def _k_rr(
    files: Files,
    *,
    reading: Mapping[str, Any] | None = None,
    listed: Sequence[str] | str | None = None,
    size: int | None = None,
    left_out: Sequence[str] = (),
    counted_as: Mapping[str, str] | None = None,
    epsilon: float | Mapping[str, float] = math.nan,
    p: float | Mapping[str, float] | None = None,
    level: float = 0.95,
    users: Users = "fixed",
    replicates: int = 0,
    seed: int = 0,
    search_epsilon: bool = False,
    sha256: str = "",
    by: Sequence[str] = (),
    weights: str | None = None,
    inverse: bool = False,
) -> Recomputed:
    """Collected reports of k-RR.

    Args:
        reading: how the files are read: arguments of `rr_core.io.read_reports`, and the "sheet" of workbooks.
        listed: all categories, or the file that has one per line; size: or only their number; else all seen.
        left_out, counted_as: as in `ReportSettings`.
        epsilon, p: privacy, as one of the two, by group where it differs.
        replicates, seed: simulated collections for the test of epsilon, 0 for none.
        search_epsilon: whether to look for the smallest plausible epsilon.
        sha256: of the files that the app had.
        by, weights, inverse: as in `rr_core.io.people.read_people`.
    """
    from rr_core.io import AllSeen, Domain, Listed, Names, Size, read_reports, too_few, within
    from rr_core.io.people import read_people
    from rr_core.io.report_results import ReportSettings, ReportsInUse, Results
    from rr_core.io.report_sentences import advice

    domain: Domain = AllSeen() if size is None else Size(size)
    if isinstance(listed, str):
        if not Path(listed).exists():
            raise ValueError(
                f"There is no file {listed} in the folder where this runs: the page gives it out among its Files."
            )
        listed = Path(listed).read_text("utf-8").rstrip("\n").split("\n")
    if listed is not None:
        domain = Listed(np.array(listed, dtype=object))
    sources, how = _sources(files, reading)
    read = read_reports(sources, **how)
    names = Names(tuple(left_out), tuple((counted_as or {}).items()))
    collected = within(read, domain, names)
    k, labels = collected.k, collected.labels.tolist()
    people = None
    if by or weights:
        people = read_people(sources, read, labels, names, by, weights, inverse=inverse)
    told: Any = epsilon if p is None else p
    of = RandomizedResponse if p is None else RandomizedResponse.from_p
    mechanism = _made(people, told, partial(of, k))
    used = ReportsInUse(read, collected, mechanism, ReportSettings(names=names))
    if people is not None:
        used = used.with_people(people, tuple(by), weights, inverse)
    results = Results.of(used, level, users)
    found, counts = results.analysis, results.analysis.counts
    numbers: dict[str, Any] = {
        **same_file("the files", read.sha256, sha256),
        "K": k,
        "N": found.n,
        "epsilon": mechanism.epsilon,
        **({"p": mechanism.p, "q": mechanism.q} if isinstance(mechanism, RandomizedResponse) else {}),
        "left out with names outside the domain": collected.outside_total,
    }
    if isinstance(mechanism, RandomizedResponse):
        if replicates:
            test = fit_test(counts, mechanism, replicates, seed=seed)
            numbers["fit"] = {**test.summary(), "rejected": test.rejects()}
            results = replace(results, simulated=Simulations(test))
        if search_epsilon:
            plausible = plausible_epsilon(counts, k, above=mechanism.epsilon, seed=seed)
            numbers[f"plausible epsilon: {'none up to' if plausible.none else 'at least'}"] = plausible.low
        few = replace(used.collected, too_few=too_few(read, names, domain, lambda k: of(k, told)))
        results = replace(results, used=replace(used, collected=few))
        numbers["advice"] = " ".join(advice(results))
        nearest = found.nearest
        if nearest is not None and nearest.comparable and not results.rejects_epsilon:
            numbers[f"estimated squared error beyond that of {LABELS[nearest.best]}"] = nearest.differences
            numbers["standard errors of these"] = nearest.standard_errors
    most = np.argsort(-counts, kind="stable")[:TOP].tolist()
    of_groups, groups = _of_groups(results.survey)
    return Recomputed({**numbers, **of_groups}, results.columns(), most, groups)


def _channel(
    files: Files,
    *,
    source: str,
    reports: Mapping[str, int],
    names: Sequence[str],
    matrix: Any,
    level: float,
    users: Users,
    reading: Mapping[str, Any] | None = None,
    left_out: Sequence[str] = (),
    counted_as: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    weights: str | None = None,
    inverse: bool = False,
    sha256: str = "",
) -> Recomputed:
    """Reports of any channel: how many of each, names of the truths, the table; for people the file, as in `_k_rr`."""
    people, told = None, dict[str, Any]()
    if by or weights:
        from rr_core.io import Names, read_reports
        from rr_core.io.people import read_people

        sources, how = _sources(files, reading)
        wanted = Names(tuple(left_out), tuple((counted_as or {}).items()))
        read = read_reports(sources, **how)
        people = read_people(sources, read, list(reports), wanted, by, weights, inverse=inverse)
        reports = dict(zip(reports, people.tallies.counts.sum(axis=0).tolist(), strict=True))
        told = dict(same_file("the files", read.sha256, sha256))
    channel = _made(people, matrix, lambda told: Channel(np.array(told)))
    counts, order = np.array(list(reports.values())), report_of_each(names, list(reports))
    told = {"reports": source, "number of each": dict(reports), **told}
    return _analysed(told, people, Tallies(counts[None]), channel, names, order, level, users, by)


def _analysed(
    told: dict[str, Any],
    people: People | None,
    tallies: Tallies,
    protocol: Collecting | ByGroup,
    names: Sequence[str],
    order: Sequence[int] | None,
    level: float,
    users: Users,
    by: Sequence[str],
) -> Recomputed:
    """The analysis of all people, or of the ``tallies`` where nobody asked for more."""
    groups = ("",) if people is None else people.groups
    tallies = tallies if people is None else people.tallies
    together, survey = analyse_people(
        tallies, protocol, names, groups, level, users, order, by_group=bool(by)
    )
    (found,) = together.analyses
    fit = None if found.fit is None else p_of_file(found.fit.p_value)
    told |= {"epsilon": found.epsilon, "fit: p": fit, "certificate": found.certificate}
    of_groups, table = _of_groups(survey)
    return Recomputed({**told, **of_groups}, together.table(), None, table)


def _of_groups(survey: Survey | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Numbers about the groups, and their table."""
    if survey is None:
        return {}, None
    alike = None if survey.alike is None else p_of_file(survey.alike)
    return {"all groups are alike: p": alike}, survey.table()


def _made(people: People | None, told: Any, make: Callable[[Any], Collecting]) -> Collecting | ByGroup:
    """What made the reports: of each group where it is told by group."""
    if not isinstance(told, Mapping):
        return make(told)
    if people is None:
        raise ValueError(
            "epsilon, p, chances or matrix must be one where there are no groups, got one for each."
        )
    return ByGroup([make(told[name]) for name in people.groups])


def _unary(
    files: Files,
    *,
    source: str,
    optimized: bool,
    n: int,
    level: float,
    users: Users,
    epsilon: float | Mapping[str, float] = math.nan,
    chances: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
    ones: Mapping[str, int] | None = None,
    reading: Mapping[str, Any] | None = None,
    by: Sequence[str] = (),
    weights: str | None = None,
    inverse: bool = False,
) -> Recomputed:
    """Reports of unary encoding, by an epsilon or two chances of a one: ones of each category, or a file of bits."""
    people = None
    if ones is None:
        from rr_core.io import AS_WRITTEN
        from rr_core.io.people import read_people
        from rr_core.io.unary_reports import read_unary

        sources, how = _sources(files[:1], reading)
        read = read_unary(sources[0], **how)
        names, tallies = read.labels, read.tallies(n)
        if by or weights:
            people = read_people(
                sources, read.reports, names, AS_WRITTEN, by, weights, inverse=inverse, bits=True
            )
    else:
        names, tallies = tuple(ones), Tallies(np.array([[*ones.values(), n]]))
    k = len(names)
    made = _made(
        people,
        epsilon if chances is None else chances,
        lambda one: UnaryEncoding(k, one, optimized) if chances is None else UnaryEncoding.from_p_q(k, *one),
    )
    return _analysed({"reports": source}, people, tallies, made, names, range(k), level, users, by)


_WAYS: dict[str, Callable[..., Recomputed]] = {
    **dict.fromkeys(DESIGNS, _channel),
    "k_rr": _k_rr,
    "unary": _unary,
}
