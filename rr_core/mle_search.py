"""How MLE* finds which categories to strike out: Algorithm 1 of the paper, step by step, for showing it.

`estimators.mle_star` gives the same answer without the steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import as_rows


@dataclass(frozen=True, eq=False)
class MLESearch:
    """The steps of Algorithm 1 on one histogram: step n strikes out the n least reported categories.

    Attributes:
        order: (k,) categories from the least to the most reported.
        shares: (k,) their shares of the reports, increasing.
        left: (steps, k) their shares of the reports that are left after each step, in that order: 0 for those struck out.
        chance: (steps,) share of the reports left that chance brings each category left, 1/(e^epsilon + k - n - 1): q of
            randomized response over these categories alone.
        theta: (steps, k) estimates after each step, Inv of the reports left (theta^[n] of Definition 1); they sum to one,
            and all but the last have a negative.
        g: (steps,) (1 - n q) shares[n] - q sum_{i >= n} shares[i], for n = 0, 1, ...: negative as long as the smallest
            estimate that is left is (Lemma 3a); the search ends at the first that is not (Lemma 4).
    """

    order: NDArray[np.intp]
    shares: Array
    left: Array
    chance: Array
    theta: Array
    g: Array

    @property
    def n_zero(self) -> int:
        """How many categories the search strikes out."""
        return len(self.g) - 1


def mle_search(histogram: ArrayLike, mechanism: RandomizedResponse) -> MLESearch:
    """The steps of Algorithm 1. O(k steps).

    Args:
        histogram: (k,) counts or frequencies of the reports, normalised inside.
        mechanism: the randomized response.

    Raises:
        ValueError: naming the argument.

    >>> found = mle_search([6, 3, 2, 1], RandomizedResponse.from_p(4, 0.5))
    >>> found.theta.round(4).tolist(), found.g.round(4).tolist()
    ([[-0.25, 0.0, 0.25, 1.0], [0.0, -0.0455, 0.1818, 0.8636], [0.0, 0.0, 0.1667, 0.8333]], [-0.0833, -0.0139, 0.0417])
    """
    counts = _validate.histogram(histogram, mechanism.k)
    if counts.ndim != 1:
        raise ValueError(f"histogram must have shape (k,) = ({mechanism.k},), got {counts.shape}")
    counts, k = as_rows(counts)[0], mechanism.k
    order = np.argsort(counts, kind="stable")
    rising, n_reports = counts[order], counts.sum()
    shares, chance, theta, g = [], [], [], []
    for n in range(k):
        left, m = rising[n:], k - n
        total, above = left.sum(), left - left[0]
        # m left - total, also where the counts are too large to be whole numbers in their sums.
        excess = m * above - above.sum()
        shares.append(np.concatenate([np.zeros(n), left / total]))
        chance.append(mechanism.blur / (mechanism.truth + m * mechanism.blur))
        theta.append(shares[-1] + np.append(np.zeros(n), excess) * (mechanism.blur / mechanism.truth) / total)
        # 1 - n q = (p - q) + m q; the difference of counts is exact where they are whole.
        g.append((mechanism.keep * left[0] + mechanism.q * excess[0]) / n_reports)
        if g[-1] >= 0:
            break
    return MLESearch(order, rising / n_reports, *(np.array(one) for one in (shares, chance, theta, g)))
