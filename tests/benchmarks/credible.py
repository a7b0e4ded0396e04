"""In how many collections do 95% credible intervals hold the truth? Makes rr_core/data/reports_credible_coverage.csv;
some minutes.

The settings are those of rr_core/data/reports_interval_coverage.csv: one population each, not one drawn from the prior.
``percent`` is of the pairs of a collection and a category of that kind, ``se`` its standard error between collections,
``lowest`` the smallest percentage of any one category of that kind.

    python -m tests.benchmarks.credible
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from rr_core import RandomizedResponse, zipf
from rr_core.metrics import Users
from rr_core.protocols import posterior
from rr_core.reports.measured import CATEGORIES, COVERAGE
from tests.core.test_reports_intervals import category_kinds, falling_shares

PRIORS, DRAWS, SEED = (0.5, 1.0), 500, 1
COLUMNS = "population,k,n,epsilon,users,prior,categories,percent,se,lowest,collections"
FILE = Path(__file__).parents[2] / "rr_core" / "data" / "reports_credible_coverage.csv"
Setting = tuple[str, int, int, float, Users]


def settings() -> tuple[Setting, ...]:
    """Each setting once, in the order of the file of the other intervals."""
    return tuple(dict.fromkeys(row.setting for row in COVERAGE))


def collections_of(k: int) -> int:
    """Number of collections: fewer where each has more categories and takes longer."""
    return 400 if k <= 10 else 60 if k <= 100 else 16


def shares_of(setting: Setting) -> np.ndarray:
    """(k,) shares of the population, by which its categories are empty, small or large."""
    population, k, *_ = setting
    return falling_shares(k) if population == "falling" else zipf(k, float(population.split()[1]))


def truth_of(setting: Setting) -> np.ndarray:
    """(k,) distribution that the users are drawn from, or the shares of fixed users."""
    *_, n, _, users = setting
    shares = shares_of(setting)
    if users == "sampled":
        return shares
    counts = np.floor(shares * n)
    counts[0] += n - counts.sum()
    return counts / n


def held(setting: Setting, prior: float, collections: int, seed: int) -> np.ndarray:
    """(collections, k) whether the interval of a category holds its truth."""
    _, k, n, epsilon, users = setting
    mechanism, truth = RandomizedResponse(k, epsilon), truth_of(setting)
    rng = np.random.default_rng([seed, k, n, round(epsilon * 100), users == "fixed", round(prior * 10)])
    fixed = np.rint(truth * n).astype(np.int64)
    inside = np.empty((collections, k), dtype=bool)
    for row in inside:
        counts = fixed if users == "fixed" else rng.multinomial(n, truth)
        reports = mechanism.randomize_histogram(counts, rng)
        drawn = posterior(reports, mechanism, prior, DRAWS, rng, users=users)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        row[:] = (low <= truth) & (truth <= high)
    return inside


def main() -> None:
    with FILE.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS.split(","))
        for setting in settings():
            _, k, n, epsilon, _ = setting
            kinds = category_kinds(shares_of(setting), n, RandomizedResponse(k, epsilon))
            for prior in PRIORS:
                inside = held(setting, prior, collections_of(k), SEED)
                for number, kind in enumerate(CATEGORIES[:3]):
                    some = inside[:, kinds == number]
                    if not some.size:
                        continue
                    each = 100 * some.mean(axis=1)
                    error = each.std(ddof=1) / np.sqrt(len(each))
                    lowest = 100 * some.mean(axis=0).min()
                    numbers = (f"{each.mean():.1f}", f"{error:.1g}", f"{lowest:.1f}", len(some))
                    rows.writerow([*setting, f"{prior:g}", kind, *numbers])
                file.flush()
                print(setting, prior, file=sys.stderr)


if __name__ == "__main__":
    main()
