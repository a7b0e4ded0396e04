"""The table in a file of SPSS, Stata or SAS, as Parquet: labels are the names, and declared missing values are empty."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from pyreadstat import ReadstatError

from rr_core.io.decoding import Decoded, NoRows, UnreadableFile, faults_as
from rr_core.io.spreadsheets import MAX_CELLS, as_shown
from rr_core.io.text import MAX_COLUMNS

# The first bytes of a file, the program that wrote it, and its reader; other files here are of an old Stata.
_PROGRAMS: tuple[tuple[bytes, str, Callable[..., Any]], ...] = (
    (b"$FL", "SPSS", pyreadstat.read_sav),
    (b"\0", "SAS", pyreadstat.read_sas7bdat),
    (b"", "Stata", pyreadstat.read_dta),
)
# Where an SPSS file says its order of bytes, where its list of variables begins, and the record behind it.
_SPSS_LAYOUT, _SPSS_HEADER, _SPSS_END = 64, 176, 999
_OLD_ENCODING = "CP1252"  # tried where the one that the file states is not the one it has


def read_statistics(data: bytes) -> Decoded:
    """The table with labels in place of values, also labels that no row has; dates as 2024-12-31."""
    program, reader = next((name, reader) for magic, name, reader in _PROGRAMS if data.startswith(magic))
    with faults_as(
        f"The {program} file is damaged, or uses something that cannot be read here. Save it again, or export the table"
        " as CSV."
    ):
        if program == "SPSS":
            _check_variables(data)
        notes = tuple[str, ...]()
        try:
            columns, about = _read(data, reader, program, None)
        except UnicodeError:
            columns, about = _read(data, reader, program, _OLD_ENCODING)
            notes = ("The file does not say in which encoding its text is: it was read as Windows-1252.",)
        arrays, missing = {}, list[int]()
        for name, values in columns.items():
            labels = about.variable_value_labels.get(name, {})
            is_missing = _declared(about, name, values)
            arrays[name], number = _column(values, labels, is_missing)
            missing.append(number)
        sink = io.BytesIO()
        pq.write_table(pa.table(arrays), sink)
    return Decoded(sink.getvalue(), "parquet", notes=notes, program=f"{program} file", missing=tuple(missing))


def _check_variables(data: bytes) -> None:
    """Raise ValueError or struct.error for an SPSS file whose list of variables contradicts itself: the reader would
    write beyond its memory. A variable takes one record, or one for each eight letters; labels belong to variables by
    number."""
    order = "<" if data[_SPSS_LAYOUT] else ">"
    at, first, more = _SPSS_HEADER, list[bool](), 0

    def integers(number: int) -> tuple[int, ...]:
        nonlocal at
        at += 4 * number
        return struct.unpack_from(f"{order}{number}i", data, at - 4 * number)

    while (kind := integers(1)[0]) != _SPSS_END:
        if kind == 2:
            width, labelled, missing = integers(3)
            at += 16  # formats and name
            if (width == -1) != (more > 0) or not (-1 <= width <= 255 and -3 <= missing <= 3):
                raise ValueError("variables overlap")
            first.append(width >= 0)
            more = more - 1 if width == -1 else max(0, (width + 7) // 8 - 1)
            letters = integers(1)[0] if labelled else 0
            at += max(0, -(-letters // 4) * 4) + 8 * abs(missing)
        elif kind == 3:
            (number,) = integers(1)
            for _ in range(number):
                at += 8 + (data[at + 8] // 8 + 1) * 8
        elif kind == 4:
            of = integers(*integers(1))
            if not all(0 < one <= len(first) and first[one - 1] for one in of):
                raise ValueError("labels of no variable")
        elif kind == 6:
            (lines,) = integers(1)
            at += 80 * max(0, lines)
        elif kind == 7:
            _, size, number = integers(3)
            at += max(0, size) * max(0, number)
        else:
            raise ValueError("an unknown record")
    if more:
        raise ValueError("a variable is cut short")


def _read(
    data: bytes, reader: Callable[..., Any], program: str, encoding: str | None
) -> tuple[dict[str, Sequence[Any]], Any]:
    """The values of each column, and what the file says about them; its size is looked at before any row is read."""
    options: dict[str, Any] = {"encoding": encoding, "output_format": "dict"}
    try:
        columns, about = reader(io.BytesIO(data), metadataonly=True, **options)
        width, height = len(about.column_names), about.number_rows
        if width > MAX_COLUMNS:
            raise UnreadableFile(
                f"The {program} file has {width:,} columns; at most {MAX_COLUMNS:,} are read. Keep those you need."
            )
        most = MAX_CELLS // max(1, width)
        if width and (height is None or 0 < height <= most):
            # Not all files say how many rows they have.
            columns, about = reader(io.BytesIO(data), user_missing=True, row_limit=most + 1, **options)
            height = len(next(iter(columns.values())))
        if height and height > most:
            raise UnreadableFile(
                f"The {program} file has more than {MAX_CELLS:,} values. Keep the columns that you need, or count the"
                " values first."
            )
    except ReadstatError as error:
        if encoding is None and "convert" in str(error):
            raise UnicodeError from None
        raise
    if not (width and height):
        raise NoRows(f"The {program} file has no rows. Save a table with one row per person or per category.")
    return columns, about


def _declared(about: Any, name: str, values: Sequence[Any]) -> Callable[[Any], bool]:
    """Whether a value of a column is declared as missing: in SPSS by ranges, elsewhere by a letter among numbers."""
    ranges = about.missing_ranges.get(name, ())
    if ranges:
        return lambda value: any(
            isinstance(value, str) == isinstance(one["lo"], str) and one["lo"] <= value <= one["hi"]
            for one in ranges
        )
    letters = {*about.missing_user_values.get(name, ())}
    return lambda value: value in letters


def _column(
    values: Sequence[Any], labels: Mapping[Any, str], is_missing: Callable[[Any], bool]
) -> tuple[Any, int]:
    """The column for Arrow, with the labels that the file lists as its categories, and the number of missing values."""
    distinct = list(dict.fromkeys(values))
    left_out = {value for value in distinct if value is not None and is_missing(value)}
    number = sum(value in left_out for value in values) if left_out else 0
    in_order = sorted(labels.items(), key=lambda pair: (isinstance(pair[0], str), pair[0]))  # of their codes
    names = {value: label for value, label in in_order if not is_missing(value)}
    kept = [value for value in distinct if value is not None and value == value and value not in left_out]
    if not names and all(isinstance(value, int | float) for value in kept):
        return pa.array(
            [None if value in left_out else value for value in values], pa.float64(), from_pandas=True
        ), number
    shown = {value: names.get(value, as_shown(value)) for value in kept}
    if not names:
        return pa.array([shown.get(value) for value in values], pa.string()), number
    listed = list(dict.fromkeys((*names.values(), *shown.values())))
    places = {name: i for i, name in enumerate(listed)}
    codes = {value: places[name] for value, name in shown.items()}
    indices = pa.array([codes.get(value) for value in values], pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(listed, pa.string())), number
