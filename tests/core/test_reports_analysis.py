"""The analysis in closed form against its parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse, inv_variance, zipf
from rr_core.registry import ESTIMATORS, VALID
from rr_core.reports.analysis import analyse
from rr_core.reports.intervals import above_zero, inv_interval
from rr_core.reports.nearest import COMPARED, NOISE_FRACTION, STANDARD_ERRORS, _EstimatesByCount, nearest
from tests.core import exact
from tests.sentences import holds


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_an_analysis_is_the_sum_of_its_parts(users):
    mechanism = RandomizedResponse(50, 2.0)
    counts = np.random.default_rng(1).multinomial(3000, mechanism.expected(zipf(50, 1.3)))
    result = analyse(counts, mechanism, 0.9, users)
    assert (result.n, result.users, result.level) == (3000, users, 0.9)
    for name, estimator in ESTIMATORS.items():
        np.testing.assert_allclose(result.estimates[name], estimator(counts, mechanism), rtol=1e-13)
    for got, together in ((result.interval, False), (result.simultaneous, True)):
        want = inv_interval(counts, mechanism, 0.9, users=users, simultaneous=together)
        np.testing.assert_array_equal(got.low, want.low)
        np.testing.assert_array_equal(got.high, want.high)
        assert got.simultaneous is together
    want = above_zero(counts, mechanism, 0.1)
    np.testing.assert_allclose(result.above.adjusted, want.adjusted)
    assert result.above.level == pytest.approx(0.1)
    assert result.nearest == nearest(counts, mechanism, users)


# Which estimate is nearest: Stein's estimate against dense matrices and by enumeration, and where all is equal.

USERS = ("fixed", "sampled")


def covariance(counts, mechanism, users):
    """Of Inv, (k, k), with the shares that Inv gives: user by user for fixed ones."""
    phi, n = counts / counts.sum(), counts.sum()
    if users == "sampled":
        return (np.diag(phi) - np.outer(phi, phi)) / n / mechanism.keep**2
    rows, shares = mechanism.matrix(), ESTIMATORS["inv"](counts, mechanism)
    of_one = [np.diag(row) - np.outer(row, row) for row in rows]
    return np.einsum("u,uij->ij", shares, of_one) / n / mechanism.keep**2


def by_hand(counts, mechanism, name, other, users):
    """Estimated difference and its standard error, from derivatives taken numerically."""
    counts = np.asarray(counts, dtype=float)
    n, inv = counts.sum(), ESTIMATORS["inv"](counts, mechanism)

    def gap(shares):
        seen = n * (mechanism.q + mechanism.keep * shares)
        # Inv sums to one, and what is off that plane has no covariance.
        return ESTIMATORS[name](seen, mechanism) - ESTIMATORS[other](seen, mechanism)

    v, k = covariance(counts, mechanism, users), mechanism.k
    step = 1e-7
    along = np.eye(k) - 1 / k
    jacobian = np.stack([(gap(inv + step * d) - gap(inv - step * d)) / (2 * step) for d in along], axis=1)
    one, two = (ESTIMATORS[x](counts, mechanism) for x in (name, other))
    value = ((one - inv) ** 2).sum() - ((two - inv) ** 2).sum() + 2 * np.trace(jacobian @ v)
    product = jacobian @ v
    square = gap(inv) @ v @ gap(inv) + np.trace(product @ product)
    return value, 2 * math.sqrt(max(square, 0))


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("counts", [[900, 300, 200, 150, 90, 80], [500, 500, 40, 40, 40], [40, 40, 900]])
def test_it_is_steins_estimate_with_dense_matrices(counts, users):
    mechanism = RandomizedResponse(len(counts), 1.3)
    found = nearest(counts, mechanism, users)
    # But for what whole numbers add at the edge, which the enumeration below is about.
    edge = _EstimatesByCount.of(np.array([counts]), mechanism, users).edge
    for name in COMPARED:
        if name not in found.same:
            value, error = by_hand(counts, mechanism, name, found.best, users)
            smooth = found.differences[name] - 2 * (edge[name] - edge[found.best])
            assert smooth == pytest.approx(value, rel=1e-5, abs=1e-9)
            assert found.standard_errors[name] == pytest.approx(error, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("users", USERS)
def test_a_fixed_pair_is_compared_without_bias_over_all_collections(users):
    # Exactly, by enumeration: 24 reports over 3 categories, of users (18, 6, 0) or of their population.
    mechanism = RandomizedResponse(3, 1.5)
    shares = np.array([0.75, 0.25, 0.0])
    rows = mechanism.matrix() if users == "fixed" else [mechanism.expected(shares)] * 3
    law = exact.histogram_law((18, 6, 0), np.array(rows).tolist())
    biases, sizes = dict.fromkeys(("inv_n", "mle_star"), 0.0), dict.fromkeys(("inv_n", "mle_star"), 0.0)
    for reports, chance in law.items():
        counts = np.array(reports)
        levels = _EstimatesByCount.of(counts[None], mechanism, users)
        for name in biases:
            value, error = levels.difference(name, "inv_p")
            one, two = (ESTIMATORS[x](counts, mechanism) for x in (name, "inv_p"))
            biases[name] += chance * (value - ((one - shares) ** 2).sum() + ((two - shares) ** 2).sum())
            sizes[name] += chance * error**2
    for name, bias in biases.items():
        assert abs(bias) < 0.08 * math.sqrt(sizes[name])


def test_the_best_estimate_is_named_where_it_is_far_better():
    # A simulation at MLE* names InvN here, whose error is five times that of InvP.
    users = np.zeros(4000, dtype=np.int64)
    users[:40] = np.round(20_000 * zipf(40, 1.3))
    mechanism = RandomizedResponse(4000, 5.0)
    counts = mechanism.randomize_histogram(users, 2)
    truth = users / users.sum()
    errors = {name: ((ESTIMATORS[name](counts, mechanism) - truth) ** 2).sum() for name in VALID}
    assert errors["inv_n"] > 5 * errors["inv_p"]
    found = nearest(counts, mechanism)
    assert found.best == min(errors, key=errors.__getitem__) == "inv_p"
    assert "inv_n" not in found.tied


COUNTS = st.lists(st.integers(0, 10**9), min_size=2, max_size=12).filter(any)


@holds("which cannot be told from it here")
@pytest.mark.slow
@settings(max_examples=100)
@given(COUNTS, st.floats(0.01, 20), st.sampled_from(USERS))
@example([5, 5, 5], 1.0, "fixed")
@example([1, 0], 20.0, "fixed")
@example([10**9, 0, 0], 20.0, "sampled")
@example([10**9, 10**9 - 1, 10**9 - 2], 20.0, "fixed")
def test_equal_estimates_are_ties_and_no_order_is_told_of_them(counts, epsilon, users):
    mechanism = RandomizedResponse(len(counts), epsilon)
    found = nearest(counts, mechanism, users)
    estimates = {name: ESTIMATORS[name](counts, mechanism) for name in COMPARED}
    for name, estimate in estimates.items():
        equal = np.abs(estimate - estimates[found.best]).max() <= 1e-12
        assert (name in found.same) == equal
        assert not equal or found.differences[name] == found.standard_errors[name] == 0
        assert equal or not math.isnan(found.differences[name])
    assert {name for name in found.same if name != "inv"} <= set(found.tied)
    if estimates["inv"].min() >= 0:
        assert set(found.same) == set(COMPARED)
    assert found.preferred in found.tied
    noise = inv_variance(estimates["inv"], sum(counts), mechanism, users=users).sum()
    for name in VALID:
        # The squared errors if the truth were any one category, the extremes of all distributions.
        gap = estimates[name] - estimates[found.best]
        most = max(gap @ (estimates[name] + estimates[found.best]) - 2 * gap)
        least = max(STANDARD_ERRORS * found.standard_errors[name], NOISE_FRACTION * noise)
        if abs(found.differences[name] - least) > 1e-6 * least:
            assert (name not in found.tied) == (least < found.differences[name] <= most * (1 + 1e-9))
    if sum(counts) * mechanism.q < 1 or noise > 2.000001:
        assert found.tied == VALID


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@pytest.mark.parametrize("counts", [[5, 3, 9], [4, 4, 4], [10**15, 0, 1], [1] + [0] * 2000])
def test_the_smallest_epsilon(counts, users):
    mechanism = RandomizedResponse(len(counts), 1e-6)
    result = analyse(counts, mechanism, 0.999999, users)
    columns = result.columns()
    assert columns.pop("estimate").tolist() == [result.leading] * mechanism.k
    assert all(np.isfinite(column).all() for column in columns.values())
    assert result.nearest.tied == VALID
    assert np.isfinite([*result.nearest.differences.values()]).all()
