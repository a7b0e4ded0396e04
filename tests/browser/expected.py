"""What the app must show for a scenario, worked out with rr_core alone."""

from __future__ import annotations

from functools import cache

from rr_core import Scenario
from rr_core.registry import ESTIMATORS
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
