"""Subset selection: a report is a set of d categories; a set with one's own is e^eps times as likely as one without.

Ye and Barg, IEEE Transactions on Information Theory 64 (2018), https://doi.org/10.1109/TIT.2018.2809790; Wang et al.,
arXiv:1607.08025.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.metrics import Users
from rr_core.protocols import laws
from rr_core.sampling import Counts

# Entries of (users, categories) that are drawn at once.
_ENTRIES_AT_ONCE = 1_000_000
# NumPy's hypergeometric sampler takes fewer than 10^9 users; more are drawn in parts, up to a limit.
_USERS_AT_ONCE, _MOST_USERS = 900_000_000, 10**12


@dataclass(frozen=True)
class SubsetSelection:
    """Subset selection of ``d`` of the k categories. With d = 1 it is k-RR.

    A report holds one's own category with probability p* = d e^eps/(d e^eps + k - d), and any other given one with
    q* = [p* (d - 1) + (1 - p*) d]/(k - 1).

    Args:
        k: number of categories, an integer >= 2.
        epsilon: privacy budget, 1e-6 <= epsilon <= 700.
        d: categories in a report, an integer from 1 to k - 1; None for the best size over all categories
            (`rr_core.protocols.laws.subset_size`), which the object then has as its ``d``.

    Raises:
        ValueError: naming the argument, its allowed range and what was received.

    >>> SubsetSelection(10, 1.0)
    SubsetSelection(k=10, epsilon=1.0, d=3)
    """

    k: int
    epsilon: float
    d: int | None = None

    def __post_init__(self) -> None:
        k, epsilon = _validate.integer("k", self.k, 2, laws.K_MAX), _validate.epsilon(self.epsilon)
        d = laws.subset_size(k, epsilon) if self.d is None else _validate.integer("d", self.d, 1, k - 1)
        for name, value in (("k", k), ("epsilon", epsilon), ("d", d)):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """``d`` as a number that is never None."""
        assert self.d is not None
        return self.d

    @cached_property
    def chances(self) -> laws.Support:
        """p*, q* and what follows from them."""
        return laws.subsets(self.k, self.epsilon, self.size)

    @property
    def p_star(self) -> float:
        """Pr(a report holds its owner's category)."""
        return self.chances.p_star

    @property
    def q_star(self) -> float:
        """Pr(a report holds one given other category)."""
        return self.chances.q_star

    def variance(self, theta: ArrayLike, n: float, users: Users = "fixed") -> Array:
        """Variance of Inv for categories of true shares ``theta``, any shape, from ``n`` reports: same shape. See
        `rr_core.protocols.laws.Support.variance`.

        >>> float(SubsetSelection(10, 1.0).variance(0.1, 10_000).round(6))
        0.000291
        """
        return self.chances.variance(theta, laws.checked_n(n), users)

    def randomize(self, values: ArrayLike, rng: np.random.Generator | int | None = None) -> NDArray[np.uint8]:
        """One report per user, O(k) time each.

        Args:
            values: the users' true categories, integers in 0..k-1, any shape; (n,) for n users.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            uint8 0 and 1 of shape ``values.shape + (k,)``, with d ones in every report.

        >>> SubsetSelection(5, 1.0, d=2).randomize([0, 3], rng=1).sum(axis=1).tolist()
        [2, 2]
        """
        rng = np.random.default_rng(rng)
        truths = _validate.categories("values", values, self.k)
        flat = truths.reshape(-1)
        reports = np.zeros((flat.size, self.k), dtype=np.uint8)
        step = max(1, _ENTRIES_AT_ONCE // self.k)
        for first in range(0, flat.size, step):
            own = flat[first : first + step, None]
            # The d smallest keys are named: one's own before all others, or after them.
            keys = rng.random((len(own), self.k))
            inside = rng.random((len(own), 1)) < self.p_star
            np.put_along_axis(keys, own, np.where(inside, -1.0, 2.0), axis=1)
            named = np.argpartition(keys, self.size - 1, axis=1)[:, : self.size]
            np.put_along_axis(reports[first : first + step], named, 1, axis=1)
        return reports.reshape(*truths.shape, self.k)

    def support(self, reports: ArrayLike) -> Counts:
        """How many reports hold each category.

        Args:
            reports: (..., n, k) of 0 and 1, with d ones in each row.

        Returns:
            (..., k) int64 counts, from 0 to n.

        Raises:
            ValueError: naming the argument.

        >>> SubsetSelection(3, 1.0, d=2).support([[1, 1, 0], [0, 1, 1]]).tolist()
        [1, 2, 1]
        """
        sets = _validate.vector("reports", reports, self.k)
        if sets.ndim < 2:
            raise ValueError(f"reports must have shape (n, k), one row per user, got shape {sets.shape}")
        if ((sets != 0) & (sets != 1)).any():
            raise ValueError("reports must be 0 or 1 in every entry, got other numbers")
        ones = sets.sum(axis=-1, dtype=np.int64)
        if (ones != self.size).any():
            wrong = int(ones[ones != self.size].flat[0])
            raise ValueError(f"reports must have d = {self.size} ones in each row, got a row with {wrong}")
        counts: Counts = sets.sum(axis=-2, dtype=np.int64)
        return counts

    def randomize_support(self, counts: ArrayLike, rng: np.random.Generator | int | None = None) -> Counts:
        """How many of everybody's reports hold each category, drawn from its exact joint law without making the reports.

        A set is uniform among all sets with probability k/(k + d (e^eps - 1)), else one's own category and a uniform set
        of d - 1 others. Going through the categories one by one, a user whose set still lacks r of the m categories that
        are left takes the next one with probability r/m: only the number of users for each r has to be known. (Of those
        whose set begins with their own category, also whether it is still to come. All for whom it is are alike, so
        that those to whom it comes next are a random part of them.)

        Args:
            counts: (..., k) true counts, whole numbers >= 0 of at most 10^12 users; leading axes are independent batches.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            int64 (..., k), d times the users in total. k steps over the r that occur, at most min(d + 1, users) of
            them and about 3 sqrt(k): O(k^1.5) for up to 10^9 users (more are drawn in parts); O(k) for d = 1.

        Raises:
            ValueError: naming the argument.

        >>> SubsetSelection(5, 1.0, d=2).randomize_support([10**9, 0, 0, 0, 0], rng=1).sum() == 2 * 10**9
        np.True_
        """
        rng = np.random.default_rng(rng)
        true_counts = sampling.whole_counts("counts", counts, self.k)
        n = true_counts.sum(axis=-1).max(initial=0)
        if n > _MOST_USERS:
            raise ValueError(f"counts must add up to at most {_MOST_USERS:,}, got {n:,}")
        odds = self.size * math.expm1(self.epsilon)
        chance = odds / (self.k + odds)
        if self.size == 1:
            return sampling.noisy_histogram(true_counts, chance, rng)
        rows = true_counts.reshape(-1, self.k)
        supports = np.zeros_like(rows)
        for row, out in zip(rows, supports, strict=True):
            kept = rng.binomial(row, chance)
            out[:] = _support_of_sets(kept, int(row.sum() - kept.sum()), self.size, rng)
        return supports.reshape(true_counts.shape)


def inv_subset(support: ArrayLike, protocol: SubsetSelection, n: float | None) -> Array:
    """The unbiased estimate (share of reports that hold a category - q*)/(p* - q*).

    Args:
        support: (..., k) how many of the reports hold each category, from 0 to n.
        protocol: the subset selection that produced them.
        n: number of reports, > 0.

    Returns:
        (..., k) estimates that may be negative; they sum to one when every report held d categories. With integers the
        differences are taken before dividing, so that nothing is lost at a small epsilon.

    Raises:
        ValueError: naming the argument.

    >>> inv_subset([700, 400, 400, 500], SubsetSelection(4, math.log(3), d=2), 1000).round(4).tolist()
    [0.85, -0.05, -0.05, 0.25]
    """
    held = _validate.vector("observed", support, protocol.k)
    allowed = "the number of reports, above 0, for subset selection"
    users = _validate.real("n", n, allowed)
    if not users > 0:
        raise ValueError(f"n must be {allowed}, got {n!r}")
    if held.size and (held.min() < 0 or held.max() > users):
        raise ValueError(
            f"observed must be from 0 to n = {users:g} in every entry, got {held.min()} to {held.max()}"
        )
    held = held.astype(np.float64)
    if users > 2.0**62:  # no number of people: differences would overflow
        held, users = held / users, 1.0
    k, d, odds = protocol.k, protocol.size, math.expm1(protocol.epsilon)
    noise = (k - 1) * ((k * held - d * users) / users) / (d * (k - d)) / odds
    inverse: Array = noise + ((k - 1) * held - (d - 1) * users) / users / (k - d)
    return inverse


def _support_of_sets(kept: Counts, others: int, d: int, rng: np.random.Generator) -> Counts:
    """(k,) how many sets hold each category: of ``kept`` (k,) users whose sets hold their own category and d - 1 others,
    and of ``others`` users whose sets are any d."""
    if kept.sum() > _USERS_AT_ONCE:
        half = kept // 2
        first = _support_of_sets(half, others // 2, d, rng)
        return first + _support_of_sets(kept - half, others - others // 2, d, rng)
    k = kept.size
    support = kept.copy()
    # Users by how many categories their sets still lack, least + 0, 1, …: in the first row those whose own category is
    # still to come.
    least, state = d - 1, np.array([[kept.sum(), 0], [0, others]], dtype=np.int64)
    for j in range(k):
        left = k - j
        moved = np.zeros_like(state[0])
        if kept[j]:
            moved = rng.multivariate_hypergeometric(state[0], int(kept[j]), method="marginals")
            state[0] -= moved
        lacks = np.arange(least, least + state.shape[1])
        # Nobody is where the chance would be above one.
        chances = np.minimum(lacks / np.array([[max(left - 1, 1)], [left]]), 1.0)
        picks = rng.binomial(state, chances)
        support[j] += picks.sum()
        after = np.zeros((2, state.shape[1] + 1), dtype=np.int64)
        after[:, 1:] = state - picks
        after[:, :-1] += picks
        after[1, 1:] += moved
        occupied = np.flatnonzero(after.any(axis=0))
        if not occupied.size:
            break
        state = after[:, occupied[0] : occupied[-1] + 1]
        least += int(occupied[0]) - 1
    return support
