"""Repeated collections: run, watch, stop, and see bias, variance and who wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages._ui import chart, long_run
from pages._ui.safe_text import starred
from pages._ui.work import Work
from rr_core.comparison import RANKED, Target
from rr_core.figures.repeated import METRIC_TITLES, bias_and_variance, error_distribution, wins
from rr_core.populations import UPLOAD
from rr_core.repeats import Repeats, repeat

_LARGEST_SHARED = 20_000  # a run keeps four numbers per category


@dataclass(frozen=True)
class _Run:
    """A result, complete or stopped, and what it is about."""

    about: tuple[Any, ...]
    result: Repeats
    asked: int


def section(work: Work, target: Target) -> None:
    """Choose how many, run with progress, stop, and show what came of it."""
    st.markdown(
        "### And if the same collection were repeated?\n\n"
        + (
            "The same users report again and again with new noise."
            if target == "users"
            else "New users are drawn from the population each time, and report with new noise."
        )
    )
    about = (work.scenario, work.draw.population.key, target)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        times = long_run.how_many("repeat_times")
        st.button("Repeat", type="primary", on_click=_ask, args=((about, times),), width=160)
        asked = st.session_state.get("_repeat_asked") == (about, times)
        if asked:
            stop = st.empty()
            stop.button("Stop", on_click=_forget, width=160, key="repeat_stop")
    if asked:
        _run(work, target, about, times)
        stop.empty()
    run: _Run | None = st.session_state.get("_repeat_run")
    if run is not None and run.about == about:
        _show(run)


def _ask(request: tuple[Any, int]) -> None:
    st.session_state["_repeat_asked"] = request


def _forget() -> None:
    st.session_state.pop("_repeat_asked", None)


def _run(work: Work, target: Target, about: tuple[Any, ...], times: int) -> None:
    """Work in short steps; pressing Stop (or anything else) ends it at the next step, and keeps the rest."""
    shared = _finished() if work.scenario.dist != UPLOAD and work.scenario.k <= _LARGEST_SHARED else None
    if shared is not None and (about, times) in shared:
        st.session_state["_repeat_run"] = shared[about, times]
        _forget()
        return
    bar = st.progress(0.0, "Collecting…")
    for result in repeat(work.draw, times, target):
        st.session_state["_repeat_run"] = _Run(about, result, times)
        bar.progress(result.done / times, f"{result.done:,} of {times:,} collections")
    bar.empty()
    _forget()
    if shared is not None:
        while len(shared) >= 32:
            shared.pop(next(iter(shared)), None)
        shared[about, times] = st.session_state["_repeat_run"]


def _title(metric: str) -> str:
    return starred(METRIC_TITLES[metric])


@st.cache_resource(show_spinner=False)
def _finished() -> dict[tuple[Any, int], _Run]:
    """Finished runs, for the whole class: a scenario that one student ran is there for the next."""
    return {}


def _show(run: _Run) -> None:
    result = run.result
    if result.done < run.asked:
        long_run.stopped(result.done, run.asked, "collections")
    metric = st.segmented_control(
        "Error measure", RANKED, default="mse", format_func=_title, key="repeat_metric"
    )
    metric = metric or "mse"
    chart.show(error_distribution(result, metric), "error_distribution")
    left, right = st.columns(2)
    with left:
        chart.show(bias_and_variance(result), "bias_and_variance")
    with right:
        chart.show(wins(result, metric), "wins")
