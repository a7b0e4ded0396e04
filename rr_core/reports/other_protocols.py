"""Reports that another protocol than k-RR made: estimates, intervals and a test of fit, for any channel and for unary
encoding.

The tests of fit need no simulation. They bound the chance of what was seen, whatever the truth is:

- Channel: the likelihood ratio G = 2 sum_j Y_j log(Y_j/(N mu_j)) of the reports Y against the best fit mu = theta C is at
  most that against the truth, which is chi-squared with (possible reports - 1) degrees of freedom for many users drawn
  from a population (G is smaller for given ones, whose reports vary less).
- Unary encoding: the ones of all reports together are Binomial(N, p) + Binomial(N (k - 1), q), and those of a category
  are at least Binomial(N, q) and at most Binomial(N, p). So three chances are compared: of the total, by the normal law,
  of the smallest and of the largest support; the least of them times three is a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.metrics import Users
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_channel, inv_covariance_channel, mle_channel
from rr_core.protocols.unary import Bits, UnaryEncoding, inv_n_unary, inv_p_unary, inv_unary
from rr_core.protocols.unary_estimation import mle_unary
from rr_core.reports.intervals import Interval, checked_level

# Where the limits of the intervals and of the tests rest on the normal law: this many reports of each kind.
LEAST_EXPECTED = 5.0


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
        few: whether fewer than `LEAST_EXPECTED` of some kind of report are expected, so that intervals and ``fit`` are
            rough.
    """

    n: int
    k: int
    epsilon: float
    estimates: dict[str, Array]
    intervals: tuple[Interval, Interval] | None
    certificate: float | None
    fit: float
    few: bool


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
    reports = sampling.whole_counts("counts", counts, channel.m)
    if reports.ndim != 1 or not reports.any():
        raise ValueError(f"counts must have shape (m,) and a total >= 1, got shape {reports.shape}")
    best = mle_channel(reports, channel)
    n, estimates = int(reports.sum()), {"mle": best.theta}
    intervals = None
    if channel.identified:
        estimates = {"inv": inv_channel(reports, channel), "mle": best.theta}
        variance = np.diag(inv_covariance_channel(best.theta, n, channel, users=users))
        intervals = _intervals(estimates["inv"], np.maximum(variance, 0.0), level)
    expected = n * channel.expected(best.theta)[channel.possible]
    return OtherAnalysis(
        n,
        channel.k,
        channel.epsilon,
        estimates,
        intervals,
        max(best.gap, 0.0),
        _fit_of_channel(reports[channel.possible], expected),
        bool(expected.min() < LEAST_EXPECTED),
    )


def _fit_of_channel(reports: sampling.Counts, expected: Array) -> float:
    """The chance that chi-squared reaches twice the log of the likelihood ratio."""
    if reports.size == 1:
        return 1.0
    ratio = 2 * float(special.rel_entr(reports, expected).sum())
    return float(special.chdtrc(reports.size - 1, max(ratio, 0.0)))


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
        bits: different reports, (r, k) of 0 and 1, and how often each occurred, (r,); None when only the support is
            known.

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
    certificate = None
    if bits is not None:
        best = mle_unary(bits[0], protocol, counts=bits[1])
        estimates["mle"], certificate = best.theta, max(best.gap, 0.0)
    return OtherAnalysis(
        n,
        protocol.k,
        protocol.epsilon,
        estimates,
        _intervals(estimates["inv"], variance, level),
        certificate,
        _fit_of_unary(np.asarray(support), protocol, n),
        n * protocol.q < LEAST_EXPECTED,
    )


def _fit_of_unary(support: Array, protocol: UnaryEncoding, n: int) -> float:
    p, q, k = protocol.p, protocol.q, protocol.k
    spread = math.sqrt(n * (p * (1 - p) + (k - 1) * q * (1 - q)))
    off = abs(float(support.sum()) - n * (p + (k - 1) * q))
    total = 2 * float(special.ndtr(-off / spread)) if spread > 0 else float(off == 0)
    smallest = k * float(special.bdtr(float(support.min()), n, q))
    largest = k * float(special.bdtrc(float(support.max()) - 1, n, p)) if support.max() > 0 else 1.0
    return min(1.0, 3 * min(total, smallest, largest))


def _intervals(inv: Array, variance: Array, level: float) -> tuple[Interval, Interval]:
    """Normal intervals, for each category and, by Bonferroni, for all."""
    made = []
    for together in (False, True):
        outside = (1 - level) / (inv.size if together else 1)
        half = -special.ndtri(outside / 2) * np.sqrt(variance)
        made.append(Interval(inv - half, inv + half, level, together))
    return made[0], made[1]
