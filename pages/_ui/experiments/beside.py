"""Two runs side by side: their curves, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages._ui import chart
from pages._ui.experiments import curves
from pages._ui.experiments.shown import Shown
from rr_core.experiments.agreement import FAR, Agreement, agreement
from rr_core.experiments.grid import Sweep
from rr_core.experiments.lines import Choice, lines, measures, other, usual, values_of
from rr_core.experiments.names import population_name
from rr_core.experiments.run import SweepResult
from rr_core.figures.style import QUANTITIES, number
from rr_core.figures.sweep_curves import paper_figure


def section(shown: Shown, others: Mapping[str, SweepResult]) -> None:
    """Pick another run; both as curves, with what is chosen above, and how far their means are apart.

    Args:
        shown: the run on screen.
        others: finished or partial runs by the name they go by.
    """
    st.subheader("Runs side by side")
    there = {name: result for name, result in others.items() if result is not shown.result and result.cells}
    if not there or not shown.result.cells:
        st.caption("Run or open another sweep, and it can be compared with the one on screen here.")
        return
    name = st.selectbox("Compare with", list(there), key="exp_beside", width=420)
    second, choice = there[name], curves.chosen(shown)
    if choice.metric not in second.sweep.settings.metrics:
        st.caption(f"“{name}” did not measure what is shown above, so there is nothing to compare.")
        return
    found = agreement(shown.result, second, choice.metric)
    st.markdown(words(found, shown.result, second))
    if found.cells:
        _pictures(shown, name, second, choice)


def words(found: Agreement, first: SweepResult, second: SweepResult) -> str:
    """Whether two runs agree, in a few sentences."""
    if not found.cells:
        return "The two runs have **no cell in common**: there is nothing to compare."
    shared = f"{found.cells:,} {'cell' if found.cells == 1 else 'cells'} in common"
    if found.identical:
        return f"**The same, bit for bit**: {shared}, equal settings, equal numbers."
    if not found.compared:
        return f"{shared[0].upper()}{shared[1:]}, but no standard errors: with a single seed nothing can be compared."
    place = ""
    if found.where is not None:
        cell = found.where
        place = (
            f" ({QUANTITIES[found.estimator].name}, {population_name(cell)}, K = {cell.k:,}, ε = {cell.epsilon:g}, "
            f"N = {cell.n:,})"
        )
    text = (
        f"{shared[0].upper()}{shared[1:]}, {found.compared:,} means compared. The largest difference is "
        f"**{number(found.largest)} standard errors**{place}; **{found.beyond:,}** are beyond {FAR:g}, where chance "
        f"alone would put about {number(found.expected, 2)}."
    )
    return (text + " " + _caution(found, first, second)).replace("MLE*", "MLE\\*").rstrip()


def _caution(found: Agreement, first: SweepResult, second: SweepResult) -> str:
    settings = first.sweep.settings, second.sweep.settings
    if found.same_draws:
        few = min(one.seeds for one in settings)
        return f"Both see the same first {few:,} collections, so they should differ by less than chance would have it."
    if settings[0].users != settings[1].users:
        return "One is about fixed users and the other about their population: these are different errors."
    if not found.same_users:
        return (
            "The two are about different users, drawn from the same populations: their errors really differ a little, "
            "on top of what the seeds explain."
        )
    return ""


def _pictures(shown: Shown, name: str, second: SweepResult, choice: Choice) -> None:
    """The cells of both, one column of panels each."""
    pairs = ((shown.name, shown.result, "exp_beside_first"), (name, second, "exp_beside_second"))
    common = _common(shown.result, second)
    third = values_of(common.sweep, other(choice.along))
    fixed = tuple(value for value in choice.fixed if value in third)[:1] or third[:1]
    how = [m for m in measures(second.sweep.settings, choice.metric) if m == choice.measure]
    narrow = replace(choice, fixed=fixed, measure=(how or ["level"])[0])
    if not lines(common, narrow, shown.populations).cells:
        narrow = replace(usual(common.sweep), metric=choice.metric, measure=narrow.measure)
    for column, (title, result, key) in zip(st.columns(2), pairs, strict=True):
        with column:
            st.text(title)
            chart.show(paper_figure(lines(_common(result, common), narrow, shown.populations)), key)


def _common(first: SweepResult, second: SweepResult) -> SweepResult:
    """The first run's cells that the second one has too."""
    cells = tuple(cell for cell in first.cells if cell.cell in second.by_cell)
    return SweepResult(Sweep(tuple(cell.cell for cell in cells), first.sweep.settings), cells)
