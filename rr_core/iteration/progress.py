"""How far a run of IBU has come: when a tolerance is reached, and which categories are still on their way.

Recorded iterations are not enough for that: the first one at which something holds may lie between two of them. So
the run is gone through again, iteration by iteration, on its levels.

How near later estimates stay is bounded by D_t = KL(limit || theta_t), which never rises (Csiszar and Tusnady): with
weights w_iy = A_iy phi_y/P(y) at the limit, which sum to one over y where the limit is positive, Jensen's inequality
gives log m_i(theta_t) >= sum_y w_iy log(P(y)/P_t(y)), and the mean of the left side under the limit is D_t - D_(t+1),
that of the right side the log-likelihood still to be gained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rr_core import _validate
from rr_core._validate import Array
from rr_core.ibu import iterates
from rr_core.iteration.record import IBUPath, one_histogram

# What a person may call near enough.
TOLERANCES = tuple(float(f"1e-{i}") for i in range(2, 13))
_ROUNDING = 1e-14  # of a divergence


@dataclass(frozen=True)
class FirstReached:
    """The first iteration of a run at which each measure is at most the tolerance; None where none is.

    Attributes:
        tolerance: as asked for.
        certificate: max_i m_i - 1, in nats per report: what one can know without MLE*.
        gap: the log-likelihood gap itself, in nats per report; never later than the certificate.
        squared_distance: ||theta_t - MLE*||^2.
        never: names of those of the three that no longer run reaches either. Only a start with a zero has such;
            where the end of the run is too far from its limit to tell, the name is left out.
    """

    tolerance: float
    certificate: int | None
    gap: int | None
    squared_distance: int | None
    never: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Settling:
    """When each level of one histogram has settled; every array is (levels,), in decreasing order of counts.

    Attributes:
        tolerance: how near, as an absolute difference of probability.
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
    """When the run of one histogram first comes within ``tolerance``, by each of three measures: O(levels) for each
    iteration up to then, or up to the last one that the path recorded.

    The gap never rises again; the certificate may, but it has proved then what it proves.

    Args:
        path: of one histogram; take one out of a batch by `IBUPath.row`.
        tolerance: a number >= 0.

    Raises:
        ValueError: naming the argument.
    """
    one_histogram(path)
    tolerance, last = _tolerance(tolerance), int(path.iterations[-1])
    measures, never = path.measures, _never(path, tolerance)
    found: dict[str, int | None] = dict.fromkeys(("certificate", "gap", "squared_distance"))
    # A limit too far below MLE* keeps the gap above the tolerance from the start, and with it the certificate.
    wanted = set(found) - ({"gap", "certificate"} if "gap" in never else set())
    # As the gap never rises, it is known from the record where it need not be computed.
    gap_above = path.iterations[path.log_likelihood_gap > tolerance].max(initial=-1)
    for first, thetas in iterates(path, last):
        for name in sorted(wanted):
            if name == "gap" and first + len(thetas) <= gap_above:
                continue
            reached = getattr(measures, name)(thetas)[:, 0] <= tolerance
            if reached.any():
                found[name] = first + int(np.argmax(reached))
                wanted.remove(name)
        if not wanted:
            break
    hopeless = frozenset(name for name in never if found[name] is None)
    return FirstReached(tolerance, found["certificate"], found["gap"], found["squared_distance"], hopeless)


def slowest(path: IBUPath, tolerance: float) -> Settling:
    """Which categories of one histogram converge last: when each level has come to stay within
    ``tolerance`` of its limit. Arguments, cost and errors as in `first_reached`."""
    one_histogram(path)
    tolerance, last = _tolerance(tolerance), int(path.iterations[-1])
    # No entry is further off than half the sum of all, which is at most sqrt(KL/2).
    safe = path.iterations[_farthest(path) / 2 <= tolerance]
    settled = np.zeros(path.limit.size)
    for first, thetas in iterates(path, int(safe[0]) if safe.size else last):
        off = np.abs(thetas[:, 0] - path.limit) > tolerance
        ends = first + len(off) - np.argmax(off[::-1], axis=0)
        settled = np.where(off.any(axis=0), ends, settled)
    settled[settled > last] = np.nan
    return Settling(tolerance, path.counts, path.multiplicities, path.limit, settled)


def _farthest(path: IBUPath) -> Array:
    """(t,) a bound on sum_i |theta_i - limit_i| over all iterations from each recorded one on: sqrt(2 KL)."""
    kept = path.limit > 0
    limit, weight = path.limit[kept], (path.multiplicities * path.limit)[kept]
    with np.errstate(divide="ignore"):
        divergence = np.log(limit / path.thetas[:, kept]) @ weight
    bound: Array = np.sqrt(2 * (np.maximum(divergence, 0) + _ROUNDING))
    return bound


def _never(path: IBUPath, tolerance: float) -> set[str]:
    """Measures that stay above the tolerance for ever, as far as the last recorded estimate can tell."""
    if not path.cut_off:
        return set()
    measures, limit = path.measures, path.limit[None, None]
    gap, certificate = float(measures.gap(limit)[0, 0]), float(measures.certificate(limit)[0, 0])
    near = float(_farthest(path)[-1])
    distance = float(measures.squared_distance(limit)[0, 0]) ** 0.5
    # The largest factor at the limit is that of a category without a share: only the redraws' sum in it still moves.
    odds, phi = float(measures.odds[0, 0]), measures.levels.phi[0]
    steepest = float((odds * phi / (1 + odds * path.limit)).max())
    above = {
        "gap": gap > tolerance,
        # The certificate is never below the gap, which falls to that of the limit.
        "certificate": gap > tolerance or certificate - steepest * near > tolerance,
        "squared_distance": max(distance - near, 0.0) ** 2 > tolerance,
    }
    return {name for name, holds in above.items() if holds}


def _tolerance(value: float) -> float:
    allowed = "a number >= 0"
    number = _validate.real("tolerance", value, allowed)
    if number < 0:
        raise ValueError(f"tolerance must be {allowed}, got {number!r}")
    return number
