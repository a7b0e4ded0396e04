"""The background processes of a sweep. No Streamlit: the processes themselves import this.

They are loky's, not multiprocessing's: a process of the latter begins by running the main script again, and under
Streamlit that is the page.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from functools import partial
from typing import Any

from loky import ProcessPoolExecutor

_MOST = 16
_GENTLE = 10  # a tenth of what others get where all are busy: whoever moves a slider goes first, and a run still goes on
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def size() -> int:
    """How many processes a sweep gets: one per core that this server may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST)


def start() -> Executor:
    """Processes of low priority; hand them to `end` when the run is over."""
    return _Pool()


def end(pool: Executor) -> None:
    """End the processes at once, also in the middle of a cell."""
    assert isinstance(pool, _Pool)
    pool.inner.shutdown(wait=False, kill_workers=True)


class _Pool(Executor):
    """loky's pool without its own futures: it stumbles over cancelled ones when it is ended."""

    def __init__(self) -> None:
        self.inner = ProcessPoolExecutor(size(), initializer=be_gentle, env=_ONE_THREAD)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        handed: Future[Any] = Future()
        self.inner.submit(function, *args, **kwargs).add_done_callback(partial(_pass_on, handed))
        return handed


def _pass_on(handed: Future[Any], inner: Future[Any]) -> None:
    if not handed.set_running_or_notify_cancel():
        return
    try:
        handed.set_result(inner.result())
    except (Exception, CancelledError) as error:
        handed.set_exception(error)


def be_gentle() -> None:
    """Take a low priority, where the system has such a thing (Windows has not)."""
    if hasattr(os, "nice"):
        os.nice(_GENTLE)
