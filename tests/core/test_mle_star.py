"""MLE* against every other way to the maximum likelihood, and the steps of Algorithm 1; the certificate bounds the true
gap in likelihood, for any distribution."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import (
    RandomizedResponse,
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
from rr_core.estimators import mle_search
from tests.core import exact
from tests.core.histograms import both_ways, counts, epsilons, everyday_epsilons, families
from tests.sentences import holds


def noisy(k, n, s, mechanism, seed):
    rng = np.random.default_rng(seed)
    return mechanism.randomize_histogram(sampling.multinomial(n, zipf(k, s), rng), rng)


def check_optimality_conditions(histogram, mechanism):
    theta = mle_star(histogram, mechanism)
    factors = update_factors(histogram, theta, mechanism)
    np.testing.assert_allclose(factors[theta > 0], 1, rtol=0, atol=1e-12)
    assert factors.max() <= 1 + 1e-12
    assert abs(optimality_gap(histogram, theta, mechanism)) < 1e-12


@pytest.mark.parametrize("k", [2, 3, 11, 2500])
def test_optimality_conditions_hold_on_every_family_at_every_epsilon(k):
    for mechanism, _ in both_ways(k):
        for histogram in families(k, np.random.default_rng(k)).values():
            check_optimality_conditions(histogram, mechanism)


@holds(
    "From a guess without zeros it tends to **MLE\\***, the best fit.",
    "Kept: the most categories for which the smallest stays positive, $c_i(e^ε-1)>S-mc_i$.",
    "The distribution under which the reports are most likely, in closed form.",
    "No distribution fits the reports better.",
)
@given(counts(), epsilons)
def test_optimality_conditions_hold_on_any_counts(histogram, epsilon):
    check_optimality_conditions(histogram, RandomizedResponse(len(histogram), epsilon))


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 8.0, 700.0])
def test_optimality_conditions_hold_at_the_industrial_size(epsilon):
    k = 1_423_000
    mechanism = RandomizedResponse(k, epsilon)
    check_optimality_conditions(noisy(k, 1_664_500, 1.3, mechanism, 1), mechanism)


@holds("No estimate here changes the order that the reports give.")
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


@holds(
    "Inv has no negative here, so nothing is cut off: InvP, MLE* and InvN are all Inv itself, one point.",
    "Inv lies inside the triangle: it is a distribution already, there is nothing to repair, and InvN, InvP and MLE* all stay on it.",  # noqa: E501
)
def test_without_negatives_in_inv_all_estimators_are_inv():
    histogram, mechanism = [30, 31, 32, 33], RandomizedResponse(4, 2.0)
    for estimate in (inv_n, inv_p):
        np.testing.assert_allclose(estimate(histogram, mechanism), mle_star(histogram, mechanism), rtol=1e-14)


def definition_1(counts: list[int], p: Fraction, n: int) -> tuple[list[Fraction], Fraction]:
    """theta^[n] and g(n) of the supplement, for sorted counts."""
    k, phi = len(counts), [Fraction(c, sum(counts)) for c in counts]
    q = (1 - p) / (k - 1)
    scale = (p - q) * sum(phi[n:]) / (1 - n * q)
    theta = [Fraction(0)] * n + [one / scale - q / (p - q) for one in phi[n:]]
    return theta, (1 - n * q) * phi[n] - q * sum(phi[n:])


@given(st.lists(st.integers(0, 9), min_size=2, max_size=7).filter(any), st.integers(1, 19))
def test_steps_are_those_of_the_paper(counts, twentieths):
    p = Fraction(1, len(counts)) + (1 - Fraction(1, len(counts))) * Fraction(twentieths, 20)
    mechanism = RandomizedResponse.from_p(len(counts), float(p))
    found = mle_search(counts, mechanism)
    assert [counts[i] for i in found.order] == sorted(counts)
    exact_g = []
    for n, (theta, g) in enumerate(zip(found.theta, found.g, strict=True)):
        exact, exact_value = definition_1(sorted(counts), p, n)
        exact_g.append(exact_value)
        np.testing.assert_allclose(theta, np.array(exact, dtype=float), rtol=1e-9, atol=1e-12)
        assert g == pytest.approx(float(exact_value), abs=1e-14)
    # It ends at the first that is not negative, up to the rounding of p where g is zero.
    assert all(g < 1e-14 for g in exact_g[:-1])
    assert exact_g[-1] > -1e-14
    # Each step is Inv of the reports left, under randomized response with this epsilon over the categories left.
    for n, (left, chance, theta) in enumerate(zip(found.left, found.chance, found.theta, strict=True)):
        np.testing.assert_allclose(left[n:] * sum(sorted(counts)[n:]), sorted(counts)[n:], rtol=1e-12)
        if n < len(counts) - 1:
            alone = RandomizedResponse(len(counts) - n, mechanism.epsilon)
            assert chance == pytest.approx(alone.q, rel=1e-9)
            np.testing.assert_allclose(theta[n:], inv(sorted(counts)[n:], alone), rtol=1e-9, atol=1e-12)
    assert (np.diff(found.chance) > 0).all()


@given(
    st.lists(st.integers(0, 10**6), min_size=2, max_size=50).filter(any),
    st.one_of(st.floats(0.01, 20), st.sampled_from([1e-6, 700.0])),
)
def test_the_last_step_is_mle_star(counts, epsilon):
    mechanism = RandomizedResponse(len(counts), epsilon)
    found = mle_search(counts, mechanism)
    np.testing.assert_allclose(found.theta[-1], mle_star(counts, mechanism)[found.order], atol=1e-12)
    assert (found.theta[-1] >= -1e-12).all()
    for theta in found.theta[:-1]:
        assert theta.min() < 0


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
    "If all had one and the same category, how many times as likely would a report be, on average?",
    "Any other shares have the mean of the factors, weighted by them: never above the largest.",
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
