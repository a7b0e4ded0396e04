"""Who has the smallest mean error, in one cell, over the cells of a sweep and along its axis; and whether two runs agree.

An order is stated only where the collections settle it, by a t test of paired differences, see `sign`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.comparison import TIE, exceeds_chance, mean_rounding
from rr_core.experiments.cell import CellResult
from rr_core.experiments.grid import Cell, Settings
from rr_core.experiments.run import SweepResult
from rr_core.registry import VALID

# -1 where the first of two estimators has the smaller mean error, 1 the larger, 0 when both are equal, None when the
# seeds cannot tell.
Sign = int | None
Question = Callable[[list[Sign]], bool | None]

# Probability that the order of any two estimators is wrongly decided in any cell, over all cells of a sweep together.
FAMILY_LEVEL = 0.05


@dataclass(frozen=True)
class Count:
    """Numbers of cells by their answer to a question on the order of mean errors.

    Attributes:
        yes, no: cells in which the collections settle the answer.
        undecided: cells in which they do not.
        equal: cells in which the mean errors are equal, so that the question does not arise.
        exceptions: the cells that answer no.
    """

    yes: int
    no: int
    undecided: int
    equal: int
    exceptions: tuple[Cell, ...]

    @property
    def total(self) -> int:
        """Number of cells in which the question arises."""
        return self.yes + self.no + self.undecided


def sign(result: SweepResult, cell: CellResult, metric: str, first: str, second: str) -> Sign:
    """Which of two mean errors is smaller, where the seeds can tell: a two-sided t test of the paired differences,
    at FAMILY_LEVEL over all pairs of valid estimators in all cells of the sweep (Bonferroni), run or not: whatever
    part of a sweep is asked about, and however far it is, a cell is held to the same. The level holds as far as the
    mean of the differences is about normal; differences that are all the same tell nothing about their spread, and
    settle nothing.

    Raises:
        ValueError: when the sweep has no such metric or estimator.
    """
    by_means, difference, error = _difference(result, cell, metric, first, second)
    if by_means == 0:
        return 0
    if cell.seeds < 2 or error <= TIE * difference:
        return None
    level = FAMILY_LEVEL / (2 * len(VALID) * len(result.sweep.cells))
    return by_means if exceeds_chance(difference, error, cell.seeds, level) else None


@dataclass(frozen=True)
class Leader:
    """Who has the smallest mean error of the three valid estimators in a cell.

    Attributes:
        best: estimators with the smallest mean error, in the order of `registry.VALID`; several where they are equal.
        possible: estimators for which it is not settled that another's expected error is smaller.
        margin: ratio of the second smallest mean error to the smallest; 1 where all three are equal.
    """

    best: tuple[str, ...]
    possible: tuple[str, ...]
    margin: float

    @property
    def equal(self) -> bool:
        """Whether the three mean errors are equal."""
        return len(self.best) == len(VALID)

    @property
    def settled(self) -> bool:
        """Whether it is settled that those in ``best``, and no other, have the smallest error."""
        return not self.equal and self.possible == self.best


def leading(result: SweepResult, cell: CellResult, metric: str) -> Leader:
    """Which valid estimators have the smallest mean error in a cell, and by how much.

    Means that differ by no more than rounding count as equal.

    Raises:
        ValueError: as `sign`.

    >>> from rr_core.experiments.grid import Settings, Sweep, over
    >>> from rr_core.experiments.run import run
    >>> result = run(Sweep(over(k=(50,), n=(1000,), epsilon=(1.0,), s=(1.3,)), Settings(60)))
    >>> lead = leading(result, result.cells[0], "mse")
    >>> lead.best, lead.settled, round(lead.margin, 2)
    (('inv_n',), True, 1.21)
    """
    means = {name: _mean(result, cell, metric, name) for name in VALID}
    first = min(VALID, key=lambda one: means[one])
    best = tuple(name for name in VALID if _difference(result, cell, metric, first, name)[0] == 0)
    # Whose error is settled to be larger than another's cannot be the smallest. FAMILY_LEVEL covers all these tests
    # together.
    possible = tuple(
        name for name in VALID if all(sign(result, cell, metric, name, other) != 1 for other in _others(name))
    )
    rest = [means[name] for name in VALID if name not in best]
    return Leader(best, possible, _ratio(min(rest), means[first]) if rest else 1.0)


def regret(result: SweepResult, cell: CellResult, metric: str, name: str) -> float:
    """Ratio of a valid estimator's mean error to the smallest of the three, at least 1."""
    return _ratio(_mean(result, cell, metric, name), min(_mean(result, cell, metric, one) for one in VALID))


def never_worst(result: SweepResult, metric: str, name: str) -> Count:
    """In which cells a valid estimator's mean error is not the largest of the three. One that was equal to another in all
    collections, and not smaller than the third, may still be a little larger."""

    def question(signs: list[Sign]) -> bool | None:
        if -1 in signs:
            return True
        return False if signs.count(1) == len(signs) else None

    return _count(result, metric, name, _others(name), question)


def always_best(result: SweepResult, metric: str, name: str) -> Count:
    """In which cells a valid estimator's mean error is the smallest of the three, alone or shared."""

    def question(signs: list[Sign]) -> bool | None:
        if 1 in signs:
            return False
        return True if None not in signs else None

    return _count(result, metric, name, _others(name), question)


def below(result: SweepResult, metric: str, first: str, second: str) -> Count:
    """In which cells the mean error of ``first`` is smaller than that of ``second``."""
    return _count(result, metric, first, (second,), lambda signs: None if signs[0] is None else signs[0] < 0)


def _others(name: str) -> tuple[str, ...]:
    return tuple(other for other in VALID if other != name)


def _count(result: SweepResult, metric: str, name: str, others: tuple[str, ...], question: Question) -> Count:
    answers: dict[Cell, bool | None] = {}
    for cell in result.cells:
        if any(_difference(result, cell, metric, name, other)[0] for other in others):
            answers[cell.cell] = question([sign(result, cell, metric, name, other) for other in others])
    values = list(answers.values())
    return Count(
        yes=values.count(True),
        no=values.count(False),
        undecided=values.count(None),
        equal=len(result.cells) - len(values),
        exceptions=tuple(cell for cell, answer in answers.items() if answer is False),
    )


def _difference(
    result: SweepResult, cell: CellResult, metric: str, first: str, second: str
) -> tuple[int, float, float]:
    """The sign of the difference of two means, its size, and its standard error."""
    m = _index("metric", metric, result.sweep.settings.metrics)
    a, b = (_index("estimator", name, result.sweep.settings.estimators) for name in (first, second))
    difference, error = float(cell.difference[m, a, b]), float(cell.difference_error[m, a, b])
    if abs(difference) <= mean_rounding(metric, cell.mean[m, a]):
        return 0, 0.0, error
    return (1 if difference > 0 else -1), abs(difference), error


def _mean(result: SweepResult, cell: CellResult, metric: str, name: str) -> float:
    settings = result.sweep.settings
    return float(
        cell.mean[_index("metric", metric, settings.metrics), _index("estimator", name, settings.estimators)]
    )


def _ratio(larger: float, smaller: float) -> float:
    if larger == smaller:  # both may be zero
        return 1.0
    return larger / smaller if smaller else math.inf


def _index(what: str, name: str, known: tuple[str, ...]) -> int:
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"{what} must be one of the sweep's, {', '.join(known)}, got {_validate.short(name)}"
        )
    return known.index(name)


@dataclass(frozen=True)
class Standing:
    """How the three valid estimators compare over the cells of a sweep; settled means settled by the collections, see
    `sign`.

    Attributes:
        n_completed: number of completed cells.
        n_best: by estimator, number of cells in which it alone has the smallest mean error, settled.
        n_shared: number of cells in which two share the smallest mean error, settled against the third.
        n_equal: number of cells in which the three mean errors are equal; the rest is about the others.
        n_close: number of cells in which MLE*'s mean error is at most ``close`` times the smallest, by the means.
        median_ratio: median of that ratio over the cells, by the means; nan where there are none.
        worst_ratio: largest such ratio among the cells in which it is settled that MLE*'s is not the smallest; infinite
            where the smallest is zero, 1 where there are none.
        worst_cell: cell of the largest ratio; None where there is none.
    """

    n_completed: int
    n_best: Mapping[str, int]
    n_shared: int
    n_equal: int
    n_close: int
    median_ratio: float
    worst_ratio: float
    worst_cell: Cell | None

    @property
    def n_different(self) -> int:
        """Number of completed cells in which the three mean errors differ."""
        return self.n_completed - self.n_equal

    @property
    def n_unsettled(self) -> int:
        """Number of cells in which they differ and it is not settled whose is the smallest."""
        return self.n_different - self.n_settled

    @property
    def n_settled(self) -> int:
        """Number of cells in which it is settled whose is the smallest."""
        return sum(self.n_best.values()) + self.n_shared


def standing(result: SweepResult, metric: str, close: float = 1.5) -> Standing:
    """Compare the three valid estimators over all completed cells of a sweep.

    Args:
        result: a sweep, finished or not.
        metric: one of its metrics.
        close: largest ratio to the smallest mean error that counts as close.

    Raises:
        ValueError: when the sweep lacks the metric or one of the three.

    >>> from rr_core.experiments.grid import Settings, Sweep, over
    >>> from rr_core.experiments.run import run
    >>> result = run(Sweep(over(k=(50,), n=(1000,), epsilon=(0.5, 1.0, 2.0), s=(1.3,)), Settings(60)))
    >>> stand = standing(result, "mse")
    >>> stand.n_completed, stand.n_settled
    (3, 2)
    """
    close = _validate.real("close", close, "a ratio")
    found = [(cell, leading(result, cell, metric)) for cell in result.cells]
    apart = [(cell, lead) for cell, lead in found if not lead.equal]
    ratios = np.array([regret(result, cell, metric, "mle_star") for cell, _ in apart])
    behind = np.array(["mle_star" not in lead.possible for _, lead in apart], dtype=bool)
    most = int(np.where(behind, ratios, -np.inf).argmax()) if behind.any() else None
    return Standing(
        n_completed=len(found),
        n_best={name: sum(lead.settled and lead.best == (name,) for _, lead in apart) for name in VALID},
        n_shared=sum(lead.settled and len(lead.best) == 2 for _, lead in apart),
        n_equal=len(found) - len(apart),
        n_close=int((ratios <= close * (1 + TIE)).sum()),
        median_ratio=float(np.median(ratios)) if apart else np.nan,
        worst_ratio=1.0 if most is None else float(ratios[most]),
        worst_cell=None if most is None else apart[most][0].cell,
    )


SweepAxis = Literal["epsilon", "n", "k", "s"]
_AXES: tuple[SweepAxis, ...] = ("epsilon", "n", "k", "s")


@dataclass(frozen=True)
class LeaderInterval:
    """Neighbouring values of the axis at which the same estimators have the smallest mean error.

    Attributes:
        first, last: smallest and largest of the values.
        best: estimators with the smallest mean error, settled; all three where they are equal, none where it is not
            settled.
        at_lower_end, at_upper_end: whether the interval holds the sweep's smallest or largest value.
    """

    first: float
    last: float
    best: tuple[str, ...]
    at_lower_end: bool
    at_upper_end: bool


def varying_axis(cells: tuple[Cell, ...]) -> SweepAxis | None:
    """The one numeric axis along which the cells differ; None where they differ in more, or in another thing."""
    varied = [axis for axis in _AXES if len({getattr(cell, axis) for cell in cells}) > 1]
    return varied[0] if len(varied) == 1 and len({cell.dist for cell in cells}) == 1 else None


def leader_intervals(result: SweepResult, metric: str, axis: SweepAxis) -> tuple[LeaderInterval, ...]:
    """Intervals of equal winners of a sweep along ``axis``, from the smallest value up. A cell that has not been run ends
    an interval.

    Raises:
        ValueError: when the sweep lacks the metric or one of the three valid estimators.
    """
    cells = sorted(result.sweep.cells, key=lambda cell: float(getattr(cell, axis)))
    found = []
    for best, group in groupby(cells, lambda cell: _settled_best(result, cell, metric)):
        inside = list(group)
        first, last = inside[0], inside[-1]
        if best is not None:
            low, high = float(getattr(first, axis)), float(getattr(last, axis))
            found.append(LeaderInterval(low, high, best, first == cells[0], last == cells[-1]))
    return tuple(found)


def _settled_best(result: SweepResult, cell: Cell, metric: str) -> tuple[str, ...] | None:
    """As `LeaderInterval.best`; None where the cell has not been run."""
    done = result.by_cell.get(cell)
    if done is None:
        return None
    lead = leading(result, done, metric)
    return lead.best if lead.settled or lead.equal else ()


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
        largest_difference: in standard errors; infinite where two means without spread differ, nan if none is compared.
        difference_cell, difference_estimator: where it is.
        largest_ratio, median_ratio: of the means; infinite where only one is zero, nan if no cell is common.
        ratio_cell, ratio_estimator: where the largest ratio is.
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

    >>> from rr_core.experiments.grid import Sweep, over
    >>> from rr_core.experiments.run import run
    >>> cells = over(k=(5, 50), n=(1000,), epsilon=(1.0,), s=(1.3,))
    >>> runs = [run(Sweep(cells, Settings(60, estimators=VALID, seed=seed))) for seed in (1, 2)]
    >>> both = agreement(*runs, "mse")
    >>> both.n_common, both.n_compared, both.same_users
    (2, 6, False)
    """
    settings = first.sweep.settings, second.sweep.settings
    for one in settings:
        if not isinstance(metric, str) or metric not in one.metrics:
            raise ValueError(f"metric must be one that both runs have, got {_validate.short(metric)}")
    names = [name for name in settings[0].estimators if name in settings[1].estimators]
    cells = [cell for cell in first.by_cell if cell in second.by_cell]
    (a, var_a, n_a), (b, var_b, n_b) = (_means(result, cells, metric, names) for result in (first, second))
    apart, variance = np.abs(a - b), var_a + var_b
    with np.errstate(divide="ignore", invalid="ignore"):
        # nan where a standard error is not known
        distance = np.where((apart == 0) & (variance == 0), 0.0, apart / np.sqrt(variance))
        freedom = variance**2 / (var_a**2 / (n_a - 1) + var_b**2 / (n_b - 1))
        chance = np.where(variance > 0, 2 * special.stdtr(freedom, -FAR_STANDARD_ERRORS), 0.0)
        ratios = np.where(a == b, 1.0, np.maximum(a, b) / np.minimum(a, b))
    there = ~np.isnan(distance)
    largest, where, estimator = _largest(distance, cells, names)
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


def _means(
    result: SweepResult, cells: list[Cell], metric: str, names: list[str]
) -> tuple[Array, Array, Array]:
    """(cells, estimators) mean errors and their squared standard errors; (cells, 1) collections behind them."""
    settings = result.sweep.settings
    m, es = settings.metrics.index(metric), [settings.estimators.index(name) for name in names]
    found = [result.by_cell[cell] for cell in cells]
    shape = len(cells), len(names)
    return (
        np.array([cell.mean[m, es] for cell in found]).reshape(shape),
        np.array([cell.standard_error[m, es] ** 2 for cell in found]).reshape(shape),
        np.array([cell.seeds for cell in found], dtype=np.float64).reshape(-1, 1),
    )


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
