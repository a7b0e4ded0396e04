"""The same people every day: how many an onlooker guesses right, the budget they spend, and the error, over the days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from rr_core._validate import Array
from rr_core.figures.style import GRID, SHARE, Quantity, axis, figure, line_trace, log_axis, mark_trace, note
from rr_core.rounding import counted, number, percent, upper

SCHEME_LOOKS = {
    "fresh": Quantity("Fresh noise", "#D6453D", "circle", "solid"),
    "memoised": Quantity("Memoised", "#2A9D8F", "square", "dash"),
    "rappor": Quantity("RAPPOR", "#B8862B", "diamond", "dashdot"),
    "l_osue": Quantity("L-OSUE", "#6C8EBF", "triangle-up", "dot"),
    "l_grr": Quantity("L-GRR", "#9A6FCB", "cross", "longdash"),
    "loloha": Quantity("LOLOHA", "#C2559D", "x", "longdashdot"),
}
NAMES = {key: look.name for key, look in SCHEME_LOOKS.items()}
_WITH, _MIDDLE = {"fresh": "fresh noise", "memoised": "memoised noise"}, {"memoised": "memoised"}
_ALL = 0.9995  # a simulated share above it is not told to more digits
_ABOVE = 0.12  # a lower line has its name above it
_LOW, _HIGH = 0.05, 0.04  # room beside the ends of the axis of days, in powers of ten
_TICKS = (1, 2, 3, 5, 7, 10, 20, 30, 60, 100, 200, 365)
_CLOSEST = 0.12  # of two ticks, as a share of the axis


def exposure(days: ArrayLike, right: Mapping[str, Array], without: float) -> go.Figure:
    """The share of the people whose value an onlooker guesses right, by day and scheme, and without any report."""
    x = np.asarray(days)
    traces = [
        _line(key, x, values, "%{customdata} guessed right")
        | {"customdata": np.array([_share(value) for value in values.tolist()])}
        for key, values in right.items()
    ]
    wide = x if x.size > 1 else np.array([0.9, 1.1])
    traces.append(
        line_trace(
            "Without reports",
            wide,
            np.full(wide.size, without),
            "Without reports: %{y:.3~p}",
            showlegend=False,
            line={"color": "#8A8A8A", "dash": "dot", "width": 2},
        )
    )
    under = {"yanchor": "top", "yshift": 0} if without > _ABOVE else {"yanchor": "bottom", "yshift": 8}
    words = note("without reports", float(np.log10(wide[0])), without, xanchor="left", **under)
    (first, *others), last = [(key, float(values[-1])) for key, values in right.items()], int(x[-1])
    listed = "".join(
        f"{', ' if i else '; '}{_MIDDLE.get(key, NAMES[key])} {_share(share)}"
        for i, (key, share) in enumerate(others)
    )
    scheme = _WITH.get(first[0], NAMES[first[0]])
    reading = (
        f"After {counted(last, 'day')} with {scheme}, an onlooker guesses {_share(first[1])} of the people "
        f"right{listed}. Without reports: {percent(without)}."
    )
    y = axis("People guessed right", tickformat=SHARE, range=[0, 1.03])
    return figure(traces, _axis_of_days(x), y, reading, annotations=[words])


def _share(value: float) -> str:
    return "over 99.9%" if value > _ALL else f"about {percent(value, 2)}"


def budget(
    days: ArrayLike, spent: Mapping[str, Array], known: Mapping[str, Array] | None = None, changes: int = 0
) -> go.Figure:
    """The budget in nats that one person's reports have spent at most, by day and scheme; ``known`` where values come
    in turn and the onlooker knows which days share remembered noise. A value changes at most ``changes`` times."""
    x = np.asarray(days)
    traces = [
        _line(key, x, np.where(np.isfinite(values), values, np.nan), "ε at most %{customdata}", markers=False)
        | {"customdata": _upper(values)}
        for key, values in spent.items()
    ]
    for key, values in (known or {}).items():
        line = _line(key, x, values, "ε at most %{customdata}, in turn and known", markers=False)
        thin = {"line": line["line"] | {"width": 1.5}, "showlegend": False, "customdata": _upper(values)}
        traces.append(line | thin)
    after, all_spent = f"After {counted(int(x[-1]), 'day')} with", [*spent.values(), *(known or {}).values()]
    if known is None:
        reading = f"{after} a value that stays, ε spent is at most: {_spent(spent)}."
    else:
        reading = (
            f"{after} up to {counted(changes, 'change')} of value, ε spent is at most: {_spent(spent)}. "
            f"With values in turn and shared noise known (thin lines): {_spent(known)}."
        )
    y = log_axis("Privacy spent, ε (logarithmic)", all_spent, number)
    return figure(traces, _axis_of_days(x), y, reading, height=380)


def _upper(budgets: Array) -> NDArray[np.str_]:
    """Budgets as text, none rounded down."""
    return np.array([upper(budget) if np.isfinite(budget) else "" for budget in budgets.tolist()])


def _spent(budgets: Mapping[str, Array]) -> str:
    last = {NAMES[key]: float(values[-1]) for key, values in budgets.items()}
    return ", ".join(
        f"{name} {upper(value) if np.isfinite(value) else 'no limit'}" for name, value in last.items()
    )


def errors(
    days: ArrayLike, formulas: Mapping[str, Array], dots: ArrayLike, simulated: Mapping[str, Array]
) -> go.Figure:
    """The typical error of a share, averaged over the days so far: formulas as lines, simulations as dots."""
    x = np.asarray(days)
    traces = [
        _line(key, x, values, "%{y:.4~p} by the formula", markers=False) for key, values in formulas.items()
    ]
    for key, values in simulated.items():
        look = SCHEME_LOOKS[key]
        traces.append(
            mark_trace(
                look.name,
                np.asarray(dots),
                values,
                f"{look.name}<br>%{{x:,}} days: %{{y:.4~p}} simulated",
                legendgroup=key,
                showlegend=False,
                marker=look.marker(9),
            )
        )
    last = int(x[-1])
    listed = ", ".join(f"{NAMES[key]} {_error(float(values[-1]))}" for key, values in formulas.items())
    reading = f"Typical error of a share after {counted(last, 'day')}, averaged over the days: {listed}."
    y = log_axis("Typical error, RMSE (logarithmic)", [*formulas.values(), *simulated.values()], _error)
    return figure(traces, _axis_of_days(x), y, reading, height=380)


def _error(value: float) -> str:
    return f"{100 * value:,.0f}%" if value > 0.995 else percent(value, 2)


def _line(key: str, x: Any, values: Array, hover: str, markers: bool = True) -> dict[str, Any]:
    look = SCHEME_LOOKS[key]
    return line_trace(
        look.name,
        x,
        np.asarray(values, dtype=np.float64),
        f"{look.name}<br>%{{x:,}} days: {hover}",
        mode="lines+markers" if markers or x.size == 1 else "lines",
        legendgroup=key,
        line=look.line(3),
        marker=look.marker(7),
    )


def _axis_of_days(x: Any) -> dict[str, Any]:
    """Logarithmic, with ticks at round numbers of days and at the last."""
    last = int(x[-1])
    width = float(np.log10(last))
    ticks = [last]
    for tick in reversed(_TICKS):
        if tick < ticks[-1] and np.log10(ticks[-1] / tick) > _CLOSEST * width:
            ticks.append(tick)
    if ticks[-1] != 1:
        ticks = [*(tick for tick in ticks if np.log10(tick) > _CLOSEST * width or tick == last), 1]
    return axis(
        "Days (logarithmic)",
        type="log",
        range=[-_LOW * max(width, 1), width + _HIGH * max(width, 1)],
        tickvals=ticks[::-1],
        ticktext=[f"{tick:,}" for tick in reversed(ticks)],
        gridcolor=GRID,
    )
