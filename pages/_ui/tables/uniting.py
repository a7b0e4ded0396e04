"""Several read files as one collection of reports."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pages._ui.tables.labels import Codes, Labels, clean, factorize
from pages._ui.tables.onefile import REPORT_WORDS, Counted, check_total, names_weight
from pages._ui.tables.reading import Dropped, check_size
from pages._ui.tables.tally import Counts, add_up
from rr_core.io.errors import UnreadableFile, quote
from rr_core.io.schema import CATEGORY_WORDS, COUNT_WORDS, Choice, Layout

_BIT_VECTOR = r"^\[?[01]([ ,;]*[01])+\]?$"

# A one-letter name may be a report.
_HEADERS = {word for word in CATEGORY_WORDS | COUNT_WORDS | REPORT_WORDS if len(word) > 1}


@dataclass(frozen=True)
class FileRead:
    """One file: the rows that were used and the reports they hold."""

    name: str
    rows: int
    reports: int


@dataclass(frozen=True, eq=False)
class Reports:
    """Collected reports, counted.

    Attributes
    ----------
    labels
        (m,) distinct str, dtype object, read-only, in order of first appearance over all files.
    counts
        (m,) read-only int64: reports of each label. 0 only where a table of counts says so.
    total
        Number of reports N, 1 to 2^53.
    rows
        Rows that were used; the others are in `dropped`.
    files
        What each file held, in the order given.
    merged
        Rows of a table of counts that were added to an earlier row of the same file (0 for values).
    notes
        Sentences about everything that was assumed, changed or looks odd.
    sha256
        One file: of its bytes. Several: of the hexadecimal SHA-256 of each, one after the other, in order.
    """

    labels: npt.NDArray[np.object_]
    counts: Counts
    total: int
    rows: int
    files: tuple[FileRead, ...]
    dropped: tuple[Dropped, ...]
    merged: int
    notes: tuple[str, ...]
    category_name: str
    count_name: str | None
    layout: Layout
    sha256: str


@dataclass(frozen=True)
class Shape:
    """The first file's columns and their use, which all files share."""

    name: str
    columns: tuple[str, ...]
    has_header: bool
    choice: Choice


@dataclass(frozen=True)
class ReadFile:
    """One file, read."""

    name: str
    counted: Counted
    sha256: str
    first_line: tuple[str, ...]


def unite(read: Sequence[ReadFile], shape: Shape) -> Reports:
    """All files together: names cleaned once, so that a name is the same category in each."""
    tallied = [file.counted.tallied for file in read]
    distinct, codes = factorize(pa.chunked_array([one.names for one in tallied], pa.large_string()))
    cleaned = clean(distinct, codes)
    column = shape.columns[shape.choice.category]
    check_size(len(cleaned.names), column, fewest=1)
    people = np.concatenate([one.people for one in tallied])
    check_total(people)
    if not people.any():
        raise UnreadableFile(
            f"All counts in the column {quote(shape.columns[shape.choice.count or 0])} are zero. Upload"
            " reports of at least one person."
        )
    labels = np.array(cleaned.names.to_pylist(), dtype=object)
    counts = add_up(cleaned.codes, people, len(labels))
    labels.setflags(write=False)
    counts.setflags(write=False)
    parts = np.split(cleaned.codes, np.cumsum([len(one.names) for one in tallied])[:-1])
    rows = [int(one.rows.sum()) for one in tallied]
    return Reports(
        labels=labels,
        counts=counts,
        total=int(counts.sum()),
        rows=sum(rows),
        files=tuple(
            FileRead(file.name, used, int(one.people.sum()))
            for file, one, used in zip(read, tallied, rows, strict=True)
        ),
        dropped=_dropped(read),
        merged=0 if shape.choice.count is None else sum(rows) - sum(len(np.unique(part)) for part in parts),
        notes=(
            *cleaned.notes,
            *_trimmed(len(distinct), codes, cleaned),
            *_notes(read, shape, cleaned.names, counts),
        ),
        category_name=column,
        count_name=None if shape.choice.count is None else shape.columns[shape.choice.count],
        layout=shape.choice.layout,
        sha256=_sha256([file.sha256 for file in read]),
    )


def _sha256(each: Sequence[str]) -> str:
    return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()


def _dropped(read: Sequence[ReadFile]) -> tuple[Dropped, ...]:
    several = len(read) > 1
    return tuple(
        dataclasses.replace(one, file=file.name if several else None)
        for file in read
        for one in file.counted.dropped
    )


def _trimmed(written: int, codes: Codes, cleaned: Labels) -> list[str]:
    """That names were counted together because only blanks or control characters tell them apart."""
    if written == len(cleaned.names):
        return []
    label = np.zeros(written, dtype=np.int64)
    label[codes] = cleaned.codes
    united = np.flatnonzero(np.bincount(label) > 1)
    named = ", ".join(quote(cleaned.names[int(i)].as_py()) for i in united[:3])
    forms = "One name is" if len(united) == 1 else f"{len(united):,} names are"
    return [
        f"{forms} written in several forms that differ in blanks or control characters only, and counted together:"
        f" {named}{', …' if len(united) > 3 else ''}."
    ]


def _notes(read: Sequence[ReadFile], shape: Shape, names: Any, counts: Counts) -> list[str]:
    notes = list(dict.fromkeys(note for file in read for note in file.counted.notes))
    first_with = {file.sha256: file for file in reversed(read)}
    for file in read:
        first = first_with[file.sha256]
        if first is not file:
            notes.append(
                f"{quote(file.name)} holds the same bytes as {quote(first.name)}; the reports of both were counted."
            )
    for file in read[1:]:
        words = {cell.strip().casefold() for cell in file.first_line}
        if not shape.has_header and words & _HEADERS:
            notes.append(
                f"The first line of {quote(file.name)} looks like a header and was read as a report, because"
                f" {quote(shape.name)} has no header."
            )
    for name in filter(names_weight, shape.columns):
        if name == shape.columns[shape.choice.category]:
            continue
        if shape.choice.count is None or name != shape.columns[shape.choice.count]:
            notes.append(f"The weights in the column {quote(name)} were not used: every person counts once.")
        else:
            notes.append(f"The whole numbers in the column {quote(name)} were taken as counts of people.")
    if shape.choice.count is None and len(counts) > 1 and counts.max() == 1:
        notes.append(
            "Every report occurs exactly once: this may be a column of user numbers and not of reports, or a"
            " table of counts."
        )
    if _are_bit_vectors(names):
        notes.append(
            "All reports are rows of 0 and 1 of the same length. If each is a whole bit vector, they come from"
            " unary encoding and not from k-RR: the estimators here do not apply to them."
        )
    return notes


def _are_bit_vectors(names: Any) -> bool:
    lengths = pc.min_max(pc.utf8_length(names))
    return bool(
        len(names) > 1
        and lengths["min"].as_py() == lengths["max"].as_py()
        and pc.all(pc.match_substring_regex(names, _BIT_VECTOR)).as_py()
    )
