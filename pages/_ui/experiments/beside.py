"""Two runs side by side: their curves, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages._ui import chart
from pages._ui.experiments import curves
from pages._ui.experiments.shown import Shown
from pages._ui.safe_text import markdown, starred
from rr_core.experiments.agreement import agreement
from rr_core.experiments.curves import (
    CurveSelection,
    axis_values,
    default_selection,
    measures,
    other_axis,
    select_curves,
)
from rr_core.experiments.grid import Sweep
from rr_core.experiments.run import SweepResult
from rr_core.figures.experiments_curves import paper_figure
from rr_core.figures.experiments_sentences import agreement_in_words


def section(shown: Shown, others: Mapping[str, SweepResult]) -> None:
    """Pick another run; both as curves, with what is chosen above, and how far their means are apart.

    Args:
        shown: the run on screen.
        others: finished or partial runs by the name they go by.
    """
    st.subheader("Runs side by side")
    there = {name: result for name, result in others.items() if result.cells}
    if not there or not shown.result.cells:
        st.caption("Run or open another sweep, and it can be compared with the one on screen here.")
        return
    name = st.selectbox(
        "Compare with", list(there), index=None, placeholder="Choose a run", key="exp_beside", width=420
    )
    if name is None:
        return
    second, choice = there[name], curves.chosen(shown)
    if choice.metric not in second.sweep.settings.metrics:
        st.caption(markdown(f"“{name}” did not measure what is shown above, so there is nothing to compare."))
        return
    found = agreement(shown.result, second, choice.metric)
    st.markdown(starred(agreement_in_words(found, shown.result, second)))
    if found.cells:
        _pictures(shown, name, second, choice)


def _pictures(shown: Shown, name: str, second: SweepResult, choice: CurveSelection) -> None:
    """The cells of both, one column of panels each."""
    pairs = ((shown.name, shown.result, "exp_beside_first"), (name, second, "exp_beside_second"))
    common = _common(shown.result, second)
    third = axis_values(common.sweep, other_axis(choice.along))
    fixed = tuple(value for value in choice.fixed if value in third)[:1] or third[:1]
    how = [m for m in measures(second.sweep.settings, choice.metric) if m == choice.measure]
    narrow = replace(choice, fixed=fixed, measure=(how or ["level"])[0])
    if not select_curves(common, narrow, shown.populations).cells:
        narrow = replace(default_selection(common.sweep), metric=choice.metric, measure=narrow.measure)
    for column, (title, result, key) in zip(st.columns(2), pairs, strict=True):
        with column:
            st.text(title)
            chart.show(paper_figure(select_curves(_common(result, common), narrow, shown.populations)), key)


def _common(first: SweepResult, second: SweepResult) -> SweepResult:
    """The first run's cells that the second one has too."""
    cells = tuple(cell for cell in first.cells if cell.cell in second.by_cell)
    return SweepResult(Sweep(tuple(cell.cell for cell in cells), first.sweep.settings), cells)
