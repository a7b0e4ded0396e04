"""One person's report: the channel matrix, and what an onlooker believes before and after."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from rr_core._validate import Array
from rr_core.figures.style import QUANTITIES, SHARE, axis, figure, percent
from rr_core.figures.view import Bars
from rr_core.mechanism import RandomizedResponse

LARGEST_MATRIX = 30


def channel(mechanism: RandomizedResponse, names: list[str]) -> go.Figure:
    """Heat map of Pr(report | truth) for small k: a bright diagonal p on an even ground q."""
    matrix = mechanism.matrix()
    heat = {
        "type": "heatmap",
        "z": matrix,
        "x": names,
        "y": names,
        "zmin": 0,
        "zmax": 1,
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": "probability"}, "tickformat": ".0%", "thickness": 14},
        "hovertemplate": "truth %{y} → report %{x}<br>probability %{z:.3~%}<extra></extra>",
        "texttemplate": "%{z:.2~%}" if mechanism.k <= 12 else "",
    }
    reading = (
        f"Whatever the truth (row), the report (column) is right with probability p = {percent(mechanism.p)} "
        f"and each wrong category has q = {percent(mechanism.q)}."
    )
    x = axis("Report", type="category", showgrid=False, automargin=True)
    y = axis("Truth", type="category", autorange="reversed", showgrid=False, automargin=True)
    return figure([heat], x, y, reading, height=440)


def belief(prior: ArrayLike, posterior: Array, report: int, view: Bars) -> go.Figure:
    """What an onlooker believes of one person before the report (population) and after it."""
    before, after = view.pick(prior), view.pick(posterior)
    truth, blue = QUANTITIES["truth"], QUANTITIES["observed"]
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": view.x,
            "y": values,
            "customdata": view.names,
            "marker": {"color": colour},
            "hovertemplate": "%{customdata}<br>" + name + ": %{y:.4~%}<extra></extra>",
        }
        for name, values, colour in (
            ("before the report", before, truth.colour),
            ("after the report", after, blue.colour),
        )
    ]
    prior_share, posterior_share = float(np.asarray(prior)[report]), float(posterior[report])
    reading = (
        f"Seeing this report moves an onlooker's belief that it is the truth from {percent(prior_share)} to "
        f"{percent(posterior_share)}."
    )
    y = axis("Belief that this is the truth", tickformat=SHARE, rangemode="tozero")
    return figure(traces, view.axis(), y, reading, barmode="group", height=340)
