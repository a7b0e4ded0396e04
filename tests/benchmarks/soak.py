"""Honest and hostile visitors at once, for minutes: ``python -m tests.benchmarks.soak``.

Honest visitors move dials, go to other pages and upload small files, with pauses as people make them. Hostile ones open
scenarios of 1.5 million categories, upload files that stand for very much more than they weigh, start the longest
computations, type what takes long to read, and forget the caches of all.

Prints, each with its bound: the time from an honest move to its picture, beside one person's who is alone on the server;
how many visitors met an error; the memory of the server at rest, at most, and a minute after all have left. A bound that
is missed is told, and fails nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import platform
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.benchmarks.page import quantile
from tests.benchmarks.visitor import Visitor
from tests.browser.proxy import behind_nginx
from tests.browser.server import ROOT, started
from tests.io import hostile_files

PAGES = ("noisy_histogram", "inv_negatives", "estimators", "geometry", "ibu")
EVERYDAY = "dist=zipf&s=1.3&k=200&eps=2&n=100000"
LARGEST = "dist=zipf&s=1.3&k=1500000&eps=8&n=100000000"
MOST_TIMES_ONE_PERSON = 3.0
AFTER = 60.0  # seconds
PAUSE = (3.0, 9.0)  # seconds between two acts of a person
COUNTS = "category,count\n" + "".join(f"answer {i},{10 + i * i % 97}\n" for i in range(300))


@dataclass
class Seen:
    """What all visitors saw together."""

    moves: list[float] = field(default_factory=list)  # seconds, of honest visitors
    acts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


@dataclass
class Memory:
    """Resident megabytes of the servers, and of the servers with their workers, looked at twice a second."""

    servers: list[psutil.Process]
    most: float = 0.0
    most_with_workers: float = 0.0

    def now(self) -> tuple[float, float]:
        own, all_of_it = sum(server.memory_info().rss for server in self.servers), 0
        for server in self.servers:
            for process in server.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    all_of_it += process.memory_info().rss
        return own / 2**20, (own + all_of_it) / 2**20

    async def watch(self) -> None:
        while True:
            own, all_of_it = self.now()
            self.most, self.most_with_workers = max(self.most, own), max(self.most_with_workers, all_of_it)
            await asyncio.sleep(0.5)


async def honest(address: str, number: int, start: asyncio.Barrier, seconds: float, seen: Seen) -> None:
    """One person with the app, for so long after everybody has opened a page."""
    dice = random.Random(number)
    page = PAGES[number % len(PAGES)]
    async with Visitor.at(address) as visitor:
        await visitor.open(page, f"{EVERYDAY}&seed={number % 5}")
        await start.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(dice.uniform(*PAUSE))
            act = dice.random()
            if act < 0.8:
                seen.moves.append(await visitor.move("epsilon", round(dice.uniform(0.5, 4.5), 2)))
                seen.acts["move"] += 1
            elif act < 0.9:
                page = dice.choice(PAGES)
                await visitor.open(page, f"{EVERYDAY}&seed={dice.randrange(5)}")
                seen.acts["page"] += 1
            else:
                await visitor.open("your_reports", EVERYDAY)
                await visitor.upload("Report files", "people.csv", COUNTS.encode())
                await visitor.open(page, EVERYDAY)
                seen.acts["file"] += 1
        seen.errors += visitor.errors


async def hostile(address: str, number: int, start: asyncio.Barrier, seconds: float, seen: Seen) -> None:
    """One who tries everything that costs the server much; new sessions all the time."""
    dice = random.Random(1000 + number)
    await start.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = dice.choice(list(HOSTILE))
        async with Visitor.at(address) as visitor:
            await HOSTILE[name](visitor, dice)
            seen.errors += visitor.errors
            seen.acts[name] += 1
            await asyncio.sleep(dice.uniform(0.5, 4))


async def largest(visitor: Visitor, dice: random.Random) -> None:
    await visitor.open(dice.choice(PAGES), f"{LARGEST}&seed={dice.randrange(100)}")


async def repeat(visitor: Visitor, dice: random.Random) -> None:
    await visitor.open("estimators", f"{LARGEST}&seed={dice.randrange(3)}&part=repeat")
    await visitor.press("Repeat", wait=dice.uniform(1, 10))


async def reports(visitor: Visitor, dice: random.Random) -> None:
    await visitor.open("your_reports", f"{LARGEST}&seed={dice.randrange(3)}")
    await visitor.press("Use simulated reports", wait=dice.uniform(3, 20))


async def typed(visitor: Visitor, dice: random.Random) -> None:
    long = dice.choice(("ln" + " " * 24_000 + ")", "9" * 5000, "²" * 5000, "(" * 20_000, "1e" + "9" * 4000))
    name = dice.choice(("k", "eps", "n", "seed", "s", "part"))
    await visitor.open(dice.choice((*PAGES, "plan", "experiments")), f"{name}={long}")


async def bomb(visitor: Visitor, dice: random.Random) -> None:
    await visitor.open("your_reports", EVERYDAY)
    name, data = dice.choice(FILES)
    await visitor.upload("Report files", name, data)
    await visitor.rerun()


async def forget(visitor: Visitor, dice: random.Random) -> None:
    await visitor.open("estimators", EVERYDAY)
    await visitor.forget_all_caches()
    await visitor.rerun()


async def sweep(visitor: Visitor, dice: random.Random) -> None:
    await visitor.open("experiments", f"{EVERYDAY}&seed={dice.randrange(1000)}&part=own")
    await visitor.press("Run", wait=dice.uniform(1, 5))


HOSTILE: dict[str, Callable[[Visitor, random.Random], Awaitable[None]]] = {
    "largest K": largest,
    "Repeat at largest K": repeat,
    "reports at largest K": reports,
    "typed": typed,
    "bomb": bomb,
    "caches forgotten": forget,
    "own sweep": sweep,
}
FILES: list[tuple[str, bytes]] = []


async def soak(
    address: str, servers: list[psutil.Process], people: int, attackers: int, seconds: float
) -> None:
    memory, alone, seen = Memory(servers), Seen(), Seen()
    await honest_moves(address, alone)
    idle = memory.now()[1]
    watcher = asyncio.create_task(memory.watch())
    start = asyncio.Barrier(people + attackers)
    everybody = [
        *(honest(address, number, start, seconds, seen) for number in range(people)),
        *(hostile(address, number, start, seconds, seen) for number in range(attackers)),
    ]
    for failure in await asyncio.gather(*everybody, return_exceptions=True):
        if failure is not None:
            seen.errors.append(repr(failure))
    await asyncio.sleep(AFTER)
    watcher.cancel()
    tell(alone, seen, memory, idle)


async def honest_moves(address: str, seen: Seen) -> None:
    """The moves of one person, alone, on each page that the others use too."""
    async with Visitor.at(address) as visitor:
        for page in PAGES:
            await visitor.open(page, EVERYDAY)
            for step in range(12):
                seconds = await visitor.move("epsilon", round(1 + step / 7, 2))
                if step > 1:
                    seen.moves.append(seconds)
                await asyncio.sleep(0.3)


def tell(alone: Seen, seen: Seen, memory: Memory, idle: float) -> None:
    one, many = (quantile(times, 0.95) for times in (alone.moves, seen.moves))
    limit = int(os.environ.get("RR_MEMORY_MB", "2048"))
    after = memory.now()[1]
    print("acts: " + ", ".join(f"{count} {name}" for name, count in sorted(seen.acts.items())))
    print(f"  one person alone: p50 {_ms(quantile(alone.moves, 0.5))}, p95 {_ms(one)}")
    print(
        f"  an honest move: p50 {_ms(quantile(seen.moves, 0.5))}, p95 {_ms(many)}, {many / one:.1f}x one person's"
        f"   at most {MOST_TIMES_ONE_PERSON:g}x: {_verdict(many <= MOST_TIMES_ONE_PERSON * one)}"
    )
    print(f"  errors: {len(seen.errors)}   none: {_verdict(not seen.errors)}")
    for error, count in Counter(seen.errors).most_common(5):
        print(f"    {count} x {error[:200]}")
    print(
        f"  memory of the server with its workers: {idle:.0f} MB at rest, {memory.most_with_workers:.0f} MB at most "
        f"  below {limit}: {_verdict(memory.most_with_workers < limit)}; alone {memory.most:.0f} MB; "
        f"{after:.0f} MB a minute after all have left"
    )


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", type=int, default=80, help="honest visitors at once")
    parser.add_argument("--attackers", type=int, default=20, help="hostile visitors at once")
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        choices=(1, 2),
        help="servers; two are behind the example of a proxy",
    )
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}", flush=True)
    FILES.extend((name, make()) for name, make in {**hostile_files.LARGE, **hostile_files.QUICK}.items())
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as until_the_end:
        homes = [Path(folder, f"{number}") for number in range(given.processes)]
        for home in homes:
            home.mkdir()
        apps = [until_the_end.enter_context(started("app.py", ROOT, home)) for home in homes]
        address = apps[0].address
        if len(apps) > 1:
            places = (app.address.removeprefix("http://") for app in apps)
            _, address = until_the_end.enter_context(behind_nginx(Path(folder), *places))
        servers = [psutil.Process(app.process.pid) for app in apps]
        asyncio.run(soak(address, servers, given.people, given.attackers, given.seconds))


if __name__ == "__main__":
    main()
