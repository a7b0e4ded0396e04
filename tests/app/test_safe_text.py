"""Labels from files, made safe to show and to save."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rr_core.plain_text import csv_cell, markdown, plain
from rr_core.words.phrases import display

ANY_TEXT = st.text(st.characters())  # surrogates included


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("Self-emp-not-inc", "Self-emp-not-inc"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("R&D", "R&amp;D"),
        ('say "hi"', 'say "hi"'),
        ("a\u202egnp.exe", "agnp.exe"),
        ("\u2066x\u2069", "x"),
        ("two\nlines\tand\x00more", "two lines and more"),
        ("👩‍👧 family", "👩‍👧 family"),
        ("\ud800", "\ufffd"),
        ("?", "?"),
    ],
)
def test_display(label: str, shown: str) -> None:
    assert display(label) == shown


def test_display_cuts_before_it_escapes() -> None:
    assert display("&" * 41) == "&amp;" * 39 + "…"
    assert display("&" * 40) == "&amp;" * 40
    assert display("abcdef", max_length=4) == "abc…"
    assert display("abc   def", max_length=6) == "abc…"


@given(ANY_TEXT, st.integers(1, 60))
@example("\u202e" * 10_000 + "abc", 5)
def test_display_is_always_harmless(label: str, length: int) -> None:
    shown = display(label, length)
    assert not re.search("[<>\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert re.sub("&(amp|lt|gt);", "", shown).count("&") == 0
    assert len(html.unescape(shown)) <= length or "&" in label  # a label may spell an entity itself
    assert len(plain(label, length)) <= length
    shown.encode()


@given(ANY_TEXT)
def test_markdown_escapes_every_active_character(text: str) -> None:
    escaped = markdown(text)
    joiner = "\u2060"  # breaks addresses that would become links
    assert re.sub(r"\\(.)", r"\1", escaped).replace(joiner, "") == plain(text, 400).replace(joiner, "")
    assert not re.search(r"[`*_\[\]<>$:~#|]", re.sub(r"\\.", "", escaped))


@pytest.mark.parametrize("text", ["see http://evil.example", "www.evil.example", "a@evil.example"])
def test_addresses_are_broken_before_they_become_links(text: str) -> None:
    assert not re.search(r"://|www[.]|a@", markdown(text).replace("\\", ""))


@pytest.mark.parametrize(
    "label", ["-9000", "+5", "-1.5", "-1e-7", "17", "01001", "", "a=b", "x-y", "?", "Ann"]
)
def test_csv_cell_leaves_harmless_text_alone(label: str) -> None:
    assert csv_cell(label) == label


@pytest.mark.parametrize(
    "label",
    ["=1+1", "+1-800", "-cmd", "@SUM(A1)", "\tx", "\rx", "\n=1", " =1+1", "＝1+1", "-", "--1", "-1+cmd|'x'"],
)
def test_csv_cell_disarms_formulas(label: str) -> None:
    assert csv_cell(label) == "'" + label


@given(ANY_TEXT)
def test_csv_cell_never_starts_like_a_formula(label: str) -> None:
    cell = csv_cell(label)
    assert cell.removeprefix("'") == label.removeprefix("'")
    assert not cell.lstrip().startswith(tuple("=@＝＋－＠"))
    if cell.startswith(("+", "-")):
        float(cell)
