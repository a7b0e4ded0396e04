"""The helper that does short computations for pages while others wait for the interpreter."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from pages._ui.ibu import results
from pages._ui.work import Work
from rr_core import Scenario
from rr_core.ibu.starts import Start
from server import sessions, workers
from server.priority import FIGURE, GO_ON, Turns
from server.workers import Helper

SCENARIO = Scenario(dist="zipf", s=1.3, k=50, epsilon=2.0, n=10_000)


@pytest.fixture(scope="module")
def one_helper():
    made = Helper("rr_core.ibu.engine")
    yield made
    made._give_up()


@pytest.fixture
def helper(one_helper, monkeypatch):
    """The same one for all tests: its process takes seconds to start."""
    monkeypatch.setattr(workers, "cores", lambda: 2)
    return one_helper


def ready(helper: Helper) -> int:
    """Wait for it; its process."""
    end = time.monotonic() + 60
    while not helper.is_ready():
        assert time.monotonic() < end
        time.sleep(0.05)
    return helper.run(lambda: None, os.getpid)


def test_it_is_started_when_asked_for_and_computes_in_a_process_of_its_own(helper):
    if helper._pool is None:
        assert not helper.is_ready()
    assert ready(helper) not in (os.getpid(), 0)
    assert helper.run(lambda: None, os.nice, 0) == os.nice(0)
    with pytest.raises(ZeroDivisionError):
        helper.run(lambda: None, divmod, 1, 0)
    assert ready(helper) != os.getpid()


def test_it_is_of_no_use_while_it_is_at_work(helper):
    ready(helper)
    waits = threading.Thread(target=helper.run, args=(lambda: None, time.sleep, 1.0))
    waits.start()
    time.sleep(0.3)
    assert not helper.is_ready()
    waits.join()
    assert helper.is_ready()


def test_it_has_loaded_what_it_will_be_asked_for_and_no_pages(helper):
    ready(helper)
    loaded = helper.run(lambda: None, eval, "list(__import__('sys').modules)")
    assert "rr_core.ibu.engine" in loaded
    assert {name for name in loaded if name.startswith(("pages", "server"))} == {
        "server",
        "server.priority",
        "server.workers",
    }
    assert not {"streamlit", "plotly", "pandas"} & set(loaded)


def test_without_a_second_core_it_is_never_started(monkeypatch):
    monkeypatch.setattr(workers, "cores", lambda: 1)
    alone = Helper("rr_core.ibu.engine")
    assert not alone.is_ready()
    assert alone._pool is None
    assert alone.run(lambda: None, os.getpid) == os.getpid()


def test_what_the_look_raises_ends_the_wait(helper):
    ready(helper)

    def overtaken():
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        helper.run(overtaken, time.sleep, 5)
    assert time.monotonic() - begin < 4
    assert helper._at_work == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_where_its_process_dies_the_page_computes_for_itself(helper):
    process = ready(helper)
    assert process != os.getpid()
    os.kill(process, signal.SIGKILL)
    assert helper.run(lambda: None, os.getpid) == os.getpid()
    assert helper._pool is None  # another is started when it is asked for


def test_a_helper_that_is_stuck_is_given_up(helper, monkeypatch):
    ready(helper)
    monkeypatch.setattr(workers, "_LONGEST", 0.2)
    assert helper.run(lambda: None, _slow_elsewhere, os.getpid()) == "here"
    assert helper._pool is None


def _slow_elsewhere(home: int) -> str:
    if os.getpid() != home:
        time.sleep(30)
    return "here"


def test_one_that_was_not_needed_for_long_is_looked_at_again(helper, monkeypatch):
    ready(helper)
    monkeypatch.setattr(workers, "_IDLE", 0.0)
    assert not helper.is_ready()  # its process may have ended: asked again, and not waited for
    monkeypatch.setattr(workers, "_IDLE", 60.0)
    assert ready(helper) != os.getpid()


class Elsewhere(Helper):
    """Is always ready, and computes here; who has the turn meanwhile."""

    def __init__(self, turns: Turns) -> None:
        super().__init__("rr_core.ibu.engine")
        self.turns, self.calls, self.others_had_a_turn = turns, 0, threading.Event()

    def is_ready(self):
        return True

    def run(self, look, function, *args, **named):
        self.calls += 1
        assert self.others_had_a_turn.wait(5)
        return function(*args, **named)


def test_ibu_is_computed_elsewhere_while_others_wait_and_goes_on_first(monkeypatch):
    turns = Turns()
    elsewhere = Elsewhere(turns)
    monkeypatch.setattr(results, "TURNS", turns)
    monkeypatch.setattr(results, "HELPER", elsewhere)
    monkeypatch.setattr(results.dials, "look", lambda: None)
    sessions.SHARED.clear()
    work = Work(SCENARIO.draw())
    alone = results.ibu_run(work, Start(), 1000)
    assert elsewhere.calls == 0  # nobody waits

    sessions.SHARED.clear()
    turns.take(FIGURE, lambda: None)

    def other():
        turns.take(FIGURE, lambda: None)
        elsewhere.others_had_a_turn.set()
        time.sleep(0.05)
        turns.end()

    waiting = threading.Thread(target=other)
    waiting.start()
    while not turns.are_wanted():
        time.sleep(0.01)
    path = results.ibu_run(work, Start(), 1000)
    assert elsewhere.calls == 1
    assert turns._turn.request.thread is threading.current_thread()
    assert turns._turn.request.due < time.monotonic() + GO_ON + 1
    np.testing.assert_array_equal(path.thetas, alone.thetas)
    np.testing.assert_array_equal(path.every.certificate, alone.every.certificate)
    turns.end()
    waiting.join()
