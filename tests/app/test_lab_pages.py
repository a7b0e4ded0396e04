"""The lab's pages over the ends of their controls: what they say is true there too."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pages._ui.reference import estimators
from rr_core import PRESETS, RandomizedResponse, Scenario
from rr_core.experiments.grid import MAIN_GRID
from rr_core.experiments.storage import stored_result
from rr_core.figures.style import percent
from rr_core.law import negative_chance
from rr_core.privacy import answer, posterior_of_reports
from rr_core.streams import Stream
from rr_core.summaries import EmptyShare, expected_negatives
from tests.app.opening import charts, checked, opened, widget
from tests.figures.spoken import numbers, percents


def words(page):
    return "\n".join(element.value for element in [*page.markdown, *page.caption])


@pytest.mark.parametrize(("query", "chance", "said"), [
    ("", "19.8%", "leaves doubt"),
    ("k=4&eps=1.0986122886681098", "50%", "as often false as true"),
    ("eps=20", "99.999998%", "nearly gives a person away"),
])  # fmt: skip
def test_home_says_what_one_answer_gives_away(query, chance, said):
    page = opened("", query)
    text = words(page)
    assert said in text
    assert "Nobody can tell" not in text
    assert page.metric[0].value == chance
    assert chance in text
    if query == "eps=20":  # nothing is off, and no noise is blamed
        assert page.metric[1].value == "0%"
        assert percents(page.metric[2].value)[0] < 1e-4
        assert "stretches" not in charts(page)[0]["alt"]
        assert "exactly the shares" in charts(page)[0]["alt"]


def test_home_and_the_persons_panel_share_their_two_chances():
    mechanism = Scenario().mechanism
    both = [percent(mechanism.p), percent(mechanism.keep)]
    assert both == ["19.8%", "12.5%"]
    for name in ("", "noisy_histogram"):
        page = opened(name)
        text = words(page) + "".join(metric.help for metric in page.metric)
        assert all(one in text for one in both)


def persons_answers(scenario, truth, many):
    mechanism = scenario.mechanism
    return [answer(truth, mechanism, scenario.stream(Stream.ANSWERS, truth, i)).report for i in range(many)]


def test_answering_again_adds_up_and_shows_what_an_onlooker_believes():
    page, scenario = opened("noisy_histogram"), Scenario()
    assert [trace["name"] for trace in charts(page)[1]["data"]] == ["before any report", "after the report"]
    assert "e^ε = 2.718 times" in words(page)
    checked(widget(page, "Answer again").click().run())
    text, belief = words(page), charts(page)[1]
    assert "2 answers cost 2 · ε = 2." in text
    assert f"e^(2ε) = {math.exp(2):.4g} times" in text
    names = ["before any report", "after the first report", "after all 2 reports"]
    assert [trace["name"] for trace in belief["data"]] == names
    truth = int(page.selectbox(key="person_truth").value)
    reports = persons_answers(scenario, truth, 2)
    prior = scenario.population().probabilities
    told = [prior, *(posterior_of_reports(reports[:m], prior, scenario.mechanism) for m in (1, 2))]
    assert percents(belief["alt"]) == pytest.approx([one[truth] for one in told], rel=0.006)
    assert f"Reported before: {reports[0] + 1}." in text


@pytest.mark.slow
def test_another_person_starts_over_and_nobody_answers_for_ever():
    page = opened("noisy_histogram", "eps=20")
    for _ in range(19):
        checked(widget(page, "Answer again").click().run())
    assert "20 answers cost 20 · ε = 400." in words(page)
    assert widget(page, "Answer again").disabled
    checked(page.selectbox(key="person_truth").set_value(3).run())
    assert "e^ε = " in words(page)
    assert not widget(page, "Answer again").disabled


@pytest.mark.slow
@pytest.mark.parametrize("query", ["k=1000&s=5&n=1000000000", "k=2&eps=20&n=1"])
def test_negatives_to_expect_are_those_of_the_law(query):
    page = opened("inv_negatives", query)
    (table,) = [one.value for one in page.markdown if one.value.startswith("| Negatives")]
    fields = dict(pair.split("=") for pair in filter(None, query.split("&")))
    scenario, _ = Scenario.from_query(fields)
    found = [expected_negatives(scenario.draw(), times) for times in (1, 10, 100)]
    for row, of, values in (
        (2, found[0].of_held, [one.held for one in found]),
        (3, found[0].of_empty, [one.empty for one in found]),
    ):
        label, *cells = table.splitlines()[row].strip("| ").split(" | ")
        assert numbers(label)[0] == of
        for cell, value in zip(cells, values, strict=True):
            if not of:
                assert cell == "–"
            elif cell == "below 0.001":
                assert value < 0.001
            else:
                assert numbers(cell)[0] == pytest.approx(value, rel=0.006)


def test_more_users_are_not_said_to_be_no_help_where_they_help():
    """From 3 users to 300 the negatives of empty categories go from 195 to 112 of 198; they stop near one half."""
    now, _, hundredfold = (
        expected_negatives(Scenario("zipf", 201, 0.0, 1.0, 3).draw(), times).empty for times in (1, 10, 100)
    )
    assert hundredfold < 0.6 * now
    text = words(opened("inv_negatives", "k=201&n=3&eps=1&s=0"))
    assert "For one that nobody has, in the end no." in text


@pytest.mark.slow
def test_what_was_seen_carries_the_error_of_its_number_of_looks():
    """With 1.4 million categories there may be a single look, which is all or nothing."""
    page = opened("inv_negatives", "k=1423000&s=0&n=1000000000&eps=1")
    chance = float(negative_chance(10**9, RandomizedResponse(1_423_000, 1.0)))
    (seen,) = [metric for metric in page.metric if metric.label.startswith("Seen in")]
    looks = int(numbers(seen.label.replace("one look", "1 look"))[0])
    assert percents(seen.value)[1] == pytest.approx(
        EmptyShare(0, looks, True).standard_error(chance), rel=0.06
    )


def test_the_reference_counts_who_wins_on_the_papers_grid():
    """Against the recorded means themselves: what is settled is part of what the means show."""
    cells = stored_result(MAIN_GRID).cells
    means = np.array([cell.mean[0] for cell in cells])
    apart = np.ptp(means, axis=1) > 1e-9 * means.max(axis=1)
    wins = np.bincount(means[apart].argmin(axis=1), minlength=3)
    told = [numbers(entry.text) for entry in estimators.best()[1:4]]
    settled = np.array([of_one[0] for of_one in told])
    assert [of_one[1] for of_one in told] == [apart.sum()] * 3
    assert (settled <= wins).all()
    assert settled.min() > 0  # so that no order of the three is told for all settings
    unsettled, collections, close, near, largest = told[2][2:7]
    assert collections == stored_result(MAIN_GRID).sweep.settings.seeds
    assert wins.sum() - settled.sum() >= unsettled > 0
    ratio = means[apart, 2] / means[apart].min(axis=1)
    assert (close, near) == (1.5, (ratio <= 1.5).sum())
    assert largest == float(f"{ratio.max():.1g}")  # the largest of many noisy ratios has no more digits


def test_the_industrial_preset_has_a_few_dozen_distinct_counts():
    (preset,) = [preset.scenario for preset in PRESETS if preset.scenario.k == 1_423_000]
    assert 24 <= np.unique(preset.draw().counts).size <= 60


@pytest.mark.slow
def test_a_new_draw_of_a_tables_own_people_changes_the_noise_alone():
    table, sample = "dist=schooling&n=32561", "dist=schooling&n=32560"
    for query, said in ((table, "for other noise:"), (sample, "for other users and other noise:")):
        page = opened("noisy_histogram", query)
        assert said in words(page)
        before = [charts(page)[0]["data"][i]["y"] for i in (0, 1)]
        checked(widget(page, "New draw").click().run())
        after = [charts(page)[0]["data"][i]["y"] for i in (0, 1)]
        assert (before[0] == after[0]) == (query == table)
        assert before[1] != after[1]
        page = opened("estimators", query)
        checked(page.button_group(key="target").set_value("population").run())
        assert ("the users were drawn from" in words(page)) == (query == sample)
        assert ("whose people are these very users" in words(page)) == (query == table)


@pytest.mark.parametrize("epsilon", ["0.01", "20"])
def test_what_is_nothing_but_rounding_is_not_shown_as_a_number(epsilon):
    """One user of two categories: Inv fits the report with certainty, and its NLL is zero."""
    page = opened("estimators", f"k=2&n=1&eps={epsilon}")
    (table,) = [text.value for text in page.markdown if text.value.startswith("| Error")]
    (row,) = [line for line in table.splitlines() if line.startswith("| NLL per report")]
    assert row.split("|")[2].strip() in ("0", "≈ 0")
