"""What a person asks the plan: the settings, their place in the address, and their widgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import streamlit as st

from pages._ui import link, messages, widget
from rr_core.errors import Users
from rr_core.figures.plan_sentences import KIND_TEXTS
from rr_core.plan.solve import Find
from rr_core.plan.targets import KINDS, Kind, KindKey, Target
from rr_core.scenario import Number

Key = TypeVar("Key", bound=str)

FINDS: dict[Find, str] = {"n": "Users N", "eps": "Privacy ε", "value": "What is reachable"}
GUESSES = {"sidebar": "The sidebar's", "worst": "Worst case"}
WHOSE: dict[Users, str] = {"fixed": "These people", "sampled": "Their population"}
_PERCENT = 100.0
_LEAST = 1e-7  # percent: the least share that a target can name
_SETTINGS = "_plan_settings"
_NOTES = "_plan_notes"


@dataclass(frozen=True)
class Choice(Generic[Key]):
    """One parameter of a link with a few allowed values: its name there, its label on screen, and their names."""

    parameter: str
    label: str
    names: Mapping[Key, str]

    def parse(self, text: str, fallback: Key) -> tuple[Key, str]:
        """The value, and a plain sentence where it is not one of these."""
        for key in self.names:
            if key == text.strip().lower():
                return key, ""
        short = text if len(text) <= 24 else text[:23] + "…"
        usual = self.names[fallback]
        return fallback, f"The link's {self.label} “{short}” is not known here; “{usual}” is used instead."


KIND = Choice[KindKey]("target", "target", {key: text.label for key, text in KIND_TEXTS.items()})
FIND = Choice("find", "choice of what to find", FINDS)
GUESS = Choice("guess", "guess of the population", GUESSES)
USERS = Choice("whose", "choice of whose shares", WHOSE)
CONFIDENCE = Number("confidence", "conf", "confidence in %", 50.0, 99.99, False)
SHARE = Number("share", "share", "named share in % of users", 0.0, 100.0, False)


def value_range(kind: Kind) -> Number:
    """Label and range of the value that a target of this kind asks for, as it is typed."""
    if kind.whole:
        return Number("value", "value", "number of categories", int(kind.low), int(kind.high), True)
    return Number("value", "value", "target in % of users", _LEAST, kind.high * _PERCENT, False)


@dataclass(frozen=True)
class PlanSettings:
    """The page's own settings; those that every page has are in the `Scenario`.

    Attributes:
        kind: a key of KINDS.
        value: as it is typed: percent of users, or how many categories for "top".
        confidence: in percent.
        find: what the page works out.
        guess: whether the promise is for the scenario's population or for all of them.
        users: whose shares are estimated.
        share: of the category that "share" is about, in percent of users.
    """

    kind: KindKey = "rmse"
    value: float = 0.5
    confidence: float = 95.0
    find: Find = "n"
    guess: str = "sidebar"
    users: Users = "fixed"
    share: float = 20.0

    @property
    def about(self) -> Kind:
        return KINDS[self.kind]

    @property
    def worst_case(self) -> bool:
        return self.guess == "worst" and not self.about.needs_population

    @property
    def target(self) -> Target:
        kind = self.about
        value = int(self.value) if kind.whole else max(self.value / _PERCENT, kind.low)
        return Target(self.kind, value, self.confidence / _PERCENT, self.share / _PERCENT)

    def of_kind(self, kind: KindKey) -> PlanSettings:
        """The same settings with another kind of target, at its default value."""
        about = KINDS[kind]
        default = about.default if about.whole else about.default * _PERCENT
        return replace(self, kind=kind, value=default)

    def fitted(self, k: int) -> PlanSettings:
        """With no more categories to rank than there are others to tell them from."""
        return replace(self, value=min(self.value, k - 1)) if self.about.whole else self

    def to_query(self) -> dict[str, str]:
        return {
            KIND.parameter: self.kind,
            "value": value_range(self.about).format(self.value),
            CONFIDENCE.parameter: CONFIDENCE.format(self.confidence),
            FIND.parameter: self.find,
            GUESS.parameter: self.guess,
            USERS.parameter: self.users,
            SHARE.parameter: SHARE.format(self.share),
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[PlanSettings, tuple[str, ...]]:
        """The settings of a link, and one plain sentence for each value that had to be changed."""
        usual, notes = cls(), []

        def parsed(field: Number | Choice[Any], fallback: Any) -> Any:
            if field.parameter not in query:
                return fallback
            value, note = field.parse(query[field.parameter], fallback)
            notes.extend([note] if note else [])
            return value

        usual = usual.of_kind(parsed(KIND, usual.kind))
        return replace(
            usual,
            value=parsed(value_range(usual.about), usual.value),
            confidence=parsed(CONFIDENCE, usual.confidence),
            share=parsed(SHARE, usual.share),
            find=parsed(FIND, usual.find),
            guess=parsed(GUESS, usual.guess),
            users=parsed(USERS, usual.users),
        ), tuple(notes)


def current_settings(k: int) -> PlanSettings:
    """The settings of the session, taken from the address at a first look at it; call it once per run."""
    query = {name: st.query_params[name] for name in PlanSettings().to_query() if name in st.query_params}
    if link.arrived():
        st.session_state[_NOTES] = ()
        if query:
            st.session_state[_SETTINGS], st.session_state[_NOTES] = PlanSettings.from_query(query)
    settings: PlanSettings = st.session_state.get(_SETTINGS, PlanSettings()).fitted(k)
    for name, text in settings.to_query().items():
        link.keep(name, text)
    messages.show(st.session_state.get(_NOTES, ()))
    return settings


def controls(k: int, settings: PlanSettings) -> None:
    """The widgets in two rows."""
    kind, promised = settings.about, KIND_TEXTS[settings.kind].promised
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            "I want to find",
            list(FINDS),
            format_func=FINDS.__getitem__,
            **_bound("find", settings.find, lambda find: replace(settings, find=find)),
        )
        st.selectbox(
            "What is wanted",
            list(KINDS),
            format_func=lambda key: f"{KIND_TEXTS[key].label}: {KIND_TEXTS[key].scope}",
            width=330,
            **_bound("target", settings.kind, settings.of_kind),
        )
        if settings.kind == "share":
            st.number_input(
                "Its share, % of users",
                SHARE.low,
                SHARE.high,
                step=1.0,
                format="%.6g",
                width=170,
                **_bound("share", settings.share, lambda share: replace(settings, share=share)),
            )
        if settings.find != "value" or kind.whole:
            _value_input(k, settings)
        if kind.has_confidence and not (settings.find == "value" and kind.whole):
            st.number_input(
                "Probability, %",
                CONFIDENCE.low,
                CONFIDENCE.high,
                step=1.0,
                format="%.4g",
                width=140,
                help=f"Of what is promised: {promised}.",
                **_bound("conf", settings.confidence, lambda sure: replace(settings, confidence=sure)),
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
            **_bound(
                "guess",
                "worst" if settings.worst_case else "sidebar",
                lambda guess: replace(settings, guess=guess),
            ),
        )
        st.segmented_control(
            "Whose shares",
            list(WHOSE),
            format_func=WHOSE.__getitem__,
            help="The shares among the very people who report, or in the population that they are a random sample of: "
            "then the luck of the sample counts too.",
            **_bound("whose", settings.users, lambda users: replace(settings, users=users)),
        )


def _value_input(k: int, settings: PlanSettings) -> None:
    kind = settings.about
    allowed = value_range(kind)
    if kind.whole:
        st.number_input(
            "How many categories",
            int(allowed.low),
            min(int(allowed.high), k - 1),
            width=170,
            help=f"At most {kind.high:g}, and fewer than K.",
            **_bound(
                f"value_top_{k <= kind.high and k}",
                int(settings.value),
                lambda most: replace(settings, value=most),
            ),
        )
        return
    st.number_input(
        "At most, % of users" if kind.key != "smallest" else "Share, % of users",
        allowed.low,
        allowed.high,
        step=kind.default * _PERCENT / 5,
        format="%.6g",
        width=170,
        **_bound(f"value_{kind.key}", float(settings.value), lambda value: replace(settings, value=value)),
    )


def _bound(name: str, value: Any, changed: Callable[[Any], PlanSettings]) -> dict[str, Any]:
    """Arguments that make a widget show ``value`` and keep the settings that a person's choice makes of it."""

    def take(chosen: Any) -> None:
        st.session_state[_SETTINGS], st.session_state[_NOTES] = changed(chosen), ()

    return widget.shows(f"plan_{name}", value, take)
