"""Simulated collections in blocks of work, each with its own random stream, that can be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.collected.reports import Counts
from rr_core.mechanism import RandomizedResponse

Progress = Callable[[int], bool]
Sampler = Callable[[np.random.Generator, int], Counts]  # (stream, how many) -> (how many, k) reports

_LONG_ROW = 8192  # from so many categories on a block is one collection: its distinct counts are few beside k
_ROWS, _CELLS = 64, 100_000  # below, a block is at most so many collections, and so many categories in all
_SECONDS = 0.05  # between two calls of a progress function


def simulate(
    sampler: Sampler,
    k: int,
    replicates: int,
    stream: tuple[int, ...],
    progress: Progress | None = None,
) -> Iterator[Counts]:
    """Collections (rows, k), block by block.

    Collection i is the same whatever ``replicates`` is and whenever it stops: every block has its own stream
    and is drawn whole.

    Args:
        sampler: draws the reports of a block.
        k: number of categories.
        replicates: how many collections, an integer >= 1.
        stream: key of the random streams, integers >= 0.
        progress: called with the number of collections done, about every 50 ms and after the last; True asks
            to stop.
    """
    size = 1 if k >= _LONG_ROW else min(_ROWS, _CELLS // k)
    told = time.monotonic()
    for first in range(0, replicates, size):
        rng = np.random.default_rng((*stream, first // size))
        yield sampler(rng, size)[: replicates - first]
        done = min(first + size, replicates)
        if progress is not None and (done == replicates or time.monotonic() - told >= _SECONDS):
            if progress(done):
                return
            told = time.monotonic()


def new_users(theta: Array, n: int, mechanism: RandomizedResponse) -> Sampler:
    """New users from a population with shares ``theta`` report each time."""
    seen = mechanism.expected(theta)
    seen /= seen.sum()

    def draw(rng: np.random.Generator, rows: int) -> Counts:
        if rows > 1:
            drawn: NDArray[np.int64] = rng.multinomial(n, seen, size=rows)
            return drawn
        # Long rows by the tree of binomials, which stays exact there; over the few that somebody has.
        occupied = np.flatnonzero(theta)
        users = np.zeros(mechanism.k, dtype=np.int64)
        users[occupied] = sampling.multinomial(n, theta[occupied], rng)
        return mechanism.randomize_histogram(users[None], rng)

    return draw


def checked_plan(replicates: int, seed: int) -> tuple[int, int]:
    """Both as integers, or ValueError."""
    return _validate.integer("replicates", replicates, 1), _validate.integer("seed", seed, 0)
