"""Inv and the maximum of the likelihood for any channel: against exact rationals, enumeration and two other routes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from rr_core import RandomizedResponse, ibu_channel, mle_star
from rr_core.ibu import figure4
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
from tests.core.test_protocols_channel import channel, rational_rows


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


def histograms(n: int, m: int):
    """All histograms of n reports."""
    return [c for c in itertools.product(range(n + 1), repeat=m) if sum(c) == n]


@st.composite
def channels_with_reports(draw: st.DrawFn) -> tuple[Channel, list[int]]:
    """A rational channel and a histogram of reports that it can produce."""
    made = channel(draw(rational_rows()))
    entry = st.one_of(st.integers(0, 3), st.integers(0, 10**9))
    reports = draw(st.lists(entry, min_size=made.m, max_size=made.m))
    reports = [count if possible else 0 for count, possible in zip(reports, made.possible, strict=True)]
    return made, reports if any(reports) else made.possible.astype(int).tolist()


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


def test_inv_is_least_squares_where_there_are_more_reports_than_truths():
    wide = Channel([[0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4]])
    reports = np.array([30, 40, 10, 20])
    share = optimize.minimize_scalar(
        lambda x: ((np.array([x, 1 - x]) @ wide.matrix - reports / 100) ** 2).sum(), tol=1e-12
    ).x
    np.testing.assert_allclose(inv(reports, wide), [share, 1 - share], atol=1e-7)


@pytest.mark.parametrize("p", [0.2, 0.55, 0.6, 0.7, 0.9])
def test_a_share_of_zero_is_no_rounding(p):
    """Of 200 people 60 said yes where 3 in 10 would if nobody had it: the page showed a share of −4.06·10⁻¹⁵%."""
    assert inv([200 * p, 200 * (1 - p)], Channel.warner(p))[1] == 0
    assert inv([1e6 * p + 1, 1e6 * (1 - p) - 1], Channel.warner(p))[1] != 0


@settings(max_examples=30)
@given(channels_with_reports(), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.3, 1.0, 30.0]))
def test_the_certificate_is_at_least_the_true_gap(case, seed, spread):
    made, reports = case
    theta = np.random.default_rng(seed).dirichlet(np.full(made.k, spread))
    gap = maximum(reports, made) - log_likelihood(reports, theta, made)
    assert optimality_gap_channel(reports, theta, made) >= gap - 1e-12


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


@settings(max_examples=40)
@given(channels_with_reports())
def test_nothing_is_likelier_than_the_maximum_by_more_than_its_gap(case):
    made, reports = case
    found = mle(reports, made)
    assert 0 <= found.gap <= 1e-9
    assert found.theta.min() >= 0
    assert found.theta.sum() == pytest.approx(1, abs=1e-12)
    assert found.gap == pytest.approx(max(optimality_gap_channel(reports, found.theta, made), 0), abs=1e-13)
    assert log_likelihood(reports, found.theta, made) >= maximum(reports, made) - found.gap - 1e-12


@settings(max_examples=60)
@given(counts(), everyday_epsilons)
def test_the_maximum_of_k_rr_is_mle_star(histogram, epsilon):
    mechanism = RandomizedResponse(len(histogram), epsilon)
    best = mle_star(histogram, mechanism)
    found = mle(histogram, Channel.k_rr(mechanism), 1e-13)
    # A gap of 1e-13 is a squared distance of about 1e-13 over the curvature, (p - q)^2.
    np.testing.assert_allclose(found.theta, best, atol=3e-6 / mechanism.keep)
    np.testing.assert_array_equal(mle(histogram, mechanism).theta, best)
    assert mle(histogram, mechanism).gap < 1e-9


@pytest.mark.parametrize("scenario", figure4.scenarios(), ids=str)
def test_figure_4_taken_as_a_full_matrix(scenario):
    draw = scenario.draw()
    found = mle(draw.counts, Channel.k_rr(draw.mechanism))
    assert found.gap <= 1e-9
    assert found.iterations <= 30
    np.testing.assert_allclose(found.theta, mle_star(draw.counts, draw.mechanism), atol=1e-9)


@pytest.mark.parametrize("k", [3, 60])
@pytest.mark.parametrize("seen", [1, 5, 40])
def test_fewer_kinds_of_reports_than_categories_and_the_other_way_round(k, seen):
    """Both sizes of the linear systems; where the maximum is not the only one, it is still certified."""
    rng = np.random.default_rng(100 * k + seen)
    made = Channel(rng.dirichlet(np.full(50, 0.2), k))
    reports = np.zeros(50, dtype=int)
    reports[:seen] = rng.integers(1, 10**9, seen)
    found = mle(reports, made)
    assert found.gap <= 1e-9
    by_ibu = ibu_channel(reports, made.matrix, 20_000)
    assert (
        log_likelihood(reports, found.theta, made)
        >= log_likelihood(reports, by_ibu, made) - found.gap - 1e-12
    )


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("tolerance", [1e-9, 1e-15, 1e-300])
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
