"""Figures of the plan: they show the curves they are given, mark the place, and hide what is no bound; what they and the
fixed parts of the plan say is read back and worked out another way."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rr_core import zipf
from rr_core.figures import plan_curves, plan_map
from rr_core.figures.plan_curves import (
    PROTOCOLS,
    central_against_users,
    error_and_bounds,
    error_curves,
    rmse_against_epsilon,
    rmse_against_k,
)
from rr_core.figures.style import QUANTITIES, reading
from rr_core.plan import bounds, protocol_choice, shuffling, solve
from rr_core.plan.landscape import SimulatedCurve, inv_curve, simulate_curve
from rr_core.plan.targets import Guess, Target
from rr_core.registry import ESTIMATORS, VALID
from rr_core.rounding import percent
from rr_core.words import plan as sentences
from rr_core.words.phrases import METRIC_NAMES
from tests.app.test_plan_answers import Asked
from tests.figures.samples import named, values
from tests.figures.test_every_figure import check
from tests.sentences import recomputes
from tests.sentences.spoken import Down, Up, tells
from tests.words.test_plan import places

K = 12
KS = np.unique(np.round(np.geomspace(2, 1_500_000, 20)).astype(int))
EPSILONS = np.geomspace(0.01, 20, 20)
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


def test_shuffling():
    curve = shuffling.against_users(USERS, 1.0, 10**5, 1e-6)
    figure = central_against_users(curve)
    check(figure)
    line, here = named(figure, "central ε at most"), named(figure, "here")
    np.testing.assert_allclose(values(line), curve.epsilon, rtol=1e-6)
    np.testing.assert_array_equal(values(line, "x"), curve.users)
    assert (values(here, "x")[0], values(here)[0]) == (10**5, curve.now.epsilon)


@cache
def curve(along="epsilon"):
    points, fixed = ([0.5, 1.0, 2.0], 500) if along == "epsilon" else ([100, 1000, 10_000], 1.0)
    return simulate_curve(K, zipf(K, 1.2), along, points, fixed, 50, seed=3)


@pytest.mark.parametrize(("along", "metric"), [("epsilon", "rmse"), ("n", "max"), ("n", "tv")])
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
    assert any(trace.name == f"asked for, {percent(wanted)}" for trace in figure.data)


def test_a_stopped_simulation_shows_the_points_it_reached():
    result = replace(curve(), completed=np.array([50, 20, 0]))
    figure = error_curves(result, "tv", None, 2.0, None)
    check(figure)
    np.testing.assert_array_equal(values(named(figure, "MLE*"), "x"), result.points[:2])
    assert reading(figure).startswith("At ε = 1 and N = 500, in 20 simulated")


@recomputes(plan_curves.rmse_against_k, plan_curves.rmse_against_epsilon)
def test_protocols_say_who_is_best_and_where_that_changes(many):
    """With the borders of the curves, at which `tests.core.test_plan_protocol_choice` has the errors cross."""
    for i, (k, epsilon, n) in enumerate(places(many // 2)):
        users = ("fixed", "sampled")[i % 2]
        along_k = protocol_choice.against_k([2, 3], k, epsilon, n, users)
        along_epsilon = protocol_choice.against_epsilon([1.0], k, epsilon, n, users)
        errors = along_k.rmse_here
        least = min(errors.values())
        best = [key for key, error in errors.items() if (error / least) ** 2 < 1 + 1e-9]
        rival = [] if "rr" in best else [errors["rr"]]
        text = reading(rmse_against_k(along_k, epsilon))
        tells(text, n, least, *rival, epsilon, math.floor(along_k.single), math.ceil(along_k.flip) - 1)
        names = " and ".join(sentences.protocol_in_a_sentence(key) for key in best)
        assert f" {names} {'has' if len(best) == 1 else 'have'} the smallest RMSE per category" in text
        assert ("all shares equal" in text) == (users == "sampled")
        text = reading(rmse_against_epsilon(along_epsilon, k))
        borders = [Up(one) for one in (along_epsilon.single, along_epsilon.flip) if one > 0]
        tells(text, n, least, *rival, k, *borders)
        assert text.count("at every ε") == 2 - len(borders)


@recomputes(plan_curves._simulated_reading)
def test_no_order_is_told_that_chance_may_have_made(many):
    rng, said = np.random.default_rng(3), set()
    for i in range(many):
        along, metric = ("epsilon", "n")[i % 2], ("rmse", "max", "tv")[i % 3]
        runs, place, fixed = int(rng.choice([1, 2, 50, 4000])), (0.5, 100.0)[i % 2], (10**9, 0.01)[i % 2]
        means = rng.choice([0.1, 0.1 * (1 + 1e-12), 0.101, 0.2, 0.9, 0.0], 3)
        errors = np.full(3, math.nan) if runs == 1 else rng.choice([0.0, 0.001, 0.05], 3)
        raw = float(rng.choice([0.4, 3.0, 0.0]))
        mean = {name: np.array([v]) for name, v in zip(("inv", *VALID), (raw, *means), strict=True)}
        error = {name: np.array([v]) for name, v in zip(("inv", *VALID), (0.1, *errors), strict=True)}
        made = SimulatedCurve(
            along, np.array([place]), {metric: mean}, {metric: error}, np.array([runs]), runs, fixed
        )
        text = reading(plan_curves.error_curves(made, metric, None, place, None))
        first = int(np.argmin(means))
        apart = means - means[first] > 2 * np.hypot(errors, errors[first]) + 1e-9 * means[first]
        near = [i for i in range(3) if not apart[i]]
        equal = all(means[i] <= means[first] * (1 + 1e-9) for i in near)
        at = [place, int(fixed), runs] if along == "epsilon" else [int(place), fixed, runs]
        names = [QUANTITIES[VALID[i]].name for i in near]
        assert METRIC_NAMES[metric].in_text in text
        assert ("1 simulated collection," in text) == (runs == 1)
        several = f"{', '.join(names[:-1])} and {names[-1]}"
        if len(near) == 1:
            words = f"is that of {names[0]}:"
            told = [means[first], *([means[first] / raw, raw] if raw else [])]
        elif equal:
            words, told = f"{several} have the same", [means[first]]
        else:
            words, told = f"chance leaves open which of {several} has", [raw, *means]
        assert words in text
        tells(text, *at, *told)
        said.add(words[:7])
    assert len(said) >= 3


@recomputes(plan_map._reading)
def test_the_map_says_where_the_goal_is_reached_and_where_one_is(many):
    rng = np.random.default_rng(4)
    kinds = ("rmse", "max", "share", "smallest", "top")
    for i in range(many):
        kind, sure = kinds[i % 5], float(rng.uniform(0.5, 0.9999))
        target = Target(kind, 3 if kind == "top" else float(10 ** rng.uniform(-5, 0)), sure)
        here = float(rng.uniform(0.01, 20)), int(10 ** rng.uniform(0, 9))
        plan = (float(rng.uniform(0.01, 20)), int(10 ** rng.uniform(0, 9))) if i % 3 else None
        most = 1e6
        users = np.array([np.inf, 10 ** rng.uniform(4, 8)])
        edge = None if i % 7 == 0 else plan_map.TargetFrontier(target, np.array([1.0, 2.0]), users)
        text = plan_map._reading(target, edge, most, here, plan, named=bool(i % 2))
        circle = [here[0], here[1]]
        if edge is None:
            assert text.startswith("The map shows what each ε and N reaches; the circle is")
            tells(text, *circle)
        elif users[1] > most * (1 + 1e-6):
            assert text.startswith("Nothing on this map is enough")
            tells(text, *circle)
        else:
            assert ("the star is the plan" in text) == (plan is not None)
            tells(text, Down(sure) if kind == "top" else Up(target.value), *(plan or circle))
        assert ("more likely to be right" in text) == (kind == "top")
        assert ("dotted lines" in text) == bool(i % 2)


@recomputes(sentences.meaning, sentences.whose_shares)
def test_which_populations_an_answer_is_about(many):
    for i in range(10 + many // 50):
        kind, users = ("rmse", "share", "smallest", "max", "top")[i % 5], ("fixed", "sampled")[i % 2]
        value, find = 1.0 if kind == "top" else (0.001, 8.0)[i % 3 > 0], ("n", "value")[i % 4 > 2]
        asked = Asked(kind, 3 + i, 0.5 + i / 3, 10**5, find, users, i % 3 == 1, value, 20.0, 95.0)
        plan = asked.plan
        told = sentences.meaning(plan).partition("This is for K")[2]
        tells(told, 3 + i, *([10**9] if plan.n > 10**9 else []))
        worst = i % 3 == 1 and kind != "top"
        assert ("any population at all" in told) == worst
        assert ("only the noise is by chance" in told) == (users == "fixed")
        # Of fixed users the RMSE is that of every population; the other goals are about one category, or about all.
        alike = kind in ("share", "smallest") or (kind == "rmse" and users == "fixed")
        assert worst or ("every population alike" in told) == alike
        few = sentences.whose_shares(plan)
        assert bool(few) == (not plan.problem and asked.find == "n" and users == "fixed" and plan.n < 1000)
        tells(few, *([plan.n] if few else []))
    one = Asked("rmse", 2, 20.0, 5, "n", "fixed", False, 100.0, 20.0, 95.0)
    assert "those of 1 user." in sentences.whose_shares(one.plan)


@recomputes(solve.tie_reason)
def test_the_first_two_equal_categories_of_a_ranking_are_named(many):
    rng = np.random.default_rng(6)
    for _ in range(many):
        counts = np.sort(rng.integers(1, 12, rng.integers(2, 9)))[::-1]
        top = int(rng.integers(1, counts.size))
        text = solve.tie_reason(Target("top", top), Guess.of(counts.size, rng.permutation(counts)))
        equal = [i for i in range(top) if counts[i] == counts[i + 1]][:1]
        tells(text, *(place for i in equal for place in (i + 1, i + 2)))
