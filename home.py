"""Home: randomized response as a story in five steps, then with the current scenario, and where to go next."""

import streamlit as st

from pages._ui import figure_controls, guidance, lesson, truth, view_picker
from pages._ui.frame import open_page
from pages._ui.navigation import LAB, PRACTICE, link_to
from rr_core.figures.story import one_answer, story, two_ways
from rr_core.figures.style import percent

page = open_page("", "How can a survey learn the truth from answers that lie?")
work, closeness = page.work, page.work.closeness

lesson.draw()

with st.container(key="own_numbers"):
    st.subheader("The same with your own numbers")
    st.markdown(
        f"Set them in the sidebar; the story above has five answers and its own ε, here are {work.draw.scenario.k:,}.\n\n"
        f"{one_answer(work.draw.mechanism)}"
    )
place = page.place()
with figure_controls.row():
    guidance.words("Randomized response", "Epsilon (ε)", "MLE\\*", "Total variation")
shown = truth.unless_hidden(closeness)
page.lead(story(work.draw, work.comparison(), shown, view_picker.compact(work)), "story", place=place)

columns = st.columns(3)
columns[0].metric(
    "Chance of a true report", percent(work.draw.mechanism.p), help=two_ways(work.draw.mechanism)
)
columns[1].metric(
    "Reports are off by",
    truth.text(percent(closeness.reports)),
    help="Share of the bars that is in the wrong place (total variation).",
)
columns[2].metric(
    "The estimate is off by",
    truth.text(percent(closeness.estimate)),
    help="The same, for the green bars. They are MLE\\*, one of three repairs: see Estimators.",
)

st.subheader("Where to go")
cards = st.grid(2, border=True)
for path, label, icon, promise in (*LAB, *PRACTICE):
    with cards.cell():
        link_to(path, f"**{label}**", icon, page.work.draw.scenario.to_query(), promise)
st.caption("The address holds the scenario: copy it, and a class opens the same numbers.")
