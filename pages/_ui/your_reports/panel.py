"""The panel for collected reports: files, privacy, the domain, and the button that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import streamlit as st

from pages._ui import link
from pages._ui.safe_text import markdown
from pages._ui.your_reports import columns, kept, reading, understood, words
from pages._ui.your_reports.said import DomainKind, PrivacyKind, Said
from rr_core.io import EXTENSIONS, Preview, UnreadableFile, WrongDomain

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


def show() -> None:
    """The panel when it is open, else one line about the reports in use."""
    used = kept.used()
    if used is not None and not kept.is_open():
        left, right = st.columns([4, 1], vertical_alignment="center")
        left.caption(
            f"**{markdown(used.name)}**: {words.reports(used.n)}. They stay in this session: not stored, not logged."
        )
        right.button("Other reports or settings", on_click=kept.open_panel, width="stretch")
        return
    with st.container(border=True):
        _ask()


def _ask() -> None:
    used = kept.used()
    files = _files()
    if not files and used is None:
        return
    try:
        options: dict[str, Any] = {}
        preview: Preview | None = None
        if files:
            options, preview = columns.pick(files[0])
            if options["category"] is None:
                _cancel()
                return
        reports, name = reading.reports_of(files, options)
    except UnreadableFile as error:
        _say(f"{error}")
        _cancel()
        return
    understood.show(reports, preview)
    said = understood.decide(reports, _settings(used.said if used else Said()))
    with st.container(horizontal=True):
        asked = st.button("Analyse these reports", type="primary", key="reports_analyse")
        _cancel()
    if asked:
        try:
            reading.analyse(reports, said, name)
        except (UnreadableFile, WrongDomain, reading.Unclear) as error:
            _say(f"{error}")
        else:
            st.rerun()


def _files() -> Sequence[Any]:
    """The files chosen, and ways to go on without one."""
    st.markdown(
        "Reports that were collected with k-ary randomized response: **one report per row**, or a **category** and its "
        "**count**. CSV, TSV, TXT or Parquet, also gzipped, several files of the same shape at once; up to 200 MB "
        "together. They are read in memory for this session only: **not stored, not logged, not shown to anybody "
        "else**."
    )
    left, right = st.columns([3, 2])
    chosen = left.file_uploader(
        "Report files", type=list(EXTENSIONS), accept_multiple_files=True, key="reports_files"
    )
    scenario = link.current()
    with right:
        st.caption(
            f"No file at hand? The other pages show a scenario with K = {scenario.k:,}, ε = {scenario.epsilon:g} and "
            f"N = {scenario.n:,}: take its simulated reports."
        )
        st.button("Use simulated reports", on_click=reading.simulate, width="stretch")
        st.download_button(
            "Download them as a file",
            reading.simulated_csv,
            "reports.csv",
            "text/csv",
            on_click="ignore",
            width="stretch",
        )
    return chosen


def _settings(before: Said) -> Said:
    """What the person says about privacy and domain, starting from what they said before."""
    left, right = st.columns(2, gap="large")
    with left, st.container(horizontal=True, vertical_alignment="bottom"):
        kind = (
            st.segmented_control(
                "Privacy given as",
                list(_PRIVACY),
                default=before.privacy_kind,
                format_func=_PRIVACY.__getitem__,
                key="reports_privacy_kind",
            )
            or "epsilon"
        )
        privacy = st.text_input(
            f"Value of {_SYMBOLS[kind]}",
            before.privacy if kind == before.privacy_kind else "",
            placeholder="1.5 or ln 3" if kind == "epsilon" else "0.6 or 60%",
            key=f"reports_privacy_{kind}",
            help="As it was when the reports were made. p is the chance that a report is the truth, q that it is one "
            "given other category. ε is the privacy: p/q = e^ε, the smaller the more private. Forced response: with "
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
    return Said(privacy, kind, domain, size, listed, swapped=before.swapped)


def _list(before: str) -> str:
    """The list of categories: pasted, or the name of a file that holds it."""
    file = st.file_uploader("A file with all categories", type=list(EXTENSIONS), key="reports_list_file")
    st.session_state["_reports_list"] = file
    return st.text_area(
        "or all categories here, one per line",
        before,
        key="reports_list",
        disabled=file is not None,
        height=120,
    )


def _cancel() -> None:
    if kept.used() is not None:
        st.button("Cancel", on_click=kept.close_panel, key="reports_cancel")


def _say(problem: str) -> None:
    stays = " What was shown before stays in use." if kept.used() is not None else ""
    st.error(markdown(f"{problem}{stays}"), icon=":material/error:")
