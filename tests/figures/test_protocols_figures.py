"""Protocols side by side: bars are the formulas, marks are the draw, and the sentence names the smallest."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rr_core import Scenario
from rr_core.figures.protocols import expected_errors, report_table, side_by_side
from rr_core.protocols import HadamardResponse
from rr_core.protocols.collection import COMPARED, inv_by_each
from rr_core.protocols.hadamard import inv_hadamard
from rr_core.protocols.laws import KEYS
from rr_core.words.plan import PROTOCOL_NAMES
from tests.figures.test_every_figure import check


@pytest.mark.parametrize(
    ("k", "epsilon", "n"),
    [(2, 0.01, 1), (2, 20, 10**9), (12, 1, 2000), (2000, 0.01, 10**9), (2000, 8, 10**6), (10, 1, 10**5)],
)
def test_bars_marks_and_table(k, epsilon, n):
    draw = Scenario("zipf", k, 1.5, epsilon, n, 3).draw()
    inv = inv_by_each(draw.true_counts, epsilon, 1)
    figure = side_by_side(k, epsilon, n, inv, draw.theta)
    check(figure)
    bars, marks = figure.data
    errors = expected_errors(k, epsilon, n, draw.theta)
    assert bars.x.tolist() == sorted(errors.values())
    assert bars.y == tuple(PROTOCOL_NAMES[key] for key in sorted(errors, key=errors.__getitem__))
    for name, error in zip(marks.y, marks.x, strict=True):
        (key,) = [key for key in COMPARED if PROTOCOL_NAMES[key] == name]
        assert error == pytest.approx(np.sqrt(((inv[key] - draw.theta) ** 2).mean()))
    check(side_by_side(k, epsilon, n, {}, None))
    table = report_table(k, epsilon, n, draw.theta)
    assert [line.count("|") for line in table.splitlines()] == [5] * (2 + len(KEYS))
    assert "| best |" in table
    assert "| 1 times |" not in table


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon"), [(5, 1.0), (5, 2.0), (7, 2.0)])
def test_errors_are_those_that_many_collections_have(k, epsilon):
    counts, rounds = np.array([500, 300, 150, 40, 10, 0, 0]), 1500
    counts = counts[:k]
    rng = np.random.default_rng(1)
    squares = {key: [] for key in COMPARED}
    for _ in range(rounds):
        for key, inv in inv_by_each(counts, epsilon, rng).items():
            squares[key].append(((inv - counts / 1000) ** 2).mean())
    errors = expected_errors(k, epsilon, 1000, counts / 1000)
    for key, found in squares.items():
        assert abs(np.mean(found) - errors[key] ** 2) < 4.5 * np.std(found) / np.sqrt(rounds), key


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (3, 2.0), (5, 2.0)])
def test_the_error_of_hadamard_response_is_that_over_all_reports_of_all_users(k, epsilon):
    """Two or three users, every report that they may send together."""
    counts = np.array([2, 1, 0, 0, 0])[:k]
    protocol = HadamardResponse(k, epsilon)
    chances = protocol.matrix()[np.repeat(np.arange(k), counts)]
    reports = np.array(list(itertools.product(range(protocol.m), repeat=3)))
    weights = np.prod([chances[i, reports[:, i]] for i in range(3)], axis=0)
    histograms = (reports[:, :, None] == np.arange(protocol.m)).sum(axis=1)
    squares = ((inv_hadamard(histograms, protocol) - counts / 3) ** 2).mean(axis=1)
    assert weights.sum() == pytest.approx(1)
    error = expected_errors(k, epsilon, 3, counts / 3)["hr"]
    assert error**2 == pytest.approx(weights @ squares, rel=1e-11)


@pytest.mark.parametrize(("k", "epsilon"), [(5, 2.0), (7, 2.0), (12, 1.0)])
def test_without_the_shares_it_is_the_mean_over_all_ways_to_deal(k, epsilon):
    theta = np.arange(k) / np.arange(k).sum()
    rng = np.random.default_rng(1)
    ways = [expected_errors(k, epsilon, 9, rng.permutation(theta))["hr"] ** 2 for _ in range(2000)]
    error = np.std(ways) / np.sqrt(len(ways)) + 1e-12
    assert abs(expected_errors(k, epsilon, 9, None)["hr"] ** 2 - np.mean(ways)) < 4.5 * error
