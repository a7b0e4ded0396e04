"""Speed of maximum likelihood for any channel as a ratio in one run: ``python -m tests.benchmarks.channel``.

The twelve settings of the paper's Figure 4, each taken as a full 500 by 500 matrix: plain IBU of eq. (4) until its
certificate is 1e-9, against the interior-point method to the same certificate. IBU is given the number of iterations
that it needs, which is counted beforehand with the O(K) iteration of k-RR, and computes no certificates on the way.
Where it needs more than ``--most`` iterations, it is given that many, so that the ratio is too small rather than too
large. Exit status 1 when a demanded ratio is not met.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from rr_core import Scenario, ibu_channel, ibu_path
from rr_core.ibu import figure4
from rr_core.ibu.convergence import first_reached
from rr_core.protocols import Channel, mle, optimality_gap_channel
from tests.benchmarks.core import machine, milliseconds, seconds, table

TOLERANCE, DEMANDED = 1e-9, 20
LAST_ITERATION = 4_000_000


def iterations_of_ibu(scenario: Scenario) -> int:
    """Until the certificate is at most the tolerance, by the O(K) iteration, which gives the same estimates."""
    draw = scenario.draw()
    found = first_reached(ibu_path(draw.counts, draw.mechanism, [LAST_ITERATION]), TOLERANCE).certificate
    return LAST_ITERATION if found is None else found


def compare(scenario: Scenario, most: int, rounds: int) -> tuple[int, float, float]:
    """Iterations of IBU, its seconds, and those of the interior-point method (medians of the rounds)."""
    draw = scenario.draw()
    channel, needed = Channel.k_rr(draw.mechanism), iterations_of_ibu(scenario)
    done = min(needed, most)
    times = np.array(
        [
            (
                seconds(lambda: ibu_channel(draw.counts, channel.matrix, done)),
                seconds(lambda: mle(draw.counts, channel, TOLERANCE), 3),
            )
            for _ in range(rounds)
        ]
    )
    # A speed is worth nothing without the result.
    assert mle(draw.counts, channel, TOLERANCE).gap <= TOLERANCE
    if done == needed:
        theta = ibu_channel(draw.counts, channel.matrix, done)
        assert optimality_gap_channel(draw.counts, theta, channel) <= TOLERANCE * (1 + 1e-4)
    slow, fast = np.median(times, axis=0)
    return needed, float(slow), float(fast)


def main(most: int, rounds: int) -> int:
    print(machine(rounds) + "\n")
    rows, failed = [], 0
    for scenario in figure4.scenarios():
        needed, slow, fast = compare(scenario, most, rounds)
        failed += slow / fast < DEMANDED
        rows.append(
            (
                f"s = {scenario.s:g}, N = {scenario.n:,}, eps = {scenario.epsilon:g}",
                f"{needed:,}" + (" or more" if needed == LAST_ITERATION else ""),
                f"{min(needed, most):,}",
                milliseconds(slow),
                milliseconds(fast),
                f"{slow / fast:,.0f}",
                "yes" if slow / fast >= DEMANDED else "NO",
            )
        )
    header = ("Figure 4, K = 500", "IBU needs", "IBU timed", "IBU, ms", "mle, ms", "ratio", f">= {DEMANDED}")
    print(table(header, rows))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=100_000, help="iterations of IBU timed (default 100,000)")
    parser.add_argument("--rounds", type=int, default=1, help="rounds per setting (default 1)")
    options = parser.parse_args()
    sys.exit(main(options.most, options.rounds))
