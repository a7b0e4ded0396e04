"""Parametric bootstrap at MLE*: intervals for every estimator, and how far each is from the truth.

The collection is repeated many times with MLE* as the truth. The intervals are symmetric and studentised:
    estimate +- t s,  s the standard deviation of Inv at the estimate (at zero, where that is negative),
with t the quantile of |estimate - truth| / s over the repetitions. Measured against percentile and basic
(reflected) intervals: the basic ones cover small positive shares in 36% to 85% of collections, because an
estimate of zero reflects to the point zero; the percentile ones cover large shares under InvN in 11%, because
they count the bias twice. The table of module `coverage` says how far these hold their level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling, streams
from rr_core._validate import Array
from rr_core.collected.intervals import Interval
from rr_core.collected.replicates import LONG_ROW, Progress, checked_plan, new_users, same_users, simulate
from rr_core.collected.reports import Counts, Levels, collected, level_between
from rr_core.comparison import ESTIMATORS, RULES
from rr_core.errors import Users, check_users, variance_at
from rr_core.estimators import Rule
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Rows, profile, table_size
from rr_core.streams import Stream

METRICS = ("mse", "tv", "max")
_GROUPS, _MEMBERS = 256, 512  # what is followed: different values of MLE*, and categories in all


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Simulated collections whose truth is MLE*.

    Attributes:
        mechanism: the randomized response.
        users: whether the same users reported again ("fixed") or new ones each time ("sampled").
        n: number of users.
        estimates: (k,) by estimator, from the collected reports.
        truth: (k,) the shares simulated from: MLE*, in whole users where these are fixed.
        asked, done: simulated collections asked for, and done.
        errors: by metric ("mse" the sum over categories, "tv", "max"), (done, 4) in the order of ESTIMATORS,
            measured against ``truth``.
        largest: (done, 4) the largest studentised error of all categories.
        followed: categories whose studentised errors were kept.
        ratios: (4, done, members) those errors.
    """

    mechanism: RandomizedResponse
    users: Users
    n: int
    estimates: dict[str, Array]
    truth: Array
    asked: int
    done: int
    errors: dict[str, Array]
    largest: Array
    followed: Followed
    ratios: Array

    def interval(self, name: str, level: float = 0.95, simultaneous: bool = False) -> Interval:
        """Interval of one estimator for the share of each category, or of all at once.

        Args:
            name: "inv", "inv_n", "inv_p" or "mle_star".
            level: probability, between 0 and 1.
            simultaneous: by the largest studentised error of all categories.

        Returns:
            (k,) ends, cut to [0, 1] but for Inv.

        Raises:
            ValueError: naming the argument.
        """
        if name not in ESTIMATORS:
            raise ValueError(f"name must be one of {', '.join(ESTIMATORS)}, got {_validate.short(name)}")
        level = level_between(level)
        index, estimate = list(ESTIMATORS).index(name), self.estimates[name]
        factor: Array | float
        if simultaneous:
            factor = _quantile(self.largest[:, index], level)
        else:
            factor = self.followed.quantiles(self.ratios[index], level)
        half = factor * _deviation(estimate, self.n, self.mechanism, self.users)
        low, high = estimate - half, estimate + half
        if name != "inv":
            low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
        return Interval(low, high, level, simultaneous)


def bootstrap(
    counts: ArrayLike,
    mechanism: RandomizedResponse,
    replicates: int = 1000,
    *,
    users: Users = "fixed",
    seed: int = 0,
    progress: Progress | None = None,
) -> Bootstrap:
    """Repeat the collection with MLE* as the truth.

    O(k) time per repetition, and memory for at most 512 categories (`Followed`). Repetition i is the same
    whatever ``replicates`` is and whenever it stops.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response that produced them.
        replicates: how many repetitions, an integer >= 1.
        users: "fixed": the truth is that of these users, who report again; their numbers are N MLE* in whole
            users. "sampled": it is that of their population, from which others are drawn each time.
        seed: of the random streams, an integer >= 0.
        progress: called with the repetitions done, about every 50 ms; True asks to stop.

    Raises:
        ValueError: naming the argument.
    """
    checked = collected(counts, mechanism)
    replicates, seed = checked_plan(replicates, seed)
    check_users(users)
    n, k = int(checked.sum()), mechanism.k
    rows = checked[None]
    estimates = {
        name: rule.apply(rows, table_size(rows))[0] for name, rule in _rules(rows, mechanism).items()
    }
    mle = estimates["mle_star"]
    if users == "fixed":
        whole = sampling.whole_users(mle, n)
        truth, sampler = whole / n, same_users(whole, mechanism)
    else:
        truth, sampler = mle, new_users(mle, n, mechanism)
    followed = Followed.of(mle)
    cells = _Cells.of(truth)
    errors = {metric: np.empty((replicates, 4)) for metric in METRICS}
    largest = np.empty((replicates, 4))
    ratios = np.empty((4, replicates, followed.members.size))
    done = 0
    for block in simulate(sampler, k, replicates, streams.key(seed, Stream.BOOTSTRAP), progress):
        part = slice(done, done + len(block))
        reports, aims, weights = cells.reduce(block)
        some, some_aims = block[:, followed.members], truth[followed.members]
        for index, rule in enumerate(_rules(block, mechanism).values()):
            estimate = rule.at(reports)
            error = np.abs(estimate - aims)
            errors["mse"][part, index] = (error**2 * weights).sum(axis=-1)
            errors["tv"][part, index] = (error * weights).sum(axis=-1) / 2
            errors["max"][part, index] = error.max(axis=-1)
            error /= _deviation(estimate, n, mechanism, users)
            largest[part, index] = error.max(axis=-1)
            estimate = rule.at(some)
            ratios[index, part] = np.abs(estimate - some_aims) / _deviation(estimate, n, mechanism, users)
        done = part.stop
    errors = {metric: values[:done] for metric, values in errors.items()}
    return Bootstrap(
        mechanism, users, n, estimates, truth, replicates, done, errors, largest[:done], followed,
        ratios[:, :done],
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Followed:
    """Categories that are followed through every repetition, in groups of equal MLE*: they share a law.

    At most 256 groups, more of them among the large shares, and several categories of each where there are
    few groups, which sharpens their quantiles.

    Attributes:
        shares: (k,) MLE* of every category.
        values: (groups,) MLE* of each group, increasing.
        members: the categories, group after group.
        starts: (groups,) where each group begins among them.
    """

    shares: Array
    values: Array
    members: NDArray[np.intp]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, shares: Array) -> Followed:
        """Members of a group are spread over it: whole users can differ by one within it."""
        order = np.argsort(shares, kind="stable")
        edges = np.flatnonzero(np.diff(shares[order], prepend=-1.0, append=2.0))
        groups = edges.size - 1
        chosen = np.arange(groups)
        if groups > _GROUPS:
            chosen = groups - np.unique(np.rint(np.geomspace(1, groups, _GROUPS)).astype(np.intp))[::-1]
        most = _MEMBERS // chosen.size
        first, sizes = edges[chosen], np.minimum(edges[chosen + 1] - edges[chosen], most)
        members = [
            order[np.linspace(start, end - 1, size).astype(np.intp)]
            for start, end, size in zip(first, edges[chosen + 1], sizes, strict=True)
        ]
        return cls(shares, shares[order[first]], np.concatenate(members), np.cumsum(sizes) - sizes)

    def quantiles(self, ratios: Array, level: float) -> Array:
        """(k,) quantile of the studentised error of each category, from those of the members (done, members);
        interpolated between the groups."""
        of_groups = [_quantile(group, level) for group in np.split(ratios, self.starts[1:], axis=1)]
        result: Array = np.interp(self.shares, self.values, of_groups)
        return result


@dataclass(frozen=True, eq=False)
class _Cells:
    """The truth of every category, and its levels where a long row is better counted than gone through."""

    truth: Array
    levels: Array | None
    where: NDArray[np.intp] | None

    @classmethod
    def of(cls, truth: Array) -> _Cells:
        if truth.size < LONG_ROW:
            return cls(truth, None, None)
        levels, where = np.unique(truth, return_inverse=True)
        return cls(truth, levels, where)

    def reduce(self, block: Counts) -> tuple[Rows, Array, Array]:
        """Reports, truths and how many categories have both: each category once, or each distinct pair of a
        long row."""
        if self.levels is not None and self.where is not None:
            counts = Levels.of(block[0])
            cells = counts.values.size * self.levels.size
            if cells <= 2 * block.size:
                pairs = np.bincount(self.where * counts.values.size + counts.where, minlength=cells)
                seen = np.flatnonzero(pairs)
                level, count = np.divmod(seen, counts.values.size)
                return counts.values[count][None], self.levels[level], pairs[seen].astype(np.float64)
        return block, self.truth, np.ones(1)


def _rules(rows: Counts, mechanism: RandomizedResponse) -> dict[str, Rule]:
    levels = profile(rows, table_size(rows))
    return {name: make(levels, mechanism) for name, make in RULES.items()}


def _deviation(estimate: Array, n: int, mechanism: RandomizedResponse, users: Users) -> Array:
    inside = np.clip(estimate, 0.0, 1.0)
    # Where q underflows (epsilon beyond 745) it would be 0, and 0/0 the ratio.
    deviation: Array = np.maximum(np.sqrt(variance_at(inside, n, mechanism, users)), 1e-300)
    return deviation


def _quantile(values: Array, level: float) -> float:
    """At rank level (number + 1), which is where the next value falls below with that probability."""
    return float(np.quantile(values, level, method="weibull"))
