"""How errors grow with k and fall with N: slopes of log mean error, fitted group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rr_core._validate import Array
from rr_core.experiments.cell import CellResult
from rr_core.experiments.run import SweepResult

Along = Literal["n", "k"]


@dataclass(frozen=True, eq=False)
class Slopes:
    """Slopes d log(error) / d log(n or k) of one estimator, one per group of cells that differ in nothing else.

    Attributes:
        along: "n" or "k".
        estimator: whose.
        groups: one cell's worth of axes per group, as text: what its cells share.
        fitted: (groups,) least squares over all values of the axis.
        last: (groups,) between the two largest values: nearer to what holds in the limit.
        error: (groups,) standard error of ``last``, by that of the two means; nan from one collection.
        seeds: collections behind every mean.
    """

    along: Along
    estimator: str
    groups: tuple[str, ...]
    fitted: Array
    last: Array
    error: Array
    seeds: int


def slopes(result: SweepResult, metric: str, along: Along, estimator: str) -> Slopes:
    """Slopes of the mean error over every group with at least three values of the axis and no mean of zero (where
    nothing was ever estimated wrong)."""
    m = result.sweep.settings.metrics.index(metric)
    e = result.sweep.settings.estimators.index(estimator)
    groups: dict[str, list[CellResult]] = {}
    for cell in result.cells:
        groups.setdefault(_shared(cell, along), []).append(cell)
    names, fitted, last, errors = [], [], [], []
    for name, cells in groups.items():
        points = sorted(
            (getattr(cell.cell, along), float(cell.mean[m, e]), float(cell.standard_error[m, e]))
            for cell in cells
        )
        if len(points) < 3 or any(mean <= 0 for _, mean, _ in points):
            continue
        at, means, spread = np.array(points, dtype=np.float64).T
        x, y, relative = np.log(at), np.log(means), spread / means
        centred = x - x.mean()
        names.append(name)
        fitted.append(float((centred * y).sum() / (centred**2).sum()))
        last.append(float((y[-1] - y[-2]) / (x[-1] - x[-2])))
        errors.append(float(np.hypot(relative[-1], relative[-2]) / (x[-1] - x[-2])))
    return Slopes(
        along,
        estimator,
        tuple(names),
        np.array(fitted),
        np.array(last),
        np.array(errors),
        result.sweep.settings.seeds,
    )


def _shared(cell: CellResult, along: Along) -> str:
    axes = [axis for axis in ("dist", "s", "k", "epsilon", "n") if axis != along]
    return " ".join(f"{axis}={getattr(cell.cell, axis)}" for axis in axes)
