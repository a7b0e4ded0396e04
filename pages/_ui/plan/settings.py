"""What a person asks the plan: the target, which quantity is to be found, and about whom. No Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from rr_core.errors import Users
from rr_core.figures.plan_words import at_least, at_most, round_up
from rr_core.figures.style import number, percent
from rr_core.plan.targets import KINDS, Kind, KindKey, Target
from rr_core.scenario import Number

Find = Literal["n", "eps", "value"]
FINDS: dict[Find, str] = {"n": "Users N", "eps": "Privacy ε", "value": "What is reachable"}
GUESSES = {"sidebar": "The sidebar's", "worst": "Worst case"}
WHOSE: dict[Users, str] = {"fixed": "These people", "sampled": "Their population"}
PERCENT = 100.0
_LEAST = 1e-7  # percent: the least share that a target can name
_NO_PROMISE = 0.005  # a chance of being right that rounds to 0%
CONFIDENCE = Number("confidence", "conf", "confidence in %", 50.0, 99.99, False)
SHARE = Number("share", "share", "named share in % of users", 0.0, 100.0, False)


@dataclass(frozen=True)
class Asked:
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
    def worst(self) -> bool:
        return self.guess == "worst" and not self.about.needs_population

    @property
    def box(self) -> Number:
        """The value's label and range."""
        kind = self.about
        if kind.whole:
            return Number("value", "value", "number of categories", int(kind.low), int(kind.high), True)
        label = "target in % of users"
        return Number("value", "value", label, _LEAST, kind.high * PERCENT, False)

    @property
    def target(self) -> Target:
        kind = self.about
        value = int(self.value) if kind.whole else max(self.value / PERCENT, kind.low)
        return Target(self.kind, value, self.confidence / PERCENT, self.share / PERCENT)

    def of_kind(self, kind: KindKey) -> Asked:
        """The same question with another kind of target, at the value that is usual for it."""
        about = KINDS[kind]
        usual = about.default if about.whole else about.default * PERCENT
        return replace(self, kind=kind, value=usual)

    def fitted(self, k: int) -> Asked:
        """With no more categories to rank than there are others to tell them from."""
        return replace(self, value=min(self.value, k - 1)) if self.about.whole else self

    def to_query(self) -> dict[str, str]:
        return {
            "target": self.kind,
            "value": self.box.format(self.value),
            "conf": CONFIDENCE.format(self.confidence),
            "find": self.find,
            "guess": self.guess,
            "whose": self.users,
            "share": SHARE.format(self.share),
        }

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> tuple[Asked, tuple[str, ...]]:
        """The settings of a link, and one plain sentence for each value that had to be changed."""
        asked, notes = cls(), []

        def choice(parameter: str, label: str, names: Mapping[str, str], usual: str) -> str:
            text = query.get(parameter, usual)
            if (key := text.strip().lower()) in names:
                return key
            short = text if len(text) <= 24 else text[:23] + "…"
            notes.append(f"The link's {label} “{short}” is not known here; “{names[usual]}” is used instead.")
            return usual

        def typed(field: Number, usual: float) -> float:
            if field.parameter not in query:
                return usual
            value, note = field.parse(query[field.parameter], usual)
            notes.extend([note] if note else [])
            return value

        labels = {key: kind.label for key, kind in KINDS.items()}
        kind = choice("target", "target", labels, asked.kind)
        asked = asked.of_kind(next(key for key in get_args(KindKey) if key == kind))
        value = typed(asked.box, asked.value)
        confidence, share = typed(CONFIDENCE, asked.confidence), typed(SHARE, asked.share)
        find = choice("find", "choice of what to find", FINDS, asked.find)  # type: ignore[arg-type]
        guess = choice("guess", "guess of the population", GUESSES, asked.guess)
        whose = choice("whose", "choice of whose shares", WHOSE, asked.users)  # type: ignore[arg-type]
        found = next(key for key in FINDS if key == find)
        users = next(key for key in WHOSE if key == whose)
        return replace(
            asked, value=value, confidence=confidence, find=found, guess=guess, users=users, share=share
        ), tuple(notes)


def promise(target: Target) -> str:
    """What a target promises, to follow "so that"."""
    sure = at_least(target.confidence)
    if target.kind == "top":
        top = int(target.value)
        what = "the largest category comes out" if top == 1 else f"the {top} largest categories come out"
        how = "first" if top == 1 else "in their true order, ahead of all others,"
        return f"{what} {how} with probability {sure}"
    share = at_most(target.value, 6)  # as it is typed
    named = percent(target.share, 6)
    return {
        "rmse": f"the estimate of a category is typically at most {share} of users off (RMSE)",
        "max": f"with probability {sure} no category's estimate is more than {share} of users off",
        "share": f"with probability {sure} the estimate of a category that {named} of users have is at most {share} of "
        "users off",
        "smallest": f"a category that {share} of users have is told from an empty one with probability {sure}",
    }[target.kind]


def achieved(target: Target, value: float) -> str:
    """What is reached where nothing was asked for, as a sentence with its number in bold."""
    sure = at_least(target.confidence)
    if target.kind == "top":
        top = int(target.value)
        if value < _NO_PROMISE:
            return "**nothing can be promised** about the ranking"
        what = (
            "the largest category is ranked first"
            if top == 1
            else f"the {top} largest categories are ranked right"
        )
        return f"{what} with probability **at least {at_least(value)}**"
    if target.kind == "smallest" and value > 1:
        return (
            f"**nothing can be promised**: not even that a category that all users have is told from an empty one with "
            f"probability {sure}"
        )
    share, named = at_most(value), percent(target.share, 6)
    return {
        "rmse": f"the estimate of a category is typically **{share} of users** off (RMSE)",
        "max": f"with probability {sure} no category's estimate is more than **{share} of users** off",
        "share": f"with probability {sure} the estimate of a category that {named} of users have is at most **{share} of "
        "users** off",
        "smallest": f"the smallest category told from an empty one, with probability {sure}, "
        f"has **{share} of users**",
    }[target.kind]


def users(n: float) -> str:
    """`people`, with their noun."""
    return f"{people(n)} user{'s' * (n != 1)}"


def people(n: float) -> str:
    """A number of users in words: all digits up to a billion, beyond it rounded up."""
    if n <= 1e9:
        return f"{n:,.0f}"
    return f"{number(round_up(n / 1e9, 3))} billion" if n < 1e12 else number(round_up(n, 3))
