"""How often the test of epsilon rejects at 5%, as measured: its size at the true epsilon, its power elsewhere.

At the true epsilon the share should be 5%. A stated epsilon 20% below it should be rejected; one 20% above it
cannot be. Where nobody's categories stand out from the noise, or where there are no empty ones at all, the
test rejects less often than 5%, whatever epsilon is stated. A few rows are measured again by the tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rr_core._validate import Array
from rr_core.errors import Users
from rr_core.populations import uniform, zipf

LEVEL = 0.05


@dataclass(frozen=True)
class FitMeasured:
    """One number of the table.

    Attributes:
        k, n, epsilon, users: the setting; epsilon is the true one.
        population: key of POPULATIONS.
        stated: the tested epsilon as a multiple of the true one.
        rejected: share of the collections in which it was rejected, in percent.
        collections: how many were simulated.
    """

    k: int
    n: int
    epsilon: float
    users: Users
    population: str
    stated: float
    rejected: float
    collections: int


POPULATIONS = {
    "half": "half of the categories empty, the others equal",
    "point": "everybody in one category",
    "zipf": "Zipf, s = 2.5",
    "uniform": "uniform",
}


def shares(population: str, k: int) -> Array:
    """(k,) shares of one of POPULATIONS."""
    if population == "zipf":
        return zipf(k, 2.5)
    if population == "uniform":
        return uniform(k)
    theta = np.zeros(k)
    theta[: k // 2 if population == "half" else 1] = 1.0
    theta /= theta.sum()
    return theta


MEASURED: tuple[FitMeasured, ...] = (
    FitMeasured(20, 200, 3.0, "fixed", "half", 1.0, 4.9, 2000),
    FitMeasured(20, 200, 3.0, "fixed", "half", 0.8, 38.7, 300),
    FitMeasured(20, 200, 3.0, "fixed", "half", 1.2, 1.7, 300),
    FitMeasured(20, 2_000, 1.0, "sampled", "half", 1.0, 3.6, 2000),
    FitMeasured(20, 2_000, 1.0, "sampled", "half", 0.8, 8.0, 2000),
    FitMeasured(20, 2_000, 1.0, "sampled", "half", 1.2, 1.8, 2000),
    FitMeasured(20, 2_000, 1.0, "fixed", "point", 1.0, 5.5, 2000),
    FitMeasured(20, 2_000, 1.0, "fixed", "point", 0.8, 33.9, 2000),
    FitMeasured(20, 2_000, 1.0, "fixed", "point", 1.2, 1.2, 2000),
    FitMeasured(20, 100_000, 1.0, "fixed", "half", 1.0, 6.0, 2000),
    FitMeasured(20, 100_000, 1.0, "fixed", "half", 0.8, 100.0, 2000),
    FitMeasured(20, 100_000, 1.0, "fixed", "half", 1.2, 0.0, 300),
    FitMeasured(20, 100_000, 1.0, "sampled", "uniform", 1.0, 0.0, 2000),
    FitMeasured(20, 100_000, 1.0, "sampled", "uniform", 0.8, 0.0, 300),
    FitMeasured(20, 100_000, 1.0, "sampled", "uniform", 1.2, 0.0, 300),
    FitMeasured(20, 100_000, 1.0, "sampled", "zipf", 1.0, 2.2, 2000),
    FitMeasured(20, 100_000, 1.0, "sampled", "zipf", 0.8, 100.0, 300),
    FitMeasured(20, 100_000, 1.0, "sampled", "zipf", 1.2, 0.3, 300),
    FitMeasured(100, 5_000, 3.0, "sampled", "half", 1.0, 4.6, 2000),
    FitMeasured(100, 5_000, 3.0, "sampled", "half", 0.8, 67.0, 300),
    FitMeasured(100, 5_000, 3.0, "sampled", "half", 1.2, 0.0, 300),
    FitMeasured(100, 1_000_000, 1.0, "sampled", "point", 1.0, 4.4, 2000),
    FitMeasured(100, 1_000_000, 1.0, "sampled", "point", 0.8, 100.0, 300),
    FitMeasured(100, 1_000_000, 1.0, "sampled", "point", 1.2, 0.0, 300),
    FitMeasured(1000, 20_000, 3.0, "fixed", "zipf", 1.0, 3.8, 2000),
    FitMeasured(1000, 20_000, 3.0, "fixed", "zipf", 0.8, 45.3, 300),
    FitMeasured(1000, 20_000, 3.0, "fixed", "zipf", 1.2, 0.0, 300),
)
