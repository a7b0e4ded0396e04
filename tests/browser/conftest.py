"""One server and one browser for all browser tests; every test gets tabs of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import missing
from tests.browser import chromium
from tests.browser.server import ROOT, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

    from tests.browser.lab import Lab
    from tests.browser.server import Started

    OpenLab = Callable[..., Lab]
    Profiles = Callable[..., BrowserContext]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if item.get_closest_marker("journey") is None:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium. Skips where there is none, and fails there when CI=true."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed: pip install -r tests/requirements.txt")
    with sync_playwright() as playwright:
        path = chromium.installed(playwright.chromium.executable_path)
        if path is None:
            missing("no Chromium or Chrome was found: apt install chromium, or playwright install chromium")
        # Tabs of one profile share a process, in which what the page needs is compiled already; and what moves on it by
        # itself is drawn with the page: threads of their own for it take a tenth of the processor.
        flags = [*chromium.flags(), "--process-per-site", "--disable-threaded-animation"]
        started = playwright.chromium.launch(executable_path=path, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="session")
def server(browser: Browser, app: Started) -> str:
    """Address of the app, shared by all tests that need no fresh one."""
    return app.address


@pytest.fixture
def fresh_server(browser: Browser, tmp_path: Path) -> Iterator[str]:
    """Address of an app that has not served a single page yet."""
    with serving("app.py", ROOT, tmp_path) as address:
        yield address


@pytest.fixture(scope="session")
def profiles(browser: Browser) -> Profiles:
    """Browser profiles by their options, kept for all tests: a new profile loads and compiles the page anew."""
    from tests.browser.lab import profile

    kept: dict[str, BrowserContext] = {}

    def get(**options: Any) -> BrowserContext:
        key = repr(sorted(options.items()))
        if key not in kept:
            kept[key] = profile(browser, **options)
        return kept[key]

    return get


@pytest.fixture(scope="session")
def at_hand() -> dict[object, list[Lab]]:
    """Tabs that tests have left, by their profiles' options."""
    return {}


@pytest.fixture
def open_lab(
    browser: Browser, profiles: Profiles, at_hand: dict[object, list[Lab]], request: pytest.FixtureRequest
) -> Iterator[OpenLab]:
    """Open tabs (each is a session of its own); at the end none of them may have complained."""
    from tests.browser.lab import WINDOW, Lab, profile

    opened: list[tuple[Lab, list[Lab] | None]] = []  # with where it is left, if it can be used again

    def start(
        address: str = "",
        *,
        on: str = "",
        stranger: bool = False,
        new: bool = False,
        viewport: Any = WINDOW,
        color_scheme: str = "light",
        **options: Any,
    ) -> Lab:
        """``stranger``: in a profile that nobody has used, or that has forgotten all, sharing nothing with the others;
        ``new``: in a new tab, which may get scripts; ``on``: of another server."""
        left = None if on or new else at_hand.setdefault((stranger, *sorted(options.items())), [])
        if left:
            lab = left.pop()
        else:
            context = profile(browser, **options) if stranger else profiles(**options)
            lab = Lab(context, on or request.getfixturevalue("server"))
        opened.append((lab, left))
        lab.page.set_viewport_size(viewport)
        lab.page.emulate_media(color_scheme=color_scheme, reduced_motion="no-preference")
        return lab.open(address) if address else lab

    yield start
    try:
        for lab, _ in opened:
            lab.must_be_fine()
        for lab, left in opened:
            if left is not None:
                lab.leave()
                left.append(lab)
    finally:
        for lab, left in opened:
            if left is None or lab not in left:
                lab.page.close()
