"""Fixtures of the page harness; what few tests need is imported there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

if TYPE_CHECKING:
    from tests.app.experiments import House


@pytest.fixture(autouse=True)
def room_beside_other_tests(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """What other tests left in this process is not counted as the server's, but where its memory is what is tested."""
    from server import sessions

    if request.module.__name__ != "tests.server.test_sessions":
        most = sessions.limit() + sessions.resident()
        monkeypatch.setattr(sessions, "limit", lambda: most)


class _Uploads(MemoryUploadedFileManager):
    """Holds an upload from run to run, as a server does; the harness brings what its widgets hold again before each."""

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        if not self.get_files(session_id, [file.file_id]):
            super().add_file(session_id, file)


@pytest.fixture(autouse=True)
def uploads_stay(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    """The harness would have a new place for uploads in each run."""
    files = _Uploads("/mock/upload")
    place = "streamlit.testing.v1.local_script_runner.MemoryUploadedFileManager"
    monkeypatch.setattr(place, lambda endpoint: files)
    return files


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A server whose sweeps go one cell further when the test says so."""
    from pages._ui.experiments import runs
    from tests.app.experiments import House

    made = House(monkeypatch)
    monkeypatch.setattr(runs.sweeps, "SERVER", made.queue)
    yield made
    for job in list(made.queue._jobs):
        job.watchers.clear()
    made.wait(lambda: not made.queue._at_work)
