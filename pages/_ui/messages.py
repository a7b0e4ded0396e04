"""Messages to the user about problems, all in one place on the page."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages._ui.safe_text import markdown


def show(notes: Iterable[str]) -> None:
    """Write these plain sentences at the top of the page; nothing where there are none."""
    for note in notes:
        st.warning(markdown(note), icon=":material/info:")
