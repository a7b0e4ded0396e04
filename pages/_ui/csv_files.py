"""CSV files that spreadsheets show as they are, and do not run."""

from __future__ import annotations

import codecs
import io
import json
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv


def untouched(labels: Iterable[str], cells: Iterable[str]) -> dict[str, pa.Array]:
    """A last column for a CSV file in which `csv_cell` changes a name: the names as they are, to join by.

    As JSON text: the quotation mark in front keeps a spreadsheet from running them, and any reader of JSON gives
    them back. Empty when every name can be written as it is.
    """
    if all(map(operator.eq, labels, cells)):
        return {}
    return {"category_json": pa.array([json.dumps(label, ensure_ascii=False) for label in labels])}


def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """A CSV file of named columns in UTF-8, numbers at full precision.

    With more than ASCII in it, it begins with a byte-order mark: Excel takes it for Windows-1252 otherwise.
    """
    table = pa.table(dict(columns))
    out = io.BytesIO()
    arrow_csv.write_csv(table, out, arrow_csv.WriteOptions(quoting_style="needed", quoting_header="needed"))
    data = out.getvalue()
    return data if data.isascii() else codecs.BOM_UTF8 + data
