"""The reports of a cell's users, many collections at once, from their exact law, and their profiles.

Everything here works on blocks of collections. With R users whose truth is not kept, the uniform part is drawn in
one of three ways of one law: user by user while they are few, by the binomials of `sampling` while k is small, and
between the two by Poisson counts: k independent Poisson counts whose sum is at most R, and the users still missing
thrown one by one. Given their sum, Poisson counts of equal rate are uniform multinomial, whatever the sum; so the
result is uniform multinomial of R.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core import sampling, streams
from rr_core._validate import Array
from rr_core.experiments.grid import Cell, Settings
from rr_core.mechanism import RandomizedResponse
from rr_core.populations import Population
from rr_core.profile import Profile
from rr_core.sampling import Counts
from rr_core.streams import Stream

# Counts below this, or twice k, are tallied in a table; columns that reach higher are levels of their own.
_TABLE = 1024


class CachedProfile(Profile):
    """A profile that several rules are found from: its running sums are worked out once."""

    @cached_property
    def sizes(self) -> Array:
        return super().sizes

    @cached_property
    def below(self) -> Array:
        return super().below

    @cached_property
    def totals(self) -> Array:
        return super().totals


def profile_of_rows(rows: Counts) -> CachedProfile:
    """Profile of every row of (rows, k) counts.

    Unlike `profile.profile` the rows share their levels, so a level that a row does not have stands there with
    multiplicity 0. No rule minds: at such a level every estimator's affine piece takes the value it would have.
    """
    k = rows.shape[-1]
    high = rows.max(axis=0) >= max(_TABLE, 2 * k)
    if not high.any():
        return CachedProfile(*_tallied(rows))
    values: Array = rows[:, high].astype(np.float64)
    multiplicities = np.ones_like(values)
    if not high.all():
        low_values, low_multiplicities = _tallied(rows[:, ~high])
        values = np.concatenate([values, low_values], axis=-1)
        multiplicities = np.concatenate([multiplicities, low_multiplicities], axis=-1)
    order = np.argsort(-values, axis=-1)
    return CachedProfile(
        np.take_along_axis(values, order, axis=-1), np.take_along_axis(multiplicities, order, axis=-1)
    )


def _tallied(rows: Counts) -> tuple[Array, Array]:
    """(rows, levels) each: the values that occur in any row, decreasing, and how often in this one."""
    least = int(rows.min())
    width = int(rows.max()) - least + 1
    start: NDArray[np.int64] = np.arange(len(rows), dtype=np.int64)[:, None] * width - least
    tally = np.bincount((rows + start).ravel(), minlength=len(rows) * width).reshape(len(rows), width)
    found = np.flatnonzero(tally.any(axis=0))[::-1]
    values = np.broadcast_to((found + least).astype(np.float64), (len(rows), found.size))
    return values, tally[:, found].astype(np.float64)


# Uniform users per category above which Poisson counts are quicker than users one by one, and users per squared
# number of categories above which a tree of binomials is quicker again (measured).
_FEW, _MANY = 4, 8
# How far below R the Poisson counts aim, in standard deviations: a row above R is drawn anew, 3 times in 100,000.
_MARGIN = 4.0
# Rates and numbers of draws for which looking up a table beats NumPy's sampler (measured).
_TABLE_RATE, _TABLE_DRAWS = 500.0, 20_000
_GUIDE = 4096


@dataclass(frozen=True, eq=False)
class Collector:
    """Draws a cell's collections.

    Attributes:
        mechanism: the randomized response.
        n: users.
        theta: (k,) the population.
        people: (k,) the users' own counts when they are fixed, else None.
        stream: the four numbers that stand for a seed in the cell's random streams.
    """

    mechanism: RandomizedResponse
    n: int
    theta: Array
    people: Counts | None
    stream: streams.Key

    @classmethod
    def of(cls, cell: Cell, settings: Settings, given: Mapping[str, Population]) -> Collector:
        """The collector of a cell; ``given`` holds the uploaded populations."""
        population = cell.population(given)
        people = None if settings.users == "sampled" else _fixed_users(cell, settings, population)
        words = _stream_key(f"{cell.key} {settings.users} {settings.people} seed={settings.seed}")
        return cls(cell.mechanism, cell.n, population.probabilities, people, words)

    @property
    def truth(self) -> Array:
        """(k,) what the estimates are held against."""
        return self.theta if self.people is None else self.people / self.n

    def block(self, number: int, rows: int) -> Counts:
        """(rows, k) the reports of block ``number``: always the same for the same cell, settings and rows."""
        rng = streams.generator(self.stream, Stream.NOISE, number)
        k, keep = self.mechanism.k, self.mechanism.keep
        if self.people is None:
            kept = _kept_of_new_users(self.n, self.theta, keep, rows, rng)
        else:
            kept = _kept_of_fixed_users(self.people, keep, rows, rng)
        thrown = self.n - kept.sum(axis=-1)
        if _FEW * k < self.n * (1 - keep) < _MANY * k * k:
            kept += poissonised(thrown, k, rng)
        else:
            kept += sampling.uniform_multinomial(thrown, k, rng)
        return kept


def poissonised(totals: Counts, k: int, rng: np.random.Generator) -> Counts:
    """(rows, k) uniform multinomial counts with these (rows,) totals, by way of Poisson counts."""
    least = float(totals.min())
    rate = max(least - _MARGIN * np.sqrt(least), 0.0) / k
    counts = poisson(rate, (totals.size, k), rng)
    left = totals - counts.sum(axis=-1)
    while (over := left < 0).any():
        counts[over] = rng.poisson(rate, (int(over.sum()), k))
        left = totals - counts.sum(axis=-1)
    counts += sampling.uniform_multinomial(left, k, rng)
    return counts


def poisson(rate: float, shape: tuple[int, int], rng: np.random.Generator) -> Counts:
    """Independent Poisson counts of one ``rate``. Many of a moderate rate are read off a table of the
    distribution function, with a guide to where in it a uniform number falls."""
    if rate > _TABLE_RATE or shape[0] * shape[1] < _TABLE_DRAWS:
        return rng.poisson(rate, shape)
    most = int(rate + 12 * np.sqrt(rate) + 40)
    upto = special.pdtr(np.arange(most + 1), rate)
    upto[-1] = 1.0
    guide = np.searchsorted(upto, np.arange(_GUIDE) / _GUIDE, side="right")
    uniform = rng.random(shape[0] * shape[1])
    counts = guide[(uniform * _GUIDE).astype(np.intp)]
    short = np.flatnonzero(uniform >= upto[counts])
    while short.size:
        counts[short] += 1
        short = short[uniform[short] >= upto[counts[short]]]
    return counts.reshape(shape)


def _fixed_users(cell: Cell, settings: Settings, population: Population) -> Counts:
    if population.counts is not None and cell.n == population.total:
        return population.counts
    if settings.people == "rounded":
        return sampling.whole_users(population.probabilities, cell.n)
    # Without epsilon: along it the users stay the same.
    rng = streams.generator(_stream_key(f"{cell.source} n={cell.n} seed={settings.seed}"), Stream.USERS)
    return sampling.multinomial(cell.n, population.probabilities, rng)


def _kept_of_fixed_users(people: Counts, keep: float, rows: int, rng: np.random.Generator) -> Counts:
    """(rows, k) how many of each category's users keep their truth."""
    occupied = np.flatnonzero(people)
    # All collections of a category in turn: NumPy prepares its sampler anew only when the parameters change.
    drawn = rng.binomial(people[occupied, None], keep, size=(occupied.size, rows))
    kept: NDArray[np.int64] = np.zeros((rows, people.size), dtype=np.int64)
    kept[:, occupied] = drawn.T
    return kept


def _kept_of_new_users(n: int, theta: Array, keep: float, rows: int, rng: np.random.Generator) -> Counts:
    """(rows, k) the same when the users are drawn anew from ``theta`` each time."""
    totals = rng.binomial(n, keep, size=rows)
    if rows == 1:  # long rows: the tree of binomials stays exact there
        return sampling.multinomial(int(totals[0]), theta, rng)[None]
    return rng.multinomial(totals, theta)


def _stream_key(text: str) -> streams.Key:
    """Four 32-bit numbers of a text."""
    digest = hashlib.sha256(text.encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
