"""Plan: how many people, how much privacy, or how much accuracy a survey by k-RR needs."""

import streamlit as st

from pages._ui.frame import open_page
from pages._ui.plan import (
    answer,
    bounds,
    controls,
    cost,
    downloads,
    formulas,
    picture,
    protocols,
    shuffling,
    simulated,
    work,
)

page = open_page("plan", "How many people, and how much privacy, does my survey need?")
asked = controls.current(page.scenario.k)
controls.rows(page.scenario.k, asked)
found = work.planned(page.work, asked)
answer.show(found)
figure = picture.show(page, found)

cost.section(found)
simulated.section(page.work, found)
protocols.section(found)
bounds.section(found)
delta = shuffling.section(found)
downloads.section(page.work, found, work.land(page.work, asked, found), figure, delta)

with st.expander("Formulas"):
    st.markdown(formulas.TEXT)
