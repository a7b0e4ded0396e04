"""One set of collected reports, analysed, whatever design made them: estimates, intervals, tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate, sampling
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, check_users, variance_at
from rr_core.profile import profile, table_size
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_channel, mle_channel
from rr_core.protocols.unary import Bits, UnaryEncoding, inv_n_unary, inv_p_unary, inv_unary
from rr_core.protocols.unary_estimation import mle_unary
from rr_core.registry import RULES
from rr_core.reports.intervals import (
    AboveZero,
    Interval,
    above_zero,
    checked_counts,
    interval_of_two,
    inv_interval,
    too_few_reports,
    upper_tail,
)
from rr_core.reports.nearest import SAME_WITHIN, Nearest, nearest
from rr_core.reports.protocol_fit import LEAST_EXPECTED, Fit, fit_of_channel, fit_of_unary
from rr_core.reports.saddlepoint import chances_if_nobody
from rr_core.rounding import p_of_file

Collecting = RandomizedResponse | Channel | UnaryEncoding
_ROUNDING, _OF_SQUARES = 1e-9, 1e-14
ALIKE = 1e-6  # shares that the maximum of the likelihood is not found more closely than


@dataclass(frozen=True, eq=False)
class ByGroup:
    """What made the reports of each group, where that differs: another epsilon, another p, another table.

    Args:
        designs: one for each group, all of one kind and over the same categories and reports; those that tell the truths
            apart.

    Raises:
        ValueError: naming the argument.

    >>> waves = ByGroup([RandomizedResponse(3, 1.0), RandomizedResponse(3, 2.0)])
    >>> waves.k, waves.epsilon
    (3, 2.0)
    """

    designs: Sequence[Collecting]

    def __post_init__(self) -> None:
        object.__setattr__(self, "designs", tuple(self.designs))
        for one in self.designs:
            if not isinstance(one, Collecting):
                raise ValueError(
                    f"designs must be RandomizedResponse, Channel or UnaryEncoding, got {_validate.short(one)}"
                )
        if len({(type(one), one.k, getattr(one, "m", one.k)) for one in self.designs}) != 1:
            raise ValueError("designs must be of one kind, over the same categories and reports, got others")
        if not all(getattr(one, "identified", True) for one in self.designs):
            raise ValueError("designs must tell the truths apart, got one that does not")

    @property
    def k(self) -> int:
        """Number of categories."""
        return self.designs[0].k

    @property
    def epsilon(self) -> float:
        """What is granted to everybody: the largest epsilon of the groups."""
        return max(one.epsilon for one in self.designs)


@dataclass(frozen=True, eq=False)
class Analysis:
    """One set of reports, analysed.

    Attributes:
        counts: (m,) reports of each kind; of unary encoding (k,) ones of each category.
        protocol: what produced them; `ByGroup` where these are groups that it differs in, taken together.
        n: number of reports.
        level: probability of the intervals; the tests against zero have familywise error 1 - level.
        users: whether the truth is that of these users ("fixed") or of their population ("sampled").
        estimates: (k,) by name. k-RR: "inv", "inv_n", "inv_p", "mle_star". Unary encoding: "inv", "inv_n", "inv_p",
            and "mle" where the bits of each report are known. A channel: "mle", and "inv" where it identifies the
            truth. `ByGroup`: "inv", "inv_n", "inv_p".
        interval, simultaneous: for Inv, of each category and of all at once.
        above: the tests of each category against zero; None, as the intervals, where there is no Inv.
        few: whether so few reports of some kind are expected that intervals and tests are rough.
        nearest: which estimate is nearest to the truth; of k-RR only, else None.
        certificate: of "mle", in nats per report; None without it.
        fit: the test of fit; None for k-RR, whose test is simulated apart (`epsilon_fit`).
    """

    counts: NDArray[np.int64]
    protocol: Collecting | ByGroup
    n: int
    level: float
    users: Users
    estimates: dict[str, Array]
    interval: Interval | None
    simultaneous: Interval | None
    above: AboveZero | None
    few: bool
    nearest: Nearest | None = None
    certificate: float | None = None
    fit: Fit | None = None

    @property
    def k(self) -> int:
        """Number of categories."""
        return self.protocol.k

    @property
    def people(self) -> float:
        """How many people the shares are of."""
        return self.n

    @property
    def epsilon(self) -> float:
        """What the protocol grants, in nats; infinite where it grants none."""
        return self.protocol.epsilon

    @property
    def close(self) -> float:
        """By how much shares may differ that are the same: the maximum of the likelihood is found no more closely."""
        return SAME_WITHIN if isinstance(self.protocol, RandomizedResponse) else ALIKE

    @property
    def leading(self) -> str:
        """The estimator shown first: Inv where `drowned`. Else of k-RR the one estimated to be nearest to the truth; of
        other designs, and with weights, that of maximum likelihood, or InvP."""
        if self.drowned:
            return "inv"
        if self.nearest is not None:
            return self.nearest.preferred
        return "mle" if "mle" in self.estimates else "inv_p"

    @property
    def drowned(self) -> bool:
        """Whether no share is significantly above zero: what repairs Inv can then be far more even than the truth. Not of
        two categories, where repairing cuts Inv at 0 and 1, which never takes it farther from the truth."""
        return self.k > 2 and self.above is not None and not self.above.above.any()

    def variance_of_inv(self) -> Array:
        """(k,) variance of Inv; not of `ByGroup`."""
        assert not isinstance(self.protocol, ByGroup)
        return variance_of_inv(self.estimates["inv"], self.n, self.protocol, self.users)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table of results but for the names of categories and their reports.

        "share" is the estimate to report, and "estimate" the name of its column; "low" and "high" end the interval of
        Inv, cut at 0 and 1 but where it lies wholly outside (nan where there is none).
        ``people_`` columns are shares times `people`. ``inv_low`` and ``inv_high`` end the interval of Inv for one
        category, the same with ``_all`` those that hold for all categories at once; with ``_cut`` they are cut to [0, 1].
        The repaired estimates have no intervals of their own.
        """
        columns: dict[str, NDArray[Any]] = {"share": self.estimates[self.leading]}
        shown = None if self.interval is None else self.interval.cut_unless_outside()
        for name in ("low", "high"):
            columns[name] = np.full(self.k, np.nan) if shown is None else getattr(shown, name)
        columns["estimate"] = np.full(self.k, self.leading, dtype=object)
        columns |= self.estimates
        for ending, limits in (("", self.interval), ("_all", self.simultaneous)):
            for kind, ends in () if limits is None else (("", limits), ("_cut", limits.cut())):
                columns[f"inv_low{ending}{kind}"], columns[f"inv_high{ending}{kind}"] = ends.low, ends.high
        columns |= {f"people_{name}": shares * self.people for name, shares in self.estimates.items()}
        if self.above is not None:
            columns["p_value"] = p_of_file(self.above.p_values)
            columns["p_holm"] = p_of_file(self.above.adjusted)
            columns["above_zero"] = self.above.above
        return columns


def analyse(
    counts: ArrayLike,
    protocol: Collecting,
    level: float = 0.95,
    users: Users = "fixed",
    *,
    n: int | None = None,
    bits: tuple[Bits, ArrayLike] | None = None,
) -> Analysis:
    """The estimates, the intervals for Inv, the tests against zero, and what the protocol allows beyond: for k-RR which
    estimate is nearest to the truth, for the others a certificate and a test of fit.

    Args:
        counts: reports of each kind, (k,) or for a channel (m,), whole numbers with a total of at least 1; for unary
            encoding (k,) the reports with a one for each category, whole numbers from 0 to n.
        protocol: what produced them.
        level: probability of the intervals, between 0 and 1.
        users: "fixed" or "sampled", as in `metrics.inv_variance`.
        n: number of reports, needed for unary encoding only, else their sum.
        bits: of unary encoding, a pair: different reports, (r, k) of 0 and 1, and how often each occurred, (r,); None
            where only their sums are known.

    Raises:
        ValueError: naming the argument; also for reports that a channel cannot produce.

    >>> result = analyse([520, 310, 170], RandomizedResponse(3, 1.0))
    >>> result.estimates["mle_star"].round(3).tolist(), result.above.above.tolist()
    ([0.774, 0.226, 0.0], [True, True, False])
    >>> found = analyse([360, 640], Channel.warner(0.2), users="sampled")  # 0 = no, 1 = yes
    >>> found.estimates["inv"].round(6).tolist(), round(found.epsilon, 4)
    ([0.733333, 0.266667], 1.3863)
    >>> found = analyse([640, 400, 380], UnaryEncoding(3, 1.0), n=1000)
    >>> found.estimates["inv_p"].round(3).tolist(), round(found.fit.p_value, 3)
    ([0.99, 0.01, 0.0], 0.329)
    """
    level = _validate.fraction("level", level)
    check_users(users)
    if isinstance(protocol, UnaryEncoding):
        return _of_unary(counts, protocol, level, users, n, bits)
    if isinstance(protocol, Channel):
        return _of_channel(counts, protocol, level, users)
    if not isinstance(protocol, RandomizedResponse):
        raise ValueError(
            f"protocol must be a RandomizedResponse, Channel or UnaryEncoding, got {_validate.short(protocol)}"
        )
    checked = checked_counts(counts, protocol.k)
    rows = checked[None]
    size = table_size(rows)
    levels = profile(rows, size)
    total = int(checked.sum())
    estimates = {name: make(levels, protocol).apply(rows, size)[0] for name, make in RULES.items()}
    alone, together = (
        inv_interval(checked, protocol, level, users=users, simultaneous=at_once) for at_once in (False, True)
    )
    above, few = above_zero(checked, protocol, 1 - level), too_few_reports(total, protocol, level)
    told = (checked, protocol, total, level, users, estimates, alone, together, above, few)
    return Analysis(*told, nearest(checked, protocol, users))


def _of_channel(counts: ArrayLike, channel: Channel, level: float, users: Users) -> Analysis:
    reports = checked_counts(counts, channel.m)
    best = mle_channel(reports, channel)
    n, estimates = int(reports.sum()), {"mle": best.theta}
    expected = n * channel.expected(best.theta)[channel.possible]
    exact = expected.size == 2
    intervals: tuple[Interval | None, Interval | None] = (None, None)
    above = None
    if channel.identified:
        estimates = {"inv": inv_channel(reports, channel), "mle": best.theta}
        if exact and channel.k == 2:
            intervals = _intervals_of_two(reports, channel, level, users)
        else:
            variance = variance_of_inv(estimates["inv"], n, channel, users)
            intervals = intervals_of_inv(estimates["inv"], variance, level)
        above = AboveZero.of(*chances_if_nobody([reports], [channel], [best.theta]), level=1 - level)
    few = bool(expected.min() < LEAST_EXPECTED) and not exact
    fit, told = fit_of_channel(reports, channel, expected), (reports, channel, n, level, users, estimates)
    return Analysis(*told, *intervals, above, few, certificate=max(best.gap, 0.0), fit=fit)


def variance_of_one(theta: Array, protocol: Collecting, users: Users) -> Array:
    """(k,) variances of Inv from a single report at these shares; at an Inv that they cannot be, no smaller than at any
    that can."""
    if isinstance(protocol, UnaryEncoding):
        return protocol.inv_variance(np.clip(theta, 0, 1), 1, users=users)
    if isinstance(protocol, RandomizedResponse):
        return variance_at(np.clip(theta, 0, 1), 1, protocol, users)
    adds = inv_channel(np.eye(protocol.m), protocol)
    squares = protocol.matrix @ adds**2  # by truth, of what a report adds to each share, whose mean is 1 or 0
    of_truth = squares - np.eye(protocol.k)
    of_truth[of_truth <= _OF_SQUARES * np.maximum(squares, 1.0)] = 0.0  # of reports that a truth always sends
    luck = np.maximum(theta * (1 - theta), 0.0) if users == "sampled" else 0.0
    return np.asarray(np.maximum(np.maximum(theta @ of_truth, of_truth.min(axis=0)) + luck, 0.0))


def variance_of_inv(inv: Array, n: float, protocol: Collecting, users: Users) -> Array:
    """(k,) estimated variances of Inv from n reports, without bias: they are those at Inv itself, for estimates that are
    no longer negative have smaller large shares. Where a channel leaves none, because everybody would report alike, those
    with two more people who are spread evenly (Agresti and Coull 1998): some who report otherwise may not have been
    seen."""
    variance = variance_of_one(inv, protocol, users) / n
    none = variance <= _ROUNDING**2
    if isinstance(protocol, Channel) and none.any():
        more = variance_of_one((n * inv + 2 / protocol.k) / (n + 2), protocol, users) / n
        variance = np.where(none, more, variance)
    return variance


def _intervals_of_two(
    reports: sampling.Counts, channel: Channel, level: float, users: Users
) -> tuple[Interval, Interval]:
    """Exact intervals of both truths: one share is 1 minus the other, so each interval holds its own where both do."""
    kind = int(np.flatnonzero(channel.possible)[1])
    chances = float(channel.matrix[0, kind]), float(channel.matrix[1, kind])
    low, high = interval_of_two(int(reports[kind]), int(reports.sum()), chances, 1 - level, users)
    ends = np.array([1 - high, low]), np.array([1 - low, high])
    return Interval(*ends, level, False), Interval(*ends, level, True)


def _of_unary(
    support: ArrayLike,
    protocol: UnaryEncoding,
    level: float,
    users: Users,
    n: int | None,
    bits: tuple[Bits, ArrayLike] | None,
) -> Analysis:
    n = _validate.integer("n", n, 1)
    ones = _validate.vector("counts", support, protocol.k)
    if ones.ndim != 1:
        raise ValueError(f"counts must have shape (k,) = ({protocol.k},), got {ones.shape}")
    if bits is not None and (not isinstance(bits, tuple) or len(bits) != 2):
        raise ValueError(f"bits must be a pair (reports, occurrences) or None, got {_validate.short(bits)}")
    estimates, certificate = of_ones(ones, n, protocol, bits)
    variance = variance_of_inv(estimates["inv"], n, protocol, users)
    intervals = intervals_of_inv(estimates["inv"], variance, level)
    # Of a category that nobody has, the ones are Binomial(N, q) exactly.
    above = AboveZero.of(upper_tail(ones.astype(float), n, protocol.q), level=1 - level)
    fit = fit_of_unary(ones, protocol, n, None if bits is None else (bits[0], np.asarray(bits[1])))
    few, told = n * protocol.q < LEAST_EXPECTED, (ones.astype(np.int64), protocol, n, level, users, estimates)
    return Analysis(*told, *intervals, above, few, certificate=certificate, fit=fit)


def of_ones(
    ones: Array, n: int, protocol: UnaryEncoding, bits: tuple[Bits, ArrayLike] | None
) -> tuple[dict[str, Array], float | None]:
    """The estimates from the (k,) ones of n reports; where bits are known, also MLE with its certificate."""
    rules = {"inv": inv_unary, "inv_n": inv_n_unary, "inv_p": inv_p_unary}
    estimates = {name: rule(ones, protocol, n) for name, rule in rules.items()}
    if bits is None:
        return estimates, None
    best = mle_unary(bits[0], protocol, counts=bits[1])
    return {**estimates, "mle": best.theta}, max(best.gap, 0.0)


def intervals_of_inv(
    inv: Array,
    variance: Array,
    level: float,
    quantile: Callable[[float], float] = special.ndtri,
) -> tuple[Interval, Interval]:
    """Intervals of Inv, for each category and, by Bonferroni, for all; ``quantile`` is that of the law of Inv."""
    made = []
    for together in (False, True):
        outside = (1 - level) / (inv.size if together else 1)
        half = -quantile(outside / 2) * np.sqrt(variance)
        made.append(Interval(inv - half, inv + half, level, together))
    return made[0], made[1]
