"""MLE* against every other way to the maximum likelihood."""

import numpy as np
import pytest
from hypothesis import given
from scipy import optimize

from rr_core import (
    RandomizedResponse,
    ibu,
    inv,
    inv_n,
    inv_p,
    mle_star,
    negative_log_likelihood,
    optimality_gap,
    sampling,
    update_factors,
    zipf,
)
from tests.core import listing
from tests.core.histograms import EPSILONS, both_ways, counts, epsilons, everyday_epsilons, families


def noisy(k, n, s, mechanism, seed):
    rng = np.random.default_rng(seed)
    return mechanism.randomize_histogram(sampling.multinomial(n, zipf(k, s), rng), rng)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 8.0])
@pytest.mark.parametrize(("k", "n"), [(2, 50), (8, 200), (60, 3000)])
def test_a_long_ibu_run_ends_at_mle_star(k, n, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    for seed in range(4):
        histogram = noisy(k, n, 1.0, mechanism, seed)
        theta = mle_star(histogram, mechanism)
        early, run = (ibu(histogram, mechanism, steps) for steps in (2_000, 20_000))
        # The certificate bounds how far the likelihood of the run still is from its maximum.
        gap = negative_log_likelihood(histogram, run, mechanism) - negative_log_likelihood(
            histogram, theta, mechanism
        )
        assert -1e-9 <= gap <= histogram.sum() * optimality_gap(histogram, run, mechanism) + 1e-9
        np.testing.assert_allclose(run, theta, atol=4e-3 if k > 10 else 1e-5)
        assert np.abs(run - theta).max() <= np.abs(early - theta).max() + 1e-15


@pytest.mark.parametrize("epsilon", [0.7, 2.0, 5.0])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_a_general_optimiser_finds_nothing_better(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    for seed in range(5):
        histogram = np.random.default_rng(seed).integers(0, 20, k) + np.eye(1, k, dtype=int)[0]
        phi = histogram / histogram.sum()
        found = optimize.minimize(
            lambda theta, phi=phi: -phi @ np.log(mechanism.q + mechanism.keep * theta),
            np.full(k, 1 / k),
            jac=lambda theta, phi=phi: -phi * mechanism.keep / (mechanism.q + mechanism.keep * theta),
            method="SLSQP",
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda theta: theta.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        theta = mle_star(histogram, mechanism)
        assert negative_log_likelihood(phi, theta, mechanism) <= found.fun + 1e-12
        np.testing.assert_allclose(theta, found.x, atol=2e-5)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("histogram", [(5, 3, 1), (9, 1, 0), (4, 4, 1), (7, 0, 0), (1, 1, 1), (30, 20, 19)])
def test_no_point_of_a_fine_grid_is_more_likely(histogram, epsilon):
    mechanism, steps = RandomizedResponse(3, epsilon), 300
    a, b = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    inside = a + b <= steps
    grid = np.stack([a, b, steps - a - b], axis=-1)[inside] / steps
    losses = negative_log_likelihood(histogram, grid, mechanism)
    theta = mle_star(histogram, mechanism)
    assert negative_log_likelihood(histogram, theta, mechanism) <= losses.min() + 1e-12
    assert np.abs(grid[losses.argmin()] - theta).max() <= 2 / steps


@pytest.mark.parametrize("k", [2, 3, 20, 400])
def test_the_supplements_listing_agrees(k):
    for seed in range(20):
        epsilon = np.random.default_rng(seed).uniform(0.1, 9)
        mechanism = RandomizedResponse(k, epsilon)
        histogram = noisy(k, 30 * k, 1.3, mechanism, seed)
        expected = listing.mle(histogram / histogram.sum(), mechanism.p)
        np.testing.assert_allclose(mle_star(histogram, mechanism), expected, atol=1e-10)


def check_optimality_conditions(histogram, mechanism):
    theta = mle_star(histogram, mechanism)
    factors = update_factors(histogram, theta, mechanism)
    np.testing.assert_allclose(factors[theta > 0], 1, rtol=0, atol=1e-12)
    assert factors.max() <= 1 + 1e-12
    assert abs(optimality_gap(histogram, theta, mechanism)) < 1e-12


@pytest.mark.parametrize("k", [2, 3, 11, 200, 2500])
def test_optimality_conditions_hold_on_every_family_at_every_epsilon(k):
    for mechanism, _ in both_ways(k):
        for histogram in families(k, np.random.default_rng(k)).values():
            check_optimality_conditions(histogram, mechanism)


@given(counts(), epsilons)
def test_optimality_conditions_hold_on_any_counts(histogram, epsilon):
    check_optimality_conditions(histogram, RandomizedResponse(len(histogram), epsilon))


@pytest.mark.parametrize("epsilon", [*EPSILONS[1::2], 8.0])
def test_optimality_conditions_hold_at_the_industrial_size(epsilon):
    k = 1_423_000
    mechanism = RandomizedResponse(k, epsilon)
    check_optimality_conditions(noisy(k, 1_664_500, 1.3, mechanism, 1), mechanism)


@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_no_other_distribution_is_more_likely(histogram, epsilon):
    mechanism = RandomizedResponse(len(histogram), epsilon)
    best = negative_log_likelihood(histogram, mle_star(histogram, mechanism), mechanism)
    rivals = np.random.default_rng(0).dirichlet(np.full(mechanism.k, 0.5), size=200)
    rivals = np.vstack(
        [rivals, np.eye(mechanism.k), inv_n(histogram, mechanism), inv_p(histogram, mechanism)]
    )
    assert best <= negative_log_likelihood(histogram, rivals, mechanism).min() * (1 + 1e-13) + 1e-12


@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_every_estimate_is_monotone_in_the_counts(histogram, epsilon):
    """Theorem 6 for MLE*, and the same of the others; equal counts get equal estimates."""
    order = np.argsort(histogram, kind="stable")
    for estimate in (inv, inv_n, inv_p, mle_star):
        theta = estimate(histogram, RandomizedResponse(len(histogram), epsilon))
        assert (np.diff(theta[order]) >= 0).all()
        for count in set(histogram):
            assert len(set(theta[np.equal(histogram, count)])) == 1


def test_without_negatives_in_inv_all_estimators_are_inv():
    histogram, mechanism = [30, 31, 32, 33], RandomizedResponse(4, 2.0)
    for estimate in (inv_n, inv_p):
        np.testing.assert_allclose(estimate(histogram, mechanism), mle_star(histogram, mechanism), rtol=1e-14)
