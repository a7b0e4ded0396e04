"""What phones ask of a room: every answer of the contract, what strangers try, and a server that is killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sql
from limits import parse
from starlette.applications import Starlette
from starlette.routing import Match

from server.room import ROUTE, routes
from server.room import store as rooms
from server.room.store import Store
from tests import EXAMPLES
from tests.benchmarks.room import POLL, Phone
from tests.benchmarks.visitor import finish
from tests.browser.server import ROOT, Started, started

TEXT, ANSWERS = "Have you ever?", ("Yes", "No", "Perhaps")
TOKEN = "0123456789abcdef"
CLASS, STRANGER = "203.0.113.7", "198.51.100.9"
OWN = {"host": "lab.example", "origin": "https://lab.example", "content-type": "application/json"}


@dataclass
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@pytest.mark.parametrize("before", ["", "some/folder/"])
def test_the_app_sends_every_address_of_a_room_to_its_routes(before: str) -> None:
    def found(path: str) -> Match:
        return ROUTE.matches({"type": "http", "method": "GET", "path": path, "root_path": ""})[0]

    for route in routes.routes(routes.Desk()):
        assert found(route.path_format.format(before=before, code="CDFGHJ")) == Match.FULL
    for elsewhere in (f"/{before}room", f"/{before}xr/CDFGHJ", f"/{before}r/CDFGHJ/other"):
        assert found(elsewhere) == Match.NONE


class Server:
    """The routes beside a database, asked without a network."""

    def __init__(self, held: Store) -> None:
        self.held, self.app = held, Starlette(routes=routes.routes(routes.Desk()))
        self.code, self.key = held.open_room(TEXT, ANSWERS, 1.0)

    async def ask(
        self, path: str, what: object = None, client: str | None = CLASS, method: str = "", **more: str | None
    ) -> Answer:
        """Ask below the room's address, or elsewhere where the path starts with "/". What is no bytes is sent as JSON."""
        body = what if isinstance(what, bytes) else json.dumps(what).encode()
        sent = {**OWN, **{name.replace("_", "-"): text for name, text in more.items()}}
        scope = {
            "type": "http",
            "method": method or ("GET" if what is None else "POST"),
            "path": path if path.startswith("/") else f"/r/{self.code}/{path}".rstrip("/"),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.encode(), text.encode()) for name, text in sent.items() if text is not None],
            "client": None if client is None else (client, 5),
        }
        come = [{"body": body[:100], "more_body": True}, {"body": body[100:]}]
        answer = Answer()

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", **come.pop(0)} if come else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            answer.status = message.get("status", answer.status)
            answer.headers |= {name.decode(): text.decode() for name, text in message.get("headers", ())}
            answer.body += message.get("body", b"")

        await self.app(scope, receive, send)
        assert self.key.encode() not in answer.body
        return answer

    def asked(self, *given: Any, **headers: Any) -> Answer:
        return finish(self.ask(*given, **headers))

    def sent(self, *given: Any, **headers: Any) -> int:
        """The status of what is sent, or asked, in this way; all but 200 come with a sentence."""
        answer = self.asked(*given, **headers)
        if answer.status != 200:
            assert json.loads(answer.body)["error"].endswith(".")
        return answer.status

    def rows(self) -> list[tuple[str, str, str, int]]:
        tables = (sql.text(f"SELECT '{what}', room, token, {what} FROM {what}{end}") for what, end in ENDS)
        return self.held.do(
            lambda connection: [tuple(row) for one in tables for row in connection.execute(one)]
        ).result()


ENDS = (("report", "s"), ("guess", "es"))


def token(number: int) -> str:
    return f"phone-{number:012}"


def report(value: object = 1, token: str = TOKEN, question: int = 1) -> dict[str, object]:
    return {"question": question, "report": value, "token": token}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(routes, "_FRESH", -1.0)
    with contextlib.closing(Store(str(tmp_path / "rooms.sqlite"))) as held:
        monkeypatch.setattr(rooms, "_OF_THIS_SERVER", [held])
        yield Server(held)


def test_from_joining_to_the_result(server: Server) -> None:
    told = {
        "state": "open",
        "question": 1,
        "text": TEXT,
        "answers": list(ANSWERS),
        "epsilon": 1.0,
        "open": True,
        "again": 4,
    }
    assert json.loads(server.asked("now").body) == told
    for place in (f"/r/{server.code.lower()}/now", f"/lab/two/r/{server.code}/now"):
        assert json.loads(server.asked(place).body) == told
    for _ in range(2):
        answer = server.asked("report", report())
        assert (answer.status, json.loads(answer.body)) == (200, {"ok": True})
        assert answer.headers["cache-control"] == "no-store"
    assert server.sent(f"/lab/r/{server.code.lower()}/report", report("Yes", "f" * 64)) == 200
    assert server.sent("guess", {"question": 1, "guess": 30, "token": TOKEN}) == 200
    kept = [("report", TOKEN, 1), ("report", "f" * 64, 0), ("guess", TOKEN, 30)]
    assert server.rows() == [(what, server.code, *row) for what, *row in kept]
    server.held.set_open(server.code, False)
    assert server.sent("report", report(token="e" * 16)) == 409
    assert json.loads(server.asked("now").body) == {**told, "state": "closed", "open": False}
    server.held.reveal(server.code, routes.ESTIMATED - 1)
    assert json.loads(server.asked("now").body) == {**told, "state": "revealed", "open": False}
    server.held.reveal(server.code, routes.ESTIMATED)
    revealed = json.loads(server.asked("now").body)
    result = revealed.pop("result")
    assert revealed == {**told, "state": "revealed", "open": False}
    assert (result["n"], len(result["shares"]), sum(result["shares"])) == (2, 3, pytest.approx(1))
    for low, share, high in zip(result["low"], result["shares"], result["high"], strict=True):
        assert 0 <= low <= share <= high <= 1
    assert server.sent("report", report()) == 200  # its answer was lost
    server.held.ask(server.code, "Second?", ("a", "b"), 2.0)
    assert server.sent("report", report(token="e" * 16)) == 409
    server.held.delete(server.code)
    for sent in (server.sent("now"), server.sent("report", report()), server.asked("").status):
        assert sent == 404


def test_the_page(server: Server) -> None:
    page = server.asked("")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for same, status in (("/r", 200), (f"/lab/r/{server.code.lower()}", 200), ("/r/CDFGHJ", 404)):
        answer = server.asked(same)
        assert (answer.status, answer.body) == (status, page.body)
    text = page.body.decode()
    assert len(page.body) <= 30 * 1024
    # The name of SVG, which is no address that is asked; and nothing else is loaded.
    assert set(re.findall(r"\w+://[^'\"\s]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"""@import|url\(|\ssrc=|<script\s|href=["'](?!data:)|["'(=]//""", text)


NOT_THE_KEYS = (
    {"question": 1, "report": 1},
    {**report(), "truth": 0},
    {"question": 1, "guess": 1, "token": TOKEN},
    [1],
)
NO_JSON = (b"", b"{", b'\xff\xfe{"', b"[" * 1000, json.dumps(report()).ljust(1025).encode())
NO_ANSWERS = (True, 1.0, float("nan"), 3, -1, 10**900, "Never", ["Yes"], None)
NO_TOKENS = ("a" * 15, "a" * 65, "é" * 16, 10**20)


def test_a_bad_report(server: Server) -> None:
    bodies = [*NOT_THE_KEYS, *NO_JSON, report(question=True), *map(report, NO_ANSWERS)]
    for body in (*bodies, *(report(token=token) for token in NO_TOKENS)):
        assert server.sent("report", body) == 400, body
    assert not server.rows()


def test_a_report_of_another_site(server: Server) -> None:
    for headers in (
        *(
            {"origin": one}
            for one in ("https://evil.example", "null", "http://[", "https://lab.example.evil", "")
        ),
        *({"sec_fetch_site": one} for one in ("cross-site", "same-site")),
        *({"content_type": one} for one in (None, "text/plain", "application/x-www-form-urlencoded")),
        {"host": None},
    ):
        assert server.sent("report", report(), **headers) == 400, headers
    assert not server.rows()


def test_a_report_of_its_own_page_of_1024_bytes(server: Server) -> None:
    body = json.dumps(report()).ljust(1024).encode()
    for headers in ({"origin": None}, {"sec_fetch_site": "same-origin"}, {"sec_fetch_site": "none"}):
        headers["content_type"] = "Application/JSON; charset=utf-8"
        assert server.sent("report", body, **headers) == 200, headers
    assert len(server.rows()) == 1


def test_a_question_that_is_not_asked(server: Server) -> None:
    for question in (0, 2, -(10**900), 10**900):
        assert server.sent("report", report(question=question)) == 409, question


def test_a_database_that_is_locked(server: Server, tmp_path: Path) -> None:
    assert server.sent("now") == 200
    server.held.do(lambda connection: connection.exec_driver_sql("PRAGMA busy_timeout=50")).result()
    with contextlib.closing(sqlite3.connect(tmp_path / "rooms.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert server.sent("now") == server.sent("report", report()) == server.asked("").status == 503
    assert server.sent("report", report()) == 200
    assert len(server.rows()) == 1


def test_too_many_reports(server: Server, monkeypatch) -> None:
    monkeypatch.setattr(routes, "_SENT_BY_NETWORK", parse("3/minute"))
    monkeypatch.setattr(routes, "_SENT_TO_ROOM", parse("4/minute"))
    by = [server.asked("report", report(), client) for client in (CLASS,) * 4 + (STRANGER,) * 2]
    assert [answer.status for answer in by] == [200, 200, 200, 429, 200, 429]
    assert by[-1].headers["retry-after"] == "60"
    assert server.sent(f"/r/{server.held.open_room(TEXT, ANSWERS, 1.0)[0]}/report", report(), STRANGER) == 200


def wrong_codes(count: int, *, first: int = 0) -> list[str]:
    """Addresses of no room, of other codes each time."""
    return [
        f"/r/{''.join(random.Random(first + number).choices('CDFGHJ', k=5))}Y/now" for number in range(count)
    ]


def test_codes_are_not_to_be_guessed_through(server: Server, monkeypatch) -> None:
    monkeypatch.setattr(routes, "_FRESH", 60.0)
    assert server.sent("now") == 200  # the class has found it: its answer is at hand
    assert [server.sent(path, None, STRANGER) for path in wrong_codes(20)] == [404] * 20
    for path in ("now", *wrong_codes(1, first=20), "/r/short/now"):
        answer = server.asked(path, None, STRANGER)
        assert (answer.status, answer.headers["retry-after"]) == (429, "60")
    assert server.sent("report", report(), STRANGER) == server.asked("", None, STRANGER).status == 429
    assert server.sent("report", report()) == 200
    # Nor by somebody beside the class, who locks nobody out of what was found.
    assert Counter(server.sent(path) for path in wrong_codes(25)) == {404: 20, 429: 5}
    assert server.sent("now") == server.sent("report", report()) == 200


def test_codes_are_not_to_be_guessed_at_once(server: Server) -> None:
    async def at_once() -> list[int]:
        paths = (*wrong_codes(80), "now", "report")
        asked = [server.ask(path, report() if path == "report" else None, STRANGER) for path in paths]
        return [answer.status for answer in await asyncio.gather(*asked)]

    assert finish(at_once()) == [404] * 20 + [429] * 62


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::7", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:198.51.100.9", "::ffff:198.51.100.10", False),
        ("::ffff:198.51.100.9", "198.51.100.9", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_whose_requests_are_counted_together(one, other, together, server: Server) -> None:
    assert [server.sent(path, None, one) for path in wrong_codes(20)] == [404] * 20
    assert server.sent("now", None, other) == (429 if together else 200)


def test_a_class_behind_one_address(server: Server, monkeypatch) -> None:
    monkeypatch.setattr(routes, "_FRESH", 60.0)
    reads, room = [], server.held.room
    monkeypatch.setattr(server.held, "room", lambda code: reads.append(code) or room(code))

    async def phone(number: int) -> set[int]:
        sent = {"report": report(number % 3, f"token-{number:011}")}
        sent["guess"] = {"question": 1, "guess": number % 101, "token": f"guess-{number:011}"}
        asked = [await server.ask(path, sent.get(path)) for path in ("", "now", "report", "guess", "now")]
        return {answer.status for answer in asked}

    async def all_of_them() -> set[int]:
        return set().union(*await asyncio.gather(*(phone(number) for number in range(100))))

    assert finish(all_of_them()) == {200}
    assert reads == [server.code]  # all wait for the same answer
    assert routes._LOOKS.amount > 5000 * 60 / POLL
    assert Counter(what for what, *_ in server.rows()) == {"report": 100, "guess": 100}


TEXTS = ["", "1", "Yes", "\x00", "\ud800", "é" * 16, "0" * 64, "../" * 9, "'; DROP TABLE reports; --", "NaN"]
STRANGE = [*TEXTS, True, None, -1, 2**31, 2**63, 10**400, 1.0, float("inf"), [], {}, [[[]]]]
HEADER = {
    "origin": ["null", "", "http://[", "https://evil.example", "//lab.example", "x" * 5000, None],
    "content_type": ["text/plain", "application/json; charset=utf-16", "multipart/form-data", ";", None],
    "sec_fetch_site": ["cross-site", "same-site", "none", "", "\x00"],
    "host": ["", "evil.example", "[", "lab.example:443", None],
    "content_length": ["-1", "x", "9" * 40],
}


def hostile(
    dice: random.Random, codes: list[str]
) -> tuple[str, bytes, str | None, str, dict[str, str | None]]:
    """Path, body, client, method and headers of a valid request that was changed in some places, or in none."""
    code, (what, _) = dice.choice(codes), dice.choice(ENDS)
    held = {"question": 1, what: dice.randrange(3), "token": f"{dice.getrandbits(80):020x}"}
    for _ in range(dice.choice((0, 0, 1, 2))):
        key = dice.choice([*held, "truth"])
        held[key] = dice.choice(STRANGE)
        if dice.random() < 0.2:
            del held[key]
    body = json.dumps(held).encode()
    if dice.random() < 0.3:
        at = dice.randrange(len(body))
        cut = (body[:at], body[:at] + dice.randbytes(3) + body[at:], dice.randbytes(at))
        body = dice.choice((*cut, body.decode().encode("utf-16"), body.ljust(9000), b"[" * 900, body * 2))
    path, text = f"/r/{code}/{what}", dice.choice(TEXTS)
    if dice.random() < 0.4:
        near = (f"/lab{path}", path.lower(), f"/{path}", f"{path}/", path[:-1], f"{path}{text}", "/r//now")
        far = (f"/r/{text}/{what}", f"/r/{code[:-1]}C/{what}", f"/r/{code}", "/r/", f"/r/{text * 99}/now")
        path = dice.choice((*near, *far))
    names = [dice.choice(list(HEADER)) for _ in range(dice.choice((0, 0, 1)))]
    number = dice.getrandbits(32)
    of_four = ".".join(f"{byte}" for byte in number.to_bytes(4, "big"))
    of_six = (f"::ffff:{of_four}", f"{number >> 16:x}::1", f"host-{number}", None)
    client = dice.choice((*[of_four] * 5, *of_six))
    method = dice.choice((*["POST"] * 9, "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "post", "\x00"))
    return path, body, client, method, {name: dice.choice(HEADER[name]) for name in names}


def valid(path: str, body: bytes) -> tuple[str, str, str, int] | None:
    """The row that a request may leave."""
    *_, code, what = path.split("/")
    with contextlib.suppress(ValueError, RecursionError):
        held = json.loads(body)
        if isinstance(held, dict) and held.keys() == {"question", what, "token"} and held["question"] == 1:
            value, token = held[what], held["token"]
            if what == "report" and isinstance(value, str) and value in ANSWERS:
                value = ANSWERS.index(value)
            if type(value) is int and 0 <= value < (3 if what == "report" else 101):
                return what, code.upper(), token, value
    return None


def test_hostile_requests(server: Server) -> None:
    count = 10 * EXAMPLES
    dice = random.Random(count)
    codes = [server.code, *(server.held.open_room(TEXT, ANSWERS, 1.0)[0] for _ in range(9))]
    may_be, statuses = {}, Counter()

    async def all_of_them() -> None:
        for _ in range(count):
            path, body, client, method, headers = hostile(dice, codes)
            answer = await server.ask(path, body, client, method, **headers)
            statuses[answer.status] += 1
            if method == "POST" and answer.status == 200 and (row := valid(path, body)):
                may_be.setdefault(row[:3], row)

    finish(all_of_them())
    # Too fast are those of whom no address is known: they are one network.
    assert set(statuses) <= {200, 307, 400, 404, 405, 409, 429}
    assert min(statuses[status] for status in (200, 400, 404, 405, 409)) >= count / 500
    assert set(server.rows()) == set(may_be.values())


@pytest.mark.slow
def test_what_was_thanked_for_is_there_after_the_server_was_killed(tmp_path: Path) -> None:
    """And all can be sent again."""
    place = str(tmp_path / "rooms.sqlite")
    thanked: set[tuple[str, int]] = set()

    async def reported(app: Started, code: str) -> None:
        # Not more, so that the answers to all of them are not on their way when it is killed.
        at_once = asyncio.Semaphore(30)

        async def one(number: int) -> None:
            phone = Phone(f"{app.address}/r/{code}", token(number))
            async with at_once:
                with contextlib.suppress(OSError, EOFError):
                    if await phone.report(number % 3):
                        thanked.add((phone.token, number % 3))
            if len(thanked) == 60:
                app.process.kill()
            phone.leave()

        await asyncio.gather(*map(one, range(200)))

    def kept(held: Store) -> list[tuple[str, int]]:
        rows = sql.text("SELECT token, report FROM reports")
        return held.do(lambda connection: [tuple(row) for row in connection.execute(rows)]).result()

    with contextlib.closing(Store(place)) as held:
        code, _ = held.open_room(TEXT, ANSWERS, 1.0)
    with started("app.py", ROOT, tmp_path, RR_ROOMS=place) as app:
        finish(reported(app, code))
        app.process.wait(10)
    assert 60 <= len(thanked) < 200
    with contextlib.closing(Store(place)) as held:
        assert thanked <= set(kept(held))
        for number in range(200):
            held.report(code, 1, number % 3, token(number)).result()
        assert sorted(kept(held)) == [(token(number), number % 3) for number in range(200)]


def test_a_code_may_end_in_the_letter_that_rooms_begin_with():
    for path, name in (("/r/cdfghr/now", "now"), ("/r/cdfghr", "page")):
        scope = {"type": "http", "method": "GET", "path": path}
        first = next(one for one in routes.ROUTER.routes if one.matches(scope)[0] == Match.FULL)
        assert first.matches(scope)[1]["path_params"] == {"before": "", "code": "cdfghr"}, name
