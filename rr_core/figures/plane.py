"""Any number of categories: the three repairs in the plane through them, and the categories each one keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core.collinearity import Collinearity
from rr_core.figures.style import COUNT, QUANTITIES, RIM, axis, figure, number, percent

_ALL = QUANTITIES["truth"]
_KEPT = ("inv_n", "mle_star", "inv_p")  # from the largest support to the smallest
_LINEAR_UP_TO = 60  # categories; beyond, the axis is logarithmic


def plane(place: Collinearity) -> go.Figure:
    """InvP at the origin, InvN on the horizontal axis, MLE* where it is: equal aspect, exact distances.

    Args:
        place: how the repairs of one histogram lie (not a batch).
    """
    length = place.length or 1.0
    along = place.position * place.length if place.length else 0.0
    spots = {"inv_p": (0.0, 0.0), "inv_n": (place.length, 0.0), "mle_star": (along, place.residual)}
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "line through InvP and InvN",
        "x": np.array([-0.12, 1.12]) * length,
        "y": np.zeros(2),
        "line": {"color": _ALL.colour, "width": 2},
        "hoverinfo": "skip",
    }
    drop = {
        **line,
        "name": "off the line",
        "x": np.array([along, along]),
        "y": np.array([0.0, place.residual]),
        "line": {"color": QUANTITIES["mle_star"].colour, "width": 2, "dash": "dot"},
    }
    top = max(1.35 * place.residual, 0.16 * length)
    shared = {"exponentformat": "power", "nticks": 6, "zeroline": False}
    x = axis("Distance from InvP towards InvN", range=[-0.15 * length, 1.15 * length], **shared)
    y = axis(
        "Off the line",
        range=[-0.16 * length, top],
        scaleanchor="x",
        constrain="range",
        **{**shared, "nticks": 4},
    )
    labels = {name: QUANTITIES[name].name for name in spots}
    if not place.length:
        labels = {"inv_p": "", "inv_n": "InvP = MLE* = InvN", "mle_star": ""}
    traces = [line, drop, *(_spot(name, spot, labels[name]) for name, spot in spots.items())]
    return figure(
        traces, x, y, _plane_reading(place), showlegend=False, height=300, margin={**_MARGIN, "t": 12}
    )


_MARGIN = {"l": 84, "r": 14, "t": 56, "b": 62}


def _plane_reading(place: Collinearity) -> str:
    if not place.cut_off:
        return "Inv has no negative here, so nothing is cut off: InvP, MLE* and InvN are all Inv itself, one point."
    if not place.length:
        return "What is left after the cut is all equal, so InvP, MLE* and InvN are one and the same point."
    if not place.position and place.on_line:
        return f"MLE* and InvP are one point here, {number(place.length)} away from InvN."
    where = f"MLE* stands {percent(place.position)} of the way from InvP to InvN"
    if place.on_line:
        return f"{where}, exactly on the line between them."
    return (
        f"{where} and {number(place.residual)} off their line, which is {percent(place.relative)} of "
        "the distance between the two."
    )


def _spot(name: str, spot: tuple[float, float], label: str) -> dict[str, Any]:
    quantity = QUANTITIES[name]
    below = name != "mle_star"
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": quantity.name,
        "x": np.array(spot[:1]),
        "y": np.array(spot[1:]),
        "text": [label],
        "textposition": "bottom center" if below else "top center",
        "textfont": {"size": 15},
        "marker": {
            "symbol": quantity.symbol,
            "size": 16,
            "color": quantity.colour,
            "line": {"width": 1.2, "color": RIM},
        },
        "hovertemplate": f"{quantity.name}<br>%{{x:.5~g}} along, %{{y:.5~g}} off the line<extra></extra>",
    }


def supports(sizes: NDArray[np.int64], k: int) -> go.Figure:
    """Nested bars: how many categories each repair keeps, of the k ordered by their reports.

    Args:
        sizes: (3,) categories that InvP, MLE* and InvN keep; never decreasing.
        k: number of categories.
    """
    kept = dict(zip(_KEPT, sizes[::-1].tolist(), strict=True))
    wide = k > _LINEAR_UP_TO
    first = 0.8 if wide else 0.5
    traces = [_bar("all categories", first, k, _ALL.faded(0.45), f"all {k:,}")]
    for name, size in kept.items():
        quantity = QUANTITIES[name]
        traces.append(_bar(quantity.name, first, size, quantity.colour, f"{size:,} kept"))
    title = "Categories, ranked by reports" + (" (log scale)" if wide else "")
    # Room at the end for the label of the longest bar.
    ends = [np.log10(first), np.log10(k) * 1.22 + 0.25] if wide else [first, k * 1.22 + 0.5]
    x = axis(title, range=[float(end) for end in ends], tickformat=COUNT if wide else ",d", showgrid=False)
    x |= {"type": "log", "dtick": 1} if wide else {"tickvals": np.arange(1, k + 1, -(-k // 12))}
    y = axis("Kept by", autorange="reversed", type="category", showgrid=False)
    margin = {**_MARGIN, "l": 112, "t": 8}
    return figure(traces, x, y, _supports_reading(kept, k), showlegend=False, height=250, margin=margin)


def _supports_reading(kept: dict[str, int], k: int) -> str:
    n, m, p = (kept[name] for name in _KEPT)
    if p == k:
        return f"All three repairs keep all {k:,} categories: Inv is positive everywhere, so nothing is set to zero."
    if p == n:
        return f"All three repairs keep the same {p:,} of {k:,} categories, those with the most reports: equal supports."
    return (
        f"What InvP keeps ({p:,}) lies inside what MLE* keeps ({m:,}), and that inside what InvN keeps ({n:,}), of "
        f"{k:,} categories."
    )


def _bar(name: str, first: float, size: int, colour: str, text: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [name],
        "x": np.array([size + 0.5 - first]),
        "base": np.array([first]),
        "text": [text],
        "textposition": "outside",
        "textfont": {"size": 14},
        "cliponaxis": False,
        "marker": {"color": colour},
        "hovertemplate": f"{name}: {text}<extra></extra>",
    }
