"""Category names: from the cells of a column to distinct, clean, short labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.parquet import to_text

MAX_LABEL_LENGTH = 200
"""Longer names are cut, and numbered where the cut makes two equal."""

# Positions below 2^31, and four bytes instead of eight for each of up to 10^8 rows.
Codes = npt.NDArray[np.int32]

_CONTROLS = r"[\x00-\x1f\x7f-\x{9f}]"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
# Padding makes a name longer; beyond this much text, names are sorted letter by letter.
_NATURAL_SORT_BYTES = 1 << 26


@dataclass(frozen=True)
class Labels:
    """Distinct labels in order of first appearance, and for each row its label or -1 (no name)."""

    names: Any
    codes: Codes
    notes: tuple[str, ...]


def factorize(column: Any) -> tuple[Any, Codes]:
    """Distinct values of a chunked column, in order of first appearance, and each row's code.

    Missing values are one of the distinct values. O(rows); 4 bytes per row and the distinct values.
    """
    if pa.types.is_dictionary(column.type):
        return _factorize_dictionary(column)
    encoded = column.dictionary_encode(null_encoding="encode")
    return _dictionary(encoded), _indices(encoded)


def clean(distinct: Any, codes: Codes) -> Labels:
    """Labels of a column that `factorize` has split.

    They are trimmed, free of control characters and at most MAX_LABEL_LENGTH long.
    Tabs and line breaks inside a name become a space, other control characters vanish. Names that
    differ only in that are one category.
    """
    text = to_text(distinct)
    controls = pc.match_substring_regex(text, _CONTROLS)
    if pc.any(controls).as_py():
        spaced = pc.replace_substring_regex(text, r"[\t\n\v\f\r\x{85}]+", " ")
        text = pc.if_else(controls, pc.replace_substring_regex(spaced, _CONTROLS, ""), text)
    names, merged = factorize(pa.chunked_array([pc.utf8_trim_whitespace(text)]))
    empty = pc.index(names, pa.scalar("", names.type)).as_py()
    if empty >= 0:
        # Take the empty name out, and move the codes above it down by one.
        names = pc.filter(names, pc.not_equal(names, ""))
        merged = np.where(merged == empty, -1, merged - (merged > empty)).astype(np.int32)
    names, notes = _shorten(names)
    return Labels(names, merged[codes] if len(codes) else codes, notes)


def name_order(names: npt.NDArray[np.object_]) -> npt.NDArray[np.int64]:
    """Positions that sort labels: by value if all are numbers, else as a person files them.

    That is without regard to case and accents, and "item 2" before "item 10". Ties keep their order.
    """
    text = pa.array(names, pa.large_string())
    if pc.all(pc.match_substring_regex(text, _NUMBER)).as_py():
        return np.argsort(np.array([float(name) for name in names]), kind="stable")
    key = pc.replace_substring_regex(pc.utf8_normalize(text, "NFKD"), r"\p{Mn}", "")
    key = pc.utf8_lower(key)
    if key.nbytes < _NATURAL_SORT_BYTES:
        # Every run of digits gets the same length: zeros in front, then its last twelve digits.
        padded = pc.replace_substring_regex(key, r"([0-9]+)", r"000000000000\1")
        key = pc.replace_substring_regex(padded, r"0{0,12}([0-9]{12,})", r"\1")
    return np.asarray(pc.sort_indices(key).to_numpy(zero_copy_only=False)).astype(np.int64)


def _shorten(names: Any) -> tuple[Any, tuple[str, ...]]:
    too_long = np.flatnonzero(
        pc.greater(pc.utf8_length(names), MAX_LABEL_LENGTH).to_numpy(zero_copy_only=False)
    )
    if not too_long.size:
        return names, ()
    labels = names.to_pylist()
    taken = set(labels)
    repeats: dict[str, int] = {}
    for index in too_long:
        stem = labels[index][: MAX_LABEL_LENGTH - 1]
        label = stem + "…"
        while label in taken:
            repeats[stem] = repeats.get(stem, 1) + 1
            ending = f"… ({repeats[stem]})"
            label = stem[: MAX_LABEL_LENGTH - len(ending)] + ending
        taken.add(label)
        labels[index] = label
    note = f"{too_long.size:,} names longer than {MAX_LABEL_LENGTH} characters were cut."
    if too_long.size == 1:
        note = f"One name longer than {MAX_LABEL_LENGTH} characters was cut."
    return pa.array(labels, pa.large_string()), (note,)


def _factorize_dictionary(column: Any) -> tuple[Any, Codes]:
    """The same for a column that is already encoded; its dictionary may hold unused values, in any order."""
    column = column.unify_dictionaries()
    values = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
    indices = pa.chunked_array([chunk.indices for chunk in column.chunks], column.type.index_type)
    encoded = indices.dictionary_encode(null_encoding="encode")
    return values.take(_dictionary(encoded)), _indices(encoded)


def _dictionary(encoded: Any) -> Any:
    """All chunks that Arrow encodes in one call share one dictionary, which the last chunk holds whole."""
    if not encoded.num_chunks:
        return pa.array([], encoded.type.value_type)
    return encoded.chunk(encoded.num_chunks - 1).dictionary


def _indices(encoded: Any) -> Codes:
    parts = [np.asarray(chunk.indices.to_numpy(zero_copy_only=False)) for chunk in encoded.chunks]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
