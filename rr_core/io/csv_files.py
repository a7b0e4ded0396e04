"""CSV files that spreadsheets show as they are, and do not run."""

from __future__ import annotations

import codecs
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from rr_core.plain_text import csv_columns


def by_category(labels: Sequence[str] | None, k: int, columns: Mapping[str, Any]) -> bytes:
    """A CSV file with a row for each of k categories: its name, or its number where the categories have no names, and
    these columns."""
    return csv_bytes(csv_columns({"category": labels or [*map(str, range(1, k + 1))], **columns}))


def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """A CSV file of named columns in UTF-8, numbers at full precision.

    With more than ASCII in it, it begins with a byte-order mark: Excel takes it for Windows-1252 otherwise.

    >>> csv_bytes({"category": ["bus", "car"], "share": [0.25, 0.75]})
    b'"category","share"\\n"bus",0.25\\n"car",0.75\\n'
    """
    table = pa.table(dict(columns))
    out = io.BytesIO()
    arrow_csv.write_csv(table, out, arrow_csv.WriteOptions(quoting_style="needed", quoting_header="needed"))
    data = out.getvalue()
    return data if data.isascii() else codecs.BOM_UTF8 + data
