"""The floor of the reports: under randomized response nobody's category still gets about N q of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from rr_core import _validate, sampling
from rr_core.mechanism import RandomizedResponse
from rr_core.streams import Stream, generator

_MOST_RANKS = 240
_DRAWS = 5000  # of all ranks together, to find what each may have


@dataclass(frozen=True, eq=False)
class Floor:
    """The least reported categories beside what pure noise would give them.

    Attributes:
        level: N q, the reports expected of a category that nobody has.
        ranks: (m,) ranks from the least reported, 1 first.
        reports: (m,) reports of the category with that rank.
        lowest: (m,) the largest number of reports that is too few for that rank; -1 where no number is.
        chance: the probability, about, that any of these ranks gets too few when all categories are empty; less when
            they are not, for categories that people have only get more.
    """

    level: float
    ranks: NDArray[np.int64]
    reports: NDArray[np.int64]
    lowest: NDArray[np.int64]
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
    """
    reports = sampling.whole_counts("counts", counts, mechanism.k)
    _validate.histogram(reports, mechanism.k)
    k, n = mechanism.k, int(reports.sum())
    half = max(k // 2, min(k, 10))
    ranks = np.unique(np.round(np.geomspace(1, half, _MOST_RANKS)).astype(np.int64))
    least = np.sort(np.partition(reports, half - 1)[:half])
    tail = special.betaincinv(ranks, k - ranks + 1, _of_each(tuple(ranks.tolist()), k, chance))
    # ppf gives the smallest x with F(x) >= tail; the largest with F(x) <= tail is that one or the one before.
    nearest = stats.binom.ppf(tail, n, mechanism.q)
    fits = stats.binom.cdf(nearest, n, mechanism.q) <= tail
    lowest = np.where(fits, nearest, nearest - 1).astype(np.int64)
    return Floor(n * mechanism.q, ranks, least[ranks - 1], lowest, chance)


@lru_cache(maxsize=32)
def _of_each(ranks: tuple[int, ...], k: int, chance: float) -> float:
    """The probability that each of these ranks of k uniform numbers may have to be too low, so that any of them is with
    probability ``chance``. The order statistics are drawn as sums of exponential gaps; always the same draws."""
    rng = generator(0, Stream.FLOOR)
    gaps = np.diff((0, *ranks, k + 1))
    sums = rng.gamma(gaps, size=(_DRAWS, gaps.size)).cumsum(axis=1)
    low = np.array(ranks)
    smallest = special.betainc(low, k - low + 1, sums[:, :-1] / sums[:, -1:]).min(axis=1)
    return float(np.quantile(smallest, chance))
