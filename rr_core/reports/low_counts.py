"""Categories and names with fewer reports than the noise of randomized response alone would bring them.

Even a category that nobody has gets Binomial(N, q) reports. `floor` compares the least reported categories, rank by
rank, with that law; `strays` finds names in a file that are hardly categories at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate, sampling
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.intervals import checked_counts
from rr_core.streams import Stream, generator

_MOST_RANKS = 240
_DRAWS = 5000  # of all ranks together, to find what each may have
STRAY_CHANCE = 0.001  # of calling some name of a collection without strays a stray


@dataclass(frozen=True, eq=False)
class Floor:
    """The least reported categories compared with what pure noise would give them.

    Attributes:
        level: N q, the reports expected of a category that nobody has.
        ranks: (m,) ranks from the least reported, 1 first.
        reports: (m,) reports of the category with that rank.
        lowest: (m,) the largest number of reports that is too few for that rank; -1 where no number is.
        k: number of categories, of which the ranks are the less reported ones.
        chance: the probability, about, that any of these ranks gets too few when all categories are empty, and at
            most.
    """

    level: float
    ranks: NDArray[np.int64]
    reports: NDArray[np.int64]
    lowest: NDArray[np.int64]
    k: int
    chance: float

    @property
    def too_few(self) -> int:
        """How many of the ranks hold fewer reports than noise alone explains."""
        return int((self.reports <= self.lowest).sum())


def floor(counts: ArrayLike, mechanism: RandomizedResponse, chance: float = 0.05) -> Floor:
    """Compare the lower half of the categories, by reports, with the floor of randomized response.

    The j-th smallest of k independent Binomial(N, q) counts is at most x with probability I_F(x)(j, k - j + 1), where
    F is their distribution function. Too few is what has, rank by rank, at most one and the same probability, chosen so
    that any rank has too few with probability ``chance``: at 1% for each rank alone, some rank had too few in 5% to 8%
    of collections. (Counts of one collection are slightly negatively correlated, which changes this little.)

    Args:
        counts: (k,) reports per category, whole numbers with a positive total.
        mechanism: the randomized response as it is stated to be.
        chance: probability that any rank has too few, between 0 and 1.

    Raises:
        ValueError: naming the argument.

    >>> found = floor([500, 300, 200, 3], RandomizedResponse(4, 1.0))
    >>> round(found.level), found.too_few
    (175, 1)
    """
    reports, chance = checked_counts(counts, mechanism.k), _validate.fraction("chance", chance)
    k, n = mechanism.k, int(reports.sum())
    half = max(k // 2, min(k, 10))
    ranks = np.unique(np.round(np.geomspace(1, half, _MOST_RANKS)).astype(np.int64))
    least = np.sort(np.partition(reports, half - 1)[:half])
    tail = special.betaincinv(ranks, k - ranks + 1, _rank_probability(tuple(ranks.tolist()), k, chance))
    # ppf gives the smallest x with F(x) >= tail; the largest with F(x) <= tail is that one or the one before.
    nearest = scipy.stats.binom.ppf(tail, n, mechanism.q)
    fits = scipy.stats.binom.cdf(nearest, n, mechanism.q) <= tail
    lowest = np.where(fits, nearest, nearest - 1).astype(np.int64)
    return Floor(n * mechanism.q, ranks, least[ranks - 1], lowest, k, chance)


@lru_cache(maxsize=32)
def _rank_probability(ranks: tuple[int, ...], k: int, chance: float) -> float:
    """The probability that each of these ranks of k uniform numbers may have to be too low, so that any of them is
    with probability ``chance``. The order statistics are always the same draws, of sums of exponential gaps."""
    rng = generator(0, Stream.FLOOR)
    gaps = np.diff((0, *ranks, k + 1))
    sums = rng.gamma(gaps, size=(_DRAWS, gaps.size)).cumsum(axis=1)
    low = np.array(ranks)
    smallest = special.betainc(low, k - low + 1, sums[:, :-1] / sums[:, -1:]).min(axis=1)
    return float(np.quantile(smallest, chance))


@dataclass(frozen=True, eq=False)
class Strays:
    """Names with far fewer reports than a category would have.

    Attributes:
        below: (m,) whether a name is one of them.
        level: N q, the expected reports of an empty category, with K and N of the other names; of all names when the
            strays together have more reports than that. An epsilon larger than the stated one then explains them at
            least as well: all empty categories are that low.
    """

    below: NDArray[np.bool_]
    level: float


def strays(
    counts: ArrayLike,
    mechanism: Callable[[int], RandomizedResponse],
    k: int | None = None,
    chance: float = STRAY_CHANCE,
) -> Strays:
    """Find names that can hardly be categories of k-RR.

    A category gets a sum of N independent reports, each with probability q or p >= q: at least Binomial(N, q), in
    law. A name is a stray when it has less than half of N q, and so few that Binomial(N, q) is as small with
    probability at most ``chance`` divided by the number of names (Bonferroni): of a collection without strays some
    name is called one with probability at most ``chance``, if epsilon is as stated or smaller. Strays found leave N,
    and K too if it is not known; then q grows, and the search goes on until it finds no more, or so many that
    they have more reports together than an empty category.

    Args:
        counts: (m,) reports of each name, whole numbers >= 0, in any order.
        mechanism: the randomized response for a number of categories; may raise ValueError where there is none.
        k: number of categories, if it is known; otherwise it is the number of names that are no strays.
        chance: of a false alarm in a collection, between 0 and 1.

    Returns:
        Never fewer than two names that are no strays. O(m log m).

    Raises:
        ValueError: counts that are negative or not whole, k below 2, a chance that is not between 0 and 1.

    >>> found = strays([500, 300, 200, 3], lambda k: RandomizedResponse(k, 1.0))
    >>> found.below.tolist(), round(found.level)
    ([False, False, False, True], 212)
    """
    chance = _validate.fraction("chance", chance)
    size = _validate.as_array("counts", counts).size
    counts = sampling.whole_counts("counts", counts, size)
    if counts.ndim != 1:
        raise ValueError(f"counts must have shape (k,), got {counts.shape}")
    if counts.size < 2:
        return Strays(np.zeros(counts.size, dtype=bool), 0.0)
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
        rare = scipy.stats.binom.cdf(values, n, q) * counts.size <= chance
        found = int(np.count_nonzero(rare & (values < level / 2)))
        found = min(found, int(np.searchsorted(names, counts.size - 2, side="right")) - 1)
        if found <= cut or (cut and reports[found] >= level):
            break
        cut = found
        if reports[cut] >= level:
            break
    below = counts < values[cut] if cut < values.size else np.zeros(counts.size, dtype=bool)
    return Strays(below, level)
