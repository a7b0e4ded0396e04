"""What phones ask of a room: their page, what is asked now, and to keep a report.

Routes of an application know neither `server.baseUrlPath` nor Streamlit's checks of where a request comes from: these
take whatever stands before their address, and look for themselves at who asks, how often, and how much.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from ipaddress import IPv6Address, ip_address
from typing import Any, Literal, get_args

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage  # not limits.storage, which starts a thread for a request
from limits.aio.strategies import FixedWindowRateLimiter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, Router

from rr_core.confidence_sequence import anytime_intervals
from rr_core.estimators import inv_p
from server.room import store
from server.room.store import Bad, Broken, Closed, Question, Refused, Unknown

What = Literal["report", "guess"]

_LARGEST_BODY = 1024  # bytes
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")
_CODE = re.compile(rf"[{store.LETTERS}]{{{store.CODE_LENGTH}}}")
_LARGEST_NUMBER = 10**6
# In seconds, until a phone asks again: so that no more than a hundred phones ask in a second, as far as that goes.
_SOONEST, _LATEST, _ASKING = 4, 30, 100
# From which step of a reveal phones have the result, which is InvP: what comes before is for all to look at together.
ESTIMATED = 4
_FRESH = 0.5  # seconds that phones are told the same
_MOST_KNOWN = 10_000  # addresses with the rooms that they have found, and rooms whose answer is held
# A class is often one address, and each phone asks every few seconds: 5,000 of them 75,000 times a minute.
_LOOKS = parse("100000/minute")
_SENT_BY_NETWORK, _SENT_TO_ROOM = parse("6000/minute"), parse("12000/minute")
_WRONG_CODES = parse("20/minute")
_TOO_FAST = "Too many requests come from your network: wait a minute, then try again."
_TOO_MANY_CODES = "Too many wrong codes came from your network: wait a minute, then look at the code again."


class _TooFast(Refused):
    """Requests come faster than they are served."""


_STATUS = {Unknown: 404, Closed: 409, Bad: 400, Broken: 503, _TooFast: 429}


@dataclass(eq=False)
class Desk:
    """Answers phones, and remembers how often each network has asked: what phones of a room were told last, networks
    that have found one, so that no stranger's wrong codes lock them out, and the codes that others ask for right
    now."""

    told: dict[str, tuple[float, asyncio.Task[bytes]]] = field(default_factory=dict)
    found: dict[tuple[str, str], None] = field(default_factory=dict)
    seeking: dict[str, Counter[str]] = field(default_factory=dict)
    _limiter: FixedWindowRateLimiter = field(default_factory=lambda: FixedWindowRateLimiter(MemoryStorage()))

    async def now(self, network: str, code: str) -> bytes:
        """What a room's phones are told now, as JSON; where it is unknown, the network has one wrong code more."""
        await self._count(_LOOKS, network)
        await self._find(network, code)
        return await self._now(code)

    async def keep(self, network: str, code: str, what: What, body: bytes) -> None:
        """Keep a report or a guess that a phone sent."""
        await self._count(_SENT_BY_NETWORK, network)
        await self._find(network, code)
        number, value, token = _sent(body, what)
        await self._count(_SENT_TO_ROOM, code)
        held = await _store()
        keep = held.report if what == "report" else held.guess
        await asyncio.wrap_future(keep(code, number, value, token))

    async def _now(self, code: str) -> bytes:
        """What a room's phones are told: all who ask while it is read wait for the same answer."""
        held = self.told.get(code)
        if held is None or (held[1].done() and time.monotonic() - held[0] > _FRESH):
            held = time.monotonic(), asyncio.create_task(_read(code))
            _put(self.told, code, held)
        try:
            return await asyncio.shield(held[1])
        except Refused:
            if self.told.get(code) is held:
                del self.told[code]
            raise

    async def _find(self, network: str, code: str) -> None:
        """Refuse a network that guesses codes, one after the other or many at once, but for rooms that it has found."""
        if not _CODE.fullmatch(code):
            await self._count_wrong(network)
            raise Unknown(
                f"A room's code is {store.CODE_LENGTH} of the letters {store.LETTERS}: look at it again."
            )
        if (network, code) not in self.found:
            seeking = self.seeking.get(network, Counter())
            if not await self._limiter.test(_WRONG_CODES, network, cost=len({*seeking, code})):
                raise _TooFast(_TOO_MANY_CODES)
            seeking[code] += 1
            self.seeking[network] = seeking
            try:
                await self._now(code)
            except Unknown:
                await self._count_wrong(network)
                raise
            finally:
                seeking -= Counter((code,))
                if not seeking:
                    self.seeking.pop(network, None)
        _put(self.found, (network, code), None)

    async def _count_wrong(self, network: str) -> None:
        if not await self._limiter.hit(_WRONG_CODES, network):
            raise _TooFast(_TOO_MANY_CODES)

    async def _count(self, limit: RateLimitItem, whose: str) -> None:
        if not await self._limiter.hit(limit, whose):
            raise _TooFast(_TOO_FAST)


async def _read(code: str) -> bytes:
    held = await _store()
    return json.dumps(_told((await asyncio.wrap_future(held.room(code))).now), ensure_ascii=False).encode()


async def _store() -> store.Store:
    opened = store.opened()
    return await asyncio.to_thread(store.store) if opened is None else opened


def _put(held: dict[Any, Any], key: Any, value: Any) -> None:
    """Hold a value as the last one, and let go of the first one where there are too many."""
    held.pop(key, None)
    held[key] = value
    if len(held) > _MOST_KNOWN:
        held.pop(next(iter(held)))


def _told(question: Question) -> dict[str, Any]:
    """What phones are told of the question that is asked now."""
    told: dict[str, Any] = {
        "state": question.state,
        "question": question.number,
        "text": question.text,
        "answers": question.answers,
        "epsilon": question.epsilon,
        "open": question.is_open,
        "again": min(max(_SOONEST, question.n // _ASKING), _LATEST),
    }
    if question.step >= ESTIMATED:
        low, high = anytime_intervals(question.counts, question.mechanism)
        told["result"] = {
            "n": question.n,
            "shares": inv_p(question.counts, question.mechanism).tolist(),
            "low": low.clip(0, 1).tolist(),
            "high": high.clip(0, 1).tolist(),
        }
    return told


def _sent(body: bytes, what: What) -> tuple[int, int | str, str]:
    """Question, report or guess, and token that a request holds, and nothing else."""
    try:
        held = json.loads(body)
    except (ValueError, RecursionError):
        raise Bad(f"The {what} is no JSON.") from None
    if not isinstance(held, dict) or held.keys() != {"question", what, "token"}:
        raise Bad(f"A {what} comes with its question and a token, and nothing else.")
    number, value, token = held["question"], held[what], held["token"]
    if type(number) is not int or type(value) not in (int, str):
        raise Bad(f"The question and the {what} are whole numbers; a report may be one of the answers.")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise Bad("The token has 16 to 64 letters, digits, - and _.")
    # No database has a column for every whole number; none so large was asked for.
    return min(max(number, 0), _LARGEST_NUMBER), value, token


def _network(request: Request) -> str:
    """Whose requests are counted together: an address, or the part of one that a household has."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    # A socket for both kinds has IPv4's as IPv6's.
    return str(address.ipv4_mapped or int(address) >> 64)


def _check_sender(request: Request) -> None:
    """Refuse what a page of another site sends, and what is no JSON: a browser sends none elsewhere without asking."""
    headers = request.headers
    origin = headers.get("origin")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") or (
        origin is not None and origin.partition("://")[2] != headers.get("host")
    ):
        raise Bad("A report comes from the room's own page.")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Bad("A report is sent as application/json.")


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_BODY:
            raise Bad(f"A report has at most {_LARGEST_BODY} bytes.")
    return body


@cache
def phone_page() -> str:
    """The page that phones load."""
    return files(__package__).joinpath("phone.html").read_text(encoding="utf-8")


_KEEP_NOTHING = {"Cache-Control": "no-store"}
Answer = Callable[[Request], Awaitable[Response]]


def _headers(refused: Refused) -> dict[str, str]:
    return _KEEP_NOTHING | ({"Retry-After": "60"} if isinstance(refused, _TooFast) else {})


def _refusing(answer: Answer) -> Answer:
    """An answer that says in a sentence why it is none."""

    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except ClientDisconnect:
            return Response(status_code=400)  # there is nobody to tell
        except Refused as refused:
            return JSONResponse({"error": f"{refused}"}, _STATUS[type(refused)], _headers(refused))

    return answered


def routes(desk: Desk) -> list[Route]:
    """The addresses that phones ask, answered by a desk."""

    def code(request: Request) -> str:
        return str(request.path_params["code"]).upper()

    async def page(request: Request) -> Response:
        """The page is the same for all rooms, and says itself that there is none of this code."""
        if "code" in request.path_params:
            try:
                await desk.now(_network(request), code(request))
            except Refused as refused:
                return HTMLResponse(phone_page(), _STATUS[type(refused)], _headers(refused))
        return HTMLResponse(phone_page(), headers=_KEEP_NOTHING)

    async def now(request: Request) -> Response:
        told = await desk.now(_network(request), code(request))
        return Response(told, media_type="application/json", headers=_KEEP_NOTHING)

    async def keep(what: What, request: Request) -> Response:
        _check_sender(request)
        await desk.keep(_network(request), code(request), what, await _body(request))
        return JSONResponse({"ok": True}, headers=_KEEP_NOTHING)

    return [
        # The longest first: a code may end in r, as the address of all rooms does.
        Route("/{before:path}r/{code}/now", _refusing(now)),
        Route("/{before:path}r/{code}", page),
        Route("/{before:path}r", page),
        *(
            Route(f"/{{before:path}}r/{{code}}/{what}", _refusing(partial(keep, what)), methods=["POST"])
            for what in get_args(What)
        ),
    ]


# Of this server.
ROUTER = Router(routes(Desk()))
