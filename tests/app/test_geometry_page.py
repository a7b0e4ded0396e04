"""The geometry page: the core's numbers, a pick that lives as long as it should, and every end of every range."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse, Scenario, collinearity
from rr_core.collinearity import theorem2
from rr_core.geometry.simplex import SIDE, estimate_three, three_categories
from rr_core.registry import ESTIMATORS
from rr_core.rounding import number, percent
from tests.app.opening import charts, checked, open_part, opened, widget

KEYS = ("geometry", "plane", "supports", "pushed_plane", "pushed_curve", "clouds")
WORKED = "dist=zipf&k=3&s=1&eps=1&n=200&seed=4"


def table(page):
    (text,) = [text.value for text in page.markdown if text.value.startswith("| Share")]
    lines = text.partition("\n\n")[0].splitlines()
    return {
        cells[1].strip(" *\\"): [cell.strip() for cell in cells[2:-1]]
        for cells in (x.split("|") for x in lines)
    }


def rows_of(page):
    return {name.replace("\\", ""): cells for name, cells in table(page).items()}


def shown(values):
    return [percent(float(value), 4) for value in values]


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", ["k=2&n=1&eps=0.01", "k=500&n=10&eps=0.01&s=1.3", "k=1423000&n=1000000000&eps=20&s=0"]
)
def test_every_end_of_every_range_says_something(query):
    page = opened("geometry", query)
    drawn = []
    for part in ("why", "bias", "line", "beyond"):
        open_part(page, "geometry", part)
        drawn += charts(page)[1:]
        assert not page.error
        assert not page.warning
        words = " ".join(text.value for text in page.markdown)
        assert "nan" not in words.lower().split()
    assert 1 + len(drawn) == len(KEYS)
    if "k=2&" in query and "**example**" in words:
        assert "two categories, with an empty third, have none" in words
    if "k=1423000" in query:
        return
    checked(page.button_group(key="align_times").set_value(50).run())
    checked(widget(page, "Collect again and again").click().run())
    assert any("of 50 collections" in chart["alt"] for chart in charts(page))
    assert not page.info


def test_the_table_shows_the_scenarios_own_three_categories():
    page = opened("geometry", WORKED)
    draw = Scenario("zipf", 3, 1.0, 1.0, 200, 4).draw()
    rows = rows_of(page)
    assert rows["Share"] == ["category 1", "category 2", "category 3"]
    assert rows["Observed φ"] == shown(draw.counts / 200)
    assert rows["Truth"] == shown(draw.theta)
    names = {"Inv": "inv", "InvN": "inv_n", "InvP": "inv_p", "MLE*": "mle_star"}
    for label, name in names.items():
        row = next(cells for key, cells in rows.items() if key.rstrip("*") == label.rstrip("*"))
        assert row == shown(ESTIMATORS[name](draw.counts, draw.mechanism)), label


def test_other_numbers_of_categories_show_the_three_most_frequent():
    draw = three_categories(Scenario("schooling", 16, 1.5, 1.0, 32_561, 5).draw())
    page = opened("geometry", "dist=schooling&eps=1&n=32561&seed=5")
    assert any("**example**" in text.value for text in page.markdown)
    checked(widget(page, "Use the scenario's reports").click().run())
    rows = rows_of(page)
    assert rows["Share"] == ["HS\\-grad", "Some\\-college", "Bachelors"]
    assert rows["Observed φ"] == shown(draw.counts / 32_561)


def test_markers_that_cover_each_other_are_parted_by_a_close_up():
    smallest, plot = 14, 200  # pixels of a marker and of the triangle's side on a phone
    for epsilon in (0.5, 2.0, 5.0, 10.0):
        page = opened("geometry", f"k=12&eps={epsilon}&n=2000&phi=60,40,0")
        reports = estimate_three((60, 40, 0), RandomizedResponse(3, epsilon))
        apart = reports.collinearity.length / SIDE
        offered = any("nearly cover each other" in text.value for text in page.markdown)
        assert offered == (0 < apart * plot < 1.5 * smallest)


@pytest.mark.parametrize(
    ("query", "example"),
    [
        ("k=12&s=1.5&eps=1&n=2000&seed=5", True),  # its three most frequent have no negative share
        ("k=12&s=1.5&eps=0.1&n=200&seed=5", False),  # they have one
        ("k=3&s=0&eps=3&n=100000&seed=5", False),  # the scenario's own three
    ],
)
def test_the_page_opens_with_something_to_repair(query, example):
    page = opened("geometry", query)
    assert any("**example**" in text.value for text in page.markdown) is example
    negatives = any("−" in cell for cell in rows_of(page)["Inv"])
    assert negatives or "k=3" in query
    assert widget(page, "Use the scenario's reports").disabled is not example
    if example:
        checked(widget(page, "Privacy ε").set_value(0.9).run())
        assert any("**example**" in text.value for text in page.markdown)
        checked(widget(page, "Use the scenario's reports").click().run())
        assert not any("−" in cell for cell in rows_of(page)["Inv"])


def test_the_conditions_of_theorem_2_with_both_sides():
    page = opened("geometry", "dist=zipf&k=12&s=1.5&eps=1&n=2000&seed=5&part=line")
    draw = Scenario("zipf", 12, 1.5, 1.0, 2000, 5).draw()
    place, conditions = (make(draw.counts, draw.mechanism) for make in (collinearity, theorem2))
    (text,) = [text.value for text in page.markdown if text.value.startswith("| Condition")]
    sides = (conditions.smallest, draw.mechanism.q, conditions.second, conditions.threshold)
    for side in sides:
        assert number(side, 5) in text
    assert text.count("✓") + text.count("✗") == 4
    assert ("Theorem 2 applies" in text) is place.theorem2_holds
    values = [metric.value for metric in page.metric]
    assert percent(place.position) in values
    assert number(place.residual) in values
    assert percent(place.relative) in values


def shares(page):
    return [slider for slider in page.slider if slider.label.startswith("Share of reports")]


def test_sliders_and_box_and_buttons_move_the_reports():
    page = opened("geometry", WORKED)
    before = rows_of(page)
    checked(shares(page)[2].set_value(4.0).run())
    moved = rows_of(page)
    assert moved["Observed φ"][2] == "4%"
    assert moved["Observed φ"] != before["Observed φ"]
    assert shares(page)[2].value == 4.0
    assert sum(slider.value for slider in shares(page)) == pytest.approx(100, abs=0.2)
    checked(page.text_input[0].set_value("62 33 5").run())
    assert rows_of(page)["Observed φ"] == ["62%", "33%", "5%"]
    assert page.text_input[0].value == "62, 33, 5"
    checked(page.text_input[0].set_value("62, many, 5").run())
    (error,) = page.error
    assert "many" in error.value
    assert rows_of(page)["Observed φ"] == ["62%", "33%", "5%"]
    assert page.text_input[0].value == "62, many, 5"  # to be corrected
    checked(page.text_input[0].set_value("1 1 2").run())
    assert not page.error
    assert rows_of(page)["Observed φ"] == ["25%", "25%", "50%"]
    checked(widget(page, "Use the scenario's reports").click().run())
    assert rows_of(page) == before
    example = "Example with one negative share"
    checked(widget(page, example).click().run())
    assert any("−" in cell for cell in rows_of(page)["Inv"])
    assert widget(page, example).disabled
    checked(widget(page, "Privacy ε").set_value(2.0).run())
    assert not widget(page, example).disabled  # at another epsilon it has other reports


def test_a_pick_outlives_epsilon_and_layers_and_nothing_else():
    page = opened("geometry", WORKED + "&phi=62,33,5&part=bias")

    def names():
        return [trace.get("name") for trace in charts(page)[0]["data"]]

    before = rows_of(page)
    assert not {"same distance", "same likelihood"} & set(names())
    both = ["Circles of distance", "Curves of likelihood"]
    checked(page.button_group(key="triangle_shown").set_value(both).run())
    assert {"same distance", "same likelihood"} <= set(names())
    checked(widget(page, "Privacy ε").set_value(2.0).run())
    after = rows_of(page)
    assert after["Observed φ"] == before["Observed φ"] == ["62%", "33%", "5%"]
    assert page.query_params["phi"] == "62,33,5"
    assert after["InvN"] != before["InvN"]
    assert "same distance" in names()
    checked(page.button_group(key="triangle_shown").set_value([]).run())
    assert not {"same distance", "same likelihood"} & set(names())
    checked(page.button_group(key="triangle_zeros").set_value("inv_p").run())
    assert names().count("two zeros") == 3
    whole = charts(page)[0]["layout"]["xaxis"]["range"]
    checked(page.button_group(key="triangle_shown").set_value(["Close up"]).run())
    near = charts(page)[0]["layout"]["xaxis"]["range"]
    assert near[1] - near[0] < whole[1] - whole[0]
    checked(page.button_group(key="clouds_where").set_value("edge").run())
    (text,) = [text.value for text in page.markdown if "length of the bias" in text.value]
    assert len(text.partition("\n\n")[0].splitlines()) == 2 + len(ESTIMATORS)
    checked(widget(page, "New draw").click().run())
    assert rows_of(page)["Observed φ"] != before["Observed φ"]
    assert "phi" not in page.query_params


@pytest.mark.slow
def test_pushing_down_begins_on_the_line_and_leaves_it():
    page = opened("geometry", "k=500&s=1.3&eps=1&n=10000&seed=1&part=beyond")
    assert "exactly on the line" in charts(page)[1]["alt"]
    (slider,) = [one for one in page.select_slider if one.label == "Its reports"]
    middle = slider.options[len(slider.options) * 3 // 4].replace(",", "")
    checked(slider.set_value(int(middle)).run())
    assert "off their line" in charts(page)[1]["alt"]
    checked(widget(page, "Begin with equal supports").set_value(False).run())
    (category,) = [one for one in page.selectbox if one.label == "Category"]
    checked(category.select_index(3).run())
    assert "off their line" in charts(page)[1]["alt"]


@pytest.mark.slow
@pytest.mark.parametrize("part", ["line", "beyond", "bias"])
def test_a_picked_point_gives_no_numbers_of_its_own_to_other_sections(part):
    plain, picked = (opened("geometry", f"{WORKED}&part={part}{more}") for more in ("", "&phi=62,33,5"))
    assert charts(plain)[1:]
    assert [chart["data"] for chart in charts(plain)[1:]] == [chart["data"] for chart in charts(picked)[1:]]
    assert not np.array_equal(charts(plain)[0]["data"], charts(picked)[0]["data"])
