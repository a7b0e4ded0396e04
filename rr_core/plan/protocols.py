"""Should it be k-RR at all? Six protocols for frequency estimation compared.

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
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betaln, entr

from rr_core import _validate
from rr_core._validate import Array
from rr_core.limits import EPSILON_OF_ERRORS_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, check_users

Key = Literal["rr", "subset", "sue", "oue", "olh", "hr"]
KEYS: tuple[Key, ...] = ("rr", "subset", "sue", "oue", "olh", "hr")
# (e^eps)^2 has to stay a double; nothing is left to compare long before.
N_MIN = 1e-60  # users; errors of fewer may exceed the largest double
_EPSILON_MAX = 300.0
_K_MAX = 2**53  # of larger numbers a double does not tell k from k - 1


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
        theta, n = (_validate.numbers(*one).astype(np.float64) for one in (("theta", theta), ("n", n)))
        _validate.check_broadcast(theta=theta, n=n)
        if not (n >= N_MIN).all():
            raise ValueError(f"n must be a number >= {N_MIN:g}, got {n.min():g}")
        if not ((theta >= 0) & (theta <= 1)).all():
            raise ValueError(f"theta must be from 0 to 1, got {theta.min():g} to {theta.max():g}")
        noise = self.noise + theta * self.slope
        variance: Array = (noise + (theta * (1 - theta) if users == "sampled" else 0.0)) / n
        return variance

    def mean_variance(
        self, k: int, n: ArrayLike, users: Users = "fixed", squares: float | None = None
    ) -> Array:
        """Mean of `variance` over all ``k`` categories: the expected squared error per category.

        For fixed users it is the variance at theta = 1/k, whatever the population. For sampled users it also
        depends on ``squares``, the sum of theta_i^2, from 1/k to 1; None means equal shares, which is worst.
        """
        k = _validate.integer("k", k, 2, _K_MAX)
        squares = 1 / k if squares is None else _share("squares", squares)
        mean: Array = self.variance(1 / k, n)
        check_users(users)
        if users == "sampled":
            mean = mean + (1 - squares) / k / np.asarray(n, np.float64)
        return mean

    def bits(self, k: int) -> int:
        """Bits of one report as it is sent: k-RR a category, ceil(log2 k); subset selection its d categories, or one
        bit for each of the k when that is shorter; unary encoding k; local hashing the
        hashed value, ceil(log2 g), and which hash function: two numbers below max(k, g), as a family of pairwise
        independent functions needs. (Practice often sends a seed of 32 or 64 bits instead.) Hadamard response a number
        below the number of blocks times their size."""
        k = _validate.integer("k", k, 2, _K_MAX)
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
        k = _validate.integer("k", k, 2, _K_MAX)
        if self.blocks is not None:
            return _hadamard_entropy(k, self.blocks)
        if self.key in ("sue", "oue"):
            chance = self.q_star + self.keep / k
            return k * float(entr(chance) + entr(1 - chance)) / math.log(2)
        if self.hash_range is None:
            return _log2_of_subsets(k, self.subset_size or 1)
        return 2 * math.log2(max(k, self.hash_range)) + math.log2(self.hash_range)


@dataclass(frozen=True)
class Protocol:
    """One protocol in a comparison: one row of a table.

    ``variance`` and ``rmse`` are of one category's estimated share, ``users_relative`` is how many times the users of the
    best one of the table it takes to be as accurate, ``best`` marks the smallest variance of the table (the first in the
    order of `KEYS` when two are equal). ``bits``, ``coded_bits`` and the last three as in `Support`.
    """

    key: Key
    p_star: float
    q_star: float
    variance: float
    rmse: float
    bits: int
    coded_bits: float
    users_relative: float
    best: bool
    hash_range: int | None = None
    subset_size: int | None = None
    blocks: Blocks | None = None


def support(key: Key, k: int, epsilon: float) -> Support:
    """p* and q* of one protocol with ``k`` >= 2 categories at 0 < ``epsilon`` <= 300.

    Only k-RR, subset selection and Hadamard response depend on k. Raises ValueError naming the argument.

    >>> grr = support("rr", 10, 1.0)
    >>> round(grr.p_star, 4), round(grr.q_star, 4)
    (0.232, 0.0853)
    """
    k, epsilon = _validate.integer("k", k, 2, _K_MAX), _epsilon(epsilon)
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
    return hadamard(k, epsilon)


def local_hashing(epsilon: float, g: int) -> Support:
    """Local hashing to ``g`` >= 2 values: the hash of one's category goes through k-RR on g values. Another
    category shares it with probability q* = 1/g, since everybody draws a hash function of their own."""
    g, odds = _validate.integer("g", g, 2), math.expm1(_epsilon(epsilon))
    total = odds + g
    # 1 - p* - q* = ((g - 1)^2 - e^eps)/(g (e^eps + g - 1)).
    rest = ((g - 1) ** 2 - 1 - odds) / g / total
    return Support("olh", (odds + 1) / total, 1 / g, (g - 1) / g * (odds / total), rest, g)


def subsets(k: int, epsilon: float, d: int) -> Support:
    """Subset selection (Ye and Barg 2018; Wang et al. 2016): a report is a set of ``d`` of the k categories, each set
    that holds one's own category e^eps times as likely as each that does not. With d = 1 it is k-RR.

    p* = d e^eps/(d e^eps + k - d), and q* = [p* (d - 1) + (1 - p*) d]/(k - 1), as all others are alike.
    """
    k, odds = _validate.integer("k", k, 2, _K_MAX), math.expm1(_epsilon(epsilon))
    d = _validate.integer("d", d, 1, k - 1)
    total = d * odds + k
    return Support(
        "subset",
        d * (odds + 1) / total,
        d * ((d - 1) * odds + k - 1) / (k - 1) / total,
        d * (k - d) / (k - 1) * (odds / total),
        ((k - 1) * (k - 2 * d) - d * (d - 1) * odds) / (k - 1) / total,
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
    k, power = _validate.integer("k", k, 2, _K_MAX), math.exp(_epsilon(epsilon))
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
    k = _validate.integer("k", k, 2, _K_MAX)
    below = max(math.floor(k / (math.exp(_epsilon(epsilon)) + 1)), 1)
    sizes = (below, min(below + 1, k - 1))
    return min(sizes, key=lambda d: float(subsets(k, epsilon, d).mean_variance(k, 1)))


def hash_range(epsilon: float) -> int:
    """The whole g next to the ideal e^eps + 1 with the smaller variance at share zero. At the ideal g local
    hashing would have the p*, q* and variance of OUE; at a whole g it is never better than OUE there.

    >>> hash_range(1.0)
    4
    """
    below = math.floor(math.exp(_epsilon(epsilon))) + 1
    return min((below, below + 1), key=lambda g: float(local_hashing(epsilon, g).variance(0.0, 1)))


def compare(
    k: int, epsilon: float, n: float, theta_share: float = 0.0, users: Users = "fixed"
) -> tuple[Protocol, ...]:
    """The six protocols for one category with true share ``theta_share``.

    Args:
        k: categories, >= 2.
        epsilon: privacy budget, 1e-60 <= epsilon <= 300, the same for all.
        n: users, > 0.
        theta_share: true share of the category, 0 to 1. With fixed users 1/k gives the mean over all categories.
        users: "fixed" when the truth is these users' own shares, "sampled" when it is the population they were
            drawn from.

    Returns:
        One row per protocol in the order of `KEYS`; exactly one is ``best``. The size of the subsets is the best one for
        the mean over all categories, whatever ``theta_share``.

    Raises:
        ValueError: naming the argument.

    >>> {one.key: round(one.variance, 6) for one in compare(10, 1.0, 10_000)}
    {'rr': 0.000363, 'subset': 0.000284, 'sue': 0.000392, 'oue': 0.000368, 'olh': 0.000369, 'hr': 0.000535}
    """
    k, n, theta = _validate.integer("k", k, 2, _K_MAX), checked_n(n), _share("theta_share", theta_share)
    supports = [support(key, k, epsilon) for key in KEYS]
    # Of one user, for that of very many rounds to zero.
    of_one = [float(made.variance(theta, 1.0, users)) for made in supports]
    best = min(range(len(KEYS)), key=of_one.__getitem__)
    return tuple(
        Protocol(
            key=made.key,
            p_star=made.p_star,
            q_star=made.q_star,
            variance=variance / n,
            rmse=math.sqrt(variance / n),
            bits=made.bits(k),
            coded_bits=made.coded_bits(k),
            users_relative=variance / of_one[best],
            best=i == best,
            hash_range=made.hash_range,
            subset_size=made.subset_size,
            blocks=made.blocks,
        )
        for i, (made, variance) in enumerate(zip(supports, of_one, strict=True))
    )


def single_k(epsilon: float) -> float:
    """Up to this number of categories (a real number) subset selection is best with single categories, that is, as k-RR:
    where k (k - 3) <= 2 (e^(2 eps) - 1), about k <= 1.41 e^eps + 1.5. Beyond it k-RR has the larger mean variance."""
    # sqrt(1 + 8 e^(2 eps)), where e^(2 eps) may be large.
    return (3 + math.exp(_epsilon(epsilon)) * math.sqrt(8 + math.exp(-2 * epsilon))) / 2


def single_epsilon(k: int) -> float:
    """The same border in epsilon: from here on k-RR is subset selection at its best; 0 for two or three categories."""
    k = _validate.integer("k", k, 2, _K_MAX)
    return max(math.log1p(k * (k - 3) / 2) / 2, 0.0) if k > 2 else 0.0


def flip_k(epsilon: float, against: Key = "oue", theta_share: float = 0.0) -> float:
    """k-RR has a smaller variance than ``against`` ("sue", "oue" or "olh") exactly for k below this number of categories
    (a real number). Subset selection depends on k itself, see `single_k`; so does Hadamard response, in steps.

    Against OUE at share zero it is the rule 3 e^eps + 2, exactly. For larger shares it falls: at share one to
    e^eps + 3 + e^-eps. Whether the users are fixed or sampled makes no difference.

    >>> round(flip_k(1.0), 3), round(3 * math.exp(1.0) + 2, 3)
    (10.155, 10.155)
    """
    theta, odds = _share("theta_share", theta_share), math.expm1(_epsilon(epsilon))
    # In units of 1/(N (e^eps - 1)^2), k-RR has variance e^eps + k - 2 + theta (k - 2)(e^eps - 1).
    other = float(_other(against, epsilon).variance(theta, 1)) * odds * odds
    return 2 + (other - odds - 1) / (1 + theta * odds)


def flip_k_of_mean(epsilon: float, against: Key = "oue") -> float:
    """`flip_k` for the mean squared error over all categories, where the share is 1/k and so depends on k.

    Against OUE: [2x + 3 + sqrt(8x^2 + 12x + 5)]/2 with x = e^eps, for large eps about 2.41 e^eps rather than 3.
    """
    odds, other = math.expm1(_epsilon(epsilon)), _other(against, epsilon)
    flat = float(other.variance(0.0, 1)) * odds * odds
    slope = other.slope * odds * odds
    # k (e^eps + k - 2) + (k - 2)(e^eps - 1) = k flat + slope
    half, constant = (flat - 2 * odds + 1) / 2, 2 * odds + slope
    return half + math.sqrt(half * half + constant)


def flip_epsilon(k: int, against: Key = "oue", theta_share: float = 0.0) -> float:
    """k-RR has the smaller variance exactly for epsilon above this number; 0 when that is at every epsilon.

    Against OUE at share zero it is ln((k - 2)/3), and 0 for k <= 5. Against local hashing the whole g jumps with
    epsilon, and for shares above zero the two may change places several times around the number given.
    """
    k, theta = _validate.integer("k", k, 2, _K_MAX), _share("theta_share", theta_share)
    if against == "oue":
        return math.log(max(_odds_at_flip(k, theta), 1.0))
    if flip_k(1e-9, against, theta) >= k:
        return 0.0
    highest = 2 * math.log(k) + 1
    return float(brentq(lambda epsilon: flip_k(epsilon, against, theta) - k, 1e-9, highest, xtol=1e-12))


def _odds_at_flip(k: int, theta: float) -> float:
    """The larger root of theta x^2 + (3 - theta k) x + theta (k - 1) - (k - 2) = 0: the e^eps at which k-RR and
    OUE have the same variance. The form without cancellation is also right at theta = 0."""
    middle, last = 3 - theta * k, theta * (k - 1) - (k - 2)
    root = math.sqrt(max(middle * middle - 4 * theta * last, 0.0))
    return -2 * last / (middle + root) if middle > 0 else (root - middle) / (2 * theta)


@dataclass(frozen=True)
class RmseCurves:
    """Root mean squared error per category under each protocol along ``x``, for a figure.

    ``here`` is the current place on the x axis and ``rmse_here`` the values there. ``single`` is where k-RR stops being
    as good as subset selection (`single_k`, `single_epsilon`), ``flip`` where k-RR and OUE change places (real; 0 where
    k-RR is better everywhere).
    """

    x: Array
    rmse: dict[Key, Array]
    here: float
    rmse_here: dict[Key, float]
    single: float
    flip: float
    n: float
    users: Users


def against_k(ks: ArrayLike, k: int, epsilon: float, n: float, users: Users = "fixed") -> RmseCurves:
    """`RmseCurves` over the numbers of categories ``ks`` (whole numbers from 2 to 2^53) at one epsilon. With sampled
    users the mean is at equal shares, where it is largest."""
    k = _validate.integer("k", k, 2, _K_MAX)
    values = np.array([_validate.integer("ks", one, 2, _K_MAX) for one in _row("ks", ks)])
    rows = [compare(one, epsilon, n, 1 / one, users) for one in values.tolist()]
    now = compare(k, epsilon, n, 1 / k, users)
    return _curves(values, rows, k, now, (single_k(epsilon), flip_k_of_mean(epsilon)), n, users)


def against_epsilon(
    epsilons: ArrayLike, k: int, epsilon: float, n: float, users: Users = "fixed"
) -> RmseCurves:
    """`RmseCurves` over the budgets ``epsilons`` at one number of categories."""
    k = _validate.integer("k", k, 2, _K_MAX)
    values = np.array([_epsilon(one, "epsilons") for one in _row("epsilons", epsilons)])
    rows = [compare(k, one, n, 1 / k, users) for one in values.tolist()]
    now = compare(k, epsilon, n, 1 / k, users)
    return _curves(values, rows, epsilon, now, (single_epsilon(k), flip_epsilon(k, "oue", 1 / k)), n, users)


def _row(name: str, values: ArrayLike) -> list[float]:
    checked = _validate.numbers(name, values)
    if checked.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {checked.shape}")
    row: list[float] = checked.tolist()
    return row


def _curves(
    x: Array,
    rows: list[tuple[Protocol, ...]],
    here: float,
    now: tuple[Protocol, ...],
    borders: tuple[float, float],
    n: float,
    users: Users,
) -> RmseCurves:
    rmse = {key: np.array([row[i].rmse for row in rows]) for i, key in enumerate(KEYS)}
    rmse_here = {row.key: row.rmse for row in now}
    return RmseCurves(np.asarray(x, np.float64), rmse, here, rmse_here, *borders, n, users)


def _other(against: Key, epsilon: float) -> Support:
    _validate.one_of("against", against, ("sue", "oue", "olh"))
    return support(against, 2, epsilon)


def _whole_bits(values: int) -> int:
    """Bits that tell ``values`` values apart: ceil(log2 values), exact for large integers."""
    return (values - 1).bit_length()


def _log2_of_subsets(k: int, d: int) -> float:
    """log2 of k over d."""
    return math.log2(k) if d == 1 else (-float(betaln(d + 1, k - d + 1)) - math.log(k + 1)) / math.log(2)


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
        # Divided by e^eps and k one after the other: their product may be beyond the largest double.
        chances = (1 + odds * (held / k)) / (odds + 2 * count) / (size // 2)
        total += times * float(np.array(numbers, np.float64) @ entr(chances))
    return total / math.log(2)


def _epsilon(epsilon: float, name: str = "epsilon") -> float:
    allowed = f"a number with {EPSILON_OF_ERRORS_MIN:g} <= epsilon <= {_EPSILON_MAX:g}"
    value = _validate.real(name, epsilon, allowed)
    if not EPSILON_OF_ERRORS_MIN <= value <= _EPSILON_MAX:
        raise ValueError(f"{name} must be {allowed}, got {epsilon!r}")
    return value


def checked_n(n: float) -> float:
    """``n`` as a float, or ValueError."""
    number = _validate.real("n", n, f"a number >= {N_MIN:g}")
    if number < N_MIN:
        raise ValueError(f"n must be a number >= {N_MIN:g}, got {n!r}")
    return number


def _share(name: str, value: float) -> float:
    number = _validate.real(name, value, "a number from 0 to 1")
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
    return number
