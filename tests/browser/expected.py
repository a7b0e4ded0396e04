"""What the app must show for a scenario, worked out with rr_core alone."""

from __future__ import annotations

from functools import cache

from rr_core import Scenario
from rr_core.comparison import compare
from rr_core.registry import ESTIMATORS
from rr_core.rounding import number, percent
from rr_core.scenario import Draw

LINK = "dist=zipf&k=1000&s=1.3&eps=2&n=100000&seed=7"
SCENARIO = Scenario("zipf", 1000, 1.3, 2.0, 100_000, 7)
QUERY = {"dist": "zipf", "k": "1000", "s": "1.3", "eps": "2", "n": "100000", "seed": "7"}
SIDEBAR = {
    "Distribution": "Zipf",
    "Categories K": "1000",
    "Zipf exponent s": "1.3",
    "Exact s": "1.3",
    "Privacy ε": "2",
    "Exact ε": "2",
    "Users N": "100,000",
    "Exact N": "100,000",
}
ORDER = tuple(ESTIMATORS)


@cache
def drawn(scenario: Scenario = SCENARIO) -> Draw:
    return scenario.draw()


def differing_errors(shown: list[list[str]], draw: Draw) -> list[str]:
    """Cells of the error table that are not rr_core's number rounded to at least four digits."""
    result = compare(draw)
    pairs = [
        (cell, errors[name], percent if metric in ("tv", "max") else number)
        for (metric, errors), row in zip(result.errors.items(), shown, strict=True)
        for name, cell in zip(ORDER, row, strict=True)
    ]
    return [
        cell
        for cell, error, written in pairs
        if cell not in {written(error, digits) for digits in range(4, 16)}
    ]


def zeros_as_shown(draw: Draw) -> list[str]:
    return [f"{compare(draw).zeros[name]:,}" for name in ORDER[1:]]


def errors_and_zeros(table: list[list[str]]) -> tuple[list[list[str]], list[str]]:
    """From the table on the page: its rows of errors, and its row of zeros without Inv's dash."""
    cells = {row[0]: row[1:] for row in table}
    shown = [
        cells[name]
        for name in (
            "Squared error",
            "Off by (total variation)",
            "Largest error",
            "NLL per report",
            "Fits worse than MLE* by",
        )
    ]
    return shown, cells["Set to zero"][1:]
