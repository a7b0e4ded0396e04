"""Films: figures whose frames travel with them and play in the browser, without asking the server.

The controls are Plotly's own buttons, in one row above the plot, and a slider below them. Where "step" and "back"
lead, and where "play" begins, depend on the frame on screen, so every frame brings the whole row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from rr_core.figures.style import BUTTON, figure

# Labels of the buttons in their order, and their names for readers who do not see the signs.
CONTROLS = {
    "❚◄◄": "Back to the start",
    "◄❚": "One frame back",
    "► Play": "Play",
    "❚❚": "Pause",
    "❚►": "One frame on",
    "⅓×": "Play slowly",
    "4×": "Play fast",
}
START, BACK, PLAY, PAUSE, STEP, SLOW, FAST = CONTROLS
_MILLISECONDS = {SLOW: 360, PLAY: 120, FAST: 30}  # per frame
# In pixels: the plot, the axis below it, a row of the legend above it, and the slider and the buttons above that.
_PLOT, _AXIS, _ROW, _SLIDER, _BUTTONS = 328, 62, 20, 58, 38
_GAP = 24  # between the legend and the plot


@dataclass(frozen=True)
class Frame:
    """One picture of a film.

    Attributes:
        name: unlike all others; on the slider.
        note: lines in the upper right corner, divided by ``<br>``.
        data: what changes of each trace that moves, with its type.
    """

    name: str
    note: str
    data: list[dict[str, Any]]


def film(
    traces: list[dict[str, Any]],
    x: dict[str, Any],
    y: dict[str, Any],
    reading: str,
    frames: Sequence[Frame],
    moving: Sequence[int],
    legend_rows: int = 1,
    pace: int = 1,
    **layout: Any,
) -> go.Figure:
    """A figure that plays.

    Args:
        traces: the picture of the first frame.
        x, y: the axes; fixed ranges, or the picture jumps.
        reading: the film in one sentence.
        frames: in order, at least one.
        moving: which traces the data of a frame belong to.
        legend_rows: how many rows the legend takes on a phone.
        pace: how many times as long as usual a frame stays; for films of few frames, each with something to read.
        layout: what else the layout has.
    """
    names = [frame.name for frame in frames]
    # Plotly would take a trace that a frame does not name off the screen for a moment.
    still = [i for i in range(len(traces)) if i not in moving]
    legend = _GAP + _ROW * legend_rows
    top = legend + _SLIDER + _BUTTONS
    sent = [
        {
            "name": frame.name,
            "data": [*frame.data, *({"type": traces[i]["type"]} for i in still)],
            "traces": [*moving, *still],
            "layout": {"updatemenus": [_row(names, i, pace)], "annotations": [{"text": frame.note}]},
        }
        for i, frame in enumerate(frames)
    ]
    return figure(
        traces,
        x,
        y,
        reading,
        sent,
        sliders=[_slider(names, legend)],
        updatemenus=[_buttons(names, legend + _SLIDER, pace)],
        annotations=[_note(frames[0].note)],
        margin={"l": 84, "r": 14, "t": top, "b": _AXIS},
        height=top + _PLOT + _AXIS,
        **layout,
    )


def _note(text: str) -> dict[str, Any]:
    return {
        "text": text,
        "xref": "paper",
        "yref": "paper",
        "x": 0.99,
        "y": 0.98,
        "xanchor": "right",
        "yanchor": "top",
        "align": "right",
        "showarrow": False,
        "borderpad": 4,
        **BUTTON,
    }


def _row(names: Sequence[str], i: int, pace: int) -> dict[str, Any]:
    """The row of buttons while frame ``i`` is on screen. At the last one, play begins again at the first."""
    last = len(names) - 1
    leads = {START: names[0], BACK: names[max(i - 1, 0)], PAUSE: None, STEP: names[min(i + 1, last)]}
    still: dict[str, list[Any]] = {label: [[name], _at_once()] for label, name in leads.items()}
    play = {
        label: [None, {"fromcurrent": i < last, "mode": "immediate", **_timing(pace * milliseconds)}]
        for label, milliseconds in _MILLISECONDS.items()
    }
    what = still | play
    return {"buttons": [{"method": "animate", "label": label, "args": what[label]} for label in CONTROLS]}


def _buttons(names: Sequence[str], above: int, pace: int) -> dict[str, Any]:
    """The row of buttons, this many pixels above the plot."""
    return {
        "type": "buttons",
        "direction": "right",
        "showactive": False,
        **_row(names, 0, pace),
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
        "pad": {"l": -80, "b": above},
        **BUTTON,
    }


def _slider(names: Sequence[str], above: int) -> dict[str, Any]:
    return {
        "active": 0,
        "steps": [{"method": "animate", "label": name, "args": [[name], _at_once()]} for name in names],
        "currentvalue": {"visible": False},
        "x": 0,
        "xanchor": "left",
        "len": 1,
        "y": 1,
        "yanchor": "bottom",
        "pad": {"t": 0, "b": above},
        "font": {"size": 14},
        "bgcolor": BUTTON["bgcolor"],
        "bordercolor": BUTTON["bordercolor"],
        "tickcolor": BUTTON["bordercolor"],
        "transition": {"duration": 0},
    }


def _timing(milliseconds: int) -> dict[str, Any]:
    return {"frame": {"duration": milliseconds}, "transition": {"duration": 0}}


def _at_once() -> dict[str, Any]:
    return {"mode": "immediate", **_timing(0)}
