"""A scenario in a link and back, and what it draws; populations: shapes for any K, and the published tables."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import PRESETS, Population, RandomizedResponse, Scenario, limits, populations, zipf

scenarios = st.builds(
    Scenario,
    dist=st.sampled_from(sorted(populations.DISTRIBUTIONS)),
    k=st.integers(limits.K_MIN, limits.K_MAX),
    s=st.floats(limits.S_MIN, limits.S_MAX),
    epsilon=st.floats(limits.EPSILON_APP_MIN, limits.EPSILON_APP_MAX),
    n=st.integers(limits.N_MIN, limits.N_MAX),
    seed=st.integers(limits.SEED_MIN, limits.SEED_MAX),
)
# One draw, written down: a change here breaks every link that was ever shared.
TRUE_COUNTS = [368, 198, 129, 83, 68, 69, 34, 51]
REPORTS = [164, 126, 128, 125, 117, 98, 128, 114]
PARAMETERS = ("dist", "k", "s", "eps", "n", "seed")


@given(scenarios)
def test_a_link_restores_the_scenario_to_the_last_digit(scenario):
    query = scenario.to_query()
    assert tuple(query)[: len(PARAMETERS)] == PARAMETERS
    assert Scenario.from_query(query) == (scenario, ())


@given(st.dictionaries(st.sampled_from([*PARAMETERS, "other"]), st.text(max_size=30) | st.floats().map(repr)))
def test_no_text_in_a_link_raises_and_each_bad_value_gets_one_sentence(query):
    scenario, notes = Scenario.from_query(query)
    assert Scenario.from_query(scenario.to_query()) == (scenario, ())
    assert len(notes) <= len(set(query) - {"other"})
    assert all(note.startswith("The link's ") and note.endswith(" is used instead.") for note in notes)


@pytest.mark.parametrize(
    ("parameter", "text", "value", "said"),
    [
        ("dist", "nonsense", "zipf", "distribution “nonsense” is not known here; Zipf"),
        ("k", "abc", 12, "Categories K is “abc”, which is not a number; 12"),
        ("k", "nan", 12, "not a number"),
        ("k", "1_000", 12, "not a number"),
        ("k", "1", 2, "outside the range from 2 to 1,500,000; 2 is"),
        ("k", "inf", 1_500_000, "outside the range"),
        ("k", "12.4", 12, "not a whole number; 12 is"),
        ("n", "0", 1, "Users N is 0, outside the range from 1 to 1,000,000,000"),
        ("eps", "0", 0.01, "Privacy ε is 0, outside the range from 0.01 to 20"),
        ("eps", "1e9", 20.0, "20 is used"),
        ("eps", "ln3", 1.0, "not a number"),
        ("s", "-0.5", 0.0, "Zipf exponent s is -0.5"),
        ("seed", "4294967296", 4294967295, "Seed is 4294967296"),
        ("seed", "²", Scenario().seed, "not a number"),
        ("k", "9" * 5000, 1_500_000, "1,500,000 is"),
    ],
)
def test_a_bad_value_is_clamped_or_ignored_with_one_sentence(parameter, text, value, said):
    scenario, notes = Scenario.from_query({parameter: text})
    assert dict(zip(PARAMETERS, (scenario.dist, scenario.k, scenario.s, scenario.epsilon, scenario.n, scenario.seed),
                    strict=True))[parameter] == value  # fmt: skip
    assert len(notes) == 1
    assert said in notes[0]
    assert len(notes[0]) < 200


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"k": "1e3", "eps": " 2 "}, Scenario(k=1000, epsilon=2.0)),
        ({"dist": " Uniform ", "n": "1000000000"}, Scenario("uniform", n=10**9)),
        ({"dist": "letters", "k": "26.0"}, Scenario("letters")),
        ({"seed": "0" * 5000 + "12"}, Scenario(seed=12)),  # more digits than Python takes
        ({"unknown": "x"}, Scenario()),
    ],
)
def test_good_values_pass_without_a_word(query, expected):
    assert Scenario.from_query(query) == (expected, ())


def test_missing_values_come_from_the_default_and_a_table_sets_its_own_k():
    default = Scenario("uniform", 40, 2.0, 3.0, 99, 5)
    assert Scenario.from_query({"n": "7"}, default)[0] == Scenario("uniform", 40, 2.0, 3.0, 7, 5)
    assert Scenario("letters", 5) == Scenario("letters", 99)
    for text in ("99", "abc"):
        said = (
            f"The link's Categories K is {text}, but Letters of Moby-Dick has 26 categories; these are used."
        )
        assert Scenario.from_query({"k": text, "dist": "letters"}) == (Scenario("letters"), (said,))


@pytest.mark.parametrize("dist", [*populations.SHAPES, *populations.TABLES])
def test_a_draw_is_deterministic_read_only_and_complete(dist):
    scenario = Scenario(dist, 30, 1.1, 2.0, 5000, 8)
    first, again = scenario.draw(), scenario.draw()
    np.testing.assert_array_equal(first.true_counts, again.true_counts)
    np.testing.assert_array_equal(first.counts, again.counts)
    assert first.true_counts.sum() == first.counts.sum() == 5000
    assert first.theta.sum() == pytest.approx(1)
    assert first.mechanism == RandomizedResponse(scenario.k, 2.0)
    assert not first.counts.flags.writeable
    assert not first.true_counts.flags.writeable
    # The users depend on the seed and not on the privacy.
    np.testing.assert_array_equal(replace(scenario, epsilon=6.0).draw().true_counts, first.true_counts)
    assert (replace(scenario, seed=9).draw().true_counts != first.true_counts).any()


def test_the_numbers_of_a_seed_are_the_same_on_every_machine():
    draw = Scenario("zipf", 8, 1.0, 1.0, 1000, 7).draw()
    assert draw.true_counts.tolist() == TRUE_COUNTS
    assert draw.counts.tolist() == REPORTS


@pytest.mark.parametrize("new_users", [False, True])
def test_a_repeat_is_the_same_however_the_work_is_split(new_users):
    draw = Scenario(k=20, n=500).draw()
    collector = draw.collector(new_users=new_users)
    whole, parts = collector.draw(0, 7), [collector.draw(0, 3), collector.draw(3, 1), collector.draw(4, 3)]
    truths, reports = whole.true_counts, whole.reports
    np.testing.assert_array_equal(truths, np.concatenate([part.true_counts for part in parts]))
    np.testing.assert_array_equal(reports, np.concatenate([part.reports for part in parts]))
    assert truths.shape == reports.shape == (7, 20)
    assert (reports.sum(axis=1) == 500).all()
    assert len({tuple(row) for row in reports}) == 7
    assert len({tuple(row) for row in truths}) == (7 if new_users else 1)


def test_an_upload_brings_its_own_population():
    people = Population.from_weights([5, 3, 2])
    scenario = Scenario("upload", k=3, n=10)
    np.testing.assert_array_equal(scenario.draw(people).true_counts, [5, 3, 2])
    with pytest.raises(ValueError, match="no population of its own"):
        scenario.draw()
    with pytest.raises(ValueError, match="population must have k = 4 categories, got 3"):
        Scenario("upload", k=4).draw(people)


def test_the_presets_are_those_promised():
    settings = {(p.scenario.k, round(p.scenario.epsilon, 4), p.scenario.n) for p in PRESETS}
    assert (10, round(math.log(3), 4), 100_000) in settings
    assert (10_000, 4.0, 1_000_000) in settings
    assert (500, 1.0, 10_000) in settings
    assert any(p.scenario.k == 12 for p in PRESETS)
    assert any(p.scenario.k == 1_423_000 for p in PRESETS)
    assert {p.scenario.s for p in PRESETS if p.scenario.k == 10_000} == {0.01, 1.3, 2.5}
    for preset in PRESETS:
        assert Scenario.from_query(preset.scenario.to_query()) == (preset.scenario, ())


@pytest.mark.parametrize("shape", populations.SHAPES)
def test_every_shape_is_a_distribution_at_every_k(shape):
    for k in (2, 3, 9, 1000, 1_500_000):
        made = populations.build(shape, k, 1.3)
        assert made.k == k == made.probabilities.size
        assert math.fsum(made.probabilities) == pytest.approx(1, abs=1e-12)
        assert made.probabilities.min() >= 0
        assert made.counts is made.labels is made.total is None
    other = populations.build(shape, k, 2.0)
    assert np.array_equal(made.probabilities, other.probabilities) == (shape != "zipf")


def test_zipf_is_rank_to_the_minus_s():
    for s in (0, 1, 5):
        weights = [Fraction(1, rank**s) for rank in range(1, 51)]
        np.testing.assert_allclose(zipf(50, s), [float(w / sum(weights)) for w in weights], rtol=2e-14)
    np.testing.assert_allclose(zipf(4, 0.5), np.arange(1, 5) ** -0.5 / math.fsum(np.arange(1, 5) ** -0.5))
    assert zipf(3, 500)[0] == 1


def test_what_each_shape_promises():
    build = {name: populations.build(name, 100, 1.0).probabilities for name in populations.SHAPES}
    np.testing.assert_allclose(build["uniform"], 0.01)
    np.testing.assert_allclose(build["geometric"][10:] / build["geometric"][:-10], 0.5, rtol=1e-12)
    assert build["dominant"][0] == 0.8
    np.testing.assert_allclose(build["dominant"][1:], 0.2 / 99)
    assert build["step"][:20].sum() == pytest.approx(0.8)
    np.testing.assert_allclose(build["step"][20:], 0.2 / 80)
    humps = build["humps"]
    peaks = [i for i in range(1, 99) if humps[i] > humps[i - 1] and humps[i] >= humps[i + 1]]
    assert len(peaks) == 2
    assert humps[:48].sum() == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize(
    ("key", "k", "total", "first"),
    [
        ("exam", 12, 2_000, ("Copied", 611)),
        ("letters", 26, 935_819, ("a", 76_494)),
        ("schooling", 16, 32_561, ("HS-grad", 10_501)),
        ("work", 9, 32_561, ("Private", 22_696)),
    ],
)
def test_the_tables(key, k, total, first):
    made = populations.build(key, 7, 0.0)
    assert (made.k, made.total) == (k, total)
    assert (made.labels[0], made.counts[0]) == first
    assert len(set(made.labels)) == k
    np.testing.assert_allclose(made.probabilities, made.counts / total, rtol=1e-15)
    assert made.source
    assert not made.counts.flags.writeable
    # As many users as people are the people themselves.
    np.testing.assert_array_equal(Scenario(key, n=total).draw().true_counts, made.counts)


def test_keys_tell_populations_apart():
    keys = [
        populations.build(name, k, s).key for name in populations.SHAPES for k in (5, 6) for s in (1.0, 2.0)
    ]
    assert len(set(keys)) == 2 * len(populations.SHAPES) + 2
    assert Population.from_weights([1, 2]).key == Population.from_weights(np.array([1, 2])).key
    different = [[1, 2], [2, 1], [1, 2, 0], [1.0, 2.0]]
    assert len({Population.from_weights(weights).key for weights in different}) == 4
    assert Population.from_weights([1, 2], ["a", "b"]).key != Population.from_weights([1, 2], ["a", "c"]).key


def test_a_population_from_counts_or_shares():
    people = Population.from_weights([3, 0, 1], ["x", "y", "z"], "a survey")
    assert (people.k, people.total, people.labels, people.source) == (3, 4, ("x", "y", "z"), "a survey")
    assert people.probabilities.tolist() == [0.75, 0, 0.25]
    shares = Population.from_weights([1.5, 0.5])
    assert (shares.total, shares.probabilities.tolist()) == (None, [0.75, 0.25])
    weights = np.array([3, 1])
    made = Population.from_weights(weights)
    weights[:] = 99  # which it does not follow
    assert (made.counts.tolist(), made.probabilities.tolist()) == ([3, 1], [0.75, 0.25])
