"""What a collection may be asked for: five kinds of target, in words and in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rr_core import _validate

KindKey = Literal["rmse", "max", "share", "smallest", "top"]

# Chance of calling any empty category present, over all k together.
FAMILY_LEVEL = 0.05


@dataclass(frozen=True)
class Kind:
    """One kind of target.

    Attributes:
        key: name in code.
        label: name on the page.
        scope: what it is about, in a few words that tell it from the others.
        measure: what the achieved value is.
        unit: of the achieved value.
        better: whether a smaller or a larger achieved value is better.
        default, low, high: the value asked for, and its range.
        whole: whether that value is a whole number.
        promised: what ``confidence`` is the probability of; empty when the target is an average.
        meaning: one sentence for a lay person.
        needs_population: whether the worst case has no answer.
    """

    key: KindKey
    label: str
    scope: str
    measure: str
    unit: str
    better: Literal["smaller", "larger"]
    default: float
    low: float
    high: float
    whole: bool
    promised: str
    meaning: str
    needs_population: bool = False


KINDS: dict[str, Kind] = {
    "rmse": Kind(
        "rmse",
        "RMSE per category",
        "a typical error",
        "RMSE per category",
        "share of users",
        "smaller",
        0.005,
        1e-9,
        1.0,
        False,
        "",
        "How far the estimate of one category typically is from its true share.",
    ),
    "max": Kind(
        "max",
        "Largest error",
        "all categories at once",
        "largest error",
        "share of users",
        "smaller",
        0.01,
        1e-9,
        1.0,
        False,
        "no category is further off",
        "With the given probability, every category's estimate is at most this far from its true share.",
    ),
    "share": Kind(
        "share",
        "One named share",
        "that category alone",
        "error of the named share",
        "share of users",
        "smaller",
        0.01,
        1e-9,
        1.0,
        False,
        "the estimate is no further off",
        "With the given probability, the estimate of one category with this share is at most so far from it: the "
        "“within ±1 point” of surveys. Among many categories some other one may be further off.",
    ),
    "smallest": Kind(
        "smallest",
        "Smallest share told from zero",
        "one category",
        "smallest share told from zero",
        "share of users",
        "smaller",
        0.01,
        1e-9,
        1.0,
        False,
        "a category this large is found",
        "A category with this share is found to be present with the given probability, while any empty one "
        "is called present in at most 5% of collections.",
    ),
    "top": Kind(
        "top",
        "Top categories ranked right",
        "their order",
        "chance that the ranking is right",
        "probability",
        "larger",
        5,
        1,
        50,
        True,
        "the ranking is right",
        "With the given probability, the largest categories come out in their true order and ahead of "
        "all others.",
        needs_population=True,
    ),
}


@dataclass(frozen=True)
class Target:
    """What is asked for.

    Attributes:
        kind: a key of KINDS.
        value: a share from 1e-9 to 1; for "top" how many categories, from 1 to 50.
        confidence: the probability promised, from 0.5 to 0.9999. Without a part in "rmse".
        share: true share of the category that "share" is about, from 0 to 1; without a part in the others.

    Raises:
        ValueError: naming the argument.
    """

    kind: KindKey
    value: float
    confidence: float = 0.95
    share: float = 0.2

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            known = ", ".join(KINDS)
            raise ValueError(f"kind must be one of {known}, got {_validate.short(self.kind)}")
        kind = self.about
        if kind.whole:
            _validate.integer("value", self.value, int(kind.low), int(kind.high))
        _inside("value", self.value, kind.low, kind.high)
        _inside("confidence", self.confidence, 0.5, 0.9999)
        _inside("share", self.share, 0.0, 1.0)

    @property
    def about(self) -> Kind:
        return KINDS[self.kind]

    @property
    def goal(self) -> float:
        """What the achieved value is held against: ``value``, and for "top" the probability."""
        return self.confidence if self.kind == "top" else self.value

    def met_by(self, achieved: float) -> bool:
        """Whether an achieved value is as good as what is asked for."""
        return achieved <= self.goal if self.about.better == "smaller" else achieved >= self.goal


def _inside(name: str, value: float, low: float, high: float) -> None:
    allowed = f"a number from {low:g} to {high:g}"
    if not low <= _validate.real(name, value, allowed) <= high:
        raise ValueError(f"{name} must be {allowed}, got {_validate.short(value)}")
