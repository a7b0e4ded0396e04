"""How far the plan is from the best possible."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from pages._ui import chart
from pages._ui.plan.planned import Planned
from rr_core.figures.plan_bounds import error_and_bounds, nothing_better
from rr_core.figures.wording import alike, times
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN
from rr_core.plan import bounds
from rr_core.plan.bounds import BoundCurves

_POINTS = 61


def section(found: Planned) -> None:
    """The error of Inv, the bounds under it, and what they assume."""
    st.subheader("How far from the best possible?")
    curves = at_plan(found)
    st.markdown(words(curves))
    chart.show(error_and_bounds(curves), "plan_bounds")
    with st.expander("What the bounds assume"):
        st.markdown(_table(curves))


def at_plan(found: Planned) -> BoundCurves:
    """Error and bounds around the plan."""
    budgets = np.geomspace(EPSILON_APP_MIN, EPSILON_APP_MAX, _POINTS)
    return bounds.against_epsilon(budgets, found.k, found.epsilon, found.n, found.asked.users)


def words(curves: BoundCurves) -> str:
    """How many times the least error k-RR has, as markdown."""
    if math.isnan(curves.floor):
        return (
            "With so few users the bound at equal shares is not drawn here: a constant answer, 1/K for every category, "
            "may be nearer to the truth than any unbiased estimate."
        )
    ratio = curves.now / curves.floor
    if nothing_better(curves):
        return "**Nothing is better here:** no protocol with an unbiased estimate has a smaller error at equal shares."
    if alike(ratio):
        return (
            "Inv under k-RR has **hardly more than** the smallest squared error that any protocol with an unbiased "
            "estimate can have at equal shares."
        )
    return (
        f"Inv under k-RR has **{times(ratio)}** the smallest squared error that any protocol with an unbiased "
        f"estimate can have at equal shares: **{times(ratio)} the users** for the same error. Where the truth is "
        "concentrated, repaired estimates can be below the bound, because they are not unbiased."
    )


def _table(curves: BoundCurves) -> str:
    lines = ["| Bound | Kind | What it assumes | Source |", "|:--|:--|:--|:--|"]
    lines += [f"| {row.name} | {row.kind} | {row.assumes} | {row.source} |" for row in curves.bounds]
    return (
        "\n".join(lines)
        + "\n\nErrors are total squared errors, the sum over the K categories. A line ends where what it assumes fails, "
        "and that of a lower bound where it is above 1 − 1/K: the constant answer 1/K has no larger error."
    )
