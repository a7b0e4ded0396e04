"""The parts of long pages: the link opens one, a tab goes into the link, and an unknown one is told."""

import re

import pytest

from pages._ui.frame import part_in_link
from pages._ui.link import Binding
from tests.app.opening import ABOUT_SCENARIO, charts, open_part, opened, parts_of, words

LONG = {name: parts for name in ABOUT_SCENARIO if len(parts := parts_of(name)) > 1}


@pytest.mark.parametrize("name", LONG)
def test_a_link_opens_a_part_and_an_unknown_one_is_told(name):
    first, *_, last = LONG[name]
    page = opened(name, f"part={last}")
    assert page.session_state[f"_part_of_{name}"] == (last, ())
    assert len(page.tabs) == len(LONG[name])
    page = opened(name, "part=elsewhere")
    shown, notes = page.session_state[f"_part_of_{name}"]
    assert shown == first
    assert len(notes) == 1
    assert "elsewhere" in notes[0]


# Parts that are drawn only while they are open, with a word of theirs.
CLOSED = [
    ("noisy_histogram", "person", "Their truth is"),
    ("noisy_histogram", "film", "arrows step|Films are made"),
    ("noisy_histogram", "channel", ""),
    ("inv_negatives", "empty", ""),
    ("estimators", "hill", "few enough to drag"),
    ("estimators", "film", "arrows step|Films are made"),
    ("estimators", "steps", "arrows step|for up to 50"),
    ("experiments", "protocols", "measured anew"),
    ("plan", "surveys", "asks one question|drawn at random"),
]
ENDS = [
    *("k=2&eps=0.01&n=1", "k=40&n=1000000000&eps=20", "dist=zipf&k=1423000&s=1.3&eps=8&n=1664500"),
    "truth=hidden",
]


@pytest.mark.parametrize(
    ("name", "part", "word", "query"),
    [(*one, ENDS[i % 4]) for i, one in enumerate(CLOSED)],
)
def test_a_part_opens_at_ends_of_the_controls_and_not_before(name, part, word, query):
    """Each at one of them; at others: tests/app/test_every_view.py."""
    page = opened(name, query)
    before = len(charts(page)) + len(page.markdown) + len(page.caption)
    page = open_part(page, name, part)
    assert len(charts(page)) + len(page.markdown) + len(page.caption) > before
    assert re.search(word, words(page))


def test_the_first_part_needs_no_parameter():
    parts: Binding[str] = part_in_link("plan", {"one": "First", "two": "Second"})
    assert parts.write("one") == {"part": None}
    assert parts.write("two") == {"part": "two"}
    assert parts.read({}) == ("one", ())
    assert parts.read({"part": "two"}) == ("two", ())
