"""A sweep as a file, and a file as a sweep."""

from __future__ import annotations

import streamlit as st

from pages._ui.experiments import choice, runs
from pages._ui.experiments.shown import Shown
from pages._ui.safe_text import markdown
from rr_core.io import experiments as files
from rr_core.io.errors import UnreadableFile


def section(shown: Shown) -> None:
    """The files of what is on screen, and the place for one that was saved before."""
    st.subheader("Take it along, bring it back")
    result = shown.result
    if result.cells:
        name = f"sweep_{shown.key}"
        with st.container(horizontal=True):
            for label, make, ending, mime in (
                (
                    "Sweep (Parquet)",
                    lambda: files.parquet_file(result),
                    "parquet",
                    "application/octet-stream",
                ),
                ("Sweep (CSV)", lambda: files.csv_file(result), "csv", "text/csv"),
            ):
                st.download_button(
                    label, make, f"{name}.{ending}", mime, on_click="ignore", key=f"exp_{ending}", width=200
                )
        st.caption(
            "One row per cell and estimate: means with their standard errors, quantiles over the collections, who was "
            "best and worst how often; with the settings and versions. A run that was stopped is saved as far as it "
            "came, and goes on from there when it is opened again."
        )
    bring()


def bring() -> None:
    """Open a sweep that was saved."""
    # A new uploader each time, so that the one on screen is empty again once its file is in use.
    st.file_uploader(
        "Open a saved sweep",
        type=list(files.EXTENSIONS),
        key=f"exp_bring_{st.session_state.get('_exp_brought', 0)}",
        on_change=_take,
        help="A file from here, or from the same engine on a cluster (see the README).",
    )
    if problem := st.session_state.get("_exp_broken"):
        st.error(markdown(f"{problem} What was shown before stays."), icon=":material/error:")


def _take() -> None:
    """Read the file as soon as it is there, and put it on screen."""
    count = st.session_state.get("_exp_brought", 0)
    file = st.session_state.get(f"exp_bring_{count}")
    if file is None:
        return
    st.session_state.pop("_exp_broken", None)
    try:
        result = files.read(file.name, file.getvalue())
        if not result.cells:
            raise UnreadableFile(
                "The sweep in the file has no cell that is done, so there is nothing to show."
            )
    except UnreadableFile as problem:
        st.session_state["_exp_broken"] = str(problem)
        return
    choice.show(runs.adopt(result, file.name).key)
    st.session_state["_exp_brought"] = count + 1
