"""Upper bounds on the tails a plan rests on, smooth in the number of users.

Users drawn from the population: reports are binomial. The exact binomial tail is a saw-tooth in N. The incomplete beta
function, taken between the whole numbers, runs along the tips of the teeth: it is never below the exact tail, it falls as
N grows, and it is solved for N. A promise kept by it is kept at that N and at every larger one.

Fixed users, who report again and again: only the noise is by chance. A share theta of the n users have the category, and
report it with one chance, all others with another. So its reports are the sum of two binomials, with less variance than
one binomial of the same mean, and none of it where the noise is gone. The bounds are strict, about a tenth above the
tail once the deviation is several reports, and fall as n grows. In three steps: the law is tilted to have its mean at
the limit asked about; the tilted probability of any one count is at most a height h, from the characteristic function;
of what lies beyond the limit, about half of the tilted law, the sum is largest when it is a block of that height.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core._validate import Array

_MOST_STEPS = 200
_NATS = 45.0  # beyond which a tail counts as zero
_EXACT = 1e-14
# Constant of the Berry-Esseen inequality for summands of unlike laws (Shevtsova 2010).
_BERRY_ESSEEN = 0.56
_NEWTON_STEPS, _NEAR = 60, 1e-8
# Lengths of the parts of a tail in standard deviations, and the least deviation, in reports, that is cut into them.
_PARTS = (0.2, 0.25, 0.3, 0.4, 0.6)
_MANY = 4.0


def binomial_tail(n: Array, m: Array, rest: Array, distance: Array) -> Array:
    """At least Pr(c > n (m + distance)) for c of Binomial(n, m), with ``rest`` = 1 - m; zero where the distance is
    out of reach, or the tail below e^-45. For Pr(c < n (m - distance)) swap ``m`` and ``rest``. Broadcasts; n > 0.
    """
    n, m, rest, distance = np.broadcast_arrays(n, m, rest, distance)
    out: Array = np.zeros(n.shape)
    # Bernstein's bound, which costs nothing beside the beta function.
    nats = n * distance**2 / (2 * (m * rest + distance / 3))
    for large in (False, True):
        # The complement keeps its digits where m is within rounding of one.
        here = (rest > distance) & (nats < _NATS) & ((m > 0.5) == large)
        more = n[here] * (m[here] + distance[here])
        less = n[here] * (rest[here] - distance[here]) + 1
        if large:
            out[here] = special.betaincc(less, more, rest[here])
        else:
            out[here] = special.betainc(more, less, m[here])
    return out


def detection_threshold(n: Array, q: Array, level: float) -> Array:
    """The x whose next whole number is the smallest number of reports that Binomial(n, q) reaches with probability
    at most ``level``. Where no number of reports is so rare, x is above n. Same shape as ``n`` and ``q``."""
    n, q = np.broadcast_arrays(n, q)
    nats = -math.log(level)
    # Bernstein's bound on the tail, with room for the smoothing.
    high = np.minimum(n * q + nats / 3 + np.sqrt((nats / 3) ** 2 + 2 * nats * n * q * (1 - q)) + 2, n + 1)

    def excess(x: Array, at: NDArray[np.intp]) -> Array:
        return log_or_minus_inf(binomial_at_least(n[at], x, q[at])) + nats

    # More than n q reports have a probability of about a half.
    return decreasing_root(excess, n * q, high, _EXACT)


def binomial_at_least(n: Array, x: Array, m: Array) -> Array:
    """At least Pr(c >= x) for c of Binomial(n, m), exact where x is a whole number; zero beyond n."""
    inside = x < n + 1
    out: Array = np.where(
        inside, special.betainc(np.maximum(x, 1e-300), np.where(inside, n + 1 - x, 1.0), m), 0.0
    )
    return out


def overtaken_sampled(n: Array, m: Array, behind: Array, gap: Array) -> Array:
    """At least Pr(c_i <= c_j) for two categories of a multinomial with probabilities ``m`` >= ``behind``.

    With the difference tilted to mean zero, Pr = rho^n sum_{d >= 0} e^(-lambda d) Pr~(d), where
    rho = 1 - (sqrt m_i - sqrt m_j)^2, e^(2 lambda) = m_i/m_j, and Pr~ is symmetric. Its characteristic function is
    at most that of a difference of two Poisson counts of mean w/2 = n sqrt(m_i m_j)/rho each, plus its mirror image
    at the other end of the circle; and a falling law of given height at zero gives the largest sum when it is
    a block. So a strict bound.

    Args:
        n: users.
        m, behind: probabilities of a report in the one and in the other.
        gap: m - behind, given apart so that it does not cancel.
    """
    both = np.sqrt(m * behind)
    step = gap / (np.sqrt(m) + np.sqrt(behind))
    tilt = np.maximum(np.log1p(gap / behind) / 2, 1e-300)
    rho = 1 - step * step
    height = special.i0e(2 * n * both / rho)
    block = np.expm1(-tilt * (1 + height) / (2 * height)) / np.expm1(-tilt)
    mirror = np.exp(-2 * n * np.maximum(1 - m - behind, 0.0) / rho)
    bound: Array = np.minimum(np.exp(n * np.log1p(-step * step)) * height * (block + mirror), 1.0)
    return bound


def log_or_minus_inf(values: Array) -> Array:
    """log, with -inf for zero."""
    with np.errstate(divide="ignore"):
        logs: Array = np.log(values)
    return logs


def decreasing_root(
    function: Callable[[Array, NDArray[np.intp]], Array], low: Array, high: Array, accuracy: float
) -> Array:
    """Where decreasing functions go from positive to not positive, one per entry of ``low`` and ``high``.

    ``function(x, at)`` gives the values of functions number ``at`` at ``x``; positive at ``low``, not so at ``high``
    (unchecked). It may jump, and be infinite.

    Returns:
        (same shape, one axis) points at which the function is not positive, within ``accuracy`` (relative) of
        one where it is.
    """
    low, high = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    at = np.arange(low.size)
    above, below = function(low, at), function(high, at)
    side = np.zeros(low.size)
    for step in range(_MOST_STEPS):
        at = np.flatnonzero(high - low > accuracy * high)
        if not at.size:
            break
        x = _false_position(low[at], high[at], above[at], below[at], halve=step % 5 == 4)
        # Not nearer to either end than asked for: a last step across the root ends the search.
        margin = accuracy * high[at] / 2
        x = np.clip(x, low[at] + margin, high[at] - margin)
        value = function(x, at)
        falls = value <= 0
        down, up = at[falls], at[~falls]
        high[down], below[down] = x[falls], value[falls]
        low[up], above[up] = x[~falls], value[~falls]
        # Illinois: an end that stays for a second time has its value halved.
        above[down[side[down] < 0]] /= 2
        below[up[side[up] > 0]] /= 2
        side[down], side[up] = -1, 1
    return high


def _false_position(low: Array, high: Array, above: Array, below: Array, *, halve: bool) -> Array:
    middle = (low + high) / 2
    if halve:
        return middle
    with np.errstate(divide="ignore", invalid="ignore"):
        x = low + (high - low) * (above / (above - below))
    out: Array = np.where(np.isfinite(x) & (x > low) & (x < high), x, middle)
    return out


def fixed_users_tail(
    n: Array,
    theta: Array,
    chances: tuple[Array, Array],
    rests: tuple[Array, Array],
    distance: Array,
    *,
    fine: bool = False,
) -> Array:
    """At least Pr(c >= n (m + distance)) for c of Binomial(n theta, a) + Binomial(n (1 - theta), b), n m its mean.

    That is e^(-n I) h (1 - e^(-l L))/(1 - e^(-l)) with the tilt l and its rate I = l (m + distance) - K(l), with
    h = e^(-v) I_0(v) for the tilted variance v (as |phi(t)| <= exp(-v (1 - cos t))), and L = 1 + 1/(2h): beyond its mean
    lies at most a half and one count of a sum of independent zeros and ones (Jogdeo and Samuels 1968). Where one
    report or more lies between, never above the tail of one binomial of that mean (Hoeffding 1956).

    Args:
        n: users, > 0; everything broadcasts.
        theta: share of the users with the first chance.
        chances: (a, b).
        rests: (1 - a, 1 - b), given apart so that they keep their digits.
        distance: > 0; beyond 1 - m the tail is zero.
        fine: tilt several times over, each time for the counts of a part of the tail: within some percent of it, at
            five times the cost.
    """
    n, theta, a, b, rest_a, rest_b, distance = np.broadcast_arrays(n, theta, *chances, *rests, distance)
    law = _TwoBinomials(n, theta, a, b, rest_a, rest_b)
    tilt, chance, height, deviation = law.tilted(distance)
    bound = np.minimum(chance * _largest_sum(tilt, height, 0.5 + height), 1.0)
    if fine:
        bound = np.where(deviation > _MANY, np.minimum(_in_parts(law, distance), bound), bound)
    out: Array = np.where(law.rest > distance, np.where(np.isnan(bound), 1.0, bound), 0.0)
    far = n * distance >= 1
    out[far] = np.minimum(out[far], binomial_tail(n[far], law.mean[far], law.rest[far], distance[far]))
    return out


@dataclass(frozen=True, eq=False)
class _TwoBinomials:
    """Two binomials; arrays of one shape, as in `fixed_users_tail`."""

    n: Array
    theta: Array
    a: Array
    b: Array
    rest_a: Array
    rest_b: Array

    @property
    def mean(self) -> Array:
        return np.asarray(self.theta * self.a + (1 - self.theta) * self.b)

    @property
    def rest(self) -> Array:
        return np.asarray(self.theta * self.rest_a + (1 - self.theta) * self.rest_b)

    def tilted(self, distance: Array) -> tuple[Array, Array, Array, Array]:
        """The tilt l that moves the mean by ``distance``, e^(-n I), h, and the tilted standard deviation."""
        theta, a, b = self.theta, self.a, self.b
        variance = theta * a * self.rest_a + (1 - theta) * b * self.rest_b
        # z = e^l - 1 solves a b (1 - m - distance) z^2 + (variance - distance (a + b)) z = distance.
        middle, square = variance - distance * (a + b), a * b * np.maximum(self.rest - distance, 0.0)
        root = np.sqrt(middle * middle + 4 * square * distance)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = np.where(middle >= 0, 2 * distance / (middle + root), (root - middle) / (2 * square))
            tilt = np.log1p(z)
            rate = distance * tilt
            rate -= theta * (np.log1p(a * z) - a * tilt) + (1 - theta) * (np.log1p(b * z) - b * tilt)
            tilted = (
                theta * a * self.rest_a / (1 + a * z) ** 2 + (1 - theta) * b * self.rest_b / (1 + b * z) ** 2
            )
            tilted = self.n * (1 + z) * tilted
            return tilt, np.exp(-self.n * rate), special.i0e(tilted), np.sqrt(tilted)


def _in_parts(law: _TwoBinomials, distance: Array) -> Array:
    """The tail part by part. A count between two parts belongs to both with what its tilts give it: the two shares are
    less than one by at most a quarter of the difference of the tilts, which is added."""
    total = np.zeros(distance.shape)
    tilt, chance, height, deviation = law.tilted(distance)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for part in _PARTS:
            length = part * deviation
            distance = distance + length / law.n
            # The distance may leave the range, where nothing lies beyond.
            next_tilt, next_chance, next_height, _ = law.tilted(np.minimum(distance, law.rest))
            at_end = chance * height * np.exp(-tilt * length)
            total += chance * _largest_sum(tilt, height, length * height) + (next_tilt - tilt) / 4 * at_end
            tilt, chance, height = next_tilt, next_chance, next_height
        last: Array = total + np.where(
            distance < law.rest, chance * _largest_sum(tilt, height, 0.5 + height), 0.0
        )
    return last


def overtaken_fixed(n: Array, q: Array, keep: Array, others: int, ahead: Array, behind: Array) -> Array:
    """At least Pr(c_i <= c_j) of two categories that shares ``ahead`` > ``behind`` of the users have.

    The difference of the two counts is a sum of independent steps of 1, 0 or -1, of three kinds, and is tilted to have
    mean zero. With b the summed products of the chances of a step up and a step down, v the variance and a = v - 4b,
    |phi(t)| is at most exp(-a (1 - cos t) - b (1 - cos 2t)), so that by Hölder's inequality on either half of the circle
        h = (e^(-v) I_0(v))^(a/v) (e^(-v/4) I_0(v/4)/2)^(4b/v) + e^(-a) e^(-b) I_0(b)/2.
    At most a half of it, and what the inequality of Berry and Esseen allows for its skewness, lies beyond its mean. Of
    two categories the one is overtaken when the other has half of the reports: `fixed_users_tail`.

    Args:
        n: users, > 0; everything broadcasts.
        q, keep: of the channel, q and p - q.
        others: k - 2.
        ahead, behind: shares of the users.
    """
    n, q, keep, ahead, behind = np.broadcast_arrays(n, q, keep, ahead, behind)
    shares = (ahead, behind, np.maximum(1 - ahead - behind, 0.0))
    p = q + keep
    if others == 0:
        return fixed_users_tail(n, behind, (p, q), (q, p), keep * (ahead - behind) / 2)
    kinds = ((p, q), (q, p), (q, q))  # chances of a step up and of a step down
    stays = (others * q, others * q, 1 - 2 * q)
    low, high = (
        -np.log(p / q) / 2,
        np.zeros(n.shape),
    )  # the tilt, with the mean of the steps below and above zero
    tilt = -np.log1p(keep * (ahead - behind) / (q + keep * behind)) / 2
    for _ in range(_NEWTON_STEPS):
        mean, variance = np.zeros(n.shape), np.zeros(n.shape)
        for share, (up, down), stay in zip(shares, kinds, stays, strict=True):
            one, two = up * np.exp(tilt), down * np.exp(-tilt)
            total = one + two + stay
            mean += share * (one - two) / total
            variance += share * (stay * (one + two) + 4 * one * two) / total / total
        low, high = np.where(mean < 0, tilt, low), np.where(mean >= 0, tilt, high)
        step = tilt - mean / variance
        step = np.where((step > low) & (step < high), step, (low + high) / 2)
        moved = np.abs(step - tilt)
        tilt = step
        if (moved <= _NEAR * np.abs(tilt)).all():  # and the last step made it nearer by as much again
            break
    return _overtaken_at_tilt(tilt, n, keep, q, shares, kinds, stays)


def _overtaken_at_tilt(
    tilt: Array,
    n: Array,
    keep: Array,
    q: Array,
    shares: tuple[Array, ...],
    kinds: tuple[tuple[Array, Array], ...],
    stays: tuple[Array, ...],
) -> Array:
    away, back = np.expm1(tilt), np.expm1(-tilt)
    both = 4 * np.sinh(tilt / 2) ** 2  # their sum
    rate = -sum(
        share * np.log1p(grown)
        for share, grown in zip(
            shares, (keep * away + q * both, keep * back + q * both, q * both), strict=True
        )
    )
    single, double, skew = np.zeros(n.shape), np.zeros(n.shape), np.zeros(n.shape)
    for share, (up, down), stay in zip(shares, kinds, stays, strict=True):
        one, two = up * np.exp(tilt), down * np.exp(-tilt)
        total = one + two + stay
        one, two, rests = one / total, two / total, stay / total
        single += n * share * rests * (one + two)
        double += n * share * one * two
        # A step in [-1, 1] is at most 1 + |its mean| from its mean.
        skew += n * share * (1 + np.abs(one - two)) * (rests * (one + two) + 4 * one * two)
    variance = single + 4 * double
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(variance > 0, 4 * double / variance, 0.0)
        height = special.i0e(variance) ** (1 - part) * (special.i0e(variance / 4) / 2) ** part
        height += np.exp(-single) * special.i0e(double) / 2
        half = np.minimum(0.5 + _BERRY_ESSEEN * skew / variance**1.5, 1.0)
        bound = np.exp(-n * rate) * _largest_sum(-tilt, height, half)
    out: Array = np.minimum(np.where(np.isnan(bound), 1.0, bound), 1.0)
    return out


def _largest_sum(tilt: Array, height: Array, mass: Array) -> Array:
    """Largest sum of e^(-tilt j) p_j over j = 0, 1, … when no p_j is above ``height``, nor their sum above ``mass``."""
    with np.errstate(invalid="ignore"):  # 0/0 without a tilt, which the callers take for no bound
        block: Array = height * np.expm1(-tilt * mass / height) / np.expm1(-tilt)
    return block
