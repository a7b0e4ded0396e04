"""Jobs: results, progress, Stop, limits of time and memory, lost workers, and who comes first."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from pages._ui.draw_results import DrawResults
from pages._ui.ibu import results
from rr_core import Scenario
from rr_core.ibu.engine import Start
from server import jobs, sessions
from server.jobs import NICENESS, Lost, Pool
from server.priority import Turns
from tests import until
from tests.server import work_of_jobs

SCENARIO = Scenario(dist="zipf", s=1.3, k=50, epsilon=2.0, n=10_000)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds and tells of threads")


def unmoved(ahead, done):
    return None


NEEDED = jobs._LOADED


@pytest.fixture(scope="module")
def pool():
    """The same one for all tests. What its workers load at low priority is little: what they usually load would take
    each of them half a minute on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "_LOADED", ("wave",))
        made = Pool(3)
        yield made
        for worker in made._idle:
            worker.end()


def test_a_job_is_done_in_a_process_without_pages_and_a_second_one_in_the_same(pool):
    first = pool.run(os.getpid, look=unmoved)
    assert first != os.getpid()
    assert pool.run(os.getpid, look=unmoved) == first
    assert "wave" in pool.run(work_of_jobs.loaded, look=unmoved)
    assert not {"streamlit", "plotly", "pages"} & pool.run(work_of_jobs.loaded, NEEDED, look=unmoved)
    with pytest.raises(ZeroDivisionError):  # the function's own errors are its own
        pool.run(divmod, 1, 0, look=unmoved)
    assert pool.run(os.getpid, look=unmoved) == first


def test_what_is_stopped_while_it_waits_gives_up_its_place(pool):
    held = [pool._take("page", unmoved) for _ in range(pool.most)]
    with pytest.raises(Lost, match="before it had begun"):
        pool.run(os.getpid, look=lambda ahead, done: ahead == 1, lane="run")
    assert not pool._waiting["run"]
    for worker in held:
        pool._give_back("page", worker)
    assert pool.run(os.getpid, look=unmoved, lane="run") != os.getpid()


@LINUX
def test_what_no_page_waits_for_has_a_low_priority_and_the_next_job_has_the_usual_one(pool):
    usual = os.nice(0)
    assert pool.run(work_of_jobs.niceness, look=unmoved) == usual
    assert pool.run(work_of_jobs.niceness, look=unmoved, lane="run") == max(usual, NICENESS)
    assert pool.run(work_of_jobs.niceness, look=unmoved) == usual


def test_progress_is_reported_and_stop_keeps_what_was_reached(pool):
    seen = []

    def look(ahead, done):
        assert ahead == 0
        seen.extend([] if done is None else [done])
        return False

    assert pool.run(work_of_jobs.steps, 20, look=look, reports=True) == ("finished", 20)
    assert seen == sorted(seen)
    assert len(seen) > 2
    told, step = pool.run(work_of_jobs.steps, 10**6, look=lambda _, done: (done or 0) > 3, reports=True)
    assert told == "stopped"
    assert step < 1000
    # no stop is left over
    assert pool.run(work_of_jobs.steps, 5, look=unmoved, reports=True) == ("finished", 5)


def test_progress_is_sent_once_in_a_while_and_a_stop_stays_heard(monkeypatch):
    """A job that tells each of a million steps sends no million messages; what was said to other jobs stops none."""
    sent, said, now = [], [], [0.0]
    pipe = SimpleNamespace(send=sent.append, recv=said.pop, poll=lambda: bool(said))
    monkeypatch.setattr(jobs, "_pipe", pipe)
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    tell = jobs._Reporter(7)
    for step in range(1000):
        now[0] = step * jobs._BETWEEN_LOOKS / 100
        assert not tell(step)
    assert 9 <= len(sent) <= 10
    assert sent[0] == (7, 0)
    for heard, stops in (([6], False), ([6, 7, 6], True)):  # of an earlier job, and of this one too
        said[:] = heard
        assert not tell(1000)  # it looks no more often than it tells
        now[0] += jobs._BETWEEN_LOOKS
        assert tell(1001) == stops


def test_a_job_that_does_not_heed_stop_is_ended(pool, monkeypatch):
    monkeypatch.setattr(jobs, "_PATIENCE", 0.2)
    with pytest.raises(Lost):
        pool.run(time.sleep, 30, look=lambda *_: True)
    assert pool.run(abs, -1, look=unmoved) == 1


@pytest.mark.parametrize(
    ("work", "words"),
    [
        pytest.param(work_of_jobs.much, "more memory", marks=LINUX),
        (work_of_jobs.death, "broke off"),
        (work_of_jobs.endless, "longer"),
    ],
)
def test_a_job_that_swells_dies_or_never_ends_costs_its_worker_alone(pool, work, words):
    before = pool.run(os.getpid, look=unmoved)
    with pytest.raises(Lost, match=words):
        pool.run(work, look=unmoved, seconds=0.5 if work is work_of_jobs.endless else math.inf)
    assert pool.run(os.getpid, look=unmoved) != before
    assert len(pool._idle) == 3


@LINUX
def test_small_files_of_arrow_are_read_again_and_again_within_the_least_memory(pool):
    """Arrow's own allocator took a gigabyte of addresses at once: a file of 400 kB was called damaged."""
    assert pool.run(work_of_jobs.allocator, look=unmoved) == "system"
    for _ in range(3):
        assert pool.run(work_of_jobs.threads_that_read, look=unmoved) == 4


@pytest.mark.slow
@LINUX
def test_a_worker_that_a_job_let_grow_is_replaced(pool):
    before = pool.run(os.getpid, look=unmoved)
    pool.run(abs, -1, look=unmoved, memory=2**30)  # which it did not take
    assert pool.run(os.getpid, look=unmoved) == before
    pool.run(work_of_jobs.keeps, 3 * 2**27, look=unmoved, memory=2**30)
    assert pool.run(os.getpid, look=unmoved) != before


def test_what_the_look_raises_ends_the_job(pool):
    def overtaken(ahead, done):
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pool.run(time.sleep, 30, look=overtaken)
    assert time.monotonic() - begin < 10
    assert len(pool._idle) == 3


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_a_worker_that_died_between_two_jobs_is_replaced(pool):
    os.kill(pool.run(os.getpid, look=unmoved), signal.SIGKILL)
    time.sleep(0.5)
    assert pool.run(abs, -1, look=unmoved) == 1


class Held:
    """A job in a thread, which ends when it is told to."""

    def __init__(self, pool, lane, tmp_path):
        self.ahead, self.done = [], False
        self.go = tmp_path / f"{id(self)}"
        self.thread = threading.Thread(target=self._run, args=(pool, lane))
        self.thread.start()

    def _run(self, pool, lane):
        pool.run(work_of_jobs.until, str(self.go), look=lambda ahead, _: self.ahead.append(ahead), lane=lane)
        self.done = True

    def is_at_work(self):
        return bool(self.ahead) and self.ahead[-1] == 0

    def end(self):
        self.go.touch()
        self.thread.join(30)
        assert self.done


def test_runs_wait_in_order_leave_a_worker_for_pages_and_large_ones_come_one_by_one(pool, tmp_path):
    large = [Held(pool, "large", tmp_path)]
    until(large[0].is_at_work)
    large += [Held(pool, "large", tmp_path)]
    runs = [Held(pool, "run", tmp_path)]
    until(runs[0].is_at_work)  # past the large one that waits
    for ahead in (1, 2):
        runs.append(Held(pool, "run", tmp_path))
        until(lambda ahead=ahead: runs[-1].ahead[-1:] == [ahead])
    assert large[1].ahead[-1] == 1
    assert pool.run(abs, -1, look=unmoved) == 1
    runs[0].end()
    until(runs[1].is_at_work)
    assert not runs[2].is_at_work()
    assert not large[1].is_at_work()
    for one in (runs[1], runs[2], large[0], large[1]):
        until(one.is_at_work)
        one.end()
    assert len(pool._idle) == 3


def test_ibu_is_computed_by_a_worker_while_others_wait_and_by_the_page_where_that_is_lost(monkeypatch):
    calls, turns = [], Turns()

    def elsewhere(function, *args, look, seconds, **named):
        calls.append(function)
        if len(calls) > 1:
            raise Lost("broke off")
        return function(*args, **named)

    monkeypatch.setattr(results, "TURNS", turns)
    monkeypatch.setattr(results.jobs, "is_free", lambda: True)
    monkeypatch.setattr(results.jobs, "run", elsewhere)
    monkeypatch.setattr(results.dials, "look", lambda: None)
    of_draw = DrawResults(SCENARIO.draw())
    thetas = []
    for others_wait in (False, True, True):
        monkeypatch.setattr(Turns, "are_wanted", lambda _, wait=others_wait: wait)
        sessions.SHARED.clear()
        thetas.append(results.ibu_run(of_draw, Start(), 1000).thetas)
        turns.end()
    assert len(calls) == 2
    for one in thetas[1:]:
        np.testing.assert_array_equal(one, thetas[0])
