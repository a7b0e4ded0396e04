"""Running a sweep: how many collections, Run, the queue, progress, Stop, Resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages._ui import widget
from pages._ui.experiments import pool, runs, sweeps
from pages._ui.experiments.asked import too_much
from pages._ui.experiments.runs import Run
from pages._ui.experiments.shown import Shown
from rr_core.experiments.grid import MAIN_SETTINGS, Sweep
from rr_core.experiments.run import SweepResult, expected_seconds
from rr_core.figures.style import duration
from rr_core.figures.wording import counted
from rr_core.limits import SEED_MAX, SEED_MIN

_EVERY = 1.5  # seconds between two looks at a run


def row() -> Any:
    """A row of controls, close to one another."""
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small")


def settings() -> tuple[int, int]:
    """How many collections per cell, and which: the widgets."""
    low, high = sweeps.COLLECTIONS
    seeds = st.number_input(
        "Collections per cell",
        low,
        high,
        width=130,
        help="Every setting is collected this many times with new noise, and all estimators see the same reports. "
        "The paper's text says 100.",
        **_kept("seeds", MAIN_SETTINGS.seeds),
    )
    seed = st.number_input(
        "Seed of the run",
        SEED_MIN,
        SEED_MAX,
        width=120,
        help="Which users and which noise. The same seed gives the same numbers everywhere.",
        **_kept("seed", MAIN_SETTINGS.seed),
    )
    return int(seeds), int(seed)


def _kept(name: str, usual: int) -> dict[str, Any]:
    """Arguments of a number's widget, which keep its value while sweeps without it are on screen."""
    kept = f"_exp_{name}"

    def take(value: int) -> None:
        st.session_state[kept] = value

    return widget.shows(f"exp_{name}", st.session_state.get(kept, usual), take)


def start(key: str, sweep: Sweep | None, run: Run | None) -> None:
    """The button that runs a sweep, and the one that goes on with what was stopped."""
    busy = runs.active() is not None
    st.button(
        "Run",
        type="primary",
        disabled=busy or sweep is None,
        on_click=runs.begin,
        args=(key, sweep),
        key="exp_start",
        width=80,
        help="Your other run has to end first." if busy else expected(sweep) if sweep else None,
    )
    if run is not None and not run.active and not run.result.finished:
        hindered = _hindered(run)
        st.button(
            "Resume",
            disabled=busy or bool(hindered),
            on_click=runs.resume,
            args=(run,),
            key="exp_resume",
            width=100,
            help=hindered or expected(run.sweep, run.result),
        )


def _hindered(run: Run) -> str:
    """Why a partial run cannot go on here; empty when it can."""
    if not runs.complete(run.sweep):
        return "The histogram that this sweep is about is not the one uploaded here: upload it first."
    return too_much(run.sweep, pool.size(), run.result)


def expected(sweep: Sweep, done: SweepResult | None = None) -> str:
    """How long a sweep will take here, in words."""
    workers = pool.size()
    work = f"{counted(len(sweep.cells), 'cell')}, {counted(sweep.settings.seeds, 'collection')} in each"
    seconds = duration(max(expected_seconds(sweep, workers, done), 1.0))
    processes = "1 background process" if workers == 1 else f"{workers} background processes"
    return f"{work}: about {seconds} in {processes}."


def said(run: Run | None) -> None:
    """One line on what is on screen: where the numbers come from, or why some are missing."""
    if run is None:
        return
    if run.result.finished:
        st.caption(f"{run.origin}{_elsewhere_on_this_server(run)}")
    done, cells = len(run.result.cells), len(run.sweep.cells)
    if run.failed:
        st.error(
            f"The run broke off after {done:,} of {cells:,} cells: a background process ended, most likely for want of "
            "memory. What was done is kept; press Resume, or take fewer categories or collections.",
            icon=":material/error:",
        )
    elif not run.result.finished and not run.active:
        shown = (
            f"after {done:,} of {cells:,} cells; these are shown"
            if done
            else "before the first cell was done"
        )
        st.info(f"Stopped {shown}. **Resume** computes the rest.")


def _elsewhere_on_this_server(run: Run) -> str:
    """Word of a run that somebody else, or oneself before a reload, has started."""
    job = runs.under_way(run.sweep)
    if job is None or runs.active() is not None:
        return ""
    about = job.sweep.settings
    return (
        f" The same cells are being run on this server, with {counted(about.seeds, 'collection')} and seed {about.seed}: "
        f"{len(job.result.cells):,} of {len(job.sweep.cells):,} cells so far. **Run** with these numbers joins in."
    )


def live(run: Run, draw: Callable[[Shown], None]) -> None:
    """What a run has reached, drawn anew every moment; when it is over, the whole page is."""

    @st.fragment(run_every=_EVERY)
    def look() -> None:
        _progress(run)
        draw(run.shown())

    look()


def elsewhere(shown: Run | None) -> None:
    """Word of a run of this session that is not on screen."""
    active = runs.active()
    if active is None or active is shown:
        return

    @st.fragment(run_every=2 * _EVERY)
    def look() -> None:
        st.caption(f"Also under way: {sweeps.TITLES[active.key]}.")
        _progress(active)

    look()


def _progress(run: Run) -> None:
    if not run.active:
        st.rerun()
    ahead = runs.before(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        if ahead:
            st.progress(0.0, _waiting(ahead))
        else:
            st.progress(*_reached(run))
        st.button("Stop", on_click=runs.stop, args=(run,), key=f"exp_stop_{run.key}", width=90)


def _waiting(ahead: int) -> str:
    place = {1: "you are next", 2: "yours is the second in the queue"}.get(
        ahead, f"yours is number {ahead} in the queue"
    )
    return f"Waiting: {ahead} other run{'s' if ahead > 1 else ''} first; {place}."


def _reached(run: Run) -> tuple[float, str]:
    progress = run.job.progress if run.job else None
    if progress is None:
        return 0.0, "Starting the background processes…"
    left = f", about {duration(max(round(progress.left), 1))} left" if progress.left == progress.left else ""
    share = progress.done / progress.cells
    return share, f"{progress.done:,} of {progress.cells:,} cells{left}."
