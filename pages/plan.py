"""Plan: how many people, how much privacy, or how much accuracy a survey by k-RR needs."""

import streamlit as st

from pages._ui import guidance
from pages._ui.frame import open_page
from pages._ui.plan import downloads, sections
from pages._ui.plan.results import current_plan, plan_landscape
from pages._ui.plan.sentences import FORMULAS
from pages._ui.plan.settings import SETTINGS, controls

page = open_page("plan", "How many people, and how much privacy, does my survey need?", SETTINGS)
k = page.work.draw.scenario.k
settings = SETTINGS.current().fitted(k)
controls(k, settings)
plan = current_plan(page.work, settings)
sections.answer(plan)
figure = sections.plan_map_figure(page, plan)

sections.price_of_privacy(plan)
sections.simulated_errors(page.work, plan)
sections.other_protocols(plan)
sections.lower_bounds(plan)
delta = sections.shuffled_reports(plan)
downloads.section(page.work, plan, plan_landscape(page.work, plan), figure, delta)

with st.expander("Formulas"):
    st.markdown(FORMULAS)

guidance.next_page()
