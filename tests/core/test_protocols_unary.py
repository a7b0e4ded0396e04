"""Unary encoding: what it grants, its laws, and Inv, InvN and InvP from the support; against exact rationals."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core.protocols import Channel, UnaryEncoding, inv, inv_n_unary, inv_p_unary
from tests.core.exact import project
from tests.core.laws import check_moments, chi_square_p

SAMPLES = 20_000
# e^(epsilon/2), rational, so that p and q are.
ROOTS = (Fraction(3, 2), Fraction(2), Fraction(5))


def exact_chances(root: Fraction, optimized: bool) -> tuple[Fraction, Fraction]:
    """p and q, for e^(epsilon/2) = root."""
    if optimized:
        return Fraction(1, 2), 1 / (root**2 + 1)
    return root / (root + 1), 1 / (root + 1)


def encoding(k: int, root: Fraction, optimized: bool) -> UnaryEncoding:
    return UnaryEncoding(k, 2 * math.log(root), optimized)


def chance_of_report(report: tuple[int, ...], truth: int, p: Fraction, q: Fraction) -> Fraction:
    of_one = [p if i == truth else q for i in range(len(report))]
    return math.prod(
        (one if bit else 1 - one for bit, one in zip(report, of_one, strict=True)), start=Fraction(1)
    )


def support_law(people: tuple[int, ...], p: Fraction, q: Fraction) -> dict[tuple[int, ...], Fraction]:
    """The probability of every support, user by user, over all reports."""
    k = len(people)
    law = {(0,) * k: Fraction(1)}
    for truth, users in enumerate(people):
        of_one = {y: chance_of_report(y, truth, p, q) for y in itertools.product((0, 1), repeat=k)}
        for _ in range(users):
            after: dict[tuple[int, ...], Fraction] = {}
            for (ones, weight), (y, chance) in itertools.product(law.items(), of_one.items()):
                key = tuple(a + b for a, b in zip(ones, y, strict=True))
                after[key] = after.get(key, Fraction(0)) + weight * chance
            law = after
    return law


def decimal_chances(epsilon: float, optimized: bool) -> tuple[Decimal, Decimal]:
    """p and q to 60 digits or more of p - q; use within a localcontext."""
    one = Decimal(1)
    if optimized:
        return one / 2, one / (Decimal(epsilon).exp() + 1)
    root = (Decimal(epsilon) / 2).exp()
    return root / (root + 1), one / (root + 1)


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_epsilon_is_granted_exactly(k, root, optimized):
    """The largest ratio of the chances of one report under two truths is e^epsilon, over all reports."""
    p, q = exact_chances(root, optimized)
    rows = [
        [chance_of_report(y, truth, p, q) for y in itertools.product((0, 1), repeat=k)] for truth in range(k)
    ]
    assert max(max(column) / min(column) for column in zip(*rows, strict=True)) == root**2
    made = encoding(k, root, optimized)
    assert (made.p, made.q) == (pytest.approx(float(p), rel=1e-15), pytest.approx(float(q), rel=1e-15))
    assert Channel(np.array(rows, dtype=float)).epsilon == pytest.approx(made.epsilon, rel=1e-12)


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 5.0, 40.0, 700.0])
def test_chances_keep_their_digits_at_every_epsilon(epsilon, optimized):
    made = UnaryEncoding(5, epsilon, optimized)
    with localcontext() as context:
        context.prec = 350
        p, q = decimal_chances(epsilon, optimized)
        for value, exact in ((made.p, p), (made.q, q), (made.keep, p - q)):
            assert abs(Decimal(value) / exact - 1) < Decimal("1e-14")


@pytest.mark.parametrize("optimized", [False, True])
def test_randomize_has_its_exact_law(optimized):
    """Two users of three categories: all 64 pairs of reports."""
    made = encoding(3, Fraction(2), optimized)
    p, q = exact_chances(Fraction(2), optimized)
    reports = made.randomize(np.tile([0, 2], SAMPLES), 1)
    assert reports.dtype == np.uint8
    assert reports.shape == (2 * SAMPLES, 3)
    codes = reports.reshape(SAMPLES, 6) @ (2 ** np.arange(5, -1, -1))
    law = [
        float(chance_of_report(y[:3], 0, p, q) * chance_of_report(y[3:], 2, p, q))
        for y in itertools.product((0, 1), repeat=6)
    ]
    assert chi_square_p(codes, np.array(law)) > 1e-6


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("people", [(3, 1), (0, 6), (1, 2, 0), (2, 1, 1)])
def test_support_has_its_exact_law(people, optimized):
    """By enumeration of all reports: both samplers draw from this law."""
    made = encoding(len(people), Fraction(2), optimized)
    p, q = exact_chances(Fraction(2), optimized)
    law = support_law(people, p, q)
    places = {ones: i for i, ones in enumerate(law)}
    chances = np.array([float(chance) for chance in law.values()])
    drawn = made.randomize_support(np.tile(people, (SAMPLES, 1)), 2)
    assert drawn.dtype == np.int64
    assert chi_square_p(np.array([places[tuple(row)] for row in drawn.tolist()]), chances) > 1e-6
    values = np.repeat(np.arange(len(people)), people)
    rng = np.random.default_rng(3)
    by_user = [places[tuple(made.support(made.randomize(values, rng)).tolist())] for _ in range(4000)]
    assert chi_square_p(np.array(by_user), chances) > 1e-6


@pytest.mark.parametrize("optimized", [False, True])
def test_support_of_a_billion_users_has_its_moments(optimized):
    made, people = UnaryEncoding(3, 1.0, optimized), np.array([7 * 10**8, 3 * 10**8, 0])
    drawn = made.randomize_support(np.tile(people, (SAMPLES, 1)), 4) / 10**9
    mean = made.q + made.keep * people / 10**9
    variance = (people * made.p * (1 - made.p) + (10**9 - people) * made.q * (1 - made.q)) / 10**18
    check_moments(drawn, mean, np.diag(variance))


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("people", [(3, 1), (1, 2, 0), (1, 1, 1, 0)])
def test_inv_is_unbiased_and_has_its_variance(people, optimized):
    """Over the exact law of the support; sampled users by the law of total variance."""
    made, n = encoding(len(people), Fraction(2), optimized), sum(people)
    law = support_law(people, *exact_chances(Fraction(2), optimized))
    chances = np.array([float(chance) for chance in law.values()])
    estimates = inv(list(law), made, n)
    theta = np.array(people) / n
    np.testing.assert_allclose(chances @ estimates, theta, atol=1e-14)
    fixed = chances @ (estimates - theta) ** 2
    np.testing.assert_allclose(made.inv_variance(theta, n), fixed, rtol=1e-12)
    sampled = made.inv_variance(theta, n, users="sampled")
    np.testing.assert_allclose(sampled, fixed + theta * (1 - theta) / n, rtol=1e-12)


@st.composite
def supports(draw: st.DrawFn) -> tuple[UnaryEncoding, list[int], int]:
    k = draw(st.integers(2, 6))
    n = draw(st.one_of(st.integers(1, 20), st.integers(1, 10**12)))
    epsilon = draw(st.sampled_from([1e-6, 1e-3, 0.5, 1.0, 2.0, 2.2, 5.0, 40.0, 700.0]))
    entry = st.one_of(st.integers(0, n), st.sampled_from([0, n, n // 2]))
    return (UnaryEncoding(k, epsilon, draw(st.booleans())), draw(st.lists(entry, min_size=k, max_size=k)), n)


def exact_inv(made: UnaryEncoding, ones: list[int], n: int) -> list[Fraction]:
    """With p and q to 150 digits."""
    with localcontext() as context:
        context.prec = 350
        p, q = (Fraction(value) for value in decimal_chances(made.epsilon, made.optimized))
        return [(Fraction(c, n) - q) / (p - q) for c in ones]


@given(supports())
def test_inv_inv_n_and_inv_p_are_the_exact_ones(drawn):
    made, ones, n = drawn
    exact = exact_inv(made, ones, n)
    largest = float(max(1 / Fraction(made.keep), *map(abs, exact)))
    np.testing.assert_allclose(
        inv(ones, made, n), [float(x) for x in exact], atol=2e-12 * largest, rtol=2e-12
    )
    np.testing.assert_allclose(
        inv_p_unary(ones, made, n), [float(x) for x in project(exact)], atol=2e-12, rtol=2e-12
    )
    positive = [max(x, Fraction(0)) for x in exact]
    shares = inv_n_unary(ones, made, n)
    assert shares.sum() == pytest.approx(1, rel=1e-12)
    assert shares.min() >= 0
    if sum(positive) > 1e-3 * largest:
        np.testing.assert_allclose(shares, [float(x / sum(positive)) for x in positive], atol=1e-8)


def test_inv_n_is_uniform_where_nothing_is_positive():
    made = UnaryEncoding(4, 1.0)
    assert inv_n_unary([0, 0, 0, 0], made, 10).tolist() == [0.25] * 4
    assert inv_p_unary([0, 0, 0, 0], made, 10).tolist() == [0.25] * 4
    both = inv_n_unary([[0, 0, 0, 0], [10, 0, 0, 0]], made, 10)
    assert both.tolist() == [[0.25] * 4, [1.0, 0.0, 0.0, 0.0]]


def test_batches_are_row_by_row():
    made = UnaryEncoding(3, 0.7, optimized=True)
    people = np.array([[[5, 3, 2], [0, 10, 0]], [[1, 1, 8], [4, 4, 2]]])
    ones = made.randomize_support(people, 5)
    assert ones.shape == people.shape
    for estimate in (inv, inv_n_unary, inv_p_unary):
        rows = [estimate(row, made, 10) for row in ones.reshape(-1, 3)]
        np.testing.assert_array_equal(estimate(ones, made, 10), np.reshape(rows, people.shape))
