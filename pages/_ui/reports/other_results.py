"""What collected reports of another protocol say: the answer, the chart, the table, the test of fit, and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from rr_core.figures.reports import of_other_protocol
from rr_core.figures.style import number, percent, whole
from rr_core.figures.unary import ESTIMATE_NAMES
from rr_core.figures.view import Order, bars
from rr_core.figures.wording import between as ends
from rr_core.figures.wording import chance_at_most
from rr_core.io.csv_files import csv_bytes, csv_cell, untouched
from rr_core.metrics import Users
from rr_core.plain_text import plain
from rr_core.reports.epsilon_fit import REJECTION_LEVEL
from rr_core.reports.intervals import Interval
from rr_core.reports.other_protocols import OtherAnalysis, Tested

_MOST_DRAWN, _LONGEST_SENTENCE = 20, 800
_TESTED: dict[Tested, str] = {
    "reports": "The test compares the reports with the best that this way of asking allows, whatever the truth is.",
    "sums": "The test compares sums alone with what this way of asking allows, whatever the truth is: all ones together, "
    "and those of the categories with the fewest and the most. It does not see how the ones are spread over the reports.",
    "bits": "The test compares the ones with what this way of asking allows, whatever the truth is: all together, those "
    "of the categories with the fewest and the most, and how many of them each report has.",
}
_ROUNDING = 1e-9  # of a share
_ALIKE = 1e-6  # shares that the maximum of the likelihood is not found more closely than


@dataclass(frozen=True, eq=False)
class Analysed:
    """What is on screen.

    Attributes:
        labels: k names of the truths.
        counts: (k,) the reports or ones of each; None where truths and reports have other names.
        counted: what ``counts`` are, a noun.
        result: the analysis.
        notes: a plain sentence for each thing that was understood.
        script: Python that repeats the analysis.
        source: where the reports come from, in words.
        asked: which truth the answer is about; None for the most frequent one.
        reports: names of the reports and how many there are of each, (m,); None where ``counts`` tells.
        users: whose shares the intervals hold.
    """

    labels: tuple[str, ...]
    counts: Any
    counted: str
    result: OtherAnalysis
    notes: tuple[str, ...]
    script: str
    source: str
    asked: int | None = None
    reports: tuple[tuple[str, ...], Any] | None = None
    users: Users = "fixed"


def _order(analysed: Analysed) -> Order:
    """Categories by their estimate, the largest first."""
    order: Order = np.argsort(-_leading(analysed.result)[1], kind="stable")
    return order


def _leading(result: OtherAnalysis) -> tuple[str, Any]:
    name = "mle" if "mle" in result.estimates else "inv_p"
    return name, result.estimates[name]


def answer(analysed: Analysed) -> go.Figure:
    """The answer in a few sentences, and the chart; returns the chart."""
    result, order = analysed.result, _order(analysed)
    if result.rejected:
        st.error(markdown(fit_sentence(result), _LONGEST_SENTENCE))
    st.markdown(answer_sentences(analysed))
    st.caption(markdown(f"The reports: {analysed.source}.", _LONGEST_SENTENCE))
    for note in analysed.notes:
        st.caption(markdown(note, _LONGEST_SENTENCE))
    view = bars(order, analysed.labels, "The largest shares first", _MOST_DRAWN)
    figure = of_other_protocol(
        result.estimates, None if result.intervals is None else result.intervals[0], view
    )
    chart.show(figure, "other_reports")
    return figure


def answer_sentences(analysed: Analysed) -> str:
    """How many reports there are, the share that was asked for or the largest one, and how sure it is, in Markdown."""
    result = analysed.result
    name, leading = _leading(result)
    first = int(leading.argmax()) if analysed.asked is None else analysed.asked
    granted = (
        f"ε = {number(result.epsilon, 4)}"
        if np.isfinite(result.epsilon)
        else "no ε: some reports rule truths out"
    )
    lines = [f"**{result.n:,} {'report' if result.n == 1 else 'reports'}, K = {result.k:,}, {granted}.**"]
    if result.intervals is None:
        lines.append(
            "**This table cannot tell the truths apart**: other shares may explain the reports as well as MLE's. Nothing "
            "but another way of asking mends that."
        )
    else:
        each, share = result.intervals[0], float(leading[first])
        named = f"**{markdown(analysed.labels[first], 60)}**"
        if analysed.asked is None:
            also = int((leading >= share - _ALIKE).sum()) - 1
            named = f"Most frequent: {named}" + (f" and {also:,} more alike" if also else "")
        whose = "these people" if analysed.users == "fixed" else "their population"
        sure = interval_in_words(each, first, share)
        lines.append(f"{named}, {percent(share)} of {whose} by {ESTIMATE_NAMES[name]}; {sure}.")
    if result.few:
        lines.append("Few reports of some kind are expected: intervals and the test of fit are rough.")
    return " ".join(lines)


def interval_in_words(interval: Interval, category: int, share: float) -> str:
    """The interval of Inv for a category, cut to [0, 1] but where it lies outside or would become a point; and whether it
    holds the share that is shown."""
    low, high = float(interval.low[category]), float(interval.high[category])
    outside = "above 100%" if low > 1 else "below 0%" if high < 0 else ""
    if low < 1 and high > 0:
        low, high = max(low, 0.0), min(high, 1.0)
    between = f"{ends(low, high)} with {interval.level:.0%} confidence"
    if outside:
        return f"the interval of Inv, {between}, lies wholly {outside}, where no share can be"
    # What is one number on screen is held, too: the limits are whole people, MLE is not.
    if low - _ROUNDING <= share <= high + _ROUNDING or percent(share) in (percent(low), percent(high)):
        return f"{between} (the interval of Inv)"
    return f"the interval of Inv, {between}, does not hold it"


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
        each = result.intervals[0]  # not cut, like Inv: one that lies outside 0 to 100% is seen to
        columns["interval of Inv from %"], columns["to %"] = 100 * each.low[rows], 100 * each.high[rows]
    columns["People"] = whole(_leading(result)[1][rows] * result.n)
    st.dataframe(
        pa.table({name: pa.array(values) for name, values in columns.items()}),
        hide_index=True,
        key="other_table",
        column_config={
            name: st.column_config.NumberColumn(format="%.4g") for name in columns if name.endswith("%")
        },
    )
    if analysed.reports is not None:
        names, counts = analysed.reports
        reports = {"Report": [plain(name, 80) for name in names[:MOST_ROWS]], "Reports": counts[:MOST_ROWS]}
        st.dataframe(
            pa.table({name: pa.array(values) for name, values in reports.items()}),
            hide_index=True,
            key="other_counts",
        )
    if result.certificate is not None:
        st.caption(
            f"MLE's certificate is {number(result.certificate, 2)} nats per report: no shares fit the reports better by "
            "more than that."
        )


def fit(analysed: Analysed) -> None:
    if not analysed.result.rejected:  # else it stands above the answer
        st.success(markdown(fit_sentence(analysed.result), _LONGEST_SENTENCE))
    seen = "It sees a wrong table or a wrong ε only where they show: reports may fit a wrong one too."
    st.markdown(" ".join([_TESTED[analysed.result.tested], seen]))


def fit_sentence(result: OtherAnalysis) -> str:
    """The verdict of the test of fit: whether the reports hardly come from what is stated."""
    if not result.rejected:
        return f"The test finds nothing against what is stated, at its threshold of {REJECTION_LEVEL:.0%}."
    chance = chance_at_most(result.fit)
    # By a normal law or chi-squared it is no bound, but about that.
    most = chance if chance.startswith("less") else f"{'at most' if result.exact else 'about'} {chance}"
    seen = f"whatever the truth, reports that fit as badly come in {most} of collections"
    if result.simulated:  # these reports are counted in
        seen = (
            f"of these reports and {result.simulated:,} collections simulated from their best fit, "
            f"{percent(result.fit, 2)} are as far from it"
        )
    return (
        f"These reports hardly come from what is stated: {seen}. The estimates rest on a wrong table, a wrong ε, or "
        "answers that were not given as asked."
    )


def _csv(title: str, labels: Sequence[str], columns: dict[str, Any], source: str) -> bytes:
    """A table whose first column are names, and whose last one says where the reports come from."""
    names = [csv_cell(label) for label in labels]
    plainly = source.replace("“", "'").replace(
        "”", "'"
    )  # else a file of plain letters would begin with a mark for Excel
    last = {"read_from": [csv_cell(plainly)] * len(names)}
    return csv_bytes({title: names, **columns, **untouched(labels, names), **last})


def downloads(analysed: Analysed, figure: go.Figure) -> None:
    def csv() -> bytes:
        return _csv("category", analysed.labels, _columns(analysed), analysed.source)

    files: list[tuple[str, Callable[[], str | bytes], str, str]] = [
        ("Download results (CSV)", csv, "reports.csv", "text/csv"),
        ("Download chart (HTML)", lambda: chart_html(figure), "reports.html", "text/html"),
        ("Download script (Python)", lambda: analysed.script, "reports.py", "text/x-python"),
    ]
    if analysed.reports is not None:
        names, counts = analysed.reports
        files.append(
            (
                "Download reports (CSV)",
                lambda: _csv("report", names, {"reports": counts}, analysed.source),
                "answers.csv",
                "text/csv",
            )
        )
    with st.grid(3):
        for label, make, name, mime in files:
            st.download_button(
                label, make, name, mime, on_click="ignore", key=f"other_{name}", width="stretch"
            )
