"""Tables in text files: separator, header, and columns read by Arrow's parallel CSV reader."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv as arrow_csv

from rr_core.io.budget import Budget
from rr_core.io.columns import Columns, Hint, Row, column_names, detect_header, hints, numeric_columns
from rr_core.io.decoding import UnreadableFile, quote

MAX_COLUMNS = 1000
SAMPLE_ROWS = 8

_SAMPLE_BYTES = 1 << 18
DETECT_ROWS = 1000
# The longest line that can be read: Arrow needs a whole line in one block.
_BLOCK = 4 << 20
_PIECE_BLOCKS = 4
# So many records are read, and so many lines are skipped, between two looks at the clock; records may be long.
_STRETCH, _LOOK_AFTER = 16, 4096
_EMPTY_LINES: Any = re.compile(rb"\n*")
# Tried in this order when two explain the file equally well. A comma comes last: it may be a
# decimal comma ("a;0,25") or part of a name.
_SEPARATORS = ("\t", ";", ",")
# For a single column: a separator that the file does not contain.
_NOT_IN_FILES = "\x1f\x1e\x1d\x1c\x01\x02\x03\x04"


@dataclass
class _Ragged:
    """Handler that Arrow calls for each line with too many or too few fields; blank lines are skipped."""

    delimiter: str
    budget: Budget
    skipped: int = 0
    broken: str = ""

    def __call__(self, row: arrow_csv.InvalidRow) -> str:
        # Arrow hears of no exception from here, and calls for each of millions of lines.
        if _is_blank(row.text.split(self.delimiter)) and not (
            self.skipped % _LOOK_AFTER == 0 and self.budget.is_over
        ):
            self.skipped += 1
            return "skip"
        self.broken = row.text
        return "error"


@dataclass(frozen=True)
class TextTable:
    """A text table. `data` is UTF-8 with ``\\n`` line ends; `separator` None is a single column."""

    data: bytes = field(repr=False)
    separator: str | None
    has_header: bool
    columns: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    hints: tuple[Hint, ...]
    budget: Budget = field(default_factory=Budget, repr=False)
    unit: Literal["line", "row"] = "line"

    def pieces(self, indices: Sequence[int]) -> Iterator[Columns]:
        """The columns at `indices` as text, one block after another, blank lines left out.

        Raises
        ------
        UnreadableFile
            A line with more or fewer fields than the first, an endless quotation or line.
        """
        ragged, records = _Ragged(self._delimiter, self.budget), 0
        try:
            for table, done in self._tables(self._options(indices, ragged)):
                body = table.slice(1) if self.has_header and not records else table
                records += table.num_rows
                self.budget.spend(body.nbytes)
                yield Columns(tuple(body.column(str(i)) for i in indices), done=done)
        except pa.ArrowInvalid:
            self.budget.spend()
            raise self._unreadable(ragged.broken) from None
        yield Columns((), *self._blank_lines(records, ragged.skipped))

    def _tables(self, options: dict[str, Any]) -> Iterator[tuple[pa.Table, float]]:
        """The file in pieces, and the part of it behind each.

        Without quotation marks every line break ends a record: pieces can be cut, and each is parsed by all
        processors. Otherwise Arrow's own sequence of blocks is slower but right. Neither takes a piece of
        empty lines.
        """
        size, start = len(self.data), _EMPTY_LINES.match(self.data).end()
        text = pa.py_buffer(self.data)
        if b'"' in self.data:
            records, lines = 0, 1 + self.data.count(b"\n")
            # Closed, so that no thread of Arrow's is left reading when a script comes to its end.
            with arrow_csv.open_csv(pa.BufferReader(text.slice(start)), **options) as reader:
                for batch in reader:
                    records += batch.num_rows
                    yield pa.Table.from_batches([batch]), records / lines
            return
        while start < size:
            end = self.data.rfind(b"\n", start, start + _PIECE_BLOCKS * _BLOCK) + 1 or size
            end = size if start + _PIECE_BLOCKS * _BLOCK >= size else end
            yield arrow_csv.read_csv(text.slice(start, end - start), **options), end / size
            start = _EMPTY_LINES.match(self.data, end).end()

    def place(self, row: int) -> int:
        """The line of the file, from 1, on which a row of `pieces` starts."""
        remaining = row + self.has_header
        if b'"' not in self.data:
            return self._line(remaining)
        for line, rows in self._stretches():
            if remaining >= len(rows) and set(map(len, rows)) == {len(self.columns)}:
                remaining -= len(rows)
                continue
            for start, fields in _with_lines(line, rows):
                if not self._skips(fields):
                    if remaining == 0:
                        return start
                    remaining -= 1
        # Python's reader sees fewer records than Arrow's: no such file is known, but do not fail.
        return row + self.has_header + 1

    def _line(self, remaining: int) -> int:
        """The line of the record after so many others, where each line is a record unless it is skipped.

        Lines are counted a piece at a time, and looked at one by one only where a piece may hold a blank one, or
        the record.
        """
        seen = {*range(ord("!"), ord("~") + 1)} - {ord(self._delimiter)}
        unseen = bytes({*range(256)} - seen - {ord("\n")})
        line = start = 0
        while start < len(self.data):
            end = self.data.rfind(b"\n", start, start + _BLOCK) + 1 or len(self.data)
            piece = self.data[start:end].removesuffix(b"\n")
            records = piece.count(b"\n") + 1
            if remaining >= records and b"\n\n" not in b"\n" + piece.translate(None, unseen) + b"\n":
                line, remaining = line + records, remaining - records
            else:
                for text in piece.split(b"\n"):
                    line += 1
                    if text and not self._skips(text.decode().split(self._delimiter)):
                        if not remaining:
                            return line
                        remaining -= 1
            self.budget.spend()
            start = end
        return line + 1

    def _options(self, indices: Sequence[int], ragged: _Ragged) -> dict[str, Any]:
        """How Arrow is to read the columns at `indices`."""
        names = [str(i) for i in range(len(self.columns))]
        return {
            "read_options": arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=ragged.delimiter,
                quote_char='"' if self._quoting else False,
                newlines_in_values=self._quoting and b'"' in self.data,
                invalid_row_handler=ragged,
            ),
            # Everything as text: "01001", "NA" and "nan" are names, and counts are read by
            # `numbers`, which can say where one is wrong.
            "convert_options": arrow_csv.ConvertOptions(
                include_columns=[str(i) for i in indices],
                column_types=dict.fromkeys(names, pa.string()),
                check_utf8=False,
            ),
        }

    @property
    def _delimiter(self) -> str:
        if self.separator is not None:
            return self.separator
        return next((c for c in _NOT_IN_FILES if c.encode() not in self.data), _NOT_IN_FILES[0])

    @property
    def _quoting(self) -> bool:
        # In a list of single values one stray quotation mark is a character, not a quotation.
        return self.separator is not None or self.data.count(b'"') % 2 == 0

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Every record, blank ones included, with the line it starts on. Slow: for reports only."""
        for line, rows in self._stretches():
            yield from _with_lines(line, rows)

    def _stretches(self) -> Iterator[tuple[int, list[list[str]]]]:
        """The same, many records at a time, with the line on which the first of them starts."""
        lines = self._lines()
        if self._quoting:
            reader = csv.reader(lines, delimiter=self._delimiter)
        else:
            reader = csv.reader(lines, delimiter=self._delimiter, quoting=csv.QUOTE_NONE)
        rows: list[list[str]] = [[]]
        while rows:
            start, rows, failed = reader.line_num + 1, [], False
            try:
                rows.extend(itertools.islice(reader, _STRETCH))
            except csv.Error:
                failed = True
            self.budget.spend()
            yield start, rows
            if failed:
                start += sum(map(_height, rows))
                raise UnreadableFile(
                    f"Line {start} is far too long for a table. Check the line ends and the quotation marks there."
                )

    def _lines(self) -> Iterator[str]:
        """The lines, with their ends. Only some megabytes are made text at a time.

        Raises
        ------
        csv.Error
            A line that does not fit in a block.
        """
        start = 0
        while start < len(self.data):
            end = self.data.rfind(b"\n", start, start + _BLOCK) + 1
            if not end and start + _BLOCK < len(self.data):
                raise csv.Error("too long a line")
            end = end or len(self.data)
            yield from io.StringIO(self.data[start:end].decode(), newline="\n")
            start = end

    def _skips(self, fields: Row) -> bool:
        """Whether `pieces` leaves a record out: an empty line, or blanks of the wrong number."""
        return not fields or (len(fields) != len(self.columns) and _is_blank(fields))

    def _blank_lines(self, records: int, skipped: int) -> tuple[int, int]:
        """How many lines `pieces` left out, and the first of them (0 if none)."""
        count = skipped
        if b"\n\n" in self.data or self.data.startswith(b"\n"):
            if b'"' in self.data:
                count = sum(self._skips(fields) for _, fields in self._records())
            else:
                count = self.data.count(b"\n") + (not self.data.endswith(b"\n")) - records
        if not count:
            return 0, 0
        if not skipped and b'"' not in self.data:
            # Only empty lines, and every line is a record: no need to parse.
            if self.data.startswith(b"\n"):
                return count, 1
            return count, self.data.count(b"\n", 0, self.data.find(b"\n\n")) + 2
        return count, next(line for line, fields in self._records() if self._skips(fields))

    def _unreadable(self, broken: str) -> UnreadableFile:
        """The exception, with its sentence, for a line that Arrow could not parse."""
        width = len(self.columns)
        for line, fields in self._records():
            if len(fields) == width or self._skips(fields):
                continue
            if broken.count('"') % 2:
                return UnreadableFile(
                    f"A quotation mark is opened on line {line} ({quote(broken)}) and never closed. Close it,"
                    " or write two quotation marks where one belongs to the text."
                )
            advice = (
                "Put names that contain the separator in quotation marks."
                if len(fields) > width
                else "Every line needs the same number of fields."
            )
            text = (self.separator or "").join(fields)
            return UnreadableFile(
                f"Line {line} has {_fields(len(fields))} where the first line has {width}: {quote(text)}."
                f" {advice}"
            )
        return UnreadableFile(
            "A line of the file is too long for a table. Check that lines end where they should and that"
            " quotation marks are closed."
        )


def open_text(data: bytes, has_header: bool | None, budget: Budget | None = None) -> TextTable:
    """Find the separator, the header and the columns of a UTF-8 text.

    Raises
    ------
    UnreadableFile
        Nothing below the header, more than MAX_COLUMNS columns, an endless first line.
    """
    head = data[:_SAMPLE_BYTES]
    is_cut = len(head) < len(data)
    if is_cut:
        head = head[: head.rfind(b"\n") + 1]
    text = head.decode()
    separator = _detect_separator(text)
    data = _empty_leading_lines(data, separator)
    rows = _parse(text, separator)
    # The last record may be the half of a quoted one.
    rows = (rows[:-1] if is_cut and len(rows) > 1 else rows)[:DETECT_ROWS]
    if not rows:
        raise UnreadableFile("The first line is far too long for a table. Put each category on its own line.")
    width = len(rows[0])
    if width > MAX_COLUMNS:
        raise UnreadableFile(
            f"The first line has {width:,} fields; at most {MAX_COLUMNS:,} are read. Put each category on its"
            " own line."
        )
    header = detect_header(rows) if has_header is None else has_header
    body = rows[1:] if header else rows
    if not body:
        raise UnreadableFile(
            "The file has a header line and nothing below it. Add one line per category, or say that the"
            " first line is not a header."
        )
    columns = column_names(rows[0] if header else [""] * width)
    sample = tuple(tuple(row) for row in body[:SAMPLE_ROWS])
    return TextTable(
        data,
        separator,
        header,
        columns,
        sample,
        numeric_columns(body, width),
        hints(body, width),
        budget or Budget(),
    )


def _detect_separator(text: str) -> str | None:
    """The separator that splits most lines, evenly, and if possible into a column of numbers."""
    best: tuple[tuple[bool, bool], str] | None = None
    for separator in _SEPARATORS:
        rows = _parse(text, separator)[:DETECT_ROWS]
        if not rows or 2 * sum(len(row) > 1 for row in rows) < len(rows):
            continue
        even = 10 * sum(len(row) == len(rows[0]) for row in rows) >= 9 * len(rows)
        body = rows[1:] or rows
        score = (even, any(numeric_columns(body, max(map(len, rows)))))
        if best is None or score > best[0]:
            best = score, separator
    return best[1] if best else None


def _empty_leading_lines(data: bytes, separator: str | None) -> bytes:
    """Lines of separators and blanks at the top, made truly empty.

    A spreadsheet writes ",," for the empty rows above its table; the header is the first line that
    says something. The lines stay, so that line numbers do.
    """
    blank: Any = re.compile(b"[ \t\n" + re.escape((separator or "").encode()) + b"]*").match(data)
    end = data.rfind(b"\n", 0, blank.end()) + 1
    return data if end == 0 else b"".join([b"\n" * data.count(b"\n", 0, end), memoryview(data)[end:]])


def _parse(text: str, separator: str | None) -> list[list[str]]:
    """The first records of a sample that are not blank: DETECT_ROWS and one more."""
    if separator is None and text.count('"') % 2:
        return [[line] for line in text.split("\n") if line.strip()][: DETECT_ROWS + 1]
    delimiter = separator or next((c for c in _NOT_IN_FILES if c not in text), _NOT_IN_FILES[0])
    rows: list[list[str]] = []
    # A quotation that never ends makes a field too long for the reader: keep what came before it.
    with contextlib.suppress(csv.Error):
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter)
        rows.extend(itertools.islice((row for row in reader if not _is_blank(row)), DETECT_ROWS + 1))
    return rows


def _height(fields: Row) -> int:
    """The number of lines that a record takes."""
    return 1 + sum(cell.count("\n") for cell in fields)


def _with_lines(line: int, rows: list[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Records, of which the first starts on a line, each with its own."""
    for fields in rows:
        yield line, fields
        line += _height(fields)


def _is_blank(fields: Row) -> bool:
    return not any(cell.strip() for cell in fields)


def _fields(number: int) -> str:
    return "1 field" if number == 1 else f"{number:,} fields"
