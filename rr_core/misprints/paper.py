"""Misprinted formulas of the paper (Pinzón et al.), its listing, its figures, its poster, and of the blog post; and false
statements of the paper and its poster, each with a counterexample.

Sections and equations are those of the paper unless another source is named. The false statements are: RR is optimal
among all mechanisms (section 1), MLE* is never the worst of the three and its error lies between those of the other two
(section 6.2, conclusion, poster), IBU is consistent (poster).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rr_core import _validate, streams
from rr_core._validate import Array
from rr_core.comparison import TIE
from rr_core.estimators import inv, inv_n, mle_star
from rr_core.ibu import ibu
from rr_core.limits import EPSILON_OF_ERRORS_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import inv_variance, squared_error, total_variation
from rr_core.populations import zipf
from rr_core.registry import ESTIMATORS, VALID
from rr_core.scenario import WORST_AVERAGE, Scenario
from rr_core.streams import Stream

# The example with exact reference values: K = 4, p = 1/2, q = 1/6, e^eps = 3.
EXAMPLE_COUNTS = (6, 3, 2, 1)
EXAMPLE = RandomizedResponse.from_p(4, 0.5)


@dataclass(frozen=True)
class EstimatePair:
    """One (k,) estimate by the formula as printed, and by the corrected one."""

    printed: Array
    corrected: Array


@dataclass(frozen=True)
class VarianceOfInv:
    """Var(Inv_i) summed over the categories: in ``n_draws`` simulated collections, and by both formulas."""

    n_draws: int
    simulated: float
    corrected: float
    printed: float


def variance_of_inv() -> VarianceOfInv:
    """Eq. (8): the denominator is N (p - q)^2, not N (p - q). K = 5, eps = 1, N = 200 fixed users."""
    true_counts, mechanism, n_draws = np.array([120, 60, 20, 0, 0]), RandomizedResponse(5, 1.0), 20_000
    n = int(true_counts.sum())
    reports = mechanism.randomize_histogram(np.broadcast_to(true_counts, (n_draws, 5)), 1)
    corrected = float(inv_variance(true_counts / n, n, mechanism).sum())
    simulated = float(inv(reports, mechanism).var(axis=0).sum())
    return VarianceOfInv(n_draws, simulated, corrected, corrected * mechanism.keep)


@dataclass(frozen=True)
class ErrorAtK:
    """N times the mean squared error of Inv, divided by ``k``: simulated, and by both formulas."""

    k: int
    simulated: float
    corrected: float
    printed: float


@dataclass(frozen=True)
class ErrorGrowth:
    """How Inv's mean squared error grows with K: at three K, and the slope of its logarithm over that of K between
    ``slope_from`` and ``slope_to``, by the corrected formula."""

    at: tuple[ErrorAtK, ...]
    slope_from: int
    slope_to: int
    slope: float


def error_growth() -> ErrorGrowth:
    """Theorem 9 and section 5.4: at fixed eps the error grows like K^2/N, not like K/N, which comes from the denominator
    misprinted in eq. (8). Equal shares, eps = 1, 100 users per category."""
    rows = []
    for k in (10, 100, 1000):
        mechanism, true_counts = RandomizedResponse(k, 1.0), np.full(k, 100)
        theta, n = true_counts / true_counts.sum(), 100 * k
        reports = mechanism.randomize_histogram(np.broadcast_to(true_counts, (100_000 // k, k)), k)
        simulated = float(squared_error(inv(reports, mechanism), theta).mean()) * n / k
        corrected = float(inv_variance(theta, n, mechanism).sum()) * n / k
        rows.append(ErrorAtK(k, simulated, corrected, corrected * mechanism.keep))
    low, high = 1000, 5000
    return ErrorGrowth(tuple(rows), low, high, slope_of_inv((low, high), 1.0))


def squared_error_of_inv(k: int, epsilon: float) -> float:
    """N times the mean squared error of Inv for fixed users, whatever their shares: eq. (8) with N (p - q)^2, summed
    over the k categories; (k^2 + (2 e^eps - 3) k - 2 (e^eps - 1)) / (e^eps - 1)^2.

    >>> import math
    >>> round(squared_error_of_inv(2, math.log(3)), 9)  # 2 e^eps / (e^eps - 1)^2
    1.5
    """
    mechanism = RandomizedResponse(k, epsilon)
    # (k - 1) (k + 2 (e^eps - 1)) / (e^eps - 1)^2, where e^eps - 1 is truth over blur.
    blur = mechanism.blur / mechanism.truth
    return (mechanism.k - 1.0) * blur * (mechanism.k * blur + 2)


def slope_of_inv(k: tuple[int, int], epsilon: float) -> float:
    """Slope of log mean squared error of Inv over log k, between two values of k."""
    low, high = (RandomizedResponse(one, epsilon) for one in k)
    if low.k == high.k:
        raise ValueError(f"k must be two different integers, got {low.k:.6g} twice")
    # Of the error's factors the one without k cancels, which is zero in floating point for large epsilon.
    blur = low.blur / low.truth / 2
    logs = (math.log(one.k - 1) + math.log1p(one.k * blur) for one in (high, low))
    return (next(logs) - next(logs)) / (math.log(high.k) - math.log(low.k))


@dataclass(frozen=True)
class DropCondition:
    """g(0), g(1), … of Lemma 3 for ascending ``counts``, and how many entries MLE* sets to zero."""

    counts: tuple[int, ...]
    g: tuple[float, ...]
    n_zeros: int


def drop_condition() -> DropCondition:
    """Lemma 3 (d) and the proof of Theorem 7: phi_(n-1) = phi_n should be phi_n = phi_(n+1)."""
    counts, q = (1, 1, 4, 6), EXAMPLE.q
    phi = np.array(counts) / sum(counts)
    g = tuple(float((1 - n * q) * phi[n] - q * phi[n:].sum()) for n in range(len(counts)))
    return DropCondition(counts, g, int((mle_star(phi, EXAMPLE) == 0).sum()))


@dataclass(frozen=True)
class Theorem8:
    """Second and third formula in the proof of Theorem 8, arrays (2, k-1): one row per formula (for InvN and for MLE*),
    one column per category i other than the dropped one, n.

    Attributes:
        right_sides: of the two formulas.
        printed: what the left sides name as printed: entry n of InvN and of MLE*.
        corrected: what they should name: entry i.
    """

    right_sides: Array
    printed: Array
    corrected: Array


def theorem_8() -> Theorem8:
    """Theorem 8: on the left of two formulas stands a subscript n where i is meant. Counts (5, 3, 3, 1)."""
    phi, p, q = np.array([5, 3, 3, 1]) / 12, EXAMPLE.p, EXAMPLE.q
    smallest, rest = phi[-1], phi[:-1]
    right = np.stack([(rest - q) / (p - smallest), rest * (1 - q) / ((p - q) * (1 - smallest)) - q / (p - q)])
    both = np.stack([inv_n(phi, EXAMPLE), mle_star(phi, EXAMPLE)])
    return Theorem8(right, np.repeat(both[:, -1:], 3, axis=1), both[:, :-1])


@dataclass(frozen=True)
class CentreOfReports:
    """Shares of the reports when all ``n`` users have one category: in that one (``own``) and in another one (``other``);
    simulated, expected, and as printed for the first. ``printed_sum`` is the sum of the printed vector."""

    n: int
    own: float
    other: float
    expected_own: float
    expected_other: float
    printed_own: float
    printed_sum: float


def centre_of_reports() -> CentreOfReports:
    """Section 5.2: for theta = (1, 0, …, 0) phi centres on (p, q, …, q), not on (p - q, q, …, q)."""
    mechanism, n = RandomizedResponse(6, 1.0), 10**8
    phi = mechanism.randomize_histogram([n, 0, 0, 0, 0, 0], 2) / n
    expected = mechanism.expected(np.eye(6)[0])
    return CentreOfReports(
        n,
        float(phi[0]),
        float(phi[1]),
        float(expected[0]),
        float(expected[1]),
        mechanism.keep,
        mechanism.keep + 5 * mechanism.q,
    )


@dataclass(frozen=True)
class MleThreshold:
    """Inv(phi^tau) of eq. (6), (k,), with tau the largest entry dropped and with tau the smallest entry kept."""

    phi: Array
    n_zeros: int
    at_dropped: Array
    at_kept: Array
    mle_star: Array


def mle_threshold() -> MleThreshold:
    """After Algorithm 1: tau* is phi_sigma(i+1), the smallest entry kept; at phi_sigma(i) eq. (6) still gives a negative
    share."""
    phi = np.array(EXAMPLE_COUNTS) / sum(EXAMPLE_COUNTS)
    estimate, ranked = mle_star(phi, EXAMPLE), np.sort(phi)
    n_zeros = int((estimate == 0).sum())
    at_dropped, at_kept = (_thresholded(phi, ranked[i]) for i in (n_zeros - 1, n_zeros))
    return MleThreshold(phi, n_zeros, at_dropped, at_kept, estimate)


def _thresholded(phi: Array, tau: float) -> Array:
    """(k,) Inv(phi^tau) of eq. (6)."""
    kept = phi >= tau
    scale = (1 - EXAMPLE.q * (~kept).sum()) / phi[kept].sum()
    return np.where(kept, (scale * phi - EXAMPLE.q) / (EXAMPLE.p - EXAMPLE.q), 0.0)


@dataclass(frozen=True)
class ListingDrift:
    """Rounding errors at ``k`` categories: by how much the sum of the estimate misses one, for the supplement's listing
    and for `rr_core.mle_star`, and the largest difference of one entry between the two."""

    k: int
    listing_sum_error: float
    our_sum_error: float
    largest_difference: float


def listing_drift() -> ListingDrift:
    """Section A: subtracting the dropped frequencies one by one from 1 accumulates their rounding errors.

    ``np.subtract.accumulate`` subtracts in the order of the listing's loop, so this is the loop, bit by bit.
    """
    draw = Scenario("zipf", 142_300, 1.3, 8.0, 166_450, 1).draw()
    k, p = draw.scenario.k, draw.mechanism.p
    q, phi = (1 - p) / (k - 1), np.sort(draw.counts / draw.scenario.n)
    remaining = np.subtract.accumulate(np.concatenate([[1.0], phi]))
    n_dropped = np.arange(k)
    n_zeros = int(np.argmin(q * remaining[:-1] > (1 - n_dropped * q) * phi))
    scale = (p - q) * remaining[n_zeros] / (1 - n_zeros * q)
    listing = np.where(n_dropped >= n_zeros, phi / scale - q / (p - q), 0.0)
    ours = np.sort(mle_star(draw.counts, draw.mechanism))
    return ListingDrift(k, math.fsum(listing) - 1, math.fsum(ours) - 1, float(np.abs(listing - ours).max()))


@dataclass(frozen=True)
class LargestShares:
    """Share of the most frequent of ``k`` categories: under Zipf's law with s = 2.5 and s = 5, and in the published code
    when it is told s = 5."""

    k: int
    zipf_2_5: float
    zipf_5: float
    published_code: float


def largest_shares() -> LargestShares:
    """Captions of Figures 1 and 2: s goes up to 2.5, not 5.0; for s >= 5 the published code puts all users in one
    category."""
    k = 10_000
    return LargestShares(k, float(zipf(k, 2.5)[0]), float(zipf(k, 5.0)[0]), 1.0)


def poster_formula() -> EstimatePair:
    """The poster's proof sketch: an entry of the MLE that is not zero is phi_i/lambda - q/(p - q), not Inv_i. On the
    example; the printed one does not sum to one."""
    phi = np.array(EXAMPLE_COUNTS) / sum(EXAMPLE_COUNTS)
    estimate = mle_star(phi, EXAMPLE)
    return EstimatePair(np.where(estimate > 0, inv(phi, EXAMPLE), 0.0), estimate)


@dataclass(frozen=True)
class BlogExample:
    """The blog's p (chance of a uniform redraw), ours (chance of the truth), and one report debiased: the entry of the
    category reported, and of every other one."""

    redraw_chance: float
    truth_chance: float
    debiased_reported: float
    debiased_other: float


def blog_example() -> BlogExample:
    """The blog's example, K = 10 and eps = ln 3: its p is K q = 1 - (p - q)."""
    mechanism = RandomizedResponse(10, math.log(3))
    debiased = inv(np.eye(10)[1], mechanism)
    return BlogExample(1 - mechanism.keep, mechanism.p, float(debiased[1]), float(debiased[0]))


@dataclass(frozen=True)
class SubsetSelectionCheck:
    """RR beside subset selection at ``k`` and ``epsilon``.

    Attributes:
        k, epsilon: the setting.
        rr, subset_selection: N times the mean squared error for fixed users, whatever their shares; of Inv from RR, and
            of the unbiased estimate from subset selection.
        subset_size: number of categories a report of subset selection names, the best one.
    """

    k: int
    epsilon: float
    rr: float
    subset_selection: float
    subset_size: int

    @property
    def border(self) -> float:
        """3 e^eps + 2, up to which the paper calls RR optimal."""
        return 3 * math.exp(self.epsilon) + 2

    @property
    def ratio(self) -> float:
        """How many times the users of subset selection RR needs for the same error."""
        return self.rr / self.subset_selection


_EPSILON_OF_SUBSETS_MAX = 300.0  # (e^eps)^2 has to stay a double


def subset_selection(k: int = 10, epsilon: float = 1.0) -> SubsetSelectionCheck:
    """Section 1 and the poster: RR is not optimal among all LDP mechanisms while K < 3 e^eps + 2; up to there its
    variance at a share of zero is below that of unary encoding and local hashing (Wang et al. 2017).

    >>> check = subset_selection(10, 1.0)
    >>> round(check.ratio, 2), check.subset_size
    (1.41, 3)
    """
    of_inv, k = squared_error_of_inv(k, epsilon), int(k)
    if not EPSILON_OF_ERRORS_MIN <= epsilon <= _EPSILON_OF_SUBSETS_MAX:
        allowed = f"a number with {EPSILON_OF_ERRORS_MIN:g} <= epsilon <= {_EPSILON_OF_SUBSETS_MAX:g}"
        raise ValueError(f"epsilon must be {allowed}, got {_validate.short(epsilon)}")
    errors = {size: _error_of_subsets(k, epsilon, size) for size in range(1, k)}
    best = min(errors, key=errors.__getitem__)
    return SubsetSelectionCheck(k, epsilon, of_inv, errors[best], best)


def _error_of_subsets(k: int, epsilon: float, size: int) -> float:
    """N times the mean squared error of subset selection with subsets of one size (Ye and Barg 2018): a report is a set
    of categories, e^eps times as likely if it holds the truth. A category is in it with chance p if it is the truth and q
    if it is not."""
    odds = math.expm1(epsilon)
    p = size * (odds + 1) / (size * odds + k)
    q = (p * (size - 1) + (1 - p) * size) / (k - 1)
    keep = size * (k - size) * odds / (k - 1) / (size * odds + k)  # p - q
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / keep**2


@dataclass(frozen=True)
class WorstInSingleDraws:
    """How often MLE* has the largest squared error of the three valid estimates in a single collection.

    Attributes:
        epsilon: privacy budget.
        n_draws: simulated collections.
        n_with_negatives: those in which Inv has a negative entry.
        n_worst: those of them in which MLE* is the worst.
    """

    epsilon: float
    n_draws: int
    n_with_negatives: int
    n_worst: int

    @property
    def one_in(self) -> int | None:
        """One collection with negatives in this many; None when it never happened."""
        return round(self.n_with_negatives / self.n_worst) if self.n_worst else None


def worst_in_single_draws() -> tuple[WorstInSingleDraws, ...]:
    """Section 6.2: how often MLE* is the worst of the three in a single draw, at four ε.

    K = 5; each draw has a true distribution uniform on the simplex and N log-uniform from 10 to 100,000; the error is
    measured against the users' own histogram. It needs unequal supports: on equal supports MLE* lies between the other
    two, and a squared distance is convex.
    """
    return tuple(_worst_at(epsilon, seed) for seed, epsilon in enumerate((0.1, 1.0, 2.0, 4.0)))


def _worst_at(epsilon: float, seed: int) -> WorstInSingleDraws:
    rng, k, n_draws = streams.generator(seed, Stream.MISPRINTS), 5, 12_000
    mechanism = RandomizedResponse(k, epsilon)
    users = (10 ** rng.uniform(1, 5, n_draws)).astype(np.int64)
    true_counts = rng.multinomial(users, rng.dirichlet(np.ones(k), n_draws))
    reports = mechanism.randomize_histogram(true_counts, rng)
    theta = true_counts / users[:, None]
    errors = _squared_errors(reports, theta, mechanism)
    negative = inv(reports, mechanism).min(axis=-1) < 0
    worst = negative & (errors["mle_star"] > np.maximum(errors["inv_n"], errors["inv_p"]) * (1 + TIE))
    return WorstInSingleDraws(epsilon, n_draws, int(negative.sum()), int(worst.sum()))


@dataclass(frozen=True)
class WorstAverage:
    """Exact mean squared errors for fixed users.

    Attributes:
        true_counts: the users.
        epsilon: privacy budget.
        histograms: number of possible noisy histograms, over which the mean is taken.
        errors: by estimator of `registry.VALID`, the mean of the sum over categories.
    """

    true_counts: tuple[int, ...]
    epsilon: float
    histograms: int
    errors: dict[str, float]

    @property
    def n(self) -> int:
        """Number of users."""
        return sum(self.true_counts)


@cache
def worst_average() -> WorstAverage:
    """Section 6.2: MLE* can have the largest mean squared error of the three. Ten users with counts (8, 1, 1, 0),
    eps = 2.13.

    >>> {name: round(error, 6) for name, error in worst_average().errors.items()}
    {'inv_n': 0.069467, 'inv_p': 0.06944, 'mle_star': 0.070247}
    """
    draw = WORST_AVERAGE.draw()
    reports, chance = histogram_law(draw.true_counts, draw.mechanism)
    errors = _squared_errors(reports, draw.theta, draw.mechanism)
    means = {name: float(chance @ error) for name, error in errors.items()}
    return WorstAverage(tuple(draw.true_counts.tolist()), draw.scenario.epsilon, len(chance), means)


def _squared_errors(
    reports: NDArray[np.int64], theta: Array, mechanism: RandomizedResponse
) -> dict[str, Array]:
    """(m,) squared errors of the three valid estimators, for (m, k) reports."""
    return {name: squared_error(ESTIMATORS[name](reports, mechanism), theta) for name in VALID}


def histogram_law(
    true_counts: NDArray[np.int64], mechanism: RandomizedResponse
) -> tuple[NDArray[np.int64], Array]:
    """Every noisy histogram that some users can give, and its chance; for few users and categories.

    The reports of the users of one category are a multinomial; those of all users are the sum of k of them.

    Args:
        true_counts: (k,) the users.
        mechanism: with the same k.

    Returns:
        (histograms, chances): (m, k) reports per category, and (m,) their chances, summing to one.

    >>> histograms, chances = histogram_law(np.array([1, 0]), RandomizedResponse.from_p(2, 0.75))
    >>> histograms.tolist(), chances.round(9).tolist()
    ([[0, 1], [1, 0]], [0.25, 0.75])
    """
    k, channel = mechanism.k, mechanism.matrix()
    law = {(0,) * k: 1.0}
    for truth, users in enumerate(np.asarray(true_counts).tolist()):
        if not users:
            continue
        reports = _compositions(users, k)
        log_ways = special.gammaln(users + 1) - special.gammaln(reports + 1).sum(axis=1)
        chances = np.exp(log_ways + special.xlogy(reports, channel[truth]).sum(axis=1))
        extended: dict[tuple[int, ...], float] = {}
        for counts, chance_before in law.items():
            for total, chance in zip((reports + counts).tolist(), chances.tolist(), strict=True):
                histogram = tuple(total)
                extended[histogram] = extended.get(histogram, 0.0) + chance_before * chance
        law = extended
    return np.array(list(law), dtype=np.int64), np.array(list(law.values()))


def _compositions(n: int, k: int) -> NDArray[np.int64]:
    """(m, k) all ways to write n as an ordered sum of k whole numbers >= 0."""
    if k == 1:
        return np.array([[n]], dtype=np.int64)
    return np.concatenate(
        [np.insert(_compositions(n - first, k - 1), 0, first, axis=1) for first in range(n + 1)]
    )


@dataclass(frozen=True)
class NotBetween:
    """Simulated mean squared errors for the fixed users of one scenario.

    Attributes:
        scenario: whose users.
        n_draws: simulated collections.
        errors: by estimator of `registry.VALID`.
        standard_errors_below: by "inv_n" and "inv_p", how far MLE*'s error is below theirs, in standard errors of the
            paired difference.
    """

    scenario: Scenario
    n_draws: int
    errors: Mapping[str, float]
    standard_errors_below: Mapping[str, float]


@cache
def mle_star_not_between() -> NotBetween:
    """Section 6.2: MLE*'s mean squared error need not lie between those of InvN and InvP. In the scenario that the app
    opens with it is the smallest."""
    scenario, n_draws = Scenario(), 6000
    draw = scenario.draw()
    reports = draw.mechanism.randomize_histogram(np.broadcast_to(draw.true_counts, (n_draws, scenario.k)), 62)
    errors = _squared_errors(reports, draw.theta, draw.mechanism)
    below = {name: errors[name] - errors["mle_star"] for name in ("inv_n", "inv_p")}
    return NotBetween(
        scenario,
        n_draws,
        {name: float(error.mean()) for name, error in errors.items()},
        {name: float(d.mean() / d.std(ddof=1) * math.sqrt(n_draws)) for name, d in below.items()},
    )


@dataclass(frozen=True)
class StoppedIbu:
    """Total variation distance between the truth and IBU after ``n_iterations``, when the reports carry no noise."""

    n_iterations: int
    total_variation: float


def stopped_ibu() -> tuple[StoppedIbu, ...]:
    """The poster's table calls IBU consistent: true of its limit, not of a fixed number of iterations. With infinitely
    many users phi is q + (p - q) theta exactly, and IBU still is not there. K = 12, eps = 1.

    >>> [(check.n_iterations, round(check.total_variation, 3)) for check in stopped_ibu()]
    [(10, 0.287), (100, 0.055), (1000, 0.0)]
    """
    theta, mechanism = zipf(12, 1.0), RandomizedResponse(12, 1.0)
    after = partial(ibu, mechanism.expected(theta), mechanism)
    return tuple(StoppedIbu(steps, total_variation(after(steps), theta)) for steps in (10, 100, 1000))
