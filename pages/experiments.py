"""Experiments: the paper's evaluation run anew, the map of who wins, and what is left of the claims."""

import streamlit as st

from pages._ui.experiments import (
    answer,
    beside,
    choice,
    claimed,
    lead,
    running,
    runs,
    sweep_of,
    take_along,
    who_wins,
)
from pages._ui.frame import open_page

page = open_page("experiments", "Do the paper's claims hold, and which estimate wins where?")
who_wins.jump()
who_wins.arrive()

answered = st.container()
run = sweep_of.controls(choice.current(), page.scenario)
with answered:
    answer.show(run)
    if run is not None:
        who_wins.take(run.shown())
running.said(run)
running.elsewhere(run)
if run is None:
    page.controls()
    take_along.bring()
elif run.active:
    running.live(run, lambda shown: lead.show(shown, page.scenario))
    page.controls()
else:
    shown = run.shown()
    lead.show(shown, page.scenario)
    page.controls()
    lead.rest(shown, page.scenario)
    claimed.section(shown)
    beside.section(shown, runs.others(run))
    take_along.section(shown)
