"""How often the intervals hold the truth and the test of epsilon is right, as measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from rr_core.reports.exact_tests import EXTREME_CHANCE
from rr_core.reports.measured import (
    CATEGORIES,
    COVERAGE,
    COVERAGE_COLLECTIONS,
    REJECTION_LEVEL,
    REJECTIONS,
    SIZE_COLLECTIONS,
    Coverage,
    coverage_range,
)

_COVERAGE_POPULATIONS = {
    "falling": "half empty, the rest falling as 1/rank",
    "zipf 1.3": "Zipf, s = 1.3",
    "zipf 2.5": "Zipf, s = 2.5",
}
_TEST_POPULATIONS = {
    "half": "half of the categories empty, the others equal",
    "point": "everybody in one category",
    "zipf": "Zipf, s = 2.5",
    "uniform": "uniform",
}
_CATEGORIES = {
    "empty": "nobody has it",
    "small": "small share",
    "large": "large share",
    "all": "all K at once",
}
_STATED = (0.8, 1.0, 1.2)
_USERS = {"fixed": "these people", "sampled": "their population"}


def section() -> None:
    """Fold away two tables: coverage of the intervals, and size and power of the test."""
    with st.expander("Do the intervals and the test keep their word? Measured"):
        st.markdown(_coverage())
        st.markdown(_test())


def _coverage() -> str:
    """In how many collections the 95% intervals held the truth."""
    body = []
    for setting in dict.fromkeys(map(_setting, COVERAGE)):
        population, k, n, epsilon, users = setting
        measured = {row.categories: f"{row.percent:.1f}" for row in COVERAGE if _setting(row) == setting}
        named = [_COVERAGE_POPULATIONS[population], f"{k:,}", f"{n:,}", f"{epsilon:g}", _USERS[users]]
        body.append([*named, *(measured.get(categories, "–") for categories in CATEGORIES)])
    low, high = coverage_range()
    heads = ("population", "K", "N", "ε", "whose shares", *(_CATEGORIES[name] for name in CATEGORIES))
    return (
        f"**Intervals of 95%: in how many of {COVERAGE_COLLECTIONS:,} simulated collections did they hold the truth?** "
        f"Those of Inv held it in {low:.1f}% to {high:.1f}% of them; cut at 0 they hold a share of 0 more often. Small "
        f"means below three standard deviations of the noise.\n\n{_table(heads, body)}"
    )


def _test() -> str:
    """How often the test rejects, at the true epsilon and 20% beside it."""
    settings = dict.fromkeys((row.k, row.n, row.epsilon, row.users, row.population) for row in REJECTIONS)
    body = []
    for setting in settings:
        k, n, epsilon, users, population = setting
        found = {
            row.stated: f"{row.percent:.1f}%"
            for row in REJECTIONS
            if (row.k, row.n, row.epsilon, row.users, row.population) == setting
        }
        cells = [found.get(stated, "–") for stated in _STATED]
        body.append(
            [f"{k:,}", f"{n:,}", f"{epsilon:g}", _USERS[users], _TEST_POPULATIONS[population], *cells]
        )
    heads = ("20% too small", "right", "20% too large")
    table = _table(("K", "N", "true ε", "truth", "population", *heads), body)
    small, right, large = ([row.percent for row in REJECTIONS if row.stated == stated] for stated in _STATED)
    return (
        f"**The p-value of ε: in how many simulated collections was it {REJECTION_LEVEL:.0%} or less?** In these "
        f"settings at the right ε in {max(right):.1f}% of {SIZE_COLLECTIONS:,} at most, at one that is 20% too small in "
        f"{min(small):.0f}% to {max(small):.0f}% of them, by how clearly the reports show the noise, and at one that is "
        f"20% too large in {max(large):.1f}% at most: the test is not made to find those. An ε is rejected too where a "
        f"category got far more reports than N·p, or far fewer than N·q: a right one in {EXTREME_CHANCE:.1%} of "
        f"collections at most.\n\n{table}"
    )


def _setting(row: Coverage) -> tuple[str, int, int, float, str]:
    return row.population, row.k, row.n, row.epsilon, row.users


def _table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "--:|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(cells) + " |" for cells in body)])
