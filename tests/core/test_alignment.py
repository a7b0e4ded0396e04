"""How often the repairs line up: each collection counted once, as `collinearity` sees it alone."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import Scenario, collinearity, inv
from rr_core.geometry.alignment import align

SCENARIOS = [
    Scenario("zipf", 12, 1.5, 1.0, 2000, 5),
    Scenario("zipf", 5, 0.5, 1.5, 300, 2),
    Scenario("uniform", 3, 0.0, 4.0, 1000, 3),
    Scenario("zipf", 4, 2.0, 0.01, 1, 3),
    Scenario("zipf", 3000, 1.2, 3.0, 30_000, 3),
]


def one_by_one(draw, times):
    tally, off = {"untouched": 0, "theorem2": 0, "wider": 0, "neither": 0}, []
    for reports in draw.repeat(0, times)[1]:
        place = collinearity(reports, draw.mechanism)
        if (inv(reports, draw.mechanism) >= 0).all():
            kind = "untouched"
        elif place.theorem2_holds:
            kind = "theorem2"
        elif place.same_support:
            kind = "wider"
        else:
            kind = "neither"
            off.append(place.residual / place.length)
        tally[kind] += 1
    return tally, off


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: f"{scenario.k}")
def test_counts_are_those_of_the_collections_one_by_one(scenario):
    draw = scenario.draw()
    times = 150 if scenario.k < 100 else 12
    *_, result = align(draw, times)
    tally, off = one_by_one(draw, times)
    assert {name: getattr(result, name) for name in tally} == tally
    assert result.done == sum(tally.values()) == times
    np.testing.assert_allclose(result.off, off, rtol=1e-9, atol=1e-13)


def test_all_four_kinds_occur():
    kinds = set()
    for scenario in SCENARIOS:
        *_, result = align(scenario.draw(), 60 if scenario.k < 100 else 2)
        kinds |= {name for name in ("untouched", "theorem2", "wider", "neither") if getattr(result, name)}
    assert kinds == {"untouched", "theorem2", "wider", "neither"}


def test_results_grow_step_by_step_and_can_be_left():
    draw = Scenario("zipf", 150_000, 1.2, 3.0, 30_000, 3).draw()
    steps = align(draw, 5)
    assert next(steps).done == 2
    assert next(steps).done == 4


def test_three_categories_are_always_on_one_line():
    *_, result = align(Scenario("zipf", 3, 1.0, 0.5, 50, 3).draw(), 300)
    assert result.done == 300
    assert (result.off < 1e-9).all()


def test_times_must_be_positive():
    with pytest.raises(ValueError, match="times must be an integer >= 1"):
        next(align(Scenario().draw(), 0))
