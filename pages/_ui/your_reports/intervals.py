"""How often the intervals hold the truth and the test of epsilon is right, as measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from rr_core.collected.coverage import COVERAGE, Coverage, fall_short, held_by_inv
from rr_core.collected.coverage import POPULATIONS as _COVERED
from rr_core.collected.fit_measured import LEVEL, MEASURED, POPULATIONS
from rr_core.comparison import VALID
from rr_core.figures.style import QUANTITIES

_CATEGORIES = {
    "empty": "nobody has it",
    "small": "small share",
    "large": "large share",
    "all": "all K at once",
}
# The intervals that the page shows: Inv's in closed form, the others' from the bootstrap.
_METHODS = {"closed": "Inv"}
_METHODS |= {name: QUANTITIES[name].name.replace("*", "\\*") for name in VALID}
_STATED = (0.8, 1.0, 1.2)
_USERS = {"fixed": "these people", "sampled": "their population"}


def section() -> None:
    """Fold away two tables: coverage of the intervals, and size and power of the test."""
    with st.expander("Do the intervals and the test keep their word? Measured"):
        st.markdown(_coverage())
        st.markdown(_test())


def _coverage() -> str:
    """In how many collections the 95% intervals held the truth."""
    shown = [row for row in COVERAGE if row.method in _METHODS]
    settings = dict.fromkeys(map(_setting, shown))
    body = []
    for setting in settings:
        found = {row.method: row for row in shown if _setting(row) == setting}
        population, k, n, epsilon, users, categories = setting
        cells = [_percent(found.get(method)) for method in _METHODS]
        named = [
            _COVERED[population],
            f"{k:,}",
            f"{n:,}",
            f"{epsilon:g}",
            _USERS[users],
            _CATEGORIES[categories],
        ]
        body.append([*named, *cells])
    low, high = held_by_inv()
    worst = fall_short()
    table = _table(("population", "K", "N", "ε", "whose shares", "category", *_METHODS.values()), body)
    return (
        "**Intervals of 95%: in how many of at least 2,000 simulated collections did they hold the truth?** Small means "
        f"below three standard deviations of the noise. Those of Inv held it in {low:.1f}% to {high:.1f}%. **Those of "
        "the repaired estimates come from simulations at MLE\\*, and know nothing of what the repair did to the reports "
        "at hand.** Where many shares are small they fall far short, of the largest share too: down to "
        f"{worst.measured:.1f}% ({_METHODS[worst.method]}). The means of the table hide that single categories near one "
        "standard deviation of the noise are missed more often still. Where it matters, use the intervals of Inv."
        f"\n\n{table}"
    )


def _test() -> str:
    """How often the test rejects, at the true epsilon and 20% beside it."""
    settings = dict.fromkeys((row.k, row.n, row.epsilon, row.users, row.population) for row in MEASURED)
    body = []
    for setting in settings:
        k, n, epsilon, users, population = setting
        found = {
            row.stated: f"{row.rejected:.1f}%"
            for row in MEASURED
            if (row.k, row.n, row.epsilon, row.users, row.population) == setting
        }
        cells = [found.get(stated, "–") for stated in _STATED]
        body.append([f"{k:,}", f"{n:,}", f"{epsilon:g}", _USERS[users], POPULATIONS[population], *cells])
    heads = ("20% too small", "right", "20% too large")
    table = _table(("K", "N", "true ε", "truth", "population", *heads), body)
    return (
        f"**The test of ε at {LEVEL:.0%}: how often did it reject the stated ε?** At the right one it should be at most "
        f"{LEVEL:.0%}. Where no category is empty, nothing can be seen at all; an ε that is stated too large is never "
        f"found out.\n\n{table}"
    )


def _setting(row: Coverage) -> tuple[str, int, int, float, str, str]:
    return row.population, row.k, row.n, row.epsilon, row.users, row.categories


def _percent(row: Coverage | None) -> str:
    return "–" if row is None else f"{row.measured:.1f}"


def _table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "--:|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(cells) + " |" for cells in body)])
