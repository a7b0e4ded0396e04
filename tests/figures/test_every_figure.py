"""What every figure promises: it is valid, small, titled, says itself in words, and takes its looks from one place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import rr_core.figures
from rr_core import RandomizedResponse
from rr_core.figures import noisy_histogram
from rr_core.figures.style import QUANTITIES, for_a_room, reading
from rr_core.registry import ESTIMATORS, VALID
from tests.figures.samples import FIGURES, OF_CATEGORIES, SIZES, by_name, spec, top, view

MOST_POINTS = 6000
MOST_BYTES = 400_000
FOLDER = Path(rr_core.figures.__file__).parent
MODULES = sorted(path for path in FOLDER.glob("*.py") if path.name != "style.py")


def check(figure: go.Figure) -> None:
    # Figures are not validated when they are built; Plotly does it here, property by property.
    validated = go.Figure(figure.to_plotly_json())
    assert validated.to_plotly_json().keys() == figure.to_plotly_json().keys()
    sent = spec(figure)
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


def font_sizes(part: Any) -> Iterator[float]:
    """Every size of text in a figure's spec. What has none of its own takes the layout's."""
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


@pytest.mark.parametrize("name", OF_CATEGORIES)
@pytest.mark.parametrize("k", [201, 10_000])
def test_most_frequent_categories_as_bars(name, k):
    figure = by_name(name, k, top(k))
    check(figure)
    assert len(figure.data[0].x) == 200


@pytest.mark.parametrize("k", [2, 12, noisy_histogram.LARGEST_MATRIX])
def test_channel_matrix(k):
    mechanism = RandomizedResponse(k, 1.5)
    figure = noisy_histogram.channel(mechanism, [str(i) for i in range(k)])
    check(figure)
    np.testing.assert_array_equal(np.asarray(figure.data[0].z, float), mechanism.matrix())
    assert figure.data[0].zmax == mechanism.matrix().max()
    corners = [(rim.x0, rim.x1, rim.y0, rim.y1) for rim in figure.layout.shapes]
    assert corners == [
        (i - 0.5, i + 0.5) * 2 for i in range(k)
    ]  # the diagonal stands out, however small it is


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_numbers_have_no_letters_of_units(path):
    # d3's "s": 10k, 1G, and 500m for a half.
    assert not re.search(r"[.~\d]s[\"}]", path.read_text("utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_shares_have_significant_digits_and_no_fixed_decimals(path):
    # With d3's "%" a share of 0.000001% reads 0%, and ticks of small shares repeat.
    assert not re.search(r"~%|%\{[xyz]:[^}]*%\}|tickformat=\"[^\"]*%\"", path.read_text("utf-8"))


@pytest.mark.parametrize("k", [12, 10_000])
def test_the_grey_bands_have_one_entry_in_the_legend(k):
    shown = [
        trace.name
        for trace in by_name("inv", k).data
        if trace.showlegend is not False and "truth" in trace.name
    ]
    assert shown == ["truth ± 1 and ± 2 standard errors"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_colours_of_quantities_stand_in_one_place(path):
    colours = set(re.findall(r"#[0-9A-F]{6}", path.read_text("utf-8").upper()))
    assert not colours & {quantity.colour.upper() for quantity in QUANTITIES.values()}


def test_quantities_differ_in_colour_marker_and_dash():
    assert len({q.colour for q in QUANTITIES.values()}) == len(QUANTITIES)
    estimates = [QUANTITIES[name] for name in ESTIMATORS]
    assert len({q.symbol for q in estimates}) == len({q.dash for q in estimates}) == len(estimates)
    assert QUANTITIES["observed"].colour == "#56B4E9"
    assert [QUANTITIES[name].colour for name in ("inv", *VALID)] == [
        "#D55E00",
        "#E69F00",
        "#0072B2",
        "#009E73",
    ]
    assert QUANTITIES["ibu"].colour == "#CC79A7"


def lines_of(figure):
    return {trace.name: trace.line for trace in figure.data if trace.type == "scatter" and trace.line.width}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_looks_the_same_as_bar_and_as_line(name):
    quantity = QUANTITIES[name]
    bar = next(t for t in by_name("estimates", 12).data if t.name == quantity.name)
    assert bar.marker.color == quantity.colour
    line = lines_of(by_name("estimates", 10_000))[quantity.name]
    assert (line.color, line.dash) == (quantity.colour, quantity.dash)
    marker = next(t for t in by_name("estimates", 200, view(200)).data if t.name == quantity.name).marker
    assert (marker.color, marker.symbol) == (quantity.colour, quantity.symbol)
