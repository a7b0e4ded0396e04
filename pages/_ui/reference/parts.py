"""The parts of the reference page, in order, and the search across them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages._ui.reference import estimators, misprints, texts
from pages._ui.safe_text import markdown
from rr_core.reference import Entry, read

_MOST_SHOWN = 30  # hits of one part
_SEARCH = "reference_search"


@dataclass(frozen=True)
class Part:
    """One part: its name, what it holds in a few words, how it is shown, and what can be found in it."""

    name: str
    about: str
    show: Callable[[], None]
    entries: Callable[[], tuple[Entry, ...]]


def _part(key: str, show: Callable[[], None], entries: Callable[[], tuple[Entry, ...]]) -> Part:
    return Part(read(key)["name"], read(key)["about"], show, entries)


PARTS = {
    "symbols": _part("symbols", texts.show_symbols, texts.symbol_entries),
    "names": _part("names", texts.show_names, texts.name_entries),
    "formulas": _part("formulas", texts.show_formulas, texts.formula_entries),
    "estimators": _part("estimators", estimators.show, estimators.entries),
    "misprints": _part("misprints", misprints.show, misprints.entries),
    "glossary": _part("glossary", texts.show_glossary, texts.glossary_entries),
    "sources": _part("sources", texts.show_sources, texts.source_entries),
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


def search_box() -> str:
    """What the reader looks for, if anything."""
    query: str = st.text_input(
        "Look up a symbol, a name or a word in all parts",
        placeholder="for instance: norm-sub, phi, support",
        key=_SEARCH,
        max_chars=60,
    )
    return query.strip()


def search_results(query: str) -> None:
    """Every entry that matches, by part."""
    st.caption(
        f"Entries that mention “{markdown(query)}”. Empty the box, or choose a part, to leave the search."
    )
    total = 0
    for part in PARTS.values():
        hits = [entry for entry in part.entries() if entry.matches(query)]
        if hits:
            st.subheader(part.name)
            texts.show_entries(hits[:_MOST_SHOWN])
        if len(hits) > _MOST_SHOWN:
            st.caption(f"… and {len(hits) - _MOST_SHOWN} more: choose the part above to see them all.")
        total += len(hits)
    if not total:
        st.info(f"Nothing here says “{markdown(query)}”. Try a shorter word, or choose a part above.")
