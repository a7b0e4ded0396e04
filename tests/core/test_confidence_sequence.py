"""Intervals at all times at once: their equations by another route, and the exact chance that they ever miss."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from rr_core import RandomizedResponse, inv
from rr_core.confidence_sequence import anytime_intervals


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


def missed(ends, t, share):
    """Whether the interval misses, for c = 0, ..., t; a column of counts by ``share``, a number or a row."""
    low, high = ends[:, t, : t + 1, None]
    return (share < low) | (share > high)


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


@pytest.mark.parametrize(
    ("k", "epsilon", "level"), [(2, 0.5, 0.95), (2, 4.0, 0.7), (5, 1.0, 0.7), (12, 2.0, 0.95)]
)
def test_nobody_who_chooses_the_people_makes_it_miss_more_often(k, epsilon, level):
    mechanism = RandomizedResponse(k, epsilon)
    ends = intervals_of(mechanism, 60, level=level, tightest_at=20)
    assert 0 < worst_chance_of_a_miss(ends, mechanism) <= 1 - level


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon"), [(2, 4.0), (12, 0.5)])
def test_in_a_class_of_200_nothing_makes_it_miss_more_often(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    worst = worst_chance_of_a_miss(intervals_of(mechanism, 200), mechanism)
    assert 0.02 < worst <= 0.05  # and not by being far too wide


def log_mixture(log_likelihood, scale):
    """log of the mean of exp(log_likelihood(l)) over l normal with mean 0 and this standard deviation."""

    def integrand(z):
        return math.exp(log_likelihood(scale * z) - z**2 / 2) / math.sqrt(2 * math.pi)

    points = np.linspace(-12, 12, 49)
    return math.log(sum(integrate.quad(integrand, a, b)[0] for a, b in itertools.pairwise(points)))


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "tightest_at", "level"),
    [(2, 0.5, 30, 100, 0.95), (4, 1.0, 7, 20, 0.9), (30, 2.0, 5000, 100, 0.95)],
)
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


@pytest.mark.parametrize("k", [2, 1000])
@pytest.mark.parametrize("epsilon", [1e-6, 3.0, 700.0])
def test_extremes_are_finite_with_inv_between_the_ends(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    for total in (1, 10, 10**9, 2**62 - 1):
        counts = np.zeros((3, k), dtype=np.int64)
        counts[0, 0] = counts[1, 1] = total
        counts[2, :2] = total // 3, total - total // 3
        for level in (5e-324, 0.95, 1 - 2.0**-53):
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
