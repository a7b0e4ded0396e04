"""The paper's section 6.4 and Figure 4: how many iterations IBU needs to come near MLE*.

K = 500; Zipf with s = 0.01 and 1.3; n = 10^4 and 5*10^5 users; epsilon = 0.5, 1 and 2; 40,000 iterations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.ibu import Progress, ibu_paths
from rr_core.iteration.record import IBUPath, log_spaced
from rr_core.scenario import Scenario

K = 500
EXPONENTS = (0.01, 1.3)
USERS = (10_000, 500_000)
EPSILONS = (0.5, 1.0, 2.0)
ITERATIONS = 40_000


def settings(seed: int = 1) -> tuple[Scenario, ...]:
    """The twelve scenarios: by s, then by n, then by epsilon. The three epsilons of an (s, n) pair have the
    same users (`Scenario.users` does not depend on epsilon), as in the paper."""
    return tuple(
        Scenario("zipf", K, s, epsilon, n, seed) for s in EXPONENTS for n in USERS for epsilon in EPSILONS
    )


def run(
    seed: int = 1, iterations: int | Iterable[int] = ITERATIONS, progress: Progress | None = None
) -> IBUPath:
    """IBU on the draws of the twelve settings, as one batch; rows in the order of `settings`.

    Args:
        seed: of the draws.
        iterations: the last one, or all that are to be recorded.
        progress: as in `rr_core.ibu.ibu_path`.
    """
    return run_scenarios(settings(seed), iterations, progress)


def run_scenarios(
    scenarios: Sequence[Scenario],
    iterations: int | Iterable[int] = ITERATIONS,
    progress: Progress | None = None,
) -> IBUPath:
    """The same for any scenarios with one k, such as one setting with many seeds; one row each."""
    marks = log_spaced(iterations) if isinstance(iterations, int) else iterations
    histograms = np.stack([scenario.draw().counts for scenario in scenarios])
    return ibu_paths(histograms, [scenario.mechanism for scenario in scenarios], marks, progress=progress)


def indices_at(path: IBUPath, distances: Iterable[float]) -> NDArray[np.intp]:
    """(rows, distances) index into ``path.iterations`` where ||theta_t - MLE*||^2 is first at most each
    distance; -1 where the record ends before that."""
    squared = path.squared_distance.reshape(len(path.mechanisms), -1)
    near = squared[:, None] <= np.array(list(distances))[:, None]
    found: NDArray[np.intp] = np.where(near.any(axis=-1), near.argmax(axis=-1), -1)
    return found


def iterations_to(path: IBUPath, distances: Iterable[float]) -> Array:
    """(rows, distances) the first recorded iteration at which ||theta_t - MLE*||^2 is at most each distance;
    nan where the record ends before that."""
    found = indices_at(path, distances)
    return np.where(found >= 0, path.iterations[found], np.nan)
