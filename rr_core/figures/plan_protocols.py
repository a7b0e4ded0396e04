"""Five protocols beside each other: their error against K and against epsilon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures.plan_words import budget, round_up
from rr_core.figures.style import RIM, ZERO, Quantity, axis, figure, number, percent
from rr_core.plan.protocols import Key, RmseCurves

# The colours of the estimators say which estimator of k-RR it is; protocols have colours of their own.
PROTOCOLS: dict[Key, Quantity] = {
    "rr": Quantity("k-RR", "#E0564A", "circle", "solid"),
    "subset": Quantity("SS", "#B06A1E", "triangle-up", "dashdot"),
    "sue": Quantity("SUE", "#7C8420", "square", "dot"),
    "oue": Quantity("OUE", "#2F8FBF", "diamond", "solid"),
    "olh": Quantity("OLH", "#A65FC0", "x", "dash"),
}
_IN_A_SENTENCE: dict[Key, str] = {"subset": "subset selection"}
# OLH lies on OUE almost everywhere, and subset selection on k-RR while K is small: a thin broken line on a wide one shows
# both.
_WIDTHS: dict[Key, float] = {"rr": 4.5, "subset": 2, "sue": 2.5, "oue": 5.5, "olh": 2}
# With the digits that powers of ten far below one per cent need.
_SAME = 1e-9  # relative: below, two errors differ by rounding alone
_SMALL_SHARE = ".9~%"
_EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)


def rmse_against_k(curves: RmseCurves, epsilon: float) -> go.Figure:
    """RMSE against the number of categories, from `protocols.against_k` at this ``epsilon``.

    Only k-RR and subset selection depend on K; the upright line is where they part.
    """
    x = axis("Categories K (log scale)", type="log", tickformat="~s", dtick=1)
    reads = (
        f"at ε = {budget(epsilon)} k-RR is as good as subset selection up to {last_whole(curves.single):,} categories, "
        f"and has a smaller error than OUE up to {last_below(curves.flip):,}."
    )
    return _rmse(curves, x, "K", reads)


def rmse_against_epsilon(curves: RmseCurves, k: int) -> go.Figure:
    """RMSE against epsilon, from `protocols.against_epsilon` at this number of categories."""
    x = epsilon_axis()
    # Rounded upwards, so that it is true of the number that is read.
    alike = f"from ε = {number(round_up(curves.single, 3))} on" if curves.single > 0 else "at every ε"
    smaller = f"above ε = {number(round_up(curves.flip, 3))}" if curves.flip > 0 else "at every ε"
    reads = (
        f"with {k:,} categories k-RR is as good as subset selection {alike}, and has a smaller error than OUE "
        f"{smaller}."
    )
    return _rmse(curves, x, "ε", reads)


def epsilon_axis() -> dict[str, Any]:
    """A logarithmic axis of epsilon with ticks that are read as numbers."""
    ticks = [str(tick) for tick in _EPSILON_TICKS]
    return axis("Privacy budget ε (log scale)", type="log", tickvals=_EPSILON_TICKS, ticktext=ticks)


def last_below(flip: float) -> int:
    """The largest whole number of categories below this one."""
    return math.ceil(flip) - 1


def last_whole(border: float) -> int:
    """The largest whole number of categories up to this one."""
    return math.floor(border)


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
    if curves.x[0] <= curves.single <= curves.x[-1]:
        # Where k-RR is as good as any of them; in few letters, for a legend of several columns.
        name = (
            f"K ≤ {last_whole(curves.single):,}"
            if symbol == "K"
            else f"ε ≥ {number(round_up(curves.single, 3))}"
        )
        traces.append(upright(name, curves.single, span, "dash"))
    traces.append(_here(curves))
    least = min(curves.rmse_here.values())
    best = [key for key, rmse in curves.rmse_here.items() if rmse <= least * (1 + _SAME)]
    names = " and ".join(_IN_A_SENTENCE.get(key, PROTOCOLS[key].name) for key in best)
    error = "RMSE per category"
    rival = "" if "rr" in best else f" (k-RR {percent(curves.rmse_here['rr'])})"
    equal = ", all shares equal" if curves.users == "sampled" else ""
    have = "has" if len(best) == 1 else "have"
    reading = (
        f"With {curves.n:,.0f} user{'s' * (curves.n != 1)}{equal}, {names} {have} the smallest {error}, "
        f"{percent(least)}{rival}; {reads}"
    )
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
