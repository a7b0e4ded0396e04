"""Views of k categories: some of them as bars, or all of them as a curve over their rank, averaged in bins.

A browser takes a few hundred bars or a couple of thousand points; k goes up to 1.5 million.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from rr_core._validate import Array
from rr_core.figures.style import Trace, axis, bar_trace, mark_trace
from rr_core.words import phrases

MOST_BARS = 200
LONGEST_SEARCH = 200  # characters that `find` looks at
_MOST_BINS = 260
_MOST_TICKS, _MOST_NUMBERS = 26, 16
_ROUND_STEPS = (1, 2, 5, 10, 20)  # up to 20 × 16 categories: more than MOST_BARS
_LONGEST_TICK = 18
Order = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Bars:
    """Some categories (m,), one by one, in drawing order, with the title of their axis."""

    categories: Order
    labels: Sequence[str] | None
    title: str
    is_curve: ClassVar[bool] = False
    hovermode: ClassVar[str] = "closest"

    @cached_property
    def names(self) -> NDArray[np.str_]:
        """Display names; an array, because Plotly copies lists item by item."""
        return np.array(phrases.names(self.labels, self.categories))

    @property
    def x(self) -> NDArray[np.int32]:
        """Positions, not names: two names cut to the same text must stay two bars."""
        return np.arange(self.categories.size, dtype=np.int32)

    def pick(self, values: ArrayLike) -> NDArray[Any]:
        return np.asarray(values)[self.categories]

    def bars(self, name: str, y: Any, hover: str, **more: Any) -> Trace:
        """A bar for each category; ``hover`` follows its name under the mouse."""
        return {**bar_trace(name, self.x, y, f"%{{customdata}}<br>{hover}", customdata=self.names), **more}

    def marks(self, name: str, y: Any, hover: str, **more: Any) -> Trace:
        """A mark for each category, like `bars`."""
        return {**mark_trace(name, self.x, y, f"%{{customdata}}<br>{hover}", customdata=self.names), **more}

    def from_levels(self, per_level: Array, level_of: Order) -> Array:
        """(..., m) values of the drawn categories, from (..., levels) values per level."""
        picked: Array = per_level[..., level_of[self.categories]]
        return picked

    def axis(self) -> dict[str, Any]:
        # Distance between ticks, in categories, so that the names or numbers fit.
        wanted = self.categories.size / (_MOST_TICKS if self.labels is not None else _MOST_NUMBERS)
        stride = next(step for step in _ROUND_STEPS if step >= wanted)
        shown = self.categories[::stride]
        return axis(
            self.title,
            tickmode="array",
            tickvals=self.x[::stride],
            ticktext=phrases.names(self.labels, shown, _LONGEST_TICK),
            range=[-0.6, self.categories.size - 0.4],
            showgrid=False,
            ticklabeloverflow="allow",
            automargin=self.labels is not None,  # names may be long and stand upright
        )


@dataclass(frozen=True, eq=False)
class Curve:
    """All categories ordered, (k,) from first rank to last, cut into bins of neighbouring ranks, from their first
    positions (b,), that widen down the tail."""

    order: Order
    starts: Order
    title: str
    is_curve: ClassVar[bool] = True
    # One box for all lines at a rank: no text has to travel with every point.
    hovermode: ClassVar[str] = "x unified"

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        return np.diff(self.starts, append=self.order.size)

    @cached_property
    def x(self) -> NDArray[np.float32]:
        """Geometric middle of each bin's ranks, counted from 1."""
        first = self.starts + 1
        return np.sqrt(first * (self.starts + self.sizes)).astype(np.float32)

    def line(self, name: str, y: ArrayLike, hovertemplate: str, **line: Any) -> dict[str, Any]:
        """A line trace with one value per bin."""
        return {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": self.x,
            "y": np.asarray(y, dtype=np.float64),
            "line": line,
            "hovertemplate": hovertemplate,
        }

    def low(self, ordered: NDArray[Any]) -> NDArray[Any]:
        """Smallest value in each bin, of values already in ``order``."""
        return np.minimum.reduceat(ordered, self.starts)

    def high(self, ordered: NDArray[Any]) -> NDArray[Any]:
        return np.maximum.reduceat(ordered, self.starts)

    def mean(self, ordered: NDArray[Any]) -> NDArray[np.float64]:
        total: NDArray[np.float64] = np.add.reduceat(ordered, self.starts, dtype=np.float64) / self.sizes
        return total

    def from_levels(self, per_level: Array, level_of: Order) -> Array:
        """(..., bins) means over the categories of each bin, from (..., levels) values per level."""
        bin_of = np.repeat(np.arange(self.starts.size), self.sizes)
        shape = (self.starts.size, per_level.shape[-1])
        # Sparse: bins times levels may be ten million, while no category is in more than one bin.
        weights = scipy.sparse.coo_array(
            (1 / self.sizes[bin_of], (bin_of, level_of[self.order])), shape
        ).tocsr()
        means: Array = (weights @ per_level.T).T
        return means

    def axis(self) -> dict[str, Any]:
        top = float(np.log10(self.order.size))
        return axis(
            self.title,
            type="log",
            range=[-0.03, top + 0.03],
            dtick=1,
            tickformat=",d",
            unifiedhovertitle={"text": "around rank %{x:,.0f}"},
        )


View = Bars | Curve


def rank_order(values: ArrayLike) -> Order:
    """Categories from the largest value to the smallest, ties in their own order."""
    return np.argsort(-np.asarray(values), kind="stable")


def curve(order: Order, title: str) -> Curve:
    """All categories, in at most a few hundred bins: every rank at first, wider and wider bins after."""
    k = order.size
    edges = np.unique(np.floor(np.geomspace(1, k + 1, _MOST_BINS)).astype(np.intp)) - 1
    return Curve(order, edges[edges < k], title)


def bars(order: Order, labels: Sequence[str] | None, title: str, most: int = MOST_BARS) -> Bars:
    """The first ``most`` categories of an order."""
    return Bars(order[:most], labels, title)


def natural_order(k: int) -> Order:
    """Categories in their own order, 0..k-1."""
    return np.arange(k)


def find(wanted: str, labels: Sequence[str] | None, k: int, most: int = MOST_BARS) -> Order:
    """Categories named by one of the comma-separated words or numbers, at most ``most``, whole matches first."""
    parts = wanted[:LONGEST_SEARCH].split(",")
    words = list(dict.fromkeys(part.strip().casefold() for part in parts if part.strip()))
    if labels is None:
        whole = [int(word) for word in words if word.isdecimal()]  # to isdigit "²" is a number
        numbers = [number - 1 for number in whole if 1 <= number <= k]
        return np.array(list(dict.fromkeys(numbers))[:most], dtype=np.intp)
    if not words:
        return np.array([], dtype=np.intp)
    # One pass over the names, perhaps a million, for all words together; a name counts for the first word that is in it.
    any_word = re.compile("|".join(map(re.escape, words)))
    equal: dict[str, list[int]] = {word: [] for word in words}
    partial: dict[str, list[int]] = {word: [] for word in words}
    for i, label in enumerate(labels):
        folded = label.casefold()
        if any_word.search(folded):
            found = equal if folded in equal else partial
            found[folded if found is equal else next(word for word in words if word in folded)].append(i)
    in_order = chain(*equal.values(), *partial.values())
    return np.fromiter(islice(in_order, most), dtype=np.intp)


def with_categories(order: Order, wanted: ArrayLike) -> Order:
    """The order, with every wanted category in it: missing ones replace the last entries that are not wanted. Fewer
    categories may be wanted than the order has."""
    missing = np.setdiff1d(wanted, order)
    if not missing.size:
        return order
    spare = np.flatnonzero(~np.isin(order, wanted))[-missing.size :]
    return np.append(np.delete(order, spare), missing)
