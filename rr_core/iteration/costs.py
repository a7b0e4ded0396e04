"""What the maximum-likelihood estimate costs on this machine: MLE*, IBU on levels, IBU as published, eq. (4)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.estimators import mle_star
from rr_core.ibu import ibu, ibu_channel, ibu_path
from rr_core.iteration.progress import first_reached
from rr_core.iteration.record import log_spaced
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import as_rows

Clock = Callable[[], float]

# Up to here the channel matrix of eq. (4) is built: 8 MB.
LARGEST_MATRIX = 1000
# Iterations of the O(k) loop that are measured at most; it costs the same whichever they are.
_MOST_BY_CATEGORIES = 300
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
class Cost:
    """One way to the estimate.

    Attributes:
        name: in words.
        seconds_per_iteration: None where there is none (always for MLE*), and for what was not run.
        iterations: how many it needs; None for MLE*.
        seconds: from the counts to the estimate; None when it was not run.
        extrapolated: False when ``seconds`` was measured in full.
        note: what a reader should know, in one sentence.
    """

    name: str
    seconds_per_iteration: float | None
    iterations: int | None
    seconds: float | None
    extrapolated: bool
    note: str

    def times(self, other: Cost) -> float | None:
        """How many times as long as another way this one takes; None when either was not run."""
        return self.seconds / other.seconds if self.seconds is not None and other.seconds else None


@dataclass(frozen=True)
class Needed:
    """Iterations to a certificate; ``reached`` False when the search was given up after that many."""

    iterations: int
    reached: bool


def side_by_side(
    histogram: ArrayLike,
    mechanism: RandomizedResponse,
    tolerance: float = 1e-6,
    needed: Needed | None = None,
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
        MLE* from counts; IBU on levels; IBU category by category, as in the supplement's listing; the
        general update of eq. (4), which is not run beyond LARGEST_MATRIX categories.

    Raises:
        ValueError: naming the argument.
    """
    counts = _one_row(histogram, mechanism)
    needed = iterations_needed(counts, mechanism, tolerance, 2 * budget) if needed is None else needed
    phi = as_rows(counts)[0] / as_rows(counts).sum()
    exact = _least_seconds(lambda: mle_star(counts, mechanism), budget)
    on_levels = timed(lambda n: ibu(counts, mechanism, n), needed.iterations, budget)
    by_categories = timed(
        lambda n: ibu_by_categories(phi, mechanism, n), needed.iterations, budget, _MOST_BY_CATEGORIES
    )
    few = "" if needed.reached else " It needs more than these to the tolerance."
    return [
        Cost("MLE*, from the counts", None, None, exact, False, "Exact, and done in one go."),
        _cost(
            "IBU on levels",
            needed,
            on_levels,
            "Categories with the same count are worked on as one." + few,
        ),
        _cost(
            "IBU category by category, as in the supplement's listing",
            needed,
            by_categories,
            "Each iteration passes over all K categories." + few,
        ),
        _by_matrix(counts, mechanism, needed, budget, few),
    ]


def iterations_needed(
    histogram: ArrayLike, mechanism: RandomizedResponse, tolerance: float, seconds: float = 0.3
) -> Needed:
    """Iterations of IBU from the uniform start to a certificate of at most ``tolerance``; given up after about
    ``seconds`` or a million iterations."""
    counts = _one_row(histogram, mechanism)
    tolerance = _validate.real("tolerance", tolerance, "a number > 0")
    if tolerance <= 0:
        raise ValueError(f"tolerance must be a number > 0, got {tolerance!r}")
    begin, length, reached = time.perf_counter(), 1000, 0
    while True:
        path = ibu_path(
            counts, mechanism, log_spaced(length), progress=lambda done: time.perf_counter() - begin > seconds
        )
        found = first_reached(path, tolerance).certificate
        if found is not None:
            return Needed(found, True)
        reached = max(reached, int(path.iterations[-1]))
        spent = time.perf_counter() - begin
        longer = min(10 * length, int(length * (seconds - spent) / spent), _LONGEST)
        if path.stopped or longer <= length:
            return Needed(reached, False)
        length = longer


def ibu_by_categories(phi: Array, mechanism: RandomizedResponse, n_iterations: int) -> Array:
    """IBU with one entry per category, eq. (5) and the supplement's listing: O(k) per iteration.

    Args:
        phi: (k,) frequencies of the reports, with sum one.
        mechanism: the randomized response that produced them.
        n_iterations: integer >= 0.
    """
    keep, q = mechanism.keep, max(mechanism.q, 1e-300)
    theta = np.full(mechanism.k, 1 / mechanism.k)
    for _ in range(n_iterations):
        ratio = phi / (q + keep * theta)
        theta = theta * (q * ratio.sum() + keep * ratio)
    return theta


def timed(
    run: Callable[[int], object],
    iterations: int,
    budget: float,
    most: int | None = None,
    clock: Clock = time.perf_counter,
) -> Timing:
    """Time ``run(n)`` for n = 0 and for growing n, until n is ``iterations`` or ``most``, or n of them take a
    third of the ``budget``; what is left is extrapolated from that run."""
    last = iterations if most is None else min(iterations, most)
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


def _by_matrix(counts: Array, mechanism: RandomizedResponse, needed: Needed, budget: float, few: str) -> Cost:
    name, k = "IBU by the channel matrix, eq. (4)", mechanism.k
    if k > LARGEST_MATRIX:
        size = 8 * k * k / 1e9
        note = (
            f"Not run: the matrix has K² = {k * k:,} entries, {size:,.2g} GB; beyond K = {LARGEST_MATRIX:,}."
        )
        return Cost(name, None, needed.iterations, None, False, note)
    timing = timed(lambda n: ibu_channel(counts, mechanism.matrix(), n), needed.iterations, budget)
    return _cost(name, needed, timing, "Each iteration passes twice over K² entries." + few)


def _cost(name: str, needed: Needed, timing: Timing, note: str) -> Cost:
    return Cost(name, timing.per_iteration, needed.iterations, timing.total, timing.extrapolated, note)


def _one_row(histogram: ArrayLike, mechanism: RandomizedResponse) -> Array:
    counts = _validate.histogram(histogram, mechanism.k)
    if counts.ndim != 1:
        raise ValueError(f"histogram must have shape (k,), got {counts.shape}")
    return counts


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
