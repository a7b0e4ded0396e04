"""From files of collected reports to the number of reports of each category.

The files hold one report per row, or one category per row with its count. Raw reports are counted while they
are read, so that ten million of them need no more memory than the file itself and its distinct values.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pages._ui.tables.onefile import AnyTable, count_reports, is_headed, pick, propose
from pages._ui.tables.progress import Meter
from pages._ui.tables.reading import Preview, inspect, open_table
from pages._ui.tables.uniting import ReadFile, Reports, Shape, unite
from rr_core.io import content
from rr_core.io.errors import UnreadableFile, megabytes, quote
from rr_core.io.schema import Layout
from rr_core.io.text import TextTable, open_text
from rr_core.limits import MAX_UPLOAD_BYTES

# Unpacking and decoding take about this part of the time of a file.
_OPENING = 0.3


@dataclass(frozen=True)
class Source:
    """An uploaded file. A memoryview is copied once, bytes are not."""

    name: str
    data: bytes | memoryview = dataclasses.field(repr=False)


def inspect_reports(source: Source, *, has_header: bool | None = None) -> Preview:
    """What the first of the files seems to be; its suggestion is what `read_reports` does by default.

    Raises
    ------
    UnreadableFile
        When the file is no table at all.
    """
    preview = inspect(bytes(source.data), source.name, has_header=has_header)
    if has_header is None and preview.has_header is False and is_headed(preview):
        preview = inspect(bytes(source.data), source.name, has_header=True)
    choice = propose(preview)
    return dataclasses.replace(preview, layout=choice.layout, category=choice.category, count=choice.count)


def read_reports(
    files: Sequence[Source],
    *,
    layout: Layout | None = None,
    category: str | int | None = None,
    count: str | int | None = None,
    has_header: bool | None = None,
    progress: Callable[[float], bool] | None = None,
) -> Reports:
    """Count the reports in one or more files of the same columns.

    Parameters
    ----------
    files
        At least one. Together at most MAX_UPLOAD_BYTES, packed and unpacked.
    layout
        "values": one report per row. "counts": one row per category, with a whole number. None follows
        `inspect_reports` of the first file.
    category, count
        Columns, by name or position from 0; None follows the suggestion. `count` is not used for values.
    has_header
        Overrides what is detected in the first file, which holds for all of them; ignored for Parquet.
    progress
        Told the done part, 0 to 1, every 50 ms or a little more while pieces are read, and 1 at the end. True
        asks to stop. Single steps cannot be stopped: cleaning a million names, or adding up a table of counts
        with millions of rows, takes seconds.

    Raises
    ------
    UnreadableFile
        With one sentence for the person who uploaded the files; it names the file when there are several.
    Stopped
        `progress` asked for it.
    ValueError
        Unknown `layout`, no files.

    Notes
    -----
    Time O(rows). Memory: the upload, one unpacked file and the distinct values; for a table of counts also
    its two columns.
    """
    if layout not in (None, "counts", "values"):
        raise ValueError(f"layout must be 'counts', 'values' or None, got {layout!r}")
    if not files:
        raise ValueError("files must hold at least one file, got none")
    meter = Meter(progress)
    ends = np.cumsum([len(source.data) for source in files])
    _check_together(int(ends[-1]), MAX_UPLOAD_BYTES, "are larger")
    ends = ends / max(1, ends[-1])
    shape: Shape | None = None
    read: list[ReadFile] = []
    unpacked = 0
    for source, start, end in zip(files, [0.0, *ends.tolist()], ends.tolist(), strict=False):
        with _naming(source.name if len(files) > 1 else None):
            meter.tell(start)
            opened = start + _OPENING * (end - start)
            data = source.data if isinstance(source.data, bytes) else bytes(source.data)
            header = shape.has_header if shape else has_header
            table = open_table(data, source.name, header, meter.part(start, opened)).table
            if shape is None:
                table = _headed(table, has_header)
                choice = pick(table, layout, category, count)
                shape = Shape(source.name, table.columns, _has_header(table), choice)
            _check_shape(table, shape)
            counted = count_reports(table, shape.choice, meter.part(opened, end))
            sha256 = hashlib.sha256(data).hexdigest()
            read.append(ReadFile(source.name, counted, sha256, table.sample[0] if table.sample else ()))
        unpacked += len(table.data)
        _check_together(unpacked, content.MAX_UNPACKED_BYTES, "unpack to more")
    assert shape is not None
    reports = unite(read, shape)
    meter.tell(1.0)
    return reports


def _check_together(size: int, limit: int, words: str) -> None:
    if size > limit:
        raise UnreadableFile(
            f"The files {words} than {megabytes(limit)} together. Count the reports first and upload one line"
            " per category with its count."
        )


@contextlib.contextmanager
def _naming(name: str | None) -> Iterator[None]:
    """Sentences about one of several files begin with its name."""
    try:
        yield
    except UnreadableFile as error:
        if name is None:
            raise
        raise UnreadableFile(f"{quote(name)}: {error}") from error


def _has_header(table: AnyTable) -> bool:
    return table.has_header if isinstance(table, TextTable) else True


def _headed(table: AnyTable, has_header: bool | None) -> AnyTable:
    """The first table, with the header that only a file of reports has."""
    if has_header is None and isinstance(table, TextTable) and not table.has_header and is_headed(table):
        return open_text(table.data, has_header=True)
    return table


def _check_shape(table: AnyTable, shape: Shape) -> None:
    """Refuse a file whose columns are not those of the first."""
    mine, theirs = table.columns, shape.columns
    if len(mine) != len(theirs):
        raise UnreadableFile(
            f"it has {_columns(len(mine))}, and {quote(shape.name)} has {len(theirs)}. Upload files with the"
            " same columns, in the same order."
        )
    if not (shape.has_header and _has_header(table)):
        return
    for number, (one, other) in enumerate(zip(mine, theirs, strict=True), 1):
        if one != other:
            raise UnreadableFile(
                f"its column {number} is called {quote(one)}, and in {quote(shape.name)} {quote(other)}."
                " Upload files with the same columns, in the same order, each with its header."
            )


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number:,} columns"
