"""Two runs side by side: their curves, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages._ui import chart
from pages._ui.experiments import curves
from pages._ui.experiments.shown import Shown
from pages._ui.safe_text import markdown, starred
from rr_core.experiments.agreement import FAR, Agreement, agreement
from rr_core.experiments.grid import Cell, Sweep
from rr_core.experiments.lines import Choice, lines, measures, other, usual, values_of
from rr_core.experiments.names import cell_name
from rr_core.experiments.run import SweepResult
from rr_core.experiments.wording import alike, counted, times
from rr_core.figures.style import QUANTITIES, number
from rr_core.figures.sweep_curves import paper_figure


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
    st.markdown(words(found, shown.result, second))
    if found.cells:
        _pictures(shown, name, second, choice)


def words(found: Agreement, first: SweepResult, second: SweepResult) -> str:
    """Whether two runs agree, in a few sentences."""
    if not found.cells:
        return "The two runs have **no cell in common**: there is nothing to compare."
    shared = f"{counted(found.cells, 'cell')} in common"
    if found.identical:
        return f"**The same, bit for bit**: {shared}, equal settings, equal numbers."
    if not found.compared:
        return f"{shared}, but no standard errors: with one collection per cell nothing can be compared."
    said = f"{shared}, {counted(found.compared, 'mean')} compared. " + (
        _by_chance(found, first, second) if found.same_users else _by_ratio(found, first, second)
    )
    return starred(said)


def _by_chance(found: Agreement, first: SweepResult, second: SweepResult) -> str:
    text = (
        f"The largest difference is **{number(found.largest)} standard errors**{_place(found.where, found.estimator)}; "
        f"**{found.beyond:,}** {'is' if found.beyond == 1 else 'are'} beyond {FAR:g}, where chance alone would put about "
        f"{number(found.expected, 2)}."
    )
    if not found.same_draws:
        return text
    few = min(one.sweep.settings.seeds for one in (first, second))
    same = f"first {few:,} collections" if few > 1 else "first collection"
    return f"{text} Both see the same {same}, so they should differ by less than chance would have it."


def _by_ratio(found: Agreement, first: SweepResult, second: SweepResult) -> str:
    """Of different users: they have different errors, and standard errors know of the noise alone."""
    why = "The two are about different users, drawn from the same populations, whose errors really differ"
    if first.sweep.settings.users != second.sweep.settings.users:
        why = "One is about fixed users and the other about their population: these are different errors"
    if alike(found.ratio):
        return f"{why}; here by less than 0.5%."
    typical = "the middle ratio is 1" if alike(found.typical) else f"{times(found.typical)} in the middle"
    return (
        f"{why}. One mean is up to **{times(found.ratio)}** the other{_place(found.ratio_where, found.ratio_estimator)}; "
        f"{typical}."
    )


def _place(cell: Cell | None, estimator: str) -> str:
    if cell is None:
        return ""
    return f" ({QUANTITIES[estimator].name}, {cell_name(cell)})"


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
