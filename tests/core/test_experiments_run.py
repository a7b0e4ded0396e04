"""A sweep is the same in place, over an executor and over Dask, in any order, stopped and taken up again."""

import math
import re
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster

from rr_core import Population, simulate
from rr_core.experiments import run as run_module
from rr_core.experiments.cell import expected_cell_seconds
from rr_core.experiments.grid import MAIN_GRID, MAIN_SETTINGS, Cell, Settings, Sweep, over
from rr_core.experiments.run import SweepResult, expected_seconds, run
from rr_core.io import experiments as files
from tests.documents import DOCUMENTS

UPLOAD = Population.from_weights(np.arange(30)[::-1] ** 2)
GIVEN = {UPLOAD.key: UPLOAD}
CELLS = (
    *over(s=(0.01, 2.5), k=(5, 60), epsilon=(1, 6), n=(100, 10**5)),
    Cell(UPLOAD.key, 30, 2.0, UPLOAD.total),
    Cell("zipf", 3000, 2.0, 1000, 1.0),
)
SWEEP = Sweep(CELLS, Settings(12))


@pytest.fixture(scope="module")
def whole():
    return run(SWEEP, populations=GIVEN)


def test_in_place(whole):
    assert whole.finished
    assert [result.cell for result in whole.cells] == list(CELLS)
    assert whole.same(run(SWEEP, populations=GIVEN))
    assert not whole.same(run(replace(SWEEP, settings=Settings(12, seed=2)), populations=GIVEN))
    assert not whole.same(SweepResult(SWEEP, whole.cells[:-1]))


class Manual(Executor):
    """Computes at once, or only the first ``limit`` tasks and leaves the others pending; remembers what it was given."""

    def __init__(self, limit=10**9):
        self.limit, self.calls, self.futures = limit, [], []

    @property
    def tasks(self):
        return [cells for cells, *_ in self.calls]

    def submit(self, function, /, *args):
        future = Future()
        self.calls.append(args)
        self.futures.append(future)
        if len(self.calls) <= self.limit:
            future.set_result(function(*args))
        return future


@pytest.fixture(scope="module")
def cluster():
    """A worker process of two threads; nothing listens beyond this machine."""
    with LocalCluster(1, threads_per_worker=2, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.mark.slow
def test_over_dask(whole, cluster, monkeypatch):
    monkeypatch.setattr(run_module, "_PER_TASK", 0.003)
    with Client(cluster) as client, client.get_executor() as executor:
        result = run(SWEEP, executor, populations=GIVEN)
        assert whole.same(result)
        assert not result.cells[0].mean.flags.writeable
        part = run(SWEEP, executor, lambda progress: progress.done > 0, populations=GIVEN)
        assert part.cells
        assert whole.same(run(SWEEP, executor, done=part, populations=GIVEN))


@pytest.mark.slow
def test_the_documented_way_onto_a_cluster(cluster, tmp_path, monkeypatch):
    """Its code as it stands, with fewer cells and another address."""
    (code,) = re.findall(r"```py\n(.*?)```", DOCUMENTS["docs/cluster.md"], flags=re.S)
    small = "cells = over(s=1.0, k=(5, 6), epsilon=2, n=100)\n"
    for old, new in (
        (r"cells = over\((?s:.*?)\n\)\n", small),
        ("seeds=1000", "seeds=3"),
        ("tcp://scheduler:8786", cluster.scheduler_address),
    ):
        code, times = re.subn(old, new, code)
        assert times == 1
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    read = files.read("sweep.parquet", Path("sweep.parquet").read_bytes())
    assert read.same(run(Sweep(over(s=1.0, k=(5, 6), epsilon=2, n=100), Settings(3, bias=False))))


def test_the_calls_of_two_runs_are_not_equal():
    """Dask would take them for one, and a stopped run would cancel the other's."""
    executor = Manual()
    for _ in range(2):
        run(Sweep(CELLS[:3], Settings(1)), executor)
    assert len({ticket for *_, ticket in executor.calls}) == 2


def test_long_cells_go_first_and_the_rest_in_small_tasks_in_no_order(monkeypatch):
    monkeypatch.setattr(run_module, "_PER_TASK", 0.004)
    executor = Manual()
    run(SWEEP, executor, populations=GIVEN | {"weights:other": UPLOAD})
    assert all(set(sent) <= set(GIVEN) for _, _, sent, _ in executor.calls)  # no more than is needed
    cells = [cell for task in executor.tasks for cell in task]
    costs = [expected_cell_seconds(cell, SWEEP.settings) for cell in cells]
    long = sum(cost > 0.004 for cost in costs)
    assert sorted(cells, key=CELLS.index) == list(CELLS)
    assert 0 < long < len(CELLS) / 2
    assert costs[:long] == sorted(costs, reverse=True)[:long]
    assert costs[long:] != sorted(costs[long:], reverse=True)
    assert len(executor.tasks) > 3
    for task in executor.tasks:
        assert len(task) == 1 or sum(expected_cell_seconds(cell, SWEEP.settings) for cell in task) <= 0.004


def test_progress_in_place():
    told = []
    result = run(SWEEP, progress=lambda progress: told.append(progress), populations=GIVEN)
    assert result.finished
    assert [p.done for p in told] == sorted(p.done for p in told)
    assert {p.done for p in told} == set(range(len(CELLS) + 1))
    assert {p.cells for p in told} == {len(CELLS)}
    assert [len(p.so_far.cells) for p in told] == [p.done for p in told]
    assert told[-1].so_far.same(result)
    # The time left is told from the work done.
    assert math.isnan(told[0].left)
    assert told[-1].left == 0
    assert all(0 <= p.left < math.inf for p in told[1:])


@pytest.mark.parametrize("after", [0, 7])
def test_stopped_and_resumed_in_place(whole, after):
    part = run(SWEEP, progress=lambda progress: progress.done >= after, populations=GIVEN)
    assert len(part.cells) == after
    assert not part.finished
    told = []
    rest = run(SWEEP, done=part, progress=lambda progress: told.append(progress), populations=GIVEN)
    assert told[0].done == after
    assert whole.same(rest)
    for result in part.cells:
        assert rest.by_cell[result.cell] is result


def test_a_stop_is_asked_for_within_a_cell(monkeypatch):
    monkeypatch.setattr(run_module, "_EVERY", 0.0)
    monkeypatch.setattr(simulate, "PROGRESS_SECONDS", 0.0)
    calls = []
    sweep = Sweep((Cell("zipf", 5000, 2.0, 100, 1.0),), Settings(100))
    part = run(sweep, progress=lambda progress: calls.append(progress.done) or len(calls) == 3)
    assert calls == [0, 0, 0]
    assert part.cells == ()


def test_stopped_and_resumed_over_an_executor(whole, monkeypatch):
    monkeypatch.setattr(run_module, "_PER_TASK", 0.003)
    monkeypatch.setattr(run_module, "_EVERY", 0.01)
    executor = Manual(limit=2)
    part = run(SWEEP, executor, progress=lambda progress: progress.done > 0, populations=GIVEN)
    assert 0 < len(part.cells) == sum(len(task) for task in executor.tasks[:2])
    assert all(future.cancelled() for future in executor.futures[2:])
    assert whole.same(run(SWEEP, Manual(), done=part, populations=GIVEN))
    with ThreadPoolExecutor(2) as threads:
        assert whole.same(run(SWEEP, threads, done=part, populations=GIVEN))


def test_what_does_not_fit_is_told_before_any_work(whole):
    executor = Manual()
    with pytest.raises(ValueError, match="done must have the settings of the sweep"):
        run(replace(SWEEP, settings=Settings(13)), executor, done=whole, populations=GIVEN)
    with pytest.raises(ValueError, match="populations must hold 'weights:"):
        run(SWEEP, executor)
    assert executor.tasks == []


def test_a_grown_sweep_takes_over_what_is_there(whole):
    more = Sweep((*CELLS[5:9], Cell("zipf", 8, 1.0, 50)), SWEEP.settings)
    executor = Manual()
    grown = run(more, executor, done=whole)
    assert executor.tasks == [(more.cells[-1],)]
    assert grown.finished
    assert grown.cells[0] is whole.cells[5]


def test_a_failure_is_raised_and_the_rest_cancelled(monkeypatch):
    monkeypatch.setattr(run_module, "_PER_TASK", 0.003)

    class Failing(Manual):
        def submit(self, function, /, *args):
            future = super().submit(function, *args)
            if len(self.tasks) == 2:
                future.set_exception(RuntimeError("worker died"))
            return future

    executor = Failing(limit=1)
    with pytest.raises(RuntimeError, match="worker died"):
        run(SWEEP, executor, populations=GIVEN)
    assert all(future.cancelled() for future in executor.futures[2:])


def test_the_estimate_before_a_run(whole):
    assert expected_seconds(SWEEP, done=whole) == 0
    assert expected_seconds(SWEEP, done=SweepResult(SWEEP, whole.cells[1:])) == pytest.approx(
        expected_cell_seconds(CELLS[0], SWEEP.settings)
    )
    main = Sweep(MAIN_GRID, MAIN_SETTINGS)
    assert expected_seconds(main, 2) == pytest.approx(expected_seconds(main) / 2)
    assert 1 < expected_seconds(main, 2) < 90
    small, large = Cell("zipf", 50, 1.0, 100), Cell("zipf", 5000, 1.0, 10**5)
    assert expected_cell_seconds(small, Settings()) < expected_cell_seconds(large, Settings(20))
    assert expected_cell_seconds(large, Settings(20)) < expected_cell_seconds(large, Settings(100))
