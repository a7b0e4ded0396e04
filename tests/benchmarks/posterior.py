"""Speed of the posterior: ``python -m tests.benchmarks.posterior``.

2,000 independent draws and the same number of sweeps of the Gibbs sampler, from N = 10⁵ reports of K = 1,000 categories
(and two other sizes), each with the seconds that one effective draw costs; and the exact mean. Exit status 1 when the
draws take longer than ``BOUND`` seconds.
"""

from __future__ import annotations

import sys

import numpy as np

from rr_core import RandomizedResponse, Scenario
from rr_core.protocols import effective_sample_size, gibbs_chain, posterior, posterior_mean
from tests.benchmarks.core import machine, milliseconds, seconds, table

BOUND, DRAWS, ROUNDS = 3.0, 2000, 3
SETTINGS = [(1000, 100_000, 1.0), (1000, 20_000, 5.0), (20, 20_000, 1.0)]
LARGEST_EXACT = 20_000


def main() -> int:
    print(machine(ROUNDS) + "\n")
    rows, slow = [], False
    for k, n, epsilon in SETTINGS:
        counts, mechanism = (
            Scenario("zipf", k, 1.3, epsilon, n, 1).draw().counts,
            RandomizedResponse(k, epsilon),
        )
        drawing = seconds(lambda c=counts, m=mechanism: posterior(c, m, draws=DRAWS, rng=1), ROUNDS)
        sweeping = seconds(lambda c=counts, m=mechanism: gibbs_chain(c, m, draws=DRAWS, rng=1), 1)
        effective = [
            float(np.median(effective_sample_size(draw(counts, mechanism, draws=DRAWS, rng=1))))
            for draw in (posterior, gibbs_chain)
        ]
        exact = "-"
        if n <= LARGEST_EXACT:
            exact = milliseconds(seconds(lambda c=counts, m=mechanism: posterior_mean(c, m), ROUNDS))
        slow |= drawing > BOUND
        rows.append(
            (
                f"K = {k:,}, N = {n:,}, eps = {epsilon:g}",
                milliseconds(drawing),
                milliseconds(drawing / effective[0]),
                milliseconds(sweeping),
                milliseconds(sweeping / effective[1]),
                exact,
            )
        )
    header = (
        f"{DRAWS:,} draws",
        "draws, ms",
        "per effective",
        "Gibbs, ms",
        "per effective",
        "exact mean, ms",
    )
    print(table(header, rows))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
