"""What is kept of rooms: their questions and the reports, in SQLite or PostgreSQL, and nothing that tells who sent one.

All of it goes through one thread of its own: one writer at a time, whatever the database, and no thread of the server
waits for a disk. The database is the one that the environment variable ``RR_ROOMS`` names: a file, or an address that
starts with ``postgresql+psycopg://``, for several machines. Without it, it is a file in the user's data folder; where
that cannot be written, rooms are kept in memory and end with the server.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import secrets
import sqlite3
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from rr_core.mechanism import RandomizedResponse

T = TypeVar("T")
State = Literal["open", "closed", "revealed"]

# No vowels, so that no code is a word; none that looks like another letter or like a digit.
LETTERS = "CDFGHJKMNPRTVWXY"
CODE_LENGTH = 6
FEWEST_ANSWERS, MOST_ANSWERS = 2, 12
LONGEST_QUESTION, LONGEST_ANSWER = 200, 60  # characters
MOST_REPORTS = 50_000  # to one question, and as many guesses
_MOST_QUESTIONS = 200  # of one room
_MOST_ROOMS = 5_000
_DAY = 86_400.0  # seconds
_KEPT = 30 * _DAY  # after the end of the day of its last report that a room is kept
_PATIENCE = 5.0  # seconds that a locked database is waited for
_FORGETS_EVERY = 3600.0  # seconds
_OVER = "This question is over: the room asks another one."
_IN_MEMORY = (
    "This server can write no file for rooms: they end when it does. Who runs it can name a file in RR_ROOMS."
)
_BROKEN = (
    "The server cannot use its database of rooms just now. Nothing was kept: try again, or tell who runs it."
)
_NO_ADDRESS = (
    "RR_ROOMS is no address that this server can use: name a file, or postgresql+psycopg://… with psycopg."
)

_TABLES = sql.MetaData()


def _of_room(name: str, *columns: sql.Column[Any]) -> sql.Table:
    """A table of what phones sent to the questions of rooms: once for each token."""
    question = ("room", "question")
    return sql.Table(
        name,
        _TABLES,
        sql.Column("room", sql.String(CODE_LENGTH), primary_key=True),
        sql.Column("question", sql.Integer, primary_key=True),
        sql.Column("token", sql.String(64), primary_key=True),
        *columns,
        sql.ForeignKeyConstraint(question, ("questions.room", "questions.number"), ondelete="CASCADE"),
        sqlite_with_rowid=False,  # which would number them in the order in which they came
    )


_rooms = sql.Table(
    "rooms",
    _TABLES,
    sql.Column("code", sql.String(CODE_LENGTH), primary_key=True),
    sql.Column("key_hash", sql.String(64), nullable=False),
    # When it was opened, or the end of the day of its last report, in seconds: of no report the time.
    sql.Column("last", sql.Float, nullable=False),
)
_questions = sql.Table(
    "questions",
    _TABLES,
    sql.Column("room", sql.ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("text", sql.Text, nullable=False),
    sql.Column("answers", sql.Text, nullable=False),  # a list as JSON
    sql.Column("epsilon", sql.Float, nullable=False),
    sql.Column("is_open", sql.Boolean, nullable=False),
    sql.Column("step", sql.Integer, nullable=False),
    sql.Column("hands", sql.Text),  # a list as JSON
)
_reports = _of_room("reports", sql.Column("report", sql.Integer, nullable=False))
_guesses = _of_room("guesses", sql.Column("guess", sql.Integer, nullable=False))
# A room's rows, in the order in which they can be kept.
_BY_ROOM = (
    (_rooms, _rooms.c.code),
    (_questions, _questions.c.room),
    (_reports, _reports.c.room),
    (_guesses, _guesses.c.room),
)


class Refused(Exception):
    """A request that cannot be served. ``str(error)`` is one plain sentence."""


class Unknown(Refused):
    """There is no such room, or no longer."""


class Closed(Refused):
    """The question takes no reports, or no more."""


class Bad(Refused):
    """What was sent is not what the room takes."""


class Broken(Refused):
    """The database cannot be read or written."""


@dataclass(frozen=True)
class Question:
    """What a room asks: its number from 1, K answers and the epsilon of a report; how much is revealed, from 1, 0
    before; reports by answer, guesses of the first answer in per cent in ascending order, and raised hands where
    somebody counted."""

    number: int
    text: str
    answers: tuple[str, ...]
    epsilon: float
    is_open: bool
    step: int
    counts: tuple[int, ...]
    guesses: tuple[int, ...] = ()
    hands: tuple[int, ...] | None = None

    @property
    def state(self) -> State:
        """What phones are told: revealed, else whether reports are taken."""
        return "revealed" if self.step else "open" if self.is_open else "closed"

    @property
    def n(self) -> int:
        """Reports in all."""
        return sum(self.counts)

    @property
    def mechanism(self) -> RandomizedResponse:
        """By which the reports are made."""
        return RandomizedResponse(len(self.answers), self.epsilon)


@dataclass(frozen=True)
class Room:
    """A room with its questions, the one that is asked now last."""

    code: str
    questions: tuple[Question, ...]

    @property
    def now(self) -> Question:
        """The question that is asked now."""
        return self.questions[-1]


class Deleted(NamedTuple):
    """A room that was deleted, and the rows that it had."""

    room: Room
    rows: Sequence[Sequence[Any]]


def checked_question(text: str, answers: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The question and its answers without blanks around them; `Bad` says what cannot be."""
    text, answers = " ".join(text.split()), tuple(" ".join(answer.split()) for answer in answers)
    answers = tuple(answer for answer in answers if answer)
    if not text:
        raise Bad("There is no question yet: type one.")
    if len(text) > LONGEST_QUESTION:
        raise Bad(f"The question has {len(text)} characters: it may have {LONGEST_QUESTION}.")
    if not FEWEST_ANSWERS <= len(answers) <= MOST_ANSWERS:
        raise Bad(
            f"The number of answers is {len(answers)}: type {FEWEST_ANSWERS} to {MOST_ANSWERS}, one in each line."
        )
    for place, answer in enumerate(answers):
        if len(answer) > LONGEST_ANSWER:
            raise Bad(f"Answer {place + 1} has {len(answer)} characters: it may have {LONGEST_ANSWER}.")
        if answer.casefold() in (other.casefold() for other in answers[:place]):
            raise Bad(f"“{answer}” is there twice: each answer may be there once.")
    return text, answers


class Store:
    """Rooms, questions and reports in one database: a file's path, an address of PostgreSQL, or "" in memory. `Broken`
    where it cannot be opened; methods raise `Unknown` where there is no room of the code, and `Broken`; those that give
    a future by its result."""

    def __init__(self, place: str) -> None:
        self.is_in_memory = not place
        address = place if "://" in place else f"sqlite:///{place}"
        is_sqlite = address.startswith("sqlite:")
        self._insert = sqlite.insert if is_sqlite else postgresql.insert
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rooms")
        self._forgets_at, self._locked_at = math.inf, -math.inf
        # The one thread has the one connection, which in memory is the database itself.
        try:
            self._engine = sql.create_engine(
                address,
                poolclass=sql.pool.StaticPool if self.is_in_memory else sql.pool.QueuePool,
                pool_pre_ping=not is_sqlite,
                connect_args={"timeout": _PATIENCE, "check_same_thread": False}
                if is_sqlite
                else {"connect_timeout": math.ceil(_PATIENCE)},
            )
        except (SQLAlchemyError, ImportError) as error:
            raise Broken(_NO_ADDRESS) from error
        sql.event.listen(self._engine, "connect", _prepare_sqlite if is_sqlite else _prepare_postgresql)
        if is_sqlite:
            sql.event.listen(self._engine, "begin", _begin_sqlite)
        try:
            self.do(_TABLES.create_all).result()
            self._forgets_at = 0.0
            self.do(lambda _: None).result()
        except Broken:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the database."""
        self._thread.shutdown()
        self._engine.dispose()

    def do(self, work: Callable[[sql.Connection], T]) -> Future[T]:
        """Have a transaction done by the store's thread: as a whole or not at all."""
        asked_at = time.monotonic()

        def done() -> T:
            # Else all who ask while a database is locked would wait one after the other.
            if asked_at < self._locked_at:
                raise Broken(_BROKEN)
            begin = time.monotonic()
            try:
                if time.time() > self._forgets_at:
                    with self._engine.begin() as connection:  # rooms that have had no report for 30 days
                        connection.execute(sql.delete(_rooms).where(_rooms.c.last < time.time() - _KEPT))
                    self._forgets_at = time.time() + _FORGETS_EVERY
                with self._engine.begin() as connection:
                    return work(connection)
            except (SQLAlchemyError, OSError) as error:
                if time.monotonic() - begin > _PATIENCE / 2:
                    self._locked_at = time.monotonic()
                raise Broken(_BROKEN) from error

        return self._thread.submit(done)

    def open_room(self, text: str, answers: Sequence[str], epsilon: float) -> tuple[str, str]:
        """Open a room that asks a question; its code, and the key that its teacher alone is to have. `Bad` where the
        question cannot be asked, or there are too many rooms."""
        asked, key = checked_question(text, answers), secrets.token_urlsafe(24)

        def opened(connection: sql.Connection) -> str:
            if (connection.scalar(sql.select(sql.func.count()).select_from(_rooms)) or 0) >= _MOST_ROOMS:
                _forget_one_without_reports(connection)
            code = ""
            while not code or connection.scalar(sql.select(_rooms.c.code).where(_rooms.c.code == code)):
                code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
            connection.execute(sql.insert(_rooms).values(code=code, key_hash=_hash(key), last=time.time()))
            _ask(connection, code, 1, *asked, epsilon)
            return code

        return self.do(opened).result(), key

    def room(self, code: str) -> Future[Room]:
        """The room of this code, as it is now."""
        return self.do(lambda connection: _room(connection, code))

    def is_teacher(self, code: str, key: str) -> bool:
        """Whether the key is that of the room; False where there is no such room."""
        hashes = sql.select(_rooms.c.key_hash).where(_rooms.c.code == code)
        held = self.do(lambda connection: connection.scalar(hashes)).result()
        return hmac.compare_digest(held or "", _hash(key))

    def report(self, code: str, number: int, report: int | str, token: str) -> Future[None]:
        """Keep a report, an answer or its place from 0; nothing is kept where the token, drawn by the phone for this
        question, has reported. `Closed` and `Bad` by the result."""

        def place_in(question: Any) -> dict[str, int]:
            if not question.is_open:
                raise Closed("This question is closed: it takes no more reports.")
            answers = json.loads(question.answers)
            place = answers.index(report) if report in answers else report
            if not isinstance(place, int) or not 0 <= place < len(answers):
                raise Bad("The report is none of this question's answers.")
            return {"report": place}

        return self._take(code, number, token, _reports, place_in)

    def guess(self, code: str, number: int, guess: int | str, token: str) -> Future[None]:
        """Keep a guess of the first answer, in per cent, once for each token. `Closed` and `Bad` by the result."""

        def per_cent(question: Any) -> dict[str, int]:
            if question.step:
                raise Closed("The result is revealed: it is too late to guess.")
            if not isinstance(guess, int) or not 0 <= guess <= 100:
                raise Bad("A guess is a whole number from 0 to 100.")
            return {"guess": guess}

        return self._take(code, number, token, _guesses, per_cent)

    def ask(self, code: str, text: str, answers: Sequence[str], epsilon: float) -> None:
        """Ask another question, in the place of one without reports; `Bad` where it cannot be asked."""
        asked = checked_question(text, answers)

        def done(connection: sql.Connection) -> None:
            _hold(connection, code)
            room = _room(connection, code)
            if len(room.questions) >= _MOST_QUESTIONS:
                raise Bad("This room has asked as many questions as it can: open another one.")
            if room.now.n:
                _set(connection, code, room.now.number, is_open=False)
            else:
                connection.execute(sql.delete(_questions).where(*_is_question(code, room.now.number)))
            # A number is used once, so that no report to what was there before counts.
            _ask(connection, code, room.now.number + 1, *asked, epsilon)

        self.do(done).result()

    def set_open(self, code: str, is_open: bool) -> None:
        """Take reports to the question that is asked now, or no more."""
        self._change(code, lambda _: {"is_open": is_open})

    def reveal(self, code: str, step: int) -> None:
        """Show so much of what the reports to the question say, while more may come; `Bad` without a report."""

        def revealed(question: Question) -> dict[str, Any]:
            if not question.n:
                raise Bad("Nobody has reported yet: there is nothing to reveal.")
            return {"step": max(1, step)}

        self._change(code, revealed)

    def count_hands(self, code: str, hands: Sequence[int]) -> None:
        """Keep how many raised their hand for each answer of the question; `Bad` unless these are numbers of hands."""

        def counted(question: Question) -> dict[str, Any]:
            if len(hands) != len(question.answers) or min(hands) < 0 or not sum(hands):
                raise Bad("Count the hands for each answer: whole numbers, not all of them 0.")
            return {"hands": json.dumps([int(number) for number in hands])}

        self._change(code, counted)

    def delete(self, code: str) -> Deleted:
        """Delete a room with all its questions and reports; what there was, for `bring_back`."""

        def deleted(connection: sql.Connection) -> Deleted:
            _hold(connection, code)
            room = _room(connection, code)
            rows = [
                connection.execute(sql.select(table).where(column == code)).mappings().all()
                for table, column in _BY_ROOM
            ]
            connection.execute(sql.delete(_rooms).where(_rooms.c.code == code))
            return Deleted(room, rows)

        held = self.do(deleted).result()
        self._thread.submit(self._wipe).result()
        return held

    def bring_back(self, deleted: Deleted) -> None:
        """Keep a deleted room again."""

        def kept(connection: sql.Connection) -> None:
            for (table, _), rows in zip(_BY_ROOM, deleted.rows, strict=True):
                if rows:
                    insert = self._insert(table).on_conflict_do_nothing()
                    connection.execute(insert, [dict(row) for row in rows])

        self.do(kept).result()

    def _change(self, code: str, values: Callable[[Question], dict[str, Any]]) -> None:
        """Change the question that is asked now to these values of it."""

        def changed(connection: sql.Connection) -> None:
            _hold(connection, code)
            now = _room(connection, code).now
            _set(connection, code, now.number, **values(now))

        self.do(changed).result()

    def _wipe(self) -> None:
        """Empty the file in which SQLite notes what it is about to write: it has what was deleted, too."""
        if self._engine.dialect.name == "sqlite":
            with (
                suppress(SQLAlchemyError, sqlite3.Error),
                closing(self._engine.raw_connection()) as connection,
            ):
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _take(
        self, code: str, number: int, token: str, table: sql.Table, value: Callable[[Any], dict[str, int]]
    ) -> Future[None]:
        """Keep what a phone sent to a question in this table of `_of_room`, once for each token: the columns that
        ``value`` makes of the question that is asked now, or raises why not."""

        def taken(connection: sql.Connection) -> None:
            _hold(connection, code)
            now = _now(connection, code)
            to_question = (table.c.room == code, table.c.question == number)
            sent = sql.select(table.c.token).where(*to_question, table.c.token == token)
            if connection.scalar(sent) is not None:
                return
            if number != now.number:
                raise Closed(_OVER)
            row = {"room": code, "question": number, "token": token, **value(now)}
            many = sql.select(sql.func.count()).select_from(table).where(*to_question)
            if (connection.scalar(many) or 0) >= MOST_REPORTS:
                raise Closed("This room is full: it takes no more reports and guesses.")
            # Two servers on one database may have the same report in hand.
            connection.execute(self._insert(table).values(row).on_conflict_do_nothing())
            if table is _reports:
                end_of_day = (time.time() // _DAY + 1) * _DAY
                room = (_rooms.c.code == code, _rooms.c.last < end_of_day)
                connection.execute(sql.update(_rooms).where(*room).values(last=end_of_day))

        return self.do(taken)


def place_of_rooms() -> str:
    """Where rooms are kept: what RR_ROOMS says, or a file in the user's data folder."""
    if named := os.environ.get("RR_ROOMS"):
        return named
    home = Path.home()
    folder = {
        "win32": Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"),
        "darwin": home / "Library" / "Application Support",
    }.get(sys.platform, Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share"))
    return str(folder / "randomized-response" / "rooms.sqlite")


_OPENING = threading.Lock()
_OF_THIS_SERVER: list[Store] = []


def store() -> Store:
    """The store of this server, opened when first asked for; `Broken` where RR_ROOMS names none that can be."""
    with _OPENING:
        if not _OF_THIS_SERVER:
            place = place_of_rooms()
            if "://" not in place:
                with suppress(OSError):
                    Path(place).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                opened = Store(place)
            except Broken:
                if os.environ.get("RR_ROOMS"):
                    raise
                opened = Store("")
            _OF_THIS_SERVER.append(opened)
        return _OF_THIS_SERVER[0]


def opened() -> Store | None:
    """The store of this server, where it has been asked for."""
    return _OF_THIS_SERVER[0] if _OF_THIS_SERVER else None


def warning() -> str:
    """What is to be said of where this server keeps rooms; "" where there is nothing to say."""
    return _IN_MEMORY if store().is_in_memory else ""


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # it begins a transaction when it is told to, see `_begin_sqlite`
    # Where others open a new file at the same moment, SQLite refuses this at once.
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
    # What was said to be kept is kept when the server is killed; when the machine fails, it may be lost.
    for setting in ("synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {setting}")


def _prepare_postgresql(connection: Any, _: object) -> None:
    connection.execute(f"SET lock_timeout = '{_PATIENCE}s'")
    connection.commit()


def _begin_sqlite(connection: sql.Connection) -> None:
    # Of two servers on one file the second waits here; what has read first could not wait for its turn to write.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _hash(key: str) -> str:
    """What is kept of a key, so that nobody takes a room over who reads the database."""
    return hashlib.sha256(key.encode()).hexdigest()


def _is_question(code: str, number: int) -> tuple[Any, Any]:
    return _questions.c.room == code, _questions.c.number == number


def _ask(
    connection: sql.Connection, code: str, number: int, text: str, answers: Sequence[str], epsilon: float
) -> None:
    asked = {"text": text, "answers": json.dumps(answers), "epsilon": epsilon, "is_open": True, "step": 0}
    connection.execute(sql.insert(_questions).values(room=code, number=number, **asked))


def _set(connection: sql.Connection, code: str, number: int, **values: Any) -> None:
    connection.execute(sql.update(_questions).where(*_is_question(code, number)).values(**values))


def _unknown(code: str) -> Unknown:
    return Unknown(
        f"There is no room {code}: its code is another one, or the room has ended. Ask who opened it."
    )


def _hold(connection: sql.Connection, code: str) -> None:
    """Have other servers wait that would change this room, to the end of the transaction: none asks another question or
    closes this one between a look at it and its report. SQLite lets one transaction write at a time anyway."""
    if connection.dialect.name != "sqlite":
        connection.execute(sql.select(_rooms.c.code).where(_rooms.c.code == code).with_for_update())


def _now(connection: sql.Connection, code: str) -> Any:
    of_room = sql.select(_questions).where(_questions.c.room == code)
    row = connection.execute(of_room.order_by(_questions.c.number.desc()).limit(1)).first()
    if row is None:
        raise _unknown(code)
    return row


def _room(connection: sql.Connection, code: str) -> Room:
    of_room = sql.select(_questions).where(_questions.c.room == code)
    rows = connection.execute(of_room.order_by(_questions.c.number)).all()
    if not rows:
        raise _unknown(code)
    by_report = (_reports.c.question, _reports.c.report)
    tallied = sql.select(*by_report, sql.func.count()).where(_reports.c.room == code).group_by(*by_report)
    tally = {(number, place): count for number, place, count in connection.execute(tallied)}
    guessed = sql.select(_guesses.c.question, _guesses.c.guess).where(_guesses.c.room == code)
    guesses = defaultdict(list)
    for number, guess in connection.execute(guessed.order_by(_guesses.c.guess)):
        guesses[number].append(guess)
    questions = []
    for row in rows:
        answers = tuple(json.loads(row.answers))
        question = Question(
            row.number,
            row.text,
            answers,
            row.epsilon,
            row.is_open,
            row.step,
            tuple(tally.get((row.number, place), 0) for place in range(len(answers))),
            tuple(guesses[row.number]),
            None if row.hands is None else tuple(json.loads(row.hands)),
        )
        questions.append(question)
    return Room(code, tuple(questions))


def _forget_one_without_reports(connection: sql.Connection) -> None:
    """Delete the room that was opened first of those without a report, so that nobody can take the place of all."""
    unused = sql.select(_rooms.c.code).where(_rooms.c.code.not_in(sql.select(_reports.c.room)))
    code = connection.scalar(unused.order_by(_rooms.c.last).limit(1))
    if code is None:
        raise Bad("This server holds as many rooms as it can: delete one that is over.")
    connection.execute(sql.delete(_rooms).where(_rooms.c.code == code))
