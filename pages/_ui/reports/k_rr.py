"""What a person says of reports that k-ary randomized response made: privacy, the domain, odd names; and the counts and
the mechanism that follow."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Hashable
from functools import partial
from typing import get_args

import streamlit as st

from pages._ui import session_files
from pages._ui.reports import names
from pages._ui.reports.by_group import Vary
from rr_core.io import (
    AllSeen,
    Collected,
    Domain,
    Listed,
    OddNames,
    Reports,
    Size,
    Source,
    UnreadableFile,
    WrongDomain,
    decisions_on,
    odd_names,
    read_list,
    too_few,
    within,
)
from rr_core.io.report_results import DomainKind, PrivacyKind, ReportSettings, ReportsInUse
from rr_core.io.report_sentences import truthful
from rr_core.limits import TYPED_LETTERS_MAX
from rr_core.mechanism import RandomizedResponse
from rr_core.plain_text import markdown
from rr_core.reports import designs
from rr_core.reports.designs import Missing, Parameter, Unclear
from rr_core.rounding import counted as in_numbers
from rr_core.rounding import number
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


def entered(reports: Reports, before: ReportSettings, vary: Vary) -> Callable[[], ReportsInUse]:
    """Widgets for what has to be said of the reports; returns what counts them. ``vary`` draws those of groups."""
    settings = _completed(reports, _entered_settings(before, vary))
    return partial(_made, reports, settings)


def _made(reports: Reports, settings: ReportSettings) -> ReportsInUse:
    if settings.varied is None:
        designs.privacy(settings.privacy_kind, settings.privacy)
    counted = collected(reports, settings)
    if settings.varied is not None:  # what made the reports follows from their groups
        return ReportsInUse(reports, counted, RandomizedResponse(counted.k, 1.0), settings)
    mechanism = mechanism_of(settings, counted.k)
    known, domain = _mechanism_for(settings), _domain(settings)
    if known is not None and domain is not None:
        counted = dataclasses.replace(counted, too_few=too_few(reports, settings.names, domain, known))
    return ReportsInUse(reports, counted, mechanism, settings)


def _entered_settings(before: ReportSettings, vary: Vary) -> ReportSettings:
    """Widgets for privacy and domain; returns ``before`` with what is entered in them."""
    left, right = st.columns(2, gap="large")
    line = left.container(horizontal=True, vertical_alignment="bottom")
    with line:
        kind = st.segmented_control(
            "Privacy given as",
            list(_PRIVACY),
            required=True,
            default=before.privacy_kind,
            format_func=_PRIVACY.__getitem__,
            key="reports_privacy_kind",
        )
    like, varied, missing = "1.5 or ln 3" if kind == "epsilon" else "0.6 or 60%", None, None
    with left:
        try:
            varied = vary([Parameter(kind, _SYMBOLS[kind], like)])
        except Missing as problem:
            missing = problem  # the other widgets are drawn all the same
    one = varied is None and missing is None
    with line:
        privacy = st.text_input(
            f"Value of {_SYMBOLS[kind]}",
            before.privacy if kind == before.privacy_kind else "",
            placeholder=like if one else "by group",
            key=f"reports_privacy_{kind}",
            disabled=not one,
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
    if missing is not None:
        raise missing
    if varied is not None:
        return ReportSettings("", kind, domain, size, listed, varied=varied)
    return ReportSettings(privacy, kind, domain, size, listed)


def _list(before: str) -> str:
    """Widget for the list of categories; returns the pasted text, which a file that was chosen comes before."""
    st.file_uploader("A file with all categories", key="reports_list_file", help=TEMPORARY)
    file = next(iter(session_files.chosen_files("reports_list_file")), None)
    st.session_state["_reports_list"] = file
    return st.text_area(
        "or all categories here, one per line",
        before,
        key="reports_list",
        disabled=file is not None,
        height=120,
        max_chars=TYPED_LETTERS_MAX,
    )


def _completed(reports: Reports, settings: ReportSettings) -> ReportSettings:
    """The settings with the decisions on odd names."""
    try:
        odd = odd_names_of(reports, settings)
    except (UnreadableFile, WrongDomain, sessions.NoRoom):
        return settings  # raised again, with its sentence, when the reports are to be analysed
    decided = names.decide(odd, reports, k_is_known=settings.domain in ("size", "listed"))
    settings = dataclasses.replace(settings, names=decisions_on(decided))
    with contextlib.suppress(UnreadableFile, WrongDomain, Unclear, sessions.NoRoom):
        _preview_analysis(reports, settings)
    return settings


def _preview_analysis(reports: Reports, settings: ReportSettings) -> None:
    """Show N, K and the privacy of the analysis as soon as all three are known."""
    counted = collected(reports, settings)
    text = f"To be analysed: {in_numbers(counted.total, 'report')} over K = {counted.k:,} categories"
    if counted.outside_total:
        text += f" (left out: {names.listed(counted.outside)})"
    try:
        mechanism = mechanism_of(settings, counted.k)
    except Unclear:
        mechanism = None
    if mechanism is not None:
        text += (
            f", at ε = {number(mechanism.epsilon, 4)}: a report is the truth with probability "
            f"p = {truthful(mechanism, 4)}, and each other category with q = {number(mechanism.q, 4)}"
        )
    st.caption(markdown(f"{text}.", 1000))


def odd_names_of(reports: Reports, settings: ReportSettings) -> OddNames:
    """The odd names among the reports, given the settings entered so far."""
    domain = _domain(settings) or AllSeen()
    about = (
        key_of(reports),
        settings.domain,
        settings.size,
        _list_key(settings),
        settings.privacy_kind,
        settings.privacy,
    )

    def find() -> OddNames:
        with sessions.room(sessions.BYTES_PER_CATEGORY * len(reports.labels)):
            return odd_names(reports, domain, _mechanism_for(settings))

    return session_files.cached("odd", about, find)


def collected(reports: Reports, settings: ReportSettings) -> Collected:
    """The reports counted over the domain of the settings."""
    domain = _domain(settings)
    if domain is None:
        raise Missing(
            "Say which categories people could choose from: categories that nobody reported are part of the answer."
        )
    about = (key_of(reports), settings.domain, settings.size, _list_key(settings), settings.names)

    def count() -> Collected:
        with sessions.room(sessions.BYTES_PER_CATEGORY * len(reports.labels)):
            return within(reports, domain, settings.names)

    return session_files.cached("collected", about, count)


def mechanism_of(settings: ReportSettings, k: int) -> RandomizedResponse:
    """The randomized response of the settings; Unclear where it is missing or impossible."""
    return designs.k_rr(k, settings.privacy_kind, settings.privacy)


def _mechanism_for(settings: ReportSettings) -> Callable[[int], RandomizedResponse] | None:
    """The mechanism for a number of categories, which may raise Unclear; None when the privacy is not known yet."""
    try:
        designs.privacy(settings.privacy_kind, settings.privacy)
    except Unclear:
        return None
    return partial(mechanism_of, settings)


def key_of(reports: Reports) -> Hashable:
    """What tells these reports from others, however they were read."""
    return reports.sha256, reports.layout, reports.category_name, reports.count_name, reports.rows


def _list_key(settings: ReportSettings) -> Hashable:
    file: session_files.File | None = st.session_state.get("_reports_list")
    return None if settings.domain != "listed" else file.file_id if file else settings.listed


def _domain(settings: ReportSettings) -> Domain | None:
    """The domain of the settings; None where it is not given yet."""
    if settings.domain == "seen":
        return AllSeen()
    if settings.domain == "size" and settings.size is not None:
        return Size(settings.size)
    if settings.domain == "listed":
        file: session_files.File | None = st.session_state.get("_reports_list")

        def job() -> Callable[[], Listed]:
            return partial(read_list, Source(file.name, file.bytes()) if file else settings.listed)

        return session_files.read_once("list", _list_key(settings), [file] if file else [], job)
    return None
