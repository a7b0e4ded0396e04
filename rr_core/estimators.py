"""The four closed-form estimators of a distribution from randomized-response reports.

Each is one affine rule on the histogram: zero below a cut, ``base + slope * (c - cut)`` from the cut
upwards. The rule is found from the profile (module ``profile``) and then applied in one pass. Written with
the excess over the cut, all kept entries are sums of non-negative terms, so nothing cancels: the results
agree with exact rational arithmetic to 2e-12 for every epsilon.

With c the counts, N their total, E = e^eps - 1, and for the kept categories m their number and S their
total:

    Inv   = c/N + (k c - N)/(N E)             all categories                              eq. (2)
    InvN  = Inv / (sum of Inv over the kept)  kept: Inv > 0                               section 2.3
    InvP  = 1/m + (m c - S)/(m N (p - q))     kept: N (p - q) > S - m c at the smallest   section 2.3
    MLE*  = c/S + (m c - S)/(S E)             kept: E c > S - m c at the smallest         Theorem 1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, Rows, as_rows, profile, table_size

# An estimate this small beside the terms it is the difference of is a zero that was rounded.
EDGE = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Rule:
    """One estimator on one histogram: 0 where c < cut, else base + slope (c - cut).

    Every field has one entry per row of the batch; ``support`` counts the categories whose estimate
    is positive (for Inv: all k) and ``kept_total`` is the sum of their counts.
    """

    cut: Array
    base: Array
    slope: Array
    support: Array
    kept_total: Array

    def apply(self, rows: Rows, table_size: int | None = None) -> Array:
        """The estimate of every category, (rows, k). With ``table_size`` above every count (see
        `profile.table_size`), long rows are looked up instead of computed."""
        if table_size is None or table_size >= rows.shape[-1]:
            return self.at(rows)
        tables = self.at(np.broadcast_to(np.arange(table_size), (len(rows), table_size)))
        # Indexing, not np.take: take copies an index array that is read-only, as shared ones are.
        if len(rows) == 1:
            single: Array = tables[0][rows[0]][None]
            return single
        return np.stack([table[row] for table, row in zip(tables, rows, strict=True)])

    def at(self, counts: Rows) -> Array:
        """The estimate of a category for each of these counts; (rows, m) as ``counts``."""
        cut = self.cut[:, None]
        out = np.subtract(counts, cut, dtype=np.float64)
        dropped = out < 0
        out *= self.slope[:, None]
        out += self.base[:, None]
        out[dropped] = 0.0
        return out


class _InvRule(Rule):
    """The rule of Inv as c/N + (k c - N) gain, with k c - N = k (c - cut) - base. The form ``base + slope (c
    - cut)`` would cancel in negative entries; here an entry with k c = N is exactly c/N at every epsilon."""

    def at(self, counts: Rows) -> Array:
        out = np.subtract(counts, self.cut[:, None], dtype=np.float64)
        out *= self.support[:, None]
        out -= self.base[:, None]
        out *= self.slope[:, None]
        share = counts / self.kept_total[:, None]
        out += share
        out[np.abs(out) <= EDGE * share] = 0.0
        return out


RuleMaker = Callable[[Profile, RandomizedResponse], Rule]


def inv_rule(levels: Profile, mechanism: RandomizedResponse) -> Rule:
    """Inv keeps every category."""
    k, cut, total = mechanism.k, levels.values[:, -1], levels.totals
    gain = mechanism.blur / mechanism.truth / total
    return _InvRule(cut, levels.excess[:, -1], gain, np.full(len(cut), float(k)), total)


def inv_n_rule(levels: Profile, mechanism: RandomizedResponse) -> Rule:
    """InvN keeps the categories whose Inv is positive and rescales them to sum one."""
    k, truth, blur = mechanism.k, mechanism.truth, mechanism.blur
    smallest = levels.values[:, -1:]
    scaled = truth * levels.values + blur * (k * (levels.values - smallest) - levels.excess[:, -1:])
    kept = scaled > EDGE * truth * levels.values
    positive = np.where(kept, scaled, 0.0)
    total = (positive * levels.multiplicities).sum(axis=-1)
    last = _last(kept)
    base = _pick(positive, last) / total
    return _rule(levels, last, base, truth + blur * k, total)


def inv_p_rule(levels: Profile, mechanism: RandomizedResponse) -> Rule:
    """InvP keeps the largest m with N (p - q) > S - m c at the smallest kept c (simplex projection)."""
    spread = levels.totals * mechanism.keep
    room = spread[:, None] - levels.excess
    last = _last(room > EDGE * spread[:, None])
    base = _pick(room, last) / (_pick(levels.sizes, last) * spread)
    return _rule(levels, last, base, 1.0, spread)


def mle_rule(levels: Profile, mechanism: RandomizedResponse) -> Rule:
    """MLE* keeps the largest m with E c > S - m c at the smallest kept c: eq. (7), with the tie rule
    that an entry whose estimate is exactly zero counts as dropped."""
    truth, blur = mechanism.truth, mechanism.blur
    scaled = truth * levels.values - blur * levels.excess
    last = _last(scaled > EDGE * truth * levels.values)
    size, kept_total = _pick(levels.sizes, last), _kept_total(levels, last)
    base = _pick(scaled, last) / (truth * kept_total)
    return _rule(levels, last, base, truth + blur * size, truth * kept_total)


def inv(histogram: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """Linear inversion: the unbiased solution of E[phi] = q + (p - q) theta, eq. (2).

    Args:
        histogram: (..., k) counts or frequencies, non-negative; normalised inside.
        mechanism: the randomized response that produced the reports.

    Returns:
        (..., k) estimates that sum to one and may be negative. O(k).

    Raises:
        ValueError: when the histogram has a wrong shape, a negative or non-finite entry or no mass.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> inv([6, 3, 2, 1], mechanism).tolist()
    [1.0, 0.25, 0.0, -0.25]
    """
    return _estimate(histogram, mechanism, inv_rule)


def inv_n(histogram: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """Inv with its negative entries set to zero, divided by the remaining sum (*norm-mul* elsewhere).

    Section 2.3, item 1. Arguments, shapes and errors as in `inv`. A valid distribution. O(k).

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> inv_n([6, 3, 2, 1], mechanism).round(6).tolist()
    [0.8, 0.2, 0.0, 0.0]
    """
    return _estimate(histogram, mechanism, inv_n_rule)


def inv_p(histogram: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """The distribution nearest to Inv in Euclidean distance (simplex projection; *norm-sub* elsewhere).

    Section 2.3, item 2: argmin over the simplex of ||theta - Inv||. Arguments, shapes and errors as in
    `inv`. O(k) plus a sort of the distinct values.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> inv_p([6, 3, 2, 1], mechanism).round(6).tolist()
    [0.875, 0.125, 0.0, 0.0]
    """
    return _estimate(histogram, mechanism, inv_p_rule)


def mle_star(histogram: ArrayLike, mechanism: RandomizedResponse) -> Array:
    """The maximum-likelihood distribution in closed form: the unique argmax over the simplex of
    sum_i c_i log(q + (p - q) theta_i), Theorem 1 and eq. (7).

    Arguments, shapes and errors as in `inv`. O(k) plus a sort of the distinct values. Its optimality can
    be checked with `optimality_gap`. Pages compute all estimates at once, by the rules (`compare`).

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> mle_star([6, 3, 2, 1], mechanism).round(6).tolist()
    [0.833333, 0.166667, 0.0, 0.0]
    """
    return _estimate(histogram, mechanism, mle_rule)


def rule(histogram: ArrayLike, mechanism: RandomizedResponse, make: RuleMaker) -> Rule:
    """The `Rule` of one estimator for a histogram (..., k), one entry per row of the flattened batch."""
    rows = as_rows(_validate.histogram(histogram, mechanism.k))
    return make(profile(rows, table_size(rows)), mechanism)


def _estimate(histogram: ArrayLike, mechanism: RandomizedResponse, make: RuleMaker) -> Array:
    checked = _validate.histogram(histogram, mechanism.k)
    rows = as_rows(checked)
    size = table_size(rows)
    return make(profile(rows, size), mechanism).apply(rows, size).reshape(checked.shape)


def _rule(levels: Profile, last: NDArray[np.intp], base: Array, rise: Array | float, run: Array) -> Rule:
    return Rule(
        _pick(levels.values, last),
        base,
        rise / run,
        _pick(levels.sizes, last),
        _kept_total(levels, last),
    )


def _kept_total(levels: Profile, last: NDArray[np.intp]) -> Array:
    size, cut = _pick(levels.sizes, last), _pick(levels.values, last)
    return _pick(levels.excess, last) + size * cut


def _last(kept: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Index of the last kept level of each row; kept levels are a prefix, and the first always is kept."""
    last: NDArray[np.intp] = np.maximum(np.count_nonzero(kept, axis=-1) - 1, 0)
    return last


def _pick(per_level: Array, index: NDArray[np.intp]) -> Array:
    return np.take_along_axis(per_level, index[:, None], axis=-1)[:, 0]


@dataclass(frozen=True, eq=False)
class MLESearch:
    """The steps of Algorithm 1 on one histogram, for showing them: step n strikes out the n least reported categories.
    (`mle_star` gives the same answer without the steps.)

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
    counts = _validate.one_row("histogram", _validate.histogram(histogram, mechanism.k))
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
