"""Speed of rr_core as ratios in one run: ``python -m tests.benchmarks.core``.

At K = 1,423,000, N = 1,664,500, eps = 8, Zipf 1.3, and where a row says so at the sizes of the paper's Figure 4, of a
cell of its main grid, and of unary encoding. The two sides of a ratio are timed in turns, so that a slow minute of the
machine hits both, and the medians over the rounds are compared. Exit status 1 when a demanded ratio is not met. Peers:
``pip install -r tests/benchmarks/requirements.txt``.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from rr_core import RandomizedResponse, Scenario, ibu, ibu_channel, ibu_path, inv_p, mle_star
from rr_core.experiments.cell import cell_collector
from rr_core.experiments.grid import MAIN_GRID, MAIN_SETTINGS, Sweep
from rr_core.experiments.run import run
from rr_core.ibu import figure4
from rr_core.ibu.engine import ibu_paths
from rr_core.ibu.path import log_spaced
from rr_core.protocols import Channel, UnaryEncoding, mle, mle_unary, unary_estimation
from tests.benchmarks import peers
from tests.core import listing

ITERATIONS = 20_000
INDUSTRIAL = Scenario("zipf", 1_423_000, 1.3, 8.0, 1_664_500, 1)
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Ratio:
    """``slow`` / ``fast``, demanded to be at least (or at most) ``bound``; each a call and how much of its
    time counts as one piece of work."""

    what: str
    slow: Callable[[], object]
    fast: Callable[[], object]
    bound: float
    at_least: bool
    fast_share: float = 1.0

    def met(self, ratio: float) -> bool:
        return ratio >= self.bound if self.at_least else ratio <= self.bound


def seconds(call: Callable[[], object], repeats: int = 1) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def in_turns(slow: Callable[[], object], fast: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median seconds of each. A call of under 50 ms is repeated within its turn."""
    repeats = [max(1, min(21, round(0.05 / max(seconds(call), 1e-6)))) for call in (slow, fast)]
    turns = [(seconds(slow, repeats[0]), seconds(fast, repeats[1])) for _ in range(rounds)]
    return statistics.median(t[0] for t in turns), statistics.median(t[1] for t in turns)


def demanded(counts: np.ndarray, mechanism: RandomizedResponse) -> list[Ratio]:
    phi = counts / counts.sum()
    theta = ibu(counts, mechanism, 3)
    million, billion = (Scenario("zipf", 1000, 1.3, 1.0, n, 1).draw() for n in (10**6, 10**9))
    rng = np.random.default_rng(0)
    return [
        Ratio(
            "MLE* from counts: the supplement's listing / ours",
            lambda: listing.mle(phi, mechanism.p),
            lambda: mle_star(counts, mechanism),
            100,
            True,
        ),
        Ratio("MLE* from counts / copying φ", lambda: mle_star(counts, mechanism), phi.copy, 15, False),
        Ratio("InvP from counts / copying φ", lambda: inv_p(counts, mechanism), phi.copy, 15, False),
        Ratio(
            f"one IBU iteration: the listing's O(K) / ours (of {ITERATIONS:,})",
            lambda: listing.ibu_step(phi, mechanism.p, theta),
            lambda: ibu(counts, mechanism, ITERATIONS),
            500,
            True,
            1 / ITERATIONS,
        ),
        Ratio(
            "noise of 10⁹ users / of 10⁶ users, K = 1,000",
            lambda: billion.mechanism.randomize_histogram(billion.true_counts, rng),
            lambda: million.mechanism.randomize_histogram(million.true_counts, rng),
            3,
            False,
        ),
        Ratio(
            "whole draw of 10⁹ users / of 10⁶ users, K = 1,000",
            billion.scenario.draw,
            million.scenario.draw,
            3,
            False,
        ),
    ]


def of_figure4(counts: np.ndarray, mechanism: RandomizedResponse) -> list[Ratio]:
    """IBU along its way, in one batch and at a large K; and maximum likelihood for any channel, to the certificate for
    which plain IBU of eq. (4) takes so many iterations."""
    draws = [scenario.draw() for scenario in figure4.scenarios()]
    histograms, mechanisms = np.stack([draw.counts for draw in draws]), [draw.mechanism for draw in draws]
    small = replace(INDUSTRIAL, k=1000).draw()
    marks, curve = log_spaced(figure4.ITERATIONS), log_spaced(10_000)
    first = draws[0]
    channel, least = Channel.k_rr(first.mechanism), 1000
    path = ibu_path(first.counts, first.mechanism, log_spaced(1_000_000))  # the same estimates, in O(K)
    needed = int(path.iterations[np.flatnonzero(path.certificate > TOLERANCE)[-1]])
    return [
        Ratio(
            f"Figure 4, {len(draws)} curves × {figure4.ITERATIONS:,}: the listing / one batch",
            lambda: [
                listing.ibu(draw.counts / draw.counts.sum(), draw.mechanism.p, figure4.ITERATIONS)
                for draw in draws
            ],
            lambda: ibu_paths(histograms, mechanisms, marks),
            5,
            True,
        ),
        Ratio(
            "a curve of IBU × 10,000: K = 1,423,000 / K = 1,000",
            lambda: ibu_path(counts, mechanism, curve),
            lambda: ibu_path(small.counts, small.mechanism, curve),
            2,
            False,
        ),
        Ratio(
            f"Figure 4, a 500 × 500 channel: {needed:,} iterations of IBU or more / mle",
            lambda: ibu_channel(first.counts, channel.matrix, least),
            lambda: mle(first.counts, channel, TOLERANCE),
            20,
            True,
            least / needed,
        ),
    ]


def of_simulations() -> list[Ratio]:
    """Maximum likelihood from the bits of unary encoding, and a cell of the paper's main grid."""
    protocol, rng = UnaryEncoding(200, 1.0), np.random.default_rng(1)
    weights, timed, passes = np.exp(-6 * np.arange(200) / 200), 200, 5000
    bits = protocol.randomize(rng.choice(200, 20_000, p=weights / weights.sum()), rng)

    def em() -> None:
        """Some of the passes: all 5,000 would not reach the certificate that the other side does."""
        likelihood, theta = unary_estimation._Likelihood.of(bits, protocol), np.full(200, 1 / 200)
        for _ in range(timed):
            factors = likelihood.evaluate(theta)[1]
            theta = theta * factors
        assert factors.max() - 1 > 1e-6

    cell = next(one for one in MAIN_GRID if (one.k, one.n) == (1000, 1_000_000))
    users = np.repeat(np.arange(cell.k), cell_collector(cell, MAIN_SETTINGS, {}).true_counts).tolist()

    def one_by_one() -> None:
        """One collection of a cell: a loop over the users, and the listing."""
        keep, uniform = cell.mechanism.keep, random.random
        reports = [user if uniform() < keep else int(uniform() * cell.k) for user in users]
        listing.mle(np.bincount(reports, minlength=cell.k) / cell.n, cell.mechanism.p)

    return [
        Ratio(
            f"bits of 20,000 users, K = 200: {passes:,} passes of EM or more / mle_unary",
            em,
            lambda: mle_unary(bits, protocol, 1e-6),
            10,
            True,
            timed / passes,
        ),
        Ratio(
            "a collection of K = 1,000, N = 1,000,000: users one by one and the listing / in a sweep",
            one_by_one,
            lambda: run(Sweep((cell,), MAIN_SETTINGS)),
            100,
            True,
            1 / MAIN_SETTINGS.seeds,
        ),
    ]


def milliseconds(value: float) -> str:
    return f"{value * 1e3:,.4f}" if value < 1e-4 else f"{value * 1e3:,.2f}"


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *rows]
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def machine(rounds: int) -> str:
    return (
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"{platform.machine()}, {os.cpu_count()} cores; medians of {rounds} rounds in turns."
    )


def judge(ratios: Iterable[Ratio], rounds: int) -> int:
    """Measure and print the ratios; how many are not met."""
    rows, failed = [], 0
    for ratio in ratios:
        slow, fast = in_turns(ratio.slow, ratio.fast, rounds)
        fast *= ratio.fast_share
        met = ratio.met(slow / fast)
        failed += not met
        wanted = f"{'>=' if ratio.at_least else '<='} {ratio.bound:g}"
        rows.append(
            (
                ratio.what,
                wanted,
                f"{slow / fast:,.3g}" if slow / fast < 1000 else f"{slow / fast:,.0f}",
                "yes" if met else "NO",
                milliseconds(slow),
                milliseconds(fast),
            )
        )
    print(table(("Demanded ratio", "bound", "measured", "met", "first, ms", "second, ms"), rows))
    return failed


def main(rounds: int) -> int:
    print(machine(rounds))
    draw = INDUSTRIAL.draw()
    counts, mechanism = draw.counts, draw.mechanism
    print(
        f"K = {mechanism.k:,}, N = {counts.sum():,}, eps = {mechanism.epsilon:g}, Zipf {INDUSTRIAL.s:g}: "
        f"{np.unique(counts).size} distinct counts.\n"
    )
    every = [*demanded(counts, mechanism), *of_figure4(counts, mechanism), *of_simulations()]
    failed = judge(every, rounds)

    rows, missing = [], []
    for peer in peers.available(counts, mechanism):
        if isinstance(peer, str):
            missing.append(peer)
            continue
        theirs, ours = in_turns(peer.theirs, peer.ours, rounds)
        difference = peers.disagreement(peer)
        rows.append(
            (
                peer.work,
                peer.package,
                milliseconds(theirs),
                milliseconds(ours),
                f"{theirs / ours:,.3g}" if theirs / ours < 1000 else f"{theirs / ours:,.0f}",
                "random" if difference is None else f"{difference:.0e}",
            )
        )
        if difference is not None and difference > (peer.agreement or 0):
            missing.append(f"{peer.work} ({peer.package}): results differ by {difference:.1e}")
    if rows:
        print(
            "\n"
            + table(
                ("Same work by peers", "peer", "peer, ms", "rr_core, ms", "peer / rr_core", "differ by"), rows
            )
        )
    if missing:
        print("\n" + "\n".join(missing))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="rounds per ratio (default 7)")
    sys.exit(main(parser.parse_args().rounds))
