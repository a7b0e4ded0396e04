"""The maximum of the likelihood from the bits of unary encoding: against enumeration, rationals, channels, SciPy; and
what it gains over InvP, measured again in small."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from rr_core.protocols import (
    Channel,
    UnaryEncoding,
    inv_p_unary,
    mle,
    mle_unary,
    optimality_gap_unary,
    unary_estimation,
    update_factors_unary,
)
from rr_core.protocols.unary_estimation import mle_gains
from tests import LENGTHY
from tests.benchmarks.unary_gain import CATEGORIES, EPSILONS, USERS_PER_CATEGORY, squared_errors
from tests.core.test_protocols_unary import chance_of_report, encoding, exact_chances

# Errors of logarithms and sums.
ROUNDING = 1e-13


def log_likelihood(bits, theta, made: UnaryEncoding) -> float:
    """Per report, up to a constant."""
    b = math.exp(-made.epsilon)
    return float(np.log(b - math.expm1(-made.epsilon) * (np.asarray(bits) @ np.asarray(theta))).mean())


def grid(k: int, parts: int) -> list[list[Fraction]]:
    """All distributions in steps of 1/parts."""
    return [
        [Fraction(c, parts) for c in counts]
        for counts in itertools.product(range(parts + 1), repeat=k)
        if sum(counts) == parts
    ]


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


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize(
    "reports", [[(1, 0)], [(1, 0), (0, 1), (1, 0)], [(1, 1, 0), (0, 1, 1), (0, 0, 0), (1, 0, 0)]]
)
def test_factors_and_certificate_in_exact_arithmetic(reports, optimized):
    """On a grid: the factors are those of rationals, and no distribution of the grid is better than the gap allows."""
    root, k = Fraction(2), len(reports[0])
    p, q = exact_chances(root, optimized)
    made = encoding(k, root, optimized)

    def likelihood(theta) -> Fraction:
        return math.prod(
            sum(share * chance_of_report(y, i, p, q) for i, share in enumerate(theta)) for y in reports
        )

    points = grid(k, 8)
    likelihoods = {tuple(theta): likelihood(theta) for theta in points}
    best = max(likelihoods.values())
    for theta in points:
        factors = [
            sum(
                chance_of_report(y, i, p, q) / sum(s * chance_of_report(y, j, p, q) for j, s in enumerate(theta))
                for y in reports
            ) / len(reports)
            for i in range(k)
        ]  # fmt: skip
        assert sum(share * factor for share, factor in zip(theta, factors, strict=True)) == 1
        floats = [float(share) for share in theta]
        np.testing.assert_allclose(
            update_factors_unary(reports, floats, made), [float(f) for f in factors], rtol=1e-13
        )
        missing = math.log(best / likelihoods[tuple(theta)]) / len(reports)
        assert optimality_gap_unary(reports, floats, made) >= missing - ROUNDING
    found = mle(reports, made, 1e-12)
    assert found.gap <= 1e-12
    top = log_likelihood(reports, found.theta, made)
    assert all(
        log_likelihood(reports, np.array(t, float), made) <= top + found.gap + ROUNDING for t in points
    )


@given(problems())
def test_it_is_the_maximum_of_the_channel_to_all_reports(drawn):
    """With one column for each of the 2^k reports, by the method for channels."""
    made, bits = drawn
    histogram = np.bincount(bits @ (1 << np.arange(made.k)), minlength=2**made.k)
    expected = mle(histogram, all_reports(made), 1e-11)
    found = mle(bits, made, 1e-11)
    assert found.gap <= 1e-11
    assert found.theta.sum() == pytest.approx(1, rel=1e-13)
    assert found.theta.min() >= 0
    assert log_likelihood(bits, found.theta, made) == pytest.approx(
        log_likelihood(bits, expected.theta, made), abs=found.gap + expected.gap + ROUNDING
    )
    assert optimality_gap_unary(bits, found.theta, made) == pytest.approx(found.gap, abs=1e-14)


@given(problems(), st.integers(1, 50), st.booleans())
def test_passes_and_channel_find_the_same_maximum(drawn, sample, counted):
    made, bits = drawn
    expected = mle(bits, made, 1e-11)
    with pytest.MonkeyPatch.context() as patch:
        by_passes(patch, sample)
        if not counted:
            patch.setattr(unary_estimation, "_COUNTED_BITS", 0)
        found = mle(bits, made, 1e-11)
    assert found.gap <= 1e-11
    assert found.theta.sum() == pytest.approx(1, rel=1e-13)
    assert found.theta.min() >= 0
    assert log_likelihood(bits, found.theta, made) == pytest.approx(
        log_likelihood(bits, expected.theta, made), abs=found.gap + expected.gap + ROUNDING
    )


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 6.0, 20.0, 700.0])
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


def test_a_sample_without_rare_categories_costs_few_passes(monkeypatch):
    """At a large epsilon a handful of reports speak for a rare category, and the sample may have none of them."""
    monkeypatch.setattr(unary_estimation, "_SAMPLE", 2048)
    monkeypatch.setattr(unary_estimation, "_SAMPLE_PER_CATEGORY", 1)
    passes, evaluate = [], unary_estimation._Likelihood.evaluate
    monkeypatch.setattr(
        unary_estimation._Likelihood,
        "evaluate",
        lambda self, theta: passes.append(1) or evaluate(self, theta),
    )
    theta = np.exp(-8 * np.arange(150) / 150)
    made, rng = UnaryEncoding(150, 20.0), np.random.default_rng(13)
    found = mle(made.randomize(rng.choice(150, 20_000, p=theta / theta.sum()), rng), made)
    assert found.gap <= 1e-9
    assert len(passes) <= 25


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
    optimised = UnaryEncoding(3, 700.0, optimized=True)
    # Half of the reports have no one and say nothing.
    np.testing.assert_allclose(mle([[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]], optimised).theta, [2 / 3, 1 / 3, 0],
                               atol=1e-9)  # fmt: skip


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


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_the_quadratic_programme_meets_its_conditions(k, seed):
    """x >= 0, the gradient is zero where x > 0 and not positive elsewhere; SciPy's nnls has the same x."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(3 * k, k)) * rng.choice([0.1, 1.0, 10.0], k)
    h, slope = a.T @ a, rng.normal(size=k)
    theta = np.where(rng.random(k) < 0.5, rng.random(k), 0.0)
    x = unary_estimation._nonnegative_quadratic(h, slope, theta)
    target = np.linalg.solve(a.T @ a, slope) + theta
    np.testing.assert_allclose(
        x, optimize.nnls(a, a @ target)[0], rtol=1e-5, atol=1e-6 / np.diagonal(h).min()
    )


@pytest.mark.slow
@pytest.mark.parametrize("optimized", [False, True] if LENGTHY else [True])
def test_a_thousand_categories_and_434_195_reports(optimized):
    """As many as in the taxi data of Lopuhaa-Zwakenberg et al., section 5, which left unary encoding out there."""
    k, n = 1000, 434_195
    theta = np.exp(-np.arange(k) / 150)
    made, rng = UnaryEncoding(k, 1.0, optimized), np.random.default_rng(11)
    bits = made.randomize(rng.choice(k, n, p=theta / theta.sum()), rng)
    found = mle(bits, made, 1e-6)
    assert found.gap <= 1e-6
    assert found.gap == pytest.approx(optimality_gap_unary(bits, found.theta, made), abs=1e-12)


def test_every_setting_is_in_the_table_once():
    settings = [(gain.encoding, gain.k, gain.epsilon, gain.n // gain.k) for gain in mle_gains()]
    assert settings == list(itertools.product(("sue", "oue"), CATEGORIES, EPSILONS, USERS_PER_CATEGORY))


def test_ratios_are_those_of_the_errors():
    for gain in mle_gains():
        assert gain.ratio == pytest.approx(gain.mse_mle / gain.mse_inv_p, abs=1e-4)
        assert 0 < gain.error < 0.011
        assert gain.replicates >= 400


def test_what_the_table_shows():
    """As the docstring of `mle_gains` has it."""
    for gain in mle_gains():
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


@pytest.mark.parametrize("setting", [gain for gain in mle_gains() if gain.n <= 500][::4], ids=str)
def test_the_gain_measured_again(setting):
    """Other replicates, fewer: within five standard errors of the difference."""
    protocol, replicates = UnaryEncoding(setting.k, setting.epsilon, setting.encoding == "oue"), 60
    errors = squared_errors(protocol, setting.n, replicates, 2)
    inv_p, maximum = errors.mean(axis=0)
    rest = errors[:, 1] - setting.ratio * errors[:, 0]
    error = np.hypot(rest.std(ddof=1) / np.sqrt(replicates) / inv_p, setting.error)
    assert abs(maximum / inv_p - setting.ratio) < 5 * error
