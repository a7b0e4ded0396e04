"""The four estimators against exact rational arithmetic, within the promised 2e-12; in batches, and however the histogram
is stored.

The promise is normwise: the largest error over the largest entry. Entry by entry an estimate can be no better than its
own conditioning: an entry that is the small difference of two terms carries the rounding of e^eps (one unit in the last
place of a double) on those terms. So the entrywise tests take the size of the two terms as the scale, which makes them
strict for every entry that does not cancel."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rr_core
from rr_core import (
    RandomizedResponse,
    collinearity,
    ibu,
    ibu_path,
    inv,
    inv_n,
    inv_p,
    inv_variance,
    mle_star,
    negative_log_likelihood,
    optimality_gap,
    squared_error,
    total_variation,
    update_factors,
)
from rr_core.limits import EPSILON_MIN
from rr_core.registry import ESTIMATORS, VALID
from tests.core import exact
from tests.core.histograms import both_ways, counts, epsilons, families
from tests.sentences import holds

NAMES = tuple(ESTIMATORS)
# Below the smallest normal double nothing has a relative accuracy.
UNDERFLOW = exact.Fraction(1, 10**290)


def check(name, histogram, mechanism, channel):
    computed = getattr(rr_core, name)(histogram, mechanism)
    truth = exact.ESTIMATORS[name](np.asarray(histogram).tolist(), channel)
    assert exact.normwise_error(computed, truth) < exact.TOLERANCE
    return computed, truth


@holds("It keeps the most categories for which the smallest of them stays positive, $N(p-q)>S-mc_i$.")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [2, 3, 11, 32])
def test_every_family_at_every_epsilon_is_exact(name, k):
    edges = {
        "smallest frequencies": np.full(k, 5e-324),
        "one step above the others": np.where(np.arange(k) == 1, math.nextafter(0.1, 1), 0.1),
        "around the mean": np.array([2, 4] + [3] * (k - 2)),
    }
    for mechanism, channel in both_ways(k):
        for histogram in (families(k, np.random.default_rng(k)) | edges).values():
            check(name, histogram, mechanism, channel)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("k", "epsilon"), [(2047, 6.0), (2048, 6.0), (3001, 1e-6)])
def test_large_k_is_exact_on_both_sides_of_the_long_row_switch(name, k, epsilon):
    channel, mechanism = exact.channel_from_epsilon(k, epsilon), RandomizedResponse(k, epsilon)
    chosen = families(k, np.random.default_rng(k))
    for family in ("noisy Zipf", "huge counts", "frequencies"):
        check(name, chosen[family], mechanism, channel)


@pytest.mark.slow
@given(counts() | st.lists(st.floats(0, 1e300), min_size=2, max_size=9).filter(any), epsilons)
def test_any_histogram_at_any_epsilon_is_exact(histogram, epsilon):
    k = len(histogram)
    for name in NAMES:
        check(name, histogram, RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon))


@pytest.mark.slow
@given(counts(), st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_any_counts_at_any_p_are_exact(histogram, fraction):
    k = len(histogram)
    p = 1 / k + fraction * (1 - 1 / k)
    assume(RandomizedResponse(k, EPSILON_MIN).p <= p < 1)
    for name in NAMES:
        check(name, histogram, RandomizedResponse.from_p(k, p), exact.channel_from_p(k, p))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [2, 5, 40])
def test_each_entry_is_exact_on_the_scale_of_its_own_terms(name, k):
    for mechanism, channel in both_ways(k):
        for histogram in families(k, np.random.default_rng(k + 1)).values():
            if histogram.dtype.kind == "i":
                computed, truth = check(name, histogram, mechanism, channel)
                scale = exact.terms(name, histogram.tolist(), channel)
                scale = [max(term, UNDERFLOW) for term in scale]
                assert exact.elementwise_error(computed, truth, scale) < exact.TOLERANCE


@pytest.mark.parametrize("name", ["inv_n", "inv_p", "mle_star"])
def test_zeros_and_positives_are_those_of_exact_arithmetic(name):
    rng = np.random.default_rng(3)
    for epsilon in (0.2, 1.0, 3.0, 7.0):
        for k in (2, 6, 50):
            mechanism, channel = RandomizedResponse(k, epsilon), exact.channel_from_epsilon(k, epsilon)
            histogram = rng.integers(0, 60, k) + 1
            computed, truth = check(name, histogram, mechanism, channel)
            np.testing.assert_array_equal(computed > 0, [value > 0 for value in truth])


@pytest.mark.parametrize("name", ["inv_n", "inv_p", "mle_star"])
def test_an_entry_that_is_exactly_on_the_edge_is_exactly_zero(name):
    """k = 4, p = 1/2 (so q = 1/6): Inv of the third count, 2 of 12, is exactly zero."""
    theta = getattr(rr_core, name)([6, 3, 2, 1], RandomizedResponse.from_p(4, 0.5))
    assert theta[2] == 0 == theta[3]
    assert (theta[:2] > 0).all()


@pytest.mark.parametrize("name", ["inv", *VALID])
@pytest.mark.parametrize("epsilon", [1e-6, 700.0])
def test_a_million_and_a_half_categories_are_exact_at_both_ends_of_epsilon(name, epsilon):
    """Few distinct counts: the exact estimate of one category of each, from the formulas with their multiplicities."""
    k = 1_500_000
    values, sizes = np.array([9, 4, 3, 1, 0]), np.array([1, 2, 100, 500_000, 999_897])
    histogram = np.repeat(values, sizes)
    estimate = getattr(rr_core, name)(histogram, RandomizedResponse(k, epsilon))
    computed = estimate[np.concatenate([[0], np.cumsum(sizes)[:-1]])]
    n, odds = int(histogram.sum()), exact.channel_from_epsilon(k, epsilon).odds
    by_value = [exact.Fraction(int(c), n) + (k * exact.Fraction(int(c)) - n) / (n * odds) for c in values]
    if name == "inv_n":
        positive = [max(x, exact.Fraction(0)) for x in by_value]
        total = sum(x * int(m) for x, m in zip(positive, sizes, strict=True))
        by_value = [x / total for x in positive]
    elif name != "inv":
        kept = max(i for i in range(5) if _kept(name, values, sizes, i, n, odds, k))
        m, s = int(sizes[: kept + 1].sum()), int((values * sizes)[: kept + 1].sum())
        spread = n * odds / (odds + k)  # N (p - q)
        by_value = [
            exact.Fraction(0) if i > kept
            else exact.Fraction(1, m) + (m * int(c) - s) / (m * spread) if name == "inv_p"
            else exact.Fraction(int(c), s) + (m * int(c) - s) / (s * odds)
            for i, c in enumerate(values)
        ]  # fmt: skip
    assert exact.normwise_error(computed, by_value) < exact.TOLERANCE


def _kept(name, values, sizes, i, n, odds, k):
    """Whether the categories with the i-th largest count and more are kept: the smallest of them stays positive."""
    m, s, c = int(sizes[: i + 1].sum()), int((values * sizes)[: i + 1].sum()), int(values[i])
    return (n * odds / (odds + k) if name == "inv_p" else odds * c) > s - m * c


def test_small_rows_beside_large_ones_are_exact():
    """In one batch no row may be left at a size at which its total underflows."""
    rows = np.array([[1.0, 2.0, 3.0], [1e-320, 2e-320, 3e-320], [4e-310, 0.0, 1e-310]])
    mechanism, channel = RandomizedResponse(3, 1e-5), exact.channel_from_epsilon(3, 1e-5)
    for name in NAMES:
        for computed, row in zip(getattr(rr_core, name)(rows, mechanism), rows, strict=True):
            truth = exact.ESTIMATORS[name](row.tolist(), channel)
            assert exact.normwise_error(computed, truth) < exact.TOLERANCE


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0, 700.0])
def test_estimates_sum_to_one_and_repairs_are_distributions(name, epsilon):
    rng = np.random.default_rng(5)
    for k in (2, 9, 500, 4000):
        histogram = rng.integers(0, 50, k) + rng.integers(0, 2, k)
        estimate = getattr(rr_core, name)(histogram, RandomizedResponse(k, epsilon))
        assert math.fsum(estimate) == pytest.approx(1, abs=1e-14 * np.abs(estimate).sum())
        assert name == "inv" or estimate.min() >= 0


def test_counts_beyond_2_to_the_53_are_taken_as_their_nearest_double():
    histogram = np.array([2**60 + 1, 2**61 + 3, 2**62 - 1, 5], dtype=np.int64)
    mechanism, channel = RandomizedResponse(4, 1.0), exact.channel_from_epsilon(4, 1.0)
    for name in NAMES:
        check(name, histogram, mechanism, channel)
        check(name, histogram.astype(np.uint64) * np.uint64(3), mechanism, channel)


@pytest.mark.parametrize(
    "histogram", [[5e-324, 1e-323, 0.0], [1e308, 1.7e308, 1e307], [3e-310, 2e-309, 1e-309]]
)
def test_frequencies_at_both_ends_of_the_double_range(histogram):
    mechanism, channel = RandomizedResponse(3, 1.0), exact.channel_from_epsilon(3, 1.0)
    for name in NAMES:
        check(name, histogram, mechanism, channel)
    theta = rr_core.mle_star(histogram, mechanism)
    assert abs(rr_core.optimality_gap(histogram, theta, mechanism)) < 1e-12
    for run in (rr_core.ibu(histogram, mechanism, 9), rr_core.ibu_channel(histogram, mechanism.matrix(), 9)):
        assert run.sum() == pytest.approx(1)


# Worked values, and the sources they come from.
REFERENCE = RandomizedResponse.from_p(4, 0.5)
EXPECTED = {
    inv: (exact.Fraction(1), exact.Fraction(1, 4), exact.Fraction(0), exact.Fraction(-1, 4)),
    inv_n: (exact.Fraction(4, 5), exact.Fraction(1, 5), exact.Fraction(0), exact.Fraction(0)),
    inv_p: (exact.Fraction(7, 8), exact.Fraction(1, 8), exact.Fraction(0), exact.Fraction(0)),
    mle_star: (exact.Fraction(5, 6), exact.Fraction(1, 6), exact.Fraction(0), exact.Fraction(0)),
}


@pytest.mark.parametrize("estimate", EXPECTED, ids=lambda estimate: estimate.__name__)
@pytest.mark.parametrize(
    "histogram", [(6, 3, 2, 1), (1 / 2, 1 / 4, 1 / 6, 1 / 12)], ids=["counts", "frequencies"]
)
def test_four_categories_with_p_one_half(estimate, histogram):
    np.testing.assert_allclose(
        estimate(histogram, REFERENCE), [float(x) for x in EXPECTED[estimate]], rtol=1e-15, atol=1e-16
    )


def test_the_reference_example_is_certified_and_collinear():
    assert optimality_gap([6, 3, 2, 1], [5 / 6, 1 / 6, 0, 0], REFERENCE) == pytest.approx(0, abs=1e-15)
    place = collinearity([6, 3, 2, 1], REFERENCE)
    # InvN to InvP is (-3/40, 3/40): MLE* at 5/6 is (7/8 - 5/6)/(7/8 - 4/5) = 5/9 of the way.
    assert place.position == pytest.approx(5 / 9, rel=1e-14)
    assert place.same_support
    assert not place.theorem2_holds


def test_three_categories_at_log_three_report_something_at_random_in_three_cases_of_five():
    made = RandomizedResponse(3, math.log(3))
    assert made.k * made.q == pytest.approx(0.6, rel=1e-15)
    np.testing.assert_allclose(made.matrix(), 0.2 + 0.4 * np.eye(3), rtol=1e-15)


EVERY = {**ESTIMATORS, "ibu": lambda histogram, mechanism: ibu(histogram, mechanism, 5)}
every_estimator = pytest.mark.parametrize("estimate", EVERY.values(), ids=EVERY)

MECHANISM = RandomizedResponse(6, 1.2)
LONG = 2500  # beyond the switch to distinct values row by row


def batch(shape, k, seed=0):
    histogram = np.random.default_rng(seed).integers(0, 30, (*shape, k))
    histogram[..., 0] += 1
    return histogram


@every_estimator
@pytest.mark.parametrize(("shape", "k"), [((5,), 6), ((3, 2), 6), ((2, 1, 2), 2), ((3,), LONG)])
def test_a_batch_is_its_rows_one_by_one(estimate, shape, k):
    for scale in (1, 1000, 0.001):
        histogram, mechanism = batch(shape, k) * scale, RandomizedResponse(k, 1.2)
        together = estimate(histogram, mechanism)
        assert together.shape == histogram.shape
        for index in np.ndindex(*shape):
            np.testing.assert_allclose(
                together[index], estimate(histogram[index], mechanism), rtol=1e-13, atol=1e-16
            )


@every_estimator
def test_rows_of_very_different_size_do_not_disturb_each_other(estimate):
    rows = np.array([[1e-250, 3e-250, 0], [1e250, 0, 5e250], [1.0, 2.0, 3.0]])
    together = estimate(rows, RandomizedResponse(3, 2.0))
    for row, alone in zip(together, rows, strict=True):
        np.testing.assert_allclose(row, estimate(alone / alone.max(), RandomizedResponse(3, 2.0)), atol=1e-14)


@every_estimator
def test_long_rows_with_different_numbers_of_distinct_counts(estimate):
    """Shorter profiles are padded; the padding must not show."""
    mechanism, rng = RandomizedResponse(LONG, 3.0), np.random.default_rng(4)
    rows = np.stack([np.full(LONG, 7), rng.integers(5, 60, LONG), rng.integers(90, 93, LONG)])
    together = estimate(rows, mechanism)
    for row, alone in zip(together, rows, strict=True):
        np.testing.assert_allclose(row, estimate(alone, mechanism), rtol=1e-13, atol=1e-16)
    # The certificate of a run sees the padding, too.
    path = ibu_path(rows, mechanism, [5])
    np.testing.assert_allclose(
        path.certificate[:, 0], optimality_gap(rows, path.estimate(0), mechanism), rtol=1e-9, atol=1e-12
    )


@every_estimator
def test_an_empty_batch_gives_an_empty_batch(estimate):
    for k, shape in product((6, LONG), ((0,), (2, 0), (0, 3))):
        result = estimate(np.zeros((*shape, k), dtype=np.int64), RandomizedResponse(k, 1.2))
        assert result.shape == (*shape, k)


@every_estimator
@pytest.mark.parametrize("k", [6, LONG])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_inputs_may_be_read_only_and_are_left_alone(estimate, k, dtype):
    histogram = batch((2,), k).astype(dtype)
    before = histogram.copy()
    histogram.flags.writeable = False
    for passed in (histogram, histogram[0]):
        result = estimate(passed, RandomizedResponse(k, 1.2))
        assert result.flags.writeable
        assert result.dtype == np.float64
        assert not np.shares_memory(result, passed)
        result[...] = -1
    np.testing.assert_array_equal(histogram, before)


def test_numbers_per_row_have_the_shape_of_the_batch():
    histogram = batch((3, 2), 6)
    theta = mle_star(histogram, MECHANISM)
    assert optimality_gap(histogram, theta, MECHANISM).shape == (3, 2)
    assert update_factors(histogram, theta, MECHANISM).shape == (3, 2, 6)
    assert negative_log_likelihood(histogram, theta, MECHANISM).shape == (3, 2)
    assert squared_error(theta, theta[0, 0]).shape == total_variation(theta, theta[0, 0]).shape == (3, 2)
    assert inv_variance(theta, 100, MECHANISM).shape == (3, 2, 6)
    for single in (
        optimality_gap(histogram[0, 0], theta[0, 0], MECHANISM),
        negative_log_likelihood(histogram[0, 0], theta[0, 0], MECHANISM),
        squared_error(theta[0, 0], theta[0, 1]),
        total_variation(theta[0, 0], theta[0, 1]),
    ):
        assert type(single) is float
