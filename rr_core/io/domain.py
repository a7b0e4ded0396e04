"""The domain of collected reports: all K categories that could be reported, including those without reports.

K is a parameter of k-RR. With too few categories p and q are wrong, and so is every estimate.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.columns import CATEGORY_WORDS, HEADER_SWITCH, Table, suggest
from rr_core.io.decoding import NoRows, WrongDomain, quote
from rr_core.io.labels import Codes, as_objects, clean, difference, factorize, similar_labels
from rr_core.io.reports import Reports, Source
from rr_core.io.tables import Counts, add_up, number_columns, one_of, open_table
from rr_core.io.text import TextTable
from rr_core.limits import K_MAX, K_MIN, TYPED_LETTERS_MAX

_SEPARATORS = "\t;,"
_QUOTES = ("''", "“”", "‘’", "«»", "``")
_OF_A_PROGRAM = re.compile(
    r"""(?:c|list|set)?\s*[\[({]\s*(["'].*["']),?\s*[\])}]"""
)  # a list of R, Python or JSON
_NUMBERED = r"… \([0-9]+\)$"


@dataclass(frozen=True, eq=False)
class Listed:
    """All categories by name, cleaned as labels of files are; `read_list` makes it."""

    labels: npt.NDArray[np.object_]
    notes: tuple[str, ...] = ()


def read_list(text_or_source: str | Source) -> Listed:
    """All categories, from pasted text or from a file.

    Text holds one category per line; a single line may separate them by tabs, semicolons or commas. Quotation marks
    around names and blanks go. Of a file the likeliest column is read. Repeated names are one category.

    Raises:
        WrongDomain: an empty list, one category only, too many, or too long a text.
        UnreadableFile: a file that is no table.

    >>> read_list("bus, car, on foot").labels.tolist()
    ['bus', 'car', 'on foot']
    """
    if isinstance(text_or_source, Source):
        return _listed(*_column(text_or_source))
    if len(text_or_source) > TYPED_LETTERS_MAX:
        raise WrongDomain(f"The list has more than {TYPED_LETTERS_MAX:,} characters. Give it as a file.")
    cells, notes = _cells(text_or_source)
    return _listed(*factorize(pa.chunked_array([pa.array(cells, pa.large_string())])), notes)


def _cells(text: str) -> tuple[list[str], tuple[str, ...]]:
    """The names in pasted text, and sentences about what was assumed."""
    # Half of a surrogate pair is no text, and Arrow would not take it.
    lines = [line for line in text.encode("utf-8", "replace").decode().splitlines() if line.strip()]
    notes: tuple[str, ...] = ()
    if len(lines) == 1:
        written = _OF_A_PROGRAM.fullmatch(lines[0].strip())
        cells = _split(written[1] if written else lines[0].strip())
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


def _column(source: Source) -> tuple[Any, Codes, tuple[str, ...]]:
    data = bytes(source.data)
    try:
        table = open_table(data, source.name, None, sheet=source.sheet)
    except NoRows:  # one line, which is no header
        table = open_table(data, source.name, False, sheet=source.sheet)
    if isinstance(table, TextTable) and not table.has_header and len(table.columns) > 1 == len(table.sample):
        cells, notes = _cells(table.data.decode())
        return (*factorize(pa.chunked_array([pa.array(cells, pa.large_string())])), (*table.notes, *notes))
    index = _column_of_list(table)
    notes = tuple(note for note in table.notes if HEADER_SWITCH not in note)  # which lists do not have
    if len(table.columns) > 1:
        notes += (f"The list was read from the column {quote(table.columns[index])}.",)
    elif isinstance(table, TextTable) and table.has_header:
        notes += (f"The first line of the list, {quote(table.columns[index])}, was taken for its title.",)
    return (*number_columns(table, [index])[0][0], notes)


def _column_of_list(table: Table) -> int:
    """The suggested column; where its names come again, as those of groups do, the first in which none does."""
    suggested, width = suggest(table).category, range(len(table.columns))
    once = [i for i in width if not (table.hints[i].again or table.hints[i].empty or table.numeric[i])]
    return once[0] if once and table.hints[suggested].again else suggested


def _listed(distinct: Any, codes: Codes, notes: tuple[str, ...]) -> Listed:
    """The clean names of a column that `factorize` has split."""
    cleaned = clean(distinct, codes)
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
    labels = as_objects(cleaned.names)
    labels.setflags(write=False)
    return Listed(labels, (*notes, *cleaned.notes))


UNREPORTED_NAME = "not reported"
"""With a number, what a category is called of which only the existence is known."""


@dataclass(frozen=True)
class AllSeen:
    """The domain consists of the reported categories."""


@dataclass(frozen=True)
class Size:
    """The domain has K categories, K_MIN to K_MAX; those without reports have no name."""

    k: int


Domain = AllSeen | Size | Listed


@dataclass(frozen=True)
class Names:
    """Decisions on single names, applied before the analysis.

    Attributes:
        left_out: names that are no categories. Their reports are not counted.
        counted_as: pairs of a name and the one that its reports are counted under, which may in turn be another.
    """

    left_out: tuple[str, ...] = ()
    counted_as: tuple[tuple[str, str], ...] = ()


AS_WRITTEN = Names()


@dataclass(frozen=True, eq=False)
class Collected:
    """Reports counted over their domain: the input of the estimators.

    Attributes:
        labels: (k,) distinct str, dtype object, read-only: in the order of the list, else of first appearance and then
            the categories without a name ("not reported 1", ...).
        counts: (k,) read-only int64, reports of each category; not all zero.
        outside: reported labels not in the domain, and names left out, with their reports, most reported first; not in
            `counts`.
        notes: sentences about the domain.
        too_few: categories of the files with fewer reports than noise alone brings, each with its reports.
    """

    labels: npt.NDArray[np.object_]
    counts: Counts
    outside: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    too_few: tuple[tuple[str, int], ...] = ()

    @property
    def k(self) -> int:
        """Number of categories K."""
        return len(self.labels)

    @property
    def total(self) -> int:
        """Reports inside the domain, N."""
        return int(self.counts.sum())

    @property
    def unreported(self) -> int:
        """Number of categories without a report."""
        return int(np.count_nonzero(self.counts == 0))

    @property
    def outside_total(self) -> int:
        """Number of reports in `outside`."""
        return sum(reports for _, reports in self.outside)


def within(reports: Reports, domain: Domain, names: Names = AS_WRITTEN) -> Collected:
    """Count reports over their domain; everything left out is in `Collected.outside` and `Collected.notes`.

    Raises:
        WrongDomain: K out of range or smaller than the number of categories reported; a list that does not fit the
            reports.

    >>> from rr_core.io.reports import read_reports
    >>> reports = read_reports([Source("answers.txt", b"bus\\ncar\\nbus\\n")])
    >>> within(reports, Size(3)).labels.tolist()
    ['bus', 'car', 'not reported 1']
    """
    labels, counts = renamed(reports, names)
    notes = _renamed_note(reports, names)
    if isinstance(domain, Listed):
        return _on_list(reports, labels, counts, domain, notes)
    kept = ~among(labels, names.left_out)
    outside = most_first(labels, counts, ~kept)
    labels, counts = labels[kept], counts[kept]
    seen = len(labels)
    k = seen if isinstance(domain, AllSeen) else domain.k
    if reports.total and not counts.any():
        raise WrongDomain("No report is left to be counted. Leave fewer names out.")
    if isinstance(domain, AllSeen) and seen < K_MIN:
        raise WrongDomain(
            f"Only one category is counted, and k-RR needs at least {K_MIN}. Give K, or a list of all"
            " categories."
        )
    if not K_MIN <= k <= K_MAX:
        raise WrongDomain(f"K must be from {K_MIN} to {K_MAX:,}, and K = {k:,} was given.")
    if k < seen:
        raise WrongDomain(
            f"The files hold {seen:,} different categories, and K = {k:,} is smaller. Give K = {seen:,} or more,"
            " or a list of all categories if some of these do not belong."
        )
    if k > seen:
        taken = {label for label in labels if label.startswith(UNREPORTED_NAME)}
        others = (name for i in count(1) if (name := f"{UNREPORTED_NAME} {i}") not in taken)
        labels = np.array([*labels, *islice(others, k - seen)], dtype=object)
        counts = np.append(counts, np.zeros(k - seen, dtype=np.int64))
    labels.setflags(write=False)
    counts.setflags(write=False)
    return Collected(labels, counts, outside, notes)


def renamed(reports: Reports, names: Names) -> tuple[npt.NDArray[np.object_], Counts]:
    """Labels and counts after the names in `Names.counted_as` were merged, in order of first appearance."""
    if not names.counted_as:
        return reports.labels, reports.counts
    others = dict(names.counted_as)
    labels = reports.labels.copy()
    for i in np.flatnonzero(among(labels, others)):
        labels[i] = counted_name(labels[i], others)
    distinct, codes = factorize(pa.chunked_array([pa.array(labels, pa.large_string())]))
    united = as_objects(distinct)
    return united, add_up(codes, reports.counts, len(united))


def counted_name(label: str, others: Mapping[str, str]) -> str:
    """The name under which a label is counted, where each of ``others`` is counted as another."""
    passed = {label}
    while (other := others.get(label)) is not None and other not in passed:
        label = other
        passed.add(other)
    return label


def among(labels: npt.NDArray[np.object_], names: Collection[str]) -> npt.NDArray[np.bool_]:
    """(m,) whether each label is in ``names``."""
    return one_of(pa.array(labels, pa.large_string()), names)


def _renamed_note(reports: Reports, names: Names) -> tuple[str, ...]:
    if not names.counted_as:
        return ()
    number = len(names.counted_as)
    total = int(reports.counts[among(reports.labels, dict(names.counted_as))].sum())
    shown = ", ".join(f"{quote(one)} as {quote(other)}" for one, other in names.counted_as[:3])
    return (
        f"{total:,} {'report' if total == 1 else 'reports'} of {'one name' if number == 1 else f'{number:,} names'}"
        f" {'was' if total == 1 else 'were'} counted under another name:"
        f" {shown}{', …' if number > 3 else ''}.",
    )


def most_first(
    labels: npt.NDArray[np.object_], counts: Counts, chosen: npt.NDArray[np.bool_]
) -> tuple[tuple[str, int], ...]:
    """The chosen labels with their reports, in decreasing order of reports."""
    places = np.flatnonzero(chosen)
    places = places[np.argsort(-counts[places], kind="stable")]
    return tuple(zip(labels[places].tolist(), counts[places].tolist(), strict=True))


def _on_list(
    reports: Reports, labels: npt.NDArray[np.object_], seen: Counts, domain: Listed, notes: tuple[str, ...]
) -> Collected:
    written = pa.chunked_array([pa.array(domain.labels, pa.large_string())])
    listed = _listed(*factorize(written), domain.notes)
    places = pc.index_in(pa.array(labels, pa.large_string()), pa.array(listed.labels, pa.large_string()))
    positions = pc.fill_null(places, -1).to_numpy(zero_copy_only=False)
    inside = positions >= 0
    outside = most_first(labels, seen, ~inside & (seen > 0))
    alike = similar_labels(np.array([name for name, _ in outside], dtype=object), listed.labels)
    if not inside.any():
        shown = [", ".join(quote(label, 20) for label in some[:2]) for some in (listed.labels, labels)]
        advice = "Check that the list belongs to these reports."
        if alike:
            advice = f"They differ in {difference(*alike[0])}: write them alike."
        raise WrongDomain(
            f"The list shares no category with the reports: the list has {shown[0]}, the reports {shown[1]}. {advice}"
        )
    counts = np.zeros(len(listed.labels), dtype=np.int64)
    counts[positions[inside]] = seen[inside]
    if not counts.any():
        raise WrongDomain(
            "No report is in a category on the list. Check that the list belongs to these reports."
        )
    said = [*notes, *dict.fromkeys(listed.notes)]
    first = listed.labels[0]
    if first.casefold() == reports.category_name.casefold() and counts[0] == 0:
        said.append(
            f"The first name on the list, {quote(first)}, is also the name of the column of reports. Delete it if"
            " it is a title."
        )
    if alike:
        one, other = alike[0]
        forms = "One label" if len(alike) == 1 else f"{len(alike):,} labels"
        said.append(
            f"{forms} outside the list may be on it in another form, such as {quote(one)} for {quote(other)}, which"
            f" differ in {difference(one, other)}. Correct the list if they are the same."
        )
    counts.setflags(write=False)
    return Collected(listed.labels, counts, outside, tuple(said))
