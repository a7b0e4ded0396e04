"""Numbers read back from sentences on screen, and plain computations to hold them against."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np
from scipy import stats

from rr_core import Scenario

_NUMBER = re.compile(r"−?\d[\d,]*(?:\.\d+)?(?:·10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
DISTS = ("zipf", "uniform", "geometric", "humps", "dominant", "step")


def value(text: str) -> float:
    """The number that a text such as −1.2·10⁻¹⁶ or 2,000 stands for."""
    mantissa, _, tens = text.replace(",", "").replace("−", "-").partition("·10")
    return float(mantissa) * 10.0 ** int(tens.translate(_LOWERED) or 0)


def numbers(text: str) -> list[float]:
    return [value(found.rstrip(",")) for found in _NUMBER.findall(text)]


def percents(text: str) -> list[float]:
    """The shares that a text gives as percentages, as numbers from 0 to 1."""
    return [value(found) / 100 for found in re.findall(_NUMBER.pattern + "(?=%)", text)]


def d3(spec: str, share: float) -> str:
    """What d3 writes of a share with a format of type p (significant digits) or % (decimals), trimmed or not."""
    digits, trim, kind = re.fullmatch(r",?[.](\d+)(~?)([p%])", spec).groups()
    text = f"{share * 100:.{digits}f}" if kind == "%" else f"{share * 100:.{int(digits) - 1}e}"
    if kind == "p":
        decimals = max(int(digits) - 1 - int(text.partition("e")[2]), 0)
        text = f"{float(text):.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if trim and "." in text else text) + "%"


def reads(shown: float, true: float, digits: int = 3) -> bool:
    """Whether ``shown`` is ``true``, rounded to so many significant digits."""
    return abs(shown - true) <= 0.51 * 10 ** (1 - digits) * abs(true) + 1e-14


def corners() -> Iterator[Scenario]:
    """Every combination of the ends and middles of the controls."""
    for k in (2, 3, 12, 1000):
        for epsilon in (0.01, 1.0, 10.0, 20.0):
            for n in (1, 10, 2000, 10**9):
                for dist, s in (("zipf", 5.0), ("zipf", 1.5), ("uniform", 0.0)):
                    yield Scenario(dist, k, s, epsilon, n, 3)


def random_scenarios(many: int, most: int = 300) -> Iterator[Scenario]:
    """Scenarios with up to ``most`` categories, spread evenly over the logarithms of the controls."""
    rng = np.random.default_rng(20)
    for i in range(many):
        k = int(np.exp(rng.uniform(np.log(2), np.log(most + 0.99))))
        epsilon, n = float(np.exp(rng.uniform(np.log(0.01), np.log(20)))), int(10 ** rng.uniform(0, 9))
        yield Scenario(DISTS[i % len(DISTS)], k, float(rng.uniform(0, 5)), epsilon, n, i)


def p_and_q(scenario: Scenario) -> tuple[float, float]:
    total = math.exp(scenario.epsilon) + scenario.k - 1
    return math.exp(scenario.epsilon) / total, 1 / total


def inv(counts, scenario):
    q = p_and_q(scenario)[1]
    return (counts / scenario.n - q) / (math.expm1(scenario.epsilon) * q)


def is_negative(counts, scenario):
    """Fewer reports than N q; equal up to rounding is not fewer."""
    return counts * (math.exp(scenario.epsilon) + scenario.k - 1) < scenario.n * (1 - 1e-13)


def shrinking(counts, scenario, estimate):
    """Drop what the estimate makes negative and estimate again, until nothing is: (estimate, kept)."""
    kept = np.ones(scenario.k, dtype=bool)
    while True:
        values = np.where(kept, estimate(counts.astype(float), kept), 0.0)
        if (values >= 0).all():
            return values, kept
        kept &= values > 0


def mle(counts, scenario):
    odds = math.expm1(scenario.epsilon)

    def stationary(c, kept):
        m, total = kept.sum(), c[kept].sum()
        return c / total + (m * c - total) / (total * odds)

    return shrinking(counts, scenario, stationary)


def projected(counts, scenario):
    keep = math.expm1(scenario.epsilon) * p_and_q(scenario)[1]

    def nearest(c, kept):
        m, total = kept.sum(), c[kept].sum()
        return 1 / m + (m * c - total) / (m * scenario.n * keep)

    return shrinking(counts, scenario, nearest)


def clipped(counts, scenario):
    values = np.where(is_negative(counts, scenario), 0.0, np.maximum(inv(counts, scenario), 0.0))
    return values / values.sum()


def chances_below(kinds, n: int, scenario: Scenario):
    """Pr(Binomial(t, p) + Binomial(n - t, q) < n q) for each t of ``kinds``: summed over the first where that takes
    few terms, else by the normal law; and by how much each may be off."""
    p, q = p_and_q(scenario)
    most = math.ceil(n * q * (1 - 1e-13)) - 1
    mean, variance = kinds * p + (n - kinds) * q, kinds * p * (1 - p) + (n - kinds) * q * (1 - q)
    found = stats.norm.cdf((most + 0.5 - mean) / np.sqrt(variance))
    spread = 12 * np.sqrt(kinds * p * (1 - p)) + 20
    low = np.maximum(0, np.floor(kinds * p - spread)).astype(np.int64)
    high = np.minimum(np.minimum(kinds, most), np.ceil(kinds * p + spread)).astype(np.int64)
    terms = np.maximum(high - low + 1, 0)
    few = np.flatnonzero(terms <= 300)
    t = np.repeat(kinds[few], terms[few])
    own = (
        np.arange(t.size)
        - np.repeat(np.cumsum(terms[few]) - terms[few], terms[few])
        + np.repeat(low[few], terms[few])
    )
    weighed = stats.binom.pmf(own, t, p) * stats.binom.cdf(most - own, n - t, q)
    found[few] = np.bincount(np.repeat(np.arange(few.size), terms[few]), weighed, minlength=few.size)
    slack = 0.1 * found
    slack[few] = 0.005 * found[few]
    return found, slack
