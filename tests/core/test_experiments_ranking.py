"""How the three stand over a sweep, and who wins along its axis: from results made by hand. Counts and ratios of sweeps
made at random, and of two runs: tests/figures/test_experiments_readings.py."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy import stats

from rr_core.experiments.grid import MAIN_GRID, Cell, Settings, Sweep, over
from rr_core.experiments.ranking import (
    FAR_STANDARD_ERRORS,
    LeaderInterval,
    agreement,
    leader_intervals,
    standing,
    varying_axis,
)
from rr_core.experiments.run import SweepResult, run
from rr_core.registry import VALID
from tests.core.sweeps import made
from tests.sentences import holds

CELLS = over(s=1.0, k=10, epsilon=(1, 2, 3, 4, 5), n=100)
# Of InvN, InvP and MLE*.
MEANS = [(1.0, 3.0, 2.0), (1.0, 3.0, 1.5), (8.0, 2.0, 6.0), (3.0, 2.0, 1.0), (1.0, 1.0, 1.0)]


@holds("typically {}, and up to {}")
def test_counts_and_ratios():
    found = standing(made(CELLS, MEANS), "mse")
    assert (found.n_completed, found.n_equal, found.n_different) == (5, 1, 4)
    assert found.n_best == {"inv_n": 2, "inv_p": 1, "mle_star": 1}
    assert found.n_unsettled == 0
    assert found.n_close == 2  # 1.5 and 1 times the smallest
    assert standing(made(CELLS, MEANS), "mse", close=2.0).n_close == 3
    assert (found.median_ratio, found.worst_ratio, found.worst_cell) == (1.75, 3.0, CELLS[2])


@pytest.mark.parametrize("lacking", [{"metrics": ("nll",)}, {"estimators": ("inv", "inv_n", "inv_p")}])
def test_what_is_lacking_is_said(lacking):
    settings = Settings(40, **{"estimators": VALID, "metrics": ("mse", "nll"), "bias": False} | lacking)
    result = made(CELLS, MEANS, settings=settings)
    with pytest.raises(ValueError, match="must be one of the sweep's"):
        standing(result, "mse")


ALONG_EPSILON = over(s=1.0, k=10, epsilon=(1, 2, 3, 4, 5, 6), n=100)
N, P, HAIR, SHARED, EQUAL = (1, 3, 2), (3, 1, 2), (1, 1.01, 2), (3, 1, 1), (1, 1, 1)


@pytest.mark.parametrize(
    ("cells", "axis"),
    [
        (ALONG_EPSILON, "epsilon"),
        (over(k=5, epsilon=1.0, n=(10, 20)), "n"),
        (over(dist="uniform", k=(5, 9), epsilon=1.0, n=10), "k"),
        (over(s=(0.5, 1.0), k=5, epsilon=1.0, n=10), "s"),
        (over(k=5, epsilon=(1.0, 2.0), n=(10, 20)), None),
        (over(dist=("uniform", "humps"), k=5, epsilon=(1.0, 2.0), n=10), None),
        (over(k=5, epsilon=1.0, n=10), None),
        ((Cell("zipf", 5, 1.0, 10, 1.0), Cell("uniform", 5, 1.0, 10)), None),
        ((), None),
        (MAIN_GRID, None),
    ],
)
def test_the_only_axis(cells, axis):
    assert varying_axis(cells) == axis


def test_stretches_of_equal_winners():
    result = made(ALONG_EPSILON, [N, N, HAIR, P, SHARED, EQUAL], 0.1)
    assert leader_intervals(result, "mse", "epsilon") == (
        LeaderInterval(1, 2, ("inv_n",), True, False),
        LeaderInterval(3, 3, (), False, False),
        LeaderInterval(4, 4, ("inv_p",), False, False),
        LeaderInterval(5, 5, ("inv_p", "mle_star"), False, False),
        LeaderInterval(6, 6, VALID, False, True),
    )
    assert leader_intervals(made(ALONG_EPSILON, [P] * 6, 0.1), "mse", "epsilon") == (
        LeaderInterval(1, 6, ("inv_p",), True, True),
    )


def test_what_was_not_run_ends_a_stretch_and_the_order_of_the_cells_does_not_matter():
    mixed = tuple(
        ALONG_EPSILON[i] for i in (5, 0, 1, 3, 2, 4)
    )  # of them the first four are run: 6, 1, 2 and 4
    assert leader_intervals(made(mixed, [P] * 4, 0.1), "mse", "epsilon") == (
        LeaderInterval(1, 2, ("inv_p",), True, False),
        LeaderInterval(4, 4, ("inv_p",), False, False),
        LeaderInterval(6, 6, ("inv_p",), False, True),
    )
    assert leader_intervals(made(ALONG_EPSILON, []), "mse", "epsilon") == ()


# Two runs compared: against SciPy's Welch test, and on runs whose relation is known.

SETTINGS = Settings(15, people="rounded", metrics=("mse", "nll"), bias=False)
CELLS_AGREEMENT = over(s=(0.5, 2.0), k=12, epsilon=(1.0, 3.0), n=(60, 600))


def ran(cells=CELLS_AGREEMENT, **changes):
    return run(Sweep(cells, replace(SETTINGS, **changes)))


@pytest.fixture(scope="module")
def first():
    return ran()


@pytest.fixture(scope="module")
def second():
    return ran(seed=2, seeds=40, estimators=("inv_p", "mle_star", "inv"))


@pytest.mark.parametrize("metric", ["mse", "nll"])
def test_it_is_welchs_test_of_every_mean_that_both_have(first, second, metric):
    found = agreement(first, second, metric)
    distances, chances = {}, []
    m = ("mse", "nll").index(metric)
    for mine, theirs in zip(first.cells, second.cells, strict=True):
        for name in ("inv", "inv_p", "mle_star"):
            a, b = ("inv", "inv_n", "inv_p", "mle_star").index(name), ("inv", "inv_p", "mle_star").index(name)
            sides = [
                (cell.mean[m, e], cell.standard_error[m, e] * math.sqrt(cell.seeds), cell.seeds)
                for cell, e in ((mine, a), (theirs, b))
            ]
            test = stats.ttest_ind_from_stats(*sides[0], *sides[1], equal_var=False)
            distances[mine.cell, name] = abs(test.statistic)
            far = FAR_STANDARD_ERRORS * math.hypot(*(side[1] / math.sqrt(side[2]) for side in sides))
            at_far = stats.ttest_ind_from_stats(far, *sides[0][1:], 0.0, *sides[1][1:], equal_var=False)
            chances.append(at_far.pvalue)
    assert (found.n_common, found.n_compared) == (8, 24)
    assert found.largest_difference == pytest.approx(max(distances.values()))
    assert (found.difference_cell, found.difference_estimator) == max(distances, key=distances.__getitem__)
    assert found.n_beyond == sum(distance > 3 for distance in distances.values())
    assert found.expected_beyond == pytest.approx(sum(chances))
    assert not found.identical
    assert not found.same_collections
    assert found.same_users


def test_the_same_run_is_the_same_bit_for_bit(first):
    again = agreement(first, ran(), "mse")
    assert again.identical
    assert again.same_collections
    assert (again.largest_difference, again.n_beyond) == (0.0, 0)
    assert (again.largest_ratio, again.median_ratio) == (1.0, 1.0)
    part = agreement(first, SweepResult(first.sweep, first.cells[:3]), "mse")
    assert part.identical
    assert part.n_common == 3


def test_one_number_apart_is_not_the_same(first):
    cell = first.cells[4]
    other = replace(cell, quantiles=cell.quantiles + 1e-16)
    changed = SweepResult(first.sweep, (*first.cells[:4], other, *first.cells[5:]))
    found = agreement(first, changed, "mse")
    assert not found.identical
    assert found.largest_difference == 0.0


def test_the_same_numbers_under_other_settings_are_not_the_same(first):
    other = Sweep(first.sweep.cells, replace(SETTINGS, seed=2))
    assert not agreement(first, SweepResult(other, first.cells), "mse").identical


@pytest.mark.parametrize(
    ("mine", "theirs", "same"),
    [
        ({"seed": 1}, {"seed": 2}, True),  # rounded: no seed behind the users
        ({"people": "drawn"}, {"people": "drawn"}, True),
        ({"people": "drawn", "seed": 1}, {"people": "drawn", "seed": 2}, False),
        ({"people": "drawn"}, {"people": "rounded"}, False),
        ({"users": "sampled", "people": "drawn", "seed": 1}, {"users": "sampled", "seed": 2}, True),
        ({"users": "sampled"}, {"users": "fixed"}, False),
    ],
)
def test_whether_both_are_about_the_same_users(mine, theirs, same):
    runs = [ran(CELLS_AGREEMENT[:1], seeds=2, **changes) for changes in (mine, theirs)]
    assert agreement(*runs, "mse").same_users is same


@holds("The two runs have **no cell in common**: there is nothing to compare.")
def test_nothing_in_common(first):
    found = agreement(first, ran(over(k=5, epsilon=1.0, n=(10, 20))), "mse")
    assert (found.n_common, found.n_compared, found.n_beyond, found.expected_beyond) == (0, 0, 0, 0)
    assert not found.identical
    assert math.isnan(found.largest_difference)
    assert math.isnan(found.largest_ratio)
    assert math.isnan(found.median_ratio)
    assert found.difference_cell is found.ratio_cell is None


def test_a_metric_that_one_run_lacks(first):
    with pytest.raises(ValueError, match="metric must be one that both runs have, got 'nll'"):
        agreement(first, ran(CELLS_AGREEMENT[:1], metrics=("mse",)), "nll")
