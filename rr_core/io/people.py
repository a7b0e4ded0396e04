"""Reports person by person, with the group and the weight of each, from a table of one row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io import numbers
from rr_core.io.columns import WORDS, Table, find, words_of
from rr_core.io.decoding import NoRows, UnreadableFile, quote, quoted
from rr_core.io.domain import Names, counted_name
from rr_core.io.labels import as_objects, clean, factorize, name_order, value_form
from rr_core.io.parquet import is_number, to_text
from rr_core.io.reports import Reports, Source, naming
from rr_core.io.tables import open_table
from rr_core.io.unary_reports import bits_of_columns, bits_of_strings
from rr_core.reports.survey import MOST_GROUPS, Sample, Tallies
from rr_core.rounding import counted

_MOST_STATED = 4  # texts of a group that should have one
_MOST_NAMED = 3
_FAR = 10  # times the largest weight with a fraction


_NO_GROUPS = 10_000  # different values: however they are written, of more than `MOST_GROUPS` groups


@dataclass(frozen=True, eq=False)
class People:
    """Who reported what, summed up by group.

    Attributes:
        groups: g names in order, numbers by size; ("",) where no column was asked for.
        tallies: people, and sums of their weights, by group and report, or by bit.
        notes: a sentence for each thing that was left out.
        stated: for each group, and each column that says how its reports were made, the different texts in it, "" for
            none; None where that was not asked for.
    """

    groups: tuple[str, ...]
    tallies: Tallies
    notes: tuple[str, ...]
    stated: tuple[tuple[tuple[str, ...], ...], ...] | None = None


def is_inclusion_name(name: str) -> bool:
    """Whether the name of a column means inclusion probabilities."""
    return bool(words_of(name) & {"pi", "inclusion"})


def read_people(
    source: Source | Sequence[Source],
    read: Reports,
    labels: Sequence[str],
    names: Names,
    by: Sequence[str] = (),
    weights: str | None = None,
    *,
    inverse: bool = False,
    bits: bool = False,
    stated: Sequence[str] = (),
) -> People:
    """Read the same reports again, row by row, with their groups and weights.

    Args:
        source: the file, or the files of one collection.
        read: what was read of it, which says in which columns.
        labels: m names of the reports that are counted, in the order wanted; others are left out.
        names: which names are counted as others.
        by: columns of groups; several are crossed.
        weights: column of weights.
        inverse: whether that column holds inclusion probabilities, whose inverses are the weights.
        bits: whether reports are bit strings, or rows of columns of bits, of unary encoding.
        stated: columns of numbers that say how a group's reports were made; they may be columns of groups as well.

    Raises:
        UnreadableFile: one plain sentence; also for more than `MOST_GROUPS` groups, or none.

    >>> from rr_core.io import read_reports
    >>> source = Source("a.csv", b"answer,town\\nyes,Oslo\\nno,Rome\\nyes,Rome\\n")
    >>> people = read_people(source, read_reports([source]), ["no", "yes"], Names(), ["town"])
    >>> people.groups, people.tallies.counts.tolist()
    (('Oslo', 'Rome'), [[0, 1], [1, 1]])
    """
    sources, files = [source] if isinstance(source, Source) else source, iter(read.files)
    keyed = tuple(dict.fromkeys((*by, *stated)))
    keys = [f"key {i}" for i in range(1 + len(keyed))]
    sums, whole = list[pa.Table](), list[pa.Table]()
    for one in sources:
        with naming(one.name if len(sources) > 1 else None):
            try:
                table = open_table(bytes(one.data), one.name, read.has_header, sheet=one.sheet)
            except NoRows:
                continue  # a part without rows, which was skipped before
            totals = next(files, read.files[-1]).totals
            for rows in _rows(table, read, totals, keys, keyed, weights, inverse):
                sums.append(_add_up(rows, keys))
                _refuse_ids(sums[-1], keys[1:], keyed)
                whole.append(_add_up(rows, keys[:1]))
    added = _add_up(pa.concat_tables(sums), keys)
    people = _people(added, keys, labels, names, by, weights, bits, tuple(map(keyed.index, stated)))
    if not by:
        return people
    # Sums of sums differ in their last digits from those of all rows, as they are read without groups.
    added = _add_up(pa.concat_tables(whole), keys[:1])
    of_all = _people(added, keys[:1], labels, names, (), weights, bits, ()).tallies
    if of_all.counts.sum() != people.tallies.counts.sum():  # some have no group
        return people
    return replace(people, tallies=replace(people.tallies, whole=of_all))


def _rows(
    table: Table,
    read: Reports,
    totals: Sequence[int],
    keys: Sequence[str],
    by: Sequence[str],
    weights: str | None,
    inverse: bool,
) -> Iterator[pa.Table]:
    """The rows of each piece of a table but those of totals, with its keys, and what is added up of them."""
    of_reports = list(read.columns) or [read.category_name]
    columns = [*of_reports, *by, *([] if read.count_name is None else [read.count_name])]
    of_weights = [] if weights is None else [find(table, weights)]
    indices = [*(find(table, column) for column in columns), *of_weights]
    twice = next((index for index in indices if indices.count(index) > 1), None)
    if twice is not None:
        raise UnreadableFile(
            f"The column {quote(table.columns[twice])} cannot be two things: choose another one for groups or weights."
        )
    if of_weights and read.count_name is not None:
        raise UnreadableFile("A table of counts has no weights: weights need one report per row.")
    rows, many = 0, len(read.columns)
    for piece in table.pieces(indices):
        if not piece.arrays:
            continue
        arrays = [array.combine_chunks() for array in piece.arrays]
        if many:
            arrays = [bits_of_columns(arrays[:many], read.columns, table, rows), *arrays[many:]]
        n = len(arrays[0])
        summed = dict(zip(keys, map(to_text, arrays), strict=False))
        summed |= {"rows": np.ones(n, dtype=np.int64), "people": np.ones(n, dtype=np.int64)}
        if read.count_name is not None:  # numbers that were read before
            summed["people"] = np.nan_to_num(numbers.parse(arrays[len(keys)]).values).astype(np.int64)
        weight, missing = np.ones(n), np.zeros(n, dtype=bool)
        if of_weights:
            weight = _weights(arrays[-1], table, of_weights[0], rows, inverse)
            missing = np.isnan(weight)
            weight = np.where(missing, 0.0, 1 / weight if inverse else weight)
        with np.errstate(over="ignore"):  # sums that are too large are refused later
            squares = weight**2
        summed |= {"weights": weight, "squares": squares, "missing": missing.astype(np.int64)}
        summed["zero"] = ((weight == 0) & ~missing).astype(np.int64)
        summed["people"] = np.where(missing, 0, summed["people"])
        own = pa.table(summed)
        yield own.filter(pa.array(~np.isin(np.arange(rows, rows + n), totals))) if totals else own
        rows += n


def _refuse_ids(sums: pa.Table, keys: Sequence[str], by: Sequence[str]) -> None:
    """Raise UnreadableFile for a column with too many different values in one piece, before those of all are held."""
    for name, key in zip(by, keys, strict=True):
        if pc.count_distinct(sums[key]).as_py() > _NO_GROUPS:
            raise UnreadableFile(
                f"The column {quote(name)} has more than {_NO_GROUPS:,} different values, as one that numbers people "
                f"has, and at most {MOST_GROUPS} groups can be compared: choose a column with fewer."
            )


_SUMMED = ("rows", "people", "weights", "squares", "missing", "zero")


def _add_up(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The sums of a table by its keys, in order of first appearance."""
    sums = table.group_by(keys, use_threads=False).aggregate([(name, "sum") for name in _SUMMED])
    return sums.select([*keys, *(f"{name}_sum" for name in _SUMMED)]).rename_columns([*keys, *_SUMMED])


def _people(
    sums: pa.Table,
    keys: Sequence[str],
    labels: Sequence[str],
    names: Names,
    by: Sequence[str],
    weights: str | None,
    bits: bool,
    stated: Sequence[int],
) -> People:
    """The people of a table of sums; ``stated`` are the places among the keys of what is stated of the groups."""
    if bits:
        reports, each = bits_of_strings(sums[keys[0]], len(labels))
    else:
        own = clean(*factorize(sums[keys[0]]))
        places = np.append(_places(as_objects(own.names), labels, names), -1)
        reports = places[own.codes]
    left, notes = reports >= 0, list[str]()
    groups, group_names, none = _groups([sums[key] for key in keys[1 : 1 + len(by)]], len(reports))
    if by:
        _refuse_merged(sums, keys[1:], by)
        notes += _alike(group_names)
        why = f"left out: no value in the column {quote(', '.join(by))}"
        if none:
            why += f" (as {' and '.join(map(quote, none))} says: if that is a group, give it another name)"
        _note(notes, sums, left & (groups < 0), "rows", why)
        left &= groups >= 0
    if weights is not None:
        _note(notes, sums, left, "missing", f"left out: no weight in the column {quote(weights)}")
        zero = (
            f"with weight 0 in the column {quote(weights)}: they are among the reports, but not in the shares"
        )
        _note(notes, sums, left, "zero", zero)
    left &= sums["people"].to_numpy() > 0
    written = {group_names[group] for group in np.unique(groups[groups >= 0]).tolist()}
    groups, group_names = _seen(groups[left], group_names)
    if empty := sorted(written.difference(group_names)):
        notes.append(f"Without a report, and left out of the groups: {quoted(empty)}.")
    g, m = len(group_names), len(labels)
    if not groups.size:
        raise UnreadableFile("No report is left that has a group and a weight: choose other columns.")
    if g > MOST_GROUPS:
        raise UnreadableFile(
            f"There are {g:,} groups in the column {quote(', '.join(by))}, and at most {MOST_GROUPS} can be compared: "
            "choose a column with fewer."
        )

    told = _stated([sums[keys[1 + at]] for at in stated], groups, left, g) if stated else None
    if bits:
        people, squares = (sums[name].to_numpy()[left] for name in ("people", "squares"))
        weight = None if weights is None else sums["weights"].to_numpy()[left]
        tallies = Sample(each[reports[left]], groups, weight, people=people, squares=squares).tallies(m)
    else:
        people, weight, squares = (
            np.bincount(groups * m + reports[left], sums[name].to_numpy()[left], g * m).astype(float)
            for name in ("people", "weights", "squares")
        )
        tallies = Tallies(people.astype(np.int64).reshape(g, m))
        if weights is not None:
            tallies = replace(tallies, weights=weight.reshape(g, m), squares=squares.reshape(g, m))
    return People(group_names, tallies, tuple(notes), told)


def _alike(groups: Sequence[str]) -> list[str]:
    """A sentence where the names of two groups differ in case only, or are one number or date in two forms."""
    forms = value_form(pa.array(groups, pa.large_string())).to_pylist()
    first = dict(zip(reversed(forms), reversed(groups), strict=True))
    pairs = [(first[form], name) for form, name in zip(forms, groups, strict=True) if first[form] != name]
    if not pairs:
        return []
    named = "; ".join(f"{quote(one)} and {quote(other)}" for one, other in pairs[:_MOST_NAMED])
    more = "; …" if len(pairs) > _MOST_NAMED else ""
    return [f"Counted as different groups: {named}{more}. Write them alike if they are one."]


def _refuse_merged(sums: pa.Table, keys: Sequence[str], by: Sequence[str]) -> None:
    """Raise UnreadableFile for a column of groups with each name in one row, and others empty, as in merged cells."""
    rows = sums["rows"].to_numpy()
    for key, column in zip(keys, by, strict=False):
        own = clean(*factorize(sums[key]))
        each = np.bincount(own.codes.astype(np.int64) + 1, rows, 1 + len(own.names))
        if each[0] and len(each) > 1 and each[1:].max() == 1:
            without = counted(int(each[0]), "row") + (" has" if each[0] == 1 else " have")
            raise UnreadableFile(
                f"In the column {quote(column)} each name stands in one row only, and {without} none, as where cells are "
                "merged: write the name in every row."
            )


def _stated(
    columns: Sequence[Any], groups: npt.NDArray[np.int64], left: npt.NDArray[np.bool_], g: int
) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """For each of g groups, and each column, the first of the different texts that there are, "" for none."""
    found: list[list[tuple[str, ...]]] = [[] for _ in range(g)]
    for column in columns:
        labels = clean(*factorize(column))
        names, codes = [*as_objects(labels.names).tolist(), ""], labels.codes.astype(np.int64)[left]
        pairs = np.unique(np.stack([groups, codes]), axis=1)
        for group, texts in enumerate(found):
            texts.append(tuple(names[code] for code in pairs[1, pairs[0] == group][:_MOST_STATED].tolist()))
    return tuple(map(tuple, found))


def _note(notes: list[str], sums: pa.Table, among: npt.NDArray[np.bool_], name: str, why: str) -> None:
    rows = int(sums[name].to_numpy()[among].sum())
    if rows:
        notes.append(f"{counted(rows, 'row')} {why}.")


def _places(written: npt.NDArray[np.object_], labels: Sequence[str], names: Names) -> npt.NDArray[np.int64]:
    """The position of each name that is written among those that are counted; -1 where it is none of them."""
    others, place = dict(names.counted_as), {str(name): i for i, name in enumerate(labels)}
    return np.array([place.get(counted_name(one, others), -1) for one in written.tolist()], dtype=np.int64)


def _groups(columns: Sequence[Any], n: int) -> tuple[npt.NDArray[np.int64], tuple[str, ...], tuple[str, ...]]:
    """Of each of n rows the group, -1 where a column has no value; their names, those of crossed columns joined; and the
    words, as "NA", by which programs write that there is no value."""
    groups, names, none = np.zeros(n, dtype=np.int64), tuple[str, ...](("",)), dict[str, None]()
    for number, column in enumerate(columns):
        labels = clean(*factorize(column))
        written = as_objects(labels.names)
        order = name_order(written)
        own, mine = np.append(np.argsort(order), -1)[labels.codes], tuple(written[order].tolist())
        is_none = np.array([name in WORDS["missing"] for name in mine] + [True])
        none |= dict.fromkeys(name for name, missing in zip(mine, is_none, strict=False) if missing)
        own, mine = _seen(np.where(is_none[own], -1, own), mine)
        if not number:
            groups, names = own, mine
            continue
        crossed = np.where((groups >= 0) & (own >= 0), groups * len(mine) + own, -1)
        groups, names = _seen(crossed, tuple(f"{one}, {other}" for one in names for other in mine))
    return groups, names, tuple(none)


def _seen(
    groups: npt.NDArray[np.int64], names: tuple[str, ...]
) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """The same without groups that nobody is in."""
    found = np.bincount(groups[groups >= 0], minlength=len(names)) > 0
    place = np.append(np.cumsum(found) - 1, -1)
    return place[groups], tuple(name for name, is_there in zip(names, found, strict=True) if is_there)


def _weights(array: Any, table: Table, index: int, before: int, inverse: bool) -> npt.NDArray[np.float64]:
    """The numbers of a piece of the column of weights, nan where there is none; ``before`` rows came before it."""
    combined, column = array, quote(table.columns[index])

    def refuse(wrong: npt.NDArray[np.bool_], found: Callable[[int], str], why: str) -> None:
        for row in np.flatnonzero(wrong)[:1].tolist():
            where = f"{table.unit.capitalize()} {table.place(before + row):,}"
            raise UnreadableFile(f"{where} has {found(row)} in the column {column}, {why}") from None

    def as_written(row: int) -> str:
        return quote(pc.cast(array.slice(row, 1), pa.large_string())[0].as_py())

    mend = "mend it, leave it empty, or choose another column."
    try:
        if not is_number(combined.type):
            text = pc.utf8_trim_whitespace(pc.cast(combined, pa.large_string()))
            combined = pc.cast(pc.if_else(pc.equal(text, ""), None, text), pa.float64())
        values = np.asarray(pc.cast(combined, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    except pa.ArrowInvalid:
        distinct, codes = factorize(pa.chunked_array([combined]))
        parsed = numbers.parse(distinct)
        values = (parsed.values / (100 if parsed.percent else 1))[codes]
        text = pc.utf8_trim_whitespace(pc.cast(distinct, pa.large_string()))
        # As Arrow takes them where all numbers have points.
        none = pc.match_substring_regex(text, "(?i)^([+-]?nan)?$")
        wrong = np.isnan(values) & ~pc.fill_null(none, True).to_numpy(zero_copy_only=False)[codes]
        refuse(wrong, as_written, f"which is no number, as weights are: {mend}")
    broken = np.isfinite(values) & (values != np.rint(values))
    far = broken.any() and np.nanmax(values) > _FAR * values[broken].max()  # 950 beside 1.234
    if far and not is_number(array.type) and numbers.parse(pc.unique(array)).notes:
        why = "beside numbers that are much larger: if its point stands between thousands, write it without."
        refuse(broken, as_written, why)
    range_of = "inclusion probabilities lie above 0, up to 1" if inverse else "weights are not below 0"
    bad = (values <= 0) | (values > 1) if inverse else values < 0
    refuse(bad, lambda row: f"{values[row]:.12g}", f"and {range_of}: {mend}")
    return np.where(np.isinf(values), np.nan, values)
