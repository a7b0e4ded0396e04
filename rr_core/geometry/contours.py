"""Why InvP is the nearest point and MLE* the most likely one: circles around Inv, and curves of equal likelihood.

Both families start at Inv, where the distance is zero and the likelihood largest. Growing, they touch the
simplex at one point: the circles at InvP, the curves at MLE*. They are drawn beyond the simplex too, as far as
every category's chance of being reported, q + (p - q) theta_i, stays positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rr_core._validate import Array
from rr_core.geometry.simplex import CENTRE, PLANE, Frame, ThreeEstimates, to_plane

_DIRECTIONS = 121
_STEP = 0.16  # between neighbouring curves, in the plane of the simplex
_CURVE_OFFSETS = np.array([-2, -1, 0, 1, 2])  # the touching curve, and how many on either side of it
_HALVINGS = 44  # of the radius: to the rounding of what is drawn
_SMALLEST_SHARE = 1e-3  # shares below this count as this when directions are spread over an ellipse


@dataclass(frozen=True, eq=False)
class Contours:
    """A family of closed curves around Inv.

    Attributes:
        lines: (curves, points, 2) in the plane of the simplex; nan where a direction has no such point.
        values: (curves,) radius of each circle, or likelihood lost per report (nats) on each curve.
        touching: which curve touches the simplex; None when Inv lies inside and none does.
    """

    lines: Array
    values: Array
    touching: int | None


def distance_circles(reports: ThreeEstimates, view: Frame) -> Contours:
    """Circles of equal Euclidean distance from Inv; the touching one goes through InvP."""
    centre, nearest = to_plane(reports.estimates["inv"]), to_plane(reports.estimates["inv_p"])
    radii, touching = _radii(_touching_radius(reports, centre, nearest))
    directions = _directions(centre, view, np.eye(2))
    return Contours(centre + radii[:, None, None] * directions, radii, touching)


def likelihood_curves(reports: ThreeEstimates, view: Frame) -> Contours:
    """Curves of equal likelihood; the touching one goes through MLE*.

    With m = q + (p - q) theta, the chance of each report, the log-likelihood per report falls short of its
    largest value by KL(phi || m): a convex function that vanishes at Inv. So every ray from Inv meets each
    curve once, and the radius is found by bisection.
    """
    centre, best = to_plane(reports.estimates["inv"]), to_plane(reports.estimates["mle_star"])
    radii, touching = _radii(_touching_radius(reports, centre, best))
    towards = _unit(best - centre) if touching is not None else _unit(CENTRE - centre)
    # What is lost where each curve crosses the way from Inv to MLE*; that way may leave the domain.
    inside = radii < _domain_radius(reports, towards[None])[0]
    radii = radii[inside]
    loss = likelihood_loss(reports, centre + radii[:, None] * towards)
    directions = _directions(centre, view, _ellipse(reports))
    lines = centre + _radius_at(reports, directions, loss)[..., None] * directions
    return Contours(lines, loss, touching)


def likelihood_loss(reports: ThreeEstimates, points: Array) -> Array:
    """KL(phi || q + (p - q) theta): how much log-likelihood per report (nats) each point (..., 2) of the plane
    has less than Inv. Infinite outside the domain.

    >>> from rr_core import RandomizedResponse
    >>> from rr_core.geometry.simplex import estimate_three
    >>> reports = estimate_three([62, 33, 5], RandomizedResponse(3, 1.0))
    >>> float(likelihood_loss(reports, to_plane(reports.estimates["mle_star"])).round(6))
    0.105331
    """
    return _loss(reports, (points - to_plane(reports.estimates["inv"])) @ PLANE.T)


def _loss(reports: ThreeEstimates, away: Array) -> Array:
    """The same for theta = Inv + away (..., 3), so that nothing cancels near Inv."""
    phi, seen = reports.phi, reports.phi > 0
    change = reports.mechanism.keep * away
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = phi[seen] * -np.log1p(np.maximum(change[..., seen] / phi[seen], -1.0))
    # Beyond the border of a category without reports the formula would go on; the domain does not.
    outside = (change[..., ~seen] < -1e-12).any(axis=-1)
    loss: Array = np.where(outside, np.inf, np.maximum(terms.sum(axis=-1), 0.0))
    return loss


def _domain_radius(reports: ThreeEstimates, directions: Array) -> Array:
    """How far from Inv each direction (n, 2) goes before some report would have no chance."""
    slopes = reports.mechanism.keep * directions @ PLANE.T
    with np.errstate(divide="ignore", invalid="ignore"):
        limits = np.where(slopes < 0, reports.phi / -slopes, np.inf)
    reach: Array = limits.min(axis=-1)
    return reach


def _radius_at(reports: ThreeEstimates, directions: Array, loss: Array) -> Array:
    """(curves, n) radius at which each direction has lost this much; nan where it leaves the domain at once."""
    reach = _domain_radius(reports, directions)
    low = np.zeros((loss.size, len(directions)))
    high = np.broadcast_to(reach, low.shape)
    away = directions @ PLANE.T
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = _loss(reports, middle[..., None] * away) >= loss[:, None]
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.where(reach > 0, (low + high) / 2, np.nan)


def _touching_radius(reports: ThreeEstimates, centre: Array, nearest: Array) -> float:
    """Distance from Inv to an estimate; exactly zero when Inv has nothing to repair."""
    return float(np.linalg.norm(nearest - centre)) if reports.collinearity.cut_off else 0.0


def _radii(touching: float) -> tuple[Array, int | None]:
    """Radii in equal steps, the touching one among them."""
    radii: Array
    if touching == 0:
        radii = _STEP * np.arange(1.0, _CURVE_OFFSETS.size + 1)
        return radii, None
    radii = touching + _STEP * _CURVE_OFFSETS
    used = radii > _STEP / 4
    used |= _CURVE_OFFSETS == 0
    return radii[used], int(np.flatnonzero(_CURVE_OFFSETS[used] == 0)[0])


def _directions(centre: Array, view: Frame, shape: Array) -> Array:
    """(n, 2) unit directions from ``centre`` that cover the frame, spread evenly over the ellipse ``shape``."""
    reach = view.enlarged_corners
    if (reach.min(axis=0) <= centre).all() and (centre <= reach.max(axis=0)).all():
        angles = np.linspace(0, 2 * np.pi, _DIRECTIONS)
    else:
        # Within the angle that the picture takes, or a circle of radius 200 would be drawn as a polygon.
        back = np.linalg.inv(shape).T
        middle = np.arctan2(*((CENTRE - centre) @ back)[::-1])
        corners = (reach - centre) @ back
        turns = (np.arctan2(corners[:, 1], corners[:, 0]) - middle + np.pi) % (2 * np.pi) - np.pi
        angles = middle + np.linspace(turns.min(), turns.max(), _DIRECTIONS)
    return _unit(np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ shape.T)


def _ellipse(reports: ThreeEstimates) -> Array:
    """(2, 2) shape of a small curve of equal likelihood around Inv: the inverse root of its curvature."""
    curvature = PLANE.T @ (PLANE / np.maximum(reports.phi, _SMALLEST_SHARE)[:, None])
    values, vectors = np.linalg.eigh(curvature)
    shape: Array = vectors / np.sqrt(values)
    return shape


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    # Any direction will do where there is none.
    unit: Array = np.where(length > 0, vectors / np.where(length > 0, length, 1.0), [0.0, 1.0])
    return unit
