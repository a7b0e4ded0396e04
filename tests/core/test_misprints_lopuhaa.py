"""Misprints of Lopuhaä-Zwakenberg et al.: the corrected statement holds, the printed one fails. The page cites these."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from rr_core import RandomizedResponse, inv, mle_star
from rr_core.law import report_variance
from rr_core.misprints import EXAMPLE_COUNTS, lopuhaa
from tests.core import exact as rational
from tests.sentences import holds


def lopuhaa_algorithm_1(counts, epsilon, numerator_is_categories):
    """Lopuhaä-Zwakenberg et al., Algorithm 1, with (a - k) or, as printed, (n - k) in its last line."""
    a, n, odds = len(counts), sum(counts), math.exp(epsilon) - 1
    ranked, k = sorted(counts), 0
    while ranked[k] == 0 or a - k + odds - sum(ranked[k:]) / ranked[k] < 0:
        k += 1
    share = np.array(counts) / sum(ranked[k:])
    return np.maximum(0, share * (((a if numerator_is_categories else n) - k) / odds + 1) - 1 / odds)


@holds(
    "Counts (6, 3, 2, 1), $e^ε=3$: as printed {}, which is no distribution; right {}.",
)
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
    check = lopuhaa.algorithm_1()
    best = rational.mle(EXAMPLE_COUNTS, rational.channel_from_p(4, Fraction(1, 2)))
    np.testing.assert_allclose(check.corrected, np.array(best, float), atol=1e-15)
    np.testing.assert_allclose(
        check.printed, lopuhaa_algorithm_1(EXAMPLE_COUNTS, math.log(3), False), rtol=1e-12
    )
    assert check.printed.sum() == pytest.approx(6)  # no distribution


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
    check = lopuhaa.equation_64()
    np.testing.assert_allclose(check.corrected, [0.7, 0.3], atol=1e-12)
    mean = 28 * mechanism.p + 12 * mechanism.q  # of the reports of the first category
    at_the_mean = ((power + 1) * np.array([mean, n - mean]) - 1) / (n * (power - 1))
    np.testing.assert_allclose(check.printed, at_the_mean, rtol=1e-12)
    assert (check.printed - check.corrected > 0.6).all()


def test_lopuhaa_eqs_72_to_75_lack_one_over_n_squared():
    """The variance of the estimate of eq. (64) is that of the count, over n^2 (p - q)^2."""
    n, mechanism, value = 40, RandomizedResponse(2, 0.9), lopuhaa.equations_72_to_75()
    exact = report_variance(28, n, mechanism) / (n * mechanism.keep) ** 2
    assert value.corrected == pytest.approx(exact, rel=1e-12)
    assert value.printed == pytest.approx(46.2, abs=0.05)
    assert value.actual == pytest.approx(exact, rel=6 * math.sqrt(2 / 40_000))


def test_lopuhaa_eq_60_lacks_n_and_half_of_its_exponent():
    bound = lopuhaa.equation_60()
    assert bound.corrected == pytest.approx(bound.corollary, rel=1e-12)
    assert bound.printed == pytest.approx(bound.corollary * math.exp(3 / 4), rel=1e-12)
    # Without n on its left side it would forbid an error that RR has by their own eq. (66).
    assert bound.error < 0.01 * bound.printed_error
    simulated = RandomizedResponse(2, 1.0)
    reports = simulated.randomize_histogram(np.broadcast_to([700, 300], (20_000, 2)), 5)
    errors = ((inv(reports, simulated) - [0.7, 0.3]) ** 2).sum(axis=1)
    assert errors.mean() == pytest.approx(bound.error, rel=6 * math.sqrt(2 / 20_000))


@holds(
    "$K=10$, $ε=1$, equal shares: whoever answers “equal shares” whatever was reported has $N\\cdot\\mathrm{MSE}$ = {}; the bound of eq.",  # noqa: E501
)
def test_lopuhaa_bound_is_an_average_over_a_prior():
    """Below the bound at one distribution; over the uniform prior, as it is meant, the same answer is far above it."""
    check = lopuhaa.any_case()
    assert check.error == 0 < check.bound == pytest.approx(10 / (math.e - 1) ** 2)
    shares = np.random.default_rng(1).dirichlet(np.ones(10), 5000)
    n = 10_000
    assert n * ((shares - 0.1) ** 2).sum(axis=1).mean() > 100 * check.bound


def test_lopuhaa_eq_88_divides_by_c_twice():
    """The chance C of the reports (1, 1, 2) by an integral over the prior; the posterior's mass is 1, not 1/C."""
    mechanism = RandomizedResponse(2, 1.0)

    def likelihood(share):
        first = mechanism.q + mechanism.keep * share
        return first**2 * (1 - first)

    chance, _ = integrate.quad(likelihood, 0, 1)
    value = lopuhaa.equation_88()
    assert value.printed == pytest.approx(1 / chance, rel=1e-9)
    assert value.actual == pytest.approx(1, rel=1e-8)
    assert value.corrected == pytest.approx(1)


def test_lopuhaa_jeffreys_prior_has_parameter_one_half():
    """The density of the Jeffreys prior is the root of Fisher's information: for two categories the arcsine law."""
    value = lopuhaa.jeffreys_prior()
    assert value.printed < 0 < value.corrected == pytest.approx(0.09 / 6)
    spread = stats.beta(0.5, 4.5)  # of one share of ten
    assert spread.var() == pytest.approx(value.corrected)
    excess = float(spread.stats(moments="k"))
    assert value.actual == pytest.approx(value.corrected, rel=5 * math.sqrt((excess + 2) / 20_000))
    share = np.linspace(0.1, 0.9, 9)
    information = 1 / (share * (1 - share))
    ratio = stats.beta(0.5, 0.5).pdf(share) / np.sqrt(information)
    np.testing.assert_allclose(ratio, ratio[0])


def test_lopuhaa_cost_is_that_of_proposition_3_2():
    """Terms counted one by one for few users, and the growth of their number for many."""
    for each in (
        1,
        2,
        4,
    ):  # of three possible reports; two categories: how many of each report are of the first
        counted = sum(1 for _ in itertools.product(range(each + 1), repeat=3))
        assert counted == math.comb(each + 1, 1) ** 3
    value = lopuhaa.summands()
    assert value.corrected == 2 ** (3 * (2 - 1))
    assert value.printed == 2 ** (2 * (3 - 1))
    assert value.actual == pytest.approx(float(Fraction(2001, 1001) ** 3))
