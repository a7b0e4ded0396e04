"""Many collections of three categories, before and after each repair: four clouds in the same view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.figures.style import ESTIMATES, QUANTITIES, RIM, ZERO, axis, figure, number
from rr_core.geometry.clouds import Cloud
from rr_core.geometry.simplex import CORNERS, Frame, to_plane

_GAP = {"x": 0.08, "y": 0.2}  # between panels, with room for their titles


def clouds(found: Mapping[str, Cloud], names: Sequence[str], drawn: Frame) -> go.Figure:
    """One panel per estimator: its cloud, the truth, and the mean of the cloud.

    Args:
        found: the clouds, by estimator.
        names: three category names, as they may stand in a chart.
        drawn: the rectangle that every panel shows.
    """
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes = []
    for panel, name in enumerate(ESTIMATES):
        suffix = "" if panel == 0 else str(panel + 1)
        traces += [
            {**trace, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"} for trace in _panel(name, found[name])
        ]
        column, row = panel % 2, 1 - panel // 2
        x, y = _half(column, "x"), _half(row, "y")
        axes[f"xaxis{suffix}"], axes[f"yaxis{suffix}"] = _axes(suffix, names, drawn, x, y)
        notes.append(_title(QUANTITIES[name].name, x, y))
    return figure(
        traces,
        axes.pop("xaxis"),
        axes.pop("yaxis"),
        _reading(found),
        annotations=notes,
        showlegend=False,
        height=560,
        margin={"l": 46, "r": 8, "t": 26, "b": 40},
        **axes,
    )


def _reading(found: Mapping[str, Cloud]) -> str:
    collections = len(found["inv"].points)
    if not np.ptp(found["inv"].points, axis=0).any():
        return f"All {collections} collections gave the same reports, so that every cloud is a single point."
    if _untouched(found):
        return f"In none of the {collections} collections was Inv negative, so that all four estimators are the same."
    repairs = [found[name] for name in ESTIMATES[1:]]
    biased = [QUANTITIES[name].name for name in ESTIMATES[1:] if found[name].is_biased]
    if not biased:
        return f"Over {collections} collections the bias of no repair can be told from chance."
    farthest = [
        name
        for name in ESTIMATES[1:]
        if all(found[name] is other or found[name].is_farther(other) for other in repairs)
    ]
    if farthest:
        order = f"{QUANTITIES[farthest[0]].name}'s is the farthest, {number(found[farthest[0]].bias)} away"
    elif all(np.allclose(repairs[0].points, other.points, rtol=0, atol=1e-12) for other in repairs):
        order = f"all three are the same in every collection, {number(repairs[0].bias)} away"
    else:
        order = f"whose is the farthest, {collections} collections cannot tell"
    means = (
        f"means of {', '.join(biased[:-1])} and {biased[-1]} are" if biased[1:] else f"mean of {biased[0]} is"
    )
    return f"Over {collections} collections the {means} farther from the truth than chance alone explains; {order}."


def _untouched(found: Mapping[str, Cloud]) -> bool:
    return bool((found["inv"].points >= 0).all())


def _panel(name: str, cloud: Cloud) -> list[dict[str, Any]]:
    quantity, truth_look = QUANTITIES[name], QUANTITIES["truth"]
    points = to_plane(cloud.points).astype(np.float32)
    truth, mean = to_plane(cloud.theta), to_plane(cloud.mean)
    border = np.vstack([CORNERS, CORNERS[:1]]).astype(np.float32)
    common = {"type": "scatter", "hoverinfo": "skip"}
    return [
        {
            **common,
            "mode": "lines",
            "x": border[:, 0],
            "y": border[:, 1],
            "line": {"color": ZERO, "width": 2},
        },
        {
            **common,
            "mode": "markers",
            "name": quantity.name,
            "x": points[:, 0],
            "y": points[:, 1],
            "marker": {"color": quantity.faded(0.35), "size": 5, "symbol": "circle"},
        },
        {
            **common,
            "mode": "lines",
            "x": np.array([truth[0], mean[0]]),
            "y": np.array([truth[1], mean[1]]),
            "line": {"color": quantity.colour, "width": 4},
        },
        _mark("truth", truth, truth_look.symbol, truth_look.colour, 30, truth_look.colour),
        _mark("mean of the cloud", mean, quantity.symbol, quantity.colour, 14, RIM),
    ]


def _mark(name: str, where: Any, symbol: str, colour: str, size: int, rim: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": where[:1],
        "y": where[1:],
        "marker": {"symbol": symbol, "color": colour, "size": size, "line": {"width": 2, "color": rim}},
        "hovertemplate": f"{name}<extra></extra>",
    }


def _half(which: int, direction: str) -> list[float]:
    gap = _GAP[direction] / 2
    return [0.0, 0.5 - gap] if which == 0 else [0.5 + gap, 1.0]


def _axes(
    suffix: str, names: Sequence[str], drawn: Frame, x: list[float], y: list[float]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One panel's axes: no numbers, the titles say what grows in which direction."""
    shared = {"showticklabels": False, "showgrid": False, "zeroline": False, "constrain": "domain"}
    return (
        axis(f"{names[1]} →", domain=x, anchor=f"y{suffix}", range=list(drawn.x), **shared),
        axis(
            # The title of the right panels would lie on the left ones.
            f"{names[2]} →" if x[0] == 0 else "",
            domain=y,
            anchor=f"x{suffix}",
            range=list(drawn.y),
            scaleanchor=f"x{suffix}",
            **shared,
        ),
    )


def _title(text: str, x: list[float], y: list[float]) -> dict[str, Any]:
    return {
        "text": f"<b>{text}</b>",
        "x": sum(x) / 2,
        "y": y[1],
        "xref": "paper",
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 15},
    }
