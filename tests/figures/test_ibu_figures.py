"""The film of IBU, its curves and its stragglers."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from rr_core import Scenario, mle_star
from rr_core.figures.ibu import (
    animation,
    compared_runs,
    convergence_curves,
    settling_by_reports,
    triangle_path,
)
from rr_core.figures.style import reading
from rr_core.figures.view import bars, curve, natural_order, rank_order
from rr_core.geometry.simplex import estimate_three
from rr_core.ibu import ibu_path
from rr_core.ibu.convergence import compare_epsilons, settling_times
from rr_core.ibu.engine import Start
from rr_core.ibu.path import log_spaced
from rr_core.rounding import number
from tests.figures.samples import drawn, named, spec, values
from tests.figures.test_every_figure import MOST_BYTES, check
from tests.sentences import holds

LAST = 3000
SOME = (2, 12, 201, 10_000)
UNIFORM = Start()


@cache
def run(k, start=UNIFORM, last=LAST):
    draw = drawn(k)
    return ibu_path(draw.counts, draw.mechanism, log_spaced(last), start.distribution(draw.counts))


def shown(k):
    if k <= 200:
        return bars(natural_order(k), None, "Category")
    return curve(rank_order(drawn(k).counts), "Rank by reports")


def film(k, start=UNIFORM):
    return animation(run(k, start), shown(k))


@pytest.mark.parametrize("k", SOME)
def test_every_figure_is_valid_small_and_says_itself(k):
    check(film(k))
    check(convergence_curves(run(k), 1e-6))
    check(settling_by_reports(run(k), settling_times(run(k), 0.1 / k)))
    check(compared_runs(compare_epsilons(drawn(k), [0.5, 1, 8], 300), "these users", 1e-6))


@pytest.mark.slow
@pytest.mark.parametrize("k", SOME)
def test_frames_are_the_estimates_themselves(k):
    figure, path, view = film(k), run(k), shown(k)
    assert len(json.dumps(spec(figure))) < MOST_BYTES
    names = [frame["name"] for frame in figure.to_plotly_json()["frames"]]
    iterations = [int(name.replace(",", "")) for name in names]
    assert iterations[0] == 0
    assert iterations[-1] == LAST
    assert iterations == sorted(set(iterations))
    assert 40 < len(iterations) <= 72
    for i in (0, len(iterations) // 2, -1):
        (at,) = np.flatnonzero(path.iterations == iterations[i])
        estimate = path.estimate(at)
        if view.is_curve:
            expected = view.mean(estimate[view.order])
        else:
            expected = estimate
        np.testing.assert_allclose(values(figure.frames[i].data[0]), expected, rtol=1e-6, atol=1e-12)
    best = mle_star(drawn(k).counts, drawn(k).mechanism)
    expected = view.mean(best[view.order]) if view.is_curve else best
    np.testing.assert_allclose(values(named(figure, "MLE*")), expected, rtol=1e-6, atol=1e-12)


def test_view_from_levels_is_the_view_of_the_categories():
    """Whatever the order, also one that mixes levels, and with a start that splits them."""
    path = run(10_000, Start("leaning", 7))
    order = np.random.default_rng(3).permutation(10_000)
    for view in (curve(order, "any order"), bars(order, None, "some", 150)):
        direct = [
            view.mean(e[view.order]) if view.is_curve else view.pick(e) for e in map(path.estimate, (0, -1))
        ]
        np.testing.assert_allclose(view.from_levels(path.thetas[[0, -1]], path.level_of), direct, rtol=1e-12)


def test_each_frame_tells_its_iteration_and_distances():
    figure, path = film(12), run(12)
    for frame in figure.frames:
        (note,) = frame.layout.annotations
        (at,) = np.flatnonzero(path.iterations == int(frame.name.replace(",", "")))
        first, second = note.text.split("<br>")
        assert first == f"iteration <b>{frame.name}</b> · largest factor − 1: {number(path.certificate[at])}"
        assert second.endswith(f"to MLE*: {number(path.squared_distance[at])}")


def test_certificate_is_drawn_above_the_gap():
    figure = convergence_curves(run(12), 1e-6)
    certificate = values(named(figure, "largest factor − 1 (can be computed)"))
    gap = values(named(figure, "true gap in likelihood (needs MLE*)"))
    both = ~np.isnan(certificate) & ~np.isnan(gap)
    assert both.sum() > 50
    assert (certificate[both] >= gap[both]).all()
    (line,) = figure.layout.shapes
    assert line.y0 == line.y1 == 1e-6


def test_rounding_is_not_drawn_on_a_log_axis():
    draw = Scenario(k=3, n=50, epsilon=4).draw()
    path = ibu_path(draw.counts, draw.mechanism, log_spaced(5000))
    for trace in convergence_curves(path, 1e-6).data:
        drawn_values = values(trace)
        assert np.isnan(drawn_values).any()
        assert np.nanmin(drawn_values) > 1e-15


def test_stragglers_are_those_of_the_core_and_the_border_is_marked():
    path = run(12)
    settling = settling_times(path, 0.1 / 12)
    figure = settling_by_reports(path, settling)
    drawn_points = {
        (x, y) for trace in figure.data for x, y in zip(values(trace, "x"), values(trace), strict=True)
    }
    expected = {
        (count, LAST if np.isnan(iteration) else max(iteration, 1))
        for count, iteration in zip(settling.counts, settling.iterations, strict=True)
    }
    assert drawn_points == expected
    (band,) = figure.layout.shapes
    best = mle_star(drawn(12).counts, drawn(12).mechanism)
    assert band.x0 == drawn(12).counts[best == 0].max()
    assert band.x1 == drawn(12).counts[best > 0].min()


@holds("No category tends to zero here, so there is no border to linger at.")
def test_stragglers_without_a_border():
    draw = Scenario("uniform", 4, 0, 5.0, 100_000, 1).draw()
    path = ibu_path(draw.counts, draw.mechanism, log_spaced(100))
    figure = settling_by_reports(path, settling_times(path, 0.1 / 4))
    check(figure)
    assert not figure.layout.shapes
    assert "no border" in reading(figure)


def test_a_category_cut_off_by_its_start():
    counts = drawn(12).counts
    top = int(np.argmax(counts))
    path = run(12, Start("zero", top))
    figure = settling_by_reports(path, settling_times(path, 0.1 / 12))
    assert not figure.layout.shapes
    assert "started at zero" in reading(figure)
    frames = film(12, Start("zero", top)).frames
    assert all(values(frame.data[0])[top] == 0 for frame in frames)


def test_several_draws_every_run_in_its_own_look():
    runs = compare_epsilons(drawn(12), [0.5, 1, 2, 4, 8, 16], 500)
    figure = compared_runs(runs, "these users", 1e-6)
    assert [trace.name for trace in figure.data] == [f"ε = {e}" for e in ("0.5", "1", "2", "4", "8", "16")]
    assert (
        len({trace.line.color for trace in figure.data})
        == len({trace.line.dash for trace in figure.data})
        == 6
    )
    for trace, distance in zip(figure.data, runs.squared_distance, strict=True):
        expected = np.where(distance > 1e-15, distance, np.nan)
        np.testing.assert_array_equal(values(trace), expected)
    linear = compared_runs(runs, "these users", 1e-6, logarithmic=False)
    assert linear.layout.xaxis.type is None
    np.testing.assert_array_equal(values(linear.data[0]), runs.squared_distance[0])


def test_way_through_the_triangle():
    draw, path = drawn(3), run(3)
    figure = triangle_path(path, estimate_three(draw.counts, draw.mechanism), ["a", "b", "c"])
    check(figure)
    line = named(figure, "IBU, dots at recorded iterations")
    x, y = values(line, "x"), values(line)
    side, height = np.sqrt(2), np.sqrt(1.5)
    for i in (0, 10, -1):
        _, b, c = path.estimate(i)
        np.testing.assert_allclose([x[i], y[i]], [b * side + c * side / 2, c * height], atol=1e-6)
