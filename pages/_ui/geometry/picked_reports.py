"""The reports that a person picked in the triangle, kept for the session and in the address (``phi``).

A pick outlives changes of epsilon, so that one sees the repairs move, and is dropped when anything else of the
scenario changes. Nobody has picked anything at first: then an example is shown where the scenario's own three
shares would leave nothing to see.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages._ui import link
from pages._ui.safe_text import markdown
from rr_core.geometry.simplex import ThreeReports, parse_reports
from rr_core.scenario import Draw

_PARAMETER = "phi"


@dataclass(frozen=True)
class _Pick:
    key: tuple[Any, ...]
    reports: ThreeReports


def current_pick(draw: Draw) -> ThreeReports | None:
    """The picked reports, or None when the scenario's own are to be shown; call it once per run.

    A first look at an address takes them from there.
    """
    key = _pick_key(draw)
    if link.arrived():
        clear()
        text = st.query_params.get(_PARAMETER)
        if text is not None:
            _read(key, text)
    held: _Pick | None = st.session_state.get("_pick")
    if held is not None and held.key != key:
        clear()
        held = None
    link.keep(_PARAMETER, None if held is None else ",".join(map(format_number, held.reports)))
    return None if held is None else held.reports


def pick(draw: Draw, reports: ThreeReports) -> None:
    """Pick these reports; for widget callbacks."""
    st.session_state["_pick"] = _Pick(_pick_key(draw), reports)
    st.session_state.pop("_pick_error", None)


def pick_text(draw: Draw, text: str) -> None:
    """Pick what a person typed, or remember what is wrong with it and keep the previous pick."""
    try:
        pick(draw, parse_reports(text))
    except ValueError as error:
        st.session_state["_pick_error"] = str(error)


def use_own_reports(draw: Draw) -> None:
    """Back to the scenario's own reports, also where they leave nothing to see; for widget callbacks."""
    clear()
    st.session_state["_pick_own"] = _pick_key(draw)


def own_reports_requested(draw: Draw) -> bool:
    """Whether the scenario's own reports were asked for."""
    return bool(st.session_state.get("_pick_own") == _pick_key(draw))


def clear() -> None:
    """Forget the pick."""
    st.session_state.pop("_pick", None)
    st.session_state.pop("_pick_error", None)


def error_message() -> str:
    """What was wrong with the text typed last, as markdown; empty when nothing was."""
    return markdown(st.session_state.get("_pick_error", ""))


def format_number(value: float) -> str:
    """A number as it may be typed."""
    return f"{value:.12g}"


def _read(key: tuple[Any, ...], text: str) -> None:
    try:
        st.session_state["_pick"] = _Pick(key, parse_reports(text))
    except ValueError as error:
        st.session_state["_pick_error"] = f"The link's φ was left out. {error}"


def _pick_key(draw: Draw) -> tuple[Any, ...]:
    return replace(draw.scenario, epsilon=1.0), draw.population.key
