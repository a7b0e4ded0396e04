"""What every request passes before Streamlit: who may connect, how many bytes of uploads the server takes at once, how
slowly they may come, what its visitor is told when one is not kept; and the headers of every answer.

Streamlit 1.67 takes a body before it asks anybody: into a temporary file, which may lie in memory, and at its end whole
into memory. It has no setting for all bodies together.

Who refuses what, and how:

- The page of another site that connects under a name of its own: 1008, `refuse_misled`. Under a name that is not in
  ``server.allowedHosts``, where that is set: Streamlit.
- An upload: 408 too slow, 503 no memory for it in 20 seconds, 507 no space on the disk, `Gate`, and its page says so; 413
  more than ``maxUploadSize`` of `.streamlit/config.toml`, Streamlit, in its widget.
- A phone, in a sentence of `server/room/routes.py` or `store.py`: 400 no report, too long, or sent from another site's
  page; 404 no such room; 409 closed, over or full; 429 too often; 503 the database is away.
- Work on a page, in a sentence there: `NoRoom` of `server/sessions.py`, no memory for it in 20 seconds, or a file that
  was let go of for others; `Lost` of `server/jobs.py`, too much time or memory once it runs, or a worker that died (of
  a file told as too much to read, `pages/_ui/session_files.py`); a sweep while 20 wait or run, `SweepQueue` of
  `server/sweeps.py`; one room or question too many, `Refused` of `server/room/store.py`.
- What a person enters: its range, and the most that reading a file may take, are in `rr_core/limits.py`; what is wrong
  with a value is said in `rr_core/parameters.py` and `rr_core/reports/designs.py`, with a file in `rr_core/io/`.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.components.v1 import declare_component
from streamlit.runtime.scriptrunner import get_script_run_ctx

SMALL = 9 * 2**18  # bytes of a body: a file of two megabytes and what comes around it
_PATIENCE, _LOOK = 20.0, 0.2  # seconds that a body waits for others, and between two looks
_GRACE, _LEAST_RATE = 30.0, 2**15  # seconds, and bytes per second from then on
# A body that brings less than so many bytes in so many seconds is cut where another waits for what it takes.
_LAP_BYTES, _LAP = 2**20, 4.0
_LONGEST_REST = 10.0  # seconds in which the rest of a body that is not kept may come
_BUSY = "The server was taking the uploads of others: choose your file again in a minute."
_SLOW = "Your file came too slowly and was not kept: choose it again, or a smaller one."
_FULL = (
    "The server has no space on its disk for your file, which was not kept: tell who runs it, or choose a file of less "
    "than 1 MB."
)
# What stands at each place for files: they say that nothing is kept.
TEMPORARY = (
    "While a file of more than 1 MB arrives, the server keeps it in a temporary file without a name, gone when the "
    "upload is complete."
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# As in docs/nginx.conf.example, but that another site may show the app inside itself.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline' blob:; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
        "form-action 'none'"
    ),
}


@dataclass(eq=False)
class _Body:
    """A body on its way: bytes that may come, that came, and that came in this lap; when it began, later by the time
    that it waited for others; how long this lap waited for its sender before the wait that goes on, if one does, since
    when, and what ends it; and why it was not kept."""

    whole: int
    come: int = 0
    has_come: bool = False
    began: float = field(default_factory=time.monotonic)
    lap: int = 0
    waited: float = 0.0
    since: float = 0.0
    wait: asyncio.Timeout | None = None
    refusal: str = ""

    @property
    def is_small(self) -> bool:
        return self.whole <= SMALL

    def is_idle(self) -> bool:
        return self.wait is not None and self.waited + time.monotonic() - self.since > _LAP


@dataclass(eq=False)
class Gate:
    """Reads the bodies of requests only as far as there is memory for them. Room is granted so that the bodies already
    received in part can be completed one by one; the announced size of a body reserves none.

    Attributes:
        most: bytes of all bodies together; 0 where they have no limit.
        kept: further bytes, reserved for small bodies.
        tell: called with a session and a sentence where its upload is not kept, and with an empty one where it begins.
        make_way: called with a session and the size of its upload when all of it has come and is about to be held, and
            with the size of all uploads that are about to be held.
    """

    most: int = 0
    kept: int = 0
    tell: Callable[[str, str], None] = lambda session, sentence: None
    make_way: Callable[[str, int, int], None] = lambda session, size, together: None
    _bodies: set[_Body] = field(default_factory=set)

    @property
    def coming(self) -> int:
        """Bytes of the bodies that are not at their end, as announced."""
        return min(self.most, sum(body.whole for body in self._bodies))

    async def serve(self, app: App, scope: Message, receive: Receive, send: Send) -> None:
        """Have a request served, its body read as there is room for it; where it is not kept, its visitor is told."""
        size = min(_size_of_body(scope), self.most)
        if not size:
            await app(scope, receive, send)
            return
        body, session = _Body(size), _session_of(scope)
        self._bodies.add(body)
        self.tell(session, "")
        try:
            await app(scope, self._reading(body, receive, session), send)
        except ClientDisconnect:
            pass  # there is nobody to tell, and it would be a page of the log for each
        except ConnectionError:
            raise
        except OSError as error:
            logging.getLogger(__name__).error("an upload could not be written: %s", error)
            body.refusal = _FULL
            await _refuse_for_want_of_space(receive, send)
        finally:
            self._bodies.discard(body)
            if body.refusal:
                self.tell(session, body.refusal)

    def _reading(self, body: _Body, receive: Receive, session: str) -> Receive:
        """The same body, cut where it comes too slowly or finds no room for too long."""
        ended = False

        async def received() -> Message:
            nonlocal ended
            left = None if ended else body.began + _GRACE + body.come / _LEAST_RATE - time.monotonic()
            body.since = time.monotonic()
            try:
                async with asyncio.timeout(left) as body.wait:
                    message = await receive()
            except TimeoutError:
                body.refusal = _SLOW
                raise HTTPException(408, _SLOW, {"Connection": "close"}) from None
            finally:
                body.wait = None
            came = len(message.get("body", b""))
            body.waited += time.monotonic() - body.since
            body.lap += came
            if body.lap >= _LAP_BYTES:
                body.lap, body.waited = 0, 0.0
            if not await self._has_room(body, came):
                body.refusal = _BUSY
                raise HTTPException(503, _BUSY, {"Retry-After": "60"})
            ended = not message.get("more_body", False)
            if ended and session:
                body.has_come = True
                self.make_way(session, body.come, sum(one.come for one in self._bodies if one.has_come))
            return message

        return received

    async def _has_room(self, body: _Body, came: int) -> bool:
        """Count what came when there is room for it; whether there was soon enough."""
        begin = time.monotonic()
        while not self._count(body, came):
            if time.monotonic() - begin > _PATIENCE:
                return False
            idle = max((one for one in self._bodies if one.is_idle()), key=lambda one: one.come, default=None)
            if idle is not None and idle.wait is not None and idle.come:
                idle.wait.reschedule(0.0)
            await asyncio.sleep(_LOOK)
        body.began += time.monotonic() - begin
        return True

    def _count(self, body: _Body, came: int) -> bool:
        body.come += came
        large = [one for one in self._bodies if not one.is_small]
        if _can_end(self._bodies, self.most + self.kept) and (body.is_small or _can_end(large, self.most)):
            return True
        body.come -= came
        return False


def _can_end(bodies: Iterable[_Body], most: int) -> bool:
    """Whether these can come to their end one after the other, where what has come leaves room when its body ends."""
    left = sorted(bodies, key=lambda body: body.whole - body.come)
    free = most - sum(body.come for body in left)
    for body in left:
        if free < max(0, body.whole - body.come):
            return False
        free += body.come
    return True


def _is_misled(scope: Message) -> bool:
    """Whether a page of another site connects, whose name was made to lead to this machine (DNS rebinding): a browser
    here, past any proxy, under a name that is not this machine's. Streamlit's ``server.allowedHosts`` stops that for
    known names, and would keep out every host that is not in its list. A proxy adds a header that starts with "X-", or
    Forwarded or Via; a page cannot have its browser add one to a WebSocket."""
    if scope["type"] != "websocket" or st.get_option("server.allowedHosts"):
        return False
    headers = dict(scope["headers"])
    if any(name.startswith(b"x-") or name in (b"forwarded", b"via") for name in headers):
        return False
    name = (urlsplit(f"//{headers.get(b'host', b'').decode('latin-1')}").hostname or "").rstrip(".")
    here = socket.gethostname().lower()
    client = _address((scope.get("client") or ("",))[0].removeprefix("::ffff:"))
    if client is None or not client.is_loopback or _address(name) is not None:
        return False
    return name not in ("", "localhost", here, f"{here}.local") and not name.endswith(".localhost")


def _address(name: str) -> IPv4Address | IPv6Address | None:
    """The name as an address; None where it is none."""
    with suppress(ValueError):
        return ip_address(name)
    return None


def _size_of_body(scope: Message) -> int:
    """Bytes, as the request says; the most that a file may have where it does not say."""
    if scope["type"] != "http":
        return 0
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return int(st.get_option("server.maxUploadSize")) * 2**20
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


def _session_of(scope: Message) -> str:
    """Whose upload this is: ``…/upload_file/session/file``."""
    parts = str(scope["path"]).split("/")
    return parts[-2] if len(parts) > 2 and parts[-3] == "upload_file" else ""


async def _refuse_for_want_of_space(receive: Receive, send: Send) -> None:
    """Read a body to its end, for who is answered before may never read the answer; then answer 507."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST_REST):
            while (await receive()).get("more_body", False):
                pass
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 507, "headers": headers})
    await send({"type": "http.response.body", "body": _FULL.encode()})


# The one of this server. How much it takes, and whom it tells, is said by what knows the memory and the sessions.
GATE = Gate()


def limit_uploads(app: App, gate: Gate) -> App:
    """Middleware: every body passes the gate."""
    return partial(gate.serve, app)


def refuse_misled(app: App) -> App:
    """Middleware: no page of another site connects by way of its own name."""

    async def served(scope: Message, receive: Receive, send: Send) -> None:
        if _is_misled(scope):
            await send({"type": "websocket.close", "code": 1008})
        else:
            await app(scope, receive, send)

    return served


def add_headers(app: App) -> App:
    """Middleware: every answer has `HEADERS`."""
    more = [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]

    async def served(scope: Message, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        await app(scope, receive, sent if scope["type"] == "http" else send)

    return served


# The first is the outermost.
MIDDLEWARE = [Middleware(add_headers), Middleware(refuse_misled), Middleware(limit_uploads, GATE)]


# Plotly's script for the main figure of a page, from the installed package. Its address is that of a file of a component,
# so that Streamlit serves it however the app was started, but compresses it anew for each visitor and lets no browser
# keep it. Under `app.py` `PLOTLY_ROUTE` answers at the same address instead: compressed once, kept by the browser until
# the version of the package changes.
_PLOTLY = files("plotly") / "package_data"
_SCRIPT = "plotly.min.js"
_PLOTLY_PATH = f"component/{__name__}.plotly/{_SCRIPT}"
_STAYS = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}

# Relative to the address of any page.
PLOTLY_ADDRESS = f"{_PLOTLY_PATH}?v={version('plotly')}"

# Outside a script Streamlit would only warn, and forget it.
if get_script_run_ctx(suppress_warning=True) is not None:
    declare_component("plotly", path=str(_PLOTLY))


@cache
def plotly_compressed() -> bytes:
    """The script compressed by gzip, about 1.5 MB."""
    return gzip.compress((_PLOTLY / _SCRIPT).read_bytes(), 6)


async def _answer(request: Request) -> Response:
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        body, encoding = await asyncio.to_thread(plotly_compressed), "gzip"
    else:
        body, encoding = await asyncio.to_thread((_PLOTLY / _SCRIPT).read_bytes), "identity"
    return Response(body, media_type="text/javascript", headers={**_STAYS, "Content-Encoding": encoding})


# Routes of an application do not know `server.baseUrlPath`: whatever stands before the address is taken for it.
PLOTLY_ROUTE = Route(f"/{{before:path}}{_PLOTLY_PATH}", _answer)
