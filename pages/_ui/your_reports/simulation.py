"""The simulated collections behind the test of epsilon: run once for each use of reports, with progress and a stop."""

from __future__ import annotations

from functools import partial

from pages._ui import long_run, state
from pages._ui.your_reports import words
from pages._ui.your_reports.results import Results, Simulated, Used
from rr_core.comparison import Target
from rr_core.errors import Users
from rr_core.reports.analysis import analyse
from rr_core.reports.epsilon_fit import fit_test, plausible_epsilon

REPLICATES = 1000
_NAME = "your_reports"


def start(used: Used) -> None:
    """Have the simulations run as soon as the page is drawn."""
    long_run.ask(_NAME, used.key)


def results(used: Used, level: float, target: Target) -> Results:
    """The analysis, computed when it is first asked for, with the simulations as far as they are."""
    users: Users = "fixed" if target == "users" else "sampled"
    made = state.latest(
        "analysis",
        (used.key, level, target),
        lambda: analyse(used.collected.counts, used.mechanism, level, users=users),
    )
    return Results(used, level, target, made, long_run.result(_NAME, used.key))


def offer(found: Results) -> bool:
    """The button that starts the simulations, and Stop while they run; whether they are to run now."""
    if found.simulated is not None and found.simulated.finished:
        return False
    return long_run.offer(_NAME, f"Simulate {REPLICATES:,} collections", found.used.key)


def follow(found: Results) -> None:
    """Run them with a progress bar where this is called, and draw the page anew."""
    run = partial(_run, found.used)
    long_run.follow(_NAME, found.used.key, REPLICATES, "simulated collections", run, shared=False)


def _run(used: Used, progress: long_run.Progress) -> Simulated:
    counts, mechanism = used.collected.counts, used.mechanism
    tested = fit_test(counts, mechanism, REPLICATES, progress=progress)
    plausible = None
    if tested.done == REPLICATES and tested.rejects(words.MISFIT):
        plausible = plausible_epsilon(
            counts, mechanism.k, above=mechanism.epsilon, progress=lambda _: progress(REPLICATES)
        )
    return Simulated(tested, plausible)
