"""Numbers of a plan as text, rounded to the side on which what is said stays true."""

from __future__ import annotations

import math

from rr_core.figures.style import percent


def round_up(value: float, digits: int) -> float:
    """To significant digits, upwards; ``value`` is not negative."""
    if value == 0 or math.isinf(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    # Rounding in the last digits must not cost a unit.
    up = math.ceil(value / unit * (1 - 1e-12)) * unit
    return float(f"{up:.{digits}g}")


def budget(epsilon: float) -> str:
    """An epsilon to ten digits: ln 3 is not 1.1, where other numbers are true."""
    return f"{epsilon:.10g}"


def at_most(share: float, digits: int = 3) -> str:
    """A share in percent that is not rounded down: an error of 2.004% is "2.01%", not "2%"."""
    return percent(round_up(share, digits), digits)


def at_least(chance: float) -> str:
    """A probability in percent that is not rounded up: never 100% when it is less."""
    return percent(math.floor(chance * 1e4 * (1 + 1e-12)) / 1e4, 4)
