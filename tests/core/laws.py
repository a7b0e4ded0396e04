"""Samples against a law: chi-square, moments, and the laws of counts of reports."""

from __future__ import annotations

import numpy as np
from scipy import stats


def chi_square_p(samples, law):
    """p-value of ``samples`` of a whole number against ``law[count]``, cells of expectation < 5 merged."""
    observed = np.bincount(samples, minlength=len(law)).astype(float)
    expected = law * len(samples)
    assert len(observed) == len(law)
    rare = expected < 5
    cells = [np.append(x[~rare], x[rare].sum()) for x in (observed, expected)]
    if cells[1][-1] < 5:
        return stats.chisquare(
            cells[0][:-1], cells[1][:-1] * cells[0][:-1].sum() / cells[1][:-1].sum()
        ).pvalue
    return stats.chisquare(*cells).pvalue


def law_of_one_count(truth, others, mechanism):
    """Reports of one category: Binomial(truth, p) of its own users plus Binomial(others, q) of the others."""
    own = stats.binom.pmf(np.arange(truth + 1), truth, mechanism.p)
    return np.convolve(own, stats.binom.pmf(np.arange(others + 1), others, mechanism.q))


def check_moments(samples, mean, covariance):
    """Every mean and covariance within six standard errors (those of a normal, widened for kurtosis)."""
    runs = len(samples)
    variance = np.diag(covariance)
    z = (samples.mean(axis=0) - mean) / np.sqrt(np.maximum(variance, 1e-300) / runs)
    assert np.abs(z).max() < 6
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / runs)
    assert (np.abs(np.cov(samples.T) - covariance) < 6 * 1.3 * error).all()


def law_of_steps(*groups):
    """The law of a sum of independent steps of +1, -1 or 0, from its characteristic function.

    Args:
        groups: of each kind of step: (how many, chance of +1, chance of -1).

    Returns:
        (values, chances); each is off by less than 1e-7 at a billion steps, and less with fewer.
    """
    mean = round(sum(number * (up - down) for number, up, down in groups))
    variance = sum(number * (up + down - (up - down) ** 2) for number, up, down in groups)
    size = 1 << int(np.ceil(np.log2(24 * np.sqrt(variance) + 150)))
    angle = 2 * np.pi * np.fft.rfftfreq(size)
    up_turned, down_turned = np.expm1(-1j * angle), np.expm1(1j * angle)
    logs = sum(number * np.log1p(up * up_turned + down * down_turned) for number, up, down in groups)
    chances = np.fft.irfft(np.exp(logs + 1j * angle * mean), size)
    values = np.fft.fftfreq(size, 1 / size)
    order = np.argsort(values)
    return mean + values[order], np.maximum(chances[order], 0.0)
