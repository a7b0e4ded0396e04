"""Figures 2 to 5 of Lopuhaä-Zwakenberg et al. measured: ``python -m tests.benchmarks.lopuhaa_figures ages.csv``.

Writes `rr_core/data/lopuhaa_figures.csv`, see `rr_core.experiments.protocols`. The paper has 100 collections for each
point; here there are 400 where they are cheap. The ages of Figure 4 are those of the UCI Adult data set,
counted in a CSV file with the columns category and count that the project does not hold: only the errors are kept.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from rr_core.experiments.protocols import AGE, FIGURES, Setting, as_row, columns, measure

PATH = Path(__file__).parents[2] / "rr_core" / "data" / "lopuhaa_figures.csv"
# Bits of one collection by unary encoding, and how many collections there are up to so many bits.
COLLECTIONS = ((300_000, 400), (10_000_000, 100))


def collections_of(setting: Setting) -> int:
    bits = 0 if setting.protocol == "k_rr" else setting.n * setting.k
    return next(number for most, number in COLLECTIONS if bits <= most)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ages", type=Path, help="CSV file with a row for each age and a column count")
    with parser.parse_args().ages.open(newline="") as file:
        ages = np.array([int(row["count"]) for row in csv.DictReader(file)])
    begin, rows = time.monotonic(), []
    for key, settings in FIGURES.items():
        for setting in settings:
            people = ages if setting.population == AGE else None
            rows += measure(setting, collections_of(setting), people=people)
        print(f"Figure {key}: {time.monotonic() - begin:.0f} s", flush=True)
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns())
        for errors in rows:
            writer.writerow(
                [f"{value:.9g}" if isinstance(value, float) else value for value in as_row(errors)]
            )
