"""The analysis in closed form against its parts, and the advice against its definition."""

from dataclasses import replace

import numpy as np
import pytest

from rr_core import RandomizedResponse, zipf
from rr_core.collected.above_zero import above_zero
from rr_core.collected.advice import advise
from rr_core.collected.analysis import analyse
from rr_core.collected.bootstrap import bootstrap
from rr_core.collected.intervals import inv_interval
from rr_core.collected.reports import Levels
from rr_core.comparison import ESTIMATORS, VALID


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
    levels = Levels.of(np.array(counts))
    np.testing.assert_array_equal(levels.values[levels.where], counts)
    np.testing.assert_array_equal(levels.values, np.unique(counts))
    np.testing.assert_array_equal(levels.multiplicities, np.unique(counts, return_counts=True)[1])


@pytest.fixture(scope="module")
def simulated():
    mechanism = RandomizedResponse(12, 1.0)
    return bootstrap(np.array([500, 150] + [20] * 10), mechanism, 100)


def with_errors(result, *columns):
    return replace(result, done=len(columns[0]), errors={"tv": np.stack(columns, axis=-1).astype(float)})


def test_advice_counts_means_and_pairs(simulated):
    result = with_errors(simulated, [9, 9, 9, 9], [1, 2, 3, 4], [2, 3, 4, 5], [1, 2, 3, 5])
    advice = advise(result, "tv")
    assert advice.means == {"inv": 9, "inv_n": 2.5, "inv_p": 3.5, "mle_star": 2.75}
    assert advice.standard_errors["inv_n"] == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)
    assert advice.best == "inv_n"
    # MLE* is 1/4 worse with a paired standard error of 1/4; InvP is 1 worse every time.
    assert advice.tied == ("inv_n", "mle_star")
    assert advice.shares_best == {"inv_n": 0.625, "inv_p": 0.0, "mle_star": 0.375}


def test_inv_is_never_advised(simulated):
    assert advise(with_errors(simulated, [0, 0], [2, 1], [3, 4], [5, 5]), "tv").best == "inv_n"


def test_without_negatives_all_three_are_tied():
    result = bootstrap([1000, 1100, 1200], RandomizedResponse(3, 3.0), 60)
    advice = advise(result)
    assert advice.tied == VALID
    assert advice.shares_best == pytest.approx(dict.fromkeys(VALID, 1 / 3))


def test_advice_refuses(simulated):
    with pytest.raises(ValueError, match="metric must be one of mse, tv, max, got 'nll'"):
        advise(simulated, "nll")
    with pytest.raises(ValueError, match="at least 2 collections, got 1"):
        advise(replace(simulated, done=1))
