"""Numbers as a person types them."""

from __future__ import annotations

import math
import re

_MOST_QUOTED = 24  # characters
_SEPARATORS = re.compile(r"[\s,;/|]+")
_LOGARITHM = re.compile(r"(?:ln|log)\s*(?:\(\s*)?([^()\s]+)\s*\)?", re.IGNORECASE)
LONGEST = 200  # characters of a number


def words(text: str) -> list[str]:
    """The parts of a text between commas, spaces, semicolons, slashes or bars, without percent signs."""
    return [word for word in _SEPARATORS.split(text.replace("%", " ")) if word]


def shorten(text: str) -> str:
    """The beginning of the text, short enough to be quoted in a sentence, in one line."""
    short = text if len(text) <= _MOST_QUOTED else text[: _MOST_QUOTED - 1] + "…"
    return " ".join(short.splitlines())


def number(text: str, like: str = "1.5 or ln 3") -> float:
    """A positive number as a person writes it: 1.5, 1,5 (a decimal comma), 3/4, ln 3, log(3).

    Args:
        text: what was typed.
        like: examples of valid input, for the error message.

    Raises:
        ValueError: one plain sentence, when it is none of these.
    """
    try:
        if len(text) > LONGEST:
            raise ValueError
        logarithm = _LOGARITHM.fullmatch(text.strip())
        value = math.log(_plain(logarithm[1])) if logarithm else _plain(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"“{shorten(text.strip())}” is not a number above 0: write it like {like}")
    return value


def chance(text: str) -> float:
    """A probability above 0 as a person writes it: as `number`, or in percent.

    Raises:
        ValueError: one plain sentence, when it is none of these.

    >>> chance("12,5 %")
    0.125
    """
    percent = text.strip().endswith("%")
    value = number(text.strip().rstrip("% \u00a0\u202f") if percent else text, "0.25 or 25%")
    return value / 100 if percent else value


def _plain(text: str) -> float:
    above, slash, below = text.replace(",", ".").replace("_", "x").partition("/")
    return float(above) / float(below) if slash else float(above)
