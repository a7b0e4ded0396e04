"""Numbers rounded to the safe side, to a few digits."""

from __future__ import annotations

import math
from collections.abc import Callable


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


def _rounded(value: float, digits: int, towards: Callable[[float], int], slack: float) -> float:
    """``slack``: rounding in the last digits of a double must not cost a unit."""
    if value == 0 or math.isinf(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return float(f"{towards(value / unit * slack) * unit:.{digits}g}")
