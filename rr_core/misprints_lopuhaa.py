"""One small numerical check for each misprint of Lopuhaä-Zwakenberg et al. (2020).

As in `rr_core.misprints`: no argument, milliseconds, and the numbers that the reference page prints. Their a is
our K, their n our N, and b the number of possible reports; equations are numbered as in the paper.
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
from rr_core.streams import Stream

# Counts of the example of the paper by Pinzón et al. with e^eps = 3, see `rr_core.misprints`.
_COUNTS, _THREE = (6, 3, 2, 1), RandomizedResponse.from_p(4, 0.5)


@dataclass(frozen=True)
class Printed:
    """One estimate as a printed formula gives it, and corrected."""

    printed: Array
    corrected: Array


@dataclass(frozen=True)
class Value:
    """One number as a printed formula gives it, corrected, and found by simulation or by counting."""

    printed: float
    corrected: float
    found: float


def algorithm() -> Printed:
    """Algorithm 1, last line: (a - k)/(e^eps - 1) + 1 with a categories, not n users. Corrected it is MLE*."""
    counts, odds = np.array(_COUNTS), math.expm1(_THREE.epsilon)
    a, n, k, ranked = counts.size, int(counts.sum()), 0, np.sort(counts)
    while a - k + odds - ranked[k:].sum() / ranked[k] < 0:
        k += 1
    share = counts / ranked[k:].sum()
    made = [np.maximum(0.0, share * ((of - k) / odds + 1) - 1 / odds) for of in (n, a)]
    return Printed(*made)


def two_categories() -> Printed:
    """Eq. (64): the -1 must be -n. Exact mean of both over all reports of 40 users, 28 of them in the
    first category; unbiased means (0.7, 0.3)."""
    n, mechanism = 40, RandomizedResponse(2, 0.9)
    first, chance = report_distribution(28, n, mechanism)
    mean = float(chance @ (first + np.arange(chance.size)))
    counts, power = np.array([mean, n - mean]), math.exp(mechanism.epsilon)
    # Both are linear in the counts, so the mean of the formula is the formula of the mean.
    made = [((power + 1) * counts - less) / (n * (power - 1)) for less in (1, n)]
    return Printed(*made)


def variance_of_frequency() -> Value:
    """Eqs. (72) to (75): 1/n^2 is missing, as eq. (66) of the same proposition shows. 40 users, eps = 0.9."""
    n, mechanism, draws = 40, RandomizedResponse(2, 0.9), 40_000
    power = math.exp(mechanism.epsilon)
    reports = mechanism.randomize_histogram(np.broadcast_to([28, 12], (draws, 2)), 3)
    printed = n * power / (power - 1) ** 2
    return Value(printed, printed / n**2, float(inv(reports, mechanism)[:, 0].var()))


@dataclass(frozen=True)
class Bound:
    """Lower bound on n times the mean squared error of the frequencies, a = b = 3 and eps = 1: as eq. (60) prints it,
    corrected, and from eqs. (52) and (55), of which it is a corollary.

    ``error`` is the mean squared error of RR for n = ``n`` users and a = 2 by eq. (66), and ``printed_error`` what
    eq. (60), which has no n, says that it cannot be below.
    """

    printed: float
    corrected: float
    corollary: float
    n: int
    error: float
    printed_error: float


def frequency_bound() -> Bound:
    """Eq. (60): on the left a factor n is missing, and the exponent must be -b eps/(a - 1), not half of it."""
    a, b, epsilon, n = 3, 3, 1.0, 1000
    odds = math.expm1(epsilon)
    delta = (a - 1) * math.log(math.sqrt(2 * math.pi * math.e) / odds) - b * epsilon / 2
    corollary = a / (2 * math.pi * math.e) * math.exp(2 / (a - 1) * delta)
    printed, corrected = (a * math.exp(-b * epsilon / (c * (a - 1))) / odds**2 for c in (2, 1))
    of_two = 2 * math.exp(-epsilon) / odds**2  # a = b = 2
    return Bound(printed, corrected, corollary, n, 2 * math.exp(epsilon) / (n * odds**2), of_two)


def posterior_mass() -> Value:
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
    seen = mechanism.q + mechanism.keep * share
    chance = float((seen**2 * (1 - seen)).mean())
    return Value(weights / total, weights, total / chance)


def _log_beta(parameters: Array) -> float:
    return float(special.gammaln(parameters).sum() - special.gammaln(parameters.sum()))


def jeffreys() -> Value:
    """Section 5: the Jeffreys prior is the Dirichlet law with parameter 1/2; with -1/2 their eq. (79) gives a negative
    variance. (-1/2 is the exponent of the density.) Variance of a share, a = 10."""
    a, draws = 10, 20_000
    printed, corrected = ((1 / a) * (1 - 1 / a) / (1 + a * gamma) for gamma in (-0.5, 0.5))
    drawn = streams.generator(7, Stream.MISPRINTS).dirichlet(np.full(a, 0.5), draws)
    return Value(printed, corrected, float(drawn[:, 0].var()))


def summands() -> Value:
    """Section 1: n^(a(b-1)) must be n^(b(a-1)), as in Proposition 3.2. By how much the number of summands of eq. (100)
    grows when n doubles, for a = 2 and b = 3, reports in equal parts."""
    a, b = 2, 3
    few, many = (math.comb(n // b + a - 1, a - 1) ** b for n in (3000, 6000))
    return Value(2.0 ** (a * (b - 1)), 2.0 ** (b * (a - 1)), many / few)


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


@dataclass(frozen=True)
class LopuhaaChecks:
    """Every check of this module, once."""

    algorithm: Printed
    two_categories: Printed
    variance: Value
    bound: Bound
    posterior: Value
    jeffreys: Value
    summands: Value
    any_case: AnyCase


def lopuhaa_checks() -> LopuhaaChecks:
    """Run them all: about a hundredth of a second."""
    return LopuhaaChecks(
        algorithm(),
        two_categories(),
        variance_of_frequency(),
        frequency_bound(),
        posterior_mass(),
        jeffreys(),
        summands(),
        any_case(),
    )
