"""Collected reports drawn: estimates with their intervals, the floor under the reports."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rr_core._validate import Array
from rr_core.figures import style
from rr_core.figures.estimators import hover
from rr_core.figures.view import Bars
from rr_core.plain_text import plain
from rr_core.registry import ESTIMATORS
from rr_core.reports.intervals import Interval
from rr_core.reports.low_counts import Floor
from rr_core.reports.survey import Survey
from rr_core.rounding import between, counted, number, percent, whole

ESTIMATES = {**{name: style.QUANTITIES[name] for name in ESTIMATORS}, "mle": style.MLE}
_INV, _INTERVAL = style.QUANTITIES["inv"], "interval of Inv"
_BESIDE = 0.18  # between two estimates of a category


def with_intervals(
    estimates: Mapping[str, Array],
    chosen: str,
    interval: Interval | None,
    above: NDArray[np.bool_] | None,
    people: float | None,
    view: Bars,
    zoom: bool = False,
) -> go.Figure:
    """One estimator, drawn large, the others as small markers, and the interval of Inv of each category on Inv's
    own.

    Args:
        estimates: (k,) by name.
        chosen: the estimator that is drawn large.
        interval: (k,) limits of Inv, not cut; they are drawn cut to [0, 1]. None where there is no Inv.
        above: (k,) whether the share is significantly above zero; the others get open markers. None as
            ``interval``.
        people: that the shares are of; None where nobody knows.
        view: which categories.
        zoom: leave the largest share out of the range of the axis, and write it at the edge.
    """
    others = [name for name in estimates if name != chosen]
    marked = np.ones_like(estimates[chosen], dtype=bool) if above is None else above
    side_by_side = (np.arange(len(estimates)) - (len(estimates) - 1) / 2) * _BESIDE
    x = {name: view.x + offset for name, offset in zip(estimates, side_by_side.tolist(), strict=True)}
    traces = [
        view.marks(
            ESTIMATES[name].name,
            view.pick(estimates[name]),
            hover(ESTIMATES[name].name, estimates[name]),
            x=x[name],
            marker=ESTIMATES[name].marker(8, opacity=0.8),
        )
        for name in others
    ]
    drawn = _chosen(chosen, estimates[chosen], x[chosen], marked, people, view)
    first = int(view.categories[0])
    share = f"{percent(float(estimates[chosen][first]))} by {ESTIMATES[chosen].name}"
    y = style.axis("Share of users", tickformat=style.SHARE)
    if interval is None or above is None:
        return style.figure([*traces, drawn], view.axis(), y, _without_inv(share))
    ends, interval = interval, interval.cut()
    limits = view.pick(interval.low), view.pick(interval.high)
    width, cap = (2.5, 10) if view.x.size <= 30 else (1.5, 4)
    words = f"the interval of Inv ends at %{{y:{style.share_format(limits)}}}"
    traces += [
        style.interval_trace(_INTERVAL, x["inv"], limits, view.names, words, _INV.colour, width, (cap, 2)),
        drawn,
    ]
    outside = ends.wholly(first)
    shown = ends if outside else interval
    cut = ", cut at 0 and 1," if ends.is_cut(first) else ""
    scope = "all intervals together are" if interval.simultaneous else "each interval alone is"
    reading = (
        f"Markers of {ESTIMATES[chosen].name} are filled where the share is larger than chance alone would make it: "
        f"{int(above.sum()):,} of {above.size:,}. The first one shown is {share}; the interval of "
        f"Inv{cut} is {between(float(shown.low[first]), float(shown.high[first]))}"
        f"{outside}; {scope} meant to hold the truth in {percent(interval.level)} of "
        "collections."
    )
    more: dict[str, Any] = {}
    if zoom:
        picked = view.pick(estimates[chosen])
        largest = int(picked.argmax())
        y["range"] = without_the_largest(view, estimates[chosen], interval)
        more["annotations"] = [
            {
                "text": f"↑ {percent(float(picked[largest]))}",
                "x": view.x[largest],
                "y": 1,
                "yref": "paper",
                "yanchor": "top",
                "showarrow": False,
            }
        ]
    return style.figure(traces, view.axis(), y, reading, **more)


def by_group(survey: Survey, category: int, *, simultaneous: bool = False) -> go.Figure:
    """The share of one category, from 0, in all groups by Inv, or where there is none by maximum likelihood; and the
    intervals, for each category or for all of a group at once."""
    name = "inv" if "inv" in survey.analyses[0].estimates else "mle"
    quantity, groups = ESTIMATES[name], [plain(group, 30) for group in survey.groups]
    shares = np.array([one.estimates[name][category] for one in survey.analyses])
    y = np.arange(len(groups))
    names = [html.escape(group) for group in groups]
    traces: list[dict[str, Any]] = []
    limits = survey.intervals(simultaneous=simultaneous)
    if limits:
        low, high = (np.array([getattr(one, end)[category] for one in limits]) for end in ("low", "high"))
        words = f"the interval of Inv ends at %{{x:{style.share_format((low, high))}}}"
        traces.append(
            style.interval_trace(
                _INTERVAL, y, (low, high), names, words, _INV.colour, 2.5, (10, 2), lying=True
            )
        )
    under = f"%{{customdata}}<br>{quantity.name}: %{{x:{style.share_format(shares)}}}"
    traces.append(
        style.mark_trace(quantity.name, shares, y, under, customdata=names, marker=quantity.marker(11))
    )
    most, least = int(shares.argmax()), int(shares.argmin())
    reading = (
        f"By {quantity.name} the share of “{plain(survey.categories[category])}” is largest in “{groups[most]}”, "
        f"{percent(float(shares[most]))}, and smallest in “{groups[least]}”, {percent(float(shares[least]))}."
    )
    labels = {"tickvals": y, "ticktext": names, "range": [len(groups) - 0.5, -0.5]}
    return style.figure(
        traces,
        style.axis("Share of users", tickformat=style.SHARE),
        style.axis("", **labels, showgrid=False, zeroline=False),
        reading,
        height=max(220, 110 + 30 * len(groups)),
    )


def _without_inv(share: str) -> str:
    return f"The first share of the picture is {share}; there is no Inv, and no interval."


def without_the_largest(view: Bars, estimate: Array, interval: Interval) -> list[float]:
    """The range that shows every interval but that of the largest share; at least a hundredth of that share."""
    shares = view.pick(estimate)
    largest = int(shares.argmax())
    low, high = (np.delete(view.pick(ends), largest) for ends in (interval.low, interval.high))
    bottom, top = min(float(low.min()), 0.0), float(high.max())
    room = 0.06 * max(top - bottom, 0.01 * float(shares[largest]), 1e-12)
    return [bottom - room, top + room]


def is_dominated(view: Bars, estimate: Array, interval: Interval) -> bool:
    """Whether one category is so large that the others could not be told apart beside it, and would be without it."""
    if view.categories.size < 3:
        return False
    largest = int(view.pick(estimate).argmax())
    top = float(np.delete(view.pick(interval.high), largest).max())
    return 0 < 5 * top < float(view.pick(estimate)[largest])


def reports_floor(found: Floor) -> go.Figure:
    """Reports of the least reported categories, beside the N q that noise alone brings, and the limit of too few."""
    observed, expected, truth = (style.QUANTITIES[name] for name in ("observed", "expected", "truth"))
    traces = [
        style.mark_trace(
            "reports of this rank",
            found.ranks,
            found.reports,
            "%{x:,}. least reported: %{y:,} reports",
            mode="markers" if found.ranks.size <= 40 else "lines",
            marker=observed.marker(9),
            line={"color": observed.colour, "width": 3},
        ),
        style.line_trace(
            "too few by chance",
            found.ranks,
            np.maximum(found.lowest, 0),
            "rank %{x:,}: %{customdata} be too few",
            line={"color": truth.colour, "width": 1.5, "dash": "dot", "shape": "hv"},
            fill="tozeroy",
            fillcolor=truth.faded(0.22),
            customdata=[
                f"{counted(low, 'report')} or fewer would" if low >= 0 else "no number of reports would"
                for low in found.lowest.tolist()
            ],
        ),
        style.line_trace(
            "N·q, expected if nobody is there",
            found.ranks[[0, -1]],
            np.full(2, found.level),
            "N·q = %{y:,.4~g} reports",
            line=expected.line(2),
        ),
    ]
    below = found.too_few
    level = number(found.level, 4)
    last, fewer = int(found.ranks[-1]), ""
    if last < found.k:
        fewer = f"Only the {last:,} least reported of {found.k:,} are compared. "
    reading = f"{fewer}Even a category that nobody has should get about N·q = {level} reports, give or take chance; "
    reading += (
        f"{below:,} of the {found.ranks.size:,} ranks drawn {'lies' if below == 1 else 'lie'} in the grey region of too "
        f"few, where chance alone puts any of them in at most {found.chance:.0%} of collections."
        if below
        else "no rank lies in the grey region of too few."
    )
    wide = found.ranks[-1] > 60
    x: dict[str, Any] = {"type": "log", "dtick": 1, "tickformat": ",d"} if wide else {"tickformat": ",d"}
    if found.ranks[-1] <= 10:
        x["dtick"] = 1  # else the ticks between two ranks are labelled by one of them
    title = "Rank from the least reported" + (" (logarithmic)" if wide else "")
    heights = [found.level, *found.reports[[0, -1]], *np.maximum(found.lowest[[0, -1]], 0)]
    bottom, top = min(heights), max(*heights, 1.0)
    room = 0.12 * (top - bottom)
    y = style.axis("Reports", range=[max(bottom - room, 0.0), top + room], **style.COUNT)
    return style.figure(traces, style.axis(title, **x), y, reading, height=340)


def _chosen(
    chosen: str, estimate: Array, x: Array, above: NDArray[np.bool_], people: float | None, view: Bars
) -> dict[str, Any]:
    quantity, values = ESTIMATES[chosen], view.pick(estimate)
    numbers = np.full(values.shape, np.nan) if people is None else whole(values * people)
    return style.mark_trace(
        quantity.name,
        x,
        values,
        f"%{{customdata[0]}}<br>{hover(quantity.name, estimate)}"
        + ("" if people is None else " (%{customdata[1]:,.0f} people)"),
        customdata=[[name, number] for name, number in zip(view.names, numbers.tolist(), strict=True)],
        marker={
            **quantity.marker(11 if view.x.size <= 60 else 7, line={"color": quantity.colour, "width": 2}),
            "color": np.where(view.pick(above), quantity.colour, "rgba(0,0,0,0)"),
        },
    )
