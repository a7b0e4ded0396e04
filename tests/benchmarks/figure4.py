"""The table of `rr_core.iteration.figure4_measured` computed anew: ``python -m tests.benchmarks.figure4``.

Iterations of IBU to each squared distance from MLE*, for each of the twelve settings of Figure 4, over the
seeds; some minutes. ``--constants`` prints the rows as they stand in the module. Exit status 1 when
a number differs from the module's by more than one step of the record.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rr_core.iteration import figure4
from rr_core.iteration.figure4_measured import DISTANCES, LAST, MEASURED, PER_DECADE, SEEDS, Measured
from rr_core.iteration.record import log_spaced
from rr_core.scenario import Scenario
from tests.benchmarks.core import table


def measure(setting: Scenario, distances: Sequence[float] = DISTANCES, last: int = LAST) -> list[Measured]:
    """One setting over all seeds, each distance; the run grows tenfold until every seed is there."""
    scenarios = [replace(setting, seed=seed) for seed in SEEDS]
    length = min(figure4.ITERATIONS, last)
    while True:
        path = figure4.run_scenarios(scenarios, log_spaced(length, PER_DECADE))
        found = figure4.indices_at(path, distances)
        if length == last or (found >= 0).all():
            break
        length = min(10 * length, last)
    rows = []
    for distance, indices in zip(distances, found.T, strict=True):
        reached = np.where(indices >= 0, path.iterations[indices], np.inf)
        certificate = path.certificate[np.arange(len(indices)), indices]
        rows.append(
            Measured(
                setting.s,
                setting.n,
                setting.epsilon,
                distance,
                float(np.median(reached)),
                float(reached.min()),
                float(reached.max()),
                float(np.median(certificate[indices >= 0])),
            )
        )
    return rows


def agree(new: Measured, stored: Measured) -> bool:
    """Equal up to one step of the record."""
    step = 10 ** (1 / PER_DECADE) * 1.001
    pairs = [(getattr(new, name), getattr(stored, name)) for name in ("median", "fewest", "most")]
    return all(a == b or (a / step <= b <= a * step) for a, b in pairs)


def main(constants: bool) -> int:
    stored = {(row.s, row.n, row.epsilon, row.distance): row for row in MEASURED}
    rows, different = [], 0
    for setting in figure4.settings():
        for row in measure(setting):
            if constants:
                print(
                    f"    Measured({row.s:g}, {row.n}, {row.epsilon}, {row.distance:g}, {row.median:.0f}, "
                    f"{row.fewest:.0f}, {row.most:.0f}, {row.certificate:.2g}),",
                    flush=True,
                )
                continue
            same = agree(row, stored[row.s, row.n, row.epsilon, row.distance])
            different += not same
            rows.append(
                (
                    f"s = {row.s:g}, n = {row.n:,}, ε = {row.epsilon:g}",
                    f"{row.distance:g}",
                    f"{row.median:,.0f}",
                    f"{row.fewest:,.0f}",
                    f"{row.most:,.0f}",
                    f"{row.certificate:.2g}",
                    "yes" if same else "NO",
                )
            )
    if not constants:
        header = ("Setting", "distance²", "median", "fewest", "most", "certificate", "as stored")
        print(f"Iterations of IBU, over {len(SEEDS)} seeds\n\n" + table(header, rows))
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--constants", action="store_true", help="print the rows of the module")
    sys.exit(main(parser.parse_args().constants))
