"""The test of a stated epsilon: its statistic by definition, its size and power, and what it cannot say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rr_core import RandomizedResponse, mle_star
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.profile import profile, table_size
from rr_core.reports.epsilon_fit import (
    fit_test,
    likelihood_ratio,
    normal_score,
    null_shares,
    plausible_epsilon,
)
from tests.sentences import holds

HISTOGRAMS = st.lists(st.integers(0, 500), min_size=2, max_size=12).filter(any)


def half(k):
    """The first half of the categories share everything equally; nobody has the others."""
    shares = np.zeros(k)
    shares[: k // 2] = 2 / k
    return shares


def ratio(counts, mechanism):
    rows = np.array([counts])
    values, dropped = likelihood_ratio(profile(rows, table_size(rows)), mechanism)
    return values[0], dropped[0]


@settings(max_examples=50)
@given(HISTOGRAMS, st.floats(0.05, 8))
def test_the_ratio_by_its_definition(counts, epsilon):
    mechanism = RandomizedResponse(len(counts), epsilon)
    counts = np.array(counts)
    theta = mle_star(counts, mechanism)
    seen = counts > 0
    expected = counts.sum() * mechanism.expected(theta)
    direct = 2 * (counts[seen] * np.log(counts[seen] / expected[seen])).sum()
    value, dropped = ratio(counts, mechanism)
    assert value == pytest.approx(direct, rel=1e-9, abs=1e-9 * counts.sum())
    assert dropped == (theta == 0).sum()


@holds(
    "It falls as ε grows: reports can show that a stated ε is too small, never that it is too large.",
    "Clearly fewer reports than N·q somewhere, or more than N·p, speak for less noise than stated; an ε stated too large looks like a flatter population, and these reports cannot tell the two apart.",  # noqa: E501
)
@settings(max_examples=50)
@given(HISTOGRAMS, st.floats(0.05, 8), st.floats(1.001, 3))
def test_a_larger_epsilon_never_fits_worse(counts, epsilon, factor):
    # The floor N q falls, so that whatever was allowed is still allowed.
    k = len(counts)
    lower = ratio(counts, RandomizedResponse(k, epsilon))[0]
    higher = ratio(counts, RandomizedResponse(k, epsilon * factor))[0]
    assert higher <= lower * (1 + 1e-9) + 1e-9


def test_the_score_is_that_of_a_chi_square():
    chance = np.array([0.2, 0.05, 0.001])
    for freedom in (1, 3, 10, 500):
        scores = normal_score(stats.chi2.isf(chance, freedom), np.full(3, freedom))
        np.testing.assert_allclose(scores, stats.norm.isf(chance), atol=0.06)
    assert normal_score(np.zeros(1), np.zeros(1, dtype=np.int64))[0] == -6
    assert np.isfinite(normal_score(np.array([1e9]), np.array([5]))).all()


def test_where_nothing_is_clear_the_most_reported_are_simulated():
    shares = null_shares(np.array([3, 3, 1, 2]), RandomizedResponse(4, 0.2))
    np.testing.assert_allclose(shares, [0.5, 0.5, 0, 0])


def rejected(k, n, epsilon, stated, collections, replicates=99):
    """Share of collections from half-empty populations for which ``stated`` is rejected at 5%."""
    rng, truth = np.random.default_rng(17), RandomizedResponse(k, epsilon)
    rows = rng.multinomial(n, truth.expected(half(k)), size=collections)
    mechanism = RandomizedResponse(k, stated)
    tests = [fit_test(row, mechanism, replicates, seed=i) for i, row in enumerate(rows)]
    return np.mean([test.p_value <= 0.05 for test in tests])


@holds(
    "Clearly fewer reports than N·q somewhere, or more than N·p, speak for less noise than stated; an ε stated too large looks like a flatter population, and these reports cannot tell the two apart."  # noqa: E501
)
@pytest.mark.slow
def test_size_and_power():
    error = math.sqrt(0.05 * 0.95 / 250)
    assert abs(rejected(20, 100_000, 1.0, 1.0, 250) - 0.05) < 0.01 + 3 * error
    assert rejected(20, 100_000, 1.0, 0.8, 20) > 0.9
    assert rejected(20, 100_000, 1.0, 1.2, 20) <= 0.1  # too large an epsilon cannot be refuted


def test_an_interior_population_is_never_rejected():
    counts = np.random.default_rng(2).multinomial(10_000, np.full(8, 1 / 8))
    test = fit_test(counts, RandomizedResponse(8, 2.0), 50)
    assert (test.statistic, test.dropped, test.p_value) == (0, 0, 1)


def test_the_parts_of_a_result():
    counts = np.array([900, 500, 30, 8, 2, 60])
    mechanism = RandomizedResponse(6, 1.0)
    test = fit_test(counts, mechanism, 150, seed=4)
    assert test.null.shape == (150,)
    assert test.p_value == (1 + (test.null >= test.score).sum()) / 151
    assert test.p_value == 1 / 151
    assert test.floor == pytest.approx(1500 * mechanism.q)
    assert (test.lowest, test.below, test.done, test.requested) == (2, 4, 150, 150)
    value, dropped = ratio(counts, mechanism)
    assert (test.statistic, test.dropped) == (value, dropped)
    assert test.score == normal_score(np.array([value]), np.array([dropped]))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "n", "epsilon", "population"),
    [(20, 40, 6.0, "uniform"), (300, 1500, 12.0, "zipf"), (50, 64, 3.39, "zipf")],
)
def test_a_right_epsilon_fits_where_hardly_any_report_is_noise(k, n, epsilon, population):
    # N q is from 0.009 to 0.8. By the normal score up to 100% of these were rejected.
    shares = 1 / np.arange(1, k + 1) if population == "zipf" else np.ones(k)
    mechanism = RandomizedResponse(k, epsilon)
    seen = mechanism.expected(shares / shares.sum())
    rows = np.random.default_rng(9).multinomial(n, seen / seen.sum(), size=50)
    rejected = np.mean([fit_test(row, mechanism, 99).rejects(0.05) for row in rows])
    assert rejected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 50)


def test_a_seed_gives_one_result_and_fewer_replicates_a_part_of_it():
    counts, mechanism = np.array([90, 40, 10, 3]), RandomizedResponse(4, 1.5)
    long = fit_test(counts, mechanism, 200, seed=9)
    np.testing.assert_array_equal(fit_test(counts, mechanism, 70, seed=9).null, long.null[:70])
    assert (fit_test(counts, mechanism, 200, seed=10).null != long.null).any()


def test_a_run_can_be_stopped():
    test = fit_test([90, 40, 10, 3], RandomizedResponse(4, 1.5), 1000, progress=lambda done: True)
    assert test.done == test.null.size
    assert 0 < test.done <= 1000


def test_nothing_plausible_is_found_below_what_was_rejected():
    counts = np.array([41, 55, 63, 64, 65, 65, 66, 82, 236, 263])  # the p-value falls again at epsilon = 2
    assert plausible_epsilon(counts, 10, replicates=300).low < 2
    found = plausible_epsilon(counts, 10, above=2.0, replicates=300)
    assert 2 < found.low < 2.3
    assert not found.none


@pytest.mark.parametrize("n", [10**11, 10**15])
def test_above_the_largest_epsilon_of_the_app_the_counts_decide(n):
    """Two categories, one without a report: that is as rare as 5% where N q = log 20, and the fewer the likelier. (The
    test of two categories is exact, whatever is simulated.)"""
    for above in (20.0, 22.0, 24.0):
        found = plausible_epsilon([n, 0], 2, above=above, replicates=20)
        assert found.low == pytest.approx(math.log(n / math.log(20)), abs=0.15)
        assert not found.none
    assert plausible_epsilon([n, 0], 2, replicates=50).none


@pytest.mark.parametrize("above", [1e-6, 0.003, 20.0, 690.0])
def test_above_any_epsilon_equal_counts_are_plausible(above):
    found = plausible_epsilon([7, 7, 7], 3, above=above, replicates=20)
    assert above < found.low <= above * 1.0032  # rounded up
    assert not found.none


def test_no_epsilon_is_above_the_largest():
    found = plausible_epsilon([7, 1, 2], 3, above=700, replicates=20)
    assert (found.low, found.none) == (700, True)
    with pytest.raises(ValueError, match="counts must have a total >= 1"):
        plausible_epsilon([0, 0, 0], 3, above=700)


@settings(max_examples=12)
@given(HISTOGRAMS)
def test_the_smallest_plausible_epsilon_is_the_edge_of_the_test(counts):
    k = len(counts)
    result = plausible_epsilon(counts, k, replicates=40)
    assert result.high == math.inf
    assert EPSILON_APP_MIN <= result.low <= EPSILON_APP_MAX
    assert result.finished
    rejected = fit_test(counts, RandomizedResponse(k, result.low), 40).rejects(0.05)
    assert rejected == result.none


def test_the_true_epsilon_is_plausible():
    truth = RandomizedResponse(20, 1.0)
    rows = np.random.default_rng(8).multinomial(50_000, truth.expected(half(20)), size=12)
    low = [plausible_epsilon(row, 20, seed=i, replicates=40).low for i, row in enumerate(rows)]
    assert sum(one > 1.0 for one in low) <= 3  # four of 12 have probability 0.002
    assert np.median(low) > 0.8  # and the range says something


def test_a_stopped_search_says_so():
    calls = []

    def stop(done):
        calls.append(done)
        return len(calls) == 4

    result = plausible_epsilon(10 * half(20) * 20_000, 20, replicates=60, progress=stop)
    assert calls == sorted(calls)
    assert not result.finished


def test_a_collection_with_the_same_counts_is_as_unusual_in_spite_of_rounding():
    # At this epsilon its score in a block of 64 collections is a few 10^-15 below its score alone.
    mechanism = RandomizedResponse(55, 0.18108285679143898)
    test = fit_test([2, 1, 1, 1, 1, 1, *[0] * 49], mechanism, 100)
    alike = np.isclose(test.null, test.score, rtol=1e-12, atol=0)
    assert alike.any()
    assert test.p_value == (1 + (alike | (test.null > test.score)).sum()) / 101
    assert not test.rejects()
