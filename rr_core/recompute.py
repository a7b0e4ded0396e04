"""What a page of the app shows, computed again from the page's link: what a downloaded script calls.

>>> print(recompute("/estimators?dist=zipf&k=3&s=1&eps=2&n=1000&seed=5").table["mle_star"].round(3))
[0.547 0.286 0.167]
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from rr_core.comparison import compare, estimates_table
from rr_core.ibu import Start, ibu_path, log_spaced
from rr_core.ibu.costs import records_per_decade
from rr_core.law import negative_chance, negatives
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.plain_text import csv_cell, untouched
from rr_core.plan import bounds, protocol_choice, shuffling
from rr_core.plan.answer import make_plan
from rr_core.plan.settings import PlanSettings
from rr_core.plan.targets import Guess
from rr_core.populations import UPLOAD, Population
from rr_core.protocols import Channel, UnaryEncoding, summarise_posterior
from rr_core.protocols.collection import collect, collect_unary, users_in_rows
from rr_core.protocols.settings import (
    DRAWS,
    ENCODING,
    FIRST_ENCODING,
    ChannelSettings,
    PriorSettings,
    TimeSettings,
    most_common,
    read_channel,
    read_prior,
    read_time,
)
from rr_core.registry import REGISTRY
from rr_core.reports import analyse, fit_test, plausible_epsilon
from rr_core.reports.other_protocols import OtherAnalysis, analyse_channel, analyse_unary
from rr_core.scenario import Draw, Scenario
from rr_core.streams import Stream

if TYPE_CHECKING:
    from rr_core.io import Domain, Source
    from rr_core.io.columns import Layout

_TOP = 20  # rows printed

File = str | Path | tuple[str, bytes]


@dataclass(frozen=True, eq=False)
class Recomputed:
    """The numbers of a page.

    Attributes:
        numbers: by what they are.
        table: columns of equal length by name, as in the page's file of data.
        first: rows to print, 20 at most; None for the first ones.
    """

    numbers: Mapping[str, Any]
    table: Mapping[str, Any]
    first: Sequence[int] | None = None

    def __str__(self) -> str:
        """The numbers, one per line, and some rows of the table as CSV."""
        out = io.StringIO()
        rows = len(next(iter(self.table.values())))
        first = range(min(_TOP, rows)) if self.first is None else self.first
        self._write(out, first)
        numbers = "".join(f"{name} = {_plain(value)}\n" for name, value in self.numbers.items())
        return f"{numbers}{out.getvalue()}({len(first)} of {rows} rows)"

    def save(self, path: str | Path) -> None:
        """Write the whole table as CSV, at full precision; no name can run as a formula in a spreadsheet."""
        # Excel knows UTF-8 by its mark, and needs it only where there is more than ASCII.
        ascii_only = all(map(str.isascii, map(str, self.table.get("category", ()))))
        with open(path, "w", newline="", encoding="utf-8" if ascii_only else "utf-8-sig") as file:
            self._write(file, range(len(next(iter(self.table.values())))))

    def _write(self, out: TextIO, rows: Iterable[int]) -> None:
        columns = {name: _plain(column) for name, column in self.table.items()}
        names = columns.get("category", range(0))
        if not isinstance(names, range):
            columns["category"] = [csv_cell(name) for name in names]
            columns |= untouched(names, columns["category"])
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([column[i] for column in columns.values()] for i in rows)


def recompute(
    link: str, files: Sequence[File] = (), *, upload: Mapping[str, Any] | None = None, **settings: Any
) -> Recomputed:
    """The numbers of the page at this link.

    Args:
        link: address of a page with its parameters, from "/" on, or the whole address.
        files: the person's own files, each a path or a name with its bytes: the distribution of "dist=upload", or the
            collected reports. Reading them needs pyarrow.
        upload: how the distribution is read: arguments of `rr_core.io.read_distribution`, and "sha256" of the file.
        settings: what the page was told and its link does not hold; which they are depends on the page.

    Raises:
        ValueError: in one plain sentence: a link that has no numbers or a value that cannot be, or an unreadable file.
    """
    address = urlsplit(link)
    page, query = address.path.strip("/").rpartition("/")[2], dict(parse_qsl(address.query))
    if page == "your_reports":
        compute = _REPORTS.get(query.get("made", "k_rr"))
        if compute is None:
            raise ValueError(f"made={query['made']} is no way of making reports: {', '.join(_REPORTS)}.")
        return compute(files, **settings)
    name = f"protocols/{query.get('part', 'channel')}" if page == "protocols" else page
    if name not in PAGES:
        raise ValueError(f"/{name} has no numbers to compute again; these have: {', '.join(PAGES)}.")
    scenario, notes = Scenario.from_query(query)
    _refuse(notes)
    if scenario.dist != UPLOAD:
        return PAGES[name](scenario.draw(), query, **settings)
    population, read = _uploaded(files, **upload or {})
    found = PAGES[name](scenario.draw(population), query, **settings)
    return Recomputed({**read, **found.numbers}, found.table, found.first)


def _estimates(draw: Draw, _: Mapping[str, str]) -> Recomputed:
    result, mechanism = compare(draw, "users"), draw.mechanism
    found = negatives(result.estimates["inv"], draw.true_counts, mechanism)
    numbers = {
        "p": mechanism.p,
        "q": mechanism.q,
        "negatives of Inv": found.count,
        "their sum": found.total,
        "chance that an empty category goes negative": negative_chance(draw.scenario.n, mechanism),
        **result.errors,
        "certificate of MLE*": result.certificate,
    }
    return Recomputed(numbers, estimates_table(draw, result.estimates))


def _ibu(draw: Draw, _: Mapping[str, str], *, start: Mapping[str, Any], iterations: int) -> Recomputed:
    marks = log_spaced(iterations, records_per_decade(draw.counts))
    path = ibu_path(draw.counts, draw.mechanism, marks, Start(**start).distribution(draw.counts))
    return Recomputed(_estimates(draw, {}).numbers, path.columns())


def _channel(draw: Draw, query: Mapping[str, str], *, matrix: Any | None = None) -> Recomputed:
    settings = _settings(read_channel(query), ChannelSettings())
    if matrix is None and (settings.design == "own" or ("matrix" in query and "channel" not in query)):
        raise ValueError("A table of one's own is not in the link alone: pass it as matrix.")
    if matrix is None:
        channel = settings.channel(settings.rows(draw.scenario), draw.scenario.epsilon)
    else:
        channel = Channel(np.array(matrix))
    users, labels = users_in_rows(draw, channel.k, matrix is not None)
    found = collect(channel, users, draw.scenario.stream(Stream.CHANNEL))
    numbers = {
        "epsilon": channel.epsilon,
        "rank": channel.rank,
        "condition number": channel.condition_number,
        "reports": found.counts,
        "certificate of MLE": found.mle.gap,
    }
    names = settings.names(labels) or range(1, channel.k + 1)
    return Recomputed(numbers, {"category": names, **found.columns()})


def _unary(draw: Draw, query: Mapping[str, str]) -> Recomputed:
    encoding, note = ENCODING.parse(query.get(ENCODING.parameter, FIRST_ENCODING), FIRST_ENCODING)
    _refuse([note] if note else [])
    protocol = UnaryEncoding(draw.scenario.k, draw.scenario.epsilon, encoding == "oue")
    found = collect_unary(protocol, draw.true_counts, draw.scenario.stream(Stream.UNARY))
    numbers = {} if found.mle is None else {"certificate of MLE": found.mle.gap}
    return Recomputed(numbers, {"category": draw.categories, **found.columns()})


def _posterior(draw: Draw, query: Mapping[str, str]) -> Recomputed:
    settings, rng = _settings(read_prior(query), PriorSettings()), draw.scenario.stream(Stream.POSTERIOR)
    found = summarise_posterior(draw.counts, draw.mechanism, settings.parameter, DRAWS, rng)
    table = {"category": draw.categories, "mean": found.mean, "low": found.low, "high": found.high}
    return Recomputed({"parameter of the prior": settings.parameter}, table)


def _over_time(draw: Draw, query: Mapping[str, str]) -> Recomputed:
    settings, shares = _settings(read_time(query), TimeSettings()), draw.population.probabilities
    if query.get("truth") == "hidden":
        shares = np.full(shares.size, 1 / shares.size)
    prior = shares[most_common(shares)]
    days, right = settings.guessed_right(draw.scenario, prior / prior.sum())
    return Recomputed({}, settings.columns(draw.scenario, prior.size, days, right))


def _plan(draw: Draw, query: Mapping[str, str], *, delta: float) -> Recomputed:
    scenario = draw.scenario
    k, (settings, notes) = scenario.k, PlanSettings.from_query(query, scenario.k)
    _refuse(notes)
    settings, users = settings.fitted(k), settings.users
    guess = Guess.of(k, None if settings.worst_case else draw.population.probabilities)
    plan = make_plan(settings, k, scenario.epsilon, scenario.n, guess)
    now = shuffling.shuffled(plan.epsilon, plan.n, delta)
    at = bounds.against_epsilon([plan.epsilon], k, plan.epsilon, plan.n, users)
    numbers = {
        **({"no answer": plan.problem} if plan.problem else {}),
        "K": k,
        "epsilon": plan.epsilon,
        "N": plan.n,
        f"reached, {settings.about.measure} ({settings.about.unit})": plan.value,
        "k-RR is as good as subset selection up to K": protocol_choice.single_k(plan.epsilon),
        "squared error of Inv": at.now,
        "its lower bound at equal shares": at.floor,
        "central epsilon after shuffling": now.epsilon,
        "its condition holds": now.holds,
    }
    for row in protocol_choice.compare(k, plan.epsilon, plan.n, 1 / k, users):
        numbers[row.key] = {"rmse": row.rmse, "users": row.users_relative, "bits": row.bits}
    price = plan.price
    table: dict[str, Any] = {"bits_less": [], "epsilon_nats": [], "n_users": []}
    if price is not None:
        table = {"bits_less": price.bits, "epsilon_nats": price.epsilons, "n_users": price.users}
    return Recomputed(numbers, table)


PAGES: dict[str, Callable[..., Recomputed]] = {
    **dict.fromkeys(("noisy_histogram", "inv_negatives", "estimators", "geometry"), _estimates),
    "ibu": _ibu,
    "plan": _plan,
    "protocols/channel": _channel,
    "protocols/unary": _unary,
    "protocols/posterior": _posterior,
    "protocols/time": _over_time,
}


def _reports(
    files: Sequence[File],
    *,
    category: str,
    count: str | None,
    has_header: bool | None,
    listed: Sequence[str] | str | None = None,
    size: int | None = None,
    left_out: Sequence[str] = (),
    counted_as: Mapping[str, str] | None = None,
    swapped: bool = False,
    epsilon: float = math.nan,
    p: float | None = None,
    level: float,
    users: Users,
    replicates: int,
    seed: int,
    search_epsilon: bool,
    seen: tuple[int, int, str],
) -> Recomputed:
    """Collected reports of k-RR.

    Args:
        category, count, has_header: as in `rr_core.io.read_reports`.
        listed: all categories, or the file that has one per line; size: or only their number; else all seen.
        left_out, counted_as: names that are no categories, and names whose reports are counted under another.
        swapped: whether the reports of each of two answers are counted for the other.
        epsilon, p: privacy, as one of the two.
        level, users: of `analyse`.
        replicates, seed: simulated collections for the test of epsilon, 0 for none.
        search_epsilon: whether to look for the smallest plausible epsilon.
        seen: K, N and digest of the files, as the app had them.
    """
    from rr_core.io import Names, read_reports, within

    read = read_reports(
        [_source(file) for file in files],
        layout=_layout(count),
        category=category,
        count=count,
        has_header=has_header,
    )
    names = Names(tuple(left_out), tuple((counted_as or {}).items()))
    collected = within(read, _domain(listed, size), names)
    counts = collected.counts[:: -1 if swapped else 1]
    mechanism = (
        RandomizedResponse(collected.k, epsilon) if p is None else RandomizedResponse.from_p(collected.k, p)
    )
    found = analyse(counts, mechanism, level, users=users)
    numbers: dict[str, Any] = {
        "K": collected.k,
        "N": collected.total,
        "epsilon": mechanism.epsilon,
        "p": mechanism.p,
        "q": mechanism.q,
        "files": _as_seen(collected.k, collected.total, read.sha256, *seen),
        "reports outside the domain, left out": collected.outside_total,
    }
    rejected = False
    if replicates:
        tested = fit_test(counts, mechanism, replicates, seed=seed)
        rejected = tested.rejects(0.05)
        numbers |= {
            "fit: statistic": tested.statistic,
            "fit: p-value": tested.p_value,
            "fit: simulated": tested.done,
            "fit: N q": tested.floor,
            "fit: fewest reports": tested.lowest,
            "fit: categories below": tested.below,
            "fit: so few with a chance of at most": tested.extremes.fewest,
            "fit: N p": tested.ceiling,
            "fit: most reports": counts.max(),
            "fit: so many with a chance of at most": tested.extremes.most,
            "fit: the stated epsilon is": "rejected" if rejected else "not rejected",
        }
    if search_epsilon:
        plausible = plausible_epsilon(counts, mechanism.k, above=mechanism.epsilon, seed=seed)
        numbers[f"plausible epsilon: {'none up to' if plausible.none else 'at least'}"] = plausible.low
    nearest, words = found.nearest, {entry.name: entry.label for entry in REGISTRY}
    if rejected:
        numbers["nearest to the truth"] = "settle epsilon first"
    else:
        sure = "" if set(nearest.tied) <= set(nearest.same) else ", which cannot be told"
        numbers["nearest to the truth, as estimated"] = (
            " or ".join(words[name] for name in nearest.tied) + sure
        )
        if len(nearest.same) > 1:
            numbers["the same in every category"] = ", ".join(words[name] for name in nearest.same)
        if not found.above.above.any():
            numbers["no share is larger than chance alone could make it"] = (
                "report Inv with its intervals, or no table at all"
            )
        numbers[f"estimated squared error beyond that of {words[nearest.best]}"] = nearest.differences
        numbers["standard errors of these"] = nearest.standard_errors
    most = np.argsort(-counts, kind="stable")[:_TOP].tolist()
    return Recomputed(numbers, {"category": collected.labels.tolist(), **found.columns()}, most)


def _of_channel(
    files: Sequence[File],
    *,
    source: str,
    reports: Mapping[str, int],
    names: Sequence[str],
    matrix: Any,
    level: float,
    users: Users,
) -> Recomputed:
    """Collected reports of any channel: where they come from, how many of each, names of the truths, and the table."""
    found = analyse_channel(list(reports.values()), Channel(np.array(matrix)), level, users)
    counts = {"reports": [reports[name] for name in names]} if set(names) == set(reports) else {}
    numbers = {"reports": f"{source}: {dict(reports)}", **_fit(found)}
    return Recomputed(numbers, {"category": names, **counts, **found.columns()})


def _of_unary(
    files: Sequence[File],
    *,
    source: str,
    epsilon: float,
    optimized: bool,
    n: int,
    level: float,
    users: Users,
    ones: Mapping[str, int] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Recomputed:
    """Collected reports of unary encoding: ones of each category, or a file of bits and how to read it."""
    bits = None
    if ones is None:
        from rr_core.io.unary_reports import read_unary

        read = read_unary(_source(files[0]), **reading or {})
        names, support = read.labels, read.support
        bits = None if read.bits is None or read.times is None else (read.bits, read.times)
    else:
        names, support = tuple(ones), np.array(list(ones.values()))
    found = analyse_unary(support, UnaryEncoding(len(names), epsilon, optimized), n, level, users, bits)
    numbers = {"reports": source, **_fit(found)}
    return Recomputed(numbers, {"category": names, "ones": support, **found.columns()})


_REPORTS: dict[str, Callable[..., Recomputed]] = {
    "k_rr": _reports,
    "unary": _of_unary,
    **dict.fromkeys(("warner", "forced", "own"), _of_channel),
}


def _fit(found: OtherAnalysis) -> dict[str, Any]:
    return {"epsilon": found.epsilon, "fit": found.fit, "certificate": found.certificate}


def _as_seen(k: int, n: int, sha256: str, app_k: int, app_n: int, app_sha256: str) -> str:
    """Whether this is what the app saw."""
    if (k, n) != (app_k, app_n):
        return f"NOT WHAT THE APP SAW: it had K = {app_k}, N = {app_n}. The files or the categories differ."
    if sha256 != app_sha256:
        return "K and N are those that the app saw, but the bytes of the files are not: compare the numbers."
    return "The files, K and N are those that the app saw."


def _layout(count: str | None) -> Layout:
    return "values" if count is None else "counts"


def _domain(listed: Sequence[str] | str | None, size: int | None) -> Domain:
    from rr_core.io import AllSeen, Listed, Size

    if listed is None:
        return AllSeen() if size is None else Size(size)
    names = Path(listed).read_text("utf-8").rstrip("\n").split("\n") if isinstance(listed, str) else listed
    return Listed(np.array(names, dtype=object))


def _uploaded(
    files: Sequence[File], *, count: str | None, sha256: str = "", **reading: Any
) -> tuple[Population, dict[str, Any]]:
    """The population of a file, and a sentence where it is another file than the app's."""
    from rr_core.io import read_distribution

    if len(files) != 1:
        raise ValueError("The link is about an uploaded distribution: pass its file.")
    source = _source(files[0])
    read = read_distribution(bytes(source.data), source.name, layout=_layout(count), count=count, **reading)
    other = sha256 not in ("", read.sha256)
    sentence = "its bytes are not those that the app saw: compare the numbers."
    return Population.from_weights(read.weights, list(read.labels)), {source.name: sentence} if other else {}


def _source(file: File) -> Source:
    from rr_core.io import Source

    return Source(*file) if isinstance(file, tuple) else Source(Path(file).name, Path(file).read_bytes())


def _settings(read: tuple[Any, Sequence[str]] | None, default: Any) -> Any:
    """The settings that were read from the link, or the default ones where it has none."""
    if read is None:
        return default
    _refuse(read[1])
    return read[0]


def _refuse(notes: Sequence[str]) -> None:
    if notes:
        raise ValueError(" ".join(notes))


def _plain(value: Any) -> Any:
    """The same as Python's own numbers, whose text has every digit."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return value
