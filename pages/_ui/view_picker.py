"""Which categories a chart shows: all bars when they are few, else a curve over ranks or chosen bars."""

from __future__ import annotations

import streamlit as st

from pages._ui.work import Work
from rr_core.figures.view import MOST_BARS, Curve, View, bars, curve, find, natural_order

_COMPACT = 60  # bars that fit beside a paragraph
_ALL, _TOP, _CHOSEN = "All, by rank", "Most frequent", "By name"


def pick(work: Work) -> View:
    """The view of this scenario's categories, with the widgets to choose it where there is a choice."""
    k, labels = work.scenario.k, work.draw.population.labels
    if k <= MOST_BARS:
        return bars(natural_order(k), labels, "Category")
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    shown = left.segmented_control("Show", [_ALL, _TOP, _CHOSEN], default=_ALL, key="view_shown") or _ALL
    if shown == _TOP:
        most = right.slider("How many categories", 5, MOST_BARS, 30, key="view_most")
        return bars(work.by_truth, labels, f"The {most} most frequent categories (true counts)", most)
    if shown == _CHOSEN:
        wanted = right.text_input(
            "Category names or numbers, separated by commas",
            key="view_names",
            placeholder="for example: 1, 2, 17",
        )
        found = find(wanted, labels, k)
        if found.size:
            return bars(found, labels, "Chosen categories")
        if wanted:
            right.caption("No category has such a name; all are shown.")
    return everything(work)


def everything(work: Work) -> Curve:
    """All categories as a curve over their rank."""
    return curve(work.by_truth, "Rank of the category by true count (logarithmic)")


def compact(work: Work) -> View:
    """A small view without widgets: bars while they fit a small chart, else the curve."""
    if work.scenario.k > _COMPACT:
        return everything(work)
    return bars(natural_order(work.scenario.k), work.draw.population.labels, "Category")
