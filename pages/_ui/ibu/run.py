"""The run of IBU that a page is about: computed once for a class, longer ones with progress and a stop."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._ui import long_run, state
from pages._ui.work import LARGE, Work
from rr_core.ibu import ibu_path
from rr_core.iteration.budget import at_once, marks_per_decade
from rr_core.iteration.progress import FirstReached, Settling, first_reached, slowest
from rr_core.iteration.record import IBUPath, log_spaced
from rr_core.iteration.starts import Start
from rr_core.populations import UPLOAD
from rr_core.scenario import Scenario

_NAME = "ibu_longer"
About = tuple[Scenario, str, Start, int]


def path(work: Work, start: Start, length: int) -> IBUPath:
    """The run of this length when somebody has computed it, or else as much of it as a page can wait for."""
    longer: IBUPath | None = long_run.result(_NAME, _about(work, start, length))
    if longer is not None:
        return longer
    if work.scenario.dist == UPLOAD:
        return state.latest("ibu", _about(work, start, length), lambda: _quick(work, start, length))
    kept = _large if work.scenario.k > LARGE else _small
    return kept(work.scenario, start, length, work)


def reached(work: Work, start: Start, shown: IBUPath, tolerance: float) -> FirstReached:
    """When the run that is shown is near enough."""
    about = (work.scenario, start, int(shown.iterations[-1]), tolerance)
    if work.scenario.dist == UPLOAD:
        key = (work.draw.population.key, *about)
        return state.latest("ibu_reached", key, lambda: first_reached(shown, tolerance))
    return _reached(*about, shown)


def settled(work: Work, start: Start, shown: IBUPath, part: float) -> Settling:
    """When each category has come to stay near its limit: to this part of the average share."""
    about = (work.scenario, start, int(shown.iterations[-1]), part / work.scenario.k)
    if work.scenario.dist == UPLOAD:
        key = (work.draw.population.key, *about)
        return state.latest("ibu_settled", key, lambda: slowest(shown, about[-1]))
    return _settled(*about, shown)


@st.cache_resource(max_entries=256, show_spinner=False)
def _reached(scenario: Scenario, start: Start, last: int, tolerance: float, _path: IBUPath) -> FirstReached:
    return first_reached(_path, tolerance)


@st.cache_resource(max_entries=32, show_spinner=False)
def _settled(scenario: Scenario, start: Start, last: int, tolerance: float, _path: IBUPath) -> Settling:
    return slowest(_path, tolerance)


def go_on(work: Work, start: Start, length: int, shown: IBUPath) -> None:
    """Where the run that is shown is shorter than asked for: say so, and offer to run it to its end."""
    reached = int(shown.iterations[-1])
    if reached >= length:
        return
    st.info(
        f"Shown are the first {reached:,} of {length:,} iterations: the rest takes longer than a page may."
    )
    about = _about(work, start, length)
    with st.container(horizontal=True):
        asked = long_run.offer(_NAME, "Run to the end", about)
    if asked:
        run = partial(_compute, work, start, length)
        long_run.follow(_NAME, about, length, "iterations", run, shared=work.scenario.dist != UPLOAD)


def _about(work: Work, start: Start, length: int) -> About:
    return work.scenario, work.draw.population.key, start, length


def _compute(work: Work, start: Start, length: int, progress: long_run.Progress | None = None) -> IBUPath:
    counts = work.draw.counts
    marks = log_spaced(length, marks_per_decade(counts))
    return ibu_path(counts, work.draw.mechanism, marks, start.distribution(counts), progress)


def _quick(work: Work, start: Start, length: int) -> IBUPath:
    """As much of the run as a page can wait for."""
    return _compute(work, start, at_once(work.draw.counts, length))


@st.cache_resource(max_entries=32, show_spinner=False)
def _small(scenario: Scenario, start: Start, length: int, _work: Work) -> IBUPath:
    return _quick(_work, start, length)


@st.cache_resource(max_entries=3, show_spinner=False)
def _large(scenario: Scenario, start: Start, length: int, _work: Work) -> IBUPath:
    return _quick(_work, start, length)
