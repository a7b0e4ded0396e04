"""Statements of the paper and its poster that are false, each with a counterexample.

They are: RR is optimal among all mechanisms (section 1), MLE* is never the worst of the three and its error lies between
those of the other two (section 6.2, conclusion, poster), IBU is consistent (poster).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core import streams
from rr_core._validate import Array
from rr_core.comparison import TIE
from rr_core.errors import squared_error, total_variation
from rr_core.estimators import inv
from rr_core.ibu import ibu
from rr_core.mechanism import RandomizedResponse
from rr_core.misprints.paper import squared_error_of_inv
from rr_core.populations import zipf
from rr_core.registry import ESTIMATORS, VALID
from rr_core.scenario import WORST_AVERAGE, Scenario
from rr_core.streams import Stream


@dataclass(frozen=True)
class SubsetSelectionCheck:
    """RR beside subset selection at ``k`` and ``epsilon``.

    Attributes:
        k, epsilon: the setting.
        rr, subset_selection: N times the mean squared error for fixed users, whatever their shares; of Inv from RR, and
            of the unbiased estimate from subset selection.
        subset_size: number of categories a report of subset selection names, the best one.
    """

    k: int
    epsilon: float
    rr: float
    subset_selection: float
    subset_size: int

    @property
    def border(self) -> float:
        """3 e^eps + 2, up to which the paper calls RR optimal."""
        return 3 * math.exp(self.epsilon) + 2

    @property
    def ratio(self) -> float:
        """How many times the users of subset selection RR needs for the same error."""
        return self.rr / self.subset_selection


def subset_selection(k: int = 10, epsilon: float = 1.0) -> SubsetSelectionCheck:
    """Section 1 and the poster: RR is not optimal among all LDP mechanisms while K < 3 e^eps + 2; up to there its
    variance at a share of zero is below that of unary encoding and local hashing (Wang et al. 2017)."""
    errors = {size: _error_of_subsets(k, epsilon, size) for size in range(1, k)}
    best = min(errors, key=errors.__getitem__)
    return SubsetSelectionCheck(k, epsilon, squared_error_of_inv(k, epsilon), errors[best], best)


def _error_of_subsets(k: int, epsilon: float, size: int) -> float:
    """N times the mean squared error of subset selection with subsets of one size (Ye and Barg 2018): a report is a set
    of categories, e^eps times as likely if it holds the truth. A category is in it with chance p if it is the truth and q
    if it is not."""
    power = math.exp(epsilon)
    p = size * power / (size * power + k - size)
    q = (p * (size - 1) + (1 - p) * size) / (k - 1)
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2


@dataclass(frozen=True)
class WorstInSingleDraws:
    """How often MLE* has the largest squared error of the three valid estimates in a single collection.

    Attributes:
        epsilon: privacy budget.
        n_draws: simulated collections.
        n_with_negatives: those in which Inv has a negative entry.
        n_worst: those of them in which MLE* is the worst.
    """

    epsilon: float
    n_draws: int
    n_with_negatives: int
    n_worst: int

    @property
    def one_in(self) -> int | None:
        """One collection with negatives in this many; None when it never happened."""
        return round(self.n_with_negatives / self.n_worst) if self.n_worst else None


def worst_in_single_draws() -> tuple[WorstInSingleDraws, ...]:
    """Section 6.2: how often MLE* is the worst of the three in a single draw, at four ε.

    K = 5; each draw has a true distribution uniform on the simplex and N log-uniform from 10 to 100,000; the error is
    measured against the users' own histogram. It needs unequal supports: on equal supports MLE* lies between the other
    two, and a squared distance is convex.
    """
    return tuple(_worst_at(epsilon, seed) for seed, epsilon in enumerate((0.1, 1.0, 2.0, 4.0)))


def _worst_at(epsilon: float, seed: int) -> WorstInSingleDraws:
    rng, k, n_draws = streams.generator(seed, Stream.MISPRINTS), 5, 12_000
    mechanism = RandomizedResponse(k, epsilon)
    users = (10 ** rng.uniform(1, 5, n_draws)).astype(np.int64)
    true_counts = rng.multinomial(users, rng.dirichlet(np.ones(k), n_draws))
    reports = mechanism.randomize_histogram(true_counts, rng)
    theta = true_counts / users[:, None]
    errors = _squared_errors(reports, theta, mechanism)
    negative = inv(reports, mechanism).min(axis=-1) < 0
    worst = negative & (errors["mle_star"] > np.maximum(errors["inv_n"], errors["inv_p"]) * (1 + TIE))
    return WorstInSingleDraws(epsilon, n_draws, int(negative.sum()), int(worst.sum()))


@dataclass(frozen=True)
class WorstAverage:
    """Exact mean squared errors for fixed users.

    Attributes:
        true_counts: the users.
        epsilon: privacy budget.
        histograms: number of possible noisy histograms, over which the mean is taken.
        errors: by estimator of `registry.VALID`, the mean of the sum over categories.
    """

    true_counts: tuple[int, ...]
    epsilon: float
    histograms: int
    errors: dict[str, float]

    @property
    def n(self) -> int:
        """Number of users."""
        return sum(self.true_counts)


@cache
def worst_average() -> WorstAverage:
    """Section 6.2: MLE* can have the largest mean squared error of the three. Ten users with counts (8, 1, 1, 0),
    eps = 2.13."""
    draw = WORST_AVERAGE.draw()
    reports, chance = histogram_law(draw.true_counts, draw.mechanism)
    errors = _squared_errors(reports, draw.theta, draw.mechanism)
    means = {name: float(chance @ error) for name, error in errors.items()}
    return WorstAverage(tuple(draw.true_counts.tolist()), draw.scenario.epsilon, len(chance), means)


def _squared_errors(
    reports: NDArray[np.int64], theta: Array, mechanism: RandomizedResponse
) -> dict[str, Array]:
    """(m,) squared errors of the three valid estimators, for (m, k) reports."""
    return {name: squared_error(ESTIMATORS[name](reports, mechanism), theta) for name in VALID}


def histogram_law(
    true_counts: NDArray[np.int64], mechanism: RandomizedResponse
) -> tuple[NDArray[np.int64], Array]:
    """Every noisy histogram that some users can give, and its chance; for few users and categories.

    The reports of the users of one category are a multinomial; those of all users are the sum of k of them.

    Args:
        true_counts: (k,) the users.
        mechanism: with the same k.

    Returns:
        (histograms, chances): (m, k) reports per category, and (m,) their chances, summing to one.

    >>> histograms, chances = histogram_law(np.array([1, 0]), RandomizedResponse.from_p(2, 0.75))
    >>> histograms.tolist(), chances.round(9).tolist()
    ([[0, 1], [1, 0]], [0.25, 0.75])
    """
    k, channel = mechanism.k, mechanism.matrix()
    law = {(0,) * k: 1.0}
    for truth, users in enumerate(np.asarray(true_counts).tolist()):
        if not users:
            continue
        reports = _compositions(users, k)
        log_ways = special.gammaln(users + 1) - special.gammaln(reports + 1).sum(axis=1)
        chances = np.exp(log_ways + reports @ np.log(channel[truth]))
        extended: dict[tuple[int, ...], float] = {}
        for counts, chance_before in law.items():
            for total, chance in zip((reports + counts).tolist(), chances.tolist(), strict=True):
                histogram = tuple(total)
                extended[histogram] = extended.get(histogram, 0.0) + chance_before * chance
        law = extended
    return np.array(list(law), dtype=np.int64), np.array(list(law.values()))


def _compositions(n: int, k: int) -> NDArray[np.int64]:
    """(m, k) all ways to write n as an ordered sum of k whole numbers >= 0."""
    if k == 1:
        return np.array([[n]], dtype=np.int64)
    return np.concatenate(
        [np.insert(_compositions(n - first, k - 1), 0, first, axis=1) for first in range(n + 1)]
    )


@dataclass(frozen=True)
class NotBetween:
    """Simulated mean squared errors for the fixed users of one scenario.

    Attributes:
        scenario: whose users.
        n_draws: simulated collections.
        errors: by estimator of `registry.VALID`.
        standard_errors_below: by "inv_n" and "inv_p", how far MLE*'s error is below theirs, in standard errors of the
            paired difference.
    """

    scenario: Scenario
    n_draws: int
    errors: Mapping[str, float]
    standard_errors_below: Mapping[str, float]


@cache
def mle_star_not_between() -> NotBetween:
    """Section 6.2: MLE*'s mean squared error need not lie between those of InvN and InvP. In the scenario that the app
    opens with it is the smallest."""
    scenario, n_draws = Scenario(), 6000
    draw = scenario.draw()
    reports = draw.mechanism.randomize_histogram(np.broadcast_to(draw.true_counts, (n_draws, scenario.k)), 62)
    errors = _squared_errors(reports, draw.theta, draw.mechanism)
    below = {name: errors[name] - errors["mle_star"] for name in ("inv_n", "inv_p")}
    return NotBetween(
        scenario,
        n_draws,
        {name: float(error.mean()) for name, error in errors.items()},
        {name: float(d.mean() / d.std(ddof=1) * math.sqrt(n_draws)) for name, d in below.items()},
    )


@dataclass(frozen=True)
class StoppedIbu:
    """Total variation distance between the truth and IBU after ``n_iterations``, when the reports carry no noise."""

    n_iterations: int
    total_variation: float


def stopped_ibu() -> tuple[StoppedIbu, ...]:
    """The poster's table calls IBU consistent: true of its limit, not of a fixed number of iterations. With infinitely
    many users phi is q + (p - q) theta exactly, and IBU still is not there. K = 12, eps = 1."""
    theta, mechanism = zipf(12, 1.0), RandomizedResponse(12, 1.0)
    after = partial(ibu, mechanism.expected(theta), mechanism)
    return tuple(StoppedIbu(steps, total_variation(after(steps), theta)) for steps in (10, 100, 1000))
