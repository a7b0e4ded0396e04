"""What reading one upload may cost: bytes decoded and seconds, counted in one place for all readers."""

from __future__ import annotations

import time

from rr_core.io.decoding import Tick, UnreadableFile, ignore, megabytes
from rr_core.limits import READ_BYTES_MAX, READ_SECONDS_MAX


class Budget:
    """Counts the bytes decoded and the time since it was made.

    A few bytes of a compressed file can stand for any number of values: only what comes out of them tells.
    """

    def __init__(self, size: int = READ_BYTES_MAX, seconds: float = READ_SECONDS_MAX) -> None:
        self._size, self._left = size, size
        self._seconds, self._end = seconds, time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether its time is over."""
        return time.monotonic() > self._end

    def heard(self, tick: Tick = ignore) -> Tick:
        """A progress callback that spends time of the budget before it calls `tick`."""

        def both(done: float) -> None:
            self.spend()
            tick(done)

        return both

    def spend(self, size: int = 0) -> None:
        """Count so many more decoded bytes.

        Raises
        ------
        UnreadableFile
            More bytes than the budget holds, or its time is over.
        """
        self._left -= size
        if self._left < 0:
            raise UnreadableFile(
                f"The values of the file unpack to more than {megabytes(self._size)}. Count them first and upload"
                " one row per category with its count."
            )
        if self.is_over:
            raise UnreadableFile(
                f"Reading the file takes more than {self._seconds:.0f} seconds. Count the values first and upload"
                " one row per category with its count."
            )
