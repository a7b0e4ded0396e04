"""The row of widgets above the main figure.

A browser needs longer for such a row than for the figure. So while a hand moves a dial, the row stays on screen as it is
and the values of its widgets are read; it is drawn again when the hand rests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from pages._ui import dials, link


@dataclass(slots=True)
class _Row:
    """The row of this run, whether it waits for the hand to rest, and what waits."""

    container: Any
    waits: bool
    waiting: list[Callable[[], Any]] = field(default_factory=list)


def row() -> Any:
    """A new row; call `widget`, `note` and `place` inside it."""
    container = st.container(key="figure_controls", horizontal=True, vertical_alignment="bottom", gap="small")
    drawn = st.session_state.get("_row_drawn") == link.page()
    st.session_state["_row"] = _Row(container, waits=drawn and dials.moving())
    return container


def widget(kind: Callable[..., Any], *given: Any, key: str, **settings: Any) -> Any:
    """A widget of the row: ``kind(*given, key=key, **settings)``, and its value."""
    draw = partial(kind, *given, key=key, **settings)
    held: _Row | None = st.session_state.get("_row")
    if held is None or not held.waits or key not in st.session_state:
        return draw()
    held.waiting.append(draw)
    return st.session_state[key]


def note(text: str) -> None:
    """A line of small words in the row."""
    place(partial(st.caption, text))


def place(draw: Callable[[], Any]) -> None:
    """Something else in the row, drawn by a call whose result nobody needs."""
    held: _Row | None = st.session_state.get("_row")
    if held is not None and held.waits:
        held.waiting.append(draw)
    else:
        draw()


def draw_waiting() -> None:
    """Draw what waited in the row of this run, if there is one."""
    held: _Row | None = st.session_state.pop("_row", None)
    st.session_state["_row_drawn"] = link.page()
    if held is not None and held.waiting:
        with held.container:
            for draw in held.waiting:
                draw()
