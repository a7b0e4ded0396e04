"""The analysis in closed form against its parts."""

import numpy as np
import pytest

from rr_core import RandomizedResponse, zipf
from rr_core.profile import profile, table_size
from rr_core.registry import ESTIMATORS
from rr_core.reports.analysis import analyse, nearest
from rr_core.reports.intervals import above_zero, inv_interval


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_an_analysis_is_the_sum_of_its_parts(users):
    mechanism = RandomizedResponse(50, 2.0)
    counts = np.random.default_rng(1).multinomial(3000, mechanism.expected(zipf(50, 1.3)))
    result = analyse(counts, mechanism, 0.9, users)
    assert (result.n, result.users, result.level) == (3000, users, 0.9)
    for name, estimator in ESTIMATORS.items():
        np.testing.assert_allclose(result.estimates[name], estimator(counts, mechanism), rtol=1e-13)
    for got, together in ((result.interval, False), (result.simultaneous, True)):
        want = inv_interval(counts, mechanism, 0.9, users=users, simultaneous=together)
        np.testing.assert_array_equal(got.low, want.low)
        np.testing.assert_array_equal(got.high, want.high)
        assert got.simultaneous is together
    want = above_zero(counts, mechanism, 0.1)
    np.testing.assert_allclose(result.above.adjusted, want.adjusted)
    assert result.above.level == pytest.approx(0.1)
    assert result.nearest == nearest(counts, mechanism, users)


def test_a_million_categories_agree_with_a_few_of_them():
    k = 1_400_000
    counts = np.random.default_rng(2).poisson(1.2, k)
    counts[[7, 70]] = 2000, 900
    mechanism = RandomizedResponse(k, 4.0)
    result = analyse(counts, mechanism)
    twin = np.flatnonzero(counts == counts[11])[-1]
    assert result.interval.low[twin] == result.interval.low[11]
    assert (np.maximum(result.simultaneous.low, 0) <= np.maximum(result.interval.low, 0)).all()
    assert (result.simultaneous.high >= result.interval.high).all()
    assert result.above.above[7]


@pytest.mark.parametrize("counts", [[3, 0, 3, 7, 0], [10**9, 0, 5, 5, 1]])  # by table, by sort
def test_levels_put_every_category_back(counts):
    rows = np.array([counts])
    levels = profile(rows, table_size(rows))
    np.testing.assert_array_equal(levels.values[0][levels.level_of(rows)], rows)
    np.testing.assert_array_equal(levels.values[0], np.unique(counts)[::-1])
    np.testing.assert_array_equal(levels.multiplicities[0], np.unique(counts, return_counts=True)[1][::-1])
