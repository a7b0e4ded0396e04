"""Figures of the plan: they show the curves they are given, mark the place, and hide what is no bound."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rr_core import zipf
from rr_core.figures.plan_curves import (
    PROTOCOLS,
    central_against_users,
    error_and_bounds,
    error_curves,
    rmse_against_epsilon,
    rmse_against_k,
)
from rr_core.figures.style import QUANTITIES, reading
from rr_core.plan import bounds, protocol_choice, shuffling
from rr_core.plan.landscape import inv_curve, simulate_curve
from rr_core.registry import ESTIMATORS, VALID
from rr_core.rounding import number, percent
from tests.figures.samples import named, values
from tests.figures.test_every_figure import check

K = 12
KS = np.unique(np.round(np.geomspace(2, 1_500_000, 60)).astype(int))
EPSILONS = np.geomspace(0.01, 20, 60)
USERS = np.geomspace(1, 1e9, 200)
PLACES = [(2, 0.01, 10, "fixed"), (12, 1.0, 10**5, "sampled"), (1_500_000, 20.0, 10**9, "fixed")]
PLACE = pytest.mark.parametrize(("k", "epsilon", "n", "users"), PLACES)


@PLACE
def test_protocols(k, epsilon, n, users):
    along_k = protocol_choice.against_k(KS, k, epsilon, n, users)
    along_epsilon = protocol_choice.against_epsilon(EPSILONS, k, epsilon, n, users)
    for curves, figure in (
        (along_k, rmse_against_k(along_k, epsilon)),
        (along_epsilon, rmse_against_epsilon(along_epsilon, k)),
    ):
        check(figure)
        for key, look in PROTOCOLS.items():
            line = named(figure, look.name)
            np.testing.assert_array_equal(values(line, "x"), curves.x)
            np.testing.assert_allclose(values(line), curves.rmse[key], rtol=1e-6)
            assert (line.line.color, line.line.dash) == (look.colour, look.dash)
        here = named(figure, "here")
        assert set(values(here, "x")) == {curves.here}
        np.testing.assert_array_equal(values(here), list(curves.rmse_here.values()))
        borders = [trace for trace in figure.data if trace.name.startswith(("K ≤", "ε ≥"))]
        assert len(borders) == (curves.x[0] <= curves.single <= curves.x[-1])
        assert all(set(values(border, "x")) == {curves.single} for border in borders)
        low, high = figure.layout.yaxis.range
        shown = np.log10(np.concatenate([*curves.rmse.values(), values(here)]))
        assert low < shown.min()
        assert high > shown.max()


@PLACE
def test_bounds_are_drawn_where_they_are_valid(k, epsilon, n, users):
    curves = bounds.against_epsilon(EPSILONS, k, epsilon, n, users)
    figure = error_and_bounds(curves)
    check(figure)
    inv = named(figure, "k-RR, Inv")
    np.testing.assert_allclose(values(inv), curves.inv, rtol=1e-6)
    assert inv.line.color == QUANTITIES["inv"].colour
    drawn = [trace for trace in figure.data if trace.name[0] in "≥≈" or trace.name.startswith("exact")]
    rows = [row for row in curves.bounds if row.valid.any()]
    assert len(drawn) == len(rows)
    for trace, row in zip(drawn, rows, strict=True):
        shown = values(trace)
        np.testing.assert_array_equal(np.isfinite(shown), row.valid)
        np.testing.assert_allclose(shown[row.valid], row.value[row.valid], rtol=1e-6)
        assert trace.name.startswith("≥") == (row.kind == "lower bound")
    here = named(figure, "k-RR, Inv, here")
    assert (values(here, "x")[0], values(here)[0]) == (epsilon, curves.now)
    assert set(values(named(figure, f"ε = {number(epsilon)}"), "x")) == {epsilon}


@pytest.mark.parametrize(
    ("epsilon0", "n", "delta"), [(0.01, 1, 0.5), (1.0, 10**5, 1e-6), (20.0, 10**9, 1e-12)]
)
def test_shuffling(epsilon0, n, delta):
    curve = shuffling.against_users(USERS, epsilon0, n, delta)
    figure = central_against_users(curve)
    check(figure)
    line, here = named(figure, "central ε at most"), named(figure, "here")
    np.testing.assert_allclose(values(line), curve.epsilon, rtol=1e-6)
    np.testing.assert_array_equal(values(line, "x"), curve.users)
    assert (values(here, "x")[0], values(here)[0]) == (n, curve.now.epsilon)
    local = named(figure, f"local ε = {number(epsilon0)}")
    assert set(values(local)) == {epsilon0}


@cache
def curve(along="epsilon"):
    points, fixed = ([0.5, 1.0, 2.0], 500) if along == "epsilon" else ([100, 1000, 10_000], 1.0)
    return simulate_curve(K, zipf(K, 1.2), along, points, fixed, 50, seed=3)


@pytest.mark.parametrize("along", ["epsilon", "n"])
@pytest.mark.parametrize("metric", ["rmse", "max", "tv"])
def test_curves_are_the_simulation_with_two_standard_errors(along, metric):
    result = curve(along)
    exact = inv_curve(K, zipf(K, 1.2), along, result.points, 500 if along == "epsilon" else 1.0)
    wanted = float(result.mean[metric]["inv"][1])
    figure = error_curves(result, metric, exact if metric == "rmse" else None, result.points[1], wanted)
    check(figure)
    for name in [one for one in ESTIMATORS if metric != "rmse" or one != "inv"]:
        line = named(figure, QUANTITIES[name].name)
        np.testing.assert_array_equal(values(line, "x"), result.points)
        np.testing.assert_array_equal(values(line), result.mean[metric][name])
        np.testing.assert_allclose(line.error_y.array, 2 * result.standard_error[metric][name])
    if metric == "rmse":
        np.testing.assert_array_equal(values(named(figure, "Inv, exact")), exact)
    assert all(percent(result.mean[metric][name][1]) in reading(figure) for name in VALID)
    assert "50 simulated" in reading(figure)
    assert any(trace.name == f"asked for, {percent(wanted)}" for trace in figure.data)


def test_a_stopped_simulation_shows_the_points_it_reached():
    result = replace(curve(), completed=np.array([50, 20, 0]))
    figure = error_curves(result, "tv", None, 2.0, None)
    check(figure)
    np.testing.assert_array_equal(values(named(figure, "MLE*"), "x"), result.points[:2])
    assert reading(figure).startswith("At ε = 1 and N = 500, in 20")
    assert "20 simulated" in reading(figure)


def test_errors_of_zero_are_a_valid_figure():
    result = simulate_curve(2, [1, 1], "n", [4, 8], 20.0, 3)
    assert not result.mean["max"]["inv_p"].any()
    check(error_curves(result, "max", None, 4.0, None))
