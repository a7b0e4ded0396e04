"""Tables in Parquet files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rr_core.io.columns import Columns, Hint, hints, numeric_columns
from rr_core.io.decoding import MAX_UNPACKED_BYTES, UnreadableFile, megabytes, quote
from rr_core.io.text import DETECT_ROWS, MAX_COLUMNS, SAMPLE_ROWS

MAX_ROWS = 100_000_000
"""A Parquet file of a few bytes can claim any number of rows; a text of 200 MB has at most this."""

_PIECE_ROWS = 1 << 18
_DAMAGED = (
    "The Parquet file is damaged or uses something that cannot be read here. Export it again, or save"
    " the table as CSV."
)


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet table."""

    data: bytes = field(repr=False)
    columns: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    hints: tuple[Hint, ...]
    unit: Literal["line", "row"] = "row"

    def pieces(self, indices: Sequence[int]) -> Iterator[Columns]:
        """The columns at `indices`, some rows at a time, text still dictionary-encoded.

        Raises
        ------
        UnreadableFile
            A column of lists or records, too large a column, damage.
        """
        with _faults_as_damage():
            file, names = self._checked(indices)
            rows = 0
            for batch in file.iter_batches(_PIECE_ROWS, columns=names):
                # A damaged file may hold text that is not UTF-8, or positions beyond a dictionary.
                batch.validate(full=True)
                rows += batch.num_rows
                table = pa.Table.from_batches([batch])
                yield Columns(tuple(table.column(name) for name in names), done=rows / file.metadata.num_rows)

    def place(self, row: int) -> int:
        """The row of the file, from 1."""
        return row + 1

    def _checked(self, indices: Sequence[int]) -> tuple[pq.ParquetFile, list[str]]:
        """The file, and the names of columns that may be read."""
        file = _open(self.data)
        for index in indices:
            _check_column(file, index)
        return file, [file.schema_arrow.names[index] for index in indices]


def open_parquet(data: bytes) -> ParquetTable:
    """Read the schema and a sample.

    Raises
    ------
    UnreadableFile
        Cut short, damaged, no rows, too many rows or columns.
    """
    if not data.endswith(b"PAR1") or len(data) < 12:
        raise UnreadableFile(
            "The Parquet file is cut short: its end is missing. Copy or export it again and wait until it"
            " is complete."
        )
    with _faults_as_damage():
        file = _open(data)
        _check_shape(file)
        sample = _sample(file)
    schema = file.schema_arrow
    # Numbers written as text are judged by the first rows.
    as_text = numeric_columns(sample, len(schema))
    numeric = tuple(
        is_number(kind) or (is_text(kind) and as_text[i] and any(row[i] for row in sample))
        for i, kind in enumerate(schema.types)
    )
    looks = hints(sample, len(schema))
    return ParquetTable(data, tuple(schema.names), sample[:SAMPLE_ROWS], numeric, looks)


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text, dictionary-encoded or not."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


@contextlib.contextmanager
def _faults_as_damage() -> Iterator[None]:
    """Turn any exception that Arrow raises on a damaged file into UnreadableFile."""
    try:
        yield
    except UnreadableFile:
        raise
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        LookupError,
        ArithmeticError,
        MemoryError,
        StopIteration,
    ) as error:
        raise UnreadableFile(_DAMAGED) from error


def _open(data: bytes) -> pq.ParquetFile:
    buffer = pa.BufferReader(data)
    names = [f.name for f in pq.read_schema(buffer) if is_text(f.type)]
    # A repeated text of any length then costs four bytes per row.
    return pq.ParquetFile(pa.BufferReader(data), read_dictionary=names)


def _check_shape(file: pq.ParquetFile) -> None:
    names = file.schema_arrow.names
    if file.metadata.num_rows == 0 or not names:
        raise UnreadableFile("The Parquet file has no rows. Export a table with one row per category.")
    if file.metadata.num_rows > MAX_ROWS:
        raise UnreadableFile(
            f"The Parquet file has more than {MAX_ROWS:,} rows. Count the values first and upload one row per"
            " category with its count."
        )
    if len(names) > MAX_COLUMNS:
        raise UnreadableFile(
            f"The Parquet file has {len(names):,} columns; at most {MAX_COLUMNS:,} are read. Keep the columns"
            " category and count."
        )
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UnreadableFile(f"Two columns are called {quote(repeated)}. Give every column its own name.")


def _check_column(file: pq.ParquetFile, index: int) -> None:
    name, kind = file.schema_arrow.names[index], file.schema_arrow.types[index]
    if pa.types.is_nested(kind):
        raise UnreadableFile(
            f"The column {quote(name)} holds lists or records, not single values. Save a table with one plain"
            " column for the category."
        )
    if _unpacked_size(file, index) > MAX_UNPACKED_BYTES:
        raise UnreadableFile(
            f"The column {quote(name)} unpacks to more than {megabytes(MAX_UNPACKED_BYTES)}. Count the values"
            " first and upload one row per category with its count."
        )


def _unpacked_size(file: pq.ParquetFile, index: int) -> int:
    """The size of a flat column's encoded pages after decompression, as the file states it."""
    name = file.schema_arrow.names[index]
    leaf = next(i for i in range(file.metadata.num_columns) if file.schema.column(i).path == name)
    groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
    return sum(group.column(leaf).total_uncompressed_size for group in groups)


def _sample(file: pq.ParquetFile) -> tuple[tuple[str, ...], ...]:
    """The first rows as text; a column of lists or records shows "…"."""
    schema = file.schema_arrow
    flat = [field.name for field in schema if not pa.types.is_nested(field.type)]
    if not flat:
        return ()
    batch = next(file.iter_batches(batch_size=DETECT_ROWS, columns=flat))
    batch.validate(full=True)
    cells = {name: to_text(batch.column(name)).to_pylist() for name in batch.schema.names}
    return tuple(
        tuple(cells[name][row] if name in cells else "…" for name in schema.names)
        for row in range(len(batch))
    )


def to_text(values: Any) -> Any:
    """An Arrow array of any flat type as text: 17 and 17.0 are "17", missing values are "".

    Raises
    ------
    UnreadableFile
        Bytes that are not text.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    try:
        return pc.fill_null(pc.cast(values, pa.large_string()), "")
    except pa.ArrowException:
        raise UnreadableFile(
            "A column of the Parquet file holds values that are not text or numbers. Save it as a column of"
            " text."
        ) from None
