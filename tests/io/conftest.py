"""The workers in which files are read that could cost much, or end who reads them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from server.jobs import Pool


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    made = Pool(2)
    yield made
    for worker in made._idle:
        worker.end()
