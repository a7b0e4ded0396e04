"""Which sweep is on screen, and which of its runs; the sweep is in the address."""

from __future__ import annotations

import streamlit as st

from pages._ui import link, messages, widget
from pages._ui.experiments import runs
from pages._ui.experiments.runs import Run
from pages._ui.experiments.sweeps import MAIN, TITLES
from rr_core.figures.labels import plain

_PARAMETER = "sweep"
_KEPT = "_exp_sweep"
_NOTE = "_exp_sweep_note"
_MOST_SHOWN = 24


def current() -> str:
    """The key of the sweep on screen, taken from the address at a first look at it; call it once per run."""
    if link.arrived():
        st.session_state[_NOTE] = ()
        if _PARAMETER in st.query_params:
            st.session_state[_KEPT], st.session_state[_NOTE] = _read(st.query_params[_PARAMETER])
    key: str = st.session_state.get(_KEPT, MAIN)
    link.keep(_PARAMETER, key)
    messages.show(st.session_state.get(_NOTE, ()))
    return key


def show(key: str) -> None:
    """Have another sweep on screen; for callbacks."""
    st.session_state[_KEPT], st.session_state[_NOTE] = key, ()


def sweep(key: str) -> None:
    """The picker of the sweep."""
    st.selectbox(
        "Sweep",
        list(TITLES),
        format_func=TITLES.__getitem__,
        width=290,
        help="What is computed: settings of the paper's figures, or your own. Figure 4, the convergence of IBU, is on "
        "the page IBU → MLE*.",
        **widget.shows("exp_sweep", key, show),
    )


def run(key: str) -> Run | None:
    """The run of this sweep that is on screen, with a picker where there are several."""
    found, listed = runs.chosen(key), runs.of(key)
    if found is None or len(listed) < 2:
        return found
    st.selectbox(
        "Numbers from",
        range(len(listed)),
        format_func=lambda i: listed[i].label,
        width=240,
        **widget.shows(
            f"exp_run_{key}_{len(listed)}", listed.index(found), lambda place: runs.choose(listed[place])
        ),
    )
    return found


def _read(text: str) -> tuple[str, tuple[str, ...]]:
    key = text.strip().lower()
    if key in TITLES:
        return key, ()
    return MAIN, (
        f"The link's sweep “{plain(text, _MOST_SHOWN)}” is not known here; “{TITLES[MAIN]}” is shown instead.",
    )
