"""How much a Markov chain says: effective sample size, and whether its parts agree (R-hat)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from rr_core import _validate
from rr_core._validate import Array

# Each half of a chain needs a few draws.
FEWEST_DRAWS = 8


def effective_sample_size(chains: ArrayLike) -> Array:
    """Number of independent draws whose mean would be as accurate as that of the chains, for each quantity.

    Chains are split in halves, autocorrelations are combined over them and cut off by Geyer's initial monotone sequence
    (A. Gelman et al., Bayesian Data Analysis, 3rd edition, section 11.5; A. Vehtari et al., Bayesian Analysis 16 (2021)
    667-718, https://doi.org/10.1214/20-BA1221, section 3).

    Args:
        chains: (draws, k) one chain, or (chains, draws, k) several of equal length, with 8 draws or more each.

    Returns:
        (k,) numbers. A quantity that never changes has as many as there are draws. As usual in such software, no more
        than log10(draws) times the number of draws.

    Raises:
        ValueError: when the shape is another, or a draw is not finite.

    >>> from rr_core.streams import Stream, generator
    >>> independent = generator(1, Stream.USERS).normal(size=(4000, 2))
    >>> bool((effective_sample_size(independent) > 3000).all())
    True
    >>> walk = np.cumsum(independent, axis=0)
    >>> bool((effective_sample_size(walk) < 50).all())
    True
    """
    halves = _halves(chains)
    m, n, _ = halves.shape
    centred = halves - halves.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, size, axis=1)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), size, axis=1)[:, :n].mean(axis=0) / n
    within, overall = _variances(halves)
    fixed = overall <= 0
    overall = np.where(fixed, 1.0, overall)
    correlation = 1 - (within - covariance * n / (n - 1)) / overall
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(n // 2, 2, -1).sum(axis=1)
    pairs = np.minimum.accumulate(np.where(np.minimum.accumulate(pairs > 0, axis=0), pairs, 0.0), axis=0)
    time = np.maximum(2 * pairs.sum(axis=0) - 1, 1 / np.log10(m * n))
    return np.where(fixed, float(m * n), m * n / time)


def split_r_hat(chains: ArrayLike) -> Array:
    """Rank-normalised split R-hat: near 1 where the halves of all chains have the same place and spread, above 1.01 where
    they should run longer (Vehtari et al. 2021, section 4; the larger of the one for place and the one for spread).

    Arguments and errors as in `effective_sample_size`; (k,) numbers, 1 for a quantity that never changes.

    >>> from rr_core.streams import Stream, generator
    >>> independent = generator(1, Stream.USERS).normal(size=(4000, 2))
    >>> bool((split_r_hat(independent) < 1.01).all()), bool((split_r_hat(np.cumsum(independent, axis=0)) > 1.1).all())
    (True, True)
    """
    halves = _halves(chains)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded)))


def _halves(chains: ArrayLike) -> Array:
    """(2 chains, draws/2, k)."""
    values = _validate.numbers("chains", chains).astype(np.float64, copy=False)
    if values.ndim == 2:
        values = values[None]
    if values.ndim != 3 or not values.size or values.shape[1] < FEWEST_DRAWS:
        raise ValueError(
            f"chains must have shape (draws, k) or (chains, draws, k) with at least {FEWEST_DRAWS} draws, "
            f"got {np.shape(chains)}"
        )
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, -half:]])


def _variances(halves: Array) -> tuple[Array, Array]:
    """(k,) the mean variance within chains, and the estimate of the variance over all of them."""
    n = halves.shape[1]
    within: Array = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    overall: Array = within * (n - 1) / n + between
    return within, overall


def _r_hat(halves: Array) -> Array:
    within, overall = _variances(halves)
    fixed = overall <= 0
    with np.errstate(divide="ignore"):
        ratio: Array = np.sqrt(np.where(fixed, 1.0, overall) / np.where(fixed, 1.0, within))
    return ratio


def _normal_scores(halves: Array) -> Array:
    """Ranks over all chains, as quantiles of the normal distribution (Blom)."""
    flat = halves.reshape(-1, halves.shape[-1])
    ranks = stats.rankdata(flat, axis=0)
    scores: Array = special.ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(halves.shape)
    return scores
