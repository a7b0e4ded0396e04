"""How often the intervals of Inv hold the truth, as measured: what one may expect of a level of 95%.

A share is small when it is below 3 standard deviations of Inv for an empty category, large otherwise. Every number is
the mean over 2,000 simulated collections; the tests measure all again in small. Cut to [0, 1], the intervals hold a
share of zero more often, and the others just as often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.errors import Users, variance_at
from rr_core.mechanism import RandomizedResponse

POPULATIONS = {
    "falling": "half empty, the rest falling as 1/rank",
    "zipf 1.3": "Zipf, s = 1.3",
    "zipf 2.5": "Zipf, s = 2.5",
}
CATEGORIES = ("empty", "small", "large", "all")
NOMINAL = 95.0
COLLECTIONS = 2000


@dataclass(frozen=True)
class Coverage:
    """One number of the table.

    Attributes:
        population: key of POPULATIONS.
        k, n, epsilon, users: the setting.
        categories: "empty", "small" or "large" shares, each on its own; or "all" of them at once.
        measured: in percent of COLLECTIONS; NOMINAL is asked for.
    """

    population: str
    k: int
    n: int
    epsilon: float
    users: Users
    categories: str
    measured: float


def falling(k: int) -> Array:
    """(k,) the shares of the population: 1/rank in the first half, zero in the second."""
    weights = np.zeros(k)
    weights[: k // 2] = 1 / np.arange(1, k // 2 + 1)
    shares: Array = weights / weights.sum()
    return shares


def kinds(shares: Array, n: int, mechanism: RandomizedResponse) -> NDArray[np.intp]:
    """(k,) index in CATEGORIES of each share: 0 empty, 1 small, 2 large."""
    deviation = np.sqrt(variance_at(np.zeros(1), n, mechanism))
    return np.where(shares == 0, 0, np.where(shares < 3 * deviation, 1, 2))


# Per setting (population, k, n, epsilon, users): percent in the order of CATEGORIES.
_MEASURED: dict[tuple[str, int, int, float, Users], tuple[float | None, ...]] = {
    ("falling", 10, 1_000, 1.0, "fixed"): (94.1, 95.0, 95.5, 95.1),
    ("falling", 10, 1_000, 1.0, "sampled"): (94.4, 95.2, 95.3, 94.8),
    ("falling", 10, 100_000, 1.0, "fixed"): (95.2, None, 94.9, 95.2),
    ("falling", 10, 100_000, 1.0, "sampled"): (95.2, None, 95.2, 95.2),
    ("falling", 10, 200, 3.0, "fixed"): (94.9, None, 95.4, 97.1),
    ("falling", 10, 200, 3.0, "sampled"): (94.9, None, 95.0, 97.2),
    ("falling", 100, 5_000, 2.0, "fixed"): (95.3, 94.9, 95.2, 96.5),
    ("falling", 100, 1_000_000, 2.0, "fixed"): (94.9, 95.2, 95.0, 94.9),
    ("falling", 1_000, 100_000, 3.0, "fixed"): (95.1, 95.0, 94.5, 95.8),
    ("zipf 1.3", 1_000, 100_000, 2.0, "fixed"): (None, 95.0, 94.9, 95.5),
    ("zipf 1.3", 1_000, 100_000, 4.0, "fixed"): (None, 94.9, 95.0, 96.0),
    ("zipf 2.5", 1_000, 100_000, 3.0, "fixed"): (95.1, 95.2, 95.1, 95.4),
}

COVERAGE: tuple[Coverage, ...] = tuple(
    Coverage(*setting, category, percent)
    for setting, row in _MEASURED.items()
    for category, percent in zip(CATEGORIES, row, strict=True)
    if percent is not None
)


def measured_range() -> tuple[float, float]:
    """The lowest and the highest number of the table, in percent."""
    every = [row.measured for row in COVERAGE]
    return min(every), max(every)
