"""Names that got too few reports to be categories: under k-RR noise alone brings each category about N q of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rr_core import _validate
from rr_core.mechanism import RandomizedResponse

CHANCE = 0.001


@dataclass(frozen=True, eq=False)
class Strays:
    """Names with far fewer reports than a category would have.

    Attributes:
        below: (m,) whether a name is one of them.
        level: N q, the expected reports of an empty category, with K and N of the other names; of all names when the
            strays are not outweighed.
        together: reports of all strays.
    """

    below: NDArray[np.bool_]
    level: float
    together: int

    @property
    def outweighed(self) -> bool:
        """Whether the strays together have fewer reports than one empty category would get.

        If they have more, an epsilon larger than the stated one explains them at least as well: then all empty
        categories are that low.
        """
        return self.together < self.level


def strays(
    counts: ArrayLike,
    mechanism: Callable[[int], RandomizedResponse],
    k: int | None = None,
    chance: float = CHANCE,
) -> Strays:
    """Find names that can hardly be categories of k-RR.

    A category gets a sum of N independent reports, each with probability q or p >= q: at least Binomial(N, q), in
    law. A name is a stray when it has less than half of N q, and so few that Binomial(N, q) is as small with
    probability at most ``chance`` divided by the number of names (Bonferroni): of a collection without strays some
    name is called one with probability at most ``chance``, if epsilon is as stated or smaller. Strays found leave N,
    and K too if it is not known; then q grows, and the search goes on until it finds no more, or too many to be
    outweighed.

    Args:
        counts: (m,) reports of each name, whole numbers >= 0, in any order.
        mechanism: the randomized response for a number of categories; may raise ValueError where there is none.
        k: number of categories, if it is known; otherwise it is the number of names that are no strays.
        chance: of a false alarm in a collection, between 0 and 1.

    Returns:
        Never fewer than two names that are no strays. O(m log m).

    Raises:
        ValueError: counts that are negative or not whole, k below 2.

    >>> found = strays([500, 300, 200, 3], lambda k: RandomizedResponse(k, 1.0))
    >>> found.below.tolist(), round(found.level)
    ([False, False, False, True], 212)
    """
    counts = np.asarray(counts)
    if counts.ndim != 1 or (counts.size and (counts.dtype.kind not in "iu" or counts.min() < 0)):
        raise ValueError(f"counts must be whole numbers >= 0 in one dimension, got {counts!r:.60}")
    if counts.size < 2:
        return Strays(np.zeros(counts.size, dtype=bool), 0.0, 0)
    if k is not None:
        k = _validate.integer("k", k, 2)
    # Strays are the names with the fewest reports: a first part of the distinct counts.
    values, multiplicities = np.unique(counts, return_counts=True)
    names = np.append(0, np.cumsum(multiplicities))
    reports = np.append(0, np.cumsum(values * multiplicities))
    cut, level = 0, 0.0
    while True:
        try:
            q = mechanism(counts.size - int(names[cut]) if k is None else k).q
        except ValueError:
            break
        n = int(reports[-1] - reports[cut])
        level = n * q
        rare = stats.binom.cdf(values, n, q) * counts.size <= chance
        found = int(np.count_nonzero(rare & (values < level / 2)))
        found = min(found, int(np.searchsorted(names, counts.size - 2, side="right")) - 1)
        if found <= cut or (cut and reports[found] >= level):
            break
        cut = found
        if reports[cut] >= level:
            break
    below = counts < values[cut] if cut < values.size else np.zeros(counts.size, dtype=bool)
    return Strays(below, level, int(reports[cut]))
