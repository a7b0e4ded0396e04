"""The section "Watch it come in": films of the scenario's own reports, built only while they are shown."""

from __future__ import annotations

import streamlit as st

from pages._ui import film, state, truth, view_picker
from pages._ui.work import Work
from rr_core.arrivals import LARGEST_K, EstimatesSoFar, ReportsSoFar, follow_estimates, follow_reports
from rr_core.comparison import Target, truth_of
from rr_core.figures.arrivals import arriving_estimates, arriving_reports, drawn_categories
from rr_core.figures.view import Bars
from rr_core.scenario import Scenario
from server import sessions

_WAIT = "The reports come in…"


def reports_section(work: Work) -> None:
    """The film of the histogram: shares among the reports so far."""
    if _possible(work, "These very reports, one after the other."):
        view = _view(work)
        theta = truth.unless_hidden(work.draw.theta)
        figure = arriving_reports(_reports(work, view), theta, work.draw.mechanism, view)
        film.show(figure, "arriving_reports")


def estimates_section(work: Work, target: Target) -> None:
    """The film of the estimates: the truth, and the four estimators on the reports so far."""
    if _possible(work, "The same estimates while the reports come in."):
        view = _view(work)
        estimated = truth.unless_hidden(truth_of(work.draw, target))
        figure = arriving_estimates(_estimates(work, target, view), estimated, view)
        film.show(figure, "arriving_estimates")


def _possible(work: Work, about: str) -> bool:
    """Whether there are few enough categories for a film; draws the line above it, or why there is none."""
    k = work.draw.scenario.k
    if k > LARGEST_K:
        st.caption(f"Films are made for up to {LARGEST_K:,} categories; here are {k:,}.")
        return False
    st.caption(f"{about} What leaves the picture lies beyond it.")
    return True


def _view(work: Work) -> Bars:
    order, which = view_picker.most_frequent(work)
    return drawn_categories(order, work.draw.population.labels, which)


def _reports(work: Work, view: Bars) -> ReportsSoFar:
    if work.is_shared:
        return _shared_reports(work.draw.scenario, view.title, work, view)
    about = (work.draw.scenario, work.draw.population.key, view.title)
    return state.cached("arriving_reports", about, lambda: follow_reports(work.draw, view.categories))


def _estimates(work: Work, target: Target, view: Bars) -> EstimatesSoFar:
    if work.is_shared:
        return _shared_estimates(work.draw.scenario, target, view.title, work, view)
    about = (work.draw.scenario, work.draw.population.key, target, view.title)
    return state.cached("arriving_estimates", about, lambda: _follow_estimates(work, target, view))


def _follow_estimates(work: Work, target: Target, view: Bars) -> EstimatesSoFar:
    return follow_estimates(work.draw, truth_of(work.draw, target), view.categories)


@st.cache_resource(max_entries=64, show_spinner=_WAIT)
def _shared_reports(scenario: Scenario, which: str, _work: Work, _view: Bars) -> ReportsSoFar:
    return follow_reports(_work.draw, _view.categories)


@st.cache_resource(max_entries=64, show_spinner=_WAIT)
def _shared_estimates(
    scenario: Scenario, target: Target, which: str, _work: Work, _view: Bars
) -> EstimatesSoFar:
    return _follow_estimates(_work, target, _view)


for _cache in (_shared_reports, _shared_estimates):
    sessions.shared(_cache.clear)
