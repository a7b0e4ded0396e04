"""Films: figures whose frames travel with them and play in the browser, without asking the server.

The controls are Plotly's own buttons, in one row above the plot, and a slider below them. Where "step" and "back"
lead, and where "play" begins, depend on the frame on screen, so every frame brings the whole row. Plotly knows no button
whose word changes and no speed that is kept: the app makes one of Play and Pause, and plays at the speed that was chosen
(`pages/_ui/film.py`). Where it does not, in a file, each speed plays, and Pause stands by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from rr_core.figures.style import BUTTON, figure, head

# Labels of the buttons in their order, and their names for readers who do not see the signs. Play has room for Pause.
CONTROLS = {
    "◄❚": "One frame back",
    "► Play\u2003\u2002": "Play",
    "❚►": "One frame on",
    "slow": "Slow",
    "normal": "Normal speed",
    "fast": "Fast",
}
ASIDE = {"❚❚ Pause": "Pause", "❚◄◄": "Back to the start"}
BACK, PLAY, STEP, SLOW, NORMAL, FAST = CONTROLS
PAUSE, START = ASIDE
_MILLISECONDS = {SLOW: 360, NORMAL: 120, FAST: 30}  # per frame
# In pixels: the plot, the axis below it; above it a row of the legend, the note, the slider and the buttons.
_PLOT, _AXIS, _ROW, _NOTE, _SLIDER, _BUTTONS = 262, 62, 20, 46, 58, 38
_GAP = 24  # between the legend and the plot
_AT_ONCE = {"mode": "immediate", "frame": {"duration": 0}, "transition": {"duration": 0}}


@dataclass(frozen=True)
class Frame:
    """One picture of a film: name on the slider, a note of at most two lines, what changes of moving traces."""

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
    """A figure that plays: the traces are the picture of its first frame, ``moving`` says which of them the data of a
    frame belong to; the axes need fixed ranges. ``legend_rows`` are those on a phone; ``pace`` is how many times as
    long as usual a frame stays, for films of few frames, each with something to read."""
    names = [frame.name for frame in frames]
    # Plotly would take a trace that a frame does not name off the screen for a moment.
    still = [i for i in range(len(traces)) if i not in moving]
    legend = _GAP + _ROW * legend_rows
    note = legend + _NOTE
    top = note + _SLIDER + _BUTTONS
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
        sliders=[_slider(names, note)],
        updatemenus=_menus(names, note + _SLIDER, pace),
        annotations=[head(frames[0].note, 1, 1, xanchor="right", yshift=legend - 12, align="right")],
        margin={"t": top, "b": _AXIS},
        height=top + _PLOT + _AXIS,
        **layout,
    )


def _row(names: Sequence[str], i: int, pace: int) -> dict[str, Any]:
    """The row of buttons while frame ``i`` is on screen. At the last one, play begins again at the first."""
    last = len(names) - 1
    what: dict[str, list[Any]] = {
        BACK: [[names[max(i - 1, 0)]], _AT_ONCE],
        STEP: [[names[min(i + 1, last)]], _AT_ONCE],
    }
    for label, milliseconds in _MILLISECONDS.items():
        what[label] = [None, _AT_ONCE | {"fromcurrent": i < last, "frame": {"duration": pace * milliseconds}}]
    what[PLAY] = what[NORMAL]
    return {"buttons": [_button(label, what[label]) for label in CONTROLS]}


def _button(label: str, what: list[Any]) -> dict[str, Any]:
    return {"method": "animate", "label": label, "args": what}


def _menus(names: Sequence[str], above: int, pace: int) -> list[dict[str, Any]]:
    """The row of buttons, this many pixels above the plot, and at its other end those that stand aside."""
    aside = [_button(PAUSE, [[None], _AT_ONCE]), _button(START, [[names[0]], _AT_ONCE])]
    common = {
        "type": "buttons",
        "direction": "right",
        "showactive": False,
        "y": 1,
        "yanchor": "bottom",
        **BUTTON,
    }
    return [
        {**common, **_row(names, 0, pace), "x": 0, "xanchor": "left", "pad": {"l": -80, "b": above}},
        {**common, "buttons": aside, "x": 1, "xanchor": "right", "pad": {"b": above}},
    ]


def _slider(names: Sequence[str], above: int) -> dict[str, Any]:
    return {
        "active": 0,
        "steps": [_button(name, [[name], _AT_ONCE]) for name in names],
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
