"""Showing a chart: the figure, the sentence it says in words, and its toolbar; and the main figure of a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import plotly.graph_objects as go
import streamlit as st

from pages._ui import dials, link
from rr_core.figures.style import for_a_room, hide, reading
from server.priority import TURNS

OnClick = Callable[[float, float], None]


def show(
    chart: go.Figure,
    name: str,
    on_click: OnClick | None = None,
    height: Literal["content", "stretch"] = "content",
) -> None:
    """Draw a chart with its one-sentence reading below it, which is also its text alternative.

    Args:
        chart: the figure.
        name: the key of the chart on the page and the file name of the PNG from its toolbar.
        height: "stretch" fills the container, which must have a height; else as the figure says.
        on_click: called with the x and y of a clicked point, before the page reruns.
    """
    TURNS.let_pass(dials.look)
    config: dict[str, Any] = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"format": "png", "filename": name, "scale": 2},
    }
    selection: dict[str, Any] = {}
    if on_click is not None:
        # A second click in a row would count as a double click, which takes the first one back.
        config["doubleClickDelay"] = 0
        selection = {"on_select": partial(_clicked, name, on_click), "selection_mode": "points"}
    st.plotly_chart(chart, key=name, config=config, height=height, alt=reading(chart), **selection)
    st.caption(reading(chart))


def place_of_lead() -> Any:
    """A place for the main figure of a page, which may fill the window."""
    return st.container(key="lead")


def lead(figure: go.Figure, name: str, on_click: OnClick | None = None, place: Any = None) -> None:
    """Show the main figure of a page, at its `place_of_lead` or here, without what its legend has hidden; ``on_click`` as
    in `show`."""
    hide(figure, dials.hidden())
    with place or place_of_lead():
        show(for_a_room(figure) if link.presenting() else figure, name, on_click, height="stretch")


def _clicked(name: str, on_click: OnClick) -> None:
    points = st.session_state[name].selection.points
    if points:
        on_click(points[0]["x"], points[0]["y"])
