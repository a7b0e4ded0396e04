"""A guess of the population, reduced to the few levels on which a plan is worked out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array

# Up to this many distinct shares are kept as they are; more are moved to levels between them.
_MOST_LEVELS = 80
_EXACT = 16  # the largest shares that are kept as they are even then
_BETWEEN = 64


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
        weights = _validate.histogram(theta, k).astype(np.float64)
        if weights.ndim != 1:
            raise ValueError(f"theta must have shape (k,) = ({k},), got {weights.shape}")
        return cls(k, np.sort(weights / weights.sum())[::-1])

    def known(self) -> Array:
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
        shares = self.known()[after:]
        edges = np.flatnonzero(np.diff(shares, prepend=np.inf, append=-np.inf))
        values, weights = shares[edges[:-1]][::-1], np.diff(edges)[::-1]
        if values.size <= _MOST_LEVELS:
            return values, weights.astype(np.float64)
        top, rest = values[-_EXACT:], values[:-_EXACT]
        levels = _between(rest)
        spread = _moved(rest, weights[:-_EXACT].astype(np.float64), levels)
        return np.concatenate([levels, top]), np.concatenate([spread, weights[-_EXACT:]])


def _between(values: Array) -> Array:
    """Increasing levels from the smallest to the largest value, in equal ratios; zero is its own level."""
    low = values[1] if values[0] == 0 else values[0]
    levels = np.geomspace(low, values[-1], _BETWEEN)
    levels[0], levels[-1] = low, values[-1]
    return np.unique(np.concatenate([values[:1], levels]))


def _moved(values: Array, weights: Array, levels: Array) -> Array:
    """The weight each level gets when every value is split between the two levels around it."""
    right = np.clip(np.searchsorted(levels, values), 1, levels.size - 1)
    part = (values - levels[right - 1]) / (levels[right] - levels[right - 1])
    spread = np.zeros(levels.size)
    np.add.at(spread, right, weights * part)
    np.add.at(spread, right - 1, weights * (1 - part))
    return spread
