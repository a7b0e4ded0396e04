"""The four protocols: probabilities, variances, bits and where k-RR stops being the best."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse, inv_variance
from rr_core.plan import protocols
from rr_core.plan.protocols import KEYS, compare, flip_epsilon, flip_k, flip_k_of_mean, support

USERS = ("fixed", "sampled")
EPSILONS = st.floats(0.01, 20)
CATEGORIES = st.integers(2, 1_500_000)
SHARES = st.floats(0, 1)
FEW = settings(max_examples=60)


def exact_chances(key, k, root, g):
    """p* and q* from the protocols' definitions, for e^(eps/2) = root."""
    power, one = Fraction(root) ** 2, Fraction(1)
    return {
        "rr": (power / (power + k - 1), one / (power + k - 1)),
        "sue": (Fraction(root) / (root + 1), one / (root + 1)),
        "oue": (Fraction(1, 2), one / (power + 1)),
        "olh": (power / (power + g - 1), Fraction(1, g)),
    }[key]


def exact_variance(p, q, theta, users):
    """Of (share of supporting reports - q)/(p - q) for one report."""
    seen = theta * p + (1 - theta) * q
    fixed = theta * p * (1 - p) + (1 - theta) * q * (1 - q)
    return (fixed if users == "fixed" else seen * (1 - seen)) / (p - q) ** 2


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("k", [2, 3, 12, 1000])
@pytest.mark.parametrize("root", [Fraction(101, 100), Fraction(3, 2), 3, 200])
def test_probabilities_and_variances_are_those_of_the_definitions(key, k, root, users):
    epsilon = 2 * math.log(root)
    made = support(key, k, epsilon)
    p, q = exact_chances(key, k, root, made.hash_range or 2)
    given = (made.p_star, made.q_star, made.keep, made.rest)
    np.testing.assert_allclose(given, [float(x) for x in (p, q, p - q, 1 - p - q)], rtol=1e-12, atol=1e-16)
    for theta in (Fraction(0), Fraction(1, 7), Fraction(1)):
        want = float(exact_variance(p, q, theta, users)) / 500
        assert float(made.variance(float(theta), 500, users)) == pytest.approx(want, rel=1e-11)
        row = compare(k, epsilon, 500, float(theta), users)[KEYS.index(key)]
        assert row.variance == pytest.approx(want, rel=1e-11)
        assert row.rmse == pytest.approx(math.sqrt(want), rel=1e-11)


@FEW
@given(EPSILONS)
def test_every_protocol_spends_exactly_epsilon(epsilon):
    power = math.exp(epsilon)
    for key in ("sue", "oue"):
        made = support(key, 9, epsilon)
        # Two bits differ between two inputs; the worst report has the own bit set and the other not.
        p, q = made.p_star, made.q_star
        assert p * (1 - q) / (q * (1 - p)) == pytest.approx(power, rel=1e-10)
    rr, olh = support("rr", 9, epsilon), support("olh", 9, epsilon)
    assert rr.p_star / rr.q_star == pytest.approx(power, rel=1e-10)
    g = olh.hash_range
    assert (olh.keep + olh.q_star) == pytest.approx(power / (power + g - 1), rel=1e-10)


@FEW
@given(CATEGORIES, EPSILONS, SHARES, st.sampled_from(USERS))
def test_randomized_response_has_the_variance_of_inv(k, epsilon, theta, users):
    mechanism = RandomizedResponse(k, epsilon)
    shares = np.full(2, theta)
    row = compare(k, epsilon, 1000, theta, users)[0]
    if k == 2:
        want = inv_variance(shares, 1000, mechanism, users=users)[0]
        assert row.variance == pytest.approx(want, rel=1e-11)
    p, q = Fraction(mechanism.p), Fraction(mechanism.q)
    want = float(exact_variance(p, q, Fraction(theta), users)) / 1000
    assert row.variance == pytest.approx(want, rel=1e-8)


@FEW
@given(CATEGORIES, EPSILONS, SHARES, st.sampled_from(USERS))
def test_rows_are_finite_and_one_is_best(k, epsilon, theta, users):
    rows = compare(k, epsilon, 10**6, theta, users)
    assert tuple(row.key for row in rows) == KEYS
    (best,) = (row for row in rows if row.best)
    for row in rows:
        assert all(math.isfinite(x) and x > 0 for x in (row.variance, row.rmse, row.bits, row.coded_bits))
        assert 0 < row.q_star < row.p_star <= 1
        assert row.users_relative == pytest.approx(row.variance / best.variance)
        assert row.users_relative >= 1
        assert row.coded_bits <= row.bits * (1 + 1e-12)
        # As many times the users give the best protocol's variance.
        again = compare(k, epsilon, 10**6 * row.users_relative, theta, users)
        assert again[KEYS.index(row.key)].variance == pytest.approx(best.variance)


def reports(key, truth, k, epsilon, rng):
    """(batches, k) how many of the users' reports support each category, by running the protocol."""
    made = support(key, k, epsilon)
    own = np.eye(k, dtype=bool)[truth]  # (batches, users, k)
    if key in ("sue", "oue"):
        return (rng.random(own.shape) < np.where(own, made.p_star, made.q_star)).sum(axis=1)
    if key == "rr":
        sent = RandomizedResponse(k, epsilon).randomize(truth, rng)
        return (sent[..., None] == np.arange(k)).sum(axis=1)
    g = made.hash_range
    hashes = rng.integers(0, g, own.shape)  # every user's own function, as a table
    mine = np.take_along_axis(hashes, truth[..., None], axis=-1)[..., 0]
    sent = RandomizedResponse(g, epsilon).randomize(mine, rng)
    return (hashes == sent[..., None]).sum(axis=1)


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("key", KEYS)
def test_simulated_means_and_variances(key, users):
    k, n, epsilon, batches = 4, 40, 1.2, 5000
    theta = np.array([0.5, 0.3, 0.2, 0.0])
    rng = np.random.default_rng(KEYS.index(key))
    if users == "fixed":
        truth = np.broadcast_to(np.repeat(np.arange(k), (theta * n).astype(int)), (batches, n))
    else:
        truth = rng.choice(k, (batches, n), p=theta)
    made = support(key, k, epsilon)
    estimate = (reports(key, truth, k, epsilon, rng) / n - made.q_star) / made.keep
    variance = made.variance(theta, n, users)
    assert (np.abs(estimate.mean(axis=0) - theta) < 4 * np.sqrt(variance / batches)).all()
    # A sum of 40 independent reports is nearly normal: its sample variance has spread sqrt(2/batches).
    assert (np.abs(estimate.var(axis=0) / variance - 1) < 4 * math.sqrt(2.1 / batches)).all()


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("key", KEYS)
def test_mean_over_categories(key, users):
    k = 6
    for seed in range(3):
        theta = np.random.default_rng(seed).dirichlet(np.ones(k))
        made = support(key, k, 0.8)
        want = made.variance(theta, 300, users).mean()
        got = made.mean_variance(k, 300, users, float((theta**2).sum()))
        assert float(got) == pytest.approx(want, rel=1e-12)
        assert float(made.mean_variance(k, 300, users)) >= want * (1 - 1e-12)
    equal = made.variance(np.full(k, 1 / k), 300, users).mean()
    assert float(made.mean_variance(k, 300, users)) == pytest.approx(equal, rel=1e-12)


@FEW
@given(st.integers(2, 5000), st.fractions(Fraction(51, 50), 60, max_denominator=50))
def test_the_rule_says_exactly_when_randomized_response_beats_oue_on_an_empty_category(k, power):
    rr = exact_variance(power / (power + k - 1), 1 / (power + k - 1), Fraction(0), "fixed")
    oue = exact_variance(Fraction(1, 2), 1 / (power + 1), Fraction(0), "fixed")
    rule = 3 * power + 2
    assert (rr < oue) == (k < rule)
    assert (rr == oue) == (k == rule)
    assert flip_k(math.log(power)) == pytest.approx(float(rule), rel=1e-12)


@FEW
@given(st.floats(0.05, 9), SHARES, st.sampled_from(KEYS[1:]))
def test_flip_k_is_where_the_variances_cross(epsilon, theta, against):
    flip = flip_k(epsilon, against, theta)
    other = KEYS.index(against)
    for k, wins in ((math.floor(flip - 1e-6), True), (math.ceil(flip + 1e-6), False)):
        if k >= 2:
            for users in USERS:
                rows = compare(k, epsilon, 1, theta, users)
                assert (rows[0].variance < rows[other].variance) == wins


def test_flips_at_the_largest_share():
    power = math.exp(2)
    assert flip_k(2, "oue", 1.0) == pytest.approx(power + 3 + 1 / power, rel=1e-12)


@FEW
@given(st.floats(0.05, 6), st.sampled_from(KEYS[1:]))
def test_flip_k_of_the_mean(epsilon, against):
    flip = flip_k_of_mean(epsilon, against)
    for k, wins in ((math.floor(flip - 1e-6), True), (math.ceil(flip + 1e-6), False)):
        if k >= 2:
            means = [float(support(key, k, epsilon).mean_variance(k, 1)) for key in ("rr", against)]
            assert (means[0] < means[1]) == wins
    if against == "oue":
        x = math.exp(epsilon)
        closed = (2 * x + 3 + math.sqrt(8 * x * x + 12 * x + 5)) / 2
        assert flip == pytest.approx(closed, rel=1e-12)


@FEW
@given(st.integers(2, 1_500_000), st.sampled_from(["sue", "oue"]), st.one_of(st.just(0.0), SHARES))
def test_flip_epsilon_undoes_flip_k(k, against, theta):
    epsilon = flip_epsilon(k, against, theta)
    if epsilon > 1e-6:
        assert flip_k(epsilon, against, theta) == pytest.approx(k, rel=1e-6)
    else:
        assert k <= 5 + 1e-6
        assert all(flip_k(e, against, theta) >= k - 1e-9 for e in (1e-6, 0.01, 0.3, 2.0))


@pytest.mark.parametrize("k", [2, 5, 6, 7, 100, 1_500_000])
def test_flip_epsilon_of_an_empty_category(k):
    assert flip_epsilon(k) == (pytest.approx(math.log((k - 2) / 3)) if k > 5 else 0)
    epsilon = flip_epsilon(k, "olh")
    if epsilon > 0:
        assert flip_k(epsilon, "olh") == pytest.approx(k, rel=1e-6)


@FEW
@given(st.floats(0.01, 3.5))
def test_the_whole_hash_range_is_the_best_one(epsilon):
    variances = [float(protocols.local_hashing(epsilon, g).variance(0.0, 1)) for g in range(2, 60)]
    chosen = protocols.hash_range(epsilon)
    assert variances[chosen - 2] == pytest.approx(min(variances), rel=1e-12)
    assert min(variances) >= float(support("oue", 2, epsilon).variance(0.0, 1)) * (1 - 1e-12)


def test_local_hashing_at_the_ideal_range_is_oue():
    power = 7
    hashed, unary = protocols.local_hashing(math.log(power), power + 1), support("oue", 5, math.log(power))
    for theta in (0.0, 0.3):
        assert float(hashed.variance(theta, 9)) == pytest.approx(float(unary.variance(theta, 9)), rel=1e-12)


@pytest.mark.parametrize(("k", "bits"), [(2, 1), (3, 2), (1024, 10), (1025, 11), (1_500_000, 21)])
def test_bits_as_sent(k, bits):
    rr, sue, oue, olh = compare(k, 1.0, 1)
    assert (rr.bits, sue.bits, oue.bits) == (bits, k, k)
    assert olh.hash_range == 4
    assert olh.bits == 2 * max(bits, 2) + 2
    assert rr.coded_bits == pytest.approx(math.log2(k))
    assert olh.coded_bits == pytest.approx(2 * math.log2(max(k, 4)) + 2)


def test_coded_bits_of_unary_encoding():
    """Against the entropy of one coded bit, written out: OUE at e^eps = 3, k = 4 has m = 1/4 + 1/16."""
    oue = compare(4, math.log(3), 1)[2]
    m = 5 / 16
    assert oue.coded_bits == pytest.approx(-4 * (m * math.log2(m) + (1 - m) * math.log2(1 - m)))


def test_curves_hold_the_comparison():
    ks = np.array([2, 30, 10**6])
    curves = protocols.against_k(ks, 30, 1.5, 1000, 0.2, "sampled")
    for i, k in enumerate(ks):
        for row in compare(int(k), 1.5, 1000, 0.2, "sampled"):
            assert curves.rmse[row.key][i] == row.rmse
    assert curves.here == 30
    assert curves.flip == flip_k(1.5, "oue", 0.2)
    assert all(curves.rmse_here[key] == curves.rmse[key][1] for key in KEYS)
    curves = protocols.against_epsilon([0.5, 1.5], 30, 1.5, 1000, 0.2, "sampled")
    assert curves.here == 1.5
    assert curves.flip == flip_epsilon(30, "oue", 0.2)
    assert all(curves.rmse_here[row.key] == row.rmse for row in compare(30, 1.5, 1000, 0.2, "sampled"))
    assert all(curves.rmse[row.key][0] == row.rmse for row in compare(30, 0.5, 1000, 0.2, "sampled"))


@pytest.mark.parametrize("users", USERS)
def test_curves_of_the_mean_over_all_categories(users):
    curves = protocols.against_k([7, 60], 7, 1.5, 1000, users=users)
    for key in KEYS:
        means = [float(support(key, k, 1.5).mean_variance(k, 1000, users)) for k in (7, 60)]
        np.testing.assert_allclose(curves.rmse[key] ** 2, means, rtol=1e-12)
    assert curves.flip == flip_k_of_mean(1.5)
    assert curves.theta_share is None
    # Where the mean flips in epsilon, it flips in k.
    flip = protocols.against_epsilon([1.0, 2.0], 60, 1.5, 1000, users=users).flip
    assert flip_k_of_mean(flip) == pytest.approx(60, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: compare(1, 1.0, 10), "k must be an integer >= 2, got 1"),
        (lambda: compare(3, 0.0, 10), "epsilon must be .*, got 0.0"),
        (lambda: compare(3, 301.0, 10), "epsilon must be .*300, got 301.0"),
        (lambda: compare(3, 1.0, 0), "n must be a number > 0, got 0"),
        (lambda: compare(3, 1.0, 10, 1.5), "theta_share must be a number from 0 to 1, got 1.5"),
        (lambda: compare(3, 1.0, 10, 0.5, "both"), "users must be 'fixed' or 'sampled', got 'both'"),
        (lambda: support("grr", 3, 1.0), "key must be one of rr, sue, oue, olh, got 'grr'"),
        (lambda: flip_k(1.0, "rr"), "against must be one of sue, oue, olh, got 'rr'"),
        (lambda: protocols.local_hashing(1.0, 1), "g must be an integer >= 2, got 1"),
        (lambda: support("rr", 3, 1.0).mean_variance(3, 1, "x"), "users must be"),
    ],
)
def test_errors_name_the_argument(call, named):
    with pytest.raises(ValueError, match=named):
        call()
