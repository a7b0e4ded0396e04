"""The film of IBU, its curves and its stragglers; and what is said of a run, worked out another way."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from types import SimpleNamespace

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
from rr_core.geometry.simplex import estimate_three
from rr_core.ibu import ibu_path
from rr_core.ibu.convergence import TOLERANCES, compare_epsilons, first_reached, local_rate, settling_times
from rr_core.ibu.costs import LARGEST_MATRIX, Cost
from rr_core.ibu.engine import Start
from rr_core.ibu.path import log_spaced
from rr_core.rounding import number
from tests.figures.samples import drawn, named, spec, values
from tests.figures.test_every_figure import MOST_BYTES, check
from tests.sentences import holds, recomputes
from tests.sentences.drawn import written
from tests.sentences.spoken import Up, mle, numbers, random_scenarios, reads, tells

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
    frames = figure.frames  # Plotly makes and validates them each time
    names = [frame.name for frame in frames]
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
        np.testing.assert_allclose(values(frames[i].data[0]), expected, rtol=1e-6, atol=1e-12)
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
    figure = triangle_path(path, estimate_three(draw.counts, draw.mechanism), ["a", "b%{x}", "c"])
    check(figure)
    assert all("%{x}" not in (trace.hovertemplate or "") for trace in figure.data)  # a name, not a number
    line = named(figure, "IBU, dots at recorded iterations")
    x, y = values(line, "x"), values(line)
    side, height = np.sqrt(2), np.sqrt(1.5)
    for i in (0, 10, -1):
        _, b, c = path.estimate(i)
        np.testing.assert_allclose([x[i], y[i]], [b * side + c * side / 2, c * height], atol=1e-6)


@dataclass(frozen=True, eq=False)
class Plain:
    """One run: every iteration of eq. (5), and what it is measured by."""

    scenario: Scenario
    counts: np.ndarray
    start: Start
    last: int

    @property
    def path(self):
        return ibu_path(self.counts, self.mechanism, log_spaced(self.last), self.given)

    @property
    def mechanism(self):
        return RandomizedResponse(self.scenario.k, self.scenario.epsilon)

    @property
    def given(self):
        return self.start.distribution(self.counts)

    @cached_property
    def chances(self):
        total = math.exp(self.scenario.epsilon) + self.scenario.k - 1
        return math.exp(self.scenario.epsilon) / total, 1 / total

    @cached_property
    def phi(self):
        return self.counts / self.counts.sum()

    def factors(self, thetas):
        p, q = self.chances
        seen = self.phi / (q + (p - q) * thetas)
        return q * seen.sum(axis=-1, keepdims=True) + (p - q) * seen

    @cached_property
    def thetas(self):
        theta = np.full(self.scenario.k, 1 / self.scenario.k) if self.given is None else self.given
        every = [theta]
        for _ in range(self.last):
            theta = theta * self.factors(theta)
            every.append(theta)
        return np.array(every)

    @cached_property
    def best(self):
        return mle(self.counts, self.scenario)[0]

    @cached_property
    def limit(self):
        """The most likely distribution that is zero where the start is."""
        alive, limit = self.thetas[0] > 0, np.zeros(self.scenario.k)
        if not self.counts[alive].any():
            return self.thetas[0]
        some = SimpleNamespace(k=int(alive.sum()), epsilon=self.scenario.epsilon)
        limit[alive] = mle(self.counts[alive], some)[0]
        return limit

    @property
    def is_cut_off(self):
        return bool(((self.best > 0) & (self.thetas[0] == 0)).any())

    def measures(self, thetas):
        """Certificate, gap in likelihood, squared distance."""
        p, q = self.chances
        ratio = np.log1p((p - q) * (self.best - thetas) / (q + (p - q) * thetas))
        return {
            "certificate": self.factors(thetas).max(axis=-1) - 1,
            "gap": (self.phi * ratio).sum(axis=-1),
            "squared_distance": ((thetas - self.best) ** 2).sum(axis=-1),
        }

    @cached_property
    def measured(self):
        return self.measures(self.thetas)

    def first(self, measure, tolerance):
        within = self.measured[measure] <= tolerance
        return int(within.argmax()) if within.any() else None


STARTS = ("uniform", "zero", "leaning", "random", "reports")


@cache
def runs(many, last=100, most=12):
    """Small scenarios, every kind of start, and corners: one report, one category reported, all equal, the border."""
    found = []
    for i, scenario in enumerate(random_scenarios(many // 2, most)):
        scenario = replace(scenario, n=min(scenario.n, 10**6))
        counts = scenario.draw().counts
        start = Start(STARTS[i % 5], i % scenario.k if i % 3 else int(counts.argmax()), seed=i)
        found.append(Plain(scenario, counts, start, last))
    for counts, epsilon in (
        ((1, 0), 0.01), ((1, 0, 0), 20.0), ((5, 5, 5), 1.0), ((2, 3, 3), math.log(2)), ((40, 30, 35, 38), 0.3),
        ((45, 30, 30, 30), 0.3), ((9, 9, 60, 1, 1), 1.0), ((500, 300, 200), 4.0), ((60, 1, 5), 3.0),
    ):  # fmt: skip
        scenario = Scenario("zipf", len(counts), 1.0, epsilon, sum(counts), 1)
        found += [
            Plain(scenario, np.array(counts), start, last)
            for start in (Start(), Start("zero", 0), Start("zero", 1), Start("leaning", 1))
        ]
    return found


def near(true, slack=1e-6):
    """Three digits; below ``slack`` the rounding of either way."""
    return lambda told: reads(told, true) or abs(told - true) < slack


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
    for i, run in enumerate(runs(many)):
        tolerance, path = TOLERANCES[i % len(TOLERANCES)], run.path
        text = reading(convergence_curves(path, tolerance))
        tells(text, 0.01, 0.01, tolerance)
        certificate, gap, distance = run.measured.values()
        assert abs(math.expm1(0.01) - 0.01) < 0.0001
        assert (certificate >= gap - 1e-12).all()
        assert (np.diff(gap) < 1e-13).all()
        if "factor rises" in text:
            assert (np.diff(certificate) > 1e-13).any()
            assert (
                gap[1:] <= np.minimum.accumulate(certificate)[:-1] + 1e-12
            ).all()  # what was allowed still holds
        else:
            assert not (
                np.diff(certificate[path.iterations]) > 0.0101 * certificate[path.iterations][:-1] + 1e-11
            ).any()
        if "distance rises" in text:
            assert (np.diff(distance) > 0).any()
        else:
            assert not (np.diff(distance[path.iterations]) > 2e-15).any()
        said.add(("factor rises" in text, "distance rises" in text))
    assert {one for one, _ in said} == {one for _, one in said} == {True, False}


@recomputes(sections.brief_answer, sections.show_answer)
def test_when_ibu_may_stop_is_the_first_iteration_of_all(many):
    said = set()
    for i, run in enumerate(runs(many)):
        tolerance = TOLERANCES[i % 5]
        reached = first_reached(run.path, tolerance)
        brief = sections.brief_answer(reached, run.path)
        text = plainly(written(sections.show_answer, reached, run.path))
        first = {name: run.first(name, tolerance) for name in run.measured}
        assert ("is still above" in text) == ("more than" in brief)
        if "in likelihood and squared" in text:
            assert set(first.values()) == {None}
            assert not run.is_cut_off
            tells(text, run.last, 1 + tolerance, tolerance)
            tells(brief, run.last)
            said.add("not within")
            continue
        told = []
        words_of = re.findall(r"\*\*([^*]+)\*\*", re.sub(r"\*\*(certificate|Near enough)\*\*", "", text))
        if brief:  # tells of the certificate
            words_of.insert(0, re.search(r"(more than )?[\d,]+ iterations?", brief)[0])
        for name, words in zip(first, words_of, strict=True):
            if words == "never":
                assert run.is_cut_off
                assert first[name] is None
                assert run.measures(run.limit)[name] > tolerance
            elif first[name] is None:
                perhaps = run.is_cut_off and name != "certificate"
                assert words.startswith("not in the first" if perhaps else "more than")
                told.append((name, run.last))
            else:
                assert words.endswith(" iteration" if first[name] == 1 else " iterations")
                told.append((name, first[name]))
            said.add(words.split()[0] if not words[0].isdigit() else "reached")
        of_certificate = [number for name, number in told if name == "certificate"]
        still = [run.last] if "is still above" in text else []
        # In nats; beyond what a double holds its digits are those of `odds`.
        grown = run.scenario.n * math.log1p(tolerance)
        most = [Up(math.exp(grown)) if grown < 700 else None] if "as likely" in text else []
        tells(
            text,
            *still,
            1 + tolerance,
            *most,
            tolerance,
            *(each for name, each in told if name != "certificate"),
        )
        assert ("never falls to" in text) == (not of_certificate)
        assert ("more than" in brief) == (bool(of_certificate) and first["certificate"] is None)
        tells(brief, *of_certificate)
    assert said == {"not within", "never", "not", "more", "reached"}


@recomputes(animation, triangle_path)
def test_a_film_and_a_way_tell_how_far_their_end_is_from_mle_star(many):
    for i, run in enumerate(runs(many)[::5]):
        run = replace(run, last=(100, 1000, 300)[i % 3] if i % 20 == 0 else 100)
        path, k = run.path, run.scenario.k
        film = animation(path, bars(natural_order(k), None, "Category"), "It may stop." * (i % 2))
        text = plainly(reading(film)).removeprefix("It may stop. ")
        apart = math.dist(run.thetas[-1], run.best)
        told = [] if "up to rounding" in text else [near(apart**2, 1e-22)]
        assert ("up to rounding" in text) <= (apart < 1.1e-12)
        tells(text, run.last, *told)
        if k == 3:
            three = estimate_three(run.counts, run.mechanism)
            text = plainly(reading(triangle_path(path, three, ["a", "b", "c"])))
            tells(text, run.last, near(apart, 1e-13))


@recomputes(_epsilon_reading)
def test_iterations_at_several_epsilons_are_those_of_a_plain_loop(many):
    words = set()
    for i, scenario in enumerate(random_scenarios(max(20, many // 10), 12)):
        scenario = replace(scenario, n=min(scenario.n, 10**6))
        epsilons = ([0.5, 1, 2], [4, 8], [0.25, 8], [0.5, 1, 2, 4, 8])[i % 4]
        tolerance = TOLERANCES[i % 5]
        compared = compare_epsilons(scenario.draw(), epsilons, 100)
        text = reading(compared_runs(compared, "these users", tolerance)).removeprefix("these users. ")
        needed = []
        for epsilon in epsilons:
            other = replace(scenario, epsilon=epsilon)
            needed.append(
                Plain(other, other.draw().counts, Start(), 100).first("squared_distance", tolerance)
            )
        order, _, counted = plainly(text).partition("Iterations to")
        told = [
            one
            for many_, epsilon in zip(needed, epsilons, strict=True)
            for one in (100 if many_ is None else many_, float(epsilon))
        ]
        tells(counted, tolerance, *told)
        assert counted.count("more than") == needed.count(None)
        beyond = [math.inf if one is None else one for one in needed]
        falls, rises = any(b < a for a, b in pairwise(beyond)), any(b > a for a, b in pairwise(beyond))
        if "no difference" in order or "No run" in order:
            assert (falls, rises) == (False, False)
        elif "Here yes" in order:
            assert (falls, rises) == (True, False)
            if "at every step" in order and "not" not in order:
                assert all(b < a for a, b in pairwise(beyond))
        else:
            assert rises
            assert ("Here no:" in order) <= (not falls)
        words.add(order)
    assert len(words) >= 4


@recomputes(_last_to_settle, _support_border)
def test_who_comes_last_and_the_border_are_told_from_every_iteration(many):
    said = set()
    for i, run in enumerate(runs(many)):
        part = (1.0, 0.1, 0.01, 1e-4)[i % 4]
        k, path = run.scenario.k, run.path
        off = np.abs(run.thetas - run.limit) > part / k
        settled = np.array([np.flatnonzero(one)[-1] + 1 if one.any() else 0 for one in off.T])
        late = int(settled.max())
        text = reading(settling_by_reports(path, settling_times(path, part / k)))
        _, border = _support_border(path)
        text = plainly(text.removesuffix(f" {border}"))
        which, _, when = text.partition("all with " if "all with " in text else "those with ")
        if text.startswith("All categories"):
            assert settled.min() == late
            tells(text, part / k, *([late] if late else []))
            assert ("from the start" in text) == (late == 0)
        else:
            counts, _, rest = (when if when else text).partition(" report")
            unsettled = settled == late
            chosen = np.unique(run.counts[unsettled])
            if text.startswith("At iteration"):
                assert late > run.last
                tells(which, run.last, part / k)
            else:
                assert text.startswith("Last to come near")
                assert late <= run.last
                tells(rest, part / k, late)
            shown = numbers(counts)
            if chosen.size <= 3:
                assert shown == chosen.tolist()
                whole = np.isin(run.counts, chosen)
            else:
                assert shown == [chosen[0], chosen[-1]]
                whole = (run.counts >= chosen[0]) & (run.counts <= chosen[-1])
            if "some" not in text:
                assert unsettled[whole].all(), (run, text, settled)
        if "keeps" in border:
            tells(plainly(border), int(run.counts[run.best > 0].min()))
            assert not run.is_cut_off
            assert ("1 report on" in border) == (run.counts[run.best > 0].min() == 1)
        elif "started at zero" in border:
            assert run.is_cut_off
        else:
            assert (run.best > 0).all()
        said.add(text[:6] + border[:4])
    assert len(said) > 6


def slowest(run):
    """What an iteration removes in the end, and whether a category outside the support is the last: by the derivatives
    of one iteration at the limit, along small errors that are equal within counts and starts and sum to zero."""
    pairs = np.stack([run.counts, run.thetas[0]], axis=1)[run.thetas[0] > 0]
    levels, level, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    phi, (p, q) = levels[:, 0] / run.counts.sum(), run.chances
    limit = np.zeros(len(levels))
    limit[level] = run.limit[run.thetas[0] > 0]
    elsewhere = 1 - sizes @ phi  # reports of categories that started at zero

    def step(theta):
        seen = phi / (q + (p - q) * theta)
        return theta * (q * (sizes @ seen) + elsewhere + (p - q) * seen)

    derivative = np.stack([step(limit + 1e-30j * one).imag / 1e-30 for one in np.eye(len(levels))], axis=1)
    inside = limit > 0
    outside = np.diag(derivative)[~inside]
    free = np.linalg.svd(sizes[inside][None].astype(float))[2][1:].T
    left = (
        np.linalg.eigvals(free.T @ derivative[np.ix_(inside, inside)] @ free).real
        if free.size
        else np.zeros(0)
    )
    return 1 - max([*left, *outside], default=0.0), max([*left, -1]) < max([*outside, -2]), outside


@recomputes(sections._pace)
def test_the_pace_is_that_of_the_derivatives_at_the_limit(many):
    said = set()
    for run in runs(many):
        text = sections._pace(local_rate(run.path))
        if (
            not run.counts[run.thetas[0] > 0].any()
            or len(np.unique(np.stack([run.counts, run.thetas[0]])[:, run.thetas[0] > 0], axis=1).T) == 1
        ):
            assert "limit itself" in text
            np.testing.assert_allclose(run.thetas[-1], run.thetas[0], atol=1e-12)
            said.add("at rest")
            continue
        decay, is_outside, _ = slowest(run)
        told = [0.999 if "more than 99.9%" in text else near(decay, 1e-12)]
        assert ("more than 99.9%" in text) == (decay > 0.999)
        moving = run.thetas[0] > 0
        some = moving & ((run.limit == 0) if is_outside else (run.limit > 0))
        count = run.counts[some].max() if is_outside else run.counts[some].min()
        here = some & (run.counts == count)
        digit = -math.log(10) / math.log1p(-decay) if 0 < decay < 1 else 1.0
        if "steps shrink" in text:
            assert abs(decay) < 1e-12
            tells(text, int(count))
            said.add("border")
        elif "quick" in text:
            assert digit < 10
            tells(text, *told)
            said.add("quick")
            continue
        else:
            assert digit > 10 * (1 - 1e-9)
            p, q = run.chances
            theta = run.limit[here][0]
            why = (
                1 - run.factors(run.limit)[here][0] if is_outside else (p - q) * theta / (q + (p - q) * theta)
            )
            digits = (
                (lambda shown, digit=digit: abs(shown - digit) < 0.5 + 1e-4 * digit)
                if decay > 1e-11
                else None
            )
            tells(text, *told, digits, int(count), near(why, 1e-11))
            assert ("tends to zero" in text) == is_outside
            said.add("outside" if is_outside else "inside")
        assert ("is the category with" in text) == (here.sum() == 1), (run, text)
        assert ("1 report*" in text) == (count == 1)
    assert said == {"at rest", "border", "quick", "outside", "inside"}


@recomputes(sections._cost_note)
def test_the_size_of_a_matrix_that_is_not_run(many):
    rng = np.random.default_rng(5)
    for k in [LARGEST_MATRIX + 1, 10**6, 10**7, *(10 ** rng.uniform(3.001, 7, many)).astype(int).tolist()]:
        text = sections._cost_note(Cost("ibu_matrix", None), k)
        tells(text, k * k, k * k * 8 / 10**9, LARGEST_MATRIX)
        assert not re.search(r"\de[+-]?\d", text)


@recomputes(results.offer_rest)
def test_a_run_that_is_cut_short_tells_how_far_it_is(many, monkeypatch):
    monkeypatch.setattr(results, "_about", lambda *_: None)
    monkeypatch.setattr(results.long_run, "start_button", lambda *_: False)
    for run in runs(many)[:20]:
        for length in (10, 100, 1000, 10**5):
            text = written(results.offer_rest, None, run.start, length, run.path)
            if length <= run.last:
                assert not text
            else:
                tells(text, run.last, length)


@recomputes(sections._verdict)
def test_the_verdict_on_the_paper_s_numbers_is_that_of_the_measured_ones():
    rows = read_csv("ibu_figure4.csv")

    def medians(n, epsilon, distance):
        return [measured(s, n, epsilon, distance) for s in (0.01, 1.3)]

    def measured(s, n, epsilon, distance, what="median"):
        wanted = (s, n, epsilon, distance)
        (row,) = [row for row in rows if tuple(float(row[name]) for name in list(row)[:4]) == wanted]
        return int(float(row[what]))

    text = plainly(sections._verdict())
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
        text, 0.001, 0.12, 20, 0.01, 1.3, *told, 10_000, 1.0, *medians(10_000, 1.0, 1e-2), 0.01,
        *medians(10_000, 1.0, 1e-4), 0.0001, 10_000, 0.5, 0.01, *draws, 0.000001, 500_000, 0.5, 0.01,
        measured(0.01, 500_000, 0.5, 1e-6),
    )  # fmt: skip
