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
from pages._ui.draw_results import LARGE, DrawResults, draw_results
from pages._ui.link import Binding, binding_of_choice
from rr_core.parameters import Choice
from rr_core.populations import UPLOAD
from server import sessions
from server.priority import FIGURE, OPENING, REST, TURNS

_DIALS_AT_THE_FOOT = "dials_at_the_foot"  # key of the dials that a phone shows

# Streamlit leaves six empty lines above a title; a figure below it should not need scrolling. Its captions, the grey of
# its charts on white, and white words on the pale buttons and tags of the dark theme are too pale to read: at least
# 4.5 : 1 by WCAG 2.
_STYLE = """<style>
[data-testid="stMainBlockContainer"] {padding-top: 2.6rem; padding-bottom: 3rem;}
[data-testid="stCaptionContainer"] {opacity: 0.75;}
/* Streamlit shows by a pale ground, or by the part of a ring that a list of tabs leaves, where the keyboard is. */
:is([data-testid="stPageLink-NavLink"], [data-testid="stTab"], .modebar-btn):focus-visible,
[data-testid="stCheckbox"] label:has(:focus-visible) {
  outline: 2px solid currentColor !important; outline-offset: -2px;
}
[class*="st-key-answer_"] {outline: none;}
/* What the main figure says is no small print. */
:is(.st-key-lead, .st-key-estimates) [data-testid="stCaptionContainer"] {opacity: 1; font-size: 1rem; color: inherit;}
@media (hover: none) {.st-key-film_keys {display: none;}}
[data-testid="stPlotlyChart"] text[style*="rgb(128, 132, 149)"] {fill: #5C6070 !important;}
/* A film's buttons, rail and words, which Plotly would leave light on a dark page. */
.js-plotly-plot:has(.updatemenu-item-rect) :is(
  .updatemenu-item-rect, .slider-rail-rect, .slider-grip-rect) {
  fill: light-dark(#F8F8F6, #2B2B28) !important; stroke: light-dark(#CFCFC8, #6A6A64) !important;
}
.js-plotly-plot:has(.updatemenu-item-rect) :is(.updatemenu-item-text, .annotation-text) {
  fill: light-dark(#262626, #F0F0EC) !important;
}
/* A halo parts a name from the curves that cross it. */
.js-plotly-plot:not(:has(.updatemenu-item-rect)) .annotation-text {
  paint-order: stroke; stroke: light-dark(#FFFFFF, #181714); stroke-width: 4px; stroke-linejoin: round;
}
.js-plotly-plot .annotation:not(:has(.bg[style*="fill-opacity: 0;"])) .annotation-text {
  stroke: none !important;
}
:is([data-testid="stBaseButton-primary"]:not(:disabled), [data-testid="stMultiSelect"] [data-tag] *) {
  color: light-dark(#FFFFFF, #141414);
}
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] {gap: 0.55rem;}
[data-testid="stSidebarUserContent"] {margin-left: -0.65rem; margin-right: -0.65rem;}
[data-testid="stSidebarUserContent"] .st-key-links {gap: 0;}
[data-testid="stSidebarUserContent"] [data-testid="stCaptionContainer"] p {line-height: 1.2;}
[data-testid="stSidebarUserContent"] .st-key-links [data-testid="stCaptionContainer"] p {
  font-size: 0.8rem; line-height: 1.1; padding-top: 3px;
}
[data-testid="stSidebarUserContent"] [data-testid="stExpander"] :is(details, summary, [data-testid="stExpanderDetails"]) {
  border: none; padding-left: 0; padding-right: 0; background: none;
}
.st-key-buttons > div {flex: 1 1 auto !important; width: auto !important; min-width: 0 !important;}
.st-key-buttons button {padding: 0.25rem 0.3rem;}
.st-key-buttons button p {font-size: 0.85rem; white-space: nowrap;}
:is([data-testid="stSidebar"], .st-key-figure_controls) [data-stale="true"] {opacity: 1 !important;}
.rr-fills .st-key-lead {
  position: fixed; inset: 0; bottom: 91px; height: auto; z-index: 1000; padding: 0.5rem 1rem; background: var(--rr-page);
}
.rr-fills :is([data-testid="stSidebar"], [data-testid="stHeader"]) {display: none;}
[data-testid="stBottom"] {border-top: 1px solid rgba(128,128,128,0.35);}
[data-testid="stBottomBlockContainer"] {padding: 0.5rem 1rem; max-width: none;}
.rr-fills [data-testid="stBottom"] {z-index: 1001;}
/* Beside sliders, which are so much higher: the labels of both stand at one height. */
.st-key-figure_controls:has([data-testid="stSlider"]) [data-testid="stButtonGroup"] {margin-bottom: 8px;}
[data-testid="stSidebarHeader"] {height: 0.9rem; margin-bottom: 0;}
@media (min-width: 641px) {
  body:not(.rr-fills) [data-testid="stBottom"] {display: none;}
  /* The ground of the page that is open covers no neighbour's words. */
  .st-key-links [data-testid="stPageLink-NavLink"] {height: 20px; margin: 6px 0;}
}
@media (max-width: 640px) {
  /* A finger hits one link and not two. */
  .st-key-links [data-testid="stElementContainer"]:has(a) {margin: 0;}
  /* Lines and blocks stand closer, so that the figure stays on the first screen; where many categories bring one more
     choice to the row above it, this is one line that a finger moves, and fades where it goes on. */
  .st-key-figure_controls {row-gap: 0.3rem;}
  .st-key-figure_controls:has(.st-key-view_shown) {
    flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; padding-right: 3rem;
    mask-image: linear-gradient(to left, transparent, #000 3rem);
  }
  .st-key-figure_controls:has(.st-key-view_shown) > * {flex: none;}
  [data-testid="stMain"] [data-testid="stButtonGroup"] > div {flex-wrap: wrap;}
  [data-testid="stMain"] [data-testid="stMarkdownContainer"] p {line-height: 1.4;}
  [data-testid="stMain"] [data-testid="stVerticalBlock"] {gap: 0.6rem;}
  [data-testid="stMainBlockContainer"] h1 {font-size: 1.5rem; padding: 1.25rem 0 0.6rem;}
  .modebar-container {display: none;}
  /* Of more than 81 cells none is as wide as its number, which a tap tells. */
  .st-key-channel_table .heatmap-label text {font-size: 9px !important;}
  .st-key-channel_table :has(> .heatmap-label:nth-of-type(82)) > .heatmap-label {display: none;}
  [data-testid="stMarkdownContainer"] table {font-size: 0.78rem;}
  [data-testid="stMarkdownContainer"] :is(th, td) {padding: 0.25rem 0.3rem;}
}
</style>"""


@dataclass(frozen=True)
class Page:
    """What a page works with: the draw of the current scenario, and what is computed from it."""

    results: DrawResults

    def place(self) -> Any:
        """Reserve the place of the page's first figure, above the widgets that it depends on."""
        return chart.place_of_lead()

    def lead(
        self,
        figure: go.Figure,
        name: str,
        on_click: chart.OnClick | None = None,
        place: Any = None,
        unused: Mapping[str, str] | None = None,
    ) -> None:
        """Show the page's first figure, at its `place` or here, then the controls; ``on_click`` as in `chart.show`,
        ``unused`` as in `controls`."""
        chart.lead(figure, name, on_click, place)
        self.controls(unused)

    @staticmethod
    def controls(unused: Mapping[str, str] | None = None) -> None:
        """Draw navigation and sidebar; a page that is presented ends here.

        The dials come first: all the rest can wait while a hand moves them.

        Args:
            unused: why, by name, for each of "k", "s", "epsilon", "n" and "seed" that nothing in the open view depends
                on: these controls are grey. What the distribution fixes is known to the sidebar.
        """
        grey = sidebar.grey(unused or {})
        if link.presenting():
            _present(grey)
        with st.sidebar:
            links, population = st.container(key="links"), st.container()
            sidebar.draw_dials(grey)
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
    """Open a page about the scenario: its title, messages, and the upload panel when it is wanted.

    The page then shows its main figure with `Page.lead`, which also draws the controls.

    Args:
        name: the page's address; its title is the question that the navigation has for it.
        settings: bindings of the page's own settings, which its links carry besides the scenario.
    """
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
            sidebar.draw_dials(grey, figure=False)
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
    """Take the scenario and the page's settings from the address, and show the title.

    Args:
        name: the page's address.
        settings: of the page.
        shows_scenario: whether the page has a figure of the scenario, which can be presented, and takes long when the
            scenario is large.
    """
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
    """What came to a session before a whole run had drawn its widgets.

    Attributes:
        states: values of widgets, by their identifiers.
        runner: whose end of a run is waited for; None where there is none.
        is_over: whether a run has drawn the widgets.
    """

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
_QUESTION, _FOOT = "2.3rem", "4.7rem"  # heights
_QR_CODE = 420  # pixels
_LETTERS = "22px"  # the smallest that are read from the back of a room

_PRESENTED = f"""<style>
[data-testid="stMain"] {{overflow: hidden;}}
[data-testid="stMain"]::before {{content: none !important;}}
[data-testid="stHeader"], [data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] {{display: none;}}
[data-testid="stMainBlockContainer"] [role="tablist"] {{display: none;}}
[data-testid="stMainBlockContainer"] :is([data-testid="stElementContainer"], [data-testid="stPopover"]):not(
  .st-key-lead *, :has(h1), :has([data-testid="stAlert"])) {{display: none;}}
[data-testid="stMainBlockContainer"] h1 {{
  position: fixed; inset: 0 1.5rem auto; height: {_QUESTION}; padding: 0.2rem 0 0; font-size: 28px; z-index: 2;
}}
.st-key-lead {{position: fixed; inset: {_QUESTION} 1.5rem {_FOOT}; width: auto; height: auto; z-index: 1; gap: 0.3rem;}}
.st-key-lead > * {{width: 100%;}}
.st-key-lead .stBidiComponent {{min-height: 0 !important;}}
.st-key-lead > :last-child {{flex: none; padding-bottom: 1rem;}}
.st-key-lead [data-testid="stCaptionContainer"] {{opacity: 1;}}
.st-key-lead [data-testid="stCaptionContainer"] p {{font-size: {_LETTERS}; line-height: 1.35;}}
body [data-testid="stBottom"] {{display: block !important; z-index: 3;}}
.st-key-foot :is(.rr-full, .rr-full.rr-another), .st-key-present button [data-testid="stIconMaterial"] {{display: none;}}
.st-key-foot :is(.rr-dials, .rr-head label, .rr-why, button p, a :is(p, span)) {{font-size: {_LETTERS} !important;}}
body .st-key-foot .rr-off {{grid-template-columns: auto 1fr;}}
.st-key-foot .rr-why {{white-space: nowrap; overflow: hidden; text-overflow: ellipsis;}}
@media (min-width: 900px) {{
  .st-key-foot {{flex-direction: row; align-items: center; gap: 1.5rem; min-height: calc({_FOOT} - 1.2rem);}}
  .st-key-foot > :last-child {{flex: none; width: auto;}}
  .st-key-foot > :first-child {{flex: 1 1 0; min-width: 0;}}
  .st-key-foot .rr-dials {{grid-template-columns: 1fr 1fr; column-gap: 1.5rem;}}
  .st-key-foot .rr-dial {{grid-column: auto; grid-template-columns: auto 1fr 5.5em; column-gap: 0.5rem;}}
  .st-key-foot .rr-head label {{min-width: 0;}}
  .st-key-foot .rr-box {{width: 5.5em;}}
}}
@media (max-width: 899px) {{
  [data-testid="stMainBlockContainer"] h1 {{font-size: 20px; line-height: 1.2;}}
  .st-key-lead {{inset: 4rem 0.6rem 9.5rem;}}
  .st-key-lead > :first-child {{overflow: hidden;}}
  .st-key-lead .rr-figure {{width: 156.25%; height: 156.25%;}}
  .st-key-lead .svg-container {{zoom: 0.64;}}
  .st-key-lead [data-testid="stCaptionContainer"] p {{font-size: 16px;}}
  .st-key-foot :is(.rr-dials, .rr-head label, .rr-why, button p, a :is(p, span)) {{font-size: 16px !important;}}
  .st-key-foot {{gap: 0.4rem;}}
  .st-key-present {{flex-wrap: nowrap; gap: 0.3rem;}}
  .st-key-present button {{padding: 0.25rem 0.45rem;}}
  .st-key-present :is(button, button *) {{overflow: visible; white-space: nowrap;}}
  .st-key-present {{width: 100% !important;}}
  .st-key-present > *, .st-key-present > * * {{flex: none; width: max-content !important; min-width: 0 !important;}}
}}
</style>"""


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
