"""Sweeps take turns, are shared, stopped, taken up again, and make way when nobody looks."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from pages._ui.experiments import queue
from pages._ui.experiments.queue import SweepQueue
from rr_core import Population
from rr_core.experiments.grid import Cell, Settings, Sweep, over
from rr_core.experiments.run import run

SWEEP = Sweep(over(s=1.3, k=(5, 10), epsilon=(1, 2), n=(100, 1000)), Settings(4))
OTHER = Sweep(SWEEP.cells, Settings(5))
THIRD = Sweep(SWEEP.cells, Settings(6))
UPLOAD = Population.from_weights(np.arange(1, 6))
UPLOADED = Sweep((Cell(UPLOAD.key, 5, 1.0, UPLOAD.total),), Settings(3))


def test_one_at_a_time_in_the_order_they_came(house):
    first, second, third = (
        house.queue.join(sweep, name) for name, sweep in zip("abc", (SWEEP, OTHER, THIRD), strict=True)
    )
    house.gate(0, 8)
    assert [house.queue.ahead(job) for job in (first, second, third)] == [
        0,
        1,
        2,
    ]
    assert (first.state, second.state, third.state) == ("running", "waiting", "waiting")
    house.finish(0, first)
    house.gate(1, 8)
    assert len(house.gates) == 2
    assert [house.queue.ahead(job) for job in (first, second, third)] == [
        0,
        0,
        1,
    ]
    house.finish(1, second)
    house.finish(2, third)
    assert [job.state for job in (first, second, third)] == ["finished"] * 3
    assert all(job.result.same(run(job.sweep)) for job in (first, second, third))
    assert all(gate.ended for gate in house.gates)


def test_progress_is_told_while_it_runs(house):
    job = house.queue.join(SWEEP, "a")
    gate = house.gate(0, 8)
    gate.step()
    gate.step()
    house.wait(lambda: job.progress is not None and job.progress.done == 2)
    assert len(job.result.cells) == 2
    house.finish(0, job)
    assert job.progress.done == 8


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


def test_stopped_keeps_what_is_done_and_goes_on_from_there(house):
    job = house.queue.join(SWEEP, "a")
    house.gate(0, 8)
    house.gates[0].step()
    house.wait(lambda: len(job.result.cells) == 1)
    house.queue.leave(job, "a")
    house.wait(lambda: job.is_over)
    assert job.state == "stopped"
    assert house.gates[0].ended
    assert all(future.cancelled() for future, _, _ in house.gates[0].waiting)
    again = house.queue.join(SWEEP, "a", done=job.result)
    assert again is not job
    house.gate(1, 7)
    assert len(house.gates[1].waiting) == 7
    house.finish(1, again)
    assert again.result.same(run(SWEEP))


def test_one_that_waits_is_stopped_without_having_run(house):
    first, second = house.queue.join(SWEEP, "a"), house.queue.join(OTHER, "b")
    house.gate(0, 8)
    house.queue.leave(second, "b")
    assert second.state == "stopped"
    assert not second.result.cells
    house.finish(0, first)
    house.wait(lambda: not house.queue._at_work)
    assert len(house.gates) == 1


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


def test_what_breaks_keeps_the_rest_and_does_not_hold_up_the_next(house, caplog):
    job, after = house.queue.join(SWEEP, "a"), house.queue.join(OTHER, "b")
    gate = house.gate(0, 8)
    gate.step()
    house.wait(lambda: len(job.result.cells) == 1)
    gate.waiting.pop(0)[0].set_exception(MemoryError("no more"))
    house.wait(lambda: job.is_over)
    assert job.state == "failed"
    assert len(job.result.cells) == 1
    house.finish(1, after)
    assert after.state == "finished"
    assert "broke off" in caplog.text


def test_no_executor_is_a_failure_too(caplog):
    def refuse():
        raise OSError("no process can be started")

    job = SweepQueue(refuse, lambda executor: None).join(SWEEP, "a")
    for _ in range(1000):
        if job.is_over:
            break
        time.sleep(0.005)
    assert job.state == "failed"


def test_only_the_latest_results_are_kept(house):
    sweeps = [Sweep(SWEEP.cells[:1], Settings(1, seed=seed)) for seed in range(queue._MOST_RESULTS + 2)]
    for number, sweep in enumerate(sweeps):
        house.finish(number, house.queue.join(sweep, "a"))
    assert list(house.queue._finished) == sweeps[2:]


@pytest.mark.slow
def test_processes_of_their_own():
    """The real pool: the same numbers, of low priority, gone at once when ended."""
    made = SweepQueue(queue.start_workers, queue.end_workers)
    job = made.join(SWEEP, "a")
    while not job.is_over:
        threading.Event().wait(0.02)
    assert job.result.same(run(SWEEP))
    executor = queue.start_workers()
    assert executor.submit(_priority).result() == 10
    sleeping = executor.submit(time.sleep, 600)
    time.sleep(0.2)
    assert not sleeping.done()
    pids, thread = list(executor.inner._processes), executor.inner._executor_manager_thread
    queue.end_workers(executor)
    thread.join(10)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_ending_with_cancelled_work_is_quiet(caplog):
    """loky's thread must not stumble over what `run` has cancelled, which a log would tell at every Stop."""
    executor = queue.start_workers()
    sleeping = [executor.submit(time.sleep, 600) for _ in range(40)]
    time.sleep(0.2)
    assert sum(one.cancel() for one in sleeping) > 10
    pids, thread = list(executor.inner._processes), executor.inner._executor_manager_thread
    queue.end_workers(executor)
    thread.join(10)
    assert not caplog.records
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_results_and_exceptions_are_passed_on():
    executor = queue.start_workers()
    assert executor.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 7, 0).result()
    queue.end_workers(executor)


def _priority():
    return os.nice(0)
