"""Figures of the geometry page: valid, small, drawing what the core computed; and what they say, worked out another
way."""

from __future__ import annotations

import itertools
import math
import re
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest

from pages._ui.geometry import triangle as triangle_page
from pages._ui.geometry.collinearity import _verdict
from rr_core import RandomizedResponse, Scenario, collinearity, inv_n, inv_p, mle_star
from rr_core.collinearity import theorem2
from rr_core.figures import geometry_line, geometry_triangle
from rr_core.figures.style import QUANTITIES, reading
from rr_core.geometry import replicates, simplex
from rr_core.geometry.push_down import push_down, push_down_candidates
from tests.core import exact
from tests.core.test_geometry_simplex import by_hand, levelled
from tests.figures.samples import drawn, named, values
from tests.figures.test_every_figure import check
from tests.sentences import holds, recomputes
from tests.sentences.drawn import written
from tests.sentences.spoken import near, numbers, random_scenarios, tells

NAMES = ("bus", "R&amp;D", "b%{x}")
THETA = np.array([0.7, 0.2, 0.1])


def built(reports, epsilon, zeros_of="mle_star"):
    found = simplex.estimate_three(reports, RandomizedResponse(3, epsilon))
    circles = simplex.distance_circles(found, simplex.FRAME)
    curves = simplex.likelihood_curves(found, simplex.FRAME)
    layers = geometry_triangle.Layers(
        circles, curves, simplex.zero_regions(zeros_of, found.mechanism), zeros_of
    )
    return found, geometry_triangle.triangle(found, THETA, NAMES, simplex.FRAME, layers)


@pytest.mark.parametrize(
    ("reports", "epsilon", "zeros_of"),
    [((62, 33, 5), 1.0, "inv_n"), ((1, 0, 0), 0.01, "mle_star"), ((1, 1, 1), 20.0, "inv_p")],
)
def test_triangle_is_valid_with_and_without_its_layers(reports, epsilon, zeros_of):
    found, figure = built(reports, epsilon, zeros_of)
    check(figure)
    check(geometry_triangle.triangle(found, None, NAMES, simplex.FRAME, geometry_triangle.Layers()))


def test_triangle_draws_every_estimate_where_it_is_and_takes_a_click_everywhere():
    found, figure = built((62, 28, 10), 1.0)
    for name, shares in {"observed": found.phi, "truth": THETA, **found.estimates}.items():
        trace, quantity = named(figure, QUANTITIES[name].name), QUANTITIES[name]
        np.testing.assert_allclose(simplex.from_plane([trace.x[0], trace.y[0]]), shares, atol=1e-6)
        assert (trace.marker.color, trace.marker.symbol) == (quantity.colour, quantity.symbol)
    assert figure.layout.yaxis.scaleanchor == "x"  # distances are those of the shares
    targets = named(figure, "click anywhere")
    where = np.stack([values(targets, "x"), values(targets, "y")], axis=-1)
    np.testing.assert_allclose(simplex.from_plane(where), simplex.lattice() / simplex.STEPS, atol=1e-6)
    assert targets.hoverinfo != "skip"
    for trace in figure.data:
        assert "%{x}" not in (trace.hovertemplate or "")  # a name cannot fill in a number of the hover
        if "markers" in (trace.mode or ""):  # a click fades nothing
            look = trace.marker.opacity or 1.0
            assert trace.selected.marker.opacity == trace.unselected.marker.opacity == look


def test_inv_far_outside_is_an_arrow_at_the_edge():
    _, figure = built((62, 33, 5), 0.01)
    assert "Inv, far outside" in [trace.name for trace in figure.data]
    (arrow,) = [note for note in figure.layout.annotations if note.showarrow]
    assert arrow.arrowcolor == QUANTITIES["inv"].colour
    assert simplex.FRAME.contains(np.array([arrow.x, arrow.y]))


@pytest.mark.parametrize(
    ("where", "n", "epsilon"),
    list(zip(replicates.TRUTH_PLACES, (2000, 1, 10**9), (1.0, 0.01, 20.0), strict=True)),
)
def test_clouds_hold_the_points_and_the_mean_in_one_view(where, n, epsilon):
    found = replicates.simulate_clouds(Scenario("zipf", 3, 1.2, epsilon, n, 7).draw(), where)
    figure = geometry_triangle.cloud_panels(found, NAMES, replicates.cloud_frame(found))
    check(figure)
    assert len({figure.layout[f"xaxis{i}"].range for i in ("", 2, 3, 4)}) == 1
    for axis, name in zip(("x", "x2", "x3", "x4"), ("inv", "inv_n", "inv_p", "mle_star"), strict=True):
        traces = {trace.name: trace for trace in figure.data if trace.xaxis == axis}
        points = simplex.to_plane(found[name].points)[:, 0]
        np.testing.assert_allclose(values(traces[QUANTITIES[name].name], "x"), points, rtol=1e-6, atol=1e-6)
        mean = simplex.to_plane(found[name].mean)
        np.testing.assert_allclose(values(traces["mean of the cloud"], "y"), mean[1:], atol=1e-12)


@pytest.mark.parametrize("k", [2, 12, 10_000])
def test_figures_of_any_number_of_categories_are_valid(k):
    draw = drawn(k)
    place = collinearity(draw.counts, draw.mechanism)
    check(geometry_line.repairs_plane(place))
    check(geometry_line.support_sizes(place.supports, k))
    *_, aligned = replicates.count_alignment(draw, 40)
    shares = geometry_line.alignment_shares(aligned)
    check(shares)
    assert values(shares.data[0], "x").sum() == pytest.approx(1)
    if aligned.unequal_supports:
        check(geometry_line.off_line_histogram(aligned))
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    for level in (False, True):
        found = push_down(draw.counts, category, draw.mechanism, equalize=level)
        for now in (0, len(found.counts) - 1):
            check(geometry_line.push_down_curves(found, now))
            check(geometry_line.repairs_plane(found.collinearity_at(now)))


def test_plane_keeps_distances():
    here = collinearity(drawn(12).counts, drawn(12).mechanism)
    figure = geometry_line.repairs_plane(here)
    assert here.residual > 1e-3
    spots = {}
    for name in REPAIRS:
        trace = named(figure, QUANTITIES[name].name)
        spots[name] = np.array([values(trace, "x")[0], values(trace, "y")[0]])
    assert np.linalg.norm(spots["inv_n"] - spots["inv_p"]) == pytest.approx(here.length)
    assert spots["mle_star"] == pytest.approx([here.position * here.length, here.residual])
    assert figure.layout.yaxis.scaleanchor == "x"


def test_pushed_down_draws_the_distance_and_marks_where_each_begins_to_keep():
    draw = drawn(12)
    category = int(push_down_candidates(draw.counts, draw.mechanism)[0])
    found = push_down(draw.counts, category, draw.mechanism, equalize=True)
    figure = geometry_line.push_down_curves(found, 3)
    off = named(figure, "off the line (share of InvP to InvN)")
    distance = found.collinearity.residual / found.collinearity.length
    np.testing.assert_allclose(values(off), distance, atol=1e-6)
    here = [trace for trace in figure.data if trace.name == "now"]
    assert [values(trace, "x")[0] for trace in here] == [found.counts[3]] * 2
    for column, name in enumerate(("InvP", "MLE*", "InvN")):
        (line,) = [trace for trace in figure.data if trace.name.startswith(f"{name} keeps it from")]
        assert values(line, "x")[0] == found.counts[int(found.positive[:, column].argmax())]


# What is said, against its numbers. `tests.core.test_collinearity` and `tests.core.test_geometry_simplex` have them from
# exact geometry and from single collections.
REPAIRS = {"inv_p": inv_p, "mle_star": mle_star, "inv_n": inv_n}
EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 20.0)


def histograms(seed, many, ks=range(2, 13)):
    """Random histograms and mechanisms over the ranges, corners among them."""
    rng = np.random.default_rng(seed)
    for _ in range(many):
        k, n = int(rng.choice(ks)), int(rng.choice([1, 2, 7, 40, 400, 10**9]))
        counts = rng.multinomial(n, rng.dirichlet(np.full(k, float(rng.choice([0.1, 0.6, 3.0])))))
        yield counts, RandomizedResponse(k, float(rng.choice(EPSILONS)))


def place_along(said, position):
    """What a sentence has to tell of a position between InvP and InvN: nothing right beside one of them."""
    if "all but at" not in said:
        return [near(position, 1e-7)]  # beside an end it loses its last digits to rounding
    assert abs(position - ("all but at InvN" in said)) < 5.1e-4
    return []


@holds(
    "No share of reports is below q: nothing was cut off, and the three repairs coincide with Inv.",
    "Inv has no negative here, so nothing is cut off: InvP, MLE* and InvN are all Inv itself, one point.",
)
@recomputes(geometry_line._plane_reading, _verdict)
def test_the_plane_says_where_mle_star_is(many):
    seen = set()
    for counts, mechanism in [*histograms(1, 2 * many), (np.array([60, 25, 5]), RandomizedResponse(3, 1.0))]:
        place, conditions = collinearity(counts, mechanism), theorem2(counts, mechanism)
        said, verdict = reading(geometry_line.repairs_plane(place)), _verdict(place, conditions)
        seen.add(verdict[:14])
        assert ("Inv has no negative" in said) == ("nothing was cut off" in verdict) == (not place.cut_off)
        if not place.length:
            points = [make(counts, mechanism) for make in REPAIRS.values()]
            np.testing.assert_allclose(points, [points[0]] * 3, atol=1e-9)
            assert "one point" in said or "same point" in said
            assert "coincide" in verdict
            tells(said)
            continue
        assert ("MLE\\* is off the line" in verdict) == (not place.on_line)
        if "MLE* and InvP are one point" in said:
            assert not place.position
            tells(said, place.length)
        else:
            assert ("exactly on the line" in said) == place.on_line
            off = [] if place.on_line else [place.residual, place.residual / place.length]
            tells(said, *place_along(said, place.position), *off)
        if "easured" in verdict:
            told = numbers(verdict)
            assert told[-1] == pytest.approx(1 / place.position, rel=1e-5)
            if "Theorem 2 applies" in verdict:
                first = counts.min() / counts.sum()
                assert told[-2] == pytest.approx((1 - first) / (mechanism.p - first), rel=1e-5)
    assert len(seen) == 5


@recomputes(geometry_line.alignment_shares, geometry_line.off_line_histogram)
def test_shares_of_draws_on_the_line_are_those_that_were_counted(many):
    for scenario in [Scenario("zipf", 12, 1.5, 1.0, 2000, 5), *random_scenarios(many // 5, 12)]:
        *_, found = replicates.count_alignment(scenario.draw(), 20)
        parts = 1 - found.n_off_line / 20, 20, found.theorem2 / 20, found.only_equal_supports / 20
        tells(reading(geometry_line.alignment_shares(found)).replace("Theorem 2", ""), *parts)
        if found.n_off_line:
            far = found.off_line_distances
            largest = [float(far.max())] if far.size > 1 else []
            tells(reading(geometry_line.off_line_histogram(found)), far.size, float(np.median(far)), *largest)


@recomputes(geometry_line._supports_reading)
def test_the_supports_are_counted(many):
    for counts, mechanism in histograms(2, many):
        said = reading(geometry_line.support_sizes(collinearity(counts, mechanism).supports, mechanism.k))
        sizes = [int((make(counts, mechanism) > 0).sum()) for make in REPAIRS.values()]
        equal = len(set(sizes)) == 1
        assert ("positive everywhere" in said or "equal supports" in said) == equal
        assert ("positive everywhere" in said) == (equal and sizes[0] == mechanism.k)
        tells(said, *([] if sizes[0] == mechanism.k else sizes[:1] if equal else sizes), mechanism.k)


@holds(
    "Here **Inv** has no negative share, so there is nothing to repair.",
    "Inv lies inside the triangle: it is a distribution already, there is nothing to repair, and InvN, InvP and MLE* all stay on it.",  # noqa: E501
)
@recomputes(geometry_triangle._triangle_reading, triangle_page._explanation, triangle_page._worked_line)
def test_what_each_repair_does_in_the_triangle(many):
    seen = set()
    for counts, mechanism in histograms(4, 2 * many, ks=[3]):
        three = simplex.estimate_three(counts, mechanism)
        said, text = geometry_triangle._triangle_reading(three), triangle_page._explanation(three)
        raw, (p, m, n) = three.estimates["inv"], (three.estimates[name] for name in REPAIRS)
        assert (
            ("nothing to repair" in said) == ("nothing to repair" in text) == (not three.collinearity.cut_off)
        )
        if "nothing to repair" in text:
            assert raw.min() >= -1e-12
            seen.add("inside")
        elif "equal shares" in text:
            assert math.dist(p, n) < 1e-9
            assert np.ptp(n[n > 0]) < 1e-9
            assert "has equal shares or is a single category" in said
            seen.add("one point")
        elif "single category" in text:
            assert ((m > 0).sum(), (p > 0).sum()) == (1, 1)
            assert "keep a single category" in said
            seen.add("single")
        else:
            tells(said, *place_along(said, three.collinearity.position))
            both, taken = n > 0, float((raw - p)[p > 0].mean())
            assert both.sum() == 2
            assert ((m > 0) == both).all()
            total = raw[both].sum()
            odds = math.expm1(mechanism.epsilon)
            told_parts = re.search(r"of (\S+) reports about the two, (\S+) \(eᵋ", text).groups()
            assert told_parts[0] != told_parts[1]
            tells(" ".join(told_parts), odds + 2, odds)
            if np.ptp(raw[both]) > 1e-4 * total:  # the slope of two bars that are nearly equal is rounding
                # The line through the two points (Inv, MLE*), from its slope.
                stretch = float(np.ptp(m[both]) / np.ptp(raw[both]))
                lowered = stretch * raw[both].max() - m.max()
                whole = [1.0] if "to 100%" in text else []
                told = [taken * 100, 1 / stretch, lowered * 100, *whole, 1 / stretch, total, 1.0]
                shown = re.sub(r"MLE\\\*|: of \S+ reports .* and are not", "", text)
                tells(shown, *sorted(raw[both].tolist(), reverse=True), total, *told)
            assert ("**one line**" in text) == ((p > 0).sum() == 2)
            seen.add("alone" if (p > 0).sum() == 1 else "line")
            assert ("nearly cover each other" in text) == (math.dist(p, n) < 0.15)
            seen.add("nearer" if f"**{triangle_page._CLOSE}** parts them" in text else "far")
    assert seen == {"inside", "one point", "single", "far", "nearer", "alone", "line"}


@recomputes(geometry_line._push_down_reading)
def test_every_stretch_off_the_line_is_named(many):
    """Against every single count, tried one by one on the full histogram."""
    stretches = set()
    for trial, (counts, mechanism) in enumerate(histograms(7, 2 * many)):
        chosen = [c for c in push_down_candidates(counts, mechanism) if 0 < counts[c] <= 400]
        if not chosen:
            continue
        category, level = int(chosen[0]), bool(trial % 2)
        found = push_down(counts, category, mechanism, equalize=level)
        start = levelled(counts, mechanism) if level else counts
        every = np.stack([by_hand(start, category, x) for x in range(counts[category] + 1)])
        edges = np.flatnonzero(np.diff(np.r_[0, ~collinearity(every, mechanism).on_line, 0])).reshape(-1, 2)
        assert found.off_line_ranges == [(int(a), int(b) - 1) for a, b in edges]
        said = reading(geometry_line.push_down_curves(found, 0))
        stretches.add(len(found.off_line_ranges))
        if "no line to leave" in said:
            assert not found.collinearity.length.any()
            continue
        for low, high in found.off_line_ranges:
            assert (f"from {low:,} to {high:,}" if low < high else f"at {low:,}") in said
        assert ("on the line at every count" in said) == (not found.off_line_ranges)
        for name, positive in zip(REPAIRS, found.positive.T, strict=True):
            if positive.any() and not positive.all():
                first = int(found.counts[int(positive.argmax())])
                assert f"{QUANTITIES[name].name} below {first:,}" in said
    assert stretches >= {0, 1, 2}


# Bias


@cache
def law(users, epsilon):
    """Every histogram of the reports of these users (three categories), with its exact probability."""
    found = exact.histogram_law(users, RandomizedResponse(3, epsilon).matrix().tolist())
    return np.array([*found]), np.array([*found.values()], float)


def exact_bias(users, epsilon):
    reports, chance = law(users, epsilon)
    theta = np.array(users) / sum(users)
    return {
        name: float(np.linalg.norm(chance @ make(reports, RandomizedResponse(3, epsilon)) - theta))
        for name, make in REPAIRS.items()
    }


@holds("whose is the farthest, {} collections cannot tell")
@pytest.mark.slow
def test_no_bias_and_no_order_is_told_that_the_exact_law_does_not_have():
    """Half and half the three biases are the same, by symmetry."""
    told = dict.fromkeys(("farthest", "cannot tell", "all three", "told from chance"), 0)
    for (n, epsilon), where in itertools.product(
        itertools.product((1, 5, 20), EPSILONS[::2]), replicates.TRUTH_PLACES
    ):
        draw = Scenario("zipf", 3, 0.7, epsilon, n, 11).draw()
        found = replicates.simulate_clouds(draw, where)
        true = exact_bias(tuple(replicates.cloud_true_counts(draw, where).tolist()), epsilon)
        said = geometry_triangle._clouds_reading(found)
        assert all(true[name] > 1e-9 for name in REPAIRS if found[name].is_biased), (n, epsilon, where)
        if winner := re.search(r"(\S+)'s is the farthest", said):
            (first,) = [name for name in REPAIRS if QUANTITIES[name].name == winner[1]]
            assert all(true[first] > true[other] + 1e-9 for other in REPAIRS if other != first), said
        for words in told:
            told[words] += words in said
    assert all(told.values()), told


@recomputes(geometry_triangle._clouds_reading, triangle_page._bias_table)
def test_lengths_of_biases_are_those_of_the_points(many):
    """Of every estimator, from the points; which are told from chance, by four standard errors."""
    said, names, rng = set(), ("inv", *REPAIRS), np.random.default_rng(12)
    at = [(1, 20.0), (1, 0.5), (3, 1.0), (40, 1.0), (2000, 1.0), (10**6, 20.0), (3000, 2.0)]
    at += [(int(10 ** rng.uniform(0, 7)), float(np.exp(rng.uniform(-3, 3)))) for _ in range(many // 12)]
    for i, (n, epsilon) in enumerate(at):
        draw = Scenario("zipf", 3, float(rng.uniform(0, 5)), epsilon, n, 1 + i).draw()
        where = replicates.TRUTH_PLACES[i % 3]
        found, truth = replicates.simulate_clouds(draw, where), replicates.cloud_true_counts(draw, where) / n
        points = {name: found[name].points for name in names}
        length = {name: math.dist(points[name].mean(axis=0), truth) for name in names}
        spread = {name: math.sqrt(points[name].var(axis=0, ddof=1).sum()) for name in names}
        rows, _, rest = triangle_page._bias_table(found).partition("\n\n")
        for name, row in zip(("inv", "inv_n", "inv_p", "mle_star"), rows.splitlines()[2:], strict=True):
            assert row.split("|")[1].strip("* ").replace("\\", "") == QUANTITIES[name].name.strip("*")
            numbers_of = length[name], spread[name] / 20, spread[name]  # of 400 collections
            tells(row, *(near(true, 1e-15) for true in numbers_of))
        tells(rest, 400)
        text, expected = geometry_triangle._clouds_reading(found), [400]
        if "same reports" in text:
            assert (points["inv"] == points["inv"][0]).all()
        elif "none of the" in text:
            assert points["inv"].min() >= 0
        elif "can be told" not in text:
            told = set(re.findall(r"InvP|InvN|MLE\*", text.partition("farther from")[0]))
            assert told <= {QUANTITIES[name].name for name in REPAIRS if length[name] > spread[name] / 5}
            if first := re.search(r"; (\S+)'s is the farthest", text):
                (winner,) = [name for name in REPAIRS if QUANTITIES[name].name == first[1]]
                assert length[winner] == max(length[name] for name in REPAIRS)
                expected.append(length[winner])
            elif "all three are the same" in text:
                assert max(np.abs(points[name] - points["inv_p"]).max() for name in REPAIRS) < 1e-11
                expected.append(length["inv_p"])
            else:
                expected.append(400)
        tells(text, *expected)
        said.add(re.sub(r"[\d.]+|InvP|InvN|MLE\*", "", text)[:20])
    assert len(said) >= 3


@holds("With the same reports, the larger ε, the nearer it is to InvN.")
@recomputes(triangle_page.why_section)
def test_with_the_same_reports_a_larger_epsilon_brings_mle_star_nearer_to_inv_n(many, monkeypatch):
    monkeypatch.setattr(triangle_page.truth, "hidden", lambda: False)
    for counts, mechanism in histograms(5, 2 * many, ks=[3]):
        first, more = (collinearity(counts, RandomizedResponse(3, mechanism.epsilon * by)) for by in (1, 1.3))
        if first.same_support and more.same_support and min(first.length, more.length) > 1e-6:
            assert more.position >= first.position - 1e-9
    three = Scenario("zipf", 3, 1.0, 1.0, 30, 1).draw()
    text = written(triangle_page.why_section, simplex.estimate_three(counts, mechanism), None, three)
    for words in (triangle_page._CIRCLES, triangle_page._CURVES):
        assert f"**{words}**" in text


@recomputes(triangle_page._move_reports)
def test_an_example_is_shown_only_where_the_scenario_has_no_negative(many, monkeypatch):
    seen = set()
    monkeypatch.setattr(triangle_page, "_share_widgets", lambda *_: None)
    for name in ("PICKED", "_scenario"):
        held = SimpleNamespace(current=triangle_page.PickedReports) if name == "PICKED" else lambda: 1
        monkeypatch.setattr(triangle_page, name, held)
    for scenario in [Scenario("zipf", 2, 1.0, 1.0, 500, 1), *random_scenarios(many, 20)]:
        monkeypatch.setattr(triangle_page.link, "current", lambda scenario=scenario: scenario)
        draw = scenario.draw()
        three = simplex.three_categories(draw)
        example = triangle_page._needs_an_example(draw, three)
        result = simplex.estimate_three(three.counts, three.mechanism)
        move = partial(triangle_page._move_reports, example=example)
        text = written(move, three, result, None, ["a", "b", "c"])
        negative = (three.counts * (math.exp(scenario.epsilon) + 2) < scenario.n * (1 - 1e-13)).any()
        assert ("**example**" in text) == (scenario.k != 3 and not negative)
        if example:
            assert ("two categories, with an empty third," in text) == (scenario.k == 2)
            seen.add(scenario.k == 2)
    assert seen == {True, False}
