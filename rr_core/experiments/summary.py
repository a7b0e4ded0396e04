"""What is kept of a cell: means with their errors, quantiles, who was best, bias and variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rr_core._validate import Array
from rr_core.comparison import TIE, VALID
from rr_core.experiments.cell import Draws, draws
from rr_core.experiments.grid import Cell, Settings
from rr_core.populations import Population

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class CellResult:
    """One cell over all seeds; arrays in the order of the settings' metrics and estimators, read-only.

    Attributes:
        cell: which.
        seeds: collections made.
        mean: (metrics, estimators) mean error; "mse" is the sum over categories, see `per_category`.
        standard_error: (metrics, estimators) of that mean; nan from one collection.
        quantiles: (5, metrics, estimators) at QUANTILES, interpolated linearly.
        difference, difference_error: (metrics, estimators, estimators) mean of the first one's error minus the
            second one's on the same reports, and its standard error.
        best, worst: (metrics, estimators) in how many collections a valid estimator had the smallest or the largest
            error; near-equal errors share, and when all tie it counts for nobody. nan for Inv.
        beaten: (metrics, estimators) in how many another valid estimator's error was smaller, ties aside.
        tied: (metrics,) in how many the valid ones all tied.
        bias2, variance: (estimators,) summed over categories, each unbiased (so that the squared bias may come out
            slightly negative); they add up to the mean "mse". nan from one collection, or when not asked for.
        zeros, negatives: (estimators,) mean number of categories estimated as zero, and below zero.
        concentration: sum of the squared shares of the population.
    """

    cell: Cell
    seeds: int
    mean: Array
    standard_error: Array
    quantiles: Array
    difference: Array
    difference_error: Array
    best: Array
    worst: Array
    beaten: Array
    tied: Array
    bias2: Array
    variance: Array
    zeros: Array
    negatives: Array
    concentration: float

    def __post_init__(self) -> None:
        for name in ARRAYS:
            getattr(self, name).flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # arrays arrive writeable from another process

    def per_category(self, squared: Array) -> Array:
        """A sum of squares over the categories as the mean per category that the paper's figures show."""
        mean: Array = squared / self.cell.k
        return mean

    def same(self, other: CellResult) -> bool:
        """Whether every number is the same, bit for bit (nan equals nan)."""
        scalars = all(getattr(self, n) == getattr(other, n) for n in ("cell", "seeds", "concentration"))
        return scalars and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True) for name in ARRAYS
        )


ARRAYS = tuple(field.name for field in fields(CellResult) if field.type == "Array")


def measured(cell: Cell, settings: Settings, given: Mapping[str, Population] | None = None) -> CellResult:
    """Collect, estimate, measure and sum up one cell; arguments as in `cell.draws`."""
    drawn = draws(cell, settings, given)
    assert drawn is not None  # nobody asked it to stop
    return summed_up(cell, settings, drawn)


def summed_up(cell: Cell, settings: Settings, drawn: Draws) -> CellResult:
    """The result of a cell from its draws."""
    errors, seeds = drawn.errors, settings.seeds
    difference = errors[:, :, None, :] - errors[:, None, :, :]
    bias2, variance = _parts(drawn, seeds)
    return CellResult(
        cell=cell,
        seeds=seeds,
        mean=errors.mean(axis=-1),
        standard_error=_standard_error(errors),
        quantiles=np.quantile(errors, QUANTILES, axis=-1),
        difference=difference.mean(axis=-1),
        difference_error=_standard_error(difference),
        **_ranking(errors, settings),
        bias2=bias2,
        variance=variance,
        zeros=drawn.zeros.mean(axis=-1),
        negatives=drawn.negatives.mean(axis=-1),
        concentration=drawn.concentration,
    )


def _standard_error(errors: Array) -> Array:
    seeds = errors.shape[-1]
    if seeds == 1:
        return np.full(errors.shape[:-1], np.nan)
    error: Array = errors.std(axis=-1, ddof=1) / np.sqrt(seeds)
    return error


def _parts(drawn: Draws, seeds: int) -> tuple[Array, Array]:
    """Squared bias and variance, summed over categories. The square of a mean over the seeds holds its own
    variance, which is taken off."""
    if drawn.deviation is None or drawn.total_squared is None or seeds == 1:
        nothing = np.full(drawn.zeros.shape[0], np.nan)
        return nothing, nothing.copy()
    raw = ((drawn.deviation / seeds) ** 2).sum(axis=-1)
    variance = (drawn.total_squared - seeds * raw) / (seeds - 1)
    return raw - variance / seeds, variance


def _ranking(errors: Array, settings: Settings) -> dict[str, Array]:
    """How often each valid estimator was best, worst and beaten, and how often all tied."""
    valid = [i for i, name in enumerate(settings.estimators) if name in VALID]
    shape = errors.shape[:2]
    counts: dict[str, Array] = {name: np.full(shape, np.nan) for name in ("best", "worst", "beaten")}
    counts["tied"] = np.zeros(shape[:1])
    if not valid:
        return counts
    ranked = errors[:, valid]
    slack = TIE * np.maximum(np.abs(ranked).max(axis=1, keepdims=True), 1e-300)
    best = ranked <= ranked.min(axis=1, keepdims=True) + slack
    worst = ranked >= ranked.max(axis=1, keepdims=True) - slack
    tie = best.all(axis=1, keepdims=True)
    for name, held in (("best", best), ("worst", worst)):
        counts[name][:, valid] = np.where(tie, 0.0, held / held.sum(axis=1, keepdims=True)).sum(axis=-1)
    counts["beaten"][:, valid] = (~best).sum(axis=-1)
    counts["tied"] = tie[:, 0].sum(axis=-1).astype(np.float64)
    return counts
