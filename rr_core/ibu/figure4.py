"""The paper's section 6.4 and Figure 4: how many iterations IBU needs to come near MLE*.

K = 500; Zipf with s = 0.01 and 1.3; n = 10^4 and 5*10^5 users; epsilon = 0.5, 1 and 2; 40,000 iterations.

The iterations to each of several squared distances from MLE* were measured over 20 seeds and are kept in
``rr_core/data/ibu_figure4.csv``; ``python -m tests.benchmarks.figure4`` measures them again and compares. A number of
iterations there is the first *recorded* one at which the distance holds, of a record with 200 iterations in each
decade, and so at most 1.2 % too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.data import read_csv
from rr_core.ibu.convergence import RunComparison, compare_runs
from rr_core.ibu.engine import ibu_paths
from rr_core.ibu.path import IBUPath, log_spaced
from rr_core.scenario import Scenario
from rr_core.simulate import Progress

K = 500
EXPONENTS = (0.01, 1.3)
USERS = (10_000, 500_000)
EPSILONS = (0.5, 1.0, 2.0)
ITERATIONS = 40_000

# Of the measurements in the CSV file.
SEEDS = range(1, 21)
DISTANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
RECORDS_PER_DECADE = 200
# Every seed of every scenario is within the smallest distance by then.
LAST_ITERATION = 4_000_000

# The squared distance at which all of PAPER_CLAIMS are true, to within a sixth.
IMPLIED_DISTANCE = 1e-3


@dataclass(frozen=True)
class Measurement:
    """Iterations of IBU from the uniform start to one squared distance from MLE*, in one scenario over SEEDS.

    Attributes:
        s, n, epsilon: Zipf exponent, users, privacy budget.
        squared_distance: of ||theta_t - MLE*||^2; one of DISTANCES.
        median, fewest, most: iterations, over the seeds; 0 where the uniform start is as near as that.
        certificate: median over the seeds of max_i m_i - 1 at that iteration, in nats per report.
    """

    s: float
    n: int
    epsilon: float
    squared_distance: float
    median: float
    fewest: float
    most: float
    certificate: float


@dataclass(frozen=True)
class PaperClaim:
    """How many iterations section 6.4 says IBU requires "to approach the exact value", for one n and epsilon. It does
    not say at which s, and the figure shows two.

    Attributes:
        n, epsilon: users, privacy budget.
        quotation: the paper's words.
        iterations: the paper's number.
        lower_bound: whether it says that more than these are needed.
    """

    n: int
    epsilon: float
    quotation: str
    iterations: int
    lower_bound: bool = False


PAPER_CLAIMS = (
    PaperClaim(10_000, 1.0, "about 7000", 7_000),
    PaperClaim(10_000, 0.5, "around 25000", 25_000),
    PaperClaim(500_000, 1.0, "about 20000", 20_000),
    PaperClaim(500_000, 0.5, "even 40000 iterations are not enough", 40_000, True),
)


def scenarios(seed: int = 1) -> tuple[Scenario, ...]:
    """The twelve scenarios: by s, then by n, then by epsilon. The three epsilons of an (s, n) pair have the
    same users (`Scenario.users` does not depend on epsilon), as in the paper."""
    return tuple(
        Scenario("zipf", K, s, epsilon, n, seed) for s in EXPONENTS for n in USERS for epsilon in EPSILONS
    )


def run(
    seed: int = 1, iterations: int | Iterable[int] = ITERATIONS, progress: Progress | None = None
) -> IBUPath:
    """IBU on the draws of the twelve scenarios, as one batch; rows in the order of `scenarios`.

    Args:
        seed: of the draws.
        iterations: the last one, or all that are to be recorded.
        progress: as in `rr_core.ibu.ibu_path`.
    """
    return run_scenarios(scenarios(seed), iterations, progress)


def run_scenarios(
    settings: Sequence[Scenario],
    iterations: int | Iterable[int] = ITERATIONS,
    progress: Progress | None = None,
) -> IBUPath:
    """IBU on the draws of any scenarios with one k, such as one scenario with many seeds; one row each. Arguments as
    in `run`."""
    marks = log_spaced(iterations) if isinstance(iterations, int) else iterations
    histograms = np.stack([scenario.draw().counts for scenario in settings])
    return ibu_paths(histograms, [scenario.mechanism for scenario in settings], marks, progress=progress)


def compare(seed: int, progress: Progress | None = None) -> RunComparison:
    """The paper's twelve runs of 40,000 iterations on the draws of one seed, in the order of `scenarios`."""
    return compare_runs([scenario.draw() for scenario in scenarios(seed)], ITERATIONS, progress)


def first_indices_within(path: IBUPath, squared_distances: Iterable[float]) -> NDArray[np.intp]:
    """(rows, distances) index into ``path.iterations`` where ||theta_t - MLE*||^2 is first at most each
    distance; -1 where the record ends before that."""
    squared = path.squared_distance.reshape(len(path.mechanisms), -1)
    near = squared[:, None] <= np.array(list(squared_distances))[:, None]
    indices: NDArray[np.intp] = np.where(near.any(axis=-1), near.argmax(axis=-1), -1)
    return indices


def iterations_to(path: IBUPath, squared_distances: Iterable[float]) -> Array:
    """(rows, distances) the first recorded iteration at which ||theta_t - MLE*||^2 is at most each distance;
    nan where the record ends before that."""
    indices = first_indices_within(path, squared_distances)
    return np.where(indices >= 0, path.iterations[indices], np.nan)


@cache
def measurements() -> tuple[Measurement, ...]:
    """The stored table: by scenario in the order of `scenarios`, then by distance in the order of DISTANCES."""
    rows = []
    for texts in read_csv("ibu_figure4.csv"):
        n = int(texts.pop("n"))
        rows.append(Measurement(n=n, **{name: float(text) for name, text in texts.items()}))
    return tuple(rows)


def measurement(s: float, n: int, epsilon: float, squared_distance: float) -> Measurement:
    """The stored row of one scenario and one of DISTANCES; KeyError for any other.

    >>> measurement(1.3, 10_000, 1.0, 1e-3).median
    7328.0
    """
    return _by_scenario()[s, n, epsilon, squared_distance]


@cache
def _by_scenario() -> dict[tuple[float, int, float, float], Measurement]:
    return {(row.s, row.n, row.epsilon, row.squared_distance): row for row in measurements()}
