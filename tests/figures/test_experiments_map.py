"""The map of who wins, and a sweep drawn as the paper draws it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rr_core.experiments.curves import Curves, default_selection, select_curves
from rr_core.experiments.grid import MAIN_GRID, POINT, Settings, Sweep, over
from rr_core.experiments.run import SweepResult, run
from rr_core.experiments.winner_map import MAP_KINDS, winner_map
from rr_core.figures import experiments_map
from rr_core.figures.experiments_curves import MOST_COLUMNS, MOST_ROWS, curves_reading, paper_figure
from rr_core.figures.experiments_map import cell_numbers, column_and_row, map_figure, times_sign
from rr_core.figures.style import QUANTITIES, reading
from rr_core.registry import ESTIMATORS
from rr_core.rounding import number
from tests.core.sweeps import THREE, made
from tests.figures.samples import named, values
from tests.figures.test_every_figure import check
from tests.sentences import holds

CELLS = over(s=1.0, k=10, epsilon=(1.0, 2.0, 3.0, 4.0), n=(100, 1000))
# Mean errors of InvN, InvP and MLE*; n varies first. The last cell has not been run.
MEANS = [(1, 3, 2), (30, 1, 20), (3, 1.02, 1), (1, 1, 1), (1, 1.01, 1.02), (0, 1, 2), (3, 1, 1)]
PLACES = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]
WORDS = ["InvN", "InvP", "InvP<br>MLE*", "=", "?", "InvN", "InvP<br>MLE*"]
WHITE = re.compile(r'<span style="color:#FFFFFF">(.*)</span>')


def seen(means=MEANS, error=0.01, cells=CELLS, key="eps-n", settings=THREE):
    return winner_map(made(cells, means, error, settings), key, "mse", {})


def by_place(trace, what):
    """What a bar says, by its column and row."""
    centres = np.asarray(trace.base) + np.asarray(trace.y) / 2
    np.testing.assert_allclose(centres, np.rint(centres), atol=1e-12)
    return {(int(x), round(y)): one for x, y, one in zip(trace.x, centres, what, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("key", MAP_KINDS)
@pytest.mark.parametrize("metric", ["mse", "nll"])
def test_map_is_valid_whatever_has_been_run(key, metric):
    rng = np.random.default_rng(1)
    for done, here in ((0, None), (250, (7.0, 500.0)), (len(MAIN_GRID), None)):
        result = made(MAIN_GRID, rng.lognormal(size=(done, 3)).tolist(), 0.2)
        check(map_figure(winner_map(result, key, metric, {}), here))


@holds("Colour: the estimate with the smallest error on average.")
def test_a_cell_tells_its_winner_by_colour_and_word_and_its_margin_by_shade():
    figure = map_figure(seen())
    cells = named(figure, "cells")
    colours, texts = by_place(cells, cells.marker.color), by_place(cells, cells.text)
    assert [WHITE.sub(r"\1", texts[place]) for place in PLACES] == WORDS
    assert colours[0, 1] == QUANTITIES["inv_p"].colour  # twenty times: full
    assert colours[2, 1] == QUANTITIES["inv_n"].colour  # infinite
    assert colours[0, 0] != QUANTITIES["inv_n"].colour  # twice: paler
    assert colours[1, 0] == colours[2, 0] == named(figure, "too close").marker.color
    assert colours[1, 1] == named(figure, "equal").marker.color
    hatched = by_place(cells, cells.marker.pattern.shape)
    assert {place for place, shape in hatched.items() if shape} == {(1, 0), (2, 0)}
    waiting = named(figure, "not run yet")
    assert set(by_place(waiting, waiting.x)) == {(3, 1)}
    sure = map_figure(seen([(1, 3, 2)] * 8))
    assert not any(named(sure, "cells").marker.pattern.shape)
    assert not {"too close", "equal"} & {trace.name for trace in sure.data}
    holed = winner_map(made(CELLS[:7], MEANS[:6]), "eps-n", "mse", {})  # (4.0, 1000) is no cell of this sweep
    waiting = named(map_figure(holed), "not run yet")
    assert set(by_place(waiting, waiting.x)) == {(3, 0)}


def test_every_ground_has_words_that_stand_out():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    means = [m for i in range(60) for m in [(1, 1.03**i, 9), (1.03**i, 1, 9), (9, 1.03**i, 1)]]
    cells = over(s=1.0, k=10, epsilon=np.linspace(1, 2, 18), n=range(10, 20))
    drawn = named(map_figure(seen(means, cells=cells)), "cells")
    for ground, text in zip(drawn.marker.color, drawn.text, strict=True):
        ink = "#FFFFFF" if WHITE.fullmatch(text) else "#000000"
        low, high = sorted((luminance(ground), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_a_click_gives_back_the_cell_and_fades_nothing():
    figure = map_figure(seen(MEANS[:6]), here=(2.0, 1000.0))
    for name in ("cells", "not run yet"):
        bars = named(figure, name)
        upper = np.asarray(bars.base) + np.asarray(bars.y)  # what a browser reports of a bar
        places = list(by_place(bars, bars.x))
        assert [column_and_row(x, y) for x, y in zip(bars.x, upper, strict=True)] == places
    assert named(figure, "cells").unselected.marker.opacity == 1
    assert named(figure, "you: ε, N").unselected.marker.opacity == 1


def test_hover_and_table_have_every_number():
    spots = named(map_figure(seen()), "cells")
    texts = by_place(spots, spots.hovertext)
    for part in (
        "<b>InvP has the smallest error</b>",
        "the next one's is 20× as large<br>",
        "ε = 1, N = 1,000, K = 10<br>Zipf s = 1",
        "<b>InvN</b> 30 ± 0.005",
        "MLE*'s error over the smallest: 20×",
    ):
        assert part in texts[0, 1]
    assert texts[1, 0].startswith("<b>Not settled: InvP or MLE*</b>")
    assert "over the smallest" not in texts[1, 0]
    assert "All three are equal" in texts[1, 1]
    assert "InvP and MLE* share the smallest error" in texts[3, 0]
    once = Settings(1, estimators=THREE.estimators, metrics=("mse", "nll"), bias=False)
    single = named(map_figure(seen([(1, 2, 3)], math.nan, settings=once)), "cells").hovertext[0]
    assert "1 collection:" in single
    assert "±" not in single
    assert "nan" not in single
    numbers = {(x, y): cell_numbers(one) for y, row in enumerate(seen().rows) for x, one in enumerate(row)}
    assert [numbers[place] for place in (*PLACES, (3, 1))] == [
        "InvN 2×", "InvP 20×", "InvP or MLE*?", "all equal", "InvN or InvP or MLE*?", "InvN ∞×", "InvP and MLE* 3×", "–",
    ]  # fmt: skip
    assert cell_numbers(seen([(1, 2, 3)] * 8).rows[0][0]) == "InvN 2×, MLE* 3×"
    assert [times_sign(ratio) for ratio in (1.000034, 12_345.6, 2e9)] == ["1.000034×", "12,346×", "2·10⁹×"]


def test_the_scenario_is_marked_near_where_it_lies():
    """In a corner of its cell, not on the words."""
    plain = seen([(1, 1.02, 1.01)] * 8)
    for epsilon, n, column, row in (
        (2.4, 100 * 10**0.4, 1.4, 0.4),
        (1.9, 900, 0.6, 0.6),
        (3.2, 1000, 2.4, 1.4),
    ):
        mark = named(map_figure(plain, (epsilon, n)), "you: ε, N")
        assert (mark.x[0], mark.y[0]) == pytest.approx((column, row))
    for outside in (None, (5.0, 100), (1.0, 99)):
        assert not [t for t in map_figure(plain, outside).data if t.name.startswith("you")]


def test_a_single_axis_is_one_row():
    cells = over(s=1.0, k=10, epsilon=(1.0, 2.0, 3.0), n=100)
    figure = map_figure(seen([(1, 3, 2), (1, 30, 20), (1, 1, 1)], cells=cells), (1.5, 100))
    check(figure)
    bars = named(figure, "cells")
    assert set(by_place(bars, bars.x)) == {(0, 0), (1, 0), (2, 0)}
    assert reading(figure).startswith("Zipf s = 1, K = 10, N = 100: of 3 cells, InvP has")

    for key, axis in (("k-n", {"k": (5, 10)}), ("s-n", {"s": (1, 2), "k": 5})):
        check(map_figure(seen([(1, 3, 2)] * 2, cells=over(**axis, epsilon=1.0, n=9), key=key)))


def test_a_tick_is_the_very_value():
    for value in (50, 99_999, 100_000, 123_456, 1_423_000, 1_423_001):
        text = experiments_map.tick("k", value)
        million = 1_000_000 if text.endswith("M") else 1
        assert round(float(text.rstrip("M").replace(",", "")) * million) == value
    assert experiments_map.tick("n", 100_000) == "10⁵"


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
@pytest.mark.parametrize(
    ("metric", "along", "fixed"),
    [("mse", "n", (1.0, 2.0)), ("tv", "epsilon", (500, 5000)), ("nll", "n", (1.0, 2.0))],
)
def test_every_panel_is_where_it_belongs(metric, along, fixed):
    measure = "sum" if metric == "mse" else "level"
    shown = drawn(metric=metric, measure=measure, along=along, fixed_values=fixed)
    here = 1.5 if along == "epsilon" else 100.0
    figure = paper_figure(shown, here)
    check(figure)
    assert len(shown.rows) == 5
    floor = 10.0 ** figure.layout.yaxis.range[0] if figure.layout.yaxis.type == "log" else 0.0
    for band in [t for t in figure.data if t.name == "band" and (t.xaxis, t.yaxis) == ("x", "y")]:
        line = shown.rows[0].panels[0].curves[band.legendgroup]  # up and back
        np.testing.assert_allclose(values(band), np.maximum([*line.high, *line.low[::-1]], floor), rtol=1e-12)
    for name in ESTIMATORS:
        mine = {(t.xaxis, t.yaxis): t for t in curves(figure, name)}
        assert len(mine) == 5 * 2
        for i, row in enumerate(shown.rows):
            for j, panel in enumerate(row.panels):
                trace = mine[f"x{j + 1 if j else ''}", f"y{i + 1 if i else ''}"]
                line = panel.curves[name]
                np.testing.assert_array_equal(values(trace, "x"), panel.x)
                np.testing.assert_allclose(values(trace)[line.mean > 0], line.mean[line.mean > 0], rtol=1e-12)
    own_place = figure.layout.shapes  # the reader's own, upright in every panel
    assert len(own_place) == 5 * 2
    assert all(shape.x0 == shape.x1 == here for shape in own_place)
    assert not paper_figure(shown, 1e9).layout.shapes


def test_an_excess_has_mle_star_on_a_line_marked_0():
    shown = drawn(metric="nll", measure="excess", fixed_values=(1.0,), ks=(40,), populations=(("zipf", 2.5),))
    figure = paper_figure(shown)
    check(figure)
    assert curves(figure, "inv") == []
    (best,) = curves(figure, "mle_star")
    axis = figure.layout.yaxis
    assert (axis.ticktext[0], axis.tickvals[0]) == ("0", values(best)[0])
    assert len(set(values(best))) == 1
    for name in ("inv_n", "inv_p"):
        (other,) = curves(figure, name)
        assert (values(other) > values(best)).all()


def test_no_more_than_can_be_read():
    cells = over(s=1.0, k=range(2, 12), epsilon=range(1, 9), n=(20, 40))
    sweep = Sweep(cells, Settings(2, metrics=("mse",), bias=False))
    choice = replace(default_selection(sweep), along="n", fixed_values=tuple(range(1, 9)))
    figure = paper_figure(select_curves(SweepResult(sweep, ()), choice))
    check(figure)
    assert len([t for t in figure.data if t.name == "Population"]) == MOST_ROWS
    assert len([note for note in figure.layout.annotations if note.text.startswith("ε = ")]) == MOST_COLUMNS


def test_nothing_yet():
    for sweep in (swept().sweep, Sweep((), SETTINGS)):
        check(paper_figure(select_curves(SweepResult(sweep, ()), default_selection(sweep)), here=100.0))


def test_a_single_cell_and_errors_that_are_all_zero():
    settings = Settings(3, estimators=("inv_n", "inv_p", "mle_star"), metrics=("mse",), bias=False)
    result = run(Sweep(over(dist=POINT, k=3, epsilon=20.0, n=5), settings))
    shown = select_curves(result, default_selection(result.sweep))
    assert not any(line.mean.any() for line in shown.rows[0].panels[0].curves.values())
    figure = paper_figure(shown)
    check(figure)
    axis = figure.layout.yaxis
    assert axis.ticktext[0] == "0"
    assert values(curves(figure, "inv_p")[0]) == pytest.approx(axis.tickvals[0])
    assert axis.range[0] < np.log10(axis.tickvals[0]) < axis.range[1]


def test_parts_have_no_band_and_say_their_range():
    shown = drawn(measure="zeros")
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
