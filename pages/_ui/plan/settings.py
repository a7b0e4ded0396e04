"""The widgets of what a person asks the plan."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._ui import link, state
from pages._ui.link import binding_of_parameters
from rr_core.figures.plan_sentences import KIND_TEXTS
from rr_core.metrics import WHOSE
from rr_core.plan.settings import (
    CONFIDENCE,
    FINDS,
    GUESSES,
    KIND_LABELS,
    PARAMETERS,
    PERCENT,
    SHARE,
    PlanSettings,
    value_range,
)
from rr_core.plan.targets import KINDS

SETTINGS = binding_of_parameters(
    "_plan_settings",
    PARAMETERS,
    PlanSettings(),
    lambda query: PlanSettings.from_query(query, link.current().k),
    lambda settings: settings.fitted(link.current().k).to_query(),
)


def controls(k: int, settings: PlanSettings) -> None:
    """The widgets, one below the other; what is seldom changed, behind a click."""
    kind, promised = settings.about, KIND_TEXTS[settings.kind].promised
    state.pick_from_list("I want to find", FINDS, **SETTINGS.of_field("plan_find", "find", settings))
    st.selectbox(
        "My goal",
        list(KINDS),
        format_func=lambda key: KIND_LABELS[key],
        help="\n\n".join(f"**{KIND_LABELS[key]}:** {text.meaning}" for key, text in KIND_TEXTS.items()),
        **SETTINGS.widget_arguments("plan_target", settings.kind, settings.of_kind),
    )
    if settings.kind == "share":
        st.number_input(
            "Its share, % of users",
            SHARE.low,
            SHARE.high,
            float(settings.share),
            step=1.0,
            format="%.6g",
            **SETTINGS.of_field("plan_share", "share", settings),
        )
    if settings.find != "value" or kind.whole:
        _value_input(k, settings)
    if kind.has_confidence and not (settings.find == "value" and kind.whole):
        st.number_input(
            "Probability, %",
            CONFIDENCE.low,
            CONFIDENCE.high,
            float(settings.confidence),
            step=1.0,
            format="%.4g",
            help=f"Of what is promised: {promised}.",
            **SETTINGS.of_field("plan_conf", "confidence", settings),
        )
    with st.popover("For whom?"):
        state.pick_one(
            "Guess of the population",
            GUESSES,
            disabled=not settings.needs_guess,
            help="There is no worst case for a ranking: with equal shares no number of reports puts them in order."
            if kind.needs_population
            else "This plan holds for all shares."
            if not settings.needs_guess
            else "The promise is for the distribution of the sidebar, or for every distribution over K categories.",
            **SETTINGS.widget_arguments(
                "plan_guess",
                "worst" if settings.worst_case else "sidebar",
                lambda guess: replace(settings, guess=guess),
                anew=True,
            ),
        )
        state.pick_one(
            "Whose shares",
            WHOSE,
            help="The shares among the very people who report, or in the population that they are a random sample of: "
            "then the luck of the sample counts too.",
            **SETTINGS.of_field("plan_whose", "users", settings, anew=True),
        )


def _value_input(k: int, settings: PlanSettings) -> None:
    kind = settings.about
    allowed = value_range(kind, k)
    if kind.whole:
        st.number_input(
            "How many categories",
            int(allowed.low),
            int(allowed.high),
            int(settings.value),
            help=f"At most {kind.high:g}, and fewer than K.",
            **SETTINGS.widget_arguments(
                f"plan_value_top_{k <= kind.high and k}",
                int(settings.value),
                lambda most: replace(settings, value=most),
            ),
        )
        return
    st.number_input(
        "Share, % of users" if kind.key == "smallest" else "Error at most, in points",
        allowed.low,
        allowed.high,
        float(settings.value),
        step=kind.default * PERCENT / 5,
        format="%.6g",
        help=None
        if kind.key == "smallest"
        else "One point is 1% of all users: a share of 20% that is estimated as 21% is one point off.",
        **SETTINGS.of_field(f"plan_value_{kind.key}", "value", settings),
    )
