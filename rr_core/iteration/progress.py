"""How far a run of IBU has come: when a tolerance is reached, and which categories are still on their way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rr_core import _validate
from rr_core._validate import Array
from rr_core.iteration.record import IBUPath, one_histogram


@dataclass(frozen=True)
class FirstReached:
    """The first recorded iteration at which each measure is at most the tolerance; None where none is.

    Attributes:
        tolerance: as asked for.
        certificate: max_i m_i - 1, in nats per report: what one can know without MLE*.
        gap: the log-likelihood gap itself, in nats per report; never later than the certificate.
        squared_distance: ||theta_t - MLE*||^2.
    """

    tolerance: float
    certificate: int | None
    gap: int | None
    squared_distance: int | None


@dataclass(frozen=True, eq=False)
class Settling:
    """When each level of one histogram has settled; every array is (levels,), in decreasing order of counts.

    Attributes:
        tolerance: how near, as an absolute difference of probability.
        counts, multiplicities: reports of one category of the level, and how many such categories.
        limit: what their estimate tends to; 0 outside the support.
        iterations: first recorded iteration from which on |theta_t - limit| <= tolerance at every recorded
            iteration; nan where the record ends before that.
    """

    tolerance: float
    counts: Array
    multiplicities: Array
    limit: Array
    iterations: Array


def first_reached(path: IBUPath, tolerance: float) -> FirstReached:
    """When the path of one histogram first comes within ``tolerance``, by each of three measures.

    The resolution is that of the record: the true first iteration lies after the recorded one before. The gap
    never rises again; the certificate may, but it has proved then what it proves.

    Args:
        path: of one histogram; take one out of a batch by `IBUPath.row`.
        tolerance: a number >= 0.

    Raises:
        ValueError: naming the argument.
    """
    one_histogram(path)
    tolerance = _tolerance(tolerance)

    def first(measure: Array) -> int | None:
        reached = measure <= tolerance
        return int(path.iterations[np.argmax(reached)]) if reached.any() else None

    return FirstReached(
        tolerance, first(path.certificate), first(path.log_likelihood_gap), first(path.squared_distance)
    )


def first_reached_each(path: IBUPath, tolerance: float) -> list[FirstReached]:
    """`first_reached` of every histogram of the flattened batch."""
    return [first_reached(path.row(index), tolerance) for index in range(len(path.mechanisms))]


def slowest(path: IBUPath, tolerance: float) -> Settling:
    """Which categories of one histogram converge last: when each level has come to stay within
    ``tolerance`` of its limit. Arguments, resolution and errors as in `first_reached`."""
    one_histogram(path)
    tolerance = _tolerance(tolerance)
    off = np.abs(path.thetas - path.limit) > tolerance
    # The last recorded iteration that is still off; the next one settles it.
    settled = len(off) - np.argmax(off[::-1], axis=0)
    settled[~off.any(axis=0)] = 0
    times = np.append(path.iterations.astype(np.float64), np.nan)
    return Settling(tolerance, path.counts, path.multiplicities, path.limit, times[settled])


def _tolerance(value: float) -> float:
    allowed = "a number >= 0"
    number = _validate.real("tolerance", value, allowed)
    if number < 0:
        raise ValueError(f"tolerance must be {allowed}, got {number!r}")
    return number
