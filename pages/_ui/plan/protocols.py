"""Should it be k-RR at all? The four protocols at the plan's place."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages._ui import chart
from pages._ui.plan.planned import Planned
from pages._ui.plan.settings import people
from rr_core._validate import Array
from rr_core.figures.plan_protocols import PROTOCOLS, last_below, rmse_against_epsilon, rmse_against_k
from rr_core.figures.style import number, percent
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN, K_MAX, K_MIN
from rr_core.plan import protocols
from rr_core.plan.protocols import Protocol

_POINTS = 41


def section(found: Planned) -> None:
    """The rule with both sides, the table, and where it flips."""
    st.subheader("Should it be RR at all?")
    compared = at_plan(found)
    st.markdown(f"{rule(found)}\n\n{_table(compared)}\n\n{_notes(found)}")
    left, right = st.columns(2, gap="medium")
    with left:
        curves = protocols.against_k(_ks(found.k), found.k, found.epsilon, found.n, users=found.asked.users)
        chart.show(rmse_against_k(curves, found.epsilon), "plan_protocols_k")
    with right:
        budgets = np.geomspace(EPSILON_APP_MIN, EPSILON_APP_MAX, _POINTS)
        curves = protocols.against_epsilon(budgets, found.k, found.epsilon, found.n, users=found.asked.users)
        chart.show(rmse_against_epsilon(curves, found.k), "plan_protocols_epsilon")


def at_plan(found: Planned) -> tuple[Protocol, ...]:
    """The four protocols, in the mean over all categories."""
    return protocols.compare(found.k, found.epsilon, found.n, 1 / found.k, found.asked.users)


def rule(found: Planned) -> str:
    """K < 3 e^eps + 2 with both sides as numbers, as markdown."""
    right = protocols.flip_k(found.epsilon)
    holds = found.k < right
    sign, verdict = (
        ("<", "**k-RR is the better choice**")
        if holds
        else ("≥", "**unary encoding or hashing would do better**")
    )
    flip = protocols.flip_epsilon(found.k)
    where = (
        f"It flips at ε = ln((K − 2)/3) = {number(flip)}."
        if flip > 0
        else "With so few categories k-RR is better at every ε."
    )
    return (
        f"The rule says k-RR while **K < 3e^ε + 2**: here {found.k:,} {sign} {number(right, 4)}, so {verdict} for a rare "
        f"category. {where}"
    )


def cells(row: Protocol) -> tuple[str, str, str, str]:
    """Name, RMSE, users relative to the best, and bits as sent and ideally coded."""
    short = PROTOCOLS[row.key].name
    name = short if short == row.name else f"{short}: {row.name[0].lower()}{row.name[1:]}"
    factor = number(row.users_relative, 4)
    times = "best" if row.best else "the same" if factor == "1" else f"{factor} times"
    return name, percent(row.rmse), times, f"{row.bits:,} ({number(row.coded_bits)})"


def _table(compared: tuple[Protocol, ...]) -> str:
    lines = [
        "| Protocol | RMSE per category | Users for the same error | Bits per report (ideally coded) |",
        "|:--|--:|--:|--:|",
    ]
    for row in compared:
        name, *others = cells(row)
        shown = f"**{name}**" if row.best else name
        lines.append(f"| {shown} | {' | '.join(others)} |")
    return "\n".join(lines)


def _notes(found: Planned) -> str:
    most = last_below(protocols.flip_k_of_mean(found.epsilon))
    return (
        f"At the plan's ε = {found.epsilon:g} and N = {people(found.n)}. The rule is about a share near 0; in the RMSE "
        f"over all categories, as in the table, k-RR is best up to K = {most:,} only. Local hashing sends which "
        "hash function was drawn besides the value; unary encoding sends one bit per category."
    )


def _ks(k: int) -> Array:
    """Whole numbers of categories around the plan's, in equal ratios."""
    low, high = max(K_MIN, k / 100), min(K_MAX, max(k * 100, 1000))
    whole: Array = np.unique(np.rint(np.geomspace(low, high, _POINTS))).astype(np.int64)
    return whole
