"""Which columns of the files hold what, starting from what they seem to be."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages._ui import state
from rr_core.io import BITS_LEAST, Preview, Source, inspect_reports

_LAYOUTS = {"values": "one report per row", "counts": "a count per category"}


def pick(first: Any) -> tuple[dict[str, Any], Preview]:
    """Options for `read_reports`, by looking at the first file, and what that seems to be.

    The category is None as long as the person has not chosen one of many columns of 0 and 1.

    Raises:
        UnreadableFile: when it is no table.
    """
    preview = _preview(first, None)
    has_header: bool | None = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layouts = list(_LAYOUTS)
        layout = st.selectbox(
            "The files have",
            layouts,
            index=layouts.index(preview.layout),
            format_func=_LAYOUTS.__getitem__,
            key=f"reports_layout_{first.file_id}",  # another file starts from what it seems to be
            width=230,
        )
        if preview.has_header is not None:
            has_header = st.toggle(
                "First row is a header", preview.has_header, key=f"reports_header_{first.file_id}"
            )
            if has_header != preview.has_header:
                preview = _preview(first, has_header)
        options: dict[str, Any] = {"layout": layout, "has_header": has_header}
        are_bits = layout == "values" and sum(hint.bits for hint in preview.hints) >= BITS_LEAST
        options["category"] = _column(
            "Report column" if layout == "values" else "Category column",
            None if are_bits else preview.category,
            preview,
        )
        if layout == "counts":
            suggested = preview.count if preview.count is not None else len(preview.columns) - 1
            options["count"] = _column("Count column", suggested, preview)
    if are_bits:
        st.warning(
            "Many columns hold nothing but 0 and 1: these look like reports of unary encoding, one column per category, "
            "which this page does not estimate. If they are separate yes-or-no questions, choose the column of one."
        )
    return options, preview


def _preview(file: Any, has_header: bool | None) -> Preview:
    about = (file.file_id, has_header)
    source = Source(file.name, file.getbuffer())
    return state.latest(
        f"preview_{has_header}", about, lambda: inspect_reports(source, has_header=has_header)
    )


def _column(label: str, suggested: int | None, preview: Preview) -> int | None:
    positions = list(range(len(preview.columns)))
    chosen: int | None = st.selectbox(
        label,
        positions,
        index=suggested,
        format_func=lambda i: preview.columns[i] or f"column {i + 1}",
        placeholder="Choose a column",
        width=230,
    )
    return chosen
