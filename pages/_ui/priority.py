"""Whose work goes first where all cores are busy: the pages that somebody is looking at."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

# A tenth of what others get: whoever moves a dial goes first, and long work still goes on.
NICENESS = 10


def stand_back() -> None:
    """Give this thread, and the processes that it starts, a low priority until it ends. Only Linux has threads with
    priorities of their own; elsewhere nothing changes.

    A page runs in a new thread each time, and few systems let a thread take its priority back.
    """
    if os.path.exists("/proc/self/task"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
