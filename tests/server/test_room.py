"""Rooms: the same cases in memory, in a file and in PostgreSQL; two servers on one database; a database that fails."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sql

from server.room import store as rooms
from server.room.store import Bad, Broken, Closed, Question, Store, Unknown
from tests import missing
from tests.browser.server import free_port

TEXT, ANSWERS, EPSILON = "Have you ever?", ("Yes", "No", "Perhaps"), 1.5
DAY = 86_400.0
SLOW = pytest.mark.slow
POSTGRESQL = pytest.param("postgresql", marks=SLOW)


def token(number: int) -> str:
    return f"token-{number:012}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """An empty database of Debian's PostgreSQL, in a cluster that ends with these tests."""
    newest = max(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None
    )
    if newest is None:
        missing("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="rr-") as folder:
        port, as_its_user = free_port(), []
        if os.geteuid() == 0:  # as whom it refuses to run
            shutil.chown(folder, "postgres")
            as_its_user = ["runuser", "-u", "postgres", "--"]

        def run(program: str, *options: str) -> None:
            # No pipe: it would be open as long as the cluster runs.
            with Path(folder, "log").open("a") as log:
                command = [*as_its_user, str(newest / program), "-D", f"{folder}/data", *options]
                subprocess.run(command, check=True, stdout=log, stderr=log, cwd=folder)

        settings = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
        try:
            run("initdb", "--auth=trust", "--username=rooms", "--encoding=UTF8", "--no-locale", "--no-sync")
            run("pg_ctl", "--wait", "-o", f"{settings} -c fsync=off", "start")
            yield f"postgresql+psycopg://rooms@127.0.0.1:{port}/postgres"
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                run("pg_ctl", "--wait", "--mode=immediate", "stop")


@pytest.fixture(params=["memory", "file", POSTGRESQL])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where rooms are kept; no rooms are there."""
    if request.param == "postgresql":
        address: str = request.getfixturevalue("cluster")
        engine = sql.create_engine(address)
        rooms._TABLES.drop_all(engine)
        engine.dispose()
        return address
    return "" if request.param == "memory" else str(tmp_path / "rooms.sqlite")


@pytest.fixture
def held(place: str) -> Iterator[Store]:
    with contextlib.closing(Store(place)) as one:
        yield one


@pytest.fixture
def code(held: Store) -> str:
    return held.open_room(TEXT, ANSWERS, EPSILON)[0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time that rooms are told; it stands until a test moves it on."""
    one = SimpleNamespace(now=1_800_000_123.456789, monotonic=time.monotonic)
    one.time = lambda: one.now
    monkeypatch.setattr(rooms, "time", one)
    return one


def now(held: Store, code: str) -> Question:
    return held.room(code).result().now


def rows(held: Store) -> list[tuple]:
    """All that is kept."""
    every = [sql.select(table) for table in rooms._TABLES.sorted_tables]
    return held.do(lambda database: [tuple(row) for one in every for row in database.execute(one)]).result()


def test_a_room_is_opened_and_found(held: Store) -> None:
    opened = [held.open_room(f"  {TEXT}\n", [*ANSWERS[:2], " ", "Perhaps  "], EPSILON) for _ in range(60)]
    codes = {code for code, _ in opened}
    assert len(codes) == len({key for _, key in opened}) == 60
    assert {len(code) for code in codes} == {6}
    assert set("".join(codes)) == set("CDFGHJKMNPRTVWXY")
    question = Question(1, TEXT, ANSWERS, EPSILON, True, 0, (0, 0, 0))
    assert all(held.room(code).result() == rooms.Room(code, (question,)) for code in codes)
    assert (question.state, question.n) == ("open", 0)


@pytest.mark.parametrize(
    ("text", "answers", "said"),
    [
        (" \n", ANSWERS, "no question"),
        ("x" * 201, ANSWERS, "201"),
        (TEXT, "a", "is 1"),
        (TEXT, "abcdefghijklm", "is 13"),
        (TEXT, ["a", "x" * 61], "61"),
        (TEXT, ["Straße", "STRASSE"], "twice"),
    ],
)
@pytest.mark.parametrize("place", ["memory"], indirect=True)
def test_a_question_that_cannot_be_asked(text, answers, said, held: Store, code: str) -> None:
    for ask in (held.open_room, lambda *asked: held.ask(code, *asked)):
        with pytest.raises(Bad, match=said):
            ask(text, answers, EPSILON)
    assert len(rows(held)) == 2  # the room and its question


def test_the_key_is_the_teachers_and_is_not_kept(held: Store) -> None:
    (code, key), (other, other_key) = (held.open_room(TEXT, ANSWERS, EPSILON) for _ in range(2))
    assert held.is_teacher(code, key)
    assert held.is_teacher(other, other_key)
    wrong = (other_key, "", key[:-1], key.swapcase(), "ключ", rooms._hash(key))
    assert not any(held.is_teacher(code, one) for one in wrong)
    assert not any(held.is_teacher("CDFGHJ", one) for one in (key, ""))
    assert not [row for row in rows(held) if key in repr(row)]


def test_no_more_is_kept_than_is_said() -> None:
    columns = {table.name: " ".join(table.columns.keys()) for table in rooms._TABLES.sorted_tables}
    assert columns == {
        "rooms": "code key_hash last",
        "questions": "room number text answers epsilon is_open step hands",
        "reports": "room question token report",
        "guesses": "room question token guess",
    }


def test_a_token_reports_once_from_however_many_threads_and_servers(place, held, code) -> None:
    sent = [(number % 3, token(number)) for number in range(90)] * 3
    random.Random(1).shuffle(sent)
    # Two servers share no memory.
    with contextlib.ExitStack() as after, ThreadPoolExecutor(8) as threads:
        other = after.enter_context(contextlib.closing(Store(place))) if place else held
        jobs = zip(cycle((held, other)), sent, strict=False)
        list(threads.map(lambda job: job[0].report(code, 1, *job[1]).result(), jobs))
        for server in (held, other):
            assert now(server, code).counts == (30, 30, 30)
    held.report(code, 1, 2, token(0)).result()  # another report of the same token
    held.report(code, 1, "Perhaps", token(1000)).result()
    assert now(held, code).counts == (30, 30, 31)


@pytest.mark.parametrize("place", ["memory"], indirect=True)
def test_a_full_room_keeps_what_it_has(held: Store, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "MOST_REPORTS", 2)
    for send in (held.report, held.guess):
        for number in (1, 2, 1):
            send(code, 1, number, token(number)).result()
        with pytest.raises(Closed, match="full"):
            send(code, 1, 0, token(3)).result()
        send(code, 1, 0, token(2)).result()
    assert (now(held, code).counts, now(held, code).guesses) == ((0, 1, 1), (1, 2))


def test_from_the_first_report_to_the_result(held: Store, code: str) -> None:
    with pytest.raises(Bad, match="Nobody"):
        held.reveal(code, 1)
    held.report(code, 1, "No", token(1)).result()
    for guess, of in ((70, 1), (0, 2), (100, 3), (5, 1)):
        held.guess(code, 1, guess, token(of)).result()
    held.set_open(code, False)
    assert now(held, code).state == "closed"
    with pytest.raises(Closed, match="closed"):
        held.report(code, 1, 0, token(2)).result()
    held.report(code, 1, 0, token(1)).result()  # as an answer may have been lost
    held.guess(code, 1, 8, token(4)).result()
    for hands in ((1, 2), (0, 0, 0), (1, 2, -1)):
        with pytest.raises(Bad, match="hands"):
            held.count_hands(code, hands)
    held.count_hands(code, (3, 0, 1))
    held.reveal(code, 2)
    with pytest.raises(Closed, match="too late"):
        held.guess(code, 1, 8, token(5)).result()
    seen = Question(1, TEXT, ANSWERS, EPSILON, False, 2, (0, 1, 0), (0, 8, 70, 100), (3, 0, 1))
    assert now(held, code) == seen
    assert (seen.state, seen.n) == ("revealed", 1)


def test_the_next_question(held: Store, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held.guess(code, 1, 3, token(1)).result()
    held.ask(code, "Second?", ["a", "b"], 2.0)  # nobody has reported to the first
    with pytest.raises(Closed, match="over"):
        held.report(code, 1, 0, token(1)).result()
    held.report(code, 2, 1, token(1)).result()
    monkeypatch.setattr(rooms, "_MOST_QUESTIONS", 2)
    held.ask(code, TEXT, ANSWERS, EPSILON)
    with pytest.raises(Bad, match="many questions"):
        held.ask(code, "Fourth?", ["a", "b"], 2.0)
    second, third = held.room(code).result().questions
    assert second == Question(2, "Second?", ("a", "b"), 2.0, False, 0, (0, 1))
    assert third == Question(3, TEXT, ANSWERS, EPSILON, True, 0, (0, 0, 0))
    held.report(code, 2, 0, token(1)).result()  # it has reported
    held.report(code, 3, 0, token(1)).result()  # a token is of one question
    assert [question.n for question in held.room(code).result().questions] == [1, 1]


def test_a_deleted_room_is_gone_until_it_is_brought_back(held: Store) -> None:
    code, key = held.open_room(TEXT, ANSWERS, EPSILON)
    other, _ = held.open_room(TEXT, ANSWERS, EPSILON)
    for where in (code, other):
        held.report(where, 1, 0, token(1)).result()
        held.guess(where, 1, 9, token(2)).result()
    before, room = sorted(rows(held), key=str), held.room(code).result()
    deleted = held.delete(code)
    assert deleted.room == room
    assert not [row for row in rows(held) if code in row]
    for lost in (held.room(code), held.report(code, 1, 0, token(3)), held.guess(code, 1, 0, token(3))):
        with pytest.raises(Unknown, match=code):
            lost.result()
    for act in (held.delete, lambda code: held.set_open(code, False), lambda code: held.reveal(code, 1)):
        with pytest.raises(Unknown, match=code):
            act(code)
    held.bring_back(deleted)
    held.bring_back(deleted)
    held.report(code, 1, 1, token(1)).result()
    assert sorted(rows(held), key=str) == before
    assert held.is_teacher(code, key)


def test_a_room_ends_thirty_days_after_its_last_report(clock: SimpleNamespace, held: Store) -> None:
    used, unused = (held.open_room(TEXT, ANSWERS, EPSILON)[0] for _ in range(2))
    clock.now += 20 * DAY
    held.report(used, 1, 0, token(1)).result()
    clock.now += 9.9 * DAY
    assert {held.room(code).result().code for code in (used, unused)} == {used, unused}
    clock.now += 20.09 * DAY
    with pytest.raises(Unknown):
        held.room(unused).result()
    assert now(held, used).n == 1
    clock.now += 1.1 * DAY
    with pytest.raises(Unknown):
        held.room(used).result()
    assert not rows(held)


@pytest.mark.parametrize("place", ["memory"], indirect=True)
def test_a_server_that_holds_all_rooms_that_it_can(held, code, monkeypatch) -> None:
    monkeypatch.setattr(rooms, "_MOST_ROOMS", 2)
    held.report(code, 1, 0, token(1)).result()
    first, second = (held.open_room(TEXT, ANSWERS, EPSILON)[0] for _ in range(2))
    with pytest.raises(Unknown):
        held.room(first).result()
    held.report(second, 1, 0, token(1)).result()
    with pytest.raises(Bad, match="as many rooms"):
        held.open_room(TEXT, ANSWERS, EPSILON)
    assert [now(held, used).n for used in (code, second)] == [1, 1]


@pytest.mark.parametrize("place", ["file", POSTGRESQL], indirect=True)
def test_no_other_server_asks_or_closes_between_a_look_and_its_report(place, held, code, monkeypatch) -> None:
    """The question would be replaced as one that nobody has reported to, with a report that was thanked for."""
    look = rooms._now

    def slowly(*args: Any) -> Any:
        seen = look(*args)
        time.sleep(0.4)
        return seen

    monkeypatch.setattr(rooms, "_now", slowly)
    with contextlib.closing(Store(place)) as other:
        report = held.report(code, 1, 0, token(1))
        time.sleep(0.1)
        other.ask(code, "Second?", ["a", "b"], 2.0)
    report.result()
    assert [question.n for question in held.room(code).result().questions] == [1, 0]


def test_many_servers_start_at_once_on_a_new_file(tmp_path: Path) -> None:
    for again in range(5):
        with ThreadPoolExecutor(6) as threads:
            opened = list(threads.map(Store, [str(tmp_path / f"{again}.sqlite")] * 6))
        code, _ = opened[0].open_room(TEXT, ANSWERS, EPSILON)
        for one in opened:
            assert now(one, code).number == 1
            one.close()


@pytest.mark.parametrize("place", ["file"], indirect=True)
def test_bytes_of_the_file(clock: SimpleNamespace, place: str, held: Store) -> None:
    """No key, of no report its time and of no two which came first, and after a room is deleted nothing of it."""
    code, key = held.open_room(TEXT, ANSWERS, EPSILON)
    times = []
    for number in range(30, 0, -1):
        clock.now += 1.25
        times.append(clock.now)
        held.report(code, 1, 0, token(number)).result()
    kept = b"".join(Path(f"{place}{end}").read_bytes() for end in ("", "-wal"))
    assert struct.pack(">d", times[0] - 1.25) in kept  # when it was opened
    for seconds in times:
        assert struct.pack(">d", seconds) not in kept
        assert struct.pack(">i", int(seconds)) not in kept
    assert TEXT.encode() in kept
    assert key.encode() not in kept
    every = sql.text("SELECT token, report FROM reports")
    in_order = held.do(lambda connection: [token for token, _ in connection.execute(every)]).result()
    assert in_order == sorted(in_order)
    held.delete(code)
    left = b"".join(path.read_bytes() for path in Path(place).parent.iterdir())
    assert TEXT.encode() not in left
    assert token(30).encode() not in left


@contextlib.contextmanager
def locked(held: Store, place: str) -> Iterator[None]:
    if "://" in place:
        engine = sql.create_engine(place)
        with engine.begin() as connection:
            connection.execute(sql.text("LOCK TABLE rooms, questions, reports"))
            yield
        engine.dispose()
        return
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextlib.contextmanager
def read_only(held: Store, place: str) -> Iterator[None]:
    """As root may write to any file, the connection is told that it may not."""

    def told(setting: str) -> None:
        with contextlib.closing(held._engine.raw_connection()) as connection:
            connection.cursor().execute(f"PRAGMA query_only={setting}")

    told("ON")
    yield
    told("OFF")


@contextlib.contextmanager
def full(held: Store, place: str) -> Iterator[None]:
    """No file of this process grows any further."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path(f"{place}-wal").stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("place", "trouble"),
    [
        *(("file", trouble) for trouble in (locked, read_only, full)),
        pytest.param("postgresql", locked, marks=SLOW),
    ],
    indirect=["place"],
)
def test_a_database_that_fails_is_said_to_and_works_again(trouble, place, monkeypatch) -> None:
    monkeypatch.setattr(rooms, "_PATIENCE", 0.4)
    with contextlib.closing(Store(place)) as held:
        code, _ = held.open_room(TEXT, ANSWERS, EPSILON)
        held.report(code, 1, 0, token(0)).result()
        before = rows(held)
        with trouble(held, place):
            begin = time.monotonic()
            sent = [held.report(code, 1, 1, token(number)) for number in range(1, 9)]
            for one in (*sent, held.guess(code, 1, 50, token(1))):
                with pytest.raises(Broken, match="cannot use its database"):
                    one.result(10)
            with pytest.raises(Broken):
                held.ask(code, TEXT, ANSWERS, EPSILON)
            # One waits for all who ask at the same time.
            assert time.monotonic() - begin < 2
        assert rows(held) == before
        held.report(code, 1, 1, token(1)).result()
        assert now(held, code).counts == (1, 1, 0)


def test_where_this_server_keeps_rooms(tmp_path, monkeypatch) -> None:
    (tmp_path / "no folder").touch()
    opened: list[Store] = []
    monkeypatch.setattr(rooms, "_OF_THIS_SERVER", opened)
    for named in (f"sqlite:///file:{tmp_path}/none?mode=ro&uri=true", "no://place"):
        monkeypatch.setenv("RR_ROOMS", named)
        with pytest.raises(Broken):
            rooms.store()
    monkeypatch.delenv("RR_ROOMS")
    monkeypatch.setattr(rooms.sys, "platform", "linux")
    for folder, warning in (("no folder", rooms._IN_MEMORY), ("data", "")):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / folder))
        assert rooms.warning() == warning
        assert rooms.store() is rooms.store() is rooms.opened()
        opened.pop().close()
    assert (tmp_path / "data" / "randomized-response" / "rooms.sqlite").exists()
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(rooms.Path, "home", lambda: tmp_path)
    for platform, own in (
        ("linux", ".local/share"),
        ("darwin", "Library/Application Support"),
        ("win32", "AppData/Local"),
    ):
        monkeypatch.setattr(rooms.sys, "platform", platform)
        assert rooms.place_of_rooms() == str(tmp_path / own / "randomized-response" / "rooms.sqlite")
