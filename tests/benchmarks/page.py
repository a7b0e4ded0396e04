"""How quickly the estimators page follows its slider, beside a bare Streamlit page: ``python -m tests.benchmarks.page``.

In a browser: milliseconds from an arrow key on "Privacy ε" to the first changed line of the figure, as the
browser's own clock sees it. The pages are moved in turns, so that a slow minute of the machine hits all of them,
and medians are compared. Then thirty browser sessions at once, each moving the slider back to back, on the pages in
turns; and, because there the browsers do most of the work, thirty websockets that do the same without a browser.

There are two bare pages: one under Streamlit's own settings, which is what a person gets who writes such a page, and
one under this app's settings (no garbage collection after every run, no file watcher), which is the harder rival.

Prints every figure with its bound. A bound that is missed is told, and fails nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import crowd, sessions
from tests.benchmarks.crowd import AT_REST, FIGURE_SEEN
from tests.browser import chromium
from tests.browser.server import ROOT, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BARE = Path(__file__).with_name("bare.py")
SCENARIO = "dist=zipf&s=1.3&seed=7"
SMALL = f"estimators?{SCENARIO}&k=10000&eps=2&n=1000000"
LARGE = f"estimators?{SCENARIO}&k=1423000&eps=8&n=1664500"
CROWDED = f"estimators?{SCENARIO}&k=1000&eps=2&n=100000"
BOUNDS = {SMALL: 1.5, LARGE: 4.0}
LOAD_BOUND = 3.0
WARM_UP = 4  # moves that are not counted: code is compiled, caches fill


@dataclass
class Tab:
    """One page in its own tab, and its times in milliseconds."""

    page: Page
    times: list[float] = field(default_factory=list)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_function(AT_REST, timeout=60_000)
        self.page.wait_for_timeout(1500)  # fonts and lazily loaded parts, once
        self.page.evaluate(FIGURE_SEEN)

    def move(self, key: str) -> None:
        self.page.bring_to_front()
        self.page.get_by_role("slider", name="Privacy ε").first.focus()
        self.page.evaluate("() => window.arm()")
        self.page.keyboard.press(key)
        self.page.wait_for_function("() => window.seen", timeout=60_000)
        self.times.append(self.page.evaluate("() => window.seen - window.moved"))
        self.page.wait_for_function(AT_REST, timeout=60_000)
        self.page.wait_for_timeout(250)  # at rest before the next tab has its turn

    @property
    def median(self) -> float:
        return statistics.median(self.times[WARM_UP:])


@contextlib.contextmanager
def servers() -> Iterator[tuple[dict[str, str], str]]:
    """Addresses of the bare pages by whose settings they run under, and of the app."""
    with contextlib.ExitStack() as stack:

        def serve(script: Path, folder: Path) -> str:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            return stack.enter_context(serving(str(script), folder, home))

        nowhere = Path(stack.enter_context(tempfile.TemporaryDirectory()))  # without .streamlit/config.toml
        alone = Path(shutil.copy(BARE, nowhere))
        yield (
            {"Streamlit's": serve(alone, nowhere), "the app's": serve(BARE, ROOT)},
            serve(Path("app.py"), ROOT),
        )


@contextlib.contextmanager
def a_browser() -> Iterator[Browser | None]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = chromium.installed(playwright.chromium.executable_path)
        if path is None:
            yield None
            return
        browser = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        yield browser
        browser.close()


def in_a_browser(bare: dict[str, str], app: str, moves: int) -> None:
    with a_browser() as browser:
        if browser is None:
            print("No Chromium here: the times in a browser are left out.")
            return
        addresses = bare | {path: f"{app}/{path}" for path in BOUNDS}
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        tabs = {name: Tab(context.new_page()) for name in addresses}
        for name, tab in tabs.items():
            tab.open(addresses[name])
        for i in range(moves + WARM_UP):
            for tab in tabs.values():
                tab.move("ArrowRight" if i % 6 < 3 else "ArrowLeft")
        bases = {name: tabs[name].median for name in bare}
        for path, name in ((SMALL, "K = 10,000"), (LARGE, "K = 1,423,000")):
            tell(f"/estimators, {name}", tabs[path].median, bases, BOUNDS[path])


def browsers_at_once(bare: dict[str, str], app: str, how_many: int, rounds: int) -> None:
    """All pages in turns; each turn is ``how_many`` browser sessions with six moves each."""
    with a_browser() as browser:
        if browser is None:
            return
    addresses = bare | {"ours": f"{app}/{CROWDED}"}
    times: dict[str, list[float]] = {name: [] for name in addresses}
    for _ in range(rounds):
        for name, address in addresses.items():
            times[name] += crowd.move(address, how_many, 6)
    tell_load(times, bare, LOAD_BOUND)


def sockets_at_once(bare: dict[str, str], app: str, how_many: int, rounds: int) -> None:
    """All pages in turns; each turn is ``how_many`` sessions with eight moves each. No bound: no browser."""
    addresses = dict.fromkeys(bare, "") | {"ours": CROWDED}
    times: dict[str, list[float]] = {name: [] for name in addresses}
    for _ in range(rounds):
        for name, path in addresses.items():
            seconds = sessions.move(bare.get(name, app), path, how_many, 8)
            times[name] += [1000 * one for one in seconds]
    tell_load(times, bare, None)


def tell_load(times: dict[str, list[float]], bare: dict[str, str], bound: float | None) -> None:
    for part, share in (("p50", 0.5), ("p95", 0.95)):
        at = {name: quantile(milliseconds, share) for name, milliseconds in times.items()}
        judged = bound if part == "p95" else None
        tell(f"/estimators, K = 1,000, {part}", at["ours"], {name: at[name] for name in bare}, judged)


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def tell(name: str, milliseconds: float, bases: dict[str, float], bound: float | None) -> None:
    """One figure, and its ratio to each bare page with the verdict on the bound."""
    print(f"  {name:28}{milliseconds:6.0f} ms")
    for whose, base in bases.items():
        ratio = milliseconds / base
        judged = "" if bound is None else f"   at most {bound:g}x: {'met' if ratio <= bound else 'MISSED'}"
        print(f"    bare, {whose + ' settings':20}{base:6.0f} ms {ratio:6.2f}x{judged}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--moves", type=int, default=40, help="moves of the slider per page in the browser")
    parser.add_argument("--sessions", type=int, default=30, help="sessions at once")
    parser.add_argument("--rounds", type=int, default=2, help="turns of the pages under load")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with servers() as (bare, app):
        print(
            f"\nFrom moving the slider to the new figure, in a browser (median of {given.moves} moves)",
            flush=True,
        )
        in_a_browser(bare, app, given.moves)
        print(f"\n{given.sessions} browser sessions at once, from moving to the new figure", flush=True)
        browsers_at_once(bare, app, given.sessions, given.rounds)
        print(f"\n{given.sessions} websockets at once, from moving to the new figure's arrival", flush=True)
        sockets_at_once(bare, app, given.sessions, 2 * given.rounds)


if __name__ == "__main__":
    main()
