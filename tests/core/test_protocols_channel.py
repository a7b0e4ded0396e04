"""Channels: what they grant, what they identify, how they randomize; Inv and the maximum of the likelihood for any
channel. Against exact rationals and laws, enumeration and two other routes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from rr_core import RandomizedResponse, ibu_channel, mle_star
from rr_core.protocols import (
    Channel,
    inv,
    inv_covariance_channel,
    mle,
    optimality_gap_channel,
    update_factors_channel,
)
from tests.core import exact
from tests.core.histograms import counts, everyday_epsilons
from tests.core.laws import chi_square_p
from tests.sentences import holds

SAMPLES = 20_000


@st.composite
def rational_rows(draw: st.DrawFn, k: int | None = None, m: int | None = None) -> list[list[Fraction]]:
    """The rows of a channel with k <= 4 truths and m <= 4 reports, as fractions; zeros and equal rows are common."""
    k = draw(st.integers(2, 4)) if k is None else k
    m = draw(st.integers(1, 4)) if m is None else m
    entries = st.lists(st.integers(0, 6), min_size=m, max_size=m).filter(any)
    rows = [draw(entries) for _ in range(k)]
    return [[Fraction(entry, sum(row)) for entry in row] for row in rows]


def channel(rows: list[list[Fraction]]) -> Channel:
    return Channel(np.array(rows, dtype=float))


def rank(rows: list[list[Fraction]]) -> int:
    """By elimination."""
    left, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((row for row in left if row[column]), None)
        if pivot is not None:
            found += 1
            left.remove(pivot)
            left = [
                [a - row[column] / pivot[column] * b for a, b in zip(row, pivot, strict=True)] for row in left
            ]
    return found


@given(rational_rows())
def test_epsilon_is_the_largest_log_ratio_in_a_column(rows):
    made, largest = channel(rows), Fraction(1)
    for column in zip(*rows, strict=True):
        if min(column) == 0 < max(column):
            assert made.epsilon == math.inf
            return
        if max(column):
            largest = max(largest, max(column) / min(column))
    assert made.epsilon == pytest.approx(math.log(largest), rel=1e-12, abs=1e-15)


@given(rational_rows())
def test_rank_and_whether_the_truth_is_identified(rows):
    made = channel(rows)
    assert made.rank == rank(rows)
    assert made.identified == (rank(rows) == len(rows))
    assert math.isfinite(made.condition_number) == made.identified
    assert made.condition_number >= 1 - 1e-12


def test_properties_of_a_few_channels_by_hand():
    assert Channel([[0.75, 0.25, 0], [0.25, 0.75, 0]]).possible.tolist() == [True, True, False]
    assert Channel(np.eye(3)).condition_number == 1.0
    assert Channel.warner(0.75).condition_number == pytest.approx(2.0, rel=1e-12)
    assert Channel([[1, 0], [1, 0], [0, 1]]).epsilon_per_step == math.inf


@pytest.mark.parametrize(
    ("forced", "epsilon"),
    [
        ([1 / 6, 1 / 6], math.log(5)),
        ([0.1, 0.3], math.log(0.7 / 0.1)),  # a "no" is 0.7 likely given no, and 0.1 given yes
        ([0.0, 0.3], math.inf),
        ([0.4, 0.6], 0.0),
        ([0.1, 0.2, 0.3], math.log(0.5 / 0.1)),
    ],
)
def test_forced_response(forced, epsilon):
    made = Channel.forced_response(forced)
    assert made.epsilon == pytest.approx(epsilon, rel=1e-12, abs=1e-12)
    told = 1 - sum(forced)
    np.testing.assert_allclose(made.matrix, told * np.eye(len(forced)) + np.tile(forced, (len(forced), 1)))
    assert made.identified == (told > 1e-9)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1e-3), (3, 1.0), (10, 20.0), (10, 700.0)])
def test_equal_forcing_and_randomized_response_are_one_channel(k, epsilon):
    mechanism = RandomizedResponse(k, epsilon)
    made = Channel.k_rr(mechanism)
    np.testing.assert_array_equal(made.matrix, mechanism.matrix())
    assert made.epsilon == pytest.approx(epsilon, rel=1e-12)
    forced = Channel.forced_response(np.full(k, mechanism.q))
    np.testing.assert_allclose(forced.matrix, made.matrix, rtol=1e-12)
    theta = np.arange(k) / (k * (k - 1) / 2)
    np.testing.assert_allclose(made.expected(theta), mechanism.expected(theta), rtol=1e-12)


@pytest.mark.parametrize(("k", "step"), [(2, 0.5), (3, 1e-6), (50, 2.0), (8, 100.0)])
def test_truncated_geometric_noise(k, step):
    made = Channel.truncated_geometric(k, step)
    assert made.epsilon_per_step == pytest.approx(step, rel=1e-9)
    assert made.epsilon == pytest.approx((k - 1) * step, rel=1e-9)
    assert made.identified
    a = math.exp(-step)
    for truth in range(k):  # the noise is summed far beyond the ends
        law = np.zeros(k)
        for noise in range(-2000, 2001):
            law[min(max(truth + noise, 0), k - 1)] += (1 - a) / (1 + a) * a ** abs(noise)
        if step > 0.1:
            np.testing.assert_allclose(made.matrix[truth], law, rtol=1e-9, atol=1e-300)
    if k == 2:
        np.testing.assert_allclose(made.matrix, RandomizedResponse(2, step).matrix(), rtol=1e-12)


@pytest.mark.slow
@settings(max_examples=6)
@given(rational_rows(), st.data())
def test_randomize_histogram_has_its_exact_law(rows, data):
    """Every histogram of at most six reports, enumerated; p-values of 6 tests, all above 1e-4/6."""
    k = len(rows)
    people = data.draw(
        st.lists(st.integers(0, 6 // k + 1), min_size=k, max_size=k).filter(lambda c: 0 < sum(c) <= 6)
    )
    law = exact.histogram_law(people, rows)
    assert sum(law.values()) == 1
    made, rng = channel(rows), np.random.default_rng(7)
    drawn = made.randomize_histogram(np.tile(people, (SAMPLES // 4, 1)), rng)
    outcomes = {counts: number for number, counts in enumerate(law)}
    samples = np.array([outcomes[tuple(counts)] for counts in drawn.tolist()])
    if len(law) > 1:
        assert chi_square_p(samples, np.array([float(chance) for chance in law.values()])) > 1e-4 / 6


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.int64])
def test_randomize_has_its_law_and_keeps_the_shape_of_any_kind_of_integers(kind):
    law = np.array([1 / 2, 0, 1 / 3, 1 / 6])
    made = Channel([law, [0, 1, 0, 0]])
    values = np.tile(np.array([[0], [0], [1]], dtype=kind), SAMPLES)
    reports = made.randomize(values, 11)
    assert (reports.shape, reports.dtype) == (values.shape, np.int64)
    assert (reports[2] == 1).all()
    assert chi_square_p(reports[:2].ravel(), law) > 1e-4
    assert (reports[:2] != 1).all()
    assert made.randomize([], 1).shape == (0,)


def test_a_billion_users_and_batches():
    made = Channel([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    counts = np.array([[[10**9, 5 * 10**8]], [[0, 7]], [[0, 0]]])
    reports = made.randomize_histogram(counts, 1)
    assert reports.shape == (3, 1, 3)
    np.testing.assert_array_equal(reports.sum(axis=-1), counts.sum(axis=-1))
    expected = counts[0, 0] @ made.matrix
    assert (np.abs(reports[0, 0] - expected) < 6 * np.sqrt(expected)).all()


def test_more_entries_than_are_drawn_at_once():
    made = Channel(np.tile(np.arange(1, 1001) / 500_500, (1500, 1)))
    counts = np.full(1500, 1000)
    reports = made.randomize_histogram(counts, 1)
    assert reports.sum() == counts.sum()
    expected = counts @ made.matrix
    assert ((reports - expected) ** 2 / expected).sum() < 1000 + 6 * math.sqrt(2000)


def log_likelihood(histogram, theta, made) -> float:
    """Per report, of the reports that occurred."""
    phi = np.array(histogram) / np.sum(histogram)
    seen = phi > 0
    with np.errstate(divide="ignore"):
        return float(phi[seen] @ np.log((np.asarray(theta) @ made.matrix)[seen]))


def maximum(histogram, made) -> float:
    """The largest log-likelihood per report that SciPy's optimiser and many iterations of plain IBU find."""
    k, phi = made.k, np.array(histogram) / np.sum(histogram)
    seen = phi > 0
    columns, phi = made.matrix[:, seen], phi[seen]
    best = log_likelihood(histogram, ibu_channel(histogram, made.matrix, 3000), made)
    found = optimize.minimize(
        lambda x: -phi @ np.log(np.maximum(x @ columns, 1e-300)),
        np.full(k, 1 / k),
        jac=lambda x: -columns @ (phi / np.maximum(x @ columns, 1e-300)),
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(k)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    theta = np.maximum(found.x, 0)
    return max(best, log_likelihood(histogram, theta / theta.sum(), made))


@st.composite
def channels_with_reports(draw: st.DrawFn) -> tuple[Channel, list[int]]:
    """A rational channel and a histogram of reports that it can produce."""
    made = channel(draw(rational_rows()))
    entry = st.one_of(st.integers(0, 3), st.integers(0, 10**9))
    reports = draw(st.lists(entry, min_size=made.m, max_size=made.m))
    reports = [count if possible else 0 for count, possible in zip(reports, made.possible, strict=True)]
    return made, reports if any(reports) else made.possible.astype(int).tolist()


@holds(
    "The estimates work for any: **Inv** solves the equations, **MLE** takes the shares under which the reports are most likely."  # noqa: E501
)
@given(rational_rows(), st.data())
def test_inv_is_unbiased_over_all_reports(rows, data):
    """The mean over the exact law of the reports of at most six users is the shares of these users."""
    made, k = channel(rows), len(rows)
    people = data.draw(
        st.lists(st.integers(0, 6 // k + 1), min_size=k, max_size=k).filter(lambda c: 0 < sum(c) <= 6)
    )
    if not made.identified:
        with pytest.raises(
            ValueError, match=f"protocol must tell all k = {k} categories apart .* got a channel of"
        ):
            inv([1] * made.m, made)
        return
    law = exact.histogram_law(people, rows)
    chances = np.array([float(chance) for chance in law.values()])
    estimates = inv(list(law), made)
    scale = 1e-13 * made.condition_number**2
    np.testing.assert_allclose(estimates.sum(axis=-1), 1, atol=scale)
    theta = np.array(people) / sum(people)
    np.testing.assert_allclose(chances @ estimates, theta, atol=scale)
    spread = (estimates - theta).T @ (chances[:, None] * (estimates - theta))
    covariance = inv_covariance_channel(theta, sum(people), made)
    np.testing.assert_allclose(covariance, spread, atol=scale * made.condition_number)


@pytest.mark.parametrize("p", [0.2, 0.6, 0.7])
def test_a_share_of_zero_is_no_rounding(p):
    """Of 200 people 60 said yes where 3 in 10 would if nobody had it: the page showed a share of −4.06·10⁻¹⁵%."""
    assert inv([200 * p, 200 * (1 - p)], Channel.warner(p))[1] == 0
    assert inv([1e6 * p + 1, 1e6 * (1 - p) - 1], Channel.warner(p))[1] != 0


@given(rational_rows(), st.data())
def test_update_factors_are_those_of_exact_arithmetic(rows, data):
    made = channel(rows)
    weights = data.draw(st.lists(st.integers(0, 5), min_size=made.k, max_size=made.k).filter(any))
    theta = [Fraction(weight, sum(weights)) for weight in weights]
    reports = [3 * int(possible) + int(possible) * j for j, possible in enumerate(made.possible)]
    wanted = []
    for row in rows:
        factor = 0.0
        for j, count in enumerate(reports):
            seen = sum(t * other[j] for t, other in zip(theta, rows, strict=True))
            if count and row[j]:
                factor += float(Fraction(count, sum(reports)) * row[j] / seen) if seen else math.inf
        wanted.append(factor)
    factors = update_factors_channel(reports, [float(t) for t in theta], made)
    np.testing.assert_allclose(factors, wanted, rtol=1e-12)


@holds(
    "The estimates work for any: **Inv** solves the equations, **MLE** takes the shares under which the reports are most likely."  # noqa: E501
)
@settings(max_examples=25)
@given(channels_with_reports(), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.3, 1.0, 30.0]))
def test_nothing_is_likelier_than_the_maximum_or_any_distribution_by_more_than_its_gap(case, seed, spread):
    made, reports = case
    best = maximum(reports, made)
    theta = np.random.default_rng(seed).dirichlet(np.full(made.k, spread))
    assert optimality_gap_channel(reports, theta, made) >= best - log_likelihood(reports, theta, made) - 1e-12
    found = mle(reports, made)
    assert 0 <= found.gap <= 1e-9
    assert found.theta.min() >= 0
    assert found.theta.sum() == pytest.approx(1, abs=1e-12)
    assert found.gap == pytest.approx(max(optimality_gap_channel(reports, found.theta, made), 0), abs=1e-13)
    assert log_likelihood(reports, found.theta, made) >= best - found.gap - 1e-12


@settings(max_examples=30)
@given(counts(), everyday_epsilons)
def test_the_maximum_of_k_rr_is_mle_star(histogram, epsilon):
    mechanism = RandomizedResponse(len(histogram), epsilon)
    best = mle_star(histogram, mechanism)
    found = mle(histogram, Channel.k_rr(mechanism), 1e-13)
    # A gap of 1e-13 is a squared distance of about 1e-13 over the curvature, (p - q)^2.
    np.testing.assert_allclose(found.theta, best, atol=3e-6 / mechanism.keep)
    np.testing.assert_array_equal(mle(histogram, mechanism).theta, best)
    assert mle(histogram, mechanism).gap < 1e-9


@pytest.mark.parametrize("epsilon", [1e-3, 1e-12])
@pytest.mark.parametrize("tolerance", [1e-9, 1e-300])
def test_nearly_singular_channels_and_tolerances_below_rounding_have_an_honest_gap(epsilon, tolerance):
    matrix = np.full((10, 10), 0.1)  # nearly that of k-RR, also below its smallest epsilon
    matrix += epsilon * (np.eye(10) - 0.1) / 10
    made = Channel(matrix)
    reports = np.random.default_rng(3).integers(0, 10**8, 10)
    found = mle(reports, made, tolerance)
    assert found.gap == pytest.approx(max(optimality_gap_channel(reports, found.theta, made), 0), abs=1e-14)
    assert found.gap <= max(tolerance, 1e-14)


def test_sparse_channels_with_very_unequal_reports():
    """Steps that never turn back towards the middle go round in circles on some of these."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        k, m = rng.integers(2, 40, 2)
        matrix = rng.random((k, m)) * (rng.random((k, m)) < rng.choice([0.1, 0.5, 1.0]))
        matrix[matrix.sum(axis=1) == 0, 0] = 1
        made = Channel(matrix / matrix.sum(axis=1, keepdims=True))
        reports = 10.0 ** rng.uniform(-rng.choice([1, 6]), 0, m) * (rng.random(m) < 0.5) * made.possible
        if reports.any():
            assert mle(reports, made).gap <= 1e-9


def test_zero_entries_and_tiny_ones():
    assert mle([5, 1, 3], Channel(np.eye(3))).theta == pytest.approx([5 / 9, 1 / 9, 3 / 9], rel=1e-9)
    assert mle([5, 0, 0], Channel(np.eye(3))).theta.tolist() == [1, 0, 0]
    tiny = Channel([[1, 0, 0], [1e-300, 1, 0], [0, 5e-324, 1]])
    found = mle([5, 1, 3], tiny)
    assert found.gap < 1e-12
    np.testing.assert_allclose(found.theta, [5 / 9, 1 / 9, 3 / 9], rtol=1e-9)
    assert mle([1e-300, 1, 1e-320], tiny).gap < 1e-9
    # A rare report that only says what all say alike is no reason to doubt the others.
    rare = Channel([[0.7, 0.3, 1e-290], [0.3, 0.7, 1e-290]])
    np.testing.assert_allclose(mle([60, 40, 10**6], rare).theta, [0.75, 0.25], rtol=1e-6)


def test_a_report_that_cannot_be_produced_is_told():
    never = Channel([[0.75, 0.25, 0], [0.25, 0.75, 0]])
    assert mle([3, 1, 0], never).theta == pytest.approx([1, 0], abs=1e-9)
    for call in (mle, lambda observed, made: optimality_gap_channel(observed, [0.5, 0.5], made)):
        with pytest.raises(
            ValueError, match="reports that the channel can produce, got 2 of report 2, whose column"
        ):
            call([3, 1, 2], never)
    made = Channel(np.eye(2))
    assert optimality_gap_channel([1, 1], [1, 0], made) == math.inf
    assert update_factors_channel([1, 1], [1, 0], made).tolist() == [0.5, math.inf]
