"""The files of a finished analysis: table, settings, report, script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import plotly.graph_objects as go
import streamlit as st

from pages._ui.your_reports import files
from pages._ui.your_reports.controls import Shown
from pages._ui.your_reports.results import Results


def row(found: Results, shown: Shown, figures: Sequence[go.Figure]) -> None:
    """One button per file, the report as on screen; each file is made when its button is pressed, without a rerun."""
    st.subheader("Take it with you")
    buttons = (
        ("Table (CSV)", lambda: files.csv_file(found), "results.csv", "text/csv"),
        ("Table (Parquet)", lambda: files.parquet_file(found), "results.parquet", "application/octet-stream"),
        ("Everything (JSON)", lambda: files.json_file(found, _now()), "results.json", "application/json"),
        ("Report (HTML)", lambda: _report(found, shown, figures), "report.html", "text/html"),
        ("Script (Python)", lambda: files.script(found), "recompute.py", "text/x-python"),
        ("Categories (TXT)", lambda: files.categories_file(found), "categories.txt", "text/plain"),
    )
    with st.container(horizontal=True):
        for label, make, name, mime in buttons:
            st.download_button(
                label, make, name, mime, on_click="ignore", key=f"reports_{name}", width="stretch"
            )
    st.caption(
        "The report opens offline. The script recomputes the numbers from your own file with rr_core alone, this app's "
        "mathematics: put the folder rr_core, the script and your file side by side, and categories.txt too when you "
        "gave more than 200 of them. With a million categories take Parquet rather than CSV."
    )


def _report(found: Results, shown: Shown, figures: Sequence[go.Figure]) -> bytes:
    return files.html_report(
        found, figures, _now(), estimator=shown.estimator, simultaneous=shown.simultaneous
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
