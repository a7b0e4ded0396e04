"""The estimators compared: their errors, which of them are the smallest and the largest, and the table for one draw; and
what the noise did to it, in a line.

Single draws (`compare`), repeated ones (`rr_core.repeats`) and sweeps (`rr_core.experiments`) rank errors, share ties and
test differences here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate
from rr_core._validate import Array
from rr_core.law import most_negative, negative_chances, report_band
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import max_error, report_loss, squared_error, total_variation
from rr_core.optimality import level_gap, loss_above
from rr_core.profile import profile, table_size
from rr_core.registry import RULES, VALID
from rr_core.scenario import Draw
from rr_core.simulate import Collector
from rr_core.streams import Stream

Target = Literal["users", "population"]
METRICS = ("mse", "tv", "max", "nll")
# By which the estimators of one draw are ranked: "above" is the NLL above MLE*'s, whose differences are not lost in the
# entropy of the reports.
RANKED = ("mse", "tv", "max", "above")

# Means of many errors this close are equal: with no negatives the three repairs coincide up to rounding.
TIE = 1e-9
# How far rounding may move a share of up to one.
ULPS = 32 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The estimators on one draw.

    Attributes:
        target: what the errors are measured against: "users", their own histogram, or "population", the
            distribution they were drawn from.
        truth: (k,) that target.
        estimates: (k,) by estimator.
        errors: by metric, then estimator: "mse" (squared error, the sum over categories), "tv", "max", "nll" (per
            report), and "above" (nll less that of MLE*).
        zeros: number of categories set to zero by each estimator (for Inv: exactly zero).
        certificate: optimality gap of MLE*; zero up to rounding proves it is the maximum likelihood.
    """

    target: Target
    truth: Array
    estimates: dict[str, Array]
    errors: dict[str, dict[str, float]]
    zeros: dict[str, int]
    certificate: float

    def zeroed(self, name: str, most: int) -> NDArray[np.intp]:
        """Indices of the first ``most`` categories that an estimator sets to zero, increasing."""
        return np.flatnonzero(self.estimates[name] == 0)[:most]

    def best(self, metric: str) -> tuple[str, ...]:
        """The valid estimators with the smallest error, by a metric of RANKED; all three when they tie."""
        return tuple(name for name, best in zip(VALID, self._ranks(metric).best, strict=True) if best)

    def worst(self, metric: str) -> tuple[str, ...]:
        """The valid estimators with the largest error; none when all three tie."""
        return tuple(name for name, worst in zip(VALID, self._ranks(metric).worst, strict=True) if worst)

    def _ranks(self, metric: str) -> Ranks:
        valid = {one: np.array([self.errors[one][name] for name in VALID]) for one in RANKED}
        return ranks(valid[metric], rounding(metric, valid))


def truth_of(draw: Draw, target: Target) -> Array:
    """(k,) what the estimates are measured against."""
    _validate.one_of("target", target, get_args(Target))
    return draw.theta if target == "users" else draw.population.probabilities


def measure(
    reports: NDArray[np.int64], estimate: Array, best: Array, truth: Array, mechanism: RandomizedResponse
) -> dict[str, Array]:
    """Every metric of RANKED for one estimator, one number per row of ``reports`` (..., k); ``best`` is MLE*.

    >>> from rr_core import inv_p, mle_star
    >>> reports, mechanism = np.array([[50, 30, 5, 15]]), RandomizedResponse(4, 1.0)
    >>> best = mle_star(reports, mechanism)
    >>> errors = measure(reports, inv_p(reports, mechanism), best, np.full(4, 0.25), mechanism)
    >>> {metric: error.round(4).tolist() for metric, error in errors.items()}
    {'mse': [0.4715], 'tv': [0.5828], 'max': [0.5828], 'above': [0.0014]}
    """
    return {
        "mse": squared_error(estimate, truth),
        "tv": total_variation(estimate, truth),
        "max": max_error(estimate, truth),
        "above": loss_above(reports, estimate, best, mechanism),
    }


def estimates_table(draw: Draw, estimates: Mapping[str, Array]) -> dict[str, Any]:
    """Columns with one row per category: its name or number, true count, reports, and estimates."""
    return {"category": draw.categories, "true": draw.true_counts, "observed": draw.counts, **estimates}


def compare(draw: Draw, target: Target = "users") -> Comparison:
    """Run the four estimators on one draw and measure them.

    What depends on the counts alone (likelihood, certificate, zeros) is worked out on the profile, so that
    it costs nothing at k in the millions.

    >>> from rr_core import Scenario
    >>> table = compare(Scenario(k=12, s=1.5, epsilon=1.0, n=2000, seed=5).draw())
    >>> {name: round(table.errors["mse"][name], 4) for name in VALID}
    {'inv_n': 0.0224, 'inv_p': 0.0187, 'mle_star': 0.0191}
    >>> table.best("mse")
    ('inv_p',)
    """
    truth, mechanism = truth_of(draw, target), draw.mechanism
    rows = draw.counts[None]
    size = table_size(rows)
    levels = profile(rows, size)
    rules = {name: make(levels, mechanism) for name, make in RULES.items()}
    estimates = {name: rule.apply(rows, size)[0] for name, rule in rules.items()}
    on_levels = {name: rule.at(levels.values)[0] for name, rule in rules.items()}
    differences = {name: estimate - truth for name, estimate in estimates.items()}
    errors = {
        "mse": {name: float(difference @ difference) for name, difference in differences.items()},
        "tv": {name: float(np.abs(difference).sum() / 2) for name, difference in differences.items()},
        "max": {name: float(max(d.max(), -d.min())) for name, d in differences.items()},
        "nll": {
            name: float(levels.multiplicities[0] @ report_loss(levels.values[0], theta, mechanism))
            / draw.scenario.n
            for name, theta in on_levels.items()
        },
    }
    best = on_levels["mle_star"]
    errors["above"] = {
        name: float(loss_above(levels.values[0], theta, best, mechanism, levels.multiplicities[0]))
        for name, theta in on_levels.items()
    }
    zeros = {name: int((levels.multiplicities[0] * (theta == 0)).sum()) for name, theta in on_levels.items()}
    certificate = float(level_gap(levels, best[None], mechanism)[0])
    return Comparison(target, truth, estimates, errors, zeros, certificate)


def rounding(metric: str, errors: Mapping[str, Array]) -> Array:
    """(..., estimators) bound on the rounding error of each error.

    Args:
        metric: of RANKED.
        errors: by metric, (..., estimators).

    Shares are accurate to ULPS, hence so are the sum and the maximum of their errors; a square x^2 is accurate to
    2 x ULPS.
    """
    moved = np.ones_like(errors[metric])
    if metric == "mse":
        moved = 2 * errors["max"] + ULPS
    elif metric == "above":
        moved = np.sqrt(2 * np.maximum(errors["above"], 0.0)) + ULPS
    slack: Array = ULPS * moved
    return slack


def mean_rounding(metric: str, errors: ArrayLike) -> Array:
    """Bound on the rounding error of each of ``errors``, as `rounding`, when only the errors of this metric
    are known: TIE times the error, plus the effect of ULPS in a share."""
    size = np.abs(np.asarray(errors, np.float64))
    share = 2 * np.sqrt(size) + ULPS if metric == "mse" else np.ones_like(size)
    slack: Array = TIE * size + ULPS * share
    return slack


@dataclass(frozen=True, eq=False)
class Ranks:
    """Which of several errors are the smallest and the largest, in each of many comparisons.

    Attributes:
        best, worst: (..., estimators) whether an error is the smallest or the largest, alone or shared; where all of
            them tie nobody is the worst.
        all_tied: (...) whether all of them tie.
    """

    best: NDArray[np.bool_]
    worst: NDArray[np.bool_]
    all_tied: NDArray[np.bool_]

    def wins(self) -> Array:
        """(..., estimators) 1 for the best of each comparison, divided equally among ties; 0 where all tie."""
        return self._shared(self.best)

    def losses(self) -> Array:
        """(..., estimators) as `wins`, for the worst."""
        return self._shared(self.worst)

    def _shared(self, among: NDArray[np.bool_]) -> Array:
        shares: Array = among / np.maximum(among.sum(axis=-1, keepdims=True), 1)
        shares[self.all_tied] = 0.0
        return shares


def ranks(errors: Array, slack: Array | float) -> Ranks:
    """Rank the errors of some estimators (..., estimators). Those that differ from the smallest or the largest by no more
    than their ``slack``, one for all or of the same shape, tie with it.

    >>> ranks(np.array([[0.2, 0.1, 0.1], [0.3, 0.3, 0.3]]), np.full((2, 3), 1e-12)).wins().tolist()
    [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    """
    least = errors - slack
    best = least <= errors.min(axis=-1, keepdims=True)
    all_tied = best.all(axis=-1)
    largest = errors.argmax(axis=-1)[..., None]
    worst = (errors >= np.take_along_axis(least, largest, axis=-1)) & ~all_tied[..., None]
    return Ranks(best, worst, all_tied)


def exceeds_chance(mean: Any, standard_error: Any, n: int, level: float) -> Any:
    """Whether the mean of ``n`` differences is above zero by a t test at ``level``, one-sided; (...) as the mean.

    >>> bool(exceeds_chance(0.3, 0.1, 50, 0.0005)), bool(exceeds_chance(0.3, 0.1, 50, 0.005))
    (False, True)
    """
    return mean > -special.stdtrit(n - 1, level) * standard_error


# Empty categories looked at, and time spent, when the share of negatives is observed over draws.
_CELLS = 300_000
_DRAWS = 1000


@dataclass(frozen=True)
class NoiseSummary:
    """What the noise did to one histogram.

    Attributes:
        truthful: p, the chance that a report is the truth.
        moved: total variation between reports and true counts: half the sum of |reports - true counts|, over N.
        largest_change: reports minus true count in the category where its absolute value is largest.
        inside_band: share of categories whose reports lie in their 95% band.
    """

    truthful: float
    moved: float
    largest_change: int
    inside_band: float


def noise_summary(draw: Draw) -> NoiseSummary:
    """Compare a draw's reports with its true counts."""
    change = draw.counts - draw.true_counts
    # The band depends on the true count alone: one quantile per distinct true count.
    distinct, where = np.unique(draw.true_counts, return_inverse=True)
    band = report_band(distinct, draw.scenario.n, draw.mechanism)
    inside = (draw.counts >= band.low[where]) & (draw.counts <= band.high[where])
    return NoiseSummary(
        draw.mechanism.p,
        float(np.abs(change).sum() / 2 / draw.scenario.n),  # whole numbers are subtracted before the division
        int(change[np.argmax(np.abs(change))]),
        float(inside.mean()),
    )


@dataclass(frozen=True)
class EmptyShare:
    """How often Inv was negative for empty categories in repeated draws: in ``negative`` of ``looks``
    observations, one per empty category and draw.

    ``emptied`` is True when no category was empty, so that the rarest one was emptied for the simulation.
    """

    negative: int
    looks: int
    emptied: bool

    @property
    def share(self) -> float:
        return self.negative / self.looks

    def standard_error(self, chance: float) -> float:
        """Upper bound on the standard error of the share, sqrt(chance (1 - chance) / looks), for the exact
        ``chance``. The counts of one collection sum to N, so its observations are negatively associated and
        their mean varies less than that of independent ones. (With the observed share in place of ``chance``
        the error of one observation would be 0.)"""
        chance = _validate.within("chance", chance, 0, 1)
        return math.sqrt(chance * (1 - chance) / self.looks)


def empty_negative_share(draw: Draw) -> EmptyShare:
    """Share of empty categories that are negative in repeated draws of the same users (up to 1,000 draws,
    fewer at large k). Where no category is empty, the users of the rarest one are moved to the most frequent
    one."""
    draws = max(1, min(_DRAWS, _CELLS // draw.scenario.k))
    truth = draw.true_counts
    emptied = not (truth == 0).any()
    if emptied:
        truth = truth.copy()
        rarest = int(truth.argmin())
        moved, truth[rarest] = truth[rarest], 0
        truth[truth.argmax()] += moved
    collector = Collector.fixed(
        truth, draw.mechanism, lambda _: draw.scenario.stream(Stream.EMPTY), rows=draws
    )
    below = collector.draw(0, draws).reports[:, truth == 0] <= most_negative(draw.scenario.n, draw.mechanism)
    return EmptyShare(int(below.sum()), int(below.size), emptied)


@dataclass(frozen=True)
class ExpectedNegatives:
    """How many categories Inv makes negative on average over collections, by the law of the reports.

    Attributes:
        n: number of users.
        of_held, of_empty: number of categories with users, and without.
        held, empty: expected number of negative entries among each.
    """

    n: int
    of_held: int
    of_empty: int
    held: float
    empty: float


def expected_negatives(draw: Draw, times: int = 1) -> ExpectedNegatives:
    """Expected number of negatives for the users of a draw, or for ``times`` as many with the same shares."""
    times = _validate.integer("times", times, 1)
    n, (users, categories) = draw.scenario.n * times, np.unique(draw.true_counts, return_counts=True)
    expected, has = categories * negative_chances(users * times, n, draw.mechanism), users > 0
    return ExpectedNegatives(
        n,
        int(categories[has].sum()),
        int(categories[~has].sum()),
        float(expected[has].sum()),
        float(expected[~has].sum()),
    )
