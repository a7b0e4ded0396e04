"""What reading one upload may cost: bytes, rows and seconds, counted in one place for all readers, and the one way from
an upload to its text or Parquet."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from rr_core.io import decoding
from rr_core.io.decoding import COUNT_FIRST, Tick, UnreadableFile, decode, ignore, megabytes, unpack
from rr_core.limits import READ_BYTES_MAX, READ_ROWS_MAX, READ_SECONDS_MAX


class Budget:
    """Counts the bytes decoded, the lines of text and the time since it was made.

    A few bytes of a compressed file can stand for any number of values: only what comes out of them tells. `advice` is
    what to do with a file that takes more.
    """

    def __init__(
        self,
        size: int = READ_BYTES_MAX,
        rows: int = READ_ROWS_MAX,
        seconds: float = READ_SECONDS_MAX,
        advice: str = COUNT_FIRST,
    ) -> None:
        self._size, self._left = size, size
        self._rows, self._rows_left = rows, rows
        self._seconds, self._end = seconds, time.monotonic() + seconds
        self.advice = advice

    @property
    def text_size(self) -> int:
        """The most bytes that an upload may unpack to."""
        return min(decoding.MAX_UNPACKED_BYTES, self._left)

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

    def spend(self, size: int = 0, rows: int = 0) -> None:
        """Count so many more decoded bytes, and rows.

        Raises
        ------
        UnreadableFile
            More bytes or rows than the budget holds, or its time is over.
        """
        self._left -= size
        self._rows_left -= rows
        if self._left < 0:
            raise UnreadableFile(
                f"The values of the file unpack to more than {megabytes(self._size)}. {self.advice}"
            )
        if self._rows_left < 0:
            raise UnreadableFile(f"The file has more than {self._rows:,} lines. {self.advice}")
        if self.is_over:
            raise UnreadableFile(
                f"Reading the file takes more than {self._seconds:.0f} seconds. {self.advice}"
            )


@dataclass(frozen=True)
class Decoded:
    """An upload that was unpacked: Parquet, or text in UTF-8 with ``\n`` line ends and the encoding that it had."""

    data: bytes
    kind: Literal["text", "parquet"]
    compression: Literal["gzip"] | None
    encoding: str | None


def decoded(data: bytes, name: str, budget: Budget, tick: Tick = ignore) -> Decoded:
    """Unpack and decode an upload within a budget. Every reader gets its text from here.

    Raises
    ------
    UnreadableFile
        As in `decoding.unpack` and `decoding.decode`, or for more bytes, rows or seconds than the budget holds.
    """
    content = unpack(data, name, budget.text_size, budget.advice, budget.heard(lambda done: tick(done / 2)))
    if content.kind == "parquet":
        return Decoded(content.data, "parquet", content.compression, None)
    compression = content.compression
    text, encoding = decode(content.data, budget.heard(lambda done: tick((1 + done) / 2)))
    del content  # before more is made of the text
    budget.spend(len(text), text.count(b"\n"))
    return Decoded(text, "text", compression, encoding)
