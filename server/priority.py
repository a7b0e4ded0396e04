"""Whose work goes first where many are served at once: the figures that somebody is waiting for."""

from __future__ import annotations

import heapq
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

# A tenth of what others get: whoever moves a dial goes first, and long work still goes on.
NICENESS = 10
# By how many seconds a request for a turn counts as later than it was made: to go on with what has begun, to draw the
# main figure anew after a move, to draw that of a page which is being opened or which is large, and to draw what stands
# around it.
GO_ON, FIGURE, OPENING, REST = -1.0, 0.0, 3.0, 30.0
# In seconds: how much of a processor a turn takes at most, and how long it keeps others waiting at most. Where long work
# goes on beside, a turn of little work lasts long; with another begun beside it, both would last longer still.
_MOST_WORK, _LONGEST = 0.2, 0.6
# In seconds: between two looks of one who waits; and at least between two of all who wait, for a hundred who look twenty
# times a second take a fifth of the interpreter's time.
_LOOK, _BETWEEN_ALL_LOOKS = 0.05, 0.005


def _clock() -> int | None:
    """The clock that tells how much of a processor this thread has had; None where the system has none."""
    return (
        time.pthread_getcpuclockid(threading.get_ident()) if hasattr(time, "pthread_getcpuclockid") else None
    )


@dataclass(order=True)
class _Request:
    due: float
    number: int  # requests of the same time come in their order
    thread: threading.Thread = field(compare=False)
    granted: threading.Event = field(compare=False, default_factory=threading.Event)
    clock: int | None = field(compare=False, default_factory=_clock)  # of this thread's work


@dataclass(frozen=True)
class _Turn:
    request: _Request
    since: float
    work_before: float

    def still_counts(self, now: float) -> bool:
        """Whether nobody else may have a turn yet."""
        if not self.request.thread.is_alive():
            return False
        worked = _worked(self.request, now) - self.work_before
        return worked < _MOST_WORK and now - self.since < _LONGEST


def _worked(request: _Request, now: float) -> float:
    """Seconds of a processor that the thread of a request has had; the time where the system does not tell."""
    if request.clock is None:
        return now
    try:
        return time.clock_gettime(request.clock)
    except OSError:  # it has just ended
        return math.inf


@dataclass(eq=False)
class Turns:
    """One page at a time, the most urgent first: fifty pages that share Python's one thread evenly are all late, one
    after the other most are early. Work of more than 0.2 s goes on beside the rest."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[_Request] = field(default_factory=list)
    _turn: _Turn | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def take(self, urgency: float, look: Callable[[], object]) -> None:
        """Wait for a turn of this thread; ``look`` is called now and then, and what it raises ends the wait."""
        due = time.monotonic() + urgency
        self._wait(_Request(due, next(self._numbers), threading.current_thread()), look)

    def let_pass(self, look: Callable[[], object]) -> None:
        """Let those who are more urgent go first, if this thread has the turn; ``look`` as in `take`."""
        with self._lock:
            request = self._turn.request if self._turn is not None else None
            if request is None or request.thread is not threading.current_thread():
                return
            if not self._waiting or request < self._waiting[0]:
                return
        self._wait(replace(request, granted=threading.Event()), look)

    def _wait(self, request: _Request, look: Callable[[], object]) -> None:
        with self._lock:
            self._end()
            heapq.heappush(self._waiting, request)
            self._grant()
        try:
            while not request.granted.wait(max(_LOOK, _BETWEEN_ALL_LOOKS * len(self._waiting))):
                look()
                with self._lock:
                    self._grant()
        except BaseException:
            with self._lock:
                if request in self._waiting:
                    self._waiting.remove(request)
                    heapq.heapify(self._waiting)
                self._end()
                self._grant()
            raise

    def go_on(self, look: Callable[[], object]) -> None:
        """Wait for a turn of this thread, before all others, if it has none any more; ``look`` as in `take`."""
        if self._turn is None or self._turn.request.thread is not threading.current_thread():
            self.take(GO_ON, look)

    def end(self) -> None:
        """End the turn of this thread, if it has one."""
        with self._lock:
            self._end()
            self._grant()

    def are_wanted(self) -> bool:
        """Whether somebody waits for a turn."""
        return bool(self._waiting)

    def _end(self) -> None:
        if self._turn is not None and self._turn.request.thread is threading.current_thread():
            self._turn = None

    def _grant(self) -> None:
        """Give the turn to the most urgent, if nobody has one that still counts."""
        now = time.monotonic()
        if self._turn is not None and self._turn.still_counts(now):
            return
        self._turn = None
        if self._waiting:
            request = heapq.heappop(self._waiting)
            self._turn = _Turn(request, now, _worked(request, now))
            request.granted.set()


# Of all pages of this server.
TURNS = Turns()


def stand_back(niceness: int = NICENESS) -> None:
    """Give this thread, and the processes that it starts, a low priority until it ends, and end its turn; on Linux,
    which has threads with priorities of their own. A page runs in a new thread each time."""
    TURNS.end()
    if os.path.exists("/proc/self/task"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
