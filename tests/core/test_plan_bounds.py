"""Lower bounds: against other routes to the same numbers, and against what protocols attain."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from rr_core import RandomizedResponse, inv_variance, mle_star
from rr_core.plan import bounds
from rr_core.protocols.laws import KEYS
from tests.sentences import holds

USERS = ("fixed", "sampled")
CATEGORIES = (2, 3, 12, 1000, 1_500_000)
EPSILONS = np.geomspace(0.01, 20, 60)


def row(key, k, epsilon, n, users="fixed"):
    return next(bound for bound in bounds.table(k, epsilon, n, users) if bound.key == key)


@pytest.mark.parametrize("k", [2, 3, 50])
@pytest.mark.parametrize("odds", [Fraction(1, 10), 2, 30])
def test_closed_forms_in_exact_arithmetic(k, odds):
    odds, n = Fraction(odds), 700
    power, epsilon = odds + 1, math.log1p(odds)
    p, q = power / (power + k - 1), 1 / (power + k - 1)
    theta = [Fraction(2 * i, k * (k + 1)) for i in range(1, k + 1)]
    total = sum(q * (1 - q) + share * (p - q) * (1 - p - q) for share in theta) / (p - q) ** 2 / n
    error = bounds.protocol_error("rr", k, epsilon, n)
    assert float(error) == pytest.approx(float(total), rel=1e-11)
    assert float(bounds.theorem(k, epsilon, n)) == pytest.approx(float(k / odds**2 / n), rel=1e-11)
    assert float(bounds.limit(k, epsilon, n)) == pytest.approx(k / n / epsilon**2, rel=1e-12)
    assert float(bounds.known(k, epsilon, n)) == pytest.approx(k / (64 * n * epsilon**2), rel=1e-12)
    assert float(bounds.attainable(k, epsilon, n)) == pytest.approx(4 * k / n / epsilon**2, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 40])
def test_theorem_for_fixed_users_follows_from_its_own_steps(k):
    """Eq. (55) put into eq. (52), with as many outputs as categories: the exponent is not the printed one."""
    epsilon, n = 0.7, 900
    delta = (k - 1) * math.log(math.sqrt(2 * math.pi * math.e) / math.expm1(epsilon)) - k * epsilon / 2
    want = k / (2 * math.pi * math.e) * math.exp(2 / (k - 1) * delta) / n
    assert float(bounds.theorem(k, epsilon, n, "fixed")) == pytest.approx(want, rel=1e-12)


@holds("any protocol with an unbiased estimator, at every N; equal shares")
@pytest.mark.parametrize("k", CATEGORIES)
def test_no_protocol_beats_a_bound(k):
    for users in USERS:
        hardest = bounds.equal_shares(k, EPSILONS, 1.0, users)
        assert (bounds.theorem(k, EPSILONS, 1.0, users) <= hardest * (1 + 1e-12)).all()
        for key in KEYS:
            error = bounds.protocol_error(key, k, EPSILONS, 1.0, users)
            assert (error >= hardest * (1 - 1e-12)).all()


@holds(
    "**Nothing is better here:** no protocol with an unbiased estimate has a smaller error at equal shares.",
    "At equal shares Inv under k-RR has **hardly more than** the smallest squared error that any protocol with an unbiased estimate can have.",  # noqa: E501
    "any protocol with an unbiased estimator, at every N; equal shares",
)
@pytest.mark.parametrize("k", [2, 3, 30])
@pytest.mark.parametrize("odds", [Fraction(1, 20), 4, 50])
def test_equal_shares_in_exact_arithmetic(k, odds):
    """(k - 1)^2/(n J), with J maximised over every d."""
    odds = Fraction(odds)
    sizes = range(1, k)
    j = max(k * odds**2 * d * (k - d) / (k + d * odds) ** 2 for d in sizes)
    sampled = Fraction((k - 1) ** 2) / j
    fixed = sampled - (1 - Fraction(1, k))
    epsilon = math.log1p(odds)
    assert float(bounds.equal_shares(k, epsilon, 3)) == pytest.approx(float(sampled / 3), rel=1e-12)
    assert float(bounds.equal_shares(k, epsilon, 3, "fixed")) == pytest.approx(float(fixed / 3), rel=1e-11)


def total_variance(channel, theta):
    """Trace of the inverse Fisher information of one report, on the simplex."""
    k = len(theta)
    tangent = np.linalg.svd(np.ones((1, k)))[2][1:].T
    moved = channel @ tangent
    information = moved.T @ (moved / (channel @ theta)[:, None])
    return np.trace(np.linalg.inv(information))


@holds(
    "**Nothing is better here:** no protocol with an unbiased estimate has a smaller error at equal shares.",
    "At equal shares Inv under k-RR has **hardly more than** the smallest squared error that any protocol with an unbiased estimate can have.",  # noqa: E501
    "At given shares an estimate may do better (a constant, if it is right by luck); an unbiased one may not, at any $N$.",  # noqa: E501
    "any protocol; any unbiased estimator at every N; as N → ∞, any estimator on average over a continuous prior of the shares, with users drawn from them",  # noqa: E501
    "any protocol with an unbiased estimator, at every N; equal shares",
)
def test_random_private_channels_stay_above_the_bounds():
    """Cramér and Rao: an unbiased estimate of any private report is above the theorem everywhere."""
    rng = np.random.default_rng(5)
    nearest = []
    for _ in range(200):
        k = int(rng.integers(2, 6))
        channel = rng.dirichlet(np.ones(k + 4))[:, None] * rng.choice([1.0, 1.5, 4.0], (k + 4, k))
        channel /= channel.sum(axis=0)
        if np.linalg.matrix_rank(channel) < k:
            continue
        epsilon = math.log((channel.max(axis=1) / channel.min(axis=1)).max())
        at_equal = total_variance(channel, np.full(k, 1 / k))
        nearest.append(at_equal / float(bounds.equal_shares(k, epsilon, 1)))
        for spread in (0.05, 1.0, 20.0):  # near the border and far from it
            theta = rng.dirichlet(np.full(k, spread)) * 0.98 + 0.02 / k
            assert total_variance(channel, theta) > float(bounds.theorem(k, epsilon, 1))
    assert 1 <= min(nearest) < 2


@holds(
    "Where the truth is concentrated, repaired estimates can be below the bound, because they are not unbiased."
)
def test_a_repaired_estimate_can_be_below_the_bound_where_the_truth_is_concentrated():
    """It is not unbiased: half of the time Inv is outside the simplex there."""
    rng, mechanism, n = np.random.default_rng(4), RandomizedResponse(12, 1.0), 5000
    people = np.eye(12, dtype=int)[0] * n
    reports = mechanism.randomize_histogram(np.broadcast_to(people, (500, 12)), rng)
    errors = ((mle_star(reports, mechanism) - people / n) ** 2).sum(axis=-1)
    assert errors.mean() + 4 * errors.std() / math.sqrt(500) < float(bounds.equal_shares(12, 1.0, n, "fixed"))


@holds(
    "With so few users the bound at equal shares is not drawn here: a constant answer, 1/K for every category, may be nearer to the truth than any unbiased estimate.",  # noqa: E501
    "At given shares an estimate may do better (a constant, if it is right by luck); an unbiased one may not, at any $N$.",  # noqa: E501
)
def test_a_constant_is_nearer_than_an_unbiased_estimate_may_be_where_there_are_few_users():
    """1/K is never further off than 1 - 1/K, at everybody in one category."""
    furthest = ((np.full(12, 1 / 12) - np.eye(12)[0]) ** 2).sum()
    assert furthest == pytest.approx(1 - 1 / 12)
    assert furthest < float(bounds.equal_shares(12, 0.1, 500, "sampled"))


@pytest.mark.parametrize("users", USERS)
def test_binary_is_exact(users):
    n, theta = 50, np.array([0.5, 0.5])
    variance = inv_variance(theta, n, RandomizedResponse(2, 0.8), users=users).sum()
    assert float(bounds.binary(0.8, n, users)) == pytest.approx(variance, rel=1e-12)
    exact = bounds.binary(EPSILONS, n, users)
    np.testing.assert_allclose(exact, bounds.equal_shares(2, EPSILONS, n, users), rtol=1e-11)
    np.testing.assert_allclose(exact, bounds.protocol_error("rr", 2, EPSILONS, n, users), rtol=1e-11)


@holds("ε → 0; not drawn where no protocol here reaches it")
def test_the_limit_form_is_hidden_where_a_protocol_is_below_it():
    epsilons = np.geomspace(0.01, 20, 250)
    assert not row("limit", 2, epsilons, 1e15).valid.any()
    for k, last in ((3, 2.079), (12, 3.201), (10_000, 4.3470)):
        valid = row("limit", k, epsilons, 1e15).valid
        assert abs(math.log(epsilons[valid].max() / last)) < math.log(2000) / 249
        assert (np.diff(valid.astype(int)) <= 0).all()


def test_where_the_other_rows_are_valid():
    epsilons = np.array([0.01, 0.1, 1.0, 1.1])
    known = row("known", 10, epsilons, 1e5, "sampled")
    assert known.valid.tolist() == [False, True, True, False]
    attained = row("attainable", 2, np.array([0.1, 5.0]), 1e9, "sampled")
    assert attained.valid.tolist() == [True, False]
    assert row("attainable", 2, EPSILONS, 1e9).valid.all()
    few = np.array([0.01, 3.0])
    assert row("theorem", 100, few, 100).valid.tolist() == [False, True]
    assert row("equal", 100, few, 1000).valid.tolist() == [False, True]
    assert row("equal", 100, few, 1000).value[0] > 1 - 1 / 100


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("k", [2, 9])
def test_table_holds_the_functions(k, users):
    rows = {bound.key: bound.value for bound in bounds.table(k, EPSILONS, 1e6, users)}
    want = {
        "theorem": bounds.theorem(k, EPSILONS, 1e6, users),
        "equal": bounds.equal_shares(k, EPSILONS, 1e6, users),
        "limit": bounds.limit(k, EPSILONS, 1e6),
        "attainable": bounds.attainable(k, EPSILONS, 1e6),
    }
    if users == "sampled":
        want["known"] = bounds.known(k, EPSILONS, 1e6)
    if k == 2:
        want["binary"] = bounds.binary(EPSILONS, 1e6, users)
    np.testing.assert_equal(rows, want)


def test_curves_mark_the_place():
    curves = bounds.against_epsilon(EPSILONS, 12, 3.0, 1e5, "sampled")
    assert curves.now == float(bounds.protocol_error("rr", 12, 3.0, 1e5, "sampled"))
    assert curves.floor == float(bounds.equal_shares(12, 3.0, 1e5))
    np.testing.assert_array_equal(curves.inv, bounds.protocol_error("rr", 12, EPSILONS, 1e5, "sampled"))
    assert math.isnan(bounds.against_epsilon(EPSILONS, 1000, 0.01, 100).floor)
