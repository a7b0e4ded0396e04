"""Work that takes seconds: a button to start it, progress, a Stop that keeps what was reached, and its result.

A result belongs to a key ``about`` (any hashable value) and is shown while the page has the same key. Finished results
are shared between sessions unless an upload is involved.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from pages._ui import dials
from pages._ui.draw_results import LARGE
from rr_core.rounding import counted
from server import jobs, sessions

_PATIENCE = 3.0  # seconds
_COLLECTIONS = (50, 200, 1000)
_GONE = 5.0  # seconds without its visitor after which a run is stopped


class _Made(Exception):
    """Another session has made the result that this one waits to make."""


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
    """Write that a result is partial: ``done`` of ``total`` of a unit, a noun in the plural."""
    st.info(f"Stopped after {done:,} of {counted(total, unit[:-1])}; this is what they show.")


def start_button(name: str, label: str, about: Hashable) -> bool:
    """Draw the start button, and Stop while the work runs; whether `run_with_progress` is to work in this run."""
    st.button(label, type="primary", on_click=request, args=(name, about), key=f"{name}_start")
    requested = bool(st.session_state.get(f"_{name}_requested") == (about,))
    if requested:
        st.button("Stop", on_click=_withdraw, args=(name,), key=f"{name}_stop")
    return requested


def outcome(started: bool, name: str, about: Hashable, *run: Any, k: int, shared: bool) -> Any:
    """The `result`, after the work of `run_with_progress` where it is to be done in this run."""
    if started:
        run_with_progress(name, about, *run, k=k, shared=shared)
    return result(name, about)


def run_with_progress(
    name: str,
    about: Hashable,
    total: int,
    unit: str,
    work: Callable[..., Any],
    *,
    k: int,
    shared: bool,
) -> None:
    """Have the work done under a progress bar, as a job of ``total`` steps called ``unit``, store its result, and rerun
    the page; wait where the server is at work on as many runs as it takes, or another session on the same."""
    bar = st.progress(0.0, "Starting…")
    # Fetched now: once a run is being ended, a touch of the session's state raises.
    held = sessions.held()
    ended = st.session_state[f"_{name}_ended"] = threading.Event()
    interruption: list[BaseException] = []
    # when the visitor was last seen, and whether that is too long ago
    here, is_left = time.monotonic(), False

    def look(ahead: int, done: int | None) -> bool:
        nonlocal here, is_left
        if ahead:
            bar.progress(0.0, f"Waiting: this server is busy with {counted(ahead, 'run')} of others…")
            if shared and sessions.SHARED.find((name, about)) is not None:
                raise _Made
        now = time.monotonic()
        held.used, here = now, here if sessions.has_left(held.session) else now
        is_left = now - here > _GONE
        if is_left:  # Streamlit itself would run on for nobody
            return True
        try:
            if done is None:
                dials.look()
            else:
                bar.progress(min(done / total, 1.0), f"{done:,} of {total:,} {unit}")
        except BaseException as stop:  # how Streamlit ends a run; what was reached is kept before it may
            interruption.append(stop)
        return bool(interruption)

    size, lane = sessions.BYTES_PER_CATEGORY * k, "large" if k > LARGE else "run"
    try:
        with sessions.room(size, in_turn=False):
            result = jobs.run(work, look=look, reports=True, memory=size, lane=lane)
        held.put(f"{name}_result", (about, result))
        if shared and not interruption and not is_left:
            sessions.SHARED.put((name, about), result)
    except _Made:
        pass
    except (sessions.NoRoom, jobs.Lost) as error:
        if interruption:
            raise interruption[0] from None
        _withdraw(name)
        bar.empty()
        st.warning(f"{error}")
        return
    finally:
        ended.set()
    if interruption:
        raise interruption[0]
    _withdraw(name)
    st.rerun()


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
