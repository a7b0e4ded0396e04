"""Choosing a run of IBU: where it starts, how far it goes, and when it is near enough."""

from __future__ import annotations

import streamlit as st

from pages._ui.figure_controls import note, widget
from pages._ui.work import Work
from rr_core.figures.style import number, percent
from rr_core.ibu.convergence import TOLERANCES
from rr_core.ibu.starts import (
    LARGEST_K_RANDOM,
    LARGEST_K_TYPED,
    START_KINDS,
    Start,
    parse_weights,
)

_START_LABELS = {
    "uniform": "Uniform",
    "reports": "The reports φ",
    "leaning": "Most of it on one category",
    "zero": "One category at zero",
    "random": "A random point",
    "typed": "Shares that I type",
}
_LARGEST_K = {"random": LARGEST_K_RANDOM, "typed": LARGEST_K_TYPED}
_LENGTHS = (100, 1_000, 10_000, 100_000)
_NEARNESS = (1.0, 0.1, 0.01, 0.001, 0.0001)


def pick_start(work: Work) -> Start:
    """Widgets for IBU's start. Call it in the row above the figure, to which it adds up to three."""
    k = work.draw.scenario.k
    kinds = [kind for kind in START_KINDS if k <= _LARGEST_K.get(kind, k)]
    kind = widget(
        st.selectbox,
        "Start from",
        kinds,
        format_func=_START_LABELS.__getitem__,
        key=f"ibu_start_{len(kinds)}",
        width=190,
        help="IBU multiplies: a category that starts at zero stays at zero for ever, whatever was reported.",
    )
    if kind == "typed":
        return _typed_start(k)
    if kind == "random":
        return Start(
            kind, seed=widget(st.number_input, "Which", 0, 999_999, 1, key="ibu_start_seed", width=130)
        )
    if kind in ("uniform", "reports"):
        return Start(kind)
    chosen = widget(st.number_input, "Category", 1, k, 1, key=f"ibu_start_category_{k}", width=130)
    if kind == "zero":
        return Start(kind, chosen - 1)
    percent_of_users = widget(st.slider, "Its share, %", 1, 99, 90, key="ibu_start_mass", width=180)
    return Start(kind, chosen - 1, percent_of_users / 100)


def _typed_start(k: int) -> Start:
    """Start with the k shares that the user types; invalid text leaves the last valid shares in use."""
    key = f"_ibu_typed_{k}"
    text = widget(
        st.text_input,
        f"{k} shares",
        placeholder="0.5, 0.3, 0.2",
        key=f"ibu_start_typed_{k}",
        width=260,
        help="Any numbers: they are divided by their sum.",
    )
    if text:
        try:
            st.session_state[key] = parse_weights(text, k)
        except ValueError as problem:
            note(f":red[{problem}]")
    weights = st.session_state.get(key)
    return Start("typed", weights=weights) if weights else Start()


def pick_length() -> int:
    """How many iterations to run."""
    length: int = widget(
        st.select_slider,
        "Iterations",
        _LENGTHS,
        value=10_000,
        key="ibu_length",
        format_func="{:,}".format,
        width=170,
    )
    return length


def pick_tolerance() -> float:
    """Widget for the tolerance of the certificate, in nats per report."""
    tolerance: float = widget(
        st.select_slider,
        "Near enough",
        TOLERANCES,
        value=TOLERANCES[4],
        key="ibu_tolerance",
        format_func=number,
        width=170,
        help="In nats per report for the certificate and the likelihood; as a squared distance for the third. How to "
        "choose: once the certificate is 1/N, no distribution makes all N reports together more than e = 2.7 times as "
        "likely.",
    )
    return tolerance


def pick_nearness() -> float:
    """Widget for the tolerance of a single category, as a fraction of the average share 1/K."""
    return st.select_slider(
        "Within this part of an average share (1/K)",
        _NEARNESS,
        value=_NEARNESS[1],
        key="ibu_nearness",
        persist_state="page",
        format_func=percent,
        width=320,
    )
