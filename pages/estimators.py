"""Estimators: the truth, Inv and its three repairs on one draw, and over many."""

import streamlit as st

from pages._ui import dials, downloads, figure_controls, film, guidance, lesson, truth
from pages._ui.estimators import error_table, pick_target, repeated_section, search_section
from pages._ui.frame import Parts, open_page, while_open
from rr_core.figures.estimators import estimates

PARTS = Parts(
    "estimators",
    {
        "errors": "Errors",
        "hill": "Climb the likelihood",
        "repeat": "Repeat it",
        "film": "Watch it come in",
        "steps": "How MLE* finds its zeros",
    },
)
page = open_page("estimators", PARTS.binding)
draw, scenario = page.results.draw, page.results.draw.scenario
st.markdown(
    "**InvN** cuts off the negatives and scales the rest down: use it if no category stands out (few people, "
    "small ε).  \n"
    "**InvP** lowers all alike: use it if a few stand out.  \n"
    "**MLE\\*** strikes out categories and does Inv again: the best fit.\n\n"
    "**Try:** **Zipf**, exponent 3: drag **Privacy ε** left. Which repair is far off first?"
)
with figure_controls.row():
    target = pick_target()
    view = figure_controls.pick_view(page.results)
    zoom = figure_controls.zoom("estimators")
    guidance.words(
        "Inv, InvN, InvP, MLE\\*, Total variation, Negative log-likelihood (NLL), Nat, Certificate"
    )

result = page.results.comparison(target)
estimated = truth.unless_hidden(result.truth)
figure = estimates(result.estimates, estimated, scenario.n, draw.mechanism, view, zoom, dials.moving())
page.lead(figure, "estimators")
parts = PARTS.tabs()
with parts["errors"]:
    error_table(result, draw)
    downloads.row(page.results, figure, "estimators")
if parts["hill"].open:
    with parts["hill"]:
        st.markdown(
            "The people of the story on home, at ε = 1 first: five answers are few enough to drag. No dial of this page "
            "moves them."
        )
        lesson.draw_hill()
while_open(parts["repeat"], repeated_section, page.results, target)
while_open(parts["film"], film.estimates_section, page.results, target)
while_open(parts["steps"], search_section, page.results)
guidance.which_to_use(draw.mechanism, scenario.n)

with st.expander("Formulas"):
    st.markdown(
        r"""
With counts $c$, total $N$, and for the categories that are kept $m$ their number and $S$ their total:

- **InvN** keeps $\mathrm{Inv} > 0$ and divides by the sum of what is kept.
- **InvP** is the nearest point of the simplex to Inv: $\frac1m + \frac{mc - S}{m N (p - q)}$ on what it keeps.
- **MLE\*** maximises the likelihood: $\frac{c}{S} + \frac{mc - S}{S(e^\varepsilon - 1)}$ on what it keeps
  (paper, Theorem 1 and eq. 7).

**Certificate.** Let $m_i = q\sum_j \frac{\varphi_j}{q+(p-q)\theta_j} + (p-q)\frac{\varphi_i}{q+(p-q)\theta_i}$. The
log-likelihood per report is concave, so its distance from the maximum is at most $\max_i m_i - 1$. At MLE\* this is
zero up to rounding: proof, on screen, that no distribution fits the reports better.
"""
    )

guidance.next_page()
