"""Speed of the posterior: ``python -m tests.benchmarks.posterior``.

2,000 independent draws from N = 10⁵ reports of K = 1,000 categories (and two other sizes), and the exact mean. Exit
status 1 when the draws take longer than ``BOUND`` seconds.
"""

from __future__ import annotations

import sys

from rr_core import RandomizedResponse, Scenario
from rr_core.protocols import posterior, posterior_mean
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
        exact = "-"
        if n <= LARGEST_EXACT:
            exact = milliseconds(seconds(lambda c=counts, m=mechanism: posterior_mean(c, m), ROUNDS))
        slow |= drawing > BOUND
        rows.append((f"K = {k:,}, N = {n:,}, eps = {epsilon:g}", milliseconds(drawing), exact))
    header = (f"{DRAWS:,} draws", "draws, ms", "exact mean, ms")
    print(table(header, rows))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
