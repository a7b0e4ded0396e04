"""The plan: the one of epsilon, N and target that the settings leave open; the map of a target over epsilon and N, its
frontier, and the price of privacy in users; the error of each estimator along epsilon or along N."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from rr_core import _validate, sampling, streams
from rr_core._validate import Array
from rr_core.limits import CONFIDENCE_MAX, CONFIDENCE_MIN, EPSILON_APP_MAX, EPSILON_APP_MIN, N_MAX, N_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, check_users, max_error, squared_error, total_variation
from rr_core.plan import solve
from rr_core.plan.settings import PlanSettings
from rr_core.plan.solve import Channels, Unreachable, ValueFunction, checked_epsilon, value_function
from rr_core.plan.targets import Guess, Target
from rr_core.registry import ESTIMATORS
from rr_core.rounding import round_up
from rr_core.sampling import Counts
from rr_core.simulate import Collector, Progress, multinomial_reports, simulate
from rr_core.streams import Stream

_ACCURACY = 1e-6  # relative, of a value on the map
# The largest error, the only kind that takes long, is worked out at every other place each way of a map with more.
_NODES = 17


@dataclass(frozen=True, eq=False)
class Landscape:
    """What is achieved over a grid.

    Attributes:
        epsilons: (e,) increasing.
        users: (m,) increasing.
        values: (m, e), in the unit of `rr_core.plan.solve.achieved`; infinite where nothing can be told.
        interpolated: (m, e) where a value is interpolated between others rather than worked out.
    """

    epsilons: Array
    users: Array
    values: Array
    interpolated: NDArray[np.bool_]


def landscape(
    target: Target,
    k: int,
    theta: ArrayLike | Guess | None,
    *,
    epsilons: ArrayLike,
    n: ArrayLike,
    users: Users = "fixed",
) -> Landscape:
    """`solve.achieved` at every pair of ``epsilons`` and ``n``, to six digits and never on the better side; but of the
    largest error only at every other of them, interpolated in between (to some percent in the corners, see the tests).

    Raises:
        ValueError: naming the argument.

    >>> from rr_core import zipf
    >>> map_ = landscape(Target("rmse", 0.01), 10, zipf(10, 1.0), epsilons=[0.5, 2.0], n=[1000, 10_000])
    >>> map_.values.round(4).tolist()
    [[0.1554, 0.0224], [0.0492, 0.0071]]
    """
    guess, across = solve.checked_guess(target, k, theta), _budgets(epsilons)
    up = np.array([solve.checked_n(one) for one in np.ravel(_validate.numbers("n", n))])
    function = solve.value_function(target, guess, users)
    if target.kind == "max" and min(across.size, up.size) > _NODES:
        return _interpolated(function, guess.k, across, up)
    values = _grid(function, guess.k, across, up)
    return Landscape(across, up, values, np.zeros(values.shape, dtype=bool))


def _budgets(epsilons: ArrayLike) -> Array:
    return np.array([checked_epsilon(one) for one in np.ravel(_validate.numbers("epsilons", epsilons))])


def _grid(function: ValueFunction, k: int, epsilons: Array, n: Array) -> Array:
    pair_epsilon, pair_n = (axis.ravel() for axis in np.meshgrid(epsilons, n))
    values = function(Channels.of(k, pair_epsilon), pair_n, _ACCURACY)
    return values.reshape(n.size, epsilons.size)


def _interpolated(function: ValueFunction, k: int, epsilons: Array, n: Array) -> Landscape:
    """Every other place and the last one worked out; between them cubic splines of the logarithms."""
    nodes = [np.unique(np.append(np.arange(0, axis.size, 2), axis.size - 1)) for axis in (n, epsilons)]
    known = _grid(function, k, epsilons[nodes[1]], n[nodes[0]])
    spline = scipy.interpolate.RectBivariateSpline(
        np.log(n[nodes[0]]), np.log(epsilons[nodes[1]]), np.log(known), s=0
    )
    values, between = (
        np.exp(spline(np.log(n), np.log(epsilons))),
        np.ones((n.size, epsilons.size), dtype=bool),
    )
    values[np.ix_(*nodes)], between[np.ix_(*nodes)] = known, False
    return Landscape(epsilons, n, values, between)


def frontier(
    target: Target,
    k: int,
    theta: ArrayLike | Guess | None,
    epsilons: ArrayLike,
    *,
    users: Users = "fixed",
) -> Array:
    """`solve.required_n` at each of ``epsilons``: whole numbers as floats, infinite where nothing up to 1e12 does.

    >>> from rr_core import zipf
    >>> frontier(Target("rmse", 0.01), 10, zipf(10, 1.0), [0.5, 1.0, 2.0]).round().tolist()
    [241606.0, 40959.0, 5023.0]
    """
    guess, across = solve.checked_guess(target, k, theta), _budgets(epsilons)
    if solve.tie_reason(target, guess):
        return np.full(across.size, np.inf)
    return solve.least_users(solve.shortfall_function(target, guess, users), Channels.of(guess.k, across))


@dataclass(frozen=True, eq=False)
class Price:
    """Users needed as epsilon is lowered bit by bit.

    Attributes:
        bits: how many bits (of ln 2) below the epsilon started from.
        epsilons: epsilon - bits ln 2.
        users: needed there; infinite where nothing up to 1e12 does.
        times: users, as a multiple of those needed at the epsilon started from.
    """

    bits: Array
    epsilons: Array
    users: Array
    times: Array


def price_per_bit(
    target: Target,
    k: int,
    epsilon: float,
    theta: ArrayLike | Guess | None,
    bits: Sequence[float] = (0, 1, 2, 3),
    *,
    users: Users = "fixed",
) -> Price:
    """What more privacy costs: one bit less lets a report shift the odds half as much. Bits that would bring epsilon
    below 0.01 are left out.

    Raises:
        ValueError: naming the argument.
    """
    epsilon = solve.checked_epsilon(epsilon)
    spent = _validate.numbers("bits", bits).astype(np.float64)
    spent = spent[epsilon - spent * math.log(2) >= EPSILON_APP_MIN]
    epsilons = epsilon - spent * math.log(2)
    needed = frontier(target, k, theta, np.append(epsilons, epsilon), users=users)
    with np.errstate(invalid="ignore"):
        return Price(spent, epsilons, needed[:-1], needed[:-1] / needed[-1])


Along = Literal["epsilon", "n"]
METRICS = ("rmse", "max", "tv")

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
        completed: (m,) collections made at each point; fewer than ``replicates`` when the run was stopped.
        replicates: collections per point that were asked for.
        fixed_value: the other one of epsilon and N.
    """

    along: Along
    points: Array
    mean: dict[str, dict[str, Array]]
    standard_error: dict[str, dict[str, Array]]
    completed: NDArray[np.int64]
    replicates: int
    fixed_value: float

    @property
    def finished(self) -> bool:
        return bool((self.completed == self.replicates).all())


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
    the worst case.

    >>> inv_curve(4, [0.7, 0.1, 0.1, 0.1], "epsilon", [0.5, 1.0], 1000).round(3).tolist()
    [0.097, 0.043]
    """
    guess = Guess.of(k, theta)
    epsilon, n = _settings(along, points, fixed_value)
    rmse = value_function(Target("rmse", 1.0), guess, users)
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
        seed: an integer >= 0; collection i at point j is the same for the same seed, whatever ``replicates`` and
            however the run was cut into pieces.
        progress: called with the number of collections done at all points together, about every 50 ms and at the
            end; returning True stops the run, which then returns what it has. One block of collections is
            never cut: a single one from k = 50,000.

    Raises:
        ValueError: naming the argument.

    >>> curve = simulate_curve(4, [0.7, 0.1, 0.1, 0.1], "epsilon", [0.5, 1.0], 1000, 200)
    >>> {name: curve.mean["rmse"][name].round(3).tolist() for name in ("inv", "mle_star")}
    {'inv': [0.098, 0.042], 'mle_star': [0.088, 0.042]}
    """
    k = _validate.integer("k", k, 2)
    weights = _validate.one_row("theta", _validate.histogram(theta, k))
    replicates, seed = _validate.integer("replicates", replicates, 1), _validate.integer("seed", seed, 0)
    epsilon, n = _settings(along, points, fixed_value)
    rows, shares = min(max(_CELLS_PER_BLOCK // k, 1), _MOST_PER_BLOCK), _validate.shares(weights)
    collectors = [
        _collector(RandomizedResponse(k, e), shares, int(size), users, rows, seed, point)
        for point, (e, size) in enumerate(zip(epsilon, n, strict=True))
    ]
    sums = np.zeros((2, len(METRICS), len(ESTIMATORS), n.size))
    done = np.zeros(n.size, dtype=np.int64)
    for block in simulate(collectors, replicates, progress=progress):
        errors = _errors(collectors[block.point], block.reports)[..., : block.wanted]
        sums[0, ..., block.point] += errors.sum(axis=-1)
        sums[1, ..., block.point] += (errors**2).sum(axis=-1)
        done[block.point] += block.wanted
    mean, error = _summary(sums, done)
    shape = np.asarray(n if along == "n" else epsilon, dtype=np.float64)
    return SimulatedCurve(along, shape, _by_name(mean), _by_name(error), done, replicates, float(fixed_value))


def _collector(
    mechanism: RandomizedResponse, theta: Array, n: int, users: Users, rows: int, seed: int, point: int
) -> Collector:
    """The collector of one point."""
    check_users(users)
    return Collector(
        mechanism=mechanism,
        n=n,
        theta=theta,
        true_counts=sampling.whole_users(theta, n) if users == "fixed" else None,
        stream=lambda number: streams.generator(seed, Stream.PLAN, point, number * rows),
        rows=rows,
        sampler=multinomial_reports,
    )


def _errors(collector: Collector, reports: Counts) -> Array:
    """(metrics, estimators, rows); the mean squared error in the place of the RMSE."""
    truth, k, measured = collector.truth, collector.mechanism.k, []
    for estimator in ESTIMATORS.values():
        estimate = estimator(reports, collector.mechanism)
        measured.append(
            (squared_error(estimate, truth) / k, max_error(estimate, truth), total_variation(estimate, truth))
        )
    return np.array(measured).transpose(1, 0, 2)


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
    _validate.one_of("along", along, get_args(Along))
    varying = np.ravel(_validate.numbers("points", points)).tolist()
    if not varying:
        raise ValueError("points must have one value or more, got none")
    fixed = [fixed_value] * len(varying)
    epsilons, sizes = (varying, fixed) if along == "epsilon" else (fixed, varying)
    epsilon = np.array([checked_epsilon(one) for one in epsilons])
    return epsilon, np.array([_validate.integer("n", one, N_MIN, N_MAX) for one in sizes], dtype=np.int64)


_DIGITS = 4  # of an epsilon that is shown and used


@dataclass(frozen=True, eq=False)
class Plan:
    """An epsilon, an N and a target, one of which was computed from the other two.

    Attributes:
        settings: the page's settings.
        k: number of categories.
        epsilon, n: the scenario's values, one of them replaced if it was computed.
        target: the target that the plan meets, requested or computed; None where what is reached is no valid target.
        value: the error or number that the plan reaches.
        problem: sentence why there is no answer; "" when there is one.
        price: users needed with less privacy, for this target; None without a target or an answer.
    """

    settings: PlanSettings
    k: int
    epsilon: float
    n: int
    target: Target | None
    value: float
    problem: str
    price: Price | None

    @property
    def solved(self) -> bool:
        """Whether epsilon or N was computed."""
        return self.settings.find != "value" and not self.problem


def make_plan(settings: PlanSettings, k: int, epsilon: float, n: int, guess: Guess) -> Plan:
    """Compute the one of epsilon, N and target that the settings leave open.

    Args:
        settings: fitted to k, see `PlanSettings.fitted`.
        epsilon, n: the scenario's values; the one to be computed is used only where there is no answer.
        guess: the assumed population, or the worst case.
    """
    target, problem = settings.target, ""
    if settings.find == "n":
        users = solve.required_n(target, k, epsilon, guess, users=settings.users)
        if isinstance(users, Unreachable):
            problem = users.reason
        else:
            n = users
    elif settings.find == "eps":
        least = solve.required_epsilon(target, k, n, guess, users=settings.users)
        if isinstance(least, Unreachable):
            problem = least.reason
        else:
            epsilon = rounded_up(least)
    elif settings.kind == "share":
        problem = solve.share_below_one_person(target, n, settings.users)
    value = solve.achieved(target, k, epsilon, n, guess, users=settings.users)
    met_target: Target | None = target
    if settings.find != "value":
        value = value if problem or target.met_by(value) else target.goal  # met, but for rounding
    else:
        met_target = None if problem else _reachable(target, value)
    price = None if met_target is None or problem else _price(met_target, k, epsilon, n, guess, settings)
    return Plan(settings, k, epsilon, n, met_target, value, problem, price)


def rounded_up(epsilon: float) -> float:
    """Epsilon rounded up to four digits, so that the target is met with the displayed number."""
    return min(round_up(epsilon, _DIGITS), EPSILON_APP_MAX)


def _reachable(target: Target, value: float) -> Target | None:
    """The target of the same kind that ``value`` just meets; None where that is no valid target."""
    if target.kind == "top":
        sure = min(value, CONFIDENCE_MAX)
        return replace(target, confidence=sure) if sure >= CONFIDENCE_MIN else None
    return replace(target, value=value) if target.about.low <= value <= target.about.high else None


def _price(target: Target, k: int, epsilon: float, n: int, guess: Guess, settings: PlanSettings) -> Price:
    """Half of epsilon, and one, two and three bits less. The plan itself needs no more than its users, even where they
    are enough only by being whole people in just these shares."""
    half = epsilon / 2 / math.log(2)
    bits = sorted([0.0, half, *(whole for whole in (1.0, 2.0, 3.0) if not math.isclose(whole, half))])
    price = price_per_bit(target, k, epsilon, guess, bits, users=settings.users)
    needed = np.where(price.bits == 0, np.minimum(price.users, n), price.users)
    return replace(price, users=needed, times=needed / needed[0])
