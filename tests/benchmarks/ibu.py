"""Speed of IBU as ratios in one run: ``python -m tests.benchmarks.ibu``.

The twelve curves of the paper's Figure 4 in one batch, against twelve runs of the supplement's listing; and
one curve at K = 1,423,000 against one at K = 1,000. Both sides include everything from the counts to a
record of about 120 iterations. Exit status 1 when a demanded ratio is not met.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np

from rr_core import ibu_path
from rr_core.ibu import figure4
from rr_core.ibu.path import IBUPath, log_spaced
from tests.benchmarks.core import INDUSTRIAL, Ratio, judge, machine
from tests.benchmarks.figure4 import run
from tests.core import listing

ITERATIONS = 10_000


def twelve() -> Ratio:
    draws = [scenario.draw() for scenario in figure4.scenarios()]

    def by_batch() -> IBUPath:
        return run(figure4.scenarios(), log_spaced(figure4.ITERATIONS))

    def by_listing() -> list[np.ndarray]:
        return [listing.ibu(d.counts / d.counts.sum(), d.mechanism.p, figure4.ITERATIONS) for d in draws]

    # A speed is worth nothing without the result.
    for ours, theirs in zip(by_batch().estimate(-1), by_listing(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-10)
    what = f"Figure 4, {len(draws)} curves × {figure4.ITERATIONS:,}: the listing / one batch"
    return Ratio(what, by_listing, by_batch, 5, True)


def large_and_small() -> Ratio:
    draws = [INDUSTRIAL.draw(), replace(INDUSTRIAL, k=1000).draw()]

    def curve(index: int) -> IBUPath:
        return ibu_path(draws[index].counts, draws[index].mechanism, log_spaced(ITERATIONS))

    what = f"one curve × {ITERATIONS:,}: K = {draws[0].scenario.k:,} / K = {draws[1].scenario.k:,}"
    return Ratio(what, lambda: curve(0), lambda: curve(1), 2, False)


def main(rounds: int) -> int:
    print(machine(rounds) + "\n")
    return 1 if judge([twelve(), large_and_small()], rounds) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds per ratio (default 5)")
    sys.exit(main(parser.parse_args().rounds))
