"""IBU's way to MLE*: an animation that plays in the browser, error curves, which categories come last, and the way
through a triangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures import geometry_triangle as triangle
from rr_core.figures import style
from rr_core.figures.estimators import hover, line
from rr_core.figures.film import Frame, film
from rr_core.figures.view import Bars, View
from rr_core.geometry.simplex import FRAME, ThreeEstimates, likelihood_curves, to_plane
from rr_core.ibu.convergence import TOLERANCES, RunComparison, SettlingTimes
from rr_core.ibu.path import IBUPath
from rr_core.rounding import counted, number, percent

IBU, MLE, OBSERVED = style.QUANTITIES["ibu"], style.QUANTITIES["mle_star"], style.QUANTITIES["observed"]
# Below this a squared distance or a gap is rounding, and a logarithmic axis would show little else.
_FLOOR = 1e-15
_ROUNDING = 1e-12  # of a certificate, which is a difference from 1


def convergence_curves(path: IBUPath, tolerance: float) -> go.Figure:
    """Largest factor - 1, gap and squared distance against iterations, with the tolerance as a line."""
    lines = (
        ("largest factor − 1 (can be computed)", path.certificate, "solid", 3.5),
        ("true gap in likelihood (needs MLE*)", path.log_likelihood_gap, "dash", 2.5),
        ("squared distance to MLE*", path.squared_distance, "dot", 2.5),
    )
    traces = [
        _line(name, path.iterations, values, {"color": IBU.colour, "dash": dash, "width": width})
        for name, values, dash, width in lines
    ]
    reading = (
        "A gap of 0.01: MLE* makes a report 1% likelier, on average. "
        "Horizontal line: "
        f"{number(tolerance)}, near enough."
    )
    if (path.certificate[1:] > 1.01 * path.certificate[:-1] + _ROUNDING).any():
        reading += (
            " On its way down the largest factor rises for a while, where that of one category grows past the others; "
            "the gap never does, so what was allowed before still holds."
        )
    if (np.diff(path.squared_distance) > _FLOOR).any():
        reading += " The likelihood never falls, yet the squared distance rises for a while."
    y = _log_axis("Largest factor − 1; gap; squared distance", [values for _, values, _, _ in lines])
    return style.figure(
        traces,
        _iterations_axis(path.iterations),
        y,
        reading,
        hovermode="x unified",
        shapes=[_tolerance_line(tolerance)],
    )


def compared_runs(
    runs: RunComparison, about: str, tolerance: float, *, logarithmic: bool = True
) -> go.Figure:
    """Squared distance to MLE* against iterations for at most six privacy budgets, in increasing order; the tolerance
    is marked by a line. Axes are linear, as printed in the paper, or powers of ten."""
    names = [f"ε = {scenario.epsilon:g}" for scenario in runs.scenarios]
    traces = [
        _line(name, runs.iterations, distance, look, logarithmic=logarithmic)
        for name, distance, look in zip(names, runs.squared_distance, style.SERIES, strict=False)
    ]
    if logarithmic:
        x = _iterations_axis(runs.iterations)
        y = _log_axis("Squared distance to MLE*", list(runs.squared_distance))
    else:
        x = style.axis("Iterations", **style.COUNT, range=[0, int(runs.iterations[-1])])
        y = style.axis("Squared distance to MLE*", rangemode="tozero")
    reading = f"{about}. {_epsilon_reading(runs, names, tolerance)}"
    return style.figure(traces, x, y, reading, hovermode="x unified", shapes=[_tolerance_line(tolerance)])


def _epsilon_reading(runs: RunComparison, names: Sequence[str], tolerance: float) -> str:
    """Whether a smaller epsilon needs more iterations, and how many each needs."""
    last = int(runs.iterations[-1])
    needed = runs.iterations_to_tolerance[:, TOLERANCES.index(tolerance)]
    each = ", ".join(
        f"{f'more than {last:,}' if np.isnan(many) else f'{many:,.0f}'} at {name}"
        for many, name in zip(needed, names, strict=True)
    )
    return f"{_order(needed)}Iterations to a squared distance of {number(tolerance)} from MLE*: {each}."


def _order(needed: Array) -> str:
    """Whether the iterations needed (nan: the run was too short) decrease with epsilon, in a sentence."""
    # Of two runs that did not reach the tolerance it is not known which needs more.
    unknown = np.isnan(needed[1:]) & np.isnan(needed[:-1])
    beyond = np.nan_to_num(needed, nan=np.inf)
    falls, rises = (beyond[1:] < beyond[:-1]), (beyond[1:] > beyond[:-1])
    if needed.size < 2:
        return ""
    if unknown.all():
        return "No run came near enough to tell. "
    if rises.any():
        mixed = falls.any() or unknown.any()
        return "Here not at every step of ε. " if mixed else "Here no: a smaller ε needs no more iterations. "
    if not falls.any():
        return "Here it makes no difference. "
    if not (falls | unknown).all():
        return "Here yes, but not at every step of ε. "
    return (
        "Here yes, as far as these runs came. "
        if unknown.any()
        else "Here yes, down to the dotted line, at every step of ε. "
    )


def settling_by_reports(path: IBUPath, settling: SettlingTimes) -> go.Figure:
    """Iterations until the estimate of each category stays near its limit, against the number of its reports."""
    last = int(path.iterations[-1])
    positive, settled = settling.limit > 0, ~np.isnan(settling.iterations)
    groups = {
        "stays above zero": (positive & settled, MLE.colour, "circle"),
        "zero in the end": (~positive & settled, IBU.colour, "x"),
        f"not yet after {last:,}": (~settled, OBSERVED.colour, "triangle-up"),
    }
    iterations = np.where(settled, settling.iterations, last)
    traces = [
        style.mark_trace(
            name,
            settling.counts[which].astype(np.float32),
            np.maximum(iterations[which], 1).astype(np.float32),
            "%{x:,.0f} reports<br>%{y:,.0f} iterations",
            marker={"color": colour, "symbol": symbol, "size": 9},
        )
        for name, (which, colour, symbol) in groups.items()
        if which.any()
    ]
    band, border = _support_border(path)
    reading = f"{_last_to_settle(settling, last)} {border}"
    x = style.axis("Reports that the category received", **style.COUNT)
    y = _needed_axis(iterations)
    return style.figure(traces, x, y, reading, shapes=band, showlegend=True)


def _line(
    name: str, iterations: NDArray[Any], values: Array, line: dict[str, Any], *, logarithmic: bool = True
) -> dict[str, Any]:
    drawn = np.asarray(values, dtype=np.float64)
    if logarithmic:  # a value at rounding level has no place on a log axis: the line ends there
        drawn = np.where(drawn > _FLOOR, drawn, np.nan)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": np.maximum(iterations, 1 if logarithmic else 0).astype(np.float32),
        "y": drawn,
        "line": line,
        "hovertemplate": "%{y:.3g}",
    }


def _iterations_axis(iterations: NDArray[Any]) -> dict[str, Any]:
    top = float(np.log10(max(int(iterations[-1]), 10)))
    return style.axis(
        "Iterations (log scale)",
        type="log",
        range=[-0.02, top + 0.02],
        dtick=1,
        **style.COUNT,
        unifiedhovertitle={"text": "iteration %{x:,.0f}"},
    )


def _log_axis(title: str, values: Sequence[Array]) -> dict[str, Any]:
    drawn = np.concatenate([one[np.isfinite(one) & (one > _FLOOR)] for one in values])
    low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (1e-3, 1.0)
    span = [np.log10(low) - 0.3, np.log10(high) + 0.3]
    return style.axis(
        f"{title} (log scale)",
        type="log",
        range=span,
        dtick=max(1, round((span[1] - span[0]) / 7)),
        exponentformat="power",
    )


def _needed_axis(iterations: Array) -> dict[str, Any]:
    low, high = np.log10(max(iterations.min(), 1)) - 0.15, np.log10(max(iterations.max(), 10)) + 0.15
    # Between the powers of ten 2 and 5 are named as well, unless there are many powers.
    ticks: dict[str, Any] = (
        {"dtick": "D2", "tickformat": style.ALL_DIGITS} if high - low < 2.5 else {"dtick": 1, **style.COUNT}
    )
    return style.axis("Iterations needed (log scale)", type="log", range=[low, high], **ticks)


def _tolerance_line(tolerance: float) -> dict[str, Any]:
    return style.across(tolerance, width=1.5, dash="dot", color="rgba(128,128,128,0.9)")


def _last_to_settle(settling: SettlingTimes, last: int) -> str:
    """The categories whose estimates are the last to stay near their limit, in words."""
    near, needed = percent(settling.tolerance), settling.iterations
    if np.isnan(needed).any():
        which = _with_reports(settling.counts, np.isnan(needed))
        return f"At iteration {last:,} not yet within {near} of users of their limit: {which}."
    if needed.min() == needed.max():
        when = "from the start" if not needed.max() else f"from iteration {needed.max():,.0f} on"
        return f"All categories are within {near} of users of their limit {when}."
    which = _with_reports(settling.counts, needed == needed.max())
    when = f"from iteration {needed.max():,.0f} on"
    return f"Last to come near: {which}; they stay within {near} of users of their limit {when}."


def _with_reports(counts: Array, which: NDArray[np.bool_]) -> str:
    """The counts of these levels in words: each of a few, or the smallest and the largest. Levels with the same count
    differ where their starts do."""
    chosen = np.unique(counts[which])
    low, high = chosen[0], chosen[-1]
    most = counted(round(high), "report")
    if chosen.size <= 3:
        named = np.isin(counts, chosen)
        firsts = ", ".join(f"{count:,.0f}" for count in chosen[:-1])
        listed = f"{firsts} and {most}" if firsts else most
    else:
        named, listed = (counts >= low) & (counts <= high), f"{low:,.0f} to {most}"
    return f"{'all' if which[named].all() else 'some of those'} with {listed}"


def _support_border(path: IBUPath) -> tuple[list[dict[str, Any]], str]:
    """A band between the largest count that MLE* drops and the smallest that it keeps, and its sentence."""
    positive = path.mle_star > 0
    if path.cut_off:
        return [], "A category that started at zero stays there, however many reports it has."
    if positive.all():
        return [], "No category tends to zero here, so there is no border to linger at."
    dropped, smallest = float(path.counts[~positive].max()), float(path.counts[positive].min())
    band = style.upright(dropped, width=1, color=MLE.faded(0.8))
    band |= {"type": "rect", "x1": smallest, "fillcolor": MLE.faded(0.2), "layer": "below"}
    kept = counted(round(smallest), "report")
    return [band], f"MLE* keeps categories from {kept} on (green band: that border)."


_NOTHING = 1e-24  # a squared distance that rounding alone makes


def animation(path: IBUPath, view: View, answer: str = "") -> go.Figure:
    """The animation of one histogram's run, of some seventy recorded iterations, evenly on a log scale; ``answer`` is
    what a reader is to know first."""
    last = len(path.iterations) - 1
    wanted = np.geomspace(1, max(int(path.iterations[-1]), 1), 70)
    # The start, and for each of these numbers the first recorded iteration that is at least as large.
    kept = np.unique(np.append(np.searchsorted(path.iterations, wanted).clip(max=last), 0))
    # In one call: finding the levels of millions of categories is what takes the time.
    on_levels = np.concatenate([path.thetas[kept], path.mle_star[None]])
    of_all = view.from_levels(on_levels, path.level_of).astype(np.float32)
    *estimates, best = of_all
    iterations, kind = path.iterations[kept], "scatter" if view.is_curve else "bar"
    frames = [
        Frame(
            f"{n:,}",
            f"iteration <b>{n:,}</b> · largest factor − 1: {number(certificate)}<br>"
            f"squared distance to MLE*: {number(distance)}",
            [{"type": kind, "y": shares}],
        )
        for n, certificate, distance, shares in zip(
            iterations, path.certificate[kept], path.squared_distance[kept], estimates, strict=True
        )
    ]
    highest = max(float(shares.max()) for shares in (*estimates, best))
    one, other = ("Thin line", "thick line") if view.is_curve else ("Bars", "dots")
    apart = float(path.squared_distance[-1])
    reading = (
        f"{answer}{' ' if answer else ''}{one}: IBU up to iteration {frames[-1].name}; {other}: MLE*. "
        f"Their squared distance is then {number(apart) if apart > _NOTHING else 'zero up to rounding'}."
    )
    if isinstance(view, Bars):
        size = 11 if view.categories.size <= 40 else 6
        traces = [
            view.marks("MLE*", best, hover("MLE*", best), marker=MLE.marker(size)),
            view.bars("IBU", estimates[0], hover("IBU", of_all), marker={"color": IBU.colour}),
        ]
    else:
        traces = [
            line(view, "MLE*", best, color=MLE.faded(0.55), width=6),
            view.line(
                "IBU", estimates[0], f"%{{y:{style.share_format(of_all)}}}", color=IBU.colour, width=2.5
            ),
        ]
    y = style.axis("Share of users", tickformat=style.SHARE, range=[0, 1.05 * highest])
    layout: dict[str, Any] = {"hovermode": view.hovermode, "bargap": 0.25}
    return film(traces, view.axis(), y, reading, frames, [1], **layout)


def triangle_path(path: IBUPath, reports: ThreeEstimates, names: Sequence[str]) -> go.Figure:
    """Where IBU was at each recorded iteration, on the curves of equal likelihood that it climbs (k = 3)."""
    names = triangle.names_in_hover(names)
    shares = path.thetas[:, path.level_of]
    points = to_plane(shares)
    traces = [
        *triangle.contour_traces(likelihood_curves(reports, FRAME), MLE, "Same likelihood"),
        triangle.triangle_outline(),
        _triangle_trace(path, points, shares, names),
        triangle.mark(
            "Start", points[0], {"color": IBU.colour, "symbol": "circle-open", "size": 14}, {"width": 2}
        ),
        triangle.mark("MLE*", to_plane(reports.estimates["mle_star"]), MLE.marker(12), {"width": 2}),
    ]
    reading = (
        f"IBU's way from its start, across the curves of equal likelihood: after {path.iterations[-1]:,} iterations it "
        f"is {number(float(path.squared_distance[-1] ** 0.5))} away from MLE*."
    )
    return triangle.triangle_figure(traces, names, FRAME, reading)


def _triangle_trace(path: IBUPath, points: Array, shares: Array, names: Sequence[str]) -> dict[str, Any]:
    listed = "<br>".join(
        f"{name}: %{{customdata[{i + 1}]:{style.share_format(shares)}}}" for i, name in enumerate(names)
    )
    return style.line_trace(
        "IBU, dots at recorded iterations",
        points[:, 0].astype(np.float32),
        points[:, 1].astype(np.float32),
        f"iteration %{{customdata[0]:,.0f}}<br>{listed}",
        mode="lines+markers",
        customdata=np.column_stack([path.iterations, shares]).astype(np.float32),
        line={"color": IBU.colour, "width": 2},
        marker={"color": IBU.colour, "size": 5},
    )
