"""Numbers read back from sentences on screen, and plain computations to hold them against."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rr_core import Scenario
from rr_core.populations import SHAPES

_NUMBER = re.compile(r"−?\d[\d,]*(?:\.\d+)?(?:·10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?")
# One of several, what is no number, a computer's way to write one, and a ratio that says nothing.
FALSE_FORMS = re.compile(
    r"(?<![\d,.])1 (?:people|users|reports|categories|collections|cells|settings|iterations|steps|points)\b"
    r"|\b(?:nan|inf)\b|\d[eE][+-]?\d|(?<![\w.])-\d|(?<![\d,.])1 times\b"
)
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def value(text: str) -> float:
    """The number that a text such as −1.2·10⁻¹⁶ or 2,000 stands for."""
    mantissa, _, tens = text.replace(",", "").replace("−", "-").partition("·10")
    return float(mantissa) * 10.0 ** int(tens.translate(_LOWERED) or 0)


def numbers(text: str) -> list[float]:
    return [value(found.rstrip(",")) for found in _NUMBER.findall(text)]


def percents(text: str) -> list[float]:
    """The shares that a text gives as percentages, as numbers from 0 to 1."""
    return [value(found) / 100 for found in re.findall(_NUMBER.pattern + "(?=%)", text)]


def tells(text: str, *expected: Any) -> None:
    """Assert that the numbers in a text are these, in this order, and no others.

    A number counts as told where it is the true one rounded to the digits that are shown; a percentage is held against
    the share. Of two or more significant digits none may be lost, and only zero is told as 0.

    Args:
        text: what is on screen.
        expected: for each number in the text what it should be: an integer, told to the last digit; any other number;
            `Up` or `Down` of it, where it may be rounded to that side alone; a function that says whether the number
            told is right; None for one that is a name.
    """
    assert not FALSE_FORMS.search(text), text
    found = re.findall(rf"({_NUMBER.pattern})(%?)", text)
    told = [(shown.rstrip(","), 100 if percent else 1) for shown, percent in found]
    assert len(told) == len(expected), f"{len(told)} numbers, {len(expected)} expected: {text}"
    for (shown, of), true in zip(told, expected, strict=True):
        if true is not None:
            number = value(shown)
            if callable(true):
                right = true(number / of)
            elif isinstance(true, int | np.integer):
                right = number == true * of
            else:
                right = _is_rounded(shown, number, true, of)
            assert right, f"{shown}{'%' * (of == 100)} for {true}: {text}"


class Up(float):
    """A number that may only be rounded up."""


class Down(float):
    """A number that may only be rounded down."""


def _is_rounded(shown: str, number: float, true: float, of: int) -> bool:
    mantissa, _, tens = shown.partition("·10")
    unit = 10.0 ** (int(tens.translate(_LOWERED) or 0) - len(mantissa.partition(".")[2]))
    digits = mantissa.replace(",", "").strip("−")
    if "." not in digits and not tens:  # 12,000 for 12,345 has two digits
        unit = 10.0 ** (len(digits) - max(len(digits.rstrip("0")), 1 if len(digits) == 1 else 2))
    off = number - float(true) * of
    slack = 1e-9 * max(abs(float(true) * of), 1e-6)
    if number == 0:
        return abs(float(true) * of) < 1e-9
    low, high = (
        (0.0, unit)
        if isinstance(true, Up)
        else (-unit, 0.0)
        if isinstance(true, Down)
        else (-unit / 2, unit / 2)
    )
    return low - slack <= off <= high + slack


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


def near(true: float, slack: float) -> Callable[[float], bool]:
    """Whether a number told is the true one in three digits; below ``slack`` it may be rounding."""
    return lambda told: reads(told, true) or abs(told - true) < slack


def corners() -> Iterator[Scenario]:
    """Every combination of the ends and middles of K, epsilon and N, each with one of three populations, so that every
    two of the four meet."""
    populations = itertools.cycle((("zipf", 5.0), ("zipf", 1.5), ("uniform", 0.0)))
    for k, epsilon, n in itertools.product((2, 3, 12, 1000), (0.01, 1.0, 10.0, 20.0), (1, 10, 2000, 10**9)):
        dist, s = next(populations)
        yield Scenario(dist, k, s, epsilon, n, 3)


def random_scenarios(many: int, most: int = 300) -> Iterator[Scenario]:
    """Scenarios with up to ``most`` categories, spread evenly over the logarithms of the controls."""
    rng, dists = np.random.default_rng(20), tuple(SHAPES)
    for i in range(many):
        k = int(np.exp(rng.uniform(np.log(2), np.log(most + 0.99))))
        epsilon, n = float(np.exp(rng.uniform(np.log(0.01), np.log(20)))), int(10 ** rng.uniform(0, 9))
        yield Scenario(dists[i % len(dists)], k, float(rng.uniform(0, 5)), epsilon, n, i)


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
