"""Your reports: a defensible table from reports that somebody collected."""

import streamlit as st

from pages._ui import guidance
from pages._ui.figure_controls import row
from pages._ui.frame import open_reading
from pages._ui.reports import results, session, upload
from pages._ui.widgets import end_run

open_reading("your_reports", session.HERE, session.MADE)
upload.panel()
used = session.in_use()
if used is None:
    upload.warehouse_section()
    end_run()

answer = st.container()
with row():
    level, target = results.level_and_target(used)
    analysed = session.results_of(used, level, target)
    choice = results.estimator_and_scope(analysed)
    likeliest = "MLE\\*" if used.k_rr else "Maximum likelihood, Certificate"
    guidance.words(f"Inv, InvN, InvP, {likeliest}, Unbiased, Confidence interval, Familywise error, p-value")
order = results.table_order(analysed)
with answer:
    results.epsilon_rejected(analysed)
    results.answer(analysed, choice)
estimates_chart = results.estimates_chart(analysed, choice, order)
simulate_now = session.offer_simulations(analysed)
progress = st.container()
fits = "Does this ε fit?" if used.k_rr else "Do they fit?"
table, fit, which, groups, files = st.tabs(["Table", fits, "Which estimate?", "Groups", "Files"])
with table:
    with st.container(horizontal=True, gap="medium"):
        results.search_box(analysed)
        results.chart_size(analysed, order)
    results.table(analysed, choice, order)
    results.left_out(analysed)
with fit:
    fit_charts = results.epsilon_fit(analysed)
with which:
    results.advice(analysed)
    if used.k_rr:
        results.measured_section()
with groups:
    groups_charts, compared = results.groups(analysed, choice)
with files:
    results.downloads(analysed, choice, [estimates_chart, *fit_charts, *groups_charts], compared)
    upload.warehouse_section()

if simulate_now:
    with progress:
        session.run_simulations(analysed)
