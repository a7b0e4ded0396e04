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
from numpy.typing import NDArray

from pages._ui.geometry import triangle as triangle_page
from pages._ui.geometry.collinearity import _verdict
from rr_core import RandomizedResponse, Scenario, collinearity, inv, inv_n, inv_p, mle_star
from rr_core.collinearity import theorem2
from rr_core.figures.geometry_line import (
    _plane_reading,
    _push_down_reading,
    _supports_reading,
    alignment_shares,
    off_line_histogram,
    push_down_curves,
    repairs_plane,
    support_sizes,
)
from rr_core.figures.geometry_triangle import (
    Layers,
    _clouds_reading,
    _triangle_reading,
    cloud_panels,
    triangle,
)
from rr_core.figures.style import QUANTITIES, reading
from rr_core.geometry.push_down import push_down, push_down_candidates
from rr_core.geometry.replicates import (
    TRUTH_PLACES,
    Cloud,
    cloud_frame,
    cloud_true_counts,
    count_alignment,
    simulate_clouds,
)
from rr_core.geometry.simplex import (
    FRAME,
    STEPS,
    close_view,
    distance_circles,
    estimate_three,
    example_with_a_negative,
    from_plane,
    lattice,
    likelihood_curves,
    three_categories,
    to_plane,
    zero_regions,
)
from tests.core import exact
from tests.core.test_geometry_simplex import by_hand, levelled
from tests.figures.samples import drawn, named, values
from tests.figures.test_every_figure import check
from tests.sentences import holds, recomputes
from tests.sentences.drawn import written
from tests.sentences.spoken import numbers, random_scenarios, reads, tells

NAMES = ("bus", "R&amp;D", "x" * 16)
SOME = (2, 3, 12, 10_000)
THETA = np.array([0.7, 0.2, 0.1])
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


@pytest.mark.parametrize(
    ("reports", "epsilon", "zeros_of"),
    [
        ((62, 33, 5), 1.0, "inv_n"),
        ((85, 10, 5), 1.0, "inv_p"),
        ((40, 35, 25), 1.0, "mle_star"),
        ((1, 0, 0), 0.01, "mle_star"),
        ((1, 1, 1), 20.0, "inv_p"),
    ],
)
def test_triangle_is_valid_with_and_without_its_layers(reports, epsilon, zeros_of):
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
    for now in (0, len(found.counts) - 1):
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


REPAIRS = {"inv_p": inv_p, "mle_star": mle_star, "inv_n": inv_n}
EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 20.0)


def histograms(seed, many, most_k=13):
    """Random histograms and mechanisms over the ranges, corners among them."""
    rng = np.random.default_rng(seed)
    for _ in range(many):
        k, n = int(rng.integers(2, most_k)), int(rng.choice([1, 2, 7, 40, 400, 10**9]))
        shape = float(rng.choice([0.1, 0.6, 3.0]))
        counts = rng.multinomial(n, rng.dirichlet(np.full(k, shape)))
        yield counts, RandomizedResponse(k, float(rng.choice(EPSILONS)))


def off_the_line(counts, mechanism):
    """Length from InvP to InvN, and distance of MLE* from the line through them, in plain coordinates; 0 where it is
    their rounding."""
    p, m, n = (make(counts, mechanism) for make in REPAIRS.values())
    length = float(np.linalg.norm(n - p))
    if length < 1e-12:
        return 0.0, 0.0
    along = (n - p) / length
    off = float(np.linalg.norm((m - p) - ((m - p) @ along) * along))
    return length, off if off > 1e-7 * length + 1e-14 else 0.0


def way_along(counts, mechanism):
    """How far MLE* is from InvP to InvN."""
    p, m, n = (make(counts, mechanism) for make in REPAIRS.values())
    return float((m - p) @ (n - p) / ((n - p) @ (n - p)))


def is_way_along(counts, mechanism):
    """Whether a number is that, to three digits; near an end the plain computation loses its last digits."""
    true = way_along(counts, mechanism)
    return lambda told: reads(told, true) or abs(told - true) < 1e-7


@holds(
    "No share of reports is below q: nothing was cut off, and the three repairs coincide with Inv.",
    "Inv has no negative here, so nothing is cut off: InvP, MLE* and InvN are all Inv itself, one point.",
)
@recomputes(_plane_reading, _verdict)
def test_the_plane_says_where_mle_star_is(many):
    seen = set()
    for counts, mechanism in [*histograms(1, 3 * many), ([60, 25, 5], RandomizedResponse(3, 1.0))]:
        place = collinearity(counts, mechanism)
        length, off = off_the_line(counts, mechanism)
        said, verdict = reading(repairs_plane(place)), _verdict(place, theorem2(counts, mechanism))
        where = [] if "all but at" in said or not place.length else [is_way_along(counts, mechanism)]
        if "all but at" in said:
            assert abs(way_along(counts, mechanism) - ("all but at InvN" in said)) < 5.1e-4
        if not place.length:
            assert length < 1e-9
            assert "one point" in said or "same point" in said
            assert "coincide" in verdict
            tells(said.replace("MLE*", ""))
        elif "MLE* and InvP are one point" in said:
            tells(said, length)
            np.testing.assert_allclose(mle_star(counts, mechanism), inv_p(counts, mechanism), atol=1e-15)
            assert "off the line" not in verdict
        elif "exactly on the line" in said:
            assert not off
            assert "off the line" not in verdict
            tells(said, *where)
        else:
            assert off
            tells(said, *where, off, off / length)
            assert "MLE\\* is off the line" in verdict
        if "Measured" in verdict or "measured" in verdict:
            *stated, measured = numbers(
                verdict.replace("φ₁", "").replace("1 −", "").partition("by which")[2] or verdict
            )[-2:]
            assert measured == pytest.approx(1 / way_along(counts, mechanism), rel=2e-5)
            if "applies" in verdict and "not apply" not in verdict:
                first = np.min(counts) / np.sum(counts)
                assert stated[0] == pytest.approx((1 - first) / (mechanism.p - first), rel=1e-5)
        seen.add(verdict[:14])
    assert len(seen) == 5


def by_theorem_2(counts, mechanism):
    """Whether its two conditions hold: the smallest share is below q, the second smallest is not too small."""
    first, second = np.sort(counts / counts.sum())[:2]
    needed = (mechanism.k * mechanism.q - first) / (mechanism.k - 1)
    return first < mechanism.q * (1 - 1e-13) and second >= needed - 1e-13


@recomputes(alignment_shares, off_line_histogram)
def test_shares_of_draws_on_the_line_are_those_of_the_estimates(many):
    some = ((2, 0.01, 1), (4, 0.5, 60), (12, 1.0, 2000), (12, 20.0, 10))
    settings = [Scenario("zipf", k, 1.5, epsilon, n, 5) for k, epsilon, n in some]
    for scenario in [*settings, *random_scenarios(many // 5, 12)]:
        draw = scenario.draw()
        *_, found = count_alignment(draw, 20)
        reports = draw.collector().draw(0, 20).reports
        lines = [off_the_line(row, draw.mechanism) for row in reports]
        same = [
            len({tuple(make(row, draw.mechanism) > 0) for make in REPAIRS.values()}) == 1 for row in reports
        ]
        cut = [(row < draw.scenario.n * draw.mechanism.q * (1 - 1e-13)).any() for row in reports]
        theorem = [by_theorem_2(row, draw.mechanism) for row in reports]
        assert found.n_off_line == sum(off > 0 for _, off in lines)
        tells(
            reading(alignment_shares(found)).replace("Theorem 2", ""),
            1 - np.mean([off > 0 for _, off in lines]),
            20,
            np.mean(theorem),
            np.mean([a and b and not c for a, b, c in zip(same, cut, theorem, strict=True)]),
        )
        if found.n_off_line:
            far = [off / length for (length, off), one in zip(lines, same, strict=True) if not one]
            told = numbers(reading(off_line_histogram(found)))
            assert told[0] == len(far)
            assert told[1] / 100 == pytest.approx(np.median(far), rel=0.006)
            assert told[2:] == pytest.approx([100 * max(far)] * (len(far) > 1), rel=0.006)


@recomputes(_supports_reading)
def test_the_supports_are_counted_and_nested(many):
    for counts, mechanism in histograms(2, 3 * many):
        place = collinearity(counts, mechanism)
        kept = {
            name: set(np.flatnonzero(make(counts, mechanism) > 0).tolist()) for name, make in REPAIRS.items()
        }
        said = reading(support_sizes(place.supports, mechanism.k))
        assert kept["inv_p"] <= kept["mle_star"] <= kept["inv_n"]
        if "Inv is positive everywhere" in said:
            assert (counts / counts.sum() > mechanism.q).all()
            tells(said.replace("MLE*", ""), mechanism.k)
        elif "equal supports" in said:
            assert kept["inv_p"] == kept["inv_n"]
            tells(said, len(kept["inv_p"]), mechanism.k)
        else:
            sizes = [len(kept[name]) for name in REPAIRS]
            tells(said, *sizes, mechanism.k)


@holds(
    "Here **Inv** has no negative share, so there is nothing to repair.",
    "Inv lies inside the triangle: it is a distribution already, there is nothing to repair, and InvN, InvP and MLE* all stay on it.",  # noqa: E501
)
@recomputes(_triangle_reading)
def test_the_triangle_says_where_mle_star_is(many):
    for counts, mechanism in histograms(3, 3 * many, most_k=4):
        if mechanism.k != 3:
            continue
        found = estimate_three(counts, mechanism)
        said = reading(triangle(found, np.full(3, 1 / 3), "abc", FRAME, Layers()))
        length, off = off_the_line(counts, mechanism)
        negative = (counts / counts.sum() < mechanism.q - 1e-15).any()
        if "nothing to repair" in said:
            assert not negative
        elif "one and the same point" in said:
            assert length < 1e-9
        elif "keep a single category" in said:
            assert all((found.estimates[name] > 0).sum() == 1 for name in ("inv_p", "mle_star"))
        else:
            assert negative
            assert not off
            p, m, n = (found.estimates[name] for name in REPAIRS)
            assert -1e-12 <= (m - p) @ (n - p) <= length**2 + 1e-12
            at = way_along(counts, mechanism)
            if "all but at" in said:
                assert abs(at - ("all but at InvN" in said)) < 5.1e-4
            else:
                tells(said, is_way_along(counts, mechanism))
                assert 4.9e-4 < at < 0.99951
    near = RandomizedResponse(3, 20.0)
    said = reading(
        triangle(estimate_three(example_with_a_negative(near), near), None, "abc", FRAME, Layers())
    )
    assert said.endswith("all but at InvN.")


# Pushing one category down


@recomputes(_push_down_reading)
def test_every_stretch_off_the_line_is_named(many):
    """Against every single count, tried one by one on the full histogram."""
    stretches = set()
    for trial, (counts, mechanism) in enumerate(histograms(7, max(60, many // 4))):
        chosen = [c for c in push_down_candidates(counts, mechanism) if 0 < counts[c] <= 400]
        if not chosen:
            continue
        category, level = int(chosen[trial % len(chosen)]), bool(trial % 2)
        found = push_down(counts, category, mechanism, equalize=level)
        start = levelled(counts, mechanism) if level else counts
        every = np.stack([by_hand(start, category, x) for x in range(counts[category] + 1)])
        off = ~collinearity(every, mechanism).on_line
        edges = np.flatnonzero(np.diff(np.r_[0, off, 0])).reshape(-1, 2)
        wanted = [(int(a), int(b) - 1) for a, b in edges]
        assert found.off_line_ranges == wanted, (counts, category, level)
        stretches.add(len(wanted))
        said = reading(push_down_curves(found, 0))
        if "no line to leave" in said:
            continue
        for low, high in wanted:
            assert (f"from {low:,} to {high:,}" if low < high else f"at {low:,}") in said
        for name, make in REPAIRS.items():
            kept = make(every, mechanism)[:, category] > 0
            assert f"{QUANTITIES[name].name} below {int(kept.argmax()):,}" in said
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


@holds(
    "**Inv is unbiased:** what it shows here is chance.",
    "So a category that nobody has may be given a share, and never a negative one: on average too much, and that is a bias.",  # noqa: E501
)
def test_inv_is_unbiased_and_repairs_give_a_category_that_nobody_has_too_much():
    """By the exact law, at every corner of the range."""
    for n, epsilon, where in itertools.product((1, 2, 13), EPSILONS, ("edge", "corner")):
        users = (n - (n // 2 if where == "edge" else 0), n // 2 if where == "edge" else 0, 0)
        reports, chance = law(users, epsilon)
        mechanism = RandomizedResponse(3, epsilon)
        unit = 1 / (mechanism.p - mechanism.q)
        np.testing.assert_allclose(chance @ inv(reports, mechanism), np.array(users) / n, atol=1e-12 * unit)
        for make in REPAIRS.values():
            assert make(reports, mechanism).min() >= 0
            assert chance @ make(reports, mechanism)[:, 2] > 0


def said_of(found):
    return reading(cloud_panels(found, ["a", "b", "c"], cloud_frame(found)))


@holds("whose is the farthest, {} collections cannot tell")
@pytest.mark.slow
def test_no_bias_and_no_order_is_told_that_the_exact_law_does_not_have():
    """Half and half the three biases are the same, by symmetry."""
    told = {"farthest": 0, "cannot tell": 0, "all three": 0, "told from chance": 0}
    for (n, epsilon), where in itertools.product(itertools.product((1, 5, 30), EPSILONS), TRUTH_PLACES):
        draw = Scenario("zipf", 3, 0.7, epsilon, n, 11).draw()
        found = simulate_clouds(draw, where)
        true = exact_bias(tuple(cloud_true_counts(draw, where).tolist()), epsilon)
        said = said_of(found)
        for name in REPAIRS:
            if found[name].is_biased:
                assert true[name] > 1e-9, (n, epsilon, where, name)
        winner = re.search(r"(\S+)'s is the farthest", said)
        if winner:
            (first,) = [name for name in REPAIRS if QUANTITIES[name].name == winner[1]]
            assert all(true[first] > true[other] + 1e-9 for other in REPAIRS if other != first), said
        for words in told:
            told[words] += words in said
    assert all(told.values()), told


def test_a_difference_is_told_from_pairs():
    """The same collections: a small difference that is there in nearly every one counts, a large one that is there
    in one of them does not."""
    rng = np.random.default_rng(3)
    theta, noise = np.array([0.5, 0.3, 0.2]), rng.normal(0, 0.1, (400, 3))
    points: NDArray = theta + np.array([0.2, -0.1, -0.1]) + noise
    far = points + np.array([0.002, -0.001, -0.001]) + rng.normal(0, 0.001, (400, 3))
    assert Cloud(far, theta).has_larger_bias_than(Cloud(points, theta))
    assert not Cloud(points, theta).has_larger_bias_than(Cloud(far, theta))
    once = points.copy()
    once[7] += 3.0
    assert not Cloud(once, theta).has_larger_bias_than(Cloud(points, theta))


def test_one_report_is_not_told_as_several():
    found = push_down([12, 1, 9, 0], 1, RandomizedResponse(4, 3.0))
    said = reading(push_down_curves(found, 0))
    assert re.search(r"\b1 report\b", said)
    assert not re.search(r"\b1 reports", said)


def test_a_single_category_that_is_left_is_not_told_as_equal_ones():
    found = estimate_three([9, 0, 0], RandomizedResponse(3, 1.0))
    drawn = FRAME
    assert (found.estimates["inv_n"] > 0).sum() == 1
    said = reading(triangle(found, np.full(3, 1 / 3), "abc", drawn, Layers()))
    assert "what they leave has equal shares or is a single category" in said


@recomputes(_clouds_reading, triangle_page._bias_table)
def test_lengths_of_biases_are_those_of_the_points(many):
    """Of every estimator, from the points; which are told from chance, by four standard errors."""
    said, at = set(), [(1, 20.0), (1, 0.5), (3, 1.0), (40, 1.0), (2000, 1.0), (10**6, 20.0), (3000, 2.0)]
    rng = np.random.default_rng(12)
    at += [
        (int(10 ** rng.uniform(0, 7)), float(np.exp(rng.uniform(-3, 3)))) for _ in range(max(many // 25, 4))
    ]
    for i, (n, epsilon) in enumerate(at):
        draw = Scenario("zipf", 3, float(rng.uniform(0, 5)), epsilon, n, 1 + i).draw()
        where = TRUTH_PLACES[i % 3]
        found, truth = simulate_clouds(draw, where), cloud_true_counts(draw, where) / n
        lengths, chances, told = {}, {}, []
        for name in ("inv", *REPAIRS):
            points = found[name].points
            assert (found[name].theta == truth).all()
            lengths[name] = math.dist(points.mean(axis=0), truth)
            squares = ((points - points.mean(axis=0)) ** 2).sum() / (len(points) - 1)
            chances[name] = math.sqrt(squares / len(points))
        table, text = triangle_page._bias_table(found), said_of(found)
        rows = table.partition("\n\n")[0].splitlines()[2:]
        for row in rows:
            name = re.sub(r"\W", "", row.split("|")[1]).lower().replace("inv", "inv_").rstrip("_")
            name = "mle_star" if name == "mle" else name
            told.append(name)
            numbers_of = lengths[name], chances[name], chances[name] * 20
            tells(
                row,
                *(
                    lambda shown, true=true: reads(shown, true) or abs(shown - true) < 1e-15
                    for true in numbers_of
                ),
            )
        assert sorted(told) == sorted(lengths)
        tells(table.partition("\n\n")[2], 400)
        shown = re.sub(r"MLE\*", "", text)
        if "same reports" in text:
            assert (found["inv"].points == found["inv"].points[0]).all()
            tells(shown, 400)
        elif "none of the" in text:
            assert found["inv"].points.min() >= 0
            tells(shown, 400)
        elif "can be told" in text:
            tells(shown, 400)
        else:
            named = set(re.findall(r"InvP|InvN|MLE\*", text.partition("farther from")[0]))
            far = {QUANTITIES[name].name for name in REPAIRS if lengths[name] > 4 * chances[name]}
            assert named <= far
            assert ("mean of" in text) == (len(named) == 1)
            if first := re.search(r"; (\S+)'s is the farthest", text):
                (winner,) = [name for name in REPAIRS if QUANTITIES[name].name == first[1]]
                assert lengths[winner] == max(lengths[name] for name in REPAIRS)
                tells(shown, 400, lengths[winner])
            elif "all three are the same" in text:
                assert len(named) == 3
                clouds = [found[name].points for name in REPAIRS]
                assert max(np.abs(one - clouds[0]).max() for one in clouds) < 1e-11
                tells(shown, 400, lengths["inv_p"])
            else:
                tells(shown, 400, 400)
        said.add(re.sub(r"[\d.]+|InvP|InvN|MLE\*", "", text)[:20])
    assert len(said) >= 3


@recomputes(triangle_page._explanation, triangle_page._worked_line)
def test_what_each_repair_does_to_the_two_bars_that_stay(many):
    seen = set()
    for counts, mechanism in histograms(4, 3 * many, most_k=4):
        if mechanism.k != 3:
            continue
        three = estimate_three(counts, mechanism)
        text = triangle_page._explanation(three)
        raw = inv(counts, mechanism)
        p, m, n = (make(counts, mechanism) for make in REPAIRS.values())
        if "nothing to repair" in text:
            assert raw.min() >= -1e-12
            seen.add("inside")
        elif "equal shares" in text:
            assert math.dist(p, n) < 1e-9
            kept = n[n > 0]
            assert np.ptp(kept) < 1e-9
            seen.add("one point")
        elif "single category" in text:
            assert ((m > 0).sum(), (p > 0).sum()) == (1, 1)
            seen.add("single")
        else:
            both, taken = n > 0, float((raw - p)[p > 0].mean())
            assert both.sum() == 2
            assert ((m > 0) == both).all()
            total = raw[both].sum()
            np.testing.assert_allclose(n[both], raw[both] / total, rtol=1e-9)
            np.testing.assert_allclose((raw - p)[p > 0], taken, rtol=1e-9, atol=1e-12)
            # The line through the two points (Inv, MLE*), from its slope.
            stretch = float(np.ptp(m[both]) / np.ptp(raw[both]))
            lowered = stretch * raw[both].max() - m.max()
            told_parts = re.search(r"of (\S+) reports about the two, (\S+) \(eᵋ", text).groups()
            assert told_parts[0] != told_parts[1]
            tells(" ".join(told_parts), math.exp(mechanism.epsilon) + 1, math.exp(mechanism.epsilon) - 1)
            if np.ptp(raw[both]) > 1e-4 * total:  # the slope of two bars that are nearly equal is rounding
                assert 1 / total - 1e-9 < stretch < 1 + 1e-9
                assert lowered > -1e-9
                divisor = 1 / stretch
                whole = [1.0] if "to 100%" in text else []
                told = [taken * 100, divisor, lowered * 100, *whole, divisor, total, 1.0]
                ends = sorted(raw[both].tolist(), reverse=True)
                shown = re.sub(r"MLE\\\*|: of \S+ reports .* and are not", "", text)
                tells(shown, *ends, total, *told)
            assert ("**one line**" in text) == ((p > 0).sum() == 2)
            seen.add("alone" if (p > 0).sum() == 1 else "line")
            assert (p == 0).any()
            assert any(one[i] == 0 for i in range(3) for one in (p, m, n))
            assert any((np.array([p, m, n])[:, i] == 0).all() for i in range(3))  # on one edge
            left, right = close_view(three).x
            near = math.dist(p, n) < 0.15
            parted = near and math.dist(p, n) > 0.03 * (right - left)
            assert ("nearly cover each other" in text) == near
            assert (f"**{triangle_page._CLOSE}** parts them" in text) == parted
            seen.add("far" if not near else "near" if parted else "nearer")
    assert seen == {"inside", "one point", "single", "far", "near", "nearer", "alone", "line"}


@holds("With the same reports, the larger ε, the nearer it is to InvN.")
@recomputes(triangle_page.why_section)
def test_circles_touch_the_triangle_at_inv_p_and_curves_at_mle_star(many, monkeypatch):
    """No point of a fine lattice is nearer to Inv than InvP, or likelier than MLE*."""
    monkeypatch.setattr(triangle_page.truth, "hidden", lambda: False)
    steps = lattice() / 50
    for counts, mechanism in histograms(5, many, most_k=4):
        if mechanism.k != 3:
            continue
        found = estimate_three(counts, mechanism)
        text = written(triangle_page.why_section, found, None, Scenario("zipf", 3, 1.0, 1.0, 30, 1).draw())
        for words in (triangle_page._CIRCLES, triangle_page._CURVES):
            assert f"**{words}**" in text
        raw, nearest, likeliest = (found.estimates[name] for name in ("inv", "inv_p", "mle_star"))
        # With the same reports, the larger epsilon, the nearer MLE* is to InvN; and Inv of two stretches less.
        first, more = (collinearity(counts, RandomizedResponse(3, mechanism.epsilon * by)) for by in (1, 1.3))
        if first.same_support and more.same_support and min(first.length, more.length) > 1e-6:
            assert more.position >= first.position - 1e-9
        of_two = RandomizedResponse(2, mechanism.epsilon)
        assert of_two.p - of_two.q > mechanism.p - mechanism.q
        assert np.linalg.norm(steps - raw, axis=1).min() >= math.dist(nearest, raw) - 1e-9
        chances = mechanism.q + (mechanism.p - mechanism.q) * np.vstack([likeliest, steps])
        likelihood = np.log(chances) @ (counts / counts.sum())
        assert likelihood[0] >= likelihood.max() - 1e-12
        if (raw < -1e-9).any():
            circles, curves = distance_circles(found, FRAME), likelihood_curves(found, FRAME)
            assert circles.values[circles.touching] == pytest.approx(math.dist(nearest, raw), rel=1e-6)
            at_inv = np.log(counts[counts > 0] / counts.sum()) @ (counts / counts.sum())[counts > 0]
            lost = float(at_inv - likelihood[0])
            assert curves.values[curves.touching] == pytest.approx(lost, rel=1e-6, abs=1e-12)


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
        three = three_categories(draw)
        example = triangle_page._needs_an_example(draw, three)
        result = estimate_three(three.counts, three.mechanism)
        move = partial(triangle_page._move_reports, example=example)
        text = written(move, three, result, None, ["a", "b", "c"])
        negative = (three.counts * (math.exp(scenario.epsilon) + 2) < scenario.n * (1 - 1e-13)).any()
        assert ("**example**" in text) == (scenario.k != 3 and not negative)
        if example:
            assert ("two categories, with an empty third," in text) == (scenario.k == 2)
            most = three.population.probabilities
            assert (np.sort(draw.population.probabilities)[::-1][:3] > 0).sum() >= (most > 0).sum()
            seen.add(scenario.k == 2)
    assert seen == {True, False}
