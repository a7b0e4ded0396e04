"""What a person asks the plan: the settings, and their place in a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from rr_core import parameters
from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN, K_MAX, SHARE_MAX, SHARE_MIN, TARGET_MIN
from rr_core.metrics import WHOSE, Users
from rr_core.parameters import Choice, Number, Parameter, Text
from rr_core.plan.one_share import Goal, GoalKey
from rr_core.plan.solve import Find
from rr_core.plan.targets import KINDS, Kind, KindKey, Target
from rr_core.protocols.channel import Channel
from rr_core.reports import designs
from rr_core.reports.designs import DESIGNS, ENCODINGS, OF_ONE_SHARE, Unclear

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


GOALS: dict[GoalKey, str] = {
    "half_width": "A narrow interval",
    "power": "To tell it from zero",
    "difference": "To tell two groups apart",
}
# What is asked of a survey besides the numbers of its design.
ASSUMED = designs.Parameter("assumed", "Share of people that you expect to have it", "0.1 or 10%")
POWER = designs.Parameter("power", "Power: chance that the test sees it", "0.8 or 80%")
_OF_GOAL: dict[GoalKey, tuple[designs.Parameter, ...]] = {
    "half_width": (designs.Parameter("half_width", "Half-width of the 95% interval", "0.03 or 3%"),),
    "power": (POWER,),
    "difference": (designs.Parameter("difference", "Difference between the groups", "0.05 or 5%"), POWER),
}


@dataclass(frozen=True)
class ShareSettings:
    """What a person asks about one share under a design of surveys; numbers as they were typed, "" where none was.

    Attributes:
        design: the key of one of OF_ONE_SHARE.
        encoding: of unary encoding, a key of ENCODINGS.
        goal: what is wanted.
        p, p2, prevalence, draws, no, yes, epsilon, f, q: numbers of the designs, see `designs.numbers_of`.
        assumed: the share that is assumed; of the first group, where there are two.
        half_width, difference, power: of the goal.
    """

    design: str = "warner"
    encoding: str = "rappor"
    goal: GoalKey = "half_width"
    p: str = ""
    p2: str = ""
    prevalence: str = ""
    draws: str = ""
    no: str = ""
    yes: str = ""
    epsilon: str = ""
    f: str = ""
    q: str = ""
    assumed: str = ""
    half_width: str = ""
    difference: str = ""
    power: str = ""

    @property
    def of_design(self) -> tuple[designs.Parameter, ...]:
        """The numbers that the design needs."""
        return designs.numbers_of(DESIGNS[self.design], self.encoding)

    @property
    def of_goal(self) -> tuple[designs.Parameter, ...]:
        """The numbers that are asked besides: the share first."""
        return (ASSUMED, *_OF_GOAL[self.goal])

    def understood(self) -> tuple[Channel, Goal, float]:
        """The table of chances, the goal, and the assumed share.

        Raises:
            Missing, Unclear: one plain sentence.

        >>> _, goal, share = ShareSettings(p="0.7", assumed="10%", half_width="3%").understood()
        >>> goal.value, share
        (0.03, 0.1)
        """
        texts = [getattr(self, one.key) for one in self.of_design]
        channel = designs.table_of_one_share(DESIGNS[self.design], texts, self.encoding)
        share, *others = (designs.labelled(one, getattr(self, one.key)) for one in self.of_goal)
        value = others.pop(0) if self.goal != "power" else Goal.value
        try:
            goal = Goal(self.goal, value, *others)
        except ValueError:
            low, high = (f"{PERCENT * end:g}%" for end in (CONFIDENCE_MIN, CONFIDENCE_MAX))
            raise Unclear(f"{POWER.label}: write one from {low} to {high}.") from None
        if share > goal.largest_share:
            raise Unclear(
                f"{PERCENT * share:.4g}% in one group and {PERCENT * value:.4g} points more in the other are more than "
                "100%: write a smaller share or a smaller difference."
            )
        return channel, goal, share


_CHOICES: dict[str, Parameter] = {
    "design": Choice("design", "design", "design", {one.key: one.name for one in OF_ONE_SHARE}),
    "encoding": Choice("encoding", "encoding", "encoding", ENCODINGS),
    "goal": Choice[GoalKey]("goal", "goal", "goal", GOALS),
}
SHARE_PARAMETERS: tuple[Parameter, ...] = tuple(
    _CHOICES.get(one.name, Text(one.name, one.name, one.name.replace("_", "-")))
    for one in fields(ShareSettings)
)
