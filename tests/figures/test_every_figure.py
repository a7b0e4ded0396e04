"""What every figure promises: it is valid, small, titled, says itself in words, and takes its looks from one place. What
of k categories is drawn: bins that lose no extreme and no category, and bars with safe names."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rr_core.figures
from rr_core import RandomizedResponse
from rr_core.figures import noisy_histogram
from rr_core.figures.estimators import estimates
from rr_core.figures.style import QUANTITIES, for_a_room, reading
from rr_core.figures.view import MOST_BARS, bars, curve, find, natural_order, rank_order, with_categories
from rr_core.registry import ESTIMATORS, VALID
from tests.figures.samples import (
    FIGURES,
    OF_CATEGORIES,
    SIZES,
    by_name,
    compared,
    drawn,
    named,
    spec,
    top,
    values,
    view,
)

MOST_POINTS = 6000
MOST_BYTES = 400_000
FOLDER = Path(rr_core.figures.__file__).parent
MODULES = sorted(path for path in FOLDER.glob("*.py") if path.name != "style.py")


def check(figure: go.Figure) -> go.Figure:
    """The figure, validated: that is not done when it is built; Plotly does it here, property by property."""
    validated, sent = go.Figure(figure.to_plotly_json()), spec(figure)
    assert ("frames" in sent) == bool(validated.frames)
    assert len(json.dumps(sent)) < MOST_BYTES
    points = sum(
        len(trace.y) if trace.y is not None else 0 for trace in validated.data if trace.type != "box"
    )
    assert points <= MOST_POINTS
    assert figure.layout.dragmode is False  # a finger on a chart scrolls the page
    text = reading(figure)
    assert 40 < len(text) < 320
    assert text.endswith(".")
    assert not re.search(r"\bnan\b|\binf\b|None|[^\w]-\d", text), text
    for axis in ("xaxis", "yaxis"):
        assert len(sent["layout"][axis]["title"]["text"]) > 3
    assert "$" not in json.dumps(sent["layout"])  # MathJax would have to be loaded
    assert min(font_sizes(sent)) >= 14  # to be read from the back of the room
    return validated


def font_sizes(part: Any) -> Iterator[float]:
    """Every size of text in a figure's spec. What has none of its own takes the layout's."""
    if isinstance(part, list) and not any(isinstance(inner, dict | list) for inner in part[:1]):
        return  # numbers or words
    for name, inner in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(name, str) and name.endswith("font") and "size" in inner:
            yield inner["size"]
        if isinstance(inner, dict | list):
            yield from font_sizes(inner)


@pytest.mark.parametrize(
    ("name", "k"), [*product(OF_CATEGORIES, SIZES), *product(FIGURES[len(OF_CATEGORIES) :], (2, 12, 10_000))]
)
def test_figure_is_valid_small_and_says_itself(name, k):
    figure = by_name(name, k)
    check(figure)
    if name in OF_CATEGORIES:
        longest = max(len(trace.x) for trace in figure.data)
        assert longest == k if k <= 200 else longest <= 300
        if k > 200:
            most_frequent = by_name(name, k, top(k))
            check(most_frequent)
            assert len(most_frequent.data[0].x) == 200


@pytest.mark.parametrize("name", FIGURES)
def test_presented_to_a_room_no_letter_is_small_and_all_else_is_the_same(name):
    figure = by_name(name, 12)
    before = spec(figure)
    presented = spec(for_a_room(figure))
    assert min(font_sizes(presented)) >= 22
    assert spec(figure) == before
    assert reading(for_a_room(figure)) == reading(figure)
    for trace, larger in zip(before["data"], presented["data"], strict=True):
        assert {key: trace[key] for key in ("x", "y", "name") if key in trace} == {
            key: larger[key] for key in ("x", "y", "name") if key in larger
        }


@pytest.mark.parametrize("k", [2, 12, noisy_histogram.LARGEST_MATRIX])
def test_channel_matrix(k):
    mechanism = RandomizedResponse(k, 1.5)
    figure = noisy_histogram.channel(mechanism, [str(i) for i in range(k)])
    check(figure)
    np.testing.assert_array_equal(np.asarray(figure.data[0].z, float), mechanism.matrix())
    assert figure.data[0].zmax == mechanism.matrix().max()
    assert len(figure.layout.shapes) == k  # the diagonal stands out, however small it is


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_module_writes_units_fixed_decimals_or_the_colour_of_a_quantity(path):
    text = path.read_text("utf-8")
    # d3's "s": 10k, 1G, and 500m for a half.
    assert not re.search(r"[.~\d]s[\"}]", text)
    # With d3's "%" a share of 0.000001% reads 0%, and ticks of small shares repeat.
    assert not re.search(r"~%|%\{[xyz]:[^}]*%\}|tickformat=\"[^\"]*%\"", text)
    colours = set(re.findall(r"#[0-9A-F]{6}", text.upper()))
    assert not colours & {quantity.colour.upper() for quantity in QUANTITIES.values()}


def test_quantities_differ_in_colour_marker_and_dash():
    assert len({q.colour for q in QUANTITIES.values()}) == len(QUANTITIES)
    estimates = [QUANTITIES[name] for name in ESTIMATORS]
    assert len({q.symbol for q in estimates}) == len({q.dash for q in estimates}) == len(estimates)
    of_names = ("observed", "inv", *VALID, "ibu")
    colours = ["#56B4E9", "#D55E00", "#E69F00", "#0072B2", "#009E73", "#CC79A7"]
    assert [QUANTITIES[name].colour for name in of_names] == colours


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_looks_the_same_as_bar_as_mark_and_as_line(name):
    quantity = QUANTITIES[name]
    bar, mark = (named(by_name("estimates", k), quantity.name).marker for k in (12, 200))
    assert bar.color == mark.color == quantity.colour
    assert mark.symbol == quantity.symbol
    traces = by_name("estimates", 10_000).data
    line = next(t.line for t in traces if t.name == quantity.name and t.line.width)
    assert (line.color, line.dash) == (quantity.colour, quantity.dash)


@settings(max_examples=50)
@given(st.integers(2, 3_000_000))
def test_bins_partition_all_ranks(k):
    shown = curve(np.arange(k), "Rank")
    assert shown.starts[0] == 0
    assert (shown.sizes >= 1).all()
    assert shown.sizes.sum() == k
    assert (np.diff(shown.x) > 0).all()
    assert 1 == shown.x[0] <= shown.x[-1] <= k
    assert len(shown.x) <= 260


@settings(max_examples=50)
@given(st.integers(2, 5000), st.integers(0, 2**32))
def test_envelope_keeps_every_extreme_and_the_mean_every_sum(k, seed):
    values = np.random.default_rng(seed).standard_normal(k)
    shown = curve(rank_order(values), "Rank")
    ordered = values[shown.order]
    assert shown.low(ordered).min() == values.min()
    assert shown.high(ordered).max() == values.max()
    assert (shown.mean(ordered) * shown.sizes).sum() == pytest.approx(values.sum(), abs=1e-9)


def test_curves_reach_every_extreme_and_hatch_what_is_below_zero():
    k = 10_000
    inv, figure = compared(k).estimates["inv"].astype(np.float32), by_name("estimates", k)
    band = np.concatenate([values(t) for t in figure.data if t.name == "Inv, lowest to highest"])
    assert (band.min(), band.max()) == (inv.min(), inv.max())
    (below,) = [trace for trace in by_name("inv", k).data if trace.fillpattern.shape]
    assert below.name == "Inv below zero"
    assert values(below).min() == inv.min() < 0 == values(below).max()
    reports = by_name("histogram", k)
    assert values(named(reports, "Lowest of neighbours")).min() == np.float32(drawn(k).counts.min())
    assert values(named(reports, "Highest of neighbours")).max() == np.float32(drawn(k).counts.max())


@pytest.mark.parametrize("k", [k for k in SIZES if k <= 200])
def test_bars_draw_the_numbers_themselves_and_hatch_the_negative_ones(k):
    draw, figure, inv = drawn(k), by_name("histogram", k), compared(k).estimates["inv"]
    assert values(named(figure, "True users")).tolist() == draw.true_counts.tolist()
    assert values(named(figure, "Observed reports")).tolist() == draw.counts.tolist()
    shown = by_name("estimates", k)
    assert values(named(shown, "MLE*")).tolist() == compared(k).estimates["mle_star"].tolist()
    (bar,) = [trace for trace in by_name("inv", k).data if trace.name.startswith("Inv")]
    assert [shape == "/" for shape in bar.marker.pattern.shape] == (inv < 0).tolist()
    assert (inv < 0).any() == (k > 3)


def test_names_are_escaped_cut_and_stay_as_many_bars():
    names = ["<b>bold</b>", "R&D", "=1+1", "x" * 39 + "same", "x" * 39 + "other", "a\u202eb"]
    shown = bars(natural_order(len(names)), names, "Category")
    drawn = [str(name) for name in shown.names]
    assert drawn[:3] == ["&lt;b&gt;bold&lt;/b&gt;", "R&amp;D", "=1+1"]
    assert drawn[3] == drawn[4]  # cut, they read the same ...
    assert len(set(shown.x.tolist())) == len(names)  # ... and are still bars of their own
    assert drawn[5] == "ab"
    cut = bars(natural_order(2), ["a long name of R&D and <more>", "&" * 30], "Category")
    for tick in map(str, [*shown.axis()["ticktext"], *cut.axis()["ticktext"]]):
        assert "<" not in tick
        assert "&" not in tick.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")  # none cut in two


@pytest.mark.parametrize("name", OF_CATEGORIES)
def test_hover_holds_escaped_names(name):
    shown = bars(natural_order(3), ["<img src=x>", "b", "c"], "Category")
    text = by_name(name, 3, shown).to_json()
    assert "<img" not in text
    assert "\\u003cimg" not in text
    assert "&lt;img" in text or "\\u0026lt;img" in text


def test_find_goes_through_very_many_names_once_however_much_is_typed():
    """One pass for all words, and of a text without end no more than a person types: 200 words took 200 times as long
    as one."""
    names = np.array([f"category number {i}" for i in range(60_000)], object)

    def seconds(text: str, found: int) -> float:
        begin = time.thread_time()
        assert find(text, names, len(names)).size == found
        return time.thread_time() - begin

    one = seconds("number 55555", 1)
    assert seconds(",".join(map(str, range(1000, 60_000))), MOST_BARS) < 30 * one
    assert seconds("a" * 2_000_000, 0) < 30 * one


def test_find_takes_whole_names_first_and_numbers_where_there_are_no_names():
    labels = ["Ann", "Anna", "Bo", "ann"]
    assert find("ann", labels, 4).tolist() == [0, 3, 1]
    assert find("bo, ann", labels, 4).tolist() == [2, 0, 3, 1]
    assert find("", labels, 4).size == find("zz", labels, 4).size == 0
    assert find("1, 4, 5, x, 4", None, 4).tolist() == [0, 3]
    assert find(f"²,①,{'9' * 150},2", None, 4).tolist() == [1]
    assert find("9" * 5000, None, 4).size == 0
    assert find("a", [f"a{i}" for i in range(500)], 500).size == 200


def test_the_reported_category_is_always_among_those_shown():
    order = np.array([4, 2, 9])
    assert with_categories(order, [2]) is order
    assert with_categories(order, [7]).tolist() == [4, 2, 7]


@pytest.mark.parametrize("k", [31, 200])
def test_dashes_of_a_moving_dial_stand_where_the_marks_will(k):
    draw, result = drawn(k), compared(k)
    quick = estimates(result.estimates, draw.theta, draw.scenario.n, draw.mechanism, view(k), quick=True)
    slow = by_name("estimates", k)
    go.Figure(quick.to_dict())  # valid
    assert reading(quick) == reading(slow)
    assert [trace.name for trace in quick.data] == [trace.name for trace in slow.data]
    _, *dashes = quick.layout.shapes
    for shape, name in zip(dashes, result.estimates, strict=True):
        marks = np.array(re.findall(r"M([^,]+),([^H]+)H([^M]+)", shape.path), dtype=float)
        assert (marks[:, 0] + marks[:, 2]) / 2 == pytest.approx(np.arange(k))
        assert marks[:, 1] == pytest.approx(result.estimates[name], rel=1e-5, abs=1e-9)
