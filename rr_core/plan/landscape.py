"""The value of a target over epsilon and N, the frontier where it is met, and the price of privacy in users."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import interpolate

from rr_core._validate import Array
from rr_core.errors import Users
from rr_core.limits import EPSILON_APP_MIN
from rr_core.plan import solve
from rr_core.plan.solve import Channels, ValueFunction
from rr_core.plan.targets import Guess, Target

EPSILONS = np.geomspace(0.1, 10, 33)
USERS = np.geomspace(1e2, 1e9, 33)
_ACCURACY = 1e-6  # relative, of a value on the map
# The largest error, the only kind that takes long, is worked out at every other place each way of a map with more.
_NODES = 17


@dataclass(frozen=True, eq=False)
class Landscape:
    """What is achieved over a grid.

    Attributes:
        epsilons: (e,) increasing.
        users: (m,) increasing.
        values: (m, e), in the unit of `rr_core.plan.solve.achieved`; infinite where nothing can be told.
        interpolated: (m, e) where a value is interpolated between others rather than worked out.
    """

    epsilons: Array
    users: Array
    values: Array
    interpolated: NDArray[np.bool_]


def landscape(
    target: Target,
    k: int,
    theta: ArrayLike | Guess | None,
    *,
    epsilons: ArrayLike = EPSILONS,
    n: ArrayLike = USERS,
    users: Users = "fixed",
) -> Landscape:
    """`solve.achieved` at every pair of ``epsilons`` and ``n``, to six digits and never on the better side; but of the
    largest error only at every other of them, interpolated in between (to some percent in the corners, see the tests).

    Raises:
        ValueError: naming the argument.
    """
    guess = solve.checked_guess(target, k, theta)
    across = np.array([solve.checked_epsilon(epsilon) for epsilon in np.ravel(epsilons)])
    up = np.array([solve.checked_n(one) for one in np.ravel(n)])
    function = solve.value_function(target, guess, users)
    if target.kind == "max" and min(across.size, up.size) > _NODES:
        return _interpolated(function, guess.k, across, up)
    values = _grid(function, guess.k, across, up)
    return Landscape(across, up, values, np.zeros(values.shape, dtype=bool))


def _grid(function: ValueFunction, k: int, epsilons: Array, n: Array) -> Array:
    pair_epsilon, pair_n = (axis.ravel() for axis in np.meshgrid(epsilons, n))
    values = function(Channels.of(k, pair_epsilon), pair_n, _ACCURACY)
    return values.reshape(n.size, epsilons.size)


def _interpolated(function: ValueFunction, k: int, epsilons: Array, n: Array) -> Landscape:
    """Every other place and the last one worked out; between them cubic splines of the logarithms."""
    nodes = [np.unique(np.append(np.arange(0, axis.size, 2), axis.size - 1)) for axis in (n, epsilons)]
    known = _grid(function, k, epsilons[nodes[1]], n[nodes[0]])
    spline = interpolate.RectBivariateSpline(
        np.log(n[nodes[0]]), np.log(epsilons[nodes[1]]), np.log(known), s=0
    )
    values, between = (
        np.exp(spline(np.log(n), np.log(epsilons))),
        np.ones((n.size, epsilons.size), dtype=bool),
    )
    values[np.ix_(*nodes)], between[np.ix_(*nodes)] = known, False
    return Landscape(epsilons, n, values, between)


def frontier(
    target: Target,
    k: int,
    theta: ArrayLike | Guess | None,
    epsilons: ArrayLike = EPSILONS,
    *,
    users: Users = "fixed",
) -> Array:
    """`solve.required_n` at each of ``epsilons``: whole numbers as floats, infinite where nothing up to 1e12 does."""
    guess = solve.checked_guess(target, k, theta)
    across = np.array([solve.checked_epsilon(epsilon) for epsilon in np.ravel(epsilons)])
    if solve.tie_reason(target, guess):
        return np.full(across.size, np.inf)
    return solve.least_users(solve.shortfall_function(target, guess, users), Channels.of(guess.k, across))


@dataclass(frozen=True, eq=False)
class Price:
    """Users needed as epsilon is lowered bit by bit.

    Attributes:
        bits: how many bits (of ln 2) below the epsilon started from.
        epsilons: epsilon - bits ln 2.
        users: needed there; infinite where nothing up to 1e12 does.
        times: users, as a multiple of those needed at the epsilon started from.
    """

    bits: Array
    epsilons: Array
    users: Array
    times: Array


def price_per_bit(
    target: Target,
    k: int,
    epsilon: float,
    theta: ArrayLike | Guess | None,
    bits: Sequence[float] = (0, 1, 2, 3),
    *,
    users: Users = "fixed",
) -> Price:
    """What more privacy costs: one bit less lets a report shift the odds half as much. Bits that would bring epsilon
    below 0.01 are left out.

    Raises:
        ValueError: naming the argument.
    """
    epsilon = solve.checked_epsilon(epsilon)
    spent = np.asarray(bits, dtype=np.float64)
    spent = spent[epsilon - spent * math.log(2) >= EPSILON_APP_MIN]
    epsilons = epsilon - spent * math.log(2)
    needed = frontier(target, k, theta, np.append(epsilons, epsilon), users=users)
    with np.errstate(invalid="ignore"):
        return Price(spent, epsilons, needed[:-1], needed[:-1] / needed[-1])
