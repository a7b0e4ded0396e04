"""Roles of the columns of a table: whether there is a header, which columns hold numbers, categories or
counts."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import pyarrow as pa

from rr_core.data import read_toml
from rr_core.io.decoding import UnreadableFile, quote, quoted

Layout = Literal["counts", "values"]
Row = Sequence[str]


WORDS = {name: frozenset(words) for name, words in read_toml("words.toml").items()}
CATEGORY_WORDS, COUNT_WORDS, SHARE_WORDS, PERSON_WORDS, WEIGHT_WORDS, REPORT_WORDS, MANY_REPORTS = map(
    WORDS.__getitem__, ("category", "count", "share", "person", "weight", "report", "many_reports")
)
"""Words in the names of columns."""

# A one-letter name is a header only when something else says so: "n" may be a value.
NO_ANSWERS = WORDS["missing"] | WORDS["perhaps_missing"]
# Rows of names, and of values below them that show that these come again.
_MOST_HEADERS, _FEWEST_BELOW = 3, 20
_HEADER_WORDS = {word for word in CATEGORY_WORDS | COUNT_WORDS | SHARE_WORDS if len(word) > 1}
_LONGEST_TITLE = 3  # words of a title with the word "answer" in it, rather than of an answer
_NUMBER = re.compile(
    r"[+\-\u2212]?(\d[\d.,' \u00a0\u202f]*|[.,]\d+)([eE][+-]?\d+)?(%(\s*\(\d[\d.,' ]*\))?|\(\d[\d., ]*%\))?"
    r"|[+-]?(nan|inf(inity)?)",
    re.IGNORECASE,
)
_OTHER = re.compile(r"others?\b", re.IGNORECASE)
_RANGE = re.compile(
    r"[\[(]?([<>\u2264\u2265]\s*\d[\d.,]*|\d[\d.,]*\s*([-\u2013\u2014,+]|to)\s*(\d[\d.,]*)?)[\])]?[a-z ]*",
    re.IGNORECASE,
)  # 18-24, 65+, < 18, [18, 25)
_WITH_SHARE = re.compile(r"\d[\d.,' ]*(%\s*\(\d[\d.,' ]*\)|\(\d[\d., ]*%\))")  # 31.2% (312), 312 (31.2%)
_COUNT_AND_SHARE = re.compile(r"\s*(n|counts?)\s*\(%\)\s*|\s*%\s*\(n\)\s*", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[^\W\d_][\w \-]*")
_UNLIKE_A_NAME = (re.compile(r"\d"), re.compile(r"[./:@]"))
_SERIAL_LEAST, _MARKED = 8, 0.95
_SHORTEST_NUMBERING, _CONSTANT_LEAST, _MEETINGS = 5, 30, 7
# UUIDs, long numbers, and addresses of e-mail.
_ID = re.compile(r"(?=.*\d)[0-9a-f]{8}[0-9a-f\-]{4,}|[0-9]{6,}|[^@\s]+@[^@\s]+\.\w+", re.IGNORECASE)
_WHOLE = re.compile(r"[0-9]{1,18}")
_THOUSANDS = re.compile(r"[0-9]{3}")
_CHANCE = re.compile(r"0?[.,][0-9]*[1-9][0-9]*")
_YEAR = re.compile(r"(19|20)[0-9]{2}")
_BIT_STRING = re.compile(r"[01]{2,}")
_NUMBERED, _CODE = re.compile(r"([^\W\d_]{1,4}[-_]?)\d+"), re.compile(r"0\d+")
_TIME = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ,]+\d.*)?|\d{1,2}:\d{2}(:\d{2}.*)?"
    r"|([^\W\d_]{3,9}\.? \d{1,2},? |\d{1,2}\.?[ -][^\W\d_]{3,9}\.?[ -])\d{4}([T ,]+\d.*)?",  # Mar 01, 2026; 1 mars 2026
)
MIN_SIDEWAYS = 2
_SUMMARIES = ({"count", "mean", "std"}, {"count", "unique", "top", "freq"})  # rows of a summary by pandas
BITS_LEAST = 3
"""So many columns of 0 and 1 are the bits of unary encoding; fewer may be questions of their own."""


@dataclass(frozen=True)
class Hint:
    """Properties of a column, judged by the first rows.

    Attributes:
        differs: all values are different.
        looks_like_ids: and consecutive numbers from 0 or 1, UUIDs, or addresses: identifiers of persons.
        repeats: at most half as many distinct values as rows: answers rather than counts.
        bits: all values are 0 or 1.
        constant: at least `_CONSTANT_LEAST` values, all the same.
        again: a value occurs more than once.
        serial: consecutive numbers from 0 or 1, in any order: rows that somebody numbered.
        unlike_counts: whole numbers, each larger than the one before; or all different in a range in which so many drawn
            at random would meet `_MEETINGS` times.
        bit_strings: all values are words of 0 and 1, two letters or more, of one length.
        empty: no value.
        filled: how many cells have one.
        times: all values are dates or times of day.
        numbered: all values are different numbers behind the same letters, as m02083 and m00017.
        few: at least two distinct values, and at most a tenth as many as rows.
        codes: the values repeat, and a whole number has a zero in front of it, as 007 has.
    """

    differs: bool = False
    looks_like_ids: bool = False
    repeats: bool = False
    bits: bool = False
    constant: bool = False
    again: bool = False
    serial: bool = False
    unlike_counts: bool = False
    bit_strings: bool = False
    empty: bool = False
    filled: int = 0
    times: bool = False
    numbered: bool = False
    few: bool = False
    codes: bool = False


def cells_of(rows: Sequence[Row], index: int) -> list[str]:
    """The cells of a column, where rows have one, without blanks around them."""
    return [row[index].strip() for row in rows if index < len(row)]


def hints(rows: Sequence[Row], width: int) -> tuple[Hint, ...]:
    """A hint for each column."""
    return tuple(_hint(cells_of(rows, i)) for i in range(width))


def _hint(cells: list[str]) -> Hint:
    filled = [cell for cell in cells if cell]
    distinct = set(filled)
    unlike, many = len(distinct) == len(filled), len(filled) >= _SERIAL_LEAST
    repeats = many and 2 * len(distinct) <= len(filled)
    whole = unlike and len(filled) >= _SHORTEST_NUMBERING and all(map(_WHOLE.fullmatch, filled))
    serial = whole and is_serial(filled)
    return Hint(
        differs=many and unlike,
        looks_like_ids=many and unlike and (serial or all(map(_ID.fullmatch, filled))),
        repeats=repeats,
        bits=bool(filled) and distinct <= {"0", "1"},
        constant=len(distinct) == 1 and len(filled) >= _CONSTANT_LEAST,
        again=not unlike,
        serial=serial,
        unlike_counts=whole and _are_unlike_counts(list(map(int, filled))),
        bit_strings=bool(filled)
        and len(set(map(len, distinct))) == 1
        and all(map(_BIT_STRING.fullmatch, distinct)),
        empty=not filled,
        filled=len(filled),
        times=bool(filled) and all(map(_TIME.fullmatch, distinct)),
        numbered=many and unlike and _are_numbered(filled),
        few=many and 20 <= 10 * len(distinct) <= len(filled),
        codes=repeats and any(map(_CODE.fullmatch, distinct)),
    )


def _are_numbered(cells: list[str]) -> bool:
    found = [_NUMBERED.fullmatch(cell) for cell in cells]
    return all(found) and len({one[1] for one in found if one}) == 1


def _are_unlike_counts(different: list[int]) -> bool:
    pairs, width = math.comb(len(different), 2), max(different) - min(different) + 1
    return pairs >= _MEETINGS * width or all(one < other for one, other in itertools.pairwise(different))


def is_serial(cells: list[str]) -> bool:
    """Whether the cells are consecutive whole numbers from 0 or 1, in any order."""
    if not cells or not all(map(_WHOLE.fullmatch, cells)):
        return False
    numbers = sorted(map(int, cells))
    return numbers[0] <= 1 and numbers[-1] - numbers[0] == len(numbers) - 1


def is_title(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell is the title of the cells below: none of them, and a usual title or unlike most of them in form.
    Codes have digits, addresses have dots; "icd10" is a name all the same."""
    filled = [other for other in below if other]
    if cell in filled or not filled:
        return False
    if cell.casefold() in WORDS["title"] or _has_report_word(cell):
        return True
    if len(filled) < 4 or not _PLAIN_NAME.fullmatch(cell):
        return False
    marked = max(
        sum(bool(mark.search(other)) for other in filled) for mark in _UNLIKE_A_NAME if not mark.search(cell)
    )
    return marked >= _MARKED * len(filled) or (cell.islower() and all(other.isupper() for other in filled))


def _has_report_word(cell: str) -> bool:
    """Whether a cell is a short title with a word for reports, as "your answer" is, and not "no answer"."""
    words = words_of(cell) - {""}
    return bool(words & REPORT_WORDS) and len(words) <= _LONGEST_TITLE and cell.casefold() not in NO_ANSWERS


@dataclass(frozen=True)
class Columns:
    """A piece of a table: some of its columns as Arrow arrays (none: no rows), the blank lines skipped, the part read."""

    arrays: tuple[pa.ChunkedArray, ...]
    blank_lines: int = 0
    first_blank: int = 0
    done: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Described:
    """A file whose columns are known.

    Attributes:
        columns: their names.
        sample: the first rows.
        numeric, hints: of each column, whether it seems to hold numbers, and other properties.
        sheets: names of the sheets of a workbook that hold something, the one that was read first; else none.
    """

    columns: tuple[str, ...]
    sample: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    hints: tuple[Hint, ...]
    sheets: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table(Described):
    """A file whose data can be read too: text or Parquet.

    Attributes:
        data: the bytes.
        has_header: whether the first line names the columns; those of Parquet have names.
        notes: sentences about what was skipped.
        unit: what `place` counts.
    """

    data: bytes = field(repr=False)
    has_header: bool = True
    notes: tuple[str, ...] = ()
    unit: Literal["line", "row"] = "row"

    def pieces(self, indices: Sequence[int]) -> Iterator[Columns]:
        """The columns at `indices`, in that order, in pieces of some megabytes; the last piece tells the blank lines."""
        raise NotImplementedError

    def place(self, row: int) -> int:
        """Position in the file, counted from 1, of a row of `pieces`, counted from 0."""
        return row + 1


@dataclass(frozen=True)
class ColumnChoice:
    """A layout and the columns it needs; `count` is None for values."""

    layout: Layout
    category: int
    count: int | None


HEADER_SWITCH = "“First row is a header”"
"""What a person sets where the first line was read otherwise than meant."""
_DECIMALS = range(19)  # of floating numbers, of which NumPy writes 18
ONES, ZEROS = (
    {word, *(f"{bit:.{digits}{form}}" for digits in _DECIMALS for form in "ef")}
    for bit, word in ((1, "true"), (0, "false"))
)
"""As programs write bits, in small letters: 1, 1.0 and 1.000000000000000000e+00."""


def looks_numeric(cell: str) -> bool:
    """Whether a person would call the cell a number, in any of the usual ways of writing one."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def numeric_columns(rows: Sequence[Row], width: int) -> tuple[bool, ...]:
    """For each column, whether at least half of its filled cells look like numbers."""
    cells = [[row[i] for row in rows if i < len(row) and row[i].strip()] for i in range(width)]
    return tuple(0 < len(column) <= 2 * sum(map(looks_numeric, column)) for column in cells)


def detect_header(rows: Sequence[Row]) -> bool:
    """Whether the first row names the columns.

    The first word of a single column that comes again is a value (`comes_again`). A word for reports says yes; it,
    another usual name or an empty cell also beside years. Else a number says no; a usual name or a column of numbers
    below a word yes. Among words only, one that comes again is a value; one that heads others (`is_title`), or stands
    above words that repeat, is a name. Otherwise several columns have a header, a single one has none.
    """
    first, body = [cell.strip() for cell in rows[0]], rows[1:]
    numbers = [cell for cell in first if looks_numeric(cell)]
    if comes_again(rows) or (len(first) == 1 and _is_like_reports(first[0], body)):
        return False
    years = all(map(_YEAR.fullmatch, numbers))
    if any(cell.casefold() in REPORT_WORDS for cell in first) and (len(first) > 2 or years):
        return True
    if numbers and years and (not first[0] or first[0].casefold() in _HEADER_WORDS):
        return True
    if numbers:
        return _are_numbers_of_columns(first, body)
    if any(cell.casefold() in _HEADER_WORDS for cell in first):
        return True
    numeric = numeric_columns(body, len(first))
    if any(cell and is_numeric for cell, is_numeric in zip(first, numeric, strict=True)):
        return True
    below = [cells_of(body, i) for i in range(len(first))]
    if any(cell in column for cell, column in zip(first, below, strict=True)):
        return False
    if any(is_title(cell, column) for cell, column in zip(first, below, strict=True)):
        return True
    return len(first) > 1 or any(len(column) >= 4 and 2 * len({*column}) <= len(column) for column in below)


def comes_again(rows: Sequence[Row]) -> bool:
    """Whether the first word of a single column is one of the values below, at least half as often as on average."""
    first = rows[0][0].strip().casefold()
    if len(rows[0]) > 1 or looks_numeric(first) or numeric_columns(rows[1:], 1)[0]:
        return False
    below = [cell for row in rows[1:] for cell in (row[0].strip().casefold(),) if cell]
    return first in below and 2 * below.count(first) * len({*below}) >= len(below)


def _is_like_reports(cell: str, body: Sequence[Row]) -> bool:
    """Whether a word looks like the values of the single column below: "Other", or a range like most of them."""
    ranges = sum(_RANGE.fullmatch(row[0].strip()) is not None for row in body)
    return bool(_OTHER.match(cell) or (_RANGE.fullmatch(cell) and 2 * ranges > len(body)))


def is_usual_name(cell: str) -> bool:
    """Whether a cell is a usual name of a column by its words alone."""
    cell = cell.strip()
    usual = (_HEADER_WORDS, REPORT_WORDS, WORDS["title"])
    return any(cell.casefold() in words for words in usual) or _has_report_word(cell)


def notes_of_header(rows: Sequence[Row], has_header: bool) -> tuple[str, ...]:
    """A sentence where the first line of a single column may be its name, and may be none."""
    first = rows[0][0].strip()
    if len(rows[0]) > 1:
        return ()
    if has_header and not is_usual_name(first):
        return (
            f"The first line, {quote(first)}, was taken for the name of the column: switching {HEADER_SWITCH} off counts "
            "it.",
        )
    again = not has_header and comes_again(rows)
    if again and (is_usual_name(first) or first not in {row[0].strip() for row in rows[1:]}):
        return (
            f"The first line, {quote(first)}, comes again below and was counted: switching {HEADER_SWITCH} on takes it "
            "for the name of the column.",
        )
    return ()


def header_rows(rows: Sequence[Row]) -> int:
    """How many rows name the columns, where it is clear: 2 or 3 of words above numbers or repeated values; else 0."""
    if len({*map(len, rows)}) != 1:
        return 0
    for last in range(min(_MOST_HEADERS, len(rows)) - 1, 0, -1):
        above, words = rows[:last], [cell.strip() for cell in rows[last]]
        below = [cells_of(rows[last + 1 :], i) for i in range(len(words))]
        numbers = [len(column) > 1 and all(map(looks_numeric, column)) for column in below]
        named = [
            bool(re.search(r"[^\W\d_]|%", word)) and word.casefold() not in NO_ANSWERS
            for word, of_numbers in zip(words, numbers, strict=True)
            if of_numbers
        ]
        # Where cells are merged, a year may stand above several columns; else a name that says all is the header's.
        heads = all(
            not all(row)
            or not any(looks_numeric(cell) or cell.strip().casefold() in _HEADER_WORDS for cell in row)
            for row in above
        )
        if named and all(named) and heads and not any(map(looks_numeric, words)):
            return last + 1
        again = [len(column) >= _FEWEST_BELOW and 4 * len({*column}) <= len(column) for column in below]
        once = [
            bool(word) and word not in column
            for word, column, comes_again in zip(words, below, again, strict=True)
            if comes_again
        ]
        if last == 1 and len(once) > 1 and all(once):
            return 2
    return 0


def refuse_headers(rows: Sequence[Row]) -> None:
    """Raise UnreadableFile for a table with several header rows."""
    if number := header_rows(rows):
        first, last = (", ".join(filter(None, map(str.strip, row))) for row in (rows[0], rows[number - 1]))
        raise UnreadableFile(
            f"The table has {number} header rows, from {quote(first)} to {quote(last)}. Keep one of them, in which each "
            "column has its own name, and take the others out."
        )


def _are_numbers_of_columns(first: Row, body: Sequence[Row]) -> bool:
    """Whether numbers in the first row are names that a program gave: 0, 1, 2, … above bits, or a single 0."""
    names = first[1:] if first and not first[0] else first
    cells = [cells_of(body, i) for i in range(len(first) - len(names), len(first))]
    if not body or not names:
        return False
    if len(names) == 1:
        words = not any(map(looks_numeric, cells[0]))
        return [*names] == ["0"] and "0" not in cells[0] and (len(first) == 2 or words)
    above_bits = {cell.casefold() for column in cells for cell in column} <= ONES | ZEROS
    begins = [[str(i + at) for i in range(len(names))] for at in (0, 1)]
    # 0 and 1 alone above bits may as well be a report.
    return above_bits and [*names] in begins and ([*names] != ["0", "1"] or len(first) > len(names))


def unnamed(index: int) -> str:
    """What a column without a name is called."""
    return f"Column {index + 1}"


def column_names(header: Row) -> tuple[str, ...]:
    """Names from a header row: empty ones get a number, repeated ones a counter."""
    names: dict[str, None] = {}
    repeats: dict[str, int] = {}
    for number, cell in enumerate(header, 1):
        stem = name = cell.strip() or unnamed(number - 1)
        while name in names:
            repeats[stem] = repeats.get(stem, 1) + 1
            name = f"{stem} ({repeats[stem]})"
        names[name] = None
    return tuple(names)


def is_share_name(name: str) -> bool:
    """Whether the name of a column means probabilities; "n (%)" means counts, with these behind."""
    return bool(words_of(name) & SHARE_WORDS) or ("%" in name and not _COUNT_AND_SHARE.fullmatch(name))


def suggest(table: Described) -> ColumnChoice:
    """The layout and columns to propose.

    Counts when a column of numbers is called count (or similar), or when one of exactly two columns holds numbers or
    is called so; else one value per row. So are two columns of which one numbers people or rows, or of which one holds
    values that come again, or times beside numbers that do, or numbered names beside few numbers, or codes, and the
    other is not called count. Columns without name and values do not count.
    """
    filled = [i for i, name in enumerate(table.columns) if not (table.hints[i].empty and name == unnamed(i))]
    width = len(filled)
    if width < 2:
        return ColumnChoice("values", filled[0] if filled else 0, None)
    numbers = [i for i in filled if table.numeric[i]]
    # With two columns of words the name is enough, unless they come again there: the error tells where numbers are bad.
    by_name = numbers or [i for i in filled if width == 2 and not table.hints[i].repeats]
    named = [
        i
        for i in count_columns(table, by_name)
        if not (_may_be_of_a_row(table, i) and table.hints[likely_category(table, i)].repeats)
    ]
    count = named[0] if named else numbers[-1] if width == 2 and numbers else None
    people = [i for i in filled if is_person_id(table, i) or (i == count and _numbers_rows(table, i))]
    if count is None:
        return ColumnChoice("values", likely_category(table, None, people), None)
    category = likely_category(table, count)
    beside, numbers_of = table.hints[category], table.hints[count]
    again = beside.repeats or (beside.times and numbers_of.repeats) or numbers_of.codes
    again |= beside.numbered and numbers_of.few
    again |= beside.again and is_serial(cells_of(table.sample, count))
    if not named and (len(people) == 1 or again):
        return ColumnChoice("values", likely_category(table, None, people), None)
    return ColumnChoice("counts", category, count)


def suggest_reports(table: Described) -> ColumnChoice:
    """The same of reports: a column called "report" next to user numbers holds no counts, and weights are counts only
    in a table of distinct categories alone. Numbers are counts where their column is called "report count", or
    "report" beside categories none of which comes again."""
    width = range(len(table.columns))
    reports = [i for i in width if REPORT_WORDS & words_of(table.columns[i]) and not _are_counts(table, i)]
    weights = [i for i in width if is_weight_name(table.columns[i])]
    again = [i for i in width if table.hints[i].repeats]
    if again and not all(is_no_answer(table, i, again) for i in again):
        reports = [i for i in reports if not is_no_answer(table, i, again)]
    chances = [i for i in again if is_share_name(table.columns[i]) and i not in reports]
    others = [
        table.columns[i].strip().casefold() for i in width if i not in (*reports[:1], *weights, *chances)
    ]
    of_groups = next((i for i in width if _are_counts_of_groups(table, i)), None)
    if of_groups is not None and not is_count_name(table.columns[of_groups]):
        words = [i for i in reports if not table.numeric[i]]
        return ColumnChoice("counts", next(iter([*words, likely_category(table, of_groups)])), of_groups)
    if (
        reports
        and not any(is_count_name(name) or name in CATEGORY_WORDS | MANY_REPORTS for name in others)
        and (len(width) > 2 or not counts_beside(table, reports[0]))
    ):
        return ColumnChoice("values", reports[0], None)
    choice = suggest(table)
    if choice.count is not None and is_share_name(table.columns[choice.count]):
        whole = [i for i in width if table.numeric[i] and i != choice.category and _are_whole(table, i)]
        choice = replace(choice, count=whole[0] if len(whole) == 1 else choice.count)
    of_numbers = choice.count is not None or table.numeric[choice.category]
    if reports and of_numbers and not table.numeric[reports[0]] and choice.count != reports[0]:
        choice = replace(choice, category=reports[0])  # the other columns say of whom, or how many
    if choice.count not in weights or (len(width) == 2 and not table.hints[choice.category].repeats):
        return choice
    answers = [i for i in width if i not in weights and not is_person_id(table, i)]
    counts = [i for i in answers if table.numeric[i] and is_count_name(table.columns[i])]
    if counts:
        return ColumnChoice("counts", next(i for i in (*answers, *width) if i != counts[0]), counts[0])
    return ColumnChoice("values", next(iter((*answers, choice.category))), None)


def _are_counts(table: Described, index: int) -> bool:
    """Whether a column with "report" in its name counts the categories in another one, none of which says who."""
    others = [i for i in range(len(table.columns)) if i != index and not is_person_id(table, i)]
    if not table.numeric[index] or not others:
        return False
    if is_count_name(table.columns[index]):
        return True
    hint, beside = table.hints[index], table.hints[others[0]]
    names_once = not table.numeric[others[0]] and not beside.again
    return len(table.columns) == 2 and names_once and not (hint.repeats or hint.bits)


def _are_counts_of_groups(table: Described, index: int) -> bool:
    """Whether a column has the counts of a cross table: a whole number for each row of words that come again, no two
    rows alike; and it is called "reports" (or answers, responses), or the rows go through all combinations in order."""
    name, hint = table.columns[index].strip().casefold(), table.hints[index]
    others = [i for i in range(len(table.columns)) if i != index]
    if (
        len(others) < 2
        or not _are_whole(table, index)
        or hint.empty
        or hint.repeats
        or hint.bits
        or hint.serial
    ):
        return False
    if is_weight_name(name) or is_share_name(name) or is_person_id(table, index) or name in CATEGORY_WORDS:
        return False
    rows = [tuple("".join(row[i : i + 1]).strip() for i in others) for row in table.sample]
    if len({*rows}) < len(rows) or any(table.hints[i].differs for i in others):
        return False
    if name in MANY_REPORTS:
        return any(table.hints[i].again for i in others)
    return any(_is_fastest(rows, place) for place in range(len(others)))


def _is_fastest(rows: Sequence[Row], place: int) -> bool:
    """Whether the values at this place come again and again in one order, and the others change with each beginning."""
    first = rows[0][place] if rows else ""
    period = next((i for i, row in enumerate(rows) if i and row[place] == first), len(rows))
    rest = [(*row[:place], *row[place + 1 :]) for row in rows]
    return 1 < period < len(rows) - 1 and all(
        row[place] == rows[i % period][place] and (rest[i] == rest[i - 1]) == (i % period > 0)
        for i, row in enumerate(rows)
        if i
    )


def is_weight_name(name: str) -> bool:
    """Whether the name of a column means weights."""
    return bool(WEIGHT_WORDS & words_of(name))


def count_columns(table: Described, columns: Iterable[int]) -> list[int]:
    """Those of the columns that are called count or similar and do not number the rows, the surest first."""
    named = [
        i
        for i in columns
        if is_count_name(table.columns[i]) and not (_numbers_rows(table, i) or _is_a_letter(table, i))
    ]
    return sorted(named, key=lambda i: (_remoteness(table.columns[i]), _is_loose(table.columns[i])))


def _is_a_letter(table: Described, index: int) -> bool:
    """Whether the name of a column of numbers is a capital beside others, as N beside S and W: groups, not numbers."""
    letters = [
        name for name, number in zip(table.columns, table.numeric, strict=True) if number and len(name) == 1
    ]
    return table.columns[index] in letters and len(letters) > 1 and "".join(letters).isupper()


def sure_counts(table: Described, columns: Iterable[int]) -> list[int]:
    """Those of them that are called count, n or frequency, and hardly hold a number of something else."""
    names = table.columns
    return [i for i in count_columns(table, columns) if not (_remoteness(names[i]) or _is_loose(names[i]))]


def are_plainly_counts(table: Described, index: int) -> bool:
    """Whether a column holds counts by its name, without a word for anything else in it, or those of a cross table."""
    name = table.columns[index]
    return (not _is_loose(name) and _remoteness(name) < 2) or _are_counts_of_groups(table, index)


def _remoteness(name: str) -> int:
    """0 for the name of a column of counts, more for one that may as well mean something else."""
    if is_share_name(name):
        return 3
    words = words_of(name)
    return 0 if words & (WORDS["sure_count"] | {"n"}) else 2 if words & WORDS["wide_count"] else 1


def _is_loose(name: str) -> bool:
    """Whether a name with a word for counts may mean a number of something else, as "number of children" does."""
    words = words_of(name) - {""}
    return not (words & WORDS["sure_count"] or words <= COUNT_WORDS | SHARE_WORDS | WORDS["beside_count"])


def _may_be_of_a_row(table: Described, index: int) -> bool:
    """Whether a column that is called count may hold another number of each row, or the chance of its report."""
    name = table.columns[index]
    return _is_loose(name) or (is_share_name(name) and table.hints[index].repeats)


def _numbers_rows(table: Described, index: int) -> bool:
    """Whether a column numbers the rows, or people, whose answers are in another one, whatever its name."""
    hint, name = table.hints[index], table.columns[index]
    others = [other for i, other in enumerate(table.hints) if i != index]
    if hint.serial and any(other.again for other in others):
        return True
    is_number_of = re.search(r"\S\W+number\W*$", name.replace("_", " "), re.IGNORECASE) is not None
    return (
        is_count_name(name)
        and hint.differs
        and (hint.unlike_counts or is_number_of)
        and any(other.repeats for other in others)
    )


NOT_COUNTS = " were not taken for counts."


def unused_numbers(table: Described, choice: ColumnChoice) -> tuple[str, ...]:
    """A sentence where another column holds numbers that were not taken for counts, though they may be some."""
    if choice.count is not None:
        return ()
    others = [i for i in range(len(table.columns)) if i != choice.category and _may_count(table, i)]
    mend = ""
    if len(table.columns) > 2:
        others = [
            i for i in others if _are_whole(table, i) and not (table.hints[i].repeats or table.hints[i].bits)
        ]
        mend = " If they are, choose “a count per category”, and the column of counts {}."
    return tuple(
        f"Each row was counted once: the numbers in the column {name}{NOT_COUNTS}{mend.format(name)}"
        for name in (quote(table.columns[i]) for i in others[:1])
    )


def _may_count(table: Described, index: int) -> bool:
    """Whether a column of numbers neither numbers people nor rows."""
    names_people = is_person_id(table, index) or "id" in words_of(table.columns[index])
    return table.numeric[index] and not (names_people or _numbers_rows(table, index))


def _are_whole(table: Described, index: int) -> bool:
    return all(map(_WHOLE.fullmatch, filter(None, cells_of(table.sample, index))))


def are_chances(table: Described, index: int) -> bool:
    """Whether a column has fractions between 0 and 1, and ones perhaps, as inclusion probabilities are written."""
    cells = {*filter(None, cells_of(table.sample, index))} - {"1", "1.0", "1,0"}
    return bool(cells) and all(map(_CHANCE.fullmatch, cells))


def is_person_id(table: Described, index: int) -> bool:
    """Whether a column holds identifiers of persons, whose answers are in another column."""
    words = words_of(table.columns[index])
    others = [hint for i, hint in enumerate(table.hints) if i != index]
    if not others or words & CATEGORY_WORDS:
        return False
    if words & PERSON_WORDS:
        return True
    hint = table.hints[index]
    if words == {"id"} and hint.serial and any(other.again for other in others):
        return True
    alone = hint.differs if words == {"id"} else hint.looks_like_ids
    return alone and any(other.repeats for other in others)


def is_count_name(name: str) -> bool:
    """Whether the name of a column means counts or probabilities."""
    return bool(words_of(name) & COUNT_WORDS) or is_share_name(name)


def choose(
    table: Table, layout: Layout | None, category: str | int | None, count: str | int | None
) -> ColumnChoice:
    """The layout and columns that the user chose, completed by `suggest`; refuses what cannot be."""
    picked = None if category is None else find(table, category)
    counted = None if count is None else find(table, count)
    suggested = suggest(table)
    layout = layout or ("counts" if counted is not None else suggested.layout)
    if layout == "values":
        if picked is None and len(table.columns) > 1 and not any(table.numeric):
            raise UnreadableFile(
                f"The file has {len(table.columns)} columns ({_listed(table)}) and none of them holds"
                " numbers. Add a column of counts, or choose “one value per row” and pick its column."
            )
        return ColumnChoice("values", suggested.category if picked is None else picked, None)
    if len(table.columns) < 2:
        raise UnreadableFile(
            f"The file has one column only ({_listed(table)}), and counts need two: category and"
            " count. Add the counts, or choose “one value per row”."
        )
    if counted is None:
        candidates = [i for i, numeric in enumerate(table.numeric) if numeric and i != picked]
        named = count_columns(table, candidates)
        others = [i for i in range(len(table.columns)) if i != picked]
        # With two columns the other one is meant, even if it holds no numbers: the error then
        # names its first bad line.
        candidates = named or candidates[-1:] or (others[-1:] if len(table.columns) == 2 else [])
        if not candidates:
            raise UnreadableFile(
                f"No column of numbers was found among {_listed(table)}. Add a column with the count"
                " of each category."
            )
        counted = candidates[0]
    picked = likely_category(table, counted) if picked is None else picked
    if picked == counted:
        raise UnreadableFile(
            f"The column {quote(table.columns[picked])} is chosen for both category and count. Pick two"
            " different columns."
        )
    return ColumnChoice("counts", picked, counted)


def likely_category(table: Described, count: int | None, people: Sequence[int] = ()) -> int:
    """The most likely category column, not one of `people`: the first with a usual name, else of words that come
    again, of anything that does, of words, of all. What is hardly an answer (`is_no_answer`) comes behind what comes
    again."""
    others = [i for i in range(len(table.columns)) if i != count and i not in people]
    others = [i for i in others if not _are_row_names(table, i)] or others
    others = others or [i for i in range(len(table.columns)) if i != count]
    named = [i for i in others if words_of(table.columns[i]) & CATEGORY_WORDS]
    again = [i for i in others if table.hints[i].repeats]
    words = [i for i in others if not table.numeric[i]]
    order = [*named, *(i for i in words if i in again), *again]
    good = [i for i in order if not is_no_answer(table, i, among=again if count is None else ())]
    full = [i for i in words if not heads_rows(table, i)]
    return next(
        iter([*good, *(i for i in order if not table.hints[i].constant), *order, *full, *words, *others])
    )


def is_no_answer(table: Described, index: int, among: Sequence[int]) -> bool:
    """Whether a column is empty, constant, times or a heading; or names people beside ``among`` that come again."""
    hint, words = table.hints[index], words_of(table.columns[index])
    of_people = hint.differs and (hint.looks_like_ids or not words.isdisjoint(WORDS["name_of_person"]))
    return (
        hint.empty
        or heads_rows(table, index)
        or hint.constant
        or hint.times
        or (of_people and len(among) > 0)
    )


def heads_rows(table: Described, index: int) -> bool:
    """Whether a column without a name has words for several rows each, as SPSS writes "Valid" beside the first name."""
    if table.numeric[index] or table.columns[index] != unnamed(index):
        return False
    filled = [hint.filled for hint, number in zip(table.hints, table.numeric, strict=True) if not number]
    return table.hints[index].filled < max(filled)


def _are_row_names(table: Described, index: int) -> bool:
    """Whether a column without a name numbers the rows, as R and pandas write them."""
    named = any(name != unnamed(i) for i, name in enumerate(table.columns))
    return named and table.columns[index] == unnamed(index) and is_serial(cells_of(table.sample, index))


def refuse_sideways(table: Table) -> None:
    """Raise UnreadableFile for counts or reports that are laid sideways, in a single row."""
    names = table.columns
    rows = [row for row in table.sample if not is_share_name("".join(row[:1]))] or table.sample
    first = 0 if table.numeric[0] else 1  # what the row is called
    if not table.has_header and len(names) > MIN_SIDEWAYS:
        if len(rows) == MIN_SIDEWAYS and all(table.numeric) and is_serial([cell.strip() for cell in rows[0]]):
            raise UnreadableFile(
                f"The counts are laid sideways, below {rows[0][0].strip()} to {rows[0][-1].strip()}. Turn the table: a "
                "line for each category, with its name and its count."
            )
        if len(rows) == 1 and not {cell.strip() for cell in rows[0]} <= ONES | ZEROS:
            raise UnreadableFile(
                f"The file has one line, of {len(names):,} cells: write one report, or one name and its count, in each "
                "line."
            )
    if not table.has_header or len(rows) != 1:
        return
    if len(names) - first < MIN_SIDEWAYS or not all(table.numeric[first:]):
        return
    if any(words_of(name) & (CATEGORY_WORDS | PERSON_WORDS) for name in names[first:]):
        return
    counts = [i for i in range(first, len(names)) if is_count_name(names[i])]
    if counts and not (len(counts) == 1 and _is_sum(rows[0], counts[0])):
        return
    if all(cell.strip() in ("0", "1") for cell in rows[0][first:]):  # one report of unary encoding
        return
    raise UnreadableFile(
        f"The counts are laid sideways: {_listed(table)} stand beside one another, above one row of numbers. Turn the"
        " table: a line for each category, with its name and its count."
    )


def refuse_summary(table: Table) -> None:
    """Raise UnreadableFile for a summary of columns, as pandas makes it, in place of their values."""
    for column in zip(*table.sample, strict=False):
        if any(rows <= {*column} for rows in _SUMMARIES):
            raise UnreadableFile(
                f"This is a summary of columns ({', '.join(column[:3])}, …), as describe() of pandas makes it, and not "
                'what is in them: save the table itself by to_csv("answers.csv").'
            )


def counts_beside(table: Described, category: int) -> str:
    """A sentence where words that are all different stand beside whole numbers, as in a table of counts; else ""."""
    rows = table.sample
    if table.hints[category].again or table.numeric[category] or len(rows) < MIN_SIDEWAYS:
        return ""
    width = range(len(table.columns))
    cells = {i: ["".join(row[i : i + 1]).strip() for row in rows] for i in width if i != category}
    counts = [
        i
        for i, column in cells.items()
        if (all(map(_WHOLE.fullmatch, column)) or all(map(_WITH_SHARE.fullmatch, column)))
        and not (is_person_id(table, i) or words_of(table.columns[i]) & {"id", *WEIGHT_WORDS})
        and not (table.hints[i].serial or table.hints[i].bits)
    ]
    if not counts:
        return ""
    end = "If none holds counts, take these columns out."
    if len(counts) > 1:
        end = (
            f"In a cross table each is a group: to compare them, write a line for each name and group. {end}"
        )
    in_parts = counts == [1, 2] == [*cells] and all(map(_THOUSANDS.fullmatch, cells[2]))
    if in_parts and all(table.columns[i] == unnamed(i) for i in counts):
        one, other = cells[1][0], cells[2][0]
        end = f"If {one},{other} is one number, write it without the comma: {one}{other}."
    return (
        f"Each name in the column {quote(table.columns[category])} is there once, as in a table of counts: choose “a "
        f"count per category”, and the column of counts ({_named(table, counts)}). {end}"
    )


def _is_sum(row: Row, index: int) -> bool:
    """Whether a cell of whole numbers is the sum of the others, with or without the first, which may number the row."""
    amounts = [int(cell) if _WHOLE.fullmatch(cell.strip()) else 0 for cell in row]
    others = sum(amounts) - amounts[index]
    return len(row) > MIN_SIDEWAYS and amounts[index] in (others, others - amounts[0])


def find(table: Described, column: str | int) -> int:
    """The position of a column given by its name or position."""
    if isinstance(column, int):
        column = int(column)  # True is a position, not the name of a column
        if 0 <= column < len(table.columns):
            return column
        raise UnreadableFile(f"There is no column {column + 1}: the file has {len(table.columns)}.")
    folded = [name.casefold() for name in table.columns]
    if column in table.columns:
        return table.columns.index(column)
    if folded.count(column.strip().casefold()) == 1:
        return folded.index(column.strip().casefold())
    of_sheet = ""
    if len(table.sheets) > 1:  # whose columns may be meant
        one, other = map(quote, table.sheets[:2])
        of_sheet = f" They are those of the sheet {one}: {other} may be the one to choose."
    raise UnreadableFile(f"There is no column {quote(column)}. The columns are {_listed(table)}.{of_sheet}")


def _listed(table: Described) -> str:
    return _named(table, range(len(table.columns)))


def _named(table: Described, columns: Sequence[int]) -> str:
    return quoted([table.columns[i] for i in columns], 6, 20)


def words_of(name: str) -> set[str]:
    """The words in the name of a column, in small letters."""
    return set(re.split(r"[\W\d_]+", name.casefold()))
