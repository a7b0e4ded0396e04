"""Query parameters of a link: their names, their values, and the sentence about a value that is not valid.

Settings are a frozen dataclass; each of its fields that a link carries is described by a `Number`, a `Choice`, a
`Several`, a `Text` or a `NumberList`. `read` and `write` turn a query into settings and back.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Settings:
...     delay: int = 5
>>> delay = Number("delay", "wait", "Delay in seconds", 1, 60, True)
>>> settings, notes = read((delay,), {"wait": "90"}, Settings())
>>> settings.delay, notes
(60, ("The link's Delay in seconds is 90, outside the range from 1 to 60; 60 is used instead.",))
>>> write((delay,), settings)
{'wait': '60'}
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from rr_core import _validate, limits, typed

# As Germans write a thousand; a fraction elsewhere.
_IN_THOUSANDS = re.compile(r"\s*\d{1,3}(\.\d{3})+\s*")
Value = TypeVar("Value")
Settings = TypeVar("Settings")


class Parameter(Protocol):
    """A field of settings, as it stands in a link."""

    @property
    def name(self) -> str:
        """Name of the field that holds the value."""

    @property
    def parameter(self) -> str:
        """Name in a link."""

    def parse(self, text: str, default: Any) -> tuple[Any, str]:
        """The value of a text in a link, and "" or, where the default or a limit is used instead, a plain
        sentence."""

    def format(self, value: Any) -> str:
        """The text that stands for a value in a link."""


def read(
    parameters: Iterable[Parameter], query: Mapping[str, str], settings: Settings
) -> tuple[Settings, tuple[str, ...]]:
    """The settings of a link, and one plain sentence for each value that had to be changed.

    Args:
        parameters: those to look for, each the description of a field of the settings.
        query: query parameters of the link; others are left alone.
        settings: values of the fields that the link does not name or names wrongly; a dataclass.
    """
    notes = []
    for one in parameters:
        if one.parameter in query:
            value, note = one.parse(query[one.parameter], getattr(settings, one.name))
            changes: dict[str, Any] = {one.name: value}
            settings = replace(settings, **changes)  # type: ignore[type-var]
            notes += [note] if note else []
    return settings, tuple(notes)


def write(parameters: Iterable[Parameter], settings: object) -> dict[str, str]:
    """The query parameters of a link to settings."""
    return {one.parameter: one.format(getattr(settings, one.name)) for one in parameters}


@dataclass(frozen=True)
class Number:
    """A number in a range.

    Attributes:
        name: of the field that holds the value.
        parameter: its name in a link.
        label: its name on screen.
        low, high: ends of the range, included.
        whole: whether only whole numbers are taken.
    """

    name: str
    parameter: str
    label: str
    low: float
    high: float
    whole: bool

    def checked(self, value: object) -> float:
        """The value, where it is of the right type and in the range.

        Raises:
            ValueError: naming the field, the range and what was received.
        """
        if self.whole:
            return _validate.integer(self.name, value, int(self.low), int(self.high))
        return _validate.within(self.name, value, self.low, self.high)

    def parse(self, text: str, default: float) -> tuple[float, str]:
        try:
            number = float(text.replace("_", "x"))  # Python's 1_000 is not a number to a person
            if math.isnan(number):
                raise ValueError
        except ValueError:
            return default, (
                f"The link's {self.label} is “{typed.shorten(text)}”, which is not a number; "
                f"{self.show(default)} is used instead."
            )
        if not self.low <= number <= self.high:
            near = self.low if number < self.low else self.high
            near = int(near) if self.whole else near
            return near, (
                f"The link's {self.label} is {typed.shorten(text)}, outside the range from {self.show(self.low)} "
                f"to {self.show(self.high)}; {self.show(near)} is used instead."
            )
        if not self.whole:
            return number, ""
        # Through int, so that large whole numbers keep every digit; of thousands of digits Python takes none.
        exact = len(text) <= typed.LONGEST and text.strip().lstrip("+").isdigit()
        rounded = int(text) if exact else round(number)
        note = f"The link's {self.label} is {typed.shorten(text)}, not a whole number; {rounded:,} is used instead."
        return rounded, "" if rounded == number else note

    def entered(self, text: str) -> float:
        """The value of a text that a person typed: 1.5, 1,5 (a decimal comma), 1,000,000 for a whole number, ln 3.

        Raises:
            ValueError: one or two plain sentences, when it is no number or outside the range.

        >>> delay = Number("delay", "wait", "Delay in seconds", 1, 1000, True)
        >>> delay.entered("1,000")
        1000
        """
        if self.whole and _IN_THOUSANDS.fullmatch(text):
            whole = text.replace(".", "")
            raise ValueError(f"“{typed.shorten(text)}” may mean {whole}: write it without a point.")
        try:
            value = float(text.replace(",", "" if self.whole else "."))
        except ValueError:
            try:
                value = typed.number(text)
            except ValueError:
                value = math.nan
        if math.isnan(value) or (self.whole and math.isfinite(value) and value % 1):
            what = "a whole number" if self.whole else "a number"
            raise ValueError(f"“{typed.shorten(text)}” is not {what}. {self.range_in_words}.")
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.range_in_words}; “{typed.shorten(text)}” lies outside.")
        return int(value) if self.whole else value

    @property
    def range_in_words(self) -> str:
        """The beginning of a sentence about the range."""
        return f"{self.label} goes from {self.show(self.low)} to {self.show(self.high)}"

    def format(self, value: float) -> str:
        return str(value) if self.whole else repr(float(value)).removesuffix(".0")

    def show(self, value: float) -> str:
        """The value as text in a sentence."""
        return f"{int(value):,}" if self.whole else f"{value:g}"


@dataclass(frozen=True)
class Choice(Generic[Value]):
    """One of a few values.

    Attributes:
        name, parameter, label: as of `Number`.
        options: values, each with its name on screen.
        sentence: about a text that is none of them. It may use {label}, {text}, {options} and {default} as they stand in
            a link, and {used}, the name of the default.
    """

    name: str
    parameter: str
    label: str
    options: Mapping[Value, str]
    sentence: str = "The link's {label} “{text}” is not known here; “{used}” is used instead."

    def checked(self: Choice[str], value: str) -> str:
        """The value, where it is one of these texts.

        Raises:
            ValueError: naming the field, the options and what was received.
        """
        _validate.one_of(self.name, value, self.options)
        return value

    def parse(self, text: str, default: Value) -> tuple[Value, str]:
        by_text = {self.format(value): value for value in self.options}
        key = text.strip().lower()
        if key in by_text:
            return by_text[key], ""
        return default, self.sentence.format(
            label=self.label,
            text=typed.shorten(text),
            options=", ".join(by_text),
            default=self.format(default),
            used=self.options[default],
        )

    def format(self, value: Value) -> str:
        text = str(int(value)) if isinstance(value, bool) else str(value)
        return text.replace("e-0", "e-") if isinstance(value, float) else text


@dataclass(frozen=True)
class Several:
    """Some of a few values, in the order of the options; at least one.

    Attributes:
        name, parameter, label: as of `Number`; the label is a plural.
        options: the values.
    """

    name: str
    parameter: str
    label: str
    options: tuple[str, ...]

    def parse(self, text: str, default: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        given = [word.strip().lower() for word in text.split(",")]
        if set(given) <= set(self.options):
            return self.chosen(given), ""
        unknown = next(word for word in given if word not in self.options)
        return default, (
            f"The link's {self.label} have “{typed.shorten(unknown)}”, which is not among {', '.join(self.options)}. "
            f"Instead: {', '.join(default)}."
        )

    def chosen(self, values: Container[str]) -> tuple[str, ...]:
        """The options among some values."""
        return tuple(option for option in self.options if option in values)

    def format(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


@dataclass(frozen=True)
class Text:
    """A text as it was typed, which whoever uses it has to understand.

    Attributes:
        name, parameter, label: as of `Number`.
    """

    name: str
    parameter: str
    label: str

    def parse(self, text: str, default: str) -> tuple[str, str]:
        if len(text) <= typed.LONGEST:
            return text.strip(), ""
        return default, f"The link's {self.label} was left out: it is longer than {typed.LONGEST} characters."

    def format(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class NumberList:
    """A list of numbers, kept as it was typed; see `parse_numbers`.

    Attributes:
        name, parameter: as of `Number`.
        number: label and range of the values.
        most: how many there may be.
        empty: what an empty list stands for, in words.
        names: words that may stand among the numbers, in lower case.
    """

    name: str
    parameter: str
    number: Number
    most: int
    empty: str
    names: tuple[str, ...] = ()

    def parse(self, text: str, default: str) -> tuple[str, str]:
        try:
            parse_numbers(text, self.number, self.most, self.names)
        except RefusedSettings as problem:
            return default, f"In the link: {problem} Instead: {default or self.empty}."
        return text, ""

    def format(self, value: str) -> str:
        return value


class RefusedSettings(ValueError):
    """Input that cannot be used. ``str(error)`` is one or two plain sentences that quote the input."""


LIST_HELP = "Write values like 50, 100, 1000; or a range like 1-10, 0-2 +0.5, 100-1000000 x10 or 10^2-10^6."

_NUMBER = r"(?:\d{1,4}\^\d{1,2}|(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,2})?|(?:ln|log)\(?\d+(?:\.\d+)?\)?)"
_ITEM = re.compile(
    rf"(?P<first>{_NUMBER})(?:(?:\.{{2,}}|[…–—-])(?P<last>{_NUMBER})(?:(?P<how>[x×*+])(?P<step>{_NUMBER}))?)?",
    re.ASCII | re.IGNORECASE,
)
# Where blanks belong to an item rather than between two.
_INNER_BLANKS = re.compile(r"\s*(\.{2,}|[…–—x×*+-])\s*(?=[\d.l])|(?<=ln)\s+|(?<=log)\s+", re.IGNORECASE)
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")  # where semicolons stand between the values
_THOUSANDS = re.compile(r"\d+,0\d\d(?!\d)")


def parse_numbers(
    text: str, number: Number, most: int, names: Container[str] = ()
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The values of a list and the names among them, each once, in the order they were typed.

    Args:
        text: "50, 100, 1000"; "1-10" or "1..10" is every whole number between, "0-1 +0.25" goes in steps,
            "100-1000000 x10" in factors, and "10^2..10^6" in powers. Between semicolons a comma is a decimal comma.
        number: label and range of the values.
        most: how many there may be.
        names: words that may stand among the numbers, in lower case.

    Raises:
        RefusedSettings: naming the number, what is allowed and what was typed.
    """
    if len(text) > limits.LIST_LETTERS_MAX:
        raise RefusedSettings(
            f"{number.label}: at most {limits.LIST_LETTERS_MAX} characters are read; write ranges, like 1-10."
        )
    if (large := _THOUSANDS.search(text)) and ";" not in text:
        joined = large[0].replace(",", "")
        raise RefusedSettings(
            f"{number.label}: a comma separates values; write “{typed.shorten(large[0])}” as {typed.shorten(joined)}."
        )
    values: dict[float, None] = {}
    named: dict[str, None] = {}
    for word in _words(text):
        item = _ITEM.fullmatch(word)
        if word.lower() in names:
            named[word.lower()] = None
        elif item is None:
            raise RefusedSettings(f"{number.label}: “{typed.shorten(word)}” cannot be read. {LIST_HELP}")
        else:
            values.update(dict.fromkeys(_values(item, number, most)))
    if len(values) > most:
        raise RefusedSettings(
            f"{number.label}: {len(values):,} values are too many; at most {most:,} are taken."
        )
    return tuple(values), tuple(named)


def _words(text: str) -> list[str]:
    text = _DECIMAL_COMMA.sub(".", text) if ";" in text else text
    text = _RAISED.sub(lambda raised: "^" + raised[0].translate(_LOWERED), text)
    return [word for word in re.split(r"[\s,;]+", _INNER_BLANKS.sub(r"\1", text)) if word]


def _values(item: re.Match[str], number: Number, most: int) -> list[float]:
    """The values of one item."""
    values: list[float] = []
    for value in _range(item, number):
        if len(values) == most:
            raise RefusedSettings(
                f"{number.label}: “{typed.shorten(item[0])}” has more than {most:,} values; take larger steps, "
                "like 100-1000000 x10."
            )
        values.append(_checked(value, number, item[0]))
    return values


def _range(item: re.Match[str], number: Number) -> Iterator[Fraction]:
    value = _number(item["first"])
    last = value if item["last"] is None else _number(item["last"])
    if last < value:
        raise RefusedSettings(
            f"{number.label}: “{typed.shorten(item[0])}” runs downwards; write the smaller end first."
        )
    factor, step = _steps(item)
    if value * factor + step <= value:
        raise RefusedSettings(
            f"{number.label}: the steps of “{typed.shorten(item[0])}” lead nowhere; write them like +0.5 or x10."
        )
    while value <= last:
        yield value
        value = value * factor + step


def _steps(item: re.Match[str]) -> tuple[Fraction, Fraction]:
    """The factor and the summand that lead from one value of a range to the next."""
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
        raise RefusedSettings(f"{error}.") from None


def _checked(value: Fraction, number: Number, item: str) -> float:
    low, high = (Fraction(str(end)) for end in (number.low, number.high))  # 0.01 as it is written
    if not low <= value <= high:
        raise RefusedSettings(f"{number.range_in_words}, and “{typed.shorten(item)}” leads beyond.")
    if number.whole and value.denominator != 1:
        raise RefusedSettings(
            f"{number.label} takes whole numbers, and “{typed.shorten(item)}” is something else."
        )
    return int(value) if number.whole else float(value)
