"""What every pair of epsilon and N achieves: a map with lines of equal value and the region that meets the target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures.style import axis, figure, line_trace, mark_trace, note, steady
from rr_core.plan.landscape import Landscape
from rr_core.plan.targets import Target
from rr_core.rounding import percent, raised
from rr_core.words.phrases import capital
from rr_core.words.plan import at_least, at_most, budget, number_of_users

Place = tuple[float, float]  # epsilon, N

# Lightness alone tells bad from good, so that the map can be read in greyscale; the same on light and on dark.
_SCALE = [[0.0, "#566BA0"], [0.4, "#8AA3C8"], [0.75, "#C3D5E4"], [1.0, "#F7FAFB"]]
_INK, _PAPER = "#141414", "rgba(255,255,255,0.82)"
_SHORTEST_NAMED = 0.15  # part of the map's width
# How near the middle of a line's label may be to a mark, as parts of the map: enough for a phone, and not taken for the
# mark's name.
_ASIDE, _ABOVE = 0.2, 0.14
# Far apart, for hatching so wide would flicker before the eye.
_DOTS = {"shape": ".", "size": 14, "solidity": 0.12, "fgcolor": "rgba(179,71,0,0.95)", "fillmode": "overlay"}
_BORDER = "#B34700"
_EPSILON_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_CHANCES = (0.1, 0.5, 0.9, 0.99)
_WORST, _BEST = 10.0, 1e-7  # shares beyond which the colour says no more
_FEWEST_LINES, _MOST_LINES = 3, 7
_ROUNDING = 1e-6  # relative: users of a target that was itself worked out


@dataclass(frozen=True, eq=False)
class TargetFrontier:
    """Users needed (e,) at each epsilon for the target to be met, infinite where it is not reached."""

    target: Target
    epsilons: Array
    users: Array


def plan_map(
    landscape: Landscape, target: Target, frontier: TargetFrontier | None, here: Place, plan: Place | None
) -> go.Figure:
    """The map, with the values in the unit of ``target``, the boundary where it is met, the scenario's place, and the
    plan's where it was worked out. A lattice of points, one per cell, makes it clickable."""
    lines = _lines(landscape, target)
    dotted = {"color": _INK, "width": 1.2, "dash": "dot"}
    traces = [_heat(landscape, target)]
    traces += [
        line_trace(percent(value), landscape.epsilons, users, "", line=dotted, showlegend=False)
        for value, users in lines
    ]
    if frontier is not None:
        traces += _region(landscape, frontier)
    traces += [_lattice(landscape, target), _mark("you", here, "circle", "#FFFFFF", 13)]
    if plan is not None:
        traces.append(_mark("the plan", plan, "star", "#F0E442", 19))
    x = axis("Privacy ε (log scale)", **_log_axis(landscape.epsilons), **epsilon_ticks())
    y = axis("Users N (log scale)", **_log_axis(landscape.users), **_powers(landscape.users))
    # A line that only cuts a corner of the map has no room for its name.
    long = [line for line in lines if np.isfinite(line[1]).mean() > _SHORTEST_NAMED]
    places = [here] if plan is None else [here, plan]
    names = [
        _name(landscape, target, *line, (i + 1) / (len(long) + 1), places) for i, line in enumerate(long)
    ]
    most = float(landscape.users[-1])
    return figure(
        traces, x, y, _reading(target, frontier, most, here, plan, bool(names)), annotations=names, height=420
    )


def _powers(values: Array) -> dict[str, Any]:
    """Ticks at powers of ten, in letters as large as all others."""
    low, high = np.log10(values[[0, -1]])
    powers = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
    return {
        "tickvals": [10.0**power for power in powers],
        "ticktext": [f"10{raised(power)}" for power in powers],
    }


def _log_axis(values: Array) -> dict[str, Any]:
    return {"type": "log", "range": np.log10(values[[0, -1]]).tolist(), "showgrid": False}


def epsilon_ticks() -> dict[str, Any]:
    """Ticks of an epsilon axis that is not too wide for 1, 2, 5."""
    return {"tickvals": _EPSILON_TICKS, "ticktext": [f"{tick:g}" for tick in _EPSILON_TICKS]}


def _shade(values: Array, target: Target) -> Array:
    """The values, transformed so that a larger one is better."""
    if target.kind == "top":
        return values
    shade: Array = -np.log10(np.clip(values, _BEST, _WORST))
    return shade


def _heat(landscape: Landscape, target: Target) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "name": "map",
        "x": landscape.epsilons,
        "y": landscape.users,
        "z": _shade(landscape.values, target).astype(np.float32),
        "zsmooth": "best",
        "colorscale": _SCALE,
        "showscale": False,
        "hoverinfo": "skip",
    }


def _lattice(landscape: Landscape, target: Target) -> dict[str, Any]:
    epsilons, users = np.meshgrid(landscape.epsilons, landscape.users)
    what = "Chance at least" if target.kind == "top" else capital(target.about.measure)
    return mark_trace(
        "click anywhere",
        epsilons.ravel(),
        users.ravel(),
        f"ε = %{{x:.3~g}}, N = %{{y:,.3~r}}<br>{what}: %{{text}}<br>click to go there",
        text=[
            f"about {percent(value, 2)}" if between else _shown(target, value)
            for value, between in zip(landscape.values.ravel(), landscape.interpolated.ravel(), strict=True)
        ],
        marker={"size": 8, "opacity": 0, "color": _INK},
        showlegend=False,
        **steady(opacity=0),
    )


def _shown(target: Target, value: float) -> str:
    if math.isinf(value) or (target.kind == "smallest" and value > 1):
        return "none"
    return at_least(value) if target.kind == "top" else at_most(value)


def _lines(landscape: Landscape, target: Target) -> list[tuple[float, Array]]:
    """Levels that cross the map, each with the N at which every epsilon reaches it."""
    # No line runs between a cell with a finite value and one without.
    shade = np.where(np.isfinite(landscape.values), _shade(landscape.values, target), np.nan)
    crossing = []
    for value in levels(landscape.values, target):
        level = float(_shade(np.array([value]), target)[0])
        users = np.array([_crossing(column, landscape.users, level) for column in shade.T])
        if np.isfinite(users).sum() > 1:
            crossing.append((value, users))
    return crossing


def _name(
    landscape: Landscape, target: Target, value: float, users: Array, along: float, places: list[Place]
) -> dict[str, Any]:
    """The label of a line, near this fraction of its length, off the labels of close lines and the marks."""
    inside = np.flatnonzero(np.isfinite(users))
    x, y = np.log10(landscape.epsilons[inside]), np.log10(users[inside])
    wide, high = np.log10(landscape.epsilons[[0, -1]]), np.log10(landscape.users[[0, -1]])
    room = np.full(inside.size, np.inf)  # 1 and more: enough
    for epsilon, n in places:
        aside = np.abs(x - math.log10(epsilon)) / np.ptp(wide) / _ASIDE
        room = np.minimum(room, np.maximum(aside, np.abs(y - math.log10(n)) / np.ptp(high) / _ABOVE))
    off = np.abs(np.arange(inside.size) - int(along * inside.size))
    at = int(np.lexsort((off, -np.minimum(room, 1)))[0])
    text = percent(value) + (" off" if target.kind in ("rmse", "max", "share") else "")
    look = {"font": {"size": 14, "color": _INK}, "bgcolor": _PAPER, "borderpad": 1}
    return note(text, float(x[at]), float(y[at]), **look)


def levels(values: Array, target: Target) -> list[float]:
    """Round values to draw lines at: powers of ten, with 2 and 5 between them when those are few."""
    if target.kind == "top":
        return list(_CHANCES)
    seen = np.clip(values, _BEST, _WORST)
    low, high = math.floor(math.log10(seen.min())), math.ceil(math.log10(seen.max()))
    powers = [10.0**i for i in range(low, high + 1)]
    inside = [level for level in powers if seen.min() < level < min(seen.max(), _WORST)]
    if len(inside) < _FEWEST_LINES:
        fine = [digit * power for power in powers for digit in (1, 2, 5)]
        inside = [level for level in fine if seen.min() < level < min(seen.max(), _WORST)]
    return inside[:: math.ceil(len(inside) / _MOST_LINES)] if inside else []


def _crossing(column: Array, users: Array, level: float) -> float:
    """The N at which a column reaches the level, between two cells on the logarithmic scale; nan outside."""
    reached = np.flatnonzero(column >= level)
    if not reached.size or reached[0] == 0:
        return math.nan
    i = int(reached[0])
    part = (level - column[i - 1]) / (column[i] - column[i - 1])
    return float(users[i - 1] * (users[i] / users[i - 1]) ** part)


def _region(landscape: Landscape, frontier: TargetFrontier) -> list[dict[str, Any]]:
    there = np.isfinite(frontier.users)
    if not there.any():
        return []
    epsilons, users = frontier.epsilons[there], frontier.users[there]
    top, bottom = landscape.users[-1] * 10, landscape.users[0] / 10  # beyond the picture
    corner = np.clip(users, bottom, top)
    area = line_trace(
        "goal reached",
        np.concatenate([epsilons, epsilons[::-1]]),
        np.concatenate([corner, np.full(epsilons.size, top)]),
        "",
        mode="none",
        fill="toself",
        fillcolor="rgba(255,255,255,0)",
        fillpattern=_DOTS,
        showlegend=False,  # its dots lie too far apart for the legend
    )
    line = line_trace("users needed", epsilons, users, "", line={"color": _BORDER, "width": 4})
    return [area, line]


def _mark(name: str, place: Place, symbol: str, colour: str, size: int) -> dict[str, Any]:
    return mark_trace(
        name,
        np.array([place[0]]),
        np.array([place[1]]),
        f"{name}<br>ε = %{{x:.4~g}}, N = %{{y:,.0f}}",
        marker={"symbol": symbol, "size": size, "color": colour, "line": {"width": 2.5, "color": _INK}},
        cliponaxis=False,
        **steady(opacity=1),
    )


def _reading(
    target: Target, frontier: TargetFrontier | None, most: float, here: Place, plan: Place | None, named: bool
) -> str:
    what = "more likely to be right" if target.kind == "top" else "more accurate"
    circle = f"ε = {budget(here[0])} with N = {number_of_users(here[1])}"
    if frontier is None:
        where = f"The map shows what each ε and N reaches; the circle is {circle}"
    elif not (frontier.users <= most * (1 + _ROUNDING)).any():
        where = f"Nothing on this map is enough for the goal; the circle is {circle}"
    else:
        goal = (
            f"the ranking is right with probability at least {at_least(frontier.target.goal)}"
            if target.kind == "top"
            else f"{target.about.measure} at most {at_most(frontier.target.goal)}"
        )
        star = plan and f"the star is the plan, ε = {budget(plan[0])} with N = {number_of_users(plan[1])}"
        where = f"Orange dots: {goal}; {star or f'the circle is {circle}'}"
    measure = target.about.measure.replace("RMSE", "typical error (RMSE)")
    dotted = f"; dotted lines: the {measure}" if named else ""
    return f"{where}{dotted}; the lighter, the {what}."
