"""Odd names among collected reports: names that are probably no categories, or spellings of another category.

They are found before anything is computed, on the distinct names alone, so that a person decides what is done
with them: where K is not known otherwise, each of them counted as a category changes K, and with it every estimate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rr_core.io.columns import WORDS
from rr_core.io.domain import Domain, Listed, Names, Size, among, most_first, renamed
from rr_core.io.labels import caseless_form, similar_labels, value_form, visible_form
from rr_core.io.reports import Reports
from rr_core.io.tables import Counts, likely_total, one_of, sum_of_others, total_form
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.low_counts import strays

Reason = Literal[
    "no answer",
    "a total",
    "a mean or SD",
    "the sum of the others",
    "several answers",
    "declared by the file",
    "the name of the column",
    "too few reports",
    "looks the same",
    "nearly the same",
]
Mechanism = Callable[[int], RandomizedResponse]
Labels = npt.NDArray[np.object_]
Mask = npt.NDArray[np.bool_]

_IN_GROUP = re.compile(r"\s*[:/|>,;\u2013\u2014-]\s*(?=\S)")  # between the names of a group and of one of it
_BETWEEN = r"\s*[;,|+/&]\s*|\s+(?:and|und|et|y|e|och|og|en|i)\s+"  # answers in one cell
_SUBTOTAL = r"^(sub-?total|sous-total|zwischensumme)\b"
_NET = r"^(sub-?)?net\b|^(top|bottom)[ -]?(\d|two|three)\b"  # as market research calls them
_MOST_LISTS = 10_000  # names that are looked at
_FEWEST_LISTS, _MOST_IN_NETS = 3, 200  # lists of answers; names whose sums are looked at
_FEWEST_IN_GROUP = 3  # rows, the first of which has the sum of the others
_NEARLY_ALL = 0.9  # of the rest: a total may be rounded, or lack a category


@dataclass(frozen=True)
class Odd:
    """A name that looks odd.

    Attributes:
        label, reports: the name, and its reports.
        reason: why it looks odd.
        twin: the category of which it may be a spelling; None where it is probably no category.
        by_default: whether it is counted as its twin, or without one left out, unless the user decides otherwise.
    """

    label: str
    reports: int
    reason: Reason
    twin: str | None
    by_default: bool


@dataclass(frozen=True)
class OddNames:
    """All odd names, and the listed categories with too few reports.

    Attributes:
        names: most reported first.
        level: N q, the expected reports of an empty category; None while epsilon or K is unknown.
        listed_too_few: categories on a list, with their reports, that got far fewer.
    """

    names: tuple[Odd, ...]
    level: float | None
    listed_too_few: tuple[tuple[str, int], ...] = ()

    def default_decisions(self) -> Names:
        """The decisions on names that apply unless the user makes others."""
        return decisions_on([odd for odd in self.names if odd.by_default])


def decisions_on(odd: list[Odd]) -> Names:
    """Decisions that count these odd names as their twins or, without one, leave them out."""
    return Names(
        left_out=tuple(one.label for one in odd if one.twin is None),
        counted_as=tuple((one.label, one.twin) for one in odd if one.twin is not None),
    )


def odd_names(reports: Reports, domain: Domain, mechanism: Mechanism | None = None) -> OddNames:
    """Find the odd names among reports.

    Args:
        reports, domain: what was collected. What is on a list is a category.
        mechanism: the randomized response for a number of categories, when it is known: names with far fewer reports
            than noise alone brings are odd then (`rr_core.reports.low_counts`). May raise ValueError.

    O(m log m) for m names: two seconds for a million.
    """
    if isinstance(domain, Listed):
        return _beside_list(reports, domain, mechanism)
    labels, counts = reports.labels, reports.counts
    written = pa.array(labels, pa.large_string())
    text, missing = pc.utf8_lower(written), one_of(written, WORDS["missing"])
    none = np.zeros(len(labels), dtype=bool)
    of_counts = reports.layout == "counts"
    means = _means(counts, written, missing) if of_counts else none
    total, added, sums = _totals(reports, written, missing | means) if of_counts else (none, none, none)
    sums = sums | means
    declared = none if of_counts else counts == 0
    same, nearly, values = _twins(labels, counts)
    several = _several_answers(written)
    own = ~missing & ~sums & ~declared & ~several & (same < 0)
    rare, level, outweighed = none.copy(), None, True
    if mechanism is not None and own.sum() >= 2:
        merged = (
            counts[own] + np.bincount(same[same >= 0], counts[same >= 0], len(labels)).astype(np.int64)[own]
        )
        found = strays(merged, mechanism, domain.k if isinstance(domain, Size) else None)
        rare[own] = found.below
        level = found.level
        outweighed = bool(counts[rare & (nearly < 0)].sum() < level)
    unsaid = one_of(text, WORDS["perhaps_missing"])
    # A table of counts was written by somebody: a row of it is a category, also one with a 0.
    listed = rare & (counts == 0) | (rare & ~unsaid if of_counts else none)
    # Files that were put together have the header of the second among their rows.
    header = (
        none
        if of_counts or not reports.has_header
        else one_of(text, frozenset({reports.category_name.lower()}))
    )
    perhaps = unsaid | total | added | means | several | declared | header
    others: tuple[tuple[Reason, Mask], ...] = (
        ("a total", total),
        ("a mean or SD", means),
        ("the sum of the others", added),
        ("several answers", several),
        ("declared by the file", declared | (rare & (counts == 0))),
        ("the name of the column", header),
    )
    odd = []
    for i in np.flatnonzero(missing | perhaps | rare | (same >= 0) | (nearly >= 0)).tolist():
        twin = same[i] if same[i] >= 0 else nearly[i]
        is_twin = twin >= 0 and not (missing[i] or sums[i])
        again = bool(header[i]) and 2 * int(counts[i]) * len(labels) < reports.total
        settled = bool(again or missing[i] or sums[i] or several[i])
        settled = settled or bool(rare[i] and (is_twin or (outweighed and not listed[i])))
        reason: Reason = "too few reports"
        if is_twin:
            reason = "looks the same" if same[i] >= 0 else "nearly the same"
            settled = settled or bool(same[i] >= 0 or values[i])
        elif named := [name for name, mask in others if mask[i]]:
            reason = named[0]
        elif missing[i] or (perhaps[i] and not rare[i]):
            reason = "no answer"
        odd.append(Odd(labels[i], int(counts[i]), reason, labels[twin] if is_twin else None, settled))
    return OddNames(_by_reports(odd), level)


def _means(counts: Counts, written: Any, missing: Mask) -> Mask:
    """Which names at the end are words for a mean or standard deviation, and have that of the rows above."""
    form, found = total_form(written), np.zeros(len(counts), dtype=bool)
    mean, deviation = (one_of(form, WORDS[word]) for word in ("mean", "deviation"))
    rest = mean | deviation | missing | one_of(form, WORDS["total"])
    if (mean | deviation).any() and not rest.all():
        end = int(np.flatnonzero(~rest)[-1]) + 1
        above = counts[:end][~rest[:end]]
        found[end:] = mean[end:] & (abs(counts[end:] - above.mean()) < 1)
        for spread in (above.std(), above.std(ddof=1)) if len(above) > 1 else ():
            found[end:] |= deviation[end:] & (abs(counts[end:] - spread) < 1)
    return found


def _totals(reports: Reports, written: Any, missing: Mask) -> tuple[Mask, Mask, Mask]:
    """Of a table of counts, which names have a word for a total, or the sum of a group of others; which, without one, the
    sum of all others; and which of these surely are no categories."""
    labels, counts = reports.labels, reports.counts
    called = one_of(total_form(written), WORDS["total"])
    grouped = _sums_of_groups(labels, counts) | _sums_of_next(counts, called | missing)
    grouped |= _nets(written, counts, called | missing)
    total = called | grouped
    parts = np.zeros(len(labels), dtype=bool)
    if total.any():  # beside a total, also "Subtotal north"
        text = pc.match_substring_regex(pc.utf8_lower(written), _SUBTOTAL)
        parts = np.asarray(text.to_numpy(zero_copy_only=False)) & ~total
        total = total | parts
    rest = counts[~missing & ~total].sum()
    sums = total & (counts >= _NEARLY_ALL * rest) & (counts > 0)
    if (sums & ~parts).any():
        sums |= parts
    added = np.zeros_like(parts) if sums.any() else sum_of_others(np.where(missing, 0, counts))
    # At an end of the table a sum is its total; amid the others it may be one by chance.
    return total, added, sums | (added & likely_total(counts)) | grouped | _sums_so_far(total, counts)


def summary_rows(reports: Reports) -> dict[str, str]:
    """Names in a table of counts that stand for others together, and what they hold: "totals", "means or SDs"; none where
    each row is a report.

    >>> from rr_core.io.reports import read_typed
    >>> summary_rows(read_typed("yes, 640\\nno, 360\\nTotal, 1000\\nMean, 500"))
    {'Total': 'totals', 'Mean': 'means or SDs'}
    """
    if reports.layout != "counts":
        return {}
    written = pa.array(reports.labels, pa.large_string())
    missing = one_of(written, WORDS["missing"])
    means = _means(reports.counts, written, missing)
    total, added, _ = _totals(reports, written, missing | means)
    totals = dict.fromkeys(reports.labels[total | added].tolist(), "totals")
    return totals | dict.fromkeys(reports.labels[means].tolist(), "means or SDs")


def _sums_so_far(total: Mask, counts: Counts) -> Mask:
    """Whether a name with a word for a total has the sum of two or more since the last such: a subtotal."""
    found, start = np.zeros(len(counts), dtype=bool), 0
    for i in np.flatnonzero(total).tolist():
        found[i] = i > start + 1 and counts[i] == counts[start:i].sum() > 0
        start = i + 1
    return found


def _sums_of_next(counts: Counts, apart: Mask) -> Mask:
    """Whether a name has the sum of two or more that come next, where all but those ``apart`` are in such a group, of
    two or more: "Motorised" above "Bus" and "Car", "Active" above "Bike" and "Walk"."""
    rows, heads, i = np.flatnonzero(~apart), list[int](), 0
    while i < len(rows):
        whole, j, together = counts[rows[i]], i + 1, 0
        while j < len(rows) and together < whole:
            together, j = together + counts[rows[j]], j + 1
        if together != whole or j < i + _FEWEST_IN_GROUP:
            return np.zeros(len(counts), dtype=bool)
        heads.append(int(rows[i]))
        i = j
    found = np.zeros(len(counts), dtype=bool)
    found[heads] = len(heads) > 1
    return found


def _nets(written: Any, counts: Counts, apart: Mask) -> Mask:
    """Whether a name like “NET: …” or “Top 2 box” has the sum of two or more adjacent rows, not ``apart``."""
    called = np.asarray(pc.match_substring_regex(pc.utf8_lower(written), _NET).to_numpy(zero_copy_only=False))
    rest = counts[~(called | apart)][:_MOST_IN_NETS]
    sums = [np.cumsum(rest[i:])[1:] for i in range(len(rest))] if called.any() else []
    return called & np.isin(counts, np.concatenate([[], *sums]))


def _sums_of_groups(labels: Labels, counts: Counts) -> Mask:
    """Whether a name, as "A", has the sum of two or more others that begin with it, as "A: yes" and "A: no"."""
    if len(labels) > _MOST_LISTS:
        return np.zeros(len(labels), dtype=bool)
    groups: dict[str, list[int]] = {}
    for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
        for mark in _IN_GROUP.finditer(label):
            groups.setdefault(label[: mark.start()], []).append(count)
    return np.array(
        [
            len(groups.get(label, ())) > 1 and count == sum(groups[label]) > 0
            for label, count in zip(labels.tolist(), counts.tolist(), strict=True)
        ],
        dtype=bool,
    )


def _several_answers(names: Any) -> Mask:
    """Whether a name is a list of names that are there, too: the boxes that somebody ticked. Of lists with blanks
    alone between words there must be three: "New York" may be none. Parts of two lists are boxes as well, which nobody
    ticked alone."""
    found = np.zeros(len(names), dtype=bool)
    bare = pc.replace_substring_regex(names, r"\s*[;,|]\s*$", "")  # Microsoft Forms ends each answer with one
    for mark, fewest in ((_BETWEEN, 1), (r"\s+", _FEWEST_LISTS)):
        marked = pc.match_substring_regex(bare, rf"\S({mark})\S")
        chosen = np.flatnonzero(marked.to_numpy(zero_copy_only=False))[:_MOST_LISTS]
        parts = [re.split(mark, name) for name in bare.take(pa.array(chosen)).to_pylist()]
        listed = pa.array({one for some in parts for one in some}, names.type)
        there = set(pc.filter(bare, pc.is_in(bare, listed)).to_pylist())
        lists = [
            (i, {*some}) for i, some in zip(chosen.tolist(), parts, strict=True) if len({*some}) == len(some)
        ]
        if sum(some <= there for _, some in lists) >= fewest:
            often = Counter(one for _, some in lists for one in some)
            there |= {one for one in often if often[one] > 1}
            found[[i for i, some in lists if some <= there]] = True
    return found


def too_few(
    reports: Reports, names: Names, domain: Domain, mechanism: Mechanism
) -> tuple[tuple[str, int], ...]:
    """Categories, after these decisions, with far fewer reports than noise alone gives, each with its reports."""
    labels, counts = renamed(reports, names)
    if isinstance(domain, Listed):
        return _listed_too_few(labels, counts, domain, mechanism)[0]
    kept = ~among(labels, names.left_out)
    labels, counts = labels[kept], counts[kept]
    found = strays(counts, mechanism, domain.k if isinstance(domain, Size) else None)
    return most_first(labels, counts, found.below)


def _beside_list(reports: Reports, domain: Listed, mechanism: Mechanism | None) -> OddNames:
    outside = reports.labels[~among(reports.labels, domain.labels) & (reports.counts > 0)]
    alike = similar_labels(outside, domain.labels)
    number = dict(zip(reports.labels.tolist(), reports.counts.tolist(), strict=True)) if alike else {}
    cases = [caseless_form(pa.array([pair[i] for pair in alike], pa.large_string())) for i in (0, 1)]
    # Of what `near` finds, accents, zeros and marks may tell two categories apart.
    equal = pc.equal(*cases).to_pylist()
    numbers = _are_values(value_form(pa.array(domain.labels, pa.large_string())))
    odd = [
        Odd(one, number[one], "looks the same" if sure else "nearly the same", other, sure or numbers)
        for (one, other), sure in zip(alike, equal, strict=True)
    ]
    names = OddNames(_by_reports(odd), None)
    if mechanism is None:
        return names
    labels, counts = renamed(reports, names.default_decisions())
    few, level = _listed_too_few(labels, counts, domain, mechanism)
    return OddNames(names.names, level, few)


def _listed_too_few(
    labels: Labels, seen: Counts, domain: Listed, mechanism: Mechanism
) -> tuple[tuple[tuple[str, int], ...], float | None]:
    k = len(domain.labels)
    places = pc.index_in(pa.array(domain.labels, pa.large_string()), pa.array(labels, pa.large_string()))
    positions = pc.fill_null(places, -1).to_numpy(zero_copy_only=False)
    counts = np.where(positions >= 0, seen[positions], 0)
    found = strays(counts, mechanism, k)
    return most_first(domain.labels, counts, found.below), found.level


def _twins(labels: Labels, counts: Counts) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Mask]:
    """For each label the position of the most reported one that looks the same, -1 for that one itself; else of the
    most reported one that differs in case only, or is the same value, written with zeros in front or without as most
    reports of such values are; and whether all are values, so that these are surely one."""
    text = pa.array(labels, pa.large_string())
    same = _first_of_group(visible_form(text), counts)
    leads = np.flatnonzero(same < 0)
    nearly = np.full(len(labels), -1, dtype=np.int64)
    forms = value_form(text.take(pa.array(leads)))
    found = _first_of_group(forms, counts[leads])
    padded = pc.match_substring_regex(text.take(pa.array(leads)), r"^0[0-9]").to_numpy(zero_copy_only=False)
    if (padded & (found >= 0)).any():
        reports = np.where(found >= 0, counts[leads], 0)
        reports[found[found >= 0]] = counts[leads][found[found >= 0]]
        usual = padded == (2 * reports[padded].sum() > reports.sum())
        found = _first_of_group(forms, counts[leads], usual)
    nearly[leads] = np.where(found >= 0, leads[found], -1)
    return same, nearly, (nearly >= 0) & _are_values(forms)


def _are_values(forms: Any) -> bool:
    """Whether all names, in `value_form`, are numbers or dates."""
    return bool(pc.all(pc.match_substring_regex(forms, r"^[+-]?[0-9][0-9.e+-]*$")).as_py())


def _first_of_group(keys: Any, counts: Counts, usual: Mask | None = None) -> npt.NDArray[np.int64]:
    """(m,) position of the most reported label with the same key, a usual one if there is; -1 for that label itself."""
    codes = pc.dictionary_encode(keys).indices.to_numpy(zero_copy_only=False)
    others = np.zeros(len(codes), dtype=bool) if usual is None else ~usual
    order = np.lexsort((np.arange(len(codes)), -counts, others, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    first = np.empty(len(codes), dtype=np.int64)
    first[order] = np.repeat(order[starts], np.diff(np.append(starts, len(codes))))
    return np.where(first == np.arange(len(codes)), -1, first)


def _by_reports(odd: list[Odd]) -> tuple[Odd, ...]:
    return tuple(sorted(odd, key=lambda one: -one.reports))
