"""The film of IBU, its curves and its stragglers; and what is said of a run, worked out another way."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, replace
from functools import cache
from itertools import chain, pairwise

import numpy as np
import pytest

from pages._ui.ibu import results, sections
from rr_core import RandomizedResponse, Scenario, mle_star
from rr_core.data import read_csv
from rr_core.figures.ibu import (
    _epsilon_reading,
    _last_to_settle,
    _support_border,
    animation,
    compared_runs,
    convergence_curves,
    settling_by_reports,
    triangle_path,
)
from rr_core.figures.style import reading
from rr_core.figures.view import bars, curve, natural_order, rank_order
from rr_core.geometry.simplex import estimate_three, to_plane
from rr_core.ibu import ibu_path
from rr_core.ibu.convergence import TOLERANCES, compare_epsilons, first_reached, local_rate, settling_times
from rr_core.ibu.costs import LARGEST_MATRIX, Cost
from rr_core.ibu.engine import Start
from rr_core.ibu.path import log_spaced
from rr_core.rounding import number
from tests.figures.samples import drawn, named, values
from tests.figures.test_every_figure import check
from tests.sentences import holds, recomputes
from tests.sentences.drawn import written
from tests.sentences.spoken import Up, near, random_scenarios, tells

LAST = 3000
UNIFORM = Start()


@cache
def run(k, start=UNIFORM, last=LAST):
    draw = drawn(k)
    return ibu_path(draw.counts, draw.mechanism, log_spaced(last), start.distribution(draw.counts))


def shown(k):
    if k <= 200:
        return bars(natural_order(k), None, "Category")
    return curve(rank_order(drawn(k).counts), "Rank by reports")


@pytest.mark.parametrize("k", [2, 12, 10_000])
def test_every_figure_is_valid_and_the_film_shows_the_estimates_at_their_iterations(k):
    path, view = run(k), shown(k)
    check(convergence_curves(path, 1e-6))
    check(settling_by_reports(path, settling_times(path, 0.1 / k)))
    check(compared_runs(compare_epsilons(drawn(k), [0.5, 1, 8], 300), "these users", 1e-6))
    figure = animation(path, view)
    check(figure)
    frames = figure.frames  # Plotly makes and validates them each time
    iterations = [int(frame.name.replace(",", "")) for frame in frames]
    assert (iterations[0], iterations[-1]) == (0, LAST)
    assert iterations == sorted(set(iterations))
    assert 40 < len(iterations) <= 72

    def drawn_of(estimate):
        return view.mean(estimate[view.order]) if view.is_curve else estimate

    for i in (0, len(iterations) // 2, -1):
        (at,) = np.flatnonzero(path.iterations == iterations[i])
        np.testing.assert_allclose(
            values(frames[i].data[0]), drawn_of(path.estimate(at)), rtol=1e-6, atol=1e-12
        )
        first, second = frames[i].layout.annotations[0].text.split("<br>")
        assert (
            first == f"iteration <b>{frames[i].name}</b> · largest factor − 1: {number(path.certificate[at])}"
        )
        assert second.endswith(f"to MLE*: {number(path.squared_distance[at])}")
    best = mle_star(drawn(k).counts, drawn(k).mechanism)
    np.testing.assert_allclose(values(named(figure, "MLE*")), drawn_of(best), rtol=1e-6, atol=1e-12)


def test_view_from_levels_is_the_view_of_the_categories():
    """Whatever the order, also one that mixes levels, and with a start that splits them."""
    path, order = run(10_000, Start("leaning", 7)), np.random.default_rng(3).permutation(10_000)
    ends = [path.estimate(0), path.estimate(-1)]
    for view in (curve(order, "any order"), bars(order, None, "some", 150)):
        direct = [view.mean(e[view.order]) if view.is_curve else view.pick(e) for e in ends]
        np.testing.assert_allclose(view.from_levels(path.thetas[[0, -1]], path.level_of), direct, rtol=1e-12)


def test_curves_hold_certificate_and_gap_but_no_rounding():
    figure = convergence_curves(run(12), 1e-6)
    certificate = values(named(figure, "largest factor − 1 (can be computed)"))
    gap = values(named(figure, "true gap in likelihood (needs MLE*)"))
    both = ~np.isnan(certificate) & ~np.isnan(gap)
    assert both.sum() > 50
    assert (certificate[both] >= gap[both]).all()
    (line,) = figure.layout.shapes
    assert line.y0 == line.y1 == 1e-6
    draw = Scenario(k=3, n=50, epsilon=4).draw()
    path = ibu_path(draw.counts, draw.mechanism, log_spaced(5000))
    for trace in convergence_curves(path, 1e-6).data:
        assert np.isnan(values(trace)).any()
        assert np.nanmin(values(trace)) > 1e-15


@holds("No category tends to zero here, so there is no border to linger at.")
def test_stragglers_are_those_of_the_core_and_the_border_is_marked():
    path = run(12)
    settling = settling_times(path, 0.1 / 12)
    figure = settling_by_reports(path, settling)
    points = {pair for trace in figure.data for pair in zip(values(trace, "x"), values(trace), strict=True)}
    iterations = [LAST if np.isnan(one) else max(one, 1) for one in settling.iterations]
    assert points == set(zip(settling.counts, iterations, strict=True))
    (band,) = figure.layout.shapes
    best = mle_star(drawn(12).counts, drawn(12).mechanism)
    assert band.x0 == drawn(12).counts[best == 0].max()
    assert band.x1 == drawn(12).counts[best > 0].min()
    draw = Scenario("uniform", 4, 0, 5.0, 100_000, 1).draw()
    path = ibu_path(draw.counts, draw.mechanism, log_spaced(100))
    without = settling_by_reports(path, settling_times(path, 0.1 / 4))
    check(without)
    assert not without.layout.shapes
    assert "no border" in reading(without)


def test_a_category_cut_off_by_its_start():
    top = int(np.argmax(drawn(12).counts))
    path = run(12, Start("zero", top))
    figure = settling_by_reports(path, settling_times(path, 0.1 / 12))
    assert not figure.layout.shapes
    assert "started at zero" in reading(figure)
    assert all(values(frame.data[0])[top] == 0 for frame in animation(path, shown(12)).frames)


def test_several_draws_every_run_in_its_own_look():
    runs = compare_epsilons(drawn(12), [0.5, 1, 2, 4, 8, 16], 500)
    lines = compared_runs(runs, "these users", 1e-6).data
    assert [trace.name for trace in lines] == [f"ε = {e}" for e in ("0.5", "1", "2", "4", "8", "16")]
    assert len({one.line.color for one in lines}) == len({one.line.dash for one in lines}) == 6
    for trace, distance in zip(lines, runs.squared_distance, strict=True):
        np.testing.assert_array_equal(values(trace), np.where(distance > 1e-15, distance, np.nan))
    linear = compared_runs(runs, "these users", 1e-6, logarithmic=False)
    np.testing.assert_array_equal(values(linear.data[0]), runs.squared_distance[0])


def test_way_through_the_triangle():
    draw, path = drawn(3), run(3)
    figure = triangle_path(path, estimate_three(draw.counts, draw.mechanism), ["a", "b%{x}", "c"])
    check(figure)
    assert all("%{x}" not in (trace.hovertemplate or "") for trace in figure.data)  # a name, not a number
    line = named(figure, "IBU, dots at recorded iterations")
    expected = to_plane(np.array([path.estimate(i) for i in (0, 10, -1)]))
    np.testing.assert_allclose(
        np.stack([values(line, "x"), values(line)], axis=1)[[0, 10, -1]], expected, atol=1e-6
    )


# What is said of a run, against its numbers. `tests.core.test_ibu_convergence` has them from every iteration.
STARTS = ("uniform", "zero", "leaning", "random", "reports")


@cache
def runs(many):
    """Small scenarios, every kind of start, and corners: one report, one category reported, all equal, the border."""
    found = []
    for i, scenario in enumerate(random_scenarios(many // 2, most=12)):
        counts = replace(scenario, n=min(scenario.n, 10**6)).draw().counts
        start = Start(STARTS[i % 5], i % scenario.k if i % 3 else int(counts.argmax()), seed=i)
        found.append((counts, scenario.mechanism, start))
    for counts, epsilon in (
        ((1, 0), 0.01), ((1, 0, 0), 20.0), ((5, 5, 5), 1.0), ((2, 3, 3), math.log(2)), ((40, 30, 35, 38), 0.3),
        ((45, 30, 30, 30), 0.3), ((9, 9, 60, 1, 1), 1.0), ((500, 300, 200), 4.0), ((60, 1, 5), 3.0),
    ):  # fmt: skip
        starts = (Start(), Start("zero", 0), Start("zero", 1), Start("leaning", 1))
        found += [(np.array(counts), RandomizedResponse(len(counts), epsilon), start) for start in starts]
    return [
        ibu_path(counts, mechanism, range(101), start.distribution(counts))
        for counts, mechanism, start in found
    ]


def plainly(text):
    return re.sub(r"MLE\\?\*", "", text)


@holds(
    "The likelihood never falls, yet the squared distance rises for a while.",
    "On its way down the largest factor rises for a while, where that of one category grows past the others; the gap "
    "never does, so what was allowed before still holds.",
    "A gap of 0.01: MLE* makes a report 1% likelier, on average.",
)
@recomputes(convergence_curves)
def test_the_certificate_bounds_the_gap_and_rises_where_it_is_said_to(many):
    said = set()
    for i, path in enumerate(runs(many)):
        tolerance = TOLERANCES[i % len(TOLERANCES)]
        text = reading(convergence_curves(path, tolerance))
        tells(text, 0.01, math.expm1(0.01), tolerance)
        certificate, gap = path.certificate, path.log_likelihood_gap
        assert (np.diff(gap) < 1e-13).all()
        assert (gap <= np.minimum.accumulate(certificate) + 1e-12).all()  # what was allowed still holds
        rises = {"factor rises": certificate, "distance rises": path.squared_distance}
        for words, measure in rises.items():
            slack = 0.0 if words in text else 0.0101 * measure[:-1] + 1e-11
            assert (words in text) == (np.diff(measure) > slack).any()
            said.add((words, words in text))
    assert len(said) == 4


@recomputes(sections.brief_answer, sections.show_answer)
def test_when_ibu_may_stop_is_the_first_iteration_of_all(many):
    said = set()
    for i, path in enumerate(runs(many)):
        tolerance, last = TOLERANCES[i % 5], 100
        reached = first_reached(path, tolerance)
        told = {
            name: [] if name in reached.unreachable else [last if iteration is None else iteration]
            for name, iteration in asdict(reached).items()
            if name in ("certificate", "gap", "squared_distance")
        }
        brief = sections.brief_answer(reached, path)
        tells(brief, *told["certificate"])
        assert ("more than" in brief) == (reached.certificate is None and brief != "")
        text = plainly(written(sections.show_answer, reached, path))
        grown = path.counts @ path.multiplicities * math.log1p(tolerance)
        # Beyond what a double holds the digits are those of `odds`.
        most = [Up(math.exp(grown)) if grown < 700 else None] if reached.certificate is not None else []
        still = [last] if "is still above" in text else []
        if "in likelihood and squared" in text:
            assert reached.certificate is reached.gap is reached.squared_distance is None
            tells(text, last, 1 + tolerance, tolerance)
        else:
            tells(text, *still, 1 + tolerance, *most, tolerance, *told["gap"], *told["squared_distance"])
        assert ("never falls to" in text) == ("certificate" in reached.unreachable)
        said |= {
            words
            for words in ("in likelihood and", "never", "not in the first", "more than")
            if words in text
        }
    assert len(said) == 4


@recomputes(animation, triangle_path)
def test_a_film_and_a_way_tell_how_far_their_end_is_from_mle_star(many):
    for i, path in enumerate(runs(many)[::5]):
        k, apart = path.mechanisms[0].k, path.squared_distance[-1]
        film = animation(path, bars(natural_order(k), None, "Category"), "It may stop." * (i % 2))
        text = plainly(reading(film))
        assert ("up to rounding" in text) <= (apart < 1.3e-24)
        tells(text, 100, *([] if "up to rounding" in text else [float(apart)]))
        if k == 3:
            three = estimate_three(path.counts[path.level_of], path.mechanisms[0])
            text = plainly(reading(triangle_path(path, three, ["a", "b", "c"])))
            tells(text, 100, near(math.sqrt(apart), 1e-13))


@recomputes(_epsilon_reading)
def test_the_order_told_of_several_epsilons_is_that_of_their_iterations(many):
    words = set()
    for i, scenario in enumerate(random_scenarios(max(20, many // 10), 12)):
        scenario = replace(scenario, n=min(scenario.n, 10**6))
        epsilons = ([0.5, 1, 2], [4, 8], [0.25, 8], [0.5, 1, 2, 4, 8])[i % 4]
        compared = compare_epsilons(scenario.draw(), epsilons, 100)
        text = reading(compared_runs(compared, "these users", TOLERANCES[i % 5]))
        needed = compared.iterations_to_tolerance[:, i % 5]
        order, _, counted = plainly(text).removeprefix("these users. ").partition("Iterations to")
        iterations = np.nan_to_num(needed, nan=100).astype(int).tolist()
        each = chain.from_iterable(zip(iterations, map(float, epsilons), strict=True))
        tells(counted, TOLERANCES[i % 5], *each)
        assert counted.count("more than") == np.isnan(needed).sum()
        steps = list(pairwise(np.nan_to_num(needed, nan=math.inf)))
        falls, rises = any(b < a for a, b in steps), any(b > a for a, b in steps)
        if "no difference" in order or "No run" in order:
            assert not falls
            assert not rises
        else:
            assert ("Here yes" in order) == (not rises)
            assert falls or "yes" not in order
        words.add(order)
    assert len(words) >= 4


@recomputes(_last_to_settle, _support_border)
def test_who_comes_last_and_the_border_are_told_from_the_settling_times(many):
    said = set()
    for i, path in enumerate(runs(many)):
        settling = settling_times(path, (1.0, 0.1, 0.01, 1e-4)[i % 4] / path.mechanisms[0].k)
        near_by, late = settling.tolerance, np.nan_to_num(settling.iterations, nan=math.inf)
        chosen = np.unique(settling.counts[late == late.max()])
        shown = (chosen if chosen.size <= 3 else chosen[[0, -1]]).astype(int).tolist()
        between = (settling.counts >= chosen[0]) & (settling.counts <= chosen[-1])
        among = np.isin(settling.counts, chosen) if chosen.size <= 3 else between
        _, border = _support_border(path)
        text = plainly(_last_to_settle(settling, 100))
        if text.startswith("All categories"):
            tells(text, near_by, *([int(late.max())] if late.max() else []))
        else:
            at = [100, near_by, *shown] if math.isinf(late.max()) else [*shown, near_by, int(late.max())]
            tells(text, *at)
            assert ("some of those" in text) == (not (late[among] == late.max()).all())
        kept = path.mle_star > 0
        assert ("started at zero" in border) == path.cut_off
        if "keeps" in border:
            tells(plainly(border), int(path.counts[kept].min()))
        assert ("no border" in border) == (not path.cut_off and kept.all())
        said.add(text[:6] + border[:4])
    assert len(said) > 6


@recomputes(sections._pace)
def test_the_pace_is_that_of_the_local_rate(many):
    said = set()
    for path in runs(many):
        rate = local_rate(path)
        text, level = sections._pace(rate), rate.slowest_level
        if "limit itself" in text:
            np.testing.assert_allclose(path.thetas[-1], path.thetas[0], atol=1e-12)
            said.add("at rest")
            continue
        share = [] if rate.on_border else [0.999 if rate.decay > 0.999 else float(rate.decay)]
        count, digit, why = int(rate.counts[level]), rate.iterations_per_digit, []
        if "quick" in text:
            assert digit < 10
            tells(text, *share)
            said.add("quick")
            continue
        if not rate.on_border:
            is_outside = path.limit[level] == 0
            why = [float(rate.own_decay[level] if is_outside else rate.truthful_share[level])]
            share.append(near(digit, 0.5 + 1e-4 * digit))
            assert ("tends to zero" in text) == is_outside
        tells(text, *share, count, *why)
        alike = path.multiplicities[(path.counts == count) & (path.start > 0)].sum()
        assert ("is the category with" in text) == (alike == 1)
        said.add("border" if rate.on_border else "outside" if is_outside else "inside")
    assert said == {"at rest", "border", "quick", "outside", "inside"}


@recomputes(sections._cost_note)
def test_the_size_of_a_matrix_that_is_not_run(many):
    rng = np.random.default_rng(5)
    for k in [LARGEST_MATRIX + 1, 10**7, *(10 ** rng.uniform(3.001, 7, many)).astype(int).tolist()]:
        text = sections._cost_note(Cost("ibu_matrix", None), k)
        tells(text, k * k, k * k * 8 / 10**9, LARGEST_MATRIX)


@recomputes(results.offer_rest)
def test_a_run_that_is_cut_short_tells_how_far_it_is(many, monkeypatch):
    monkeypatch.setattr(results, "_about", lambda *_: None)
    monkeypatch.setattr(results.long_run, "start_button", lambda *_: False)
    for length in (10, 100, 1000, 10**5):
        text = written(results.offer_rest, None, UNIFORM, length, runs(many)[0])
        tells(text, *([100, length] if length > 100 else []))


@recomputes(sections._verdict)
def test_the_verdict_on_the_paper_s_numbers_is_that_of_the_measured_ones():
    rows = {tuple(float(row[name]) for name in list(row)[:4]): row for row in read_csv("ibu_figure4.csv")}

    def measured(s, n, epsilon, distance, what="median"):
        return int(float(rows[s, n, epsilon, distance][what]))

    def medians(n, epsilon, distance):
        return [measured(s, n, epsilon, distance) for s in (0.01, 1.3)]

    claims = {(10_000, 1.0): 7000, (10_000, 0.5): 25_000, (500_000, 1.0): 20_000, (500_000, 0.5): 40_000}
    told = []
    for (n, epsilon), paper in claims.items():
        told += [n, epsilon, *medians(n, epsilon, 1e-3), paper]
        for one in medians(n, epsilon, 1e-3):
            assert one > 5 / 6 * paper
            assert one < 7 / 6 * paper or (n, epsilon) == (500_000, 0.5)
    for distance, beyond in ((1e-2, -1), (1e-4, 1)):
        assert all((one - 7000) * beyond > 7000 / 6 for one in medians(10_000, 1.0, distance))
    draws = [measured(0.01, 10_000, 0.5, 1e-3, what) for what in ("fewest", "most")]
    tells(
        plainly(sections._verdict()), 0.001, 0.12, 20, 0.01, 1.3, *told, 10_000, 1.0, *medians(10_000, 1.0, 1e-2), 0.01,
        *medians(10_000, 1.0, 1e-4), 0.0001, 10_000, 0.5, 0.01, *draws, 0.000001, 500_000, 0.5, 0.01,
        measured(0.01, 500_000, 0.5, 1e-6),
    )  # fmt: skip
