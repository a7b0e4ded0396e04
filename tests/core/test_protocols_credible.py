"""Credible intervals: on average over the prior they keep their word, and at one truth not; as stored, and again."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse
from rr_core.data import read_csv
from rr_core.protocols import summarise_posterior
from rr_core.reports.measured import credible_coverage_of_large
from tests.benchmarks.credible import held
from tests.sentences import holds

MECHANISM = RandomizedResponse(5, 1.0)


@holds("Their 95% is meant on average over truths drawn from the prior, not for the one truth that there is.")
def test_on_average_over_the_prior_intervals_keep_their_word():
    rng, holding = np.random.default_rng(1), []
    for _ in range(300):
        theta = rng.dirichlet(np.full(5, 0.5))
        counts = MECHANISM.randomize_histogram(rng.multinomial(500, theta), rng)
        found = summarise_posterior(counts, MECHANISM, 0.5, 1000, rng)
        holding.append(((found.low <= theta) & (theta <= found.high)).mean())
    assert abs(np.mean(holding) - 0.95) < 4 * np.std(holding) / np.sqrt(300) + 0.005


@pytest.mark.parametrize("users", ["fixed", "sampled"])
def test_a_stored_coverage_is_measured_again(users):
    inside = held(("falling", 10, 200, 3.0, users), 0.5, 40, 2)
    stored = {
        row["categories"]: float(row["percent"])
        for row in read_csv("reports_credible_coverage.csv")
        if (row["k"], row["n"], row["users"], row["prior"]) == ("10", "200", users, "0.5")
    }
    each = 100 * inside[:, :5].mean(axis=1)
    assert abs(each.mean() - stored["large"]) < 4.5 * each.std() / np.sqrt(40) + 2


def test_at_one_truth_they_may_hold_it_far_less_often():
    for prior in (0.5, 1.0):
        low, high = credible_coverage_of_large(prior)
        assert low < 80 < high <= 100
