"""Tests of fit of reports that other protocols than k-RR made: the chance of what was seen, or a bound of it, whatever
the truth is. (That of k-RR is `epsilon_fit`.)

- Two reports: exact (`intervals.fit_of_two`).
- k-RR as a table: that of k-RR (`epsilon_fit.fit_test`), so that reports are judged alike on both ways.
- Any other channel: the likelihood ratio G = 2 sum_j Y_j log(Y_j/(N mu_j)) of the reports Y against the best fit
  mu = theta C is at most that against the truth, which is chi-squared with (possible reports - 1) degrees of freedom
  for many users drawn from a population (G is smaller for given ones, whose reports vary less). Where few reports of
  some kind are expected, it is compared with collections drawn from the best fit as well, and the larger chance counts.
- Unary encoding: the ones of all reports together are Binomial(N, p) + Binomial(N (k - 1), q), and those of a category
  are at least Binomial(N, q) and at most Binomial(N, p). So three chances are compared: of the total, by the normal law
  or, where N q < `LEAST_EXPECTED`, exactly, of the smallest and of the largest support; the least of them times three
  is a bound.
- Unary encoding whose bits are known: the ones of a report are S ~ Bernoulli(p) + Binomial(k - 1, q), independently of
  those of others. Two more chances: of how many reports have how many ones, by Pearson's chi-squared over the values of
  S, neighbours put together until `LEAST_EXPECTED` reports are expected; and of the report with the fewest or the most
  ones, at most 2 N Pr(S as far out). The least of the five times five is a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from rr_core import sampling
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.protocols.channel import Channel
from rr_core.protocols.unary import Bits, UnaryEncoding
from rr_core.reports.epsilon_fit import REJECTION_LEVEL, fit_test
from rr_core.reports.intervals import fit_of_two
from rr_core.streams import Stream, generator

# Where the limits of the intervals and of the tests rest on the normal law: this many reports of each kind.
LEAST_EXPECTED = 5.0
# Collections that are drawn from the best fit where it does not: chi-squared alone rejected right channels in up to 6%.
_DRAWN = 2000
_AT_ONCE = 2_000_000  # entries of collections
_ROUNDING = 1e-9
_IMPOSSIBLE = 1e-15  # a chance

Tested = Literal["reports", "sums", "bits"]


@dataclass(frozen=True)
class Fit:
    """The outcome of a test of fit.

    Attributes:
        p_value: a bound on the chance that reports of this protocol fit no worse than these, whatever the truth is.
        tested: what it compares with the protocol: the reports, the sums of their bits over all reports and for each
            category, or these and the ones of each report.
        exact: whether it rests on no normal law.
        simulated: how many simulated collections ``p_value`` is the share of, these reports counted in; 0 where it is
            none.
    """

    p_value: float
    tested: Tested
    exact: bool = False
    simulated: int = 0

    @property
    def rejected(self) -> bool:
        """Whether the reports hardly come from the protocol, by the threshold of all tests of fit."""
        return self.p_value <= REJECTION_LEVEL


def fit_of_channel(reports: sampling.Counts, channel: Channel, expected: Array) -> Fit:
    """The test of reports (m,) that a channel made, given what is expected of each possible kind under the best fit."""
    kinds = np.flatnonzero(channel.possible)
    if kinds.size == 1:
        return Fit(1.0, "reports", exact=True)
    if kinds.size == 2:
        low, high = float(channel.matrix[:, kinds[1]].min()), float(channel.matrix[:, kinds[1]].max())
        return Fit(fit_of_two(int(reports[kinds[1]]), int(reports.sum()), (low, high)), "reports", exact=True)
    order = channel.matrix.argmax(axis=1)  # the report that each truth has most often, its own in k-RR
    if (mechanism := _as_k_rr(channel.matrix[:, order])) is not None and channel.m == channel.k:
        test = fit_test(reports[order], mechanism)
        if test.p_value <= REJECTION_LEVEL or not test.rejects():
            return Fit(test.p_value, "reports", simulated=test.done)
        return Fit(min(1.0, 2 * min(test.extremes.most, test.extremes.fewest)), "reports")  # on either side
    ratio = float(special.rel_entr(reports[kinds], expected).sum())
    fit = float(special.chdtrc(kinds.size - 1, max(2 * ratio, 0.0)))
    if expected.min() >= LEAST_EXPECTED:
        return Fit(fit, "reports")
    dice, n, law = generator(0, Stream.FIT, 0), int(reports.sum()), expected / expected.sum()

    def draw(many: int) -> Array:
        return np.asarray(special.rel_entr(dice.multinomial(n, law, many), expected).sum(axis=-1))

    p_value, simulated = max((fit, 0), drawn(ratio, expected.size, draw))
    return Fit(p_value, "reports", simulated=simulated)


def drawn(statistic: float, size: int, draw: Callable[[int], Array]) -> tuple[float, int]:
    """Of how many collections, this one counted in, the statistic is as large, as a share; and how many were drawn.

    Args:
        statistic: of this collection.
        size: entries of a collection.
        draw: the statistics of so many collections.
    """
    as_far, at_once = 0, max(1, _AT_ONCE // size)
    for start in range(0, _DRAWN, at_once):
        far = draw(min(at_once, _DRAWN - start))
        as_far += int((far >= statistic * (1 - _ROUNDING)).sum())
    return (1 + as_far) / (1 + _DRAWN), _DRAWN


def _as_k_rr(matrix: Array) -> RandomizedResponse | None:
    """The k-RR of which this is the matrix; None where there is none, or its epsilon is out of range."""
    p, q = matrix[0, 0], matrix[0, -1]
    if not p > q > 0:
        return None
    other = np.full_like(matrix, q)
    np.fill_diagonal(other, p)
    try:
        same = np.allclose(matrix, other, rtol=1e-9, atol=0)
        return RandomizedResponse.from_p(len(matrix), float(p)) if same else None
    except ValueError:
        return None


def fit_of_unary(
    support: Array, protocol: UnaryEncoding, n: int, bits: tuple[Bits, NDArray[Any]] | None = None
) -> Fit:
    """The test of unary encoding.

    Args:
        support: (k,) ones of each category.
        protocol: the encoding.
        n: number of reports.
        bits: (r, k) the reports and (r,) how often each occurred; None where they are not known.
    """
    chances = _chances_of_sums(support, protocol, n)
    if bits is not None:
        per_report = np.sum(bits[0], axis=1, dtype=np.int64)
        reports = np.bincount(per_report, bits[1].astype(float), protocol.k + 1).astype(float)
        chances += _chances_of_each(reports, protocol)
    return Fit(min(1.0, len(chances) * min(chances)), "sums" if bits is None else "bits")


def _chances_of_sums(support: Array, protocol: UnaryEncoding, n: int) -> list[float]:
    """Bounds of the chances of the total, of the smallest and of the largest support."""
    p, q, k = protocol.p, protocol.q, protocol.k
    if n * q < LEAST_EXPECTED:
        total = _chance_of_total(float(support.sum()), protocol, n)
    else:
        spread = math.sqrt(n * (p * (1 - p) + (k - 1) * q * (1 - q)))
        off = abs(float(support.sum()) - n * (p + (k - 1) * q))
        total = 2 * float(special.ndtr(-off / spread))
    smallest = k * float(special.bdtr(float(support.min()), n, q))
    largest = k * float(special.bdtrc(float(support.max()) - 1, n, p)) if support.max() > 0 else 1.0
    return [total, smallest, largest]


def _chance_of_total(ones: float, protocol: UnaryEncoding, n: int) -> float:
    """The chance of a total as improbable on either side, by a sum over the ones of the owners' categories."""
    binom, owners, others = scipy.stats.binom, (n, protocol.p), (n * (protocol.k - 1), protocol.q)
    own = np.arange(binom.ppf(_IMPOSSIBLE, *owners), binom.isf(_IMPOSSIBLE, *owners) + 1)
    weights = binom.pmf(own, *owners)
    at_most, at_least = weights @ binom.cdf(ones - own, *others), weights @ binom.sf(ones - own - 1, *others)
    return min(1.0, 2 * float(min(at_most, at_least) + 2 * _IMPOSSIBLE))


def _chances_of_each(reports: Array, protocol: UnaryEncoding) -> list[float]:
    """Of (k + 1,) reports by their number of ones: the chance of chi-squared, and a bound for the one furthest out."""
    p, n, ones = protocol.p, float(reports.sum()), np.arange(protocol.k + 1)
    binom, others = scipy.stats.binom, (protocol.k - 1, protocol.q)  # ones outside the owner's category
    expected = n * (p * binom.pmf(ones - 1, *others) + (1 - p) * binom.pmf(ones, *others))
    starts, since = [0], 0.0
    for s, more in enumerate(expected.tolist(), start=1):
        since += more
        if since >= LEAST_EXPECTED:
            starts.append(s)
            since = 0.0
    starts = starts[: max(1, len(starts) - 1)]  # what is left over belongs to the last group
    together, wanted = np.add.reduceat(reports, starts), np.add.reduceat(expected, starts)
    spread = float(((together - wanted) ** 2 / wanted).sum()) if len(starts) > 1 else 0.0
    seen = np.flatnonzero(reports)
    fewest = p * binom.cdf(seen[0] - 1, *others) + (1 - p) * binom.cdf(seen[0], *others)
    most = p * binom.sf(seen[-1] - 2, *others) + (1 - p) * binom.sf(seen[-1] - 1, *others)
    pearson = float(special.chdtrc(len(starts) - 1, spread)) if len(starts) > 1 else 1.0
    return [pearson, 2 * n * float(min(fewest, most))]
