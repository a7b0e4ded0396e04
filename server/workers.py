"""The processes beside the server's: those that compute a sweep, and one that does short computations while pages wait
for the interpreter. No Streamlit: they import this, too.

They are loky's, not multiprocessing's: a process of the latter begins by running the main script again, and under
Streamlit that is the page.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

from loky import ProcessPoolExecutor

from server.priority import NICENESS

P = ParamSpec("P")
T = TypeVar("T")
_MOST_WORKERS = 16
_ENDING = threading.Event()  # set when the interpreter begins to end
_LOOK = 1.0  # seconds between two looks of a worker at its parent
# One thread for each.
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_IDLE = 30.0  # seconds after which a helper that nobody needs ends, and gives its memory back
_LONGEST, _LOOK_AT_HELP = 10.0, 0.05  # seconds that a page waits for a helper, and between two looks


def worker_count() -> int:
    """How many processes a sweep gets where there is memory for them: one per core that this server may use."""
    return min(cores(), _MOST_WORKERS)


def cores() -> int:
    """How many cores this server may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    """An executor on loky's processes that returns futures of its own: loky fails on cancelled futures when
    it is shut down."""

    def __init__(self, number: int, niceness: int, idle: float | None = None) -> None:
        self.inner = ProcessPoolExecutor(
            number,
            timeout=idle,
            initializer=prepare_worker,
            initargs=(os.getpid(), niceness),
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
    """Have all workers ended first of all when the interpreter ends.

    To be called after work was handed to loky: what is registered last is called first, and loky's own end, registered
    then, waits for the cells at work, which may take minutes.
    """
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


def prepare_worker(parent: int, niceness: int) -> None:
    """Give this process its priority, where the system can (Windows cannot), and let it end with its parent."""
    if hasattr(os, "nice") and os.nice(0) < niceness:  # it may have inherited one
        os.nice(niceness)
    threading.Thread(target=_end_after, args=(parent,), name="parent", daemon=True).start()


def _end_after(parent: int) -> None:
    """End this process once its parent is gone, however that ended: orphans are handed to another process."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


@dataclass(eq=False)
class Helper:
    """A process that does short computations of pages, for as long as there are some.

    Python runs one thread at a time: what is computed here does not keep other pages waiting. It takes seconds to start,
    in which it is of no use.

    Attributes:
        module: where the functions are that it will be asked for.
    """

    module: str
    _pool: _Workers | None = None
    _begun: Future[Any] | None = None  # done when the process was there
    _used: float = 0.0
    _at_work: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_ready(self) -> bool:
        """Whether it would begin at once; if not, it is started for the next time, where there is a core for it."""
        with self._lock:
            if cores() < 2 or are_ending():
                return False
            now = time.monotonic()
            if self._pool is None or self._begun is None or now - self._used > _IDLE / 2:
                try:
                    self._pool = self._pool or _Workers(1, 0, _IDLE)
                    self._begun, self._used = self._pool.submit(_load, self.module), now
                except (BrokenExecutor, RuntimeError, OSError):
                    self._give_up()
                return False
            if not self._begun.done():
                return False
            if self._begun.exception() is not None:
                self._give_up()
                return False
            return not self._at_work

    def run(
        self, look: Callable[[], object], function: Callable[P, T], *args: P.args, **named: P.kwargs
    ) -> T:
        """What the function returns: computed by the helper or, where that fails, here.

        Args:
            look: called now and then while this waits; what it raises ends the wait.
            function, args, named: such as can be sent to a process.
        """
        with self._lock:
            pool = self._pool
            self._at_work += 1
        try:
            if pool is None:
                return function(*args, **named)
            end, coming = time.monotonic() + _LONGEST, pool.submit(function, *args, **named)
            while time.monotonic() < end:
                try:
                    return coming.result(timeout=_LOOK_AT_HELP)  # type: ignore[no-any-return]
                except TimeoutError:
                    look()
        except (BrokenExecutor, RuntimeError, OSError, CancelledError):
            pass
        finally:
            with self._lock:
                self._at_work -= 1
                self._used = time.monotonic()
        with self._lock:
            self._give_up()
        return function(*args, **named)

    def _give_up(self) -> None:
        if self._pool is not None:
            end_workers(self._pool)
        self._pool = self._begun = None


def _load(module: str) -> None:
    import_module(module)


# Of this server.
HELPER = Helper("rr_core.ibu.engine")
