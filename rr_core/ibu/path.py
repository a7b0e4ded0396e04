"""The record of a run of IBU, its distances from MLE*, and the levels it runs on.

A level is a set of categories that IBU cannot tell apart, having the same count and start. From the uniform start it is a
distinct count. Thousands of iterations follow, so that even short rows are worth reducing: a histogram of 500 categories
and 10,000 users has about 50 levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.estimators import mle_rule
from rr_core.mechanism import RandomizedResponse
from rr_core.optimality import frequencies
from rr_core.profile import Profile, Rows, as_rows, profile, table_size

# How far from one the sum of a start may be.
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class BatchLevels:
    """Levels of each row of a batch, counts in decreasing order; rows are padded with copies of their last
    level at multiplicity 0, which follow that level through every iteration and weigh nothing.

    Attributes:
        counts, start: (rows, levels) reports of one category, and the probability that it starts with.
        rows: (rows, k) what tells the levels apart: the counts, or numbers of (count, start) pairs.
        profile: of these rows, with equal values merged.
    """

    counts: Array
    start: Array
    rows: Rows
    profile: Profile

    @property
    def multiplicities(self) -> Array:
        """(rows, levels) number of categories of each level."""
        return self.profile.multiplicities

    @property
    def phi(self) -> Array:
        """(rows, levels) share of the reports that one category of each level received."""
        return frequencies(Profile(self.counts, self.multiplicities))

    @cached_property
    def level_of(self) -> NDArray[np.intp]:
        """(rows, k) the level of each category."""
        return self.profile.level_of(self.rows)

    def row(self, index: int) -> BatchLevels:
        """The levels of one row, without padding."""
        real = self.multiplicities[index] > 0
        return BatchLevels(
            self.counts[index, real][None],
            self.start[index, real][None],
            self.rows[index][None],
            Profile(self.profile.values[index, real][None], self.multiplicities[index, real][None]),
        )


def batch_levels(histogram: NDArray[Any], start: ArrayLike | None) -> BatchLevels:
    """Levels of a validated histogram (..., k) from a start (k,) or (..., k), uniform when None.

    Raises:
        ValueError: naming ``start``.
    """
    rows, k = as_rows(histogram), histogram.shape[-1]
    if start is None:
        of_counts = profile(rows, table_size(rows)).merged()
        return BatchLevels(of_counts.values, np.full(of_counts.values.shape, 1 / k), rows, of_counts)
    given = checked_distribution("start", start, k)
    if given.shape not in (histogram.shape, (k,)):
        raise ValueError(
            f"start must have shape (k,) or that of the histogram, {histogram.shape}, got {given.shape}"
        )
    counts, count_of = np.unique(rows, return_inverse=True)
    starts, start_of = np.unique(given.reshape(-1, k), return_inverse=True)
    pairs = count_of.reshape(rows.shape) * starts.size + start_of.reshape(-1, k)
    of_pairs = profile(pairs, table_size(pairs)).merged()
    count_at, start_at = np.divmod(of_pairs.values.astype(np.intp), starts.size)
    return BatchLevels(counts[count_at].astype(np.float64), starts[start_at], pairs, of_pairs)


def checked_distribution(name: str, values: ArrayLike, k: int) -> Array:
    """``values`` (..., k) as distributions over ``k`` categories, or ValueError naming ``name``."""
    array = _validate.vector(name, values, k).astype(np.float64)
    with np.errstate(over="ignore"):
        sums = array.sum(axis=-1)
    if (array < 0).any() or (np.abs(sums - 1) > _SUM_TOLERANCE).any():
        raise ValueError(
            f"{name} must be a distribution (entries >= 0 with sum 1), got entries from {array.min():.6g} "
            f"with sum {np.ravel(sums)[np.argmax(np.abs(sums - 1))]:.12g}"
        )
    return array


# Entries of the recorded estimates that are measured at once.
_ENTRIES_AT_ONCE = 500_000
# Dot products beyond 10,000 entries are split among threads, which wait for each other where processors are busy.
_LONGEST_DOT = 8192


@dataclass(frozen=True, eq=False)
class ErrorMeasures:
    """Three distances of estimates (t, rows, levels), on the levels of a batch, from the maximum-likelihood estimate.

    Attributes:
        levels: of the batch.
        odds: (rows, 1) see `truth_odds`.
        mle_star: (rows, levels) MLE*.
    """

    levels: BatchLevels
    odds: Array
    mle_star: Array

    def squared_distance(self, thetas: Array) -> Array:
        """(t, rows) ||theta - MLE*||^2."""
        moved = self.mle_star - thetas
        return weighted_sum(moved * moved, self.levels.multiplicities)

    def gap(self, thetas: Array) -> Array:
        """(t, rows) log-likelihood per report of MLE* minus that of theta, in nats."""
        seen = 1 + self.odds * thetas
        # log of (1 + odds best)/seen; by log1p where the two are close, else by log, as log1p(-1) is no number.
        change = self.odds * (self.mle_star - thetas) / seen
        ratio = np.log((1 + self.odds * self.mle_star) / seen)
        np.log1p(change, out=ratio, where=np.abs(change) < 0.5)
        return weighted_sum(ratio, self.levels.multiplicities * self.levels.phi)

    def certificate(self, thetas: Array) -> Array:
        """(t, rows) max_i m_i - 1, which is below zero by rounding alone: the average of m over theta is 1."""
        share = self.levels.phi / (1 + self.odds * thetas)
        redraw = weighted_sum(share, self.levels.multiplicities)
        largest: Array = (self.odds * share).max(axis=-1) + redraw - 1
        return np.maximum(largest, 0.0)


@dataclass(frozen=True, eq=False)
class EveryIteration:
    """Two measures of every iteration of a run, recorded or not; fields as in `IBUPath`, but (..., last + 1)."""

    squared_distance: Array
    certificate: Array


@dataclass(frozen=True, eq=False)
class IBUPath:
    """The record of a run of IBU at some of its iterations.

    A level is a set of categories with the same count and the same start, which stay equal for ever. In a
    batch, rows with fewer levels than others are padded with copies of their last at multiplicity 0.

    Attributes:
        iterations: (t,) recorded iteration numbers, increasing; 0 is the start.
        squared_distance: (..., t) ||theta_t - MLE*||^2.
        log_likelihood_gap: (..., t) log-likelihood per report of MLE* minus that of theta_t, in nats.
        certificate: (..., t) max_i m_i - 1, an upper bound of the gap that needs no MLE*.
        stopped: True when the progress callback asked to stop; the record then ends early.
        thetas: (t, ..., levels) the estimate of one category of each level, at each recorded iteration.
        counts: (..., levels) reports of one category of each level, in decreasing order.
        multiplicities: (..., levels) how many categories each level has.
        mle_star: (..., levels) MLE* of one category of each level.
        limit: (..., levels) what theta_t tends to. It is MLE*, unless some category starts at zero: then
            it is the maximum of the likelihood over the distributions that are zero there too.
        cut_off: (...) True where a category that MLE* keeps starts at zero, so that IBU cannot reach MLE*.
        mechanisms: the mechanism of each row of the flattened batch.
        every: measures of all iterations; None where they were not asked for.
    """

    iterations: NDArray[np.int64]
    squared_distance: Array
    log_likelihood_gap: Array
    certificate: Array
    stopped: bool
    thetas: Array
    counts: Array
    multiplicities: Array
    mle_star: Array
    limit: Array
    cut_off: NDArray[np.bool_]
    mechanisms: tuple[RandomizedResponse, ...]
    _levels: BatchLevels
    _shape: tuple[int, ...]
    every: EveryIteration | None = None

    def columns(self) -> dict[str, NDArray[Any]]:
        """The measures at the recorded iterations of one run, by name."""
        return {
            "iteration": self.iterations,
            "squared_distance": self.squared_distance,
            "log_likelihood_gap": self.log_likelihood_gap,
            "certificate": self.certificate,
        }

    @property
    def start(self) -> Array:
        """(..., levels) what one category of each level started with."""
        return self._levels.start.reshape(self.counts.shape)

    @property
    def measures(self) -> ErrorMeasures:
        """Distances from MLE* of any estimates on the levels of the flattened batch."""
        levels = self._levels
        return ErrorMeasures(levels, truth_odds(self.mechanisms), self.mle_star.reshape(levels.counts.shape))

    @property
    def level_of(self) -> NDArray[np.intp]:
        """(..., k) the level of each category, an index into the last axis of the fields on levels."""
        return self._levels.level_of.reshape(self._shape)

    def estimate(self, index: int) -> Array:
        """(..., k) the estimate at ``iterations[index]``."""
        index = _validate.integer("index", index, -len(self.thetas), len(self.thetas) - 1)
        return self.by_category(self.thetas[index])

    def by_category(self, on_levels: Array) -> Array:
        """(..., k) every category's value, from values (..., levels) such as ``limit``."""
        rows = on_levels.reshape(self._levels.counts.shape)
        return np.take_along_axis(rows, self._levels.level_of, axis=-1).reshape(self._shape)

    def row(self, index: int) -> IBUPath:
        """The record of one histogram of the flattened batch, without padding."""
        rows, levels = len(self.mechanisms), self._levels
        index = _validate.integer("index", index, 0, rows - 1)
        real = levels.multiplicities[index] > 0

        def curve(per_iteration: Array) -> Array:
            one: Array = per_iteration.reshape(rows, -1)[index]
            return one

        every = self.every and EveryIteration(
            curve(self.every.squared_distance), curve(self.every.certificate)
        )

        def on_real(per_level: Array) -> Array:
            one: Array = per_level.reshape(rows, -1)[index, real]
            return one

        return IBUPath(
            self.iterations,
            curve(self.squared_distance),
            curve(self.log_likelihood_gap),
            curve(self.certificate),
            self.stopped,
            self.thetas.reshape(len(self.thetas), rows, -1)[:, index, real],
            on_real(self.counts),
            on_real(self.multiplicities),
            on_real(self.mle_star),
            on_real(self.limit),
            self.cut_off.reshape(rows)[index],
            (self.mechanisms[index],),
            levels.row(index),
            self._shape[-1:],
            every,
        )


def require_single(path: IBUPath) -> None:
    """ValueError unless the path is that of a single histogram."""
    if path.certificate.ndim != 1:
        raise ValueError(
            "path must be that of one histogram (see IBUPath.row), got a batch of shape "
            f"{path.certificate.shape[:-1]}"
        )


def weighted_sum(values: Array, weights: Array) -> Array:
    """Sum over the last axis of values times weights."""
    total: Array
    total = (
        np.vecdot(values, weights) if values.shape[-1] <= _LONGEST_DOT else (values * weights).sum(axis=-1)
    )
    return total


def truth_odds(mechanisms: Sequence[RandomizedResponse]) -> Array:
    """(rows, 1) e^eps - 1 = (p - q)/q: the truth's weight against the blur's."""
    return np.array([mechanism.truth / mechanism.blur for mechanism in mechanisms])[:, None]


def measures_on(levels: BatchLevels, mechanisms: Sequence[RandomizedResponse]) -> ErrorMeasures:
    """Distances from MLE* of any estimates on these levels."""
    best = _limit(levels, np.ones_like(levels.start), mechanisms)
    return ErrorMeasures(levels, truth_odds(mechanisms), best)


def build_path(
    measures: ErrorMeasures,
    mechanisms: Sequence[RandomizedResponse],
    shape: tuple[int, ...],
    iterations: NDArray[np.int64],
    thetas: Array,
    stopped: bool,
    every: EveryIteration | None = None,
) -> IBUPath:
    """The record of ``thetas`` (t, rows, levels) for a histogram of ``shape`` (..., k); ``every`` has (t, rows)."""
    levels, best = measures.levels, measures.mle_star
    limit = _limit(levels, levels.start, mechanisms)
    step = max(1, _ENTRIES_AT_ONCE // max(1, best.size))
    distance, gap, certificate = (
        np.concatenate([measure(thetas[first : first + step]) for first in range(0, len(thetas), step)]).T
        for measure in (measures.squared_distance, measures.gap, measures.certificate)
    )
    cut_off = ((best > 0) & (levels.start == 0)).any(axis=-1)
    batch = shape[:-1]
    on_levels, over_time = (*batch, levels.counts.shape[1]), (*batch, len(thetas))
    if every is not None:
        every = EveryIteration(
            every.squared_distance.T.reshape(*batch, -1), every.certificate.T.reshape(*batch, -1)
        )
    return IBUPath(
        iterations,
        distance.reshape(over_time),
        gap.reshape(over_time),
        certificate.reshape(over_time),
        stopped,
        thetas.reshape(len(thetas), *on_levels),
        levels.counts.reshape(on_levels),
        levels.multiplicities.reshape(on_levels),
        best.reshape(on_levels),
        limit.reshape(on_levels),
        cut_off.reshape(batch),
        tuple(mechanisms),
        levels,
        shape,
        every,
    )


def _limit(levels: BatchLevels, start: Array, mechanisms: Sequence[RandomizedResponse]) -> Array:
    """(rows, levels) the maximum-likelihood distribution among those that are zero where ``start`` is.

    Let R be the categories that start above zero. A report outside R is a redraw whatever theta is, so its
    term of the log-likelihood is constant, and what is left is sum over R of phi_i log(q + (p-q) theta_i),
    theta on the simplex of R: the problem of Theorem 1, which depends on k only through the number of
    terms. So its solution is MLE*'s formula on R alone, with the same e^eps. IBU never leaves the simplex
    of R and is expectation-maximisation there, from an interior point. When nobody reported a category of
    R the likelihood is constant on it, every factor is one, and IBU stays at its start.
    """
    alive = levels.multiplicities * (start > 0)
    silent = (levels.counts * alive).max(axis=-1, keepdims=True) == 0
    multiplicities = np.where(silent, levels.multiplicities, alive)
    # Scaled by a power of two to a largest count in R near 1: outside R there may be much larger ones.
    top = levels.counts.max(axis=-1, keepdims=True, where=multiplicities > 0, initial=0.0)
    counts = np.ldexp(np.minimum(levels.counts, top), -np.frexp(top)[1])
    # What matters of a mechanism is the weight of truth against blur: rows of one are worked out together.
    groups: dict[tuple[float, float], list[int]] = {}
    for row, mechanism in enumerate(mechanisms):
        groups.setdefault((mechanism.truth, mechanism.blur), []).append(row)
    limit = np.empty_like(counts)
    for rows in groups.values():
        rule = mle_rule(Profile(counts[rows], multiplicities[rows]), mechanisms[rows[0]])
        limit[rows] = rule.at(counts[rows])
    return np.where(silent, start, np.where(start > 0, limit, 0.0))


def log_spaced(last: int, per_decade: int = 30) -> NDArray[np.int64]:
    """Iterations to record for a logarithmic axis: 0, 1, ..., ``last``, increasing, about ``per_decade`` in
    each decade (every iteration, as long as there are fewer than that).

    Args:
        last: integer from 0 to 2^62.
        per_decade: integer >= 1.

    >>> log_spaced(1000, per_decade=3).tolist()
    [0, 1, 2, 5, 10, 22, 46, 100, 215, 464, 1000]
    """
    last = _validate.integer("last", last, 0, 2**62)
    per_decade = _validate.integer("per_decade", per_decade, 1)
    if last == 0:
        return np.zeros(1, dtype=np.int64)
    steps = np.arange(int(np.ceil(per_decade * np.log10(last))) + 1)
    spaced = np.rint(np.minimum(10 ** (steps / per_decade), last)).astype(np.int64)
    return np.unique(np.concatenate([[0], spaced[spaced < last], [last]]))
