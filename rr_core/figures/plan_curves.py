"""Curves of a plan against epsilon, K or N: protocols, lower bounds, simulated errors, and shuffling; and how many people
one share takes under a design of surveys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures import style
from rr_core.figures.plan_map import epsilon_ticks
from rr_core.plan.bounds import BoundCurves
from rr_core.plan.landscape import SimulatedCurve
from rr_core.plan.one_share import ShareCurve
from rr_core.plan.protocol_choice import RmseCurves
from rr_core.plan.shuffling import ShuffleCurve
from rr_core.protocols.laws import Key
from rr_core.registry import VALID
from rr_core.rounding import counted, number, percent, round_up
from rr_core.words.phrases import METRIC_NAMES, as_small, listed, practically_equal, times
from rr_core.words.plan import PROTOCOL_WORDS, budget, number_of_users

# Colour, symbol, dash and width. The colours of the estimators say which one of k-RR it is; protocols have their own.
# OLH lies on OUE almost everywhere, and subset selection on k-RR while K is small: a thin broken line on a wide one shows
# both.
_LOOKS: dict[Key, tuple[str, str, str, float]] = {
    "rr": ("#E0564A", "circle", "solid", 4.5),
    "subset": ("#B06A1E", "triangle-up", "dashdot", 2),
    "sue": ("#7C8420", "square", "dot", 2.5),
    "oue": ("#2F8FBF", "diamond", "solid", 5.5),
    "olh": ("#A65FC0", "x", "dash", 2),
    "hr": ("#2A8F8A", "star", "longdash", 2.5),
}
PROTOCOLS = {key: style.Quantity(PROTOCOL_WORDS[key].short, *look) for key, (*look, _) in _LOOKS.items()}
_ROUNDING = 1e-9  # relative: below, two errors differ by rounding alone
_WIDE_EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
_INV = style.QUANTITIES["inv"]
# Label, colour, dash and width of each row of `bounds.table`; a label fits in a corner of the picture on a telephone.
_BOUND_LINES = {
    "equal": ("≥ equal shares", "#2F8FBF", "solid", 3.0),
    "theorem": ("≥ Theorem 4.5", "#A65FC0", "dash", 2.5),
    "limit": ("≥ K/(Nε²)", "#7C8420", "dot", 2.0),
    "known": ("≥ K/(64Nε²)", "#2A8F8A", "longdashdot", 2.0),
    "attainable": ("≈ 4K/(Nε²)", "#B06A1E", "longdash", 2.0),
    "binary": ("exact, K = 2", "#777777", "dot", 5.0),
}
_OF_ZEROS = [-6.0, -3.0]  # powers of ten, for errors that are all zero
# MLE* often lies on InvP: a small marker on a large one shows both.
_MARKER_SIZES = {"inv_p": 15, "mle_star": 7}
_LINE_WIDTHS = {"inv_p": 4.5}
_STANDARD_ERRORS = 2.0  # standard errors to either side
_HERE_RIM = {"width": 1.5, "color": style.RIM}
# Of a figure with a single curve, and of the place on it where one is.
_ONE_COLOUR = "#2F8FBF"
_ONE_MARK = {"color": _ONE_COLOUR, "symbol": "diamond", "size": 14, "line": _HERE_RIM}


def rmse_against_k(curves: RmseCurves, epsilon: float) -> go.Figure:
    """RMSE against the number of categories, from `protocols.against_k` at this ``epsilon``. k-RR, subset selection and
    Hadamard response depend on K; the vertical line is where the first two part."""
    x = style.axis("Categories K (log scale)", type="log", dtick=1, **style.COUNT)
    reads = (
        f"at ε = {budget(epsilon)} k-RR is as good as subset selection up to {math.floor(curves.single):,} "
        f"categories, and has a smaller error than OUE up to {math.ceil(curves.flip) - 1:,}."
    )
    return _rmse_figure(curves, x, "K", reads)


def rmse_against_epsilon(curves: RmseCurves, k: int) -> go.Figure:
    """RMSE against epsilon, from `protocols.against_epsilon` at this number of categories."""
    x = epsilon_axis()
    # Rounded upwards, so that it is true of the number that is read.
    as_good = f"from ε = {number(round_up(curves.single, 3))} on" if curves.single > 0 else "at every ε"
    smaller = f"above ε = {number(round_up(curves.flip, 3))}" if curves.flip > 0 else "at every ε"
    reads = (
        f"with {k:,} categories k-RR is as good as subset selection {as_good}, and has a smaller error than OUE "
        f"{smaller}."
    )
    return _rmse_figure(curves, x, "ε", reads)


def epsilon_axis() -> dict[str, Any]:
    """A logarithmic axis of epsilon with ticks that are read as numbers."""
    ticks = [str(tick) for tick in _WIDE_EPSILON_TICKS]
    return style.axis("Privacy ε (log scale)", type="log", tickvals=_WIDE_EPSILON_TICKS, ticktext=ticks)


def log_range(values: list[Array]) -> list[float]:
    """Ends of a logarithmic axis that shows all these values, in powers of ten."""
    seen = np.log10(np.concatenate([np.ravel(part) for part in values]))
    seen = seen[np.isfinite(seen)]
    low, high = float(seen.min()), float(seen.max())
    room = max(0.05 * (high - low), 0.1)
    return [low - room, high + room]


def error_axis(title: str, span: list[float], tickformat: str) -> dict[str, Any]:
    """A logarithmic axis of errors from `log_range`, with about six ticks."""
    wide = span[1] - span[0]
    step = max(1, math.ceil(wide / 6)) if wide > 1.2 else "D2"
    return style.axis(f"{title} (log scale)", type="log", tickformat=tickformat, dtick=step, range=span)


def vertical_line(name: str, x: float, span: list[float]) -> dict[str, Any]:
    """A vertical line across a logarithmic axis, with a place in the legend."""
    return style.line_trace(
        name,
        np.array([x, x]),
        10.0 ** np.array(span),
        "",
        line={"color": style.ZERO, "dash": "dash", "width": 2},
    )


def _rmse_figure(curves: RmseCurves, x: dict[str, Any], symbol: str, reads: str) -> go.Figure:
    span = log_range([*curves.rmse.values(), np.array(list(curves.rmse_here.values()))])
    traces = [
        style.line_trace(
            look.name,
            curves.x,
            curves.rmse[key].astype(np.float32),
            f"{look.name}, {symbol} = %{{x:.4~g}}<br>RMSE: %{{y:.4~p}}",
            line=look.line(_LOOKS[key][-1]),
        )
        for key, look in ((key, PROTOCOLS[key]) for key in curves.rmse)
    ]
    if curves.x[0] <= curves.single <= curves.x[-1]:
        # Where k-RR is as good as any of them; in few letters, for a legend of several columns.
        name = (
            f"K ≤ {math.floor(curves.single):,}"
            if symbol == "K"
            else f"ε ≥ {number(round_up(curves.single, 3))}"
        )
        traces.append(vertical_line(name, curves.single, span))
    traces.append(_protocols_here(curves))
    least = min(curves.rmse_here.values())
    best = [key for key, rmse in curves.rmse_here.items() if as_small((rmse / least) ** 2)]
    names = " and ".join(PROTOCOL_WORDS[key].brief for key in best)
    error = "RMSE per category"
    rival = "" if "rr" in best else f" (k-RR {percent(curves.rmse_here['rr'])})"
    equal = ", all shares equal" if curves.users == "sampled" else ""
    have = "has" if len(best) == 1 else "have"
    reading = (
        f"With {curves.n:,.0f} user{'s' * (curves.n != 1)}{equal}, {names} {have} the smallest {error}, "
        f"{percent(least)}{rival}; {reads}"
    )
    y = error_axis(error, span, style.SHARE)
    return style.figure(traces, x, y, reading, margin={"t": 78})


def _protocols_here(curves: RmseCurves) -> dict[str, Any]:
    looks = [PROTOCOLS[key] for key in curves.rmse_here]
    return style.mark_trace(
        "here",
        np.full(len(looks), curves.here),
        np.array(list(curves.rmse_here.values())),
        "%{text} here<br>RMSE: %{y:.4~p}",
        text=[look.name for look in looks],
        marker={
            "color": [look.colour for look in looks],
            "symbol": [look.symbol for look in looks],
            "size": 12,
            "line": _HERE_RIM,
        },
    )


def error_and_bounds(curves: BoundCurves) -> go.Figure:
    """Total squared error of Inv under k-RR and the rows of `bounds.table`, each only where it is valid."""
    rows = {row.key: np.where(row.valid, row.value, np.nan) for row in curves.bounds if row.valid.any()}
    # Theorem 4.5 falls by thirty powers of ten at large epsilon: it may leave the picture, what is close may not.
    span = log_range([curves.inv, *(values for key, values in rows.items() if key != "theorem")])
    traces = [_bound_line(curves.epsilons, curves.inv, "k-RR, Inv", _INV.colour, "solid", 3.5)]
    traces += [_bound_line(curves.epsilons, values, *_BOUND_LINES[key]) for key, values in rows.items()]
    foot = span[0] if curves.epsilon_here >= 1 else sum(span) / 2  # not through the legend
    traces.append(vertical_line(f"ε = {number(curves.epsilon_here)}", curves.epsilon_here, [foot, span[1]]))
    here = [curves.epsilon_here], [curves.now], "here<br>ε = %{x:.3~g}: %{y:.3~g}"
    marker = _INV.marker(13, line=_HERE_RIM)
    traces.append(style.mark_trace("k-RR, Inv, here", *here, showlegend=False, marker=marker))
    y = style.axis(
        "Squared error, sum (log scale)",
        type="log",
        exponentformat="power",
        dtick=max(1, math.ceil((span[1] - span[0]) / 6)),
        range=span,
    )
    # Every line falls to the right: the corner below them is empty, and above them many rows would be needed.
    legend = {"yanchor": "bottom", "y": 0.02, "x": 0.01, "font": {"size": 14}, "bgcolor": "rgba(0,0,0,0)"}
    margin = {"t": 28}
    return style.figure(traces, epsilon_axis(), y, _bounds_reading(curves), margin=margin, legend=legend)


def _bounds_reading(curves: BoundCurves) -> str:
    error = (
        f"With all shares equal, Inv under k-RR at ε = {budget(curves.epsilon_here)} has a squared error of "
        f"{number(curves.now)} in sum"
    )
    if math.isnan(curves.floor):
        return f"{error}; with so few users a constant answer may be nearer than any unbiased estimate."
    if curves.is_optimal:
        return f"{error}: no protocol with an unbiased estimate can have less."
    ratio = curves.now / curves.floor
    more = "hardly more than" if practically_equal(ratio) else times(ratio)
    return f"{error}, {more} the least that any protocol with an unbiased estimate can have."


def _bound_line(x: Array, y: Array, name: str, colour: str, dash: str, width: float) -> dict[str, Any]:
    return style.line_trace(
        name,
        x.astype(np.float32),
        y.astype(np.float32),
        name + "<br>ε = %{x:.3~g}: %{y:.3~g}",
        line={"color": colour, "dash": dash, "width": width},
    )


def error_curves(
    result: SimulatedCurve, metric: str, exact: Array | None, here: float, wanted: float | None
) -> go.Figure:
    """One curve per estimator of the points with collections; ``exact`` (m,) is Inv's error in closed form, in the
    place of its simulation, ``wanted`` the value asked for where the target is about this metric."""
    there = result.completed > 0
    x = result.points[there]
    mean = {name: values[there] for name, values in result.mean[metric].items()}
    spread = {name: values[there] for name, values in result.standard_error[metric].items()}
    traces = [] if exact is None else [_estimator_line("inv", x, exact[there], ", exact")]
    traces += [
        _estimator_points(name, x, mean[name], spread[name])
        for name in mean
        if exact is None or name != "inv"
    ]
    drawn = [*mean.values(), *([] if exact is None else [exact[there]])]
    positive = [part[part > 0] for part in drawn if (part > 0).any()]  # zero has no place on the axis
    span = log_range(positive) if positive else _OF_ZEROS
    symbol = "ε" if result.along == "epsilon" else "N"
    traces.append(vertical_line(f"{symbol} = {_place_text(here, symbol)}", here, span))
    if wanted is not None and span[0] < math.log10(wanted) < span[1]:
        line = {"color": style.ZERO, "dash": "dot", "width": 2}
        traces.append(
            style.line_trace(f"asked for, {percent(wanted)}", x[[0, -1]], np.full(2, wanted), "", line=line)
        )
    ends = [float(np.log10(value)) for value in (result.points[0], result.points[-1])]
    room = 0.04 * (ends[1] - ends[0])
    across = (
        style.axis("Privacy ε (log scale)", type="log", **epsilon_ticks())
        if symbol == "ε"
        else style.axis("Users N (log scale)", type="log", dtick=1, **style.COUNT)
    )
    y = error_axis(METRIC_NAMES[metric].title, span, style.SHARE)
    reading = _simulated_reading(result, metric, mean, here, there)
    return style.figure(
        traces, {**across, "range": [ends[0] - room, ends[1] + room]}, y, reading, margin={"t": 78}
    )


def _estimator_line(name: str, x: Array, y: Array, more: str) -> dict[str, Any]:
    look = style.QUANTITIES[name]
    return style.line_trace(
        look.name + more, x, y, f"{look.name}{more}<br>%{{x:.4~g}}: %{{y:.4~p}}", line=look.line(3)
    )


def _estimator_points(name: str, x: Array, mean: Array, spread: Array) -> dict[str, Any]:
    look = style.QUANTITIES[name]
    bars = _STANDARD_ERRORS * np.nan_to_num(spread)
    # A bar down to zero or below has no end on a logarithmic axis.
    below = np.minimum(bars, 0.95 * mean)
    return {
        **_estimator_line(name, x, mean, ""),
        "mode": "lines+markers",
        "marker": look.marker(_MARKER_SIZES.get(name, 10)),
        "line": look.line(_LINE_WIDTHS.get(name, 2)),
        "error_y": style.whiskers(below, bars, color=look.colour, thickness=1.5, width=4),
    }


def _place_text(value: float, symbol: str) -> str:
    return budget(value) if symbol == "ε" else f"{value:,.0f}"


def _simulated_reading(
    result: SimulatedCurve, metric: str, mean: dict[str, Array], here: float, there: NDArray[np.bool_]
) -> str:
    at = int(np.argmin(np.abs(np.log(result.points[there] / here))))
    place = result.points[there][at]
    symbol = "ε" if result.along == "epsilon" else "N"
    runs = int(result.completed[there][at])
    least = min(VALID, key=lambda name: float(mean[name][at]))
    value, raw = float(mean[least][at]), float(mean["inv"][at])
    errors = {name: float(result.standard_error[metric][name][there][at]) for name in VALID}
    # Estimators within two standard errors of the smallest mean count as equal; after one collection, all of them.
    near = [
        name
        for name in VALID
        if not mean[name][at] - value
        > _STANDARD_ERRORS * math.hypot(errors[name], errors[least]) + _ROUNDING * value
    ]
    other = "N" if symbol == "ε" else "ε"
    at_both = (
        f"{symbol} = {_place_text(place, symbol)} and {other} = {_place_text(result.fixed_value, other)}"
    )
    start = f"At {at_both}, in {counted(runs, 'simulated collection')}, "
    what = METRIC_NAMES[metric].in_text
    if len(near) == 1:
        times = f", {percent(value / raw)} of Inv's {percent(raw)}" if raw > 0 else ""
        return f"{start}the lowest {what} is that of {style.QUANTITIES[least].name}: {percent(value)}{times}."
    names = [style.QUANTITIES[name].name for name in near]
    both = listed(names)
    if max(float(mean[name][at]) for name in near) <= value * (1 + _ROUNDING):
        return f"{start}{both} have the same {what}, {percent(value)}{', the lowest' * (len(near) < len(VALID))}."
    each = ", ".join(
        f"{style.QUANTITIES[name].name} {percent(float(mean[name][at]))}" for name in ("inv", *VALID)
    )
    return f"{start}chance leaves open which of {both} has the lowest {what}: {each}."


def central_against_users(curve: ShuffleCurve) -> go.Figure:
    """The bound against N, with the local epsilon as its ceiling and the current N marked."""
    now = curve.now
    span = log_range([curve.epsilon, np.array([curve.epsilon0, now.epsilon])])
    traces = [
        style.line_trace(
            f"local ε = {number(curve.epsilon0)}",
            curve.users[[0, -1]],
            np.full(2, curve.epsilon0),
            "",
            line={"color": style.ZERO, "dash": "dash", "width": 2},
        ),
        style.line_trace(
            "central ε at most",
            curve.users,
            curve.epsilon.astype(np.float32),
            "%{x:,.4~r} reports shuffled<br>central ε at most %{y:.3~g}",
            line={"color": _ONE_COLOUR, "width": 3.5},
        ),
        style.mark_trace(
            "here",
            np.array([curve.n]),
            np.array([now.epsilon]),
            "%{x:,} reports<br>central ε at most %{y:.3~g}",
            marker=_ONE_MARK,
        ),
    ]
    return style.figure(
        traces,
        style.axis("Reports shuffled together, N (log scale)", type="log", dtick=2, **style.COUNT),
        style.axis("Central ε (log scale)", type="log", tickformat="~g", range=span, nticks=7),
        _shuffling_reading(curve),
        margin={"t": 78},
    )


def _shuffling_reading(curve: ShuffleCurve) -> str:
    reports = counted(curve.n, "report")
    now, local = curve.now, budget(curve.epsilon0)
    if not now.holds:
        return (
            f"With {reports} the bound does not apply at a local ε of {local}: it needs at least "
            f"{now.users_needed:,}. The local guarantee holds all the same."
        )
    return (
        f"After shuffling {reports} the central ε is at most {number(round_up(now.epsilon, 3))} at δ = "
        f"{number(now.delta)}, where one report alone has {local}: an upper bound on what is revealed."
    )


_DIGITS = 6  # of what was typed


def people_against_share(curve: ShareCurve) -> go.Figure:
    """The number of people against the assumed share, which is marked."""
    reached = np.isfinite(curve.people)
    logarithmic = curve.hardest is None
    each = " in each group" if curve.goal.kind == "difference" else ""
    hover = f"share %{{x:{style.SHARE}}}<br>%{{y:,.0f}} people{each}"
    traces = [
        style.line_trace(
            f"people needed{each}",
            curve.shares[reached],
            curve.people[reached],
            hover,
            line={"color": _ONE_COLOUR, "width": 3.5},
        )
    ]
    if np.isfinite(curve.needed):
        traces.append(
            style.mark_trace("the share you expect", [curve.share], [curve.needed], hover, marker=_ONE_MARK)
        )
    which = "Share in the group with fewer" if each else "Share of people who have it"
    scale = " (log scale)" if logarithmic else ""
    x: dict[str, Any] = {"range": [0, 1.02 * curve.goal.largest_share]}
    y: dict[str, Any] = {"rangemode": "tozero"}
    if logarithmic:
        x = {"type": "log", "dtick": 1, "range": [math.log10(curve.shares[0]), 0.03]}
        y = {"type": "log", "dtick": 1}
    return style.figure(
        traces,
        style.axis(which + scale, tickformat=style.SHARE, **x),
        style.axis(f"People needed{each}{scale}", **style.COUNT, **y),
        f"At a share of {percent(curve.share, _DIGITS)} it takes {_people(curve.needed)}{each}. {others(curve)}",
        height=360,
    )


def _people(needed: float) -> str:
    if not np.isfinite(needed):
        return "more than a trillion (10¹²) people"
    return f"{number_of_users(needed)} {'person' if needed == 1 else 'people'}"


def others(curve: ShareCurve) -> str:
    """What it takes at other shares."""
    some = ", ".join(f"{percent(share, _DIGITS)}: {_people(needed)}" for share, needed in curve.others)
    if curve.hardest is None:
        return f"The rarer it is, the more: {some}."
    share, needed = curve.hardest
    return f"At {some}. At no share more than {_people(needed)} (at {percent(share)})."


def enough(curve: ShareCurve) -> str:
    """The answer, as markdown."""
    goal, share = curve.goal, percent(curve.share, _DIGITS)
    if not np.isfinite(curve.needed):
        return "**No answer.** Not even a trillion people (10¹²) are enough: the reports hardly depend on the truth."
    are = "is" if curve.needed == 1 else "are"
    people = f"**{_people(curve.needed)} {are} enough"
    if goal.kind == "half_width":
        return (
            f"{people}.** If {share} have it, the 95% interval of their share reaches about "
            f"{points(goal.value)} to either side."
        )
    sure = percent(goal.power, _DIGITS)
    if goal.kind == "power":
        return (
            f"{people}.** If {share} have it, the test sees that somebody has it with a chance of at least {sure}; if "
            "nobody has it, it errs with a chance of 5% at most."
        )
    return (
        f"**{_people(curve.needed)} in each group {are} enough.** If {share} have it in one group and "
        f"{points(goal.value)} more in the other, the test sees the difference with a chance of {sure}."
    )


def points(share: float) -> str:
    """A difference of shares in percentage points."""
    value = number(100 * share, _DIGITS)
    return f"{value} point{'' if value == '1' else 's'}"
