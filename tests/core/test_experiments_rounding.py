"""What is rounding and what has no spread, at the largest epsilon of a sweep."""

from __future__ import annotations

import math

import numpy as np

from rr_core.experiments.claims import order_in_k
from rr_core.experiments.grid import Settings, Sweep, over
from rr_core.experiments.ranking import leading
from rr_core.experiments.run import run


def test_estimates_without_negatives_are_equal_however_small_their_errors():
    """Squared errors of 2e-17: Inv has no negative entry, so that all repairs are Inv."""
    result = run(Sweep(over(s=1.0, k=5, epsilon=20, n=10), Settings(20)))
    (cell,) = result.cells
    assert cell.negatives[0] == 0
    assert leading(result, cell, "mse").equal
    assert cell.tied.tolist() == [20] * 4
    assert not np.nansum(cell.worst)


def test_errors_that_are_all_the_same_settle_no_slope():
    """Nobody's report was changed in 20 collections; Inv's own slope, by its variance, is 1.01."""
    result = run(Sweep(over(s=1.0, k=(5, 50, 500), epsilon=20, n=10), Settings(20)))
    odds = math.expm1(20)
    variance = [(k * (odds + k - 1) + (k - 2) * odds) / odds**2 for k in (50, 500)]
    assert math.log10(variance[1] / variance[0]) < 1.1
    count = order_in_k(result).count
    assert (count.yes, count.no) == (0, 0)
