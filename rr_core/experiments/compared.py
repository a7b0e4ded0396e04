"""Whether one estimator's mean error is below another's, cell by cell, with what the seeds allow to say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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
    m = _place("metric", metric, result.sweep.settings.metrics)
    a, b = (_place("estimator", name, result.sweep.settings.estimators) for name in (first, second))
    difference, error = float(cell.difference[m, a, b]), float(cell.difference_error[m, a, b])
    if abs(difference) <= TIE * abs(float(cell.mean[m, a])):
        return 0, 0.0, error
    return (1 if difference > 0 else -1), abs(difference), error


def _mean(result: SweepResult, cell: CellResult, metric: str, name: str) -> float:
    settings = result.sweep.settings
    return float(
        cell.mean[_place("metric", metric, settings.metrics), _place("estimator", name, settings.estimators)]
    )


def _ratio(larger: float, smaller: float) -> float:
    if larger == smaller:  # both may be zero
        return 1.0
    return larger / smaller if smaller else math.inf


def _place(what: str, name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        raise ValueError(f"{what} must be one of the sweep's, {', '.join(known)}, got {name!r}")
    return known.index(name)
