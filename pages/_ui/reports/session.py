"""The reports that a session has in use: from files, and the settings that a person entered for them, to an analysis, and
the simulated collections behind the test of their epsilon.

Nothing of it leaves the session, and no shared cache holds any of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from pages._ui import link, long_run, state
from pages._ui.link import Binding
from pages._ui.work import work
from rr_core import typed
from rr_core.comparison import Target
from rr_core.figures.style import number
from rr_core.io import (
    AllSeen,
    Collected,
    Domain,
    Listed,
    OddNames,
    Reports,
    Size,
    Source,
    odd_names,
    read_list,
    read_reports,
    too_few,
    within,
)
from rr_core.io.csv_files import csv_bytes
from rr_core.io.report_results import ReportSettings, ReportsInUse, Results
from rr_core.limits import EPSILON_MAX, EPSILON_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.plain_text import csv_cell, plain
from rr_core.reports import analysis
from rr_core.reports.epsilon_fit import collections_for, simulations
from rr_core.scenario import Draw
from server import sessions

_NAME = "your_reports"


def in_use() -> ReportsInUse | None:
    """The reports in use; None as long as there are none."""
    used: ReportsInUse | None = sessions.held().get("reports_used")
    return used


LOST = (
    "The session that this address comes from had reports. They are not here: it ended while you were away, the server "
    "started anew, or it is somebody else's. Choose the files again."
)


def _are_here() -> bool:
    return in_use() is not None or state.has_files("reports_files")


# Whether this session has reports, kept in the address: so that a page that lost them can say so.
HERE = Binding(
    "_reports_lost",
    False,
    lambda query: ("reports" in query and not _are_here(), ()),
    lambda _: {"reports": "here" if _are_here() else None},
)


def were_lost() -> bool:
    """Whether an earlier session at this address had reports, and this one never had any."""
    return HERE.current()


def was_let_go() -> bool:
    """Whether the server let go of the reports that were in use."""
    return "reports_used" in sessions.held().gone


def use(
    reports: Reports, collected: Collected, mechanism: RandomizedResponse, settings: ReportSettings, name: str
) -> ReportsInUse:
    """Put reports into use and close the panel; the reports in use before are dropped only then."""
    before = in_use()
    if np.array_equal(collected.labels, reports.labels) and np.array_equal(collected.counts, reports.counts):
        collected = dataclasses.replace(collected, labels=reports.labels, counts=reports.counts)
    used = ReportsInUse(reports, collected, mechanism, settings, name, before.key + 1 if before else 1)
    for step in ("reports", "odd", "collected", "list"):
        state.forget(step)
    sessions.held().put("reports_used", used)
    state.forget_files()
    close_panel()
    return used


def is_open() -> bool:
    """Whether the panel for files and settings is to be shown."""
    return in_use() is None or "_reports_open" in st.session_state


def open_panel() -> None:
    st.session_state["_reports_open"] = True


def close_panel() -> None:
    st.session_state.pop("_reports_open", None)


def start_simulations(used: ReportsInUse) -> None:
    """Have the simulations start in the next run of the page."""
    long_run.request(_NAME, used.key)


def results_of(used: ReportsInUse, level: float, target: Target) -> Results:
    """The analysis, computed on first use, with the simulations if they were run."""
    users: Users = "fixed" if target == "users" else "sampled"

    def analyse() -> analysis.Analysis:
        with sessions.room(sessions.BYTES_PER_CATEGORY * used.mechanism.k):
            return analysis.analyse(used.collected.counts, used.mechanism, level, users=users)

    try:
        analysed = state.cached("analysis", (used.key, level, target), analyse)
    except sessions.NoRoom as error:
        st.warning(f"{error}")
        state.stop()
    return Results(used, level, target, analysed, long_run.result(_NAME, used.key))


def offer_simulations(results: Results) -> bool:
    """Draw the button that starts the simulations, and Stop while they run; True when they are to run now."""
    if results.simulated is not None and results.simulated.finished:
        return False
    replicates = collections_for(results.used.mechanism.k)
    return long_run.start_button(_NAME, f"Simulate {replicates:,} collections", results.used.key)


def run_simulations(results: Results) -> None:
    """Run the simulations under a progress bar at this place, then rerun the page."""
    counts, mechanism = results.used.collected.counts, results.used.mechanism
    replicates = collections_for(mechanism.k)
    long_run.run_with_progress(
        _NAME,
        results.used.key,
        replicates,
        "simulated collections",
        partial(simulations, counts, mechanism, replicates),
        k=mechanism.k,
        shared=False,
    )


_MOST_NAMED = 3


class UnclearSettings(ValueError):
    """A setting is missing or impossible. ``str(error)`` is one plain sentence."""


def reports_of(files: Sequence[state.File], options: dict[str, Any]) -> tuple[Reports, str]:
    """The reports in the files with their display name; without files, those in use.

    Raises:
        UnreadableFile: one plain sentence.
    """
    used = in_use()
    if not files and used is not None:
        return used.reports, used.name
    about = (tuple(file.file_id for file in files), tuple(options.items()))

    def job() -> Callable[..., Reports]:
        return partial(read_reports, [Source(one.name, one.bytes()) for one in files], **options)

    reports = state.read_once("reports", about, files, job, "Reading the files")
    names = ", ".join(plain(file.name) for file in files[:_MOST_NAMED])
    return reports, names + (f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else "")


def odd_names_of(reports: Reports, settings: ReportSettings) -> OddNames:
    """The odd names among the reports, given the settings entered so far.

    Raises:
        UnreadableFile, WrongDomain: about the list of categories.
        NoRoom: the server is short of memory, and the names are many.
    """
    domain = _domain(settings) or AllSeen()
    about = (
        _key(reports),
        settings.domain,
        settings.size,
        _list_key(settings),
        settings.privacy_kind,
        settings.privacy,
    )

    def find() -> OddNames:
        with _room_for(reports):
            return odd_names(reports, domain, _mechanism_for(settings))

    return state.cached("odd", about, find)


def collected(reports: Reports, settings: ReportSettings) -> Collected:
    """The reports counted over the domain of the settings.

    Raises:
        UnreadableFile, WrongDomain, UnclearSettings: one plain sentence each.
    """
    domain = _domain(settings)
    if domain is None:
        raise UnclearSettings(
            "Say which categories people could choose from: categories that nobody reported are part of the answer."
        )
    about = (_key(reports), settings.domain, settings.size, _list_key(settings), settings.names)

    def count() -> Collected:
        with _room_for(reports):
            return within(reports, domain, settings.names)

    return state.cached("collected", about, count)


def analyse(reports: Reports, settings: ReportSettings, name: str) -> None:
    """Count the reports over their domain and put them into use.

    Raises:
        UnreadableFile, WrongDomain, UnclearSettings: one plain sentence each; nothing has changed then.
    """
    _privacy(settings)
    counted = collected(reports, settings)
    mechanism = mechanism_of(settings, counted.k)
    settings = dataclasses.replace(settings, swapped=is_inverted(settings, counted.k))
    known, domain = _mechanism_for(settings), _domain(settings)
    if known is not None and domain is not None:
        counted = dataclasses.replace(counted, too_few=too_few(reports, settings.names, domain, known))
    if settings.swapped:
        counted = _swapped(counted, settings)
    start_simulations(use(reports, counted, mechanism, settings, name))


def simulate() -> None:
    """Put the simulated reports of the current scenario into use; a callback."""
    try:
        draw = _draw()
        with sessions.room(sessions.BYTES_PER_CATEGORY * draw.scenario.k):
            use_counts(_csv(draw, str), draw.mechanism, "Simulated reports of the current scenario")
    except sessions.NoRoom as error:
        st.warning(f"{error}")


def use_counts(csv: bytes, mechanism: RandomizedResponse, name: str) -> None:
    """Put counted reports into use, made by this randomized response.

    Args:
        csv: a category and its count in each row, below a header.
        mechanism: with as many categories as there are.
        name: what to call them.
    """
    source = Source("reports.csv", csv)
    reports = read_reports([source], layout="counts", category=0, count=1, has_header=True)
    counted = within(reports, AllSeen())
    settings = ReportSettings(repr(mechanism.epsilon), domain="seen")
    start_simulations(use(reports, counted, mechanism, settings, name))


def simulated_csv() -> bytes:
    """The reports of the current scenario, as a practitioner would have collected them: without the truth."""
    draw = _draw()
    return _csv(draw, csv_cell)


def is_inverted(settings: ReportSettings, k: int) -> bool:
    """Whether p is below one half with two categories: reports then name the other answer more often."""
    try:
        return settings.privacy_kind == "p" and k == 2 and 0 < _privacy(settings) < 0.5
    except UnclearSettings:
        return False


def mechanism_of(settings: ReportSettings, k: int) -> RandomizedResponse:
    """The randomized response of the settings.

    Raises:
        UnclearSettings: missing or impossible; one plain sentence.
    """
    value = _privacy(settings)
    if settings.privacy_kind == "epsilon":
        return RandomizedResponse(k, value)
    if settings.privacy_kind == "redraw":
        if not value < 1:
            raise UnclearSettings(
                f"r = {number(value)} cannot be: the chance of a uniform redraw lies between 0 and 1."
            )
        return _from_chance(RandomizedResponse.from_redraw, k, value, "r")
    if is_inverted(settings, k):
        if not settings.swapped:
            raise UnclearSettings(
                f"p = {number(value)} is below 1/2: reports then name the other answer more often than the true one. "
                "Switch on “Swap the two answers”, or correct p."
            )
        return _from_chance(RandomizedResponse.from_p, 2, 1 - value, "p")
    if not 1 / k < value < 1:
        raise UnclearSettings(
            f"p = {number(value)} cannot be: with K = {k:,} categories the chance of a true report lies between "
            f"1/K = {number(1 / k)} and 1."
        )
    return _from_chance(RandomizedResponse.from_p, k, value, "p")


def _from_chance(
    make: Callable[[int, float], RandomizedResponse], k: int, chance: float, name: str
) -> RandomizedResponse:
    try:
        return make(k, chance)
    except ValueError:
        raise UnclearSettings(
            f"This {name} is too close to an end of its range: ε would not lie between {number(EPSILON_MIN)} and "
            f"{EPSILON_MAX:g}."
        ) from None


def _mechanism_for(settings: ReportSettings) -> Callable[[int], RandomizedResponse] | None:
    """The mechanism for a number of categories, which may raise UnclearSettings (a ValueError); None when the privacy is
    not known yet."""
    try:
        _privacy(settings)
    except UnclearSettings:
        return None
    swapping = dataclasses.replace(settings, swapped=True)
    return lambda k: mechanism_of(swapping, k)


def _swapped(counted: Collected, settings: ReportSettings) -> Collected:
    """The reports with the counts of the two answers exchanged, and a note that says so."""
    one, other = (f"“{plain(label)}”" for label in counted.labels)
    note = (
        f"The answers {one} and {other} were swapped, because p = {number(_privacy(settings))} is below 1/2: the reports "
        "of each are counted for the other."
    )
    counts = counted.counts[::-1].copy()
    counts.setflags(write=False)
    return dataclasses.replace(counted, counts=counts, notes=(*counted.notes, note))


def _draw() -> Draw:
    return work(link.current()).draw


def _csv(draw: Draw, written: Callable[[str], str]) -> bytes:
    """The reports as a file of counts; ``written`` makes a category's name a cell."""
    labels = draw.population.labels
    if labels is None:  # Arrow writes a million numbers without keeping the pages of others waiting
        names = pa.array(np.arange(1, draw.scenario.k + 1)).cast(pa.string())
    else:
        names = pa.array(map(written, labels))
    return csv_bytes({"category": names, "count": pa.array(draw.counts)})


def _room_for(reports: Reports) -> AbstractContextManager[None]:
    """Room for work on the names of all categories."""
    return sessions.room(sessions.BYTES_PER_CATEGORY * len(reports.labels))


def _key(reports: Reports) -> Hashable:
    return reports.sha256, reports.layout, reports.category_name, reports.count_name, reports.rows


def _list_key(settings: ReportSettings) -> Hashable:
    file: state.File | None = st.session_state.get("_reports_list")
    return None if settings.domain != "listed" else file.file_id if file else settings.listed


def _domain(settings: ReportSettings) -> Domain | None:
    """The domain of the settings; None where it is not given yet."""
    if settings.domain == "seen":
        return AllSeen()
    if settings.domain == "size" and settings.size is not None:
        return Size(settings.size)
    if settings.domain == "listed":
        file: state.File | None = st.session_state.get("_reports_list")

        def job() -> Callable[[], Listed]:
            return partial(read_list, Source(file.name, file.bytes()) if file else settings.listed)

        return state.read_once("list", _list_key(settings), [file] if file else [], job)
    return None


def _privacy(settings: ReportSettings) -> float:
    """The epsilon, p or redraw chance as a number."""
    if not settings.privacy.strip():
        raise UnclearSettings(
            "Say how private the reports are: the ε (or the p, or the r) they were made with."
        )
    try:
        value = (
            typed.number(settings.privacy)
            if settings.privacy_kind == "epsilon"
            else typed.chance(settings.privacy)
        )
    except ValueError as problem:
        raise UnclearSettings(f"{problem}.") from None
    if value > EPSILON_MAX and settings.privacy_kind == "epsilon":
        raise UnclearSettings(f"ε = {number(value, 6)} is too large: it can be up to {EPSILON_MAX:,g}.")
    if value < EPSILON_MIN and settings.privacy_kind == "epsilon":
        raise UnclearSettings(f"ε = {number(value)} is too small: it can be from {number(EPSILON_MIN)} up.")
    return value
