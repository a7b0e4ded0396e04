"""Who has the smallest mean error: in one cell, over the cells of a sweep, and along its axis.

Everything is said as far as the collections settle it: by a t test of paired differences, see `sign`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
from scipy import special

from rr_core.comparison import TIE, VALID
from rr_core.experiments.cell import CellResult
from rr_core.experiments.grid import Cell
from rr_core.experiments.run import SweepResult

# -1 where the first of two estimators has the smaller mean error, 1 the larger, 0 when both are equal, None when the
# seeds cannot tell.
Sign = int | None
Question = Callable[[list[Sign]], bool | None]

# Chance that any of two estimators' order in any cell is called wrongly, over all cells of a sweep together.
FAMILY_LEVEL = 0.05


@dataclass(frozen=True)
class Count:
    """How many cells answer a question which way.

    Attributes:
        yes, no: cells where the seeds settle it.
        unsure: cells where they do not.
        equal: cells where the mean errors are equal, so that the question does not arise.
        exceptions: the cells that say no.
    """

    yes: int
    no: int
    unsure: int
    equal: int
    exceptions: tuple[Cell, ...]

    @property
    def asked(self) -> int:
        """Cells where the question arises."""
        return self.yes + self.no + self.unsure


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
    settled = difference > -special.stdtrit(cell.seeds - 1, level) * error
    return by_means if settled else None


@dataclass(frozen=True)
class Leader:
    """Who has the smallest mean error of the three valid estimators in a cell.

    Attributes:
        best: those whose mean is the smallest, in the order of `comparison.VALID`: one, two that are equal, or all three.
        possible: those that the seeds leave as the one with the smallest: ``best``, and any other that is not settled
            to be larger than one of the three.
        margin: the next larger mean error over the smallest, >= 1; 1 where all three are equal.
    """

    best: tuple[str, ...]
    possible: tuple[str, ...]
    margin: float

    @property
    def equal(self) -> bool:
        """Whether the three means are equal, so that nobody leads."""
        return len(self.best) == len(VALID)

    @property
    def sure(self) -> bool:
        """Whether the seeds settle that ``best`` have the smallest, and nobody else."""
        return not self.equal and self.possible == self.best


def leading(result: SweepResult, cell: CellResult, metric: str) -> Leader:
    """Who leads in a cell, and by how much. Equal means share: rounding decides nothing.

    Raises:
        ValueError: as `sign`.
    """
    means = {name: _mean(result, cell, metric, name) for name in VALID}
    first = min(VALID, key=lambda one: means[one])
    best = tuple(name for name in VALID if _difference(result, cell, metric, first, name)[0] == 0)
    # Who is surely larger than anyone is not the smallest; over a sweep all these calls are right together.
    possible = tuple(
        name for name in VALID if all(sign(result, cell, metric, name, other) != 1 for other in _others(name))
    )
    rest = [means[name] for name in VALID if name not in best]
    return Leader(best, possible, _ratio(min(rest), means[first]) if rest else 1.0)


def regret(result: SweepResult, cell: CellResult, metric: str, name: str) -> float:
    """A valid estimator's mean error over the smallest of the three: 1 where it is the best."""
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
        unsure=values.count(None),
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
    if abs(difference) <= TIE * abs(float(cell.mean[m, a])):
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
    if name not in known:
        raise ValueError(f"{what} must be one of the sweep's, {', '.join(known)}, got {name!r}")
    return known.index(name)


@dataclass(frozen=True)
class Standing:
    """Counts of cells.

    Attributes:
        cells: that are done.
        sure: by estimator, where it alone has the smallest mean error and the seeds settle it.
        shared: where two have the same smallest one and the seeds settle it against the third.
        equal: where the mean errors of the three are equal; the rest is about the others.
        near: where MLE*'s mean error is at most ``close`` times the smallest, by the means.
        typical: MLE*'s mean error over the smallest in the middle cell, by the means; nan where none is apart.
        behind: where the seeds settle that MLE*'s is not the smallest.
        largest: its ratio to the smallest there, at most (infinite where the smallest is zero); 1 where there is none.
        where: the cell of the largest.
    """

    cells: int
    sure: Mapping[str, int]
    shared: int
    equal: int
    near: int
    typical: float
    behind: int
    largest: float
    where: Cell | None

    @property
    def apart(self) -> int:
        """Cells where the three differ."""
        return self.cells - self.equal

    @property
    def unsettled(self) -> int:
        """Those of them where the seeds do not tell who has the smallest mean error."""
        return self.apart - self.settled

    @property
    def settled(self) -> int:
        """Those of them where the seeds tell who has the smallest mean error."""
        return sum(self.sure.values()) + self.shared


def standing(result: SweepResult, metric: str, close: float = 1.5) -> Standing:
    """Over all cells that are done.

    Raises:
        ValueError: when the sweep lacks the metric or one of the three.
    """
    found = [(cell, leading(result, cell, metric)) for cell in result.cells]
    apart = [(cell, lead) for cell, lead in found if not lead.equal]
    ratios = np.array([regret(result, cell, metric, "mle_star") for cell, _ in apart])
    behind = np.array(["mle_star" not in lead.possible for _, lead in apart], dtype=bool)
    most = int(np.where(behind, ratios, -np.inf).argmax()) if behind.any() else None
    return Standing(
        cells=len(found),
        sure={name: sum(lead.sure and lead.best == (name,) for _, lead in apart) for name in VALID},
        shared=sum(lead.sure and len(lead.best) == 2 for _, lead in apart),
        equal=len(found) - len(apart),
        near=int((ratios <= close * (1 + TIE)).sum()),
        typical=float(np.median(ratios)) if apart else np.nan,
        behind=int(behind.sum()),
        largest=1.0 if most is None else float(ratios[most]),
        where=None if most is None else apart[most][0].cell,
    )


SweepAxis = Literal["epsilon", "n", "k", "s"]
_AXES: tuple[SweepAxis, ...] = ("epsilon", "n", "k", "s")


@dataclass(frozen=True)
class LeaderInterval:
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


def varying_axis(cells: tuple[Cell, ...]) -> SweepAxis | None:
    """The only thing in which some cells differ; None where it is no number, or not the only one."""
    varied = [axis for axis in _AXES if len({getattr(cell, axis) for cell in cells}) > 1]
    return varied[0] if len(varied) == 1 and len({cell.dist for cell in cells}) == 1 else None


def leader_intervals(result: SweepResult, metric: str, axis: SweepAxis) -> tuple[LeaderInterval, ...]:
    """Of a sweep along ``axis``, from the smallest value to the largest; a value not run yet ends a stretch.

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
    """As `Stretch.best`; None where it has not been run."""
    done = result.by_cell.get(cell)
    if done is None:
        return None
    lead = leading(result, done, metric)
    return lead.best if lead.sure or lead.equal else ()
