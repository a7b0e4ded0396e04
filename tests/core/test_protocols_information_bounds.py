"""The chain from entropy to epsilon: identities of its matrices, the binary case, order, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse
from rr_core.protocols import Channel, information_bounds, inv, posterior_mean
from rr_core.protocols.information_bounds import _information, _mean_log
from tests.sentences import holds


@given(st.integers(0, 1000), st.integers(2, 5), st.integers(0, 4))
def test_matrices_are_those_of_the_theorem(seed, k, more):
    """det D is that of the Fisher information of k - 1 free shares."""
    rng = np.random.default_rng(seed)
    matrix, theta = rng.dirichlet(np.full(k + more, 2.0), size=k), rng.dirichlet(np.full(k, 2.0))
    mu = theta @ matrix
    trace, log_det = (part[0] for part in _information(matrix, theta[None]))
    free = matrix[:-1] - matrix[-1]
    information = (free / mu) @ free.T
    assert log_det == pytest.approx(np.linalg.slogdet(information)[1], abs=1e-8)
    # Covariance of the k - 1 free shares, and of the last one: the trace of the whole.
    inverse = np.linalg.inv(information)
    assert trace == pytest.approx(np.trace(inverse) + inverse.sum(), rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("prior", [0.5, 1.0, 4.0])
def test_two_categories_are_proposition_4_6(epsilon, prior):
    odds = np.exp(epsilon)
    channel = Channel.warner(odds / (odds + 1))
    noise = odds / (odds - 1) ** 2
    product = prior / (2 * (2 * prior + 1))  # E P_1 P_2
    sampled = information_bounds(channel, prior, rng=1)
    assert sampled.inv == pytest.approx(2 * (noise + product))
    assert sampled.exact == sampled.inv
    assert sampled.epsilon == pytest.approx(2 / (odds - 1) ** 2)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 1.0, 5.0]))
def test_each_step_is_at_most_the_one_before(seed, prior):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    channel = Channel(rng.dirichlet(np.full(k + int(rng.integers(0, 3)), 3.0), size=k))
    found = information_bounds(channel, prior, draws=400, rng=seed)
    assert found.epsilon <= found.entropy * (1 + 1e-9)
    assert found.entropy <= found.exact * (1 + 1e-9) + 5 * found.exact_error
    assert found.exact <= found.inv * (1 + 1e-9) + 5 * found.exact_error


@pytest.mark.parametrize("seed", range(6))
def test_no_simulated_least_is_above_what_inv_reaches(seed):
    """The second and the third report say the same: Inv is the best, exactly, and draws are off to either side."""
    channel = Channel([[1 / 3, 1 / 3, 1 / 3], [1 / 2, 1 / 4, 1 / 4]])
    bounds = information_bounds(channel, rng=seed)
    merged = information_bounds(Channel([[1 / 3, 2 / 3], [1 / 2, 1 / 2]]))
    assert bounds.inv == pytest.approx(merged.exact, rel=1e-12)
    assert bounds.entropy <= bounds.exact <= bounds.inv
    assert bounds.exact == pytest.approx(merged.exact, abs=5 * bounds.exact_error)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("chances", [[0.3, 0.7], [1.0, 0.0, 0.0], [0.5, 0.2, 1e-8], [0.2] * 5])
def test_mean_logarithms_are_those_of_draws(chances, alpha):
    draws = np.random.default_rng(1).dirichlet(np.full(len(chances), alpha), 100_000) @ np.array(chances)
    error = np.log(draws).std() / np.sqrt(draws.size)
    assert abs(_mean_log(np.array(chances), alpha) - np.log(draws).mean()) < 5 * error + 1e-12


def test_without_an_epsilon_nothing_follows_from_it():
    found = information_bounds(Channel.misclassification(4, 0.2), draws=50, rng=1)
    assert found.epsilon == 0
    assert 0 < found.entropy < found.exact


@holds(
    "- **The best, for many users:** the posterior mean and MLE come as near as this as N grows (Fisher information)."
)
@pytest.mark.slow
def test_the_posterior_mean_reaches_the_limit_and_inv_its_own():
    mechanism, n, rounds, rng = RandomizedResponse(3, 2.0), 2000, 1500, np.random.default_rng(3)
    bounds = information_bounds(Channel.k_rr(mechanism), 0.5, draws=20_000, rng=1)
    errors = []
    for _ in range(rounds):
        theta = rng.dirichlet(np.full(3, 0.5))
        counts = rng.multinomial(n, mechanism.expected(theta))
        estimates = posterior_mean(counts, mechanism, 0.5), inv(counts, Channel.k_rr(mechanism))
        errors.append([n * ((one - theta) ** 2).sum() for one in estimates])
    mean, error = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(rounds)
    assert abs(mean[1] - bounds.inv) < 4 * error[1]
    # At the border of the simplex the posterior mean is better than the limit; the prior's part there shrinks with n.
    assert bounds.entropy < mean[0] + 4 * error[0]
    assert 0.8 * bounds.exact < mean[0] < bounds.exact + 4 * error[0]
