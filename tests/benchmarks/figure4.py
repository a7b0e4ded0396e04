"""The table of ``rr_core/data/ibu_figure4.csv`` computed anew: ``python -m tests.benchmarks.figure4``.

Iterations of IBU to each squared distance from MLE*, for each of the twelve scenarios of Figure 4, over the
seeds; some minutes. ``--csv`` prints the rows as they stand in the file. Exit status 1 when a number differs
from the file's by more than one step of the record.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rr_core.ibu import figure4
from rr_core.ibu.engine import ibu_paths
from rr_core.ibu.figure4 import SEEDS, Measurement
from rr_core.ibu.path import IBUPath, log_spaced
from rr_core.scenario import Scenario
from tests.benchmarks.core import table

DISTANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
RECORDS_PER_DECADE = 200
LAST_ITERATION = 4_000_000  # by which every seed of every scenario is within the smallest distance


def run(scenarios: Sequence[Scenario], iterations: Iterable[int]) -> IBUPath:
    """IBU on the draws of these scenarios as one batch, one row each."""
    histograms = np.stack([scenario.draw().counts for scenario in scenarios])
    return ibu_paths(histograms, [scenario.mechanism for scenario in scenarios], iterations)


def first_indices_within(path: IBUPath, squared_distances: Iterable[float]) -> NDArray[np.intp]:
    """(rows, distances) index into ``path.iterations`` where ||theta_t - MLE*||^2 is first at most each
    distance; -1 where the record ends before that."""
    squared = path.squared_distance.reshape(len(path.mechanisms), -1)
    near = squared[:, None] <= np.array(list(squared_distances))[:, None]
    indices: NDArray[np.intp] = np.where(near.any(axis=-1), near.argmax(axis=-1), -1)
    return indices


def measure(
    scenario: Scenario, distances: Sequence[float] = DISTANCES, last: int = LAST_ITERATION
) -> list[Measurement]:
    """One scenario over all seeds, each distance; the run grows tenfold until every seed is there."""
    scenarios = [replace(scenario, seed=seed) for seed in SEEDS]
    length = min(figure4.ITERATIONS, last)
    while True:
        path = run(scenarios, log_spaced(length, RECORDS_PER_DECADE))
        found = first_indices_within(path, distances)
        if length == last or (found >= 0).all():
            break
        length = min(10 * length, last)
    rows = []
    for distance, indices in zip(distances, found.T, strict=True):
        reached = np.where(indices >= 0, path.iterations[indices], np.inf)
        certificate = path.certificate[np.arange(len(indices)), indices]
        rows.append(
            Measurement(
                scenario.s,
                scenario.n,
                scenario.epsilon,
                distance,
                float(np.median(reached)),
                float(reached.min()),
                float(reached.max()),
                float(np.median(certificate[indices >= 0])),
            )
        )
    return rows


def agree(new: Measurement, stored: Measurement) -> bool:
    """Equal up to one step of the record."""
    step = 10 ** (1 / RECORDS_PER_DECADE) * 1.001
    pairs = [(getattr(new, name), getattr(stored, name)) for name in ("median", "fewest", "most")]
    return all(a == b or (a / step <= b <= a * step) for a, b in pairs)


def main(as_csv: bool) -> int:
    rows, different = [], 0
    for scenario in figure4.scenarios():
        for row in measure(scenario):
            if as_csv:
                print(
                    *(f"{row.s:g}", row.n, f"{row.epsilon:g}", f"{row.squared_distance:g}"),
                    *(f"{iterations:.0f}" for iterations in (row.median, row.fewest, row.most)),
                    f"{row.certificate:.2g}",
                    sep=",",
                    flush=True,
                )
                continue
            same = agree(row, figure4.measurement(row.s, row.n, row.epsilon, row.squared_distance))
            different += not same
            rows.append(
                (
                    f"s = {row.s:g}, n = {row.n:,}, ε = {row.epsilon:g}",
                    f"{row.squared_distance:g}",
                    f"{row.median:,.0f}",
                    f"{row.fewest:,.0f}",
                    f"{row.most:,.0f}",
                    f"{row.certificate:.2g}",
                    "yes" if same else "NO",
                )
            )
    if not as_csv:
        header = ("Setting", "distance²", "median", "fewest", "most", "certificate", "as stored")
        print(f"Iterations of IBU, over {len(SEEDS)} seeds\n\n" + table(header, rows))
    return 1 if different else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", action="store_true", help="print the rows of the file")
    sys.exit(main(parser.parse_args().csv))
