"""What a visitor does first after the server has been restarted is done, not lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import ROOT, free_port, started

SCENARIO = "dist=zipf&s=1.5&k=20&eps=1&n=2000&seed=3"


@asynccontextmanager
async def reconnected(old: Visitor) -> AsyncIterator[Visitor]:
    """A visitor with the page of an old one on his screen, whose session the server does not know."""
    async with Visitor.at(old.address) as visitor:
        visitor.page, visitor.query = old.page, old.query
        visitor.widgets, visitor.dials, visitor.answered = old.widgets, old.dials, old.answered
        yield visitor


async def before(address: str) -> Visitor:
    async with Visitor.at(address) as visitor:
        await visitor.open("noisy_histogram", SCENARIO)
        assert visitor.dials
        return visitor


async def after(old: Visitor) -> None:
    async with reconnected(old) as visitor:
        await visitor.press("New draw", wait=60)
        await visitor._until(lambda: "seed=4" in visitor.written, 60)
        assert not visitor.errors
    async with reconnected(old) as visitor:
        await visitor.move("epsilon", 2.5)
        await visitor._until(lambda: "eps=2.5" in visitor.written, 60)
        assert "seed=3" in visitor.written
        await visitor.rerun()  # and it is done once
        await visitor.press("New draw", wait=60)
        await visitor._until(lambda: "seed=4" in visitor.written, 60)
        assert "eps=2.5" in visitor.written
        assert not visitor.errors


@pytest.mark.slow
def test_what_is_done_first_after_a_restart_is_done(tmp_path: Path) -> None:
    port = free_port()
    with started("app.py", ROOT, tmp_path, port=port) as server:
        old = finish(before(server.address))
    with started("app.py", ROOT, tmp_path, port=port) as server:
        finish(after(old))
