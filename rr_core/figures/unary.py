"""Unary encoding: estimates from bits, and what one report says by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core._validate import Array
from rr_core.figures.estimators import GROUPED, estimate_bars, nearest, without_towers
from rr_core.figures.style import QUANTITIES, SERIES, SHARE, ZERO, across, axis, bar_trace, figure
from rr_core.figures.view import Bars
from rr_core.metrics import total_variation
from rr_core.protocols.unary_estimation import Gain
from rr_core.registry import LABELS
from rr_core.rounding import number, percent
from rr_core.words.phrases import people

_LARGEST_GAIN, _A_TENTH = 0.6, 0.001
_SURE = 4.0  # standard errors of a measured ratio from one: a difference that chance does not make


def unary_estimates(
    estimates: Mapping[str, Array], ones: Array, truth: Array | None, view: Bars
) -> go.Figure:
    """Estimates (k,) from unary encoding by category, beside the truth; ``ones``: shares of ones in each place."""
    # An MLE that is iterated looks like MLE*, and has no star.
    values = {"mle_star" if name == "mle" else name: view.pick(found) for name, found in estimates.items()}
    traces = [
        {**trace, "name": "MLE" if trace["name"] == "MLE*" else trace["name"]}
        for trace in estimate_bars(view, values, None if truth is None else view.pick(truth))
    ]
    y, reading = axis("Share of users", tickformat=SHARE), _reading(estimates, ones, truth)
    highest = max(float(estimate.max()) for name, estimate in estimates.items() if name != "inv")
    reading += without_towers(y, estimates["inv"], highest)
    return figure(traces, view.axis(), y, reading, **GROUPED, hovermode=view.hovermode)


def _reading(estimates: Mapping[str, Array], ones: Array, truth: Array | None) -> str:
    bits = f"Ones per report: {number(float(ones.sum()))} on average."
    if truth is None:
        return (
            f"Of {ones.size:,} categories Inv puts {int((estimates['inv'] < 0).sum()):,} below zero. {bits}"
        )
    off = {
        LABELS[name]: total_variation(estimate, truth)
        for name, estimate in estimates.items()
        if name != "inv"
    }
    return f"{nearest(off)} {bits}"


def one_report(one_hot: Array, bits: Array, names: Sequence[str]) -> go.Figure:
    """One person's debiased reports (k,) by k-RR and by unary encoding, category by category."""
    x = np.arange(one_hot.size)
    lines = (("k-RR", one_hot, QUANTITIES["observed"].colour), ("Unary encoding", bits, SERIES[2]["color"]))
    traces: list[dict[str, Any]] = [
        bar_trace(
            name,
            x,
            values,
            f"%{{customdata}}<br>{name}: %{{y:.4~g}}",
            customdata=np.array(names),
            marker={"color": colour},
        )
        for name, values, colour in lines
    ]
    low, high = (number(float(end), 4) for end in (one_hot.min(), one_hot.max()))
    reading = (
        f"Debiased, one report by k-RR counts as {people(high)} in the category that it names, and as {low} in "
        f"{'each' if one_hot.size > 2 else 'the'} other one. Its sum is 1, and over many tosses of the coin it is right "
        "on average."
    )
    ticks = {"tickmode": "array", "tickvals": x, "ticktext": list(names)}
    layout: dict[str, Any] = {"barmode": "group", "height": 380, "shapes": [across(0, color=ZERO, width=1)]}
    return figure(traces, axis("Category", **ticks, automargin=True), axis("People"), reading, **layout)


def gain_map(gains: Sequence[Gain], k: int) -> go.Figure:
    """By how much the mean squared error of MLE is below InvP's, as measured, over epsilon and users per category."""
    of_k = [gain for gain in gains if gain.k == k]
    epsilons, users = sorted({gain.epsilon for gain in of_k}), sorted({gain.n // k for gain in of_k})
    ratio = {(gain.epsilon, gain.n // k): gain.ratio for gain in of_k}
    z = np.array([[1 - ratio[epsilon, n] for epsilon in epsilons] for n in users])
    trace = {
        "type": "heatmap",
        "x": [f"{epsilon:g}" for epsilon in epsilons],
        "y": [f"{n:,}" for n in users],
        "z": z.astype(np.float32),
        "zmin": -_LARGEST_GAIN,
        "zmax": _LARGEST_GAIN,
        "colorscale": [[0, QUANTITIES["inv_p"].colour], [0.5, "#F7F7F7"], [1, QUANTITIES["mle_star"].colour]],
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "text": [
            [percent(value, 2) if abs(value) >= _A_TENTH else "0%" for value in row] for row in z.tolist()
        ],
        "texttemplate": "%{text}",
        "textfont": {"size": 14, "color": "#141414"},
        "hovertemplate": "ε = %{x}, %{y} users per category: %{text} less<extra></extra>",
    }
    clear = [gain for gain in of_k if gain.ratio < 1 - _SURE * gain.error]
    worse = [gain for gain in of_k if gain.ratio > 1 + _SURE * gain.error]
    best = min(of_k, key=lambda gain: gain.ratio)
    reading = (
        f"K = {k}: in {len(clear)} of {len(of_k)} settings MLE's mean squared error is clearly smaller than InvP's, by "
        f"up to {percent(1 - best.ratio, 2)} (ε = {best.epsilon:g}, {best.n // k:,} users per category); in {len(worse)} "
        "it is clearly larger."
    )
    x, y = axis("Privacy ε", type="category"), axis("Users per category, N/K", type="category")
    return figure([trace], x, y, reading, height=330, margin={"t": 14})
