"""How concentrated a population is, in words."""

from dataclasses import replace

import numpy as np
import pytest

from rr_core.experiments.claims import shape_of
from rr_core.experiments.grid import Cell
from rr_core.figures.experiments_sentences import SHAPES_EXPLAINED
from tests.core.sweeps import THREE, cell_result

CELL = cell_result(Cell("uniform", 100, 1.0, 50), THREE, (1, 2, 3), 0.1)


@pytest.mark.parametrize(
    ("concentration", "shape"),
    [
        (1.0, "concentrated"),
        (0.5, "concentrated"),
        (0.499, "moderate"),
        (1 / 89.9, "moderate"),
        (1 / 90.1, "near uniform"),
        (1 / 100, "near uniform"),
    ],
)
def test_thresholds(concentration, shape):
    assert shape_of(replace(CELL, concentration=concentration)) == shape


def test_the_populations_that_explain_the_words():
    def squared(s, k):
        weights = np.arange(1, k + 1) ** -s
        return ((weights / weights.sum()) ** 2).sum()

    assert "s = 2.5: 0.58" in SHAPES_EXPLAINED[0]
    assert "s = 1.3: 0.09 to 0.15" in SHAPES_EXPLAINED[0]
    assert [round(squared(2.5, k), 2) for k in (50, 10_000)] == [0.58, 0.58]
    assert [round(squared(1.3, k), 2) for k in (50, 10_000)] == [0.15, 0.09]
