"""The files of the plan page."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from pages._ui import downloads, state
from pages._ui.plan import files
from pages._ui.plan.planned import Planned
from pages._ui.plan.summary import summary
from pages._ui.work import Work
from rr_core.plan.landscape import Landscape
from rr_core.populations import DISTRIBUTIONS, UPLOAD


def section(work: Work, found: Planned, land: Landscape, figure: go.Figure, delta: float) -> None:
    """The summary on a row of its own, then data, chart and script."""
    st.subheader("Take it with you")
    st.download_button(
        "One-page summary (HTML)",
        lambda: summary(found, population(work), delta, f"{datetime.now(UTC):%Y-%m-%d}"),
        "plan_summary.html",
        "text/html",
        on_click="ignore",
        key="plan_summary",
        type="primary",
    )
    target = found.target or found.asked.target
    downloads.row(
        work, figure, "plan", partial(files.map_csv, land, target), files.script(found, delta), alone=True
    )


def population(work: Work) -> str:
    """What the sidebar's population is called."""
    scenario, upload = work.scenario, state.uploaded()
    if scenario.dist == UPLOAD and upload is not None:
        return f"the file {upload.file_name}"
    name = DISTRIBUTIONS[scenario.dist]
    return f"{name}, s = {scenario.s:g}" if scenario.dist == "zipf" else name
