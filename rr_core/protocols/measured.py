"""How much maximum likelihood gains over InvP under unary encoding, as measured.

The bits of a report depend on each other through its owner's category; the support, which InvP is made from, does not
have all that they tell. At epsilon = 0.5 the mean squared errors differ by 2% or less. At epsilon = 4 and ten or more
users for each category that of maximum likelihood is smaller, by 13% to 45%. With three users for each category and the
symmetric encoding it is up to 5% larger. The table is a CSV file in `rr_core.data`, made by
``python -m tests.benchmarks.unary_gain``; a test measures a part of it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from rr_core.data import read_csv


@dataclass(frozen=True)
class Gain:
    """One setting: a distribution from the Jeffreys prior, Dirichlet(1/2, ..., 1/2), for each replicate, and n users from
    it, whose own shares are the truth (A. Lopuhaä-Zwakenberg et al., section 5).

    Attributes:
        encoding: "sue" or "oue".
        k, epsilon, n: categories, privacy budget, users.
        replicates: number of simulated collections.
        mse_inv_p, mse_mle: mean squared errors, summed over the categories.
        ratio: mse_mle divided by mse_inv_p; below one, maximum likelihood is better.
        error: Monte-Carlo standard error of ``ratio``.
    """

    encoding: Literal["sue", "oue"]
    k: int
    epsilon: float
    n: int
    replicates: int
    mse_inv_p: float
    mse_mle: float
    ratio: float
    error: float


@cache
def mle_gains() -> tuple[Gain, ...]:
    """All settings: both encodings, k = 10 and 50, epsilon from 0.5 to 4, from 3 to 1,000 users for each category.

    >>> len(mle_gains()), {gain.encoding for gain in mle_gains()} == {"sue", "oue"}
    (100, True)
    """
    return tuple(
        Gain(
            cast("Literal['sue', 'oue']", row["encoding"]),
            int(row["k"]),
            float(row["epsilon"]),
            int(row["n"]),
            int(row["replicates"]),
            *(float(row[name]) for name in ("mse_inv_p", "mse_mle", "ratio", "error")),
        )
        for row in read_csv("unary_gain.csv")
    )
