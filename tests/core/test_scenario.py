"""A scenario in a link and back, and what it draws; populations: shapes for any K, and the published tables."""

import math
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import PRESETS, Population, RandomizedResponse, Scenario, limits, populations, scenario, zipf
from rr_core.parameters import Choice

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


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from([*PARAMETERS, "other"]), st.text(max_size=30)))
def test_no_text_in_a_link_raises_and_each_bad_value_gets_one_sentence(query):
    scenario, notes = Scenario.from_query(query)
    assert Scenario.from_query(scenario.to_query()) == (scenario, ())
    assert len(notes) <= len(set(query) - {"other"})
    assert all(note.startswith("The link's ") and note.endswith(" is used instead.") for note in notes)


@given(st.dictionaries(st.sampled_from(PARAMETERS[1:]), st.floats().map(repr)))
def test_any_number_in_a_link_gives_a_scenario_within_the_limits(query):
    Scenario.from_query(query)


@pytest.mark.parametrize(
    ("parameter", "text", "value", "said"),
    [
        ("dist", "nonsense", "zipf", "distribution “nonsense” is not known here; Zipf"),
        ("dist", "", "zipf", "not known here"),
        ("k", "abc", 12, "Categories K is “abc”, which is not a number; 12"),
        ("k", "", 12, "not a number"),
        ("k", "nan", 12, "not a number"),
        ("k", "1_000", 12, "not a number"),
        ("k", "1", 2, "outside the range from 2 to 1,500,000; 2 is"),
        ("k", "9" * 400, 1_500_000, "1,500,000 is"),
        ("k", "inf", 1_500_000, "outside the range"),
        ("k", "12.4", 12, "not a whole number; 12 is"),
        ("n", "0", 1, "Users N is 0, outside the range from 1 to 1,000,000,000"),
        ("n", "-1e9", 1, "outside the range"),
        ("n", "0.6", 1, "is used instead."),
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
        ({"k": "1e3"}, Scenario(k=1000)),
        ({"k": " 50 ", "eps": "2"}, Scenario(k=50, epsilon=2.0)),
        ({"dist": " Uniform ", "n": "1000000000"}, Scenario("uniform", n=10**9)),
        ({"dist": "letters", "k": "26.0"}, Scenario("letters")),
        ({"unknown": "x"}, Scenario()),
        ({}, Scenario()),
    ],
)
def test_good_values_pass_without_a_word(query, expected):
    assert Scenario.from_query(query) == (expected, ())


@pytest.mark.parametrize("text", ["99", "99999999", "-1", "abc", "26.5"])
def test_a_table_with_another_number_of_categories_than_the_link_is_told(text):
    said = f"The link's Categories K is {text}, but Letters of Moby-Dick has 26 categories; these are used."
    assert Scenario.from_query({"k": text, "dist": "letters"}) == (Scenario("letters"), (said,))


@pytest.mark.parametrize("parameter", ["k", "n", "seed"])
def test_more_digits_than_python_takes_are_a_number_too(parameter):
    scenario, notes = Scenario.from_query({parameter: "0" * 5000 + "12"})
    assert getattr(scenario, parameter) == 12
    assert not notes


@pytest.mark.parametrize("dist", ["zipf", "letters"])
def test_one_description_in_the_table_has_a_field_read_written_and_checked(dist, monkeypatch):
    mode = Choice("mode", "how", "mode", {"a": "first", "b": "second"})
    monkeypatch.setattr(scenario, "PARAMETERS", (*scenario.PARAMETERS, mode))

    @dataclass(frozen=True)
    class WithMode(Scenario):
        mode: str = "a"

    found = WithMode(dist, mode="b")
    assert found.to_query()["how"] == "b"
    assert WithMode.from_query(found.to_query()) == (found, ())
    said = "The link's mode “c” is not known here; “first” is used instead."
    assert WithMode.from_query({"dist": dist, "how": "c"}) == (WithMode(dist), (said,))
    with pytest.raises(ValueError, match="mode must be 'a' or 'b', got 'c'"):
        WithMode(dist, mode="c")


def test_the_table_has_every_field():
    assert [one.name for one in scenario.PARAMETERS] == [field.name for field in fields(Scenario)]


def test_missing_values_come_from_the_default():
    default = Scenario("uniform", 40, 2.0, 3.0, 99, 5)
    assert Scenario.from_query({"n": "7"}, default)[0] == Scenario("uniform", 40, 2.0, 3.0, 7, 5)
    assert Scenario.from_query({"n": "x"}, default)[0] == default


def test_a_table_sets_its_own_k():
    assert Scenario("letters", 5).k == 26
    assert Scenario("letters", 5) == Scenario("letters", 99)


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


def test_the_numbers_of_a_seed_are_the_same_on_every_machine():
    draw = Scenario("zipf", 8, 1.0, 1.0, 1000, 7).draw()
    assert draw.true_counts.tolist() == TRUE_COUNTS
    assert draw.counts.tolist() == REPORTS


def test_the_users_depend_on_the_seed_and_not_on_the_privacy():
    base = Scenario(k=50, n=10_000)
    low, high = (Scenario(k=50, n=10_000, epsilon=epsilon).draw() for epsilon in (0.1, 6.0))
    np.testing.assert_array_equal(low.true_counts, high.true_counts)
    assert (low.counts != high.counts).any()
    other = Scenario(k=50, n=10_000, seed=base.seed + 1).draw()
    assert (other.true_counts != low.true_counts).any()


@pytest.mark.slow
def test_users_noise_and_repeats_come_from_independent_streams():
    """Correlations over 1,000 seeds stay within six standard errors of zero. Two categories and few users: each
    count is one binomial, so that two uses of one stream would show."""
    seeds, draws, n = range(1000), [], 20
    for seed in seeds:
        draw = Scenario("uniform", 2, 0, 3.0, n, seed).draw()
        expected = draw.mechanism.expected(draw.theta)[0] * n
        repeats = draw.collector().draw(0, 2).reports[:, 0] - expected
        draws.append([draw.true_counts[0], draw.counts[0] - expected, *repeats])
    off = np.corrcoef(np.array(draws).T)[np.triu_indices(4, 1)]
    assert np.abs(off).max() < 6 / math.sqrt(len(seeds))


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


def test_a_table_with_as_many_users_as_people_has_the_people_themselves():
    draw = Scenario("work", n=32_561).draw()
    np.testing.assert_array_equal(draw.true_counts, draw.population.counts)
    assert (Scenario("work", n=32_560).draw().true_counts != draw.population.counts).any()


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


KS = (2, 3, 5, 9, 10, 12, 1000, 1_500_000)


@pytest.mark.slow
@pytest.mark.parametrize("s", [0, 1, 2, 5])
@pytest.mark.parametrize("k", [2, 3, 50])
def test_zipf_is_rank_to_the_minus_s(k, s):
    weights = [Fraction(1, rank**s) for rank in range(1, k + 1)]
    np.testing.assert_allclose(zipf(k, s), [float(w / sum(weights)) for w in weights], rtol=2e-14)


def test_zipf_takes_any_exponent():
    np.testing.assert_allclose(
        zipf(4, 0.5), np.arange(1, 5) ** -0.5 / math.fsum(np.arange(1, 5) ** -0.5), rtol=1e-14
    )
    assert zipf(3, 500)[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", populations.SHAPES)
@pytest.mark.parametrize("k", KS)
def test_every_shape_is_a_distribution_at_every_k(shape, k):
    made = populations.build(shape, k, 1.3)
    assert made.k == k == made.probabilities.size
    assert math.fsum(made.probabilities) == pytest.approx(1, abs=1e-12)
    assert made.probabilities.min() >= 0
    assert not made.probabilities.flags.writeable
    assert made.counts is made.labels is made.total is None


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
    np.testing.assert_allclose(populations.build("geometric", 5, 1.0).probabilities[1:] * 2,
                               populations.build("geometric", 5, 1.0).probabilities[:-1], rtol=1e-12)  # fmt: skip


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


def test_letters_are_the_alphabet_and_e_leads():
    letters = populations.build("letters", 2, 0)
    assert "".join(letters.labels) == "abcdefghijklmnopqrstuvwxyz"
    assert letters.labels[int(letters.counts.argmax())] == "e"


def test_only_zipf_has_an_exponent():
    for name in populations.SHAPES:
        one, two = (populations.build(name, 7, s).probabilities for s in (1.0, 2.0))
        assert np.array_equal(one, two) == (name != "zipf"), name


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


def test_a_population_does_not_follow_its_source_array():
    weights = np.array([3, 1])
    made = Population.from_weights(weights)
    weights[:] = 99
    assert made.counts.tolist() == [3, 1]
    assert made.probabilities.tolist() == [0.75, 0.25]
