"""Components of our own: markup, style and script that Streamlit puts into the page itself, not into a frame."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


_reading = threading.local()  # whether this thread reads what a component told


def told(key: str) -> Mapping[str, Any]:
    """What the component with this key told last, by event; for its callbacks."""
    _reading.now = True
    try:
        held = st.session_state.get(key)
    finally:
        _reading.now = False
    return held if isinstance(held, Mapping) else {}


def _merge_events_only_for_readers() -> None:
    """Have Streamlit put the events of components among their values only where `told` reads them.

    Streamlit 1.67 does it for each look at a value, with a class made for that look; and every select box, number input
    and slider looks at all values. Of fifteen dead classes a run the garbage collector found thousands at a time, and the
    interpreter stood still for 0.2 s.
    """
    with suppress(ImportError, AttributeError):
        main: Any = import_module("streamlit.components.v2.bidi_component.main")
        make = main.make_bidi_component_presenter

        def seldom(*arguments: Any, **named: Any) -> Callable[[Any, Any], Any]:
            merged = make(*arguments, **named)

            def present(value: Any, state: Any) -> Any:
                return merged(value, state) if getattr(_reading, "now", False) else value

            return present

        main.make_bidi_component_presenter = seldom


_merge_events_only_for_readers()


def component(name: str, html: str) -> Any:
    """The component of this name, with its markup; style and script are the files of that name beside this one."""
    return st.components.v2.component(
        name,
        html="\n" + html,  # Streamlit takes a single line for a path
        css="\n" + (_HERE / f"{name}.css").read_text(encoding="utf-8"),
        js="\n" + (_HERE / f"{name}.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )
