"""Widgets that show what a session holds, rather than hold it themselves: a widget forgets when its page is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st


def shows(key: str, value: Any, take: Callable[[Any], None], *, keep_entry: bool = False) -> dict[str, Any]:
    """Arguments that make a widget show ``value``, and hand over what a person makes of it.

    A choice that is taken back (None) is not handed over: it stays as it was. With ``keep_entry`` the widget goes on
    showing what was entered, so that it can be corrected.
    """
    entered = keep_entry and key in st.session_state
    if (
        st.session_state.get(key) != value and not entered
    ):  # only then: writing the same value makes it bounce
        st.session_state[key] = value

    def changed() -> None:
        chosen = st.session_state.get(key)
        if chosen is not None:
            take(chosen)

    return {"key": key, "on_change": changed}
