"""Sweep results made by hand, where the right answer is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rr_core.experiments.cell import CellResult
from rr_core.experiments.grid import Cell, Settings, Sweep
from rr_core.experiments.run import SweepResult

THREE = Settings(40, estimators=("inv_n", "inv_p", "mle_star"), metrics=("mse", "nll"), bias=False)


def cell_result(cell: Cell, settings: Settings, means: Sequence[float], error: float) -> CellResult:
    """A cell with these mean errors, one per estimator; those of the second metric are ten times as large and in the
    opposite order. ``error`` is the standard error of every difference, half of it that of a mean."""
    number = len(means)
    mean = np.array(
        [np.array(means, float) if m == 0 else 10 * np.array(means[::-1], float) for m in range(2)]
    )
    mean = mean[: len(settings.metrics)]
    difference = mean[:, :, None] - mean[:, None, :]
    flat = np.zeros_like(mean)
    return CellResult(
        cell=cell, seeds=settings.seeds, mean=mean, standard_error=flat + error / 2, quantiles=np.zeros((5, *flat.shape)),
        difference=difference, difference_error=np.full(difference.shape, float(error)),
        best=flat + np.arange(number), worst=flat + 10 * np.arange(number), beaten=flat.copy(),
        tied=np.arange(len(mean)) + 4.0, bias2=np.zeros(number), variance=np.zeros(number), zeros=np.zeros(number),
        negatives=np.zeros(number), concentration=0.5,
    )  # fmt: skip


def made(
    cells: Sequence[Cell], means: Sequence[Sequence[float]], error: float = 1e-6, settings: Settings = THREE
) -> SweepResult:
    """A sweep over all the cells, of which the first few, as many as there are means, have been run."""
    done = [cell_result(cell, settings, mean, error) for cell, mean in zip(cells, means, strict=False)]
    return SweepResult(Sweep(tuple(cells), settings), tuple(done))
