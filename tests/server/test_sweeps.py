"""Sweeps take turns, are shared, stopped, taken up again, and make way when nobody looks."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
import streamlit as st

from pages._ui.experiments import runs
from rr_core import Population
from rr_core.experiments.grid import Cell, Settings, Sweep, over
from rr_core.experiments.run import run
from server import sessions
from server.jobs import NICENESS, end_workers, start_workers, worker_count
from server.sweeps import _MOST_RESULTS, SweepQueue
from tests import until
from tests.app.opening import ROOT

SWEEP = Sweep(over(s=1.3, k=(5, 10), epsilon=(1, 2), n=(100, 1000)), Settings(4))
OTHER = Sweep(SWEEP.cells, Settings(5))
THIRD, LAST = (Sweep(SWEEP.cells, Settings(seeds)) for seeds in (6, 7))
UPLOAD = Population.from_weights(np.arange(1, 6))
UPLOADED = Sweep((Cell(UPLOAD.key, 5, 1.0, UPLOAD.total),), Settings(3))


def test_one_at_a_time_in_the_order_they_came(house):
    jobs = [
        house.queue.join(sweep, name) for name, sweep in zip("abcd", (SWEEP, OTHER, THIRD, LAST), strict=True)
    ]
    house.queue.leave(jobs[3], "d")  # one that waits is stopped without having run
    for number, job in enumerate(jobs[:3]):
        house.gate(number, 8)
        assert [house.queue.ahead(one) for one in jobs[:3]] == [max(0, i - number) for i in range(3)]
        assert [one.state for one in jobs[number:3]] == ["running", *["waiting"] * (2 - number)]
        house.gates[number].step()
        house.wait(lambda job=job: job.progress is not None and job.progress.done == 1)
        house.finish(number, job)
        assert job.progress.done == 8
    assert [job.state for job in jobs] == [*["finished"] * 3, "stopped"]
    assert all(job.result.same(run(job.sweep)) for job in jobs[:3])
    assert not jobs[3].result.cells
    assert len(house.gates) == 3
    assert all(gate.ended for gate in house.gates)


def test_the_same_sweep_is_run_once_for_all(house):
    jobs = [house.queue.join(SWEEP, str(session)) for session in range(100)]
    assert len(set(map(id, jobs))) == 1
    house.gate(0, 8)
    for session in range(99):
        house.queue.leave(jobs[0], str(session))
    time.sleep(0.25)  # two looks at whether to stop
    assert jobs[0].state == "running"
    house.finish(0, jobs[0])
    late = house.queue.join(SWEEP, "late")
    assert late.state == "finished"
    assert late.result is jobs[0].result
    assert len(house.gates) == 1


def test_so_many_runs_wait_and_no_more_however_many_ask_at_once(house, monkeypatch):
    """Everybody may have found a free place before the first one took it."""
    monkeypatch.setattr("server.sweeps._MOST_JOBS", 2)
    jobs = [house.queue.join(sweep, "one") for sweep in (SWEEP, OTHER, THIRD, SWEEP)]
    assert [job is not None for job in jobs] == [True, True, False, True]
    assert jobs[3] is jobs[0]  # who joins another's run takes no place
    for job in jobs[:2]:
        house.queue.leave(job, "one")


def test_a_stop_does_not_heed_sessions_that_are_gone(house):
    job = house.queue.join(SWEEP, "reloaded")
    house.gate(0, 8)
    house.now = 25
    assert house.queue.join(SWEEP, "a") is job
    house.queue.leave(job, "a")
    house.wait(lambda: job.is_over)
    assert job.state == "stopped"


def test_what_is_under_way_is_told_but_no_upload(house):
    job = house.queue.join(SWEEP, "a")
    house.queue.join(UPLOADED, "b", populations={UPLOAD.key: UPLOAD})
    assert house.queue.running_same_cells(SWEEP.cells) is job
    assert house.queue.running_same_cells(UPLOADED.cells) is None
    assert house.queue.running_same_cells(SWEEP.cells[1:]) is None
    house.finish(0, job)
    assert house.queue.running_same_cells(SWEEP.cells) is None


def test_a_run_that_is_being_stopped_is_not_joined(house):
    job = house.queue.join(SWEEP, "a")
    house.gate(0, 8)
    house.queue.leave(job, "a")
    house.wait(lambda: job.ending)
    assert house.queue.join(SWEEP, "b") is not job


@pytest.mark.slow
def test_one_that_nobody_looks_at_makes_way_only_when_others_wait(house):
    lonely = house.queue.join(SWEEP, "a")
    house.gate(0, 8)
    house.now = 61
    time.sleep(0.25)
    assert lonely.state == "running"
    house.queue.watch(lonely, "a")
    eager = house.queue.join(OTHER, "b")
    house.now = 120
    house.queue.watch(eager, "b")
    time.sleep(0.25)
    assert lonely.state == "running"
    house.now = 122
    house.wait(lambda: lonely.is_over)
    assert lonely.state == "stopped"
    house.finish(1, eager)


def test_an_upload_is_shared_with_nobody_and_given_up(house):
    given = {UPLOAD.key: UPLOAD}
    mine = house.queue.join(UPLOADED, "a", populations=given)
    theirs = house.queue.join(UPLOADED, "b", populations=given)
    assert mine is not theirs
    house.finish(0, mine)
    house.finish(1, theirs)
    assert mine.state == theirs.state == "finished"
    assert mine.populations == {}
    assert not house.queue._finished


def test_only_the_latest_results_are_kept(house):
    sweeps = [Sweep(SWEEP.cells[:1], Settings(1, seed=seed)) for seed in range(_MOST_RESULTS + 2)]
    for number, sweep in enumerate(sweeps):
        house.finish(number, house.queue.join(sweep, "a"))
    assert list(house.queue._finished) == sweeps[2:]


def test_what_breaks_does_not_hold_up_the_next_and_no_executor_is_a_failure_too(house, caplog):
    job, after = house.queue.join(SWEEP, "a"), house.queue.join(OTHER, "b")
    house.gate(0, 8).step()
    house.wait(lambda: len(job.result.cells) == 1)
    house.gates[0].waiting.pop(0)[0].set_exception(MemoryError("no more"))
    house.finish(1, after)
    assert (job.state, len(job.result.cells), after.state) == ("failed", 1, "finished")
    assert "broke off" in caplog.text

    def refuse(workers):
        raise OSError("no process can be started")

    job = SweepQueue(refuse, lambda executor: None).join(SWEEP, "a")
    house.wait(lambda: job.is_over)
    assert job.state == "failed"


def test_a_sweep_waits_for_room_and_gets_as_many_processes_as_there_is_room_for(house, monkeypatch):
    """On a server of two gigabytes; a process takes 66 MB, and 150 MB more for 1.5 million categories."""
    taken, started = [1500], []
    monkeypatch.setattr(sessions, "limit", lambda: 2048 * 2**20)
    monkeypatch.setattr(sessions, "resident", lambda: taken[0] * 2**20)
    monkeypatch.setattr(sessions, "_resident_of_workers", lambda: 0)
    monkeypatch.setattr(sessions, "_LOOK", 0.01)
    monkeypatch.setattr("server.sweeps.worker_count", lambda: 16)
    start = house.queue.start
    house.queue.start = lambda workers: started.append(workers) or start(workers)
    house.finish(0, house.queue.join(SWEEP, "a"))
    assert started == [5]  # of the 343 MB below nine tenths
    taken[0] = 1840
    waits = house.queue.join(OTHER, "a")
    time.sleep(0.1)
    assert (waits.state, len(started)) == ("running", 1)
    given_up = house.queue.join(THIRD, "a")
    house.queue.leave(waits, "a")
    house.wait(lambda: waits.is_over)
    assert waits.state == "stopped"
    taken[0] = 300
    house.finish(1, given_up)
    assert started[1:] == [15]  # half of the limit
    with sessions.room_for_workers(1_500_000, 16, lambda: False) as workers:
        assert workers == 4
        monkeypatch.setattr(sessions, "_PATIENCE", 0.0)
        with pytest.raises(sessions.NoRoom), sessions.room(1000 * 2**20):  # which the workers will take
            pass
    with sessions.room(1000 * 2**20):
        pass


@pytest.mark.slow
def test_processes_of_their_own(house, caplog):
    """The real pool: the same numbers, of low priority, gone at once when ended, and quiet about cancelled work."""
    job = SweepQueue(start_workers, end_workers).join(SWEEP, "a")
    while not job.is_over:
        time.sleep(0.02)
    assert job.result.same(run(SWEEP))
    executor = start_workers(worker_count())
    assert executor.submit(os.nice, 0).result() == NICENESS
    sleeping = [executor.submit(time.sleep, 600) for _ in range(40)]
    time.sleep(0.2)
    assert sum(one.cancel() for one in sleeping) > 10
    workers = [psutil.Process(pid) for pid in executor.inner._processes]
    thread = executor.inner._executor_manager_thread
    end_workers(executor)
    thread.join(10)
    assert not caplog.records
    assert not any(map(lives, workers))


# A server in the middle of cells that take an hour each; it prints the numbers of its workers.
_SERVER = """
import os, time
from server import sweeps
from server.jobs import worker_count
from rr_core.experiments.grid import Settings, Sweep, over

started = []
sweeps.SERVER.start = lambda workers: started.append(sweeps.start_workers(workers)) or started[-1]
job = sweeps.SERVER.join(Sweep(over(s=1.3, k=1_000_000, epsilon=(1, 2, 3), n=10**9), Settings(100_000)), "a")
while not (started and len(started[0].inner._processes) == worker_count() and job.state == "running"):
    assert not job.is_over
    time.sleep(0.05)
print(*started[0].inner._processes, flush=True)
time.sleep(3600)
"""


def lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):  # how a zombie ended nobody has asked yet
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a process of Windows keeps the number of its parent")
def test_the_workers_of_a_server_that_is_killed_end_with_it():
    """Of one that is told to end: test_ends.py."""
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        workers = [psutil.Process(int(number)) for number in server.stdout.readline().split()]
        try:
            assert len(workers) == worker_count()
            server.kill()
            # Half a second on a machine with nothing else to do, and on a busy one as long as slow workers take to start;
            # it was an hour, and for good.
            until(lambda: not any(map(lives, workers)), 40)
        finally:
            for one in (server, *workers):
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()


def test_no_visitor_makes_the_server_forget_its_queue_or_compute_the_stored_runs_again():
    """Every connection may clear Streamlit's caches."""
    before, stored = runs.sweeps.SERVER, runs._stored("main")
    st.cache_resource.clear()
    st.cache_data.clear()
    assert runs.sweeps.SERVER is before
    assert runs._stored("main") is stored
