"""The triangle keeps distances, a click lands where it was made, regions are where estimators set zeros; which three
categories, and what a person may type."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import Population, RandomizedResponse, Scenario, collinearity, inv, negative_log_likelihood
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
from tests.core.histograms import everyday_epsilons

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
