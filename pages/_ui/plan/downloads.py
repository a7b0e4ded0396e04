"""The downloads of the plan page: a summary on one page of paper, the map as data and chart, and a script."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages._ui import downloads, state
from pages._ui.plan import sentences
from pages._ui.work import Work
from rr_core.figures.plan_sentences import at_least, at_most, budget, number_of_users, promise_text
from rr_core.figures.style import percent
from rr_core.figures.wording import capital
from rr_core.io.text import csv_bytes
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import WHOSE
from rr_core.plan.landscape import Landscape, Plan
from rr_core.plan.shuffling import shuffled
from rr_core.plan.targets import Target
from rr_core.populations import DISTRIBUTIONS, UPLOAD


def section(work: Work, plan: Plan, landscape: Landscape, figure: go.Figure, delta: float) -> None:
    """The button of the summary in a row of its own, then those of data, chart and script."""
    st.subheader("Take it with you")
    downloads.button(
        "One-page summary (HTML)",
        lambda: summary(plan, population_name(work), delta, f"{datetime.now(UTC):%Y-%m-%d}"),
        "plan_summary.html",
        "plan_summary",
        type="primary",
        width="content",
    )
    target = plan.target or plan.settings.target
    data = partial(map_csv, landscape, target)
    downloads.row(work, figure, "plan", data, delta=delta)


def map_csv(landscape: Landscape, target: Target) -> bytes:
    """One row per cell of the map that is worked out, not interpolated: epsilon, how many users, and what is achieved
    there, with its unit, which quantity it is, and the probability that is promised for it (empty for an average)."""
    exact = ~landscape.interpolated
    epsilons, users = (axis[exact] for axis in np.meshgrid(landscape.epsilons, landscape.users))
    about = target.about
    named = f", {target.share:.10g} of users" if target.kind == "share" else ""
    promised = about.has_confidence and target.kind != "top"
    return csv_bytes(
        {
            "epsilon_nats": epsilons,
            "n_users": users,
            "achieved": landscape.values[exact],
            "unit": np.full(users.size, about.unit),
            "quantity": np.full(users.size, about.measure + named),
            "probability": np.full(users.size, target.confidence if promised else ""),
        }
    )


def population_name(work: Work) -> str:
    """Display name of the sidebar's population."""
    scenario, upload = work.draw.scenario, state.uploaded()
    if scenario.dist == UPLOAD and upload is not None:
        return f"the file {upload.file_name}"
    name = DISTRIBUTIONS[scenario.dist]
    return f"{name}, s = {scenario.s:g}" if scenario.dist == "zipf" else name


def summary(plan: Plan, population: str, delta: float, date: str) -> str:
    """The plan on one page of paper, as HTML.

    Args:
        plan: the plan.
        population: display name of the assumed population; may come from an uploaded file.
        delta: delta of the guarantee after shuffling.
        date: the day, as text.
    """
    return downloads.printed(
        title="Plan of a survey with randomized response",
        heading="Plan of a survey with k-ary randomized response",
        answer=sentences.answer(plan),
        meaning=sentences.meaning(plan),
        settings=_summary_settings(plan, population),
        sections=[
            downloads.Section(
                "The price of privacy",
                sentences.price_sentence(plan),
                ("Privacy", "ε", "Users needed", "Compared to the first row"),
                sentences.price_rows(plan),
            ),
            downloads.Section(
                "Should it be k-RR at all?",
                sentences.protocol_sentence(plan),
                ("Protocol", "RMSE per category", "Users for the same error", "Bits per report (coded)"),
                [sentences.protocol_cells(row) for row in sentences.compared_protocols(plan)],
            ),
            downloads.Section(
                "How far from the best possible?", sentences.bounds_sentence(sentences.bound_curves(plan))
            ),
            downloads.Section(
                "If the reports are shuffled",
                sentences.shuffling_sentence(plan, shuffled(plan.epsilon, plan.n, delta)),
            ),
        ],
        footer=f"Made on {date}. Each person sends one randomized report; their true answer stays with them.",
    )


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
        ("Target", capital(target)),
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
