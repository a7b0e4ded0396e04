"""The printed tables of coverage, size and power, measured again in small."""

import math

import numpy as np
import pytest

from rr_core import RandomizedResponse, zipf
from rr_core.metrics import variance_at
from rr_core.reports.epsilon_fit import REJECTION_LEVEL, fit_test, null_shares
from rr_core.reports.intervals import inv_interval, too_few_reports
from rr_core.reports.measured import (
    CATEGORIES,
    COVERAGE,
    COVERAGE_COLLECTIONS,
    NOMINAL_COVERAGE,
    REJECTIONS,
    SIZE_COLLECTIONS,
)
from rr_core.sampling import whole_users
from tests.sentences import holds


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
    k, n, epsilon, times = 1000, 5000, 3.0, 300
    mechanism, point = RandomizedResponse(k, epsilon), shares("point", k)
    rows = reports_of(point, n, mechanism, users, times, 5)
    # The law hardly varies with the reports: many simulated collections once stand for some in each test.
    fair = fit_test(rows[0], mechanism, 2000, seed=1).null
    scores = np.array([fit_test(one, mechanism, 1).score for one in rows])
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


def test_the_populations_of_the_tables_are_distributions():
    for population in {row.population for row in REJECTIONS}:
        theta = shares(population, 20)
        assert theta.sum() == pytest.approx(1)
        assert (theta > 0).sum() == {"half": 10, "point": 1}.get(population, 20)
    assert falling_shares(10).sum() == pytest.approx(1)
    assert (falling_shares(10) > 0).sum() == 5
