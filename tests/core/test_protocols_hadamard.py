"""Hadamard response: the law of a report by enumeration in fractions, Inv, its variance, the entropy of a report, and
both samplers against that law."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.protocols import HadamardResponse, inv, laws, mle, optimality_gap_channel
from tests.core.laws import check_moments, chi_square_p
from tests.sentences import holds

# One block and several, full and not; epsilon from hardly any to hardly any noise.
POWERS = [Fraction(101, 100), Fraction(5, 2), Fraction(33), Fraction(10**6)]
CASES = [*itertools.product([2, 3, 5, 13], POWERS), (8, Fraction(2)), (8, Fraction(9)), (30, Fraction(9))]


def shape(k, power):
    """B and b from the definition, by search."""
    most = 1
    while 2 * most < min(power, 2 * k):
        most *= 2
    size = 2
    while size < Fraction(k, most) + 1:
        size *= 2
    return math.ceil(Fraction(k, size - 1)), size


def in_set(category, report, count, size):
    block, number = divmod(report, size)
    row = 1 + category // count
    return block == category % count and (row & number).bit_count() % 2 == 0


@functools.cache
def rows(k, power):
    """The channel in fractions, from the sets."""
    count, size = shape(k, power)
    made = []
    for x in range(k):
        weights = [power if in_set(x, y, count, size) else Fraction(1) for y in range(count * size)]
        made.append([weight / sum(weights) for weight in weights])
    return made


def epsilon_of(power):
    return math.log(power)


@holds(
    "A person sends each of $b/2$ numbers of the block, those in which the row of a Hadamard matrix is $1$, $e^ε$ times as often as any other.",  # noqa: E501
    "A protocol: each person sends one number, and a known code says for which categories it speaks, their own one more often than by chance.",  # noqa: E501
)
@pytest.mark.parametrize(("k", "power"), CASES)
def test_the_channel_grants_epsilon_and_is_that_of_the_definition(k, power):
    protocol, exact = HadamardResponse(k, epsilon_of(power)), rows(k, power)
    assert (protocol.n_blocks, protocol.block_size) == shape(k, power)
    assert protocol.m == len(exact[0])
    assert {max(column) / min(column) for column in zip(*exact, strict=True)} <= {Fraction(1), power}
    assert max(max(column) / min(column) for column in zip(*exact, strict=True)) == power
    np.testing.assert_allclose(protocol.matrix(), np.array(exact, dtype=float), rtol=1e-12)
    assert protocol.channel().epsilon == pytest.approx(epsilon_of(power), rel=1e-11)


@pytest.mark.parametrize(("k", "power"), CASES)
def test_inv_is_unbiased_and_its_variance_is_that_of_the_enumeration(k, power):
    protocol, exact = HadamardResponse(k, epsilon_of(power)), rows(k, power)
    one_report = inv(np.eye(protocol.m), protocol)  # the estimate from each single report
    channel = np.array(exact, dtype=float)
    np.testing.assert_allclose(channel @ one_report, np.eye(k), atol=1e-10 * np.abs(one_report).max())
    theta = np.arange(k, 0, -1) / (k * (k + 1) / 2)
    # In fractions, as the values of single reports are -1, 0 and 1 times one number.
    count, _ = shape(k, power)
    gain = (power - 1) / (power - 1 + 2 * count)
    shares = [Fraction(k - i, k * (k + 1) // 2) for i in range(k)]
    values = np.rint(one_report * float(gain)).astype(int)
    np.testing.assert_allclose(values / float(gain), one_report, rtol=1e-12, atol=1e-12)
    for x in range(k):
        first = [sum(c * int(v) for c, v in zip(row, values[:, x], strict=True)) / gain for row in exact]
        assert first == [Fraction(int(own == x)) for own in range(k)]
        second = [sum(c for c, v in zip(row, values[:, x], strict=True) if v) / gain**2 for row in exact]
        fixed = sum(s * (b - a * a) for s, a, b in zip(shares, first, second, strict=True))
        sampled = sum(s * b for s, b in zip(shares, second, strict=True)) - shares[x] ** 2
        for users, want in (("fixed", fixed), ("sampled", sampled)):
            got = protocol.variance(theta, 50, users)[x]
            assert got == pytest.approx(float(want) / 50, rel=1e-10)


@pytest.mark.parametrize(("k", "power"), CASES)
def test_the_plan_has_the_mean_over_all_ways_to_deal_out_the_categories(k, power):
    """Over the places of one category, and of the others. (Its variance: below.)"""
    support, exact = laws.support("hr", k, epsilon_of(power)), rows(k, power)
    count, size = shape(k, power)
    own, others = [], []
    for x, y in itertools.product(range(k), repeat=2):
        chance = sum(exact[y][r] for r in range(count * size) if in_set(x, r, count, size))
        (own if x == y else others).append(chance)
    p, q = own[0], sum(others) / len(others)
    assert set(own) == {p}
    given = (support.p_star, support.q_star, support.keep, support.rest)
    np.testing.assert_allclose(given, [float(v) for v in (p, q, p - q, 1 - p - q)], rtol=1e-12, atol=1e-15)
    # At equal shares it is the mean of this protocol's variances.
    mean = HadamardResponse(k, epsilon_of(power)).variance(np.full(k, 1 / k), 7).mean()
    assert float(support.mean_variance(k, 7)) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 1000, 1023, 1_500_000])
@pytest.mark.parametrize("epsilon", [1e-6, 0.7, 1.0, 12.0, 700.0])
def test_no_digits_are_lost_at_either_end(k, epsilon):
    """Variances in fractions: the second moment of one report is the chance of the block over the square of the gain."""
    made = laws.support("hr", k, epsilon)
    odds = Fraction(math.expm1(epsilon))
    count, size = shape(k, odds + 1)
    assert made.blocks[:2] == (count, size)
    half = Fraction(size, 2)
    weight = half * odds + count * size  # of all reports, where those outside the set count one
    gain = half * odds / weight
    less, more = divmod(k, count)
    mean_block = Fraction(less**2 * (count - more) + (less + 1) ** 2 * more, k)
    together = (mean_block - 1) / (k - 1)
    for theta in (Fraction(0), Fraction(1, k), Fraction(1)):
        inside = theta + (1 - theta) * together
        block = (inside * half * (odds + 2) + (1 - inside) * size) / weight
        want = block / gain**2 - theta
        assert float(made.variance(float(theta), 1)) == pytest.approx(float(want), rel=1e-11)
    p = half * (odds + 1) / weight
    q = (together * half * (odds + 2) / 2 + (1 - together) * half) / weight
    given = (made.p_star, made.q_star, made.keep)
    np.testing.assert_allclose(given, [float(p), float(q), float(p - q)], rtol=1e-12)


@pytest.mark.parametrize(("k", "power"), [*CASES, (257, Fraction(3)), (1000, Fraction(150))])
def test_coded_bits_are_the_entropy_of_a_report_at_equal_shares(k, power):
    chances = HadamardResponse(k, epsilon_of(power)).matrix().mean(axis=0)
    entropy = -float(chances @ np.log2(chances))
    made = laws.support("hr", k, epsilon_of(power))
    assert made.coded_bits(k) == pytest.approx(entropy, rel=1e-12)
    assert made.bits(k) == math.ceil(math.log2(chances.size))


@holds("Reports are at most two bits longer than those of k-RR.")
@settings(max_examples=80)
@given(st.integers(2, 1_500_000), st.floats(0.01, 20))
def test_reports_are_short_and_the_shape_is_that_of_the_definition(k, epsilon):
    count, size = laws.hadamard_blocks(k, epsilon)
    assert (count, size) == shape(k, math.exp(epsilon))
    assert count * (size - 1) >= k
    made = laws.support("hr", k, epsilon)
    # Acharya, Sun and Zhang: at most log2 k + 2 bits.
    assert made.bits(k) <= math.log2(k) + 2
    assert made.coded_bits(k) <= made.bits(k)
    assert 0 < made.q_star < made.p_star < 1
    assert made.keep == pytest.approx(made.p_star - made.q_star, rel=1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [(3, 0.5), (6, 2.5)])
def test_a_report_has_the_law_of_the_channel(k, epsilon):
    protocol, runs = HadamardResponse(k, epsilon), 30_000
    channel = protocol.matrix()
    for own in range(k):
        sent = protocol.randomize(np.full(runs, own), own)
        assert chi_square_p(sent, channel[own]) > 1e-4
    truth = np.repeat(np.arange(k), 4)
    counts = np.bincount(truth)
    made = np.array([protocol.histogram(row) for row in protocol.randomize(np.tile(truth, (4000, 1)), 1)])
    drawn = protocol.randomize_histogram(np.tile(counts, (4000, 1)), 2)
    mean = counts @ channel
    covariance = np.diag(mean) - (channel.T * counts) @ channel
    for histograms in (made, drawn):
        assert (histograms.sum(axis=1) == truth.size).all()
        check_moments(histograms, mean, covariance)


def test_a_histogram_of_many_users_has_the_law_of_the_channel():
    """Some categories with so many users that they are spread by a multinomial, others one by one."""
    protocol, counts = HadamardResponse(20, 1.0), np.array([10**6, 300, 5, 0, 40] * 4)
    runs = 1000
    drawn = protocol.randomize_histogram(np.tile(counts, (runs, 1)), 3)
    channel = protocol.matrix()
    check_moments(drawn, counts @ channel, np.diag(counts @ channel) - (channel.T * counts) @ channel)
    estimates, n = inv(drawn, protocol), counts.sum()
    variance = protocol.variance(counts / n, n)
    assert (np.abs(estimates.mean(axis=0) - counts / n) < 5 * np.sqrt(variance / runs)).all()
    assert (np.abs(estimates.var(axis=0) / variance - 1) < 5 * math.sqrt(2.1 / runs)).all()


@pytest.mark.parametrize(("k", "power"), CASES)
def test_support_counts_the_reports_in_each_set(k, power):
    protocol = HadamardResponse(k, epsilon_of(power))
    reports = np.random.default_rng(k).integers(0, protocol.m, 50)
    want = [sum(in_set(x, int(y), *shape(k, power)) for y in reports) for x in range(k)]
    assert protocol.support(reports).tolist() == want


@pytest.mark.parametrize("epsilon", [1e-6, 2.0, 700.0])
def test_inv_is_exact_for_any_counts_and_normalises(epsilon):
    protocol = HadamardResponse(9, epsilon)
    counts = np.random.default_rng(1).integers(0, 10**9, protocol.m)
    count, size = protocol.n_blocks, protocol.block_size
    odds = Fraction(math.expm1(epsilon))
    gain = odds / (odds + 2 * count)
    for x, got in enumerate(inv(counts, protocol)):
        mine = [int(c) for y, c in enumerate(counts) if y // size == x % count]
        good = [int(c) for y, c in enumerate(counts) if in_set(x, y, count, size)]
        want = Fraction(2 * sum(good) - sum(mine), int(counts.sum())) / gain
        assert abs(Fraction(float(got)) - want) <= Fraction(2, 10**12) * max(abs(want), Fraction(1, 10**6))
    reference, scale = inv(counts, protocol), np.abs(inv(counts, protocol)).max()
    for same in (counts / 7, counts.astype(np.float32), counts.astype(np.uint64), counts * 1e290):
        np.testing.assert_allclose(inv(same, protocol), reference, atol=1e-5 * scale)
    small = counts % 200
    np.testing.assert_allclose(inv(small.astype(np.uint8), protocol), inv(small, protocol), rtol=1e-12)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (9, 2.5), (12, 20.0)])
def test_maximum_likelihood_is_that_of_the_whole_channel(k, epsilon):
    protocol = HadamardResponse(k, epsilon)
    channel = protocol.channel()
    for seed, n in enumerate((1, 7, 300, 10**6)):
        counts = protocol.randomize_histogram(
            np.random.default_rng(seed).multinomial(n, np.full(k, 1 / k)), seed
        )
        found = mle(counts, protocol)
        assert found.gap <= 1e-9
        assert found.theta.shape == (k,)
        assert found.theta.sum() == pytest.approx(1)
        # The certificate again, from every column of the channel; relative to a report that is in the set.
        assert optimality_gap_channel(counts, found.theta, channel) <= 2e-9


def test_it_keeps_shapes_and_a_seed_gives_the_same():
    protocol = HadamardResponse(7, 0.5)
    assert (protocol.randomize([1, 2, 3], 4) == protocol.randomize([1, 2, 3], 4)).all()
    assert protocol.randomize(np.zeros((2, 3), dtype=int), 1).shape == (2, 3)
    assert protocol.randomize_histogram(np.ones((2, 3, 7), dtype=int), 1).shape == (2, 3, protocol.m)
    assert inv(np.ones((2, 3, protocol.m)), protocol).shape == (2, 3, 7)


def test_a_million_categories():
    large = HadamardResponse(1_500_000, 1.0)
    histogram = large.randomize_histogram(np.full(1_500_000, 2), 1)
    assert histogram.sum() == 3_000_000
    estimate = inv(histogram, large)
    deviation = math.sqrt(float(large.chances.mean_variance(1_500_000, 3_000_000)))
    assert np.sqrt(np.mean((estimate - 1 / 1_500_000) ** 2)) == pytest.approx(deviation, rel=0.01)
