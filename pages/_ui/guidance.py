"""What leads a reader through the app, in the same words on every page: the meaning of words, which estimate to
use, and the way on to the next page."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import streamlit as st

from pages._ui import figure_controls, link, navigation
from rr_core import reference
from server.priority import TURNS

_WITHOUT_SCENARIO = ("lesson", "your_reports", "room", "reference")  # they cannot be presented
# From home along the path to reports of one's own; and what goes deeper.
_WALKS = (
    (*navigation.START, *navigation.GROUPS["The path"], navigation.YOUR_DATA[0]),
    navigation.DEEPER,
)
QUESTION = "Which should I use?"
# The numbers are those of the stored main grid, mean squared error.
WHICH = (
    "**InvP**, unless you expect all categories to be about equally common: then **InvN**. (InvP takes the same amount "
    "off every share that it keeps; InvN scales the positive shares down.)\n\n"
    "- **MLE\\*** if you need the best fit: no distribution makes the reports more likely.\n"
    "- **Inv** if you will add shares up or average them: it alone is right on average.\n"
    "- Without a negative in Inv there is nothing to choose: all four are the same.\n\n"
    "One collection can turn out otherwise. With reports of your own, the page Your reports says whether they can "
    "tell.\n\n"
    "**Why?** InvP is never farther from the truth than Inv, in squared distance: that is a theorem. And on trial it was "
    "seldom far from the best: in 600 settings (page Experiments) its mean squared error was within 1.5 times the "
    "smallest of the three **507** times, InvN's 368 times, MLE\\*'s 347 times. Where all categories were about equally "
    "common, InvN's was the smallest, 200 times of 200; MLE\\*'s was up to about 400 times the smallest.\n\n"
    "In a single survey any of the three may come closest."
)


def words(*titles: str) -> None:
    """The meaning of words that a page uses, behind one click, in the row of widgets above its figure.

    Args:
        titles: of entries of the glossary, in the order in which the page uses them.
    """
    figure_controls.place(partial(_show_words, titles))


def _show_words(titles: tuple[str, ...]) -> None:
    terms = {term.title: term.text for term in reference.entries("glossary", "term")}
    with st.popover("What do the words mean?", type="tertiary", icon=":material/menu_book:"):
        st.markdown("\n\n".join(f"**{title}**: {terms[title]}" for title in titles))
        query = {**link.current().to_query(), "part": "glossary"}
        navigation.link_to("pages/reference.py", "All words", ":material/arrow_forward:", query)


def which_to_use() -> None:
    """Which estimate to use, with reasons and exceptions, behind one click."""
    with st.expander(QUESTION):
        st.markdown(WHICH)


def following(address: str) -> navigation.Entry | None:
    """The page that comes after the one with this address; None after the last of the path, and after the last that goes
    deeper."""
    pairs = (pair for walk in _WALKS for pair in pairwise(walk))
    return next((after for before, after in pairs if before.address == address), None)


def next_presented() -> None:
    """Draw the link to the next page that can be presented."""
    entry = following(link.page())
    if entry is not None and entry.address not in _WITHOUT_SCENARIO:
        query = link.current().to_query()
        navigation.link_to(entry.file, "Next", ":material/arrow_forward:", query, entry.label)


def next_page() -> None:
    """Draw the link to the page that comes after the one on screen, if one does, with what that answers: the end of a
    page."""
    entry = following(link.page())
    if entry is not None:
        st.divider()
        query = link.current().to_query()
        navigation.link_to(entry.file, f"**Next: {entry.label}**", ":material/arrow_forward:", query)
        st.caption(entry.answers)
    TURNS.end()
