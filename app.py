"""Home: what randomized response is, in a minute, with the current scenario, and where to go next."""

import streamlit as st

from pages._ui import view_picker
from pages._ui.frame import open_page
from pages._ui.navigation import LAB, PRACTICE, link_to
from rr_core.figures.story import story

page = open_page("", "How can a survey learn the truth from answers that lie?")
work, closeness = page.work, page.work.closeness

left, right = st.columns([2, 3], gap="large")
with left:
    st.markdown(
        """
Each person tosses a coin in private. Some tosses say *tell the truth*, the others *name any answer at random*.
Nobody can tell from one answer which it was. This is **randomized response**, and the share of truthful answers is
set by the privacy budget **ε**: small ε, strong privacy, much noise.

1. **Truth** (grey): what people would say. Nobody sees it.
2. **Reports** (blue): what arrives. The noise makes every answer look alike.
3. **Estimate** (green): the most likely truth given the reports. The crowd comes into view, no person does.
"""
    )
with right:
    page.lead(story(work.draw, work.comparison(), closeness, view_picker.compact(work)), "story")

columns = st.columns(3)
columns[0].metric("A report is the truth with chance", f"{work.draw.mechanism.p:.1%}", help="This is p.")
columns[1].metric(
    "Reports are off by", f"{closeness.reports:.1%}", help="Share of the bars that is in the wrong place."
)
columns[2].metric("The estimate is off by", f"{closeness.estimate:.1%}", help="The same, for the green bars.")

st.subheader("Where to go")
with st.container(horizontal=True):
    for path, label, icon, promise in (*LAB, *PRACTICE):
        with st.container(border=True, width=308):
            link_to(path, f"**{label}**", icon, page.scenario.to_query())
            st.caption(promise)
st.markdown(
    "**Share what you see:** the address bar always holds the scenario; copy it, and a whole class opens the same "
    "numbers. **Try:** in the sidebar, drag **Privacy ε**, press **New draw**, or choose a **Preset**."
)
