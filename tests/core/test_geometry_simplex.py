"""The triangle keeps distances, a click lands where it was made, regions are where estimators set zeros; which three
categories, and what a person may type; a count pushed down is what the estimators say of the full histogram; of many
collections Inv is unbiased, and the repairs are not at the border."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    Cloud,
    cloud_frame,
    cloud_true_counts,
    count_alignment,
    simulate_clouds,
)
from rr_core.geometry.simplex import (
    CENTRE,
    CORNERS,
    FRAME,
    PERCENT,
    STEPS,
    category_names,
    close_view,
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
from tests.core.histograms import counts, everyday_epsilons
from tests.sentences import holds

REPAIRS = ("inv_n", "mle_star", "inv_p")
points = st.lists(st.floats(-50, 50), min_size=2, max_size=2)


@pytest.mark.slow
@given(points, points)
def test_distances_are_those_of_three_dimensions(first, second):
    a, b = (np.array([*point, 1 - sum(point)]) for point in (first, second))
    drawn = np.linalg.norm(to_plane(a) - to_plane(b))
    assert drawn == pytest.approx(np.linalg.norm(a - b), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(from_plane(to_plane(a)), a, atol=1e-12)


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


def check_click(x, y):
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
    edge = FRAME.edge_towards(far)
    assert edge[1] == pytest.approx(FRAME.y[0])
    across = (far - CENTRE)[0] * (edge - CENTRE)[1] - (far - CENTRE)[1] * (edge - CENTRE)[0]
    assert across == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 5.0, 10.0])
def test_a_close_view_holds_every_estimate_and_is_no_larger_than_it_need_be(epsilon):
    mechanism = RandomizedResponse(3, epsilon)
    for reports in (example_with_a_negative(mechanism), (60.0, 40.0, 0.0), (5.0, 3.0, 4.0)):
        result = estimate_three(reports, mechanism)
        view = close_view(result)
        points = [to_plane(share) for share in result.estimates.values()]
        if view is not FRAME:
            assert all(view.contains(point) for point in points)
        width, height = view.x[1] - view.x[0], view.y[1] - view.y[0]
        assert width / height == pytest.approx((FRAME.x[1] - FRAME.x[0]) / (FRAME.y[1] - FRAME.y[0]))
        assert width <= FRAME.x[1] - FRAME.x[0]
        apart = np.ptp(points, axis=0).max()
        assert view is FRAME or width <= max(4 * apart, 1e-5)


@pytest.mark.parametrize("name", REPAIRS)
@pytest.mark.parametrize("epsilon", [0.01, 0.7, 1.0, 2.5, 6.0])
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


def test_more_categories_give_the_three_most_frequent_alone():
    population = Population.from_weights([5, 40, 1, 30, 30, 2], list("abcdef"))
    scenario = Scenario("upload", 6, epsilon=0.8, n=900, seed=3)
    three = three_categories(scenario.draw(population))
    assert category_names(three) == ("b", "d", "e")
    np.testing.assert_allclose(three.population.probabilities, [0.4, 0.3, 0.3])
    assert (three.scenario.n, three.scenario.epsilon, three.scenario.seed) == (900, 0.8, 3)
    assert three.true_counts.sum() == three.counts.sum() == 900
    assert three.mechanism == RandomizedResponse(3, 0.8)


def test_two_categories_get_an_empty_third():
    three = three_categories(Scenario("zipf", 2, 1.0, 1.0, 1000, 3).draw())
    assert category_names(three) == ("category 1", "category 2", "(empty)")
    assert three.true_counts[2] == 0
    assert three.counts.sum() == 1000


def test_the_seed_decides_the_draw_and_ties_keep_their_order():
    scenario = Scenario("uniform", 50, 1.0, 1.0, 1000, 3)
    first, again = (three_categories(scenario.draw()) for _ in range(2))
    np.testing.assert_array_equal(first.counts, again.counts)
    assert category_names(first) == ("category 1", "category 2", "category 3")
    other = three_categories(Scenario("uniform", 50, 1.0, 1.0, 1000, 4).draw())
    assert (first.counts != other.counts).any()


def test_an_upload_with_fewer_than_three_people_in_it_has_a_draw():
    draw = Scenario("upload", 5, epsilon=0.01, n=1, seed=1).draw(Population.from_weights([0, 0, 0, 7, 0]))
    assert three_categories(draw).counts.sum() == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("12, 5, 3", (12, 5, 3)),
        (" 12 5\t3 ", (12, 5, 3)),
        ("0.5; 0.3; 0.2", (0.5, 0.3, 0.2)),
        ("50% 30% 20%", (50, 30, 20)),
        ("50 %, 30 %, 20 %", (50, 30, 20)),
        ("1e3/0/7", (1000, 0, 7)),
        ("0, 0, 1", (0, 0, 1)),
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
        ("1, 2", "this has 2"),
        ("1 2 3 4", "this has 4"),
        ("1, two, 3", "'two' is not a number"),
        ("1, -2, 3", "'-2' is not possible"),
        ("1, nan, 3", "'nan' is not possible"),
        ("1, inf, 3", "'inf' is not possible"),
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


shares = st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda values: sum(values) > 1e-3)


@pytest.mark.slow
@given(shares, st.integers(0, 2), st.floats(0, 100))
def test_a_slider_sets_one_share_and_rescales_the_others_in_proportion(values, category, percents):
    phi = np.array(values) / sum(values)
    moved = np.array(set_share(phi, category, percents))
    assert moved[category] == percents
    assert moved.sum() == pytest.approx(100)
    assert (moved >= 0).all()
    first, second = (i for i in range(3) if i != category)
    if phi[first] + phi[second] > 0:
        assert moved[first] * phi[second] == pytest.approx(moved[second] * phi[first], abs=1e-9)


def test_two_empty_categories_share_what_a_slider_leaves():
    assert set_share(np.array([1.0, 0.0, 0.0]), 0, 60.0) == (60.0, 20.0, 20.0)


def test_a_slider_stays_inside_its_range():
    assert [slider_percent(share) for share in (1 + 1e-12, 1e-9, 0.12345)] == [100.0, 0.0, 12.3]


@pytest.mark.slow
@given(everyday_epsilons)
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


@pytest.mark.slow
@settings(max_examples=25)
@given(counts(max_k=9, largest=300), everyday_epsilons, st.data())
def test_every_count_agrees_with_the_full_histogram(histogram, epsilon, data):
    category = data.draw(st.sampled_from([i for i, count in enumerate(histogram) if count]))
    mechanism = RandomizedResponse(len(histogram), epsilon)
    check(push_down(histogram, category, mechanism), histogram, category, mechanism)


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("k", [40, 3000])
def test_many_categories_with_shared_counts(k, level):
    draw = Scenario("zipf", k, 1.1, 2.0, 20 * k, 6).draw()
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=level)
    start = levelled(draw.counts, draw.mechanism) if level else draw.counts
    check(found, start, category, draw.mechanism)


def test_the_most_reported_category_can_be_pushed_below_the_second():
    histogram, mechanism = [50, 30, 20, 4], RandomizedResponse(4, 1.0)
    check(push_down(histogram, 0, mechanism), histogram, 0, mechanism)


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
    assert found.counts[0] == 0
    assert found.counts[-1] == draw.counts[category]
    assert (np.diff(found.counts) > 0).all()
    assert len(found.counts) <= 200
    starts = [int(kept.argmax()) for kept in found.positive.T]
    assert starts[2] <= starts[1] <= starts[0]
    disputed = found.positive.any(axis=1) & ~found.positive.all(axis=1)
    assert disputed.sum() >= 30


def test_candidates_are_kept_by_all_and_have_the_fewest_reports():
    draw = Scenario("zipf", 2000, 1.1, 3.0, 40_000, 2).draw()
    chosen = push_down_candidates(draw.counts, draw.mechanism, most=10)
    kept = np.flatnonzero(inv_p(draw.counts, draw.mechanism) > 0)
    expected = kept[np.argsort(draw.counts[kept], kind="stable")][:10]
    np.testing.assert_array_equal(chosen, expected)
    few = push_down_candidates([9, 1, 0, 8], RandomizedResponse(4, 1.0))
    assert few.tolist() == [3, 0]
    tiny = push_down_candidates(np.array([9, 1, 0, 8]) * 1e-200, RandomizedResponse(4, 1.0))
    assert tiny.tolist() == [3, 0]


def test_a_single_report_moves_to_another_category():
    found = push_down([0, 1], 1, RandomizedResponse(2, 1.0))
    assert found.counts.tolist() == [0, 1]
    assert found.collinearity.length.tolist() == [0, 0]


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
