"""Inv and its negatives: how often, how many, and which of them more users cure."""

import streamlit as st

from pages._ui import chart, downloads, figure_controls, guidance, truth
from pages._ui.frame import Parts, open_page
from rr_core.figures.inv_negatives import chance_against_users, inv_with_negatives, more_users
from rr_core.law import negative_chance, negatives
from rr_core.rounding import percent

PARTS = Parts(
    "inv_negatives",
    {"numbers": "In numbers", "users": "Would more users help?", "empty": "A category that nobody has"},
)
page = open_page("inv_negatives", PARTS.binding)
draw, scenario = page.results.draw, page.results.draw.scenario
inv = page.results.comparison().estimates["inv"]

st.markdown(
    "**Inv** subtracts the expected noise and rescales. It is right on average, but a category that received fewer "
    "reports than the noise alone would bring comes out **below zero**.\n\n"
    "**Try:** move **Users N**, then **Privacy ε**: when are there many negatives?"
)
with figure_controls.row():
    view = figure_controls.pick_view(page.results)
    # Over the ranks of many categories the negatives are far smaller than the largest shares.
    zoom = figure_controls.zoom("inv", on=view.is_curve)
    guidance.words("Inv, Negatives, Unbiased, Expected value, Standard error")
figure = inv_with_negatives(inv, truth.unless_hidden(draw.theta), scenario.n, draw.mechanism, view, zoom)
page.lead(figure, "inv_negatives")

parts = PARTS.tabs()
with parts["numbers"]:
    negative = negatives(inv, draw.true_counts, draw.mechanism)
    columns = st.columns(4)
    columns[0].metric(f"Negative, of {scenario.k:,}", f"{negative.count:,}")
    columns[1].metric("Of all categories", percent(negative.share))
    columns[2].metric("The negatives sum to", percent(negative.total))
    columns[3].metric("The lowest", percent(negative.lowest) if negative.count else "none")
    downloads.row(page.results, figure, "inv_negatives")
with parts["users"]:
    st.markdown(
        "**For a category that somebody has, in the end yes; for one that nobody has, in the end no.**"
    )
    if truth.hidden():
        st.markdown(truth.note("how many negatives to expect, with these users and with more of them"))
    else:
        st.markdown(more_users(page.results.expected_negatives))
    st.markdown(
        "N·q is what the noise alone brings. A category that **somebody has** expects more reports than that, and with "
        "more and more users its chance of getting fewer tends to zero, though it may rise on the way. One that "
        "**nobody has** expects N·q reports, and a count falls below its own expectation with a chance that tends to one "
        "half; only the size of its negatives tends to zero.\n\n"
        "The table keeps the shares as they are. The dial **Users N** draws other users, and with more of them rare "
        "categories find their first.\n\n"
        "**Try:** set **Zipf**, **Categories K** 1,000, **Zipf exponent s** 5, **Privacy ε** 5: nobody has most of the "
        "categories. Read the table from left to right: which row falls?"
    )
if parts["empty"].open:
    with parts["empty"]:
        observed, exact = page.results.empty_share, float(negative_chance(scenario.n, draw.mechanism))
        if observed.emptied and not truth.hidden():
            st.markdown(
                "Every category is in use here, so the rarest one was emptied to look at it in repeated draws."
            )
        seen_share = truth.unless_hidden(observed.share)
        chart.show(chance_against_users(scenario.n, draw.mechanism, seen_share), "negative_chance")
        left, right = st.columns(2)
        left.metric("Chance that an empty category goes negative", percent(exact))
        if not truth.hidden():  # the number of looks tells how many categories are empty
            right.metric(
                "Seen in one look" if observed.looks == 1 else f"Seen in {observed.looks:,} looks",
                f"{percent(observed.share)} ± {percent(observed.standard_error(exact), 2)}",
                help="± one standard error, at most: looks at several categories of one collection share its reports.",
            )

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

guidance.next_page()
