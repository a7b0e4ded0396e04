"""How small the mean squared error through a channel can be: from entropy to epsilon, step by step.

Theorems 4.1, 4.2, 4.4 and 4.5 of M. Lopuhaä-Zwakenberg, Z. Li, B. Škorić and N. Li, "Improving frequency estimation under
local differential privacy" (2020), in the notation of this project: C is the (k, m) channel, theta is drawn from a
Dirichlet prior, mu = theta C, and D = C diag(mu)^-1 C^T is the Fisher information of one report. All numbers are limits
of n times the mean squared error, summed over categories and averaged over the prior, as the number n of users grows:

    exact       E tr D^-1 - E |theta|^2                     the posterior mean and the MLE reach it
    entropy     k exp(-E log det D/(k - 1))                 (51), by Theorems 4.1 and 4.2
    epsilon     k/(e^epsilon - 1)^2                         (59), by Theorem 4.4

for the shares of the population that the users are drawn from, each at most the one above. For a channel with as many
reports as categories, D^-1 = C^-T diag(mu) C^-1 is linear in theta: there the first is the error of Inv at every n,
exactly, and E log det D = 2 log|det C| - sum_j E log mu_j is a sum of integrals, so that nothing is simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from rr_core import _validate
from rr_core._validate import Array
from rr_core.protocols.channel import Channel
from rr_core.protocols.channel_estimation import inv_covariance_channel

PRIOR_MIN, PRIOR_MAX = 0.01, 1e6
_SMALLEST = 1e-100  # share of a category: below, squares of its inverse would overflow
_DRAWS_AT_ONCE = 1 << 21  # entries of matrices
_LOG_OF_ROUNDING, _WIDTH = -40.0, 0.125  # of an integrand that is nothing beyond; between two points


@dataclass(frozen=True, eq=False)
class InformationBounds:
    """n times the mean squared error.

    Attributes:
        inv: of Inv, for every n; exactly.
        exact: what the best estimate reaches in the limit of many users.
        entropy: the lower bound from the entropy of what is left to know.
        epsilon: the lower bound for every channel with this epsilon and number of reports; 0 without an epsilon.
        exact_error, entropy_error: standard errors of ``exact`` and ``entropy`` where they are means over draws from the
            prior; 0 where they are exact.
    """

    inv: float
    exact: float
    entropy: float
    epsilon: float
    exact_error: float
    entropy_error: float

    @property
    def is_exact(self) -> bool:
        """Whether nothing was simulated."""
        return self.exact_error == self.entropy_error == 0


def information_bounds(
    channel: Channel,
    prior: float = 0.5,
    *,
    draws: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> InformationBounds:
    """The chain of bounds for one channel.

    Args:
        channel: with independent rows.
        prior: parameter of the symmetric Dirichlet prior, from 0.01 to 1e6: 1 is uniform, 0.5 Jeffreys'.
        draws: from the prior, an integer >= 2.
        rng: a NumPy Generator (or a seed for one).

    Returns:
        `InformationBounds`. O(draws k^2 m).

    Raises:
        ValueError: when the channel does not identify the truth, or naming the argument.

    >>> bounds = information_bounds(Channel.warner(0.75), rng=1)  # epsilon = log 3, Proposition 4.6: 2 (3/4 + 1/8)
    >>> round(bounds.inv, 9), round(bounds.exact, 2), round(bounds.epsilon, 3)
    (1.75, 1.75, 0.5)
    """
    alpha = _validate.within("prior", prior, PRIOR_MIN, PRIOR_MAX)
    draws = _validate.integer("draws", draws, 2)
    if not channel.identified:
        raise ValueError(
            f"channel must tell all k = {channel.k} categories apart, got a channel of rank {channel.rank}"
        )
    rng = np.random.default_rng(rng)
    matrix = channel.matrix[:, channel.possible]
    k, m = matrix.shape
    # The covariance of Inv for fixed users is linear in theta, and E theta = 1/k.
    of_inv = float(np.trace(inv_covariance_channel(np.full(k, 1 / k), 1, channel)))
    sampling = 1 - (alpha + 1) / (k * alpha + 1)  # 1 - E |theta|^2
    by_epsilon = _by_epsilon(channel.epsilon, k)
    if k == m:
        logs_of_reports = sum(_mean_log(column, alpha) for column in matrix.T)
        entropy = k * float(np.exp((logs_of_reports - 2 * np.linalg.slogdet(matrix)[1]) / (k - 1)))
        return InformationBounds(of_inv + sampling, of_inv + sampling, entropy, by_epsilon, 0.0, 0.0)
    step = max(1, _DRAWS_AT_ONCE // (k * m))
    traces, log_dets = [], []
    for first in range(0, draws, step):
        theta = np.maximum(rng.dirichlet(np.full(k, alpha), min(step, draws - first)), _SMALLEST)
        trace, log_det = _information(matrix, theta)
        traces.append(trace)
        log_dets.append(log_det)
    exact, logs = np.concatenate(traces), -np.concatenate(log_dets) / (k - 1)
    # What is simulated may be off to either side, but Inv, whose error is known, is not better than the best.
    least = min(float(exact.mean()), of_inv + sampling)
    entropy = min(k * float(np.exp(logs.mean())), least)
    return InformationBounds(
        inv=of_inv + sampling,
        exact=least,
        entropy=entropy,
        epsilon=by_epsilon,
        exact_error=float(exact.std(ddof=1) / np.sqrt(draws)),
        entropy_error=entropy * float(logs.std(ddof=1) / np.sqrt(draws)),
    )


def _mean_log(chances: Array, alpha: float) -> float:
    """E log(sum_i c_i theta_i) for theta from Dirichlet(alpha, ..., alpha), to rounding.

    With independent G_i of Gamma(alpha), sum c_i G_i is sum c_i theta_i times an independent Gamma(k alpha), and log x is
    the integral over t of (e^-t - e^-tx)/t, so that it is the integral over u = log t of
    exp(-e^u) - prod_i (1 + c_i e^u)^-alpha, minus digamma(k alpha). The trapezoidal rule converges geometrically.
    """
    last = 4.0
    while alpha * np.logaddexp(0.0, np.log(chances[chances > 0]) + last).sum() < -_LOG_OF_ROUNDING:
        last *= 2
    u = np.arange(_LOG_OF_ROUNDING, last, _WIDTH)
    power = np.zeros(u.size)
    for chance in chances[chances > 0]:
        power += np.logaddexp(0.0, np.log(chance) + u)
    with np.errstate(over="ignore"):
        integrand = np.exp(-np.exp(u)) - np.exp(-alpha * power)
    return float(integrand.sum() * _WIDTH - digamma(chances.size * alpha))


def _information(matrix: Array, theta: Array) -> tuple[Array, Array]:
    """For rows of theta (r, k): tr D^-1 - |theta|^2, and log det D."""
    mu = theta @ matrix
    information = (matrix / mu[:, None, :]) @ matrix.T
    trace = np.trace(np.linalg.inv(information), axis1=1, axis2=2)
    return trace - (theta**2).sum(axis=1), np.linalg.slogdet(information)[1]


def _by_epsilon(epsilon: float, k: int) -> float:
    if not np.isfinite(epsilon):
        return 0.0
    with np.errstate(over="ignore", divide="ignore"):
        return float(k / np.expm1(np.float64(min(epsilon, 700.0))) ** 2)
