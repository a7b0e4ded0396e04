"""The geometry page: the core's numbers, a pick that lives as long as it should, and every end of every range."""

from __future__ import annotations

import pytest

from rr_core import Scenario, collinearity
from rr_core.collinearity import theorem2
from rr_core.geometry.simplex import three_categories
from rr_core.registry import ESTIMATORS
from rr_core.rounding import number, percent
from tests.app.opening import charts, checked, open_part, opened, widget

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
def test_collections_are_repeated_when_asked_for():
    """What every part says at the ends of every range: tests/app/test_every_view.py."""
    page = open_part(opened("geometry", "k=500&n=10&eps=0.01&s=1.3"), "geometry", "beyond")
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


@pytest.mark.parametrize(
    ("query", "example"),
    [
        ("k=12&s=1.5&eps=1&n=2000&seed=5", True),  # its three most frequent have no negative share
        ("k=12&s=1.5&eps=0.1&n=200&seed=5", False),  # they have one
    ],
)
def test_the_page_opens_with_something_to_repair(query, example):
    page = opened("geometry", query)
    assert any("**example**" in text.value for text in page.markdown) is example
    assert any("−" in cell for cell in rows_of(page)["Inv"])
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
    assert sum(slider.value for slider in shares(page)) == pytest.approx(100, abs=0.2)
    checked(page.text_input[0].set_value("62 33 5").run())
    assert rows_of(page)["Observed φ"] == ["62%", "33%", "5%"]
    assert page.text_input[0].value == "62, 33, 5"
    checked(page.text_input[0].set_value("62, many, 5").run())
    (error,) = page.error
    assert "many" in error.value
    assert rows_of(page)["Observed φ"] == ["62%", "33%", "5%"]
    assert page.text_input[0].value == "62, many, 5"  # to be corrected
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
    checked(widget(page, "New draw").click().run())
    assert rows_of(page)["Observed φ"] != before["Observed φ"]
    assert "phi" not in page.query_params
