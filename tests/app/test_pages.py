"""Every scenario page: runs for every scenario, shows the core's numbers, and what it says is true."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates

from pages._ui import estimators, reference
from rr_core import PRESETS, Scenario, inv, limits
from rr_core.comparison import compare, noise_summary
from rr_core.experiments.grid import MAIN_GRID
from rr_core.experiments.storage import stored_result
from rr_core.law import negative_chance, negatives
from rr_core.privacy import answer, posterior_of_reports
from rr_core.registry import REGISTRY
from rr_core.rounding import percent
from rr_core.scenario import FIRST
from rr_core.streams import Stream
from tests.app.opening import (
    ABOUT_SCENARIO,
    OF_A_DRAW,
    ROOT,
    charts,
    checked,
    dials,
    labels,
    open_part,
    opened,
    points,
    widget,
    words,
)
from tests.browser import lab
from tests.documents import ADDRESSES
from tests.sentences import holds
from tests.sentences.drawn import written
from tests.sentences.spoken import numbers, percents

LARGE = "dist=zipf&k=1423000&s=1.3&eps=8&n=1664500&seed=1"
LABELS = ["Preset", "Distribution", "Categories K", "Seed", "Zipf exponent s", "Privacy ε", "Users N"]
LABELS += ["New draw", "Reset"]
LINK = "dist=zipf&k=50&s=1.3&eps=2&n=3000&seed=7"
SCENARIO = Scenario("zipf", 50, 1.3, 2.0, 3000, 7)


def test_every_page_about_the_scenario_is_tried_here_and_in_a_browser():
    code = {name: (ROOT / "pages" / f"{name}.py").read_text(encoding="utf-8") for name in ADDRESSES if name}
    assert list(ABOUT_SCENARIO) == [name for name in code if "open_page(" in code[name]]
    assert [lab.PAGES[name] for name in lab.LEAD] == list(ABOUT_SCENARIO)


def test_a_number_of_thousands_of_digits_in_a_link_is_told_in_a_sentence():
    """Python refuses to read more than 4,300 digits."""
    page = opened(
        "noisy_histogram", "&".join(f"{parameter}={'9' * 4402}" for parameter in ("k", "n", "seed"))
    )
    assert len([box.value for box in page.warning if "999…, outside the range from" in box.value]) == 3


@pytest.mark.parametrize("query", ["", LARGE])
@pytest.mark.parametrize("name", ABOUT_SCENARIO)
def test_page_runs_and_its_charts_are_small_and_named(name, query):
    """What each page says at all ends: tests/app/test_every_view.py."""
    page = opened(name, query)
    found = charts(page)
    assert found
    assert sum(map(points, found)) <= 5000
    for chart in found:
        assert len(chart["alt"]) > 30
        assert len(json.dumps(chart)) < 400_000
        assert chart["layout"]["xaxis"]["title"]["text"]
        assert chart["layout"]["yaxis"]["title"]["text"]
    assert len(page.title) == 1
    assert page.title[0].value.endswith("?")
    assert not page.warning
    if not query:
        assert sorted(labels(page)) == sorted([*LABELS, *(["Hide the truth"] if name in OF_A_DRAW else [])])


def test_a_link_sets_every_widget_and_a_new_draw_is_drawn():
    """That it is on every other page: tests/app/test_grey_controls.py."""
    page = opened("estimators", LINK.replace("eps=2", "eps=2.13").replace("n=3000", "n=3001"))
    shown = [widget(page.sidebar, label).value for label in LABELS[:4]]
    shown += [widget(page, label).value for label in LABELS[4:7]]  # between the stops of their dials
    assert shown == [None, "zipf", 50, 7, 1.3, 2.13, 3001]
    before = charts(page)[0]["data"]
    checked(widget(page.sidebar, "New draw").click().run())
    assert widget(page.sidebar, "Seed").value == 8
    assert charts(page)[0]["data"] != before


@pytest.mark.parametrize("name", ["noisy_histogram", "inv_negatives"])
def test_numbers_in_large_print_are_the_cores(name):
    draw, page = SCENARIO.draw(), opened(name, LINK)
    shown = [metric.value for metric in page.metric]
    if name == "noisy_histogram":
        summary = noise_summary(draw)
        assert shown[:2] == [percent(summary.truthful), percent(summary.moved)]
        assert shown[2].lstrip("+").replace("−", "-").replace(",", "") == str(summary.largest_change)
        assert shown[3:] == [percent(summary.inside_band)]
    else:
        found = negatives(compare(draw).estimates["inv"], draw.true_counts, draw.mechanism)
        assert found.count > 0
        assert shown[0].startswith(f"{found.count:,}")
        assert shown[1:] == [percent(found.share), percent(found.total), percent(found.lowest)]
        chance = percent(float(negative_chance(3000, draw.mechanism)))
        assert chance in [metric.value for metric in open_part(page, name, "empty").metric]


def test_the_error_table_is_about_the_shares_that_are_chosen():
    """Its numbers: tests/figures/test_draw_readings.py."""
    page, draw = opened("estimators", LINK), SCENARIO.draw()
    checked(page.button_group(key="target").set_value("population").run())
    texts = [text.value for text in page.markdown if text.value.startswith("| Error")]
    assert len(texts) == 2  # one of them is folded
    assert all(text in written(estimators.error_table, compare(draw, "population"), draw) for text in texts)


def test_the_sidebars_widgets_stay_in_step():
    page = opened("noisy_histogram", LINK + "&utm_source=mail&embed=true")
    assert not page.warning  # unknown parameters are left alone
    for label, value in (("Privacy ε", 0.7), ("Privacy ε", 10.0), ("Users N", 40), ("Users N", 10**9)):
        checked(widget(page, label).set_value(value).run())
        assert widget(page, label).value == value
    assert not widget(page, "Zipf exponent s").dial["off"]
    checked(widget(page, "Distribution").set_value("letters").run())
    assert widget(page, "Zipf exponent s").dial["off"]
    assert (widget(page, "Categories K").value, widget(page, "Categories K").disabled) == (26, True)
    assert "e" in charts(page)[0]["layout"]["xaxis"]["ticktext"]
    checked(widget(page, "Preset").set_value(PRESETS[1].name).run())
    assert [widget(page, label).value for label in ("Categories K", "Users N")] == [10, 100_000]
    assert PRESETS[1].scenario.to_query().items() <= dict(page.query_params).items()
    checked(widget(page, "Reset").click().run())
    assert [widget(page, label).value for label in ("Preset", "Categories K")] == [PRESETS[0].name, 12]
    assert FIRST.to_query().items() <= dict(page.query_params).items()
    checked(widget(page, "Seed").set_value(limits.SEED_MAX).run())
    checked(widget(page, "New draw").click().run())
    assert widget(page, "Seed").value == 0  # after the last one they start again


def entries(page):
    return [one for kind in (page.selectbox, page.number_input, page.slider, page.text_input) for one in kind]


@pytest.mark.parametrize(
    ("name", "query", "label", "value"),
    [("plan", "dist=exam", "Categories K", 25), ("geometry", "dist=zipf&k=3&s=3&eps=1", "Privacy ε", 1.5)],
)
def test_values_shown_before_a_change_that_arrive_after_it_are_no_choice(name, query, label, value):
    """As when the browser wants the next run before it has heard what the change made of its other widgets."""
    page = opened(name, query)
    late = [one._widget_state for one in entries(page) if one.label != label]
    checked(widget(page, label).set_value(value).run())
    address, shown = dict(page.query_params), [(one.label, one.value) for one in entries(page)]
    known = {one.id for one in late}
    kept = [one for one in page._tree.get_widget_states().widgets if one.id not in known]
    checked(page._run(WidgetStates(widgets=[*kept, *late])))
    assert (dict(page.query_params), [(one.label, one.value) for one in entries(page)]) == (address, shown)


def test_stops_of_the_dials_rise_from_one_end_of_their_range_to_the_other():
    ends = {"Zipf exponent s": [0, 5], "Privacy ε": [0.01, 20], "Users N": [1, 10**9]}
    for dial in dials(opened("noisy_histogram")):
        assert [dial.stops[0], dial.stops[-1]] == ends[dial.label]
        assert all(below < above for below, above in itertools.pairwise(dial.stops))
        assert len(dial.stops) > 60  # fine enough to glide


def test_exact_values_are_typed_as_people_write_them():
    page = opened("noisy_histogram", LINK)
    for label, text, value in (
        ("Privacy ε", "ln 3", math.log(3)),
        ("Privacy ε", "0,5", 0.5),
        ("Users N", "1,000,000", 10**6),
        ("Users N", "1e6", 10**6),
        ("Zipf exponent s", "0", 0.0),
    ):
        checked(widget(page, label).set_value(text).run())
        assert (widget(page, label).value, widget(page, label).error) == (value, "")


def test_a_typed_value_that_is_none_is_refused_in_a_sentence_and_the_former_one_stays():
    page = opened("noisy_histogram", LINK)
    for label, text, sentence in (
        ("Privacy ε", "20.1", "Privacy ε goes from 0.01 to 20; “20.1” lies outside."),
        ("Privacy ε", "<b>much</b>", "“<b>much</b>” is not a number."),
        ("Users N", "2.5", "“2.5” is not a whole number."),
        ("Users N", "2.000", "“2.000” may mean 2000: write it without a point."),
        ("Users N", "9" * 5000, "lies outside."),
    ):
        before = widget(page, label).value
        checked(widget(page, label).set_value(text).run())
        assert sentence in widget(page, label).error
        assert widget(page, label).value == before
        checked(widget(page, label).set_value(before).run())
        assert widget(page, label).error == ""


def test_while_the_hand_moves_the_figure_follows():
    page = opened("estimators", LINK)
    before = charts(page)[0]
    checked(widget(page, "Privacy ε").set_value(3.0).run(moving=True))
    moving = charts(page)[0]
    assert moving["data"] != before["data"]
    assert widget(page, "Privacy ε").value == 3.0
    checked(widget(page, "Privacy ε").set_value(3.0).run())
    assert charts(page)[0]["alt"] == moving["alt"]


def test_wrong_link_gives_one_sentence():
    """All of them: tests/core/test_scenario.py."""
    page = opened("experiments", "dist=letters&k=50")
    (note,) = page.warning
    assert "K is 50, but Letters of Moby-Dick has 26 categories" in note.value.replace("\\", "")
    assert charts(page)


ONE_MORE = """
from dataclasses import replace
from rr_core import registry

twin = replace(registry.REGISTRY[1], name="twin", label="Twin", colour="#123456", is_repair=False)
registry.REGISTRY += (twin,)
registry.ESTIMATORS["twin"], registry.RULES["twin"] = twin.estimate, twin.rule

from pages._ui import downloads
from pages._ui.draw_results import DrawResults
from rr_core import RandomizedResponse, Scenario, zipf
from rr_core.figures.plan_curves import error_curves
from rr_core.plan.landscape import simulate_curve
from rr_core.repeats import repeat
from rr_core.reports.analysis import analyse
from tests.app.opening import charts, opened

page = opened("estimators", "k=12&n=500&seed=1")
table = next(block.value for block in page.markdown if "Squared error" in block.value)
assert "Twin" in table, table
assert "Twin" in {trace.get("name") for chart in charts(page) for trace in chart["data"]}
for name in ("ibu", "inv_negatives", "experiments", "room"):
    opened(name)
assert "Twin" in {trace.get("name") for chart in charts(opened("geometry")) for trace in chart["data"]}
simulated = simulate_curve(12, zipf(12, 1.2), "n", [100, 1000], 1.0, 5, seed=3)
assert "Twin" in {trace.name for trace in error_curves(simulated, "tv", None, 100.0, None).data}
assert downloads.data_csv(DrawResults(Scenario().draw())).splitlines()[0].endswith(b'"twin"')
*_, many = repeat(Scenario().draw(), 20)
assert many.errors["mse"].shape == (20, len(registry.ESTIMATORS)) and "twin" not in many.best["mse"]
found = analyse([520, 310, 170], RandomizedResponse(3, 1.0))
assert "twin" in found.estimates and "twin" not in found.nearest.differences
"""


@pytest.mark.slow
def test_one_more_estimator_is_one_more_entry():
    """In the registry, of a fresh interpreter: table, charts and files show it, and no page fails."""
    done = subprocess.run([sys.executable, "-c", ONE_MORE], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_link_without_a_scenario_opens_the_first_one_whose_answers_have_names():
    page = opened("estimators", "present=on")
    assert not page.warning
    assert charts(page)[0]["layout"]["xaxis"]["ticktext"] == list(FIRST.population().labels)
    assert (inv(FIRST.draw().counts, FIRST.mechanism) < 0).any()


def test_presented_a_page_is_its_figure_its_sentence_and_little_else():
    page = opened("estimators", "present=on")
    (chart,) = charts(page)
    assert page.caption[-1].value == chart["alt"]
    assert not page.sidebar.children
    assert [button.label for button in page.button] == ["New draw", "Hide", "Exit"]
    checked(widget(page, "Exit").click().run())
    assert "Hide the truth" in labels(page)


def persons_answers(scenario, truth, many):
    mechanism = scenario.mechanism
    return [answer(truth, mechanism, scenario.stream(Stream.ANSWERS, truth, i)).report for i in range(many)]


def test_answering_again_adds_up_and_shows_what_an_onlooker_believes():
    page, scenario = opened("noisy_histogram", "dist=zipf&part=person"), Scenario()
    checked(widget(page, "Answer again").click().run())
    text, belief = words(page), charts(page)[1]
    assert "2 answers cost 2 · ε = 2." in text
    assert "e²ᵋ = 7.39 times" in text
    names = ["before any report", "after the first report", "after all 2 reports"]
    assert [trace["name"] for trace in belief["data"]] == names
    truth = int(page.selectbox(key="person_truth").value)
    reports = persons_answers(scenario, truth, 2)
    prior = scenario.population().probabilities
    told = [prior, *(posterior_of_reports(reports[:m], prior, scenario.mechanism) for m in (1, 2))]
    assert percents(belief["alt"]) == pytest.approx([one[truth] for one in told], rel=0.006)
    assert f"Reported before: {reports[0] + 1}." in text


@holds("By the means of {} collections its own was at most {} times the smallest in {}, and at worst {} it.")
def test_the_reference_counts_who_wins_on_the_papers_grid():
    """Against the recorded means themselves: what is settled is part of what the means show."""
    cells = stored_result(MAIN_GRID).cells
    means = np.array([cell.mean[0] for cell in cells])
    apart = np.ptp(means, axis=1) > 1e-9 * means.max(axis=1)
    wins = np.bincount(means[apart].argmin(axis=1), minlength=3)
    repairs = {entry.label.replace("*", r"\*") for entry in REGISTRY if entry.is_repair}
    told = [numbers(entry.text) for entry in reference.when_best() if entry.title in repairs]
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


@pytest.mark.parametrize("event", ["presents", "moved"])
def test_nothing_that_a_browser_tells_breaks_a_page(event):
    page = opened("noisy_histogram", LINK)
    before = charts(page)[0]
    long = [None, 3, ["x"], "<b>" * 999] * 99
    for told in (None, 3, "Truth", {"names": "Truth"}, {"names": long}, {"other": 1}):
        checked(dials(page)[0].tell(event, told))
        assert charts(page)[0] == before
