"""The server's memory: what is held is counted, what was left behind is let go of, and large work waits for room."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from server import sessions
from server.middleware import Gate
from server.priority import NICENESS
from tests.app.opening import charts, checked, opened, widget
from tests.documents import documents_with

MEGABYTE = 2**20
FRUIT = b"fruit,count\n" + b"".join(b"fruit %d,3\n" % i for i in range(300))


def words(page: AppTest) -> str:
    kinds = (page.markdown, page.caption, page.success, page.warning, page.error)
    return "\n".join(box.value for kind in kinds for box in kind)


def megabytes(count: float) -> np.ndarray[Any, Any]:
    return np.zeros(int(count * MEGABYTE), np.uint8)


@pytest.fixture(autouse=True)
def server(monkeypatch):
    """A server of 1,024 MB that takes what its sessions hold, and 100 MB more; sessions are idle at once."""
    monkeypatch.setattr(sessions, "limit", lambda: 1024 * MEGABYTE)
    monkeypatch.setattr(sessions, "_SESSIONS", alive := set())
    monkeypatch.setattr(sessions, "SHARED", sessions.Shared(lambda: 200 * MEGABYTE))
    monkeypatch.setattr(sessions, "_IDLE", 0.0)
    monkeypatch.setattr(sessions, "_LOOK", 0.02)
    monkeypatch.setattr(sessions, "_relieved", -sessions._BETWEEN_RELIEFS)
    monkeypatch.setattr(sessions, "resident", lambda: 100 * MEGABYTE + sum(held.size for held in alive))
    return alive


@pytest.fixture
def session(server):
    """Makes sessions that hold so many megabytes each."""

    def make(name: str, *sizes: float) -> sessions.Held:
        held = sessions.Held(name)
        server.add(held)
        for place, size in enumerate(sizes):
            held.put(f"thing {place}", megabytes(size))
        return held

    return make


def together(*works: Callable[[], object]) -> None:
    """Do all of these at once, each in a thread of its own, to their end."""
    threads = [threading.Thread(target=work) for work in works]
    for one in threads:
        one.start()
    for one in threads:
        one.join(10)


@dataclass
class Whole:
    names: list[str]
    counts: np.ndarray[Any, Any]


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (megabytes(3), 3e6, 3.3e6),
        ([f"name {i}" for i in range(100_000)], 5e6, 9e6),
        (np.array([f"name {i}" for i in range(100_000)], object), 5e6, 9e6),
        (Whole(["x" * 100] * 1000, np.zeros(10**6)), 8e6, 8.3e6),
        ({i: str(i) for i in range(10_000)}, 5e5, 2e6),
        ([[float(i)] * 3 for i in range(1000)], 3e4, 3e5),
    ],
)
def test_sizes_are_about_right(value, least, most):
    assert least <= sessions.size_of(value) <= most


def test_a_session_holds_no_more_than_its_part(session):
    held = session("one", 100, 100, 100)
    assert held.size <= 256.1 * MEGABYTE
    assert held.get("thing 0") is None  # the oldest made way
    assert held.gone == {"thing 0"}
    assert held.get("thing 2") is not None
    held.put("thing 0", megabytes(1))
    assert not held.gone


def test_the_last_thing_stays_however_large(session):
    assert session("one", 10, 400).get("thing 1") is not None


def test_room_is_made_by_those_who_were_idle_for_longest(session):
    first, second = session("first", 240), session("second", 240)
    first.used, second.used = time.monotonic() - 20, time.monotonic() - 10
    with sessions.room(500 * MEGABYTE):
        assert not first.size
        assert second.size
    with sessions.room(500 * MEGABYTE):
        assert second.size
    assert first.gone == {"thing 0"}


def test_who_is_at_work_keeps_what_he_has(session, monkeypatch):
    monkeypatch.setattr(sessions, "_IDLE", 10.0)
    monkeypatch.setattr(sessions, "_PATIENCE", 0.1)
    busy = [session(f"busy {i}", 240) for i in range(4)]
    with pytest.raises(sessions.NoRoom, match="too little memory left"), sessions.room(500 * MEGABYTE):
        pass
    assert all(held.size for held in busy)


def test_memory_is_given_back_but_not_at_every_look_while_many_leave(session, monkeypatch):
    """Which keeps all pages waiting."""
    now, returns = time.monotonic(), []
    monkeypatch.setattr(sessions, "_return_memory", lambda least=0.0: returns.append(now))
    monkeypatch.setattr(sessions.time, "monotonic", lambda: now)
    leaving = [session(f"{i}", 6).session for i in range(60)]
    watch, here = sessions.Watch(), {"one who stays", *leaving}
    session("one who stays")
    for name in (*leaving, *[""] * int(sessions._AWAY + sessions._BETWEEN_RETURNS + 1)):
        here.discard(name)
        watch.look(here.__contains__)
        now += 1
    assert not any(held.size for held in sessions._SESSIONS)
    assert 1 <= len(returns) <= (now - returns[0]) / sessions._BETWEEN_RETURNS + 1
    assert not watch.owed


def test_shared_results_go_before_anybody_s_own(session):
    held = session("one", 200)
    sessions.SHARED.put("large", object())
    with sessions.room(512 * MEGABYTE):
        assert sessions.SHARED.find("large") is not None  # there is room for both
    others = session("two", 240), session("three", 240)
    with sessions.room(300 * MEGABYTE):
        assert sessions.SHARED.find("large") is None
    assert held.size + sum(one.size for one in others) <= 724 * MEGABYTE


def test_room_is_given_back_after_a_failure():
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), sessions.room(500 * MEGABYTE):
            raise ZeroDivisionError


def test_what_a_visitor_left_behind_goes_after_half_a_minute_and_its_session_is_closed(session, monkeypatch):
    now, closed = time.monotonic(), []
    monkeypatch.setattr(sessions.time, "monotonic", lambda: now)
    monkeypatch.setattr(sessions, "_close", closed.append)
    gone, here, back = (session(name, 50) for name in ("gone", "here", "back"))
    watch = sessions.Watch()
    for seconds, there, stays in (
        (0, {"here"}, True),
        (sessions._AWAY - 1, {"here", "back"}, True),
        (2, {"here"}, False),
    ):
        now += seconds
        watch.look(there.__contains__)
        assert bool(gone.size) == stays
        assert closed == ["gone"] * (not stays)
    assert here.size
    assert back.size  # who came back in time


@pytest.mark.parametrize(("others", "upload", "stays"), [(1, 2, True), (4, 2, False), (1, 4, False)])
def test_who_left_little_behind_finds_it_again_unless_memory_is_short(
    others, upload, stays, session, uploads, monkeypatch
):
    now, closed = time.monotonic(), []
    monkeypatch.setattr(sessions.time, "monotonic", lambda: now)
    monkeypatch.setattr(sessions, "_close", closed.append)
    gone = session("gone", 2)
    uploads.add("gone", upload)
    for i in range(others):
        session(f"{i}", 240)
    watch = sessions.Watch()
    for _ in range(3):
        watch.look(lambda name: name != "gone")
        now += sessions._AWAY + 1
        for one in sessions._SESSIONS - {gone}:
            one.used = now + 1
    assert bool(gone.size) == bool(uploads.get_files("gone", ["file of gone"])) == stays
    assert ("gone" in closed) != stays


def test_a_full_server_lets_go_without_being_asked(session):
    for i in range(4):
        session(f"{i}", 240)
    sessions.Watch().look(lambda name: True)
    assert sessions.resident() <= 0.7 * sessions.limit()


def test_shared_results_are_forgotten_when_nobody_is_left(session):
    session("one")
    sessions.SHARED.put("scenario", "work")
    watch = sessions.Watch()
    watch.look(lambda name: True)
    assert sessions.SHARED.find("scenario")
    watch.look(lambda name: False)
    assert not sessions.SHARED.find("scenario")


def test_shared_results_hold_so_many_bytes_and_those_not_used_for_longest_make_way():
    shared = sessions.Shared(lambda: 10 * MEGABYTE)
    for key in "abc":
        shared.put(key, megabytes(3))
    assert shared.find("a") is not None
    shared.put("d", megabytes(3))
    assert [key for key in "abcd" if shared.find(key) is not None] == ["a", "c", "d"]
    shared.put("c", megabytes(1))  # instead of the one before
    shared.put("e", "grows", 3 * MEGABYTE)
    assert [key for key in "abcde" if shared.find(key) is not None] == ["a", "c", "d", "e"]
    shared.put("f", megabytes(50))
    assert [key for key in "abcdef" if shared.find(key) is not None] == ["f"]
    for i in range(1000):  # the smallest count, too
        shared.put(i, i)
    assert sum(shared.find(i) is not None for i in range(1000)) == 10 * MEGABYTE // sessions._LEAST_SHARED


def test_what_cannot_be_made_is_tried_again_by_the_next():
    shared = sessions.Shared(lambda: MEGABYTE)
    with pytest.raises(ZeroDivisionError):
        shared.get("a", lambda: 1 / 0)
    assert shared.get("a", lambda: 1.0) == 1.0


@pytest.mark.parametrize(
    ("text", "megabytes_meant"),
    [("4096", 4096), ("1023", 2048), ("²", 2048), ("9" * 5000, 2048)],
)
def test_the_limit_is_a_setting(text, megabytes_meant, monkeypatch, caplog):
    monkeypatch.undo()
    monkeypatch.setenv(sessions.SETTING, text)
    with caplog.at_level(logging.WARNING):
        assert sessions.limit.__wrapped__() == megabytes_meant * MEGABYTE
    assert bool(caplog.records) == (text != "4096")


def test_a_file_that_was_let_go_of_is_asked_for_again(server):
    page = opened("noisy_histogram")
    checked(widget(page, "Distribution").set_value("upload").run())
    checked(page.file_uploader[0].set_value(("fruit.csv", FRUIT, "text/csv")).run())
    checked(widget(page, "Use this distribution").click().run())
    assert "Your file" in words(page)
    page.session_state["_held"].let_go()
    text = words(checked(page.run()))
    assert "choose it again" in text
    assert charts(page)


@pytest.fixture
def refuse(monkeypatch):
    """Makes that there is no room from now on; gives the bytes that will be asked for in vain."""

    def from_now_on() -> list[int]:
        asked: list[int] = []

        def room(size: int, **about: object) -> AbstractContextManager[None]:
            asked.append(size)
            raise sessions.NoRoom("There is no room.")

        monkeypatch.setattr(sessions, "room", room)
        return asked

    return from_now_on


def test_reading_a_file_asks_for_room(refuse):
    data = b"fruit,count\n" + b"".join(b"fruit %d,3\n" % i for i in range(50_000))
    page = opened("noisy_histogram", "dist=upload")
    asked = refuse()
    checked(page.file_uploader[0].set_value(("fruit.csv", data, "text/csv")).run())
    assert sessions.to_read("fruit.csv", len(data)) in asked
    assert "There is no room" in words(page)


def test_simulated_reports_and_their_analysis_ask_for_room(refuse):
    page = opened("your_reports")
    checked(widget(page, "Use simulated reports").click().run())
    page.session_state["_held"].let_go("latest_analysis")
    asked = refuse()
    checked(page.run())
    assert asked == [12 * sessions.BYTES_PER_CATEGORY]
    assert "There is no room" in words(page)
    page = opened("your_reports")
    checked(widget(page, "Use simulated reports").click().run())
    assert "There is no room" in words(page)
    assert page.session_state["_held"].get("reports_used") is None


def test_a_page_without_room_says_so_and_keeps_its_controls(monkeypatch):
    monkeypatch.setattr(sessions, "resident", lambda: 1000 * MEGABYTE)
    monkeypatch.setattr(sessions, "_PATIENCE", 0.0)
    page = opened("noisy_histogram", "dist=zipf&k=1400000")
    assert "too little memory" in words(page)
    assert not page.exception
    widget(page, "Categories K").set_value(50)
    assert "too little memory" not in words(checked(page.run()))


@pytest.fixture
def uploads(monkeypatch):
    """The raw uploads of a running server, as Streamlit holds them."""
    files = MemoryUploadedFileManager("/uploads")
    media = SimpleNamespace(clear_session_refs=lambda name: None, remove_orphaned_files=lambda: None)
    server = SimpleNamespace(uploaded_file_mgr=files, media_file_mgr=media)
    monkeypatch.setattr(sessions, "_server", lambda: server)

    def add(session: str, size: float) -> None:
        files.add_file(
            session, UploadedFileRec(f"file of {session}", "a.csv", "", bytes(int(size * MEGABYTE)))
        )

    files.add = add
    return files


def test_a_small_session_that_is_at_work_keeps_its_upload(session, uploads, monkeypatch):
    monkeypatch.setattr(sessions, "_IDLE", 10.0)
    here, idle = session("here"), session("idle")
    idle.used = time.monotonic() - 20
    for name in ("here", "idle"):
        uploads.add(name, 50)
    sessions.relieve(0)
    assert uploads.get_files("here", ["file of here"])
    assert not uploads.get_files("idle", ["file of idle"])
    assert idle.gone == {sessions.UPLOADS}
    assert not here.gone


def test_an_upload_that_arrives_is_bounded_at_once(session, uploads):
    for i in range(10):
        session(f"{i}")
        sessions._make_way(f"{i}", 60 * MEGABYTE, 60 * MEGABYTE)
        uploads.add(f"{i}", 60)
        assert sum(sessions._raw().values()) <= 256 * MEGABYTE
        assert uploads.get_files(f"{i}", [f"file of {i}"])


def test_one_session_does_not_push_out_the_uploads_of_others_with_its_own(session, uploads):
    for name in ("small", "greedy"):
        session(name)
    uploads.add("small", 40)
    for i in range(8):
        sessions._make_way("greedy", 60 * MEGABYTE, 60 * MEGABYTE)
        uploads.add_file("greedy", UploadedFileRec(f"file {i}", "a.csv", "", bytes(60 * MEGABYTE)))
        assert sessions._raw()["greedy"] <= 200 * MEGABYTE
        assert uploads.get_files("greedy", [f"file {i}"])
    assert uploads.get_files("small", ["file of small"])


def test_a_server_that_is_visited_bounds_its_uploads(uploads, monkeypatch):
    monkeypatch.setattr(sessions, "GATE", gate := Gate())
    monkeypatch.setattr(sessions.threading, "Thread", lambda **about: SimpleNamespace(start=lambda: None))
    sessions._start_watching()
    assert gate.make_way is sessions._make_way
    assert 0 < gate.kept < gate.most < sessions.limit() / 4


def test_the_server_is_prepared_once_by_no_cache_that_a_visitor_can_clear(monkeypatch):
    started: list[str] = []

    def slowly() -> None:
        time.sleep(0.05)
        started.append("watch")

    monkeypatch.setattr(sessions, "_server", lambda: object())
    monkeypatch.setattr(sessions, "_start_watching", slowly)
    monkeypatch.setattr(sessions.jobs, "open_pool", lambda: started.append("pool"))
    sessions._prepare.cache_clear()
    together(sessions.prepare, sessions.prepare)  # the server, and its first page
    st.cache_resource.clear()
    st.cache_data.clear()
    sessions.prepare()
    assert sorted(started) == ["pool", "watch"]


def test_room_that_was_promised_counts():
    """Two that may work at the same time, of which only one fits."""
    first, second = object(), object()
    try:
        assert sessions._promise(first, 500 * MEGABYTE)
        assert not sessions._promise(second, 400 * MEGABYTE)
    finally:
        sessions._PROMISED.pop(first, None)
        sessions._PROMISED.pop(second, None)


def test_the_bytes_of_an_upload_are_held_once():
    """Streamlit keeps the value of a widget until its session ends, minutes after its visitor left."""
    page = opened("noisy_histogram")
    checked(widget(page, "Distribution").set_value("upload").run())
    checked(page.file_uploader[0].set_value(("fruit.csv", FRUIT, "text/csv")).run())
    assert "300 categories" in words(page)
    assert page.session_state["upload_file"].getvalue() == b""


def test_what_is_let_go_of_is_not_kept_by_the_buttons_of_its_page(session, monkeypatch):
    media = MediaFileManager(MemoryMediaFileStorage("/media"))
    server = SimpleNamespace(uploaded_file_mgr=MemoryUploadedFileManager("/uploads"), media_file_mgr=media)
    monkeypatch.setattr(sessions, "_server", lambda: server)
    monkeypatch.setattr("streamlit.runtime.media_file_manager._get_session_id", lambda: "one")
    result = Whole(["plum"], megabytes(50))
    held, kept = session("one"), weakref.ref(result)
    held.put("result", result)
    media.add_deferred(lambda result=result: bytes(result.counts), "text/csv", "0.1", "result.csv")
    del result
    sessions.relieve(0)
    gc.collect()
    assert kept() is None


def test_a_file_that_was_made_stays_until_its_browser_asked_for_it_and_is_then_let_go_of(monkeypatch):
    storage = MemoryMediaFileStorage("/media")
    media = MediaFileManager(storage)
    monkeypatch.setattr(sessions, "_server", lambda: SimpleNamespace(media_file_mgr=media))
    monkeypatch.setattr(sessions, "_MOST_TO_FETCH", 5 * MEGABYTE)

    def pressed(name: str, size: int = 10) -> str:
        def make() -> bytes:
            sessions.keep_until_fetched(bytes(size), "text/csv", name)
            return bytes(size)

        return media.execute_deferred(media.add_deferred(make, "text/csv", name, name)).split("/")[-1]

    def is_there(address: str) -> bool:
        return media.read_file(address.removesuffix(".csv")) is not None

    def others_move() -> None:
        for _ in range(3):
            media.remove_orphaned_files()

    small = pressed("small.csv")
    others_move()
    assert is_there(small)
    large = [pressed(f"{number}.csv", 2 * MEGABYTE) for number in range(4)]
    sessions._let_go_of_fetched(sessions._server())
    others_move()
    assert [is_there(one) for one in (small, *large)] == [False] * 3 + [True] * 2
    now = time.monotonic() + sessions._TO_FETCH
    monkeypatch.setattr(sessions.time, "monotonic", lambda: now)
    sessions._let_go_of_fetched(sessions._server())
    others_move()
    assert not any(is_there(one) for one in large)
    assert not sessions._to_fetch


def test_who_left_little_behind_is_ended_after_two_minutes_also_when_nobody_else_comes(session, monkeypatch):
    """Streamlit looks at the time only when the next visitor leaves."""
    now, closed, returned = time.monotonic(), [], []
    monkeypatch.setattr(sessions.time, "monotonic", lambda: now)
    monkeypatch.setattr(sessions, "_close", closed.append)
    monkeypatch.setattr(sessions, "_return_memory", lambda: returned.append(now))
    session("gone", 2)
    watch = sessions.Watch()
    while now < watch.left.get("gone", now) + sessions._ENDS:
        watch.look(lambda name: False)
        now += 1
    assert not closed
    returned.clear()
    for _ in range(2 * int(sessions._BETWEEN_RETURNS)):
        watch.look(lambda name: False)
        now += 1
    assert closed == ["gone"]
    assert len(returned) == 1


def test_what_is_in_use_is_held_once_and_its_file_as_long_as_it_is(uploads_stay):
    page = opened("your_reports")
    (place,) = [one for one in page.file_uploader if one.label == "Report files"]
    checked(place.set_value([("fruit.csv", FRUIT, "text/csv")]).run())
    assert [file.getvalue() for file in page.session_state["reports_files"]] == [b""]
    (domain,) = [one for one in page.radio if one.label.startswith("Which categories")]
    (privacy,) = [one for one in page.text_input if one.label == "Value of ε"]
    domain.set_value("seen")
    checked(privacy.set_value("2").run())
    checked(widget(page, "Analyse these reports").click().run())
    assert "**900 reports, K = 300, ε = 2" in words(page)
    assert uploads_stay._total_bytes == len(FRUIT)
    held, used = page.session_state["_held"], page.session_state["_held"].get("reports_used")
    assert used.collected.counts is used.reports.counts
    assert all(held.get(f"latest_{name}") is None for name in ("reports", "odd", "collected", "list"))
    checked(widget(page, "Other reports or settings").click().run())
    checked(widget(page, "Use simulated reports").click().run())
    assert uploads_stay._total_bytes == 0


def test_the_documents_name_the_setting_and_its_bounds():
    for name, text in documents_with(sessions.SETTING).items():
        assert all(word in text for word in (str(sessions._USUAL), str(sessions._LEAST))), name


def test_room_leaves_a_tenth_to_what_asks_for_none(session, monkeypatch):
    monkeypatch.setattr(sessions, "_PATIENCE", 0.0)
    monkeypatch.setattr(sessions, "resident", lambda: 450 * MEGABYTE)
    with pytest.raises(sessions.NoRoom), sessions.room(500 * MEGABYTE):
        pass
    with sessions.room(460 * MEGABYTE):
        pass


def test_a_class_that_asks_for_the_same_at_once_is_told_of_no_wait(monkeypatch):
    """Of what is made in a moment, and once: all have it then, and none reads that the server is busy."""
    monkeypatch.setattr(sessions, "_LOOK", 20.0)
    monkeypatch.setattr(sessions, "_wait_until", lambda *_: pytest.fail("told to wait"))
    made, found = [], []

    def make() -> str:
        made.append(1)
        time.sleep(0.2)
        return "work"

    together(*[lambda: found.append(sessions.SHARED.get("scenario", make))] * 5)
    assert found == ["work"] * 5
    assert made == [1]


def test_who_waits_for_what_another_makes_has_it_when_it_is_made(monkeypatch):
    monkeypatch.setattr(sessions, "_PATIENCE", 0.1)
    begun, done = threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        assert done.wait(20)
        return "work"

    maker = threading.Thread(target=sessions.SHARED.get, args=("scenario", make))
    maker.start()
    assert begun.wait(5)
    threading.Timer(0.4, done.set).start()
    assert sessions.SHARED.get("scenario", lambda: "made twice") == "work"
    maker.join()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has threads with priorities of their own")
@pytest.mark.parametrize(("size", "niceness"), [(500, NICENESS), (5, 0)])
def test_large_work_lets_other_pages_go_first(size, niceness, monkeypatch):
    monkeypatch.setattr(sessions, "is_served", lambda: True)
    found = []

    def work() -> None:
        with sessions.room(size * MEGABYTE):
            found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    together(work)
    assert found == [niceness]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == 0


@pytest.mark.parametrize("in_turn", [True, False])
def test_large_work_takes_turns_even_where_there_is_room_for_two_unless_it_takes_minutes(in_turn):
    most, inside = [0], []

    def work() -> None:
        with sessions.room(300 * MEGABYTE, in_turn=in_turn):
            inside.append(1)
            most[0] = max(most[0], len(inside))
            time.sleep(0.2)
            inside.pop()

    together(work, work)
    assert most == [1 if in_turn else 2]


def test_sessions_are_gone_through_while_others_begin(monkeypatch):
    monkeypatch.setattr(sessions, "_SESSIONS", weakref.WeakSet())
    alive = [sessions.Held(f"{i}") for i in range(3000)]
    begin = threading.Thread(target=lambda: [sessions._remember(one) for one in alive])
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        begin.start()
        while begin.is_alive():
            sessions._sessions()
    finally:
        sys.setswitchinterval(before)
        begin.join()
    assert len(sessions._known()) == len(alive)


def test_who_waits_for_room_does_not_count_as_at_work(monkeypatch):
    monkeypatch.setattr(sessions, "_LOOK", 0.0)
    looks = iter((False, False, True))
    used = []
    monkeypatch.setattr(sessions, "held", lambda: used.append(1))
    sessions._wait_until(lambda: next(looks))
    assert used == []


def test_the_memory_is_looked_at_while_others_wait_for_room_all_the_time(monkeypatch):
    looks: list[float] = []
    end = time.monotonic() + 10
    server = SimpleNamespace(is_active_session=None)
    monkeypatch.setattr(sessions, "_WATCH", 0.1)
    monkeypatch.setattr(sessions, "_server", lambda: None if looks or time.monotonic() > end else server)
    monkeypatch.setattr(sessions, "_relieve_now_and_then", lambda target: sessions._ASKED.set())
    monkeypatch.setattr(sessions.Watch, "look", lambda watch, is_here: looks.append(time.monotonic()))
    sessions._ASKED.set()
    sessions._watch()
    sessions._ASKED.clear()
    assert looks
