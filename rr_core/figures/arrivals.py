"""Films of a collection that comes in: the shares among the reports so far, and the estimates from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.arrivals import EstimatesSoFar, ReportsSoFar
from rr_core.figures.estimators import GROUPED, GROUPED_UP_TO, estimate_bars, hatched, hover
from rr_core.figures.film import Frame, film
from rr_core.figures.style import QUANTITIES, SHARE, axis
from rr_core.figures.view import Bars, Order, bars, natural_order
from rr_core.mechanism import RandomizedResponse
from rr_core.registry import ESTIMATORS, VALID
from rr_core.rounding import counted, number, percent

MOST_DRAWN = 60  # categories
# The vertical axis is the same in all frames. Its upper end is this multiple of the largest share in the last frame,
# but at most this; its lower end is this part of it below zero. A truth this many times as high as the reports may
# leave the picture.
_HEADROOM, _MOST, _BELOW, _TOO_HIGH = 1.2, 1.05, 0.35, 8
TRUTH, OBSERVED, EXPECTED = (QUANTITIES[name] for name in ("truth", "observed", "expected"))


def drawn_categories(
    order: Order, labels: Sequence[str] | None, which: str = "most frequent categories (true counts)"
) -> Bars:
    """All categories in their own order where they are few enough for a film, else the first ones of an order;
    ``which`` says in the title of the axis what these are."""
    if order.size <= MOST_DRAWN:
        return bars(natural_order(order.size), labels, "Category")
    return bars(order, labels, f"The {MOST_DRAWN} {which}", MOST_DRAWN)


def arriving_reports(
    seen: ReportsSoFar, theta: Array | None, mechanism: RandomizedResponse, view: Bars
) -> go.Figure:
    """Shares among the reports so far, with the expected and the users' true ones (k,) where these are given."""
    shares = seen.shares[0].astype(np.float32), hover("share of the reports so far", seen.shares)
    traces = [view.bars("Reports", *shares, marker={"color": OBSERVED.colour})]
    highest = seen.shares[-1].max() or _MOST  # nobody may have reported any of them
    if theta is not None:
        truth, expected = view.pick(theta), view.pick(mechanism.expected(theta))
        bars = view.bars("Truth", truth, hover("true share", truth), marker={"color": TRUTH.colour})
        rim = {"width": 2, "color": EXPECTED.colour}
        diamonds = view.marks(
            "Expected",
            expected,
            hover("expected share", expected),
            x=view.x + 0.2,  # on the bars of the reports
            marker=EXPECTED.marker(9 if view.x.size <= 30 else 6, line=rim),
        )
        traces = [bars, *traces, diamonds]
        highest = max(expected.max(), seen.shares[-1].max())
        if truth.max() < _TOO_HIGH * highest:  # else its bars may leave the picture, as in a zoom
            highest = max(highest, truth.max())
    away = [
        "" if theta is None else f"<br>distance from the expected shares: {percent(one)}"
        for one in seen.distance
    ]
    frames = [
        Frame(
            f"{n:,}",
            f"{_so_far(seen.n, i)}{away[i]}",
            [{"type": "bar", "y": seen.shares[i].astype(np.float32)}],
        )
        for i, n in enumerate(seen.n)
    ]
    y = axis("Share", tickformat=SHARE, range=[0, min(_HEADROOM * highest, _MOST)])
    layout: dict[str, Any] = {"barmode": "group", "bargap": 0.2, "hovermode": view.hovermode}
    reading = _largest_reading(seen) if theta is None else _reports_reading(seen)
    moving = [0 if theta is None else 1]
    return film(traces, view.axis(), y, reading, frames, moving, legend_rows=2, **layout)


def _largest_reading(seen: ReportsSoFar) -> str:
    """How large the largest share of a drawn category among the reports is at the moments that a sentence tells of."""
    largest, drawn = seen.shares.max(axis=1), counted(seen.shares.shape[1], "category")
    return (
        f"The largest share among the reports so far, of the {drawn} drawn: "
        f"{_told(seen.n, lambda i: percent(largest[i]))}. The truth is hidden."
    )


def _reports_reading(seen: ReportsSoFar) -> str:
    away = _told(seen.n, lambda i: percent(seen.distance[i]))
    return f"Shares of the reports, away from the expected ones by half the sum of the differences: {away}."


def arriving_estimates(seen: EstimatesSoFar, truth: Array | None, view: Bars) -> go.Figure:
    """The four estimates from the reports so far, beside the truth (k,), with their errors where it is given."""
    first, last = ({name: seen.estimates[name][i] for name in ESTIMATORS} for i in (0, -1))
    shown = None if truth is None else view.pick(truth)
    traces = estimate_bars(view, first, shown)
    moving = range(len(traces) - len(ESTIMATORS), len(traces))
    for name, trace in zip(ESTIMATORS, traces[moving.start :], strict=True):
        of_all = hover(QUANTITIES[name].name, seen.estimates[name])
        trace["hovertemplate"] = f"%{{customdata}}<br>{of_all}<extra></extra>"
    grouped = view.categories.size <= GROUPED_UP_TO
    frames = [
        Frame(
            f"{n:,}",
            _so_far(seen.n, i) + ("" if shown is None else f"<br>squared error: {_errors(seen, i)}"),
            [_picture(name, seen.estimates[name][i], grouped) for name in ESTIMATORS],
        )
        for i, n in enumerate(seen.n)
    ]
    highest = max(0 if shown is None else shown.max(), *(last[name].max() for name in VALID)) or _MOST
    top = min(_HEADROOM * highest, _MOST)
    y = axis("Share of users", tickformat=SHARE, range=[-_BELOW * top, top])
    reading = _zeros_reading(seen) if shown is None else _estimates_reading(seen)
    layout: dict[str, Any] = {**GROUPED, "hovermode": view.hovermode}
    return film(traces, view.axis(), y, reading, frames, moving, legend_rows=2, **layout)


def _zeros_reading(seen: EstimatesSoFar) -> str:
    """How many of the drawn categories MLE* sets to zero at the moments that a sentence tells of."""
    theta = seen.estimates["mle_star"]
    zeros = _told(seen.n, lambda i: f"{int((theta[i] == 0).sum()):,}")
    return (
        f"Of the {counted(theta.shape[1], 'category')} drawn MLE* sets to zero: {zeros}. The truth is hidden."
    )


def _picture(name: str, values: Array, grouped: bool) -> dict[str, Any]:
    """What a frame changes of an estimator's trace."""
    picture = {"type": "bar" if grouped else "scatter", "y": values.astype(np.float32)}
    return {**picture, "marker": hatched(values)} if grouped and name == "inv" else picture


def _estimates_reading(seen: EstimatesSoFar) -> str:
    return f"Squared error: {_told(seen.n, partial(_errors, seen), '; ')}."


def _errors(seen: EstimatesSoFar, i: int) -> str:
    """The squared errors of Inv and of MLE* at a moment."""
    return ", ".join(
        f"{QUANTITIES[name].name} {number(float(seen.squared_error[name][i]))}"
        for name in ("inv", "mle_star")
    )


def _told(n: NDArray[np.int64], words: Callable[[int], str], between: str = ", ") -> str:
    """Words about the moments that a sentence tells of: the first, the middle on a log scale, and the last."""
    last = n.size - 1
    if not last:
        return f"{words(0)} after the only report"
    middle = int(np.searchsorted(n, np.sqrt(n[-1])))
    when = {0: "the first report", middle: f"{n[middle]:,} reports", last: f"all {n[-1]:,}"}
    return between.join(f"{words(i)} after {moment}" for i, moment in when.items())


def _so_far(n: NDArray[np.int64], i: int) -> str:
    return f"<b>{n[i]:,}</b> of {counted(n[-1], 'report')}"
