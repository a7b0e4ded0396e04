"""What a person asks the plan: the settings, their place in the address, and their widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from pages._ui import link
from pages._ui.link import Binding
from rr_core import parameters
from rr_core.figures.plan_sentences import KIND_TEXTS
from rr_core.figures.wording import WHOSE
from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN, K_MAX, SHARE_MAX, SHARE_MIN, TARGET_MIN
from rr_core.metrics import Users
from rr_core.parameters import Choice, Number, Parameter
from rr_core.plan.solve import Find
from rr_core.plan.targets import KINDS, Kind, KindKey, Target

FINDS: dict[Find, str] = {"n": "Users N", "eps": "Privacy ε", "value": "What is reachable"}
GUESSES = {"sidebar": "The sidebar's", "worst": "Worst case"}
_PERCENT = 100.0


_KIND = Choice[KindKey]("kind", "target", "target", {key: text.label for key, text in KIND_TEXTS.items()})
_CONFIDENCE = Number(
    "confidence", "conf", "confidence in %", CONFIDENCE_MIN * _PERCENT, CONFIDENCE_MAX * _PERCENT, False
)
_SHARE = Number("share", "share", "named share in % of users", SHARE_MIN, SHARE_MAX, False)
# In a link after the target and its value, whose range depends on the target.
_OTHERS: tuple[Parameter, ...] = (
    _CONFIDENCE,
    Choice("find", "find", "choice of what to find", FINDS),
    Choice("guess", "guess", "guess of the population", GUESSES),
    Choice("users", "whose", "choice of whose shares", WHOSE),
    _SHARE,
)


def _value_range(kind: Kind, k: int = K_MAX) -> Number:
    """Label and range of the value of a target of this kind about k categories, in the unit in which it is typed."""
    if kind.whole:
        most = min(int(kind.high), k - 1)
        return Number("value", "value", "number of categories", int(kind.low), most, True)
    return Number("value", "value", "target in % of users", TARGET_MIN, kind.high * _PERCENT, False)


@dataclass(frozen=True)
class PlanSettings:
    """The page's own settings; those shared by all pages are in the `Scenario`.

    Attributes:
        kind: a key of KINDS.
        value: as it is typed: percent of users, or how many categories for "top".
        confidence: in percent.
        find: which of N, epsilon and target is computed.
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
    def needs_guess(self) -> bool:
        """Whether the plan depends on which population is guessed, or that none is."""
        return self.kind == "max" or (self.kind == "rmse" and self.users == "sampled")

    @property
    def needs_shares(self) -> bool:
        """Whether the plan depends on the population's shares."""
        return self.about.needs_population or (self.needs_guess and not self.worst_case)

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
        """The settings with the number of ranked categories limited to k - 1."""
        return replace(self, value=min(self.value, k - 1)) if self.about.whole else self

    def to_query(self) -> dict[str, str]:
        """The parameters of a link to these settings."""
        return parameters.write((_KIND, _value_range(self.about), *_OTHERS), self)

    @classmethod
    def from_query(cls, query: Mapping[str, str], k: int) -> tuple[PlanSettings, tuple[str, ...]]:
        """The settings of a link about k categories, and one plain sentence for each value that had to be changed."""
        settings, notes = parameters.read((_KIND,), query, cls())
        settings = settings.of_kind(settings.kind).fitted(k)
        settings, others = parameters.read((_value_range(settings.about, k), *_OTHERS), query, settings)
        return settings, notes + others


def _read(query: Mapping[str, str]) -> tuple[PlanSettings, tuple[str, ...]] | None:
    silent = query.keys().isdisjoint(PlanSettings().to_query())
    return None if silent else PlanSettings.from_query(query, link.current().k)


SETTINGS = Binding(
    "_plan_settings", PlanSettings(), _read, lambda settings: settings.fitted(link.current().k).to_query()
)


def controls(k: int, settings: PlanSettings) -> None:
    """The widgets, one below the other; what is seldom changed, behind a click."""
    kind, promised = settings.about, KIND_TEXTS[settings.kind].promised
    st.selectbox(
        "I want to find",
        list(FINDS),
        format_func=FINDS.__getitem__,
        **SETTINGS.widget_arguments("plan_find", settings.find, lambda find: replace(settings, find=find)),
    )
    st.selectbox(
        "My goal",
        list(KINDS),
        format_func=lambda key: KIND_TEXTS[key].label,
        help="\n\n".join(f"**{text.label}:** {text.meaning}" for text in KIND_TEXTS.values()),
        **SETTINGS.widget_arguments("plan_target", settings.kind, settings.of_kind),
    )
    if settings.kind == "share":
        st.number_input(
            "Its share, % of users",
            _SHARE.low,
            _SHARE.high,
            float(settings.share),
            step=1.0,
            format="%.6g",
            **SETTINGS.widget_arguments(
                "plan_share", settings.share, lambda share: replace(settings, share=share)
            ),
        )
    if settings.find != "value" or kind.whole:
        _value_input(k, settings)
    if kind.has_confidence and not (settings.find == "value" and kind.whole):
        st.number_input(
            "Probability, %",
            _CONFIDENCE.low,
            _CONFIDENCE.high,
            float(settings.confidence),
            step=1.0,
            format="%.4g",
            help=f"Of what is promised: {promised}.",
            **SETTINGS.widget_arguments(
                "plan_conf", settings.confidence, lambda sure: replace(settings, confidence=sure)
            ),
        )
    with st.popover("For whom?"):
        st.segmented_control(
            "Guess of the population",
            list(GUESSES),
            required=True,
            format_func=GUESSES.__getitem__,
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
        st.segmented_control(
            "Whose shares",
            list(WHOSE),
            required=True,
            format_func=WHOSE.__getitem__,
            help="The shares among the very people who report, or in the population that they are a random sample of: "
            "then the luck of the sample counts too.",
            **SETTINGS.widget_arguments(
                "plan_whose", settings.users, lambda users: replace(settings, users=users), anew=True
            ),
        )


def _value_input(k: int, settings: PlanSettings) -> None:
    kind = settings.about
    allowed = _value_range(kind, k)
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
        step=kind.default * _PERCENT / 5,
        format="%.6g",
        help=None
        if kind.key == "smallest"
        else "One point is 1% of all users: a share of 20% that is estimated as 21% is one point off.",
        **SETTINGS.widget_arguments(
            f"plan_value_{kind.key}", float(settings.value), lambda value: replace(settings, value=value)
        ),
    )
