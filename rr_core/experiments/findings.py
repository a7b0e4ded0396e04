"""What the paper says of one of its figures, beside what a run of it shows.

The numbers have the last word. Cells where the three estimators coincide (nothing negative) are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rr_core.comparison import VALID
from rr_core.experiments.claims import (
    CONCENTRATED,
    NEAR_UNIFORM,
    Verdict,
    mle_lowest_nll,
    mle_never_worst,
    verdict_on,
)
from rr_core.experiments.compared import always_best, below, regret, winner
from rr_core.experiments.grid import POINT, Cell
from rr_core.experiments.names import population_name
from rr_core.experiments.run import SweepResult
from rr_core.experiments.summary import CellResult

# A mean error of up to this many times the smallest one counts as close to it.
CLOSE = 1.5
_MOSTLY = 0.9
KOSARAK = 41_270  # categories of the paper's click-stream
_NAMES = {"inv_n": "InvN", "inv_p": "InvP", "mle_star": "MLE*"}


@dataclass(frozen=True)
class Finding:
    """One statement of the paper.

    Attributes:
        claim: what the paper says.
        found: what this run shows.
        verdict: of this run on the claim.
    """

    claim: str
    found: str
    verdict: Verdict


def findings(result: SweepResult, metric: str) -> tuple[Finding, ...]:
    """The paper's statements about a figure of ``metric``, population by population, then about MLE*.

    Whether MLE* is "close" goes by the means (at most CLOSE times the smallest); who is best, worst or lower where the
    seeds settle it, at 5% for each statement.

    Returns:
        Nothing for a metric that the paper does not speak of, before the first cell, and without the three valid
        estimators.
    """
    settings = result.sweep.settings
    if not result.cells or metric not in settings.metrics or not set(VALID) <= set(settings.estimators):
        return ()
    if metric == "mse":
        best = (_best(part) for part in _by_population(result))
        return (*best, _never_worst(result), _close(result))
    return (_lowest(result), _poorer(result)) if metric == "nll" else ()


def _by_population(result: SweepResult) -> Iterator[SweepResult]:
    groups: dict[tuple[str, float], list[CellResult]] = {}
    for cell in result.cells:
        groups.setdefault((cell.cell.dist, cell.cell.s), []).append(cell)
    for cells in groups.values():
        yield SweepResult(result.sweep, tuple(cells))


def _best(part: SweepResult) -> Finding:
    """What the paper expects of a population of this shape, and who wins there."""
    first = part.cells[0]
    who = population_name(first.cell)
    shape = _shape(first)
    if shape == "moderate":
        claim = f"{_capital(who)}, {_example(first.cell, shape)}: InvP and InvN alternate."
        verdict, more = _alternating(part)
    else:
        name = "inv_p" if shape == "concentrated" else "inv_n"
        claim = f"{_capital(who)}, {_example(first.cell, shape)}: {_NAMES[name]} is best."
        count = always_best(part, "mse", name)
        verdict = verdict_on(count)
        more = (
            f" {_NAMES[name]} is surely the best in {count.yes}, surely not in {count.no}."
            if count.asked
            else ""
        )
    return Finding(claim, _wins(part) + more + _likeness(first), verdict)


def _shape(cell: CellResult) -> str:
    if cell.concentration >= CONCENTRATED or (cell.cell.uploaded and cell.cell.k == KOSARAK):
        return "concentrated"
    return "near uniform" if 1 / (cell.cell.k * cell.concentration) >= NEAR_UNIFORM else "moderate"


def _example(cell: Cell, shape: str) -> str:
    """How the paper describes it."""
    if cell.dist == POINT:
        return "drawn in the place of s = 5"
    if cell.uploaded:
        return {
            "concentrated": "peaked as KOSARAK is said to be",
            "moderate": "moderate as ACSINCOME",
            "near uniform": "near uniform",
        }[shape]
    return {"concentrated": "highly skewed", "moderate": "moderately skewed", "near uniform": "near uniform"}[
        shape
    ]


def _wins(part: SweepResult) -> str:
    """In how many cells each has the smallest mean."""
    found = [winner(part, cell, "mse") for cell in part.cells]
    apart = [one for one in found if one.name is not None]
    if not apart:
        return f"The three coincide in all {len(found)} cells."
    names = [one.name for one in apart]
    each = ", ".join(f"{_NAMES[name]} in {names.count(name)}" for name in VALID)
    equal = f" (in {len(found) - len(apart)} more they coincide)" if len(apart) < len(found) else ""
    return f"Smallest mean in {len(apart)} {_cells(len(apart))}{equal}: {each}."


def _alternating(part: SweepResult) -> tuple[Verdict, str]:
    count = below(part, "mse", "inv_p", "inv_n")
    if not count.asked:
        return "not tested", ""
    more = f" Of the two, InvP is surely better in {count.yes}, InvN in {count.no}."
    if count.yes and count.no:
        return "holds", more
    return ("not contradicted" if count.unsure else "does not hold"), more


def _likeness(cell: CellResult) -> str:
    """For a histogram from outside, how peaked it is beside the paper's populations."""
    if not cell.cell.uploaded:
        return ""
    return (
        f" Its squared shares sum to {cell.concentration:.2g}; those of Zipf with 10,000 categories to 0.0001 "
        "(s = 0.01), 0.094 (s = 1.3) and 0.58 (s = 2.5)."
    )


def _never_worst(result: SweepResult) -> Finding:
    claim = mle_never_worst(result)
    return Finding(claim.paper, claim.evidence, claim.verdict)


def _close(result: SweepResult) -> Finding:
    """How far MLE* is from the best, where the three differ."""
    apart = [cell for cell in result.cells if winner(result, cell, "mse").name is not None]
    paper = "MLE* stays close to the best."
    if not apart:
        return Finding(paper, "The three coincide in all cells.", "not tested")
    regrets = np.array([regret(result, cell, "mse", "mle_star") for cell in apart])
    near = int((regrets <= CLOSE).sum())
    found = (
        f"Its mean error is up to {_times(regrets.max())} the smallest ({_place(apart[int(regrets.argmax())].cell)}); "
        f"{_times(float(np.median(regrets)))} in the middle cell; at most {CLOSE:g} times in {near} of {len(apart)}."
    )
    return Finding(paper, found, _share(near, len(apart)))


def _share(yes: int, of: int) -> Verdict:
    if yes == of:
        return "holds"
    if not yes:
        return "does not hold"
    return "mostly holds" if yes / of >= _MOSTLY else "depends"


def _lowest(result: SweepResult) -> Finding:
    claim = mle_lowest_nll(result)
    return Finding(claim.paper, claim.evidence, claim.verdict)


def _poorer(result: SweepResult) -> Finding:
    """How much worse the other two fit the reports."""
    settings = result.sweep.settings
    m, best = settings.metrics.index("nll"), settings.estimators.index("mle_star")
    sentences, often = [], []
    for name in ("inv_n", "inv_p"):
        count = below(result, "nll", "mle_star", name)
        e = settings.estimators.index(name)
        excess = [float(cell.difference[m, e, best]) for cell in result.cells]
        most = int(np.argmax(excess))
        sentences.append(
            f"{_NAMES[name]}'s is surely higher in {count.yes} of {len(result.cells)}, by up to {excess[most]:.2g} nats "
            f"per report ({_place(result.cells[most].cell)})."
        )
        often.append(count.yes >= len(result.cells) / 2)
    verdict: Verdict = "holds" if all(often) else "depends" if any(often) else "does not hold"
    return Finding("InvN and InvP often fit the reports less well.", " ".join(sentences), verdict)


def _place(cell: Cell) -> str:
    return f"{population_name(cell)}, K = {cell.k:,}, ε = {cell.epsilon:g}, N = {cell.n:,}"


def _times(ratio: float) -> str:
    if math.isinf(ratio):
        return "infinitely many times"  # the smallest one is zero
    return f"{ratio:.3g} times" if ratio < 1000 else f"{ratio:,.0f} times"


def _cells(count: int) -> str:
    return "cell" if count == 1 else "cells"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
