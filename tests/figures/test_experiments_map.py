"""The map of who wins."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from rr_core.experiments.grid import MAIN_GRID, Settings, over
from rr_core.experiments.winner_map import MAP_KINDS, winner_map
from rr_core.figures import experiments_map
from rr_core.figures.experiments_map import cell_numbers, column_and_row, map_figure, mixed, times_sign
from rr_core.figures.style import QUANTITIES, reading
from tests.core.sweeps import THREE, made
from tests.figures.samples import named
from tests.figures.test_every_figure import check
from tests.sentences import holds

CELLS = over(s=1.0, k=10, epsilon=(1.0, 2.0, 3.0, 4.0), n=(100, 1000))
# n varies first.
MEANS = [(1, 3, 2), (30, 1, 20), (3, 1.02, 1), (1, 1, 1), (1, 1.01, 1.02), (0, 1, 2), (3, 1, 1)]
PLACES = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]
SHARED = PLACES[6]


def seen(means=MEANS, error=0.01, metric="mse", cells=CELLS, key="eps-n", settings=THREE):
    return winner_map(made(cells, means, error, settings), key, metric, {})


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
    for done in (0, 1, 250, len(MAIN_GRID)):
        result = made(MAIN_GRID, rng.lognormal(size=(done, 3)).tolist(), 0.2)
        for here in (None, (2.0, 2.0), (7.0, 500.0)):
            check(map_figure(winner_map(result, key, metric, {}), here))


def test_an_infinite_error_of_everything_is_still_a_map():
    check(map_figure(seen([(1, 0, 2)] * 8)))
    assert "MLE* loses in 8, where the smallest error may be zero" in reading(
        map_figure(seen([(1, 0, 2)] * 8))
    )
    check(map_figure(seen([(1, 1, 1)] * 8)))


@holds("Colour: the estimate with the smallest error on average.")
def test_colour_is_the_winner_and_shade_the_margin():
    colours = by_place(cells := named(map_figure(seen()), "cells"), cells.marker.color)
    assert list(colours) == sorted(PLACES, key=lambda place: (place[1], place[0]))
    assert colours[0, 1] == QUANTITIES["inv_p"].colour  # twenty times: full
    assert colours[2, 1] == QUANTITIES["inv_n"].colour  # infinite
    assert colours[0, 0] == mixed(QUANTITIES["inv_n"].colour, 0.2 + 0.8 * math.log(2) / math.log(3))
    near = mixed(QUANTITIES["mle_star"].colour, 0.2 + 0.8 * math.log(1.02) / math.log(3))
    surely = named(map_figure(seen([(3, 1.02, 1)], 1e-4)), "cells")
    assert list(surely.marker.color) == [near]
    assert list(surely.text) == ["MLE*"]
    assert colours[1, 0] == colours[2, 0] == named(map_figure(seen()), "too close").marker.color
    red, green, blue = (int(colours[1, 1][i : i + 2], 16) for i in (1, 3, 5))
    assert red == green == blue
    assert mixed("#0072B2", 1) == "#0072B2"
    assert mixed("#0072B2", 0) == "#FFFFFF"


WHITE = re.compile(r'<span style="color:#FFFFFF">(.*)</span>')


def strip(text):
    """A cell's words without their colour."""
    return WHITE.sub(r"\1", text)


def ink(text):
    return "#FFFFFF" if WHITE.fullmatch(text) else "#000000"


def test_words_say_the_same_as_colours():
    cells = named(map_figure(seen()), "cells")
    words = {place: strip(text) for place, text in by_place(cells, cells.text).items()}
    said = ["InvN", "InvP", "InvP<br>MLE*", "=", "?", "InvN", "InvP<br>MLE*"]
    assert [words[place] for place in PLACES] == said
    inks = {place: ink(text) for place, text in by_place(cells, cells.text).items()}
    assert inks[0, 1] == "#FFFFFF"  # on full blue
    assert inks[2, 1] == inks[1, 0] == "#000000"  # on orange, and on what is pale
    assert cells.insidetextfont.color == "#000000"
    for state in (cells.selected, cells.unselected):  # a click fades neither ground nor words
        assert (state.marker.opacity, state.textfont.color) == (1, "#000000")
    mark = named(map_figure(seen(), here=(2.0, 1000.0)), "you: ε, N")
    assert mark.unselected.marker.opacity == 1


def test_every_ground_has_words_that_stand_out():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    means = [m for i in range(60) for m in [(1, 1.03**i, 9), (1.03**i, 1, 9), (9, 1.03**i, 1)]]
    cells = over(s=1.0, k=10, epsilon=np.linspace(1, 2, 18), n=range(10, 20))
    drawn = named(map_figure(seen(means, cells=cells)), "cells")
    for ground, text in zip(drawn.marker.color, drawn.text, strict=True):
        low, high = sorted((luminance(ground), luminance(ink(text))))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_what_the_seeds_do_not_settle_is_hatched():
    cells = named(figure := map_figure(seen()), "cells")
    hatched = by_place(cells, cells.marker.pattern.shape)
    assert {place for place, shape in hatched.items() if shape} == {(1, 0), (2, 0)}
    assert named(figure, "too close").marker.pattern.shape == "/"
    sure = map_figure(seen([(1, 3, 2)] * 8))
    assert not any(named(sure, "cells").marker.pattern.shape)
    assert not {"too close", "equal"} & {trace.name for trace in sure.data}
    assert named(figure, "equal").marker.color == by_place(cells, cells.marker.color)[1, 1]


def test_cells_not_run_are_empty_and_holes_are_nothing():
    waiting = named(map_figure(seen(MEANS[:6])), "not run yet")
    assert set(by_place(waiting, waiting.x)) == {(3, 0), (3, 1)}
    assert waiting.marker.color == "rgba(128,128,128,0)"
    assert all("not run yet" in text for text in waiting.hovertext)
    holed = winner_map(made(CELLS[:7], MEANS[:6]), "eps-n", "mse", {})
    waiting = named(map_figure(holed), "not run yet")
    assert set(by_place(waiting, waiting.x)) == {(3, 0)}


def test_a_click_gives_back_the_cell():
    figure = map_figure(seen(MEANS[:6]))
    for name in ("cells", "not run yet"):
        bars = named(figure, name)
        upper = np.asarray(bars.base) + np.asarray(bars.y)  # what a browser reports of a bar
        places = list(by_place(bars, bars.x))
        assert [column_and_row(x, y) for x, y in zip(bars.x, upper, strict=True)] == places


def test_hover_has_every_number():
    seeds = THREE.seeds
    spots = named(figure := map_figure(seen()), "cells")
    text = by_place(spots, spots.hovertext)[0, 1]
    for part in (
        "<b>InvP has the smallest error</b>",
        "the next one's is 20× as large<br>",
        "ε = 1, N = 1,000, K = 10<br>Zipf s = 1",
        "Squared error, summed over categories:",
        "<b>InvN</b> 30 ± 0.005",
        "<b>MLE*</b> 20 ± 0.005<br>(mean ± its standard error)<br>Best",
        f"Best / worst of the {seeds} collections:<br>InvN 0 / 0, InvP 1 / 10, MLE* 2 / 20",
        "all equal in 4",
        "MLE*'s error over the smallest: 20×",
    ):
        assert part in text
    texts = by_place(spots, spots.hovertext)
    assert texts[1, 0].startswith("<b>Not settled: InvP or MLE*</b><br>may have the smallest error<br>ε")
    assert "over the smallest" not in texts[1, 0]
    assert "All three are equal" in texts[1, 1]
    assert "InvP and MLE* share the smallest error" in texts[SHARED]
    assert "∞" in texts[2, 1]
    assert max(len(line) for line in text.split("<br>")) < 60
    once = Settings(1, estimators=THREE.estimators, metrics=("mse", "nll"), bias=False)
    single = named(map_figure(seen([(1, 2, 3)], math.nan, settings=once)), "cells").hovertext[0]
    assert "±" not in single
    assert "1 collection:" in single
    assert "nan" not in single
    assert figure.layout.barmode == "overlay"


def test_the_scenario_is_marked_near_where_it_lies():
    """In a corner of its cell, not on the words."""
    plain = seen([(1, 1.02, 1.01)] * 8)
    for epsilon, n, column, row in (
        (2.4, 100 * 10**0.4, 1.4, 0.4),
        (1.2, 120, 0.4, 0.4),
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
    assert figure.layout.height < map_figure(seen()).layout.height - 100
    assert list(figure.layout.yaxis.ticktext) == ["10²"]
    assert reading(figure).startswith("Zipf s = 1, K = 10, N = 100: of 3 cells, InvP has")
    assert reading(map_figure(seen([(1, 3, 2)], cells=cells))).startswith(
        "Zipf s = 1, K = 10, N = 100: of the 1 cell run so far"
    )
    assert named(figure, "you: ε, N").y[0] == pytest.approx(0.4)
    for key, other in (
        ("k-n", over(k=(5, 10), epsilon=1.0, n=9)),
        ("s-n", over(s=(1, 2), k=5, epsilon=1.0, n=9)),
    ):
        check(map_figure(seen([(1, 3, 2)] * 2, cells=other, key=key)))


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1, "1×"),
        (1.000034, "1.000034×"),
        (1.0456, "1.046×"),
        (1.96, "1.96×"),
        (7.316, "7.32×"),
        (150.4, "150×"),
        (12_345.6, "12,346×"),
        (2e9, "2·10⁹×"),
        (math.inf, "∞×"),
    ],
)
def test_ratios_as_words(ratio, text):
    assert times_sign(ratio) == text


def test_a_table_has_the_numbers_that_the_cells_leave_out():
    numbers = {(x, y): cell_numbers(one) for y, row in enumerate(seen().rows) for x, one in enumerate(row)}
    said = [
        "InvN 2×",
        "InvP 20×",
        "InvP or MLE*?",
        "all equal",
        "InvN or InvP or MLE*?",
        "InvN ∞×",
        "InvP and MLE* 3×",
        "–",
    ]
    assert [numbers[place] for place in (*PLACES, (3, 1))] == said
    third = map_figure(drawn := seen([(1, 2, 3)] * 8))
    assert "over the smallest: 3×" in named(third, "cells").hovertext[0]
    assert cell_numbers(drawn.rows[0][0]) == "InvN 2×, MLE* 3×"


@pytest.mark.slow
def test_a_large_map_has_no_words_but_is_small():
    cells = over(s=1.0, k=10, epsilon=np.linspace(0.1, 4, 40), n=np.arange(10, 30))
    figure = map_figure(seen([(1, 3, 2)] * 800, cells=cells))
    check(figure)
    assert named(figure, "cells").text is None


def test_a_tick_is_the_very_value():
    for value in (50, 99_999, 100_000, 123_400, 123_456, 1_423_000, 1_423_001, 1_500_000):
        text = experiments_map.tick("k", value)
        million = 1_000_000 if text.endswith("M") else 1
        assert round(float(text.rstrip("M").replace(",", "")) * million) == value
    assert experiments_map.tick("n", 100_000) == "10⁵"
