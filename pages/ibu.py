"""IBU: how many iterations it needs to MLE*, and how one knows when to stop."""

import streamlit as st

from pages._ui import chart, view_picker
from pages._ui.frame import open_page
from pages._ui.ibu import controls, cost, downloads, film_keys, run, several, triangle
from rr_core.figures.ibu_curves import convergence, stragglers
from rr_core.figures.ibu_play import play

page = open_page("ibu", "How many iterations does IBU need, and when may it stop?")
work = page.work

st.markdown(
    "**IBU** (iterative Bayesian update) starts from a guess, and no pass over the reports makes it fit them "
    "worse. From a guess without zeros it tends to the distribution that fits best, which **MLE\\*** gives in one step."
)
with view_picker.row():
    start = controls.start(work)
    length = controls.length()
    tolerance = controls.tolerance()
    view = view_picker.pick(work, by_reports=True)
path = run.path(work, start, length)
reached = run.reached(work, start, path, tolerance)
controls.answer(reached, path)
film = play(path, view)
page.lead(film, "ibu")
film_keys.listen()
run.go_on(work, start, length, path)
controls.explain_start(path)

st.subheader("When may it stop?")
st.markdown(
    "Only somebody who knows MLE\\* could tell how far away IBU still is. The **certificate** needs no MLE\\*: it is the "
    "largest factor by which the next iteration would multiply a category, minus one, and the log-likelihood per "
    "report can never grow by more than that."
)
chart.show(convergence(path, tolerance), "ibu_convergence")
triangle.section(work, path)

st.subheader("Which categories come last?")
chart.show(stragglers(path, run.settled(work, start, path, controls.nearness())), "ibu_stragglers")
controls.explain_pace(path)

st.markdown(
    "**Try:** press **Play** (or Tab to the figure: space plays, arrows step), then set **Privacy ε** to 0.5 and "
    "play again. Start from **One category at zero** and see that IBU never brings it back. Start from "
    "**The reports φ**: how many iterations does a better guess save?"
)

several.section(work, length, tolerance)
cost.section(work, reached, start)
downloads.row(work, path, start, film)

with st.expander("Formulas"):
    st.markdown(
        r"""
One iteration (paper, eq. 5) multiplies every category by its factor:

$$
\begin{gathered}
\theta_i \leftarrow \theta_i\,m_i, \\[6pt]
m_i = q\sum_j \frac{\varphi_j}{q+(p-q)\theta_j} \\[6pt]
{} + (p-q)\frac{\varphi_i}{q+(p-q)\theta_i}.
\end{gathered}
$$

It is expectation-maximisation: the likelihood never falls, and from any start without zeros it tends to MLE\*.

**When to stop.** The log-likelihood per report is concave and its gradient is $m$ up to a constant, so
$\ell(\text{MLE*}) - \ell(\theta) \le \max_i m_i - 1$. That number, the **certificate**, needs no MLE\*.

**How fast.** Close to the limit the error of category $i$ shrinks by the factor $1-h_i$, apart from one sum that all
share: $h_i = r\,\frac{(p-q)\theta_i}{q+(p-q)\theta_i}$ where MLE\* is positive, $h_i = 1 - m_i$ where it is zero,
with one number $r \le 1$. Both vanish at the border of the support.
"""
    )
