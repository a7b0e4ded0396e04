"""Home: what randomized response is, in a minute, with the current scenario, and where to go next."""

import streamlit as st

from pages._ui import truth, view_picker
from pages._ui.frame import open_page
from pages._ui.navigation import LAB, PRACTICE, link_to
from rr_core.figures.story import one_answer, story, two_ways
from rr_core.figures.style import percent

page = open_page("", "How can a survey learn the truth from answers that lie?")
work, closeness = page.work, page.work.closeness

left, right = st.columns([2, 3], gap="large")
with left:
    st.markdown(
        f"""
Each person tosses a coin in private. Some tosses say *tell the truth*, the others *name any answer at random*.
This is **randomized response**. The coin is set by the privacy budget **ε**: the smaller ε, and the more
answers there are to choose from, the rarer the truth. {one_answer(work.draw.mechanism)}

1. **Truth** (grey): what people would say. Nobody sees it.
2. **Reports** (blue): what arrives, true and random answers together.
3. **Estimate** (green): the shares under which these reports are most likely, called **MLE\\***. It needs no one's truth.
"""
    )
with right:
    page.lead(
        story(work.draw, work.comparison(), truth.unless_hidden(closeness), view_picker.compact(work)),
        "story",
    )

columns = st.columns(3)
columns[0].metric(
    "Chance of a true report", percent(work.draw.mechanism.p), help=two_ways(work.draw.mechanism)
)
columns[1].metric(
    "Reports are off by",
    truth.text(percent(closeness.reports)),
    help="Share of the bars that is in the wrong place.",
)
columns[2].metric(
    "The estimate is off by", truth.text(percent(closeness.estimate)), help="The same, for the green bars."
)

st.subheader("Where to go")
cards = st.grid(2, border=True)
for path, label, icon, promise in (*LAB, *PRACTICE):
    with cards.cell():
        link_to(path, f"**{label}**", icon, page.work.draw.scenario.to_query())
        st.caption(promise)
st.markdown(
    "**Share what you see:** the address bar holds the scenario; copy it, and a whole class opens the same numbers "
    "(a file of your own stays with you). **Try:** drag **Privacy ε**, press **New draw**, or choose a **Preset** "
    "under **More**."
)
