"""Exact random histograms: multinomial counts, and randomized-response noise, in O(k) for any N.

Randomized response keeps the truth with probability p - q and otherwise reports one of all k categories
uniformly. So the noisy histogram of true counts T is Binomial(T_i, p - q) kept in each category plus a
uniform multinomial of everybody else: the same law as randomizing user by user, at a cost that does not
depend on the number of users.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate
from rr_core._validate import Array

Counts = NDArray[np.int64]

# Below this many users per category, throwing users one by one into k boxes beats splitting the total
# down a tree of binomials (measured; the law is the same either way).
_USERS_PER_BOX = 8
# How far below the total the Poisson counts aim, in standard deviations: 3 rows in 100,000 are above it and drawn anew.
_MARGIN = 4.0
# Rates and numbers of draws for which looking up a table beats NumPy's Poisson sampler (measured).
_TABLE_RATE, _TABLE_DRAWS = 500.0, 20_000
_GUIDE = 4096
# Entries of (groups, categories) that are drawn at once.
_ENTRIES_AT_ONCE = 1_000_000
_LARGEST_TOTAL = 2.0**62  # of counts: sums of a few of them still fit into int64


def multinomial(n: int, weights: ArrayLike, rng: np.random.Generator) -> Counts:
    """Counts of ``n`` independent users over categories with probabilities proportional to ``weights``.

    Args:
        n: number of users, >= 0.
        weights: (k,) non-negative, positive total; need not sum to one.
        rng: NumPy generator.

    Returns:
        (k,) int64 counts summing to ``n``. The total is split by binomials down a binary tree of partial
        sums, which stays exact at k in the millions, where conditioning category by category on
        1 - p_1 - ... - p_i loses all accuracy in the tail. O(k) time for any ``n``.

    Raises:
        ValueError: naming the argument when ``n`` or ``weights`` is out of range.

    >>> from rr_core.streams import Stream, generator
    >>> int(multinomial(10**9, [0.7, 0.2, 0.1, 0.0], generator(1, Stream.USERS)).sum())
    1000000000
    """
    n = _validate.integer("n", n, 0, 2**62)
    weights = _validate.weights(weights).astype(np.float64)
    if weights.max() > 1e100:
        weights = _validate.shares(weights)
    row: Counts = _split(np.array([n], dtype=np.int64), weights, rng)[0]
    return row


def sum_of_multinomials(totals: Counts, weights: Array, rng: np.random.Generator) -> Counts:
    """(m,) counts of users from several groups: those of group i are spread independently over m categories with
    probabilities proportional to row i of ``weights``. O(groups * m) for any number of users.

    Args:
        totals: (groups,) int64 users of each group, >= 0.
        weights: (groups, m) non-negative, each row with a positive total near one.
        rng: NumPy generator.

    >>> from rr_core.streams import Stream, generator
    >>> weights = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> int(sum_of_multinomials(np.array([8, 0]), weights, generator(1, Stream.NOISE))[:2].sum())
    8
    """
    occupied = np.flatnonzero(totals)
    counts: Counts = np.zeros(weights.shape[1], dtype=np.int64)
    step = max(1, _ENTRIES_AT_ONCE // weights.shape[1])
    for first in range(0, occupied.size, step):
        groups = occupied[first : first + step]
        counts += _split(totals[groups], weights[groups], rng).sum(axis=0)
    return counts


def uniform_multinomial(totals: ArrayLike, k: int, rng: np.random.Generator) -> Counts:
    """Counts of users thrown uniformly into ``k`` categories; one row per entry of ``totals``.

    Args:
        totals: non-negative integers of any shape: how many users in each row.
        k: number of categories, >= 1.
        rng: NumPy generator.

    Returns:
        int64 array of shape ``totals.shape + (k,)``, each row summing to its total.

    >>> from rr_core.streams import Stream, generator
    >>> uniform_multinomial([8, 0], 4, generator(1, Stream.NOISE)).sum(axis=1).tolist()
    [8, 0]
    """
    totals = np.asarray(totals, dtype=np.int64)
    flat = totals.reshape(-1)
    if flat.sum(dtype=np.float64) <= _USERS_PER_BOX * k * flat.size:
        rows = _throw(flat, k, rng)
    else:
        rows = _split(flat, np.ones(k), rng)
    return rows.reshape(*totals.shape, k)


def poissonised_multinomial(totals: Counts, k: int, rng: np.random.Generator) -> Counts:
    """As `uniform_multinomial` for (rows,) totals, by way of Poisson counts: (rows, k).

    Given their sum, k independent Poisson counts of equal rate are uniform multinomial, whatever the sum. So counts whose
    sum is at most the total, and the users still missing thrown one by one, are uniform multinomial of the total.

    >>> from rr_core.streams import Stream, generator
    >>> poissonised_multinomial(np.array([50, 70]), 4, generator(1, Stream.NOISE)).sum(axis=1).tolist()
    [50, 70]
    """
    least = float(totals.min())
    rate = max(least - _MARGIN * np.sqrt(least), 0.0) / k
    counts = poisson(rate, (totals.size, k), rng)
    left = totals - counts.sum(axis=-1)
    while (over := left < 0).any():
        counts[over] = rng.poisson(rate, (int(over.sum()), k))
        left = totals - counts.sum(axis=-1)
    counts += uniform_multinomial(left, k, rng)
    return counts


def poisson(rate: float, shape: tuple[int, int], rng: np.random.Generator) -> Counts:
    """Independent Poisson counts of mean ``rate``, int64 of this shape. Many counts of a moderate rate are
    drawn by inversion, see `poisson_by_table`."""
    if not has_poisson_table(rate, shape[0] * shape[1]):
        return rng.poisson(rate, shape)
    return poisson_by_table(rate, rng.random(shape[0] * shape[1])).reshape(shape)


def has_poisson_table(rate: float, size: int) -> bool:
    """Whether `poisson_by_table` is the quicker way to draw ``size`` Poisson counts of mean ``rate``."""
    return rate <= _TABLE_RATE and size >= _TABLE_DRAWS


def poisson_by_table(rate: float, uniform: Array) -> Counts:
    """Poisson counts of mean ``rate`` by inversion: (m,) int64.

    For each u of ``uniform`` (m,), in [0, 1), the count x with F(x - 1) <= u < F(x), where F is the distribution
    function: a search in a table of F, started from a guide table.

    >>> poisson_by_table(0.7, np.array([0.0, 0.5, 0.9])).tolist()  # F(0) = 0.497, F(1) = 0.844
    [0, 1, 2]
    """
    most = int(rate + 12 * np.sqrt(rate) + 40)
    upto = special.pdtr(np.arange(most + 1), rate)
    upto[-1] = 1.0
    guide = np.searchsorted(upto, np.arange(_GUIDE) / _GUIDE, side="right")
    counts = guide[(uniform * _GUIDE).astype(np.intp)]
    short = np.flatnonzero(uniform >= upto[counts])
    while short.size:
        counts[short] += 1
        short = short[uniform[short] >= upto[counts[short]]]
    return counts


def noisy_histogram(true_counts: ArrayLike, keep: float, rng: np.random.Generator) -> Counts:
    """Reports per category when each user keeps the truth with probability ``keep`` = p - q and is
    otherwise thrown uniformly into all categories. Leading axes of ``true_counts`` are batches.

    >>> from rr_core.streams import Stream, generator
    >>> int(noisy_histogram([70, 20, 10], 0.5, generator(1, Stream.NOISE)).sum())
    100
    """
    true_counts = np.asarray(true_counts, dtype=np.int64)
    occupied = true_counts > 0
    kept = np.zeros_like(true_counts)
    kept[occupied] = rng.binomial(true_counts[occupied], keep)
    thrown = true_counts.sum(axis=-1) - kept.sum(axis=-1)
    kept += uniform_multinomial(thrown, true_counts.shape[-1], rng)
    return kept


def whole_users(shares: Array, n: int) -> Counts:
    """(k,) whole numbers summing to ``n``, proportional to ``shares`` (which sum to one), by largest
    remainder; ties go to the first category.

    >>> whole_users(np.array([0.55, 0.3, 0.15]), 7).tolist()
    [4, 2, 1]
    """
    exact = shares * n
    users = np.floor(exact).astype(np.int64)
    left = n - int(users.sum())
    if left > 0:
        users[np.argsort(users - exact, kind="stable")[:left]] += 1
    elif left < 0:  # beyond 2^53 the shares may round to more users than there are
        users[np.argmax(users)] += left
    return users


def whole_counts(name: str, values: ArrayLike, k: int) -> Counts:
    """``values`` as int64 counts whose last axis has length ``k``, or ValueError naming ``name``."""
    array: NDArray[Any] = _validate.vector(name, values, k)
    if array.dtype.kind == "f" and (array != np.floor(array)).any():
        raise ValueError(f"{name} must be whole numbers (counts of users), got fractions")
    if array.size and array.min() < 0:
        raise ValueError(f"{name} must be non-negative (every entry >= 0), got {array.min()}")
    with np.errstate(over="ignore"):
        largest = array.sum(axis=-1, dtype=np.float64).max(initial=0.0)
    if not largest <= _LARGEST_TOTAL:
        raise ValueError(f"{name} must add up to at most 2^62, got {largest:g}")
    return array.astype(np.int64, copy=False)


def one_collection(name: str, values: ArrayLike, k: int) -> Counts:
    """`whole_counts` of one dimension, (k,), with a total of at least one, or ValueError naming ``name``."""
    counts = _validate.one_row(name, whole_counts(name, values, k))
    if not counts.any():
        raise ValueError(f"{name} must have a total >= 1, got all zeros")
    return counts


def _throw(totals: Counts, k: int, rng: np.random.Generator) -> Counts:
    boxes = rng.integers(0, k, size=int(totals.sum()), dtype=np.int64)
    if totals.size > 1:
        boxes += np.repeat(np.arange(totals.size, dtype=np.int64) * k, totals)
    return np.bincount(boxes, minlength=totals.size * k).reshape(totals.size, k)


def _split(totals: Counts, weights: Array, rng: np.random.Generator) -> Counts:
    """(rows, m) counts; ``weights`` (m,) for all rows or (rows, m)."""
    size = weights.shape[-1]
    levels = [weights]
    while levels[-1].shape[-1] > 1:
        below = levels[-1]
        if below.shape[-1] % 2:
            below = np.concatenate([below, np.zeros_like(below[..., :1])], axis=-1)
            levels[-1] = below
        levels.append(below[..., 0::2] + below[..., 1::2])
    counts = totals[:, None]
    for below, above in zip(levels[-2::-1], levels[:0:-1], strict=True):
        # The division is at most 1 in floating point because left <= left + right after rounding.
        half = below.shape[-1] // 2
        above = above[..., :half]
        left_share = np.divide(below[..., 0::2], above, where=above > 0, out=np.zeros_like(above))
        parents = counts[:, :half]
        left = np.zeros_like(parents)
        busy = parents > 0
        left[busy] = rng.binomial(parents[busy], np.broadcast_to(left_share, parents.shape)[busy])
        counts = np.empty((totals.size, 2 * half), dtype=np.int64)
        counts[:, 0::2] = left
        counts[:, 1::2] = parents - left
    return np.ascontiguousarray(counts[:, :size])
