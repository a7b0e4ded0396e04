"""Numbers in sentences, and what is said at the ends: hardly any noise or hardly any truth, levels near 0 and 1, shares
that none can be, means that are all but the same. Every sentence of an analysis is collected by import."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core import RandomizedResponse, Scenario
from rr_core.__main__ import main
from rr_core.confidence_sequence import anytime_intervals
from rr_core.figures import estimators, geometry_line, reports, room
from rr_core.figures.style import reading
from rr_core.figures.view import bars, natural_order
from rr_core.geometry.replicates import AlignmentCounts
from rr_core.io import AllSeen
from rr_core.io import report_sentences as sentences
from rr_core.io.report_results import Results
from rr_core.repeats import Repeats, repeat
from rr_core.rounding import counted, factor, odds, p_is, p_value, percent, round_down, round_up
from rr_core.words.phrases import (
    METRIC_NAMES,
    MetricNames,
    minus,
    off_by,
    practically_equal,
    roughly,
    roughly_times,
    times,
)
from tests.app.analysed import analysed, counts_csv
from tests.sentences.spoken import FALSE_FORMS, percents, value


def test_counts():
    assert [counted(n, "cell") for n in (0, 1, 2, 1000)] == ["0 cells", "1 cell", "2 cells", "1,000 cells"]


@pytest.mark.parametrize(
    ("ratio", "three", "two", "repeated"),
    [
        (1.0345, "1.03", "1.03", "1.03"),
        (1.236, "1.24", "1.2", "1.2"),
        (30.34, "30.3", "30", "30"),
        (429.4, "429", "430", "400"),
        (3158.2, "3,158", "3,200", "3,000"),
        (math.inf, "infinitely many", "infinitely many", "infinitely many"),
    ],
)
def test_ratios_have_the_digits_asked_for_and_simulated_ones_those_that_they_repeat(
    ratio, three, two, repeated
):
    assert [times(ratio), times(ratio, 2), roughly(ratio)] == [
        f"{one} times" for one in (three, two, repeated)
    ]
    assert roughly_times(ratio) == ("about " if ratio < math.inf else "") + f"{repeated} times"


@given(st.floats(1e-9, 700))
def test_no_odds_are_understated(epsilon):
    mantissa, _, power = odds(epsilon).partition("·10")
    exponent = int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")) or 0)
    told = math.log(float(mantissa.replace(",", ""))) + exponent * math.log(10)
    assert epsilon * (1 - 1e-11) - 2e-16 <= told <= epsilon + min(0.011, 0.2 * epsilon)


def test_bounds_in_words():
    assert [factor(ratio) for ratio in (1, 1.00123456, 12345.2)] == ["1", "1.00124", "12,346"]
    chances = {0.0009999: "< 0.001", 0.001: "0.001", 0.04996: "0.05", 0.05001: "0.0501", 1: "1"}
    assert {chance: p_value(chance) for chance in chances} == chances
    assert [p_is(chance) for chance in (0, 1)] == ["p < 0.001", "p = 1"]
    assert [percent(1.0), percent(-1.0, 2), percent(0.9996, 2)] == ["100%", "−100%", "99.96%"]
    assert off_by([0.5, 0.5], [0.5 + 2e-16, 0.5 - 2e-16]) == "0%"
    assert (round_up(27.113), round_down(27.19), round_down(0.3), round_up(0.0)) == (27.2, 27.1, 0.3, 0)


def test_signs_and_what_is_no_difference():
    assert [minus(text) for text in ("-0.99", "-0.00", "+0.00", "+1")] == ["−0.99", "0.00", "0.00", "+1"]
    assert [practically_equal(one) for one in (1.0049, 1.0051, math.nan)] == [True, False, False]


def test_no_two_errors_have_one_name():
    for field in MetricNames._fields:
        names = [getattr(one, field) for one in METRIC_NAMES.values()]
        assert len(set(names)) == len(names) or field == "mean_in_text", field
    for name, words in (
        ("tv", "total variation"),
        ("max", "largest"),
        ("rmse", "rmse"),
        ("mse", "squared error"),
    ):
        assert all(words in text.lower() for text in METRIC_NAMES[name][1:]), name


ENDS = list(
    itertools.product(
        ((1, 0), (7, 7), (50, 30, 20), (1000, 0, 0)), (1e-6, 1.0, 700.0), (0.001, 0.5, 0.9999999)
    )
)


@cache
def of(counts: tuple[int, ...], epsilon: float, level: float) -> Results:
    names = [f"answer {chr(97 + i)}" for i in range(len(counts))]
    return analysed([("a.csv", counts_csv(names, counts))], AllSeen(), epsilon=epsilon, level=level)


def spoken(found: Results) -> Iterator[str]:
    """All that the functions of `report_sentences` that need nothing but an analysis say of one."""
    for name, function in inspect.getmembers(sentences, inspect.isfunction):
        about = inspect.signature(function)
        needed = [one.name for one in about.parameters.values() if one.default is one.empty]
        own = function.__module__ == sentences.__name__ and not name.startswith("_")
        if own and needed == ["results"] and about.return_annotation in ("str", "list[str]"):
            said = function(found)
            yield from [said] if isinstance(said, str) else said


@pytest.mark.parametrize(("counts", "epsilon", "level"), ENDS)
def test_no_sentence_of_an_analysis_has_a_false_form_and_a_level_is_told_as_it_is(counts, epsilon, level):
    found = of(counts, epsilon, level)
    analysis, view = found.analysis, bars(natural_order(len(counts)), None, "Category")
    told = [text for name in analysis.estimates for text in sentences.intervals(found, name)]
    told += spoken(found)
    assert len(told) > 10
    assert not [text for text in told if FALSE_FORMS.search(text)]
    for simultaneous in (False, True):
        first, _, tests, *_ = sentences.intervals(found, "inv", simultaneous=simultaneous)
        assert percents(first) == pytest.approx([level, level], abs=1e-12)
        assert percents(tests) == pytest.approx([level], abs=1e-12)
    estimates, interval, above = analysis.estimates, analysis.interval, analysis.above.above
    figure = reports.with_intervals(estimates, "inv", interval, above, found.used.n, view)
    assert percents(reading(figure))[-1] == pytest.approx(level, abs=1e-12)
    in_settings = percents(dict(sentences.settings(found))["Level of the intervals"])
    assert in_settings == pytest.approx([level], abs=1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 20.0, 700.0])
def test_the_truth_is_never_told_as_likely_as_another_category(epsilon):
    text = sentences.data_and_mechanism(of((50, 30, 20), epsilon, 0.95))
    p, q = (text.partition(f"{name} = ")[2].partition(",")[0].rstrip(".") for name in ("p", "q"))
    assert p != q
    if "−" not in p:
        assert value(p) > value(q)


def test_no_repair_is_said_to_have_moved_inv():
    for counts, epsilon, simultaneous in itertools.product(
        ((1, 0), (10**6, 0)), (1e-6, 1.0, 700.0), (False, True)
    ):
        told = sentences.outside([of(counts, epsilon, 0.95).analysis], ["inv"], simultaneous=simultaneous)
        assert not any("repair" in text for text in told)


@pytest.mark.parametrize(
    ("yes", "people"), [(5, None), (31, "about 2 of these 100 people"), (30, "about 0 of")]
)
def test_a_share_below_zero_is_no_number_of_people(tmp_path, capsys, yes, people):
    file = tmp_path / "answers.csv"
    file.write_text(f"answer,count\nyes,{yes}\nno,{100 - yes}\n")
    assert main(["analyse", str(file), "--design", "warner", "--p", "0.7"]) == 0
    told = capsys.readouterr().err
    assert not FALSE_FORMS.search(told)
    assert people in told if people else "people;" not in told


@pytest.mark.parametrize(
    ("counts", "side"), [([200, 0, 0], "wholly above 100%"), ([0, 200, 0], "wholly below 0%")]
)
def test_an_interval_of_a_room_beside_all_shares_is_not_told_as_one_share(counts, side):
    asked = room.Asked(("a", "b", "c"), RandomizedResponse(3, 0.01), counts)
    low, high = anytime_intervals(counts, asked.mechanism)
    assert low[0] > 1 or high[0] < 0
    text = reading(room.revealed(asked, 3))
    assert side in text
    assert percents(text)[2:4] == pytest.approx([low[0], high[0]], rel=0.005)


def of_means(means: list[float]) -> Repeats:
    """Collections in which every estimator has nearly the same error each time."""
    *_, found = repeat(Scenario("zipf", 3, 1.0, 1.0, 50, 1).draw(), 30)
    found.errors["mse"] = np.array(means) + np.linspace(0, 1e-9, 30)[:, None] * [1, 2, 3, 4]
    found.tied["mse"] = 0
    return found


@pytest.mark.parametrize(("inv_p", "told"), [(0.301, ""), (0.303, "1.01 times"), (0.6, "2 times")])
def test_no_mean_is_called_one_times_another(inv_p, told):
    text = estimators.cost_of_the_advice(of_means([1.0, 0.3, inv_p, 0.31]), "mse")
    assert told in text
    assert bool(text) == bool(told)


def test_one_of_many_collections_is_not_told_as_none():
    counts = AlignmentCounts(10_000, 9_995, 3, 1, 1, np.zeros(1))
    drawn = geometry_line.alignment_shares(counts).data[0]
    assert [value(text.rstrip("%")) / 100 for text in drawn.text] == pytest.approx(list(drawn.x))
