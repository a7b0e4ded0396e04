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
    """The component of this name, made of its markup and of scripts beside this file, each with the style of that name.
    The class ``mounts`` in these fills the markup's `.rr-card`: its `show` takes the data, whenever they change, and a
    function that tells the page something."""
    names = scripts or (name,)
    mount = f"""
export default function ({{data, parentElement, setTriggerValue}}) {{
  const card = parentElement.querySelector('.rr-card');
  card.filled ??= new {mounts}(card, data);
  card.filled.show(data, setTriggerValue);
}}
"""
    return st.components.v2.component(
        name,
        html="\n" + html,  # Streamlit takes a single line for a path
        css=read(names, "css"),
        js=read(names, "js") + (mount if mounts else ""),
        isolate_styles=False,
    )


def read(names: tuple[str, ...], kind: str) -> str:
    """The files of these names beside this one, one after the other."""
    return "".join("\n" + (_HERE / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)
