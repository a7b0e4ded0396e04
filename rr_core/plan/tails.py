"""Upper bounds on the tails a plan rests on, smooth in the number of users.

The exact binomial tail is a saw-tooth in N. The incomplete beta function, taken between the whole numbers, runs
along the tips of the teeth: it is never below the exact tail, it falls as N grows, and it is solved for N. A
promise kept by it is kept at that N and at every larger one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core._validate import Array

_MOST_STEPS = 200
_NATS = 45.0
_EXACT = 1e-14


def beyond(n: Array, m: Array, rest: Array, distance: Array) -> Array:
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


def threshold(n: Array, q: Array, level: float) -> Array:
    """The x whose next whole number is the smallest number of reports that Binomial(n, q) reaches with probability
    at most ``level``. Where no number of reports is so rare, x is above n. Same shape as ``n`` and ``q``."""
    n, q = np.broadcast_arrays(n, q)
    nats = -math.log(level)
    # Bernstein's bound on the tail, with room for the smoothing.
    high = np.minimum(n * q + nats / 3 + np.sqrt((nats / 3) ** 2 + 2 * nats * n * q * (1 - q)) + 2, n + 1)

    def excess(x: Array, at: NDArray[np.intp]) -> Array:
        return logarithm(at_least(n[at], x, q[at])) + nats

    # More than n q reports have a probability of about a half.
    return decreasing_root(excess, n * q, high, _EXACT)


def at_least(n: Array, x: Array, m: Array) -> Array:
    """At least Pr(c >= x) for c of Binomial(n, m), exact where x is a whole number; zero beyond n."""
    inside = x < n + 1
    out: Array = np.where(
        inside, special.betainc(np.maximum(x, 1e-300), np.where(inside, n + 1 - x, 1.0), m), 0.0
    )
    return out


def overtaken(n: Array, m: Array, behind: Array, gap: Array) -> Array:
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


def logarithm(values: Array) -> Array:
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
        x = _between(low[at], high[at], above[at], below[at], halve=step % 5 == 4)
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


def _between(low: Array, high: Array, above: Array, below: Array, *, halve: bool) -> Array:
    middle = (low + high) / 2
    if halve:
        return middle
    with np.errstate(divide="ignore", invalid="ignore"):
        x = low + (high - low) * (above / (above - below))
    out: Array = np.where(np.isfinite(x) & (x > low) & (x < high), x, middle)
    return out
