"""What the plan page works out, once for a class; about an uploaded population, once for its owner."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from pages._ui import state
from pages._ui.plan.planned import Planned, extent, plan
from pages._ui.plan.settings import Asked
from pages._ui.work import Work
from rr_core.figures.plan_map import Border
from rr_core.plan.guess import Guess
from rr_core.plan.landscape import Landscape, frontier, landscape
from rr_core.plan.targets import Target
from rr_core.populations import UPLOAD

T = TypeVar("T")
_CELLS = 33


def guess(work: Work, asked: Asked) -> Guess:
    """The population that the plan is for, or all of them."""
    k, population = work.scenario.k, work.draw.population
    if asked.worst:
        return Guess.of(k, None)
    return _once(work, "guess", (), lambda: Guess.of(k, population.probabilities), _shared_large)


def planned(work: Work, asked: Asked) -> Planned:
    """The answer for this scenario."""
    epsilon, n = work.scenario.epsilon, work.scenario.n
    return _once(
        work,
        "answer",
        (asked, epsilon, n),
        lambda: plan(asked, work.scenario.k, epsilon, n, guess(work, asked)),
    )


def land(work: Work, asked: Asked, found: Planned) -> Landscape:
    """The map behind an answer. It does not depend on what is asked for, but for the number of categories ranked."""
    asked = replace(asked, find="n") if asked.about.whole else replace(asked.of_kind(asked.kind), find="n")
    epsilons, users = _ends(work, found)
    across, up = np.geomspace(*epsilons, _CELLS), np.unique(np.rint(np.geomspace(*users, _CELLS)))
    return _once(
        work,
        "map",
        (asked, epsilons, users),
        lambda: landscape(
            asked.target, work.scenario.k, guess(work, asked), epsilons=across, n=up, users=asked.users
        ),
    )


def border(work: Work, asked: Asked, found: Planned) -> Border | None:
    """Where the target of the plan begins to be met."""
    target = found.target
    if target is None:
        return None
    epsilons, _ = _ends(work, found)
    across = np.geomspace(*epsilons, _CELLS)
    if asked.find == "value" and target.kind == "max":
        across = across[::2]  # another target at every move of a slider, and the one that takes longest

    def make(target: Target = target) -> Border:
        users = frontier(target, work.scenario.k, guess(work, asked), across, users=asked.users)
        return Border(target, across, users)

    return _once(work, "border", (target, asked.worst, asked.users, epsilons, across.size), make)


def _ends(work: Work, found: Planned) -> tuple[tuple[float, float], tuple[float, float]]:
    return extent((work.scenario.epsilon, found.epsilon), (work.scenario.n, found.n))


def _once(
    work: Work, name: str, about: Hashable, make: Callable[[], T], shared: Callable[..., Any] | None = None
) -> T:
    """What was made about this population, by this session when it is its own upload, else by anybody."""
    population = work.draw.population
    if work.scenario.dist == UPLOAD:
        return state.latest(f"plan_{name}", (population.key, about), make)
    made: T = (shared or _shared)(name, population.key, about, make)
    return made


@st.cache_resource(max_entries=256, show_spinner="Working out the plan…")
def _shared(name: str, population: str, about: Hashable, _make: Callable[[], T]) -> T:
    return _make()


# A guess holds a number per category.
@st.cache_resource(max_entries=4, show_spinner=False)
def _shared_large(name: str, population: str, about: Hashable, _make: Callable[[], T]) -> T:
    return _make()
