"""The reports that a session has in use: from files, and what a person said of them, to an analysis, and the simulated
collections behind the test of their epsilon.

Nothing of it leaves the session, and no shared cache holds any of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import streamlit as st

from pages._ui import link, long_run, session_files, widgets
from pages._ui.draw_results import draw_results
from pages._ui.link import Binding, binding_of_choice
from rr_core.comparison import Target
from rr_core.io import AllSeen, Reports, Source, read_reports, within
from rr_core.io.report_results import K_RR, ReportSettings, ReportsInUse, Results
from rr_core.io.text import csv_bytes
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import Users
from rr_core.parameters import Choice
from rr_core.plain_text import csv_cell, plain, some
from rr_core.protocols.collection import MOST_BITS
from rr_core.reports.analysis import Analysis
from rr_core.reports.designs import DESIGNS
from rr_core.reports.epsilon_fit import collections_for, simulations
from rr_core.reports.survey import Survey
from rr_core.scenario import Draw
from server import sessions


class Read(NamedTuple):
    """The files that reports were read from, and how, which `reports_of` is told."""

    files: tuple[session_files.File, ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})


NOT_READ = Read()
_NAME = "your_reports"
_MOST_NAMED = 3
_NAMES = {key: design.name for key, design in DESIGNS.items()}
MADE = binding_of_choice("_reports_made", Choice("made", "made", "way of making reports", _NAMES), K_RR)


def in_use() -> ReportsInUse | None:
    """The reports in use; None as long as there are none."""
    used: ReportsInUse | None = sessions.held().get("reports_used")
    return used


LOST = (
    "The session that this address comes from had reports. They are not here: the page was loaded anew, it ended while "
    "you were away, the server started anew, or it is somebody else's. Choose the files again."
)


def _are_here() -> bool:
    return in_use() is not None or session_files.has_files("reports_files")


# Whether an earlier session at this address had reports, and this one never had any: so that the page can say so.
HERE = Binding(
    "_reports_lost",
    False,
    lambda query: ("reports" in query and not _are_here(), ()),
    lambda _: {"reports": "here" if _are_here() else None},
)


def read_from() -> Read:
    """The files of the reports in use, none if they were typed or the server let go of the files."""
    read: Read | None = sessions.held().get("reports_read")
    return (
        read if read is not None and in_use() is not None and session_files.are_held(read.files) else NOT_READ
    )


def was_let_go() -> bool:
    """Whether the server let go of the reports that were in use."""
    return "reports_used" in sessions.held().gone


def use(made: ReportsInUse, name: str, read: Read = NOT_READ) -> None:
    """Put reports into use by this name, with their files; close the panel, and ask for simulations."""
    before, collected, reports = in_use(), made.collected, made.reports
    if np.array_equal(collected.labels, reports.labels) and np.array_equal(collected.counts, reports.counts):
        collected = dataclasses.replace(collected, labels=reports.labels, counts=reports.counts)
    key = before.key + 1 if before else 1
    used = dataclasses.replace(made, collected=collected, name=name, key=key)
    for step in ("reports", "unary", "odd", "collected", "list", "people"):
        session_files.forget(step)
    sessions.held().put("reports_used", used)
    sessions.held().put("reports_read", read)
    session_files.forget_files(read.files)
    MADE.change(made.settings.design)
    close_panel()
    if used.k_rr is not None:
        long_run.request(_NAME, used.key)


def is_open() -> bool:
    """Whether the panel for files and settings is to be shown."""
    used = in_use()
    return used is None or "_reports_open" in st.session_state or MADE.current() != used.settings.design


def open_panel() -> None:
    st.session_state["_reports_open"] = True


def close_panel() -> None:
    st.session_state.pop("_reports_open", None)


def cancel() -> None:
    """Close the panel and leave what is in use as it was; a callback."""
    used = in_use()
    if used is not None:
        MADE.change(used.settings.design)
    close_panel()


def results_of(used: ReportsInUse, level: float, target: Target) -> Results:
    """The analysis, computed on first use, with the simulations if they were run."""
    users: Users = "fixed" if target == "users" else "sampled"

    tallies = used.tallies
    if (
        tallies.rows is not None and tallies.rows.reports.size > MOST_BITS
    ):  # the maximum is not worked out here
        tallies = dataclasses.replace(tallies, rows=None, whole=None)
    bits = 0 if tallies.rows is None else tallies.rows.reports.size

    def analyse() -> tuple[Analysis, Survey | None]:  # without the reports, which the session holds already
        with st.spinner("Analysing…"), sessions.room(sessions.BYTES_PER_CATEGORY * used.k + 8 * bits):
            found = Results.of(used, level, users, tallies)
        return found.analysis, found.survey

    try:
        analysed, survey = session_files.cached("analysis", (used.key, level, target), analyse)
    except sessions.NoRoom as error:
        st.warning(f"{error}")
        widgets.end_run()
    return Results(used, level, target, analysed, long_run.result(_NAME, used.key), survey)


def offer_simulations(results: Results) -> bool:
    """Draw the button that starts the simulations of k-RR's reports, and Stop; True when they are to run now."""
    if results.used.k_rr is None or (results.simulated is not None and results.simulated.finished):
        return False
    replicates = collections_for(results.used.k)
    return long_run.start_button(_NAME, f"Simulate {replicates:,} collections", results.used.key)


def run_simulations(results: Results) -> None:
    """Run the simulations under a progress bar at this place, then rerun the page."""
    counts, mechanism = results.used.collected.counts, results.used.k_rr
    if mechanism is None:
        return
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


def reports_of(files: Sequence[session_files.File], options: Mapping[str, Any]) -> tuple[Reports, str]:
    """The reports in the files with their display name."""
    used = in_use()
    # With weights their notes are others.
    if used is not None and used.weights is None and Read(tuple(files), options) == read_from():
        return used.reports, used.name
    about = (tuple(file.file_id for file in files), tuple(options.items()))

    def job() -> Callable[..., Reports]:
        how = dict(options)
        sheet = how.pop("sheet")
        return partial(read_reports, [Source(one.name, one.bytes(), sheet) for one in files], **how)

    reports = session_files.read_once("reports", about, files, job, "Reading the files")
    return reports, some([plain(file.name) for file in files], _MOST_NAMED)


def simulate() -> None:
    """Put the simulated reports of the current scenario into use; a callback."""
    try:
        draw = _draw()
        with sessions.room(sessions.BYTES_PER_CATEGORY * draw.scenario.k):
            use_counts(_csv(draw, str), draw.mechanism, "Simulated reports of the current scenario")
    except sessions.NoRoom as error:
        st.warning(f"{error}")


def use_counts(csv: bytes, mechanism: RandomizedResponse, name: str) -> None:
    """Put counted reports of k-RR into use: a category and its count in each row of ``csv``, below a header."""
    source = Source("reports.csv", csv)
    reports = read_reports([source], layout="counts", category=0, count=1, has_header=True)
    counted = within(reports, AllSeen())
    settings = ReportSettings(privacy=repr(mechanism.epsilon), domain="seen")
    use(ReportsInUse(reports, counted, mechanism, settings), name)


def simulated_csv() -> bytes:
    """The reports of the current scenario, as a practitioner would have them: without the truth."""
    draw = _draw()
    return _csv(draw, csv_cell)


def _draw() -> Draw:
    return draw_results(link.current()).draw


def _csv(draw: Draw, written: Callable[[str], str]) -> bytes:
    """The reports as a file of counts; ``written`` makes a category's name a cell."""
    labels = draw.population.labels
    if labels is None:  # Arrow writes a million numbers without keeping the pages of others waiting
        names = pa.array(np.arange(1, draw.scenario.k + 1)).cast(pa.string())
    else:
        names = pa.array(map(written, labels))
    return csv_bytes({"category": names, "count": pa.array(draw.counts)})
