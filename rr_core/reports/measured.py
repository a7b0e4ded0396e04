"""How often the intervals of Inv hold the truth, and how often the test of epsilon rejects, as measured.

Both tables are CSV files in `rr_core.data`; the tests measure parts of them again.

COVERAGE: percent of 2,000 simulated collections in which the intervals of 95% held the truth, one row per setting and
kind of category. A share is small when it is below 3 standard deviations of Inv for an empty category, large otherwise.
Cut to [0, 1], the intervals hold a share of zero more often, and the others just as often.

REJECTIONS: percent of collections in which the test of epsilon (199 simulated collections for each test) had a p-value
of 5% or less, one row per setting and stated epsilon. At the true epsilon it should be 5%, or less (the size of the
test); at a stated epsilon 20% below, much more (its power); one 20% above cannot be found. Where hardly any category
stands out from the noise, or where all of them do, the test rejects less often than 5%, whatever epsilon is stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rr_core.data import read_csv
from rr_core.metrics import Users

CATEGORIES = ("empty", "small", "large", "all")
NOMINAL_COVERAGE = 95.0  # percent
COVERAGE_COLLECTIONS = 2000
SIZE_COLLECTIONS = 2000  # at the true epsilon


@dataclass(frozen=True)
class Measured:
    """One number of a table.

    Attributes:
        k, n, epsilon, users: the setting; epsilon is the true one.
        population: of COVERAGE "falling" (1/rank in the first half, else empty), "zipf 1.3" or "zipf 2.5" (Zipf with that
            exponent); of REJECTIONS "half" of the categories equal and the others empty, all users at one "point", "zipf"
            with s = 2.5, or "uniform".
        percent: of the ``collections`` that were simulated, in which the intervals held the truth (NOMINAL_COVERAGE is
            intended), or the epsilon was rejected.
        categories: of COVERAGE "empty", "small" or "large" shares, each on its own; or "all" of them at once.
        stated: of REJECTIONS the tested epsilon as a multiple of the true one.
    """

    k: int
    n: int
    epsilon: float
    users: Users
    population: str
    percent: float
    categories: str = ""
    stated: float = 1.0
    collections: int = COVERAGE_COLLECTIONS

    @property
    def setting(self) -> tuple[str, int, int, float, Users]:
        """All but what was measured."""
        return self.population, self.k, self.n, self.epsilon, self.users


def credible_coverage_of_large(prior: float) -> tuple[float, float]:
    """The lowest and the highest percentage, over the settings of COVERAGE, of large shares that 95% credible intervals
    held under a Dirichlet prior of 0.5 or 1 (tests/benchmarks/credible.py)."""
    rows = read_csv("reports_credible_coverage.csv")
    percents = [
        float(row["percent"]) for row in rows if row["categories"] == "large" and float(row["prior"]) == prior
    ]
    return min(percents), max(percents)


_KINDS = {"k": int, "n": int, "collections": int, "epsilon": float, "stated": float, "percent": float}


def _table(file: str) -> tuple[Measured, ...]:
    rows: list[dict[str, Any]] = [
        {name: _KINDS.get(name, str)(text) for name, text in row.items()} for row in read_csv(file)
    ]
    return tuple(Measured(**row) for row in rows)


COVERAGE = _table("reports_interval_coverage.csv")
REJECTIONS = _table("reports_fit_test.csv")
