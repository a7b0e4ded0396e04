"""One cell of a sweep: all its collections, estimated and measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.comparison import RULES
from rr_core.errors import report_loss
from rr_core.experiments.grid import Cell, Settings
from rr_core.experiments.levels import levels_of
from rr_core.experiments.noise import Collector
from rr_core.populations import Population
from rr_core.profile import Profile, table_size
from rr_core.sampling import Counts

# Collections drawn together: part of what a cell's numbers are, hence fixed by k alone. Divisors of the usual numbers
# of seeds, since a block is always drawn whole.
_ROWS = (100, 50, 20, 10, 5, 2)
_CATEGORIES = 100_000

# The metrics that need an estimate of every category; "nll" needs one of every level.
PER_CATEGORY = ("mse", "tv", "max")


@dataclass(frozen=True, eq=False)
class Draws:
    """The errors of every collection of a cell, in the order of the settings' metrics and estimators.

    Attributes:
        errors: (metrics, estimators, seeds).
        zeros, negatives: (estimators, seeds) categories estimated as zero, and below zero.
        deviation: (estimators, k) sum over the collections of estimate minus truth; None without ``bias``.
        total_squared: (estimators,) sum over the collections and categories of its square; None without ``bias``.
        concentration: sum of the squared shares of the population: 1/k when uniform, 1 for a point mass.
    """

    errors: Array
    zeros: Array
    negatives: Array
    deviation: Array | None
    total_squared: Array | None
    concentration: float


def rows_per_block(k: int) -> int:
    """How many collections are drawn together."""
    return next((rows for rows in _ROWS if rows * k <= _CATEGORIES), 1)


def draws(
    cell: Cell,
    settings: Settings,
    given: Mapping[str, Population] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Draws | None:
    """Collect, estimate and measure ``settings.seeds`` times; every estimator sees the same reports.

    Args:
        cell: which cell.
        settings: how it is measured.
        given: uploaded populations, by key.
        stopped: asked after each block (some tens of milliseconds); when it says True there is no result.

    Raises:
        ValueError: naming the argument.
    """
    collector = Collector.of(cell, settings, given or {})
    measure = _Measure(settings, collector)
    size = rows_per_block(cell.k)
    for number, first in enumerate(range(0, settings.seeds, size)):
        measure.add(collector.block(number, size), first)
        if stopped is not None and stopped():
            return None
    return measure.result()


class _Measure:
    """The growing `Draws` of one cell."""

    def __init__(self, settings: Settings, collector: Collector) -> None:
        self._settings, self._mechanism, self._truth = settings, collector.mechanism, collector.truth
        self._n = collector.n
        seeds, estimators = settings.seeds, len(settings.estimators)
        self._errors = np.empty((len(settings.metrics), estimators, seeds))
        self._zeros, self._negatives = np.empty((estimators, seeds)), np.empty((estimators, seeds))
        self._deviation = np.zeros((estimators, self._truth.size)) if settings.bias else None
        self._squared = np.zeros(estimators) if settings.bias else None
        self._concentration = float((collector.theta**2).sum())
        self._by_category = settings.bias or bool(set(settings.metrics) & set(PER_CATEGORY))

    def add(self, reports: Counts, first: int) -> None:
        """Measure a block; what lies beyond the number of seeds is drawn but not counted."""
        levels, size = levels_of(reports), table_size(reports)
        wanted = min(len(reports), self._settings.seeds - first)
        at = slice(first, first + wanted)
        for index, name in enumerate(self._settings.estimators):
            rule = RULES[name](levels, self._mechanism)
            on_levels = rule.at(levels.values)
            self._zeros[index, at] = _number_of(levels, on_levels == 0)[:wanted]
            self._negatives[index, at] = _number_of(levels, on_levels < 0)[:wanted]
            measured = self._nll(levels, on_levels)
            if self._by_category:
                measured |= self._over_categories(index, rule.apply(reports, size), wanted)
            for metric, name_of in enumerate(self._settings.metrics):
                self._errors[metric, index, at] = measured[name_of][:wanted]

    def result(self) -> Draws:
        return Draws(
            self._errors, self._zeros, self._negatives, self._deviation, self._squared, self._concentration
        )

    def _nll(self, levels: Profile, on_levels: Array) -> dict[str, Array]:
        if "nll" not in self._settings.metrics:
            return {}
        loss = report_loss(levels.values, on_levels, self._mechanism)
        return {"nll": (levels.multiplicities * loss).sum(axis=-1) / self._n}

    def _over_categories(self, index: int, off: Array, wanted: int) -> dict[str, Array]:
        """Errors that need every category; ``off`` holds the estimates, and is used up."""
        metrics, measured = self._settings.metrics, {}
        off -= self._truth
        if self._deviation is not None:
            self._deviation[index] += off[:wanted].sum(axis=0)
        if "mse" in metrics or self._squared is not None:
            measured["mse"] = np.einsum("ij,ij->i", off, off)
        if self._squared is not None:
            self._squared[index] += measured["mse"][:wanted].sum()
        if "tv" in metrics or "max" in metrics:
            np.abs(off, out=off)
            measured["tv"], measured["max"] = off.sum(axis=-1) / 2, off.max(axis=-1)
        return measured


def _number_of(levels: Profile, where: NDArray[np.bool_]) -> Array:
    """(rows,) categories on the levels where a condition holds."""
    number: Array = (levels.multiplicities * where).sum(axis=-1)
    return number
