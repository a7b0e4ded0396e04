"""A list of all categories, from pasted text or from a file."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pages._ui.tables.collected import Source
from pages._ui.tables.labels import clean, factorize
from pages._ui.tables.reading import open_table
from rr_core.io.errors import WrongDomain, quote
from rr_core.io.schema import CATEGORY_WORDS, suggest
from rr_core.io.text import TextTable
from rr_core.limits import K_MAX, K_MIN

_SEPARATORS = "\t;,"
_QUOTES = ("''", "“”", "‘’", "«»", "``")
_NUMBERED = r"… \([0-9]+\)$"


@dataclass(frozen=True, eq=False)
class Listed:
    """All categories by name, cleaned as labels of files are; `read_list` makes it."""

    labels: npt.NDArray[np.object_]
    notes: tuple[str, ...] = ()


def read_list(text_or_source: str | Source) -> Listed:
    """All categories, from pasted text or from a file.

    Text holds one category per line; a single line may separate them by tabs, semicolons or commas. Quotation
    marks around names and blanks go. Of a file the likeliest column is read, in any format that reports may
    have. Repeated names are one category.

    Raises
    ------
    WrongDomain
        An empty list, one category only, more than K_MAX.
    UnreadableFile
        A file that is no table.
    """
    if isinstance(text_or_source, Source):
        return from_column(*_column(text_or_source))
    cells, notes = _cells(text_or_source)
    return from_column(pa.chunked_array([pa.array(cells, pa.large_string())]), notes)


def _cells(text: str) -> tuple[list[str], tuple[str, ...]]:
    """The names in pasted text, and what was assumed."""
    # Half of a surrogate pair is no text, and Arrow would not take it.
    lines = [line for line in text.encode("utf-8", "replace").decode().splitlines() if line.strip()]
    notes: tuple[str, ...] = ()
    if len(lines) == 1:
        cells = _split(lines[0].strip())
    else:
        if all(line.rstrip()[-1] in ",;" for line in lines[:-1]):
            lines = [line.rstrip().rstrip(",;") for line in lines]
        cells = [_unquoted(line.strip()) for line in lines]
        columns = {line.count("\t") for line in lines}
        if len(columns) == 1 and columns != {0}:
            cells = [_unquoted(line.split("\t")[0].strip()) for line in lines]
            notes = ("The list has several columns; the first was read.",)
    cells = [cell.strip() for cell in cells if cell.strip()]
    for pair in _QUOTES:
        if cells and all(len(cell) > 1 and cell[0] + cell[-1] == pair for cell in cells):
            cells = [cell[1:-1] for cell in cells]
    if cells and cells[0].casefold() in CATEGORY_WORDS:
        notes += (
            f"The first name on the list, {quote(cells[0])}, was read as a category. Delete it if it is a title.",
        )
    return cells, notes


def _split(line: str) -> list[str]:
    """The names on the only line."""
    separator = next((mark for mark in _SEPARATORS if mark in line), None)
    if separator is None:
        return [_unquoted(line)]
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    except csv.Error:
        raise WrongDomain(
            "The list is one line in which a name is far too long. Give one category per line."
        ) from None


def _unquoted(cell: str) -> str:
    """One cell as CSV writes it."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


def _column(source: Source) -> tuple[Any, tuple[str, ...]]:
    table = open_table(bytes(source.data), source.name, None).table
    index = suggest(table).category
    notes: tuple[str, ...] = ()
    if len(table.columns) > 1:
        notes = (f"The list was read from the column {quote(table.columns[index])}.",)
    elif isinstance(table, TextTable) and table.has_header:
        notes = (f"The first line of the list, {quote(table.columns[index])}, was taken for its title.",)
    return table.read([index]).arrays[0], notes


def from_column(column: Any, notes: tuple[str, ...]) -> Listed:
    """The distinct, clean names of an Arrow column."""
    cleaned = clean(*factorize(column))
    k = len(cleaned.names)
    if k == 0:
        raise WrongDomain("The list of categories is empty. Give one category per line.")
    if k < K_MIN:
        raise WrongDomain(
            f"The list holds one category only ({quote(cleaned.names[0].as_py())}), and k-RR needs at least"
            f" {K_MIN}. Give all categories, one per line."
        )
    if k > K_MAX:
        raise WrongDomain(
            f"The list holds {k:,} categories; at most {K_MAX:,} can be used. Put rare categories together, in"
            " the reports too."
        )
    repeated = int(np.count_nonzero(cleaned.codes >= 0)) - k
    if repeated:
        merged = "One repeated name" if repeated == 1 else f"{repeated:,} repeated names"
        notes += (f"{merged} on the list counted once.",)
    if pc.any(pc.match_substring_regex(cleaned.names, _NUMBERED)).as_py():
        notes += (
            "Long names that begin alike are numbered in order of appearance, which may differ between the list"
            " and the reports. Shorten them in both.",
        )
    labels = np.array(cleaned.names.to_pylist(), dtype=object)
    labels.setflags(write=False)
    return Listed(labels, (*notes, *cleaned.notes))
