"""Noisy histogram: what randomized response does to a histogram, and to one person's answer."""

import streamlit as st

from pages._ui import downloads, figure_controls, film, guidance, truth
from pages._ui.frame import Parts, open_page, while_open
from pages._ui.noisy_histogram import channel_section, person_section
from rr_core.figures.noisy_histogram import likelier_truth, noisy_histogram, two_ways
from rr_core.rounding import percent

PARTS = Parts(
    "noisy_histogram",
    {
        "numbers": "In numbers",
        "person": "One person's report",
        "film": "Watch it come in",
        "channel": "The channel matrix",
    },
)
page = open_page("noisy_histogram", PARTS.binding)
draw = page.results.draw
_MANY = 60  # categories, beyond which the tallest true bars would press the reports flat

new = f"**New draw** for {'' if draw.of_table else 'other users and '}other noise: "
st.markdown(
    "**On average it pulls every bar towards the same height.** A private coin decides for each person (**user**): "
    f"report the truth, or any answer (**category**) at random. {likelier_truth(draw.mechanism)}"
    + (
        " The truth is hidden here.\n\n**Try:** drag **Privacy ε** left: what becomes of the tallest bars? "
        if truth.hidden()
        else "\n\n**Try:** drag **Privacy ε** left: where do the brown marks go? "
    )
    + f"Press {new}what changes?"
)
with figure_controls.row():
    view = figure_controls.pick_view(page.results)
    zoom = figure_controls.zoom("noisy", "Zoom to reports", on=draw.scenario.k > _MANY)
    guidance.words("Randomized response, Epsilon (ε), Noise, Expected value, Total variation")
true_counts = truth.unless_hidden(draw.true_counts)
figure = noisy_histogram(true_counts, draw.counts, draw.mechanism, view, zoom)
page.lead(figure, "noisy_histogram")

parts = PARTS.tabs()
with parts["numbers"]:
    summary = page.results.noise
    columns = st.columns(4)
    columns[0].metric("Chance of a true report", percent(summary.truthful))
    columns[1].metric(
        "Reports are off by",
        truth.text(percent(summary.moved)),
        help="Total variation: half the sum of |observed − true|, over N.",
    )
    columns[2].metric(
        "Largest change of a bar",
        truth.text(f"{summary.largest_change:,}".replace("-", "−")),
        help="In reports.",
    )
    columns[3].metric(
        "Bars inside their 95% band",
        truth.text(percent(summary.inside_band)),
        help="Chance alone leaves a bar inside its band in 95 of 100 draws, or more.",
    )
    st.markdown(
        f"**How ε becomes a chance:** {two_ways(draw.mechanism)} **Why eᵋ?** Two answers multiply their odds, "
        "eᵋ · eᵋ = e²ᵋ: so ε adds up."
    )
    downloads.row(page.results, figure, "noisy_histogram")
while_open(parts["person"], person_section, page.results)
while_open(parts["film"], film.reports_section, page.results)
while_open(parts["channel"], channel_section, page.results)

with st.expander("Formulas"):
    st.markdown(
        r"""
A user with category $x$ reports $y$ with probability (paper, eq. 1)

$$
\begin{gathered}
\Pr(y \mid x) = p = \frac{e^\varepsilon}{e^\varepsilon + K - 1}\ \text{if } y = x, \\[6pt]
\Pr(y \mid x) = q = \frac{1}{e^\varepsilon + K - 1}\ \text{otherwise.}
\end{gathered}
$$

The expected share of reports is $q + (p-q)\,\theta$. A bar with $t$ true users among $N$ is
$\mathrm{Binomial}(t, p) + \mathrm{Binomial}(N - t, q)$; its 95% band comes from that law.
The noise is drawn on the histogram: each user keeps the truth with probability $p - q$ and is otherwise thrown
uniformly into all $K$ categories, which is the same law at a cost that does not depend on $N$.
"""
    )

guidance.next_page()
