"""Who wins along a single axis: stretches of equal winners, counted by hand."""

import pytest
from scipy import stats

from rr_core.comparison import VALID
from rr_core.experiments.grid import MAIN_GRID, Cell, over
from rr_core.experiments.ranking import LeaderInterval, leader_intervals, varying_axis
from tests.core.sweeps import made

CELLS = over(s=1.0, k=10, epsilon=(1, 2, 3, 4, 5, 6), n=100)
N, P, HAIR, SHARED, EQUAL = (1, 3, 2), (3, 1, 2), (1, 1.01, 2), (3, 1, 1), (1, 1, 1)


@pytest.mark.parametrize(
    ("cells", "axis"),
    [
        (CELLS, "epsilon"),
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
    result = made(CELLS, [N, N, HAIR, P, SHARED, EQUAL], 0.1)
    assert leader_intervals(result, "mse", "epsilon") == (
        LeaderInterval(1, 2, ("inv_n",), True, False),
        LeaderInterval(3, 3, (), False, False),
        LeaderInterval(4, 4, ("inv_p",), False, False),
        LeaderInterval(5, 5, ("inv_p", "mle_star"), False, False),
        LeaderInterval(6, 6, VALID, False, True),
    )
    assert leader_intervals(made(CELLS, [P] * 6, 0.1), "mse", "epsilon") == (
        LeaderInterval(1, 6, ("inv_p",), True, True),
    )


def test_what_was_not_run_ends_a_stretch_and_the_order_of_the_cells_does_not_matter():
    mixed = tuple(CELLS[i] for i in (5, 0, 1, 3, 2, 4))  # of them the first four are run: 6, 1, 2 and 4
    assert leader_intervals(made(mixed, [P] * 4, 0.1), "mse", "epsilon") == (
        LeaderInterval(1, 2, ("inv_p",), True, False),
        LeaderInterval(4, 4, ("inv_p",), False, False),
        LeaderInterval(6, 6, ("inv_p",), False, True),
    )
    assert leader_intervals(made(CELLS, []), "mse", "epsilon") == ()


def test_it_is_settled_at_the_level_of_the_sweep():
    limit = stats.t.isf(0.05 / (2 * 3 * 6), df=39) * 0.1
    for distance, best in ((0.999, ()), (1.001, ("inv_n",))):
        (found,) = leader_intervals(made(CELLS, [(1, 1 + distance * limit, 9)], 0.1), "mse", "epsilon")
        assert found.best == best
