"""Iterative Bayesian update (IBU): expectation-maximisation for randomized response, and for any channel.

One iteration multiplies theta_i by m_i = q sum_j phi_j/(q+(p-q)theta_j) + (p-q) phi_i/(q+(p-q)theta_i)
(paper, eq. (5)). Categories with the same count and start stay equal, so an iteration costs O(distinct
counts), not O(k); and many histograms, each with its own mechanism, advance together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, streams, typed
from rr_core._validate import Array
from rr_core.ibu.path import (
    BatchLevels,
    ErrorMeasures,
    EveryIteration,
    IBUPath,
    batch_levels,
    build_path,
    checked_distribution,
    measures_on,
    truth_odds,
    weighted_sum,
)
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import as_rows
from rr_core.simulate import PROGRESS_SECONDS, Progress
from rr_core.streams import Stream

# The clock is looked at after some 5 ms of iterations: each costs as much as this many entries, plus its own.
_ENTRIES_PER_LOOK, _ENTRIES_PER_CALL = 2_500_000, 1250
# Estimates that are looked at together: they stay in the cache of a processor, for a quarter less time than in memory.
_ENTRIES_PER_PIECE = 40_000

# What decays by a factor between a half and one would stay at the smallest number above zero for ever, by rounding
# (and on some processors make arithmetic slow): it is swept to zero every so many iterations, well before that.
_SWEEP_EVERY, _NEGLIGIBLE = 64, 1e-280
# Dot products beyond 10,000 entries are split among threads, which wait for each other where the processors are
# busy: 4 to 300 times slower as measured there. So they are taken piece by piece.
_DOT_LENGTH = 8192


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

    >>> ibu([60, 30, 10], RandomizedResponse(3, 1.0), 100).round(4).tolist()
    [0.8607, 0.1393, 0.0]
    """
    n_iterations = _validate.integer("n_iterations", n_iterations, 0)
    return ibu_path(histogram, mechanism, [n_iterations], start).estimate(-1)


def ibu_path(
    histogram: ArrayLike,
    mechanism: RandomizedResponse,
    iterations: Iterable[int],
    start: ArrayLike | None = None,
    progress: Progress | None = None,
    in_full: bool = False,
) -> IBUPath:
    """Run IBU and record it at the chosen iterations. Arguments as in `ibu`, and:

    Args:
        iterations: which iterations to record, integers >= 0 (sorted and made unique here).
        progress: called with the number of iterations done, about every 50 ms and at the end; returning
            True stops the run, and the record then ends with the iteration that was reached.
        in_full: whether `IBUPath.every` is wanted, for a quarter of the time more at few levels and twice as much at
            many.

    >>> path = ibu_path([60, 30, 10], RandomizedResponse(3, 1.0), [0, 10, 100])
    >>> [float(f"{value:.2g}") for value in path.squared_distance]
    [0.43, 0.007, 8.4e-12]
    """
    checked = _validate.histogram(histogram, mechanism.k)
    mechanisms = [mechanism] * (checked.size // mechanism.k)
    return _record(checked, mechanisms, iterations, start, progress, in_full)


def ibu_paths(
    histograms: ArrayLike,
    mechanisms: Sequence[RandomizedResponse],
    iterations: Iterable[int],
    start: ArrayLike | None = None,
) -> IBUPath:
    """`ibu_path` of several histograms, each with its own mechanism, advanced together as one batch.

    Args:
        histograms: (rows, k) counts or frequencies.
        mechanisms: one per row, all with the same k.
        iterations, start: as in `ibu_path`; ``start`` is (k,) or (rows, k).

    Returns:
        The record; `IBUPath.row` takes one curve out of it.

    Raises:
        ValueError: naming the argument.
    """
    mechanisms = list(mechanisms)
    sizes = sorted({mechanism.k for mechanism in mechanisms})
    if len(sizes) != 1:
        raise ValueError(f"mechanisms must be one or more with the same k, got k = {sizes or 'none'}")
    checked = _validate.histogram(histograms, sizes[0])
    if checked.ndim != 2 or len(checked) != len(mechanisms):
        raise ValueError(
            f"histograms must have one row of k = {sizes[0]} for each of the {len(mechanisms)} mechanisms, "
            f"got shape {checked.shape}"
        )
    return _record(checked, mechanisms, iterations, start)


def iterates(path: IBUPath, last: int, since: int | None = None) -> Iterator[tuple[int, Array]]:
    """Run IBU again from the start of a path, and give every estimate, not only the recorded ones.

    Args:
        path: one histogram or a batch; what it recorded does not matter.
        last: the last iteration, an integer >= 0.
        since: index of the recorded iteration to go on from, instead of the start.

    Raises:
        ValueError: naming the argument.

    Yields:
        The iteration number of the first of some successive estimates, and those estimates (steps, rows, levels) on
        the levels of the flattened batch; first the start alone, then pieces that fit a processor's cache.
    """
    last = _validate.integer("last", last, 0)
    batch = _Batch(path._levels, truth_odds(path.mechanisms))
    if since is not None:
        since = _validate.integer("since", since, 0, len(path.iterations) - 1)
        batch.go_on(int(path.iterations[since]), path.thetas[since].reshape(batch.shape))
    return _each(batch, last)


def every_iteration(path: IBUPath) -> EveryIteration:
    """`IBUPath.every` of one histogram, by running IBU again where it was not kept."""
    if path.every is not None:
        return path.every
    measures = path.measures
    pieces = iterates(path, int(path.iterations[-1]))
    every = _joined([_two_measures(measures, thetas) for _, thetas in pieces])
    return EveryIteration(every.squared_distance[:, 0], every.certificate[:, 0])


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

    >>> ibu_channel([70, 30], [[0.9, 0.1], [0.2, 0.8]], 1000).round(4).tolist()
    [0.7143, 0.2857]
    """
    n_iterations = _validate.integer("n_iterations", n_iterations, 0)
    matrix = _validate.channel_matrix("channel", channel)
    counts = _validate.one_row("histogram", _validate.histogram(histogram, matrix.shape[1]), "k_out")
    scaled = as_rows(counts)[0]
    phi = scaled / scaled.sum()
    k_in = len(matrix)
    theta = np.full(k_in, 1 / k_in) if start is None else checked_distribution("start", start, k_in)
    theta = _validate.one_row("start", theta, "k_in")
    for _ in range(n_iterations):
        expected = theta @ matrix
        theta = theta * (matrix @ np.divide(phi, expected, out=np.zeros_like(phi), where=expected > 0))
    return theta


class _Batch:
    """All rows of a batch on their levels, advanced in place.

    What advances is v = (e^eps - 1) theta, the odds that a report of the category was the truth: with
    r = (e^eps - 1) phi/(1 + v), an iteration is v <- v (r + S), S = sum_j r_j/(e^eps - 1). All terms are
    positive, so every entry keeps its relative accuracy, however small it gets; and zero stays zero.
    """

    def __init__(self, levels: BatchLevels, odds: Array) -> None:
        self.levels, self._odds = levels, odds
        self._gain = odds * levels.phi
        self._weights = levels.multiplicities / odds
        self._v = odds * levels.start
        self.shape = self._v.shape
        self.done = 0

    def advance(self, steps: int, states: Array | None = None) -> None:
        """Iterate so many times; ``states`` (steps, rows, levels) is filled with v after every iteration."""
        v, gain, weights = self._v, self._gain, self._weights
        redraws: Array = np.empty(len(v))
        column = redraws[:, None]
        if len(v) == 1:  # half the time: for short rows the calls cost more than the arithmetic
            v, gain, weights = v[0], gain[0], weights[0]
            redraws = column = redraws.reshape(())
            states = None if states is None else states[:, 0]
        factor, one = np.empty_like(v), np.array(1.0)
        dot_product = np.ndarray.dot if v.ndim == 1 else np.vecdot
        pieces = [slice(first, first + _DOT_LENGTH) for first in range(0, v.shape[-1], _DOT_LENGTH)]
        dots = [(factor[..., piece], weights[..., piece], np.empty_like(redraws)) for piece in pieces[1:]]
        head, head_weights = factor[..., pieces[0]], weights[..., pieces[0]]
        add, divide, multiply = np.add, np.divide, np.multiply
        for first in range(0, steps, _SWEEP_EVERY):
            for step in range(first, min(first + _SWEEP_EVERY, steps)):
                add(v, one, factor)
                divide(gain, factor, factor)
                dot_product(head, head_weights, redraws)
                for part, part_weights, dot in dots:
                    dot_product(part, part_weights, dot)
                    add(redraws, dot, redraws)
                add(factor, column, factor)
                multiply(v, factor, v)
                if states is not None:
                    states[step] = v
            v[v < _NEGLIGIBLE] = 0.0
        self.done += steps

    def go_on(self, done: int, theta: Array) -> None:
        """Go on from an estimate (rows, levels) that was reached after so many iterations."""
        self.done, self._v = done, self._odds * theta

    def theta(self) -> Array:
        """(rows, levels) the estimate."""
        return self.normalised(self._v) if self.done else self.levels.start.copy()

    def normalised(self, v: Array) -> Array:
        """(..., rows, levels) theta, its sum made one again: the rounding of S adds up where S is nearly one."""
        theta: Array = v / self._odds
        theta /= weighted_sum(theta, self.levels.multiplicities)[..., None]
        return theta


def _record(
    checked: NDArray,
    mechanisms: list[RandomizedResponse],
    iterations: Iterable[int],
    start: ArrayLike | None,
    progress: Progress | None = None,
    in_full: bool = False,
) -> IBUPath:
    marks = sorted({_validate.integer("iterations", t, 0) for t in iterations})
    if not marks:
        raise ValueError("iterations must name at least one iteration, got none")
    measures = measures_on(batch_levels(checked, start), mechanisms)
    batch = _Batch(measures.levels, measures.odds)
    if in_full:
        every, thetas, reached = _follow(batch, measures, np.array(marks), progress)
    else:
        recorded = {done: batch.theta() for done in _advance_to(batch, marks, progress)}
        every, thetas, reached = None, np.stack([*recorded.values()]), [*recorded]
    stopped = reached[-1] < marks[-1]
    return build_path(measures, mechanisms, checked.shape, np.array(reached), thetas, stopped, every)


def _follow(
    batch: _Batch, measures: ErrorMeasures, marks: NDArray[np.int64], progress: Progress | None
) -> tuple[EveryIteration, Array, list[int]]:
    """Run to the last mark, or until progress asks to stop: two measures (t, rows) of every iteration, and the estimates
    (t, rows, levels) at the marks and where the run was stopped, with their numbers."""
    last, measured, thetas, called = int(marks[-1]), [], [], time.perf_counter()
    for first, piece in _each(batch, last):
        done = first + len(piece) - 1
        measured.append(_two_measures(measures, piece))
        thetas.append(piece[marks[(marks >= first) & (marks <= done)] - first])
        if progress is None or not (done == last or time.perf_counter() - called >= PROGRESS_SECONDS):
            continue
        if progress(done):
            break
        called = time.perf_counter()
    reached = marks[marks <= done].tolist()
    if done not in reached:
        thetas.append(piece[-1:])
        reached.append(done)
    return _joined(measured), np.concatenate(thetas), reached


def _two_measures(measures: ErrorMeasures, thetas: Array) -> tuple[Array, Array]:
    return measures.squared_distance(thetas), measures.certificate(thetas)


def _joined(measured: list[tuple[Array, Array]]) -> EveryIteration:
    return EveryIteration(*map(np.concatenate, zip(*measured, strict=True)))


def _each(batch: _Batch, last: int) -> Iterator[tuple[int, Array]]:
    """Every estimate from where the batch is up to iteration ``last``, see `iterates`."""
    yield batch.done, batch.theta()[None]
    longest = max(1, min(_iterations_per_look(batch), _ENTRIES_PER_PIECE // batch.levels.counts.size))
    first_done = batch.done
    # Short pieces first: many a run is near enough after a few iterations.
    while batch.done < last:
        first = batch.done + 1
        states = np.empty((min(longest, first - first_done + 7, last - batch.done), *batch.shape))
        batch.advance(len(states), states)
        yield first, batch.normalised(states)


def _iterations_per_look(batch: _Batch) -> int:
    """How many iterations are done between two looks at the clock."""
    return max(1, _ENTRIES_PER_LOOK // (batch.levels.counts.size + _ENTRIES_PER_CALL))


def _advance_to(batch: _Batch, marks: list[int], progress: Progress | None) -> Iterable[int]:
    """Advance the batch, yielding the iterations done at each mark, and a last time where progress asks to stop."""
    longest = _iterations_per_look(batch)
    called = time.perf_counter()
    for mark in marks:
        while batch.done < mark:
            batch.advance(min(longest, mark - batch.done))
            last = batch.done == marks[-1]
            if progress is None or not (last or time.perf_counter() - called >= PROGRESS_SECONDS):
                continue
            if progress(batch.done):
                yield batch.done
                return
            called = time.perf_counter()
        yield mark


START_KINDS = ("uniform", "reports", "leaning", "zero", "random", "typed")
# A random start makes every category different from every other, which costs O(k) per iteration.
LARGEST_K_RANDOM = 2000
LARGEST_K_TYPED = 20


@dataclass(frozen=True)
class Start:
    """Where a run of IBU starts.

    Attributes:
        kind: one of `START_KINDS`: "uniform"; "reports", their frequencies; "leaning", most of it on one category;
            "zero", nothing on one category and the same on all others; "random"; "typed", given shares.
        category: the category of "leaning" and "zero", counted from 0.
        mass: what "leaning" gives to that category, strictly between 0 and 1; the others share the rest.
        seed: which point "random" is, drawn uniformly from the simplex.
        weights: of "typed", one number >= 0 per category, not all zero; normalised here.

    >>> Start("leaning", category=2, mass=0.8).distribution([5, 3, 1]).round(3).tolist()
    [0.1, 0.1, 0.8]
    """

    kind: str = "uniform"
    category: int = 0
    mass: float = 0.9
    seed: int = 0
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _validate.one_of("kind", self.kind, START_KINDS)
        if not 0 < _validate.real("mass", self.mass, "strictly between 0 and 1") < 1:
            raise ValueError(f"mass must be strictly between 0 and 1, got {self.mass}")
        _validate.integer("category", self.category, 0)
        _validate.integer("seed", self.seed, 0)

    def distribution(self, histogram: ArrayLike) -> Array | None:
        """(k,) the distribution, for a histogram (k,) of reports; None for the uniform one.

        Raises:
            ValueError: when the category does not exist or the weights are not k numbers >= 0.
        """
        given = _validate.as_array("histogram", histogram)
        if given.ndim != 1 or given.size < 2:
            raise ValueError(f"histogram must have shape (k,) with k >= 2, got {given.shape}")
        k, counts = given.size, _validate.histogram(given, given.size)
        if self.kind == "uniform":
            return None
        if self.kind == "reports":
            return _validate.shares(counts)
        if self.kind == "random":
            return streams.generator(self.seed, Stream.START).dirichlet(np.ones(k))
        if self.kind == "typed":
            return _validate.shares(_validate.histogram(np.array(self.weights), k))
        category = _validate.integer("category", self.category, 0, k - 1)
        mass = self.mass if self.kind == "leaning" else 0.0
        start = np.full(k, (1 - mass) / (k - 1))
        start[category] = mass
        return start


def parse_weights(text: str, k: int) -> tuple[float, ...]:
    """Shares or counts that a person typed, one per category, separated by commas, spaces or semicolons.

    Raises:
        ValueError: one plain sentence for that person.

    >>> parse_weights("50% 30% 20%", 3)
    (50.0, 30.0, 20.0)
    """
    words = typed.words(text)
    if len(words) != k:
        raise ValueError(f"{k} numbers are needed, one for each category; this has {len(words)}.")
    weights = tuple(_number(word) for word in words)
    if sum(weights) <= 0:
        raise ValueError("At least one number must be above zero.")
    return weights


def _number(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise ValueError(
            f"{_validate.short(word)} is not a number; write for example 0.5, 0.3, 0.2."
        ) from None
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{_validate.short(word)} is not a share: every number must be zero or more.")
    return number
