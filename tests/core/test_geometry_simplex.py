"""The triangle keeps distances, a click lands where it was made, regions are where estimators set zeros; which three
categories, and what a person may type; a count pushed down is what the estimators say of the full histogram; of many
collections Inv is unbiased."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import (
    Population,
    RandomizedResponse,
    Scenario,
    collinearity,
    inv,
    inv_n,
    inv_p,
    inv_variance,
    mle_star,
    negative_log_likelihood,
)
from rr_core.geometry.push_down import push_down, push_down_candidates
from rr_core.geometry.replicates import (
    N_COLLECTIONS,
    TRUTH_PLACES,
    cloud_frame,
    cloud_true_counts,
    simulate_clouds,
)
from rr_core.geometry.simplex import (
    CENTRE,
    CORNERS,
    FRAME,
    PERCENT,
    STEPS,
    category_names,
    distance_circles,
    estimate_three,
    example_with_a_negative,
    from_plane,
    lattice,
    likelihood_curves,
    likelihood_loss,
    parse_reports,
    percents_at,
    set_share,
    slider_percent,
    three_categories,
    to_plane,
    zero_regions,
)
from rr_core.registry import ESTIMATORS
from tests.sentences import holds

REPAIRS = ("inv_n", "mle_star", "inv_p")


def test_the_triangle_keeps_distances_and_its_lattice_is_every_point_once():
    corners = np.random.default_rng(1).uniform(-50, 50, (100, 2, 2))
    shares = np.concatenate([corners, 1 - corners.sum(axis=-1, keepdims=True)], axis=-1)
    a, b = shares[:, 0], shares[:, 1]
    drawn = np.linalg.norm(to_plane(a) - to_plane(b), axis=-1)
    np.testing.assert_allclose(drawn, np.linalg.norm(a - b, axis=-1), rtol=1e-12)
    np.testing.assert_allclose(from_plane(to_plane(a)), a, atol=1e-12)
    points = lattice()
    assert len(points) == len(set(map(tuple, points.tolist()))) == (STEPS + 1) * (STEPS + 2) // 2
    assert (points >= 0).all()
    assert (points.sum(axis=1) == STEPS).all()


def test_a_click_on_a_lattice_point_is_that_point_and_one_anywhere_near_it():
    for steps in lattice()[::7]:
        drawn = to_plane(steps / STEPS).astype(np.float32)
        assert percents_at(*map(float, drawn)) == tuple((steps * PERCENT).tolist())
    for x, y in np.random.default_rng(2).uniform(-1, 3, (200, 2)).tolist():
        percents = np.array(percents_at(x, y))
        assert percents.sum() == 100
        assert (percents >= 0).all()
        if (from_plane([x, y]) >= 0).all():
            assert np.abs(percents / 100 - from_plane([x, y])).max() <= 1 / STEPS


def test_the_frame_holds_the_triangle_and_its_edge_is_on_the_way_to_a_point_outside():
    assert FRAME.contains(CENTRE)
    assert all(FRAME.contains(corner) for corner in CORNERS)
    for epsilon in (0.01, 0.5, 1.0, 2.0, 5.0):
        mechanism = RandomizedResponse(3, epsilon)
        example = estimate_three(example_with_a_negative(mechanism), mechanism)
        assert FRAME.contains(to_plane(example.estimates["inv"]))
    far = np.array([0.3, -40.0])
    assert not FRAME.contains(far)
    assert FRAME.edge_towards(far)[1] == pytest.approx(FRAME.y[0])


@pytest.mark.parametrize("name", REPAIRS)
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 6.0])
def test_inside_each_region_the_estimator_sets_that_many_zeros(name, epsilon):
    mechanism, rng = RandomizedResponse(3, epsilon), np.random.default_rng(4)
    area = 0.0
    for region in zero_regions(name, mechanism):
        weights = rng.dirichlet(np.full(len(region.corners), 0.4), 400) * 0.999 + 0.001 / len(region.corners)
        zeros = (ESTIMATORS[name](weights @ region.corners, mechanism) == 0).sum(axis=1)
        assert set(zeros.tolist()) == {region.zeros}
        x, y = to_plane(region.corners).T
        area += abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    assert area == pytest.approx(np.sqrt(3) / 2)  # the seven cover the triangle, and overlap nowhere


@pytest.mark.parametrize(
    ("weights", "labels", "kept", "shares"),
    [
        # In the order of the categories; of equal ones the first; an empty one where there are but two.
        ([5, 40, 1, 30, 30, 2], list("abcdef"), ("b", "d", "e"), [0.4, 0.3, 0.3]),
        ([9, 9, 9, 9], None, ("category 1", "category 2", "category 3"), [1 / 3] * 3),
        ([3, 1], None, ("category 1", "category 2", "(empty)"), [0.75, 0.25, 0]),
    ],
)
def test_the_three_most_frequent_categories_are_drawn_alone(weights, labels, kept, shares):
    scenario = Scenario("upload", len(weights), epsilon=0.8, n=900, seed=3)
    draw = scenario.draw(Population.from_weights(weights, labels))
    three, again = three_categories(draw), three_categories(draw)
    assert category_names(three) == kept
    np.testing.assert_allclose(three.population.probabilities, shares)
    assert (three.scenario.n, three.scenario.epsilon, three.scenario.seed) == (900, 0.8, 3)
    assert three.true_counts.sum() == three.counts.sum() == 900
    np.testing.assert_array_equal(three.counts, again.counts)


def test_an_upload_with_fewer_than_three_people_in_it_has_a_draw():
    draw = Scenario("upload", 5, epsilon=0.01, n=1, seed=1).draw(Population.from_weights([0, 0, 0, 7, 0]))
    assert three_categories(draw).counts.sum() == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("12, 5, 3", (12, 5, 3)),
        ("0.5; 0.3\t0.2", (0.5, 0.3, 0.2)),
        ("50 %, 30% 20 %", (50, 30, 20)),
        ("1e3/0/7", (1000, 0, 7)),
    ],
)
def test_numbers_that_a_person_may_type(text, numbers):
    assert parse_reports(text) == numbers
    whole = all(float(number).is_integer() for number in numbers)
    assert all(isinstance(number, int) for number in parse_reports(text)) is whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Three numbers are needed"),
        ("1, two, 3", "'two' is not a number"),
        ("1, -2, 3", "'-2' is not possible"),
        ("1, nan, 3", "'nan' is not possible"),
        ("1e300 1 1", "'1e300' is not possible"),
        ("1_000 1 1", "'1_000' is not a number"),
        ("0 0 0", "above zero"),
    ],
)
def test_what_is_wrong_with_other_texts_is_said_in_one_sentence(text, words):
    with pytest.raises(ValueError, match=r"\.$") as caught:
        parse_reports(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_slider_sets_one_share_and_rescales_the_others_in_proportion():
    rng = np.random.default_rng(3)
    for phi in rng.dirichlet(np.ones(3), 50):
        percents = float(rng.uniform(0, 100))
        moved = set_share(phi, 1, percents)
        assert moved[1] == percents
        assert sum(moved) == pytest.approx(100)
        assert min(moved) >= 0
        assert moved[0] * phi[2] == pytest.approx(moved[2] * phi[0], abs=1e-9)
    assert set_share(np.array([1.0, 0.0, 0.0]), 0, 60.0) == (60.0, 20.0, 20.0)
    assert [slider_percent(share) for share in (1 + 1e-12, 1e-9, 0.12345)] == [100.0, 0.0, 12.3]


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0, 12.0])
def test_the_example_has_one_negative_and_its_repairs_differ(epsilon):
    mechanism = RandomizedResponse(3, epsilon)
    example = example_with_a_negative(mechanism)
    assert min(example) >= 0
    assert (inv(example, mechanism) < 0).sum() == 1
    place = collinearity(example, mechanism)
    assert place.supports.tolist() == [2, 2, 2]
    assert place.length > 0


# Circles and curves of likelihood: each point has the value of its curve, and the touching one only touches.

CASES = [
    ((62, 33, 5), 1.0),
    ((40, 35, 25), 1.0),
    ((1, 0, 0), 1.0),
    ((62, 33, 5), 0.01),
    ((600, 399, 1), 7.0),
]
EVERY = pytest.mark.parametrize(("reports", "epsilon"), CASES)


def drawn(reports, epsilon):
    found = estimate_three(reports, RandomizedResponse(3, epsilon))
    return found, FRAME


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


def by_hand(histogram, category, count):
    """The full histogram in which the category has ``count`` reports, the rest going to the most reported other."""
    pushed = np.array(histogram, dtype=float)
    others = [i for i in range(len(pushed)) if i != category]
    most = max(others, key=lambda i: pushed[i])
    pushed[most] += pushed[category] - count
    pushed[category] = count
    return pushed


def levelled(histogram, mechanism):
    """Every category that InvP drops given the average of those."""
    spread = np.array(histogram, dtype=float)
    dropped = inv_p(histogram, mechanism) == 0
    if dropped.any():
        spread[dropped] = spread[dropped].mean()
    return spread


def check(found, histogram, category, mechanism):
    for index, count in enumerate(found.counts):
        full = by_hand(histogram, category, count)
        alone, here = collinearity(full, mechanism), found.collinearity_at(index)
        np.testing.assert_array_equal(here.supports, alone.supports)
        assert here.same_support == alone.same_support
        assert here.residual == pytest.approx(alone.residual, rel=1e-6, abs=1e-11)
        if alone.length > 1e-6:
            assert here.length == pytest.approx(alone.length, rel=1e-9)
            assert here.position == pytest.approx(alone.position, rel=1e-6, abs=1e-9)
        estimates = (make(full, mechanism)[category] for make in (inv_p, mle_star, inv_n))
        assert found.positive[index].tolist() == [share > 0 for share in estimates]


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("k", [40, 3000])
def test_many_categories_with_shared_counts(k, level):
    draw = Scenario("zipf", k, 1.1, 2.0, 20 * k, 6).draw()
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=level)
    start = levelled(draw.counts, draw.mechanism) if level else draw.counts
    check(found, start, category, draw.mechanism)


def test_the_most_reported_category_can_be_pushed_below_the_second_and_a_single_report_moves():
    histogram, mechanism = [50, 30, 20, 4], RandomizedResponse(4, 1.0)
    check(push_down(histogram, 0, mechanism), histogram, 0, mechanism)
    alone = push_down([0, 1], 1, RandomizedResponse(2, 1.0))
    assert alone.counts.tolist() == [0, 1]
    assert alone.collinearity.length.tolist() == [0, 0]


def test_levelled_it_begins_on_the_line_with_inv_p_unmoved_and_leaves_it():
    draw = Scenario("zipf", 500, 1.3, 1.0, 10_000, 1).draw()
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    raw = push_down(draw.counts, category, draw.mechanism)
    found = push_down(draw.counts, category, draw.mechanism, equalize=True)
    start = found.collinearity_at(-1)
    assert not raw.collinearity_at(-1).same_support
    assert start.same_support
    assert start.residual < 1e-12
    assert start.supports[0] == raw.collinearity_at(-1).supports[0]
    spread = levelled(draw.counts, draw.mechanism)
    np.testing.assert_allclose(
        inv_p(spread, draw.mechanism), inv_p(draw.counts, draw.mechanism), rtol=1e-9, atol=1e-12
    )
    off = found.collinearity.residual / found.collinearity.length
    assert off.max() > 0.01
    assert (off[found.positive.all(axis=1)] < 1e-9).all()


def test_inv_p_drops_it_first_and_inv_n_last_and_the_zone_between_is_tried_closely():
    draw = Scenario("zipf", 12, 4.0, 1.0, 2_000_000, 0).draw()
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=True)
    assert (found.counts[0], found.counts[-1]) == (0, draw.counts[category])
    assert (np.diff(found.counts) > 0).all()
    starts = [int(kept.argmax()) for kept in found.positive.T]
    assert starts[2] <= starts[1] <= starts[0]
    assert (found.positive.any(axis=1) & ~found.positive.all(axis=1)).sum() >= 30


def test_candidates_are_kept_by_all_and_have_the_fewest_reports():
    draw = Scenario("zipf", 2000, 1.1, 3.0, 40_000, 2).draw()
    chosen = push_down_candidates(draw.counts, draw.mechanism, most=10)
    kept = np.flatnonzero(inv_p(draw.counts, draw.mechanism) > 0)
    expected = kept[np.argsort(draw.counts[kept], kind="stable")][:10]
    np.testing.assert_array_equal(chosen, expected)
    for unit in (1, 1e-200):
        few = push_down_candidates(np.array([9, 1, 0, 8]) * unit, RandomizedResponse(4, 1.0))
        assert few.tolist() == [3, 0]


DRAW = Scenario("zipf", 3, 1.2, 1.0, 2000, 7).draw()


@pytest.mark.parametrize("where", TRUTH_PLACES)
def test_the_mean_of_inv_is_the_truth_within_four_standard_errors(where):
    cloud = simulate_clouds(DRAW, where)["inv"]
    np.testing.assert_allclose(cloud.theta, cloud_true_counts(DRAW, where) / 2000)
    error = np.sqrt(inv_variance(cloud.theta, 2000, DRAW.mechanism) / N_COLLECTIONS)
    assert (np.abs(cloud.mean - cloud.theta) < 4 * error).all()
    assert cloud.spread == pytest.approx(np.linalg.norm(error) * np.sqrt(N_COLLECTIONS), rel=0.1)
    assert cloud.bias < 3 * cloud.standard_error


def test_the_seed_decides_and_places_are_independent():
    first, again = simulate_clouds(DRAW, "edge"), simulate_clouds(DRAW, "edge")
    np.testing.assert_array_equal(first["inv"].points, again["inv"].points)
    alike = Scenario("upload", 3, epsilon=1.0, n=2000, seed=7).draw(Population.from_weights([1, 0, 0]))
    own, corner = (simulate_clouds(alike, where)["inv"] for where in ("own", "corner"))
    assert own.theta.tolist() == corner.theta.tolist() == [1, 0, 0]
    assert (own.points != corner.points).any()


def test_the_frame_shows_the_clouds_but_does_not_follow_inv_far_out():
    near = cloud_frame(simulate_clouds(DRAW, "edge"))
    for cloud in simulate_clouds(DRAW, "edge").values():
        assert all(near.contains(point) for point in to_plane(cloud.points))
    assert near.x[1] - near.x[0] == pytest.approx(near.y[1] - near.y[0])
    assert near.x[1] - near.x[0] < 1
    far = cloud_frame(simulate_clouds(Scenario("zipf", 3, 1.2, 0.01, 10, 7).draw(), "corner"))
    assert all(far.contains(corner) for corner in CORNERS)
    assert far.x[1] - far.x[0] < 4
    without_noise = simulate_clouds(Scenario("zipf", 3, 1.2, 20.0, 1, 7).draw(), "corner")
    assert np.ptp(without_noise["inv"].points, axis=0).tolist() == [0, 0, 0]
    assert np.diff(cloud_frame(without_noise).x) > 0


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
