"""The home page: the way on, and the scenario that its links carry to all other pages."""

from __future__ import annotations

import pytest

from pages._ui import navigation
from tests.app.opening import charts, checked, dials, opened, widget
from tests.documents import ADDRESSES

LINK = "dist=zipf&k=50&s=1.3&eps=2&n=3000&seed=7"


def links(page, where):
    """Labels and queries of the links to pages in a part of a page, in their order."""
    return [(one.proto.label, one.proto.query_string) for one in where.get("page_link")]


def test_home_has_a_card_for_every_page_with_its_sentence():
    page = opened("", LINK)
    cards = links(page, page.main)
    assert [label for label, _ in cards] == [
        f"**{navigation.BY_ADDRESS[address].label}**" for address in ADDRESSES[1:]
    ]
    said = [caption.value for caption in page.main.caption]
    assert all(navigation.BY_ADDRESS[address].answers in said for address in ADDRESSES[1:])


def test_each_question_of_the_path_has_a_frame_of_its_own():
    held = [[label for label, _ in links(opened("", LINK), column)] for column in opened("", LINK).columns]
    for entry in navigation.PATH:
        assert [f"**{entry.label}**"] in held


def test_home_draws_nothing_of_the_scenario_and_carries_it_to_all_pages():
    page = opened("", LINK)
    assert charts(page) == []
    assert not page.metric
    for _, query in (*links(page, page.main), *links(page, page.sidebar)):
        assert query == LINK
    checked(widget(page, "Privacy ε").set_value(3.0).run())
    checked(widget(page, "New draw").click().run())
    for _, query in (*links(page, page.main), *links(page, page.sidebar)):
        assert query == LINK.replace("eps=2", "eps=3").replace("seed=7", "seed=8")


def test_the_controls_of_the_scenario_are_folded_below_the_navigation():
    page = opened("", LINK)
    (fold,) = page.sidebar.expander
    assert (fold.label, fold.proto.expanded) == ("Your own numbers", False)
    assert [widget(fold, label).value for label in ("Distribution", "Categories K", "Seed")] == [
        "zipf",
        50,
        7,
    ]
    assert [dial.value for dial in dials(page)] == [1.3, 2.0, 3000]
    assert not any(dial.dial["off"] for dial in dials(page))
    assert {"New draw", "Reset"} == {one.label for one in fold.button}


@pytest.mark.parametrize(("query", "word"), [("k=abc", "abc"), ("dist=upload&k=9", "stayed with its owner")])
def test_a_wrong_link_is_told_in_one_sentence(query, word):
    page = opened("", query)
    (note,) = page.warning
    assert word in note.value
    assert bool(page.file_uploader) == ("upload" in query)


def test_home_is_not_presented():
    page = opened("", f"{LINK}&present=on")
    assert "present" not in page.query_params
    checked(dials(page)[0].tell("presents", {"on": True}))
    assert "present" not in page.query_params
    assert not any(one.label == "Exit" for one in page.button)
