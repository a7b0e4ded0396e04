"""The panel of /your_reports: what was understood, odd names, how privacy is given, and what the script says of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rr_core import RandomizedResponse
from tests.app.opening import charts, checked
from tests.app.test_reports_page import give, one, opened, press, said
from tests.io.test_odd_names import COUNTS, ODD

SEEN = "Which categories could people choose from?"


def as_rows(counts):
    return "id,ill\n" + "".join(
        f"{i},{name}\n" for i, name in enumerate(name for name, count in counts.items() for _ in range(count))
    )


def prepared(text, privacy=None, domain="seen", kind=None, name="ills.csv"):
    """A page with this file and settings, before the button is pressed."""
    page = give(opened(), (name, text))
    if kind:
        one(page.button_group, "Privacy given as").set_value(kind)
        checked(page.run())
    if privacy:
        (box,) = [box for box in page.text_input if box.label.startswith("Value of")]
        box.set_value(privacy)
    if domain:
        one(page.radio, SEEN).set_value(domain)
    return checked(page.run())


def test_what_was_understood_stands_before_the_button():
    page = give(opened(), ("ills.csv", as_rows(COUNTS) + ",\n\n"))
    text = said(page)
    total = sum(COUNTS.values())
    assert f"Understood: {total:,} rows, 8 names, {total:,} reports." in text
    assert "Text in UTF-8, separated by comma, with a header." in text
    assert f"Left out: 1 row (no category name), the first in line {total + 2:,}." in text
    first = page.dataframe[0].value
    assert list(first.columns) == ["id", "ill"]
    assert first.iloc[0].tolist() == ["0", "influenza"]
    assert not charts(page)


def test_odd_names_are_named_before_anything_is_computed_and_epsilon_is_not_blamed():
    page = prepared(as_rows(COUNTS | ODD), "1")
    text = said(page)
    assert "8 names look odd" in text
    leave, twins = (
        one(page.multiselect, "Leave out (not categories)"),
        one(page.multiselect, "Count as another name"),
    )
    assert len(leave.value) == 5
    assert len(twins.value) == 3
    assert any("NA (41 reports): no answer" in option for option in leave.options)
    assert any("differ in upper and lower case" in option for option in twins.options)
    left = "60 left out: “NA” (41), “-” (9), “NaN” (6), “null” (3), “typo” (1)"
    assert f"{sum(COUNTS.values()) + 12:,} reports over K = 8 categories ({left}), at ε = 1" in text
    assert not charts(page)
    press(page, "Analyse these reports")
    text = said(page)
    assert f"**{sum(COUNTS.values()) + 12:,} reports, K = 8, ε = 1.**" in text
    assert "finds nothing against ε = 1" in text
    assert "rejects" not in text
    assert "60 reports are left out, under names that are not counted as categories: NA" in text
    assert "12 reports of 3 names were counted under another name" in text
    press(page, "Other reports or settings")
    leave, twins = (
        one(page.multiselect, label) for label in ("Leave out (not categories)", "Count as another name")
    )
    leave.set_value([i for i in leave.value if "NA (" not in leave.options[i]])
    twins.set_value([])
    press(page, "Analyse these reports")
    # Now the names are what does not fit, and the verdict says so.
    assert "K = 12, ε = 1.**" in said(page)
    assert "The test rejects ε = 1: “NA” (41)" in said(page)
    assert "leave such names out" in said(page)
    press(page, "Other reports or settings")
    assert len(one(page.multiselect, "Leave out (not categories)").value) == 4
    assert one(page.multiselect, "Count as another name").value == []


def test_odd_names_change_k_only_where_nobody_said_what_it_is():
    page = prepared(as_rows(COUNTS | {"NA": 41}), "1")
    assert "changes K" in said(page)
    one(page.radio, SEEN).set_value("size")
    checked(page.run())
    one(page.number_input, "Categories K").set_value(12)
    checked(page.run())
    leave = one(page.multiselect, "Leave out (not categories)")
    for chosen in ([0], []):
        leave.set_value(chosen)
        text = said(checked(page.run()))
        assert "over K = 12 categories" in text
        assert "changes K" not in text
        assert "**1 name looks odd.** Choose below what is done with such names." in text


def test_many_strays_are_one_choice():
    strays = {f"stray {i}": 1 for i in range(80)}
    page = prepared(as_rows({name: 30 * count for name, count in COUNTS.items()} | strays), "1")
    leave = one(page.multiselect, "Leave out (not categories)")
    assert len(leave.options) == len(leave.value) == 51
    assert leave.options[-1] == "30 more, with 30 reports together"
    assert "over K = 8 categories (80 left out: “stray 0” (1)" in said(page)
    leave.set_value(leave.value[:-1])
    assert "over K = 38 categories (50 left out: " in said(checked(page.run()))


def test_bits_are_not_offered_as_reports():
    bits = np.random.default_rng(3).integers(0, 2, (40, 5))
    text = "a,b,c,d,e\n" + "".join(",".join(map(str, row)) + "\n" for row in bits)
    page = give(opened(), ("bits.csv", text))
    (warning,) = page.warning
    assert "unary encoding, one column per category, which this page does not estimate" in warning.value
    assert one(page.selectbox, "Report column").value is None
    assert not [button for button in page.button if button.label == "Analyse these reports"]
    one(page.selectbox, "Report column").set_value(2)
    assert "2 names, 40 reports" in said(checked(page.run()))


def test_p_below_one_half_asks_to_swap_two_answers():
    """Warner: 62% say yes although only 20% have to: 0.3 · 0.2 + 0.7 · 0.8."""
    text = "answer\n" + "yes\n" * 620 + "no\n" * 380
    page = prepared(text, "0.3", kind="p, true report")
    assert "p is below 1/2" in said(page)
    press(page, "Analyse these reports")
    (box,) = page.error
    assert "Switch on “Swap the two answers”" in box.value.replace("\\", "")
    one(page.toggle, "Swap the two answers").set_value(True)
    checked(page.run())
    assert "at ε = 0.8473" in said(page)
    press(page, "Analyse these reports")
    shown = page.dataframe[0].value.set_index("Category")
    assert shown["Inv %"].to_dict() == pytest.approx({"no": 80.0, "yes": 20.0})
    assert f"K = 2, ε = {math.log(0.7 / 0.3):.4g}.**" in said(page)
    assert "“yes” and “no” were swapped, because p = 0.3 is below 1/2" in said(page)


@pytest.mark.slow
def test_the_chance_of_a_uniform_redraw_and_chances_that_are_none():
    page = prepared(as_rows(COUNTS), "1", kind="r, uniform redraw")
    for typed, words in (
        ("1", "lies between 0 and 1"),
        ("120%", "lies between 0 and 1"),
        ("x", "not a number"),
    ):
        one(page.text_input, "Value of r").set_value(typed)
        (box,) = press(page, "Analyse these reports").error
        assert words in box.value
    one(page.text_input, "Value of r").set_value("25%")
    mechanism = RandomizedResponse.from_redraw(8, 0.25)
    assert (
        f"at ε = {mechanism.epsilon:.4g}: a report is the truth with probability p = {mechanism.p:.4g}"
        in said(checked(page.run()))
    )
    press(page, "Analyse these reports")
    assert f"K = 8, ε = {mechanism.epsilon:.4g}.**" in said(page)
    press(page, "Other reports or settings")
    assert one(page.text_input, "Value of r").value == "25%"
    for p in ("0.5", "0", "1"):  # that say nothing or everything
        page = press(
            prepared("answer\n" + "yes\n" * 62 + "no\n" * 38, p, kind="p, true report"),
            "Analyse these reports",
        )
        assert len(page.error) == 1
        assert "Swap the two answers" not in [box.label for box in page.toggle]
