"""Batches, dtypes, strides and ownership: the same numbers however the histogram is stored."""

from itertools import product

import numpy as np
import pytest

from rr_core import (
    RandomizedResponse,
    ibu,
    ibu_path,
    inv_variance,
    mle_star,
    negative_log_likelihood,
    optimality_gap,
    squared_error,
    total_variation,
    update_factors,
)
from rr_core.registry import ESTIMATORS

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
    for given in (histogram, histogram[0]):
        result = estimate(given, RandomizedResponse(k, 1.2))
        assert result.flags.writeable
        assert result.dtype == np.float64
        assert not np.shares_memory(result, given)
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
