"""The question of the plan page: its widgets, and its place in the address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from pages._ui import link, messages, widget
from pages._ui.plan.settings import CONFIDENCE, FINDS, GUESSES, PERCENT, SHARE, WHOSE, Asked
from rr_core.plan.targets import KINDS

_KEPT = "_plan_asked"
_NOTES = "_plan_notes"


def current(k: int) -> Asked:
    """The question as the session holds it, taken from the address at a first look at it; call it once per run."""
    query = {name: st.query_params[name] for name in Asked().to_query() if name in st.query_params}
    if link.arrived():
        st.session_state[_NOTES] = ()
        if query:
            st.session_state[_KEPT], st.session_state[_NOTES] = Asked.from_query(query)
    asked: Asked = st.session_state.get(_KEPT, Asked()).fitted(k)
    for name, text in asked.to_query().items():
        link.keep(name, text)
    messages.show(st.session_state.get(_NOTES, ()))
    return asked


def rows(k: int, asked: Asked) -> None:
    """The widgets in two rows."""
    kind = asked.about
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            "I want to find",
            list(FINDS),
            format_func=FINDS.__getitem__,
            **_shows("find", asked.find, lambda found: replace(asked, find=found)),
        )
        st.selectbox(
            "What is wanted",
            list(KINDS),
            format_func=lambda key: f"{KINDS[key].label}: {KINDS[key].scope}",
            width=330,
            **_shows("target", asked.kind, asked.of_kind),
        )
        if asked.kind == "share":
            st.number_input(
                "Its share, % of users",
                SHARE.low,
                SHARE.high,
                step=1.0,
                format="%.6g",
                width=170,
                **_shows("share", asked.share, lambda share: replace(asked, share=share)),
            )
        if asked.find != "value" or kind.whole:
            _value(k, asked)
        if kind.promised and not (asked.find == "value" and kind.whole):
            st.number_input(
                "Probability, %",
                CONFIDENCE.low,
                CONFIDENCE.high,
                step=1.0,
                format="%.4g",
                width=140,
                help=f"Of what is promised: {kind.promised}.",
                **_shows("conf", asked.confidence, lambda sure: replace(asked, confidence=sure)),
            )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            "Guess of the population",
            list(GUESSES),
            format_func=GUESSES.__getitem__,
            disabled=kind.needs_population,
            help="There is no worst case for a ranking: with equal shares no number of reports puts them in order."
            if kind.needs_population
            else "The promise is for the distribution of the sidebar, or for every distribution over K categories.",
            **_shows(
                "guess", "worst" if asked.worst else "sidebar", lambda guess: replace(asked, guess=guess)
            ),
        )
        st.segmented_control(
            "Whose shares",
            list(WHOSE),
            format_func=WHOSE.__getitem__,
            help="The shares among the very people who report, or in the population that they are a random sample of: "
            "then the luck of the sample counts too.",
            **_shows("whose", asked.users, lambda users: replace(asked, users=users)),
        )


def _value(k: int, asked: Asked) -> None:
    kind, box = asked.about, asked.box
    if kind.whole:
        st.number_input(
            "How many categories",
            int(box.low),
            min(int(box.high), k - 1),
            width=170,
            help=f"At most {kind.high:g}, and fewer than K.",
            **_shows(
                f"value_top_{k <= kind.high and k}", int(asked.value), lambda most: replace(asked, value=most)
            ),
        )
        return
    st.number_input(
        "At most, % of users" if kind.key != "smallest" else "Share, % of users",
        box.low,
        box.high,
        step=kind.default * PERCENT / 5,
        format="%.6g",
        width=170,
        **_shows(f"value_{kind.key}", float(asked.value), lambda value: replace(asked, value=value)),
    )


def _shows(name: str, value: Any, changed: Callable[[Any], Asked]) -> dict[str, Any]:
    """Arguments that make a widget show ``value`` and keep the question that a person's choice makes of it."""

    def take(chosen: Any) -> None:
        st.session_state[_KEPT], st.session_state[_NOTES] = changed(chosen), ()

    return widget.shows(f"plan_{name}", value, take)
