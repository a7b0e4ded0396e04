"""What the reports of one person reveal: the coin toss behind a report, and the posterior of an observer."""

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
    """Randomize one person's category (0..k-1) and return the coin toss, too: with probability p - q the
    truth is kept, otherwise the report is drawn uniformly from all k categories.

    >>> answer(2, RandomizedResponse(4, 1.0), 5)
    Report(truth=2, kept=False, report=0)
    """
    truth = _validate.integer("truth", truth, 0, mechanism.k - 1)
    rng = np.random.default_rng(rng)
    kept = bool(rng.random() < mechanism.keep)
    return Report(truth, kept, truth if kept else int(rng.integers(mechanism.k)))


def posterior(report: int, prior: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """Posterior distribution of the truth for an observer who knows the population, after one report (Bayes'
    rule).

    Args:
        report: the category reported, 0..k-1.
        prior: (k,) shares of the population.
        mechanism: the randomized response.

    Returns:
        (k,) Pr(truth = x | report), proportional to prior_x times p (x = report) or q (otherwise). The odds
        of any two categories change by a factor of at most e^eps.

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> posterior(0, [1, 1, 1, 1], mechanism).round(6).tolist()
    [0.5, 0.166667, 0.166667, 0.166667]
    """
    report = _validate.integer("report", report, 0, mechanism.k - 1)
    return posterior_of_reports([report], prior, mechanism)


def posterior_of_reports(reports: ArrayLike, prior: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """Posterior distribution of the truth for the same observer after m independent reports of one person.

    The weights are prior_x times p^c q^(m-c), with c the number of reports that say x; so the odds of two
    categories x and y change by e^(eps (c_x - c_y)), at most e^(m eps): m reports cost m times the budget
    of one (sequential composition).

    Args:
        reports: (m,) the categories reported, integers 0..k-1, m >= 0.
        prior: (k,) shares of the population.
        mechanism: the randomized response.

    Returns:
        (k,) Pr(truth = x | reports).

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> posterior_of_reports([0, 0, 1], [1, 1, 1, 1], mechanism).round(6).tolist()
    [0.642857, 0.214286, 0.071429, 0.071429]
    """
    seen = _validate.categories("reports", reports, mechanism.k)
    if seen.ndim != 1:
        raise ValueError(f"reports must have shape (m,), got {seen.shape}")
    shares = _validate.one_row("prior", _validate.vector("prior", prior, mechanism.k))
    if shares.min() < 0 or not shares.any():
        raise ValueError(
            f"prior must be non-negative with a positive total, got {shares.min()} to {shares.max()}"
        )
    shares = shares / shares.max()
    counts = np.bincount(seen, minlength=mechanism.k)
    # Weights relative to the likeliest category that has any prior: nothing overflows, and what nobody has
    # keeps its zero however often it is reported.
    with np.errstate(divide="ignore"):
        log_weights = np.log(shares) + mechanism.epsilon * counts
    likeliest = int(log_weights.argmax())
    exponents = np.minimum(mechanism.epsilon * (counts - counts[likeliest]), 700.0)
    weights = np.where(shares > 0, shares * np.exp(exponents), 0.0)
    belief: Array = weights / weights.sum()
    return belief
