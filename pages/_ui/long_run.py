"""Work that takes seconds: a button to start it, progress, a Stop that keeps what was reached, and its result.

A result belongs to a key ``about`` (any hashable value) and is shown while the page has the same key. Finished results
are shared between sessions unless an upload is involved.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import streamlit as st

from pages._ui.work import LARGE
from rr_core.simulate import Progress
from server import sessions
from server.priority import stand_back
from server.workers import cores

T = TypeVar("T")
# Told how much is done; True asks to stop.
_PATIENCE = 3.0  # seconds
_COLLECTIONS = (50, 200, 1000)
# Of a whole server: more runs than cores only take turns. Those of many categories take minutes and have a place of their
# own, so that the others need not wait for them.
_PLACES = threading.BoundedSemaphore(max(2, cores()))
_LARGE_PLACE = threading.BoundedSemaphore(1)
_LOOK = 0.3  # seconds between two looks for a free place
_GONE = 5.0  # seconds without its visitor after which a run is stopped


def how_many(key: str) -> int:
    """Widget for the number of repeated collections; returns it."""
    return st.segmented_control(
        "How many collections",
        _COLLECTIONS,
        required=True,
        default=_COLLECTIONS[1],
        key=key,
        persist_state="page",
        format_func="{:,}".format,
    )


def stopped(done: int, total: int, unit: str) -> None:
    """Write that a result is partial: ``done`` of ``total``."""
    st.info(f"Stopped after {done:,} of {total:,} {unit}; this is what they show.")


def start_button(name: str, label: str, about: Hashable) -> bool:
    """Draw the start button, and Stop while the work runs, in a horizontal container.

    Returns:
        True when the work is to be done in this run, by `run_with_progress`.
    """
    st.button(label, type="primary", on_click=request, args=(name, about), key=f"{name}_start")
    requested = bool(st.session_state.get(f"_{name}_requested") == (about,))
    if requested:
        st.button("Stop", on_click=_withdraw, args=(name,), key=f"{name}_stop")
    return requested


def run_with_progress(
    name: str,
    about: Hashable,
    total: int,
    unit: str,
    work: Callable[[Progress], Any],
    *,
    k: int,
    shared: bool,
) -> None:
    """Do the work under a progress bar, store its result, and rerun the page. While as many runs as the server takes are
    at work, wait for a place.

    Args:
        name: of this kind of work, unique among the pages.
        about: key of the result.
        total: number of steps.
        unit: noun for a step, in the plural.
        work: called with a progress callback, returns the result. The callback takes the number of steps done and
            returns True when the work is to stop.
        k: number of categories, which says how much memory the work takes.
        shared: whether a finished result may be shown to other sessions.
    """
    bar = st.progress(0.0, "Starting…")
    # Fetched now: once a run is being ended, a touch of the session's state raises.
    held = sessions.held()
    ended = st.session_state[f"_{name}_ended"] = threading.Event()
    interruption: list[BaseException] = []
    here = [time.monotonic()]  # when the visitor was last seen

    def progress(done: int) -> bool:
        now = time.monotonic()
        held.used, here[0] = now, here[0] if sessions.has_left(held.session) else now
        if now - here[0] > _GONE:  # Streamlit itself would run on for nobody
            return True
        try:
            bar.progress(min(done / total, 1.0), f"{done:,} of {total:,} {unit}")
        except BaseException as stop:  # how Streamlit ends a run; what was reached is kept before it may
            interruption.append(stop)
        return bool(interruption)

    if sessions.is_served():
        stand_back()
    places = _LARGE_PLACE if k > LARGE else _PLACES
    try:
        while not places.acquire(timeout=_LOOK):
            bar.progress(0.0, "Waiting: this server is busy with the runs of others…")
        try:
            with sessions.room(sessions.BYTES_PER_CATEGORY * k, in_turn=False):
                result = work(progress)
        finally:
            places.release()
        held.put(f"{name}_result", (about, result))
    except sessions.NoRoom as error:
        _withdraw(name)
        bar.empty()
        st.warning(f"{error}")
        return
    finally:
        ended.set()
    if interruption:
        raise interruption[0]
    if shared:
        sessions.SHARED.put((name, about), result)
    _withdraw(name)
    st.rerun()


def last_of(growing: Iterable[T], done: Callable[[T], int], progress: Progress) -> T:
    """The last item of ``growing``, or the item at which ``progress``, called with ``done`` of each item,
    returned True."""
    for result in growing:
        if progress(done(result)):
            break
    return result


def result(name: str, about: Hashable) -> Any:
    """The result with this key, of this session or a shared one; None when there is none."""
    ended: threading.Event | None = st.session_state.get(f"_{name}_ended")
    if ended is not None:
        # Stop starts a new run at once, while the old one is still on its way to its next progress.
        ended.wait(_PATIENCE)
    held: tuple[Hashable, Any] | None = sessions.held().get(f"{name}_result")
    if held and held[0] == about:
        return held[1]
    return sessions.SHARED.find((name, about))


def request(name: str, about: Hashable) -> None:
    """Make `start_button` return True in the next run, as if it had been pressed."""
    st.session_state[f"_{name}_requested"] = (about,)


def _withdraw(name: str) -> None:
    st.session_state.pop(f"_{name}_requested", None)
