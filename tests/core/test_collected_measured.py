"""The printed tables of coverage, size and power, measured again in small."""

import math

import numpy as np
import pytest

from rr_core import RandomizedResponse
from rr_core.collected.bootstrap import bootstrap
from rr_core.collected.coverage import CATEGORIES, COVERAGE, METHODS, falling, kinds
from rr_core.collected.fit import fit_test
from rr_core.collected.fit_measured import LEVEL, MEASURED, POPULATIONS, shares
from rr_core.collected.intervals import inv_interval, too_few
from rr_core.sampling import whole_users


def reports_of(theta, n, mechanism, users, collections, seed):
    rng = np.random.default_rng(seed)
    if users == "sampled":
        return rng.multinomial(n, mechanism.expected(theta), size=collections)
    again = np.broadcast_to(whole_users(theta, n), (collections, mechanism.k))
    return mechanism.randomize_histogram(again, rng)


def covered(interval, truth):
    return (truth >= interval.low - 1e-12) & (truth <= interval.high + 1e-12)


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_coverage_is_as_printed(users):
    k, n, epsilon, times = 10, 1000, 1.0, 120
    mechanism, theta = RandomizedResponse(k, epsilon), falling(k)
    truth = whole_users(theta, n) / n if users == "fixed" else theta
    kind = kinds(truth, n, mechanism)
    rows = reports_of(theta, n, mechanism, users, times, 1)
    printed = {
        (row.method, row.categories): row
        for row in COVERAGE
        if (row.population, row.k, row.n, row.epsilon, row.users) == ("falling", k, n, epsilon, users)
    }
    hits = {key: [] for key in printed}
    for seed, counts in enumerate(rows):
        result = bootstrap(counts, mechanism, 64, users=users, seed=seed)
        for method in METHODS:
            for together in (False, True):
                if method == "closed":
                    interval = inv_interval(counts, mechanism, users=users, simultaneous=together)
                else:
                    interval = result.interval(method, simultaneous=together)
                inside = covered(interval, truth)
                if together:
                    hits[method, "all"].append(inside.all())
                    continue
                for index, category in enumerate(CATEGORIES[:3]):
                    hits[method, category].append(inside[kind == index].mean())
    for key, row in printed.items():
        # A mean of shares varies no more than a single yes or no; 64 replicates blur by half a point more.
        p = row.measured / 100
        spread = math.sqrt(p * (1 - p) * (1 / times + 1 / row.collections))
        assert abs(np.mean(hits[key]) - p) < 4 * spread + 0.005, key


@pytest.mark.parametrize("row", [r for r in COVERAGE if r.method == "closed"], ids=str)
def test_the_closed_form_is_within_two_points_of_its_level(row):
    assert row.measured >= row.nominal - 2
    # Whole numbers of reports can only make the exact limits of all categories wider than need be.
    sparse = row.categories == "all" and too_few(row.n, RandomizedResponse(row.k, row.epsilon))
    assert sparse or row.measured <= row.nominal + 2
    assert row.collections >= 2000


@pytest.mark.parametrize(
    "row", [r for r in MEASURED if (r.k, r.n) == (20, 200)], ids=lambda r: f"{r.n}-{r.stated}"
)
def test_size_and_power_are_as_printed(row):
    times = 60
    theta, truth = shares(row.population, row.k), RandomizedResponse(row.k, row.epsilon)
    stated = RandomizedResponse(row.k, row.stated * row.epsilon)
    rows = reports_of(theta, row.n, truth, row.users, times, 2)
    found = np.mean([fit_test(one, stated, 59, seed=i).p_value <= LEVEL for i, one in enumerate(rows)])
    p = row.rejected / 100
    assert abs(found - p) < 4 * math.sqrt(max(p * (1 - p), 0.02) / times) + 0.01


def test_the_size_is_never_above_seven_percent_and_near_five_with_clear_empty_categories():
    at_truth = [row for row in MEASURED if row.stated == 1]
    assert len(at_truth) >= 6
    assert all(row.rejected <= 7 and row.collections >= 2000 for row in at_truth)
    clear = [row.rejected for row in at_truth if row.population in ("half", "point")]
    assert all(3 <= rejected <= 7 for rejected in clear)


def test_the_populations_of_the_tables_are_distributions():
    for population in POPULATIONS:
        theta = shares(population, 20)
        assert theta.sum() == pytest.approx(1)
        assert (theta > 0).sum() == {"half": 10, "point": 1}.get(population, 20)
    assert falling(10).sum() == pytest.approx(1)
    assert (falling(10) > 0).sum() == 5
