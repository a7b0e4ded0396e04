"""Plan's answers, simulated: at the suggested N the target is met in at least the promised share of collections."""

import math

import numpy as np
import pytest
from scipy import stats

from rr_core import RandomizedResponse, inv, sampling
from rr_core.plan.solve import achieved, required_n
from rr_core.plan.targets import FAMILY_LEVEL, Target
from rr_core.populations import two_humps, uniform, zipf
from rr_core.sampling import whole_users

POPULATIONS = {
    "uniform": uniform,
    "zipf1": lambda k: zipf(k, 1.0),
    "zipf2.5": lambda k: zipf(k, 2.5),
    "point": lambda k: (np.arange(k) == 0).astype(float),
    "half": lambda k: (np.arange(k) < max(k // 2, 1)) / max(k // 2, 1),
    "humps": two_humps,
}
RUNS = 1000
# A collection that meets its target with the promised chance fails this count once in a million cases.
MOST_MISSES = int(stats.binom.isf(1e-6, RUNS, 0.05))


def collections(k, epsilon, n, theta, users, seed):
    """(reports, truth) of RUNS collections."""
    rng, mechanism = np.random.default_rng(seed), RandomizedResponse(k, epsilon)
    if users == "sampled":
        return rng.multinomial(n, mechanism.expected(theta), RUNS), theta
    people = whole_users(theta, n)
    reports = sampling.noisy_histogram(np.broadcast_to(people, (RUNS, k)), mechanism.keep, rng)
    return reports, people / n


SETTINGS = [(2, 0.5), (10, 4.0), (100, 4.0)]
# Every population and both kinds of users at small K; a thousand categories for some.
CASES = [
    *(
        (name, k, epsilon, users)
        for name in POPULATIONS
        for k, epsilon in SETTINGS
        for users in ("fixed", "sampled")
    ),
    ("zipf2.5", 1000, 6.0, "fixed"),
    ("point", 1000, 6.0, "sampled"),
]


@pytest.mark.parametrize(("name", "k", "epsilon", "users"), CASES)
def test_the_largest_error_is_within_the_target(name, k, epsilon, users):
    theta = POPULATIONS[name](k)
    n = required_n(Target("max", 0.05), k, epsilon, theta, users=users)
    reports, truth = collections(k, epsilon, n, theta, users, 1)
    off = np.abs(inv(reports, RandomizedResponse(k, epsilon)) - truth).max(axis=1)
    assert (off > 0.05).sum() <= MOST_MISSES


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("name", ["zipf1", "point"])
def test_the_largest_error_without_a_guess_holds_for_populations(name, users):
    k, epsilon = 50, 3.0
    n = required_n(Target("max", 0.05), k, epsilon, None, users=users)
    reports, truth = collections(k, epsilon, n, POPULATIONS[name](k), users, 2)
    off = np.abs(inv(reports, RandomizedResponse(k, epsilon)) - truth).max(axis=1)
    assert (off > 0.05).sum() <= MOST_MISSES


@pytest.mark.parametrize(("name", "k", "epsilon", "users"), CASES)
def test_the_smallest_share_is_found_and_empty_categories_are_not(name, k, epsilon, users):
    """One category holds the share, the others divide the rest in the shape; half of them are empty."""
    share, half = 0.03, math.ceil((k - 1) / 2)
    others = np.concatenate([POPULATIONS[name](max(half, 2))[:half], np.zeros(k - 1 - half)])
    theta = np.concatenate([[share], (1 - share) * others / others.sum()])
    n = required_n(Target("smallest", share), k, epsilon, None, users=users)
    reports, truth = collections(k, epsilon, n, theta, users, 3)
    level = FAMILY_LEVEL / k
    found = stats.binom.sf(reports - 1, n, RandomizedResponse(k, epsilon).q) <= level
    assert (~found[:, 0]).sum() <= MOST_MISSES
    assert found[:, truth == 0].any(axis=1).sum() <= MOST_MISSES


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize(
    ("name", "top", "k", "epsilon"),
    [
        (name, top, k, epsilon)
        for name, top in (("zipf1", 1), ("zipf1", 2), ("zipf2.5", 3), ("geometric", 4))
        for k, epsilon in ((2, 0.5), (3, 2.0), (10, 2.0), (100, 4.0))
        if top < k
    ],
)
def test_the_top_is_ranked_right(name, top, k, epsilon, users):
    theta = {**POPULATIONS, "geometric": lambda k: 0.6 ** np.arange(k) / (0.6 ** np.arange(k)).sum()}[name](k)
    n = required_n(Target("top", top), k, epsilon, theta, users=users)
    reports, _ = collections(k, epsilon, n, theta, users, 4)
    ahead = np.concatenate([reports[:, :top], reports[:, top:].max(axis=1, keepdims=True)], axis=1)
    wrong = (np.diff(ahead, axis=1) >= 0).any(axis=1).sum()
    assert wrong <= MOST_MISSES


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_the_promise_of_a_ranking_is_not_far_below_what_happens(users):
    theta = zipf(20, 1.0)
    n = required_n(Target("top", 1), 20, 2.0, theta, users=users)
    reports, _ = collections(20, 2.0, n, theta, users, 5)
    wrong = (reports[:, 0] <= reports[:, 1:].max(axis=1)).sum()
    # The bound on one pair is at most a sixth too large, and four errors of the simulation.
    assert wrong >= RUNS * 0.05 / 1.17 - 4 * math.sqrt(RUNS * 0.05)


@pytest.mark.parametrize(("name", "k", "epsilon", "users"), CASES)
def test_the_rmse_is_what_is_simulated(name, k, epsilon, users):
    n = 1000
    theta = POPULATIONS[name](k)
    reports, truth = collections(k, epsilon, n, theta, users, 6)
    squares = ((inv(reports, RandomizedResponse(k, epsilon)) - truth) ** 2).mean(axis=1)
    error = squares.std() / math.sqrt(RUNS)
    exact = achieved(Target("rmse", 0.1), k, epsilon, n, truth, users=users)
    assert squares.mean() == pytest.approx(exact**2, abs=4 * error)
