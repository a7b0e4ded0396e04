"""Opening a page: title, navigation, sidebar scenario, link, messages, upload. The one call of every page."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import streamlit as st

from pages._ui import link, messages, navigation, sidebar, state, upload
from pages._ui.work import Work, work
from rr_core.populations import UPLOAD
from rr_core.scenario import Scenario


@dataclass(frozen=True)
class Page:
    """What a page gets: the scenario on screen, and its draw."""

    scenario: Scenario
    work: Work


@st.cache_resource(show_spinner=False)
def _freeze_imports() -> None:
    """Keep what the imports made out of every later garbage collection."""
    gc.collect()
    gc.freeze()


def open_page(name: str, question: str, *, scenario: bool = True) -> Page:
    """Draw what all pages share and return what to show.

    Args:
        name: the page's address.
        question: the question that the page answers; its title.
        scenario: whether the page is about the scenario (the sidebar then holds its widgets).
    """
    st.set_page_config(page_title=f"{question} · Randomized response", page_icon="🎲", layout="wide")
    _freeze_imports()
    notes = link.sync(name)
    with st.sidebar:
        navigation.draw()
        if scenario:
            st.divider()
            sidebar.draw()
    st.title(question)
    messages.show(notes)
    if scenario and (state.upload_open() or link.current().dist == UPLOAD):
        upload.panel()
    return Page(link.current(), work(link.current()))
