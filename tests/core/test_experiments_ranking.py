"""How the three stand over a sweep, and who wins along its axis: from results made by hand."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from rr_core.experiments.grid import MAIN_GRID, Cell, Settings, over
from rr_core.experiments.ranking import LeaderInterval, leader_intervals, standing, varying_axis
from rr_core.registry import VALID
from tests.core.sweeps import made

CELLS = over(s=1.0, k=10, epsilon=(1, 2, 3, 4, 5), n=100)
# Of InvN, InvP and MLE*.
MEANS = [(1.0, 3.0, 2.0), (1.0, 3.0, 1.5), (8.0, 2.0, 6.0), (3.0, 2.0, 1.0), (1.0, 1.0, 1.0)]


def test_counts_and_ratios():
    found = standing(made(CELLS, MEANS), "mse")
    assert (found.n_completed, found.n_equal, found.n_different) == (5, 1, 4)
    assert found.n_best == {"inv_n": 2, "inv_p": 1, "mle_star": 1}
    assert (found.n_unsettled, found.n_beaten) == (0, 3)
    assert found.n_close == 2  # 1.5 and 1 times the smallest
    assert standing(made(CELLS, MEANS), "mse", close=2.0).n_close == 3
    assert (found.median_ratio, found.worst_ratio, found.worst_cell) == (1.75, 3.0, CELLS[2])


def test_what_the_collections_settle():
    """InvN, InvP and MLE* alone and surely; by a hair; two that are one and the same, which a third one may be near."""
    limit = stats.t.isf(0.05 / (2 * 3 * 5), df=39) * 0.1
    means = [(1, 3, 2), (3, 1, 2), (1, 1 + 0.99 * limit, 2), (3, 1 - 1e-12, 1), (1, 1, 1 + 0.99 * limit)]
    found = standing(made(CELLS, means, 0.1), "mse")
    assert found.n_best == {"inv_n": 1, "inv_p": 1, "mle_star": 0}
    assert (found.n_shared, found.n_settled, found.n_different) == (1, 3, 5)
    assert (found.n_unsettled, found.n_beaten) == (2, 3)
    assert (found.worst_ratio, found.worst_cell) == (2, CELLS[0])  # of the three where MLE* is surely behind
    once = Settings(1, estimators=VALID, metrics=("mse", "nll"), bias=False)
    assert standing(made(CELLS, means, math.nan, once), "mse").n_settled == 0


def test_another_metric_and_a_partial_sweep():
    found = standing(made(CELLS, MEANS[:1]), "nll")  # ten times as large, in the opposite order
    assert (found.n_completed, found.n_best["mle_star"], found.worst_ratio) == (1, 1, 1.0)


def test_all_equal_and_none():
    same = standing(made(CELLS, MEANS[-1:]), "mse")
    assert (same.n_equal, same.n_different, same.worst_cell) == (1, 0, None)
    assert same.worst_ratio == 1
    assert math.isnan(same.median_ratio)
    assert standing(made(CELLS, []), "mse").n_completed == 0


def test_a_smallest_error_of_zero():
    assert standing(made(CELLS, [(0.0, 1.0, 2.0)]), "mse").worst_ratio == math.inf


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


def test_it_is_settled_at_the_level_of_the_sweep():
    limit = stats.t.isf(0.05 / (2 * 3 * 6), df=39) * 0.1
    for distance, best in ((0.999, ()), (1.001, ("inv_n",))):
        (found,) = leader_intervals(
            made(ALONG_EPSILON, [(1, 1 + distance * limit, 9)], 0.1), "mse", "epsilon"
        )
        assert found.best == best
