"""Inv with its negatives hatched, and the chance that an empty category goes negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.comparison import ExpectedNegatives
from rr_core.figures import style
from rr_core.figures.estimators import TRUTH, band, hatched, hover, line, share_axis, truth_marks
from rr_core.figures.view import Bars, Curve, View
from rr_core.law import below_zero, negative_chance
from rr_core.limits import N_MAX, N_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import variance_at
from rr_core.rounding import counted, number, percent
from rr_core.words.phrases import table

INV = style.QUANTITIES["inv"]
_BANDS = ((2, 0.22), (1, 0.34))  # width in standard errors, and opacity
_AROUND = (
    "truth ± 1 and ± 2 standard errors"  # one entry of the legend: two greys in it are hard to tell apart
)


def inv_with_negatives(
    estimate: Array,
    theta: Array | None,
    n: int,
    mechanism: RandomizedResponse,
    view: View,
    zoom: bool = False,
) -> go.Figure:
    """Inv (k,) against the users' true shares with its ±1 and ±2 standard-error bands, alone without these; what is
    below zero is hatched. ``zoom`` limits the axis to the values that an empty category can take."""
    below = int(below_zero(estimate, mechanism).sum())
    if isinstance(view, Bars):
        traces = [inv_bars(view, view.pick(estimate), 0.6, -0.3)]
        if theta is not None:
            shown = view.pick(theta)
            bands = _bands_of_bars(view, shown, np.sqrt(variance_at(shown, n, mechanism)))
            traces = [*bands, *traces, truth_marks(view, shown)]
    else:
        traces = _inv_curve(view, estimate[view.order])
        if theta is not None:
            # The variance is affine in theta: its mean over a bin is the variance at the mean of theta.
            middle = view.mean(theta[view.order])
            bands = _bands_of_curve(view, middle, np.sqrt(variance_at(middle, n, mechanism)))
            traces = [*bands, *traces, line(view, "Truth", middle, color=TRUTH.colour, width=3)]
    around = "the grey bands are one and two standard errors of a single category around the truth"
    reading = (
        f"Inv gives a negative share to {below:,} of {len(estimate):,} categories (hatched, below the zero "
        f"line); {'the truth is hidden' if theta is None else around}."
        if below
        else "In this draw Inv gives no negative share: every category lies at or above the zero line."
    )
    y = share_axis(n, mechanism, zoom)
    return style.figure(traces, view.axis(), y, reading, bargap=0.2, hovermode=view.hovermode)


def _bands_of_bars(view: Bars, truth: Array, error: Array) -> list[dict[str, Any]]:
    return [
        style.bar_trace(
            _AROUND,
            view.x,
            2 * width * error,
            "",
            base=truth - width * error,
            offset=-0.46,
            width=0.92,
            marker={"color": TRUTH.faded(opacity)},
            legendgroup=_AROUND,
            showlegend=width == 2,
        )
        for width, opacity in _BANDS
    ]


def inv_bars(view: Bars, estimate: Array, width: float, offset: float) -> dict[str, Any]:
    """Bars of Inv (m,), this wide and so far from the middle of their categories."""
    marker = {"color": INV.colour, **hatched(estimate)}
    place = {"width": width, "offset": offset}
    return view.bars("Inv (negatives hatched)", estimate, hover("Inv", estimate), marker=marker, **place)


def _bands_of_curve(view: Curve, truth: Array, error: Array) -> list[dict[str, Any]]:
    traces = []
    for width, opacity in _BANDS:
        ends = truth - width * error, truth + width * error
        upper, lower = band(view, _AROUND, *ends, TRUTH.faded(opacity))
        traces += [upper, {**lower, "showlegend": width == 2}]
    return traces


def _inv_curve(view: Curve, estimate: Array) -> list[dict[str, Any]]:
    """Inv over the ranks, of estimates in the order of the view."""
    low, high = view.low(estimate), view.high(estimate)
    colour = INV.faded(0.45)
    return [
        *band(view, "Inv, highest to zero", np.maximum(low, 0), np.maximum(high, 0), INV.faded(0.28)),
        *band(view, "Inv below zero", np.minimum(low, 0), np.minimum(high, 0), colour, "/"),
        line(view, "Inv", view.mean(estimate), color=INV.colour, dash=INV.dash, width=2.5),
    ]


_MANY = {1: "1", 10**3: "1,000", 10**6: "1 million", 10**9: "1 billion"}  # ticks, in words that all read


def chance_against_users(n: int, mechanism: RandomizedResponse, observed: float | None) -> go.Figure:
    """Exact chance of a negative against N, with the scenario's own N and the share of empty categories below zero
    observed in repeated draws."""
    users = np.unique(np.round(np.geomspace(N_MIN, N_MAX, 700)))
    here, chances = float(negative_chance(n, mechanism)), negative_chance(users, mechanism)
    traces = [
        style.line_trace(
            "exact chance",
            users,
            chances,
            f"%{{x:,.0f}} users<br>chance of a negative: %{{y:{style.share_format(chances)}}}",
            line={"color": INV.colour, "width": 2},
        ),
        _point("empty, at your N: exact", n, here, INV.colour, "circle", 8),
    ]
    if observed is not None:
        colour = style.QUANTITIES["observed"].colour  # a ring: the exact chance is seen within it
        traces.append(_point("seen in repeated draws", n, observed, colour, "circle-open", 20))
    return style.figure(
        traces,
        style.axis(
            "Users N (logarithmic)",
            type="log",
            range=[-0.1, 9.6],  # room for the last name on a phone
            tickvals=list(_MANY),
            ticktext=list(_MANY.values()),
        ),
        style.axis("Chance of a negative estimate", tickformat=style.SHARE, range=[-0.03, 1.05]),
        chance_in_words(n, here),
        shapes=[style.across(0.5, color=TRUTH.colour, dash="dash", width=1.5)],
        height=340,
    )


def chance_in_words(n: int, chance: float) -> str:
    """The exact probability of a negative in this scenario, in a sentence."""
    return (
        f"A category that nobody has goes negative with chance {percent(chance)} at N = {n:,}; with more and more "
        "users the chance tends to one half, not to zero (the saw-tooth: reports are whole numbers)."
    )


def more_users(expected: Sequence[ExpectedNegatives]) -> str:
    """A markdown table: how many negatives to expect, of held and of empty categories, with more and more users."""
    first = expected[0]
    head = ["Negatives to expect", *(f"N = {one.n:,}" for one in expected)]
    rows = [
        (
            f"of {counted(first.of_held, 'category')} that somebody has",
            [one.held for one in expected],
            first.of_held,
        ),
        (f"of {first.of_empty:,} that nobody has", [one.empty for one in expected], first.of_empty),
    ]
    cells = [[label, *(_expected(value, of) for value in values)] for label, values, of in rows if of]
    return table(head, "l" + "r" * len(expected), cells)


def _expected(value: float, of: int) -> str:
    """An expected number as text, with enough digits to differ from ``of`` where it is smaller."""
    if value < 0.001:
        return "below 0.001"
    digits = max(3, len(str(round(value))))
    while digits < 12 and value < of and number(value, digits) == number(of, digits):
        digits += 1
    return number(value, digits)


def _point(name: str, x: int, y: float, colour: str, symbol: str, size: int) -> dict[str, Any]:
    marker = {"color": colour, "symbol": symbol, "size": size, "line": {"width": 3, "color": colour}}
    return style.mark_trace(name, [x], [y], f"{name}<br>N = {x:,}: {percent(y)}", marker=marker)
