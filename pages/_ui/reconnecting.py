"""A page that was open when its session ended: the server was restarted, or let go of a session whose visitor was away.

The browser connects again by itself, and draws nothing. Its next message is what the visitor does next, with the values
of all widgets, to a session that knows none of them: Streamlit 1.67 draws the page and drops the click, for it calls the
functions of widgets that it has drawn before. So the page is drawn from its address, and then the message is taken again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner, ScriptRunnerEvent

from server import sessions


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


def take_again() -> None:
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
