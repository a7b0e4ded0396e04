"""What the person wants to see: level, target, estimator, kind of interval, and which categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages._ui import state, view_picker
from pages._ui.your_reports import words
from pages._ui.your_reports.results import Results
from rr_core.comparison import Target
from rr_core.figures.style import QUANTITIES
from rr_core.figures.view import Bars, bars, find
from rr_core.registry import ESTIMATORS

_LEVELS = (0.9, 0.95, 0.99)
_TARGETS: dict[Target, str] = {"users": "These people", "population": "Their population"}
_SCOPES = ("Each category", "All at once")
_MOST = (10, 20, 50, 100)
MOST_ROWS = 1000
_FIND, _SHOWN = "reports_find", "reports_most"


@dataclass(frozen=True)
class Shown:
    """Estimator, and kind of interval."""

    estimator: str
    simultaneous: bool


def asked() -> tuple[float, Target]:
    """Level and target. Call it inside a horizontal container, as the others here."""
    target = st.segmented_control(
        "Whose shares",
        list(_TARGETS),
        default="users",
        format_func=_TARGETS.__getitem__,
        key="reports_target",
        help="The shares among the very people who reported, or in the population that they are a random sample of: "
        "then the luck of the sample counts too.",
    )
    level = st.segmented_control(
        "Confidence", _LEVELS, default=0.95, format_func="{:.0%}".format, key="reports_level"
    )
    return level or 0.95, target or "users"


def shown(found: Results) -> Shown:
    """Estimator and kind of interval."""
    # What it starts with stays, so that no choice is lost when the level or the target changes.
    best: str = state.latest("estimator", found.used.key, lambda: words.estimator(found))
    name = st.segmented_control(
        "Estimator",
        list(ESTIMATORS),
        default=best,
        format_func=lambda name: QUANTITIES[name].name.replace("*", "\\*"),
        key=f"reports_estimator_{found.used.key}",
        help="Inv is unbiased, and can be negative; InvN, InvP and MLE\\* repair that, and add up to 100%. Starts with "
        "Inv where no category is told from zero, else with MLE\\* where it is not told to be farther from the truth.",
    )
    scope = st.segmented_control(
        "Intervals hold for",
        _SCOPES,
        default=_SCOPES[0],
        key="reports_scope",
        help="Each category: every interval alone is meant to be right this often. All at once: all K together are.",
    )
    return Shown(name or best, scope == _SCOPES[1])


def zoom(*, on: bool) -> bool:
    """Whether the largest share is left out of the range of the chart, in which ``on`` it is at first."""
    return view_picker.zoom("reports", "Zoom in on the smaller shares", on=on)


def search(found: Results) -> None:
    """The box to look for categories in; see `order`."""
    wanted = st.text_input(
        "Find categories", key=_FIND, placeholder="names or parts of names, separated by commas", width=420
    )
    if wanted and not _hits(found, wanted).size:
        st.caption("No category has such a name: the most reported ones are shown.")


def most() -> None:
    """How many categories the chart shows; see `view`."""
    st.segmented_control("In the chart", _MOST, default=_MOST[1], key=_SHOWN)


def order(found: Results) -> NDArray[np.intp]:
    """The categories of the table: those that are searched for (the box stands further down), or the most reported."""
    wanted, used = st.session_state.get(_FIND, ""), found.used
    if not wanted:
        return used.by_reports[:MOST_ROWS]
    hits = _hits(found, wanted)
    return hits if hits.size else used.by_reports[:MOST_ROWS]


def _hits(found: Results, wanted: str) -> NDArray[np.intp]:
    used = found.used
    return state.latest(
        "found", (used.key, wanted), lambda: find(wanted, used.labels, used.mechanism.k, MOST_ROWS)
    )


def view(found: Results, chosen: NDArray[np.intp]) -> Bars:
    """What the chart shows: the chosen rows of the table, or the most reported categories."""
    labels = found.used.labels
    if chosen.size:
        most = max(_MOST)
        title = (
            "Chosen categories"
            if chosen.size <= most
            else f"The first {most} of {chosen.size:,} chosen categories"
        )
        return bars(chosen, labels, title, most)
    order = found.used.by_reports
    return bars(
        order,
        labels,
        "The most reported categories",
        min(st.session_state.get(_SHOWN) or _MOST[1], order.size),
    )
