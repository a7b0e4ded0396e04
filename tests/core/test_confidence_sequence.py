"""Intervals at all times at once: their equations by another route, and the exact chance that they ever miss."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, special

from rr_core import RandomizedResponse, inv
from rr_core.confidence_sequence import anytime_intervals
from rr_core.metrics import variance_at
from rr_core.reports.intervals import inv_interval

Z = float(special.ndtri(0.975))


def intervals_of(mechanism, n, **options):
    """Ends of the interval of a category for c of its reports among t: (n + 1, n + 1) each, at [t, c]; nan elsewhere."""
    t, c = np.tril_indices(n + 1)
    t, c = t[t > 0], c[t > 0]
    counts = np.zeros((t.size, mechanism.k), dtype=np.int64)
    counts[:, 0], counts[:, 1] = c, t - c
    ends = np.full((2, n + 1, n + 1), np.nan)
    for end, values in zip(ends, anytime_intervals(counts, mechanism, **options), strict=True):
        end[t, c] = values[:, 0]
    return ends


def usual_intervals(mechanism, n, first):
    """As `intervals_of`: all shares with |Inv - share| <= 1.96 standard deviations at that share, from t = first on; the
    ends are those of the shares that t people can have."""
    ends = np.full((2, n + 1, n + 1), np.nan)
    for t in range(1, n + 1):
        share = np.arange(t + 1) / t
        seen = ((share - mechanism.q) / mechanism.keep)[:, None]
        inside = np.abs(seen - share) <= Z * np.sqrt(variance_at(share, t, mechanism))
        held = np.where(inside, share, np.nan) if t >= first else np.broadcast_to(share, inside.shape)
        some = np.flatnonzero(inside.any(axis=1) | (t < first))
        ends[0, t, : t + 1], ends[1, t, : t + 1] = 2.0, -2.0  # of no share
        ends[0, t, some], ends[1, t, some] = np.nanmin(held[some], axis=1), np.nanmax(held[some], axis=1)
    return ends


def missed(ends, t, share):
    """Whether the interval misses, for c = 0, ..., t; a column of counts by ``share``, a number or a row."""
    low, high = ends[:, t, : t + 1, None]
    return (share < low) | (share > high)


def chance_of_a_miss(ends, mechanism, people):
    """Exact probability that the interval ever misses the share of a category among the first t of ``people``, 0 or 1
    for whether each has it, for any t: the law of the count where it has not missed yet, person by person."""
    law, ever = np.ones(1), 0.0
    for t, has in enumerate(people, 1):
        hit = mechanism.p if has else mechanism.q
        law = np.append(law * (1 - hit), 0.0) + np.append(0.0, law * hit)
        miss = missed(ends, t, np.sum(people[:t]) / t)[:, 0]
        ever += law[miss].sum()
        law[miss] = 0.0
    return ever


def worst_chance_of_a_miss(ends, mechanism):
    """The largest probability of a miss at any of the times, over all ways to choose who comes next, even by the reports
    so far: backwards, over all counts of reports (rows) and of people who have the category (columns)."""
    p, q, n = mechanism.p, mechanism.q, ends.shape[1] - 1
    later = np.zeros((n + 2, n + 2))
    for t in range(n, -1, -1):
        has = p * later[1:, 1:] + (1 - p) * later[:-1, 1:]
        has_not = q * later[1:, :-1] + (1 - q) * later[:-1, :-1]
        later = np.maximum(has, has_not)
        if t:
            later[missed(ends, t, np.arange(t + 1) / t)] = 1.0
    return later.item()


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (2, 4.0), (5, 1.0), (12, 2.0)])
@pytest.mark.parametrize("level", [0.95, 0.7])
def test_nobody_who_chooses_the_people_makes_it_miss_more_often(k, epsilon, level):
    mechanism = RandomizedResponse(k, epsilon)
    ends = intervals_of(mechanism, 60, level=level, tightest_at=20)
    assert 0 < worst_chance_of_a_miss(ends, mechanism) <= 1 - level


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon"), [(2, 4.0), (12, 0.5)])
def test_in_a_class_of_400_nothing_makes_it_miss_more_often(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    ends = intervals_of(mechanism, 400)
    worst = worst_chance_of_a_miss(ends, mechanism)
    assert worst <= 0.05
    assert worst > 0.03  # and not by being far too wide


def test_a_usual_interval_that_is_watched_ever_misses_far_more_often():
    """From the moment on at which too_few_reports lets it be shown, N q = 10."""
    mechanism = RandomizedResponse(4, 1.0)
    first = math.ceil(10 / mechanism.q)
    usual = usual_intervals(mechanism, 200, first)
    for t, c in (
        (70, 30),
        (150, 20),
        (200, 90),
    ):  # the same shares as those within the interval of inv_interval
        whole = inv_interval([c, t - c, 0, 0], mechanism)
        shares = np.arange(t + 1) / t
        held = shares[(shares >= whole.low[0]) & (shares <= whole.high[0])]
        assert usual[:, t, c].tolist() == ([held[0], held[-1]] if held.size else [2.0, -2.0])
    ends = intervals_of(mechanism, 200)
    for people in (np.zeros(200), np.arange(200) < 100, np.arange(200) % 4 == 0):
        assert chance_of_a_miss(ends, mechanism, people) < 0.05
        assert chance_of_a_miss(usual, mechanism, people) > 0.15
    assert worst_chance_of_a_miss(usual, mechanism) > 0.15


def log_mixture(log_likelihood, scale):
    """log of the mean of exp(log_likelihood(l)) over l normal with mean 0 and this standard deviation."""

    def integrand(z):
        return math.exp(log_likelihood(scale * z) - z**2 / 2) / math.sqrt(2 * math.pi)

    points = np.linspace(-12, 12, 49)
    return math.log(sum(integrate.quad(integrand, a, b)[0] for a, b in itertools.pairwise(points)))


@pytest.mark.parametrize(("k", "epsilon", "n", "tightest_at", "level"), [
    (2, 0.5, 30, 100, 0.95), (4, 1.0, 7, 20, 0.9), (12, 4.0, 400, 50, 0.99), (30, 2.0, 5000, 100, 0.95),
])  # fmt: skip
def test_at_the_ends_the_mixture_is_one_over_alpha(k, epsilon, n, tightest_at, level):
    mechanism = RandomizedResponse(k, epsilon)
    p, q = mechanism.p, mechanism.q
    counts = np.zeros(k, dtype=np.int64)
    counts[0], counts[1] = n // 3, n - n // 3
    surprise = -math.log(1 - level)
    ratio = 1 / (2 * surprise + math.log(1 + 2 * surprise))

    def log_likelihood(m):
        """By the slope x: of so many hits, if m people have the category, against their mean."""
        return lambda x: (
            x * counts[0]
            - m * math.log(1 - p + p * math.exp(x))
            - (n - m) * math.log(1 - q + q * math.exp(x))
        )

    share = 1 / k
    rho = (tightest_at * (share * p * (1 - p) + (1 - share) * q * (1 - q)) + 1) * ratio
    for end in anytime_intervals(counts, mechanism, level=level, tightest_at=tightest_at):
        found = log_mixture(log_likelihood(n * end[0]), 1 / math.sqrt(rho))
        assert found == pytest.approx(surprise, abs=5e-3)  # the function's law is on points


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (4, 2.0), (12, 1.0)])
def test_it_is_narrower_where_it_is_to_be_than_one_for_elsewhere(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    for n in (100, 1000):
        counts = np.full(k, n // k)
        counts[0] += n - counts.sum()
        widths = [
            high[0] - low[0]
            for low, high in (
                anytime_intervals(counts, mechanism, tightest_at=at) for at in (n, n // 10, 10 * n)
            )
        ]
        assert widths[0] < min(widths[1:])


@pytest.mark.parametrize("k", [2, 4, 12])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_the_price_of_watching(k, epsilon):
    """At N = 100, of a share between 0 and 1: at most 1.7 times the usual interval with the variance at that share."""
    mechanism, n = RandomizedResponse(k, epsilon), 100
    for share in (0.0, 0.2, 0.5, 1.0):
        counts = np.zeros(k, dtype=np.int64)
        counts[0] = round(n * (mechanism.q + mechanism.keep * share))
        counts[1] = n - counts[0]
        low, high = anytime_intervals(counts, mechanism)
        usual = Z * math.sqrt(variance_at(np.array(share), n, mechanism))
        assert 1.5 < (high[0] - low[0]) / 2 / usual < 1.7


def test_more_people_narrow_it_and_a_higher_level_widens_it():
    mechanism, shares = RandomizedResponse(4, 1.0), np.array([4, 3, 2, 1])
    sizes = np.array([1, 2, 5, 10, 40, 10**3, 10**5, 10**9, 10**12])
    low, high = anytime_intervals(shares * sizes[:, None], mechanism)
    assert (np.diff(high - low, axis=0) < 0).all()
    assert (high[-1] - low[-1]).max() < 1e-4  # to nothing, but for log N
    for size in sizes:
        ends = [
            anytime_intervals(shares * size, mechanism, level=level)
            for level in (0.01, 0.3, 0.8, 0.95, 0.99, 1 - 1e-9)
        ]
        lows, highs = np.array(ends).transpose(1, 0, 2)
        assert (np.diff(lows, axis=0) < 0).all()
        assert (np.diff(highs, axis=0) > 0).all()


def test_two_categories_mirror_each_other():
    mechanism, counts = RandomizedResponse(2, 1.0), np.array([31, 9])
    low, high = anytime_intervals(counts, mechanism)
    np.testing.assert_allclose(low, 1 - high[::-1], rtol=1e-12)


def test_each_category_has_its_interval_by_its_own_count_in_any_shape():
    mechanism = RandomizedResponse(3, 1.5)
    counts = np.random.default_rng(1).integers(1, 9, (4, 5, 3))
    lows, highs = anytime_intervals(counts, mechanism)
    assert lows.shape == highs.shape == counts.shape
    for at in np.ndindex(4, 5):
        a, b, c = counts[at]
        low, high = anytime_intervals([a, b + c, 0], mechanism)
        assert (low[0], high[0]) == pytest.approx((lows[at][0], highs[at][0]), rel=1e-12)
    for end in anytime_intervals(np.zeros((0, 3)), mechanism):
        assert end.shape == (0, 3)


def test_many_categories_are_taken_in_portions():
    k = 20_000
    mechanism, counts = RandomizedResponse(k, 8.0), np.arange(k)
    lows, highs = anytime_intervals(counts, mechanism)
    some = [0, 1, 4095, 4096, 12_345, k - 1]
    for i in some:
        other = np.zeros(k, dtype=np.int64)
        other[0], other[1] = counts[i], counts.sum() - counts[i]
        low, high = anytime_intervals(other, mechanism)
        assert (low[0], high[0]) == pytest.approx((lows[i], highs[i]), rel=1e-10)


@pytest.mark.parametrize("k", [2, 3, 1000])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 3.0, 100.0, 700.0])
def test_extremes_are_finite_with_inv_between_the_ends(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    for total in (1, 10, 10**9, 2**62 - 1):
        counts = np.zeros((3, k), dtype=np.int64)
        counts[0, 0] = counts[1, 1] = total
        counts[2, :2] = total // 3, total - total // 3
        for level in (5e-324, 0.5, 0.95, 1 - 2.0**-53):
            for at in (1, 10**15):
                low, high = anytime_intervals(counts, mechanism, level=level, tightest_at=at)
                assert np.isfinite([low, high]).all()
                centre = inv(counts, mechanism)
                assert (low <= centre).all()
                assert (centre <= high).all()
    low, high = anytime_intervals([1] + [0] * (k - 1), RandomizedResponse(k, 1e-6))
    assert (high - low > 1e6).all()  # of noise


def test_hardly_any_noise_leaves_less_than_a_person_in_doubt():
    low, high = anytime_intervals([30, 10, 0], RandomizedResponse(3, 700.0))
    assert (40 * np.maximum(high - [0.75, 0.25, 0], [0.75, 0.25, 0] - low) < 2).all()
