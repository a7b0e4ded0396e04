"""The results of a sweep as a file, and a file as results."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rr_core.experiments import storage
from rr_core.experiments.run import SweepResult
from rr_core.io.columns import Table
from rr_core.io.decoding import UnreadableFile, quote
from rr_core.io.parquet import is_number, is_text, open_parquet
from rr_core.io.tables import decoded
from rr_core.io.text import TextTable, csv_bytes
from rr_core.plain_text import csv_cell

MOST_ROWS = 40_000  # of a file that is read: five times the largest sweep that is run here

_SETTINGS = "sweep"  # a key of the metadata in Parquet, the last column in CSV
_TEXTS = ("dist", "estimator")
_LONGEST_TEXT = 200  # what one of these holds
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|nan|inf)", re.ASCII)
_AGAIN = "Save it again where it comes from, and bring that file."
_FOREIGN = (
    "The file is a table, but not a sweep that was saved here: it has no {what}. A histogram of your own goes into the "
    "sidebar: Distribution, Your own file."
)


def csv_file(result: SweepResult) -> bytes:
    """One row per cell and estimator as CSV; the settings, in JSON, in the first row of the last column."""
    columns: dict[str, Any] = dict(storage.to_columns(result))
    for name in _TEXTS:
        columns[name] = [csv_cell(text) for text in columns[name].tolist()]
    columns[_SETTINGS] = [json.dumps(storage.metadata(result)), *[""] * (len(columns["dist"]) - 1)]
    return csv_bytes(columns)


def parquet_file(result: SweepResult) -> bytes:
    """The same table as Parquet; the settings, in JSON, in the metadata under "sweep"."""
    columns = {
        name: pa.array(values.tolist(), pa.string() if name in _TEXTS else pa.from_numpy_dtype(values.dtype))
        for name, values in storage.to_columns(result).items()
    }
    out, about = io.BytesIO(), {_SETTINGS: json.dumps(storage.metadata(result))}
    pq.write_table(pa.table(columns).replace_schema_metadata(about), out)
    return out.getvalue()


def read(name: str, data: bytes) -> SweepResult:
    """The result that a file holds, bit for bit as it was written: CSV, also one saved again, or Parquet."""
    if not data.strip():
        raise UnreadableFile(f"The file is empty. {_AGAIN}")
    found = decoded(data, name)
    try:
        return _in_parquet(found.data) if found.kind == "parquet" else _in_csv(found.data)
    except UnreadableFile:
        raise
    except ValueError as error:
        raise UnreadableFile(f"The file does not hold a whole sweep: {error}. {_AGAIN}") from None


def _in_parquet(data: bytes) -> SweepResult:
    opened = open_parquet(data)
    file = pq.ParquetFile(pa.BufferReader(data))
    schema = file.schema_arrow
    _check_rows(file.metadata.num_rows)
    written = (schema.metadata or {}).get(_SETTINGS.encode(), b"")
    if not written:
        raise UnreadableFile(_FOREIGN.format(what=f"{quote(_SETTINGS)} in its metadata"))
    about = _about(written.decode("utf-8", "replace"))
    names = [name for name in storage.required_columns(about) if name in opened.columns]
    for name in names:
        kind = schema.field(name).type
        if not (is_text(kind) if name in _TEXTS else is_number(kind)):
            raise _not_held(name)
    columns = {}
    for name, values in _columns(opened, names).items():
        columns[name] = _texts(name, values) if name in _TEXTS else pc.cast(values, pa.float64()).to_numpy()
    return storage.from_columns(columns, about)


def _in_csv(text: bytes) -> SweepResult:
    text = text.lstrip(b"\n")
    first = text.partition(b"\n")[0]
    separator = max((",", ";", "\t"), key=lambda one: first.count(one.encode()))
    header = _header(first, separator)
    _check_rows(text.count(b"\n") - 1)
    parsed = _parsed(text, separator, header)
    settings = (cell for cell in parsed[_SETTINGS].to_pylist() if cell)
    about = _about(next(settings, ""))
    columns = {}
    for name in storage.required_columns(about):
        if name in _TEXTS and name in header:
            columns[name] = _texts(name, parsed[name])
        elif name in header:
            columns[name] = _numbers(name, parsed[name], decimal_comma=separator == ";")
    return storage.from_columns(columns, about)


def _header(line: bytes, separator: str) -> list[str]:
    """The names of the columns."""
    try:
        header = next(csv.reader([line.decode()], delimiter=separator))
    except csv.Error:  # a field without end
        header = []
    if _SETTINGS not in header:
        raise UnreadableFile(_FOREIGN.format(what=f"column {quote(_SETTINGS)}"))
    name, times = Counter(header).most_common(1)[0]
    if times > 1:
        raise UnreadableFile(f"Two columns are called {quote(name)}. {_AGAIN}")
    return header


def _parsed(text: bytes, separator: str, header: Sequence[str]) -> dict[str, Any]:
    """All fields as text, by the name of their column."""
    try:
        table = TextTable(
            data=text, separator=separator, columns=tuple(header), sample=(), numeric=(), hints=()
        )
        return _columns(table, header)
    except UnreadableFile as error:
        broken = re.match(r"Line (.* where the first line has [0-9]+)", f"{error}")
        where = f"line {broken[1]}" if broken else "its lines cannot be told apart"
        raise UnreadableFile(f"The file is cut short or was changed: {where}. {_AGAIN}") from None


def _columns(table: Table, names: Sequence[str]) -> dict[str, Any]:
    """These columns, each whole."""
    pieces = [piece.arrays for piece in table.pieces(list(map(table.columns.index, names))) if piece.arrays]
    return {
        name: pa.chunked_array(
            [chunk for piece in pieces for chunk in piece[i].chunks], None if pieces else pa.string()
        )
        for i, name in enumerate(names)
    }


def _texts(name: str, values: Any) -> NDArray[Any]:
    """A column of names; long ones are refused before a few bytes of a dictionary become gigabytes."""
    parts = [part.dictionary if pa.types.is_dictionary(part.type) else part for part in values.chunks]
    if max((pc.max(pc.binary_length(part)).as_py() or 0 for part in parts), default=0) > _LONGEST_TEXT:
        raise _not_held(name)
    return np.array(values.to_pylist(), dtype=np.str_)


def _numbers(name: str, values: Any, decimal_comma: bool) -> NDArray[Any]:
    """A column of numbers from text, each to the nearest double."""
    values = pc.utf8_trim_whitespace(values)
    values = pc.replace_substring(values, ",", ".") if decimal_comma else values
    try:
        return np.asarray(pc.cast(values, pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        texts = values.to_pylist()
        line = next((i for i, text in enumerate(texts) if not _NUMBER.fullmatch(text.lower())), 0)
        raise UnreadableFile(
            f"The column {quote(name)} holds {quote(texts[line])} on line {line + 2} where a number should be. {_AGAIN}"
        ) from None


def _not_held(name: str) -> UnreadableFile:
    held = {"dist": "names of populations", "estimator": "names of estimates"}.get(name, "numbers")
    return UnreadableFile(f"The column {quote(name)} does not hold {held}. {_AGAIN}")


def _check_rows(rows: int) -> None:
    if rows > MOST_ROWS:
        raise UnreadableFile(
            f"The file has {rows:,} rows, and at most {MOST_ROWS:,} are read: one per cell and estimate. Save the sweep "
            "in several parts."
        )


def _about(written: str) -> Any:
    """The settings, parsed."""
    try:
        return json.loads(written)
    except (json.JSONDecodeError, RecursionError):
        raise UnreadableFile(
            "The settings of the sweep in the file are cut short or were changed; a spreadsheet cuts texts of more than "
            f"32,767 letters. {_AGAIN}"
        ) from None
