"""What was understood of the files, shown before anything is computed, and what is done with odd names."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages._ui.safe_text import markdown
from pages._ui.upload import form
from pages._ui.your_reports import reading, words
from pages._ui.your_reports.said import Said
from rr_core.figures.labels import plain
from rr_core.figures.style import number
from rr_core.io import Odd, OddNames, Preview, Reports, UnreadableFile, WrongDomain, decided
from rr_core.io.labels import difference

_FIRST_ROWS = 3
_MOST_NAMED = 50  # in a control; the rest is one choice
_MOST_SAID = 5


def show(reports: Reports, preview: Preview | None) -> None:
    """Rows, names and reports, what was assumed, and the first rows."""
    st.success(
        markdown(
            f"Understood: {_many(reports.rows, 'row', 'rows')}, {_many(len(reports.labels), 'name', 'names')}, "
            f"{_many(reports.total, 'report', 'reports')}."
        )
    )
    remarks = [] if preview is None else [f"{form(preview)}."]
    remarks += [
        f"Left out: {_many(drop.rows, 'row', 'rows')} ({drop.reason}), the first in line {drop.first_line:,}"
        + (f" of {plain(drop.file, 80)}." if drop.file else ".")
        for drop in reports.dropped
    ]
    if reports.merged:
        remarks.append(
            f"{_many(reports.merged, 'row', 'rows')} of a category that came before: added to its first row."
        )
    left, right = st.columns([3, 2])
    left.markdown("\n".join(f"- {markdown(remark)}" for remark in (*remarks, *reports.notes)))
    if preview is not None:
        columns = [plain(name) or f"column {i}" for i, name in enumerate(preview.columns, 1)]
        rows = [[plain(cell) for cell in row] for row in preview.sample[:_FIRST_ROWS]]
        right.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True, width="content")


def decide(reports: Reports, said: Said) -> Said:
    """What the person said, completed by what is to be done with odd names and with two answers of p below 1/2."""
    try:
        found = reading.odd(reports, said)
    except (UnreadableFile, WrongDomain):
        return said  # said again, with its sentence, when the reports are to be analysed
    names = _names(found, reports, k_is_known=said.domain in ("size", "listed"))
    said = dataclasses.replace(said, names=decided(names))
    try:
        k = reading.collected(reports, said).k
    except (UnreadableFile, WrongDomain, reading.Unclear):
        return said
    if reading.is_inverted(said, k):
        st.markdown(
            "**p is below 1/2**: a report is then more often the other answer than the true one. With the two answers "
            "swapped, the same reports come from k-RR with 1 − p."
        )
        swapped = st.toggle("Swap the two answers", said.swapped, key="reports_swap")
        said = dataclasses.replace(said, swapped=swapped)
    _say_what_comes(reports, said)
    return said


def _say_what_comes(reports: Reports, said: Said) -> None:
    """N, K and the privacy that the analysis will have, as soon as all is known."""
    counted = reading.collected(reports, said)
    text = f"To be analysed: {_many(counted.total, 'report', 'reports')} over K = {counted.k:,} categories"
    if counted.outside_total:
        text += f" ({counted.outside_total:,} left out: {_listed(counted.outside)})"
    try:
        mechanism = reading.mechanism_of(said, counted.k)
    except reading.Unclear:
        mechanism = None
    if mechanism is not None:
        report = "after the swap a report" if said.swapped else "a report"
        text += (
            f", at ε = {number(mechanism.epsilon, 4)}: {report} is the truth with probability "
            f"p = {words.truthful(mechanism, 4)}, and each other category with q = {number(mechanism.q, 4)}"
        )
    st.caption(markdown(f"{text}.", 1000))


def _names(found: OddNames, reports: Reports, *, k_is_known: bool) -> list[Odd]:
    """The odd names that are not to be counted as categories of their own: the person's choice."""
    if found.listed_too_few and found.level is not None:
        st.warning(
            markdown(
                f"On the list, with far fewer reports than noise alone brings: {_listed(found.listed_too_few)}. A "
                f"category gets about N·q = {number(found.level)}. Take such names off the list if people could not "
                "choose them.",
                1000,
            )
        )
    none = [odd for odd in found.names if odd.twin is None]
    twins = [odd for odd in found.names if odd.twin is not None]
    if not found.names:
        return []
    with st.container(border=True):
        changes = "Every name that is counted as a category changes K, and with it every estimate."
        st.markdown(
            f"**{_many(len(found.names), 'name looks', 'names look')} odd.** "
            + ("Choose below what is done with such names." if k_is_known else changes)
        )
        for sentence in _too_few(none, found.level):
            st.markdown(markdown(sentence, 1000))
        chosen = _pick("Leave out (not categories)", sorted(none, key=_is_too_few), reports)
        return chosen + _pick("Count as another name", twins, reports)


def _pick(label: str, odd: Sequence[Odd], reports: Reports) -> list[Odd]:
    """A control with the odd names, in which those are chosen that the person leaves there."""
    if not odd:
        return []
    shown, rest = list(odd[:_MOST_NAMED]), list(odd[_MOST_NAMED:])
    options = list(range(len(shown) + bool(rest)))
    settled = [i for i, one in enumerate(shown) if one.settled]
    if rest and rest[0].settled:
        settled.append(len(shown))
    # Other names, or other proposals, are another control.
    about = repr((label, reports.sha256, [(one.label, one.settled) for one in odd]))
    key = f"reports_names_{hashlib.sha256(about.encode('utf-8', 'replace')).hexdigest()[:16]}"
    held = st.session_state.setdefault("_reports_names", {})
    st.session_state.setdefault(key, held.get(key, settled))

    def text(i: int) -> str:
        if i == len(shown):
            together = sum(one.reports for one in rest)
            return f"{len(rest):,} more, with {together:,} reports together"
        return _chip(shown[i])

    picked = st.multiselect(label, options, format_func=text, key=key, placeholder="None of them")
    held[key] = picked
    return [shown[i] for i in picked if i < len(shown)] + (rest if len(shown) in picked else [])


def _chip(odd: Odd) -> str:
    counted = _many(odd.reports, "report", "reports")
    if odd.twin is None:
        return f"{plain(odd.label, 30)} ({counted}): {odd.reason}"
    differ = difference(odd.label, odd.twin)
    return f"{plain(odd.label, 30)} ({counted}) as {plain(odd.twin, 30)}: differ in {differ}"


def _too_few(odd: Sequence[Odd], level: float | None) -> list[str]:
    """About the names that noise alone would have given more reports."""
    few = [(one.label, one.reports) for one in odd if _is_too_few(one)]
    if not few or level is None:
        return []
    noise = f"By noise alone a category gets about N·q = {number(level)} reports, and far fewer name {_listed(few)}."
    if all(one.settled for one in odd if _is_too_few(one)):
        return [
            f"{noise} With the stated noise a category gets so few in less than one of 1,000 collections: these are "
            "taken for names that people could not choose. If they could, the stated noise is hardly right."
        ]
    return [
        f"{noise} Together these are more than one category's noise: perhaps the noise was weaker than stated, so they "
        "are counted. Leave them out if people could not choose them."
    ]


def _is_too_few(odd: Odd) -> bool:
    return odd.reason == "too few reports"


def _listed(pairs: Sequence[tuple[str, int]]) -> str:
    named = ", ".join(f"“{plain(label)}” ({reports:,})" for label, reports in pairs[:_MOST_SAID])
    more = len(pairs) - _MOST_SAID
    return named + (f" and {more:,} more" if more > 0 else "")


def _many(amount: int, one: str, more: str) -> str:
    return f"{amount:,} {one if amount == 1 else more}"
