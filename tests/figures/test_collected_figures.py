"""Charts of collected reports: what they draw is what was computed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rr_core import RandomizedResponse, zipf
from rr_core.collected.advice import Advice, advise
from rr_core.collected.analysis import Analysis, analyse
from rr_core.collected.bootstrap import bootstrap
from rr_core.collected.floor import floor
from rr_core.collected.held_out import held_out
from rr_core.collected.intervals import Interval
from rr_core.comparison import VALID
from rr_core.figures.collected import (
    expected_errors,
    held_out_errors,
    is_dominated,
    reports_floor,
    with_intervals,
)
from rr_core.figures.style import ESTIMATES, QUANTITIES, reading
from rr_core.figures.view import bars, rank_order
from tests.figures.samples import named, values
from tests.figures.test_every_figure import check

SIZES = (2, 200, 20_000)


@cache
def analysed(k: int) -> Analysis:
    mechanism = RandomizedResponse(k, 2.0)
    users = np.round(30_000 * zipf(k, 1.5)).astype(np.int64)
    return analyse(mechanism.randomize_histogram(users, 3), mechanism)


def both(found: Analysis, chosen: str) -> dict[str, Interval]:
    """Intervals of Inv, and other ones for the chosen estimator."""
    return {"inv": found.interval, chosen: found.simultaneous if chosen != "inv" else found.interval}


def chart(k: int, chosen: str = "inv", most: int = 20):
    found = analysed(k)
    view = bars(rank_order(found.counts), [f"<b>{i}</b>" for i in range(k)], "Most reported", most)
    return with_intervals(found.estimates, chosen, both(found, chosen), found.above.above, found.n, view)


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("chosen", ESTIMATES)
def test_intervals_are_drawn_where_they_lie(k, chosen):
    found, figure = analysed(k), chart(k, chosen)
    check(figure)
    order = rank_order(found.counts)[:20]
    for name, limits in both(found, chosen).items():
        trace = named(figure, f"{QUANTITIES[name].name} with its interval")
        middle = values(trace)
        np.testing.assert_array_equal(middle, found.estimates[name][order])
        high, low = np.maximum(limits.high[order], middle), np.minimum(limits.low[order], middle)
        np.testing.assert_allclose(middle + trace.error_y.array, high, atol=1e-15)
        np.testing.assert_allclose(middle - trace.error_y.arrayminus, low, atol=1e-15)
        filled = [colour == QUANTITIES[name].colour for colour in trace.marker.color]
        np.testing.assert_array_equal(filled, found.above.above[order])
    assert len(figure.data) == len(ESTIMATES)
    assert "<b>" not in str(figure.to_json())


def test_zoom_shows_every_interval_but_the_largest():
    found = analysed(12)
    view = bars(rank_order(found.counts), None, "Most reported", 12)
    figure = with_intervals(
        found.estimates, "inv", both(found, "inv"), found.above.above, found.n, view, zoom=True
    )
    check(figure)
    low, high = figure.layout.yaxis.range
    rest = rank_order(found.counts)[1:]
    assert low < found.interval.low[rest].min()
    assert found.interval.high[rest].max() < high < found.estimates["inv"].max()
    assert not is_dominated(view, found.estimates["inv"], found.interval)
    single = analyse(np.array([90_000, 310, 300, 305]), RandomizedResponse(4, 5.8))
    assert is_dominated(bars(np.arange(4), None, "", 4), single.estimates["inv"], single.interval)


def test_the_sentence_is_about_the_first_category_shown():
    found = analysed(12)
    first = int(np.argmax(found.counts))
    text = reading(chart(12))
    assert f"{found.estimates['inv'][first] * 100:.3g}%" in text
    assert f"{found.interval.low[first] * 100:.3g}%" in text
    assert f"Told from zero (filled): {int(found.above.above.sum())} of 12 categories" in text


@pytest.mark.parametrize("k", SIZES)
def test_floor_shows_the_ranks_and_what_is_too_few(k):
    found = analysed(k)
    fits = floor(found.counts, found.mechanism)
    figure = reports_floor(fits)
    check(figure)
    np.testing.assert_array_equal(values(named(figure, "reports of this rank")), fits.reports)
    np.testing.assert_array_equal(values(named(figure, "too few by chance")), np.maximum(fits.lowest, 0))
    assert values(named(figure, "N·q, expected if nobody is there"))[0] == pytest.approx(
        found.n * found.mechanism.q
    )


def test_floor_says_how_many_ranks_are_too_low():
    counts = RandomizedResponse(20, 2.0).randomize_histogram(np.eye(1, 20, dtype=int)[0] * 30_000, 3)
    found = floor(counts, RandomizedResponse(20, 1.6))
    assert found.too_few > 5
    assert f"{found.too_few:,} of the {found.ranks.size:,} ranks" in reading(reports_floor(found))


def test_expected_errors_are_the_means():
    found = analysed(12)
    advice = advise(bootstrap(found.counts, found.mechanism, 60))
    figure = expected_errors(advice, "Squared error, summed over categories")
    check(figure)
    np.testing.assert_array_equal(values(figure.data[0], "x"), [advice.means[name] for name in ESTIMATES])
    np.testing.assert_allclose(
        figure.data[0].error_x.array, [2 * advice.standard_errors[name] for name in ESTIMATES]
    )
    assert QUANTITIES[advice.best].name in reading(figure)


def test_errors_on_reports_held_out_are_drawn_beyond_the_smallest():
    found = analysed(12)
    held = held_out(found.counts, found.mechanism, 4)
    figure = held_out_errors(held)
    check(figure)
    more = [held.means[name] - held.means[held.best] for name in VALID]
    np.testing.assert_array_equal(values(figure.data[0], "x"), more)
    np.testing.assert_array_equal(
        figure.data[0].error_x.array, [2 * held.standard_errors[name] for name in VALID]
    )
    assert f"{QUANTITIES[held.best].name} has the smallest" in reading(figure)


def test_no_error_at_all_is_drawn_too():
    nothing = dict.fromkeys(ESTIMATES, 0.0)
    check(expected_errors(Advice("mle_star", ("mle_star",), nothing, nothing, {}), "Total variation"))


def test_few_ranks_are_labelled_once_each():
    assert reports_floor(floor(np.array([300, 700]), RandomizedResponse(2, 1.0))).layout.xaxis.dtick == 1


def test_errors_that_cannot_be_told_apart_are_said_to_be():
    means = dict(zip(ESTIMATES, (2.0, 1.0, 1.0, 1.0), strict=True))
    tied = Advice("inv_n", ("inv_n", "inv_p", "mle_star"), means, dict.fromkeys(ESTIMATES, 0.1), {})
    assert "not told apart from InvP and MLE*" in reading(expected_errors(tied, "Squared error"))
    alone = Advice("inv_n", ("inv_n",), means, dict.fromkeys(ESTIMATES, 0.1), {})
    assert "told apart" not in reading(expected_errors(alone, "Squared error"))
