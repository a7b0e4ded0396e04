"""The map of the plan and the simulated curves: what is drawn is what the core works out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rr_core import zipf
from rr_core.figures.plan_map import TargetFrontier, levels, plan_map
from rr_core.figures.style import reading
from rr_core.plan.landscape import Landscape, frontier, landscape
from rr_core.plan.solve import achieved, required_n
from rr_core.plan.targets import Target
from rr_core.rounding import percent
from tests.figures.samples import named, values
from tests.figures.test_every_figure import check
from tests.sentences import holds

K, EPSILONS, USERS = 12, np.geomspace(0.1, 10, 9), np.geomspace(1e2, 1e9, 8)
TARGETS = [Target("rmse", 0.005), Target("max", 0.02), Target("smallest", 0.03, 0.9), Target("top", 3, 0.9)]
EVERY = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.kind)
HERE = (1.0, 2000.0)


@cache
def landscape_of(target):
    return landscape(target, K, zipf(K, 1.2), epsilons=EPSILONS, n=USERS)


@cache
def frontier_of(target):
    return TargetFrontier(target, EPSILONS, frontier(target, K, zipf(K, 1.2), EPSILONS))


def drawn(target, found=(1.0, 50_000.0)):
    return plan_map(landscape_of(target), target, frontier_of(target), HERE, found)


@pytest.mark.slow
@EVERY
def test_map_is_valid_and_holds_what_the_goal_takes(target):
    nowhere = TargetFrontier(target, EPSILONS, np.full(9, np.inf))
    check(plan_map(landscape_of(target), target, nowhere, HERE, None))
    figure = drawn(target, (20.0, 1e12))
    check(figure)
    line = named(figure, "users needed")
    for epsilon, users in zip(values(line, "x")[::8], values(line)[::8], strict=True):
        assert users == required_n(target, K, epsilon, zipf(K, 1.2))
    lines = [trace for trace in figure.data if trace.name.endswith("%")]  # of equal value
    assert len(lines) >= 3
    for line in lines:
        level = float(line.name.rstrip("%").replace(",", "")) / 100
        assert percent(level) == line.name
        for epsilon, n in zip(values(line, "x")[1::6], values(line)[1::6], strict=True):
            if np.isfinite(n) and target.kind != "top":  # a chance climbs from 0 to 1 between two cells
                assert achieved(target, K, epsilon, n, zipf(K, 1.2)) == pytest.approx(level, rel=0.08)


@holds("the ranking is right with probability at least {}", "{} at most {}")
@EVERY
def test_dotted_region_is_where_the_target_is_met(target):
    area = named(drawn(target), "goal reached")
    assert area.fillpattern.shape == "."
    x, y = values(area, "x"), values(area)
    needed = dict(zip(x[: x.size // 2], y[: x.size // 2], strict=True))
    assert (y[x.size // 2 :] > USERS[-1]).all()
    met = np.array([[target.met_by(value) for value in row] for row in landscape_of(target).values])
    inside = np.array([[n >= needed[epsilon] for epsilon in EPSILONS] for n in USERS])
    # The exact tails are saw-toothed in N: only above the border the target is met for good.
    assert met[inside].all()
    assert (met == inside).mean() > 0.97


def test_what_is_reached_in_the_corner_of_the_map_is_enough():
    """To be told so surely 1e9 + 10 users are worked out for what 1e9 reach, by rounding."""
    reached = achieved(Target("smallest", 0.5), 3, 20.0, 1e9, None, users="sampled")
    target, epsilons = Target("smallest", reached), np.array([10.0, 20.0])
    edge = TargetFrontier(target, epsilons, frontier(target, 3, None, epsilons, users="sampled"))
    assert 1 < edge.users[-1] / 1e9 < 1 + 1e-7
    shown = landscape(target, 3, None, epsilons=epsilons, n=[1.0, 1e9], users="sampled")
    assert reading(plan_map(shown, target, edge, (20.0, 1e9), None)).startswith("Orange dots")


@EVERY
def test_lighter_is_better_and_points_say_the_value(target):
    figure = drawn(target)
    shade = np.asarray(named(figure, "map").z)
    # One more user, or more epsilon, is never darker.
    assert (np.diff(shade, axis=0) >= -1e-6).all()
    assert (np.diff(shade, axis=1) >= -1e-6).all()
    points, at = named(figure, "click anywhere"), 4 * EPSILONS.size + 4
    assert (values(points, "x")[at], values(points)[at]) == (EPSILONS[4], USERS[4])
    exact = achieved(target, K, EPSILONS[4], USERS[4], zipf(K, 1.2))
    shown = float(points.text[at].rstrip("%")) / 100
    assert shown == pytest.approx(exact, rel=0.006)
    assert shown <= exact or target.kind != "top"


@pytest.mark.parametrize(
    ("target", "reached", "is_interpolated", "texts"),
    [
        (TARGETS[3], [0.2, 0.99999, 0.3, 1 - 1e-9], [0, 0, 0, 0], ["20%", "99.99%", "30%", "99.99%"]),
        (
            TARGETS[1],
            [0.20011, 0.1234, 0.3, 0.4],
            [0, 1, 1, 1],
            ["20.1%", "about 12%", "about 30%", "about 40%"],
        ),
        (TARGETS[2], [np.inf, 1.5, 1.0, 0.25], [0, 0, 0, 0], ["none", "none", "100%", "25%"]),
    ],
    ids=["never rounded up to certainty", "interpolated", "no share"],
)
def test_a_value_is_told_as_sure_as_it_is(target, reached, is_interpolated, texts):
    cells, between = np.reshape(reached, (2, 2)), np.reshape(is_interpolated, (2, 2)).astype(bool)
    figure = plan_map(Landscape(EPSILONS[:2], USERS[:2], cells, between), target, None, HERE, None)
    check(figure)
    assert list(named(figure, "click anywhere").text) == texts


@holds("Nothing on this map is enough for the goal; the circle is {}")
def test_places_are_marked():
    figure = drawn(TARGETS[0], (0.5, 12_345.0))
    here, found = named(figure, "you"), named(figure, "the plan")
    assert (values(here, "x")[0], values(here)[0]) == HERE
    assert (values(found, "x")[0], values(found)[0]) == (0.5, 12_345)
    assert here.marker.symbol != found.marker.symbol
    without = plan_map(landscape_of(TARGETS[0]), TARGETS[0], None, HERE, None)
    assert not [trace for trace in without.data if trace.name.startswith(("the plan", "goal reached"))]
    for users in (np.inf, 2 * USERS[-1]):
        beyond = TargetFrontier(TARGETS[0], EPSILONS, np.full(9, users))
        text = reading(plan_map(landscape_of(TARGETS[0]), TARGETS[0], beyond, HERE, None))
        assert text.startswith("Nothing on this map is enough")


def test_levels_are_round_and_inside():
    assert levels(np.array([[0.003, 4.0]]), TARGETS[0]) == pytest.approx([0.01, 0.1, 1.0])
    assert levels(np.array([[0.3, np.inf]]), TARGETS[0]) == pytest.approx([0.5, 1.0, 2.0, 5.0])
    assert not levels(np.array([[0.25, 0.25]]), TARGETS[0])
