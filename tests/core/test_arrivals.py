"""The first reports of a collection: their law, that they are nested, and that they end in the collection itself.

Seeds are fixed; thresholds come from the law: |z| < 6 for moments, p > 1e-6 for chi-square.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from rr_core import Scenario, squared_error, total_variation
from rr_core.arrivals import first_reports, follow_estimates, follow_reports, moments
from rr_core.registry import ESTIMATORS
from rr_core.streams import Stream, generator

DRAWS = 20_000


def generators(seed, number):
    rng = generator(seed, Stream.ARRIVALS)
    return itertools.repeat(rng, number)


def forwards(counts, sizes, rng):
    return np.array(list(first_reports(counts, sizes, rng))[::-1])


def test_every_possible_order_of_a_small_collection_is_as_likely_as_any():
    """Histograms after 1, 2 and 4 of 6 reports together, against counting all orders of the six people."""
    counts, sizes = np.array([3, 2, 1]), [1, 2, 4, 6]
    people = np.repeat(np.arange(3), counts)
    law = {}
    for order in itertools.permutations(range(6)):
        path = tuple(np.bincount(people[list(order[:n])], minlength=3).tobytes() for n in sizes)
        law[path] = law.get(path, 0) + 1 / 720
    seen = dict.fromkeys(law, 0)
    for rng in generators(1, DRAWS):
        seen[tuple(part.tobytes() for part in forwards(counts, sizes, rng))] += 1  # no other path is possible
    expected = np.array(list(law.values())) * DRAWS
    assert expected.min() > 5
    assert stats.chisquare(list(seen.values()), expected).pvalue > 1e-6


def test_mean_and_covariance_of_a_large_collection():
    """Sample without replacement: mean n c/N, covariance n (N-n)/(N-1) (diag(f) - f f')."""
    counts = np.array([500_000_000, 300_000_000, 199_999_999, 1])  # the largest that the app takes
    total, n, times = 10**9, 400_000_000, 4000
    drawn = np.array([forwards(counts, [n], rng)[0] for rng in generators(3, times)], dtype=float)
    shares = counts / total
    covariance = n * (total - n) / (total - 1) * (np.diag(shares) - np.outer(shares, shares))
    deviation = np.sqrt(np.diag(covariance))
    assert (np.abs(drawn.mean(axis=0) - n * shares) < 6 * deviation / np.sqrt(times)).all()
    scaled = (drawn - n * shares)[:, :3] / deviation[:3]  # nearly normal, but for the single report
    expected = (covariance / np.outer(deviation, deviation))[:3, :3]
    spread = np.sqrt((1 + expected**2) / times)
    assert (np.abs(scaled.T @ scaled / times - expected) < 6 * spread).all()


@pytest.mark.parametrize("k", [2, 12, 10_000])
@pytest.mark.parametrize("n", [1, 9, 10, 2000, 10**9])
def test_histograms_are_nested_have_their_totals_and_end_in_the_collection(k, n):
    draw = Scenario("zipf", k, 1.3, 1.0, n, 7).draw()
    sizes = moments(n)
    parts = forwards(draw.counts, sizes.tolist(), draw.scenario.stream(Stream.ARRIVALS))
    np.testing.assert_array_equal(parts.sum(axis=1), sizes)
    np.testing.assert_array_equal(parts[-1], draw.counts)
    assert (np.diff(parts, axis=0) >= 0).all()
    assert parts.min() >= 0


def test_a_collection_is_left_as_it_is():
    counts = np.array([3, 2, 1])
    list(first_reports(counts, [1, 2], generator(1, Stream.ARRIVALS)))
    assert counts.tolist() == [3, 2, 1]


def test_nobody_and_everybody_in_one_category():
    assert forwards([0, 0], [0], generator(1, Stream.ARRIVALS)).tolist() == [[0, 0]]
    assert forwards([0, 10**9], [0, 10, 10**9], generator(1, Stream.ARRIVALS)).tolist() == [
        [0, 0],
        [0, 10],
        [0, 10**9],
    ]


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 99, 100, 101, 2000, 10**9])
def test_moments_come_one_by_one_and_then_in_steps_of_at_most_a_quarter(n):
    found = moments(n)
    assert found[0] == 1
    assert found[-1] == n
    assert (np.diff(found) > 0).all()
    np.testing.assert_array_equal(found[:10], np.arange(1, min(n, 10) + 1))
    assert (np.diff(found)[9:] <= 0.25 * found[9:-1]).all()
    assert len(found) <= 10 + 15 * max(np.log10(n) - 1, 0) + 1


def test_what_is_followed_is_measured_by_the_definitions():
    scenario = Scenario("zipf", 40, 1.3, 1.5, 3000, 2)
    draw = scenario.draw()
    chosen, truth = np.array([5, 0, 39]), draw.population.probabilities
    reports, seen = follow_reports(draw, chosen), follow_estimates(draw, truth, chosen)
    sizes = moments(3000)
    parts = forwards(draw.counts, sizes.tolist(), scenario.stream(Stream.ARRIVALS))
    for i, part in enumerate(parts):
        np.testing.assert_allclose(reports.shares[i], part[chosen] / sizes[i], rtol=1e-15)
        expected = total_variation(part / sizes[i], draw.mechanism.expected(draw.theta))
        assert reports.distance[i] == pytest.approx(expected, rel=1e-12)
        for name, estimate in ESTIMATORS.items():
            whole = estimate(part, draw.mechanism)
            np.testing.assert_allclose(seen.estimates[name][i], whole[chosen], rtol=1e-12, atol=1e-15)
            assert seen.squared_error[name][i] == pytest.approx(squared_error(whole, truth), rel=1e-9)
