"""How far a long reading has come, told often enough to be watched and to be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable

from rr_core.io.content import Tick

EVERY_SECONDS = 0.05
"""The least time between two calls: more often is more than an eye, or a browser, can follow."""


class Stopped(Exception):
    """The person asked to stop; nothing was read."""


class Meter:
    """Passes on how much is done, 0 to 1, at most once in EVERY_SECONDS.

    Raises
    ------
    Stopped
        When `progress` answers True.
    """

    def __init__(self, progress: Callable[[float], bool] | None) -> None:
        self._progress = progress
        self._done = 0.0
        self._told = time.monotonic()

    def tell(self, done: float) -> None:
        """Note what is done; it never goes back."""
        self._done = min(1.0, max(self._done, done))
        now = time.monotonic()
        if self._progress is not None and (done >= 1 or now - self._told >= EVERY_SECONDS):
            self._told = now
            if self._progress(self._done):
                raise Stopped

    def part(self, start: float, stop: float) -> Tick:
        """The same for one part of the work, which runs from `start` to `stop` of the whole."""
        return lambda done: self.tell(start + (stop - start) * done)
