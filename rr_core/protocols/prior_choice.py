"""How much the choice of a prior matters: the posterior mean beside MLE* as users grow, and beside the repairs where the
prior is right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate, estimators, metrics, sampling
from rr_core._validate import Array
from rr_core.data import read_csv
from rr_core.mechanism import RandomizedResponse
from rr_core.protocols.posterior import posterior

PRIORS = {"jeffreys": 0.5, "uniform": 1.0}
DRAWS = 400  # from each posterior


def distance_to_mle(
    theta: ArrayLike,
    mechanism: RandomizedResponse,
    sizes: Sequence[int],
    priors: Sequence[float],
    rng: np.random.Generator | int | None = None,
) -> Array:
    """Total variation between the mean of 400 draws from the posterior and MLE* of one collection of each size.

    It tends to zero (Theorem 3.3). With many users most of it may be the chance of the draws.

    Args:
        theta: (k,) distribution that the users are drawn from.
        mechanism: the randomized response.
        sizes: numbers of users.
        priors: parameters of symmetric Dirichlet priors.
        rng: a NumPy Generator (or a seed for one).

    Returns:
        (priors, sizes).

    >>> distance_to_mle([0.7, 0.2, 0.1], RandomizedResponse(3, 2.0), [100, 10**6], [1.0], 1).round(3).tolist()
    [[0.002, 0.0]]
    """
    rng = np.random.default_rng(rng)
    shares = _validate.vector("theta", theta, mechanism.k)
    distances = np.empty((len(priors), len(sizes)))
    for column, n in enumerate(sizes):
        users = sampling.multinomial(n, shares, rng)
        counts = mechanism.randomize_histogram(users, rng)
        best = estimators.mle_star(counts, mechanism)
        for row, prior in enumerate(priors):
            mean = posterior(counts, mechanism, prior, DRAWS, rng).mean(axis=0)
            distances[row, column] = metrics.total_variation(mean, best)
    return distances


@dataclass(frozen=True)
class PriorError:
    """Mean squared errors (summed over categories) where the truth is drawn from a Dirichlet distribution, as measured.

    Attributes:
        k, epsilon, n: the setting.
        prior: parameter of the prior that the posterior mean uses.
        truth: parameter of the distribution that the truth is drawn from.
        replicates: number of truths, with one collection each.
        errors: mean squared error by estimator; "posterior" is the posterior mean.
        spread: standard error of each.
    """

    k: int
    epsilon: float
    n: int
    prior: float
    truth: float
    replicates: int
    errors: dict[str, float]
    spread: dict[str, float]


@cache
def prior_errors() -> tuple[PriorError, ...]:
    """Jeffreys' and the uniform prior under truths from nearly a single category to nearly equal shares; made by
    ``python -m tests.benchmarks.prior_choice``.

    >>> {row.prior for row in prior_errors()}
    {0.5, 1.0}
    """
    names = ("inv_n", "inv_p", "mle_star", "posterior")
    return tuple(
        PriorError(
            int(row["k"]),
            float(row["epsilon"]),
            int(row["n"]),
            float(row["prior"]),
            float(row["truth"]),
            int(row["replicates"]),
            {name: float(row[name]) for name in names},
            {name: float(row[f"{name}_error"]) for name in names},
        )
        for row in read_csv("prior_errors.csv")
    )
