"""The tails of a plan against exact rational arithmetic and brute force."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rr_core.plan import tails
from rr_core.plan.guess import Guess
from rr_core.populations import zipf


def exact_tail(n: int, m: Fraction, least: int) -> Fraction:
    """Pr(c >= least) for c of Binomial(n, m)."""
    return sum(
        (math.comb(n, c) * m**c * (1 - m) ** (n - c) for c in range(max(least, 0), n + 1)), start=Fraction(0)
    )


def over(n, m, distance):
    one = np.array([float(n)])
    return tails.beyond(one, np.array([float(m)]), np.array([float(1 - m)]), np.array([float(distance)]))[0]


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
    got = tails.beyond(np.array([n]), np.array([rest]), np.array([1 - rest]), np.array([3e-9]))[0]
    mirrored = tails.beyond(np.array([n]), np.array([1 - rest]), np.array([rest]), np.array([1.9e-9]))[0]
    # Close to Poisson with mean 20.
    assert got == pytest.approx(stats.poisson.sf(49, 20), rel=1e-6)
    assert mirrored == pytest.approx(stats.poisson.cdf(1, 20), rel=1e-5)


@settings(max_examples=50)
@given(
    st.floats(0.5, 7),
    st.floats(-5, -0.01),
    st.floats(0.3, 6),
)
def test_the_smooth_tail_falls_as_users_come(log_n, log_m, sigmas):
    n, m = 10**log_n, 10**log_m
    distance = sigmas * math.sqrt(m * (1 - m) / n)
    several = n * np.array([1, 1.01, 1.5, 10])
    tail = tails.beyond(several, np.array(m), np.array(1 - m), np.array(distance))
    assert (np.diff(tail) <= 1e-12 * tail[:-1]).all()


@pytest.mark.parametrize(("n", "q", "level"), [(10, 0.1, 0.01), (1000, 0.001, 1e-5), (400, 0.5, 1e-3)])
def test_the_threshold_rounded_up_is_the_exact_one(n, q, level):
    exact = next(c for c in range(n + 2) if stats.binom.sf(c - 1, n, q) <= level)
    got = tails.threshold(np.array([float(n)]), np.array([q]), level)[0]
    assert math.ceil(got) == exact


def test_no_threshold_where_even_all_reports_are_not_rare_enough():
    assert tails.threshold(np.array([3.0]), np.array([0.5]), 0.01)[0] > 3
    assert tails.at_least(np.array([3.0]), np.array([4.0]), np.array([0.5]))[0] == 0


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
    got = tails.overtaken(*(np.array([float(x)]) for x in (n, m, behind, m - behind)))[0]
    assert exact * (1 - 1e-12) <= got <= 1


@pytest.mark.parametrize("n", [1e3, 1e6, 1e10])
@pytest.mark.parametrize(("m", "behind"), [(0.01, 0.008), (0.3, 0.2), (0.55, 0.45)])
def test_the_bound_on_being_overtaken_is_tight(n, m, behind):
    """Where it is a few percent, at most a seventh above the normal law: under a tenth of the users."""
    z = 1.9
    # Both moved so that the difference is z standard deviations.
    gap = z * math.sqrt((m + behind) / n)
    upper, lower = (m + behind + gap) / 2, (m + behind - gap) / 2
    got = tails.overtaken(*(np.array([x]) for x in (n, upper, lower, gap)))[0]
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


def test_few_evaluations_for_a_smooth_root():
    seen = []

    def function(x, at):
        seen.append(x.size)
        return np.log(3.0 / x)

    assert tails.decreasing_root(function, np.array([0.1]), np.array([50.0]), 1e-13)[0] == pytest.approx(
        3, rel=1e-12
    )
    assert len(seen) <= 25


@settings(max_examples=50)
@given(st.integers(100, 3000), st.floats(0, 3), st.integers(0, 5))
def test_levels_keep_number_and_sum_and_bound_convex_sums(k, s, after):
    shares = zipf(k, s)
    levels, weights = Guess.of(k, shares).levels(after)
    rest = shares[after:]
    assert weights.sum() == pytest.approx(k - after, rel=1e-9)
    assert weights @ levels == pytest.approx(rest.sum(), rel=1e-9)
    assert (weights >= 0).all()
    convex = weights @ levels**2
    # At most an eighth of the squared width of a level too much.
    assert rest @ rest * (1 - 1e-9) <= convex <= rest @ rest * 1.01


def test_few_shares_are_their_own_levels():
    levels, weights = Guess.of(5, [2, 0, 0, 6, 2]).levels()
    assert levels == pytest.approx([0, 0.2, 0.6])
    assert weights.tolist() == [2, 2, 1]
    # A long population with empty categories keeps zero as a level.
    long = np.concatenate([np.zeros(50), np.arange(1, 200)])
    levels, weights = Guess.of(249, long).levels()
    assert levels[0] == 0
    assert weights[0] == 50
    assert weights.sum() == pytest.approx(249)


def test_a_guess_says_what_is_wrong_with_it():
    with pytest.raises(ValueError, match="theta must be a guess of k = 3"):
        Guess.of(3, Guess.of(4, np.ones(4)))
    with pytest.raises(ValueError, match="shape"):
        Guess.of(2, np.ones((3, 2)))
    with pytest.raises(ValueError, match="worst case"):
        Guess.of(3, None).levels()
    assert Guess.of(3, None).sum_of_squares is None
    assert Guess.of(4, np.ones(4)).sum_of_squares == pytest.approx(0.25)
