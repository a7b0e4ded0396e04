"""The law of one category's reports against exact convolutions, simulation and the sign of Inv itself."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from rr_core import RandomizedResponse, inv
from rr_core.law import (
    below_zero,
    most_negative,
    negative_chance,
    negative_chances,
    negatives,
    report_band,
    report_distribution,
    report_variance,
)
from tests.core import exact
from tests.sentences import holds

MECHANISM = RandomizedResponse(3, 1.0)


def exact_law(t, n, channel):
    """Pr(reports = 0..n) by convolving the two binomials term by term."""
    law = [Fraction(0)] * (n + 1)
    for i, own in enumerate(exact.binomial(t, channel.p)):
        for j, other in enumerate(exact.binomial(n - t, channel.q)):
            law[i + j] += own * other
    return law


def distribution(t, n, mechanism):
    """(values, probabilities) as computed, plain lists of the same length."""
    first, pmf = report_distribution(t, n, mechanism)
    return np.arange(first, first + pmf.size), pmf


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 4.0, 40.0])
@pytest.mark.parametrize("k", [2, 5, 1000])
def test_the_law_is_the_exact_convolution(k, epsilon):
    mechanism, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    for t, n in ((0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (4, 12)):
        values, pmf = distribution(t, n, mechanism)
        np.testing.assert_array_equal(values, np.arange(n + 1))
        np.testing.assert_allclose(pmf, [float(x) for x in exact_law(t, n, channel)], rtol=1e-11, atol=1e-15)


def test_the_law_of_long_binomials_is_the_exact_convolution():
    """Both binomials are long enough to be convolved by Fourier transform, whose error is absolute."""
    law = exact_law(80, 200, exact.channel_from_p(4, Fraction(1, 2)))
    values, pmf = distribution(80, 200, RandomizedResponse.from_p(4, 0.5))
    np.testing.assert_allclose(pmf, [float(law[value]) for value in values], rtol=1e-10, atol=1e-16)
    assert sum(law[value] for value in range(201) if value not in values) < 1e-30


@pytest.mark.parametrize(
    ("t", "n", "k", "epsilon"),
    [
        (10**8, 10**9, 2, 1.0),
        (0, 10**9, 1000, 1.0),
        (5 * 10**8, 10**9, 2, 0.01),
        (3, 10**9, 10**6, 12.0),
        (40_000, 10**5, 12, 2.0),
        (10**5, 10**5, 12, 700.0),
    ],
)
def test_large_laws_total_one_and_have_their_mean_and_variance(t, n, k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    values, pmf = distribution(t, n, mechanism)
    mean, variance = mechanism.p * t + mechanism.q * (n - t), float(report_variance(t, n, mechanism))
    assert (pmf >= 0).all()
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    deviation = math.sqrt(variance)
    assert abs(pmf @ (values - mean)) <= 1e-9 * deviation + 1e-12
    assert pmf @ (values - mean) ** 2 == pytest.approx(variance, rel=1e-9, abs=1e-12)
    assert values[0] <= max(0, mean - 11 * deviation)
    assert values[-1] >= min(n, mean + 11 * deviation)


def tails(band, t, n, mechanism):
    """Pr(below low), Pr(at low), Pr(at high), Pr(above high) of a one-category band."""
    values, pmf = distribution(t, n, mechanism)
    low, high = band.low.item(), band.high.item()
    return tuple(
        float(pmf[where].sum()) for where in (values < low, values == low, values == high, values > high)
    )


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (12, 1.0), (1000, 2.0), (5, 8.0)])
def test_a_narrow_band_is_the_central_range(k, epsilon, level):
    """Each tail holds at most (1 - level)/2, and would hold more if the band gave up one more value there."""
    mechanism, each = RandomizedResponse(k, epsilon), (1 - level) / 2
    for n in (1, 9, 100, 350):
        for t in (0, n // 3, n):
            band = report_band([t], n, mechanism, level)
            assert report_variance(t, n, mechanism) < 100
            below, lowest, highest, above = tails(band, t, n, mechanism)
            assert 1 - below - above >= level - 1e-12
            assert max(below, above) <= each + 1e-12
            assert min(below + lowest, above + highest) >= each - 1e-12


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (1000, 2.0)])
def test_a_wide_band_is_the_central_range_to_one_report(k, epsilon, level):
    """On either side of the switch to the normal law. Whole numbers alone can put a central range one
    report's chance per side above its level; beyond a variance of 600 that is less than half a point."""
    mechanism = RandomizedResponse(k, epsilon)
    p, q = mechanism.p, mechanism.q
    for variance in (90, 99, 101, 120, 200, 400, 600, 2000, 10**5):
        for share in (0.0, 0.3, 1.0):
            n = round(variance / (share * p * (1 - p) + (1 - share) * q * (1 - q)))
            t = round(share * n)
            values, pmf = distribution(t, n, mechanism)
            cumulative = np.cumsum(pmf)
            band = report_band([t], n, mechanism, level)
            for end, chance in ((band.low, (1 - level) / 2), (band.high, (1 + level) / 2)):
                quantile = values[np.searchsorted(cumulative, chance)]
                assert abs(end.item() - quantile) <= (1 if variance > 100 else 0)
            below, lowest, highest, above = tails(band, t, n, mechanism)
            covered = 1 - below - above
            assert level - 0.002 < covered < level + 1.1 * (lowest + highest)
            if variance >= 600 and level == 0.95:
                assert abs(covered - level) < 0.005


@pytest.mark.parametrize("epsilon", [1e-6, 20.0, 700.0])
def test_a_band_stays_between_none_and_all(epsilon):
    for n in (1, 50, 10**9):
        for level in (1e-9, 0.5, 1 - 1e-16):
            band = report_band([0, n // 2, n], n, RandomizedResponse(2, epsilon), level)
            assert ((band.low >= 0) & (band.low <= band.high) & (band.high <= n)).all()
    assert report_band([5, 0], 5, RandomizedResponse(2, 700)).low.tolist() == [5, 0]
    assert report_band([5, 0], 5, RandomizedResponse(2, 700)).high.tolist() == [5, 0]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, math.log(3), 3.0, 20.0])
@pytest.mark.parametrize("k", [2, 3, 10, 1000])
def test_the_chance_of_a_negative_is_the_exact_sum(k, epsilon):
    mechanism, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    users = [n for n in (1, 2, 3, 5, 8, 13, 27, 40) if abs(n * channel.q - round(n * channel.q)) > 1e-12]
    expected = [
        float(sum(chance for c, chance in enumerate(exact.binomial(n, channel.q)) if c < n * channel.q))
        for n in users
    ]
    np.testing.assert_allclose(negative_chance(users, mechanism), expected, rtol=1e-12)
    assert negative_chance(1, mechanism) == pytest.approx(1 - mechanism.q)


def whole_edges():
    """Mechanisms and numbers of users with N q a whole number: (mechanism, exact 1/q, N q)."""
    by_p = [(RandomizedResponse.from_p(k, j / 32), (k - 1) / (1 - Fraction(j, 32))) for k in (3, 4, 7, 26, 38)
            for j in (13, 16, 24, 31)]  # fmt: skip
    by_power = [(RandomizedResponse(k, math.log(r)), Fraction(r + k - 1)) for k in (2, 3, 10, 99_999)
                for r in (2, 3, 6, 10, 100)]  # fmt: skip
    for mechanism, per_report in by_p + by_power:
        for edge in (1, 2, 3, 33, 1001, 12_345):
            whole = edge * per_report.denominator
            yield mechanism, int(whole * per_report), whole


def one_count(count, n, mechanism):
    """Inv of a category with ``count`` of ``n`` reports."""
    return inv([count, n - count, *[0] * (mechanism.k - 2)], mechanism)[0]


@pytest.mark.slow
def test_at_n_q_reports_inv_is_zero_and_zero_is_not_negative():
    """Also where N q in doubles lies a rounding above the whole number, as for k = 2, eps = log 6, N = 7."""
    for mechanism, n, edge in whole_edges():
        assert most_negative(n, mechanism) == edge - 1
        below = stats.binom.cdf(edge - 1, n, mechanism.q)
        assert negative_chance(n, mechanism) == pytest.approx(below, rel=1e-9)
        assert one_count(edge - 1, n, mechanism) < 0 < one_count(edge + 1, n, mechanism)
        # The two terms of Inv cancel to their own rounding, of either sign.
        assert abs(one_count(edge, n, mechanism)) <= 8 * np.finfo(float).eps * edge / n
    assert negative_chance(7, RandomizedResponse(2, math.log(6))) == pytest.approx((6 / 7) ** 7)


def test_the_chance_of_a_negative_at_extreme_epsilon():
    assert negative_chance([1, 10**9], RandomizedResponse(2, 1e-6)).tolist() == pytest.approx(
        [0.5, 0.5], abs=1e-4
    )
    assert negative_chance([1, 10**9], RandomizedResponse(5, 700)).tolist() == [1, 1]


@holds(
    "The reports of an empty category are $\\mathrm{Binomial}(N, q)$, so the chance of a negative is $\\Pr(\\mathrm{Binomial}(N, q) < Nq)$, which tends to one half (paper, section 5.1)."  # noqa: E501
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "epsilon", "n"), [(2, 0.5, 30), (3, 1.0, 13), (12, 1.0, 24), (5, 4.0, 25), (40, 9.0, 24)]
)
def test_the_chance_that_a_held_category_goes_negative_is_exact(k, epsilon, n):
    mechanism, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
    users = [0, 1, 2, n // 3, n - 1, n]
    expected = [
        float(sum(x for c, x in enumerate(exact_law(t, n, channel)) if c < n * channel.q)) for t in users
    ]
    np.testing.assert_allclose(negative_chances(users, n, mechanism), expected, rtol=1e-10, atol=1e-15)


def test_the_expansion_continues_the_exact_chance():
    """Where the law is wide the expansion takes over: within 1% of the exact sums up to four standard deviations."""
    rng, checked = np.random.default_rng(4), 0
    while checked < 60:
        mechanism = RandomizedResponse(int(rng.integers(2, 400)), float(np.exp(rng.uniform(-4, 2))))
        n = int(10 ** rng.uniform(2, 6))
        spread = math.sqrt(n * mechanism.q)
        t = int(rng.uniform(0, 4) * spread / mechanism.keep)
        if spread <= 11 or not 0 < t <= n:
            continue
        first, pmf = report_distribution(t, n, mechanism)
        exact_chance = pmf[: max(int(most_negative(n, mechanism)) - first + 1, 0)].sum()
        assert negative_chances([t], n, mechanism)[0] == pytest.approx(exact_chance, rel=0.01)
        checked += 1


@holds(
    "The reports of an empty category are $\\mathrm{Binomial}(N, q)$, so the chance of a negative is $\\Pr(\\mathrm{Binomial}(N, q) < Nq)$, which tends to one half (paper, section 5.1).",  # noqa: E501
    "A category that **somebody has** expects more reports than that, and with more and more users its chance of getting fewer tends to zero, though it may rise on the way.",  # noqa: E501
    "One that **nobody has** expects N·q reports, and a count falls below its own expectation with a chance that tends to one half; only the size of its negatives tends to zero.",  # noqa: E501
    "An empty one stays negative about half the time, but by less and less.",
)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (12, 1.0), (1000, 1.0), (12, 6.0)])
def test_more_users_cure_the_negatives_of_what_somebody_has_and_no_others(k, epsilon):
    """With a share of 1/50 the chance tends to zero; with none it tends to one half (paper, section 5.1), at the
    rate of the central limit theorem, and the standard error, which is the size of a negative, tends to zero."""
    mechanism = RandomizedResponse(k, epsilon)
    enough = 50 / mechanism.keep**2 * max(mechanism.q, 1e-3) * 2500
    users = [50 * int(enough * factor / 50 + 1) for factor in (1, 10, 100)]
    held = [float(negative_chances([n // 50], n, mechanism)[0]) for n in users]
    assert held[0] < 1e-6
    assert held[-1] == 0
    for n in users:
        half = float(negative_chances([0], n, mechanism)[0])
        assert half == negative_chance(n, mechanism)
        assert abs(half - 0.5) < 0.8 / math.sqrt(n * mechanism.q * (1 - mechanism.q))


@holds(
    "It is right on average, but a category that received fewer reports than the noise alone would bring comes out **below zero**."  # noqa: E501
)
def test_below_zero_is_having_at_most_the_largest_negative_number_of_reports():
    for k, epsilon, n in (
        (3, math.log(6), 8),
        (10, math.log(3), 120_000),
        (12, 1.0, 2000),
        (2, 20.0, 10**9),
        (7, 0.01, 90),
    ):
        mechanism = RandomizedResponse(k, epsilon)
        edge = int(most_negative(n, mechanism))
        for count in range(max(edge - 3, 0), edge + 4):
            reports = np.full(k, (n - count) / (k - 1))
            reports[0] = count
            assert below_zero(inv(reports, mechanism), mechanism)[0] == (count <= edge), (
                k,
                epsilon,
                n,
                count,
            )


def test_negatives_by_hand():
    found = negatives([1.25, -0.25, 0.0, -0.125, -0.5, 0.625], [3, 0, 0, 1, 0, 4], MECHANISM)
    assert (found.count, found.total, found.lowest, found.share) == (3, -0.875, -0.5, 0.5)
    assert (found.empty, found.empty_negative) == (3, 2)
    none = negatives([0.5, 0.5], [2, 1], MECHANISM)
    assert (none.count, none.total, none.lowest, none.share) == (0, 0.0, 0.5, 0.0)
    assert (none.empty, none.empty_negative) == (0, 0)
