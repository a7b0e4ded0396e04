"""One share under a design of surveys: what it needs to be told, and how many people that takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages._ui import chart, state
from pages._ui.link import binding_of_parameters
from pages._ui.reports.designs import encoding_choice, entry
from pages._ui.safe_text import markdown
from rr_core.figures import plan_shares
from rr_core.plan.one_share import share_curve
from rr_core.plan.settings import GOALS, SHARE_PARAMETERS, ShareSettings
from rr_core.reports.designs import DESIGNS, OF_ONE_SHARE, Missing, Parameter, Unclear

SETTINGS = binding_of_parameters("_plan_share", SHARE_PARAMETERS, ShareSettings())


def section() -> None:
    """Widgets, and the answer of what was stated."""
    st.subheader("And a survey that asks one question?")
    st.markdown(
        "Say how you ask and what you want to see. The people are drawn at random from the population whose share you "
        "want to know."
    )
    settings = SETTINGS.current()
    _entries(settings)
    try:
        channel, goal, share = settings.understood()
    except Missing:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info("Fill in the boxes above: the answer is made of these numbers.", width="stretch")
            st.button("Try an example", on_click=SETTINGS.change, args=(_with_examples(settings),))
        return
    except Unclear as problem:
        st.error(markdown(f"{problem}"), icon=":material/error:")
        return
    curve = state.cached("plan_share", settings, lambda: share_curve(channel, goal, share))
    st.markdown(f"##### {plan_shares.enough(curve)}")
    chart.show(plan_shares.people_against_share(curve), "plan_share")
    with st.expander("How is that worked out?"):
        st.markdown(plan_shares.promise(goal))
        st.markdown(plan_shares.FORMULAS)


def _entries(settings: ShareSettings) -> None:
    with st.container(horizontal=True):
        designs = {one.key: one.name for one in OF_ONE_SHARE}
        state.pick_from_list(
            "How do you ask?", designs, width=330, **SETTINGS.of_field("plan_design", "design")
        )
        state.pick_from_list("I want", GOALS, width=330, **SETTINGS.of_field("plan_goal", "goal"))
    st.caption(DESIGNS[settings.design].about)
    with st.container(horizontal=True):
        if settings.design == "unary":
            encoding_choice(**SETTINGS.of_field("plan_encoding", "encoding", anew=True))
        _boxes(settings, settings.of_design)
    with st.container(horizontal=True):
        _boxes(settings, settings.of_goal)


def _boxes(settings: ShareSettings, numbers: Sequence[Parameter]) -> None:
    for one in numbers:
        width, text = 150 if len(one.label) == 1 else 330, getattr(settings, one.key)
        entry(one, width, **SETTINGS.widget_arguments(f"plan_{one.key}", text, partial(_entered, one.key)))


def _entered(key: str, text: str, settings: ShareSettings | None = None) -> ShareSettings:
    changed: dict[str, Any] = {key: text.strip()}
    return replace(settings or SETTINGS.current(), **changed)


def _with_examples(settings: ShareSettings) -> ShareSettings:
    """The settings with the first example in each empty box."""
    for one in (*settings.of_design, *settings.of_goal):
        if not getattr(settings, one.key):
            settings = _entered(one.key, one.like.partition(" or ")[0], settings)
    return settings
