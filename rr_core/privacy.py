"""What one report tells: the coin behind it, and what an onlooker can conclude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse


@dataclass(frozen=True)
class Report:
    """One person's answer: ``truth``, whether the coin said to keep it, and the ``report`` sent."""

    truth: int
    kept: bool
    report: int


def answer(truth: int, mechanism: RandomizedResponse, rng: np.random.Generator | int) -> Report:
    """Randomize one person's category (0..k-1) and say what the coin did: with probability p - q the
    truth is kept, otherwise the report is drawn uniformly from all k categories."""
    truth = _validate.integer("truth", truth, 0, mechanism.k - 1)
    rng = np.random.default_rng(rng)
    kept = bool(rng.random() < mechanism.keep)
    return Report(truth, kept, truth if kept else int(rng.integers(mechanism.k)))


def posterior(report: int, prior: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """What an onlooker who knows the population believes after seeing one report (Bayes' rule).

    Args:
        report: the category reported, 0..k-1.
        prior: (k,) shares of the population.
        mechanism: the randomized response.

    Returns:
        (k,) Pr(truth = x | report), proportional to prior_x times p (x = report) or q (otherwise). The odds
        of any two categories change by a factor of at most e^eps.

    Raises:
        ValueError: naming the argument.
    """
    report = _validate.integer("report", report, 0, mechanism.k - 1)
    shares = _validate.vector("prior", prior, mechanism.k)
    if shares.ndim != 1:
        raise ValueError(f"prior must have shape (k,) = ({mechanism.k},), got {shares.shape}")
    if shares.min() < 0 or not shares.any():
        raise ValueError(
            f"prior must be non-negative with a positive total, got {shares.min()} to {shares.max()}"
        )
    shares = shares / shares.max()
    # A report of what nobody has is noise for certain: it leaves the belief as it was, even where q is zero.
    weights = shares * (mechanism.q / mechanism.p if shares[report] > 0 else 1.0)
    weights[report] = shares[report]
    belief: Array = weights / weights.sum()
    return belief
