"""The floor under the reports: its level, and how seldom any rank falls below it by chance."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import special

from rr_core import RandomizedResponse, zipf
from rr_core.collected.floor import _of_each, floor

CHANCE = 0.05


def law(n: int, q: Fraction) -> list[Fraction]:
    """Distribution function of Binomial(n, q), exactly."""
    steps = [comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(n + 1)]
    return [sum(steps[: x + 1], Fraction(0)) for x in range(n + 1)]


def at_least(j: int, k: int, f: Fraction) -> Fraction:
    """Chance that at least j of k independent events of probability f happen."""
    return sum((comb(k, i) * f**i * (1 - f) ** (k - i) for i in range(j, k + 1)), Fraction(0))


@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 1.0, 12), (7, 0.5, 40), (12, 2.0, 60)])
def test_lowest_is_the_last_number_that_is_too_few(k, epsilon, n):
    mechanism = RandomizedResponse(k, epsilon)
    found = floor(np.eye(1, k, dtype=int)[0] * n, mechanism, CHANCE)
    cumulative = law(n, Fraction(mechanism.q).limit_denominator(1000))
    each = Fraction(_of_each(tuple(found.ranks.tolist()), k, CHANCE))
    for rank, lowest in zip(found.ranks.tolist(), found.lowest.tolist(), strict=True):
        too_few = [x for x in range(n + 1) if at_least(rank, k, cumulative[x]) <= each]
        assert lowest == (too_few[-1] if too_few else -1)
    assert found.level == pytest.approx(n * mechanism.q)


@pytest.mark.parametrize(("k", "half"), [(2, 2), (5, 5), (10, 10), (11, 10), (30, 15), (1000, 500)])
def test_it_shows_the_lower_half_and_at_least_ten(k, half):
    counts = np.random.default_rng(1).permutation(k) + 3
    found = floor(counts, RandomizedResponse(k, 1.0))
    assert (found.ranks[0], found.ranks[-1]) == (1, half)
    np.testing.assert_array_equal(found.reports, found.ranks + 2)


@pytest.mark.parametrize(("k", "ranks"), [(2, (1, 2)), (12, tuple(range(1, 11))), (500, (1, 2, 7, 40, 250))])
def test_any_of_the_ranks_is_too_low_with_the_chance_that_was_asked_for(k, ranks):
    # Of k uniform numbers, which the distribution function of independent counts makes of them, sorted.
    uniform = np.sort(np.random.default_rng(3).random((4000, k)), axis=1)[:, np.array(ranks) - 1]
    low = special.betaincinv(ranks, k - np.array(ranks) + 1, _of_each(ranks, k, CHANCE))
    # Four standard deviations of a share of 4,000, and of the 5,000 draws that the level was found from.
    spread = np.sqrt(CHANCE * (1 - CHANCE) * (1 / 4000 + 1 / 5000))
    assert abs((uniform <= low).any(axis=1).mean() - CHANCE) < 4 * spread


@pytest.mark.parametrize(("k", "epsilon"), [(12, 5.0), (40, 1.0), (40, 6.0)])
def test_any_rank_is_below_as_seldom_as_promised(k, epsilon):
    mechanism, rng, times = RandomizedResponse(k, epsilon), np.random.default_rng(7), 1500
    truth = np.zeros((times, k), dtype=np.int64)
    truth[:, 0] = 200_000  # all others are empty: the hardest case
    found = [floor(counts, mechanism, CHANCE) for counts in mechanism.randomize_histogram(truth, rng)]
    below = np.mean([one.too_few > 0 for one in found])
    # Four standard deviations; whole numbers and the counts' negative correlation keep it below its bound.
    assert below <= CHANCE + 4 * np.sqrt(CHANCE * (1 - CHANCE) / times)
    assert epsilon < 5 or below > CHANCE / 4


def test_too_little_noise_shows():
    users = np.round(100_000 * zipf(200, 2.5)).astype(np.int64)
    counts = RandomizedResponse(200, 2.0).randomize_histogram(users, 3)
    assert floor(counts, RandomizedResponse(200, 2.0)).too_few == 0
    assert floor(counts, RandomizedResponse(200, 1.5)).too_few > 20
    assert floor(counts, RandomizedResponse(200, 2.5)).too_few == 0


def test_a_million_categories():
    counts = RandomizedResponse(1_423_000, 8.0).randomize_histogram(
        np.eye(1, 1_423_000, dtype=int)[0] * 1000, 3
    )
    found = floor(counts, RandomizedResponse(1_423_000, 8.0))
    assert found.ranks.size <= 240
    assert found.too_few == 0


@pytest.mark.parametrize("counts", [[1, 2], [0, 0, 0], [1.5, 2, 3], [-1, 2, 3]])
def test_counts_must_be_reports_of_all_categories(counts):
    with pytest.raises(ValueError, match=r"counts|histogram"):
        floor(counts, RandomizedResponse(3, 1.0))
