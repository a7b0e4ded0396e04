"""What shuffling the plan's reports would add."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages._ui import chart
from pages._ui.plan.planned import Planned
from rr_core.figures.plan_shuffling import central_against_users
from rr_core.figures.plan_words import budget, round_up
from rr_core.figures.style import number
from rr_core.plan import shuffling
from rr_core.plan.shuffling import Shuffled

_DELTAS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
_POINTS = 81


def section(found: Planned) -> float:
    """Choose delta, and see the central epsilon; gives delta."""
    st.subheader("If the reports are shuffled")
    delta = st.select_slider(
        "δ",
        _DELTAS,
        value=1e-6,
        format_func=number,
        key="plan_delta",
        width=260,
        help="The chance that is left for the guarantee to fail; it should be far below 1/N.",
    )
    now = shuffling.shuffled(found.epsilon, found.n, delta)
    st.markdown(words(found, now))
    ends = min(1e2, found.n / 10), max(1e9, found.n * 10.0)
    curve = shuffling.against_users(np.geomspace(*ends, _POINTS), found.epsilon, found.n, delta)
    chart.show(central_against_users(curve), "plan_shuffling")
    return float(delta)


def words(found: Planned, now: Shuffled) -> str:
    """The guarantee and the condition, as markdown."""
    condition = (
        f"Condition: N ≥ 16 ln(2/δ) e^ε = {now.users_needed:,}; with N = {found.n:,} it "
        f"**{'holds' if now.holds else 'does not hold'}**."
    )
    if not now.holds:
        return (
            "Somebody who mixes all reports and removes who sent which hides each report among the others. The bound "
            f"used here says nothing yet for so few users. {condition} The local ε = {budget(found.epsilon)} still holds."
        )
    central = number(round_up(now.epsilon, 3))
    if now.epsilon >= found.epsilon:
        return (
            "Somebody who mixes all reports and removes who sent which hides each report among the others. With so few "
            f"users the bound used here does not come below the local ε = {budget(found.epsilon)}. {condition}"
        )
    return (
        "Somebody who mixes all reports and removes who sent which hides each report among the others. To whoever sees "
        f"only the mixed reports the collection is (ε, δ)-private with **central ε at most {central}** at δ "
        f"= {number(now.delta)}, rather than {budget(found.epsilon)}. It is an upper bound (Feldman, McMillan and Talwar "
        f"2021): the true loss may be smaller. {condition}"
    )
