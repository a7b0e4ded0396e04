"""The runs of this session: what was stored with the app, run here, or brought along in a file."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from pages._ui import state
from pages._ui.experiments import pool, sweeps
from pages._ui.experiments.shown import Shown
from pages._ui.experiments.turns import Job, Turns
from rr_core.experiments.grid import PRESETS, Sweep
from rr_core.experiments.run import SweepResult
from rr_core.experiments.storage import stored_result
from rr_core.figures.wording import counted
from rr_core.populations import Population

_MOST = 8  # runs of a session that are kept; the oldest goes first


@dataclass(eq=False)
class Run:
    """A sweep's numbers, and where they come from.

    Attributes:
        key: which of the offered sweeps it is.
        label: what tells it from other runs of the same sweep.
        origin: one sentence on where the numbers come from.
        kept: the numbers before it was run here.
        populations: uploaded ones, by key.
        job: its place in the queue, once it has been run here.
    """

    key: str
    label: str
    origin: str
    kept: SweepResult
    populations: Mapping[str, Population] = field(default_factory=dict)
    job: Job | None = None

    @property
    def result(self) -> SweepResult:
        return self.job.result if self.job else self.kept

    @property
    def sweep(self) -> Sweep:
        return self.kept.sweep

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return self.job is not None and not self.job.over

    @property
    def failed(self) -> bool:
        return self.job is not None and self.job.state == "failed"

    def shown(self) -> Shown:
        return Shown(
            self.key,
            sweeps.TITLES[self.key],
            self.result,
            PRESETS.get(self.key),
            {**uploaded(self.sweep), **self.populations},
            self.origin,
        )


@dataclass(eq=False)
class _Session:
    me: str = field(default_factory=lambda: uuid.uuid4().hex)
    runs: list[Run] = field(default_factory=list)
    chosen: dict[str, Run] = field(default_factory=dict)  # by key of sweep
    count: int = 0


def _session() -> _Session:
    if "_exp_session" not in st.session_state:
        st.session_state["_exp_session"] = _Session()
    held: _Session = st.session_state["_exp_session"]
    return held


@st.cache_resource(show_spinner=False)
def _turns() -> Turns:
    return Turns(pool.start, pool.end)


@st.cache_resource(show_spinner=False)
def _stored(key: str) -> Run:
    sweep = sweeps.built_in(key)
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
    stored = [_stored(key)] if key in sweeps.CELLS else []
    return stored + [run for run in _session().runs if run.key == key]


def others(than: Run) -> dict[str, SweepResult]:
    """All other runs that have cells in common with one, by a name for each; those of the same sweep first."""
    keys, mine = [than.key, *(key for key in sweeps.TITLES if key != than.key)], than.result.by_cell.keys()
    return {
        f"{sweeps.TITLES[key]} · {run.label}": run.result
        for key in keys
        for run in reversed(of(key))
        if run is not than and not run.active and not mine.isdisjoint(run.result.by_cell)
    }


def chosen(key: str) -> Run | None:
    """The run of a sweep that is on screen."""
    runs = of(key)
    held = _session().chosen.get(key)
    return held if held in runs else runs[-1] if runs else None


def choose(run: Run) -> None:
    _session().chosen[run.key] = run


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


def adopt(result: SweepResult, file_name: str) -> Run:
    """Put the result of a file on screen."""
    session = _session()
    session.count += 1
    run = Run(
        sweeps.key_of(result.sweep),
        f"File {session.count}: {file_name}",
        "Opened from a file that was saved before.",
        result,
    )
    _add(run)
    return run


def _add(run: Run) -> None:
    session = _session()
    session.runs.append(run)
    if len(session.runs) > _MOST:
        session.runs.remove(next(one for one in session.runs if not one.active))
    choose(run)


def resume(run: Run) -> None:
    """Run what is missing of a run, which `complete` says can be."""
    if active() is not None:
        return
    run.populations = uploaded(run.sweep)
    run.job = _turns().ask(run.sweep, _session().me, run.result, run.populations)


def uploaded(sweep: Sweep) -> dict[str, Population]:
    """This session's upload, by its key, if a cell asks for it."""
    held = state.uploaded()
    if held is None or all(cell.dist != held.population.key for cell in sweep.cells):
        return {}
    return {held.population.key: held.population}


def complete(sweep: Sweep) -> bool:
    """Whether every uploaded population that the cells ask for is this session's upload."""
    given = uploaded(sweep)
    return all(cell.dist in given for cell in sweep.cells if cell.uploaded)


def stop(run: Run) -> None:
    """Leave a run as it stands; it goes on only if other sessions asked for it too."""
    if run.job is not None:
        _turns().leave(run.job, _session().me)
        run.kept, run.job = run.job.result, None


def under_way(sweep: Sweep) -> Job | None:
    """A run of the same cells that another session asked for, and that pressing Run with its settings would join."""
    return _turns().under_way(sweep.cells)


def active() -> Run | None:
    """The run of this session that waits or runs; noting that somebody looks at it."""
    run = next((one for one in _session().runs if one.active), None)
    if run is not None:
        before(run)
    return run


def before(run: Run) -> int:
    """How many runs of others come before one that waits; noting that somebody looks at it."""
    assert run.job is not None
    return _turns().look(run.job, _session().me)
