"""Several runs of IBU side by side: this scenario under several epsilon, and the paper's Figure 4."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._ui import chart, long_run
from pages._ui.work import Work
from rr_core.figures.ibu_curves import several
from rr_core.figures.style import number
from rr_core.iteration import figure4
from rr_core.iteration.compared import Compared, paper_figure4, under_each
from rr_core.iteration.figure4_measured import CLAIMS, Measured, measured, verdict
from rr_core.populations import UPLOAD

_HERE, _PAPER = "These users", "The paper's Figure 4"
_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_NAME = "ibu_several"
_SHOWN = (1e-2, 1e-3, 1e-4)  # squared distances of the table


def section(work: Work, length: int, tolerance: float) -> None:
    """Choose what to compare, run it in one batch with progress and a stop, and show the curves."""
    st.markdown("### Does more privacy make it slower?")
    what = st.segmented_control("What to compare", (_HERE, _PAPER), default=_HERE, key="ibu_compare") or _HERE
    if what == _HERE:
        _these_users(work, length, tolerance)
    else:
        _figure_4(work.scenario.seed, tolerance)


def _these_users(work: Work, length: int, tolerance: float) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.pills(
            "At these ε",
            _EPSILONS,
            selection_mode="multi",
            default=_EPSILONS[1:4],
            format_func="{:g}".format,
            key="ibu_epsilons",
        )
        epsilons = tuple(sorted(chosen)) or _EPSILONS[1:4]
        about = (work.scenario, work.draw.population.key, epsilons, length)
        asked = long_run.offer(_NAME, "Run them", about)
    if asked:
        run = partial(under_each, work.draw, epsilons, length)
        shared = work.scenario.dist != UPLOAD
        long_run.follow(_NAME, about, length, "iterations", run, shared=shared)
    found: Compared | None = long_run.result(_NAME, about)
    if found is None:
        st.caption("The same users report under each ε, and IBU runs on all of them in one batch.")
        return
    _stopped(found, length)
    about_them = f"K = {work.scenario.k:,}, N = {work.scenario.n:,}"
    chart.show(several(found, about_them, tolerance), "ibu_several")


def _figure_4(seed: int, tolerance: float) -> None:
    st.markdown(
        "K = 500; s = 0.01 and 1.3; 10,000 and 500,000 users; ε = 0.5, 1 and 2; 40,000 iterations: twelve runs, here "
        "in one batch, with this scenario's seed."
    )
    about = (_PAPER, seed)
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = long_run.offer(_NAME, "Run the twelve curves", about)
        linear = st.toggle("Linear axes, as printed in the paper", key="ibu_linear")
    if asked:
        run = partial(paper_figure4, seed)
        long_run.follow(_NAME, about, figure4.ITERATIONS, "iterations", run, shared=True)
    found: Compared | None = long_run.result(_NAME, about)
    if found is not None:
        _stopped(found, figure4.ITERATIONS)
        _panels(found, tolerance, linear=linear)
    with st.expander("Measured over 20 seeds, beside what the paper says", expanded=found is not None):
        st.markdown(_measured())


def _panels(found: Compared, tolerance: float, *, linear: bool) -> None:
    """Two by two, as in the paper: s in rows, n in columns."""
    each = len(figure4.EPSILONS)
    starts = iter(range(0, len(found.scenarios), each))
    for s in figure4.EXPONENTS:
        for n, column in zip(figure4.USERS, st.columns(2), strict=True):
            first = next(starts)
            runs = found.only(first, first + each)
            panel = several(runs, f"s = {s:g}, N = {n:,}", tolerance, logarithmic=not linear)
            with column:
                st.markdown(f"**s = {s:g}, N = {n:,}**")
                chart.show(panel, f"ibu_figure4_{first}")


def _measured() -> str:
    """Iterations to three distances in each setting, and the verdict on the paper's figures."""
    heads = [f"to {number(distance)}" for distance in _SHOWN]
    lines = [
        f"| s | N | ε | {' | '.join(heads)} | the paper says |",
        "|--:|--:|--:|" + "--:|" * len(heads) + ":--|",
    ]
    words = {(claim.n, claim.epsilon): claim.words for claim in CLAIMS}
    for scenario in figure4.settings():
        s, n, epsilon = scenario.s, scenario.n, scenario.epsilon
        cells = [_spread(measured(s, n, epsilon, distance)) for distance in _SHOWN]
        claimed = words.get((n, epsilon), "–")
        lines.append(f"| {s:g} | {n:,} | {epsilon:g} | {' | '.join(cells)} | {claimed} |")
    table = "\n".join(lines)
    return (
        "Iterations until the squared distance to MLE\\* is at most this much, to within 1.2%: median, and the fewest "
        f"and most over the seeds.\n\n{table}\n\n" + " ".join(verdict()).replace("*", "\\*")
    )


def _spread(row: Measured) -> str:
    return f"**{row.median:,.0f}** ({row.fewest:,.0f}–{row.most:,.0f})"


def _stopped(found: Compared, length: int) -> None:
    if found.stopped:
        long_run.stopped(int(found.iterations[-1]), length, "iterations")
