"""IBU as a film: the estimate at iteration t against MLE*, played in the browser without asking the server.

All frames travel with the figure. Play, pause, step, back and speed are Plotly's own buttons; what "step" and
"back" lead to depends on the frame on screen, so every frame brings its own two buttons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures.style import BUTTON, QUANTITIES, SHARE, axis, figure, number
from rr_core.figures.view import Bars, View
from rr_core.iteration.record import IBUPath

IBU, BEST = QUANTITIES["ibu"], QUANTITIES["mle_star"]
_MOST_FRAMES = 70


def play(path: IBUPath, view: View) -> go.Figure:
    """The film of one histogram's run, from its start to the last recorded iteration.

    Args:
        path: the record; some seventy of its iterations, evenly on a log scale, become frames.
        view: which categories are drawn.
    """
    film = _film(path, view)
    names = [f"{t:,}" for t in film.iterations]
    highest = max(float(film.estimates.max()), float(film.best.max()))
    layout = {
        "sliders": [_slider(names)],
        "updatemenus": [_speeds(), _steps(names, 0)],
        "annotations": [_numbers(film, 0)],
        "margin": {"l": 84, "r": 14, "t": 56, "b": 232},
        "height": 580,
        "hovermode": view.hovermode,
        "bargap": 0.25,
    }
    reading = (
        f"Bars: what IBU believes, played from iteration {names[0]} to {names[-1]}; dots: MLE*. At the end the squared "
        f"distance between the two is {number(film.squared_distance[-1])}."
    )
    if view.is_curve:
        reading = reading.replace("Bars", "Thin line").replace("dots", "thick line")
    y = axis("Share of users", tickformat=SHARE, range=[0, 1.3 * highest])
    kind = "scatter" if view.is_curve else "bar"
    frames = [_frame(film, names, i, kind) for i in range(len(names))]
    return figure(_traces(film, view), view.axis(), y, reading, frames, **layout)


@dataclass(frozen=True, eq=False)
class _Film:
    """What is played: one entry per frame, but for ``best``, (m,) MLE* of what the view draws."""

    iterations: NDArray[np.int64]
    estimates: NDArray[np.float32]
    certificate: Array
    squared_distance: Array
    best: NDArray[np.float32]


def _film(path: IBUPath, view: View) -> _Film:
    last = len(path.iterations) - 1
    wanted = np.geomspace(1, max(int(path.iterations[-1]), 1), _MOST_FRAMES)
    # The first recorded iteration from each of these on; and the start itself.
    frames = np.unique(np.append(np.searchsorted(path.iterations, wanted).clip(max=last), 0))
    # In one call: finding the levels of millions of categories is what takes the time.
    on_levels = np.concatenate([path.thetas[frames], path.mle_star[None]])
    drawn = view.of_levels(on_levels, path.level_of).astype(np.float32)
    return _Film(
        path.iterations[frames],
        drawn[:-1],
        path.certificate[frames],
        path.squared_distance[frames],
        drawn[-1],
    )


def _traces(film: _Film, view: View) -> list[dict[str, Any]]:
    """MLE*, which stays, and IBU, which moves."""
    if not isinstance(view, Bars):
        return [
            view.line("MLE*", film.best, "%{y:.4~%}", color=BEST.faded(0.55), width=6),
            view.line("IBU", film.estimates[0], "%{y:.4~%}", color=IBU.colour, width=2.5),
        ]
    common = {"x": view.x, "customdata": view.names}
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "MLE*",
            "y": film.best,
            "marker": {"color": BEST.colour, "symbol": BEST.symbol, "size": _size(view)},
            "hovertemplate": "%{customdata}<br>MLE*: %{y:.4~%}<extra></extra>",
            **common,
        },
        {
            "type": "bar",
            "name": "IBU",
            "y": film.estimates[0],
            "marker": {"color": IBU.colour},
            "hovertemplate": "%{customdata}<br>IBU: %{y:.4~%}<extra></extra>",
            **common,
        },
    ]


def _size(view: Bars) -> int:
    return 11 if view.categories.size <= 40 else 6


def _frame(film: _Film, names: Sequence[str], i: int, kind: str) -> dict[str, Any]:
    return {
        "name": names[i],
        "data": [{"type": kind, "y": film.estimates[i]}],
        "traces": [1],
        "layout": {"updatemenus": [{}, _steps(names, i)], "annotations": [_numbers(film, i)]},
    }


def _numbers(film: _Film, i: int) -> dict[str, Any]:
    """Where the run is at a frame, in the figure's upper corner."""
    return {
        "text": (
            f"iteration <b>{film.iterations[i]:,}</b><br>squared distance to MLE*: {number(film.squared_distance[i])}"
            f"<br>certificate max m<sub>i</sub> − 1: {number(film.certificate[i])}"
        ),
        "xref": "paper",
        "yref": "paper",
        "x": 0.99,
        "y": 0.98,
        "xanchor": "right",
        "yanchor": "top",
        "align": "right",
        "showarrow": False,
        "font": {"size": 14},
    }


def _slider(names: Sequence[str]) -> dict[str, Any]:
    return {
        "active": 0,
        "steps": [{"method": "animate", "label": name, "args": [[name], _at_once()]} for name in names],
        "currentvalue": {"prefix": "Iteration ", "font": {"size": 15}},
        "pad": {"t": 60, "b": 4},
        "x": 0,
        "len": 1,
        "y": 0,
        "font": {"size": 12},
        "bgcolor": BUTTON["bgcolor"],
        "bordercolor": BUTTON["bordercolor"],
        "transition": {"duration": 0},
    }


def _speeds() -> dict[str, Any]:
    return _menu([_play("Slow ▶", 400), _play("Play ▶", 120), _play("Fast ▶▶", 30)], 152)


def _steps(names: Sequence[str], i: int) -> dict[str, Any]:
    before, after = names[max(i - 1, 0)], names[min(i + 1, len(names) - 1)]
    still = {"Pause": None, "◀ Back": before, "Step ▶": after, "Start over": names[0]}
    return _menu([_button(label, [name], _at_once()) for label, name in still.items()], 190)


def _play(label: str, milliseconds: int) -> dict[str, Any]:
    """A button that plays on from the frame on screen, each frame staying that long."""
    return _button(label, None, {"fromcurrent": True, "mode": "immediate", **_timing(milliseconds)})


def _menu(buttons: list[dict[str, Any]], down: int) -> dict[str, Any]:
    """A row of buttons, so many pixels below the axis."""
    return {
        "type": "buttons",
        "direction": "right",
        "showactive": False,
        "buttons": buttons,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": down},
        **BUTTON,
    }


def _button(label: str, frames: Any, options: dict[str, Any]) -> dict[str, Any]:
    return {"method": "animate", "label": label, "args": [frames, options]}


def _timing(milliseconds: int) -> dict[str, Any]:
    return {"frame": {"duration": milliseconds, "redraw": True}, "transition": {"duration": 0}}


def _at_once() -> dict[str, Any]:
    return {"mode": "immediate", **_timing(0)}
