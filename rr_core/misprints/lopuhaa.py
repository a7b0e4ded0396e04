"""Misprints of Lopuhaä-Zwakenberg, Li, Škorić and Li (2020).

Their a is our K, their n our N, and b the number of possible reports; equations are numbered as in their paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import special

from rr_core import streams
from rr_core._validate import Array
from rr_core.estimators import inv
from rr_core.law import report_distribution
from rr_core.mechanism import RandomizedResponse
from rr_core.misprints.paper import EXAMPLE, EXAMPLE_COUNTS, EstimatePair
from rr_core.streams import Stream


@dataclass(frozen=True)
class PrintedNumber:
    """One number by the formula as printed, by the corrected one, and by simulation or enumeration (``actual``)."""

    printed: float
    corrected: float
    actual: float


def algorithm_1() -> EstimatePair:
    """Algorithm 1, last line: (a - k)/(e^eps - 1) + 1 with a categories, not n users. Corrected it is MLE*."""
    counts, odds = np.array(EXAMPLE_COUNTS), math.expm1(EXAMPLE.epsilon)
    a, n, k, ranked = counts.size, int(counts.sum()), 0, np.sort(counts)
    while a - k + odds - ranked[k:].sum() / ranked[k] < 0:
        k += 1
    share = counts / ranked[k:].sum()
    printed, corrected = (np.maximum(0.0, share * ((size - k) / odds + 1) - 1 / odds) for size in (n, a))
    return EstimatePair(printed, corrected)


def equation_64() -> EstimatePair:
    """Eq. (64): the -1 must be -n. Exact mean of both over all reports of 40 users, 28 of them in the
    first category; unbiased means (0.7, 0.3)."""
    n, mechanism = 40, RandomizedResponse(2, 0.9)
    first, chance = report_distribution(28, n, mechanism)
    mean = float(chance @ (first + np.arange(chance.size)))
    counts, power = np.array([mean, n - mean]), math.exp(mechanism.epsilon)
    # Both are linear in the counts, so the mean of the formula is the formula of the mean.
    printed, corrected = (((power + 1) * counts - subtracted) / (n * (power - 1)) for subtracted in (1, n))
    return EstimatePair(printed, corrected)


def equations_72_to_75() -> PrintedNumber:
    """Eqs. (72) to (75): 1/n^2 is missing, as eq. (66) of the same proposition shows. 40 users, eps = 0.9."""
    n, mechanism, n_draws = 40, RandomizedResponse(2, 0.9), 40_000
    power = math.exp(mechanism.epsilon)
    reports = mechanism.randomize_histogram(np.broadcast_to([28, 12], (n_draws, 2)), 3)
    printed = n * power / (power - 1) ** 2
    return PrintedNumber(printed, printed / n**2, float(inv(reports, mechanism)[:, 0].var()))


@dataclass(frozen=True)
class LowerBound:
    """The lower bound of eq. (60).

    Attributes:
        printed, corrected: on n times the mean squared error of the frequencies, a = b = 3 and eps = 1.
        corollary: the same from eqs. (52) and (55), of which eq. (60) is a corollary.
        n, error: the mean squared error of RR for n users and a = 2, by eq. (66).
        printed_error: what eq. (60) as printed, which has no n, says that error cannot be below.
    """

    printed: float
    corrected: float
    corollary: float
    n: int
    error: float
    printed_error: float


def equation_60() -> LowerBound:
    """Eq. (60): on the left a factor n is missing, and the exponent must be -b eps/(a - 1), not half of it."""
    a, b, epsilon, n = 3, 3, 1.0, 1000
    odds = math.expm1(epsilon)
    delta = (a - 1) * math.log(math.sqrt(2 * math.pi * math.e) / odds) - b * epsilon / 2
    corollary = a / (2 * math.pi * math.e) * math.exp(2 / (a - 1) * delta)
    printed, corrected = (a * math.exp(-b * epsilon / (halving * (a - 1))) / odds**2 for halving in (2, 1))
    of_two = 2 * math.exp(-epsilon) / odds**2  # a = b = 2
    return LowerBound(printed, corrected, corollary, n, 2 * math.exp(epsilon) / (n * odds**2), of_two)


def equation_88() -> PrintedNumber:
    """Eq. (88): the weights of eq. (83) are divided by C already, and (88) divides by it again. Total mass of that
    posterior for the reports (1, 1, 2), a = 2, eps = 1 and a uniform prior; a density has mass one."""
    reports, prior, mechanism = (0, 0, 1), np.ones(2), RandomizedResponse(2, 1.0)
    channel = mechanism.matrix()
    joint = [
        math.exp(_log_beta(prior + np.bincount(truth, minlength=2)) - _log_beta(prior))
        * math.prod(channel[x, y] for x, y in zip(truth, reports, strict=True))
        for truth in product(range(2), repeat=len(reports))
    ]
    total = math.fsum(joint)
    weights = math.fsum(weight / total for weight in joint)
    # The same chance of the reports as an integral over the shares of the first category.
    share = (np.arange(20_000) + 0.5) / 20_000
    reported = mechanism.q + mechanism.keep * share
    chance = float((reported**2 * (1 - reported)).mean())
    return PrintedNumber(weights / total, weights, total / chance)


def _log_beta(parameters: Array) -> float:
    return float(special.gammaln(parameters).sum() - special.gammaln(parameters.sum()))


def jeffreys_prior() -> PrintedNumber:
    """Section 5: the Jeffreys prior is the Dirichlet law with parameter 1/2; with -1/2 their eq. (79) gives a negative
    variance. (-1/2 is the exponent of the density.) Variance of a share, a = 10."""
    a, n_draws = 10, 20_000
    printed, corrected = ((1 / a) * (1 - 1 / a) / (1 + a * parameter) for parameter in (-0.5, 0.5))
    drawn = streams.generator(7, Stream.MISPRINTS).dirichlet(np.full(a, 0.5), n_draws)
    return PrintedNumber(printed, corrected, float(drawn[:, 0].var()))


def summands() -> PrintedNumber:
    """Section 1: n^(a(b-1)) must be n^(b(a-1)), as in Proposition 3.2. By how much the number of summands of eq. (100)
    grows when n doubles, for a = 2 and b = 3, reports in equal parts."""
    a, b = 2, 3
    few, many = (math.comb(n // b + a - 1, a - 1) ** b for n in (3000, 6000))
    return PrintedNumber(2.0 ** (a * (b - 1)), 2.0 ** (b * (a - 1)), many / few)


@dataclass(frozen=True)
class AnyCase:
    """N times the mean squared error of "equal shares" as the answer to all reports, where the shares are equal, and
    the bound of eq. (59) that Table 1 claims for any case; K = 10, eps = 1."""

    bound: float
    error: float


def any_case() -> AnyCase:
    """Theorem 1.4 and Table 1: the bound is on an average over a prior with a density, for sampled users; at a single
    distribution an estimator may be below it."""
    k, odds = 10, math.expm1(1.0)
    answer = np.full(k, 1 / k)
    return AnyCase(k / odds**2, float(((answer - 1 / k) ** 2).sum()))
