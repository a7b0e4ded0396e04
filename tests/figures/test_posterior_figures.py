"""The figures about the posterior, against the numbers they speak of."""

from __future__ import annotations

import numpy as np
import pytest

from rr_core import RandomizedResponse, Scenario, mle_star, total_variation
from rr_core.comparison import compare
from rr_core.figures.protocols import posterior_intervals, towards_mle, wrong_priors
from rr_core.figures.style import reading
from rr_core.figures.view import bars, natural_order
from rr_core.protocols import posterior, summarise_posterior
from rr_core.protocols.posterior import DRAWS, distance_to_mle, prior_errors
from rr_core.rounding import percent
from tests.figures.test_every_figure import check
from tests.sentences import holds


@pytest.mark.parametrize(
    ("k", "epsilon", "n"), [(2, 0.01, 1), (12, 1.0, 2000), (60, 4.0, 10_000), (12, 20, 10**6)]
)
def test_intervals_with_and_without_the_truth(k, epsilon, n):
    draw = Scenario("zipf", k, 1.5, epsilon, n, 3).draw()
    found = summarise_posterior(draw.counts, draw.mechanism, 0.5, 300, 1)
    estimates = {name: compare(draw, "population").estimates[name] for name in ("inv_p", "mle_star")}
    truth, view = draw.population.probabilities, bars(natural_order(k), None, "Category")
    figure = posterior_intervals(found, estimates, truth, view)
    check(figure)
    hidden = posterior_intervals(found, estimates, None, view)
    check(hidden)
    assert "truth" not in reading(hidden)


def test_more_users_bring_the_posterior_mean_to_mle():
    draw = Scenario("zipf", 6, 1.5, 1.0, 100, 3).draw()
    sizes = (100, 10_000, 1_000_000, 10_000_000)
    distances = distance_to_mle(draw.population.probabilities, draw.mechanism, sizes, (0.5, 1.0), 1)
    assert distances.shape == (2, 4)
    assert (distances[:, -1] < 0.1 * distances[:, 0]).all()
    assert (distances[:, -1] < 2e-3).all()
    counts = draw.mechanism.randomize_histogram((10**7 * draw.population.probabilities).astype(int), 1)
    best = mle_star(counts, draw.mechanism)
    few, many = (
        total_variation(posterior(counts, draw.mechanism, 0.5, draws, 1).mean(axis=0), best)
        for draws in (DRAWS, 30 * DRAWS)
    )
    assert few > 2 * many  # so that the distance is told as one of the draws' mean
    figure = towards_mle(sizes, dict(zip(("½", "1"), distances, strict=True)))
    check(figure)
    assert percent(float(distances[0, -1])) in reading(figure)
    assert f"the mean of {DRAWS} draws from the posterior and MLE* differ by" in reading(figure)


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


@pytest.mark.parametrize("prior", [0.5, 1.0])
def test_errors_under_wrong_priors_are_drawn(prior):
    rows = sorted((row for row in prior_errors() if row.prior == prior), key=lambda row: row.truth)
    figure = wrong_priors(rows)
    check(figure)
    np.testing.assert_allclose(figure.data[0].y, [row.errors["posterior"] for row in rows])
