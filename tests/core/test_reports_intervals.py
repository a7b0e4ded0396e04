"""Intervals for Inv: exact coverage from the law of a category's reports, and the equations of their ends."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rr_core import RandomizedResponse, inv, inv_variance
from rr_core.law import report_distribution
from rr_core.reports.intervals import inv_interval, too_few_reports

USERS = ("fixed", "sampled")


def law(share, n, mechanism, users):
    """(possible reports of one category, their probabilities, its true share)."""
    if users == "fixed":
        true = round(n * share)
        first, pmf = report_distribution(true, n, mechanism)
        reports = np.arange(first, first + pmf.size)
        return reports[reports <= n], pmf[reports <= n], true / n
    mean = mechanism.q + mechanism.keep * share
    width = 12 * math.sqrt(n * mean * (1 - mean)) + 40
    reports = np.arange(max(0, int(n * mean - width)), min(n, int(n * mean + width)) + 1)
    return reports, stats.binom.pmf(reports, n, mean), share


def ends(reports, n, mechanism, level=0.95, **options):
    """The interval of the first category for each number of reports: the other categories do not matter."""
    low, high = np.empty(reports.size), np.empty(reports.size)
    for i, count in enumerate(reports):
        counts = np.zeros(mechanism.k, dtype=np.int64)
        counts[0], counts[1] = count, n - count
        interval = inv_interval(counts, mechanism, level, **options)
        low[i], high[i] = interval.low[0], interval.high[0]
    return low, high


def misses(share, n, mechanism, users, **options):
    """Exact chances that the share is below, and above, the interval."""
    reports, pmf, truth = law(share, n, mechanism, users)
    likely = pmf > 1e-9
    low, high = ends(reports[likely], n, mechanism, users=users, **options)
    return pmf[likely][truth < low - 1e-12].sum(), pmf[likely][truth > high + 1e-12].sum()


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(("k", "n", "epsilon"), [(10, 200, 0.5), (10, 200, 2), (100, 5000, 1), (3, 3000, 3)])
@pytest.mark.parametrize("share", [0, 0.1, 0.6])
def test_each_interval_covers_within_two_points_of_its_level(k, n, epsilon, share, users):
    mechanism = RandomizedResponse(k, epsilon)
    assert not too_few_reports(n, mechanism)
    assert abs(sum(misses(share, n, mechanism, users)) - 0.05) < 0.02


@pytest.mark.parametrize("users", USERS)
def test_large_collections_cover_at_both_ends(users):
    n, mechanism = 30_000, RandomizedResponse(10, 3.0)
    for share in (0, 0.3):
        below, above = misses(share, n, mechanism, users)
        assert below == pytest.approx(0.025, abs=0.004)
        assert above == pytest.approx(0.025, abs=0.004)


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(("k", "n", "epsilon"), [(10, 200, 3), (100, 5000, 1), (1000, 10_000, 2)])
@pytest.mark.parametrize("share", [0, 0.3])
def test_simultaneous_intervals_keep_their_level_in_the_far_tails(k, n, epsilon, share, users):
    # At k = 1,000 the normal law would miss an empty category from below 12 times as often.
    for chance in misses(share, n, RandomizedResponse(k, epsilon), users, simultaneous=True):
        assert k * chance <= 0.0275


def test_simultaneous_intervals_of_sampled_users_are_the_exact_binomial_limits():
    n, k, count = 30, 4, 7
    mechanism = RandomizedResponse(k, 1.0)
    low, high = ends(np.array([count]), n, mechanism, users="sampled", simultaneous=True)
    alpha = (1 - 0.95) / k

    def tail(mean, counts):
        m = Fraction(mean)
        return float(sum(math.comb(n, c) * m**c * (1 - m) ** (n - c) for c in counts))

    assert tail(mechanism.q + mechanism.keep * low[0], range(count, n + 1)) == pytest.approx(alpha / 2)
    assert tail(mechanism.q + mechanism.keep * high[0], range(count + 1)) == pytest.approx(alpha / 2)


def test_simultaneous_intervals_of_fixed_users_are_narrower_by_their_deviation():
    mechanism, n = RandomizedResponse(5, 2.0), 1000
    counts = np.array([600, 200, 100, 60, 40])
    wide = inv_interval(counts, mechanism, users="sampled", simultaneous=True)
    narrow = inv_interval(counts, mechanism, users="fixed", simultaneous=True)
    centre = inv(counts, mechanism)
    for one, other in ((wide.low, narrow.low), (wide.high, narrow.high)):
        at = np.clip(one, 0, 1)
        ratio = np.sqrt(
            inv_variance(at, n, mechanism, users="fixed") / inv_variance(at, n, mechanism, users="sampled")
        )
        np.testing.assert_allclose(other - centre, (one - centre) * ratio, rtol=1e-9)


@settings(max_examples=40)
@given(
    k=st.integers(2, 40),
    epsilon=st.floats(0.05, 6),
    n=st.integers(1, 10**6),
    part=st.floats(0, 1),
    level=st.floats(0.5, 0.999),
    users=st.sampled_from(USERS),
)
def test_the_ends_are_as_many_deviations_away_as_the_level_asks(k, epsilon, n, part, level, users):
    mechanism = RandomizedResponse(k, epsilon)
    counts = np.zeros(k, dtype=np.int64)
    counts[0] = round(part * n)
    counts[1] = n - counts[0]
    interval = inv_interval(counts, mechanism, level, users=users)
    z = stats.norm.isf((1 - level) / 2)
    centre = inv(counts, mechanism)[0]
    scale = z / (math.sqrt(n) * mechanism.keep)
    for end in (interval.low[0], interval.high[0]):
        # The ends may leave [0, 1], where the variance is only a formula.
        m = mechanism.q + mechanism.keep * end
        variance = m * (1 - m) if users == "sampled" else mechanism.q * (mechanism.p + (k - 2) * m)
        assert abs(centre - end) == pytest.approx(
            z * math.sqrt(max(variance, 0) / n) / mechanism.keep, rel=1e-6, abs=1e-7 * scale
        )
    assert interval.low[0] - 1e-9 * scale <= centre <= interval.high[0] + 1e-9 * scale


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(
    ("counts", "epsilon"),
    [
        ([1, 0], 1.0),
        ([0, 1], 20.0),
        ([10**9, 0, 0], 0.01),
        ([10**9, 5, 0], 20.0),
        ([3] * 100, 3.0),
        ([1, 0], 800.0),
    ],
)
def test_extremes_are_finite_and_ordered(counts, epsilon, users, simultaneous):
    mechanism = RandomizedResponse(len(counts), epsilon)
    interval = inv_interval(counts, mechanism, users=users, simultaneous=simultaneous)
    assert np.isfinite(interval.low).all()
    assert np.isfinite(interval.high).all()
    assert (interval.low <= inv(counts, mechanism) + 1e-12).all()
    assert (interval.high >= inv(counts, mechanism) - 1e-12).all()


def test_the_least_number_of_reports_for_an_honest_interval():
    mechanism = RandomizedResponse(10, 1.0)
    edge = math.ceil(10 / mechanism.q)
    assert too_few_reports(edge - 1, mechanism)
    assert not too_few_reports(edge, mechanism)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": [1, 2]}, "counts must have a last axis of length k = 3"),
        ({"counts": [[1, 2, 3]]}, "counts must have shape"),
        ({"counts": [0, 0, 0]}, "counts must have a total >= 1"),
        ({"counts": [1, 2, 0.5]}, "counts must be whole numbers"),
        ({"counts": [1, 2, -1]}, "counts must be non-negative"),
        ({"level": 1}, "level must be a number between 0 and 1"),
        ({"users": "some"}, "users must be 'fixed' or 'sampled'"),
    ],
)
def test_wrong_arguments(change, message):
    arguments = {"counts": [1, 2, 3], "mechanism": RandomizedResponse(3, 1.0), **change}
    with pytest.raises(ValueError, match=message):
        inv_interval(**arguments)


def test_the_estimate_plugged_into_the_variance_gives_no_width_without_reports_for_sampled_users_only():
    for k, epsilon in ((2, 0.1), (12, 1.0), (1000, 8.0)):
        mechanism = RandomizedResponse(k, epsilon)
        none = inv(np.r_[0, np.ones(k - 1)], mechanism)
        assert inv_variance(none, 20, mechanism, users="sampled")[0] == pytest.approx(0, abs=1e-12)
        # Corrected eq. (8) there: q p/(N (p - q)^2).
        fixed = mechanism.p * mechanism.q / (20 * mechanism.keep**2)
        assert inv_variance(none, 20, mechanism)[0] == pytest.approx(fixed, rel=1e-9)
