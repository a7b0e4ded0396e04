"""The memory of the server, kept below a limit: what sessions hold and what all share is let go of when its visitors have
left, or when memory is short; large work waits until there is room.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import math
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit import runtime
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner, get_script_run_ctx
from threadpoolctl import threadpool_limits

from rr_core.limits import MAX_UPLOAD_BYTES
from server import jobs
from server.middleware import GATE
from server.priority import TURNS, stand_back

T = TypeVar("T")
SETTING = "RR_MEMORY_MB"
_USUAL, _LEAST = 2048, 1024  # megabytes
# The work on one category of a large scenario, at its peak: its counts, four estimates, and what is computed of them.
BYTES_PER_CATEGORY = 350
# A process that computes sweeps: at rest, and its work on one category (measured).
_WORKER, _WORKER_PER_CATEGORY = 66 * 2**20, 100
# The most that reading one file takes (ten million rows with groups and weights: 0.5 GB).
_READING = 3 * 2**28
# Files that may hold far more than their size.
_PACKED = (".gz", ".zip", ".parquet", ".xlsx", ".xlsm", ".xls", ".ods", ".sav", ".zsav", ".dta", ".sas7bdat")
_SMALL_FILE = 2**18  # a text of that size needs no room of its own
_TIMES_FILE = 36  # memory for reading a larger text of short names, beside its size (measured)
_PART_OF_A_SESSION, _PART_OF_UPLOADS, _PART_OF_SHARED, _MOST_OF_ROOM = 0.25, 0.25, 0.2, 0.5  # of the limit
_LEAST_SHARED = 2**14  # bytes that the smallest result counts for
_PART_OF_ONES_UPLOADS = 0.125  # of the limit, but never less than what may be read together
_PART_ON_THE_WAY, _PART_OF_SMALL_ONES = 0.2, 0.03  # of the limit, for uploads that are not at their end
_ROOM_WITHIN = 0.9  # part of the limit; the rest is for what asks for no room
_FULL, _RELIEVED = 0.85, 0.7  # parts of the limit: from when things are let go of, and until when
_SMALL = 2**20  # bytes: letting go of less helps nobody
_MUCH, _VERY_MUCH = 2**26, 2**28  # bytes: work on as many is felt by others, and takes turns
_AWAY = 30.0  # seconds after which a visitor has left: a telephone in a pocket, or a closed page
# Bytes; who left less may come back to it until the session ends.
_MUCH_LEFT_BEHIND = 5 * 2**20
# Seconds after which it ends. Streamlit has it end after two minutes, but only when somebody else leaves; what a last
# visitor left would be kept until then, and it cannot be ended any more after the two minutes.
_ENDS = 110.0
_IDLE = 10.0  # seconds after which a session's things may be let go of for others
_PATIENCE = 20.0  # seconds
_LOOK, _WATCH = 0.3, 1.0  # seconds between two looks for room, and at the memory
# Seconds; each looks at all that is free, or at all objects for garbage, and keeps all pages waiting for up to 0.3 s.
_BETWEEN_RELIEFS, _BETWEEN_RETURNS, _BETWEEN_COLLECTIONS = 6.0, 20.0, 20.0
_YOUNGER_COLLECTIONS_BETWEEN_FULL_ONES = 200
# Seconds after which a thread that computes hands the interpreter to one that waits for it; Python's own 0.005 keep a
# figure waiting that long for each long work beside it, whenever it had let go of the interpreter.
_SWITCH_INTERVAL = 0.001
_TO_FETCH, _MOST_TO_FETCH = 60.0, 2**26  # seconds and bytes: files on their way to browsers
UPLOADS = "uploads"  # a name among what was let go of
LET_GO = "The server let go of your file, for want of memory or because you were away: choose it again."


class NoRoom(RuntimeError):
    """There is no room for a large piece of work. ``str(error)`` is one plain sentence."""


@cache
def limit() -> int:
    """The most bytes that the server may take; the usual number where the setting is none."""
    text = os.environ.get(SETTING, str(_USUAL))
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) >= _LEAST):
        logging.getLogger(__name__).warning(
            "%s is %.20r, but has to be a whole number of megabytes, %d or more: %d is used",
            SETTING,
            text,
            _LEAST,
            _USUAL,
        )
        text = str(_USUAL)
    return int(text) * 2**20


def resident() -> int:
    """Bytes that this process and its workers take now; what is held, where the system does not tell (Linux does)."""
    own = Path("/proc/self/statm")
    if not own.exists():
        return sum(held.size for held in _known())
    return _pages(own) * os.sysconf("SC_PAGE_SIZE") + _resident_of_workers()


def _resident_of_workers() -> int:
    """What workers have for themselves: libraries in memory are this process's, too."""
    workers = _workers(int(time.monotonic()))
    return sum(_pages(one, shared=False) for one in workers) * os.sysconf("SC_PAGE_SIZE") if workers else 0


@lru_cache(1)
def _workers(second: int) -> tuple[Path, ...]:
    """Where the system tells the memory of each worker, looked up once in a second: with two hundred threads that takes
    milliseconds, and everybody who waits for room looks at the memory."""
    found: list[str] = []
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += children.read_text().split()
    return tuple(Path(f"/proc/{child}/statm") for child in found)


def _pages(path: Path, *, shared: bool = True) -> int:
    """The pages in memory of a process, with those that others use as well or without."""
    try:
        _, all_pages, of_others, *_ = map(int, path.read_text().split())
    except (OSError, ValueError):  # it has just ended
        return 0
    return all_pages if shared else all_pages - of_others


def size_of(value: Any) -> int:
    """Bytes that a value holds, about: long lists are judged by some of their items."""
    return _size(value, set())


def _size(value: Any, seen: set[int]) -> int:
    if isinstance(value, str | bytes | bytearray | memoryview):
        return 50 + len(value)
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return _size_of_items(value.ravel(), value.size, seen)
    if isinstance(value, np.ndarray | pa.Array | pa.ChunkedArray | pa.Table):
        return int(value.nbytes)
    if isinstance(value, dict):
        return _size_of_items(value, len(value), seen) + _size_of_items(value.values(), len(value), seen)
    if isinstance(value, list | tuple | set | frozenset):
        return _size_of_items(value, len(value), seen)
    slots = getattr(type(value), "__slots__", ())
    parts = [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in slots)]
    return 50 + sum(_size(part, seen) for part in parts)


def _size_of_items(items: Iterable[Any], count: int, seen: set[int]) -> int:
    some = list(islice(items, 0, None, max(1, count // 50)))
    return 8 * count + sum(_size(one, seen) for one in some) * count // max(1, len(some))


@dataclass(slots=True)
class _Entry:
    value: Any
    size: int
    used: float


@dataclass(eq=False)
class Held:
    """What one session holds, by name; others may have it let go of. ``gone`` are names of what was let go of and not
    put back since, ``refused`` says why its last upload was not kept."""

    session: str
    gone: set[str] = field(default_factory=set)
    refused: str = ""
    _entries: OrderedDict[str, _Entry] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    used: float = field(default_factory=time.monotonic)

    @property
    def size(self) -> int:
        with self._lock:
            return sum(entry.size for entry in self._entries.values())

    def get(self, name: str) -> Any:
        """What is held by this name; None where it is not, or was let go of."""
        with self._lock:
            self.used = time.monotonic()
            entry = self._entries.get(name)
            if entry is None:
                return None
            entry.used = self.used
            return entry.value

    def put(self, name: str, value: Any) -> None:
        """Hold a value; the session's oldest others make way if it holds more than its part."""
        entry = _Entry(value, size_of(value), time.monotonic())
        with self._lock:
            self._entries[name] = entry
            self.gone.discard(name)
            others = sorted((one.used, key) for key, one in self._entries.items() if key != name)
            for _, key in others:
                if self.size <= _PART_OF_A_SESSION * limit():
                    break
                if self._entries[key].size >= _SMALL:
                    self.let_go(key)

    def pop(self, name: str) -> None:
        """Hold it no longer."""
        with self._lock:
            self._entries.pop(name, None)

    def let_go(self, *names: str) -> None:
        """Let go of these, or of all that is held, for want of memory."""
        with self._lock:
            for name in names or tuple(self._entries):
                if self._entries.pop(name, None) is not None:
                    self.gone.add(name)


_SESSIONS: WeakSet[Held] = WeakSet()
_REGISTER = threading.Lock()  # a set that grows while another thread goes through it raises


def _remember(one: Held) -> None:
    """Count what a session holds among all that is held, for as long as the session has it."""
    with _REGISTER:
        _SESSIONS.add(one)


def _known() -> list[Held]:
    with _REGISTER:
        return list(_SESSIONS)


def held() -> Held:
    """What this session holds."""
    mine: Held | None = st.session_state.get("_held")
    if mine is None:
        context = get_script_run_ctx()
        mine = st.session_state["_held"] = Held(context.session_id if context else "")
        _remember(mine)
    mine.used = time.monotonic()
    return mine


def has_left(session: str) -> bool:
    """Whether this session has no visitor now."""
    server = _server()
    return server is not None and not server.is_active_session(session)


@dataclass(eq=False)
class Shared:
    """Results that all sessions share, each made once, within ``most`` bytes (the latest stays whatever its size);
    those not used for longest make way. Streamlit's own caches count no bytes, and any visitor can empty them."""

    most: Callable[[], float]
    _results: OrderedDict[Hashable, tuple[Any, int]] = field(default_factory=OrderedDict)
    _held: int = 0
    _at_work: dict[Hashable, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, key: Hashable) -> Any:
        """The result with this key; None where it is not there."""
        with self._lock:
            if key not in self._results:
                return None
            self._results.move_to_end(key)
            return self._results[key][0]

    def put(self, key: Hashable, result: Any, size: int = 0) -> None:
        """Share a result; ``size`` in bytes as in `get`."""
        size = max(size, size_of(result), _LEAST_SHARED)
        with self._lock:
            self._held += size - self._results.pop(key, (None, 0))[1]
            self._results[key] = result, size
            while self._held > self.most() and len(self._results) > 1:
                self._held -= self._results.popitem(last=False)[1][1]

    def get(self, key: Hashable, make: Callable[[], T], size: int = 0) -> T:
        """The result with this key, made now where it is not there; who else asks for it meanwhile waits. What ``make``
        raises is passed on. ``size`` are its bytes when it has made all its parts."""
        found: T | None = self.find(key)
        if found is not None:
            return found
        with self._lock:
            at_work = self._at_work.setdefault(key, threading.Lock())
        if not at_work.acquire(blocking=False):
            TURNS.end()  # whoever makes it may need one
            if not at_work.acquire(timeout=_LOOK):
                _wait_until(lambda: at_work.acquire(timeout=_LOOK), math.inf)
        try:
            found = self.find(key)
            if found is None:
                self.put(key, found := make(), size)
            return found
        finally:
            with self._lock:
                self._at_work.pop(key, None)
            at_work.release()

    def clear(self) -> None:
        with self._lock:
            self._results.clear()
            self._held = 0


# Of this server.
SHARED = Shared(lambda: _PART_OF_SHARED * limit())


def _tell_of_upload(session: str, refusal: str) -> None:
    """Have the page of this session say why its upload was not kept; with "" a new one has begun. On the server's own
    thread. Streamlit 1.67 itself shows the number of the status alone, and has no public way to draw a page again."""
    one = next((one for one in _known() if one.session == session), None)
    if one is None or one.refused == refusal:
        return
    one.refused = refusal
    if refusal and (inner := _app_session(session)) is not None:
        again = ClientState()
        again.CopyFrom(inner._client_state)
        again.ClearField("widget_states")  # which may be older than what the session holds
        inner.request_rerun(again)


def runner_of(session: str) -> ScriptRunner | None:
    """What runs the pages of this session; None in a test of a page alone."""
    inner = _app_session(session)
    return None if inner is None else inner._scriptrunner


def _app_session(session: str) -> AppSession | None:
    """Streamlit's own session, to which a page has no public way; None where it has no visitor."""
    server = _server()
    info = server._session_mgr.get_active_session_info(session) if server is not None else None
    return None if info is None else info.session


_PROMISED: dict[object, int] = {}
_TURN: set[object] = set()  # the one whose turn it is, while it is among the promised
_for_workers = 0  # what is promised to the processes that compute sweeps; in time they take it
_ROOM = threading.Lock()
_relieved = -_BETWEEN_RELIEFS  # when things were last let go of for want of room
_collected = -_BETWEEN_COLLECTIONS  # when garbage was last looked for
_ASKED = threading.Event()  # somebody waits for room,
_asked_for = 0.0  # and has it when so many bytes are taken
_FETCHED = threading.Lock()
_to_fetch: dict[int, tuple[int, float]] = {}  # files that were made: bytes of each, and until when it is kept


@contextmanager
def room(size: int, *, in_turn: bool = True) -> Iterator[None]:
    """Room for work that takes so many bytes at its peak: given when it is there, after idle things were let go of;
    `NoRoom` where others kept it too long. ``in_turn``: work on very many bytes, of seconds and not of minutes, waits
    for the end of other such work, which keeps pages from the interpreter."""
    size = min(size, int(_MOST_OF_ROOM * limit()))
    if size < _SMALL:
        yield
        return
    mine = object()
    try:
        _wait_until(lambda: _promise(mine, size, in_turn=in_turn and size >= _VERY_MUCH) == 1)
        if size >= _MUCH and is_served():
            stand_back()
        yield
    finally:
        _PROMISED.pop(mine, None)


@contextmanager
def room_for_workers(k: int, most: int, is_given_up: Callable[[], bool]) -> Iterator[int]:
    """Room for processes that compute sweeps of up to ``k`` categories, at most so many: as many as there is room for
    once there is any for one, and none where the sweep is given up before."""
    global _for_workers
    each = _WORKER + _WORKER_PER_CATEGORY * k
    most = max(1, min(most, int(_MOST_OF_ROOM * limit()) // each))
    mine, number = object(), 0
    try:
        while not number and not is_given_up():
            number = _promise(mine, each, most=most)
            if not number:
                time.sleep(_LOOK)
        _for_workers = _PROMISED.pop(mine, 0)
        yield number
    finally:
        _for_workers = 0


def _wait_until(ready: Callable[[], bool], patience: float | None = None) -> None:
    """Wait, and say so on the page, which ends the wait when its visitor leaves or presses Stop; `NoRoom` after
    ``patience`` seconds, or the usual time. The turn of this page ends: what follows takes long."""
    TURNS.end()
    end, place = time.monotonic() + (_PATIENCE if patience is None else patience), None
    while not ready():
        if place is None:
            place = st.empty()
            place.info("Waiting: this server is busy with other work…")
        if time.monotonic() > end:
            place.empty()
            raise NoRoom(
                "This server has too little memory left for that: what is open on other pages holds it. Close some, or "
                "try again in a minute, with fewer categories or a smaller file."
            )
        time.sleep(_LOOK)
        # ends a run that was overtaken; `held` would count its things as in use
        st.session_state.get("_held")
    if place is not None:
        place.empty()


def to_read(name: str, size: int) -> int:
    """Bytes that reading a file of this name and size may take beside it."""
    if name.lower().endswith(_PACKED):
        return _READING
    return 0 if size < _SMALL_FILE else min(_TIMES_FILE * size, _READING)


def _promise(key: object, size: int, *, most: int = 1, in_turn: bool = False) -> int:
    """Book room for as many things of this size as there is room for now, at most so many; their number."""
    with _ROOM:
        if in_turn and _TURN & _PROMISED.keys():
            return 0
        to_come = max(0, _for_workers - _resident_of_workers())
        left = _ROOM_WITHIN * limit() - sum(_PROMISED.values()) - to_come - GATE.coming
        taken = resident()
        if taken + most * size > left:
            _have_relieved(left - most * size)
            taken = resident()
        number = max(0, min(most, int((left - taken) // size)))
        if number:
            _PROMISED[key] = number * size
            if in_turn:
                _TURN.clear()
                _TURN.add(key)
        return number


def relieve(target: float) -> None:
    """Let go of things until at most ``target`` bytes are taken, or nothing idle is left: first of what anybody can have
    made again, then of what the sessions hold that were not used for longest."""
    SHARED.clear()
    # Looking for what is free keeps all pages waiting: twice, not once for each session.
    idle, raw, before = time.monotonic() - _IDLE, _raw(), _return_memory(_BETWEEN_COLLECTIONS)
    short = before - target
    for one in _sessions().values():
        if short <= 0:
            break
        if one.used < idle:
            short -= one.size + raw.get(one.session, 0)
            _let_go_of_session(one)
    if short < before - target:
        _return_memory(_BETWEEN_COLLECTIONS)


def _relieve_now_and_then(target: float) -> None:
    """`relieve`, unless that was done a moment ago: many may be waiting for room, and look often."""
    global _relieved
    if time.monotonic() - _relieved >= _BETWEEN_RELIEFS:
        relieve(target)
        _relieved = time.monotonic()


def _have_relieved(target: float) -> None:
    """Have `relieve` done by the thread that looks at the memory: one of low priority would keep pages waiting longer."""
    global _asked_for
    if is_served():
        _asked_for = target
        _ASKED.set()
    else:
        _relieve_now_and_then(target)


def _sessions() -> dict[str, Held]:
    """What sessions hold that is worth letting go of, by identifier; those not used for longest come first."""
    raw = _raw()
    known = {one.session: one for one in _known()}
    unknown = {name: Held(name, used=0.0) for name in raw.keys() - known.keys()}
    worth = [one for one in (known | unknown).values() if one.size >= _SMALL or one.session in raw]
    return {one.session: one for one in sorted(worth, key=lambda one: one.used)}


def _let_go_of_session(one: Held) -> None:
    one.let_go()
    _let_go_of_buttons(one)
    if one.session in _raw():
        _let_go_of_uploads(one)


def _let_go_of_buttons(one: Held) -> None:
    """What a download button would make holds what it is made of; who comes back has the page drawn anew."""
    if (server := _server()) is not None:
        server.media_file_mgr.clear_session_refs(one.session)
        server.media_file_mgr.remove_orphaned_files()


def keep_until_fetched(made: bytes, mime: str, name: str) -> None:
    """Keep a file that a download button made for a minute: Streamlit lets go of it as soon as two runs of anybody's page
    have ended, and in a class that is before the browser has asked for it."""
    if (server := _server()) is None:
        return
    with _FETCHED:
        slot = next(slot for slot in range(len(_to_fetch) + 1) if slot not in _to_fetch)
        _to_fetch[slot] = len(made), time.monotonic() + _TO_FETCH
        server.media_file_mgr.add(made, mime, str(slot), name, is_for_static_download=True)
        while len(_to_fetch) > 1 and sum(size for size, _ in _to_fetch.values()) > _MOST_TO_FETCH:
            _let_go_of_file(server, next(iter(_to_fetch)))


def _let_go_of_file(server: runtime.Runtime, slot: int) -> None:
    """An empty file takes its place; Streamlit lets go of the one that was there after two more runs."""
    del _to_fetch[slot]
    server.media_file_mgr.add(b"", "", str(slot))


def _let_go_of_fetched(server: runtime.Runtime) -> None:
    """Let go of the files whose minute is over."""
    with _FETCHED:
        for slot, (_, until) in list(_to_fetch.items()):
            if until <= time.monotonic():
                _let_go_of_file(server, slot)


def _let_go_of_uploads(one: Held) -> None:
    if (server := _server()) is not None:
        server.uploaded_file_mgr.remove_session_files(one.session)
        one.gone.add(UPLOADS)


def _make_way(session: str, coming: int, together: int) -> None:
    """Let go of uploads before this session's next one, of so many bytes, is held: of its own, if it would hold more
    than one may and so push out the files of others, then of others', for all that come ``together``."""
    most = max(MAX_UPLOAD_BYTES, int(_PART_OF_ONES_UPLOADS * limit()))
    one = _sessions().get(session)
    if one is not None and _raw().get(session, 0) + coming > most:
        _let_go_of_uploads(one)
    _bound_uploads(together)


def _bound_uploads(coming: int = 0) -> bool:
    """Let go of the uploads of those who were here longest ago, even while they are at work, until all together, with
    as many bytes as are coming, are within their part. Whether there were any to let go of."""
    raw, any_gone = _raw(), False
    for one in _sessions().values():
        if sum(raw.values()) + coming <= _PART_OF_UPLOADS * limit():
            break
        if raw.pop(one.session, 0):
            _let_go_of_uploads(one)
            any_gone = True
    return any_gone


def _raw() -> dict[str, int]:
    """Bytes that sessions have uploaded, which Streamlit holds until they end, by their identifiers."""
    server = _server()
    storage = getattr(server.uploaded_file_mgr, "file_storage", {}) if server is not None else {}
    return {
        name: sum(len(one.data) for one in list(files.values()))
        for name, files in list(storage.items())
        if files
    }


def _server() -> runtime.Runtime | None:
    """The running server; None in a test of a page alone."""
    server = runtime.get_instance() if runtime.exists() else None
    return server if type(server) is runtime.Runtime else None


def is_served() -> bool:
    """Whether a server runs this page, and not a test of it alone."""
    return _server() is not None


def _return_memory(least: float = 0.0) -> int:
    """Give what is free back to the system, after looking for garbage if it is time to; what is taken then."""
    global _collected
    if time.monotonic() - _collected >= least:
        gc.collect()
        _collected = time.monotonic()
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # only the C library of Linux has it
        ctypes.CDLL(None).malloc_trim(0)
    return resident()


_PREPARING = threading.Lock()  # the server and its first page may both begin


def prepare() -> None:
    """Once, when the server starts, or with its first page where it was started without `app.py`: one thread for each
    product of matrices, the interpreter handed on soon, no garbage collection of what the imports made, and full
    collections seldom (one keeps a hundred sessions waiting for 0.1 s); the memory watched, a worker started. The
    threads of BLAS wait for each other at full speed: on busy processors two took up to a hundred times as long as
    one."""
    with _PREPARING:
        _prepare()


@cache  # of the process: a visitor can empty the caches of Streamlit, and what is frozen again and again is never freed
def _prepare() -> None:
    threadpool_limits(1, "blas")
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()
    youngest, younger, _ = gc.get_threshold()
    gc.set_threshold(youngest, younger, _YOUNGER_COLLECTIONS_BETWEEN_FULL_ONES)
    if _server() is not None:
        _start_watching()
        jobs.open_pool()


def _start_watching() -> None:
    """Have the memory of this server watched, and its uploads bounded, from now on."""
    GATE.most, GATE.kept = int(_PART_ON_THE_WAY * limit()), int(_PART_OF_SMALL_ONES * limit())
    GATE.tell, GATE.make_way = _tell_of_upload, _make_way
    threading.Thread(target=_watch, name="memory", daemon=True).start()


def _close(session: str) -> None:
    """End a session that was left, with the state that Streamlit would keep for it."""
    server = _server()
    if server is None:
        return

    def end() -> None:
        if not server.is_active_session(session):  # its visitor is not back
            server.close_session(session)

    server._get_async_objs().eventloop.call_soon_threadsafe(end)


def _watch() -> None:
    watch, looked = Watch(), time.monotonic()
    while (server := _server()) is not None:
        asked = _ASKED.wait(max(0.0, looked + _WATCH - time.monotonic()))
        try:
            if asked:
                _ASKED.clear()
                with _ROOM:
                    _relieve_now_and_then(_asked_for)
            if time.monotonic() - looked >= _WATCH:
                looked = time.monotonic()
                _let_go_of_fetched(server)
                watch.look(server.is_active_session)
        except Exception:
            logging.getLogger(__name__).exception("the memory was not looked at")


@dataclass(eq=False)
class Watch:
    """Looks at the memory again and again, and lets go of what visitors left behind: of sessions that have no visitor
    since ``left``, after half a minute (``settled``) and after two (``ended``); ``owed`` says whether memory that was
    let go of may not have been given back to the system yet."""

    left: dict[str, float] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    empty: bool = True
    owed: bool = False
    returned: float = -_BETWEEN_RETURNS

    def look(self, is_here: Callable[[str], bool]) -> None:
        """One look; ``is_here`` says whether a session has a visitor."""
        now, large = time.monotonic(), _sessions()
        sessions = {one.session: one for one in _known()} | large
        anybody = any(is_here(name) for name in sessions)
        self.left = {name: self.left.get(name, now) for name in sessions if not is_here(name)}
        long_ago = {name for name, since in self.left.items() if now - since > _AWAY}
        short, raw = resident() > _FULL * limit(), _raw()
        much = {
            name for name, one in large.items() if short or one.size + raw.get(name, 0) > _MUCH_LEFT_BEHIND
        }
        gone = long_ago - self.settled | long_ago & much
        for name in gone:
            if name in much:
                _let_go_of_session(sessions[name])
                _close(name)
            else:
                _let_go_of_buttons(sessions[name])
        self.settled = long_ago
        over = {name for name, since in self.left.items() if now - since > _ENDS}
        ends, self.ended = over - self.ended, over
        for name in ends:
            _close(name)
        self.owed |= bool(ends) and not anybody  # who is here does not wait for little
        too_many = _bound_uploads()
        if not anybody and not self.empty:
            SHARED.clear()
        if self.owed and now - self.returned >= _BETWEEN_RETURNS:
            _return_memory()
            self.owed, self.returned = False, now
        # Sessions are closed by another thread: what they held can be given back from the next look on.
        self.owed |= bool(gone or too_many or (not anybody and not self.empty))
        if resident() > _FULL * limit():
            with _ROOM:
                _relieve_now_and_then(_RELIEVED * limit())
        self.empty = not anybody
