"""The queue of a server's sweeps, and the background processes that compute them. No Streamlit: these import it, too.

One sweep runs at a time on a server; the others wait in order of arrival. Sessions that request the same sweep without
an uploaded population share one run of it, and its result once it is finished.

The processes are loky's, not multiprocessing's: a process of the latter begins by running the main script again, and
under Streamlit that is the page.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal
from weakref import WeakSet

from loky import ProcessPoolExecutor

from pages._ui.priority import NICENESS, stand_back
from rr_core.experiments.grid import Cell, Sweep
from rr_core.experiments.run import RunProgress, SweepResult, run
from rr_core.populations import Population

_MOST_WORKERS = 16
_ENDING = threading.Event()  # set when the interpreter begins to end
_LOOK = 1.0  # seconds between two looks of a worker at its parent
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def worker_count() -> int:
    """How many processes a sweep gets: one per core that this server may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST_WORKERS)


def start_workers() -> Executor:
    """Processes of low priority; hand them to `end_workers` when the run is over."""
    return _Workers()


def end_workers(pool: Executor) -> None:
    """End the processes at once, also in the middle of a cell."""
    assert isinstance(pool, _Workers)
    pool.inner.shutdown(wait=False, kill_workers=True)


class _Workers(Executor):
    """An executor on loky's processes that returns futures of its own: loky fails on cancelled futures when
    it is shut down."""

    def __init__(self) -> None:
        self.inner = ProcessPoolExecutor(
            worker_count(), initializer=prepare_worker, initargs=(os.getpid(),), env=_ONE_THREAD
        )
        _RUNNING.add(self)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        handed: Future[Any] = Future()
        self.inner.submit(function, *args, **kwargs).add_done_callback(partial(_pass_on, handed))
        _end_with_the_interpreter()
        return handed


_RUNNING: WeakSet[_Workers] = WeakSet()


@cache
def _end_with_the_interpreter() -> None:
    """Have all workers ended first of all when the interpreter ends.

    To be called after work was handed to loky: what is registered last is called first, and loky's own end, registered
    then, waits for the cells at work, which may take minutes.
    """
    threading._register_atexit(_end_all)  # type: ignore[attr-defined]


def _end_all() -> None:
    _ENDING.set()
    for workers in list(_RUNNING):
        end_workers(workers)


def _pass_on(handed: Future[Any], inner: Future[Any]) -> None:
    if not handed.set_running_or_notify_cancel():
        return
    try:
        handed.set_result(inner.result())
    except (Exception, CancelledError) as error:
        handed.set_exception(error)


def prepare_worker(parent: int) -> None:
    """Give this process a low priority, where the system can (Windows cannot), and let it end with its parent."""
    if hasattr(os, "nice") and os.nice(0) < NICENESS:  # it may have inherited one
        os.nice(NICENESS)
    threading.Thread(target=_end_after, args=(parent,), name="parent", daemon=True).start()


def _end_after(parent: int) -> None:
    """End this process once its parent is gone, however that ended: orphans are handed to another process."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


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
    """A sweep in the queue.

    Attributes:
        sweep: the sweep to compute.
        populations: uploaded populations of its cells, by key; emptied when the run is over.
        result: the cells completed so far.
        state: "stopped" and "failed" leave a partial result.
        progress: the latest progress report; None before the run starts.
        watchers: by session that requested the run, the time in seconds at which it last displayed it.
        ending: whether a stop was requested and the run has not ended yet.
    """

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
    """All runs of a server, one at a time; thread-safe.

    Attributes:
        start: makes the executor of one run.
        end: ends an executor at once.
        clock: current time in seconds.
    """

    start: Callable[[], Executor]
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
    ) -> Job:
        """Add a run for a session, or make the session a watcher of an existing run of the same sweep.

        Args:
            sweep: what to run.
            watcher: identifier of the session.
            done: an earlier, partial result of the same sweep, to be completed.
            populations: uploaded populations by key; a run with any is not shared between sessions.
        """
        with self._lock:
            if not populations and sweep in self._finished:
                return Job(sweep, {}, self._finished[sweep], "finished")
            job = None if populations else self._same(sweep)
            if job is None:
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
        """A waiting or running run of exactly these cells without uploaded populations; None where there is
        none."""
        with self._lock:
            return next((job for job in self._jobs if job.sweep.cells == cells and not job.populations), None)

    def leave(self, job: Job, watcher: str) -> None:
        """Withdraw a session from a run, as when it presses Stop.

        Unless another session that still looks asked for the run too, it ends: at once when it waits, and at its next
        report of progress, a fraction of a second later, when it runs.
        """
        with self._lock:
            now = self.clock()
            job.watchers = {
                other: seen for other, seen in job.watchers.items() if other != watcher and now - seen < _GONE
            }
            if not job.watchers and job.state == "waiting":
                self._close(job, "stopped")

    def _work(self) -> None:
        """Run the waiting jobs in order until the queue is empty."""
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

        state: State = "failed"
        executor = None
        try:
            executor = self.start()
            job.result = run(job.sweep, executor, report, job.result, job.populations)
            state = "finished" if job.result.finished else "stopped"
        except Exception:
            if not _ENDING.is_set():
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
