"""Unary encoding: a report is one bit for each category, and estimates from the number of ones in each place.

Symmetric unary encoding (SUE) is basic one-time RAPPOR (U. Erlingsson, V. Pihur and A. Korolova, CCS 2014,
https://doi.org/10.1145/2660267.2660348); optimised unary encoding (OUE) is due to T. Wang, J. Blocki, N. Li and S. Jha,
USENIX Security 2017. The bit of the owner's own category is one with probability p, any other with probability q.

The unbiased estimate uses the sums of the bits alone, the support. The maximum of the likelihood needs the reports
themselves, see `unary_estimation`: bits of one report are dependent through its owner's category.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.metrics import Users
from rr_core.protocols.laws import K_MAX, Support
from rr_core.protocols.laws import support as support_of
from rr_core.sampling import Counts

Bits = NDArray[np.uint8]

# Entries of (reports, categories) that are drawn or converted at once.
ENTRIES_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class UnaryEncoding:
    """Unary encoding of ``k`` categories that grants ``epsilon`` exactly.

    Args:
        k: number of categories, an integer >= 2.
        epsilon: privacy budget in nats, 1e-6 <= epsilon <= 700.
        optimized: False for the symmetric encoding, p = e^(epsilon/2)/(e^(epsilon/2) + 1) and q = 1 - p; True for the
            optimised one, p = 1/2 and q = 1/(e^epsilon + 1), which has the smaller variance at share zero.
        chances: p and q where they are neither, see `from_p_q`, which makes such a one.

    Raises:
        ValueError: naming the argument, its allowed range and what was received.

    >>> symmetric, optimised = UnaryEncoding(10, 1.0), UnaryEncoding(10, 1.0, optimized=True)
    >>> round(symmetric.p, 4), round(symmetric.q, 4), optimised.p, round(optimised.q, 4)
    (0.6225, 0.3775, 0.5, 0.2689)
    """

    k: int
    epsilon: float
    optimized: bool = False
    chances: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.optimized, (bool, np.bool_)):
            raise ValueError(f"optimized must be True or False, got {_validate.short(self.optimized)}")
        object.__setattr__(self, "k", _validate.integer("k", self.k, 2, K_MAX))
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        object.__setattr__(self, "optimized", bool(self.optimized))
        if self.chances is not None and self.optimized:
            raise ValueError("optimized must be False where chances are given, got True")

    @classmethod
    def from_p_q(cls, k: int, p: float, q: float) -> UnaryEncoding:
        """Unary encoding with a one with probability p in the place of the owner's category and q in any other.

        Args:
            k: number of categories, an integer >= 2.
            p, q: 0 < q < p < 1; epsilon = log(p (1 - q)/((1 - p) q)).

        Raises:
            ValueError: naming the argument.

        >>> round(UnaryEncoding.from_p_q(4, 0.75, 0.25).epsilon, 6)
        2.197225
        """
        high = _validate.real("p", p, "a number between q and 1")
        low = _validate.real("q", q, "a number between 0 and p")
        if not 0 < low < high < 1:
            raise ValueError(f"p and q must be 0 < q < p < 1, got p = {p!r} and q = {q!r}")
        epsilon = math.log(high / low) + math.log((1 - low) / (1 - high))
        return cls(k, epsilon, chances=(high, low))

    @classmethod
    def rappor(cls, k: int, f: float, p: float, q: float) -> UnaryEncoding:
        """RAPPOR with both of its coins: a bit is first replaced, with chance f, by a fair coin; then a one is reported
        with probability q where it came out as one, else with p (Erlingsson, Pihur and Korolova 2014, section 3). This is
        the law of one report: of one person's many, who keep the first coin, see `rr_core.protocols.over_time`.

        Args:
            k: number of categories, an integer >= 2.
            f: from 0 up, below 1.
            p, q: 0 < p < q < 1.

        Raises:
            ValueError: naming the argument.

        >>> one = UnaryEncoding.rappor(6, 0.5, 0.5, 0.75)
        >>> one.p, one.q
        (0.6875, 0.5625)
        """
        f = _validate.real("f", f, "a number from 0 up, below 1")
        if not 0 <= f < 1:
            raise ValueError(f"f must be a number from 0 up, below 1, got {f!r}")
        of_one = _validate.real("q", q, "a number between p and 1")
        of_zero = _validate.real("p", p, "a number between 0 and q")
        if not 0 < of_zero < of_one < 1:
            raise ValueError(f"p and q must be 0 < p < q < 1, got p = {p!r} and q = {q!r}")
        kept = (1 - f / 2, f / 2)
        return cls.from_p_q(k, kept[0] * of_one + kept[1] * of_zero, kept[1] * of_one + kept[0] * of_zero)

    @cached_property
    def law(self) -> Support:
        """p* = p, q* = q, p - q and the variance of Inv, as `rr_core.protocols.laws` has them."""
        if self.chances is not None:
            p, q = self.chances
            return Support("sue", p, q, p - q, 1 - p - q)
        return support_of("oue" if self.optimized else "sue", self.k, self.epsilon)

    @property
    def p(self) -> float:
        """Probability of a one in the place of the owner's category."""
        return self.law.p_star

    @property
    def q(self) -> float:
        """Probability of a one in any other place."""
        return self.law.q_star

    @property
    def keep(self) -> float:
        """p - q; without cancellation tanh(epsilon/4), or tanh(epsilon/2)/2 when optimised."""
        return self.law.keep

    def randomize(self, values: ArrayLike, rng: np.random.Generator | int | None = None) -> Bits:
        """One report per user, of k bits.

        Args:
            values: (n,) true categories, integers in 0..k-1.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            (n, k) uint8 of 0 and 1.

        >>> UnaryEncoding(4, 300.0).randomize([2, 0], 1).tolist()
        [[0, 0, 1, 0], [1, 0, 0, 0]]
        """
        rng = np.random.default_rng(rng)
        truths = _validate.categories("values", values, self.k)
        if truths.ndim != 1:
            raise ValueError(f"values must have shape (n,), got {truths.shape}")
        reports = np.empty((truths.size, self.k), dtype=np.uint8)
        own = rng.random(truths.size) < self.p
        for rows in row_blocks(truths.size, self.k):
            np.less(rng.random(reports[rows].shape), self.q, out=reports[rows].view(np.bool_))
        reports[np.arange(truths.size), truths] = own
        return reports

    def support(self, reports: ArrayLike) -> Counts:
        """(k,) int64 number of ones in each place, for ``reports`` (n, k) of 0 and 1.

        >>> UnaryEncoding(3, 1.0).support([[1, 0, 1], [1, 0, 0]]).tolist()
        [2, 0, 1]
        """
        ones: Counts = checked_bits("reports", reports, self.k).sum(axis=0, dtype=np.int64)
        return ones

    def randomize_support(
        self, true_counts: ArrayLike, rng: np.random.Generator | int | None = None
    ) -> Counts:
        """The support of everybody's reports, drawn from its exact law in O(k) for any number of users.

        Given the true counts T of N users, all bits are independent, so the places are independent
        Binomial(T_i, p) + Binomial(N - T_i, q).

        Args:
            true_counts: (..., k) whole numbers >= 0; leading axes are independent batches.
            rng: a NumPy Generator (or a seed for one).

        Returns:
            (..., k) int64, each from 0 to N.

        >>> UnaryEncoding(3, 300.0).randomize_support([5, 0, 10**9], 1).tolist()
        [5, 0, 1000000000]
        """
        rng = np.random.default_rng(rng)
        counts = sampling.whole_counts("true_counts", true_counts, self.k)
        others = counts.sum(axis=-1, keepdims=True) - counts
        drawn: Counts = rng.binomial(counts, self.p) + rng.binomial(others, self.q)
        return drawn

    def inv_variance(self, theta: ArrayLike, n: ArrayLike, *, users: Users = "fixed") -> Array:
        """Variance of Inv in a category of true share ``theta``; see `rr_core.protocols.laws.Support.variance`.

        Args:
            theta: shares from 0 to 1, any shape.
            n: number of users, > 0; broadcasts against ``theta``.
            users: "fixed" when theta is the share among the users themselves, "sampled" when it is the share in the
                population that they were drawn from.

        >>> UnaryEncoding(10, 1.0, optimized=True).inv_variance([0.0, 0.5], 10_000).round(6).tolist()
        [0.000368, 0.000418]
        """
        return self.law.variance(theta, n, users)


def inv_unary(support: ArrayLike, protocol: UnaryEncoding, n: int | None) -> Array:
    """Inv from the support: (support/n - q)/(p - q). Unbiased in every category; its sum is one only in expectation.

    Args:
        support: (..., k) number of ones in each place, whole numbers from 0 to n.
        protocol: the encoding.
        n: number of reports, an integer >= 1.

    Returns:
        (..., k) estimates, which may be negative or above one.

    Raises:
        ValueError: naming the argument.

    >>> inv_unary([700, 400, 380], UnaryEncoding(3, 1.0), 1000).round(4).tolist()
    [1.3166, 0.0917, 0.01]
    """
    ones, n = _support(support, protocol, n)
    if protocol.q > 0.25 and protocol.chances is None:
        # Integers are subtracted before anything is rounded: q = 1/2 - keep/2, or 1/2 - keep when optimised.
        inv: Array = (2 * ones - n) / (2.0 * n * protocol.keep) + (1.0 if protocol.optimized else 0.5)
        return inv
    return np.asarray((ones / n - protocol.q) / protocol.keep)


def inv_n_unary(support: ArrayLike, protocol: UnaryEncoding, n: int | None) -> Array:
    """InvN: negative entries of Inv are set to zero and the others divided by their sum; the uniform distribution where
    no entry is positive. Arguments and errors as in `inv_unary`; (..., k), sums to one.

    >>> inv_n_unary([700, 400, 370], UnaryEncoding(3, 1.0), 1000).round(4).tolist()
    [0.9349, 0.0651, 0.0]
    """
    positive = np.maximum(inv_unary(support, protocol, n), 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    shares: Array = np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1 / protocol.k)
    return shares


def inv_p_unary(support: ArrayLike, protocol: UnaryEncoding, n: int | None) -> Array:
    """InvP: the Euclidean projection of Inv on the simplex, max(Inv - shift, 0) with the shift that makes the sum one.
    Arguments and errors as in `inv_unary`; (..., k), sums to one. O(k log k).

    >>> inv_p_unary([640, 400, 370], UnaryEncoding(3, 1.0), 1000).round(4).tolist()
    [0.99, 0.01, 0.0]
    """
    ones, n = _support(support, protocol, n)
    # In units of 1/(n keep), with d how far a place is below the largest: integers until the last line.
    unit, k = n * protocol.keep, protocol.k
    down = (ones.max(axis=-1, keepdims=True) - ones).astype(np.int64 if n * k < 2**62 else np.float64)
    rising = np.sort(down, axis=-1)
    used = np.arange(1, k + 1) * rising - np.cumsum(rising, axis=-1)
    m = (used < unit).sum(axis=-1, keepdims=True)
    least, used = (np.take_along_axis(of, m - 1, axis=-1) for of in (rising, used))
    shares: Array = np.where(down <= least, (least - down) / unit + (unit - used) / (m * unit), 0.0)
    return shares


def as_support(shares: Array) -> tuple[Array, int]:
    """Shares of ones as the support among 2^53 reports, and that number: estimates of them need no more digits.

    >>> as_support(np.array([0.5, 1.0]))[0].tolist() == [2**52, 2**53]
    True
    """
    return np.floor(np.minimum(shares, 1.0) * 2.0**53), 2**53


def checked_bits(name: str, reports: ArrayLike, k: int) -> Bits:
    """``reports`` as (n, k) uint8 of 0 and 1 with n >= 1, or ValueError. Arrays of uint8 or bool are not copied."""
    array: NDArray[Any] = reports if isinstance(reports, np.ndarray) else _validate.numbers(name, reports)
    allowed = f"{name} must be an array of 0 and 1 of shape (n, k) = (n, {k}) with n >= 1"
    if array.ndim != 2 or array.shape[1] != k or not len(array):
        raise ValueError(f"{allowed}, got shape {array.shape}")
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype.kind not in "iuf":
        array = _validate.numbers(name, array)
    bits = array if array.dtype == np.uint8 else np.empty(array.shape, dtype=np.uint8)
    for rows in row_blocks(len(array), k):
        block = array[rows]
        wrong = block > 1 if array.dtype == np.uint8 else (block != 0) & (block != 1)
        if wrong.any():
            row, column = (int(i) for i in np.argwhere(wrong)[0])
            raise ValueError(f"{allowed}, got {block[row, column]} at index [{rows.start + row}, {column}]")
        if bits is not array:
            bits[rows] = block
    return bits


def row_blocks(n: int, k: int) -> list[slice]:
    """Slices of whole rows of an (n, k) array, of about a million entries each."""
    step = max(1, ENTRIES_AT_ONCE // k)
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def _support(support: ArrayLike, protocol: UnaryEncoding, n: int | None) -> tuple[Counts, int]:
    if n is None:
        raise ValueError("n must be the number of reports, an integer >= 1, for unary encoding, got None")
    n = _validate.integer("n", n, 1, 2**61)
    array = _validate.vector("support", support, protocol.k)
    if array.dtype.kind == "f" and (array != np.floor(array)).any():
        raise ValueError(f"support must be whole numbers from 0 to n = {n}, got fractions")
    if array.size and (array.min() < 0 or array.max() > n):
        raise ValueError(
            f"support must be whole numbers from 0 to n = {n}, got {array.min()} to {array.max()}"
        )
    return array.astype(np.int64), n
