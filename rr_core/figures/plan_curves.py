"""Error of each estimator along epsilon or N: Inv in closed form, the valid ones simulated, with error bars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures.plan_map import epsilon_ticks
from rr_core.figures.plan_protocols import error_axis, log_range, upright
from rr_core.figures.plan_words import budget
from rr_core.figures.style import QUANTITIES, SHARE, ZERO, axis, figure, percent
from rr_core.plan.curves import SimulatedCurve
from rr_core.registry import VALID

METRIC_NAMES = {
    "rmse": "RMSE per category",
    "max": "Largest error of any category",
    "tv": "Total variation",
}
_IN_WORDS = {"rmse": "RMSE per category", "max": "largest error", "tv": "total variation"}
_OF_ZEROS = [-6.0, -3.0]  # powers of ten, for errors that are all zero
# MLE* often lies on InvP: a small marker on a large one shows both.
_SIZES = {"inv": 10, "inv_n": 10, "inv_p": 15, "mle_star": 7}
_WIDTHS = {"inv_p": 4.5}
_BARS = 2.0  # standard errors to either side
_SAME = 1e-9  # relative: below, two means differ by rounding alone


def error_curves(
    found: SimulatedCurve, metric: str, exact: Array | None, here: float, wanted: float | None
) -> go.Figure:
    """One curve per estimator.

    Args:
        found: the simulation; points without collections are left out.
        metric: "rmse", "max" or "tv".
        exact: (m,) Inv's error in closed form, drawn in the place of its simulation; None where there is none.
        here: the plan's epsilon or N.
        wanted: the value asked for, where the target is about this metric.
    """
    there = found.done > 0
    x = found.points[there]
    mean = {name: values[there] for name, values in found.mean[metric].items()}
    spread = {name: values[there] for name, values in found.standard_error[metric].items()}
    traces = [] if exact is None else [_line("inv", x, exact[there], ", exact")]
    simulated = VALID if exact is not None else ("inv", *VALID)
    traces += [_points(name, x, mean[name], spread[name]) for name in simulated]
    drawn = [*mean.values(), *([] if exact is None else [exact[there]])]
    span = _span(drawn)
    symbol = "ε" if found.along == "epsilon" else "N"
    traces.append(upright(f"{symbol} = {_here(here, symbol)}", here, span, "dash"))
    if wanted is not None and span[0] < math.log10(wanted) < span[1]:
        traces.append(_level(x, wanted))
    ends = [float(np.log10(value)) for value in (found.points[0], found.points[-1])]
    room = 0.04 * (ends[1] - ends[0])
    across = (
        axis("Privacy budget ε (log scale)", type="log", **epsilon_ticks())
        if symbol == "ε"
        else axis("Users N (log scale)", type="log", dtick=1, tickformat="~s")
    )
    y = error_axis(METRIC_NAMES[metric], span, SHARE)
    reading = _reading(found, metric, mean, here, there)
    return figure(
        traces,
        {**across, "range": [ends[0] - room, ends[1] + room]},
        y,
        reading,
        margin={"l": 84, "r": 14, "t": 78, "b": 62},
    )


def _span(drawn: list[Array]) -> list[float]:
    """Ends of the axis; an error of zero has no place on it."""
    positive = [part[part > 0] for part in drawn if (part > 0).any()]
    return log_range(positive) if positive else _OF_ZEROS


def _line(name: str, x: Array, y: Array, more: str) -> dict[str, Any]:
    look = QUANTITIES[name]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": look.name + more,
        "x": x,
        "y": y,
        "line": {"color": look.colour, "dash": look.dash, "width": 3},
        "hovertemplate": f"{look.name}{more}<br>%{{x:.4~g}}: %{{y:.3~%}}<extra></extra>",
    }


def _points(name: str, x: Array, mean: Array, spread: Array) -> dict[str, Any]:
    look = QUANTITIES[name]
    bars = _BARS * np.nan_to_num(spread)
    # A bar down to zero or below has no end on a logarithmic axis.
    below = np.minimum(bars, 0.95 * mean)
    return {
        **_line(name, x, mean, ""),
        "mode": "lines+markers",
        "marker": {"symbol": look.symbol, "size": _SIZES[name], "color": look.colour},
        "line": {"color": look.colour, "dash": look.dash, "width": _WIDTHS.get(name, 2)},
        "error_y": {
            "type": "data",
            "array": bars,
            "arrayminus": below,
            "symmetric": False,
            "color": look.colour,
            "thickness": 1.5,
            "width": 4,
        },
    }


def _level(x: Array, wanted: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"asked for, {percent(wanted)}",
        "x": x[[0, -1]],
        "y": np.full(2, wanted),
        "line": {"color": ZERO, "dash": "dot", "width": 2},
        "hoverinfo": "skip",
    }


def _here(value: float, symbol: str) -> str:
    return budget(value) if symbol == "ε" else f"{value:,.0f}"


def _reading(
    found: SimulatedCurve, metric: str, mean: dict[str, Array], here: float, there: NDArray[np.bool_]
) -> str:
    at = int(np.argmin(np.abs(np.log(found.points[there] / here))))
    place = found.points[there][at]
    symbol = "ε" if found.along == "epsilon" else "N"
    runs = int(found.done[there][at])
    least = min(VALID, key=lambda name: float(mean[name][at]))
    value, raw = float(mean[least][at]), float(mean["inv"][at])
    errors = {name: float(found.standard_error[metric][name][there][at]) for name in VALID}
    # Not told apart within two standard errors; from one collection nothing is.
    near = [
        name
        for name in VALID
        if not mean[name][at] - value > _BARS * math.hypot(errors[name], errors[least]) + _SAME * value
    ]
    other = "N" if symbol == "ε" else "ε"
    at_both = f"{symbol} = {_here(place, symbol)} and {other} = {_here(found.fixed_value, other)}"
    start = f"At {at_both}, in {runs:,} simulated collection{'s' * (runs > 1)}, "
    what = _IN_WORDS[metric]
    if len(near) == 1:
        times = f", {percent(value / raw)} of Inv's {percent(raw)}" if raw > 0 else ""
        return f"{start}the lowest {what} is that of {QUANTITIES[least].name}: {percent(value)}{times}."
    names = [QUANTITIES[name].name for name in near]
    both = f"{', '.join(names[:-1])} and {names[-1]}"
    if max(float(mean[name][at]) for name in near) <= value * (1 + _SAME):
        return f"{start}{both} have the same {what}, {percent(value)}{', the lowest' * (len(near) < len(VALID))}."
    each = ", ".join(f"{QUANTITIES[name].name} {percent(float(mean[name][at]))}" for name in ("inv", *VALID))
    return f"{start}chance leaves open which of {both} has the lowest {what}: {each}."
