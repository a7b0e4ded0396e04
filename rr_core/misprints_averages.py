"""Two scenarios in which the paper's words on the average error of MLE* are false (section 6.2, conclusion, poster)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core._validate import Array
from rr_core.comparison import VALID
from rr_core.errors import squared_error
from rr_core.estimators import inv_n, inv_p, mle_star
from rr_core.mechanism import RandomizedResponse
from rr_core.scenario import WORST_AVERAGE, Scenario

_ESTIMATORS = (inv_n, inv_p, mle_star)  # in the order of VALID


@dataclass(frozen=True)
class WorstAverage:
    """Exact mean squared errors of one scenario's fixed users.

    Attributes:
        true_counts: the users.
        epsilon: privacy budget.
        histograms: how many noisy histograms there are, all of them weighed by their chance.
        errors: by estimator of `comparison.VALID`, the mean of the sum over categories.
    """

    true_counts: tuple[int, ...]
    epsilon: float
    histograms: int
    errors: dict[str, float]


@cache
def worst_average() -> WorstAverage:
    """Ten users with counts (8, 1, 1, 0), eps = 2.13: MLE* has the largest mean squared error of the three."""
    draw = WORST_AVERAGE.draw()
    reports, chance = histogram_law(draw.true_counts, draw.mechanism)
    errors = {
        name: float(chance @ squared_error(make(reports, draw.mechanism), draw.theta))
        for name, make in zip(VALID, _ESTIMATORS, strict=True)
    }
    return WorstAverage(tuple(draw.true_counts.tolist()), draw.scenario.epsilon, len(chance), errors)


def histogram_law(
    true_counts: NDArray[np.int64], mechanism: RandomizedResponse
) -> tuple[NDArray[np.int64], Array]:
    """Every noisy histogram of some users, (m, k), and its chance, (m,); for few users and categories.

    The reports of the users of one category are a multinomial; those of all users are the sum of k of them.
    """
    k, channel = mechanism.k, mechanism.matrix()
    law = {(0,) * k: 1.0}
    for truth, users in enumerate(np.asarray(true_counts).tolist()):
        if not users:
            continue
        some = _compositions(users, k)
        ways = special.gammaln(users + 1) - special.gammaln(some + 1).sum(axis=1)
        chances = np.exp(ways + some @ np.log(channel[truth]))
        grown: dict[tuple[int, ...], float] = {}
        for counts, before in law.items():
            for more, chance in zip((some + counts).tolist(), chances.tolist(), strict=True):
                key = tuple(more)
                grown[key] = grown.get(key, 0.0) + before * chance
        law = grown
    return np.array(list(law), dtype=np.int64), np.array(list(law.values()))


def _compositions(n: int, k: int) -> NDArray[np.int64]:
    """(ways, k) all ways to write n as a sum of k whole numbers >= 0, in order."""
    if k == 1:
        return np.array([[n]], dtype=np.int64)
    return np.concatenate(
        [np.insert(_compositions(n - first, k - 1), 0, first, axis=1) for first in range(n + 1)]
    )


@dataclass(frozen=True)
class NotBetween:
    """Simulated mean squared errors of one scenario's fixed users.

    Attributes:
        scenario: which.
        draws: collections.
        errors: by estimator of `comparison.VALID`.
        distance: by how many standard errors of the paired difference MLE*'s is below InvN's and InvP's.
    """

    scenario: Scenario
    draws: int
    errors: dict[str, float]
    distance: tuple[float, float]


@cache
def not_between() -> NotBetween:
    """The scenario that the app opens with: MLE* has the smallest mean squared error, so it is not between the others."""
    scenario, draws = Scenario(), 6000
    draw = scenario.draw()
    reports = draw.mechanism.randomize_histogram(np.broadcast_to(draw.true_counts, (draws, scenario.k)), 62)
    found = {
        name: squared_error(make(reports, draw.mechanism), draw.theta)
        for name, make in zip(VALID, _ESTIMATORS, strict=True)
    }
    below = [found[name] - found["mle_star"] for name in ("inv_n", "inv_p")]
    first, second = (float(one.mean() / one.std(ddof=1) * math.sqrt(draws)) for one in below)
    return NotBetween(
        scenario, draws, {name: float(error.mean()) for name, error in found.items()}, (first, second)
    )
