"""The four estimators against the truth, on one draw and on repeated collections: the distribution of error, bias and
variance, who was best and worst; and a film of how MLE* finds which categories to strike out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from rr_core._validate import Array
from rr_core.estimators import MLESearch
from rr_core.figures.film import Frame, film
from rr_core.figures.style import QUANTITIES, RANKS, SHARE, axis, bar_trace, figure, line_trace, share_format
from rr_core.figures.view import Bars, Curve, View, bars
from rr_core.law import below_zero
from rr_core.mechanism import RandomizedResponse
from rr_core.metrics import total_variation, variance_at
from rr_core.registry import ESTIMATORS, VALID
from rr_core.repeats import FEWEST, Repeats, largest_lead_of_chance
from rr_core.rounding import counted, number, percent
from rr_core.words.phrases import METRIC_NAMES, listed, practically_equal

_HALF_BAR = 0.41  # of the way from one category to the next
TRUTH, INV = QUANTITIES["truth"], QUANTITIES["inv"]
_SAME = 1e-12  # between shares that differ by rounding alone
_PLACES = 14  # of distances, which are the same up to rounding
_DIGITS = (3, 4, 5)  # of a distance: as few as it takes to see an order
_COUNT = {2: "two", 3: "three", 4: "four"}
# Where Inv is so many times as large as any repair, the picture shows the repairs, with this much room around them.
_TOWERING, _ROOM_BELOW, _ROOM_ABOVE = 4.0, 1.2, 2.0
GROUPED_UP_TO = 30  # categories for which five bars side by side can still be told apart
GROUPED: dict[str, Any] = {"barmode": "group", "bargap": 0.18, "bargroupgap": 0.04}


def estimates(
    by_name: Mapping[str, Array],
    truth: Array | None,
    n: int,
    mechanism: RandomizedResponse,
    view: View,
    zoom: bool = False,
    quick: bool = False,
) -> go.Figure:
    """The truth (k,) and the four estimators (k,), by category. ``zoom`` limits the axis to the values that an empty
    category can take; ``quick`` draws the marks of many categories as dashes of one path per estimator, which a browser
    shows sooner."""
    shapes: list[dict[str, Any]] = []
    if isinstance(view, Bars):
        values = {name: view.pick(by_name[name]) for name in ESTIMATORS}
        shown = None if truth is None else view.pick(truth)
        traces = estimate_bars(view, values, shown)
        if quick and view.categories.size > GROUPED_UP_TO:
            shapes = _dashes(view, values, shown)
            traces = [_extremes(trace) for trace in traces]
    else:
        traces = _estimate_curves(view, by_name, truth)
    y, reading = share_axis(n, mechanism, zoom), _reading(by_name, truth, mechanism)
    if not zoom:
        reading += without_towers(y, by_name["inv"], max(float(by_name[name].max()) for name in VALID))
    return figure(traces, view.axis(), y, reading, **GROUPED, hovermode=view.hovermode, shapes=shapes)


def without_towers(y: dict[str, Any], inv: Array, highest: float) -> str:
    """A sentence, with the range of the axis ``y`` set, where Inv is many times as large as all others; else ""."""
    if np.abs(inv).max() <= _TOWERING * highest:
        return ""
    y["range"] = [-_ROOM_BELOW * highest, _ROOM_ABOVE * highest]
    low, high = (percent(float(end)) for end in (inv.min(), inv.max()))
    return f" Inv leaves the picture: it {'is' if low == high else f'goes from {low} to'} {high}."


def _reading(by_name: Mapping[str, Array], truth: Array | None, mechanism: RandomizedResponse) -> str:
    """Which estimate is nearest to the truth, where that is known, and what each sets to zero."""
    if not below_zero(by_name["inv"], mechanism).any():
        return "Inv has no negative in this draw, so InvN, InvP and MLE* leave it as it is: all four agree."
    n, p, mle = (by_name[name] for name in ("inv_n", "inv_p", "mle_star"))
    zeros = {name: int((by_name[name] == 0).sum()) for name in VALID}
    if max(np.abs(p - n).max(), np.abs(mle - n).max()) < _SAME:
        given = "the last one 100%" if zeros["inv_n"] == len(n) - 1 else "the others the same shares"
        return f"Of {len(n):,} categories InvN, InvP and MLE* set the same {zeros['inv_n']:,} to zero, and give {given}."
    zeroed = (
        f"Of {len(n):,} categories InvN sets {zeros['inv_n']:,} to zero, MLE* {zeros['mle_star']:,} and "
        f"InvP {zeros['inv_p']:,}"
    )
    if truth is None:
        return f"{zeroed}; they make up for the negatives in different ways."
    off = {QUANTITIES[name].name: total_variation(by_name[name], truth) for name in VALID}
    return f"{nearest(off)} {zeroed}."


def nearest(off: Mapping[str, float]) -> str:
    """Which estimate is nearest to the truth in this draw, and how far the others are, by the distances of estimates by
    their names on screen; those that are the same in five digits count as equal."""
    off = {name: round(distance, _PLACES) for name, distance in off.items()}
    order = sorted(off, key=off.__getitem__)
    n_distances = len(set(off.values()))
    digits = next(
        (some for some in _DIGITS if len({percent(one, some) for one in off.values()}) == n_distances),
        _DIGITS[-1],
    )
    groups: dict[str, list[str]] = {}
    for name in order:
        groups.setdefault(percent(off[name], digits), []).append(name)
    (least, best), *others = groups.items()
    if not others:
        return f"In this draw all {_COUNT[len(off)]} are off by {least} from the truth."
    come = f"{best[0]} comes" if len(best) == 1 else f"{listed(best)} come"
    rest = listed([f"{listed(who)} by {distance}" for distance, who in others])
    return f"In this draw {come} closest to the truth, off by {least}, {rest}."


def share_axis(n: int, mechanism: RandomizedResponse, zoom: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"tickformat": SHARE}
    if zoom:
        error = float(np.sqrt(variance_at(np.zeros(1), n, mechanism)[0]))
        more["range"] = [-4 * error, 6 * error]
    return axis("Share of users", **more)


def hatched(values: Array) -> dict[str, Any]:
    """Marker settings that hatch the bars below zero."""
    pattern = {
        "shape": np.where(values < 0, "/", "").tolist(),
        "fillmode": "overlay",
        "fgcolor": INV.colour,
        "bgcolor": INV.faded(0.15),
        "size": 7,
        "solidity": 0.45,
    }
    return {"line": {"color": INV.colour, "width": 1}, "pattern": pattern}


def truth_marks(view: Bars, truth: Array) -> dict[str, Any]:
    """Trace of short horizontal grey lines at the true shares."""
    size = max(5, min(26, 190 // max(len(truth), 1)))  # no wider than a category on a phone
    marker = TRUTH.marker(size, line={"width": 4, "color": TRUTH.colour})
    return view.marks("Truth", truth, hover("truth", truth), marker=marker)


def hover(name: str, shares: ArrayLike) -> str:
    return f"{name}: %{{y:{share_format(shares)}}}"


def line(view: Curve, name: str, y: Any, **line: Any) -> dict[str, Any]:
    return view.line(name, y, f"%{{y:{share_format(y)}}}", **line)


def band(view: Curve, name: str, low: Any, high: Any, colour: str, pattern: str = "") -> list[dict[str, Any]]:
    edges = [
        line_trace(
            name, view.x, end.astype(np.float32), "", line={"width": 0, "color": colour}, legendgroup=name
        )
        for end in (high, low)
    ]
    edges[0]["showlegend"] = False
    edges[1] |= {"fill": "tonexty", "fillcolor": colour}
    if pattern:
        edges[1]["fillpattern"] = {"shape": pattern, "fgcolor": colour, "size": 7, "solidity": 0.3}
    return edges


def estimate_bars(view: Bars, values: Mapping[str, Array], truth: Array | None) -> list[dict[str, Any]]:
    """The truth, unless it is None, and the estimates (m,) that there are of the categories of a view: bars side by side
    where they are few, else estimates as marks on the bars of the truth."""
    few = view.categories.size <= GROUPED_UP_TO
    marks = [_one_estimate(view, name, values[name], few) for name in ESTIMATORS if name in values]
    if truth is None:
        return marks
    return [view.bars("Truth", truth, hover("truth", truth), marker={"color": TRUTH.colour}), *marks]


def _dashes(view: Bars, values: Mapping[str, Array], truth: Array | None) -> list[dict[str, Any]]:
    """Shapes: the bars of the truth, unless it is None, as one path, and for each estimator one path of short dashes."""
    left, right = view.x - _HALF_BAR, view.x + _HALF_BAR
    shapes: list[dict[str, Any]] = []
    if truth is not None:
        bars = "".join(f"M{a:g},0V{y:.6g}H{b:g}V0Z" for a, b, y in zip(left, right, truth, strict=True))
        filled = {"fillcolor": TRUTH.colour, "line": {"width": 0}, "layer": "below"}
        shapes.append({"name": "Truth", "type": "path", "path": bars, **filled})
    for name in ESTIMATORS:
        path = "".join(f"M{a:g},{y:.6g}H{b:g}" for a, b, y in zip(left, right, values[name], strict=True))
        line = {"color": QUANTITIES[name].colour, "width": 4}
        shapes.append({"name": QUANTITIES[name].name, "type": "path", "path": path, "line": line})
    return shapes


def _extremes(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace with only its lowest and its highest mark: enough for the legend and the range of the axis."""
    ends = [int(np.argmin(trace["y"])), int(np.argmax(trace["y"]))]
    more = {"width": 2 * _HALF_BAR} if trace["type"] == "bar" else {}
    return {**trace, **{key: trace[key][ends] for key in ("x", "y", "customdata")}, **more}


def _one_estimate(view: Bars, name: str, values: Array, grouped: bool) -> dict[str, Any]:
    quantity = QUANTITIES[name]
    shown = (quantity.name, values, hover(quantity.name, values))
    if not grouped:
        # MLE*, drawn last, is near InvP: a smaller mark leaves the other one's rim in sight.
        return view.marks(*shown, marker=quantity.marker(5 if name == "mle_star" else 8))
    return view.bars(*shown, marker={"color": quantity.colour, **(hatched(values) if name == "inv" else {})})


def _estimate_curves(view: Curve, by_name: Mapping[str, Array], truth: Array | None) -> list[dict[str, Any]]:
    ordered = {name: by_name[name][view.order] for name in ESTIMATORS}
    low, high = view.low(ordered["inv"]), view.high(ordered["inv"])
    traces = band(view, "Inv, lowest to highest", low, high, INV.faded(0.2))
    if truth is not None:
        traces.append(line(view, "Truth", view.mean(truth[view.order]), color=TRUTH.colour, width=4))
    traces += [
        line(view, QUANTITIES[name].name, view.mean(ordered[name]), **QUANTITIES[name].line(2.5))
        for name in ESTIMATORS
    ]
    return traces


_FEWEST, _MOST = 4, 15  # digits


def error_distribution(result: Repeats, metric: str) -> go.Figure:
    """One box per estimator: the errors over all collections, with their mean."""
    errors = result.errors[metric]
    traces = [
        {
            "type": "box",
            "name": QUANTITIES[name].name,
            "x": values[np.isfinite(values)],
            "boxmean": True,
            "boxpoints": "outliers",
            "marker": QUANTITIES[name].marker(5),
            "line": {"color": QUANTITIES[name].colour, "width": 2},
            "hoverinfo": "x",
        }
        for name, values in zip(ESTIMATORS, errors.T, strict=True)
    ]
    spread = errors[np.isfinite(errors) & (errors > 0)]
    wide = metric != "above" and spread.size > 0 and spread.max() > 30 * spread.min()
    scale: dict[str, Any] = {"exponentformat": "power"}
    if result.tied[metric] == result.done:  # last digits alone would else fill the picture
        scale["rangemode"] = "tozero"
    if wide:
        scale |= {"type": "log", "dtick": 1}
    title = METRIC_NAMES[metric].title + (" (logarithmic)" if wide else "")
    y = axis("Estimator", autorange="reversed")
    reading = _mean_reading(result, metric)
    return figure(traces, axis(title, **scale), y, reading, showlegend=False, height=330)


def _mean_reading(result: Repeats, metric: str) -> str:
    """Which estimator has the smallest mean error, where the difference is significant."""
    over = _collections(result.done)
    if result.tied[metric] == result.done:
        return f"{METRIC_NAMES[metric].title}: the three valid estimators are equal in all of {over}."
    means = dict(zip(ESTIMATORS, result.errors[metric].mean(axis=0).tolist(), strict=True))
    named = result.least_mean(metric)
    digits = _FEWEST  # as many as it takes to read the order that is told
    while digits < _MOST and {number(means[name], digits) for name in named} & {
        number(means[name], digits) for name in VALID if name not in named
    }:
        digits += 1
    each = ", ".join(f"{QUANTITIES[name].name} {number(means[name], digits)}" for name in VALID)
    least = [QUANTITIES[name].name for name in named]
    if len(least) == 1:
        said = f"{least[0]}'s mean over {over} is the smallest of the three valid estimators"
    elif metric == "above":  # the smallest is always MLE*'s; one that is equal differs by rounding alone
        said = f"{least[-1]}'s mean over {over} is the smallest of the three valid estimators"
        said += f", and {least[0]}'s agrees to rounding"
    elif len(least) == 2:
        said = f"the smallest mean of the three valid estimators is {least[0]}'s or {least[1]}'s; {over} cannot tell"
    else:
        said = f"{over} cannot tell whose mean is the smallest of the three valid estimators"
    return f"{METRIC_NAMES[metric].title}: {said} ({each})."


def cost_of_the_advice(result: Repeats, metric: str) -> str:
    """How many times the smallest mean error that of InvP is, which is advised where a few categories stand out; "" where
    InvP's is the smallest or less than 0.5% above it, or where these collections cannot tell."""
    means = dict(zip(ESTIMATORS, result.errors[metric].mean(axis=0).tolist(), strict=True))
    least = min(means[name] for name in VALID)
    if metric == "above" or result.tied[metric] == result.done or not 0 < least < means["inv_p"]:
        return ""
    if "inv_p" in result.least_mean(metric) or practically_equal(means["inv_p"] / least):
        return ""
    best = QUANTITIES[min(VALID, key=means.__getitem__)].name
    return (
        f"InvP's mean is {number(means['inv_p'] / least, 3)} times the smallest here, {best}'s. Whether InvP is advised "
        "depends on whether a few categories stand out: see “Which should I use?” below."
    )


def _collections(done: int) -> str:
    return "one collection" if done == 1 else f"{done:,} collections"


def bias_and_variance(result: Repeats) -> go.Figure:
    """Stacked bars: squared bias plus variance is the mean squared error."""
    names = [QUANTITIES[name].name for name in ESTIMATORS]
    colours = [QUANTITIES[name].colour for name in ESTIMATORS]
    # One collection has no variance to speak of, nor a bias.
    known = result.done > 1
    bias = [max(result.bias2(name), 0.0) if known else np.nan for name in ESTIMATORS]
    variance = [result.variance(name) for name in ESTIMATORS]
    hatching = {"pattern": {"shape": "x", "size": 6, "solidity": 0.5}}
    traces = [
        bar_trace(
            f"{part} ({look})",
            values,
            names,
            f"%{{y}}<br>{part}: %{{x:.4~g}}",
            orientation="h",
            marker={"color": colours, **pattern},
        )
        for part, look, values, pattern in (
            ("squared bias", "cross-hatched", bias, hatching),
            ("variance", "plain", variance, {}),
        )
    ]
    reading = _split_reading(result, variance)
    x = axis("Squared bias + variance", exponentformat="power", nticks=5)
    y = axis("Estimator", autorange="reversed")
    return figure(traces, x, y, reading, barmode="stack", height=330)


def _split_reading(result: Repeats, variance: list[float]) -> str:
    if result.done == 1:
        return "One collection shows neither a bias nor a variance: both are about many."
    if not result.with_negatives:
        return "No collection had a negative, so in all of them the valid estimators are Inv itself."
    # Observed squared biases less what chance is expected to make of none.
    bias2 = {name: result.bias2(name) for name in ESTIMATORS}
    parts = {
        name: f"{number(seen) if seen > 0 else 'about 0'} + {number(of_name)}"
        for (name, seen), of_name in zip(bias2.items(), variance, strict=True)
    }
    valid = ", ".join(f"{QUANTITIES[name].name} {parts[name]}" for name in VALID)
    of_inv = f"Inv {parts['inv']} (its bias is chance: it has none)"
    return f"Mean squared error is squared bias + variance: {of_inv}, {valid}."


def wins(result: Repeats, metric: str) -> go.Figure:
    """How often each valid estimator was best, in between, or worst."""
    done, tied = max(result.done, 1), result.tied[metric]
    best = np.array([result.best[metric][name] for name in VALID])
    worst = np.array([result.worst[metric][name] for name in VALID])
    parts = {
        "best": best,
        "in between": np.maximum(done - tied - best - worst, 0),
        "worst": worst,
        "all equal": np.full(len(VALID), tied),
    }
    traces = [
        bar_trace(
            label,
            times / done,
            [QUANTITIES[name].name for name in VALID],
            "%{y}<br>" + label + ": %{customdata:,~f} of " + f"{done:,}",
            orientation="h",
            customdata=times,
            marker={
                "color": RANKS[label][0],
                "pattern": {"shape": RANKS[label][1], "size": 6, "solidity": 0.4},
            },
        )
        for label, times in parts.items()
        if times.any()
    ]
    x = axis("Share of collections", tickformat=SHARE, range=[0, 1])
    y = axis("Estimator", autorange="reversed")
    return figure(traces, x, y, _wins_reading(result, metric), barmode="stack", height=300)


def _wins_reading(result: Repeats, metric: str) -> str:
    """Which estimator was the best most often, where the difference is significant; ties are divided equally."""
    done = max(result.done, 1)
    if result.tied[metric] == result.done:
        return f"The three valid estimators were equal in all of {_collections(result.done)}."
    wins = {QUANTITIES[name].name: number(result.best[metric][name], 12) for name in VALID}
    worst = number(result.worst[metric]["mle_star"], 12)
    often = [QUANTITIES[name].name for name in result.most_often_best(metric)]
    if len(often) == 1:
        said = f"Most often the best of the three was {often[0]}"
    elif metric == "above":
        said = f"{often[0]} and {often[1]} were the best of the three equally often"
    else:
        said = "Who is most often the best of the three is not settled"
    each = ", ".join(f"{name} in {won}" for name, won in wins.items())
    takes = "" if len(often) == 1 or metric == "above" else _what_settles(result, metric)
    return f"{said}: {each} of {_collections(done)} (ties shared).{takes} MLE* was the worst in {worst}."


def _what_settles(result: Repeats, metric: str) -> str:
    """The smallest lead of the best over the next that chance would hardly give, if so many collections can have it."""
    lead = math.floor(largest_lead_of_chance(sum(sorted(result.best[metric].values())[-2:]))) + 1
    if result.done < FEWEST or lead > result.done:
        return " So few collections cannot settle it."
    return (
        f" A lead of {lead:,} would settle it, as chance alone gives one at most about once in 1,000 times."
    )


MOST_CATEGORIES = 50
_OBSERVED, _MLE = QUANTITIES["observed"], QUANTITIES["mle_star"]
_STAYS, _NEXT, _STRUCK = "Reports of those that stay", "Goes next", "Struck out"
_SEARCH_ABOVE, _SEARCH_BELOW = 1.1, 0.6  # as a part of the highest bar


def search_film(found: MLESearch, labels: Sequence[str] | None) -> go.Figure:
    """Bars of reports, least reported first: step by step the lowest estimate below zero is struck out, and Inv is done
    again with the reports of the others alone."""
    view = bars(found.order, labels, "Category, least reported first")
    place = np.arange(found.shares.size)
    looks = {
        _STAYS: ({"color": _OBSERVED.colour}, "share of the reports left"),
        _NEXT: (
            {"color": _OBSERVED.colour, "pattern": {"shape": "/", "fgcolor": INV.colour, "solidity": 0.4}},
            "share of the reports left",
        ),
        _STRUCK: ({"color": TRUTH.colour}, "share of all reports"),
    }

    def at(n: int) -> list[dict[str, Any]]:
        """What is drawn after step n: the three kinds of bars, the estimates, and what chance brings."""
        struck, goes = place < n, (place == n) & (n < found.n_zero)
        kinds = (~struck & ~goes, goes, struck)
        heights = np.where(struck, found.shares, found.left[n])
        drawn = [{"type": "bar", "y": np.where(kind, heights, np.nan)} for kind in kinds]
        chance = {"type": "scatter", "x": [n - 0.5, place.size - 0.5], "y": [float(found.chance[n])] * 2}
        return [*drawn, {"type": "scatter", "y": np.where(struck, np.nan, found.theta[n])}, chance]

    *first, estimate, chance = at(0)
    traces: list[dict[str, Any]] = [
        *(
            view.bars(name, one["y"], hover(what, found.left), marker=marker)
            for (name, (marker, what)), one in zip(looks.items(), first, strict=True)
        ),
        view.marks(
            "Inv of those that stay",
            estimate["y"],
            hover("Inv of those that stay", found.theta),
            marker=_MLE.marker(11 if view.x.size <= 30 else 6),
        ),
        line_trace(
            "What chance brings each of them",
            chance["x"],
            chance["y"],
            "",
            line={"color": INV.colour, "dash": "dash", "width": 2.5},
        ),
    ]
    frames = [Frame(str(n), _note(found, n, view.names), at(n)) for n in range(len(found.g))]
    highest = max(float(found.theta[-1].max()), float(found.left.max()), float(found.chance[-1]))
    lowest = max(float(found.theta.min()), -_SEARCH_BELOW * highest)
    y = axis(
        "Share of the reports, or of users",
        tickformat=SHARE,
        range=[1.3 * min(lowest, 0.0), _SEARCH_ABOVE * highest],
    )
    moving = range(len(traces))
    reading = _search_reading(found)
    layout: dict[str, Any] = {"legend_rows": len(traces), "pace": 6, "barmode": "overlay", "bargap": 0.25}
    return film(traces, view.axis(), y, reading, frames, moving, **layout)


def _note(found: MLESearch, n: int, names: NDArray[np.str_]) -> str:
    struck, chance = f"<b>{n}</b> struck out", percent(float(found.chance[n]))
    if n == found.n_zero:
        return f"{struck}<br>no other is below what chance brings: done"
    return f"{struck}<br>{names[n]}: {percent(float(found.left[n, n]))}; chance brings {chance}"


def _search_reading(found: MLESearch) -> str:
    k = found.shares.size
    if not found.n_zero:
        return f"Of {k:,} categories no one is below what chance brings, so none is struck out: MLE* is Inv."
    return (
        f"From Inv to MLE* in {counted(found.n_zero, 'step')}: the lowest bar below zero is struck out, and Inv is done "
        f"again with the others' reports alone, until none is below zero. Here {found.n_zero:,} of {k:,} categories "
        f"{'goes' if found.n_zero == 1 else 'go'}."
    )
