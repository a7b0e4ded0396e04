"""Central epsilon after shuffling, against the number of reports."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from rr_core.figures.plan_protocols import log_range
from rr_core.figures.plan_words import budget, round_up
from rr_core.figures.style import RIM, ZERO, axis, figure, number
from rr_core.plan.shuffling import ShuffleCurve

_COLOUR = "#2F8FBF"


def central_against_users(curve: ShuffleCurve) -> go.Figure:
    """The bound against N, with the local epsilon as its ceiling and the current N marked."""
    now = curve.now
    span = log_range([curve.epsilon, np.array([curve.epsilon0, now.epsilon])])
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"local ε = {number(curve.epsilon0)}",
            "x": curve.users[[0, -1]],
            "y": np.full(2, curve.epsilon0),
            "line": {"color": ZERO, "dash": "dash", "width": 2},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "central ε at most",
            "x": curve.users,
            "y": curve.epsilon.astype(np.float32),
            "line": {"color": _COLOUR, "width": 3.5},
            "hovertemplate": "%{x:,.4~s} reports shuffled<br>central ε at most %{y:.3~g}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "here",
            "x": np.array([curve.n]),
            "y": np.array([now.epsilon]),
            "marker": {
                "color": _COLOUR,
                "symbol": "diamond",
                "size": 14,
                "line": {"width": 1.5, "color": RIM},
            },
            "hovertemplate": "%{x:,} reports<br>central ε at most %{y:.3~g}<extra></extra>",
        },
    ]
    return figure(
        traces,
        axis("Reports shuffled together, N (log scale)", type="log", tickformat="~s", dtick=2),
        axis("Central ε (log scale)", type="log", tickformat="~g", range=span, nticks=7),
        _reading(curve),
        margin={"l": 84, "r": 14, "t": 78, "b": 62},
    )


def _reading(curve: ShuffleCurve) -> str:
    now, local = curve.now, budget(curve.epsilon0)
    if not now.holds:
        return (
            f"With {curve.n:,} reports the bound does not apply at a local ε of {local}: it needs at least "
            f"{now.users_needed:,}. The local guarantee holds all the same."
        )
    return (
        f"After shuffling {curve.n:,} reports the central ε is at most {number(round_up(now.epsilon, 3))} at δ = "
        f"{number(now.delta)}, where one report alone has {local}: an upper bound on what is revealed."
    )
