"""Fixtures of the page harness; what few tests need is imported there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.app.experiments import House


@pytest.fixture(autouse=True)
def no_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no browser to wait for."""
    monkeypatch.setattr("pages._ui.frame._HEAD_START", 0)


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A server whose sweeps go one cell further when the test says so."""
    from pages._ui.experiments import runs
    from tests.app.experiments import House

    made = House(monkeypatch)
    monkeypatch.setattr(runs, "_queue", lambda: made.queue)
    yield made
    for job in list(made.queue._jobs):
        job.watchers.clear()
    made.wait(lambda: not made.queue._at_work)
