"""The downloads of the plan page: a summary on one page of paper, the map as data and chart, and a script."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st
from markupsafe import Markup

from pages._ui import downloads, state
from pages._ui.plan import sentences
from pages._ui.plan.results import Plan
from pages._ui.work import Work
from rr_core.figures.plan_sentences import at_least, at_most, budget, number_of_users, promise_text
from rr_core.figures.style import percent
from rr_core.figures.wording import WHOSE
from rr_core.io import plan as plan_files
from rr_core.mechanism import RandomizedResponse
from rr_core.plan.landscape import Landscape
from rr_core.plan.shuffling import shuffled
from rr_core.populations import DISTRIBUTIONS, UPLOAD


class SummarySection(NamedTuple):
    """One section of the printed summary.

    Attributes:
        heading: plain text.
        text: markdown with bold words only.
        heads, rows: a table of plain text; no table where heads is empty.
    """

    heading: str
    text: str
    heads: Sequence[str] = ()
    rows: Iterable[Sequence[str]] = ()


def section(work: Work, plan: Plan, landscape: Landscape, figure: go.Figure, delta: float) -> None:
    """The button of the summary in a row of its own, then those of data, chart and script."""
    st.subheader("Take it with you")
    st.download_button(
        "One-page summary (HTML)",
        lambda: summary(plan, population_name(work), delta, f"{datetime.now(UTC):%Y-%m-%d}"),
        "plan_summary.html",
        "text/html",
        on_click="ignore",
        key="plan_summary",
        type="primary",
    )
    target = plan.target or plan.settings.target
    data = partial(plan_files.map_csv, landscape, target)
    downloads.row(work, figure, "plan", data, script(plan, delta), alone=True)


def population_name(work: Work) -> str:
    """Display name of the sidebar's population."""
    scenario, upload = work.draw.scenario, state.uploaded()
    if scenario.dist == UPLOAD and upload is not None:
        return f"the file {upload.file_name}"
    name = DISTRIBUTIONS[scenario.dist]
    return f"{name}, s = {scenario.s:g}" if scenario.dist == "zipf" else name


def script(plan: Plan, delta: float) -> str:
    """Python for the end of a script that defines ``draw``: it computes the plan again and prints it with the
    sentences of the page."""
    settings = plan.settings
    return plan_files.script(
        settings.target,
        plan.target,
        plan.k,
        plan.epsilon,
        plan.n,
        find=settings.find,
        users=settings.users,
        worst_case=settings.worst_case,
        promise=_printed_promise(plan),
        bits=None if plan.price is None else plan.price.bits.tolist(),
        delta=delta,
    )


def _printed_promise(plan: Plan) -> str:
    """The promise of the plan as plain text without markdown, for the script to print."""
    if plan.problem:
        return f"The page said: no answer. {plan.problem}"
    if plan.settings.find == "value":
        return sentences.answer(plan).replace("*", "")
    return f"This is enough so that {promise_text(plan.settings.target)}."


def summary(plan: Plan, population: str, delta: float, date: str) -> str:
    """The plan on one page of paper, as HTML.

    Args:
        plan: the plan.
        population: display name of the assumed population; may come from an uploaded file.
        delta: delta of the guarantee after shuffling.
        date: the day, as text.
    """
    page = downloads.template(Path(__file__).with_name("summary.html").read_text("utf-8"), bold=_bold)
    return page.render(
        answer=sentences.answer(plan),
        meaning=sentences.meaning(plan),
        settings=_summary_settings(plan, population),
        sections=[
            SummarySection(
                "The price of privacy",
                sentences.price_sentence(plan),
                ("Privacy", "ε", "Users needed", "Compared to the first row"),
                sentences.price_rows(plan),
            ),
            SummarySection(
                "Should it be k-RR at all?",
                sentences.protocol_sentence(plan),
                ("Protocol", "RMSE per category", "Users for the same error", "Bits per report (coded)"),
                [sentences.protocol_cells(row) for row in sentences.compared_protocols(plan)],
            ),
            SummarySection(
                "How far from the best possible?", sentences.bounds_sentence(sentences.bound_curves(plan))
            ),
            SummarySection(
                "If the reports are shuffled",
                sentences.shuffling_sentence(plan, shuffled(plan.epsilon, plan.n, delta)),
            ),
        ],
        date=date,
    )


def _bold(markdown: str) -> Markup:
    """Markdown with bold words only, as HTML."""
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(markdown.replace("\\*", "*"))))


def _summary_settings(plan: Plan, population: str) -> list[tuple[str, str]]:
    settings, mechanism = plan.settings, RandomizedResponse(plan.k, plan.epsilon)
    guess = "the worst case over all populations" if settings.worst_case else population
    target = "what is reachable" if settings.find == "value" else promise_text(settings.target)
    return [
        ("Categories K", f"{plan.k:,}"),
        (
            "Privacy ε",
            f"{budget(plan.epsilon)} (p = {percent(mechanism.p, 4)}, q = {percent(mechanism.q, 4)})",
        ),
        ("Users N", number_of_users(plan.n)),
        ("Target", target[0].upper() + target[1:]),
        ("Reached by the plan", _reached(plan)),
        ("Population", guess),
        ("Whose shares", WHOSE[settings.users].lower()),
    ]


def _reached(plan: Plan) -> str:
    kind = plan.settings.kind
    if math.isinf(plan.value) or (kind == "smallest" and plan.value > 1):
        return "nothing by the bounds used here"
    value = f"probability at least {at_least(plan.value)}" if kind == "top" else at_most(plan.value, 4)
    return f"{value} ({plan.settings.about.measure})"
