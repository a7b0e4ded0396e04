"""How quickly the estimators page follows the hand, beside a bare Streamlit page: ``python -m tests.benchmarks.page``.

1. A key on "Privacy ε": milliseconds to the first changed line of the figure, by the browser's own clock. The pages
   are moved in turns, so that a slow minute of the machine hits all of them, and medians are compared. There are two bare
   pages: one under Streamlit's own settings, which is what a person gets who writes such a page, and one under this app's
   settings (no garbage collection after every run, no file watcher), which is the harder rival.
2. The hand drags "Privacy ε" back and forth: new pictures a second, and the share of frames without one, beside a bare
   page with Streamlit's own slider, which answers on release.
3. Many websockets without a browser, each dragging: from a move to its picture, and whether anybody's last value is lost.

Prints every figure with its bound. A bound that is missed is told, and fails nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import visitor
from tests.browser import chromium
from tests.browser.lab import COUNT_FRAMES, FRAMES_COUNTED, SEEN
from tests.browser.server import ROOT, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BARE = Path(__file__).with_name("bare.py")
SCENARIO = "dist=zipf&s=1.3&seed=7"
SMALL = f"estimators?{SCENARIO}&k=10000&eps=2&n=1000000"
LARGE = f"estimators?{SCENARIO}&k=1423000&eps=8&n=1664500"
CROWDED = f"estimators?{SCENARIO}&k=1000&eps=2&n=100000"
BARS = f"estimators?{SCENARIO}&k=200&eps=2&n=100000"
BOUNDS = {BARS: 1.2, SMALL: 1.2, LARGE: 4.0}
PERIODS = {BARS: 1.8, SMALL: 2.0}  # between two pictures of a drag, in times of one key on the bare page
MOST_BLANK = 0.02
WARM_UP = 4  # moves that are not counted: code is compiled, caches fill
# The moment at which the figure first differs after a key.
FIGURE_SEEN = f"""() => {{
  const figure = {SEEN};
  const look = () => {{ const now = window.moved && !window.seen && figure();
    if (now && now !== window.before) window.seen = performance.now() }};
  new MutationObserver(look).observe(document.body,
    {{subtree: true, childList: true, attributes: true, attributeFilter: ['d', 'transform']}});
  document.addEventListener('keydown', () => {{ window.moved = performance.now() }}, true);
  window.arm = () => {{ window.before = figure(); window.moved = window.seen = 0 }} }}"""
AT_REST = """() => document.querySelector('.js-plotly-plot .main-svg')
  && document.querySelector('[data-testid="stApp"]').getAttribute('data-test-script-state') === 'notRunning'"""


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


def in_a_browser(bare: dict[str, str], app: str, moves: int) -> dict[str, float]:
    """Milliseconds from a key to the new figure on the bare pages, by whose settings they run under."""
    with a_browser() as browser:
        if browser is None:
            print("No Chromium here: the times in a browser are left out.")
            return dict.fromkeys(bare, float("nan"))
        addresses = bare | {path: f"{app}/{path}" for path in BOUNDS}
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        tabs = {name: Tab(context.new_page()) for name in addresses}
        for name, tab in tabs.items():
            tab.open(addresses[name])
        for i in range(moves + WARM_UP):
            for tab in tabs.values():
                tab.move("ArrowRight" if i % 6 < 3 else "ArrowLeft")
        bases = {name: tabs[name].median for name in bare}
        for path, bound in BOUNDS.items():
            tell(f"/estimators, {size(path)}", tabs[path].median, bases, bound)
        return bases


def size(path: str) -> str:
    return f"K = {int(path.partition('&k=')[2].partition('&')[0]):,}"


def dragged(address: str, seconds: float) -> tuple[float, float]:
    """New pictures a second while the hand drags the slider back and forth, and the share of blank frames."""
    with a_browser() as browser:
        if browser is None:
            return float("nan"), float("nan")
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(address)
        page.wait_for_function(AT_REST, timeout=60_000)
        page.wait_for_timeout(2000)
        box = page.get_by_role("slider", name="Privacy ε").first.bounding_box()
        assert box is not None
        # Streamlit's slider is its thumb; the track is the group around it.
        track = box if box["width"] > 60 else page.get_by_test_id("stSlider").first.bounding_box()
        assert track is not None
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] / 2, y)
        page.mouse.down()
        page.evaluate(COUNT_FRAMES)
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < seconds:
            share = 0.35 + 0.3 * abs(passed % 3 / 1.5 - 1)
            page.mouse.move(track["x"] + share * track["width"], y)
            time.sleep(1 / 60)
        counted = page.evaluate(FRAMES_COUNTED)
        page.mouse.up()
        return counted["pictures"] / counted["seconds"], counted["blank"] / counted["frames"]


def tell_drags(bare: str, app: str, seconds: float, key: float) -> None:
    """``key``: milliseconds of one key on the bare page."""
    own, _ = dragged(bare, seconds)
    print(f"  Streamlit's slider, bare page {own:6.1f} pictures a second (it answers on release)")
    for path, most in PERIODS.items():
        rate, blank = dragged(f"{app}/{path}", seconds)
        period = 1000 / rate if rate else float("inf")
        print(
            f"  dial, /estimators, {size(path)} {rate:6.1f} pictures a second, {period / key:.2f}x a key on the bare page"
            f"   at most {most:g}x: {'met' if period <= most * key else 'MISSED'};   blank frames {100 * blank:.1f}%   "
            f"at most {100 * MOST_BLANK:g}%: {'met' if blank <= MOST_BLANK else 'MISSED'}",
            flush=True,
        )


def tell_sockets(app: str, how_many: int, seconds: float) -> None:
    times, lost = asyncio.run(visitor.drag(app, BARS, how_many, seconds))
    milliseconds = [1000 * one for one in times]
    print(
        f"  {len(times):,} moves, {len(times) / seconds:.0f} pictures a second in all; from a move to its picture p50 "
        f"{quantile(milliseconds, 0.5):.0f} ms, p95 {quantile(milliseconds, 0.95):.0f} ms; last values lost: {lost}"
    )


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
    parser.add_argument("--sessions", type=int, default=100, help="websockets at once")
    parser.add_argument("--seconds", type=float, default=10, help="of each drag")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with servers() as (bare, app):
        print(f"\nFrom a key on the slider to the new figure (median of {given.moves} moves)", flush=True)
        keys = in_a_browser(bare, app, given.moves)
        print("\nWhile the hand drags", flush=True)
        tell_drags(bare["the app's"], app, given.seconds, keys["the app's"])
        print(f"\n{given.sessions} websockets drag at once, K = 200", flush=True)
        tell_sockets(app, given.sessions, given.seconds)


if __name__ == "__main__":
    main()
