"""Uploads that are on their way: how many bytes of them the server takes at once, and how slowly they may come.

Streamlit 1.67 takes a body before it asks anybody: into a temporary file, which may lie in memory, and at its end whole
into memory. It has no setting for all bodies together, and a page has no public way to the application that serves it:
`Gate.install` wraps what any Starlette application is called by. Without Starlette, uploads come as Streamlit lets them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

SMALL = 9 * 2**18  # bytes of a body: a file of two megabytes and what comes around it
_PATIENCE, _LOOK = 20.0, 0.2  # seconds that a body waits for others, and between two looks
_GRACE, _LEAST_RATE = 30.0, 2**15  # seconds, and bytes per second from then on
_BUSY = "This server is taking the uploads of others: try again in a minute."
_SLOW = "The upload came too slowly."
# What stands at each place for files: they say that nothing is kept.
TEMPORARY = (
    "While a file of more than 1 MB arrives, the server keeps it in a temporary file without a name, gone when the "
    "upload is complete."
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(eq=False)
class Gate:
    """Lets a body in when there is room for all of it beside the others that are on their way.

    Attributes:
        most: bytes of all bodies together.
        kept: bytes beside those that only small bodies may take.
    """

    most: int
    kept: int
    _coming: dict[object, int] = field(default_factory=dict)

    @property
    def coming(self) -> int:
        """Bytes of the bodies that were let in and are not at their end."""
        return sum(list(self._coming.values()))

    def install(self) -> None:
        """Have all requests to the web server of this process pass."""
        with suppress(ImportError):
            from starlette.applications import Starlette

            serve = Starlette.__call__

            async def guarded(app: Starlette, scope: Message, receive: Receive, send: Send) -> None:
                async def inner(receive: Receive) -> None:
                    await serve(app, scope, receive, send)

                await self.serve(inner, scope, receive, send)

            Starlette.__call__ = guarded  # type: ignore[assignment, method-assign]

    async def serve(
        self, app: Callable[[Receive], Awaitable[None]], scope: Message, receive: Receive, send: Send
    ) -> None:
        """Have a request served; one with a body when it is let in, and answered 503 when others keep it out for too
        long."""
        size = min(_size_of_body(scope), self.most)
        if not size:
            await app(receive)
            return
        mine = object()
        end = time.monotonic() + _PATIENCE
        try:
            while not self._let_in(mine, size):
                if time.monotonic() > end:
                    await _refuse(send)
                    return
                await asyncio.sleep(_LOOK)
            await app(_not_too_slowly(receive))
        finally:
            self._coming.pop(mine, None)

    def _let_in(self, key: object, size: int) -> bool:
        if self.coming + size > self.most + (self.kept if size <= SMALL else 0):
            return False
        self._coming[key] = size
        return True


def _size_of_body(scope: Message) -> int:
    """Bytes, as the request says; the most that a file may have where it does not say."""
    if scope["type"] != "http":
        return 0
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return int(st.get_option("server.maxUploadSize")) * 2**20
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


def _not_too_slowly(receive: Receive) -> Receive:
    """The same body, cut where it comes too slowly: it keeps others out."""
    from starlette.exceptions import HTTPException

    begin, come, ended = time.monotonic(), 0, False

    async def received() -> Message:
        nonlocal come, ended
        left = None if ended else begin + _GRACE + come / _LEAST_RATE - time.monotonic()
        try:
            async with asyncio.timeout(left):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, _SLOW, {"Connection": "close"}) from None
        come += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        return message

    return received


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"retry-after", b"60")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": _BUSY.encode()})
