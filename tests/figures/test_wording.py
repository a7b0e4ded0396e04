"""Numbers in sentences."""

from __future__ import annotations

import math

import pytest

from rr_core.figures.wording import (
    METRIC_NAMES,
    MetricNames,
    counted,
    minus,
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
