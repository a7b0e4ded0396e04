"""Maps of a sweep: which there are, what they hold fixed, and what stands in their cells; a sweep as curves: what is
drawn first, and that the numbers are the sweep's."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from rr_core.experiments.curves import (
    CurveSelection,
    default_selection,
    measures,
    ranked_shares,
    select_curves,
)
from rr_core.experiments.grid import (
    EXPONENTS,
    MAIN_GRID,
    MAIN_SETTINGS,
    PAPER_FIGURES,
    Cell,
    Settings,
    Sweep,
    over,
)
from rr_core.experiments.ranking import standing
from rr_core.experiments.run import SweepResult, run
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
from rr_core.populations import Population, zipf
from rr_core.registry import ESTIMATORS
from tests.core.sweeps import THREE, made

GRID = over(s=(0.5, 1.0, 2.0), k=(10, 40), epsilon=(1.0, 2.0, 5.0), n=(100, 1000))


@pytest.mark.parametrize(
    ("cells", "keys"),
    [
        (MAIN_GRID, ("eps-n", "eps-s", "n-k", "n-s")),
        (PAPER_FIGURES["1a"].cells, ("n-s",)),
        (PAPER_FIGURES["5"].cells, ("eps-n", "n-k")),
    ],
)
def test_which_maps_there_are(cells, keys):
    assert map_kinds(cells) == keys
    assert has_map(cells)
    assert why_no_map(Sweep(cells, THREE)) == ""


@pytest.mark.parametrize(
    ("cells", "keys"),
    [
        ((), ()),
        (over(k=5, epsilon=1.0, n=10), ()),
        (over(k=(5, 6), epsilon=1.0, n=10), ("k-n",)),
        (over(s=(1.0, 2.0), k=5, epsilon=1.0, n=10), ("s-n",)),
        # Two values each, but not of the same population.
        ((Cell("zipf", 5, 1.0, 10), Cell("zipf", 5, 2.0, 10), Cell("uniform", 5, 1.0, 100)), ("eps-n",)),
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
        assert (len(strip.x), len(strip.y), len(strip.rows)) == (2, 1, 1)
        for x, spot in zip(strip.x, strip.rows[0], strict=True):
            assert axis_value(spot.cell, strip.kind.x) == x


def test_choices_take_the_middle_or_what_is_wanted():
    first, second = fixed_axes(MAIN_GRID, "eps-n", {})
    assert first == FixedAxis("population", ("0.01", "1.3", "2.5"), "1.3")
    assert second == FixedAxis("k", (50, 100, 1000, 5000), 1000)
    first, second = fixed_axes(MAIN_GRID, "n-k", {"population": "2.5", "epsilon": 3, "k": 77})
    assert (first.value, second.axis, second.value) == ("2.5", "epsilon", 3)
    first, second = fixed_axes(MAIN_GRID, "eps-s", {"k": 77, "n": 100.0})
    assert (first.value, second.value) == (1000, 100)
    with pytest.raises(ValueError, match="that the cells have, none, got 'eps-n'"):
        fixed_axes((), "eps-n", {})
    with pytest.raises(ValueError, match="metric must be one of the sweep's, mse, nll, got 'tv'"):
        winner_map(made(GRID, []), "eps-n", "tv", {})
    two = replace(THREE, estimators=("inv_n", "mle_star"))
    assert "run without InvP." in why_no_map(Sweep(GRID, two))
    with pytest.raises(ValueError, match="estimators must hold inv_n, inv_p, mle_star, got inv_n, mle_star"):
        winner_map(made(GRID, [], settings=two), "eps-n", "mse", {})


def test_choices_depend_on_those_before_them():
    cells = (
        *over(s=1.0, k=(10, 20), epsilon=(1.0, 2.0), n=(50, 60)),
        *over(dist="letters", k=2, epsilon=(1.0, 2.0), n=(50, 60)),
        *over(dist="uniform", k=30, epsilon=1.0, n=(50, 60)),  # one epsilon: no plane
    )
    first, second = fixed_axes(cells, "eps-n", {"population": "letters", "k": 10})
    assert first.options == ("1", "letters")
    assert (second.options, second.value) == ((26,), 26)


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


SETTINGS = Settings(12, metrics=("mse", "tv", "nll"), bias=False)
CELLS = over(s=(0.01, 2.5), k=(5, 20), epsilon=(1.0, 2.0), n=(1000, 50, 200))
BOTH = (("zipf", 0.01), ("zipf", 2.5))
INV_N, MLE = 1, 3


@pytest.fixture(scope="module")
def result():
    return run(Sweep(CELLS, SETTINGS))


def choice(**changes):
    return CurveSelection(
        **{
            "along": "n",
            "metric": "mse",
            "measure": "sum",
            "populations": BOTH,
            "ks": (5, 20),
            "fixed_values": (1.0, 2.0),
        }
        | changes
    )


def at(result, s, k, epsilon, n):
    return result.by_cell[Cell("zipf", k, epsilon, n, s)]


def test_rows_are_populations_times_k_and_columns_the_third_axis(result):
    drawn = select_curves(result, choice())
    assert [(row.cell.s, row.cell.k) for row in drawn.rows] == [(0.01, 5), (0.01, 20), (2.5, 5), (2.5, 20)]
    assert [len(row.panels) for row in drawn.rows] == [2] * 4
    assert (drawn.n_completed, drawn.seeds, drawn.band) == (24, 12, "seeds")
    for row in drawn.rows:
        for epsilon, panel in zip((1.0, 2.0), row.panels, strict=True):
            np.testing.assert_array_equal(panel.x, [50, 200, 1000])
            assert list(panel.curves) == list(ESTIMATORS)
            for e, line in enumerate(panel.curves.values()):
                mine = [at(result, row.cell.s, row.cell.k, epsilon, n) for n in (50, 200, 1000)]
                np.testing.assert_array_equal(line.mean, [c.mean[0, e] for c in mine])
                np.testing.assert_array_equal(line.low, [c.quantiles[0, 0, e] for c in mine])
                np.testing.assert_array_equal(line.high, [c.quantiles[4, 0, e] for c in mine])


def test_excess_is_the_paired_difference_from_mle_star_and_leaves_inv_out(result):
    drawn = select_curves(
        result, choice(metric="nll", measure="excess", ks=(5,), populations=BOTH[1:], fixed_values=(2.0,))
    )
    panel = drawn.rows[0].panels[0]
    assert list(panel.curves) == ["inv_n", "inv_p", "mle_star"]
    assert drawn.band == "error"
    cells = [at(result, 2.5, 5, 2.0, n) for n in (50, 200, 1000)]
    line = panel.curves["inv_n"]
    expected = [c.mean[2, INV_N] - c.mean[2, MLE] for c in cells]
    np.testing.assert_allclose(line.mean, expected, rtol=1e-9, atol=1e-15)
    assert (line.mean >= 0).all()
    errors = np.array([c.difference_error[2, INV_N, MLE] for c in cells])
    np.testing.assert_allclose(line.high - line.mean, 2 * errors, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(line.mean - line.low, 2 * errors, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(panel.curves["mle_star"].high, 0)


@pytest.mark.parametrize("part", ["bias2", "variance", "zeros", "negatives"])
def test_what_the_error_is_made_of(part):
    """Each number is the cell's own, without a band."""
    whole = run(Sweep(over(s=1.0, k=6, epsilon=1.0, n=(20, 50)), Settings(7)))
    assert part in measures(whole.sweep.settings, "mse")
    drawn = select_curves(whole, replace(default_selection(whole.sweep), measure=part))
    assert (drawn.band, drawn.standing) == ("none", None)
    for e, line in enumerate(drawn.rows[0].panels[0].curves.values()):
        np.testing.assert_array_equal(line.mean, [getattr(cell, part)[e] for cell in whole.cells])


def test_per_category_is_the_sum_divided_by_k(result):
    summed, mean = (select_curves(result, choice(measure=measure)) for measure in ("sum", "category"))
    for whole, part in zip(summed.rows, mean.rows, strict=True):
        whole_mean, part_mean = (row.panels[0].curves["inv_p"].mean for row in (whole, part))
        np.testing.assert_allclose(part_mean * whole.cell.k, whole_mean, rtol=1e-15)


def test_an_upload_that_is_not_at_hand_has_no_histogram():
    mine = Population.from_weights(np.arange(1, 9))
    swept = run(
        Sweep(over(dist=mine.key, k=8, epsilon=(1, 2), n=36), Settings(3)), populations={mine.key: mine}
    )
    (with_it,) = select_curves(swept, default_selection(swept.sweep), {mine.key: mine}).rows
    (without,) = select_curves(swept, default_selection(swept.sweep)).rows
    assert (with_it.ranks.size, without.ranks.size, without.shares.size) == (8, 0, 0)
    np.testing.assert_array_equal(
        with_it.panels[0].curves["inv_p"].mean, without.panels[0].curves["inv_p"].mean
    )


def test_a_partial_result_has_all_rows_and_the_points_that_are_done(result):
    part = SweepResult(result.sweep, tuple(c for c in result.cells if c.cell.n != 200 and c.cell.s < 1))
    drawn = select_curves(part, choice())
    assert len(drawn.rows) == 4
    np.testing.assert_array_equal(drawn.rows[0].panels[1].x, [50, 1000])
    assert drawn.rows[3].panels[0].x.size == 0
    assert drawn.rows[3].panels[0].curves["inv"].mean.shape == (0,)
    assert drawn.n_completed == 8
    assert drawn.standing == standing(part, "mse")
    empty = select_curves(SweepResult(result.sweep, ()), choice())
    assert (empty.n_completed, empty.standing.worst_cell, empty.standing.n_equal) == (0, None, 0)


def test_ranks_and_shares_of_a_population(result):
    row = select_curves(result, choice()).rows[3]
    np.testing.assert_array_equal(row.ranks, np.arange(1, 21))
    np.testing.assert_array_equal(row.shares, zipf(20, 2.5))
    shuffled = np.random.default_rng(3).permutation(zipf(100_000, 1.1))
    ranks, shares = ranked_shares(shuffled)
    assert len(ranks) <= 200
    assert (ranks[0], ranks[-1]) == (1, 100_000)
    np.testing.assert_array_equal(ranks[:10], np.arange(1, 11))
    np.testing.assert_array_equal(shares, zipf(100_000, 1.1)[ranks - 1])


def test_a_population_at_one_k_only_is_drawn_at_that():
    cells = over(k=(10, 20), epsilon=1.0, n=(20, 50)) + over(dist="letters", k=3, epsilon=1.0, n=(20, 50))
    result = run(Sweep(cells, Settings(2, bias=False)))
    start = default_selection(result.sweep)
    assert start.populations == (("zipf", 0.0), ("letters", 0.0))
    assert [row.cell.k for row in select_curves(result, start).rows] == [20, 26]


ALL_THREE = tuple(("zipf", s) for s in (0.01, 1.3, 2.5))
OF_FIGURES = tuple(("zipf", s) for s in EXPONENTS)


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("1a", CurveSelection("n", "mse", "category", OF_FIGURES, (10_000,), (4.0,))),
        ("2b", CurveSelection("epsilon", "nll", "excess", OF_FIGURES, (10_000,), (10**6,))),
        (None, CurveSelection("epsilon", "mse", "category", ALL_THREE, (1000,), (10**6,))),
    ],
)
def test_a_figure_of_the_paper_opens_as_it_is_printed_and_the_grid_with_what_it_holds(preset, expected):
    preset = PAPER_FIGURES.get(preset)
    cells = MAIN_GRID if preset is None else preset.cells
    assert default_selection(Sweep(cells, MAIN_SETTINGS), preset) == expected
