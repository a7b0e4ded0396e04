"""A film of how MLE* finds which categories to set to zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core.figures.estimators import hover
from rr_core.figures.film import Frame, film
from rr_core.figures.style import QUANTITIES, SHARE, axis, percent
from rr_core.figures.view import bars
from rr_core.figures.wording import counted
from rr_core.mle_search import MLESearch

MOST_CATEGORIES = 50
_OBSERVED, _MLE, _INV, _TRUTH = (QUANTITIES[name] for name in ("observed", "mle_star", "inv", "truth"))
_ROOM_ABOVE, _ROOM_BELOW = 1.1, 0.6  # as a part of the highest bar
_PACE = 6


def search_film(found: MLESearch, q: float, labels: Sequence[str] | None) -> go.Figure:
    """Bars of reports, least reported first: those below q go to q, and the others are stretched to make up for it.

    Args:
        found: the steps.
        q: what a category that nobody has is expected to get.
        labels: names of the k categories, None for numbers.
    """
    view = bars(found.order, labels, "Category, least reported first")
    common = {"x": view.x, "customdata": view.names}
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": "Reports, as far as believed",
            "y": found.expected[0],
            "marker": _marker(found, 0),
            "hovertemplate": hover("share of reports, as far as believed", found.expected),
            "showlegend": False,  # its first bar may be grey or hatched
            **common,
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "Estimate so far",
            "y": found.theta[0],
            "marker": {"color": _MLE.colour, "symbol": _MLE.symbol, "size": 11 if view.x.size <= 30 else 6},
            "hovertemplate": hover("estimate so far", found.theta),
            **common,
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"q = {percent(q)}, what an empty category gets",
            "x": [-0.6, view.x.size - 0.4],
            "y": [q, q],
            "line": {"color": _INV.colour, "dash": "dash", "width": 2.5},
            "hoverinfo": "skip",
        },
        {
            "type": "bar",
            "name": "Reports, as far as believed",
            "x": [None],
            "y": [None],
            "marker": {"color": _OBSERVED.colour},
        },
    ]
    frames = [
        Frame(
            str(n),
            _note(found, n, q, view.names),
            [
                {"type": "bar", "y": found.expected[n], "marker": _marker(found, n)},
                {"type": "scatter", "y": found.theta[n]},
            ],
        )
        for n in range(len(found.g))
    ]
    highest = max(float(found.theta[-1].max()), float(found.expected.max()))
    lowest = max(float(found.theta.min()), -_ROOM_BELOW * highest)
    y = axis("Share", tickformat=SHARE, range=[1.3 * min(lowest, 0.0), _ROOM_ABOVE * highest])
    return film(
        traces, view.axis(), y, _reading(found), frames, [0, 1], legend_rows=3, pace=_PACE, bargap=0.25
    )


def _marker(found: MLESearch, n: int) -> dict[str, Any]:
    """Grey for what was set to zero, and the next one to go hatched."""
    colours = np.where(np.arange(found.shares.size) < n, _TRUTH.colour, _OBSERVED.colour)
    pattern = np.full(found.shares.size, "", dtype=object)
    if n < found.n_zero:
        pattern[n] = "/"
    return {
        "color": colours.tolist(),
        "pattern": {"shape": pattern.tolist(), "fgcolor": _INV.colour, "solidity": 0.4},
    }


def _note(found: MLESearch, n: int, q: float, names: NDArray[np.str_]) -> str:
    zero = f"<b>{n}</b> set to zero"
    if n == found.n_zero:
        return f"{zero}<br>no other is below q: done"
    return f"{zero}<br>{names[n]}: {percent(float(found.expected[n, n]))}, below q = {percent(q)}"


def _reading(found: MLESearch) -> str:
    k = found.shares.size
    if not found.n_zero:
        return f"Of {k:,} shares of reports no one is below q, so nothing is set to zero: MLE* is Inv."
    return (
        f"From Inv to MLE* in {counted(found.n_zero, 'step')}: the least reported category that is left goes to zero and "
        f"the others make up for it, until none is below q. Here {found.n_zero:,} of {k:,} categories "
        f"{'goes' if found.n_zero == 1 else 'go'}."
    )
