"""Reports that another protocol than k-RR made: estimates, intervals and a test of fit, for any channel and for unary
encoding.

The tests of fit give the chance of what was seen, or bound it, whatever the truth is:

- Two reports: exact (`two_reports.fit_of_two`).
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
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_channel, inv_covariance_channel, mle_channel
from rr_core.protocols.unary import Bits, UnaryEncoding, inv_n_unary, inv_p_unary, inv_unary
from rr_core.protocols.unary_estimation import mle_unary
from rr_core.reports.epsilon_fit import REJECTION_LEVEL, fit_test
from rr_core.reports.intervals import Interval, checked_level
from rr_core.reports.two_reports import fit_of_two, interval_of_two
from rr_core.streams import Stream, generator

# Where the limits of the intervals and of the tests rest on the normal law: this many reports of each kind.
LEAST_EXPECTED = 5.0
# Collections that are drawn from the best fit where it does not: chi-squared alone rejected right channels in up to 6%.
_DRAWN = 2000
_ROUNDING = 1e-9
_IMPOSSIBLE = 1e-15  # a chance

Tested = Literal["reports", "sums", "bits"]


@dataclass(frozen=True, eq=False)
class OtherAnalysis:
    """Reports of a channel or of unary encoding, analysed.

    Attributes:
        n, k: number of reports, and of categories.
        epsilon: what the protocol grants, in nats; infinite where it grants none.
        estimates: (k,) by name: "inv" where the protocol identifies the truth; "inv_n" and "inv_p" for unary encoding;
            "mle" where there are enough reports, or the bits of each.
        intervals: of Inv, for each category and for all at once; None where there is no Inv.
        certificate: of "mle", in nats per report; None without it.
        fit: a bound on the chance that reports of this protocol fit no worse than these, whatever the truth is.
        exact: whether limits and ``fit`` rest on no normal law: two reports.
        simulated: how many simulated collections ``fit`` is the share of, these reports counted in; 0 where it is none.
        few: whether fewer than `LEAST_EXPECTED` of some kind of report are expected, so that intervals and ``fit`` are
            rough.
        tested: what ``fit`` compares with the protocol: the reports, the sums of their bits over all reports and for each
            category, or these and the ones of each report.
    """

    n: int
    k: int
    epsilon: float
    estimates: dict[str, Array]
    intervals: tuple[Interval, Interval] | None
    certificate: float | None
    fit: float
    few: bool
    exact: bool = False
    simulated: int = 0
    tested: Tested = "reports"

    def columns(self) -> dict[str, Array]:
        """(k,) estimates by name, and the limits of Inv's intervals for each category and for all."""
        columns = dict(self.estimates)
        for ending, interval in zip(("", "_all"), self.intervals or (), strict=False):
            columns[f"inv_low{ending}"], columns[f"inv_high{ending}"] = interval.low, interval.high
        return columns

    @property
    def rejected(self) -> bool:
        """Whether the reports hardly come from the protocol, by the threshold of all tests of fit."""
        return self.fit <= REJECTION_LEVEL


def analyse_channel(
    counts: ArrayLike, channel: Channel, level: float = 0.95, users: Users = "fixed"
) -> OtherAnalysis:
    """Inv with its intervals, the MLE with its certificate, and the fit, of reports that a channel made.

    Args:
        counts: (m,) reports of each kind, whole numbers with a total of at least 1.
        channel: what made them.
        level: probability of the intervals, between 0 and 1.
        users: whether the truth is that of these users ("fixed") or of their population ("sampled").

    Raises:
        ValueError: naming the argument; also for reports that the channel cannot produce.

    >>> found = analyse_channel([360, 640], Channel.warner(0.2), users="sampled")  # 0 = no, 1 = yes
    >>> found.estimates["inv"].round(6).tolist(), round(found.epsilon, 4)
    ([0.733333, 0.266667], 1.3863)
    """
    level = checked_level(level)
    reports = sampling.one_collection("counts", counts, channel.m)
    best = mle_channel(reports, channel)
    n, estimates = int(reports.sum()), {"mle": best.theta}
    expected = n * channel.expected(best.theta)[channel.possible]
    exact, intervals = expected.size == 2, None
    if channel.identified:
        estimates = {"inv": inv_channel(reports, channel), "mle": best.theta}
        if exact and channel.k == 2:
            intervals = _intervals_of_two(reports, channel, level, users)
        else:
            variance = _variance(best.theta, n, channel, users)
            intervals = _intervals(estimates["inv"], variance, level)
    fit, simulated = _fit_of_channel(reports, channel, expected)
    return OtherAnalysis(
        n,
        channel.k,
        channel.epsilon,
        estimates,
        intervals,
        max(best.gap, 0.0),
        fit,
        bool(expected.min() < LEAST_EXPECTED) and not exact,
        exact,
        simulated,
    )


def _variance(theta: Array, n: int, channel: Channel, users: Users) -> Array:
    """(k,) variances of Inv at the estimate. Where that leaves none, because everybody would report alike, those with two
    more people who are spread evenly (Agresti and Coull 1998): some who report otherwise may not have been seen."""
    variance = np.diag(inv_covariance_channel(theta, n, channel, users=users))
    if variance.min() <= _ROUNDING**2:
        more = (n * theta + 2 / channel.k) / (n + 2)
        with_more = np.diag(inv_covariance_channel(more, n, channel, users=users))
        variance = np.where(variance <= _ROUNDING**2, with_more, variance)
    return np.maximum(variance, 0.0)


def _fit_of_channel(reports: sampling.Counts, channel: Channel, expected: Array) -> tuple[float, int]:
    """The p-value, and of how many simulated collections it is the share."""
    kinds = np.flatnonzero(channel.possible)
    if kinds.size == 1:
        return 1.0, 0
    if kinds.size == 2:
        low, high = float(channel.matrix[:, kinds[1]].min()), float(channel.matrix[:, kinds[1]].max())
        return fit_of_two(int(reports[kinds[1]]), int(reports.sum()), (low, high)), 0
    order = channel.matrix.argmax(axis=1)  # the report that each truth has most often, its own in k-RR
    if (mechanism := _as_k_rr(channel.matrix[:, order])) is not None and channel.m == channel.k:
        test = fit_test(reports[order], mechanism)
        if test.p_value <= REJECTION_LEVEL or not test.rejects():
            return test.p_value, test.done
        return min(1.0, 2 * min(test.extremes.most, test.extremes.fewest)), 0  # on either side
    ratio = float(special.rel_entr(reports[kinds], expected).sum())
    fit = float(special.chdtrc(kinds.size - 1, max(2 * ratio, 0.0)))
    if expected.min() >= LEAST_EXPECTED:
        return fit, 0
    drawn = generator(0, Stream.FIT, 0).multinomial(int(reports.sum()), expected / expected.sum(), _DRAWN)
    as_far = int((special.rel_entr(drawn, expected).sum(axis=-1) >= ratio * (1 - _ROUNDING)).sum())
    share = (1 + as_far) / (1 + _DRAWN)
    return (fit, 0) if fit >= share else (share, _DRAWN)


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


def _intervals_of_two(
    reports: sampling.Counts, channel: Channel, level: float, users: Users
) -> tuple[Interval, Interval]:
    """Exact intervals of both truths: one share is 1 minus the other, so each interval holds its own where both do."""
    kind = int(np.flatnonzero(channel.possible)[1])
    chances = float(channel.matrix[0, kind]), float(channel.matrix[1, kind])
    low, high = interval_of_two(int(reports[kind]), int(reports.sum()), chances, 1 - level, users)
    ends = np.array([1 - high, low]), np.array([1 - low, high])
    return Interval(*ends, level, False), Interval(*ends, level, True)


def analyse_unary(
    support: ArrayLike,
    protocol: UnaryEncoding,
    n: int,
    level: float = 0.95,
    users: Users = "fixed",
    bits: tuple[Bits, ArrayLike] | None = None,
) -> OtherAnalysis:
    """Inv with its intervals, InvN, InvP and the fit, of reports of unary encoding; with the bits of each also the MLE.

    Args:
        support: (k,) number of reports with a one for each category, whole numbers from 0 to n.
        protocol: the encoding.
        n: number of reports, an integer >= 1.
        level: probability of the intervals, between 0 and 1.
        users: as in `analyse_channel`.
        bits: a pair: different reports, (r, k) of 0 and 1, and how often each occurred, (r,); None when only the
            support is known.

    Raises:
        ValueError: naming the argument.

    >>> found = analyse_unary([640, 400, 380], UnaryEncoding(3, 1.0), 1000)
    >>> found.estimates["inv_p"].round(3).tolist(), round(found.fit, 3)
    ([0.99, 0.01, 0.0], 0.329)
    """
    level, n = checked_level(level), _validate.integer("n", n, 1)
    ones = _validate.vector("support", support, protocol.k)
    if ones.ndim != 1:
        raise ValueError(f"support must have shape (k,) = ({protocol.k},), got {ones.shape}")
    estimates = {
        "inv": inv_unary(support, protocol, n),
        "inv_n": inv_n_unary(support, protocol, n),
        "inv_p": inv_p_unary(support, protocol, n),
    }
    variance = protocol.inv_variance(estimates["inv_p"], n, users=users)
    certificate, chances = None, _chances_of_sums(ones, protocol, n)
    if bits is not None:
        if not isinstance(bits, tuple) or len(bits) != 2:
            raise ValueError(
                f"bits must be a pair (reports, occurrences) or None, got {_validate.short(bits)}"
            )
        best = mle_unary(bits[0], protocol, counts=bits[1])
        estimates["mle"], certificate = best.theta, max(best.gap, 0.0)
        of_each = np.bincount(
            np.sum(bits[0], axis=1, dtype=np.int64), np.asarray(bits[1], dtype=float), protocol.k + 1
        )
        chances += _chances_of_each(of_each.astype(float), protocol)
    return OtherAnalysis(
        n,
        protocol.k,
        protocol.epsilon,
        estimates,
        _intervals(estimates["inv"], variance, level),
        certificate,
        min(1.0, len(chances) * min(chances)),
        n * protocol.q < LEAST_EXPECTED,
        tested="sums" if bits is None else "bits",
    )


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
    """The chance of a total that is as improbable on either side, from the sum over the ones of the owners' categories;
    those left out are as good as impossible."""
    owners, others = stats.binom(n, protocol.p), stats.binom(n * (protocol.k - 1), protocol.q)
    own = np.arange(owners.ppf(_IMPOSSIBLE), owners.isf(_IMPOSSIBLE) + 1)
    weights = owners.pmf(own)
    at_most, at_least = weights @ others.cdf(ones - own), weights @ others.sf(ones - own - 1)
    return min(1.0, 2 * float(min(at_most, at_least) + 2 * _IMPOSSIBLE))


def _chances_of_each(reports: Array, protocol: UnaryEncoding) -> list[float]:
    """Of the numbers of reports with 0, 1, ... k ones, (k + 1,): the chance of Pearson's chi-squared, and a bound of that
    of the report furthest out."""
    p, n, ones = protocol.p, float(reports.sum()), np.arange(protocol.k + 1)
    others = stats.binom(protocol.k - 1, protocol.q)  # the ones of a report outside its owner's category
    expected = n * (p * others.pmf(ones - 1) + (1 - p) * others.pmf(ones))
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
    fewest = p * others.cdf(seen[0] - 1) + (1 - p) * others.cdf(seen[0])
    most = p * others.sf(seen[-1] - 2) + (1 - p) * others.sf(seen[-1] - 1)
    pearson = float(special.chdtrc(len(starts) - 1, spread)) if len(starts) > 1 else 1.0
    return [pearson, 2 * n * float(min(fewest, most))]


def _intervals(inv: Array, variance: Array, level: float) -> tuple[Interval, Interval]:
    """Normal intervals, for each category and, by Bonferroni, for all."""
    made = []
    for together in (False, True):
        outside = (1 - level) / (inv.size if together else 1)
        half = -special.ndtri(outside / 2) * np.sqrt(variance)
        made.append(Interval(inv - half, inv + half, level, together))
    return made[0], made[1]
