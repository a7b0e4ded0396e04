"""Iterative Bayesian update (IBU): expectation-maximisation for randomized response, and for any channel.

One iteration multiplies theta_i by m_i = q sum_j phi_j/(q+(p-q)theta_j) + (p-q) phi_i/(q+(p-q)theta_i)
(paper, eq. (5)). From the uniform start two categories with the same count stay equal, so an
iteration costs O(distinct counts), not O(k).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.estimators import mle_rule
from rr_core.mechanism import RandomizedResponse
from rr_core.optimality import frequencies, level_gap
from rr_core.profile import Profile, as_rows, profile, scatter, table_size

# Iterations between two calls of a progress callback: some tens of milliseconds of work.
_CHUNK = 2000


@dataclass(frozen=True)
class IBUPath:
    """What IBU did, at the recorded iterations; the last axis of every field but two is the iteration.

    Attributes:
        iterations: (t,) recorded iteration numbers, increasing; 0 is the start.
        squared_distance: (..., t) ||theta_t - MLE*||^2.
        log_likelihood_gap: (..., t) log-likelihood per report of MLE* minus that of theta_t, in nats.
        certificate: (..., t) max_i m_i - 1, an upper bound of the gap that needs no MLE*.
        stopped: True when the progress callback asked to stop; the record then ends early.
    """

    iterations: Array
    squared_distance: Array
    log_likelihood_gap: Array
    certificate: Array
    stopped: bool
    _thetas: tuple[Array, ...]
    _spread: Callable[[Array], Array]
    _shape: tuple[int, ...]

    def estimate(self, index: int) -> Array:
        """(..., k) the estimate at ``iterations[index]``."""
        return self._spread(self._thetas[index]).reshape(self._shape)


def ibu(
    histogram: ArrayLike,
    mechanism: RandomizedResponse,
    n_iterations: int,
    start: ArrayLike | None = None,
) -> Array:
    """The estimate after ``n_iterations`` of IBU, which tends to the maximum likelihood as they grow.

    Args:
        histogram: (..., k) counts or frequencies, normalised inside.
        mechanism: the randomized response that produced the reports.
        n_iterations: integer >= 0; 0 returns the start.
        start: (k,) or (..., k) distribution to start from; uniform when None. An entry that starts at
            zero stays at zero.

    Returns:
        (..., k) distribution after the last iteration.

    Raises:
        ValueError: naming the argument.
    """
    n_iterations = _validate.integer("n_iterations", n_iterations, 0)
    return ibu_path(histogram, mechanism, [n_iterations], start).estimate(-1)


def ibu_path(
    histogram: ArrayLike,
    mechanism: RandomizedResponse,
    iterations: Iterable[int],
    start: ArrayLike | None = None,
    progress: Callable[[int], bool] | None = None,
) -> IBUPath:
    """Run IBU and record it at the chosen iterations. Arguments as in `ibu`, and:

    Args:
        iterations: which iterations to record, integers >= 0 (sorted and made unique here).
        progress: called with the number of iterations done, every few thousand; returning True stops
            the run, and the record keeps what was reached.
    """
    checked = _validate.histogram(histogram, mechanism.k)
    marks = sorted({_validate.integer("iterations", t, 0) for t in iterations})
    if not marks:
        raise ValueError("iterations must name at least one iteration, got none")
    levels, theta, spread = _start(checked, start)
    thetas, reached, stopped = _run(levels, mechanism, theta, marks, progress)
    records = [_measure(levels, mechanism, theta) for theta in thetas]
    shape = (*checked.shape[:-1], len(thetas))
    distance, gap, certificate = (
        np.stack([record[i] for record in records], axis=-1).reshape(shape) for i in range(3)
    )
    return IBUPath(
        np.array(reached),
        distance,
        gap,
        certificate,
        stopped,
        tuple(thetas),
        spread,
        checked.shape,
    )


def ibu_channel(
    histogram: ArrayLike, channel: ArrayLike, n_iterations: int, start: ArrayLike | None = None
) -> Array:
    """IBU for any finite channel, eq. (4): O(k_in k_out) per iteration.

    Args:
        histogram: (k_out,) counts or frequencies of the reports.
        channel: (k_in, k_out) matrix, entry [x, y] = Pr(report = y | truth = x); rows sum to one.
        n_iterations: integer >= 0.
        start: (k_in,) distribution; uniform when None.

    Returns:
        (k_in,) estimate of the distribution of the truth.

    Raises:
        ValueError: naming the argument.
    """
    n_iterations = _validate.integer("n_iterations", n_iterations, 0)
    try:
        matrix = np.asarray(channel, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("channel must be a numeric (k_in, k_out) matrix") from error
    if matrix.ndim != 2 or not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError(
            f"channel must be a (k_in, k_out) matrix of probabilities >= 0, got shape {matrix.shape}"
        )
    sums = matrix.sum(axis=1)
    if not np.allclose(sums, 1, atol=1e-9):
        raise ValueError(
            f"channel must have rows that sum to 1, got sums from {sums.min():.9g} to {sums.max():.9g}"
        )
    counts = _validate.histogram(histogram, matrix.shape[1])
    if counts.ndim != 1:
        raise ValueError(f"histogram must have shape (k_out,), got {counts.shape}")
    scaled = as_rows(counts)[0]
    phi = scaled / scaled.sum()
    k_in = len(matrix)
    theta = np.full(k_in, 1 / k_in) if start is None else _distribution("start", start, k_in)
    for _ in range(n_iterations):
        seen = theta @ matrix
        theta = theta * (matrix @ np.divide(phi, seen, out=np.zeros_like(phi), where=seen > 0))
    return theta


def _start(
    histogram: NDArray[Any], start: ArrayLike | None
) -> tuple[Profile, Array, Callable[[Array], Array]]:
    """The levels IBU runs on, theta on them, and how to spread a theta on levels over the categories.

    A level is a set of categories that IBU cannot tell apart: same count, and same start. The rows of a
    batch with a start of their own run on the categories themselves.
    """
    rows, k = as_rows(histogram), histogram.shape[-1]
    if start is None:
        levels = profile(rows, table_size(rows))
        return levels, np.full(levels.values.shape, 1 / k), partial(scatter, rows, levels)
    given = _distribution("start", start, k)
    if given.shape not in (histogram.shape, (k,)):
        raise ValueError(
            f"start must have shape (k,) or that of the histogram, {histogram.shape}, got {given.shape}"
        )
    theta = np.broadcast_to(given, histogram.shape).reshape(rows.shape)
    values = rows.astype(np.float64)
    if len(rows) != 1:
        return Profile(values, np.ones_like(values)), theta, np.copy
    counts, count_of = np.unique(values[0], return_inverse=True)
    starts, start_of = np.unique(theta[0], return_inverse=True)
    pairs, pair_of, sizes = np.unique(
        count_of * starts.size + start_of, return_inverse=True, return_counts=True
    )
    levels = Profile(counts[pairs // starts.size][None], sizes[None].astype(np.float64))
    return levels, starts[pairs % starts.size][None], lambda on_levels: on_levels[:, pair_of]


def _distribution(name: str, values: ArrayLike, k: int) -> Array:
    array = _validate.vector(name, values, k).astype(np.float64)
    sums = array.sum(axis=-1)
    if (array < 0).any() or (np.abs(sums - 1) > 1e-9).any():
        raise ValueError(
            f"{name} must be a distribution (entries >= 0 with sum 1), got entries from {array.min():.6g} "
            f"with sum {np.ravel(sums)[np.argmax(np.abs(sums - 1))]:.12g}"
        )
    return array


def _run(
    levels: Profile,
    mechanism: RandomizedResponse,
    theta: Array,
    marks: list[int],
    progress: Callable[[int], bool] | None,
) -> tuple[list[Array], list[int], bool]:
    phi = frequencies(levels)
    weighted = phi * levels.multiplicities
    truth, blur = mechanism.truth, mechanism.positive_blur
    theta = theta.copy()
    clear, share = np.empty_like(theta), np.empty_like(theta)
    thetas, reached, done, stopped = [], [], 0, False
    for mark in marks:
        while done < mark and not stopped:
            steps = min(_CHUNK, mark - done)
            for _ in range(steps):
                # u = blur/(blur + truth theta) is the chance that a report of this category was a redraw.
                # theta <- theta sum(phi u) + phi (1 - u), with 1 - u computed as truth theta/(...).
                np.multiply(theta, truth, out=clear)
                np.add(clear, blur, out=share)
                np.divide(clear, share, out=clear)
                np.divide(blur, share, out=share)
                share *= weighted
                theta *= share.sum(axis=-1, keepdims=True)
                clear *= phi
                theta += clear
            done += steps
            stopped = progress is not None and progress(done)
        if done < mark:
            break
        thetas.append(theta.copy())
        reached.append(mark)
    if not thetas:
        thetas, reached = [theta], [done]
    return thetas, reached, stopped


def _measure(levels: Profile, mechanism: RandomizedResponse, theta: Array) -> tuple[Array, Array, Array]:
    """Per row: squared distance to MLE*, log-likelihood gap, certificate."""
    truth, blur = mechanism.truth, mechanism.positive_blur
    phi, multiplicities = frequencies(levels), levels.multiplicities
    order = np.argsort(-levels.values, axis=-1, kind="stable")
    ranked = Profile(
        np.take_along_axis(levels.values, order, -1), np.take_along_axis(multiplicities, order, -1)
    )
    best = mle_rule(ranked, mechanism).at(levels.values)
    distance = (multiplicities * (theta - best) ** 2).sum(axis=-1)
    seen = blur + truth * theta
    with np.errstate(divide="ignore", over="ignore"):
        gap = (multiplicities * phi * np.log1p(truth * (best - theta) / seen)).sum(axis=-1)
    return distance, gap, level_gap(levels, theta, mechanism)
