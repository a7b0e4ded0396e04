"""The cost of four ways to the estimate: what is measured, what is extrapolated, and from what."""

import itertools
from typing import get_args

import numpy as np
import pytest

from rr_core import RandomizedResponse, Scenario, ibu_path
from rr_core.ibu.convergence import first_reached
from rr_core.ibu.costs import (
    LARGEST_MATRIX,
    Cost,
    IterationsNeeded,
    Method,
    compare_costs,
    ibu_by_categories,
    iterations_needed,
    time_iterations,
)
from rr_core.ibu.path import log_spaced
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


@pytest.mark.parametrize(("setup", "pace"), [(0.01, 1e-3), (0.0, 1e-5), (0.5, 1e-3), (0.01, 0.5)])
def test_a_long_run_is_extrapolated_from_a_short_one(setup, pace):
    machine = Machine(setup, pace)
    found = time_iterations(machine.run, 1_000_000, 0.15, clock=machine.clock)
    assert found.extrapolated
    assert found.setup == pytest.approx(setup, abs=1e-12)
    assert found.per_iteration == pytest.approx(pace, rel=1e-6)
    assert found.total == pytest.approx(setup + 1_000_000 * pace, rel=1e-6)
    assert 0.05 <= max(machine.runs) * pace < max(0.15, 2 * pace)


@pytest.mark.parametrize(
    ("pace", "iterations", "allowed", "total", "run"),
    [
        (1e-4, 200, None, 0.03, 200),  # a short run is measured in full
        (1e-4, 0, None, 0.01, 0),  # no iteration costs the setup, which is not the time of an iteration
        (1e-6, 5000, 300, 0.015, 300),  # no more are run than allowed
    ],
)
def test_what_is_run_and_what_it_adds_up_to(pace, iterations, allowed, total, run):
    machine = Machine(0.01, pace)
    found = time_iterations(machine.run, iterations, 0.15, allowed, clock=machine.clock)
    assert found.extrapolated == (run < iterations)
    assert found.total == pytest.approx(total)
    assert found.per_iteration == (pytest.approx(pace) if iterations else None)
    assert max(machine.runs) == run


def test_a_slow_moment_of_the_machine_does_not_count():
    machine, delays = Machine(0.001, 1e-4), itertools.cycle([0.002, 0.0, 0.0])

    def run(n):
        machine.run(n)
        machine.now += next(delays)

    found = time_iterations(run, 100, 0.15, clock=machine.clock)
    assert found.setup == pytest.approx(0.001)
    assert found.total == pytest.approx(0.011)


def test_the_loop_over_categories_is_that_of_the_listing():
    draw = Scenario("zipf", 40, 1.0, 1.0, 500, 1).draw()
    phi = draw.counts / 500
    for n in (0, 1, 30):
        theta = ibu_by_categories(phi, draw.mechanism, n)
        np.testing.assert_allclose(theta, listing.ibu(phi, draw.mechanism.p, n), rtol=1e-12)
    certain = ibu_by_categories(np.array([0.25, 0.0, 0.75]), RandomizedResponse(3, 700), 3)
    np.testing.assert_allclose(certain, [0.25, 0, 0.75], atol=1e-15)


@pytest.mark.parametrize("tolerance", [0.5, 1e-2, 1e-4])
def test_the_iterations_to_a_certificate(tolerance):
    histogram, mechanism = [50, 30, 20, 10, 5], RandomizedResponse(5, 1.0)
    path = ibu_path(histogram, mechanism, log_spaced(1000))
    wanted = first_reached(path, tolerance).certificate
    assert iterations_needed(histogram, mechanism, tolerance, 60.0) == IterationsNeeded(wanted, True)


def test_more_iterations_than_the_first_thousand():
    """The run is made longer until it gets there."""
    histogram, mechanism = [50, 30, 20, 10, 5], RandomizedResponse(5, 0.05)
    found = iterations_needed(histogram, mechanism, 1e-8, 60.0)
    path = ibu_path(histogram, mechanism, [found.iterations * 9 // 10, found.iterations])
    assert found.reached
    assert found.iterations > 1000
    assert path.certificate[0] > 1e-8 >= path.certificate[1]


def test_a_search_is_given_up():
    found = iterations_needed([50, 30, 20], RandomizedResponse(3, 1e-6), 1e-12, 0.01)
    assert not found.reached
    assert 0 < found.iterations < 1_000_000


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


def test_where_no_iteration_is_needed_none_is_timed():
    costs = compare_costs([5, 5, 5], RandomizedResponse(3, 1.0), budget=TINY)
    assert [cost.needed for cost in costs] == [None, *[IterationsNeeded(0, True)] * 3]
    assert all(cost.seconds > 0 and cost.seconds_per_iteration is None for cost in costs)


def test_iterations_that_are_known_are_not_counted_again():
    draw = Scenario().draw()
    for needed in (IterationsNeeded(7, True), IterationsNeeded(7, False)):
        costs = compare_costs(draw.counts, draw.mechanism, 1e-3, needed, TINY)
        assert [cost.needed for cost in costs] == [None, needed, needed, needed]


def test_the_matrix_is_not_built_where_it_would_not_fit():
    draw = Scenario("zipf", LARGEST_MATRIX + 1, 1.0, 8.0, 5000, 1).draw()
    matrix = compare_costs(draw.counts, draw.mechanism, 0.1, IterationsNeeded(3, True), TINY)[3]
    assert matrix.seconds is None
    assert matrix.seconds_per_iteration is None


def test_how_many_times_as_long():
    exact, slow, skipped = (Cost("ibu_levels", seconds) for seconds in (0.5, 2.0, None))
    assert slow.ratio_to(exact) == 4
    assert skipped.ratio_to(exact) is None
    assert exact.ratio_to(skipped) is None
