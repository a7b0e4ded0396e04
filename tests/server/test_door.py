"""Every way in: how the app may be started, and under which addresses and names it then answers: all that deployments
need, and not that of a page of another site which has its name lead here (DNS rebinding)."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from server import middleware
from server.middleware import HEADERS
from server.room.store import Store
from tests import until
from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import ROOT, Started, started


async def opens(server: Started, page: str) -> None:
    async with Visitor.at(server.address) as visitor:
        await visitor.open(page, "dist=zipf&k=25")
        assert bool(visitor.dials) == (page != "reference")
        assert not visitor.errors


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Started, Path, str]]:
    """A server below a path, with two names, started on a machine with a screen; the file in which the address is that
    was shown there; and where rooms are kept."""
    home = tmp_path_factory.mktemp("home")
    code = f"import pathlib, sys; pathlib.Path('{home / 'seen'}').write_text(sys.argv[1])"
    own = {"BROWSER": f'{sys.executable} -c "{code}" %s', "RR_ROOMS": str(home / "rooms.sqlite")}
    flags = ["--server.headless", "false"]
    for name in ("class.example", "127.0.0.1"):
        flags += ["--server.allowedHosts", name]
    with started("app.py", ROOT, home, *flags, path="/lab", **own) as server:
        yield server, home / "seen", own["RR_ROOMS"]


def opens_first(server: Started, script: str = "app.py", page: str = "noisy_histogram") -> None:
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
    log = server.log.read_text("utf-8")
    assert "Traceback" not in log
    assert "missing ScriptRunContext" not in log


def test_below_a_path_the_first_page_that_is_opened_is_there_and_so_is_home(lab) -> None:
    opens_first(lab[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "script", "page"),
    [((), "app.py", "reference"), (("-m", "streamlit", "run"), "home.py", "noisy_histogram")],
)
def test_the_first_page_that_is_opened_is_there_and_so_is_home(by, script, page, tmp_path: Path) -> None:
    with started(script, ROOT, tmp_path, by=by) as server:
        opens_first(server, script, page)


def test_who_starts_it_on_a_machine_with_a_screen_sees_it(lab) -> None:
    server, seen, _ = lab
    until(lambda: seen.exists() and seen.read_text() == server.address)


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


FORWARDED = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}


async def is_let_in(server: Started, host: str, headers: dict[str, str] | None = None) -> bool:
    """Whether a browser's page under this name gets a connection."""
    where = urlsplit(server.address)
    try:
        async with connect(
            f"ws://{host}{where.path}/_stcore/stream",
            host="127.0.0.1",
            port=where.port,
            subprotocols=[Subprotocol("streamlit")],
            origin=Origin(f"http://{host}"),
            additional_headers=headers,
        ):
            return True
    except InvalidStatus:
        return False


@pytest.fixture(scope="module")
def server(app: Started) -> Started:
    """A page has been opened."""
    finish(opens(app, ""))
    return app


def test_a_laptop_is_reached_under_its_own_names_and_by_no_page_whose_name_was_made_to_lead_here(
    server,
) -> None:
    for host in ("localhost", "127.0.0.1", "[::1]", "app.localhost", "192.168.1.7"):
        assert finish(is_let_in(server, f"{host}:8501")), host
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example"):
        assert not finish(is_let_in(server, f"{host}:8501")), host


def test_a_proxy_may_have_any_name(server: Started) -> None:
    others = ({"Via": "1.1 proxy"}, {"Forwarded": "for=203.0.113.7"}, {"X-Real-IP": "203.0.113.7"})
    for headers in (FORWARDED, *others):
        assert finish(is_let_in(server, "app-of-somebody.host.example", headers)), headers


def test_with_the_option_only_its_names_are_let_in(lab) -> None:
    for host, is_one in (("class.example", True), ("other.example", False), ("localhost", False)):
        assert finish(is_let_in(lab[0], host, FORWARDED)) == is_one, host
