"""Errors along epsilon under k-RR and unary encoding, the figures of Lopuhaä-Zwakenberg et al."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.experiments.protocols import ESTIMATES, Errors, ProtocolKey
from rr_core.experiments.ranking import Count
from rr_core.figures.experiments_curves import SIZES, WIDTHS
from rr_core.figures.plan_curves import error_axis, log_range
from rr_core.figures.style import LEGEND, QUANTITIES, Quantity, axis, figure, head, line_trace
from rr_core.words.experiments_protocols import curves_in_words, estimate_name, panel_name

_PANEL, _GAP, _TOP, _BOTTOM = 220, 96, 84, 62  # pixels: height of a panel, between two, above and below
_LEFT, _MARGIN_OF_HEADS = 84, 8  # of the axes, and of the names of panels: a phone needs the room
_ROOM = 0.03  # beside the ends of the axis of epsilon, as a share of it
_STANDARD_ERRORS = 2.0


def look(name: str, protocol: ProtocolKey) -> Quantity:
    """The appearance of an estimate; the maximum likelihood of unary encoding has no star."""
    quantity = QUANTITIES["mle_star" if name == "mle" else name]
    return replace(quantity, name=estimate_name(name, protocol))


def error_curves(rows: Sequence[Errors], against: Count, relative: bool = False) -> go.Figure:
    """Mean squared errors along epsilon, of one protocol and one truth, one panel for each population and number of
    users (their rows together, by rising epsilon); ``relative``: only that of maximum likelihood, divided by InvP's."""
    panels = [list(group) for _, group in groupby(rows, lambda row: panel_name(row.setting))]
    inner = _PANEL * len(panels) + _GAP * (len(panels) - 1)
    budgets = [row.setting.epsilon for row in rows]
    low, high = min(budgets), max(budgets)
    room = _ROOM * max(high - low, high)
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    heads = []
    for index, panel in enumerate(panels):
        top = 1 - index * (_PANEL + _GAP) / inner
        of = str(index + 1) if index else ""
        lines, y = _ratios(panel) if relative else _errors(panel)
        traces += [{**line, "xaxis": f"x{of}", "yaxis": f"y{of}", "showlegend": index == 0} for line in lines]
        axes[f"xaxis{of}"] = axis("Privacy ε", range=[low - room, high + room], anchor=f"y{of}")
        axes[f"yaxis{of}"] = {**y, "domain": [max(top - _PANEL / inner, 0.0), top], "anchor": f"x{of}"}
        population, _, size = panel_name(panel[0].setting).partition(", ")
        text = f"<b>{population}</b>, {size}"
        heads.append(head(text, 0, top, xanchor="left", xshift=_MARGIN_OF_HEADS - _LEFT, yshift=3))
    return figure(
        traces,
        axes.pop("xaxis"),
        axes.pop("yaxis"),
        curves_in_words(panels, against),
        **axes,
        annotations=heads,
        height=inner + _TOP + _BOTTOM,
        margin={"l": _LEFT, "t": _TOP, "b": _BOTTOM},
        legend=LEGEND | {"y": 1 + 26 / inner},
    )


def _errors(panel: Sequence[Errors]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The curves of all estimates, and their axis."""
    x = np.array([row.setting.epsilon for row in panel])
    lines = []
    for name in ESTIMATES:
        shown = look(name, panel[0].setting.protocol)
        y = np.array([row.mean[name] for row in panel])
        spread = np.array([_STANDARD_ERRORS * row.standard_error[name] for row in panel])
        hover = f"<b>{shown.name}</b>, ε = %{{x:.3~g}}<br>%{{y:.4~g}} ± %{{customdata:.2~g}}"
        lines.append(_line(shown, x, y, hover, spread, WIDTHS.get(name, 2.2), SIZES.get(name, 8)))
    return lines, error_axis("Squared error", log_range([line["y"] for line in lines]), "~g")


def _ratios(panel: Sequence[Errors]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The error of maximum likelihood divided by that of InvP, with two standard errors, and its axis."""
    shown = look("mle", panel[0].setting.protocol)
    found = np.array([row.ratio("mle", "inv_p") for row in panel])
    ratio, spread = found[:, 0], _STANDARD_ERRORS * found[:, 1]
    x = np.array([row.setting.epsilon for row in panel])
    ends = float((ratio - spread).min()), float((ratio + spread).max())
    low, high = min(ends[0], 1.0), max(ends[1], 1.0)
    room = 0.06 * max(high - low, 0.02)
    lines = [
        line_trace("InvP", x, np.ones(x.size), "", line=QUANTITIES["inv_p"].line(3)),
        {
            **_line(shown, x, ratio, "ε = %{x:.3~g}<br>%{y:.3~f} ± %{customdata:.2~g}", spread, 2.2, 8),
            "name": f"{shown.name} ÷ InvP, ±2 standard errors",
            "error_y": {"array": spread, "color": shown.colour, "thickness": 1.5, "width": 4},
        },
    ]
    return lines, axis("Error ÷ InvP’s", range=[low - room, high + room], tickformat=".2~f")


def _line(
    shown: Quantity, x: Array, y: Array, hover: str, spread: Array, width: float, size: float
) -> dict[str, Any]:
    return line_trace(
        shown.name,
        x,
        y,
        hover,
        mode="lines+markers",
        legendgroup=shown.name,
        customdata=spread,
        line=shown.line(width),
        marker=shown.marker(size),
    )
