"""Several runs of IBU side by side in one batch: the same users under several epsilon, and the paper's Figure 4."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.ibu import Progress, ibu_paths, iterates
from rr_core.iteration import figure4
from rr_core.iteration.progress import TOLERANCES
from rr_core.iteration.record import log_spaced
from rr_core.scenario import Draw, Scenario, Users

_EVERY = 0.05  # seconds between two calls of a progress callback


@dataclass(frozen=True, eq=False)
class Compared:
    """How far each run had come.

    Attributes:
        scenarios: one per run.
        iterations: (t,) recorded iteration numbers, increasing.
        squared_distance: (runs, t) ||theta_t - MLE*||^2.
        reached: (runs, tolerances) the first iteration, recorded or not, at which the squared distance is at most each
            of TOLERANCES; nan where none up to the last one is.
        stopped: True when the runs were stopped early.
    """

    scenarios: tuple[Scenario, ...]
    iterations: NDArray[np.int64]
    squared_distance: Array
    reached: Array
    stopped: bool

    def only(self, first: int, end: int) -> Compared:
        """Some neighbouring runs of these."""
        chosen = slice(first, end)
        return replace(
            self,
            scenarios=self.scenarios[chosen],
            squared_distance=self.squared_distance[chosen],
            reached=self.reached[chosen],
        )


def under_each(
    draw: Draw, epsilons: Sequence[float], iterations: int, progress: Progress | None = None
) -> Compared:
    """Let the users of a draw report under each privacy budget, and run IBU from the uniform start on each.

    Args:
        draw: whose users report; the noise is that of the same scenario with another epsilon.
        epsilons: privacy budgets > 0.
        iterations: how far to run, >= 0.
        progress: as in `ibu_path`.
    """
    users = Users(draw.population, draw.true_counts)
    return _run(
        [replace(draw.scenario, epsilon=epsilon).collect(users) for epsilon in epsilons], iterations, progress
    )


def paper_figure4(seed: int, progress: Progress | None = None) -> Compared:
    """The paper's twelve runs of 40,000 iterations on the draws of one seed; three epsilons per panel."""
    return _run([scenario.draw() for scenario in figure4.settings(seed)], figure4.ITERATIONS, progress)


def _run(draws: Sequence[Draw], last: int, progress: Progress | None) -> Compared:
    counts, mechanisms = np.stack([draw.counts for draw in draws]), [draw.mechanism for draw in draws]
    start = ibu_paths(counts, mechanisms, [0])
    marks, called, done = log_spaced(last), time.perf_counter(), 0
    curves, reached, stopped = [], np.full((len(draws), len(TOLERANCES)), np.nan), False
    for first, thetas in iterates(start, last):
        squared, done = start.measures.squared_distance(thetas).T, first + len(thetas) - 1
        within = squared[:, None, :] <= np.array(TOLERANCES)[:, None]
        new = np.isnan(reached) & within.any(axis=-1)
        reached[new] = first + np.argmax(within, axis=-1)[new]
        curves.append(squared[:, marks[(marks >= first) & (marks <= done)] - first])
        if progress is not None and (done == last or time.perf_counter() - called >= _EVERY):
            called = time.perf_counter()
            if progress(done):
                stopped = done < last
                break
    recorded = np.concatenate(curves, axis=1)
    if stopped and done not in marks:
        marks, recorded = np.append(marks[marks < done], done), np.append(recorded, squared[:, -1:], axis=1)
    scenarios = tuple(draw.scenario for draw in draws)
    return Compared(scenarios, marks[: recorded.shape[1]], recorded, reached, stopped)
