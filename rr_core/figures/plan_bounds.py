"""How far k-RR is from the best possible: its error and the lower bounds under it, against epsilon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.figures.plan_protocols import epsilon_axis, log_range, upright
from rr_core.figures.plan_words import budget
from rr_core.figures.style import QUANTITIES, RIM, axis, figure, number
from rr_core.figures.wording import alike, times
from rr_core.plan.bounds import Bound, BoundCurves

_INV = QUANTITIES["inv"]
# Colour, dash and width of each row of `bounds.table`.
_LOOKS = {
    "equal": ("#2F8FBF", "solid", 3.0),
    "theorem": ("#A65FC0", "dash", 2.5),
    "limit": ("#7C8420", "dot", 2.0),
    "known": ("#2A8F8A", "longdashdot", 2.0),
    "attainable": ("#B06A1E", "longdash", 2.0),
    "binary": ("#777777", "dot", 5.0),
}


def error_and_bounds(curves: BoundCurves) -> go.Figure:
    """Total squared error of Inv under k-RR and the rows of `bounds.table`, each only where it is valid."""
    rows = [row for row in curves.bounds if row.valid.any()]
    # Theorem 4.5 falls by thirty powers of ten at large epsilon: it may leave the picture, what is close may not.
    span = log_range([curves.inv, *(_drawn(row) for row in rows if row.key != "theorem")])
    traces = [_line("k-RR, Inv", curves.epsilons, curves.inv, (_INV.colour, "solid", 3.5))]
    traces += [_line(_label(row), curves.epsilons, _drawn(row), _LOOKS[row.key]) for row in rows]
    foot = span[0] if curves.epsilon_here >= 1 else sum(span) / 2  # not through the legend
    traces.append(upright(f"ε = {number(curves.epsilon_here)}", curves.epsilon_here, [foot, span[1]], "dash"))
    traces.append(_here(curves))
    y = axis(
        "Squared error, sum (log scale)",
        type="log",
        exponentformat="power",
        dtick=max(1, math.ceil((span[1] - span[0]) / 6)),
        range=span,
    )
    # Every line falls to the right: the corner below them is empty, and above them many rows would be needed.
    legend = {"yanchor": "bottom", "y": 0.02, "x": 0.01, "font": {"size": 14}, "bgcolor": "rgba(0,0,0,0)"}
    margin = {"l": 84, "r": 14, "t": 28, "b": 62}
    return figure(traces, epsilon_axis(), y, _reading(curves), margin=margin, legend=legend)


def nothing_better(curves: BoundCurves) -> bool:
    """Whether the error is the lower bound at equal shares, but for rounding."""
    return curves.now <= curves.floor * (1 + 1e-9)


def _reading(curves: BoundCurves) -> str:
    error = f"At ε = {budget(curves.epsilon_here)} Inv under k-RR has a squared error of {number(curves.now)} in sum"
    if math.isnan(curves.floor):
        return f"{error}; with so few users a constant answer may be nearer than any unbiased estimate."
    if nothing_better(curves):
        return f"{error}: when all shares are equal, no protocol with an unbiased estimate can have less."
    ratio = curves.now / curves.floor
    more = "hardly more than" if alike(ratio) else times(ratio)
    return f"{error}, {more} the least that any protocol with an unbiased estimate can have when all shares are equal."


def _label(row: Bound) -> str:
    """Short enough for a corner of the picture on a telephone."""
    return {
        "equal": "≥ equal shares",
        "theorem": "≥ Theorem 4.5",
        "limit": "≥ K/(Nε²)",
        "known": "≥ K/(64Nε²)",
        "attainable": "≈ 4K/(Nε²)",
        "binary": "exact, K = 2",
    }[row.key]


def _drawn(row: Bound) -> np.ndarray:
    return np.where(row.valid, row.value, np.nan)


def _line(name: str, x: np.ndarray, y: np.ndarray, look: tuple[str, str, float]) -> dict[str, Any]:
    colour, dash, width = look
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "line": {"color": colour, "dash": dash, "width": width},
        "hovertemplate": name + "<br>ε = %{x:.3~g}: %{y:.3~g}<extra></extra>",
    }


def _here(curves: BoundCurves) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "showlegend": False,
        "name": "k-RR, Inv, here",
        "x": np.array([curves.epsilon_here]),
        "y": np.array([curves.now]),
        "marker": {
            "color": _INV.colour,
            "symbol": _INV.symbol,
            "size": 13,
            "line": {"width": 1.5, "color": RIM},
        },
        "hovertemplate": "here<br>ε = %{x:.3~g}: %{y:.3~g}<extra></extra>",
    }
