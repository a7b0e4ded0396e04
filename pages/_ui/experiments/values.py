"""Lists of numbers as a person types them: values, ranges and powers. No Streamlit."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from fractions import Fraction

from rr_core import typed
from rr_core.scenario import Number

MOST_LETTERS = 300  # of one field
HOW = "Write values like 50, 100, 1000; or a range like 1-10, 0-2 +0.5, 100-1000000 x10 or 10^2-10^6."

_NUMBER = r"(?:\d{1,4}\^\d{1,2}|(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,2})?|(?:ln|log)\(?\d+(?:\.\d+)?\)?)"
_ITEM = re.compile(
    rf"(?P<first>{_NUMBER})(?:(?:\.{{2,}}|[…–—-])(?P<last>{_NUMBER})(?:(?P<how>[x×*+])(?P<step>{_NUMBER}))?)?",
    re.ASCII | re.IGNORECASE,
)
# Where blanks belong to an item rather than between two.
_INNER = re.compile(r"\s*(\.{2,}|[…–—x×*+-])\s*(?=[\d.l])|(?<=ln)\s+|(?<=log)\s+", re.IGNORECASE)
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")  # where semicolons stand between the values
_THOUSANDS = re.compile(r"\d+,0\d\d(?!\d)")
_SHOWN = 24


class Refused(ValueError):
    """What was typed cannot be used. ``str(error)`` is one or two plain sentences; it quotes what was typed."""


def numbers(
    text: str, field: Number, most: int, names: Container[str] = ()
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The values of a list and the names among them, each once, in the order they were typed.

    Args:
        text: "50, 100, 1000"; "1-10" or "1..10" is every whole number between, "0-1 +0.25" goes in steps,
            "100-1000000 x10" in factors, and "10^2..10^6" in powers. Between semicolons a comma is a decimal comma.
        field: label and range of the values.
        most: how many there may be.
        names: words that may stand among the numbers, in lower case.

    Raises:
        Refused: naming the field, what is allowed and what was typed.
    """
    if len(text) > MOST_LETTERS:
        raise Refused(f"{field.label}: at most {MOST_LETTERS} characters are read; write ranges, like 1-10.")
    if (large := _THOUSANDS.search(text)) and ";" not in text:
        plain = large[0].replace(",", "")
        raise Refused(f"{field.label}: a comma separates values; write “{cut(large[0])}” as {cut(plain)}.")
    found: dict[float, None] = {}
    named: dict[str, None] = {}
    for word in _words(text):
        item = _ITEM.fullmatch(word)
        if word.lower() in names:
            named[word.lower()] = None
        elif item is None:
            raise Refused(f"{field.label}: “{cut(word)}” cannot be read. {HOW}")
        else:
            found.update(dict.fromkeys(_values(item, field, most)))
    if len(found) > most:
        raise Refused(f"{field.label}: {len(found):,} values are too many; at most {most:,} are taken.")
    return tuple(found), tuple(named)


def cut(text: str) -> str:
    """The beginning of what was typed, for a sentence."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _words(text: str) -> list[str]:
    text = _DECIMAL_COMMA.sub(".", text) if ";" in text else text
    text = _RAISED.sub(lambda raised: "^" + raised[0].translate(_LOWERED), text)
    return [word for word in re.split(r"[\s,;]+", _INNER.sub(r"\1", text)) if word]


def _values(item: re.Match[str], field: Number, most: int) -> list[float]:
    """The values of one item."""
    found: list[float] = []
    for value in _run(item, field):
        if len(found) == most:
            raise Refused(
                f"{field.label}: “{cut(item[0])}” has more than {most:,} values; take larger steps, "
                "like 100-1000000 x10."
            )
        found.append(_checked(value, field, item[0]))
    return found


def _run(item: re.Match[str], field: Number) -> Iterator[Fraction]:
    value = _number(item["first"])
    last = value if item["last"] is None else _number(item["last"])
    if last < value:
        raise Refused(f"{field.label}: “{cut(item[0])}” runs downwards; write the smaller end first.")
    factor, step = _steps(item)
    if value * factor + step <= value:
        raise Refused(
            f"{field.label}: the steps of “{cut(item[0])}” lead nowhere; write them like +0.5 or x10."
        )
    while value <= last:
        yield value
        value = value * factor + step


def _steps(item: re.Match[str]) -> tuple[Fraction, Fraction]:
    """By which factor a range goes on, and what is added then."""
    if item["how"]:
        step = _number(item["step"])
        return (Fraction(1), step) if item["how"] == "+" else (step, Fraction(0))
    (base, power, _), (other, also, _) = ((item[end] or "").partition("^") for end in ("first", "last"))
    if power and also and base == other:
        return Fraction(base), Fraction(0)
    return Fraction(1), Fraction(1)


def _number(text: str) -> Fraction:
    """Exact, so that ten steps of 0.1 end at 1."""
    base, power, exponent = text.partition("^")
    if power:
        return Fraction(int(base) ** int(exponent))
    try:
        return Fraction(typed.number(text)) if text[0] in "lL" else Fraction(text)
    except ValueError as error:  # the logarithm of something below 1
        raise Refused(f"{error}.") from None


def _checked(value: Fraction, field: Number, item: str) -> float:
    low, high = (Fraction(str(end)) for end in (field.low, field.high))  # 0.01 as it is written
    if not low <= value <= high:
        raise Refused(
            f"{field.label} goes from {field.show(field.low)} to {field.show(field.high)}, and “{cut(item)}” leads "
            "beyond."
        )
    if field.whole and value.denominator != 1:
        raise Refused(f"{field.label} takes whole numbers, and “{cut(item)}” is something else.")
    return int(value) if field.whole else float(value)
