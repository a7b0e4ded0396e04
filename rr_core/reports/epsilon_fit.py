"""Does this epsilon fit the data? A likelihood-ratio test, and the range of epsilon that does.

Under k-RR every category is expected to get at least N q reports, whatever the population. The larger
epsilon, the lower that floor, and the more histograms are expected ones: so data can only show that the
stated epsilon is too small (the reports carry less noise than stated). A stated epsilon that is too large
looks like a flatter population and cannot be refuted.

It makes no difference whose shares are wanted, those of these users or of their population. A user reports each of
the categories that nobody has with probability q, whatever the own category: so their reports have one and the same
joint law, Multinomial(N; q, ..., q) over them and all others together, whether the users are fixed or sampled.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rr_core import _validate, streams
from rr_core._validate import Array
from rr_core.estimators import mle_rule, mle_star
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN, EPSILON_MAX
from rr_core.mechanism import RandomizedResponse
from rr_core.profile import Profile, profile, table_size
from rr_core.reports.intervals import (
    Counts,
    Extremes,
    checked_counts,
    counts_profile,
    extremes,
    fit_of_two,
    upper_tail,
)
from rr_core.rounding import round_up
from rr_core.simulate import Collector, Progress, rescaled_reports, simulate
from rr_core.streams import Stream

_ROUNDING = 8 * np.finfo(np.float64).eps
_EQUAL = 1e-9  # relative; scores that differ by no more are equal but for rounding
_NOTHING = -6.0  # the score where MLE* drops no category: below every other value that matters
_SPARSE = 1.0  # N q, below which the likelihood ratio serves as its own score
_STEP = 1.002  # the smallest plausible epsilon is found to this factor

_LONG_ROW = 8192  # from so many categories on a block is one collection: its distinct counts are few beside k
_CATEGORIES_DRAWN = 10**8 + 10**7  # in all collections: some ten seconds
_TESTS = 14  # of a search, about
_DIGITS = 4  # of the epsilon that is found
_ROWS, _CELLS = 64, 100_000  # below, a block is at most so many collections, and so many categories in all


REJECTION_LEVEL = 0.05  # p-value up to which the stated epsilon counts as rejected
LEAST_COLLECTIONS = 100  # simulated collections, below which a test that was stopped decides nothing


@dataclass(frozen=True, eq=False)
class FitTest:
    """The test of a stated epsilon.

    Attributes:
        statistic: likelihood ratio, twice the log-likelihood of the observed frequencies over that of MLE*, in
            nats.
        dropped: how many categories MLE* sets to zero.
        score: the statistic as a normal score, given how many were dropped; large when epsilon is too small. Below N q
            = 1 the statistic itself.
        p_value: share of the simulated scores that are at least as large, the observed one counted in; of two
            categories exact, by `fit_of_two`.
        null: (done,) simulated scores.
        requested, done: simulated collections, as requested and as made; fewer when it was stopped.
        floor: N q, the fewest reports that any category is expected to get.
        lowest: the fewest reports of a category that were collected.
        below: how many categories have fewer reports than ``floor``.
        ceiling: N p, the most reports that any category is expected to get.
        extremes: exact bounds on the chance of the most and of the fewest reports.
        k: number of categories.
    """

    statistic: float
    dropped: int
    score: float
    p_value: float
    null: Array
    requested: int
    done: int
    floor: float
    lowest: int
    below: int
    ceiling: float
    extremes: Extremes
    k: int

    def summary(self) -> dict[str, Any]:
        """What is written of the test in files, by name."""
        told = {"asked" if name == "requested" else name: value for name, value in vars(self).items()}
        del told["null"], told["k"]
        return {**told, "extremes": asdict(self.extremes)}

    @property
    def is_exact(self) -> bool:
        """Whether the p-value is exact, rather than a share of simulated collections."""
        return self.k == 2

    @property
    def is_decisive(self) -> bool:
        """Whether enough collections were simulated to decide about epsilon."""
        return self.done >= LEAST_COLLECTIONS

    def rejects(self, level: float = REJECTION_LEVEL) -> bool:
        """Whether the p-value is at most ``level``, or a category got too many or too few reports."""
        return (
            self.p_value <= _validate.fraction("level", level)
            or self.extremes.too_many
            or self.extremes.too_few
        )


@dataclass(frozen=True)
class PlausibleEpsilon:
    """The values of epsilon that the reports do not contradict: ``low``, and from about there upwards. (The p-value
    need not rise all the way: the statistic jumps where another category is dropped.)

    Attributes:
        low: the smallest one, to 0.2%, rounded up to four digits, and not rejected by a test of its own;
            EPSILON_APP_MIN when even that is not contradicted.
        high: infinite.
        level: of the test; ``low`` is at most the true epsilon with probability 1 - level or so.
        none: even the largest one that is looked at, ``low``, is contradicted.
        finished: False when it was stopped; ``low`` is then only the smallest found so far.
    """

    low: float
    high: float
    level: float
    none: bool
    finished: bool


def collections_for(k: int, most: int = 1000) -> int:
    """How many collections to simulate with k categories: ``most``, but fewer where that takes minutes, and not so few
    that nothing can be decided.

    >>> collections_for(1000), collections_for(1_100_000)
    (1000, 100)
    """
    k, most = _validate.integer("k", k, 2), _validate.integer("most", most, 1)
    return min(most, max(LEAST_COLLECTIONS, _CATEGORIES_DRAWN // k))


def likelihood_ratio(levels: Profile, mechanism: RandomizedResponse) -> tuple[Array, NDArray[np.int64]]:
    """2 sum_i c_i log(c_i / (N (q + (p - q) MLE*_i))) of each row of a profile, and how many MLE* drops.

    The expected reports of the kept categories are proportional to their counts, and those of the n0 dropped
    are N q. So with D the reports of the dropped, and the sum over these (0 log 0 = 0), it is
        2 [(N - D) log((N - D) / (N (1 - n0 q))) + sum c log(c / (N q))].
    It falls as epsilon grows, and is zero as soon as no category is dropped.
    """
    rule = mle_rule(levels, mechanism)
    totals, floor = levels.totals, levels.totals * mechanism.q
    dropped = np.where(levels.values < rule.cut[:, None], levels.multiplicities, 0.0)
    reports = dropped * levels.values
    excess = np.log(np.where(reports > 0, levels.values, 1.0))
    excess -= np.log(np.where(reports > 0, floor[:, None], 1.0))
    lost, size = reports.sum(axis=-1), dropped.sum(axis=-1)
    kept = (totals - lost) * (np.log1p(-lost / totals) - np.log1p(-size * mechanism.q))
    ratio = 2 * (kept + (reports * excess).sum(axis=-1))
    return np.where(ratio > _ROUNDING * totals, ratio, 0.0), size.astype(np.int64)


def normal_score(ratio: Array, dropped: NDArray[np.int64]) -> Array:
    """The likelihood ratio as a normal score, by the law that it has, given the number of dropped categories,
    when these are empty and N is large: chi-square with as many degrees of freedom (Cox and Shi 2023).

    By the cube root (Wilson and Hilferty 1931), which does not underflow however badly epsilon fits.
    """
    freedom = np.maximum(dropped, 1)
    width = 2 / (9 * freedom)
    score = (np.cbrt(ratio / freedom) - (1 - width)) / np.sqrt(width)
    return np.where(dropped == 0, _NOTHING, np.maximum(score, _NOTHING))


def fit_test(
    counts: ArrayLike,
    mechanism: RandomizedResponse,
    replicates: int = 1000,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FitTest:
    """Test whether the reports can come from randomized response with this mechanism's epsilon.

    The likelihood ratio of the unrestricted fit against MLE* is turned into a normal score, which hardly depends on
    the population (`normal_score`), and compared with collections simulated from `null_shares`. (Without the score the
    size of the test, 5% asked for, came out between 0% and 28%; with it: see `rr_core.reports.measured`.) Where every
    category is well above zero the p-value is 1. Of many categories it hardly notices a single one with far too many
    reports or too few: `extremes` does. Below N q = 1 the statistic is its own score: the score falls with the number
    of categories without a report, of which simulated collections have more, and a right epsilon was always rejected
    with K = 20, N = 40 and epsilon = 6.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response to be tested.
        replicates: simulated collections, an integer >= 1.
        seed: of the random streams, an integer >= 0.
        progress: called with the collections done, about every 50 ms; True asks to stop.

    Raises:
        ValueError: naming the argument.

    >>> test = fit_test([900, 50, 50], RandomizedResponse(3, 1.0), 100)
    >>> test.p_value < 0.05, test.rejects(0.05)
    (True, True)
    """
    checked = checked_counts(counts, mechanism.k)
    replicates = _validate.integer("replicates", replicates, 1)
    seed = _validate.integer("seed", seed, 0)
    n = int(checked.sum())
    ratio, dropped, observed = _statistics(checked[None], mechanism)
    collector = Collector(
        mechanism=mechanism,
        n=n,
        theta=null_shares(checked, mechanism),
        true_counts=None,
        stream=lambda number: streams.generator(seed, Stream.FIT, number),
        rows=1 if mechanism.k >= _LONG_ROW else min(_ROWS, _CELLS // mechanism.k),
        sampler=rescaled_reports,
    )
    null, done = np.empty(replicates), 0
    for block in simulate(collector, replicates, progress=progress):
        reports, done = block.reports[: block.wanted], block.first + block.wanted
        null[block.first : done] = _statistics(reports, mechanism)[2]
    null = null[:done].copy()  # so that a run that was stopped does not hold room for the rest
    enough = observed[0] - _EQUAL * max(1.0, abs(observed[0]))
    return FitTest(
        statistic=float(ratio[0]),
        dropped=int(dropped[0]),
        score=float(observed[0]),
        p_value=(
            fit_of_two(int(checked[1]), n, (mechanism.q, mechanism.p))
            if mechanism.k == 2
            else (1 + int((null >= enough).sum())) / (1 + done)
        ),
        null=null,
        requested=replicates,
        done=done,
        floor=n * mechanism.q,
        lowest=int(checked.min()),
        below=int((checked < n * mechanism.q).sum()),
        ceiling=n * mechanism.p,
        extremes=extremes(checked, mechanism),
        k=mechanism.k,
    )


def null_shares(counts: Counts, mechanism: RandomizedResponse) -> Array:
    """(k,) MLE* with every category set to zero that is not clearly above it, rescaled.

    Clearly: were nobody there, so many reports would have a chance of at most 5%/k and at most that of sqrt(log N)
    standard deviations. At MLE* itself about half of the empty categories have a positive share, and the simulated
    statistics come out too small; with sqrt(log N) alone the test rejected a right epsilon in 8% of collections at k =
    1,000 and N q = 5.

    >>> null_shares(np.array([900, 50, 50]), RandomizedResponse(3, 2.0)).round(3).tolist()
    [1.0, 0.0, 0.0]
    """
    n = int(counts.sum())
    limit = min(0.05 / mechanism.k, float(special.ndtr(-math.sqrt(math.log(n)))))
    levels, level_of = counts_profile(counts)
    clear = (upper_tail(levels.values[0], n, mechanism.q) <= limit)[level_of]
    if not clear.any():
        clear = counts == counts.max()
    shares: Array = np.where(clear, mle_star(counts, mechanism), 0.0)
    shares /= shares.sum()
    return shares


def plausible_epsilon(
    counts: ArrayLike,
    k: int,
    level: float = 0.05,
    *,
    above: float | None = None,
    seed: int = 0,
    replicates: int | None = None,
    progress: Progress | None = None,
) -> PlausibleEpsilon:
    """The smallest epsilon that `FitTest.rejects` does not reject, by bisection on log epsilon.

    The same random streams serve every epsilon, so that the p-value moves little else than with epsilon.
    About 14 tests, and one with as many collections as `collections_for` has, which is what a person who states the
    epsilon that was found is told: one or two seconds at k = 1,000.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        k: number of categories.
        level: of the test, between 0 and 1.
        above: an epsilon known to be rejected, from 1e-6 to 700; only larger ones are looked at then.
        seed: of the random streams, an integer >= 0.
        replicates: simulated collections for each epsilon, an integer >= 1; None: 300, or fewer for many categories,
            and for the last test `collections_for` them.
        progress: called with the collections done so far for all epsilons; True asks to stop.

    Raises:
        ValueError: naming the argument.

    >>> result = plausible_epsilon([900, 50, 50], 3, replicates=50)
    >>> round(result.low, 1), result.high
    (2.7, inf)
    """
    level = _validate.fraction("level", level)
    high = EPSILON_APP_MAX
    if above is not None:
        above = _validate.epsilon(above, "above")
        high = EPSILON_APP_MAX if above < EPSILON_APP_MAX else EPSILON_MAX
    counts = checked_counts(counts, RandomizedResponse(k, high).k)
    searching, last = (
        (collections_for(_TESTS * k, 300), collections_for(k)) if replicates is None else (replicates,) * 2
    )
    spent, stopped = 0, False

    def tell(done: int) -> bool:
        nonlocal stopped
        stopped = progress is not None and progress(spent + done)
        return stopped

    def fits(epsilon: float, replicates: int = searching) -> bool:
        nonlocal spent
        test = fit_test(counts, RandomizedResponse(k, epsilon), replicates, seed=seed, progress=tell)
        spent += test.done
        return not test.rejects(level)

    low, largest = EPSILON_APP_MIN if above is None else above, high
    if low >= high or not fits(high):
        return PlausibleEpsilon(high, math.inf, level, True, not stopped)
    if above is None and not stopped and fits(low):
        return PlausibleEpsilon(low, math.inf, level, False, not stopped)
    while high / low > _STEP and not stopped:
        middle = math.sqrt(low) * math.sqrt(high)
        fine = fits(middle)
        if not stopped:
            low, high = (low, middle) if fine else (middle, high)
    high, step = min(round_up(high, _DIGITS), largest), _STEP
    # What is told must stand a test of its own, which larger ones are given until one does.
    while not (stopped or fits(high, last) or stopped):
        if high == largest:
            return PlausibleEpsilon(high, math.inf, level, True, True)
        high, step = min(round_up(high * step, _DIGITS), largest), step * step
    return PlausibleEpsilon(high, math.inf, level, False, not stopped)


def _statistics(rows: Counts, mechanism: RandomizedResponse) -> tuple[Array, NDArray[np.int64], Array]:
    ratio, dropped = likelihood_ratio(profile(rows, table_size(rows)), mechanism)
    sparse = rows[0].sum() * mechanism.q < _SPARSE
    return ratio, dropped, ratio if sparse else normal_score(ratio, dropped)


@dataclass(frozen=True, eq=False)
class Simulations:
    """The test of epsilon, and the search for plausible epsilons (None when it was not needed or not begun)."""

    fit: FitTest
    plausible: PlausibleEpsilon | None = None

    @property
    def finished(self) -> bool:
        """Whether none of the simulations was stopped early."""
        return self.fit.done == self.fit.requested and (self.plausible is None or self.plausible.finished)


def simulations(
    counts: ArrayLike, mechanism: RandomizedResponse, replicates: int, progress: Progress | None = None
) -> Simulations:
    """`fit_test` and, where it rejects the stated epsilon, `plausible_epsilon` above it.

    Args:
        counts: (k,) reports per category.
        mechanism: the stated one.
        replicates: number of simulated collections of the test.
        progress: called with the number of collections done; True asks to stop.
    """
    tested, plausible = fit_test(counts, mechanism, replicates, progress=progress), None
    if tested.done == replicates and tested.rejects():
        again = None if progress is None else lambda _: progress(replicates)
        plausible = plausible_epsilon(counts, mechanism.k, above=mechanism.epsilon, progress=again)
    return Simulations(tested, plausible)
