"""Beyond Theorem 2: how often the repairs line up, how far off they are, and one count pushed down."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures.style import COUNT, QUANTITIES, axis, figure, number, percent
from rr_core.figures.wording import counted
from rr_core.geometry.alignment import Alignment
from rr_core.geometry.pushdown import PushDown

MLE, GREY = QUANTITIES["mle_star"], QUANTITIES["truth"]
_DROPS = ("inv_p", "mle_star", "inv_n")  # in the order of PushDown.kept
_BINS = 30


def shares_of_draws(result: Alignment) -> go.Figure:
    """Four bars: in what share of the collections each rule applied."""
    parts = {
        "nothing cut off": result.untouched,
        "Theorem 2": result.theorem2,
        "only equal supports": result.wider,
        "neither": result.neither,
    }
    shares = np.array([count / result.done for count in parts.values()])
    # Where they are on one line in the colour of MLE*, elsewhere grey and hatched.
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": list(parts),
        "x": shares,
        "text": [f"{share:.1%}" for share in shares],
        "textposition": "outside",
        "textfont": {"size": 14},
        "marker": {
            "color": [MLE.faded(0.45), MLE.colour, MLE.faded(0.75), GREY.colour],
            "pattern": {"shape": ["", "", "", "/"], "size": 7, "solidity": 0.3},
        },
        "hovertemplate": "%{y}: %{x:.2%}<extra></extra>",
    }
    lined = 1 - result.n_off / result.done
    reading = (
        f"In {percent(lined)} of {counted(result.done, 'collection')} the three repairs lie on one line or are one "
        f"point; Theorem 2 says so in {percent(result.theorem2 / result.done)}, the wider rule in "
        f"{percent(result.wider / result.done)} more."
    )
    x = axis("Share of collections", tickformat=".0%", range=[0, 1.18], tickvals=[0, 0.25, 0.5, 0.75, 1])
    y = axis("Which rule applies", autorange="reversed", type="category", showgrid=False)
    margin = {"l": 168, "r": 14, "t": 8, "b": 62}
    return figure([bars], x, y, reading, height=290, margin=margin, showlegend=False)


def how_far_off(result: Alignment) -> go.Figure:
    """Histogram of the distance from the line, where supports differ; for a result that has such draws."""
    counts, edges = np.histogram(result.off, bins=_BINS, range=_span(result.off))
    bars = {
        "type": "bar",
        "x": ((edges[1:] + edges[:-1]) / 2).astype(np.float32),
        "width": np.diff(edges).astype(np.float32),
        "y": counts,
        "marker": {"color": MLE.colour, "line": {"width": 0.5, "color": GREY.colour}},
        "hovertemplate": "about %{x:.3~%} of the way: %{y:,} collections<extra></extra>",
    }
    reading = (
        f"In the {counted(result.neither, 'collection')} with unequal supports MLE* is off the line by "
        f"{percent(float(np.median(result.off)))} of the distance from InvP to InvN"
    )
    reading += (
        "." if result.neither == 1 else f" at the median, and by {percent(float(result.off.max()))} at most."
    )
    x = axis("Distance from the line, as a share of InvP to InvN", tickformat=".3~%", nticks=6)
    y = axis("Collections", tickformat=COUNT if counts.max() >= 1000 else ",.2~f", nticks=5)
    margin = {"l": 84, "r": 14, "t": 8, "b": 62}
    return figure([bars], x, y, reading, height=290, bargap=0, showlegend=False, margin=margin)


def pushed_down(found: PushDown, now: int) -> go.Figure:
    """Residual and position of MLE* against the count that is pushed down; the current count marked.

    Args:
        found: the numbers.
        now: position of the current count in ``found.counts``.
    """
    place, counts = found.place, found.counts
    relative = place.relative
    traces = [
        _curve("off the line (share of InvP to InvN)", counts, relative, "y"),
        _here(counts[now], relative[now], "y"),
        _curve("position of MLE*", counts, place.position, "y2"),
        _here(counts[now], place.position[now], "y2"),
        *_drops(found, relative),
    ]
    top = _top(relative)
    x = axis("Reports of the category", tickformat=",d", nticks=7, anchor="y2")
    shared = {"tickformat": ".3~%", "nticks": 4}
    y = axis("Off the line", domain=[0.56, 1], range=[-0.06 * top, 1.15 * top], **shared)
    y2 = axis("Position", domain=[0, 0.42], range=[-0.04, 1.04], **shared)
    return figure(traces, x, y, _pushed_reading(found), yaxis2=y2, height=420, margin=_MARGIN)


_MARGIN = {"l": 84, "r": 14, "t": 64, "b": 62}


def _pushed_reading(found: PushDown) -> str:
    if not found.place.length.any():
        return "At every count InvP, MLE* and InvN are one and the same point, so there is no line to leave."
    starts = [
        (name, int(found.counts[int(kept.argmax())]))
        for name, kept in zip(_DROPS, found.kept.T, strict=True)
        if kept.any() and not kept.all()
    ]
    drops = [(f"{QUANTITIES[name].name} below", start) for name, start in starts]
    dropped = f"The category is dropped by {_listed(drops)}." if drops else "Every repair drops the category."
    stretches = found.off_line
    if not stretches:
        return f"{dropped} MLE* is on the line at every count."
    spans = [(f"from {low:,} to" if low < high else "at", high) for low, high in stretches]
    return f"{dropped} MLE* is off the line {_listed(spans)}."


def _listed(parts: list[tuple[str, int]]) -> str:
    """Words with a number of reports after each; what is counted is named once, at the end."""
    *firsts, last = [f"{words} {count:,}" for words, count in parts]
    noun = "report" if parts[-1][1] == 1 else "reports"
    return f"{', '.join(firsts)} and {last} {noun}" if firsts else f"{last} {noun}"


def _curve(name: str, counts: Any, values: Array, which: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": counts,
        "y": values.astype(np.float32),
        "yaxis": which,
        "line": {"color": MLE.colour, "width": 2.5},
        "showlegend": False,
        "hovertemplate": "%{x:,} reports<br>" + name + ": %{y:.4~%}<extra></extra>",
    }


def _here(count: int, value: float, which: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "now",
        "x": np.array([count]),
        "y": np.array([value]),
        "yaxis": which,
        "marker": {
            "color": MLE.colour,
            "symbol": MLE.symbol,
            "size": 14,
            "line": {"width": 2, "color": GREY.colour},
        },
        "showlegend": which == "y",
        "hovertemplate": f"now: {count:,} reports<extra></extra>",
    }


def _drops(found: PushDown, relative: Array) -> list[dict[str, Any]]:
    """Where each repair begins to keep the category: a line in its colour and dash."""
    top = 1.15 * _top(relative)
    traces = []
    for column, name in enumerate(_DROPS):
        quantity, kept = QUANTITIES[name], found.kept[:, column]
        if not kept.any() or kept.all():
            continue
        start = found.counts[int(kept.argmax())]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{quantity.name} keeps it from {number(start, 9)}",
                "x": np.array([start, start]),
                "y": np.array([0, top]),
                "line": {"color": quantity.colour, "dash": quantity.dash, "width": 2},
                "hoverinfo": "skip",
            }
        )
    return traces


def _top(relative: Array) -> float:
    """The largest distance drawn; rounding must not fill the panel."""
    return max(float(np.nanmax(relative, initial=0.0)), 1e-6)


def _span(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5e-9, high + 0.5e-9)
