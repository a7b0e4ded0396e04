"""Maps of a sweep: which there are, what they hold fixed, and what stands in their cells."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest

from rr_core.experiments.grid import MAIN_GRID, PAPER_FIGURES, POINT, Cell, Settings, Sweep, over
from rr_core.experiments.winner_map import (
    MAP_KINDS,
    STRIP_KINDS,
    FixedAxis,
    axis_value,
    fixed_axes,
    has_map,
    map_kinds,
    winner_map,
)
from rr_core.figures.experiments_map import why_no_map
from rr_core.populations import Population
from rr_core.words.phrases import population_name
from tests.core.sweeps import THREE, made

GRID = over(s=(0.5, 1.0, 2.0), k=(10, 40), epsilon=(1.0, 2.0, 5.0), n=(100, 1000))
UPLOADED = Population.from_weights([3, 2, 1]).key


@pytest.mark.parametrize(
    ("cell", "name", "text"),
    [
        (Cell("zipf", 5, 1.0, 9, 1.3), "Zipf s = 1.3", "1.3"),
        (Cell("zipf", 5, 1.0, 9, 0.0), "Zipf s = 0", "0"),
        (Cell("uniform", 5, 1.0, 9), "uniform", "uniform"),
        (Cell("humps", 5, 1.0, 9), "two humps", "humps"),
        (Cell("letters", 5, 1.0, 9), "Letters of Moby-Dick", "letters"),
        (Cell(POINT, 5, 1.0, 9), "point mass (everybody in one category)", "point"),
        (Cell(UPLOADED, 3, 1.0, 9), "your histogram", UPLOADED[:16]),
    ],
)
def test_a_population_has_a_name_and_a_text_for_links(cell, name, text):
    assert population_name(cell) == name
    assert axis_value(cell, "population") == text
    assert axis_value(cell, "s") == cell.s


def test_which_maps_there_are():
    assert map_kinds(MAIN_GRID) == tuple(MAP_KINDS) == ("eps-n", "eps-s", "n-k", "n-s")
    assert map_kinds(PAPER_FIGURES["1a"].cells) == ("n-s",)
    assert map_kinds(PAPER_FIGURES["2b"].cells) == ("eps-s",)
    assert map_kinds(PAPER_FIGURES["5"].cells) == ("eps-n", "n-k")
    assert all(has_map(cells) for cells in (MAIN_GRID, PAPER_FIGURES["1a"].cells))


@pytest.mark.parametrize(
    ("cells", "keys"),
    [
        ((), ()),
        (over(k=5, epsilon=1.0, n=10), ()),
        (over(dist=("uniform", "humps"), k=5, epsilon=1.0, n=10), ()),
        (over(dist=POINT, k=5, epsilon=(1.0, 2.0), n=10), ("eps-n",)),
        (over(k=5, epsilon=1.0, n=(10, 20)), ("n-k",)),
        (over(k=(5, 6), epsilon=1.0, n=10), ("k-n",)),
        (over(s=(1.0, 2.0), k=5, epsilon=1.0, n=10), ("s-n",)),
        # Two values each, but not of the same population.
        ((Cell("zipf", 5, 1.0, 10), Cell("zipf", 5, 2.0, 10), Cell("uniform", 5, 1.0, 100)), ("eps-n",)),
        (
            over(k=5, epsilon=(1.0, 2.0), n=10) + over(dist="uniform", k=5, epsilon=1.0, n=(10, 20)),
            ("eps-n", "n-k"),
        ),
        # The exponent of another shape is no axis.
        (over(dist=("zipf", "uniform"), s=1.0, k=5, epsilon=(1.0, 2.0), n=10), ("eps-n",)),
    ],
)
def test_strips_where_there_is_no_plane(cells, keys):
    assert map_kinds(cells) == keys
    assert set(keys) <= set(STRIP_KINDS)
    assert not has_map(cells)
    assert (why_no_map(Sweep(cells, THREE)) == "") == bool(keys)
    for key in keys:
        strip = winner_map(made(cells, [(1, 3, 2)] * len(cells)), key, "mse", {})
        assert strip.is_strip
        assert len(strip.x) == 2
        assert len(strip.y) == len(strip.rows) == 1
        for x, spot in zip(strip.x, strip.rows[0], strict=True):
            assert (axis_value(spot.cell, strip.kind.x), axis_value(spot.cell, strip.kind.y)) == (
                x,
                strip.y[0],
            )


def test_strips_of_several_populations():
    cells = over(dist=("uniform", "humps"), k=5, epsilon=(1.0, 2.0, 4.0), n=10)
    first, second = fixed_axes(cells, "eps-n", {"population": "uniform"})
    assert (first.options, first.value) == (("uniform", "humps"), "uniform")
    assert second.options == (5,)
    found = winner_map(made(cells, []), "eps-n", "mse", {"population": "uniform"})
    assert {spot.cell.dist for spot in found.map_cells} == {"uniform"}
    assert found.position(3.0, 10) == pytest.approx((1.5, 0))
    assert found.position(3.0, 11) is None
    assert not winner_map(made(GRID, []), "eps-n", "mse", {}).is_strip
    with pytest.raises(ValueError, match="that the cells have, eps-n, got 'k-n'"):
        fixed_axes(cells, "k-n", {})
    with pytest.raises(ValueError, match="eps-n, eps-s, n-k, n-s, got 's-n'"):
        fixed_axes(MAIN_GRID, "s-n", {})


def test_why_there_is_none():
    assert why_no_map(Sweep(GRID, THREE)) == ""
    two = Settings(3, estimators=("inv", "inv_p"))
    assert "run without InvN and MLE*." in why_no_map(Sweep(GRID, two))
    for cells in ((), over(k=5, epsilon=1.0, n=10)):
        assert "none of them takes two values" in why_no_map(Sweep(cells, THREE))


def test_choices_take_the_middle_or_what_is_wanted():
    first, second = fixed_axes(MAIN_GRID, "eps-n", {})
    assert first == FixedAxis("population", ("0.01", "1.3", "2.5"), "1.3")
    assert second == FixedAxis("k", (50, 100, 1000, 5000), 1000)
    first, second = fixed_axes(MAIN_GRID, "n-k", {"population": "2.5", "epsilon": 3, "k": 77})
    assert (first.value, second.axis, second.value) == ("2.5", "epsilon", 3)
    first, second = fixed_axes(MAIN_GRID, "eps-s", {"k": 77, "n": 100.0})
    assert (first.value, second.value) == (1000, 100)
    with pytest.raises(
        ValueError, match="key must be one of the maps that the cells have, eps-n, eps-s, n-k, n-s"
    ):
        fixed_axes(MAIN_GRID, "k-n", {})
    with pytest.raises(ValueError, match="that the cells have, none, got 'eps-n'"):
        fixed_axes((), "eps-n", {})


def test_choices_depend_on_those_before_them():
    cells = (
        *over(s=1.0, k=(10, 20), epsilon=(1.0, 2.0), n=(50, 60)),
        *over(dist="letters", k=2, epsilon=(1.0, 2.0), n=(50, 60)),
        *over(dist="uniform", k=30, epsilon=1.0, n=(50, 60)),  # one epsilon: no plane
    )
    first, second = fixed_axes(cells, "eps-n", {"population": "letters", "k": 10})
    assert first.options == ("1", "letters")
    assert (second.options, second.value) == ((26,), 26)
    assert fixed_axes(cells, "eps-n", {"population": "uniform"})[0].value == "letters"


@pytest.mark.parametrize("key", MAP_KINDS)
def test_each_place_holds_its_cell(key):
    """Against a search through all cells."""
    result = made(GRID, [(1 + i, 2.5, 3) for i in range(len(GRID))])
    first, second = fixed_axes(GRID, key, {})
    for a, b in product(first.options, second.options):
        found = winner_map(result, key, "mse", {first.axis: a, second.axis: b})
        kind = found.kind
        inside = [c for c in GRID if axis_value(c, first.axis) == a and axis_value(c, second.axis) == b]
        assert found.x == tuple(sorted({getattr(c, kind.x) for c in inside}))
        assert found.y == tuple(sorted({getattr(c, kind.y) for c in inside}))
        for (j, y), (i, x) in product(enumerate(found.y), enumerate(found.x)):
            spot = found.rows[j][i]
            (cell,) = [c for c in inside if (getattr(c, kind.x), getattr(c, kind.y)) == (x, y)]
            assert spot.cell == cell
            assert spot.result is result.by_cell[cell]
        assert [spot.cell for spot in found.map_cells] == [spot.cell for row in found.rows for spot in row]


def test_unfinished_sweeps_and_holes():
    cells = over(s=1.0, k=10, epsilon=(1.0, 2.0), n=(100, 1000))
    empty = winner_map(made(cells, []), "eps-n", "mse", {})
    assert (empty.completed, len(empty.map_cells)) == ((), 4)
    assert all(math.isnan(spot.regret) for spot in empty.map_cells)
    one = winner_map(made(cells, [(1, 3, 2)]), "eps-n", "mse", {})
    assert [spot.cell for spot in one.completed] == [cells[0]]
    assert sum(math.isnan(spot.regret) for spot in one.map_cells) == 3
    holed = winner_map(made(cells[:3], [(1, 3, 2)] * 3), "eps-n", "mse", {})
    assert holed.rows[1][1] is None
    assert len(holed.map_cells) == 3


def test_wrong_questions():
    result = made(GRID, [(1, 2, 3)])
    with pytest.raises(ValueError, match="metric must be one of the sweep's, mse, nll, got 'tv'"):
        winner_map(result, "eps-n", "tv", {})
    with pytest.raises(ValueError, match="key must be one of the maps"):
        winner_map(result, "n-eps", "mse", {})
    two = replace(THREE, estimators=("inv_n", "mle_star"))
    with pytest.raises(ValueError, match="estimators must hold inv_n, inv_p, mle_star, got inv_n, mle_star"):
        winner_map(made(GRID, [], settings=two), "eps-n", "mse", {})


def test_a_point_between_the_places():
    result = made(over(s=(0.0, 1.0, 3.0), k=(10, 40), epsilon=(1.0, 2.0, 5.0), n=(100, 1000, 100_000)), [])
    along = winner_map(result, "eps-n", "mse", {})
    assert along.position(1.0, 100) == (0, 0)
    assert along.position(5.0, 100_000) == (2, 2)
    assert along.position(3.5, 10_000) == pytest.approx((1.5, 1.5))  # linear, and logarithmic
    assert along.position(1.25, 100 * math.sqrt(10)) == pytest.approx((0.25, 0.5))
    for outside in ((0.99, 500), (5.01, 500), (2.0, 99), (2.0, 100_001)):
        assert along.position(*outside) is None
    assert winner_map(result, "n-k", "mse", {}).position(1000, 20) == pytest.approx((1, 0.5))
    assert winner_map(result, "n-s", "mse", {}).position(100, 2.0) == pytest.approx((0, 1.5))
    assert winner_map(result, "eps-s", "mse", {}).position(2.0, 0.0) == (1, 0)
