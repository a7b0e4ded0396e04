"""The reports that a session has in use, and the simulated collections behind the test of their epsilon.

Nothing of it leaves the session, and no shared cache holds any of it.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._ui import long_run, state
from rr_core.comparison import Target
from rr_core.errors import Users
from rr_core.io import Collected, Reports
from rr_core.io.report_results import REJECTION_LEVEL, ReportSettings, ReportsInUse, Results, Simulations
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.analysis import analyse
from rr_core.reports.epsilon_fit import fit_test, plausible_epsilon

REPLICATES = 1000
_NAME = "your_reports"


def in_use() -> ReportsInUse | None:
    """The reports in use; None as long as there are none."""
    used: ReportsInUse | None = st.session_state.get("_reports_used")
    return used


def use(
    reports: Reports, collected: Collected, mechanism: RandomizedResponse, settings: ReportSettings, name: str
) -> ReportsInUse:
    """Put reports into use and close the panel; what was in use before is forgotten only now."""
    before = in_use()
    used = ReportsInUse(reports, collected, mechanism, settings, name, before.key + 1 if before else 1)
    st.session_state["_reports_used"] = used
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
    """Have the simulations run as soon as the page is drawn."""
    long_run.ask(_NAME, used.key)


def results_of(used: ReportsInUse, level: float, target: Target) -> Results:
    """The analysis, computed when it is first asked for, with the simulations as far as they are."""
    users: Users = "fixed" if target == "users" else "sampled"
    analysis = state.latest(
        "analysis",
        (used.key, level, target),
        lambda: analyse(used.collected.counts, used.mechanism, level, users=users),
    )
    return Results(used, level, target, analysis, long_run.result(_NAME, used.key))


def offer_simulations(results: Results) -> bool:
    """The button that starts the simulations, and Stop while they run; whether they are to run now."""
    if results.simulated is not None and results.simulated.finished:
        return False
    return long_run.offer(_NAME, f"Simulate {REPLICATES:,} collections", results.used.key)


def run_simulations(results: Results) -> None:
    """Run them with a progress bar where this is called, and draw the page anew."""
    run = partial(_run, results.used)
    long_run.follow(_NAME, results.used.key, REPLICATES, "simulated collections", run, shared=False)


def _run(used: ReportsInUse, progress: long_run.Progress) -> Simulations:
    counts, mechanism = used.collected.counts, used.mechanism
    tested = fit_test(counts, mechanism, REPLICATES, progress=progress)
    plausible = None
    if tested.done == REPLICATES and tested.rejects(REJECTION_LEVEL):
        plausible = plausible_epsilon(
            counts, mechanism.k, above=mechanism.epsilon, progress=lambda _: progress(REPLICATES)
        )
    return Simulations(tested, plausible)
