"""Your reports: a defensible table from reports that somebody collected."""

import streamlit as st

from pages._ui.frame import open_reading
from pages._ui.view_picker import row
from pages._ui.your_reports import (
    controls,
    downloads,
    intervals,
    kept,
    panel,
    sections,
    simulation,
    warehouse,
)

open_reading("your_reports", "What do my collected reports say, and how sure is it?")
panel.show()
used = kept.used()
if used is None:
    warehouse.section()
    st.stop()

answer = st.container()
with row():
    level, target = controls.asked()
    found = simulation.results(used, level, target)
    shown = controls.shown(found)
order = controls.order(found)
with answer:
    sections.answer(found, shown)
lead = sections.lead(found, shown, order)
to_run = simulation.offer(found)
progress = st.container()
sections.left_out(found)
with row():
    controls.search(found)
    controls.most()
sections.table(found, shown, order)

st.subheader("Does this ε fit the reports?")
floor = sections.fit(found)
st.subheader("Which estimate to report?")
sections.advice(found)
intervals.section()
downloads.row(found, shown, [lead, floor])
warehouse.section()

if to_run:
    with progress:
        simulation.follow(found)
