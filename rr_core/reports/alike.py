"""Tests that all groups are alike.

They compare the reports: under a design that tells the truths apart these have one law in all groups exactly when the
truths have.

- One report a person: Pearson's test, by chi-squared or, where few reports are expected, against tables with the same
  margins.
- Unary encoding: the same statistic of ones and zeros, summed over the k categories. The ones of a person go together a
  little, so it is a sum over the eigenvalues of their correlation matrix R of chi-squared ones of (g - 1) degrees of
  freedom. Its law is taken to be c times chi-squared of (g - 1) k/c degrees of freedom, which has its mean and variance
  (Satterthwaite): c = |R|^2/k, with R_ij = -(p - q)^2 theta_i theta_j/sqrt(v_i v_j) off the diagonal, v_i = s_i (1 - s_i)
  and s_i = q + (p - q) theta_i, at InvP of all people. Where few ones are expected, it is compared with collections that
  are drawn at that InvP.
- With weights the statistic is divided by its mean under the design (J. N. K. Rao and A. J. Scott, JASA 76, 1981), in
  which groups of the same primary units vary together, and compared with F, of as many degrees of freedom in the
  denominator as in the numerator times those of the design (D. R. Thomas and J. N. K. Rao, JASA 82, 1987).
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from rr_core._validate import Array
from rr_core.protocols.unary import UnaryEncoding, inv_p_unary
from rr_core.reports.protocol_fit import LEAST_EXPECTED, drawn
from rr_core.streams import Stream, generator

MOST_CELLS = 20_000  # entries of a table, above which only chi-squared is asked
# (g, m) weighted shares of the reports and their variances, (m,) that of their mean over people, and degrees of freedom.
Weighted = tuple[Array, Array, Array, int]


def alike(counts: NDArray[np.int64], weighted: Weighted | None) -> tuple[float, int]:
    """The p-value that all groups have one law of reports, and of how many simulated tables it is the share.

    Args:
        counts: (g, m) people by report.
        weighted: with weights, else None.

    >>> alike(np.array([[360, 640], [500, 500]]), None)[0] < 1e-8
    True
    """
    seen = counts[:, counts.sum(axis=0) > 0]
    g, m = seen.shape
    if m < 2:
        return 1.0, 0
    n, df = seen.sum(axis=1), (g - 1) * (m - 1)
    if weighted is not None:
        some = counts.sum(axis=0) > 0
        return _of_weighted(n, weighted, some, (n @ weighted[0] / n.sum())[some], df), 0
    expected = np.outer(n, seen.sum(axis=0)) / n.sum()
    statistic = float(((seen - expected) ** 2 / expected).sum())
    if expected.min() >= LEAST_EXPECTED or seen.size > MOST_CELLS:
        return float(special.chdtrc(df, statistic)), 0
    tables = scipy.stats.random_table(n, seen.sum(axis=0), seed=generator(0, Stream.FIT, 1))
    return drawn(
        statistic, seen.size, lambda many: ((tables.rvs(many) - expected) ** 2 / expected).sum(axis=(-1, -2))
    )


def alike_bits(
    ones: NDArray[np.int64], n: NDArray[np.int64], protocol: UnaryEncoding, weighted: Weighted | None
) -> tuple[float, int]:
    """The same of unary encoding.

    Args:
        ones: (g, k) ones of each category.
        n: (g,) people.
        protocol: the encoding.
        weighted: of the ones, with weights, else None.

    >>> alike_bits(np.array([[700, 300], [300, 700]]), np.array([1000, 1000]), UnaryEncoding(2, 1.0), None)[0] < 1e-12
    True
    """
    g, k = ones.shape
    theta = inv_p_unary(ones.sum(axis=0), protocol, int(n.sum()))
    shares = protocol.q + protocol.keep * theta
    together = protocol.keep**2 * theta**2 / (shares * (1 - shares))
    scale = 1 + float(together.sum() ** 2 - (together**2).sum()) / k
    df = (g - 1) * k
    if weighted is not None:
        overall = n @ weighted[0] / n.sum()
        some = (overall > 0) & (overall < 1)
        return _of_weighted(n, weighted, some, (overall * (1 - overall))[some], df, scale), 0
    statistic = float(_between(ones, n))
    if n.min() * min(shares.min(), 1 - shares.max()) >= LEAST_EXPECTED or ones.size > MOST_CELLS:
        return float(special.chdtrc(df / scale, statistic / scale)), 0
    dice = generator(0, Stream.FIT, 1)

    def draw(many: int) -> Array:
        return _between(protocol.randomize_support(dice.multinomial(n, theta, (many, g)), dice), n)

    return drawn(statistic, ones.size, draw)


def _between(ones: NDArray[np.int64], n: NDArray[np.int64]) -> Array:
    """Pearson's statistic of ones (..., g, k) of n (g,) people, and their zeros, summed over categories."""
    people = n[:, None]
    overall = ones.sum(axis=-2, keepdims=True) / n.sum()
    variance = overall * (1 - overall)
    apart = (ones - people * overall) ** 2 / (people * np.where(variance > 0, variance, 1.0))
    return np.asarray(apart.sum(axis=(-1, -2)))


def _of_weighted(
    n: NDArray[np.int64],
    weighted: Weighted,
    some: NDArray[np.bool_],
    divisor: Array,
    df: int,
    scale: float = 1.0,
) -> float:
    """The p-value, by the law of F, of a statistic of ``some`` weighted shares over its mean under the design."""
    shares, variances, of_mean = (part[..., some] for part in weighted[:3])
    overall = n @ shares / n.sum()
    statistic = float((n[:, None] * (shares - overall) ** 2 / divisor).sum())
    mean = float(((n @ variances - n.sum() * of_mean) / divisor).sum())
    free = df / scale
    return float(special.fdtrc(free, free * weighted[3], statistic / mean)) if mean > 0 else 1.0
