"""Numbers as people type them."""

from __future__ import annotations

import math
import time

import pytest

from rr_core import typed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        (" 0,25 ", 0.25),
        ("3/4", 0.75),
        ("ln 3", math.log(3)),
        ("LOG( 2,5 )", math.log(2.5)),
        ("ln 3/2", math.log(1.5)),
        ("1e-2", 0.01),
    ],
)
def test_what_is_a_number(text, value):
    assert typed.number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    ["", "three", "0", "-1", "nan", "inf", "1_0", "1/0", "ln 1", "ln -2", "1,000.5", "ln", "x" * 5000],
)
def test_what_is_none(text):
    with pytest.raises(ValueError, match=r"is not a number above 0: write it like 1\.5 or ln 3"):
        typed.number(text)


def test_a_text_longer_than_any_number_is_none():
    """Even where it would be one: what is read is bounded before it is read."""
    for longest in ("1" + "0" * typed.LONGEST, "0." + "1" * typed.LONGEST, " " * typed.LONGEST + "1.5"):
        assert 0 < float(longest) < math.inf
        with pytest.raises(ValueError, match="is not a number above 0"):
            typed.number(longest)


def test_no_pattern_backtracks_in_texts_within_the_limit(monkeypatch):
    """Without the limit they would be answered at once, too."""
    monkeypatch.setattr(typed, "LONGEST", 10**6)
    begin = time.thread_time()
    with pytest.raises(ValueError, match="is not a number above 0"):
        typed.number("ln" + " " * 20_000 + ")")
    assert time.thread_time() - begin < 1


@pytest.mark.parametrize(
    ("text", "value"), [("0.25", 0.25), ("25%", 0.25), (" 12,5 % ", 0.125), ("1/4", 0.25), ("150%", 1.5)]
)
def test_what_is_a_chance(text, value):
    assert typed.chance(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["", "%", "half", "-5%", "0"])
def test_what_is_no_chance(text):
    with pytest.raises(ValueError, match=r"write it like 0\.25"):
        typed.chance(text)
