"""The certificate bounds the true gap in likelihood, for any distribution."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse, inv, mle_star, negative_log_likelihood, optimality_gap, update_factors
from tests.core import exact
from tests.core.histograms import counts, everyday_epsilons
from tests.sentences import holds


@holds(
    "The log-likelihood per report is concave, so its distance from the maximum is at most $\\max_i m_i - 1$.",
    "At MLE\\* this is zero up to rounding: proof, on screen, that no distribution fits the reports better.",
    "At most this many nats per report are missing to the maximum; 0 at MLE\\*.",
)
@pytest.mark.slow
@given(counts(), everyday_epsilons, st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.3, 1.0, 30.0]))
def test_the_certificate_is_at_least_the_true_gap(histogram, epsilon, seed, spread):
    mechanism = RandomizedResponse(len(histogram), epsilon)
    theta = np.random.default_rng(seed).dirichlet(np.full(mechanism.k, spread))
    phi = np.array(histogram) / sum(histogram)
    best = negative_log_likelihood(phi, mle_star(histogram, mechanism), mechanism)
    gap = negative_log_likelihood(phi, theta, mechanism) - best
    assert optimality_gap(histogram, theta, mechanism) >= gap - 1e-12


@settings(max_examples=60)
@given(counts(), everyday_epsilons, st.integers(0, 2**32 - 1))
def test_at_a_certificate_of_one_over_n_all_reports_become_at_most_e_times_as_likely(
    histogram, epsilon, seed
):
    mechanism, n = RandomizedResponse(len(histogram), epsilon), sum(histogram)
    best = mle_star(histogram, mechanism)
    other = np.random.default_rng(seed).dirichlet(np.ones(mechanism.k))
    for part in np.geomspace(1e-6, 1, 13):
        theta = (1 - part) * best + part * other
        if optimality_gap(histogram, theta, mechanism) <= 1 / n:
            phi = np.array(histogram) / n
            losses = [negative_log_likelihood(phi, one, mechanism) for one in (theta, best)]
            assert n * (losses[0] - losses[1]) <= 1 + 1e-9 * n


@holds(
    "A factor is how many times as likely its category alone makes a report as these shares, on average.",
    "A factor: how many times as likely one answer alone makes a report as these bars, on average.",
    "For other shares it is the mean of the factors, weighted by them: never above the largest.",
)
@settings(max_examples=60)
@given(counts(), everyday_epsilons, st.integers(0, 2**32 - 1))
def test_other_shares_make_a_report_likelier_by_the_mean_of_the_factors(histogram, epsilon, seed):
    """And a factor is that of its category alone; all reports together: by no more than the largest to the power of N."""
    mechanism, rng = RandomizedResponse(len(histogram), epsilon), np.random.default_rng(seed)
    theta, other = rng.dirichlet(np.ones(mechanism.k), 2)
    phi, channel = np.array(histogram) / sum(histogram), mechanism.matrix()
    factors = update_factors(histogram, theta, mechanism)
    np.testing.assert_allclose(factors, (channel / (theta @ channel)) @ phi, rtol=1e-9)
    ratios = (other @ channel) / (theta @ channel)
    assert ratios @ phi == pytest.approx(other @ factors, rel=1e-9)
    assert other @ factors <= factors.max() * (1 + 1e-12)
    assert np.log(ratios) @ phi <= math.log(factors.max()) + 1e-12


@settings(max_examples=60)
@given(counts(max_k=6), everyday_epsilons, st.integers(0, 2**32 - 1))
def test_update_factors_are_those_of_exact_arithmetic(histogram, epsilon, seed):
    k = len(histogram)
    theta = np.random.default_rng(seed).dirichlet(np.ones(k))
    theta[seed % k] = 0.0
    factors = update_factors(histogram, theta, RandomizedResponse(k, epsilon))
    truth = exact.update_factors(histogram, theta, exact.channel_from_epsilon(k, epsilon))
    np.testing.assert_allclose(factors, [float(x) for x in truth], rtol=1e-12)


def test_a_category_that_is_hardly_reported_but_was_makes_the_certificate_huge():
    assert optimality_gap([1, 1], [1, 0], RandomizedResponse(2, 700)) > 1e200
    assert math.isfinite(optimality_gap([1, 0], [1, 0], RandomizedResponse(2, 700)))


def test_inv_with_negatives_fits_better_than_any_distribution():
    """Under Inv the reports have exactly the shares that were seen, and no other shares make them likelier."""
    mechanism = RandomizedResponse(4, 1.0)
    counts = np.array([50, 30, 20, 4])
    assert inv(counts, mechanism).min() < 0
    fits = [negative_log_likelihood(counts, f(counts, mechanism), mechanism) for f in (inv, mle_star)]
    assert fits[0] < fits[1]
