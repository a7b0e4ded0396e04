"""Inv and its negatives: how often, how many, and why more users do not cure them."""

import streamlit as st

from pages._ui import chart, downloads, view_picker
from pages._ui.frame import open_page
from rr_core.figures.chance import chance_against_users
from rr_core.figures.estimates import inv_with_negatives
from rr_core.figures.style import percent
from rr_core.law import negative_chance, negatives

page = open_page("inv_negatives", "Why does the unbiased estimate give negative shares?")
draw, scenario = page.work.draw, page.scenario
inv = page.work.comparison().estimates["inv"]

st.markdown(
    "Linear inversion (**Inv**) subtracts the expected noise and rescales. It is right on average, but a "
    "category that received fewer reports than the noise alone would bring comes out **below zero**."
)
with view_picker.row():
    view = view_picker.pick(page.work)
    # Over the ranks of many categories the negatives are far smaller than the largest shares.
    zoom = view_picker.zoom("inv", on=view.is_curve)
figure = inv_with_negatives(inv, draw.theta, scenario.n, draw.mechanism, view, zoom)
page.lead(figure, "inv_negatives")

found = negatives(inv, draw.true_counts)
columns = st.columns(4)
columns[0].metric(f"Negative, of {scenario.k:,}", f"{found.count:,}")
columns[1].metric("Their share", percent(found.share))
columns[2].metric("Their sum", percent(found.total))
columns[3].metric("The lowest", percent(found.lowest) if found.count else "none")

st.subheader("Would more users help?")
st.markdown(
    "No. A category that nobody has goes negative when it gets fewer than its expected N·q reports, and a count "
    "falls below its own mean about half of the time, however many users there are (nearly always, while less than "
    "one report is expected). More users make the negatives **smaller**, not **rarer**."
)
observed = page.work.empty_share
chart.show(chance_against_users(scenario.n, draw.mechanism, observed.share), "negative_chance")
left, right = st.columns(2)
exact = float(negative_chance(scenario.n, draw.mechanism))
left.metric("Chance that an empty category goes negative", percent(exact))
seen = f"{percent(observed.share)} ± {percent(observed.standard_error, 2)}"
right.metric("Seen in repeated draws", seen)
if observed.emptied:
    st.caption("Every category is in use here, so the rarest one was emptied for the repeated draws.")
st.markdown(
    "**Try:** set **Users N** to 10⁹: the bars hug the zero line, and still about half of the empty categories "
    "are below it. Set **Privacy ε** high and K small: negatives vanish only where every category is common."
)
downloads.row(page.work, figure, "inv_negatives")

with st.expander("Formulas"):
    st.markdown(
        r"""
$$\mathrm{Inv}_i = \frac{\varphi_i - q}{p - q} \qquad\text{(paper, eq. 2)}$$

For a fixed population of users, with the misprint of eq. (8) corrected,

$$\mathrm{Var}(\mathrm{Inv}_i) = \frac{q(1-q) + \theta_i\,(p-q)(1-p-q)}{N\,(p-q)^2}.$$

The reports of an empty category are $\mathrm{Binomial}(N, q)$, so the chance of a negative is
$\Pr(\mathrm{Binomial}(N, q) < Nq)$, which tends to one half (paper, section 5.1).
"""
    )
