"""Hadamard response: reports of at most log2(k) + 2 bits, and estimates from all of them by a fast transform.

Acharya, Sun and Zhang, AISTATS 2019 (arXiv:1802.04705), the version for every epsilon. A report is one of B b numbers,
B blocks of b, a power of two. A category belongs to a block and to a row r > 0 of the b x b Hadamard matrix
H[r, t] = (-1)^(number of ones that r and t share in binary); the b/2 numbers t of its block with H[r, t] = 1 are its
set, each e^eps times as likely as any other report. Two rows of H agree on half of their entries, so that a category's
set holds half of any other set of its block, and nothing of the other blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.metrics import Users, check_users
from rr_core.protocols import laws
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import MaximumLikelihood, mle_channel
from rr_core.sampling import Counts

# Reports, or entries, that are drawn at once; users per member of a set from which a multinomial is quicker.
_USERS_AT_ONCE, _USERS_PER_MEMBER = 1_000_000, 8
# Categories times different reports whose likelihood is maximised: 160 MB.
_MOST_ENTRIES = 20_000_000


@dataclass(frozen=True)
class HadamardResponse:
    """Hadamard response for ``k`` categories.

    With B and b as in `rr_core.protocols.laws.hadamard_blocks`, a report is in its owner's set with probability
    p* = e^eps/(e^eps - 1 + 2B); each of the b/2 members of the set is e^eps times as likely as each other report.
    Category x is in block x mod B, row 1 + floor(x/B), which deals the categories out evenly.

    Args:
        k: number of categories, an integer >= 2.
        epsilon: privacy budget, 1e-6 <= epsilon <= 700.

    Raises:
        ValueError: naming the argument, its allowed range and what was received.

    >>> hadamard = HadamardResponse(1000, 3.0)
    >>> hadamard.n_blocks, hadamard.block_size, hadamard.m, hadamard.bits
    (16, 64, 1024, 10)
    """

    k: int
    epsilon: float

    def __post_init__(self) -> None:
        k = _validate.integer("k", self.k, 2, laws.K_MAX)
        for name, value in (("k", k), ("epsilon", _validate.epsilon(self.epsilon))):
            object.__setattr__(self, name, value)

    @cached_property
    def chances(self) -> laws.Support:
        """p*, the mean q* over the other categories, and what follows from them."""
        return laws.hadamard(self.k, self.epsilon)

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return laws.hadamard_blocks(self.k, self.epsilon)

    @property
    def n_blocks(self) -> int:
        """B, number of blocks."""
        return self._shape[0]

    @property
    def block_size(self) -> int:
        """b, number of possible reports in a block, a power of two."""
        return self._shape[1]

    @property
    def m(self) -> int:
        """B b, number of possible reports."""
        return self.n_blocks * self.block_size

    @property
    def bits(self) -> int:
        """Bits of one report, ceil(log2 m)."""
        return self.chances.bits(self.k)

    @property
    def p_star(self) -> float:
        """Pr(a report is in its owner's set)."""
        return self.chances.p_star

    @cached_property
    def keep(self) -> float:
        """(e^eps - 1)/(e^eps - 1 + 2B): with this probability a report is uniform in its owner's set, else among all."""
        odds = math.expm1(self.epsilon)
        return odds / (odds + 2 * self.n_blocks)

    def variance(self, theta: ArrayLike, n: float, users: Users = "fixed") -> Array:
        """Variance of Inv for every category, from ``n`` reports.

        With x = e^eps - 1 and P the share of the block that the category is in, n times the variance is
        (2 + x P)(x + 2B)/x^2 - theta for fixed users, and theta (1 - theta) more for users who are a random sample.

        Args:
            theta: (..., k) true shares of all categories.
            n: number of reports, > 0.
            users: "fixed" or "sampled".

        Returns:
            (..., k) variances. Averaged over all ways to deal out the categories:
            `rr_core.protocols.laws.Support.variance`.

        Raises:
            ValueError: naming the argument.

        >>> HadamardResponse(4, 1.0).variance([0.7, 0.1, 0.1, 0.1], 1000).round(5).tolist()
        [0.00584, 0.00444, 0.00644, 0.00444]
        """
        check_users(users)
        shares = laws.checked_theta(_validate.vector("theta", theta, self.k))
        blocks = np.arange(self.k) % self.n_blocks
        # Dealt out in turn: with zeros behind the last one, the categories of a block are a column.
        dealt = np.zeros((*shares.shape[:-1], -(-self.k // self.n_blocks) * self.n_blocks))
        dealt[..., : self.k] = shares
        columns = dealt.reshape(*shares.shape[:-1], dealt.shape[-1] // self.n_blocks, self.n_blocks)
        mine = columns.sum(axis=-2)[..., blocks]
        odds = math.expm1(self.epsilon)
        ratio = 2 * self.n_blocks / odds
        # Where a block has a single category, the difference is exactly zero.
        one = (mine - shares) + 2 / odds * (1 + ratio) + ratio * mine
        if users == "sampled":
            one = one + shares * (1 - shares)
        variance: Array = one / laws.checked_n(n)
        return variance

    def matrix(self) -> Array:
        """(k, m) channel matrix: entry [x, y] is Pr(report = y | truth = x). Rows sum to one."""
        members = np.arange(self.block_size // 2)
        reports = self._members(np.arange(self.k)[:, None], members)
        odds = math.expm1(self.epsilon)
        channel = np.full((self.k, self.m), 1 / (odds + 2 * self.n_blocks) / members.size)
        np.put_along_axis(channel, reports, self.p_star / members.size, axis=1)
        return channel

    def channel(self) -> Channel:
        """The same as a `Channel`, for its other estimates; k m numbers, so for a few thousand categories.

        >>> round(HadamardResponse(5, 1.5).channel().epsilon, 12)
        1.5
        """
        return Channel(self.matrix())

    def randomize(self, values: ArrayLike, rng: np.random.Generator | int | None = None) -> NDArray[np.int64]:
        """One report per user, O(1) time each.

        Args:
            values: the users' true categories, integers in 0..k-1, any shape.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            int64 reports in 0..m-1, same shape; number t of block j is j b + t.
        """
        rng = np.random.default_rng(rng)
        truths = _validate.categories("values", values, self.k)
        own = self._members(truths, rng.integers(0, self.block_size // 2, truths.shape))
        anything = rng.integers(0, self.m, truths.shape)
        reports: NDArray[np.int64] = np.where(rng.random(truths.shape) < self.keep, own, anything)
        return reports

    def randomize_histogram(self, counts: ArrayLike, rng: np.random.Generator | int | None = None) -> Counts:
        """The histogram of everybody's reports, drawn from its exact law.

        Args:
            counts: (..., k) true counts, whole numbers >= 0; leading axes are independent batches.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            int64 (..., m) counts of reports. O(m) memory; time O(m) and, for each category, the smaller of its users and
            4 b.

        Raises:
            ValueError: naming the argument.
        """
        rng = np.random.default_rng(rng)
        true_counts = sampling.whole_counts("counts", counts, self.k)
        rows = true_counts.reshape(-1, self.k)
        histograms = np.zeros((len(rows), self.m), dtype=np.int64)
        for row, out in zip(rows, histograms, strict=True):
            kept = rng.binomial(row, self.keep)
            out[:] = sampling.uniform_multinomial(row.sum() - kept.sum(), self.m, rng)
            self._add_own(kept, out, rng)
        return histograms.reshape(*true_counts.shape[:-1], self.m)

    def histogram(self, reports: ArrayLike) -> Counts:
        """(m,) how often each possible report was sent, from ``reports`` of any shape."""
        sent = _validate.categories("reports", reports, self.m)
        counts: Counts = np.bincount(sent.reshape(-1), minlength=self.m)
        return counts

    def support(self, reports: ArrayLike) -> Counts:
        """(k,) how many of the ``reports`` (integers in 0..m-1, any shape) are in each category's set.

        O(n + m log b). For `rr_core.protocols.inv` give the `histogram` instead: the estimate also depends on how many
        reports are in the category's block.

        >>> hadamard = HadamardResponse(3, 0.5)
        >>> hadamard.support(hadamard.randomize([0] * 1000, rng=1)).tolist()
        [601, 501, 526]
        """
        counts = self.histogram(reports)
        of_blocks = counts.reshape(self.n_blocks, -1).sum(axis=1)
        balance = self.balance(counts)
        supports: Counts = (of_blocks[np.arange(self.k) % self.n_blocks] + balance) // 2
        return supports

    def balance(self, histogram: NDArray) -> NDArray:
        """(..., k) reports in a category's set minus those in the rest of its block, by one fast Walsh-Hadamard transform
        for each block: O(m log b). ``histogram`` is (..., m); of integers, exact."""
        blocks = histogram.reshape(*histogram.shape[:-1], self.n_blocks, self.block_size)
        rows = np.moveaxis(walsh_hadamard(blocks), -1, -2)[..., 1:, :]
        flat: NDArray = rows.reshape(*histogram.shape[:-1], -1)[..., : self.k]
        return flat

    def _members(self, categories: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The reports with these ``numbers``, 0 to b/2 - 1, in the sets of these ``categories``; they broadcast."""
        block, row = categories % self.n_blocks, 1 + categories // self.n_blocks
        lowest = row & -row
        # A zero in the place of the row's lowest one, and a one there instead where the two share an odd number.
        spread = ((numbers & -lowest) << 1) | (numbers & (lowest - 1))
        odd = np.bitwise_count(spread & row) & 1
        members: NDArray[np.int64] = block * self.block_size + spread + odd * lowest
        return members

    def _add_own(self, kept: Counts, out: Counts, rng: np.random.Generator) -> None:
        """Add to the histogram ``out`` (m,) the reports of ``kept`` (k,) users, each uniform in its category's set."""
        members = np.arange(self.block_size // 2)
        many = kept > _USERS_PER_MEMBER * members.size
        spread = np.flatnonzero(many)
        step = max(1, _USERS_AT_ONCE // members.size)
        for first in range(0, spread.size, step):
            categories = spread[first : first + step]
            reports = self._members(categories[:, None], members)
            np.add.at(out, reports, sampling.uniform_multinomial(kept[categories], members.size, rng))
        few = np.where(many, 0, kept)
        ends = np.cumsum(few)
        for first in range(0, int(ends[-1]), _USERS_AT_ONCE):
            users = np.arange(first, min(first + _USERS_AT_ONCE, int(ends[-1])))
            categories = np.searchsorted(ends, users, side="right")
            reports = self._members(categories, rng.integers(0, members.size, users.size))
            out += np.bincount(reports, minlength=self.m)


def inv_hadamard(histogram: ArrayLike, protocol: HadamardResponse) -> Array:
    """The unbiased estimate: (reports in the category's set - reports in the rest of its block)/n, divided by
    (e^eps - 1)/(e^eps - 1 + 2B).

    Given any other truth of the block, a report is as likely in the set as in the rest of the block, and so it is given a
    truth of another block; given the category itself, the difference is that number.

    Args:
        histogram: (..., m) histogram of the reports, normalised inside.
        protocol: the Hadamard response that produced them.

    Returns:
        (..., k) estimates that may be negative and need not sum to one. O(m log b).

    Raises:
        ValueError: naming the argument.
    """
    counts = _validate.histogram(histogram, protocol.m)
    with np.errstate(over="ignore"):
        total = counts.sum(axis=-1, keepdims=True, dtype=np.float64)
    if not (total <= 2.0**62).all():
        counts, total = _validate.shares(counts), np.ones_like(total)
    counts = counts.astype(np.float64 if counts.dtype.kind == "f" else np.int64, copy=False)
    inverse: Array = protocol.balance(counts) / total / protocol.keep
    return inverse


def mle_hadamard(
    histogram: ArrayLike, protocol: HadamardResponse, tolerance: float = 1e-9
) -> MaximumLikelihood:
    """A distribution of maximum likelihood, certified, by `mle_channel` on the reports that occurred.

    Args:
        histogram: (m,) histogram of the reports, normalised inside.
        protocol: the Hadamard response that produced them.
        tolerance: gap to reach, in nats per report, a number > 0.

    Returns:
        `MaximumLikelihood`. Cost: a dozen or two steps of O(k s min(k, s)) for s different reports, k s <= 20,000,000.

    Raises:
        ValueError: naming the argument.

    >>> found = mle_hadamard([30, 10, 5, 5], HadamardResponse(3, 0.5))
    >>> found.theta.round(4).tolist(), found.gap <= 1e-9
    ([0.0, 1.0, 0.0], True)
    """
    counts = _validate.one_row("histogram", _validate.histogram(histogram, protocol.m), "m")
    seen = np.flatnonzero(counts)
    if protocol.k * seen.size > _MOST_ENTRIES:
        raise ValueError(
            f"histogram must have at most {_MOST_ENTRIES:,}/k different reports for the maximum of the likelihood, "
            f"got {seen.size:,} with k = {protocol.k:,}"
        )
    block, number = np.divmod(seen, protocol.block_size)
    categories = np.arange(protocol.k)[:, None]
    odd = np.bitwise_count(number & (1 + categories // protocol.n_blocks)) & 1
    inside = (block == categories % protocol.n_blocks) & (odd == 0)
    columns = np.where(inside, 1.0, math.exp(-protocol.epsilon)) / seen.size
    # A column for all that was not seen makes it a channel, and does not count.
    unseen = np.maximum(1 - columns.sum(axis=1, keepdims=True), 0.0)
    return mle_channel(np.append(counts[seen], 0), Channel(np.hstack([columns, unseen])), tolerance)


def walsh_hadamard(values: NDArray) -> NDArray:
    """The fast Walsh-Hadamard transform along the last axis, whose length b is a power of two: sum over t of
    (-1)^(ones that r and t share) values_t for every r, in O(b log b); of integers, exact.

    >>> walsh_hadamard(np.array([4, 3, 2, 1])).tolist()
    [10, 2, 4, 0]
    """
    size, half = values.shape[-1], 1
    while half < size:
        pairs = values.reshape(*values.shape[:-1], -1, 2, half)
        left, right = pairs[..., 0, :], pairs[..., 1, :]
        values = np.stack([left + right, left - right], axis=-2).reshape(*values.shape)
        half *= 2
    return values
