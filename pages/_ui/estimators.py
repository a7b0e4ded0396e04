"""The sections on estimators: their errors on one draw, with the best in bold and the certificate; and repeated
collections: bias, variance and who wins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

import streamlit as st

from pages._ui import chart, film, long_run, truth, widgets
from pages._ui.draw_results import LARGE, DrawResults
from pages._ui.figure_controls import widget
from rr_core.comparison import RANKED, ULPS, Comparison, Target
from rr_core.estimators import mle_search
from rr_core.figures.estimators import (
    MOST_CATEGORIES,
    bias_and_variance,
    cost_of_the_advice,
    error_distribution,
    search_film,
    wins,
)
from rr_core.figures.style import QUANTITIES
from rr_core.plain_text import markdown, starred
from rr_core.registry import ESTIMATORS, VALID
from rr_core.repeats import Repeats, repeat
from rr_core.rounding import number, percent
from rr_core.scenario import Draw
from rr_core.simulate import last_of
from rr_core.words.phrases import FOLDED, METRIC_NAMES, plain_names
from rr_core.words.phrases import table as markdown_table

_TARGETS: dict[Target, str] = {"users": "These users", "population": "Their population"}
_AGAINST: dict[Target, str] = {
    "users": "the true histogram of these very users",
    "population": "the population that the users were drawn from",
}
_MOST_NAMED = 12
_ROWS = {metric: starred(METRIC_NAMES[metric].button) for metric in RANKED} | {
    "tv": "Off by (total variation)",
    "above": "Fits worse than MLE\\* by",
}
_FEWEST, _MOST = 4, 15  # digits


def pick_target() -> Target:
    """Widget for the truth: the users' own histogram, or the population that they were drawn from."""
    chosen: Target = widget(
        widgets.pick_one,
        "Compare with",
        _TARGETS,
        default="users",
        key="target",
        disabled=truth.hidden(),
    )
    return chosen


def error_table(result: Comparison, draw: Draw) -> None:
    """Three rows of errors, and which repair when; folded, the other rows, how to read them, and the certificate. While
    the truth is hidden, only the rows that do not depend on it. What is not folded is one element: each costs a busy
    server as much as the arithmetic behind it."""
    rows = {_ROWS[metric]: _cells(result, metric) for metric in RANKED}
    rows["… per category"] = [number(result.errors["mse"][name] / len(result.truth)) for name in ESTIMATORS]
    rows["NLL per report"] = [
        "≈ 0" if 0 < abs(loss) <= ULPS else number(loss, 7) for loss in result.errors["nll"].values()
    ]
    rows["Set to zero"] = ["–", *(f"{result.zeros[name]:,}" for name in list(ESTIMATORS)[1:])]
    of_the_truth = {_ROWS["tv"], _ROWS["max"], _ROWS["mse"], "… per category"} if truth.hidden() else set()

    def table(*order: str) -> str:
        """These rows as a markdown table, which costs the browser a tenth of what st.table does."""
        heads = [f"**{starred(QUANTITIES[name].name)}**" for name in ESTIMATORS]
        shown = [(row, *rows[row]) for row in order if row not in of_the_truth]
        return markdown_table(("Error", *heads), "l" + "r" * len(heads), shown)

    against = "the table, whose people are these very users" if draw.of_table else _AGAINST[result.target]
    marks = "**Bold:** the smallest error of the three repairs.\n\n"
    beyond = (
        " **Off by** is above 100% for Inv: its shares below zero count, and the others add up to more than 100%."
        if result.errors["tv"]["inv"] > 1 and not truth.hidden()
        else ""
    )
    measured = (
        f"Errors against {against}. Errors that differ by rounding alone are equal. Squared error is summed over "
        "categories; its mean per category is what the paper's figures show."
    )
    st.markdown(
        f"{table(_ROWS['tv'], _ROWS['max'], _ROWS['above'])}\n\n{'' if truth.hidden() else marks}"
        "**Fit:** 0.01 worse makes a report 1% less likely than under MLE\\*, on average. Inv, which may be "
        "negative, can fit better (−). One draw decides little: **Repeat it**."
    )
    with st.expander("Other errors, how to read them, and the certificate of MLE\\*"):
        st.markdown(
            f"{table(_ROWS['mse'], '… per category', 'NLL per report', 'Set to zero')}\n\n"
            "**Is MLE\\* really the maximum likelihood?** Yes, by its **certificate**: no factor by which IBU (iterative "
            f"Bayesian update) would multiply a share is above 1 (by {number(max(result.certificate, 0.0), 2)}, which is "
            "rounding), so no shares make these reports more likely.\n\n"
            f"{_zeroed(result, draw.population.labels)}\n\n"
            f"{truth.note('the errors') if truth.hidden() else measured}{beyond} NLL: negative log-likelihood in nats, "
            "whose differences are the row Fit; lower fits the reports better."
        )


def _zeroed(result: Comparison, labels: Sequence[str] | None) -> str:
    """A sentence that names the categories each estimator sets to zero, or the first of many."""
    parts = []
    for name in VALID:
        count, first = result.zeros[name], result.zeroed(name, _MOST_NAMED)
        listed = ", ".join(markdown(label) for label in plain_names(labels, first)) or "none"
        more = f" and {count - len(first):,} more" if count > len(first) else ""
        parts.append(f"{QUANTITIES[name].name}: {listed}{more}".replace("*", "\\*"))
    return "**Set to zero** · " + " · ".join(parts)


def _cells(result: Comparison, metric: str) -> list[str]:
    """One row: the error of every estimator, with as many digits as tell the repairs apart, the smallest in bold."""
    best, worst, errors = result.best(metric), result.worst(metric), dict(result.errors[metric])
    for alike, choose in ((best, min), (worst, max)):
        errors |= dict.fromkeys(alike, choose((errors[name] for name in alike), default=0.0))
    of_shares = metric in ("tv", "max")
    written = percent if of_shares else number
    digits, different = _FEWEST, len({errors[name] for name in VALID})
    while digits < _MOST and len({written(errors[name], digits) for name in VALID}) < different:
        digits += 1
    nothing = ULPS if of_shares else ULPS**2
    cells = {
        name: "≈ 0" if 0 < abs(error) <= nothing else written(error, digits) for name, error in errors.items()
    }
    if worst and not truth.hidden():
        cells |= {name: f"**{cells[name]}**" for name in best}
    return list(cells.values())


_NAME = "repeat"


def repeated_section(results: DrawResults, target: Target) -> None:
    """Widgets for the number of collections, the run with progress and Stop, and its results."""
    st.markdown(
        "The same users report again and again with new noise: who wins then?"
        if target == "users"
        else "New users are drawn from the population each time, and report with new noise: who wins then?"
    )
    if truth.hidden():
        st.markdown(truth.note("the errors of many collections"))
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        times = long_run.how_many("repeat_times")
        about = (results.draw.scenario, results.draw.population.key, target, times)
        start = long_run.start_button(_NAME, "Repeat", about)
    run = partial(last_of, partial(repeat, results.draw, times, target), attrgetter("done"))
    k = results.draw.scenario.k
    shared = results.is_shared and k <= LARGE  # a result keeps four numbers per category
    result: Repeats | None = long_run.outcome(
        start, _NAME, about, times, "collections", run, k=k, shared=shared
    )
    if result is not None:
        _show_repeats(result, times)


def _show_repeats(result: Repeats, times: int) -> None:
    if result.done < times:
        long_run.stopped(result.done, times, "collections")
    metric = st.segmented_control(
        "Error measure",
        RANKED,
        required=True,
        default="mse",
        format_func=lambda metric: starred(METRIC_NAMES[metric].title),
        key="repeat_metric",
        persist_state="page",
    )
    chart.show(error_distribution(result, metric), "error_distribution")
    if cost := cost_of_the_advice(result, metric):
        st.caption(cost)
    left, right = st.columns(2)
    with left:
        chart.show(bias_and_variance(result), "bias_and_variance")
    with right:
        chart.show(wins(result, metric), "wins")


def search_section(results: DrawResults) -> None:
    """Algorithm 1 as a film on the reports of this draw, and why it may stop where it does."""
    draw = results.draw
    if draw.scenario.k > MOST_CATEGORIES:
        st.caption(f"The steps are shown for up to {MOST_CATEGORIES} categories: lower **Categories K**.")
        return
    st.markdown(
        "MLE\\* strikes out the lowest bar below zero and does Inv again with the others' reports alone. **Try:** press "
        "**Play** and watch the dashed line, what chance brings each that stays. Why does it rise?"
    )
    found = mle_search(draw.counts, draw.mechanism)
    film.show(search_film(found, draw.population.labels), "mle_search")
    with st.expander("Why does the line rise, and why may it stop there?"):
        st.markdown(FOLDED["search"])
