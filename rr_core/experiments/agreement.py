"""Whether two runs agree: the differences of their means, in units of what chance explains, and their ratios."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from rr_core._validate import Array
from rr_core.experiments.grid import Cell, Settings
from rr_core.experiments.run import SweepResult

# Standard errors from which a difference is counted.
FAR_STANDARD_ERRORS = 3.0


@dataclass(frozen=True)
class Agreement:
    """Comparison of the mean errors of two runs, in the cells and for the estimators that both have.

    A mean is compared in standard errors of the difference; means of a single collection have none and are not. When the
    two runs are about different users, these have different errors on top of the noise: standard errors are then no
    yardstick, and the ratio of the two means (the larger over the smaller) is.

    Attributes:
        n_common: number of cells that both runs have.
        identical: whether the settings are equal, and every number of those cells is equal bit for bit.
        same_collections: whether both see the same collections, as far as the shorter run goes; the differences are then
            smaller than those of independent runs.
        same_users: whether both are about the same users.
        n_compared: number of means compared.
        n_beyond: number of these whose difference exceeds FAR_STANDARD_ERRORS.
        expected_beyond: expected number of these by chance alone, if all draws were independent and about normal.
        largest_difference: largest difference in standard errors; infinite where two means without spread differ, nan if
            none is compared.
        difference_cell, difference_estimator: cell and estimator of the largest difference.
        largest_ratio, median_ratio: largest and median ratio; infinite where only one mean is zero, nan if no cell is
            common.
        ratio_cell, ratio_estimator: cell and estimator of the largest ratio.
    """

    n_common: int
    identical: bool
    same_collections: bool
    same_users: bool
    n_compared: int
    n_beyond: int
    expected_beyond: float
    largest_difference: float
    difference_cell: Cell | None
    difference_estimator: str
    largest_ratio: float
    median_ratio: float
    ratio_cell: Cell | None
    ratio_estimator: str


def agreement(first: SweepResult, second: SweepResult, metric: str) -> Agreement:
    """Compare the mean errors of two runs.

    The standard error of a difference of two independent means is sqrt(se1² + se2²), and the difference over it is
    about Student's t with Welch's degrees of freedom.

    Raises:
        ValueError: when one of them does not have the metric.
    """
    settings = first.sweep.settings, second.sweep.settings
    for one in settings:
        if metric not in one.metrics:
            raise ValueError(f"metric must be one that both runs have, got {metric!r}")
    names = [name for name in settings[0].estimators if name in settings[1].estimators]
    cells = [cell for cell in first.by_cell if cell in second.by_cell]
    mine, theirs = (_Means.of(result, cells, metric, names) for result in (first, second))
    distance, chance = _distances(mine, theirs)
    there = ~np.isnan(distance)
    largest, where, estimator = _largest(distance, cells, names)
    ratios = _ratios(mine.mean, theirs.mean)
    ratio, ratio_where, ratio_estimator = _largest(ratios, cells, names)
    return Agreement(
        n_common=len(cells),
        identical=bool(cells)
        and settings[0] == settings[1]
        and all(first.by_cell[cell].same(second.by_cell[cell]) for cell in cells),
        same_collections=_equal(settings, "seed", "users", "people"),
        same_users=_same_users(settings),
        n_compared=int(there.sum()),
        n_beyond=int((distance > FAR_STANDARD_ERRORS).sum()),
        expected_beyond=float(chance[there].sum()),
        largest_difference=largest,
        difference_cell=where,
        difference_estimator=estimator,
        largest_ratio=ratio,
        median_ratio=float(np.median(ratios)) if ratios.size else float("nan"),
        ratio_cell=ratio_where,
        ratio_estimator=ratio_estimator,
    )


@dataclass(frozen=True, eq=False)
class _Means:
    """(cells, estimators) mean errors and their squared standard errors; (cells, 1) collections behind them."""

    mean: Array
    variance: Array
    seeds: Array

    @classmethod
    def of(cls, result: SweepResult, cells: list[Cell], metric: str, names: list[str]) -> _Means:
        settings = result.sweep.settings
        m, es = settings.metrics.index(metric), [settings.estimators.index(name) for name in names]
        found = [result.by_cell[cell] for cell in cells]
        shape = len(cells), len(names)
        return cls(
            np.array([cell.mean[m, es] for cell in found]).reshape(shape),
            np.array([cell.standard_error[m, es] ** 2 for cell in found]).reshape(shape),
            np.array([cell.seeds for cell in found], dtype=np.float64).reshape(-1, 1),
        )


def _distances(mine: _Means, theirs: _Means) -> tuple[Array, Array]:
    """(cells, estimators) differences in standard errors, and the chance that one exceeds FAR_STANDARD_ERRORS.

    Differences are nan where a standard error is not known.
    """
    apart = np.abs(mine.mean - theirs.mean)
    variance = mine.variance + theirs.variance
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where((apart == 0) & (variance == 0), 0.0, apart / np.sqrt(variance))
        freedom = variance**2 / (
            mine.variance**2 / (mine.seeds - 1) + theirs.variance**2 / (theirs.seeds - 1)
        )
        chance = np.where(variance > 0, 2 * special.stdtr(freedom, -FAR_STANDARD_ERRORS), 0.0)
    return distance, chance


def _ratios(mine: Array, theirs: Array) -> Array:
    """The larger of two means over the smaller, 1 where they are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mine == theirs, 1.0, np.maximum(mine, theirs) / np.minimum(mine, theirs))


def _largest(found: Array, cells: list[Cell], names: list[str]) -> tuple[float, Cell | None, str]:
    """The largest of (cells, estimators) numbers, and whose it is; nan where there is none."""
    if np.isnan(found).all():
        return float("nan"), None, ""
    row, column = np.unravel_index(int(np.nanargmax(found)), found.shape)
    return float(found[row, column]), cells[int(row)], names[int(column)]


def _same_users(settings: tuple[Settings, Settings]) -> bool:
    if not _equal(settings, "users"):
        return False
    drawn_once = settings[0].users == "fixed" and not (
        _equal(settings, "people") and settings[0].people == "rounded"
    )
    return not drawn_once or _equal(settings, "people", "seed")


def _equal(settings: tuple[Settings, Settings], *names: str) -> bool:
    return all(getattr(settings[0], name) == getattr(settings[1], name) for name in names)
