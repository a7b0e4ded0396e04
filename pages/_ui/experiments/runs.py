"""The runs of this session, stored with the app, run here or brought along in a file; and their progress."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import streamlit as st

from pages._ui import session_files
from pages._ui.experiments import settings
from pages._ui.link import Binding, binding_of_choice
from rr_core.experiments.grid import PAPER_FIGURES, PaperFigure, Sweep
from rr_core.experiments.run import SweepResult
from rr_core.experiments.storage import stored_result
from rr_core.populations import Population
from rr_core.rounding import counted
from rr_core.words.phrases import duration
from server import sessions, sweeps
from server.sweeps import Job

# The key of the sweep on screen.
SWEEP = binding_of_choice("_exp_sweep", settings.SWEEP_PARAMETER, settings.MAIN, always=True)


@dataclass(frozen=True, eq=False)
class SweepView:
    """One sweep: ``preset`` is the figure of the paper that it repeats."""

    key: str
    name: str
    result: SweepResult
    preset: PaperFigure | None
    populations: Mapping[str, Population]


T = TypeVar("T")
_CACHE: WeakKeyDictionary[SweepResult, dict[Hashable, Any]] = WeakKeyDictionary()


def cached(result: SweepResult, what: Hashable, make: Callable[[], T]) -> T:
    """``make()``, computed once for this result and this ``what``. The value must not refer to the result."""
    held = _CACHE.setdefault(result, {})
    if what not in held:
        held[what] = make()
    made: T = held[what]
    return made


_MOST_RUNS = 8  # runs of a session that are kept; the oldest goes first


@dataclass(eq=False)
class Run:
    """A sweep's numbers, and where they come from (``origin``, a sentence): those before this session ran it (stored,
    from a file, or none), and its entry in the queue since."""

    key: str
    label: str
    origin: str
    initial: SweepResult
    populations: Mapping[str, Population] = field(default_factory=dict)
    job: Job | None = None
    run_here: bool = False

    @property
    def result(self) -> SweepResult:
        return self.job.result if self.job else self.initial

    @property
    def sweep(self) -> Sweep:
        return self.initial.sweep

    @property
    def active(self) -> bool:
        """Whether the run is waiting or running."""
        return self.job is not None and not self.job.is_over

    def view(self) -> SweepView:
        populations = {**populations_of(self.sweep), **self.populations}
        preset = PAPER_FIGURES.get(self.key)
        return SweepView(self.key, settings.TITLES[self.key], self.result, preset, populations)


_NAME = "sweeps"  # of the runs among what a session holds
LET_GO = (
    "The server let go of your sweeps, for want of memory or because you were away: run or open them again."
)


@dataclass(eq=False)
class _Session:
    """What a session keeps of its runs, but not the runs: the server may let go of those. ``waiting`` is one that was
    waiting or running when it was last looked at, which stays; ``measured`` the state of each when their size was last
    measured."""

    me: str = field(default_factory=lambda: uuid.uuid4().hex)
    current: dict[str, str] = field(default_factory=dict)
    count: int = 0
    waiting: Run | None = None
    let_go: bool = False
    measured: tuple[tuple[int, bool], ...] = ()


def _session() -> _Session:
    if "_exp_session" not in st.session_state:
        st.session_state["_exp_session"] = _Session()
    held: _Session = st.session_state["_exp_session"]
    return held


def _runs() -> tuple[Run, ...]:
    session = _session()
    held: tuple[Run, ...] = sessions.held().get(_NAME) or ()
    session.let_go |= _NAME in sessions.held().gone
    if session.waiting is not None and session.waiting not in held:
        held = (*held, session.waiting)
        _hold(held)
    elif session.measured != _state_of(held):
        _hold(held)
    return held


def _state_of(runs: tuple[Run, ...]) -> tuple[tuple[int, bool], ...]:
    return tuple((len(run.result.cells), run.active) for run in runs)


def _hold(runs: tuple[Run, ...]) -> None:
    """Keep these runs, with the size that they have now."""
    session = _session()
    session.measured = _state_of(runs)
    session.waiting = next((run for run in runs if run.active), None)
    sessions.held().put(_NAME, runs)


def say_if_let_go() -> None:
    """Say so if the server let go of this session's runs."""
    _runs()
    if _session().let_go:
        st.warning(LET_GO, icon=":material/info:")


LOST = (
    "A sweep was run in the session that this address comes from. Its numbers are not here: that session ended, the "
    "server started anew, or it is somebody else's. Run it again."
)


def _read_lost(query: Mapping[str, str]) -> tuple[bool, tuple[str, ...]]:
    lost = "run" in query and not _runs()
    return lost, (LOST,) if lost else ()


def _write_run(_: bool) -> dict[str, str | None]:
    ran = any(run.key == SWEEP.current() and run.run_here for run in _runs())
    return {"run": "here" if ran else None}


# Whether the sweep on screen was run in this session: so a page that lost it can say so.
RUN = Binding("_exp_run", False, _read_lost, _write_run)


@cache  # of the process: a visitor can empty those of Streamlit, and all that was computed of the run went with it
def _stored(key: str) -> Run:
    sweep = settings.built_in(key)
    return Run(
        key,
        f"Stored: {sweep.settings.seeds} collections, seed {sweep.settings.seed}",
        "Simulated when this version was made: in every cell the same users report "
        f"{sweep.settings.seeds} times with new noise. **Run** does it again, here.",
        stored_result(sweep.cells),
    )


def runs_of_sweep(key: str) -> list[Run]:
    """The runs of one sweep, oldest first."""
    stored = [_stored(key)] if key in settings.CELLS else []
    return stored + [run for run in _runs() if run.key == key]


def comparable_results(shown: Run) -> dict[str, SweepResult]:
    """Results by name of all other runs that are over and share cells with the one on screen; of its sweep first."""
    keys, mine = (
        [shown.key, *(key for key in settings.TITLES if key != shown.key)],
        shown.result.by_cell.keys(),
    )
    return {
        f"{settings.TITLES[key]} · {run.label}": run.result
        for key in keys
        for run in reversed(runs_of_sweep(key))
        if run is not shown and not run.active and not mine.isdisjoint(run.result.by_cell)
    }


def current(key: str) -> Run | None:
    """The run of a sweep that is on screen; None for a sweep without a run."""
    return _labelled(key, _session().current.get(key)) or next(reversed(runs_of_sweep(key)), None)


def _labelled(key: str, label: str | None) -> Run | None:
    return next((run for run in runs_of_sweep(key) if run.label == label), None)


def choose(key: str, label: str) -> None:
    """Put the run of a sweep with this label on screen."""
    _session().current[key] = label


def begin(key: str, sweep: Sweep) -> None:
    """Queue a run of a sweep and put it on screen."""
    if active() is not None or sweeps.SERVER.is_full:  # a press before the button was disabled
        return
    session = _session()
    session.count += 1
    about = sweep.settings
    label = f"Run {session.count}: {counted(about.seeds, 'collection')}, seed {about.seed}"
    origin = f"Run here, {counted(about.seeds, 'collection')} per cell, seed {about.seed}."
    run = Run(key, label, origin, SweepResult(sweep, ()))
    _add(run)
    resume(run.key, run.label)


def open_result(result: SweepResult, file_name: str) -> Run:
    """Add a run with the result read from a file, and put it on screen."""
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
    runs = [*_runs(), run]
    if len(runs) > _MOST_RUNS:
        runs.remove(next(one for one in runs if not one.active))
    _hold(tuple(runs))
    _session().let_go = False
    choose(run.key, run.label)


def resume(key: str, label: str) -> None:
    """Queue the missing cells of a partial run, for which `has_populations` must hold; a widget callback, which
    Streamlit keeps with its arguments: the run itself would stay with them."""
    run = _labelled(key, label)
    if run is None or active() is not None or sweeps.SERVER.is_full:
        return
    populations = populations_of(run.sweep)
    job = sweeps.SERVER.join(run.sweep, _session().me, run.result, populations)
    if job is None:  # others were faster
        return
    run.job, run.populations, run.run_here = job, populations, True
    _session().waiting = run


def populations_of(sweep: Sweep) -> dict[str, Population]:
    """This session's upload by its key, if a cell of the sweep uses it; else empty."""
    held = session_files.uploaded()
    if held is None or all(cell.dist != held.population.key for cell in sweep.cells):
        return {}
    return {held.population.key: held.population}


def has_populations(sweep: Sweep) -> bool:
    """Whether this session's upload supplies every uploaded population that the cells use."""
    given = populations_of(sweep)
    return all(cell.dist in given for cell in sweep.cells if cell.uploaded)


def stop(key: str, label: str) -> None:
    """Stop a run, unless other sessions watch it, and keep its partial result; a widget callback, as `resume`."""
    run = _labelled(key, label)
    if run is not None and run.job is not None:
        sweeps.SERVER.leave(run.job, _session().me)
        run.initial, run.job = run.job.result, None


def active() -> Run | None:
    """The run of this session that is waiting or running; None where there is none."""
    return next((one for one in _runs() if one.active), None)


_EVERY = 1.5  # seconds between two looks at a run


def status(run: Run) -> None:
    """Say why numbers of the run on screen are missing, where some are."""
    done, cells = len(run.result.cells), len(run.sweep.cells)
    if run.job is not None and run.job.state == "failed":
        st.error(
            f"The run broke off after {done:,} of {counted(cells, 'cell')}: a background process ended, most "
            "likely for want of memory. What was done is kept; press Resume, or take fewer categories or collections.",
            icon=":material/error:",
        )
    elif not run.result.finished and not run.active:
        reached = (
            f"after {done:,} of {counted(cells, 'cell')}; these are shown"
            if done
            else "before the first cell was done"
        )
        st.info(f"Stopped {reached}. **Resume** computes the rest.")


def origin(run: Run) -> str:
    """Where the numbers of a run come from, and that others are running the same cells, as markdown."""
    job = sweeps.SERVER.running_same_cells(run.sweep.cells)
    if job is None or active() is not None:
        return run.origin
    about = job.sweep.settings
    return (
        f"{run.origin} The same cells are being run on this server, with {counted(about.seeds, 'collection')} and seed "
        f"{about.seed}: {len(job.result.cells):,} of {counted(len(job.sweep.cells), 'cell')} so far. **Run** with these "
        "numbers joins in."
    )


def live_progress(run: Run, draw: Callable[[SweepView], None]) -> None:
    """Redraw the progress and the results of a run at short intervals; the whole page when the run is over."""

    @st.fragment(run_every=_EVERY)
    def look() -> None:
        _progress(run)
        draw(run.view())

    look()


def progress_elsewhere(on_screen: Run | None) -> None:
    """Show the progress of an active run of this session that is not the one on screen."""
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
    sweeps.SERVER.watch(run.job, _session().me)
    n_ahead = sweeps.SERVER.ahead(run.job)
    with st.container(horizontal=True, vertical_alignment="center"):
        if n_ahead:
            st.progress(0.0, _waiting(n_ahead))
        else:
            st.progress(*_reached(run))
        st.button("Stop", on_click=stop, args=(run.key, run.label), key=f"exp_stop_{run.key}", width=90)


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
    return share, f"{progress.done:,} of {counted(progress.cells, 'cell')}{left}."
