"""Plan: how many people, how much privacy, or how much accuracy a survey by k-RR needs."""

import streamlit as st

from pages._ui import chart, guidance
from pages._ui.frame import Parts, open_page, while_open
from pages._ui.plan import sections
from pages._ui.plan.controls import SETTINGS, controls, current_plan, plan_landscape
from rr_core.words import plan as sentences

PARTS = Parts(
    "plan",
    {
        "privacy": "More privacy",
        "estimators": "Valid estimators",
        "protocols": "Other protocols",
        "surveys": "Survey designs",
        "bounds": "Lower bounds",
        "shuffling": "Shuffling",
        "files": "Files",
    },
)
page = open_page("plan", SETTINGS, sections.SHARE_SETTINGS, PARTS.binding)
k = page.results.draw.scenario.k
settings = SETTINGS.current().fitted(k)
plan = current_plan(page.results, settings)
of_survey = sections.answer(plan, of_survey=PARTS.binding.current() == "surveys")
left, right = st.columns([3, 1], gap="small")
with left:
    place = chart.place_of_lead()
with right:
    guidance.words(
        "RMSE, Inv, Unbiased, InvN, InvP, MLE\\*, Valid, Randomized response, Subset selection, "
        "Unary encoding, Local hashing, Hadamard response, Lower bound, Shuffling"
    )
    controls(k, settings)
    sections.use(plan, of_survey=of_survey)
figure = sections.plan_map_figure(page, plan, place, PARTS.binding.current() == "estimators")
with st.expander("What exactly is promised?"):
    st.markdown(sentences.meaning(plan))
    st.markdown(sentences.FORMULAS)

parts = PARTS.tabs()
with parts["privacy"]:
    sections.price_of_privacy(plan)
with parts["estimators"]:
    sections.simulated_errors(page.results, plan)
with parts["protocols"]:
    sections.other_protocols(plan)
while_open(parts["surveys"], sections.survey_designs)
with parts["bounds"]:
    sections.lower_bounds(plan)
with parts["shuffling"]:
    delta = sections.shuffled_reports(plan)
with parts["files"]:
    sections.files(page.results, plan, plan_landscape(page.results, plan), figure, delta)

guidance.next_page()
