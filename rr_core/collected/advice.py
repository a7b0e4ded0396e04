"""Which estimator to report for these reports: the one that was nearest to the truth in simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rr_core.collected.bootstrap import METRICS, Bootstrap
from rr_core.comparison import ESTIMATORS, TIE, VALID, ranked


@dataclass(frozen=True)
class Ranking:
    """The estimators by their error, however it was measured.

    Attributes:
        best: the valid estimator with the smallest error.
        tied: the valid estimators whose error cannot be told from that one's, itself included.
        means: error of each of the four estimators.
        standard_errors: of those, or of their differences.
    """

    best: str
    tied: tuple[str, ...]
    means: dict[str, float]
    standard_errors: dict[str, float]

    @property
    def preferred(self) -> str:
        """The best one, but MLE* where it cannot be told from the best."""
        return "mle_star" if "mle_star" in self.tied else self.best


@dataclass(frozen=True)
class Advice(Ranking):
    """The estimators by their mean error over the simulated collections, with the standard errors of those means.

    Attributes:
        shares_best: share of the collections in which each valid estimator had the smallest error; ties are
            shared in equal parts.
    """

    shares_best: dict[str, float]


def advise(result: Bootstrap, metric: str = "mse") -> Advice:
    """Compare the errors of the estimators in a bootstrap, collection by collection.

    Two estimators are tied when the mean of their paired difference is below 2 of its standard errors.

    Args:
        result: of `bootstrap`, with at least 2 collections done.
        metric: "mse" (sum over categories), "tv" or "max".

    Raises:
        ValueError: naming the argument.
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    if result.done < 2:
        raise ValueError(f"result must hold at least 2 collections, got {result.done}")
    errors = result.errors[metric]
    root = math.sqrt(result.done)
    means = dict(zip(ESTIMATORS, errors.mean(axis=0).tolist(), strict=True))
    deviations = (errors.std(axis=0, ddof=1) / root).tolist()
    best = min(VALID, key=means.__getitem__)
    column = {name: errors[:, index] for index, name in enumerate(ESTIMATORS)}
    tied = []
    for name in VALID:
        paired = column[name] - column[best]
        if paired.mean() <= max(2 * paired.std(ddof=1) / root, TIE * means[best]):
            tied.append(name)
    return Advice(best, tuple(tied), means, dict(zip(ESTIMATORS, deviations, strict=True)), _shares(errors))


def _shares(errors: np.ndarray) -> dict[str, float]:
    tally = dict.fromkeys(VALID, 0.0)
    for row in errors[:, 1:]:
        first = ranked(row)[0]
        for name in first:
            tally[name] += 1 / len(first) / len(errors)
    return tally
