"""What a collection may be asked for, and of which population: five kinds of target, and a guess of the shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN

KindKey = Literal["rmse", "max", "share", "smallest", "top"]

# Chance of calling any empty category present, over all k together.
FAMILY_LEVEL = 0.05
# Up to this many distinct shares are kept as they are; more are moved to levels between them.
_MOST_LEVELS = 80
_EXACT = 16  # the largest shares that are kept as they are even then
_BETWEEN = 64


@dataclass(frozen=True)
class Kind:
    """One kind of target. What it is called on the page stands in `rr_core.words.plan.KIND_TEXTS`.

    Attributes:
        key: name in code.
        measure: name of the achieved value, as it stands in files.
        unit: of the achieved value.
        better: whether a smaller or a larger achieved value is better.
        default, low, high: the value asked for, and its range.
        whole: whether that value is a whole number.
        has_confidence: whether it is promised with a probability; False when the target is an average.
        needs_population: whether the worst case has no answer.
    """

    key: KindKey
    measure: str
    default: float
    low: float = 1e-9
    high: float = 1.0
    unit: str = "share of users"
    better: Literal["smaller", "larger"] = "smaller"
    whole: bool = False
    has_confidence: bool = True
    needs_population: bool = False


KINDS: dict[str, Kind] = {
    "rmse": Kind("rmse", "RMSE per category", 0.005, has_confidence=False),
    "max": Kind("max", "largest error", 0.01),
    "share": Kind("share", "error of the named share", 0.01),
    "smallest": Kind("smallest", "smallest share told from zero", 0.01),
    "top": Kind(
        "top",
        "chance that the ranking is right",
        5,
        1,
        50,
        "probability",
        better="larger",
        whole=True,
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
        _validate.one_of("kind", self.kind, KINDS)
        kind = self.about
        if kind.whole:
            _validate.integer("value", self.value, int(kind.low), int(kind.high))
        _validate.within("value", self.value, kind.low, kind.high)
        _validate.within("confidence", self.confidence, CONFIDENCE_MIN, CONFIDENCE_MAX)
        _validate.within("share", self.share, 0.0, 1.0)

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


@dataclass(frozen=True, eq=False)
class Guess:
    """Shares of k categories, or nothing known about them.

    Attributes:
        k: number of categories.
        shares: (k,) in decreasing order, summing to one; None for the worst case over all populations.
    """

    k: int
    shares: Array | None = None

    @classmethod
    def of(cls, k: int, theta: ArrayLike | Guess | None) -> Guess:
        """The guess ``theta``: (k,) shares or counts, normalised here; None stands for the worst case. A Guess
        is handed through, so that a population of a million categories is sorted once.

        Raises:
            ValueError: naming the argument.
        """
        k = _validate.integer("k", k, 2)
        if theta is None:
            return cls(k)
        if isinstance(theta, Guess):
            if theta.k != k:
                raise ValueError(f"theta must be a guess of k = {k} categories, got {theta.k}")
            return theta
        weights = _validate.one_row("theta", _validate.histogram(theta, k).astype(np.float64))
        return cls(k, np.sort(_validate.shares(weights))[::-1])

    def known_shares(self) -> Array:
        """The shares, or ValueError in the worst case."""
        if self.shares is None:
            raise ValueError("theta must be a population, got None (the worst case)")
        return self.shares

    @property
    def sum_of_squares(self) -> float | None:
        """Sum of the squared shares: 1/k when uniform, 1 when everybody is in one category."""
        return None if self.shares is None else float(self.shares @ self.shares)

    def levels(self, after: int = 0) -> tuple[Array, Array]:
        """(levels, weights): shares standing for those after the first ``after``, with their multiplicities.

        Beyond 80 distinct shares the 16 largest stay and the others are moved to the nearest of 64 levels on
        either side, in the parts that keep both their number and their sum. A sum of f(share) over the
        categories is then the sum of the chord of f: exact where f is linear, an upper bound where f is
        convex, as the tails in `rr_core.plan.tails` are from two standard deviations on.
        """
        shares = self.known_shares()[_validate.integer("after", after, 0, self.k - 1) :]
        edges = np.flatnonzero(np.diff(shares, prepend=np.inf, append=-np.inf))
        values, weights = shares[edges[:-1]][::-1], np.diff(edges)[::-1]
        if values.size <= _MOST_LEVELS:
            return values, weights.astype(np.float64)
        top, rest = values[-_EXACT:], values[:-_EXACT]
        levels = _levels_between(rest)
        spread = _split_weights(rest, weights[:-_EXACT].astype(np.float64), levels)
        return np.concatenate([levels, top]), np.concatenate([spread, weights[-_EXACT:]])


def _levels_between(values: Array) -> Array:
    """Increasing levels from the smallest to the largest value, in equal ratios; zero is its own level."""
    low = values[1] if values[0] == 0 else values[0]
    levels = np.geomspace(low, values[-1], _BETWEEN)
    levels[0], levels[-1] = low, values[-1]
    return np.unique(np.concatenate([values[:1], levels]))


def _split_weights(values: Array, weights: Array, levels: Array) -> Array:
    """The weight each level gets when every value is split between the two levels around it."""
    right = np.clip(np.searchsorted(levels, values), 1, levels.size - 1)
    part = (values - levels[right - 1]) / (levels[right] - levels[right - 1])
    spread = np.zeros(levels.size)
    np.add.at(spread, right, weights * part)
    np.add.at(spread, right - 1, weights * (1 - part))
    return spread
