"""Several runs of IBU in one batch."""

from dataclasses import replace

import numpy as np

from rr_core import Scenario, ibu_path
from rr_core.iteration import figure4
from rr_core.iteration.compared import paper_figure4, under_each

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
        np.testing.assert_allclose(found.certificate[i], path.certificate, rtol=1e-9, atol=1e-14)


def test_only_some_of_the_runs():
    found = under_each(SCENARIO.draw(), [0.5, 1.5, 4.0], 50)
    part = found.only(1, 3)
    assert part.scenarios == found.scenarios[1:]
    np.testing.assert_array_equal(part.squared_distance, found.squared_distance[1:])
    np.testing.assert_array_equal(part.certificate, found.certificate[1:])


def test_stopping_keeps_what_was_reached():
    found = under_each(SCENARIO.draw(), [0.5, 1.5], 10**7, lambda done: done > 1000)
    assert found.stopped
    assert 1000 < found.iterations[-1] < 10**7
    assert found.squared_distance.shape == (2, len(found.iterations))


def test_paper_figure_is_the_twelve_settings():
    found = paper_figure4(3, lambda done: True)  # stopped at the first look
    assert found.scenarios == figure4.settings(3)
    assert found.squared_distance.shape[0] == 12
    for i in (0, 7, 11):
        draw = found.scenarios[i].draw()
        path = ibu_path(draw.counts, draw.mechanism, found.iterations)
        np.testing.assert_allclose(found.squared_distance[i], path.squared_distance, rtol=1e-9, atol=1e-28)
