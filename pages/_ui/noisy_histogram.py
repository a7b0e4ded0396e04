"""One person's reports: truth, coin, report, and what an onlooker can conclude from one and from several."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._ui import chart, truth
from pages._ui.draw_results import DrawResults
from rr_core.figures.noisy_histogram import LARGEST_MATRIX, belief, channel, epsilon_cost
from rr_core.figures.view import Bars, bars, natural_order, rank_order, with_categories
from rr_core.plain_text import markdown, plain
from rr_core.privacy import answer, posterior_of_reports
from rr_core.rounding import percent
from rr_core.streams import Stream
from rr_core.words.phrases import names

_MOST_SHOWN = 30
_MOST_ANSWERS = 20
_ANSWERS = "_person_answers"


def person_section(results: DrawResults) -> None:
    """Widgets to answer as one user, and what the answers reveal to an observer."""
    draw, mechanism = results.draw, results.draw.mechanism
    left, right = st.columns([1, 2], gap="large")
    with left:
        category = _pick_category(results)
        answers = [
            answer(category, mechanism, results.draw.scenario.stream(Stream.ANSWERS, category, i))
            for i in range(st.session_state.setdefault(_ANSWERS, 1))
        ]
        with st.container(horizontal=True):
            st.button(
                "Answer again",
                on_click=_again,
                disabled=len(answers) >= _MOST_ANSWERS,
                help="The same person tosses the coin again, and reports once more.",
            )
            if len(answers) > 1:
                st.button("Start over", on_click=_start_over)
        last = answers[-1]
        earlier = ", ".join(_name(results, one.report) for one in answers[:-1])
        st.markdown(
            f"1. Their truth is **{_name(results, category)}**.\n"
            + (
                f"2. The coin says **keep it** (chance p − q = {percent(mechanism.keep)}).\n"
                if last.kept
                else f"2. The coin says **pick any category at random** (chance {percent(1 - mechanism.keep)}).\n"
            )
            + f"3. They report **{_name(results, last.report)}**"
            + (", the truth." if last.report == category else ".")
            + (f"\n\nReported before: {earlier}." if earlier else "")
        )
        st.markdown(epsilon_cost(results.draw.scenario.epsilon, len(answers)))
    with right:
        if truth.hidden():  # the population has nearly the same shares
            st.markdown(truth.note("what an onlooker concludes who knows the population"))
        else:
            prior, reports = draw.population.probabilities, [one.report for one in answers]
            beliefs = [posterior_of_reports(reports[:m], prior, mechanism) for m in sorted({1, len(answers)})]
            view = _categories(results, [category, *reports])
            chart.show(belief(prior, beliefs, reports, category, view), "belief")


def channel_section(results: DrawResults) -> None:
    """The channel matrix, every truth against every report, while it is small enough to be read."""
    mechanism = results.draw.mechanism
    if mechanism.k <= LARGEST_MATRIX:
        order = natural_order(mechanism.k)
        chart.show(channel(mechanism, names(results.draw.population.labels, order)), "channel")
    else:
        st.caption(f"It is drawn for up to {LARGEST_MATRIX} categories; here are {mechanism.k:,}.")


def _pick_category(results: DrawResults) -> int:
    shares = results.draw.population.probabilities
    order = rank_order(shares) if truth.hidden() else results.by_truth
    first = order[:_MOST_SHOWN]
    options = first[shares[first] > 0].tolist()  # nobody has a category of share zero
    return int(
        st.selectbox(
            "A person whose truth is"
            if results.draw.scenario.k <= _MOST_SHOWN
            else f"A person whose truth is (top {len(options)})",
            options,
            format_func=lambda category: plain(_raw_name(results, category)),
            key="person_truth",
            persist_state="page",
            on_change=_start_over,
        )
    )


def _categories(results: DrawResults, wanted: Sequence[int]) -> Bars:
    """All categories if they are few, else the most frequent ones and the ``wanted`` ones."""
    labels = results.draw.population.labels
    if results.draw.scenario.k <= _MOST_SHOWN:
        return bars(natural_order(results.draw.scenario.k), labels, "Category")
    most, title = results.by_truth[:_MOST_SHOWN], "Most frequent categories"
    if not set(wanted) <= set(most.tolist()):
        title += ", and those reported"
    return bars(with_categories(most, wanted), labels, title)


def _raw_name(results: DrawResults, category: int) -> str:
    labels = results.draw.population.labels
    return str(category + 1) if labels is None else labels[category]


def _name(results: DrawResults, category: int) -> str:
    return markdown(_raw_name(results, category), 40)


def _again() -> None:
    st.session_state[_ANSWERS] += 1


def _start_over() -> None:
    st.session_state[_ANSWERS] = 1
