"""The background processes of a sweep. No Streamlit: the processes themselves import this.

They are loky's, not multiprocessing's: a process of the latter begins by running the main script again, and under
Streamlit that is the page.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor

from loky import ProcessPoolExecutor

_MOST = 16
_GENTLE = 19  # the lowest priority there is: whoever moves a slider goes first
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def size() -> int:
    """How many processes a sweep gets: one per core that this server may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST)


def start() -> Executor:
    """Processes of low priority; hand them to `end` when the run is over."""
    pool: Executor = ProcessPoolExecutor(size(), initializer=be_gentle, env=_ONE_THREAD)
    return pool


def end(pool: Executor) -> None:
    """End the processes at once, also in the middle of a cell."""
    assert isinstance(pool, ProcessPoolExecutor)
    pool.shutdown(wait=False, kill_workers=True)


def be_gentle() -> None:
    """Take the lowest priority, where the system has such a thing (Windows has not)."""
    if hasattr(os, "nice"):
        os.nice(_GENTLE)
