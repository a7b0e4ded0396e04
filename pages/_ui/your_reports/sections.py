"""The parts of the page: the answer, the table, the fit of epsilon, the advice, what was left out."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from pages._ui import chart, state
from pages._ui.safe_text import markdown
from pages._ui.your_reports import controls, rows, words
from pages._ui.your_reports.controls import Shown
from pages._ui.your_reports.results import Results
from rr_core.figures.labels import plain
from rr_core.figures.reports import is_dominated, reports_floor, with_intervals
from rr_core.figures.style import number
from rr_core.reports.low_counts import Floor, floor

_MOST_OUTSIDE = 200
_MANY = 50  # categories, from which on the luck of those at the top is warned of
_HEIGHT, _ROW = 390, 35  # of the table and of its rows, in pixels


def answer(found: Results, shown: Shown) -> None:
    """The result in two sentences."""
    used = found.used
    st.markdown(
        f"**{words.reports(used.n)}, K = {used.mechanism.k:,}, ε = {number(used.mechanism.epsilon, 4)}.** "
        + markdown(words.answer(found, shown.estimator, simultaneous=shown.simultaneous), 2000)
    )


def lead(found: Results, shown: Shown, order: NDArray[np.intp]) -> go.Figure:
    """The chart: the chosen estimator with its intervals, for the ticked rows of the table or the most reported."""
    interval = rows.interval(found, simultaneous=shown.simultaneous)
    view, estimates = controls.view(found, _ticked(order)), found.analysis.estimates
    zoom = controls.zoom(on=is_dominated(view, estimates[shown.estimator], interval))
    figure = with_intervals(
        estimates, shown.estimator, interval, found.analysis.above.above, found.used.n, view, zoom
    )
    chart.show(figure, "your_reports")
    for warning in words.few(found):
        st.info(warning)
    if warning := words.moved(found, shown.estimator, simultaneous=shown.simultaneous):
        st.warning(markdown(warning, 600))
    if not shown.simultaneous and found.used.mechanism.k > _MANY:
        st.caption(
            "Among many categories some can come out at the top by luck, and an interval made for one category does not "
            "allow for that. **All at once** does."
        )
    if shown.estimator != "inv":
        st.caption(markdown(words.repaired(), 600))
    return figure


def table(found: Results, shown: Shown, order: NDArray[np.intp]) -> None:
    """The table of these categories."""
    columns = rows.shown(found, shown.estimator, order, simultaneous=shown.simultaneous)
    percentages = {
        name: st.column_config.NumberColumn(format="%.4g") for name in columns if name.endswith("%")
    }
    st.dataframe(
        pa.table({name: pa.array(values) for name, values in columns.items()}),
        hide_index=True,
        height=min(_HEIGHT, _ROW * (order.size + 1) + 3),
        key="reports_table",
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "Category": st.column_config.TextColumn(pinned=True, width="medium"),
            "Reports": st.column_config.NumberColumn(format="localized"),
            "People": st.column_config.NumberColumn(format="%,.0f"),
            "p (Holm)": st.column_config.NumberColumn(
                format="%.3g",
                help="Chance of so many reports or more if nobody had it, corrected for all K categories. 0 stands for "
                "less than 10⁻³⁰⁰.",
            ),
            **percentages,
        },
    )
    k = found.used.mechanism.k
    most = (
        f" (the table has room for {controls.MOST_ROWS:,}; CSV and Parquet hold all)"
        if k > controls.MOST_ROWS
        else ""
    )
    st.caption(
        f"{order.size:,} of {k:,} categories{most}; click a header to sort, tick rows to draw them. **{rows.INTERVAL}** "
        "is the interval of Inv, cut at 0 and 1, whichever estimate you choose. **Above zero?** is Holm's "
        f"test over all {k:,} categories: with a chance of {found.level:.0%} at least, it calls no category above zero "
        "that nobody has."
    )


def _ticked(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """The categories whose rows are ticked in the table, which is drawn further down."""
    selected = st.session_state.get("reports_table")
    ticked = selected.selection.rows if selected else []
    return order[[i for i in ticked if i < order.size]]


def fit(found: Results) -> go.Figure:
    """Whether the stated epsilon fits the reports, in words and as a picture."""
    verdict, *more = words.fit(found)
    box = st.error if words.misfits(found) else st.success if words.tested(found) else st.info
    box(markdown(verdict))
    shown: Floor = state.latest(
        "floor", found.used.key, lambda: floor(found.used.collected.counts, found.used.mechanism)
    )
    figure = reports_floor(shown)
    chart.show(figure, "reports_floor")
    st.markdown(markdown(" ".join(more), 2000))
    return figure


def advice(found: Results) -> None:
    """Which estimate to report."""
    verdict, *more = words.advice(found)
    st.markdown(f"**{markdown(verdict)}** {markdown(' '.join(more), 2000)}")


def left_out(found: Results) -> None:
    """What of the files is not in the analysis, counted and named; and what was assumed."""
    reports, collected = found.used.reports, found.used.collected
    if collected.outside:
        few = ", ".join(markdown(label, 30) for label, _ in collected.outside[:5])
        few += f" and {len(collected.outside) - 5:,} more" if len(collected.outside) > 5 else ""
        if found.used.said.domain == "listed":
            st.warning(
                f"{words.outside(found)}, for a category that is not on the list: {few}. Randomized response reports "
                "nothing outside its categories: either the list or the file is not what people had."
            )
        else:
            st.info(f"{words.outside(found)}, under names that are not counted as categories: {few}.")
    with st.expander("What was read, left out and assumed"):
        lines = [f"{file.name}: {words.file_read(file)}" for file in reports.files]
        st.markdown(
            "\n".join(f"- {markdown(line, 600)}" for line in (*lines, *words.left_out(found, named=False)))
        )
        if collected.outside:
            named = collected.outside[:_MOST_OUTSIDE]
            more = len(collected.outside) - len(named)
            last = [f"and {more:,} more, all in the JSON file"] if more else []
            st.text("\n".join([*(f"{plain(label, 80)}: {count:,}" for label, count in named), *last]))
