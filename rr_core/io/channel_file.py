"""A channel's matrix as a person types it or keeps it in a file: one row per truth, one column per report."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rr_core import typed
from rr_core._validate import Array
from rr_core.io.decoding import UnreadableFile, quote
from rr_core.io.tables import decoded
from rr_core.rounding import counted

MOST_ROWS, MOST_COLUMNS = 200, 400
# Of a file: such a matrix with long numbers, blank lines and remarks among its rows.
_MOST_BYTES, _MOST_LINES = 4 << 20, 10_000
_SMALLER = f"A matrix has at most {MOST_ROWS} rows and {MOST_COLUMNS} columns: save those alone, a line for each truth."
# How far the sum of a row may be from one, or 100, as printed tables are rounded; beyond, a number is wrong.
_ROUNDED = 0.02
_EXACT = 1e-9
_OF_R = re.compile(r"\[(?:(\d{1,6}),|,(\d{1,6}))\]")  # how R prints the number of a row, or of a column
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_DECIMAL_COMMA = re.compile(r"\d+,\d+%?")
_NUMBER = re.compile(r"\d+(,\d+)?%?")
_BLANKS, _COMMAS = re.compile(r"\s+"), re.compile(r",\s+")
_ROW_OF_LIST = re.compile(r"\[([^\[\]]*)\]")  # of a matrix as Python, NumPy or JSON write it
_AROUND_ROWS = re.compile(r"\s*((np|numpy)\.)?(array)?[\s,()\[\]]*")
_RULE = re.compile(r"[\s|:+-]*-[\s|:+-]*")  # the line below the header of a table in Markdown
_BEFORE_COLON = re.compile(r'\s*"?([^:",;|\t]*[^:",;|\t\s])"?\s*:(?:\s+|\s*[,;|\t]\s*)(?=[\d.¼-¾⅐-⅞])')


@dataclass(frozen=True, eq=False)
class MatrixFile:
    """A matrix that was read.

    Attributes:
        matrix: (k, m), entry [x, y] = Pr(report = y | truth = x); rows sum to one.
        truths: k names, None where the file has none.
        reports: m names, None where the file has none.
        notes: a plain sentence for each thing that was understood or changed.
    """

    matrix: Array
    truths: tuple[str, ...] | None
    reports: tuple[str, ...] | None
    notes: tuple[str, ...]


def read_matrix_file(data: bytes, name: str) -> MatrixFile:
    """The matrix in a spreadsheet or a text file (CSV, TSV or blanks; .gz as well), see `read_matrix`."""
    found = decoded(data, name)
    if found.kind != "text":
        raise UnreadableFile(
            "A matrix is read from a text file or a spreadsheet: save the table as CSV and upload that."
        )
    return read_matrix(found.data.decode())


def read_matrix(text: str) -> MatrixFile:
    """The matrix in a text: rows are lines (or parts between semicolons, in a single line, or lists between
    brackets), numbers are like 0.25, 25%, 1/4, ¼ or, between semicolons, tabs, bars or blanks, 0,25. A first line and
    a first column of names are taken as such; names may be numbers, where the rest alone holds distributions, and as
    R prints them ("[1,]", or a line shorter by one). Rows that sum to one but for rounding, or to 100, are divided by
    their sum; where only the columns sum to one, rows and columns are swapped.

    Raises:
        UnreadableFile: one plain sentence that names the row and what to mend.

    >>> read_matrix("0.9 0.1; 1/5 80%").matrix.tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """
    rows = _cells(_OF_R.sub(r"\1\2", text))
    if len(rows) > 2 and len(rows[0]) == 1 < len(rows[1]) and _value(rows[0][0]) is None:
        rows = rows[1:]  # what the columns are, above their names
    if len(rows) > 3 and len(rows[1]) == 1 < len(rows[0]) == len(rows[2]) and _value(rows[1][0]) is None:
        rows = [rows[0], *rows[2:]]  # what the rows are, below them, as pandas writes it
    header, named = _names(rows)
    body = rows[1:] if header else rows
    titles = rows[0] if header else None
    if titles is not None and named and len(titles) == len(body[0]):
        titles = titles[1:]  # the corner
    told = [title for title in titles or () if _value(title) is not None]
    of_names = len(body) > 1 and all(map(_WHOLE.fullmatch, told))
    if (
        titles is not None and 0 < len(told) < len(titles) and not of_names
    ):  # chances, and a cell that is none
        header, body, titles = False, rows, None
    truths = tuple(row[0] for row in body) if named else None
    numbers = [row[1:] if named else row for row in body]
    matrix = _numbers(numbers, first=1 + header)
    if titles is not None and len(titles) != matrix.shape[1]:
        raise UnreadableFile(
            f"The first line names {counted(len(titles), 'report')}, but the rows have "
            f"{counted(matrix.shape[1], 'number')}: give each column one name."
        )
    for what, names in (("rows", truths or ()), ("columns", titles or ())):
        if twice := next((name for name in names if list(names).count(name) > 1), None):
            raise UnreadableFile(f"Two {what} are called {quote(twice)}: give each its own name.")
    read = _distributions(matrix, truths, None if titles is None else tuple(titles))
    note = ""
    if titles is not None and all(map(_WHOLE.fullmatch, titles)):
        note = f"The numbers of the first line, {', '.join(map(quote, titles[:3]))} …, were read as names of columns."
    elif titles is None and len(rows) > len(rows[0]) and _are_whole(rows[0]):
        note = (
            "The first line was read as the chances of a truth. If it holds names, write a word before them."
        )
    return dataclasses.replace(read, notes=(*read.notes, *filter(None, [note])))


def _names(rows: Sequence[Sequence[str]]) -> tuple[bool, bool]:
    """Whether the first line, and the first column, hold names: words, or whole numbers beside distributions."""
    first, below = rows[0], rows[1:]
    shorter = bool(below) and all(len(row) == len(first) + 1 for row in below)
    ends = (*first, *(row[0] for row in below))
    shorter = shorter and all(_value(cell) is None or _WHOLE.fullmatch(cell) for cell in ends)
    header = shorter or any(_value(cell) is None for cell in first[1:])
    header = header or (
        bool(below) and _value(first[0]) is None and any(_value(row[0]) is not None for row in below)
    )
    named = shorter or all(_value(row[0]) is None for row in (below if header else rows))
    if header and not below:
        return True, False
    readings = ((header, named), (header, True), (True, named), (True, True))
    # Names that happen to make sums of nearly one are told by the sums without them.
    for within, (line, column) in itertools.product((_EXACT, _ROUNDED), readings):
        body = [row[1:] if column else row for row in (below if line else rows)]
        above = first[1:] if column and len(first) == len(rows[-1]) else first
        beside = [row[0] for row in (below if line else rows)]
        fine = (line == header or _are_whole(above)) and (column == named or _are_whole(beside))
        if fine and _hold_distributions(body, within):
            header, named = line, column
            break
    if not header and len(rows) == len(first) + 1 and [*map(_value, first)] in ([0, 1], [1, 0]):
        header = _hold_distributions(below, _ROUNDED)  # 0 and 1 above a square table
    return header, named


def _are_whole(cells: Sequence[str]) -> bool:
    """Whether these are different whole numbers."""
    return len(cells) > 0 and all(map(_WHOLE.fullmatch, cells)) and len(set(cells)) == len(cells)


def _hold_distributions(rows: Sequence[Sequence[str]], within: float) -> bool:
    """Whether the rows of a table sum to one or 100, but for the part ``within``; or its columns, where it is square."""
    if len(rows) < 2 or len(set(map(len, rows))) > 1 or not rows[0]:
        return False
    if len(rows) > MOST_ROWS + 1 or len(rows[0]) > MOST_COLUMNS + 1:  # one may be names
        return False
    values = [[_value(cell) for cell in row] for row in rows]
    if any(value is None or not 0 <= value <= 100 for row in values for value in row):
        return False
    table = np.array(values, dtype=np.float64)
    tables = (table, table.T) if len(table) == table.shape[1] else (table,)
    return any(np.abs(one.sum(axis=1) / total - 1).max() <= within for one in tables for total in (1, 100))


def _cells(text: str) -> list[list[str]]:
    if len(text) > _MOST_BYTES or text.count("\n") > _MOST_LINES:
        raise UnreadableFile(
            f"The table has more than {_MOST_LINES:,} lines or {_MOST_BYTES:,} characters. {_SMALLER}"
        )
    text = text.lstrip("\ufeff")
    if "[" in text and _AROUND_ROWS.fullmatch(_ROW_OF_LIST.sub("", text)):
        text = "\n".join(" ".join(row.split()) for row in _ROW_OF_LIST.findall(text))
    lines = [line for line in text.splitlines() if re.search(r"[^\s;,|]", line) and not _RULE.fullmatch(line)]
    if len(lines) == 1 and ";" in lines[0]:
        lines = [line for line in lines[0].split(";") if line.strip()]
    ends = [line.rstrip().removesuffix(";") for line in lines]
    if not any(";" in line for line in ends):
        lines = ends  # of rows, as in MATLAB
    if _are_decimal_commas(lines, _COMMAS):
        lines = [_COMMAS.sub(";", line.strip()) for line in lines]
    if not lines:
        raise UnreadableFile("There are no numbers: write one row for each truth, like 0.8, 0.2.")
    named = [_BEFORE_COLON.match(line) for line in lines]
    if len(lines) > 1 and all(named[1:]):
        rest = [line[name.end() :] if name else line for name, line in zip(named, lines, strict=True)]
        rows = zip(named, _fields(rest), strict=True)
        return [[name[1].strip(), *row] if name else row for name, row in rows]
    return _fields(lines)


def _fields(lines: Sequence[str]) -> list[list[str]]:
    """The cells of each line."""
    together = "\n".join(lines)
    separator = next((one for one in ";\t" if one in together), None)
    if separator is None and all("|" in line for line in lines):
        separator, together = "|", "\n".join(line.strip().removeprefix("|") for line in lines)
    if separator is None:
        separator = "," if "," in together and not _are_decimal_commas(lines, _BLANKS) else None
    if separator is None and ('"' not in together or together.count('"') % 2):
        return [line.split() for line in lines]
    if separator is None:
        separator, together = " ", "\n".join(map(str.strip, lines))
    try:
        rows = list(csv.reader(io.StringIO(together), delimiter=separator, skipinitialspace=True))
    except csv.Error:
        raise UnreadableFile(
            "A quotation mark is never closed, so the rows cannot be told apart: close it, or leave it out."
        ) from None
    # A separator at the end of a row has an empty cell behind it.
    rows = [row[:-1] if len(row) > 1 and not row[-1].strip() else row for row in rows if row]
    return [[cell.strip() for cell in row] for row in rows]


def _are_decimal_commas(lines: Sequence[str], between: re.Pattern[str]) -> bool:
    """Whether commas stand within numbers that blanks, or commas and blanks, part: "0,8 0,2" or "0,8, 0,2". The first
    line may hold names, each line one."""
    numbers = [between.split(line.strip())[1:] for line in lines]
    rows = [row for i, row in enumerate(numbers) if i or all(map(_NUMBER.fullmatch, row))]
    return all(row and all(map(_NUMBER.fullmatch, row)) for row in rows) and any(
        _DECIMAL_COMMA.fullmatch(piece) for row in rows for piece in row
    )


def _value(cell: str) -> float | None:
    """The number in a cell, None where there is none."""
    if len(cell) > typed.LONGEST:
        return None
    text = cell.strip().replace(",", ".").replace("−", "-").replace("_", "x").replace("⁄", "/")
    if len(text) == 1 and not text.isascii() and unicodedata.decomposition(text).startswith("<fraction>"):
        return unicodedata.numeric(text)
    percent = text.endswith("%")
    above, slash, below = text.rstrip("% ").partition("/")
    try:
        value = float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError):
        return None
    if not math.isfinite(value):
        return None
    return value / 100 if percent else value


def _numbers(rows: Sequence[Sequence[str]], first: int) -> Array:
    """The numbers of the rows; ``first`` is the number of the first one's line."""
    if len(rows) < 2:
        here = "here" if first == 1 else "below the first line, which was read as names,"
        raise UnreadableFile(
            f"A matrix has at least two rows of numbers, one for each truth, and {here} is {'one' if rows else 'none'}: "
            "write each row on its own line."
        )
    width = len(rows[0])
    if not width:
        raise UnreadableFile(
            "There are no numbers beside the names: separate them by blanks, commas, semicolons or tabs."
        )
    if len(rows) > MOST_ROWS or width > MOST_COLUMNS:
        raise UnreadableFile(
            f"The matrix has {len(rows):,} rows and {width:,} columns; at most {MOST_ROWS} truths and {MOST_COLUMNS} "
            "reports are read here. For a larger one, use rr_core.protocols in Python."
        )
    matrix = np.empty((len(rows), width))
    for line, row in enumerate(rows):
        if len(row) != width:
            raise UnreadableFile(
                f"The first row has {counted(width, 'number')}, row {line + 1} has {len(row)}: give every row one for "
                "each report."
            )
        for column, cell in enumerate(row):
            value = _value(cell)
            if value is None or not 0 <= value <= 100:
                raise UnreadableFile(
                    f"Line {line + first}, column {column + 1} has {quote(cell)}, which is not a probability: write it "
                    "like 0.25, 25% or 1/4."
                )
            matrix[line, column] = value
    return matrix


def _total(sums: Array) -> tuple[float, float]:
    """100 or 1, whichever these are near to, and by which part they are off at most."""
    whole = 100.0 if np.abs(sums / 100 - 1).max() <= _ROUNDED else 1.0
    return whole, float(np.abs(sums / whole - 1).max())


def _distributions(
    matrix: Array, truths: tuple[str, ...] | None, reports: tuple[str, ...] | None
) -> MatrixFile:
    notes: list[str] = []
    rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
    whole, off = _total(rows)
    if off > _EXACT and matrix.shape[0] == matrix.shape[1]:
        across, off_across = _total(columns)
        if off_across <= (_ROUNDED if off > _ROUNDED else _EXACT):
            whole = across
            matrix, rows, truths, reports = matrix.T, columns, reports, truths
            notes.append(
                "Its columns sum to one, not its rows, so rows and columns were swapped: a row is a truth, a column a "
                "report."
            )
    wrong = np.abs(rows / whole - 1)
    if wrong.max() > _ROUNDED:
        line = int(wrong.argmax())
        raise UnreadableFile(
            f"Row {line + 1} sums to {rows[line]:.4g}, not to 1: a row holds the chances of all reports of one truth. "
            "Mend that row, or swap rows and columns."
        )
    if whole == 100:
        notes.append("The rows sum to 100, so the numbers were read as percentages.")
    if wrong.max() > _EXACT:
        low, high = rows.min(), rows.max()
        notes.append(f"The rows sum to {low:.6g} up to {high:.6g}; each was divided by its sum.")
    return MatrixFile(matrix / rows[:, None], truths, reports, tuple(notes))
