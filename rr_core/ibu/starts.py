"""Distributions that IBU may start from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate, streams, typed
from rr_core._validate import Array
from rr_core.streams import Stream

START_KINDS = ("uniform", "reports", "leaning", "zero", "random", "typed")
# A random start makes every category different from every other, which costs O(k) per iteration.
LARGEST_K_RANDOM = 2000
LARGEST_K_TYPED = 20


@dataclass(frozen=True)
class Start:
    """Where a run of IBU starts.

    Attributes:
        kind: one of `START_KINDS`: "uniform"; "reports", their frequencies; "leaning", most of it on one category;
            "zero", nothing on one category and the same on all others; "random"; "typed", given shares.
        category: the category of "leaning" and "zero", counted from 0.
        mass: what "leaning" gives to that category, strictly between 0 and 1; the others share the rest.
        seed: which point "random" is, drawn uniformly from the simplex.
        weights: of "typed", one number >= 0 per category, not all zero; normalised here.

    >>> Start("leaning", category=2, mass=0.8).distribution([5, 3, 1]).round(3).tolist()
    [0.1, 0.1, 0.8]
    """

    kind: str = "uniform"
    category: int = 0
    mass: float = 0.9
    seed: int = 0
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _validate.one_of("kind", self.kind, START_KINDS)
        if not 0 < _validate.real("mass", self.mass, "strictly between 0 and 1") < 1:
            raise ValueError(f"mass must be strictly between 0 and 1, got {self.mass}")
        _validate.integer("category", self.category, 0)
        _validate.integer("seed", self.seed, 0)

    def distribution(self, histogram: ArrayLike) -> Array | None:
        """(k,) the distribution, for a histogram (k,) of reports; None for the uniform one.

        Raises:
            ValueError: when the category does not exist or the weights are not k numbers >= 0.
        """
        given = _validate.as_array("histogram", histogram)
        if given.ndim != 1 or given.size < 2:
            raise ValueError(f"histogram must have shape (k,) with k >= 2, got {given.shape}")
        k, counts = given.size, _validate.histogram(given, given.size)
        if self.kind == "uniform":
            return None
        if self.kind == "reports":
            return _validate.shares(counts)
        if self.kind == "random":
            return streams.generator(self.seed, Stream.START).dirichlet(np.ones(k))
        if self.kind == "typed":
            return _validate.shares(_validate.histogram(np.array(self.weights), k))
        category = _validate.integer("category", self.category, 0, k - 1)
        mass = self.mass if self.kind == "leaning" else 0.0
        start = np.full(k, (1 - mass) / (k - 1))
        start[category] = mass
        return start


def parse_weights(text: str, k: int) -> tuple[float, ...]:
    """Shares or counts that a person typed, one per category, separated by commas, spaces or semicolons.

    Raises:
        ValueError: one plain sentence for that person.

    >>> parse_weights("50% 30% 20%", 3)
    (50.0, 30.0, 20.0)
    """
    words = typed.words(text)
    if len(words) != k:
        raise ValueError(f"{k} numbers are needed, one for each category; this has {len(words)}.")
    weights = tuple(_number(word) for word in words)
    if sum(weights) <= 0:
        raise ValueError("At least one number must be above zero.")
    return weights


def _number(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise ValueError(
            f"{_validate.short(word)} is not a number; write for example 0.5, 0.3, 0.2."
        ) from None
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{_validate.short(word)} is not a share: every number must be zero or more.")
    return number
