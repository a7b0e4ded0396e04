"""Words in figures and sentences: names of errors and of cells, counts with their noun, ratios of errors, true minus
signs, and names of categories made safe and short, because they may come from a stranger's file."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rr_core.data import read_toml
from rr_core.experiments.grid import POINT, Cell
from rr_core.metrics import total_variation
from rr_core.plain_text import plain
from rr_core.populations import SHAPES, TABLES
from rr_core.rounding import number, percent, round_up

_ALIKE = 1.005  # a ratio below it is no difference worth a number
_PLACES = 14  # of distances, which are the same up to rounding
_ROUNDING = 1e-12  # of a certificate, which is a difference from 1
_SAME = 1e-12  # of a ratio: a difference by rounding alone

SYMBOLS = {"epsilon": "ε", "n": "N", "k": "K", "s": "s"}


class MetricNames(NamedTuple):
    """Names of an error: on a button of a multiple and of a single choice, with its unit on an axis, within a sentence,
    of its mean within a sentence, and on a button for a single cell of a sweep."""

    abbreviation: str
    button: str
    title: str
    in_text: str
    mean_in_text: str
    of_cell: str


METRIC_NAMES = {key: MetricNames(**told) for key, told in read_toml("metrics.toml").items()}
# Formulas and arguments that pages fold away, as markdown.
FOLDED: dict[str, str] = read_toml("folded.toml")


def capital(text: str) -> str:
    """The text with a capital at its head."""
    return text[:1].upper() + text[1:]


def people(number: str) -> str:
    """1 person, 5.5 people."""
    return f"{number} person" if number == "1" else f"{number} people"


def listed(names: Iterable[str]) -> str:
    """One, two and three."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


_ALIGNED = {"l": ":--", "c": ":-:", "r": "--:"}


def table(heads: Sequence[str], aligned: str, rows: Iterable[Sequence[str]]) -> str:
    """A markdown table; of each column a letter says whether it is aligned left, in the centre or right.

    >>> print(table(("Name", "Error"), "lr", [("Inv", "0.1")]))
    | Name | Error |
    |:--|--:|
    | Inv | 0.1 |
    """
    first, *others = (f"| {' | '.join(line)} |" for line in (heads, *rows))
    return "\n".join([first, f"|{'|'.join(_ALIGNED[one] for one in aligned)}|", *others])


def times(ratio: float, digits: int = 3) -> str:
    """A ratio of at least 1 as text, "2.34 times"; near 1 with three digits."""
    if math.isinf(ratio):
        return "infinitely many times"  # the smaller one is zero
    rounded = float(f"{ratio:.{digits}g}") if ratio < 1000 or digits < 3 else round(ratio)
    return f"{ratio:.3g} times" if rounded < 1.1 else f"{rounded:,.12g} times"


def certificate(gap: float) -> str:
    """A bound of what the log-likelihood per report falls short of its maximum, as text, rounded up: the part of the
    likelihood that is missing is 1 - exp(-gap), which is no larger."""
    if gap < _ROUNDING:
        return "zero up to rounding"
    return f"{number(round_up(gap, 2), 2)}, and no larger part of a report's likelihood is missing"


def off_by(estimate: ArrayLike, truth: ArrayLike) -> str:
    """Total variation between two distributions as text; what is rounding is zero."""
    return percent(round(float(total_variation(estimate, truth)), _PLACES))


def roughly(ratio: float) -> str:
    """A ratio of two simulated means as text, as `times` with one or two digits: more would be noise."""
    return times(ratio, 1 if ratio >= 20 and f"{ratio:.0e}"[0] != "1" else 2)


def roughly_times(ratio: float) -> str:
    """`roughly`, preceded by "about"."""
    return roughly(ratio) if math.isinf(ratio) else f"about {roughly(ratio)}"


def as_small(ratio: float) -> bool:
    """Whether two squared errors, of which this is the ratio, at least 1, differ by rounding alone."""
    return ratio < 1 + _SAME


def relative_users(ratio: float) -> str:
    """Users that a protocol needs for the error of the best, relative to that one's, as text."""
    factor = number(ratio, 4)
    return "the same" if as_small(ratio) else "hardly more" if factor == "1" else f"{factor} times"


def practically_equal(ratio: float) -> bool:
    """Whether a ratio of two errors, at least 1, is below _ALIKE."""
    return ratio < _ALIKE


def duration(seconds: float) -> str:
    """A time as text in the unit that suits it: 0.0042 -> 4.2 ms."""
    for unit, name in ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{number(seconds / unit)} {name}"
    return f"{number(seconds * 1e6)} µs"


def minus(text: str) -> str:
    """A formatted number with a true minus sign, and none before a zero."""
    unsigned = text.lstrip("+-")
    return text.replace("-", "−") if float(unsigned) else unsigned


def display(label: str, max_length: int = 40) -> str:
    """A label for Plotly text: `plain`, with ``& < >`` escaped, as Plotly reads a small HTML, links included. The
    length is counted before: an entity is one character to the reader."""
    return html.escape(plain(label, max_length), quote=False)


def plain_names(labels: Sequence[str] | None, categories: NDArray[np.intp], longest: int = 40) -> list[str]:
    """Names of these categories, shortened and cleaned but not escaped: labels, or numbers counted from 1."""
    if labels is None:
        return [str(i + 1) for i in categories]
    return [plain(labels[i], longest) for i in categories]


def names(labels: Sequence[str] | None, categories: NDArray[np.intp], longest: int = 40) -> list[str]:
    """Names of these categories, escaped for a chart."""
    return [html.escape(name, quote=False) for name in plain_names(labels, categories, longest)]


def population_name(cell: Cell) -> str:
    """In words that may stand within a sentence; equal names mean equal populations, but for uploaded ones."""
    if cell.dist == "zipf":
        return f"Zipf s = {cell.s:.12g}"
    if cell.dist == POINT:
        return "point mass (everybody in one category)"
    if cell.dist in TABLES:
        return TABLES[cell.dist].name
    return "your histogram" if cell.uploaded else SHAPES[cell.dist].name.lower()


def cell_name(cell: Cell) -> str:
    """A cell in words: its population, K, epsilon and N."""
    return f"{population_name(cell)}, K = {cell.k:,}, ε = {cell.epsilon:g}, N = {cell.n:,}"
