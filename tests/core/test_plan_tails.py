"""The tails of a plan against exact rational arithmetic, convolutions and brute force."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rr_core import RandomizedResponse
from rr_core.plan import tails
from tests.core import exact


def exact_tail(n: int, m: Fraction, least: int) -> Fraction:
    """Pr(c >= least) for c of Binomial(n, m)."""
    return sum(exact.binomial(n, m)[max(least, 0) :], Fraction(0))


def over(n, m, distance):
    one = np.array([float(n)])
    return tails.binomial_tail(
        one, np.array([float(m)]), np.array([float(1 - m)]), np.array([float(distance)])
    )[0]


@pytest.mark.parametrize("m", [Fraction(1, 7), Fraction(1, 2), Fraction(5, 6)])
@pytest.mark.parametrize("n", [1, 5, 12])
def test_the_smooth_tail_is_the_exact_one_at_whole_numbers_and_never_below_it(n, m):
    for twentieth in range(1, 21):
        distance = Fraction(twentieth, 20) * (1 - m)
        limit = n * (m + distance)
        exact = float(exact_tail(n, m, math.floor(limit) + 1))
        got = over(n, m, distance)
        if distance == 1 - m:
            assert got == exact == 0
        else:
            assert got >= exact * (1 - 1e-12)
            # The tip of the tooth: a whole number of reports counts as beyond itself.
            assert got <= float(exact_tail(n, m, math.floor(limit))) * (1 + 1e-12)


def test_the_smooth_tail_at_a_whole_number_is_exact():
    n, m = 10, Fraction(1, 5)
    for c in (3, 5, 8):
        got = over(n, m, Fraction(c, n) - m)
        assert got == pytest.approx(float(exact_tail(n, m, c)), rel=1e-12)
    # Beyond a half, by the complement.
    got = over(n, 1 - m, Fraction(9, n) - (1 - m))
    assert got == pytest.approx(float(exact_tail(n, 1 - m, 9)), rel=1e-12)


def test_a_tail_beside_probability_one_keeps_its_digits():
    rest, n = 2e-9, 1e10
    got = tails.binomial_tail(np.array([n]), np.array([rest]), np.array([1 - rest]), np.array([3e-9]))[0]
    mirrored = tails.binomial_tail(np.array([n]), np.array([1 - rest]), np.array([rest]), np.array([1.9e-9]))[
        0
    ]
    # Close to Poisson with mean 20.
    assert got == pytest.approx(stats.poisson.sf(49, 20), rel=1e-6)
    assert mirrored == pytest.approx(stats.poisson.cdf(1, 20), rel=1e-5)


@settings(max_examples=50)
@given(st.floats(0.5, 7), st.floats(-5, -0.01), st.floats(0.3, 6))
def test_the_smooth_tail_falls_as_users_come(log_n, log_m, sigmas):
    n, m = 10**log_n, 10**log_m
    distance = sigmas * math.sqrt(m * (1 - m) / n)
    several = n * np.array([1, 1.01, 1.5, 10])
    tail = tails.binomial_tail(several, np.array(m), np.array(1 - m), np.array(distance))
    assert (np.diff(tail) <= 1e-12 * tail[:-1]).all()


@pytest.mark.parametrize(("n", "q", "level"), [(10, 0.1, 0.01), (1000, 0.001, 1e-5), (400, 0.5, 1e-3)])
def test_the_threshold_rounded_up_is_the_exact_one(n, q, level):
    exact = next(c for c in range(n + 2) if stats.binom.sf(c - 1, n, q) <= level)
    got = tails.detection_threshold(np.array([float(n)]), np.array([q]), level)[0]
    assert math.ceil(got) == exact


def test_no_threshold_where_even_all_reports_are_not_rare_enough():
    assert tails.detection_threshold(np.array([3.0]), np.array([0.5]), 0.01)[0] > 3
    assert tails.binomial_at_least(np.array([3.0]), np.array([4.0]), np.array([0.5]))[0] == 0


def exact_overtaken(n: int, m: Fraction, behind: Fraction) -> Fraction:
    """Pr(c_i <= c_j) for the first two counts of a trinomial."""
    other, total = 1 - m - behind, Fraction(0)
    for a, b in itertools.product(range(n + 1), repeat=2):
        if a <= b and a + b <= n:
            ways = math.comb(n, a) * math.comb(n - a, b)
            total += ways * m**a * behind**b * other ** (n - a - b)
    return total


@pytest.mark.parametrize("n", [1, 2, 7, 20])
@pytest.mark.parametrize(
    ("m", "behind"),
    [
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(3, 5), Fraction(2, 5)),
        (Fraction(3, 5), Fraction(3, 10)),
        (Fraction(1, 3), Fraction(1, 4)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Fraction(1, 5), Fraction(1, 1000)),
    ],
)
def test_the_bound_on_being_overtaken_is_a_bound(n, m, behind):
    exact = float(exact_overtaken(n, m, behind))
    got = tails.overtaken_sampled(*(np.array([float(x)]) for x in (n, m, behind, m - behind)))[0]
    assert exact * (1 - 1e-12) <= got <= 1


@pytest.mark.parametrize("n", [1e3, 1e6, 1e10])
@pytest.mark.parametrize(("m", "behind"), [(0.01, 0.008), (0.3, 0.2), (0.55, 0.45)])
def test_the_bound_on_being_overtaken_is_tight(n, m, behind):
    """Where it is a few percent, at most a seventh above the normal law: under a tenth of the users."""
    z = 1.9
    # Both moved so that the difference is z standard deviations.
    gap = z * math.sqrt((m + behind) / n)
    upper, lower = (m + behind + gap) / 2, (m + behind - gap) / 2
    got = tails.overtaken_sampled(*(np.array([x]) for x in (n, upper, lower, gap)))[0]
    variance = upper + lower - gap**2
    half = 0.5 / math.sqrt(n * variance)  # a tie counts
    exact = stats.norm.sf(gap * math.sqrt(n / variance) - half)
    assert 0.97 * exact <= got <= 1.16 * exact + 0.2 * half


def test_roots_of_steps_and_infinities():
    def function(x, at):
        return np.where(x < np.array([2.0, 0.3, 5.0])[at], np.array([1.0, np.inf, 3.0])[at], -np.inf)

    got = tails.decreasing_root(function, np.zeros(3), np.full(3, 10.0), 1e-9)
    assert got == pytest.approx([2, 0.3, 5], rel=2e-9)
    assert (function(got, np.arange(3)) <= 0).all()


def bound(n, theta, a, b, distance, fine):
    one = [np.array([float(x)]) for x in (n, theta, a, b, 1 - a, 1 - b, distance)]
    return tails.fixed_users_tail(one[0], one[1], (one[2], one[3]), (one[4], one[5]), one[6], fine=fine)[0]


def law_of_two(n, t, a, b):
    """Exact law of Binomial(t, a) + Binomial(n - t, b)."""
    return np.convolve(stats.binom.pmf(range(t + 1), t, a), stats.binom.pmf(range(n - t + 1), n - t, b))


CHANCE = st.floats(1e-4, 1 - 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("fine", [False, True])
@settings(max_examples=150)
@given(st.integers(1, 600), st.floats(0, 1), CHANCE, CHANCE, st.floats(0.01, 1))
def test_the_tail_is_never_above_its_bound(fine, n, share, a, b, far):
    t = round(share * n)
    law = law_of_two(n, t, a, b)
    mean = t * a + (n - t) * b
    limit = mean + far * (n - mean) * 0.999
    if limit - mean < 1e-6:
        return
    exact = law[math.ceil(limit - 1e-9) :].sum()
    assert bound(n, t / n, a, b, (limit - mean) / n, fine) >= exact * (1 - 1e-9) - 1e-14


@pytest.mark.parametrize(("fine", "most"), [(False, 1.12), (True, 1.03)])
def test_the_bound_is_close_to_the_tail(fine, most):
    """At whole numbers of reports one and a half to three and a half deviations out."""
    for n, share, a, b in itertools.product(
        (2000, 6000), (0.02, 0.2, 0.5, 1.0), (0.235, 0.76, 0.99), (0.0319, 0.24)
    ):
        t = round(n * share)
        law, mean = law_of_two(n, t, a, b), t * a + (n - t) * b
        deviation = math.sqrt(t * a * (1 - a) + (n - t) * b * (1 - b))
        if deviation < 15:
            continue
        for far in (1.5, 2.0, 2.5, 3.5):
            c = round(mean + far * deviation)
            exact = law[c:].sum()
            assert exact * (1 - 1e-9) <= bound(n, t / n, a, b, (c - mean) / n, fine) <= exact * most


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.floats(0, 9),
    st.floats(0, 1),
    CHANCE,
    CHANCE,
    st.floats(1e-4, 0.99),
    st.floats(1.0001, 10),
    st.booleans(),
)
def test_the_bound_falls_as_users_come(log_n, theta, a, b, far, factor, fine):
    distance = far * (1 - theta * a - (1 - theta) * b)
    before, after = (bound(n, theta, a, b, distance, fine) for n in (10**log_n, 10**log_n * factor))
    assert after <= before * (1 + 1e-9)


def law_of_steps(n, up, down):
    """Exact law of the sum of n steps of 1, 0 or -1, from -n to n."""
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [down, 1 - up - down, up])
    return law


@settings(max_examples=120, deadline=None)
@given(st.integers(2, 60), st.floats(0.05, 9), st.integers(1, 60), st.integers(0, 59), st.integers(0, 60))
def test_the_chance_of_being_overtaken_is_never_above_its_bound(k, epsilon, ahead, behind, others):
    if behind >= ahead:
        ahead, behind = behind + 1, ahead
    others = 0 if k == 2 else others
    n, mechanism = ahead + behind + others, RandomizedResponse(k, epsilon)
    p, q = mechanism.p, mechanism.q
    law = np.convolve(law_of_steps(ahead, p, q), law_of_steps(behind, q, p))
    exact = np.convolve(law, law_of_steps(others, q, q))[: n + 1].sum()
    one = [np.array([float(x)]) for x in (n, q, mechanism.keep)]
    got = tails.overtaken_fixed(*one, k - 2, np.array([ahead / n]), np.array([behind / n]))[0]
    assert exact * (1 - 1e-9) - 1e-13 <= got <= 1


@pytest.mark.parametrize(("k", "epsilon"), [(12, 1.0), (20, 2.0), (100, 4.0), (5, 3.0)])
def test_the_bound_on_being_overtaken_is_close(k, epsilon):
    """Against the normal law with half a count for ties, where it is a few per cent: within a fifth."""
    mechanism, shares = RandomizedResponse(k, epsilon), (0.3, 0.2)
    p, q = mechanism.p, mechanism.q
    own = p + q - mechanism.keep**2
    per_user = 0.5 * own + 0.5 * 2 * q
    n = (1.9 / (mechanism.keep * 0.1)) ** 2 * per_user
    exact = stats.norm.sf((n * mechanism.keep * 0.1 - 0.5) / math.sqrt(n * per_user))
    one = [np.array([x]) for x in (n, q, mechanism.keep)]
    got = tails.overtaken_fixed(*one, k - 2, np.array([shares[0]]), np.array([shares[1]]))[0]
    assert 0.95 * exact <= got <= 1.2 * exact
