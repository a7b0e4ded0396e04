"""Misprints of Lopuhaä-Zwakenberg et al.: the corrected statement holds, the printed one fails. The page cites these."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from rr_core import RandomizedResponse, inv, mle_star
from rr_core.law import report_variance
from rr_core.misprints_lopuhaa import lopuhaa_checks


@pytest.fixture(scope="module")
def found():
    return lopuhaa_checks()


def lopuhaa_algorithm_1(counts, epsilon, numerator_is_categories):
    """Lopuhaä-Zwakenberg et al., Algorithm 1, with (a - k) or, as printed, (n - k) in its last line."""
    a, n, odds = len(counts), sum(counts), math.exp(epsilon) - 1
    ranked, k = sorted(counts), 0
    while ranked[k] == 0 or a - k + odds - sum(ranked[k:]) / ranked[k] < 0:
        k += 1
    share = np.array(counts) / sum(ranked[k:])
    return np.maximum(0, share * (((a if numerator_is_categories else n) - k) / odds + 1) - 1 / odds)


def test_lopuhaa_algorithm_1_needs_the_number_of_categories():
    """Its (n - k)/(e^eps - 1) + 1 must be (a - k)/(e^eps - 1) + 1: then it is MLE*."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        k, epsilon = int(rng.integers(2, 12)), rng.uniform(0.3, 4)
        counts = (rng.integers(0, 50, k) + np.eye(1, k, dtype=int)[0]).tolist()
        theta = mle_star(counts, RandomizedResponse(k, epsilon))
        np.testing.assert_allclose(lopuhaa_algorithm_1(counts, epsilon, True), theta, atol=1e-12)
        if sum(counts) != k:
            assert abs(lopuhaa_algorithm_1(counts, epsilon, False).sum() - 1) > 1e-6


def test_lopuhaa_eq_64_subtracts_n():
    """Eq. (64): ((e^eps + 1) s - n)/(n (e^eps - 1)) is Inv for two categories; with -1 it is biased."""
    epsilon, n = 0.9, 40
    mechanism, power = RandomizedResponse(2, epsilon), math.exp(epsilon)
    reports = np.array([np.arange(n + 1), n - np.arange(n + 1)]).T
    corrected = ((power + 1) * reports - n) / (n * (power - 1))
    printed = ((power + 1) * reports - 1) / (n * (power - 1))
    np.testing.assert_allclose(corrected, inv(reports, mechanism), atol=1e-13)
    np.testing.assert_allclose(corrected.sum(axis=1), 1, rtol=1e-12)
    assert (np.abs(printed.sum(axis=1) - 1) > 1).all()


def test_lopuhaa_algorithm_1_as_printed_is_no_distribution(found):
    np.testing.assert_allclose(found.algorithm.corrected, [5 / 6, 1 / 6, 0, 0], atol=1e-15)
    assert found.algorithm.printed.sum() == pytest.approx(6)


def test_lopuhaa_eq_64_as_printed_is_biased(found):
    np.testing.assert_allclose(found.two_categories.corrected, [0.7, 0.3], atol=1e-12)
    assert (found.two_categories.printed - found.two_categories.corrected > 0.6).all()


def test_lopuhaa_eqs_72_to_75_lack_one_over_n_squared(found):
    """The variance of the estimate of eq. (64) is that of the count, over n^2 (p - q)^2."""
    n, mechanism, value = 40, RandomizedResponse(2, 0.9), found.variance
    exact = report_variance(28, n, mechanism) / (n * mechanism.keep) ** 2
    assert value.corrected == pytest.approx(exact, rel=1e-12)
    assert value.printed == pytest.approx(46.2, abs=0.05)
    assert value.found == pytest.approx(exact, rel=6 * math.sqrt(2 / 40_000))


def test_lopuhaa_eq_60_lacks_n_and_half_of_its_exponent(found):
    bound = found.bound
    assert bound.corrected == pytest.approx(bound.corollary, rel=1e-12)
    assert bound.printed == pytest.approx(bound.corollary * math.exp(3 / 4), rel=1e-12)
    # Without n on its left side it would forbid an error that RR has by their own eq. (66).
    assert bound.error < 0.01 * bound.printed_error
    simulated = RandomizedResponse(2, 1.0)
    reports = simulated.randomize_histogram(np.broadcast_to([700, 300], (20_000, 2)), 5)
    errors = ((inv(reports, simulated) - [0.7, 0.3]) ** 2).sum(axis=1)
    assert errors.mean() == pytest.approx(bound.error, rel=6 * math.sqrt(2 / 20_000))


def test_lopuhaa_bound_is_an_average_over_a_prior(found):
    """Below the bound at one distribution; over the uniform prior, as it is meant, the same answer is far above it."""
    assert found.any_case.error == 0 < found.any_case.bound == pytest.approx(10 / (math.e - 1) ** 2)
    shares = np.random.default_rng(1).dirichlet(np.ones(10), 5000)
    n = 10_000
    assert n * ((shares - 0.1) ** 2).sum(axis=1).mean() > 100 * found.any_case.bound


def test_lopuhaa_eq_88_divides_by_c_twice(found):
    """The chance C of the reports (1, 1, 2) by an integral over the prior; the posterior's mass is 1, not 1/C."""
    mechanism = RandomizedResponse(2, 1.0)

    def likelihood(share):
        first = mechanism.q + mechanism.keep * share
        return first**2 * (1 - first)

    chance, _ = integrate.quad(likelihood, 0, 1)
    assert found.posterior.printed == pytest.approx(1 / chance, rel=1e-9)
    assert found.posterior.found == pytest.approx(1, rel=1e-8)
    assert found.posterior.corrected == pytest.approx(1)


def test_lopuhaa_jeffreys_prior_has_parameter_one_half(found):
    """The density of the Jeffreys prior is the root of Fisher's information: for two categories the arcsine law."""
    value = found.jeffreys
    assert value.printed < 0 < value.corrected == pytest.approx(0.09 / 6)
    spread = stats.beta(0.5, 4.5)  # of one share of ten
    assert spread.var() == pytest.approx(value.corrected)
    excess = float(spread.stats(moments="k"))
    assert value.found == pytest.approx(value.corrected, rel=5 * math.sqrt((excess + 2) / 20_000))
    share = np.linspace(0.1, 0.9, 9)
    information = 1 / (share * (1 - share))
    ratio = stats.beta(0.5, 0.5).pdf(share) / np.sqrt(information)
    np.testing.assert_allclose(ratio, ratio[0])


def test_lopuhaa_cost_is_that_of_proposition_3_2(found):
    """Terms counted one by one for few users, and the growth of their number for many."""
    for each in (
        1,
        2,
        4,
    ):  # of three possible reports; two categories: how many of each report are of the first
        counted = sum(1 for _ in itertools.product(range(each + 1), repeat=3))
        assert counted == math.comb(each + 1, 1) ** 3
    assert found.summands.corrected == 2 ** (3 * (2 - 1))
    assert found.summands.printed == 2 ** (2 * (3 - 1))
    assert found.summands.found == pytest.approx(float(Fraction(2001, 1001) ** 3))
