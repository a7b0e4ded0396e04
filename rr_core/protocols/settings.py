"""What a person chooses on the parts of the page about protocols: the settings, their place in a link, and what is
computed from them and a scenario. The page and `rr_core.recompute` share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rr_core import parameters
from rr_core._validate import Array
from rr_core.ibu import log_spaced
from rr_core.limits import EPSILON_MAX
from rr_core.mechanism import RandomizedResponse
from rr_core.parameters import Choice, Number, Parameter, Several
from rr_core.protocols.channel import Channel
from rr_core.protocols.over_time import SCHEMES, Longitudinal, guesses
from rr_core.protocols.posterior import PRIORS
from rr_core.scenario import Scenario
from rr_core.streams import Stream

PERCENT = 100.0
DRAWS = 2000  # of the posterior, for its intervals
MOST_CATEGORIES = 100  # of a channel, and of people who report every day
MOST_DAYS = 365
_PER_DECADE = 8  # days of the picture
_PEOPLE = (100, 2000)  # simulated, at least and at most
_CELLS = 150_000  # people times categories times days of the picture

PRIOR_NAMES = {"jeffreys": "Jeffreys (½)", "uniform": "Uniform (1)", "own": "My own"}
DESIGNS = {
    "forced": "Forced answers",
    "warner": "Warner's two questions",
    "geometric": "Noise between neighbours",
    "errors": "Mistaken for a neighbour",
    "k_rr": "k-RR",
    "own": "A table of my own",
}
ENCODINGS = {"rappor": "Symmetric (basic RAPPOR)", "oue": "Optimised (OUE)"}
ENCODING = Choice("encoding", "bits", "encoding", ENCODINGS)
FIRST_ENCODING = "rappor"
EXAMPLE = "0.7 0.2 0.1; 0.2 0.6 0.2; 0.1 0.2 0.7"
SCHEMES_IN_ORDER = ("fresh", "memoised", "rappor", "l_osue", "l_grr", "loloha")  # of the choice on the page


@dataclass(frozen=True)
class PriorSettings:
    """Attributes:
    kind: a key of PRIOR_NAMES.
    own: parameter of the prior of one's own.
    """

    kind: str = "jeffreys"
    own: float = 10.0

    @property
    def parameter(self) -> float:
        return PRIORS.get(self.kind, self.own)


_KIND = Choice("kind", "prior", "prior", PRIOR_NAMES)
OWN_PRIOR = Number("own", "alpha", "parameter of the prior", 0.01, 1000.0, False)
PRIOR_PARAMETERS = (_KIND, OWN_PRIOR)


def write_prior(settings: PriorSettings) -> dict[str, str]:
    if settings == PriorSettings():
        return {}
    return parameters.write(PRIOR_PARAMETERS if settings.kind == "own" else (_KIND,), settings)


@dataclass(frozen=True)
class ChannelSettings:
    """Which channel, and its own settings, in percent.

    Attributes:
        design: a key of DESIGNS.
        p: of people who answer the question itself (Warner).
        forced: of people who give a fixed answer.
        first: of forced answers that are the first category.
        error: of people mistaken for a neighbour.
        matrix: as it was typed.
    """

    design: str = "k_rr"
    p: float = 75.0
    forced: float = 40.0
    first: float = 60.0
    error: float = 20.0
    matrix: str = EXAMPLE

    def channel(self, k: int, epsilon: float) -> Channel:
        """The channel on k categories, but for a table of one's own; some designs use the scenario's ``epsilon``."""
        if self.design == "warner":
            return Channel.warner(self.p / PERCENT)
        if self.design == "forced":
            return Channel.forced_with_first(k, self.forced / PERCENT, self.first / PERCENT)
        if self.design == "errors":
            return Channel.misclassification(k, self.error / PERCENT)
        if self.design == "geometric":
            return Channel.truncated_geometric(k, epsilon)
        return Channel.k_rr(RandomizedResponse(k, epsilon))

    def names(self, labels: Sequence[str] | None) -> Sequence[str] | None:
        """Names of the channel's truths, whose categories have these labels; None for numbers."""
        return labels if self.design != "warner" else (labels[0] if labels else "1", "not so")

    def rows(self, scenario: Scenario) -> int:
        """How many categories the channel has in this scenario, where the last ones are merged."""
        most = MOST_CATEGORIES
        if self.design == "warner":
            most = 2
        if self.design == "geometric":
            most = min(most, int(EPSILON_MAX / scenario.epsilon) + 1)
        return min(most, scenario.k)


_DESIGN = Choice("design", "channel", "channel", DESIGNS)
CHANNEL_NUMBERS = {
    "warner": (Number("p", "ask", "share of people asked the question itself in %", 0, PERCENT, False),),
    "forced": (
        Number("forced", "forced", "share of forced people in %", 0, PERCENT, False),
        Number(
            "first", "first", "share of forced answers that are the first category in %", 0, PERCENT, False
        ),
    ),
    "errors": (Number("error", "wrong", "share of people mistaken for a neighbour in %", 0, PERCENT, False),),
}


CHANNEL_PARAMETERS: tuple[Parameter, ...] = (
    _DESIGN,
    *(one for several in CHANNEL_NUMBERS.values() for one in several),
)


def read_channel(query: Mapping[str, str], *matrix: Parameter) -> tuple[ChannelSettings, tuple[str, ...]]:
    """The settings of a link; ``matrix`` describes the typed table of one's own, where that is read."""
    of_design = {**CHANNEL_NUMBERS, "own": matrix}
    # A link with nothing but the settings of a channel is about that channel.
    named = [design for design, own in of_design.items() if any(one.parameter in query for one in own)]
    inferred = _DESIGN.parameter not in query and named
    default = ChannelSettings(named[0]) if inferred else ChannelSettings()
    return parameters.read((*CHANNEL_PARAMETERS, *matrix), query, default)


def write_channel(settings: ChannelSettings, *matrix: Parameter) -> dict[str, str]:
    """The parameters of a link to the settings."""
    if settings == ChannelSettings():
        return {}
    own = matrix if settings.design == "own" else CHANNEL_NUMBERS.get(settings.design, ())
    return parameters.write((_DESIGN, *own), settings)


@dataclass(frozen=True)
class TimeSettings:
    """What is compared.

    Attributes:
        schemes: keys of `SCHEMES`, in the order of SCHEMES_IN_ORDER.
        days: how many.
        day: share of the budget that one report of the two-step schemes has, in percent.
        every: days that a value lasts; 0 where it stays.
    """

    schemes: tuple[str, ...] = ("fresh", "memoised", "rappor", "loloha")
    days: int = 30
    day: float = 50.0
    every: int = 0

    def first(self, epsilon: float) -> float:
        """Epsilon of one report of the schemes with two steps."""
        return epsilon * self.day / PERCENT

    def scheme(self, key: str, k: int, epsilon: float) -> Longitudinal:
        first = None if key in ("fresh", "memoised") else self.first(epsilon)
        return Longitudinal(key, k, epsilon, first)  # type: ignore[arg-type]  # one of SCHEMES

    def changes(self, days: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often a value changes up to each day, at most."""
        return (days - 1) // self.every if self.every else 0 * days

    def guessed_right(self, scenario: Scenario, prior: Array) -> tuple[NDArray[np.int64], dict[str, Array]]:
        """(d,) numbers of days, and by scheme the (d,) shares of people whose category an onlooker guesses; ``prior``
        (k,) holds the shares of the categories."""
        days = log_spaced(self.days, _PER_DECADE)[1:]
        people = int(np.clip(_CELLS // (prior.size * days.size), *_PEOPLE))
        right = {}
        for key in self.schemes:
            rng = scenario.stream(Stream.OVER_TIME, 0, SCHEMES.index(key))
            right[key] = guesses(
                self.scheme(key, prior.size, scenario.epsilon), prior, days, people, rng
            ).right
        return days, right

    def columns(
        self, scenario: Scenario, k: int, days: NDArray[np.int64], right: Mapping[str, Array]
    ) -> dict[str, Any]:
        """By day, for k categories: shares guessed right, budgets, and errors by the formula."""
        columns: dict[str, Any] = {"days": days}
        for key in self.schemes:
            scheme = self.scheme(key, k, scenario.epsilon)
            columns[f"{key}_guessed_right"] = right[key]
            columns[f"{key}_epsilon"] = scheme.epsilon_any_changes(days, self.changes(days))
            if self.every:
                columns[f"{key}_epsilon_in_turn"] = scheme.epsilon_changing(days, self.every)
            columns[f"{key}_rmse"] = np.sqrt(scheme.variance(1 / k, scenario.n, days))
        return columns


def most_common(shares: Array) -> NDArray[np.intp]:
    """The most common categories, as many as are shown day by day, in their own order."""
    if shares.size <= MOST_CATEGORIES:
        return np.arange(shares.size)
    return np.sort(np.argsort(-shares, kind="stable")[:MOST_CATEGORIES])


SEVERAL_SCHEMES = Several("schemes", "schemes", "schemes", SCHEMES_IN_ORDER)
TIME_PARAMETERS = (
    SEVERAL_SCHEMES,
    Number("days", "days", "number of days", 1, MOST_DAYS, True),
    Number("day", "day", "share of ε in one report in %", 5, 95, False),
    Number("every", "change", "days until a value changes", 0, MOST_DAYS, True),
)
