"""Everything that is told to a person about something that went wrong, in one place on the page."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages._ui.safe_text import markdown


def show(notes: Iterable[str]) -> None:
    """Plain sentences at the top of the page; nothing when there are none."""
    for note in notes:
        st.warning(markdown(note), icon=":material/info:")
