"""Clouds of many collections: Inv is unbiased, the repairs are not at the border, and the seed decides all."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import Population, Scenario, inv_variance
from rr_core.comparison import ESTIMATORS
from rr_core.geometry.clouds import COLLECTIONS, PLACES, Cloud, clouds, frame_of, true_counts
from rr_core.geometry.simplex import CORNERS, to_plane

DRAW = Scenario("zipf", 3, 1.2, 1.0, 2000, 7).draw()


@pytest.mark.parametrize("where", PLACES)
def test_the_mean_of_inv_is_the_truth_within_four_standard_errors(where):
    cloud = clouds(DRAW, where)["inv"]
    np.testing.assert_allclose(cloud.theta, true_counts(DRAW, where) / 2000)
    error = np.sqrt(inv_variance(cloud.theta, 2000, DRAW.mechanism) / COLLECTIONS)
    assert (np.abs(cloud.mean - cloud.theta) < 4 * error).all()
    assert cloud.spread == pytest.approx(np.linalg.norm(error) * np.sqrt(COLLECTIONS), rel=0.1)
    assert cloud.bias < 3 * cloud.standard_error


@pytest.mark.parametrize("where", ["edge", "corner"])
def test_repairs_are_biased_at_the_border_and_scatter_less(where):
    found = clouds(DRAW, where)
    for name in ("inv_n", "inv_p", "mle_star"):
        cloud = found[name]
        assert cloud.bias > 4 * cloud.standard_error
        assert cloud.spread < found["inv"].spread
        assert cloud.mean[2] > cloud.theta[2]  # inwards
        assert (cloud.points >= 0).all()


def test_every_estimator_sees_the_same_reports():
    found = clouds(DRAW, "edge")
    channel = DRAW.mechanism
    reports = channel.expected(found["inv"].points)
    for name, cloud in found.items():
        np.testing.assert_allclose(cloud.points, ESTIMATORS[name](reports, channel), atol=1e-9)


def test_the_seed_decides_and_places_are_independent():
    first, again = clouds(DRAW, "edge"), clouds(DRAW, "edge")
    np.testing.assert_array_equal(first["inv"].points, again["inv"].points)
    other = clouds(Scenario("zipf", 3, 1.2, 1.0, 2000, 8).draw(), "edge")
    assert (first["inv"].points != other["inv"].points).any()
    alike = Scenario("upload", 3, epsilon=1.0, n=2000, seed=7).draw(Population.from_weights([1, 0, 0]))
    own, corner = (clouds(alike, where)["inv"] for where in ("own", "corner"))
    assert own.theta.tolist() == corner.theta.tolist() == [1, 0, 0]
    assert (own.points != corner.points).any()


@pytest.mark.parametrize(
    ("where", "n", "users"), [("edge", 7, [4, 3, 0]), ("edge", 1, [1, 0, 0]), ("corner", 7, [7, 0, 0])]
)
def test_users_at_the_border(where, n, users):
    assert true_counts(Scenario("zipf", 3, 1.0, 1.0, n, 1).draw(), where).tolist() == users


def test_numbers_of_a_cloud():
    cloud = Cloud(np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]]), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(cloud.mean, [0.25, 0.25, 0.5])
    assert cloud.bias == pytest.approx(np.sqrt(0.75**2 + 0.25**2 + 0.5**2))
    assert cloud.spread == pytest.approx(np.sqrt(0.125 + 0.125 + 0.5))
    assert cloud.standard_error == pytest.approx(cloud.spread / np.sqrt(2))


def test_the_frame_shows_the_clouds_but_does_not_follow_inv_far_out():
    near = frame_of(clouds(DRAW, "edge"))
    for cloud in clouds(DRAW, "edge").values():
        assert all(near.holds(point) for point in to_plane(cloud.points))
    assert near.x[1] - near.x[0] == pytest.approx(near.y[1] - near.y[0])
    assert near.x[1] - near.x[0] < 1
    far = frame_of(clouds(Scenario("zipf", 3, 1.2, 0.01, 10, 7).draw(), "corner"))
    assert all(far.holds(corner) for corner in CORNERS)
    assert far.x[1] - far.x[0] < 4


def test_collections_without_any_noise_have_a_frame():
    still = clouds(Scenario("zipf", 3, 1.2, 20.0, 1, 7).draw(), "corner")
    assert np.ptp(still["inv"].points, axis=0).tolist() == [0, 0, 0]
    shown = frame_of(still)
    assert shown.x[0] < shown.x[1]
