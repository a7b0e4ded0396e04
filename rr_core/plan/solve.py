"""Any two of epsilon, N and target give the third, for k-RR and Inv.

The promises are about Inv, for which everything is known in closed form or by exact tails. The valid estimators are
simulated instead (`rr_core.plan.landscape`). All four put the categories in the same order.

Everything is vectorised over pairs (epsilon, n). The targets that promise a probability rest on upper bounds of the
chance to miss (`rr_core.plan.tails`). For users drawn from the population the reports of category i are Binomial(N, m_i),
m_i = q + (p - q) theta_i. For fixed users, who report again and again, they are Binomial(N theta_i, p) +
Binomial(N (1 - theta_i), q), of the same mean and a smaller variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.metrics import Users, check_users
from rr_core.plan import tails
from rr_core.plan.targets import FAMILY_LEVEL, Guess, Target

Find = Literal["n", "eps", "value"]  # which of N, epsilon and target is worked out

N_MOST = 10**12
# Relative, of what is solved for; and the nats by which a target may be missed and still count as met: rounding.
ACCURACY = 1e-14
_SLACK = 1e-15
_STEP = 0.1  # between the logarithms of the shares searched for the worst case
_LOWEST = (
    1e-4  # of the largest error in question: where the noise is all but gone it is a fraction of one report
)
_NOTHING = 1e-300  # a distance at which no tail is below a half
_EXACT = 1e-14
_ROUNDING = 1e-9  # nats within which the logarithm of a tail is known
_NEAR = 1e-9  # of one person, by which a number of people may be off a whole one by rounding
_FEW = 100  # users, of whom a fraction of a person more or less matters to the largest error


@dataclass(frozen=True)
class Unreachable:
    """No answer, and why in a sentence."""

    reason: str


def achieved(
    target: Target,
    k: int,
    epsilon: float,
    n: float,
    theta: ArrayLike | Guess | None,
    *,
    users: Users = "fixed",
) -> float:
    """The value that k-RR and Inv achieve: the RMSE, the error of any category or of one with the named share that is not
    exceeded with the target's confidence, the smallest share found with that power, or the probability that the top
    is ranked right (a lower bound).

    Args:
        target: what is asked for; its value is not used except for the number of categories of "top".
        k: number of categories.
        epsilon: privacy budget, from 0.01 to 20.
        n: users, from 1 to 1e12.
        theta: (k,) guess of the population, a `Guess`, or None for the worst case over all populations.
        users: "fixed" when the truth is these users' own shares, who report again and again; "sampled" when it is the
            population that they are drawn from.

    Returns:
        In the unit of the target. Infinite when no category can be told from an empty one.

    Raises:
        ValueError: naming the argument.

    >>> from rr_core import zipf
    >>> float(np.round(achieved(Target("rmse", 0.01), 10, 1.0, 10_000, zipf(10, 1.0)), 5))
    0.02024
    """
    guess = checked_guess(target, k, theta)
    channels = Channels.of(guess.k, [checked_epsilon(epsilon)])
    function = value_function(target, guess, users)
    return float(function(channels, np.array([checked_n(n)]), ACCURACY)[0])


def required_n(
    target: Target, k: int, epsilon: float, theta: ArrayLike | Guess | None, *, users: Users = "fixed"
) -> int | Unreachable:
    """The smallest N, up to 1e12, from which on the target is met. Arguments and errors as in `achieved`.

    Because the exact tails are saw-toothed in N, some smaller N may meet the target too; the answer and every
    larger N do.

    >>> from rr_core import zipf
    >>> required_n(Target("rmse", 0.01), 10, 1.0, zipf(10, 1.0))
    40959
    """
    guess = checked_guess(target, k, theta)
    channels = Channels.of(guess.k, [checked_epsilon(epsilon)])
    reason = tie_reason(target, guess)
    if reason:
        return Unreachable(reason)
    users_needed = least_users(shortfall_function(target, guess, users), channels)[0]
    if math.isinf(users_needed):
        return Unreachable(f"Not even a trillion users (10¹²) are enough to promise this at ε = {epsilon:g}.")
    return int(users_needed)


def required_epsilon(
    target: Target, k: int, n: float, theta: ArrayLike | Guess | None, *, users: Users = "fixed"
) -> float | Unreachable:
    """The smallest epsilon from 0.01 to 20 at which the target is met. Arguments and errors as in `achieved`.

    >>> from rr_core import zipf
    >>> round(required_epsilon(Target("rmse", 0.01), 10, 10_000, zipf(10, 1.0)), 4)
    1.6158
    """
    guess = checked_guess(target, k, theta)
    n = checked_n(n)
    reason = tie_reason(target, guess)
    if reason:
        return Unreachable(reason)
    function = shortfall_function(target, guess, users)

    if problem := share_below_one_person(target, n, users):
        return Unreachable(problem)

    def excess(epsilon: Array, at: NDArray[np.intp]) -> Array:
        return _signed_log(function(Channels.of(guess.k, epsilon), np.full_like(epsilon, n)))

    low, high = np.array([EPSILON_APP_MIN]), np.array([EPSILON_APP_MAX])
    here = np.arange(1)
    if excess(low, here)[0] <= 0:
        return EPSILON_APP_MIN
    if excess(high, here)[0] > 0:
        if target.kind == "rmse":
            return Unreachable(
                f"With N = {n:,.0f} not even ε = {EPSILON_APP_MAX:g}, hardly any privacy, is enough for this."
            )
        return Unreachable(
            f"With N = {n:,.0f} the bounds used here promise this at no ε up to {EPSILON_APP_MAX:g}."
        )
    return float(tails.decreasing_root(excess, low, high, ACCURACY)[0])


def least_users(function: Shortfall, channels: Channels) -> Array:
    """For each channel the smallest whole N up to 1e12 with no shortfall, infinite where there is none."""

    everywhere = np.arange(channels.q.size)

    def short(n: Array, at: NDArray[np.intp] = everywhere) -> Array:
        return _signed_log(function(channels.at(at), n))

    needed = np.where(short(np.ones(everywhere.size)) <= 0, 1.0, np.inf)
    # Near 1e12 users a tail takes long, and where not even they are enough a search would stay there.
    between = np.flatnonzero((needed > 1) & (short(np.full(everywhere.size, float(N_MOST))) <= 0))
    if not between.size:
        return needed
    ends = np.zeros(between.size), np.full(between.size, math.log(N_MOST))
    root = np.exp(tails.decreasing_root(lambda log_n, at: short(np.exp(log_n), between[at]), *ends, ACCURACY))
    # Rounding in the last digits of the root must neither cost a user nor spare one.
    users: Array = np.maximum(np.ceil(root * (1 - 10 * ACCURACY)), 1.0)
    fewer = np.maximum(users - 1, 1.0)
    one_more = np.where(short(users, between) > 0, users + 1, users)
    users = np.where(short(fewer, between) <= 0, fewer, one_more)
    # Of few users whole people come in steps.
    while (few := users <= _FEW).any() and (missed := few & (short(users, between) > 0)).any():
        users = users + missed
    needed[between] = users
    return needed


def share_below_one_person(target: Target, n: float, users: Users) -> str:
    """Why no category of these n users has the share that the target names, as a sentence: it is less than one person.
    Empty when one can have it."""
    _check_target(target)
    n = checked_n(n)
    check_users(users)
    share = {"share": target.share, "smallest": target.value}.get(target.kind, 0.0)
    if users == "sampled" or has_whole_person(share, n):
        return ""
    whom = f"{n:,.0f} user{'s' * (n != 1)}"
    return f"{100 * share:.10g}% of {whom} is less than one person: no category has this share."


def _signed_log(nats: Array) -> Array:
    """sign(x) log(1 + |x|) of the shortfall x: positive where the target is missed, and nearly linear in log n, because
    the shortfall is nearly linear in n."""
    short = nats - _SLACK
    compressed: Array = np.sign(short) * np.log1p(np.abs(short))
    return compressed


def checked_guess(target: Target, k: int, theta: ArrayLike | Guess | None) -> Guess:
    """The guess, or ValueError where the target is none or has no meaning for it."""
    _check_target(target)
    guess = Guess.of(k, theta)
    if target.kind == "top" and target.value >= guess.k:
        raise ValueError(
            f"value must be below k = {guess.k} for a target of kind 'top', got {target.value:g}"
        )
    if target.about.needs_population and guess.shares is None:
        raise ValueError("theta must be a population for a target of kind 'top', got None (the worst case)")
    return guess


def _check_target(target: Target) -> None:
    if not isinstance(target, Target):
        raise ValueError(f"target must be a Target, got {_validate.short(target)}")


def checked_epsilon(epsilon: float) -> float:
    """``epsilon`` within the range of a plan, or ValueError."""
    return _validate.within("epsilon", epsilon, EPSILON_APP_MIN, EPSILON_APP_MAX)


def checked_n(n: float) -> float:
    allowed = f"a number from 1 to {N_MOST:.0e}"
    n = _validate.real("n", n, allowed)
    if not 1 <= n <= N_MOST:
        raise ValueError(f"n must be {allowed}, got {n!r}")
    return n


def tie_reason(target: Target, guess: Guess) -> str:
    """Why a ranking cannot be right, as a sentence: two of the categories are equally large. Empty when it can."""
    if target.kind != "top" or guess.shares is None:
        return ""
    top = int(target.value)
    ties = np.flatnonzero(np.diff(guess.shares[: top + 1]) == 0)
    if not ties.size:
        return ""
    first = int(ties[0]) + 1
    return (
        f"The categories ranked {first} and {first + 1} are equally large in this population: no number of "
        "reports can put them in a true order."
    )


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

    def report_probability(self, shares: Array) -> tuple[Array, Array]:
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
ValueFunction = Callable[[Channels, Array, float], Array]


def shortfall_function(target: Target, guess: Guess, users: Users) -> Shortfall:
    """A function of (channels, n): log(chance to miss / chance allowed) in nats, or more, (pairs,). For "rmse" it is the
    logarithm of the mean squared error over the one asked for. It falls as N or epsilon grows, to -inf where the chance
    is below the smallest double."""
    check_users(users)
    if target.kind == "rmse":
        return lambda channels, n: np.log(_mean_square(guess, users, channels, n) / target.value**2)
    allowed = math.log1p(-target.confidence)
    miss = _miss_bound(target, guess, users)

    def nats(channels: Channels, n: Array) -> Array:
        return tails.log_or_minus_inf(miss(channels, n, np.full_like(n, target.value))) - allowed - _ROUNDING

    return nats


def value_function(target: Target, guess: Guess, users: Users) -> ValueFunction:
    """A function of (channels, n, relative accuracy): the value that is achieved, (pairs,), as in `achieved`."""
    check_users(users)
    if target.kind == "rmse":
        return lambda channels, n, accuracy: np.sqrt(_mean_square(guess, users, channels, n))
    if target.kind == "smallest":
        return lambda channels, n, accuracy: _smallest_share(channels, n, target.confidence, users, accuracy)
    miss = _miss_bound(target, guess, users)
    if target.kind == "top":
        return lambda channels, n, accuracy: np.maximum(1 - miss(channels, n, n), 0.0)
    levels = _levels(target, guess)
    allowed = 1 - target.confidence

    def off(channels: Channels, n: Array, accuracy: float) -> Array:
        value = _largest_error(miss, levels, channels, n, allowed, accuracy)
        exists = target.kind != "share" or users == "sampled" or has_whole_person(target.share, n)
        return np.where(exists, value, np.inf)

    return off


def has_whole_person(share: ArrayLike, n: ArrayLike) -> NDArray[np.bool_]:
    """Whether a category of n users can have this share: zero, or that of one person or more. They broadcast."""
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


def _miss_bound(target: Target, guess: Guess, users: Users) -> Miss:
    """Upper bound on the chance to miss: of (channels, n, value)."""
    if target.kind == "smallest":
        return lambda channels, n, value: _not_detected(channels, n, value, users)
    if target.kind == "top":
        return _misranking(guess, int(target.value), users)
    levels = _levels(target, guess)
    if target.kind == "share":
        return _named_share_miss(target.share, users)
    # Of two categories the one is off as far as the other: once is enough.
    times = 0.5 if guess.k == 2 else 1.0
    if guess.shares is None:
        worst = _worst_case_miss(levels, users)
        return lambda channels, n, value: times * worst(channels, n, value)
    weights = guess.levels()[1]

    def miss(channels: Channels, n: Array, value: Array) -> Array:
        off: Array = _exceeds(channels, n, value, levels, users) @ weights
        if users == "fixed" and (few := np.flatnonzero(n <= _FEW)).size:
            off[few] = _whole_people_off(channels.at(few), n[few], value[few], levels, weights)
        return times * off

    return miss


def _whole_people_off(channels: Channels, n: Array, value: Array, levels: Array, weights: Array) -> Array:
    """Sum over the categories of Pr(|Inv_i - share_i| > value), at most, when n fixed users are shared out in whole
    people: each has as many as n times its share rounded down, and as many categories as people are left one more."""
    people = n[:, None] * levels
    fewest = np.floor(people + _NEAR)
    part = np.where(people - fewest > _NEAR, people - fewest, 0.0)
    shares = np.concatenate([fewest, np.minimum(fewest + 1, n[:, None])], axis=1) / n[:, None]
    off, more = np.split(_exceeds(channels, n, value, shares, "fixed"), 2, axis=1)
    rise = np.where(part > 0, more - off, -1.0).max(axis=1)
    total: Array = np.maximum(off @ weights + part @ weights * rise, 0.0)
    return total


def _named_share_miss(share: float, users: Users) -> Miss:
    """Chance that the estimate of one category is further off than the value. A share of fixed users is that of whole
    people, less than one more or fewer than n times the share; one person or more where it is not zero."""

    def miss(channels: Channels, n: Array, value: Array) -> Array:
        if users == "sampled" or share in (0, 1):
            return _exceeds(channels, n, value, np.array([share]), users, fine=True)[:, 0]
        one = 1 / n
        around = np.stack([np.maximum(share - one, 0.0), np.minimum(share + one, 1.0)], axis=1)
        off = _exceeds(channels, n, value, around, users, fine=True).max(axis=1)
        return np.where(has_whole_person(share, n), off, 1.0)

    return miss


def _levels(target: Target, guess: Guess) -> Array:
    """Shares at which a category's chance to be off is worked out."""
    if target.kind == "share":
        return np.array([target.share])
    if guess.shares is not None:
        return guess.levels()[0]
    return np.concatenate([[0.0], np.geomspace(1 / guess.k, 1, 2 + math.ceil(math.log(guess.k) / _STEP))])


def _worst_case_miss(levels: Array, users: Users) -> Miss:
    """Sum over the categories of Pr(|Inv_i - theta_i| > value), at most, over all populations.

    Each category's chance is a function f of its share that is convex while its deviation is far out in the tail and
    concave where it is not. The sum over the simplex is at most k f(0) + max (f(theta) - f(0))/theta, which is reached by
    j categories of share 1/j beside empty ones; j, which may be a fraction here, is searched. For fixed users the
    variance grows with the share (p + q < 1 from k = 3 on), and in the tails everybody in one category is worst.
    """
    some = levels[1:]

    def miss(channels: Channels, n: Array, value: Array) -> Array:
        off = _exceeds(channels, n, value, levels, users)
        rise = (off[:, 1:] - off[:, :1]) / some
        total: Array = channels.k * off[:, 0] + np.maximum(rise.max(axis=1), 0.0)
        return total

    return miss


def _exceeds(
    channels: Channels, n: Array, value: Array, levels: Array, users: Users, *, fine: bool = False
) -> Array:
    """(pairs, levels): at least Pr(|Inv - share| > value). ``fine`` as in `tails.fixed_users_tail`."""
    distance, people = (channels.keep * value)[:, None], n[:, None]
    if users == "sampled":
        seen, rest = channels.report_probability(levels)
        return tails.binomial_tail(people, seen, rest, distance) + tails.binomial_tail(
            people, rest, seen, distance
        )
    chances, rests = channels.chances
    above = tails.fixed_users_tail(people, levels, chances, rests, distance, fine=fine)
    below = tails.fixed_users_tail(people, levels, rests, chances, distance, fine=fine)
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
        return tails.log_or_minus_inf(miss(channels.at(at), n[at], np.sqrt(squared))) - math.log(allowed)

    seen, rest = channels.report_probability(levels)
    variance = (seen * rest).max(axis=1) / n
    # Bernstein's bound with room for the smoothing, and nine tenths of what the widest category needs by itself; an
    # error of 1/(p - q) is out of reach. In squares, because the logarithm of a tail is nearly a line in them.
    nats = np.log(2 * channels.k / allowed)
    high = nats / 3 / n + np.sqrt((nats / 3 / n) ** 2 + 2 * nats * variance) + 2 / n
    high = np.minimum(high, 1.0) / channels.keep
    low = np.minimum(np.sqrt(variance) * special.ndtri(1 - allowed / 2) * 0.9 / channels.keep, high / 2)
    low = np.where(tails.log_or_minus_inf(miss(channels, n, low)) > math.log(allowed), low, _LOWEST * high)
    root = tails.decreasing_root(excess, low**2, high**2, 2 * accuracy)
    return np.asarray(np.sqrt(root))


def _smallest_share(channels: Channels, n: Array, power: float, users: Users, accuracy: float) -> Array:
    """The share found with this power; infinite where no number of reports is rare enough under "empty", or where not
    even a category that all users have is found."""
    least = tails.detection_threshold(n, channels.q, FAMILY_LEVEL / channels.k) + 1
    possible = least < n + 1
    seen = special.betaincinv(least, np.where(possible, n + 1 - least, 1.0), power)
    share: Array = np.where(possible, (seen - channels.q) / channels.keep, np.inf)
    if users == "sampled":
        return share

    def excess(theta: Array, at: NDArray[np.intp]) -> Array:
        miss = _not_detected(channels.at(at), n[at], theta, users)
        return tails.log_or_minus_inf(miss) - math.log1p(-power)

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


def _not_detected(channels: Channels, n: Array, value: Array, users: Users) -> Array:
    """Chance that a category of that share stays below the threshold, whose next whole number is at most one more."""
    least = tails.detection_threshold(n, channels.q, FAMILY_LEVEL / channels.k) + 1
    rest = channels.q * (channels.k - 1) + channels.keep * (1 - value)
    possible = least < n + 1
    if users == "fixed":
        distance = channels.q + channels.keep * value - (least - 1) / n
        (p, q), (p_rest, q_rest) = channels.chances
        chances, rests = (p[:, 0], q[:, 0]), (p_rest[:, 0], q_rest[:, 0])
        miss = tails.fixed_users_tail(n, value, rests, chances, np.maximum(distance, _NOTHING))
        miss = np.where(has_whole_person(value, n), miss, 1.0)
    else:
        miss = special.betainc(np.where(possible, n + 1 - least, 1.0), least, np.maximum(rest, 0.0))
    out: Array = np.where(possible, miss, 1.0)
    return out


def _overtaken_fixed(channels: Channels, n: Array, ahead: Array, behind: Array) -> Array:
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
    wrong = tails.overtaken_fixed(most, q, keep, others, one - in_both / most, other + (1 - in_both) / most)
    wrong = np.where(there, wrong, 1.0)
    exact = _is_whole(n * ahead) & _is_whole(n * behind)  # the very people of a file
    if exact.any():
        these = np.where(apart > 1 - _NEAR, tails.overtaken_fixed(n, q, keep, others, ahead, behind), 1.0)
        wrong = np.where(exact, these, wrong)
    return wrong


def _is_whole(people: Array) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = np.abs(people - np.rint(people)) <= _NEAR
    return out


def _misranking(guess: Guess, top: int, users: Users) -> Miss:
    """Sum of the chances that one of the first ``top`` is not ahead of the next, or the last of them not ahead
    of each of the others: what all failures together are at most."""
    shares = guess.known_shares()
    levels, weights = guess.levels(after=top)
    ahead = np.concatenate([shares[: top - 1], np.full(levels.size, shares[top - 1])])
    behind = np.concatenate([shares[1:top], levels])
    weights = np.concatenate([np.ones(top - 1), weights])

    def miss(channels: Channels, n: Array, _: Array) -> Array:
        if users == "fixed":
            return np.asarray(_overtaken_fixed(channels, n[:, None], ahead, behind) @ weights)
        seen, seen_behind = channels.report_probability(ahead)[0], channels.report_probability(behind)[0]
        gap = channels.keep[:, None] * (ahead - behind)
        total: Array = tails.overtaken_sampled(n[:, None], seen, seen_behind, gap) @ weights
        return total

    return miss
