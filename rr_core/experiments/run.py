"""Runs a sweep: in place or over any executor, with progress, stopped at once, and taken up again."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from functools import cached_property

from rr_core import _validate
from rr_core.experiments.cell import CellResult, compute_cell, expected_cell_seconds, simulate_cell, summarise
from rr_core.experiments.grid import Cell, Settings, Sweep
from rr_core.populations import Population
from rr_core.simulate import Progress

# Seconds of work handed to an executor at a time, as expected: the fewer, the sooner a stopped run frees the executor.
_PER_TASK = 0.2
# Seconds between two looks at whether to stop.
_EVERY = 0.1


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The cells of a sweep that are done, in its order; all of them, or fewer when it was stopped."""

    sweep: Sweep
    cells: tuple[CellResult, ...]

    @property
    def finished(self) -> bool:
        return len(self.cells) == len(self.sweep.cells)

    @cached_property
    def by_cell(self) -> dict[Cell, CellResult]:
        return {result.cell: result for result in self.cells}

    def same(self, other: SweepResult) -> bool:
        """Whether both are the same sweep with the same numbers, bit for bit."""
        return (
            self.sweep == other.sweep
            and len(self.cells) == len(other.cells)
            and all(mine.same(theirs) for mine, theirs in zip(self.cells, other.cells, strict=True))
        )


@dataclass(frozen=True)
class RunProgress:
    """How far a run is.

    Attributes:
        done, cells: cells computed, and in all.
        elapsed: seconds since this run began.
        left: seconds still expected, from the work done in this run; nan before its first cell.
        so_far: the result as it stands, to draw or to keep before the run is over.
    """

    done: int
    cells: int
    elapsed: float
    left: float
    so_far: SweepResult


# Told how far the run is, at least every 100 ms or so; True asks to stop.
ProgressCallback = Callable[[RunProgress], bool]


def run(
    sweep: Sweep,
    executor: Executor | None = None,
    progress: ProgressCallback | None = None,
    done: SweepResult | None = None,
    populations: Mapping[str, Population] | None = None,
) -> SweepResult:
    """Compute a sweep. The result does not depend on where and in which order its cells are computed, bit for bit
    on machines of one kind with the same versions.

    Args:
        sweep: the cells, and how they are measured.
        executor: any `concurrent.futures.Executor`: of this machine's processes, or of a cluster (Dask's
            `distributed.Client.get_executor()`); None computes in place. Long cells go first, the
            others in no order, so that what is done is a fair sample of the sweep at any time.
        progress: told how far the run is; returning True stops it at once: what is pending is cancelled, what is done
            is in the result. What already runs elsewhere (a fraction of a second of work, or one cell of a long
            sweep) is not waited for.
        done: an earlier result, whose cells are taken over. Its settings must be the same; its cells may be others.
        populations: the uploaded ones, by their key.

    Raises:
        ValueError: when ``done`` was measured in another way, or a population is missing. What a worker raises is
            raised here, after the rest is cancelled.

    >>> from rr_core.experiments.grid import over
    >>> result = run(Sweep(over(k=(5, 50), n=(1000,), epsilon=(1.0,), s=(1.3,)), Settings(20)))
    >>> [(cell.cell.k, cell.seeds) for cell in result.cells]
    [(5, 20), (50, 20)]
    """
    state = _Run(sweep, done, dict(populations or {}), progress)
    if not state.tell():
        if executor is None:
            state.in_place()
        else:
            state.over(executor)
    return state.result()


def expected_seconds(sweep: Sweep, workers: int = 1, done: SweepResult | None = None) -> float:
    """A rough estimate, before it starts, of how long a sweep takes on an ordinary machine."""
    known, workers = done.by_cell if done else {}, _validate.integer("workers", workers, 1)
    return (
        sum(expected_cell_seconds(cell, sweep.settings) for cell in sweep.cells if cell not in known)
        / workers
    )


def compute_cells(
    cells: tuple[Cell, ...], settings: Settings, given: Mapping[str, Population], ticket: str
) -> list[CellResult]:
    """The results of some cells: what a worker does at a time. Dask takes calls with equal arguments for one task,
    which one run would cancel for all; the ``ticket`` of a run keeps its calls apart."""
    return [compute_cell(cell, settings, given) for cell in cells]


@dataclass
class _Run:
    sweep: Sweep
    done: SweepResult | None
    given: Mapping[str, Population]
    progress: ProgressCallback | None
    found: dict[Cell, CellResult] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    worked: float = 0.0

    def __post_init__(self) -> None:
        if self.done is not None:
            if self.done.sweep.settings != self.sweep.settings:
                raise ValueError(
                    f"done must have the settings of the sweep, {self.sweep.settings}, "
                    f"got {self.done.sweep.settings}"
                )
            self.found = {
                cell: self.done.by_cell[cell] for cell in self.sweep.cells if cell in self.done.by_cell
            }
        self.cost = {
            cell: expected_cell_seconds(cell, self.sweep.settings)
            for cell in self.sweep.cells
            if cell not in self.found
        }
        for cell in self.cost:
            if cell.uploaded:
                cell.population(self.given)  # a missing one is an error before any work
        # Long cells first, so that none of them is left to run alone at the end; the others in a fixed random order.
        cells = list(self.cost)
        random.Random(len(cells)).shuffle(cells)
        self.waiting = sorted(cells, key=lambda one: -self.cost[one] if self.cost[one] > _PER_TASK else 0.0)

    def tell(self) -> bool:
        """Report the progress; returns whether to stop."""
        if self.progress is None:
            return False
        elapsed = time.perf_counter() - self.began
        ahead = sum(self.cost.values()) - self.worked
        left = elapsed * ahead / self.worked if self.worked else float("nan")
        if len(self.found) == len(self.sweep.cells):
            left = 0.0  # whatever rounding leaves of it
        so_far = self.result()
        return bool(
            self.progress(RunProgress(len(so_far.cells), len(self.sweep.cells), elapsed, left, so_far))
        )

    def keep(self, result: CellResult) -> None:
        self.found[result.cell] = result
        self.worked += self.cost[result.cell]

    def result(self) -> SweepResult:
        return SweepResult(self.sweep, tuple(self.found[c] for c in self.sweep.cells if c in self.found))

    def in_place(self) -> None:
        for cell in self.waiting:
            drawn = simulate_cell(cell, self.sweep.settings, self.given, self._within_cell())
            if drawn is None:
                return
            self.keep(summarise(cell, self.sweep.settings, drawn))
            if self.tell():
                return

    def _within_cell(self) -> Progress:
        """Reports the progress of the run from within a cell, every ``_EVERY`` seconds."""
        called_at = time.perf_counter()

        def progress(_: int) -> bool:
            nonlocal called_at
            if time.perf_counter() - called_at < _EVERY:
                return False
            called_at = time.perf_counter()
            return self.tell()

        return progress

    def over(self, executor: Executor) -> None:
        pending: set[Future[list[CellResult]]] = set()
        ticket = uuid.uuid4().hex
        try:
            for cells in self._tasks():
                given = {cell.dist: self.given[cell.dist] for cell in cells if cell.uploaded}
                pending.add(executor.submit(compute_cells, cells, self.sweep.settings, given, ticket))
            stop = False
            while pending and not stop:
                ready, pending = wait(pending, timeout=_EVERY, return_when=FIRST_COMPLETED)
                for future in ready:
                    for result in future.result():
                        self.keep(result)
                stop = self.tell()
        finally:
            for future in pending:
                future.cancel()

    def _tasks(self) -> Iterator[tuple[Cell, ...]]:
        task: list[Cell] = []
        for cell in self.waiting:
            if task and sum(self.cost[one] for one in task) + self.cost[cell] > _PER_TASK:
                yield tuple(task)
                task = []
            task.append(cell)
        if task:
            yield tuple(task)
