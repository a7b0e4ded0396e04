"""What figures are drawn of: bars, lines and marks with the text under the mouse, and notes and straight lines on a plot.

Plain dicts, as `style.figure` takes them. ``more`` is what else Plotly has for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rr_core._validate import Array

Trace = dict[str, Any]


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
    """Intervals as lines with a mark at both ends, so that one of length zero is visible as well.

    Args:
        name: in the legend.
        at: (m,) places of the intervals on the other axis.
        ends: (m,) lower and (m,) upper ends.
        names: (m,) what each is the interval of.
        hover: follows the name under the mouse.
        colour, width: of the lines.
        cap: length and width of the marks, in pixels.
        lying: whether they lie along the horizontal axis.
    """
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
