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
# The largest slopes claimed; one that is larger by no more than this agrees.
_CLAIMED: dict[Along, int] = {"n": -1, "k": 1}
_NEAR = 0.1
# Whose rate the supplement's theorem 9 proves; of the other two it proves that they converge.
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
        order_of_error(result),
    )


def mle_never_worst(result: SweepResult) -> Claim:
    """MLE* never has the largest mean squared error of the three."""
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
    return Claim("never_worst", paper, verdict_on(count), evidence, count)


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


def order_of_error(result: SweepResult) -> Claim:
    """The mean squared error is O(K/N): slope at most -1 along N, at most 1 along K.

    Section 5.4 says it of all four estimators; the supplement's theorem 9 proves the rate for Inv and InvP, which alone
    are held to it. At fixed epsilon p - q itself shrinks like 1/K, and Inv's error grows like K^2/N while K is large
    beside e^epsilon; K/N is right where p - q is held fixed. Valid estimators cannot grow beyond 2 and so flatten out,
    with few users.
    """
    paper = "The mean squared error is at most of order K/N; proved for Inv and InvP."
    if not has(result, "mse"):
        return _untested("order", paper)
    found = [one for one in _slopes(result) if one.groups]
    proved = [one for one in found if one.estimator in _PROVED]
    if not proved:
        return _untested("order", paper)
    kept = np.concatenate([one.last <= _CLAIMED[one.along] + _NEAR for one in proved])
    verdict: Verdict = "holds" if kept.all() else "mostly holds" if kept.mean() >= _MOSTLY else "depends"
    rest = [_slope_sentence(one) for one in found if one not in proved]
    evidence = " ".join([*map(_slope_sentence, proved), *(["Without a proof:"] if rest else []), *rest])
    return Claim("order", paper, verdict if kept.any() else "does not hold", evidence)


def _slopes(result: SweepResult) -> Iterator[Slopes]:
    alongs: tuple[Along, ...] = ("n", "k")
    for along in alongs:
        for name in result.sweep.settings.estimators:
            yield slopes(result, "mse", along, name)


def _slope_sentence(found: Slopes) -> str:
    low, middle, high = (minus(f"{slope:.2f}") for slope in np.quantile(found.last, (0.05, 0.5, 0.95)))
    many, claimed = len(found.groups), minus(f"{_CLAIMED[found.along]:+d}")
    spread = f"median of {many}; 5% to 95%: {low} to {high}; " if many > 1 else ""
    return (
        f"{ESTIMATOR_NAMES[found.estimator]} along {found.along.upper()}: slope {middle} at its large end "
        f"({spread}claimed at most {claimed})."
    )


def _rate(share: float) -> str:
    """A share of single collections; those that two are the worst of together count half."""
    if share == 0:
        return "none"
    return f"{share:.2%}" if share >= 1e-4 else "less than 0.01%"


def _sentence(count: Count, yes: str, no: str) -> str:
    if not count.asked:
        return f"The three coincide in {_all(count.equal)}."
    rest = ((count.no, no), (count.unsure, "the collections do not settle it"))
    parts = [
        f"In {count.yes} of {counted(count.asked, 'cell')} {yes}",
        *(f"in {n} {what}" for n, what in rest if n),
    ]
    said = ", ".join(parts)
    if len(parts) > 1:
        said += f": true in {_span(*count.share, '.0%')} of them"
    if count.unsure:
        said += f" (by the means alone in {count.by_means})"
    return said + (f". In {count.equal} more the three coincide." if count.equal else ".")


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
