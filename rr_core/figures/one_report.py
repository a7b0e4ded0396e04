"""One person's reports: the channel matrix, and what an onlooker believes before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from rr_core._validate import Array
from rr_core.figures.style import QUANTITIES, SHARE, axis, figure, number, percent
from rr_core.figures.view import Bars
from rr_core.mechanism import RandomizedResponse

LARGEST_MATRIX = 30


def channel(mechanism: RandomizedResponse, names: list[str]) -> go.Figure:
    """Heat map of Pr(report | truth) for small k: a bright diagonal p on an even ground q."""
    matrix = mechanism.matrix()
    heat = {
        "type": "heatmap",
        "z": matrix,
        "x": names,
        "y": names,
        "zmin": 0,
        "zmax": 1,
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": "probability"}, "tickformat": SHARE, "thickness": 14},
        "text": np.where(np.eye(mechanism.k, dtype=bool), percent(mechanism.p), percent(mechanism.q)),
        "hovertemplate": "truth %{y} → report %{x}<br>probability %{text}<extra></extra>",
        "texttemplate": "%{text}" if mechanism.k <= 12 else "",
    }
    reading = (
        f"Whatever the truth (row), the report (column) is right with probability p = {percent(mechanism.p)} "
        f"and each wrong category has q = {percent(mechanism.q)}."
    )
    x = axis("Report", type="category", showgrid=False, automargin=True)
    y = axis("Truth", type="category", autorange="reversed", showgrid=False, automargin=True)
    return figure([heat], x, y, reading, height=440)


def belief(
    prior: ArrayLike, beliefs: Sequence[Array], reports: Sequence[int], truth: int, view: Bars
) -> go.Figure:
    """What an onlooker who knows the population believes of one person: before, after the first report, after all.

    Args:
        prior: (k,) shares of the population.
        beliefs: (k,) after the first report, after the first two, and so on.
        reports: what was reported, as many.
        truth: the person's own category.
        view: which categories to draw.
    """
    truth_colour, blue = QUANTITIES["truth"].colour, QUANTITIES["observed"]
    shown = [("before any report", view.pick(prior), truth_colour)]
    if len(reports) > 1:
        shown.append(("after the first report", view.pick(beliefs[0]), blue.faded(0.45)))
    last = f"after all {len(reports)} reports" if len(reports) > 1 else "after the report"
    shown.append((last, view.pick(beliefs[-1]), blue.colour))
    sure = np.count_nonzero(prior) == 1
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": view.x,
            "y": values,
            "customdata": np.stack([view.names, [_believed(one, sure) for one in values.tolist()]], axis=-1),
            "marker": {"color": colour},
            "hovertemplate": "%{customdata[0]}<br>" + name + ": %{customdata[1]}<extra></extra>",
        }
        for name, values, colour in shown
    ]
    y = axis("Belief that this is the truth", tickformat=SHARE, rangemode="tozero")
    reading = _belief_reading(np.asarray(prior), beliefs, reports, truth)
    return figure(traces, view.axis(), y, reading, barmode="group", height=340)


def _believed(belief: float, sure: bool) -> str:
    """A belief as text; only who was sure before is sure after, whatever 1 - 10^-20 is rounded to."""
    return percent(belief if sure else min(belief, math.nextafter(1, 0)))


def _belief_reading(prior: Array, beliefs: Sequence[Array], reports: Sequence[int], truth: int) -> str:
    if len(reports) > 1:
        before, first, now = (
            _believed(float(one[truth]), np.count_nonzero(prior) == 1)
            for one in (prior, beliefs[0], beliefs[-1])
        )
        return (
            f"An onlooker's belief in this person's true answer is {before} before any report, {first} after the first "
            f"and {now} after all {len(reports)}."
        )
    (report,), (belief_now,) = reports, beliefs
    if prior[report] == 0:
        return (
            "Nobody in the population has what was reported: this report is noise for certain, and an onlooker's "
            "belief stays as it was."
        )
    before, now = (_believed(float(one[report]), np.count_nonzero(prior) == 1) for one in (prior, belief_now))
    moved = f"moves an onlooker's belief that it is the truth from {before} to {now}"
    about = "" if prior[report] == belief_now[report] else "about "
    stays = f"leaves an onlooker's belief that it is the truth at {about}{now}"
    return f"Seeing this report {moved if before != now else stays}."


def price(epsilon: float, answers: int) -> str:
    """What this many answers of one person, each with its own coin, can give away."""
    limit = number(math.exp(answers * epsilon), 4)
    if answers == 1:
        return (
            f"The report is at most **e^ε = {limit} times** as likely under one truth as under another, so an onlooker's "
            "odds between any two answers change by no more than that."
        )
    return (
        f"Each answer costs ε again: {answers} answers cost {answers} · ε = {number(answers * epsilon, 4)}. Together "
        f"they are at most **e^({answers}ε) = {limit} times** as likely under one truth as under another, and an "
        "onlooker's odds can change by as much."
    )
