"""MLE* against every other way to the maximum likelihood."""

import numpy as np
import pytest
from hypothesis import given

from rr_core import (
    RandomizedResponse,
    inv,
    inv_n,
    inv_p,
    mle_star,
    optimality_gap,
    sampling,
    update_factors,
    zipf,
)
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


@holds(
    "No estimate here changes the order that the reports give.",
)
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
