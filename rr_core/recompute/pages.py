"""What the pages about a scenario show: one function a page, given the draw, the parameters of the link, and what else is
chosen on the page."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rr_core import parameters
from rr_core.comparison import compare, estimates_table
from rr_core.ibu import Start, ibu_path, log_spaced
from rr_core.ibu.costs import records_per_decade
from rr_core.law import negative_chance, negatives
from rr_core.plan import bounds, protocol_choice, shuffling
from rr_core.plan.landscape import make_plan
from rr_core.plan.one_share import share_curve
from rr_core.plan.settings import SHARE_PARAMETERS, PlanSettings, ShareSettings
from rr_core.plan.targets import Guess
from rr_core.populations import UPLOAD, Population
from rr_core.protocols import Channel, UnaryEncoding, summarise_posterior
from rr_core.protocols.collection import collect, collect_unary, users_in_rows
from rr_core.protocols.settings import (
    DRAWS,
    ENCODING,
    FIRST_ENCODING,
    PRIOR_PARAMETERS,
    TIME_PARAMETERS,
    PriorSettings,
    TimeSettings,
    most_common,
    read_channel,
)
from rr_core.recompute.result import Recomputed, same_file
from rr_core.reports.designs import DESIGNS, Unclear
from rr_core.scenario import Draw, Scenario
from rr_core.streams import Stream

T = TypeVar("T")


def of_page(
    page: str,
    query: Mapping[str, str],
    files: Sequence[str | Path],
    *,
    upload: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Recomputed:
    """The numbers of a page about the scenario of these parameters of a link; arguments as in `rr_core.recompute`."""
    name = f"protocols/{query.get('part', 'channel')}" if page == "protocols" else page
    if name not in PAGES:
        raise ValueError(f"/{name} has no numbers to compute again; these have: {', '.join(PAGES)}.")
    scenario = _valid(*Scenario.from_query(query))
    population, told = _uploaded(files, **upload or {}) if scenario.dist == UPLOAD else (None, {})
    found = PAGES[name](scenario.draw(population), query, **settings)
    return Recomputed({**told, **found.numbers}, found.table)


def _uploaded(
    files: Sequence[str | Path], *, sha256: str = "", **reading: Any
) -> tuple[Population, dict[str, str]]:
    """The population of a file, and `same_file`."""
    from rr_core.io import Source, read_distribution

    if len(files) != 1:
        raise ValueError("The link is about an uploaded distribution: pass its file.")
    source = Source.of(files[0])
    read = read_distribution(bytes(source.data), source.name, **reading)
    population = Population.from_weights(read.weights, list(read.labels))
    return population, same_file(source.name, read.sha256, sha256)


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


def _ibu(
    draw: Draw, _: Mapping[str, str], *, start: Mapping[str, Any] | None = None, iterations: int = 10_000
) -> Recomputed:
    marks = log_spaced(iterations, records_per_decade(draw.counts))
    path = ibu_path(draw.counts, draw.mechanism, marks, Start(**start or {}).distribution(draw.counts))
    return Recomputed(_estimates(draw, {}).numbers, path.columns())


def _channel(
    draw: Draw, query: Mapping[str, str], *, matrix: Any = None, names: Sequence[str] | None = None
) -> Recomputed:
    """``matrix`` and ``names``: a table of one's own, and the names of its rows, if any."""
    settings = _valid(*read_channel(query))
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
    categories = names or settings.names(labels) or range(1, channel.k + 1)
    return Recomputed(numbers, {"category": categories, **found.columns()})


def _unary(draw: Draw, query: Mapping[str, str]) -> Recomputed:
    encoding = _valid(*ENCODING.parse(query.get(ENCODING.parameter, FIRST_ENCODING), FIRST_ENCODING))
    protocol = UnaryEncoding(draw.scenario.k, draw.scenario.epsilon, encoding == "oue")
    found = collect_unary(protocol, draw.true_counts, draw.scenario.stream(Stream.UNARY))
    numbers = {} if found.mle is None else {"certificate of MLE": found.mle.gap}
    return Recomputed(numbers, {"category": draw.categories, **found.columns()})


def _posterior(draw: Draw, query: Mapping[str, str]) -> Recomputed:
    settings = _valid(*parameters.read(PRIOR_PARAMETERS, query, PriorSettings()))
    rng = draw.scenario.stream(Stream.POSTERIOR)
    found = summarise_posterior(draw.counts, draw.mechanism, settings.parameter, DRAWS, rng)
    table = {"category": draw.categories, "mean": found.mean, "low": found.low, "high": found.high}
    return Recomputed({"parameter of the prior": settings.parameter}, table)


def _over_time(draw: Draw, query: Mapping[str, str]) -> Recomputed:
    settings = _valid(*parameters.read(TIME_PARAMETERS, query, TimeSettings()))
    shares = draw.population.probabilities
    if query.get("truth") == "hidden":
        shares = np.full(shares.size, 1 / shares.size)
    prior = shares[most_common(shares)]
    days, right = settings.guessed_right(draw.scenario, prior / prior.sum())
    return Recomputed({}, settings.columns(draw.scenario, prior.size, days, right))


def _plan(draw: Draw, query: Mapping[str, str], *, delta: float = 1e-6) -> Recomputed:
    scenario = draw.scenario
    k, settings = scenario.k, _valid(*PlanSettings.from_query(query, scenario.k))
    users = settings.users
    guess = Guess.of(k, None if settings.worst_case else draw.population.probabilities)
    plan = make_plan(settings, k, scenario.epsilon, scenario.n, guess)
    now = shuffling.shuffled(plan.epsilon, plan.n, delta)
    at = bounds.against_epsilon([plan.epsilon], k, plan.epsilon, plan.n, users)
    numbers: dict[str, Any] = {
        **({"no answer": plan.problem} if plan.problem else {}),
        "K": k,
        "epsilon": plan.epsilon,
        "N": plan.n,
        f"reached, {settings.about.measure} ({settings.about.unit})": plan.value,
        "k-RR is as good as subset selection up to K": protocol_choice.single_k(plan.epsilon),
        "squared error of Inv at equal shares": at.now,
        "its lower bound at equal shares": at.floor,
        "central epsilon after shuffling": now.epsilon,
        "its condition holds": now.holds,
    }
    for row in protocol_choice.compare(k, plan.epsilon, plan.n, 1 / k, users):
        numbers[row.key] = {"rmse": row.rmse, "users": row.users_relative, "bits": row.bits}
    survey, _ = parameters.read(SHARE_PARAMETERS, query, ShareSettings())
    with contextlib.suppress(Unclear):  # of what is missing or cannot be there is no answer
        one = share_curve(*survey.understood())
        name = DESIGNS[survey.design].name
        numbers[f"one question, {name}"] = {"share": one.share, "people": one.needed}
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


def _valid(settings: T, notes: str | Sequence[str]) -> T:
    """The settings of a link, none of which had to be changed."""
    if notes:
        raise ValueError(notes if isinstance(notes, str) else " ".join(notes))
    return settings
