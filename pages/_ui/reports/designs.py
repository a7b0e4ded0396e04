"""How reports were made: what each design but k-RR needs to be told, and what it makes of the reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from pages._ui import session_files
from pages._ui.reports import k_rr, names
from pages._ui.reports.by_group import Vary, forced_numbers
from rr_core import typed
from rr_core.io import Collected, Reports, WrongDomain, decisions_on
from rr_core.io.channel_file import MatrixFile, read_matrix, read_matrix_file
from rr_core.io.domain import AS_WRITTEN, Names
from rr_core.io.report_results import ReportSettings, ReportsInUse
from rr_core.io.unary_reports import UnaryReports
from rr_core.plain_text import markdown, plain
from rr_core.protocols.collection import MOST_BITS
from rr_core.reports import designs
from rr_core.reports.by_group import Varied
from rr_core.reports.designs import DESIGNS, ENCODINGS, Counted, Design, Missing, Parameter, Unclear
from rr_core.sampling import Counts

_LONGEST_TABLE, _LONGEST_NOTE = 20_000, 800
_EXAMPLE = "0.8 0.1 0.1\n0.1 0.8 0.1\n0.1 0.1 0.8"
_TABLE = "Table of chances"
Stated = tuple[tuple[str, str], ...]


def entered(
    design: Design,
    reports: Reports,
    unary: UnaryReports | None,
    before: ReportSettings,
    vary: Callable[[Varied | None, Sequence[Parameter]], Varied | None],
    *,
    in_order: bool,
) -> Callable[[], ReportsInUse]:
    """Widgets for what a design needs to be told of these reports, which begin with the settings ``before``; returns what
    counts them. Both may raise UnreadableFile, WrongDomain or Unclear. ``vary`` draws those for numbers that differ by
    group; the answers are ``in_order`` where somebody gave them one."""
    if design.key != before.design:
        before = ReportSettings(design=design.key)
    begun = partial(vary, before.varied)
    if unary is not None:
        made = _unary(unary, before, begun)
    elif design.key in _COUNTED:
        made = _by_table(design, reports, before, begun, in_order)
    else:
        return k_rr.entered(reports, before, begun)
    return lambda: made


def _by_table(
    design: Design, reports: Reports, before: ReportSettings, vary: Vary, in_order: bool
) -> ReportsInUse:
    left, decided = _without_odd_names(reports, "report")
    labels, counts = tuple(map(str, left.labels)), left.counts
    if not in_order:
        labels, counts, in_order = designs.by_number(labels, counts)
    in_order = in_order or reports.layout == "counts"
    entered = _COUNTED[design.key](design, labels, counts, in_order, dict(before.stated), vary)
    counted, stated, varied = entered
    for note in counted.notes:
        st.caption(markdown(note, _LONGEST_NOTE))
    settings = ReportSettings(design=design.key, names=decided, stated=stated, varied=varied)
    return ReportsInUse.of_counted(reports, left, counted, settings)


def _without_odd_names(reports: Reports, counted: str) -> tuple[Collected, Names]:
    """Widgets for the odd names; the answers that are left, in their order, all of which are in the files."""
    settings = ReportSettings(domain="seen")
    if len(reports.labels) < 2 and counted == "report":  # which a design may refuse in its own words
        return Collected(reports.labels, reports.counts), AS_WRITTEN
    if len(reports.labels) < 2:
        return k_rr.collected(reports, settings), AS_WRITTEN
    odd = k_rr.odd_names_of(reports, settings)
    decided = decisions_on(names.decide(odd, reports, k_is_known=counted != "report", counted=counted))
    try:
        return k_rr.collected(reports, replace(settings, names=decided)), decided
    except WrongDomain:
        what = "answers" if counted == "report" else "categories"
        raise Unclear(f"Fewer than two {what} are left: count one more of them.") from None


def entry(asked: Parameter, width: int = 330, **how: Any) -> str:
    """Widget for a number that a design needs: its text. ``how`` says where it is kept."""
    text: str = st.text_input(
        asked.label, placeholder=asked.like, width=width, max_chars=typed.LONGEST, **how
    )
    return text


def encoding_choice(**how: Any) -> str:
    """Widget for the kind of unary encoding: a key of ENCODINGS. ``how`` says where it is kept."""
    chosen: str = st.segmented_control(
        "Encoding", list(ENCODINGS), required=True, format_func=ENCODINGS.__getitem__, **how
    )
    return chosen


Entered = tuple[Counted, Stated, Varied | None]
Counting = Callable[[Design, Sequence[str], Counts, bool, dict[str, str], Vary], Entered]


def _yes_and_no(
    design: Design, labels: Sequence[str], counts: Counts, _: bool, before: dict[str, str], vary: Vary
) -> Entered:
    positive, stated = None, list[tuple[str, str]]()
    if design.positive:
        designs.check_two(design, labels)
        known = before.get(design.positive) or designs.likely_yes(labels)
        positive = st.selectbox(
            design.positive,
            labels,
            labels.index(known) if known in labels else None,
            placeholder="Choose it",
            format_func=lambda label: plain(label, 40),
            key=f"design_positive_{labels}",  # other answers are asked for anew
            width=330,
        )
        stated.append((design.positive, positive or ""))
    varied = vary([one for one in design.parameters if not one.whole])
    own = [one for one in design.parameters if varied is None or one.key not in varied.keys]
    with st.container(horizontal=True):
        texts = {one.key: entry(one, value=before.get(one.label, ""), key=f"design_{one.key}") for one in own}
    stated += [(one.label, texts[one.key].strip()) for one in own]
    values = [designs.parameter(one, texts.get(one.key, one.example)) for one in design.parameters]
    return designs.of_yes_and_no(design, labels, counts, values, positive), tuple(stated), varied


def _forced(
    _: Design, labels: Sequence[str], counts: Counts, __: bool, before: dict[str, str], vary: Vary
) -> Entered:
    designs.check_few(labels)
    numbers = forced_numbers(labels)
    varied = vary(numbers)
    own = [one for one in numbers if varied is None or one.key not in varied.keys]
    texts: dict[str, str] = {}
    if own:
        st.caption(f"Chance that the die told a person to answer … {designs.UNREPORTED}")
    with st.container(horizontal=True):
        for one in own:
            texts[one.key] = st.text_input(
                markdown(one.key, 30),
                before.get(one.label, ""),
                key=f"design_forced_{one.key}",  # a chance stays with its answer
                placeholder=one.like,
                width=110,
                max_chars=typed.LONGEST,
            )
    counted = designs.of_forced(labels, counts, [texts.get(label, "0") for label in labels])
    return counted, tuple((one.label, texts[one.key]) for one in own), varied


def _table(
    _: Design,
    labels: Sequence[str],
    counts: Counts,
    in_order: bool,
    before: dict[str, str],
    _vary: Vary,
) -> Entered:
    typed_here = st.container()  # a file takes its place
    st.file_uploader("or a file", key="design_table_file")
    files = session_files.chosen_files("design_table_file")
    text = typed_here.text_area(
        "A row for each truth, a column for each report",
        before.get(_TABLE, ""),
        placeholder=_EXAMPLE,
        key="design_table",
        max_chars=_LONGEST_TABLE,
        height=100,
        disabled=bool(files),
        help="Numbers like 0.25, 25% or 1/4. A first line and a first column of names may be there.",
    )
    if files:
        file = files[0]
        read = session_files.read_once(
            "table", file.file_id, [file], lambda: partial(read_matrix_file, file.bytes(), file.name)
        )
    elif text.strip():
        read = read_matrix(text)
    else:
        raise Missing("Write the table, or choose a file: the chance of each report, for each truth.")
    for note in read.notes:
        st.caption(markdown(note))
    counted = designs.of_table(labels, counts, read.matrix, read.truths, read.reports, in_order=in_order)
    return counted, ((_TABLE, _written(read) if files else text),), None


def _written(read: MatrixFile) -> str:
    """A table that was read, as one could type it."""
    rows = [[repr(entry) for entry in row] for row in read.matrix.tolist()]
    if read.truths is not None:
        rows = [[name, *row] for name, row in zip(read.truths, rows, strict=True)]
    if read.reports is not None:
        rows.insert(0, [*([""] if read.truths is not None else []), *read.reports])
    return "\n".join("\t".join(row) for row in rows)


_COUNTED: dict[str, Counting] = {
    **{design.key: _yes_and_no for design in DESIGNS.values() if design.chances is not None},
    "forced": _forced,
    "table": _table,
}


def _unary(read: UnaryReports, before: ReportSettings, vary: Vary) -> ReportsInUse:
    stated = dict(before.stated)
    k, reports, decided = len(read.labels), read.reports, AS_WRITTEN
    collected = Collected(np.array(read.labels, dtype=object), read.support)
    if read.bits is None:
        collected, decided = _without_odd_names(reports, "one")
        read = replace(read, labels=tuple(map(str, collected.labels)), support=collected.counts)
        k = len(read.labels)
    notes = list(collected.notes)
    if read.bits is None:
        notes.append("Only the ones of each category are known: MLE needs the bits of every report.")
    elif read.bits.size > MOST_BITS:
        notes.append(
            f"MLE is worked out here for up to {MOST_BITS:,} bits; the script that you can download does it for more."
        )
    told = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        before_now = next(
            (key for key, name in ENCODINGS.items() if name == stated.get("Encoding")), "rappor"
        )
        encoding = encoding_choice(default=before_now, key="design_encoding")
    numbers = designs.numbers_of(DESIGNS["unary"], encoding)
    varied = vary(numbers)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = [one for one in numbers if varied is None or one.key not in varied.keys]
        texts = {
            one.label: entry(one, 150, value=stated.get(one.label, ""), key=f"design_{one.key}")
            for one in own
        }
        n = read.n
        if n is None:
            known = stated.get("Reports N", "")
            n = st.number_input(
                "Reports N",
                1,
                None,
                int(known) if known else None,
                key=f"design_n_{reports.sha256}",
                width=200,
            )
            told.append(("Reports N", f"{n or ''}"))
    if n is None:
        raise Missing(
            "Say how many reports there are: what was read of the file is only the number of ones of each category."
        )
    if n < read.support.max():
        most = plain(read.labels[int(read.support.argmax())], 40)
        raise Unclear(f"“{most}” has {int(read.support.max()):,} ones, more than there are reports: mend N.")
    protocol = designs.unary_encoding(k, encoding, [texts.get(one.label, one.example) for one in numbers])
    told += [("Encoding", ENCODINGS[encoding]), *texts.items()]
    settings = ReportSettings(design="unary", names=decided, stated=tuple(told), varied=varied)
    collected = replace(collected, notes=tuple(notes))
    return ReportsInUse(reports, collected, protocol, settings, unary=read, stated_n=int(n))
