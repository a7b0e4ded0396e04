"""IBU: how many iterations it needs to MLE*, and how one knows when to stop."""

import streamlit as st

from pages._ui import chart, figure_controls, film, guidance
from pages._ui.frame import Parts, open_page
from pages._ui.ibu import results, sections
from rr_core.figures.ibu import animation, convergence_curves, settling_by_reports
from rr_core.words.phrases import FOLDED

PARTS = Parts(
    "ibu",
    {
        "stop": "When may it stop?",
        "last": "Which come last?",
        "epsilon": "At other ε",
        "cost": "What does it cost?",
    },
)
page = open_page("ibu", PARTS.binding, results.SETTINGS)

st.markdown(
    "**Yes, step by step.** **IBU** (iterative Bayesian update) multiplies each share by a **factor**: above 1 if the "
    "reports speak for more, below 1 if for less. From a guess without zeros it tends to **MLE\\***, the best fit.\n\n"
    "**Try:** press **Play**. Then set **Privacy ε** to 0.5: how many iterations now?"
)
with figure_controls.row():
    start = results.pick_start(page.results)
    length = results.pick_length()
    tolerance = results.pick_tolerance()
    view = figure_controls.pick_view(page.results, by_reports=True)
    guidance.words("IBU, Iteration, Convergence, MLE\\*, Likelihood, Certificate, Nat, Support")
    figure_controls.place(film.listen_for_keys)  # before the figure, where a page that is presented ends
path = results.ibu_run(page.results, start, length)
reached = results.iterations_to_tolerance(page.results, start, path, tolerance)
figure = animation(path, view, sections.brief_answer(reached, path))
page.lead(figure, "ibu")
sections.show_answer(reached, path)
results.offer_rest(page.results, start, length, path)
sections.explain_start(path)

parts = PARTS.tabs()
with parts["stop"]:
    st.markdown(
        "**Why the largest factor?** If all had one and the same category, how many times as likely would a report "
        "be, on average? That is its factor. Any other shares have the mean of the factors, weighted by them: never "
        "above the largest."
    )
    chart.show(convergence_curves(path, tolerance), "ibu_convergence")
    sections.triangle_section(page.results, path)
if parts["last"].open:
    with parts["last"]:
        settling = results.settling(page.results, start, path, results.pick_nearness())
        chart.show(settling_by_reports(path, settling), "ibu_stragglers")
        sections.explain_pace(path)
        st.caption("To try: start from **The reports φ**. Do the same categories come last?")
with parts["epsilon"]:
    sections.comparison_section(page.results, length, tolerance)
with parts["cost"]:
    sections.cost_section(page.results, reached, start)
results.downloads_row(page.results, path, start, figure)

with st.expander("Formulas"):
    st.markdown(FOLDED["ibu"])

guidance.next_page()
