"""Maximum likelihood from the bits of unary encoding, at full size: ``python -m tests.benchmarks.unary``.

K = 1,000 categories and N = 434,195 reports at eps = 1, as many as in the taxi data of Lopuhaä-Zwakenberg et al.,
section 5, which left unary encoding out there because they sum over all 2^K reports. The truth is a smooth, decreasing
distribution. Time and peak memory are those of a process of its own, memory with the reports in it.

Then, at a smaller size, how many passes over the reports plain EM (IBU) takes to the same certificate, and the ratio of
the times. Where ``--most`` passes are not enough the ratio is for these, and a lower bound. Exit status 1 when a bound on
time, memory or the ratio is not met.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time

import numpy as np

from rr_core.protocols import UnaryEncoding, mle_unary, unary_estimation
from tests.benchmarks.core import machine, table

K, N, EPSILON, TOLERANCE = 1000, 434_195, 1.0, 1e-6
SECONDS, GIGABYTES, DEMANDED = 120.0, 3.0, 10
SMALLER = ((50, 20_000), (200, 20_000))


def truth(k: int) -> np.ndarray:
    weights = np.exp(-6 * np.arange(k) / k)
    return weights / weights.sum()


def reports(k: int, n: int, optimized: bool) -> tuple[UnaryEncoding, np.ndarray]:
    protocol, rng = UnaryEncoding(k, EPSILON, optimized), np.random.default_rng(1)
    return protocol, protocol.randomize(rng.choice(k, n, p=truth(k)), rng)


def full_size(optimized: bool) -> tuple[float, float, int, float, int]:
    """Seconds, peak memory in GB, steps, gap, and the number of categories with a positive share."""
    protocol, bits = reports(K, N, optimized)
    begin = time.perf_counter()
    found = mle_unary(bits, protocol, TOLERANCE)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return seconds, peak, found.iterations, found.gap, int((found.theta > 0).sum())


def against_em(k: int, n: int, optimized: bool, most: int) -> tuple[int, bool, float, float]:
    """Passes of EM, whether they reached the tolerance, and the seconds of both."""
    protocol, bits = reports(k, n, optimized)
    begin = time.perf_counter()
    gap = mle_unary(bits, protocol, TOLERANCE).gap
    fast = time.perf_counter() - begin
    assert gap <= TOLERANCE
    likelihood = unary_estimation._Likelihood.of(bits, protocol)
    theta, passes, reached = np.full(k, 1 / k), 0, False
    begin = time.perf_counter()
    while passes < most and not reached:
        factors = likelihood.evaluate(theta)[1]
        passes += 1
        reached = float(factors.max()) - 1 <= TOLERANCE
        theta = theta * factors
    return passes, reached, time.perf_counter() - begin, fast


def main(most: int) -> int:
    print(machine(1).split(";")[0] + "\n")
    failed, rows = 0, []
    # Spawned, not forked: the peak of a fork begins at that of its parent.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = pool.map(full_size, (False, True), chunksize=1)
    for name, (seconds, peak, steps, gap, positive) in zip(("SUE", "OUE"), measured, strict=True):
        met = seconds <= SECONDS and peak <= GIGABYTES and gap <= TOLERANCE
        failed += not met
        numbers = (f"{seconds:.1f}", f"{peak:.2f}", str(steps), f"{gap:.1e}", str(positive))
        rows.append((name, *numbers, "yes" if met else "NO"))
    header = (f"K = {K:,}, N = {N:,}, eps = {EPSILON:g}", "s", "peak GB", "steps", "gap", "shares > 0",
              f"<= {SECONDS:g} s, {GIGABYTES:g} GB")  # fmt: skip
    print(table(header, rows) + "\n")
    rows = []
    for k, n in SMALLER:
        for name, optimized in (("SUE", False), ("OUE", True)):
            passes, reached, slow, fast = against_em(k, n, optimized, most)
            failed += slow / fast < DEMANDED
            needed = f"{'' if reached else '> '}{passes:,}"
            numbers = (needed, f"{slow:.2f}", f"{fast:.3f}", f"{slow / fast:,.0f}")
            rows.append((f"{name}, K = {k}, N = {n:,}", *numbers, "yes" if slow / fast >= DEMANDED else "NO"))
    print(
        table(
            (f"to a gap of {TOLERANCE:g}", "passes of EM", "EM, s", "mle, s", "ratio", f">= {DEMANDED}"), rows
        )
    )
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=5000, help="most passes of EM (default 5000)")
    sys.exit(main(parser.parse_args().most))
