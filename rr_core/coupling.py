"""Collections of reports coupled across epsilon and N by common random numbers: the same people, the same dice.

Each category has three fixed uniform numbers, and counts are the quantiles of their laws at these numbers:

    users   T_i      Poisson quantile at rate t theta_i, with the time t at which they sum to N
    truths  kept_i   Binomial(T_i, p - q) quantile
    boxes   B_i      Poisson quantile at rate t / k, with the t at which they sum to N - sum of kept_i

The reports are kept_i + B_i: who is not kept reports any of the k categories uniformly, see `rr_core.sampling`. Each
collection is a function of the settings and of the uniform numbers alone, however they were reached, and has the exact
law of randomized response.

What changes between two settings. A binomial quantile grows with p - q, and by 0 or 1 with T_i; the other two grow one
person at a time with their sum. So another person brings one more user of one category and one more report of one
category, and nothing else changes. A larger epsilon makes some people report the truth, N times the change of p - q on
average, which is the least possible; as many reports leave the boxes, and all others stay.

Why users and boxes are multinomial. Let X_i(t) be the Poisson(w_i t) quantile at a fixed uniform number, with weights w_i
that sum to one. At any t the X_i(t) are independent Poisson counts. Since d/dt Pr(X_i(t) <= x) = -w_i Pr(X_i(t) = x),
the chance that the sum goes from n to n + 1 during dt, by one more in category i, from counts b, is w_i dt times the
product of the Poisson probabilities of b. Integrated over all t, this is w_i n! prod_j w_j^b_j / b_j!: the counts at the
time when they sum to n are multinomial, and the category of the next person is independent of them.

What is not modelled. The law is exact at every single setting, and for the next person. Between settings far apart the
counts are more alike than those of a crowd that walks in one by one: a category with more users than expected at one N
has more than expected at every N, so that an error shrinks like 1/sqrt(N) and rarely changes its sign.

Means below 4 are inverted by adding up probabilities. Above, an expansion of the quantile (M. B. Giles, Algorithm 955:
approximation of the inverse Poisson cumulative distribution function, ACM TOMS 42, 2016, with the cumulants of the
binomial) is accurate enough to tell which integer it is, except close to one; there the distribution function decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.sampling import Counts

# Variance from which the expansion is used: from there its error is less than `_tolerance`.
_EXPANSION = 4.0
# A Poisson count of mean below 4, or a binomial one of variance below 4 and p <= 1/2, is above this with a chance
# of less than 1e-30.
_MOST = 100
# A uniform number of zero, which NumPy draws with a chance of 2^-53, counts as this one: its normal score is finite.
_LEAST = 2.0**-54
# Entries computed together: few enough to stay in the processor's cache.
_AT_ONCE = 1 << 15

# The entries of an array that are meant: all of them, or some by position.
Where = slice | NDArray[np.intp]
# (entries,) counts at a time.
CountsAt = Callable[[float, Where], Counts]


def multinomial(n: int, weights: ArrayLike, uniforms: Array) -> Counts:
    """Counts of ``n`` users over categories with probabilities proportional to ``weights``.

    With the same uniform numbers, the counts of n + 1 users are those of n users and one more in one category.

    Args:
        n: number of users, >= 0.
        weights: (k,) non-negative, positive total; need not sum to one.
        uniforms: (k,) independent uniform numbers in [0, 1).

    Returns:
        (k,) int64 counts summing to ``n``, multinomial over random ``uniforms`` (see the module). O(k) for any ``n``.

    Raises:
        ValueError: naming the argument when ``n`` or ``weights`` is out of range.

    >>> import numpy as np
    >>> uniforms = np.array([0.3, 0.9, 0.6])
    >>> [multinomial(n, [0.5, 0.3, 0.2], uniforms).tolist() for n in (3, 4, 5, 1000)]
    [[1, 2, 0], [1, 2, 1], [1, 3, 1], [481, 318, 201]]
    """
    n = _validate.integer("n", n, 0, 2**62)
    rates = _validate.shares(_validate.weights(weights))
    if rates.shape != uniforms.shape:
        raise ValueError(f"weights must have the shape of uniforms, {uniforms.shape}, got {rates.shape}")
    return _counts_with_sum(n, lambda time, where: poisson_quantile(time * rates[where], uniforms[where]))


def noisy_histogram(true_counts: Counts, keep: float, uniforms: Array) -> Counts:
    """Reports per category when each user keeps the truth with probability ``keep`` and is otherwise thrown uniformly
    into all categories.

    Args:
        true_counts: (k,) non-negative int64 counts of the users.
        keep: p - q, from 0 to 1.
        uniforms: (2, k) independent uniform numbers in [0, 1): of the truths, and of the boxes.

    Returns:
        (k,) int64 counts with the sum of ``true_counts``.

    >>> import numpy as np
    >>> uniforms = np.array([[0.2, 0.8, 0.4], [0.5, 0.1, 0.7]])
    >>> [noisy_histogram(np.array([70, 20, 10]), keep, uniforms).tolist() for keep in (0.5, 0.51, 1.0)]
    [[49, 25, 26], [50, 25, 25], [70, 20, 10]]
    """
    k = true_counts.size
    kept = np.zeros(k, dtype=np.int64)
    occupied = np.flatnonzero(true_counts)
    kept[occupied] = binomial_quantile(true_counts[occupied], keep, uniforms[0, occupied])
    thrown = int(true_counts.sum() - kept.sum())
    boxes = uniforms[1]
    kept += _counts_with_sum(thrown, lambda time, where: _equal_poisson_quantile(time / k, boxes[where]))
    return kept


def poisson_quantile(means: Array, uniforms: Array) -> Counts:
    """The number x with F(x - 1) <= u < F(x), where F is the Poisson distribution function.

    Args:
        means: (k,) means >= 0.
        uniforms: (k,) the numbers u in [0, 1).

    Returns:
        (k,) int64 counts.

    >>> import numpy as np
    >>> poisson_quantile(np.array([0.0, 0.7, 1e9]), np.array([0.99, 0.5, 0.5])).tolist()
    [0, 1, 1000000000]
    """

    def block(means: Array, uniforms: Array) -> Counts:
        counts = np.zeros(means.shape, dtype=np.int64)
        small = means < _EXPANSION
        some = _where(small)
        if some is not None:
            mean = means[some]
            counts[some] = _by_summation(np.exp(-mean), uniforms[some], lambda x, here: mean[here] / x)
        some = _where(~small)
        if some is not None:
            mean = means[some]
            near = _Expansion(mean, mean, np.zeros_like(mean), uniforms[some])
            counts[some] = near.quantile(lambda x, here: special.gammaincc(x + 1, mean[here]))
        return counts

    return _in_blocks(block, means, uniforms)


def binomial_quantile(n: Counts, p: float, uniforms: Array) -> Counts:
    """The number x with F(x - 1) <= u < F(x), where F is the Binomial(n, p) distribution function.

    It grows with ``p``, and by 0 or 1 when ``n`` grows by 1.

    Args:
        n: (k,) int64 numbers of trials >= 0.
        p: chance of success, from 0 to 1.
        uniforms: (k,) the numbers u in [0, 1).

    Returns:
        (k,) int64 counts.

    >>> import numpy as np
    >>> binomial_quantile(np.array([0, 3, 10**9]), 0.5, np.array([0.9, 0.6, 0.5])).tolist()
    [0, 2, 500000000]
    """
    if p == 0 or p == 1:
        return n * int(p)

    def block(n: Counts, uniforms: Array) -> Counts:
        counts = np.zeros(n.shape, dtype=np.int64)
        trials = n.astype(np.float64)
        small = trials * (p * (1 - p)) < _EXPANSION
        some = _where(small)
        if some is not None:
            # The rarer outcome is counted: its number has a mean of at most 8.
            rare = min(p, 1 - p)
            left, odds = trials[some], rare / (1 - rare)
            u = uniforms[some] if p <= 0.5 else 1 - uniforms[some]
            none = np.exp(left * np.log1p(-rare))
            number = _by_summation(none, u, lambda x, here: np.maximum(left[here] - (x - 1), 0) * (odds / x))
            number = np.minimum(number, n[some])
            counts[some] = number if p <= 0.5 else n[some] - number
        some = _where(~small)
        if some is not None:
            large = trials[some]
            variance = large * (p * (1 - p))
            near = _Expansion(large * p, variance, np.full_like(large, p), uniforms[some])
            counts[some] = near.quantile(
                lambda x, here: np.where(
                    x >= large[here],
                    1.0,
                    special.betaincc(x + 1, np.maximum(large[here] - x, 1), p),
                )
            )
        return counts

    return _in_blocks(block, n, uniforms)


def _equal_poisson_quantile(mean: float, uniforms: Array) -> Counts:
    """`poisson_quantile` at one mean: many by a table."""
    if sampling.has_poisson_table(mean, uniforms.size):
        return sampling.poisson_by_table(mean, uniforms)
    return poisson_quantile(np.full(uniforms.shape, mean), uniforms)


def _counts_with_sum(n: int, counts_at: CountsAt) -> Counts:
    """The counts when they sum to ``n``, growing with time from zero, by one in all per unit of time on average."""
    everything = slice(None)
    time = float(n)
    counts = counts_at(time, everything)
    missing = n - int(counts.sum())
    if missing == 0:
        return counts
    while True:  # to a time on the other side, so that the time in question lies between the two
        before, time_before, missing_before = counts, time, missing
        time = max(time + missing + np.copysign(3 * np.sqrt(abs(missing)) + 1, missing), 0.0)
        counts = counts_at(time, everything)
        missing = n - int(counts.sum())
        if missing == 0:
            return counts
        if (missing > 0) != (missing_before > 0):
            break
    if missing > 0:
        early, low, late, high = time, counts, time_before, before
    else:
        early, low, late, high = time_before, before, time, counts
        missing = missing_before
    result = low
    # From here on only the entries that change between the two times are computed.
    changing = np.flatnonzero(low != high)
    low, high = low[changing], high[changing]
    halve = False
    while missing > 0:
        part = 0.5 if halve else missing / int((high - low).sum())
        middle = early + (late - early) * part
        if not early < middle < late:
            middle = early + (late - early) / 2
            if not early < middle < late:
                # Several change within the rounding of the time, which happens about once in 10^7 draws of 10^9
                # people: the first of them do.
                room = np.cumsum(high - low)
                low += np.diff(np.minimum(room, missing), prepend=0)
                break
        halve = not halve
        now = counts_at(middle, changing)
        change = int((now - low).sum())
        if change <= missing:
            early, low, missing = middle, now, missing - change
        else:
            late, high = middle, now
        result[changing] = low
        alive = low != high
        changing, low, high = changing[alive], low[alive], high[alive]
    result[changing] = low
    return result


class _Expansion:
    """Quantiles of binomial counts, or of Poisson ones for p = 0, of variance at least 4."""

    def __init__(self, mean: Array, variance: Array, p: Array, uniforms: Array) -> None:
        # With y such that F(y - 1) = u, F continued between the integers, the quantile is floor(y). The terms in z^2 and
        # z^3 are those of Cornish and Fisher; 1/2 and -z/24 correct for counts being whole.
        self.uniforms = np.maximum(uniforms, _LEAST)
        z = special.ndtri(self.uniforms)
        z2 = z * z
        spread = np.sqrt(variance)
        pq = p * (1 - p)
        cubic = (1 - 6 * pq) * (z2 - 3) / 24 - (1 - 4 * pq) * (2 * z2 - 5) / 36 - 1 / 24
        self.y = mean + 0.5 + (1 - 2 * p) * (z2 - 1) / 6 + z * (spread + cubic / spread)
        self.tolerance = _tolerance(z2) / variance

    def quantile(self, upto: Callable[[Array, NDArray[np.intp]], Array]) -> Counts:
        """The quantiles, given the distribution function: from (m,) whole numbers >= 0 and the (m,) entries they are of
        to (m,) probabilities."""
        counts = np.floor(self.y)
        doubtful = np.flatnonzero(np.abs(self.y - np.rint(self.y)) <= self.tolerance)
        if doubtful.size:
            counts[doubtful] = self._decided(doubtful, upto)
        whole: Counts = counts.astype(np.int64)
        return whole

    def _decided(self, here: NDArray[np.intp], upto: Callable[[Array, NDArray[np.intp]], Array]) -> Array:
        x: Array = np.maximum(np.rint(self.y[here]), 0.0)

        def reached(x: Array, here: NDArray[np.intp]) -> NDArray[np.bool_]:
            """Whether the quantile is at least x."""
            yes: NDArray[np.bool_] = (x <= 0) | (upto(np.maximum(x - 1, 0), here) <= self.uniforms[here])
            return yes

        at_least = reached(x, here)
        x -= ~at_least
        # Where the tolerance is below 1/2, y is within 1/2 of that whole number, so nothing else is possible.
        far = np.flatnonzero(self.tolerance[here] >= 0.5)
        up, down = far[at_least[far]], far[~at_least[far]]
        while up.size:
            up = up[reached(x[up] + 1, here[up])]
            x[up] += 1
        while down.size:
            down = down[~reached(x[down], here[down])]
            x[down] -= 1
        return x


def _tolerance(z2: Array) -> Array:
    """What the error of the expansion, times the variance, stays below at a squared normal score: twice the bound that
    Giles gives for Poisson counts of larger means. Measured: at most 0.83 of it, at any p and any variance from
    `_EXPANSION` on. Where it makes an error of 1/2 possible, the result is searched step by step."""
    bound: Array = 0.025 + z2 / 40 + z2 * z2 / 80
    return bound


def _by_summation(none: Array, uniforms: Array, ratio: Callable[[int, NDArray[np.intp]], Array]) -> Counts:
    """Quantiles (m,) by adding up probabilities from those of 0; ``ratio`` has Pr(x)/Pr(x - 1), x >= 1."""
    counts = np.zeros(none.shape, dtype=np.int64)
    here = np.flatnonzero(uniforms >= none)
    probability = none[here]
    upto, u = probability.copy(), uniforms[here]
    for x in range(1, _MOST):
        if not here.size:
            break
        counts[here] = x
        probability *= ratio(x, here)
        upto += probability
        more = u >= upto
        here, probability, upto, u = here[more], probability[more], upto[more], u[more]
    return counts


def _where(chosen: NDArray[np.bool_]) -> Where | None:
    """Where it is true: a slice for everywhere, None for nowhere."""
    number = np.count_nonzero(chosen)
    if number == 0:
        return None
    return slice(None) if number == chosen.size else np.flatnonzero(chosen)


def _in_blocks(function: Callable[..., Counts], *arrays: NDArray[Any]) -> Counts:
    size = arrays[0].size
    if size <= _AT_ONCE:
        return function(*arrays)
    result = np.empty(size, dtype=np.int64)
    for start in range(0, size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        result[part] = function(*(array[part] for array in arrays))
    return result
