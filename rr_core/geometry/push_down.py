"""Lowering the count of one category: when a further estimate becomes zero, MLE* leaves the line of the three repairs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.collinearity import Collinearity, profile_collinearity
from rr_core.estimators import inv_n_rule, inv_p_rule, mle_rule, rule
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, as_rows, profile, table_size
from rr_core.sampling import Counts

_MOST_COUNTS = 61  # evenly over the whole range, and again in the part where supports differ
_FEWEST_COUNTS = 12
_MAX_CELLS = 1_000_000  # levels times counts worked on at once; fewer counts when a histogram has many levels
_ZOOMS = 2


@dataclass(frozen=True, eq=False)
class PushDown:
    """The three repairs of a histogram in which one category has several counts.

    Attributes:
        counts: (m,) counts tried, increasing, from 0 to the category's own; where `off_line_ranges` or ``positive``
            changes, the two counts next to the change are among them.
        collinearity: how the repairs lie at each count; its fields are arrays of length m.
        positive: (m, 3) whether InvP, MLE*, InvN give the category a positive share.
    """

    counts: Counts
    collinearity: Collinearity
    positive: NDArray[np.bool_]

    @property
    def off_line_ranges(self) -> list[tuple[int, int]]:
        """The ranges (first, last count) in which MLE* is off the line from InvP to InvN, in increasing order."""
        off = ~self.collinearity.on_line
        edges = np.flatnonzero(np.diff(np.concatenate([[False], off, [False]]).astype(np.int8)))
        return [(int(self.counts[a]), int(self.counts[b - 1])) for a, b in edges.reshape(-1, 2)]

    def merged_with(self, other: PushDown) -> PushDown:
        """The same histogram with the counts of both."""
        counts = np.concatenate([self.counts, other.counts])
        order = np.argsort(counts)
        joined: dict[str, Any] = {
            field.name: np.concatenate([getattr(one.collinearity, field.name) for one in (self, other)])[
                order
            ]
            for field in fields(self.collinearity)
        }
        return PushDown(
            counts[order], Collinearity(**joined), np.concatenate([self.positive, other.positive])[order]
        )

    def collinearity_at(self, index: int) -> Collinearity:
        """How the repairs lie at ``counts[index]``; its fields are plain numbers."""
        index = _validate.integer("index", index, -len(self.counts), len(self.counts) - 1)
        single: dict[str, Any] = {
            field.name: getattr(self.collinearity, field.name)[index] for field in fields(self.collinearity)
        }
        return Collinearity(**single)


def push_down(
    histogram: ArrayLike, category: int, mechanism: RandomizedResponse, *, equalize: bool = False
) -> PushDown:
    """Lower one category's count from what it is to zero; the most reported other category gets what is taken, so
    that N, and with it what every other category has to exceed, stays the same.

    Counts are tried evenly over the whole range, more closely where the estimators disagree about keeping the
    category, and by bisection to either side of every count at which MLE* leaves the line or comes back, or a
    repair begins to keep the category. All are worked on together, on the distinct values of the histogram:
    O(levels) for each, after one pass over the k categories.

    Args:
        histogram: (k,) counts, whole numbers with a total of at most 2^53.
        category: which one, from 0; it must have reports.
        mechanism: the randomized response that produced the reports.
        equalize: first spread the reports of the categories that InvP drops evenly among them. All of them are then
            below q, so that the three supports are equal; InvP stays where it is.

    Raises:
        ValueError: naming the argument.

    >>> pushed = push_down([50, 30, 20, 4], 2, RandomizedResponse(4, 1.0))
    >>> pushed.off_line_ranges
    [(19, 20)]
    """
    row = sampling.one_collection("histogram", histogram, mechanism.k)
    if (total := row.sum(dtype=np.float64)) > 2**53:
        raise ValueError(f"histogram must be (k,) whole counts with a total <= 2^53, got {total:g}")
    category = _validate.integer("category", category, 0, mechanism.k - 1)
    own = int(row[category])
    if own == 0:
        raise ValueError(f"category must be one that has reports, got {category}")
    levels = profile(row[None], table_size(row[None]))
    others = _without_category(levels, own, mechanism, equalize)
    n_counts = int(np.clip(_MAX_CELLS // (4 * (len(others.rest) + 1)), _FEWEST_COUNTS, _MOST_COUNTS))
    counts = np.union1d(_spaced(0, own, n_counts), others.ties)
    for _ in range(_ZOOMS):
        # From where no repair keeps the category to where all three do.
        positive = others.positive(counts, mechanism)
        low = counts[~positive.any(axis=-1)].max(initial=counts[0])
        high = counts[positive.all(axis=-1)].min(initial=counts[-1])
        counts = np.union1d(counts, _spaced(int(low), int(high), n_counts))
    result = others.at_counts(counts, mechanism)
    while (between := _bisection_counts(result)).size:
        result = result.merged_with(others.at_counts(between, mechanism))
    return result


def push_down_candidates(
    histogram: ArrayLike, mechanism: RandomizedResponse, most: int = 30
) -> NDArray[np.intp]:
    """(m,) categories worth pushing down, m <= ``most``: those that all three repairs keep, fewest reports first.

    Args:
        histogram: (k,) counts.
        mechanism: the randomized response that produced the reports.
        most: how many categories at most, an integer >= 1.

    Raises:
        ValueError: naming the argument.

    >>> push_down_candidates([9, 1, 0, 8], RandomizedResponse(4, 1.0)).tolist()
    [3, 0]
    """
    row = _validate.one_row("histogram", _validate.histogram(histogram, mechanism.k))
    most = _validate.integer("most", most, 1)
    row = as_rows(row)[0]
    support = np.flatnonzero(row >= rule(row, mechanism, inv_p_rule).cut[0])
    if support.size > most:
        limit = np.partition(row[support], most - 1)[most - 1]
        support = support[row[support] <= limit]
    fewest: NDArray[np.intp] = support[np.argsort(row[support], kind="stable")][:most]
    return fewest


@dataclass(frozen=True, eq=False)
class _WithoutCategory:
    """A histogram without the category that is pushed down: the count of the most reported other one, (levels, 2)
    values and multiplicities of the rest, decreasing, and the category's own count."""

    top: float
    rest: Array
    own: int

    def levels(self, counts: Counts) -> Profile:
        """The profile with each of the (m,) counts of the category: (m, levels + 2)."""
        risen = self.top + self.own - counts  # stays the largest of the others
        place = np.where(counts > risen, 0, 1 + np.searchsorted(-self.rest[:, 0], -counts))[:, None]
        columns = np.arange(len(self.rest) + 2)
        padded = self.rest if len(self.rest) else np.ones((1, 2))  # with two categories there is no rest
        source = np.clip(columns - (columns > place) - 1, 0, len(padded) - 1)
        values, multiplicities = padded[source, 0], padded[source, 1]
        for column, value in ((np.where(place > 0, 0, 1), risen[:, None]), (place, counts[:, None])):
            np.put_along_axis(values, column, value.astype(np.float64), axis=1)
            np.put_along_axis(multiplicities, column, 1.0, axis=1)
        return Profile(values, multiplicities)

    @property
    def ties(self) -> Counts:
        """Counts at and beside which two of the largest three may be equal: the category and the most reported other
        one halfway, and either of them and the next. There the repairs may be on one line whatever they keep; and
        below halfway their supports change in the other order."""
        levels = np.array([self.own, (self.top + self.own) / 2, *self.rest[:1, 0]])
        near = np.unique((levels[:, None] + np.arange(-1, 2)).round().astype(np.int64))
        return near[(near >= 0) & (near <= self.own)]

    def at_counts(self, counts: Counts, mechanism: RandomizedResponse) -> PushDown:
        """The repairs with each of the (m,) counts of the category."""
        return PushDown(
            counts, profile_collinearity(self.levels(counts), mechanism), self.positive(counts, mechanism)
        )

    def positive(self, counts: Counts, mechanism: RandomizedResponse) -> NDArray[np.bool_]:
        """(m, 3) as in `PushDown`."""
        levels = self.levels(counts)
        cuts = [make(levels, mechanism).cut for make in (inv_p_rule, mle_rule, inv_n_rule)]
        return np.stack([counts >= cut for cut in cuts], axis=-1)


def _without_category(
    levels: Profile, own: int, mechanism: RandomizedResponse, equalize: bool
) -> _WithoutCategory:
    """One category of value ``own`` taken out, then the largest of the others; see `push_down` for ``equalize``."""
    values, multiplicities = levels.values[0].copy(), levels.multiplicities[0].copy()
    multiplicities[int(np.argmax(values == own))] -= 1
    dropped = (values < inv_p_rule(levels, mechanism).cut[0]) & (multiplicities > 0)
    if equalize and dropped.any():
        values[dropped] = values[dropped] @ multiplicities[dropped] / multiplicities[dropped].sum()
    top = int(np.argmax(multiplicities > 0))
    multiplicities[top] -= 1
    # A level that nobody is left on would still count as the smallest value.
    return _WithoutCategory(values[top], np.stack([values, multiplicities], axis=-1)[multiplicities > 0], own)


def _bisection_counts(result: PushDown) -> Counts:
    """Counts halfway between two neighbouring ones between which something may change.

    With every report that is taken away supports can only lose categories: while a repair keeps the category its
    threshold for the others stays, and once it does not the threshold rises. (While the category is the largest of
    all it is the other way round; `_WithoutCategory.ties` parts the two.) So nothing changes between two counts with the
    same supports; nor between two off the line with the same support of InvN, since InvP's is smaller all the way.
    """
    counts, supports, positive = result.counts, result.collinearity.supports, result.positive
    same = (supports[1:] == supports[:-1]).all(axis=-1)
    off = ~result.collinearity.on_line
    off_throughout = off[1:] & off[:-1] & (supports[1:, 2] == supports[:-1, 2])
    settled = (same | off_throughout) & (positive[1:] == positive[:-1]).all(axis=-1)
    may_change = ~settled & (np.diff(counts) > 1)
    middles: Counts = (counts[:-1][may_change] + counts[1:][may_change]) // 2
    return middles


def _spaced(low: int, high: int, n_counts: int) -> Counts:
    return np.unique(np.round(np.linspace(low, high, n_counts)).astype(np.int64))
