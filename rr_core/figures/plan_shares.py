"""How many people one share takes under a design of surveys: the curve against the share, and what is said of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rr_core.figures.plan_sentences import number_of_users
from rr_core.figures.style import RIM, SHARE, axis, figure, number, percent
from rr_core.figures.traces import line_trace, mark_trace
from rr_core.plan.one_share import Goal, ShareCurve

_COLOUR = "#2F8FBF"
_DIGITS = 6  # of what was typed
_TOO_MANY = "more than a trillion (10¹²) people"


def people_against_share(curve: ShareCurve) -> go.Figure:
    """The number of people against the assumed share, which is marked."""
    reached = np.isfinite(curve.people)
    logarithmic = curve.hardest is None
    each = " in each group" if curve.goal.kind == "difference" else ""
    hover = f"share %{{x:{SHARE}}}<br>%{{y:,.0f}} people{each}"
    traces = [
        line_trace(
            f"people needed{each}",
            curve.shares[reached],
            curve.people[reached],
            hover,
            line={"color": _COLOUR, "width": 3.5},
        )
    ]
    if np.isfinite(curve.needed):
        marker = {"color": _COLOUR, "symbol": "diamond", "size": 14, "line": {"width": 1.5, "color": RIM}}
        traces.append(mark_trace("the share you expect", [curve.share], [curve.needed], hover, marker=marker))
    which = "Share in the group with fewer" if each else "Share of people who have it"
    scale = " (log scale)" if logarithmic else ""
    x: dict[str, Any] = {"range": [0, 1.02 * curve.goal.largest_share]}
    y: dict[str, Any] = {"rangemode": "tozero"}
    if logarithmic:
        x = {"type": "log", "dtick": 1, "range": [math.log10(curve.shares[0]), 0.03]}
        y = {"type": "log", "dtick": 1}
    return figure(
        traces,
        axis(which + scale, tickformat="~%", **x),
        axis(f"People needed{each}{scale}", tickformat="~s", **y),
        f"{_at(curve.share)} it takes {_people(curve.needed)}{each}. {others(curve)}",
        height=360,
    )


def _at(share: float) -> str:
    return f"At a share of {percent(share, _DIGITS)}"


def _people(needed: float) -> str:
    if not np.isfinite(needed):
        return _TOO_MANY
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
            f"{people}.** If {share} have it, the 95% interval of their share reaches "
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


_NORMAL = "This is by the normal law, which is rough where only a few reports of some kind come in."


def promise(goal: Goal) -> str:
    """What a goal means, and by which law."""
    if goal.kind == "half_width":
        return (
            "An interval of 95% holds the share of the population in 95 of 100 surveys. It has this half-width when as "
            f"many reports of each kind come in as are expected. {_NORMAL}"
        )
    if goal.kind == "difference":
        return (
            "The test has two sides and a level of 5%: where both shares are equal, it errs in 5 of 100 surveys. "
            f"{_NORMAL}"
        )
    return (
        "The test counts the reports that speak for it. This is by the exact binomial law, and a larger number of people "
        "is enough, too. The curve has steps, because reports are whole."
    )


FORMULAS = r"""
$a$ and $b$ are the chances of a “yes” from those who have it and from all others, and $m = b + (a-b)\pi$ that of anybody
at a share $\pi$. The unbiased estimate of $\pi$ from $N$ people has the variance $V(\pi)/N$ with

$$V(\pi) = \frac{m(1-m)}{(a-b)^2},$$

and with more kinds of reports than two that of the design's table of chances.

- **A narrow interval:** $N = 1.96^2\,V(\pi)/h^2$ for a half-width of $h$.
- **To tell it from zero:** $\mathrm{Binomial}(N, b)$ reaches a number of “yes” with a chance of 5% at most;
  $\mathrm{Binomial}(N, m)$ reaches it with the power. With more kinds of reports, those count as “yes” for which
  $(a-b)^2/(b(1-b))$ is largest.
- **To tell two groups apart:** $N = (1.96 + z)^2\,\big(V(\pi) + V(\pi+d)\big)/d^2$ in each, for a difference of $d$;
  $z$ is 0.84 for a power of 80% and 1.28 for 90%.
"""
