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
        counts: (m,) counts tried, increasing, from 0 to the category's own.
        place: how the repairs lie at each, arrays of length m.
        kept: (m, 3) whether InvP, MLE*, InvN give the category a positive share.
    """

    counts: Counts
    place: Collinearity
    kept: NDArray[np.bool_]

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

    Counts are tried evenly over the whole range, and more closely where the estimators disagree about keeping
    the category. All are worked on together, on the distinct values of the histogram: O(levels) for each,
    after one pass over the k categories.

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
    pushed = _Pushed(_others(levels, own, mechanism, level), own)
    how_many = int(np.clip(_CELLS // (4 * len(pushed.others)), _FEWEST, _EVENLY))
    tried = _evenly(0, own, how_many)
    for _ in range(_ZOOMS):
        span = _disputed(tried, pushed.kept(tried, mechanism))
        tried = np.union1d(tried, _evenly(*span, how_many))
    return PushDown(tried, of_levels(pushed.levels(tried), mechanism), pushed.kept(tried, mechanism))


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
    """All but the category: (levels, 2) values and multiplicities, decreasing; and the category's own count."""

    others: Array
    own: int

    def levels(self, tried: Counts) -> Profile:
        """The profile with each count of the category: (m, levels + 2)."""
        top, rest = self.others[0, 0], np.vstack([[0.0, 1.0], self.others])
        rest[1, 1] -= 1
        taken = self.own - tried
        # The most reported category goes from ``top`` to ``top + taken`` and stays the largest of the others.
        place = np.where(tried > top + taken, 0, 1 + np.searchsorted(-self.others[:, 0], -tried))[:, None]
        columns = np.arange(len(rest) + 1)
        source = np.minimum(columns - (columns > place), len(rest) - 1)
        values, multiplicities = rest[source, 0], rest[source, 1]
        values[source == 0] = np.repeat(top + taken, (source == 0).sum(axis=1))
        np.put_along_axis(values, place, tried[:, None].astype(np.float64), axis=1)
        np.put_along_axis(multiplicities, place, 1.0, axis=1)
        return Profile(values, multiplicities)

    def kept(self, tried: Counts, mechanism: RandomizedResponse) -> NDArray[np.bool_]:
        levels = self.levels(tried)
        cuts = [make(levels, mechanism).cut for make in (inv_p_rule, mle_rule, inv_n_rule)]
        return np.stack([tried >= cut for cut in cuts], axis=-1)


def _others(levels: Profile, own: int, mechanism: RandomizedResponse, level: bool) -> Array:
    """Values and multiplicities with one category of value ``own`` taken out; see `push_down` for ``level``."""
    values, multiplicities = levels.values[0].copy(), levels.multiplicities[0].copy()
    multiplicities[int(np.argmax(values == own))] -= 1
    dropped = values < inv_p_rule(levels, mechanism).cut[0]
    if level and dropped.any():
        values[dropped] = values[dropped] @ multiplicities[dropped] / multiplicities[dropped].sum()
    # A level that nobody is left on would still count as the smallest value.
    left: Array = np.stack([values, multiplicities], axis=-1)[multiplicities > 0]
    return left


def _disputed(tried: Counts, kept: NDArray[np.bool_]) -> tuple[int, int]:
    """The range of counts that ends where all three keep the category and begins where none does."""
    all_drop, all_keep = ~kept.any(axis=-1), kept.all(axis=-1)
    low = tried[all_drop].max() if all_drop.any() else tried[0]
    high = tried[all_keep].min() if all_keep.any() else tried[-1]
    return int(low), int(high)


def _evenly(low: int, high: int, how_many: int) -> Counts:
    return np.unique(np.round(np.linspace(low, high, how_many)).astype(np.int64))
