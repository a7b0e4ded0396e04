"""Opening a page: title, navigation, sidebar scenario, link, messages, upload. The one call of every page."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages._ui import chart, link, messages, navigation, sidebar, state, upload
from pages._ui.link import Binding
from pages._ui.work import Work, work
from rr_core.populations import UPLOAD

_HEAD_START = 0.05  # seconds

# Streamlit leaves six empty lines above a title; a figure below it should not need scrolling. Its captions, the grey of
# its charts on white, and white words on the light blue of dark buttons are too pale to read: at least 4.5 : 1 by WCAG 2.
_STYLE = """<style>
[data-testid="stMainBlockContainer"] {padding-top: 2.6rem; padding-bottom: 3rem;}
[data-testid="stCaptionContainer"] {opacity: 0.75;}
[data-testid="stPlotlyChart"] text[style*="rgb(128, 132, 149)"] {fill: #5C6070 !important;}
[data-testid="stBaseButton-primary"]:not(:disabled) {color: light-dark(#FFFFFF, #141414);}
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] {gap: 0.55rem;}
[data-testid="stSidebarHeader"] {height: 2.2rem; margin-bottom: 0;}
@media (max-width: 640px) {
  [data-testid="stMarkdownContainer"] table {font-size: 0.78rem;}
  [data-testid="stMarkdownContainer"] :is(th, td) {padding: 0.25rem 0.3rem;}
}
</style>"""


@dataclass(frozen=True)
class Page:
    """What a page works with: the draw of the current scenario, and what is computed from it."""

    work: Work

    def lead(self, figure: go.Figure, name: str, on_click: chart.OnClick | None = None) -> None:
        """Show the page's first figure, then the controls; ``on_click`` as in `chart.show`."""
        chart.show(figure, name, on_click)
        self.controls()

    def controls(self) -> None:
        """Draw navigation and sidebar, once the first figure is on its way."""
        _let_the_figure_go_first()
        _controls(scenario=True)


def _let_the_figure_go_first() -> None:
    """Give the browser time to draw the figure that has been sent, before anything else arrives.

    It needs longer to refresh the fifty other elements of a page than to draw the figure, and does the two together when
    they arrive together. Streamlit 1.67 sends what a run draws as it comes, and has no way to hold back the rest.
    Measured: the figure is on screen 40 ms sooner, at no cost to other sessions.
    """
    time.sleep(_HEAD_START)


@st.cache_resource(show_spinner=False)
def _freeze_imports() -> None:
    """Exclude the objects that the imports made from garbage collection."""
    gc.collect()
    gc.freeze()


def open_page(name: str, question: str, *settings: Binding[Any]) -> Page:
    """Open a page about the scenario: its title, messages, and the upload panel when it is wanted.

    The page then shows its main figure with `Page.lead`, which also draws the controls.

    Args:
        name: the page's address.
        question: the question that the page answers; its title.
        settings: bindings of the page's own settings, which its links carry besides the scenario.
    """
    _open(name, question, settings)
    messages.show(link.notes())
    if state.upload_open() or link.current().dist == UPLOAD:
        upload.panel()
    return Page(work(link.current()))


def open_reading(name: str, question: str, *settings: Binding[Any]) -> None:
    """Open a page that does not depend on the scenario; its navigation still carries the current one."""
    _open(name, question, settings)
    messages.show(link.own_notes())
    _controls(scenario=False)


def _open(name: str, question: str, settings: tuple[Binding[Any], ...]) -> None:
    st.set_page_config(page_title=f"{question} · Randomized response", page_icon="🎲", layout="wide")
    _freeze_imports()
    st.html(_STYLE)
    link.read(name, settings)
    st.title(question)


def _controls(*, scenario: bool) -> None:
    with st.sidebar:
        navigation.draw()
        if scenario:
            sidebar.draw()
    link.write()
