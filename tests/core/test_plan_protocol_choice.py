"""The six protocols: probabilities, variances, bits and where k-RR stops being the best."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.plan import protocol_choice
from rr_core.plan.bounds import equal_shares
from rr_core.plan.protocol_choice import compare, flip_epsilon, flip_k, flip_k_of_mean
from rr_core.protocols import laws
from rr_core.protocols.laws import KEYS, support
from tests.core import exact
from tests.sentences import holds

USERS = ("fixed", "sampled")
EPSILONS = st.floats(0.01, 20)
CATEGORIES = st.integers(2, 1_500_000)
SHARES = st.floats(0, 1)
PURE = tuple(key for key in KEYS if key != "hr")  # Hadamard response: see test_protocols_hadamard.py
FEW = settings(max_examples=40)


def exact_chances(key, k, root, g, d):
    """p* and q* from the protocols' definitions, for e^(eps/2) = root."""
    power, one = Fraction(root) ** 2, Fraction(1)
    if key == "subset":
        # Sets with one's own category, and all weights; then sets with one's own and one other, or without one's own.
        own, others = power * math.comb(k - 1, d - 1), math.comb(k - 1, d)
        both, other = power * math.comb(k - 2, d - 2) if d > 1 else 0, math.comb(k - 2, d - 1)
        return own / (own + others), (both + other) / (own + others)
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


@holds(
    "Subset selection: $p^* = \\frac{d e^\\varepsilon}{d e^\\varepsilon + K - d}$, $q^* = \\frac{p^*(d-1) + (1-p^*)d}{K-1}$ with the best $d$, next to $K/(e^\\varepsilon + 1)$; it is 1, and k-RR as good, exactly when $K(K-3) \\le 2(e^{2\\varepsilon} - 1)$.",  # noqa: E501
    "A protocol: each person names several categories, their own one more often among them than by chance.",
)
@pytest.mark.parametrize("key", PURE)
@pytest.mark.parametrize("k", [2, 12, 1000])
@pytest.mark.parametrize("root", [Fraction(101, 100), 3, 200])
def test_probabilities_and_variances_are_those_of_the_definitions(key, k, root):
    epsilon = 2 * math.log(root)
    made = support(key, k, epsilon)
    p, q = exact_chances(key, k, root, made.hash_range or 2, made.subset_size)
    given = (made.p_star, made.q_star, made.keep, made.rest)
    np.testing.assert_allclose(given, [float(x) for x in (p, q, p - q, 1 - p - q)], rtol=1e-12, atol=1e-16)
    for users, theta in product(USERS, (Fraction(0), Fraction(1, 7), Fraction(1))):
        want = float(exact_variance(p, q, theta, users)) / 500
        assert float(made.variance(float(theta), 500, users)) == pytest.approx(want, rel=1e-11)
        row = compare(k, epsilon, 500, float(theta), users)[KEYS.index(key)]
        assert row.variance == pytest.approx(want, rel=1e-11)
        assert row.rmse == pytest.approx(math.sqrt(want), rel=1e-11)


@FEW
@given(CATEGORIES, EPSILONS, SHARES, st.sampled_from(USERS))
def test_rows_are_finite_and_one_is_best(k, epsilon, theta, users):
    rows = compare(k, epsilon, 10**6, theta, users)
    assert tuple(row.key for row in rows) == KEYS
    (best,) = (row for row in rows if row.best)
    for row in rows:
        assert all(math.isfinite(x) and x > 0 for x in (row.variance, row.rmse, row.bits, row.coded_bits))
        assert 0 < row.law.q_star < row.law.p_star <= 1
        assert row.users_relative == pytest.approx(row.variance / best.variance)
        assert row.users_relative >= 1
        assert row.coded_bits <= row.bits * (1 + 1e-12)
        # As many times the users give the best protocol's variance.
        again = compare(k, epsilon, 10**6 * row.users_relative, theta, users)
        assert again[KEYS.index(row.key)].variance == pytest.approx(best.variance)


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("key", KEYS)
def test_mean_over_categories(key, users):
    """The same for all fixed users, and for sampled ones the largest at equal shares."""
    k, made = 6, support(key, 6, 0.8)
    equal = made.variance(np.full(k, 1 / k), 300, users).mean()
    assert float(made.mean_variance(k, 300, users)) == pytest.approx(equal, rel=1e-12)
    theta = np.random.default_rng(1).dirichlet(np.ones(k))
    less = ((theta**2).sum() - 1 / k) / k / 300 if users == "sampled" else 0.0
    assert made.variance(theta, 300, users).mean() == pytest.approx(equal - less, rel=1e-12)


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
@given(st.floats(0.05, 9), SHARES)
def test_flip_k_is_where_the_variances_cross(epsilon, theta):
    flip = flip_k(epsilon, theta)
    other = KEYS.index("oue")
    for k, wins in ((math.floor(flip - 1e-6), True), (math.ceil(flip + 1e-6), False)):
        if k >= 2:
            for users in USERS:
                rows = compare(k, epsilon, 1, theta, users)
                assert (rows[0].variance < rows[other].variance) == wins


@FEW
@given(st.floats(0.05, 6))
def test_flip_k_of_the_mean(epsilon):
    flip = flip_k_of_mean(epsilon)
    for k, wins in ((math.floor(flip - 1e-6), True), (math.ceil(flip + 1e-6), False)):
        if k >= 2:
            means = [float(support(key, k, epsilon).mean_variance(k, 1)) for key in ("rr", "oue")]
            assert (means[0] < means[1]) == wins
    x = math.exp(epsilon)
    closed = (2 * x + 3 + math.sqrt(8 * x * x + 12 * x + 5)) / 2
    assert flip == pytest.approx(closed, rel=1e-12)


@FEW
@given(st.integers(2, 1_500_000), st.one_of(st.just(0.0), SHARES))
def test_flip_epsilon_undoes_flip_k(k, theta):
    epsilon = flip_epsilon(k, theta)
    if epsilon > 1e-6:
        assert flip_k(epsilon, theta) == pytest.approx(k, rel=1e-6)
    else:
        assert k <= 5 + 1e-6
        assert all(flip_k(e, theta) >= k - 1e-9 for e in (1e-6, 0.01, 0.3, 2.0))


@FEW
@given(st.floats(0.01, 3.5))
def test_the_whole_hash_range_is_the_best_one(epsilon):
    variances = [float(laws.local_hashing(epsilon, g).variance(0.0, 1)) for g in range(2, 60)]
    chosen = laws.hash_range(epsilon)
    assert variances[chosen - 2] == pytest.approx(min(variances), rel=1e-12)
    assert min(variances) >= float(support("oue", 2, epsilon).variance(0.0, 1)) * (1 - 1e-12)


@holds(
    "A protocol: each person hashes the answer to about $e^ε + 1$ values, randomizes that, and sends it with the hash function: reports grow by 2 bits at most when K doubles."  # noqa: E501
)
@pytest.mark.parametrize("epsilon", [0.01, 4.0, 20.0])
def test_a_report_of_local_hashing_grows_with_k_by_the_hash_function_alone(epsilon):
    bits = {k: support("olh", k, epsilon).bits(k) for k in {*range(2, 600), *(2**i for i in range(1, 24))}}
    grown = [bits[2 * k] - bits[k] for k in bits if 2 * k in bits]
    assert min(grown) >= 0
    assert max(grown) == (2 if epsilon < 10 else 0)


@pytest.mark.parametrize(("k", "bits"), [(2, 1), (1024, 10), (1025, 11), (1_500_000, 21)])
def test_bits_as_sent(k, bits):
    rr, subset, sue, oue, olh, hr = compare(k, 1.0, 1)
    assert bits <= hr.bits <= math.log2(k) + 2
    assert subset.bits == min(k, subset.law.subset_size * bits)
    if k < 2000:
        assert subset.coded_bits == pytest.approx(math.log2(math.comb(k, subset.law.subset_size)), rel=1e-9)
    assert (rr.bits, sue.bits, oue.bits) == (bits, k, k)
    assert olh.law.hash_range == 4
    assert olh.bits == 2 * max(bits, 2) + 2
    assert rr.coded_bits == pytest.approx(math.log2(k))
    assert olh.coded_bits == pytest.approx(2 * math.log2(max(k, 4)) + 2)


def test_coded_bits_of_unary_encoding():
    """Against the entropy of one coded bit, written out: OUE at e^eps = 3, k = 4 has m = 1/4 + 1/16."""
    oue = compare(4, math.log(3), 1)[3]
    m = 5 / 16
    assert oue.coded_bits == pytest.approx(-4 * (m * math.log2(m) + (1 - m) * math.log2(1 - m)))


@pytest.mark.parametrize("users", USERS)
def test_curves_hold_the_comparison(users):
    ks = np.array([2, 30, 10**6])
    curves = protocol_choice.against_k(ks, 30, 1.5, 1000, users)
    for i, k in enumerate(ks):
        for row in compare(int(k), 1.5, 1000, 1 / k, users):
            assert curves.rmse[row.key][i] == row.rmse
    assert curves.here == 30
    assert (curves.single, curves.flip) == (protocol_choice.single_k(1.5), flip_k_of_mean(1.5))
    assert all(curves.rmse_here[key] == curves.rmse[key][1] for key in KEYS)
    curves = protocol_choice.against_epsilon([0.5, 1.5], 30, 1.5, 1000, users)
    assert curves.here == 1.5
    assert curves.single == protocol_choice.single_epsilon(30)
    # Where the mean flips in epsilon, it flips in k.
    assert flip_k_of_mean(curves.flip) == pytest.approx(30, rel=1e-9)
    for row in compare(30, 0.5, 1000, 1 / 30, users):
        assert curves.rmse[row.key][0] == row.rmse


def mean_error(k, odds, d):
    """Of subset selection over all categories, for one fixed user, in fractions."""
    own, others = (odds + 1) * math.comb(k - 1, d - 1), math.comb(k - 1, d)
    p = Fraction(own) / (own + others)
    q = (p * (d - 1) + (1 - p) * d) / (k - 1)
    return exact_variance(p, q, Fraction(1, k), "fixed")


@holds(
    "Subset selection: $p^* = \\frac{d e^\\varepsilon}{d e^\\varepsilon + K - d}$, $q^* = \\frac{p^*(d-1) + (1-p^*)d}{K-1}$ with the best $d$, next to $K/(e^\\varepsilon + 1)$; it is 1, and k-RR as good, exactly when $K(K-3) \\le 2(e^{2\\varepsilon} - 1)$.",  # noqa: E501
    "A report names $d$ categories; the best $d$ is next to $K/(e^ε+1)$.",
    "With $d=1$ it is k-RR, which is best in the mean over all categories exactly while $K(K-3)\\le2(e^{2ε}-1)$ (`protocol_choice.single_k`).",  # noqa: E501
    "Subset selection is best with 1 category per report here: that is k-RR.",
)
@FEW
@given(st.integers(2, 60), st.fractions(Fraction(1, 40), 80, max_denominator=40))
def test_the_size_of_the_subsets_is_the_best_one_of_all(k, odds):
    errors = [mean_error(k, odds, d) for d in range(1, k)]
    epsilon = math.log1p(odds)
    best = laws.subset_size(k, epsilon)
    assert float(errors[best - 1]) == pytest.approx(float(min(errors)), rel=1e-9)
    # Single categories are best, k-RR, exactly while k (k - 3) <= 2 (e^(2 eps) - 1).
    assert (errors[0] == min(errors)) == (k * (k - 3) <= 2 * ((odds + 1) ** 2 - 1))
    border = (k * (k - 3), 2 * ((odds + 1) ** 2 - 1))
    if abs(border[0] - border[1]) > 1e-6 * (1 + border[1]):
        assert (k <= protocol_choice.single_k(epsilon)) == (border[0] < border[1])
        assert (epsilon >= protocol_choice.single_epsilon(k)) == (border[0] < border[1])


@FEW
@given(CATEGORIES, EPSILONS, st.sampled_from(USERS))
def test_in_the_mean_over_all_categories_none_is_below_subset_selection(k, epsilon, users):
    rows = compare(k, epsilon, 1000, 1 / k, users)
    least = min(row.variance for row in rows)
    assert rows[1].variance == pytest.approx(least, rel=1e-9)
    assert rows[1].variance == pytest.approx(float(equal_shares(k, epsilon, 1000, users)) / k, rel=1e-9)
    assert rows[0].best == (rows[1].law.subset_size == 1)


@pytest.mark.parametrize("key", PURE)
@pytest.mark.parametrize("k", [2, 1000, 1_500_000])
@pytest.mark.parametrize("epsilon", [1e-6, 36.0, 700.0])
def test_laws_are_exact_at_both_ends_of_epsilon(key, k, epsilon):
    """Against fractions, whose e^epsilon has 120 digits; also where its square is beyond the largest double."""
    made = support(key, k, epsilon)
    odds, root = (exact.channel_from_epsilon(2, part).odds for part in (epsilon, epsilon / 2))
    d, g = Fraction(made.subset_size or 1), Fraction(made.hash_range or 2)
    p = {
        "rr": (odds + 1) / (odds + k),
        "subset": d * (odds + 1) / (d * odds + k),
        "sue": (root + 1) / (root + 2),
        "oue": Fraction(1, 2),
        "olh": (odds + 1) / (odds + g),
    }[key]
    q = {
        "rr": 1 / (odds + k),
        "subset": (p * (d - 1) + (1 - p) * d) / (k - 1),
        "sue": 1 / (root + 2),
        "oue": 1 / (odds + 2),
        "olh": 1 / g,
    }[key]
    given = (made.p_star, made.q_star, made.keep)
    np.testing.assert_allclose(given, [float(x) for x in (p, q, p - q)], rtol=2e-12)
    for theta in (Fraction(0), Fraction(1, k), Fraction(1, 2)):
        variance = float(exact_variance(p, q, theta, "fixed"))
        assert float(made.variance(float(theta), 1)) == pytest.approx(variance, rel=2e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 36.0, 700.0])
def test_borders_are_exact_at_both_ends_of_epsilon(epsilon):
    x = exact.channel_from_epsilon(2, epsilon).odds + 1
    assert flip_k(epsilon) == pytest.approx(float(3 * x + 2), rel=2e-12)
    assert flip_k_of_mean(epsilon) == pytest.approx(
        float(2 * x + 3) / 2 + math.sqrt(float(8 + 12 / x + 5 / x**2)) * float(x) / 2, rel=2e-12
    )
    assert protocol_choice.single_k(epsilon) == pytest.approx(
        1.5 + math.sqrt(float(8 + 1 / x**2)) * float(x) / 2, rel=2e-12
    )
