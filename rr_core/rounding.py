"""Numbers as text, and rounded to the safe side, to a few digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rr_core._validate import Array

_SAME = 1e-12  # between two ends: a difference by rounding alone
_ALL_DIGITS = 9  # from this power of ten on a number is told as one
_NEAR_ONE, _THOUSAND, _MILLION = 1.1, 1e3, 1e6
_RAISED = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def number(value: float, digits: int = 3) -> str:
    """A number as text: true minus sign, all digits up to a billion, else powers of ten raised.

    >>> number(-1.2e-16), number(33_112.0), number(4.86e10)
    ('−1.2·10⁻¹⁶', '33,100', '4.86·10¹⁰')
    """
    mantissa, _, exponent = f"{value:,.{digits}g}".replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    if 0 < int(exponent.replace("−", "-")) < _ALL_DIGITS:
        return f"{float(f'{value:.{digits}g}'):,.0f}".replace("-", "−")
    return f"{mantissa}·10{raised(exponent.replace('−0', '−').lstrip('+0'))}"


def raised(exponent: object) -> str:
    """A whole number as an exponent: -12 -> ⁻¹²."""
    return str(exponent).replace("-", "−").translate(_RAISED)


def whole(values: Any) -> Any:
    """The nearest integers as floats, halves rounded up, without negative zero: the rounding of all displayed
    numbers of people."""
    return np.floor(np.asarray(values, dtype=np.float64) + 0.5) + 0.0


def percent(value: float, digits: int = 3) -> str:
    """A share as text with a few significant digits: 0.0123 -> 1.23%. A share close to 1 gets as many digits as
    distinguish it from 100%, up to twelve: 99.9996%, 100.0004%."""
    while value != 1 and number(value * 100, digits) == "100":
        if value < 1 and digits == 12:
            return "over 99.99999999%"
        if digits == 14:
            return "100%"
        digits += 1
    return number(value * 100, digits) + "%"


def counted(number: int, noun: str) -> str:
    """1 cell, 8 cells, 1,000 categories."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


def between(low: float, high: float) -> str:
    """The ends of an interval of shares as text, with enough digits to distinguish them, and to distinguish a lower end
    above 100% from 100%.

    >>> between(0.012, 0.3), between(1.00096, 1.00098)
    ('1.2% to 30%', '100.096% to 100.098%')
    """
    for digits in range(3, 13):
        ends = [percent(end, digits) for end in (low, high)]
        if (ends[0] != ends[1] or high - low < _SAME) and not (low > 1 and ends[0] == "100%"):
            break
    return " to ".join(ends)


def round_up(value: float, digits: int = 3) -> float:
    """To significant digits, upwards, as an upper bound is told; ``value`` is not negative.

    >>> round_up(27.113), round_up(42.25), round_up(0.3)
    (27.2, 42.3, 0.3)
    """
    return _rounded(value, digits, math.ceil, 1 - 1e-12)


def round_down(value: float, digits: int = 3) -> float:
    """To significant digits, downwards, as a lower bound is told; ``value`` is not negative.

    >>> round_down(27.19), round_down(0.3)
    (27.1, 0.3)
    """
    return _rounded(value, digits, math.floor, 1 + 1e-12)


LEAST_TOLD = 0.001  # a smaller p-value is written as "< 0.001"
LEAST_CHANCE = 1e-300  # chances below it are rounded to zero somewhere


def p_value(chance: float) -> str:
    """A p-value in a table, rounded up: no chance is told as 0.

    >>> p_value(0.03419), p_value(0.0501), p_value(0.0)
    ('0.0342', '0.0501', '< 0.001')
    """
    return f"< {LEAST_TOLD:g}" if chance < LEAST_TOLD else f"{round_up(chance):.3g}"


def p_of_file(chances: ArrayLike) -> Array:
    """p-values as a file has them, at full precision, but for those that a double would tell as 0."""
    return np.maximum(chances, LEAST_CHANCE)


def p_is(chance: float) -> str:
    """A p-value in a sentence: "p = 0.0342", "p < 0.001"."""
    text = p_value(chance)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def factor(ratio: float) -> str:
    """A ratio of at least 1 that bounds another from above, as text, rounded up; near 1 the excess has three digits."""
    if ratio < _NEAR_ONE:
        return f"{1 + round_up(ratio - 1):.15g}"
    return upper(ratio)


def upper(value: float) -> str:
    """An upper bound as text, rounded up to three digits, or from a thousand to a million to the next whole number."""
    return f"{math.ceil(value):,}" if _THOUSAND <= value < _MILLION else number(round_up(value))


def odds(epsilon: float) -> str:
    """e^epsilon as text, rounded up: the most by which one report, or several with this ε together, changes odds.

    >>> odds(1), odds(7), odds(700)
    ('2.72', '1,097', '1.02·10³⁰⁴')
    """
    if epsilon < math.log(_NEAR_ONE):
        return factor(1 + math.expm1(epsilon))
    if epsilon < math.log(_MILLION):
        return factor(math.exp(epsilon))
    power = math.floor(epsilon / math.log(10))  # e^epsilon may be beyond the largest double
    mantissa = round_up(math.exp(epsilon - power * math.log(10)))
    return (
        f"{number(mantissa / 10)}·10{raised(power + 1)}"
        if mantissa >= 10
        else f"{number(mantissa)}·10{raised(power)}"
    )


def _rounded(value: float, digits: int, towards: Callable[[float], int], slack: float) -> float:
    """``slack``: rounding in the last digits of a double must not cost a unit."""
    if value == 0 or math.isinf(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{towards(value / unit * slack) * unit:.{digits}g}")
