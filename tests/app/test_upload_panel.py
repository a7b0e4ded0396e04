"""The upload panel: what was understood is shown first, a rejected file changes nothing."""

from __future__ import annotations

import re

import pytest
from starlette.formparsers import MultiPartParser

from pages._ui.upload import EXAMPLE
from rr_core.io import read_distribution
from server.middleware import TEMPORARY
from tests.app.opening import charts, checked, opened, widget
from tests.browser.files import BROKEN
from tests.documents import documents_with

FRUIT = b"fruit,count\napple,500\nplum,300\nfig,200\n"


def panel(name="noisy_histogram", query=""):
    return checked(widget(opened(name, query), "Distribution").set_value("upload").run())


def give(page, data, name="fruit.csv"):
    return checked(page.file_uploader[0].set_value((name, data, "text/csv")).run())


@pytest.mark.parametrize("name", ["noisy_histogram", "geometry"])
def test_accepted_file_is_drawn_with_its_names(name):
    page = give(panel(name), FRUIT)
    before = charts(page)[0]["data"]
    assert "3 categories" in page.success[0].value
    assert "1,000 people" in page.success[0].value.replace("\\", "")
    checked(widget(page, "Use this distribution").click().run())
    assert charts(page)[0]["data"] != before
    layout, fruit = charts(page)[0]["layout"], ["apple", "plum", "fig"]
    assert layout["xaxis"].get("ticktext", fruit) == fruit  # the triangle has names at its corners instead
    assert all(name in str(layout) for name in fruit)
    assert widget(page, "Categories K").value == 3
    assert widget(page, "Categories K").disabled
    assert widget(page, "Users N").value == 1000
    assert widget(page, "Distribution").value == "upload"
    assert any("fruit" in caption.value for caption in page.caption)


@pytest.mark.parametrize(
    ("name", "query"),
    [("estimators", "dist=upload"), ("your_reports", "made=k_rr"), ("your_reports", "made=table")],
)
def test_where_it_says_not_kept_the_temporary_file_is_told(name, query):
    page = opened(name, query)
    assert any("not kept" in text.value for text in page.markdown)
    assert {one.help for one in page.file_uploader} == {TEMPORARY}


def test_of_the_temporary_file_all_documents_say_the_same():
    assert MultiPartParser.spool_max_size == 2**20
    for text in (TEMPORARY, *documents_with("temporary file").values()):
        assert "1 MB" in text
        assert re.search(r"temporary file (?:without a|that has no) name", " ".join(text.split()))


def test_nothing_changes_before_the_file_is_used():
    page = opened("estimators", "seed=3")
    before = charts(page)[0]
    checked(widget(page, "Distribution").set_value("upload").run())
    give(page, FRUIT)
    assert charts(page)[0] == before
    checked(widget(page, "Cancel").click().run())
    assert charts(page)[0] == before
    assert widget(page, "Distribution").value == "zipf"
    assert not page.file_uploader


@pytest.mark.slow
def test_more_people_than_users_are_drawn_only_where_the_link_gave_no_number():
    many = b"fruit,count\napple,5000000000\nplum,3000000000\nfig,1234567\n"
    page = give(panel(), many)
    assert page.text[0].value.endswith("apple: 5,000,000,000  ·  plum: 3,000,000,000  ·  fig: 1,234,567")
    assert "N is limited to 1,000,000,000" in " ".join(text.value for text in page.markdown).replace("\\", "")
    checked(widget(page, "Use this distribution").click().run())
    assert widget(page, "Users N").value == 10**9
    page = give(opened("noisy_histogram", "dist=upload&n=5000"), many)
    checked(widget(page, "Use this distribution").click().run())
    assert widget(page, "Users N").value == 5000


def test_example_file_is_readable():
    read = read_distribution(EXAMPLE.encode(), "example.csv")
    assert read.k == 5
    assert read.kind == "counts"
    assert read.notes == ()
    page = give(panel(), EXAMPLE.encode(), "example.csv")
    checked(widget(page, "Use this distribution").click().run())
    assert charts(page)[0]["layout"]["xaxis"]["ticktext"] == list(read.labels)


def test_a_link_with_another_number_of_categories_than_the_file_says_so():
    page = opened("noisy_histogram", "dist=upload&k=5&eps=2")
    give(page, FRUIT)
    checked(widget(page, "Use this distribution").click().run())
    said = "The link's Categories K is 5, but your file has 3 categories; these are used."
    assert [note.value.replace("\\", "") for note in page.warning] == [said]
    assert widget(page, "Categories K").value == 3
    checked(widget(page, "New draw").click().run())
    assert not page.warning


def test_shares_leave_the_number_of_users_alone():
    page = give(panel(query="n=777"), b"fruit,share\napple,0.5\nplum,0.4\nfig,0.1\n")
    checked(widget(page, "Use this distribution").click().run())
    assert widget(page, "Users N").value == 777


@pytest.mark.slow
def test_broken_files_get_their_sentence_and_lose_nothing():
    """Each kind once; the sentences themselves are those of tests/io/test_distribution.py."""
    page = panel(query="seed=3")
    before = charts(page)[0]
    for broken in BROKEN:
        give(page, broken.data, broken.name)
        (box,) = page.error
        sentence = box.value.replace("\\", "").replace("\u2060", "")
        assert all(word in sentence for word in broken.words), sentence
        assert "stays in use" in sentence
        assert charts(page)[0] == before
        assert not [button for button in page.button if button.label == "Use this distribution"]
    checked(widget(page, "Cancel").click().run())
    assert not page.error
    assert charts(page)[0] == before


def test_a_total_is_left_out_unless_the_visitor_keeps_it():
    page = give(panel(), b"fruit,count\napple,400\nplum,300\nfig,300\nTotaal,1000\n")
    (asked,) = [toggle for toggle in page.toggle if "Leave out" in toggle.label]
    assert asked.value
    assert "3 categories, 1,000 people" in page.success[0].value.replace("\\", "")
    checked(asked.set_value(False).run())
    assert "4 categories, 2,000 people" in page.success[0].value.replace("\\", "")
    (asked,) = [toggle for toggle in page.toggle if "Leave out" in toggle.label]
    checked(asked.set_value(True).run())
    checked(widget(page, "Use this distribution").click().run())
    assert widget(page, "Categories K").value == 3
    assert widget(page, "Users N").value == 1000


def test_the_order_is_that_which_is_chosen():
    page = give(panel(), b"fruit,count\nplum,300\nfig,200\napple,500\n")
    checked(widget(page, "Order of categories").set_value("name").run())
    checked(widget(page, "Use this distribution").click().run())
    assert charts(page)[0]["layout"]["xaxis"]["ticktext"] == ["apple", "fig", "plum"]
