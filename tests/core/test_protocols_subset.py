"""Subset selection: the law of a report by enumeration in fractions, Inv and its variance, and both samplers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.protocols import Channel, SubsetSelection, inv, mle
from tests.core.laws import chi_square_p
from tests.core.test_protocols_unary import law_of_sums

SIZES = [(2, 1), (3, 2), (4, 2), (5, 1), (6, 5)]
POWERS = [Fraction(101, 100), Fraction(3), Fraction(40)]


def law(k, d, power, own):
    """The probability of every set of d categories, as k bits, for a user of category ``own``, from the definition."""
    sets = [bits for bits in itertools.product((0, 1), repeat=k) if sum(bits) == d]
    weights = {bits: power if bits[own] else Fraction(1) for bits in sets}
    total = sum(weights.values())
    return {bits: weight / total for bits, weight in weights.items()}


@pytest.mark.parametrize(("k", "d"), SIZES)
@pytest.mark.parametrize("power", POWERS)
def test_epsilon_unbiasedness_and_variance_by_enumeration(k, d, power):
    protocol = SubsetSelection(k, math.log(power), d)
    laws = [law(k, d, power, own) for own in range(k)]
    # The largest ratio of the chances of one report is e^eps, and not less.
    assert max(a[s] / b[s] for a, b in itertools.product(laws, laws) for s in a) == power
    chances = [[sum(c for s, c in laws[own].items() if s[i]) for i in range(k)] for own in range(k)]
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


@pytest.mark.parametrize(("k", "d"), [(3, 2), (5, 3), (6, 1)])
def test_a_report_has_the_law_of_the_definition(k, d):
    own, runs = 1, 40_000
    protocol = SubsetSelection(k, 1.1, d)
    sent = protocol.randomize(np.full(runs, own), 11)
    assert sent.dtype == np.uint8
    assert sent.shape == (runs, k)
    assert (sent.sum(axis=1) == d).all()
    exact = law(k, d, Fraction(math.exp(1.1)), own)
    numbers = {bits: i for i, bits in enumerate(exact)}
    samples = np.array([numbers[tuple(row)] for row in sent.tolist()])
    assert chi_square_p(samples, np.array([float(c) for c in exact.values()])) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("k", "d", "counts"), [(3, 2, (2, 1, 1)), (4, 2, (0, 1, 0, 2))])
def test_the_joint_law_of_the_supports_is_that_of_the_reports(k, d, counts):
    power, runs = Fraction(5, 2), 5000
    protocol = SubsetSelection(k, math.log(power), d)
    exact = law_of_sums(counts, [law(k, d, power, own) for own in range(k)])
    assert sum(exact.values()) == 1
    numbers = {support: i for i, support in enumerate(exact)}
    expected = np.array([float(chance) for chance in exact.values()])
    drawn = protocol.randomize_support(np.tile(counts, (runs, 1)), 5)
    samples = np.array([numbers[tuple(row)] for row in drawn.tolist()])
    assert chi_square_p(samples, expected) > 1e-4


def test_moments_of_supports_of_many_users():
    k, d, counts = 12, 4, [900, 300, 200, 100, 50, 40, 30, 0, 0, 7, 1, 372]
    protocol, theta, runs = SubsetSelection(k, 0.8, d), np.array(counts) / 2000, 800
    estimates = inv(protocol.randomize_support(np.tile(counts, (runs, 1)), 9), protocol, 2000)
    variance = protocol.variance(theta, 2000)
    assert (np.abs(estimates.mean(axis=0) - theta) < 5 * np.sqrt(variance / runs)).all()
    assert (np.abs(estimates.var(axis=0) / variance - 1) < 5 * math.sqrt(2.1 / runs)).all()
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


def test_it_keeps_shapes_and_a_seed_gives_the_same():
    protocol = SubsetSelection(7, 0.5)
    assert (protocol.randomize([1, 2, 3], 4) == protocol.randomize([1, 2, 3], 4)).all()
    assert (protocol.randomize_support([5] * 7, 4) == protocol.randomize_support([5] * 7, 4)).all()
    assert protocol.randomize(np.zeros((2, 3), dtype=int), 1).shape == (2, 3, 7)
    assert protocol.randomize(np.zeros(0, dtype=int), 1).shape == (0, 7)
    assert protocol.support(np.zeros((0, 7), dtype=int)).tolist() == [0] * 7


@pytest.mark.parametrize(("k", "d"), [(3, 1), (5, 2)])
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
    assert mle(reports, protocol, 1e-6).gap <= 1e-6
