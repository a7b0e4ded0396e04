"""One person's report: truth, coin, report, and what an onlooker can conclude."""

from __future__ import annotations

import math

import streamlit as st

from pages._ui import chart
from pages._ui.safe_text import markdown
from pages._ui.work import Work
from rr_core.figures.labels import names, plain
from rr_core.figures.one_report import LARGEST_MATRIX, belief, channel
from rr_core.figures.view import Bars, bars, natural_order, with_category
from rr_core.privacy import answer, posterior
from rr_core.streams import Stream

_MOST_SHOWN = 30


def section(work: Work) -> None:
    """Let a person answer as one user, and see what the answer gives away."""
    draw, mechanism = work.draw, work.draw.mechanism
    st.subheader("One person's report")
    left, right = st.columns([1, 2], gap="large")
    with left:
        truth = _pick_truth(work)
        tries = st.session_state.setdefault("_person_tries", 0)
        st.button("Answer again", on_click=_again, help="Toss the coin again for the same person.")
        report = answer(truth, mechanism, work.scenario.stream(Stream.ANSWERS, truth, tries))
        st.markdown(
            f"1. Their truth is **{_name(work, truth)}**.\n"
            + (
                f"2. The coin says **keep it** (chance p − q = {mechanism.keep:.1%}).\n"
                if report.kept
                else f"2. The coin says **pick any category at random** (chance {1 - mechanism.keep:.1%}).\n"
            )
            + f"3. They report **{_name(work, report.report)}**"
            + (", the truth." if report.report == truth else ".")
        )
        st.markdown(
            "Nobody but them sees the coin. Whatever the report, it is at most "
            f"**e^ε = {math.exp(work.scenario.epsilon):,.4g} times** as likely under one truth as under another, so "
            "an onlooker's odds between any two answers change by no more than that."
        )
    with right:
        shown = _shown(work, report.report)
        believed = posterior(report.report, draw.population.probabilities, mechanism)
        chart.show(belief(draw.population.probabilities, believed, report.report, shown), "belief")
    if mechanism.k <= LARGEST_MATRIX:
        with st.expander("The channel matrix: every truth, every report"):
            order = natural_order(mechanism.k)
            chart.show(channel(mechanism, names(draw.population.labels, order)), "channel")


def _pick_truth(work: Work) -> int:
    most = min(_MOST_SHOWN, work.scenario.k)
    options = work.by_truth[:most].tolist()
    return int(
        st.selectbox(
            "A person whose truth is" if most == work.scenario.k else f"A person whose truth is (top {most})",
            options,
            format_func=lambda category: plain(_raw_name(work, category)),
            key="person_truth",
        )
    )


def _shown(work: Work, report: int) -> Bars:
    """All categories when they are few, else the most frequent ones and the reported one."""
    labels = work.draw.population.labels
    if work.scenario.k <= _MOST_SHOWN:
        return bars(natural_order(work.scenario.k), labels, "Category")
    return bars(with_category(work.by_truth[:_MOST_SHOWN], report), labels, "Most frequent categories")


def _raw_name(work: Work, category: int) -> str:
    labels = work.draw.population.labels
    return str(category + 1) if labels is None else labels[category]


def _name(work: Work, category: int) -> str:
    return markdown(_raw_name(work, category), 40)


def _again() -> None:
    st.session_state["_person_tries"] += 1
