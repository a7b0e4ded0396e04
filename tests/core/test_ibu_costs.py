"""The cost of four ways to the estimate: what is measured, what is extrapolated, and from what."""

from typing import get_args

import numpy as np
import pytest

from rr_core import RandomizedResponse, Scenario, ibu_path
from rr_core.ibu.costs import (
    LARGEST_MATRIX,
    IterationsNeeded,
    Method,
    compare_costs,
    ibu_by_categories,
    iterations_needed,
    time_iterations,
)
from tests.core import listing

TINY = 1e-4  # seconds: no test waits for a measurement


class Machine:
    """A clock that only work moves: ``setup`` seconds and ``pace`` for each iteration."""

    def __init__(self, setup, pace):
        self.now, self.setup, self.pace, self.runs = 0.0, setup, pace, []

    def clock(self):
        return self.now

    def run(self, n):
        self.runs.append(n)
        self.now += self.setup + n * self.pace


@pytest.mark.parametrize(("setup", "pace"), [(0.0, 1e-5), (0.01, 0.5)])
def test_a_long_run_is_extrapolated_from_a_short_one(setup, pace):
    machine = Machine(setup, pace)
    found = time_iterations(machine.run, 1_000_000, 0.15, clock=machine.clock)
    assert found.extrapolated
    assert found.setup == pytest.approx(setup, abs=1e-12)
    assert found.per_iteration == pytest.approx(pace, rel=1e-6)
    assert found.total == pytest.approx(setup + 1_000_000 * pace, rel=1e-6)
    assert 0.05 <= max(machine.runs) * pace < max(0.15, 2 * pace)
    in_full = time_iterations(machine.run, 3, 10.0, clock=machine.clock)
    assert not in_full.extrapolated
    assert in_full.total == pytest.approx(setup + 3 * pace)


def test_the_loop_over_categories_is_that_of_the_listing():
    draw = Scenario("zipf", 40, 1.0, 1.0, 500, 1).draw()
    phi = draw.counts / 500
    for n in (0, 1, 30):
        theta = ibu_by_categories(phi, draw.mechanism, n)
        np.testing.assert_allclose(theta, listing.ibu(phi, draw.mechanism.p, n), rtol=1e-12)
    certain = ibu_by_categories(np.array([0.25, 0.0, 0.75]), RandomizedResponse(3, 700), 3)
    np.testing.assert_allclose(certain, [0.25, 0, 0.75], atol=1e-15)


@pytest.mark.parametrize(("epsilon", "tolerance"), [(1.0, 1e-2), (1.0, 1e-4), (0.05, 1e-8)])
def test_the_iterations_to_a_certificate(epsilon, tolerance):
    """The run is made longer, beyond the first thousand, until it gets there."""
    histogram, mechanism = [50, 30, 20, 10, 5], RandomizedResponse(5, epsilon)
    found = iterations_needed(histogram, mechanism, tolerance, 60.0)
    path = ibu_path(histogram, mechanism, [found.iterations - 1, found.iterations])
    assert found.reached
    assert (found.iterations > 1000) == (epsilon == 0.05)
    assert not iterations_needed(
        histogram, RandomizedResponse(5, 1e-6), 1e-12, 0.01
    ).reached  # it is given up
    assert path.certificate[0] > tolerance >= path.certificate[1]


def test_four_ways_side_by_side():
    draw = Scenario().draw()
    costs = compare_costs(draw.counts, draw.mechanism, 1e-3, budget=TINY)
    assert len(costs) == 4
    exact, *iterated = costs
    assert [cost.method for cost in costs] == list(get_args(Method))
    assert exact.seconds > 0
    assert (exact.needed, exact.seconds_per_iteration, exact.extrapolated) == (None, None, False)
    for cost in iterated:
        assert cost.needed == iterated[0].needed
        assert cost.needed.iterations > 0
        assert cost.seconds > 0
        assert cost.seconds_per_iteration > 0


@pytest.mark.parametrize("needed", [IterationsNeeded(7, True), IterationsNeeded(7, False)])
def test_known_iterations_are_not_counted_again_and_a_matrix_that_would_not_fit_is_not_built(needed):
    draw = Scenario("zipf", LARGEST_MATRIX + 1, 1.0, 8.0, 5000, 1).draw()
    exact, *iterated, matrix = compare_costs(draw.counts, draw.mechanism, 0.1, needed, TINY)
    assert [cost.needed for cost in iterated] == [needed, needed]
    assert iterated[0].ratio_to(exact) == iterated[0].seconds / exact.seconds
    assert matrix.seconds is matrix.seconds_per_iteration is matrix.ratio_to(exact) is None
