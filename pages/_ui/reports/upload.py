"""The panel for collected reports: files, columns, privacy, the domain, odd names, and the button that reads them; and
the query that counts reports where they are."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

import pandas as pd
import streamlit as st

from pages._ui import link, state
from pages._ui.downloads import button
from pages._ui.reports import session
from pages._ui.reports.sentences import many, n_reports, truthful
from pages._ui.safe_text import markdown
from pages._ui.upload import column_name, form, left_out
from rr_core.figures.style import number
from rr_core.io import (
    BITS_LEAST,
    Collected,
    Odd,
    OddNames,
    Preview,
    Reports,
    Source,
    UnreadableFile,
    WrongDomain,
    decisions_on,
    group_by,
    inspect_reports,
)
from rr_core.io.labels import difference
from rr_core.io.report_results import DomainKind, PrivacyKind, ReportSettings
from rr_core.io.reports import OF_BIT_VECTORS
from rr_core.io.unary_reports import bits_in
from rr_core.limits import TYPED_LETTERS_MAX
from rr_core.plain_text import plain
from server import sessions
from server.middleware import TEMPORARY

_DOMAINS: dict[DomainKind, str] = {
    "seen": "All of them are in the files",
    "size": "I know how many there are",
    "listed": "I have the list",
}
_PRIVACY: dict[PrivacyKind, str] = {
    "epsilon": "ε",
    "p": "p, true report",
    "redraw": "r, uniform redraw",
}
_SYMBOLS: dict[PrivacyKind, str] = {"epsilon": "ε", "p": "p", "redraw": "r"}
_LAYOUTS = {"values": "one report per row", "counts": "a count per category"}
_FIRST_ROWS = 3
_MOST_NAMES = 50  # in a control; the rest is one choice
_MOST_SAID = 5
_LANGUAGES = {"Standard SQL": "sql", "Spark (Python)": "python", "DuckDB": "sql"}


def panel() -> None:
    """The panel when it is open, else one line about the reports in use."""
    used = session.in_use()
    if used is None and session.was_let_go():
        st.warning(sessions.LET_GO, icon=":material/info:")
    if used is not None and not session.is_open():
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(
                f"**{markdown(used.name)}**: {n_reports(used.n)}. They stay in this session: not kept, not logged.",
                width="content",
            )
            st.button("Other reports or settings", on_click=session.open_panel)
        return
    with st.container(border=True):
        _open_panel()


def _open_panel() -> None:
    used = session.in_use()
    files = _files()
    if not files and used is None:
        if not session.was_let_go():  # which the panel has said
            state.say_if_let_go()
        if session.were_lost():
            st.warning(session.LOST, icon=":material/info:")
        return
    try:
        read = from_files(files) if files else session.reports_of((), {})
    except (UnreadableFile, sessions.NoRoom) as error:
        _show_problem(f"{error}")
        _cancel()
        return
    if read is None:
        _cancel()
        return
    reports, name = read
    if not files:
        show_understood(reports, None)
    settings = _completed(reports, _entered_settings(used.settings if used else ReportSettings()))
    with st.container(horizontal=True):
        pressed = st.button("Analyse these reports", type="primary", key="reports_analyse")
        _cancel()
    if pressed:
        try:
            session.analyse(reports, settings, name)
        except (UnreadableFile, WrongDomain, session.UnclearSettings, sessions.NoRoom) as error:
            _show_problem(f"{error}")
        else:
            st.rerun()


def from_files(files: Sequence[state.File], counted: str = "report") -> tuple[Reports, str] | None:
    """Widgets for the columns of the files, and what was understood of them: the reports and their display name, None as
    long as no column is chosen. ``counted`` is what a table of counts holds the number of.

    Raises:
        UnreadableFile: one plain sentence.
        NoRoom: the server is short of memory.
    """
    # The largest: a part of a folder may be empty.
    options, preview = _pick_columns(max(files, key=lambda file: file.size), counted)
    if options["category"] is None:
        return None
    # Of N people all may have sent zeros, but a collection has a report.
    reports, name = session.reports_of(files, options | {"all_zero": counted == "one"})
    show_understood(reports, preview, counted)
    return reports, name


def without_odd_names(reports: Reports, counted: str = "report") -> Collected:
    """Widgets for the odd names; the answers that are left, in their order, all of which are in the files.

    Raises:
        WrongDomain, NoRoom: one plain sentence each.
    """
    settings = ReportSettings(domain="seen")
    odd = session.odd_names_of(reports, settings)
    names = decisions_on(_decide_names(odd, reports, k_is_known=counted != "report", counted=counted))
    return session.collected(reports, dataclasses.replace(settings, names=names))


def _files() -> Sequence[state.File]:
    """Widgets for the files and for the ways to go on without one; returns the files."""
    st.markdown(
        "Reports that were collected with k-ary randomized response: **one report per row**, or a **category** and its "
        "**count**. CSV, TSV, TXT, Excel, OpenDocument, SPSS, Stata, SAS or Parquet, also in GZIP or ZIP, several files "
        "of the same shape at once; up to 200 MB "
        "together. They are read for this session only: **not kept, not logged, not shown to anybody "
        "else**."
    )
    left, right = st.columns([3, 2])
    left.file_uploader("Report files", accept_multiple_files=True, key="reports_files", help=TEMPORARY)
    scenario = link.current()
    with right:
        st.caption(
            f"No file at hand? The other pages show a scenario with K = {scenario.k:,}, ε = {scenario.epsilon:g} and "
            f"N = {scenario.n:,}: take its simulated reports."
        )
        st.button("Use simulated reports", on_click=session.simulate, width="stretch")
        button("Download them as a file", session.simulated_csv, "reports.csv")
    return state.chosen_files("reports_files")


def _entered_settings(before: ReportSettings) -> ReportSettings:
    """Widgets for privacy and domain; returns ``before`` with what is entered in them."""
    left, right = st.columns(2, gap="large")
    with left, st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "Privacy given as",
            list(_PRIVACY),
            required=True,
            default=before.privacy_kind,
            format_func=_PRIVACY.__getitem__,
            key="reports_privacy_kind",
        )
        privacy = st.text_input(
            f"Value of {_SYMBOLS[kind]}",
            before.privacy if kind == before.privacy_kind else "",
            placeholder="1.5 or ln 3" if kind == "epsilon" else "0.6 or 60%",
            key=f"reports_privacy_{kind}",
            help="As it was when the reports were made. p is the chance that a report is the truth, q that it is one "
            "given other category. ε is the privacy: p/q = eᵋ, the smaller the more private. Forced response: with "
            "chance r a report is drawn from all K categories alike, the true one included, and else it is the truth; "
            "then q = r/K.",
            width=160,
        )
    with right:
        domain = st.radio(
            "Which categories could people choose from?",
            get_args(DomainKind),
            index=None if before.domain is None else get_args(DomainKind).index(before.domain),
            format_func=_DOMAINS.__getitem__,
            key="reports_domain",
            help="Categories that nobody reported are part of the answer: leaving them out changes every estimate.",
        )
        size, listed = before.size, before.listed
        if domain == "size":
            size = int(
                st.number_input("Categories K", 2, None, before.size or 2, key="reports_size", width=160)
            )
        elif domain == "listed":
            listed = _list(before.listed)
    return ReportSettings(privacy, kind, domain, size, listed, swapped=before.swapped)


def _list(before: str) -> str:
    """Widget for the list of categories; returns the pasted text, or the name of the file that holds the
    list."""
    st.file_uploader("A file with all categories", key="reports_list_file", help=TEMPORARY)
    file = next(iter(state.chosen_files("reports_list_file")), None)
    st.session_state["_reports_list"] = file
    return st.text_area(
        "or all categories here, one per line",
        before,
        key="reports_list",
        disabled=file is not None,
        height=120,
        max_chars=TYPED_LETTERS_MAX,
    )


def _cancel() -> None:
    if session.in_use() is not None:
        st.button("Cancel", on_click=session.close_panel, key="reports_cancel")


def _show_problem(problem: str) -> None:
    stays = " What was shown before stays in use." if session.in_use() is not None else ""
    st.error(markdown(f"{problem}{stays}"), icon=":material/error:")


def _pick_columns(first: state.File, counted: str) -> tuple[dict[str, Any], Preview]:
    """Options for `read_reports`, by looking at the first file, and what that seems to be.

    The category is None as long as the person has not chosen one of many columns of 0 and 1.

    Raises:
        UnreadableFile: when it is no table.
    """
    preview = preview_of(first, None, counted)
    has_header: bool | None = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layouts = list(_LAYOUTS)
        layout = st.selectbox(
            "The files have",
            layouts,
            index=layouts.index(preview.layout),
            format_func=_LAYOUTS.__getitem__,
            key=f"reports_layout_{first.file_id}",  # another file starts from what it seems to be
            width=230,
        )
        if preview.has_header is not None:
            has_header = st.toggle(
                "First row is a header", preview.has_header, key=f"reports_header_{first.file_id}"
            )
            if has_header != preview.has_header:
                preview = preview_of(first, has_header, counted)
        options: dict[str, Any] = {"layout": layout, "has_header": has_header}
        are_bits = (
            counted == "report"
            and layout == "values"
            and sum(hint.bits for hint in preview.hints) >= BITS_LEAST
        )
        options["category"] = _column(
            "Report column" if layout == "values" else "Category column",
            None if are_bits else preview.category,
            preview,
        )
        if layout == "counts":
            suggested = preview.count if preview.count is not None else len(preview.columns) - 1
            options["count"] = _column("Count column", suggested, preview)
    if are_bits:
        st.warning(
            "Many columns hold nothing but 0 and 1: these look like reports of unary encoding, one column per category. "
            "Then choose “Unary encoding (RAPPOR)” above; if they are separate yes-or-no questions, choose the column of "
            "one."
        )
    return options, preview


def preview_of(file: state.File, has_header: bool | None, counted: str = "report") -> Preview:
    """What the file seems to be; where ones are ``counted``, with the column of bit strings, or of ones, suggested.

    Raises:
        UnreadableFile: when it is no table.
    """
    about = (file.file_id, has_header)
    preview = state.read_once(
        f"preview_{has_header}",
        about,
        [file],
        lambda: partial(inspect_reports, Source(file.name, file.bytes()), has_header=has_header),
    )
    if counted != "one":
        return preview
    choice = bits_in(preview).choice
    return dataclasses.replace(preview, layout=choice.layout, category=choice.category, count=choice.count)


def _column(label: str, suggested: int | None, preview: Preview) -> int | None:
    positions = list(range(len(preview.columns)))
    chosen: int | None = st.selectbox(
        label,
        positions,
        index=suggested,
        format_func=lambda i: column_name(preview, i),
        placeholder="Choose a column",
        width=230,
    )
    return chosen


def show_understood(reports: Reports, preview: Preview | None, counted: str = "report") -> None:
    """Rows, names and reports, what was assumed, and the first rows."""
    of_bits = counted != "report" and all(
        set(label) <= {"0", "1"} and len(label) > 1 for label in reports.labels.tolist()
    )
    noun = counted if reports.layout == "counts" and not of_bits else "report"
    st.success(
        markdown(
            f"Understood: {many(reports.rows, 'row', 'rows')}, {many(len(reports.labels), 'name', 'names')}, "
            f"{many(reports.total, noun, f'{noun}s')}."
        )
    )
    remarks = [] if preview is None else [f"{form(preview)}."]
    remarks += left_out(reports.dropped, reports.merged)
    left, right = st.columns([3, 2])
    # That these are reports of unary encoding has been said where ones are counted.
    remarks += [note for note in reports.notes if counted == "report" or note != OF_BIT_VECTORS]
    left.markdown("\n".join(f"- {markdown(remark)}" for remark in remarks))
    if preview is not None:
        columns = [plain(name) or f"column {i}" for i, name in enumerate(preview.columns, 1)]
        rows = [[plain(cell) for cell in row] for row in preview.sample[:_FIRST_ROWS]]
        right.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True, width="content")


def _completed(reports: Reports, settings: ReportSettings) -> ReportSettings:
    """The settings with the decisions on odd names and, for two categories with p below 1/2, on exchanging
    the answers."""
    try:
        odd = session.odd_names_of(reports, settings)
    except (UnreadableFile, WrongDomain, sessions.NoRoom):
        return settings  # raised again, with its sentence, when the reports are to be analysed
    names = _decide_names(odd, reports, k_is_known=settings.domain in ("size", "listed"))
    settings = dataclasses.replace(settings, names=decisions_on(names))
    try:
        k = session.collected(reports, settings).k
    except (UnreadableFile, WrongDomain, session.UnclearSettings, sessions.NoRoom):
        return settings
    if session.is_inverted(settings, k):
        st.markdown(
            "**p is below 1/2**: a report is then more often the other answer than the true one. With the two answers "
            "swapped, the same reports come from k-RR with 1 − p."
        )
        swapped = st.toggle("Swap the two answers", settings.swapped, key="reports_swap")
        settings = dataclasses.replace(settings, swapped=swapped)
    _preview_analysis(reports, settings)
    return settings


def _preview_analysis(reports: Reports, settings: ReportSettings) -> None:
    """Show N, K and the privacy of the analysis as soon as all three are known."""
    counted = session.collected(reports, settings)
    text = f"To be analysed: {many(counted.total, 'report', 'reports')} over K = {counted.k:,} categories"
    if counted.outside_total:
        text += f" ({counted.outside_total:,} left out: {_listed(counted.outside)})"
    try:
        mechanism = session.mechanism_of(settings, counted.k)
    except session.UnclearSettings:
        mechanism = None
    if mechanism is not None:
        report = "after the swap a report" if settings.swapped else "a report"
        text += (
            f", at ε = {number(mechanism.epsilon, 4)}: {report} is the truth with probability "
            f"p = {truthful(mechanism, 4)}, and each other category with q = {number(mechanism.q, 4)}"
        )
    st.caption(markdown(f"{text}.", 1000))


def _decide_names(odd: OddNames, reports: Reports, *, k_is_known: bool, counted: str = "report") -> list[Odd]:
    """Widgets for the odd names; returns those that are not to be counted as categories of their own."""
    if odd.listed_too_few and odd.level is not None:
        st.warning(
            markdown(
                f"On the list, with far fewer reports than noise alone brings: {_listed(odd.listed_too_few)}. A "
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
            f"**{many(len(odd.names), 'name looks', 'names look')} odd.** "
            + ("Choose below what is done with such names." if k_is_known else changes)
        )
        for sentence in _too_few(none, odd.level):
            st.markdown(markdown(sentence, 1000))
        for reason in (
            "several answers",
            "the sum of the others",
            "declared by the file",
            "the name of the column",
        ):
            if named := [(one.label, one.reports) for one in none if one.reason == reason]:
                st.markdown(markdown(f"Among the names ({reason}): {_listed(named)}.", 1000))
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
            return f"{len(rest):,} more, with {many(together, counted, f'{counted}s')} together"
        return _chip(first[i], counted)

    picked = st.multiselect(label, options, format_func=text, key=key, placeholder="None of them")
    held[key] = picked
    return [first[i] for i in picked if i < len(first)] + (rest if len(first) in picked else [])


def _chip(odd: Odd, counted: str = "report") -> str:
    counted = many(odd.reports, counted, f"{counted}s")
    if odd.twin is None:
        return f"{plain(odd.label, 30)} ({counted}): {odd.reason}"
    differ = difference(odd.label, odd.twin)
    return f"{plain(odd.label, 30)} ({counted}) as {plain(odd.twin, 30)}: differ in {differ}"


def _too_few(odd: Sequence[Odd], level: float | None) -> list[str]:
    """Sentences about the names with fewer reports than noise alone would give them."""
    few = [(one.label, one.reports) for one in odd if _is_too_few(one)]
    if not few or level is None:
        return []
    noise = f"By noise alone a category gets about N·q = {number(level)} reports, and far fewer name {_listed(few)}."
    if all(one.by_default for one in odd if _is_too_few(one)):
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


def warehouse_section() -> None:
    """Ask for the names of table and column, and show the query that turns any number of rows into a small table."""
    with st.expander("Too many reports for a file? Count them where they are"):
        st.markdown("The analysis needs only how often each category was reported. Upload what this gives:")
        with st.container(horizontal=True):
            table = st.text_input("Table", "reports", key="warehouse_table", width=220)
            column = st.text_input("Column", "report", key="warehouse_column", width=220)
        # A column may have blanks around its name, but needs more than blanks.
        queries = group_by(table.strip() or "reports", column if column.strip() else "report")
        for tab, (name, query) in zip(st.tabs(list(_LANGUAGES)), queries.items(), strict=True):
            tab.code(query, language=_LANGUAGES[name])
        st.caption("Spark writes a folder: upload the part-….csv in it.")
