"""How far from the best possible? Lower bounds on the squared error, each for the protocols and estimators that it names.

From Lopuhaä-Zwakenberg, Li, Škorić and Li, "Improving frequency estimation under local differential privacy" (2020),
with their a, n written K, N. All numbers here are total squared errors: the expected sum over the K categories of
(estimate - truth)^2. Divide by K for the mean per category. "sampled" users are their distribution estimation (P),
"fixed" users their frequency estimation (F). Their Theorem 4.5 is about an average: over shares drawn from a continuous
prior, and users drawn from these. At given shares an estimator may be below it (a constant, if it happens to be right).

What was found on checking. (a) Eq. (60) has exp(-b eps/(2(a-1))) where (52) and (55) give exp(-b eps/(a-1)), and
misses the factor n on the left. (b) a/(n eps^2) is a limit for eps -> 0, not a bound at an eps > 0: at K = 2 k-RR
itself is below it everywhere, since 4 sinh^2(eps/2) > eps^2. (c) Between a/(n eps^2) and 4a/(n eps^2) lie
populations rather than protocols: at equal shares and many categories nothing beats 4a/(n eps^2), see `equal_shares`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.metrics import Users, check_users
from rr_core.protocols.laws import N_MIN, Key, support

BoundKey = Literal["theorem", "equal", "limit", "attainable", "known", "binary"]
Kind = Literal["lower bound", "attainable", "exact"]


@dataclass(frozen=True)
class Bound:
    """One row of what is known, along epsilon or N.

    ``value`` is the total squared error. ``valid`` is False where what it assumes fails or where numbers
    contradict it; it says nothing there and must not be drawn. What it assumes, in words, and its source are given by
    `rr_core.words.plan.bound_text`.
    """

    key: BoundKey
    kind: Kind
    value: Array
    valid: NDArray[np.bool_]


def protocol_error(key: Key, k: int, epsilon: ArrayLike, n: ArrayLike, users: Users = "fixed") -> Array:
    """Exact total squared error of one of the protocols of `laws.KEYS` with its unbiased estimator, at equal shares (for
    sampled users these are the worst; for fixed users the population does not matter).

    For Inv under k-RR ("rr") and fixed users it is [k (e^eps + k - 2)/(e^eps - 1)^2 + (k - 2)/(e^eps - 1)]/n.
    ``epsilon`` and ``n`` broadcast. Raises ValueError naming the argument.
    """
    k, budgets, reports = _arguments(k, epsilon, n)
    mean = [float(support(key, k, float(budget)).mean_variance(k, 1, users)) for budget in budgets.flat]
    error: Array = k * np.reshape(mean, budgets.shape) / reports
    return error


def theorem(k: int, epsilon: ArrayLike, n: ArrayLike, users: Users = "sampled") -> Array:
    """Theorem 4.5. Sampled users, eq. (59): k/(n (e^eps - 1)^2), as n grows: of any estimator's error, averaged over a
    continuous prior of the shares, whichever it is. Not of its error at given shares. For unbiased estimators it holds
    at every n and all shares, by Cramér and Rao: the Fisher information of one report about one share is at most
    sum_y (Q(y|i) - Q(y|j))^2/m_y <= (e^eps - 1)^2.

    Fixed users, eq. (60) corrected, for protocols with as many possible reports as categories, as k-RR:
    e^(-k eps/(k-1)) times that, averaged over the prior and over users drawn from the shares.

    >>> float(theorem(10, 1.0, 10_000).round(6))
    0.000339
    """
    k, budgets, reports = _arguments(k, epsilon, n)
    odds, power = np.frexp(np.expm1(budgets))  # whose square may be beyond the largest double
    bound: Array = np.ldexp(k / odds**2, -2 * power) / reports
    return bound if _sampled(users) else bound * np.exp(-k / (k - 1) * budgets)


def equal_shares(k: int, epsilon: ArrayLike, n: ArrayLike, users: Users = "sampled") -> Array:
    """Lower bound for unbiased estimators where all shares are equal.

    The least over the whole d from 1 to k - 1, with x = e^eps - 1, of
        (k - 1)/(d (k - d)) [k (k - 1)/x^2 + 2 d (k - 1)/x + d (d - 1)]/n
    for fixed users, averaged over the samples of them; (1 - 1/k)/n more for sampled users. The best d is next to
    k/(e^eps + 1), which gives about 4 k e^eps/(n (e^eps - 1)^2) when it is not below 1.

    By Cramér and Rao the total variance of an unbiased estimate is at least (k - 1)^2/(n J), J the trace of the Fisher
    information of one report on the simplex: sum_y sum_i (Q(y|i) - m_y)^2/m_y with m_y the mean of the Q(y|.). An
    output adds most when d of its k probabilities are e^eps times the others. Known from Ye and Barg 2018, who
    also show that reports of subsets of size d reach it. At d = 1 that is k-RR itself: where d = 1 is best (e^eps
    above about 0.7 k) no protocol beats k-RR at equal shares. At k = 2 it is Proposition 4.6.
    """
    k, budgets, reports = _arguments(k, epsilon, n)
    below = np.clip(np.floor(k / (np.exp(budgets) + 1)), 1, k - 1)
    fixed = np.minimum(*(_subsets(k, budgets, size) for size in (below, np.minimum(below + 1, k - 1))))
    bound: Array = (fixed + (1 - 1 / k if _sampled(users) else 0.0)) / reports
    return bound


def _subsets(k: int, budgets: Array, size: Array) -> Array:
    """The bound for fixed users of one report when each output is e^eps times more likely from ``size`` of the
    categories: (k - 1)^2/J - (1 - 1/k), written as a sum of positive terms."""
    odds = np.expm1(budgets)
    terms = k * (k - 1) / odds / odds + 2 * size * (k - 1) / odds + size * (size - 1)
    error: Array = (k - 1) / (size * (k - size)) * terms
    return error


def binary(epsilon: ArrayLike, n: ArrayLike, users: Users = "fixed") -> Array:
    """Proposition 4.6: the exact total squared error of randomized response with two categories, at every n.

    Fixed users, eq. (66): 2 e^eps/(n (e^eps - 1)^2). Sampled users, eq. (65): 2 theta_1 theta_2/n more, at equal shares
    as here 1/(2n). No protocol for two categories beats k-RR as n grows: each is k-RR followed by further randomness.
    """
    _, budgets, reports = _arguments(2, epsilon, n)
    per_user = np.exp(-budgets) / np.expm1(-budgets) ** 2 + (0.25 if _sampled(users) else 0.0)
    error: Array = 2 * per_user / reports
    return error


def known(k: int, epsilon: ArrayLike, n: ArrayLike) -> Array:
    """k/(64 n eps^2): what was known before (Duchi, Jordan and Wainwright 2013), as Table 1 quotes it."""
    return limit(k, epsilon, n) / 64


def limit(k: int, epsilon: ArrayLike, n: ArrayLike) -> Array:
    """k/(n eps^2): the form that Theorem 4.5 takes for eps -> 0, and Table 1 prints. No bound at a given eps."""
    k, budgets, reports = _arguments(k, epsilon, n)
    value: Array = k / budgets**2 / reports
    return value


def attainable(k: int, epsilon: ArrayLike, n: ArrayLike) -> Array:
    """4k/(n eps^2): what unary encoding and local hashing reach for eps -> 0 (Table 1)."""
    return 4 * limit(k, epsilon, n)


def table(k: int, epsilon: ArrayLike, n: ArrayLike, users: Users = "fixed") -> tuple[Bound, ...]:
    """Every bound for these users, with where it is valid.

    Args:
        k: categories, >= 2.
        epsilon: 1e-6 <= epsilon <= 700, one or many.
        n: users, > 0; broadcasts against epsilon.
        users: "fixed" or "sampled"; the 1/64 of before is known for sampled users only, Proposition 4.6 is
            for k = 2 only.

    Raises:
        ValueError: naming the argument.

    >>> [(bound.key, bound.kind) for bound in table(10, 1.0, 10_000)]
    [('theorem', 'lower bound'), ('equal', 'lower bound'), ('limit', 'lower bound'), ('attainable', 'attainable')]
    """
    k, budgets, reports = _arguments(k, epsilon, n)
    # A constant answer of 1/k is never further off than this, so what is above does not bound every estimator.
    most, sampled = 1 - 1 / k, _sampled(users)
    paper, hardest = theorem(k, budgets, reports, users), equal_shares(k, budgets, reports, users)
    # The two forms of Table 1, each where the protocols here do not contradict it: subset selection reaches ``least``.
    small, reach = limit(k, budgets, reports), attainable(k, budgets, reports)
    least = equal_shares(k, budgets, reports, "fixed")
    reached = least + (most / reports if sampled else 0.0)
    rows = [
        Bound("theorem", "lower bound", paper, paper <= most),
        Bound("equal", "lower bound", hardest, hardest <= most),
        Bound("limit", "lower bound", small, (small <= most) & (small <= least)),
        Bound("attainable", "attainable", reach, reached <= reach),
    ]
    if sampled:
        # Their bound is the least of 1, 1/sqrt(N eps^2) and K/(N eps^2), each with a constant.
        fine = (budgets <= 1) & (reports >= (k / budgets) ** 2)
        rows.append(Bound("known", "lower bound", known(k, budgets, reports), fine))
    if k == 2:
        exact = binary(budgets, reports, users)
        rows.append(Bound("binary", "exact", exact, np.ones(exact.shape, dtype=bool)))
    return tuple(rows)


@dataclass(frozen=True)
class BoundCurves:
    """The error of k-RR's Inv and the bounds along epsilon, for a figure. ``now`` is the error of Inv at
    ``epsilon_here`` and ``floor`` the lower bound at equal shares there (nan where it is not valid); ``users`` tells
    whose shares are estimated."""

    k: int
    n: float
    epsilons: Array
    inv: Array
    bounds: tuple[Bound, ...]
    epsilon_here: float
    now: float
    floor: float
    users: Users

    @property
    def is_optimal(self) -> bool:
        """Whether the error of Inv is the lower bound at equal shares, but for rounding."""
        return self.now <= self.floor * (1 + 1e-9)


def against_epsilon(
    epsilons: ArrayLike, k: int, epsilon: float, n: float, users: Users = "fixed"
) -> BoundCurves:
    """`BoundCurves` over the budgets ``epsilons``, with the current one marked."""
    budgets = _numbers("epsilons", epsilons)
    epsilon, n = _validate.epsilon(epsilon), _validate.real("n", n, "a number")
    floor = float(equal_shares(k, epsilon, n, users))
    return BoundCurves(
        k=k,
        n=n,
        epsilons=budgets,
        inv=protocol_error("rr", k, budgets, n, users),
        bounds=table(k, budgets, n, users),
        epsilon_here=epsilon,
        now=float(protocol_error("rr", k, epsilon, n, users)),
        floor=floor if floor <= 1 - 1 / k else float("nan"),
        users=users,
    )


def _arguments(k: int, epsilon: ArrayLike, n: ArrayLike) -> tuple[int, Array, Array]:
    """k, and epsilon and n broadcast against each other, or ValueError."""
    k = _validate.integer("k", k, 2)
    budgets, reports = _numbers("epsilon", epsilon), _numbers("n", n)
    _validate.check_broadcast(epsilon=budgets, n=reports)
    budgets, reports = np.broadcast_arrays(budgets, reports)
    if budgets.size:
        for end in (budgets.min(), budgets.max()):
            _validate.epsilon(end)
    if not (reports >= N_MIN).all():
        raise ValueError(f"n must be a number >= {N_MIN:g}, got {_validate.short(n)}")
    return k, budgets, reports


def _numbers(name: str, values: ArrayLike) -> Array:
    return _validate.numbers(name, values).astype(np.float64)


def _sampled(users: str) -> bool:
    check_users(users)
    return users == "sampled"
