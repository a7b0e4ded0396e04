"""Opening a page: title, navigation, sidebar scenario, link, messages, upload. The first call of every page.

Also the parts of a long page, as tabs below its main figure, of which the one on screen is in the link (``part``); and
presenting a page to a room: its question, main figure and sentence in large letters, ε, N, and what moves on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pandas as pd  # noqa: F401  Before the first figure: Plotly fails on a pandas that another session is importing.
import plotly.graph_objects as go
import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner, ScriptRunnerEvent

from pages._ui import (
    chart,
    dials,
    figure_controls,
    guidance,
    link,
    navigation,
    session_files,
    sidebar,
    truth,
    upload,
    widgets,
)
from pages._ui.component import read
from pages._ui.draw_results import LARGE, DrawResults, draw_results
from pages._ui.link import Binding, binding_of_choice
from rr_core.parameters import Choice
from rr_core.populations import UPLOAD
from server import sessions
from server.priority import FIGURE, OPENING, REST, TURNS

_DIALS_AT_THE_FOOT = "dials_at_the_foot"  # key of the dials that a phone shows
_DIALS_OF_THE_SIDEBAR = ("dials", "s", "epsilon", "n")

_STYLE = f"<style>{read(('frame',), 'css')}</style>"


@dataclass(frozen=True)
class Page:
    """What a page works with: the draw of the current scenario, and what is computed from it."""

    results: DrawResults

    def lead(
        self,
        figure: go.Figure,
        name: str,
        on_click: chart.OnClick | None = None,
        place: Any = None,
        unused: Mapping[str, str] | None = None,
    ) -> None:
        """Show the page's first figure, as `chart.lead`, then the controls; ``unused`` as in `controls`."""
        chart.lead(figure, name, on_click, place)
        self.controls(unused)

    @staticmethod
    def controls(unused: Mapping[str, str] | None = None) -> None:
        """Draw navigation and sidebar, the dials first: all the rest can wait while a hand moves them. A page that is
        presented ends here. ``unused``: why, by name, a control is grey since nothing in the open view depends on
        it."""
        grey = sidebar.grey(unused or {})
        if link.presenting():
            _present(grey)
        with st.sidebar:
            links, population = st.container(key="links"), st.container()
            dials.draw(*_DIALS_OF_THE_SIDEBAR, grey=grey)
            buttons = st.container()
        waits = dials.can_wait(_DIALS_AT_THE_FOOT)
        if not waits:
            _dials_at_the_foot(grey)
        TURNS.end()
        dials.wait_for_the_hand()
        TURNS.take(REST, dials.look)
        if waits:
            _dials_at_the_foot(grey)
        figure_controls.draw_waiting()
        with links:
            navigation.draw()
        TURNS.let_pass(dials.look)
        with population:
            sidebar.draw_population(grey)
        with buttons:
            sidebar.draw_buttons(grey)
        if not dials.moving():  # one entry of the history for a move, however long it takes
            link.write()


def _dials_at_the_foot(grey: Mapping[str, str]) -> Any:
    """Draw the dials at the foot of the window, and give their container; ``grey`` as in `dials`."""
    with st.bottom:
        foot = st.container(key="foot")
    with foot:
        dials.draw(_DIALS_AT_THE_FOOT, "epsilon", "n", grey=grey, compact=True)
    return foot


def open_page(name: str, *settings: Binding[Any]) -> Page:
    """Open a page about the scenario: its title, messages, and the upload panel when it is wanted. The page then shows
    its main figure with `Page.lead`, which also draws the controls. ``settings`` are the page's own, which its links
    carry."""
    _arrive(name, settings)
    _show_notes_and_upload()
    try:
        return Page(draw_results(link.current()))
    except sessions.NoRoom as error:
        link.show_notes([f"{error}"])
        Page.controls()
        widgets.end_run()


def open_home() -> None:
    """Open the home page, which shows nothing of the scenario: its links and its controls are for all other pages."""
    _arrive("", shows_scenario=False)
    _show_notes_and_upload()


def controls_for_all_pages() -> None:
    """Draw the navigation, and folded below it the controls of the scenario, from which nothing on the page is drawn."""
    grey = sidebar.grey({})
    with st.sidebar:
        with st.container(key="links"):
            navigation.draw()
        with st.expander("Your own numbers"):
            st.caption("The other pages open with them.")
            sidebar.draw_population(grey)
            dials.draw(*_DIALS_OF_THE_SIDEBAR, grey=grey, figure=False)
            sidebar.draw_buttons(grey)
    if not dials.moving():
        link.write()


def open_reading(name: str, *settings: Binding[Any]) -> None:
    """Open a page that does not depend on the scenario; its navigation still carries the current one."""
    _arrive(name, settings, shows_scenario=False)
    link.show_notes(link.own_notes())
    with st.sidebar, st.container(key="links"):
        navigation.draw()
        dials.draw("dials", grey={})  # none, but what else their script does in all pages
    link.write()


def _arrive(name: str, settings: Sequence[Binding[Any]] = (), *, shows_scenario: bool = True) -> None:
    """Take the scenario and the page's settings from the address, and show the title."""
    _take_again()
    opening = link.read(name, settings, presentable=shows_scenario)
    is_large = shows_scenario and link.current().k > LARGE
    TURNS.take(OPENING if opening or is_large else FIGURE, dials.look)
    question = navigation.BY_ADDRESS[name].question
    st.set_page_config(page_title=f"{question} · Randomized response", page_icon="🎲", layout="wide")
    sessions.prepare()
    st.html(_STYLE + _PRESENTED if link.presenting() else _STYLE)
    st.title(question, anchor=False)


def _show_notes_and_upload() -> None:
    """What the address could not set, and the upload panel when it is wanted."""
    link.show_notes(link.notes())
    if session_files.upload_open() or link.current().dist == UPLOAD:
        upload.panel()


# A page that was open when its session ended: the server was restarted, or let go of a session whose visitor was away.
# The browser connects again by itself, and draws nothing. Its next message is what the visitor does next, with the values
# of all widgets, to a session that knows none of them: Streamlit 1.67 draws the page and drops the click, for it calls
# the functions of widgets that it has drawn before. So the page is drawn from its address, and then the message is taken
# again.


@dataclass(eq=False)
class _Before:
    """What came to a session before a whole run had drawn its widgets, and whose end of a run is waited for."""

    states: dict[str, WidgetState] = field(default_factory=dict)
    runner: ScriptRunner | None = None
    is_over: bool = False


def _take_again() -> None:
    """Have what came before this page was drawn taken again once it is drawn. To be called before its first widget."""
    context, before = get_script_run_ctx(), st.session_state.setdefault("_before", _Before())
    if context is None or before.is_over:
        return
    before.states |= {state.id: state for state in context.session_state.get_widget_states()}
    runner = sessions.runner_of(context.session_id)
    before.is_over = runner is None or not before.states
    if runner is None or before.is_over or before.runner is runner:
        return
    before.runner = runner

    def ended(_: object, event: ScriptRunnerEvent, **about: Any) -> None:
        if event is not ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS:
            return
        runner.on_event.disconnect(ended)
        again = RerunData(
            context.query_string,
            WidgetStates(widgets=before.states.values()),
            context.page_script_hash,
            context_info=context.context_info,
        )
        if runner.request_rerun(again):  # not where the visitor has done something else meanwhile
            before.is_over, before.states = True, {}

    runner.on_event.connect(ended, weak=False)


# Presenting belongs to the session: all pages share it, and their links carry it (``present=on``), see `link`. The key p
# begins and ends it, see `dials`.
_QR_CODE = 420  # pixels
_PRESENTED = f"<style>{read(('presenting',), 'css')}</style>"


def _present(grey: Mapping[str, str]) -> NoReturn:
    """Draw the dials, the buttons and the way on, at the foot of the window, and end the run; ``grey`` as in `dials`."""
    with _dials_at_the_foot(grey):
        buttons = st.container(
            key="present", horizontal=True, width="content", gap="small", vertical_alignment="center"
        )
    dials.wait_for_the_hand()
    figure_controls.draw_waiting()
    with buttons:
        sidebar.draw_new_draw(grey)
        truth.draw_button(brief=True)
        with st.popover("QR"), st.container(width=_QR_CODE):
            sidebar.draw_share()
        st.button("Exit", on_click=link.present, args=(False,), help="Back to the page. Keys: p or Escape.")
        guidance.next_presented()
    if not dials.moving():
        link.write()
    widgets.end_run()


def part_in_link(page: str, names: Mapping[str, str]) -> Binding[str]:
    """The part of a page that is on screen, kept in its link as ``part``; without it the first one."""
    choice = Choice("part", "part", "part of the page", names)
    return binding_of_choice(f"_part_of_{page}", choice, next(iter(names)), stays=False)


def while_open(part: TabContainer, draw: Callable[..., object], *given: Any) -> None:
    """Draw what a part holds, but only while it is on screen."""
    if part.open:
        with part:
            draw(*given)


class Parts:
    """The parts of a page (its address), by their keys in a link; the first one opens with the page. ``binding`` is of
    the part on screen, for `frame.open_page`."""

    def __init__(self, page: str, names: Mapping[str, str]) -> None:
        self._page, self._names = page, names
        self.binding = part_in_link(page, names)

    def tabs(self) -> dict[str, TabContainer]:
        """Draw the tabs, and give the container of each part; the one on screen is ``open``."""
        keys = {name: key for key, name in self._names.items()}
        arguments = self.binding.widget_arguments(
            f"part_{self._page}", self._names[self.binding.current()], keys.__getitem__
        )
        del arguments["persist_state"]  # tabs have none, and are on screen whenever they are drawn
        return dict(zip(self._names, st.tabs(list(self._names.values()), **arguments), strict=True))
