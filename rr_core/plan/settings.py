"""What a person asks the plan: the settings, and their place in a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rr_core import parameters
from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN, K_MAX, SHARE_MAX, SHARE_MIN, TARGET_MIN
from rr_core.metrics import WHOSE, Users
from rr_core.parameters import Choice, Number, Parameter
from rr_core.plan.solve import Find
from rr_core.plan.targets import KINDS, Kind, KindKey, Target

FINDS: dict[Find, str] = {"n": "Users N", "eps": "Privacy ε", "value": "What is reachable"}
GUESSES = {"sidebar": "The sidebar's", "worst": "Worst case"}
PERCENT = 100.0
KIND_LABELS: dict[KindKey, str] = {
    "rmse": "Typical error (RMSE)",
    "max": "Every share within …",
    "share": "One share within …",
    "smallest": "Share told from zero",
    "top": "Ranking of the top",
}


_KIND = Choice[KindKey]("kind", "target", "target", KIND_LABELS)
CONFIDENCE = Number(
    "confidence", "conf", "confidence in %", CONFIDENCE_MIN * PERCENT, CONFIDENCE_MAX * PERCENT, False
)
SHARE = Number("share", "share", "named share in % of users", SHARE_MIN, SHARE_MAX, False)
# In a link after the target and its value, whose range depends on the target.
_OTHERS: tuple[Parameter, ...] = (
    CONFIDENCE,
    Choice("find", "find", "choice of what to find", FINDS),
    Choice("guess", "guess", "guess of the population", GUESSES),
    Choice("users", "whose", "choice of whose shares", WHOSE),
    SHARE,
)


def value_range(kind: Kind, k: int = K_MAX) -> Number:
    """Label and range of the value of a target of this kind about k categories, in the unit in which it is typed."""
    if kind.whole:
        most = min(int(kind.high), k - 1)
        return Number("value", "value", "number of categories", int(kind.low), most, True)
    return Number("value", "value", "target in % of users", TARGET_MIN, kind.high * PERCENT, False)


PARAMETERS: tuple[Parameter, ...] = (_KIND, value_range(KINDS["rmse"]), *_OTHERS)


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
        value = int(self.value) if kind.whole else max(self.value / PERCENT, kind.low)
        return Target(self.kind, value, self.confidence / PERCENT, self.share / PERCENT)

    def of_kind(self, kind: KindKey) -> PlanSettings:
        """The same settings with another kind of target, at its default value."""
        about = KINDS[kind]
        default = about.default if about.whole else about.default * PERCENT
        return replace(self, kind=kind, value=default)

    def fitted(self, k: int) -> PlanSettings:
        """The settings with the number of ranked categories limited to k - 1."""
        return replace(self, value=min(self.value, k - 1)) if self.about.whole else self

    def to_query(self) -> dict[str, str]:
        """The parameters of a link to these settings."""
        return parameters.write((_KIND, value_range(self.about), *_OTHERS), self)

    @classmethod
    def from_query(cls, query: Mapping[str, str], k: int) -> tuple[PlanSettings, tuple[str, ...]]:
        """The settings of a link about k categories, and one plain sentence for each value that had to be changed."""
        settings, notes = parameters.read((_KIND,), query, cls())
        settings = settings.of_kind(settings.kind).fitted(k)
        settings, others = parameters.read((value_range(settings.about, k), *_OTHERS), query, settings)
        return settings, notes + others
