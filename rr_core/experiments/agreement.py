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
    """Two runs compared in the cells, and by the estimators, that both have.

    Attributes:
        cells: cells that both have.
        identical: equal settings, and every number of those cells equal bit for bit.
        same_draws: both see the same collections, as far as the shorter one goes: their differences are then no matter
            of chance, and smaller than independent ones.
        same_users: both are about the same users; other ones have other errors, on top of the noise, and standard errors
            are then no yardstick: the ratios are.
        compared: means compared; those of a single collection have no standard error and are not.
        beyond: of them, with a difference of more than FAR standard errors.
        expected: how many would be, by chance alone, if all draws were independent and about normal.
        largest: largest difference in standard errors (infinite where both have none and differ); nan if none is
            compared.
        where, estimator: of that difference.
        ratio, typical: the larger one of two means over the smaller one, at most and in the middle (infinite where only
            one is zero); nan if no cell is common.
        ratio_where, ratio_estimator: of the largest.
    """

    cells: int
    identical: bool
    same_draws: bool
    same_users: bool
    compared: int
    beyond: int
    expected: float
    largest: float
    where: Cell | None
    estimator: str
    ratio: float
    typical: float
    ratio_where: Cell | None
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
        cells=len(cells),
        identical=bool(cells)
        and settings[0] == settings[1]
        and all(first.by_cell[cell].same(second.by_cell[cell]) for cell in cells),
        same_draws=_equal(settings, "seed", "users", "people"),
        same_users=_same_users(settings),
        compared=int(there.sum()),
        beyond=int((distance > FAR_STANDARD_ERRORS).sum()),
        expected=float(chance[there].sum()),
        largest=largest,
        where=where,
        estimator=estimator,
        ratio=ratio,
        typical=float(np.median(ratios)) if ratios.size else float("nan"),
        ratio_where=ratio_where,
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
    """(cells, estimators) differences in standard errors, and the chance of one beyond FAR; nan where a standard
    error is not known."""
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
