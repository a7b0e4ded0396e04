"""Widgets that show a value held elsewhere and tell what was entered, choices by their names, and the end of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def pick_one(label: str, names: Mapping[Any, str], **arguments: Any) -> Any:
    """Widget for one of a few choices, side by side under their names; one is always chosen."""
    return st.segmented_control(label, list(names), required=True, format_func=names.__getitem__, **arguments)


def pick_from_list(label: str, names: Mapping[Any, str], **arguments: Any) -> Any:
    """Widget for one of several choices, in a list of their names."""
    return st.selectbox(label, list(names), format_func=names.__getitem__, **arguments)


def widget_arguments(
    key: str, value: Any, take: Callable[[Any], None], *, keep_entry: bool = False, anew: bool = False
) -> dict[str, Any]:
    """Arguments that make a widget display ``value``, and call ``take`` with the value that the user enters.

    The caller stores the value: a widget loses its own when its page is left. ``take`` is not called when a choice is
    cleared (None). Lists are compared without order. With ``keep_entry`` the widget keeps displaying what was entered,
    even if it is invalid, so that it can be corrected. Give a number input its ``value``, too: else it shows its least
    number for a moment.

    Widgets of a tab or popover come on screen when it is opened, after they were drawn, and would show their first
    choice: with ``persist_state`` Streamlit 1.67 sends the value until the browser has it. While a popover is closed,
    the browser sends with every run what its widgets showed last, even if the value has changed since; it does the same
    when a run begins before a new value has arrived. To Streamlit both look like an entry. So with ``anew`` a changed
    value gets a widget with a new key, and what the old one sends is ignored.
    """
    last: str = st.session_state.get(_last(key), f"{key}_0") if anew else key
    entered = keep_entry and last in st.session_state
    if anew and not entered:
        last = _key_for(key, last, value)
    held = st.session_state.get(last)
    if not _same(held, value) and not entered:  # only then: writing the same value makes it bounce
        st.session_state[last] = value

    def changed() -> None:
        chosen = st.session_state.get(last)  # gone when a page switch overtook this change
        if chosen is not None and (not anew or st.session_state.get(_last(key)) == last):
            take(chosen)

    return {"key": last, "on_change": changed, "persist_state": "page"}


def _key_for(key: str, last: str, value: Any) -> str:
    """The key of the widget that displays ``value``: the last one, unless that holds another value."""
    if last in st.session_state and not _same(st.session_state[last], value):
        last = f"{key}_{int(last.rpartition('_')[2]) + 1}"
    st.session_state[_last(key)] = last
    return last


def _last(key: str) -> str:
    return f"_last_{key}"


def _same(held: Any, value: Any) -> bool:
    return set(held) == set(value) if isinstance(held, list) and isinstance(value, list) else held == value


def end_run() -> NoReturn:
    """End this run; the rest of the page is not drawn.

    After ``st.stop()`` alone, Streamlit 1.67 keeps the values of widgets that were not drawn, while the browser forgets
    them: drawn again they show their first choice, the page is computed from the value that was kept, and the next run
    takes what is shown for a choice. The call is private; it is how Streamlit ends a complete run.
    """
    context = get_script_run_ctx()
    if context is not None:
        context.session_state.on_script_finished(context.shared.widget_ids_this_run.snapshot())
    st.stop()
