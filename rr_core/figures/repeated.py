"""Repeated collections drawn: the distribution of error, bias and variance, who was best and worst."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.comparison import ESTIMATORS, VALID
from rr_core.figures.style import ESTIMATES, QUANTITIES, RANKS, axis, figure
from rr_core.repeats import Repeats

METRIC_TITLES = {
    "mse": "Squared error, summed over categories",
    "tv": "Total variation",
    "max": "Largest error of any category",
    "nll": "Negative log-likelihood per report (nats)",
}
_MOST_POINTS = 400


def error_distribution(result: Repeats, metric: str) -> go.Figure:
    """One box per estimator: the errors over all collections, with their mean."""
    errors = result.errors[metric]
    traces: list[dict[str, Any]] = []
    for index, name in enumerate(ESTIMATES):
        quantity, values = QUANTITIES[name], errors[:, index]
        finite = values[np.isfinite(values)]
        traces.append(
            {
                "type": "box",
                "name": quantity.name,
                "x": _thinned(finite),
                "boxmean": True,
                "boxpoints": "outliers",
                "marker": {"color": quantity.colour, "symbol": quantity.symbol, "size": 5},
                "line": {"color": quantity.colour, "width": 2},
                "hoverinfo": "x",
            }
        )
    means = {name: float(errors[:, list(ESTIMATORS).index(name)].mean()) for name in VALID}
    least = QUANTITIES[min(means, key=means.__getitem__)].name
    reading = (
        f"Over {result.done:,} collections {least} has the smallest mean error of the three valid estimators "
        f"({METRIC_TITLES[metric].lower()})."
        if len({f"{value:.9g}" for value in means.values()}) > 1
        else f"Over {result.done:,} collections the three valid estimators have the same error."
    )
    spread = errors[np.isfinite(errors) & (errors > 0)]
    wide = metric != "nll" and spread.size > 0 and spread.max() > 30 * spread.min()
    scale: dict[str, Any] = {"exponentformat": "power"}
    if wide:
        scale |= {"type": "log", "dtick": 1}
    title = METRIC_TITLES[metric] + (" (logarithmic)" if wide else "")
    y = axis("Estimator", autorange="reversed")
    return figure(traces, axis(title, **scale), y, reading, showlegend=False, height=330)


def bias_and_variance(result: Repeats) -> go.Figure:
    """Stacked bars: squared bias plus variance is the mean squared error."""
    names = [QUANTITIES[name].name for name in ESTIMATES]
    colours = [QUANTITIES[name].colour for name in ESTIMATES]
    bias = [max(result.bias2(name), 0.0) for name in ESTIMATES]
    variance = [result.variance(name) for name in ESTIMATES]
    common = {"type": "bar", "orientation": "h", "y": names, "marker": {"color": colours}}
    plain = {"color": colours, "pattern": {"shape": "x", "size": 6, "solidity": 0.5}}
    traces = [
        {
            **common,
            "name": "squared bias (cross-hatched)",
            "x": bias,
            "marker": plain,
            "hovertemplate": "%{y}<br>squared bias: %{x:.4~g}<extra></extra>",
        },
        {
            **common,
            "name": "variance (plain)",
            "x": variance,
            "hovertemplate": "%{y}<br>variance: %{x:.4~g}<extra></extra>",
        },
    ]
    reading = (
        "No collection had a negative, so the valid estimators are Inv itself: no bias, and the same variance."
        if result.tied["mse"] == result.done
        else "Mean squared error split in two: Inv is all variance, up to chance; the valid estimators pay "
        "some bias for less variance."
    )
    x = axis("Squared bias + variance", exponentformat="power", nticks=5)
    y = axis("Estimator", autorange="reversed")
    return figure(traces, x, y, reading, barmode="stack", height=330)


def wins(result: Repeats, metric: str) -> go.Figure:
    """How often each valid estimator was best, in between, or worst."""
    done = max(result.done, 1)
    tied = result.tied[metric] / done
    best = np.array([result.best[metric][name] / done for name in VALID])
    worst = np.array([result.worst[metric][name] / done for name in VALID])
    parts = {
        "best": best,
        "in between": np.maximum(1 - tied - best - worst, 0),
        "worst": worst,
        "all equal": np.full(len(VALID), tied),
    }
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "y": [QUANTITIES[name].name for name in VALID],
            "x": share,
            "marker": {
                "color": RANKS[label][0],
                "pattern": {"shape": RANKS[label][1], "size": 6, "solidity": 0.4},
            },
            "hovertemplate": "%{y}<br>" + label + ": %{x:.1%}<extra></extra>",
        }
        for label, share in parts.items()
        if share.any()
    ]
    often = QUANTITIES[VALID[int(best.argmax())]].name
    reading = (
        f"{often} was most often the best of the three, in {best.max():.0%} of {result.done:,} collections; "
        f"MLE* was the worst in {worst[VALID.index('mle_star')]:.1%}."
        if tied < 1
        else f"No collection had a negative: the three estimators were equal in all {result.done:,}."
    )
    x = axis("Share of collections", tickformat=".0%", range=[0, 1])
    return figure(traces, x, axis("Estimator", autorange="reversed"), reading, barmode="stack", height=300)


def _thinned(values: Any) -> Any:
    """At most a few hundred values with the same quantiles and both extremes."""
    if values.size <= _MOST_POINTS:
        return values
    return np.quantile(values, np.linspace(0, 1, _MOST_POINTS))
