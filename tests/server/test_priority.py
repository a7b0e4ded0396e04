"""Whose turn it is: the most urgent first, nobody for ever, and no place kept for a run that has ended."""

from __future__ import annotations

import threading
import time

import pytest

from pages._ui import frame
from server import priority
from server.priority import FIGURE, GO_ON, OPENING, REST, Turns
from tests import until
from tests.app.opening import opened

PATIENCE = 10.0  # seconds


def nothing() -> None:
    pass


class Visitors:
    """Threads that ask for a turn, note that they had it, and end it."""

    def __init__(self, turns: Turns) -> None:
        self.turns, self.seen, self.threads = turns, [], []

    def ask(self, name: str, urgency: float) -> None:
        def run() -> None:
            self.turns.take(urgency, nothing)
            self.seen.append(name)
            self.turns.end()

        waiting = len(self.turns._waiting)
        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()
        until(lambda: len(self.turns._waiting) > waiting)

    def all_have_been(self) -> list[str]:
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        return self.seen


@pytest.fixture
def turns(monkeypatch):
    """Turns, the first of which is ours for as long as we like."""
    monkeypatch.setattr(priority, "_LONGEST", 3600.0)
    turns = Turns()
    turns.take(FIGURE, nothing)
    return turns


def test_figures_come_first_and_what_stands_around_them_last(turns):
    visitors = Visitors(turns)
    visitors.ask("rest", REST)
    visitors.ask("page that is opened", OPENING)
    visitors.ask("first figure", FIGURE)
    visitors.ask("second figure", FIGURE)
    visitors.ask("one that had begun", GO_ON)
    assert visitors.seen == []
    turns.end()
    assert visitors.all_have_been() == [
        "one that had begun",
        "first figure",
        "second figure",
        "page that is opened",
        "rest",
    ]


def test_one_that_has_waited_long_comes_before_new_figures(turns, monkeypatch):
    visitors = Visitors(turns)
    visitors.ask("rest", REST)
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: now() + REST + 0.1)
    visitors.ask("figure", FIGURE)
    turns.end()
    assert visitors.all_have_been() == ["rest", "figure"]


def test_a_long_turn_keeps_nobody_waiting_for_long(monkeypatch):
    monkeypatch.setattr(priority, "_LONGEST", 0.1)
    turns, begin = Turns(), time.monotonic()
    turns.take(FIGURE, nothing)
    visitors = Visitors(turns)
    visitors.ask("next", FIGURE)
    assert visitors.all_have_been() == ["next"]
    assert time.monotonic() - begin >= 0.1


def test_the_turn_of_a_run_that_is_over_is_over(monkeypatch):
    monkeypatch.setattr(priority, "_LONGEST", 3600.0)
    turns = Turns()
    gone = threading.Thread(target=lambda: turns.take(FIGURE, nothing))
    gone.start()
    gone.join(PATIENCE)
    turns.take(FIGURE, nothing)  # does not wait for the hour


def test_a_run_that_is_ended_while_it_waits_keeps_no_place(turns):
    visitors = Visitors(turns)

    class Overtaken(BaseException):
        pass

    def overtaken() -> None:
        raise Overtaken

    ended = []

    def run() -> None:
        try:
            turns.take(FIGURE, overtaken)
        except Overtaken:
            ended.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(PATIENCE)
    assert ended == [True]
    assert turns._waiting == []
    visitors.ask("next", REST)
    turns.end()
    assert visitors.all_have_been() == ["next"]


def test_who_is_less_urgent_lets_others_pass_and_goes_on_after_them(monkeypatch):
    monkeypatch.setattr(priority, "_LONGEST", 3600.0)
    turns = Turns()
    turns.take(REST, nothing)
    visitors = Visitors(turns)
    visitors.ask("figure", FIGURE)
    visitors.ask("rest of another", REST)
    turns.let_pass(nothing)
    assert visitors.seen == ["figure"]
    turns.let_pass(nothing)
    assert visitors.seen == ["figure"]
    turns.end()
    assert visitors.all_have_been() == ["figure", "rest of another"]


def test_pages_that_are_open_and_small_are_the_urgent_ones_and_dials_wait_for_no_turn_of_their_own(
    monkeypatch,
):
    asked = []

    class Asked(Turns):
        def take(self, urgency, look):
            asked.append(urgency)

    monkeypatch.setattr(frame, "TURNS", Asked())
    for k, again in ((200, FIGURE), (30_000, OPENING)):
        asked.clear()
        page = opened("noisy_histogram", f"k={k}")
        assert asked == [OPENING, REST]
        asked.clear()
        page.run()
        assert asked == [again, REST]


def test_long_work_gives_the_turn_up_and_so_does_who_asks_again(turns, monkeypatch):
    monkeypatch.setattr(priority, "TURNS", turns)
    monkeypatch.setattr(priority.os, "setpriority", lambda *_: None, raising=False)
    visitors = Visitors(turns)
    visitors.ask("figure", FIGURE)
    priority.stand_back()
    assert visitors.all_have_been() == ["figure"]
    turns.take(FIGURE, nothing)
    visitors.ask("another", FIGURE)
    turns.take(REST, nothing)
    assert visitors.all_have_been() == ["figure", "another"]


def test_who_let_others_compute_goes_on_before_those_who_came_meanwhile():
    turns = Turns()
    turns.take(FIGURE, nothing)
    mine = turns._turn
    turns.go_on(nothing)
    assert turns._turn == mine  # there was nothing to wait for
    turns.end()
    visitors, done = Visitors(turns), threading.Event()

    def at_work() -> None:
        turns.take(FIGURE, nothing)
        done.wait(PATIENCE)
        turns.end()

    busy = threading.Thread(target=at_work, daemon=True)
    busy.start()
    until(lambda: turns._turn is not None)
    visitors.ask("another", FIGURE)
    threading.Timer(0.05, done.set).start()
    turns.go_on(nothing)
    visitors.seen.append("I")
    turns.end()
    assert visitors.all_have_been() == ["I", "another"]


def test_a_turn_ends_by_its_work_and_not_by_what_goes_on_beside_it(monkeypatch):
    worked = [1.0]
    monkeypatch.setattr(priority, "_worked", lambda request, now: worked[0])
    turns = Turns()
    turns.take(FIGURE, nothing)
    turn = turns._turn
    assert turn.still_counts(turn.since + 0.59)
    assert not turn.still_counts(turn.since + 0.61)  # it may be waiting for something
    worked[0] = 1.21
    assert not turn.still_counts(turn.since + 0.21)
    turns.end()
