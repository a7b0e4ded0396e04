"""The teacher's page of a room, without a browser; with one: tests/browser/test_room.py."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from pages._ui import room as page_of_room
from rr_core import RandomizedResponse
from server.room import SERVED, store
from tests.app.opening import checked, opened
from tests.sentences import holds, recomputes
from tests.sentences.drawn import drawn, said, written
from tests.sentences.spoken import Up, tells


@pytest.fixture(autouse=True)
def rooms(monkeypatch):
    """The rooms of a server of its own, in memory."""
    held = store.Store("")
    monkeypatch.setattr(store, "_OF_THIS_SERVER", [held])
    yield held
    held.close()


ASKED = "Did you have breakfast today?"


def button(page, label):
    (found,) = [one for one in page.button if one.label == label]
    return found


def press(page, label):
    return checked(button(page, label).click().run())


def told(page):
    return [box.value.replace("\\", "") for box in (*page.error, *page.warning, *page.info)]


def opened_room(**query):
    page = opened("room", "&".join(f"{name}={value}" for name, value in query.items()))
    checked(page.selectbox[0].set_value(ASKED).run())
    press(page, "Open a room")
    ticket = page.session_state["_room"][0]
    return page, ticket.code, ticket.key


def report(rooms, code, *places, number=1):
    tokens = itertools.count(rooms.room(code).result().questions[-1].n)
    for place in places:
        rooms.report(code, number, place, f"token-of-a-phone-{next(tokens)}").result()


def test_from_opening_a_room_to_its_end(rooms):
    page, code, key = opened_room()
    assert re.fullmatch(rf"[{store.LETTERS}]{{6}}", code)
    assert rooms.is_teacher(code, key)
    assert not charts_of(page)
    assert button(page, "Reveal").disabled
    report(rooms, code, *[0] * 7, *[1] * 5)
    rooms.guess(code, 1, 40, "token-of-a-guesser").result()
    checked(page.run())
    press(page, "Close")
    assert rooms.room(code).result().now.state == "closed"
    assert button(page, "Close").disabled
    press(page, "Open again")
    assert rooms.room(code).result().now.state == "open"
    press(page, "Close")
    for step in range(1, 6):
        press(page, "Reveal")
        assert rooms.room(code).result().now.step == step
        assert len(charts_of(page)) == 1
    assert button(page, "Reveal").disabled
    press(page, "Back")
    assert rooms.room(code).result().now.step == 4
    press(page, "Next question")
    now = rooms.room(code).result().now
    assert (now.number, now.state, now.text) == (2, "open", ASKED)  # again
    assert not charts_of(page)
    press(page, "Delete")
    with pytest.raises(store.Unknown):
        rooms.room(code).result()
    assert any("are deleted" in one.value for one in page.markdown)
    press(page, "Bring it back")
    assert rooms.room(code).result().questions[0].counts == (7, 5)
    assert rooms.is_teacher(code, key)


def charts_of(page):
    return page.get("plotly_chart")


def test_the_page_without_the_key_shows_everybody_the_same_and_lets_nobody_act(rooms):
    _, code, key = opened_room()
    report(rooms, code, 0, 1)
    for query in (f"room={code.lower()}", f"room={code}&key={key[:-1]}"):
        page = opened("room", query)
        assert not page.main.button
        assert bool(told(page)) == ("key" in query)
        shown = "".join(one.proto.body for one in page.get("html"))
        assert code in shown
        assert "<b>2</b> people have answered." in shown
        assert key not in str(page.main)


def test_a_projector_says_that_its_room_has_ended_only_where_it_has(rooms, monkeypatch):
    code, _ = rooms.open_room("Which?", ["a", "b"], 1.0)
    page = opened("room", f"room={code}")

    def shown():
        return "".join(one.proto.body for one in checked(page.run()).get("html"))

    def away(*_):
        raise store.Broken(store._BROKEN)

    with monkeypatch.context() as broken:
        broken.setattr(store.Store, "room", away)
        assert "Nothing was kept" in shown()
        assert "has ended" not in shown()
    assert code in shown()
    rooms.delete(code)
    assert "This room has ended." in shown()
    assert not page.main.button


def projected(code: str) -> str:
    return "".join(one.proto.body for one in opened("room", f"room={code}").get("html"))


def test_a_question_that_is_asked_again_says_what_that_costs(rooms):
    code, _ = rooms.open_room("Which?", ["a", "b"], 1.0)
    report(rooms, code, 0, 1)
    rooms.ask(code, "Another one?", ["a", "b"], 1.0)
    assert "Asked again" not in projected(code)
    report(rooms, code, 0, 1)
    rooms.ask(code, "Which?", ["a", "b"], 0.5)
    assert "Asked again: a second report costs its ε once more." in projected(code)


def test_what_a_teacher_types_is_text_on_the_projector(rooms):
    asked = "<img src=x onerror=alert(1)> **bold**?"
    code, key = rooms.open_room(asked, ["<b>yes</b>", "$x$"], 1.0)
    shown = projected(code)
    assert "&lt;img src=x onerror=alert(1)&gt; **bold**?" in shown
    assert "&lt;b&gt;yes&lt;/b&gt;" in shown
    assert "<img" not in shown
    page = opened("room", f"room={code}&key={key}")
    assert any("\\<img src\\=x" in one.value or "\\<img src=x" in one.value for one in page.markdown)


@recomputes(store._unknown)
def test_a_room_that_there_is_not_is_named():
    assert str(store._unknown("CDFGHJ")).startswith("There is no room CDFGHJ: ")


@pytest.mark.parametrize("code", ["CDFGHJ", "%3Cscript%3E", "9" * 5000])
def test_a_room_that_there_is_not_is_told_and_one_can_be_opened(code):
    page = opened("room", f"room={code}")
    assert "There is no room" in told(page)[0]
    assert len(told(page)[0]) < 200
    assert button(press(page, "Open another room"), "Open a room")


def test_a_question_that_cannot_be_asked_is_told_and_what_was_typed_stays():
    page = opened("room")
    (choice,) = page.selectbox
    checked(choice.set_value("A question of your own").run())
    (answers,) = page.text_area
    checked(answers.set_value("yes\nYes\n\n").run())
    page = press(page, "Open a room")
    assert "There is no question yet" in page.error[0].value
    checked(page.text_input[0].set_value("Why?").run())
    page = press(page, "Open a room")
    assert "“Yes” is there twice" in page.error[0].value.replace("\\", "")
    assert page.text_area[0].value == "yes\nYes\n\n"
    checked(page.text_area[0].set_value("one\n two ").run())
    page = press(page, "Open a room")
    assert not page.error
    now = store.store().room(page.session_state["_room"][0].code).result().now
    assert (now.text, now.answers) == ("Why?", ("one", "two"))


def test_what_was_reported_can_be_taken_away_and_analysed(rooms):
    code, key = rooms.open_room("Which?", ["=1+1", "b, c"], 2.0)
    report(rooms, code, *[0] * 30, *[1] * 10)
    rooms.set_open(code, False)
    now = rooms.room(code).result().now
    assert page_of_room._csv(now, False) == b'"category","count"\n"=1+1",30\n"b, c",10\n'
    assert b"'=1+1" in page_of_room._csv(now, True)
    page = opened("")
    page.query_params.update({"room": code, "key": key})
    page = press(checked(page.switch_page("pages/room.py").run()), "Analyse as your reports")
    assert page.title[0].value == "What do my collected reports say, and how sure is it?"
    said_of_it = [one.value.replace("\\", "") for one in page.caption]
    assert (
        f"**Room {code}: Which?**: 40 reports. They stay in this session: not kept, not logged." in said_of_it
    )


@recomputes(page_of_room._cost)
def test_what_a_report_costs_and_how_many_people_are_needed(many):
    rng = np.random.default_rng(40)
    for i in range(max(10, many // 10)):
        k, epsilon = int(rng.integers(0, 14)), float(rng.choice(page_of_room._EPSILONS))
        spent = 0.75 * (i % 3)
        text = page_of_room._cost(k, epsilon, spent)
        numbers = [Up(math.exp(epsilon))]
        if 2 <= k <= 12:
            numbers += [10, 0.95, enough(k, epsilon)]
        if spent:
            numbers += [spent, epsilon, Up(math.exp(spent + epsilon))]
        tells(text, *numbers)


def enough(k, epsilon):
    """Whether so many people are enough, and not twice too many: by simulating the worst truth that is tried here."""
    mechanism = RandomizedResponse(k, epsilon)

    def is_right(told: float) -> bool:
        n, rng = int(told), np.random.default_rng(41)
        true = np.zeros(k, dtype=np.int64)
        true[0] = n - n // 2
        true[1] += n // 2
        misses = []
        for size in (1.0, 0.4):
            people = (true * size).astype(np.int64)
            reports = np.array(
                [mechanism.randomize_histogram(people, rng=int(rng.integers(2**31))) for _ in range(300)]
            )
            total = people.sum()
            off = np.abs((reports / total - mechanism.q) / mechanism.keep - people / total).max(axis=1)
            misses.append((off > 0.1).mean())
        return misses[0] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300) and misses[1] > 0.05

    return is_right


@recomputes(page_of_room._elsewhere)
def test_the_room_that_was_deleted_is_named(rooms):
    code, _ = rooms.open_room("Why?", ["a", "b"], 1.0)
    state = {"_room_deleted": (rooms.delete(code), page_of_room.Ticket())}
    text = said(drawn(page_of_room._elsewhere, code, "There is none.", state=state), "are deleted")
    assert text == f"Room {code} and its reports are deleted."


@recomputes(page_of_room._control)
def test_the_controls_say_which_room_and_question_they_are_of(rooms):
    for text in ("Why?", "Why $5 & <b>?"):
        code, _ = rooms.open_room(text, ["a", "b"], 1.0)
        shown = written(page_of_room._control, rooms.room(code).result())
        assert f"Room {code}: " in shown
        assert text[:3] in shown


@recomputes(page_of_room._who_cannot_join)
@holds("Phones cannot join: this server was not started by app.py, and answers pages alone.")
def test_who_cannot_join_is_told_why(monkeypatch):
    monkeypatch.setattr(SERVED, "is_set", lambda: False)
    assert "Phones cannot join" in page_of_room._who_cannot_join()
    monkeypatch.setattr(SERVED, "is_set", lambda: True)
    for address, found in (
        ("http://localhost:8501/room", "localhost"),
        ("http://127.0.0.1:8501/room", "127.0.0.1"),
        ("https://class.example/rr/room", ""),
        (None, ""),
    ):
        monkeypatch.setattr(page_of_room.st, "context", type("Context", (), {"url": address}))
        text = page_of_room._who_cannot_join()
        assert (f"“{found}”" in text) if found else not text


@pytest.mark.parametrize("address", ["https://class.example/rr/room", "http://192.168.0.7:8501/room"])
def test_phones_are_sent_to_where_the_page_is(address, monkeypatch):
    monkeypatch.setattr(page_of_room.st, "context", type("Context", (), {"url": address}))
    assert page_of_room._address_of_phones("CDFGHJ") == f"{address.removesuffix('room')}r/CDFGHJ"
