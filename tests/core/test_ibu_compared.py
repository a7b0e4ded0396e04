"""Several runs of IBU in one batch."""

from dataclasses import replace

import numpy as np
import pytest

from rr_core import Scenario, ibu_path
from rr_core.iteration import figure4
from rr_core.iteration.compared import paper_figure4, under_each
from rr_core.iteration.progress import TOLERANCES

SCENARIO = Scenario("zipf", 40, 1.2, 1.5, 3000, 9)


def test_each_run_is_that_of_the_scenario_with_that_epsilon():
    draw = SCENARIO.draw()
    found = under_each(draw, [0.5, 1.5, 4.0], 400)
    assert [one.epsilon for one in found.scenarios] == [0.5, 1.5, 4.0]
    assert not found.stopped
    for i, epsilon in enumerate((0.5, 1.5, 4.0)):
        alone = replace(SCENARIO, epsilon=epsilon).draw()
        np.testing.assert_array_equal(alone.true_counts, draw.true_counts)
        path = ibu_path(alone.counts, alone.mechanism, found.iterations)
        np.testing.assert_allclose(found.squared_distance[i], path.squared_distance, rtol=1e-9, atol=1e-28)
        every = ibu_path(alone.counts, alone.mechanism, range(401)).squared_distance
        for tolerance, reached in zip(TOLERANCES, found.reached[i], strict=True):
            wanted = next((t for t in range(401) if every[t] <= tolerance), np.nan)
            np.testing.assert_equal(reached, wanted)
    assert 0 < np.isnan(found.reached).sum() < found.reached.size


def test_only_some_of_the_runs():
    found = under_each(SCENARIO.draw(), [0.5, 1.5, 4.0], 50)
    part = found.only(1, 3)
    assert part.scenarios == found.scenarios[1:]
    np.testing.assert_array_equal(part.squared_distance, found.squared_distance[1:])
    np.testing.assert_array_equal(part.reached, found.reached[1:])


def test_stopping_keeps_what_was_reached():
    found = under_each(SCENARIO.draw(), [0.5, 1.5], 10**7, lambda done: done > 1000)
    assert found.stopped
    assert 1000 < found.iterations[-1] < 10**7
    assert found.squared_distance.shape == (2, len(found.iterations))
    end = ibu_path(SCENARIO.draw().counts, SCENARIO.mechanism, [int(found.iterations[-1])])
    assert found.squared_distance[1, -1] == pytest.approx(float(end.squared_distance[0]), rel=1e-9)


def test_paper_figure_is_the_twelve_settings():
    found = paper_figure4(3, lambda done: True)  # stopped at the first look
    assert found.scenarios == figure4.settings(3)
    assert found.squared_distance.shape[0] == 12
    for i in (0, 7, 11):
        draw = found.scenarios[i].draw()
        path = ibu_path(draw.counts, draw.mechanism, found.iterations)
        np.testing.assert_allclose(found.squared_distance[i], path.squared_distance, rtol=1e-9, atol=1e-28)
