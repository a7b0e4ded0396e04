"""What leads a reader through the app, in the same words on every page: the meaning of words, which estimate to
use, and the way on to the next page."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import numpy as np
import streamlit as st

from pages._ui import figure_controls, link, navigation
from rr_core import reference
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import variance_at
from rr_core.rounding import percent
from rr_core.words.phrases import FOLDED
from server.priority import TURNS

_WITHOUT_SCENARIO = ("lesson", "your_reports", "room", "reference")  # they cannot be presented
# From home along the path to reports of one's own; and what goes deeper.
_WALKS = (
    (*navigation.START, *navigation.GROUPS["The path"], navigation.YOUR_DATA[0]),
    navigation.DEEPER,
)
QUESTION = "Which should I use?"
_STANDS_OUT = 2.0  # standard errors of Inv for an empty category: a share that is larger stands out
# The numbers are those of the stored main grid, mean squared error.
WHICH = FOLDED["which"]


def words(titles: str) -> None:
    """The meaning of words of a page, by their titles in the glossary, in the row of widgets above its figure."""
    figure_controls.place(partial(_show_words, titles.split(", ")))


def _show_words(titles: list[str]) -> None:
    terms = {term.title: term.text for term in reference.entries("glossary", "term")}
    with st.popover("What do the words mean?", type="tertiary", icon=":material/menu_book:"):
        st.markdown("\n\n".join(f"**{title}**: {terms[title]}" for title in titles))
        query = {**link.current().to_query(), "part": "glossary"}
        navigation.link_to("pages/reference.py", "All words", ":material/arrow_forward:", query)


def which_to_use(mechanism: RandomizedResponse, n: int) -> None:
    """Which estimate to use, with reasons and exceptions, and how large the noise is here, behind one click."""
    with st.expander(QUESTION):
        st.markdown(WHICH)
        st.markdown(_noise_here(mechanism, n))


def _noise_here(mechanism: RandomizedResponse, n: int) -> str:
    error = math.sqrt(float(variance_at(np.array(0.0), n, mechanism)))
    least = _STANDS_OUT * error
    if least >= 1:
        advice = "no share can stand out from that: InvN"
    elif least < 1 / mechanism.k:
        advice = "the largest share stands out: InvP, or InvN if you expect all to be about equally common"
    else:
        advice = f"InvP if you expect a category with more than {percent(least)}, else InvN"
    return f"**Here** (K = {mechanism.k:,}, N = {n:,}) the standard error is {percent(error)}: {advice}."


def following(address: str) -> navigation.Entry | None:
    """The page after the one with this address; None after the last of the path, and of those that go deeper."""
    pairs = (pair for walk in _WALKS for pair in pairwise(walk))
    return next((after for before, after in pairs if before.address == address), None)


def next_presented() -> None:
    """Draw the link to the next page that can be presented."""
    entry = following(link.page())
    if entry is not None and entry.address not in _WITHOUT_SCENARIO:
        query = link.current().to_query()
        navigation.link_to(entry.file, "Next", ":material/arrow_forward:", query, entry.label)


def next_page() -> None:
    """Draw the link to the page that comes after this one, if one does, with what that answers."""
    entry = following(link.page())
    if entry is not None:
        st.divider()
        query = link.current().to_query()
        navigation.link_to(entry.file, f"**Next: {entry.label}**", ":material/arrow_forward:", query)
        st.caption(entry.answers)
    TURNS.end()
