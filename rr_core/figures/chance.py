"""The chance that an empty category goes negative, for any number of users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.figures.style import QUANTITIES, SHARE, axis, figure, number, percent, share_format
from rr_core.law import negative_chance
from rr_core.limits import N_MAX, N_MIN
from rr_core.mechanism import RandomizedResponse
from rr_core.summaries import ExpectedNegatives

INV = QUANTITIES["inv"]


def chance_against_users(n: int, mechanism: RandomizedResponse, observed: float) -> go.Figure:
    """Exact chance of a negative against N, with the scenario's own N and the share observed there.

    Args:
        n: the scenario's number of users.
        mechanism: the randomized response.
        observed: share of empty categories below zero in repeated draws.
    """
    users = np.unique(np.round(np.geomspace(N_MIN, N_MAX, 700)))
    here, chances = float(negative_chance(n, mechanism)), negative_chance(users, mechanism)
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "exact chance",
            "x": users,
            "y": chances,
            "line": {"color": INV.colour, "width": 2},
            "hovertemplate": f"%{{x:,.0f}} users<br>chance of a negative: %{{y:{share_format(chances)}}}<extra></extra>",
        },
        _point("this scenario, exact", n, here, INV.colour, "circle"),
        _point("this scenario, seen in repeated draws", n, observed, QUANTITIES["observed"].colour, "x"),
    ]
    half = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0.5, "y1": 0.5}
    return figure(
        traces,
        axis("Users N (logarithmic)", type="log", tickformat="~s"),
        axis("Chance of a negative estimate", tickformat=SHARE, range=[-0.03, 1.05]),
        chance_in_words(n, here),
        shapes=[{**half, "line": {"color": QUANTITIES["truth"].colour, "dash": "dash", "width": 1.5}}],
        height=340,
    )


def chance_in_words(n: int, chance: float) -> str:
    """What the figure says of this scenario's exact chance."""
    return (
        f"A category that nobody has goes negative with chance {percent(chance)} at N = {n:,}; with more and more "
        "users the chance tends to one half, not to zero (the saw-tooth: reports are whole numbers)."
    )


def more_users(expected: Sequence[ExpectedNegatives]) -> str:
    """A markdown table: how many negatives to expect, of held and of empty categories, with more and more users."""
    first = expected[0]
    head = ["Negatives to expect", *(f"N = {one.n:,}" for one in expected)]
    rows = [
        (f"of {_categories(first.of_held)} that somebody has", [one.held for one in expected], first.of_held),
        (f"of {first.of_empty:,} that nobody has", [one.empty for one in expected], first.of_empty),
    ]
    lines = [head, [":--", *["--:"] * len(expected)]]
    lines += [
        [label, *(_expected(value, of) if of else "–" for value in values)] for label, values, of in rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _categories(many: int) -> str:
    return "1 category" if many == 1 else f"{many:,} categories"


def _expected(value: float, of: int) -> str:
    """With as many digits as it takes not to read as all ``of`` them where it is fewer."""
    if value < 0.001:
        return "below 0.001"
    digits = max(3, len(str(round(value))))
    while digits < 12 and value < of and number(value, digits) == number(of, digits):
        digits += 1
    return number(value, digits)


def _point(name: str, x: int, y: float, colour: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [x],
        "y": [y],
        "marker": {"color": colour, "symbol": symbol, "size": 13, "line": {"width": 2, "color": colour}},
        "hovertemplate": f"{name}<br>N = {x:,}: {percent(y)}<extra></extra>",
    }
