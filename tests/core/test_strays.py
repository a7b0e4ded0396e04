"""Names with too few reports to be categories: how seldom a category is called one, and that strays are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rr_core import RandomizedResponse, zipf
from rr_core.collected.strays import CHANCE, strays


def of(epsilon):
    return lambda k: RandomizedResponse(k, epsilon)


@pytest.mark.parametrize(("k", "n", "epsilon"), [(2, 300, 0.5), (12, 2000, 1.0), (100, 20_000, 3.0)])
def test_of_real_categories_hardly_one_is_called_a_stray(k, n, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    users = np.zeros(k, dtype=np.int64)
    users[: max(1, k // 3)] = n // max(1, k // 3)  # the others are empty: the hardest case
    rng = np.random.default_rng(5)
    collections = mechanism.randomize_histogram(np.tile(users, (1000, 1)), rng)
    alarms = sum(strays(counts, of(epsilon)).below.any() for counts in collections)
    assert alarms <= stats.binom.ppf(0.999, 1000, CHANCE)


@pytest.mark.parametrize(("level", "told"), [(40, True), (4, False)])
def test_the_smallest_count_that_is_no_stray_is_where_the_binomial_says(level, told):
    """K known, so that N and q stay: the bound is the exact lower tail, shared among all names."""
    k, epsilon = 20, 1.0
    q = RandomizedResponse(k, epsilon).q
    n = round(level / q)
    # The chance of so few, or fewer, of N reports, term by term.
    tail = np.cumsum([math.comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(level)])
    rare = int(np.count_nonzero(tail * k <= CHANCE))
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
    assert found.together == 10
    assert found.outweighed


def test_too_much_noise_stated_is_not_blamed_on_names():
    """Reports made at epsilon 4 and said to be of 1: the low categories are many, and together not few."""
    users = np.array([700, 500, 300, 200, 120, 80, 50, 30, 15, 5, 0, 0])
    counts = RandomizedResponse(12, 4.0).randomize_histogram(users, 1)
    found = strays(counts, of(1.0))
    assert found.below.any()
    assert not found.outweighed
    assert found.level == pytest.approx(2000 * RandomizedResponse(12, 1.0).q)
    assert not strays(counts, of(4.0)).below.any()


def test_two_names_stay_and_impossible_numbers_of_categories_end_the_search():
    assert not strays([10**6, 0], of(1.0)).below.any()
    assert strays([10**6, 10**6, 0, 0], of(1.0)).below.tolist() == [False, False, True, True]
    assert strays([5], of(1.0)).below.tolist() == [False]
    # With p = 0.3 there are at least four categories: three of them would be no randomized response.
    found = strays([900, 800, 700, 1, 2], lambda k: RandomizedResponse.from_p(k, 0.3))
    assert found.below.sum() <= 2


@pytest.mark.parametrize("counts", [[-1, 5], [0.5, 2.0], [[1, 2]]])
def test_what_is_no_count_is_refused(counts):
    with pytest.raises(ValueError, match="counts must be whole numbers"):
        strays(counts, of(1.0))


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
    assert found.together == below.sum()
