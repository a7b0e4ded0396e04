"""The map, the frontier and the price of privacy agree with the single answers."""

import math

import numpy as np
import pytest

from rr_core.plan.landscape import EPSILONS, USERS, frontier, landscape, price_per_bit
from rr_core.plan.solve import achieved, required_n
from rr_core.plan.targets import Guess, Target
from rr_core.populations import uniform, zipf

TARGETS = (Target("rmse", 0.01), Target("max", 0.02), Target("smallest", 0.02), Target("top", 3))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.kind)
def test_the_map_is_what_is_achieved(target):
    guess = Guess.of(50, zipf(50, 1.0))
    shown = landscape(target, 50, guess)
    assert shown.values.shape == (33, 33)
    assert (shown.epsilons == EPSILONS).all()
    assert (shown.users == USERS).all()
    for i, j in ((0, 0), (3, 29), (16, 16), (32, 5), (27, 11), (32, 32), (7, 18)):
        single = achieved(target, 50, EPSILONS[j], USERS[i], guess)
        assert shown.values[i, j] == pytest.approx(
            single, rel=0.03 if shown.interpolated[i, j] else 1e-5, abs=1e-12
        )
    if target.kind == "max":
        assert not shown.interpolated[::2, ::2].any()
        assert shown.interpolated.sum() == 33**2 - 17**2
    else:
        assert not shown.interpolated.any()


def test_a_small_map_is_not_interpolated():
    shown = landscape(TARGETS[1], 50, None, epsilons=[1, 2, 3], n=[100, 1e5])
    for i, n in enumerate([100, 1e5]):
        for j, epsilon in enumerate([1, 2, 3]):
            assert shown.values[i, j] == pytest.approx(achieved(TARGETS[1], 50, epsilon, n, None), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.kind)
def test_the_frontier_is_the_users_required(target):
    guess, epsilons = Guess.of(50, zipf(50, 1.0)), [0.1, 1.0, 2.5, 10.0]
    assert frontier(target, 50, guess, epsilons).tolist() == [
        required_n(target, 50, e, guess) for e in epsilons
    ]


def test_the_frontier_of_what_cannot_be_met_is_infinite():
    assert np.isinf(frontier(Target("top", 2), 5, uniform(5), [1, 2])).all()
    assert np.isinf(frontier(Target("rmse", 1e-9), 5, None, [0.01])).all()


def test_a_bit_of_privacy_costs_what_the_variance_says():
    price = price_per_bit(Target("rmse", 0.001), 2, 1.5, None, (0, 1, 2, 3))
    assert price.epsilons == pytest.approx(
        1.5 - np.arange(3) * math.log(2)
    )  # a third bit would leave less than none
    assert price.bits.tolist() == [0, 1, 2]
    # k = 2: q (1 - q)/(p - q)^2 = e^eps/(e^eps - 1)^2.
    variance = np.exp(price.epsilons) / np.expm1(price.epsilons) ** 2
    assert price.times == pytest.approx(variance / variance[0], rel=1e-4)
    assert price.users == pytest.approx(variance / 1e-6, abs=1)


def test_the_price_is_a_multiple_of_where_one_started_even_if_that_is_not_listed():
    price = price_per_bit(TARGETS[1], 10, 3.0, None, (1, 2))
    start = required_n(TARGETS[1], 10, 3.0, None)
    assert price.times == pytest.approx(price.users / start)
    assert (price.times > 1.5).all()
