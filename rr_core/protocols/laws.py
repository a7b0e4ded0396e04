"""The laws of the protocols for frequency estimation: what a report says of one category.

All but Hadamard response are "pure" (Wang, Blocki, Li and Jha, USENIX Security 2017): a report supports some categories,
its owner's own one with probability p*, any other with probability q*, and (share of supporting reports - q*)/(p* - q*)
is an unbiased estimate. So one variance formula serves them all. Under Hadamard response the chance to support another
category depends on whether the two share a block; its variance, averaged over all ways to deal out the categories, is
a straight line in the share too. It is the variance of one category; that the categories' estimates are correlated, and
differently under each protocol, does not enter it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, entr

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, check_users

Key = Literal["rr", "subset", "sue", "oue", "olh", "hr"]
KEYS: tuple[Key, ...] = ("rr", "subset", "sue", "oue", "olh", "hr")
N_MIN = 1e-60  # users; errors of fewer may exceed the largest double
# Multiplied by it, numbers up to e^700 have squares that are doubles; a power of two, by which no digit changes.
UNIT = 2.0**-500
K_MAX = 2**53  # categories; of larger numbers a double does not tell k from k - 1


class Blocks(NamedTuple):
    """The reports of Hadamard response: ``number`` blocks of ``size`` numbers. ``together`` is the chance that another
    given category is in the same block, when the categories are dealt out at random, ``odds`` is e^eps - 1."""

    number: int
    size: int
    together: float
    odds: float


@dataclass(frozen=True)
class Support:
    """What one protocol does to one category.

    ``keep`` is p* - q* and ``rest`` is 1 - p* - q*, computed without losing digits. ``hash_range`` is the number of
    values that local hashing hashes to, ``subset_size`` the number of categories in a report of subset selection,
    ``blocks`` those of Hadamard response; None elsewhere.
    """

    key: Key
    p_star: float
    q_star: float
    keep: float
    rest: float
    hash_range: int | None = None
    subset_size: int | None = None
    blocks: Blocks | None = None

    @property
    def noise(self) -> float:
        """Variance from one report of a category that nobody has: q*(1 - q*)/(p* - q*)^2, but for Hadamard response
        (2 + r x)(x + 2B)/x^2, with x = e^eps - 1, B blocks, and r the chance that two categories share one."""
        if self.blocks is None:
            return self.q_star * (1 - self.q_star) / self.keep / self.keep
        count, _, together, odds = self.blocks
        return (1 + 2 * count / odds) * (2 / odds + together)

    @property
    def slope(self) -> float:
        """By how much the variance from one report of fixed users is larger at share one: (1 - p* - q*)/(p* - q*), but
        for Hadamard response 2B (1 - r)/x - r."""
        if self.blocks is None:
            return self.rest / self.keep
        count, _, together, odds = self.blocks
        return 2 * count * (1 - together) / odds - together

    def variance(self, theta: ArrayLike, n: ArrayLike, users: Users = "fixed") -> Array:
        """Variance of the estimate of a category with true share ``theta`` from ``n`` reports; they broadcast.

        Fixed users: [q*(1 - q*) + theta (p* - q*)(1 - p* - q*)] / (n (p* - q*)^2). Users who are a random
        sample themselves: m (1 - m)/(n (p* - q*)^2) with m = q* + (p* - q*) theta, that is, theta (1 - theta)/n
        more, under every protocol alike. Hadamard response: (`noise` + theta `slope`)/n, the mean over all ways to deal
        out the categories.
        """
        check_users(users)
        theta, n = checked_theta(theta), checked_users(n)
        _validate.check_broadcast(theta=theta, n=n)
        noise = self.noise + theta * self.slope
        variance: Array = (noise + (theta * (1 - theta) if users == "sampled" else 0.0)) / n
        return variance

    def mean_variance(self, k: int, n: ArrayLike, users: Users = "fixed") -> Array:
        """Mean of `variance` over all ``k`` categories: the expected squared error per category.

        For fixed users it is the variance at theta = 1/k, whatever the population; for sampled users that at equal
        shares, which are worst: less by (sum of theta_i^2 - 1/k)/(k n) at others.
        """
        k = _validate.integer("k", k, 2, K_MAX)
        mean: Array = self.variance(1 / k, n)
        check_users(users)
        return mean + (1 - 1 / k) / k / np.asarray(n, np.float64) if users == "sampled" else mean

    def bits(self, k: int) -> int:
        """Bits of one report as it is sent: k-RR a category, ceil(log2 k); subset selection its d categories, or one
        bit for each of the k when that is shorter; unary encoding k; local hashing the
        hashed value, ceil(log2 g), and which hash function: two numbers below max(k, g), as a family of pairwise
        independent functions needs. (Practice often sends a seed of 32 or 64 bits instead.) Hadamard response a number
        below the number of blocks times their size."""
        k = _validate.integer("k", k, 2, K_MAX)
        if self.key in ("sue", "oue"):
            return k
        if self.blocks is not None:
            return _whole_bits(self.blocks.number * self.blocks.size)
        if self.hash_range is None:
            return min((self.subset_size or 1) * _whole_bits(k), k)
        return 2 * _whole_bits(max(k, self.hash_range)) + _whole_bits(self.hash_range)

    def coded_bits(self, k: int) -> float:
        """Mean bits of one report behind an ideal entropy coder, when all categories are equally common (the
        worst case but for Hadamard response, whose reports are not equally common then). Subset selection: log2 of the
        number of subsets. Unary encoding: k H(m), each bit coded by its chance m = q* + (p* - q*)/k of being one."""
        k = _validate.integer("k", k, 2, K_MAX)
        if self.blocks is not None:
            return _hadamard_entropy(k, self.blocks)
        if self.key in ("sue", "oue"):
            chance = self.q_star + self.keep / k
            return k * float(entr(chance) + entr(1 - chance)) / math.log(2)
        if self.hash_range is None:
            d = self.subset_size or 1
            of_sets = -float(betaln(d + 1, k - d + 1)) - math.log(k + 1)  # log of k over d
            return math.log2(k) if d == 1 else of_sets / math.log(2)
        return 2 * math.log2(max(k, self.hash_range)) + math.log2(self.hash_range)


def support(key: Key, k: int, epsilon: float) -> Support:
    """p* and q* of one protocol with ``k`` >= 2 categories at 1e-6 <= ``epsilon`` <= 700.

    Only k-RR, subset selection and Hadamard response depend on k. Raises ValueError naming the argument.

    >>> grr = support("rr", 10, 1.0)
    >>> round(grr.p_star, 4), round(grr.q_star, 4)
    (0.232, 0.0853)
    """
    k, epsilon = _validate.integer("k", k, 2, K_MAX), _validate.epsilon(epsilon)
    _validate.one_of("key", key, KEYS)
    if key == "rr":
        mechanism = RandomizedResponse(k, epsilon)
        return Support(key, mechanism.p, mechanism.q, mechanism.keep, (k - 2) * mechanism.q)
    if key == "subset":
        size = subset_size(k, epsilon)
        # The same digits as k-RR where it is k-RR.
        return (
            replace(support("rr", k, epsilon), key=key, subset_size=1)
            if size == 1
            else subsets(k, epsilon, size)
        )
    if key == "sue":
        q = 1 / (math.exp(epsilon / 2) + 1)
        return Support(key, 1 - q, q, math.tanh(epsilon / 4), 0.0)
    if key == "oue":
        keep = math.tanh(epsilon / 2) / 2
        return Support(key, 0.5, 1 / (math.exp(epsilon) + 1), keep, keep)
    if key == "olh":
        return local_hashing(epsilon, hash_range(epsilon))
    if key == "hr":
        return hadamard(k, epsilon)
    assert_never(key)


def local_hashing(epsilon: float, g: int) -> Support:
    """Local hashing to ``g`` >= 2 values: the hash of one's category goes through k-RR on g values. Another
    category shares it with probability q* = 1/g, since everybody draws a hash function of their own."""
    g, odds = _validate.integer("g", g, 2), math.expm1(_validate.epsilon(epsilon))
    total = odds + g
    # 1 - p* - q* = ((g - 1)^2 - e^eps)/(g (e^eps + g - 1)).
    rest = ((UNIT * g) * (UNIT * (g - 2)) - UNIT * UNIT * odds) / (UNIT * g) / (UNIT * total)
    return Support("olh", (odds + 1) / total, 1 / g, (g - 1) / g * (odds / total), rest, g)


def subsets(k: int, epsilon: float, d: int) -> Support:
    """Subset selection (Ye and Barg 2018; Wang et al. 2016): a report is a set of ``d`` of the k categories, each set
    that holds one's own category e^eps times as likely as each that does not. With d = 1 it is k-RR.

    p* = d e^eps/(d e^eps + k - d), and q* = [p* (d - 1) + (1 - p*) d]/(k - 1), as all others are alike.
    """
    k, odds = _validate.integer("k", k, 2, K_MAX), UNIT * math.expm1(_validate.epsilon(epsilon))
    d = _validate.integer("d", d, 1, k - 1)
    total = d * odds + UNIT * k
    return Support(
        "subset",
        d * (odds + UNIT) / total,
        d * ((d - 1) * odds + UNIT * k - UNIT) / (k - 1) / total,
        d * (k - d) / (k - 1) * (odds / total),
        (UNIT * ((k - 1) * (k - 2 * d)) - d * (d - 1) * odds) / (k - 1) / total,
        subset_size=d,
    )


def hadamard(k: int, epsilon: float) -> Support:
    """Hadamard response (Acharya, Sun and Zhang 2019), see `rr_core.protocols.HadamardResponse`.

    A report supports the categories in whose set of b/2 numbers it is: its owner's with p* = e^eps/(x + 2B), where
    x = e^eps - 1; another one of the same block with (1 + x/2)/(x + 2B), since the two sets share half of their numbers;
    one of another block with 1/(x + 2B). q* is the mean when the categories are dealt out at random. At e^eps <= 2 there
    is one block, with the p*, q* and variance of local hashing to g = 2 values.

    >>> made = hadamard(10, 1.0)
    >>> round(made.p_star, 4), round(made.q_star, 4), made.bits(10)
    (0.4754, 0.2417, 4)
    """
    count, size = hadamard_blocks(k, epsilon)
    odds = math.expm1(epsilon)
    less, more = k // count, k % count
    # Pairs of categories in one block, both orders.
    pairs = more * (less + 1) * less + (count - more) * less * (less - 1)
    together = pairs / (k * (k - 1))
    total = odds + 2 * count
    return Support(
        "hr",
        (odds + 1) / total,
        (1 + together * odds / 2) / total,
        odds / total * (1 - together / 2),
        (2 * (count - 1) - together * odds / 2) / total,
        blocks=Blocks(count, size, together, odds),
    )


def hadamard_blocks(k: int, epsilon: float) -> tuple[int, int]:
    """Number B and size b of the blocks of Hadamard response.

    With B' the largest power of two < min(e^eps, 2k) (and at least 1), b is the smallest one >= k/B' + 1. A block holds
    up to b - 1 categories, so that B = ceil(k/(b - 1)) <= B' are needed. (The paper has B' blocks. Reports in blocks
    without a category would tell nothing; the authors' program leaves them out, too.)

    >>> hadamard_blocks(10, 1.0), hadamard_blocks(10, 20.0)
    ((2, 8), (10, 2))
    """
    k, power = _validate.integer("k", k, 2, K_MAX), math.exp(_validate.epsilon(epsilon))
    fraction, exponent = math.frexp(min(power, 2 * k))
    most = 1 << max(exponent - 1 - (fraction == 0.5), 0)
    size = 1 << (-(-k // most)).bit_length()
    return -(-k // (size - 1)), size


def subset_size(k: int, epsilon: float) -> int:
    """The d with the smallest mean variance over all categories: one of the two whole numbers around
    k/(e^eps + 1). It gives the least error that any protocol with an unbiased estimate can have at equal shares, see
    `rr_core.plan.bounds.equal_shares`.

    >>> subset_size(10, 1.0)
    3
    """
    k = _validate.integer("k", k, 2, K_MAX)
    below = max(math.floor(k / (math.exp(_validate.epsilon(epsilon)) + 1)), 1)
    sizes = (below, min(below + 1, k - 1))
    return min(sizes, key=lambda d: float(subsets(k, epsilon, d).mean_variance(k, 1)))


def hash_range(epsilon: float) -> int:
    """The whole g next to the ideal e^eps + 1 with the smaller variance at share zero. At the ideal g local
    hashing would have the p*, q* and variance of OUE; at a whole g it is never better than OUE there.

    >>> hash_range(1.0)
    4
    """
    below = math.floor(math.exp(_validate.epsilon(epsilon))) + 1
    return min((below, below + 1), key=lambda g: float(local_hashing(epsilon, g).variance(0.0, 1)))


def _whole_bits(values: int) -> int:
    """Bits that tell ``values`` values apart: ceil(log2 values), exact for large integers."""
    return (values - 1).bit_length()


def _hadamard_entropy(k: int, blocks: Blocks) -> float:
    """Entropy, in bits, of a report of Hadamard response when all categories are equally common.

    The chance of number t of a block with m categories is (k + x a)/(k b/2 (x + 2B)), a of them having t in their set.
    With the rows 0 to m of the Hadamard matrix, a = (m - 1 + S)/2 with S the sum of their entries at t: m + 1 at t = 0;
    elsewhere, when 2^i is the lowest one of t, every 2^(i+1) rows cancel, and those left over, f rows, give
    S = min(f, 2^(i+1) - f), with either sign as often, or + alone when no row came before them.
    """
    count, size, _, odds = blocks
    less, more = divmod(k, count)
    total = 0.0
    for m, times in ((less, count - more), (less + 1, more)):
        sums, numbers = [m + 1], [1]
        for i in range(size.bit_length() - 1):
            cycle = 2 << i
            cycles, left = divmod(m + 1, cycle)
            height, each = min(left, cycle - left), size // cycle
            signs = (1, -1) if cycles and each > 1 else (1,)
            sums += [sign * height for sign in signs]
            numbers += [each // len(signs)] * len(signs)
        held = (m - 1 + np.array(sums, np.float64)) / 2
        chances = (1 + odds * (held / k)) / (odds + 2 * count) / (size // 2)
        total += times * float(np.array(numbers, np.float64) @ entr(chances))
    return total / math.log(2)


def checked_n(n: float) -> float:
    """``n`` as a float, or ValueError."""
    number = _validate.real("n", n, f"a number >= {N_MIN:g}")
    if number < N_MIN:
        raise ValueError(f"n must be a number >= {N_MIN:g}, got {n!r}")
    return number


def checked_users(n: ArrayLike) -> Array:
    """``n`` as float64, or ValueError unless all are numbers of users."""
    numbers = _validate.numbers("n", n).astype(np.float64)
    if not (numbers >= N_MIN).all():
        raise ValueError(f"n must be a number >= {N_MIN:g}, got {numbers.min():.9g}")
    return numbers


def checked_theta(theta: ArrayLike) -> Array:
    """``theta`` as float64, or ValueError unless all are shares."""
    shares = _validate.numbers("theta", theta).astype(np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"theta must be shares from 0 to 1, got {shares.min():.9g} to {shares.max():.9g}")
    return shares
