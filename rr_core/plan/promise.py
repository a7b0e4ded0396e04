"""How far a collection is from a target, and what it achieves: each kind of target worked out for Inv.

Everything is vectorised over pairs (epsilon, n). The targets that promise a probability rest on upper bounds of the
chance to miss. For users drawn from the population the reports of category i are Binomial(N, m_i), m_i = q + (p - q)
theta_i (`rr_core.plan.tails`). For fixed users, who report again and again, they are Binomial(N theta_i, p) +
Binomial(N (1 - theta_i), q), of the same mean and a smaller variance (`rr_core.plan.fixed_tails`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core._validate import Array
from rr_core.errors import Users, check_users
from rr_core.plan import fixed_tails, tails
from rr_core.plan.guess import Guess
from rr_core.plan.targets import FAMILY_LEVEL, Target

_STEP = 0.1  # between the logarithms of the shares searched for the worst case
_LOWEST = (
    1e-4  # of the largest error in question: where the noise is all but gone it is a fraction of one report
)
_NOTHING = 1e-300  # a distance at which no tail is below a half
_EXACT = 1e-14
_ROUNDING = 1e-9  # nats within which the logarithm of a tail is known
_NEAR = 1e-9  # of one person, by which a number of people may be off a whole one by rounding


@dataclass(frozen=True, eq=False)
class Channels:
    """q and p - q of k-RR at several epsilons, one axis."""

    k: int
    q: Array
    keep: Array

    @classmethod
    def of(cls, k: int, epsilon: ArrayLike) -> Channels:
        odds = np.expm1(np.asarray(epsilon, dtype=np.float64))
        return cls(k, 1 / (odds + k), odds / (odds + k))

    def at(self, where: NDArray[np.intp]) -> Channels:
        return Channels(self.k, self.q[where], self.keep[where])

    def seen(self, shares: Array) -> tuple[Array, Array]:
        """(pairs, shares): probability of a report in a category of that share, and its complement."""
        q, keep = self.q[:, None], self.keep[:, None]
        return q + keep * shares, q * (self.k - 1) + keep * (1 - shares)

    @property
    def chances(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """(p, q) and (1 - p, 1 - q), (pairs, 1) each."""
        q, keep = self.q[:, None], self.keep[:, None]
        return (q + keep, q), ((self.k - 1) * q, keep + (self.k - 1) * q)


# log(chance to miss / chance allowed), of pairs (channel, n): not positive where the target is met.
Shortfall = Callable[[Channels, Array], Array]
# The chance to miss itself, or more: of channels, n and the value asked for.
Miss = Callable[[Channels, Array, Array], Array]
Achieved = Callable[[Channels, Array, float], Array]


def shortfall(target: Target, guess: Guess, users: Users) -> Shortfall:
    """How far from the target, in nats; it falls as N or epsilon grows."""
    check_users(users)
    if target.kind == "rmse":
        return lambda channels, n: np.log(_mean_square(guess, users, channels, n) / target.value**2)
    allowed = math.log1p(-target.confidence)
    miss = _miss(target, guess, users)

    def nats(channels: Channels, n: Array) -> Array:
        return tails.logarithm(miss(channels, n, np.full_like(n, target.value))) - allowed - _ROUNDING

    return nats


def achieved(target: Target, guess: Guess, users: Users) -> Achieved:
    """The value a collection achieves; the last argument is the relative accuracy asked for."""
    check_users(users)
    if target.kind == "rmse":
        return lambda channels, n, accuracy: np.sqrt(_mean_square(guess, users, channels, n))
    if target.kind == "smallest":
        return lambda channels, n, accuracy: _smallest(channels, n, target.confidence, users, accuracy)
    miss = _miss(target, guess, users)
    if target.kind == "top":
        return lambda channels, n, accuracy: np.maximum(1 - miss(channels, n, n), 0.0)
    levels = _levels(target, guess)
    allowed = 1 - target.confidence

    def off(channels: Channels, n: Array, accuracy: float) -> Array:
        value = _largest_error(miss, levels, channels, n, allowed, accuracy)
        exists = target.kind != "share" or users == "sampled" or whole_people(target.share, n)
        return np.where(exists, value, np.inf)

    return off


def whole_people(share: ArrayLike, n: ArrayLike) -> NDArray[np.bool_]:
    """Whether a category of n users can have this share: that of one of them or more, or none."""
    people: Array = np.asarray(n, dtype=np.float64) * np.asarray(share, dtype=np.float64)
    out: NDArray[np.bool_] = (people == 0) | (people >= 1 - _NEAR)
    return out


def _mean_square(guess: Guess, users: Users, channels: Channels, n: Array) -> Array:
    """Mean over the categories of the variance of Inv. The variance with fixed users is linear in the share, so its
    mean is that at 1/k whatever the population; with sampled users theta (1 - theta)/N is added, most when uniform."""
    k, q, keep = channels.k, channels.q, channels.keep
    mean: Array = q * ((1 - q) + keep * (k - 2) / k) / keep / keep / n
    if users == "fixed":
        return mean
    squares = 1 / k if guess.sum_of_squares is None else guess.sum_of_squares
    mean += (1 - squares) / k / n
    return mean


def _miss(target: Target, guess: Guess, users: Users) -> Miss:
    """Upper bound on the chance to miss: of (channels, n, value)."""
    if target.kind == "smallest":
        return lambda channels, n, value: _not_found(channels, n, value, users)
    if target.kind == "top":
        return _misranked(guess, int(target.value), users)
    levels = _levels(target, guess)
    if target.kind == "share":
        return _named_off(target.share, users)
    # Of two categories the one is off as far as the other: once is enough.
    times = 0.5 if guess.k == 2 else 1.0
    if guess.shares is None:
        worst = _worst_outside(levels, users)
        return lambda channels, n, value: times * worst(channels, n, value)
    weights = times * guess.levels()[1]
    return lambda channels, n, value: np.asarray(_off(channels, n, value, levels, users) @ weights)


def _named_off(share: float, users: Users) -> Miss:
    """Chance that the estimate of one category is further off than the value. A share of fixed users is that of whole
    people, less than one more or fewer than n times the share; one person or more where it is not zero."""

    def miss(channels: Channels, n: Array, value: Array) -> Array:
        if users == "sampled" or share in (0, 1):
            return _off(channels, n, value, np.array([share]), users, fine=True)[:, 0]
        one = 1 / n
        around = np.stack([np.maximum(share - one, 0.0), np.minimum(share + one, 1.0)], axis=1)
        off = _off(channels, n, value, around, users, fine=True).max(axis=1)
        return np.where(whole_people(share, n), off, 1.0)

    return miss


def _levels(target: Target, guess: Guess) -> Array:
    """Shares at which a category's chance to be off is worked out."""
    if target.kind == "share":
        return np.array([target.share])
    return _worst_levels(guess.k) if guess.shares is None else guess.levels()[0]


def _worst_outside(levels: Array, users: Users) -> Miss:
    """Sum over the categories of Pr(|Inv_i - theta_i| > value), at most, over all populations.

    Each category's chance is a function f of its share that is convex while its deviation is far out in the tail and
    concave where it is not. The sum over the simplex is at most k f(0) + max (f(theta) - f(0))/theta, which is reached by
    j categories of share 1/j beside empty ones; j, which may be a fraction here, is searched. For fixed users the
    variance grows with the share (p + q < 1 from k = 3 on), and in the tails everybody in one category is worst.
    """
    some = levels[1:]

    def miss(channels: Channels, n: Array, value: Array) -> Array:
        off = _off(channels, n, value, levels, users)
        rise = (off[:, 1:] - off[:, :1]) / some
        total: Array = channels.k * off[:, 0] + np.maximum(rise.max(axis=1), 0.0)
        return total

    return miss


def _worst_levels(k: int) -> Array:
    return np.concatenate([[0.0], np.geomspace(1 / k, 1, 2 + math.ceil(math.log(k) / _STEP))])


def _off(
    channels: Channels, n: Array, value: Array, levels: Array, users: Users, *, fine: bool = False
) -> Array:
    """(pairs, levels): at least Pr(|Inv - share| > value). ``fine`` as in `fixed_tails.beyond`."""
    distance, people = (channels.keep * value)[:, None], n[:, None]
    if users == "sampled":
        seen, rest = channels.seen(levels)
        return tails.beyond(people, seen, rest, distance) + tails.beyond(people, rest, seen, distance)
    chances, rests = channels.chances
    above = fixed_tails.beyond(people, levels, chances, rests, distance, fine=fine)
    below = fixed_tails.beyond(people, levels, rests, chances, distance, fine=fine)
    off: Array = above + below
    return off


def _largest_error(
    miss: Miss,
    levels: Array,
    channels: Channels,
    n: Array,
    allowed: float,
    accuracy: float,
) -> Array:
    """The value whose chance to be exceeded by any category is ``allowed``."""

    def excess(squared: Array, at: NDArray[np.intp]) -> Array:
        return tails.logarithm(miss(channels.at(at), n[at], np.sqrt(squared))) - math.log(allowed)

    seen, rest = channels.seen(levels)
    variance = (seen * rest).max(axis=1) / n
    # Bernstein's bound with room for the smoothing, and nine tenths of what the widest category needs by itself; an
    # error of 1/(p - q) is out of reach. In squares, because the logarithm of a tail is nearly a line in them.
    nats = np.log(2 * channels.k / allowed)
    high = nats / 3 / n + np.sqrt((nats / 3 / n) ** 2 + 2 * nats * variance) + 2 / n
    high = np.minimum(high, 1.0) / channels.keep
    low = np.minimum(np.sqrt(variance) * special.ndtri(1 - allowed / 2) * 0.9 / channels.keep, high / 2)
    low = np.where(tails.logarithm(miss(channels, n, low)) > math.log(allowed), low, _LOWEST * high)
    root = tails.decreasing_root(excess, low**2, high**2, 2 * accuracy)
    return np.asarray(np.sqrt(root))


def _smallest(channels: Channels, n: Array, power: float, users: Users, accuracy: float) -> Array:
    """The share found with this power; infinite where no number of reports is rare enough under "empty", or where not
    even a category that all users have is found."""
    least = tails.threshold(n, channels.q, FAMILY_LEVEL / channels.k) + 1
    possible = least < n + 1
    seen = special.betaincinv(least, np.where(possible, n + 1 - least, 1.0), power)
    share: Array = np.where(possible, (seen - channels.q) / channels.keep, np.inf)
    if users == "sampled":
        return share

    def excess(theta: Array, at: NDArray[np.intp]) -> Array:
        miss = _not_found(channels.at(at), n[at], theta, users)
        return tails.logarithm(miss) - math.log1p(-power)

    # Where all have it nobody is found if not by the tail at a share of one; the search goes from a share that is
    # expected to have as many reports as the threshold up to there.
    everywhere = np.arange(n.size)
    found = possible & (excess(np.ones(n.size), everywhere) <= 0)
    share = np.full(n.size, np.inf)
    some = np.flatnonzero(found)
    if some.size:
        low = np.clip(((least - 1)[some] / n[some] - channels.q[some]) / channels.keep[some], 0.0, 1.0)
        share[some] = tails.decreasing_root(
            lambda theta, at: excess(theta, some[at]), low, np.ones(some.size), max(accuracy, _EXACT)
        )
    return share


def _not_found(channels: Channels, n: Array, value: Array, users: Users) -> Array:
    """Chance that a category of that share stays below the threshold, whose next whole number is at most one more."""
    least = tails.threshold(n, channels.q, FAMILY_LEVEL / channels.k) + 1
    rest = channels.q * (channels.k - 1) + channels.keep * (1 - value)
    possible = least < n + 1
    if users == "fixed":
        distance = channels.q + channels.keep * value - (least - 1) / n
        (p, q), (p_rest, q_rest) = channels.chances
        chances, rests = (p[:, 0], q[:, 0]), (p_rest[:, 0], q_rest[:, 0])
        miss = fixed_tails.beyond(n, value, rests, chances, np.maximum(distance, _NOTHING))
        miss = np.where(whole_people(value, n), miss, 1.0)
    else:
        miss = special.betainc(np.where(possible, n + 1 - least, 1.0), least, np.maximum(rest, 0.0))
    out: Array = np.where(possible, miss, 1.0)
    return out


def _overtaken_by_whole_people(channels: Channels, n: Array, ahead: Array, behind: Array) -> Array:
    """At least Pr(c_i <= c_j) when n users are shared out in whole people by largest remainder.

    The two categories are then at most one person nearer to each other than n times their shares, and fewer than one
    person apart may be none. So with g = ceil(n (theta_i - theta_j)) - 1 persons between them: worst at the largest n of
    that g, and with as many people as possible in both, whose reports vary most.
    """
    q, keep, others = channels.q[:, None], channels.keep[:, None], channels.k - 2
    apart = n * (ahead - behind)
    there = apart > 1 + _NEAR
    one, other = np.where(there, ahead, 0.5), np.where(there, behind, 0.0)
    most = np.where(there, np.ceil(apart - _NEAR), 2.0) / (one - other)
    in_both = np.maximum(0.0, 1 - most * np.maximum(1 - one - other, 0.0)) / 2
    wrong = fixed_tails.overtaken(most, q, keep, others, one - in_both / most, other + (1 - in_both) / most)
    wrong = np.where(there, wrong, 1.0)
    exact = _is_whole(n * ahead) & _is_whole(n * behind)  # the very people of a file
    if exact.any():
        these = np.where(apart > 1 - _NEAR, fixed_tails.overtaken(n, q, keep, others, ahead, behind), 1.0)
        wrong = np.where(exact, these, wrong)
    return wrong


def _is_whole(people: Array) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = np.abs(people - np.rint(people)) <= _NEAR
    return out


def _misranked(guess: Guess, top: int, users: Users) -> Miss:
    """Sum of the chances that one of the first ``top`` is not ahead of the next, or the last of them not ahead
    of each of the others: what all failures together are at most."""
    shares = guess.known()
    levels, weights = guess.levels(after=top)
    ahead = np.concatenate([shares[: top - 1], np.full(levels.size, shares[top - 1])])
    behind = np.concatenate([shares[1:top], levels])
    weights = np.concatenate([np.ones(top - 1), weights])

    def miss(channels: Channels, n: Array, _: Array) -> Array:
        if users == "fixed":
            return np.asarray(_overtaken_by_whole_people(channels, n[:, None], ahead, behind) @ weights)
        seen, seen_behind = channels.seen(ahead)[0], channels.seen(behind)[0]
        gap = channels.keep[:, None] * (ahead - behind)
        total: Array = tails.overtaken(n[:, None], seen, seen_behind, gap) @ weights
        return total

    return miss
