"""How often intervals cover the truth, as measured: what one may expect of a level of 95%.

A share is small when it is below 3 standard deviations of Inv for an empty category, large otherwise. Every number is
the mean over at least 2,000 simulated collections, each with a bootstrap of its own; a few are measured again by the
tests. The bootstrap's intervals of the repaired estimates know nothing of what the repair did to these very data: where
many shares are small they miss, single categories by more than the means of the table tell (shares around one
standard deviation of the noise: 15% to 60%).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.comparison import VALID
from rr_core.errors import Users, variance_at
from rr_core.mechanism import RandomizedResponse

POPULATIONS = {
    "falling": "half empty, the rest falling as 1/rank",
    "zipf 1.3": "Zipf, s = 1.3",
    "zipf 2.5": "Zipf, s = 2.5",
}
CATEGORIES = ("empty", "small", "large", "all")
METHODS = ("closed", "inv", "inv_n", "inv_p", "mle_star")
NOMINAL = 95.0


@dataclass(frozen=True)
class Coverage:
    """One number of the table.

    Attributes:
        population: key of POPULATIONS.
        k, n, epsilon, users: the setting.
        categories: "empty", "small" or "large" shares, each on its own; or "all" of them at once.
        method: "closed" (`inv_interval`), or the estimator whose bootstrap interval it is.
        nominal, measured: in percent.
        collections, replicates: how many were simulated, and the size of each bootstrap.
    """

    population: str
    k: int
    n: int
    epsilon: float
    users: Users
    categories: str
    method: str
    measured: float
    collections: int
    replicates: int
    nominal: float = NOMINAL


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


# Per setting (population, k, n, epsilon, users, collections, replicates) and method: percent in the order of CATEGORIES.
_MEASURED: dict[tuple[str, int, int, float, Users, int, int], dict[str, tuple[float | None, ...]]] = {
    ("falling", 10, 1_000, 1.0, "fixed", 2000, 200): {
        "closed": (94.1, 95.0, 95.5, 95.1),
        "inv": (95.2, 94.5, 95.3, 94.6),
        "inv_n": (96.5, 89.9, 92.7, 94.1),
        "inv_p": (99.0, 84.2, 93.6, 95.0),
        "mle_star": (98.8, 85.7, 93.6, 94.8),
    },
    ("falling", 10, 1_000, 1.0, "sampled", 2000, 200): {
        "closed": (94.4, 95.2, 95.3, 94.8),
        "inv": (95.0, 94.3, 95.0, 94.0),
        "inv_n": (97.2, 90.0, 92.5, 94.9),
        "inv_p": (99.2, 84.1, 93.0, 94.9),
        "mle_star": (99.1, 85.2, 93.2, 95.3),
    },
    ("falling", 10, 100_000, 1.0, "fixed", 2000, 200): {
        "closed": (95.2, None, 94.9, 95.2),
        "inv": (95.3, None, 94.9, 94.8),
        "inv_n": (95.1, None, 94.4, 94.3),
        "inv_p": (98.7, None, 94.8, 95.2),
        "mle_star": (98.6, None, 94.7, 95.0),
    },
    ("falling", 10, 100_000, 1.0, "sampled", 2000, 200): {
        "closed": (95.2, None, 95.2, 95.2),
        "inv": (95.3, None, 95.2, 94.6),
        "inv_n": (95.5, None, 94.8, 94.8),
        "inv_p": (98.8, None, 95.1, 95.5),
        "mle_star": (98.6, None, 95.1, 95.2),
    },
    ("falling", 10, 200, 3.0, "fixed", 2000, 200): {
        "closed": (94.9, None, 95.4, 97.1),
        "inv": (95.9, None, 95.3, 96.1),
        "inv_n": (97.7, None, 95.0, 95.5),
        "inv_p": (98.8, None, 95.0, 95.6),
        "mle_star": (98.1, None, 95.2, 95.5),
    },
    ("falling", 10, 200, 3.0, "sampled", 2000, 200): {
        "closed": (94.9, None, 95.0, 97.2),
        "inv": (96.8, None, 94.9, 96.2),
        "inv_n": (99.7, None, 94.4, 94.5),
        "inv_p": (99.9, None, 94.5, 93.3),
        "mle_star": (99.8, None, 94.5, 94.4),
    },
    ("falling", 100, 5_000, 2.0, "fixed", 2000, 100): {
        "closed": (95.3, 94.9, 95.2, 96.5),
        "inv": (95.9, 95.0, 95.0, 95.5),
        "inv_n": (97.8, 95.5, 79.3, 82.8),
        "inv_p": (99.9, 95.1, 90.7, 94.8),
        "mle_star": (99.9, 95.4, 90.1, 94.4),
    },
    ("falling", 100, 1_000_000, 2.0, "fixed", 2000, 100): {
        "closed": (94.9, 95.2, 95.0, 94.9),
        "inv": (94.9, 95.1, 95.0, 94.6),
        "inv_n": (94.7, 92.2, 93.8, 86.1),
        "inv_p": (98.8, 88.4, 93.8, 94.1),
        "mle_star": (98.7, 88.7, 93.8, 94.2),
    },
    ("falling", 1_000, 100_000, 3.0, "fixed", 2000, 100): {
        "closed": (95.1, 95.0, 94.5, 95.8),
        "inv": (95.5, 95.3, 94.4, 95.0),
        "inv_n": (95.8, 95.3, 50.2, 50.5),
        "inv_p": (100.0, 96.2, 87.4, 91.3),
        "mle_star": (100.0, 96.4, 85.9, 91.8),
    },
    ("zipf 1.3", 1_000, 100_000, 2.0, "fixed", 2000, 100): {
        "closed": (None, 95.0, 94.9, 95.5),
        "inv_n": (None, 95.9, 11.3, 9.0),
        "inv_p": (None, 97.9, 87.2, 90.2),
        "mle_star": (None, 98.3, 84.0, 89.5),
    },
    ("zipf 1.3", 1_000, 100_000, 4.0, "fixed", 2000, 100): {
        "closed": (None, 94.9, 95.0, 96.0),
        "inv_n": (None, 95.3, 77.1, 72.2),
        "inv_p": (None, 98.3, 90.6, 92.7),
        "mle_star": (None, 98.6, 89.4, 92.2),
    },
    ("zipf 2.5", 1_000, 100_000, 3.0, "fixed", 2000, 100): {
        "closed": (95.1, 95.2, 95.1, 95.4),
        "inv_n": (94.8, 93.0, 25.7, 9.2),
        "inv_p": (100.0, 94.0, 87.5, 85.5),
        "mle_star": (100.0, 96.3, 80.8, 75.3),
    },
}

COVERAGE: tuple[Coverage, ...] = tuple(
    Coverage(population, k, n, epsilon, users, category, method, percent, collections, replicates)
    for (population, k, n, epsilon, users, collections, replicates), methods in _MEASURED.items()
    for method, row in methods.items()
    for category, percent in zip(CATEGORIES, row, strict=True)
    if percent is not None
)


def held_by_inv() -> tuple[float, float]:
    """The lowest and the highest coverage measured for the intervals of Inv, in percent."""
    own = [row.measured for row in COVERAGE if row.method == "closed"]
    return min(own), max(own)


def fall_short() -> Coverage:
    """The lowest coverage measured for an interval of a repaired estimate."""
    return min((row for row in COVERAGE if row.method in VALID), key=lambda row: row.measured)
