"""How the three stand over a sweep, counted by hand."""

import math

import pytest
from scipy import stats

from rr_core.comparison import VALID
from rr_core.experiments.grid import Settings, over
from rr_core.experiments.ranking import standing
from tests.core.sweeps import made

CELLS = over(s=1.0, k=10, epsilon=(1, 2, 3, 4, 5), n=100)
# Of InvN, InvP and MLE*.
MEANS = [(1.0, 3.0, 2.0), (1.0, 3.0, 1.5), (8.0, 2.0, 6.0), (3.0, 2.0, 1.0), (1.0, 1.0, 1.0)]


def test_counts_and_ratios():
    found = standing(made(CELLS, MEANS), "mse")
    assert (found.cells, found.equal, found.apart) == (5, 1, 4)
    assert found.sure == {"inv_n": 2, "inv_p": 1, "mle_star": 1}
    assert (found.unsettled, found.behind) == (0, 3)
    assert found.near == 2  # 1.5 and 1 times the smallest
    assert standing(made(CELLS, MEANS), "mse", close=2.0).near == 3
    assert (found.typical, found.largest, found.where) == (1.75, 3.0, CELLS[2])


def test_what_the_collections_settle():
    """InvN, InvP and MLE* alone and surely; by a hair; two that are one and the same, which a third one may be near."""
    limit = stats.t.isf(0.05 / (2 * 3 * 5), df=39) * 0.1
    means = [(1, 3, 2), (3, 1, 2), (1, 1 + 0.99 * limit, 2), (3, 1 - 1e-12, 1), (1, 1, 1 + 0.99 * limit)]
    found = standing(made(CELLS, means, 0.1), "mse")
    assert found.sure == {"inv_n": 1, "inv_p": 1, "mle_star": 0}
    assert (found.shared, found.settled, found.apart) == (1, 3, 5)
    assert (found.unsettled, found.behind) == (2, 3)
    assert (found.largest, found.where) == (2, CELLS[0])  # of the three where MLE* is surely behind
    once = Settings(1, estimators=VALID, metrics=("mse", "nll"), bias=False)
    assert standing(made(CELLS, means, math.nan, once), "mse").settled == 0


def test_another_metric_and_a_partial_sweep():
    found = standing(made(CELLS, MEANS[:1]), "nll")  # ten times as large, in the opposite order
    assert (found.cells, found.sure["mle_star"], found.largest) == (1, 1, 1.0)


def test_all_equal_and_none():
    same = standing(made(CELLS, MEANS[-1:]), "mse")
    assert (same.equal, same.apart, same.where) == (1, 0, None)
    assert same.largest == 1
    assert math.isnan(same.typical)
    assert standing(made(CELLS, []), "mse").cells == 0


def test_a_smallest_error_of_zero():
    assert standing(made(CELLS, [(0.0, 1.0, 2.0)]), "mse").largest == math.inf


@pytest.mark.parametrize("lacking", [{"metrics": ("nll",)}, {"estimators": ("inv", "inv_n", "inv_p")}])
def test_what_is_lacking_is_said(lacking):
    settings = Settings(40, **{"estimators": VALID, "metrics": ("mse", "nll"), "bias": False} | lacking)
    result = made(CELLS, MEANS, settings=settings)
    with pytest.raises(ValueError, match="must be one of the sweep's"):
        standing(result, "mse")
