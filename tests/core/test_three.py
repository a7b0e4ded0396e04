"""Three categories: which ones, what a person may type, and the sliders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import Population, RandomizedResponse, Scenario, collinearity, inv
from rr_core.geometry.three import (
    category_names,
    move_share,
    parse_reports,
    slider_value,
    three_categories,
    trio,
    with_a_negative,
)
from tests.core import exact
from tests.core.histograms import everyday_epsilons


def test_three_categories_are_the_scenarios_own_draw():
    draw = Scenario("zipf", 3, 1.2, 0.7, 500, 9).draw()
    assert three_categories(draw) is draw
    assert category_names(draw) == ("category 1", "category 2", "category 3")


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


def test_trio_holds_the_estimates_of_counts_and_of_shares():
    mechanism = RandomizedResponse(3, 1.0)
    counts, shares = trio((62, 33, 5), mechanism), trio((0.62, 0.33, 0.05), mechanism)
    np.testing.assert_allclose(counts.phi, [0.62, 0.33, 0.05])
    for name, estimate in counts.estimates.items():
        expected = exact.ESTIMATORS[name]((62, 33, 5), exact.channel_from_epsilon(3, 1.0))
        np.testing.assert_allclose(estimate, [float(value) for value in expected], rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(estimate, shares.estimates[name], rtol=1e-12, atol=1e-15)
    assert counts.place.position == pytest.approx(shares.place.position)


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


@given(shares, st.integers(0, 2), st.floats(0, 100))
def test_a_slider_sets_one_share_and_rescales_the_others_in_proportion(values, category, percents):
    phi = np.array(values) / sum(values)
    moved = np.array(move_share(phi, category, percents))
    assert moved[category] == percents
    assert moved.sum() == pytest.approx(100)
    assert (moved >= 0).all()
    first, second = (i for i in range(3) if i != category)
    if phi[first] + phi[second] > 0:
        assert moved[first] * phi[second] == pytest.approx(moved[second] * phi[first], abs=1e-9)


def test_two_empty_categories_share_what_a_slider_leaves():
    assert move_share(np.array([1.0, 0.0, 0.0]), 0, 60.0) == (60.0, 20.0, 20.0)


def test_a_slider_stays_inside_its_range():
    assert [slider_value(share) for share in (1 + 1e-12, 1e-9, 0.12345)] == [100.0, 0.0, 12.3]


@given(everyday_epsilons)
def test_the_example_has_one_negative_and_its_repairs_differ(epsilon):
    mechanism = RandomizedResponse(3, epsilon)
    example = with_a_negative(mechanism)
    assert min(example) >= 0
    assert (inv(example, mechanism) < 0).sum() == 1
    place = collinearity(example, mechanism)
    assert place.supports.tolist() == [2, 2, 2]
    assert place.length > 0


@pytest.mark.parametrize("epsilon", [0.01, 20.0])
def test_the_example_at_the_ends_of_the_range(epsilon):
    mechanism = RandomizedResponse(3, epsilon)
    assert (inv(with_a_negative(mechanism), mechanism) < 0).sum() == 1
