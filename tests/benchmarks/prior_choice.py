"""How the posterior mean fares with a right prior and with a wrong one: ``python -m tests.benchmarks.prior_choice``.

Writes `rr_core/data/prior_errors.csv`: for every replicate a distribution is drawn from Dirichlet(a, ..., a), users from
it, and their reports; the estimates are compared with that distribution.
"""

from __future__ import annotations

import csv
import itertools
import math
import multiprocessing
from pathlib import Path

import numpy as np

from rr_core import RandomizedResponse, inv_n, inv_p, mle_star
from rr_core.protocols import posterior_mean

PATH = Path(__file__).parents[2] / "rr_core" / "data" / "prior_errors.csv"
K, EPSILON, N, REPLICATES = 12, 1.0, 2000, 1000
PRIORS, TRUTHS = (0.5, 1.0), (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0)
NAMES = ("inv_n", "inv_p", "mle_star", "posterior")


def squared_errors(truth: float, prior: float, replicates: int, seed: int) -> np.ndarray:
    """(replicates, 4) squared errors of InvN, InvP, MLE* and the posterior mean."""
    mechanism, rng = RandomizedResponse(K, EPSILON), np.random.default_rng(seed)
    errors = np.empty((replicates, len(NAMES)))
    for row in errors:
        theta = rng.dirichlet(np.full(K, truth))
        counts = rng.multinomial(N, mechanism.expected(theta))
        estimates = [estimate(counts, mechanism) for estimate in (inv_n, inv_p, mle_star)]
        estimates.append(posterior_mean(counts, mechanism, prior))
        row[:] = [((estimate - theta) ** 2).sum() for estimate in estimates]
    return errors


def row(setting: tuple[float, float]) -> dict[str, object]:
    prior, truth = setting
    errors = squared_errors(truth, prior, REPLICATES, 1)
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / math.sqrt(REPLICATES)
    about = {"k": K, "epsilon": EPSILON, "n": N, "prior": prior, "truth": truth, "replicates": REPLICATES}
    about |= {name: f"{value:.6g}" for name, value in zip(NAMES, mean, strict=True)}
    return about | {f"{name}_error": f"{value:.3g}" for name, value in zip(NAMES, spread, strict=True)}


def main() -> None:
    with multiprocessing.Pool() as pool:
        rows = pool.map(row, itertools.product(PRIORS, TRUTHS))
    with PATH.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for one in rows:
        print(one)


if __name__ == "__main__":
    main()
