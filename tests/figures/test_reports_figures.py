"""Charts of collected reports: what they draw is what was computed."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from rr_core import RandomizedResponse, zipf
from rr_core.figures import reports
from rr_core.figures.reports import is_dominated, reports_floor, with_intervals
from rr_core.figures.style import QUANTITIES, reading
from rr_core.figures.view import bars, rank_order
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.registry import ESTIMATORS
from rr_core.reports.analysis import Analysis, analyse
from rr_core.reports.low_counts import floor
from tests.figures.samples import named, values
from tests.figures.test_every_figure import check
from tests.sentences import recomputes

SIZES = (2, 20_000)


def collected(k: int):
    mechanism = RandomizedResponse(k, 2.0)
    users = np.round(30_000 * zipf(k, 1.5)).astype(np.int64)
    return mechanism.randomize_histogram(users, 3), mechanism


@cache
def analysed(k: int) -> Analysis:
    return analyse(*collected(k))


def chart(k: int, chosen: str = "inv", most: int = 20):
    found = analysed(k)
    view = bars(rank_order(found.counts), [f"<b>{i}</b>" for i in range(k)], "Most reported", most)
    return with_intervals(found.estimates, chosen, found.interval, found.above.above, found.n, view)


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("chosen", ESTIMATORS)
def test_intervals_are_drawn_where_they_lie(k, chosen):
    found, figure = analysed(k), chart(k, chosen)
    check(figure)
    order = rank_order(found.counts)[:20]
    trace = named(figure, QUANTITIES[chosen].name)
    np.testing.assert_array_equal(values(trace), found.estimates[chosen][order])
    filled = [colour == QUANTITIES[chosen].colour for colour in trace.marker.color]
    np.testing.assert_array_equal(filled, found.above.above[order])
    low, high, gap = values(named(figure, "interval of Inv")).reshape(-1, 3).T
    np.testing.assert_array_equal(low, np.clip(found.interval.low, 0, 1)[order])
    np.testing.assert_array_equal(high, np.clip(found.interval.high, 0, 1)[order])
    assert np.isnan(gap).all()
    assert "<b>" not in str(figure.to_json())


def test_zoom_shows_every_interval_but_the_largest():
    found = analysed(12)
    view = bars(rank_order(found.counts), None, "Most reported", 12)
    figure = with_intervals(
        found.estimates, "inv", found.interval, found.above.above, found.n, view, zoom=True
    )
    check(figure)
    low, high = figure.layout.yaxis.range
    rest = rank_order(found.counts)[1:]
    assert low < 0
    assert found.interval.high[rest].max() < high < found.estimates["inv"].max()
    (largest,) = figure.layout.annotations
    assert (largest.text, largest.x) == (f"↑ {found.estimates['inv'].max():.1%}", view.x[0])
    assert not is_dominated(view, found.estimates["inv"], found.interval)
    single = analyse(np.array([90_000, 310, 300, 305]), RandomizedResponse(4, 5.8))
    assert is_dominated(bars(np.arange(4), None, "", 4), single.estimates["inv"], single.interval)


@pytest.mark.parametrize("k", [2, 200])
def test_floor_shows_the_ranks_and_what_is_too_few(k):
    counts, mechanism = collected(k)
    fits = floor(counts, mechanism)
    figure = reports_floor(fits)
    check(figure)
    np.testing.assert_array_equal(values(named(figure, "reports of this rank")), fits.reports)
    np.testing.assert_array_equal(values(named(figure, "too few by chance")), np.maximum(fits.lowest, 0))
    nobody = values(named(figure, "N·q, expected if nobody is there"))[0]
    assert nobody == pytest.approx(counts.sum() * mechanism.q)


def test_a_floor_says_what_it_leaves_out_and_calls_no_number_too_few_where_none_is():
    """Ten of twelve were drawn, without a word; and of ten reports over ten categories none at all is no wonder."""
    counts = np.array([300, *range(200, 211)])
    text = reading(reports_floor(floor(counts, RandomizedResponse(12, 1.0))))
    assert text.startswith("Only the 10 least reported of 12 are compared. ")
    assert "Only" not in reading(reports_floor(floor(counts[:10], RandomizedResponse(10, 1.0))))
    found = floor(np.array([3, 2, 2, 1, 1, 1, 0, 0, 0, 0]), RandomizedResponse(10, 1.0))
    assert (found.lowest < 0).any()
    for low, text in zip(
        found.lowest, named(reports_floor(found), "too few by chance").customdata, strict=True
    ):
        some = "1 report or fewer would" if low == 1 else f"{low} reports or fewer would"
        assert text == (some if low >= 0 else "no number of reports would")


def test_estimates_of_unary_encoding_are_drawn_where_they_lie():
    protocol = UnaryEncoding(5, 2.0)
    reports = protocol.randomize(np.repeat(np.arange(5), [80, 40, 20, 8, 2]), 1)
    found = analyse(reports.sum(axis=0), protocol, n=150, bits=(reports, np.ones(150)))
    order = rank_order(found.estimates["inv_p"])
    view = bars(order, ["<b>bus</b>", *"abcd"], "Largest first", 4)
    figure = with_intervals(found.estimates, found.leading, found.interval, found.above.above, found.n, view)
    check(figure)
    for name, key in (("Inv", "inv"), ("InvN", "inv_n"), ("InvP", "inv_p"), ("MLE", "mle")):
        np.testing.assert_array_equal(values(named(figure, name)), found.estimates[key][order][:4])
    assert "<b>" not in str(figure.to_json())


@recomputes(reports._without_inv)
def test_a_channel_without_inv_has_no_intervals():
    found = analyse([500, 500], Channel.warner(0.5))
    view = bars(np.arange(2), ["no", "yes"], "Answers", 2)
    figure = with_intervals(found.estimates, "mle", found.interval, None, found.n, view)
    check(figure)
    assert [trace.name for trace in figure.data] == ["MLE"]
    assert f"is {100 * found.estimates['mle'][0]:.3g}% by MLE; there is no Inv" in reading(figure)


@pytest.mark.parametrize(
    ("counts", "first", "words"),
    [
        ([900, 60, 40], 2, "wholly below 0%"),
        ([900, 60, 40], 0, "wholly above 100%"),
        ([500, 280, 220], 2, "cut at 0 and 1"),
        ([400, 330, 270], 0, ""),
    ],
)
def test_an_interval_wholly_outside_or_cut_is_said_to_be_where_the_picture_is_read(counts, first, words):
    found, view = analyse(counts, RandomizedResponse(3, 1.0)), bars(np.array([first]), ["a", "b", "c"], "", 3)
    text = reading(with_intervals(found.estimates, "inv", found.interval, found.above.above, found.n, view))
    assert re.findall("wholly [a-z]+ [0-9]+%|cut at 0 and 1", text) == ([words] if words else [])
    ends = np.array([found.interval.low[first], found.interval.high[first]])
    low, high = 100 * (ends.clip(0, 1) if "cut" in words else ends)
    assert f"{low:.3g}% to {high:.3g}%".replace("-", "−") in text
