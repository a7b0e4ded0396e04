"""What a session holds of files: those that were chosen, the one in use, whether the upload panel is open, and what was
computed of them.

Uploads live here and nowhere else, so that nothing of them outlives or leaves the session.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from rr_core.io import UnreadableFile
from rr_core.io.decoding import COUNT_FIRST
from rr_core.limits import READ_SECONDS_MAX
from rr_core.populations import Population
from server import jobs, sessions

_TOO_MUCH = f"Reading the file takes more memory or time than it may. {COUNT_FIRST}"
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Uploaded:
    """A file in use: ``understood`` is what was read, in words, ``reading`` how: arguments of
    `rr_core.io.read_distribution`, and "sha256" of the file."""

    population: Population
    file_name: str
    understood: str
    reading: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class File:
    """A file that was chosen. Its bytes stay where Streamlit holds them, so that the server can let go of them."""

    file_id: str
    name: str
    size: int

    def bytes(self) -> bytes:
        """All of it; `NoRoom` where the server let go of it."""
        context = get_script_run_ctx()
        found = context.uploaded_file_mgr.get_files(context.session_id, [self.file_id]) if context else []
        if not found:
            raise sessions.NoRoom(sessions.LET_GO)
        return found[0].data


def chosen_files(key: str) -> list[File]:
    """The files in the uploader with this key, which was drawn in this run, after saying why one that was chosen was not
    kept. Its value is emptied: Streamlit keeps it for minutes after its visitor left."""
    if refusal := sessions.held().refused:
        st.error(refusal, icon=":material/error:")
    value = st.session_state.get(key)
    chosen = value if isinstance(value, list) else [value]
    files = [one for one in chosen if isinstance(one, UploadedFile)]
    for one in files:
        one.truncate(0)
    if files:
        sessions.held().gone.discard(sessions.UPLOADS)
    return [File(one.file_id, one.name, one.size) for one in files]


def has_files(key: str) -> bool:
    """Whether there are files in the uploader with this key, drawn or not."""
    value = st.session_state.get(key)
    return any(isinstance(one, UploadedFile) for one in (value if isinstance(value, list) else [value]))


def forget_files(but: Sequence[File] = ()) -> None:
    """Let go of this session's uploaded files, which have been read, but for those that may be read again."""
    if (context := get_script_run_ctx()) is not None:
        files, session = context.uploaded_file_mgr, context.session_id
        kept = files.get_files(session, [one.file_id for one in but])
        files.remove_session_files(session)
        if isinstance(files, MemoryUploadedFileManager):
            for one in kept:
                files.add_file(session, one)


def are_held(files: Sequence[File]) -> bool:
    """Whether the server still has these files of this session."""
    context, ids = get_script_run_ctx(), [one.file_id for one in files]
    held = context.uploaded_file_mgr.get_files(context.session_id, ids) if context else None
    return held is not None and len(held) == len(ids)


def say_if_let_go() -> None:
    """Where no file is chosen: say so if the server let go of the one that was."""
    if sessions.UPLOADS in sessions.held().gone:
        st.warning(sessions.LET_GO, icon=":material/info:")


def uploaded() -> Uploaded | None:
    """The file in use; None where there is none, or the server let go of it."""
    upload: Uploaded | None = sessions.held().get("upload")
    return upload


def use(upload: Uploaded) -> None:
    sessions.held().put("upload", upload)
    forget_files()
    close_upload()


def open_upload(*, keep_users: bool = False) -> None:
    """Show the upload panel. With ``keep_users`` an accepted file does not change N, because a link set it."""
    st.session_state["_upload_open"] = "keep" if keep_users else "set"


def close_upload() -> None:
    st.session_state.pop("_upload_open", None)


def upload_open() -> bool:
    return "_upload_open" in st.session_state


def keeps_users() -> bool:
    return st.session_state.get("_upload_open") == "keep"


def cached(name: str, about: Hashable, make: Callable[[], T]) -> T:
    """``make()``, cached in this session under ``name`` until ``about`` differs: no shared cache may hold uploads."""
    mine = sessions.held()
    held: tuple[Hashable, T] | None = mine.get(_cached(name))
    if held is None or held[0] != about:
        forget(name)  # before the next is made: they need not be held at once
        held = (about, make())
        mine.put(_cached(name), held)
    return held[1]


def latest(name: str) -> Any:
    """What `cached` made last under this name; None where there is nothing, or it was let go of."""
    held: tuple[Hashable, Any] | None = sessions.held().get(_cached(name))
    return None if held is None else held[1]


def forget(name: str) -> None:
    """Hold no longer what `cached` made last under this name."""
    sessions.held().pop(_cached(name))


def _cached(name: str) -> str:
    return f"latest_{name}"


def read_by_worker(
    size: int, job: Callable[[], Callable[..., T]], look: jobs.Look, *, reports: bool = False
) -> T:
    """What the job makes of an upload of so many bytes; the others as in `read_once` and `jobs.run`. `UnreadableFile`
    says what is wrong with it, or that it takes too much; `NoRoom` that the server is short of memory."""
    with sessions.room(size):
        try:
            return jobs.run(
                job(), look=look, reports=reports, memory=size, seconds=READ_SECONDS_MAX, lane="file"
            )
        except jobs.Lost:
            raise UnreadableFile(_TOO_MUCH) from None


def read_once(
    name: str,
    about: Hashable,
    files: Iterable[File],
    job: Callable[[], Callable[..., T]],
    words: str = "",
) -> T:
    """What the job makes of these uploaded files, or its refusal, cached as by `cached`: a file is not read each time
    the page is drawn. ``job`` makes what a worker is to call, ``words`` are those of a bar. `UnreadableFile` is the
    refusal; `NoRoom`: the server is short of memory."""

    def outcome() -> tuple[Any, str]:
        place = st.empty()

        def look(ahead: int, done: float | None) -> None:
            if ahead:
                place.info("Waiting: this server is busy with the files of others…")
            elif done is not None:
                place.progress(min(done, 1.0), f"{words}: {done:.0%}")
            elif not words:
                place.caption("Reading the file…")
            sessions.held()  # ends a run that was overtaken

        size = sum(sessions.to_read(file.name, file.size) for file in files)
        try:
            return read_by_worker(size, job, look, reports=bool(words)), ""
        except UnreadableFile as error:
            return None, f"{error}"
        finally:
            place.empty()

    made, refusal = cached(name, about, outcome)
    if refusal:
        raise UnreadableFile(refusal)
    return made  # type: ignore[no-any-return]
