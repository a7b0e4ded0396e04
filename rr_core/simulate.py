"""Repeated collections of reports: of which users, from which random stream, by which sampler.

A `Collector` draws collections in blocks. Each block has a random stream of its own and is always drawn whole, so
collection number i does not depend on how many are drawn. `simulate` yields the blocks of one collector or of several,
reports its progress and can be stopped. Repeated draws of a scenario, sweeps, the curves of a plan and the test of
epsilon are all simulated here.

The users are either fixed, and report again in every collection, or sampled from a population for each collection. Four
samplers draw from the same law. They differ in speed and in the random numbers that they consume; links and files hold
results of each, so each simulation keeps its own:

    users_then_noise       repeated draws, plans with fixed users: the users' histogram, then noise on it
    multinomial_reports    plans with sampled users: the reports as a multinomial of their expected shares
    rescaled_reports       the test of epsilon: the same with the shares rescaled to sum one, and a quicker way for many
                           categories most of which are empty
    kept_then_poisson      sweeps: the truthful reports of many collections, category by category, and then the random
                           ones, by Poisson counts where that is quickest
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rr_core import sampling
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.sampling import Counts

T = TypeVar("T")
# Called with the number of collections done; returns True to stop.
Progress = Callable[[int], bool]
# (rows, k) reports, and (rows, k) true counts of the users, None where the sampler does not draw them first.
Sample = tuple[Counts, Counts | None]
# Draws a number of collections of a collector from a random stream.
Sampler = Callable[["Collector", int, np.random.Generator], Sample]

# Seconds of work between two calls of a progress function.
PROGRESS_SECONDS = 0.05
_CELLS_PER_STEP = 400_000
# Uniform users per category above which Poisson counts are quicker than users one by one, and users per squared
# number of categories above which a tree of binomials is quicker again (measured).
_FEW, _MANY = 4, 8


def users_then_noise(collector: Collector, rows: int, rng: np.random.Generator) -> Sample:
    """The users' histogram, sampled by a tree of binomials or fixed, and then noise on it."""
    if collector.true_counts is None:
        reporting = np.stack([sampling.multinomial(collector.n, collector.theta, rng) for _ in range(rows)])
    else:
        reporting = np.broadcast_to(collector.true_counts, (rows, collector.mechanism.k))
    return sampling.noisy_histogram(reporting, collector.mechanism.keep, rng), reporting


def multinomial_reports(collector: Collector, rows: int, rng: np.random.Generator) -> Sample:
    """Sampled users: their reports are multinomial with the expected shares of reports. Several rows are drawn by NumPy,
    which is quicker and exact enough for few categories; a single row, which may be long, by a tree of binomials. Fixed
    users: as `users_then_noise`."""
    if collector.true_counts is not None:
        return users_then_noise(collector, rows, rng)
    expected = collector.mechanism.expected(collector.theta)
    if rows > 1:
        return rng.multinomial(collector.n, expected, rows), None
    return sampling.multinomial(collector.n, expected, rng)[None], None


def rescaled_reports(collector: Collector, rows: int, rng: np.random.Generator) -> Sample:
    """As `multinomial_reports`, with the expected shares rescaled to sum one; a single row is drawn as the users of the
    categories that anybody has, and then noise."""
    if collector.true_counts is not None:
        return users_then_noise(collector, rows, rng)
    if rows > 1:
        expected = collector.mechanism.expected(collector.theta)
        return rng.multinomial(collector.n, expected / expected.sum(), size=rows), None
    occupied = np.flatnonzero(collector.theta)
    users: NDArray[np.int64] = np.zeros((1, collector.mechanism.k), dtype=np.int64)
    users[0, occupied] = sampling.multinomial(collector.n, collector.theta[occupied], rng)
    return sampling.noisy_histogram(users, collector.mechanism.keep, rng), users


def kept_then_poisson(collector: Collector, rows: int, rng: np.random.Generator) -> Sample:
    """First the truthful reports, category by category for all collections at once; then the random ones, one by one if
    they are few, by a tree of binomials if they are many per category, by Poisson counts in between."""
    n, k, keep = collector.n, collector.mechanism.k, collector.mechanism.keep
    if collector.true_counts is None:
        kept = _kept_of_sampled_users(n, collector.theta, keep, rows, rng)
    else:
        kept = _kept_of_fixed_users(collector.true_counts, keep, rows, rng)
    thrown = n - kept.sum(axis=-1)
    if _FEW * k < n * (1 - keep) < _MANY * k * k:
        kept += sampling.poissonised_multinomial(thrown, k, rng)
    else:
        kept += sampling.uniform_multinomial(thrown, k, rng)
    return kept, None


def last_of(growing: Callable[[], Iterable[T]], done: Callable[[T], int], progress: Progress) -> T:
    """The last of the results that ``growing()`` yields, or the one at which ``progress``, called with ``done`` of each,
    returned True."""
    for result in growing():
        if progress(done(result)):
            break
    return result


@dataclass(frozen=True, eq=False)
class Collector:
    """Draws collections of reports.

    Attributes:
        mechanism: the randomized response.
        n: number of users.
        theta: (k,) distribution that the users are sampled from; not used where they are fixed.
        true_counts: (k,) the users' own counts where they are fixed, None where they are sampled.
        stream: from the number of a block, 0, 1, ..., to its random stream.
        rows: number of collections in a block.
        sampler: how a block is drawn.

    >>> from rr_core import RandomizedResponse, streams
    >>> stream = lambda number: streams.generator(5, streams.Stream.REPEATS, number)
    >>> collector = Collector.fixed(np.array([60, 30, 10]), RandomizedResponse(3, 1.0), stream, rows=1)
    >>> collector.draw(0, 2).reports.sum(axis=1).tolist()
    [100, 100]
    """

    mechanism: RandomizedResponse
    n: int
    theta: Array
    true_counts: Counts | None
    stream: Callable[[int], np.random.Generator]
    rows: int
    sampler: Sampler = users_then_noise

    @classmethod
    def fixed(
        cls,
        true_counts: Counts,
        mechanism: RandomizedResponse,
        stream: Callable[[int], np.random.Generator],
        rows: int,
        sampler: Sampler = users_then_noise,
    ) -> Collector:
        """A collector of fixed users with (k,) ``true_counts``; the other arguments are its attributes."""
        n = int(true_counts.sum())
        return cls(mechanism, n, true_counts / n, true_counts, stream, rows, sampler)

    @property
    def truth(self) -> Array:
        """(k,) distribution to be estimated: the shares of the fixed users, else ``theta``."""
        return self.theta if self.true_counts is None else self.true_counts / self.n

    def draw(self, first: int, wanted: int) -> Block:
        """Collections ``first`` to ``first + wanted - 1``, in whole blocks.

        Raises:
            ValueError: when ``first`` is not the first collection of a block.
        """
        if first % self.rows:
            raise ValueError(f"first must be a multiple of the rows of a block, {self.rows}, got {first}")
        numbers = range(first // self.rows, -(-(first + wanted) // self.rows))
        drawn = [self.sampler(self, self.rows, self.stream(number)) for number in numbers]
        reports = _joined([of_block for of_block, _ in drawn])
        users = [users for _, users in drawn if users is not None]
        return Block(reports, _joined(users) if users else None, first, wanted)


@dataclass(frozen=True, eq=False)
class Block:
    """Collections drawn together.

    Attributes:
        reports: (rows, k) reports per category.
        true_counts: (rows, k) the users' own counts; None where the sampler does not draw them first.
        first: number of the first collection.
        wanted: number of rows that count; at the end of a run there may be more, since blocks are drawn whole.
        point: index of the collector among several.
    """

    reports: Counts
    true_counts: Counts | None
    first: int
    wanted: int
    point: int = 0


def simulate(
    collectors: Collector | Sequence[Collector],
    replicates: int,
    *,
    step: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Block]:
    """Draw ``replicates`` collections from each collector, a step at a time and each collector in turn.

    It stops when no further block is asked for, or when ``progress`` returns True.

    Args:
        collectors: one, or several with blocks of equal size.
        replicates: number of collections from each, an integer >= 1.
        step: number of collections yielded together, a multiple of the rows of a block; by default one block.
        progress: called with the number of collections done, of all collectors, about every 50 ms and after the last.

    >>> from rr_core import Scenario
    >>> draw = Scenario("zipf", 4, 1.0, 1.0, 100, 5).draw()
    >>> [block.reports.shape for block in simulate(draw.collector(), 5, step=2)]
    [(2, 4), (2, 4), (1, 4)]
    """
    every = [collectors] if isinstance(collectors, Collector) else collectors
    step = every[0].rows if step is None else step
    done, called_at = 0, time.perf_counter()
    for first in range(0, replicates, step):
        wanted = min(step, replicates - first)
        for point, collector in enumerate(every):
            block = collector.draw(first, wanted)
            yield replace(block, point=point)
            done += wanted
            last = done == replicates * len(every)
            if progress is not None and (last or time.perf_counter() - called_at >= PROGRESS_SECONDS):
                if progress(done):
                    return
                called_at = time.perf_counter()


def rows_per_step(k: int) -> int:
    """Number of collections of ``k`` categories per step, so that a step takes some tens of milliseconds and
    a stop takes effect soon.

    >>> rows_per_step(1000)
    400
    """
    return max(1, _CELLS_PER_STEP // k)


def _joined(parts: list[Counts]) -> Counts:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _kept_of_fixed_users(true_counts: Counts, keep: float, rows: int, rng: np.random.Generator) -> Counts:
    """(rows, k) number of users of each category who report the truth."""
    occupied = np.flatnonzero(true_counts)
    # All collections of a category in turn: NumPy prepares its sampler anew only when the parameters change.
    drawn = rng.binomial(true_counts[occupied, None], keep, size=(occupied.size, rows))
    kept: NDArray[np.int64] = np.zeros((rows, true_counts.size), dtype=np.int64)
    kept[:, occupied] = drawn.T
    return kept


def _kept_of_sampled_users(n: int, theta: Array, keep: float, rows: int, rng: np.random.Generator) -> Counts:
    """As `_kept_of_fixed_users`, for users sampled from ``theta`` in each collection."""
    totals = rng.binomial(n, keep, size=rows)
    if rows == 1:  # long rows: the tree of binomials stays exact there
        return sampling.multinomial(int(totals[0]), theta, rng)[None]
    return rng.multinomial(totals, theta)
