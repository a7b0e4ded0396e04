"""The runs of this session, stored with the app, run here or brought along in a file; and their progress."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import streamlit as st

from pages._ui import state
from pages._ui.experiments import queue, settings
from pages._ui.experiments.queue import Job, SweepQueue
from pages._ui.link import Binding
from rr_core.experiments.grid import PAPER_FIGURES, PaperFigure, Sweep
from rr_core.experiments.run import SweepResult
from rr_core.experiments.storage import stored_result
from rr_core.figures.style import duration
from rr_core.figures.wording import counted
from rr_core.populations import Population


def _read_sweep(query: Mapping[str, str]) -> tuple[str, tuple[str, ...]] | None:
    parameter = settings.SWEEP_PARAMETER
    if parameter.parameter not in query:
        return None
    key, note = parameter.parse(query[parameter.parameter], settings.MAIN)
    return key, (note,) if note else ()


# The key of the sweep on screen.
SWEEP = Binding(
    "_exp_sweep", settings.MAIN, _read_sweep, lambda key: {settings.SWEEP_PARAMETER.parameter: key}
)


@dataclass(frozen=True, eq=False)
class SweepView:
    """One sweep with what is known of it.

    Attributes:
        key: "main", a key of PAPER_FIGURES, "3" or "own".
        name: as the page calls it.
        result: its cells that are done: all, some or none.
        preset: the figure of the paper that it repeats.
        populations: uploaded ones that its cells ask for, by key.
        origin: one sentence on where the numbers come from.
    """

    key: str
    name: str
    result: SweepResult
    preset: PaperFigure | None
    populations: Mapping[str, Population]
    origin: str


T = TypeVar("T")
_CACHE: WeakKeyDictionary[SweepResult, dict[Hashable, Any]] = WeakKeyDictionary()


def cached(result: SweepResult, what: Hashable, make: Callable[[], T]) -> T:
    """``make()`` of this result, or what it gave before; it must not hold the result itself."""
    held = _CACHE.setdefault(result, {})
    if what not in held:
        held[what] = make()
    made: T = held[what]
    return made


_MOST_RUNS = 8  # runs of a session that are kept; the oldest goes first


@dataclass(eq=False)
class Run:
    """A sweep's numbers, and where they come from.

    Attributes:
        key: which of the offered sweeps it is.
        label: what tells it from other runs of the same sweep.
        origin: one sentence on where the numbers come from.
        initial: the numbers before it was run here.
        populations: uploaded ones, by key.
        job: its place in the queue, once it has been run here.
    """

    key: str
    label: str
    origin: str
    initial: SweepResult
    populations: Mapping[str, Population] = field(default_factory=dict)
    job: Job | None = None

    @property
    def result(self) -> SweepResult:
        return self.job.result if self.job else self.initial

    @property
    def sweep(self) -> Sweep:
        return self.initial.sweep

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return self.job is not None and not self.job.is_over

    @property
    def failed(self) -> bool:
        return self.job is not None and self.job.state == "failed"

    def view(self) -> SweepView:
        return SweepView(
            self.key,
            settings.TITLES[self.key],
            self.result,
            PAPER_FIGURES.get(self.key),
            {**populations_of(self.sweep), **self.populations},
            self.origin,
        )


@dataclass(eq=False)
class _Session:
    me: str = field(default_factory=lambda: uuid.uuid4().hex)
    runs: list[Run] = field(default_factory=list)
    current: dict[str, Run] = field(default_factory=dict)  # by key of sweep
    count: int = 0


def _session() -> _Session:
    if "_exp_session" not in st.session_state:
        st.session_state["_exp_session"] = _Session()
    held: _Session = st.session_state["_exp_session"]
    return held


@st.cache_resource(show_spinner=False)
def _queue() -> SweepQueue:
    return SweepQueue(queue.start_workers, queue.end_workers)


@st.cache_resource(show_spinner=False)
def _stored(key: str) -> Run:
    sweep = settings.built_in(key)
    return Run(
        key,
        f"Stored: {sweep.settings.seeds} collections, seed {sweep.settings.seed}",
        "InvN, InvP and MLE\\* are three repairs of the raw estimate (page *Estimators*); the paper that compares them "
        "is named under *Reference*. Simulated when this version was made: in every cell the same users report "
        f"{sweep.settings.seeds} times with new noise. **Run** does it again, here.",
        stored_result(sweep.cells),
    )


def of(key: str) -> list[Run]:
    """The runs of one sweep, oldest first."""
    stored = [_stored(key)] if key in settings.CELLS else []
    return stored + [run for run in _session().runs if run.key == key]


def others(than: Run) -> dict[str, SweepResult]:
    """All other runs that have cells in common with one, by a name for each; those of the same sweep first."""
    keys, mine = [than.key, *(key for key in settings.TITLES if key != than.key)], than.result.by_cell.keys()
    return {
        f"{settings.TITLES[key]} · {run.label}": run.result
        for key in keys
        for run in reversed(of(key))
        if run is not than and not run.active and not mine.isdisjoint(run.result.by_cell)
    }


def current(key: str) -> Run | None:
    """The run of a sweep that is on screen."""
    runs = of(key)
    held = _session().current.get(key)
    return held if held in runs else runs[-1] if runs else None


def choose(run: Run) -> None:
    _session().current[run.key] = run


def begin(key: str, sweep: Sweep) -> None:
    """Have a sweep run, and put it on screen."""
    if active() is not None:  # a second press, before the first one had disabled the button
        return
    session = _session()
    session.count += 1
    about = sweep.settings
    label = f"Run {session.count}: {counted(about.seeds, 'collection')}, seed {about.seed}"
    origin = f"Run here, {counted(about.seeds, 'collection')} per cell, seed {about.seed}."
    _add(Run(key, label, origin, SweepResult(sweep, ())))
    resume(session.runs[-1])


def open_result(result: SweepResult, file_name: str) -> Run:
    """Put the result of a file on screen."""
    session = _session()
    session.count += 1
    run = Run(
        settings.sweep_key(result.sweep),
        f"File {session.count}: {file_name}",
        "Opened from a file that was saved before.",
        result,
    )
    _add(run)
    return run


def _add(run: Run) -> None:
    session = _session()
    session.runs.append(run)
    if len(session.runs) > _MOST_RUNS:
        session.runs.remove(next(one for one in session.runs if not one.active))
    choose(run)


def resume(run: Run) -> None:
    """Run what is missing of a run, which `has_populations` says can be."""
    if active() is not None:
        return
    run.populations = populations_of(run.sweep)
    run.job = _queue().join(run.sweep, _session().me, run.result, run.populations)


def populations_of(sweep: Sweep) -> dict[str, Population]:
    """This session's upload, by its key, if a cell asks for it."""
    held = state.uploaded()
    if held is None or all(cell.dist != held.population.key for cell in sweep.cells):
        return {}
    return {held.population.key: held.population}


def has_populations(sweep: Sweep) -> bool:
    """Whether every uploaded population that the cells ask for is this session's upload."""
    given = populations_of(sweep)
    return all(cell.dist in given for cell in sweep.cells if cell.uploaded)


def stop(run: Run) -> None:
    """Leave a run as it stands; it goes on only if other sessions asked for it too."""
    if run.job is not None:
        _queue().leave(run.job, _session().me)
        run.initial, run.job = run.job.result, None


def same_cells_running(sweep: Sweep) -> Job | None:
    """A run of the same cells that another session asked for, and that pressing Run with its settings would join."""
    return _queue().running_same_cells(sweep.cells)


def active() -> Run | None:
    """The run of this session that waits or runs."""
    return next((one for one in _session().runs if one.active), None)


_EVERY = 1.5  # seconds between two looks at a run


def status(run: Run | None) -> None:
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
        reached = (
            f"after {done:,} of {cells:,} cells; these are shown"
            if done
            else "before the first cell was done"
        )
        st.info(f"Stopped {reached}. **Resume** computes the rest.")


def _elsewhere_on_this_server(run: Run) -> str:
    """Word of a run that somebody else, or oneself before a reload, has started."""
    job = same_cells_running(run.sweep)
    if job is None or active() is not None:
        return ""
    about = job.sweep.settings
    return (
        f" The same cells are being run on this server, with {counted(about.seeds, 'collection')} and seed {about.seed}: "
        f"{len(job.result.cells):,} of {len(job.sweep.cells):,} cells so far. **Run** with these numbers joins in."
    )


def live_progress(run: Run, draw: Callable[[SweepView], None]) -> None:
    """What a run has reached, drawn anew every moment; when it is over, the whole page is."""

    @st.fragment(run_every=_EVERY)
    def look() -> None:
        _progress(run)
        draw(run.view())

    look()


def progress_elsewhere(on_screen: Run | None) -> None:
    """Word of a run of this session that is not on screen."""
    elsewhere = active()
    if elsewhere is None or elsewhere is on_screen:
        return

    @st.fragment(run_every=2 * _EVERY)
    def look() -> None:
        st.caption(f"Also under way: {settings.TITLES[elsewhere.key]}.")
        _progress(elsewhere)

    look()


def _progress(run: Run) -> None:
    if run.job is None or run.job.is_over:
        st.rerun()
    _queue().watch(run.job, _session().me)
    n_ahead = _queue().ahead(run.job)
    with st.container(horizontal=True, vertical_alignment="center"):
        if n_ahead:
            st.progress(0.0, _waiting(n_ahead))
        else:
            st.progress(*_reached(run))
        st.button("Stop", on_click=stop, args=(run,), key=f"exp_stop_{run.key}", width=90)


def _waiting(n_ahead: int) -> str:
    place = {1: "you are next", 2: "yours is the second in the queue"}.get(
        n_ahead, f"yours is number {n_ahead} in the queue"
    )
    return f"Waiting: {n_ahead} other run{'s' if n_ahead > 1 else ''} first; {place}."


def _reached(run: Run) -> tuple[float, str]:
    progress = run.job.progress if run.job else None
    if progress is None:
        return 0.0, "Starting the background processes…"
    left = f", about {duration(max(round(progress.left), 1))} left" if progress.left == progress.left else ""
    share = progress.done / progress.cells
    return share, f"{progress.done:,} of {progress.cells:,} cells{left}."
