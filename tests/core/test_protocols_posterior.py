"""The posterior of k-RR: exact means against all truths of all users, draws against exact means, the limit, and
the measured errors under right and wrong priors. Credible intervals: on average over the prior they keep their
word, and at one truth not. The chain from entropy to epsilon: identities of its matrices, order, and simulation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rr_core import RandomizedResponse, mle_star
from rr_core.data import read_csv
from rr_core.protocols import Channel, information_bounds, inv, posterior, posterior_mean, summarise_posterior
from rr_core.protocols.information_bounds import _information, _mean_log
from rr_core.protocols.posterior import prior_errors
from rr_core.reports.measured import credible_coverage_of_large
from tests.benchmarks.credible import held
from tests.benchmarks.prior_choice import NAMES, squared_errors
from tests.sentences import holds

DRAWS = 2000
# Of standard errors. A mean is beyond it once in 16,000 times.
FAR = 4.0
# Histograms of the sampling tests: few and many reports, zeros, spikes of the prior, both tails of epsilon.
CASES = [
    ([3, 2, 1], 1.0, 0.5),
    ([60, 30, 10, 0], 1.0, 0.5),
    ([60, 30, 10, 0], 1.0, [0.2, 1.0, 3.0, 10.0]),
    ([5000, 3000, 2000], 0.1, 0.5),
    ([3361, 3406, 3464], 0.044, 0.5),
    ([400, 300, 200, 50, 50], 3.0, 1.0),
    ([7, 1, 0, 0, 0, 0], 700.0, 0.5),
    ([7, 1, 2], 1e-6, 0.5),
]


def exact_means(counts, p: Fraction, alpha: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """E[theta] and E[shares of the users] by the definition: over the truths of every user, Proposition A.3."""
    k = len(counts)
    q = (1 - p) / (k - 1)
    reports = [j for j, count in enumerate(counts) for _ in range(count)]
    n, total = len(reports), Fraction(0)
    theta, shares = [Fraction(0)] * k, [Fraction(0)] * k
    for truths in itertools.product(range(k), repeat=n):
        held = [truths.count(i) for i in range(k)]
        weight = math.prod(p if x == y else q for x, y in zip(truths, reports, strict=True))
        weight *= math.prod(a + i for a, t in zip(alpha, held, strict=True) for i in range(t))
        total += weight
        for i in range(k):
            theta[i] += weight * (alpha[i] + held[i]) / (sum(alpha) + n)
            shares[i] += weight * Fraction(held[i], n)
    return [value / total for value in theta], [value / total for value in shares]


@settings(max_examples=20)
@given(st.data())
def test_the_exact_mean_is_that_over_all_truths(data):
    k = data.draw(st.integers(2, 4))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=k, max_size=k).filter(lambda c: 0 < sum(c) <= 5))
    p = Fraction(data.draw(st.integers(1, 15)), 16)
    p = (1 + p * (k - 1)) / k  # above 1/k
    alpha = [Fraction(data.draw(st.sampled_from([1, 5, 10, 37])), 10) for _ in range(k)]
    mechanism = RandomizedResponse.from_p(k, float(p))
    theta, shares = exact_means(counts, Fraction(float(p)), alpha)
    prior = [float(a) for a in alpha]
    np.testing.assert_allclose(
        posterior_mean(counts, mechanism, prior), [float(x) for x in theta], rtol=2e-12
    )
    fixed = posterior_mean(counts, mechanism, prior, users="fixed")
    np.testing.assert_allclose(fixed, [float(x) for x in shares], rtol=1e-10, atol=1e-14)


def test_without_noise_and_without_information():
    """Nothing is redrawn: a Dirichlet posterior. Everything is: the prior."""
    alpha = np.array([0.5, 1.0, 2.0])
    counts = np.array([7, 0, 3])
    sure, blind = RandomizedResponse(3, 700.0), RandomizedResponse(3, 1e-6)
    np.testing.assert_allclose(posterior_mean(counts, sure, alpha), (alpha + counts) / 13.5, rtol=1e-12)
    np.testing.assert_allclose(posterior_mean(counts, sure, alpha, users="fixed"), counts / 10, atol=1e-14)
    np.testing.assert_allclose(posterior_mean(counts, blind, alpha), alpha / 3.5, rtol=1e-5)


def test_two_categories_by_quadrature():
    """The mean of t under the density t^(a-1) (1-t)^(b-1) (q + (p-q) t)^c (q + (p-q)(1-t))^d."""
    mechanism, counts = RandomizedResponse(2, 0.7), np.array([13_000, 7_000])
    t = np.linspace(0, 1, 400_001)[1:-1]
    log_density = np.log(t * (1 - t)) * 0.5 + counts @ np.log(
        mechanism.q + mechanism.keep * np.stack([t, 1 - t])
    )
    density = np.exp(log_density - log_density.max())
    mean = (t * density).sum() / density.sum()
    assert posterior_mean(counts, mechanism, 1.5)[0] == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize(("counts", "epsilon", "prior"), CASES)
@pytest.mark.parametrize("users", ["sampled", "fixed"])
def test_the_mean_of_draws_is_the_exact_mean(counts, epsilon, prior, users):
    mechanism = RandomizedResponse(len(counts), epsilon)
    drawn = posterior(counts, mechanism, prior, DRAWS, rng=1, users=users)
    assert drawn.shape == (DRAWS, len(counts))
    assert drawn.min() >= 0
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=1e-12)
    exact = posterior_mean(counts, mechanism, prior, users=users)
    error = drawn.std(axis=0, ddof=1) / math.sqrt(DRAWS)
    assert (np.abs(drawn.mean(axis=0) - exact) <= FAR * error + 1e-12).all()


def gibbs(counts, mechanism, prior, rng, chains=2000):
    """Last states of independent Gibbs samplers, (chains, k): z given theta is binomial, theta given z Dirichlet. A
    category forgets its start over about as many sweeps as it has reports for each kept truth, a dozen at most in the
    cases below; after five times as many, e^-10 of a variance is missing."""
    prior = np.broadcast_to(prior, (len(counts),))
    theta = np.tile(posterior_mean(counts, mechanism, prior), (chains, 1))
    for _ in range(60):
        odds = mechanism.truth * theta
        kept = rng.binomial(counts, odds / (odds + mechanism.blur))
        gammas = np.maximum(rng.standard_gamma(prior + kept), np.finfo(float).tiny)
        theta = gammas / gammas.sum(axis=1, keepdims=True)
    return theta


@pytest.mark.parametrize(("counts", "epsilon", "prior"), [CASES[i] for i in (0, 2, 3, 7)])
def test_the_gibbs_sampler_has_the_exact_mean_and_the_quantiles_of_the_draws(counts, epsilon, prior):
    mechanism = RandomizedResponse(len(counts), epsilon)
    last = gibbs(counts, mechanism, prior, np.random.default_rng(2))
    error = last.std(axis=0, ddof=1) / math.sqrt(len(last))
    assert (np.abs(last.mean(axis=0) - posterior_mean(counts, mechanism, prior)) <= FAR * error + 1e-12).all()
    drawn = posterior(counts, mechanism, prior, draws=20_000, rng=3)
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        below = (last <= np.quantile(drawn, level, axis=0)).mean(axis=0)
        error = math.sqrt(level * (1 - level) * (1 / len(last) + 1 / len(drawn)))
        assert (np.abs(below - level) <= FAR * error).all()


def test_a_billion_reports_and_a_thousand_categories():
    mechanism = RandomizedResponse(3, 1.0)
    counts = mechanism.randomize_histogram([6 * 10**8, 3 * 10**8, 10**8], 1)
    drawn = posterior(counts, mechanism, rng=2)
    best = mle_star(counts, mechanism)
    assert (np.abs(drawn.mean(axis=0) - best) < 0.1 * drawn.std(axis=0) + 1e-7).all()
    wide = RandomizedResponse(1000, 1.0)
    counts = wide.randomize_histogram(np.full(1000, 100), 3)
    assert posterior(counts, wide, rng=4).shape == (2000, 1000)


@pytest.mark.parametrize(("prior", "truth"), [(0.5, 0.5), (0.5, 20.0)])
def test_a_few_collections_agree_with_the_table(prior, truth):
    (row,) = [one for one in prior_errors() if (one.prior, one.truth) == (prior, truth)]
    errors = squared_errors(truth, prior, 60, 7)
    for name, found in zip(NAMES, errors.T, strict=True):
        spread = np.hypot(found.std(ddof=1) / np.sqrt(60), row.spread[name])
        assert abs(found.mean() - row.errors[name]) < 4.5 * spread


def test_bayes_wins_where_the_prior_is_right():
    """Theorem 3.1: no estimator has a smaller expected squared error."""
    for row in prior_errors():
        if row.prior == row.truth:
            others = [row.errors[name] for name in ("inv_n", "inv_p", "mle_star")]
            assert row.errors["posterior"] < min(others)


def test_a_summary_is_that_of_the_draws():
    mechanism = RandomizedResponse(4, 1.0)
    found = summarise_posterior([600, 300, 200, 100], mechanism, 1.0, 500, 3, level=0.9)
    drawn = posterior([600, 300, 200, 100], mechanism, 1.0, 500, 3)
    np.testing.assert_array_equal(found.mean, drawn.mean(axis=0))
    np.testing.assert_allclose([found.low, found.high], np.quantile(drawn, [0.05, 0.95], axis=0), rtol=1e-12)


MECHANISM = RandomizedResponse(5, 1.0)


@holds("Their 95% is meant on average over truths drawn from the prior, not for the one truth that there is.")
def test_on_average_over_the_prior_intervals_keep_their_word():
    rng, holding = np.random.default_rng(1), []
    for _ in range(200):
        theta = rng.dirichlet(np.full(5, 0.5))
        counts = MECHANISM.randomize_histogram(rng.multinomial(500, theta), rng)
        found = summarise_posterior(counts, MECHANISM, 0.5, 500, rng)
        holding.append(((found.low <= theta) & (theta <= found.high)).mean())
    assert abs(np.mean(holding) - 0.95) < 4 * np.std(holding) / np.sqrt(200) + 0.005


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


@given(st.integers(0, 1000), st.integers(2, 5), st.integers(0, 4))
def test_matrices_are_those_of_the_theorem(seed, k, more):
    """det D is that of the Fisher information of k - 1 free shares."""
    rng = np.random.default_rng(seed)
    matrix, theta = rng.dirichlet(np.full(k + more, 2.0), size=k), rng.dirichlet(np.full(k, 2.0))
    mu = theta @ matrix
    trace, log_det = (part[0] for part in _information(matrix, theta[None]))
    free = matrix[:-1] - matrix[-1]
    information = (free / mu) @ free.T
    assert log_det == pytest.approx(np.linalg.slogdet(information)[1], abs=1e-8)
    # Covariance of the k - 1 free shares, and of the last one: the trace of the whole.
    inverse = np.linalg.inv(information)
    assert trace == pytest.approx(np.trace(inverse) + inverse.sum(), rel=1e-8)


@pytest.mark.parametrize(("epsilon", "prior"), [(0.1, 0.5), (1.0, 1.0), (3.0, 4.0)])
def test_two_categories_are_proposition_4_6(epsilon, prior):
    odds = np.exp(epsilon)
    channel = Channel.warner(odds / (odds + 1))
    noise = odds / (odds - 1) ** 2
    product = prior / (2 * (2 * prior + 1))  # E P_1 P_2
    sampled = information_bounds(channel, prior, rng=1)
    assert sampled.inv == pytest.approx(2 * (noise + product))
    assert sampled.exact == sampled.inv
    assert sampled.epsilon == pytest.approx(2 / (odds - 1) ** 2)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 1.0, 5.0]))
def test_each_step_is_at_most_the_one_before(seed, prior):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    channel = Channel(rng.dirichlet(np.full(k + int(rng.integers(0, 3)), 3.0), size=k))
    found = information_bounds(channel, prior, draws=400, rng=seed)
    assert found.epsilon <= found.entropy * (1 + 1e-9)
    assert found.entropy <= found.exact * (1 + 1e-9) + 5 * found.exact_error
    assert found.exact <= found.inv * (1 + 1e-9) + 5 * found.exact_error


@pytest.mark.parametrize("seed", range(3))
def test_no_simulated_least_is_above_what_inv_reaches(seed):
    """The second and the third report say the same: Inv is the best, exactly, and draws are off to either side."""
    channel = Channel([[1 / 3, 1 / 3, 1 / 3], [1 / 2, 1 / 4, 1 / 4]])
    bounds = information_bounds(channel, rng=seed)
    merged = information_bounds(Channel([[1 / 3, 2 / 3], [1 / 2, 1 / 2]]))
    assert bounds.inv == pytest.approx(merged.exact, rel=1e-12)
    assert bounds.entropy <= bounds.exact <= bounds.inv
    assert bounds.exact == pytest.approx(merged.exact, abs=5 * bounds.exact_error)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("chances", [[0.3, 0.7], [1.0, 0.0, 0.0], [0.5, 0.2, 1e-8], [0.2] * 5])
def test_mean_logarithms_are_those_of_draws(chances, alpha):
    draws = np.random.default_rng(1).dirichlet(np.full(len(chances), alpha), 100_000) @ np.array(chances)
    error = np.log(draws).std() / np.sqrt(draws.size)
    assert abs(_mean_log(np.array(chances), alpha) - np.log(draws).mean()) < 5 * error + 1e-12


@holds(
    "- **The best, for many users:** the posterior mean and MLE come as near as this as N grows (Fisher information)."
)
@pytest.mark.slow
def test_the_posterior_mean_reaches_the_limit_and_inv_its_own():
    mechanism, n, rounds, rng = RandomizedResponse(3, 2.0), 2000, 200, np.random.default_rng(3)
    bounds = information_bounds(Channel.k_rr(mechanism), 0.5, draws=20_000, rng=1)
    errors = []
    for _ in range(rounds):
        theta = rng.dirichlet(np.full(3, 0.5))
        counts = rng.multinomial(n, mechanism.expected(theta))
        estimates = posterior_mean(counts, mechanism, 0.5), inv(counts, Channel.k_rr(mechanism))
        errors.append([n * ((one - theta) ** 2).sum() for one in estimates])
    mean, error = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(rounds)
    assert abs(mean[1] - bounds.inv) < 4 * error[1]
    # At the border of the simplex the posterior mean is better than the limit; the prior's part there shrinks with n.
    assert bounds.entropy < mean[0] + 4 * error[0]
    assert 0.8 * bounds.exact < mean[0] < bounds.exact + 4 * error[0]
