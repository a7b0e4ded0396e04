"""Estimates of the distribution of the truth from reports of any channel: unbiased, and of maximum likelihood.

The likelihood per report, L(theta) = sum_j phi_j log mu_j with mu = theta C, is concave. With the factors
g_i = sum_j phi_j C_ij/mu_j, by which IBU multiplies theta_i (eq. (4)), its gradient is g, and sum_i theta_i g_i = 1. So
L(other) - L(theta) <= sum_i other_i g_i - 1 <= max_i g_i - 1 for every other distribution: the certificate.

The maximum is found by a primal-dual interior-point method. With y_j = phi_j/mu_j and s_i = 1 - g_i the conditions of
Karush, Kuhn and Tucker are

    mu = theta C,      C y + s = 1,      mu_j y_j = phi_j,      theta_i s_i = 0,      theta, s >= 0,

(the multiplier of sum theta = 1 is one). All equations are linear but for the products, so Newton steps on the products,
with theta_i s_i = tau and tau -> 0, go as in linear programming, with Mehrotra's predictor and corrector
(S. Mehrotra, SIAM J. Optim. 2 (1992) 575-601, https://doi.org/10.1137/0802028; the same dual for mixtures in
R. Koenker and I. Mizera, JASA 109 (2014) 674-685, https://doi.org/10.1080/01621459.2013.869224).
In the end theta is set to zero where s > theta, and ordinary Newton steps are taken on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from rr_core import _validate
from rr_core._validate import Array
from rr_core.metrics import Users, check_users
from rr_core.protocols.channel import Channel

# Interior-point steps; a dozen or two are usual. After so many without progress, rounding is the limit.
_MOST_STEPS, _PATIENCE = 200, 20
_POLISH_STEPS, _ROUNDING = 12, 1e-15
# Once the tolerance is reached, a few more steps tell the categories with a share of zero from the others: to this part
# of the tolerance, or so many.
_BELOW_TOLERANCE, _FURTHER_STEPS = 1e-3, 8
# What is added to a diagonal of ones, one after the other, until a matrix is positive definite in floating point.
_RAISES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)
# Of an estimate, and of users: beyond, squares and ratios would overflow.
_LARGEST_SHARE, _LEAST_N = 1e100, 1e-60
# How much of the way to the nearest zero a step goes.
_STEP_BACK = 0.995
# Where a step aims at after one that failed: this part of the mean of theta s.
_CENTRING = 0.8


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """A distribution at, or provably near, the maximum of the likelihood.

    Attributes:
        theta: (k,) the distribution.
        gap: certificate max_i g_i - 1, in nats per report: no distribution has a log-likelihood per report that is
            larger by more than this, up to the rounding of g (some 1e-15).
        iterations: number of steps of the method, each of which solves one system of linear equations.
    """

    theta: Array
    gap: float
    iterations: int


def inv_channel(histogram: ArrayLike, channel: Channel) -> Array:
    """Linear inversion: the unbiased solution of phi = theta C, by least squares where there are more reports than
    categories, among vectors that sum to one.

    Args:
        histogram: (..., m) counts or frequencies of the reports, normalised inside.
        channel: with independent rows.

    Returns:
        (..., k) estimates that sum to one and may be negative.

    Raises:
        ValueError: when the channel does not identify the truth, or naming the argument.

    >>> channel = Channel.warner(1 / 6)  # share of "yes": (0.3 + 1/6 - 1)/(2/6 - 1) = 0.8
    >>> inv_channel([70, 30], channel).round(6).tolist()
    [0.2, 0.8]
    """
    checked = _validate.histogram(histogram, channel.m)
    return _solve(_validate.shares(checked), channel)


def inv_covariance_channel(theta: ArrayLike, n: float, channel: Channel, *, users: Users = "fixed") -> Array:
    """Covariance matrix of Inv. With mu = theta C the report frequencies have covariance
    (diag(mu) - sum_i theta_i C_i C_i^T)/n for fixed users, and (diag(mu) - mu mu^T)/n for sampled ones.

    Args:
        theta: (k,) true shares, or an estimate plugged in.
        n: number of users, >= 1e-60.
        channel: with independent rows.
        users: "fixed" when theta is the histogram of the users themselves, "sampled" when it is the population they
            were drawn from.

    Returns:
        (k, k). Its diagonal has the variances.

    Raises:
        ValueError: when the channel does not identify the truth, or naming the argument.

    >>> channel = Channel.warner(0.75)
    >>> inv_covariance_channel([0.8, 0.2], 1000, channel).round(6).tolist()  # p (1 - p)/(n (2 p - 1)^2)
    [[0.00075, -0.00075], [-0.00075, 0.00075]]
    """
    check_users(users)
    shares = _validate.one_row("theta", _validate.vector("theta", theta, channel.k))
    if np.abs(shares.astype(np.float64)).max() > _LARGEST_SHARE:
        raise ValueError(f"theta must be shares, or an estimate of them, got {_validate.short(theta)}")
    n = _validate.positive("n", n)
    if n < _LEAST_N:
        raise ValueError(f"n must be a number >= {_LEAST_N:g}, got {n!r}")
    seen = shares @ channel.matrix
    if users == "fixed":
        known = (channel.matrix.T * shares) @ channel.matrix
    else:
        known = np.outer(seen, seen)
    once = _solve((np.diag(seen) - known) / n, channel, 0.0)
    return _solve(once.T, channel, 0.0)


def _solve(phi: Array, channel: Channel, total: float = 1.0) -> Array:
    """(..., k) least squares solutions of phi = x C, for ``phi`` (..., m), among x that sum to ``total``."""
    if not channel.identified:
        raise ValueError(
            f"protocol must tell all k = {channel.k} categories apart for an unbiased estimate, "
            f"got a channel of rank {channel.rank}"
        )
    # C^T = Q R. The least squares x = R^-1 Q^T phi, moved along (C C^T)^-1 1 until they sum to the total, are the least
    # squares under that condition; the expected move is zero, as the expectation of x sums to it.
    q, r = np.linalg.qr(channel.matrix.T)
    x = linalg.solve_triangular(r, q.T @ phi.reshape(-1, channel.m).T)
    if channel.m > channel.k:
        along = linalg.solve_triangular(r, linalg.solve_triangular(r, np.ones(channel.k), trans="T"))
        x += np.outer(along / along.sum(), total - x.sum(axis=0))
    if total:  # of shares, what rounding makes of a zero is zero
        pivots = np.abs(np.diag(r))
        x[np.abs(x) < 4 * np.finfo(float).eps * pivots.max() / pivots.min()] = 0.0
    solution: Array = x.T.reshape(*phi.shape[:-1], channel.k)
    return solution


def update_factors_channel(histogram: ArrayLike, theta: ArrayLike, channel: Channel) -> Array:
    """The factors g_i = sum_j phi_j C_ij/mu_j, mu = theta C, by which IBU multiplies theta_i (eq. (4)): (..., k).

    They are infinite where a report that was seen has probability zero under ``theta`` but not under category i.

    Args:
        histogram: (..., m) counts or frequencies of the reports; of those that the channel can produce.
        theta: (..., k) distribution; broadcasts against the histogram.

    >>> channel = Channel([[0.9, 0.1], [0.2, 0.8]])
    >>> update_factors_channel([70, 30], [0.5, 0.5], channel).round(6).tolist()
    [1.212121, 0.787879]
    """
    phi = _validate.shares(_reports(histogram, channel))
    theta = _validate.vector("theta", theta, channel.k)
    _validate.check_broadcast(histogram=phi[..., 0], theta=theta[..., 0])
    matrix = _scaled(channel.matrix)
    with np.errstate(divide="ignore", over="ignore"):
        seen = theta @ matrix
        ratio = np.divide(phi, seen, where=phi > 0, out=np.zeros(np.broadcast_shapes(phi.shape, seen.shape)))
    unseen = np.isinf(ratio)
    factors: Array = np.where(unseen, 0.0, ratio) @ matrix.T
    return np.where(unseen @ (matrix.T > 0), np.inf, factors)


def optimality_gap_channel(histogram: ArrayLike, theta: ArrayLike, channel: Channel) -> Array | float:
    """max_i g_i - 1: an upper bound, in nats per report, on how far the log-likelihood of ``theta`` is below its maximum,
    for any channel. Arguments as in `update_factors_channel`; one number per histogram, a float when there is one.

    >>> channel = Channel([[0.9, 0.1], [0.2, 0.8]])
    >>> abs(optimality_gap_channel([70, 30], [5 / 7, 2 / 7], channel)) < 1e-12
    True
    """
    gap: Array = update_factors_channel(histogram, theta, channel).max(axis=-1) - 1
    return float(gap) if gap.ndim == 0 else gap


def ibu_path_channel(histogram: ArrayLike, channel: Channel, iterations: Sequence[int]) -> Array:
    """Plain IBU (eq. (4)) from the uniform start, after some numbers of iterations.

    Args:
        histogram: (m,) counts or frequencies of the reports; of those that the channel can produce.
        channel: any channel.
        iterations: increasing integers >= 0.

    Returns:
        (iterations, k) distributions. Cost: O(k m) an iteration.

    Raises:
        ValueError: naming the argument.

    >>> ibu_path_channel([70, 30], Channel([[0.9, 0.1], [0.2, 0.8]]), [0, 10, 100]).round(4).tolist()
    [[0.5, 0.5], [0.714, 0.286], [0.7143, 0.2857]]
    """
    phi = _validate.one_row("histogram", _validate.shares(_reports(histogram, channel)), "m")
    marks = [_validate.integer("iterations", wanted, 0) for wanted in iterations]
    if marks != sorted(marks):
        raise ValueError(f"iterations must be in increasing order, got {_validate.short(iterations)}")
    seen = phi > 0
    matrix, phi = np.ascontiguousarray(_scaled(channel.matrix)[:, seen]), phi[seen]
    theta = np.full(channel.k, 1 / channel.k)
    path, done = np.empty((len(marks), channel.k)), 0
    for row, wanted in zip(path, marks, strict=True):
        for _ in range(wanted - done):
            theta *= matrix @ (phi / (theta @ matrix))
        done, row[:] = wanted, theta
    return path


def mle_channel(histogram: ArrayLike, channel: Channel, tolerance: float = 1e-9) -> MaximumLikelihood:
    """A distribution of maximum likelihood, certified. Where the channel does not identify the truth there may be others
    that are as likely.

    Args:
        histogram: (m,) counts or frequencies of the reports, normalised inside.
        channel: any channel that can produce the reports.
        tolerance: gap to reach, a number > 0. Where rounding does not allow it, the best that was found is returned,
            with its gap.

    Returns:
        `MaximumLikelihood`. Cost: a dozen or two steps of O(k m min(k, m)).

    Raises:
        ValueError: when the channel cannot produce the reports, or naming the argument.

    >>> found = mle_channel([60, 30, 10], Channel([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]]))
    >>> found.theta.round(6).tolist(), found.gap <= 1e-9
    ([0.7891, 0.2109, 0.0], True)
    """
    tolerance = _validate.positive("tolerance", tolerance)
    counts = _validate.one_row("histogram", _reports(histogram, channel), "m")
    phi = _validate.shares(counts)
    seen = phi > 0
    return maximise(_scaled(channel.matrix)[:, seen], phi[seen], tolerance)


def maximise(columns: Array, phi: Array, tolerance: float) -> MaximumLikelihood:
    """The maximum of sum_j phi_j log(theta . column_j), by the interior-point method; nothing is checked.

    Args:
        columns: (k, m) >= 0, each column with 1 as its largest entry.
        phi: (m,) > 0, with sum one.
        tolerance: gap to reach.

    >>> maximise(np.array([[1.0, 0.25], [0.5, 1.0]]), np.array([0.5, 0.5]), 1e-9).theta.round(6).tolist()
    [0.166667, 0.833333]
    """
    problem = _Likelihood(np.ascontiguousarray(columns), phi)
    best = _Best(problem)
    theta, slack = _interior_point(problem, best, tolerance)
    _polish(problem, best, theta, theta > slack)
    return MaximumLikelihood(best.theta, best.gap, best.steps)


def _reports(histogram: ArrayLike, channel: Channel) -> NDArray:
    checked = _validate.histogram(histogram, channel.m)
    impossible = (checked > 0) & ~channel.possible
    if impossible.any():
        where = np.argwhere(impossible)[0]
        raise ValueError(
            "histogram must hold reports that the channel can produce, "
            f"got {checked[tuple(where)]} of report {where[-1]}, whose column is zero"
        )
    return checked


def _scaled(matrix: Array) -> Array:
    """Every column divided by its largest entry. The likelihood changes by a constant only, and tiny columns
    (reports that are rare whatever the truth) neither underflow nor overflow."""
    largest = matrix.max(axis=0)
    scaled: Array = np.divide(matrix, largest, where=largest > 0, out=np.zeros_like(matrix))
    return scaled


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The columns (k, seen) of the reports that occurred, scaled, and their frequencies phi (seen,)."""

    columns: Array
    phi: Array


class _Best:
    """The distribution with the smallest gap so far."""

    def __init__(self, problem: _Likelihood) -> None:
        self._problem = problem
        self.theta = np.full(len(problem.columns), 1 / len(problem.columns))
        self.gap, self.steps = np.inf, 0

    def offer(self, theta: Array) -> float:
        """The gap of ``theta``, made to sum to one; it is remembered where it is the best."""
        theta = theta / theta.sum()
        seen = theta @ self._problem.columns
        if not (seen > 0).all():
            return np.inf
        with np.errstate(over="ignore"):
            gap = max(float((self._problem.columns @ (self._problem.phi / seen)).max()) - 1, 0.0)
        if gap < self.gap:
            self.theta, self.gap = theta, gap
        return gap


def _interior_point(problem: _Likelihood, best: _Best, tolerance: float) -> tuple[Array, Array]:
    """Steps until the gap is at most the tolerance (and a few more) or stays; the last theta (k,) and slack s (k,)."""
    c, phi = problem.columns, problem.phi
    k = len(c)
    theta = np.full(k, 1 / k)
    mu = theta @ c
    y = phi / mu
    # Dual feasible from the start: C y < 1.
    y /= 2 * (c @ y).max()
    slack = 1 - c @ y
    best.offer(theta)
    since, least, further = 0, np.inf, 0
    while (
        best.gap > _BELOW_TOLERANCE * tolerance
        and best.steps < _MOST_STEPS
        and since < _PATIENCE
        and further < _FURTHER_STEPS
    ):
        best.steps += 1
        further += best.gap <= tolerance
        equations = _Equations(c, theta, slack, mu, y)
        if not equations.solvable:
            break
        dual_rest = 1 - c @ y - slack
        centre = float(theta @ slack) / k
        # The gap may rise on the way; the products theta s fall until rounding stops them.
        since, least = (0, centre) if centre < 0.9 * least else (since + 1, least)
        if since:
            # The last step did not come nearer, or went to and fro: back towards the middle first.
            step = equations.solve(dual_rest, _CENTRING * centre - theta * slack, phi - mu * y)
        else:
            # Predictor: straight to theta s = 0. Corrector: to the centred tau that the predictor's success suggests.
            step = equations.solve(dual_rest, -theta * slack, phi - mu * y)
            primal, dual = _longest(theta, step[0], mu, step[2]), _longest(slack, step[1], y, step[3])
            after = float((theta + primal * step[0]) @ (slack + dual * step[1])) / k
            tau = centre * min(max(after / centre, 0.0), 1.0) ** 3
            step = equations.solve(
                dual_rest, tau - theta * slack - step[0] * step[1], phi - mu * y - step[2] * step[3]
            )
        if not all(np.isfinite(part).all() for part in step):
            break
        primal, dual = _longest(theta, step[0], mu, step[2]), _longest(slack, step[1], y, step[3])
        theta = theta + _STEP_BACK * primal * step[0]
        mu = theta @ c
        slack = slack + _STEP_BACK * dual * step[1]
        y = y + _STEP_BACK * dual * step[3]
        if not (mu > 0).all():
            break
        best.offer(theta)
    return theta, slack


class _Equations:
    """The linearised conditions at one point, in the smaller of the k unknowns theta and the m unknowns y:

    C dy + ds = a,      s dtheta + theta ds = b,      y dmu + mu dy = r,      dmu = dtheta C.
    """

    def __init__(self, c: Array, theta: Array, slack: Array, mu: Array, y: Array) -> None:
        self._c, self._theta, self._slack, self._mu, self._y = c, theta, slack, mu, y
        self._by_theta = c.shape[0] <= c.shape[1]
        # A frequency may be so small that its y is zero: then the equations cannot be solved.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self._by_theta:
                half = c * np.sqrt(y / mu)
                matrix, diagonal = half @ half.T, slack / theta
            else:
                half = c.T * np.sqrt(theta / slack)
                matrix, diagonal = half @ half.T, mu / y
        matrix[np.diag_indices_from(matrix)] += diagonal
        self._matrix = _PositiveDefinite(matrix)
        self.solvable = self._matrix.solvable

    def solve(self, a: Array, b: Array, r: Array) -> tuple[Array, Array, Array, Array]:
        """(dtheta, ds, dmu, dy)."""
        c, theta, slack, mu, y = self._c, self._theta, self._slack, self._mu, self._y
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self._by_theta:
                d_theta = self._matrix.solve(b / theta - a + c @ (r / mu))
                d_mu = d_theta @ c
                d_y = (r - y * d_mu) / mu
                return d_theta, a - c @ d_y, d_mu, d_y
            d_y = self._matrix.solve(r / y - ((b - theta * a) / slack) @ c)
            d_slack = a - c @ d_y
            d_theta = (b - theta * d_slack) / slack
            return d_theta, d_slack, d_theta @ c, d_y


class _PositiveDefinite:
    """A symmetric matrix, scaled to a diagonal of ones and factorised. Where rounding has made it indefinite (equal rows
    of a channel), the diagonal is raised by as little as helps: the step is then a little shorter in these directions."""

    def __init__(self, matrix: Array) -> None:
        diagonal = np.diagonal(matrix)
        self.solvable = bool(np.isfinite(matrix).all() and (diagonal > 0).all())
        if not self.solvable:
            return
        self._scale = 1 / np.sqrt(diagonal)
        matrix = matrix * self._scale * self._scale[:, None]
        for raised in _RAISES:
            np.fill_diagonal(matrix, 1 + raised)
            try:
                self._factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
            except linalg.LinAlgError:
                continue
            return
        self.solvable = False

    def solve(self, right: Array) -> Array:
        solution: Array = self._scale * linalg.cho_solve(
            self._factor, self._scale * right, check_finite=False
        )
        return solution


def _longest(one: Array, d_one: Array, other: Array, d_other: Array) -> float:
    """The largest step of at most 1 that keeps both vectors >= 0."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        limits = [-(v[d < 0] / d[d < 0]).max(initial=-np.inf) for v, d in ((one, d_one), (other, d_other))]
    return float(min(1.0, *limits))


def _polish(problem: _Likelihood, best: _Best, theta: Array, support: NDArray[np.bool_]) -> None:
    """Newton steps on the categories of ``support`` alone; a category that a step would make negative leaves it."""
    theta, last = np.where(support, theta, 0.0), np.inf
    for _ in range(_POLISH_STEPS):
        kept = np.flatnonzero(theta)
        if not kept.size:
            return
        c = problem.columns[kept]
        mu = theta[kept] @ c
        if not (mu > 0).all():
            return
        half = c * (np.sqrt(problem.phi) / mu)
        matrix = _PositiveDefinite(half @ half.T)
        if not matrix.solvable:
            return
        gradient = c @ (problem.phi / mu) - 1
        best.steps += 1
        moved = theta[kept] + matrix.solve(gradient)
        theta[kept] = np.maximum(moved, 0.0)
        if not theta.sum() > 0:
            return
        gap = best.offer(theta)
        if gap < _ROUNDING or (gap >= last and (moved > 0).all()):
            return
        last = gap
