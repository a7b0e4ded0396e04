"""The cloud of many collections of three categories, before and after each repair: bias made visible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.comparison import ESTIMATORS
from rr_core.geometry.simplex import CORNERS, Frame, to_plane
from rr_core.scenario import Draw
from rr_core.streams import Stream

Where = Literal["own", "edge", "corner"]
PLACES: tuple[Where, ...] = get_args(Where)
COLLECTIONS = 400

_REACH = 0.7  # the picture ends this far outside the triangle, even if Inv does not
_PAD = 0.12  # around the clouds, as a share of their width
_NARROWEST = 1e-7
# A difference is told beyond so many standard errors, of values that differ in so large a part of the collections:
# where nearly all are the same, a standard error says little of those that did not happen to occur.
_SURE, _DIFFERING, _ROUNDING = 4, 0.25, 1e-12


@dataclass(frozen=True, eq=False)
class Cloud:
    """One estimator over many collections of the same users.

    Attributes:
        points: (collections, 3) estimates.
        theta: (3,) the truth.
    """

    points: Array
    theta: Array

    @property
    def mean(self) -> Array:
        mean: Array = self.points.mean(axis=0)
        return mean

    @property
    def bias(self) -> float:
        """Euclidean distance from the truth to the mean."""
        return float(np.linalg.norm(self.mean - self.theta))

    @property
    def spread(self) -> float:
        """Root mean square distance of a point from the mean."""
        return math.sqrt(float(self.points.var(axis=0, ddof=1).sum()))

    @property
    def standard_error(self) -> float:
        """How far chance alone moves the mean of so many points, root mean square: an unbiased estimator has a
        bias of about this length."""
        return self.spread / math.sqrt(len(self.points))

    @property
    def is_biased(self) -> bool:
        """Whether the mean is farther from the truth than chance explains."""
        along, bias = self._along()
        return _varies(along) and bias > max(_SURE * self.standard_error, _ROUNDING)

    def is_farther(self, other: Cloud) -> bool:
        """Whether the bias is longer than that of another estimator on the same collections, beyond the standard error
        of the paired difference: of how far each point lies in the direction of its own cloud's bias."""
        (far, towards), (near, other_towards) = self._along(), other._along()
        paired = far - near
        error = float(paired.std(ddof=1)) / math.sqrt(len(paired))
        return _varies(paired) and towards - other_towards > max(_SURE * error, _ROUNDING)

    def _along(self) -> tuple[Array, float]:
        """(collections,) the part of each error in the direction of the bias, and the bias."""
        length = self.bias
        return (self.points - self.theta) @ (self.mean - self.theta) / (length or 1.0), length


def _varies(values: Array) -> bool:
    _, times = np.unique(values.round(12), return_counts=True)
    return bool(times.max() <= (1 - _DIFFERING) * len(values))


def clouds(draw: Draw, where: Where = "own") -> dict[str, Cloud]:
    """`COLLECTIONS` collections of the same users, and every estimator on each; the seed decides them.

    Args:
        draw: a draw with k = 3, whose N, epsilon and seed are used.
        where: whose truth: the draw's own users ("own"), half in each of the first two categories ("edge"), or
            everybody in the first ("corner").

    Returns:
        A cloud for each of "inv", "inv_n", "inv_p" and "mle_star".
    """
    users = true_counts(draw, where)
    rng = draw.scenario.stream(Stream.CLOUDS, 1 + PLACES.index(where))
    reports = draw.mechanism.randomize_histogram(np.broadcast_to(users, (COLLECTIONS, 3)), rng)
    theta = users / users.sum()
    return {name: Cloud(estimate(reports, draw.mechanism), theta) for name, estimate in ESTIMATORS.items()}


def true_counts(draw: Draw, where: Where) -> NDArray[np.int64]:
    """(3,) the users of `clouds`; an odd number leaves one more in the first category of an edge."""
    n = draw.scenario.n
    if where == "own":
        return draw.true_counts
    second = n // 2 if where == "edge" else 0
    return np.array([n - second, second, 0])


def frame_of(found: dict[str, Cloud]) -> Frame:
    """One rectangle for all the clouds: as close as they allow, never far outside the triangle."""
    points = to_plane(np.concatenate([cloud.points for cloud in found.values()]))
    low = np.maximum(points.min(axis=0), CORNERS.min(axis=0) - _REACH)
    high = np.minimum(points.max(axis=0), CORNERS.max(axis=0) + _REACH)
    middle, width = (low + high) / 2, max(float((high - low).max()), _NARROWEST)
    half = width * (0.5 + _PAD)
    return Frame(
        (float(middle[0] - half), float(middle[0] + half)), (float(middle[1] - half), float(middle[1] + half))
    )
