"""Estimates drawn: Inv with its negatives hatched, and the four estimators against the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.errors import variance_at
from rr_core.figures.style import QUANTITIES, SHARE, axis, figure, share_format
from rr_core.figures.view import Bars, Curve, View
from rr_core.law import below_zero
from rr_core.mechanism import RandomizedResponse
from rr_core.registry import ESTIMATORS, VALID

TRUTH, INV = QUANTITIES["truth"], QUANTITIES["inv"]
_SAME = 1e-12  # between shares that differ by rounding alone
_GROUPED_UP_TO = 30  # categories for which five bars side by side can still be told apart


def inv_with_negatives(
    estimate: Array,
    theta: Array,
    n: int,
    mechanism: RandomizedResponse,
    view: View,
    zoom: bool = False,
) -> go.Figure:
    """Inv against the truth with its ±1 and ±2 standard-error bands; what is below zero is hatched.

    Args:
        estimate: (k,) Inv.
        theta: (k,) the users' true shares.
        n: number of users.
        mechanism: the randomized response.
        view: what to draw.
        zoom: keep to the values that a category nobody has can take.
    """
    below = int(below_zero(estimate, mechanism).sum())
    if isinstance(view, Bars):
        shown = view.pick(theta)
        error = np.sqrt(variance_at(shown, n, mechanism))
        traces = _inv_bars(view, view.pick(estimate), shown, error)
    else:
        traces = _inv_curve(view, estimate[view.order], theta[view.order], n, mechanism)
    reading = (
        f"Inv gives a negative share to {below:,} of {len(estimate):,} categories (hatched, below the zero "
        "line); the grey bands are one and two standard errors of a single category around the truth."
        if below
        else "In this draw Inv gives no negative share: every category lies at or above the zero line."
    )
    y = _share_axis(n, mechanism, zoom)
    return figure(traces, view.axis(), y, reading, bargap=0.2, hovermode=view.hovermode)


def estimates(
    by_name: Mapping[str, Array],
    truth: Array,
    n: int,
    mechanism: RandomizedResponse,
    view: View,
    zoom: bool = False,
) -> go.Figure:
    """The truth and the four estimators, by category.

    Args:
        by_name: (k,) estimate by estimator name.
        truth: (k,) what they estimate.
        n: number of users.
        mechanism: the randomized response.
        view: what to draw.
        zoom: keep to the values that a category nobody has can take.
    """
    if isinstance(view, Bars):
        traces = _estimate_bars(view, by_name, truth)
    else:
        traces = _estimate_curves(view, by_name, truth)
    layout: dict[str, Any] = {
        "barmode": "group",
        "bargap": 0.18,
        "bargroupgap": 0.04,
        "hovermode": view.hovermode,
    }
    return figure(
        traces, view.axis(), _share_axis(n, mechanism, zoom), _reading(by_name, mechanism), **layout
    )


def _reading(by_name: Mapping[str, Array], mechanism: RandomizedResponse) -> str:
    if not below_zero(by_name["inv"], mechanism).any():
        return "Inv has no negative in this draw, so InvN, InvP and MLE* leave it as it is: all four agree."
    n, p, mle = (by_name[name] for name in ("inv_n", "inv_p", "mle_star"))
    zeros = {name: int((by_name[name] == 0).sum()) for name in VALID}
    if max(np.abs(p - n).max(), np.abs(mle - n).max()) < _SAME:
        return (
            f"Of {len(n):,} categories InvN, InvP and MLE* set the same {zeros['inv_n']:,} to zero, and give the others "
            "the same shares."
        )
    return (
        f"Of {len(n):,} categories InvN sets {zeros['inv_n']:,} to zero, MLE* {zeros['mle_star']:,} and "
        f"InvP {zeros['inv_p']:,}; they make up for the negatives in different ways."
    )


def _share_axis(n: int, mechanism: RandomizedResponse, zoom: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"tickformat": SHARE}
    if zoom:
        error = float(np.sqrt(variance_at(np.zeros(1), n, mechanism)[0]))
        more["range"] = [-4 * error, 6 * error]
    return axis("Share of users", **more)


def _inv_bars(view: Bars, estimate: Array, truth: Array, error: Array) -> list[dict[str, Any]]:
    band = [
        {
            "type": "bar",
            "name": f"truth ± {width} standard error{'s' if width > 1 else ''}",
            "x": view.x,
            "y": 2 * width * error,
            "base": truth - width * error,
            "offset": -0.46,
            "width": 0.92,
            "marker": {"color": TRUTH.faded(opacity)},
            "hoverinfo": "skip",
        }
        for width, opacity in ((2, 0.18), (1, 0.24))
    ]
    bars = {
        "type": "bar",
        "name": "Inv (negatives hatched)",
        "x": view.x,
        "y": estimate,
        "offset": -0.3,
        "width": 0.6,
        "customdata": view.names,
        "marker": {"color": INV.colour, **_hatched(estimate)},
        "hovertemplate": _hover("Inv", estimate),
    }
    return [*band, bars, _truth_marks(view, truth)]


def _hatched(values: Array) -> dict[str, Any]:
    """Marker settings that hatch the bars below zero."""
    pattern = {
        "shape": np.where(values < 0, "/", "").tolist(),
        "fillmode": "overlay",
        "fgcolor": INV.colour,
        "bgcolor": INV.faded(0.15),
        "size": 7,
        "solidity": 0.45,
    }
    return {"line": {"color": INV.colour, "width": 1}, "pattern": pattern}


def _truth_marks(view: Bars, truth: Array) -> dict[str, Any]:
    """Short grey lines at the height of the truth."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "Truth",
        "x": view.x,
        "y": truth,
        "customdata": view.names,
        "marker": {
            "symbol": "line-ew-open",
            "size": max(5, min(26, 520 // max(len(truth), 1))),
            "color": TRUTH.colour,
            "line": {"width": 3, "color": TRUTH.colour},
        },
        "hovertemplate": _hover("truth", truth),
    }


def _hover(name: str, shares: Array) -> str:
    return f"%{{customdata}}<br>{name}: %{{y:{share_format(shares)}}}<extra></extra>"


def _line(view: Curve, name: str, y: Any, **line: Any) -> dict[str, Any]:
    return view.line(name, y, f"%{{y:{share_format(y)}}}", **line)


def _band(
    view: Curve, name: str, low: Any, high: Any, colour: str, pattern: str = ""
) -> list[dict[str, Any]]:
    edge = {
        "type": "scatter",
        "mode": "lines",
        "x": view.x,
        "line": {"width": 0, "color": colour},
        "hoverinfo": "skip",
        "legendgroup": name,
    }
    filled: dict[str, Any] = {"fill": "tonexty", "fillcolor": colour}
    if pattern:
        filled["fillpattern"] = {"shape": pattern, "fgcolor": colour, "size": 7, "solidity": 0.3}
    return [
        {**edge, "y": np.asarray(high, dtype=np.float32), "name": name, "showlegend": False},
        {**edge, "y": np.asarray(low, dtype=np.float32), "name": name, **filled},
    ]


def _inv_curve(
    view: Curve, estimate: Array, truth: Array, n: int, mechanism: RandomizedResponse
) -> list[dict[str, Any]]:
    low, high = view.low(estimate), view.high(estimate)
    # The variance is affine in theta: its mean over a bin is the variance at the mean of theta.
    middle = view.mean(truth)
    error = np.sqrt(variance_at(middle, n, mechanism))
    colour = INV.faded(0.45)
    return [
        *_band(view, "truth ± 2 standard errors", middle - 2 * error, middle + 2 * error, TRUTH.faded(0.3)),
        *_band(view, "truth ± 1 standard error", middle - error, middle + error, TRUTH.faded(0.3)),
        *_band(view, "Inv, highest to zero", np.maximum(low, 0), np.maximum(high, 0), INV.faded(0.28)),
        *_band(view, "Inv below zero", np.minimum(low, 0), np.minimum(high, 0), colour, "/"),
        _line(view, "Inv", view.mean(estimate), color=INV.colour, dash=INV.dash, width=2.5),
        _line(view, "Truth", middle, color=TRUTH.colour, width=3),
    ]


def _estimate_bars(view: Bars, by_name: Mapping[str, Array], truth: Array) -> list[dict[str, Any]]:
    few = view.categories.size <= _GROUPED_UP_TO
    bars = {
        "type": "bar",
        "name": "Truth",
        "x": view.x,
        "y": view.pick(truth),
        "customdata": view.names,
        "marker": {"color": TRUTH.colour},
        "hovertemplate": _hover("truth", view.pick(truth)),
    }
    return [bars, *(_one_estimate(view, name, view.pick(by_name[name]), few) for name in ESTIMATORS)]


def _one_estimate(view: Bars, name: str, values: Array, grouped: bool) -> dict[str, Any]:
    quantity = QUANTITIES[name]
    common = {
        "name": quantity.name,
        "x": view.x,
        "y": values,
        "customdata": view.names,
        "hovertemplate": _hover(quantity.name, values),
    }
    marker: dict[str, Any] = {"color": quantity.colour}
    if not grouped:
        marker |= {"symbol": quantity.symbol, "size": 7}
        return {"type": "scatter", "mode": "markers", "marker": marker, **common}
    if name == "inv":
        marker |= _hatched(values)
    return {"type": "bar", "marker": marker, **common}


def _estimate_curves(view: Curve, by_name: Mapping[str, Array], truth: Array) -> list[dict[str, Any]]:
    ordered = {name: by_name[name][view.order] for name in ESTIMATORS}
    low, high = view.low(ordered["inv"]), view.high(ordered["inv"])
    traces = _band(view, "Inv, lowest to highest", low, high, INV.faded(0.2))
    traces.append(_line(view, "Truth", view.mean(truth[view.order]), color=TRUTH.colour, width=4))
    for name in ESTIMATORS:
        quantity = QUANTITIES[name]
        style = {"color": quantity.colour, "dash": quantity.dash, "width": 2.5}
        traces.append(_line(view, quantity.name, view.mean(ordered[name]), **style))
    return traces
