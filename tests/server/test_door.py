"""Every way in: how the app may be started, and under which addresses it then answers."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from server import middleware
from server.middleware import HEADERS
from server.room.store import Store
from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import ROOT, Started, started

RUN = ("-m", "streamlit", "run")


async def opens(server: Started, page: str) -> None:
    async with Visitor.at(server.address) as visitor:
        await visitor.open(page, "dist=zipf&k=25")
        assert bool(visitor.dials) == (page != "reference")
        assert not visitor.errors


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Started, Path, str]]:
    """A server below a path, started on a machine with a screen; the file in which the address is that was shown there;
    and where rooms are kept."""
    home = tmp_path_factory.mktemp("home")
    code = f"import pathlib, sys; pathlib.Path('{home / 'seen'}').write_text(sys.argv[1])"
    own = {"BROWSER": f'{sys.executable} -c "{code}" %s', "RR_ROOMS": str(home / "rooms.sqlite")}
    with started("app.py", ROOT, home, "--server.headless", "false", path="/lab", **own) as server:
        yield server, home / "seen", own["RR_ROOMS"]


def opens_first(server: Started, script: str, page: str = "noisy_histogram") -> None:
    finish(opens(server, page))
    finish(opens(server, ""))
    for inner in ("/", "/_stcore/health", "/noisy_histogram"):
        with urllib.request.urlopen(f"{server.address}{inner}") as answer:
            sent = {name: answer.headers.get_all(name) for name in HEADERS}
        if script == "app.py":
            assert sent == {name: [text] for name, text in HEADERS.items()}
    for encoding in ("gzip", "identity"):
        asked = urllib.request.Request(
            f"{server.address}/{middleware.PLOTLY_ADDRESS}", headers={"Accept-Encoding": encoding}
        )
        with urllib.request.urlopen(asked) as answer:
            sent = answer.read()
            assert answer.headers.get_content_subtype() == "javascript"
            assert ("immutable" in answer.headers["Cache-Control"]) == (script == "app.py")
        assert b"plotly.js v" in (gzip.decompress(sent) if encoding == "gzip" else sent)[:100]
    assert "Traceback" not in server.log.read_text("utf-8")


def test_below_a_path_the_first_page_that_is_opened_is_there_and_so_is_home(lab) -> None:
    opens_first(lab[0], "app.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "script", "page"), [((), "app.py", "reference"), (RUN, "home.py", "noisy_histogram")]
)
def test_the_first_page_that_is_opened_is_there_and_so_is_home(by, script, page, tmp_path: Path) -> None:
    with started(script, ROOT, tmp_path, by=by) as server:
        opens_first(server, script, page)


def test_who_starts_it_on_a_machine_with_a_screen_sees_it(lab) -> None:
    server, seen, _ = lab
    end = time.monotonic() + 20
    while not (seen.exists() and seen.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    assert seen.read_text() == server.address


def test_rooms_are_served_below_a_path(lab) -> None:
    app, _, place = lab
    with contextlib.closing(Store(place)) as held:
        code, key = held.open_room("Have you ever?", ("Yes", "No", "Perhaps"), 1.0)
        host = app.address.removeprefix("http://").removesuffix("/lab")
        own = {"Content-Type": "application/json", "Origin": f"http://{host}"}

        def status(method: str, path: str, body: object = None) -> int:
            with contextlib.closing(http.client.HTTPConnection(host, timeout=20)) as connection:
                sent = own if method == "POST" else {}
                connection.request(method, f"/lab/r{path}", json.dumps(body), sent)
                answer = connection.getresponse()
                headers = [answer.headers.get_all(name) for name in HEADERS]
                assert headers == [[text] for text in HEADERS.values()]
                assert key.encode() not in answer.read()
                return answer.status

        def report(value: int, token: str) -> int:
            return status("POST", f"/{code}/report", {"question": 1, "report": value, "token": token * 16})

        assert status("GET", f"/{code}") == status("GET", "") == status("GET", f"/{code}/now") == 200
        assert [report(1, "a"), report(1, "a"), report(3, "b")] == [200, 200, 400]
        held.set_open(code, False)
        assert report(1, "b") == 409
        assert status("GET", "/CDFGHJ") == status("GET", "/CDFGHJ/now") == 404
        assert status("POST", f"/{code}/now") == 405
        assert held.room(code).result().now.counts == (0, 1, 0)
        assert "Traceback" not in app.log.read_text("utf-8")
