"""What the paper claims of the estimators, held against a sweep: each claim with its evidence and a verdict.

A verdict speaks of the cells that were run, and of no others. Cells where the mean errors are equal are not counted for
or against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from rr_core.comparison import VALID
from rr_core.experiments.compared import FAMILY_LEVEL, Count, always_best, below, never_worst
from rr_core.experiments.names import ESTIMATOR_NAMES
from rr_core.experiments.run import SweepResult
from rr_core.experiments.shapes import shape_of
from rr_core.experiments.slopes import Along, Slopes, slopes
from rr_core.experiments.wording import counted, minus

# "not contradicted": true where the seeds settle it, and they do not everywhere; "not settled": they do nowhere.
Verdict = Literal[
    "holds", "not contradicted", "mostly holds", "depends", "does not hold", "not settled", "not tested"
]

# From this share of the cells a claim with exceptions mostly holds.
_MOSTLY = 0.9
# A slope that is above the one claimed by no more than this agrees with it.
_NEAR = 0.1
# Whose mean squared error is proved to be of order 1/N: Inv's is exactly a constant over N for fixed users, and InvP,
# its projection on a convex set that holds the truth, is never farther from the truth.
_PROVED = ("inv", "inv_p")


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        key: name in code.
        paper: what the paper says.
        verdict: what this sweep says of it.
        evidence: the numbers behind the verdict, in sentences.
        count: the cells behind it; None where it is not about cells.
    """

    key: str
    paper: str
    verdict: Verdict
    evidence: str
    count: Count | None = None


def claims(result: SweepResult) -> tuple[Claim, ...]:
    """All claims, in the order of the paper's section 6; "not tested" where the sweep has no part in one."""
    return (
        mle_never_worst(result),
        mle_lowest_nll(result),
        best_when(result, "inv_p", "concentrated"),
        best_when(result, "inv_n", "near uniform"),
        order_in_n(result),
        order_in_k(result),
    )


def mle_never_worst(result: SweepResult) -> Claim:
    """MLE* never has the largest mean squared error of the three. Cells that agree prove nothing: the claim is false, see
    `rr_core.misprints.counterexamples`, and so it does not "hold"."""
    paper = "MLE* is never the worst of the three on average."
    if not has(result, "mse", *VALID):
        return _untested("never_worst", paper)
    count = never_worst(result, "mse", "mle_star")
    place = _place(result, "mse", "mle_star")
    drawn = sum(cell.seeds for cell in result.cells)
    worst = sum(float(cell.worst[place]) for cell in result.cells)
    evidence = _sentence(count, "MLE* is surely not the worst", "it surely is") + (
        f" In single collections it is the worst in {_rate(worst / drawn)} of {drawn:,}."
    )
    verdict = verdict_on(count)
    return Claim("never_worst", paper, "not contradicted" if verdict == "holds" else verdict, evidence, count)


def mle_lowest_nll(result: SweepResult) -> Claim:
    """MLE* has the lowest negative log-likelihood of the three in every single draw, as it must."""
    paper = "MLE* always has the lowest negative log-likelihood."
    if not has(result, "nll", *VALID):
        return _untested("lowest_nll", paper)
    place = _place(result, "nll", "mle_star")
    drawn = sum(cell.seeds for cell in result.cells)
    beaten = sum(int(cell.beaten[place]) for cell in result.cells)
    tied = sum(int(cell.tied[place[0]]) for cell in result.cells)
    evidence = (
        f"InvN or InvP had a lower one in {beaten:,} of {counted(drawn, 'collection')}; in {tied:,} all three tied. "
        "MLE* is the maximum likelihood, so this checks the computation more than the claim."
    )
    return Claim("lowest_nll", paper, "does not hold" if beaten else "holds", evidence)


def best_when(result: SweepResult, name: str, shape: Literal["concentrated", "near uniform"]) -> Claim:
    """One of InvP and InvN has the smallest mean squared error of the three where the population has a shape."""
    key, paper = f"{name}_best", f"{ESTIMATOR_NAMES[name]} is best where the population is {shape}."
    cells = tuple(cell for cell in result.cells if shape_of(cell) == shape)
    if not cells or not has(result, "mse", *VALID):
        return _untested(key, paper)
    part = SweepResult(result.sweep, cells)
    count = always_best(part, "mse", name)
    rival = "inv_n" if name == "inv_p" else "inv_p"
    against = below(part, "mse", name, rival)
    evidence = _sentence(count, f"{ESTIMATOR_NAMES[name]} is surely best", "surely another") + (
        f" Against {ESTIMATOR_NAMES[rival]} alone: surely better in {against.yes}, surely worse in {against.no}."
    )
    if count.exceptions:
        users, budgets = ([getattr(cell, axis) for cell in count.exceptions] for axis in ("n", "epsilon"))
        evidence += (
            f" The exceptions lie at N = {_span(min(users), max(users), ',')} and "
            f"ε = {_span(min(budgets), max(budgets), 'g')}."
        )
    return Claim(key, paper, verdict_on(count), evidence, count)


def order_in_n(result: SweepResult) -> Claim:
    """At fixed k and epsilon the mean squared error is O(1/N).

    Section 5.4 says it of all four estimators; of Inv and InvP it is a theorem (see `_PROVED`), which a finite sweep
    cannot contradict: its slopes say how near N is to that limit.
    """
    paper = "At a fixed K and ε the mean squared error falls like 1/N, or faster."
    found = _slopes(result, "n")
    if not found:
        return _untested("order_n", paper)
    proved = any(one.estimator in _PROVED for one in found)
    evidence = (
        "Inv's is exactly a constant divided by N, and InvP is never farther from the truth than Inv: for these two it "
        "is a theorem. "
        if proved
        else ""
    )
    evidence += f"Slopes between the two largest N, by the means, the middle one first: {_each(found)}."
    return Claim("order_n", paper, "holds" if proved else "not settled", evidence)


def order_in_k(result: SweepResult) -> Claim:
    """At fixed epsilon and N the mean squared error grows at most like k: slope at most 1 between the two largest k.

    Its proof, for Inv and InvP, divides by N (p - q) where N (p - q)^2 is right. At fixed epsilon p - q itself shrinks
    like 1/k, and Inv's error grows like k^2/N once k is large beside e^epsilon; k/N is right where p - q is held fixed.
    Valid estimators cannot err by more than 2 and so flatten out, with few users.
    """
    paper = "At a fixed ε and N it grows at most in proportion to K."
    found = _slopes(result, "k")
    if not found:
        return _untested("order_k", paper)
    count = _above(found, 1 + _NEAR)
    rest = ((count.no, "surely above"), (count.yes, "surely not"), (count.unsure, "not settled"))
    evidence = (
        f"The paper's proof rests on a misprint: Inv's error grows like K² once K is well above e^ε. Of "
        f"{counted(count.asked, 'slope')} between the two largest K (1: in proportion), above {1 + _NEAR:g}: "
        f"{', '.join(f'{words} in {number}' for number, words in rest if number)}. By the means, the middle one first: "
        f"{_each(found)}."
    )
    return Claim("order_k", paper, verdict_on(count), evidence)


def _slopes(result: SweepResult, along: Along) -> list[Slopes]:
    """Of every estimator that has some, those with a proof first."""
    if not has(result, "mse"):
        return []
    names = sorted(result.sweep.settings.estimators, key=lambda name: name not in _PROVED)
    return [found for name in names if (found := slopes(result, "mse", along, name)).groups]


def _above(found: list[Slopes], claimed: float) -> Count:
    """How many slopes are surely not above a value, and how many surely are: a two-sided test of each, with
    Bonferroni's correction."""
    many = sum(len(one.groups) for one in found)
    yes = no = 0
    for one in found:
        if one.seeds < 2:
            continue
        wide = -special.stdtrit(one.seeds - 1, FAMILY_LEVEL / (2 * many)) * one.error
        yes += int((one.last + wide <= claimed).sum())
        no += int((one.last - wide > claimed).sum())
    return Count(yes, no, many - yes - no, 0, ())


def _each(found: list[Slopes]) -> str:
    """The slopes of every estimator: the middle one, and between which they lie."""
    parts = []
    for one in found:
        low, middle, high = (minus(f"{slope:.2f}") for slope in np.quantile(one.last, (0, 0.5, 1)))
        spread = f" (from {low} to {high})" if len(one.groups) > 1 else ""
        parts.append(f"{ESTIMATOR_NAMES[one.estimator]} {middle}{spread}")
    return ", ".join(parts)


def _rate(share: float) -> str:
    """A share of single collections; those that two are the worst of together count half."""
    if share == 0:
        return "none"
    if share < 1e-4:
        return "less than 0.01%"
    return f"{share:.2%}" if share == 1 or share < 0.9999 else "more than 99.99%"


def _sentence(count: Count, yes: str, no: str) -> str:
    if not count.asked:
        return f"The three are equal in {_all(count.equal)}."
    rest = ((count.no, no), (count.unsure, "the collections do not settle it"))
    parts = [
        f"In {count.yes} of {counted(count.asked, 'cell')} {yes}",
        *(f"in {n} {what}" for n, what in rest if n),
    ]
    said = ", ".join(parts)
    return said + (f". In {count.equal} more the three are equal." if count.equal else ".")


def _all(cells: int) -> str:
    return f"all {cells:,} cells" if cells > 1 else "the only cell"


def _span(low: float, high: float, form: str) -> str:
    first, last = format(low, form), format(high, form)
    return first if first == last else f"{first} to {last}"


def verdict_on(count: Count) -> Verdict:
    """What the cells behind a claim say of it."""
    if not count.asked:
        return "not tested"
    if count.unsure == count.asked:
        return "not settled"
    if count.no == 0:
        return "holds" if count.unsure == 0 else "not contradicted"
    if count.yes == 0:
        return "does not hold"
    return "mostly holds" if count.yes / count.asked >= _MOSTLY else "depends"


def has(result: SweepResult, metric: str, *names: str) -> bool:
    """Whether a sweep has cells that are done, and measured this error of these estimators."""
    settings = result.sweep.settings
    return bool(result.cells) and metric in settings.metrics and set(names) <= set(settings.estimators)


def _place(result: SweepResult, metric: str, name: str) -> tuple[int, int]:
    settings = result.sweep.settings
    return settings.metrics.index(metric), settings.estimators.index(name)


def _untested(key: str, paper: str) -> Claim:
    return Claim(key, paper, "not tested", "This sweep has no cells that bear on it.")
