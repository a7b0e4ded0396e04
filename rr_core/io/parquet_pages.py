"""The pages of a column of a Parquet file, as their own headers describe them.

The file's metadata may state any sizes, but what is allocated in reading follows the header of each page. Headers are
written in Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_SIZE, _PACKED_SIZE, _DATA, _DATA_V2 = 2, 3, 5, 8
_DEEPEST = 16


@dataclass(frozen=True)
class Page:
    """One page: its size in bytes when unpacked, its number of values (0 for a dictionary) and their encoding."""

    size: int
    values: int
    encoding: int


def pages(data: bytes, chunk: Any) -> Iterator[Page]:
    """The pages of a column chunk, given by its metadata.

    Raises
    ------
    ValueError, LookupError
        A header that is none.
    """
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    values = 0
    while values < chunk.num_values:
        header, at = _struct(data, at, 0)
        size, count, encoding = _size(header, _SIZE), 0, 0
        at += _size(header, _PACKED_SIZE)
        about = header.get(_DATA) or header.get(_DATA_V2)
        if isinstance(about, dict):
            count, encoding = _size(about, 1), _size(about, 4 if _DATA_V2 in header else 2)
        yield Page(size, count, encoding)
        values += count


def _size(fields: dict[int, Any], field: int) -> int:
    """A field that is a whole number, 0 or more."""
    value = fields[field]
    if not isinstance(value, int) or value < 0:
        raise ValueError("no size")
    return value


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of seven bits per byte, and the position behind it."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise ValueError("too long a number")


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """The fields of a struct by number, and the position behind it."""
    if depth > _DEEPEST:
        raise ValueError("too deep a header")
    fields: dict[int, Any] = {}
    field = 0
    while kind := data[at] & 15:
        step = data[at] >> 4
        at += 1
        if step:
            field += step
        else:
            number, at = _number(data, at)
            field = (number >> 1) ^ -(number & 1)
        fields[field], at = _value(data, at, kind, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """A value of a kind of Thrift's: truth, whole numbers, bytes, and structs; headers hold no others."""
    if kind in (1, 2):
        return kind == 1, at
    if kind in (4, 5, 6):
        number, at = _number(data, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == 8:
        size, at = _number(data, at)
        return None, at + size
    if kind == 12:
        return _struct(data, at, depth + 1)
    raise ValueError("an unknown kind of value")
