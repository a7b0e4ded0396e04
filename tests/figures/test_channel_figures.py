"""The figures and sentences about a channel, against the numbers they speak of."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse
from rr_core.figures.channel import (
    bounds_bars,
    channel_convergence,
    channel_estimates,
    channel_film,
    channel_sentences,
    channel_table,
    channel_triangle,
)
from rr_core.figures.style import reading
from rr_core.geometry.simplex import to_plane
from rr_core.protocols import Channel, collect
from rr_core.rounding import number
from tests.figures.samples import named
from tests.figures.test_every_figure import check
from tests.sentences import holds

CHANNELS = {
    "forced": Channel.forced_with_first(5, 0.4, 0.6),
    "geometric": Channel.truncated_geometric(5, 0.3),
    "errors": Channel.misclassification(5, 0.2),
    "nothing": Channel.forced_with_first(5, 1.0, 0.5),
    "wide": Channel(np.random.default_rng(1).dirichlet(np.ones(7), size=5)),
}
NAMES = ["<b>a</b>", "b", "c", "d", "e"]


@cache
def collected(name):
    return collect(CHANNELS[name], [500, 300, 150, 40, 10], 1)


@pytest.mark.parametrize("name", CHANNELS)
def test_figures_are_valid_and_draw_their_numbers(name):
    found = collected(name)
    square = found.channel.m == found.channel.k
    phi, reports = (found.phi, NAMES) if square else (None, [str(i) for i in range(7)])
    check(channel_estimates(None, phi, found.inv, found.mle, None))
    figure = channel_estimates(found.theta, phi, found.inv, found.mle, NAMES)
    check(figure)
    np.testing.assert_array_equal(named(figure, "MLE").y, found.mle.theta)
    check(channel_table(found.channel, NAMES, reports))
    converging = channel_convergence(found.ibu, found.mle, 1e-9)
    check(converging)
    assert converging.layout.yaxis.tickformat is None  # powers of ten, not 1e−12
    film = channel_film(found, NAMES)
    check(film)
    assert len(film.frames) == len(found.ibu.iterations)
    np.testing.assert_allclose(film.frames[-1].data[0].y, found.ibu.thetas[-1], atol=1e-6)
    if found.channel.identified:
        figure = bounds_bars(found.bounds, found.n)
        check(figure)
        drawn = dict(zip(figure.data[0].y, figure.data[0].x, strict=True))
        best = "Inv, and the best for many users" if square else "The best, for many users: about"
        assert drawn[best] == found.bounds.exact / 1000
        assert ("Many users, by ε alone: at least" in drawn) == np.isfinite(found.channel.epsilon)
        assert ("by simulation" in reading(figure)) == (not square) == (found.bounds.exact_error > 0)


def test_many_categories_are_marks_and_the_diagonal_of_a_large_table_is_seen():
    found = collect(Channel.truncated_geometric(200, 0.5), np.arange(200), 1)
    figure = channel_estimates(found.theta, found.phi, found.inv, found.mle, None)
    check(figure)
    assert {trace.name for trace in figure.data} == {"Truth", "Inv", "MLE"}
    names = [str(i) for i in range(200)]
    check(channel_table(found.channel, names, names))
    cells = channel_table(Channel.k_rr(RandomizedResponse(100, 2.0)), names[:100], names[:100]).data[0]
    assert cells.zmax == cells.z.max() < 0.1
    assert cells.showscale


@holds("This table has as many possible reports as truths: with more and more users no estimate has less.")
@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_of_a_square_table_nothing_is_simulated_and_no_bound_is_above_inv(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    found = collect(Channel(rng.dirichlet(np.full(k, rng.choice([0.3, 3.0])), size=k)), [100] * k, seed)
    if not found.channel.identified:
        return
    bounds = found.bounds
    assert bounds.is_exact
    assert bounds.epsilon <= bounds.entropy * (1 + 1e-9)
    assert bounds.entropy <= bounds.exact * (1 + 1e-9)
    assert bounds.exact == bounds.inv
    text = reading(bounds_bars(bounds, found.n))
    assert "about" not in text
    proved = float(text.split("proves ")[1].split("%")[0].replace("over ", ""))
    assert proved / 100 <= bounds.entropy / bounds.exact * (1 + 1e-9)


def test_bounds_for_many_users_are_called_so():
    """One user and k-RR: equal shares are nearer than any bound, on average over the prior."""
    found = collect(Channel.k_rr(RandomizedResponse(4, 0.1)), [1, 0, 0, 0], 1)
    equal_shares = 1.5 / (4 / 2 + 1) - 1 / 4  # E |theta - 1/k|^2 over Jeffreys' prior
    assert equal_shares < found.bounds.epsilon < found.bounds.entropy < found.bounds.exact
    for bar in bounds_bars(found.bounds, 1).data[0].y:
        assert "many users" in bar.lower()


def test_rounding_is_no_negative():
    """Everybody is mistaken: what Inv has beside the two categories of the users is exactly zero."""
    found = collect(Channel.misclassification(12, 1.0), [33, *[0] * 10, 67], 2)
    assert found.inv.min() == 0
    assert "Inv has no negative" in reading(channel_estimates(found.theta, None, found.inv, found.mle, None))


def test_a_chance_short_of_all_is_not_called_100_percent():
    cells = channel_table(Channel([[0.996, 0.004], [0.00001, 0.99999]]), ["a", "b"], ["a", "b"]).data[0]
    assert [list(row) for row in cells.text] == [["99.6%", "0.4%"], ["0.001%", ">99.9%"]]
    assert cells.z[1][1] == 0.99999
    assert channel_table(Channel(np.eye(2)), ["a", "b"], ["a", "b"]).data[0].text[0][0] == "100%"


def test_a_table_that_tells_its_categories_apart_grants_some_epsilon():
    found = collect(Channel([[0.5, 0.5], [0.5 + 1e-13, 0.5 - 1e-13]]), [5, 5], 1)
    privacy, apart, _ = channel_sentences(found, ["a", "b"], ["a", "b"])
    assert "tells all 2 categories apart" in apart
    assert "do not depend" not in privacy


def test_a_report_that_cannot_occur_is_none_of_the_reports_of_a_square_table():
    found = collect(Channel([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]]), [50, 50], 1)
    assert "as many possible reports as truths" in reading(bounds_bars(found.bounds, 100))


@pytest.mark.parametrize("seed", range(2))
def test_the_triangle_of_three_categories(seed):
    rng = np.random.default_rng(seed)
    found = collect(Channel(rng.dirichlet(np.ones(3 + seed), size=3)), [60, 30, 10], seed)
    figure = channel_triangle(found, found.theta, ["<a>", "b%{x}", "c"])
    check(figure)
    drawn = {trace.name: trace for trace in figure.data}
    np.testing.assert_allclose([drawn["MLE"].x[0], drawn["MLE"].y[0]], to_plane(found.mle.theta))
    far = np.linalg.norm(to_plane(found.ibu.thetas[-1]) - to_plane(found.mle.theta))
    assert f"it is {number(far)} away from MLE" in reading(figure)
    assert ("Inv" in drawn) != ("Inv lies outside" in reading(figure))
    check(channel_triangle(found, None, ["a", "b", "c"]))
