"""The table in an Excel workbook or an OpenDocument spreadsheet, as the text that a person would have saved it as."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import python_calamine as calamine

from rr_core.io.decoding import (
    COUNT_FIRST,
    DAMAGED,
    Decoded,
    UnreadableFile,
    faults_as,
    quote,
    quoted,
    unzipped,
)
from rr_core.limits import HELD_ROWS_MAX

MAX_CELLS = HELD_ROWS_MAX
"""Of one sheet, from its first used cell to its last: all of them are held, the empty ones too."""

_DAMAGED = DAMAGED.format(what="workbook")
_PASSWORD = "The workbook is protected by a password. Save it without one, or save the table as CSV."
_ENCRYPTED_EXCEL = "EncryptedPackage".encode("utf-16-le")
_ZIP, _EXCEL, _OPEN_DOCUMENT = b"PK", "Excel workbook", "OpenDocument spreadsheet"

# The cells with content, in the two formats: where each is, or how often it and its row are repeated.
_EXCEL_CELL = re.compile(rb"<(?:\w+:)?c\b[^>]*?\br=[\"']([A-Z]{1,9})([0-9]{1,9})[\"'][^>]*(?<!/)>")
_ROW_OR_CELL = re.compile(rb"<table:(table-row|table-cell|covered-table-cell|table)(?=[\s/>])([^>]*)>")
_REPEATED = re.compile(rb"-repeated=[\"']([0-9]{1,18})[\"']")

# Numbers are written with a point: one like 1.234 would be taken for one thousand and more, and 1.2340 is not.
_LIKE_THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(\.[0-9]{3})+")
_DIGITS = 15  # that a spreadsheet shows
_BREAKS = str.maketrans(dict.fromkeys("\0\t\n\r", " "))
_MOST_NAMED = 6


def read_sheet(data: bytes, wanted: str | None = None) -> Decoded:
    """The sheet with the wanted name; else the first visible one with two rows or more, or the first with any cell, as
    text: cells between tabs, every row a line of as many. Hidden ones come last. Cells are written as they are shown:
    dates as 2024-12-31, truth values as TRUE and FALSE, whole numbers without a point, formulas as the value saved
    with them."""
    program = _OPEN_DOCUMENT if b"opendocument" in data[:1000] else _EXCEL
    if _ENCRYPTED_EXCEL in data:
        raise UnreadableFile(_PASSWORD)
    if data.startswith(_ZIP):
        _check(data)
    with faults_as(_DAMAGED):
        try:
            with calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
                return _table(book, program, wanted)
        except calamine.PasswordError:
            raise UnreadableFile(_PASSWORD) from None
        except BaseException as error:
            # A panic in Rust, which is no Exception and whose class cannot be imported.
            if type(error).__name__ != "PanicException":
                raise
            raise UnreadableFile(_DAMAGED) from None


def as_shown(value: Any) -> str:
    """A cell as text.

    >>> as_shown(3.0), as_shown(0.1 + 0.2), as_shown(True), as_shown(datetime.datetime(2024, 12, 31))
    ('3', '0.3', 'TRUE', '2024-12-31')
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 10**_DIGITS:
            return str(int(value))
        text = format(value, f".{_DIGITS}g")
        return f"{text}0" if _LIKE_THOUSANDS.fullmatch(text) else text
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)


def _check(data: bytes) -> None:
    """Raise UnreadableFile for a workbook with a password, or with more than MAX_CELLS cells in a sheet."""
    parts = unzipped(data, lambda name: name.endswith((".xml", ".rels", "mimetype")), "workbook")
    if b"encryption-data" in parts.get("META-INF/manifest.xml", b""):
        raise UnreadableFile(_PASSWORD)
    for name, part in parts.items():
        if name == "content.xml":
            cells = max(_spans_of_tables(part), default=0)
        else:
            cells = _span_of_sheet(part) if name.startswith("xl/worksheets/") else 0
        if cells > MAX_CELLS:
            raise UnreadableFile(
                f"A sheet of the workbook spans more than {MAX_CELLS:,} cells. Delete what is far from the table, or save"
                " the table as CSV."
            )


def _span_of_sheet(part: bytes) -> int:
    """The number of cells of the smallest rectangle with all the content of an Excel sheet."""
    columns, first, last = set[bytes](), 10**9, 0
    for found in _EXCEL_CELL.finditer(part):
        columns.add(found[1])
        row = int(found[2])
        first, last = min(first, row), max(last, row)
    positions = [sum((letter - 64) * 26**i for i, letter in enumerate(reversed(name))) for name in columns]
    return (last - first + 1) * (max(positions) - min(positions) + 1) if positions else 0


def _spans_of_tables(part: bytes) -> Iterator[int]:
    """The same for each table of an OpenDocument spreadsheet, counted from its first row and column."""
    rows = height = across = width = 0
    for found in _ROW_OR_CELL.finditer(part):
        number = _REPEATED.search(found[2])
        times = int(number[1]) if number else 1
        if found[1] == b"table":
            yield height * width
            rows = height = width = 0
        elif found[1] == b"table-row":
            rows, across = rows + times, 0
        else:
            across += times
            if not found[2].endswith(b"/"):
                height, width = rows, max(width, across)
    yield height * width


def _table(book: calamine.CalamineWorkbook, program: str, wanted: str | None) -> Decoded:
    about = [one for one in book.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
    about.sort(key=lambda one: one.visible != calamine.SheetVisibleEnum.Visible)
    sheets = {one.name: book.get_sheet_by_name(one.name) for one in about}
    filled = [name for name, sheet in sheets.items() if sheet.end is not None]
    if wanted is not None and wanted not in filled:
        there = quoted(filled, _MOST_NAMED)
        raise UnreadableFile(f"There is no sheet {quote(wanted)}. The sheets of the workbook are {there}.")
    read: tuple[str, int, bytes, int, str] | None = None
    for name in filled if wanted is None else [wanted]:
        sheet = sheets[name]
        if sheet.width * sheet.height > MAX_CELLS:
            raise UnreadableFile(
                f"A sheet of the workbook spans more than {MAX_CELLS:,} cells. {COUNT_FIRST}"
            )
        above, text, rows, merged = _as_text(sheet)
        if rows and (read is None or rows > 1 >= read[3] or _is_table(text)):
            read = name, above, text, rows, merged
        if _is_table(text):
            break
    if read is None:
        raise UnreadableFile(
            "The workbook holds no cells that could be a table: charts and macros are not read."
        )
    name, above, text, _, merged = read
    names = (name, *(other for other in filled if other != name))
    notes = list[str]()
    if not (wanted or len(names) == 1):
        rest = f"{quote(names[1])} was" if len(names) == 2 else f"{len(names) - 1:,} other sheets were"
        notes.append(f"The table was read from the sheet {quote(name)}; {rest} not read.")
    if merged:
        notes.append(f"Merged cells, as that with {quote(merged)}, were read as that in each of their rows.")
    return Decoded(
        text, "text", notes=tuple(notes), program=program, separator="\t", above=above, sheets=names
    )


def _is_table(text: bytes) -> bool:
    """Whether there are two rows, and columns or values that come again: else they may be remarks."""
    rows = [line for line in text.split(b"\n") if line.strip()]
    return len(rows) > 1 and (b"\t" in text or len({*rows}) < len(rows))


def _as_text(sheet: calamine.CalamineSheet) -> tuple[int, bytes, int, str]:
    """The empty rows above, the rows below as text, how many are filled, and a cell that is merged over some."""
    first, last, rows = 0, 0, list[list[str]]()
    left, right, filled = sheet.width, 0, 0
    ends, held, merged = _merged_down(sheet), dict[int, tuple[int, str]](), ""
    for at, cells in enumerate(sheet.iter_rows()):
        row = [as_shown(cell).translate(_BREAKS) for cell in cells]
        for column, (end, cell) in held.items():
            if at <= end and not row[column]:
                row[column], merged = cell, merged or cell
        for column, end in ends.get(at, ()):
            # A number beside the first column may be that of all rows together, and is not repeated.
            if column == 0 or isinstance(cells[column], str):
                held[column] = end, row[column]
        used = [i for i, cell in enumerate(row) if cell.strip()]
        if not used and not rows:
            first += 1
            continue
        rows.append(row if used else [])
        if used:
            left, right, last, filled = min(left, used[0]), max(right, used[-1] + 1), len(rows), filled + 1
    return first, "".join(_line(row[left:right]) for row in rows[:last]).encode(), filled, merged


def _merged_down(sheet: calamine.CalamineSheet) -> dict[int, list[tuple[int, int]]]:
    """For each row, the columns of a sheet of which a cell there is merged with those below it, and their last rows."""
    ends = dict[int, list[tuple[int, int]]]()
    across = 0 if sheet.start is None else sheet.start[1]  # rows are counted from the first of the sheet
    for (top, column), (bottom, other) in sheet.merged_cell_ranges or ():
        if column == other and top < bottom and 0 <= column - across < sheet.width:
            ends.setdefault(top, []).append((column - across, bottom))
    return ends


def _line(row: Sequence[str]) -> str:
    return (
        "\t".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' if '"' in cell else cell for cell in row) + "\n"
    )
