"""The reports of repeated collections follow their exact law, and every block is its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from rr_core import Population, RandomizedResponse, sampling
from rr_core.experiments.cell import cell_collector
from rr_core.experiments.grid import POINT, Cell, Settings
from rr_core.law import report_distribution, report_variance
from rr_core.populations import TABLES, zipf
from rr_core.profile import shared_profile
from rr_core.registry import ESTIMATORS, RULES
from rr_core.sampling import poisson, poissonised_multinomial, whole_users
from rr_core.simulate import simulate
from tests.core.laws import chi_square_p

ROWS = 6000
# Seeds are fixed: a right law passes once and for all, and fails by bad luck with this chance.
LUCK = 1e-5


def chance(drawn, first, pmf):
    """p-value of ``drawn`` against Pr(first + i) = pmf[i]; what is beyond the ends is counted at the ends."""
    return chi_square_p(np.clip(drawn - first, 0, len(pmf) - 1), np.asarray(pmf))


@pytest.mark.parametrize("guide", [8, 4096])
@pytest.mark.parametrize("rate", [0.3, 4.0, 23.7, 180.0, 2000.0])
def test_poisson_counts(monkeypatch, rate, guide):
    """With a coarse guide nearly every count takes some steps from where it starts."""
    monkeypatch.setattr(sampling, "_GUIDE", guide)
    counts = poisson(rate, (200, 200), np.random.default_rng(1))
    most = int(rate + 12 * np.sqrt(rate) + 40)
    assert chance(counts.ravel(), 0, stats.poisson.pmf(np.arange(most), rate)) > LUCK


@pytest.mark.parametrize("margin", [4.0, 0.5])
def test_poisson_counts_and_the_rest_are_uniform_multinomial(monkeypatch, margin):
    """With a small margin many rows are drawn anew, which must not show."""
    monkeypatch.setattr(sampling, "_MARGIN", margin)
    totals = np.where(np.arange(ROWS) % 2, 150, 190)
    counts = poissonised_multinomial(totals, 4, np.random.default_rng(2))
    assert (counts.sum(axis=1) == totals).all()
    assert counts.min() >= 0
    for total in (150, 190):
        rows = counts[totals == total]
        for drawn, share in (
            (rows[:, 0], 0.25),
            (rows[:, 3], 0.25),
            (rows[:, 1] + rows[:, 2], 0.5),
            (total - rows[:, 2], 0.75),
        ):
            assert chance(drawn, 0, stats.binom.pmf(np.arange(total + 1), total, share)) > LUCK


# k = 20: users thrown one by one, Poisson counts, a tree of binomials.
@pytest.mark.parametrize(("n", "way"), [(60, "few"), (900, "between"), (40_000, "many")])
@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_reports_follow_their_law(n, way, users):
    cell = Cell("zipf", 20, 2.0, n, 1.2)
    collector = cell_collector(cell, Settings(users=users), {})
    thrown = n * (1 - cell.mechanism.keep)
    assert way == ("few" if thrown <= 80 else "many" if thrown >= 3200 else "between")
    reports = replace(collector, rows=ROWS).draw(0, ROWS).reports
    assert (reports.sum(axis=1) == n).all()
    for category in (0, 1, 7, 19):
        if users == "fixed":
            first, pmf = report_distribution(int(collector.true_counts[category]), n, cell.mechanism)
        else:
            seen = cell.mechanism.expected(collector.theta)[category]
            first, pmf = 0, stats.binom.pmf(np.arange(n + 1), n, seen)
        assert chance(reports[:, category], first, pmf) > LUCK
    # Two categories together: the covariance is that of the whole law.
    both = reports[:, 0] + reports[:, 1]
    if users == "fixed":
        t, (p, q) = collector.true_counts[:2].sum(), (cell.mechanism.p, cell.mechanism.q)
        variance = t * (p + q) * (1 - p - q) + (n - t) * 2 * q * (1 - 2 * q)
    else:
        seen = cell.mechanism.expected(collector.theta)[:2].sum()
        variance = n * seen * (1 - seen)
    assert both.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / ROWS))


@pytest.mark.parametrize(("k", "n"), [(3000, 30_000), (60_000, 10**6), (60_000, 1000)])
@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_long_rows_have_the_right_mean_and_spread(k, n, users):
    cell = Cell("zipf", k, 6.0, n, 0.7)
    collector = cell_collector(cell, Settings(users=users), {})
    rows = 2 if k < 10_000 else 1
    reports = replace(collector, rows=rows).draw(0, 4 * rows).reports
    assert (reports.sum(axis=1) == n).all()
    expected = n * cell.mechanism.expected(collector.truth)
    variance = (
        report_variance(collector.true_counts, n, cell.mechanism)
        if users == "fixed"
        else expected * (1 - expected / n)
    )
    z2 = ((reports - expected) ** 2 / variance).mean()
    # The squared deviations are of mean 1; where counts are small their own variance is near 2 + 1/variance.
    spread = np.sqrt((2 + (1 / variance).mean()) / reports.size)
    assert z2 == pytest.approx(1, abs=6 * spread)


def block(collector, number):
    return replace(collector, rows=10).draw(10 * number, 10).reports


def test_a_block_is_its_own():
    cell, settings = Cell("zipf", 30, 1.0, 500, 1.0), Settings()
    collector = cell_collector(cell, settings, {})
    np.testing.assert_array_equal(block(collector, 3), block(cell_collector(cell, settings, {}), 3))
    others = [
        block(collector, 4),
        block(cell_collector(cell, Settings(seed=2), {}), 3),
        block(cell_collector(cell, Settings(people="rounded"), {}), 3),
        block(cell_collector(cell, Settings(users="sampled"), {}), 3),
        block(cell_collector(Cell("zipf", 30, 1.1, 500, 1.0), settings, {}), 3),
        block(cell_collector(Cell("zipf", 30, 1.0, 500, 1.1), settings, {}), 3),
    ]
    for other in others:
        assert not np.array_equal(block(collector, 3), other)
    same_people = [cell_collector(cell, Settings(people="rounded", seed=seed), {}) for seed in (1, 2)]
    np.testing.assert_array_equal(same_people[0].true_counts, same_people[1].true_counts)
    assert not np.array_equal(block(same_people[0], 3), block(same_people[1], 3))


def test_a_block_is_drawn_from_its_beginning():
    collector = cell_collector(Cell("zipf", 30, 1.0, 500, 1.0), Settings(), {})
    with pytest.raises(ValueError, match="first must be a multiple of the rows of a block, 100, got 30"):
        collector.draw(30, 5)


def test_several_collectors_take_turns():
    collectors = [cell_collector(Cell("zipf", 30, e, 500, 1.0), Settings(), {}) for e in (1.0, 2.0)]
    blocks = list(simulate(collectors, 150))
    assert [(block.point, block.first, block.wanted) for block in blocks] == [
        *((point, 0, 100) for point in (0, 1)),
        *((point, 100, 50) for point in (0, 1)),
    ]
    for block in blocks:
        alone = collectors[block.point].draw(block.first, block.wanted)
        np.testing.assert_array_equal(block.reports, alone.reports)


def test_who_the_users_are():
    def people(dist, k, n, epsilon=1.0, s=1.0, **changes):
        return cell_collector(Cell(dist, k, epsilon, n, s), Settings(**changes), {}).true_counts

    np.testing.assert_array_equal(people("zipf", 40, 999), people("zipf", 40, 999, epsilon=7.0))
    assert people("zipf", 40, 999).sum() == 999
    assert not np.array_equal(people("zipf", 40, 999), people("zipf", 40, 999, seed=9))
    np.testing.assert_array_equal(people("zipf", 40, 999, people="rounded"), whole_users(zipf(40, 1.0), 999))
    assert people("zipf", 40, 999, users="sampled") is None
    assert people(POINT, 4, 17).tolist() == [17, 0, 0, 0]
    table = TABLES["work"].population("work")
    np.testing.assert_array_equal(people("work", 9, table.total), table.counts)
    assert not np.array_equal(people("work", 9, table.total - 1), table.counts)


def test_an_uploaded_histogram_is_its_own_people():
    uploaded = Population.from_weights(np.array([5, 0, 11, 4]))
    cell = Cell(uploaded.key, 4, 1.0, 20)
    collector = cell_collector(cell, Settings(), {uploaded.key: uploaded})
    assert collector.true_counts.tolist() == [5, 0, 11, 4]
    assert collector.truth.tolist() == [0.25, 0, 0.55, 0.2]
    assert cell_collector(cell, Settings(users="sampled"), {uploaded.key: uploaded}).true_counts is None


@pytest.mark.slow
@settings(max_examples=60)
@given(
    rows=hnp.arrays(
        np.int64,
        st.tuples(st.integers(1, 5), st.integers(2, 12)),
        elements=st.one_of(st.integers(0, 6), st.integers(1000, 1100), st.integers(0, 10**9)),
    ),
    epsilon=st.floats(0.05, 12),
)
def test_levels_of_a_block_give_the_estimates_of_each_row(rows, epsilon):
    """Whatever the rows share, and whether their counts are tallied or stand alone."""
    rows[:, 0] += rows.sum(axis=1) == 0
    levels, mechanism = shared_profile(rows), RandomizedResponse(rows.shape[1], epsilon)
    assert (np.diff(levels.values, axis=1) <= 0).all()
    for row, values, multiplicities in zip(rows, levels.values, levels.multiplicities, strict=True):
        assert np.repeat(values, multiplicities.astype(int)).tolist() == sorted(row, reverse=True)
    for name, make in RULES.items():
        expected = ESTIMATORS[name](rows, mechanism)
        np.testing.assert_allclose(
            make(levels, mechanism).at(rows), expected, rtol=1e-9, atol=2e-12 * np.abs(expected).max()
        )
