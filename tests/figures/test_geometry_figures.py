"""Figures of the geometry page: valid, small, and drawing what the core computed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rr_core import RandomizedResponse, Scenario, collinearity
from rr_core.figures.geometry_line import (
    alignment_shares,
    off_line_histogram,
    push_down_curves,
    repairs_plane,
    support_sizes,
)
from rr_core.figures.geometry_triangle import Layers, cloud_panels, triangle
from rr_core.figures.style import QUANTITIES, reading
from rr_core.geometry.push_down import push_down, push_down_candidates
from rr_core.geometry.replicates import TRUTH_PLACES, cloud_frame, count_alignment, simulate_clouds
from rr_core.geometry.simplex import (
    FRAME,
    STEPS,
    distance_circles,
    estimate_three,
    from_plane,
    lattice,
    likelihood_curves,
    to_plane,
    zero_regions,
)
from tests.figures.samples import drawn, named, values
from tests.figures.test_every_figure import check

NAMES = ("bus", "R&amp;D", "x" * 16)
SOME = (2, 3, 12, 10_000)
THETA = np.array([0.7, 0.2, 0.1])
REPORTS = [((62, 33, 5), 1.0), ((85, 10, 5), 1.0), ((40, 35, 25), 1.0), ((1, 0, 0), 0.01), ((1, 1, 1), 20.0)]
EVERY = pytest.mark.parametrize(("reports", "epsilon"), REPORTS)
LEVEL = pytest.mark.parametrize("level", [False, True])


def built(reports, epsilon, zeros_of="mle_star"):
    found = estimate_three(reports, RandomizedResponse(3, epsilon))
    shown = FRAME
    layers = Layers(
        distance_circles(found, shown),
        likelihood_curves(found, shown),
        zero_regions(zeros_of, found.mechanism),
        zeros_of,
    )
    return found, shown, layers


@EVERY
def test_triangle_is_valid_with_and_without_its_layers(reports, epsilon):
    for zeros_of in ("inv_n", "inv_p", "mle_star"):
        found, shown, layers = built(reports, epsilon, zeros_of)
        check(triangle(found, THETA, NAMES, shown, layers))
    check(triangle(found, THETA, NAMES, shown, Layers()))


def test_triangle_draws_every_estimate_where_it_is():
    found, shown, layers = built((62, 28, 10), 1.0)
    figure = triangle(found, THETA, NAMES, shown, layers)
    points = {"observed": found.phi, "truth": THETA, **found.estimates}
    for name, shares in points.items():
        trace, quantity = named(figure, QUANTITIES[name].name), QUANTITIES[name]
        spot = [values(trace, "x")[0], values(trace, "y")[0]]
        np.testing.assert_allclose(from_plane(spot), shares, atol=1e-6)
        assert (trace.marker.color, trace.marker.symbol) == (quantity.colour, quantity.symbol)
    assert figure.layout.yaxis.scaleanchor == "x"
    assert f"{found.collinearity.position:.1%}" in reading(figure)


def test_a_name_cannot_fill_in_a_number_of_the_hover():
    found, shown, layers = built((62, 33, 5), 1.0)
    figure = triangle(found, THETA, ("%{x}", "b", "c"), shown, layers)
    assert all("%{x}" not in (trace.hovertemplate or "") for trace in figure.data)


def test_every_lattice_point_can_be_clicked_and_a_click_fades_nothing():
    found, shown, layers = built((62, 33, 5), 1.0)
    figure = triangle(found, THETA, NAMES, shown, layers)
    targets = named(figure, "click anywhere")
    where = np.stack([values(targets, "x"), values(targets, "y")], axis=-1)
    np.testing.assert_allclose(from_plane(where), lattice() / STEPS, atol=1e-6)
    assert targets.hoverinfo != "skip"
    for trace in figure.data:
        if "markers" in (trace.mode or ""):
            look = trace.marker.opacity or 1.0
            assert trace.selected.marker.opacity == trace.unselected.marker.opacity == look


def test_inv_far_outside_is_an_arrow_at_the_edge():
    found, shown, layers = built((62, 33, 5), 0.01)
    figure = triangle(found, THETA, NAMES, shown, layers)
    assert "Inv, far outside" in [trace.name for trace in figure.data]
    (arrow,) = [note for note in figure.layout.annotations if note.showarrow]
    assert arrow.arrowcolor == QUANTITIES["inv"].colour
    assert shown.contains(np.array([arrow.x, arrow.y]))


@pytest.mark.parametrize(
    ("where", "n", "epsilon"), list(zip(TRUTH_PLACES, (2000, 1, 10**9), (1.0, 0.01, 20.0), strict=True))
)
def test_clouds_are_valid(where, n, epsilon):
    found = simulate_clouds(Scenario("zipf", 3, 1.2, epsilon, n, 7).draw(), where)
    figure = cloud_panels(found, NAMES, cloud_frame(found))
    check(figure)
    axes = [figure.layout[f"xaxis{i}"].range for i in ("", 2, 3, 4)]
    assert len(set(axes)) == 1  # the same view in every panel


def test_clouds_hold_the_points_the_truth_and_the_mean():
    found = simulate_clouds(Scenario("zipf", 3, 1.2, 1.0, 2000, 7).draw(), "edge")
    figure = cloud_panels(found, NAMES, cloud_frame(found))
    for panel, (name, cloud) in enumerate(
        (name, found[name]) for name in ("inv", "inv_n", "inv_p", "mle_star")
    ):
        axis = "x" if panel == 0 else f"x{panel + 1}"
        traces = [trace for trace in figure.data if trace.xaxis == axis]
        dots = next(trace for trace in traces if trace.name == QUANTITIES[name].name)
        np.testing.assert_allclose(values(dots, "x"), to_plane(cloud.points)[:, 0], atol=1e-6)
        mean = next(trace for trace in traces if trace.name == "mean of the cloud")
        np.testing.assert_allclose(values(mean, "y"), to_plane(cloud.mean)[1:], atol=1e-12)
    assert "InvN" in reading(figure) or "InvP" in reading(figure) or "MLE*" in reading(figure)


@cache
def place(k):
    return collinearity(drawn(k).counts, drawn(k).mechanism)


@pytest.mark.parametrize("k", SOME)
def test_plane_and_supports_are_valid(k):
    check(repairs_plane(place(k)))
    check(support_sizes(place(k).supports, k))


def test_plane_keeps_distances():
    figure, here = repairs_plane(place(12)), place(12)
    assert here.residual > 1e-3
    spots = {}
    for name in ("inv_p", "inv_n", "mle_star"):
        trace = named(figure, QUANTITIES[name].name)
        spots[name] = np.array([values(trace, "x")[0], values(trace, "y")[0]])
    assert np.linalg.norm(spots["inv_n"] - spots["inv_p"]) == pytest.approx(here.length)
    assert spots["mle_star"][1] == pytest.approx(here.residual)
    assert spots["mle_star"][0] / here.length == pytest.approx(here.position)
    assert figure.layout.yaxis.scaleanchor == "x"
    assert "off their line" in reading(figure)


@cache
def aligned(k):
    *_, last = count_alignment(drawn(k), 40 if k <= 10_000 else 1)
    return last


@pytest.mark.parametrize("k", SOME)
def test_shares_of_draws_are_valid_and_add_up_to_one(k):
    figure = alignment_shares(aligned(k))
    check(figure)
    assert values(figure.data[0], "x").sum() == pytest.approx(1)
    if aligned(k).unequal_supports:
        check(off_line_histogram(aligned(k)))


@LEVEL
@pytest.mark.parametrize("k", SOME)
def test_pushed_down_is_valid_at_every_end(k, level):
    draw = drawn(k)
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=level)
    for now in (0, len(found.counts) // 2, len(found.counts) - 1):
        check(push_down_curves(found, now))
        check(repairs_plane(found.collinearity_at(now)))


def test_few_reports_have_a_tick_each_and_a_line_that_is_never_left_one_at_zero():
    figure = push_down_curves(
        push_down(np.array([4, 3, 3]), 1, RandomizedResponse(3, 12.0), equalize=False), 0
    )
    assert figure.layout.xaxis.dtick == 1
    assert figure.layout.yaxis.tickvals == (0,)


def test_pushed_down_draws_the_distance_and_marks_where_each_begins_to_keep():
    draw = drawn(12)
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=True)
    figure = push_down_curves(found, 3)
    off = named(figure, "off the line (share of InvP to InvN)")
    np.testing.assert_allclose(
        values(off), found.collinearity.residual / found.collinearity.length, atol=1e-6
    )
    here = [trace for trace in figure.data if trace.name == "now"]
    assert [values(trace, "x")[0] for trace in here] == [found.counts[3]] * 2
    for column, name in enumerate(("InvP", "MLE*", "InvN")):
        (line,) = [trace for trace in figure.data if trace.name.startswith(f"{name} keeps it from")]
        assert values(line, "x")[0] == found.counts[int(found.positive[:, column].argmax())]
