"""Every scenario page: runs for every scenario, shows the core's numbers, and says when a link was wrong."""

from __future__ import annotations

import json

import pytest

from rr_core import PRESETS, Scenario
from rr_core.comparison import compare
from rr_core.figures.style import number, percent
from rr_core.law import negative_chance, negatives
from rr_core.summaries import closeness, noise_summary
from tests.app.opening import FILES, OF_A_DRAW, charts, checked, labels, opened, points, widget

EVERY_PAGE = pytest.mark.parametrize("name", FILES, ids=lambda name: name or "home")
QUERIES = [
    "",
    "dist=uniform&k=2&eps=0.01&n=1&seed=0",
    "dist=zipf&k=3&s=0&eps=20&n=1000000000&seed=4294967295",
    "dist=geometric&k=200&eps=1&n=1000",
    "dist=humps&k=201&eps=2.5&n=5000",
    "dist=dominant&k=12&eps=0.5&n=10",
    "dist=step&k=5000&eps=4&n=100000",
    "dist=letters&eps=1",
    "dist=schooling&eps=3&n=32561",
    "dist=work&eps=3&n=77",
    "dist=zipf&k=1423000&s=1.3&eps=8&n=1664500&seed=1",
]
LABELS = ["Preset", "Distribution", "Categories K", "Exact ε", "Exact N", "Seed", "Zipf exponent s"]
LABELS += ["Privacy ε", "Users N", "New draw", "Reset"]
LINK = "dist=zipf&k=50&s=1.3&eps=2&n=3000&seed=7"
SCENARIO = Scenario("zipf", 50, 1.3, 2.0, 3000, 7)


@EVERY_PAGE
@pytest.mark.parametrize("query", QUERIES)
def test_page_runs_and_its_charts_are_small_and_named(name, query):
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


@pytest.mark.slow
@EVERY_PAGE
def test_sidebar_has_the_promised_labels(name):
    assert sorted(labels(opened(name))) == sorted(LABELS)


@EVERY_PAGE
def test_link_sets_every_widget(name):
    page = opened(name, LINK)
    shown = {
        label: widget(page.sidebar, label).value for label in LABELS if label not in ("New draw", "Reset")
    }
    assert shown == {
        "Preset": None,
        "Distribution": "zipf",
        "Categories K": 50,
        "Zipf exponent s": 1.3,
        "Privacy ε": 2.0,
        "Exact ε": 2.0,
        "Users N": 3000,
        "Exact N": 3000,
        "Seed": 7,
    }


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def test_home_shows_the_cores_numbers():
    draw = SCENARIO.draw()
    distance = closeness(draw, compare(draw).estimates["mle_star"])
    shown = list(metrics(opened("", LINK)).values())
    assert shown == [percent(x) for x in (draw.mechanism.p, distance.reports, distance.estimate)]


def test_noisy_histogram_shows_the_cores_numbers():
    summary = noise_summary(SCENARIO.draw())
    truthful, moved, largest, inside = metrics(opened("noisy_histogram", LINK)).values()
    assert (truthful, moved) == (percent(summary.truthful), percent(summary.moved))
    assert largest.lstrip("+").replace("−", "-").replace(",", "") == str(summary.largest_change)
    assert inside == percent(summary.inside_band)


def test_inv_negatives_shows_the_cores_numbers():
    draw = SCENARIO.draw()
    found = negatives(compare(draw).estimates["inv"], draw.true_counts, draw.mechanism)
    shown = list(metrics(opened("inv_negatives", LINK)).values())
    assert found.count > 0
    assert shown[0].startswith(f"{found.count:,}")
    assert shown[1:4] == [percent(found.share), percent(found.total), percent(found.lowest)]
    assert shown[4] == percent(float(negative_chance(3000, draw.mechanism)))


@pytest.mark.parametrize("target", ["users", "population"])
def test_error_table_shows_the_cores_numbers(target):
    page = opened("estimators", LINK)
    if target == "population":
        checked(page.button_group(key="target").set_value("population").run())
    result = compare(SCENARIO.draw(), target)
    (text,) = [text.value for text in page.markdown if text.value.startswith("| Error")]
    table = text.partition("\n\n")[0]
    rows = [[cell.strip(" *▲▼") for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    cells = {row[0]: row[1:] for row in rows}
    names = ("Squared error", "Total variation", "Largest error", "NLL per report", "… above MLE\\*'s")
    for name, errors in zip(names, result.errors.values(), strict=True):
        for cell, error in zip(cells[name], errors.values(), strict=True):
            assert cell in {number(error, digits) for digits in range(4, 16)}, name
    assert cells["Set to zero"][1:] == [f"{zeros:,}" for zeros in list(result.zeros.values())[1:]]
    marks = next(line for line in table.splitlines() if line.startswith("| Squared error")).split("|")[2:-1]
    best = [name for name, cell in zip(result.errors["mse"], marks, strict=True) if "▲" in cell]
    assert tuple(best) == result.best("mse")


@pytest.mark.slow
def test_same_scenario_gives_the_same_figure_on_every_visit():
    assert charts(opened("estimators", LINK)) == charts(opened("estimators", LINK))
    assert charts(opened("estimators", LINK)) != charts(
        opened("estimators", LINK.replace("seed=7", "seed=8"))
    )


@pytest.mark.slow
@EVERY_PAGE
def test_new_draw_reset_and_preset(name):
    page = opened(name, LINK)
    before = charts(page)[0]["data"]
    checked(widget(page.sidebar, "New draw").click().run())
    assert widget(page.sidebar, "Seed").value == 8
    assert (charts(page)[0]["data"] != before) == (name in OF_A_DRAW)
    checked(widget(page.sidebar, "Preset").set_value(PRESETS[1].name).run())
    assert (widget(page.sidebar, "Categories K").value, widget(page.sidebar, "Exact N").value) == (
        10,
        100_000,
    )
    checked(widget(page.sidebar, "Reset").click().run())
    assert widget(page.sidebar, "Preset").value == PRESETS[0].name
    assert widget(page.sidebar, "Categories K").value == 12


def test_both_views_of_epsilon_and_of_n_stay_in_step():
    page = opened("estimators", LINK)
    checked(widget(page, "Exact ε").set_value(0.7).run())
    assert widget(page, "Privacy ε").value == 0.7
    checked(widget(page, "Privacy ε").set_value(10.0).run())
    assert widget(page, "Exact ε").value == 10.0
    checked(widget(page, "Exact N").set_value(40).run())
    assert widget(page, "Users N").value == 40
    checked(widget(page, "Users N").set_value(10**9).run())
    assert widget(page, "Exact N").value == 10**9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "n", "s"), [("2.13", "13", "1.234"), ("0.011", "1", "0.001"), ("19.99", "999999999", "4.999")]
)
def test_sliders_show_the_values_of_a_link_and_no_others(epsilon, n, s):
    page = opened("noisy_histogram", f"eps={epsilon}&n={n}&s={s}")
    users, privacy = widget(page, "Users N"), widget(page, "Privacy ε")
    assert (privacy.value, users.value) == (float(epsilon), int(n))
    assert privacy.options[privacy.options.index(f"{float(epsilon):.6g}")] == epsilon
    assert f"{int(n):,}" in users.options
    assert widget(page, "Zipf exponent s").value == float(s)
    assert widget(page, "Zipf exponent s").proto.format == "%.6g"
    # The stop stays while the slider moves on.
    before = privacy.options
    checked(privacy.set_value(1.0).run())
    assert widget(page, "Exact ε").value == 1.0
    assert widget(page, "Privacy ε").options == before


def test_zipf_exponent_is_there_for_zipf_alone():
    page = opened("", LINK)
    checked(widget(page, "Distribution").set_value("uniform").run())
    assert "Zipf exponent s" not in labels(page)
    checked(widget(page, "Distribution").set_value("letters").run())
    assert widget(page, "Categories K").value == 26
    assert widget(page, "Categories K").disabled


@pytest.mark.slow
@EVERY_PAGE
@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("k=abc", "abc"),
        ("eps=-3", "-3"),
        ("n=1e99", "1e99"),
        ("dist=nonsense", "nonsense"),
        ("seed=1.5", "1.5"),
        ("s=99", "99"),
        ("dist=letters&k=50", "K is 50, but Letters of Moby-Dick has 26 categories"),
        ("dist=work&k=99999999", "K is 99999999, but Work class (census) has 9 categories"),
        ("dist=upload&k=9", "stayed with its owner"),
    ],
)
def test_wrong_link_gives_one_sentence(name, query, word):
    page = opened(name, query)
    (note,) = page.warning
    assert word in note.value.replace("\\", "")
    assert len(charts(page)) >= 1


def test_unknown_parameters_are_left_alone():
    assert not opened("", "utm_source=mail&embed=true").warning


@pytest.mark.slow
@pytest.mark.parametrize("query", ["k=2&n=1", "k=12&seed=21", "k=1000&n=1000000000&eps=0.01"])
def test_repeated_collections(query):
    page = opened("estimators", query)
    checked(page.button_group(key="repeat_times").set_value(50).run())
    checked(widget(page, "Repeat").click().run())
    readings = [chart["alt"] for chart in charts(page)]
    assert len(readings) == 4
    assert "50 collections" in readings[1]
    assert not page.info
