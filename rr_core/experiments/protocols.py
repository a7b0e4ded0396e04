"""Errors of Inv, InvN, InvP and maximum likelihood under k-RR and unary encoding, setting by setting, and what their
authors say of them, judged.

A. Lopuhaä-Zwakenberg et al. (2020) compare them in section 5, Figures 2 to 5, for epsilon from 0.2 to 2: k-RR on 1,024
categories and unary encoding on 10, each with a distribution drawn from Jeffreys' prior, Dirichlet(1/2, ..., 1/2), for
every collection; then k-RR on taxi distances and ages, and unary encoding on payment types and work classes. Their FO is
Inv, their Norm-Sub is InvP. `FIGURES` has their settings, and unary encoding on 100 categories. Where the paper leaves
something open, it is chosen here:

- "n much larger than a" is N = 1,000 K, "n about 10 a" is N = 10 K;
- unary encoding is measured both ways, symmetric (SUE) and optimised (OUE);
- in the place of the taxi data, which the project does not have, stand as many users of made-up populations: 1,000
  distances that halve in frequency every 100 categories, and 5 payment types by Zipf's law with s = 2;
- work class keeps "?" as a ninth class: without it there are fewer people than the paper counts. Ages are the 74 of the
  data set.

The table of results is a CSV file in `rr_core.data`, made by ``python -m tests.benchmarks.lopuhaa_figures ages.csv``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rr_core import _validate, estimators, sampling
from rr_core._validate import Array
from rr_core.comparison import exceeds_chance
from rr_core.data import read_csv
from rr_core.experiments.cell import standard_error
from rr_core.experiments.claims import Verdict, verdict_on
from rr_core.experiments.ranking import FAMILY_LEVEL, Count
from rr_core.limits import SEED_MAX, SEED_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, check_users, squared_error
from rr_core.populations import SHAPES, TABLES, build
from rr_core.protocols.estimation import mle
from rr_core.protocols.unary import UnaryEncoding, inv_n_unary, inv_p_unary, inv_unary
from rr_core.sampling import Counts
from rr_core.simulate import Progress
from rr_core.streams import Stream, generator

ProtocolKey = Literal["k_rr", "sue", "oue"]
FigureKey = Literal["2", "3", "4", "5", "more"]

JEFFREYS = "jeffreys"  # a distribution drawn anew for every collection
AGE = "age"  # of a data set that the project does not hold
ESTIMATES = ("inv", "inv_n", "inv_p", "mle")
PAIRS = (("inv_p", "inv"), ("mle", "inv"), ("mle", "inv_p"))
# Users for each category where the paper says "moderate" and "n much larger than a".
FEW_PER_CATEGORY, MANY_PER_CATEGORY = 10, 1000
SEED = 1
EPSILONS = tuple(round(0.2 * step, 1) for step in range(1, 11))
# Far below 1/n, the scale on which likelihoods tell estimates apart.
_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Setting:
    """What is simulated.

    Args:
        protocol: "k_rr", or unary encoding: "sue" symmetric, "oue" optimised.
        population: "jeffreys", "age", or a key of `populations.SHAPES` or `TABLES`.
        k: number of categories, an integer >= 2; for a table the number of its rows.
        epsilon: privacy budget in nats.
        n: number of users, an integer >= 1.
        users: "fixed" for the same people in every collection, "sampled" for new ones from the population;
            always "sampled" for "jeffreys".
        s: exponent of a Zipf population, else 0.

    Raises:
        ValueError: naming the argument.

    >>> Setting("oue", "jeffreys", 10, 1.0, 100).mechanism() == UnaryEncoding(10, 1.0, optimized=True)
    True
    """

    protocol: ProtocolKey
    population: str
    k: int
    epsilon: float
    n: int
    users: Users = "sampled"
    s: float = 0.0

    def __post_init__(self) -> None:
        _validate.one_of("protocol", self.protocol, get_args(ProtocolKey))
        _validate.one_of("population", self.population, (JEFFREYS, AGE, *SHAPES, *TABLES))
        check_users(self.users)
        if self.population == JEFFREYS and self.users == "fixed":
            raise ValueError("users must be 'sampled' where the population is 'jeffreys', got 'fixed'")
        _validate.integer("n", self.n, 1)
        if self.population in TABLES:
            rows = len(TABLES[self.population].rows)
            _validate.integer("k", self.k, rows, rows)
        self.mechanism()  # checks k and epsilon

    def mechanism(self) -> RandomizedResponse | UnaryEncoding:
        """The protocol with its parameters."""
        if self.protocol == "k_rr":
            return RandomizedResponse(self.k, self.epsilon)
        return UnaryEncoding(self.k, self.epsilon, self.protocol == "oue")

    @property
    def truths(self) -> tuple[Users, ...]:
        """With which shares an estimate can be compared: those of the users ("fixed", F in the paper) and, where these
        are drawn, those of their population ("sampled", P)."""
        return ("fixed",) if self.users == "fixed" else ("fixed", "sampled")


@dataclass(frozen=True)
class Errors:
    """Mean squared errors, summed over categories, of all estimates of one setting.

    Attributes:
        truth: "fixed" for the shares of the users, "sampled" for those of their population.
        collections: number of simulated collections.
        mean: by estimate.
        standard_error: of each mean, over collections; nan from one collection.
        difference: by pair of estimates, mean error of the first minus that of the second.
        difference_error: its standard error, from the differences within collections; nan from one collection.
    """

    setting: Setting
    truth: Users
    collections: int
    mean: Mapping[str, float]
    standard_error: Mapping[str, float]
    difference: Mapping[tuple[str, str], float]
    difference_error: Mapping[tuple[str, str], float]

    def ratio(self, first: str, second: str) -> tuple[float, float]:
        """Mean error of ``first`` divided by that of ``second``, a pair of PAIRS, and its standard error (of first
        order, by the variances of both and of their difference)."""
        ratio = self.mean[first] / self.mean[second]
        own, other = self.standard_error[first] ** 2, self.standard_error[second] ** 2
        covariance = (own + other - self.difference_error[first, second] ** 2) / 2
        variance = own + ratio**2 * other - 2 * ratio * covariance
        return ratio, math.sqrt(max(variance, 0.0)) / self.mean[second]


def measure(
    setting: Setting,
    collections: int,
    seed: int = SEED,
    *,
    people: ArrayLike | None = None,
    progress: Progress | None = None,
) -> tuple[Errors, ...]:
    """Simulate collections, and give the mean squared errors of all estimates.

    Collection number i of a seed draws from a stream of its own: the same distribution and the same users at every
    epsilon, and fewer collections are the first of more. k-RR has its exact MLE*; the maximum likelihood of unary
    encoding is made from the bits, with a gap of 1e-8 nats per report.

    Args:
        setting: what is simulated.
        collections: how many, an integer >= 1.
        seed: from 0 to 2^32 - 1.
        people: (k,) counts whose shares are the population "age"; left out for all others.
        progress: called with the number of collections done; True ends the simulation.

    Returns:
        One `Errors` for each of ``setting.truths``. O(k) for a collection of k-RR, O(n k) for unary encoding.

    Raises:
        ValueError: naming the argument.

    >>> fixed, = measure(Setting("k_rr", "uniform", 4, 2.0, 400, "fixed"), 50)
    >>> fixed.truth, fixed.mean["mle"] < fixed.mean["inv"]
    ('fixed', True)
    """
    collections = _validate.integer("collections", collections, 1)
    seed = _validate.integer("seed", seed, SEED_MIN, SEED_MAX)
    shares, done = _shares(setting, people), 0
    fixed = (
        sampling.whole_users(shares, setting.n) if shares is not None and setting.users == "fixed" else None
    )
    errors = np.empty((len(setting.truths), collections, len(ESTIMATES)))
    for number in range(collections):
        rng = generator(seed, Stream.BY_PROTOCOL, number)
        theta = rng.dirichlet(np.full(setting.k, 0.5)) if shares is None else shares
        users = sampling.multinomial(setting.n, theta, rng) if fixed is None else fixed
        found = _estimates(setting, users, rng)
        for place, truth in enumerate(setting.truths):
            errors[place, number] = squared_error(found, users / setting.n if truth == "fixed" else theta)
        done = number + 1
        if progress is not None and progress(done):
            break
    return tuple(_summary(setting, truth, errors[place, :done]) for place, truth in enumerate(setting.truths))


def _shares(setting: Setting, people: ArrayLike | None) -> Array | None:
    """(k,) shares of the population; None where they are drawn for every collection."""
    if (people is None) == (setting.population == AGE):
        raise ValueError(f"people must be the counts of the population '{AGE}', and of no other")
    if people is not None:
        return _validate.shares(_validate.histogram(people, setting.k))
    if setting.population == JEFFREYS:
        return None
    return build(setting.population, setting.k, setting.s).probabilities


def _estimates(setting: Setting, users: Counts, rng: np.random.Generator) -> Array:
    """(estimates, k) from the reports of these users."""
    protocol = setting.mechanism()
    if isinstance(protocol, RandomizedResponse):
        counts = protocol.randomize_histogram(users, rng)
        each = estimators.inv, estimators.inv_n, estimators.inv_p, estimators.mle_star
        return np.stack([estimate(counts, protocol) for estimate in each])
    bits = protocol.randomize(np.repeat(np.arange(setting.k), users), rng)
    support = protocol.support(bits)
    linear = (make(support, protocol, setting.n) for make in (inv_unary, inv_n_unary, inv_p_unary))
    return np.stack([*linear, mle(bits, protocol, _TOLERANCE).theta])


def _summary(setting: Setting, truth: Users, errors: Array) -> Errors:
    columns = dict(zip(ESTIMATES, errors.T, strict=True))
    between = {pair: columns[pair[0]] - columns[pair[1]] for pair in PAIRS}
    return Errors(
        setting,
        truth,
        len(errors),
        {name: float(column.mean()) for name, column in columns.items()},
        {name: float(standard_error(column)) for name, column in columns.items()},
        {pair: float(column.mean()) for pair, column in between.items()},
        {pair: float(standard_error(column)) for pair, column in between.items()},
    )


def _prior(protocols: Iterable[ProtocolKey], k: int, epsilons: Iterable[float]) -> tuple[Setting, ...]:
    users = (FEW_PER_CATEGORY * k, MANY_PER_CATEGORY * k)
    return tuple(
        Setting(protocol, JEFFREYS, k, epsilon, n)
        for protocol, n, epsilon in itertools.product(protocols, users, epsilons)
    )


def _people(
    protocols: Iterable[ProtocolKey], *populations: tuple[str, int, int, float]
) -> tuple[Setting, ...]:
    return tuple(
        Setting(protocol, name, k, epsilon, n, "fixed", s)
        for protocol, (name, k, n, s), epsilon in itertools.product(protocols, populations, EPSILONS)
    )


_UNARY: tuple[ProtocolKey, ...] = ("oue", "sue")
FIGURES: Mapping[FigureKey, tuple[Setting, ...]] = {
    "2": _prior(("k_rr",), 1024, EPSILONS),
    "3": _prior(_UNARY, 10, EPSILONS),
    "4": _people(("k_rr",), ("geometric", 1000, 434_195, 0.0), (AGE, 74, 32_561, 0.0)),
    "5": _people(_UNARY, ("zipf", 5, 359_902, 2.0), ("work", 9, 32_561, 0.0)),
    "more": _prior(_UNARY, 100, (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)),
}
"""The settings of the paper's figures, and of one that goes further ("more")."""


def columns() -> list[str]:
    """Names of the columns of a table of errors, in the order of `as_row`."""
    pairs = ["_less_".join(pair) for pair in PAIRS]
    return [
        "protocol", "population", "s", "k", "epsilon", "n", "users", "truth", "collections",
        *ESTIMATES, *(f"{name}_error" for name in ESTIMATES),
        *pairs, *(f"{pair}_error" for pair in pairs),
    ]  # fmt: skip


def as_row(errors: Errors) -> list[object]:
    """One row of a table of errors."""
    one = errors.setting
    return [
        one.protocol, one.population, one.s, one.k, one.epsilon, one.n, one.users, errors.truth, errors.collections,
        *errors.mean.values(), *errors.standard_error.values(),
        *errors.difference.values(), *errors.difference_error.values(),
    ]  # fmt: skip


@cache
def stored() -> Mapping[FigureKey, tuple[Errors, ...]]:
    """The stored results by figure.

    >>> [len(rows) for rows in stored().values()]
    [40, 80, 20, 40, 48]
    """
    figure_of = {setting: key for key, settings in FIGURES.items() for setting in settings}
    found: dict[FigureKey, list[Errors]] = {key: [] for key in FIGURES}
    for row in read_csv("lopuhaa_figures.csv"):
        errors = _read(row)
        found[figure_of[errors.setting]].append(errors)
    return {key: tuple(rows) for key, rows in found.items()}


def _read(row: Mapping[str, str]) -> Errors:
    setting = Setting(
        cast("ProtocolKey", row["protocol"]),
        row["population"],
        int(row["k"]),
        float(row["epsilon"]),
        int(row["n"]),
        cast("Users", row["users"]),
        float(row["s"]),
    )
    pairs = {pair: "_less_".join(pair) for pair in PAIRS}
    return Errors(
        setting,
        cast("Users", row["truth"]),
        int(row["collections"]),
        {name: float(row[name]) for name in ESTIMATES},
        {name: float(row[f"{name}_error"]) for name in ESTIMATES},
        {pair: float(row[name]) for pair, name in pairs.items()},
        {pair: float(row[f"{name}_error"]) for pair, name in pairs.items()},
    )


SentenceKey = Literal[
    "both_better", "rr_many", "rr_few", "ue_many", "ue_few", "both_better_real", "rr_real", "ue_real"
]
SIMILAR = 1.1
FROM_EPSILON = 1.5  # above it, the paper says, maximum likelihood is better under unary encoding
_MLE = ("mle", "inv_p")
Stored = Mapping[FigureKey, Sequence[Errors]]


@dataclass(frozen=True)
class Sentence:
    """One sentence of the paper about its figures.

    Attributes:
        verdict: what the stored errors say of it.
        count: settings that agree with it, that contradict it, and that settle nothing.
        lowest, highest: settings with the smallest and the largest ratio of mean errors, MLE to InvP; for "both_better"
            and "both_better_real" of the worse of these two to Inv.
        already_from: of "ue_many" alone, the smallest epsilon from which on maximum likelihood is surely better in all
            settings of Figure 3 with many users, below `FROM_EPSILON` too; else None.
    """

    key: SentenceKey
    verdict: Verdict
    count: Count
    lowest: Errors
    highest: Errors
    already_from: float | None = None


def sentences(stored: Stored) -> tuple[Sentence, ...]:
    """All sentences of the paper on its Figures 2 to 5, in its order, held against these errors (of `stored`).

    A setting answers yes or no where the collections settle it: by t tests at `FAMILY_LEVEL` over all settings and pairs
    of estimates together (Bonferroni). "The same" and "similar", which the paper gives no numbers, are here an error of
    at most `SIMILAR` times the other's, either way. "UE" is both encodings.
    """
    level = _level(stored)
    few = {key: [row for row in rows if _is_few(row)] for key, rows in stored.items()}
    many = {key: [row for row in rows if not _is_few(row)] for key, rows in stored.items()}
    large_epsilon = [row for row in many["3"] if row.setting.epsilon > FROM_EPSILON]
    unsure = max((row.setting.epsilon for row in many["3"] if not _lower(row, level)), default=0.0)
    beyond = [row.setting.epsilon for row in many["3"] if row.setting.epsilon > unsure]
    return (
        _judged("both_better", [*stored["2"], *stored["3"]], level, _both_better),
        _judged("rr_many", many["2"], level, _similar),
        _judged("rr_few", few["2"], level, _lower),
        replace(_judged("ue_many", large_epsilon, level, _lower), already_from=min(beyond, default=None)),
        _judged("ue_few", few["3"], level, _similar),
        _judged("both_better_real", [*stored["4"], *stored["5"]], level, _both_better),
        _judged("rr_real", stored["4"], level, _similar),
        _can_be_lower(stored["5"], level),
    )


def against_inv_p(rows: Sequence[Errors], stored: Stored) -> Count:
    """In how many of these settings maximum likelihood is surely better than InvP (yes), and surely worse (no).

    Args:
        rows: settings of the figures.
        stored: errors of all settings of the figures, over which the level of the tests is held.
    """
    return _count([_lower(row, _level(stored)) for row in rows])


Question = Callable[[Errors, float], bool | None]


def _level(stored: Stored) -> float:
    return FAMILY_LEVEL / (2 * len(PAIRS) * sum(len(rows) for rows in stored.values()))


def _count(answers: Sequence[bool | None]) -> Count:
    return Count(answers.count(True), answers.count(False), answers.count(None), 0, ())


def _is_few(row: Errors) -> bool:
    return row.setting.n <= FEW_PER_CATEGORY * row.setting.k


def _below(row: Errors, pair: tuple[str, str], level: float) -> bool | None:
    """Whether the first of two estimates has the smaller expected error."""
    difference, error = row.difference[pair], row.difference_error[pair]
    return difference < 0 if exceeds_chance(abs(difference), error, row.collections, level) else None


def _lower(row: Errors, level: float) -> bool | None:
    return _below(row, _MLE, level)


def _both_better(row: Errors, level: float) -> bool | None:
    answers = [_below(row, (name, "inv"), level) for name in ("inv_p", "mle")]
    return False if False in answers else None if None in answers else True


def _similar(row: Errors, level: float) -> bool | None:
    ratio, error = row.ratio(*_MLE)
    wide = float(-special.stdtrit(row.collections - 1, level)) * error  # of a one-sided t test
    low, high = ratio - wide, ratio + wide
    if low >= 1 / SIMILAR and high <= SIMILAR:
        return True
    return False if low > SIMILAR or high < 1 / SIMILAR else None


def _judged(key: SentenceKey, rows: Sequence[Errors], level: float, question: Question) -> Sentence:
    count = _count([question(row, level) for row in rows])
    return _sentence(key, verdict_on(count), count, rows, question is _both_better)


def _can_be_lower(rows: Sequence[Errors], level: float) -> Sentence:
    """Whether there is, for each protocol and population, a setting where maximum likelihood has the smaller error."""
    answers = [_lower(row, level) for row in rows]
    found: dict[tuple[str, str], bool] = {}
    for row, answer in zip(rows, answers, strict=True):
        group = row.setting.protocol, row.setting.population
        found[group] = found.get(group, False) or answer is True
    return _sentence("ue_real", verdict_on(_count([*found.values()])), _count(answers), rows, False)


def _sentence(
    key: SentenceKey, verdict: Verdict, count: Count, rows: Iterable[Errors], both: bool
) -> Sentence:
    pairs = (("inv_p", "inv"), ("mle", "inv")) if both else (_MLE,)
    ordered = sorted(rows, key=lambda row: max(row.ratio(*pair)[0] for pair in pairs))
    return Sentence(key, verdict, count, ordered[0], ordered[-1])
