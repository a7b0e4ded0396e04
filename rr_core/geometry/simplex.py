"""The triangle of all distributions over three categories, drawn with its true distances.

Category i sits at corner i of an equilateral triangle of side sqrt(2), which is how far apart the corners of
the simplex are in R^3; so a length in the drawing is the Euclidean distance between two distributions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse

SIDE, HEIGHT = float(np.sqrt(2)), float(np.sqrt(1.5))
CORNERS = np.array([[0.0, 0.0], [SIDE, 0.0], [SIDE / 2, HEIGHT]])
CENTRE = CORNERS.mean(axis=0)
# Orthonormal columns: R^3 with sum zero <-> the plane.
PLANE = CORNERS - CENTRE

STEPS = 50  # a click lands on a multiple of 1/50
PERCENT = 100 // STEPS
_MARGIN = 0.13  # around the triangle, for the names of the corners
_REACH = 0.8  # the picture grows to show a point no further out than this
_PAD = 0.1


def to_plane(shares: ArrayLike) -> Array:
    """(..., 3) shares that sum to one, negative ones too, to (..., 2) coordinates. Isometric."""
    points: Array = np.asarray(shares) @ CORNERS
    return points


def from_plane(points: ArrayLike) -> Array:
    """(..., 2) coordinates to (..., 3) shares that sum to one; undoes `to_plane`."""
    shares: Array = 1 / 3 + (np.asarray(points) - CENTRE) @ PLANE.T
    return shares


def lattice() -> NDArray[np.int64]:
    """(1326, 3) whole numbers that sum to STEPS: where a click can put the reports."""
    first, second = np.meshgrid(np.arange(STEPS + 1), np.arange(STEPS + 1), indexing="ij")
    inside = first + second <= STEPS
    a, b = first[inside], second[inside]
    return np.stack([a, b, STEPS - a - b], axis=-1)


def percents_at(x: float, y: float) -> tuple[int, int, int]:
    """Shares in percent, summing to 100, of the lattice point nearest to a click (to within a step; for a click
    outside the triangle, on its border)."""
    shares = np.maximum(from_plane([x, y]), 0)
    exact = shares / shares.sum() * STEPS
    down = np.floor(exact).astype(int)
    # The largest remainders are rounded up, as many as keep the sum.
    for i in np.argsort(down - exact, kind="stable")[: STEPS - int(down.sum())]:
        down[i] += 1
    first, second, third = (down * PERCENT).tolist()
    return first, second, third


@dataclass(frozen=True)
class Frame:
    """The rectangle of the plane that is drawn: (low, high) across and up."""

    x: tuple[float, float]
    y: tuple[float, float]

    def holds(self, point: Array) -> bool:
        return bool(self.x[0] <= point[0] <= self.x[1] and self.y[0] <= point[1] <= self.y[1])

    @property
    def reach(self) -> Array:
        """(4, 2) corners of a rectangle twice as large: a window of another shape shows more than the frame."""
        (left, right), (low, high) = self.x, self.y
        more = np.array([right - left, high - low]) / 2
        return np.array([[x, y] for x in self.x for y in self.y]) + more * [
            [-1, -1],
            [-1, 1],
            [1, -1],
            [1, 1],
        ]

    def towards(self, point: Array) -> Array:
        """(2,) where the way from the triangle's centre to a point outside crosses the frame's edge."""
        step = point - CENTRE
        ends = np.where(step > 0, [self.x[1], self.y[1]], [self.x[0], self.y[0]]) - CENTRE
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step == 0, np.inf, ends / step)
        crossing: Array = CENTRE + float(reach.min()) * step
        return crossing


def frame(point: Array) -> Frame:
    """The whole triangle, and ``point`` (2,) too unless it is so far out that the triangle would shrink."""
    low, high = CORNERS.min(axis=0) - _MARGIN, CORNERS.max(axis=0) + _MARGIN
    if (point >= low - _REACH).all() and (point <= high + _REACH).all():
        low, high = np.minimum(low, point - _PAD), np.maximum(high, point + _PAD)
    return Frame((float(low[0]), float(high[0])), (float(low[1]), float(high[1])))


@dataclass(frozen=True, eq=False)
class Region:
    """A convex polygon of report shares in which an estimator sets the same categories to zero.

    Attributes:
        zeros: how many: 0, 1 or 2.
        corners: (v, 3) report shares.
    """

    zeros: int
    corners: Array


def regions(name: str, mechanism: RandomizedResponse) -> tuple[Region, ...]:
    """The seven regions of the triangle of reports by what an estimator sets to zero, for k = 3.

    No zero: every phi_i > q, the same for all three. Two zeros, all but j: InvN where phi_i <= q for both others,
    MLE* where phi_j >= e^eps phi_i (eq. (7)), InvP where phi_j - phi_i >= p - q. One zero: the rest. The
    borders meet at (p, q, q) and cut each edge of the triangle at a share that depends on the estimator.

    Args:
        name: "inv_n", "inv_p" or "mle_star".
        mechanism: randomized response with k = 3.
    """
    p, q, keep = mechanism.p, mechanism.q, mechanism.keep
    cut = {"inv_n": 1 - q, "mle_star": p / (p + q), "inv_p": (1 + keep) / 2}[name]
    inner = np.full((3, 3), q) + np.eye(3) * (p - q)
    found = [Region(0, inner)]
    for j in range(3):
        after, before = (j + 1) % 3, (j + 2) % 3
        found.append(
            Region(2, np.array([np.eye(3)[j], _edge(j, after, cut), inner[j], _edge(j, before, cut)]))
        )
        ends = [_edge(j, after, cut), _edge(after, j, cut)]
        found.append(Region(1, np.array([*ends, inner[after], inner[j]])))
    return tuple(found)


def _edge(near: int, far: int, share: float) -> Array:
    """The point of the edge from ``near`` to ``far`` at which ``near`` has this share."""
    point: Array = np.eye(3)[near] * share + np.eye(3)[far] * (1 - share)
    return point
