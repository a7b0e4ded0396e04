"""Subset selection: the law of a report by enumeration in fractions, Inv and its variance, and both samplers."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse
from rr_core import inv as inv_of_rr
from rr_core.plan import protocol_choice
from rr_core.protocols import Channel, SubsetSelection, inv, laws, mle
from tests.core.laws import check_moments, chi_square_p

SIZES = [(2, 1), (3, 1), (3, 2), (4, 2), (5, 1), (5, 3), (6, 4), (6, 5)]
POWERS = [Fraction(101, 100), Fraction(3), Fraction(40)]


def law(k, d, power, own):
    """The probability of every set of d categories for a user of category ``own``, from the definition."""
    weights = {named: power if own in named else Fraction(1) for named in itertools.combinations(range(k), d)}
    total = sum(weights.values())
    return {named: weight / total for named, weight in weights.items()}


def holds(named, category):
    return int(category in named)


@pytest.mark.parametrize(("k", "d"), SIZES)
@pytest.mark.parametrize("power", POWERS)
def test_epsilon_unbiasedness_and_variance_by_enumeration(k, d, power):
    protocol = SubsetSelection(k, math.log(power), d)
    laws = [law(k, d, power, own) for own in range(k)]
    # The largest ratio of the chances of one report is e^eps, and not less.
    assert max(a[s] / b[s] for a, b in itertools.product(laws, laws) for s in a) == power
    chances = [[sum(c for s, c in laws[own].items() if i in s) for i in range(k)] for own in range(k)]
    assert protocol.p_star == pytest.approx(float(chances[0][0]), rel=1e-12)
    assert protocol.q_star == pytest.approx(float(chances[0][1]), rel=1e-12)
    for own in range(k):
        expected = np.array([float(chance) for chance in chances[own]])
        np.testing.assert_allclose(inv(expected, protocol, 1), np.eye(k)[own], atol=1e-10)
    p, q = chances[0][0], chances[0][1]
    theta = [Fraction(i + 1, k * (k + 1) // 2) for i in range(k)]
    exact = [float((s * p * (1 - p) + (1 - s) * q * (1 - q)) / (p - q) ** 2 / 700) for s in theta]
    np.testing.assert_allclose(protocol.variance([float(s) for s in theta], 700), exact, rtol=1e-11)


@given(st.integers(2, 8), st.data())
def test_inv_in_exact_arithmetic(k, data):
    d = data.draw(st.integers(1, k - 1))
    n = data.draw(st.integers(1, 10**9))
    support = data.draw(st.lists(st.integers(0, n), min_size=k, max_size=k))
    epsilon = data.draw(st.sampled_from([1e-6, 0.01, 0.7, 3.0, 20.0]))
    odds = Fraction(math.expm1(epsilon))
    total = d * odds + k
    p, q = d * (odds + 1) / total, d * ((d - 1) * odds + k - 1) / (k - 1) / total
    exact = [(Fraction(s, n) - q) / (p - q) for s in support]
    # Two terms of one sum, hence relative to the larger of them.
    scale = max(*(abs(x) for x in exact), Fraction(1))
    got = inv(support, SubsetSelection(k, epsilon, d), n)
    assert max(abs(Fraction(float(a)) - b) for a, b in zip(got, exact, strict=True)) <= scale * Fraction(
        2, 10**12
    )


def test_with_one_category_it_is_randomized_response():
    rr, subset = RandomizedResponse(6, 1.3), SubsetSelection(6, 1.3, d=1)
    counts = np.array([5, 9, 2, 0, 4, 10])
    np.testing.assert_allclose(inv(counts, subset, 30), inv_of_rr(counts, rr), rtol=1e-12)
    assert (subset.p_star, subset.q_star) == pytest.approx((rr.p, rr.q), rel=1e-12)
    assert (subset.randomize_support(counts, 3) == rr.randomize_histogram(counts, 3)).all()
    assert SubsetSelection(12, 3.0).d == 1


@pytest.mark.parametrize(("k", "d"), [(3, 2), (4, 2), (5, 3), (6, 1)])
def test_a_report_has_the_law_of_the_definition(k, d):
    own, runs = 1, 40_000
    protocol = SubsetSelection(k, 1.1, d)
    sent = protocol.randomize(np.full(runs, own), 11)
    assert sent.dtype == np.uint8
    assert sent.shape == (runs, k)
    assert (sent.sum(axis=1) == d).all()
    exact = law(k, d, Fraction(math.exp(1.1)), own)
    numbers = {named: i for i, named in enumerate(exact)}
    samples = np.array([numbers[tuple(np.flatnonzero(row))] for row in sent])
    assert chi_square_p(samples, np.array([float(c) for c in exact.values()])) > 1e-4


def support_law(k, d, power, counts):
    """The joint law of the supports, user by user."""
    found = {(0,) * k: Fraction(1)}
    for own, users in enumerate(counts):
        one = law(k, d, power, own)
        for _ in range(users):
            after = {}
            for support, weight in found.items():
                for named, chance in one.items():
                    key = tuple(s + holds(named, i) for i, s in enumerate(support))
                    after[key] = after.get(key, 0) + weight * chance
            found = after
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "d", "counts"), [(3, 2, (2, 1, 1)), (4, 3, (0, 1, 0, 2)), (4, 1, (1, 2, 0, 1))]
)
def test_the_joint_law_of_the_supports_is_that_of_the_reports(k, d, counts):
    power, runs = Fraction(5, 2), 5000
    protocol = SubsetSelection(k, math.log(power), d)
    exact = support_law(k, d, power, counts)
    assert sum(exact.values()) == 1
    numbers = {support: i for i, support in enumerate(exact)}
    expected = np.array([float(chance) for chance in exact.values()])
    drawn = protocol.randomize_support(np.tile(counts, (runs, 1)), 5)
    samples = np.array([numbers[tuple(row)] for row in drawn.tolist()])
    assert chi_square_p(samples, expected) > 1e-4
    truth = np.repeat(np.arange(k), counts)
    made = protocol.support(protocol.randomize(np.tile(truth, (runs, 1)), 6))
    samples = np.array([numbers[tuple(row)] for row in made.tolist()])
    assert chi_square_p(samples, expected) > 1e-4


def covariance_of_supports(k, d, odds, counts):
    """Of the supports, from the chances of one and of two categories in a set."""
    total = d * odds + k
    p, q = d * (odds + 1) / total, d * ((d - 1) * odds + k - 1) / (k - 1) / total
    # Own and one other; two others, from the sum over all pairs, d(d - 1).
    own_other = p * (d - 1) / (k - 1)
    others = (d * (d - 1) - 2 * (k - 1) * own_other) / ((k - 1) * (k - 2))
    covariance = np.zeros((k, k))
    for own, users in enumerate(counts):
        mean = np.where(np.arange(k) == own, p, q)
        second = np.full((k, k), others)
        second[own, :] = second[:, own] = own_other
        np.fill_diagonal(second, mean)
        covariance += users * (second - np.outer(mean, mean))
    mean = np.array([t * p + (sum(counts) - t) * q for t in counts])
    return mean, covariance


def test_moments_of_supports_of_many_users():
    k, d, counts = 12, 4, [900, 300, 200, 100, 50, 40, 30, 0, 0, 7, 1, 372]
    protocol = SubsetSelection(k, 0.8, d)
    mean, covariance = covariance_of_supports(k, d, math.expm1(0.8), counts)
    supports = protocol.randomize_support(np.tile(counts, (1500, 1)), 9)
    check_moments(supports, mean, covariance)
    estimates = inv(supports, protocol, 2000)
    variance = protocol.variance(np.array(counts) / 2000, 2000)
    np.testing.assert_allclose(variance, np.diag(covariance) / 2000**2 / protocol.chances.keep**2, rtol=1e-9)
    assert (np.abs(estimates.var(axis=0) / variance - 1) < 5 * math.sqrt(2.1 / 1500)).all()
    np.testing.assert_allclose(estimates.sum(axis=1), 1, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 10**9), min_size=2, max_size=30),
    st.sampled_from([1e-6, 0.01, 1.0, 5.0, 20.0, 700.0]),
    st.data(),
)
def test_every_support_is_possible(counts, epsilon, data):
    k, n = len(counts), sum(counts)
    d = data.draw(st.one_of(st.none(), st.integers(1, k - 1)))
    protocol = SubsetSelection(k, epsilon, d)
    support = protocol.randomize_support(counts, 1)
    assert support.sum() == protocol.d * n
    assert support.min() >= 0
    assert support.max() <= n
    if n:
        assert np.isfinite(inv(support, protocol, n)).all()
        if epsilon == 700.0:
            assert (support >= counts).all()


def test_large_numbers_are_quick():
    start = time.perf_counter()
    support = SubsetSelection(2000, 1.0).randomize_support(np.full(2000, 5 * 10**6), 1)
    assert support.sum() == 538 * 10**10
    # The mean over all users is d/k for every category; a standard deviation is at most 1/2 for each user.
    assert np.abs(support / 1e10 - 538 / 2000).max() < 6 * 0.5 / math.sqrt(1e10)
    assert time.perf_counter() - start < 60


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("k", [2, 10, 1000, 1_500_000])
def test_the_best_size_is_the_one_of_the_plan(k, epsilon):
    protocol = SubsetSelection(k, epsilon)
    assert protocol.d == laws.subset_size(k, epsilon)
    row = protocol_choice.compare(k, epsilon, 1000, 1 / k)[1]
    assert float(protocol.variance(1 / k, 1000)) == pytest.approx(row.variance, rel=1e-9)


def test_it_is_frozen_and_a_seed_gives_the_same():
    protocol = SubsetSelection(7, 0.5)
    with pytest.raises(AttributeError):
        protocol.k = 3
    assert protocol == SubsetSelection(7, 0.5, protocol.d)
    assert (protocol.randomize([1, 2, 3], 4) == protocol.randomize([1, 2, 3], 4)).all()
    assert (protocol.randomize_support([5] * 7, 4) == protocol.randomize_support([5] * 7, 4)).all()
    assert protocol.randomize(np.zeros((2, 3), dtype=int), 1).shape == (2, 3, 7)
    assert protocol.randomize(np.zeros(0, dtype=int), 1).shape == (0, 7)
    assert protocol.support(np.zeros((0, 7), dtype=int)).tolist() == [0] * 7


@pytest.mark.parametrize(("k", "d"), [(3, 1), (4, 2), (5, 2)])
def test_the_maximum_of_the_likelihood_is_that_of_the_whole_channel(k, d):
    """The channel has a column for each subset."""
    protocol, subsets = SubsetSelection(k, 1.2, d), list(itertools.combinations(range(k), d))
    bits = np.array([[i in subset for i in range(k)] for subset in subsets], dtype=np.uint8)
    odds = np.exp(1.2 * bits.T)
    channel = Channel(odds / odds.sum(axis=1, keepdims=True))
    rng = np.random.default_rng(k)
    reports = protocol.randomize(rng.choice(k, 400, p=np.arange(k, 0, -1) / np.arange(1, k + 1).sum()), rng)
    counts = [int((reports == one).all(axis=1).sum()) for one in bits]
    found, other = mle(reports, protocol), mle(counts, channel)
    np.testing.assert_allclose(found.theta, other.theta, atol=1e-6)
    assert found.gap <= 1e-9


def test_the_maximum_of_the_likelihood_of_many_reports_is_found_in_passes():
    protocol = SubsetSelection(200, 1.0)
    theta = np.arange(200, 0, -1.0) ** 3
    reports = protocol.randomize(np.random.default_rng(1).choice(200, 20_000, p=theta / theta.sum()), 2)
    found = mle(reports, protocol, 1e-6)
    assert found.gap <= 1e-6
    assert found.iterations < 30
