"""Films: every frame brings its own controls, and the pictures of a collection that comes in are those of the core."""

from __future__ import annotations

from functools import cache
from itertools import chain

import numpy as np
import pytest

from rr_core import Scenario, mle_star, optimality_gap
from rr_core.arrivals import follow_estimates, follow_reports
from rr_core.estimators import mle_search
from rr_core.figures.arrivals import (
    MOST_DRAWN,
    _estimates_reading,
    _largest_reading,
    _reports_reading,
    _zeros_reading,
    arriving_estimates,
    arriving_reports,
    drawn_categories,
)
from rr_core.figures.estimators import MOST_CATEGORIES, search_film
from rr_core.figures.film import (
    BACK,
    CONTROLS,
    FAST,
    NORMAL,
    PAUSE,
    PLAY,
    SLOW,
    START,
    STEP,
    Frame,
    film,
)
from rr_core.figures.style import axis, reading
from rr_core.figures.view import natural_order, rank_order
from rr_core.registry import ESTIMATORS, VALID
from rr_core.rounding import percent
from tests.figures.samples import drawn, named, spec, values
from tests.figures.test_every_figure import check
from tests.sentences import holds, recomputes
from tests.sentences.spoken import random_scenarios, tells

# The ends of every control, and what lies between.
SCENARIOS = [
    Scenario("zipf", 2, 1.0, 0.01, 1, 1),
    Scenario("zipf", 12, 1.5, 1.0, 2, 1),
    Scenario("zipf", 12, 1.5, 1.0, 2000, 5),
    Scenario("letters", 26, 1.0, 20.0, 3, 1),
    Scenario("zipf", 30, 1.0, 0.01, 10**9, 1),
    Scenario("zipf", 200, 1.3, 2.0, 20_000, 7),
]
ORDINARY, MANY_CATEGORIES = SCENARIOS[2], SCENARIOS[5]


@cache
def films(scenario):
    draw = scenario.draw()
    view = drawn_categories(rank_order(draw.true_counts), draw.population.labels)
    reports = follow_reports(draw, view.categories)
    seen = follow_estimates(draw, draw.theta, view.categories)
    return (
        (draw, view, reports, seen),
        arriving_reports(reports, draw.theta, draw.mechanism, view),
        arriving_estimates(seen, draw.theta, view),
    )


def picture_of(frames):
    """What the frames draw, byte by byte: as it is sent, an array of single precision is a text."""
    return [[one.y for one in frame.data if one.y is not None] for frame in frames]


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario", [one for one in SCENARIOS if one.k != 26], ids=lambda one: f"K={one.k} N={one.n}"
)
def test_films_are_valid_small_and_say_themselves_at_the_ends_of_every_control(scenario):
    """And without the truth they show the same reports and estimates, and nothing else."""
    (draw, view, reports, seen), *films_of = films(scenario)
    first, second = films_of
    assert reports.shares[-1].max() <= first.layout.yaxis.range[1]
    assert max(seen.estimates[name][-1].max() for name in VALID) <= second.layout.yaxis.range[1]
    end = "the only report" if scenario.n == 1 else "all"
    assert f"{percent(reports.distance[-1])} after {end}" in reading(first)
    hidden = arriving_reports(reports, None, draw.mechanism, view), arriving_estimates(seen, None, view)
    for figure, without in zip(films_of, hidden, strict=True):
        low, high = figure.layout.yaxis.range
        assert low <= 0 < high <= 1.05
        frames, same_frames = check(figure).frames, check(without).frames
        assert len({frame.name for frame in frames}) == len(frames) == len(seen.n)
        assert all(frame.layout.xaxis.range is frame.layout.yaxis.range is None for frame in frames)
        assert picture_of(frames) == picture_of(same_frames)
        assert {trace.name for trace in without.data}.isdisjoint({"Truth", "Expected"})
        notes = {frame.layout.annotations[0].text for frame in same_frames}
        assert not any("error" in note or "expected" in note for note in notes)


@pytest.mark.parametrize("scenario", [ORDINARY, MANY_CATEGORIES], ids=["few", "many"])
def test_pictures_are_the_shares_and_the_estimates_at_every_moment(scenario):
    (draw, view, reports, seen), first, second = films(scenario)
    of_reports, of_estimates = first.frames, second.frames
    assert view.categories.size == min(scenario.k, MOST_DRAWN)
    for i in (0, len(seen.n) // 2, -1):
        np.testing.assert_allclose(values(of_reports[i].data[0]), reports.shares[i], rtol=1e-6)
        note = of_reports[i].layout.annotations[0].text
        assert note.startswith(f"<b>{seen.n[i]:,}</b> of {scenario.n:,} reports<br>")
        assert note.endswith(percent(reports.distance[i]))
        for trace, name in zip(of_estimates[i].data[: len(ESTIMATORS)], ESTIMATORS, strict=True):
            np.testing.assert_allclose(values(trace), seen.estimates[name][i], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(values(named(first, "Truth")), view.pick(draw.theta), rtol=1e-6)
    expected = view.pick(draw.mechanism.expected(draw.theta))
    np.testing.assert_allclose(values(named(first, "Expected")), expected, rtol=1e-6)
    end = view.pick(mle_star(draw.counts, draw.mechanism))
    np.testing.assert_allclose(seen.estimates["mle_star"][-1], end, rtol=1e-6, atol=1e-12)
    for frames, traces in ((of_reports, (1, 0, 2)), (of_estimates, (*range(1, len(ESTIMATORS) + 1), 0))):
        for frame in frames:  # all of them: Plotly takes off the screen what a frame does not name
            assert frame.traces == traces
            assert len(frame.data) == len(traces)


def test_negatives_of_inv_are_hatched_in_every_frame():
    _, _, figure = films(ORDINARY)
    for frame in figure.frames:
        shapes, shares = frame.data[0].marker.pattern.shape, values(frame.data[0])
        assert [shape == "/" for shape in shapes] == (shares < 0).tolist()


def test_a_film_draws_few_categories_in_their_order_and_the_most_frequent_of_many():
    few = drawn_categories(rank_order(drawn(12).true_counts), None)
    assert few.categories.tolist() == natural_order(12).tolist()
    many = drawn_categories(rank_order(drawn(200).true_counts), None)
    counts = drawn(200).true_counts
    assert counts[many.categories].min() >= np.sort(counts)[-MOST_DRAWN]
    assert str(MOST_DRAWN) in many.title


def plain_film(length):
    frames = [Frame(str(i), f"note {i}", [{"type": "bar", "y": [i]}]) for i in range(length)]
    bar = {"type": "bar", "x": [0], "y": [0]}
    text = "A film that is made for this test alone, and shows one bar."
    return film([bar], axis("Across", range=[-1, 1]), axis("Upwards", range=[0, 9]), text, frames, [0])


@pytest.mark.parametrize("length", [1, 3])
def test_each_frame_brings_its_own_controls(length):
    figure = plain_film(length)
    check(figure)
    sent = spec(figure)
    names = [frame["name"] for frame in sent["frames"]]
    for i, frame in enumerate(sent["frames"]):
        (row,) = frame["layout"]["updatemenus"]
        assert [button["label"] for button in row["buttons"]] == list(CONTROLS)
        leads = {button["label"]: button["args"] for button in row["buttons"]}
        assert leads[BACK][0] == [names[max(i - 1, 0)]]
        assert leads[STEP][0] == [names[min(i + 1, length - 1)]]
        assert leads[PLAY] == leads[NORMAL]
        pace = [leads[label][1]["frame"]["duration"] for label in (SLOW, NORMAL, FAST)]
        assert pace[0] > pace[1] > pace[2]
        for label in (SLOW, NORMAL, FAST):  # from here on; from the start where nothing is left
            assert leads[label][0] is None
            assert leads[label][1]["fromcurrent"] == (i < length - 1)
    aside = {button["label"]: button["args"][0] for button in sent["layout"]["updatemenus"][1]["buttons"]}
    assert aside == {PAUSE: [None], START: [names[0]]}
    assert [step["args"][0] for step in sent["layout"]["sliders"][0]["steps"]] == [[name] for name in names]


@holds(
    "{}<br>no other is below what chance brings: done",
    "**These shares are the most likely**: at the end the factor by which IBU (iterative Bayesian update) would multiply a bar is 1 for each that stays, and at most 1 for each that was struck out, so no share that is moved makes the reports more likely.",  # noqa: E501
)
@pytest.mark.parametrize("scenario", [one for one in SCENARIOS if one.k <= MOST_CATEGORIES], ids=str)
def test_the_film_of_the_search_ends_where_none_is_below_chance_and_no_factor_is_above_one(scenario):
    draw = scenario.draw()
    mechanism, estimate = draw.mechanism, mle_star(draw.counts, draw.mechanism)
    found = mle_search(draw.counts, mechanism)
    figure = search_film(found, draw.population.labels)
    frames = check(figure).frames
    assert len(frames) == found.n_zero + 1
    stays, goes, struck, estimated, chance = range(len(figure.data))
    for n, frame in enumerate(frames):
        drawn, height = frame.data, frame.data[chance].y[0]
        last = n == found.n_zero
        assert np.isfinite(drawn[struck].y).sum() == n
        assert np.isfinite(drawn[goes].y).sum() == (not last)
        assert np.isfinite(drawn[stays].y).sum() == scenario.k - n - (not last)
        if last:
            assert np.nanmin(drawn[stays].y) >= height - 1e-12
            assert "no other is below what chance brings" in frame.layout.annotations[0].text
            np.testing.assert_allclose(np.nan_to_num(drawn[estimated].y), estimate[found.order], atol=1e-12)
        else:
            assert np.nanmax(drawn[goes].y) < height < frames[n + 1].data[chance].y[0]
            told = frame.layout.annotations[0].text.partition("<br>")[2].rpartition(":")[2]
            tells(told, np.nanmax(drawn[goes].y), height)
    assert optimality_gap(draw.counts, estimate, mechanism) < 1e-9
    says = f"Here {found.n_zero} of {scenario.k} categories go" if found.n_zero else "MLE* is Inv"
    assert says in reading(figure)


@recomputes(_largest_reading, _reports_reading, _zeros_reading)
def test_what_films_tell_of_a_collection_is_so_in_its_reports(many):
    """After the first report, in the middle of a logarithmic scale, and at the end."""
    corners = [one for one in SCENARIOS if one.n <= 20_000 and one.dist == "zipf"]
    for scenario in [*corners, *(one for one in random_scenarios(many // 10) if one.n <= 10**4)]:
        draw = scenario.draw()
        view = drawn_categories(rank_order(draw.counts), None)
        reports = follow_reports(draw, view.categories)
        seen = follow_estimates(draw, draw.theta, view.categories)
        middle = int(np.searchsorted(reports.n, np.sqrt(scenario.n)))
        at = sorted({0, middle, reports.n.size - 1})
        when = [[int(reports.n[i])] if i else [] for i in at]
        errors = [seen.squared_error[name] for name in ("inv", "mle_star")]
        drawn = min(scenario.k, MOST_DRAWN)
        for text, of, numbers_of in (
            (_largest_reading(reports), [drawn], [reports.shares.max(axis=1)]),
            (_zeros_reading(seen), [drawn], [(seen.estimates["mle_star"] == 0).sum(axis=1)]),
            (_reports_reading(reports), [], [reports.distance]),
            (_estimates_reading(seen), [], errors),
        ):
            told = chain.from_iterable(
                [*(one[i] for one in numbers_of), *in_words] for i, in_words in zip(at, when, strict=True)
            )
            tells(text, *of, *told)
            assert (
                ("after the only report" in text)
                == (scenario.n == 1)
                == ("after the first report" not in text)
            )
