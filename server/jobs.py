"""Where heavy work runs: worker processes, with progress, Stop, limits of time and memory, and a fair queue.

Python runs one thread at a time: what is computed in a worker does not keep other pages waiting, and what swells or
crashes is a worker. Sweeps have processes and a queue of their own (`server/sweeps.py`). What moves with the hand stays
in the server's threads: drawing a scenario and its estimates (`pages/_ui/draw_results.py`), the first part of IBU
(`pages/_ui/ibu/results.py`), the analysis of reports that were read; where many want that at once, they take turns
(`server/priority.py`). No Streamlit here: workers import this, too. They are loky's, not multiprocessing's: a process
of the latter begins by running the main script again, and under Streamlit that is the page.

The way of a Stop:

- Of a run of seconds, drawn by `pages/_ui/long_run.py`: the button withdraws the request, and Streamlit, to end the old
  run of the page, raises an exception in `look`, which stores it and returns True. The number of the job goes down the
  pipe to its worker, where ``progress()`` now returns True: the job returns what it has. After 10 seconds its worker is
  ended (`Lost`) and nothing is kept. What it returned stays with this session ("Stopped after 60 of 200 collections")
  and is shared with no other.
- Of a sweep, `stop` in `pages/_ui/experiments/runs.py`: the session leaves the sweep, which ends unless another session
  that asked for it has looked in the last 20 seconds. The cells that are complete stay, and Resume goes on from them.
- Reading a file has none: a new run of the page, with another file or without one, ends its worker; nothing is kept. A
  saved sweep is read to its end.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from itertools import count
from typing import Any, Literal, TypeVar, get_args
from weakref import WeakSet

from loky import ProcessPoolExecutor
from loky.backend import get_context
from loky.process_executor import ShutdownExecutorError

from server.priority import TURNS, stand_back

T = TypeVar("T")
Look = Callable[[int, Any], object]
# The four queues. "page": a page waits for the result; at low priority "file": reading a file, "run": a run of seconds,
# "large": a run of minutes, one at a time.
Lane = Literal["page", "file", "run", "large"]
# What every worker that does jobs imports when it starts, at low priority.
_LOADED = ("rr_core.io", "rr_core.ibu", "rr_core.repeats")
_MOST_WORKERS = 16
# The lowest: several work beside the server, and whoever moves a dial goes first. No thread of the server waits for them.
NICENESS = 19
_ENDING = threading.Event()  # set when the interpreter begins to end
_LOOK = 1.0  # seconds between two looks of a worker at its parent
# One thread for each; and allocators that take addresses as they need them, for those are bounded: Arrow's own takes a
# gigabyte at once, the C library's 64 MB for each thread.
_ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
}
_IDLE = 30.0  # seconds after which a worker that nobody needs ends, and gives its memory back
_BETWEEN_LOOKS = 0.05  # seconds between two looks at a job, and between two reports of its progress
_PATIENCE = 10.0  # seconds that a job has to end once it is told to stop
_AT_LEAST = 384 * 2**20  # bytes that every job may take
_LARGE = 2**28  # bytes: a worker that has more after a job is replaced by another


class Lost(RuntimeError):
    """A job ended before its result: out of memory or time, or with its worker. ``str(error)`` is one plain sentence."""


def cores() -> int:
    """How many cores this server may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worker_count() -> int:
    """How many processes a sweep gets where there is memory for them: one per core that this server may use."""
    return min(cores(), _MOST_WORKERS)


def start_workers(number: int) -> Executor:
    """So many processes of low priority; hand them to `end_workers` when the run is over."""
    return _Workers(number, NICENESS)


def end_workers(pool: Executor) -> None:
    """End the processes at once, also in the middle of a cell."""
    assert isinstance(pool, _Workers)
    pool.inner.shutdown(wait=False, kill_workers=True)


def are_ending() -> bool:
    """Whether the interpreter has begun to end, and all workers with it."""
    return _ENDING.is_set()


class _Workers(Executor):
    """An executor on loky's processes with futures of its own: loky fails on cancelled ones when it ends."""

    def __init__(self, number: int, niceness: int, idle: float | None = None, pipe: Any = None) -> None:
        self.inner = ProcessPoolExecutor(
            number,
            timeout=idle,
            initializer=prepare_worker,
            initargs=(os.getpid(), niceness, pipe, _LOADED),
            env=_ENVIRONMENT,
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
    """Have all workers ended first when the interpreter ends: registered after loky's own end, this comes before it."""
    threading._register_atexit(end_all)  # type: ignore[attr-defined]


def end_all() -> None:
    """End all workers at once, and return when they have ended."""
    _ENDING.set()
    for workers in list(_RUNNING):
        workers.inner.shutdown(kill_workers=True)


def _pass_on(handed: Future[Any], inner: Future[Any]) -> None:
    if not handed.set_running_or_notify_cancel():
        return
    try:
        handed.set_result(inner.result())
    except (Exception, CancelledError) as error:
        handed.set_exception(error)


_pipe: Any = None  # of a worker that does jobs, to the server


def prepare_worker(parent: int, niceness: int, pipe: Any = None, modules: tuple[str, ...] = ()) -> None:
    """Give this process its priority, where the system can (Windows cannot), and let it end with its parent; one that
    does jobs loads these modules."""
    global _pipe
    _pipe = pipe
    if hasattr(os, "nice") and os.nice(0) < niceness:  # it may have inherited one
        os.nice(niceness)
    threading.Thread(target=_end_after, args=(parent,), name="parent", daemon=True).start()
    if pipe is not None:
        _standing_back(lambda: [import_module(name) for name in modules])


def _end_after(parent: int) -> None:
    """End this process once its parent is gone, however that ended: orphans are handed to another process."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


@dataclass(frozen=True)
class _Call:
    """What a worker is to do: the number of the job, and bytes that it may take."""

    number: int
    memory: int
    lane: Lane
    function: Callable[..., Any]
    args: tuple[Any, ...]
    named: dict[str, Any]
    reports: bool

    def do(self) -> tuple[Any, bool]:
        """The result, and whether the worker has become large; run by the worker."""
        named = self.named | ({"progress": _Reporter(self.number)} if self.reports else {})
        with _within(self.memory):
            if self.lane == "page":
                result = self.function(*self.args, **named)
            else:
                result = _standing_back(self.function, *self.args, **named)
        return result, _taken()[1] > _LARGE


def _standing_back(function: Callable[..., T], /, *args: Any, **named: Any) -> T:
    """What the function returns, run in a thread of low priority: few systems let a thread take its own back."""
    with ThreadPoolExecutor(1, initializer=stand_back, initargs=(NICENESS,)) as thread:
        return thread.submit(function, *args, **named).result()


def _taken() -> tuple[int, int]:
    """Bytes that this process has: of addresses, and of memory. 0 where the system does not tell (Linux does)."""
    try:
        with open("/proc/self/statm") as file:
            addresses, memory = map(int, file.read().split()[:2])
    except OSError:
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return addresses * page, memory * page


@contextmanager
def _within(memory: int) -> Iterator[None]:
    """Let this process take so many bytes more and no more, where the system can see to it (Linux can)."""
    taken = _taken()[0]
    if not taken:
        yield
        return
    import resource  # which Windows has not

    before = resource.getrlimit(resource.RLIMIT_AS)
    most = taken + memory
    resource.setrlimit(
        resource.RLIMIT_AS, (most if before[1] == resource.RLIM_INFINITY else min(most, before[1]), before[1])
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class _Reporter:
    """Reports the progress of a job to the server; returns True once that says to stop."""

    def __init__(self, number: int) -> None:
        self._number, self._reported, self._stops = number, -math.inf, False

    def __call__(self, done: float) -> bool:
        now = time.monotonic()
        if now - self._reported >= _BETWEEN_LOOKS:
            self._reported = now
            _pipe.send((self._number, done))
            while _pipe.poll():
                self._stops |= _pipe.recv() == self._number
        return self._stops


@dataclass(eq=False)
class _Worker:
    """One process, started with its first job and again after it ended, and the pipe to it."""

    stays: bool
    executor: _Workers | None = None
    here: Any = None
    there: Any = None

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        if self.executor is not None:
            try:
                return self.executor.submit(function, *args)
            except BrokenExecutor:  # it died since its last job
                self.end()
        self.here, self.there = get_context("loky").Pipe()
        self.executor = _Workers(1, 0, None if self.stays else _IDLE, self.there)
        return self.executor.submit(function, *args)

    def end(self) -> None:
        if self.executor is not None:
            end_workers(self.executor)
            self.here.close()
            self.there.close()
            self.executor = None

    def latest(self, number: int) -> float | None:
        """What the job reported last; None where it has reported nothing new."""
        done = None
        while self.here.poll():
            of, what = self.here.recv()
            if of == number:
                done = what
        return done


@dataclass(eq=False)
class Pool:
    """At least two and at most ``most`` workers, each of which does one job at a time. Runs never take the last one,
    which is left for pages and files. Who comes when all are at work waits for those of the same lane before it; no lane
    goes before another."""

    most: int
    _idle: list[_Worker] = field(default_factory=list)
    _waiting: dict[Lane, deque[object]] = field(
        default_factory=lambda: {one: deque() for one in get_args(Lane)}
    )
    _at_work: Counter[Lane] = field(default_factory=Counter)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self._idle = [_Worker(stays=number == 0) for number in range(self.most)][::-1]

    def warm_up(self) -> None:
        """Start a worker."""
        worker = self._take("page", lambda *_: None)
        worker.submit(os.getpid).add_done_callback(lambda _: self._give_back("page", worker))

    def is_free(self) -> bool:
        """Whether a job of a page would begin at once, in a worker that has begun."""
        with self._changed:
            return bool(self._idle) and self._idle[-1].executor is not None and not self._waiting["page"]

    def run(
        self,
        function: Callable[..., T],
        /,
        *args: Any,
        look: Look,
        reports: bool = False,
        memory: int = 0,
        seconds: float = math.inf,
        lane: Lane = "page",
        **named: Any,
    ) -> T:
        """What the function returns, computed by a worker; what it raises is raised here. `Lost`: it took more than
        ``memory`` bytes or ``seconds``, its worker died, or it was stopped before it had begun. ``look`` is called
        about every 0.05 s with the number of jobs ahead, 0 once it is at work, and what it reported since; what it
        raises ends the job, and True asks it to stop, or gives up its place. ``reports``: the function has an argument
        ``progress``, a function that it tells how far it is; once that returns True it is to stop and return what it
        has."""
        worker, number, memory = self._take(lane, look), next(self._numbers), max(memory, _AT_LEAST)
        call = _Call(number, memory, lane, function, args, named, reports)
        is_kept, is_told, end = False, False, time.monotonic() + seconds
        try:
            future = worker.submit(call.do)
            while not wait((future,), _BETWEEN_LOOKS).done:
                if look(0, worker.latest(number)) and not is_told:
                    with suppress(OSError):
                        worker.here.send(number)
                    is_told, end = True, min(end, time.monotonic() + _PATIENCE)
                if time.monotonic() > end:
                    raise Lost("That takes longer than one piece of work may take here.")
            is_kept = isinstance(future.exception(), Exception) and not isinstance(
                future.exception(), MemoryError | BrokenExecutor
            )
            result, is_large = future.result()
            is_kept = not is_large
            return result  # type: ignore[no-any-return]
        except MemoryError:
            raise Lost("That takes more memory than one piece of work may take here.") from None
        except (BrokenExecutor, CancelledError, ShutdownExecutorError):
            raise Lost("That broke off before its end. Try again, or with less of it.") from None
        finally:
            if not is_kept:
                worker.end()
            self._give_back(lane, worker)

    def _take(self, lane: Lane, look: Look) -> _Worker:
        mine, waiting = object(), self._waiting[lane]
        with self._changed:
            waiting.append(mine)
        try:
            while True:
                with self._changed:
                    if waiting[0] is mine and self._has_place(lane):
                        self._at_work[lane] += 1
                        return self._idle.pop()
                    self._changed.wait(_BETWEEN_LOOKS)
                    ahead = waiting.index(mine) + 1
                if look(ahead, None):
                    raise Lost("That was stopped before it had begun.")
        finally:
            with self._changed:
                waiting.remove(mine)
                self._changed.notify_all()

    def _has_place(self, lane: Lane) -> bool:
        runs = self._at_work["run"] + self._at_work["large"]
        if not self._idle or (lane in ("run", "large") and runs >= self.most - 1):
            return False
        return lane != "large" or not self._at_work["large"]

    def _give_back(self, lane: Lane, worker: _Worker) -> None:
        with self._changed:
            self._at_work[lane] -= 1
            # Those that have begun are taken first.
            self._idle.insert(len(self._idle) if worker.executor is not None else 0, worker)
            self._changed.notify_all()


# Of this server.
POOL = Pool(worker_count() + 1)
_opened = threading.Event()


def open_pool() -> None:
    """Have `run` use workers from now on; the first is started."""
    if not _opened.is_set():
        _opened.set()
        POOL.warm_up()


def is_free() -> bool:
    """Whether a job of a page would begin at once."""
    return _opened.is_set() and cores() > 1 and POOL.is_free()


def run(function: Callable[..., T], /, *args: Any, look: Look, reports: bool = False, **named: Any) -> T:
    """`Pool.run` by the workers of this server; done here in a test of a page alone, which has none."""
    if _opened.is_set():
        TURNS.end()  # who waits here needs no interpreter
        return POOL.run(function, *args, look=look, reports=reports, **named)
    for name in ("memory", "seconds", "lane"):
        named.pop(name, None)
    if reports:
        named["progress"] = partial(look, 0)
    return function(*args, **named)
