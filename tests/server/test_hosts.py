"""Under which names a server may be reached: all that deployments need, and not that of a page of another site which has
its name lead here (DNS rebinding)."""

from __future__ import annotations

from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import ROOT, Started, started

FORWARDED = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}


async def is_let_in(server: Started, host: str, headers: dict[str, str] | None = None) -> bool:
    """Whether a browser's page under this name gets a connection."""
    port = server.address.rpartition(":")[2]
    try:
        async with connect(
            f"ws://{host}/_stcore/stream",
            host="127.0.0.1",
            port=int(port),
            subprotocols=[Subprotocol("streamlit")],
            origin=Origin(f"http://{host}"),
            additional_headers=headers,
        ):
            return True
    except InvalidStatus:
        return False


async def opened(server: Started) -> None:
    async with Visitor.at(server.address) as visitor:
        await visitor.open("", "k=12")


@pytest.fixture(scope="module")
def server(app: Started) -> Started:
    """A page has been opened."""
    finish(opened(app))
    return app


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "app.localhost", "192.168.1.7"])
def test_a_laptop_is_reached_under_its_own_names(host: str, server: Started) -> None:
    assert finish(is_let_in(server, f"{host}:8501"))


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"])
def test_a_page_whose_name_was_made_to_lead_here_is_refused(host: str, server: Started) -> None:
    assert not finish(is_let_in(server, f"{host}:8501"))


@pytest.mark.parametrize(
    "headers",
    [FORWARDED, {"Via": "1.1 proxy"}, {"Forwarded": "for=203.0.113.7"}, {"X-Real-IP": "203.0.113.7"}],
)
def test_a_proxy_may_have_any_name(headers: dict[str, str], server: Started) -> None:
    assert finish(is_let_in(server, "app-of-somebody.host.example", headers))


def test_with_the_option_only_its_names_are_let_in(tmp_path: Path) -> None:
    async def all_of_them(server: Started) -> None:
        assert await is_let_in(server, "class.example", FORWARDED)
        assert not await is_let_in(server, "other.example", FORWARDED)
        assert not await is_let_in(server, "localhost", FORWARDED)

    with started("app.py", ROOT, tmp_path, "--server.allowedHosts", "class.example") as server:
        finish(all_of_them(server))
