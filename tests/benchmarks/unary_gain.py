"""How much maximum likelihood gains over InvP under unary encoding: ``python -m tests.benchmarks.unary_gain``.

Writes `rr_core/data/unary_gain.csv`. As in Lopuhaä-Zwakenberg et al., section 5: for every replicate a distribution is
drawn from the Jeffreys prior, Dirichlet(1/2, ..., 1/2), and n users from it; both estimates are compared with the shares
of these users. ``ratio`` is the mean squared error (summed over categories) of the MLE over that of InvP (norm-sub),
``error`` its Monte-Carlo standard error, from the differences within replicates.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rr_core.protocols import UnaryEncoding, inv_p_unary, mle
from rr_core.protocols.unary_estimation import Gain

PATH = Path(__file__).parents[2] / "rr_core" / "data" / "unary_gain.csv"
CATEGORIES, EPSILONS, USERS_PER_CATEGORY = (10, 50), (0.5, 1.0, 2.0, 3.0, 4.0), (3, 10, 30, 100, 1000)
REPLICATES, FEWEST_REPLICATES = 1600, 400
# The largest cells, of more than so many reports times categories, take the fewest replicates.
_LARGE = 1_000_000
# Far below 1/n, the scale on which likelihoods tell estimates apart.
TOLERANCE = 1e-8


def squared_errors(protocol: UnaryEncoding, n: int, replicates: int, seed: int) -> np.ndarray:
    """(replicates, 2) squared errors of InvP and of the MLE."""
    rng, errors = np.random.default_rng(seed), np.empty((replicates, 2))
    for row in errors:
        values = rng.choice(protocol.k, n, p=rng.dirichlet(np.full(protocol.k, 0.5)))
        shares, bits = np.bincount(values, minlength=protocol.k) / n, protocol.randomize(values, rng)
        estimates = inv_p_unary(protocol.support(bits), protocol, n), mle(bits, protocol, TOLERANCE).theta
        row[:] = [((estimate - shares) ** 2).sum() for estimate in estimates]
    return errors


def cell(setting: tuple[bool, int, float, int]) -> Gain:
    optimized, k, epsilon, per_category = setting
    n = k * per_category
    replicates = FEWEST_REPLICATES if n * k > _LARGE else REPLICATES
    errors = squared_errors(UnaryEncoding(k, epsilon, optimized), n, replicates, 1)
    inv_p, maximum = errors.mean(axis=0)
    ratio = maximum / inv_p
    rest = errors[:, 1] - ratio * errors[:, 0]
    error = rest.std(ddof=1) / math.sqrt(replicates) / inv_p
    return Gain(
        "oue" if optimized else "sue",
        k,
        epsilon,
        n,
        replicates,
        float(f"{inv_p:.6g}"),
        float(f"{maximum:.6g}"),
        float(f"{ratio:.4f}"),
        float(f"{error:.4f}"),
    )


def gains(processes: int) -> Iterator[Gain]:
    settings = list(itertools.product((False, True), CATEGORIES, EPSILONS, USERS_PER_CATEGORY))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(cell, settings, chunksize=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count(), help="processes (default: all cores)"
    )
    rows = []
    for gain in gains(parser.parse_args().processes):
        print(gain, flush=True)
        rows.append(gain)
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Gain.__dataclass_fields__)
        writer.writerows([getattr(row, name) for name in Gain.__dataclass_fields__] for row in rows)
