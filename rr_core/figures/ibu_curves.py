"""IBU's way to MLE* as curves: error against iterations, several settings at once, and who comes last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures.style import QUANTITIES, SERIES, axis, figure, number, percent
from rr_core.iteration.compared import Compared
from rr_core.iteration.progress import TOLERANCES, Settling
from rr_core.iteration.record import IBUPath

IBU, BEST, OBSERVED = QUANTITIES["ibu"], QUANTITIES["mle_star"], QUANTITIES["observed"]
# Below this a squared distance or a gap is rounding, and a logarithmic axis would show little else.
_FLOOR = 1e-15


def convergence(run: IBUPath, tolerance: float) -> go.Figure:
    """Certificate, gap and squared distance against iterations, with the tolerance as a line.

    Args:
        run: the record of one histogram.
        tolerance: where the person wants to stop, > 0.
    """
    lines = (
        ("certificate (can be computed)", run.certificate, "solid", 3.5),
        ("true gap in likelihood (needs MLE*)", run.log_likelihood_gap, "dash", 2.5),
        ("squared distance to MLE*", run.squared_distance, "dot", 2.5),
    )
    traces = [
        _line(name, run.iterations, values, {"color": IBU.colour, "dash": dash, "width": width})
        for name, values, dash, width in lines
    ]
    reading = (
        "The certificate is never below the true gap, so whoever stops when it is "
        f"{number(tolerance)} (horizontal line) knows that no distribution fits the reports better by more than that."
    )
    if (np.diff(run.squared_distance) > _FLOOR).any():
        reading += " The likelihood never falls, yet the squared distance rises on the way."
    y = _log_axis("Nats per report; squared distance", [values for _, values, _, _ in lines])
    return figure(
        traces,
        _iterations_axis(run.iterations),
        y,
        reading,
        hovermode="x unified",
        shapes=[_level(tolerance)],
    )


def several(runs: Compared, about: str, tolerance: float, *, logarithmic: bool = True) -> go.Figure:
    """Squared distance to MLE* against iterations for several privacy budgets.

    Args:
        runs: at most six, in increasing order of epsilon.
        about: what they have in common, for the reading.
        tolerance: the squared distance that is near enough, one of TOLERANCES; marked by a line.
        logarithmic: axes as powers of ten; linear ones, as printed in the paper, otherwise.
    """
    names = [f"ε = {scenario.epsilon:g}" for scenario in runs.scenarios]
    traces = [
        _line(name, runs.iterations, distance, style, logarithmic=logarithmic)
        for name, distance, style in zip(names, runs.squared_distance, SERIES, strict=False)
    ]
    if logarithmic:
        x = _iterations_axis(runs.iterations)
        y = _log_axis("Squared distance to MLE*", list(runs.squared_distance))
    else:
        x = axis("Iterations", tickformat="~s", range=[0, int(runs.iterations[-1])])
        y = axis("Squared distance to MLE*", rangemode="tozero")
    reading = f"{about}. {_slower(runs, names, tolerance)}"
    return figure(traces, x, y, reading, hovermode="x unified", shapes=[_level(tolerance)])


def _slower(runs: Compared, names: Sequence[str], tolerance: float) -> str:
    """Whether a smaller epsilon needs more iterations, and how many each needs."""
    last = int(runs.iterations[-1])
    needed = runs.reached[:, TOLERANCES.index(tolerance)]
    told = ", ".join(
        f"{f'more than {last:,}' if np.isnan(many) else f'{many:,.0f}'} at {name}"
        for many, name in zip(needed, names, strict=True)
    )
    return f"{_order(needed)}Iterations to a squared distance of {number(tolerance)} from MLE*: {told}."


def _order(needed: Array) -> str:
    """What the iterations needed say of epsilon, which grows along them; nan is more than were run."""
    # Two runs that did not arrive cannot be told apart.
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
    return "Here yes, as far as these runs came. " if unknown.any() else "Here yes, at every step of ε. "


def stragglers(path: IBUPath, settling: Settling) -> go.Figure:
    """How many iterations each category needs until its estimate stays put, by the reports it received.

    Args:
        path: the record of one histogram.
        settling: when each of its levels has settled.
    """
    last = int(path.iterations[-1])
    kept, there = settling.limit > 0, ~np.isnan(settling.iterations)
    shown = {
        "stays above zero": (kept & there, BEST.colour, "circle"),
        "zero in the end": (~kept & there, IBU.colour, "x"),
        f"not yet after {last:,}": (~there, OBSERVED.colour, "triangle-up"),
    }
    iterations = np.where(there, settling.iterations, last)
    traces = [
        _dots(name, settling.counts[which], iterations[which], colour, symbol)
        for name, (which, colour, symbol) in shown.items()
        if which.any()
    ]
    border, where = _border(path)
    reading = f"{_late(settling, last)} {where}"
    x = axis("Reports that the category received", tickformat="~s")
    y = _needed_axis(iterations)
    return figure(traces, x, y, reading, shapes=border, showlegend=True)


def _dots(name: str, counts: Array, iterations: NDArray[Any], colour: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": np.asarray(counts, dtype=np.float32),
        "y": np.maximum(iterations, 1).astype(np.float32),
        "marker": {"color": colour, "symbol": symbol, "size": 9},
        "hovertemplate": "%{x:,.0f} reports<br>%{y:,.0f} iterations<extra></extra>",
    }


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
    return axis(
        "Iterations (log scale)",
        type="log",
        range=[-0.02, top + 0.02],
        dtick=1,
        tickformat="~s",
        unifiedhovertitle={"text": "iteration %{x:,.0f}"},
    )


def _log_axis(title: str, values: Sequence[Array]) -> dict[str, Any]:
    drawn = np.concatenate([one[np.isfinite(one) & (one > _FLOOR)] for one in values])
    low, high = (float(drawn.min()), float(drawn.max())) if drawn.size else (1e-3, 1.0)
    span = [np.log10(low) - 0.3, np.log10(high) + 0.3]
    return axis(
        f"{title} (log scale)",
        type="log",
        range=span,
        dtick=max(1, round((span[1] - span[0]) / 7)),
        exponentformat="power",
    )


def _needed_axis(iterations: Array) -> dict[str, Any]:
    low, high = np.log10(max(iterations.min(), 1)) - 0.15, np.log10(max(iterations.max(), 10)) + 0.15
    # Between the powers of ten 2 and 5 are named as well, unless there are many powers.
    step = "D2" if high - low < 2.5 else 1
    return axis("Iterations needed (log scale)", type="log", tickformat="~s", dtick=step, range=[low, high])


def _level(tolerance: float) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": tolerance,
        "y1": tolerance,
        "line": {"width": 1.5, "dash": "dot", "color": "rgba(128,128,128,0.9)"},
    }


def _late(settling: Settling, last: int) -> str:
    """Which categories come to stay near their limit last."""
    near, needed = percent(settling.tolerance), settling.iterations
    if np.isnan(needed).any():
        which = _with_reports(settling.counts, np.isnan(needed))
        return f"At iteration {last:,} not yet within {near} of users of their limit: categories {which}."
    if needed.min() == needed.max():
        when = "from the start" if not needed.max() else f"from iteration {needed.max():,.0f} on"
        return f"All categories are within {near} of users of their limit {when}."
    which = _with_reports(settling.counts, needed == needed.max())
    when = f"from iteration {needed.max():,.0f} on"
    return f"Last to stay within {near} of users of their limit, {when}: categories {which}."


def _with_reports(counts: Array, which: NDArray[np.bool_]) -> str:
    """The counts of some levels in words: each of a few, or from what to what they go."""
    chosen = np.unique(counts[which])
    if chosen.size <= 3:
        firsts = [f"{count:,.0f}" for count in chosen[:-1]]
        return (
            f"with {', '.join(firsts)} and {_reports(chosen[-1])}"
            if firsts
            else f"with {_reports(chosen[-1])}"
        )
    low, high = chosen[0], chosen[-1]
    every = np.isin(counts[(counts >= low) & (counts <= high)], chosen).all()
    return f"with {'' if every else 'some counts from '}{low:,.0f} to {_reports(high)}"


def _reports(count: float) -> str:
    return "1 report" if count == 1 else f"{count:,.0f} reports"


def _border(path: IBUPath) -> tuple[list[dict[str, Any]], str]:
    """A band between the largest count that MLE* drops and the smallest that it keeps, and its sentence."""
    kept = path.mle_star > 0
    if path.cut_off:
        return [], "A category that started at zero stays there, however many reports it has."
    if kept.all():
        return [], "No category tends to zero here, so there is no border to linger at."
    dropped, smallest = float(path.counts[~kept].max()), float(path.counts[kept].min())
    band = {
        "type": "rect",
        "yref": "paper",
        "x0": dropped,
        "x1": smallest,
        "y0": 0,
        "y1": 1,
        "line": {"width": 1, "color": BEST.faded(0.8)},
        "fillcolor": BEST.faded(0.2),
        "layer": "below",
    }
    return [band], f"MLE* keeps categories from {_reports(smallest)} on (green band: that border)."
