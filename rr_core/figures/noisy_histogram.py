"""The noisy histogram with the band an observed bar should fall in; one person's reports: the channel matrix, and
what an onlooker believes before and after, and what its page says of ε (`likelier_truth`, `two_ways`,
`epsilon_cost`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from rr_core._validate import Array
from rr_core.figures import style
from rr_core.figures.view import Bars, Curve, View
from rr_core.law import Band, report_band
from rr_core.mechanism import RandomizedResponse
from rr_core.rounding import number, odds, percent, raised

TRUTH, OBSERVED, EXPECTED = (style.QUANTITIES[name] for name in ("truth", "observed", "expected"))

_ALL_WHOLE = 1000  # from which on a number of people is written without a fraction
_MOST_DIAMONDS = 60  # beyond, the expected counts are a line and their limits a band


def noisy_histogram(
    true_counts: NDArray[np.int64] | None,
    counts: NDArray[np.int64],
    mechanism: RandomizedResponse,
    view: View,
    zoom: bool = False,
) -> go.Figure:
    """True counts (k,) beside reports, with what randomized response makes us expect and a 95% band; without the users
    the reports alone. ``zoom`` lets the reports fill the height, where true bars may stick out."""
    n = int(counts.sum())
    if true_counts is None:
        if isinstance(view, Bars):
            seen, colour = view.pick(counts), {"color": OBSERVED.colour}
            traces = [view.bars("Observed reports", seen, "observed reports: %{y:,}", marker=colour)]
        else:
            traces = _observed_lines(view, counts[view.order])
        reading = (
            "The true counts are hidden. Spread evenly, the reports (blue) would be "
            f"N/K = {_people(n / mechanism.k)} in every category; a category that nobody has expects "
            f"N·q = {_people(n * mechanism.q)}."
        )
    elif isinstance(view, Bars):
        truth, seen = view.pick(true_counts), view.pick(counts)
        band = report_band(truth, n, mechanism)
        traces = _bars(view, truth, seen, band)
        inside = int(((seen >= band.low) & (seen <= band.high)).sum())
        reading = (
            "Expected counts (brown) lie between the true bars (grey) and the even share "
            f"N/K = {_people(n / mechanism.k)}; {inside} of the {len(seen)} report bars (blue) are inside their 95% "
            "band."
        )
    else:
        traces = _curve(view, true_counts[view.order], counts[view.order], n, mechanism)
        reading = (
            "Expected counts (brown) lie between the true counts (grey) and the even share "
            f"N/K = {_people(n / mechanism.k)}; no category expects fewer reports than N·q = {_people(n * mechanism.q)}."
        )
    height: dict[str, Any] = {"range": [0, 1.15 * float(counts.max())]} if zoom else {"rangemode": "tozero"}
    if zoom and true_counts is not None:
        drawn = view.pick(true_counts) if isinstance(view, Bars) else true_counts
        if drawn.max() > height["range"][1]:
            reading += f" The true counts leave the picture: they go up to {drawn.max():,}."
    y = style.axis("Users or reports (count)", **style.COUNT, **height)
    return style.figure(
        traces, view.axis(), y, reading, barmode="group", bargap=0.2, hovermode=view.hovermode
    )


def _people(many: float) -> str:
    """A mean number of people as text: all its digits, or four where these are fewer."""
    return f"{many:,.0f}" if many >= _ALL_WHOLE else number(many, 4)


def _bars(view: Bars, truth: Any, seen: Any, band: Band) -> list[dict[str, Any]]:
    names = view.names
    moved = [f"{change:+,}".replace("-", "−") for change in (seen - truth).tolist()]
    bars = [
        view.bars("True users", truth, "true users: %{y:,}", marker={"color": TRUTH.colour}),
        style.bar_trace(
            "Observed reports",
            view.x,
            seen,
            "%{customdata[0]}<br>observed reports: %{y:,}<br>moved by the noise: %{customdata[1]}",
            customdata=np.stack([names, moved], axis=-1),
            marker={"color": OBSERVED.colour},
        ),
    ]
    if len(names) <= _MOST_DIAMONDS:
        return [*bars, _diamonds(view, band)]
    x, clear = view.x + 0.2, {"color": EXPECTED.colour, "width": 0, "shape": "hvh"}
    fill = {"fill": "tonexty", "fillcolor": EXPECTED.faded(0.3)}
    return [
        *bars,
        style.line_trace("95% band", x, band.high, "", line=clear, showlegend=False),
        style.line_trace("95% band of a report bar", x, band.low, "", line=clear, **fill),
        style.line_trace("Expected reports", x, band.expected, "", line={**clear, "width": 1.5}),
    ]


def _diamonds(view: Bars, band: Band) -> dict[str, Any]:
    limits = [f"{low:,.0f} to {high:,.0f}" for low, high in zip(band.low, band.high, strict=True)]
    low, high = band.expected - band.low, band.high - band.expected
    return style.mark_trace(
        "Expected reports, 95% band",
        view.x + 0.19,
        band.expected,
        "%{customdata[0]}<br>expected: %{y:,.1f}<br>95% band: %{customdata[1]}",
        customdata=np.stack([view.names, limits], axis=-1),
        marker=EXPECTED.marker(8, line={"width": 2, "color": EXPECTED.colour}),
        error_y=style.whiskers(low, high, color=EXPECTED.colour, thickness=1.8, width=5),
    )


def _curve(view: Curve, truth: Any, seen: Any, n: int, mechanism: RandomizedResponse) -> list[dict[str, Any]]:
    smallest, largest = view.low(truth), view.high(truth)
    low, high = report_band(smallest, n, mechanism).low, report_band(largest, n, mechanism).high
    line = partial(_count_line, view)
    expected = mechanism.q * n + mechanism.keep * view.mean(truth)
    return [
        {**line("95% band", high, "rgba(0,0,0,0)", "solid", 0), "showlegend": False, "hoverinfo": "skip"},
        {
            **line("95% band of a bar", low, "rgba(0,0,0,0)", "solid", 0),
            "fill": "tonexty",
            "fillcolor": TRUTH.faded(0.25),
            "hoverinfo": "skip",
        },
        line("True users", view.mean(truth), TRUTH.colour, "solid", 3),
        *_observed_lines(view, seen),
        line("Expected reports", expected, EXPECTED.colour, EXPECTED.dash, 2),
    ]


def _observed_lines(view: Curve, seen: Any) -> list[dict[str, Any]]:
    """Mean, lowest and highest number of reports in each bin, of ``seen`` in the order of the view."""
    return [
        _count_line(view, "Observed reports", view.mean(seen), OBSERVED.colour, "solid", 2.5),
        _count_line(view, "Lowest of neighbours", view.low(seen), OBSERVED.faded(0.7), "dot", 1),
        _count_line(view, "Highest of neighbours", view.high(seen), OBSERVED.faded(0.7), "dot", 1),
    ]


def _count_line(view: Curve, name: str, y: Any, colour: str, dash: str, width: float) -> dict[str, Any]:
    return view.line(name, y, "%{y:,.1~f}", color=colour, dash=dash, width=width)


def likelier_truth(mechanism: RandomizedResponse) -> str:
    """What ε says of a report, in a sentence: p / q = e^ε."""
    return (
        f"The truth is {odds(mechanism.epsilon)} times (eᵋ) as likely to be reported as any one other category: "
        f"{percent(mechanism.p)} against {percent(mechanism.q)}."
    )


def two_ways(mechanism: RandomizedResponse) -> str:
    """How p comes from ε, and the two ways in which a report can be true: p = (p − q) + q."""
    parts, others = odds(mechanism.epsilon), mechanism.k - 1
    return (
        f"Give the truth eᵋ parts and each other category 1: the truth has {parts} / ({parts} + {others:,}) = "
        f"{percent(mechanism.p)}. Of these, {percent(mechanism.keep)} because the coin says so, and "
        f"{percent(mechanism.q)} by accident, as often as any other category."
    )


LARGEST_MATRIX = 30
_MOST_NUMBERS = 6  # categories whose cells have room for a number on a phone
_RIM = {"color": "#000000", "width": 2}  # on the bright end of the colours, in a light and a dark theme


def channel(mechanism: RandomizedResponse, names: list[str]) -> go.Figure:
    """Heat map of Pr(report | truth) for small k: a bright diagonal p on an even ground q; its colours end at p. The
    diagonal has a rim: at a small epsilon p and q are nearly equal, and so are their colours."""
    matrix = mechanism.matrix()
    heat = {
        "type": "heatmap",
        "z": matrix,
        "x": names,
        "y": names,
        "zmin": 0,
        "zmax": mechanism.p,
        "colorscale": "Cividis",
        "showscale": False,  # there are two values, and the reading has both
        "text": np.where(np.eye(mechanism.k, dtype=bool), percent(mechanism.p), percent(mechanism.q)),
        "hovertemplate": "truth %{y} → report %{x}<br>probability %{text}<extra></extra>",
        "texttemplate": "%{text}" if mechanism.k <= _MOST_NUMBERS else "",
    }
    reading = (
        f"Whatever the truth (row), the report (column) is right with probability p = {percent(mechanism.p)} "
        f"and each wrong category has q = {percent(mechanism.q)}."
    )
    x = style.axis("Report", type="category", showgrid=False, automargin=True)
    y = style.axis("Truth", type="category", autorange="reversed", showgrid=False, automargin=True)
    rims = [
        {"type": "rect", "x0": i - 0.5, "x1": i + 0.5, "y0": i - 0.5, "y1": i + 0.5, "line": _RIM}
        for i in range(mechanism.k)
    ]
    return style.figure([heat], x, y, reading, height=440, shapes=rims)


def belief(
    prior: ArrayLike, beliefs: Sequence[Array], reports: Sequence[int], truth: int, view: Bars
) -> go.Figure:
    """Posterior (k,) of an observer who knows the population, before any report, after the first, and after all."""
    truth_colour, blue = style.QUANTITIES["truth"].colour, style.QUANTITIES["observed"]
    shown = [("before any report", view.pick(prior), truth_colour)]
    if len(reports) > 1:
        shown.append(("after the first report", view.pick(beliefs[0]), blue.faded(0.45)))
    last = f"after all {len(reports)} reports" if len(reports) > 1 else "after the report"
    shown.append((last, view.pick(beliefs[-1]), blue.colour))
    sure = np.count_nonzero(prior) == 1
    traces = [
        style.bar_trace(
            name,
            view.x,
            values,
            "%{customdata[0]}<br>" + name + ": %{customdata[1]}",
            customdata=np.stack([view.names, [_believed(one, sure) for one in values.tolist()]], axis=-1),
            marker={"color": colour},
        )
        for name, values, colour in shown
    ]
    y = style.axis("Belief that this is the truth", tickformat=style.SHARE, rangemode="tozero")
    reading = _belief_reading(np.asarray(prior), beliefs, reports, truth)
    return style.figure(traces, view.axis(), y, reading, barmode="group", height=340)


def _believed(belief: float, sure: bool) -> str:
    """A belief as text. Only an onlooker who was certain before any report (``sure``) gets 100%; another belief that a
    double rounds to 1 is written as slightly less."""
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
    moved = (
        f"moves an onlooker's belief that it is the truth from {before}, its share of all, to {now}: of those who "
        "report it, about that many really have it"
    )
    about = "" if prior[report] == belief_now[report] else "about "
    stays = f"leaves an onlooker's belief that it is the truth at {about}{now}"
    return f"Seeing this report {moved if before != now else stays}."


def epsilon_cost(epsilon: float, answers: int) -> str:
    """What this many answers of one person, each with its own coin, can give away."""
    limit = odds(answers * epsilon)
    if answers == 1:
        return (
            "The odds say how many times as likely one truth is as another. One answer changes an onlooker's odds by at "
            f"most **eᵋ = {limit} times**. A second answer of the same person costs ε again, and the factors multiply: "
            f"**e²ᵋ = {odds(2 * epsilon)} times**."
        )
    return (
        f"Each answer costs ε again: {answers} answers cost {answers} · ε = {number(answers * epsilon, 4)}. Together "
        f"they are at most **e{raised(answers)}ᵋ = {limit} times** as likely under one truth as under another, and an "
        "onlooker's odds can change by as much, towards the truth or away from it."
    )
