"""Experiments: the map of who wins, the paper's evaluation run anew, and what is left of the claims."""

import streamlit as st

from pages._ui import guidance, link
from pages._ui.experiments import controls, protocols, results, runs, settings, winner_map
from pages._ui.frame import Parts, open_page, while_open

PARTS = Parts(
    "experiments",
    {
        "sweep": "What is simulated",
        "figure": "Another figure",
        "claims": "The paper's claims",
        "protocols": "Other protocols",
        "files": "Other runs and files",
    },
)
SETTINGS = (
    runs.SWEEP,
    controls.OWN_SWEEP,
    winner_map.SELECTIONS,
    protocols.SETTINGS,
    PARTS.binding,
    runs.RUN,
)
page = open_page("experiments", *SETTINGS)

scenario, key = page.results.draw.scenario, runs.SWEEP.current()
run = runs.current(key)
runs.say_if_let_go()
if run is not None:
    link.show_notes(winner_map.notes(run.view()))
    runs.status(run)
runs.progress_elsewhere(run)
if run is None:
    st.markdown(
        "Collections are simulated, and in each all estimates are made from the same reports. Which of **InvN**, "
        "**InvP** and **MLE\\*** comes nearest to the truth?"
    )
    page.controls()
    controls.sweep_and_run(key, run, scenario)
    results.file_opener()
elif run.active:
    runs.live_progress(run, lambda view: results.first_figure(view, scenario))
    page.controls()
    controls.sweep_and_run(key, run, scenario)
else:
    view = run.view()
    results.first_figure(view, scenario)
    page.controls(results.unused(view) if key in settings.CELLS else None)
    results.map_numbers(view)
    parts = PARTS.tabs()
    # Else the browser would go on sending the sweep that was chosen here.
    while_open(parts["sweep"], controls.sweep_and_run, key, run, scenario)
    with parts["figure"]:
        results.second_figure(view, scenario)
    with parts["claims"]:
        results.claims_table(view)
    while_open(parts["protocols"], protocols.section)
    with parts["files"]:
        results.compare_runs(view, runs.comparable_results(run))
        results.file_downloads(view)

guidance.next_page()
