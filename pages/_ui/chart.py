"""Showing a chart: the figure, the sentence it says in words, and its toolbar."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from rr_core.figures.style import reading


def show(chart: go.Figure, name: str) -> None:
    """Draw a chart with its one-sentence reading below it, which is also its text alternative.

    ``name`` is the key of the chart on the page and the file name of the PNG from its toolbar.
    """
    config: dict[str, Any] = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {"format": "png", "filename": name, "scale": 2},
    }
    st.plotly_chart(chart, key=name, config=config, alt=reading(chart))
    st.caption(reading(chart))
