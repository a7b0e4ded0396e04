"""Epsilon, N and target: each follows from the other two; exact where it can be, monotone, and refusals said plainly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from rr_core import RandomizedResponse, inv_variance
from rr_core.plan import solve
from rr_core.plan.guess import Guess
from rr_core.plan.promise import Channels
from rr_core.plan.solve import Unreachable, achieved, required_epsilon, required_n
from rr_core.plan.targets import KINDS, Target
from rr_core.populations import dominant, two_humps, uniform, zipf

TARGETS = (
    Target("rmse", 0.01),
    Target("max", 0.02),
    Target("share", 0.02),
    Target("smallest", 0.02),
    Target("top", 2),
)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.01), (2, 20), (1000, 1.0), (1_500_000, 8.0)])
def test_the_channel_is_that_of_the_mechanism(k, epsilon):
    channels, mechanism = Channels.of(k, [epsilon]), RandomizedResponse(k, epsilon)
    assert channels.q[0] == pytest.approx(mechanism.q, rel=1e-14)
    assert channels.keep[0] == pytest.approx(mechanism.keep, rel=1e-14)
    seen, rest = channels.seen(np.array([0.25]))
    assert seen[0, 0] == pytest.approx(mechanism.q + mechanism.keep / 4, rel=1e-14)
    assert seen + rest == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("theta", [uniform(50), zipf(50, 2.5), dominant(50)])
def test_the_rmse_is_that_of_the_variances(theta, users):
    mean = inv_variance(theta, 1234, RandomizedResponse(50, 1.5), users=users).mean()
    assert achieved(Target("rmse", 0.1), 50, 1.5, 1234, theta, users=users) == pytest.approx(
        math.sqrt(mean), rel=1e-12
    )


@settings(max_examples=40)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any))
def test_the_rmse_of_fixed_users_is_the_same_for_all_populations_and_the_worst_of_sampled_is_uniform(weights):
    target = Target("rmse", 0.1)
    assert achieved(target, 4, 1.0, 50, weights) == achieved(target, 4, 1.0, 50, None)
    worst = achieved(target, 4, 1.0, 50, None, users="sampled")
    assert achieved(target, 4, 1.0, 50, weights, users="sampled") <= worst * (1 + 1e-12)
    assert worst == pytest.approx(achieved(target, 4, 1.0, 50, uniform(4), users="sampled"), rel=1e-12)


def outside(theta, n, mechanism, value):
    """Sum over categories of the exact chance that Inv is off by more than ``value``; of one of two, which are both."""
    seen = mechanism.expected(theta)
    up = np.floor(n * (seen + mechanism.keep * value) + 1e-9)
    down = np.ceil(n * (seen - mechanism.keep * value) - 1e-9)
    total = (stats.binom.sf(up, n, seen) + stats.binom.cdf(down - 1, n, seen)).sum()
    return total / 2 if len(theta) == 2 else total


@pytest.mark.parametrize(("k", "n"), [(2, 50), (3, 200), (40, 5000), (40, 10**8)])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_largest_error_keeps_the_exact_union_bound_and_is_hardly_larger_than_it_must(k, n, epsilon):
    theta, mechanism = zipf(k, 1.3), RandomizedResponse(k, epsilon)
    value = achieved(Target("max", 0.1, 0.9), k, epsilon, n, theta, users="sampled")
    report = 1 / (n * mechanism.keep)
    assert outside(theta, n, mechanism, value) <= 0.1 * (1 + 1e-9)
    assert outside(theta, n, mechanism, value - 1.01 * report) > 0.1 * (1 - 1e-3)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 30), (2.0, 100), (6.0, 1000), (2.0, 10**6)])
def test_the_worst_population_at_k_3_by_brute_force(epsilon, n, users):
    """Every population on a grid of 1/30; the two-point search is above them all, and not by much."""
    target = Target("max", 0.1)
    worst = achieved(target, 3, epsilon, n, None, users=users)
    grid = [
        (a, b, 30 - a - b) for a in range(16, -1, -1) for b in range(min(a, 30 - a) + 1) if 30 - a - b <= b
    ]
    populations = [*grid, (30, 0, 0), (20, 10, 0)]
    values = [achieved(target, 3, epsilon, n, shares, users=users) for shares in populations]
    assert max(values) <= worst * (1 + 1e-3)
    assert worst <= 1.05 * max(values)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_the_worst_population_of_many_is_above_all_shapes(users):
    target = Target("max", 0.1)
    for k, epsilon, n in ((200, 1.0, 10_000), (200, 5.0, 300), (5000, 8.0, 10**6)):
        worst = achieved(target, k, epsilon, n, None, users=users)
        shapes = [uniform(k), two_humps(k), zipf(k, 1), zipf(k, 2.5), dominant(k), np.arange(k) == 0]
        shapes += [np.arange(k) < few for few in (2, 3, 4, 7, 20)]
        reached = [achieved(target, k, epsilon, n, np.asarray(s, float), users=users) for s in shapes]
        assert max(reached) <= worst * (1 + 1e-3)


@pytest.mark.parametrize(("k", "n", "epsilon"), [(2, 100, 1.0), (3, 60, 2.0), (500, 2000, 5.0)])
def test_the_smallest_share_is_found_with_the_power_by_the_exact_test(k, n, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    share = achieved(Target("smallest", 0.1, 0.9), k, epsilon, n, None, users="sampled")
    least = next(c for c in range(n + 2) if stats.binom.sf(c - 1, n, mechanism.q) <= 0.05 / k)
    assert stats.binom.sf(least - 1, n, mechanism.q + mechanism.keep * share) >= 0.9
    # One report more than the exact threshold would not do.
    assert stats.binom.sf(least, n, mechanism.q + mechanism.keep * share) <= 0.9 + 1e-9


def test_nothing_is_told_from_zero_by_a_single_report():
    assert achieved(Target("smallest", 0.1), 2, 0.1, 1, None) == math.inf


def test_the_exact_chance_of_a_wrong_ranking_at_k_3():
    """All outcomes of 12 reports, in fractions."""
    n, theta = 12, [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
    mechanism = RandomizedResponse(3, 3.0)
    seen = [Fraction(float(m)) for m in mechanism.expected([float(t) for t in theta])]
    right = Fraction(0)
    for a in range(n + 1):
        for b in range(n + 1 - a):
            if a > b > n - a - b:
                ways = (
                    math.factorial(n) // math.factorial(a) // math.factorial(b) // math.factorial(n - a - b)
                )
                right += ways * seen[0] ** a * seen[1] ** b * seen[2] ** (n - a - b)
    got = achieved(Target("top", 2), 3, 3.0, n, [7, 2, 1], users="sampled")
    assert got <= float(right)
    assert got >= 1 - 1.3 * (1 - float(right))


@pytest.mark.parametrize(
    ("target", "known"),
    [(t, known) for t in TARGETS for known in (True, False) if known or not t.about.needs_population],
    ids=lambda value: value if isinstance(value, bool) else value.kind,
)
@pytest.mark.parametrize(("k", "epsilon", "n"), [(4, 1.0, 5000), (30, 3.0, 777), (1000, 5.0, 123_456_789)])
@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_each_of_the_three_follows_from_the_other_two(target, known, k, epsilon, n, users):
    theta = Guess.of(k, zipf(k, 1.1)) if known else None
    value = achieved(target, k, epsilon, n, theta, users=users)
    if target.kind == "top":
        if not 0.5 <= value <= 0.9999:
            n = required_n(target, k, epsilon, theta, users=users)
            value = achieved(target, k, epsilon, n, theta, users=users)
        asked = Target("top", 2, value)
    else:
        assert value <= 1
        asked = Target(target.kind, value)
    needed = required_n(asked, k, epsilon, theta, users=users)
    if (target.kind, users) == ("top", "fixed"):
        # The same number of whole people apart at the least: 1/gap users more or fewer.
        assert n - 1 / -np.diff(theta.shares[:4]).max() <= needed <= n
    else:
        assert needed == n
    assert required_epsilon(asked, k, n, theta, users=users) == pytest.approx(epsilon, rel=1e-8)


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.kind)
@pytest.mark.parametrize("k", [3, 10_000])
def test_the_answers_meet_the_target_and_less_does_not(target, k):
    theta = Guess.of(k, zipf(k, 1.1))  # no N shares it out in whole people
    n = required_n(target, k, 2.0, theta)
    slack = 1e-9
    goal = target.goal
    better = (lambda a: goal - a) if target.about.better == "smaller" else (lambda a: a - goal)
    assert better(achieved(target, k, 2.0, n, theta)) >= -slack
    assert better(achieved(target, k, 2.0, 1.001 * n, theta)) > 0
    assert better(achieved(target, k, 2.0, n - 1, theta)) < 0
    assert target.met_by(achieved(target, k, 2.0, n + 1, theta))
    assert not target.met_by(achieved(target, k, 2.0, n - 1, theta))
    epsilon = required_epsilon(target, k, n, theta)
    assert epsilon <= 2.0 + 1e-9
    assert better(achieved(target, k, epsilon - 1e-3, n, theta)) < 0


def test_users_for_the_rmse_by_another_route():
    mechanism = RandomizedResponse(7, 1.2)
    free = optimize.brentq(
        lambda log_n: inv_variance(uniform(7), math.exp(log_n), mechanism).mean() - 1e-4, 0, 30, xtol=1e-14
    )
    assert required_n(Target("rmse", 0.01), 7, 1.2, None) == math.ceil(math.exp(free))


@settings(max_examples=60)
@given(
    st.sampled_from(TARGETS),
    st.integers(3, 300),
    st.floats(0.02, 15),
    st.floats(0.5, 8),
    st.floats(1.0001, 3),
    st.floats(0, 2.5),
    st.sampled_from(["fixed", "sampled"]),
)
def test_more_users_or_more_epsilon_never_hurt(target, k, epsilon, log_n, factor, s, users):
    theta, n = Guess.of(k, zipf(k, s)), 10**log_n
    base = achieved(target, k, epsilon, n, theta, users=users)
    sign = 1 if target.about.better == "smaller" else -1
    for more_epsilon, more_n in ((epsilon, n * factor), (min(epsilon * factor, 20), n)):
        other = achieved(target, k, more_epsilon, more_n, theta, users=users)
        assert sign * other <= sign * base + 1e-9 * min(abs(base), 1e9) or base == math.inf


def test_what_cannot_be_reached_says_why():
    tie = required_n(Target("top", 2), 5, 1.0, [4, 3, 3, 1, 1])
    assert isinstance(tie, Unreachable)
    assert "ranked 2 and 3" in tie.reason
    assert isinstance(required_epsilon(Target("top", 2), 5, 100, [4, 3, 3, 1, 1]), Unreachable)
    assert achieved(Target("top", 2), 5, 1.0, 100, [4, 3, 3, 1, 1]) == 0
    # A tie below the top is no matter.
    assert isinstance(required_n(Target("top", 2), 5, 1.0, [5, 4, 1, 1, 1]), int)
    many = required_n(Target("rmse", 1e-9), 100, 0.01, None)
    assert isinstance(many, Unreachable)
    assert "users" in many.reason
    few = required_epsilon(Target("max", 1e-3), 10, 100, None)
    assert isinstance(few, Unreachable)
    assert "N = 100 not even" in few.reason
    assert required_epsilon(Target("rmse", 1.0), 2, 10**9, None) == 0.01
    assert required_n(Target("rmse", 1.0), 2, 5.0, None) == 1


def test_wrong_arguments_are_named():
    target = Target("rmse", 0.1)
    for call, words in (
        (lambda: Target("mse", 1), "kind must be one of rmse"),
        (lambda: Target("max", 0), "value must be a number from 1e-09"),
        (lambda: Target("top", 2.5), "value must be an integer from 1 to 50"),
        (lambda: Target("max", 0.1, 1), "confidence must be a number from 0.5"),
        (lambda: achieved(target, 3, 30, 10, None), "epsilon must be a number from 0.01 to 20"),
        (lambda: achieved(target, 3, 1, 0, None), "n must be a number from 1"),
        (lambda: achieved(target, 3, 1, 10, None, users="new"), "users must be"),
        (lambda: achieved(Target("max", 0.1), 3, 1, 10, None, users="new"), "users must be"),
        (lambda: required_n(target, 3, 1, [1, 2]), "histogram must have a last axis"),
        (lambda: required_n(Target("top", 3), 3, 1, [1, 2, 3]), "value must be below k = 3"),
        (lambda: required_n(Target("top", 2), 3, 1, None), "theta must be a population"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.key)
def test_each_kind_speaks_and_its_default_is_allowed(kind):
    target = Target(kind.key, kind.default)
    assert kind.key == next(key for key, value in KINDS.items() if value is kind)
    assert kind.meaning.endswith(".")
    assert target.goal == (0.95 if kind.key == "top" else kind.default)


def test_the_largest_k():
    guess = Guess.of(1_500_000, zipf(1_500_000, 1.3))
    for target in (TARGETS[1], TARGETS[2], TARGETS[4]):
        n = required_n(target, guess.k, 10.0, guess)
        assert isinstance(n, int)
        assert target.met_by(achieved(target, guess.k, 10.0, n + 1, guess))
    assert solve.N_MOST == 10**12


def test_the_exact_tails_take_several_times_the_normal_users_where_few_are_enough():
    def ratio(k, epsilon, margin, share):
        mechanism = RandomizedResponse(k, epsilon)
        variance = float(inv_variance(np.r_[share, np.full(k - 1, (1 - share) / (k - 1))], 1, mechanism)[0])
        n = required_n(Target("share", margin, 0.95, share), k, epsilon, None)
        return n / (stats.norm.isf(0.025) ** 2 * variance / margin**2)

    assert ratio(12, 1.0, 0.005, 0.2) == pytest.approx(1, abs=0.01)
    assert ratio(5000, 8.0, 0.005, 0.0) > 3


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize(
    ("k", "epsilon", "value"), [(100, 0.013, 0.01), (1000, 0.121, 0.0005), (12, 0.054, 1e-4), (7, 1.2, 0.013)]
)
def test_the_users_for_the_rmse_are_enough_in_exact_arithmetic_and_one_fewer_is_not(k, epsilon, value, users):
    odds = Fraction(math.expm1(epsilon))
    p, q = (odds + 1) / (odds + k), 1 / (odds + k)
    mean = (q * (1 - q) + (p - q) * (1 - p - q) / k) / (p - q) ** 2
    mean += (1 - Fraction(1, k)) / k if users == "sampled" else 0
    exact = math.ceil(mean / Fraction(value) ** 2)
    assert required_n(Target("rmse", value), k, epsilon, None, users=users) == exact
