"""The section "Watch it come in": films of the scenario's own reports, built only while they are shown."""

from __future__ import annotations

import streamlit as st

from pages._ui import film, truth, view_picker
from pages._ui.work import Work
from rr_core.arrivals import LARGEST_K, follow_estimates, follow_reports
from rr_core.comparison import Target, truth_of
from rr_core.figures.arrivals import arriving_estimates, arriving_reports

_WAIT = "The reports come in…"


def reports_section(work: Work) -> None:
    """The film of the histogram: shares among the reports so far."""
    if _possible(work, "These very reports, one after the other."):
        view = view_picker.few(work)
        theta = truth.unless_hidden(work.draw.theta)
        seen = work.once(
            "arriving_reports", view.title, lambda: follow_reports(work.draw, view.categories), wait=_WAIT
        )
        figure = arriving_reports(seen, theta, work.draw.mechanism, view)
        film.show(figure, "arriving_reports")


def estimates_section(work: Work, target: Target) -> None:
    """The film of the estimates: the truth, and the four estimators on the reports so far."""
    if _possible(work, "The same estimates while the reports come in."):
        view = view_picker.few(work)
        estimated = truth_of(work.draw, target)
        seen = work.once(
            "arriving_estimates",
            (target, view.title),
            lambda: follow_estimates(work.draw, estimated, view.categories),
            wait=_WAIT,
        )
        figure = arriving_estimates(seen, truth.unless_hidden(estimated), view)
        film.show(figure, "arriving_estimates")


def _possible(work: Work, about: str) -> bool:
    """Whether there are few enough categories for a film; draws the line above it, or why there is none."""
    k = work.draw.scenario.k
    if k > LARGEST_K:
        st.caption(f"Films are made for up to {LARGEST_K:,} categories; here are {k:,}.")
        return False
    st.caption(f"{about} A bar may be taller than the picture.")
    return True
