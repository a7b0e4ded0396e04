"""Should it be k-RR at all? Protocols for frequency estimation compared, by their laws (`rr_core.protocols.laws`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.metrics import Users
from rr_core.protocols.laws import K_MAX, KEYS, UNIT, Key, Support, checked_n, support


@dataclass(frozen=True)
class Protocol:
    """One protocol in a comparison: one row of a table.

    ``variance`` and ``rmse`` are of one category's estimated share, ``users_relative`` is how many times the users of the
    best one of the table it takes to be as accurate, ``best`` marks the smallest variance of the table (the first in the
    order of `KEYS` when two are equal). ``bits`` and ``coded_bits`` as in `Support`, of which ``law`` is the protocol's.
    """

    key: Key
    law: Support
    variance: float
    rmse: float
    bits: int
    coded_bits: float
    users_relative: float
    best: bool


def compare(
    k: int, epsilon: float, n: float, theta_share: float = 0.0, users: Users = "fixed"
) -> tuple[Protocol, ...]:
    """The protocols for one category with true share ``theta_share``.

    Args:
        k: categories, >= 2.
        epsilon: privacy budget, 1e-6 <= epsilon <= 700, the same for all.
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
    k, n, theta = _validate.integer("k", k, 2, K_MAX), checked_n(n), _share(theta_share)
    supports = [support(key, k, epsilon) for key in KEYS]
    # Of one user, for that of very many rounds to zero.
    of_one = [float(made.variance(theta, 1.0, users)) for made in supports]
    best = min(range(len(KEYS)), key=of_one.__getitem__)
    return tuple(
        Protocol(
            key=made.key,
            law=made,
            variance=variance / n,
            rmse=math.sqrt(variance / n),
            bits=made.bits(k),
            coded_bits=made.coded_bits(k),
            users_relative=variance / of_one[best],
            best=i == best,
        )
        for i, (made, variance) in enumerate(zip(supports, of_one, strict=True))
    )


def single_k(epsilon: float) -> float:
    """Up to this number of categories (a real number) subset selection is best with single categories, that is, as k-RR:
    where k (k - 3) <= 2 (e^(2 eps) - 1), about k <= 1.41 e^eps + 1.5. Beyond it k-RR has the larger mean variance."""
    epsilon = _validate.epsilon(epsilon)
    # sqrt(1 + 8 e^(2 eps)), where e^(2 eps) may be large.
    return (3 + math.exp(epsilon) * math.sqrt(8 + math.exp(-2 * epsilon))) / 2


def single_epsilon(k: int) -> float:
    """The same border in epsilon: from here on k-RR is subset selection at its best; 0 for two or three categories."""
    k = _validate.integer("k", k, 2, K_MAX)
    return max(math.log1p(k * (k - 3) / 2) / 2, 0.0) if k > 2 else 0.0


def flip_k(epsilon: float, theta_share: float = 0.0) -> float:
    """k-RR has a smaller variance than OUE exactly for k below this number of categories (a real number).

    At share zero it is the rule 3 e^eps + 2, exactly. For larger shares it falls: at share one to e^eps + 3 + e^-eps.
    Whether the users are fixed or sampled makes no difference.

    >>> round(flip_k(1.0), 3), round(3 * math.exp(1.0) + 2, 3)
    (10.155, 10.155)
    """
    theta, odds = _share(theta_share), math.expm1(_validate.epsilon(epsilon))
    # In units of 1/(N (e^eps - 1)^2), k-RR has variance e^eps + k - 2 + theta (k - 2)(e^eps - 1).
    other = float(support("oue", 2, epsilon).variance(theta, 1)) * odds * odds
    return 2 + (other - odds - 1) / (1 + theta * odds)


def flip_k_of_mean(epsilon: float) -> float:
    """`flip_k` for the mean squared error over all categories, where the share is 1/k and so depends on k:
    [2x + 3 + sqrt(8x^2 + 12x + 5)]/2 with x = e^eps, for large eps about 2.41 e^eps rather than 3.
    """
    odds, other = math.expm1(_validate.epsilon(epsilon)), support("oue", 2, epsilon)
    flat = float(other.variance(0.0, 1)) * odds * odds
    # k (e^eps + k - 2) + (k - 2)(e^eps - 1) = k flat + slope
    half, unit = UNIT * (flat - 2 * odds + 1) / 2, UNIT * odds
    constant = UNIT * (2 * unit) + other.slope * unit * unit
    return (half + math.sqrt(half * half + constant)) / UNIT


def flip_epsilon(k: int, theta_share: float = 0.0) -> float:
    """k-RR has a smaller variance than OUE exactly for epsilon above this number; 0 when that is at every epsilon. At
    share zero it is ln((k - 2)/3), and 0 for k <= 5."""
    k, theta = _validate.integer("k", k, 2, K_MAX), _share(theta_share)
    # The larger root x = e^eps of theta x^2 + (3 - theta k) x + theta (k - 1) - (k - 2) = 0, where the variances are the
    # same, in the form without cancellation, which is also right at theta = 0.
    middle, last = 3 - theta * k, theta * (k - 1) - (k - 2)
    root = math.sqrt(max(middle * middle - 4 * theta * last, 0.0))
    return math.log(max(-2 * last / (middle + root) if middle > 0 else (root - middle) / (2 * theta), 1.0))


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
    k = _validate.integer("k", k, 2, K_MAX)
    values = np.array([_validate.integer("ks", one, 2, K_MAX) for one in _row("ks", ks)])
    rows = [compare(one, epsilon, n, 1 / one, users) for one in values.tolist()]
    now = compare(k, epsilon, n, 1 / k, users)
    return _curves(values, rows, k, now, (single_k(epsilon), flip_k_of_mean(epsilon)), n, users)


def against_epsilon(
    epsilons: ArrayLike, k: int, epsilon: float, n: float, users: Users = "fixed"
) -> RmseCurves:
    """`RmseCurves` over the budgets ``epsilons`` at one number of categories."""
    k = _validate.integer("k", k, 2, K_MAX)
    values = np.array([_validate.epsilon(one, "epsilons") for one in _row("epsilons", epsilons)])
    rows = [compare(k, one, n, 1 / k, users) for one in values.tolist()]
    now = compare(k, epsilon, n, 1 / k, users)
    return _curves(values, rows, epsilon, now, (single_epsilon(k), flip_epsilon(k, 1 / k)), n, users)


def _share(theta_share: float) -> float:
    return _validate.within("theta_share", theta_share, 0, 1)


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
