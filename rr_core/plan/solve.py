"""Any two of epsilon, N and target give the third.

The promises are about Inv, for which everything is known in closed form or by exact tails. The valid estimators are
simulated instead (`rr_core.plan.curves`). All four put the categories in the same order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.errors import Users
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.plan import promise, tails
from rr_core.plan.guess import Guess
from rr_core.plan.promise import Channels, Shortfall
from rr_core.plan.targets import Target

N_MOST = 10**12
# Relative, of what is solved for; and the nats by which a target may be missed and still count as met: rounding.
ACCURACY = 1e-14
_SLACK = 1e-15


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
    """
    guess = checked_guess(target, k, theta)
    channels = Channels.of(guess.k, [checked_epsilon(epsilon)])
    function = promise.achieved(target, guess, users)
    return float(function(channels, np.array([checked_n(n)]), ACCURACY)[0])


def required_n(
    target: Target, k: int, epsilon: float, theta: ArrayLike | Guess | None, *, users: Users = "fixed"
) -> int | Unreachable:
    """The smallest N, up to 1e12, from which on the target is met. Arguments and errors as in `achieved`.

    Because the exact tails are saw-toothed in N, some smaller N may meet the target too; the answer and every
    larger N do.
    """
    guess = checked_guess(target, k, theta)
    channels = Channels.of(guess.k, [checked_epsilon(epsilon)])
    reason = tie(target, guess)
    if reason:
        return Unreachable(reason)
    users_needed = least_users(promise.shortfall(target, guess, users), channels)[0]
    if math.isinf(users_needed):
        return Unreachable(f"Not even a trillion users (10¹²) are enough to promise this at ε = {epsilon:g}.")
    return int(users_needed)


def required_epsilon(
    target: Target, k: int, n: float, theta: ArrayLike | Guess | None, *, users: Users = "fixed"
) -> float | Unreachable:
    """The smallest epsilon from 0.01 to 20 at which the target is met. Arguments and errors as in `achieved`."""
    guess = checked_guess(target, k, theta)
    n = checked_n(n)
    reason = tie(target, guess)
    if reason:
        return Unreachable(reason)
    function = promise.shortfall(target, guess, users)

    if problem := nobody(target, n, users):
        return Unreachable(problem)

    def excess(epsilon: Array, at: NDArray[np.intp]) -> Array:
        return _tamed(function(Channels.of(guess.k, epsilon), np.full_like(epsilon, n)))

    low, high = np.array([EPSILON_APP_MIN]), np.array([EPSILON_APP_MAX])
    here = np.arange(1)
    if excess(low, here)[0] <= 0:
        return EPSILON_APP_MIN
    if excess(high, here)[0] > 0:
        return Unreachable(
            f"With N = {n:,.0f} not even ε = {EPSILON_APP_MAX:g}, hardly any privacy, is enough to promise this."
        )
    return float(tails.decreasing_root(excess, low, high, ACCURACY)[0])


def least_users(function: Shortfall, channels: Channels) -> Array:
    """For each channel the smallest whole N up to 1e12 with no shortfall, infinite where there is none."""

    everywhere = np.arange(channels.q.size)

    def short(n: Array, at: NDArray[np.intp] = everywhere) -> Array:
        return _tamed(function(channels.at(at), n))

    low, high = np.ones(everywhere.size), np.full(everywhere.size, float(N_MOST))
    at_one, at_most = short(low), short(high)
    root = np.exp(
        tails.decreasing_root(lambda log_n, at: short(np.exp(log_n), at), np.log(low), np.log(high), ACCURACY)
    )
    # Rounding in the last digits of the root must neither cost a user nor spare one.
    users: Array = np.maximum(np.ceil(root * (1 - 10 * ACCURACY)), 1.0)
    fewer = np.maximum(users - 1, 1.0)
    users = np.where(short(fewer) <= 0, fewer, np.where(short(users) > 0, users + 1, users))
    users = np.where(at_one <= 0, 1.0, users)
    return np.where(at_most > 0, np.inf, users)


def nobody(target: Target, n: float, users: Users) -> str:
    """Why no category of these users is what the target is about, if so: their shares are those of whole people."""
    share = {"share": target.share, "smallest": target.value}.get(target.kind, 0.0)
    if users == "sampled" or promise.whole_people(share, n):
        return ""
    whom = f"{n:,.0f} user{'s' * (n != 1)}"
    return f"{100 * share:.10g}% of {whom} is less than one person: no category has this share."


def _tamed(nats: Array) -> Array:
    """Positive where the target is missed; nearly a line in log n, as the shortfall is nearly one in n."""
    short = nats - _SLACK
    tamed: Array = np.sign(short) * np.log1p(np.abs(short))
    return tamed


def checked_guess(target: Target, k: int, theta: ArrayLike | Guess | None) -> Guess:
    """The guess, or ValueError where the target has no meaning for it."""
    guess = Guess.of(k, theta)
    if target.kind == "top" and target.value >= guess.k:
        raise ValueError(
            f"value must be below k = {guess.k} for a target of kind 'top', got {target.value:g}"
        )
    if target.about.needs_population and guess.shares is None:
        raise ValueError("theta must be a population for a target of kind 'top', got None (the worst case)")
    return guess


def checked_epsilon(epsilon: float) -> float:
    """``epsilon`` within the range of a plan, or ValueError."""
    allowed = f"a number from {EPSILON_APP_MIN:g} to {EPSILON_APP_MAX:g}"
    epsilon = _validate.real("epsilon", epsilon, allowed)
    if not EPSILON_APP_MIN <= epsilon <= EPSILON_APP_MAX:
        raise ValueError(f"epsilon must be {allowed}, got {epsilon!r}")
    return epsilon


def checked_n(n: float) -> float:
    allowed = f"a number from 1 to {N_MOST:.0e}"
    n = _validate.real("n", n, allowed)
    if not 1 <= n <= N_MOST:
        raise ValueError(f"n must be {allowed}, got {n!r}")
    return n


def tie(target: Target, guess: Guess) -> str:
    """Why a ranking cannot be right, if so."""
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
