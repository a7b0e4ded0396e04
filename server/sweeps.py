"""The queue of a server's sweeps.

One sweep runs at a time on a server; the others wait in order of arrival. Sessions that request the same sweep without
an uploaded population share one run of it, and its result once it is finished.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Literal

from rr_core.experiments.grid import Cell, Sweep
from rr_core.experiments.run import RunProgress, SweepResult, run
from rr_core.populations import Population
from server import sessions
from server.jobs import are_ending, end_workers, start_workers, worker_count
from server.priority import stand_back

State = Literal["waiting", "running", "stopped", "finished", "failed"]
_LOG = logging.getLogger(__name__)
# Seconds after which a run that nobody looks at makes way, if others wait.
_PATIENCE = 60.0
# Seconds after which somebody else's Stop need not heed a session: it was closed, or reloaded and is another one now.
_GONE = 20.0
_MOST_JOBS = 20  # runs that wait or run; a visitor can open as many sessions as he likes
_MOST_RESULTS = 8  # finished results, of a few megabytes each at most


@dataclass(eq=False)
class Job:
    """A sweep in the queue: its uploaded populations by key, emptied when the run is over, the cells completed so far,
    the time at which each session that watches it last did, and whether a stop was requested (``ending``)."""

    sweep: Sweep
    populations: Mapping[str, Population]
    result: SweepResult
    state: State = "waiting"
    progress: RunProgress | None = None
    watchers: dict[str, float] = field(default_factory=dict)
    ending: bool = False

    @property
    def is_over(self) -> bool:
        return self.state in ("stopped", "finished", "failed")


@dataclass(eq=False)
class SweepQueue:
    """All runs of a server, one at a time; thread-safe. ``start`` makes the executor of so many workers."""

    start: Callable[[int], Executor]
    end: Callable[[Executor], None]
    clock: Callable[[], float] = time.monotonic
    _jobs: list[Job] = field(default_factory=list)  # the first one runs
    _finished: dict[Sweep, SweepResult] = field(default_factory=dict)
    _at_work: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def join(
        self,
        sweep: Sweep,
        watcher: str,
        done: SweepResult | None = None,
        populations: Mapping[str, Population] | None = None,
    ) -> Job | None:
        """Add a run for a session, or make the session a watcher of an existing run of the same sweep without uploaded
        populations; None where as many runs wait as the server takes. ``done`` is a partial result to be completed."""
        with self._lock:
            if not populations and sweep in self._finished:
                return Job(sweep, {}, self._finished[sweep], "finished")
            job = None if populations else self._same(sweep)
            if job is None:
                if self.is_full:
                    return None
                job = Job(sweep, dict(populations or {}), done or SweepResult(sweep, ()))
                self._jobs.append(job)
            job.watchers[watcher] = self.clock()
            if not self._at_work:
                self._at_work = True
                threading.Thread(target=self._work, name="sweeps", daemon=True).start()
            return job

    def _same(self, sweep: Sweep) -> Job | None:
        """The run of this sweep that other sessions may join; None where there is none."""
        return next(
            (one for one in self._jobs if one.sweep == sweep and not one.populations and not one.ending), None
        )

    def watch(self, job: Job, watcher: str) -> None:
        """Record that a session displays its run now."""
        with self._lock:
            if watcher in job.watchers:
                job.watchers[watcher] = self.clock()

    @property
    def is_full(self) -> bool:
        """Whether as many runs wait as the server takes."""
        with self._lock:
            return len(self._jobs) >= _MOST_JOBS

    def ahead(self, job: Job) -> int:
        """Number of runs that precede this one in the queue; 0 when it is running or over."""
        with self._lock:
            return self._jobs.index(job) if job in self._jobs else 0

    def running_same_cells(self, cells: tuple[Cell, ...]) -> Job | None:
        """A run of exactly these cells, without uploaded populations, that waits or runs; None where there is none."""
        with self._lock:
            return next((job for job in self._jobs if job.sweep.cells == cells and not job.populations), None)

    def leave(self, job: Job, watcher: str) -> None:
        """Withdraw a session from a run, as when it presses Stop. Unless another session that still looks asked for it
        too, it ends: at once when it waits, else at its next report of progress."""
        with self._lock:
            now = self.clock()
            job.watchers = {
                other: seen for other, seen in job.watchers.items() if other != watcher and now - seen < _GONE
            }
            if not job.watchers and job.state == "waiting":
                self._close(job, "stopped")

    def _work(self) -> None:
        stand_back()  # the workers, too, which take a second each to start
        while True:
            with self._lock:
                if not self._jobs:
                    self._at_work = False
                    return
                job = self._jobs[0]
                job.state = "running"
            self._do(job)

    def _do(self, job: Job) -> None:
        def report(progress: RunProgress) -> bool:
            with self._lock:
                job.progress, job.result = progress, progress.so_far
                job.ending = self._is_unwanted(job)
                return job.ending

        def is_given_up() -> bool:
            with self._lock:
                job.ending = self._is_unwanted(job)
                return job.ending or are_ending()

        state: State = "failed"
        executor = None
        try:
            largest = max((cell.k for cell in job.sweep.cells), default=0)
            with sessions.room_for_workers(largest, worker_count(), is_given_up) as workers:
                if not workers:
                    state = "stopped"
                    return
                executor = self.start(workers)
                job.result = run(job.sweep, executor, report, job.result, job.populations)
                state = "finished" if job.result.finished else "stopped"
        except Exception:
            if not are_ending():
                _LOG.exception("a sweep broke off")
        finally:
            if executor is not None:
                self.end(executor)
            with self._lock:
                self._close(job, state)

    def _is_unwanted(self, job: Job) -> bool:
        """Whether every session left, or none has looked for _PATIENCE seconds while other runs wait."""
        last = max(job.watchers.values(), default=-float("inf"))
        return not job.watchers or (len(self._jobs) > 1 and self.clock() - last > _PATIENCE)

    def _close(self, job: Job, state: State) -> None:
        if state == "finished" and not job.populations:
            while len(self._finished) >= _MOST_RESULTS:
                del self._finished[next(iter(self._finished))]
            self._finished[job.sweep] = job.result
        job.state, job.populations = state, {}
        self._jobs.remove(job)


# Of this process. Not one of Streamlit's caches: whoever opens a connection can clear those, and two sweeps would run.
SERVER = SweepQueue(start_workers, end_workers)
