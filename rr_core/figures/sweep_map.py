"""Who wins: a plane of a sweep as a map. Colour says which estimator, shade by how much, lines what MLE* costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.comparison import VALID
from rr_core.experiments.along import Axis
from rr_core.experiments.names import SYMBOLS
from rr_core.experiments.planes import Plane, Spot
from rr_core.figures.borders import Point, borders, named_at, path
from rr_core.figures.style import GRID, QUANTITIES, axis, figure
from rr_core.figures.sweep_words import hover, reading, short, times, unsettled

Colour = tuple[int, int, int]

AXIS_TITLES: dict[Axis, str] = {
    "epsilon": "Privacy budget ε",
    "n": "Users N",
    "k": "Categories K",
    "s": "Zipf exponent s (0 is uniform)",
}
_INK, _PAPER = "#141414", "#FFFFFF"
_NAME_PAPER = "rgba(255,255,255,0.88)"
_DARK = 0.25  # luminance below which words are white
_EQUAL, _UNSETTLED = "#C4C4C4", "#F2F2F2"
# Margin from which a win has its full colour, and how much of it a win by a hair has.
_FULL, _PALEST = 3.0, 0.2
# Gaps between the cells; cells beyond which there is no room for words.
_WIDTH, _HEIGHT, _MOST_WORDS = 0.97, 0.95, 240
# Regrets that have a border: few, since a border is drawn along whole cells; the larger, the thicker.
_LEVELS = (1.1, 2.0, *(10.0**power for power in range(1, 13)))
_THINNEST, _THICKEST = 1.6, 4.8
_MOST_TICKS = 12
_ROW = 84  # pixels of a single row
# Corners of a cell, from its middle: clear of its words. How near a line's name may be to what stands there, in cells:
# a name is wide, and on a narrow screen wider than a cell.
_ASIDE, _BESIDE, _BELOW = 0.4, 0.75, 0.3
_COLOURS = "Smallest error; the paler, the closer the win"
_LINES = "<br>Lines: MLE*'s error over the smallest, where settled"
_SMALL = {"size": 13}
_STEADY = {"marker": {"opacity": 1}}  # a click must not fade the cells that were not clicked


def who_wins(plane: Plane, here: tuple[float, float] | None = None) -> go.Figure:
    """The map. Its cells are numbered from 0 along both axes, cell (i, j) reaching from j - 1/2 to j + 1/2 upwards;
    a click gives i and the upper end, see `column_and_row`.

    Args:
        plane: what is drawn, finished or not.
        here: the scenario's own values along x and y; not marked when they lie outside.
    """
    lines, names = _borders(plane)
    place = None if here is None else plane.place(*here)
    traces = [*_legend(plane), _waiting(plane), _cells(plane), *lines]
    if place is not None:
        traces.append(_mark(plane, _free(place, [(name["x"], name["y"]) for name in names])))
    return figure(
        traces,
        _axis(plane.kind.x, plane.x),
        _axis(plane.kind.y, plane.y),
        reading(plane),
        annotations=names,
        barmode="overlay",
        uniformtext={"mode": "hide", "minsize": 7},
        height=(_ROW if plane.strip else min(max(60 * len(plane.y), 210), 460)) + 150,
        margin={"l": 66, "r": 6, "t": 84, "b": 58},
        legend=_legend_box(_COLOURS + _LINES if lines else _COLOURS),
        dragmode=False,
    )


def column_and_row(x: float, y: float) -> tuple[int, int]:
    """Which cell a click in the map is about."""
    return round(x), round(y - _HEIGHT / 2)


def _axis(name: Axis, values: tuple[float, ...]) -> dict[str, Any]:
    shown = range(0, len(values), math.ceil(len(values) / _MOST_TICKS))
    return axis(
        AXIS_TITLES[name],
        tickmode="array",
        tickvals=list(shown),
        ticktext=[_tick(name, values[i]) for i in shown],
        range=[-0.5, len(values) - 0.5],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )


def _tick(name: Axis, value: float) -> str:
    if name not in ("n", "k"):
        return f"{value:g}"
    power = round(math.log10(value))
    if name == "n" and power > 1 and value == 10**power:
        return f"10<sup>{power}</sup>"
    return f"{value:,.0f}" if value < 1e5 else f"{value / 1e6:.3g}M"


def _bar(spots: dict[Point, Spot], **more: Any) -> dict[str, Any]:
    columns, rows = (np.array([place[i] for place in spots], dtype=np.float64) for i in (0, 1))
    return {
        "type": "bar",
        "x": columns,
        "y": np.full(columns.size, _HEIGHT),
        "base": rows - _HEIGHT / 2,
        "width": _WIDTH,
        "showlegend": False,
        "selected": _STEADY,
        "unselected": _STEADY,
        **more,
    }


def _placed(plane: Plane, *, done: bool) -> dict[Point, Spot]:
    return {
        (column, row): spot
        for row, spots in enumerate(plane.rows)
        for column, spot in enumerate(spots)
        if spot is not None and (spot.result is not None) == done
    }


def _waiting(plane: Plane) -> dict[str, Any]:
    spots = _placed(plane, done=False)
    return _bar(
        spots,
        name="not run yet",
        marker={"color": "rgba(128,128,128,0)", "line": {"color": GRID, "width": 1}},
        hovertext=[hover(plane, spot) for spot in spots.values()],
        hoverinfo="text",
        textposition="none",
    )


def _cells(plane: Plane) -> dict[str, Any]:
    spots = _placed(plane, done=True)
    colours = [_colour(spot) for spot in spots.values()]
    words = len(spots) <= _MOST_WORDS
    return _bar(
        spots,
        name="cells",
        marker={
            "color": colours,
            "line": {"width": 0},
            "pattern": {
                "shape": ["/" if unsettled(spot) else "" for spot in spots.values()],
                "fillmode": "overlay",
                "size": 8,
                "solidity": 0.25,
                "fgopacity": 0.4,
            },
        },
        text=[short(spot) for spot in spots.values()] if words else None,
        textposition="inside" if words else "none",
        insidetextanchor="middle",
        textangle=0,
        constraintext="inside",
        insidetextfont={"size": 15, "color": [_ink(colour) for colour in colours]},
        hovertext=[hover(plane, spot) for spot in spots.values()],
        hoverinfo="text",
    )


def _colour(spot: Spot) -> str:
    """Of the winner: the paler, the closer the next one. MLE* stands for those that it shares with."""
    lead = spot.lead
    if lead is None or lead.equal:
        return _EQUAL
    if not lead.sure:
        return _UNSETTLED
    name = "mle_star" if "mle_star" in lead.best else lead.best[0]
    strength = min(math.log(lead.margin) / math.log(_FULL), 1.0)
    return mixed(QUANTITIES[name].colour, _PALEST + (1 - _PALEST) * strength)


def mixed(colour: str, part: float) -> str:
    """A colour on white, this part of it, as #RRGGBB."""
    return "#" + "".join(f"{round(255 - part * (255 - one)):02X}" for one in _rgb(colour))


def _ink(ground: str) -> str:
    """Of words on a ground: their contrast is at least 3.5 : 1 by WCAG 2 whichever it is."""
    return _PAPER if _luminance(ground) < _DARK else _INK


def _luminance(colour: str) -> float:
    linear = [
        (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for c in (v / 255 for v in _rgb(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _rgb(colour: str) -> Colour:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


def _legend_box(title: str) -> dict[str, Any]:
    return {
        "orientation": "h",
        "yanchor": "bottom",
        "y": 1.01,
        "x": 0,
        "font": _SMALL,
        "title": {"text": title, "side": "top", "font": _SMALL},
        "itemclick": False,
        "itemdoubleclick": False,
    }


def _legend(plane: Plane) -> list[dict[str, Any]]:
    """Entries that explain colour and hatching; they draw nothing."""
    found = [_key(QUANTITIES[name].name, QUANTITIES[name].colour) for name in VALID]
    if any(spot.lead is not None and spot.lead.equal for spot in plane.spots):
        found.append(_key("all equal", _EQUAL))
    if any(map(unsettled, plane.spots)):
        found.append(_key("unsettled", _UNSETTLED, "/"))
    return found


def _key(name: str, colour: str, shape: str = "") -> dict[str, Any]:
    pattern = {"shape": shape, "bgcolor": colour, "fgcolor": "#606060", "fillmode": "replace", "size": 6}
    return {
        "type": "bar",
        "name": name,
        "x": [None],
        "y": [None],
        "marker": {"color": colour, "line": {"width": 0}, "pattern": pattern},
        "hoverinfo": "skip",
    }


def _borders(plane: Plane) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Borders of equal regret of MLE*, dark on light so that they show on every colour, and their names."""
    found = borders(plane.regrets(), _LEVELS)
    traces, names, taken = [], [], list[Point]()
    for order, (level, edges) in enumerate(found.items()):
        columns, rows = path(edges)
        width = min(_THINNEST * (1 + order), _THICKEST)
        line = {"type": "scatter", "mode": "lines", "x": columns, "y": rows, "name": f"MLE* {times(level)}"}
        line |= {"hoverinfo": "skip", "showlegend": False}
        traces += [
            {**line, "line": {"color": _PAPER, "width": width + 2.4}},
            {**line, "line": {"color": _INK, "width": width}},
        ]
        place = named_at(edges, taken)
        if place is not None:
            taken.append(place)
            names.append(_name((place[0], 0.5) if plane.strip else place, level))
    return traces, names


def _name(place: Point, level: float) -> dict[str, Any]:
    return {
        "x": place[0],
        "y": place[1],
        "text": times(level),
        "showarrow": False,
        "font": {"size": 12, "color": _INK},
        "bgcolor": _NAME_PAPER,
        "borderpad": 1,
    }


def _free(place: Point, names: Sequence[Point]) -> Point:
    """The corner of a cell that is nearest to a place and has no line's name beside it. Within a cell a place means
    little, and a mark must hide no words."""
    middle = (round(place[0]), round(place[1]))
    corners = [
        (middle[0] + right * _ASIDE, middle[1] + up * _ASIDE) for up, right in product((1, -1), repeat=2)
    ]
    free = [
        corner
        for corner in corners
        if not any(abs(corner[0] - x) < _BESIDE and abs(corner[1] - y) < _BELOW for x, y in names)
    ]
    return min(free or corners, key=lambda corner: math.dist(corner, place))


def _mark(plane: Plane, place: Point) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"your {SYMBOLS[plane.kind.x]}, {SYMBOLS[plane.kind.y]}",
        "x": [place[0]],
        "y": [place[1]],
        "marker": {"symbol": "circle", "size": 10, "color": _PAPER, "line": {"width": 2.5, "color": _INK}},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
