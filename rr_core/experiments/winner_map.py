"""Maps of a sweep: two axes vary, the rest is held fixed, and each cell tells which estimate has the smallest error.

Where only one axis varies, a map has one row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from rr_core import _validate
from rr_core.experiments.cell import CellResult
from rr_core.experiments.grid import Cell
from rr_core.experiments.ranking import Leader, SweepAxis, leading, regret
from rr_core.experiments.run import SweepResult
from rr_core.registry import VALID

FixedName = Literal["population", "k", "epsilon", "n"]
AxisValue = float | str  # a population is meant by a text, see `axis_value`

_DIGITS = 8  # digits of the digest that stand for an uploaded population


@dataclass(frozen=True)
class MapKind:
    """The axes of a map: across, upwards, and the two held fixed, in the order in which they are chosen."""

    x: SweepAxis
    y: SweepAxis
    fixed: tuple[FixedName, FixedName]

    @property
    def zipf_only(self) -> bool:
        """Whether only Zipf populations are in it."""
        return "s" in (self.x, self.y)


MAP_KINDS: dict[str, MapKind] = {
    "eps-n": MapKind("epsilon", "n", ("population", "k")),
    "eps-s": MapKind("epsilon", "s", ("k", "n")),
    "n-k": MapKind("n", "k", ("population", "epsilon")),
    "n-s": MapKind("n", "s", ("k", "epsilon")),
}
# Where no two axes vary together, a map has one row, along any axis; its vertical axis has a single value.
STRIP_KINDS: dict[str, MapKind] = {
    "eps-n": MAP_KINDS["eps-n"],
    "n-k": MAP_KINDS["n-k"],
    "k-n": MapKind("k", "n", ("population", "epsilon")),
    "s-n": MapKind("s", "n", ("k", "epsilon")),
}
ALL_KINDS = {**STRIP_KINDS, **MAP_KINDS}


@dataclass(frozen=True)
class FixedAxis:
    """An axis that a map holds fixed.

    Attributes:
        axis: which one.
        options: values it may be held at, given the values of the axes before it.
        value: the one taken.
    """

    axis: FixedName
    options: tuple[AxisValue, ...]
    value: AxisValue


@dataclass(frozen=True)
class EstimatorError:
    """One estimator's error in a cell.

    Attributes:
        estimator: a key of `registry.ESTIMATORS`.
        mean, standard_error: mean error over the collections and its standard error; the latter nan from one collection.
        n_best, n_worst: number of collections in which it was the best or the worst valid estimator, see `CellResult`.
    """

    estimator: str
    mean: float
    standard_error: float
    n_best: float
    n_worst: float


@dataclass(frozen=True, eq=False)
class MapCell:
    """One cell of a map.

    Attributes:
        cell: the sweep's cell.
        result: its numbers; None, and the rest empty, until it is completed.
        leader: which valid estimators have the smallest mean error, and which may have it.
        regret: ratio of MLE*'s mean error to the smallest, where it is settled that MLE*'s is not the smallest, else 1;
            nan until the cell is completed.
        errors: of every estimator of the sweep.
        n_tied: number of collections in which all valid estimators tied.
    """

    cell: Cell
    result: CellResult | None = None
    leader: Leader | None = None
    regret: float = math.nan
    errors: tuple[EstimatorError, ...] = ()
    n_tied: float = 0.0


@dataclass(frozen=True, eq=False)
class WinnerMap:
    """A map of a sweep in one metric.

    Attributes:
        key: of MAP_KINDS or STRIP_KINDS.
        metric: the error compared; "mse" is the sum over categories.
        x, y: values along the axes, ascending; a strip has one value of y.
        rows: the cells, by y and then by x; None where the sweep has no such cell.
    """

    key: str
    metric: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    rows: tuple[tuple[MapCell | None, ...], ...]

    @property
    def kind(self) -> MapKind:
        return ALL_KINDS[self.key]

    @property
    def is_strip(self) -> bool:
        """Whether the map is a single row."""
        return len(self.y) == 1

    @property
    def map_cells(self) -> tuple[MapCell, ...]:
        """All cells, row by row."""
        return tuple(map_cell for row in self.rows for map_cell in row if map_cell is not None)

    @property
    def completed(self) -> tuple[MapCell, ...]:
        """The cells that are completed, row by row."""
        return tuple(map_cell for map_cell in self.map_cells if map_cell.result is not None)

    def position(self, x: float, y: float) -> tuple[float, float] | None:
        """Column and row of a point, counted from 0; None outside the map.

        They are interpolated between the cells, linearly in epsilon and s, logarithmically in n and k.
        """
        column, row = _between(self.kind.x, self.x, x), _between(self.kind.y, self.y, y)
        return None if column is None or row is None else (column, row)


def axis_value(cell: Cell, axis: SweepAxis | FixedName) -> AxisValue:
    """The value of an axis in a cell.

    A population is a text that fits in a link: the exponent of a Zipf population, the key of a shape or table, and
    "weights:" with the first digits of its digest for an uploaded one.
    """
    if axis != "population":
        return float(getattr(cell, axis))
    if cell.dist == "zipf":
        return f"{cell.s:.12g}"
    return cell.dist[: len("weights:") + _DIGITS] if cell.uploaded else cell.dist


@lru_cache(16)  # a page asks for those of one sweep more than a dozen times
def map_kinds(cells: tuple[Cell, ...]) -> tuple[str, ...]:
    """The kinds of maps that some cells have.

    Keys of MAP_KINDS whose two axes take at least two values each with all else fixed; where there is none, keys of
    STRIP_KINDS whose axis x does.
    """
    return tuple(key for key in MAP_KINDS if _map_cells(cells, MAP_KINDS[key])) or tuple(
        key for key in STRIP_KINDS if _map_cells(cells, STRIP_KINDS[key], is_strip=True)
    )


def has_map(cells: tuple[Cell, ...]) -> bool:
    """Whether two axes vary together somewhere."""
    return any(_map_cells(cells, kind) for kind in MAP_KINDS.values())


def fixed_axes(
    cells: tuple[Cell, ...], key: str, wanted: Mapping[FixedName, AxisValue]
) -> tuple[FixedAxis, FixedAxis]:
    """The two axes that a map holds fixed, with their options and values.

    Args:
        cells: of the sweep.
        key: of a map that they have, see `map_kinds`.
        wanted: value of each axis; one that is missing or no option is replaced by the middle option.

    Returns:
        The two axes in the order in which they are chosen; the options of the second depend on the value of the first.

    Raises:
        ValueError: when the cells have no such map.
    """
    rests = list(_cells_by_fixed(cells, key))
    found: list[FixedAxis] = []
    for place, axis in enumerate(ALL_KINDS[key].fixed):
        options = list(dict.fromkeys(rest[place] for rest in rests))
        if axis != "population":  # populations stay in the order of the sweep
            options.sort()
        value = wanted.get(axis)
        taken = value if value is not None and value in options else options[len(options) // 2]
        rests = [rest for rest in rests if rest[place] == taken]
        found.append(FixedAxis(axis, tuple(options), taken))
    return found[0], found[1]


def winner_map(
    result: SweepResult, key: str, metric: str, wanted: Mapping[FixedName, AxisValue]
) -> WinnerMap:
    """The map of a sweep, finished or not.

    Args:
        result: the sweep.
        key: kind of map, see `map_kinds`.
        metric: one of the sweep's.
        wanted: values of the other axes, see `fixed_axes`.

    Raises:
        ValueError: when the sweep has no such map or metric, or lacks one of the valid estimators.

    >>> from rr_core.experiments.grid import Settings, Sweep, over
    >>> from rr_core.experiments.run import run
    >>> cells = over(k=(20,), n=(100, 1000), epsilon=(0.5, 1.0, 2.0), s=(1.3,))
    >>> winner_map(run(Sweep(cells, Settings(40))), "eps-n", "mse", {}).x
    (0.5, 1.0, 2.0)
    """
    settings = result.sweep.settings
    if not isinstance(metric, str) or metric not in settings.metrics:
        raise ValueError(
            f"metric must be one of the sweep's, {', '.join(settings.metrics)}, got {_validate.short(metric)}"
        )
    if not set(VALID) <= set(settings.estimators):
        raise ValueError(f"estimators must hold {', '.join(VALID)}, got {', '.join(settings.estimators)}")
    first, second = fixed_axes(result.sweep.cells, key, wanted)
    cells = _cells_by_fixed(result.sweep.cells, key)[first.value, second.value]
    kind = ALL_KINDS[key]
    at = {(axis_value(cell, kind.x), axis_value(cell, kind.y)): cell for cell in cells}
    x, y = (_values(cells, axis) for axis in (kind.x, kind.y))
    rows = tuple(
        tuple(_map_cell(result, at[column, row], metric) if (column, row) in at else None for column in x)
        for row in y
    )
    return WinnerMap(key, metric, x, y, rows)


def _map_cell(result: SweepResult, cell: Cell, metric: str) -> MapCell:
    found = result.by_cell.get(cell)
    if found is None:
        return MapCell(cell)
    m = result.sweep.settings.metrics.index(metric)
    columns = (found.mean[m], found.standard_error[m], found.best[m], found.worst[m])
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    errors = tuple(
        EstimatorError(name, *row)
        for name, row in zip(result.sweep.settings.estimators, numbers, strict=True)
    )
    lead = leading(result, found, metric)
    cost = 1.0 if "mle_star" in lead.possible else regret(result, found, metric, "mle_star")
    return MapCell(cell, found, lead, cost, errors, float(found.tied[m]))


def _cells_by_fixed(cells: tuple[Cell, ...], key: str) -> dict[tuple[AxisValue, AxisValue], list[Cell]]:
    """The cells of every map of a kind, by the values held fixed."""
    offered = map_kinds(cells)
    if key not in offered:
        raise ValueError(
            f"key must be one of the maps that the cells have, {', '.join(offered) or 'none'}, "
            f"got {_validate.short(key)}"
        )
    wide = _map_cells(cells, MAP_KINDS[key]) if key in MAP_KINDS else {}
    return wide or _map_cells(cells, STRIP_KINDS[key], is_strip=True)


def _map_cells(
    cells: tuple[Cell, ...], kind: MapKind, *, is_strip: bool = False
) -> dict[tuple[AxisValue, AxisValue], list[Cell]]:
    """The cells of every map of a kind, by the values held fixed, where both axes vary; of a strip, axis x."""
    first, second = kind.fixed
    groups: dict[tuple[AxisValue, AxisValue], list[Cell]] = {}
    for cell in cells:
        if cell.dist == "zipf" or not kind.zipf_only:
            groups.setdefault((axis_value(cell, first), axis_value(cell, second)), []).append(cell)
    varying = (kind.x,) if is_strip else (kind.x, kind.y)
    return {
        rest: inside
        for rest, inside in groups.items()
        if all(len(_values(inside, axis)) > 1 for axis in varying)
    }


def _values(cells: Iterable[Cell], axis: SweepAxis) -> tuple[float, ...]:
    return tuple(sorted({float(getattr(cell, axis)) for cell in cells}))


def _between(axis: SweepAxis, values: tuple[float, ...], wanted: float) -> float | None:
    if not values[0] <= wanted <= values[-1]:
        return None
    grid, at = np.array(values), wanted
    if axis in ("n", "k"):
        grid, at = np.log(grid), math.log(wanted)
    return float(np.interp(at, grid, np.arange(grid.size)))
