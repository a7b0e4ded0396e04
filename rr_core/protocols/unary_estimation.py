"""The maximum of the likelihood from the bits of unary encoding, certified; and from those of subset selection.

A report y of a user of category i has probability prod_j q^y_j (1 - q)^(1 - y_j) times rho^y_i (1 - p)/(1 - q), with
rho = p (1 - q)/(q (1 - p)). For both encodings rho = e^epsilon: symmetric (p/q)^2 = (e^(epsilon/2))^2, optimised
(1 - q)/q = e^epsilon. So, up to a constant, the log-likelihood per report is

    L(theta) = mean_n log D_n,    D_n = sum_i theta_i a_ni = b + (1 - b) y_n . theta,    a_ni = b + (1 - b) y_ni,

with b = e^-epsilon, which is concave. (So has subset selection: a report holds its owner's category e^epsilon times as
often as another.) Its gradient g_i = mean_n a_ni/D_n has sum_i theta_i g_i = 1, so that max_i g_i - 1
is the same certificate as for a channel.

Few reports, or few different ones, are a channel with a column for each: `channel_estimation`. For many, sequential
quadratic programming (Y. Kim, P. Carbonetto, M. Stephens and M. Anitescu, J. Comput. Graph. Stat. 29 (2020) 261-273,
https://doi.org/10.1080/10618600.2019.1689985): as L is the log of a form of degree one, its maximum on the simplex is the
maximum of L(x) - sum x over x >= 0, so each step maximises

    (g - 1) . (x - theta) - (x - theta) H (x - theta)/2    over x >= 0,    H_ij = mean_n a_ni a_nj/D_n^2.

g takes one pass over all reports; H is estimated from a sample of them, which makes each step a little less good, never
the certificate wrong, and the sample grows where steps become poor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from rr_core import _validate
from rr_core._validate import Array
from rr_core.data import read_csv
from rr_core.protocols.channel_estimation import MaximumLikelihood, maximise
from rr_core.protocols.subset import SubsetSelection, inv_subset
from rr_core.protocols.unary import Bits, UnaryEncoding, as_support, checked_bits, inv_p_unary, row_blocks

# Reports of up to this many bits are counted: each is one integer.
_COUNTED_BITS = 64
# Categories times different reports up to which they are one matrix (16 MB).
_ENTRIES_OF_A_CHANNEL = 2_000_000
# Entries of one block of reports in float64: 2 MB stay in a processor's cache.
_ENTRIES_OF_A_BLOCK = 1 << 18
_MOST_STEPS, _MOST_HALVINGS, _PATIENCE = 500, 12, 6
# Reports, and reports per category, whose mean estimates the curvature at first.
_SAMPLE, _SAMPLE_PER_CATEGORY = 16_384, 16
# A step that leaves more than this part of the gap asks for twice the sample.
_POOR = 0.25
# Share of the uniform distribution in the start: no category starts at zero.
_UNIFORM = 0.1
# Added to a diagonal of ones, where the curvature of a sample is singular.
_RIDGE = 1e-10
# Of a log-likelihood per report.
_ROUNDING = 1e-15
# A step must rise by this part of what the gradient promises.
_ENOUGH = 1e-4


def mle_unary(
    reports: ArrayLike,
    protocol: UnaryEncoding | SubsetSelection,
    tolerance: float = 1e-9,
    *,
    counts: ArrayLike | None = None,
) -> MaximumLikelihood:
    """A distribution of maximum likelihood from the reports of unary encoding or of subset selection, certified.

    Args:
        reports: (n, k) of 0 and 1; as uint8 or bool they are not copied.
        protocol: that made them.
        tolerance: gap to reach, in nats per report, a number > 0. Where rounding does not allow it, the best that was
            found is returned, with its gap.
        counts: (n,) how often each of the reports occurred, numbers >= 0 with a positive total; once when not given.

    Returns:
        `MaximumLikelihood`. Cost: about a dozen passes over the reports, O(n k) each, and as many matrices of (k, k) from
        a sample of them. With k = 1,000, n = 434,195 and epsilon = 1 (two cores): 3 to 8 seconds and 0.2 GB beside the
        reports for a gap of 1e-6, 9 to 15 seconds for 1e-9; at epsilon = 20 half a minute.

    Raises:
        ValueError: naming the argument.

    >>> found = mle_unary([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1]], UnaryEncoding(3, 2.0))
    >>> found.theta.round(4).tolist(), found.gap <= 1e-9
    ([0.7188, 0.2812, 0.0], True)
    >>> mle_unary([[1, 0], [0, 1], [1, 1]], UnaryEncoding(2, 2.0), counts=[600, 300, 100]).theta.round(4).tolist()
    [0.7188, 0.2812]
    """
    tolerance = _validate.positive("tolerance", tolerance)
    bits = checked_bits("reports", reports, protocol.k)
    if isinstance(protocol, SubsetSelection):
        protocol.support(bits)  # checks that every report has as many ones
    likelihood = _Likelihood.of(bits, protocol, None if counts is None else _counts(counts, len(bits)))
    if likelihood.bits.size <= _ENTRIES_OF_A_CHANNEL:
        # A column for each report that occurred; one without ones says nothing, as one of ones only.
        columns = np.where(likelihood.bits.T > 0, 1.0, likelihood.b)
        columns[:, ~likelihood.bits.any(axis=1)] = 1.0
        return maximise(columns, likelihood.weights, tolerance)
    return _by_passes(likelihood, protocol, tolerance)


def update_factors_unary(reports: ArrayLike, theta: ArrayLike, protocol: UnaryEncoding) -> Array:
    """The factors g_i = mean_n a_ni/D_n by which IBU multiplies theta_i: (k,).

    Args:
        reports: (n, k) of 0 and 1.
        theta: (k,) distribution.

    >>> update_factors_unary([[1, 0], [1, 1], [0, 1], [1, 0]], [0.5, 0.5], UnaryEncoding(2, 1.0)).round(4).tolist()
    [1.1155, 0.8845]
    """
    shares = _validate.vector("theta", theta, protocol.k)
    with np.errstate(over="ignore"):
        distribution = shares.ndim == 1 and shares.min() >= 0 and abs(shares.sum(dtype=np.float64) - 1) < 1e-9
    if not distribution:
        raise ValueError(
            f"theta must be a distribution of shape (k,) = ({protocol.k},) with sum 1, "
            f"got {_validate.short(theta)}"
        )
    return _Likelihood.of(checked_bits("reports", reports, protocol.k), protocol).evaluate(shares)[1]


def optimality_gap_unary(reports: ArrayLike, theta: ArrayLike, protocol: UnaryEncoding) -> float:
    """max_i g_i - 1: an upper bound, in nats per report, on how far the log-likelihood of ``theta`` is below its maximum.
    Arguments as in `update_factors_unary`.

    >>> round(optimality_gap_unary([[1, 0], [1, 1], [0, 1], [1, 0]], [0.5, 0.5], UnaryEncoding(2, 1.0)), 4)
    0.1155
    """
    return float(update_factors_unary(reports, theta, protocol).max()) - 1


def _counts(counts: ArrayLike, n: int) -> Array:
    checked = _validate.vector("counts", counts, n)
    if checked.ndim != 1 or checked.min() < 0 or not checked.max() > 0:
        raise ValueError(
            f"counts must be n = {n} numbers >= 0 with a positive total, got {_validate.short(counts)}"
        )
    return _validate.shares(checked)


class _Likelihood:
    """Different reports ``bits`` (m, k), their frequencies ``weights`` (m,), b = e^-epsilon, ``one_less_b`` = 1 - b."""

    def __init__(self, bits: Bits, weights: Array, epsilon: float) -> None:
        self.bits, self.weights = bits, weights
        self.b, self.one_less_b = math.exp(-epsilon), -math.expm1(-epsilon)

    @classmethod
    def of(
        cls, bits: Bits, protocol: UnaryEncoding | SubsetSelection, frequencies: Array | None = None
    ) -> _Likelihood:
        """All reports are equally frequent when no ``frequencies`` (n,) are given."""
        n, k = bits.shape
        if frequencies is None:
            weights = np.full(n, 1 / n)
        else:
            bits, weights = bits[frequencies > 0], frequencies[frequencies > 0]
        if k > _COUNTED_BITS:
            return cls(bits, weights, protocol.epsilon)
        packed = np.zeros((len(bits), 8), dtype=np.uint8)
        packed[:, : -(-k // 8)] = np.packbits(bits, axis=1)
        _, first, which, counts = np.unique(
            packed.view(np.uint64)[:, 0], return_index=True, return_inverse=True, return_counts=True
        )
        weights = counts / n if frequencies is None else np.bincount(which, weights).astype(np.float64)
        return cls(bits[first], weights, protocol.epsilon)

    def evaluate(self, theta: Array) -> tuple[float, Array, Array]:
        """L(theta), the factors g (k,) and D (m,): one pass, in float64."""
        m, k = self.bits.shape
        step = min(max(_ENTRIES_OF_A_BLOCK // k, 16), m)
        block, likelihoods = np.empty((step, k)), np.empty(m)
        sums, total, log_likelihood = np.zeros(k), 0.0, 0.0
        for first in range(0, m, step):
            rows = slice(first, min(first + step, m))
            y = block[: rows.stop - first]
            np.copyto(y, self.bits[rows])
            d = self.b + self.one_less_b * (y @ theta)
            likelihoods[rows] = d
            ratio = self.weights[rows] / d
            sums += ratio @ y
            total += ratio.sum()
            log_likelihood += float(self.weights[rows] @ np.log(d))
        return log_likelihood, self.b * total + self.one_less_b * sums, likelihoods

    def curvature(self, likelihoods: Array, size: int) -> Array:
        """H (k, k), from about ``size`` reports, evenly over all, or from all of them."""
        m, k = self.bits.shape
        rows, counts = np.arange(m), self.weights
        if size < m:
            places = (np.arange(size) + 0.5) / size
            ends = np.cumsum(self.weights)
            rows, repeats = np.unique(np.minimum(np.searchsorted(ends, places), m - 1), return_counts=True)
            counts = repeats / size
        matrix = np.zeros((k, k))
        step = max(4 * _ENTRIES_OF_A_BLOCK // k, k)
        for first in range(0, rows.size, step):
            part = rows[first : first + step]
            scale = np.sqrt(counts[first : first + step]) / likelihoods[part]
            a = self.bits[part] * (self.one_less_b * scale)[:, None]
            a += (self.b * scale)[:, None]
            matrix += a.T @ a
        return matrix


def _by_passes(
    likelihood: _Likelihood, protocol: UnaryEncoding | SubsetSelection, tolerance: float
) -> MaximumLikelihood:
    """Sequential quadratic programming with the curvature of a sample."""
    m, k = likelihood.bits.shape
    size = max(_SAMPLE, _SAMPLE_PER_CATEGORY * k)
    here = _Point(likelihood, (1 - _UNIFORM) * _start(likelihood, protocol) + _UNIFORM / k)
    best, steps, since = here, 0, 0
    while best.gap > tolerance and steps < _MOST_STEPS and since < _PATIENCE:
        steps += 1
        h = likelihood.curvature(here.seen, size)
        if size < m:
            _repair(h, here.g, np.maximum(here.theta, 1 / m))
        x = _nonnegative_quadratic(h, here.g - 1, here.theta)
        after = _line_search(likelihood, here, x)
        # The gap may rise on the way, the likelihood does not; when neither becomes better, rounding is the limit.
        better = after.gap < best.gap or after.value > here.value + _ROUNDING * (1 + abs(here.value))
        since = 0 if better or size < m else since + 1
        if after.gap > _POOR * here.gap:
            size *= 2
        here = after
        if here.gap < best.gap:
            best = here
    return MaximumLikelihood(best.theta, best.gap, steps)


def _repair(h: Array, g: Array, theta: Array) -> None:
    """H theta = g over all reports. Where a sample has less than half of it, it missed the few reports that speak for a
    rare category (at a large epsilon); what is missing is added as if nothing else spoke in these reports."""
    missing = g - h @ theta
    rare = np.flatnonzero(missing > g / 2)
    h[rare, rare] += missing[rare] / theta[rare]


def _start(likelihood: _Likelihood, protocol: UnaryEncoding | SubsetSelection) -> Array:
    """InvP of the shares of ones, as if there were 2^53 reports: the start needs no more digits. For subset selection,
    whose Inv sums to one, InvN."""
    ones = np.zeros(protocol.k)
    for rows in row_blocks(*likelihood.bits.shape):
        ones += likelihood.weights[rows] @ likelihood.bits[rows]
    if isinstance(protocol, UnaryEncoding):
        support, n = as_support(ones)
        return inv_p_unary(support, protocol, n)
    positive = np.maximum(inv_subset(np.minimum(ones, 1.0), protocol, 1), 0.0)
    start: Array = positive / positive.sum()
    return start


class _Point:
    """A distribution, made to sum to one, with L, the factors g (k,), D (m,) and the gap there."""

    def __init__(self, likelihood: _Likelihood, theta: Array) -> None:
        self.theta = theta / theta.sum()
        self.value, self.g, self.seen = likelihood.evaluate(self.theta)
        self.gap = max(float(self.g.max()) - 1, 0.0)


def _line_search(likelihood: _Likelihood, here: _Point, x: Array) -> _Point:
    """The whole step to x / sum x where it rises by enough. Else a half of it, a quarter and so on, and a step of EM from
    there: it always rises, and helps most where Newton steps overshoot, at a large epsilon."""
    after = here
    if x.sum() > 0:
        direction = x / x.sum() - here.theta
        promised, length = float((here.g - 1) @ direction), 1.0
        rounding = _ROUNDING * (1 + abs(here.value))
        for _ in range(_MOST_HALVINGS if promised > 0 else 0):
            there = _Point(likelihood, np.maximum(here.theta + length * direction, 0.0))
            if there.value >= here.value + _ENOUGH * length * promised - rounding:
                if length == 1:
                    return there
                after = there
                break
            length /= 2
    return _Point(likelihood, after.theta * after.g)


def _nonnegative_quadratic(h: Array, slope: Array, theta: Array) -> Array:
    """The x >= 0 that maximises slope . (x - theta) - (x - theta) H (x - theta)/2, by block principal pivoting
    (L. F. Portugal, J. J. Judice and L. N. Vicente, Math. Comput. 63 (1994) 625-643,
    https://doi.org/10.1090/S0025-5718-1994-1250776-4), from the categories that are positive in ``theta``."""
    # Of a category in no report H is near b^2, which may underflow.
    scale = 1 / np.sqrt(np.maximum(np.diagonal(h), 1e-250))
    h = h * scale * scale[:, None]
    h[np.diag_indices_from(h)] += _RIDGE
    linear = scale * slope + h @ (theta / scale)
    free: NDArray[np.bool_] = (theta > 0) | (slope > 0)
    x, fewest, trials = np.zeros(theta.size), theta.size + 1, 3
    tiny = 1e-14 * float(np.abs(linear).max(initial=0.0))
    for _ in range(50 + theta.size):
        x[:] = 0.0
        if free.any():
            kept = np.flatnonzero(free)
            factor = linalg.cho_factor(h[np.ix_(kept, kept)], lower=True, check_finite=False)
            x[kept] = linalg.cho_solve(factor, linear[kept], check_finite=False)
        dual = h[:, free] @ x[free] - linear
        wrong = (free & (x < 0)) | (~free & (dual < -tiny))
        count = int(wrong.sum())
        if not count:
            break
        if count < fewest:
            fewest, trials = count, 3
        elif trials:
            trials -= 1
        else:
            # One at a time, the last: this ends after finitely many steps.
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free ^= wrong
    return np.asarray(scale * np.maximum(x, 0.0), dtype=np.float64)


@dataclass(frozen=True)
class Gain:
    """Mean squared errors in one setting, as measured by ``python -m tests.benchmarks.unary_gain``: a distribution from
    the Jeffreys prior, Dirichlet(1/2, ..., 1/2), for each replicate, and n users from it, whose own shares are the truth
    (A. Lopuhaä-Zwakenberg et al., section 5).

    Attributes:
        encoding: "sue" or "oue".
        k, epsilon, n: categories, privacy budget, users.
        replicates: number of simulated collections.
        mse_inv_p, mse_mle: mean squared errors, summed over the categories.
        ratio: mse_mle divided by mse_inv_p; below one, maximum likelihood is better.
        error: Monte-Carlo standard error of ``ratio``.
    """

    encoding: Literal["sue", "oue"]
    k: int
    epsilon: float
    n: int
    replicates: int
    mse_inv_p: float
    mse_mle: float
    ratio: float
    error: float


@cache
def mle_gains() -> tuple[Gain, ...]:
    """How much maximum likelihood gains over InvP, in all settings: both encodings, k = 10 and 50, epsilon from 0.5 to 4,
    from 3 to 1,000 users for each category.

    The bits of a report depend on each other through its owner's category; the support, which InvP is made from, does not
    have all that they tell. At epsilon = 0.5 the mean squared errors differ by 2% or less. At epsilon = 4 and ten or more
    users for each category that of maximum likelihood is smaller, by 13% to 45%. With three users for each category and
    the symmetric encoding it is up to 5% larger.

    >>> len(mle_gains()), {gain.encoding for gain in mle_gains()} == {"sue", "oue"}
    (100, True)
    """
    return tuple(
        Gain(
            cast("Literal['sue', 'oue']", row["encoding"]),
            int(row["k"]),
            float(row["epsilon"]),
            int(row["n"]),
            int(row["replicates"]),
            *(float(row[name]) for name in ("mse_inv_p", "mse_mle", "ratio", "error")),
        )
        for row in read_csv("unary_gain.csv")
    )
