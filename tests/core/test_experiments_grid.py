"""Cells and their keys, combinations of axes, and the paper's grids."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import Population, zipf
from rr_core.experiments.grid import (
    MAIN_GRID,
    MAIN_SETTINGS,
    PAPER_FIGURES,
    POINT,
    Cell,
    Settings,
    Sweep,
    over,
)
from rr_core.populations import SHAPES, TABLES

UPLOAD = Population.from_weights([3, 0, 7])


@given(
    dist=st.sampled_from([*SHAPES, *TABLES, POINT, UPLOAD.key]),
    k=st.integers(2, 1_500_000),
    epsilon=st.floats(0.01, 20),
    n=st.integers(1, 10**9),
    s=st.floats(0, 5),
)
def test_a_key_names_one_cell_and_reads_back(dist, k, epsilon, n, s):
    cell = Cell(dist, k, epsilon, n, s)
    assert Cell.parse(cell.key) == cell
    assert hash(Cell.parse(cell.key)) == hash(cell)
    other = Cell(dist, k, math.nextafter(epsilon, 1.0), n, s)
    assert (other.key == cell.key) == (other == cell)


def test_equal_cells_however_they_are_written():
    assert Cell("zipf", 12, 1, 100, 2) == Cell("zipf", np.int64(12), 1.0, np.int64(100), 2.0)
    assert Cell("uniform", 12, 1.0, 100, 2.0).key == Cell("uniform", 12, 1.0, 100).key
    assert Cell("letters", 5, 1.0, 100).k == 26


def test_settings_do_not_depend_on_the_order_of_a_choice():
    assert Settings(estimators=["mle_star", "inv"]) == Settings(estimators=("inv", "mle_star"))
    assert Settings(metrics=["nll", "mse"]).metrics == ("mse", "nll")


def test_populations():
    assert Cell(POINT, 4, 1.0, 10).population({}).probabilities.tolist() == [1, 0, 0, 0]
    np.testing.assert_array_equal(Cell("zipf", 7, 1.0, 10, 1.3).population({}).probabilities, zipf(7, 1.3))
    cell = Cell(UPLOAD.key, 3, 1.0, 10)
    assert cell.uploaded
    assert cell.population({UPLOAD.key: UPLOAD}) is UPLOAD
    with pytest.raises(ValueError, match="populations must hold 'weights:"):
        cell.population({})
    with pytest.raises(ValueError, match="population must have k = 4 categories, got 3"):
        Cell(UPLOAD.key, 4, 1.0, 10).population({UPLOAD.key: UPLOAD})


def test_combinations():
    cells = over(s=(1.0, 2.0), k=5, epsilon=(1, 2, 3), n=[10, 20])
    assert len(cells) == len(set(cells)) == 12
    assert cells[0] == Cell("zipf", 5, 1.0, 10, 1.0)
    assert cells[1] == Cell("zipf", 5, 1.0, 20, 1.0)
    assert cells[-1] == Cell("zipf", 5, 3.0, 20, 2.0)
    # Only Zipf has an exponent, and a table its own k.
    assert len(over(dist=("zipf", "uniform"), s=(1.0, 2.0), k=5, epsilon=1.0, n=10)) == 3
    assert len(over(dist="letters", k=(5, 6), epsilon=1.0, n=10)) == 1
    assert Sweep(cells + cells[:3]).cells == cells


def test_the_main_grid_is_the_papers():
    assert len(MAIN_GRID) == 10 * 5 * 4 * 3
    assert {cell.epsilon for cell in MAIN_GRID} == set(range(1, 11))
    assert {cell.n for cell in MAIN_GRID} == {100, 1000, 10_000, 100_000, 1_000_000}
    assert {cell.k for cell in MAIN_GRID} == {50, 100, 1000, 5000}
    assert {cell.s for cell in MAIN_GRID} == {0.01, 1.3, 2.5}
    assert (MAIN_SETTINGS.seeds, MAIN_SETTINGS.users, MAIN_SETTINGS.people) == (100, "fixed", "drawn")
    assert MAIN_SETTINGS.estimators == ("inv_n", "inv_p", "mle_star")
    assert MAIN_SETTINGS.metrics == ("mse", "nll")


def test_the_presets_are_the_papers_figures():
    assert list(PAPER_FIGURES) == ["1a", "1b", "2a", "2b", "5", "6", "7", "8", "9", "10"]
    for key, preset in PAPER_FIGURES.items():
        assert preset.key == key
        assert preset.metric == ("mse" if key in ("1a", "2a", "5", "6", "7") else "nll")
    for key in ("1a", "1b"):
        cells = PAPER_FIGURES[key].cells
        assert {(cell.k, cell.epsilon) for cell in cells} == {(10_000, 4.0)}
        assert {cell.n for cell in cells} == {10**i for i in range(2, 7)}
        assert {cell.s for cell in cells if cell.dist == "zipf"} == {0.01, 1.3, 2.5, 5.0}
        assert len(cells) == 25
    for key in ("2a", "2b"):
        cells = PAPER_FIGURES[key].cells
        assert {(cell.k, cell.n) for cell in cells} == {(10_000, 10**6)}
        assert {cell.epsilon for cell in cells} == set(range(1, 11))
        assert len(cells) == 50
    for number, s in zip(range(5, 11), (0.01, 1.3, 2.5) * 2, strict=True):
        cells = PAPER_FIGURES[str(number)].cells
        assert {cell.s for cell in cells} == {s}
        assert {cell.k for cell in cells} == {50, 100, 1000, 5000, 10_000}
        assert {cell.epsilon for cell in cells} == {1, 2, 4, 10}
        assert len(cells) == 5 * 4 * 5
