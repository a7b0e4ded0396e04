"""One category's reports taken away one by one: when a further zero appears, MLE* leaves the line."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.collinearity import Collinearity, of_levels
from rr_core.estimators import inv_n_rule, inv_p_rule, mle_rule, rule
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, profile, table_size

Counts = NDArray[np.int64]

_EVENLY = 61  # counts over the whole range, and again in the part where supports differ
_CELLS = 1_000_000  # levels times counts worked on at once; fewer counts when a histogram has many levels
_FEWEST = 12
_ZOOMS = 2


@dataclass(frozen=True, eq=False)
class PushDown:
    """The three repairs of a histogram in which one category has several counts.

    Attributes:
        counts: (m,) counts tried, increasing, from 0 to the category's own; where `off_line` or ``kept`` changes, the
            two counts next to the change are among them.
        place: how the repairs lie at each, arrays of length m.
        kept: (m, 3) whether InvP, MLE*, InvN give the category a positive share.
    """

    counts: Counts
    place: Collinearity
    kept: NDArray[np.bool_]

    @property
    def off_line(self) -> list[tuple[int, int]]:
        """The stretches (first, last count) on which MLE* is off the line from InvP to InvN, in increasing order."""
        off = ~self.place.on_line
        edges = np.flatnonzero(np.diff(np.concatenate([[False], off, [False]]).astype(np.int8)))
        return [(int(self.counts[a]), int(self.counts[b - 1])) for a, b in edges.reshape(-1, 2)]

    def with_more(self, other: PushDown) -> PushDown:
        """This and the same for other counts."""
        counts = np.concatenate([self.counts, other.counts])
        order = np.argsort(counts)
        joined: dict[str, Any] = {
            field.name: np.concatenate([getattr(one.place, field.name) for one in (self, other)])[order]
            for field in fields(self.place)
        }
        return PushDown(counts[order], Collinearity(**joined), np.concatenate([self.kept, other.kept])[order])

    def at(self, which: int) -> Collinearity:
        """How the repairs lie at one of the counts, as plain numbers."""
        single: dict[str, Any] = {
            field.name: getattr(self.place, field.name)[which] for field in fields(self.place)
        }
        return Collinearity(**single)


def push_down(
    histogram: ArrayLike, category: int, mechanism: RandomizedResponse, *, level: bool = False
) -> PushDown:
    """Lower one category's count from what it is to zero; the most reported other category gets what is taken, so
    that N, and with it what every other category has to exceed, stays the same.

    Counts are tried evenly over the whole range, more closely where the estimators disagree about keeping the
    category, and by bisection to either side of every count at which MLE* leaves the line or comes back, or a
    repair begins to keep the category. All are worked on together, on the distinct values of the histogram:
    O(levels) for each, after one pass over the k categories.

    Args:
        histogram: (k,) counts, whole numbers.
        category: which one, from 0; it must have reports.
        mechanism: the randomized response that produced the reports.
        level: first spread the reports of the categories that InvP drops evenly among them. All of them are then
            below q, so that the three supports are equal; InvP stays where it is.

    Raises:
        ValueError: naming the argument.
    """
    row = _validate.histogram(histogram, mechanism.k)
    if row.ndim != 1 or row.dtype.kind not in "iu":
        raise ValueError(f"histogram must be (k,) whole counts, got {row.dtype} of shape {row.shape}")
    category = _validate.integer("category", category, 0, mechanism.k - 1)
    own = int(row[category])
    if own == 0:
        raise ValueError(f"category must be one that has reports, got {category}")
    levels = profile(row[None], table_size(row[None]))
    pushed = _others(levels, own, mechanism, level)
    how_many = int(np.clip(_CELLS // (4 * (len(pushed.rest) + 1)), _FEWEST, _EVENLY))
    tried = np.union1d(_evenly(0, own, how_many), pushed.ties)
    for _ in range(_ZOOMS):
        span = _disputed(tried, pushed.kept(tried, mechanism))
        tried = np.union1d(tried, _evenly(*span, how_many))
    found = pushed.tried(tried, mechanism)
    while (between := _unsettled(found)).size:
        found = found.with_more(pushed.tried(between, mechanism))
    return found


def candidates(histogram: ArrayLike, mechanism: RandomizedResponse, most: int = 30) -> NDArray[np.intp]:
    """Categories worth pushing down: kept by all three repairs, fewest reports first, at most ``most``.

    Args:
        histogram: (k,) counts.
        mechanism: the randomized response that produced the reports.
        most: how many at most.
    """
    row = _validate.histogram(histogram, mechanism.k)
    kept = np.flatnonzero(row >= rule(row, mechanism, inv_p_rule).cut[0])
    if kept.size > most:
        limit = np.partition(row[kept], most - 1)[most - 1]
        kept = kept[row[kept] <= limit]
    chosen: NDArray[np.intp] = kept[np.argsort(row[kept], kind="stable")][:most]
    return chosen


@dataclass(frozen=True, eq=False)
class _Pushed:
    """A histogram without the category, and the category's own count.

    Attributes:
        top: reports of the most reported other category.
        rest: (levels, 2) values and multiplicities of all the others, decreasing.
        own: the category's count.
    """

    top: float
    rest: Array
    own: int

    def levels(self, tried: Counts) -> Profile:
        """The profile with each count of the category: (m, levels + 2)."""
        risen = self.top + self.own - tried  # stays the largest of the others
        place = np.where(tried > risen, 0, 1 + np.searchsorted(-self.rest[:, 0], -tried))[:, None]
        columns = np.arange(len(self.rest) + 2)
        padded = self.rest if len(self.rest) else np.ones((1, 2))  # with two categories there is no rest
        source = np.clip(columns - (columns > place) - 1, 0, len(padded) - 1)
        values, multiplicities = padded[source, 0], padded[source, 1]
        for column, value in ((np.where(place > 0, 0, 1), risen[:, None]), (place, tried[:, None])):
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

    def tried(self, counts: Counts, mechanism: RandomizedResponse) -> PushDown:
        return PushDown(counts, of_levels(self.levels(counts), mechanism), self.kept(counts, mechanism))

    def kept(self, tried: Counts, mechanism: RandomizedResponse) -> NDArray[np.bool_]:
        levels = self.levels(tried)
        cuts = [make(levels, mechanism).cut for make in (inv_p_rule, mle_rule, inv_n_rule)]
        return np.stack([tried >= cut for cut in cuts], axis=-1)


def _others(levels: Profile, own: int, mechanism: RandomizedResponse, level: bool) -> _Pushed:
    """One category of value ``own`` taken out, then the largest of the others; see `push_down` for ``level``."""
    values, multiplicities = levels.values[0].copy(), levels.multiplicities[0].copy()
    multiplicities[int(np.argmax(values == own))] -= 1
    dropped = values < inv_p_rule(levels, mechanism).cut[0]
    if level and dropped.any():
        values[dropped] = values[dropped] @ multiplicities[dropped] / multiplicities[dropped].sum()
    top = int(np.argmax(multiplicities > 0))
    multiplicities[top] -= 1
    # A level that nobody is left on would still count as the smallest value.
    return _Pushed(values[top], np.stack([values, multiplicities], axis=-1)[multiplicities > 0], own)


def _disputed(tried: Counts, kept: NDArray[np.bool_]) -> tuple[int, int]:
    """The range of counts that ends where all three keep the category and begins where none does."""
    all_drop, all_keep = ~kept.any(axis=-1), kept.all(axis=-1)
    low = tried[all_drop].max() if all_drop.any() else tried[0]
    high = tried[all_keep].min() if all_keep.any() else tried[-1]
    return int(low), int(high)


def _unsettled(found: PushDown) -> Counts:
    """Counts halfway between two tried ones between which something may change.

    With every report that is taken away supports can only lose categories: while a repair keeps the category its
    threshold for the others stays, and once it does not the threshold rises. (While the category is the largest of
    all it is the other way round; `_Pushed.ties` parts the two.) So nothing changes between two counts with the same
    supports; nor between two off the line with the same support of InvN, since InvP's is smaller all the way.
    """
    counts, place = found.counts, found.place
    same = (place.supports[1:] == place.supports[:-1]).all(axis=-1)
    off = ~place.on_line
    off_throughout = off[1:] & off[:-1] & (place.supports[1:, 2] == place.supports[:-1, 2])
    settled = (same | off_throughout) & (found.kept[1:] == found.kept[:-1]).all(axis=-1)
    open_ = ~settled & (np.diff(counts) > 1)
    middles: Counts = (counts[:-1][open_] + counts[1:][open_]) // 2
    return middles


def _evenly(low: int, high: int, how_many: int) -> Counts:
    return np.unique(np.round(np.linspace(low, high, how_many)).astype(np.int64))
