"""Tables in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rr_core.io.columns import Columns, Table, hints, numeric_columns
from rr_core.io.decoding import NoRows, UnreadableFile, faults_as, quote
from rr_core.io.text import DETECT_ROWS, MAX_COLUMNS, SAMPLE_ROWS

_PIECE_ROWS = 1 << 18
# The encodings that Arrow can read as a dictionary, and that of levels.
_WITH_DICTIONARY = frozenset({"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE"})
_SAMPLE_LETTERS = 1000
_DAMAGED = (
    "The Parquet file is damaged or uses something that cannot be read here. Export it again, or save"
    " the table as CSV."
)


@dataclass(frozen=True, kw_only=True)
class ParquetTable(Table):
    """A Parquet table. `declares`: which columns list their categories; `missing`: rows declared so, if known."""

    declares: tuple[bool, ...] = ()
    missing: tuple[int, ...] = ()

    def pieces(self, indices: Sequence[int]) -> Iterator[Columns]:
        """The columns at `indices`, some rows at a time, text still dictionary-encoded; refuses lists and damage."""
        with faults_as(_DAMAGED):
            file = _open(self.data)
            names = [_readable(file, index) for index in indices]
            file, rows = _open(self.data, _as_dictionary(file, indices), file.metadata), 0
            for batch in file.iter_batches(_PIECE_ROWS, columns=names, use_threads=False):
                # A damaged file may hold text that is not UTF-8, or positions beyond a dictionary.
                batch.validate(full=True)
                rows += batch.num_rows
                columns = tuple(pa.chunked_array([_usual(batch.column(name))]) for name in names)
                yield Columns(columns, done=rows / file.metadata.num_rows)


def open_parquet(data: bytes) -> ParquetTable:
    """Read the schema and a sample. Refuses a file cut short or damaged, without rows, or with too many columns."""
    if not data.endswith(b"PAR1") or len(data) < 12:
        raise UnreadableFile(
            "The Parquet file is cut short: its end is missing. Copy or export it again and wait until it"
            " is complete."
        )
    with faults_as(_DAMAGED):
        file = _open(data)
        schema = file.schema_arrow
        names = schema.names
        if file.metadata.num_rows == 0 or not names:
            raise NoRows("The Parquet file has no rows. Export a table with one row per category.")
        if len(names) > MAX_COLUMNS:
            raise UnreadableFile(
                f"The Parquet file has {len(names):,} columns; at most {MAX_COLUMNS:,} are read. Keep the columns"
                " category and count."
            )
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise UnreadableFile(f"Two columns are called {quote(repeated)}. Give every column its own name.")
        sample = _sample(file)
    # Numbers written as text are judged by the first rows.
    as_text = numeric_columns(sample, len(schema))
    numeric = tuple(
        is_number(kind) or (is_text(kind) and as_text[i] and any(row[i] for row in sample))
        for i, kind in enumerate(schema.types)
    )
    return ParquetTable(
        data=data,
        columns=tuple(names),
        sample=sample[:SAMPLE_ROWS],
        numeric=numeric,
        hints=hints(sample, len(schema)),
        declares=tuple(map(pa.types.is_dictionary, schema.types)),
    )


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text, dictionary-encoded or not."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _open(data: bytes, as_dictionary: Sequence[str] = (), about: Any = None) -> pq.ParquetFile:
    """The file; its metadata is read again unless it is given."""
    return pq.ParquetFile(pa.BufferReader(data), metadata=about, read_dictionary=list(as_dictionary))


def _readable(file: pq.ParquetFile, index: int) -> str:
    """The name of a column of single values."""
    name: str = file.schema_arrow.names[index]
    if pa.types.is_nested(_storage(file.schema_arrow.types[index])):
        raise UnreadableFile(
            f"The column {quote(name)} holds lists or records, not single values. Save a table with one plain"
            " column for the category, or, of lists of bits, with a column of 0 and 1 for each."
        )
    return name


def _as_dictionary(file: pq.ParquetFile, indices: Sequence[int]) -> list[str]:
    """The names of those columns of text that can be read as a dictionary: repeated text then costs 4 bytes per row."""
    about, schema = file.metadata, file.schema_arrow
    paths = [file.schema.column(i).path for i in range(about.num_columns)]
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    return [
        schema.names[index]
        for index in indices
        if is_text(_storage(schema.types[index]))
        and all(
            set(group.column(paths.index(schema.names[index])).encodings) <= _WITH_DICTIONARY
            for group in groups
        )
    ]


def _sample(file: pq.ParquetFile) -> tuple[tuple[str, ...], ...]:
    """The beginnings of the values of the first rows; a column of lists or records shows "…"."""
    schema = file.schema_arrow
    flat = [column.name for column in schema if not pa.types.is_nested(_storage(column.type))]
    batch = next(file.iter_batches(DETECT_ROWS, columns=flat, use_threads=False))
    batch.validate(full=True)
    cells = {name: pc.utf8_slice_codeunits(to_text(batch[name]), 0, _SAMPLE_LETTERS) for name in flat}
    nested = ["…"] * (batch.num_rows if flat else 0)
    return tuple(
        zip(*(cells[name].to_pylist() if name in cells else nested for name in schema.names), strict=True)
    )


def _storage(kind: Any) -> Any:
    """The type that holds the values of an extension type such as arrow.json; any other type itself."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _usual(values: Any) -> Any:
    """The array itself if it holds numbers or text, else its values as text: of dates, truth values, JSON."""
    kind = values.type
    usual = is_number(kind) or (is_text(kind) and not pa.types.is_string_view(kind))
    return values if usual else to_text(values)


def to_text(values: Any) -> Any:
    """An Arrow array of any flat type as text: 17 and 17.0 are “17”, missing values “”, and midnight is the day."""
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    try:
        text = pc.fill_null(pc.cast(values, pa.large_string()), "")
    except pa.ArrowException:
        raise UnreadableFile(
            "A column of the Parquet file holds values that are not text or numbers. Save it as a column of"
            " text."
        ) from None
    if pa.types.is_timestamp(values.type):
        return pc.replace_substring_regex(text, r"( 00:00:00)?(\.0+)?$", "")
    return text
