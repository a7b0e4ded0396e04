"""The same collection many times over: the distribution of each estimator's error, its bias and variance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.comparison import RANKED, Ranks, Target, exceeds_chance, measure, ranks, rounding, truth_of
from rr_core.law import most_negative
from rr_core.registry import ESTIMATORS, VALID
from rr_core.scenario import Draw
from rr_core.simulate import Block, rows_per_step, simulate

# Chance of calling the order of two estimators wrongly, and the fewest collections from which it is called at all.
_LEVEL, FEWEST = 0.001, 10
_OF_VALID = [list(ESTIMATORS).index(name) for name in VALID]
# Of a mean square: what is left of it without its mean, where all collections were the same.
_ROUNDING = 1e-13


@dataclass(eq=False)
class Repeats:
    """Results over ``done`` collections of one scenario.

    Attributes:
        target: "users" (the same users report again) or "population" (new users each time).
        done: collections so far.
        errors: by metric of RANKED, (done, estimators) in the order of ESTIMATORS.
        best, worst: by metric, how many times each valid estimator had the smallest or largest error; ties
            are shared in equal parts, and a three-way tie counts for nobody.
        tied: by metric, how many collections were such a three-way tie.
        with_negatives: in how many collections Inv had a negative entry.
        empty_negative: share of empty categories below zero under Inv, per collection; nan if none is empty.
    """

    target: Target
    truth: Array
    done: int = 0
    errors: dict[str, Array] = field(
        default_factory=lambda: {m: np.empty((0, len(ESTIMATORS))) for m in RANKED}
    )
    best: dict[str, dict[str, float]] = field(default_factory=lambda: _tally())
    worst: dict[str, dict[str, float]] = field(default_factory=lambda: _tally())
    tied: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RANKED, 0))
    with_negatives: int = 0
    empty_negative: Array = field(default_factory=lambda: np.empty(0))
    _deviation: Array = field(default_factory=lambda: np.empty(0))

    def bias2(self, name: str) -> float:
        """Squared bias, summed over categories; corrected for the variance of a mean over ``done`` draws, so
        that it is unbiased itself (and may come out slightly negative when the bias is nil)."""
        index, done = list(ESTIMATORS).index(name), self.done
        mean = self._deviation[index] / done
        raw = float(mean @ mean)
        return raw - self._spread(index, raw) / done if done > 1 else raw

    def variance(self, name: str) -> float:
        """Variance, summed over categories (unbiased; nan from one collection)."""
        index = list(ESTIMATORS).index(name)
        mean = self._deviation[index] / self.done
        return self._spread(index, float(mean @ mean))

    def _spread(self, index: int, raw_bias2: float) -> float:
        mse = float(self.errors["mse"][:, index].mean())
        if self.done == 1:
            return math.nan
        within = mse - raw_bias2
        return within * self.done / (self.done - 1) if within > _ROUNDING * mse else 0.0

    def least_mean(self, metric: str) -> tuple[str, ...]:
        """The valid estimators whose mean error is not significantly above the smallest mean: paired t test,
        two-sided at _LEVEL. With fewer than ten collections, all three. By "above", every estimator that
        fitted worse than MLE* in a collection is excluded."""
        valid, slack = self.errors[metric][:, _OF_VALID], self._rounding(metric)
        if metric == "above":  # MLE* is never above itself, so one collection in which another is settles it
            settled = np.any(valid > slack, axis=0)
        elif self.done < FEWEST:
            return VALID
        else:
            excess = valid - valid[:, [int(valid.mean(axis=0).argmin())]]
            excess[np.abs(excess) <= slack] = 0.0
            mean, error = excess.mean(axis=0), excess.std(axis=0, ddof=1) / math.sqrt(self.done)
            settled = exceeds_chance(mean, error, self.done, _LEVEL / 2)
        return tuple(name for name, above in zip(VALID, settled.tolist(), strict=True) if not above)

    def _rounding(self, metric: str) -> Array:
        """(done, 3) bound on the rounding error of the valid estimators' errors."""
        return rounding(metric, {name: errors[:, _OF_VALID] for name, errors in self.errors.items()})

    def most_often_best(self, metric: str) -> tuple[str, ...]:
        """The valid estimators whose number of wins is not significantly below the largest one (the variance
        of the difference of two such counts is at most their sum). By "above": MLE*, and those that shared
        each of its wins."""
        wins = self.best[metric]
        most = max(wins.values())
        if metric == "above":
            return tuple(name for name in VALID if wins[name] == most)
        return tuple(
            name
            for name, won in wins.items()
            if self.done < FEWEST or most - won <= largest_lead_of_chance(most + won)
        )


def largest_lead_of_chance(wins: float) -> float:
    """By how many of these ``wins`` one of two equally good estimators leads the other, with a chance of at most about
    _LEVEL for more (two-sided)."""
    return -float(special.ndtri(_LEVEL / 2)) * math.sqrt(wins)


def repeat(draw: Draw, times: int, target: Target = "users") -> Iterator[Repeats]:
    """Draw ``times`` collections, yielding the cumulative result after each short step of work.

    Collection i does not depend on ``times``. To stop early, do not request the next item.

    Args:
        draw: the scenario's draw; its users report again ("users"), or new users are drawn ("population").
        times: how many collections, an integer >= 1.
        target: what errors are measured against.

    >>> from rr_core import Scenario
    >>> *_, result = repeat(Scenario(k=12, s=1.5, epsilon=1.0, n=2000, seed=5).draw(), 300)
    >>> {name: round(result.bias2(name), 4) for name in VALID}
    {'inv_n': 0.0024, 'inv_p': 0.0006, 'mle_star': 0.0008}
    >>> result.least_mean("mse")
    ('inv_p', 'mle_star')
    """
    times = _validate.integer("times", times, 1)
    truth = truth_of(draw, target)
    result = Repeats(target, truth, _deviation=np.zeros((len(ESTIMATORS), draw.scenario.k)))
    collector = draw.collector(new_users=target == "population")
    for block in simulate(collector, times, step=rows_per_step(draw.scenario.k)):
        _add(result, draw, block)
        yield result


def _add(result: Repeats, draw: Draw, block: Block) -> None:
    truths, reports = block.true_counts, block.reports
    assert truths is not None
    estimates = {name: estimator(reports, draw.mechanism) for name, estimator in ESTIMATORS.items()}
    measured = [
        measure(reports, estimate, estimates["mle_star"], result.truth, draw.mechanism)
        for estimate in estimates.values()
    ]
    for index, estimate in enumerate(estimates.values()):
        result._deviation[index] += (estimate - result.truth).sum(axis=0)
    errors = {metric: np.stack([one[metric] for one in measured], axis=-1) for metric in RANKED}
    valid = {metric: of_all[:, _OF_VALID] for metric, of_all in errors.items()}
    for metric in RANKED:
        result.errors[metric] = np.concatenate([result.errors[metric], errors[metric]])
        _count_wins(result, metric, ranks(valid[metric], rounding(metric, valid)))
    below = reports <= most_negative(draw.scenario.n, draw.mechanism)
    result.with_negatives += int(below.any(axis=-1).sum())
    result.empty_negative = np.concatenate([result.empty_negative, _share_of_empty(below, truths == 0)])
    result.done += block.wanted


def _count_wins(result: Repeats, metric: str, placed: Ranks) -> None:
    result.tied[metric] += int(placed.all_tied.sum())
    for tally, shares in ((result.best, placed.wins()), (result.worst, placed.losses())):
        for name, total in zip(VALID, shares.sum(axis=0).tolist(), strict=True):
            tally[metric][name] += total


def _share_of_empty(below: NDArray[np.bool_], empty: NDArray[np.bool_]) -> Array:
    shares: Array = np.divide(
        (below & empty).sum(axis=-1),
        empty.sum(axis=-1),
        out=np.full(len(empty), np.nan),
        where=empty.any(axis=-1),
    )
    return shares


def _tally() -> dict[str, dict[str, float]]:
    return {metric: dict.fromkeys(VALID, 0.0) for metric in RANKED}
