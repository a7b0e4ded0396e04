"""A class answers from its phones while others are at work: ``python -m tests.benchmarks.room``.

1,000 phones join a room within one minute, beside 30 people who drag dials; with ``--phones 5000 --minutes 5`` more of
them. Each loads its page, asks what is asked, reports, and then asks every four seconds, as the page does.

Prints, each with its bound: the time from a tap on Send to the thanks; reports that were lost; the time from a move of a
dial to its picture, beside that without the room; the memory of the server before and after. A bound that is missed is
told, and fails nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import random
import resource
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from server.room.store import Store
from tests.benchmarks import visitor
from tests.benchmarks.page import CROWDED, quantile
from tests.benchmarks.soak import Memory
from tests.browser.server import ROOT, started

POLL = 4.0  # seconds that the last phones stay; between two polls of one at least
AFTER = 30.0  # seconds until memory is looked at
ANSWERS = ("Yes", "No")


@dataclass(eq=False)
class Phone:
    """A phone without a browser, in a room at ``http://127.0.0.1:8501/r/CODE``; it keeps its connection as one does."""

    room: str
    token: str
    _connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str = "", what: dict[str, Any] | None = None) -> tuple[int, bytes]:
        """The status and the body of an answer.

        Raises:
            OSError, EOFError: the server has ended.
        """
        was_open = self._connection is not None
        try:
            return await self._ask(path, what)
        except (OSError, EOFError):
            self.leave()
            if not was_open:
                raise
            return await self._ask(path, what)

    async def report(self, report: int) -> bool:
        """Whether it was thanked for its report to the first question."""
        status, body = await self.ask("/report", {"question": 1, "report": report, "token": self.token})
        return status == 200 and json.loads(body) == {"ok": True}

    def leave(self) -> None:
        if self._connection is not None:
            self._connection[1].transport.abort()
            self._connection = None

    async def _ask(self, path: str, what: dict[str, Any] | None) -> tuple[int, bytes]:
        url = urlsplit(self.room)
        if self._connection is None:
            self._connection = await asyncio.open_connection(url.hostname, url.port)
        reader, writer = self._connection
        body = b"" if what is None else json.dumps(what).encode()
        lines = [f"{'GET' if what is None else 'POST'} {url.path}{path} HTTP/1.1", f"Host: {url.netloc}"]
        if what is not None:
            lines += [
                f"Origin: http://{url.netloc}",
                "Content-Type: application/json",
                f"Content-Length: {len(body)}",
            ]
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        return int(head.split()[1]), await reader.readexactly(length)


@dataclass
class Seen:
    """What all phones saw together."""

    taps: list[float] = field(default_factory=list)  # seconds to the thanks
    polls: list[float] = field(default_factory=list)
    thanked: int = 0
    refused: Counter[str] = field(default_factory=Counter)


async def one_phone(room: str, number: int, delay: float, end: float, seen: Seen) -> None:
    dice, phone = random.Random(number), Phone(room, f"phone-{number:012}")
    await asyncio.sleep(delay)
    try:
        for path in ("", "/now"):
            status, _ = await phone.ask(path)
            seen.refused[f"{status} {path}"] += status != 200
        await asyncio.sleep(dice.uniform(0, 3))  # while its owner thinks
        begin = time.perf_counter()
        thanked = await phone.report(dice.randrange(len(ANSWERS)))
        seen.taps.append(time.perf_counter() - begin)
        seen.thanked += thanked
        seen.refused["report"] += not thanked
        again = POLL
        while time.perf_counter() < end:
            await asyncio.sleep(again * dice.uniform(0.9, 1.1))  # as in phone.html
            begin = time.perf_counter()
            status, told = await phone.ask("/now")
            again = json.loads(told).get("again", POLL)
            seen.polls.append(time.perf_counter() - begin)
            seen.refused[f"{status} polled"] += status != 200
    except (OSError, EOFError) as error:
        seen.refused[repr(error)] += 1
    finally:
        phone.leave()


async def arrive(room: str, phones: int, seconds: float) -> Seen:
    """Phones that join a room within so many seconds, and stay for four more."""
    seen, end = Seen(), time.perf_counter() + seconds + POLL
    every = (one_phone(room, number, number * seconds / phones, end, seen) for number in range(phones))
    await asyncio.gather(*every)
    return seen


def dragged(address: str, people: int, seconds: float) -> list[float]:
    """Milliseconds from each move to its picture."""
    times, _ = asyncio.run(visitor.drag(address, CROWDED, people, seconds))
    return [1000 * one for one in times]


def tell(what: str, value: str, bound: str, met: bool) -> None:
    print(f"  {what:44}{value:>28}   at most {bound}: {'met' if met else 'MISSED'}", flush=True)


def measure(phones: int, seconds: float, people: int) -> None:
    context = multiprocessing.get_context("spawn")  # people have a process of their own
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        place = str(Path(home, "rooms.sqlite"))
        with contextlib.closing(Store(place)) as held:
            code, _ = held.open_room("Have you ever?", ANSWERS, 1.0)
        server = stack.enter_context(started("app.py", ROOT, Path(home), RR_ROOMS=place))
        executor = stack.enter_context(ProcessPoolExecutor(1, mp_context=context))

        def begin(seconds: float) -> Any:
            return executor.submit(dragged, server.address, people, seconds)

        begin(5).result()  # code is compiled, caches fill
        load = os.getloadavg()[0]
        without = begin(min(seconds, 60)).result()
        time.sleep(AFTER)
        memory = Memory([psutil.Process(server.process.pid)])
        before, dragging = memory.now()[1], begin(seconds + POLL)
        seen = asyncio.run(arrive(f"{server.address}/r/{code}", phones, seconds))
        beside = dragging.result()
        time.sleep(AFTER)
        after = memory.now()[1]
        with contextlib.closing(Store(place)) as held:
            n = held.room(code).result().now.n
    taps, polls = ([1000 * one for one in times] for times in (seen.taps, seen.polls))
    print(f"{phones:,} phones in {seconds:g} s beside {people} people; load before {load:.1f}")
    p95, own, more = (quantile(times, 0.95) for times in (taps, without, beside))
    tell(
        "from a tap to the thanks, p50 and p95",
        f"{quantile(taps, 0.5):.0f} and {p95:.0f} ms",
        "250 ms",
        p95 <= 250,
    )
    tell(
        "reports that were thanked for and lost",
        f"{seen.thanked - n} of {seen.thanked}",
        "0",
        n == seen.thanked,
    )
    refused = +seen.refused
    tell("requests without their answer", f"{refused.total()} {dict(refused) or ''}", "0", not refused)
    print(f"  {len(polls):,} polls: p50 {quantile(polls, 0.5):.0f} ms, p95 {quantile(polls, 0.95):.0f} ms")
    ratio = f"{own:.0f} and {more:.0f} ms, {more / own:.2f}x"
    tell("p95 of a dial without and beside the room", ratio, "1.5x", more <= 1.5 * own)
    print(
        f"  moves a second: {len(without) / min(seconds, 60):.0f} without, {len(beside) / (seconds + POLL):.0f} beside"
    )
    tell("memory before and after", f"{before:.0f} and {after:.0f} MB", "1.1x", after <= 1.1 * before)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--phones", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=1, help="in which they join")
    parser.add_argument("--people", type=int, default=30, help="who drag dials")
    given = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection for each phone, on both sides
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}", flush=True)
    measure(given.phones, 60 * given.minutes, given.people)


if __name__ == "__main__":
    main()
