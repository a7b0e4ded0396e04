"""A sweep as curves: mean error along epsilon or N, panel by panel, as the paper draws its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.experiments.cell import QUANTILES, CellResult
from rr_core.experiments.grid import EXPONENTS, Cell, PaperFigure, Settings, Sweep
from rr_core.experiments.ranking import Standing, standing
from rr_core.experiments.run import SweepResult
from rr_core.populations import Population
from rr_core.registry import VALID

CurveAxis = Literal["epsilon", "n"]
# "category": the sum of squares divided by k, as in the paper; "excess": the negative log-likelihood minus that of MLE*
# on the same reports; "sum" and "level": as measured. Cell statistics are not errors: the two parts of the squared
# error, and the numbers of categories that are estimated as zero, or below zero.
CellStatistic = Literal["bias2", "variance", "zeros", "negatives"]
Measure = Literal["category", "sum", "excess", "level"] | CellStatistic
CELL_STATISTICS: tuple[CellStatistic, ...] = get_args(CellStatistic)
PopulationId = tuple[str, float]  # dist and s: a population, apart from its k

_LOW, _HIGH = QUANTILES.index(0.05), QUANTILES.index(0.95)
_ERRORS = 2.0  # standard errors to either side of an excess
_RANKS = 200  # ranks of a histogram that are drawn
# Values that are drawn first where there is a choice: the setting of the paper's Figures 1 and 2, and the middle of its
# grid.
_DEFAULTS = {"epsilon": 4.0, "n": 10**6, "k": 1000}
_MOST_COLUMNS = 5


@dataclass(frozen=True)
class CurveSelection:
    """Which part of a sweep is drawn, and how.

    Attributes:
        along: the horizontal axis.
        metric: one of the settings' metrics.
        measure: how the metric is drawn, one of `measures`.
        populations: each combination of one of these and one of ``ks`` that the sweep has is a row of panels.
        ks: numbers of categories; a population that the sweep has at a single k is drawn at that k.
        fixed_values: values of the axis that is not drawn; each is a column of panels.
    """

    along: CurveAxis
    metric: str
    measure: Measure
    populations: tuple[PopulationId, ...]
    ks: tuple[int, ...]
    fixed_values: tuple[float, ...]


def measures(settings: Settings, metric: str) -> tuple[Measure, ...]:
    """How a metric can be drawn; the first one is the usual one."""
    if metric == "mse":
        made_of: tuple[Measure, ...] = ("bias2", "variance") if settings.bias else ()
        below: tuple[Measure, ...] = ("negatives",) if "inv" in settings.estimators else ()
        return "category", "sum", *made_of, "zeros", *below
    if metric == "nll" and set(VALID) <= set(settings.estimators):
        return "excess", "level"
    return ("level",)


def other_axis(along: CurveAxis) -> CurveAxis:
    """The other one of epsilon and N, whose values are the columns."""
    return "n" if along == "epsilon" else "epsilon"


def populations_of(sweep: Sweep) -> tuple[PopulationId, ...]:
    """The populations of a sweep, in its order."""
    return tuple(dict.fromkeys((cell.dist, cell.s) for cell in sweep.cells))


def axis_values(sweep: Sweep, axis: Literal["k", "epsilon", "n"]) -> tuple[float, ...]:
    """The values of an axis in a sweep, ascending."""
    return tuple(sorted({getattr(cell, axis) for cell in sweep.cells}))


def default_selection(sweep: Sweep, preset: PaperFigure | None = None) -> CurveSelection:
    """The selection before anybody chooses. A figure of the paper is drawn as printed, with the exponents named in its
    text; any other sweep with all populations at one k, or one population at all k, at one value of the third axis."""
    settings = sweep.settings
    metric = preset.metric if preset and preset.metric in settings.metrics else settings.metrics[0]
    epsilons, users = axis_values(sweep, "epsilon"), axis_values(sweep, "n")
    along: CurveAxis = preset.along if preset else "epsilon" if len(epsilons) > len(users) else "n"
    everybody = populations_of(sweep)
    named = tuple(one for one in everybody if one[0] == "zipf" and one[1] in EXPONENTS)
    who = named if preset and named else everybody
    fixed = axis_values(sweep, other_axis(along))
    by_who = [sorted({cell.k for cell in sweep.cells if (cell.dist, cell.s) == one}) for one in who]
    # Of several populations, those that the sweep has at several k set the k; a table of counts has only its own.
    several = [one for one in by_who if len(one) > 1] if len(who) > 1 else []
    ks: tuple[float, ...] = tuple(sorted({k for one in several or by_who for k in one}))
    if len(who) > 1:
        ks = (_nearest(ks, "k"),)
    if preset is None or len(fixed) > _MOST_COLUMNS:
        fixed = (_nearest(fixed, other_axis(along)),)
    return CurveSelection(along, metric, measures(settings, metric)[0], who, tuple(int(k) for k in ks), fixed)


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """One estimator in one panel; arrays over the points.

    Attributes:
        mean: mean error over the seeds.
        low, high: the band, see `Lines.band`.
    """

    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Panel:
    """Errors of one population at one k and one value of the axis not drawn.

    Attributes:
        x: (points,) values of the horizontal axis whose cells are completed, ascending; maybe none.
        curves: by estimator.
    """

    x: Array
    curves: dict[str, ErrorCurve]


@dataclass(frozen=True, eq=False)
class PanelRow:
    """One population at one k.

    Attributes:
        cell: any of its cells; its population and k are the row's.
        ranks: (r,) ranks from 1 to k, all of them or, when k is large, ever sparser ones; none where the population
            is an uploaded one that is not at hand.
        shares: (r,) share of users of the category with this rank.
        panels: one per column.
    """

    cell: Cell
    ranks: NDArray[np.int64]
    shares: Array
    panels: tuple[Panel, ...]


@dataclass(frozen=True, eq=False)
class Curves:
    """What a figure draws.

    Attributes:
        selection: what was chosen.
        rows: one per population and k.
        seeds: collections behind every mean.
        band: what the bands are: "seeds", from the 5% to the 95% quantile of the collections; "error", two standard
            errors of a paired difference to either side; "none" for CELL_STATISTICS.
        n_completed: number of selected cells that are completed.
        standing: comparison of the three valid estimators over these cells; None for CELL_STATISTICS, and without the
            three.
    """

    selection: CurveSelection
    rows: tuple[PanelRow, ...]
    seeds: int
    band: Literal["seeds", "error", "none"]
    n_completed: int
    standing: Standing | None


def select_curves(
    result: SweepResult, choice: CurveSelection, populations: Mapping[str, Population] | None = None
) -> Curves:
    """The panels of a sweep, complete or not.

    Inv is left out of an "excess": it is no distribution, and may fit better than the best distribution.

    Args:
        result: the sweep, finished or not.
        choice: which part of it is drawn.
        populations: the uploaded ones, by key.
    """
    groups = _groups(result.sweep, choice)
    drawn = [
        result.by_cell[cell]
        for cells in groups
        for cell in cells
        if cell in result.by_cell and getattr(cell, other_axis(choice.along)) in choice.fixed_values
    ]
    rows = tuple(_row(result, choice, cells, populations or {}) for cells in groups)
    errors = choice.measure not in CELL_STATISTICS
    comparable = errors and set(VALID) <= set(result.sweep.settings.estimators)
    return Curves(
        choice,
        rows,
        result.sweep.settings.seeds,
        "none" if not errors else "error" if choice.measure == "excess" else "seeds",
        len(drawn),
        standing(SweepResult(result.sweep, tuple(drawn)), choice.metric) if comparable else None,
    )


def ranked_shares(probabilities: Array) -> tuple[NDArray[np.int64], Array]:
    """Ranks, and the shares of the categories at these ranks, largest share first: all ranks of a few categories, else
    about two hundred, sparser and sparser down the tail."""
    k = probabilities.size
    ranks = (
        np.unique(np.rint(np.geomspace(1, k, _RANKS)).astype(np.int64)) if k > _RANKS else np.arange(1, k + 1)
    )
    largest_first: Array = np.sort(probabilities)[::-1]
    return ranks, largest_first[ranks - 1]


def _nearest(values: Sequence[float], axis: Literal["k", "epsilon", "n"]) -> float:
    return min(values, key=lambda value: abs(np.log(value / _DEFAULTS[axis])), default=_DEFAULTS[axis])


def _groups(sweep: Sweep, choice: CurveSelection) -> list[list[Cell]]:
    """The cells of every row; a population that the sweep has at a single k is drawn at that k."""
    groups = []
    for who in choice.populations:
        by_k: dict[int, list[Cell]] = {}
        for cell in sweep.cells:
            if (cell.dist, cell.s) == who:
                by_k.setdefault(cell.k, []).append(cell)
        groups += [by_k[k] for k in sorted(by_k) if k in choice.ks or len(by_k) == 1]
    return groups


def _row(
    result: SweepResult, choice: CurveSelection, cells: list[Cell], populations: Mapping[str, Population]
) -> PanelRow:
    panels = []
    for value in choice.fixed_values:
        mine = sorted(
            (c for c in cells if getattr(c, other_axis(choice.along)) == value and c in result.by_cell),
            key=lambda c: getattr(c, choice.along),
        )
        panels.append(_panel(result, choice, [result.by_cell[c] for c in mine]))
    return PanelRow(cells[0], *_population(cells[0], populations), tuple(panels))


def _population(cell: Cell, populations: Mapping[str, Population]) -> tuple[NDArray[np.int64], Array]:
    if cell.uploaded and cell.dist not in populations:
        return np.empty(0, dtype=np.int64), np.empty(0)
    return ranked_shares(cell.population(populations).probabilities)


def _panel(result: SweepResult, choice: CurveSelection, cells: list[CellResult]) -> Panel:
    settings = result.sweep.settings
    m = settings.metrics.index(choice.metric)
    x = np.array([getattr(c.cell, choice.along) for c in cells], dtype=np.float64)
    names = VALID if choice.measure == "excess" else settings.estimators
    found = {}
    for name in names:
        e = settings.estimators.index(name)
        if choice.measure == "excess":
            best = settings.estimators.index("mle_star")
            mean = np.array([c.difference[m, e, best] for c in cells], dtype=np.float64)
            error = np.array([c.difference_error[m, e, best] for c in cells], dtype=np.float64)
            around = _ERRORS * np.nan_to_num(error)
            found[name] = ErrorCurve(mean, mean - around, mean + around)
        elif choice.measure in CELL_STATISTICS:
            part = np.array([getattr(c, choice.measure)[e] for c in cells], dtype=np.float64)
            found[name] = ErrorCurve(part, part, part)
        else:
            scale = np.array([c.cell.k if choice.measure == "category" else 1 for c in cells])
            mean, low, high = (
                np.array(values, dtype=np.float64) / scale
                for values in (
                    [c.mean[m, e] for c in cells],
                    [c.quantiles[_LOW, m, e] for c in cells],
                    [c.quantiles[_HIGH, m, e] for c in cells],
                )
            )
            found[name] = ErrorCurve(mean, low, high)
    return Panel(x, found)
