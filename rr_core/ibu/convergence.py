"""How far a run of IBU has come, and how fast it still is.

When a tolerance is reached
---------------------------
Recorded iterations are not enough to tell the first one at which something holds: it may lie between two of them. So
every iteration is measured, on its levels.

How near later estimates stay is bounded by D_t = KL(limit || theta_t), which never rises (Csiszar and Tusnady): with
weights w_iy = A_iy phi_y/P(y) at the limit, which sum to one over y where the limit is positive, Jensen's inequality
gives log m_i(theta_t) >= sum_y w_iy log(P(y)/P_t(y)), and the mean of the left side under the limit is D_t - D_(t+1),
that of the right side the log-likelihood still to be gained.

How fast it converges in the end
--------------------------------
Near its limit IBU is linear: an error delta becomes delta'_i = (1 - h_i) delta_i + theta_i sum_j h_j delta_j,
where theta is the limit and, with r_i = (p-q) phi_i/(q + (p-q) theta_i), one number r on the support,

    h_i = r (p-q) theta_i/(q + (p-q) theta_i)   on the support,        h_i = 1 - m_i   off the support.

For eq. (5) has the derivative J_ij = [i=j](m_i - theta_i (p-q) r_i/w_i) - theta_i q r_j/w_j, w = q + (p-q) theta.
On the support m_i = 1, so the diagonal is 1 - h_i. In the sum over j, q/w_j = 1 - (p-q) theta_j/w_j turns
-q r_j/w_j into h_j - r there; off the support theta_j = 0 makes it -r_j, and h_j = r - r_j, as m_j is
1 - r + r_j; so it is h_j - r for all j, and the constant r goes because the errors sum to zero.

So every category has a decay of its own, h_i, and all that couples them is one sum. On the support h_i grows
with theta_i; off it, with how far the count lies below the border: what is slow is what is near the border of
the support, on either side. No h_i exceeds r, which is p - q when every category is kept. Off the support
an error decays by 1 - h_i exactly. On it, the decays mu of errors that are equal within levels solve
sum_i theta_i/(h_i - mu) = 0: one between each two neighbouring distinct h_i.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.ibu.engine import every_iteration, ibu_paths, iterates
from rr_core.ibu.path import IBUPath, log_spaced, require_single, truth_odds
from rr_core.scenario import Draw, Scenario, Users
from rr_core.simulate import PROGRESS_SECONDS, Progress

# What a person may call near enough.
TOLERANCES = tuple(float(f"1e-{i}") for i in range(2, 13))
_DIVERGENCE_ROUNDING = 1e-14
_DECAY_ROUNDING = 1e-13


@dataclass(frozen=True)
class FirstReached:
    """The first iteration of a run at which each measure of distance is at most the tolerance; None where none is.

    Attributes:
        tolerance: of all three.
        certificate: iteration at which max_i m_i - 1 is that small, in nats per report; can be known without MLE*.
        gap: the same for the log-likelihood gap itself, in nats per report; never later than the certificate.
        squared_distance: the same for ||theta_t - MLE*||^2.
        unreachable: names of those of the three that no longer run reaches either. Only a start with a zero has such;
            where the end of the run is too far from its limit to tell, the name is left out.
    """

    tolerance: float
    certificate: int | None
    gap: int | None
    squared_distance: int | None
    unreachable: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class SettlingTimes:
    """When each level of one histogram has settled; every array is (levels,), in decreasing order of counts.

    Attributes:
        tolerance: how near its limit an estimate must stay, as an absolute difference of probability.
        counts, multiplicities: reports of one category of the level, and how many such categories.
        limit: what their estimate tends to; 0 outside the support.
        iterations: first iteration from which on |theta_t - limit| <= tolerance to the end of the run; nan where that
            does not hold at its end.
    """

    tolerance: float
    counts: Array
    multiplicities: Array
    limit: Array
    iterations: Array


def first_reached(path: IBUPath, tolerance: float) -> FirstReached:
    """When the run of one histogram first comes within ``tolerance``, by each of three measures. A path that was not
    recorded in full is gone through again, O(levels) for each iteration.

    The gap never rises again. The certificate may, but the iterate at which it was small enough is good enough.

    Args:
        path: of one histogram; take one out of a batch by `IBUPath.row`.
        tolerance: a number >= 0.

    Raises:
        ValueError: naming the argument.

    >>> from rr_core import RandomizedResponse, ibu_path
    >>> path = ibu_path([60, 30, 10], RandomizedResponse(3, 1.0), [1000])
    >>> first_reached(path, 1e-3)
    FirstReached(tolerance=0.001, certificate=26, gap=16, squared_distance=17, unreachable=frozenset())
    """
    require_single(path)
    tolerance, every = _tolerance(tolerance), every_iteration(path)
    first = {
        "certificate": _first(every.certificate <= tolerance),
        "gap": _first_small_gap(path, tolerance),
        "squared_distance": _first(every.squared_distance <= tolerance),
    }
    unreachable = frozenset(name for name in _unreachable(path, tolerance) if first[name] is None)
    return FirstReached(tolerance, **first, unreachable=unreachable)


def _first(within: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(within)) if within.any() else None


def _first_small_gap(path: IBUPath, tolerance: float) -> int | None:
    """As the gap never rises, it is looked for between the recorded iterations on either side."""
    if (index := _first(path.log_likelihood_gap <= tolerance)) is None:
        return None
    end, measures = int(path.iterations[index]), path.measures
    for t, thetas in iterates(path, end, index - 1 if index else None):
        within = _first(measures.gap(thetas)[:, 0] <= tolerance)
        if within is not None:
            return t + within
    return end


def settling_times(path: IBUPath, tolerance: float) -> SettlingTimes:
    """When each level of one histogram has come to stay within ``tolerance`` of its limit: which categories converge
    last. Arguments, cost and errors as in `first_reached`.

    >>> from rr_core import RandomizedResponse, ibu_path
    >>> path = ibu_path([60, 30, 10], RandomizedResponse(3, 1.0), [1000])
    >>> settling_times(path, 0.01).iterations.tolist()
    [24.0, 23.0, 12.0]
    """
    require_single(path)
    tolerance, last = _tolerance(tolerance), int(path.iterations[-1])
    # No entry is further off than half the sum of all, which is at most sqrt(KL/2).
    settled_by = path.iterations[_distance_bounds(path) / 2 <= tolerance]
    iterations = np.zeros(path.limit.size)
    for t, thetas in iterates(path, int(settled_by[0]) if settled_by.size else last):
        off = np.abs(thetas[:, 0] - path.limit) > tolerance
        after_last_off = t + len(off) - np.argmax(off[::-1], axis=0)
        iterations = np.where(off.any(axis=0), after_last_off, iterations)
    iterations[iterations > last] = np.nan
    return SettlingTimes(tolerance, path.counts, path.multiplicities, path.limit, iterations)


def _distance_bounds(path: IBUPath) -> Array:
    """(t,) a bound on sum_i |theta_i - limit_i| over all iterations from each recorded one on: sqrt(2 KL)."""
    positive = path.limit > 0
    limit, weight = path.limit[positive], (path.multiplicities * path.limit)[positive]
    with np.errstate(divide="ignore"):
        divergence = np.log(limit / path.thetas[:, positive]) @ weight
    bound: Array = np.sqrt(2 * (np.maximum(divergence, 0) + _DIVERGENCE_ROUNDING))
    return bound


def _unreachable(path: IBUPath, tolerance: float) -> set[str]:
    """Measures that stay above the tolerance for ever, as far as the last recorded estimate can tell."""
    if not path.cut_off:
        return set()
    measures, limit = path.measures, path.limit[None, None]
    gap, certificate = float(measures.gap(limit)[0, 0]), float(measures.certificate(limit)[0, 0])
    bound = float(_distance_bounds(path)[-1])
    distance = float(measures.squared_distance(limit)[0, 0]) ** 0.5
    # The largest factor at the limit is that of a category without a share: only the redraws' sum in it still moves.
    odds, phi = float(measures.odds[0, 0]), measures.levels.phi[0]
    steepest = float((odds * phi / (1 + odds * path.limit)).max())
    above = {
        "gap": gap > tolerance,
        # The certificate is never below the gap, which falls to that of the limit.
        "certificate": gap > tolerance or certificate - steepest * bound > tolerance,
        "squared_distance": max(distance - bound, 0.0) ** 2 > tolerance,
    }
    return {name for name, holds in above.items() if holds}


def _tolerance(value: float) -> float:
    allowed = "a number >= 0"
    number = _validate.real("tolerance", value, allowed)
    if number < 0:
        raise ValueError(f"tolerance must be {allowed}, got {number!r}")
    return number


@dataclass(frozen=True, eq=False)
class LocalRate:
    """How fast IBU converges close to its limit, for one histogram; arrays are (levels,), as in `IBUPath`.

    Attributes:
        counts, multiplicities: reports of one category of the level, and how many such categories.
        own_decay: h_i, the share of its own error that a category loses in one iteration; nan where the
            start is zero, and nothing ever moves.
        truthful_share: (p-q) theta_i/(q + (p-q) theta_i), the share of its reports that are truthful by the limit.
        decay: the share of the whole error that one iteration removes in the end, from 0 to 1. At 0 (a
            category exactly on the border) convergence is slower than geometric; 1 when the start is the limit.
        slowest_level: the level that holds the others up: outside the support the one with the smallest h_i if nothing
            inside is slower; else the one with the smallest h_i inside.
    """

    counts: Array
    multiplicities: Array
    own_decay: Array
    truthful_share: Array
    decay: float
    slowest_level: int

    @property
    def on_border(self) -> bool:
        """Whether a category lies exactly on the border of the support, up to rounding."""
        return self.decay < _DECAY_ROUNDING

    @property
    def iterations_per_digit(self) -> float:
        """Iterations that divide the error by ten in the end (its square by a hundred)."""
        if self.on_border or self.decay == 1:
            return math.inf if self.on_border else 1.0
        return -math.log(10) / math.log1p(-self.decay)


def local_rate(path: IBUPath) -> LocalRate:
    """The exact asymptotic rate at which IBU approaches ``path.limit``, from the start of this path. O(levels).

    Errors that differ within a level are left out: none arises from the start.

    Args:
        path: of one histogram; take one out of a batch by `IBUPath.row`.

    Raises:
        ValueError: naming the argument.

    >>> from rr_core import RandomizedResponse, ibu_path
    >>> rate = local_rate(ibu_path([60, 30, 10], RandomizedResponse(3, 1.0), [0]))
    >>> round(rate.decay, 4), round(rate.iterations_per_digit, 1), float(rate.counts[rate.slowest_level])
    (0.1037, 21.0, 30.0)
    """
    require_single(path)
    theta, sizes, moving = path.limit, path.multiplicities, path.start > 0
    support = theta > 0
    odds = float(truth_odds(path.mechanisms)[0, 0])
    gain, truthful = odds * path.counts / (path.counts @ sizes), odds * theta / (1 + odds * theta)
    first = int(np.argmax(support))
    bound = float(gain[first] / (1 + odds * theta[first]))
    own = np.where(moving, np.where(support, bound * truthful, np.maximum(bound - gain, 0)), np.nan)
    decay, level = _slowest_error(own, theta, sizes, moving & ~support) if bound else (1.0, first)
    return LocalRate(path.counts, sizes, own, truthful, decay, level)


def _slowest_error(own: Array, theta: Array, sizes: Array, vanishing: NDArray[np.bool_]) -> tuple[float, int]:
    """The smallest decay, and the level behind it; ``vanishing``: outside the support, not zero at the start."""
    support = theta > 0
    decay = _slowest_error_inside(own[support], (theta * sizes)[support])
    level = int(np.argmin(np.where(support, own, np.inf)))
    if vanishing.any() and (outside := float(own[vanishing].min())) < decay:
        # Off the support the level is on its own; the support balances it, so that the sum stays zero.
        return outside, int(np.flatnonzero(vanishing & (own == outside))[0])
    return decay, level


def _slowest_error_inside(own: Array, mass: Array) -> float:
    """The smallest decay of the errors on the support that sum to zero; 1 when there is only one level."""
    if len(own) == 1:
        return 1.0
    first, second = np.argsort(own, kind="stable")[:2]
    if own[first] == own[second]:  # the same count from two starts: their difference feels nobody else
        return float(own[first])
    width = own[second] - own[first]
    next_mass = mass[own == own[second]].sum()
    rest = own > own[second]

    def balance(x: float) -> float:
        """sum theta_i/(h_i - mu) at mu = h_1 + x width, times (h_1 - mu)(h_2 - mu)/-width: no poles."""
        spread = mass[rest] / (own[rest] - own[first] - x * width)
        return float(x * next_mass - (1 - x) * mass[first] + x * (1 - x) * width * spread.sum())

    share = scipy.optimize.brentq(balance, 0.0, 1.0, xtol=1e-300, rtol=4 * np.finfo(float).eps)
    return float(own[first] + share * width)


@dataclass(frozen=True, eq=False)
class RunComparison:
    """How near MLE* each of several runs had come.

    Attributes:
        scenarios: one per run.
        iterations: (t,) recorded iteration numbers, increasing.
        squared_distance: (runs, t) ||theta_t - MLE*||^2.
        iterations_to_tolerance: (runs, tolerances) the first iteration, recorded or not, at which the squared distance
            is at most each of TOLERANCES; nan where none up to the last one is.
        stopped: True when the runs were stopped early.
    """

    scenarios: tuple[Scenario, ...]
    iterations: NDArray[np.int64]
    squared_distance: Array
    iterations_to_tolerance: Array
    stopped: bool

    def select(self, first: int, end: int) -> RunComparison:
        """Runs ``first`` to ``end - 1`` of these."""
        runs = len(self.scenarios)
        first = _validate.integer("first", first, 0, runs)
        chosen = slice(first, _validate.integer("end", end, first))
        return replace(
            self,
            scenarios=self.scenarios[chosen],
            squared_distance=self.squared_distance[chosen],
            iterations_to_tolerance=self.iterations_to_tolerance[chosen],
        )


def compare_epsilons(
    draw: Draw, epsilons: Sequence[float], iterations: int, progress: Progress | None = None
) -> RunComparison:
    """Let the users of a draw report under each privacy budget, and run IBU from the uniform start on each.

    Args:
        draw: whose users report; the noise is that of the same scenario with another epsilon.
        epsilons: privacy budgets > 0.
        iterations: how far to run, >= 0.
        progress: as in `ibu_path`.
    """
    users = Users(draw.population, draw.true_counts)
    budgets = _validate.numbers("epsilons", epsilons).ravel().tolist()
    if not budgets:
        raise ValueError("epsilons must have one value or more, got none")
    draws = [replace(draw.scenario, epsilon=epsilon).collect(users) for epsilon in budgets]
    return compare_runs(draws, iterations, progress)


def compare_runs(draws: Sequence[Draw], last: int, progress: Progress | None = None) -> RunComparison:
    """Run IBU on the reports of several draws with the same k, in one batch, from the uniform start.

    Args:
        draws: one per run.
        last: how far to run, >= 0.
        progress: as in `ibu_path`.
    """
    counts, mechanisms = np.stack([draw.counts for draw in draws]), [draw.mechanism for draw in draws]
    start = ibu_paths(counts, mechanisms, [0])
    marks, called, done = log_spaced(last), time.perf_counter(), 0
    reached = np.full((len(draws), len(TOLERANCES)), np.nan)
    curves, stopped = [], False
    for first, thetas in iterates(start, last):
        squared, done = start.measures.squared_distance(thetas).T, first + len(thetas) - 1
        within = squared[:, None, :] <= np.array(TOLERANCES)[:, None]
        new = np.isnan(reached) & within.any(axis=-1)
        reached[new] = first + np.argmax(within, axis=-1)[new]
        curves.append(squared[:, marks[(marks >= first) & (marks <= done)] - first])
        if progress is not None and (done == last or time.perf_counter() - called >= PROGRESS_SECONDS):
            called = time.perf_counter()
            if progress(done):
                stopped = done < last
                break
    recorded = np.concatenate(curves, axis=1)
    if stopped and done not in marks:
        marks, recorded = np.append(marks[marks < done], done), np.append(recorded, squared[:, -1:], axis=1)
    scenarios = tuple(draw.scenario for draw in draws)
    return RunComparison(scenarios, marks[: recorded.shape[1]], recorded, reached, stopped)
