"""Odd names among reports: what is said of them, and the widgets that decide what is done with each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import streamlit as st

from rr_core.io import Odd, OddNames, Reports
from rr_core.io.labels import difference
from rr_core.plain_text import markdown, plain, some
from rr_core.rounding import counted as in_numbers
from rr_core.rounding import number

_MOST_NAMES = 50  # in a control; the rest is one choice
_LISTS = (
    " A category is one answer: they are left out, unless you say below that people chose among such lists. If they "
    "ticked boxes, give a column of 0 and 1 for each answer, as unary encoding has them."
)


def decide(odd: OddNames, reports: Reports, *, k_is_known: bool, counted: str = "report") -> list[Odd]:
    """Widgets for the odd names; returns those that are not to be counted as categories of their own."""
    if odd.listed_too_few and odd.level is not None:
        st.warning(
            markdown(
                f"On the list, with far fewer reports than noise alone brings: {listed(odd.listed_too_few)}. A "
                f"category gets about N·q = {number(odd.level)}. Take such names off the list if people could not "
                "choose them.",
                1000,
            )
        )
    none = [odd for odd in odd.names if odd.twin is None]
    twins = [odd for odd in odd.names if odd.twin is not None]
    if not odd.names:
        return []
    with st.container(border=True):
        changes = "Every name that is counted as a category changes K, and with it every estimate."
        st.markdown(
            f"**{len(odd.names):,} {'name looks' if len(odd.names) == 1 else 'names look'} odd.** "
            + ("Choose below what is done with such names." if k_is_known else changes)
        )
        for sentence in _too_few(none, odd.level, in_table=reports.layout == "counts"):
            st.markdown(markdown(sentence, 1000))
        for reason in (
            "several answers",
            "the sum of the others",
            "declared by the file",
            "the name of the column",
        ):
            if named := [(one.label, one.reports) for one in none if one.reason == reason]:
                way_out = _LISTS if reason == "several answers" else ""
                st.markdown(markdown(f"Among the names ({reason}): {listed(named)}.{way_out}", 1000))
        chosen = _choose_names("Leave out (not categories)", sorted(none, key=_is_too_few), reports, counted)
        return chosen + _choose_names("Count as another name", twins, reports, counted)


def _choose_names(label: str, odd: Sequence[Odd], reports: Reports, counted: str) -> list[Odd]:
    """A multi-selection of odd names; returns the selected ones."""
    if not odd:
        return []
    first, rest = list(odd[:_MOST_NAMES]), list(odd[_MOST_NAMES:])
    options = list(range(len(first) + bool(rest)))
    settled = [i for i, one in enumerate(first) if one.by_default]
    if rest and rest[0].by_default:
        settled.append(len(first))
    # Other names, or other proposals, are another control.
    about = repr((label, reports.sha256, [(one.label, one.by_default) for one in odd]))
    key = f"reports_names_{hashlib.sha256(about.encode('utf-8', 'replace')).hexdigest()[:16]}"
    held = st.session_state.setdefault("_reports_names", {})
    st.session_state.setdefault(key, held.get(key, settled))

    def text(i: int) -> str:
        if i == len(first):
            together = sum(one.reports for one in rest)
            return f"{len(rest):,} more, with {in_numbers(together, counted)} together"
        return _chip(first[i], counted)

    picked = st.multiselect(label, options, format_func=text, key=key, placeholder="None of them")
    held[key] = picked
    return [first[i] for i in picked if i < len(first)] + (rest if len(first) in picked else [])


def _chip(odd: Odd, counted: str = "report") -> str:
    counted = in_numbers(odd.reports, counted)
    if odd.twin is None:
        return f"{plain(odd.label, 30)} ({counted}): {odd.reason}"
    differ = difference(odd.label, odd.twin)
    return f"{plain(odd.label, 30)} ({counted}) as {plain(odd.twin, 30)}: differ in {differ}"


def _too_few(odd: Sequence[Odd], level: float | None, *, in_table: bool) -> list[str]:
    """Sentences about the names with fewer reports than noise alone would give them; ``in_table`` of counts."""
    few = [(one.label, one.reports) for one in odd if _is_too_few(one)]
    if not few or level is None:
        return []
    noise = f"By noise alone a category gets about N·q = {number(level)} reports, and far fewer name {listed(few)}."
    if all(one.by_default for one in odd if _is_too_few(one)):
        return [
            f"{noise} With the stated noise a category gets so few in less than one of 1,000 collections: these are "
            "taken for names that people could not choose. If they could, the stated noise is hardly right."
        ]
    if in_table:
        return [
            f"{noise} They stand in a table of counts, so they are counted: then the stated noise is hardly right. Leave "
            "them out if people could not choose them."
        ]
    return [
        f"{noise} Together these are more than one category's noise: perhaps the noise was weaker than stated, so they "
        "are counted. Leave them out if people could not choose them."
    ]


def _is_too_few(odd: Odd) -> bool:
    return odd.reason == "too few reports"


def listed(pairs: Sequence[tuple[str, int]]) -> str:
    return some([f"“{plain(label)}” ({reports:,})" for label, reports in pairs])
