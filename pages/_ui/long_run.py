"""Work that takes seconds: a button to start it, progress, a Stop that keeps what was reached, and its result.

A result is about something (any hashable value); it is shown as long as the page is about the same. Finished
results are shared with the whole class when they are about no upload.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")
# Told how much is done; True asks to stop.
Progress = Callable[[int], bool]
_MOST_SHARED = 16
_PATIENCE = 3.0  # seconds
_COLLECTIONS = (50, 200, 1000)


def how_many(key: str) -> int:
    """How many repeated collections a run is to make."""
    usual = _COLLECTIONS[1]
    chosen = st.segmented_control(
        "How many collections", _COLLECTIONS, default=usual, key=key, format_func="{:,}".format
    )
    return chosen or usual


def stopped(done: int, total: int, unit: str) -> None:
    """Say that a result is a partial one."""
    st.info(f"Stopped after {done:,} of {total:,} {unit}; this is what they show.")


def offer(name: str, label: str, about: Hashable) -> bool:
    """The start button, and Stop while it runs; for a horizontal container.

    Returns:
        Whether the work is to be done now: then call `follow`.
    """
    st.button(label, type="primary", on_click=request, args=(name, about), key=f"{name}_start")
    requested = bool(st.session_state.get(f"_{name}_requested") == (about,))
    if requested:
        st.button("Stop", on_click=_forget, args=(name,), key=f"{name}_stop")
    return requested


def follow(
    name: str, about: Hashable, total: int, unit: str, work: Callable[[Progress], Any], *, shared: bool
) -> None:
    """Do the work with a progress bar, keep its result, and draw the page anew.

    Args:
        name: of this kind of work on its page.
        about: what the result will be about.
        total: what the progress counts up to.
        unit: what it counts, in the plural.
        work: called with a progress callback (how many are done; True asks it to stop), returns the result.
        shared: whether a finished result may be shown to other sessions.
    """
    bar = st.progress(0.0, "Starting…")
    # Fetched now: once a run is being ended, a touch of the session's state raises.
    held: list[Any] = st.session_state.setdefault(f"_{name}_result", [])
    ended = st.session_state[f"_{name}_ended"] = threading.Event()
    interruption: list[BaseException] = []

    def progress(done: int) -> bool:
        try:
            bar.progress(min(done / total, 1.0), f"{done:,} of {total:,} {unit}")
        except BaseException as stop:  # how Streamlit ends a run; what was reached is kept before it may
            interruption.append(stop)
        return bool(interruption)

    try:
        result = work(progress)
        held[:] = (about, result)
    finally:
        ended.set()
    if interruption:
        raise interruption[0]
    if shared:
        finished = _finished()
        while len(finished) >= _MOST_SHARED:
            finished.pop(next(iter(finished)), None)
        finished[name, about] = result
    _forget(name)
    st.rerun()


def last_of(growing: Iterable[T], done: Callable[[T], int], progress: Progress) -> T:
    """The last of the results that work gives step by step, or the one at which it was asked to stop."""
    for result in growing:
        if progress(done(result)):
            break
    return result


def result(name: str, about: Hashable) -> Any:
    """The result about this, of this session or of another that finished; None when there is none."""
    ended: threading.Event | None = st.session_state.get(f"_{name}_ended")
    if ended is not None:
        # Stop starts a new run at once, while the old one is still on its way to its next progress.
        ended.wait(_PATIENCE)
    held = st.session_state.get(f"_{name}_result")
    if held and held[0] == about:
        return held[1]
    return _finished().get((name, about))


def request(name: str, about: Hashable) -> None:
    """Have `offer` say yes in the coming run, as its button does."""
    st.session_state[f"_{name}_requested"] = (about,)


def _forget(name: str) -> None:
    st.session_state.pop(f"_{name}_requested", None)


@st.cache_resource(show_spinner=False)
def _finished() -> dict[tuple[str, Hashable], Any]:
    """Finished results, for the whole class: what one student ran is there for the next."""
    return {}
