"""What the paper claims of the estimators, held against a sweep: a verdict on each claim, with the numbers behind it.

A verdict speaks of the cells that were run, and of no others. Cells where the mean errors are equal are not counted for
or against. The sentences are made in `rr_core.words.experiments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from rr_core._validate import Array
from rr_core.comparison import TIE
from rr_core.experiments.cell import CellResult
from rr_core.experiments.grid import Cell
from rr_core.experiments.ranking import (
    FAMILY_LEVEL,
    Count,
    Standing,
    always_best,
    below,
    never_worst,
    sign,
    standing,
)
from rr_core.experiments.run import SweepResult
from rr_core.registry import VALID

# "not contradicted": no cell that the seeds settle speaks against the claim, but some cells are not settled; "not
# settled": no cell is settled.
Verdict = Literal[
    "holds", "not contradicted", "mostly holds", "depends", "does not hold", "not settled", "not tested"
]
ClaimKey = Literal[
    "never_worst",
    "lowest_nll",
    "inv_p_best",
    "inv_n_best",
    "order_n",
    "order_k",
    "best_of_population",
    "kosarak",
    "close",
    "poorer_fit",
]
Shape = Literal["concentrated", "moderate", "near uniform"]
SlopeAxis = Literal["n", "k"]

# The paper calls populations concentrated, moderate or near uniform, without numbers; these limits are ours: of the sum
# of the squared shares (Zipf s = 2.5: 0.58, s = 1.3: 0.09 to 0.15), and of 1/(k sum), where 1/sum is the number of
# equally common categories with the same sum (s = 0.01: 0.9999).
CONCENTRATED, NEAR_UNIFORM = 0.5, 0.9
# A mean error of at most this many times the smallest counts as close to it.
CLOSE = 1.5
KOSARAK = 41_270  # categories of the paper's click-stream
# A slope agrees with the claimed one if it is larger by at most this.
SLOPE_TOLERANCE = 0.1

# A claim with exceptions mostly holds if at least this share of the cells agrees with it.
_MOSTLY = 0.9
# Estimators whose mean squared error is proved to be of order 1/N: that of Inv is exactly a constant over N for fixed
# users, and InvP, the projection of Inv on a convex set that contains the truth, is never farther from the truth.
_PROVED = ("inv", "inv_p")
_AXES = ("dist", "s", "k", "epsilon", "n")


@dataclass(frozen=True, eq=False)
class Slopes:
    """Slopes d log(error) / d log(n or k) of one estimator, one per group of cells that differ in nothing else.

    Attributes:
        along: "n" or "k".
        estimator: which one.
        groups: per group, the axes that its cells share, as text.
        last: (groups,) slope between the two largest values, which is nearer to the limit.
        error: (groups,) standard error of ``last``, by that of the two means; nan from one collection.
        seeds: collections behind every mean.
    """

    along: SlopeAxis
    estimator: str
    groups: tuple[str, ...]
    last: Array
    error: Array
    seeds: int


@dataclass(frozen=True)
class Collections:
    """Single collections that speak for or against a claim.

    Attributes:
        total: number of collections in all cells.
        against: number of collections in which MLE* has the largest error (half, if another's is equal), or does not
            fit best.
        tied: number of collections in which all three tie.
    """

    total: int
    against: float
    tied: int


@dataclass(frozen=True)
class BestOfShape:
    """How one estimator does on all populations of one shape.

    Attributes:
        estimator: the one that is claimed to be best, InvN or InvP.
        shape: of the populations.
        rival: the other one of InvN and InvP.
        against_rival: cells by whether the estimator's mean error is smaller than its rival's.
    """

    estimator: str
    shape: Shape
    rival: str
    against_rival: Count


@dataclass(frozen=True)
class BestOfPopulation:
    """Who wins on one population.

    Attributes:
        cell: any of its cells.
        shape: of the population.
        standing: of the three, over its cells.
    """

    cell: CellResult
    shape: Shape
    standing: Standing


@dataclass(frozen=True)
class DistanceFromBest:
    """How far MLE* is from the best of the three.

    Attributes:
        standing: of the three, ``close`` being CLOSE.
        uploaded: whether a histogram from outside is among the populations.
    """

    standing: Standing
    uploaded: bool


@dataclass(frozen=True)
class HigherNll:
    """How much worse one estimator fits the reports than MLE*.

    Attributes:
        estimator: which.
        n_cells: cells that are done.
        n_higher: cells where its mean negative log-likelihood is surely higher.
        largest: largest mean difference among these, in nats per report; nan where there is none.
        cell: cell of the largest difference.
    """

    estimator: str
    n_cells: int
    n_higher: int
    largest: float
    cell: Cell | None


Evidence = (
    Collections
    | BestOfShape
    | BestOfPopulation
    | DistanceFromBest
    | tuple[Slopes, ...]
    | tuple[HigherNll, ...]
)


@dataclass(frozen=True)
class PaperClaim:
    """One claim of the paper.

    Attributes:
        key: which one.
        verdict: what this sweep says of it.
        count: the cells, or for "order_k" the slopes, behind the verdict; None where it is not about these.
        evidence: more numbers behind the verdict; None where it was not tested.
    """

    key: ClaimKey
    verdict: Verdict
    count: Count | None = None
    evidence: Evidence | None = None


def claims(result: SweepResult) -> tuple[PaperClaim, ...]:
    """All claims, in the order of the paper's section 6; "not tested" where the sweep has no cell that one is about."""
    return (
        mle_never_worst(result),
        mle_lowest_nll(result),
        best_when(result, "inv_p", "concentrated"),
        best_when(result, "inv_n", "near uniform"),
        order_in_n(result),
        order_in_k(result),
    )


def figure_claims(result: SweepResult, metric: str) -> tuple[PaperClaim, ...]:
    """The paper's statements about a figure of ``metric``, population by population, then about MLE*.

    "Close" is a statement about the means (at most CLOSE times the smallest); "best", "worst" and "lower" are
    statements about the cells that the seeds settle, see `ranking.sign`. An uploaded histogram is judged by its shape
    alone, whatever the paper says of its own data set.

    Returns:
        The statements; none for a metric that the paper does not mention, before the first cell is completed, and
        without the three valid estimators.
    """
    if not has_errors(result, metric, *VALID):
        return ()
    if metric == "mse":
        groups: dict[tuple[str, float], list[CellResult]] = {}
        for cell in result.cells:
            groups.setdefault((cell.cell.dist, cell.cell.s), []).append(cell)
        parts = [SweepResult(result.sweep, tuple(cells)) for cells in groups.values()]
        first = {part: part.cells[0].cell for part in parts}
        return (
            *map(_best_of_population, parts),
            *(_kosarak(part) for part in parts if first[part].uploaded and first[part].k == KOSARAK),
            mle_never_worst(result),
            _close(result),
        )
    return (mle_lowest_nll(result), _poorer_fit(result)) if metric == "nll" else ()


def mle_never_worst(result: SweepResult) -> PaperClaim:
    """MLE* never has the largest mean squared error of the three. Cells that agree prove nothing: the claim is false, see
    the misprints of `rr_core.reference`, and so it does not "hold"."""
    if not has_errors(result, "mse", *VALID):
        return PaperClaim("never_worst", "not tested")
    count = never_worst(result, "mse", "mle_star")
    verdict = verdict_on(count)
    return PaperClaim(
        "never_worst",
        "not contradicted" if verdict == "holds" else verdict,
        count,
        _collections(result, "mse", "worst"),
    )


def mle_lowest_nll(result: SweepResult) -> PaperClaim:
    """MLE* has the lowest negative log-likelihood of the three in every single draw, as it must."""
    if not has_errors(result, "nll", *VALID):
        return PaperClaim("lowest_nll", "not tested")
    drawn = _collections(result, "nll", "beaten")
    return PaperClaim("lowest_nll", "does not hold" if drawn.against else "holds", evidence=drawn)


def best_when(result: SweepResult, name: str, shape: Literal["concentrated", "near uniform"]) -> PaperClaim:
    """One of InvP and InvN has the smallest mean squared error of the three where the population has a shape.

    Args:
        result: a sweep.
        name: "inv_p" or "inv_n".
        shape: of the populations.
    """
    key: ClaimKey = "inv_p_best" if name == "inv_p" else "inv_n_best"
    cells = tuple(cell for cell in result.cells if shape_of(cell) == shape)
    if not cells or not has_errors(result, "mse", *VALID):
        return PaperClaim(key, "not tested")
    part = SweepResult(result.sweep, cells)
    count = always_best(part, "mse", name)
    rival = "inv_n" if name == "inv_p" else "inv_p"
    return PaperClaim(
        key, verdict_on(count), count, BestOfShape(name, shape, rival, below(part, "mse", name, rival))
    )


def order_in_n(result: SweepResult) -> PaperClaim:
    """At fixed k and epsilon the mean squared error is O(1/N): section 5.4 says so of all four estimators; of Inv and
    InvP it is a theorem (see `_PROVED`), and the slopes say how near N is to that limit."""
    found = _all_slopes(result, "n")
    if not found:
        return PaperClaim("order_n", "not tested")
    return PaperClaim("order_n", "holds" if is_proved(found) else "not settled", evidence=found)


def order_in_k(result: SweepResult) -> PaperClaim:
    """At fixed epsilon and N the mean squared error grows at most like k: slope at most 1 between the two largest k.

    Its proof, for Inv and InvP, divides by N (p - q) where N (p - q)^2 is right. At fixed epsilon p - q itself shrinks
    like 1/k, and Inv's error grows like k^2/N once k is large beside e^epsilon; k/N is right where p - q is held fixed.
    Valid estimators cannot err by more than 2 and so flatten out, with few users.
    """
    found = _all_slopes(result, "k")
    if not found:
        return PaperClaim("order_k", "not tested")
    count = _count_slopes(found)
    return PaperClaim("order_k", verdict_on(count), count, found)


def is_proved(found: tuple[Slopes, ...]) -> bool:
    """Whether one of the estimators has a proof that its mean squared error is of order 1/N."""
    return any(one.estimator in _PROVED for one in found)


def verdict_on(count: Count) -> Verdict:
    """What the cells behind a claim say of it."""
    if not count.total:
        return "not tested"
    if count.undecided == count.total:
        return "not settled"
    if count.no == 0:
        return "holds" if count.undecided == 0 else "not contradicted"
    return _verdict_on_share(count.yes, count.total)


def has_errors(result: SweepResult, metric: str, *names: str) -> bool:
    """Whether a sweep has cells that are done, and measured this error of these estimators."""
    settings = result.sweep.settings
    return bool(result.cells) and metric in settings.metrics and set(names) <= set(settings.estimators)


def shape_of(cell: CellResult) -> Shape:
    """How concentrated a population is, by the sum of the squared shares alone, whatever the population is called. Of
    two categories the sum is always at least 1/2: equal ones are near uniform all the same."""
    if 1 / (cell.cell.k * cell.concentration) >= NEAR_UNIFORM:
        return "near uniform"
    return "concentrated" if cell.concentration >= CONCENTRATED else "moderate"


def slopes(result: SweepResult, metric: str, along: SlopeAxis, estimator: str) -> Slopes:
    """Slopes of the log mean error along log n or log k, one per group of cells that differ in nothing else: groups with
    at least three values of the axis, and no mean of zero."""
    m = result.sweep.settings.metrics.index(metric)
    e = result.sweep.settings.estimators.index(estimator)
    groups: dict[str, list[CellResult]] = {}
    for cell in result.cells:
        shared = (f"{axis}={getattr(cell.cell, axis)}" for axis in _AXES if axis != along)
        groups.setdefault(" ".join(shared), []).append(cell)
    names, last, errors = [], [], []
    for name, cells in groups.items():
        points = sorted(
            (getattr(cell.cell, along), float(cell.mean[m, e]), float(cell.standard_error[m, e]))
            for cell in cells
        )
        if len(points) < 3 or any(mean <= 0 for _, mean, _ in points):
            continue
        at, means, spread = np.array(points, dtype=np.float64).T
        x, y, relative = np.log(at), np.log(means), spread / means
        names.append(name)
        last.append(float((y[-1] - y[-2]) / (x[-1] - x[-2])))
        errors.append(float(np.hypot(relative[-1], relative[-2]) / (x[-1] - x[-2])))
    seeds = result.sweep.settings.seeds
    return Slopes(along, estimator, tuple(names), np.array(last), np.array(errors), seeds)


def _all_slopes(result: SweepResult, along: SlopeAxis) -> tuple[Slopes, ...]:
    """The slopes of every estimator that has any; estimators with a proof come first."""
    if not has_errors(result, "mse"):
        return ()
    names = sorted(result.sweep.settings.estimators, key=lambda name: name not in _PROVED)
    return tuple(found for name in names if (found := slopes(result, "mse", along, name)).groups)


def _count_slopes(all_slopes: tuple[Slopes, ...]) -> Count:
    """How many slopes are settled to agree with 1, and how many to be above: two-sided tests, with Bonferroni."""
    many, largest = sum(len(one.groups) for one in all_slopes), 1 + SLOPE_TOLERANCE
    yes = no = 0
    for one in all_slopes:
        if one.seeds < 2:
            continue
        wide = -special.stdtrit(one.seeds - 1, FAMILY_LEVEL / (2 * many)) * one.error
        spread = one.error > TIE  # without spread a standard error says nothing
        yes += int((spread & (one.last + wide <= largest)).sum())
        no += int((spread & (one.last - wide > largest)).sum())
    return Count(yes, no, many - yes - no, 0, ())


def _collections(result: SweepResult, metric: str, against: Literal["worst", "beaten"]) -> Collections:
    """In how many single collections MLE* was the worst, or was beaten."""
    settings = result.sweep.settings
    m, e = settings.metrics.index(metric), settings.estimators.index("mle_star")
    return Collections(
        total=sum(cell.seeds for cell in result.cells),
        against=sum(float(getattr(cell, against)[m, e]) for cell in result.cells),
        tied=sum(int(cell.tied[m]) for cell in result.cells),
    )


def _best_of_population(part: SweepResult) -> PaperClaim:
    """What the paper expects of a population of this shape, and who wins there."""
    first = part.cells[0]
    shape = shape_of(first)
    evidence = BestOfPopulation(first, shape, standing(part, "mse"))
    if shape == "moderate":
        count = below(part, "mse", "inv_p", "inv_n")
        # Do they alternate? The paper says so of all its settings together: one figure in which only one of them is ever
        # better does not contradict it.
        verdict = verdict_on(count) if count.undecided == count.total else "not contradicted"
        return PaperClaim(
            "best_of_population", "holds" if count.yes and count.no else verdict, count, evidence
        )
    count = always_best(part, "mse", "inv_p" if shape == "concentrated" else "inv_n")
    return PaperClaim("best_of_population", verdict_on(count), count, evidence)


def _kosarak(part: SweepResult) -> PaperClaim:
    """The claim about the paper's click-stream, for an uploaded histogram with as many categories."""
    count = always_best(part, "mse", "inv_p")
    first = part.cells[0]
    return PaperClaim(
        "kosarak",
        verdict_on(count),
        count,
        BestOfPopulation(first, shape_of(first), standing(part, "mse")),
    )


def _close(result: SweepResult) -> PaperClaim:
    """How far MLE* is from the best, where the three differ."""
    stand = standing(result, "mse", CLOSE)
    verdict: Verdict = "not settled"
    if not stand.n_different:
        verdict = "not tested"
    elif stand.n_settled:
        verdict = _verdict_on_share(stand.n_close, stand.n_different)
    return PaperClaim(
        "close", verdict, evidence=DistanceFromBest(stand, any(cell.cell.uploaded for cell in result.cells))
    )


def _verdict_on_share(yes: int, of: int) -> Verdict:
    if yes == of:
        return "holds"
    if not yes:
        return "does not hold"
    return "mostly holds" if yes / of >= _MOSTLY else "depends"


def _poorer_fit(result: SweepResult) -> PaperClaim:
    """How much worse the other two fit the reports."""
    names = ("inv_n", "inv_p")
    counts = [below(result, "nll", "mle_star", name) for name in names]
    return PaperClaim(
        "poorer_fit",
        _verdict_on_often(counts, len(result.cells) / 2),
        evidence=tuple(_higher_nll(result, name) for name in names),
    )


def _higher_nll(result: SweepResult, name: str) -> HigherNll:
    settings = result.sweep.settings
    m, (a, b) = settings.metrics.index("nll"), map(settings.estimators.index, (name, "mle_star"))
    higher = [cell for cell in result.cells if sign(result, cell, "nll", "mle_star", name) == -1]
    if not higher:
        return HigherNll(name, len(result.cells), 0, float("nan"), None)
    most = max(higher, key=lambda cell: float(cell.difference[m, a, b]))
    return HigherNll(name, len(result.cells), len(higher), float(most.difference[m, a, b]), most.cell)


def _verdict_on_often(counts: list[Count], half: float) -> Verdict:
    """The verdict on whether every count has at least ``half`` cells that answer yes, as undecided ones may."""
    surely = [count.yes >= half for count in counts]
    maybe = [count.yes + count.undecided >= half for count in counts]
    if all(surely):
        return "holds"
    if all(maybe):
        return "not contradicted" if any(surely) else "not settled"
    return "depends" if any(maybe) else "does not hold"
