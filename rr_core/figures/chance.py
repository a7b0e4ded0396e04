"""The chance that an empty category goes negative, for any number of users."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.figures.style import QUANTITIES, axis, figure, percent
from rr_core.law import negative_chance
from rr_core.limits import N_MAX, N_MIN
from rr_core.mechanism import RandomizedResponse

INV = QUANTITIES["inv"]


def chance_against_users(n: int, mechanism: RandomizedResponse, observed: float) -> go.Figure:
    """Exact chance of a negative against N, with the scenario's own N and the share observed there.

    Args:
        n: the scenario's number of users.
        mechanism: the randomized response.
        observed: share of empty categories below zero in repeated draws.
    """
    users = np.unique(np.round(np.geomspace(N_MIN, N_MAX, 700)))
    here = float(negative_chance(n, mechanism))
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "exact chance",
            "x": users,
            "y": negative_chance(users, mechanism).astype(np.float32),
            "line": {"color": INV.colour, "width": 2},
            "hovertemplate": "%{x:,.0f} users<br>chance of a negative: %{y:.2%}<extra></extra>",
        },
        _point("this scenario, exact", n, here, INV.colour, "circle"),
        _point("this scenario, seen in repeated draws", n, observed, QUANTITIES["observed"].colour, "x"),
    ]
    reading = (
        f"A category that nobody has goes negative with chance {percent(here)} at N = {n:,}; more users "
        "bring the chance towards one half, never to zero (the saw-tooth: reports are whole numbers)."
    )
    half = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0.5, "y1": 0.5}
    return figure(
        traces,
        axis("Users N (logarithmic)", type="log", tickformat="~s"),
        axis("Chance of a negative estimate", tickformat=".0%", range=[-0.03, 1.05]),
        reading,
        shapes=[{**half, "line": {"color": QUANTITIES["truth"].colour, "dash": "dash", "width": 1.5}}],
        height=340,
    )


def _point(name: str, x: int, y: float, colour: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [x],
        "y": [y],
        "marker": {"color": colour, "symbol": symbol, "size": 13, "line": {"width": 2, "color": colour}},
        "hovertemplate": f"{name}<br>N = {x:,}: " + "%{y:.2%}<extra></extra>",
    }
