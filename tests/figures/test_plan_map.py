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
def test_map_is_valid_and_says_itself(target):
    for place in (None, (20.0, 1e12)):
        check(drawn(target, place))
    check(plan_map(landscape_of(target), target, None, HERE, None))
    check(
        plan_map(
            landscape_of(target), target, TargetFrontier(target, EPSILONS, np.full(9, np.inf)), HERE, None
        )
    )


@pytest.mark.slow
@EVERY
def test_border_is_the_users_needed(target):
    line = named(drawn(target), "users needed")
    for epsilon, users in zip(values(line, "x")[::4], values(line)[::4], strict=True):
        assert users == required_n(target, K, epsilon, zipf(K, 1.2))


def test_a_line_that_only_cuts_a_corner_has_no_name():
    target = TARGETS[0]
    wide = landscape(target, 200, zipf(200, 1.3), epsilons=np.geomspace(0.1, 10, 41), n=USERS)
    figure = plan_map(wide, target, None, HERE, None)
    assert np.isfinite(values(named(figure, "0.0001%"))).mean() < 0.15
    names = {note.text for note in figure.layout.annotations}
    assert names == {"100% off", "10% off", "1% off", "0.1% off", "0.01% off", "0.001% off"}


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
    figure, grid = drawn(target), landscape_of(target)
    shade = np.asarray(named(figure, "map").z)
    order = grid.values if target.kind == "top" else -grid.values
    # One more user, or more epsilon, is never darker.
    assert (np.diff(shade, axis=0) >= -1e-6).all()
    assert (np.diff(shade, axis=1) >= -1e-6).all()
    assert (
        np.corrcoef(np.argsort(np.argsort(order.ravel())), np.argsort(np.argsort(shade.ravel())))[0, 1] > 0.5
    )
    points = named(figure, "click anywhere")
    at = 4 * EPSILONS.size + 4
    assert (values(points, "x")[at], values(points)[at]) == (EPSILONS[4], USERS[4])
    exact = achieved(target, K, EPSILONS[4], USERS[4], zipf(K, 1.2))
    shown = float(points.text[at].rstrip("%")) / 100
    assert shown == pytest.approx(exact, rel=0.006)
    assert shown <= exact or target.kind != "top"


def test_a_chance_is_never_rounded_up_to_certainty():
    target = TARGETS[3]
    sure = Landscape(
        EPSILONS[:2], USERS[:2], np.array([[0.2, 0.99999], [0.3, 1 - 1e-9]]), np.zeros((2, 2), dtype=bool)
    )
    points = named(plan_map(sure, target, None, HERE, None), "click anywhere")
    assert list(points.text) == ["20%", "99.99%", "30%", "99.99%"]


def test_an_interpolated_value_is_called_so():
    between = np.array([[False, True], [True, True]])
    made = Landscape(EPSILONS[:2], USERS[:2], np.array([[0.20011, 0.1234], [0.3, 0.4]]), between)
    points = named(plan_map(made, TARGETS[1], None, HERE, None), "click anywhere")
    assert list(points.text) == ["20.1%", "about 12%", "about 30%", "about 40%"]


def test_what_cannot_be_told_is_no_share():
    target = TARGETS[2]
    none = Landscape(
        EPSILONS[:2], USERS[:2], np.array([[np.inf, 1.5], [1.0, 0.25]]), np.zeros((2, 2), dtype=bool)
    )
    figure = plan_map(none, target, None, HERE, None)
    check(figure)
    assert list(named(figure, "click anywhere").text) == ["none", "none", "100%", "25%"]


@pytest.mark.slow
@EVERY
def test_lines_join_places_of_equal_value(target):
    lines = [trace for trace in drawn(target).data if trace.name.endswith("%")]
    assert len(lines) >= 3
    for line in lines:
        level = float(line.name.rstrip("%").replace(",", "")) / 100
        assert percent(level) == line.name
        for epsilon, n in zip(values(line, "x")[1::3], values(line)[1::3], strict=True):
            if np.isfinite(n) and target.kind != "top":  # a chance climbs from 0 to 1 between two cells
                assert achieved(target, K, epsilon, n, zipf(K, 1.2)) == pytest.approx(level, rel=0.08)


@pytest.mark.parametrize("at", [(float(epsilon), 10.0**n) for epsilon in EPSILONS[1:-1] for n in (3, 4, 5)])
def test_no_label_lies_on_a_mark(at):
    """Within the part of the map that a label takes on a phone."""
    figure = plan_map(landscape_of(TARGETS[0]), TARGETS[0], None, at, None)
    wide, high = (np.ptp(axis.range) for axis in (figure.layout.xaxis, figure.layout.yaxis))
    for name in figure.layout.annotations:
        off = abs(name.x - np.log10(at[0])) / wide, abs(name.y - np.log10(at[1])) / high
        assert off[0] > 0.12 or off[1] > 0.14, name.text


@holds("Nothing on this map is enough for the goal; the circle is {}")
def test_places_are_marked():
    figure = drawn(TARGETS[0], (0.5, 12_345.0))
    here, found = (next(trace for trace in figure.data if trace.name == name) for name in ("you", "the plan"))
    assert (values(here, "x")[0], values(here)[0]) == HERE
    assert (values(found, "x")[0], values(found)[0]) == (0.5, 12_345)
    assert here.marker.symbol != found.marker.symbol
    assert reading(figure).startswith(
        "Orange dots: RMSE per category at most 0.5%; the star is the plan, ε = 0.5 with N = 12,345"
    )
    without = plan_map(landscape_of(TARGETS[0]), TARGETS[0], None, HERE, None)
    assert not [trace for trace in without.data if trace.name.startswith(("the plan", "goal reached"))]
    assert "the circle is ε = 1 with N = 2,000" in reading(without)
    never = TargetFrontier(TARGETS[0], EPSILONS, np.full(9, np.inf))
    beyond = TargetFrontier(TARGETS[0], EPSILONS, np.full(9, 2 * USERS[-1]))
    for border_ in (never, beyond):
        text = reading(plan_map(landscape_of(TARGETS[0]), TARGETS[0], border_, HERE, None))
        assert text.startswith("Nothing on this map is enough")
    reached = reading(plan_map(landscape_of(TARGETS[0]), TARGETS[0], frontier_of(TARGETS[0]), HERE, None))
    assert reached.startswith(
        "Orange dots: RMSE per category at most 0.5%; the circle is ε = 1 with N = 2,000"
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.003, 4.0, [0.01, 0.1, 1.0]),
        (0.015, 0.12, [0.02, 0.05, 0.1]),
        (0.3, np.inf, [0.5, 1.0, 2.0, 5.0]),
        (0.25, 0.25, []),
    ],
)
def test_levels_are_round_and_inside(low, high, expected):
    assert levels(np.array([[low, high]]), TARGETS[0]) == pytest.approx(expected)
