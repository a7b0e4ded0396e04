"""The most and the fewest reports of a category beside what k-RR can bring, by exact binomial tails.

Each of N reports names a given category with probability p if that is its user's, else q: whatever the population, and
for fixed users as for sampled ones, its number of reports is at most Binomial(N, p) and at least Binomial(N, q), in law.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rr_core.collected.above_zero import lower_tail, upper_tail
from rr_core.collected.reports import collected
from rr_core.mechanism import RandomizedResponse

CHANCE = 0.001


@dataclass(frozen=True)
class Extremes:
    """Bounds, at most 1, on the chance of the largest and of the smallest count.

    Attributes:
        most: at most so likely does any category get as many reports as the most reported one.
        fewest: at most so likely does any category get as few as the least reported one.
    """

    most: float
    fewest: float

    @property
    def too_many(self) -> bool:
        """Whether ``most`` is at most half of CHANCE."""
        return self.most <= CHANCE / 2

    @property
    def too_few(self) -> bool:
        """Whether ``fewest`` is at most half of CHANCE: with `too_many`, in at most CHANCE of collections."""
        return self.fewest <= CHANCE / 2


def extremes(counts: ArrayLike, mechanism: RandomizedResponse) -> Extremes:
    """Bound the chances by Bonferroni over all k categories.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response to be tested.

    Raises:
        ValueError: naming the argument.

    >>> extremes([9, 0, 1], RandomizedResponse(3, 0.5)).too_many
    False
    """
    checked = collected(counts, mechanism)
    n = int(checked.sum())
    many = float(upper_tail(checked.max(), n, mechanism.p))
    few = lower_tail(int(checked.min()), n, mechanism.q)
    return Extremes(min(1.0, mechanism.k * many), min(1.0, mechanism.k * few))
