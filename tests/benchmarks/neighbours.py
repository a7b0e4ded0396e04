"""What a sweep costs the neighbours: ``python -m tests.benchmarks.neighbours``.

Two browsers on one server. One moves the slider on /estimators (K = 10,000) again and again, first while the other is
at rest, then while the other runs the whole main grid on /experiments and looks at its progress; each time the
milliseconds from the key to the first changed line of the figure. A third session asks for a run of its own and is
told its place in the queue. Exit status 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.page import SMALL, WARM_UP, Tab, a_browser, quantile
from tests.browser import chromium
from tests.browser.server import ROOT, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BOUND = 2.5
# Ten times the paper's collections, so that the run lasts longer than the measurement.
COLLECTIONS = 1000
PATIENCE = 60_000


def moved(tab: Tab, moves: int) -> list[float]:
    tab.times.clear()
    for i in range(moves + WARM_UP):
        tab.move("ArrowRight" if i % 6 < 3 else "ArrowLeft")
    return tab.times[WARM_UP:]


def another(browser: Browser) -> Browser:
    """A browser of its own, with its own processes."""
    kind = browser.browser_type
    return kind.launch(executable_path=chromium.installed(kind.executable_path), args=chromium.flags())


def started(browser: Browser, address: str, collections: int) -> Page:
    """A session that has pressed Run."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    box = page.get_by_role("spinbutton", name="Collections per cell", exact=True)
    box.fill(str(collections))
    box.press("Enter")
    page.wait_for_timeout(2000)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Stop", exact=True).wait_for()
    return page


def measure(app: str, moves: int) -> int:
    with a_browser() as mover:
        if mover is None:
            print("No Chromium here: nothing was measured.")
            return 0
        runner, third = another(mover), another(mover)
        tab = Tab(mover.new_context(viewport={"width": 1440, "height": 900}).new_page())
        tab.open(f"{app}/{SMALL}")
        idle = moved(tab, moves)
        running = started(runner, f"{app}/experiments?sweep=main", COLLECTIONS)
        running.get_by_text(" cells, about ").wait_for()
        busy = moved(tab, moves)
        through = running.get_by_role("button", name="Stop", exact=True).is_visible()
        waiting = started(third, f"{app}/experiments?sweep=1a", 50)
        told = waiting.get_by_text("Waiting: ").inner_text()
        running.get_by_role("button", name="Stop", exact=True).click()
        running.get_by_text("Stopped after ").wait_for()
    ratios = {part: quantile(busy, at) / quantile(idle, at) for part, at in (("median", 0.5), ("p95", 0.95))}
    for part, at in (("median", 0.5), ("p95", 0.95)):
        print(
            f"  {part:8} idle {quantile(idle, at):5.0f} ms   during the run {quantile(busy, at):5.0f} ms   "
            f"{ratios[part]:.2f}x"
        )
    print(f"  the run lasted through the measurement: {'yes' if through else 'NO'}")
    print(f"  the third session reads: {told!r}")
    met = ratios["median"] <= BOUND and through
    print(f"  median at most {BOUND:g}x: {'met' if met else 'MISSED'}")
    return int(not met)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--moves", type=int, default=30, help="moves of the slider, idle and during the run")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as home, serving("app.py", ROOT, Path(home)) as app:
        return measure(app, given.moves)


if __name__ == "__main__":
    sys.exit(main())
