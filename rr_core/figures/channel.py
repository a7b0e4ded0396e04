"""A channel: the table of its chances, what its reports say about the truth, and how fast IBU comes near MLE."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures import style
from rr_core.figures.estimators import GROUPED, GROUPED_UP_TO, TRUTH, hatched, hover, without_towers
from rr_core.figures.film import Frame, film
from rr_core.figures.geometry_triangle import names_in_hover, triangle_figure, triangle_outline
from rr_core.figures.view import Bars, bars, natural_order
from rr_core.geometry.simplex import CORNERS, FRAME, from_plane
from rr_core.geometry.simplex import to_plane as triangle_plane
from rr_core.plain_text import plain
from rr_core.protocols import Channel, ChannelCollection, InformationBounds, MaximumLikelihood
from rr_core.protocols.collection import IBURecord
from rr_core.rounding import counted, factor, number, odds, percent, round_down, round_up
from rr_core.words.phrases import certificate, off_by

_INV, _MLE, _IBU = style.QUANTITIES["inv"], style.MLE, style.QUANTITIES["ibu"]
_LONGEST_NAME = 14
_FLOOR = 1e-16  # lowest value on a logarithmic axis
_ROUNDING = 1e-12  # of an epsilon, of a condition number, and of Inv relative to its largest entry
_GRID_POINTS = 90  # along each side of the triangle's picture
_MOST_NAMED = 40  # rows and columns whose names go with every cell
_NEARLY_ALL = 0.999  # a larger chance is not written with more digits in a cell
_MOST_TEXTS = 12  # rows and columns of a table whose cells say their chance
_MOST_ACROSS = 5  # numbers below a larger one, which on a phone would else stand upright


def channel_estimates(
    truth: Array | None,
    observed: Array | None,
    inv: Array | None,
    mle: MaximumLikelihood,
    labels: Sequence[str] | None,
) -> go.Figure:
    """Truth, reports (None where they are no categories) and estimates by category, all (k,)."""
    view = bars(natural_order(mle.theta.size), labels, "Category")
    few = view.categories.size <= GROUPED_UP_TO
    traces = []
    if truth is not None:
        traces.append(_bar(view, "Truth", truth, {"color": TRUTH.colour}))
    if observed is not None and few:
        traces.append(_bar(view, "Reports", observed, {"color": style.QUANTITIES["observed"].colour}))
    for look, values in ((_INV, inv), (_MLE, mle.theta)):
        if values is None:
            continue
        if few:
            marker = {"color": look.colour, **(hatched(values) if look is _INV else {})}
            traces.append(_bar(view, look.name, values, marker))
        else:
            traces.append(view.marks(look.name, values, hover(look.name, values), marker=look.marker(6)))
    y = style.axis("Share of users", tickformat=style.SHARE)
    reading = _reading(truth, inv, mle)
    if inv is not None:
        highest = float(max(values.max() for values in (mle.theta, truth, observed) if values is not None))
        reading += without_towers(y, inv, highest)
    return style.figure(traces, view.axis(), y, reading, **GROUPED)


def _bar(view: Bars, name: str, values: Array, marker: dict[str, Any]) -> dict[str, Any]:
    return view.bars(name, view.pick(values), hover(name, values), marker=marker)


def _reading(truth: Array | None, inv: Array | None, mle: MaximumLikelihood) -> str:
    zeros = int((mle.theta == 0).sum())
    said = f"MLE sets {zeros:,} of {mle.theta.size:,} categories to zero"
    if inv is not None:
        negatives = int((inv < -_ROUNDING * np.abs(inv).max()).sum())
        said = f"Inv has {counted(negatives, 'negative') if negatives else 'no negative'}; {said}"
    if truth is None:
        return f"{said}{'' if inv is not None else '; there is no unbiased estimate'}."
    off = off_by(mle.theta, truth)
    if inv is None:
        return f"In this draw MLE is off by {off} from the truth; there is no unbiased estimate. {said}."
    return f"In this draw Inv is off by {off_by(inv, truth)} from the truth, MLE by {off}. {said}."


def channel_sentences(
    collected: ChannelCollection, truths: Sequence[str], reports: Sequence[str]
) -> list[str]:
    """What a channel grants, whether it identifies the truth, and how exact MLE is: one sentence each."""
    channel = collected.channel
    mle = f"No shares make these reports more likely than MLE: its certificate is {certificate(collected.mle.gap)}."
    return [_privacy(channel, truths, reports), _identification(channel), mle]


def _privacy(channel: Channel, truths: Sequence[str], reports: Sequence[str]) -> str:
    if channel.epsilon < _ROUNDING and not channel.identified:
        return "It grants ε = 0: reports do not depend on the truth at all."
    if np.isfinite(channel.epsilon):
        granted = (
            f"It grants ε = {number(round_up(channel.epsilon))}: no report is more than {odds(channel.epsilon)} times as "
            "likely under one truth as under another."
        )
        step = channel.epsilon_per_step
        near = channel.k > 2 and step < 0.999 * channel.epsilon
        return granted + (f" Between neighbours it is ε = {number(round_up(step))}." if near else "")
    zeros = (channel.matrix == 0) & channel.possible
    truth, report = (int(i) for i in np.argwhere(zeros)[0])
    return f"It grants no ε: report “{reports[report]}” rules out the truth “{truths[truth]}”."


def _identification(channel: Channel) -> str:
    if channel.identified:
        enlarged = (
            f"{factor(channel.condition_number)} times " if channel.condition_number > 1 + _ROUNDING else ""
        )
        return (
            f"It tells all {channel.k:,} categories apart. The relative error of Inv is at most {enlarged}that of the "
            "reports (condition number)."
        )
    return (
        f"It cannot tell all {channel.k:,} categories apart (rank {channel.rank:,}): there is no unbiased estimate, and "
        "other shares may fit as well as this MLE."
    )


def channel_table(channel: Channel, truths: Sequence[str], reports: Sequence[str]) -> go.Figure:
    """The matrix as a picture: a row per truth, a column per report, darker where the chance is larger."""
    truths, reports = ([html.escape(plain(name), quote=False) for name in some] for some in (truths, reports))
    matrix = channel.matrix
    small, chance = max(matrix.shape) <= _MOST_TEXTS, style.share_format(matrix)
    gap = 1 if max(matrix.shape) <= _MOST_NAMED else 0  # on a phone a hundred gaps would hide the cells
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": matrix if max(matrix.shape) <= _MOST_NAMED else matrix.astype(np.float32),
        "zmin": 0.0,
        "zmax": 1.0 if small else float(matrix.max()),  # in a large table all chances may be small
        "colorscale": [[0.0, "#F4F9FD"], [0.5, style.QUANTITIES["observed"].colour], [1.0, "#003B66"]],
        "showscale": not small,
        "colorbar": {
            "tickformat": style.SHARE,
            "tickfont": {"size": 14},
            "title": {"text": "Chance", "font": {"size": 14}},
        },
        "xgap": gap,
        "ygap": gap,
        "x": np.arange(1, channel.m + 1),
        "y": np.arange(1, channel.k + 1),
        "hovertemplate": f"truth %{{y}}, report %{{x}}: %{{z:{chance}}}<extra></extra>",
    }
    if max(matrix.shape) <= _MOST_NAMED:
        trace["customdata"] = np.array(np.meshgrid(reports, truths)).transpose(1, 2, 0)
        trace["hovertemplate"] = (
            f"truth %{{customdata[1]}}<br>report %{{customdata[0]}}: %{{z:{chance}}}<extra></extra>"
        )
    if small:
        texts = [[_in_cell(chance) for chance in row] for row in matrix.tolist()]
        trace |= {"text": texts, "texttemplate": "%{text}", "textfont": {"size": 14}}
    low, high = percent(float(matrix.min())), percent(float(matrix.max()))
    reading = f"Each row is one truth and sums to 100%; its chances are from {low} to {high}."
    x = style.axis("Report", **_ticks(reports, _MOST_TEXTS if small else _MOST_ACROSS), showgrid=False)
    y = style.axis("Truth", **_ticks(truths, _MOST_TEXTS), showgrid=False, autorange="reversed")
    return style.figure([trace], x, y, reading, height=380, margin={"l": 110, "r": 14, "t": 20, "b": 80})


def _in_cell(chance: float) -> str:
    """A chance with two digits; one below 1 is never written as 100%."""
    return percent(chance, 2) if chance <= _NEARLY_ALL or chance == 1 else f">{percent(_NEARLY_ALL)}"


def _ticks(names: Sequence[str], most: int) -> dict[str, Any]:
    stride = -(-len(names) // most)
    shown = list(range(0, len(names), stride))
    texts = [
        names[i] if len(names[i]) <= _LONGEST_NAME else names[i][: _LONGEST_NAME - 1] + "…" for i in shown
    ]
    return {"tickmode": "array", "tickvals": [i + 1 for i in shown], "ticktext": texts, "automargin": True}


def channel_convergence(record: IBURecord, mle: MaximumLikelihood, tolerance: float) -> go.Figure:
    """The certificate of IBU after some numbers of iterations, and that of MLE after its steps."""
    iterations, gaps = record.iterations[1:], record.gaps[1:]
    steps = max(mle.iterations, 1)
    traces = [
        style.line_trace(
            "IBU", iterations, np.maximum(gaps, _FLOOR), "%{x:,} iterations: %{y:.2~e}", line=_IBU.line(3)
        ),
        style.mark_trace(
            "MLE", [steps], [max(mle.gap, _FLOOR)], "%{x:,} steps: %{y:.2~e}", marker=_MLE.marker(14)
        ),
    ]
    reached = np.flatnonzero(gaps <= tolerance)
    near = number(tolerance)
    if reached.size:
        first = int(iterations[reached[0]])
        fewer = " or fewer" if first > 1 else ""
        ends = f"After {counted(first, 'iteration')}{fewer} no factor of IBU is above 1 by more than {near}"
    else:
        left, most = number(round_up(float(gaps[-1]))), f"{int(iterations[-1]):,}"
        ends = f"After {most} iterations a factor of IBU is still above 1, by no more than {left}"
    reading = f"{ends}; none of MLE's by more than {number(round_up(mle.gap))} after {counted(mle.iterations, 'step')}."
    top = float(np.log10(iterations[-1]))
    x = style.axis("Iterations (logarithmic)", type="log", range=[-0.05, top + 0.05], dtick=1, **style.COUNT)
    y = style.axis("Certificate: largest factor − 1", type="log", dtick=3, exponentformat="power")
    return style.figure(traces, x, y, reading, height=380)


def bounds_bars(found: InformationBounds, n: int) -> go.Figure:
    """What Inv reaches, what any estimate can reach, and what two theorems prove, as squared errors."""
    best, left = "The best, for many users", "Many users, by entropy"
    rows: list[tuple[str, float, Callable[[float], str], str]]
    if found.is_exact:
        rows = [("Inv, and the best for many users", found.inv, number, _MLE.colour)]
        left += ": at least"
    else:
        rows = [("Inv", found.inv, number, _INV.colour), (f"{best}: about", found.exact, number, _MLE.colour)]
        left += ": about"
    rows += [
        (left, found.entropy, _down if found.is_exact else number, style.QUANTITIES["inv_p"].colour),
        ("Many users, by ε alone: at least", found.epsilon, _down, style.QUANTITIES["truth"].colour),
    ]
    shown = [row for row in rows if row[1] > 0]
    errors = np.array([value / n for _, value, *_ in shown])
    trace = style.bar_trace(
        "",
        errors,
        [name for name, *_ in shown],
        "%{y}: %{x:.3~g}",
        orientation="h",
        marker={"color": [colour for *_, colour in shown]},
        text=[words(value / n) for _, value, words, _ in shown],
        textposition="auto",
        textfont={"size": 14},
    )
    parts = [found.entropy / found.exact, found.epsilon / found.exact]
    by_entropy, by_epsilon = (percent(min(round_down(part), 1.0)) for part in parts)
    if found.is_exact:
        reading = (
            f"With N = {n:,} the mean squared error of Inv is {number(found.inv / n)}. This table has as many possible "
            f"reports as truths: with more and more users no estimate has less. The entropy proves {by_entropy} of it"
        )
    else:
        reading = (
            f"With N = {n:,}, if that is many, the least mean squared error of any estimate is about "
            f"{number(found.exact / n)}, by simulation; Inv's is {number(found.inv / n)}. The entropy gives about "
            f"{percent(min(parts[0], 1.0), 2)} of the least"
        )
        by_epsilon = f"about {percent(min(parts[1], 1.0), 2)}"
    reading += f", ε alone {by_epsilon}" if found.epsilon else ""
    x = style.log_axis("Mean squared error, summed over categories (logarithmic)", [errors], number)
    y = style.axis("What", autorange="reversed", automargin=True)
    return style.figure([trace], x, y, f"{reading}.", height=300, showlegend=False, bargap=0.35)


def _down(value: float) -> str:
    return number(round_down(value))


def channel_film(collected: ChannelCollection, labels: Sequence[str] | None) -> go.Figure:
    """IBU on its way to MLE, iteration by iteration, as a film; of at most GROUPED_UP_TO categories."""
    record, best = collected.ibu, collected.mle.theta
    view = bars(natural_order(best.size), labels, "Category")
    at_first, of_all = record.thetas[0].astype(np.float32), hover("IBU", record.thetas)
    traces = [
        view.bars("IBU", at_first, of_all, marker={"color": _IBU.colour}),
        view.marks("MLE", best, hover("MLE", best), marker=_MLE.marker(11)),
    ]
    frames = [
        Frame(
            f"{n:,}",
            f"iteration <b>{n:,}</b><br>certificate: {number(round_up(max(float(gap), 0.0)))}",
            [{"type": "bar", "y": theta.astype(np.float32)}],
        )
        for n, theta, gap in zip(record.iterations.tolist(), record.thetas, record.gaps, strict=True)
    ]
    away = off_by(record.thetas[-1], best)
    reading = f"Bars: IBU, from equal shares on; dots: MLE. After {frames[-1].name} iterations they differ by {away}."
    y = style.axis(
        "Share of users",
        tickformat=style.SHARE,
        range=[0, 1.05 * float(max(best.max(), record.thetas.max()))],
    )
    return film(traces, view.axis(), y, reading, frames, [0], bargap=0.3)


def channel_triangle(collected: ChannelCollection, truth: Array | None, names: Sequence[str]) -> go.Figure:
    """Three categories: IBU's way across the curves of equal likelihood, with Inv, MLE and the truth."""
    names = names_in_hover(names)
    record, inv = collected.ibu, collected.inv
    path = triangle_plane(record.thetas)
    points = [(_MLE, collected.mle.theta)]
    if truth is not None:
        points.append((replace(TRUTH, symbol="diamond"), truth))
    if inv is not None and FRAME.contains(triangle_plane(inv)):
        points.append((_INV, inv))
    traces: list[dict[str, Any]] = [
        _likelihood(collected),
        triangle_outline(),
        style.line_trace(
            "IBU",
            path[:, 0],
            path[:, 1],
            "iteration %{customdata:,}",
            mode="lines+markers",
            customdata=record.iterations,
            line={"color": _IBU.colour, "width": 2.5},
            marker={"color": _IBU.colour, "size": 5},
        ),
    ]
    for look, shares in points:
        x, y = triangle_plane(shares)
        listed = "<br>".join(
            f"{of}: {percent(float(share))}" for of, share in zip(names, shares, strict=True)
        )
        marker = look.marker(15, line={"width": 2, "color": style.RIM})
        traces.append(style.mark_trace(look.name, [x], [y], f"{look.name}<br>{listed}", marker=marker))
    outside = inv is not None and not FRAME.contains(triangle_plane(inv))
    away = number(float(np.linalg.norm(path[-1] - triangle_plane(collected.mle.theta))))
    still = record.gaps[0] < _ROUNDING
    way = (
        "stays there, for no shares fit the reports better than equal ones."
        if still
        else f"climbs across the curves of equal likelihood: after {record.iterations[-1]:,} iterations it is {away} "
        "away from MLE."
    )
    reading = f"IBU starts in the middle and {way}{' Inv lies outside the picture.' if outside else ''}"
    return triangle_figure(traces, names, FRAME, reading)


def _likelihood(collected: ChannelCollection) -> dict[str, Any]:
    """Curves of equal likelihood within the triangle."""
    (left, bottom), (right, top) = CORNERS.min(axis=0), CORNERS.max(axis=0)
    x, y = np.linspace(left, right, _GRID_POINTS), np.linspace(bottom, top, _GRID_POINTS)
    shares = from_plane(np.stack(np.meshgrid(x, y), axis=-1))
    inside = shares.min(axis=-1) >= -1e-9
    seen = np.maximum(shares, 0.0) @ collected.channel.matrix
    phi = collected.phi
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = np.where(phi > 0, phi * np.log(seen), 0.0).sum(axis=-1)
    short = np.sqrt(np.maximum(fit[inside].max(initial=-np.inf) - fit, 0.0))
    short = np.where(inside & np.isfinite(short), short, np.nan)
    return {
        "type": "contour",
        "name": "Same likelihood",
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "z": short.astype(np.float32),
        "ncontours": 14,
        "contours": {"coloring": "none"},
        "line": {"color": _MLE.faded(0.6), "width": 1},
        "showscale": False,
        "hoverinfo": "skip",
    }
