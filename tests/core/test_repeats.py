"""Repeated collections against measuring each by hand, and their bias and variance against closed forms."""

import math

import numpy as np
import pytest

from rr_core import (
    Scenario,
    max_error,
    mle_star,
    negative_log_likelihood,
    repeats,
    simulate,
    squared_error,
    total_variation,
)
from rr_core.comparison import RANKED, ranks
from rr_core.law import negative_chance
from rr_core.registry import ESTIMATORS, VALID
from rr_core.repeats import repeat

TARGETS = ("users", "population")
SOME_TIES = Scenario("zipf", 5, 0.5, 2.0, 120, 3)  # negatives in part of the collections
MANY = 200


def last(draw, times, target="users"):
    """The result after all collections."""
    return list(repeat(draw, times, target))[-1]


@pytest.fixture(scope="module", params=TARGETS)
def many(request):
    """(draw, result, estimates by estimator as (times, k) arrays). With new users the variance of Inv is half as large
    again, so that the two targets cannot be mixed up."""
    draw = Scenario("zipf", 6, 1.2, 2.0, 60, 11).draw()
    reports = draw.collector(new_users=request.param == "population").draw(0, MANY).reports
    estimates = {name: make(reports, draw.mechanism) for name, make in ESTIMATORS.items()}
    return draw, last(draw, MANY, request.param), estimates


def assert_same(a, b):
    assert (a.done, a.tied, a.target) == (b.done, b.tied, b.target)
    np.testing.assert_array_equal(a.empty_negative, b.empty_negative)
    for metric in RANKED:
        np.testing.assert_allclose(a.errors[metric], b.errors[metric], rtol=1e-13, atol=1e-28)
        assert a.best[metric] == pytest.approx(b.best[metric], rel=1e-12)
        assert a.worst[metric] == pytest.approx(b.worst[metric], rel=1e-12)
    for name in ESTIMATORS:
        assert a.bias2(name) == pytest.approx(b.bias2(name), rel=1e-9, abs=1e-12)
        assert a.variance(name) == pytest.approx(b.variance(name), rel=1e-9)


@pytest.mark.parametrize(("target", "cells"), [("users", 1), ("population", 35), ("users", 160)])
def test_the_result_does_not_depend_on_the_size_of_a_step(monkeypatch, cells, target):
    draw, times = SOME_TIES.draw(), 33
    whole = last(draw, times, target)
    monkeypatch.setattr(simulate, "_CELLS_PER_STEP", cells)
    step = max(1, cells // 5)
    done = [result.done for result in repeat(draw, times, target)]
    assert done == [min(i, times) for i in range(step, times + step, step)]
    assert_same(last(draw, times, target), whole)


def test_the_first_collections_are_the_same_however_many_follow():
    draw = SOME_TIES.draw()
    short, long = last(draw, 5), last(draw, 40)
    for metric in RANKED:
        np.testing.assert_array_equal(short.errors[metric], long.errors[metric][:5])
    np.testing.assert_array_equal(short.empty_negative, long.empty_negative[:5])


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_errors_and_ranks_are_those_of_measuring_each_collection_by_hand(target):
    draw, times = SOME_TIES.draw(), 80
    truth = draw.theta if target == "users" else draw.population.probabilities
    best = {metric: dict.fromkeys(VALID, 0.0) for metric in RANKED}
    worst, tied = {metric: dict.fromkeys(VALID, 0.0) for metric in RANKED}, dict.fromkeys(RANKED, 0)
    result = last(draw, times, target)
    np.testing.assert_array_equal(result.truth, truth)
    for i in range(times):
        block = draw.collector(new_users=target == "population").draw(i, 1)
        (users,), (reports,) = block.true_counts, block.reports
        assert (users == draw.true_counts).all() or target == "population"
        by_hand = {metric: [] for metric in RANKED}
        for make in ESTIMATORS.values():
            estimate = make(reports, draw.mechanism)
            by_hand["mse"].append(squared_error(estimate, truth))
            by_hand["tv"].append(total_variation(estimate, truth))
            by_hand["max"].append(max_error(estimate, truth))
            loss = negative_log_likelihood(reports, estimate, draw.mechanism)
            least = negative_log_likelihood(reports, mle_star(reports, draw.mechanism), draw.mechanism)
            by_hand["above"].append((loss - least) / 120)
        for metric, errors in by_hand.items():
            np.testing.assert_allclose(result.errors[metric][i], errors, rtol=1e-10, atol=1e-15)
            valid = {name: error for name, error in zip(ESTIMATORS, errors, strict=True) if name in VALID}
            least, most = min(valid.values()), max(valid.values())
            if most - least <= 1e-12:
                tied[metric] += 1
                continue
            for tally, at in ((best, least), (worst, most)):
                shared = [name for name, error in valid.items() if abs(error - at) <= 1e-12]
                for name in shared:
                    tally[metric][name] += 1 / len(shared)
    assert 0 < tied["mse"] < times
    assert result.tied == tied
    for metric in RANKED:
        assert result.best[metric] == pytest.approx(best[metric])
        assert result.worst[metric] == pytest.approx(worst[metric])


def test_bias_and_variance_are_those_of_the_estimates(many):
    _, result, estimates = many
    for index, (name, estimate) in enumerate(estimates.items()):
        deviation = estimate - result.truth
        variance = deviation.var(axis=0, ddof=1).sum()
        raw = (deviation.mean(axis=0) ** 2).sum()
        assert result.variance(name) == pytest.approx(variance, rel=1e-9)
        assert result.bias2(name) == pytest.approx(raw - variance / MANY, rel=1e-7, abs=1e-12)
        # With the biased forms of both, mean squared error = bias^2 + variance exactly.
        biased = result.variance(name) * (MANY - 1) / MANY
        mse = result.errors["mse"][:, index].mean()
        assert mse == pytest.approx(raw + biased, rel=1e-12)
        assert mse == pytest.approx(result.bias2(name) + result.variance(name), rel=1e-12)


def test_one_collection_has_no_variance():
    result = last(SOME_TIES.draw(), 1)
    assert math.isnan(result.variance("inv_n"))
    assert result.bias2("inv_n") == pytest.approx(result.errors["mse"][0, 1])


@pytest.mark.parametrize("target", TARGETS)
def test_the_share_of_empty_categories_below_zero(target):
    draw, times = Scenario("zipf", 10, 2.0, 1.0, 30, 4).draw(), 200
    result = last(draw, times, target)
    block = draw.collector(new_users=target == "population").draw(0, times)
    truths, reports = block.true_counts, block.reports
    raw = ESTIMATORS["inv"](reports, draw.mechanism)
    for share, users, estimate in zip(result.empty_negative, truths, raw, strict=True):
        empty = users == 0
        assert share == pytest.approx((estimate[empty] < 0).mean()) if empty.any() else math.isnan(share)
    standard_error = np.nanstd(result.empty_negative) / math.sqrt(times)
    assert abs(np.nanmean(result.empty_negative) - negative_chance(30, draw.mechanism)) < 4 * standard_error


def test_where_no_category_is_empty_there_is_no_share():
    assert np.isnan(last(Scenario("uniform", 4, n=10_000).draw(), 7).empty_negative).all()


def test_an_inv_of_zero_does_not_count_as_negative():
    """k = 3, eps = log 6, N = 8: N q is one report, where the two terms of Inv leave a rounding below zero."""
    draw = Scenario("zipf", 3, 5.0, math.log(6), 8, 2).draw()
    assert draw.true_counts.tolist() == [8, 0, 0]
    reports = draw.collector().draw(0, 400).reports
    np.testing.assert_array_equal(last(draw, 400).empty_negative, (reports[:, 1:] == 0).mean(axis=1))


def repeated(mse, negatives=1):
    """Results with these (collections, 3) squared errors of the valid estimators."""
    errors = np.column_stack([np.zeros(len(mse)), np.asarray(mse, dtype=float)])
    result = repeats.Repeats("users", np.zeros(3), with_negatives=negatives)
    result.errors["mse"] = result.errors["max"] = errors
    result.done = len(errors)
    repeats._count_wins(result, "mse", ranks(errors[:, 1:], 1e-9))
    return result


def test_an_order_of_means_is_told_only_beyond_the_paired_standard_error():
    rng = np.random.default_rng(2)
    luck = rng.exponential(1, 200)[:, None]  # shared by all three: it does not blur their order
    apart = luck + np.array([0.0, 0.3, 0.6]) + rng.normal(0, 0.1, (200, 3))
    assert repeated(apart).least_mean("mse") == ("inv_n",)
    near = luck + np.array([0.0, 0.001, 0.6]) + rng.normal(0, 0.1, (200, 3))
    assert repeated(near).least_mean("mse") == ("inv_n", "inv_p")
    assert repeated(near[:9]).least_mean("mse") == VALID
    equal = luck + np.array([0.5, 0.0, 0.0])
    assert repeated(equal).least_mean("mse") == ("inv_p", "mle_star")
    assert repeated(np.ones((50, 3))).least_mean("mse") == VALID


@pytest.mark.slow
def test_an_order_of_equals_is_called_as_rarely_as_promised():
    """Three errors with one mean: a name alone may come out in about two of 1,000 runs; six in 300 has a chance
    below 1e-4."""
    rng = np.random.default_rng(3)
    alone = sum(len(repeated(rng.exponential(1, (50, 3))).least_mean("mse")) == 1 for _ in range(300))
    assert alone < 6


def test_who_is_most_often_best_is_told_only_beyond_chance():
    first = np.tile([[0, 1, 2]], (60, 1))
    assert repeated(first).most_often_best("mse") == ("inv_n",)
    assert repeated(first[:9]).most_often_best("mse") == VALID
    mixed = np.vstack([np.tile([[0, 1, 2]], (32, 1)), np.tile([[1, 0, 2]], (28, 1))])
    assert repeated(mixed).most_often_best("mse") == ("inv_n", "inv_p")
    shared = np.tile([[0, 0, 1]], (60, 1))
    assert repeated(shared).most_often_best("mse") == ("inv_n", "inv_p")


def test_collections_with_a_negative_are_counted():
    draw = SOME_TIES.draw()
    reports = draw.collector().draw(0, 50).reports
    below = (ESTIMATORS["inv"](reports, draw.mechanism) < -1e-14).any(axis=1)
    assert 0 < below.sum() < 50
    assert last(draw, 50).with_negatives == below.sum()
    # One user: the repairs agree, all at the report, though Inv is negative everywhere else.
    one = last(Scenario("uniform", 4, 0.0, 1.0, 1, 1).draw(), 20)
    assert (one.with_negatives, one.tied["mse"]) == (20, 20)
