"""Circles and curves of likelihood: each point has the value of its curve, and the touching one only touches."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse, negative_log_likelihood
from rr_core.geometry.simplex import (
    distance_circles,
    estimate_three,
    frame_around,
    from_plane,
    lattice,
    likelihood_curves,
    likelihood_loss,
    to_plane,
)

CASES = [
    ((62, 33, 5), 1.0),
    ((85, 10, 5), 1.0),
    ((40, 35, 25), 1.0),
    ((1, 1, 1), 0.5),
    ((50, 50, 0), 1.0),
    ((1, 0, 0), 1.0),
    ((62, 33, 5), 0.01),
    ((90, 8, 2), 3.0),
    ((600, 399, 1), 7.0),
]
EVERY = pytest.mark.parametrize(("reports", "epsilon"), CASES)


def drawn(reports, epsilon):
    found = estimate_three(reports, RandomizedResponse(3, epsilon))
    return found, frame_around(to_plane(found.estimates["inv"]))


@EVERY
def test_circles_are_at_their_distance_and_one_touches_at_inv_p(reports, epsilon):
    found, shown = drawn(reports, epsilon)
    circles = distance_circles(found, shown)
    raw = found.estimates["inv"]
    away = np.linalg.norm(from_plane(circles.lines) - raw, axis=-1)
    np.testing.assert_allclose(away, np.broadcast_to(circles.values[:, None], away.shape), rtol=1e-9)
    if not found.collinearity.cut_off:
        assert circles.touching is None
        return
    radius = circles.values[circles.touching]
    assert radius == pytest.approx(np.linalg.norm(found.estimates["inv_p"] - raw), rel=1e-12)
    # No distribution is nearer.
    assert np.linalg.norm(lattice() / 50 - raw, axis=-1).min() >= radius - 1e-12


@EVERY
def test_every_point_of_a_curve_has_its_likelihood(reports, epsilon):
    found, shown = drawn(reports, epsilon)
    curves = likelihood_curves(found, shown)
    lost = likelihood_loss(found, curves.lines)
    seen = found.mechanism.q + found.mechanism.keep * from_plane(curves.lines)
    # A category with next to no reports loses its likelihood only within a rounding of the domain's border.
    inside = np.isfinite(curves.lines).all(axis=-1) & (seen.min(axis=-1) > 1e-9)
    assert inside.mean() > 0.3
    expected = np.broadcast_to(curves.values[:, None], lost.shape)
    np.testing.assert_allclose(lost[inside], expected[inside], rtol=1e-8, atol=1e-13)
    assert (np.diff(curves.values) > 0).all()


@EVERY
def test_what_is_lost_is_the_likelihood_that_the_core_computes(reports, epsilon):
    found, _ = drawn(reports, epsilon)
    points = lattice()[::11] / 50
    least = negative_log_likelihood(found.phi, found.estimates["inv"], found.mechanism)
    lost = negative_log_likelihood(found.phi, points, found.mechanism) - least
    np.testing.assert_allclose(likelihood_loss(found, to_plane(points)), lost, rtol=1e-9, atol=1e-12)


@EVERY
def test_the_touching_curve_touches_at_mle_star_and_no_distribution_is_more_likely(reports, epsilon):
    found, shown = drawn(reports, epsilon)
    curves = likelihood_curves(found, shown)
    if not found.collinearity.cut_off:
        assert curves.touching is None
        return
    touching = curves.values[curves.touching]
    best = likelihood_loss(found, to_plane(found.estimates["mle_star"])[None])[0]
    assert touching == pytest.approx(best, rel=1e-12)
    assert likelihood_loss(found, to_plane(lattice() / 50)).min() >= touching * (1 - 1e-12)
    line = curves.lines[curves.touching]
    line = line[np.isfinite(line).all(axis=-1)]
    # The curve stays outside the triangle (its points have a negative share), up to the point where it touches.
    assert (from_plane(line).min(axis=-1) <= 1e-9).all()


def test_outside_the_domain_the_loss_is_infinite():
    found, _ = drawn((50, 50, 0), 1.0)
    out = found.estimates["inv"] + np.array([0.05, 0.05, -0.1])
    assert likelihood_loss(found, to_plane(out)[None]) == np.inf
    found, _ = drawn((62, 33, 5), 1.0)
    edge = -found.mechanism.q / found.mechanism.keep
    out = np.array([0.5 - edge, 0.6, edge - 0.1])
    assert likelihood_loss(found, to_plane(out)[None]) == np.inf


def test_far_out_the_curves_still_cross_the_picture():
    found, shown = drawn((62, 33, 5), 0.01)
    assert not shown.contains(to_plane(found.estimates["inv"]))
    for contours in (distance_circles(found, shown), likelihood_curves(found, shown)):
        touching = contours.lines[contours.touching]
        assert sum(shown.contains(point) for point in touching) > 8
        # Drawn finely there: neighbouring points are close to each other.
        assert np.linalg.norm(np.diff(touching, axis=0), axis=-1).max() < 0.2
