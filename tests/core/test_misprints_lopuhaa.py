"""Misprints of Lopuhaä-Zwakenberg et al.: the corrected statement holds, the printed one fails. Every number that
the page tells is computed anew; the page cites these tests."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, special, stats

from rr_core import RandomizedResponse, inv, inv_variance, mle_star
from rr_core.law import report_variance
from tests.core import exact as rational
from tests.core.misprints import STORED, stored
from tests.sentences import holds


def lopuhaa_algorithm_1(counts, epsilon, numerator_is_categories):
    """Lopuhaä-Zwakenberg et al., Algorithm 1, with (a - k) or, as printed, (n - k) in its last line."""
    a, n, odds = len(counts), sum(counts), math.exp(epsilon) - 1
    ranked, k = sorted(counts), 0
    while ranked[k] == 0 or a - k + odds - sum(ranked[k:]) / ranked[k] < 0:
        k += 1
    share = np.array(counts) / sum(ranked[k:])
    return np.maximum(0, share * (((a if numerator_is_categories else n) - k) / odds + 1) - 1 / odds)


@holds("Counts (6, 3, 2, 1), $e^ε=3$: as printed {}, which is no distribution; right {}.")
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
    told, counts = stored("lopuhaa_algorithm_1"), (6, 3, 2, 1)
    best = rational.mle(counts, rational.channel_from_p(4, Fraction(1, 2)))
    np.testing.assert_allclose(told.corrected, np.array(best, float), rtol=STORED)
    np.testing.assert_allclose(told.printed, lopuhaa_algorithm_1(counts, math.log(3), False), rtol=STORED)
    assert sum(told.printed) == pytest.approx(6)  # no distribution


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
    told = stored("lopuhaa_equation_64")
    # Both are linear in the counts: the mean of the formula is the formula of the mean.
    mean = 28 * mechanism.p + 12 * mechanism.q  # of the reports of the first category
    for shares, subtracted in ((told.printed, 1), (told.corrected, n)):
        at_the_mean = ((power + 1) * np.array([mean, n - mean]) - subtracted) / (n * (power - 1))
        np.testing.assert_allclose(shares, at_the_mean, rtol=STORED)
    assert told.corrected == [0.7, 0.3]
    assert (np.subtract(told.printed, told.corrected) > 0.6).all()


def test_lopuhaa_eqs_72_to_75_lack_one_over_n_squared():
    """The variance of the estimate of eq. (64) is that of the count, over n^2 (p - q)^2."""
    n, mechanism, told = 40, RandomizedResponse(2, 0.9), stored("lopuhaa_equations_72_to_75")
    exact = report_variance(28, n, mechanism) / (n * mechanism.keep) ** 2
    assert told.corrected == pytest.approx(exact, rel=STORED)
    assert told.printed == pytest.approx(n * math.exp(0.9) / math.expm1(0.9) ** 2, rel=STORED)
    reports = mechanism.randomize_histogram(np.broadcast_to([28, 12], (40_000, 2)), 3)
    assert told.actual == pytest.approx(inv(reports, mechanism)[:, 0].var(), rel=STORED)
    assert told.actual == pytest.approx(exact, rel=6 * math.sqrt(2 / 40_000))


def test_lopuhaa_eq_60_lacks_n_and_half_of_its_exponent():
    told, a, b, odds = stored("lopuhaa_equation_60"), 3, 3, math.expm1(1.0)
    delta = (a - 1) * math.log(math.sqrt(2 * math.pi * math.e) / odds) - b / 2
    corollary = a / (2 * math.pi * math.e) * math.exp(2 / (a - 1) * delta)  # eqs. (52) and (55)
    assert told.corollary == pytest.approx(corollary, rel=STORED)
    assert told.corrected == pytest.approx(a * math.exp(-b / (a - 1)) / odds**2, rel=STORED)
    assert told.corrected == told.corollary
    assert told.printed == pytest.approx(a * math.exp(-b / (2 * (a - 1))) / odds**2, rel=STORED)
    assert told.error == pytest.approx(2 * math.e / (told.n * odds**2), rel=STORED)  # eq. (66)
    assert told.printed_error == pytest.approx(2 / math.e / odds**2, rel=STORED)  # a = b = 2
    # Without n on its left side it would forbid an error that RR has by their own eq. (66).
    assert told.error < 0.01 * told.printed_error
    assert told.error == pytest.approx(
        inv_variance([0.7, 0.3], told.n, RandomizedResponse(2, 1.0)).sum(), rel=STORED
    )


@holds(
    "$K=10$, $ε=1$, equal shares: whoever answers “equal shares” whatever was reported has $N\\cdot\\mathrm{MSE}$ = {}; the bound of eq."  # noqa: E501
)
def test_lopuhaa_bound_is_an_average_over_a_prior():
    """Below the bound at one distribution; over the uniform prior, as it is meant, the same answer is far above it."""
    told = stored("lopuhaa_any_case")
    assert told.error == 0 < told.bound == pytest.approx(10 / (math.e - 1) ** 2, rel=STORED)
    shares = np.random.default_rng(1).dirichlet(np.ones(10), 5000)
    n = 10_000
    assert n * ((shares - 0.1) ** 2).sum(axis=1).mean() > 100 * told.bound


def test_lopuhaa_eq_88_divides_by_c_twice():
    """The chance C of the reports (1, 1, 2) by an integral over the prior; the posterior's mass is 1, not 1/C."""
    mechanism = RandomizedResponse(2, 1.0)

    def likelihood(share):
        first = mechanism.q + mechanism.keep * share
        return first**2 * (1 - first)

    chance, _ = integrate.quad(likelihood, 0, 1)
    told, channel = stored("lopuhaa_equation_88"), mechanism.matrix()
    # Their eq. (83): all ways in which the three reports may have come about, each with its chance under the prior.
    weights = [
        special.beta(1 + 3 - sum(truth), 1 + sum(truth))
        * math.prod(channel[x, y] for x, y in zip(truth, (0, 0, 1), strict=True))
        for truth in itertools.product(range(2), repeat=3)
    ]
    assert sum(weights) == pytest.approx(chance, rel=1e-9)
    assert told.printed == pytest.approx(1 / chance, rel=STORED)
    assert told.corrected == pytest.approx(sum(weights) / chance, rel=STORED)


def test_lopuhaa_jeffreys_prior_has_parameter_one_half():
    """The density of the Jeffreys prior is the root of Fisher's information: for two categories the arcsine law."""
    told = stored("lopuhaa_jeffreys_prior")
    assert told.printed == pytest.approx(0.09 / (1 + 10 * -0.5), rel=STORED)
    assert told.printed < 0 < told.corrected == pytest.approx(0.09 / 6)
    spread = stats.beta(0.5, 4.5)  # of one share of ten
    assert spread.var() == pytest.approx(told.corrected)
    excess = float(spread.stats(moments="k"))
    drawn = np.random.default_rng((7, 9)).dirichlet(np.full(10, 0.5), 20_000)
    assert told.actual == pytest.approx(drawn[:, 0].var(), rel=STORED)
    assert told.actual == pytest.approx(told.corrected, rel=5 * math.sqrt((excess + 2) / 20_000))
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
    told = stored("lopuhaa_summands")
    assert told.corrected == 2 ** (3 * (2 - 1))
    assert told.printed == 2 ** (2 * (3 - 1))
    assert told.actual == pytest.approx(float(Fraction(2001, 1001) ** 3), rel=STORED)
