"""What the paper claims of the estimators, held against a sweep: each claim with its evidence and a verdict.

A verdict speaks of the cells that were run, and of no others. Cells where the estimators coincide (nothing negative)
are not counted for or against.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rr_core.comparison import VALID
from rr_core.experiments.compared import Count, always_best, below, never_worst
from rr_core.experiments.run import SweepResult
from rr_core.experiments.slopes import Slopes, slopes
from rr_core.experiments.summary import CellResult

Verdict = Literal["holds", "not contradicted", "mostly holds", "depends", "does not hold", "not tested"]

# Sum of squared shares from which a population is called concentrated (Zipf s = 2.5 has 0.58), and its number of
# equally common categories, as a share of k, from which it is near uniform (Zipf s = 0.01 has 0.9999).
CONCENTRATED, NEAR_UNIFORM = 0.5, 0.9
# From this share of the cells a claim with exceptions mostly holds.
_MOSTLY = 0.9
# A slope within this of the one claimed agrees with it.
_NEAR = 0.1

_NAMES = {"inv": "Inv", "inv_n": "InvN", "inv_p": "InvP", "mle_star": "MLE*"}


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
        order_of_error(result),
    )


def mle_never_worst(result: SweepResult) -> Claim:
    """MLE* never has the largest mean squared error of the three."""
    paper = "MLE* is never the worst of the three on average."
    if not _has(result, "mse", *VALID):
        return _untested("never_worst", paper)
    count = never_worst(result, "mse", "mle_star")
    place = _place(result, "mse", "mle_star")
    drawn = sum(cell.seeds for cell in result.cells)
    worst = sum(float(cell.worst[place]) for cell in result.cells)
    evidence = _sentence(count, "MLE* is surely not the worst", "it surely is") + (
        f" In single draws it is the worst in {round(worst, 1):,g} of {drawn:,} ({worst / drawn:.2%})."
    )
    return Claim("never_worst", paper, verdict_on(count), evidence, count)


def mle_lowest_nll(result: SweepResult) -> Claim:
    """MLE* has the lowest negative log-likelihood of the three in every single draw, as it must."""
    paper = "MLE* always has the lowest negative log-likelihood."
    if not _has(result, "nll", *VALID):
        return _untested("lowest_nll", paper)
    place = _place(result, "nll", "mle_star")
    drawn = sum(cell.seeds for cell in result.cells)
    beaten = sum(int(cell.beaten[place]) for cell in result.cells)
    tied = sum(int(cell.tied[place[0]]) for cell in result.cells)
    evidence = (
        f"Another valid estimator had a lower one in {beaten:,} of {drawn:,} draws; in {tied:,} all three tied. "
        "MLE* is the maximum likelihood, so this checks the computation more than the claim."
    )
    return Claim("lowest_nll", paper, "does not hold" if beaten else "holds", evidence)


def best_when(result: SweepResult, name: str, shape: Literal["concentrated", "near uniform"]) -> Claim:
    """One of InvP and InvN has the smallest mean squared error of the three where the population has a shape."""
    key, paper = f"{name}_best", f"{_NAMES[name]} is best where the population is {shape}."
    cells = tuple(cell for cell in result.cells if _shaped(cell, shape))
    if not cells or not _has(result, "mse", *VALID):
        return _untested(key, paper)
    part = SweepResult(result.sweep, cells)
    count = always_best(part, "mse", name)
    rival = "inv_n" if name == "inv_p" else "inv_p"
    against = below(part, "mse", name, rival)
    evidence = _sentence(count, f"{_NAMES[name]} is surely best", "surely another") + (
        f" Against {_NAMES[rival]} alone: surely better in {against.yes}, surely worse in {against.no}."
    )
    if count.exceptions:
        users, budgets = ([getattr(cell, axis) for cell in count.exceptions] for axis in ("n", "epsilon"))
        evidence += (
            f" The exceptions lie at N = {_span(min(users), max(users), ',')} and "
            f"ε = {_span(min(budgets), max(budgets), 'g')}."
        )
    return Claim(key, paper, verdict_on(count), evidence, count)


def order_of_error(result: SweepResult) -> Claim:
    """The mean squared error is of order K/N: slope -1 along N, at most 1 along K.

    At fixed epsilon p - q itself shrinks like 1/K, and Inv's error grows like K^2/N while K is large beside e^epsilon;
    K/N is right where p - q is held fixed. Valid estimators cannot grow beyond 2 and so flatten out, with few users.
    """
    paper = "The mean squared error is of order K/N."
    if not _has(result, "mse"):
        return _untested("order", paper)
    along_n, along_k = (list(_slopes(result, along)) for along in ("n", "k"))
    if not any(s.groups for s in (*along_n, *along_k)):
        return _untested("order", paper)
    sentences = [_slope_sentence(s, "N", -1) for s in along_n if s.groups]
    sentences += [_slope_sentence(s, "K", 1) for s in along_k if s.groups]
    ends_n = np.concatenate([s.last for s in along_n])
    ends_k = np.concatenate([s.last for s in along_k])
    kept = np.concatenate([np.abs(ends_n + 1) <= _NEAR, ends_k <= 1 + _NEAR])
    verdict: Verdict = "holds" if kept.all() else "mostly holds" if kept.mean() >= _MOSTLY else "depends"
    return Claim("order", paper, verdict if kept.any() else "does not hold", " ".join(sentences))


def _slopes(result: SweepResult, along: Literal["n", "k"]) -> Iterator[Slopes]:
    for name in result.sweep.settings.estimators:
        yield slopes(result, "mse", along, name)


def _slope_sentence(found: Slopes, axis: str, claimed: int) -> str:
    low, middle, high = np.quantile(found.last, (0.05, 0.5, 0.95))
    return (
        f"{_NAMES[found.estimator]} along {axis}: slope {middle:.2f} at its large end (median of "
        f"{len(found.groups)}; 5% to 95%: {low:.2f} to {high:.2f}; claimed {claimed:+d})."
    )


def _shaped(cell: CellResult, shape: Literal["concentrated", "near uniform"]) -> bool:
    if shape == "concentrated":
        return cell.concentration >= CONCENTRATED
    return 1 / (cell.cell.k * cell.concentration) >= NEAR_UNIFORM


def _sentence(count: Count, yes: str, no: str) -> str:
    if not count.asked:
        return f"The three coincide in all {count.equal} cells."
    rest = ((count.no, no), (count.unsure, "the seeds cannot tell"))
    parts = [f"In {count.yes} of {count.asked} cells {yes}", *(f"in {n} {what}" for n, what in rest if n)]
    said = ", ".join(parts)
    if len(parts) > 1:
        said += f": true in {_span(*count.share, '.0%')} of them"
    if count.unsure:
        said += f" (by the means alone in {count.by_means})"
    return said + (f". In {count.equal} more the three coincide." if count.equal else ".")


def _span(low: float, high: float, form: str) -> str:
    first, last = format(low, form), format(high, form)
    return first if first == last else f"{first} to {last}"


def verdict_on(count: Count) -> Verdict:
    """What the cells behind a claim say of it."""
    if not count.asked:
        return "not tested"
    if count.no == 0:
        return "holds" if count.unsure == 0 else "not contradicted"
    if count.yes == 0:
        return "does not hold"
    return "mostly holds" if count.yes / count.asked >= _MOSTLY else "depends"


def _has(result: SweepResult, metric: str, *names: str) -> bool:
    settings = result.sweep.settings
    return bool(result.cells) and metric in settings.metrics and set(names) <= set(settings.estimators)


def _place(result: SweepResult, metric: str, name: str) -> tuple[int, int]:
    settings = result.sweep.settings
    return settings.metrics.index(metric), settings.estimators.index(name)


def _untested(key: str, paper: str) -> Claim:
    return Claim(key, paper, "not tested", "This sweep has no cells that bear on it.")
