"""Showing a chart: the figure, the sentence it says in words, and its toolbar; and the main figure of a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs_version

from pages._ui import dials, link
from pages._ui.component import component, told
from rr_core.figures.style import for_a_room, reading
from server import middleware
from server.priority import TURNS

OnClick = Callable[[float, float], None]

_lead = component("figure", '<div class="rr-figure"></div>')


def show(chart: go.Figure, name: str, on_click: OnClick | None = None) -> None:
    """Draw a chart with its one-sentence reading below it, which is also its text alternative. ``on_click`` is called
    with the x and y of a clicked point, before the page reruns."""
    TURNS.let_pass(dials.look)
    selection: dict[str, Any] = {}
    if on_click is not None:
        selection = {"on_select": partial(_selected, name, on_click), "selection_mode": "points"}
    config = _config(name, on_click is not None)
    st.plotly_chart(chart, key=name, config=config, alt=reading(chart), **selection)
    st.caption(reading(chart))


def place_of_lead() -> Any:
    """A place for the main figure of a page, which may fill the window; above the widgets that it depends on."""
    return st.container(key="lead")


def lead(figure: go.Figure, name: str, on_click: OnClick | None = None, place: Any = None) -> None:
    """Show the main figure of a page, at its `place_of_lead` or here; the browser keeps its picture, and what was
    zoomed into or hidden, from run to run: see ``figure.js``."""
    TURNS.let_pass(dials.look)
    sent = {
        **(for_a_room(figure) if link.presenting() else figure).to_dict(),
        "config": _config(name, on_click is not None),
        "alt": reading(figure),
        "clickable": on_click is not None,
        "script": middleware.PLOTLY_ADDRESS,
        "version": get_plotlyjs_version(),
    }
    events = {} if on_click is None else {"on_clicked_change": partial(_clicked, name, on_click)}
    with place or place_of_lead():
        _lead(key=name, data=to_json_plotly(sent).encode(), height="stretch", **events)
        st.caption(reading(figure))


def _config(name: str, clickable: bool) -> dict[str, Any]:
    """The toolbar. A second click in a row would count as a double click, which takes the first one back."""
    config: dict[str, Any] = {
        "displaylogo": False,
        "showSendToCloud": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"format": "png", "filename": name, "scale": 2},
    }
    return config | {"doubleClickDelay": 0} if clickable else config


def _selected(name: str, on_click: OnClick) -> None:
    points = st.session_state[name].selection.points
    if points:
        on_click(points[0]["x"], points[0]["y"])


def _clicked(name: str, on_click: OnClick) -> None:
    point = told(name).get("clicked")
    if isinstance(point, dict) and all(isinstance(point.get(axis), int | float) for axis in "xy"):
        on_click(point["x"], point["y"])
