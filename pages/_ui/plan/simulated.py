"""The valid estimators beside Inv: simulated along epsilon or N, with progress and a stop."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from pages._ui import chart, long_run
from pages._ui.plan import work as plan_work
from pages._ui.plan.planned import Planned
from pages._ui.plan.settings import people
from pages._ui.work import Work
from rr_core._validate import Array
from rr_core.errors import Users
from rr_core.figures.plan_curves import error_curves
from rr_core.figures.plan_words import budget
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN, N_MAX, N_MIN
from rr_core.plan.curves import Along, SimulatedCurve, inv_curve, simulate_curve
from rr_core.populations import UPLOAD

_NAME = "plan_curves"
_ALONG: dict[Along, str] = {"epsilon": "Privacy ε", "n": "Users N"}
_POINTS = 9
_FACTORS: dict[Along, tuple[float, float]] = {"epsilon": (0.25, 4.0), "n": (0.01, 100.0)}
# Collections per point: some seconds at K = 10,000.
_CELLS, _FEWEST, _MOST = 1_000_000, 4, 400
_METRICS = {"rmse": "RMSE", "max": "Largest error", "tv": "Total variation"}
_OF_TARGET = {"rmse": "rmse", "max": "max"}


def section(work: Work, found: Planned) -> None:
    """Choose what varies, run it, and show the curves."""
    st.subheader("And the valid estimators?")
    k = work.scenario.k
    fixed = min(found.n, N_MAX)
    times = replicates(k)
    place = f"ε = {budget(found.epsilon)}, N = {people(fixed)}"
    around = f"the plan ({place})" if fixed == found.n else f"{place}, the most users that the app has"
    st.markdown(
        "For the errors of **InvN**, **InvP** and **MLE\\*** there is no simple formula: they are "
        f"simulated with the sidebar's population, {times:,} collections at each of {_POINTS} points around {around}."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        along = st.segmented_control(
            "Error against", list(_ALONG), default="epsilon", format_func=_ALONG.__getitem__, key="plan_along"
        )
        along = along or "epsilon"
        at = points(along, found.epsilon, fixed)
        other = fixed if along == "epsilon" else found.epsilon
        users = found.asked.users
        about = (work.draw.population.key, work.scenario.seed, along, tuple(at.tolist()), other, users)
        metric = st.segmented_control(
            "Error measure",
            list(_METRICS),
            default="rmse",
            format_func=_METRICS.__getitem__,
            key="plan_metric",
        )
        asked = long_run.offer(_NAME, "Simulate", about)
    if asked:
        run = partial(_run, work, along, at, other, times, users)
        shared = work.scenario.dist != UPLOAD
        total = times * at.size
        long_run.follow(_NAME, about, total, "simulated collections", run, shared=shared)
    result: SimulatedCurve | None = long_run.result(_NAME, about)
    if result is None or not result.done.any():
        st.caption("Press Simulate: it takes some seconds, can be stopped, and keeps what it has.")
        return
    if not result.finished:
        long_run.stopped(int(result.done.sum()), times * at.size, "simulated collections")
    _show(work, found, result, other, metric or "rmse")


def points(along: Along, epsilon: float, n: int) -> Array:
    """The plan's own place and others around it, in equal ratios."""
    low, high = _FACTORS[along]
    if along == "epsilon":
        ends = max(epsilon * low, EPSILON_APP_MIN), min(epsilon * high, EPSILON_APP_MAX)
        return _around(epsilon, *ends)
    ends = max(n * low, N_MIN), min(n * high, N_MAX)
    whole: Array = np.unique(np.rint(_around(n, *ends)))
    return whole


def _around(here: float, low: float, high: float) -> Array:
    """Points from low to high, the nearest one moved here."""
    inside: Array = np.clip(np.geomspace(low, high, _POINTS), low, high)
    inside[np.argmin(np.abs(np.log(inside / here)))] = here
    return inside


def replicates(k: int) -> int:
    """Collections per point: fewer, the more categories there are."""
    return min(max(_CELLS // k, _FEWEST), _MOST)


def _run(
    work: Work, along: Along, at: Array, other: float, times: int, users: Users, progress: long_run.Progress
) -> SimulatedCurve:
    theta, seed = work.draw.population.probabilities, work.scenario.seed
    where = at if along == "epsilon" else at.astype(np.int64)
    return simulate_curve(
        work.scenario.k, theta, along, where, other, times, users=users, seed=seed, progress=progress
    )


def _show(work: Work, found: Planned, result: SimulatedCurve, other: float, metric: str) -> None:
    exact = None
    if metric == "rmse":
        guess = plan_work.guess(work, replace(found.asked, guess="sidebar"))
        where = result.points if result.along == "epsilon" else result.points.astype(np.int64)
        exact = inv_curve(work.scenario.k, guess, result.along, where, other, users=found.asked.users)
    here = found.epsilon if result.along == "epsilon" else float(min(found.n, N_MAX))
    asked = found.asked
    wanted = asked.target.value if asked.find != "value" and _OF_TARGET.get(asked.kind) == metric else None
    chart.show(error_curves(result, metric, exact, here, wanted), "plan_curves")
