"""The triangle of three categories: reports and estimates in it, and clouds of many collections before and after each
repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures import style
from rr_core.geometry import simplex
from rr_core.geometry.replicates import Cloud
from rr_core.registry import ESTIMATORS, VALID
from rr_core.rounding import number, percent
from rr_core.words.phrases import listed

_ZEROS = ("no zero", "one zero", "two zeros")
_SHADES = (0.08, 0.3, 0.58)
_ALL_BUT = 0.4995  # from the middle of the way, beyond which a position is that of an end
_SMALLEST_NAMED = 0.035  # area of a region that still has room for its name
_MARKER_SIZES = {"observed": 15, "truth": 20, "inv_n": 19, "mle_star": 10}


@dataclass(frozen=True, eq=False)
class Layers:
    """What is drawn beside the points: circles of equal distance from Inv, curves of equal likelihood, and regions by
    number of zeros of the estimator ``zeros_of``."""

    circles: simplex.Contours | None = None
    curves: simplex.Contours | None = None
    regions: tuple[simplex.ZeroRegion, ...] = ()
    zeros_of: str = ""


def triangle(
    reports: simplex.ThreeEstimates,
    theta: Array | None,
    names: Sequence[str],
    view: simplex.Frame,
    layers: Layers,
    *,
    example: str = "",
) -> go.Figure:
    """The triangle with every estimate and the truth (3,) in it; Inv is marked by an arrow when it lies outside
    ``view``. A fine lattice of points makes it clickable everywhere. ``example`` says, in a sentence,
    that the reports are not the scenario's."""
    names = names_in_hover(names)
    raw = simplex.to_plane(reports.estimates["inv"])
    far = not view.contains(raw)
    points = {"observed": reports.phi, **reports.estimates}
    if theta is not None:
        points["truth"] = theta
    regions, names_of_regions = _regions(layers)
    traces = [
        *regions,
        *contour_traces(layers.circles, style.QUANTITIES["inv_p"], "same distance"),
        *contour_traces(layers.curves, style.QUANTITIES["mle_star"], "same likelihood"),
        triangle_outline(),
        _lattice(names),
        _lines(
            "Undoing the noise",
            np.stack([simplex.to_plane(reports.phi), raw]),
            **style.QUANTITIES["inv"].line(1.5),
        ),
        *_repairs_line(reports),
        *(
            _point(name, points[name], names, far=name == "inv" and far)
            for name in ("observed", "truth", *ESTIMATORS)
            if name in points
        ),
    ]
    notes = [*names_of_regions, *([_arrow(view, raw)] if far else [])]
    return triangle_figure(traces, names, view, f"{example} {_triangle_reading(reports)}".lstrip(), notes)


def names_in_hover(names: Sequence[str]) -> list[str]:
    """The names as a hover text shows them: where one has "%{", for which Plotly would fill in a number, an invisible
    joiner keeps it as it is."""
    return [name.replace("%{", "%\u2060{") for name in names]


def triangle_figure(
    traces: list[dict[str, Any]],
    names: Sequence[str],
    view: simplex.Frame,
    reading: str,
    notes: Sequence[dict[str, Any]] = (),
) -> go.Figure:
    """A triangle of three categories with these names at its corners, seen in a frame; ``notes`` are more annotations."""
    return style.figure(
        traces,
        *_axes(names, view),
        reading,
        annotations=[*_corner_labels(names), *notes],
        height=460,
        margin={"l": 34, "r": 8, "t": 60, "b": 40, "pad": 0},
        legend=style.LEGEND | {"y": 1},  # above the picture, whose lines would cross it
        hoverdistance=-1,  # a click anywhere, outside the triangle too, takes the point nearest to it
    )


def way_along(position: float, behind: str = "") -> str:
    """Where MLE* is on the way from InvP to InvN: at an end, or its share of the way with the words ``behind`` it."""
    end = "InvN" if position > 0.5 else "InvP"
    return f"all but at {end}" if abs(position - 0.5) > _ALL_BUT else f"{percent(position)}{behind}"


def _triangle_reading(reports: simplex.ThreeEstimates) -> str:
    alignment = reports.collinearity
    if not alignment.cut_off:
        return (
            "Inv lies inside the triangle: it is a distribution already, there is nothing to repair, and InvN, InvP "
            "and MLE* all stay on it."
        )
    if not alignment.length:
        return "InvP, MLE* and InvN are one and the same point: what they leave has equal shares or is a single category."
    if not alignment.position:
        return "MLE* (green circle) and InvP (blue triangle) are one point here, for both keep a single category."
    return (
        "MLE* (green circle) lies on the line from InvP (blue triangle) to InvN (amber diamond), "
        f"{way_along(alignment.position, ' of the way along')}."
    )


def _axes(names: Sequence[str], view: simplex.Frame) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two axes of a triangle at equal aspect: no numbers, the titles say what grows in which direction. Plotly is
    told to shrink their domain: widened ranges would stay when the window changes its size."""
    shared = {
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "constrain": "domain",
        # A window's frame, at which curves end.
        "showline": True,
        "mirror": True,
        "linecolor": style.GRID,
    }
    x = style.axis(f"← more {names[0]} · more {names[1]} →", range=list(view.x), **shared)
    y = style.axis(f"more {names[2]} →", range=list(view.y), scaleanchor="x", **shared)
    return x, y


def triangle_outline() -> dict[str, Any]:
    """The border of the triangle."""
    corners = np.vstack([simplex.CORNERS, simplex.CORNERS[:1]]).astype(np.float32)
    return _lines("simplex", corners, color=style.ZERO, width=2)


def mark(name: str, where: Array, marker: dict[str, Any], rim: dict[str, Any]) -> dict[str, Any]:
    """A mark with a rim at a point of the plane."""
    return style.mark_trace(name, where[:1], where[1:], name, marker={**marker, "line": rim})


def _lattice(names: Sequence[str]) -> dict[str, Any]:
    steps = simplex.lattice()
    where = simplex.to_plane(steps / simplex.STEPS).astype(np.float32)
    shares = " · ".join(f"{name} %{{customdata[{i}]}}%" for i, name in enumerate(names))
    return style.mark_trace(
        "click anywhere",
        where[:, 0],
        where[:, 1],
        f"click or tap to put the reports here<br>{shares}",
        customdata=(steps * simplex.PERCENT).astype(np.uint8),
        marker={"size": 3, "color": style.QUANTITIES["truth"].colour, "opacity": 0.28},
        showlegend=False,
        **style.steady(opacity=0.28),
    )


def _point(name: str, shares: Array, names: Sequence[str], *, far: bool) -> dict[str, Any]:
    quantity, where = style.QUANTITIES[name], simplex.to_plane(shares)
    listed = "<br>".join(f"{label}: {percent(share, 4)}" for label, share in zip(names, shares, strict=True))
    marker = quantity.marker(
        _MARKER_SIZES.get(name, 17),
        line={"width": 4, "color": quantity.colour}
        if name == "truth"
        else {"width": 1.2, "color": style.RIM},
    )
    return style.mark_trace(
        f"{quantity.name}, far outside" if far else quantity.name,
        where[:1],
        where[1:],
        f"{quantity.name}<br>{listed}",
        marker=marker,
        **style.steady(opacity=1.0),
    )


def _repairs_line(reports: simplex.ThreeEstimates) -> list[dict[str, Any]]:
    """The line through the repairs, somewhat beyond InvP and InvN."""
    if not reports.collinearity.length:
        return []
    near, far = simplex.to_plane(reports.estimates["inv_p"]), simplex.to_plane(reports.estimates["inv_n"])
    reach = 0.07 * (far - near) / reports.collinearity.length
    ends = np.stack([near - reach, far + reach])
    return [{**_lines("InvP to InvN", ends, color=style.QUANTITIES["truth"].colour, width=3), **_IN_LEGEND}]


# Lines are named after the points.
_IN_LEGEND = {"showlegend": True, "legendrank": 1001}


def contour_traces(
    contours: simplex.Contours | None, quantity: style.Quantity, name: str
) -> list[dict[str, Any]]:
    """Curves around Inv, the touching one bold."""
    if contours is None:
        return []
    curves = contours.lines.astype(np.float32)
    gap = np.full((len(curves), 1, 2), np.nan, dtype=np.float32)
    touching = contours.touching
    others = np.concatenate([curves, gap], axis=1)
    if touching is not None:
        others = np.delete(others, touching, axis=0)
    thin = _lines(name, others.reshape(-1, 2), color=quantity.faded(0.55), width=1.2, shape="spline")
    traces = [{**thin, **(_IN_LEGEND if touching is None else {})}]
    if touching is not None:
        bold = _lines(name, curves[touching], color=quantity.colour, width=2.5, shape="spline")
        traces.append({**bold, **_IN_LEGEND})
    return traces


def _regions(layers: Layers) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Traces of the regions, and names of those that have room for one."""
    traces, names = [], []
    for region in layers.regions:
        where = simplex.to_plane(region.corners)
        colour = style.QUANTITIES[layers.zeros_of].faded(_SHADES[region.zeros])
        line = _lines(_ZEROS[region.zeros], np.vstack([where, where[:1]]), color=style.GRID, width=1)
        traces.append({**line, "fill": "toself", "fillcolor": colour, "hoveron": "fills"})
        x, y = where.T
        if abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2 > _SMALLEST_NAMED:
            names.append(style.note(_ZEROS[region.zeros], *where.mean(axis=0).tolist()))
    return traces, names


def _corner_labels(names: Sequence[str]) -> list[dict[str, Any]]:
    """Annotations that say what each corner stands for."""
    # The lower two run inwards below the edge, so that a narrow screen cuts off neither,
    # and on two lines, so that they do not meet.
    places = (("left", "top", "<br>"), ("right", "top", "<br>"), ("center", "bottom", " "))
    return [
        style.note(f"100%{between}{name}", *corner, xanchor=across, yanchor=up, align=across)
        for corner, name, (across, up, between) in zip(simplex.CORNERS.tolist(), names, places, strict=True)
    ]


def _arrow(view: simplex.Frame, raw: Array) -> dict[str, Any]:
    """An arrow at the edge of the view that points to an Inv outside it."""
    edge = simplex.CENTRE + 0.97 * (view.edge_towards(raw) - simplex.CENTRE)
    pull = (simplex.CENTRE - edge) / np.linalg.norm(simplex.CENTRE - edge)
    look = {"arrowhead": 2, "arrowwidth": 3, "arrowcolor": style.QUANTITIES["inv"].colour}
    return style.note(
        "", *edge.tolist(), **{"showarrow": True, "ax": 34 * pull[0], "ay": -34 * pull[1], **look}
    )


def _lines(name: str, points: NDArray[Any], **line: Any) -> dict[str, Any]:
    drawn = points.astype(np.float32)
    return style.line_trace(name, drawn[:, 0], drawn[:, 1], "", line=line, showlegend=False)


# Domains of the panels, two by two, with room for their titles.
_ACROSS, _UP = ([0.0, 0.46], [0.54, 1.0]), ([0.6, 1.0], [0.0, 0.4])


def cloud_panels(clouds: Mapping[str, Cloud], names: Sequence[str], view: simplex.Frame) -> go.Figure:
    """One panel per estimator: its cloud, the truth, and the mean of the cloud."""
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes = []
    for panel, name in enumerate(ESTIMATORS):
        suffix = "" if panel == 0 else str(panel + 1)
        traces += [
            {**trace, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
            for trace in _cloud_traces(name, clouds[name])
        ]
        x, y = _ACROSS[panel % 2], _UP[panel // 2]
        axes[f"xaxis{suffix}"], axes[f"yaxis{suffix}"] = _panel_axes(suffix, names, view, x, y)
        notes.append(style.head(f"<b>{style.QUANTITIES[name].name}</b>", sum(x) / 2, y[1], font={"size": 15}))
    return style.figure(
        traces,
        axes.pop("xaxis"),
        axes.pop("yaxis"),
        _clouds_reading(clouds),
        annotations=notes,
        showlegend=False,
        height=560,
        margin={"l": 46, "r": 8, "t": 26, "b": 40},
        **axes,
    )


def _clouds_reading(clouds: Mapping[str, Cloud]) -> str:
    collections = len(clouds["inv"].points)
    if not np.ptp(clouds["inv"].points, axis=0).any():
        return (
            f"All {collections} collections gave the same reports, so that every cloud is a single point: what is chance "
            "they do not tell."
        )
    if (clouds["inv"].points >= 0).all():
        return f"In none of the {collections} collections was Inv negative, so that all four estimators are the same."
    repairs = [clouds[name] for name in VALID]
    biased = [style.QUANTITIES[name].name for name in VALID if clouds[name].is_biased]
    if not biased:
        return f"Over {collections} collections the bias of no repair can be told from chance."
    farthest = [
        name
        for name in VALID
        if all(clouds[name] is other or clouds[name].has_larger_bias_than(other) for other in repairs)
    ]
    if farthest:
        order = (
            f"{style.QUANTITIES[farthest[0]].name}'s is the farthest, {number(clouds[farthest[0]].bias)} away"
        )
    elif all(np.allclose(repairs[0].points, other.points, rtol=0, atol=1e-12) for other in repairs):
        order = f"all three are the same in every collection, {number(repairs[0].bias)} away"
    else:
        order = f"whose is the farthest, {collections} collections cannot tell"
    means = f"mean{'s' * bool(biased[1:])} of {listed(biased)} {'are' if biased[1:] else 'is'}"
    return f"Over {collections} collections the {means} farther from the truth than chance alone explains; {order}."


def _cloud_traces(name: str, cloud: Cloud) -> list[dict[str, Any]]:
    quantity, truth_look = style.QUANTITIES[name], style.QUANTITIES["truth"]
    points = simplex.to_plane(cloud.points).astype(np.float32)
    truth, mean = simplex.to_plane(cloud.theta), simplex.to_plane(cloud.mean)
    dots = {"color": quantity.faded(0.35), "size": 5, "symbol": "circle"}
    return [
        triangle_outline(),
        style.mark_trace(quantity.name, points[:, 0], points[:, 1], "", marker=dots),
        _lines("to the mean", np.stack([truth, mean]), color=quantity.colour, width=4),
        mark("truth", truth, truth_look.marker(30), {"width": 2, "color": truth_look.colour}),
        mark("mean of the cloud", mean, quantity.marker(14), {"width": 2, "color": style.RIM}),
    ]


def _panel_axes(
    suffix: str, names: Sequence[str], view: simplex.Frame, x: list[float], y: list[float]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One panel's axes: no numbers, the titles say what grows in which direction."""
    shared = {"showticklabels": False, "showgrid": False, "zeroline": False, "constrain": "domain"}
    # The title of the right panels would lie on the left ones.
    up = f"{names[2]} →" if x[0] == 0 else ""
    anchor = {"anchor": f"x{suffix}", "scaleanchor": f"x{suffix}"}
    return (
        style.axis(f"{names[1]} →", domain=x, anchor=f"y{suffix}", range=list(view.x), **shared),
        style.axis(up, domain=y, range=list(view.y), **anchor, **shared),
    )
