"""What is said at the ends: hardly any noise or hardly any truth, levels near 0 and 1, shares that none can be, means
that are all but the same. Every sentence of an analysis is collected by import."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

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
from tests.app.analysed import analysed, counts_csv
from tests.sentences.spoken import FALSE_FORMS, percents, value

ENDS = list(
    itertools.product(
        ((1, 0), (7, 7), (100, 0), (50, 30, 20), (1000, 0, 0)),
        (1e-6, 1.0, 700.0),
        (0.001, 0.5, 0.999, 0.9999999),
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
def test_no_sentence_of_an_analysis_has_a_false_form(counts, epsilon, level):
    found = of(counts, epsilon, level)
    told = [
        *spoken(found),
        *(text for name in found.analysis.estimates for text in sentences.intervals(found, name)),
    ]
    assert len(told) > 10
    for text in told:
        assert not FALSE_FORMS.search(text), text


@pytest.mark.parametrize(("counts", "epsilon", "level"), ENDS)
def test_a_level_is_told_as_it_is(counts, epsilon, level):
    found = of(counts, epsilon, level)
    for simultaneous in (False, True):
        first, _, tests, *_ = sentences.intervals(found, "inv", simultaneous=simultaneous)
        assert percents(first) == pytest.approx([level, level], abs=1e-12)
        assert percents(tests) == pytest.approx([level], abs=1e-12)
    analysis, view = found.analysis, bars(natural_order(len(counts)), None, "Category")
    figure = reports.with_intervals(
        analysis.estimates, "inv", analysis.interval, analysis.above.above, found.used.n, view
    )
    assert percents(reading(figure))[-1] == pytest.approx(level, abs=1e-12)
    assert percents(dict(sentences.settings(found))["Level of the intervals"]) == pytest.approx(
        [level], abs=1e-12
    )


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.01, 1.0, 20.0, 700.0])
def test_the_truth_is_never_told_as_likely_as_another_category(epsilon):
    text = sentences.data_and_mechanism(of((50, 30, 20), epsilon, 0.95))
    p, q = (text.partition(f"{name} = ")[2].partition(",")[0].rstrip(".") for name in ("p", "q"))
    assert p != q
    if "−" not in p:
        assert value(p) > value(q)


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 700.0])
@pytest.mark.parametrize("counts", [(1, 0), (10**6, 0)])
def test_no_repair_is_said_to_have_moved_inv(counts, epsilon):
    for level, simultaneous in itertools.product((0.001, 0.95), (False, True)):
        told = sentences.outside([of(counts, epsilon, level).analysis], ["inv"], simultaneous=simultaneous)
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


@pytest.mark.parametrize(
    ("inv_p", "told"), [(0.30001, ""), (0.301, ""), (0.303, "1.01 times"), (0.6, "2 times")]
)
def test_no_mean_is_called_one_times_another(inv_p, told):
    text = estimators.cost_of_the_advice(of_means([1.0, 0.3, inv_p, 0.31]), "mse")
    assert told in text
    assert bool(text) == bool(told)


def test_one_of_many_collections_is_not_told_as_none():
    counts = AlignmentCounts(10_000, 9_995, 3, 1, 1, np.zeros(1))
    drawn = geometry_line.alignment_shares(counts).data[0]
    assert [value(text.rstrip("%")) / 100 for text in drawn.text] == pytest.approx(list(drawn.x))
