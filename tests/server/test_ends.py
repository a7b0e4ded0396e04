"""A server that is told to end, ends soon, whatever its visitors do."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import ROOT, Started, started
from tests.server.sending import MEGABYTE, Sender

# Seconds that it may take on a busy machine; alone it takes two.
SOON = 10.0
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")


def ends(server: Started) -> float:
    """Tell a server to end, as Ctrl-C does: seconds until it has, with all that it started."""
    family = [server.process, *psutil.Process(server.process.pid).children(recursive=True)]
    begin = time.monotonic()
    server.process.send_signal(signal.SIGINT)
    server.process.wait(60)
    psutil.wait_procs(family[1:], timeout=60)
    return time.monotonic() - begin


async def stalled_upload(visitor: Visitor, after: AsyncExitStack) -> None:
    sender = await Sender.begin(visitor, 100 * MEGABYTE)
    after.push_async_callback(sender.leave)
    await sender.send(bytes(3 * MEGABYTE))


async def unread_page(visitor: Visitor, after: AsyncExitStack) -> None:
    """A large answer that nobody reads."""
    where = urlsplit(visitor.address)
    unread = after.enter_context(socket.socket())
    unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    await asyncio.to_thread(unread.connect, (where.hostname, where.port))
    largest = max((path.stat().st_size, path) for path in static_files())[1]
    name = largest.relative_to(largest.parents[2])
    unread.sendall(f"GET /{name} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
    await asyncio.sleep(0.5)


def static_files() -> list[Path]:
    import streamlit

    return list((Path(streamlit.__file__).parent / "static" / "static" / "js").glob("*.js"))


async def half_a_request(visitor: Visitor, after: AsyncExitStack) -> None:
    where = urlsplit(visitor.address)
    half = after.enter_context(socket.create_connection((where.hostname or "", where.port or 0)))
    half.sendall(b"GET / HTTP/1.1\r\nHost: ")


async def long_work(visitor: Visitor, after: AsyncExitStack) -> None:
    await visitor.open("estimators", "dist=zipf&s=1.3&k=1500000&eps=8&n=100000000&part=repeat")
    await visitor.press("Repeat", wait=3)


async def sweep(visitor: Visitor, after: AsyncExitStack) -> None:
    await visitor.open("experiments", "dist=zipf&s=1.3&k=1500000&eps=1&n=1000000000&part=own")
    await visitor.press("Run", wait=3)


@pytest.mark.slow
def test_it_ends_soon_whatever_its_visitors_do(tmp_path: Path) -> None:
    async def visit(server: Started) -> float:
        async with AsyncExitStack() as after:

            async def begin(hold: Callable[[Visitor, AsyncExitStack], Awaitable[None]]) -> None:
                visitor = await after.enter_async_context(Visitor.at(server.address))
                await visitor.open("your_reports", "k=12")
                await hold(visitor, after)

            await asyncio.gather(*map(begin, (stalled_upload, unread_page, half_a_request, long_work, sweep)))
            assert server.process.poll() is None
            return await asyncio.to_thread(ends, server)

    with started("app.py", ROOT, tmp_path) as server:
        try:
            assert finish(visit(server)) < SOON
        except subprocess.TimeoutExpired:
            pytest.fail("it did not end within a minute")
        log = server.log.read_text("utf-8")
        assert "Traceback" not in log, log
