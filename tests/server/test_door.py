"""Every way in: how the app may be started, and under which addresses it then answers."""

from __future__ import annotations

import gzip
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from server import plotly_script
from server.middleware import HEADERS
from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import ROOT, Started, started

RUN = ("-m", "streamlit", "run")


async def opens(server: Started, page: str) -> None:
    async with Visitor.at(server.address) as visitor:
        await visitor.open(page, "dist=zipf&k=25")
        assert visitor.dials
        assert not visitor.errors


@pytest.mark.parametrize(
    ("by", "script", "path"),
    [
        (RUN, "app.py", "/lab"),
        pytest.param((), "app.py", "", marks=pytest.mark.slow),
        pytest.param(RUN, "home.py", "", marks=pytest.mark.slow),
    ],
)
def test_the_first_page_that_is_opened_is_there_and_so_is_home(by, script, path, tmp_path: Path) -> None:
    with started(script, ROOT, tmp_path, by=by, path=path) as server:
        finish(opens(server, "noisy_histogram"))
        finish(opens(server, ""))
        for inner in ("/", "/_stcore/health", "/noisy_histogram"):
            with urllib.request.urlopen(f"{server.address}{inner}") as answer:
                sent = {name: answer.headers.get_all(name) for name in HEADERS}
            if script == "app.py":
                assert sent == {name: [text] for name, text in HEADERS.items()}
        for encoding in ("gzip", "identity"):
            asked = urllib.request.Request(
                f"{server.address}/{plotly_script.ADDRESS}", headers={"Accept-Encoding": encoding}
            )
            with urllib.request.urlopen(asked) as answer:
                sent = answer.read()
                assert answer.headers.get_content_subtype() == "javascript"
                assert ("immutable" in answer.headers["Cache-Control"]) == (script == "app.py")
            assert b"plotly.js v" in (gzip.decompress(sent) if encoding == "gzip" else sent)[:100]
        assert "Traceback" not in server.log.read_text("utf-8")


def test_who_starts_it_on_a_machine_with_a_screen_sees_it(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    code = f"import pathlib, sys; pathlib.Path('{seen}').write_text(sys.argv[1])"
    shown = {"BROWSER": f'{sys.executable} -c "{code}" %s'}
    with started("app.py", ROOT, tmp_path, "--server.headless", "false", path="/lab", **shown) as server:
        end = time.monotonic() + 20
        while not (seen.exists() and seen.read_text()) and time.monotonic() < end:
            time.sleep(0.1)
        assert seen.read_text() == server.address
