"""The table of results as CSV, Parquet and JSON, every category at full precision."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pages._ui.your_reports import rows
from pages._ui.your_reports.files.facts import facts, strict_json
from pages._ui.your_reports.results import Results
from rr_core.io.csv_files import csv_bytes, csv_cell, untouched

# A JSON of more would be hundreds of megabytes of text; CSV and Parquet hold all.
MOST_JSON_ROWS = 100_000


def csv_file(found: Results) -> bytes:
    """All categories in the order of the domain; no spreadsheet runs a name as a formula."""
    columns = rows.table(found)
    names = [csv_cell(label) for label in columns["category"]]
    return csv_bytes(_arrow({**columns, "category": names}) | untouched(columns["category"], names))


def parquet_file(found: Results) -> bytes:
    """The same columns, names as they are, with all settings in the metadata: one key per part, in JSON."""
    table = pa.table(_arrow(rows.table(found)))
    about = {name: strict_json(part) for name, part in facts(found).items()}
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(about), out)
    return out.getvalue()


def json_file(found: Results, when: str) -> bytes:
    """Settings, versions, what was read and left out, tests, advice, and the table by column.

    Beyond MOST_JSON_ROWS categories the table holds the most reported ones; ``rows`` says how many of how many.

    Args:
        found: the results.
        when: date and time of the analysis.
    """
    k = found.used.mechanism.k
    chosen = rows.EVERY if k <= MOST_JSON_ROWS else found.used.by_reports[:MOST_JSON_ROWS]
    everything = {
        "analysed": when,
        **facts(found),
        "rows": {"held": min(k, MOST_JSON_ROWS), "of": k},
        "table": rows.table(found, chosen),
    }
    return (strict_json(everything) + "\n").encode()


def _arrow(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pa.array(values, pa.string()) if name == "category" else _numbers(values)
        for name, values in columns.items()
    }


def _numbers(values: NDArray[Any]) -> pa.Array:
    return pa.array(values)
