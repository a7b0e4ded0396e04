"""Components of our own: markup, style and script that Streamlit puts into the page itself, not into a frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


def told(key: str) -> Mapping[str, Any]:
    """What the component with this key told last, by event; for its callbacks."""
    held = st.session_state.get(key)
    return held if isinstance(held, Mapping) else {}


def component(name: str, html: str) -> Any:
    """The component of this name, with its markup; style and script are the files of that name beside this one."""
    return st.components.v2.component(
        name,
        html="\n" + html,  # Streamlit takes a single line for a path
        css="\n" + (_HERE / f"{name}.css").read_text(encoding="utf-8"),
        js="\n" + (_HERE / f"{name}.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )
