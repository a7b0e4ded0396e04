"""Intervals for Inv: exact coverage from the law of a category's reports, and the equations of their ends; the printed
tables of coverage, size and power, measured again in small."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rr_core import RandomizedResponse, inv, inv_variance, zipf
from rr_core.law import report_distribution
from rr_core.metrics import variance_at
from rr_core.profile import profile, table_size
from rr_core.protocols import Channel
from rr_core.reports.analysis import analyse
from rr_core.reports.epsilon_fit import (
    REJECTION_LEVEL,
    fit_test,
    likelihood_ratio,
    normal_score,
    null_shares,
    plausible_epsilon,
)
from rr_core.reports.intervals import (
    EXTREME_CHANCE,
    MOST_REPORTS,
    above_zero,
    clopper_pearson,
    extremes,
    holm,
    inv_interval,
    too_few_reports,
    upper_tail,
)
from rr_core.reports.measured import (
    CATEGORIES,
    COVERAGE,
    COVERAGE_COLLECTIONS,
    NOMINAL_COVERAGE,
    REJECTIONS,
    SIZE_COLLECTIONS,
)
from rr_core.sampling import whole_users
from tests.core import exact
from tests.sentences import holds

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
@pytest.mark.parametrize(("k", "n", "epsilon"), [(10, 200, 0.5), (100, 5000, 1), (3, 3000, 3)])
@pytest.mark.parametrize("share", [0, 0.1, 0.6])
def test_each_interval_covers_within_two_points_of_its_level(k, n, epsilon, share, users):
    mechanism = RandomizedResponse(k, epsilon)
    assert not too_few_reports(n, mechanism)
    assert abs(sum(misses(share, n, mechanism, users)) - 0.05) < 0.02


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(("k", "n", "epsilon"), [(10, 200, 3), (1000, 10_000, 2)])
@pytest.mark.parametrize("share", [0, 0.3])
def test_simultaneous_intervals_keep_their_level_in_the_far_tails(k, n, epsilon, share, users):
    # At k = 1,000 the normal law would miss an empty category from below 12 times as often.
    for chance in misses(share, n, RandomizedResponse(k, epsilon), users, simultaneous=True):
        assert k * chance <= 0.0275


def test_simultaneous_intervals_of_sampled_users_are_the_exact_binomial_limits():
    n, k, count = 30, 4, 7
    mechanism = RandomizedResponse(k, 1.0)
    low, high = ends(np.array([count]), n, mechanism, users="sampled", simultaneous=True)
    at_low, at_high = (
        exact.binomial(n, Fraction(mechanism.q + mechanism.keep * end[0])) for end in (low, high)
    )
    tail = pytest.approx((1 - 0.95) / k / 2)
    assert (float(sum(at_low[count:])), float(sum(at_high[: count + 1]))) == (tail, tail)


@pytest.mark.parametrize("n", [10**8 - 1, 10**9, 10**12, MOST_REPORTS])
@pytest.mark.parametrize("part", [0, 1, 1000, 10**7 - 1, 0.2, -1000, -1])
def test_simultaneous_intervals_of_very_many_reports_are_the_exact_limits(n, part):
    """By the incomplete beta function's inverse they were off by a third of their width at 10^15, and nan from 8·10^16;
    of 1,000 reports among 10^9 the lower one had a tail of 100%."""
    count = int(part * n) if isinstance(part, float) else part % (n + 1)
    few = n - count if part < 0 else count  # a mean near 1 has too few digits for the tail of the others
    low, high = (float(end[0]) for end in clopper_pearson(np.array([float(few)]), float(n), 0.05))
    assert stats.binom.cdf(few, n, high) == pytest.approx(0.025, rel=0.02)
    assert low == 0 if few == 0 else stats.binom.sf(few - 1, n, low) == pytest.approx(0.025, rel=0.02)
    mirrored = clopper_pearson(np.array([float(n - few)]), float(n), 0.05)
    np.testing.assert_allclose(np.concatenate(mirrored), [1 - high, 1 - low], rtol=1e-12, atol=2e-16)
    mechanism = RandomizedResponse(3, 1.0)
    interval = inv_interval([few, 0, n - few], mechanism, users="sampled", simultaneous=True)
    wider = clopper_pearson(np.array([float(few)]), float(n), 0.05 / 3)
    told = [(float(end[0]) - mechanism.q) / mechanism.keep for end in wider]
    np.testing.assert_allclose([interval.low[0], interval.high[0]], told, rtol=1e-12)


@pytest.mark.parametrize(
    "protocol", [RandomizedResponse(3, 1.0), Channel(np.full((3, 3), 0.1) + 0.7 * np.eye(3))]
)
def test_more_reports_than_a_double_tells_apart_are_refused(protocol):
    """There were intervals and p-values of nan."""
    assert np.isfinite(analyse([MOST_REPORTS - 2, 1, 1], protocol).interval.low).all()
    with pytest.raises(
        ValueError, match=r"^counts must add up to at most 2\^53 = 9007199254740992 reports, got 90"
    ):
        analyse([MOST_REPORTS, 1, 1], protocol)


def test_simultaneous_intervals_of_fixed_users_are_narrower_by_their_deviation():
    mechanism, counts = RandomizedResponse(5, 2.0), np.array([500, 200, 100, 100, 100])
    narrow, wide = (inv_interval(counts, mechanism, users=users, simultaneous=True) for users in USERS)
    centre = inv(counts, mechanism)
    for one, other in ((wide.low, narrow.low), (wide.high, narrow.high)):
        fixed, sampled = (inv_variance(one.clip(0, 1), 1000, mechanism, users=users) for users in USERS)
        np.testing.assert_allclose(other - centre, (one - centre) * np.sqrt(fixed / sampled), rtol=1e-9)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
@given(st.integers(2, 12), st.floats(0.05, 6), st.lists(st.integers(0, 60), min_size=12, max_size=12))
def test_no_interval_for_all_at_once_ends_within_that_of_one(users, k, epsilon, counts):
    """Of 41 of 46 reports, p = 0.75, it was 1.44 for all and 1.53 for each."""
    counts = np.array(counts[:k]) + (np.arange(k) == 0)
    each, of_all = (
        inv_interval(counts, RandomizedResponse(k, epsilon), users=users, simultaneous=at_once)
        for at_once in (False, True)
    )
    assert (of_all.low <= each.low).all()
    assert (of_all.high >= each.high).all()


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


def test_the_least_number_of_reports_for_an_honest_interval():
    mechanism = RandomizedResponse(10, 1.0)
    edge = math.ceil(10 / mechanism.q)
    assert too_few_reports(edge - 1, mechanism)
    assert not too_few_reports(edge, mechanism)


# Exact binomial tests: tails, Holm by its definition and the familywise error; bounds on the largest and the smallest.


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (3, 2.0), (7, 4.0)])
def test_p_values_are_exact_binomial_tails(k, epsilon):
    mechanism, n = RandomizedResponse(k, epsilon), 23
    law = exact.binomial(n, Fraction(mechanism.q))
    for count in range(n + 1):
        counts = [count, n - count] + [0] * (k - 2)
        tail = float(sum(law[count:]))
        assert above_zero(counts, mechanism).p_values[0] == pytest.approx(tail, rel=1e-11)


def test_the_far_tail_of_a_billion_reports_is_not_rounded_to_zero():
    # 10 deviations above its mean; the ratio of neighbouring terms bounds the tail by a geometric sum.
    n, q = 10**9, 0.01
    count = round(n * q + 10 * math.sqrt(n * q * (1 - q)))
    tail = upper_tail(np.array([float(count)]), n, q)[0]
    log_term = (
        math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
        + count * math.log(q) + (n - count) * math.log1p(-q)
    )  # fmt: skip
    ratio = (n - count) / (count + 1) * q / (1 - q)
    assert math.exp(log_term) < tail < math.exp(log_term) / (1 - ratio) * 1.0001


def step_down(p_values):
    """Holm's by its definition: the category of rank i (from 0) is compared with level / (k - i)."""
    order = np.argsort(p_values, kind="stable")
    adjusted, running = np.empty(len(p_values)), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = running
    return adjusted


@settings(max_examples=50)
@given(st.lists(st.integers(0, 60), min_size=2, max_size=30).filter(any), st.floats(0.1, 4))
def test_holm_over_all_categories(counts, epsilon):
    result = above_zero(counts, RandomizedResponse(len(counts), epsilon), 0.1)
    np.testing.assert_allclose(result.adjusted, step_down(result.p_values), rtol=1e-12)
    pair = np.stack([result.p_values, result.p_values[::-1] ** 2], axis=1)  # each column by itself
    np.testing.assert_allclose(holm(pair), np.stack([*map(step_down, pair.T)], axis=1), rtol=1e-12)
    np.testing.assert_array_equal(result.above, result.adjusted <= 0.1)


@pytest.mark.parametrize("counts", [[5, 0, 2], [9, 1], [1, 1, 1, 1], [12, 0, 0, 0, 0], [0, 30, 31]])
@pytest.mark.parametrize("p", [Fraction(3, 5), Fraction(9, 10)])
def test_the_bounds_by_exact_fractions(counts, p):
    k, n = len(counts), sum(counts)
    mechanism, q = RandomizedResponse.from_p(k, float(p)), (1 - p) / (k - 1)
    found = extremes(counts, mechanism)
    most, fewest = sum(exact.binomial(n, p)[max(counts) :]), sum(exact.binomial(n, q)[: min(counts) + 1])
    assert found.most == pytest.approx(min(1.0, float(k * most)), rel=1e-9)
    assert found.fewest == pytest.approx(min(1.0, float(k * fewest)), rel=1e-9)


def test_no_population_makes_such_counts_more_likely():
    # All reports of all five users over three categories, for every population of five. And so right epsilons are
    # rejected as seldom as promised.
    mechanism = RandomizedResponse(3, 1.5)
    for people in ((5, 0, 0), (3, 2, 0), (3, 1, 1), (2, 2, 1)):
        law = exact.histogram_law(people, mechanism.matrix().tolist())
        for counts in law:
            bound = extremes(counts, mechanism)
            assert sum(x for c, x in law.items() if max(c) >= max(counts)) <= bound.most + 1e-12
            assert sum(x for c, x in law.items() if min(c) <= min(counts)) <= bound.fewest + 1e-12
            assert (bound.too_many, bound.too_few) == tuple(
                chance <= EXTREME_CHANCE / 2 for chance in (bound.most, bound.fewest)
            )


@holds(
    "Clearly fewer reports than N·q somewhere, or more than N·p, speak for less noise than stated; an ε stated too large looks like a flatter population, and these reports cannot tell the two apart."  # noqa: E501
)
@pytest.mark.parametrize(("k", "n", "epsilon", "largest"), [(1000, 5000, 3.0, 180), (100, 400, 1.0, 30)])
def test_one_count_beyond_belief_is_seen_among_many_categories(k, n, epsilon, largest):
    rest = np.random.default_rng(1).multinomial(n - largest, np.full(k - 1, 1 / (k - 1)))
    counts = np.append(largest, rest)
    test = fit_test(counts, RandomizedResponse(k, epsilon), 100)
    assert test.p_value > 0.05  # the likelihood ratio does not notice
    assert largest > 1.5 * test.ceiling
    assert test.extremes.too_many
    assert test.rejects(0.05)
    found = plausible_epsilon(counts, k, above=epsilon, replicates=20)
    assert found.low > epsilon
    assert not found.none
    assert not extremes(counts, RandomizedResponse(k, found.low)).too_many


def test_one_empty_category_where_noise_alone_brings_twenty():
    k, n = 1000, 20_000
    mechanism = RandomizedResponse(k, 0.01)
    counts = np.random.default_rng(4).multinomial(n, np.append(0.0, np.full(k - 1, 1 / (k - 1))))
    test = fit_test(counts, mechanism, 100)
    assert test.p_value > 0.05
    assert test.extremes.too_few
    assert test.rejects(0.05)


def falling_shares(k):
    """Shares proportional to 1/rank in the first half, zero in the second."""
    weights = np.where(np.arange(k) < k // 2, 1 / np.arange(1, k + 1), 0)
    return weights / weights.sum()


def category_kinds(shares, n, mechanism):
    """Index in CATEGORIES of each share: empty, small or large."""
    deviation = np.sqrt(variance_at(np.zeros(1), n, mechanism))
    return np.where(shares == 0, 0, np.where(shares < 3 * deviation, 1, 2))


def shares(population, k):
    """Those of a population of REJECTIONS."""
    if population in ("zipf", "uniform"):
        return zipf(k, 2.5 if population == "zipf" else 0)
    part = k // 2 if population == "half" else 1
    return np.where(np.arange(k) < part, 1 / part, 0.0)


def reports_of(theta, n, mechanism, users, collections, seed):
    rng = np.random.default_rng(seed)
    if users == "sampled":
        return rng.multinomial(n, mechanism.expected(theta), size=collections)
    again = np.broadcast_to(whole_users(theta, n), (collections, mechanism.k))
    return mechanism.randomize_histogram(again, rng)


def covered(interval, truth):
    return (truth >= interval.low - 1e-12) & (truth <= interval.high + 1e-12)


@holds("Each category: every interval alone is meant to be right this often.")
@pytest.mark.parametrize("setting", dict.fromkeys(row.setting for row in COVERAGE))
def test_coverage_is_as_printed_and_no_less_when_cut(setting):
    population, k, n, epsilon, users = setting
    times = 150 if k < 1000 else 40
    mechanism = RandomizedResponse(k, epsilon)
    theta = falling_shares(k) if population == "falling" else zipf(k, float(population.split()[1]))
    truth = whole_users(theta, n) / n if users == "fixed" else theta
    kind = category_kinds(truth, n, mechanism)
    hits = {category: [] for category in CATEGORIES}
    for counts in reports_of(theta, n, mechanism, users, times, 1):
        for together in (False, True):
            interval = inv_interval(counts, mechanism, users=users, simultaneous=together)
            inside = covered(interval, truth)
            cut = covered(interval.cut(), truth)
            np.testing.assert_array_equal(cut[truth > 0], inside[truth > 0])
            assert (cut >= inside).all()
            if together:
                hits["all"].append(inside.all())
            for index, category in enumerate(CATEGORIES[:3]):
                if not together and (kind == index).any():
                    hits[category].append(inside[kind == index].mean())
    for row in COVERAGE:
        if row.setting == setting:
            # A mean of shares varies no more than a single yes or no.
            p = row.percent / 100
            spread = math.sqrt(p * (1 - p) * (1 / times + 1 / COVERAGE_COLLECTIONS))
            assert abs(np.mean(hits[row.categories]) - p) < 4 * spread + 0.0005, row


@pytest.mark.parametrize("row", COVERAGE, ids=str)
def test_the_intervals_are_within_two_points_of_their_level(row):
    assert row.percent >= NOMINAL_COVERAGE - 2
    # Whole numbers of reports can only make the exact limits of all categories wider than need be.
    sparse = row.categories == "all" and too_few_reports(row.n, RandomizedResponse(row.k, row.epsilon))
    assert sparse or row.percent <= NOMINAL_COVERAGE + 2


@pytest.mark.parametrize(
    "row", [r for r in REJECTIONS if (r.k, r.n) == (20, 200)], ids=lambda r: f"{r.n}-{r.stated}"
)
def test_size_and_power_are_as_printed(row):
    times = 60
    theta, truth = shares(row.population, row.k), RandomizedResponse(row.k, row.epsilon)
    stated = RandomizedResponse(row.k, row.stated * row.epsilon)
    rows = reports_of(theta, row.n, truth, row.users, times, 2)
    found = np.mean(
        [fit_test(one, stated, 59, seed=i).p_value <= REJECTION_LEVEL for i, one in enumerate(rows)]
    )
    p = row.percent / 100
    assert abs(found - p) < 4 * math.sqrt(max(p * (1 - p), 0.02) / times) + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_the_size_is_kept_where_many_empty_categories_get_few_reports(users):
    # With categories set to zero by sqrt(log N) standard deviations alone a right epsilon was rejected in 8% here.
    k, n, epsilon, times = 1000, 5000, 3.0, 200
    mechanism, point = RandomizedResponse(k, epsilon), shares("point", k)
    rows = reports_of(point, n, mechanism, users, times, 5)
    # The law hardly varies with the reports: many simulated collections once stand for some in each test.
    fair = fit_test(rows[0], mechanism, 2000, seed=1).null
    scores = normal_score(*likelihood_ratio(profile(rows, table_size(rows)), mechanism))
    rejected = np.mean(scores >= np.quantile(fair, 0.95))
    assert rejected < 0.05 + 3 * math.sqrt(0.05 * 0.95 / times)
    kept = [(null_shares(one, mechanism) > 0).sum() for one in rows]
    # By Bonferroni's bound, an empty category is taken for more in 5% of collections at most.
    assert np.mean(np.array(kept) > 1) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / times)


def test_the_size_is_below_six_percent_and_a_larger_epsilon_is_rejected_less_often():
    at_truth = [row for row in REJECTIONS if row.stated == 1]
    assert len(at_truth) >= 6
    assert all(row.percent <= 6 and row.collections == SIZE_COLLECTIONS for row in at_truth)
    for row in at_truth:
        larger = [r.percent for r in REJECTIONS if r.stated > 1 and r.setting == row.setting]
        assert all(rejected <= row.percent for rejected in larger)
