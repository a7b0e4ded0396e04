"""Bias at the border: many collections of three categories, before and after each repair."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages._ui import chart
from pages._ui.work import Work
from rr_core.figures.clouds import clouds
from rr_core.figures.labels import display
from rr_core.figures.style import ESTIMATES, QUANTITIES, number
from rr_core.geometry.clouds import COLLECTIONS, PLACES, Cloud, Where, frame_of
from rr_core.geometry.three import category_names

_LABELS: dict[Where, str] = {
    "own": "The three above",
    "edge": "Half and half, as near as N allows",
    "corner": "Everybody alike: a corner",
}
_LONGEST = 16


def section(work: Work) -> None:
    """Choose the truth, see four clouds, and read the length of each bias."""
    st.subheader("What does a repair cost? Bias at the border")
    where = st.segmented_control(
        "The truth of the three categories",
        PLACES,
        default="edge",
        format_func=_LABELS.__getitem__,
        key="clouds_where",
    )
    found = work.geometry.clouds(where or "edge")
    names = [display(name, _LONGEST) for name in category_names(work.geometry.three)]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        chart.show(clouds(found, names, frame_of(found)), "clouds")
    with right:
        st.markdown(_table(found))


def _table(found: Mapping[str, Cloud]) -> str:
    rows = ["| | length of the bias | chance alone | spread |", "|:--|--:|--:|--:|"]
    for name in ESTIMATES:
        cloud = found[name]
        cells = [number(value) for value in (cloud.bias, cloud.standard_error, cloud.spread)]
        label = QUANTITIES[name].name.replace("*", "\\*")
        rows.append(f"| **{label}** | " + " | ".join(cells) + " |")
    return "\n".join(rows) + (
        f"\n\nThe same users report {COLLECTIONS} times; each dot is one collection. The grey dash is the truth, the "
        "large marker the mean of the cloud, and the line between them the **bias**, up to chance: the error that no "
        "repetition averages out.\n\n"
        "**Inv is unbiased.** A repair folds its dots outside back into the triangle. So a category that nobody has may "
        "be given a share, and never a negative one: on average too much, and that is a bias.\n\n"
        "*Length of the bias*: distance from the truth to the mean. *Chance alone*: its standard error; an unbiased "
        "estimator shows a bias of about this length by chance. *Spread*: root mean square distance from the mean."
    )
