"""Should it be k-RR at all? Five protocols at the plan's place."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages._ui import chart
from pages._ui.plan.planned import Planned
from pages._ui.plan.settings import people
from rr_core._validate import Array
from rr_core.figures.plan_protocols import PROTOCOLS, last_whole, rmse_against_epsilon, rmse_against_k
from rr_core.figures.plan_words import budget, round_up
from rr_core.figures.style import number, percent
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN, K_MAX, K_MIN
from rr_core.plan import protocols
from rr_core.plan.protocols import Protocol

_POINTS = 41
_SAME = 1e-9  # relative: below, two errors differ by rounding alone


def section(found: Planned) -> None:
    """Which has the smallest error, the table, and where that changes."""
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
    """The five protocols, in the mean over all categories."""
    return protocols.compare(found.k, found.epsilon, found.n, 1 / found.k, found.asked.users)


def rule(found: Planned) -> str:
    """Whether one of the others would do with fewer users, and until where k-RR is as good as any, as markdown."""
    rows = at_plan(found)
    rr, best = rows[0], next(row for row in rows if row.best)
    name = f"{best.name[0].lower()}{best.name[1:]}"
    factor = number(rr.users_relative, 4)
    verdict = (
        "**none of the five protocols below has a smaller error than k-RR**"
        if rr.best
        else f"**{name} has the smallest error of the five below**, but k-RR needs less than 0.1% more users"
        if factor == "1"
        else f"**{name} has the smallest error of the five below**; k-RR needs "
        f"**{factor} times its users** for the same error"
    )
    where = "Here" if found.asked.users == "fixed" else "Here, when all shares are equal,"
    most, least = last_whole(protocols.single_k(found.epsilon)), protocols.single_epsilon(found.k)
    from_epsilon = f"from ε = {number(round_up(least, 3))} on" if least > 0 else "at every ε"
    return (
        f"{where} {verdict}. At ε = {budget(found.epsilon)} k-RR is as good as any of them up to K = {most:,}; with "
        f"K = {found.k:,} it is so {from_epsilon}. (The known rule K < 3e^ε + 2 compares k-RR with unary encoding only, "
        "and for a category that hardly anybody has.)"
    )


def cells(row: Protocol) -> tuple[str, str, str, str]:
    """Name, RMSE, users relative to the best, and bits as sent and ideally coded."""
    short = PROTOCOLS[row.key].name
    name = short if short == row.name else f"{short}: {row.name[0].lower()}{row.name[1:]}"
    factor = number(row.users_relative, 4)
    ratio = row.users_relative
    times = "best" if row.best else "the same" if ratio < 1 + _SAME else f"{factor} times"
    times = "hardly more" if times == "1 times" else times
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
    size = next(row.subset_size for row in at_plan(found) if row.key == "subset")
    sets = (
        "Subset selection is best with 1 category per report here: that is k-RR."
        if size == 1
        else f"A report of subset selection names {size:,} categories here; a set that holds one's own category is e^ε "
        "times as likely as one that does not."
    )
    equal = "" if found.asked.users == "fixed" else ", when all shares are equal"
    return (
        f"At the plan's ε = {budget(found.epsilon)} and N = {people(found.n)}, over all categories{equal}. {sets} "
        "Unary encoding sends one bit per category; local hashing a short value, and which hash function was drawn."
    )


def _ks(k: int) -> Array:
    """Whole numbers of categories around the plan's, in equal ratios."""
    low, high = max(K_MIN, k / 100), min(K_MAX, max(k * 100, 1000))
    whole: Array = np.unique(np.rint(np.geomspace(low, high, _POINTS))).astype(np.int64)
    return whole
