"""Tables in text files: separator, header, and columns read by Arrow's parallel CSV reader; and CSV files, such that
spreadsheets show them as they are, and do not run them."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from rr_core.io.columns import (
    Columns,
    Row,
    Table,
    column_names,
    detect_header,
    hints,
    is_count_name,
    is_serial,
    is_usual_name,
    looks_numeric,
    notes_of_header,
    numeric_columns,
    refuse_headers,
)
from rr_core.io.decoding import NoRows, UnreadableFile, quote, quoted
from rr_core.plain_text import csv_columns
from rr_core.rounding import counted

MAX_COLUMNS = 1000
SAMPLE_ROWS = 8

_SAMPLE_BYTES = 1 << 18
DETECT_ROWS = 1000
# The longest line that can be read: Arrow needs a whole line in one block.
_BLOCK = 4 << 20
_PIECE_BLOCKS = 4
_EMPTY_LINES: Any = re.compile(rb"\n*")
# Tried in this order when two explain the file equally well. A comma comes last: it may be a
# decimal comma ("a;0,25") or part of a name.
_SEPARATORS = ("\t", ";", ",")
_SAID = re.compile(rb'"?sep=([;,\t|])"?[;,\t ]*\n', re.IGNORECASE)
_REMARK = re.compile(rb"\s*(#|%(?=\s)|//)")
# A quotation mark within a quotation as MySQL writes it; as other programs do, it would end the field.
_ESCAPED: Any = re.compile(rb'(?:^|[\n,;\t|])"[^"\n]*\\"[^"\n,;\t|]')
_IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"\s*:')
_SURVEY_MONKEY = {"response", "open-ended response"}
# Blank lines behind which another table is looked for, and lines and bytes of it that are looked at.
_MOST_BREAKS, _MOST_NEXT, _NEXT_BYTES = 100, 5, 4096
_IN_BRACKETS = re.compile(rb"\s*(\w+\()?[{\[(]")
# A table as R's dput prints it; c("a", "b") is a list of categories, too.
_R_CODE = re.compile(rb"\s*structure\((list|c)\(")
_SOURCE = re.compile(r'"?(sources?|quellen?|notes?)\s*:.*\b(19|20)\d\d\b"?[\s.,;|"]*', re.IGNORECASE)
# One cell below a table of several columns, where it is no row that lacks its count.
_END = re.compile(
    r'"?[\W_]*((end|fin) (of|de|du)\b|ende des\b|(exported|generated|created|printed|downloaded) |copyright\b|\u00a9|'
    r"[0-9,]+ rows?\b).*",
    re.IGNORECASE,
)
_FEWEST_VALUES = 4  # that show whether values of a single column come again
_MOST_TITLES = 12  # lines above a table that are looked at
_FEWEST_NAMED = 2  # rows, with the header, that may be named as R does, or be a table
# In a cell of its own, in quotation marks or not; behind it may stand the comma of a list of lists.
_BIT_LIST: Any = re.compile(
    rb'(?:\A|(?<=[\n,;\t|])) *("?)\[[01](?:[, \t]*[01])+\](?:,(?=\s*(?:\n|\Z)))?\1(?= *(?:[\r\n,;\t|]|\Z))'
)
# Rules of a table that is drawn, and what psql and MySQL say below it; and two numbers between two bars.
_DRAWN: Any = re.compile(rb"[-+|: =]*--[-+|: =]*|\(\d+ rows?\)|\d+ rows? in set.*")
_TWO_NUMBERS: Any = re.compile(rb"\d[ \t]{2,}\d")
# As `uniq -c` writes it: counts that end below one another, and a name behind a blank.
_COUNT_FIRST: Any = re.compile(rb" *([1-9][0-9]*) (\S[^\t]*)?")
# For a single column: a separator that the file does not contain.
_NOT_IN_FILES = "\x1f\x1e\x1d\x1c\x01\x02\x03\x04"


@dataclass
class _Ragged:
    """Handler that Arrow calls for each line with too many or too few fields; blank lines are skipped."""

    delimiter: str
    skipped: int = 0

    def __call__(self, row: arrow_csv.InvalidRow) -> str:
        if _is_blank(row.text.split(self.delimiter)):
            self.skipped += 1
            return "skip"
        return "error"


@dataclass(frozen=True, kw_only=True)
class TextTable(Table):
    """A text table: UTF-8 with ``\n`` line ends, below so many lines of `above`; `separator` None is a single column."""

    separator: str | None
    above: int = 0

    def pieces(self, indices: Sequence[int]) -> Iterator[Columns]:
        """The columns at `indices` as text, block by block, without blank lines; refuses lines of other widths."""
        ragged, records = _Ragged(self._delimiter), 0
        try:
            for table, done in self._tables(self._options(indices, ragged)):
                body = table.slice(1) if self.has_header and not records else table
                records += table.num_rows
                yield Columns(tuple(body.column(str(i)) for i in indices), done=done)
        except pa.ArrowInvalid:
            raise self._unreadable() from None
        yield Columns((), *self._blank_lines(records, ragged.skipped))

    def _tables(self, options: dict[str, Any]) -> Iterator[tuple[pa.Table, float]]:
        """The file in pieces, and the part of it behind each. Without quotation marks every line break ends a record:
        pieces can be cut, and each is parsed by all processors. Otherwise, beyond one block, Arrow's own blocks are
        slower but right."""
        size, start = len(self.data), _EMPTY_LINES.match(self.data).end()
        text = pa.py_buffer(self.data)
        if b'"' in self.data and size > _BLOCK:
            records, lines = 0, 1 + self.data.count(b"\n")
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
        wanted = row + self.has_header
        used = (line for line, fields in self._records() if not self._skips(fields))
        # Python's reader sees fewer records than Arrow's: no such file is known, but do not fail.
        return next(itertools.islice(used, wanted, None), self.above + wanted + 1)

    def _options(self, indices: Sequence[int], ragged: _Ragged) -> dict[str, Any]:
        """How Arrow is to read the columns at `indices`."""
        names = [str(i) for i in range(len(self.columns))]
        return {
            # One block is read in this thread: another may still hold what is Python's when a short script
            # ends, and Arrow then ends the process with an error.
            "read_options": arrow_csv.ReadOptions(
                use_threads=len(self.data) > _BLOCK, block_size=_BLOCK, column_names=names
            ),
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
        reader = csv.reader(
            io.TextIOWrapper(io.BytesIO(self.data), "utf-8", newline="\n"),
            delimiter=self._delimiter,
            quoting=csv.QUOTE_MINIMAL if self._quoting else csv.QUOTE_NONE,
        )
        line = self.above + 1
        try:
            for fields in reader:
                yield line, fields
                line = self.above + reader.line_num + 1
        except csv.Error:
            raise UnreadableFile(
                f"Line {line} is far too long for a table. Check the line ends and the quotation marks there."
            ) from None

    def _skips(self, fields: Row) -> bool:
        """Whether `pieces` leaves a record out: an empty line, or blanks of the wrong number."""
        return not fields or (len(fields) != len(self.columns) and _is_blank(fields))

    def _blank_lines(self, records: int, skipped: int) -> tuple[int, int]:
        """How many lines `pieces` left out, and the first of them (0 if none)."""
        quoted = b'"' in self.data
        if not quoted:
            count = self.data.count(b"\n") + (not self.data.endswith(b"\n")) - records
        elif b"\n\n" in self.data or self.data.startswith(b"\n"):
            count = sum(self._skips(fields) for _, fields in self._records())
        else:
            count = skipped
        if not count:
            return 0, 0
        if not skipped and not quoted:
            # Only empty lines, and every line is a record: no need to parse.
            if self.data.startswith(b"\n"):
                return count, self.above + 1
            return count, self.above + self.data.count(b"\n", 0, self.data.find(b"\n\n")) + 2
        return count, next(line for line, fields in self._records() if self._skips(fields))

    def _unreadable(self) -> UnreadableFile:
        """The exception, with its sentence, for a line that Arrow could not parse."""
        width = len(self.columns)
        for line, fields in self._records():
            if len(fields) == width or self._skips(fields):
                continue
            advice = (
                "Put names that contain the separator in quotation marks."
                if len(fields) > width
                else "Every line needs the same number of fields."
            )
            text = (self.separator or "").join(fields)
            return UnreadableFile(
                f"Line {line} has {counted(len(fields), 'field')} where the first line has {width}: {quote(text)}."
                f" {advice}"
            )
        return UnreadableFile(
            "A line of the file is too long for a table. Check that lines end where they should and that"
            " quotation marks are closed."
        )


def open_text(
    data: bytes, has_header: bool | None, separator: str | None = None, above: int = 0
) -> TextTable:
    """Find the table in a UTF-8 text, its header and columns, and the separator unless it is known. `above` lines of
    the file were taken away before.

    Remarks above it that begin with ``#``, and Excel's line ``sep=;``, are skipped; so is what Qualtrics and
    SurveyMonkey write below the header. What follows a blank line and does not fit the columns is not read. R's names
    of rows get a name, and MySQL's quotation marks are read. Refuses more than MAX_COLUMNS columns, an endless first
    line, code of R; NoRows where nothing is below the header.
    """
    whole, notes = data, list[str]()
    data, said = _below_remarks(data, notes)
    above += whole.count(b"\n", 0, len(whole) - len(data))
    del whole
    if _R_CODE.match(data):
        raise UnreadableFile(
            'This is code of R, as dput prints it, and no table: save the table in R by write.csv(x, "answers.csv").'
        )
    if b"\\" in data and _ESCAPED.search(data):  # to look for one byte is ten times faster
        data = data.replace(b"\\\\", b"\x00").replace(b'\\"', b'""').replace(b"\x00", b"\\")
        notes.append("Quotation marks behind a backslash were read as parts of their text.")
    data = _without_brackets(data, notes)
    if bare := _without_outer_quotes(data):
        data = bare
        notes.append("Each line was in quotation marks as a whole, which were taken away.")
    drawn, rules = _without_rules(data)
    if drawn:
        data, separator, above = drawn, "|", above + rules
    if of_uniq := _with_counts_behind(data, notes):
        data, has_header, above = of_uniq, True, above - 1
    separator = separator or said or _detect_separator(_head(data))
    # Lines of separators and blanks above the table are made truly empty; they stay, so that the numbers of lines do.
    blank: Any = re.compile(b"[ \t\n" + re.escape((separator or "").encode()) + b"]*").match(data)
    if end := data.rfind(b"\n", 0, blank.end()) + 1:
        data = b"".join([b"\n" * data.count(b"\n", 0, end), memoryview(data)[end:]])
    if titles := _titles(data, separator, notes):
        above, data = above + titles, data.split(b"\n", titles)[titles]
    data = _without_source(data, separator, notes)
    last = data.rfind(b'"')
    opens = separator and last >= 0 and data[max(0, last - 1) : last] in (b"", b"\n", separator.encode())
    if opens and b"\n" in data[last:].strip() and data.count(b'"') % 2:
        line, begin = above + data.count(b"\n", 0, last) + 1, data.rfind(b"\n", 0, last) + 1
        raise UnreadableFile(
            f"A quotation mark is opened on line {line} ({quote(_head(data[begin:]))}) and never closed. Close it, or "
            "write two quotation marks where one belongs to the text."
        )
    rows = _sample(data, separator)
    if rows and separator is None:
        data = _without_remark(data, rows, notes)
        rows = _sample(data, separator)
        if has_header is not False and (lines := _title_of_column(data, rows, notes)):
            above, data, rows = above + lines, data.split(b"\n", lines)[lines], rows[1:]
    if rows and separator:
        data = _first_table(data, separator, rows, above, notes)
        rows = _sample(data, separator)
        if _has_row_names(rows):
            start = len(data) - len(data.lstrip(b"\n"))
            data = b"".join([data[:start], b'""', separator.encode(), memoryview(data)[start:]])
            rows[0].insert(0, "")
            notes.append("Above the first column there is no name: it was taken for R's names of rows.")
    explained = 0 if has_header is False else _explanations(rows)
    if explained:
        data, lines = _without_explanations(data, rows[: 1 + explained])
        above, rows, has_header = above + lines, [rows[0], *rows[1 + explained :]], True
        what, was = ("line", "was") if explained == 1 else (f"{explained} lines", "were")
        notes.append(
            f"The {what} below the header, which {was} written by the survey's program, {was} skipped."
        )
    if not rows:
        raise UnreadableFile("The first line is far too long for a table. Put each category on its own line.")
    width = len(rows[0])
    if width > MAX_COLUMNS:
        raise UnreadableFile(
            f"The first line has {width:,} fields; at most {MAX_COLUMNS:,} are read. Put each category on its"
            " own line."
        )
    if has_header is not False and not explained:
        refuse_headers(rows)
    header = detect_header(rows) if has_header is None else has_header
    if has_header is None:
        notes += notes_of_header(rows, header)
    body = rows[1:] if header else rows
    if not body:
        raise NoRows(
            "The file has one line in brackets, as Python prints it: write a line for each category, with a comma "
            "between its name and its count."
            if _IN_BRACKETS.match(data)
            else "The file has a header line and nothing below it. Add one line per category, or say that the"
            " first line is not a header."
        )
    return TextTable(
        data=data,
        separator=separator,
        has_header=header,
        columns=column_names(rows[0] if header else [""] * width),
        sample=tuple(tuple(row) for row in body[:SAMPLE_ROWS]),
        numeric=numeric_columns(body, width),
        hints=hints(body, width),
        above=above,
        notes=tuple(notes),
        unit="line",
    )


def _head(data: bytes) -> str:
    """The first lines, as many as are looked at."""
    head = data[:_SAMPLE_BYTES]
    return (head[: head.rfind(b"\n") + 1] if len(head) < len(data) else head).decode()


def _sample(data: bytes, separator: str | None) -> list[list[str]]:
    """The first records."""
    rows = _parse(_head(data), separator)
    # The last record may be the half of a quoted one.
    return (rows[:-1] if len(data) > _SAMPLE_BYTES and len(rows) > 1 else rows)[:DETECT_ROWS]


def _below_remarks(data: bytes, notes: list[str]) -> tuple[bytes, str | None]:
    """The text below its remarks, and the separator that Excel's first line says."""
    said = _SAID.match(data)
    if said is not None:
        return _below_remarks(data[said.end() :], notes)[0], said[1].decode()
    remark = _REMARK.match(data)
    if remark is None:
        return data, None
    lines = data[:_SAMPLE_BYTES].splitlines(keepends=True)
    is_remark = [_REMARK.match(line) is not None for line in lines]
    first = next((i for i, line in enumerate(lines) if line.strip() and not is_remark[i]), len(lines))
    # Where names begin with # these are no remarks; and one may be the header.
    said = _SAID.match(lines[first]) if first < len(lines) else None
    inside = next((i for i, remark in enumerate(is_remark) if remark and i > first), 0)
    row = next((line for line in lines[first + bool(said) :] if line.strip()), b"")
    if inside and any(mark in row and mark not in lines[inside] for mark in (b"\t", b";", b",")):
        found = quote(lines[inside].decode(errors="replace"))
        raise UnreadableFile(f"{found} is a remark between the rows of the table: take it out.")
    if first == len(lines) or inside:
        return data, None
    head = b""
    marks = (one for one in (b"\t", b";", b",") if 0 < lines[first - 1].count(one) == lines[first].count(one))
    if said is None and is_remark[first - 1] and (mark := next(marks, None)):
        first -= 1
        head = lines[first].lstrip(b"#%/ \t")  # NumPy's mark is no part of the first name
        if any(looks_numeric(cell.decode(errors="replace")) for cell in head.split(mark)):
            head = b""
    number = sum(is_remark[:first])
    if number == 0:
        return head + data[len(head and lines[0]) :], None
    begin = "One line that begins" if number == 1 else f"{number:,} lines that begin"
    notes.append(
        f"{begin} with {remark[1].decode()} above the table {'was' if number == 1 else 'were'} skipped."
    )
    below = sum(map(len, lines[: first + bool(head or said)]))
    return head + data[below:], said[1].decode() if said else None


def _first_table(data: bytes, separator: str, rows: list[list[str]], above: int, notes: list[str]) -> bytes:
    """The text up to a blank line behind which another table begins, or nothing but remarks follow."""
    full = [row for row in rows[1:] if len(row) == len(rows[0])]
    numeric = numeric_in_all = numeric_columns(full, len(rows[0]))
    if not any(numeric):
        return data

    def fits(row: Row) -> bool:
        filled = [cell for cell, number in zip(row, numeric, strict=False) if number and cell.strip()]
        return len(row) == len(numeric) and all(map(looks_numeric, filled))

    def heads(row: Row) -> bool:
        titles = [
            cell.strip() == title.strip() or is_count_name(cell)
            for cell, title, number in zip(row, rows[0], numeric, strict=False)
            if number
        ]
        return len(row) == len(numeric) and all(titles) and not any(map(looks_numeric, row))

    blanks = rb"[ \t\n" + re.escape(separator.encode()) + rb"]"
    if not re.search(rb"\n" + blanks, data):
        return data  # no line is blank
    blank: Any = re.compile(rb"\n" + blanks + rb"*\n(?=[^\n])")
    start = len(data) - len(data.lstrip(b"\n"))
    quotations = counted = 0
    for found in itertools.islice(blank.finditer(data, start), _MOST_BREAKS):
        quotations += data.count(b'"', counted, found.start())
        counted = found.start()
        if quotations % 2 or data.count(b"\n", start, found.start() + 1) < _FEWEST_NAMED:
            continue  # within a quotation, or below the header, where no table ends
        # The other table may be the longer one: what is a number is judged above it.
        above_it = numeric_columns(full[: data.count(b"\n", start, found.start())], len(rows[0]))
        numeric = above_it if any(above_it) else numeric_in_all
        text = data[found.end() : found.end() + _NEXT_BYTES].decode(errors="replace")
        below = _parse("\n".join(text.split("\n", _MOST_NEXT)[:_MOST_NEXT]), separator)
        other = below and len(below[0]) not in (1, len(numeric)) and not any(map(fits, below[1:]))
        if below and (other or heads(below[0])):
            line = above + data.count(b"\n", 0, found.end()) + 1
            notes.append(
                f"Line {line:,} ({quote(separator.join(below[0]))}), below a blank line, begins another table: it and"
                " what follows were not read. Take the blank line out if all of it is one table."
            )
            return data[: found.start() + 1]
        if remarks := _remarks_below(data[found.end() :], separator):
            notes.append(_skipped("Below", remarks))
            return data[: found.start() + 1]
    return data


def _remarks_below(data: bytes, separator: str) -> list[str]:
    """The lines at the end of a file, where all of them are remarks: words without a number in a cell of its own."""
    if len(data) > _NEXT_BYTES:
        return []
    rows = _parse(data.decode(errors="replace"), separator)
    of_words = all(
        (" " in row[0].strip() and not any(map(looks_numeric, row)))
        or _SOURCE.fullmatch((separator or "").join(row).strip())
        for row in rows
    )
    return [" ".join(filter(None, map(str.strip, row))) for row in rows] if of_words else []


def _without_source(data: bytes, separator: str | None, notes: list[str]) -> bytes:
    """The text without a last line that says where the table is from, and when; or, in one cell, that it ends."""
    tail = data[-_NEXT_BYTES:]
    begin = tail.rstrip().rfind(b"\n") + 1
    last, start = tail[begin:].decode(errors="replace").strip(), len(data) - len(tail) + begin
    ends = separator and _END.fullmatch(last.rstrip(separator)) and separator not in last.rstrip(separator)
    if not begin or not (ends or _SOURCE.fullmatch(last)) or data.count(b'"', 0, start) % 2:
        return data
    notes.append(_skipped("Below", [last.rstrip(separator).strip('"')]))
    return data[:start]


def _without_remark(data: bytes, rows: list[list[str]], notes: list[str]) -> bytes:
    """The text of a single column of values that come again without remarks, or a line that it ends, below them."""
    tail = data[-_NEXT_BYTES:]
    found = re.search(rb"\n[ \t]*\n\s*(?=\S)", tail)
    if found is None and _END.fullmatch(tail.rstrip().rpartition(b"\n")[2].decode(errors="replace").strip()):
        found = re.search(rb"\n(?=[^\n]+\s*\Z)", tail)
    if found is None or b'"' in data:
        return data
    end = len(data) - len(tail) + found.start() + 1
    below = tail[found.end() :].decode(errors="replace").strip()
    lines = [line.strip() for line in below.split("\n")]
    values = [row[0].strip() for row in rows[: len(rows) - len(lines)]]
    if b"\n\n" in data[:end].lstrip(b"\n") or len(lines) > _MOST_NEXT or not _come_again(values):
        return data
    if not all(" " in line and line not in values for line in lines):  # of a blank line there is none, either
        return data
    notes.append(_skipped("Below", lines))
    return data[:end]


def _come_again(values: Sequence[str]) -> bool:
    return len(values) > _FEWEST_VALUES and 2 * len({*values}) <= len(values)


def _skipped(where: str, lines: Sequence[str]) -> str:
    """The sentence on titles or remarks beside a table."""
    return f"{where} the table: {quoted(lines, 2)}. That was skipped."


def _explanations(rows: list[list[str]]) -> int:
    """How many records below the header say what was asked: two of Qualtrics, one of SurveyMonkey."""
    if len(rows) > 2 and all(map(_IMPORT_ID.match, rows[2])):
        return 2
    below = [cell.strip().casefold() for cell in rows[1]] if len(rows) > 1 else []
    return int(len(below) > 1 and not below[0] and not _SURVEY_MONKEY.isdisjoint(below))


def _without_explanations(data: bytes, rows: list[list[str]]) -> tuple[bytes, int]:
    """The text without the first records but the header, and how many lines these took."""
    header, *others = (1 + "".join(row).count("\n") for row in rows)
    lines = sum(others)
    begin = end = len(data) - len(data.lstrip(b"\n"))
    for line in range(header + lines):
        end = data.find(b"\n", end) + 1 or len(data)
        begin = end if line < header else begin
    return data[:begin] + data[end:], lines


def _has_row_names(rows: list[list[str]]) -> bool:
    """Whether all rows have one field more than the first, which numbers them."""
    return (
        len(rows) > _FEWEST_NAMED
        and all(len(row) == len(rows[0]) + 1 for row in rows[1:])
        and is_serial([row[0].strip() for row in rows[1:]])
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
    if best is None and _are_separated_by_blanks(_parse(text, " "), text):
        return " "
    if best is None and _are_separated_by_bars(text):
        return "|"
    if best is None and _are_counts_behind_colons(text):
        return ":"
    return best[1] if best else None


def _are_separated_by_blanks(rows: list[list[str]], text: str) -> bool:
    """Whether these are rows as R and NumPy write them: of one length, and quoted, numbered or all numbers."""
    widths = {len(row) for row in rows[1:]}
    if len(rows) < _FEWEST_NAMED or len(widths) != 1 or len(rows[1]) < 2:
        return False
    of_numbers = all(looks_numeric(cell) for row in rows[1:] for cell in row) and len(rows[0]) == len(rows[1])
    if of_numbers and (all(map(looks_numeric, rows[0])) or len(rows) > _FEWEST_NAMED):
        return True
    quoted = all(line.startswith('"') for line in text.split("\n") if line.strip())
    return len(rows) > _FEWEST_NAMED and (_has_row_names(rows) or (quoted and len(rows[0]) == len(rows[1])))


def _are_separated_by_bars(text: str) -> bool:
    """Whether there is a table as SQLite writes it: as many bars in every line, none at its ends."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    bars = {line.count("|") for line in lines}
    if len(bars) != 1 or bars == {0} or any("|" in (line[0], line[-1]) for line in lines):
        return False
    rows = _parse(text, "|")
    return any(numeric_columns(rows[1:], len(rows[0])))


def _are_counts_behind_colons(text: str) -> bool:
    """Whether each line has a name that is no number, a colon and a number, as "agree: 400"; "- agree" is none."""
    rows = _parse(text, ":")
    names = {row[0].strip() for row in rows}
    return (
        _FEWEST_NAMED <= len(rows) == len(names)
        and all(len(row) == 2 and looks_numeric(row[1]) for row in rows)
        and not any(map(looks_numeric, names))
        and all(name[:1].isalnum() for name in names)
    )


def _without_brackets(data: bytes, notes: list[str]) -> bytes:
    """The text in which lists of bits, as Python prints lists and arrays, are bit strings."""
    brackets = data.count(b"[", 0, _SAMPLE_BYTES)
    if not brackets or len(_BIT_LIST.findall(data, 0, _SAMPLE_BYTES)) < brackets:
        return data
    notes.append("Lists of 0 and 1 in brackets were read as bit strings.")
    return bytes(_BIT_LIST.sub(lambda found: found[0].translate(None, b'"[], \t'), data))


def _without_outer_quotes(data: bytes) -> bytes:
    """The text of lines that were put into quotation marks as a whole, without these, where a table with a column
    of numbers is left; else nothing."""
    if len(data) > _PIECE_BLOCKS * _BLOCK:
        return b""
    first = data[:_SAMPLE_BYTES].strip().partition(b"\n")[0]
    mark = next((one for one in _SEPARATORS if one.encode() in first), "")
    if not mark or b'"' in first[1:-1]:
        return b""
    lines = [line for line in data.split(b"\n") if line]
    if not all(line.startswith(b'"') and line.endswith(b'"') for line in lines):
        return b""
    bare = b"\n".join(line[1:-1].replace(b'""', b'"') for line in lines)
    rows = _parse(_head(bare), mark)
    return bare if len({*map(len, rows)}) == 1 and any(numeric_columns(rows[1:], len(rows[0]))) else b""


def _without_rules(data: bytes) -> tuple[bytes, int]:
    """A table drawn with bars, as psql and Markdown do, without its rules, and how many are above it; else nothing."""
    if len(data) > _SAMPLE_BYTES or b"|" not in data or _TWO_NUMBERS.search(data):
        return b"", 0
    lines = [line.strip() for line in data.split(b"\n")]
    rules = {line for line in lines if _DRAWN.fullmatch(line)}
    places = [i for i, line in enumerate(lines) if line and line not in rules]
    rows = [lines[i].strip(b"|") for i in places]
    bars = {row.count(b"|") for row in rows}
    drawn = (
        len(rows) >= _FEWEST_NAMED and len(bars) == 1 and any(b"+" in rule or b"|" in rule for rule in rules)
    )
    return (b"\n".join(rows), places[1] - 1) if drawn and bars != {0} else (b"", 0)


def _with_counts_behind(data: bytes, notes: list[str]) -> bytes:
    """The table, with a header, of lines as `uniq -c` writes them, which may count the header, too; else nothing."""
    lines = data.strip(b"\n").split(b"\n") if _COUNT_FIRST.match(data) else []
    found = [one for line in lines if (one := _COUNT_FIRST.fullmatch(line))]
    rows = {one[2] or b"": one[1] for one in found}
    aligned = data.startswith(b" ") or any(line.startswith(b" ") for line in lines)
    if not aligned or not _FEWEST_NAMED <= len(lines) == len(rows) or len({one.end(1) for one in found}) > 1:
        return b""
    if is_serial([count.decode() for count in rows.values()]):
        return b""
    once = [name for name, count in rows.items() if count == b"1" and is_usual_name(name.decode())]
    header, mark = b"answer", b"\t"
    if once:  # the line of the header, which may say that the names are of several columns
        header, commas = once[0], once[0].count(b",")
        mark = b"," if commas and all(name.count(b",") == commas for name in rows) else mark
        del rows[header]
    most = max(rows, key=lambda name: int(rows[name]))
    about = f"{int(rows[most]):,} of {quote(most.decode())}"
    notes.append(f"Each line begins with its count, as uniq -c writes it: {about}.")
    return b"\n".join([header + mark + b"count", *map(mark.join, rows.items())])


def _titles(data: bytes, separator: str | None, notes: list[str]) -> int:
    """The number of lines with titles, which are skipped, above the table."""
    lines = _head(data).split("\n")[:_MOST_TITLES]
    if separator is None or any(line.count('"') % 2 for line in lines):
        return 0
    rows = [*csv.reader(lines, delimiter=separator), []]
    cells = [[cell for cell in row if cell.strip()] for row in rows]
    has_number = [any(map(looks_numeric, row)) for row in cells]
    is_header = [len(row) > 1 and has_number[i : i + 2] == [False, True] for i, row in enumerate(cells)]
    first = next((i for i, row in enumerate(cells) if len(row) > 1), 0)
    # Words in several cells are titles, too, if no table: above a blank line behind which there is a header.
    behind = next((i for i, row in enumerate(cells) if row and i > first and not cells[i - 1]), 0)
    uneven = any(len(row) not in (0, len(rows[behind])) for row in rows[:behind])
    named = any(map(is_usual_name, itertools.chain(*cells[:behind])))
    if is_header[behind] and not any(has_number[:behind]) and (uneven or not named):
        first = behind
    # Where no blank line is between them, the last title is as wide as the header.
    last = rows[first - 1]
    padded = last and len(last) == len(rows[first]) and last[0].strip() and is_header[first]
    titles = [separator.join(row) for row in cells[:first] if row]
    if not titles or (cells[first - 1] and not padded):
        return 0
    notes.append(_skipped("Above", titles))
    return first


def _title_of_column(data: bytes, rows: list[list[str]], notes: list[str]) -> int:
    """The lines of a title, of several words, above the usual name of a column of values that come again."""
    below = [row[0].strip() for row in rows[2:]]
    if not _come_again(below) or b'"' in data:
        return 0
    title, name = rows[0][0].strip(), rows[1][0].strip()
    if " " not in title or is_usual_name(title) or not is_usual_name(name) or {title, name} & {*below}:
        return 0
    notes.append(_skipped("Above", [title]))
    lines = _head(data).split("\n")
    return next(i for i, line in enumerate(lines) if line.strip() == name)


def _parse(text: str, separator: str | None) -> list[list[str]]:
    """The first records of a sample that are not blank: DETECT_ROWS and one more."""
    if separator is None and text.count('"') % 2:
        return [[line] for line in text.split("\n") if line.strip()][: DETECT_ROWS + 1]
    delimiter = separator or next((c for c in _NOT_IN_FILES if c not in text), _NOT_IN_FILES[0])
    rows: list[list[str]] = []
    # A quotation that never ends makes a field too long for the reader: keep what came before it.
    with contextlib.suppress(csv.Error):
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter)
        rows.extend(
            itertools.islice((row for row in filter(None, reader) if not _is_blank(row)), DETECT_ROWS + 1)
        )
    return rows


def _is_blank(fields: Row) -> bool:
    return not any(cell.strip() for cell in fields)


def by_category(labels: Sequence[str] | None, k: int, columns: Mapping[str, Any]) -> bytes:
    """A CSV file of these columns with a row for each of k categories, by name, or by number where they have none."""
    return csv_bytes(csv_columns({"category": labels or [*map(str, range(1, k + 1))], **columns}))


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
