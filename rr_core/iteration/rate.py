"""How fast IBU converges in the end, and which categories hold it up.

Near its limit IBU is linear: an error delta becomes delta'_i = (1 - h_i) delta_i + theta_i sum_j h_j delta_j,
where theta is the limit and, with r_i = (p-q) phi_i/(q + (p-q) theta_i), one number r on the support,

    h_i = r (p-q) theta_i/(q + (p-q) theta_i)   on the support,        h_i = 1 - m_i   off the support.

For eq. (5) has the derivative J_ij = [i=j](m_i - theta_i (p-q) r_i/w_i) - theta_i q r_j/w_j, w = q + (p-q) theta.
On the support m_i = 1, so the diagonal is 1 - h_i. In the sum over j, q/w_j = 1 - (p-q) theta_j/w_j turns
-q r_j/w_j into h_j - r there; off the support theta_j = 0 makes it -r_j, and h_j = r - r_j, as m_j is
1 - r + r_j; so it is h_j - r for all j, and the constant r goes because the errors sum to zero.

So every category has a pace of its own, h_i, and all that couples them is one sum. On the support h_i grows
with theta_i; off it, with how far the count lies below the border: what is slow is what is near the border of
the support, on either side. No pace exceeds r, which is p - q when every category is kept. Off the support
an error decays by 1 - h_i exactly. On it, the decays mu of errors that are equal within levels solve
sum_i theta_i/(h_i - mu) = 0: one between each two neighbouring distinct h_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from rr_core._validate import Array
from rr_core.iteration.record import IBUPath, odds_of, one_histogram

_ROUNDING = 1e-13  # of a decay


@dataclass(frozen=True, eq=False)
class LocalRate:
    """The pace of IBU close to its limit, for one histogram; arrays are (levels,), as in `IBUPath`.

    Attributes:
        counts, multiplicities: reports of one category of the level, and how many such categories.
        support: whether the limit is positive there.
        own_decay: h_i, the share of its own error that a category loses in one iteration; nan where the
            start is zero, and nothing ever moves.
        believed: (p-q) theta_i/(q + (p-q) theta_i), the share of its reports that are truthful by the limit.
        pace: r, which no h_i exceeds; 0 when IBU stands still from the start.
        decay: the share of the whole error that one iteration removes in the end, from 0 to 1. At 0 (a
            category exactly on the border) convergence is slower than geometric; 1 when the start is the limit.
        mode: the error that decays this slowly, largest entry 1 in size.
        slowest: the level that holds the others up: outside the support the one with the smallest h_i if nothing inside
            is slower; else the one with the smallest h_i inside.
    """

    counts: Array
    multiplicities: Array
    support: NDArray[np.bool_]
    own_decay: Array
    believed: Array
    pace: float
    decay: float
    mode: Array
    slowest: int

    @property
    def on_border(self) -> bool:
        """Whether a category lies exactly on the border, up to rounding."""
        return self.decay < _ROUNDING

    @property
    def factor(self) -> float:
        """What one iteration leaves of the error in the end: 1 - decay."""
        return 1 - self.decay

    @property
    def iterations_per_digit(self) -> float:
        """Iterations that divide the error by ten in the end (its square by a hundred)."""
        if self.on_border or self.decay == 1:
            return math.inf if self.on_border else 1.0
        return -math.log(10) / math.log1p(-self.decay)


def local_rate(path: IBUPath) -> LocalRate:
    """The exact asymptotic pace of IBU towards ``path.limit``, from the start of this path. O(levels).

    Errors that differ within a level are left out: none arises from the start.

    Args:
        path: of one histogram; take one out of a batch by `IBUPath.row`.

    Raises:
        ValueError: naming the argument.
    """
    one_histogram(path)
    theta, sizes, alive = path.limit, path.multiplicities, path.start > 0
    support = theta > 0
    odds = float(odds_of(path.mechanisms)[0, 0])
    gain, clear = odds * path.counts / (path.counts @ sizes), odds * theta / (1 + odds * theta)
    first = int(np.argmax(support))
    pace = float(gain[first] / (1 + odds * theta[first]))
    own = np.where(alive, np.where(support, pace * clear, np.maximum(pace - gain, 0)), np.nan)
    still = 1.0, np.zeros_like(theta), first
    decay, mode, slowest = _slowest(own, theta, sizes, alive & ~support) if pace else still
    return LocalRate(path.counts, sizes, support, own, clear, pace, decay, mode, slowest)


def _slowest(own: Array, theta: Array, sizes: Array, off: NDArray[np.bool_]) -> tuple[float, Array, int]:
    """The smallest decay, its error on levels, and the level behind it; ``off`` says which are outside the support but
    move."""
    support = theta > 0
    mode = np.zeros_like(theta)
    decay, mode[support] = _slowest_inside(own[support], theta[support], sizes[support])
    level = int(np.argmin(np.where(support, own, np.inf)))
    if off.any() and (outside := float(own[off].min())) < decay:
        # Off the support the level is on its own; the support balances it, so that the sum stays zero.
        level = int(np.flatnonzero(off & (own == outside))[0])
        shape = theta[support] / (own[support] - outside)
        mode[:] = 0
        mode[level] = 1 / sizes[level]
        mode[support] = -shape / (shape @ sizes[support])
        decay = outside
    largest = np.abs(mode).max()
    return decay, mode / largest if largest else mode, level


def _slowest_inside(own: Array, theta: Array, sizes: Array) -> tuple[float, Array]:
    """The smallest decay of the errors on the support that sum to zero; 1 when there is only one level."""
    mode = np.zeros_like(theta)
    if len(own) == 1:
        return 1.0, mode
    first, second = np.argsort(own, kind="stable")[:2]
    if own[first] == own[second]:  # the same count from two starts: their difference feels nobody else
        mode[first], mode[second] = 1 / sizes[first], -1 / sizes[second]
        return float(own[first]), mode
    width, mass = own[second] - own[first], theta * sizes
    next_mass = mass[own == own[second]].sum()
    rest = own > own[second]

    def balance(x: float) -> float:
        """sum theta_i/(h_i - mu) at mu = h_1 + x width, times (h_1 - mu)(h_2 - mu)/-width: no poles."""
        spread = mass[rest] / (own[rest] - own[first] - x * width)
        return float(x * next_mass - (1 - x) * mass[first] + x * (1 - x) * width * spread.sum())

    share = brentq(balance, 0.0, 1.0, xtol=1e-300, rtol=4 * np.finfo(float).eps)
    decay = float(own[first] + share * width)
    return decay, theta / (own - decay)
