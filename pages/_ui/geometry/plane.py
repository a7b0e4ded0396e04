"""The scenario's own K: the plane through the three repairs, their supports, and the conditions of Theorem 2."""

from __future__ import annotations

import streamlit as st

from pages._ui import chart
from pages._ui.work import Work
from rr_core.collinearity import Collinearity, Theorem2
from rr_core.figures.plane import plane, supports
from rr_core.figures.style import number, percent


def section(work: Work) -> None:
    """Where the repairs of this scenario's reports lie, and whether the theorem says so."""
    k, place, conditions = work.scenario.k, work.geometry.place, work.geometry.conditions
    st.subheader(f"This scenario, K = {k:,}: are the three on one line?")
    left, right = st.columns([5, 2], gap="medium")
    with left:
        chart.show(plane(place), "plane")
    with right:
        _numbers(place)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Who keeps which categories?** The three sets lie inside each other.")
        chart.show(supports(place.supports, k), "supports")
    with right:
        st.markdown(_conditions(place, conditions, work.draw.mechanism.q))


def _numbers(place: Collinearity) -> None:
    if not place.length:
        st.metric("Position of MLE\\*", "all one point")
        return
    st.metric("Position of MLE\\*", number(place.position, 4), help="On the line: 0 is InvP, 1 is InvN.")
    off, relative = ("0", "0%") if place.on_line else (number(place.residual), percent(place.relative))
    st.metric("Off the line", off, help="Euclidean distance of MLE\\* from the line, up to rounding.")
    st.metric("… as a share", relative, help="Of the distance from InvP to InvN.")


def _conditions(place: Collinearity, conditions: Theorem2, q: float) -> str:
    """A table of what Theorem 2 and the wider rule ask for, with both sides as numbers."""
    smallest, border = _apart(conditions.smallest, q)
    second, needed = _apart(conditions.second, conditions.needed)
    small, large = place.supports[0], place.supports[2]
    rows = [
        ("The smallest share of reports, φ₁, is below q", smallest, "<", border),
        ("The second smallest, φ₂, is at least (Kq − φ₁)/(K − 1)", second, "≥", needed),
        ("**Wider rule:** InvP keeps as many categories as InvN", f"{small:,}", "=", f"{large:,}"),
    ]
    holds = (conditions.below, conditions.enough, place.same_support)
    lines = ["| Condition | left | | right | holds |", "|:--|--:|:-:|--:|:-:|"]
    lines += [
        f"| {text} | {left} | {sign} | {right} | {_mark(fine)} |"
        for (text, left, sign, right), fine in zip(rows, holds, strict=True)
    ]
    lines.insert(4, f"| **Theorem 2:** both of these | | | | {_mark(place.theorem2_holds)} |")
    return "\n".join(lines) + "\n\n" + _verdict(place, conditions)


def _verdict(place: Collinearity, conditions: Theorem2) -> str:
    if not place.cut_off:
        return "No share of reports is below q: nothing was cut off, and the three repairs coincide with Inv."
    if not place.length:
        return "What is left after the cut is all equal: the three repairs coincide."
    if place.theorem2_holds:
        return (
            "**Theorem 2 applies.** Its t = (1 − φ₁)/(p − φ₁), by which InvN − InvP = t·(MLE\\* − InvP), is "
            f"**{number(conditions.t, 6)}**; measured (one over the position): **{number(place.t, 6)}**."
        )
    if place.same_support:
        return (
            "**Theorem 2 does not apply, yet the three are on one line:** equal supports are enough. Measured "
            f"t, one over the position: **{number(place.t, 6)}**."
        )
    if place.on_line:
        return "**Neither applies,** and yet the three are on one line here, though they keep different categories."
    return "**Neither applies:** the repairs keep different categories, and MLE\\* is off the line."


def _apart(left: float, right: float) -> tuple[str, str]:
    """Both sides with as many digits as it takes to see that they differ, where they do."""
    for digits in range(5, 17):
        texts = number(left, digits), number(right, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _mark(holds: bool) -> str:
    return "✓" if holds else "✗"
