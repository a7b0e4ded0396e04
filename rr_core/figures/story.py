"""The minute's story: truth, reports and estimate in one small figure."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from rr_core.comparison import Comparison
from rr_core.figures.style import QUANTITIES, SHARE, axis, figure, percent
from rr_core.figures.view import Bars, View
from rr_core.scenario import Draw
from rr_core.summaries import Closeness


def story(draw: Draw, result: Comparison, distance: Closeness, view: View) -> go.Figure:
    """Shares of truth, of reports, and the maximum-likelihood estimate, per category or along the ranks.

    ``distance`` says how far reports and estimate are from the truth.
    """
    series = {
        "truth": ("Truth (hidden)", draw.theta),
        "observed": ("Reports", draw.counts / draw.scenario.n),
        "mle_star": ("Estimate (MLE*)", result.estimates["mle_star"]),
    }
    traces = [_trace(view, key, name, values) for key, (name, values) in series.items()]
    far, near = percent(distance.reports), percent(distance.estimate)
    reading = (
        f"The reports (blue) are {far} away from the hidden truth (grey); the estimate (green) undoes the "
        f"noise and comes back to within {near}."
        if distance.estimate < distance.reports
        else f"With so much noise for so few users the estimate (green) is {near} away from the hidden truth "
        f"(grey), no nearer than the reports (blue) with {far}: more users or a larger ε would help."
    )
    y = axis("Share of users or reports", tickformat=SHARE, rangemode="tozero")
    return figure(
        traces, view.axis(), y, reading, barmode="group", bargap=0.25, height=370, hovermode=view.hovermode
    )


def _trace(view: View, key: str, name: str, values: Any) -> dict[str, Any]:
    quantity = QUANTITIES[key]
    if isinstance(view, Bars):
        return {
            "type": "bar",
            "name": name,
            "x": view.x,
            "y": view.pick(values),
            "customdata": view.names,
            "marker": {"color": quantity.colour},
            "hovertemplate": "%{customdata}<br>" + name + ": %{y:.3~%}<extra></extra>",
        }
    y = view.mean(values[view.order])
    return view.line(name, y, "%{y:.3~%}", color=quantity.colour, dash=quantity.dash, width=3)
