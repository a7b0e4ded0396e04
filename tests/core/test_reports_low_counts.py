"""Counts below the noise: how seldom a rank falls below by chance, how seldom a category is called a stray name, and that
strays are found."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from rr_core import RandomizedResponse, zipf
from rr_core.reports.low_counts import STRAY_CHANCE, _rank_probability, floor, strays
from tests.core import exact

FLOOR_CHANCE = 0.05


def law(n: int, q: Fraction) -> list[Fraction]:
    """Distribution function of Binomial(n, q), exactly."""
    return [*itertools.accumulate(exact.binomial(n, q))]


def at_least(j: int, k: int, f: Fraction) -> Fraction:
    """Chance that at least j of k independent events of probability f happen."""
    return sum(exact.binomial(k, f)[j:], Fraction(0))


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 1.0, 12), (12, 2.0, 30)])
def test_lowest_is_the_last_number_that_is_too_few(k, epsilon, n):
    mechanism = RandomizedResponse(k, epsilon)
    found = floor(np.eye(1, k, dtype=int)[0] * n, mechanism, FLOOR_CHANCE)
    cumulative = law(n, Fraction(mechanism.q).limit_denominator(1000))
    each = Fraction(_rank_probability(tuple(found.ranks.tolist()), k, FLOOR_CHANCE))
    for rank, lowest in zip(found.ranks.tolist(), found.lowest.tolist(), strict=True):
        too_few = [x for x in range(n + 1) if at_least(rank, k, cumulative[x]) <= each]
        assert lowest == (too_few[-1] if too_few else -1)
    assert found.level == pytest.approx(n * mechanism.q)


@pytest.mark.parametrize(("k", "half"), [(2, 2), (11, 10), (30, 15), (1000, 500)])
def test_it_shows_the_lower_half_and_at_least_ten(k, half):
    counts = np.random.default_rng(1).permutation(k) + 3
    found = floor(counts, RandomizedResponse(k, 1.0))
    assert (found.ranks[0], found.ranks[-1]) == (1, half)
    np.testing.assert_array_equal(found.reports, found.ranks + 2)


@pytest.mark.parametrize(("k", "ranks"), [(12, tuple(range(1, 11))), (500, (1, 2, 7, 40, 250))])
def test_any_of_the_ranks_is_too_low_with_the_chance_that_was_asked_for(k, ranks):
    # Of k uniform numbers, which the distribution function of independent counts makes of them, sorted.
    uniform = np.sort(np.random.default_rng(3).random((4000, k)), axis=1)[:, np.array(ranks) - 1]
    low = special.betaincinv(ranks, k - np.array(ranks) + 1, _rank_probability(ranks, k, FLOOR_CHANCE))
    # Four standard deviations of a share of 4,000, and of the 5,000 draws that the level was found from.
    spread = np.sqrt(FLOOR_CHANCE * (1 - FLOOR_CHANCE) * (1 / 4000 + 1 / 5000))
    assert abs((uniform <= low).any(axis=1).mean() - FLOOR_CHANCE) < 4 * spread


@pytest.mark.parametrize(("k", "epsilon"), [(12, 5.0), (40, 1.0), (40, 6.0)])
def test_any_rank_is_below_as_seldom_as_promised(k, epsilon):
    mechanism, rng, times = RandomizedResponse(k, epsilon), np.random.default_rng(7), 1500
    truth = np.zeros((times, k), dtype=np.int64)
    truth[:, 0] = 200_000  # all others are empty: the hardest case
    rows = mechanism.randomize_histogram(truth, rng)
    one, other = (floor(counts, mechanism, FLOOR_CHANCE) for counts in rows[:2])
    np.testing.assert_array_equal(one.lowest, other.lowest)  # which depends on the number of reports alone
    too_few = (np.sort(rows, axis=1)[:, one.ranks - 1] <= one.lowest).sum(axis=1)
    assert too_few[:2].tolist() == [one.too_few, other.too_few]
    below = (too_few > 0).mean()
    # Four standard deviations; whole numbers and the counts' negative correlation keep it below its bound.
    assert below <= FLOOR_CHANCE + 4 * np.sqrt(FLOOR_CHANCE * (1 - FLOOR_CHANCE) / times)
    assert epsilon < 5 or below > FLOOR_CHANCE / 4


def test_too_little_noise_shows():
    users = np.round(100_000 * zipf(200, 2.5)).astype(np.int64)
    counts = RandomizedResponse(200, 2.0).randomize_histogram(users, 3)
    assert floor(counts, RandomizedResponse(200, 2.0)).too_few == 0
    assert floor(counts, RandomizedResponse(200, 1.5)).too_few > 20
    assert floor(counts, RandomizedResponse(200, 2.5)).too_few == 0


def of(epsilon):
    return lambda k: RandomizedResponse(k, epsilon)


@pytest.mark.parametrize(("k", "n", "epsilon"), [(2, 300, 0.5), (12, 2000, 1.0)])
def test_of_real_categories_hardly_one_is_called_a_stray(k, n, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    users = np.zeros(k, dtype=np.int64)
    users[: max(1, k // 3)] = n // max(1, k // 3)  # the others are empty: the hardest case
    rng = np.random.default_rng(5)
    collections = mechanism.randomize_histogram(np.tile(users, (1000, 1)), rng)
    alarms = sum(strays(counts, of(epsilon)).below.any() for counts in collections)
    assert alarms <= stats.binom.ppf(0.999, 1000, STRAY_CHANCE)


@pytest.mark.parametrize(("level", "told"), [(40, True), (4, False)])
def test_the_smallest_count_that_is_no_stray_is_where_the_binomial_says(level, told):
    """K known, so that N and q stay: the bound is the exact lower tail, shared among all names."""
    k, epsilon = 20, 1.0
    q = RandomizedResponse(k, epsilon).q
    n = round(level / q)
    # The chance of so few, or fewer, of N reports, term by term.
    tail = np.cumsum(stats.binom.pmf(range(level), n, q))
    rare = int(np.count_nonzero(tail * k <= STRAY_CHANCE))
    assert (rare > 0) is told
    for few in (0, rare - 1, rare):
        if few < 0:
            continue
        rest = [(n - few) // (k - 1)] * (k - 1)
        rest[0] += n - few - sum(rest)
        found = strays([*rest, few], of(epsilon), k)
        assert found.below.tolist() == [False] * (k - 1) + [few < rare and few < level / 2]


def test_strays_leave_k_and_n():
    counts = RandomizedResponse(12, 1.0).randomize_histogram((zipf(12, 1.5) * 2000).astype(int), 3)
    found = strays([*counts, 1, 7, 2, 0], of(1.0))
    assert found.below.tolist() == [False] * 12 + [True] * 4
    assert found.level == pytest.approx(counts.sum() * RandomizedResponse(12, 1.0).q)


def test_too_much_noise_stated_is_not_blamed_on_names():
    """Reports made at epsilon 4 and said to be of 1: the low categories are many, and together not few."""
    users = np.array([700, 500, 300, 200, 120, 80, 50, 30, 15, 5, 0, 0])
    counts = RandomizedResponse(12, 4.0).randomize_histogram(users, 1)
    found = strays(counts, of(1.0))
    assert counts[found.below].sum() >= found.level
    assert found.level == pytest.approx(2000 * RandomizedResponse(12, 1.0).q)
    assert not strays(counts, of(4.0)).below.any()


def test_two_names_stay_and_impossible_numbers_of_categories_end_the_search():
    assert not strays([10**6, 0], of(1.0)).below.any()
    assert strays([10**6, 10**6, 0, 0], of(1.0)).below.tolist() == [False, False, True, True]
    assert strays([5], of(1.0)).below.tolist() == [False]
    # With p = 0.3 there are at least four categories: three of them would be no randomized response.
    found = strays([900, 800, 700, 1, 2], lambda k: RandomizedResponse.from_p(k, 0.3))
    assert found.below.sum() <= 2


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 5000), min_size=2, max_size=40), st.floats(0.05, 8), st.randoms())
def test_order_does_not_matter_and_strays_are_the_lowest(counts, epsilon, random):
    found = strays(counts, of(epsilon))
    order = list(range(len(counts)))
    random.shuffle(order)
    again = strays([counts[i] for i in order], of(epsilon))
    assert again.below.tolist() == [found.below[i] for i in order]
    below = np.array(counts)[found.below]
    kept = np.array(counts)[~found.below]
    assert len(kept) >= 2
    assert not below.size or below.max() < min(kept.min(), found.level)
