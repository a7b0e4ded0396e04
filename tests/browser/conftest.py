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
        started = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        yield started
        started.close()


@pytest.fixture(scope="session")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app, shared by all tests that need no fresh one."""
    with serving("app.py", ROOT, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture
def fresh_server(browser: Browser, tmp_path: Path) -> Iterator[str]:
    """Address of an app that has not served a single page yet."""
    with serving("app.py", ROOT, tmp_path) as address:
        yield address


@pytest.fixture(scope="session")
def profiles(browser: Browser) -> Iterator[Profiles]:
    """Browser profiles by their options, kept for all tests: a new profile loads and compiles the page anew."""
    from tests.browser.lab import profile

    kept: dict[str, BrowserContext] = {}

    def get(**options: Any) -> BrowserContext:
        key = repr(sorted(options.items()))
        if key not in kept:
            kept[key] = profile(browser, **options)
        return kept[key]

    yield get
    for context in kept.values():
        context.close()


@pytest.fixture(scope="session")
def at_hand() -> dict[str, list[Lab]]:
    """Tabs that tests have left, by their profiles' options: a new tab is a process that compiles the page anew."""
    return {}


@pytest.fixture
def open_lab(
    browser: Browser, profiles: Profiles, at_hand: dict[str, list[Lab]], request: pytest.FixtureRequest
) -> Iterator[OpenLab]:
    """Open tabs (each is a session of its own); at the end none of them may have complained."""
    from tests.browser.lab import WINDOW, Lab, profile

    opened: list[tuple[Lab, list[Lab] | None]] = []  # with where it is left, if it can be used again
    strangers: list[BrowserContext] = []

    def start(
        address: str = "", *, on: str = "", stranger: bool = False, new: bool = False, **options: Any
    ) -> Lab:
        """``stranger``: in a browser that nobody has used, sharing nothing with the others; ``new``: in a new tab, which
        may get scripts."""
        if stranger:
            strangers.append(profile(browser, **options))
            opened.append((Lab(strangers[-1], on or request.getfixturevalue("server")), None))
        else:
            window = options.pop("viewport", WINDOW)
            left = None if on or new else at_hand.setdefault(repr(sorted(options.items())), [])
            lab = left.pop() if left else Lab(profiles(**options), on or request.getfixturevalue("server"))
            opened.append((lab, left))
            lab.page.set_viewport_size(window)
            lab.page.emulate_media(
                color_scheme=options.get("color_scheme", "light"), reduced_motion="no-preference"
            )
        lab = opened[-1][0]
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
                lab.close()
        for context in strangers:
            context.close()
