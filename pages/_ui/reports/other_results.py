"""What collected reports of another protocol say: the answer, the chart, the table, the test of fit, and files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from pages._ui import chart
from pages._ui.downloads import chart_html
from pages._ui.reports.results import MOST_ROWS
from pages._ui.safe_text import markdown
from rr_core.comparison import Target
from rr_core.figures.reports import of_other_protocol
from rr_core.figures.style import number, percent, whole
from rr_core.figures.unary import ESTIMATE_NAMES
from rr_core.figures.view import Order, bars
from rr_core.figures.wording import chance_at_most
from rr_core.io.csv_files import csv_bytes, csv_cell, untouched
from rr_core.plain_text import plain
from rr_core.reports.other_protocols import OtherAnalysis

_MOST_DRAWN, _LONGEST_SENTENCE = 20, 800
# Of reports of the stated protocol, whatever the truth: below this the protocol is doubted.
_DOUBTED = 0.01
_ROUNDING = 1e-9  # of a share


@dataclass(frozen=True, eq=False)
class Analysed:
    """What is on screen.

    Attributes:
        labels: k names of the truths.
        counts: (k,) the reports or ones of each; None where truths and reports are not the same things.
        counted: what ``counts`` are, a noun.
        result: the analysis.
        notes: a plain sentence for each thing that was understood.
        script: Python that repeats the analysis.
        asked: which truth the answer is about; None for the most frequent one.
    """

    labels: tuple[str, ...]
    counts: Any
    counted: str
    result: OtherAnalysis
    notes: tuple[str, ...]
    script: str
    asked: int | None = None


def _order(analysed: Analysed) -> Order:
    """Categories by their estimate, the largest first."""
    order: Order = np.argsort(-_leading(analysed.result)[1], kind="stable")
    return order


def _leading(result: OtherAnalysis) -> tuple[str, Any]:
    name = "mle" if "mle" in result.estimates else "inv_p"
    return name, result.estimates[name]


def answer(analysed: Analysed, target: Target) -> go.Figure:
    """The answer in a few sentences, and the chart; returns the chart."""
    result, order = analysed.result, _order(analysed)
    name, leading = _leading(result)
    first = int(order[0]) if analysed.asked is None else analysed.asked
    granted = (
        f"ε = {number(result.epsilon, 4)}"
        if np.isfinite(result.epsilon)
        else "no ε: some reports rule truths out"
    )
    lines = [f"**{result.n:,} {'report' if result.n == 1 else 'reports'}, K = {result.k:,}, {granted}.**"]
    if result.intervals is None:
        lines.append(
            "**This table cannot tell the truths apart**: other shares explain the reports as well as MLE's. Nothing but "
            "another way of asking mends that."
        )
    else:
        each = result.intervals[0]
        ends = [float(np.clip(end[first], 0, 1)) for end in (each.low, each.high)]
        named, share = markdown(analysed.labels[first], 60), float(leading[first])
        between = f"{percent(ends[0])} to {percent(ends[1])} with {each.level:.0%} confidence"
        sure = (
            f"{between} (the interval of Inv)"
            if ends[0] - _ROUNDING <= share <= ends[1] + _ROUNDING
            else f"the interval of Inv, {between}, does not hold it"
        )
        whose = "these people" if target == "users" else "their population"
        lines.append(
            f"{'Most frequent: ' if analysed.asked is None else ''}**{named}**, {percent(share)} of {whose} by "
            f"{ESTIMATE_NAMES[name]}; {sure}."
        )
    if result.few:
        lines.append("Few reports of some kind are expected: intervals and the test of fit are rough.")
    if result.fit < _DOUBTED:
        st.error(markdown(_fit_sentence(result), _LONGEST_SENTENCE))
    st.markdown(" ".join(lines))
    for note in analysed.notes:
        st.caption(markdown(note, _LONGEST_SENTENCE))
    view = bars(order, analysed.labels, "The largest shares first", _MOST_DRAWN)
    figure = of_other_protocol(
        result.estimates, None if result.intervals is None else result.intervals[0].cut(), view
    )
    chart.show(figure, "other_reports")
    return figure


def _columns(analysed: Analysed) -> dict[str, Any]:
    """The table at full precision: shares, and the limits of Inv's intervals for each category and for all."""
    result = analysed.result
    columns: dict[str, Any] = {} if analysed.counts is None else {analysed.counted.lower(): analysed.counts}
    columns |= result.estimates
    for ending, interval in zip(("", "_all"), result.intervals or (), strict=False):
        columns[f"inv_low{ending}"], columns[f"inv_high{ending}"] = interval.low, interval.high
    return columns


def table(analysed: Analysed) -> None:
    result, rows = analysed.result, _order(analysed)[:MOST_ROWS]
    columns: dict[str, Any] = {"Category": [plain(analysed.labels[i], 80) for i in rows]}
    if analysed.counts is not None:
        columns[analysed.counted] = np.asarray(analysed.counts)[rows]
    columns |= {f"{ESTIMATE_NAMES[name]} %": 100 * values[rows] for name, values in result.estimates.items()}
    if result.intervals is not None:
        cut = result.intervals[0].cut()
        columns["interval of Inv from %"], columns["to %"] = 100 * cut.low[rows], 100 * cut.high[rows]
    columns["People"] = whole(_leading(result)[1][rows] * result.n)
    st.dataframe(
        pa.table({name: pa.array(values) for name, values in columns.items()}),
        hide_index=True,
        key="other_table",
        column_config={
            name: st.column_config.NumberColumn(format="%.4g") for name in columns if name.endswith("%")
        },
    )
    if result.certificate is not None:
        st.caption(
            f"MLE's certificate is {number(result.certificate, 2)} nats per report: no shares fit the reports better by "
            "more than that."
        )


def fit(analysed: Analysed) -> None:
    if analysed.result.fit >= _DOUBTED:  # else it stands above the answer
        st.success(markdown(_fit_sentence(analysed.result), _LONGEST_SENTENCE))
    st.markdown(
        "The test compares the reports with the best that this way of asking allows, whatever the truth is. It sees a "
        "wrong table or a wrong ε only where they show: reports may fit a wrong one too."
    )


def _fit_sentence(result: OtherAnalysis) -> str:
    if result.fit < _DOUBTED:
        return (
            "These reports hardly come from what is stated: whatever the truth, reports that fit as badly come in at "
            f"most {chance_at_most(result.fit)} of collections. The estimates rest on a wrong table, a wrong ε, or "
            "answers that were not given as asked."
        )
    return "Nothing in these reports speaks against what is stated."


def downloads(analysed: Analysed, figure: go.Figure) -> None:
    def csv() -> bytes:
        names = [csv_cell(label) for label in analysed.labels]
        return csv_bytes({"category": names, **_columns(analysed), **untouched(analysed.labels, names)})

    with st.grid(3):
        for label, make, ending, mime in (
            ("Download results (CSV)", csv, "csv", "text/csv"),
            ("Download chart (HTML)", lambda: chart_html(figure), "html", "text/html"),
            ("Download script (Python)", lambda: analysed.script, "py", "text/x-python"),
        ):
            st.download_button(
                label,
                make,
                f"reports.{ending}",
                mime,
                on_click="ignore",
                key=f"other_{ending}",
                width="stretch",
            )
