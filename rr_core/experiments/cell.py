"""One cell of a sweep: its collections are simulated, and the errors of the estimates are measured and summarised; also
the expected time of this."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rr_core import sampling, streams
from rr_core._validate import Array
from rr_core.comparison import mean_rounding, ranks
from rr_core.experiments.grid import Cell, Settings
from rr_core.metrics import report_loss
from rr_core.populations import Population
from rr_core.profile import Profile, shared_profile, table_size
from rr_core.registry import RULES, VALID
from rr_core.sampling import Counts
from rr_core.simulate import Block, Collector, Progress, kept_then_poisson, simulate
from rr_core.streams import Stream

# Number of collections drawn in one block. The numbers of a cell depend on it, so it follows from k alone. It divides the
# usual numbers of seeds, because a block is always drawn whole.
_ROWS = (100, 50, 20, 10, 5, 2)
_CATEGORIES = 100_000

# Metrics computed from the estimate of every category; "nll" needs only that of every level (distinct count).
PER_CATEGORY_METRICS = ("mse", "tv", "max")


@dataclass(frozen=True, eq=False)
class SimulatedErrors:
    """Errors of every simulated collection of a cell, in the order of the settings' metrics and estimators.

    Attributes:
        errors: (metrics, estimators, seeds) errors.
        zeros, negatives: (estimators, seeds) number of categories estimated as zero, and below zero.
        deviation: (estimators, k) sum over the collections of estimate minus truth; None without ``bias``.
        total_squared: (estimators,) sum of the squared deviations over collections and categories; None without
            ``bias``.
        concentration: sum of the squared shares of the population: 1/k when uniform, 1 for a point mass.
    """

    errors: Array
    zeros: Array
    negatives: Array
    deviation: Array | None
    total_squared: Array | None
    concentration: float


def rows_per_block(k: int) -> int:
    """Number of collections of k categories that are drawn together.

    >>> rows_per_block(10), rows_per_block(10_000), rows_per_block(1_000_000)
    (100, 10, 1)
    """
    return next((rows for rows in _ROWS if rows * k <= _CATEGORIES), 1)


def simulate_cell(
    cell: Cell,
    settings: Settings,
    given: Mapping[str, Population] | None = None,
    progress: Progress | None = None,
) -> SimulatedErrors | None:
    """Simulate ``settings.seeds`` collections, estimate from each and measure the errors.

    Every estimator sees the same reports.

    Args:
        cell: which cell.
        settings: how it is measured.
        given: uploaded populations, by key.
        progress: as in `rr_core.simulate.simulate`; called with the number of collections done.

    Returns:
        None when it was stopped before its end.

    Raises:
        ValueError: naming the argument.
    """
    collector = cell_collector(cell, settings, given or {})
    measure, done = _Accumulator(settings, collector), 0
    for block in simulate(collector, settings.seeds, progress=progress):
        measure.add(block)
        done += block.wanted
    return measure.result() if done == settings.seeds else None


def cell_collector(cell: Cell, settings: Settings, given: Mapping[str, Population]) -> Collector:
    """The collector of a cell; ``given`` holds the uploaded populations by key."""
    population, seed = cell.population(given), cell_seed(cell, settings)
    return Collector(
        mechanism=cell.mechanism,
        n=cell.n,
        theta=population.probabilities,
        true_counts=None if settings.users == "sampled" else _fixed_users(cell, settings, population),
        stream=lambda number: streams.generator(seed, Stream.NOISE, number),
        rows=rows_per_block(cell.k),
        sampler=kept_then_poisson,
    )


def cell_seed(cell: Cell, settings: Settings) -> streams.Key:
    """The four numbers that take the place of a seed in the random streams of a cell."""
    return _key_of_text(f"{cell.key} {settings.users} {settings.people} seed={settings.seed}")


def _fixed_users(cell: Cell, settings: Settings, population: Population) -> Counts:
    if population.counts is not None and cell.n == population.total:
        return population.counts
    if settings.people == "rounded":
        return sampling.whole_users(population.probabilities, cell.n)
    # The key has no epsilon: the users are the same at every epsilon.
    rng = streams.generator(_key_of_text(f"{cell.source} n={cell.n} seed={settings.seed}"), Stream.USERS)
    return sampling.multinomial(cell.n, population.probabilities, rng)


def _key_of_text(text: str) -> streams.Key:
    digest = hashlib.sha256(text.encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))


class _Accumulator:
    """The growing `SimulatedErrors` of one cell."""

    def __init__(self, settings: Settings, collector: Collector) -> None:
        self._settings, self._mechanism, self._truth = settings, collector.mechanism, collector.truth
        self._n = collector.n
        seeds, estimators = settings.seeds, len(settings.estimators)
        self._errors = np.empty((len(settings.metrics), estimators, seeds))
        self._zeros, self._negatives = np.empty((estimators, seeds)), np.empty((estimators, seeds))
        self._deviation = np.zeros((estimators, self._truth.size)) if settings.bias else None
        self._squared = np.zeros(estimators) if settings.bias else None
        self._concentration = float((collector.theta**2).sum())
        self._by_category = settings.bias or bool(set(settings.metrics) & set(PER_CATEGORY_METRICS))

    def add(self, block: Block) -> None:
        """Measure a block of collections; those beyond the number of seeds are ignored."""
        reports, wanted = block.reports, block.wanted
        levels, size = shared_profile(reports), table_size(reports)
        at = slice(block.first, block.first + wanted)
        for index, name in enumerate(self._settings.estimators):
            rule = RULES[name](levels, self._mechanism)
            on_levels = rule.at(levels.values)
            self._zeros[index, at] = _count_categories(levels, on_levels == 0)[:wanted]
            self._negatives[index, at] = _count_categories(levels, on_levels < 0)[:wanted]
            measured = self._nll(levels, on_levels)
            if self._by_category:
                measured |= self._over_categories(index, rule.apply(reports, size), wanted)
            for metric, name_of in enumerate(self._settings.metrics):
                self._errors[metric, index, at] = measured[name_of][:wanted]

    def result(self) -> SimulatedErrors:
        return SimulatedErrors(
            self._errors, self._zeros, self._negatives, self._deviation, self._squared, self._concentration
        )

    def _nll(self, levels: Profile, on_levels: Array) -> dict[str, Array]:
        if "nll" not in self._settings.metrics:
            return {}
        loss = report_loss(levels.values, on_levels, self._mechanism)
        return {"nll": (levels.multiplicities * loss).sum(axis=-1) / self._n}

    def _over_categories(self, index: int, off: Array, wanted: int) -> dict[str, Array]:
        """Errors computed from every category. ``off`` holds the estimates and is overwritten."""
        metrics, measured = self._settings.metrics, {}
        off -= self._truth
        if self._deviation is not None:
            self._deviation[index] += off[:wanted].sum(axis=0)
        if "mse" in metrics or self._squared is not None:
            measured["mse"] = np.einsum("ij,ij->i", off, off)
        if self._squared is not None:
            self._squared[index] += measured["mse"][:wanted].sum()
        if "tv" in metrics or "max" in metrics:
            np.abs(off, out=off)
            measured["tv"], measured["max"] = off.sum(axis=-1) / 2, off.max(axis=-1)
        return measured


def _count_categories(levels: Profile, where: NDArray[np.bool_]) -> Array:
    """(rows,) number of categories on the levels where a condition holds."""
    number: Array = (levels.multiplicities * where).sum(axis=-1)
    return number


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class CellResult:
    """One cell over all seeds; arrays in the order of the settings' metrics and estimators, read-only.

    Attributes:
        seeds: collections made.
        mean: (metrics, estimators) mean error; "mse" is the sum over categories.
        standard_error: (metrics, estimators) of that mean; nan from one collection.
        quantiles: (5, metrics, estimators) at QUANTILES, interpolated linearly.
        difference, difference_error: (metrics, estimators, estimators) mean of the first one's error minus the
            second one's on the same reports, and its standard error.
        best, worst: (metrics, estimators) number of collections in which a valid estimator has the smallest or the
            largest error. Estimators with equal errors (up to rounding) share the collection; one in which all valid
            estimators tie is not counted. nan for Inv.
        beaten: (metrics, estimators) number of collections in which another valid estimator has a smaller error, by
            more than rounding.
        tied: (metrics,) number of collections in which all valid estimators tie.
        bias2, variance: (estimators,) summed over categories, each unbiased (so that the squared bias may come out
            slightly negative); they add up to the mean "mse". nan from one collection, or without ``bias``.
        zeros, negatives: (estimators,) mean number of categories estimated as zero, and below zero.
        concentration: sum of the squared shares of the population.
    """

    cell: Cell
    seeds: int
    mean: Array
    standard_error: Array
    quantiles: Array
    difference: Array
    difference_error: Array
    best: Array
    worst: Array
    beaten: Array
    tied: Array
    bias2: Array
    variance: Array
    zeros: Array
    negatives: Array
    concentration: float

    def __post_init__(self) -> None:
        for name in ARRAYS:
            getattr(self, name).flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # arrays arrive writeable from another process

    def same(self, other: CellResult) -> bool:
        """Whether every number is the same, bit for bit (nan equals nan)."""
        scalars = all(getattr(self, n) == getattr(other, n) for n in ("cell", "seeds", "concentration"))
        return scalars and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True) for name in ARRAYS
        )


ARRAYS = tuple(field.name for field in fields(CellResult) if field.type == "Array")


def compute_cell(cell: Cell, settings: Settings, given: Mapping[str, Population] | None = None) -> CellResult:
    """Simulate one cell and summarise it; arguments as in `simulate_cell`.

    >>> settings = Settings(50, estimators=VALID)
    >>> result = compute_cell(Cell("zipf", 20, 1.0, 1000, 1.3), settings)
    >>> dict(zip(VALID, result.mean[0].round(3).tolist(), strict=True))
    {'inv_n': 0.061, 'inv_p': 0.064, 'mle_star': 0.062}
    """
    drawn = simulate_cell(cell, settings, given)
    assert drawn is not None  # it had no progress function that could stop it
    return summarise(cell, settings, drawn)


def summarise(cell: Cell, settings: Settings, drawn: SimulatedErrors) -> CellResult:
    """The result of a cell from its simulated errors."""
    errors, seeds = drawn.errors, settings.seeds
    difference = errors[:, :, None, :] - errors[:, None, :, :]
    bias2, variance = _bias_and_variance(drawn, seeds)
    return CellResult(
        cell=cell,
        seeds=seeds,
        mean=errors.mean(axis=-1),
        standard_error=standard_error(errors),
        quantiles=np.quantile(errors, QUANTILES, axis=-1),
        difference=difference.mean(axis=-1),
        difference_error=standard_error(difference),
        **_ranking(errors, settings),
        bias2=bias2,
        variance=variance,
        zeros=drawn.zeros.mean(axis=-1),
        negatives=drawn.negatives.mean(axis=-1),
        concentration=drawn.concentration,
    )


def standard_error(errors: Array) -> Array:
    """Standard errors (...) of means over the last axis of (..., seeds) errors; nan from one."""
    seeds = errors.shape[-1]
    if seeds == 1:
        return np.full(errors.shape[:-1], np.nan)
    error: Array = errors.std(axis=-1, ddof=1) / np.sqrt(seeds)
    return error


def _bias_and_variance(drawn: SimulatedErrors, seeds: int) -> tuple[Array, Array]:
    """Squared bias and variance, summed over categories. The square of a mean over the seeds exceeds the squared bias by
    the variance of this mean, on average; an estimate of it is subtracted."""
    if drawn.deviation is None or drawn.total_squared is None or seeds == 1:
        nothing = np.full(drawn.zeros.shape[0], np.nan)
        return nothing, nothing.copy()
    raw = ((drawn.deviation / seeds) ** 2).sum(axis=-1)
    variance = (drawn.total_squared - seeds * raw) / (seeds - 1)
    return raw - variance / seeds, variance


def _ranking(errors: Array, settings: Settings) -> dict[str, Array]:
    """How often each valid estimator was best, worst and beaten, and how often all tied."""
    valid = [i for i, name in enumerate(settings.estimators) if name in VALID]
    shape = errors.shape[:2]
    counts: dict[str, Array] = {name: np.full(shape, np.nan) for name in ("best", "worst", "beaten")}
    counts["tied"] = np.zeros(shape[:1])
    if not valid:
        return counts
    compared = np.moveaxis(errors[:, valid], 1, -1)  # (metrics, seeds, valid estimators)
    largest = np.abs(compared).max(axis=-1, keepdims=True)
    slack = [mean_rounding(metric, sizes) for metric, sizes in zip(settings.metrics, largest, strict=True)]
    placed = ranks(compared, np.stack(slack))
    counts["best"][:, valid] = placed.wins().sum(axis=1)
    counts["worst"][:, valid] = placed.losses().sum(axis=1)
    counts["beaten"][:, valid] = (~placed.best).sum(axis=1)
    counts["tied"] = placed.all_tied.sum(axis=-1).astype(np.float64)
    return counts


# Seconds on one core of an ordinary machine (measured): per cell, per block, per category and collection, per user drawn
# individually. Correct within a factor of three; the time left of a run is estimated from the work it has done.
_PER_CELL, _PER_BLOCK, _PER_THROWN = 1.5e-3, 0.7e-3, 6e-9
_DRAWN, _LEVELS, _ESTIMATED, _SUMMED = 25e-9, 10e-9, 5e-9, 3e-9
_MOST_THROWN = 5  # per category


def expected_cell_seconds(cell: Cell, settings: Settings) -> float:
    """Expected seconds of one cell on one core."""
    rows = rows_per_block(cell.k)
    blocks = -(-settings.seeds // rows)
    thrown = min(cell.n * (1 - cell.mechanism.keep), _MOST_THROWN * cell.k)
    busy = min(cell.n, cell.k)  # categories with users of their own
    passes = 0.0
    if settings.bias or set(settings.metrics) & set(PER_CATEGORY_METRICS):
        passes = _ESTIMATED + _SUMMED * (settings.bias + bool({"tv", "max"} & set(settings.metrics)))
    per_category = _LEVELS + passes * len(settings.estimators)
    return (
        _PER_CELL
        + blocks * _PER_BLOCK
        + blocks
        * rows
        * (cell.k * per_category + (busy + min(cell.n, cell.k)) * _DRAWN + thrown * _PER_THROWN)
    )
