"""The plan: the one of epsilon, N and target that the settings leave open, and the price of more privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN, EPSILON_APP_MAX
from rr_core.plan import solve
from rr_core.plan.landscape import Price, price_per_bit
from rr_core.plan.settings import PlanSettings
from rr_core.plan.solve import Unreachable
from rr_core.plan.targets import Guess, Target
from rr_core.rounding import round_up

_DIGITS = 4  # of an epsilon that is shown and used


@dataclass(frozen=True, eq=False)
class Plan:
    """An epsilon, an N and a target, one of which was computed from the other two.

    Attributes:
        settings: the page's settings.
        k: number of categories.
        epsilon, n: the scenario's values, one of them replaced if it was computed.
        target: the target that the plan meets, requested or computed; None where what is reached is no valid target.
        value: the error or number that the plan reaches.
        problem: sentence why there is no answer; "" when there is one.
        price: users needed with less privacy, for this target; None without a target or an answer.
    """

    settings: PlanSettings
    k: int
    epsilon: float
    n: int
    target: Target | None
    value: float
    problem: str
    price: Price | None

    @property
    def solved(self) -> bool:
        """Whether epsilon or N was computed."""
        return self.settings.find != "value" and not self.problem


def make_plan(settings: PlanSettings, k: int, epsilon: float, n: int, guess: Guess) -> Plan:
    """Compute the one of epsilon, N and target that the settings leave open.

    Args:
        settings: fitted to k, see `PlanSettings.fitted`.
        epsilon, n: the scenario's values; the one to be computed is used only where there is no answer.
        guess: the assumed population, or the worst case.
    """
    target, problem = settings.target, ""
    if settings.find == "n":
        users = solve.required_n(target, k, epsilon, guess, users=settings.users)
        if isinstance(users, Unreachable):
            problem = users.reason
        else:
            n = users
    elif settings.find == "eps":
        least = solve.required_epsilon(target, k, n, guess, users=settings.users)
        if isinstance(least, Unreachable):
            problem = least.reason
        else:
            epsilon = rounded_up(least)
    elif settings.kind == "share":
        problem = solve.share_below_one_person(target, n, settings.users)
    value = solve.achieved(target, k, epsilon, n, guess, users=settings.users)
    met_target: Target | None = target
    if settings.find != "value":
        value = value if problem or target.met_by(value) else target.goal  # met, but for rounding
    else:
        met_target = None if problem else _reachable(target, value)
    price = None if met_target is None or problem else _price(met_target, k, epsilon, n, guess, settings)
    return Plan(settings, k, epsilon, n, met_target, value, problem, price)


def rounded_up(epsilon: float) -> float:
    """Epsilon rounded up to four digits, so that the target is met with the displayed number."""
    return min(round_up(epsilon, _DIGITS), EPSILON_APP_MAX)


def _reachable(target: Target, value: float) -> Target | None:
    """The target of the same kind that ``value`` just meets; None where that is no valid target."""
    if target.kind == "top":
        sure = min(value, CONFIDENCE_MAX)
        return replace(target, confidence=sure) if sure >= CONFIDENCE_MIN else None
    return replace(target, value=value) if target.about.low <= value <= target.about.high else None


def _price(target: Target, k: int, epsilon: float, n: int, guess: Guess, settings: PlanSettings) -> Price:
    """Half of epsilon, and one, two and three bits less. The plan itself needs no more than its users, even where they
    are enough only by being whole people in just these shares."""
    half = epsilon / 2 / math.log(2)
    bits = sorted([0.0, half, *(whole for whole in (1.0, 2.0, 3.0) if not math.isclose(whole, half))])
    price = price_per_bit(target, k, epsilon, guess, bits, users=settings.users)
    needed = np.where(price.bits == 0, np.minimum(price.users, n), price.users)
    return replace(price, users=needed, times=needed / needed[0])
