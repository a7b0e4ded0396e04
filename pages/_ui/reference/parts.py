"""The parts of the reference page, in order, and the search across them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages._ui.reference import comparison, formulas, glossary, misprints, names, sources, symbols
from pages._ui.reference.entries import Entry, stacked
from pages._ui.safe_text import markdown

_MOST_FOUND = 30
_SEARCH = "reference_search"


@dataclass(frozen=True)
class Part:
    """One part: its name, what it holds in a few words, how it is shown, and what can be found in it."""

    name: str
    promise: str
    show: Callable[[], None]
    entries: Callable[[], tuple[Entry, ...]]


PARTS = {
    "symbols": Part("Symbols", symbols.PROMISE, symbols.show, symbols.entries),
    "names": Part("Names", names.PROMISE, names.show, names.entries),
    "formulas": Part("Formulas", formulas.PROMISE, formulas.show, formulas.entries),
    "estimators": Part("Estimators", comparison.PROMISE, comparison.show, comparison.entries),
    "misprints": Part("Misprints", misprints.PROMISE, misprints.show, misprints.entries),
    "glossary": Part("Glossary", glossary.PROMISE, glossary.show, glossary.entries),
    "sources": Part("Sources", sources.PROMISE, sources.show, sources.entries),
}


def pick() -> Part:
    """The table of contents: one part at a time. The choice is in the address (``part=``)."""
    chosen = st.pills(
        "Parts of the reference",
        list(PARTS),
        default="symbols",
        required=True,
        format_func=lambda key: PARTS[key].name,
        key="part",
        on_change=_leave_search,
        bind="query-params",
        label_visibility="collapsed",
    )
    return PARTS[chosen or "symbols"]


def _leave_search() -> None:
    """Choosing a part shows that part."""
    st.session_state[_SEARCH] = ""


def ask() -> str:
    """What the reader looks for, if anything."""
    wanted: str = st.text_input(
        "Look up a symbol, a name or a word in all parts",
        placeholder="for instance: norm-sub, phi, support",
        key=_SEARCH,
        max_chars=60,
    )
    return wanted.strip()


def found(wanted: str) -> None:
    """Everything that matches, by part."""
    st.caption(
        f"Entries that mention “{markdown(wanted)}”. Empty the box, or choose a part, to leave the search."
    )
    total = 0
    for part in PARTS.values():
        hits = [entry for entry in part.entries() if entry.matches(wanted)]
        if hits:
            st.subheader(part.name)
            stacked(hits[:_MOST_FOUND])
        if len(hits) > _MOST_FOUND:
            st.caption(f"… and {len(hits) - _MOST_FOUND} more: choose the part above to see them all.")
        total += len(hits)
    if not total:
        st.info(f"Nothing here says “{markdown(wanted)}”. Try a shorter word, or choose a part above.")
