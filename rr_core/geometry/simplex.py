"""Three categories, the smallest case that can be drawn whole: the triangle with its true distances, reports in it, and
curves around Inv.

Category i sits at corner i of an equilateral triangle of side sqrt(2), which is how far apart the corners of
the simplex are in R^3; so a length in the drawing is the Euclidean distance between two distributions.

Why InvP is the nearest point and MLE* the most likely one: circles of equal distance and curves of equal likelihood both
start at Inv, where the distance is zero and the likelihood largest. Growing, they touch the simplex at one point: the
circles at InvP, the curves at MLE*. They are drawn beyond the simplex too, as far as every category's chance of being
reported, q + (p - q) theta_i, stays positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import typed
from rr_core._validate import Array, short
from rr_core.collinearity import Collinearity, collinearity
from rr_core.mechanism import RandomizedResponse
from rr_core.populations import UPLOAD, Population
from rr_core.registry import ESTIMATORS
from rr_core.sampling import whole_users
from rr_core.scenario import Draw

SIDE, HEIGHT = float(np.sqrt(2)), float(np.sqrt(1.5))
CORNERS = np.array([[0.0, 0.0], [SIDE, 0.0], [SIDE / 2, HEIGHT]])
CENTRE = CORNERS.mean(axis=0)
# Orthonormal columns: R^3 with sum zero <-> the plane.
PLANE = CORNERS - CENTRE

STEPS = 50  # a click lands on a multiple of 1/50
PERCENT = 100 // STEPS
_MARGIN = 0.13  # around the triangle, for the names of the corners
_ROOM_BELOW = 0.45  # for a share of Inv down to about −30%


def to_plane(shares: ArrayLike) -> Array:
    """(..., 3) shares that sum to one, negative ones too, to (..., 2) coordinates. Isometric.

    >>> to_plane([0, 0, 1]).round(3).tolist()
    [0.707, 1.225]
    """
    points: Array = np.asarray(shares) @ CORNERS
    return points


def from_plane(points: ArrayLike) -> Array:
    """(..., 2) coordinates to (..., 3) shares that sum to one; undoes `to_plane`.

    >>> from_plane(to_plane([0.2, 0.3, 0.5])).round(12).tolist()
    [0.2, 0.3, 0.5]
    """
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
    outside the triangle, on its border).

    >>> percents_at(*to_plane([0.704, 0.182, 0.114]))
    (70, 18, 12)
    """
    shares = np.maximum(from_plane([x, y]), 0)
    first, second, third = (whole_users(shares / shares.sum(), STEPS) * PERCENT).tolist()
    return first, second, third


@dataclass(frozen=True)
class Frame:
    """The rectangle of the plane that is drawn: (low, high) across and up."""

    x: tuple[float, float]
    y: tuple[float, float]

    def contains(self, point: Array) -> bool:
        """Whether a point (2,) of the plane lies in it."""
        return bool(self.x[0] <= point[0] <= self.x[1] and self.y[0] <= point[1] <= self.y[1])

    @property
    def enlarged_corners(self) -> Array:
        """(4, 2) corners of a rectangle twice as large: a window of another shape shows more than the frame."""
        (left, right), (low, high) = self.x, self.y
        more = np.array([right - left, high - low]) / 2
        return np.array([[x, y] for x in self.x for y in self.y]) + more * [
            [-1, -1],
            [-1, 1],
            [1, -1],
            [1, 1],
        ]

    def edge_towards(self, point: Array) -> Array:
        """(2,) where the way from the triangle's centre to a point outside crosses the frame's edge."""
        step = point - CENTRE
        ends = np.where(step > 0, [self.x[1], self.y[1]], [self.x[0], self.y[0]]) - CENTRE
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step == 0, np.inf, ends / step)
        crossing: Array = CENTRE + float(reach.min()) * step
        return crossing


# The rectangle around the triangle, with room for the names of the corners and, below, for a negative share: the same for
# all reports and every epsilon, so that the triangle stays where it is while they change.
FRAME = Frame(
    (float(CORNERS[:, 0].min()) - _MARGIN, float(CORNERS[:, 0].max()) + _MARGIN),
    (float(CORNERS[:, 1].min()) - _ROOM_BELOW, float(CORNERS[:, 1].max()) + _MARGIN),
)


_AROUND = 1.5  # half the width of a close view, in distances of its furthest point
_SMALLEST_HALF = 1e-6  # below that a drawing has no digits left


@dataclass(frozen=True, eq=False)
class ZeroRegion:
    """A convex polygon of report shares in which an estimator sets the same categories to zero.

    Attributes:
        zeros: the number of these categories: 0, 1 or 2.
        corners: (v, 3) report shares.
    """

    zeros: int
    corners: Array


def zero_regions(name: str, mechanism: RandomizedResponse) -> tuple[ZeroRegion, ...]:
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
    regions = [ZeroRegion(0, inner)]
    for j in range(3):
        after, before = (j + 1) % 3, (j + 2) % 3
        regions.append(
            ZeroRegion(2, np.array([np.eye(3)[j], _edge(j, after, cut), inner[j], _edge(j, before, cut)]))
        )
        ends = [_edge(j, after, cut), _edge(after, j, cut)]
        regions.append(ZeroRegion(1, np.array([*ends, inner[after], inner[j]])))
    return tuple(regions)


def _edge(near: int, far: int, share: float) -> Array:
    """The point of the edge from ``near`` to ``far`` at which ``near`` has this share."""
    point: Array = np.eye(3)[near] * share + np.eye(3)[far] * (1 - share)
    return point


ThreeReports = tuple[float, float, float]  # counts or shares

# Largest number a person may type; integers up to here are subtracted without rounding.
_LARGEST = 1e12
_NEGATIVE, _UNEVEN = 0.3, 0.3
_EXAMPLE = "for example 12, 5, 3 or 0.6 0.25 0.15"


def three_categories(draw: Draw) -> Draw:
    """The scenario with three categories: its own draw where it has three, else its three most frequent
    categories, alone.

    "Alone" means that N users are drawn from the population of those three, renormalised, and report among
    three categories with the scenario's epsilon; a population of two gets a third category that nobody has.
    The seed decides everything.

    Args:
        draw: the scenario's draw.

    Returns:
        A draw with k = 3. Its categories are in their own order when the scenario has three, else the most
        frequent comes first (ties in their own order).
    """
    population, scenario = draw.population, draw.scenario
    if population.k == 3:
        return draw
    largest = _largest(population.probabilities, min(3, population.k))
    shares = np.zeros(3)
    shares[: largest.size] = population.probabilities[largest]
    shares /= shares.sum()
    shares.flags.writeable = False
    labels = (*_names(population, largest), "(empty)")[:3]
    alone = Population(f"three:{population.key}", shares, labels, source=population.source)
    return replace(scenario, dist=UPLOAD, k=3).draw(alone)


def category_names(draw: Draw) -> tuple[str, ...]:
    """What to call the categories of a draw; numbered ones get the word before the number."""
    return _names(draw.population, np.arange(draw.scenario.k))


@dataclass(frozen=True, eq=False)
class ThreeEstimates:
    """The estimates from reports over three categories.

    Attributes:
        phi: (3,) observed frequencies.
        estimates: by name of the estimator, Inv among them, the (3,) estimate.
        collinearity: how the three repairs lie.
        mechanism: the randomized response, k = 3.
    """

    phi: Array
    estimates: dict[str, Array]
    collinearity: Collinearity
    mechanism: RandomizedResponse


def estimate_three(reports: ThreeReports | NDArray, mechanism: RandomizedResponse) -> ThreeEstimates:
    """The four estimates from the counts or shares of reports over three categories.

    Raises:
        ValueError: when ``reports`` is not a histogram over three categories.

    >>> result = estimate_three([62, 33, 5], RandomizedResponse(3, 1.0))
    >>> result.estimates["mle_star"].round(4).tolist()
    [0.8303, 0.1697, 0.0]
    >>> round(result.collinearity.position, 4)
    0.5538
    """
    histogram = np.asarray(reports)
    estimates = {name: estimator(histogram, mechanism) for name, estimator in ESTIMATORS.items()}
    return ThreeEstimates(
        histogram / histogram.sum(), estimates, collinearity(histogram, mechanism), mechanism
    )


def close_view(reports: ThreeEstimates) -> Frame:
    """The rectangle around Inv and the three repairs, of the shape of FRAME and never larger."""
    points = np.stack([to_plane(reports.estimates[name]) for name in ESTIMATORS])
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    whole = np.array([FRAME.x[1] - FRAME.x[0], FRAME.y[1] - FRAME.y[0]]) / 2
    scale = float((np.abs(points - centre) / whole).max()) * _AROUND
    if scale >= 1:
        return FRAME
    half = whole * max(scale, _SMALLEST_HALF)
    (left, low), (right, high) = (centre - half).tolist(), (centre + half).tolist()
    return Frame((left, right), (low, high))


def parse_reports(text: str) -> ThreeReports:
    """Three counts or shares that a person typed, separated by commas, spaces or semicolons; percent signs
    are allowed. Whole numbers stay whole.

    Raises:
        ValueError: one plain sentence for that person.

    >>> parse_reports("62, 33, 5")
    (62, 33, 5)
    """
    words = typed.words(text)
    if len(words) != 3:
        raise ValueError(f"Three numbers are needed, {_EXAMPLE}; this has {len(words)}.")
    first, second, third = (_number(word) for word in words)
    if first == second == third == 0:
        raise ValueError(
            "At least one of the three must be above zero: without reports there is no estimate."
        )
    return first, second, third


def slider_percent(share: float) -> float:
    """A share in percent, rounded to 0.1 and kept between 0 and 100, as a slider shows it."""
    return min(max(round(share * 100, 1), 0.0), 100.0)


def set_share(phi: Array, category: int, percents: float) -> ThreeReports:
    """Shares in percent: those of ``phi`` (3,), but ``percents`` in one category, and the other two rescaled in
    proportion (equal where both were zero).

    >>> set_share(np.array([0.5, 0.3, 0.2]), 0, 60.0)
    (60.0, 24.0, 16.0)
    """
    others = [i for i in range(3) if i != category]
    rest = float(phi[others].sum())
    moved = [0.0, 0.0, 0.0]
    moved[category] = percents
    for i in others:
        moved[i] = (100 - percents) * (float(phi[i]) / rest if rest > 0 else 0.5)
    return moved[0], moved[1], moved[2]


def example_with_a_negative(mechanism: RandomizedResponse) -> ThreeReports:
    """Reports, in percent, of which Inv makes one negative share and two positive ones: where the repairs differ
    and lie on one line, at any epsilon.

    Args:
        mechanism: randomized response with k = 3.
    """
    # Inv of the third category; what it can be at least is -q/(p - q), for a category without reports.
    below = min(_NEGATIVE, 0.8 * mechanism.q / mechanism.keep)
    half = (1 + below) / 2
    raw = np.array([half + _UNEVEN, half - _UNEVEN, -below])
    first, second, third = np.round(100 * mechanism.expected(raw), 4).tolist()
    return first, second, third


def _names(population: Population, categories: NDArray[np.intp]) -> tuple[str, ...]:
    labels = population.labels
    return tuple(f"category {i + 1}" if labels is None else labels[i] for i in categories)


def _largest(values: Array, how_many: int) -> NDArray[np.intp]:
    """Positions of the largest values, largest first, ties in their own order; without sorting millions."""
    left, positions = values.copy(), []
    for _ in range(how_many):
        positions.append(int(left.argmax()))
        left[positions[-1]] = -np.inf
    return np.array(positions, dtype=np.intp)


def _number(word: str) -> float:
    try:
        value = float(word.replace("_", "x"))  # Python's 1_000 is not a number to a person
    except ValueError:
        raise ValueError(f"{short(word)} is not a number: please give three, {_EXAMPLE}.") from None
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"{short(word)} is not possible here: each number must lie between 0 and 10¹².")
    return int(value) if value.is_integer() else value


_DIRECTIONS = 121
_CURVE_STEP = 0.16  # between neighbouring curves, in the plane of the simplex
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
        radii = _CURVE_STEP * np.arange(1.0, _CURVE_OFFSETS.size + 1)
        return radii, None
    radii = touching + _CURVE_STEP * _CURVE_OFFSETS
    used = radii > _CURVE_STEP / 4
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
