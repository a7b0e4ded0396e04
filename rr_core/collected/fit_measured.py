"""How often the test of epsilon rejects at 5%, as measured: its size at the true epsilon, its power elsewhere.

At the true epsilon the share should be 5%, or less. A stated epsilon 20% below it should be rejected; one 20% above it
cannot be. Where hardly any category stands out from the noise, or where all of them do, the test rejects less often
than 5%, whatever epsilon is stated. 199 simulated collections for each test; a few rows are measured again by the tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rr_core._validate import Array
from rr_core.errors import Users
from rr_core.populations import uniform, zipf

LEVEL = 0.05
SIZE_COLLECTIONS = 2000


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
    FitMeasured(20, 200, 3.0, "fixed", "half", 1.0, 4.5, 2000),
    FitMeasured(20, 200, 3.0, "fixed", "half", 0.8, 33.4, 500),
    FitMeasured(20, 200, 3.0, "fixed", "half", 1.2, 1.8, 500),
    FitMeasured(20, 2_000, 1.0, "sampled", "half", 1.0, 3.5, 2000),
    FitMeasured(20, 2_000, 1.0, "sampled", "half", 0.8, 6.8, 500),
    FitMeasured(20, 2_000, 1.0, "sampled", "half", 1.2, 2.2, 500),
    FitMeasured(20, 2_000, 1.0, "fixed", "point", 1.0, 4.8, 2000),
    FitMeasured(20, 2_000, 1.0, "fixed", "point", 0.8, 33.4, 500),
    FitMeasured(20, 2_000, 1.0, "fixed", "point", 1.2, 1.4, 500),
    FitMeasured(20, 100_000, 1.0, "fixed", "half", 1.0, 5.2, 2000),
    FitMeasured(20, 100_000, 1.0, "fixed", "half", 0.8, 100.0, 500),
    FitMeasured(20, 100_000, 1.0, "fixed", "half", 1.2, 0.2, 500),
    FitMeasured(20, 100_000, 1.0, "sampled", "uniform", 1.0, 0.0, 2000),
    FitMeasured(20, 100_000, 1.0, "sampled", "uniform", 0.8, 0.0, 500),
    FitMeasured(20, 100_000, 1.0, "sampled", "uniform", 1.2, 0.0, 500),
    FitMeasured(20, 100_000, 1.0, "sampled", "zipf", 1.0, 2.9, 2000),
    FitMeasured(20, 100_000, 1.0, "sampled", "zipf", 0.8, 100.0, 500),
    FitMeasured(20, 100_000, 1.0, "sampled", "zipf", 1.2, 0.0, 500),
    FitMeasured(100, 5_000, 3.0, "sampled", "half", 1.0, 3.7, 2000),
    FitMeasured(100, 5_000, 3.0, "sampled", "half", 0.8, 66.2, 500),
    FitMeasured(100, 5_000, 3.0, "sampled", "half", 1.2, 0.0, 500),
    FitMeasured(100, 1_000_000, 1.0, "sampled", "point", 1.0, 5.6, 2000),
    FitMeasured(100, 1_000_000, 1.0, "sampled", "point", 0.8, 100.0, 500),
    FitMeasured(100, 1_000_000, 1.0, "sampled", "point", 1.2, 0.0, 500),
    FitMeasured(200, 400, 2.0, "fixed", "point", 1.0, 4.8, 2000),
    FitMeasured(200, 400, 2.0, "fixed", "point", 0.8, 8.4, 500),
    FitMeasured(200, 400, 2.0, "fixed", "point", 1.2, 2.6, 500),
    FitMeasured(1000, 1_000, 3.0, "fixed", "point", 1.0, 4.5, 2000),
    FitMeasured(1000, 1_000, 3.0, "fixed", "point", 0.8, 13.4, 500),
    FitMeasured(1000, 1_000, 3.0, "fixed", "point", 1.2, 0.8, 500),
    FitMeasured(1000, 5_000, 3.0, "sampled", "point", 1.0, 5.3, 2000),
    FitMeasured(1000, 5_000, 3.0, "sampled", "point", 0.8, 18.0, 500),
    FitMeasured(1000, 5_000, 3.0, "sampled", "point", 1.2, 0.0, 500),
    FitMeasured(1000, 5_000, 3.0, "fixed", "half", 1.0, 2.1, 2000),
    FitMeasured(1000, 5_000, 3.0, "fixed", "half", 0.8, 2.2, 500),
    FitMeasured(1000, 5_000, 3.0, "fixed", "half", 1.2, 0.0, 500),
    FitMeasured(1000, 20_000, 3.0, "fixed", "zipf", 1.0, 3.7, 2000),
    FitMeasured(1000, 20_000, 3.0, "fixed", "zipf", 0.8, 55.6, 500),
    FitMeasured(1000, 20_000, 3.0, "fixed", "zipf", 1.2, 0.4, 500),
)
