"""Misprints of the sources: what is printed, what is right, and the check that proves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages._ui.reference.estimators import main_grid
from pages._ui.reference.texts import fill
from rr_core import reference
from rr_core.experiments.claims import best_when
from rr_core.experiments.grid import MAIN_GRID
from rr_core.experiments.storage import stored_result
from rr_core.misprints import all_checks
from rr_core.misprints.paper import WorstInSingleDraws
from rr_core.reference import Entry, Misprint
from rr_core.scenario import PRESETS, WORST_AVERAGE


@st.cache_data(show_spinner="Checking the misprints…")
def numbers() -> dict[str, Any]:
    """What the texts of the misprints name, computed once for everybody."""
    checks = all_checks()
    preset = next(one.name for one in PRESETS if one.scenario == WORST_AVERAGE)
    return {
        **checks,
        "worst_rates": [_rate(draws) for draws in checks["worst_in_single_draws"]],
        "main_grid": main_grid(),
        "concentrated": _concentrated(),
        "preset": preset.replace("*", "\\*"),
    }


def _rate(draws: WorstInSingleDraws) -> str:
    if draws.one_in is None:
        return f"in none of {draws.n_with_negatives:,}"
    return f"**1 in {draws.one_in:,}** ({draws.n_worst:,} of {draws.n_with_negatives:,})"


def _concentrated() -> dict[str, int]:
    """How often InvP is best in the settings of the main grid with a concentrated population."""
    count = best_when(stored_result(MAIN_GRID), "inv_p", "concentrated").count
    assert count is not None
    users = [cell.n for cell in count.exceptions]
    return {
        "n_settings": count.total,
        "n_best": count.yes,
        "n_not_best": count.no,
        "fewest_users": min(users),
        "most_users": max(users),
    }


def entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(misprint.title, f"printed: {misprint.printed} Right: {misprint.right}", f"misprint {source}")
        for source, misprints in reference.misprints().items()
        for misprint in misprints
    )


def show() -> None:
    computed = numbers()
    st.caption(reference.read("misprints")["note"])
    for source, misprints in reference.misprints().items():
        st.subheader(source)
        for misprint in misprints:
            with st.expander(misprint.title):
                st.markdown(_as_markdown(misprint, computed))


def _as_markdown(misprint: Misprint, computed: Mapping[str, Any]) -> str:
    lines = [f"**Printed.** {misprint.printed}", f"**Right.** {misprint.right}"]
    check = fill(misprint.check, computed)
    if check.endswith("\n"):
        check += "\n"  # a table or a list ends at an empty line
    tests = " ".join(f"`{name}`" for name in misprint.tests)
    if check or tests:
        lines.append(f"**Check.** {check} {tests}")
    return "\n\n".join(lines)
