"""Labels that may be meant to be the same: stored in another way, or different in case, accents, zeros, marks."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_AFFIXES = r"^[\s\p{P}\p{S}]+|[\s\p{P}\p{S}]+$"


# Marks that nobody sees; joiners stay, which emoji, Persian and Hindi need.
_UNSEEN = r"[\x{ad}\x{200b}\x{200e}\x{200f}\x{2060}\x{feff}]"


def seen_alike(labels: Any) -> Any:
    """Arrow text of labels, made equal where nobody can see a difference: Unicode forms, blanks, "13" and "13.0"."""
    odd = pc.match_substring_regex(labels, r"[^\x20-\x7e]|  |\.0+$")
    # Most names are plain words, on which the rest would be wasted.
    some = pc.utf8_normalize(pc.filter(labels, odd), "NFC")
    bare = pc.replace_substring_regex(some, _UNSEEN, "")
    bare = pc.utf8_trim_whitespace(pc.replace_substring_regex(bare, r"[\p{Z}\s]+", " "))
    bare = pc.replace_substring_regex(bare, r"^([+-]?[0-9]+)\.0+$", r"\1")
    return pc.replace_with_mask(labels, odd, pc.if_else(pc.equal(bare, ""), some, bare))


def in_one_case(labels: Any) -> Any:
    """The same without differences in case, width and ligatures."""
    alike = seen_alike(labels)
    odd = pc.invert(pc.string_is_ascii(alike))
    return pc.utf8_lower(pc.replace_with_mask(alike, odd, pc.utf8_normalize(pc.filter(alike, odd), "NFKC")))


def near(outside: npt.NDArray[np.object_], listed: npt.NDArray[np.object_]) -> list[tuple[str, str]]:
    """Labels outside the list that look like one on it, each with the first it looks like."""
    if not len(outside):
        return []
    alike = pc.index_in(_folded(outside), _folded(listed)).to_pylist()
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
    """In what two labels differ that `_folded`, `seen_alike` or `in_one_case` makes equal."""
    if one.lower() == other.lower():
        return "upper and lower case"
    if one.lstrip("0") == other.lstrip("0"):
        return "leading zeros"
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return "the way accents are stored"
    alike = seen_alike(pa.array([one, other], pa.large_string()))
    if alike[0] == alike[1]:
        bare = {re.sub(r"\.0+$", "", name) for name in (one, other)}
        return "“.0” after the number" if len(bare) == 1 else "blanks or invisible marks"
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        return "the form of letters or digits"
    if _without_accents(pa.array([one]))[0] == _without_accents(pa.array([other]))[0]:
        return "accents"
    return "case, accents, zeros or marks around the name"
