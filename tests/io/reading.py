"""What tests of the readers share: files made of texts, what was read as pairs, and the sentence on what is refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rr_core.io import Preview, Reports, Source, UnreadableFile, WrongDomain, inspect_reports, read_reports


def source(data: str | bytes, name: str = "a.csv") -> Source:
    return Source(name, data.encode() if isinstance(data, str) else data)


def reports_of(*files: str | bytes, name: str = "a.csv", **options: Any) -> Reports:
    """The reports in one file, or in several, whose names begin with a, b, c, …"""
    named = [f"{letter}{name[1:]}" for letter in "abcdef"] if len(files) > 1 else [name]
    return read_reports(list(map(source, files, named)), **options)


def preview_of(data: str | bytes, name: str = "a.csv", **options: Any) -> Preview:
    return inspect_reports(source(data, name), **options)


def parquet(columns: Any, **options: Any) -> bytes:
    """A Parquet file of a table, or of columns by name."""
    sink = io.BytesIO()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), sink, **options)
    return sink.getvalue()


def table(header: str, *columns: Any) -> bytes:
    """A CSV file with this first line."""
    rows = zip(*columns, strict=True)
    return f"{header}\n{''.join(','.join(map(str, row)) + chr(10) for row in rows)}".encode()


def pairs(found: Any) -> list[tuple[str, Any]]:
    """Labels with their counts or weights, in order."""
    numbers = found.weights if hasattr(found, "weights") else found.counts
    return list(zip(found.labels.tolist(), numbers.tolist(), strict=True))


def as_dict(found: Any) -> dict[str, Any]:
    return dict(pairs(found))


def is_plain(said: str) -> bool:
    """Whether it reads as one or two sentences for a person."""
    words = ("Traceback", "Error", "Arrow", "object", "None", "dtype")
    return (
        20 < len(said) < 700 and said.isprintable() and said.endswith(".") and not any(map(said.count, words))
    )


def refused(call: Callable[[], Any]) -> str:
    """The sentence by which it is refused, which is fit for a person."""
    with pytest.raises((UnreadableFile, WrongDomain)) as caught:
        call()
    assert is_plain(str(caught.value))
    assert len(str(caught.value)) < 300
    return str(caught.value)


def complaint(*files: str | bytes, **options: Any) -> str:
    """The sentence by which these files are refused as reports."""
    return refused(lambda: reports_of(*files, **options))
