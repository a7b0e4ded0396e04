"""Speed of maximum likelihood for any channel as a ratio in one run: ``python -m tests.benchmarks.channel``.

The twelve settings of the paper's Figure 4, each taken as a full 500 by 500 matrix: plain IBU of eq. (4) until its
certificate is 1e-9, against the interior-point method to the same certificate. IBU is told beforehand how many
iterations that takes (counted with the O(K) iteration of k-RR, which gives the same estimates), and computes no
certificates. Where ``--most`` iterations are not enough it is timed for these, and the ratio is a lower bound. Exit
status 1 when a demanded ratio is not met.
"""

from __future__ import annotations

import argparse
import sys

from rr_core import Draw, ibu_channel, ibu_path
from rr_core.ibu import figure4
from rr_core.ibu.convergence import first_reached
from rr_core.protocols import Channel, mle
from tests.benchmarks.core import in_turns, machine, milliseconds, table

TOLERANCE, DEMANDED = 1e-9, 20


def iterations_of_ibu(draw: Draw, most: int) -> int | None:
    """Until the certificate is at most the tolerance; None when that is more than ``most``."""
    path = ibu_path(draw.counts, draw.mechanism, [most])
    return None if path.certificate[-1] > TOLERANCE else first_reached(path, TOLERANCE).certificate


def compare(draw: Draw, most: int, rounds: int) -> tuple[int | None, float, float]:
    """Iterations of IBU, its seconds, and those of the interior-point method (medians of the rounds)."""
    channel, needed = Channel.k_rr(draw.mechanism), iterations_of_ibu(draw, most)
    slow, fast = in_turns(
        lambda: ibu_channel(draw.counts, channel.matrix, needed or most),
        lambda: mle(draw.counts, channel, TOLERANCE),
        rounds,
    )
    # A speed is worth nothing without the result.
    assert mle(draw.counts, channel, TOLERANCE).gap <= TOLERANCE
    return needed, slow, fast


def main(most: int, rounds: int) -> int:
    print(machine(rounds) + "\n")
    rows, failed = [], 0
    for scenario in figure4.scenarios():
        needed, slow, fast = compare(scenario.draw(), most, rounds)
        failed += slow / fast < DEMANDED
        rows.append(
            (
                f"s = {scenario.s:g}, N = {scenario.n:,}, eps = {scenario.epsilon:g}",
                f"> {most:,}" if needed is None else f"{needed:,}",
                milliseconds(slow),
                milliseconds(fast),
                (">= " if needed is None else "") + f"{slow / fast:,.0f}",
                "yes" if slow / fast >= DEMANDED else "NO",
            )
        )
    header = ("Figure 4, K = 500", "IBU needs", "IBU, ms", "mle, ms", "ratio", f">= {DEMANDED}")
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
