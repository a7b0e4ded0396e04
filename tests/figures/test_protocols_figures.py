"""Protocols side by side: bars are the formulas, marks are the draw, and the sentence names the smallest."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import Scenario
from rr_core.figures.plan_sentences import PROTOCOL_NAMES
from rr_core.figures.protocols import expected_errors, report_table, side_by_side
from rr_core.figures.style import percent, reading
from rr_core.plan.protocols import KEYS, compare
from rr_core.protocols.collection import COMPARED, inv_by_each
from tests.figures.test_every_figure import check


@pytest.mark.parametrize(
    ("k", "epsilon", "n"),
    [(2, 0.01, 1), (2, 20, 10**9), (12, 1, 2000), (2000, 0.01, 10**9), (2000, 8, 10**6), (10, 1, 10**5)],
)
def test_bars_marks_and_sentence(k, epsilon, n):
    draw = Scenario("zipf", k, 1.5, epsilon, n, 3).draw()
    inv = inv_by_each(draw.true_counts, epsilon, 1)
    figure = side_by_side(k, epsilon, n, inv, draw.theta)
    check(figure)
    bars, marks = figure.data
    errors = expected_errors(k, epsilon, n)
    assert bars.x.tolist() == sorted(errors.values())
    assert bars.y == tuple(PROTOCOL_NAMES[key] for key in sorted(errors, key=errors.__getitem__))
    for name, error in zip(marks.y, marks.x, strict=True):
        (key,) = [key for key in COMPARED if PROTOCOL_NAMES[key] == name]
        assert error == pytest.approx(np.sqrt(((inv[key] - draw.theta) ** 2).mean()))
    text, least = reading(figure), min(errors.values())
    assert percent(least) in text
    if errors["rr"] ** 2 > 1.1 * least**2:
        assert "as many users for the same" in text
    check(side_by_side(k, epsilon, n, {}, None))
    rows = compare(k, epsilon, n, 1 / k)
    assert [line.count("|") for line in report_table(rows).splitlines()] == [5] * (2 + len(KEYS))


def test_errors_are_those_that_many_collections_have():
    counts, epsilon, rounds = np.array([500, 300, 150, 40, 10]), 1.0, 400
    rng = np.random.default_rng(1)
    squares = {key: [] for key in COMPARED}
    for _ in range(rounds):
        for key, inv in inv_by_each(counts, epsilon, rng).items():
            squares[key].append(((inv - counts / 1000) ** 2).mean())
    errors = expected_errors(5, epsilon, 1000)
    for key, found in squares.items():
        spread = np.std(found) / np.sqrt(rounds)
        # Hadamard response's formula is the mean over all ways to deal out the categories.
        slack = 4.5 * spread + (0.15 * errors[key] ** 2 if key == "hr" else 0)
        assert abs(np.mean(found) - errors[key] ** 2) < slack, key
