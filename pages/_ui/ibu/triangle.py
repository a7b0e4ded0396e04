"""With three categories, IBU's whole way can be drawn."""

from __future__ import annotations

import streamlit as st

from pages._ui import chart
from pages._ui.work import Work
from rr_core.figures.ibu_triangle import way
from rr_core.figures.labels import names
from rr_core.figures.view import natural_order
from rr_core.geometry.three import trio
from rr_core.iteration.record import IBUPath


def section(work: Work, path: IBUPath) -> None:
    """The way through the triangle; nothing unless there are three categories."""
    if work.scenario.k != 3:
        return
    st.subheader("The way through the triangle")
    draw = work.draw
    labels = names(draw.population.labels, natural_order(3), 18)
    chart.show(way(path, trio(draw.counts, draw.mechanism), labels), "ibu_triangle")
