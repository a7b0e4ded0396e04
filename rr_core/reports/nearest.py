"""Which estimate of one set of k-RR's reports is nearest to the truth, without any simulation or guess of the truth.

Two estimates e and f of the same reports are known, and so is how their squared errors differ but for one term:

    ||e - theta||^2 - ||f - theta||^2 = (e - f) . (e + f - 2 Inv) + 2 (e - f) . (Inv - theta).

Inv - theta has mean zero but is not independent of e - f. By Stein's identity the mean of their product is the trace of
J V, with J the derivative of e - f along Inv and V the covariance of Inv; putting that in its place gives an estimate of
the difference, and the mean square of its error is 4 (g' V g + tr(J V J V)), g = e - f.

C. Stein, Annals of Statistics 9, 1981; P. Bellec and C.-H. Zhang, Annals of Statistics 49, 2021 (its mean square).
Both are exact for normal noise. Reports are whole numbers: at the edge of the support the derivative is taken as the
difference that one report less makes, which is Stein's identity for a Poisson number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rr_core._validate import Array
from rr_core.estimators import Rule
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users, check_users, variance_at
from rr_core.profile import profile, table_size
from rr_core.registry import RULES, VALID
from rr_core.reports.intervals import Counts, checked_counts

COMPARED = ("inv", *VALID)  # those of which the derivative along Inv is worked out below
SAME_WITHIN = 1e-12  # estimates that differ by no more in any category are one and the same, but for rounding
# Expected reports of a category that nobody has, below which the estimates are not compared.
LEAST_NOISE = 1.0
# Expected squared error of Inv from which on they are not compared: no two distributions are farther apart.
LARGEST_ERROR = 2.0
STANDARD_ERRORS = 4  # standard errors that a difference must exceed to count as one,
NOISE_FRACTION = 0.2  # and the part of the expected squared error of Inv


@dataclass(frozen=True)
class Nearest:
    """Inv, InvN, InvP and MLE* of one set of reports, by their squared error summed over categories.

    Where fewer than one report is expected of a category that nobody has (N q < 1), or where Inv is expected to be
    farther off than any two distributions are apart, Stein's identity is no guide: the standard errors are infinite, and
    all are tied.

    Attributes:
        best: the distribution (InvN, InvP or MLE*) with the smallest estimated error.
        same: the estimators, of COMPARED, whose estimates are the same as that one's, itself included.
        tied: the distributions whose error cannot be distinguished from that one's, itself and ``same`` ones
            included: the difference is within ``STANDARD_ERRORS`` standard errors, or within
            ``NOISE_FRACTION`` of the error of Inv, or larger than any truth could make it.
        differences: by estimator of COMPARED, its squared error less that of ``best``, estimated.
        standard_errors: by estimator of COMPARED, the root mean square of what ``differences`` are off by.
    """

    best: str
    same: tuple[str, ...]
    tied: tuple[str, ...]
    differences: dict[str, float]
    standard_errors: dict[str, float]

    @property
    def comparable(self) -> bool:
        """Whether anything is known of how far the estimates are from the truth."""
        return all(map(math.isfinite, self.standard_errors.values()))

    @property
    def preferred(self) -> str:
        """The best one; of several that cannot be distinguished from it InvP, else MLE*."""
        return next((name for name in ("inv_p", "mle_star") if name in self.tied), self.best)


def nearest(counts: ArrayLike, mechanism: RandomizedResponse, users: Users = "fixed") -> Nearest:
    """Compare the squared errors of Inv, InvN, InvP and MLE* of these reports. O(k).

    Simulated in 360 settings (k from 3 to 300, N q from 1 to 600, 60 to 120 collections each), an order was stated in
    2,571 collections, and it was the actual one in all of them. By three standard errors alone it was not in 9 of 1,847.
    The standard errors are estimates too, and can be too small where few reports are noise: at k = 3, epsilon = 5.4 and
    N = 332 the actual difference was beyond three of them in 17% of collections.

    Args:
        counts: (k,) reports per category, whole numbers with a total of at least 1.
        mechanism: the randomized response that produced them.
        users: whether the truth is the shares of these users ("fixed") or of their population ("sampled").

    Raises:
        ValueError: naming the argument.

    >>> found = nearest([520, 310, 170], RandomizedResponse(3, 1.0))
    >>> found.preferred, found.tied
    ('inv_p', ('inv_n', 'inv_p', 'mle_star'))
    """
    checked = checked_counts(counts, mechanism.k)
    estimates = _EstimatesByCount.of(checked[None], mechanism, users)
    beyond_inv = {name: estimates.difference(name, "inv")[0] for name in VALID}
    best = min(VALID, key=beyond_inv.__getitem__)
    differences, errors = {}, {}
    blind = float(checked.sum()) * mechanism.q < LEAST_NOISE or estimates.noise >= LARGEST_ERROR
    for name in COMPARED:
        differences[name], error = estimates.difference(name, best)
        errors[name] = math.inf if blind and not estimates.same(name, best) else error
    same = tuple(name for name in COMPARED if estimates.same(name, best))
    # A difference that no truth could make comes from the noise.
    farther = [
        name
        for name in VALID
        if max(STANDARD_ERRORS * errors[name], NOISE_FRACTION * estimates.noise)
        < differences[name]
        <= estimates.largest_difference(name, best)
    ]
    tied = tuple(name for name in VALID if name not in farther)
    return Nearest(best, same, tied, differences, errors)


@dataclass(frozen=True, eq=False)
class _EstimatesByCount:
    """The estimates of the distinct counts, and their derivatives along Inv, diag(own) - shift kept'.

    The covariance of Inv is diag(spread) - left right'.
    """

    sizes: Array  # (m,) number of categories with each of the m distinct counts
    estimates: dict[str, Array]  # (m,) each, as the next three
    own: dict[str, Array]
    shift: dict[str, Array]
    kept: dict[str, Array]
    edge: dict[str, float]  # what whole numbers add to the trace of the derivative times the covariance
    spread: Array
    left: Array  # (m, 1 or 2)
    right: Array

    @classmethod
    def of(cls, row: Counts, mechanism: RandomizedResponse, users: Users) -> _EstimatesByCount:
        """From one row of counts."""
        check_users(users)
        table = profile(row, table_size(row))
        counts, sizes, n = table.values[0], table.multiplicities[0], float(table.totals[0])
        q, keep = mechanism.q, mechanism.keep
        scale = 1 / (n * keep) / keep  # of the variance of Inv, relative to that of one report
        seen = counts / n
        rules = {name: RULES[name](table, mechanism) for name in COMPARED}
        estimates = {name: rule.at(counts[None])[0] for name, rule in rules.items()}
        zero, one = np.zeros_like(seen), np.ones_like(seen)
        own, shift, kept, edge = {"inv": one}, {"inv": zero}, {"inv": zero}, {"inv": 0.0}
        for name in VALID:
            rule = rules[name]
            kept[name] = (estimates[name] > 0).astype(float)
            own[name] = float(rule.slope[0]) * n * keep * kept[name]
            share = {
                "inv_n": estimates["inv_n"],
                "inv_p": kept[name] / float(rule.support[0]),
                "mle_star": counts * kept[name] / float(rule.kept_total[0]),
            }
            shift[name] = own[name] * share[name]
            steps = _step(rule, counts) * n * keep - own[name]
            edge[name] = float((sizes * seen * steps).sum()) * (1 - q) * scale
        inv = estimates["inv"]
        if users == "fixed":
            # Two categories have covariance -(q^2 + q (p - q) (theta_i + theta_j)) (before the scale).
            half = scale * q * (q / 2 + keep * inv)
            spread = variance_at(inv, n, mechanism) + 2 * half
            left, right = np.stack([half, one], axis=1), np.stack([one, half], axis=1)
        else:
            spread, left, right = scale * seen, scale * seen[:, None], seen[:, None]
        return cls(sizes, estimates, own, shift, kept, edge, spread, left, right)

    @property
    def noise(self) -> float:
        """Expected squared error of Inv, estimated."""
        return float(self.sizes @ (self.spread - (self.left * self.right).sum(axis=1)))

    def same(self, name: str, other: str) -> bool:
        """Whether two estimates are equal in every category, but for rounding."""
        return float(np.abs(self.estimates[name] - self.estimates[other]).max()) <= SAME_WITHIN

    def largest_difference(self, name: str, other: str) -> float:
        """The largest difference of their squared errors that any distribution could make, were it the truth."""
        one, two = self.estimates[name], self.estimates[other]
        return float((self.sizes * (one - two)) @ (one + two)) - 2 * float((one - two).min())

    def difference(self, name: str, other: str) -> tuple[float, float]:
        """Estimated squared error of one less that of the other, and its standard error."""
        if self.same(name, other):
            return 0.0, 0.0
        one, two, sizes = self.estimates[name], self.estimates[other], self.sizes
        gap = one - two
        # The derivative of the gap, diag(own) - out into', times the covariance: diag(both) + first second'.
        own = self.own[name] - self.own[other]
        out = np.stack([self.shift[name], -self.shift[other]], axis=1)
        into = np.stack([self.kept[name], self.kept[other]], axis=1)
        both = self.spread * own
        weighed = sizes[:, None]
        first = np.concatenate(
            [self.left @ ((self.right * weighed).T @ out) - self.spread[:, None] * out, -self.left], axis=1
        )
        second = np.concatenate([into, own[:, None] * self.right], axis=1)
        inner, diagonal = (second * weighed).T @ first, (first * second).sum(axis=1)
        trace = float(sizes @ (both + diagonal)) + self.edge[name] - self.edge[other]
        squares = float(sizes @ (both**2 + 2 * both * diagonal)) + float((inner * inner.T).sum())
        swing = float(sizes @ (self.spread * gap**2))
        swing -= float(((gap * sizes) @ self.left) @ ((gap * sizes) @ self.right))
        value = float((sizes * gap) @ (one + two - 2 * self.estimates["inv"])) + 2 * trace
        return value, 2 * float(np.sqrt(max(swing + squares, 0.0)))


def _step(rule: Rule, counts: Array) -> Array:
    """How much the estimate of a category with each of these counts falls with one report less."""
    base, slope, cut = float(rule.base[0]), float(rule.slope[0]), float(rule.cut[0])
    here, before = base + slope * (counts - cut), base + slope * (counts - 1 - cut)
    fall: Array = np.where(counts > 0, np.maximum(here, 0.0) - np.maximum(before, 0.0), 0.0)
    return fall
