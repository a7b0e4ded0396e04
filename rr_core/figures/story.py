"""A small figure for the home page: truth, reports and estimate."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from rr_core.comparison import Comparison
from rr_core.figures.style import QUANTITIES, SHARE, axis, figure, number, percent, share_format
from rr_core.figures.view import Bars, View
from rr_core.mechanism import RandomizedResponse
from rr_core.scenario import Draw
from rr_core.summaries import Closeness

_GIVEN_AWAY = 0.9  # chance of a true report from which a report gives nearly all away
_ROUNDING = 1e-12


def story(draw: Draw, result: Comparison, distance: Closeness | None, view: View) -> go.Figure:
    """Shares of truth, of reports, and the maximum-likelihood estimate, per category or along the ranks.

    ``distance`` says how far reports and estimate are from the truth; with None the truth is left out.
    """
    series = {
        "truth": ("Truth", draw.theta),
        "observed": ("Reports", draw.counts / draw.scenario.n),
        "mle_star": ("Estimate", result.estimates["mle_star"]),
    }
    if distance is None:
        del series["truth"]
    traces = [_trace(view, key, name, values) for key, (name, values) in series.items()]
    y = axis("Share of users or reports", tickformat=SHARE, rangemode="tozero")
    return figure(
        traces,
        view.axis(),
        y,
        _reading(distance, draw.mechanism),
        barmode="group",
        bargap=0.25,
        height=370,
        hovermode=view.hovermode,
    )


def one_answer(mechanism: RandomizedResponse) -> str:
    """What one answer alone tells, in a sentence: it is the truth with chance p, whatever the truth."""
    digits = 3  # as many as it takes to tell it from one half
    while digits < 12 and abs(mechanism.p - 0.5) >= _ROUNDING and percent(mechanism.p, digits) == "50%":
        digits += 1
    chance = percent(mechanism.p, digits)
    if mechanism.p >= _GIVEN_AWAY:
        return f"With these settings one answer nearly gives a person away: it is the truth with chance {chance}."
    if abs(mechanism.p - 0.5) < _ROUNDING:
        often = "as often false as true"
    else:
        often = "more often false" if mechanism.p < 0.5 else "more often true"
    return (
        f"One answer leaves doubt: it is the truth with chance {chance} ({percent(mechanism.keep)} because the coin says "
        f"so, {percent(mechanism.q)} by accident), {often}."
    )


def two_ways(mechanism: RandomizedResponse) -> str:
    """The two ways in which a report can be true: p = (p − q) + q, in a sentence."""
    return (
        f"A report is the truth with chance p = {percent(mechanism.p)}: {percent(mechanism.keep)} because the coin says "
        f"so (p − q), and {percent(mechanism.q)} by accident, as an answer at random (q)."
    )


def _reading(distance: Closeness | None, mechanism: RandomizedResponse) -> str:
    """Whether reports or estimate are nearer to the truth in this draw; no order between distances that round
    to the same text."""
    if distance is None:
        return "The estimate (green) takes out the expected noise, from the reports (blue) alone; the truth is hidden."
    far, near = percent(distance.reports), percent(distance.estimate)
    if distance.reports < _ROUNDING:
        also = (
            "and so has the estimate (green)"
            if distance.estimate < _ROUNDING
            else f"and the estimate (green), which reckons with noise, is {near} away"
        )
        return f"In this draw the reports (blue) have exactly the shares of the truth (grey), {also}."
    if far == near or abs(distance.reports - distance.estimate) < _ROUNDING:
        return f"In this draw reports (blue) and estimate (green) are both {far} away from the truth (grey)."
    if distance.estimate < distance.reports:
        return (
            f"The reports (blue) are {far} away from the truth (grey); the estimate (green) takes out the "
            f"expected noise and is {near} away."
        )
    stretch = number(1 / mechanism.keep)
    why = (
        f" Taking out the noise stretches what chance did to the reports {stretch} times; with more users or a "
        "larger ε that comes to less."
        if stretch != "1"
        else ""
    )
    return f"In this draw the estimate (green) is {near} away from the truth (grey), the reports {far}.{why}"


def _trace(view: View, key: str, name: str, values: Any) -> dict[str, Any]:
    quantity = QUANTITIES[key]
    if isinstance(view, Bars):
        return {
            "type": "bar",
            "name": name,
            "x": view.x,
            "y": view.pick(values),
            "customdata": view.names,
            "marker": {"color": quantity.colour},
            "hovertemplate": f"%{{customdata}}<br>{name}: %{{y:{share_format(values)}}}<extra></extra>",
        }
    y = view.mean(values[view.order])
    return view.line(name, y, f"%{{y:{share_format(y)}}}", color=quantity.colour, dash=quantity.dash, width=3)
