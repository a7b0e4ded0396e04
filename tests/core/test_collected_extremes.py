"""The most and the fewest reports: bounds that hold by enumeration, and catch what the likelihood ratio does not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from rr_core import RandomizedResponse
from rr_core.collected.extremes import CHANCE, extremes
from rr_core.collected.fit import fit_test, plausible_epsilon


def tail(n: int, chance: Fraction, amounts: range) -> Fraction:
    """Probability that Binomial(n, chance) is one of the amounts."""
    return sum((comb(n, x) * chance**x * (1 - chance) ** (n - x) for x in amounts), Fraction(0))


@pytest.mark.parametrize("counts", [[5, 0, 2], [9, 1], [1, 1, 1, 1], [12, 0, 0, 0, 0], [0, 30, 31]])
@pytest.mark.parametrize("p", [Fraction(3, 5), Fraction(9, 10)])
def test_the_bounds_by_exact_fractions(counts, p):
    k, n = len(counts), sum(counts)
    mechanism, q = RandomizedResponse.from_p(k, float(p)), (1 - p) / (k - 1)
    found = extremes(counts, mechanism)
    assert found.most == pytest.approx(min(1.0, float(k * tail(n, p, range(max(counts), n + 1)))), rel=1e-9)
    assert found.fewest == pytest.approx(min(1.0, float(k * tail(n, q, range(min(counts) + 1)))), rel=1e-9)


def test_no_population_makes_such_counts_more_likely():
    # All reports of all five users over three categories, for every population of five.
    k, n = 3, 5
    mechanism = RandomizedResponse(k, 1.5)
    rows = mechanism.matrix()
    for people in ((5, 0, 0), (3, 2, 0), (3, 1, 1), (2, 2, 1)):
        truths = np.repeat(np.arange(k), people)
        most, fewest = np.zeros(n + 1), np.zeros(n + 1)
        for answers in product(range(k), repeat=n):
            chance = np.prod([rows[truth, answer] for truth, answer in zip(truths, answers, strict=True)])
            counts = np.bincount(answers, minlength=k)
            most[: counts.max() + 1] += chance
            fewest[counts.min() :] += chance
        for answers in product(range(k), repeat=n):
            counts = np.bincount(answers, minlength=k)
            bound = extremes(counts, mechanism)
            assert most[counts.max()] <= bound.most + 1e-12
            assert fewest[counts.min()] <= bound.fewest + 1e-12


@pytest.mark.parametrize(
    ("k", "n", "epsilon", "largest"), [(1000, 5000, 3.0, 180), (300, 2000, 2.0, 90), (100, 400, 1.0, 30)]
)
def test_one_count_beyond_belief_is_seen_among_many_categories(k, n, epsilon, largest):
    rest = np.random.default_rng(1).multinomial(n - largest, np.full(k - 1, 1 / (k - 1)))
    counts = np.append(largest, rest)
    test = fit_test(counts, RandomizedResponse(k, epsilon), 100)
    assert test.p_value > 0.05  # the likelihood ratio does not notice
    assert largest > 1.5 * test.ceiling
    assert test.extremes.too_many
    assert test.rejects(0.05)
    found = plausible_epsilon(counts, k, above=epsilon, replicates=20)
    assert found.low > epsilon
    assert not found.none
    assert not extremes(counts, RandomizedResponse(k, found.low)).too_many


def test_one_empty_category_where_noise_alone_brings_twenty():
    k, n = 1000, 20_000
    mechanism = RandomizedResponse(k, 0.01)
    counts = np.random.default_rng(4).multinomial(n, np.append(0.0, np.full(k - 1, 1 / (k - 1))))
    test = fit_test(counts, mechanism, 100)
    assert test.p_value > 0.05
    assert test.extremes.too_few
    assert test.rejects(0.05)


@pytest.mark.parametrize(
    ("k", "n", "epsilon"), [(2, 10, 1.0), (2, 200, 3.0), (12, 60, 2.0), (1000, 300, 4.0)]
)
def test_right_epsilons_are_hardly_ever_rejected(k, n, epsilon):
    mechanism, rng = RandomizedResponse(k, epsilon), np.random.default_rng(6)
    seen = mechanism.expected(np.eye(k)[0])
    rows = rng.multinomial(n, seen / seen.sum(), size=4000)
    beyond = [one.too_many or one.too_few for one in (extremes(row, mechanism) for row in rows)]
    assert np.mean(beyond) <= CHANCE + 3 * np.sqrt(CHANCE / len(rows))


def test_what_fits_exactly_is_not_rejected():
    for counts, epsilon in (([1, 0], 0.01), ([10**9, 0, 0], 40.0), ([5] * 12, 5000.0), ([0, 1, 0], 20.0)):
        found = extremes(counts, RandomizedResponse(len(counts), epsilon))
        assert not found.too_many
        assert not found.too_few


def test_wrong_arguments():
    with pytest.raises(ValueError, match="counts must have a total >= 1"):
        extremes([0, 0], RandomizedResponse(2, 1.0))
