"""One small numerical check for each misprint that the reference page lists.

Every function takes no argument, uses a fixed seed, costs milliseconds and returns the numbers that the page
prints: what a formula says as printed, what it says corrected, and what a simulation or an exact calculation
finds. Sections and equations are those of the paper (Pinzón et al.) unless another source is named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from rr_core import streams
from rr_core._validate import Array
from rr_core.errors import inv_variance, squared_error, total_variation
from rr_core.estimators import inv, inv_n, inv_p, mle_star
from rr_core.ibu import ibu
from rr_core.mechanism import RandomizedResponse
from rr_core.misprints_averages import NotBetween, WorstAverage, not_between, worst_average
from rr_core.misprints_lopuhaa import LopuhaaChecks, Printed, lopuhaa_checks
from rr_core.populations import zipf
from rr_core.scenario import Scenario
from rr_core.streams import Stream

# The exact example of the tests: K = 4, p = 1/2, q = 1/6, e^eps = 3.
EXAMPLE_COUNTS = (6, 3, 2, 1)
_EXAMPLE = RandomizedResponse.from_p(4, 0.5)
# Two errors closer than this are equal: where nothing is negative all repairs coincide up to rounding.
_TIE = 1e-9


@dataclass(frozen=True)
class Variances:
    """Sum over categories of Var(Inv_i): found in ``draws`` simulated collections, and by formula."""

    draws: int
    simulated: float
    corrected: float
    printed: float


def variance_of_inv() -> Variances:
    """Eq. (8): below must stand N (p - q)^2, not N (p - q). K = 5, eps = 1, N = 200 fixed users."""
    true_counts, mechanism, draws = np.array([120, 60, 20, 0, 0]), RandomizedResponse(5, 1.0), 20_000
    n = int(true_counts.sum())
    reports = mechanism.randomize_histogram(np.broadcast_to(true_counts, (draws, 5)), 1)
    corrected = float(inv_variance(true_counts / n, n, mechanism).sum())
    simulated = float(inv(reports, mechanism).var(axis=0).sum())
    return Variances(draws, simulated, corrected, corrected * mechanism.keep)


@dataclass(frozen=True)
class Growth:
    """N times the mean squared error of Inv, divided by ``k``: simulated, and by both formulas."""

    k: int
    simulated: float
    corrected: float
    printed: float


def growth_with_k() -> tuple[Growth, ...]:
    """Theorem 9 and section 5.4: the error grows like K^2/N at fixed eps, not like K/N. Its K/N comes from
    the denominator misprinted in eq. (8). Equal shares, eps = 1, 100 users per category."""
    rows = []
    for k in (10, 100, 1000):
        mechanism, true_counts = RandomizedResponse(k, 1.0), np.full(k, 100)
        theta, n = true_counts / true_counts.sum(), 100 * k
        reports = mechanism.randomize_histogram(np.broadcast_to(true_counts, (100_000 // k, k)), k)
        simulated = float(squared_error(inv(reports, mechanism), theta).mean()) * n / k
        corrected = float(inv_variance(theta, n, mechanism).sum()) * n / k
        rows.append(Growth(k, simulated, corrected, corrected * mechanism.keep))
    return tuple(rows)


def squared_error_of_inv(k: int, epsilon: float) -> float:
    """N times the mean squared error of Inv for fixed users, whatever their shares: eq. (8) with N (p - q)^2, summed
    over the k categories; (k^2 + (2 e^eps - 3) k - 2 (e^eps - 1)) / (e^eps - 1)^2."""
    power = math.exp(epsilon)
    return (k**2 + (2 * power - 3) * k - 2 * (power - 1)) / (power - 1) ** 2


def slope_of_inv(k: tuple[int, int], epsilon: float) -> float:
    """Slope of log mean squared error of Inv over log k, between two values of k."""
    low, high = (math.log(squared_error_of_inv(one, epsilon)) for one in k)
    return (high - low) / math.log(k[1] / k[0])


@dataclass(frozen=True)
class Optimal:
    """N times the mean squared error at ``k`` and ``epsilon``, fixed users, any shares: Inv from RR, and the unbiased
    estimate from subset selection with subsets of the best size."""

    k: int
    epsilon: float
    rr: float
    subset_selection: float
    size: int


def not_optimal(k: int = 10, epsilon: float = 1.0) -> Optimal:
    """Section 1 and the poster: RR is not optimal among all LDP mechanisms while K < 3 e^eps + 2; up to there its
    variance at a share of zero is below that of unary encoding and local hashing (Wang et al. 2017)."""
    found = {size: _subset_selection(k, epsilon, size) for size in range(1, k)}
    best = min(found, key=found.__getitem__)
    return Optimal(k, epsilon, squared_error_of_inv(k, epsilon), found[best], best)


def _subset_selection(k: int, epsilon: float, size: int) -> float:
    """Each report is a set of ``size`` categories, e^eps times as likely for each set that holds the truth (Ye and
    Barg 2018). A category is in it with chance p if it is the truth and q if it is not."""
    power = math.exp(epsilon)
    p = size * power / (size * power + k - size)
    q = (p * (size - 1) + (1 - p) * size) / (k - 1)
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2


@dataclass(frozen=True)
class DropCondition:
    """g(0), g(1), ... of Lemma 3 for the ``counts``, and how many entries MLE* sets to zero."""

    counts: tuple[int, ...]
    g: tuple[float, ...]
    zeros: int


def drop_condition() -> DropCondition:
    """Lemma 3 (d) and the proof of Theorem 7: phi_(n-1) = phi_n should be phi_n = phi_(n+1). Ascending as there."""
    counts, q = (1, 1, 4, 6), _EXAMPLE.q
    phi = np.array(counts) / sum(counts)
    g = tuple(float((1 - n * q) * phi[n] - q * phi[n:].sum()) for n in range(len(counts)))
    return DropCondition(counts, g, int((mle_star(phi, _EXAMPLE) == 0).sum()))


@dataclass(frozen=True)
class OneZero:
    """Second and third formula in the proof of Theorem 8 for every category i but the dropped one n: the right sides,
    and what they are called on the left as printed (entry n of InvN and of MLE*) and corrected (entry i)."""

    right_sides: Array
    printed: Array
    corrected: Array


def one_zero() -> OneZero:
    """Theorem 8: on the left of two formulas stands a subscript n where i is meant."""
    phi, p, q = np.array([5, 3, 3, 1]) / 12, _EXAMPLE.p, _EXAMPLE.q
    v, rest = phi[-1], phi[:-1]
    right = np.stack([(rest - q) / (p - v), rest * (1 - q) / ((p - q) * (1 - v)) - q / (p - q)])
    both = np.stack([inv_n(phi, _EXAMPLE), mle_star(phi, _EXAMPLE)])
    return OneZero(right, np.repeat(both[:, -1:], 3, axis=1), both[:, :-1])


@dataclass(frozen=True)
class Centre:
    """Share of the reports in the category that all users have (``own``) and in another one (``other``):
    observed, expected, and what the text prints for the first; ``printed_sum`` should be one."""

    users: int
    own: float
    other: float
    expected_own: float
    expected_other: float
    printed_own: float
    printed_sum: float


def centre_of_reports() -> Centre:
    """Section 5.2: for theta = (1, 0, ..., 0) phi centres on (p, q, ..., q), not on (p - q, q, ..., q)."""
    mechanism, users = RandomizedResponse(6, 1.0), 10**8
    phi = mechanism.randomize_histogram([users, 0, 0, 0, 0, 0], 2) / users
    expected = mechanism.expected(np.eye(6)[0])
    return Centre(
        users,
        float(phi[0]),
        float(phi[1]),
        float(expected[0]),
        float(expected[1]),
        mechanism.keep,
        mechanism.keep + 5 * mechanism.q,
    )


@dataclass(frozen=True)
class Thresholds:
    """Inv(phi^tau) of eq. (6) at the largest entry dropped and at the smallest entry kept."""

    phi: Array
    zeros: int
    at_dropped: Array
    at_kept: Array
    mle_star: Array


def threshold() -> Thresholds:
    """After Algorithm 1: tau* is phi_sigma(i+1), the smallest entry kept; at phi_sigma(i) eq. (6) still
    gives a negative share."""
    phi = np.array(EXAMPLE_COUNTS) / sum(EXAMPLE_COUNTS)
    best, ranked = mle_star(phi, _EXAMPLE), np.sort(phi)
    zeros = int((best == 0).sum())
    at_dropped, at_kept = (_inv_at(phi, ranked[i]) for i in (zeros - 1, zeros))
    return Thresholds(phi, zeros, at_dropped, at_kept, best)


def _inv_at(phi: Array, tau: float) -> Array:
    kept = phi >= tau
    scale = (1 - _EXAMPLE.q * (~kept).sum()) / phi[kept].sum()
    return np.where(kept, (scale * phi - _EXAMPLE.q) / (_EXAMPLE.p - _EXAMPLE.q), 0.0)


@dataclass(frozen=True)
class Drift:
    """Rounding at ``k`` categories: how far the sum of the estimate is from one, for the supplement's listing
    and here, and the largest difference between the two in one entry."""

    k: int
    listing_sum: float
    own_sum: float
    largest: float


def listing_drift() -> Drift:
    """Section A: subtracting the dropped frequencies one by one from 1 accumulates their rounding errors.

    ``np.subtract.accumulate`` subtracts in the order of the listing's loop, so this is the loop, bit by bit.
    """
    draw = Scenario("zipf", 142_300, 1.3, 8.0, 166_450, 1).draw()
    k, p = draw.scenario.k, draw.mechanism.p
    q, phi = (1 - p) / (k - 1), np.sort(draw.counts / draw.scenario.n)
    left = np.subtract.accumulate(np.concatenate([[1.0], phi]))
    dropped = np.arange(k)
    zeros = int(np.argmin(q * left[:-1] > (1 - dropped * q) * phi))
    scale = (p - q) * left[zeros] / (1 - zeros * q)
    listing = np.where(dropped >= zeros, phi / scale - q / (p - q), 0.0)
    own = np.sort(mle_star(draw.counts, draw.mechanism))
    return Drift(k, math.fsum(listing) - 1, math.fsum(own) - 1, float(np.abs(listing - own).max()))


@dataclass(frozen=True)
class Worst:
    """Of ``negative`` single draws with a negative Inv, MLE* had the largest squared error in ``worst``."""

    epsilon: float
    draws: int
    negative: int
    worst: int

    @property
    def one_in(self) -> int | None:
        """One draw in this many; None when it never happened."""
        return round(self.negative / self.worst) if self.worst else None


def worst_draws() -> tuple[Worst, ...]:
    """Section 6.2: how often MLE* is the worst of the three in a single draw.

    K = 5; each draw has a true distribution uniform on the simplex and N log-uniform from 10 to 100,000; the
    error is measured against the users' own histogram. It needs unequal supports: on equal supports MLE* lies
    between the other two, and a squared distance is convex.
    """
    return tuple(_worst(epsilon, seed) for seed, epsilon in enumerate((0.1, 1.0, 2.0, 4.0)))


def _worst(epsilon: float, seed: int) -> Worst:
    rng, k, draws = streams.generator(seed, Stream.MISPRINTS), 5, 12_000
    mechanism = RandomizedResponse(k, epsilon)
    users = (10 ** rng.uniform(1, 5, draws)).astype(np.int64)
    true_counts = rng.multinomial(users, rng.dirichlet(np.ones(k), draws))
    reports = mechanism.randomize_histogram(true_counts, rng)
    theta = true_counts / users[:, None]
    clipped, projected, best = (squared_error(f(reports, mechanism), theta) for f in (inv_n, inv_p, mle_star))
    negative = inv(reports, mechanism).min(axis=-1) < 0
    worst = negative & (best > np.maximum(clipped, projected) * (1 + _TIE))
    return Worst(epsilon, draws, int(negative.sum()), int(worst.sum()))


def poster_formula() -> Printed:
    """The poster's proof sketch: an entry of the MLE that is not zero is phi_i/lambda - q/(p - q), not Inv_i.
    On the example; the printed one does not sum to one."""
    phi = np.array(EXAMPLE_COUNTS) / sum(EXAMPLE_COUNTS)
    best = mle_star(phi, _EXAMPLE)
    return Printed(np.where(best > 0, inv(phi, _EXAMPLE), 0.0), best)


@dataclass(frozen=True)
class Stopped:
    """Total variation between truth and IBU after ``iterations``, when the reports carry no noise at all."""

    iterations: int
    distance: float


def stopped_early() -> tuple[Stopped, ...]:
    """The poster's table calls IBU consistent: true of its limit, not of a fixed number of iterations. With
    infinitely many users phi is q + (p - q) theta exactly, and IBU still is not there. K = 12, eps = 1."""
    theta, mechanism = zipf(12, 1.0), RandomizedResponse(12, 1.0)
    after = partial(ibu, mechanism.expected(theta), mechanism)
    return tuple(Stopped(steps, total_variation(after(steps), theta)) for steps in (10, 100, 1000))


@dataclass(frozen=True)
class BlogNames:
    """The blog's p (chance of a uniform redraw) and this p (chance of the truth); its debiased one-hot."""

    redraw: float
    truth: float
    low: float
    high: float


def blog_names() -> BlogNames:
    """The blog's example, K = 10 and eps = ln 3: its p is K q = 1 - (p - q)."""
    mechanism = RandomizedResponse(10, math.log(3))
    debiased = inv(np.eye(10)[1], mechanism)
    return BlogNames(1 - mechanism.keep, mechanism.p, float(debiased.min()), float(debiased.max()))


def largest_shares() -> dict[float, float]:
    """Share of the first of 10,000 categories under Zipf(s): 2.5, 5 and (for the published code's s >= 5, where
    all users sit in one category) infinity."""
    return {2.5: float(zipf(10_000, 2.5)[0]), 5.0: float(zipf(10_000, 5.0)[0]), math.inf: 1.0}


@dataclass(frozen=True)
class Checks:
    """Every check, once."""

    variance: Variances
    growth: tuple[Growth, ...]
    centre: Centre
    threshold: Thresholds
    drift: Drift
    worst: tuple[Worst, ...]
    poster: Printed
    stopped: tuple[Stopped, ...]
    blog: BlogNames
    shares: dict[float, float]
    average: WorstAverage
    between: NotBetween
    optimal: Optimal
    drop: DropCondition
    one_zero: OneZero
    lopuhaa: LopuhaaChecks


def all_checks() -> Checks:
    """Run them all: about half a second."""
    return Checks(
        variance_of_inv(),
        growth_with_k(),
        centre_of_reports(),
        threshold(),
        listing_drift(),
        worst_draws(),
        poster_formula(),
        stopped_early(),
        blog_names(),
        largest_shares(),
        worst_average(),
        not_between(),
        not_optimal(),
        drop_condition(),
        one_zero(),
        lopuhaa_checks(),
    )
