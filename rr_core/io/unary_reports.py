"""Reports of unary encoding from a file: a column of 0 and 1 for each category, bit strings like 0110, or a table with
the number of ones of each category."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io import numbers
from rr_core.io.columns import (
    ONES,
    WORDS,
    ZEROS,
    ColumnChoice,
    Described,
    Layout,
    Table,
    cells_of,
    count_columns,
    find,
    is_count_name,
    likely_category,
    looks_numeric,
    sure_counts,
    words_of,
)
from rr_core.io.decoding import UnreadableFile, quote
from rr_core.io.distribution import Preview
from rr_core.io.labels import factorize
from rr_core.io.reports import (
    NOT_READ,
    FileRead,
    Reports,
    Source,
    check_total,
    inspect_reports,
    read_reports,
)
from rr_core.io.tables import TOTALS, Numbered, one_of, open_table, total_form
from rr_core.io.text import SAMPLE_ROWS
from rr_core.plain_text import some
from rr_core.reports.survey import Sample, Tallies
from rr_core.rounding import counted

# Bits that are held, one byte each.
MOST_BITS_HELD = 50_000_000
_BITS = re.compile(r"[01]{2,}")
_OF_BITS = re.compile(r"[01]+")
_NAMES_OF_ONES = ("one", "ones", "support")
_OWN = "\x00"
_MISSING = {"", "na", "n/a", "nan", "null", "none"}  # among bits: to be told, with their place
_FEWEST = 2  # categories
_ONES, _ZEROS = ONES | WORDS["yes"] | WORDS["ticked"], ZEROS | WORDS["no"] | WORDS["not_ticked"]
_SHORTEST_BESIDE = 3  # bits of a string beside columns of bits: 10 may as well be a number


NO_GROUPS_OF_ONES = (
    "A table of ones has neither groups nor weights: they need the bits of every report. To compare groups, analyse the "
    "rows of each group alone, with its own number of reports."
)


class OneBit(UnreadableFile):
    """The file has one bit for each person: reports of Warner's design."""


@dataclass(frozen=True, eq=False)
class UnaryReports:
    """What a file holds.

    Attributes:
        labels: k names of the categories.
        support: (k,) int64, number of reports with a one for each category.
        n: number of reports; None where the file has only their ones.
        bits: (r, k) uint8, the different reports or all of them; None where the file has only their ones.
        times: (r,) int64, how often each of ``bits`` occurred.
        reports: the files and their columns, with a plain sentence for each thing that was understood.
    """

    labels: tuple[str, ...]
    support: npt.NDArray[np.int64]
    n: int | None
    bits: npt.NDArray[np.uint8] | None
    times: npt.NDArray[np.int64] | None
    reports: Reports

    def tallies(self, n: int) -> Tallies:
        """The sums of n reports, with their bits where these are known."""
        rows = None if self.bits is None else Sample(self.bits, people=self.times)
        return Tallies(np.append(self.support, n)[None], rows=rows)

    def noting(self, notes: Sequence[str]) -> UnaryReports:
        """The same with more sentences about what was understood."""
        return replace(self, reports=replace(self.reports, notes=(*self.reports.notes, *notes)))


@dataclass(frozen=True)
class BitColumns:
    """Where a file seems to hold its bits; columns by name.

    Attributes:
        columns: all of 0 and 1, where there are two or more.
        suggested: those of them that are taken for categories; none where bit strings stand beside them.
        counts: of numbers that may say how often each row of bits occurred.
        count: that one of them which is called so, None where there is none.
        choice: the layout and columns where the reports are not in columns of 0 and 1.
        strings: all of bit strings.
        in_words: a sentence where columns hold two words, or one and empty cells, in place of 1 and 0; else "".
    """

    columns: tuple[str, ...]
    suggested: tuple[str, ...]
    counts: tuple[str, ...]
    count: str | None
    choice: ColumnChoice
    strings: tuple[str, ...]
    in_words: str

    def not_read(self, category: str) -> tuple[str, ...]:
        """A sentence where other columns than ``category`` hold bit strings."""
        others = [name for name in self.strings if name != category]
        if not others or category not in self.strings:
            return ()
        hold = "column holds" if len(others) == 1 else "columns hold"
        return (f"Not read, though the {hold} bit strings as well: {', '.join(map(quote, others[:5]))}.",)


def bits_in(preview: Preview, apart: Sequence[str] = ()) -> BitColumns:
    """Where the file of a preview seems to hold its bits; in none of the columns ``apart``, which say something else."""
    names = preview.columns
    width = [i for i, name in enumerate(names) if name not in apart]
    bits = [i for i in width if seems_bits(preview, i)]
    # Beside columns of 0 and 1, yes and no answer a question of their own.
    bits = [i for i in bits if preview.numeric[i]] or bits
    if len(bits) < _FEWEST:
        bits = []
    shortest = _SHORTEST_BESIDE if bits else _FEWEST
    alone = len(preview.sample) == 1 and sum(preview.numeric) > 1  # numbers, of which 100 may be one
    strings = [
        i
        for i in width
        if preview.hints[i].bit_strings
        and not (is_count_name(names[i]) or _is_called_ones(names[i]) or alone)
        and _length(preview, i) >= shortest
    ]
    # A file may have short words of 0 and 1, as the numbers of rooms, beside its reports.
    strings.sort(key=lambda i: -_length(preview, i))
    counts = [i for i in width if preview.numeric[i] and i not in bits and i not in strings]
    counts = [i for i in counts if not _counts_ones(preview, i, bits, strings)]
    count = next(iter(sure_counts(preview, counts)), None)
    return BitColumns(
        columns=tuple(names[i] for i in bits),
        suggested=() if strings else tuple(names[i] for i in _categories(preview, bits)),
        counts=tuple(names[i] for i in counts),
        count=None if count is None else names[count],
        choice=_choice(preview, strings, counts),
        strings=tuple(names[i] for i in strings),
        in_words=_in_words(preview, width),
    )


def _in_words(preview: Preview, width: Sequence[int]) -> str:
    """The sentence of `BitColumns`: two or more columns hold nothing but the same pair, one of them both."""
    names = preview.columns  # a form may write them in place of a one
    cells = {
        i: dict.fromkeys(_OWN if cell == names[i] else cell for cell in cells_of(preview.sample, i))
        for i in width
    }
    held = {i: {*found} for i, found in cells.items() if any(found)}
    alike = [
        [i for i, found in held.items() if found <= pair]
        for pair in held.values()
        if pair == {"1", "-1"}
        or (len(pair) == 2 and not any(map(looks_numeric, pair)) and not pair & (_ONES | _ZEROS))
    ]
    columns = max(alike, key=len, default=[])
    if len(columns) < _FEWEST:
        return ""
    one, *others = filter(None, dict.fromkeys(cell for i in columns for cell in cells[i]))
    one = names[columns[0]] if one == _OWN else one
    other, mend = "empty cells", f"1 for {quote(one)} and 0 in empty cells"
    if others:
        other, mend = quote(others[0]), "1 for yes and 0 for no"
    return (
        f"The column {quote(names[columns[0]])} holds {quote(one)} and {other}, where unary encoding has 1 and "
        f"0: write {mend}, in every such column."
    )


def _is_called_ones(name: str) -> bool:
    return not {*name.casefold().split()}.isdisjoint(_NAMES_OF_ONES)


def _length(preview: Preview, index: int) -> int:
    """Letters of a word of a column; 0 where its first rows break off before it."""
    return max(map(len, cells_of(preview.sample, index)), default=0)


def _counts_ones(preview: Preview, index: int, bits: Sequence[int], strings: Sequence[int]) -> bool:
    """Whether a column of numbers has the number of ones of each row: those in columns of bits, or in a bit string."""

    def of(row: Sequence[str]) -> set[int]:
        in_columns = [sum(row[i].strip().casefold() in _ONES for i in bits)] if bits else []
        return {*in_columns, *(row[i].count("1") for i in strings)}

    rows = [row for row in preview.sample if len(row) == len(preview.columns)]
    return len(rows) >= SAMPLE_ROWS and all(row[index].strip() in map(str, of(row)) for row in rows)


def _categories(preview: Preview, bits: Sequence[int]) -> Sequence[int]:
    """The columns of 0 and 1 without those that are rather about the person: by their name, or all 1."""
    words = {i: words_of(preview.columns[i]) for i in bits}
    of_sex = [i for i in bits if words[i] & WORDS["sex"]]
    left = [
        i
        for i in bits
        if not (words[i] & WORDS["about_person"] or of_sex == [i])
        and not (preview.hints[i].constant and {*map(str.casefold, cells_of(preview.sample, i))} <= _ONES)
    ]
    return left if len(left) >= _FEWEST else bits


def _choice(preview: Preview, strings: Sequence[int], counts: Sequence[int]) -> ColumnChoice:
    """Bit strings rather than numbers; but a column called ones has the ones of the names beside it."""
    ones = [i for i in counts if _is_called_ones(preview.columns[i])]
    if ones and len(preview.columns) > 1:
        return ColumnChoice("counts", likely_category(preview, ones[0]), ones[0])
    if not strings:
        return ColumnChoice(preview.layout, preview.category, preview.count)
    numbering = [i for i in counts if preview.hints[i].serial and preview.hints[i].differs]
    rest = [i for i in counts if i not in numbering]
    sure = sure_counts(preview, rest)
    if not preview.hints[strings[0]].again:
        sure = sure or count_columns(preview, rest)
    return ColumnChoice("counts", strings[0], sure[0]) if sure else ColumnChoice("values", strings[0], None)


def read_unary(
    source: Source,
    layout: Layout | None = None,
    category: str | None = None,
    count: str | None = None,
    has_header: bool | None = None,
    columns: Sequence[str] | None = None,
    apart: Sequence[str] = (),
) -> UnaryReports:
    """Read reports of unary encoding, or the number of ones of each category.

    Args:
        source: the file.
        layout, category, count, has_header: as in `read_reports`, where no columns of 0 and 1 are read.
        columns: names of the columns of 0 and 1, a category each; None: as `bits_in` suggests; none of them: bit
            strings or numbers of ones are read. With such columns ``count`` is the one that says how often each row
            occurred, and ``layout`` "values" means that each did once.
        apart: names of columns that say something else, as the group.

    >>> read_unary(Source("phones.csv", b"bus,car\\n1,0\\n1,1\\n0,0\\n")).support.tolist()
    [2, 1]
    >>> read_unary(Source("bits.txt", b"010\\n110\\n010\\n")).support.tolist()
    [1, 3, 0]
    """
    found = bits_in(inspect_reports(source, has_header=has_header), apart)
    chosen = found.suggested if columns is None else columns
    if chosen:
        times = found.count if layout is None and count is None else count if layout != "values" else None
        return read_bit_columns(source, chosen, times, has_header)
    choice: tuple[Layout | None, str | int | None, str | int | None] = (layout, category, count)
    if choice == (None, None, None):
        choice = (found.choice.layout, found.choice.category, found.choice.count)
    elif category is None and found.strings:
        choice = (layout, found.choice.category, count)
    reports = read_reports(
        [source],
        layout=choice[0],
        category=choice[1],
        count=choice[2],
        has_header=has_header,
        all_zero=True,
    )
    read = unary_of(reports, found.in_words)
    return read.noting(found.not_read(reports.category_name))


def read_bit_columns(
    source: Source, columns: Sequence[str], count: str | None = None, has_header: bool | None = None
) -> UnaryReports:
    """The named columns of 0 and 1 of a file, each row as often as the column ``count`` says."""
    table = open_table(bytes(source.data), source.name, has_header, sheet=source.sheet)
    if len(set(columns)) < _FEWEST:
        raise UnreadableFile(
            "Unary encoding has a column of 0 and 1 for each of two or more categories: leave two."
        )
    used = [find(table, name) for name in (*columns, *([] if count is None else [count]))]
    names = [table.columns[index] for index in used[: len(columns)]]
    of_times = None if count is None else table.columns[used[-1]]
    pieces, times, rows = list[npt.NDArray[np.uint8]](), Numbered(of_times or ""), 0
    for piece in table.pieces(used):
        if not piece.arrays:
            continue
        pieces.append(_block(piece.arrays[: len(names)], names, table, rows))
        if of_times is not None:
            times.add(piece.arrays[-1])
        rows += len(pieces[-1])
        _check_bits(rows * len(names))
    if not rows:
        raise UnreadableFile(
            "The file has names of columns, but no reports below them: add one row per report."
        )
    each, notes = np.ones(rows, dtype=np.int64), table.notes
    if of_times is not None:
        distinct, codes = times.result()
        parsed = numbers.parse(distinct)
        values = parsed.values / 100 if parsed.percent else parsed.values
        numbers.check(table, distinct, values, codes, np.ones(rows, dtype=bool), people=True)
        each = values[codes].astype(np.int64)
        check_total(each)
        if not each.any():
            raise UnreadableFile(
                f"All counts in the column {quote(of_times)} are zero: choose another column or file."
            )
        notes += (*parsed.notes, f"Each row counts as often as its column {quote(of_times)} says.")
    if others := [quote(name) for index, name in enumerate(table.columns) if index not in used]:
        notes += (f"{NOT_READ}{some(others)}.",)
    bits = np.concatenate(pieces)
    ones, n = each @ bits, int(each.sum())
    reports = Reports(
        labels=np.array(names, dtype=object),
        counts=ones,
        total=n,
        rows=rows,
        files=(FileRead(source.name, rows, n),),
        dropped=(),
        merged=0,
        notes=notes,
        category_name=names[0],
        count_name=of_times,
        has_header=True,
        layout="values" if of_times is None else "counts",
        sha256=hashlib.sha256(bytes(source.data)).hexdigest(),
        columns=tuple(names),
        sheet=source.sheet,
    )
    return UnaryReports(tuple(names), ones, n, bits, each, reports)


def unary_of(reports: Reports, in_words: str = "") -> UnaryReports:
    """The bits in a column of bit strings, or the number of ones in a table of counts; ``in_words``, as `BitColumns`
    has it, is what a file is refused with that has none. `OneBit` is raised for a column of 0 and 1."""
    labels = reports.labels.tolist()
    if reports.layout == "values" and {label.casefold() for label in labels} <= _ONES | _ZEROS:
        raise OneBit(
            f"The column {quote(reports.category_name)} holds one bit for each person, and one bit is Warner's design: a "
            "yes or no, which was exchanged with some chance. Choose “Warner's two questions” above; its p is the chance "
            "that it was not: e^(ε/2) / (1 + e^(ε/2)) under symmetric encoding with ε."
        )
    are_ones = reports.layout == "counts" and _is_called_ones(f"{reports.count_name}")
    if not are_ones and len(set(map(len, labels))) > 1 and all(map(_OF_BITS.fullmatch, labels)):
        odd = next(label for label in labels if len(label) != len(labels[0]))
        shorn = any(label[0] == "0" for label in labels if len(label) > 1)
        lost = "" if shorn else " A spreadsheet takes the zeros at their beginning away: keep them as texts."
        raise UnreadableFile(
            f"The report {quote(odd)} has {counted(len(odd), 'bit')}, the first one {len(labels[0])}: every report has "
            f"one bit for each category.{lost}"
        )
    if all(map(_BITS.fullmatch, labels)) and not are_ones:
        return _from_strings(labels, reports)
    if reports.layout != "counts":
        if all({*label.split()} <= {"0", "1"} for label in labels):
            raise UnreadableFile(
                f"The bits in the column {quote(reports.category_name)} have blanks between them: write them without, "
                "like 0110, or with a comma in place of each blank."
            )
        raise UnreadableFile(
            in_words
            or f"The column {quote(reports.category_name)} does not hold bit strings like 0110: choose the column that "
            "does, or a category and its number of ones in each row, or a file with a column of 0 and 1 for each "
            "category."
        )
    if len(labels) < _FEWEST:
        raise UnreadableFile(
            "There is one row only: numbers of ones have a row for each of two or more categories, with its name."
        )
    return _without_total(UnaryReports(tuple(labels), reports.counts, None, None, None, reports))


def _without_total(ones: UnaryReports) -> UnaryReports:
    """The ones without a row that is called total and has as many as any other: of all ones, or all reports."""
    form = total_form(pa.array(ones.labels, pa.large_string()))
    called = one_of(form, {*TOTALS, *WORDS["of_total"], "n"})
    total = called & (ones.support == ones.support.max())
    if total.sum() != 1 or len(ones.labels) <= _FEWEST:
        return ones
    (name,), (number,) = np.array(ones.labels, dtype=object)[total], ones.support[total]
    left = tuple(label for label in ones.labels if label != name)
    reports = replace(ones.reports, labels=ones.reports.labels[~total], counts=ones.support[~total])
    return replace(ones, labels=left, support=ones.support[~total], reports=reports).noting(
        (f"{quote(name)} ({number:,}) is a total and no category: it was left out.",)
    )


def seems_bits(table: Described, index: int) -> bool:
    """Whether a column starts with 0 and 1, or words for them: what else is further down is a mistake to be told."""
    cells = [cell.casefold() for cell in cells_of(table.sample, index)]
    bits = [cell for cell in cells if cell not in _MISSING]
    return table.hints[index].bits or (2 * len(bits) > len(cells) and {*bits} <= _ONES | _ZEROS)


def bits_of_columns(arrays: Sequence[Any], names: Sequence[str], table: Table, before: int) -> Any:
    """The rows of a piece of columns of bits as an Arrow array of bit strings; ``before`` rows came before it."""
    block = _block(arrays, names, table, before)
    n, k = block.shape
    ends = np.arange(n + 1, dtype=np.int64) * k
    return pa.LargeStringArray.from_buffers(n, pa.py_buffer(ends), pa.py_buffer((block + ord("0")).data))


def bits_of_strings(column: Any, k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """For each row its place among the different bit strings of k bits, -1 where it is none; and these, (r, k)."""
    distinct, codes = factorize(column)
    texts = pc.utf8_trim_whitespace(distinct)
    are_bits = pc.match_substring_regex(texts, f"^[01]{{{k}}}$").to_numpy(zero_copy_only=False)
    place = np.where(are_bits, np.cumsum(are_bits) - 1, -1)
    joined = "".join(texts.filter(pa.array(are_bits)).to_pylist()).encode()
    return place[codes], (np.frombuffer(joined, dtype=np.uint8) - ord("0")).reshape(-1, k)


def _block(arrays: Sequence[Any], names: Sequence[str], table: Table, before: int) -> npt.NDArray[np.uint8]:
    """(n, k) bits of a piece of columns of bits."""
    return np.stack(
        [_bits(array, name, table, before) for array, name in zip(arrays, names, strict=True)], axis=1
    )


def _bits(array: Any, name: str, table: Table, before: int) -> npt.NDArray[np.uint8]:
    """The bits of a piece of a column; ``before`` rows came before it."""
    written = pc.cast(array, pa.large_string())
    text = pc.utf8_lower(pc.utf8_trim_whitespace(written))
    ones = one_of(text, _ONES)
    wrong = ~(ones | one_of(text, _ZEROS))
    if wrong.any():
        row = int(wrong.argmax())
        found = quote(written[row].as_py()) if text[row].as_py() else "nothing"
        raise UnreadableFile(
            f"{table.unit.capitalize()} {table.place(before + row):,} has {found} in the column {quote(name)}, where the "
            "others have 0 or 1: mend that report, or leave it out."
        )
    return ones.astype(np.uint8)


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS_HELD:
        raise UnreadableFile(
            f"The file has more than {MOST_BITS_HELD:,} bits. Count the ones of each category first, and upload one row "
            "per category with its number of ones."
        )


def _from_strings(labels: Sequence[str], reports: Reports) -> UnaryReports:
    counts = reports.counts
    k = len(labels[0])
    _check_bits(len(labels) * k)
    bits = bits_of_strings(pa.chunked_array([labels], pa.large_string()), k)[1]
    ones = counts @ bits.astype(np.int64)
    names = tuple(str(i + 1) for i in range(k))
    note = ("Each name is a bit string, with how many reports were so.",)
    # What was noted of names and numbers is not meant of bits.
    read = replace(reports, notes=note if reports.layout == "counts" else ())
    return UnaryReports(names, ones, int(counts.sum()), bits, counts, read)
