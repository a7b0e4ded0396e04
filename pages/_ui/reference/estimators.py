"""The estimators compared: what each promises, what it costs, and when it is best."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import streamlit as st

from pages._ui.reference.texts import fill, show_entries, show_table
from rr_core import reference
from rr_core.experiments.grid import MAIN_GRID, MAIN_SETTINGS
from rr_core.experiments.ranking import standing
from rr_core.experiments.storage import stored_result
from rr_core.reference import Entry

_CLOSE = 1.5  # times the smallest mean error: close to it
_NAMES = {"inv": "Inv", "inv_n": "InvN", "inv_p": "InvP", "mle_star": "MLE\\*", "ibu": "IBU"}


@cache
def main_grid() -> dict[str, Any]:
    """Numbers of the recorded runs of the paper's grid, by the names that the texts give them; mean squared errors."""
    grid = standing(stored_result(MAIN_GRID), "mse", _CLOSE)
    return {
        "n_settings": len(MAIN_GRID),
        "n_apart": grid.n_different,
        "n_unsettled": grid.n_unsettled,
        "n_collections": MAIN_SETTINGS.seeds,
        "n_close": grid.n_close,
        "close": _CLOSE,
        "typical_ratio": grid.median_ratio,
        "largest_ratio": grid.worst_ratio,
        "surely_best": grid.n_best,
    }


def best() -> tuple[Entry, ...]:
    """When each estimator is best, with the numbers of the paper's grid."""
    return tuple(
        replace(entry, text=fill(entry.text, main_grid()))
        for entry in reference.entries("estimators", "best")
    )


def entries() -> tuple[Entry, ...]:
    texts = reference.read("estimators")
    promises = (
        Entry(f"{name}: {row['promise'].lower()}?", row[key], "estimators compared")
        for row in texts["promises"]
        for key, name in _NAMES.items()
    )
    costs = (
        Entry(f"{row['estimator']}: cost, zeros", f"{row['time']}; zeros: {row['zeros']}.")
        for row in texts["costs"]
    )
    return (*best(), *promises, *costs)


def show() -> None:
    texts = reference.read("estimators")
    st.subheader("What each promises")
    show_table(
        ("", *_NAMES.values()), [(row["promise"], *(row[key] for key in _NAMES)) for row in texts["promises"]]
    )
    st.markdown(texts["promises_note"])
    st.subheader("What it costs, and what it sets to zero")
    show_table(
        ("Estimator", "Time here", "Categories set to zero"),
        [(row["estimator"], row["time"], row["zeros"]) for row in texts["costs"]],
    )
    st.markdown(texts["costs_note"])
    st.subheader("When each is best")
    show_entries(best())
    st.caption(fill(texts["best_note"], main_grid()))
