"""Collected reports drawn: estimates with their intervals, the floor under the reports, expected errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.collected.advice import Advice
from rr_core.collected.floor import Floor
from rr_core.collected.held_out import HeldOut
from rr_core.collected.intervals import Interval
from rr_core.comparison import VALID
from rr_core.figures.style import ESTIMATES, QUANTITIES, SHARE, axis, figure, number, percent
from rr_core.figures.view import Bars

_OFFSETS = dict(zip(ESTIMATES, (-0.27, -0.09, 0.09, 0.27), strict=True))


def with_intervals(
    estimates: Mapping[str, Array],
    chosen: str,
    intervals: Mapping[str, Interval],
    above: NDArray[np.bool_],
    n: int,
    view: Bars,
    zoom: bool = False,
) -> go.Figure:
    """One estimator and Inv with an interval per category, the others as small markers beside them.

    Args:
        estimates: (k,) by estimator name.
        chosen: the estimator that the intervals are for.
        intervals: (k,) limits, of "inv" and of the chosen one.
        above: (k,) whether the category is told from zero; the others get open markers.
        n: number of reports.
        view: which categories.
        zoom: leave the largest share out of the range of the axis.
    """
    with_bars = dict.fromkeys(("inv", chosen))
    others = [name for name in ESTIMATES if name not in with_bars]
    traces = [_points(name, view.pick(estimates[name]), view) for name in others]
    traces += [_bars_of_error(name, estimates[name], intervals[name], above, n, view) for name in with_bars]
    interval = intervals[chosen]
    first = int(view.categories[0])
    scope = "all intervals together are" if interval.simultaneous else "each interval alone is"
    reading = (
        f"Told from zero (filled): {int(above.sum()):,} of {above.size:,} categories. The first one shown has a share "
        f"of {percent(float(estimates[chosen][first]))} by {QUANTITIES[chosen].name}, interval "
        f"{percent(float(interval.low[first]))} to {percent(float(interval.high[first]))}; {scope} "
        f"meant to hold the truth in {interval.level:.0%} of collections."
    )
    y = axis("Share of users", tickformat=SHARE)
    if zoom:
        y["range"] = without_the_largest(view, estimates[chosen], intervals["inv"])
    return figure(traces, view.axis(), y, reading, height=430)


def without_the_largest(view: Bars, estimate: Array, interval: Interval) -> list[float]:
    """The range that shows every interval but that of the largest share."""
    largest = int(view.pick(estimate).argmax())
    low, high = (np.delete(view.pick(ends), largest) for ends in (interval.low, interval.high))
    bottom, top = min(float(low.min()), 0.0), float(high.max())
    room = 0.06 * max(top - bottom, 1e-12)
    return [bottom - room, top + room]


def is_dominated(view: Bars, estimate: Array, interval: Interval) -> bool:
    """Whether one category is so large that the others could not be told apart beside it."""
    if view.categories.size < 3:
        return False
    top = max(without_the_largest(view, estimate, interval)[1], 1e-12)
    return float(view.pick(estimate).max()) > 5 * top


def reports_floor(found: Floor) -> go.Figure:
    """The least reported categories against N q, and what would be too few."""
    few = found.ranks.size <= 40
    observed, expected = QUANTITIES["observed"], QUANTITIES["expected"]
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "markers" if few else "lines",
            "name": "reports of this rank",
            "x": found.ranks,
            "y": found.reports,
            "marker": {"color": observed.colour, "symbol": observed.symbol, "size": 9},
            "line": {"color": observed.colour, "width": 3},
            "hovertemplate": "%{x:,}. least reported: %{y:,} reports<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "too few by chance",
            "x": found.ranks,
            "y": np.maximum(found.lowest, 0),
            "line": {"color": QUANTITIES["truth"].colour, "width": 1.5, "dash": "dot", "shape": "hv"},
            "fill": "tozeroy",
            "fillcolor": QUANTITIES["truth"].faded(0.22),
            "hovertemplate": "rank %{x:,}: %{y:,} reports or fewer would be too few<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "N·q, expected if nobody is there",
            "x": found.ranks[[0, -1]],
            "y": np.full(2, found.level),
            "line": {"color": expected.colour, "width": 2, "dash": expected.dash},
            "hovertemplate": "N·q = %{y:,.4~g} reports<extra></extra>",
        },
    ]
    below = found.too_few
    level = number(found.level, 4)
    reading = (
        f"Even a category that nobody has should get about N·q = {level} reports; {below:,} of the "
        f"{found.ranks.size:,} ranks drawn lie in the grey region, where chance leads {found.chance:.0%} of the time."
        if below
        else f"Even a category that nobody has should get about N·q = {level} reports, give or take chance; no "
        "rank lies in the grey region of too few."
    )
    wide = found.ranks[-1] > 60
    x: dict[str, Any] = {"type": "log", "dtick": 1, "tickformat": ",d"} if wide else {"tickformat": ",d"}
    if found.ranks[-1] <= 10:
        x["dtick"] = 1  # else the ticks between two ranks are labelled by one of them
    title = "Rank from the least reported" + (" (logarithmic)" if wide else "")
    heights = [found.level, *found.reports[[0, -1]], *np.maximum(found.lowest[[0, -1]], 0)]
    bottom, top = min(heights), max(*heights, 1.0)
    room = 0.12 * (top - bottom)
    y = axis(
        "Reports", range=[max(bottom - room, 0.0), top + room], tickformat="~s" if top > 1000 else ",.1~f"
    )
    return figure(traces, axis(title, **x), y, reading, height=340)


def expected_errors(found: Advice, title: str) -> go.Figure:
    """Mean error of each estimator over simulated collections, with two standard errors."""
    means = np.array([found.means[name] for name in ESTIMATES])
    best, least = QUANTITIES[found.best].name, found.means[found.best]
    inv = f"{number(found.means['inv'] / least)} times as much" if least > 0 else number(found.means["inv"])
    reading = (
        f"Mean error over simulated collections like this one: {best} has the smallest of the three valid estimators, "
        f"{number(least)}{_rivals(found)}; Inv has {inv}."
    )
    wide = means.min() > 0 and means.max() > 10 * means.min()
    step = 1 if means.max() > 100 * means.min() else "D2"
    scale: dict[str, Any] = {"type": "log", "dtick": step} if wide else {"rangemode": "tozero", "nticks": 6}
    x = axis(title + (" (logarithmic)" if wide else ""), exponentformat="power", **scale)
    return _dots(ESTIMATES, means, found, x, reading)


def held_out_errors(found: HeldOut) -> go.Figure:
    """How much larger the squared error of each valid estimator is than the best one's, on reports held out, with two
    standard errors. (What all share, the noise of the held-out reports, is far larger than these differences.)"""
    more = np.array([found.means[name] - found.means[found.best] for name in VALID])
    others = ", ".join(
        f"{QUANTITIES[name].name} {number(value)}"
        for name, value in zip(VALID, more, strict=True)
        if name != found.best
    )
    reading = (
        f"On reports held out {QUANTITIES[found.best].name} has the smallest squared error of the three valid "
        f"estimators{_rivals(found)}; the others have more: {others}."
    )
    x = axis(
        "Squared error beyond the smallest one, summed over categories", exponentformat="power", nticks=6
    )
    return _dots(VALID, more, found, x, reading)


def _rivals(found: Advice | HeldOut) -> str:
    rivals = " and ".join(QUANTITIES[name].name for name in found.tied if name != found.best)
    return f", not told apart from {rivals}" if rivals else ""


def _dots(
    names: Sequence[str], errors: Array, found: Advice | HeldOut, x: dict[str, Any], reading: str
) -> go.Figure:
    """One dot per estimator with two standard errors."""
    trace = {
        "type": "scatter",
        "mode": "markers",
        "y": [QUANTITIES[name].name for name in names],
        "x": errors,
        "marker": {
            "color": [QUANTITIES[name].colour for name in names],
            "symbol": [QUANTITIES[name].symbol for name in names],
            "size": 14,
        },
        "error_x": {
            "type": "data",
            "array": np.array([2 * found.standard_errors[name] for name in names]),
            "thickness": 2,
            "width": 7,
            "color": "#808080",
        },
        "hovertemplate": "%{y}: %{x:.4~g}<extra></extra>",
    }
    y = axis("Estimator", autorange="reversed", range=[len(names) - 0.4, -0.6])
    return figure([trace], x, y, reading, showlegend=False, height=260)


def _points(name: str, values: Array, view: Bars) -> dict[str, Any]:
    quantity = QUANTITIES[name]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": quantity.name,
        "x": view.x + _OFFSETS[name],
        "y": values,
        "customdata": view.names,
        "marker": {"color": quantity.colour, "symbol": quantity.symbol, "size": 8, "opacity": 0.8},
        "hovertemplate": "%{customdata}<br>" + quantity.name + ": %{y:.4~%}<extra></extra>",
    }


def _bars_of_error(
    chosen: str, estimate: Array, interval: Interval, above: NDArray[np.bool_], n: int, view: Bars
) -> dict[str, Any]:
    quantity = QUANTITIES[chosen]
    middle = view.pick(estimate)
    low, high = view.pick(interval.low), view.pick(interval.high)
    fill = np.where(view.pick(above), quantity.colour, "rgba(0,0,0,0)")
    rows = zip(view.names, low, high, middle * n, strict=True)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{quantity.name} with its interval",
        "x": view.x + _OFFSETS[chosen],
        "y": middle,
        "customdata": [[name, float(a), float(b), float(people)] for name, a, b, people in rows],
        "error_y": {
            "type": "data",
            "symmetric": False,
            # A basic interval need not hold its estimate: a bar cannot have a negative length.
            "array": np.maximum(high - middle, 0.0),
            "arrayminus": np.maximum(middle - low, 0.0),
            "thickness": 2.5,
            "width": 5 if view.x.size <= 30 else 2,
            "color": quantity.colour,
        },
        "marker": {
            "color": fill,
            "symbol": quantity.symbol,
            "size": 11 if view.x.size <= 60 else 7,
            "line": {"color": quantity.colour, "width": 2},
        },
        "hovertemplate": "%{customdata[0]}<br>"
        + quantity.name
        + ": %{y:.4~%} (%{customdata[3]:,.0f} people)<br>"
        "%{customdata[1]:.4~%} to %{customdata[2]:.4~%}<extra></extra>",
    }
