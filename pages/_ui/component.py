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


def component(name: str, html: str, scripts: tuple[str, ...] = (), mounts: str = "") -> Any:
    """The component of this name, with its markup.

    Args:
        name: of the component.
        html: its markup.
        scripts: names of the scripts beside this file that make it, in the order in which they are read, each with the
            style of that name; by default the one of the component's name, which then exports its own function.
        mounts: class in these scripts of which one object fills the markup's `.rr-card`: it is made with that element and
            the data, and its `show` takes the data then and whenever they change.
    """
    names = scripts or (name,)
    mount = f"""
export default function ({{data, parentElement}}) {{
  const card = parentElement.querySelector('.rr-card');
  card.filled ??= new {mounts}(card, data);
  card.filled.show(data);
}}
"""
    return st.components.v2.component(
        name,
        html="\n" + html,  # Streamlit takes a single line for a path
        css=_read(names, "css"),
        js=_read(names, "js") + (mount if mounts else ""),
        isolate_styles=False,
    )


def _read(names: tuple[str, ...], kind: str) -> str:
    """The files of these names, one after the other."""
    return "".join("\n" + (_HERE / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)
