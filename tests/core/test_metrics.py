"""Distances and likelihood against plain sums; the variance of Inv against simulation."""

import math

import numpy as np
import pytest
from hypothesis import given

from rr_core import (
    RandomizedResponse,
    inv,
    inv_variance,
    max_error,
    negative_log_likelihood,
    squared_error,
    total_variation,
)
from tests.core import exact
from tests.core.histograms import counts, everyday_epsilons
from tests.sentences import holds

RUNS = 40_000
# Six standard errors of a sample variance of normals, widened for the kurtosis of the small counts.
SLACK = 6 * 1.3 * math.sqrt(2 / RUNS)


def test_distances_are_their_sums():
    a, b = [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]
    assert squared_error(a, b) == pytest.approx(0.09 + 0.04 + 0.25)
    assert total_variation(a, b) == pytest.approx(0.5)
    assert max_error(a, b) == pytest.approx(0.5)
    assert total_variation([1, 0], [0, 1]) == 1
    assert squared_error([3, 0], np.array([1, 2], dtype=np.uint8)) == 8


@pytest.mark.slow
@given(counts(), everyday_epsilons)
def test_the_likelihood_of_counts_is_summed_over_reports_and_of_frequencies_is_per_report(histogram, epsilon):
    k, n = len(histogram), sum(histogram)
    mechanism, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    theta = np.random.default_rng(0).dirichlet(np.ones(k))
    seen = [float(channel.q + channel.keep * exact.Fraction(share)) for share in theta]
    expected = -math.fsum(c * math.log(s) for c, s in zip(histogram, seen, strict=True))
    assert negative_log_likelihood(histogram, theta, mechanism) == pytest.approx(
        expected, rel=1e-12, abs=1e-13 * n
    )
    assert negative_log_likelihood(np.array(histogram) / n, theta, mechanism) == pytest.approx(
        expected / n, rel=1e-11, abs=1e-13
    )


def test_the_likelihood_where_q_is_smallest():
    """At eps = 700 a report of a category of probability zero costs log(1/q) = 700 nats."""
    mechanism = RandomizedResponse(3, 700)
    assert negative_log_likelihood([2, 1, 0], [1, 0, 0], mechanism) == pytest.approx(700)
    assert negative_log_likelihood([2, 1, 0], [0.5, 0.5, 0], mechanism) == pytest.approx(3 * math.log(2))


def test_an_impossible_report_is_infinitely_unlikely():
    """Inv can go below -q/(p - q) only where nothing was reported; another vector can go anywhere."""
    mechanism = RandomizedResponse(3, 1.0)
    assert negative_log_likelihood([5, 3, 1], [3, -1, -1], mechanism) == math.inf
    assert negative_log_likelihood([5, 3, 1], [3, -1, -1], RandomizedResponse(3, 700)) == math.inf
    histogram = [50, 3, 0]
    phi = np.array(histogram) / 53
    entropy = -53 * (phi[:2] @ np.log(phi[:2]))
    assert negative_log_likelihood(histogram, inv(histogram, mechanism), mechanism) == pytest.approx(entropy)


def fixed_users(true_counts, mechanism):
    return inv(mechanism.randomize_histogram(np.broadcast_to(true_counts, (RUNS, mechanism.k)), 1), mechanism)


def sampled_users(theta, n, mechanism):
    rng = np.random.default_rng(2)
    users = rng.multinomial(n, theta, size=RUNS)
    return inv(mechanism.randomize_histogram(users, rng), mechanism)


@holds(
    "It is right on average, but a category that received fewer reports than the noise alone would bring comes out **below zero**.",  # noqa: E501
    "when estimates will be added or averaged (over weeks, over groups) or need an interval: it is the only one that is right on average.",  # noqa: E501
    "Unbiased: $\\mathrm E[\\mathrm{Inv}_i]=θ_i$.",
    "Right on average, but shares may come out below zero.",
)
def test_inv_is_unbiased():
    """And has its variance, for fixed users and for users who are drawn anew each time."""
    mechanism, true_counts = RandomizedResponse(5, 1.0), np.array([120, 60, 20, 0, 0])
    theta = true_counts / 200
    for users, estimates in (
        ("fixed", fixed_users(true_counts, mechanism)),
        ("sampled", sampled_users(theta, 200, mechanism)),
    ):
        variance = inv_variance(theta, 200, mechanism, users=users)
        np.testing.assert_allclose(estimates.var(axis=0), variance, rtol=SLACK)
        assert (np.abs(estimates.mean(axis=0) - theta) < 6 * np.sqrt(variance / RUNS)).all()


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("k", [2, 3, 1000])
def test_variance_of_inv_in_exact_arithmetic(k, epsilon, users):
    channel, n = exact.channel_from_epsilon(k, epsilon), 777
    shares = [exact.Fraction(1, 4), exact.Fraction(3, 4), *[exact.Fraction(0)] * (k - 2)]
    seen = [channel.q + channel.keep * share for share in shares]
    fixed = [x * channel.p * (1 - channel.p) + (1 - x) * channel.q * (1 - channel.q) for x in shares]
    report = fixed if users == "fixed" else [m * (1 - m) for m in seen]
    expected = [float(value / (n * channel.keep**2)) for value in report]
    got = inv_variance([float(x) for x in shares], n, RandomizedResponse(k, epsilon), users=users)
    np.testing.assert_allclose(got, expected, rtol=2e-12)
