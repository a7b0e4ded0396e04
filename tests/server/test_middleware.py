"""Uploads on their way: so many bytes at once, and not too slowly; small ones always find room, also where others stall,
or the disk is full. And the headers of every answer."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from server import middleware, sessions
from server.middleware import Gate
from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import Started
from tests.server.sending import Sender

MEGABYTE = 2**20
LIMIT = 1024


class Server:
    """An application behind a gate that takes 200 MB at once, and 10 MB of small bodies beside them."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.most: list[int] = []  # bytes that were let in together
        self.app = Starlette(
            routes=[Route("/upload_file/somebody/1", self.take, methods=["PUT"])],
            middleware=[Middleware(middleware.limit_uploads, gate)],
        )

    async def take(self, request: Request) -> PlainTextResponse:
        async for _ in request.stream():
            self.most.append(sum(body.come for body in self.gate._bodies))
        return PlainTextResponse("taken")

    async def put(
        self, *pieces: bytes, length: int | None, then: asyncio.Event | None = None, pause: float = 0.0
    ) -> int:
        """Put a body in pieces, with a pause before each, the last of them after ``then``: the status of the answer."""
        name = (b"transfer-encoding", b"chunked") if length is None else (b"content-length", b"%d" % length)
        scope = {
            "type": "http",
            "method": "PUT",
            "path": "/upload_file/somebody/1",
            "root_path": "",
            "query_string": b"",
            "headers": [name],
        }
        left, answers = list(pieces), []

        async def receive() -> dict[str, Any]:
            if len(left) <= 1 and then is not None:
                await then.wait()
            await asyncio.sleep(pause)
            if not left:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

        async def send(message: dict[str, Any]) -> None:
            answers.append(message)

        with suppress(Exception):  # of a body that was cut off by its sender
            await self.app(scope, receive, send)
        return answers[0]["status"] if answers else 0


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(middleware, "_PATIENCE", 0.3)
    monkeypatch.setattr(middleware, "_LOOK", 0.02)
    return Server(Gate(200 * MEGABYTE, 10 * MEGABYTE))


def test_a_body_that_finds_no_room_is_refused_and_small_ones_let_in_as_long_as_they_are_few(server):
    async def all_of_them() -> None:
        then = asyncio.Event()

        def held(size: int) -> asyncio.Task[int]:
            return asyncio.create_task(server.put(bytes(size), b"b", length=size + 1, then=then))

        large = [held(119 * MEGABYTE), held(70 * MEGABYTE)]
        await asyncio.sleep(0.05)
        assert await server.put(bytes(20 * MEGABYTE), length=20 * MEGABYTE) == 503
        small = [held(2 * MEGABYTE) for _ in range(10)]
        await asyncio.sleep(0.05)
        assert await server.put(bytes(2 * MEGABYTE), length=2 * MEGABYTE) == 503
        then.set()
        assert await asyncio.gather(*large, *small) == [200] * 12
        assert await server.put(bytes(150 * MEGABYTE), length=150 * MEGABYTE) == 200

    finish(all_of_them())
    assert server.gate.coming == 0


def test_way_is_made_for_an_upload_that_has_come_before_it_is_held(server):
    ways: list[tuple[str, int, int]] = []
    server.gate.make_way = lambda *about: ways.append(about)
    another = middleware._Body(7, come=7, has_come=True)  # which is being held
    server.gate._bodies.add(another)
    assert finish(server.put(b"abc", b"de", length=5)) == 200
    assert ways == [("somebody", 5, 12)]


def test_who_waits_gets_in_when_another_ends_or_is_cut_off(server):
    async def both() -> None:
        then = asyncio.Event()
        # its sender leaves
        first = asyncio.create_task(server.put(bytes(150 * MEGABYTE), b"", length=200 * MEGABYTE, then=then))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(server.put(bytes(100 * MEGABYTE), length=100 * MEGABYTE))
        await asyncio.sleep(0.1)
        assert not second.done()
        then.set()
        assert await second == 200
        await first

    finish(both())
    assert server.gate.coming == 0


def test_who_stalls_makes_way_for_who_waits(server, monkeypatch):
    monkeypatch.setattr(middleware, "_PATIENCE", 10.0)
    monkeypatch.setattr(middleware, "_LAP", 0.1)

    async def both() -> None:
        stalled = [
            asyncio.create_task(
                server.put(bytes(size * MEGABYTE), b"", length=(size + 20) * MEGABYTE, then=asyncio.Event())
            )
            for size in (20, 100)
        ]
        await asyncio.sleep(0.05)
        assert await server.put(bytes(150 * MEGABYTE), length=150 * MEGABYTE) == 200
        assert stalled[1].done()
        assert await stalled[1] == 408
        assert not stalled[0].done()  # there was room beside it
        stalled[0].cancel()

    finish(both())


def test_all_that_go_on_come_to_their_end_whatever_their_sizes(server, monkeypatch):
    """Each takes what others would need; none waits for one that waits for it."""
    monkeypatch.setattr(middleware, "_PATIENCE", 60.0)
    monkeypatch.setattr(middleware, "_LOOK", 0.001)
    dice = random.Random(1)

    async def all_of_them() -> None:
        sizes = [dice.randrange(4, 190) for _ in range(8)]
        bodies = [
            server.put(*[bytes(MEGABYTE)] * size, length=size * MEGABYTE, pause=dice.random() / 1000)
            for size in sizes
        ]
        assert await asyncio.gather(*bodies) == [200] * 8

    finish(all_of_them())
    assert max(server.most) <= 200 * MEGABYTE


@pytest.mark.parametrize(("length", "counted"), [(None, 200), (5000 * MEGABYTE, 200), (30 * MEGABYTE, 30)])
def test_a_body_counts_as_much_as_may_come(length, counted, server):
    async def one() -> None:
        then = asyncio.Event()
        held = asyncio.create_task(server.put(b"a", b"b", length=length, then=then))
        await asyncio.sleep(0.05)
        assert server.gate.coming == counted * MEGABYTE
        then.set()
        assert await held == 200

    finish(one())


def test_a_body_that_comes_too_slowly_is_cut(server, monkeypatch):
    monkeypatch.setattr(middleware, "_GRACE", 0.2)
    monkeypatch.setattr(middleware, "_LEAST_RATE", 1000)

    async def one() -> None:
        assert await server.put(b"abc", b"d", length=100, then=asyncio.Event()) == 408
        then = asyncio.Event()
        fast = asyncio.create_task(server.put(b"a" * 500, b"d", length=501, then=then))
        await asyncio.sleep(0.5)  # within what half a thousand bytes may take
        then.set()
        assert await fast == 200

    finish(one())
    assert server.gate.coming == 0


def test_large_work_leaves_room_for_what_is_on_its_way(monkeypatch):
    monkeypatch.setattr(sessions, "_PATIENCE", 0.0)
    monkeypatch.setattr(sessions, "limit", lambda: 1024 * MEGABYTE)
    monkeypatch.setattr(sessions, "resident", lambda: 300 * MEGABYTE)
    gate = Gate(200 * MEGABYTE, 0)
    monkeypatch.setattr(sessions, "GATE", gate)
    with sessions.room(500 * MEGABYTE):
        pass
    gate._bodies.add(middleware._Body(200 * MEGABYTE))
    with pytest.raises(sessions.NoRoom), sessions.room(500 * MEGABYTE):
        pass


COUNTS = b"category,count\nyes,640\nno,360\n"
# A row that is right, however long the file is.
ROW = b"yes\n" * (MEGABYTE // 4)


async def whole(visitor: Visitor, megabytes: int) -> int:
    """Upload so much; the status of the answer."""
    sender = await Sender.begin(visitor, megabytes * MEGABYTE, "whole")
    try:
        for _ in range(megabytes):
            await sender.send(ROW)
        return await sender.end()
    except ConnectionError:
        return 0
    finally:
        await sender.leave()


def test_clients_that_announce_much_and_send_nothing_keep_nobody_out(app: Started) -> None:
    async def visit() -> None:
        async with AsyncExitStack() as after:
            idle = [await after.enter_async_context(Visitor.at(app.address)) for _ in range(2)]
            for visitor in idle:
                await visitor.open("your_reports", "k=12")
                sender = await Sender.begin(visitor, 199 * MEGABYTE)
                after.push_async_callback(sender.leave)
            begin = time.monotonic()
            async with Visitor.at(app.address) as other:
                await other.open("your_reports", "k=12")
                assert await whole(other, 20) == 204
            assert time.monotonic() - begin < 15  # it was 20 seconds and a refusal

    finish(visit())


def test_an_upload_that_its_sender_cuts_off_harms_nobody_and_fills_no_log(app: Started) -> None:
    async def visit() -> None:
        async with Visitor.at(app.address) as visitor:
            await visitor.open("your_reports", "k=12")
            sender = await Sender.begin(visitor, 20 * MEGABYTE, "cut")
            await sender.send(ROW)
            await sender.leave()
            assert await whole(visitor, 2) == 204

    finish(visit())
    assert "Traceback" not in app.log.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limit on the files of another process")
def test_where_the_disk_is_full_the_visitor_reads_a_sentence_and_keeps_what_he_had(app: Started) -> None:
    import resource

    process = app.process.pid
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)

    async def visit() -> None:
        async with Visitor.at(app.address) as visitor:
            await visitor.open("your_reports", "k=12")
            await visitor.upload("Report files", "small.csv", COUNTS)
            assert not visitor.said or "disk" not in " ".join(visitor.said)
            resource.prlimit(process, resource.RLIMIT_FSIZE, (2 * MEGABYTE, before[1]))
            assert await whole(visitor, 20) == 507  # it was 500, or no answer at all
            sentence = "no space on its disk"
            await visitor._until(lambda: any(sentence in text for text in visitor.said), 20)
            # A file that needs no disk is taken, and the sentence is gone.
            visitor.said.clear()
            await visitor.upload("Report files", "small.csv", COUNTS)
            assert not any(sentence in text for text in visitor.said)
            assert any("1,000" in text for text in visitor.said), visitor.said  # understood
            assert not visitor.errors

    try:
        finish(visit())
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)
    assert "Traceback" not in app.log.read_text("utf-8")
