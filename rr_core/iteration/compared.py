"""Several runs of IBU side by side in one batch: the same users under several epsilon, and the paper's Figure 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.ibu import Progress, ibu_paths
from rr_core.iteration import figure4
from rr_core.iteration.record import IBUPath, log_spaced
from rr_core.scenario import Draw, Scenario, Users


@dataclass(frozen=True, eq=False)
class Compared:
    """How far each run had come, at the recorded iterations.

    Attributes:
        scenarios: one per run.
        iterations: (t,) recorded iteration numbers, increasing.
        squared_distance, certificate: (runs, t), as in `IBUPath`.
        stopped: True when the runs were stopped early.
    """

    scenarios: tuple[Scenario, ...]
    iterations: NDArray[np.int64]
    squared_distance: Array
    certificate: Array
    stopped: bool

    def only(self, first: int, end: int) -> Compared:
        """Some neighbouring runs of these."""
        chosen = slice(first, end)
        return replace(
            self,
            scenarios=self.scenarios[chosen],
            squared_distance=self.squared_distance[chosen],
            certificate=self.certificate[chosen],
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
    draws = [replace(draw.scenario, epsilon=epsilon).collect(users) for epsilon in epsilons]
    counts, mechanisms = np.stack([one.counts for one in draws]), [one.mechanism for one in draws]
    path = ibu_paths(counts, mechanisms, log_spaced(iterations), progress=progress)
    return _compared(path, [one.scenario for one in draws])


def paper_figure4(seed: int, progress: Progress | None = None) -> Compared:
    """The paper's twelve runs of 40,000 iterations on the draws of one seed; three epsilons per panel."""
    return _compared(figure4.run(seed, progress=progress), figure4.settings(seed))


def _compared(path: IBUPath, scenarios: Sequence[Scenario]) -> Compared:
    return Compared(tuple(scenarios), path.iterations, path.squared_distance, path.certificate, path.stopped)
