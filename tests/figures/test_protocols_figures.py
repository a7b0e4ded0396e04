"""Protocols side by side: bars are the formulas, marks are the draw, the sentence names the smallest; the posterior; and
unary encoding, against the numbers its figures speak of."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rr_core import RandomizedResponse, Scenario, mle_star
from rr_core.comparison import compare
from rr_core.figures.protocols import (
    expected_errors,
    posterior_intervals,
    report_table,
    side_by_side,
    towards_mle,
)
from rr_core.figures.style import reading
from rr_core.figures.unary import one_report, unary_estimates
from rr_core.figures.view import bars, natural_order
from rr_core.protocols import HadamardResponse, posterior, summarise_posterior
from rr_core.protocols.collection import collect_unary, inv_by_each, one_person
from rr_core.protocols.hadamard import inv_hadamard
from rr_core.protocols.laws import KEYS
from rr_core.protocols.posterior import distance_to_mle
from rr_core.protocols.unary import UnaryEncoding
from rr_core.words.plan import PROTOCOL_WORDS
from tests.figures.test_every_figure import check
from tests.sentences import holds


@pytest.mark.parametrize(
    ("k", "epsilon", "n"),
    [(2, 0.01, 1), (12, 1, 2000), (2000, 8, 10**6)],
)
def test_bars_marks_and_table(k, epsilon, n):
    draw = Scenario("zipf", k, 1.5, epsilon, n, 3).draw()
    inv = inv_by_each(draw.true_counts, epsilon, 1)
    figure = side_by_side(k, epsilon, n, inv, draw.theta)
    check(figure)
    bars, marks = figure.data
    errors = expected_errors(k, epsilon, n, draw.theta)
    assert bars.x.tolist() == sorted(errors.values())
    assert bars.y == tuple(PROTOCOL_WORDS[key].name for key in sorted(errors, key=errors.__getitem__))
    for name, error in zip(marks.y, marks.x, strict=True):
        (key,) = [key for key in inv if PROTOCOL_WORDS[key].name == name]
        assert error == pytest.approx(np.sqrt(((inv[key] - draw.theta) ** 2).mean()))
    check(side_by_side(k, epsilon, n, {}, None))
    table = report_table(k, epsilon, n, draw.theta)
    assert len(table.splitlines()) == 2 + len(KEYS)
    assert "| best |" in table
    assert "| 1 times |" not in table


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


def test_without_the_shares_it_is_the_mean_over_all_ways_to_deal():
    """All 120 ways of five categories; of more those that turn them, as each gets every share once and the error is a
    sum over users."""
    for k, epsilon in ((5, 2.0), (7, 2.0), (12, 1.0)):
        theta = np.arange(k) / np.arange(k).sum()
        turned = [np.roll(theta, by) for by in range(k)]
        for ways in [turned, *([itertools.permutations(theta)] if k == 5 else [])]:
            squares = [expected_errors(k, epsilon, 9, np.array(way))["hr"] ** 2 for way in ways]
            mean = expected_errors(k, epsilon, 9, None)["hr"] ** 2
            assert mean == pytest.approx(np.mean(squares), rel=1e-12)


def test_more_users_bring_the_posterior_mean_to_mle():
    draw, sizes = Scenario("zipf", 6, 1.5, 1.0, 100, 3).draw(), (100, 10_000_000)
    distances = distance_to_mle(draw.population.probabilities, draw.mechanism, sizes, (0.5, 1.0), 1)
    assert (distances[:, -1] < 0.1 * distances[:, 0]).all()
    assert (distances[:, -1] < 2e-3).all()
    check(towards_mle(sizes, dict(zip(("½", "1"), distances, strict=True))))


@holds("On average MLE\\* gave it over 20%, the posterior mean of Jeffreys' prior under 0.2%.")
def test_a_prior_outweighs_every_report():
    mechanism, users = RandomizedResponse(1000, 1.0), np.full(1000, 60)
    users[0] = 100_000 - users[1:].sum()
    counts = mechanism.randomize_histogram(np.tile(users, (200, 1)), 1)
    of_mle = mle_star(counts, mechanism)[:, 0]
    assert of_mle.mean() - 4 * of_mle.std() / 200**0.5 > 0.2
    assert (of_mle < 0.2).mean() > 0.1  # not of every collection
    means = [posterior(one, mechanism, 0.5, 200, 1)[:, 0].mean() for one in counts[:6]]
    assert np.mean(means) < 0.002


@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 0.01, 1), (12, 1.0, 2000), (60, 4.0, 10_000)])
def test_estimates_and_intervals_are_drawn_with_and_without_the_truth(k, epsilon, n):
    draw, view = Scenario("zipf", k, 1.5, epsilon, n, 3).draw(), bars(natural_order(k), None, "Category")
    found = collect_unary(UnaryEncoding(k, epsilon), draw.true_counts, 1)
    estimates = {"inv": found.inv, "inv_n": found.inv_n, "inv_p": found.inv_p, "mle": found.mle.theta}
    figure = unary_estimates(estimates, found.support / n, found.theta, view)
    check(figure)
    assert {trace.name for trace in figure.data} == {"Truth", "Inv", "InvN", "InvP", "MLE"}
    check(unary_estimates(estimates, found.support / n, None, view))
    summary = summarise_posterior(draw.counts, draw.mechanism, 0.5, 300, 1)
    repaired = {name: compare(draw, "population").estimates[name] for name in ("inv_p", "mle_star")}
    check(posterior_intervals(summary, repaired, draw.population.probabilities, view))
    hidden = posterior_intervals(summary, repaired, None, view)
    check(hidden)
    assert "truth" not in reading(hidden)


def test_one_report_of_the_blog():
    person = one_person([1] * 10, RandomizedResponse(10, np.log(3)), UnaryEncoding(10, np.log(3)), 1)
    figure = one_report(person.debiased, person.debiased_bits, [str(i) for i in range(10)])
    check(figure)
    assert "counts as 5.5 people in the category that it names, and as −0.5" in reading(figure)
    assert sorted(figure.data[0].y.round(9)) == [-0.5] * 9 + [5.5]
