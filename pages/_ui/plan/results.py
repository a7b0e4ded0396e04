"""The plan, worked out from the settings: once for a class; about an uploaded population, once for its owner."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from pages._ui.work import Work
from rr_core.figures.plan_map import TargetFrontier
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.plan import solve
from rr_core.plan.answer import Plan, make_plan
from rr_core.plan.landscape import Landscape, frontier, landscape
from rr_core.plan.settings import PlanSettings
from rr_core.plan.targets import Guess, Target

T = TypeVar("T")
_WAIT = "Working out the plan…"
_CELLS = 33  # of the map, each way


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
