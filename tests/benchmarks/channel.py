"""Speed of maximum likelihood for any channel as a ratio in one run: ``python -m tests.benchmarks.channel``.

The twelve settings of the paper's Figure 4, each taken as a full 500 by 500 matrix: plain IBU of eq. (4) until its
certificate is 1e-9, against the interior-point method to the same certificate. The iterations that IBU needs are counted
with the O(K) iteration of k-RR, which gives the same estimates; their price is measured on ``ITERATIONS`` of them with
the matrix, and certificates on the way are free. Where ``--most`` iterations are not enough the ratio is for these, and a
lower bound. Exit status 1 when a demanded ratio is not met.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from rr_core import Draw, ibu_channel
from rr_core.ibu import figure4
from rr_core.ibu.path import log_spaced
from rr_core.protocols import Channel, mle
from tests.benchmarks.core import in_turns, machine, milliseconds, table
from tests.benchmarks.figure4 import run

TOLERANCE, DEMANDED = 1e-9, 20
ITERATIONS = 1000


def iterations_of_ibu(most: int) -> list[int]:
    """For each setting the last recorded iteration (of 30 in each decade) whose certificate is above the tolerance."""
    path = run(figure4.scenarios(), log_spaced(most))
    return [int(path.iterations[np.flatnonzero(curve > TOLERANCE)[-1]]) for curve in path.certificate]


def compare(draw: Draw, rounds: int) -> tuple[float, float]:
    """Seconds of one iteration of IBU and of the interior-point method (medians of the rounds)."""
    channel = Channel.k_rr(draw.mechanism)
    slow, fast = in_turns(
        lambda: ibu_channel(draw.counts, channel.matrix, ITERATIONS),
        lambda: mle(draw.counts, channel, TOLERANCE),
        rounds,
    )
    # A speed is worth nothing without the result.
    assert mle(draw.counts, channel, TOLERANCE).gap <= TOLERANCE
    return slow / ITERATIONS, fast


def main(most: int, rounds: int) -> int:
    print(machine(rounds) + "\n")
    rows, failed = [], 0
    for scenario, needed in zip(figure4.scenarios(), iterations_of_ibu(most), strict=True):
        slow, fast = compare(scenario.draw(), rounds)
        ratio = needed * slow / fast
        failed += ratio < DEMANDED
        rows.append(
            (
                f"s = {scenario.s:g}, N = {scenario.n:,}, eps = {scenario.epsilon:g}",
                f"> {needed:,}",
                milliseconds(slow),
                milliseconds(fast),
                f"{ratio:,.0f}",
                "yes" if ratio >= DEMANDED else "NO",
            )
        )
    header = ("Figure 4, K = 500", "IBU needs", "each, ms", "mle, ms", "ratio", f">= {DEMANDED}")
    print(table(header, rows))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=1_000_000, help="most iterations of IBU (default 10⁶)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds per setting (default 5)")
    options = parser.parse_args()
    sys.exit(main(options.most, options.rounds))
