"""CSV files that spreadsheets show as they are, and do not run."""

from __future__ import annotations

import codecs
import io
import json
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# The first characters that make a spreadsheet evaluate a cell; the last four are the full-width
# forms, which some spreadsheets accept as well.
_FORMULA_START = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def csv_cell(label: str) -> str:
    """A label for a CSV cell that no spreadsheet will run as a formula.

    Text whose first visible character is one of ``= + - @`` (or a tab or line break) gets an
    apostrophe in front; plain numbers such as -9000 are left alone. Quoting is the writer's work.

    >>> csv_cell("=1+1"), csv_cell("-5"), csv_cell("bus")
    ("'=1+1", '-5', 'bus')
    """
    if _PLAIN_NUMBER.fullmatch(label.strip()):
        return label
    starts_badly = label.startswith(_FORMULA_START) or label.lstrip().startswith(_FORMULA_START)
    return "'" + label if starts_badly else label


def by_category(labels: Sequence[str] | None, k: int, columns: Mapping[str, Any]) -> bytes:
    """A CSV file with a row for each of k categories: its name, or its number where the categories have no names, these
    columns, and last what `untouched` adds."""
    names = [csv_cell(name) for name in labels or map(str, range(1, k + 1))]
    last = {} if labels is None else untouched(labels, names)
    return csv_bytes({"category": names, **columns, **last})


def untouched(labels: Iterable[str], cells: Iterable[str]) -> dict[str, pa.Array]:
    """An additional last column with the original names, for a CSV file in which `csv_cell` changes a name.

    As JSON text: the quotation mark in front keeps a spreadsheet from running them, and any reader of JSON gives
    them back. Empty when every name can be written as it is.
    """
    if all(map(operator.eq, labels, cells)):
        return {}
    return {"category_json": pa.array([json.dumps(label, ensure_ascii=False) for label in labels])}


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
