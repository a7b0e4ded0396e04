"""Are the three repairs on one line? Where they lie, which categories each keeps, how often they are on one line, and one
category pushed down."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.collinearity import Collinearity
from rr_core.figures import style
from rr_core.figures.estimators import hover
from rr_core.figures.geometry_triangle import way_along
from rr_core.geometry.push_down import PushDown
from rr_core.geometry.replicates import AlignmentCounts
from rr_core.rounding import counted, number, percent
from rr_core.words.phrases import listed

MLE, GREY = style.QUANTITIES["mle_star"], style.QUANTITIES["truth"]
_LARGEST_SUPPORT_FIRST = ("inv_n", "mle_star", "inv_p")
_SMALLEST_SUPPORT_FIRST = ("inv_p", "mle_star", "inv_n")  # as in PushDown.positive
_LINEAR_UP_TO = 60  # categories; beyond, the axis is logarithmic
_FEW = 7  # reports: each has its tick
_NEVER_OFF = 1e-6  # off the line by rounding alone


def repairs_plane(alignment: Collinearity) -> go.Figure:
    """InvP at the origin, InvN on the horizontal axis, MLE* where it is: equal aspect, exact distances."""
    length = alignment.length or 1.0
    along = alignment.position * alignment.length if alignment.length else 0.0
    points = {"inv_p": (0.0, 0.0), "inv_n": (alignment.length, 0.0), "mle_star": (along, alignment.residual)}
    x, y = np.array([-0.12, 1.12]) * length, np.zeros(2)
    line = style.line_trace("line through InvP and InvN", x, y, "", line={"color": GREY.colour, "width": 2})
    x, y = np.array([along, along]), np.array([0.0, alignment.residual])
    drop = style.line_trace("off the line", x, y, "", line={"color": MLE.colour, "width": 2, "dash": "dot"})
    top = max(1.35 * alignment.residual, 0.16 * length)
    shared = {"exponentformat": "power", "nticks": 6, "zeroline": False}
    vertical = {**shared, "nticks": 4, "scaleanchor": "x", "constrain": "range"}
    labels, side = {name: style.QUANTITIES[name].name for name in points}, "center"
    if not alignment.length:  # a point at the left end of the picture
        labels, side = {"inv_p": "", "inv_n": "InvP = MLE* = InvN", "mle_star": ""}, "right"
    markers = [_estimate_marker(name, point, labels[name], side) for name, point in points.items()]
    traces = [line, drop, *markers]
    return style.figure(
        traces,
        style.axis("Distance from InvP towards InvN", range=[-0.15 * length, 1.15 * length], **shared),
        style.axis("Off the line", range=[-0.16 * length, top], **vertical),
        _plane_reading(alignment),
        showlegend=False,
        height=300,
        margin={"t": 12},
    )


def _plane_reading(alignment: Collinearity) -> str:
    if not alignment.cut_off:
        return "Inv has no negative here, so nothing is cut off: InvP, MLE* and InvN are all Inv itself, one point."
    if not alignment.length:
        return "What is left after the cut is all equal, so InvP, MLE* and InvN are one and the same point."
    if not alignment.position and alignment.on_line:
        return f"MLE* and InvP are one point here, {number(alignment.length)} away from InvN."
    where = f"MLE* stands {way_along(alignment.position, ' of the way from InvP to InvN')}"
    if alignment.on_line:
        return f"{where}, exactly on the line between them."
    return (
        f"{where} and {number(alignment.residual)} off their line, which is {percent(alignment.relative)} of "
        "the distance between the two."
    )


def _estimate_marker(name: str, point: tuple[float, float], label: str, side: str) -> dict[str, Any]:
    quantity, height = style.QUANTITIES[name], "top" if name == "mle_star" else "bottom"
    return style.mark_trace(
        quantity.name,
        np.array(point[:1]),
        np.array(point[1:]),
        f"{quantity.name}<br>%{{x:.5~g}} along, %{{y:.5~g}} off the line",
        mode="markers+text",
        text=[label],
        textposition=f"{height} {side}",
        textfont={"size": 15},
        marker=quantity.marker(16, line={"width": 1.2, "color": style.RIM}),
    )


def support_sizes(sizes: NDArray[np.int64], k: int) -> go.Figure:
    """Nested bars: how many categories InvP, MLE* and InvN keep, of the k ordered by their reports."""
    by_name = dict(zip(_LARGEST_SUPPORT_FIRST, sizes[::-1].tolist(), strict=True))
    wide = k > _LINEAR_UP_TO
    first = 0.8 if wide else 0.5
    traces = [_bar("all categories", first, k, GREY.faded(0.45), f"all {k:,}")]
    for name, size in by_name.items():
        quantity = style.QUANTITIES[name]
        traces.append(_bar(quantity.name, first, size, quantity.colour, f"{size:,} kept"))
    title = "Categories, ranked by reports" + (" (log scale)" if wide else "")
    # Room at the end for the label of the longest bar.
    ends = [np.log10(first), np.log10(k) * 1.22 + 0.25] if wide else [first, k * 1.22 + 0.5]
    x = style.axis(title, range=[float(end) for end in ends], showgrid=False, **style.COUNT)
    x |= {"type": "log", "dtick": 1} if wide else {"tickvals": np.arange(1, k + 1, -(-k // 12))}
    y = style.axis("Kept by", autorange="reversed", type="category", showgrid=False)
    margin = {"l": 112, "t": 8}
    return style.figure(
        traces, x, y, _supports_reading(by_name, k), showlegend=False, height=250, margin=margin
    )


def _supports_reading(sizes: dict[str, int], k: int) -> str:
    n, m, p = (sizes[name] for name in _LARGEST_SUPPORT_FIRST)
    if p == k:
        return f"All three repairs keep all {k:,} categories: Inv is positive everywhere, so nothing is set to zero."
    if p == n:
        return f"All three repairs keep the same {p:,} of {k:,} categories, those with the most reports: equal supports."
    return (
        f"What InvP keeps ({p:,}) lies inside what MLE* keeps ({m:,}), and that inside what InvN keeps ({n:,}), of "
        f"{k:,} categories."
    )


def _bar(name: str, first: float, size: int, colour: str, text: str) -> dict[str, Any]:
    return style.bar_trace(
        name,
        np.array([size + 0.5 - first]),
        [name],
        f"{name}: {text}",
        orientation="h",
        base=np.array([first]),
        text=[text],
        textposition="outside",
        textfont={"size": 14},
        cliponaxis=False,
        marker={"color": colour},
    )


def alignment_shares(result: AlignmentCounts) -> go.Figure:
    """Four bars: in what share of the collections each rule applied."""
    parts = {
        "nothing cut off": result.nothing_cut_off,
        "Theorem 2": result.theorem2,
        "only equal supports": result.only_equal_supports,
        "neither": result.unequal_supports,
    }
    shares = np.array([count / result.n_collections for count in parts.values()])
    # Where they are on one line in the colour of MLE*, elsewhere grey and hatched.
    bars = style.bar_trace(
        "",
        shares,
        list(parts),
        f"%{{y}}: %{{x:{style.SHARE}}}",
        orientation="h",
        text=[percent(share) for share in shares.tolist()],
        textposition="outside",
        textfont={"size": 14},
        marker={
            "color": [MLE.faded(0.45), MLE.colour, MLE.faded(0.75), GREY.colour],
            "pattern": {"shape": ["", "", "", "/"], "size": 7, "solidity": 0.3},
        },
    )
    total = result.n_collections
    on_line = 1 - result.n_off_line / total
    reading = (
        f"In {percent(on_line)} of {counted(total, 'collection')} the three repairs lie on one line or are one "
        f"point; Theorem 2 says so in {percent(result.theorem2 / total)}, the wider rule in "
        f"{percent(result.only_equal_supports / total)} more."
    )
    x = style.axis(
        "Share of collections", tickformat=style.SHARE, range=[0, 1.18], tickvals=[0, 0.25, 0.5, 0.75, 1]
    )
    y = style.axis("Which rule applies", autorange="reversed", type="category", showgrid=False)
    return style.figure([bars], x, y, reading, height=290, margin={"l": 168, "t": 8}, showlegend=False)


def off_line_histogram(result: AlignmentCounts) -> go.Figure:
    """Histogram of the distance from the line in the collections with unequal supports; there must be one."""
    distances = result.off_line_distances
    low, high = float(distances.min()), float(distances.max())
    room = 0.0 if high > low else 0.5e-9
    counts, edges = np.histogram(distances, bins=30, range=(low - room, high + room))
    bars = style.bar_trace(
        "",
        ((edges[1:] + edges[:-1]) / 2).astype(np.float32),
        counts,
        "about %{x:.3~p} of the way: %{y:,} collections",
        width=np.diff(edges).astype(np.float32),
        marker={"color": MLE.colour, "line": {"width": 0.5, "color": GREY.colour}},
    )
    reading = (
        f"In the {counted(result.unequal_supports, 'collection')} with unequal supports MLE* is off the line by "
        f"{percent(float(np.median(distances)))} of the distance from InvP to InvN"
    )
    reading += (
        "."
        if result.unequal_supports == 1
        else f" at the median, and by {percent(float(distances.max()))} at most."
    )
    x = style.axis("Distance from the line, as a share of InvP to InvN", tickformat=style.SHARE, nticks=6)
    y = style.axis("Collections", nticks=5, **style.COUNT)
    return style.figure([bars], x, y, reading, height=290, bargap=0, showlegend=False, margin={"t": 8})


def push_down_curves(pushed: PushDown, index: int) -> go.Figure:
    """Residual and position of MLE* against the count that is pushed down; the current count marked."""
    alignment, counts = pushed.collinearity, pushed.counts
    relative = alignment.relative
    traces = [
        _push_down_line("off the line (share of InvP to InvN)", counts, relative, "y"),
        _current(counts[index], relative[index], "y"),
        _push_down_line("position of MLE*", counts, alignment.position, "y2"),
        _current(counts[index], alignment.position[index], "y2"),
        *_support_starts(pushed, relative),
    ]
    top = _top(relative)
    # No tick between whole reports, none above a line that is nowhere left: their labels would be rounded to false ones.
    few = {"dtick": 1} if counts[-1] < _FEW else {"nticks": 7}
    x = style.axis("Reports of the category", tickformat=",d", anchor="y2", **few)
    shared = {"tickformat": style.SHARE, "nticks": 4}
    y = style.axis("Off the line", domain=[0.56, 1], range=[-0.06 * top, 1.15 * top], **shared)
    if not np.any(relative > _NEVER_OFF):
        y["tickvals"] = [0]
    y2 = style.axis("Position", domain=[0, 0.42], range=[-0.04, 1.04], **shared)
    return style.figure(traces, x, y, _push_down_reading(pushed), yaxis2=y2, height=420, margin={"t": 64})


def _push_down_reading(pushed: PushDown) -> str:
    if not pushed.collinearity.length.any():
        return "At every count InvP, MLE* and InvN are one and the same point, so there is no line to leave."
    starts = [
        (name, int(pushed.counts[int(positive.argmax())]))
        for name, positive in zip(_SMALLEST_SUPPORT_FIRST, pushed.positive.T, strict=True)
        if positive.any() and not positive.all()
    ]
    drops = [(f"{style.QUANTITIES[name].name} below", start) for name, start in starts]
    dropped = f"The category is dropped by {_listed(drops)}." if drops else "Every repair drops the category."
    ranges = pushed.off_line_ranges
    if not ranges:
        return f"{dropped} MLE* is on the line at every count."
    spans = [(f"from {low:,} to" if low < high else "at", high) for low, high in ranges]
    return f"{dropped} MLE* is off the line {_listed(spans)}."


def _listed(parts: list[tuple[str, int]]) -> str:
    """Words with their numbers of reports; the noun is written once, at the end."""
    texts = [f"{words} {count:,}" for words, count in parts]
    return f"{listed(texts)} {'report' if parts[-1][1] == 1 else 'reports'}"


def _push_down_line(name: str, counts: Any, values: Array, y_axis: str) -> dict[str, Any]:
    return style.line_trace(
        name,
        counts,
        values.astype(np.float32),
        "%{x:,} reports<br>" + hover(name, values),
        yaxis=y_axis,
        line={"color": MLE.colour, "width": 2.5},
        showlegend=False,
    )


def _current(count: int, value: float, y_axis: str) -> dict[str, Any]:
    return style.mark_trace(
        "now",
        np.array([count]),
        np.array([value]),
        f"now: {counted(int(count), 'report')}",
        yaxis=y_axis,
        marker=MLE.marker(14, line={"width": 2, "color": GREY.colour}),
        showlegend=y_axis == "y",
    )


def _support_starts(pushed: PushDown, relative: Array) -> list[dict[str, Any]]:
    """For each repair a vertical line at the count from which it is positive for the category, if above the lowest."""
    top = 1.15 * _top(relative)
    traces = []
    for column, name in enumerate(_SMALLEST_SUPPORT_FIRST):
        quantity, positive = style.QUANTITIES[name], pushed.positive[:, column]
        if not positive.any() or positive.all():
            continue
        start = pushed.counts[int(positive.argmax())]
        traces.append(
            style.line_trace(
                f"{quantity.name} keeps it from {number(start, 9)}",
                np.array([start, start]),
                np.array([0, top]),
                "",
                line=quantity.line(2),
            )
        )
    return traces


def _top(relative: Array) -> float:
    """The largest distance drawn, at least large enough that rounding errors do not fill the panel."""
    return max(float(np.nanmax(relative, initial=0.0)), _NEVER_OFF)
