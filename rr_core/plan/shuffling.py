"""What shuffling adds: the central privacy of N reports whose order and origin are lost.

Upper bound of Feldman, McMillan and Talwar, "Hiding among the clones", FOCS 2021, Theorem 3.1. It holds for
every epsilon0-locally private randomizer, k-RR among them, whatever k. It is an upper bound on the privacy loss: the
true epsilon of k-RR with k = 2 is five to ten times smaller (N = 1,500, delta = 1e-4, epsilon0 from 0.1 to 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array

_RATIO_OVERFLOWS = 1e-300


@dataclass(frozen=True)
class Shuffled:
    """The central guarantee after shuffling.

    Attributes:
        epsilon: the shuffled reports are (epsilon, delta)-differentially private; never above epsilon0.
        delta: as asked for.
        holds: whether the theorem's condition holds; where it does not, epsilon is epsilon0 (and delta could be 0).
        users_needed: the smallest number of users for which the condition holds at this epsilon0.
    """

    epsilon: float
    delta: float
    holds: bool
    users_needed: int


def shuffled(epsilon0: float, n: int, delta: float) -> Shuffled:
    """Central (epsilon, delta) of ``n`` shuffled reports, each epsilon0-locally private.

    With L = ln(4/delta), and when epsilon0 <= ln(n/(16 ln(2/delta))),

        epsilon <= ln(1 + (e^eps0 - 1)/(e^eps0 + 1) (8 sqrt(e^eps0 L/n) + 8 e^eps0/n)).

    Args:
        epsilon0: local budget of each report, 1e-6 <= epsilon0 <= 700.
        n: number of reports shuffled together, an integer >= 1.
        delta: 0 < delta < 1; usually far below 1/n.

    Raises:
        ValueError: naming the argument.

    >>> result = shuffled(1.0, 100_000, 1e-6)
    >>> round(result.epsilon, 4), result.holds, result.users_needed
    (0.0726, True, 632)
    """
    epsilon0, delta = _validate.epsilon(epsilon0, "epsilon0"), _validate.fraction("delta", delta)
    n = _validate.integer("n", n, 1)
    needed = users_needed(epsilon0, delta)
    central = float(central_epsilon(epsilon0, n, delta))
    return Shuffled(central, delta, n >= needed, needed)


def central_epsilon(epsilon0: float, n: ArrayLike, delta: float) -> Array:
    """The bound of `shuffled` for many ``n`` at once, same shape: epsilon0 where the condition fails or where
    the bound would be above it."""
    epsilon0, delta = _validate.epsilon(epsilon0, "epsilon0"), _validate.fraction("delta", delta)
    users = _validate.numbers("n", n).astype(np.float64) + 0.0  # and no -0
    if users.size and users.min() < 0:
        raise ValueError(f"n must be numbers of users >= 0, got {users.min():g}")
    with np.errstate(divide="ignore", over="ignore"):
        clones = math.exp(epsilon0) / users
        spread = 8 * np.sqrt(clones * _log_of_ratio(4, delta)) + 8 * clones
        bound = np.log1p(math.tanh(epsilon0 / 2) * spread)
    holds = users >= users_needed(epsilon0, delta)
    central: Array = np.where(holds, np.minimum(bound, epsilon0), epsilon0)
    return central


def users_needed(epsilon0: float, delta: float) -> int:
    """Smallest n for which the theorem's condition n >= 16 ln(2/delta) e^eps0 holds."""
    epsilon0, delta = _validate.epsilon(epsilon0, "epsilon0"), _validate.fraction("delta", delta)
    return math.ceil(16 * _log_of_ratio(2, delta) * math.exp(epsilon0))


@dataclass(frozen=True)
class ShuffleCurve:
    """The bound along the number of users, for a figure; ``now`` is the current place."""

    epsilon0: float
    n: int
    users: Array
    epsilon: Array
    now: Shuffled


def against_users(users: ArrayLike, epsilon0: float, n: int, delta: float) -> ShuffleCurve:
    """`ShuffleCurve` over the numbers ``users``."""
    values = _validate.numbers("users", users).astype(np.float64)
    now = shuffled(epsilon0, n, delta)
    return ShuffleCurve(epsilon0, n, values, central_epsilon(epsilon0, values, delta), now)


def _log_of_ratio(above: int, delta: float) -> float:
    """log(above/delta), also where the ratio is beyond the largest double."""
    return math.log(above / delta) if delta > _RATIO_OVERFLOWS else math.log(above) - math.log(delta)
