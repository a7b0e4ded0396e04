"""A sweep drawn as the paper draws it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rr_core.experiments.curves import Curves, default_selection, select_curves
from rr_core.experiments.grid import POINT, Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.figures.experiments_curves import MOST_COLUMNS, MOST_ROWS, curves_reading, paper_figure
from rr_core.figures.style import QUANTITIES, reading
from rr_core.registry import ESTIMATORS
from rr_core.rounding import number
from tests.figures.samples import values
from tests.figures.test_every_figure import check

SETTINGS = Settings(6, metrics=("mse", "tv", "nll"), bias=False)


@cache
def swept() -> SweepResult:
    zipf = over(s=(0.01, 2.5), k=(5, 40), epsilon=(1.0, 2.0, 3.0), n=(50, 500, 5000))
    return run(Sweep(zipf + over(dist=POINT, k=40, epsilon=(1.0, 2.0, 3.0), n=(50, 500, 5000)), SETTINGS))


def drawn(**changes) -> Curves:
    start = replace(
        default_selection(swept().sweep), along="n", ks=(5, 40), fixed_values=(1.0, 2.0), measure="sum"
    )
    return select_curves(swept(), replace(start, **changes))


def curves(figure, name):
    return [t for t in figure.data if t.mode == "lines+markers" and t.name == QUANTITIES[name].name]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["mse", "tv", "nll"])
@pytest.mark.parametrize("along", ["n", "epsilon"])
def test_every_panel_is_where_it_belongs(metric, along):
    fixed = (1.0, 2.0) if along == "n" else (500, 5000)
    shown = drawn(
        metric=metric, measure="sum" if metric == "mse" else "level", along=along, fixed_values=fixed
    )
    figure = paper_figure(shown)
    check(figure)
    assert len(shown.rows) == 5
    for name in ESTIMATORS:
        mine = {(t.xaxis, t.yaxis): t for t in curves(figure, name)}
        assert len(mine) == 5 * 2
        for i, row in enumerate(shown.rows):
            for j, panel in enumerate(row.panels):
                trace = mine[f"x{j + 1 if j else ''}", f"y{i + 1 if i else ''}"]
                np.testing.assert_array_equal(values(trace, "x"), panel.x)
                line = panel.curves[name]
                np.testing.assert_array_equal(
                    trace.customdata, np.stack([line.mean, line.low, line.high], axis=-1)
                )
                seen = values(trace)
                np.testing.assert_allclose(seen[line.mean > 0], line.mean[line.mean > 0], rtol=1e-12)


def test_bands_go_along_their_upper_edge_and_back_along_the_lower():
    shown = drawn(fixed_values=(1.0,), ks=(5,), populations=(("zipf", 0.01),))
    figure = paper_figure(shown)
    bands = [t for t in figure.data if t.name == "band"]
    assert [t.legendgroup for t in bands] == list(ESTIMATORS)
    floor = 10.0 ** figure.layout.yaxis.range[0]
    for trace in bands:
        line = shown.rows[0].panels[0].curves[trace.legendgroup]
        np.testing.assert_array_equal(values(trace, "x"), [50, 500, 5000, 5000, 500, 50])
        np.testing.assert_allclose(
            values(trace), np.maximum(np.concatenate([line.high, line.low[::-1]]), floor), rtol=1e-12
        )


def test_an_excess_has_mle_star_on_a_line_marked_0():
    shown = drawn(metric="nll", measure="excess", fixed_values=(1.0,), ks=(40,), populations=(("zipf", 2.5),))
    figure = paper_figure(shown)
    check(figure)
    assert curves(figure, "inv") == []
    (best,) = curves(figure, "mle_star")
    axis = figure.layout.yaxis
    assert (axis.ticktext[0], axis.tickvals[0]) == ("0", values(best)[0])
    assert len(set(values(best))) == 1
    assert axis.range[0] < np.log10(values(best)[0])
    for name in ("inv_n", "inv_p"):
        (other,) = curves(figure, name)
        assert (values(other) > values(best)).all()
    assert "MLE* has the lowest NLL (nats per report, the line at 0), alone or shared" in reading(figure)
    most = shown.rows[0].panels[0].curves["inv_p"].mean.max()
    assert f"InvP’s is up to {most:.3g} higher" in reading(figure)


@pytest.mark.parametrize(
    ("along", "here", "there"),
    [("n", 100.0, True), ("n", 1e9, False), ("epsilon", 1.5, True), ("epsilon", 9.0, False)],
)
def test_the_readers_own_place_is_an_upright_line_in_every_panel(along, here, there):
    fixed = (1.0, 2.0) if along == "n" else (500, 5000)
    figure = paper_figure(drawn(along=along, fixed_values=fixed), here)
    lines_ = figure.layout.shapes or ()
    assert len(lines_) == (5 * 2 if there else 0)
    assert all(shape.x0 == shape.x1 == here for shape in lines_)
    assert {shape.xref for shape in lines_} == ({"x", "x2"} if there else set())


def test_no_more_than_can_be_read():
    cells = over(s=1.0, k=range(2, 12), epsilon=range(1, 9), n=(20, 40))
    sweep = Sweep(cells, Settings(2, metrics=("mse",), bias=False))
    result, choice = (
        SweepResult(sweep, ()),
        replace(default_selection(sweep), along="n", fixed_values=tuple(range(1, 9))),
    )
    figure = paper_figure(select_curves(result, choice))
    check(figure)
    assert len([t for t in figure.data if t.name == "Population"]) == MOST_ROWS
    assert f"xaxis{MOST_COLUMNS + 1}" in figure.layout
    assert len([note for note in figure.layout.annotations if note.text.startswith("ε = ")]) == MOST_COLUMNS


def test_nothing_yet():
    sweep = swept().sweep
    check(paper_figure(select_curves(SweepResult(sweep, ()), default_selection(sweep)), here=100.0))
    check(
        paper_figure(
            select_curves(SweepResult(Sweep((), SETTINGS), ()), default_selection(Sweep((), SETTINGS)))
        )
    )


def test_a_single_cell_and_errors_that_are_all_zero():
    settings = Settings(3, estimators=("inv_n", "inv_p", "mle_star"), metrics=("mse",), bias=False)
    cells = over(dist=POINT, k=3, epsilon=20.0, n=5)
    result = run(Sweep(cells, settings))
    shown = select_curves(result, default_selection(result.sweep))
    assert not any(line.mean.any() for line in shown.rows[0].panels[0].curves.values())
    figure = paper_figure(shown)
    check(figure)
    axis = figure.layout.yaxis
    assert axis.ticktext[0] == "0"
    assert values(curves(figure, "inv_p")[0]) == pytest.approx(axis.tickvals[0])
    assert axis.range[0] < np.log10(axis.tickvals[0]) < axis.range[1]


@pytest.mark.parametrize("part", ["zeros", "negatives"])
def test_parts_have_no_band_and_say_their_range(part):
    shown = drawn(measure=part)
    figure = paper_figure(shown)
    check(figure)
    assert not [t for t in figure.data if t.name.startswith("band")]
    most = max(panel.curves["inv_p"].mean.max() for row in shown.rows for panel in row.panels)
    assert f"InvP 0 to {number(most)}" in reading(figure)


def test_a_population_that_is_not_at_hand_is_left_empty():
    row = replace(drawn().rows[0], ranks=np.empty(0, dtype=np.int64), shares=np.empty(0))
    figure = paper_figure(replace(drawn(), rows=(row,)))
    check(figure)
    (left,) = [t for t in figure.data if t.name == "Population"]
    assert len(left.x) == len(left.y) == 0


def test_what_rounding_leaves_is_not_told_as_a_difference():
    """With two categories the three estimates are the same whatever is reported."""
    result = run(Sweep(over(s=1.0, k=2, epsilon=(1, 2), n=(10, 1000)), Settings(20)))
    shown = select_curves(result, replace(default_selection(result.sweep), metric="nll", measure="excess"))
    told = curves_reading(shown)
    assert "higher" not in told
    assert all(f"{name}’s is the same" in told for name in ("InvN", "InvP"))
