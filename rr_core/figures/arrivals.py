"""Films of a collection that comes in: the shares among the reports so far, and the estimates from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.arrivals import EstimatesSoFar, ReportsSoFar
from rr_core.figures.estimators import hatched, hover, truth_marks
from rr_core.figures.film import Frame, film
from rr_core.figures.style import QUANTITIES, SHARE, axis, number, percent
from rr_core.figures.view import Bars, Order, bars, natural_order
from rr_core.figures.wording import counted
from rr_core.mechanism import RandomizedResponse
from rr_core.registry import ESTIMATORS

MOST_DRAWN = 60  # categories
_GROUPED_UP_TO = 15  # categories for which four bars side by side can be told apart while they move
_HEADROOM = 1.6  # the early frames reach higher than the last
TRUTH, OBSERVED, EXPECTED = (QUANTITIES[name] for name in ("truth", "observed", "expected"))


def drawn_categories(by_truth: Order, labels: Sequence[str] | None) -> Bars:
    """All categories in their own order where they are few enough for a film, else the most frequent ones.

    Args:
        by_truth: (k,) categories from the most to the least frequent.
        labels: the k category names, or None for numbers.
    """
    if by_truth.size <= MOST_DRAWN:
        return bars(natural_order(by_truth.size), labels, "Category")
    return bars(by_truth, labels, f"The {MOST_DRAWN} most frequent categories (true counts)", MOST_DRAWN)


def arriving_reports(
    seen: ReportsSoFar, theta: Array, mechanism: RandomizedResponse, view: Bars
) -> go.Figure:
    """Shares among the reports so far, beside the true shares and the expected ones.

    Args:
        seen: the collection at several moments.
        theta: (k,) shares of the users.
        mechanism: the randomized response.
        view: the categories of ``seen``.
    """
    truth, expected = view.pick(theta), view.pick(mechanism.expected(theta))
    common = {"x": view.x, "customdata": view.names}
    traces = [
        {
            "type": "bar",
            "name": "True users",
            "y": truth,
            "marker": {"color": TRUTH.colour},
            "hovertemplate": hover("true share", truth),
            **common,
        },
        {
            "type": "bar",
            "name": "Reports so far",
            "y": seen.shares[0].astype(np.float32),
            "marker": {"color": OBSERVED.colour},
            "hovertemplate": hover("share of the reports so far", seen.shares),
            **common,
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "Expected reports",
            "marker": {
                "symbol": EXPECTED.symbol,
                "size": 9 if view.x.size <= 30 else 6,
                "color": EXPECTED.colour,
                "line": {"width": 2, "color": EXPECTED.colour},
            },
            "hovertemplate": hover("expected share", expected),
            **common,
            "x": view.x + 0.2,
            "y": expected,
        },
    ]
    frames = [
        Frame(
            f"{n:,}",
            f"{_so_far(seen.n, i)}<br>distance from the expected shares: {percent(seen.distance[i])}",
            [{"type": "bar", "y": seen.shares[i].astype(np.float32)}],
        )
        for i, n in enumerate(seen.n)
    ]
    top = _HEADROOM * max(truth.max(), expected.max(), seen.shares[-1].max())
    y = axis("Share", tickformat=SHARE, range=[0, min(top, 1.05)])
    layout = {"barmode": "group", "bargap": 0.2, "hovermode": view.hovermode}
    return film(traces, view.axis(), y, _reports_reading(seen), frames, [1], **layout)


def _reports_reading(seen: ReportsSoFar) -> str:
    away = [f"{percent(seen.distance[i])} {when}" for i, when in _told(seen.n)]
    return f"Shares of the reports, away from the expected ones by half the sum of the differences: {', '.join(away)}."


def arriving_estimates(seen: EstimatesSoFar, truth: Array, view: Bars) -> go.Figure:
    """The four estimates from the reports so far, beside the truth.

    Args:
        seen: the collection at several moments.
        truth: (k,) what is estimated.
        view: the categories of ``seen``.
    """
    true_shares = view.pick(truth)
    grouped = view.x.size <= _GROUPED_UP_TO
    traces = [_estimate(name, seen.estimates[name], view, grouped) for name in ESTIMATORS]
    frames = [
        Frame(
            f"{n:,}",
            f"{_so_far(seen.n, i)}<br>squared error: {_errors(seen, i)}",
            [_picture(name, seen.estimates[name][i], grouped) for name in ESTIMATORS],
        )
        for i, n in enumerate(seen.n)
    ]
    last = [seen.estimates[name][-1] for name in ESTIMATORS]
    top = min(_HEADROOM * max(true_shares.max(), *(values.max() for values in last[1:])), 1.05)
    y = axis(
        "Share of users", tickformat=SHARE, range=[max(1.3 * min(last[0].min(), 0.0), -top) - 0.1 * top, top]
    )
    layout = {"barmode": "group", "bargap": 0.18, "bargroupgap": 0.04, "hovermode": view.hovermode}
    moving = range(1, len(traces) + 1)
    return film(
        [truth_marks(view, true_shares), *traces],
        view.axis(),
        y,
        _estimates_reading(seen),
        frames,
        moving,
        **layout,
    )


def _estimate(name: str, values: Array, view: Bars, grouped: bool) -> dict[str, Any]:
    quantity = QUANTITIES[name]
    trace = {
        "name": quantity.name,
        "x": view.x,
        "customdata": view.names,
        "hovertemplate": hover(quantity.name, values),
        **_picture(name, values[0], grouped),
    }
    if not grouped:
        return {
            **trace,
            "mode": "markers",
            "marker": {"color": quantity.colour, "symbol": quantity.symbol, "size": 7},
        }
    return {**trace, "marker": {"color": quantity.colour, **trace.get("marker", {})}}


def _picture(name: str, values: Array, grouped: bool) -> dict[str, Any]:
    """What a frame changes of an estimator's trace."""
    if not grouped:
        return {"type": "scatter", "y": values.astype(np.float32)}
    hatching = {"marker": {"color": QUANTITIES[name].colour, **hatched(values)}} if name == "inv" else {}
    return {"type": "bar", "y": values.astype(np.float32), **hatching}


def _estimates_reading(seen: EstimatesSoFar) -> str:
    return f"Squared error: {'; '.join(f'{_errors(seen, i)} {when}' for i, when in _told(seen.n))}."


def _errors(seen: EstimatesSoFar, i: int) -> str:
    """The squared errors of Inv and of MLE* at a moment."""
    return ", ".join(
        f"{QUANTITIES[name].name} {number(float(seen.squared_error[name][i]))}"
        for name in ("inv", "mle_star")
    )


def _told(n: NDArray[np.int64]) -> list[tuple[int, str]]:
    """The moments that a sentence tells of, with their words: the first, the middle on a log scale, and the last."""
    last = n.size - 1
    if not last:
        return [(0, "after the only report")]
    middle = int(np.searchsorted(n, np.sqrt(n[-1])))
    words = {
        0: "after the first report",
        middle: f"after {n[middle]:,} reports",
        last: f"after all {n[-1]:,}",
    }
    return list(words.items())


def _so_far(n: NDArray[np.int64], i: int) -> str:
    return f"<b>{n[i]:,}</b> of {counted(n[-1], 'report')}"
