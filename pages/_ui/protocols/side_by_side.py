"""The protocols side by side, on the users of the scenario."""

from __future__ import annotations

import streamlit as st

from pages._ui import chart, guidance, truth
from pages._ui.frame import Page
from rr_core._validate import Array
from rr_core.figures.protocols import report_table, side_by_side
from rr_core.protocols import HadamardResponse
from rr_core.protocols.collection import inv_by_each
from rr_core.protocols.laws import Key
from rr_core.streams import Stream

_MOST_COLLECTED = 2000  # categories


def section(page: Page) -> None:
    """The errors of all protocols as main figure; what a report is and costs."""
    draw, scenario = page.results.draw, page.results.draw.scenario
    st.markdown(
        "All of these grant the same ε, and Inv works for each. They differ in what a report is, and so in how much "
        "noise is left.\n\n"
        "**Try:** drag **Privacy ε** from end to end, then **Categories K**. When is k-RR the right choice?"
    )
    place = chart.place_of_lead()
    guidance.words(
        "Randomized response, Subset selection, Unary encoding, Local hashing, Hadamard response, RMSE, Inv"
    )
    shares = truth.unless_hidden(draw.theta)
    inv: dict[Key, Array] = {}
    if scenario.k <= _MOST_COLLECTED:
        rng = scenario.stream(Stream.EACH)
        inv = page.results.once("each", (), lambda: inv_by_each(draw.true_counts, scenario.epsilon, rng))
    figure = side_by_side(scenario.k, scenario.epsilon, scenario.n, inv, shares)
    even = not inv and scenario.k % HadamardResponse(scenario.k, scenario.epsilon).n_blocks == 0
    unused = dict.fromkeys(("s", "seed"), "Nothing is drawn for so many categories.") if even else {}
    page.lead(figure, "protocols", place=place, unused=unused | truth.unused_without("s", "seed"))
    drawn = (
        f"Collections are drawn for up to {_MOST_COLLECTED:,} categories."
        if not inv
        else truth.note("the error in this draw")
        if shares is None
        else "Diamonds: the error in this draw, from one collection by each protocol. (Local hashing is not collected "
        "here.)"
    )
    st.markdown(f"{drawn}\n\n{report_table(scenario.k, scenario.epsilon, scenario.n, shares)}")
    dealt = (
        " (of Hadamard response also over all ways to deal out the categories to its blocks)"
        if shares is None
        else ""
    )
    st.caption(
        f"Errors are those of Inv for the shares of these very users, averaged over categories{dealt}. Which one to use "
        "when: page “How many people do I need?”, Other protocols."
    )
