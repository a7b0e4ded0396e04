"""The map over epsilon and N, and what a click in it does."""

from __future__ import annotations

import plotly.graph_objects as go

from pages._ui import link
from pages._ui.frame import Page
from pages._ui.plan import work as plan_work
from pages._ui.plan.planned import Planned
from rr_core.figures.plan_map import plan_map
from rr_core.limits import EPSILON_APP_MAX, EPSILON_APP_MIN, N_MAX, N_MIN

_DIGITS = 3


def show(page: Page, found: Planned) -> go.Figure:
    """Draw the map as the page's main figure; gives it."""
    land = plan_work.land(page.work, found.asked, found)
    border = plan_work.border(page.work, found.asked, found)
    here = page.scenario.epsilon, page.scenario.n
    place = (found.epsilon, found.n) if found.found else None
    figure = plan_map(land, found.target or found.asked.target, border, here, place)
    page.lead(figure, "plan", _clicked)
    return figure


def _clicked(epsilon: float, n: float) -> None:
    """Go to a place of the map, in round numbers."""
    near = float(f"{epsilon:.{_DIGITS}g}")
    users = round(float(f"{n:.{_DIGITS}g}"))
    link.change(epsilon=min(max(near, EPSILON_APP_MIN), EPSILON_APP_MAX), n=min(max(users, N_MIN), N_MAX))
