"""Seconds that the maximum-likelihood estimate costs on this machine (MLE*, IBU on levels, IBU as published, eq. (4)),
and how many iterations a page can afford to run while somebody waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.estimators import mle_star
from rr_core.ibu.convergence import first_reached
from rr_core.ibu.engine import ibu, ibu_channel, ibu_path
from rr_core.ibu.path import log_spaced
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import as_rows

Clock = Callable[[], float]
Method = Literal["mle_star", "ibu_levels", "ibu_categories", "ibu_matrix"]

# Up to here the channel matrix of eq. (4) is built: 8 MB.
LARGEST_MATRIX = 1000
# Iterations of the O(k) loop that are measured at most; it costs the same whichever they are.
_MAX_BY_CATEGORIES = 300
# Where a run to the tolerance is given up.
_LONGEST = 1_000_000


@dataclass(frozen=True)
class Timing:
    """Seconds: ``setup`` before the first iteration, ``per_iteration`` (None where there is none), and ``total`` for
    all of them, measured in full unless ``extrapolated``."""

    setup: float
    per_iteration: float | None
    total: float
    extrapolated: bool


@dataclass(frozen=True)
class IterationsNeeded:
    """Iterations to a certificate; ``reached`` is False when the search was given up after that many."""

    iterations: int
    reached: bool


@dataclass(frozen=True)
class Cost:
    """What one way to the maximum-likelihood estimate costs.

    Attributes:
        method: "mle_star", from the counts in one step; "ibu_levels", IBU on the distinct counts; "ibu_categories", IBU
            on each category, as in the supplement's listing; "ibu_matrix", IBU by the channel matrix, eq. (4), which
            is not run beyond LARGEST_MATRIX categories.
        seconds: from the counts to the estimate; None when it was not run.
        needed: how many iterations it needs; None for MLE*.
        seconds_per_iteration: None where there is none (always for MLE*), and for what was not run.
        extrapolated: False when ``seconds`` was measured in full.
    """

    method: Method
    seconds: float | None
    needed: IterationsNeeded | None = None
    seconds_per_iteration: float | None = None
    extrapolated: bool = False

    def ratio_to(self, other: Cost) -> float | None:
        """How many times as long as another way this one takes; None when either was not run."""
        return self.seconds / other.seconds if self.seconds is not None and other.seconds else None


def compare_costs(
    histogram: ArrayLike,
    mechanism: RandomizedResponse,
    tolerance: float = 1e-6,
    needed: IterationsNeeded | None = None,
    budget: float = 0.15,
) -> list[Cost]:
    """Time the four ways from one histogram of reports to its maximum-likelihood estimate.

    Args:
        histogram: (k,) counts or frequencies.
        mechanism: the randomized response that produced the reports.
        tolerance: IBU stops where its certificate max_i m_i - 1 (nats per report) is at most this, > 0.
        needed: how many iterations that takes, when it is known; else `iterations_needed` is run first.
        budget: about how many seconds each way may be measured for.

    Returns:
        One cost for each `Method`, in their order.

    Raises:
        ValueError: naming the argument.
    """
    counts = _validate.one_row("histogram", _validate.histogram(histogram, mechanism.k))
    needed = iterations_needed(counts, mechanism, tolerance, 2 * budget) if needed is None else needed
    n, phi = needed.iterations, as_rows(counts)[0] / as_rows(counts).sum()
    costs = [Cost("mle_star", _least_seconds(lambda: mle_star(counts, mechanism), budget))]
    on_levels = time_iterations(lambda n: ibu(counts, mechanism, n), n, budget)
    costs.append(_cost("ibu_levels", needed, on_levels))
    by_categories = time_iterations(
        lambda n: ibu_by_categories(phi, mechanism, n), n, budget, _MAX_BY_CATEGORIES
    )
    costs.append(_cost("ibu_categories", needed, by_categories))
    if mechanism.k > LARGEST_MATRIX:
        return [*costs, Cost("ibu_matrix", None, needed)]
    by_matrix = time_iterations(lambda n: ibu_channel(counts, mechanism.matrix(), n), n, budget)
    return [*costs, _cost("ibu_matrix", needed, by_matrix)]


def iterations_needed(
    histogram: ArrayLike, mechanism: RandomizedResponse, tolerance: float, seconds: float = 0.3
) -> IterationsNeeded:
    """Iterations of IBU from the uniform start to a certificate of at most ``tolerance``; given up after about
    ``seconds`` or a million iterations."""
    counts = _validate.one_row("histogram", _validate.histogram(histogram, mechanism.k))
    tolerance = _validate.positive("tolerance", tolerance)
    begin, length, reached = time.perf_counter(), 1000, 0
    while True:
        path = ibu_path(
            counts,
            mechanism,
            log_spaced(length),
            progress=lambda done: time.perf_counter() - begin > seconds,
            in_full=True,
        )
        iterations = first_reached(path, tolerance).certificate
        if iterations is not None:
            return IterationsNeeded(iterations, True)
        reached = max(reached, int(path.iterations[-1]))
        spent = time.perf_counter() - begin
        longer = min(10 * length, int(length * (seconds - spent) / spent), _LONGEST)
        if path.stopped or longer <= length:
            return IterationsNeeded(reached, False)
        length = longer


def ibu_by_categories(phi: Array, mechanism: RandomizedResponse, n_iterations: int) -> Array:
    """IBU with one entry per category, eq. (5) and the supplement's listing: O(k) per iteration.

    Args:
        phi: (k,) frequencies of the reports, with sum one.
        mechanism: the randomized response that produced them.
        n_iterations: integer >= 0.
    """
    keep, q = mechanism.keep, mechanism.q
    theta = np.full(mechanism.k, 1 / mechanism.k)
    for _ in range(n_iterations):
        ratio = phi / (q + keep * theta)
        theta = theta * (q * ratio.sum() + keep * ratio)
    return theta


def time_iterations(
    run: Callable[[int], object],
    iterations: int,
    budget: float,
    max_iterations: int | None = None,
    clock: Clock = time.perf_counter,
) -> Timing:
    """Time ``run(n)`` for n = 0 and for growing n, until n is ``iterations`` or ``max_iterations``, or n of them take a
    third of the ``budget``; what is left is extrapolated from that run."""
    last = iterations if max_iterations is None else min(iterations, max_iterations)
    setup, n = _least_seconds(partial(run, 0), budget / 6, clock), 1
    if not last:
        return Timing(setup, None, setup, False)
    while True:
        spent = _least_seconds(partial(run, n), budget / 6, clock)
        if n == last or spent - setup >= budget / 3:
            break
        n = min(3 * n, last)
    # A setup that outweighs the iterations may hide them in its noise.
    per_iteration = (spent - setup if spent > setup else spent) / n
    if n == iterations:
        return Timing(setup, per_iteration, spent, False)
    return Timing(setup, per_iteration, setup + per_iteration * iterations, True)


def _cost(method: Method, needed: IterationsNeeded, timing: Timing) -> Cost:
    return Cost(method, timing.total, needed, timing.per_iteration, timing.extrapolated)


def _least_seconds(call: Callable[[], object], budget: float, clock: Clock = time.perf_counter) -> float:
    """The least of as many calls as the budget allows, up to 9: what else the machine does only adds."""
    times = [_seconds(call, clock)]
    while sum(times) < budget and len(times) < 9:
        times.append(_seconds(call, clock))
    return min(times)


def _seconds(call: Callable[[], object], clock: Clock) -> float:
    begin = clock()
    call()
    return clock() - begin


# An iteration costs its levels, and as much again as this many levels for being an iteration at all.
_OVERHEAD = 1200
# Level-iterations that take about a quarter of a second, and as much again to be gone through one by one.
_BUDGET = 60_000_000
_FEW_LEVELS = 2000
_LENGTHS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def affordable_iterations(histogram: ArrayLike, iterations: int) -> int:
    """How many of ``iterations`` to run while a page is being drawn: all of them, or as many as take about a quarter
    of a second. The same on every machine, because it follows from the histogram alone.

    >>> affordable_iterations([60, 30, 10], 50_000), affordable_iterations(range(100_000), 50_000)
    (20000, 500)
    """
    iterations = _validate.integer("iterations", iterations, 0)
    affordable = _BUDGET / (_n_distinct(histogram) + _OVERHEAD)
    shorter = [length for length in _LENGTHS if length <= affordable]
    return min(iterations, shorter[-1] if shorter else _LENGTHS[0])


def records_per_decade(histogram: ArrayLike) -> int:
    """How many iterations of each decade to record: within 6% of every iteration, or 20% where a record takes much
    memory."""
    return 40 if _n_distinct(histogram) <= _FEW_LEVELS else 12


def _n_distinct(histogram: ArrayLike) -> int:
    return np.unique(_validate.numbers("histogram", histogram)).size
