"""The results on the page: what the person chose to see, the answer, chart, table, the fit of epsilon, the advice, what
was left out, how well intervals and test do, and the files to download."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from pages._ui import chart, figure_controls, session_files
from pages._ui.downloads import button
from pages._ui.reports.html_report import html_report
from rr_core.comparison import Target
from rr_core.data import read_toml
from rr_core.figures.reports import ESTIMATES, by_group, is_dominated, reports_floor, with_intervals
from rr_core.figures.view import LONGEST_SEARCH, Bars, bars, find
from rr_core.io import report_files
from rr_core.io import report_sentences as sentences
from rr_core.io.report_results import ReportsInUse, Results
from rr_core.plain_text import markdown, plain, some
from rr_core.protocols import Channel
from rr_core.registry import LABELS
from rr_core.reports.epsilon_fit import REJECTION_LEVEL
from rr_core.reports.intervals import EXTREME_CHANCE
from rr_core.reports.low_counts import Floor, floor
from rr_core.reports.measured import (
    CATEGORIES,
    COVERAGE,
    COVERAGE_COLLECTIONS,
    REJECTIONS,
    SIZE_COLLECTIONS,
    credible_coverage_of_large,
)
from rr_core.rounding import odds, p_value

_LEVELS = (0.9, 0.95, 0.99)
_TARGETS: dict[Target, str] = {"users": "These people", "population": "Their population"}
_SCOPES = ("Each category", "All at once")
_MOST = (10, 20, 50, 100)
MOST_ROWS = 1000
_FIND, _CHART_SIZE = "reports_find", "reports_most"
_MOST_OUTSIDE = 200
_HEIGHT, _ROW = 390, 35  # of the table and of its rows, in pixels
_WORDS = read_toml("reports.toml")
_COVERAGE_POPULATIONS: dict[str, str] = _WORDS["coverage_populations"]
_TEST_POPULATIONS: dict[str, str] = _WORDS["test_populations"]
_CATEGORY_HEADS: dict[str, str] = _WORDS["category_heads"]
_STATED = (0.8, 1.0, 1.2)
_TRUTHS = {"fixed": "these people", "sampled": "their population"}


class Shown(NamedTuple):
    """The estimator that is shown, and whether its intervals hold for all categories at once."""

    estimator: str
    simultaneous: bool


def level_and_target(used: ReportsInUse) -> tuple[float, Target]:
    """Widgets for the confidence level and the target, grey with the reason where there are no intervals."""
    told_apart = not isinstance(used.protocol, Channel) or used.protocol.identified
    unused = "" if told_apart else "There are no intervals: this table cannot tell the truths apart."
    target: Target = st.segmented_control(
        "Whose shares",
        list(_TARGETS),
        required=True,
        default="population" if used.weights else "users",
        format_func=_TARGETS.__getitem__,
        key=f"reports_target{'_weighted' if used.weights else ''}",
        disabled=bool(unused or used.weights),
        help=unused
        or (used.weights and "With survey weights the shares are those of the population.")
        or "The shares among the very people who reported, or in the population that they are a random sample of: "
        "then the luck of the sample counts too.",
    )
    level = st.segmented_control(
        "Confidence",
        _LEVELS,
        required=True,
        default=0.95,
        format_func="{:.0%}".format,
        key="reports_level",
        disabled=bool(unused),
        help=unused or None,
    )
    return level, target


def estimator_and_scope(results: Results) -> Shown:
    """Widgets for the estimator and for the kind of interval; returns the choice."""
    # What it starts with stays, so that no choice is lost when the level or the target changes.
    leading: str = session_files.cached("estimator", results.used.key, lambda: results.analysis.leading)
    name = st.segmented_control(
        "Estimator",
        list(results.analysis.estimates),
        required=True,
        default=leading,
        format_func=lambda name: ESTIMATES[name].name.replace("*", "\\*"),
        disabled=len(results.analysis.estimates) == 1,
        key=f"reports_estimator_{results.used.key}",
        help="Inv is unbiased, and can be negative; the others repair that, and add up to 100%. Starts with the one to "
        "report, see **Which estimate?** below.",
    )
    scope = st.segmented_control(
        "Intervals hold for",
        _SCOPES,
        required=True,
        default=_SCOPES[sentences.are_many(results)],
        key=f"reports_scope{'_many' if sentences.are_many(results) else ''}",
        disabled=results.analysis.interval is None,
        help="Each category: every interval alone is meant to be right this often. All at once: all K together are.",
    )
    return Shown(name, scope == _SCOPES[1])


def search_box(results: Results) -> None:
    """Text box to search for categories, read by `table_order`."""
    wanted = st.text_input(
        "Find categories",
        key=_FIND,
        placeholder="names or parts of names, separated by commas",
        width=420,
        max_chars=LONGEST_SEARCH,
    )
    if wanted and not _search_hits(results, wanted).size:
        st.caption("No category has such a name: the first ones are shown.")


def chart_size(results: Results, order: NDArray[np.intp]) -> None:
    """Widget for the number of categories in the chart, read by `_chart_categories`; grey where that has no choice."""
    unused = ""
    if _ticked(order).size:
        unused = "The chart shows the ticked rows."
    elif order.size and results.used.k <= _MOST[0]:
        unused = "The chart shows all categories."
    st.segmented_control(
        "In the chart",
        _MOST,
        required=True,
        default=_MOST[1],
        key=_CHART_SIZE,
        disabled=bool(unused),
        help=unused or None,
    )


def table_order(results: Results) -> NDArray[np.intp]:
    """The categories of the table in order: those that match the search, else the first."""
    wanted = st.session_state.get(_FIND, "")
    if not wanted:
        return results.order[:MOST_ROWS]
    hits = _search_hits(results, wanted)
    return hits if hits.size else results.order[:MOST_ROWS]


def _search_hits(results: Results, wanted: str) -> NDArray[np.intp]:
    used = results.used
    return session_files.cached(
        "found", (used.key, wanted), lambda: find(wanted, used.labels, used.k, MOST_ROWS)
    )


def _chart_categories(results: Results, chosen: NDArray[np.intp]) -> Bars:
    """The categories of the chart: the chosen rows of the table, else the most reported categories."""
    labels = results.used.labels
    if chosen.size:
        most = max(_MOST)
        title = "Chosen categories"
        if chosen.size > most:
            title = f"The first {most} of {chosen.size:,} chosen categories"
        return bars(chosen, labels, title, most)
    title = "The largest shares first"
    if results.used.by_reports:
        title = "The most reported categories"
    elif results.used.about is not None:
        title = "Truths"
    most = min(st.session_state.get(_CHART_SIZE, _MOST[1]), results.order.size)
    return bars(results.order, labels, title, most)


def answer(results: Results, choice: Shown) -> None:
    """The main result, which estimate to report, and whether ε fits; who was left out, or has no weight."""
    text = sentences.answer(results, choice.estimator, simultaneous=choice.simultaneous)
    tested = results.epsilon_test is not None and not results.rejects_epsilon
    fit = f" {markdown(sentences.fit(results)[0])}" if tested else ""
    with st.container(key=f"answer_{results.used.key}"):  # which dials.js brings into view when it is new
        st.markdown(
            f"**{markdown(sentences.heading(results))}** {markdown(text, 2000)}\n\n"
            f"**{markdown(sentences.advice(results)[0])}**{fit}"
            f" {markdown(' '.join(sentences.groups(results)[:2]), 1000)}"
        )
        if whose := sentences.whose(results):
            st.caption(markdown(whose))
        if results.used.people is not None and results.used.people.notes:
            st.caption(markdown(" ".join(results.used.people.notes), 1000))


def estimates_chart(results: Results, choice: Shown, order: NDArray[np.intp]) -> go.Figure:
    """The chart: the chosen estimator with its intervals, for the ticked rows of the table or the most reported."""
    interval, tests = results.interval(simultaneous=choice.simultaneous), results.analysis.above
    above = None if tests is None else tests.above
    estimates = results.analysis.estimates
    view = _chart_categories(results, _ticked(order))
    if by := results.used.weighted_by:
        view = replace(view, title=f"{view.title},{html.escape(by)}")
    dominated = interval is not None and is_dominated(view, estimates[choice.estimator], interval.cut())
    zoom = interval is not None and figure_controls.zoom(
        "reports", "Zoom in on the smaller shares", on=dominated
    )
    figure = with_intervals(estimates, choice.estimator, interval, above, results.people, view, zoom)
    with st.container(key="estimates"):
        chart.show(figure, "your_reports")
    for warning in sentences.few_reports(results):
        st.info(warning)
    scope = choice.simultaneous
    notes = sentences.luck(results, simultaneous=scope)
    notes += sentences.outside([results.analysis], [choice.estimator], simultaneous=scope)
    if choice.estimator != "inv" and interval is not None:
        notes.append(sentences.no_own_interval(results))
    if notes:
        st.caption(markdown(" ".join(notes), 1000))
    return figure


def table(results: Results, choice: Shown, order: NDArray[np.intp]) -> None:
    """Draw the table of these categories."""
    columns = sentences.table_columns(results, choice.estimator, order, simultaneous=choice.simultaneous)
    percentages = {
        name: st.column_config.NumberColumn(format="%.4g")
        for name in columns
        if name.endswith("%") and not name.startswith(sentences.INTERVAL)
    }
    st.dataframe(
        _on_screen(columns),
        hide_index=True,
        height=min(_HEIGHT, _ROW * (order.size + 1) + 3),
        key="reports_table",
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "Category": st.column_config.TextColumn(pinned=True, width=150),
            "Reports": st.column_config.NumberColumn(format="localized"),
            "Ones": st.column_config.NumberColumn(format="localized"),
            f"{sentences.INTERVAL} from %": st.column_config.NumberColumn(
                format="%.4g",
                help="The interval of Inv, cut at 0 and 1 unless it lies wholly outside, whichever estimate you choose.",
            ),
            "People": st.column_config.NumberColumn(
                format="%,.0f",
                help=f"The share by {LABELS[choice.estimator]}"
                + (", times the sum of the weights." if results.used.weights else ", times their number."),
            ),
            sentences.P_VALUE: st.column_config.TextColumn(
                help="Chance of so many reports or more if nobody had it, corrected for all K categories.",
                alignment="right",
            ),
            **percentages,
        },
    )
    k = results.used.k
    most = f" (the table has room for {MOST_ROWS:,}; CSV and Parquet hold all)" if k > MOST_ROWS else ""
    tests = (
        f" **Above zero?** is Holm's test over all {k:,} categories: with a chance of {results.level:.0%} at least, it "
        "calls no category above zero that nobody has."
    )
    st.caption(
        f"{order.size:,} of {k:,} categories{most}; click a header to sort, tick rows to draw them."
        + (tests if results.analysis.above is not None else "")
    )
    _reports_table(results)
    _certificate(results)


def _on_screen(columns: Mapping[str, NDArray[Any]]) -> pa.Table:
    """The columns as a table, with p-values as they are told; no number where there is nan."""
    told = {
        name: [None if np.isnan(chance) else p_value(chance) for chance in values.tolist()]
        if name == sentences.P_VALUE
        else pa.array(values, from_pandas=True)
        for name, values in columns.items()
    }
    return pa.table(told)


def _certificate(results: Results) -> None:
    if results.analysis.certificate is not None:
        beyond = results.analysis.n * results.analysis.certificate
        times = "1.001" if beyond < log(1.001) else odds(beyond)
        likely = f"than {times} times as likely" if beyond else "likely"
        st.caption(
            "MLE is found in steps, which end with a certificate: no other shares make all these reports together more "
            f"{likely}."
        )


def _reports_table(results: Results) -> None:
    """The reports themselves, where they are other things than the categories."""
    if results.used.counts_by_category is not None:
        return
    held = results.used.collected
    names = pa.array([plain(name, 80) for name in held.labels[:MOST_ROWS]])
    st.dataframe(
        pa.table({"Report": names, "Reports": held.counts[:MOST_ROWS]}), hide_index=True, key="reports_counts"
    )


def _ticked(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """The categories whose rows are ticked in the table, which is drawn further down."""
    selected = st.session_state.get("reports_table")
    ticked = selected.selection.rows if selected else []
    return order[[i for i in ticked if i < order.size]]


def epsilon_rejected(results: Results) -> None:
    """The verdict on the stated epsilon, where it is rejected: before anything is read that rests on it."""
    if results.rejects_epsilon:
        st.error(markdown(sentences.fit(results)[0]))


def epsilon_fit(results: Results) -> list[go.Figure]:
    """Whether what was stated fits the reports, in sentences and for k-RR as a chart; returns the chart."""
    verdict, *more = sentences.fit(results)
    tested = results.epsilon_test is not None or results.analysis.fit is not None
    if not results.rejects_epsilon:
        (st.success if tested else st.info)(markdown(verdict))
    figures, mechanism = list[go.Figure](), results.used.k_rr
    if mechanism is not None:
        compared: Floor = session_files.cached(
            "floor", results.used.key, lambda: floor(results.used.collected.counts, mechanism)
        )
        figures.append(reports_floor(compared))
        chart.show(figures[0], "reports_floor")
    st.markdown(markdown(" ".join(more), 2000))
    return figures


def advice(results: Results) -> None:
    """The advice on which estimate to report."""
    verdict, *more = sentences.advice(results)
    st.markdown(markdown(" ".join([verdict, *more]), 2000))


def groups(results: Results, choice: Shown) -> tuple[list[go.Figure], sentences.Compared | None]:
    """The groups, where some were asked for: whether they are alike, their shares of one category, and how they differ;
    returns the chart, and what is compared."""
    survey = results.survey
    if survey is None:
        st.markdown(
            "To compare groups, press **Other reports or settings** above and name the column of groups: region, wave, "
            "sex."
        )
        return [], None
    st.markdown(" ".join(sentences.groups(results)))
    order, more = results.order.tolist()[:MOST_ROWS], results.used.k > MOST_ROWS
    with st.container(horizontal=True, vertical_alignment="bottom"):
        about = 0 if results.used.about is None else order.index(results.used.about)
        picked: Any = st.selectbox(
            "Share of",
            order,
            format_func=lambda i: i if isinstance(i, str) else plain(survey.categories[i], 60),
            index=about,
            key=f"reports_group_category_{results.used.key}",
            width=260,
            accept_new_options=more,
            help="The first of the table; of another one type the name." if more else None,
        )
        first = st.selectbox(
            "Difference from",
            range(len(survey.groups)),
            format_func=lambda i: plain(survey.groups[i], 60),
            key=f"reports_group_{results.used.key}",
            width=260,
        )
    category = _picked(results, picked, order[about])
    figure = by_group(survey, category, simultaneous=choice.simultaneous)
    chart.show(figure, "reports_groups")
    columns = sentences.group_columns(survey, category, first, simultaneous=choice.simultaneous)
    st.dataframe(
        _on_screen(columns),
        hide_index=True,
        key="reports_groups_table",
        placeholder="",
        column_config={
            name: st.column_config.TextColumn(alignment="right")
            if name == sentences.P_VALUE
            else st.column_config.NumberColumn(format="localized" if name == "Reports" else "%.4g")
            for name in columns
            if name != "Group"
        },
    )
    if sentences.P_VALUE in columns:
        st.caption(f"{sentences.SCOPES[choice.simultaneous]}{sentences.DIFFERENCES}")
    return [figure], (category, first)


def _picked(results: Results, picked: int | str, usual: int) -> int:
    """The category that was picked, by its place or by its name, which was typed; else the usual one, with a warning."""
    if isinstance(picked, int):
        return picked
    hits = _search_hits(results, picked).tolist()
    if not hits:
        st.warning("No category has that name: type it as it stands in the table.")
    return int((hits or [usual])[0])


def left_out(results: Results) -> None:
    """What of the files was left out of the analysis, counted and named, and what was assumed."""
    collected = results.used.collected
    if collected.outside:
        few = some([markdown(label, 30) for label, _ in collected.outside])
        alone = len(collected.outside) == 1
        no_reports = len(collected.outside) == len(results.used.summaries)
        if results.used.settings.domain == "listed" and not no_reports:
            st.warning(
                f"{sentences.outside_domain(results)}, for {'a category that is' if alone else 'categories that are'} "
                f"not on the list: {few}. Randomized response reports nothing outside its categories: either the list or "
                "the file is not what people had."
            )
        else:
            names = "names that are not counted as categories"
            if alone:
                names = "a name that is not counted as a category"
            st.info(f"{sentences.outside_domain(results)}, under {names}: {few}.")
    with st.expander("What was read, left out and assumed"):
        lines = [f"{name}: {value}" for name, value in sentences.settings(results)]
        lines += sentences.left_out(results, named=False)
        st.markdown("\n".join(f"- {markdown(line, 600)}" for line in lines))
        if collected.outside:
            named = collected.outside[:_MOST_OUTSIDE]
            more = len(collected.outside) - len(named)
            last = [f"and {more:,} more, all in the JSON file"] if more else []
            st.text("\n".join([*(f"{plain(label, 80)}: {count:,}" for label, count in named), *last]))


def measured_section() -> None:
    """Fold away two tables: coverage of the intervals, and size and power of the test."""
    with st.expander("Do the intervals and the test keep their word? Measured"):
        st.markdown(_coverage_table())
        st.markdown(_credible_sentence())
        st.markdown(_rejection_table())


def _coverage_table() -> str:
    """In how many collections the 95% intervals held the truth."""
    body = []
    for setting in dict.fromkeys(row.setting for row in COVERAGE):
        population, k, n, epsilon, users = setting
        measured = {row.categories: f"{row.percent:.1f}" for row in COVERAGE if row.setting == setting}
        named = [_COVERAGE_POPULATIONS[population], f"{k:,}", f"{n:,}", f"{epsilon:g}", _TRUTHS[users]]
        body.append([*named, *(measured.get(categories, "–") for categories in CATEGORIES)])
    held = [row.percent for row in COVERAGE]
    heads = ("population", "K", "N", "ε", "whose shares", *(_CATEGORY_HEADS[name] for name in CATEGORIES))
    return (
        f"**Intervals of 95%: in how many of {COVERAGE_COLLECTIONS:,} simulated collections did they hold the truth?** "
        f"Those of Inv held it in {min(held):.1f}% to {max(held):.1f}% of them; cut at 0 they hold a share of 0 more "
        f"often. Small means below three standard deviations of the noise.\n\n{_markdown_table(heads, body)}"
    )


def _credible_sentence() -> str:
    """Why the page offers no credible intervals: how often they held one given truth."""
    (low, high), (low_uniform, high_uniform) = map(credible_coverage_of_large, (0.5, 1.0))
    return (
        "**Why no credible intervals?** In the same settings 95% credible intervals held the large shares in "
        f"{low:.1f}% to {high:.1f}% of the cases under Jeffreys' prior, and in {low_uniform:.1f}% to "
        f"{high_uniform:.1f}% under the uniform one. Their 95% is meant on average over truths drawn from the prior, not "
        "for the one truth that there is."
    )


def _rejection_table() -> str:
    """How often the test rejects, at the true epsilon and 20% beside it."""
    body = []
    for setting in dict.fromkeys(row.setting for row in REJECTIONS):
        population, k, n, epsilon, users = setting
        percents = {row.stated: f"{row.percent:.1f}%" for row in REJECTIONS if row.setting == setting}
        named = [f"{k:,}", f"{n:,}", f"{epsilon:g}", _TRUTHS[users], _TEST_POPULATIONS[population]]
        body.append([*named, *(percents.get(stated, "–") for stated in _STATED)])
    heads = ("20% too small", "right", "20% too large")
    table = _markdown_table(("K", "N", "true ε", "truth", "population", *heads), body)
    small, right, large = ([row.percent for row in REJECTIONS if row.stated == stated] for stated in _STATED)
    return (
        f"**The p-value of ε: in how many simulated collections was it {REJECTION_LEVEL:.0%} or less?** In these "
        f"settings at the right ε in {max(right):.1f}% of {SIZE_COLLECTIONS:,} at most, at one that is 20% too small in "
        f"{min(small):.0f}% to {max(small):.0f}% of them, by how clearly the reports show the noise, and at one that is "
        f"20% too large in {max(large):.1f}% at most: the test is not made to find those. An ε is rejected too where a "
        f"category got far more reports than N·p, or far fewer than N·q: a right one in {EXTREME_CHANCE:.1%} of "
        f"collections at most.\n\n{table}"
    )


def _markdown_table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "--:|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(cells) + " |" for cells in body)])


def downloads(
    results: Results, choice: Shown, figures: Sequence[go.Figure], compared: sentences.Compared | None
) -> None:
    """One button per file, the report as on screen; each file is made when its button is pressed, without a rerun."""
    verdict = sentences.advice(results)[0]
    stem = results.used.stem
    buttons: list[tuple[str, Callable[[], bytes | str], str]] = [
        ("Table (CSV)", lambda: report_files.csv_file(results), f"{stem}_shares.csv"),
        ("Table (Parquet)", lambda: report_files.parquet_file(results, verdict), f"{stem}_shares.parquet"),
        (
            "Everything (JSON)",
            lambda: report_files.json_file(results, verdict, report_files.now()),
            f"{stem}_analysis.json",
        ),
        (
            "Report (HTML)",
            lambda: html_report(results, figures, report_files.now(), *choice, compared),
            f"{stem}_report.html",
        ),
        ("Script (Python)", lambda: report_files.script(results), f"{stem}_recompute.py"),
    ]
    if results.survey is not None:
        buttons.append(("Groups (CSV)", lambda: report_files.groups_file(results), f"{stem}_groups.csv"))
    if report_files.list_is_a_file(results):
        buttons.append(("Categories (TXT)", lambda: report_files.categories_file(results), "categories.txt"))
    if results.used.counts_by_category is None:
        buttons.append(("Reports (CSV)", lambda: report_files.answers_file(results), f"{stem}_reports.csv"))
    with st.grid(3, min_column_width=150):
        for label, make, name in buttons:
            button(label, make, name, f"reports_{label}")
    st.caption(
        "The report opens offline. The script recomputes the numbers from your own file with rr_core alone, this app's "
        "mathematics, and NumPy, SciPy and pyarrow: put the folder rr_core, the script and your file side by side, and "
        "categories.txt too where it is offered. In the tables low and high end the interval of each category alone, "
        "inv_low_all and inv_high_all those for all at once. With a million categories take Parquet rather than CSV."
    )
