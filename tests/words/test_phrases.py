"""Numbers in sentences."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rr_core.rounding import counted, factor, odds, p_is, p_value, round_down, round_up
from rr_core.words.phrases import (
    METRIC_NAMES,
    MetricNames,
    minus,
    off_by,
    practically_equal,
    roughly,
    roughly_times,
    times,
)


def test_counts():
    assert [counted(n, "cell") for n in (0, 1, 2, 1000)] == ["0 cells", "1 cell", "2 cells", "1,000 cells"]


@pytest.mark.parametrize(
    ("ratio", "three", "two"),
    [
        (1.0, "1", "1"),
        (1.0345, "1.03", "1.03"),
        (1.236, "1.24", "1.2"),
        (30.34, "30.3", "30"),
        (429.4, "429", "430"),
        (3158.2, "3,158", "3,200"),
        (12345.6, "12,346", "12,000"),
        (math.inf, "infinitely many", "infinitely many"),
    ],
)
def test_ratios(ratio, three, two):
    assert times(ratio) == f"{three} times"
    assert times(ratio, 2) == f"{two} times"


@pytest.mark.parametrize(
    ("ratio", "written"),
    [
        (1.0345, "1.03"),
        (1.236, "1.2"),
        (9.96, "10"),
        (14.9, "15"),
        (30.34, "30"),
        (149, "150"),
        (372, "400"),
        (429.4, "400"),
        (953, "950"),
        (3158.2, "3,000"),
    ],
)
def test_simulated_ratios_have_the_digits_that_they_repeat(ratio, written):
    assert roughly(ratio) == f"{written} times"
    assert roughly_times(ratio) == f"about {written} times"
    assert abs(float(written.replace(",", "")) / ratio - 1) < 0.2
    assert roughly_times(math.inf) == "infinitely many times"


@pytest.mark.parametrize(
    ("epsilon", "written"),
    [
        (0.0, "1"),
        (0.01, "1.0101"),
        (math.log(42.25), "42.3"),
        (math.log(27.113), "27.2"),
        (math.log(3), "3"),
        (7.0, "1,097"),
        (20.0, "4.86·10⁸"),
        (744.4, "1.95·10³²³"),
    ],
)
def test_odds_are_rounded_up(epsilon, written):
    assert odds(epsilon) == written


@given(st.floats(1e-9, 700))
def test_no_odds_are_understated(epsilon):
    mantissa, _, power = odds(epsilon).partition("·10")
    exponent = int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")) or 0)
    told = math.log(float(mantissa.replace(",", ""))) + exponent * math.log(10)
    assert epsilon * (1 - 1e-11) - 2e-16 <= told <= epsilon + min(0.011, 0.2 * epsilon)


def test_bounds_in_words():
    assert [factor(ratio) for ratio in (1, 1.00123456, 12345.2)] == ["1", "1.00124", "12,346"]
    chances = [(p_value(chance), p_is(chance)) for chance in (0, 0.0009999, 0.001, 0.04996, 0.05001, 1)]
    assert chances == [
        ("< 0.001", "p < 0.001"),
        ("< 0.001", "p < 0.001"),
        ("0.001", "p = 0.001"),
        ("0.05", "p = 0.05"),
        ("0.0501", "p = 0.0501"),
        ("1", "p = 1"),
    ]
    assert off_by([0.5, 0.5], [0.5 + 2e-16, 0.5 - 2e-16]) == "0%"
    assert (round_up(27.113), round_down(27.19), round_down(0.3), round_up(0.0)) == (27.2, 27.1, 0.3, 0)


def test_what_is_no_difference():
    assert practically_equal(1.0049)
    assert not practically_equal(1.0051)
    assert not practically_equal(math.nan)


@pytest.mark.parametrize(
    ("text", "written"),
    [("-0.99", "−0.99"), ("-0.00", "0.00"), ("+0.00", "0.00"), ("0.25", "0.25"), ("+1", "+1")],
)
def test_signs(text, written):
    assert minus(text) == written


def test_no_two_errors_have_one_name():
    for field in MetricNames._fields:
        names = [getattr(one, field) for one in METRIC_NAMES.values()]
        assert len(set(names)) == len(names) or field == "mean_in_text", field
    for name, words in (
        ("tv", "total variation"),
        ("max", "largest"),
        ("rmse", "rmse"),
        ("mse", "squared error"),
    ):
        found = METRIC_NAMES[name]
        assert all(words in text.lower() for text in found[1:]), name
