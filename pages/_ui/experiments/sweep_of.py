"""What Run would compute: a sweep of the paper with its widgets, one's own histogram, or one's own sweep."""

from __future__ import annotations

import streamlit as st

from pages._ui import state
from pages._ui.experiments import choice, own, pool, running, sweeps
from pages._ui.experiments.asked import figure3, too_much
from pages._ui.experiments.runs import Run
from pages._ui.experiments.values import Refused
from pages._ui.safe_text import markdown
from rr_core.experiments.grid import Sweep
from rr_core.scenario import Scenario

_WHERE = (
    "**Figure 3 is about real histograms: give it yours.** The paper's are "
    "[Kosarak](http://fimi.uantwerpen.be/data/), the first page of each visitor of a news site (41,270 categories), and "
    "the columns PUMA and PINCP of "
    "[ACSIncome](https://github.com/socialfoundations/folktables), a census sample. Make a table with a **category** "
    "and a **count** per row, or with one person per row, and choose it here. It is run at its full K."
)


def controls(key: str, scenario: Scenario) -> Run | None:
    """Choose the sweep and its run, ask for another, and start it.

    Returns:
        The run on screen; None when this sweep was never run.
    """
    with running.row():
        choice.sweep(key)
        run = choice.run(key)
        if key in sweeps.CELLS:
            running.start(key, sweeps.built_in(key, *running.settings()), run)
            return run
    sweep = (_own if key == sweeps.OWN else _histogram)(scenario)
    if sweep is not None or run is not None:
        with running.row():
            running.start(key, sweep, run)
    return run


def _own(scenario: Scenario) -> Sweep | None:
    held = state.uploaded()
    uploaded = held.population if held else None
    question = own.form(scenario, uploaded)
    try:
        return question.sweep(scenario, uploaded, pool.size())
    except Refused:  # the form says why
        return None


def _histogram(scenario: Scenario) -> Sweep | None:
    held = state.uploaded()
    if held is None:
        if not state.upload_open():
            st.markdown(_WHERE)
            st.button("Choose a file", on_click=state.open_upload, key="exp_file")
        return None
    sweep = figure3(held.population, scenario.n)
    if problem := too_much(sweep, pool.size()):
        st.error(markdown(problem))
        return None
    st.caption(f"About your file **{markdown(held.file_name)}**: {running.expected(sweep)}")
    return sweep
