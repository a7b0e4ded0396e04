"""The simulated collections behind intervals, advice and the test of epsilon: run once, with progress and a stop."""

from __future__ import annotations

from functools import partial

from pages._ui import long_run, state
from pages._ui.your_reports import words
from pages._ui.your_reports.results import Results, Simulated, Used
from rr_core.collected.analysis import analyse
from rr_core.collected.bootstrap import bootstrap
from rr_core.collected.fit import fit_test, plausible_epsilon
from rr_core.collected.held_out import held_out
from rr_core.comparison import Target
from rr_core.errors import Users

REPLICATES = 1000
_NAME = "your_reports"


def start(used: Used, target: Target = "users") -> None:
    """Have the simulations run as soon as the page is drawn."""
    long_run.ask(_NAME, (used.key, target))


def results(used: Used, level: float, target: Target) -> Results:
    """The analysis, computed when it is first asked for, with the simulations as far as they are."""
    users = _users(target)
    made = state.latest(
        "analysis",
        (used.key, level, target),
        lambda: analyse(used.collected.counts, used.mechanism, level, users=users),
    )
    return Results(used, level, target, made, long_run.result(_NAME, (used.key, target)))


def offer(found: Results) -> bool:
    """The button that starts the simulations, and Stop while they run; whether they are to run now."""
    if found.simulated is not None and found.simulated.finished:
        return False
    label = f"Simulate {REPLICATES:,} collections"
    return long_run.offer(_NAME, label, (found.used.key, found.target))


def follow(found: Results) -> None:
    """Run them with a progress bar where this is called, and draw the page anew."""
    about = (found.used.key, found.target)
    total = 2 * REPLICATES
    run = partial(_run, found.used, found.target)
    long_run.follow(_NAME, about, total, "simulated collections", run, shared=False)


def _users(target: Target) -> Users:
    return "fixed" if target == "users" else "sampled"


def _run(used: Used, target: Target, progress: long_run.Progress) -> Simulated:
    counts, mechanism, asked = used.collected.counts, used.mechanism, REPLICATES
    sampled = bootstrap(counts, mechanism, asked, users=_users(target), progress=progress)
    if sampled.done < asked:
        return Simulated(sampled)
    compared = held_out(counts, mechanism, progress=lambda _: progress(asked))
    tested = fit_test(counts, mechanism, asked, progress=lambda done: progress(asked + done))
    plausible = None
    if tested.done == asked and tested.p_value < words.MISFIT:
        plausible = plausible_epsilon(
            counts, mechanism.k, above=mechanism.epsilon, progress=lambda _: progress(2 * asked)
        )
    return Simulated(sampled, tested, plausible, compared)
