"""How many people a survey needs for one share, under any design's table of chances of two truths, no and yes.

People are drawn from a population, and the share is the population's. One person's part of Inv for a truth has variance

    V(share) = share v_own + (1 - share) v_other + share (1 - share),

v the variance of Inv of one report given the truth (`inv_covariance_channel` at fixed users), and the last part that of
being drawn. With a = Pr(yes | has it), b = Pr(yes | has it not) and m = b + (a - b) share it is m(1 - m)/(a - b)^2, for
b = 1 - a Warner's (JASA 60, 1965, https://doi.org/10.1080/01621459.1965.10480775).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN
from rr_core.plan import tails
from rr_core.plan.solve import N_MOST, Channels, least_users
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_covariance_channel

GoalKey = Literal["half_width", "power", "difference"]
LEVEL = 0.05  # of the tests, and what the interval misses
_TWO_SIDED = -special.ndtri(LEVEL / 2)
_POINTS = 61  # of a curve
_FEW = 3000  # people up to whom every number is tried
_ROUNDING = 1e-12  # relative, of a number of people before it is rounded up


@dataclass(frozen=True)
class Goal:
    """What is asked for.

    Attributes:
        kind: "half_width": the 95% interval reaches no more than ``value`` to either side of the share; "power": a test
            at level 5% that the share is zero finds that it is not; "difference": a two-sided test at that level finds
            the difference ``value`` between the shares of two groups, of which the second has the larger.
        value: above 0, below 1; without a part in "power".
        power: chance that the test finds it, from 0.5 to 0.9999; without a part in "half_width".

    Raises:
        ValueError: naming the argument.
    """

    kind: GoalKey
    value: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        _validate.one_of("kind", self.kind, ("half_width", "power", "difference"))
        _validate.fraction("value", self.value)
        _validate.within("power", self.power, CONFIDENCE_MIN, CONFIDENCE_MAX)

    @property
    def largest_share(self) -> float:
        """The largest share that can be assumed."""
        return 1 - self.value if self.kind == "difference" else 1.0


def people_needed(channel: Channel, goal: Goal, shares: ArrayLike) -> Array:
    """The number of people, for "difference" in each of the two groups.

    The half-width and the difference are by the normal law. Power against zero is by the exact binomial, of those reports
    that speak for the truth, for the number of people from which on it is reached (`rr_core.plan.tails`).

    Args:
        channel: (2, m) table of chances that tells its truths apart.
        goal: what is asked for.
        shares: assumed shares, any shape, from 0 (for "power" above it) to ``goal.largest_share``; of the first group.

    Returns:
        Whole numbers as floats, same shape; infinite beyond 1e12.

    Raises:
        ValueError: where the truth is not identified, or naming the argument.

    >>> warner = Channel.warner(0.7)
    >>> float(people_needed(warner, Goal("half_width", 0.03), 0.1))
    5987.0
    >>> people_needed(warner, Goal("difference", 0.05, 0.8), [0.1, 0.3]).tolist()
    [8925.0, 9615.0]
    """
    _check_goal(goal)
    assumed = _validate.numbers("shares", shares).astype(np.float64)
    least = 0 if goal.kind != "power" else np.finfo(np.float64).tiny
    if not ((assumed >= least) & (assumed <= goal.largest_share * (1 + _ROUNDING))).all():
        allowed = f"{'above 0, up' if least else 'from 0'} to {goal.largest_share:g}"
        raise ValueError(f"shares must be {allowed}, got {_validate.short(shares)}")
    own, other = _variances(channel)

    def variance(share: Array) -> Array:
        return np.asarray(share * own + (1 - share) * other + share * (1 - share))

    if goal.kind == "half_width":
        needed = _TWO_SIDED**2 * variance(assumed) / goal.value**2
    elif goal.kind == "difference":
        both = variance(assumed) + variance(np.minimum(assumed + goal.value, 1.0))
        needed = (_TWO_SIDED + special.ndtri(goal.power)) ** 2 * both / goal.value**2
    else:
        return _by_the_binomial(channel, assumed, goal.power)
    people: Array = np.maximum(np.ceil(needed * (1 - _ROUNDING)), 1.0)
    return np.where(people <= N_MOST, people, np.inf)


def hardest_share(channel: Channel, goal: Goal) -> float:
    """The share at which "half_width" or "difference" takes most people: where the parabola V, or the sum of two, is
    highest.

    >>> hardest_share(Channel.warner(0.7), Goal("half_width", 0.03))
    0.5
    """
    _check_goal(goal)
    own, other = _variances(channel)
    apart = goal.value / 2 if goal.kind == "difference" else 0.0
    return float(np.clip((1 + own - other) / 2 - apart, 0.0, goal.largest_share))


@dataclass(frozen=True, eq=False)
class ShareCurve:
    """The number of people against the assumed share.

    Attributes:
        goal: what is asked for.
        share, needed: the share that is assumed, and the number of people.
        others: the same at half and at twice that share, where it can be assumed.
        hardest: the same at the share that takes most; None for "power", which takes the more the smaller it is.
        shares, people: (points,) the curve.
    """

    goal: Goal
    share: float
    needed: float
    others: tuple[tuple[float, float], ...]
    hardest: tuple[float, float] | None
    shares: Array
    people: Array


def share_curve(channel: Channel, goal: Goal, share: float) -> ShareCurve:
    """`people_needed` at a share, around it, and along all shares; arguments and errors as there.

    >>> share_curve(Channel.warner(0.7), Goal("half_width", 0.03), 0.1).hardest
    (0.5, 6670.0)
    """
    _check_goal(goal)
    share = _validate.real("share", share, "a number above 0")

    def needed(at: float) -> float:
        return float(people_needed(channel, goal, at))

    others = tuple((at, needed(at)) for at in (share / 2, 2 * share) if at <= goal.largest_share)
    hardest = None if goal.kind == "power" else hardest_share(channel, goal)
    shares = (
        np.geomspace(min(share / 10, 0.01), 1, _POINTS)
        if hardest is None
        else np.linspace(0, goal.largest_share, _POINTS)
    )
    return ShareCurve(
        goal,
        share,
        needed(share),
        others,
        None if hardest is None else (hardest, needed(hardest)),
        shares,
        people_needed(channel, goal, shares),
    )


def _check_goal(goal: Goal) -> None:
    if not isinstance(goal, Goal):
        raise ValueError(f"goal must be a Goal, got {_validate.short(goal)}")


def _variances(channel: Channel) -> tuple[float, float]:
    """Of Inv of one report: given that its person has it, and has it not."""
    if channel.k != 2:
        raise ValueError(f"channel must have k = 2 truths, got {channel.k}")
    no, yes = (max(float(inv_covariance_channel(truth, 1, channel)[1, 1]), 0.0) for truth in np.eye(2))
    return yes, no


def _by_the_binomial(channel: Channel, shares: Array, power: float) -> Array:
    """The test of how many reports speak for the truth, against Binomial(N, b). Of more kinds than two these are
    the first in the order of their likelihood ratios, as many as tell a small share best: with the largest
    (a - b)^2/(b (1 - b))."""
    not_have, have = channel.matrix
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.nan_to_num(have / not_have, nan=0.0), kind="stable")
        a, b = (np.minimum(np.cumsum(row[order])[:-1], 1.0) for row in (have, not_have))
        best = int(np.argmax(np.nan_to_num((a - b) ** 2 / (b * (1 - b)), nan=0.0)))
    none, gain = float(b[best]), float(a[best] - b[best]) * shares.ravel()
    allowed = math.log1p(-power)

    def short(tables: Channels, n: Array) -> Array:
        least = tails.detection_threshold(n, tables.q, LEVEL) + 1
        possible = least < n + 1
        rest = np.clip(1 - tables.q - tables.keep, 0.0, 1.0)
        missed = special.betainc(np.where(possible, n + 1 - least, 1.0), least, rest)
        return np.where(possible, tails.log_or_minus_inf(missed), 0.0) - allowed

    people = least_users(short, Channels(2, np.full(gain.shape, none), gain))
    # Of few people the teeth of the exact tails, over whose tips these bounds go, are wide.
    few, n = np.flatnonzero(people <= _FEW), np.arange(1, _FEW + 1)
    threshold = scipy.stats.binom.isf(LEVEL, n, none)
    missed = scipy.stats.binom.sf(threshold, n, np.minimum(none + gain[few, None], 1.0)) < power
    missed &= n < people[few, None]
    people[few] = np.where(missed, n, 0).max(axis=1, initial=0) + 1
    return people.reshape(shares.shape)
