"""IBU's way through the triangle of three categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures import triangle
from rr_core.figures.style import QUANTITIES, Quantity, figure, number
from rr_core.geometry.contours import likelihood_curves
from rr_core.geometry.simplex import frame, to_plane
from rr_core.geometry.three import Trio
from rr_core.iteration.record import IBUPath

IBU, BEST = QUANTITIES["ibu"], QUANTITIES["mle_star"]


def way(path: IBUPath, found: Trio, names: Sequence[str]) -> go.Figure:
    """Where IBU was at each recorded iteration, on the curves of equal likelihood that it climbs.

    Args:
        path: the record of a histogram over three categories.
        found: the same histogram and its estimates.
        names: three category names, as they may stand in a chart.
    """
    shares = path.thetas[:, path.level_of]
    points = to_plane(shares)
    drawn = frame(to_plane(found.estimates["mle_star"]))
    traces = [
        *triangle.family(likelihood_curves(found, drawn), BEST, "Same likelihood"),
        triangle.outline(),
        _way(path, points, shares, names),
        _mark("Start", points[0], "circle-open", IBU, 14),
        _mark("MLE*", to_plane(found.estimates["mle_star"]), BEST.symbol, BEST, 12),
    ]
    reading = (
        f"IBU's way from its start, across the curves of equal likelihood: after {path.iterations[-1]:,} iterations it "
        f"is {number(float(path.squared_distance[-1] ** 0.5))} away from MLE*."
    )
    x, y = triangle.axes(names, drawn)
    notes = triangle.corner_names(names)
    return figure(traces, x, y, reading, annotations=notes, **triangle.LAYOUT)


def _way(path: IBUPath, points: Array, shares: Array, names: Sequence[str]) -> dict[str, Any]:
    listed = "<br>".join(f"{name}: %{{customdata[{i + 1}]:.4~%}}" for i, name in enumerate(names))
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "IBU, dots at recorded iterations",
        "x": points[:, 0].astype(np.float32),
        "y": points[:, 1].astype(np.float32),
        "customdata": np.column_stack([path.iterations, shares]).astype(np.float32),
        "line": {"color": IBU.colour, "width": 2},
        "marker": {"color": IBU.colour, "size": 5},
        "hovertemplate": f"iteration %{{customdata[0]:,.0f}}<br>{listed}<extra></extra>",
    }


def _mark(name: str, point: Array, symbol: str, quantity: Quantity, size: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": point[:1],
        "y": point[1:],
        "marker": {"symbol": symbol, "size": size, "color": quantity.colour, "line": {"width": 2}},
        "hovertemplate": f"{name}<extra></extra>",
    }
