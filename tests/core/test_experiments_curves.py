"""A sweep as curves: what is drawn first, and that the numbers are the sweep's."""

from __future__ import annotations

from dataclasses import replace

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
from rr_core.populations import Population, zipf
from rr_core.registry import ESTIMATORS, VALID

SETTINGS = Settings(12, metrics=("mse", "tv", "nll"), bias=False)
CELLS = over(s=(0.01, 2.5), k=(5, 20), epsilon=(1.0, 2.0), n=(1000, 50, 200))
BOTH = (("zipf", 0.01), ("zipf", 2.5))
INV, INV_N, INV_P, MLE = range(4)


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


def test_along_epsilon(result):
    drawn = select_curves(
        result,
        choice(
            along="epsilon", populations=BOTH[:1], ks=(20,), fixed_values=(200,), metric="tv", measure="level"
        ),
    )
    (row,) = drawn.rows
    (panel,) = row.panels
    np.testing.assert_array_equal(panel.x, [1.0, 2.0])
    expected = [at(result, 0.01, 20, epsilon, 200).mean[1, MLE] for epsilon in (1.0, 2.0)]
    np.testing.assert_array_equal(panel.curves["mle_star"].mean, expected)


def test_per_category_is_the_sum_divided_by_k(result):
    summed, mean = (
        select_curves(result, choice(measure=measure, ks=(20,))) for measure in ("sum", "category")
    )
    for name in ("mean", "low", "high"):
        whole, part = (getattr(drawn.rows[1].panels[0].curves["inv_p"], name) for drawn in (summed, mean))
        np.testing.assert_allclose(part * 20, whole, rtol=1e-15)


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
    for values in (
        panel.curves["mle_star"].mean,
        panel.curves["mle_star"].low,
        panel.curves["mle_star"].high,
    ):
        np.testing.assert_array_equal(values, 0)


def test_a_single_seed_has_an_excess_without_a_band():
    result = run(Sweep(over(k=5, epsilon=1.0, n=(20, 50)), Settings(1, metrics=("nll",), bias=False)))
    line = select_curves(result, default_selection(result.sweep)).rows[0].panels[0].curves["inv_p"]
    np.testing.assert_array_equal(line.low, line.mean)
    np.testing.assert_array_equal(line.high, line.mean)


def test_measures_of_each_metric():
    assert measures(Settings(5, estimators=VALID, bias=False), "mse") == ("category", "sum", "zeros")
    everything = ("category", "sum", "bias2", "variance", "zeros", "negatives")
    assert measures(Settings(5, bias=True), "mse") == everything
    assert measures(SETTINGS, "nll") == ("excess", "level")
    assert measures(SETTINGS, "tv") == measures(SETTINGS, "max") == ("level",)
    assert measures(Settings(5, estimators=("inv", "inv_p")), "nll") == ("level",)


@pytest.mark.parametrize("part", ["bias2", "variance", "zeros", "negatives"])
def test_what_the_error_is_made_of(part):
    """Each number is the cell's own, without a band; squared bias and variance add up to the error."""
    whole = run(Sweep(over(s=1.0, k=6, epsilon=1.0, n=(20, 50, 100)), Settings(7)))
    chosen = replace(default_selection(whole.sweep), measure=part)
    drawn = select_curves(whole, chosen)
    assert (drawn.band, drawn.standing) == ("none", None)
    for e, name in enumerate(whole.sweep.settings.estimators):
        line = drawn.rows[0].panels[0].curves[name]
        np.testing.assert_array_equal(line.mean, [getattr(cell, part)[e] for cell in whole.cells])
        np.testing.assert_array_equal(line.low, line.high)
        both = sum(
            select_curves(whole, replace(chosen, measure=one)).rows[0].panels[0].curves[name].mean
            for one in ("bias2", "variance")
        )
        np.testing.assert_allclose(both, [cell.mean[0, e] for cell in whole.cells], rtol=1e-9)


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
    empty = select_curves(SweepResult(result.sweep, ()), choice())
    assert (empty.n_completed, empty.standing.worst_cell, empty.standing.n_equal) == (0, None, 0)


def test_who_wins_is_about_all_that_is_chosen_and_nothing_else(result):
    drawn = select_curves(result, choice(ks=(20,), fixed_values=(1.0,)))
    mine = tuple(c for c in result.cells if c.cell.k == 20 and c.cell.epsilon == 1)
    assert drawn.standing == standing(SweepResult(result.sweep, mine), "mse")
    assert drawn.standing.n_completed == len(mine) > 0


def test_without_the_three_nobody_wins():
    result = run(Sweep(over(k=5, epsilon=1.0, n=(20, 50)), Settings(3, estimators=("inv", "mle_star"))))
    assert select_curves(result, default_selection(result.sweep)).standing is None


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
    given = Population.from_weights([1, 5, 2])
    cells = over(k=(10, 20), epsilon=1.0, n=(20, 50)) + over(
        dist=("letters", given.key), k=3, epsilon=1.0, n=(20, 50)
    )
    result = run(Sweep(cells, Settings(2, bias=False)), populations={given.key: given})
    start = default_selection(result.sweep)
    assert start.populations == (("zipf", 0.0), ("letters", 0.0), (given.key, 0.0))
    drawn = select_curves(result, start, {given.key: given})
    assert [row.cell.k for row in drawn.rows] == [20, 26, 3]
    assert drawn.n_completed == 6
    np.testing.assert_array_equal(drawn.rows[2].shares, [5 / 8, 2 / 8, 1 / 8])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (
            "1a",
            CurveSelection("n", "mse", "category", tuple(("zipf", s) for s in EXPONENTS), (10_000,), (4.0,)),
        ),
        (
            "2b",
            CurveSelection(
                "epsilon", "nll", "excess", tuple(("zipf", s) for s in EXPONENTS), (10_000,), (10**6,)
            ),
        ),
        (
            "10",
            CurveSelection(
                "n", "nll", "excess", (("zipf", 2.5),), (50, 100, 1000, 5000, 10_000), (1.0, 2.0, 4.0, 10.0)
            ),
        ),
    ],
)
def test_a_figure_of_the_paper_opens_as_it_is_printed(key, expected):
    preset = PAPER_FIGURES[key]
    assert default_selection(Sweep(preset.cells, MAIN_SETTINGS), preset) == expected


def test_any_other_sweep_opens_with_what_a_figure_holds():
    grid = Sweep(MAIN_GRID, MAIN_SETTINGS)
    assert default_selection(grid) == CurveSelection(
        "epsilon", "mse", "category", tuple(("zipf", s) for s in EXPONENTS), (1000,), (10**6,)
    )
    one = Sweep(over(s=1.0, k=(9, 70), epsilon=(0.5, 5.0), n=(10, 100, 1000)), Settings(metrics=("tv",)))
    assert default_selection(one) == CurveSelection("n", "tv", "level", (("zipf", 1.0),), (9, 70), (5.0,))
    assert default_selection(Sweep((), SETTINGS)).populations == ()
