"""Four protocols beside each other: their error against K and against epsilon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures.style import RIM, ZERO, Quantity, axis, figure, number, percent
from rr_core.plan.protocols import Key, RmseCurves

# The colours of the estimators say which estimator of k-RR it is; protocols have colours of their own.
PROTOCOLS: dict[Key, Quantity] = {
    "rr": Quantity("k-RR", "#E0564A", "circle", "solid"),
    "sue": Quantity("SUE", "#7C8420", "square", "dot"),
    "oue": Quantity("OUE", "#2F8FBF", "diamond", "solid"),
    "olh": Quantity("OLH", "#A65FC0", "x", "dash"),
}
# OLH lies on OUE almost everywhere: a thin dashed line on a wide one shows both.
_WIDTHS: dict[Key, float] = {"rr": 3.5, "sue": 2.5, "oue": 5.5, "olh": 2}
# With the digits that powers of ten far below one per cent need.
_SMALL_SHARE = ".9~%"
_EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)


def rmse_against_k(curves: RmseCurves, epsilon: float) -> go.Figure:
    """RMSE against the number of categories, from `protocols.against_k` at this ``epsilon``.

    Only k-RR depends on K; the mark is where it meets OUE.
    """
    x = axis("Categories K (log scale)", type="log", tickformat="~s", dtick=1)
    reads = (
        f"at ε = {number(epsilon)} k-RR has a smaller error than OUE up to "
        f"{last_below(curves.flip):,} categories, and OUE beyond."
    )
    return _rmse(curves, x, "K", reads)


def rmse_against_epsilon(curves: RmseCurves, k: int) -> go.Figure:
    """RMSE against epsilon, from `protocols.against_epsilon` at this number of categories."""
    x = epsilon_axis()
    reads = (
        f"with {k:,} categories k-RR has a smaller error than OUE above ε = {number(curves.flip)}, and OUE below."
        if curves.flip > 0
        else f"with {k:,} categories k-RR has a smaller error than OUE at every ε."
    )
    return _rmse(curves, x, "ε", reads)


def epsilon_axis() -> dict[str, Any]:
    """A logarithmic axis of epsilon with ticks that are read as numbers."""
    ticks = [str(tick) for tick in _EPSILON_TICKS]
    return axis("Privacy budget ε (log scale)", type="log", tickvals=_EPSILON_TICKS, ticktext=ticks)


def last_below(flip: float) -> int:
    """The largest whole number of categories below this one."""
    return math.ceil(flip) - 1


def log_range(values: list[Array]) -> list[float]:
    """Ends of a logarithmic axis that shows all these values, in powers of ten."""
    seen = np.log10(np.concatenate([np.ravel(part) for part in values]))
    seen = seen[np.isfinite(seen)]
    low, high = float(seen.min()), float(seen.max())
    room = max(0.05 * (high - low), 0.1)
    return [low - room, high + room]


def error_axis(title: str, span: list[float], tickformat: str) -> dict[str, Any]:
    """A logarithmic axis of errors from `log_range`, with about six ticks."""
    wide = span[1] - span[0]
    step = max(1, math.ceil(wide / 6)) if wide > 1.2 else "D2"
    return axis(f"{title} (log scale)", type="log", tickformat=tickformat, dtick=step, range=span)


def upright(name: str, x: float, span: list[float], dash: str) -> dict[str, Any]:
    """A vertical line across a logarithmic axis, with a place in the legend."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": np.array([x, x]),
        "y": 10.0 ** np.array(span),
        "line": {"color": ZERO, "dash": dash, "width": 2},
        "hoverinfo": "skip",
    }


def _rmse(curves: RmseCurves, x: dict[str, Any], symbol: str, reads: str) -> go.Figure:
    span = log_range([*curves.rmse.values(), np.array(list(curves.rmse_here.values()))])
    traces = [
        _line(PROTOCOLS[key], _WIDTHS[key], curves.x, rmse, symbol) for key, rmse in curves.rmse.items()
    ]
    if curves.x[0] <= curves.flip <= curves.x[-1]:
        traces.append(upright(f"flip, {symbol} = {number(curves.flip)}", curves.flip, span, "dash"))
    traces.append(_here(curves))
    best = min(curves.rmse_here, key=curves.rmse_here.__getitem__)
    error = "RMSE per category" if curves.theta_share is None else "RMSE of one share"
    rival = "" if best == "rr" else f" (k-RR {percent(curves.rmse_here['rr'])})"
    reading = f"Here {PROTOCOLS[best].name} has the smallest {error}, {percent(curves.rmse_here[best])}{rival}; {reads}"
    y = error_axis(error, span, _SMALL_SHARE)
    return figure(traces, x, y, reading, margin={"l": 84, "r": 14, "t": 78, "b": 62})


def _line(look: Quantity, width: float, x: Array, y: Array, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": look.name,
        "x": x,
        "y": y.astype(np.float32),
        "line": {"color": look.colour, "dash": look.dash, "width": width},
        "hovertemplate": f"{look.name}, {symbol} = " + "%{x:.4~g}<br>RMSE: %{y:.4~%}<extra></extra>",
    }


def _here(curves: RmseCurves) -> dict[str, Any]:
    looks = [PROTOCOLS[key] for key in curves.rmse_here]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "here",
        "x": np.full(len(looks), curves.here),
        "y": np.array(list(curves.rmse_here.values())),
        "text": [look.name for look in looks],
        "marker": {
            "color": [look.colour for look in looks],
            "symbol": [look.symbol for look in looks],
            "size": 12,
            "line": {"width": 1.5, "color": RIM},
        },
        "hovertemplate": "%{text} here<br>RMSE: %{y:.4~%}<extra></extra>",
    }
