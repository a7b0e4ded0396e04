"""InvP is the Euclidean projection of Inv on the simplex."""

import numpy as np
import pytest
from hypothesis import given
from scipy import optimize

from rr_core import RandomizedResponse, inv, inv_p, squared_error
from tests.core.histograms import counts, everyday_epsilons


def project(point):
    """The textbook projection: sort, find the largest support whose threshold stays below its entries."""
    ranked = np.sort(point)[::-1]
    thresholds = (np.cumsum(ranked) - 1) / np.arange(1, len(point) + 1)
    size = np.flatnonzero(ranked > thresholds)[-1]
    return np.maximum(point - thresholds[size], 0)


@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_inv_p_is_the_textbook_projection(histogram, epsilon):
    mechanism = RandomizedResponse(len(histogram), epsilon)
    point = inv(histogram, mechanism)
    np.testing.assert_allclose(inv_p(histogram, mechanism), project(point), atol=1e-14 * np.abs(point).max())


@pytest.mark.parametrize("k", [2, 4, 7])
def test_a_general_optimiser_finds_nothing_nearer(k):
    mechanism = RandomizedResponse(k, 0.8)
    for seed in range(5):
        histogram = np.random.default_rng(seed).integers(0, 9, k) + 1
        point = inv(histogram, mechanism)
        found = optimize.minimize(
            lambda theta, point=point: ((theta - point) ** 2).sum(),
            np.full(k, 1 / k),
            jac=lambda theta, point=point: 2 * (theta - point),
            method="SLSQP",
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda theta: theta.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-14},
        )
        theta = inv_p(histogram, mechanism)
        np.testing.assert_allclose(theta, found.x, atol=1e-6)
        assert squared_error(theta, point) <= found.fun + 1e-12


@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_no_other_distribution_is_nearer_to_inv(histogram, epsilon):
    mechanism = RandomizedResponse(len(histogram), epsilon)
    point = inv(histogram, mechanism)
    rivals = np.random.default_rng(0).dirichlet(np.full(mechanism.k, 0.5), size=100)
    rivals = np.vstack([rivals, np.eye(mechanism.k)])
    nearest = squared_error(inv_p(histogram, mechanism), point)
    assert nearest <= squared_error(rivals, point).min() * (1 + 1e-12) + 1e-14
