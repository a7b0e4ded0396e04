"""The plan, worked out from the settings: once for a class; about an uploaded population, once for its owner."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pages._ui.plan.settings import PlanSettings
from pages._ui.work import Work
from rr_core.figures.plan_map import TargetFrontier
from rr_core.figures.style import round_up
from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN, EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.plan import solve
from rr_core.plan.landscape import Landscape, Price, frontier, landscape, price_per_bit
from rr_core.plan.solve import Unreachable
from rr_core.plan.targets import Guess, Target

T = TypeVar("T")
_DIGITS = 4  # of an epsilon that is shown and used
_WAIT = "Working out the plan…"
_CELLS = 33  # of the map, each way


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


def map_ranges(
    epsilons: tuple[float, float], users: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of the map along epsilon and N: the default ones, extended to contain these places."""
    low = 0.1 if min(epsilons) >= 0.1 else EPSILON_APP_MIN
    high = 10.0 if max(epsilons) <= 10 else EPSILON_APP_MAX
    fewest = 100.0 if min(users) >= 100 else 1.0
    most = 1e9 if max(users) <= 1e9 else float(solve.N_MOST)
    return (low, high), (fewest, most)


def population_guess(work: Work, settings: PlanSettings) -> Guess:
    """The population that the plan assumes, or the worst case over all populations."""
    k, population = work.draw.scenario.k, work.draw.population
    if settings.worst_case:
        return Guess.of(k, None)
    return work.once("plan_guess", (), lambda: Guess.of(k, population.probabilities), of="population")


def current_plan(work: Work, settings: PlanSettings) -> Plan:
    """The plan for this scenario."""
    epsilon, n = work.draw.scenario.epsilon, work.draw.scenario.n
    return work.once(
        "plan_answer",
        (settings, epsilon, n),
        lambda: make_plan(settings, work.draw.scenario.k, epsilon, n, population_guess(work, settings)),
        of="population",
        wait=_WAIT,
    )


def plan_landscape(work: Work, plan: Plan) -> Landscape:
    """The values over the map around a plan. They do not depend on the requested value, except for the number
    of categories ranked."""
    settings = plan.settings
    settings = settings if settings.about.whole else settings.of_kind(settings.kind)
    settings = replace(settings, find="n")
    epsilons, users = _ranges(work, plan)
    across, up = np.geomspace(*epsilons, _CELLS), np.unique(np.rint(np.geomspace(*users, _CELLS)))
    return work.once(
        "plan_map",
        (settings, epsilons, users),
        lambda: landscape(
            settings.target,
            work.draw.scenario.k,
            population_guess(work, settings),
            epsilons=across,
            n=up,
            users=settings.users,
        ),
        of="population",
        wait=_WAIT,
    )


def target_frontier(work: Work, plan: Plan) -> TargetFrontier | None:
    """For each epsilon of the map, the smallest N that meets the plan's target; None without a target."""
    settings, target = plan.settings, plan.target
    if target is None:
        return None
    epsilons, _ = _ranges(work, plan)
    across = np.geomspace(*epsilons, _CELLS)
    if settings.find == "value" and target.kind == "max":
        across = across[::2]  # another target at every move of a slider, and the one that takes longest

    def make(target: Target = target) -> TargetFrontier:
        guess = population_guess(work, settings)
        return TargetFrontier(
            target, across, frontier(target, work.draw.scenario.k, guess, across, users=settings.users)
        )

    about = (target, settings.worst_case, settings.users, epsilons, across.size)
    return work.once("plan_border", about, make, of="population", wait=_WAIT)


def _ranges(work: Work, plan: Plan) -> tuple[tuple[float, float], tuple[float, float]]:
    return map_ranges((work.draw.scenario.epsilon, plan.epsilon), (work.draw.scenario.n, plan.n))
