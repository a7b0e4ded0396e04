"""Error of each estimator along epsilon or along N: closed form for Inv, simulated for all four."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling, streams
from rr_core._validate import Array
from rr_core.errors import Users, check_users, max_error, squared_error, total_variation
from rr_core.limits import N_MAX, N_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.plan import promise
from rr_core.plan.guess import Guess
from rr_core.plan.promise import Channels
from rr_core.plan.solve import checked_epsilon
from rr_core.plan.targets import Target
from rr_core.registry import ESTIMATORS
from rr_core.streams import Stream

Along = Literal["epsilon", "n"]
Progress = Callable[[int], bool]
METRICS = ("rmse", "max", "tv")

# Seconds of work between two calls of a progress callback.
_EVERY = 0.05
# Collections drawn together: a part of the law of the results, hence fixed by k alone.
_CELLS_PER_BLOCK, _MOST_PER_BLOCK = 50_000, 64


@dataclass(frozen=True, eq=False)
class SimulatedCurve:
    """Errors over repeated collections at each point.

    Attributes:
        along: what the points are: "epsilon" or "n".
        points: (m,) as asked for.
        mean: by metric ("rmse" per category, "max", "tv"), then estimator: (m,) mean over the collections; for
            "rmse" the root of the mean of the squared errors. nan where no collection was made.
        standard_error: of those means, same shape; nan below two collections.
        done: (m,) collections made at each point; fewer than ``asked`` when the run was stopped.
        asked: collections per point.
        fixed_value: the other one of epsilon and N.
    """

    along: Along
    points: Array
    mean: dict[str, dict[str, Array]]
    standard_error: dict[str, dict[str, Array]]
    done: NDArray[np.int64]
    asked: int
    fixed_value: float

    @property
    def finished(self) -> bool:
        return bool((self.done == self.asked).all())


def inv_curve(
    k: int,
    theta: ArrayLike | Guess | None,
    along: Along,
    points: ArrayLike,
    fixed_value: float,
    *,
    users: Users = "fixed",
) -> Array:
    """RMSE per category of Inv, exact: (m,), one per point. Arguments as in `simulate_curve`; None for ``theta`` is
    the worst case."""
    guess = Guess.of(k, theta)
    epsilon, n = _settings(along, points, fixed_value)
    rmse = promise.achieved(Target("rmse", 1.0), guess, users)
    return rmse(Channels.of(guess.k, epsilon), n.astype(np.float64), 0.0)


def simulate_curve(
    k: int,
    theta: ArrayLike,
    along: Along,
    points: ArrayLike,
    fixed_value: float,
    replicates: int,
    *,
    users: Users = "fixed",
    seed: int = 0,
    progress: Progress | None = None,
) -> SimulatedCurve:
    """Collect ``replicates`` times at every point and measure the four estimators on the same reports.

    Args:
        k: number of categories.
        theta: (k,) population, shares or counts.
        along: what varies, "epsilon" or "n".
        points: (m,) its values: epsilons from 0.01 to 20, or numbers of users from 1 to 1e9.
        fixed_value: the other one.
        replicates: collections per point, an integer >= 1.
        users: "fixed": the same users each time, n theta rounded to whole people, and errors are against their own
            shares; "sampled": drawn afresh from theta, and errors are against theta.
        seed: collection i at point j is the same for the same seed, whatever ``replicates`` and however the run
            was cut into pieces.
        progress: called with the number of collections done at all points together, about every 50 ms and at the
            end; returning True stops the run, which then returns what it has. One block of collections is
            never cut: a single one from k = 50,000.

    Raises:
        ValueError: naming the argument.
    """
    k = _validate.integer("k", k, 2)
    weights = _validate.histogram(theta, k)
    replicates = _validate.integer("replicates", replicates, 1)
    epsilon, n = _settings(along, points, fixed_value)
    settings = [
        _Setting.of(RandomizedResponse(k, e), weights / weights.sum(), int(size), users)
        for e, size in zip(epsilon, n, strict=True)
    ]
    sums = np.zeros((2, len(METRICS), len(ESTIMATORS), n.size))
    done = np.zeros(n.size, dtype=np.int64)
    for point, errors in _blocks(settings, replicates, seed, progress, done):
        sums[0, ..., point] += errors.sum(axis=-1)
        sums[1, ..., point] += (errors**2).sum(axis=-1)
    mean, error = _summary(sums, done)
    shape = np.asarray(n if along == "n" else epsilon, dtype=np.float64)
    return SimulatedCurve(along, shape, _by_name(mean), _by_name(error), done, replicates, float(fixed_value))


@dataclass(frozen=True, eq=False)
class _Setting:
    """One point: whose reports are drawn, and what the estimates are held against."""

    mechanism: RandomizedResponse
    n: int
    truth: Array
    people: NDArray[np.int64] | None

    @classmethod
    def of(cls, mechanism: RandomizedResponse, theta: Array, n: int, users: Users) -> _Setting:
        check_users(users)
        if users == "sampled":
            return cls(mechanism, n, theta, None)
        people = sampling.whole_users(theta, n)
        return cls(mechanism, n, people / n, people)

    def reports(self, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        if self.people is not None:
            people = np.broadcast_to(self.people, (rows, self.people.size))
            return sampling.noisy_histogram(people, self.mechanism.keep, rng)
        seen = self.mechanism.expected(self.truth)
        # The reports of sampled users are a sample from the distribution of reports. NumPy's sampler is quicker
        # for many rows, and exact enough while k is small.
        if rows > 1:
            return rng.multinomial(self.n, seen, rows)
        return sampling.multinomial(self.n, seen, rng)[None]

    def errors(self, rows: int, rng: np.random.Generator) -> Array:
        """(metrics, estimators, rows); the mean squared error in the place of the RMSE."""
        reports, k = self.reports(rows, rng), self.mechanism.k
        measured = []
        for estimator in ESTIMATORS.values():
            estimate = estimator(reports, self.mechanism)
            measured.append(
                (
                    squared_error(estimate, self.truth) / k,
                    max_error(estimate, self.truth),
                    total_variation(estimate, self.truth),
                )
            )
        return np.array(measured).transpose(1, 0, 2)


def _blocks(
    settings: list[_Setting],
    replicates: int,
    seed: int,
    progress: Progress | None,
    done: NDArray[np.int64],
) -> Iterator[tuple[int, Array]]:
    """(point, errors) of block after block of collections, every point in turn; counts what is ``done``."""
    block = min(max(_CELLS_PER_BLOCK // settings[0].mechanism.k, 1), _MOST_PER_BLOCK)
    called = time.perf_counter()
    for first in range(0, replicates, block):
        for point, setting in enumerate(settings):
            rng = streams.generator(seed, Stream.PLAN, point, first)
            # A block is drawn whole, so that its collections do not depend on how many are wanted.
            errors = setting.errors(block, rng)[..., : replicates - first]
            done[point] += errors.shape[-1]
            yield point, errors
            last = int(done.sum()) == replicates * len(settings)
            if progress is not None and (last or time.perf_counter() - called >= _EVERY):
                if progress(int(done.sum())):
                    return
                called = time.perf_counter()


def _summary(sums: Array, done: NDArray[np.int64]) -> tuple[Array, Array]:
    """Means and their standard errors from the sums of errors and of their squares."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(done > 0, sums[0] / done, np.nan)
        spread = np.maximum(sums[1] - done * mean**2, 0.0) / (done - 1)
        error = np.where(done > 1, np.sqrt(spread / done), np.nan)
        # The root of a mean has the relative error of the mean, halved.
        root = np.sqrt(mean[0])
        error[0] = np.where(root > 0, error[0] / (2 * root), error[0])
        mean[0] = root
    return mean, error


def _by_name(values: Array) -> dict[str, dict[str, Array]]:
    return {
        metric: dict(zip(ESTIMATORS, rows, strict=True)) for metric, rows in zip(METRICS, values, strict=True)
    }


def _settings(along: Along, points: ArrayLike, fixed_value: float) -> tuple[Array, NDArray[np.int64]]:
    """(epsilons, n), one of each per point."""
    if along not in ("epsilon", "n"):
        raise ValueError(f"along must be 'epsilon' or 'n', got {_validate.short(along)}")
    varying = np.ravel(np.asarray(points))
    fixed = np.full(varying.size, fixed_value)
    epsilons, sizes = (varying, fixed) if along == "epsilon" else (fixed, varying)
    epsilon = np.array([checked_epsilon(one) for one in epsilons])
    return epsilon, np.array([_validate.integer("n", one, N_MIN, N_MAX) for one in sizes], dtype=np.int64)
