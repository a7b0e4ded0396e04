"""Who wins along the one axis of a sweep that varies nothing else: from which value to which."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rr_core.experiments.compared import leading
from rr_core.experiments.grid import Cell
from rr_core.experiments.run import SweepResult

Axis = Literal["epsilon", "n", "k", "s"]
_AXES: tuple[Axis, ...] = ("epsilon", "n", "k", "s")


@dataclass(frozen=True)
class Stretch:
    """Neighbouring values of the axis at which the three stand the same.

    Attributes:
        first, last: values, equal where it is a single one.
        best: who has the smallest mean error there, alone or shared, where the seeds settle it; all three where they
            are equal; nobody where it is not settled.
        opens, closes: whether the sweep has no value below or above it.
    """

    first: float
    last: float
    best: tuple[str, ...]
    opens: bool
    closes: bool


def axis_of(cells: tuple[Cell, ...]) -> Axis | None:
    """The only thing in which some cells differ; None where it is no number, or not the only one."""
    varied = [axis for axis in _AXES if len({getattr(cell, axis) for cell in cells}) > 1]
    return varied[0] if len(varied) == 1 and len({cell.dist for cell in cells}) == 1 else None


def stretches(result: SweepResult, metric: str, axis: Axis) -> tuple[Stretch, ...]:
    """Of a sweep along ``axis``, from the smallest value to the largest; a value not run yet ends a stretch.

    Raises:
        ValueError: when the sweep lacks the metric or one of the three valid estimators.
    """
    cells = sorted(result.sweep.cells, key=lambda cell: float(getattr(cell, axis)))
    found = []
    for best, group in groupby(cells, lambda cell: _best(result, cell, metric)):
        inside = list(group)
        first, last = inside[0], inside[-1]
        if best is not None:
            low, high = float(getattr(first, axis)), float(getattr(last, axis))
            found.append(Stretch(low, high, best, first == cells[0], last == cells[-1]))
    return tuple(found)


def _best(result: SweepResult, cell: Cell, metric: str) -> tuple[str, ...] | None:
    """As `Stretch.best`; None where it has not been run."""
    done = result.by_cell.get(cell)
    if done is None:
        return None
    lead = leading(result, done, metric)
    return lead.best if lead.sure or lead.equal else ()
