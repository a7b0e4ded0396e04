"""Counts and probabilities from text or from Arrow numbers.

What a number may look like: 5, +5, 1e3 (= 1000), 0.25, .25, a typographic minus, 312 (31.2%) or 31.2% (312), and 12% if
every value has the sign. Spaces and apostrophes may group digits (1 234). A comma is a thousands separator when every
number with a comma is grouped in threes and starts with no zero (1,234), else a decimal comma (0,25), in
which case points group digits (1.234,5). Points group digits also without a comma, when they do so in every
number (4.425 and 850): what is a count then could only be read otherwise as one with three decimals. The
rules look at the whole column and are reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.columns import Table
from rr_core.io.decoding import UnreadableFile, quote
from rr_core.io.parquet import is_number, to_text
from rr_core.typed import shorten

MAX_COUNT = 2**53
"""The largest count, and total: every integer up to here is exact as a double."""

_INTEGER = r"^[+-]?[0-9]{1,18}$"
DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_SPACED = r"^[+-]?[0-9]{1,3}([ '\x{a0}\x{2019}\x{202f}][0-9]{3})+([.,][0-9]+)?$"
_WITH_COMMA = r"^[+-]?[0-9.]*,[0-9,]*(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?$"
_DECIMAL_COMMA = r"^[+-]?([0-9]*|[0-9]{1,3}(\.[0-9]{3})+),[0-9]+([eE][+-]?[0-9]+)?$"
_POINT_GROUPS = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]+)?$"
_POINTS = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+$"
_SHORT = r"^([+-]?[0-9]{1,3})?$"
_WITH_SHARE = r"^([^()]*[0-9])\s*\([0-9.,\s]+%\)\s*$"  # 312 (31.2%)
_BEHIND_SHARE = r"^\s*[0-9][0-9.,\s]*%\s*\(([0-9][^()%]*)\)\s*$"  # 31.2% (312)
_DIGITS = {
    zero + i: f"{i}" for zero in (0x660, 0x6F0, 0xFF10) for i in range(10)
}  # Arabic, Persian, of full width
_OTHER_DIGITS = f"[{''.join(map(chr, _DIGITS))}]"
_SLICE = 1 << 16  # numbers made objects of Python's at a time
_NOT_FINITE = r"(?i)^[+-]?(nan|inf(inity)?)$"


@dataclass(frozen=True)
class Numbers:
    """Distinct numbers, NaN for text that is no number, and the assumptions made in reading them."""

    values: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    notes: tuple[str, ...] = ()
    percent: bool = False


def parse(distinct: Any, *, shares: bool = False) -> Numbers:
    """The numbers in an Arrow array of distinct text or numbers; NaN where there is none.

    In a column of ``shares``, points are decimal points.
    """
    if pa.types.is_signed_integer(distinct.type) and distinct.null_count == 0:
        return Numbers(pc.cast(distinct, pa.int64()).to_numpy(zero_copy_only=False))
    if is_number(distinct.type):
        doubles = pc.fill_null(pc.cast(distinct, pa.float64(), safe=False), np.nan)
        return Numbers(doubles.to_numpy(zero_copy_only=False))
    text = to_text(distinct)
    if pc.any(pc.match_substring_regex(text, _OTHER_DIGITS)).as_py():
        text = pa.array([one and one.translate(_DIGITS) for one in text.to_pylist()], text.type)
    text = pc.replace_substring_regex(text, _WITH_SHARE, r"\1")
    text = pc.replace_substring_regex(text, _BEHIND_SHARE, r"\1")
    text = pc.utf8_trim_whitespace(pc.replace_substring(text, "\u2212", "-"))
    # A plus sign is the only thing Arrow's integers do not take.
    if pc.all(pc.match_substring_regex(text, _INTEGER)).as_py():
        return Numbers(pc.cast(pc.utf8_ltrim(text, "+"), pa.int64()).to_numpy(zero_copy_only=False))
    notes: list[str] = []
    signed = pc.ends_with(text, "%")
    # Every number has one.
    percent = bool(pc.any(signed).as_py() and pc.all(pc.or_(signed, pc.equal(text, ""))).as_py())
    if percent:
        text = pc.utf8_rtrim(text, "% \u00a0\u202f")
    spaced = pc.match_substring_regex(text, _SPACED)
    if pc.any(spaced).as_py():
        text = pc.if_else(spaced, pc.replace_substring_regex(text, r"[ '\x{a0}\x{2019}\x{202f}]", ""), text)
    text = _without_commas(text, notes)
    if not (shares or percent or notes):
        text = _without_points(text, notes)
    numeric = pc.or_(pc.match_substring_regex(text, DECIMAL), pc.match_substring_regex(text, _NOT_FINITE))
    cells = pc.if_else(numeric, text, "nan")
    values = np.empty(len(cells), dtype=np.float64)
    for start in range(0, len(cells), _SLICE):
        values[start : start + _SLICE] = list(map(float, cells.slice(start, _SLICE).to_pylist()))
    return Numbers(values, tuple(notes), percent)


def check(
    table: Table,
    distinct: Any,
    values: npt.NDArray[Any],
    codes: npt.NDArray[Any],
    kept: npt.NDArray[np.bool_],
    *,
    people: bool = False,
) -> None:
    """Refuse the first row whose number is not a count or a probability; for `people`, not a whole number. `codes`
    gives for each row the position of its number among the distinct ones; rows that are not `kept` are ignored."""
    good = (values >= 0) & (values <= MAX_COUNT)
    if people:
        good &= values == np.rint(values)
    if good.all():
        return
    offending = np.flatnonzero(~good[codes] & kept)
    if not offending.size:
        return
    first = int(offending[0])
    value = values[codes[first]]
    text = to_text(distinct.slice(int(codes[first]), 1))[0].as_py().strip()
    if (
        not text
        and np.isnan(value)
        and pa.types.is_floating(distinct.type)
        and distinct[int(codes[first])].is_valid
    ):
        text = "NaN"
    where = f"{table.unit.capitalize()} {table.place(first):,}"
    raise UnreadableFile(_complaint(where, table.unit, text, float(value), people))


def _complaint(where: str, unit: str, text: str, value: float, people: bool) -> str:
    """What is wrong with the number at a place, and how to mend it."""
    if not text:
        return f"{where} has no count. Write a number there (0 if nobody is in the category) or delete the {unit}."
    if pc.match_substring_regex(pa.scalar(text), _NOT_FINITE).as_py() or np.isinf(value):
        problem = f"not a finite number. Replace it by a number, 0 or more, or delete the {unit}"
    elif np.isnan(value):
        problem = f"not a number. Write it with digits only, such as 1234{'' if people else ' or 0.25'}"
    elif value < 0:
        problem = f"negative. {'Counts' if people else 'Counts and probabilities'} must be 0 or more"
    elif people and value != round(value):
        problem = "not a whole number. Reports are counted people: upload counts, not shares"
    else:
        problem = f"too large. Counts may go up to {MAX_COUNT:,}"
    return f"{where}: the count {quote(text)} is {problem}."


def as_integers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The values as int64 where all are whole numbers of at most MAX_COUNT, else unchanged."""
    if (
        values.dtype.kind != "f"
        or not np.all(np.abs(values) <= MAX_COUNT)
        or np.any(values != np.rint(values))
    ):
        return values
    return values.astype(np.int64)


def _without_commas(text: Any, notes: list[str]) -> Any:
    """Commas resolved, see the module's docstring."""
    commas = pc.match_substring_regex(text, _WITH_COMMA)
    if not pc.any(commas).as_py():
        return text
    numbers = pc.filter(text, commas)
    if pc.all(pc.match_substring_regex(numbers, _THOUSANDS)).as_py():
        read = pc.if_else(commas, pc.replace_substring(text, ",", ""), text)
        _note("Commas", "thousands separators", text, read, notes)
        return read
    read = text
    grouped = pc.match_substring_regex(read, _POINT_GROUPS)
    if pc.any(pc.and_(grouped, commas)).as_py():
        read = pc.if_else(grouped, pc.replace_substring(read, ".", ""), read)
    decimal = pc.match_substring_regex(read, _DECIMAL_COMMA)
    read = pc.if_else(decimal, pc.replace_substring(read, ",", "."), read)
    _note("Commas", "decimal commas", pc.filter(text, decimal), pc.filter(read, decimal), notes)
    return read


def _without_points(text: Any, notes: list[str]) -> Any:
    """Points resolved where they group digits in every number that is longer than three."""
    grouped = pc.match_substring_regex(text, _POINTS)
    if not pc.any(grouped).as_py():
        return text
    if not pc.all(pc.or_(grouped, pc.match_substring_regex(text, _SHORT))).as_py():
        return text
    read = pc.if_else(grouped, pc.replace_substring(text, ".", ""), text)
    _note("Points", "thousands separators", text, read, notes)
    return read


def _note(marks: str, kind: str, text: Any, read: Any, notes: list[str]) -> None:
    """Tell what marks were read as, by the first number that has one."""
    first = pc.index(pc.not_equal(text, read), True).as_py()
    if first >= 0:
        written, now = (shorten(one[first].as_py()) for one in (text, read))
        notes.append(f"{marks} in the counts were read as {kind}: {written} is {now}.")
