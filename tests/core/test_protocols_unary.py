"""Unary encoding: what it grants, its laws, and Inv, InvN and InvP from the support, against exact rationals; the
maximum of the likelihood from its bits, against the channel to all reports; and what it gains over InvP, measured again
in small."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core.protocols import (
    Channel,
    UnaryEncoding,
    inv,
    inv_n_unary,
    inv_p_unary,
    mle,
    mle_unary,
    optimality_gap_unary,
    unary_estimation,
    update_factors_channel,
    update_factors_unary,
)
from rr_core.protocols.unary_estimation import mle_gains
from tests.benchmarks.unary_gain import CATEGORIES, EPSILONS, USERS_PER_CATEGORY, squared_errors
from tests.core.exact import project
from tests.core.laws import check_moments, chi_square_p

Law = dict[tuple[int, ...], Fraction]  # of bits, or of sums of bits, and their chances
SAMPLES = 20_000
# e^(epsilon/2), rational, so that p and q are.
ROOTS = (Fraction(3, 2), Fraction(5))


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


def law_of_sums(people: tuple[int, ...], laws: list[Law]) -> Law:
    """The probability of every sum of the reports of ``people``, user by user: ``laws[i]`` is that of the report of a
    user of category i."""
    law: Law = {(0,) * len(people): Fraction(1)}
    for of_one, users in zip(laws, people, strict=True):
        for _ in range(users):
            after: Law = {}
            for (ones, weight), (y, chance) in itertools.product(law.items(), of_one.items()):
                key = tuple(a + b for a, b in zip(ones, y, strict=True))
                after[key] = after.get(key, Fraction(0)) + weight * chance
            law = after
    return law


def support_law(people: tuple[int, ...], p: Fraction, q: Fraction) -> Law:
    """The probability of every support."""
    k = len(people)
    reports = list(itertools.product((0, 1), repeat=k))
    return law_of_sums(people, [{y: chance_of_report(y, truth, p, q) for y in reports} for truth in range(k)])


def decimal_chances(epsilon: float, optimized: bool) -> tuple[Decimal, Decimal]:
    """p and q to 60 digits or more of p - q; use within a localcontext."""
    one = Decimal(1)
    if optimized:
        return one / 2, one / (Decimal(epsilon).exp() + 1)
    root = (Decimal(epsilon) / 2).exp()
    return root / (root + 1), one / (root + 1)


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("k", [2, 4])
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
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 40.0, 700.0])
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
@pytest.mark.parametrize("people", [(3, 1), (1, 2, 0)])
def test_support_has_its_exact_law(people, optimized):
    """By enumeration of all reports."""
    made = encoding(len(people), Fraction(2), optimized)
    p, q = exact_chances(Fraction(2), optimized)
    law = support_law(people, p, q)
    places = {ones: i for i, ones in enumerate(law)}
    chances = np.array([float(chance) for chance in law.values()])
    drawn = made.randomize_support(np.tile(people, (SAMPLES, 1)), 2)
    assert drawn.dtype == np.int64
    assert chi_square_p(np.array([places[tuple(row)] for row in drawn.tolist()]), chances) > 1e-6


@pytest.mark.parametrize("optimized", [False, True])
def test_support_of_a_billion_users_has_its_moments(optimized):
    made, people = UnaryEncoding(3, 1.0, optimized), np.array([7 * 10**8, 3 * 10**8, 0])
    drawn = made.randomize_support(np.tile(people, (SAMPLES, 1)), 4) / 10**9
    mean = made.q + made.keep * people / 10**9
    variance = (people * made.p * (1 - made.p) + (10**9 - people) * made.q * (1 - made.q)) / 10**18
    check_moments(drawn, mean, np.diag(variance))


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("people", [(3, 1), (1, 2, 0)])
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


# Errors of logarithms and sums.
ROUNDING = 1e-13


def log_likelihood(bits, theta, made: UnaryEncoding) -> float:
    """Per report, up to a constant."""
    b = math.exp(-made.epsilon)
    return float(np.log(b - math.expm1(-made.epsilon) * (np.asarray(bits) @ np.asarray(theta))).mean())


def by_passes(monkeypatch: pytest.MonkeyPatch, sample: int = 4) -> None:
    """Small problems by the method of the large ones, from a tiny sample."""
    monkeypatch.setattr(unary_estimation, "_ENTRIES_OF_A_CHANNEL", 0)
    monkeypatch.setattr(unary_estimation, "_SAMPLE", sample)
    monkeypatch.setattr(unary_estimation, "_SAMPLE_PER_CATEGORY", 1)


def all_reports(made: UnaryEncoding) -> Channel:
    """The encoding as a channel to the 2^k reports; report j has bit i of j in place i."""
    y = (np.arange(2**made.k)[:, None] >> np.arange(made.k)) & 1
    others = np.where(y == 1, made.q, 1 - made.q).prod(axis=1)
    own = np.where(y == 1, made.p / made.q, (1 - made.p) / (1 - made.q))
    return Channel((others[:, None] * own).T)


@st.composite
def problems(draw: st.DrawFn) -> tuple[UnaryEncoding, np.ndarray]:
    k = draw(st.integers(2, 6))
    epsilon = draw(st.sampled_from([0.1, 0.5, 1.0, 2.0, 5.0, 12.0]))
    report = st.lists(st.integers(0, 1), min_size=k, max_size=k)
    distinct = draw(st.lists(report, min_size=1, max_size=8))
    often = draw(st.lists(st.integers(1, 30), min_size=len(distinct), max_size=len(distinct)))
    return UnaryEncoding(k, epsilon, draw(st.booleans())), np.repeat(distinct, often, axis=0).astype(np.uint8)


def is_the_same_maximum(found, expected, bits, made):
    assert found.gap <= 1e-11
    assert found.theta.sum() == pytest.approx(1, rel=1e-13)
    assert found.theta.min() >= 0
    assert log_likelihood(bits, found.theta, made) == pytest.approx(
        log_likelihood(bits, expected.theta, made), abs=found.gap + expected.gap + ROUNDING
    )


@settings(max_examples=60)
@given(problems(), st.integers(0, 2**32 - 1))
def test_factors_certificate_and_maximum_are_those_of_the_channel_to_all_reports(drawn, seed):
    """With one column for each of the 2^k reports, by the method for channels."""
    made, bits = drawn
    histogram = np.bincount(bits @ (1 << np.arange(made.k)), minlength=2**made.k)
    theta = np.random.default_rng(seed).dirichlet(np.full(made.k, 0.5))
    factors = update_factors_channel(histogram, theta, all_reports(made))
    np.testing.assert_allclose(update_factors_unary(bits, theta, made), factors, rtol=1e-10)
    assert optimality_gap_unary(bits, theta, made) == pytest.approx(factors.max() - 1, rel=1e-9, abs=1e-12)
    expected = mle(histogram, all_reports(made), 1e-11)
    found = mle(bits, made, 1e-11)
    is_the_same_maximum(found, expected, bits, made)
    assert optimality_gap_unary(bits, found.theta, made) == pytest.approx(found.gap, abs=1e-14)


@settings(max_examples=60)
@given(problems(), st.integers(1, 50), st.booleans())
def test_passes_and_channel_find_the_same_maximum(drawn, sample, counted):
    made, bits = drawn
    expected = mle(bits, made, 1e-11)
    with pytest.MonkeyPatch.context() as patch:
        by_passes(patch, sample)
        if not counted:
            patch.setattr(unary_estimation, "_COUNTED_BITS", 0)
        found = mle(bits, made, 1e-11)
    is_the_same_maximum(found, expected, bits, made)


@pytest.mark.parametrize(("epsilon", "optimized"), [(1e-6, False), (1.0, True), (20.0, False), (700.0, True)])
def test_many_reports_of_many_categories(epsilon, optimized):
    """The method of passes to 1e-10 from bits that are too many for one matrix."""
    k, n = 120, 20_000
    theta = np.exp(-np.arange(k) / 20)
    made, rng = UnaryEncoding(k, epsilon, optimized), np.random.default_rng(7)
    bits = made.randomize(rng.choice(k, n, p=theta / theta.sum()), rng)
    assert bits.size > unary_estimation._ENTRIES_OF_A_CHANNEL
    found = mle(bits, made, 1e-10)
    assert found.gap <= 1e-10
    assert found.gap == pytest.approx(optimality_gap_unary(bits, found.theta, made), abs=1e-13)
    start = inv_p_unary(made.support(bits), made, n)
    assert log_likelihood(bits, found.theta, made) >= log_likelihood(bits, start, made) - 1e-10


def test_reports_that_say_nothing_leave_the_uniform_distribution():
    for epsilon in (1e-6, 1.0, 700.0):
        made = UnaryEncoding(4, epsilon)
        for bit in (0, 1):
            found = mle(np.full((7, 4), bit), made)
            assert found.gap <= 1e-9
            np.testing.assert_allclose(found.theta, 0.25, rtol=1e-12)


def test_at_a_huge_epsilon_it_is_the_shares_of_the_ones():
    made = UnaryEncoding(3, 700.0)
    bits = made.randomize([0, 0, 0, 1], 1)
    np.testing.assert_allclose(mle(bits, made).theta, [0.75, 0.25, 0.0], atol=1e-9)
    # Of OUE half of the reports have no one and say nothing.
    found = mle([[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]], UnaryEncoding(3, 700.0, optimized=True))
    np.testing.assert_allclose(found.theta, [2 / 3, 1 / 3, 0], atol=1e-9)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("counted_bits", [0, 64])
def test_counts_are_as_good_as_repeated_reports(monkeypatch, large, counted_bits):
    monkeypatch.setattr(unary_estimation, "_COUNTED_BITS", counted_bits)
    if large:
        by_passes(monkeypatch, 3)
    made, rng = UnaryEncoding(4, 1.5), np.random.default_rng(12)
    bits = made.randomize(rng.choice(4, 500, p=[0.6, 0.3, 0.1, 0.0]), rng)
    different, counts = np.unique(bits, axis=0, return_counts=True)
    unseen = np.concatenate([different, [[1, 1, 1, 0]]]).astype(np.uint8), np.append(counts, 0)
    expected = mle_unary(bits, made, 1e-12)
    for reports, often in (
        (different, counts),
        (different, counts * 10**6),
        (different, counts / 500),
        unseen,
    ):
        found = mle_unary(reports, made, 1e-12, counts=often)
        assert found.gap <= 1e-12
        np.testing.assert_allclose(found.theta, expected.theta, atol=1e-5)


def test_what_the_table_shows():
    """As the docstring of `mle_gains` has it."""
    rows = [(gain.encoding, gain.k, gain.epsilon, gain.n // gain.k) for gain in mle_gains()]
    assert rows == list(itertools.product(("sue", "oue"), CATEGORIES, EPSILONS, USERS_PER_CATEGORY))
    for gain in mle_gains():
        assert gain.ratio == pytest.approx(gain.mse_mle / gain.mse_inv_p, abs=1e-4)
        assert 0 < gain.error < 0.011
        if gain.epsilon == 0.5:
            assert abs(gain.ratio - 1) <= 0.0205
        if gain.epsilon == 4 and gain.n >= 10 * gain.k:
            assert 0.545 <= gain.ratio <= 0.875
            assert gain.ratio + 4 * gain.error < 1
        if gain.ratio - 4 * gain.error > 1.025:
            assert (gain.encoding, gain.n) == ("sue", 3 * gain.k)
    worst = max(mle_gains(), key=lambda gain: gain.ratio)
    assert worst.ratio == pytest.approx(1.05, abs=0.005)
    assert worst.ratio - 4 * worst.error > 1


# Both encodings, both numbers of categories, and four epsilons.
@pytest.mark.parametrize("setting", [gain for gain in mle_gains() if gain.n <= 500][4::15], ids=str)
def test_the_gain_measured_again(setting):
    """Other replicates, fewer: within five standard errors of the difference."""
    protocol, replicates = UnaryEncoding(setting.k, setting.epsilon, setting.encoding == "oue"), 60
    errors = squared_errors(protocol, setting.n, replicates, 2)
    inv_p, maximum = errors.mean(axis=0)
    rest = errors[:, 1] - setting.ratio * errors[:, 0]
    error = np.hypot(rest.std(ddof=1) / np.sqrt(replicates) / inv_p, setting.error)
    assert abs(maximum / inv_p - setting.ratio) < 5 * error
