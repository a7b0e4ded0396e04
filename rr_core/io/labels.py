"""Category names: distinct, clean, short labels from the cells of a column, and comparisons of similar
labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.numbers import DECIMAL
from rr_core.io.parquet import is_text, to_text

MAX_LABEL_LENGTH = 200
"""Longer names are cut, and numbered where the cut makes two equal."""

# Positions below 2^31, and four bytes instead of eight for each of up to 10^8 rows.
Codes = npt.NDArray[np.int32]

# Arrow's table of distinct values takes up to a hundred bytes for each and up to three copies of their letters: more
# than this is sorted instead.
_MANY, _MUCH = 1 << 19, 1 << 26
_SLICE = 1 << 16

_CONTROLS = r"[\x00-\x1f\x7f-\x{9f}]"
# Padding makes a name longer; beyond this much text, names are sorted letter by letter.
_END = r"\s*([+-]?[0-9]+([.][0-9]+)?(e[+-]?[0-9]{1,2})?|[+-]?inf)\s*"
_INTERVAL = rf"(?i)^[\[(\]]{_END}[,;]{_END}[\])\[]$"
_NATURAL_SORT_BYTES = 1 << 26


@dataclass(frozen=True)
class Labels:
    """Distinct labels in order of first appearance, and for each row its label or -1 (no name)."""

    names: Any
    codes: Codes
    notes: tuple[str, ...]


def factorize(column: Any) -> tuple[Any, Codes]:
    """Distinct values of a chunked column, in order of first appearance, and each row's code. Missing values are one
    of them. O(rows); 4 bytes per row and the distinct values."""
    if pa.types.is_dictionary(column.type):  # which may hold values that are not used, in any order
        whole = column.unify_dictionaries().combine_chunks()
        encoded = whole.indices.dictionary_encode(null_encoding="encode")
        return whole.dictionary.take(encoded.dictionary), encoded.indices.to_numpy(zero_copy_only=False)
    many = len(column) > _MANY or column.nbytes > _MUCH
    if many and not column.null_count and is_text(column.type):
        # One chunk is taken as it is: combining would copy it.
        return _factorize_sorted(column.chunk(0) if column.num_chunks == 1 else column.combine_chunks())
    encoded = column.dictionary_encode(null_encoding="encode").combine_chunks()
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)


def _factorize_sorted(text: Any) -> tuple[Any, Codes]:
    """`factorize` of much text without missing values."""
    order = pc.sort_indices(text).to_numpy()
    is_new = np.ones(len(order), dtype=bool)
    for start in range(1, len(order), _SLICE):
        some = text.take(pa.array(order[start - 1 : start + _SLICE]))
        is_new[start : start + _SLICE] = pc.not_equal(some[1:], some[:-1]).to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(is_new)
    # The sort is stable: of equal values the one that came first comes first.
    firsts = order[starts]
    ranks = np.empty(len(starts), dtype=np.int32)
    by_first = np.argsort(firsts)
    ranks[by_first] = np.arange(len(starts), dtype=np.int32)
    codes = np.empty(len(order), dtype=np.int32)
    codes[order] = np.repeat(ranks, np.diff(starts, append=len(order)))
    firsts = firsts[by_first]
    del order, is_new, starts, ranks, by_first
    return (text if len(firsts) == len(codes) else text.take(pa.array(firsts))), codes


def as_objects(names: Any) -> npt.NDArray[np.object_]:
    """Arrow text as an array of str, made in small pieces: in one, Arrow compares them all once more."""
    objects = np.empty(len(names), dtype=object)
    for start in range(0, len(names), _SLICE):
        objects[start : start + _SLICE] = names.slice(start, _SLICE).to_pylist()
    return objects


def clean(distinct: Any, codes: Codes) -> Labels:
    """Labels of a column that `factorize` has split: trimmed and at most MAX_LABEL_LENGTH long. Tabs and line breaks
    inside a name become a space, other control characters vanish; names that differ only in that are one category."""
    text = to_text(distinct)
    # Piece by piece: each step makes a copy.
    pieces = [_trimmed(text.slice(start, _SLICE)) for start in range(0, len(text), _SLICE)]
    unchanged = is_text(distinct.type) and not distinct.null_count and all(same for _, same in pieces)
    names, merged = text, np.arange(len(text), dtype=np.int32)
    if not unchanged:
        trimmed = pa.chunked_array([piece for piece, _ in pieces], pa.large_string())
        pieces.clear()
        trimmed = pa.chunked_array([trimmed.combine_chunks()])
        names, merged = factorize(trimmed)
        del trimmed
    del text, pieces
    empty = pc.index(names, pa.scalar("", names.type)).as_py()
    if empty >= 0:
        # Take the empty name out, and move the codes above it down by one.
        names = pc.filter(names, pc.not_equal(names, ""))
        merged = np.where(merged == empty, -1, merged - (merged > empty)).astype(np.int32)
    names, notes = _shorten(names)
    return Labels(names, merged[codes] if len(codes) else codes, notes)


def _trimmed(text: Any) -> tuple[Any, bool]:
    """The text without control characters and blanks around it, and whether it was so before."""
    controls = pc.match_substring_regex(text, _CONTROLS)
    bare = text
    if pc.any(controls).as_py():
        spaced = pc.replace_substring_regex(text, r"[\t\n\v\f\r\x{85}]+", " ")
        bare = pc.if_else(controls, pc.replace_substring_regex(spaced, _CONTROLS, ""), text)
    bare = pc.utf8_trim_whitespace(bare)
    return (text, True) if bare.equals(text) else (bare, False)


def name_order(names: npt.NDArray[np.object_]) -> npt.NDArray[np.int64]:
    """Positions that sort labels: by size if all are numbers, or intervals as "[0,10)", else without regard to case
    and accents, and "item 2" before "item 10". Ties keep their order."""
    text = pa.array(names, pa.large_string())
    if pc.all(pc.match_substring_regex(text, DECIMAL)).as_py():
        return np.argsort(np.array([float(name) for name in names]), kind="stable")
    if pc.all(pc.match_substring_regex(text, _INTERVAL)).as_py():
        ends = np.array([[float(end) for end in re.split(r"[,;]", name[1:-1])] for name in names])
        return np.lexsort((ends[:, 1], ends[:, 0]))
    key = pc.utf8_lower(_without_accents(text))
    if key.nbytes < _NATURAL_SORT_BYTES:
        # Every run of digits gets the same length: zeros in front, then its last twelve digits.
        padded = pc.replace_substring_regex(key, r"([0-9]+)", r"000000000000\1")
        key = pc.replace_substring_regex(padded, r"0{0,12}([0-9]{12,})", r"\1")
    return np.asarray(pc.sort_indices(key).to_numpy(zero_copy_only=False)).astype(np.int64)


def _shorten(names: Any) -> tuple[Any, tuple[str, ...]]:
    is_long = pc.greater(pc.utf8_length(names), MAX_LABEL_LENGTH)
    number = pc.sum(is_long).as_py() or 0
    if not number:
        return names, ()
    # A label that was cut ends in "…" or "… (2)": only a name with such an end can be equal to it.
    ends_so = pc.match_substring_regex(names, r"…( \([0-9]+\))?$")
    taken = {name.encode() for name in pc.filter(names, ends_so).to_pylist()}
    repeats: dict[str, int] = {}
    parts = []
    for start in range(0, len(names), _SLICE):
        part, is_cut = names.slice(start, _SLICE), is_long.slice(start, _SLICE)
        stems = pc.utf8_slice_codeunits(pc.filter(part, is_cut), 0, MAX_LABEL_LENGTH - 1).to_pylist()
        labels = pa.array([_free_label(stem, taken, repeats) for stem in stems], pa.large_string())
        parts.append(pc.replace_with_mask(part, is_cut, labels))
    note = f"{number:,} names longer than {MAX_LABEL_LENGTH} characters were cut."
    if number == 1:
        note = f"One name longer than {MAX_LABEL_LENGTH} characters was cut."
    del taken, repeats
    return pa.chunked_array(parts).combine_chunks(), (note,)


def _free_label(stem: str, taken: set[bytes], repeats: dict[str, int]) -> str:
    """The label of a cut name: its stem and “…”, with a number if that is ``taken``, which gets this one."""
    label = stem + "…"
    while label.encode() in taken:
        repeats[stem] = repeats.get(stem, 1) + 1
        ending = f"… ({repeats[stem]})"
        label = stem[: MAX_LABEL_LENGTH - len(ending)] + ending
    taken.add(label.encode())
    return label


_AFFIXES = r"^[\s\p{P}\p{S}]+|[\s\p{P}\p{S}]+$"


# Marks that nobody sees; joiners stay, which emoji, Persian and Hindi need.
_UNSEEN = r"[\x{ad}\x{200b}\x{200e}\x{200f}\x{2060}\x{feff}]"


def visible_form(labels: Any) -> Any:
    """Arrow text in NFC without needless blanks, invisible characters and “.0”: what looks the same is equal."""
    odd = pc.match_substring_regex(labels, r"[^\x20-\x7e]|  |\.0+$")
    # Most names are plain words, on which the rest would be wasted.
    some = pc.utf8_normalize(pc.filter(labels, odd), "NFC")
    bare = pc.replace_substring_regex(some, _UNSEEN, "")
    bare = pc.utf8_trim_whitespace(pc.replace_substring_regex(bare, r"[\p{Z}\s]+", " "))
    bare = pc.replace_substring_regex(bare, r"^([+-]?[0-9]+)\.0+$", r"\1")
    return pc.replace_with_mask(labels, odd, pc.if_else(pc.equal(bare, ""), some, bare))


def caseless_form(labels: Any) -> Any:
    """`visible_form` also without differences in case, width and ligatures (lower case, NFKC)."""
    alike = visible_form(labels)
    odd = pc.invert(pc.string_is_ascii(alike))
    return pc.utf8_lower(pc.replace_with_mask(alike, odd, pc.utf8_normalize(pc.filter(alike, odd), "NFKC")))


# A number, a truth value or a date, in a form that has others; longer numbers are codes.
_REWRITTEN = r"^[+-]?[0-9]+$|^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?$"
_LONGEST_NUMBER = 28
_DATED = re.compile(
    r"(?:(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{1,2})([-/.])(\d{1,2})\6(\d{4}))(?:[ t]0{1,2}:00(?::00)?)?z?"
)
# Ways to write true and false, and which of the two each is.
TRUTHS = {"true": "1", "t": "1", "1": "1", "false": "0", "f": "0", "0": "0"}
_DATE = r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}"


# Marks that one keyboard has and another not, blanks around dashes and strokes, a point at the end.
_MARKS = {
    r"[\x{2018}\x{2019}\x{b4}`]": "'",
    r"[\x{201c}\x{201d}\x{201e}]": '"',
    r"[\x{2010}-\x{2015}\x{2212}]": "-",
    r" *([-/]) *": r"\1",
    "\u00df": "ss",
    r"([^.])\.$": r"\1",
}
_MARKED = r"[\x{df}\x{2010}-\x{201e}\x{2212}\x{b4}`]| [-/]|[-/] |[^.]\.$"


def value_form(labels: Any) -> Any:
    """`caseless_form` in which one value is equal in all its ways: 01 and 1.000e+00 are 1, 3.2.2026 is 2026-02-03; true
    or t is 1 and false or f is 0 where nothing else is there but these. A date with slashes is one only if its day is
    above 12. Of words, all forms of quotation marks and dashes are equal."""
    text = caseless_form(labels)
    marked = pc.match_substring_regex(text, _MARKED)
    some = pc.filter(text, marked)
    for written, instead in _MARKS.items():
        some = pc.replace_substring_regex(some, written, instead)
    text = pc.replace_with_mask(text, marked, some)
    if len(text) and pc.all(pc.is_in(text, pa.array(TRUTHS, pa.large_string()))).as_py():
        return pa.array(list(map(TRUTHS.__getitem__, text.to_pylist())), pa.large_string())
    text = pc.replace_substring_regex(text, r"^([+-]?)0+([0-9]+)$", r"\1\2")
    odd = pc.match_substring_regex(text, r"^[+-]?[0-9.]*[.e+-]")
    numbers = pc.and_(odd, pc.match_substring_regex(text, _REWRITTEN))
    text = _rewritten(text, numbers, _plain_number)
    return _rewritten(text, pc.match_substring_regex(text, _DATE), _plain_date)


def _rewritten(text: Any, chosen: Any, rewrite: Callable[[str], str]) -> Any:
    if not pc.any(chosen).as_py():
        return text
    some = [rewrite(one) for one in pc.filter(text, chosen).to_pylist()]
    return pc.replace_with_mask(text, chosen, pa.array(some, pa.large_string()))


def _plain_number(cell: str) -> str:
    """A decimal number without exponent and needless zeros."""
    if len(cell) > _LONGEST_NUMBER:
        return cell
    number = Decimal(cell).normalize()
    if not number:
        return "0"
    return format(number, "f") if abs(number.adjusted()) < _LONGEST_NUMBER else str(number)


def _plain_date(cell: str) -> str:
    """A date as 2026-02-03; itself where day and month cannot be told apart."""
    found = _DATED.fullmatch(cell)
    if found is None:
        return cell
    year, _, month, day, first, mark, second, last = found.groups()
    if last is not None:
        year, day, month = last, first, second
        if int(month) > 12:  # the month is first, as in the USA
            day, month = month, day
        elif mark == "/" and int(day) <= 12 and day != month:
            return cell
    return f"{year}-{int(month):02}-{int(day):02}"


def similar_labels(
    outside: npt.NDArray[np.object_], listed: npt.NDArray[np.object_]
) -> list[tuple[str, str]]:
    """Pairs of a label outside the list and the first on it that is one value, or alike but for accents and marks."""
    if not len(outside):
        return []
    values = [value_form(pa.array(labels, pa.large_string())) for labels in (outside, listed)]
    alike = pc.coalesce(
        pc.index_in(values[0], values[1]), pc.index_in(_folded(outside), _folded(listed))
    ).to_pylist()
    return [(label, listed[i]) for label, i in zip(outside.tolist(), alike, strict=True) if i is not None]


def _folded(labels: npt.NDArray[np.object_]) -> Any:
    """Labels without case, accents, leading zeros, ".0" and marks around them."""
    text = pc.utf8_lower(_without_accents(pa.array(labels, pa.large_string())))
    bare = pc.replace_substring_regex(text, _AFFIXES, "")
    bare = pc.replace_substring_regex(bare, r"^0+([0-9])", r"\1")
    bare = pc.replace_substring_regex(bare, r"^([0-9]+)\.0+$", r"\1")
    return pc.if_else(pc.equal(bare, ""), text, bare)


def _without_accents(text: Any) -> Any:
    return pc.replace_substring_regex(pc.utf8_normalize(text, "NFKD"), r"\p{Mn}", "")


def difference(one: str, other: str) -> str:
    """The kind of difference, in words, between two labels that are alike in one of the forms above."""
    if one.lower() == other.lower():
        return "upper and lower case"
    if TRUTHS.get(one.lower(), one) == TRUTHS.get(other.lower(), other):
        return "the way true and false are written"
    if one.lstrip("0") == other.lstrip("0"):
        return "leading zeros"
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return "the way accents are stored"
    alike = visible_form(pa.array([one, other], pa.large_string()))
    if alike[0] == alike[1]:
        bare = {re.sub(r"\.0+$", "", name) for name in (one, other)}
        return "“.0” after the number" if len(bare) == 1 else "blanks or invisible marks"
    values = value_form(pa.array([one, other], pa.large_string()))
    if values[0] == values[1] and _DATED.fullmatch(values[0].as_py()):
        return "the way the date is written"
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        return "the form of letters or digits"
    if values[0] == values[1] and values[0].as_py()[-1:].isdecimal():
        return "the way the number is written"
    if values[0] == values[1]:
        return "marks, or blanks around them"
    if _without_accents(pa.array([one]))[0] == _without_accents(pa.array([other]))[0]:
        return "accents"
    return "case, accents, zeros or marks around the name"
