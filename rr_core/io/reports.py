"""From files of collected reports to the number of reports of each category.

The files hold one report per row, or one category per row with its count. Raw reports are counted while they
are read, so that ten million of them need no more memory than the file itself and its distinct values. Several files
are one collection. Counts may also be typed (`read_typed`).
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io import decoding, numbers
from rr_core.io.columns import (
    CATEGORY_WORDS,
    COUNT_WORDS,
    MANY_REPORTS,
    MIN_SIDEWAYS,
    NOT_COUNTS,
    REPORT_WORDS,
    WORDS,
    ColumnChoice,
    Layout,
    Table,
    are_chances,
    are_plainly_counts,
    choose,
    counts_beside,
    find,
    is_count_name,
    is_person_id,
    is_serial,
    is_share_name,
    is_weight_name,
    refuse_sideways,
    refuse_summary,
    suggest_reports,
    unused_numbers,
    words_of,
)
from rr_core.io.decoding import NoRows, Tell, UnreadableFile, megabytes, quote, quoted
from rr_core.io.distribution import Preview, inspect
from rr_core.io.labels import Codes, Labels, as_objects, clean, factorize
from rr_core.io.parquet import to_text
from rr_core.io.tables import (
    Counted,
    Counts,
    Dropped,
    add_up,
    check_size,
    count_values,
    has_name,
    number_columns,
    one_of,
    open_table,
    total_form,
    totals_of_groups,
    with_names,
)
from rr_core.limits import MAX_UPLOAD_BYTES, TYPED_LETTERS_MAX
from rr_core.rounding import counted as in_numbers

_ONE_LINE = 1 << 16
# Lines of tables that programs print: a rule between or below them, and a name with its number beside it.
_LOOKED_AT = 10_000
_RULE = (
    r"^[-=+|: \x{2500}-\x{257f}]*([-=]{2}:?[ +|]|[+|][-=]{2}|[\x{2500}-\x{257f}]{2})[-=+|: \x{2500}-\x{257f}]*$"
    r"|^\([0-9]+ rows?\)$|^\s*[-=_]{10,}\s*$|^\\begin\{"
)
_PRINTED = (
    r"\S(\s{2,}|\s*[|\x{2502}\x{2506}^~&]\s*|:\s+)[0-9][0-9.,' ]*(\s*[|\x{2502}\x{2506}].*)?$"
    r"|^[^=/?]+=\s*[0-9]+$|^[0-9.]+(\s+[0-9.]+)+$|^[({]['\"]|^[0-9]+\s{2,}\S|\s\w+=\S+$"
)
# A count that is typed behind a name, or before it: "bus 21", "yes - 412", "yes (n=412)", "yes: 412 people", "412 yes".
_BESIDE = re.compile(
    r"(?=.*[^\W\d_])(?P<name>.*?\S)(?P<mark>\s*[:=(]|\s*\(n\s*=|\s[-\u2013\u2014]|\s)\s*(?P<number>\d[\d.,']*)\)?(\s*\([^()]*%\))?"
    rf"(\s+({'|'.join(WORDS['of_total'])}))?"
    r"|(?P<first>\d+)\s+(?P<last>[^\W\d].*|\d+(-|\u2013|\+).*)"
)
_CUT = re.compile(r"\s*\d{3}\s*")  # the end of a number that a comma between thousands cut
_FEWEST_TYPED = 3  # of two names like "room 12", unless one says yes, nobody can tell
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+", re.ASCII)  # 0,234 is a share
_LAST = re.compile(rf",\s+({_THOUSANDS.pattern})$", re.ASCII)  # "yes,640,360" may be two numbers
_COLON = re.compile(r"^[^:]+:\s*[0-9][0-9,]*$")  # yes: 640
_LIKE = "write one answer and its number in each line, like: yes, 640."

_IN_THOUSANDS = re.compile(
    r"(?i)\b(thousands|millions|tsd|in 1[,.' ]?000s?|000s)\b|['\u2019]000\b"
)  # not n = 1,000
_FEWEST_MERGED = 2  # counts without a name; one may be their sum

_BIT_VECTOR = r"^\[?[01]([ ,;]*[01])+\]?$"

# A one-letter name may be a report.
_HEADERS = {word for word in CATEGORY_WORDS | COUNT_WORDS | REPORT_WORDS if len(word) > 1}


@dataclass(frozen=True)
class FileRead:
    """One file: the rows that were used and the reports they hold; and which rows hold totals, which were left out."""

    name: str
    rows: int
    reports: int
    totals: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Reports:
    """Collected reports, counted.

    Attributes:
        labels: (m,) distinct str, dtype object, read-only, in order of first appearance over all files; those that a
            file declares in its order.
        counts: (m,) read-only int64: reports of each label. 0 only where a table of counts says so.
        total: number of reports N, 0 to 2^53.
        rows: rows that were used; the others are in `dropped`.
        files: what each file held, in the order given.
        merged: rows of a table of counts that were added to an earlier row of the same file (0 for values).
        notes: sentences about everything that was assumed, changed or looks odd.
        has_header: whether the first line of a text names the columns; those of Parquet have names (True).
        sha256: of the bytes of one file; of several, of the hexadecimal SHA-256 of each, one after the other.
        columns: names of the columns of bits of unary encoding; else none.
        sheet: that was asked for, of a workbook; else None.
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
    has_header: bool
    layout: Layout
    sha256: str
    columns: tuple[str, ...] = ()
    sheet: str | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments by which `read_reports`, or of bits `read_unary`, reads the same columns again; and the sheet."""
        return {
            "layout": self.layout,
            **({} if self.columns else {"category": self.category_name}),
            "count": self.count_name,
            **({"columns": self.columns} if self.columns else {}),
            "has_header": self.has_header,
            **({} if self.sheet is None else {"sheet": self.sheet}),
        }


@dataclass(frozen=True)
class Shape:
    """Columns of the first file, which all others share; ``counts_beside`` refuses it where no report comes again."""

    name: str
    columns: tuple[str, ...]
    has_header: bool
    choice: ColumnChoice
    numeric: tuple[bool, ...]
    notes: tuple[str, ...] = ()
    counts_beside: str = ""


@dataclass(frozen=True)
class ReadFile:
    """One file after reading."""

    name: str
    counted: Counted
    sha256: str
    first_line: tuple[str, ...]


def unite(
    read: Sequence[ReadFile], shape: Shape, empty: Sequence[str] = (), all_zero: bool = False
) -> Reports:
    """The reports of all files; those without rows are only named. ``all_zero`` as in `read_reports`."""
    tallied = [file.counted for file in read]
    if len(tallied) == 1:  # of which the names are distinct
        distinct = tallied[0].names
        codes = np.arange(len(distinct), dtype=np.int32)
    else:
        distinct, codes = factorize(pa.chunked_array([one.names for one in tallied], pa.large_string()))
    written = len(distinct)
    cleaned = clean(distinct, codes)
    del distinct
    column = shape.columns[shape.choice.category]
    check_size(len(cleaned.names), column, fewest=1)
    people = np.concatenate([one.people for one in tallied])
    check_total(people)
    if shape.choice.count is None:
        _refuse_printed(cleaned.names, int(people.max(initial=0)))
        if shape.counts_beside and people.max(initial=0) == 1:
            raise UnreadableFile(shape.counts_beside)
    if not (people.any() or all_zero):
        raise UnreadableFile(
            f"All counts in the column {quote(shape.columns[shape.choice.count or 0])} are zero: choose another column "
            "or file."
        )
    counts = add_up(cleaned.codes, people, len(cleaned.names))
    del people
    parts = np.split(cleaned.codes, np.cumsum([len(one.names) for one in tallied])[:-1])
    rows = [int(one.rows.sum()) for one in tallied]
    # A tenth of the time of np.unique, which hashes.
    used = sum(int(np.count_nonzero(np.bincount(part + 1))) for part in parts)
    notes = (
        *cleaned.notes,
        *_trimmed(written, codes, cleaned),
        *_notes(read, shape, cleaned.names, counts),
        *(f"{quote(name)} has no rows, and was skipped." for name in empty),
    )
    del codes, parts
    labels = as_objects(cleaned.names)
    labels.setflags(write=False)
    counts.setflags(write=False)
    return Reports(
        labels=labels,
        counts=counts,
        total=int(counts.sum()),
        rows=sum(rows),
        files=tuple(
            FileRead(file.name, kept, int(one.people.sum()), one.totals)
            for file, one, kept in zip(read, tallied, rows, strict=True)
        ),
        dropped=tuple(
            dataclasses.replace(one, file=file.name if len(read) > 1 else None)
            for file in read
            for one in file.counted.dropped
        ),
        merged=0 if shape.choice.count is None else sum(rows) - used,
        notes=notes,
        category_name=column,
        count_name=None if shape.choice.count is None else shape.columns[shape.choice.count],
        has_header=shape.has_header,
        layout=shape.choice.layout,
        sha256=read[0].sha256
        if len(read) == 1
        else hashlib.sha256("".join(file.sha256 for file in read).encode()).hexdigest(),
    )


def _refuse_printed(names: Any, most: int) -> None:
    """Raise UnreadableFile for lines as programs print tables, or with a number beside each of different names."""
    first = names.slice(0, _LOOKED_AT)
    printed = pc.sum(pc.match_substring_regex(first, _PRINTED)).as_py() or 0
    if (most == 1 and 2 * printed >= len(first)) or pc.any(pc.match_substring_regex(first, _RULE)).as_py():
        raise UnreadableFile(
            "These are lines of a table as a program prints it, with blanks, bars or other marks between its columns: "
            "export it as CSV, or write a comma between each name and its count."
        )
    lines = first.to_pylist()
    if len(lines) > MIN_SIDEWAYS and not _BESIDE.fullmatch(lines[0]):  # what heads them
        lines = lines[1:]
    if most == 1 and _have_numbers(lines):
        raise UnreadableFile(
            f"Each line has a name and a number in one cell, as {quote(lines[0])}: give the counts a column of their "
            "own, behind a comma where the table is a text."
        )


def _refuse_cut(names: Sequence[str], amounts: Sequence[str]) -> None:
    """Raise UnreadableFile where commas within numbers, as in "yes: 1,234", were taken for those between columns."""
    if all(map(_CUT.fullmatch, amounts)) and _have_numbers(names, of_names=False):
        name, number = names[0].strip(), amounts[0].strip()
        raise UnreadableFile(
            f"{quote(name)} has a number beside the name, and {number} behind the comma. If that is one number, write it "
            "without the comma, and a comma between each name and its count."
        )


def _have_numbers(names: Sequence[str], *, of_names: bool = True) -> bool:
    """Whether each name has a number beside it, as a person types a count; not one ``of_names``, as in “room 12”."""
    found = [one for name in names if (one := _BESIDE.fullmatch(name.strip()))]
    if len(found) < len(names) or len(found) < MIN_SIDEWAYS:
        return False
    if len({one["name"] or one["last"] for one in found}) < len(found):
        return False
    if not of_names:
        return True
    marked = all(one["first"] or one["mark"].strip() for one in found)
    yes = any(one["name"] and one["name"].casefold() in WORDS["yes"] for one in found)
    few = len(found) < _FEWEST_TYPED and not (marked or yes)
    return not few and not is_serial([one["number"] or one["first"] for one in found])


def _trimmed(written: int, codes: Codes, cleaned: Labels) -> list[str]:
    """A sentence about names that were merged because they differ only in blanks or control characters."""
    if written == len(cleaned.names):
        return []
    label = np.zeros(written, dtype=np.int64)
    label[codes] = cleaned.codes
    united = np.flatnonzero(np.bincount(label) > 1)
    forms = "One name is" if len(united) == 1 else f"{len(united):,} names are"
    return [
        f"{forms} written in several forms that differ in blanks or control characters only, and counted together:"
        f" {quoted(cleaned.names.take(pa.array(united)).to_pylist())}."
    ]


def _notes(read: Sequence[ReadFile], shape: Shape, names: Any, counts: Counts) -> list[str]:
    notes = [*shape.notes, *dict.fromkeys(note for file in read for note in file.counted.notes)]
    earlier = dict[tuple[int, int], list[ReadFile]]()
    for file in read:
        before = earlier.setdefault((len(file.counted.names), int(file.counted.people.sum())), [])
        if (like := next((one for one in before if _same_people(one, file)), None)) is not None:
            notes.append(
                f"{quote(file.name)} has the same number of each report as {quote(like.name)}{TWICE}"
            )
        before.append(file)
    for file in read[1:]:
        words = {cell.strip().casefold() for cell in file.first_line}
        if not shape.has_header and words & _HEADERS:
            notes.append(
                f"The first line of {quote(file.name)} looks like a header and was read as a report, because"
                f" {quote(shape.name)} has no header."
            )
    used = [shape.columns[i] for i in (shape.choice.category, shape.choice.count) if i is not None]
    notes += [
        f"Of the columns called {quote(name)} the first was read; the next is {quote(f'{name} (2)')}."
        for name in used
        if f"{name} (2)" in shape.columns
    ]
    for name in filter(is_weight_name, shape.columns):
        if name == shape.columns[shape.choice.category]:
            continue
        if shape.choice.count is None or name != shape.columns[shape.choice.count]:
            notes.append(f"The weights in the column {quote(name)}{_NOT_USED}")
        else:
            notes.append(f"The whole numbers in the column {quote(name)} were taken as counts of people.")
    if shape.choice.count is None and len(counts) > 1 and counts.max() == 1:
        notes.append(
            "Every report occurs exactly once: this may be a column of user numbers and not of reports, or a"
            " table of counts."
        )
    if _are_bit_vectors(names):
        notes.append(OF_BIT_VECTORS)
    return notes


def _same_people(one: ReadFile, other: ReadFile) -> bool:
    """Whether two files are the same, or have each of many reports as often, in the same order."""
    mine, theirs = one.counted, other.counted
    return one.sha256 == other.sha256 or bool(
        mine.people.sum() >= _FEWEST_ALIKE
        and np.array_equal(mine.people, theirs.people)
        and mine.names.equals(theirs.names)
    )


_FEWEST_ALIKE = 100  # reports, below which two files may be alike by chance
# A note ends so.
TWICE = ", and both were counted: if they hold the same people, take one away."
NOT_READ = "Not read: "  # a note begins so
_NOT_USED = " were not used: every person counts once."


def read_again(notes: Iterable[str], *, weighted: bool) -> tuple[str, ...]:
    """What was noted of a file that is read again for groups or weights: no longer that other columns are not read;
    and where people are weighted, that nobody counts just once."""
    untrue = (_NOT_USED, NOT_COUNTS) if weighted else ()
    return tuple(
        note for note in notes if not (note.startswith(NOT_READ) or any(part in note for part in untrue))
    )


OF_BIT_VECTORS = (
    "All reports are rows of 0 and 1 of the same length. If each is a whole bit vector, they come from unary encoding "
    "and not from k-RR: say so where you are asked how the reports were made."
)


def _are_bit_vectors(names: Any) -> bool:
    lengths = pc.min_max(pc.utf8_length(names))
    return bool(
        len(names) > 1
        and lengths["min"].as_py() == lengths["max"].as_py()
        and pc.all(pc.match_substring_regex(names, _BIT_VECTOR)).as_py()
    )


# Unpacking and decoding take about this part of the time of a file.
_OPENING = 0.3


@dataclass(frozen=True)
class Source:
    """An uploaded file. `sheet` is that of a workbook, None for the first that seems to be a table."""

    name: str
    data: bytes | memoryview = dataclasses.field(repr=False)
    sheet: str | None = None

    @classmethod
    def of(cls, path: str | Path, sheet: str | None = None) -> Source:
        """The file at this path."""
        return cls(Path(path).name, Path(path).read_bytes(), sheet)


def inspect_reports(source: Source, *, has_header: bool | None = None) -> Preview:
    """What the first of the files seems to be; its suggestion is what `read_reports` does by default."""
    preview = inspect(bytes(source.data), source.name, has_header=has_header, sheet=source.sheet)
    choice = suggest_reports(preview)
    return dataclasses.replace(preview, layout=choice.layout, category=choice.category, count=choice.count)


def read_reports(
    files: Sequence[Source],
    *,
    layout: Layout | None = None,
    category: str | int | None = None,
    count: str | int | None = None,
    has_header: bool | None = None,
    all_zero: bool = False,
    progress: Tell | None = None,
) -> Reports:
    """Count the reports in one or more files of the same columns. O(rows); memory: the upload, one unpacked file and
    the distinct values; for a table of counts also its two columns.

    Args:
        files: at least one. Together at most MAX_UPLOAD_BYTES, packed and unpacked.
        layout: "values": one report per row. "counts": one row per category, with a whole number. None follows
            `inspect_reports` of the first file.
        category, count: columns, by name or position from 0; None follows the suggestion.
        has_header: overrides what is detected in the first file, which holds for all of them; ignored for Parquet.
        all_zero: accept a table of counts that are all zero, as the ones of unary encoding may be.
        progress: told the done part, 0 to 1, after each piece.

    Raises:
        UnreadableFile: with one sentence for the person who uploaded the files.
        ValueError: unknown `layout`, no files.

    >>> read = read_reports([Source("answers.txt", b"bus\\ncar\\nbus\\n")])
    >>> read.labels.tolist(), read.counts.tolist()
    (['bus', 'car'], [2, 1])
    """
    if layout not in (None, "counts", "values"):
        raise ValueError(f"layout must be 'counts', 'values' or None, got {layout!r}")
    if not files:
        raise ValueError("files must hold at least one file, got none")
    ordered = list(files)
    if (
        has_header is None and len(files) > 1
    ):  # one of a single line, which may be the header of an empty part, comes last
        ordered.sort(key=lambda source: _has_one_line(bytes(source.data)))
    sizes = np.cumsum([0, *(len(source.data) for source in ordered)])
    _check_together(int(sizes[-1]), MAX_UPLOAD_BYTES, "are larger")
    parts = (sizes / max(1, sizes[-1])).tolist()
    shape: Shape | None = None
    read: list[ReadFile] = []
    empty: list[tuple[str, UnreadableFile]] = []
    unpacked = 0
    for source, start, end in zip(ordered, parts, parts[1:], strict=False):
        with naming(source.name if len(files) > 1 else None):
            opened = start + _OPENING * (end - start)
            opening = _part(progress, start, opened)
            opening(0)
            data = source.data if isinstance(source.data, bytes) else bytes(source.data)
            header = shape.has_header if shape else has_header
            try:
                table = open_table(data, source.name, header, source.sheet, opening)
            except NoRows as error:
                if len(files) == 1:
                    raise
                empty.append((source.name, error))
                continue
            if shape is None:
                refuse_summary(table)
                if layout is None and category is None:
                    refuse_sideways(table)
                choice = pick(table, layout, category, count)
                assumed = _assumed(table, choice) if count is None else ()
                beside = counts_beside(table, choice.category) if choice.count is None else ""
                shape = Shape(
                    source.name, table.columns, table.has_header, choice, table.numeric, assumed, beside
                )
            _check_shape(table, shape)
            chosen, tell = shape.choice, _part(progress, opened, end)
            counted = (
                count_values(table, chosen.category, tell, declared=True)
                if chosen.count is None
                else _sum_counts(table, chosen.category, chosen.count, tell)
            )
            about = f"{quote(source.name)}: " if len(files) > 1 else ""
            notes = (*(f"{about}{note}" for note in table.notes), *counted.notes)
            sha256 = hashlib.sha256(data).hexdigest()
            first_line = table.sample[0] if table.sample else ()
            read.append(ReadFile(source.name, dataclasses.replace(counted, notes=notes), sha256, first_line))
        unpacked += len(table.data)
        _check_together(unpacked, decoding.MAX_UNPACKED_BYTES, "unpack to more")
    if shape is None:
        raise UnreadableFile(f"{quote(empty[0][0])}: {empty[0][1]}")
    given = [source.name for source in files]
    read.sort(key=lambda file: given.index(file.name))
    reports = unite(read, shape, [name for name, _ in empty], all_zero)
    return dataclasses.replace(reports, sheet=files[0].sheet)


def read_typed(text: str) -> Reports:
    """The reports in lines like "yes, 640", in the order given; an answer and its number may also be separated by
    semicolons, tabs or colons, a number have commas between its thousands, and an answer with commas be in quotation
    marks.

    >>> read = read_typed("yes, 1,234\\nno, 2,345")
    >>> read.labels.tolist(), read.counts.tolist()
    (['yes', 'no'], [1234, 2345])
    """
    if len(text) > TYPED_LETTERS_MAX:
        raise UnreadableFile(
            f"More than {TYPED_LETTERS_MAX:,} characters were typed. Give the numbers as a file."
        )
    lines = [line.strip() for line in text.splitlines()]
    of_colons = all(_COLON.search(line) for line in lines if line)
    separator = next((one for one in "\t;" if one in text), ":" if of_colons else ",")
    rows = []
    for line, written in enumerate(lines, 1):
        if written:
            rows.append(_answer_and_number(written, separator, line))
    if not rows:
        raise UnreadableFile(f"There are no answers: {_LIKE}")
    if all(number.strip("0") == "" for _, number in rows):
        raise UnreadableFile("All the numbers are zero: write how many people gave each answer.")
    out = io.StringIO()
    csv.writer(out, delimiter="\t").writerows(rows)
    source = Source("typed.tsv", out.getvalue().encode("utf-8", "replace"))
    return read_reports([source], layout="counts", category=0, count=1, has_header=False)


def _answer_and_number(written: str, separator: str, line: int) -> tuple[str, str]:
    cut, thousands = written, ""
    if separator == "," and (found := _LAST.search(written)):
        cut, thousands = f"{written[: found.start()]},", found[1]
    try:
        cells = next(csv.reader([cut], delimiter=separator, skipinitialspace=True))
    except csv.Error:
        cells = [cut]
    answer, *rest = (cell.strip() for cell in cells)
    number = thousands or separator.join(rest)
    if _THOUSANDS.fullmatch(number):
        number = number.replace(",", "")
    if not rest or (thousands and rest != [""]) or not answer or separator in number or not number:
        raise UnreadableFile(f"Line {line:,} is {quote(written)}: {_LIKE}")
    if number.endswith("%"):
        raise UnreadableFile(
            f"Line {line:,} has the share {quote(number)}: write how many people gave that answer."
        )
    return answer, number


def _part(progress: Tell | None, start: float, stop: float) -> Tell:
    """Told of one part of the work, whose 0 to 1 corresponds to `start` to `stop` of the whole."""
    return lambda done: progress is not None and progress(start + (stop - start) * done)


def _has_one_line(data: bytes) -> bool:
    try:
        data = decoding.gunzip(data, _ONE_LINE) if data.startswith(b"\x1f\x8b") else data
    except UnreadableFile:  # of more, or damaged
        return False
    return len(data) < _ONE_LINE and data.strip().count(b"\n") == 0


def _assumed(table: Table, choice: ColumnChoice) -> tuple[str, ...]:
    """A sentence where it is not sure whether the numbers of a column are counts."""
    if choice.count is None:
        return () if any(map(is_weight_name, table.columns)) else unused_numbers(table, choice)
    name = table.columns[choice.count]
    if is_count_name(name) or name.strip().casefold() in MANY_REPORTS or not table.has_header:
        return ()
    return (f"The numbers in the column {quote(name)} were taken for counts of reports.",)


def rivals(preview: Preview, taken: Sequence[str] = ()) -> tuple[int, ...]:
    """Positions of the columns, not ``taken``, that may all hold the reports, or their names; none if it is clear."""
    used = {name.casefold() for name in taken}
    some = [
        i
        for i, (name, hint) in enumerate(zip(preview.columns, preview.hints, strict=True))
        if name.casefold() not in used
        and not (is_weight_name(name) or is_person_id(preview, i))
        and not (hint.empty or hint.times or hint.constant or (hint.differs and len(preview.sample) > 2))
        and not (preview.numeric[i] and is_count_name(name))
        and not are_chances(preview, i)
        and not words_of(name) & WORDS["about_person"]
    ]
    words = REPORT_WORDS
    if preview.layout == "counts":
        # Names that come again, or stand above empty cells, as where cells are merged.
        full = max(hint.filled for hint in preview.hints)
        hints = preview.hints
        some = [i for i in some if not preview.numeric[i] and (hints[i].again or 2 * hints[i].filled <= full)]
        words = REPORT_WORDS | CATEGORY_WORDS - {"group", "class"}  # which may be whose answers these are
    else:
        some = [i for i in some if preview.hints[i].repeats] or some
    called = [i for i in some if words & words_of(preview.columns[i])]
    # A number in each row that is called value is a report, or how many there are of the one beside it.
    called += [i for i in some if preview.numeric[i] and CATEGORY_WORDS & words_of(preview.columns[i])]
    return () if len(some) < 2 or called == [preview.category] else tuple(some)


def pick(
    table: Table, layout: Layout | None, category: str | int | None, count: str | int | None
) -> ColumnChoice:
    """The layout and columns that the user chose, completed by `suggest_reports`: counts beside another category than
    the suggested one where they plainly are. Errors as in `columns.choose`."""
    proposal = suggest_reports(table)
    if count is not None or layout not in (None, proposal.layout):
        return choose(table, layout, category, count)
    if category is None:
        return proposal
    if layout is None:
        picked = find(table, category)
        counts = proposal.count
        if counts not in (None, picked) and (
            picked == proposal.category or are_plainly_counts(table, counts)
        ):
            return dataclasses.replace(proposal, category=picked)
        layout = "values"
    return choose(table, layout, category, count)


def _sum_counts(table: Table, category: int, count: int, tell: Tell) -> Counted:
    columns, blank = number_columns(table, [category, count], tell)
    (distinct, codes), (distinct_amounts, amount_codes) = columns
    names = to_text(distinct)
    named = has_name(names)
    kept = named[codes]
    if not table.has_header:
        _refuse_cut(
            names.slice(0, _LOOKED_AT).to_pylist(), to_text(distinct_amounts).slice(0, _LOOKED_AT).to_pylist()
        )
    parsed = numbers.parse(distinct_amounts)
    if is_weight_name(table.columns[count]) and np.any(parsed.values % 1 > 0):
        raise UnreadableFile(
            f"The column {quote(table.columns[count])} holds weights, which are no numbers of people. Choose one report"
            " per row, with the weights beside it, or upload counts of people."
        )
    if parsed.percent or is_share_name(table.columns[count]):
        raise UnreadableFile(
            f"The column {quote(table.columns[count])} holds shares by its name or its signs. Reports are"
            " counted people: upload counts, or rename the column if it holds them."
        )
    if _IN_THOUSANDS.search(table.columns[count]):
        raise UnreadableFile(
            f"The column {quote(table.columns[count])} counts in thousands by its name, and every report counts here: "
            "give the numbers of people themselves, or rename the column if it holds them."
        )
    shares = [name for name in table.columns if is_share_name(name)]
    if shares and len(kept) >= _FEWEST_TYPED and len(distinct_amounts) == 1:
        raise UnreadableFile(
            f"The column {quote(table.columns[count])} has the same number in each row, beside the shares in "
            f"{quote(shares[0])}: give the number of reports of each answer."
        )
    # Of an empty cell that it names in brackets, a pivot table has no count.
    blank_amounts = pc.equal(pc.utf8_trim_whitespace(pc.fill_null(to_text(distinct_amounts), "")), "")
    uncounted = one_of(names, WORDS["missing"])[codes]
    uncounted &= np.asarray(blank_amounts.to_numpy(zero_copy_only=False))[amount_codes]
    summaries = one_of(total_form(names), WORDS["mean"] | WORDS["deviation"])
    scores = summaries[codes] & (parsed.values != np.rint(parsed.values))[amount_codes]
    uncounted |= scores
    numbers.check(table, distinct_amounts, parsed.values, amount_codes, kept & ~uncounted, people=True)
    people = np.where(kept & ~uncounted, parsed.values[amount_codes], 0).astype(np.int64)
    totals, notes = totals_of_groups(table, category, count, codes, people)
    totals |= scores
    if scores.any():
        left = ", ".join(quote(names[code].as_py()) for code in codes[scores].tolist())
        notes += (f"Left out, as no numbers of people: {left}.",)
    people[totals] = 0
    check_total(people)
    k = len(names)
    rows = np.bincount(codes[~totals], minlength=k)
    nameless = parsed.values[amount_codes[~kept]]
    if np.count_nonzero(nameless > 0) >= _FEWEST_MERGED and 2 * len(nameless) >= len(kept):
        raise UnreadableFile(
            f"The column {quote(table.columns[category])} has no name in {len(nameless):,} of {len(kept):,} rows with "
            "counts, as where cells are merged: write the name in every row."
        )
    left_out = tuple(np.flatnonzero(totals).tolist())
    counted = Counted(names, rows, add_up(codes, people, k), (), (*parsed.notes, *notes), left_out)
    return with_names(table, counted, named & (rows > 0), blank, int(np.argmin(kept)))


def check_total(people: Counts) -> None:
    """Raise UnreadableFile when the sum of counts, each at most MAX_COUNT, exceeds MAX_COUNT."""
    # The sum of doubles cannot overflow, the sum of integers is exact where it does not.
    if people.sum(dtype=np.float64) > 2.0 * numbers.MAX_COUNT or people.sum() > numbers.MAX_COUNT:
        raise UnreadableFile(
            f"The counts add up to more than {numbers.MAX_COUNT:,}. Check the column of counts."
        )


def _check_together(size: int, limit: int, words: str) -> None:
    if size > limit:
        raise UnreadableFile(
            f"The files {words} than {megabytes(limit)} together. Count the reports first and upload one line"
            " per category with its count."
        )


@contextlib.contextmanager
def naming(name: str | None) -> Iterator[None]:
    """Prefix the sentence of an UnreadableFile with the name of the file, when there are several."""
    try:
        yield
    except UnreadableFile as error:
        if name is None:
            raise
        raise UnreadableFile(f"{quote(name)}: {error}") from error


def _check_shape(table: Table, shape: Shape) -> None:
    """Refuse a file whose columns are not those of the first."""
    mine, theirs = table.columns, shape.columns
    if len(mine) != len(theirs):
        raise UnreadableFile(
            f"it has {in_numbers(len(mine), 'column')}, and {quote(shape.name)} has {len(theirs)}. Upload files with the"
            " same columns, in the same order."
        )
    if not (shape.has_header and table.has_header):
        if table.numeric != shape.numeric and sorted(table.numeric) == sorted(shape.numeric):
            raise UnreadableFile(
                f"its columns of numbers are not those of {quote(shape.name)}, and no header says which is which. Upload "
                "files with the same columns, in the same order."
            )
        return
    for number, (one, other) in enumerate(zip(mine, theirs, strict=True), 1):
        if one != other:
            raise UnreadableFile(
                f"its column {number} is called {quote(one)}, and in {quote(shape.name)} {quote(other)}."
                " Upload files with the same columns, in the same order, each with its header."
            )
