"""The map, the frontier and the price of privacy agree with the single answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse, inv, inv_n, inv_p, inv_variance, mle_star, simulate
from rr_core.plan import landscape as module
from rr_core.plan.landscape import frontier, inv_curve, landscape, price_per_bit, simulate_curve
from rr_core.plan.solve import achieved, required_n
from rr_core.plan.targets import Guess, Target
from rr_core.populations import uniform, zipf
from rr_core.sampling import whole_users

TARGETS = (Target("rmse", 0.01), Target("max", 0.02), Target("smallest", 0.02), Target("top", 3))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.kind)
def test_the_map_is_what_is_achieved(target):
    """Of the largest error a large map has every other place interpolated."""
    guess, size = Guess.of(50, zipf(50, 1.0)), 33 if target.kind == "max" else 3
    epsilons, users = np.geomspace(0.1, 10, size), np.geomspace(1e2, 1e9, size)
    shown = landscape(target, 50, guess, epsilons=epsilons, n=users)
    assert shown.values.shape == (size, size)
    assert shown.interpolated.sum() == (33**2 - 17**2 if target.kind == "max" else 0)
    assert not shown.interpolated[::2, ::2].any()
    for i, j in ((0, 0), (1, -1), (size // 2, size // 2), (-1, 1), (-1, -1), (size // 4, -2)):
        single = achieved(target, 50, epsilons[j], users[i], guess)
        slack = 0.03 if shown.interpolated[i, j] else 1e-5
        assert shown.values[i, j] == pytest.approx(single, rel=slack, abs=1e-12)


def test_a_small_map_is_not_interpolated():
    shown = landscape(TARGETS[1], 50, None, epsilons=[1, 2, 3], n=[100, 1e5])
    for i, n in enumerate([100, 1e5]):
        for j, epsilon in enumerate([1, 2, 3]):
            assert shown.values[i, j] == pytest.approx(achieved(TARGETS[1], 50, epsilon, n, None), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.kind)
def test_the_frontier_is_the_users_required(target):
    guess, epsilons = Guess.of(50, zipf(50, 1.0)), [0.1, 2.5]
    wanted = [required_n(target, 50, e, guess) for e in epsilons]
    assert frontier(target, 50, guess, epsilons).tolist() == wanted


def test_the_frontier_of_what_cannot_be_met_is_infinite():
    assert np.isinf(frontier(Target("top", 2), 5, uniform(5), [1, 2])).all()
    assert np.isinf(frontier(Target("rmse", 1e-9), 5, None, [0.01])).all()


def test_a_bit_of_privacy_costs_what_the_variance_says():
    price = price_per_bit(Target("rmse", 0.001), 2, 1.5, None, (0, 1, 2, 3))
    assert price.bits.tolist() == [0, 1, 2]  # a third bit would leave less than none
    assert price.epsilons == pytest.approx(1.5 - price.bits * math.log(2))
    # k = 2: q (1 - q)/(p - q)^2 = e^eps/(e^eps - 1)^2.
    variance = np.exp(price.epsilons) / np.expm1(price.epsilons) ** 2
    assert price.times == pytest.approx(variance / variance[0], rel=1e-4)
    assert price.users == pytest.approx(variance / 1e-6, abs=1)


# Simulated curves: against the closed form and the estimators, the same however they are cut, and what stopping leaves.

ESTIMATORS = {"inv": inv, "inv_n": inv_n, "inv_p": inv_p, "mle_star": mle_star}


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize(
    ("along", "points", "fixed"), [("epsilon", [0.5, 2, 6], 300), ("n", [10, 300, 10**8], 1.0)]
)
def test_inv_is_simulated_as_its_closed_form_says(along, points, fixed, users):
    theta = zipf(12, 1.0)
    curve = simulate_curve(12, theta, along, points, fixed, 600, users=users, seed=3)
    truth = [whole_users(theta, int(n)) / n for n in (points if along == "n" else [fixed] * 3)]
    expected = inv_curve(12, theta, along, points, fixed, users=users)
    for i, share in enumerate(truth):
        epsilon, n = (fixed, points[i]) if along == "n" else (points[i], fixed)
        variance = inv_variance(
            share if users == "fixed" else theta, n, RandomizedResponse(12, epsilon), users=users
        )
        assert expected[i] == pytest.approx(np.sqrt(variance.mean()), rel=1e-12)
    off = np.abs(curve.mean["rmse"]["inv"] - expected) / curve.standard_error["rmse"]["inv"]
    assert off.max() < 4
    assert curve.finished
    assert curve.points.tolist() == points


def test_nothing_depends_on_where_the_run_was_cut(monkeypatch):
    arguments = (40, zipf(40, 1.0), "epsilon", [1.0, 3.0], 500)
    plain = simulate_curve(*arguments, 70, seed=9)
    monkeypatch.setattr(simulate, "PROGRESS_SECONDS", 0.0)
    calls = []
    watched = simulate_curve(*arguments, 70, seed=9, progress=lambda done: bool(calls.append(done)))
    assert calls == [64, 128, 134, 140]
    stopped = simulate_curve(*arguments, 5000, seed=9, progress=lambda done: done >= 128)
    assert stopped.completed.tolist() == [64, 64]
    assert not stopped.finished
    alone = simulate_curve(*arguments, 64, seed=9)
    for metric in module.METRICS:
        for name in ESTIMATORS:
            assert (plain.mean[metric][name] == watched.mean[metric][name]).all()
            assert (stopped.mean[metric][name] == alone.mean[metric][name]).all()
            assert (stopped.standard_error[metric][name] == alone.standard_error[metric][name]).all()


def test_a_run_stopped_at_once_leaves_gaps(monkeypatch):
    monkeypatch.setattr(simulate, "PROGRESS_SECONDS", 0.0)
    curve = simulate_curve(3, uniform(3), "n", [10, 20], 1.0, 1, progress=lambda done: True)
    assert curve.completed.tolist() == [1, 0]
    assert np.isfinite(curve.mean["max"]["inv"][0])
    assert np.isnan(curve.mean["max"]["inv"][1])
    assert np.isnan(curve.standard_error["max"]["inv"]).all()


def test_a_large_k_in_blocks_of_one():
    curve = simulate_curve(200_000, zipf(200_000, 1.3), "epsilon", [6.0], 100_000, 2)
    assert curve.completed.tolist() == [2]
    assert curve.mean["rmse"]["mle_star"][0] < curve.mean["rmse"]["inv"][0]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=8).filter(any), st.integers(1, 10**9))
def test_rounded_people_are_n_in_all_and_off_by_less_than_one(weights, n):
    theta = np.array(weights) / sum(weights)
    people = whole_users(theta, n)
    assert people.sum() == n
    assert np.abs(people - theta * n).max() < 1 + 1e-6
    assert (people >= 0).all()


def test_mean_and_standard_error_of_five_collections_by_hand():
    mechanism, theta = RandomizedResponse(4, 1.0), zipf(4, 1.0)
    collector = module._collector(mechanism, theta, 90, "fixed", 64, 8, 0)
    reports = collector.draw(0, 5).reports[:5]
    curve = simulate_curve(4, theta, "n", [90], 1.0, 5, seed=8)
    for name, estimator in ESTIMATORS.items():
        off = np.abs(estimator(reports, mechanism) - whole_users(theta, 90) / 90)
        squares, largest = (off**2).mean(axis=1), off.max(axis=1)
        assert curve.mean["max"][name] == pytest.approx(largest.mean())
        assert curve.standard_error["max"][name] == pytest.approx(largest.std(ddof=1) / np.sqrt(5))
        assert curve.mean["tv"][name] == pytest.approx(off.sum(axis=1).mean() / 2)
        assert curve.mean["rmse"][name] == pytest.approx(np.sqrt(squares.mean()))
        half = squares.std(ddof=1) / np.sqrt(5) / (2 * np.sqrt(squares.mean()))
        assert curve.standard_error["rmse"][name] == pytest.approx(half)
