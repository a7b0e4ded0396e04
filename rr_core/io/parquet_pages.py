"""The pages of a column of a Parquet file, as their own headers describe them.

The file's description, at its end, may state any sizes, but what is allocated in reading follows the header of each page.
Both are written in Thrift's compact protocol, and read here: pyarrow gives the same numbers, but ends the process where a
column's description contradicts itself (pyarrow 26: a histogram of levels of the wrong length).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_SIZE, _PACKED_SIZE, _DATA, _DATA_V2 = 2, 3, 5, 8  # of a page's header
_GROUPS, _COLUMNS, _ABOUT_COLUMN = 4, 1, 3  # of the file's description, a row group's and a column chunk's
_VALUES, _FIRST_PAGE, _DICTIONARY_PAGE = 5, 9, 11  # of a column chunk's
_END = 8  # bytes: the length of the description, and four letters
_DEEPEST = 16
_STRUCT = 12
_FIXED = {1: 1, 2: 1, 3: 1, 7: 8}  # bytes of an item of a list, by its kind


@dataclass(frozen=True)
class Page:
    """One page: its size in bytes when unpacked, its number of values (0 for a dictionary) and their encoding."""

    size: int
    values: int
    encoding: int


@dataclass(frozen=True)
class Chunk:
    """A column of a row group: where its pages begin, and its number of values."""

    begin: int
    values: int


def chunks(data: bytes, tick: Callable[[], None]) -> tuple[tuple[Chunk, ...], ...]:
    """The columns of each row group of a file; `tick` is called for each of them.

    Raises
    ------
    ValueError, LookupError, TypeError
        A description that is none.
    """
    end = len(data) - _END
    about, _ = _struct(data, end - int.from_bytes(data[end : end + 4], "little"), 0)
    found = []
    for group in about[_GROUPS]:
        columns = []
        for column in group[_COLUMNS]:
            tick()
            described = column[_ABOUT_COLUMN]
            first, dictionary = described[_FIRST_PAGE], described.get(_DICTIONARY_PAGE, 0)
            begin = dictionary if 0 < dictionary < first else first
            columns.append(Chunk(_not_negative(begin), _not_negative(described[_VALUES])))
        found.append(tuple(columns))
    return tuple(found)


def pages(data: bytes, chunk: Chunk) -> Iterator[Page]:
    """The pages of a column chunk.

    Raises
    ------
    ValueError, LookupError
        A header that is none.
    """
    at, values = chunk.begin, 0
    while values < chunk.values:
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
    return _not_negative(fields[field])


def _not_negative(value: Any) -> int:
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
    """A value of a kind of Thrift's; None for bytes and for numbers that are not whole, whose length alone counts."""
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        number, at = _number(data, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == 7:
        return None, at + 8
    if kind == 8:
        size, at = _number(data, at)
        return None, at + size
    if kind in (9, 10):
        return _list(data, at, depth + 1)
    if kind == _STRUCT:
        return _struct(data, at, depth + 1)
    raise ValueError("an unknown kind of value")


def _list(data: bytes, at: int, depth: int) -> tuple[list[Any] | None, int]:
    """A list of structs, None for one of anything else, and the position behind it."""
    if depth > _DEEPEST:
        raise ValueError("too deep a header")
    kind, size = data[at] & 15, data[at] >> 4
    at += 1
    if size == 15:
        size, at = _number(data, at)
    if size > len(data):
        raise ValueError("too long a list")
    if kind in _FIXED:  # in a list each truth takes a byte
        return None, at + size * _FIXED[kind]
    values = []
    for _ in range(size):
        value, at = _value(data, at, kind, depth)
        if kind == _STRUCT:
            values.append(value)
    return values if kind == _STRUCT else None, at
