"""The estimators in exact rational arithmetic, from their definitions.

Written apart from rr_core and by other rules: the maximum likelihood and the projection are found by
checking the Karush-Kuhn-Tucker conditions of each candidate support, not by the rules that rr_core uses.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

# The accuracy that the README promises.
TOLERANCE = 2e-12


@dataclass(frozen=True)
class Channel:
    """k-ary randomized response with exact probabilities."""

    k: int
    p: Fraction
    q: Fraction

    @property
    def keep(self) -> Fraction:
        return self.p - self.q

    @property
    def odds(self) -> Fraction:
        """(p - q)/q = e^eps - 1."""
        return self.keep / self.q

    @property
    def rows(self) -> list[list[Fraction]]:
        """The law of a report, for each category of its user."""
        return [[self.p if i == j else self.q for j in range(self.k)] for i in range(self.k)]


def binomial(n: int, chance: Fraction) -> list[Fraction]:
    """Pr(Binomial(n, chance) = 0..n)."""
    return [math.comb(n, x) * chance**x * (1 - chance) ** (n - x) for x in range(n + 1)]


def histogram_law(people: Sequence[int], rows: Sequence[Sequence]) -> dict[tuple[int, ...], Fraction]:
    """The probability of every histogram of the reports of ``people``, user by user: ``rows[i]`` is the law of the report
    of a user of category i."""
    law: dict[tuple[int, ...], Fraction] = {(0,) * len(rows[0]): Fraction(1)}
    for row, users in zip(rows, people, strict=True):
        for _ in range(users):
            after: dict[tuple[int, ...], Fraction] = {}
            for counts, weight in law.items():
                for i, chance in enumerate(row):
                    if not chance:
                        continue
                    key = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                    after[key] = after.get(key, 0) + weight * chance
            law = after
    return law


def channel_from_p(k: int, p: float | Fraction) -> Channel:
    exact = Fraction(p)
    return Channel(k, exact, (1 - exact) / (k - 1))


def channel_from_epsilon(k: int, epsilon: float) -> Channel:
    """e^epsilon - 1 of the double ``epsilon`` to 120 digits."""
    digits = 120 + max(0, -math.floor(math.log10(epsilon)))
    with decimal.localcontext(decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)):
        power = Fraction(decimal.Decimal(float(epsilon)).exp())
    return Channel(k, power / (power + k - 1), 1 / (power + k - 1))


def frequencies(histogram: Iterable) -> list[Fraction]:
    values = [Fraction(value.item() if isinstance(value, np.generic) else value) for value in histogram]
    total = sum(values)
    return [value / total for value in values]


def inv(histogram: Iterable, channel: Channel) -> list[Fraction]:
    """Eq. (2)."""
    return [(phi - channel.q) / channel.keep for phi in frequencies(histogram)]


def inv_n(histogram: Iterable, channel: Channel) -> list[Fraction]:
    """Section 2.3, item 1: clip at zero, then divide by what is left."""
    clipped = [max(value, Fraction(0)) for value in inv(histogram, channel)]
    total = sum(clipped)
    return [value / total for value in clipped]


def project(point: Sequence[Fraction]) -> list[Fraction]:
    """The distribution nearest to ``point``: max(x - tau, 0), where tau makes it sum to one. The support of
    size m is right when tau lies between the m-th and the next largest entry."""
    order = sorted(point, reverse=True)
    running = Fraction(0)
    for size, value in enumerate(order, start=1):
        running += value
        tau = (running - 1) / size
        if value > tau and (size == len(order) or order[size] <= tau):
            return [max(x - tau, Fraction(0)) for x in point]
    raise AssertionError("no support satisfies the conditions")


def inv_p(histogram: Iterable, channel: Channel) -> list[Fraction]:
    """Section 2.3, item 2."""
    return project(inv(histogram, channel))


def mle(histogram: Iterable, channel: Channel) -> list[Fraction]:
    """The maximum of sum phi_i log(q + (p - q) theta_i) over distributions.

    With the n smallest entries at zero, stationarity gives theta_i = phi_i/lam - q/(p - q) for the others.
    That is the maximum when the kept are >= 0 and the gradient at the dropped is <= lam, that is, when
    lam q/(p - q) lies between the largest dropped and the smallest kept entry of phi.
    """
    phi = frequencies(histogram)
    order = sorted(phi)
    kept = Fraction(1)
    for n, smallest in enumerate(order):
        edge = channel.q * kept / (1 - n * channel.q)  # lam q/(p - q)
        if smallest >= edge and (n == 0 or order[n - 1] <= edge):
            return [max((value / edge - 1) / channel.odds, Fraction(0)) for value in phi]
        kept -= smallest
    raise AssertionError("no support satisfies the conditions")


ESTIMATORS = {"inv": inv, "inv_n": inv_n, "inv_p": inv_p, "mle_star": mle}


def update_factors(histogram: Iterable, theta: Iterable, channel: Channel) -> list[Fraction]:
    """m_i = q sum_j phi_j/(q+(p-q)theta_j) + (p-q) phi_i/(q+(p-q)theta_i), eq. (5)."""
    phi = frequencies(histogram)
    ratio = [
        value / (channel.q + channel.keep * Fraction(share)) for value, share in zip(phi, theta, strict=True)
    ]
    common = channel.q * sum(ratio)
    return [common + channel.keep * value for value in ratio]


def collinear_position(histogram: Iterable, channel: Channel) -> tuple[Fraction | None, Fraction]:
    """Where MLE* projects on the line from InvP (0) to InvN (1), None when those coincide; and the squared
    distance of MLE* from that line. By geometry, not by formula."""
    values = list(histogram)
    start, middle, end = (make(values, channel) for make in (inv_p, mle, inv_n))
    along = [b - a for a, b in zip(start, end, strict=True)]
    offset = [b - a for a, b in zip(start, middle, strict=True)]
    length2 = sum(x * x for x in along)
    if length2 == 0:
        return None, sum(x * x for x in offset)
    position = sum(a * b for a, b in zip(along, offset, strict=True)) / length2
    return position, sum((b - position * a) ** 2 for a, b in zip(along, offset, strict=True))


def terms(name: str, histogram: Iterable, channel: Channel) -> list[Fraction]:
    """Sum of the absolute values of the two terms whose sum each entry is (docstring of
    rr_core.estimators), once integers have been subtracted: the natural scale of an entry's own error."""
    phi = frequencies(histogram)
    value = ESTIMATORS[name](phi, channel)
    kept = [share > 0 or name == "inv" for share in value]
    size = sum(kept)
    total = sum(share for share, keep in zip(phi, kept, strict=True) if keep)
    if name == "inv_p":
        scale = [1 / Fraction(size) + abs(size * x - total) / (size * channel.keep) for x in phi]
    elif name == "mle_star":
        scale = [x / total + abs(size * x - total) / (total * channel.odds) for x in phi]
    else:
        scale = [x + abs(channel.k * x - 1) / channel.odds for x in phi]
        if name == "inv_n":
            positive = sum(max(x, Fraction(0)) for x in inv(phi, channel))
            scale = [x / positive for x in scale]
    return [x if keep else Fraction(1) for x, keep in zip(scale, kept, strict=True)]


def normwise_error(computed: Iterable[float], exact: Sequence[Fraction]) -> float:
    """max |computed - exact| / max |exact|."""
    largest = max(abs(value) for value in exact)
    worst = max(abs(Fraction(float(a)) - b) for a, b in zip(computed, exact, strict=True))
    return float(worst / largest)


def elementwise_error(
    computed: Iterable[float], exact: Sequence[Fraction], scale: Sequence[Fraction]
) -> float:
    """max |computed - exact| / scale, entry by entry."""
    return float(max(abs(Fraction(float(a)) - b) / s for a, b, s in zip(computed, exact, scale, strict=True)))
