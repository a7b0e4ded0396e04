"""Numbers as text, and rounded to the safe side, to a few digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from rr_core._validate import Array

_RAISED = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def number(value: float, digits: int = 3) -> str:
    """A number as text: true minus sign, powers of ten raised: -1.2e-16 -> −1.2·10⁻¹⁶."""
    mantissa, _, exponent = f"{value:,.{digits}g}".replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    return f"{mantissa}·10{raised(exponent.replace('−0', '−').lstrip('+0'))}"


def raised(exponent: object) -> str:
    """A whole number as an exponent: -12 -> ⁻¹²."""
    return str(exponent).replace("-", "−").translate(_RAISED)


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


LEAST_TOLD = 0.001  # a smaller p-value is told as less than it
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


def _rounded(value: float, digits: int, towards: Callable[[float], int], slack: float) -> float:
    """``slack``: rounding in the last digits of a double must not cost a unit."""
    if value == 0 or math.isinf(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{towards(value / unit * slack) * unit:.{digits}g}")
