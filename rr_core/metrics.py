"""How wrong an estimate is: distances, likelihood, and the closed-form variance of Inv."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rr_core import _validate
from rr_core._validate import Array
from rr_core.mechanism import RandomizedResponse

# What the truth is: the shares of these very users, or of the population that they were drawn from.
Users = Literal["fixed", "sampled"]
WHOSE: Mapping[Users, str] = {"fixed": "These people", "sampled": "Their population"}

# What is beyond the largest double is infinite, and is no fault of the caller's that a warning should tell.
_beyond_doubles = np.errstate(over="ignore", divide="ignore", invalid="ignore")


def check_users(users: str) -> None:
    """ValueError unless ``users`` is "fixed" or "sampled"."""
    _validate.one_of("users", users, get_args(Users))


@_beyond_doubles
def squared_error(theta_hat: ArrayLike, theta: ArrayLike) -> Any:
    """||theta_hat - theta||^2, the sum over categories (section 5.4). Divide by k for the mean per
    category that the paper's figures show. (..., k) each, broadcast; one number per row.

    >>> squared_error([0.5, 0.5, 0.0], [0.5, 0.25, 0.25])
    0.125
    """
    return _number((_difference(theta_hat, theta) ** 2).sum(axis=-1))


@_beyond_doubles
def total_variation(theta_hat: ArrayLike, theta: ArrayLike) -> Any:
    """Half the sum of |theta_hat - theta| (section 5.4): the share of probability in the wrong place.
    (..., k) each, broadcast; one number per row, from 0 to 1 for distributions.

    >>> total_variation([0.5, 0.5, 0.0], [0.5, 0.25, 0.25])
    0.25
    """
    return _number(np.abs(_difference(theta_hat, theta)).sum(axis=-1) / 2)


@_beyond_doubles
def max_error(theta_hat: ArrayLike, theta: ArrayLike) -> Any:
    """The largest |theta_hat_i - theta_i| over the categories. (..., k) each; one number per row.

    >>> max_error([0.5, 0.5, 0.0], [0.5, 0.25, 0.25])
    0.25
    """
    return _number(np.abs(_difference(theta_hat, theta)).max(axis=-1))


@_beyond_doubles
def negative_log_likelihood(histogram: ArrayLike, theta: ArrayLike, mechanism: RandomizedResponse) -> Any:
    """-sum_i c_i log(q + (p - q) theta_i) in nats: summed over reports when the histogram holds counts, per
    report when it holds frequencies.

    Args:
        histogram: (..., k) counts or frequencies, used as they are.
        theta: (..., k) estimate, broadcast against the histogram. May have negative entries (Inv).
        mechanism: the randomized response that produced the reports.

    Returns:
        One number per row; infinite when a category that was reported has probability <= 0, or beyond the largest
        double.

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> round(negative_log_likelihood([6, 3, 2, 1], [5 / 6, 1 / 6, 0, 0], mechanism), 6)
    14.753092
    >>> round(negative_log_likelihood([6, 3, 2, 1], [4 / 5, 1 / 5, 0, 0], mechanism), 6)
    14.758628
    """
    counts = _validate.histogram(histogram, mechanism.k)
    estimate = _validate.vector("theta", theta, mechanism.k)
    _validate.check_broadcast(histogram=counts, theta=estimate)
    return _number(report_loss(counts, estimate, mechanism).sum(axis=-1))


def report_loss(counts: Array, theta: Array, mechanism: RandomizedResponse) -> Array:
    """-c log(q + (p - q) theta), entry by entry; infinite where a report of probability <= 0 was seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.log1p(theta * (mechanism.truth / mechanism.blur))
        terms = np.where(counts > 0, counts * -(mechanism.log_q + log_ratio), 0.0)
    return np.where(np.isnan(terms), np.inf, terms)


@_beyond_doubles
def inv_variance(
    theta: ArrayLike,
    n: float,
    mechanism: RandomizedResponse,
    *,
    users: Users = "fixed",
) -> Array:
    """Variance of each entry of Inv.

    With a fixed population of users,
        Var = [q (1 - q) + theta_i (p - q)(1 - p - q)] / (N (p - q)^2);
    the printed eq. (8) has N (p - q) below, a misprint. When the users are themselves a random sample,
        Var = m (1 - m) / (N (p - q)^2) with m = q + (p - q) theta_i.

    Args:
        theta: (..., k) true shares, or an estimate plugged in.
        n: number of users, > 0.
        mechanism: the randomized response.
        users: "fixed" when theta is the histogram of the users themselves, "sampled" when it is the
            population they were drawn from.

    Returns:
        Same shape as ``theta``; infinite beyond the largest double (of tiny ``n``).

    Raises:
        ValueError: naming the argument.

    >>> mechanism = RandomizedResponse.from_p(4, 0.5)
    >>> inv_variance([1.0, 0.0, 0.0, 0.0], 1000, mechanism).round(6).tolist()
    [0.00225, 0.00125, 0.00125, 0.00125]
    """
    shares = _validate.vector("theta", theta, mechanism.k)
    return variance_at(shares, _validate.positive("n", n), mechanism, users)


def variance_at(shares: Array, n: float, mechanism: RandomizedResponse, users: Users = "fixed") -> Array:
    """`inv_variance` of single categories with these true shares: any shape, entry by entry."""
    q, keep = mechanism.q, mechanism.keep
    check_users(users)
    if users == "fixed":
        # 1 - p - q = (k - 2) q, without the cancellation.
        per_report = q * ((1 - q) + shares * keep * (mechanism.k - 2))
    else:
        seen = q + keep * shares
        # 1 - (q + keep theta) = q (k - 1) + keep (1 - theta), without the cancellation.
        per_report = seen * (q * (mechanism.k - 1) + keep * (1 - shares))
    variance: Array = per_report / keep / keep / n
    return variance


def _difference(theta_hat: ArrayLike, theta: ArrayLike) -> Array:
    truth = _validate.numbers("theta", theta)
    if truth.ndim == 0 or not truth.shape[-1]:
        raise ValueError(f"theta must have shape (..., k) with k >= 1, got {truth.shape}")
    estimate = _validate.vector("theta_hat", theta_hat, truth.shape[-1])
    _validate.check_broadcast(theta_hat=estimate, theta=truth)
    difference: Array = np.subtract(estimate, truth, dtype=np.float64)
    return difference


def _number(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values
