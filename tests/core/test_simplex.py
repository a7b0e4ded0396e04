"""The triangle keeps distances, a click lands where it was made, and regions are where estimators set zeros."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import RandomizedResponse
from rr_core.comparison import ESTIMATORS
from rr_core.geometry.simplex import (
    CENTRE,
    CORNERS,
    PERCENT,
    STEPS,
    frame,
    from_plane,
    lattice,
    percents_at,
    regions,
    to_plane,
)
from tests.core import exact

NAMES = ("inv_n", "mle_star", "inv_p")
points = st.lists(st.floats(-50, 50), min_size=2, max_size=2)


@given(points, points)
def test_distances_are_those_of_three_dimensions(first, second):
    a, b = (np.array([*point, 1 - sum(point)]) for point in (first, second))
    drawn = np.linalg.norm(to_plane(a) - to_plane(b))
    assert drawn == pytest.approx(np.linalg.norm(a - b), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(from_plane(to_plane(a)), a, atol=1e-12)


def test_corners_are_the_categories():
    np.testing.assert_allclose(to_plane(np.eye(3)), CORNERS)
    np.testing.assert_allclose(to_plane([1 / 3] * 3), CENTRE)


def test_the_lattice_is_every_point_once():
    points = lattice()
    assert len(points) == len(set(map(tuple, points.tolist()))) == (STEPS + 1) * (STEPS + 2) // 2
    assert (points >= 0).all()
    assert (points.sum(axis=1) == STEPS).all()


def test_a_click_on_a_lattice_point_is_that_point():
    for steps in lattice()[::7]:
        drawn = to_plane(steps / STEPS).astype(np.float32)
        assert percents_at(*map(float, drawn)) == tuple((steps * PERCENT).tolist())


@given(st.floats(-1, 3), st.floats(-1, 3))
def test_a_click_anywhere_gives_percents_near_it(x, y):
    check_click(x, y)


def test_clicks_all_over_the_triangle():
    for shares in np.random.default_rng(1).dirichlet(np.ones(3), 300):
        check_click(*map(float, to_plane(shares)))


def check_click(x, y):
    percents = np.array(percents_at(x, y))
    assert percents.sum() == 100
    assert (percents >= 0).all()
    if (from_plane([x, y]) >= 0).all():
        assert np.abs(percents / 100 - from_plane([x, y])).max() <= 1 / STEPS


def test_the_frame_grows_to_show_a_point_but_not_for_one_far_out():
    usual = frame(CENTRE)
    assert usual.holds(CENTRE)
    assert all(usual.holds(corner) for corner in CORNERS)
    near = np.array([0.3, -0.6])
    assert not usual.holds(near)
    assert frame(near).holds(near)
    far = np.array([0.3, -40.0])
    assert frame(far) == usual
    edge = usual.towards(far)
    assert edge[1] == pytest.approx(usual.y[0])
    across = (far - CENTRE)[0] * (edge - CENTRE)[1] - (far - CENTRE)[1] * (edge - CENTRE)[0]
    assert across == pytest.approx(0, abs=1e-12)


def test_the_reach_is_twice_the_frame():
    found = frame(CENTRE)
    width, height = np.ptp(found.reach, axis=0)
    assert width == pytest.approx(2 * (found.x[1] - found.x[0]))
    assert height == pytest.approx(2 * (found.y[1] - found.y[0]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [0.01, 0.7, 1.0, 2.5, 6.0])
def test_inside_each_region_the_estimator_sets_that_many_zeros(name, epsilon):
    mechanism, rng = RandomizedResponse(3, epsilon), np.random.default_rng(4)
    area = 0.0
    for region in regions(name, mechanism):
        weights = rng.dirichlet(np.full(len(region.corners), 0.4), 400) * 0.999 + 0.001 / len(region.corners)
        zeros = (ESTIMATORS[name](weights @ region.corners, mechanism) == 0).sum(axis=1)
        assert set(zeros.tolist()) == {region.zeros}
        x, y = to_plane(region.corners).T
        area += abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    assert area == pytest.approx(np.sqrt(3) / 2)  # the seven cover the triangle, and overlap nowhere


@pytest.mark.parametrize("name", NAMES)
def test_borders_of_regions_in_exact_arithmetic(name):
    """On a border the estimate is exactly zero (so it counts as cut off), and a hair inside it is positive."""
    p = Fraction(1, 2)
    channel, q = exact.channel_from_p(3, p), Fraction(1, 4)
    cut = {"inv_n": 1 - q, "mle_star": p / (p + q), "inv_p": (1 + p - q) / 2}[name]
    mechanism, hair = RandomizedResponse.from_p(3, 0.5), Fraction(1, 10**6)
    estimate = exact.ESTIMATORS[name]
    for share, zeros in ((cut, 2), (cut - hair, 1), (cut + hair, 2)):
        found = estimate([share, 1 - share, Fraction(0)], channel)
        assert sum(value == 0 for value in found) == zeros
    inner = [p, q, q]  # where all the borders meet
    assert sum(value == 0 for value in estimate(inner, channel)) == 2
    inside = [p - 2 * hair, q + hair, q + hair]
    assert sum(value == 0 for value in estimate(inside, channel)) == 0
    drawn = {tuple(np.round(corner, 12)) for region in regions(name, mechanism) for corner in region.corners}
    assert tuple(np.round([float(cut), float(1 - cut), 0.0], 12)) in drawn
    assert tuple(float(value) for value in inner) in drawn


def test_the_regions_of_two_zeros_lie_inside_each_other():
    """Supports are nested, so InvP sets two zeros wherever MLE* does, and MLE* wherever InvN does."""
    for epsilon in (0.1, 1.0, 5.0):
        mechanism = RandomizedResponse(3, epsilon)
        cuts = [
            next(region for region in regions(name, mechanism) if region.zeros == 2).corners[1, 0]
            for name in ("inv_p", "mle_star", "inv_n")
        ]
        assert cuts[0] < cuts[1] < cuts[2] < 1
