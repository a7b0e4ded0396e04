"""The appearance of all charts: one colour, one marker and one dash per quantity, a common layout, and traces.

Okabe-Ito colours: readable by colour-blind people, in greyscale, on light and on dark. Bars, lines, marks, notes and
straight lines are plain dicts, as `figure` takes them; ``more`` is what else Plotly has for each of them.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from rr_core._validate import Array
from rr_core.registry import LABELS, REGISTRY

Trace = dict[str, Any]
GRID = "rgba(128,128,128,0.22)"
ZERO = "rgba(128,128,128,0.75)"
LEGEND: dict[str, Any] = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "font": {"size": 14}}
_SMALLEST_IN_A_ROOM = 22  # pixels
_WIDER_IN_A_ROOM = 1.15
RIM = "#FFFFFF"  # of a marker that may lie on another


def rgb(colour: str) -> list[int]:
    """Red, green and blue of #RRGGBB, each from 0 to 255."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


@dataclass(frozen=True)
class Quantity:
    """Name on screen, colour, marker symbol and dash of one quantity."""

    name: str
    colour: str
    symbol: str
    dash: str

    def faded(self, opacity: float) -> str:
        """The colour as rgba with this opacity."""
        red, green, blue = rgb(self.colour)
        return f"rgba({red},{green},{blue},{opacity:g})"

    def line(self, width: float) -> dict[str, Any]:
        """Settings of a line, this wide in pixels."""
        return {"color": self.colour, "dash": self.dash, "width": width}

    def marker(self, size: float, **more: Any) -> dict[str, Any]:
        """Settings of a marker, this large in pixels."""
        return {"color": self.colour, "symbol": self.symbol, "size": size, **more}


QUANTITIES = {
    "truth": Quantity("Truth", "#8C8C8C", "line-ew-open", "solid"),
    "observed": Quantity("Observed", "#56B4E9", "circle", "solid"),
    "expected": Quantity("Expected", "#9A6324", "diamond-open", "dash"),
    **{entry.name: Quantity(entry.label, entry.colour, entry.marker, entry.dash) for entry in REGISTRY},
    "ibu": Quantity("IBU", "#CC79A7", "x", "dashdot"),
    "posterior": Quantity("Posterior mean", "#C2185B", "hexagon", "longdashdot"),
}
# What has no closed form, by any other channel or protocol, has no star.
MLE = replace(QUANTITIES["mle_star"], name=LABELS["mle"])
# Ranks have colours of their own: the green of MLE* must not say "best".
RANKS = {
    "best": ("#6A51A3", ""),
    "in between": ("#BBBBBB", "."),
    "worst": ("#B2182B", "/"),
    "all equal": ("#5AB4AC", "+"),
}

# Runs of one quantity beside each other (IBU under several settings): shades of its colour, each with a dash.
_SHADES = ("#E2A3C7", "#B9598F", "#8E3A6B", "#7C6BB0", "#A79BD0", "#56468C")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SERIES = tuple({"color": c, "dash": dash, "width": 3} for c, dash in zip(_SHADES, _DASHES, strict=True))
# Plotly's own buttons: the same on light and dark, because the colour they take under the mouse is fixed.
BUTTON = {"bgcolor": "#E8E8E8", "bordercolor": "#A0A0A0", "font": {"size": 14, "color": "#202020"}}

# Minus signs, not hyphens, and as many digits as the axis needs: significant ones, so that a small share is no zero.
_DIGITS, _ROUNDING = 6, 1e-13
SHARE = f",.{_DIGITS}~p"
# Of counts: all digits below a million, then M and B. Plotly writes all ticks of an axis in one unit: those below 1 of it
# are renamed. A logarithmic axis that names 2 and 5 as well needs all digits.
COUNT: dict[str, Any] = {
    "exponentformat": "B",
    "minexponent": 5,
    "separatethousands": True,
    "labelalias": {
        f"0.{tenth}{unit}": f"{tenth}{instead}"
        for unit, instead in (("M", "00,000"), ("B", "00M"))
        for tenth in range(1, 10)
    },
}
ALL_DIGITS = ",~r"
_FINE, _MOST_TICKS = 1.8, 6  # powers of ten below which ticks are at 2 and 5, too; ticks of a longer axis
_ROOM = 0.41  # half of the shortest axis of errors or budgets: it has two ticks


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title and the common grid."""
    return {
        "title": {"text": title, "font": {"size": 15}},
        "tickfont": {"size": 14},
        "gridcolor": GRID,
        "zerolinecolor": ZERO,
        "automargin": False,
        **more,
    }


def log_axis(title: str, several: Sequence[Array], words: Callable[[float], str]) -> dict[str, Any]:
    """A logarithmic axis with a handful of ticks at 1, 2, 5, 10, ... or at powers of ten."""
    values = np.concatenate([np.ravel(one) for one in several])
    values = values[(values > 0) & np.isfinite(values)]
    low, high = (np.log10(values.min()), np.log10(values.max())) if values.size else (-1.0, 0.0)
    room = max(0.06 * (high - low), _ROOM - (high - low) / 2)
    low, high = low - room, high + room
    whole = np.arange(np.floor(low), np.ceil(high) + 1)
    if high - low < _FINE:
        ticks = np.ravel(10.0 ** whole[:, None] * np.array([1, 2, 5]))
    else:
        ticks = 10.0 ** whole[whole % np.ceil((high - low) / _MOST_TICKS) == 0]
    ticks = ticks[(np.log10(ticks) >= low) & (np.log10(ticks) <= high)]
    texts = [words(tick) for tick in ticks.tolist()]
    return axis(title, type="log", range=[float(low), float(high)], tickvals=ticks, ticktext=texts)


def figure(
    traces: list[dict[str, Any]],
    x: dict[str, Any],
    y: dict[str, Any],
    reading: str,
    frames: list[dict[str, Any]] | None = None,
    **layout: Any,
) -> go.Figure:
    """The common frame. ``reading``, the chart in one sentence, is kept in ``layout.meta["reading"]``; ``frames`` are
    what an animation goes through; of ``margin`` only what differs is given. Not validated at every rerun, which would
    take three times as long as all the rest of a page; the tests validate every figure instead."""
    frame = {
        "xaxis": x,
        "yaxis": y,
        "height": 430,
        # The smallest text: what is to be read from the back of a room.
        "font": {"size": 14},
        "legend": LEGEND,
        "hoverlabel": {"font": {"size": 14}, "align": "left"},
        "hovermode": "closest",
        # A finger on a chart scrolls the page; the toolbar has the zoom.
        "dragmode": False,
        "meta": {"reading": reading},
        # Nothing is left to Plotly's default template, which would be most of what is sent.
        "template": {"layout": {}},
        **layout,
        # Margins by hand: letting Plotly find them makes it lay out every figure twice.
        "margin": {"l": 84, "r": 14, "t": 56, "b": 62, **layout.get("margin", {})},
    }
    chart = {"data": traces, "layout": frame}
    return _Film(chart, frames) if frames else go.Figure(chart, _validate=False)


class _Film(go.Figure):  # type: ignore[misc]
    """A figure whose frames stay the plain dicts that they are sent as. As Plotly's own objects, which it makes of them
    even where it validates nothing, they would take longer than all the rest of a page."""

    def __init__(self, chart: dict[str, Any], frames: list[dict[str, Any]]) -> None:
        super().__init__(chart, _validate=False)
        self._plain = frames

    @property
    def frames(self) -> Any:
        return go.Figure(frames=self._plain).frames

    def to_dict(self) -> dict[str, Any]:
        frames = [{**frame, "data": [_packed(trace) for trace in frame["data"]]} for frame in self._plain]
        return {**super().to_dict(), "frames": frames}


def _packed(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace with its arrays of single-precision numbers in Plotly's binary form."""
    return {
        name: {"dtype": "f4", "bdata": b64encode(value.tobytes()).decode()}
        if isinstance(value, np.ndarray) and value.dtype == np.float32
        else value
        for name, value in trace.items()
    }


def for_a_room(chart: go.Figure) -> go.Figure:
    """The chart as it is presented to a room: no text smaller than 22 px, and margins, markers and lines to match."""
    return go.Figure(_enlarged(chart.to_dict(), ""), _validate=False)


def _enlarged(part: Any, name: str) -> Any:
    """A part of a chart, enlarged; ``name`` is its key in the part above it."""
    if isinstance(part, list | tuple):
        return [_enlarged(one, name) for one in part]
    if not isinstance(part, dict):
        return part
    larger = {key: _enlarged(value, key) for key, value in part.items()}
    if name.endswith("font") and "size" in part:
        return larger | {"size": max(part["size"], _SMALLEST_IN_A_ROOM)}
    if name == "xaxis":  # slanted names take more room than the margin has
        return larger | {"automargin": True}
    if "yshift" in part:
        return larger | {"yshift": round(part["yshift"] * _WIDER_IN_A_ROOM)}
    if name in ("margin", "pad"):
        return {side: round(width * _WIDER_IN_A_ROOM) for side, width in part.items()}
    if name == "line" and "width" in part:
        return larger | {"width": part["width"] * _WIDER_IN_A_ROOM}
    return larger


def reading(chart: go.Figure) -> str:
    """The one-sentence reading of a chart, as stored by `figure`."""
    return str(chart.layout.meta["reading"])


def share_format(values: ArrayLike) -> str:
    """d3's format of shares under the mouse: SHARE, or with more digits where another share than 1 would read 100%."""
    gaps = np.abs(1 - np.asarray(values, dtype=np.float64))
    nearest = float(gaps.min(initial=1.0, where=gaps > _ROUNDING))
    return f",.{max(_DIGITS, 1 - math.floor(math.log10(nearest)))}~p"


def bar_trace(name: str, x: Any, y: Any, hover: str, **more: Any) -> Trace:
    """Bars. ``hover`` is Plotly's template of the text under the mouse; without one ("") the mouse finds nothing."""
    return _trace({"type": "bar"}, name, x, y, hover, more)


def line_trace(name: str, x: Any, y: Any, hover: str, **more: Any) -> Trace:
    """A line; ``hover`` as in `bar_trace`."""
    return _trace({"type": "scatter", "mode": "lines"}, name, x, y, hover, more)


def mark_trace(name: str, x: Any, y: Any, hover: str, **more: Any) -> Trace:
    """Marks; ``hover`` as in `bar_trace`."""
    return _trace({"type": "scatter", "mode": "markers"}, name, x, y, hover, more)


def _trace(kind: Trace, name: str, x: Any, y: Any, hover: str, more: Trace) -> Trace:
    under = {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
    return {**kind, "name": name, "x": x, "y": y, **under, **more}


def interval_trace(
    name: str,
    at: Any,
    ends: tuple[Array, Array],
    names: Any,
    hover: str,
    colour: str,
    width: float,
    cap: tuple[float, float],
    *,
    lying: bool = False,
) -> Trace:
    """(m,) intervals as lines with a mark at both ends, so that one of length zero is visible as well. ``hover``
    follows the name under the mouse, ``cap`` is length and width of the marks in pixels; ``lying`` along the horizontal
    axis."""
    place, end = np.repeat(at, 3), np.stack([*ends, np.full(len(ends[0]), np.nan)], axis=1).ravel()
    return line_trace(
        name,
        *((end, place) if lying else (place, end)),
        f"%{{customdata}}<br>{hover}",
        mode="lines+markers",
        customdata=np.repeat(names, 3),
        line={"color": colour, "width": width},
        marker={
            "symbol": "line-ns" if lying else "line-ew",
            "size": cap[0],
            "line": {"color": colour, "width": cap[1]},
        },
    )


def steady(**marker: Any) -> Trace:
    """Settings of marks that keep their look when another one is clicked."""
    return {"selected": {"marker": marker}, "unselected": {"marker": marker}}


def whiskers(below: Any, above: Any, **look: Any) -> Trace:
    """Vertical bars of error that reach so far below and above the marks."""
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **look}


def note(text: str, x: float, y: float, **more: Any) -> Trace:
    """Words at a place of the plot."""
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": {"size": 14}, **more}


def head(text: str, x: float, y: float, **more: Any) -> Trace:
    """Words that stand on a place, which is in parts of the width and of the height of all plots together."""
    return note(text, x, y, xref="paper", yref="paper", yanchor="bottom", **more)


def across(y: float, **line: Any) -> Trace:
    """A straight line from the left end of the plot to the right one, at this height."""
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def upright(x: float, **line: Any) -> Trace:
    """A straight line from the bottom of the plot to the top."""
    return {"type": "line", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line}
