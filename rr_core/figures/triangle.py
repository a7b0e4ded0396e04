"""The simplex of three categories: reports, raw estimate, repairs, and why each repair lies where it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures.style import GRID, QUANTITIES, RIM, ZERO, Quantity, axis, figure, percent
from rr_core.geometry.contours import Contours
from rr_core.geometry.simplex import CENTRE, CORNERS, PERCENT, STEPS, Frame, Region, lattice, to_plane
from rr_core.geometry.three import Trio

_ZEROS = ("no zero", "one zero", "two zeros")
_SHADES = (0.08, 0.3, 0.58)
_SMALLEST_NAMED = 0.035  # area of a region that still has room for its name
_LOOKS = {"observed": 15, "truth": 20, "inv": 17, "inv_n": 19, "inv_p": 17, "mle_star": 10}


@dataclass(frozen=True, eq=False)
class Layers:
    """What is drawn beside the points; None is left out.

    Attributes:
        circles: equal distances from Inv.
        curves: equal likelihoods.
        regions: by number of zeros, of the estimator called ``zeros_of``.
    """

    circles: Contours | None = None
    curves: Contours | None = None
    regions: tuple[Region, ...] = ()
    zeros_of: str = ""


def triangle(found: Trio, theta: Array, names: Sequence[str], drawn: Frame, layers: Layers) -> go.Figure:
    """The triangle with every estimate in it. A fine lattice of points makes it clickable everywhere.

    Args:
        found: the reports and their estimates.
        theta: (3,) the truth.
        names: three category names, as they may stand in a chart.
        drawn: the rectangle to show; Inv is marked by an arrow when it lies outside.
        layers: what else to draw.
    """
    # In a hover text "%{" would begin a number to be filled in: a joiner keeps a name that holds it as it is.
    names = [name.replace("%{", "%\u2060{") for name in names]
    raw = to_plane(found.estimates["inv"])
    far = not drawn.holds(raw)
    points = {"observed": found.phi, "truth": theta, **found.estimates}
    traces = [
        *_region_traces(layers),
        *family(layers.circles, QUANTITIES["inv_p"], "same distance"),
        *family(layers.curves, QUANTITIES["mle_star"], "same likelihood"),
        outline(),
        _lattice(names),
        _path(np.stack([to_plane(found.phi), raw]), QUANTITIES["inv"], "Undoing the noise"),
        *_line(found),
        *(_point(name, points[name], names, far=name == "inv" and far) for name in _LOOKS),
    ]
    notes = [*corner_names(names), *_region_names(layers)]
    if far:
        notes.append(_arrow(drawn, raw))
    x, y = axes(names, drawn)
    return figure(traces, x, y, _reading(found), annotations=notes, **LAYOUT)


# The triangle leaves the upper corners of its picture empty: points are named on the left, lines on the right.
_LEGEND = {"x": 0, "y": 1, "font": {"size": 13}, "bgcolor": "rgba(0,0,0,0)"}
LAYOUT: dict[str, Any] = {
    "height": 540,
    "margin": {"l": 34, "r": 8, "t": 8, "b": 40},
    "legend": _LEGEND,
    "legend2": {**_LEGEND, "x": 1, "xanchor": "right"},
}


def _reading(found: Trio) -> str:
    place = found.place
    if not place.cut_off:
        return (
            "Inv lies inside the triangle: it is a distribution already, there is nothing to repair, and InvN, InvP "
            "and MLE* all stay on it."
        )
    if not place.length:
        return (
            "After the repair every category that is left has the same share, so that InvP, MLE* and InvN are one and "
            "the same point."
        )
    if not place.position:
        return "MLE* (green circle) and InvP (blue triangle) are one point here, for both keep a single category."
    return (
        "MLE* (green circle) lies on the line from InvP (blue triangle) to InvN (orange diamond), "
        f"{percent(place.position)} of the way along."
    )


def axes(names: Sequence[str], drawn: Frame) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two axes of a triangle at equal aspect: no numbers, the titles say what grows in which direction."""
    shared = {"showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True}
    x = axis(f"← more {names[0]} · more {names[1]} →", range=list(drawn.x), **shared)
    y = axis(f"more {names[2]} →", range=list(drawn.y), scaleanchor="x", **shared)
    return x, y


def _steady(opacity: float) -> dict[str, Any]:
    """A click must not fade the points that were not clicked."""
    same = {"marker": {"opacity": opacity}}
    return {"selected": same, "unselected": same}


def outline() -> dict[str, Any]:
    """The border of the triangle."""
    corners = np.vstack([CORNERS, CORNERS[:1]]).astype(np.float32)
    return _lines("simplex", corners, color=ZERO, width=2)


def _lattice(names: Sequence[str]) -> dict[str, Any]:
    steps = lattice()
    where = to_plane(steps / STEPS).astype(np.float32)
    shares = " · ".join(f"{name} %{{customdata[{i}]}}%" for i, name in enumerate(names))
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "click anywhere",
        "x": where[:, 0],
        "y": where[:, 1],
        "customdata": (steps * PERCENT).astype(np.uint8),
        "hovertemplate": f"click (touch: tap again) to put the reports here<br>{shares}<extra></extra>",
        "marker": {"size": 3, "color": QUANTITIES["truth"].colour, "opacity": 0.28},
        "showlegend": False,
        **_steady(0.28),
    }


def _point(name: str, shares: Array, names: Sequence[str], *, far: bool) -> dict[str, Any]:
    quantity, where = QUANTITIES[name], to_plane(shares)
    listed = "<br>".join(f"{label}: {percent(share, 4)}" for label, share in zip(names, shares, strict=True))
    marker = {
        "symbol": quantity.symbol,
        "size": _LOOKS[name],
        "color": quantity.colour,
        # The truth is a dash, which is all line; the others have a rim that parts markers lying on each other.
        "line": {"width": 4, "color": quantity.colour} if name == "truth" else {"width": 1.2, "color": RIM},
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{quantity.name}, far outside" if far else quantity.name,
        "x": where[:1],
        "y": where[1:],
        "marker": marker,
        "hovertemplate": f"{quantity.name}<br>{listed}<extra></extra>",
        **_steady(1.0),
    }


def _path(points: Array, quantity: Quantity, name: str) -> dict[str, Any]:
    """A thin line; not in the legend."""
    return _lines(name, points, color=quantity.colour, width=1.5, dash=quantity.dash)


def _line(found: Trio) -> list[dict[str, Any]]:
    """The line through the repairs, somewhat beyond InvP and InvN."""
    if not found.place.length:
        return []
    near, far = to_plane(found.estimates["inv_p"]), to_plane(found.estimates["inv_n"])
    reach = 0.07 * (far - near) / found.place.length
    line = _lines(
        "InvP to InvN", np.stack([near - reach, far + reach]), color=QUANTITIES["truth"].colour, width=3
    )
    return [{**line, **_IN_LEGEND_OF_LINES, "name": "from InvP to InvN"}]


_IN_LEGEND_OF_LINES = {"showlegend": True, "legend": "legend2"}


def family(contours: Contours | None, quantity: Quantity, name: str) -> list[dict[str, Any]]:
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
    traces = [{**thin, **(_IN_LEGEND_OF_LINES if touching is None else {})}]
    if touching is not None:
        bold = _lines(name, curves[touching], color=quantity.colour, width=2.5, shape="spline")
        traces.append({**bold, **_IN_LEGEND_OF_LINES})
    return traces


def _region_traces(layers: Layers) -> list[dict[str, Any]]:
    traces = []
    for region in layers.regions:
        closed = np.vstack([region.corners, region.corners[:1]])
        colour = QUANTITIES[layers.zeros_of].faded(_SHADES[region.zeros])
        line = _lines(_ZEROS[region.zeros], to_plane(closed), color=GRID, width=1)
        traces.append({**line, "fill": "toself", "fillcolor": colour, "hoveron": "fills"})
    return traces


def _region_names(layers: Layers) -> list[dict[str, Any]]:
    notes = []
    for region in layers.regions:
        where = to_plane(region.corners)
        if _area(where) > _SMALLEST_NAMED:
            notes.append(_note(where.mean(axis=0), _ZEROS[region.zeros], size=13))
    return notes


def corner_names(names: Sequence[str]) -> list[dict[str, Any]]:
    """Annotations that say what each corner stands for."""
    # The lower two run inwards below the edge, so that a narrow screen cuts off neither.
    anchors = (("left", "top"), ("right", "top"), ("center", "bottom"))
    return [
        {**_note(corner, f"100% {name}", size=14), "xanchor": across, "yanchor": up}
        for corner, name, (across, up) in zip(CORNERS, names, anchors, strict=True)
    ]


def _arrow(drawn: Frame, raw: Array) -> dict[str, Any]:
    """At the edge of the picture, towards an Inv that lies far outside it."""
    edge = CENTRE + 0.97 * (drawn.towards(raw) - CENTRE)
    pull = (CENTRE - edge) / np.linalg.norm(CENTRE - edge)
    return {
        **_note(edge, "", size=13),
        "showarrow": True,
        "ax": 34 * pull[0],
        "ay": -34 * pull[1],
        "arrowhead": 2,
        "arrowwidth": 3,
        "arrowcolor": QUANTITIES["inv"].colour,
    }


def _note(where: Array, text: str, size: int) -> dict[str, Any]:
    return {
        "x": float(where[0]),
        "y": float(where[1]),
        "text": text,
        "showarrow": False,
        "font": {"size": size},
    }


def _lines(name: str, points: NDArray[Any], **line: Any) -> dict[str, Any]:
    drawn = points.astype(np.float32)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": drawn[:, 0],
        "y": drawn[:, 1],
        "line": line,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _area(corners: Array) -> float:
    x, y = corners.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
