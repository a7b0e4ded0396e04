"""The answer of the plan page, worked out. No Streamlit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from pages._ui.plan.settings import Asked
from rr_core.figures.plan_words import round_up
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.plan import solve
from rr_core.plan.guess import Guess
from rr_core.plan.landscape import Price, price_per_bit
from rr_core.plan.solve import Unreachable
from rr_core.plan.targets import Target

_ROUNDING = 1e-12
_DIGITS = 4  # of an epsilon that is shown and used
_LEAST_CHANCE, _MOST_CHANCE = 0.5, 0.9999  # a target can ask for


@dataclass(frozen=True, eq=False)
class Planned:
    """What came of a question.

    Attributes:
        asked: the question.
        k: number of categories.
        epsilon, n: the plan: the scenario's, with the one that was found in its place.
        target: what the plan meets: the one asked for, or what is reachable; None where that is no target.
        value: what is reached at the plan.
        problem: why there is no answer; empty when there is one.
        price: users needed with less privacy, for this target; None without a target or an answer.
    """

    asked: Asked
    k: int
    epsilon: float
    n: int
    target: Target | None
    value: float
    problem: str
    price: Price | None

    @property
    def found(self) -> bool:
        """Whether the plan holds an epsilon or N that was worked out."""
        return self.asked.find != "value" and not self.problem


def plan(asked: Asked, k: int, epsilon: float, n: int, guess: Guess) -> Planned:
    """Work out the third of epsilon, N and target.

    Args:
        asked: the question, fitted to k.
        epsilon, n: the scenario's; the one that is to be found is not used unless there is no answer.
        guess: of the population, or of the worst case.
    """
    target, problem = asked.target, ""
    if asked.find == "n":
        users = solve.required_n(target, k, epsilon, guess, users=asked.users)
        if isinstance(users, Unreachable):
            problem = users.reason
        else:
            n = users
    elif asked.find == "eps":
        least = solve.required_epsilon(target, k, n, guess, users=asked.users)
        if isinstance(least, Unreachable):
            problem = least.reason
        else:
            epsilon = rounded_up(least)
    elif asked.kind == "share":
        problem = solve.nobody(target, n, asked.users)
    value = solve.achieved(target, k, epsilon, n, guess, users=asked.users)
    meets: Target | None = target
    if asked.find != "value":
        value = value if problem or target.met_by(value) else target.goal  # met, but for rounding
    else:
        value = _of_whole_people(value, n) if (asked.kind, asked.users) == ("smallest", "fixed") else value
        meets = None if problem else _reachable(target, value)
    price = None if meets is None or problem else _price(meets, k, epsilon, n, guess, asked)
    return Planned(asked, k, epsilon, n, meets, value, problem, price)


def rounded_up(epsilon: float) -> float:
    """To four digits, upwards, so that the target is met with the number that is shown."""
    return min(round_up(epsilon, _DIGITS), EPSILON_APP_MAX)


def _of_whole_people(share: float, n: int) -> float:
    """The share that the fewest of n people have who make this one or more."""
    return min(math.ceil(share * n * (1 - _ROUNDING)) / n, 1.0) if share <= 1 else share


def _reachable(target: Target, value: float) -> Target | None:
    """The target that is just met by ``value``, where it is one."""
    if target.kind == "top":
        sure = min(value, _MOST_CHANCE)
        return replace(target, confidence=sure) if sure >= _LEAST_CHANCE else None
    return replace(target, value=value) if target.about.low <= value <= target.about.high else None


def _price(target: Target, k: int, epsilon: float, n: int, guess: Guess, asked: Asked) -> Price:
    """Half of epsilon, and one, two and three bits less. The plan itself needs no more than its users, even where they
    are enough only by being whole people in just these shares."""
    half = epsilon / 2 / math.log(2)
    bits = sorted({0.0, half, 1.0, 2.0, 3.0})
    price = price_per_bit(target, k, epsilon, guess, bits, users=asked.users)
    needed = np.where(price.bits == 0, np.minimum(price.users, n), price.users)
    return replace(price, users=needed, times=needed / needed[0])


def extent(
    epsilons: tuple[float, float], users: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of the map: the usual ones, wider where one of these places lies outside."""
    low = 0.1 if min(epsilons) >= 0.1 else EPSILON_APP_MIN
    high = 10.0 if max(epsilons) <= 10 else EPSILON_APP_MAX
    fewest = 100.0 if min(users) >= 100 else 1.0
    most = 1e9 if max(users) <= 1e9 else float(solve.N_MOST)
    return (low, high), (fewest, most)
