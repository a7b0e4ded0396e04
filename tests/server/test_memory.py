"""A server that many burden at once stays below its limit, and gives its memory back when they have left."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from server import sessions
from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import ROOT, started

MEGABYTE = 2**20
LIMIT = 1536
LARGEST = "dist=zipf&s=1.3&k=1500000&eps=8&n=100000000"
pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")


class Watched:
    """The most bytes that the server took so far, with all that it started; pages that they share count once."""

    def __init__(self, server: int) -> None:
        self.server, self.most, self.ended = psutil.Process(server), 0, threading.Event()
        self.thread = threading.Thread(target=self._look)

    def now(self) -> int:
        total = 0
        for one in (self.server, *self.server.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                total += one.memory_full_info().pss
        return total

    def at_rest(self) -> int:
        """Once it changes no more: workers are still loading what they need when the first page is there."""
        before, now = 0, self.now()
        while abs(now - before) > 2 * MEGABYTE:
            time.sleep(1)
            before, now = now, self.now()
        return now

    def _look(self) -> None:
        while not self.ended.wait(0.2):  # what pages are shared takes the system long to say
            self.most = max(self.most, self.now())


async def repeats(visitor: Visitor) -> None:
    await visitor.open("estimators", f"{LARGEST}&part=repeat")
    await visitor.press("Repeat", wait=6)


async def reports(visitor: Visitor) -> None:
    await visitor.open("your_reports", LARGEST)
    await visitor.press("Use simulated reports", wait=6)


async def sweeps(visitor: Visitor) -> None:
    await visitor.open("experiments", "sweep=own&ks=1500000&n=1000000")
    assert "Run" in visitor.widgets
    await visitor.press("Run", wait=6)


async def reads(visitor: Visitor) -> None:
    await visitor.open("your_reports", "k=12")
    rows = b"".join(b"category number %d,%d\n" % (i, 1 + i % 97) for i in range(500_000))
    await visitor.upload("Report files", "people.csv", b"category,count\n" + rows)


async def only_uploads(visitor: Visitor) -> None:
    await visitor.open("your_reports", "k=12")
    await visitor.upload("Report files", "large.csv", b"a,b\n" + b"x" * (120 * MEGABYTE))


@pytest.mark.slow
def test_a_server_stays_below_its_limit_and_gives_back_what_it_took(tmp_path, monkeypatch):
    monkeypatch.setenv(sessions.SETTING, str(LIMIT))

    async def visit(address: str, act: Callable[[Visitor], Awaitable[None]]) -> list[str]:
        async with Visitor.at(address) as visitor:
            await act(visitor)
            return visitor.errors

    async def all_at_once(address: str) -> list[list[str]]:
        acts = (sweeps, *[repeats] * 2, reports, reads, *[only_uploads] * 5)
        return await asyncio.gather(*(visit(address, act) for act in acts))

    with started("app.py", ROOT, tmp_path) as server:
        address, watched = server.address, Watched(server.process.pid)
        finish(visit(address, lambda visitor: visitor.open("estimators", "k=12")))
        most_left = watched.at_rest() + 275 * MEGABYTE
        watched.thread.start()
        errors = finish(all_at_once(address))
        end = time.monotonic() + 120  # 40 s on a machine with nothing else to do
        while (left := watched.now()) > most_left and time.monotonic() < end:
            time.sleep(1)
        watched.ended.set()
        watched.thread.join()
        assert not [one for few in errors for one in few]
        assert "not looked at" not in (tmp_path / "server.log").read_text("utf-8")
        assert watched.most < LIMIT * MEGABYTE
        assert left <= most_left
