"""Many collections: Inv is unbiased, the repairs are not at the border; how often the three are on one line."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import Population, Scenario, collinearity, inv, inv_variance
from rr_core.geometry.replicates import (
    N_COLLECTIONS,
    TRUTH_PLACES,
    Cloud,
    cloud_frame,
    cloud_true_counts,
    count_alignment,
    simulate_clouds,
)
from rr_core.geometry.simplex import CORNERS, to_plane
from tests.sentences import holds

DRAW = Scenario("zipf", 3, 1.2, 1.0, 2000, 7).draw()


@pytest.mark.parametrize("where", TRUTH_PLACES)
def test_the_mean_of_inv_is_the_truth_within_four_standard_errors(where):
    cloud = simulate_clouds(DRAW, where)["inv"]
    np.testing.assert_allclose(cloud.theta, cloud_true_counts(DRAW, where) / 2000)
    error = np.sqrt(inv_variance(cloud.theta, 2000, DRAW.mechanism) / N_COLLECTIONS)
    assert (np.abs(cloud.mean - cloud.theta) < 4 * error).all()
    assert cloud.spread == pytest.approx(np.linalg.norm(error) * np.sqrt(N_COLLECTIONS), rel=0.1)
    assert cloud.bias < 3 * cloud.standard_error


@pytest.mark.parametrize("where", ["edge", "corner"])
def test_repairs_are_biased_at_the_border_and_scatter_less(where):
    found = simulate_clouds(DRAW, where)
    for name in ("inv_n", "inv_p", "mle_star"):
        cloud = found[name]
        assert cloud.bias > 4 * cloud.standard_error
        assert cloud.spread < found["inv"].spread
        assert cloud.mean[2] > cloud.theta[2]  # inwards
        assert (cloud.points >= 0).all()


def test_the_seed_decides_and_places_are_independent():
    first, again = simulate_clouds(DRAW, "edge"), simulate_clouds(DRAW, "edge")
    np.testing.assert_array_equal(first["inv"].points, again["inv"].points)
    other = simulate_clouds(Scenario("zipf", 3, 1.2, 1.0, 2000, 8).draw(), "edge")
    assert (first["inv"].points != other["inv"].points).any()
    alike = Scenario("upload", 3, epsilon=1.0, n=2000, seed=7).draw(Population.from_weights([1, 0, 0]))
    own, corner = (simulate_clouds(alike, where)["inv"] for where in ("own", "corner"))
    assert own.theta.tolist() == corner.theta.tolist() == [1, 0, 0]
    assert (own.points != corner.points).any()


@pytest.mark.parametrize(
    ("where", "n", "users"), [("edge", 7, [4, 3, 0]), ("edge", 1, [1, 0, 0]), ("corner", 7, [7, 0, 0])]
)
def test_users_at_the_border(where, n, users):
    assert cloud_true_counts(Scenario("zipf", 3, 1.0, 1.0, n, 1).draw(), where).tolist() == users


def test_numbers_of_a_cloud():
    cloud = Cloud(np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]]), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(cloud.mean, [0.25, 0.25, 0.5])
    assert cloud.bias == pytest.approx(np.sqrt(0.75**2 + 0.25**2 + 0.5**2))
    assert cloud.spread == pytest.approx(np.sqrt(0.125 + 0.125 + 0.5))
    assert cloud.standard_error == pytest.approx(cloud.spread / np.sqrt(2))


def test_the_frame_shows_the_clouds_but_does_not_follow_inv_far_out():
    near = cloud_frame(simulate_clouds(DRAW, "edge"))
    for cloud in simulate_clouds(DRAW, "edge").values():
        assert all(near.contains(point) for point in to_plane(cloud.points))
    assert near.x[1] - near.x[0] == pytest.approx(near.y[1] - near.y[0])
    assert near.x[1] - near.x[0] < 1
    far = cloud_frame(simulate_clouds(Scenario("zipf", 3, 1.2, 0.01, 10, 7).draw(), "corner"))
    assert all(far.contains(corner) for corner in CORNERS)
    assert far.x[1] - far.x[0] < 4


def test_collections_without_any_noise_have_a_frame():
    still = simulate_clouds(Scenario("zipf", 3, 1.2, 20.0, 1, 7).draw(), "corner")
    assert np.ptp(still["inv"].points, axis=0).tolist() == [0, 0, 0]
    shown = cloud_frame(still)
    assert shown.x[0] < shown.x[1]


SCENARIOS = [
    Scenario("zipf", 12, 1.5, 1.0, 2000, 5),
    Scenario("zipf", 5, 0.5, 1.5, 300, 2),
    Scenario("uniform", 3, 0.0, 4.0, 1000, 3),
    Scenario("zipf", 4, 2.0, 0.01, 1, 3),
    Scenario("zipf", 3000, 1.2, 3.0, 30_000, 3),
]


def one_by_one(draw, times):
    tally, off = {"nothing_cut_off": 0, "theorem2": 0, "only_equal_supports": 0, "unequal_supports": 0}, []
    for reports in draw.collector().draw(0, times).reports:
        lines = collinearity(reports, draw.mechanism)
        if (inv(reports, draw.mechanism) >= 0).all():
            kind = "nothing_cut_off"
        elif lines.theorem2_holds:
            kind = "theorem2"
        elif lines.same_support:
            kind = "only_equal_supports"
        else:
            kind = "unequal_supports"
            off.append(lines.residual / lines.length)
        tally[kind] += 1
    return tally, off


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: f"{scenario.k}")
def test_counts_are_those_of_the_collections_one_by_one(scenario):
    draw = scenario.draw()
    times = 150 if scenario.k < 100 else 12
    *_, result = count_alignment(draw, times)
    tally, off = one_by_one(draw, times)
    assert {name: getattr(result, name) for name in tally} == tally
    assert result.n_collections == sum(tally.values()) == times
    np.testing.assert_allclose(result.off_line_distances, off, rtol=1e-9, atol=1e-13)


def test_results_grow_step_by_step_and_can_be_left():
    draw = Scenario("zipf", 150_000, 1.2, 3.0, 30_000, 3).draw()
    steps = count_alignment(draw, 5)
    assert next(steps).n_collections == 2
    assert next(steps).n_collections == 4


@holds(
    "*Chance alone*: its standard error; an unbiased estimator shows a bias of about this length by chance, now and then twice as much or more."  # noqa: E501
)
def test_by_chance_an_unbiased_estimator_shows_its_standard_error():
    """Over seeds the squared length of Inv's bias is the squared standard error on average; few are twice as long."""
    ratios = []
    for seed in range(100):
        inv_cloud = simulate_clouds(Scenario("zipf", 3, 1.0, 1.0, 2000, seed).draw(), "edge")["inv"]
        ratios.append(inv_cloud.bias / inv_cloud.standard_error)
    squares = np.square(ratios)
    # Of 100 squares with mean 1 and a variance of at most 2 (a single direction), the mean is within 4 · √(2/100).
    assert abs(squares.mean() - 1) < 4 * np.sqrt(2 / 100)
    assert 0 < (squares > 4).sum() < 12  # of a single direction 4.6% are, of two alike 1.8%
    assert squares.max() < 16
