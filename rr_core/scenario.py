"""A scenario: population, k, epsilon, N and seed, as one value that fits in a link.

The same scenario gives the same users and the same reports everywhere: both are functions of uniform numbers that depend
on the seed alone. So scenarios with one seed have the same people and the same dice at every epsilon and N: see
`rr_core.coupling`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rr_core import coupling, limits, parameters, streams, typed
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.parameters import Choice, Number
from rr_core.populations import DISTRIBUTIONS, TABLES, UPLOAD, Population, build, frozen
from rr_core.simulate import Collector
from rr_core.streams import Stream


@dataclass(frozen=True)
class Scenario:
    """The settings that a user chose. Ranges are in `rr_core.limits`.

    Attributes:
        dist: key of the distribution (``populations.DISTRIBUTIONS``).
        k: number of categories; set by the table itself where dist is a table.
        s: Zipf exponent; only dist="zipf" uses it.
        epsilon: privacy budget.
        n: number of users.
        seed: of the random numbers for users and noise.
    """

    dist: str = "zipf"
    k: int = 12
    s: float = 1.5
    epsilon: float = 1.0
    n: int = 2000
    seed: int = 5

    def __post_init__(self) -> None:
        if _DISTRIBUTION.checked(self.dist) in TABLES:
            object.__setattr__(self, "k", len(TABLES[self.dist].rows))
        for one in PARAMETERS:
            object.__setattr__(self, one.name, one.checked(getattr(self, one.name)))

    @property
    def of_data(self) -> bool:
        """Whether data fix the number of categories."""
        return self.dist in TABLES or self.dist == UPLOAD

    @property
    def mechanism(self) -> RandomizedResponse:
        return RandomizedResponse(self.k, self.epsilon)

    def stream(self, stream: Stream, *numbers: int) -> np.random.Generator:
        """A random stream of this scenario's seed; arguments as in `rr_core.streams.key`."""
        return streams.generator(self.seed, stream, *numbers)

    def population(self) -> Population:
        """The population, for every distribution but an upload."""
        if self.dist == UPLOAD:
            raise ValueError("dist = 'upload' has no population of its own: pass the uploaded one")
        return build(self.dist, self.k, self.s)

    def users(self, population: Population | None = None) -> Users:
        """The users of this scenario; they depend on everything but epsilon, and with another n some come or go.

        Args:
            population: needed when dist is "upload"; then it fixes k. When n is the total of its table of
                counts, the users are exactly the people of the table.
        """
        population = self.population() if population is None else population
        if population.k != self.k:
            raise ValueError(f"population must have k = {self.k} categories, got {population.k}")
        if population.counts is not None and self.n == population.total:  # see Draw.of_table
            return Users(population, population.counts)
        uniforms = self.stream(Stream.USERS).random(self.k)
        return Users(population, frozen(coupling.multinomial(self.n, population.probabilities, uniforms)))

    def collect(self, users: Users) -> Draw:
        """One noisy histogram of these users' reports; with another epsilon, those whose coin changes report something
        else.

        >>> users = Scenario("zipf", 3, 1.0, 1.0, 1000, 5).users()
        >>> [Scenario("zipf", 3, 1.0, epsilon, 1000, 5).collect(users).counts.tolist() for epsilon in (1.0, 1.01)]
        [[410, 321, 269], [411, 321, 268]]
        """
        # Two numbers a category, one after the other: those of a category do not depend on k.
        uniforms = np.ascontiguousarray(self.stream(Stream.NOISE).random((self.k, 2)).T)
        counts = coupling.noisy_histogram(users.counts, self.mechanism.keep, uniforms)
        return Draw(self, users.population, users.counts, frozen(counts))

    def draw(self, population: Population | None = None) -> Draw:
        """The users of this scenario and one noisy histogram of their reports; see `users`."""
        return self.collect(self.users(population))

    def to_query(self) -> dict[str, str]:
        """The query parameters of a link to this scenario."""
        return parameters.write(PARAMETERS, self)

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], default: Scenario | None = None
    ) -> tuple[Scenario, tuple[str, ...]]:
        """The scenario of a link, and one plain sentence for each value that had to be changed.

        Args:
            query: query parameters; unknown ones are left alone, missing ones take the default.
            default: the scenario that fills the gaps.
        """
        scenario, notes = parameters.read([_DISTRIBUTION], query, default or cls())
        settled = {"dist"}
        if scenario.dist in TABLES:
            settled.add("k")
            note = other_k(query.get("k", ""), scenario.k, TABLES[scenario.dist].name)
            notes = (*notes, note) if note else notes
        rest = [one for one in PARAMETERS if one.name not in settled]
        scenario, others = parameters.read(rest, query, scenario)
        return scenario, notes + others


@dataclass(frozen=True, eq=False)
class Users:
    """Who reports: the population they come from, and (k,) how many have each category; read-only."""

    population: Population
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Draw:
    """One collection: the users and their reports.

    Attributes:
        scenario: the choice it came from.
        population: what the users were drawn from.
        true_counts: (k,) the users' actual counts; read-only.
        counts: (k,) reports per category; read-only.
    """

    scenario: Scenario
    population: Population
    true_counts: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def mechanism(self) -> RandomizedResponse:
        return self.scenario.mechanism

    @property
    def theta(self) -> Array:
        """(k,) shares of these users, the truth the estimates are after."""
        shares: Array = self.true_counts / self.scenario.n
        return shares

    @property
    def categories(self) -> Sequence[str] | range:
        """The k names, or numbers from 1 where there are none."""
        return self.population.labels or range(1, self.scenario.k + 1)

    @property
    def of_table(self) -> bool:
        """Whether the users are the very people of the population's table: the same under every seed."""
        return self.scenario.n == self.population.total

    def collector(self, *, new_users: bool = False) -> Collector:
        """Draws further collections of the same scenario, each from a random stream of its own.

        Args:
            new_users: sample the users anew from the population each time, rather than let the same ones report again.

        >>> block = Scenario("zipf", 3, 1.0, 1.0, 100, 5).draw().collector(new_users=True).draw(first=0, wanted=4)
        >>> block.true_counts.sum(axis=1).tolist(), block.reports.sum(axis=1).tolist()
        ([100, 100, 100, 100], [100, 100, 100, 100])
        """
        return Collector(
            mechanism=self.mechanism,
            n=self.scenario.n,
            theta=self.population.probabilities,
            true_counts=None if new_users else self.true_counts,
            stream=lambda number: self.scenario.stream(Stream.REPEATS, number),
            rows=1,
        )


NUMBERS = (
    Number("k", "k", "Categories K", limits.K_MIN, limits.K_MAX, True),
    Number("s", "s", "Zipf exponent s", limits.S_MIN, limits.S_MAX, False),
    Number("epsilon", "eps", "Privacy ε", limits.EPSILON_APP_MIN, limits.EPSILON_APP_MAX, False),
    Number("n", "n", "Users N", limits.N_MIN, limits.N_MAX, True),
    Number("seed", "seed", "Seed", limits.SEED_MIN, limits.SEED_MAX, True),
)
_DISTRIBUTION = Choice(
    "dist",
    "dist",
    "distribution",
    DISTRIBUTIONS,
    "The link's {label} “{text}” is not known here; {used} is used instead.",
)
# Every field of a `Scenario`: links are read and written by it, and values checked.
PARAMETERS: tuple[Number | Choice[str], ...] = (_DISTRIBUTION, *NUMBERS)


def other_k(text: str, k: int, whose: str) -> str:
    """The sentence for a link whose number of categories differs from the ``k`` of ``whose`` table; "" if it
    agrees."""
    try:
        if not text.strip() or float(text) == k:
            return ""
    except ValueError:
        pass  # no number is another one, too
    return (
        f"The link's Categories K is {typed.shorten(text)}, but {whose} has {k:,} categories; these are used."
    )


@dataclass(frozen=True)
class Preset:
    """A named scenario with the reason why it is instructive."""

    name: str
    scenario: Scenario
    why: str


# Its users are (8, 1, 1, 0): the misprints of `rr_core.reference` have the exact mean errors.
WORST_AVERAGE = Scenario("zipf", 4, 1.5, 2.13, 10, 17)

# What the app opens with: categories with names, few enough to follow every bar, and some negatives.
FIRST = Scenario("exam", epsilon=1.0, n=2000, seed=3)
PRESETS = (
    Preset("First look", FIRST, "a survey with named answers, few enough to follow every bar"),
    Preset(
        "Blog: K = 10, ε = ln 3",
        Scenario("zipf", 10, 1.0, math.log(3), 100_000, 1),
        "K, ε and N of the example in a blog post on debiasing k-RR, which does not give its population",
    ),
    Preset(
        "Paper: near uniform (s = 0.01)",
        Scenario("zipf", 10_000, 0.01, 4.0, 1_000_000, 1),
        "K = 10,000, ε = 4, N = 1,000,000 of Figures 1 and 2",
    ),
    Preset(
        "Paper: moderate (s = 1.3)",
        Scenario("zipf", 10_000, 1.3, 4.0, 1_000_000, 1),
        "the same, moderately concentrated",
    ),
    Preset(
        "Paper: concentrated (s = 2.5)",
        Scenario("zipf", 10_000, 2.5, 4.0, 1_000_000, 1),
        "the same, highly concentrated",
    ),
    Preset(
        "Paper: IBU setting (K = 500)",
        Scenario("zipf", 500, 1.3, 1.0, 10_000, 2),
        "one setting of Figure 4, where IBU needs thousands of iterations",
    ),
    Preset(
        "Ten users: MLE* is worst",
        WORST_AVERAGE,
        "the paper calls MLE* never the worst of the three; here its mean squared error is the largest, by about 1%",
    ),
    Preset(
        "Industrial: K = 1,423,000",
        Scenario("zipf", 1_423_000, 1.3, 8.0, 1_664_500, 1),
        "the size of the income table in the paper",
    ),
)
