"""Many collections of the same users: the bias of each repair over three categories, and how often the three repairs lie
on one line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rr_core import _validate
from rr_core._validate import Array
from rr_core.collinearity import collinearity
from rr_core.geometry.simplex import CORNERS, Frame, to_plane
from rr_core.registry import ESTIMATORS
from rr_core.scenario import Draw
from rr_core.simulate import Collector, rows_per_step, simulate
from rr_core.streams import Stream

TruthPlace = Literal["own", "edge", "corner"]
TRUTH_PLACES: tuple[TruthPlace, ...] = get_args(TruthPlace)
N_COLLECTIONS = 400

_FURTHEST = 0.7  # the picture ends this far outside the triangle, even if Inv does not
_MARGIN = 0.12  # around the clouds, as a share of their width
_NARROWEST = 1e-7
# A bias, or a difference of two, counts from so many standard errors on, and only where the values differ in at least
# this part of the collections: where nearly all are the same, a standard error says little of those that did not occur.
_STANDARD_ERRORS, _DIFFERING, _ROUNDING = 4, 0.25, 1e-12


@dataclass(frozen=True, eq=False)
class Cloud:
    """The estimates of one estimator over many collections of the same users.

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
        apart = self.points - self.points[0]  # exactly zero where all points are the same
        return math.sqrt(float(apart.var(axis=0, ddof=1).sum()))

    @property
    def standard_error(self) -> float:
        """How far chance alone moves the mean of so many points, root mean square: an unbiased estimator has a
        bias of about this length."""
        return self.spread / math.sqrt(len(self.points))

    @property
    def is_biased(self) -> bool:
        """Whether the mean is farther from the truth than chance explains."""
        errors, bias = self._projected_errors()
        return _varies(errors) and bias > max(_STANDARD_ERRORS * self.standard_error, _ROUNDING)

    def has_larger_bias_than(self, other: Cloud) -> bool:
        """Whether the bias is longer than that of another estimator on the same collections, by more than chance
        explains: by the standard error of the paired difference of errors, each in the direction of its own bias."""
        (far, bias), (near, other_bias) = self._projected_errors(), other._projected_errors()
        paired = far - near
        error = float(paired.std(ddof=1)) / math.sqrt(len(paired))
        return _varies(paired) and bias - other_bias > max(_STANDARD_ERRORS * error, _ROUNDING)

    def _projected_errors(self) -> tuple[Array, float]:
        """(collections,) the component of each error in the direction of the bias, and the length of the bias."""
        length = self.bias
        return (self.points - self.theta) @ (self.mean - self.theta) / (length or 1.0), length


def _varies(values: Array) -> bool:
    """Whether the most frequent value stands in few enough collections."""
    _, times = np.unique(values.round(12), return_counts=True)
    return bool(times.max() <= (1 - _DIFFERING) * len(values))


def simulate_clouds(draw: Draw, where: TruthPlace = "own") -> dict[str, Cloud]:
    """`N_COLLECTIONS` collections of the same users, and every estimator on each; the seed decides them.

    Args:
        draw: a draw with k = 3, whose N, epsilon and seed are used.
        where: whose truth: the draw's own users ("own"), half in each of the first two categories ("edge"), or
            everybody in the first ("corner").

    Returns:
        A cloud for each of `registry.ESTIMATORS`.

    >>> from rr_core import Scenario
    >>> clouds = simulate_clouds(Scenario("zipf", 3, 1.2, 1.0, 2000, 7).draw(), "edge")
    >>> clouds["inv"].is_biased, clouds["mle_star"].is_biased
    (False, True)
    """
    users = cloud_true_counts(draw, where)
    collector = Collector.fixed(
        users,
        draw.mechanism,
        lambda _: draw.scenario.stream(Stream.CLOUDS, 1 + TRUTH_PLACES.index(where)),
        rows=N_COLLECTIONS,
    )
    reports, theta = collector.draw(0, N_COLLECTIONS).reports, collector.truth
    return {name: Cloud(estimate(reports, draw.mechanism), theta) for name, estimate in ESTIMATORS.items()}


def cloud_true_counts(draw: Draw, where: TruthPlace) -> NDArray[np.int64]:
    """(3,) true counts of the users of `simulate_clouds`; of an odd number on an edge the first category has one more."""
    n = draw.scenario.n
    if where == "own":
        return draw.true_counts
    second = n // 2 if where == "edge" else 0
    return np.array([n - second, second, 0])


def cloud_frame(clouds: Mapping[str, Cloud]) -> Frame:
    """The smallest rectangle with a margin that shows all the clouds, cut off far outside the triangle."""
    points = to_plane(np.concatenate([cloud.points for cloud in clouds.values()]))
    low = np.maximum(points.min(axis=0), CORNERS.min(axis=0) - _FURTHEST)
    high = np.minimum(points.max(axis=0), CORNERS.max(axis=0) + _FURTHEST)
    middle, width = (low + high) / 2, max(float((high - low).max()), _NARROWEST)
    half = width * (0.5 + _MARGIN)
    return Frame(
        (float(middle[0] - half), float(middle[0] + half)), (float(middle[1] - half), float(middle[1] + half))
    )


@dataclass(eq=False)
class AlignmentCounts:
    """In how many of several collections of one scenario each rule applied; every collection counts in exactly one of
    ``nothing_cut_off``, ``theorem2``, ``only_equal_supports`` and ``unequal_supports``.

    Attributes:
        n_collections: how many.
        nothing_cut_off: in these Inv had no negative, so that there was nothing to repair.
        theorem2: in these the conditions of Theorem 2 held.
        only_equal_supports: in these they did not, but the three supports were equal.
        unequal_supports: in these the supports differed.
        off_line_distances: (unequal_supports,) distance of MLE* from the line, over the distance from InvP to InvN; 0
            where it is only rounding.
    """

    n_collections: int = 0
    nothing_cut_off: int = 0
    theorem2: int = 0
    only_equal_supports: int = 0
    unequal_supports: int = 0
    off_line_distances: Array = field(default_factory=lambda: np.empty(0))

    @property
    def n_off_line(self) -> int:
        """Number of collections off the line. Unequal supports may be on it too: all three repairs lie on one edge
        where InvN keeps two categories, and InvP is MLE* where both keep one."""
        return int((self.off_line_distances > 0).sum())


def count_alignment(draw: Draw, times: int) -> Iterator[AlignmentCounts]:
    """Let the same users report ``times`` times over, yielding the counts so far after each short step.

    Collection i is the one that `repeats.repeat` draws. Stop by not asking for the next item.

    Args:
        draw: the scenario's draw.
        times: how many collections, an integer >= 1.

    >>> from rr_core import Scenario
    >>> *_, counts = count_alignment(Scenario("zipf", 12, 1.5, 1.0, 2000, 5).draw(), 50)
    >>> counts.theorem2, counts.only_equal_supports, counts.unequal_supports
    (4, 24, 21)
    """
    times = _validate.integer("times", times, 1)
    result = AlignmentCounts()
    for block in simulate(draw.collector(), times, step=rows_per_step(draw.scenario.k)):
        alignment = collinearity(block.reports, draw.mechanism)
        # At equality in Theorem 2's second condition InvP has one more zero, and the theorem still holds.
        theorem2 = alignment.theorem2_holds
        only_equal = alignment.cut_off & ~theorem2 & alignment.same_support
        unequal = alignment.cut_off & ~theorem2 & ~alignment.same_support
        result.n_collections += block.wanted
        result.nothing_cut_off += int((~alignment.cut_off).sum())
        result.theorem2 += int(theorem2.sum())
        result.only_equal_supports += int(only_equal.sum())
        result.unequal_supports += int(unequal.sum())
        distances = np.where(alignment.on_line, 0.0, alignment.relative)[unequal]
        result.off_line_distances = np.concatenate([result.off_line_distances, distances])
        yield result
