"""The samplers against their law. Seeds are fixed; thresholds come from the law itself: |z| < 6 for moments,
p > 1e-6 for chi-square, so that a right sampler fails about once in a million tests."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from rr_core import RandomizedResponse, sampling, zipf
from tests.core.laws import check_moments, chi_square_p, law_of_one_count
from tests.sentences import holds

BRANCHES = {"as chosen": None, "one by one": math.inf, "by binomials": 0}


@pytest.fixture(params=BRANCHES)
def branch(request, monkeypatch):
    """Run with both ways of throwing users into boxes, whatever the size."""
    if BRANCHES[request.param] is not None:
        monkeypatch.setattr(sampling, "_USERS_PER_BOX", BRANCHES[request.param])
    return request.param


def noise_covariance(true_counts, mechanism):
    rows = mechanism.matrix()
    return sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(true_counts, rows, strict=True))


@pytest.mark.parametrize(("truth", "epsilon"), [((1, 0, 0, 0, 2), 0.1), ((12, 3), 2.5)])
def test_one_noisy_count_has_its_exact_law(truth, epsilon, branch):
    mechanism, runs = RandomizedResponse(len(truth), epsilon), 60_000
    reports = mechanism.randomize_histogram(np.broadcast_to(truth, (runs, len(truth))), 1)
    for category, own in enumerate(truth):
        law = law_of_one_count(own, sum(truth) - own, mechanism)
        assert chi_square_p(reports[:, category], law) > 1e-6


@holds("What arrives on average")
@pytest.mark.parametrize(("n", "epsilon"), [(30, 1.0), (3000, 0.05), (3000, 4.0), (10**9, 1.0)])
def test_noisy_histograms_have_the_mean_and_covariance_of_the_channel(n, epsilon):
    mechanism = RandomizedResponse(5, epsilon)
    true_counts = np.array([n // 2, n // 3, 0, 1, n - n // 2 - n // 3 - 1])
    reports = mechanism.randomize_histogram(np.broadcast_to(true_counts, (20_000, 5)), 2)
    assert (reports.sum(axis=1) == n).all()
    check_moments(reports, true_counts @ mechanism.matrix(), noise_covariance(true_counts, mechanism))


def test_user_by_user_and_whole_histogram_have_the_same_law():
    truth, mechanism, runs = (5, 3, 0, 1), RandomizedResponse(4, 0.8), 40_000
    users = np.broadcast_to(np.repeat(np.arange(4), truth), (runs, 9))
    reports = mechanism.randomize(users, 3)
    assert reports.dtype == np.int64
    histograms = np.stack([(reports == category).sum(axis=1) for category in range(4)], axis=1)
    check_moments(histograms, truth @ mechanism.matrix(), noise_covariance(truth, mechanism))
    for category, own in enumerate(truth):
        assert chi_square_p(histograms[:, category], law_of_one_count(own, 9 - own, mechanism)) > 1e-6


def test_reports_keep_the_shape_of_the_users_and_may_be_none():
    mechanism = RandomizedResponse(3, 1.0)
    assert mechanism.randomize(np.zeros((2, 3), dtype=np.uint8), 0).shape == (2, 3)
    assert mechanism.randomize([], 0).shape == (0,)
    assert mechanism.randomize(2, 0) in (0, 1, 2)
    assert mechanism.randomize_histogram([0, 0, 0], 0).tolist() == [0, 0, 0]
    assert mechanism.randomize_histogram(np.zeros((0, 3)), 0).shape == (0, 3)


def test_a_seed_or_a_generator_may_be_given():
    mechanism, users = RandomizedResponse(9, 1.0), np.arange(9)
    for draw in (
        lambda rng: mechanism.randomize(users, rng),
        lambda rng: mechanism.randomize_histogram(users * 50, rng),
    ):
        np.testing.assert_array_equal(draw(5), draw(np.random.default_rng(5)))
        assert (draw(5) != draw(6)).any()


@pytest.mark.slow
@pytest.mark.parametrize("totals", [[3], [0, 1, 12], [20_000]])
def test_uniform_multinomial_has_its_moments(totals, branch):
    runs, k = 20_000 if max(totals) < 1000 else 500, 7
    batch = np.broadcast_to(totals, (runs, len(totals)))
    samples = sampling.uniform_multinomial(batch, k, np.random.default_rng(6))
    assert samples.shape == (runs, len(totals), k)
    np.testing.assert_array_equal(samples.sum(axis=-1), batch)
    for i, n in enumerate(totals):
        if n:
            covariance = n * (np.eye(k) / k - np.full((k, k), 1 / k**2))
            check_moments(samples[:, i], np.full(k, n / k), covariance)


def test_multinomial_has_its_exact_law():
    weights, n, runs = np.array([5.0, 0.0, 1.0, 0.25, 3.75]), 9, 6000
    rng = np.random.default_rng(7)
    samples = np.stack([sampling.multinomial(n, weights, rng) for _ in range(runs)])
    share = weights / weights.sum()
    assert (samples[:, 1] == 0).all()
    assert (samples.sum(axis=1) == n).all()
    for category in (0, 2, 3, 4):
        law = stats.binom.pmf(np.arange(n + 1), n, share[category])
        assert chi_square_p(samples[:, category], law) > 1e-6
    check_moments(np.delete(samples, 1, axis=1), *_moments(n, np.delete(share, 1)))


def test_multinomial_keeps_its_moments_on_very_unequal_weights():
    n, weights = 10**9, np.array([1.0, 1e-3, 1e-3, 0, 2e-2, 0.5])
    rng = np.random.default_rng(8)
    samples = np.stack([sampling.multinomial(n, weights, rng) for _ in range(4000)])
    assert (samples[:, 3] == 0).all()
    check_moments(np.delete(samples, 3, axis=1), *_moments(n, np.delete(weights / weights.sum(), 3)))


def _moments(n, share):
    return n * share, n * (np.diag(share) - np.outer(share, share))


@pytest.mark.parametrize("n", [1_664_500, 10**9])
def test_the_tail_of_a_million_categories_gets_its_share(n):
    """Bins of ranks down to the last ten thousand, of which conditioning one by one would lose track."""
    weights = zipf(1_423_000, 1.3)
    counts = sampling.multinomial(n, weights, np.random.default_rng(9))
    assert counts.sum() == n
    assert counts.min() >= 0
    edges = [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 1_413_000, 1_423_000]
    for low, high in itertools.pairwise(edges):
        share = math.fsum(weights[low:high])
        z = (counts[low:high].sum() - n * share) / math.sqrt(n * share * (1 - share))
        assert abs(z) < 6
    if n == 10**9:
        # Within the tail, the spread of the counts is that of a Poisson, too.
        expected = n * weights[-200_000:]
        z2 = ((counts[-200_000:] - expected) ** 2 / expected).mean()
        assert abs(z2 - 1) < 6 * math.sqrt((2 + 1 / expected.mean()) / 200_000)
