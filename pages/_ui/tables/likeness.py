"""Labels that may be meant to be the same: case, accents, leading zeros, marks around the name."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_AFFIXES = r"^[\s\p{P}\p{S}]+|[\s\p{P}\p{S}]+$"


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
    """In what two labels differ that `_folded` makes equal."""
    if one.casefold() == other.casefold():
        return "upper and lower case"
    if one.lstrip("0") == other.lstrip("0"):
        return "leading zeros"
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return "the way accents are stored"
    if _without_accents(pa.array([one]))[0] == _without_accents(pa.array([other]))[0]:
        return "accents"
    return "case, accents, zeros or marks around the name"
